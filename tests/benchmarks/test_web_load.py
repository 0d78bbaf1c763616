"""The load of the web app in small: it measures what it says, and an answer without an estimate fails it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from benchmarks.web import load

from earmark.store.folder import CampaignFolder


@pytest.mark.slow
def test_ten_seconds_of_a_small_load(capfd: pytest.CaptureFixture[str]) -> None:
    assert load.main(["--store", "sqlite", "--small", "--seconds", "10", "--assessors", "6", "--think", "2", "4"]) == 0
    said = capfd.readouterr().out
    for words in (
        "GET static",
        "GET media",
        "GET state",
        "POST answers",
        "0 answers are part of none",
        "all in the log",
    ):
        assert words in said, said


def test_an_answer_without_an_estimate_is_infinitely_late(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"kind": ["answered"] * 3, "expected": [None] * 3, "time": [1_000_000, 2_000_000, 3_000_000]})
    frame = frame.with_columns(pl.col("time").cast(pl.Datetime("us")), pl.col("expected").cast(pl.String))
    folder: CampaignFolder = SimpleNamespace(store=SimpleNamespace(log=lambda: SimpleNamespace(frame=frame)))  # type: ignore[assignment]
    monkeypatch.setattr(load, "_estimates", lambda _: (np.array([4, 9]), np.array([2.5, 4.0])))
    monkeypatch.setattr(load, "_sequences", lambda *_: np.array([3, 9, 11]))
    assert load.estimate_delays(folder).tolist() == [1.5, 2.0, float("inf")]
