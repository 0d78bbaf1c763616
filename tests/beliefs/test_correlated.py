"""Correlated beliefs: the contract of all beliefs, mixtures over variances, and relations that estimates obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

import earmark
from earmark.beliefs.beliefs import UNJUDGED, Beliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import Observations
from earmark.beliefs.estimates import mixture_moments
from earmark.beliefs.exact_estimates import LinearEstimator, estimate_linear, system_weights
from earmark.beliefs.montecarlo import estimate_montecarlo
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.data.scales import BINARY, BROAD, FINE, parse_scale
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import Setting
from earmark.predictors.hierarchical import Hierarchical
from effects_drawn import Dense, answers_of, beliefs_of, model_of, small_collection, some_variances, without

AG = earmark.parse("AG@4")
SCALES = [BINARY, BROAD, parse_scale("0..3"), FINE]


def dense_of(beliefs: CorrelatedBeliefs) -> list[Dense]:
    return [Dense(beliefs.model, beliefs.observed, theta) for theta in beliefs.drawn_variances]


# ---- the contract ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("judged", [0, 6, 100])
def test_they_keep_the_contract_of_beliefs(scale, judged):
    collection = small_collection(0)
    beliefs = beliefs_of(collection, judged=judged, scale=scale)
    assert isinstance(beliefs, Beliefs)
    known = beliefs.judged
    assert beliefs.n_judged == min(judged, collection.n_items)
    np.testing.assert_array_equal(beliefs.certain, known)
    np.testing.assert_array_equal(beliefs.mean[known], beliefs.judged_gain[known])
    assert np.all((beliefs.mean >= 0) & (beliefs.mean <= scale.top))
    assert np.all(beliefs.variance[known] == 0)
    assert np.all(beliefs.variance[~known] > 0)
    drawn = beliefs.sample(np.random.default_rng(0), 50)
    assert drawn.shape == (50, collection.n_items)
    assert np.abs(drawn[..., None] - np.array(scale.gains)).min(axis=-1).max() < 1e-9
    np.testing.assert_array_equal(drawn[:, known], np.tile(beliefs.judged_gain[known], (50, 1)))
    weights = np.random.default_rng(1).normal(0, 1, (5, collection.n_items))
    for given in (weights, csr_array(weights)):
        mean, covariance = beliefs.sums(given)
        assert (mean.shape, covariance.shape) == ((8, 5), (8, 5, 5))
        quadratic = beliefs.quadratic(given)
        np.testing.assert_allclose(quadratic, quadratic.T, atol=1e-9 * scale.top**2)
        assert np.linalg.eigvalsh(quadratic).min() >= -1e-9 * scale.top**2
    out = beliefs.leave_one_out()
    assert np.all((out >= 0) & (out <= scale.top))
    np.testing.assert_allclose(out[~known], beliefs.mean[~known])


def test_everything_is_a_mixture_of_conditioned_normal_distributions():
    beliefs = beliefs_of(small_collection(1), judged=7, scale=BROAD)
    top, dense = 2.0, dense_of(beliefs)
    weights = np.random.default_rng(1).normal(0, 1, (5, beliefs.n_items))
    means = np.array([one.posterior_mean for one in dense]) * top
    covariances = np.array([one.posterior_covariance for one in dense]) * top**2
    mean, covariance = beliefs.sums(weights)
    np.testing.assert_allclose(mean, means @ weights.T, atol=1e-9)
    np.testing.assert_allclose(covariance, weights @ covariances @ weights.T, atol=1e-9)
    whole = covariances.mean(axis=0) + np.cov(means.T, bias=True)
    np.testing.assert_allclose(beliefs.quadratic(weights), weights @ whole @ weights.T, atol=1e-9)
    left = ~beliefs.judged & (means.mean(axis=0) > 0.01) & (means.mean(axis=0) < 1.99)
    np.testing.assert_allclose(beliefs.mean[left], means.mean(axis=0)[left])
    # Single items take the covariance from the most probable variances, the means from all.
    central = Dense(beliefs.model, beliefs.observed, beliefs.variances).posterior_covariance * top**2
    central = central + np.cov(means.T, bias=True)
    np.testing.assert_allclose(beliefs.variance, np.diagonal(central), atol=1e-9)


def test_with_one_set_of_variances_items_and_sums_agree():
    beliefs = beliefs_of(small_collection(1), judged=7, sets=1)
    np.testing.assert_allclose(beliefs.variance, np.diagonal(beliefs.quadratic(np.eye(beliefs.n_items))), atol=1e-6)


@pytest.mark.parametrize("answers", [False, True])
def test_leaving_an_item_out_is_as_if_nobody_had_judged_it(answers):
    beliefs = beliefs_of(small_collection(2), judged=8, sets=1)
    if answers:
        model = model_of(small_collection(2), n_assessors=4)
        observed = answers_of(model, np.flatnonzero(beliefs.judged))
        theta = some_variances(model, sets=1)
        beliefs = replace(beliefs, model=model, observed=observed, variances=theta[0], drawn_variances=theta)
    out = beliefs.leave_one_out()
    for item in np.flatnonzero(beliefs.judged):
        gains = beliefs.judged_gain.copy()
        gains[item] = UNJUDGED
        fewer = replace(beliefs, judged_gain=gains, observed=without(beliefs.observed, beliefs.observed.item == item))
        assert out[item] == pytest.approx(fewer.mean[item], abs=1e-7)


def test_lookahead_is_in_units_of_the_scale():
    beliefs = beliefs_of(small_collection(0), judged=5, scale=BROAD, sets=1)
    weights = system_weights(small_collection(0), AG, scale=BROAD)
    ahead = beliefs.lookahead(weights)
    np.testing.assert_allclose(ahead.score_covariance, beliefs.quadratic(weights), atol=1e-12)
    np.testing.assert_allclose(ahead.variance * 4, beliefs.variance, atol=1e-12)


# ---- samples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_samples_have_the_means_of_the_beliefs_and_keep_correlations(scale):
    n = 8000
    beliefs = beliefs_of(small_collection(0), judged=6, scale=scale, seed=1, sets=1, size=0.0005)
    drawn = beliefs.sample(np.random.default_rng(0), n) / scale.top
    left = ~beliefs.judged
    mean, variance = beliefs.mean[left] / scale.top, beliefs.variance[left] / scale.top**2
    error = np.abs(drawn[:, left].mean(axis=0) - mean)
    assert np.all(error < 5 * np.sqrt(drawn[:, left].var(axis=0) / n) + 1e-3)
    levels = np.array(scale.gains) / scale.top
    above = np.clip(np.searchsorted(levels, mean, side="right"), 1, levels.size - 1)
    least = (mean - levels[above - 1]) * (levels[above] - mean)
    possible = np.clip(variance, least, mean * (1 - mean))
    np.testing.assert_allclose(drawn[:, left].var(axis=0), possible, rtol=0.12, atol=0.006)
    if scale is FINE:
        covariance = beliefs.quadratic(np.eye(beliefs.n_items))[np.ix_(left, left)] / scale.top**2
        apart = np.sqrt(np.diagonal(covariance))
        np.testing.assert_allclose(np.corrcoef(drawn[:, left].T), covariance / np.outer(apart, apart), atol=0.08)


def test_monte_carlo_of_a_linear_measure_agrees_with_exact():
    collection = small_collection(3, queries=5)
    beliefs = beliefs_of(collection, judged=9, size=0.001)
    exact = estimate_linear(collection, beliefs, AG)
    drawn = estimate_montecarlo(collection, beliefs, AG, rng=np.random.default_rng(0), samples=6000)
    for ours, theirs in ((exact.scores, drawn.scores), (exact.differences, drawn.differences)):
        assert np.all(np.abs(ours.mean - theirs.mean) < 5 * theirs.mean_error + 0.002)
        whole = ours.variance * ours.df / (ours.df - 2)
        np.testing.assert_allclose(np.sqrt(theirs.variance), np.sqrt(whole), rtol=0.08)


# ---- estimates -------------------------------------------------------------------------------------------------------


def test_mixtures_have_the_moments_of_their_parts():
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(0, 0.3, (16, 3)), rng.uniform(0.5, 3, (16, 3))
    which = rng.integers(0, 16, 400_000)
    drawn = mean[which] + np.sqrt(variance[which]) * rng.standard_normal((400_000, 3))
    center, scale, df = mixture_moments(mean, variance)
    np.testing.assert_allclose(center, drawn.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(scale * df / (df - 2), drawn.var(axis=0), rtol=0.02)
    excess = ((drawn - drawn.mean(axis=0)) ** 4).mean(axis=0) / drawn.var(axis=0) ** 2 - 3
    np.testing.assert_allclose(6 / (df - 4), excess, rtol=0.15)


def test_a_mixture_without_variance_has_none():
    center, scale, df = mixture_moments(np.full((4, 2), 0.5), np.zeros((4, 2)))
    assert center.tolist() == [0.5, 0.5]
    assert scale.tolist() == [0.0, 0.0]
    assert np.all(np.isfinite(df))


def test_a_mixture_of_one_is_normal():
    _, scale, df = mixture_moments(np.array([[0.5]]), np.array([[2.0]]))
    assert scale[0] == pytest.approx(2.0, rel=1e-5)
    assert df[0] > 1e6


@pytest.mark.parametrize("sets", [1, 8])
def test_estimates_are_weighted_sums(sets):
    collection = small_collection(1)
    beliefs = beliefs_of(collection, judged=7, sets=sets)
    estimates = estimate_linear(collection, beliefs, AG)
    weights = system_weights(collection, AG, scale=FINE).toarray()
    between = weights[estimates.a] - weights[estimates.b]
    np.testing.assert_allclose(estimates.scores.mean, weights @ beliefs.mean)
    np.testing.assert_allclose(estimates.differences.mean, between @ beliefs.mean)
    for moments, rows in ((estimates.scores, weights), (estimates.differences, between)):
        df = np.inf if moments.df is None else moments.df
        whole = moments.variance / (1 - 2 / df)
        np.testing.assert_allclose(whole, np.diagonal(beliefs.quadratic(rows)), rtol=1e-9)
    assert (estimates.scores.df is None) == (sets == 1)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_judging_everything_leaves_the_true_scores_and_no_variance(scale):
    collection = small_collection(0)
    beliefs = beliefs_of(collection, judged=collection.n_items, scale=scale)
    estimator = LinearEstimator(collection, AG, scale=scale)
    estimates = estimator.estimate(beliefs)
    weights = system_weights(collection, AG, scale=scale).toarray()
    np.testing.assert_allclose(estimates.scores.mean, weights @ beliefs.judged_gain, atol=1e-12)
    for moments in (estimates.scores, estimates.differences):
        assert np.all(moments.variance == 0)
    assert np.abs(beliefs.quadratic(weights)).max() < 1e-24
    confidence = rank_systems(estimates).confidence
    assert np.all((confidence == 1) | (estimates.differences.mean == 0))


def test_a_pair_whose_differing_items_are_all_judged_is_certain():
    collection = small_collection(0)
    ranks = collection.ranks.toarray()
    beliefs = beliefs_of(collection)
    differ = np.flatnonzero((ranks[0] > 0) != (ranks[1] > 0))
    assert np.any((ranks[0] > 0) & (ranks[1] > 0))
    gains = beliefs.judged_gain.copy()
    gains[differ] = 40.0
    observed = Observations.exact(beliefs.model, differ, gains[differ] / 100)
    estimates = estimate_linear(collection, replace(beliefs, judged_gain=gains, observed=observed), AG)
    assert estimates.differences.variance[0] == 0
    assert np.all(estimates.scores.variance[:2] > 0)
    assert np.all(estimates.differences.variance[1:] > 0)


def test_a_system_entered_twice_is_identical_and_never_different():
    collection = small_collection(4, duplicate=True)
    for judged in (0, 5):
        beliefs = beliefs_of(collection, judged=judged)
        for estimates in (
            estimate_linear(collection, beliefs, AG),
            estimate_montecarlo(collection, beliefs, AG, rng=np.random.default_rng(0), samples=50),
        ):
            (pair,) = np.flatnonzero((estimates.a == 0) & (estimates.b == len(collection.systems) - 1))
            assert estimates.differences.mean[pair] == 0
            assert estimates.differences.variance[pair] == 0
            assert estimates.identical.tolist() == [number == pair for number in range(estimates.a.size)]


def test_a_score_is_never_less_certain_after_a_judgment():
    """At fixed variances, whatever the assessor says."""
    collection = small_collection(5)
    rng = np.random.default_rng(0)
    one = beliefs_of(collection, sets=1)
    gains, before = one.judged_gain.copy(), None
    for item in rng.permutation(collection.n_items):
        estimates = estimate_linear(collection, one, AG)
        now = np.concatenate((estimates.scores.variance, estimates.differences.variance, one.variance))
        assert before is None or np.all(now <= before + 1e-12 * 100**2)
        before = now
        gains = gains.copy()
        gains[item] = rng.integers(0, 101)
        items = np.flatnonzero(gains >= 0)
        one = replace(one, judged_gain=gains, observed=Observations.exact(one.model, items, gains[items] / 100))


# ---- relations of the whole predictor --------------------------------------------------------------------------------


def judged_by_name(collection: Collection, seed: int = 0, share: float = 0.4) -> np.ndarray:
    """Gains that depend on the names of the original query and document alone."""
    gains = np.full(collection.n_items, UNJUDGED)
    for item, (query, document) in enumerate(collection.item_frame().iter_rows()):
        number = int(query.strip("xyzq")) * 100 + int(document.rsplit(".")[-1])
        rng = np.random.default_rng([seed, number])
        if rng.random() < share:
            gains[item] = rng.integers(0, 101)
    return gains


def renamed(collection: Collection, *, systems=str, queries=str, documents=str) -> Collection:
    """Give everything another name, which changes the order of everything."""
    ranks = collection.ranks.toarray()
    lists: dict[str, dict[str, dict[str, float]]] = {}
    for system, item in np.argwhere(ranks):
        query = queries(collection.queries[collection.item_query[item]])
        document = documents(collection.documents[collection.item_document[item]])
        lists.setdefault(systems(collection.systems[system]), {}).setdefault(query, {})[document] = -float(
            ranks[system, item]
        )
    frame = collection.metadata.frame
    names = frame["document"].map_elements(
        lambda name: queries(name) if name in collection.queries else documents(name), return_dtype=pl.String
    )
    return Collection.from_runs(
        earmark.runs_from_dict(dict(sorted(lists.items()))), metadata=Metadata(frame.with_columns(document=names))
    )


def estimated(collection: Collection):
    setting = Setting(collection, FINE)
    return estimate_linear(collection, Hierarchical(setting).predict(judged_by_name(collection)), AG)


def test_swapping_systems_flips_signs():
    collection = small_collection(0, systems=2)
    swapped = renamed(collection, systems={"s0": "s1", "s1": "s0"}.__getitem__)
    here, there = estimated(collection), estimated(swapped)
    np.testing.assert_allclose(here.scores.mean, there.scores.mean[::-1])
    np.testing.assert_allclose(here.differences.mean, -there.differences.mean)
    np.testing.assert_allclose(here.differences.variance, there.differences.variance, rtol=1e-7)
    np.testing.assert_allclose(here.differences.df, there.differences.df, rtol=1e-5)


def test_other_names_change_nothing():
    collection = small_collection(0)
    other = renamed(
        collection,
        systems={"s0": "m", "s1": "b", "s2": "z", "s3": "a"}.__getitem__,
        queries={"q0": "zq0", "q1": "yq1", "q2": "xq2"}.__getitem__,
        documents=lambda name: f"{chr(122 - int(name[-1]))}.{name}",
    )
    assert other.queries[0] != "zq0"
    here, there = estimated(collection), estimated(other)
    order = [there.systems.index(name) for name in ("m", "b", "z", "a")]
    np.testing.assert_allclose(here.scores.mean, there.scores.mean[order], rtol=1e-6)
    np.testing.assert_allclose(here.scores.variance, there.scores.variance[order], rtol=1e-6)
    np.testing.assert_allclose(here.covariance, there.covariance[np.ix_(order, order)], rtol=1e-5, atol=1e-9)
