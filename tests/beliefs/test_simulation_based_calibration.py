"""Simulation-based calibration: for gains drawn from the model, ranks of the truth among posterior draws are uniform.

Variances come from their prior, effects and gains from the model. A part of the gains is observed, and the rest is
predicted with the variances fitted anew, as in a campaign. See S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A.
Gelman (2018), Validating Bayesian inference algorithms with simulation-based calibration, arXiv:1804.06788.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from earmark.beliefs.beliefs import UNJUDGED
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.estimates import mixture_moments
from earmark.beliefs.exact_estimates import system_weights
from earmark.beliefs.variance_components import VariancePrior, fit_variances
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.runs import build_runs
from earmark.data.scales import FINE
from earmark.measures import parse
from earmark.predictors.base import Setting
from earmark.predictors.hierarchical import DRAWS, Hierarchical
from earmark.predictors.hierarchical_effects import effect_model
from earmark.predictors.hierarchical_prior import shipped_prior

SYSTEMS, QUERIES, DEPTH = 4, 8, 5
REPEATS = 300


@pytest.fixture(scope="module")
def setting() -> Setting:
    rng = np.random.default_rng(5)
    results = [
        (f"s{system}", f"q{query}", f"d{document}")
        for system in range(SYSTEMS)
        for query in range(QUERIES)
        for document in rng.choice(12, DEPTH, replace=False)
    ]
    system, query, document = (pl.Series(part) for part in zip(*results, strict=True))
    return Setting(Collection.from_runs(build_runs(system=system, query=query, document=document), depth=DEPTH), FINE)


def draw_gains(model: EffectModel, variances: Floats, rng: np.random.Generator) -> Floats:
    """Draw effects and gains from the model, effect by effect."""
    deviation = np.sqrt(variances)
    gains = model.prior_mean + model.shared @ (
        deviation[model.shared_component] * rng.standard_normal(model.shared.shape[1])
    )
    for query in range(model.n_queries):
        here = slice(int(model.offsets[query]), int(model.offsets[query + 1]))
        effects = deviation[model.local_component[query]] * rng.standard_normal(model.local[query].shape[1])
        gains[here] += model.local[query] @ effects
    return np.asarray(gains + np.sqrt(model.own @ variances) * rng.standard_normal(gains.size))


def share_below(mean: Floats, variance: Floats, truth: Floats) -> Floats:
    """Return how much of a mixture of normal distributions, one per draw of the variances, lies below the truth."""
    return np.asarray(stats.norm.cdf((truth - mean) / np.sqrt(variance)).mean(axis=0))


@pytest.mark.parametrize("judged", [8, 40])
def test_the_truth_is_anywhere_among_posterior_draws_equally_often(setting: Setting, judged: int) -> None:
    predictor, rng = Hierarchical(setting), np.random.default_rng(judged)
    told = shipped_prior(FINE, ())
    model = effect_model(
        setting.collection, predictor.known, predictor.prior.mean(predictor.known), effects=tuple(told.variances)
    )
    # Effects are small here, so that hardly any gain has to be cut off at the ends of the scale.
    centre, spread = (np.array(part) for part in zip(*(told.variances[name] for name in model.components), strict=True))
    prior = VariancePrior(centre - np.log(30.0), spread)
    weights = system_weights(setting.collection, parse(f"AG@{DEPTH}"), scale=FINE).toarray()
    a, b = np.triu_indices(SYSTEMS, k=1)
    top = float(FINE.top)
    of_systems, of_pairs, said = [], [], []
    for _ in range(REPEATS):
        truth = draw_gains(model, np.exp(prior.centre + prior.sd * rng.standard_normal(prior.sd.size)), rng)
        items = np.sort(rng.choice(model.n_items, judged, replace=False))
        observed = Observations.exact(model, items, truth[items])
        fitted = fit_variances(model, observed, prior)
        gains = np.full(model.n_items, UNJUDGED)
        gains[items] = np.clip(truth[items], 0.0, 1.0) * top
        beliefs = CorrelatedBeliefs(FINE, gains, model, observed, fitted.variances, fitted.draws(DRAWS, rng))
        mean, covariance = beliefs.sums(weights)
        true = weights @ (truth * top)
        own = np.einsum("css->cs", covariance)
        of_systems.append(share_below(mean, own, true))
        apart = own[:, a] + own[:, b] - 2.0 * covariance[:, a, b]
        of_pairs.append(share_below(mean[:, a] - mean[:, b], apart, true[a] - true[b]))
        centre_of, scale, df = mixture_moments(mean[:, a] - mean[:, b], apart)
        said.append(np.abs(true[a] - true[b] - centre_of) <= stats.t.ppf(0.975, df) * np.sqrt(scale))
    # One quantity of a repeat at a time: systems of the same repeat are not independent.
    for found in (np.array(of_systems), np.array(of_pairs)):
        for column in found.T:
            assert stats.kstest(column, "uniform").pvalue > 1e-4
        # Neither too narrow nor too wide: the variance of a uniform variable is 1/12.
        assert found.var() == pytest.approx(1 / 12, rel=0.12)
    # What is printed, the interval of Student's t, has the coverage too.
    assert np.mean(said) == pytest.approx(0.95, abs=0.025)


def test_too_small_variances_are_noticed(setting: Setting) -> None:
    """The check can fail: with a tenth of the variances, the truth lies at the ends too often."""
    predictor, rng = Hierarchical(setting), np.random.default_rng(3)
    told = shipped_prior(FINE, ())
    model = effect_model(
        setting.collection, predictor.known, predictor.prior.mean(predictor.known), effects=tuple(told.variances)
    )
    variances = np.exp(np.array([told.variances[name][0] for name in model.components])) / 30.0
    weights = system_weights(setting.collection, parse(f"AG@{DEPTH}"), scale=FINE).toarray()
    found = []
    for _ in range(100):
        truth = draw_gains(model, variances, rng)
        nothing = Observations.exact(model, np.zeros(0, dtype=np.int64), np.zeros(0))
        gains = np.full(model.n_items, UNJUDGED)
        beliefs = CorrelatedBeliefs(FINE, gains, model, nothing, variances / 10, variances[None] / 10)
        mean, covariance = beliefs.sums(weights)
        own = np.einsum("css->cs", covariance)
        found.append(share_below(mean, own, weights @ (truth * float(FINE.top))))
    assert np.var(found) > 1.5 / 12
