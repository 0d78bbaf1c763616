"""Normalised measures by design: whole queries against the textbook and all subsets, items by their coverage."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import earmark
from earmark.beliefs.montecarlo import over_pool, pooled_lists
from earmark.data.collection import Collection
from earmark.data.scales import BINARY, FINE, Scale
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.design_based import EXACT, FLOOR_DF, GUARANTEED, mean_of_others
from earmark.inference.design_based_normalised import (
    APPROXIMATE,
    MINIMUM_QUERIES,
    estimate_by_complete_queries,
    estimate_ratio_by_design,
)
from earmark.inference.sampling_design import QueryOrder, SampleOrder

NDCG = earmark.parse("nDCG@5")
NORMALISED = [NDCG, earmark.parse("nRBP(p=0.8)@5"), earmark.parse("nDCG(ideal=pool,discount=first)@3")]


def drawn(seed: int, *, systems: int, queries: int, documents: int = 300) -> tuple[Collection, np.ndarray]:
    """Lists of a made-up collection, with gains that depend on the query."""
    rng = np.random.default_rng(seed)
    made = earmark.synthetic_collection(rng, systems=systems, queries=queries, documents=documents)
    collection = Collection.from_runs(made.runs)
    level = rng.uniform(10, 80, queries)[collection.item_query]
    return collection, np.clip(np.round(level + rng.normal(0, 20, collection.n_items)), 0, 100)


def query_scores(collection: Collection, measure, gains: np.ndarray, scale: Scale = FINE) -> np.ndarray:
    scores = over_pool(measure).score(pooled_lists(collection, scale).with_gains(gains))
    return scores.reshape(len(collection.systems), len(collection.queries))


def first_queries(order: QueryOrder, gains: np.ndarray, n: int) -> np.ndarray:
    return np.where(np.isin(order.item_query, order.queries[:n]), gains, -1.0)


def item_order(rng: np.random.Generator, collection: Collection) -> SampleOrder:
    size = SampleOrder.of(collection, earmark.parse("DCG@5"), scale=FINE, seed=0).size
    return SampleOrder(rng.random(collection.n_items), size)


# ---- whole queries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [*NORMALISED, earmark.parse("AP(rel=50)@5"), earmark.parse("AG@5")], ids=str)
def test_complete_queries_have_the_interval_of_the_textbook(measure):
    collection, gains = drawn(1, systems=3, queries=30)
    order = QueryOrder.of(collection, seed=4)
    n = 12
    found = estimate_by_complete_queries(
        collection, measure, scale=FINE, order=order, judged_gain=first_queries(order, gains, n)
    )
    ranking = rank_systems(found.estimates)
    scores = query_scores(collection, measure, gains)[:, order.queries[:n]]
    assert (found.sampled, found.guarantee) == (n, GUARANTEED)
    assert found.estimates.measure == over_pool(measure)
    rows = [*scores, scores[0] - scores[1], scores[0] - scores[2], scores[1] - scores[2]]
    low, high = np.append(ranking.low, ranking.difference_low), np.append(ranking.high, ranking.difference_high)
    for row, values in enumerate(rows):
        left = np.sqrt(1 - n / 30)
        expected = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values) * left)
        assert (low[row], high[row]) == pytest.approx(expected)


def test_over_all_samples_of_queries_mean_and_variance_are_unbiased():
    collection, gains = drawn(2, systems=2, queries=12, documents=100)
    true = query_scores(collection, NDCG, gains).mean(axis=1)
    # Predictions make it narrower or wider, never wrong.
    predicted = np.random.default_rng(0).random((2, 12))
    for guess in (None, predicted):
        means, variances = [], []
        for chosen in combinations(range(12), 10):
            number = np.full(12, 0.9) + np.arange(12) / 1000
            number[list(chosen)] -= 0.5
            order = QueryOrder(number, collection.item_query)
            estimates = estimate_by_complete_queries(
                collection,
                NDCG,
                scale=FINE,
                order=order,
                judged_gain=first_queries(order, gains, 10),
                predicted=guess,
            ).estimates
            means.append(np.append(estimates.scores.mean, estimates.differences.mean))
            variances.append(np.append(estimates.scores.variance, estimates.differences.variance))
        assert np.mean(means, axis=0) == pytest.approx([*true, true[0] - true[1]])
        assert np.mean(variances, axis=0) == pytest.approx(np.var(means, axis=0))


def test_good_predictions_of_other_queries_narrow_intervals():
    collection, gains = drawn(3, systems=3, queries=40)
    order = QueryOrder.of(collection, seed=1)
    judged = first_queries(order, gains, 15)
    true = query_scores(collection, NDCG, gains)
    nearly = true + np.random.default_rng(0).normal(0, 0.02, true.shape)
    arguments = {"scale": FINE, "order": order, "judged_gain": judged}
    plain, helped = (
        rank_systems(estimate_by_complete_queries(collection, NDCG, **arguments, predicted=guess).estimates)
        for guess in (None, nearly)
    )
    assert np.all(helped.high - helped.low < 0.4 * (plain.high - plain.low))
    assert np.all(np.abs(helped.estimates.scores.mean - true.mean(axis=1)) < 0.03)


def test_coverage_of_complete_queries():
    collection, gains = drawn(4, systems=4, queries=60)
    true = query_scores(collection, NDCG, gains).mean(axis=1)
    rng = np.random.default_rng(5)
    repeats, one_row = 400, 0
    for repeat in range(repeats):
        order = QueryOrder(rng.random(60), collection.item_query)
        judged = first_queries(order, gains, MINIMUM_QUERIES)
        ranking = rank_systems(
            estimate_by_complete_queries(collection, NDCG, scale=FINE, order=order, judged_gain=judged).estimates
        )
        apart = true[ranking.estimates.a] - true[ranking.estimates.b]
        held = np.append(
            (ranking.low <= true) & (true <= ranking.high),
            (ranking.difference_low <= apart) & (apart <= ranking.difference_high),
        )
        one_row += held[repeat % held.size]
    assert stats.binom.ppf(0.0002, repeats, 0.935) <= one_row <= stats.binom.ppf(0.9998, repeats, 0.97)


def test_queries_completed_out_of_order_do_not_count():
    collection, gains = drawn(1, systems=3, queries=30)
    order = QueryOrder.of(collection, seed=4)
    judged = first_queries(order, gains, 12)
    more = np.where(np.isin(collection.item_query, order.queries[20:]), gains, judged)
    arguments = {"scale": FINE, "order": order}
    few = estimate_by_complete_queries(collection, NDCG, judged_gain=judged, **arguments)
    many = estimate_by_complete_queries(collection, NDCG, judged_gain=more, **arguments)
    assert many.sampled == 12
    assert many.estimates.scores.mean.tolist() == few.estimates.scores.mean.tolist()
    assert many.estimates.judged > few.estimates.judged


def alike_collection(queries: int = 40) -> Collection:
    """A and B retrieve the same in another order, C is A again, D retrieves something else."""
    names = [f"q{query:02}" for query in range(queries)]
    lists = {
        "A": {name: {"x": 2.0, "y": 1.0} for name in names},
        "B": {name: {"x": 1.0, "y": 2.0} for name in names},
        "C": {name: {"x": 2.0, "y": 1.0} for name in names},
        "D": {name: {"z": 2.0, "y": 1.0} for name in names},
    }
    return Collection.from_runs(earmark.runs_from_dict(lists))


def test_a_tie_in_every_complete_query_is_no_certainty():
    collection = alike_collection()
    order = QueryOrder.of(collection, seed=0)
    documents = np.array(collection.documents)[collection.item_document]
    # x and y are worth the same wherever they were judged, and z nothing.
    gains = np.where(documents == "z", 0.0, 1.0)
    judged = first_queries(order, gains, 20)
    arguments = {"scale": BINARY, "order": order}
    found = estimate_by_complete_queries(collection, NDCG, judged_gain=judged, **arguments).estimates
    ranking = rank_systems(found)
    pairs = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    tie, same = pairs.index((0, 1)), pairs.index((0, 2))
    assert found.differences.mean[tie] == 0
    # Three in twenty, or as many as are left.
    assert ranking.difference_high[tie] == pytest.approx(-np.log(0.05) / 20)
    assert found.differences.df[tie] == FLOOR_DF
    assert ranking.high[0] - ranking.estimates.scores.mean[0] == pytest.approx(-np.log(0.05) / 20)
    # The same lists are the same, whatever is unseen.
    assert found.identical.tolist() == [pair == (0, 2) for pair in pairs]
    assert found.differences.variance[same] == 0
    # Predictions that are always off by the same prove nothing either.
    guess = np.random.default_rng(0).random((4, 40))
    guess[:, order.queries[:20]] = query_scores(collection, NDCG, gains, BINARY)[:, order.queries[:20]] - 0.1
    shifted = estimate_by_complete_queries(collection, NDCG, judged_gain=judged, predicted=guess, **arguments)
    assert np.all(shifted.estimates.scores.variance > 0)
    everything = estimate_by_complete_queries(collection, NDCG, judged_gain=gains, **arguments)
    assert not everything.estimates.differences.variance.any()


# ---- items -----------------------------------------------------------------------------------------------------------


def test_differences_of_normalised_scores_are_nearly_right():
    collection, gains = drawn(6, systems=5, queries=30)
    true = query_scores(collection, NDCG, gains).mean(axis=1)
    rng = np.random.default_rng(7)
    repeats, covered, width, bias = 150, 0.0, 0.0, 0.0
    for _ in range(repeats):
        order = item_order(rng, collection)
        judged = np.where(order.sampled(150), gains, -1.0)
        found = estimate_ratio_by_design(
            collection,
            NDCG,
            scale=FINE,
            order=order,
            judged_gain=judged,
            prediction=mean_of_others(judged),
            rng=rng,
            draws=10,
        )
        ranking = rank_systems(found.estimates)
        apart = true[ranking.estimates.a] - true[ranking.estimates.b]
        covered += np.mean((ranking.difference_low <= apart) & (apart <= ranking.difference_high)) / repeats
        width += float(np.mean(ranking.difference_high - ranking.difference_low)) / 2 / repeats
        bias += float(np.mean(found.estimates.scores.mean - true)) / repeats
    assert (found.guarantee, found.sampled) == (APPROXIMATE, 150)
    assert 0.93 <= covered <= 0.99
    assert width < 0.2
    # Single systems are off by what the ideal is off by.
    assert abs(bias) < 0.1


@pytest.mark.parametrize("measure", NORMALISED, ids=str)
def test_with_everything_judged_both_ways_are_exact(measure):
    collection, gains = drawn(8, systems=3, queries=15, documents=100)
    true = query_scores(collection, measure, gains).mean(axis=1)
    by_queries = estimate_by_complete_queries(
        collection, measure, scale=FINE, order=QueryOrder.of(collection, seed=0), judged_gain=gains
    )
    by_items = estimate_ratio_by_design(
        collection,
        measure,
        scale=FINE,
        order=item_order(np.random.default_rng(0), collection),
        judged_gain=gains,
        prediction=np.full(gains.size, 50.0),
        rng=np.random.default_rng(0),
    )
    for found in (by_queries, by_items):
        assert found.guarantee == EXACT
        assert found.estimates.scores.mean == pytest.approx(true)
        assert found.estimates.differences.mean == pytest.approx(true[found.estimates.a] - true[found.estimates.b])
        assert not found.estimates.scores.variance.any()
        assert not found.estimates.differences.variance.any()


def test_an_ideal_that_is_not_known_leaves_no_certainty():
    # All of what tells A and B apart is judged, and right as predicted; the ideal is not known.
    names = [f"q{query:02}" for query in range(40)]
    lists = {
        "A": {name: {"x": 2.0, "u": 1.0} for name in names},
        "B": {name: {"y": 2.0, "u": 1.0} for name in names},
        "C": {name: {"z": 2.0, "v": 1.0} for name in names},
        "D": {name: {"x": 2.0, "u": 1.0} for name in names},
    }
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    documents = np.array(collection.documents)[collection.item_document]
    number = np.random.default_rng(0).uniform(0.5, 0.9, collection.n_items)
    number[np.isin(documents, ["x", "y"])] /= 100
    order = SampleOrder(number, np.ones(collection.n_items))
    gains = np.where(documents == "x", 80.0, np.where(documents == "y", 20.0, 50.0))
    gains += np.arange(gains.size) % 7
    judged = np.where(order.sampled(100), gains, -1.0)
    estimates = estimate_ratio_by_design(
        collection,
        NDCG,
        scale=FINE,
        order=order,
        judged_gain=judged,
        prediction=np.where(np.isin(documents, ["x", "y"]), gains, 40.0),
        rng=np.random.default_rng(1),
    ).estimates
    pairs = list(zip(estimates.a.tolist(), estimates.b.tolist(), strict=True))
    # Not the last bits of a sum, but what an ideal that is a few percent off does to a difference of some tenths.
    assert np.sqrt(estimates.differences.variance[pairs.index((0, 1))]) > 1e-3
    assert estimates.identical.tolist() == [pair == (0, 3) for pair in pairs]
    assert estimates.differences.variance[pairs.index((0, 3))] == 0
    assert estimates.differences.mean[pairs.index((0, 3))] == 0


def test_where_nothing_good_was_seen_something_may_still_be():
    collection, gains = drawn(9, systems=2, queries=30)
    order = item_order(np.random.default_rng(0), collection)
    judged = np.where(order.sampled(60), 0.0, -1.0)
    ranking = rank_systems(
        estimate_ratio_by_design(
            collection,
            NDCG,
            scale=FINE,
            order=order,
            judged_gain=judged,
            prediction=np.zeros(gains.size),
            rng=np.random.default_rng(0),
        ).estimates
    )
    assert np.all(ranking.high > 0.02)
    assert ranking.confidence.tolist() == [0.5]


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_too_few_complete_queries_are_refused_with_what_to_do():
    collection, gains = drawn(1, systems=3, queries=30)
    order = QueryOrder.of(collection, seed=4)
    message = "at least 10 complete queries from the front of the order, there are 9 of 30. Judge whole queries"
    with pytest.raises(ParameterError, match=message):
        estimate_by_complete_queries(
            collection, NDCG, scale=FINE, order=order, judged_gain=first_queries(order, gains, 9)
        )


@pytest.mark.parametrize(
    ("measure", "changed", "message"),
    [
        ("DCG@5", {}, "DCG@5 has no bounds"),
        ("nDCG@5", {"judged_gain": np.zeros(3)}, r"expected 'judged_gain' for each of \d+ items, got shape \(3,\)"),
        ("nDCG@5", {"predicted": np.zeros((2, 2))}, r"predicted scores of shape \(3, 30\), got shape \(2, 2\)"),
        ("nDCG@5", {"level": 0.0}, "the level of an interval is between 0 and 1, got 0"),
    ],
)
def test_what_whole_queries_cannot_estimate_is_refused(measure, changed, message):
    collection, gains = drawn(1, systems=3, queries=30)
    arguments = {"scale": FINE, "order": QueryOrder.of(collection, seed=4), "judged_gain": gains} | changed
    with pytest.raises(ParameterError, match=message):
        estimate_by_complete_queries(collection, earmark.parse(measure), **arguments)


@pytest.mark.parametrize(
    ("measure", "changed", "message"),
    [
        ("AG@5", {}, "AG@5 is not normalised by the ideal ranking of the pool"),
        ("nDCG(ideal=scale)@5", {}, "is not normalised by the ideal ranking of the pool"),
        ("nDCG@5", {"draws": 1}, "the ideal is drawn twice or more, got 1"),
        ("nDCG@5", {"prediction": np.zeros(3)}, r"expected 'prediction' for each of \d+ items"),
        ("nDCG@5", {"n": 10}, "at least 30 sampled judgments, there are 10"),
    ],
)
def test_what_a_sample_of_items_cannot_estimate_is_refused(measure, changed, message):
    collection, gains = drawn(1, systems=3, queries=30)
    order = item_order(np.random.default_rng(0), collection)
    judged = np.where(order.sampled(changed.pop("n", 60)), gains, -1.0)
    arguments = {"order": order, "judged_gain": judged, "prediction": np.full(gains.size, 50.0)} | changed
    with pytest.raises(ParameterError, match=message):
        estimate_ratio_by_design(
            collection, earmark.parse(measure), scale=FINE, rng=np.random.default_rng(0), **arguments
        )
