"""Estimates: mean and variance of the scores of systems and of their differences, given beliefs about gains.

Exact formulas, Monte Carlo and sampling designs give the same kind of result, so that conclusions can be drawn without
knowing which of them was used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.measures.base import Measure

# Rounding errors of sums of gains are about 2^-50 of the scores; no measured difference is as small as this.
_RESOLUTION = 2.0**-40


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of some quantities, and how precisely they are known; all of the same shape.

    Attributes
    ----------
    mean, variance : ndarray of float
        Of each quantity.
    mean_error, variance_error : ndarray of float
        Standard errors of the two, where they come from a finite number of samples; 0 where they are exact.
    df : ndarray of float, optional
        Degrees of freedom of Student's t, where the variance itself is uncertain; `variance` is then the square of the
        scale of t. Without it, the distribution is normal.
    """

    mean: Floats
    variance: Floats
    mean_error: Floats
    variance_error: Floats
    df: Floats | None = None

    @classmethod
    def exact(cls, mean: Floats, variance: Floats, *, df: Floats | None = None) -> Moments:
        """Take mean and variance as known exactly."""
        return cls(mean, variance, np.zeros_like(mean), np.zeros_like(variance), df)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated scores of all systems, and of the differences between all pairs of them.

    Attributes
    ----------
    systems : tuple of str
    measure : Measure
        What was estimated; normalised measures name the pool as their ideal.
    scores : Moments, of shape (systems,)
        The mean score over all queries; a query that a system did not answer counts as an empty list.
    a, b : ndarray of int, shape (pairs,)
        Indices of the two systems of every pair, ``a < b``: (0, 1), (0, 2), …, (1, 2), …
    differences : Moments, of shape (pairs,)
        Score of `a` minus score of `b`. Its variance is that of the difference itself: documents that both systems
        retrieved at the same rank do not contribute to it.
    identical : ndarray of bool, shape (pairs,)
        Whether the two systems' lists score the same whatever the gains.
    queries, items, judged : int
        How many queries and items there are, and how many of the items are judged.
    """

    systems: tuple[str, ...]
    measure: Measure
    scores: Moments
    a: Ints
    b: Ints
    differences: Moments
    identical: NDArray[np.bool_]
    queries: int
    items: int
    judged: int

    @classmethod
    def of(
        cls,
        collection: Collection,
        measure: Measure,
        scores: Moments,
        differences: Moments,
        *,
        identical: NDArray[np.bool_],
        judged: int,
    ) -> Estimates:
        """Make estimates of all systems of a collection and of all pairs in the order of :func:`all_pairs`."""
        a, b = all_pairs(len(collection.systems))
        sizes = len(collection.queries), collection.n_items, judged
        return cls(collection.systems, measure, scores, a, b, differences, identical, *sizes)

    @cached_property
    def covariance(self) -> Floats:
        r"""The covariance of the scores, shape (systems, systems).

        :math:`Cov(A, B) = (Var[A] + Var[B] - Var[A - B]) / 2`.
        """
        variance = self.scores.variance
        covariance = np.diag(variance)
        shared = (variance[self.a] + variance[self.b] - self.differences.variance) / 2
        covariance[self.a, self.b] = shared
        covariance[self.b, self.a] = shared
        return covariance


def all_pairs(n_systems: int) -> tuple[Ints, Ints]:
    """Return the indices of both systems of every pair ``a < b``, each of shape (pairs,)."""
    a, b = np.triu_indices(n_systems, k=1)
    return a.astype(np.int64), b.astype(np.int64)


def without_noise(differences: Floats, scores: Floats) -> Floats:
    """Set differences that are within rounding error to 0.

    Two systems whose gains add up to the same sum in another order are equal. Without this, the last bit of a sum
    would decide between them once everything is judged and the variance is 0.

    Parameters
    ----------
    differences : ndarray of float, shape (..., pairs)
    scores : ndarray of float, shape (..., systems)
        The scores they are differences of.
    """
    largest = np.abs(scores).max(axis=-1, initial=0.0, keepdims=True)
    return np.where(np.abs(differences) <= _RESOLUTION * largest, 0.0, differences)


def mixture_moments(mean: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Describe equal mixtures of normal distributions by Student's t.

    With the variance :math:`v` and the excess kurtosis :math:`\kappa` of the mixture, t has
    :math:`\nu = 4 + 6 / \kappa` degrees of freedom and the squared scale :math:`v (\nu - 2) / \nu`.

    Parameters
    ----------
    mean, variance : ndarray of float, shape (draws, quantities)

    Returns
    -------
    mean, scale, df : ndarray of float, shape (quantities,)
        `scale` is squared.

    Examples
    --------
    >>> [values.round(2).tolist() for values in mixture_moments(np.zeros((2, 1)), np.array([[1.0], [3.0]]))]
    [[0.0], [1.67], [12.0]]
    """
    center = mean.mean(axis=0)
    apart = (mean - center) ** 2
    total = (variance + apart).mean(axis=0)
    fourth = (3 * variance**2 + 6 * variance * apart + apart**2).mean(axis=0)
    known = total > 0
    excess = np.divide(fourth, total**2, out=np.full_like(total, 3.0), where=known) - 3.0
    df = 4.0 + 6.0 / np.maximum(excess, 1e-6)
    return center, total * (df - 2.0) / df, df
