r"""Beliefs whose errors are shared, averaged over how large the shares may be.

What a model of effects (:mod:`earmark.beliefs.effects`) says after judgments, :class:`CorrelatedBeliefs`, is normal
given the variances of the effects, and a mixture of as many normal distributions as variances were drawn. Weighted sums
of gains are exact for each of them; the mixture has heavier tails than a normal distribution and goes on as Student's t
with the same variance and kurtosis (:func:`~earmark.beliefs.estimates.mixture_moments`).

What samples draw is on the scale: see :mod:`earmark.beliefs.level_distributions`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from earmark.beliefs.beliefs import UNJUDGED, Beliefs, Weights, levels_of
from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.level_distributions import (
    BoundedNormal,
    drawn_levels,
    fit_bounded,
    level_distributions,
    level_use,
    within_scale,
)
from earmark.beliefs.lookahead import CorrelatedLookahead
from earmark.beliefs.posterior import Posterior
from earmark.beliefs.scan import CorrelatedScan, central_variance
from earmark.beliefs.stretches import Columns
from earmark.data.arrays import Bools, Floats, Ints

_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class CorrelatedBeliefs(Beliefs):
    r"""Beliefs in which items share effects.

    Parameters
    ----------
    scale : Scale
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, `UNJUDGED` for the others.
    model : EffectModel
        What every item has to do with every effect.
    observed : Observations
        What was said about the items.
    variances : ndarray of float, shape (components,)
        The most probable ones.
    drawn_variances : ndarray of float, shape (draws, components)
        What else they may be.
    level_use : pair of ndarray of float, optional
        How often gains, as shares of the top, are expected to be given: some gains from 0 to 1 in ascending order, and
        their relative frequencies; by default all equally often.
    before : pair of Posterior, optional
        The `posterior` and the `central` one from fewer observations: what did not change is taken from them.
    """

    model: EffectModel
    observed: Observations
    variances: Floats
    drawn_variances: Floats
    level_use: tuple[Floats, Floats] | None = None
    before: tuple[Posterior, Posterior] | None = None

    @cached_property
    def posterior(self) -> Posterior:
        """Effects and gains for every draw of the variances."""
        before = None if self.before is None else self.before[0]
        return Posterior(self.model, self.observed, self.drawn_variances, previous=before)

    @cached_property
    def central(self) -> Posterior:
        """Effects and gains for the most probable variances."""
        before = None if self.before is None else self.before[1]
        return Posterior(self.model, self.observed, self.variances[None], previous=before)

    @property
    def _top(self) -> float:
        return float(self.scale.top)

    @property
    def certain(self) -> Bools:
        """Which gains are known: those of judged items, unless assessors disagree about them."""
        return self.judged & self.observed.is_exact

    @cached_property
    def mean(self) -> Floats:
        """The expected gain of every item, within the scale."""
        believed = within_scale(self.posterior.average[0]) * self._top
        return np.where(self.certain, self.judged_gain, believed)

    @cached_property
    def linear_mean(self) -> Floats:
        """The expected gain of every item by the linear model, which may lie outside the scale."""
        return np.where(self.certain, self.judged_gain, self.posterior.average[0] * self._top)

    @cached_property
    def variance(self) -> Floats:
        """The variance of every item's gain: given the most probable variances, and that of the mean over others."""
        spread = central_variance(self.central) + self.posterior.average[1]
        return np.where(self.certain, 0.0, spread) * self._top**2

    def sums(self, weights: Weights) -> tuple[Floats, Floats]:
        """Return mean and covariance of weighted sums for every draw, shapes (draws, rows) and (draws, rows, rows)."""
        columns, certain = self.model.columns(weights), self.certain
        if np.all(_any_of(columns, ~certain)):
            # Every sum is uncertain: what rounding leaves of its certain part is nothing beside that. The weights are
            # passed on as they are, so that what depends on them alone is worked out once.
            mean, covariance = self.posterior.sums(columns)
            return mean * self._top, covariance * self._top**2
        # What is certain has no part in covariances, not even by rounding errors.
        mean, covariance = self.posterior.sums(_without(columns, certain))
        known = columns @ np.where(certain, self.judged_gain, 0.0)
        return known + mean * self._top, covariance * self._top**2

    def quadratic(self, weights: Weights) -> Floats:
        """Return the covariance of weighted sums over all draws, shape (rows, rows)."""
        mean, covariance = self.sums(weights)
        apart = mean - mean.mean(axis=0)
        total: Floats = covariance.mean(axis=0) + apart.T @ apart / len(mean)
        return total

    def without_judgments(self) -> CorrelatedBeliefs:
        """Return what the model expects with nothing observed, for the same variances of effects."""
        nothing = np.zeros(0, dtype=np.int64)
        unobserved = Observations.exact(self.model, nothing, np.zeros(0))
        unjudged = np.full(self.n_items, UNJUDGED)
        return replace(self, judged_gain=unjudged, observed=unobserved, before=None)

    def lookahead(self, weights: Weights) -> CorrelatedLookahead:
        """Return what every judgment would teach, for the most probable variances; gains as shares of the top."""
        return CorrelatedLookahead(self.central, _dense(weights) * self._top)

    def scan(self, weights: Weights, assumed: Ints) -> CorrelatedScan:
        """Return what every judgment would teach, one stretch of items after the other."""
        central = self.central
        if assumed.size:
            # What is judged hypothetically changes variances only, whatever its gain.
            more = Observations.exact(self.model, assumed, self.model.prior_mean[assumed])
            central = Posterior(self.model, self.observed.with_more(more), self.variances[None], previous=central)
        return CorrelatedScan(central, self.model.columns(weights), self._top)

    def level_probabilities(self, levels: Floats) -> Floats:
        """Return the probability of levels for every item; judged ones are as good as certain."""
        shares = levels / self._top
        use = level_use(self.observed.value, shares, expected=self._expected_use(shares))
        mean, variance = self.posterior.average[0], self.variance / self._top**2
        return level_distributions(mean, variance, levels=shares, use=use)

    def _expected_use(self, levels: Floats) -> Floats | None:
        return None if self.level_use is None else np.interp(levels, *self.level_use)

    def leave_one_out(self) -> Floats:
        """Return the mean of every item, that of a judged one as predicted from all other judgments."""
        predicted = self.posterior.average[0].copy()
        predicted[self.observed.item] = self.central.leave_one_out()[0]
        return within_scale(predicted) * self._top

    @cached_property
    def _on_scale(self) -> BoundedNormal:
        levels = drawn_levels(levels_of(self.scale) / self._top)
        use = level_use(self.observed.value, levels, expected=self._expected_use(levels))
        mean, variance = self.posterior.average[0], self.variance / self._top**2
        return fit_bounded(mean, variance, levels=levels, use=use)

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw the gains of all items, shape (n, items), each a level of the scale."""
        return self.draw_with_levels(rng, n)[1]

    def draw_with_levels(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Draw the gains of all items as the linear model has them, and as levels of the scale; both (n, items).

        What items have in common counts for more, and what is their own for less, than in the normal variables of the
        model: as much as it takes for levels to have the covariances that the model believes in.
        """
        bounded, mean = self._on_scale, self.posterior.average[0]
        variance = self.variance / self._top**2
        observed = np.isin(np.arange(self.n_items), self.observed.item)
        own_variance = np.where(observed, 0.0, self.model.own_variance(self.variances))
        common_variance = np.maximum(variance - own_variance, 0.0)
        weight = 1.0 / np.maximum(np.maximum(bounded.slope, np.sqrt(common_variance)), _LEAST)
        rest = np.sqrt(np.maximum(1.0 - weight**2 * common_variance, 0.0))
        which = rng.permutation(np.arange(n) % len(self.drawn_variances))
        z, linear = np.empty((n, self.n_items)), np.empty((n, self.n_items))
        for number in np.unique(which):
            rows = np.flatnonzero(which == number)
            common, own = self.posterior.draw_parts(rng, int(number), rows.size)
            unit = np.sqrt(np.maximum(self.model.own_variance(self.drawn_variances[number]), _LEAST**2))
            z[rows] = weight * (common - mean) + rest * (own / unit)
            linear[rows] = common + own
        # Not shares times the top gain, which rounding may take off the scale.
        gains = drawn_levels(levels_of(self.scale))[bounded.places(z)]
        known = self.certain
        return (
            np.where(known, self.judged_gain, linear * self._top),
            np.where(known, self.judged_gain, gains),
        )


def _dense(weights: Weights) -> Floats:
    dense: Any = weights.toarray() if issparse(weights) else weights
    return np.asarray(dense, dtype=np.float64)


def _any_of(weights: Columns, items: Bools) -> Bools:
    """Tell which weighted sums depend on any of some items, shape (sums,)."""
    if isinstance(weights, np.ndarray):
        return np.asarray(np.any(weights[:, items] != 0, axis=1))
    rows = weights.indices if items.all() else weights.indices[np.repeat(items, np.diff(weights.indptr))]
    return np.asarray(np.bincount(rows, minlength=weights.shape[0]) > 0)


def _without(weights: Columns, items: Bools) -> Columns:
    """Return weights in which some items have none."""
    if isinstance(weights, np.ndarray):
        return np.where(items, 0.0, weights)
    left = weights.data * np.repeat(~items, np.diff(weights.indptr))
    return csc_array((left, weights.indices, weights.indptr), shape=weights.shape)
