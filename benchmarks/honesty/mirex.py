"""The MIREX 2011 collection, cut into queries to develop with and queries to report on.

Queries whose id starts with 0 to 7 are for developing: shipped priors come from them alone. Those with 8 to f are for
reporting.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import earmark
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs


@dataclass(frozen=True, eq=False)
class Mirex:
    """The collection and the halves of its queries."""

    runs: Runs
    judgments: Judgments
    metadata: Metadata
    development: tuple[str, ...]
    reporting: tuple[str, ...]


def load_mirex(data: Path | None = None) -> Mirex:
    """Read the collection from ``EARMARK_DATA`` or the folder beside the checkout."""
    root = data or Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folder = root / "mirex-ams-2011"
    runs = earmark.read_runs([folder / "runs.txt"])
    halves: tuple[list[str], list[str]] = ([], [])
    for query in runs.queries:
        halves[query[0] in "89abcdef"].append(query)
    return Mirex(
        runs,
        earmark.read_judgments(folder / "judgments.txt", scale=earmark.FINE),
        earmark.read_metadata(folder / "metadata.txt"),
        tuple(halves[0]),
        tuple(halves[1]),
    )


def draw_some(rng: np.random.Generator, names: tuple[str, ...], count: int) -> list[str]:
    """Draw some names, in their order."""
    return [names[index] for index in np.sort(rng.choice(len(names), count, replace=False))]
