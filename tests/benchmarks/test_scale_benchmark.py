"""The benchmark of large collections: what it makes, and how it tells growth."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from benchmarks.scale.__main__ import exponent
from benchmarks.scale.made import DEPTH, JUDGED_PER_QUERY, make
from benchmarks.scale.stages import StageError, measure

from earmark.data.collection import Collection
from earmark.data.readers import read_judgments, read_runs


def test_systems_share_documents(tmp_path: Path) -> None:
    make(tmp_path / "made", queries=12, systems=20)
    runs = read_runs(sorted((tmp_path / "made" / "runs").glob("*.parquet")))
    assert (len(runs.systems), len(runs.queries)) == (20, 12)
    assert set(runs.lengths.tolist()) == {DEPTH}
    pooled = Collection.from_runs(runs).n_items / 12
    assert 2 * DEPTH < pooled < 20 * DEPTH / 2
    judged = read_judgments(tmp_path / "made" / "judgments.parquet")
    assert judged.frame.height == 12 * JUDGED_PER_QUERY
    found = judged.frame.join(runs.to_polars(), on=["query", "document"], how="semi")
    assert found.height > judged.frame.height / 2
    again = tmp_path / "again"
    make(again, queries=12, systems=20)
    first = pl.read_parquet(tmp_path / "made" / "runs" / "system007.parquet")
    assert first.equals(pl.read_parquet(again / "runs" / "system007.parquet"))


def test_a_stage_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    make(tmp_path / "made", queries=4, systems=5)
    cost = measure("rank", tmp_path / "made", limit=100.0)
    assert cost.cpu_seconds > 0
    assert cost.peak_bytes > 1 << 25
    with pytest.raises(StageError):
        measure("read", tmp_path / "nothing", limit=100.0)


def test_growth_is_a_power() -> None:
    assert exponent({10: 3.0, 100: 30.0, 1000: 300.0}) == pytest.approx(1.0)
    assert exponent({10: 1.0, 20: 4.0}) == pytest.approx(2.0)
    assert exponent({10: 1.0}) is None
