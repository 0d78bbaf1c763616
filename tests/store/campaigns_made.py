"""Small campaigns in folders, for the tests of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import earmark
from earmark.simulation.synthetic import SyntheticCollection
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import add_inputs
from earmark.store.settings import Estimates, Judging, Settings, Traps


def made_collection(seed: int = 0) -> SyntheticCollection:
    """Return four systems on ten queries."""
    return earmark.synthetic_collection(np.random.default_rng(seed), systems=4, queries=10, documents=80)


def write_inputs(folder: Path, seed: int = 0) -> SyntheticCollection:
    """Write ``runs.tsv`` and ``metadata.csv`` of a made-up collection."""
    made = made_collection(seed)
    earmark.write_runs(made.runs, folder / "runs.tsv")
    assert made.metadata is not None
    made.metadata.frame.write_csv(folder / "metadata.csv")
    return made


def make_folder(
    home: Path,
    *,
    store: str | None = None,
    kind: str = "grade",
    judging: dict[str, Any] | None = None,
    traps: dict[str, Any] | None = None,
    estimates: dict[str, Any] | None = None,
    files: dict[str, Path | None] | None = None,
    **how: Any,
) -> CampaignFolder:
    """Make a campaign in ``home/study``; inputs are written to ``home`` first."""
    home.mkdir(exist_ok=True)
    made = write_inputs(home)

    def settings(folder: Path) -> Settings:
        given = {"metadata": home / "metadata.csv", **(files or {})}
        inputs = add_inputs(folder, runs=[home / "runs.tsv"], files=given)
        graded = {"scale": str(made.judgments.scale)} if kind == "grade" else {}
        measured = {"measure": "AG@5"} if kind == "grade" else {"depth": 3}
        return Settings(
            name="study",
            kind=kind,
            inputs=inputs,
            judging=Judging(**{**graded, **(judging or {})}),
            traps=Traps(**{"rate": 0.0, **(traps or {})}),
            estimates=Estimates(
                **{**measured, "stop": "none" if kind != "grade" else "mean:0.95", **(estimates or {})}
            ),
        )

    return CampaignFolder.create(home / "study", settings, store=store, **how)
