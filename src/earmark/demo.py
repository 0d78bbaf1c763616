"""The demonstration: a small made-up collection, written to files that every command can be tried on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earmark.data.tables import replacing
from earmark.data.writers import write_judgments, write_runs
from earmark.errors import InputError
from earmark.simulation import SyntheticCollection, synthetic_collection


@dataclass(frozen=True, eq=False)
class Demo:
    """The collection and where its files are."""

    collection: SyntheticCollection
    runs: Path
    judgments: Path
    metadata: Path


def make_demo(folder: Path, *, seed: int = 0) -> Demo:
    """Make a collection of 8 systems and 50 queries and write ``runs.tsv``, ``judgments.tsv`` and ``metadata.csv``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(expected="a folder to write to", got=str(error.strerror), path=folder) from None
    demo = Demo(
        synthetic_collection(np.random.default_rng(seed)),
        folder / "runs.tsv",
        folder / "judgments.tsv",
        folder / "metadata.csv",
    )
    write_runs(demo.collection.runs, demo.runs)
    write_judgments(demo.collection.judgments, demo.judgments)
    with replacing(demo.metadata) as path:
        demo.collection.metadata.frame.write_csv(path)
    return demo
