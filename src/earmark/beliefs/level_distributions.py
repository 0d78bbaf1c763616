r"""Normal beliefs on a scale that ends: how a gain of any size becomes one that an assessor could give.

A linear model believes in normal gains, and a normal gain may lie below 0, above the top or between two levels. For
estimates of weighted sums that does no harm; a measure that divides by an ideal ranking needs gains that are on the
scale, and as extreme as gains really are: assessors hardly ever use the ends of a fine scale. So every item gets the
distribution over levels

.. math:: P(G_i = l) \propto \pi_l \exp(a_i l + b_i l^2)

that has the mean and the variance the model believes in and is otherwise as near as possible to how often levels are
used at all, :math:`\pi` (the minimum relative entropy). A normal variable picks the level with the same rank in its
distribution, and a higher draw is never a lower level. Levels are a coarse picture of a normal variable, so gains are
less correlated than the variables they are made of; :attr:`BoundedNormal.slope` says by how much, and whoever draws the
variables makes up for it.

Means are pulled into the scale first. Two levels leave no choice of the variance: it is :math:`\mu (1 - \mu)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from earmark.data.arrays import Floats, Ints

MOST_LEVELS = 21
"""Finer scales are drawn in this many steps."""

_CLOSEST = 1e-3
"""How close to an end of the scale, as a share of it, the mean of an unjudged item may be."""
_STEPS = 60
_HALVINGS = 12
_ENOUGH = 1e-4
_LEAST_FALL = 1e-4
_LONGEST_STEP = 30.0
# How much of the largest variance is left free at both ends of what a scale allows.
_ROOM = 0.02


def within_scale(mean: Floats) -> Floats:
    """Pull means into the open interval from 0 to 1."""
    return np.clip(mean, _CLOSEST, 1.0 - _CLOSEST)


def drawn_levels(levels: Floats) -> Floats:
    """Return the levels that draws use: those of the scale, or fewer where it has very many."""
    if levels.size <= MOST_LEVELS:
        return levels
    return levels[np.round(np.linspace(0, levels.size - 1, MOST_LEVELS)).astype(np.int64)]


def level_use(gains: Floats, levels: Floats, *, expected: Floats | None = None, weight: float = 20.0) -> Floats:
    r"""Estimate how often every level is used, :math:`\pi`.

    Parameters
    ----------
    gains : ndarray of float, shape (n,)
        What was given so far, each counted at the nearest level.
    levels : ndarray of float, shape (levels,), ascending
    expected : ndarray of float, shape (levels,), optional
        What is expected beforehand; by default all levels equally often.
    weight : float
        How many judgments the expectation counts for.
    """
    halfway = (levels[:-1] + levels[1:]) / 2
    counts = np.bincount(np.searchsorted(halfway, gains, side="right"), minlength=levels.size)
    prior = np.full(levels.size, 1.0 / levels.size) if expected is None else expected / expected.sum()
    used: Floats = counts + weight * prior
    return np.asarray(used / used.sum())


@dataclass(frozen=True, eq=False)
class BoundedNormal:
    """Gains as levels of a scale from 0 to 1, made of normal variables.

    Attributes
    ----------
    levels : ndarray of float, shape (levels,), 0..1, ascending
    thresholds : ndarray of float, shape (levels - 1, items)
        From which value on a standard normal variable means the next level.

    Examples
    --------
    >>> gains = fit_bounded(np.array([0.5]), np.array([0.1]), levels=np.array([0.0, 0.5, 1.0]))
    >>> gains.from_normal(np.array([[-2.0], [0.0], [2.0]])).tolist()
    [[0.0], [0.5], [1.0]]
    """

    levels: Floats
    thresholds: Floats

    @cached_property
    def slope(self) -> Floats:
        r"""The covariance of every item's gain with its normal variable, :math:`E[z\, G(z)]`, shape (items,).

        To first order, gains of two normal variables with covariance c have the covariance c times both slopes.
        """
        density = np.exp(-0.5 * self.thresholds**2) / np.sqrt(2.0 * np.pi)
        return np.asarray(np.diff(self.levels) @ density)

    def places(self, z: Floats) -> Ints:
        """Turn standard normal variables, shape (draws, items), into places of levels."""
        found = np.zeros(z.shape, dtype=np.int64)
        for threshold in self.thresholds:
            found += z >= threshold
        return found

    def from_normal(self, z: Floats) -> Floats:
        """Turn standard normal variables, shape (draws, items), into gains."""
        return self.levels[self.places(z)]


def fit_bounded(mean: Floats, variance: Floats, *, levels: Floats, use: Floats | None = None) -> BoundedNormal:
    """Find the distributions over levels that have given means and variances.

    Parameters
    ----------
    mean : ndarray of float, shape (items,)
        Pulled into the scale where it lies outside.
    variance : ndarray of float, shape (items,)
        Cut at what the scale allows; a coarse scale also has a least variance for means between two levels.
    levels : ndarray of float, shape (levels,)
        From 0 to 1, ascending.
    use : ndarray of float, shape (levels,), optional
        How often levels are used, in any unit; by default equally often.
    """
    probabilities = level_distributions(mean, variance, levels=levels, use=use)
    rising = np.clip(np.cumsum(probabilities, axis=1)[:, :-1], 0.0, 1.0)
    # The inverse may fall in its last bit where its argument rises or stays.
    return BoundedNormal(levels, np.maximum.accumulate(special.ndtri(rising), axis=1).T.copy())


def level_distributions(mean: Floats, variance: Floats, *, levels: Floats, use: Floats | None = None) -> Floats:
    """Return the distributions over levels, shape (items, levels); parameters as for :func:`fit_bounded`."""
    wanted = within_scale(mean)
    above = np.clip(np.searchsorted(levels, wanted, side="right"), 1, levels.size - 1)
    # Nothing varies less than what jumps between the two levels around its mean, nothing more than between the ends.
    least, most = (wanted - levels[above - 1]) * (levels[above] - wanted), wanted * (1.0 - wanted)
    spread = np.clip(variance, np.minimum(least + _ROOM * most, most), np.maximum(most * (1.0 - _ROOM), least))
    log_use = np.log(np.full(levels.size, 1.0) if use is None else np.maximum(use, 1e-6))
    terms = np.stack((levels, levels**2))
    target = np.stack((wanted, spread + wanted**2), axis=1)
    return _tilted_to(target, terms, log_use)


def _tilted_to(target: Floats, terms: Floats, log_use: Floats) -> Floats:
    r"""Return the distributions that have given expectations of the terms, shape (items, levels).

    They minimise the convex :math:`\log \sum_l \pi_l e^{t_l^T x} - \tau^T x` over the tilt :math:`x`: Newton's method,
    every step halved until the function falls.
    """
    at = np.zeros_like(target)
    chances, height = _tilted(log_use, at, terms, target)
    for _ in range(_STEPS):
        rows = np.flatnonzero(np.abs(target - chances @ terms.T).max(axis=1) > _ENOUGH)
        if not rows.size:
            break
        step, slope = _newton_step(chances[rows], terms, target[rows])
        for _ in range(_HALVINGS):
            tried, reached = _tilted(log_use, at[rows] + step, terms, target[rows])
            falls = reached <= height[rows] - _LEAST_FALL * slope
            at[rows[falls]] += step[falls]
            chances[rows[falls]], height[rows[falls]] = tried[falls], reached[falls]
            rows, step, slope = rows[~falls], step[~falls] / 2.0, slope[~falls] / 2.0
            if not rows.size:
                break
    return chances


def _newton_step(chances: Floats, terms: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return Newton's steps, shape (items, 2), and by how much they would lower the function if it were a plane."""
    found = chances @ terms.T
    second = np.einsum("il,al,bl->iab", chances, terms, terms, optimize=True)
    curvature = second - found[:, :, None] * found[:, None, :]
    # Two levels, or nearly two, leave one direction open: the ridge chooses the shortest step.
    ridge = 1e-9 * np.einsum("iaa->i", curvature) + 1e-14
    curvature += ridge[:, None, None] * np.eye(2)
    step: Floats = np.linalg.solve(curvature, (target - found)[:, :, None])[:, :, 0]
    longest = np.abs(step @ terms).max(axis=1, keepdims=True)
    step /= np.maximum(1.0, longest / _LONGEST_STEP)
    slope: Floats = np.einsum("ia,ia->i", step, target - found)
    return step, slope


def _tilted(log_use: Floats, at: Floats, terms: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return the distributions at a tilt, and the function that the right tilt minimises."""
    exponent = log_use + at @ terms
    largest = exponent.max(axis=1, keepdims=True)
    weight = np.exp(exponent - largest)
    total = weight.sum(axis=1, keepdims=True)
    chances: Floats = weight / total
    height: Floats = (largest + np.log(total))[:, 0] - np.einsum("ia,ia->i", at, target)
    return chances, height
