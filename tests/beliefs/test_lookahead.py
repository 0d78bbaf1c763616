"""What a judgment would teach: conditioning on a hypothetical judgment is as judging."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from earmark.beliefs.beliefs import from_probabilities
from earmark.beliefs.effects import Observations
from earmark.beliefs.lookahead import CorrelatedLookahead, IndependentLookahead
from earmark.beliefs.posterior import Posterior
from earmark.data.scales import BROAD
from effects_drawn import Dense, answers_of, model_of, small_collection, some_variances


def agrees(ahead, weights, covariance) -> None:
    np.testing.assert_allclose(ahead.variance, np.diagonal(covariance), atol=1e-10)
    np.testing.assert_allclose(ahead.covariance, weights @ covariance, atol=1e-10)
    np.testing.assert_allclose(ahead.score_covariance, weights @ covariance @ weights.T, atol=1e-10)


@pytest.mark.parametrize("judged", [0, 5, 9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_hypothetical_judgment_counts_as_a_judgment(judged, seed):
    rng = np.random.default_rng(seed)
    model = model_of(small_collection(seed), seed)
    theta = some_variances(model, seed, sets=1)
    order = rng.permutation(model.n_items)
    weights = rng.normal(0, 1, (4, model.n_items))
    value = rng.uniform(0, 1, model.n_items)
    ahead = CorrelatedLookahead(
        Posterior(model, Observations.exact(model, order[:judged], value[order[:judged]]), theta), weights
    )
    for n in range(judged, model.n_items + 1):
        known = order[:n]
        dense = Dense(model, Observations.exact(model, known, value[known]), theta[0])
        covariance = dense.posterior_covariance
        agrees(ahead, weights, covariance)
        assert np.all(ahead.variance[known] == 0)
        assert np.all(ahead.covariance[:, known] == 0)
        if n < model.n_items:
            ahead.condition_on(int(order[n]))


def test_conditioning_twice_changes_nothing_more():
    model = model_of(small_collection(0))
    nothing = Observations.exact(model, np.arange(0), np.zeros(0))
    ahead = CorrelatedLookahead(Posterior(model, nothing, some_variances(model, sets=1)), np.eye(model.n_items))
    ahead.condition_on(3)
    before = ahead.variance.copy(), ahead.covariance.copy(), ahead.score_covariance.copy()
    ahead.condition_on(3)
    for now, then in zip((ahead.variance, ahead.covariance, ahead.score_covariance), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_after_answers_of_several_assessors_a_judgment_in_thought_is_the_truth():
    model = model_of(small_collection(1), n_assessors=4)
    theta = some_variances(model, sets=1)
    observed = answers_of(model, np.array([0, 3, 4, 9, 12]))
    weights = np.random.default_rng(0).normal(0, 1, (3, model.n_items))
    ahead = CorrelatedLookahead(Posterior(model, observed, theta), weights)
    covariance = Dense(model, observed, theta[0]).posterior_covariance
    agrees(ahead, weights, covariance)
    assert ahead.variance[3] > 0
    for item in (3, 7, 0):
        ahead.condition_on(item)
        covariance = covariance - np.outer(covariance[item], covariance[item]) / covariance[item, item]
        agrees(ahead, weights, covariance)


def test_what_a_posterior_holds_is_not_changed_by_thoughts():
    model = model_of(small_collection(0))
    posterior = Posterior(model, Observations.exact(model, np.array([2]), np.array([0.5])), some_variances(model))
    one = Posterior(model, posterior.observed, posterior.variances[:1])
    before, shared = one.shared_covariance.copy(), model.shared.copy()
    ahead = CorrelatedLookahead(one, np.eye(model.n_items))
    for item in range(model.n_items):
        ahead.condition_on(item)
    np.testing.assert_array_equal(one.shared_covariance, before)
    np.testing.assert_array_equal(model.shared, shared)


@pytest.mark.parametrize("sparse", [False, True])
def test_independent_gains(sparse):
    rng = np.random.default_rng(0)
    beliefs = from_probabilities(rng.dirichlet(np.ones(3), 10), scale=BROAD).with_judgments([4], [2])
    weights = rng.normal(0, 1, (3, 10)) * (rng.random((3, 10)) < 0.6)
    ahead = beliefs.lookahead(csr_array(weights) if sparse else weights)
    assert isinstance(ahead, IndependentLookahead)
    agrees(ahead, weights, np.diag(beliefs.variance))
    for item in (3, 4, 7, 3):
        ahead.condition_on(item)
        beliefs = beliefs.with_judgments([item], [1])
        agrees(ahead, weights, np.diag(beliefs.variance))
        np.testing.assert_allclose(ahead.score_covariance, beliefs.quadratic(weights), atol=1e-12)
