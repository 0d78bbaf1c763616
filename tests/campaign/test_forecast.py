"""What is still to be done: the path is what conditioning says, and the numbers come true as often as they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.honesty.forecast import look_ahead
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import earmark
from earmark.beliefs.beliefs import item_gains, uniform_beliefs
from earmark.beliefs.effects import Observations
from earmark.beliefs.exact_estimates import system_weights
from earmark.beliefs.lookahead import CorrelatedLookahead, IndependentLookahead, Lookahead
from earmark.beliefs.posterior import Posterior
from earmark.campaign import forecast
from earmark.campaign.campaign import Campaign
from earmark.campaign.decision_chance import chance_decided
from earmark.campaign.forecast import EVEN, LIKELY, forecast_pairs
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference
from earmark.data.judgments import Judgments
from earmark.errors import ParameterError
from earmark.inference.intervals import sign_confidence
from earmark.predictors.choose import PredictorChoice
from earmark.wording import percent
from effects_drawn import Dense, answers_of, model_of, small_collection, some_variances


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(0), systems=5, queries=20, documents=300)


def campaign_of(made: earmark.SyntheticCollection, judged: int, **how: Any) -> Campaign:
    """Judge the first of a shuffled collection."""
    some = made.judgments.frame.sample(judged, seed=1) if judged else None
    judgments = None if some is None else Judgments(some, made.judgments.scale)
    return Campaign.build(made.runs, judgments, metadata=made.metadata, scale=made.judgments.scale, **how)


# Narrowed lookaheads and answers that are not the truth.


def some_lookahead(kind: str, weights: np.ndarray) -> Lookahead:
    if kind == "independent":
        return IndependentLookahead(weights, np.random.default_rng(0).uniform(0.1, 1.0, weights.shape[1]))
    model = model_of(small_collection(1))
    judged = np.array([0, 4, 5, 11])
    observed = Observations.exact(model, judged, np.full(judged.size, 0.5))
    return CorrelatedLookahead(Posterior(model, observed, some_variances(model, sets=1)), weights)


@pytest.mark.parametrize("kind", ["independent", "correlated"])
def test_a_narrowed_lookahead_is_the_same_for_its_items(kind: str) -> None:
    n_items = small_collection(1).n_items
    rng = np.random.default_rng(2)
    weights = rng.normal(0, 1, (3, n_items))
    # Nothing of the second query: its block is empty.
    items = np.array([item for item in range(n_items) if item % 3 and not 8 <= item < 15])
    whole = some_lookahead(kind, weights)
    narrow = some_lookahead(kind, weights).narrowed(1, items)
    for step in (None, 2, 0, 5, 5):
        if step is not None:
            whole.condition_on(int(items[step]))
            narrow.condition_on(step)
        np.testing.assert_allclose(narrow.variance, whole.variance[items], atol=1e-12)
        np.testing.assert_allclose(narrow.covariance, whole.covariance[1:2, items], atol=1e-12)
        np.testing.assert_allclose(narrow.score_covariance, whole.score_covariance[1:2, 1:2], atol=1e-12)


def test_what_is_thought_of_narrowly_leaves_the_whole_alone() -> None:
    weights = np.random.default_rng(2).normal(0, 1, (2, small_collection(1).n_items))
    for kind in ("independent", "correlated"):
        whole, untouched = some_lookahead(kind, weights), some_lookahead(kind, weights)
        narrow = whole.narrowed(0, np.arange(1, 9))
        for item in range(8):
            narrow.condition_on(item)
        np.testing.assert_array_equal(whole.covariance, untouched.covariance)
        whole.condition_on(3)
        untouched.condition_on(3)
        np.testing.assert_array_equal(whole.score_covariance, untouched.score_covariance)


def test_an_answer_that_is_not_the_truth_teaches_as_much_as_conditioning_says() -> None:
    model = model_of(small_collection(1), n_assessors=4)
    theta = some_variances(model, sets=1)
    observed = answers_of(model, np.array([0, 3, 4, 9]))
    weights = np.random.default_rng(0).normal(0, 1, (2, model.n_items))
    ahead = CorrelatedLookahead(Posterior(model, observed, theta), weights)
    alone = IndependentLookahead(weights, np.full(model.n_items, 0.3))
    covariance, diagonal = Dense(model, observed, theta[0]).posterior_covariance, 0.3 * np.eye(model.n_items)
    for item, noise in ((3, 0.01), (7, 0.05), (3, 0.02), (0, 0.0)):
        for lookahead in (ahead, alone):
            lookahead.condition_on(item, noise=noise)
        covariance = covariance - np.outer(covariance[item], covariance[item]) / (covariance[item, item] + noise)
        diagonal = diagonal - np.outer(diagonal[item], diagonal[item]) / (diagonal[item, item] + noise)
        for lookahead, dense in ((ahead, covariance), (alone, diagonal)):
            np.testing.assert_allclose(lookahead.variance, np.diagonal(dense), atol=1e-10)
            np.testing.assert_allclose(lookahead.covariance, weights @ dense, atol=1e-10)
            np.testing.assert_allclose(lookahead.score_covariance, weights @ dense @ weights.T, atol=1e-10)


# The chance of being decided.


@pytest.mark.parametrize("df", [None, 6.0])
@pytest.mark.parametrize(("difference", "left"), [(0.0, 0.1), (0.5, 0.5), (-1.2, 0.02)])
def test_the_chance_is_that_of_drawn_futures(df: float | None, difference: float, left: float) -> None:
    rng = np.random.default_rng(3)
    shape = rng.normal(size=400_000) if df is None else rng.standard_t(df, 400_000)
    means = difference + np.sqrt(1 - left) * shape
    later = None if df is None else np.full(means.size, 20.0)
    drawn = np.mean(sign_confidence(means, np.full(means.size, left), df=later) >= 0.95)
    chance = chance_decided(
        difference,
        learnt=np.array([1 - left]),
        variance=np.array([left]),
        level=0.95,
        df=df,
        later_df=None if df is None else np.array([20.0]),
    )
    assert chance[0] == pytest.approx(drawn, abs=0.004)


@given(st.floats(-1.6, 1.6), st.floats(0.51, 0.99), st.lists(st.floats(0.0, 1.0), min_size=2, max_size=20).map(sorted))
def test_more_is_never_less_likely_to_decide(difference: float, level: float, learnt: list[float]) -> None:
    gone = np.array(learnt)
    if abs(difference) >= special.ndtri(level):
        return
    chance = chance_decided(difference, learnt=gone, variance=1.0 - gone, level=level)
    assert np.all((chance >= 0) & (chance <= 1))
    assert np.all(np.diff(chance) >= -1e-9)
    turned = chance_decided(-difference, learnt=gone, variance=1.0 - gone, level=level)
    np.testing.assert_allclose(turned, chance, atol=1e-12)


def test_nothing_learnt_decides_nothing_and_the_whole_truth_decides() -> None:
    ends = {"learnt": np.array([0.0, 1.0]), "variance": np.array([1.0, 0.0]), "level": 0.95}
    assert chance_decided(1.6, **ends).tolist() == pytest.approx([0.0, 1.0])
    # What no judgment takes off, as the variance between queries, may leave a pair undecided for ever.
    assert chance_decided(0.0, learnt=np.array([1.0]), variance=np.array([0.5]), level=0.95)[0] == pytest.approx(
        2 * stats.norm.sf(1.645 * np.sqrt(0.5)), abs=1e-3
    )


def test_a_rule_for_all_looks_is_stricter() -> None:
    told = {"learnt": np.array([0.5, 0.9]), "variance": np.array([0.5, 0.1]), "level": 0.95}
    once = chance_decided(0.8, **told)
    always = chance_decided(0.8, growth=np.array([2.0, 9.0]), **told)
    assert np.all(always < once)
    # It is the rule of the ranking: exactly at the bar, the confidence is the level.
    bar = np.array([2.0])
    confidence = sign_confidence(bar, np.array([1.0]), df=8.0, growth=np.array([3.0]))[0]
    for level, decided in ((confidence - 1e-6, 1.0), (confidence + 1e-6, 0.0)):
        at = chance_decided(
            2.0,
            learnt=np.zeros(1),
            variance=np.ones(1),
            level=float(level),
            df=8.0,
            later_df=np.full(1, 8.0),
            growth=np.array([3.0]),
        )
        assert at[0] == decided


# The forecast of a campaign.


def test_items_are_those_that_take_most_off_the_difference(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 0, predictor="uniform")
    one = campaign.forecast().pairs[0]
    collection, beliefs = campaign.problem.collection, campaign.beliefs
    weights = system_weights(collection, campaign.problem.measure, scale=campaign.problem.scale).toarray()
    apart = weights[collection.systems.index(one.a)] - weights[collection.systems.index(one.b)]
    worth = apart**2 * beliefs.variance
    items = campaign.propose(int(np.count_nonzero(worth)), pair=(one.a, one.b)).items
    np.testing.assert_allclose(np.sort(worth)[::-1][: items.size], worth[items])
    alone = campaign.forecast_alone(one.a, one.b)
    assert alone is not None
    assert one.left == alone.left == collection.n_items
    # For this pair alone it takes fewer than along the policy.
    assert alone.even is not None
    assert one.even is not None
    assert alone.even < one.even
    one = alone
    # Uniform beliefs expect the same of all systems.
    remaining = np.maximum(1.0 - np.concatenate(([0.0], np.cumsum(worth[items]))) / worth.sum(), 0.0)
    by_hand = chance_decided(0.0, learnt=worth.sum() * (1 - remaining), variance=worth.sum() * remaining, level=0.95)
    np.testing.assert_allclose(one.chance[: by_hand.size], by_hand, atol=1e-9)
    assert one.even == int(np.argmax(by_hand >= EVEN))
    assert one.likely == int(np.argmax(by_hand >= LIKELY))


def test_a_path_is_a_greedy_one_by_textbook_conditioning(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 40)
    beliefs = campaign.beliefs
    found = campaign.forecast()
    one = found.pairs[0]
    collection = campaign.problem.collection
    weights = system_weights(collection, campaign.problem.measure, scale=campaign.problem.scale).toarray()
    apart = weights[collection.systems.index(one.a)] - weights[collection.systems.index(one.b)]
    covariance = Dense(beliefs.model, beliefs.observed, beliefs.variances).posterior_covariance  # type: ignore[attr-defined]
    open_items = np.flatnonzero((apart != 0) & ~beliefs.judged)
    alone = campaign.forecast_alone(one.a, one.b)
    assert alone is not None
    start, taken = apart @ covariance @ apart, []
    variances = [start]
    for _ in range(12):
        own = np.diagonal(covariance)
        worth = np.where(own > 1e-12, (covariance @ apart) ** 2 / np.maximum(own, 1e-12), 0.0)
        item = open_items[np.argmax(worth[open_items])]
        taken.append(int(item))
        covariance = covariance - np.outer(covariance[item], covariance[item]) / covariance[item, item]
        variances.append(apart @ covariance @ apart)
    assert campaign.propose(12, pair=(one.a, one.b)).items.tolist() == taken
    estimates = campaign.ranking.estimates
    pair = next(
        at
        for at, both in enumerate(zip(estimates.a, estimates.b, strict=True))
        if {estimates.systems[index] for index in both} == {one.a, one.b}
    )
    spread, df = estimates.differences.variance[pair], float(estimates.differences.df[pair])  # type: ignore[index]
    left = spread * np.array(variances) / start
    by_hand = chance_decided(
        estimates.differences.mean[pair],
        learnt=spread - left,
        variance=left,
        level=0.95,
        df=df,
        later_df=np.full(left.size, df),
    )
    np.testing.assert_allclose(alone.chance[:13], by_hand, atol=1e-6)


def test_decided_and_identical_pairs_are_left_out(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 60)
    ranking, found = campaign.ranking, campaign.forecast()
    order = ranking.systems_frame()["system"].to_list()
    place = {name: at for at, name in enumerate(order)}
    for one in found.pairs:
        assert one.confidence < 0.95
        assert place[one.b] - place[one.a] == 1 or one.a == order[0]
    assert found.frame().select("a", "b").rows() == [(one.a, one.b) for one in found.pairs]
    every = campaign.forecast(pairs=[(a, b) for a in order for b in order if a < b])
    undecided = ranking.compared & ~ranking.decided()
    assert len(every.pairs) == np.count_nonzero(undecided)
    one = every.pairs[0]
    assert every.of(one.b, one.a) is one
    with pytest.raises(ParameterError, match="there is no system 'nobody'"):
        campaign.propose(5, pair=("nobody", order[0]))
    decided = next((a, b) for a in order for b in order if a != b and every.of(a, b) is None)
    assert campaign.forecast_alone(*decided) is None
    with pytest.raises(ParameterError, match="there is no system 'nobody' to look ahead for"):
        campaign.forecast(pairs=[("nobody", order[0])])
    complete = Campaign.build(made.runs, made.judgments).forecast()
    assert complete.pairs == ()
    assert complete.frame().height == 0
    assert "no open pair at 95% confidence" in str(complete)
    assert "open pair" in str(found)
    assert repr(one).startswith(f"<PairForecast: {one.a} and {one.b}, {percent(one.confidence)}% sure")


def test_systems_that_score_the_same_stay_so() -> None:
    runs = earmark.runs_from_dict({"A": {"q": {"a": 2.0, "b": 1.0}}, "B": {"q": {"c": 2.0, "d": 1.0}}})
    judgments = earmark.judgments_from_dict({"q": {"a": 1, "b": 0, "c": 0, "d": 1}})
    found = Campaign.build(runs, judgments, measure="AG@2", predictor="uniform").forecast()
    (one,) = found.pairs
    assert (one.left, one.even, one.likely, one.chance_of_all) == (0, None, None, 0.0)


def test_about_queries_like_these_some_pairs_are_out_of_reach(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 60)
    population = Inference(target="population")
    here, beyond = campaign.forecast(), campaign.with_settings(inference=population).forecast()
    shared = [(here.of(one.a, one.b), one) for one in beyond.pairs if here.of(one.a, one.b)]
    assert shared
    for near, far in shared:
        assert near is not None
        assert near.chance_of_all == pytest.approx(1.0)
        assert far.chance_of_all < 1.0
        assert far.even is None or (near.even is not None and far.even >= near.even)
    assert any(one.even is None for one in beyond.pairs)
    # Judging everything is what the last chance is about.
    one = next(one for one in beyond.pairs if one.even is None)
    assert one.chance_of_all < EVEN


def test_at_any_time_more_is_needed(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 130)
    once, always = campaign.forecast(), campaign.with_settings(inference=Inference(anytime=True)).forecast()
    assert len(always.pairs) >= len(once.pairs)
    for one in once.pairs:
        other = always.of(one.a, one.b)
        assert other is not None
        assert one.even is not None
        assert other.even is None or other.even >= one.even


def test_where_assessors_disagree_an_answer_is_not_the_truth(made: earmark.SyntheticCollection) -> None:
    rng = np.random.default_rng(4)
    some = made.judgments.frame.sample(60, seed=1).select("query", "document", "gain")
    several = [
        some.with_columns(
            (pl.col("gain") + pl.Series(rng.normal(0, 20, some.height))).clip(0, 100).round().alias("gain"),
            assessor=pl.lit(name),
        )
        for name in ("ann", "bob")
    ]
    judgments = Judgments.from_frame(
        pl.concat(several).select("query", "document", "gain", "assessor"), scale=earmark.FINE
    )
    campaign = Campaign.build(made.runs, judgments, metadata=made.metadata)
    found = campaign.forecast()
    assert found.pairs
    for one in found.pairs:
        assert not one.exact
        assert one.chance_of_all < 1.0


@pytest.mark.parametrize("whole_queries", [False, True])
def test_by_design_the_sample_goes_on_in_its_order(made: earmark.SyntheticCollection, whole_queries: bool) -> None:
    inference = Inference("design", whole_queries=whole_queries)
    start = campaign_of(made, 0, policy="proportional", inference=inference)
    order = start.problem.verdicts.order.order
    items = start.problem.items[order[:190]]
    known = items.join(made.judgments.frame.select("query", "document", "gain"), on=["query", "document"])
    campaign = start.with_judgments(Judgments.from_frame(known, scale=earmark.FINE))
    found = campaign.forecast()
    assert found.pairs
    for one in found.pairs:
        assert one.judgments[0] == 0
        assert one.left == one.judgments[-1] == np.count_nonzero(~campaign.beliefs.judged)
        assert np.all(np.diff(one.chance) >= -1e-9)
        assert one.chance_of_all == one.chance[-1] == pytest.approx(1.0)


def test_measures_that_are_no_sums_look_ahead_too() -> None:
    # The same documents in another order: average gain could not tell them apart.
    ranked = {"A": [3, 2, 1], "B": [1, 2, 3], "C": [2, 3, 1]}
    lists = {
        name: {f"q{q}": dict(zip((f"d{q}.{d}" for d in range(3)), map(float, s), strict=True)) for q in range(8)}
        for name, s in ranked.items()
    }
    campaign = Campaign.build(
        earmark.runs_from_dict(lists), measure="nDCG@3", scale=earmark.BROAD, predictor="uniform", samples=200
    )
    found = campaign.forecast()
    assert found.pairs
    assert all(one.left and one.even for one in found.pairs)


def test_forecasts_end_somewhere(made: earmark.SyntheticCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earmark.campaign.campaign.FARTHEST", 3)
    found = campaign_of(made, 0, predictor="uniform").forecast()
    assert all(one.even is None and one.judgments[-1] == 3 and one.chance_of_all > LIKELY for one in found.pairs)


# The promise.


def share_within(decided: list[bool], promised: float, *, slack: float = 0.1) -> None:
    """Hold a share against what was promised; pairs of a collection go together, so the bounds are those of a third."""
    trials = len(decided) // 3
    low = float(stats.binom.ppf(0.001, trials, promised - slack)) / trials
    high = float(stats.binom.ppf(0.999, trials, min(promised + slack, 1.0))) / trials
    assert low <= np.mean(decided) <= high


def test_with_independent_beliefs_pairs_are_decided_as_often_as_promised(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 30, predictor="uniform")
    collection = campaign.problem.collection
    rng = np.random.default_rng(5)
    verdicts, pairs = campaign.problem.verdicts, campaign.forecast().pairs
    beliefs = uniform_beliefs(collection, scale=earmark.FINE, judged_gain=campaign.gains)
    for goal in (EVEN, LIKELY):
        decided = []
        for one in pairs:
            count = one.needed(goal)
            assert count is not None
            known = campaign.propose(count).items
            for truth in beliefs.draw(rng, 60):
                ranking = verdicts.by_model(beliefs.with_judgments(known, truth[known]))
                decided.append(not is_open(ranking, one.a, one.b))
        # Four standard errors, and a little for gains that are levels and not normal.
        assert np.mean(decided) == pytest.approx(goal, abs=4 * np.sqrt(goal * (1 - goal) / len(decided)) + 0.02)


def is_open(ranking: earmark.Ranking, a: str, b: str) -> bool:
    pairs = ranking.pairs_frame().filter(pl.col("a").is_in([a, b]) & pl.col("b").is_in([a, b]))
    return bool(pairs["confidence"][0] < ranking.level)


@pytest.mark.parametrize("truth", ["drawn", "made up"])
def test_pairs_are_decided_along_the_policy_as_often_as_promised(truth: str) -> None:
    rows = []
    for number in range(8):
        rng = np.random.default_rng([6, number])
        small = earmark.synthetic_collection(rng, systems=4, queries=12, documents=120, depth=5)
        problem = Problem.build(small.runs, metadata=small.metadata, scale=small.judgments.scale, stop="none")
        gains = item_gains(problem.collection, small.judgments)
        answers = Campaign(problem).beliefs.draw(rng, 1)[0] if truth == "drawn" else gains
        rows += look_ahead(problem, answers, shares=(0.1,), batch=20)
    even, likely = ([bool(row["decided"]) for row in rows if row["promised"] == goal] for goal in (EVEN, LIKELY))
    share_within(even, EVEN)
    # Campaigns turn to what is still open, so that the cautious number is rather too high.
    assert np.mean(likely) >= LIKELY - 0.1


def test_a_forecast_changes_nothing_and_is_a_function_of_what_is_believed(made: earmark.SyntheticCollection) -> None:
    campaign = campaign_of(made, 40)
    before, wanted = campaign.ranking.pairs_frame(), campaign.propose(10)
    first, second = campaign.forecast(), campaign.forecast()
    assert first.frame().equals(second.frame())
    assert campaign.ranking.pairs_frame().equals(before)
    np.testing.assert_array_equal(campaign.propose(10).items, wanted.items)
    # A fresh start from the same judgments, and beliefs that somebody else made of them, forecast the same.
    anew = PredictorChoice("hierarchical")(campaign.problem.setting).predict(campaign.gains)
    for again in (
        Campaign(campaign_of(made, 0).problem, campaign.log).forecast(),
        forecast_pairs(campaign.problem, anew, campaign.problem.verdicts.conclude(anew), campaign._policy_path),
    ):
        assert again.frame().equals(first.frame())
        for one, other in zip(first.pairs, again.pairs, strict=True):
            np.testing.assert_array_equal(one.chance, other.chance)


def test_very_large_collections_have_no_forecast(monkeypatch):
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=6, documents=60)
    campaign = Campaign(Problem.build(made.runs, measure="AG@5", metadata=made.metadata))
    pair = campaign.forecast().pairs[0]
    monkeypatch.setattr(forecast, "_LARGEST", campaign.problem.n_cells - 1)
    assert campaign.forecast().pairs == ()
    with pytest.raises(ParameterError, match="no forecast is made of so many"):
        campaign.forecast([(pair.a, pair.b)])
