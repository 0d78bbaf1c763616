"""Variances: the likelihood against scipy's, derivatives against their definitions, and what fits find again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from earmark.beliefs import variance_components
from earmark.beliefs.effects import Observations
from earmark.beliefs.posterior import Posterior
from earmark.beliefs.variance_components import (
    FittedVariances,
    VariancePrior,
    fit_variances,
    marginal_likelihood,
    shared_effects,
)
from earmark.errors import NotConverged
from effects_drawn import Dense, answers_of, model_of, small_collection, some_variances


def case(kind: str, seed: int = 0):
    collection = small_collection(seed)
    rng = np.random.default_rng(seed)
    items = rng.permutation(collection.n_items)[:12]
    if kind == "answers":
        model = model_of(collection, seed, n_assessors=4)
        observed = answers_of(model, items, seed)
    else:
        model = model_of(collection, seed)
        observed = Observations.exact(model, items, rng.uniform(0, 1, 12))
    return model, observed, some_variances(model, seed, sets=2)


def log_density(model, observed, variances) -> float:
    dense = Dense(model, observed, variances)
    return multivariate_normal.logpdf(dense.residual, cov=dense.of_observations)


@pytest.mark.parametrize("kind", ["exact", "answers"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_likelihood_is_scipys_up_to_a_constant(kind, seed):
    model, observed, variances = case(kind, seed)
    ours = [marginal_likelihood(model, observed, theta)[0] for theta in variances]
    rows = observed.item.size + (0 if observed.contrasts is None else observed.contrasts.value.size)
    constant = 0.5 * rows * np.log(2 * np.pi)
    np.testing.assert_allclose(ours, [log_density(model, observed, theta) + constant for theta in variances], rtol=1e-9)


@pytest.mark.parametrize("kind", ["exact", "answers"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shared_effects_are_those_of_the_posterior(kind, seed):
    model, observed, variances = case(kind, seed)
    expected = Posterior(model, observed, variances).shared_mean
    for theta, effects in zip(variances, expected, strict=True):
        np.testing.assert_allclose(shared_effects(model, observed, theta), effects, atol=1e-10)


@pytest.mark.parametrize("kind", ["exact", "answers"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_gradient_is_that_of_the_likelihood(kind, seed):
    model, observed, variances = case(kind, seed)
    theta = variances[0]
    _, gradient, _ = marginal_likelihood(model, observed, theta)
    for component in range(theta.size):
        step = np.zeros_like(theta)
        step[component] = 1e-4 * theta[component]
        up, down = (marginal_likelihood(model, observed, theta + sign * step)[0] for sign in (1, -1))
        assert gradient[component] == pytest.approx((up - down) / (2 * step[component]), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("kind", ["exact", "answers"])
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_and_average_information_are_their_definitions(kind, seed):
    model, observed, variances = case(kind, seed)
    theta = variances[0]
    dense = Dense(model, observed, theta)
    inverse = np.linalg.inv(dense.of_observations)
    alpha = inverse @ dense.residual
    parts = dense.by_component()
    expected_gradient = [0.5 * (alpha @ part @ alpha - np.trace(inverse @ part)) for part in parts]
    expected = [[0.5 * alpha @ one @ inverse @ other @ alpha for other in parts] for one in parts]
    _, gradient, information = marginal_likelihood(model, observed, theta)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(information, expected, rtol=1e-7, atol=1e-7)


def test_without_observations_the_prior_is_the_answer():
    model = model_of(small_collection(0))
    n = len(model.components)
    prior = VariancePrior(np.linspace(-5, -2, n), np.linspace(0.3, 1, n))
    fitted = fit_variances(model, Observations.exact(model, np.array([], dtype=np.int64), np.array([])), prior)
    np.testing.assert_array_equal(fitted.peak, prior.centre)
    np.testing.assert_allclose(fitted.covariance, np.diag(prior.sd**2))
    np.testing.assert_allclose(fitted.variances, np.exp(prior.centre))


def test_the_fit_is_a_peak():
    """No step in any direction improves the posterior density by more than the tolerance of the fit allows."""
    model, observed, _ = case("answers")
    n = len(model.components)
    prior = VariancePrior(np.full(n, -4.0), np.full(n, 0.7))

    def density(at):
        return log_density(model, observed, np.exp(at)) - 0.5 * np.sum(((at - prior.centre) / prior.sd) ** 2)

    fitted = fit_variances(model, observed, prior)
    top = density(fitted.peak)
    for component in range(n):
        for away in (-0.1, 0.1):
            moved = fitted.peak + away * np.eye(n)[component]
            assert density(moved) < top + 1e-3
    again = fit_variances(model, observed, prior, start=fitted.peak + 0.3)
    np.testing.assert_allclose(again.peak, fitted.peak, atol=0.05)


def test_variances_come_back_from_data_drawn_from_the_model():
    """Over several collections, components that have many effects are found within their standard errors."""
    apart, truth = [], None
    for seed in range(12):
        collection = small_collection(seed, systems=6, queries=20, depth=5, pool=15)
        model = model_of(collection, seed)
        n = len(model.components)
        truth = np.full(n, np.log(0.005))
        truth[[model.components.index(name) for name in ("query", "noise", "system in query")]] = np.log(
            [0.03, 0.02, 0.04]
        )
        dense = Dense(model, Observations.exact(model, np.arange(0), np.zeros(0)), np.exp(truth))
        rng = np.random.default_rng(seed)
        root = np.linalg.cholesky(dense.covariance)
        gains = model.prior_mean + root @ rng.standard_normal(model.n_items)
        items = np.arange(model.n_items)
        vague = VariancePrior(np.full(n, np.log(0.01)), np.full(n, 3.0))
        fitted = fit_variances(model, Observations.exact(model, items, gains), vague)
        apart.append((fitted.peak - truth) / np.sqrt(np.diagonal(fitted.covariance)))
    standard = np.array(apart)[:, [model.components.index(name) for name in ("query", "noise", "system in query")]]
    assert np.abs(standard).max() < 4
    assert np.all(np.abs(standard.mean(axis=0)) < 4 / np.sqrt(len(standard)))
    assert 0.5 < np.sqrt((standard**2).mean()) < 1.6


def test_a_fit_that_does_not_settle_says_so(monkeypatch):
    monkeypatch.setattr(variance_components, "_STEPS", 1)
    model, observed, _ = case("exact")
    n = len(model.components)
    prior = VariancePrior(np.full(n, -12.0), np.full(n, 5.0))
    with pytest.raises(
        NotConverged, match=r"the variances of base, slopes, .* did not settle in 1 steps over 12 judgments"
    ):
        fit_variances(model, observed, prior)


def test_draws_lie_in_pairs_about_the_peak_with_its_covariance():
    rng = np.random.default_rng(0)
    root = rng.normal(0, 0.4, (3, 3))
    fitted = FittedVariances(np.array([-3.0, -5.0, -1.0]), root @ root.T)
    drawn = np.log(fitted.draws(40_000, rng))
    assert drawn.shape == (40_000, 3)
    np.testing.assert_allclose(drawn[:20_000] + drawn[20_000:], 2 * np.tile(fitted.peak, (20_000, 1)), atol=1e-9)
    np.testing.assert_allclose(np.cov(drawn.T), fitted.covariance, atol=0.02)


def test_draws_stay_where_the_approximation_means_anything():
    fitted = FittedVariances(np.array([-3.0]), np.array([[400.0]]))
    away = np.abs(np.log(fitted.draws(1000, np.random.default_rng(0))) + 3.0)
    assert away.max() == pytest.approx(4.0)


def test_where_arithmetic_gives_up_a_fit_turns_back():
    """Judged exactly as expected, variances want to vanish; only the prior holds them."""
    model = model_of(small_collection(0))
    items, n = np.arange(model.n_items), len(model.components)
    as_expected = Observations.exact(model, items, model.prior_mean[items])
    vague = VariancePrior(np.full(n, -5.0), np.full(n, 30.0))
    try:
        fitted = fit_variances(model, as_expected, vague)
    except NotConverged:
        return
    assert np.all(np.isfinite(fitted.peak))
    assert np.all(np.isfinite(fitted.covariance))
    assert fitted.peak.max() < -5
