"""The model of effects against textbook conditioning of normal distributions on dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.beliefs.effects import Observations, prior_covariance
from earmark.beliefs.posterior import Posterior
from effects_drawn import Dense, answers_of, model_of, single_answers, small_collection, some_variances, without


def case(kind: str, seed: int = 0):
    """A model, observations and three sets of variances; nothing, some or everything judged, once or by several."""
    rng = np.random.default_rng(seed)
    collection = small_collection(seed)
    assert 12 <= collection.n_items <= 30
    model = model_of(collection, seed, n_assessors=5 if kind == "answers" else 0)
    share = {"nothing": 0.0, "some": 0.4, "all": 1.0, "one query": 1.0, "answers": 0.4}[kind]
    items = rng.permutation(collection.n_items)[: round(share * collection.n_items)]
    if kind == "one query":
        items = np.flatnonzero(collection.item_query == 1)
    if kind == "answers":
        observed = answers_of(model, items, seed)
        assert not observed.is_exact
        assert observed.contrasts.value.size > 1
    else:
        observed = Observations.exact(model, items, rng.uniform(0, 1, items.size))
        assert observed.is_exact
    return model, observed, some_variances(model, seed)


KINDS = ["nothing", "some", "all", "one query", "answers"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_means_and_sums_are_those_of_conditioning(kind, seed):
    model, observed, variances = case(kind, seed)
    posterior = Posterior(model, observed, variances)
    weights = np.random.default_rng(seed).normal(0, 1, (6, model.n_items))
    mean, covariance = posterior.sums(weights)
    for number, theta in enumerate(variances):
        dense = Dense(model, observed, theta)
        np.testing.assert_allclose(posterior.mean[number], dense.posterior_mean, atol=1e-10)
        np.testing.assert_allclose(mean[number], weights @ dense.posterior_mean, atol=1e-10)
        np.testing.assert_allclose(covariance[number], weights @ dense.posterior_covariance @ weights.T, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_shared_effects_are_those_of_conditioning(kind):
    model, observed, variances = case(kind)
    posterior = Posterior(model, observed, variances)
    for number, theta in enumerate(variances):
        dense = Dense(model, observed, theta)
        prior = np.diag(theta[model.shared_component])
        with_observed = prior @ dense.observed_shared.T
        solved = np.linalg.solve(dense.of_observations, with_observed.T)
        np.testing.assert_allclose(posterior.shared_mean[number], solved.T @ dense.residual, atol=1e-10)
        np.testing.assert_allclose(posterior.shared_covariance[number], prior - with_observed @ solved, atol=1e-10)


@pytest.mark.parametrize("kind", ["some", "all", "one query", "answers"])
@pytest.mark.parametrize("seed", [0, 1])
def test_leave_one_out_is_what_follows_from_all_other_items(kind, seed):
    """Of several answers their mean is left out; how they differ says nothing about the gain."""
    model, observed, variances = case(kind, seed)
    predicted = Posterior(model, observed, variances).leave_one_out()
    assert predicted.shape == (len(variances), observed.item.size)
    for item in np.unique(observed.item):
        here = observed.item == item
        refitted = Posterior(model, without(observed, here), variances).mean[:, item]
        np.testing.assert_allclose(predicted[:, here], refitted[:, None], atol=1e-9)


@pytest.mark.parametrize("kind", ["nothing", "some", "answers"])
def test_draws_have_the_moments_of_the_posterior(kind):
    model, observed, variances = case(kind)
    n = 20_000
    drawn = Posterior(model, observed, variances).draw(np.random.default_rng(0), 1, n)
    dense = Dense(model, observed, variances[1])
    spread = np.sqrt(np.maximum(np.diagonal(dense.posterior_covariance), 0.0))
    assert drawn.shape == (n, model.n_items)
    assert np.all(np.abs(drawn.mean(axis=0) - dense.posterior_mean) <= 5 * spread / np.sqrt(n) + 1e-6)
    # The standard error of a covariance is at most √(2/n) of the two standard deviations' product.
    error = np.abs(np.cov(drawn.T) - dense.posterior_covariance)
    assert np.all(error <= 5 * np.sqrt(2 / n) * np.outer(spread, spread) + 1e-6)


def test_draws_of_judged_items_are_what_was_judged():
    model, observed, variances = case("some")
    drawn = Posterior(model, observed, variances).draw(np.random.default_rng(0), 0, 10)
    np.testing.assert_allclose(drawn[:, observed.item], np.tile(observed.value, (10, 1)), atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_prior_covariance_adds_up_to_that_of_gains_without_shared_effects(seed):
    model, observed, variances = case("nothing", seed)
    weights = np.random.default_rng(seed).normal(0, 1, (4, model.n_items))
    parts, loadings = prior_covariance(model, weights)
    np.testing.assert_allclose(loadings, weights @ model.shared, atol=1e-12)
    together = np.einsum("k,kab->ab", variances[0], parts)
    np.testing.assert_allclose(together, weights @ Dense(model, observed, variances[0]).local @ weights.T, atol=1e-12)


def test_the_order_in_which_items_are_judged_does_not_matter():
    model, observed, variances = case("some")
    mixed = np.random.default_rng(3).permutation(observed.item.size)
    again = Observations.exact(model, observed.item[mixed], observed.value[mixed])
    np.testing.assert_array_equal(again.item, observed.item)
    np.testing.assert_array_equal(Posterior(model, again, variances).mean, Posterior(model, observed, variances).mean)


@pytest.mark.parametrize("seed", range(4))
def test_a_posterior_that_goes_on_from_another_is_the_same_to_the_bit(seed):
    """Judged queries are added, changed and left out; what was asked for before makes no difference either."""
    model, observed, variances = case("some", seed)
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 1, (4, model.n_items))
    gains = rng.uniform(0, 1, observed.item.size)
    last = None
    for _ in range(6):
        chosen = np.flatnonzero(rng.random(observed.item.size) < 0.7)
        said = Observations.exact(model, observed.item[chosen], gains[chosen])
        new = Posterior(model, said, variances)
        last = Posterior(model, said, variances, previous=last)
        np.testing.assert_array_equal(last.mean, new.mean)
        np.testing.assert_array_equal(last.shared_covariance, new.shared_covariance)
        for one, other in zip(last.sums(weights), new.sums(weights), strict=True):
            assert one.tobytes() == other.tobytes()
        for query in range(model.n_queries):
            for one, other in zip(last.of_query(query), new.of_query(query), strict=True):
                np.testing.assert_array_equal(one, other)
        gains[rng.integers(gains.size)] = 0.5


@pytest.mark.parametrize("seed", range(3))
def test_means_and_contrasts_say_all_that_the_answers_say(seed):
    """Conditioning on every answer gives the same gains and, up to a constant, the same likelihood."""
    collection = small_collection(seed)
    model = model_of(collection, seed, n_assessors=5)
    items = np.random.default_rng(seed).permutation(collection.n_items)[:10]
    item, value, shared, extra = single_answers(model, items, seed)
    apart, together = Observations(item, value, shared, extra), Observations.of_answers(item, value, shared, extra)
    np.testing.assert_array_equal(together.item, np.sort(items))
    assert together.item.size + together.contrasts.value.size == item.size > items.size
    densities = []
    for theta in some_variances(model, seed):
        before, after = Dense(model, apart, theta), Dense(model, together, theta)
        np.testing.assert_allclose(after.posterior_mean, before.posterior_mean, atol=1e-10)
        np.testing.assert_allclose(after.posterior_covariance, before.posterior_covariance, atol=1e-10)
        densities.append([normal_density(dense) for dense in (before, after)])
    before, after = np.array(densities).T
    np.testing.assert_allclose(np.diff(after), np.diff(before), atol=1e-8)


def normal_density(dense: Dense) -> float:
    covariance = dense.of_observations
    return -0.5 * (np.linalg.slogdet(covariance)[1] + dense.residual @ np.linalg.solve(covariance, dense.residual))


def test_a_difference_is_added_to_those_that_were_seen():
    model, observed, _ = case("answers")
    disagreement = model.components.index("disagreement")
    more = observed.with_difference(0.1, component=disagreement)
    seen, added = observed.contrasts, more.contrasts
    np.testing.assert_array_equal(added.value[:-1], seen.value)
    # Two answers that are .1 apart are .05 from their mean each.
    assert added.value[-1] ** 2 == pytest.approx(2 * 0.05**2)
    assert not added.shared[-1].any()
    assert added.extra[-1, disagreement] == pytest.approx(seen.extra[:, disagreement].mean())


def test_an_answer_without_disagreement_is_the_truth():
    """As the variances of assessors go to nothing, several answers that agree become one judgment."""
    model, _, variances = case("answers")
    truth = np.random.default_rng(0).uniform(0, 1, model.n_items)
    item, _, shared, extra = single_answers(model, np.arange(0, model.n_items, 2))
    agreeing = Observations.of_answers(item, truth[item], shared, extra)
    told, theta = agreeing.item, variances.copy()
    # So little that a covariance of the answers themselves could not be inverted.
    theta[:, [model.components.index(name) for name in ("assessor", "disagreement")]] = 1e-19
    noisy = Posterior(model, agreeing, theta)
    exact = Posterior(model, Observations.exact(model, told, truth[told]), theta)
    np.testing.assert_allclose(noisy.mean, exact.mean, atol=1e-9)
    np.testing.assert_allclose(noisy.sums(np.eye(model.n_items))[1], exact.sums(np.eye(model.n_items))[1], atol=1e-9)
