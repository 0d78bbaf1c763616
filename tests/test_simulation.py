"""Synthetic collections: consistent, seeded, and as the skill of their systems says."""

from __future__ import annotations

import numpy as np
import pytest

import earmark
from earmark.data.scales import BINARY, BROAD
from earmark.errors import ParameterError
from earmark.inference.rank_correlation import kendall_tau
from earmark.simulation import synthetic_collection


def test_everything_retrieved_is_judged_and_described() -> None:
    made = synthetic_collection(np.random.default_rng(1), systems=3, queries=7, documents=60, depth=4)
    row = earmark.describe(earmark.Collection.from_runs(made.runs, metadata=made.metadata), judgments=made.judgments)
    assert (row.systems, row.queries, row.results, row.depth_min, row.depth_max) == (3, 7, 84, 4, 4)
    assert row.judged == row.items == len(made.judgments)
    assert row.missing_metadata == 0
    results = made.runs.to_polars()
    assert (results["query"] != results["document"]).all()


def test_better_ears_make_better_systems() -> None:
    taus = []
    for seed in range(20):
        made = synthetic_collection(np.random.default_rng(seed))
        means = earmark.evaluate(made.runs, made.judgments, ["AG@5"]).mean_values[0]
        taus.append(kendall_tau(means, made.skill))
    assert np.mean(taus) > 0.8


def test_broad_is_fine_cut_at_33_and_67() -> None:
    fine = synthetic_collection(np.random.default_rng(2)).judgments.frame
    broad = synthetic_collection(np.random.default_rng(2), scale=BROAD).judgments.frame
    both = fine.join(broad, on=["query", "document"], suffix="_broad")
    assert both.height == fine.height == broad.height
    expected = (both["gain"] >= 33).cast(int) + (both["gain"] >= 67).cast(int)
    assert (both["gain_broad"] == expected).all()


def test_says_what_cannot_be_made() -> None:
    with pytest.raises(ParameterError, match="need more than 10 documents"):
        synthetic_collection(np.random.default_rng(0), queries=20, documents=10)
    with pytest.raises(ParameterError, match="fine or broad here, not binary"):
        synthetic_collection(np.random.default_rng(0), scale=BINARY)
