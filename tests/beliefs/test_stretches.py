"""Large collections are worked on stretch by stretch: the same results, in memory that grows no faster than they do."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import special
from scipy.sparse import csr_array

import earmark
from earmark.beliefs import exact_estimates, posterior, scan, stretches
from earmark.beliefs.beliefs import uniform_beliefs
from earmark.beliefs.estimates import all_pairs
from earmark.beliefs.exact_estimates import LinearEstimator, system_weights
from earmark.beliefs.stretches import by_column, dense_columns, query_stretches
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.policies import Variance, greedy
from earmark.campaign.problem import Problem
from earmark.data.collection import Collection
from earmark.data.runs import Runs, build_runs
from earmark.data.scales import BROAD
from earmark.predictors import covariates, hierarchical_effects, made_effects

AG = earmark.parse("AG@5")


def drawn_runs(queries: int, systems: int, *, depth: int = 5, pool: int = 30, seed: int = 0) -> Runs:
    """Systems that retrieve what is good, more or less: `depth` of the `pool` candidates of every query."""
    rng = np.random.default_rng(seed)
    looks = rng.standard_normal((1, queries, pool)) + 0.8 * rng.standard_normal((systems, queries, pool))
    best = np.argsort(-looks, axis=2)[:, :, :depth]
    documents = (np.arange(queries)[None, :, None] * pool + best).reshape(-1)
    return build_runs(
        system=pl.Series(np.repeat(np.arange(systems), queries * depth)).cast(pl.String).str.zfill(4),
        query=pl.Series(np.tile(np.repeat(np.arange(queries), depth), systems)).cast(pl.String),
        document=pl.Series(documents).cast(pl.String),
        score=np.tile(np.arange(depth, 0, -1.0), systems * queries),
    )


def campaign_of(runs: Runs) -> Campaign:
    return Campaign(Problem.build(runs, measure=AG, scale=BROAD))


def judged(campaign: Campaign, n: int, seed: int = 1) -> Campaign:
    rng = np.random.default_rng(seed)
    items = rng.permutation(campaign.problem.collection.n_items)[:n].astype(np.int64)
    return campaign.with_answers(Answers(items, rng.integers(0, 3, n).astype(np.float64)))


@pytest.fixture
def everything_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every collection for a large one: nothing is kept that can be made again."""
    for module in (stretches, posterior, exact_estimates, scan, made_effects):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(greedy, "_MOST_CELLS", 0)
    monkeypatch.setattr(exact_estimates, "_MOST_SUMS", 0)
    monkeypatch.setattr(made_effects, "_REMEMBERED", 0)


