"""A made-up collection in files, for commands to be tried on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earmark.data.writers import write_judgments, write_runs
from earmark.simulation import SyntheticCollection, synthetic_collection


@dataclass(frozen=True, eq=False)
class MadeUp:
    collection: SyntheticCollection
    runs: Path
    judgments: Path
    metadata: Path


def write_made_up(folder: Path, *, seed: int = 0) -> MadeUp:
    """Write ``runs.tsv``, ``judgments.tsv`` and ``metadata.csv`` of a collection of 8 systems and 50 queries."""
    folder.mkdir(exist_ok=True)
    made = MadeUp(
        synthetic_collection(np.random.default_rng(seed)),
        folder / "runs.tsv",
        folder / "judgments.tsv",
        folder / "metadata.csv",
    )
    write_runs(made.collection.runs, made.runs)
    write_judgments(made.collection.judgments, made.judgments)
    made.collection.metadata.frame.write_csv(made.metadata)
    return made
