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


def test_nothing_judged_says_nothing_without_a_prior(made: SyntheticCollection) -> None:
    for predictor in ("ordinal", "uniform"):
        ranking = earmark.rank(made.runs, predictor=predictor)
        assert ranking.mean_confidence == 0.5
        assert ranking.summary()["judged"] == 0


def test_by_default_beliefs_are_hierarchical_and_items_chosen_by_variance(made: SyntheticCollection) -> None:
    standing = earmark.stand(made.runs)
    assert standing.predictor.name == "hierarchical"
    ranking, named = earmark.rank(made.runs), earmark.rank(made.runs, predictor="hierarchical")
    np.testing.assert_array_equal(ranking.confidence, named.confidence)
    # What past collections taught says something, with doubt, before anything is judged.
    assert ranking.summary()["judged"] == 0
    assert ranking.mean_confidence is not None
    assert 0.5 < ranking.mean_confidence < 1.0
    assert np.all(ranking.high - ranking.low > 0.1)
    explicit = earmark.propose(made.runs, n=15, predictor="hierarchical", policy="variance")
    assert earmark.propose(made.runs, n=15).equals(explicit)
    assert not explicit["sampled"].any()


def test_verdicts_by_design_about_other_queries_and_at_any_time(made: SyntheticCollection) -> None:
    sampled = earmark.propose(made.runs, n=120, policy="proportional", measure="AG@5", scale=made.judgments.scale)
    assert sampled["sampled"].all()
    frame = made.judgments.frame.join(sampled, on=["query", "document"], how="semi")
    some = earmark.judgments_from_frame(frame, scale=made.judgments.scale)
    plain = earmark.rank(made.runs, some, inference="design")
    truth = earmark.evaluate(made.runs, made.judgments, ["AG@5"]).mean_values[0]
    assert np.all((plain.low <= truth) & (truth <= plain.high))
    for wide in (
        earmark.rank(made.runs, some, inference="design", target="population"),
        earmark.rank(made.runs, some, inference="design", anytime=True),
    ):
        np.testing.assert_array_equal(wide.estimates.scores.mean, plain.estimates.scores.mean)
        assert np.all(wide.high - wide.low > plain.high - plain.low)
    with pytest.raises(ParameterError, match="needs at least 30 sampled judgments, there are"):
        earmark.rank(made.runs, some, inference="design", seed=1)


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
    means = earmark.rank(made.runs, scale=earmark.BROAD, predictor="uniform").estimates.scores.mean
    assert means == pytest.approx(np.full(4, 0.5))
    # Beliefs are as shares of the top gain, so another scale changes what is believed no more than its prior does.
    assert earmark.stand(made.runs, scale=earmark.BROAD).beliefs.mean.max() <= 2
    with pytest.raises(ParameterError, match="unknown predictor"):
        earmark.rank(made.runs, predictor="oracle")
