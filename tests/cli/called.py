"""What the tests of commands pass around: what a command said, and where the small collection lies."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def csv(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))


Cli = Callable[..., Said]


@dataclass(frozen=True)
class Files:
    """Where the small collection lies."""

    folder: Path
    runs: Path
    judgments: Path
    metadata: Path
    teams: Path
    cliques: Path
    covers: Path
    groups: Path
