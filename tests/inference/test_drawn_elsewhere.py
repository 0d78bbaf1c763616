"""Samples that were drawn elsewhere: intervals hold, and judgments that are no such sample are refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import earmark
from earmark.beliefs.beliefs import UNJUDGED, item_gains
from earmark.beliefs.exact_estimates import system_weights
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.design_based import DesignEstimator, DesignResult, mean_of_others
from earmark.inference.drawn_elsewhere import DrawnElsewhere
from earmark.inference.sampling_design import ItemSampling, SampleOrder, sizes

AG5, REPEATS = earmark.parse("AG@5"), 120


@cache
def case() -> tuple[Collection, np.ndarray, np.ndarray]:
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=6, queries=30, documents=400)
    collection = Collection.from_runs(made.runs)
    gains = item_gains(collection, made.judgments)
    return collection, gains, system_weights(collection, AG5, scale=earmark.FINE) @ gains


def estimate(sampling: ItemSampling, judged: np.ndarray) -> DesignResult:
    collection, gains, _ = case()
    known = np.where(judged, gains, UNJUDGED)
    estimator = DesignEstimator(collection, AG5, scale=earmark.FINE, order=sampling)
    drawn = np.where(sampling.drawn(judged).sampled, gains, UNJUDGED)
    return estimator.estimate(known, mean_of_others(drawn))


def coverage(results: list[DesignResult]) -> tuple[float, float]:
    """Return the share of intervals that hold, and the mean error in standard errors of that mean."""
    truth = case()[2]
    rankings = [rank_systems(result.estimates) for result in results]
    held = np.mean([(one.low <= truth) & (truth <= one.high) for one in rankings])
    error = np.array([result.estimates.scores.mean.mean() - truth.mean() for result in results])
    return float(held), float(abs(error.mean()) / (error.std(ddof=1) / np.sqrt(error.size)))


def test_a_simple_random_sample_has_intervals_that_hold() -> None:
    collection, gains, _ = case()
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(gains.size) < 100 for _ in range(REPEATS)]
    held, bias = coverage([estimate(DrawnElsewhere(collection), judged) for judged in drawn])
    assert 0.93 < held < 0.99
    assert bias < 4


def test_items_drawn_one_by_one_have_intervals_that_hold() -> None:
    collection, gains, _ = case()
    rng = np.random.default_rng(1)
    # Good items are drawn more often: whoever took this sample for a uniform one would overrate all systems.
    chance = 0.08 + 0.4 * gains / 100
    drawn = [rng.random(gains.size) < chance for _ in range(REPEATS)]
    held, bias = coverage([estimate(DrawnElsewhere(collection, chance), judged) for judged in drawn])
    assert 0.93 < held < 0.99
    assert bias < 4
    naive = [gains[judged].mean() for judged in drawn]
    assert np.mean(naive) > gains.mean() + 5


def test_a_sample_for_deeper_lists_serves_shorter_ones() -> None:
    """Of the items at the first ranks as many are judged as chance made it; the threshold is the last judged one."""
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=6, queries=30, documents=400)
    measure = earmark.parse("AG@2")
    short = Collection.from_runs(made.runs, depth=2)
    deep, _, _ = case()
    place = {key: number for number, key in enumerate(deep.item_frame().select("query", "document").iter_rows())}
    at = np.array([place[key] for key in short.item_frame().select("query", "document").iter_rows()])
    gains = item_gains(short, made.judgments)
    truth = system_weights(short, measure, scale=earmark.FINE) @ gains
    held, error = [], []
    size, rng = sizes(system_weights(deep, AG5, scale=earmark.FINE)), np.random.default_rng(6)
    for _ in range(REPEATS):
        order = SampleOrder(rng.uniform(1e-9, 1 - 1e-9, size.size), size)
        part = SampleOrder(order.number[at], order.size[at], part=True)
        judged = order.sampled(160)[at]
        assert part.count(judged) == np.count_nonzero(judged) - 1
        known = np.where(judged, gains, UNJUDGED)
        estimator = DesignEstimator(short, measure, scale=earmark.FINE, order=part)
        ranking = rank_systems(estimator.estimate(known, np.full(gains.size, 20.0)).estimates)
        held.append((ranking.low <= truth) & (truth <= ranking.high))
        error.append(ranking.estimates.scores.mean.mean() - truth.mean())
    assert 0.93 < np.mean(held) < 0.99
    assert abs(np.mean(error)) < 4 * np.std(error) / np.sqrt(REPEATS)


def test_everything_judged_is_exact() -> None:
    collection, gains, truth = case()
    result = estimate(DrawnElsewhere(collection), np.ones(gains.size, dtype=bool))
    np.testing.assert_allclose(result.estimates.scores.mean, truth)
    assert np.all(result.estimates.scores.variance == 0)


def test_honest_samples_are_not_refused() -> None:
    collection, gains, _ = case()
    rng = np.random.default_rng(4)
    chance = rng.uniform(0.05, 0.5, gains.size)
    for _ in range(REPEATS):
        DrawnElsewhere(collection).drawn(rng.permutation(gains.size) < rng.integers(60, 200))
        DrawnElsewhere(collection, chance).drawn(rng.random(gains.size) < chance)


@pytest.mark.parametrize("how", ["whole queries", "one system", "first ranks", "shared by many"])
def test_what_is_no_such_sample_is_refused(how: str) -> None:
    collection, gains, _ = case()
    retrieved = np.bincount(collection.result_item, minlength=gains.size)
    first = np.zeros(gains.size, dtype=bool)
    first[collection.result_item[collection.result_rank <= 2]] = True
    judged, message = {
        "whole queries": (collection.item_query < 6, r"the query .*, \d+ are judged where [\d.]+ are expected"),
        "one system": (np.isin(np.arange(gains.size), collection.result_item[collection.result_system == 2]), "system"),
        "first ranks": (first, "are not the sample that --sample describes"),
        "shared by many": (retrieved >= 3, "of the systems retrieved"),
    }[how]
    assert np.count_nonzero(judged) >= 60
    with pytest.raises(ParameterError, match=message):
        DrawnElsewhere(collection).drawn(judged)


def test_probabilities_are_checked() -> None:
    collection, gains, _ = case()
    for bad in (0.0, 1.5, np.nan):
        with pytest.raises(ParameterError, match="expected a probability above 0 and up to 1 for every item"):
            DrawnElsewhere(collection, np.full(gains.size, bad))
    chance = np.full(gains.size, 0.3)
    chance[7] = 1.0
    judged = np.random.default_rng(0).random(gains.size) < 0.3
    judged[7] = False
    with pytest.raises(ParameterError, match="1 items have probability 1 in --sample and are not judged"):
        DrawnElsewhere(collection, chance).drawn(judged)
    few = np.arange(gains.size) < 10
    with pytest.raises(ParameterError, match=r"at least 30 sampled judgments, there are 10\. Draw more, or trust"):
        estimate_few(DrawnElsewhere(collection), few)


def estimate_few(sampling: ItemSampling, judged: np.ndarray) -> None:
    collection, gains, _ = case()
    estimator = DesignEstimator(collection, AG5, scale=earmark.FINE, order=sampling)
    estimator.estimate(np.where(judged, gains, UNJUDGED), np.full(gains.size, 50.0))
