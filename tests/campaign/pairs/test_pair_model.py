"""The model of preferences against dense algebra, integration and numerical derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from pair_worlds import SDS, dense, small_world, some_answers
from scipy.optimize import minimize

from earmark.campaign.pairs.candidates import (
    PairAnswers,
)
from earmark.campaign.pairs.estimates import estimate_precision
from earmark.campaign.pairs.marginal_likelihood import MarginalLikelihood, estimate_standard_deviations
from earmark.campaign.pairs.model import PairPosterior, fit_pairs, pair_likelihood
from earmark.crowd.davidson import outcome_probabilities
from earmark.data.arrays import Floats
from earmark.simulation.pair_campaigns import (
    PairWorld,
    made_up_world,
)


def test_the_posterior_is_that_of_one_large_matrix(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    effects = dense(world.design, SDS)
    asked = np.flatnonzero((answers.total > 0) & world.design.matters)

    def loss(values: Floats) -> float:
        height, _, _ = pair_likelihood(effects[asked] @ values, answers, asked, SDS.pair, posterior.same_weight)
        return float(values @ values / 2 - height.sum())

    def slopes(values: Floats) -> Floats:
        _, slope, _ = pair_likelihood(effects[asked] @ values, answers, asked, SDS.pair, posterior.same_weight)
        return values - effects[asked].T @ slope

    found = minimize(loss, np.zeros(effects.shape[1]), jac=slopes, method="BFGS", options={"gtol": 1e-8}).x
    matters = world.design.matters
    np.testing.assert_allclose(posterior.mean[matters], (effects @ found)[matters], atol=1e-5)
    _, _, information = pair_likelihood(effects[asked] @ found, answers, asked, SDS.pair, posterior.same_weight)
    inverse = np.linalg.inv(np.eye(found.size) + effects[asked].T @ (information[:, None] * effects[asked]))
    covariance = effects @ inverse @ effects.T
    np.testing.assert_allclose(posterior.variance[matters], np.diag(covariance)[matters], atol=1e-6)
    weights = np.random.default_rng(0).normal(size=(2, matters.size)) * matters
    with_pairs, among = posterior.covariance_with(weights)
    np.testing.assert_allclose(with_pairs[:, matters], (weights @ covariance)[:, matters], atol=1e-5)
    np.testing.assert_allclose(among, weights @ covariance @ weights.T, atol=1e-5)
    np.testing.assert_allclose(posterior.covariance_of(3)[matters], covariance[3][matters], atol=1e-6)


def test_the_marginal_likelihood_is_that_of_one_large_matrix(
    fitted: tuple[PairWorld, PairAnswers, PairPosterior],
) -> None:
    world, answers, posterior = fitted
    likelihood = MarginalLikelihood.prepare(world.design, answers, posterior.same_weight)
    found, _ = likelihood.log(SDS, np.zeros(likelihood.asked.size))
    effects = dense(world.design, SDS)[likelihood.asked]
    eta = posterior.mean[likelihood.asked]
    height, _, information = pair_likelihood(eta, answers, likelihood.asked, SDS.pair, posterior.same_weight)
    covariance = effects @ effects.T
    fit = height.sum() - eta @ np.linalg.pinv(covariance) @ eta / 2
    root = np.sqrt(information)
    size = np.linalg.slogdet(np.eye(eta.size) + root[:, None] * covariance * root)[1]
    assert found == pytest.approx(fit - size / 2, abs=1e-5)


def test_the_likelihood_of_a_pair_by_integration_and_its_derivatives() -> None:
    answers = PairAnswers(np.array([4, 0]), np.array([1, 2]), np.array([0, 3]))
    eta, asked = np.array([0.4, -1.0]), np.arange(2)
    height, slope, information = pair_likelihood(eta, answers, asked, SDS.pair, 0.9)
    grid = np.linspace(-9, 9, 4001)
    density = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    for pair in range(2):
        chances = outcome_probabilities(eta[pair] + SDS.pair * grid, 0.9)
        counts = answers.first[pair], answers.second[pair], answers.same[pair]
        likelihood = np.prod([chance**count for chance, count in zip(chances, counts, strict=True)], axis=0)
        assert height[pair] == pytest.approx(np.log(np.trapezoid(likelihood * density, grid)), abs=1e-6)
    step = 1e-4
    up, down = (pair_likelihood(eta + move, answers, asked, SDS.pair, 0.9)[0] for move in (step, -step))
    np.testing.assert_allclose(slope, (up - down) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(information, -(up - 2 * height + down) / step**2, atol=1e-4)


def test_without_answers_the_prior_speaks() -> None:
    world = small_world(1)
    posterior = fit_pairs(world.design, PairAnswers.none(world.signs.shape[0]))
    np.testing.assert_array_equal(posterior.mean, 0.0)
    estimates = estimate_precision(posterior, PairAnswers.none(world.signs.shape[0]), needed=5)
    np.testing.assert_allclose(estimates.ranking.estimates.scores.mean, 0.5)
    np.testing.assert_allclose(estimates.ranking.confidence, 0.5)


def test_spreads_follow_the_crowd() -> None:
    many = {"queries": 12, "documents": 12, "pairs": 40, "depth": 12, "needed": 8, "popularity": 0.0}
    plain, peculiar = (
        made_up_world(np.random.default_rng(5), sharpness=sharp, peculiarity=odd, **many)  # type: ignore[arg-type]
        for sharp, odd in ((2.0, 0.0), (0.2, 2.0))
    )
    found = [estimate_standard_deviations(world.design, some_answers(world, share=0.7)) for world in (plain, peculiar)]
    assert found[0].pair < 0.6 < found[1].pair
    assert found[0].document_query > found[1].document_query
