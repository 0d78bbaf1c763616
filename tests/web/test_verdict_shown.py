"""The ranking that an estimate keeps is the one that it was made of: the same words and the same pictures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import earmark
from earmark.campaign.campaign import Campaign
from earmark.campaign.statements import ordered_pairs, say_verdict
from earmark.inference.confidence import Ranking
from earmark.plots.ranking import ranking_data
from earmark.web.verdict import measure_of, read_ranking, shown_pairs, shown_ranking, shown_verdict


@pytest.fixture(scope="module", params=["AG@5", "nDCG@5"])
def ranking(request: pytest.FixtureRequest) -> Ranking:
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=5, queries=12, documents=80)
    return Campaign.build(made.runs, made.judgments, metadata=made.metadata, measure=request.param, samples=50).ranking


def kept(ranking: Ranking) -> dict[str, Any]:
    """Return what the store keeps of a ranking."""
    told = {"systems": ranking.systems_frame().to_dicts(), "pairs": ranking.pairs_frame().to_dicts()}
    return json.loads(json.dumps(told))  # type: ignore[no-any-return]


def test_what_is_kept_is_what_it_was(ranking: Ranking) -> None:
    again = read_ranking(kept(ranking), ranking.estimates.measure, level=ranking.level)
    assert again is not None
    assert say_verdict(again) == say_verdict(ranking)
    assert_frame_equal(ranking_data(again), ranking_data(ranking))
    assert_frame_equal(ordered_pairs(again), ordered_pairs(ranking))
    assert shown_verdict(again)["headline"] == say_verdict(ranking).headline
    rows = shown_ranking(again)
    assert [row["system"] for row in rows] == ranking.systems_frame()["system"].to_list()
    assert all(row["better"] + row["open"] + row["worse"] == 4 for row in rows)
    assert len(shown_pairs(again)) == 10


def test_pairs_that_cannot_differ_are_not_compared() -> None:
    rows = [{"system": name, "estimate": 0.5, "low": 0.4, "high": 0.6, "rank": 1} for name in ("a", "b", "c")]
    pairs = [{"a": "c", "b": "a", "difference": 0.1, "low": 0.0, "high": 0.2, "confidence": 0.9}]
    found = read_ranking({"systems": rows, "pairs": pairs}, measure_of("grade", "AG@5"), level=0.95)
    assert found is not None
    told = {(row["row"], row["column"]): row["probability"] for row in shown_pairs(found)}
    assert told[("a", "c")] == pytest.approx(0.1)
    assert told[("a", "b")] is None
    assert found.difference_low.tolist()[1] == pytest.approx(-0.2)


def test_nothing_is_made_of_nothing() -> None:
    assert read_ranking({}, measure_of("prefer", None), level=0.95) is None
    assert read_ranking({"systems": []}, measure_of("lists", None), level=0.95) is None


def test_a_share_that_nobody_answered_is_level() -> None:
    rows = [{"system": name, "estimate": None, "low": 0.0, "high": 1.0, "rank": 1} for name in ("a", "b")]
    pairs = [{"a": "a", "b": "b", "difference": None, "low": -1, "high": 1, "confidence": 0.5}]
    found = read_ranking({"systems": rows, "pairs": pairs}, measure_of("lists", None), level=0.95)
    assert found is not None
    assert shown_verdict(found)["headline"]
    assert str(found.estimates.measure) == "share won"
