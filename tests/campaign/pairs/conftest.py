"""What several tests of pair questions use."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from pair_worlds import SDS, small_world, some_answers

from earmark.campaign.pairs.candidates import PairAnswers
from earmark.campaign.pairs.model import PairPosterior, fit_pairs
from earmark.data.preferences import Preferences
from earmark.simulation.pair_campaigns import PairWorld


@pytest.fixture(scope="module")
def fitted() -> tuple[PairWorld, PairAnswers, PairPosterior]:
    world = small_world(3, same_weight=1.0)
    answers = some_answers(world, count=3)
    return world, answers, fit_pairs(world.design, answers, sds=SDS)


@pytest.fixture(scope="module")
def melodies(melody: Path) -> Preferences:
    with (melody / "judgments.csv").open(encoding="latin-1", newline="") as file:
        rows = [
            (row["Input.query"], row["Input.docA"], row["Input.docB"], row["WorkerId"], row["Answer.radio"])
            for row in csv.DictReader(file)
        ]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    return Preferences.from_frame(frame.with_columns(pl.col("choice").replace({"s": "same"})))
