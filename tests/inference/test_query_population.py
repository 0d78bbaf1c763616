"""From these queries to queries like these: the formulas, everything by enumeration, and coverage by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

import earmark
from earmark.beliefs.beliefs import Beliefs, from_probabilities
from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.beliefs.exact_estimates import LinearEstimator
from earmark.data.collection import Collection
from earmark.data.scales import BINARY
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.design_based import DesignEstimator, mean_of_others
from earmark.inference.query_population import QuerySampling, query_sampling, to_population
from earmark.inference.sampling_design import SampleOrder
from queries_drawn import AG4, POPULATION_MEANS, collection_of, draw_queries, holds, right_beliefs

REPEATS = 400


def estimates_of(variance: list[float], apart: list[float], *, df: float | None, queries: int) -> Estimates:
    """Three systems, of which the first two retrieve the same."""
    a, b = all_pairs(3)

    def moments(values: list[float]) -> Moments:
        spread = np.array(values)
        return Moments.exact(np.zeros(3), spread, df=None if df is None else np.full(3, df))

    same = np.array([True, False, False])
    return Estimates(
        ("a", "b", "c"), AG4, moments(variance), a, b, moments(apart), same, queries=queries, items=9, judged=4
    )


@pytest.mark.parametrize("df", [None, 7.0])
def test_variances_add_up_and_degrees_of_freedom_are_satterthwaites(df):
    before = estimates_of([0.2, 0.2, 0.5], [0.0, 0.3, 0.3], df=df, queries=5)
    between = np.array([[0.4, 0.4, 0.1], [0.4, 0.4, 0.1], [0.1, 0.1, 0.9]])
    after = to_population(before, QuerySampling(between / 5, 4.0))
    assert after.scores.variance == pytest.approx([0.2 + 0.4 / 5, 0.2 + 0.4 / 5, 0.5 + 0.9 / 5])
    apart = 0.4 + 0.9 - 2 * 0.1
    # Systems that cannot differ on these queries are not said to differ on others.
    assert after.differences.variance == pytest.approx([0.0, 0.3 + apart / 5, 0.3 + apart / 5])
    assert after.scores.df is not None
    for own, sampling, found in zip([0.2, 0.2, 0.5], [0.08, 0.08, 0.18], after.scores.df, strict=True):
        of_own = 0.0 if df is None else own**2 / df
        assert found == pytest.approx((own + sampling) ** 2 / (of_own + sampling**2 / 4), rel=1e-4)
    assert np.array_equal(after.scores.mean, before.scores.mean)
    assert (after.queries, after.items, after.judged) == (5, 9, 4)
    assert rank_systems(after).identical_pairs == (("a", "b"),)


def test_queries_that_do_not_differ_change_nothing():
    before = estimates_of([0.2, 0.2, 0.5], [0.0, 0.3, 0.3], df=7.0, queries=5)
    after = to_population(before, QuerySampling(np.zeros((3, 3)), 4.0))
    assert after.scores.variance == pytest.approx(before.scores.variance)
    assert after.scores.df == pytest.approx(np.full(3, 7.0))


def test_with_everything_known_what_is_left_is_students_t_over_queries():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(3, 12))
    a, b = all_pairs(3)
    exact = [Moments.exact(mean, np.zeros(3)) for mean in (scores.mean(axis=1), (scores[a] - scores[b]).mean(axis=1))]
    known = Estimates(
        ("a", "b", "c"), AG4, exact[0], a, b, exact[1], np.zeros(3, dtype=bool), queries=12, items=9, judged=9
    )
    ranking = rank_systems(to_population(known, QuerySampling(np.cov(scores) / 12, 11.0)))
    for system in range(3):
        low, high = stats.ttest_1samp(scores[system], 0.0).confidence_interval(0.95)
        assert (ranking.low[system], ranking.high[system]) == (pytest.approx(low), pytest.approx(high))
    for pair in range(3):
        tested = stats.ttest_rel(scores[a[pair]], scores[b[pair]])
        assert ranking.confidence[pair] == pytest.approx(1 - tested.pvalue / 2)


# ---- how much queries differ -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["AG@2", "nDCG@2"])
def test_the_covariance_over_queries_is_that_of_all_assignments(measure):
    lists = {"A": {"q": "xy", "r": "uv", "s": "ab"}, "B": {"q": "yz", "r": "vu", "s": "a"}}
    runs = {s: {q: {d: -float(at) for at, d in enumerate(docs)} for q, docs in of.items()} for s, of in lists.items()}
    collection = Collection.from_runs(earmark.runs_from_dict(runs))
    chance = np.random.default_rng(2).uniform(0.2, 0.8, collection.n_items)
    names = collection.item_frame().select("query", "document").rows()
    expected = np.zeros((2, 2))
    for gains in product((0, 1), repeat=collection.n_items):
        probability = np.prod(np.where(gains, chance, 1 - chance))
        truth: dict[str, dict[str, int]] = {}
        for (query, document), gain in zip(names, gains, strict=True):
            truth.setdefault(query, {})[document] = gain
        judgments = earmark.judgments_from_dict(truth, scale=BINARY)
        scores = earmark.evaluate(earmark.runs_from_dict(runs), judgments, [measure]).values[0]
        expected += probability * np.cov(scores)
    beliefs = from_probabilities(np.column_stack((1 - chance, chance)), scale=BINARY)
    sampling = query_sampling(collection, beliefs, earmark.parse(measure), rng=np.random.default_rng(3), draws=40_000)
    assert 3 * sampling.covariance == pytest.approx(expected, abs=0.004)
    assert np.array_equal(sampling.covariance, sampling.covariance.T)


def test_one_query_does_not_tell_how_much_queries_differ():
    collection = collection_of(1)
    chance, _ = draw_queries(np.random.default_rng(0), collection)
    with pytest.raises(ParameterError, match=r"queries like these need two queries or more .*, got one"):
        query_sampling(collection, right_beliefs(chance), AG4, rng=np.random.default_rng(0))


# ---- coverage --------------------------------------------------------------------------------------------------------


def within_binomial(count: int, *, least: float, most: float) -> bool:
    """Whether a count is what a coverage between the two bounds gives in all but one of 5,000 cases on either side."""
    return stats.binom.ppf(0.0002, REPEATS, least) <= count <= stats.binom.ppf(0.9998, REPEATS, most)


@pytest.mark.parametrize(("share", "most"), [(1.0, 0.96), (0.5, 1.0), (0.0, 1.0)])
def test_intervals_by_a_right_model_hold_the_means_of_the_population(share, most):
    """Where a model knows more of a query than its judgments show, intervals are wider than they had to be."""
    collection = collection_of(20)
    estimator = LinearEstimator(collection, AG4, scale=BINARY)
    rng = np.random.default_rng([4, int(10 * share)])
    one_row, covered, only_these, width = 0, 0.0, 0.0, 0.0
    for repeat in range(REPEATS):
        chance, gains = draw_queries(rng, collection)
        beliefs = right_beliefs(chance, np.where(rng.random(gains.size) < share, gains, -1.0))
        about_these = estimator.estimate(beliefs)
        ranking = rank_systems(to_population(about_these, between(collection, beliefs, rng)))
        held = holds(ranking, POPULATION_MEANS)
        # One interval from each campaign: independent trials, as the binomial bounds want them.
        one_row += held[repeat % held.size]
        covered += held.mean() / REPEATS
        only_these += holds(rank_systems(about_these), POPULATION_MEANS).mean() / REPEATS
        width += float(np.mean(ranking.high - ranking.low)) / REPEATS
    assert within_binomial(one_row, least=0.94, most=most)
    assert covered >= 0.94
    # Wide enough to be right, and not much wider than with everything judged (.29).
    assert 0.27 < width < 0.36
    if share == 1.0:
        assert only_these < 0.05


def between(collection: Collection, beliefs: Beliefs, rng: np.random.Generator) -> QuerySampling:
    return query_sampling(collection, beliefs, AG4, rng=rng, draws=40)


def test_intervals_by_a_sample_hold_the_means_of_the_population():
    """The sample of items knows nothing of the population, so both errors add up."""
    collection = collection_of(20)
    rng = np.random.default_rng(5)
    one_row, covered, only_these, width = 0, 0.0, 0.0, 0.0
    for repeat in range(REPEATS):
        chance, gains = draw_queries(rng, collection)
        order = SampleOrder.of(collection, AG4, scale=BINARY, seed=repeat)
        judged = np.where(order.sampled(120), gains, -1.0)
        estimator = DesignEstimator(collection, AG4, scale=BINARY, order=order)
        about_these = estimator.estimate(judged, mean_of_others(judged)).estimates
        ranking = rank_systems(to_population(about_these, between(collection, right_beliefs(chance, judged), rng)))
        held = holds(ranking, POPULATION_MEANS)
        one_row += held[repeat % held.size]
        covered += held.mean() / REPEATS
        only_these += holds(rank_systems(about_these), POPULATION_MEANS).mean() / REPEATS
        width += float(np.mean(ranking.high - ranking.low)) / REPEATS
    assert within_binomial(one_row, least=0.94, most=0.975)
    assert 0.94 <= covered <= 0.975
    assert only_these < 0.85
    assert width < 0.4
