"""``rank --by``: the probability of a difference of some size against the normal distribution and against draws."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, t

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.exact_estimates import estimate_linear, system_weights
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.differences_by import difference_probabilities, with_difference_probabilities
from earmark.predictors.base import Setting, make_predictor
from earmark.simulation import synthetic_collection


@pytest.fixture(scope="module")
def case() -> tuple[Ranking, np.ndarray]:
    """A ranking, and draws of the scores of its systems from the same beliefs."""
    made = synthetic_collection(np.random.default_rng(3), systems=5, queries=30, documents=300)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    truth = item_gains(collection, made.judgments)
    gains = np.where(np.random.default_rng(0).random(truth.size) < 0.3, truth, -1.0)
    measure, scale = earmark.parse("AG@5"), earmark.FINE
    beliefs = make_predictor("ordinal", Setting(collection, scale)).predict(gains)
    ranking = rank_systems(estimate_linear(collection, beliefs, measure))
    drawn = beliefs.sample(np.random.default_rng(1), 20_000) @ system_weights(collection, measure, scale=scale).T
    return ranking, np.asarray(drawn)


@pytest.mark.parametrize("by", [0.005, 0.03, 0.1])
def test_probabilities_are_the_normal_ones_and_those_of_draws(case: tuple[Ranking, np.ndarray], by: float) -> None:
    ranking, drawn = case
    estimates = ranking.estimates
    mean, spread = estimates.differences.mean, np.sqrt(estimates.differences.variance)
    forth, back = difference_probabilities(ranking, by)
    np.testing.assert_allclose(forth, norm.sf(by, mean, spread), atol=1e-12)
    np.testing.assert_allclose(back, norm.cdf(-by, mean, spread), atol=1e-12)
    difference = drawn[:, estimates.a] - drawn[:, estimates.b]
    np.testing.assert_allclose(forth, np.mean(difference >= by, axis=0), atol=0.02)
    np.testing.assert_allclose(back, np.mean(difference <= -by, axis=0), atol=0.02)
    assert np.all(forth + back < 1)


def test_degrees_of_freedom_and_exact_differences(case: tuple[Ranking, np.ndarray]) -> None:
    estimates = case[0].estimates
    ranking = rank_systems(estimates, df=9)
    forth, _ = difference_probabilities(ranking, 0.03)
    mean, spread = estimates.differences.mean, np.sqrt(estimates.differences.variance)
    np.testing.assert_allclose(forth, t.sf((0.03 - mean) / spread, 9), atol=1e-12)
    lists = earmark.runs_from_dict({"x": {"q": {"d1": 2, "d2": 1}}, "y": {"q": {"d1": 2, "d3": 1}}})
    collection = Collection.from_runs(lists)
    judged = np.array([1.0, 1.0, 0.0])
    beliefs = make_predictor("uniform", Setting(collection, earmark.BINARY)).predict(judged)
    known = rank_systems(estimate_linear(collection, beliefs, earmark.parse("AG@2")))
    assert known.estimates.differences.mean.tolist() == [0.5]
    # It is known to be exactly .5: at least .5, and not at least .6.
    assert [values.tolist() for values in difference_probabilities(known, 0.5)] == [[1.0], [0.0]]
    assert [values.tolist() for values in difference_probabilities(known, 0.6)] == [[0.0], [0.0]]


def test_rows_keep_their_direction(case: tuple[Ranking, np.ndarray]) -> None:
    ranking = case[0]
    rows = with_difference_probabilities(ranking.pairs_frame(), ranking, 0.03)
    turned = ranking.pairs_frame().rename({"a": "b", "b": "a"})
    back = with_difference_probabilities(turned, ranking, 0.03)
    assert rows["a_better_by"].to_list() == back["b_better_by"].to_list()
    assert rows["b_better_by"].to_list() == back["a_better_by"].to_list()
    assert rows["by"].to_list() == [0.03] * rows.height
    assert rows.select(pl.exclude("by", "a_better_by", "b_better_by")).equals(ranking.pairs_frame())


@pytest.mark.parametrize("by", [0.0, -0.1, float("nan"), float("inf")])
def test_amounts_that_are_none(case: tuple[Ranking, np.ndarray], by: float) -> None:
    with pytest.raises(ParameterError, match="--by is a difference of scores above 0, got"):
        difference_probabilities(case[0], by)
