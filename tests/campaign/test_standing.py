"""The short way from files to a ranking and to the next questions."""

from __future__ import annotations

import numpy as np
import pytest

import earmark
from earmark.errors import ParameterError
from earmark.simulation.synthetic import SyntheticCollection, synthetic_collection


@pytest.fixture(scope="module")
def made() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(1), systems=4, queries=20, documents=200)


def test_with_all_judgments_the_ranking_is_the_evaluation(made: SyntheticCollection) -> None:
    for measure in ("AG@5", "DCG@5", "nDCG(ideal=pool)@5"):
        ranking = earmark.rank(made.runs, made.judgments, measure=measure)
        truth = earmark.evaluate(made.runs, made.judgments, [measure]).table()
        frame = ranking.systems_frame()
        assert frame["system"].to_list() == truth["system"].to_list()
        np.testing.assert_allclose(frame["estimate"], truth[str(earmark.parse(measure))])
        np.testing.assert_allclose(frame["low"], frame["high"])


def test_nothing_judged_says_nothing(made: SyntheticCollection) -> None:
    ranking = earmark.rank(made.runs)
    assert ranking.mean_confidence == 0.5
    assert ranking.summary()["judged"] == 0


def test_what_is_proposed_is_not_judged_and_can_be(made: SyntheticCollection) -> None:
    frame = made.judgments.frame
    some = earmark.judgments_from_frame(frame.sample(60, seed=1), scale=made.judgments.scale)
    proposed = earmark.propose(made.runs, some, n=15, metadata=made.metadata, predictor="mtc-judge")
    assert proposed.height == 15
    assert proposed["priority"].is_sorted(descending=True)
    assert proposed.join(some.frame, on=["query", "document"], how="semi").height == 0
    assert proposed.join(frame, on=["query", "document"], how="semi").height == 15
    again = earmark.propose(made.runs, some, n=15, metadata=made.metadata, predictor="mtc-judge")
    assert proposed.equals(again)
    assert earmark.propose(made.runs, made.judgments, n=5).height == 0


def test_the_scale_may_be_named(made: SyntheticCollection) -> None:
    assert earmark.rank(made.runs, scale=earmark.BROAD).estimates.scores.mean.max() == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="unknown predictor"):
        earmark.rank(made.runs, predictor="oracle")
