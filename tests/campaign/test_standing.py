"""The short way from files to a ranking and to the next questions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.campaign.plan import plan as simulate_plan
from earmark.campaign.policies import make_policy
from earmark.campaign.stopping import parse_stop
from earmark.data.judgments import Judgments
from earmark.errors import InputError, ParameterError
from earmark.predictors.choose import PredictorChoice
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


def some_of(made: SyntheticCollection, items: pl.DataFrame) -> Judgments:
    return earmark.judgments_from_frame(made.judgments.frame.join(items, on=["query", "document"], how="semi"))


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal", "mtc-judge"])
def test_judging_in_rounds_leads_to_the_same_place(made: SyntheticCollection, predictor: str) -> None:
    standing = earmark.stand(made.runs, metadata=made.metadata, predictor=predictor)
    everything = None
    for _ in range(3):
        answered = some_of(made, standing.propose(15))
        standing = standing.judged_with(answered)
        everything = answered if everything is None else everything.with_more(answered)
    assert standing.judged == np.count_nonzero(standing.gains >= 0) == 45
    assert everything is not None
    at_once = earmark.stand(made.runs, everything, metadata=made.metadata, predictor=predictor, scale=earmark.FINE)
    np.testing.assert_array_equal(standing.gains, at_once.gains)
    np.testing.assert_array_equal(standing.beliefs.mean, at_once.beliefs.mean)
    np.testing.assert_array_equal(standing.ranking().confidence, at_once.ranking().confidence)
    # Judgments that are there already change nothing.
    again = standing.judged_with(everything)
    np.testing.assert_array_equal(again.beliefs.mean, standing.beliefs.mean)


def test_judgments_have_to_be_on_the_scale_of_the_campaign(made: SyntheticCollection) -> None:
    standing = earmark.stand(made.runs, scale=earmark.BROAD)
    query, document = standing.propose(1).row(0)[:2]
    # One gain of 1 looks like a binary scale, but nobody said so.
    judged = standing.judged_with(earmark.judgments_from_dict({query: {document: 1}}))
    assert judged.setting.scale == earmark.BROAD
    with pytest.raises(ParameterError, match="the campaign judges on the scale broad, these judgments are on fine"):
        standing.judged_with(made.judgments)
    with pytest.raises(InputError, match="expected gains on the scale broad, got 50"):
        standing.judged_with(earmark.judgments_from_dict({query: {document: 50}}))


def test_a_standing_proposes_as_the_function_does(made: SyntheticCollection) -> None:
    standing = earmark.stand(made.runs, metadata=made.metadata)
    assert standing.propose(7, seed=3).equals(earmark.propose(made.runs, n=7, metadata=made.metadata, seed=3))
    audited = standing.propose(10, audit=0.2, seed=3)
    assert audited["sampled"].sum() == 2


def test_when_to_stop(made: SyntheticCollection) -> None:
    before, after = earmark.stand(made.runs), earmark.stand(made.runs, made.judgments)
    assert not before.check_stop("min:0.99").stop
    assert before.check_stop("budget:0").stop
    assert after.check_stop("min:0.99").reason == "everything is judged"
    narrow, wide = before.check_stop("mean:0.9"), before.check_stop("mean:0.9", margin=0.5)
    assert (narrow.stop, wide.stop) == (False, True)
    assert before.check_stop(parse_stop("mean:0.9", margin=0.5)) == wide


def test_a_plan_is_that_of_the_library(made: SyntheticCollection) -> None:
    found = earmark.plan(made.runs, metadata=made.metadata, stop="mean:0.9", margin=0.01, repeats=3, seed=4)
    choice = PredictorChoice("hierarchical")
    standing = earmark.stand(made.runs, metadata=made.metadata)
    direct = simulate_plan(
        standing.setting,
        predictor=choice,
        policy=make_policy("variance"),
        stop=parse_stop("mean:0.9", margin=0.01),
        measure=standing.measure,
        rng=np.random.default_rng(4),
        repeats=3,
    )
    assert found.judgments.tolist() == direct.judgments.tolist()
    assert earmark.plan(made.runs, made.judgments, repeats=3).high == 0


def test_an_audit_needs_sampled_judgments(made: SyntheticCollection) -> None:
    standing = earmark.stand(made.runs, metadata=made.metadata)
    with pytest.raises(ParameterError, match="sampled"):
        standing.audit()
    judged = standing.judged_with(some_of(made, standing.propose(60, policy="proportional", seed=5)))
    assert judged.audit(seed=5).sampled == 60
    assert judged.audit(seed=5) == judged.appraiser(seed=5).audit(judged.beliefs)