@pytest.fixture
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of few queries, so that small collections have many of them."""
    for module in (stretches, scan, covariates):
        monkeypatch.setattr(module, "STRETCH", 100)


# ---- stretches and columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 7, 20, 10_000])
def test_stretches_are_all_queries_in_order(most):
    offsets = np.concatenate(([0], np.cumsum(np.random.default_rng(0).integers(0, 12, 50))))
    found = query_stretches(offsets, most)
    assert [query for one in found for query in one.queries] == list(range(50))
    assert [one.items.start for one in found] == [0, *(one.items.stop for one in found[:-1])]
    assert all(one.size <= most or len(one.queries) == 1 for one in found)


def test_columns_are_the_same_dense_and_sparse(monkeypatch):
    weights = csr_array(np.where(np.random.default_rng(0).random((4, 30)) < 0.3, 1.5, 0.0))
    dense = by_column(weights)
    monkeypatch.setattr(stretches, "LARGE", 0)
    sparse = by_column(weights)
    assert isinstance(dense, np.ndarray)
    assert not isinstance(sparse, np.ndarray)
    for items in (slice(0, 30), slice(7, 19), slice(4, 4)):
        np.testing.assert_array_equal(dense_columns(sparse, items), dense_columns(dense, items))


# ---- the same results ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize("n_judged", [0, 25])
def test_what_is_made_again_is_the_same_to_the_bit(n_judged, monkeypatch, request):
    runs = drawn_runs(40, 8)
    make = made_effects.made_effects
    # Sums over judged queries are rounded to a power of two, which depends on a bound of the loadings.
    monkeypatch.setattr(
        hierarchical_effects, "made_effects", lambda *how, largest: replace(make(*how, largest=2), largest=2)
    )
    kept = judged(campaign_of(runs), n_judged)
    assert len(kept.beliefs.model.stretches) > 5
    means, look_ahead = kept.beliefs.mean, kept.beliefs.central
    sums = kept.beliefs.sums(system_weights(kept.problem.collection, AG, scale=BROAD))
    request.getfixturevalue("everything_large")
    again = judged(campaign_of(runs), n_judged)
    assert isinstance(kept.beliefs.model.shared, np.ndarray)
    assert not isinstance(again.beliefs.model.shared, np.ndarray)
    np.testing.assert_array_equal(again.beliefs.model.shared[:], kept.beliefs.model.shared)
    np.testing.assert_array_equal(again.beliefs.variances, kept.beliefs.variances)
    np.testing.assert_array_equal(again.beliefs.mean, means)
    np.testing.assert_array_equal(again.beliefs.central.shared_mean, look_ahead.shared_mean)
    for one, other in zip(
        again.beliefs.sums(system_weights(again.problem.collection, AG, scale=BROAD)), sums, strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("everything_large", "short_stretches")
@pytest.mark.parametrize("n_judged", [0, 30])
@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_a_large_collection_is_ranked_like_a_small_one(predictor, n_judged, monkeypatch):
    runs = drawn_runs(30, 6)
    large = judged(Campaign(Problem.build(runs, measure=AG, scale=BROAD, predictor=predictor)), n_judged).ranking
    monkeypatch.undo()
    small = judged(Campaign(Problem.build(runs, measure=AG, scale=BROAD, predictor=predictor)), n_judged).ranking
    for name in ("low", "high", "difference_low", "difference_high", "confidence"):
        np.testing.assert_allclose(getattr(large, name), getattr(small, name), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(large.rank, small.rank)
    np.testing.assert_array_equal(large.estimates.identical, small.estimates.identical)


@pytest.mark.usefixtures("everything_large")
def test_systems_that_cannot_differ_are_found_without_rows_of_pairs(monkeypatch):
    lists = {
        "A": {"q": {"d1": 3, "d2": 2}, "r": {"e1": 2, "e2": 1}},
        "twin": {"q": {"d2": 3, "d1": 2}, "r": {"e2": 2, "e1": 1}},
        "C": {"q": {"d1": 3, "d3": 2}, "r": {"e1": 2, "e2": 1}},
    }
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    beliefs = uniform_beliefs(collection, scale=BROAD)
    found = LinearEstimator(collection, earmark.parse("AG@2"), scale=BROAD).estimate(beliefs)
    assert found.systems == ("A", "C", "twin")
    assert found.identical.tolist() == [False, True, False]
    assert found.differences.variance[1] == 0
    # Once d2 and d3 are judged, A and C can differ no more, and rounding must not say otherwise.
    known = beliefs.with_judgments([1, 2], [2.0, 0.0])
    after = LinearEstimator(collection, earmark.parse("AG@2"), scale=BROAD).estimate(known)
    assert after.differences.variance.tolist() == [0.0, 0.0, 0.0]
    assert after.differences.mean.tolist() == pytest.approx([0.25, 0.0, -0.25])


@pytest.mark.usefixtures("short_stretches")
@pytest.mark.parametrize("n_judged", [0, 20])
@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_a_scan_gives_what_a_lookahead_has(predictor, n_judged):
    campaign = judged(
        Campaign(Problem.build(drawn_runs(20, 5), measure=AG, scale=BROAD, predictor=predictor)), n_judged
    )
    weights, beliefs = campaign.problem.weights, campaign.beliefs
    assumed = np.flatnonzero(~beliefs.judged)[[3, 50, 51]]
    ahead = beliefs.lookahead(weights)
    for item in assumed:
        ahead.condition_on(int(item))
    scanned = beliefs.scan(weights, assumed)
    np.testing.assert_allclose(scanned.score_covariance, ahead.score_covariance, atol=1e-12)
    for items, variance, covariance in scanned:
        np.testing.assert_allclose(variance, ahead.variance[items], atol=1e-10)
        np.testing.assert_allclose(covariance, ahead.covariance[:, items], atol=1e-10)
    some = np.sort(np.random.default_rng(0).permutation(beliefs.n_items)[:60])
    narrow = scanned.narrowed(some)
    for _ in range(2):
        np.testing.assert_allclose(narrow.variance, ahead.variance[some], atol=1e-10)
        np.testing.assert_allclose(narrow.covariance, ahead.covariance[:, some], atol=1e-10)
        np.testing.assert_allclose(narrow.score_covariance, ahead.score_covariance, atol=1e-12)
        narrow.condition_on(17)
        ahead.condition_on(int(some[17]))


@pytest.mark.usefixtures("everything_large", "short_stretches")
@pytest.mark.parametrize("group_by_query", [False, True])
def test_a_batch_chosen_among_all_items_is_that_of_a_small_collection(group_by_query, monkeypatch):
    runs = drawn_runs(25, 6)
    how = {"measure": AG, "scale": BROAD, "policy": Variance(group_by_query=group_by_query)}
    large = judged(Campaign(Problem.build(runs, **how)), 10).propose(30, pending=[5])
    monkeypatch.undo()
    small = judged(Campaign(Problem.build(runs, **how)), 10).propose(30, pending=[5])
    np.testing.assert_array_equal(large.items, small.items)
    np.testing.assert_allclose(large.priority, small.priority, rtol=1e-6)


@pytest.mark.usefixtures("everything_large")
def test_a_batch_chosen_among_some_items_takes_off_nearly_as_many_doubts(monkeypatch):
    campaign = campaign_of(drawn_runs(150, 10))
    monkeypatch.setattr(greedy, "_BEST", 100)
    monkeypatch.setattr(greedy, "_AT_LEAST", 400)
    monkeypatch.setattr(greedy, "_FOR_EACH", 4)
    few = campaign.propose(40).items
    monkeypatch.setattr(greedy, "_BEST", 10_000)
    all_items = campaign.propose(40).items
    assert np.unique(few).size == 40

    def doubts(items) -> float:
        covariance = campaign.beliefs.scan(campaign.problem.weights, items).score_covariance
        a, b = all_pairs(len(covariance))
        variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        scores = campaign.ranking.merit
        return float(special.ndtr(-np.abs(scores[a] - scores[b]) / np.sqrt(variance)).sum())

    nothing = doubts(np.zeros(0, dtype=np.int64))
    assert nothing - doubts(few) > 0.93 * (nothing - doubts(all_items))
    random = np.random.default_rng(0).permutation(campaign.problem.collection.n_items)[:40]
    assert doubts(few) < doubts(random)


# ---- memory ----------------------------------------------------------------------------------------------------------


def peak(queries: int, systems: int) -> int:
    """Return the peak of memory for beliefs, a ranking and a batch, in bytes; runs are there already."""
    runs = drawn_runs(queries, systems, pool=20)
    tracemalloc.start()
    try:
        campaign = campaign_of(runs)
        assert campaign.ranking.confidence.size == systems * (systems - 1) // 2
        assert len(campaign.propose(5)) == 5
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("everything_large")
def test_memory_grows_no_faster_than_the_collection(monkeypatch):
    for module in (stretches, scan, covariates):
        monkeypatch.setattr(module, "STRETCH", 1000)
    monkeypatch.setattr(greedy, "_BEST", 100)
    monkeypatch.setattr(greedy, "_AT_LEAST", 400)
    small, large = peak(500, 40), peak(2000, 40)
    assert large < 4.4 * small
    # A number for every query and pair alone would take 12 MB, one for every item and system 10 MB, and the designs of
    # all queries 50 MB; the lists themselves have 400,000 results.
    assert large < 60_000_000
