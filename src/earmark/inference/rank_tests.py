"""Tests on ranks: Friedman with Tukey's comparisons of mean ranks, and Wilcoxon's signed ranks.

Both look only at order: the first at the order of the systems within each query, the second at the order of
the absolute differences of a pair. They do not mind that a few queries have much larger scores than the rest.

**Friedman and Tukey** are how MIREX has reported its tasks: MATLAB's ``friedman`` followed by ``multcompare``
with Tukey's honestly significant difference. Systems are ranked within each query (1 is the best, ties
share the average rank), and with ``R_i`` the mean rank of system `i` over `n` queries and

    σ² = Σ (rank - (k+1)/2)² / (n (k-1)),        which is k(k+1)/12 when there are no ties,

Friedman's statistic is ``χ² = n / σ² · Σ (R_i - (k+1)/2)²`` with ``k - 1`` degrees of freedom, and every pair
has ``q = |R_i - R_j| / sqrt(σ²/n)``, referred to the studentized range of `k` groups and infinite degrees of
freedom. The studentized range covers all pairs at once: the family-wise error is already controlled.

**Wilcoxon**: queries on which the two systems tie are dropped (Wilcoxon's own rule), the others ranked by the
size of the difference. Up to 50 such queries the p-value is exact, given the ties among sizes; beyond,
normal, with the variance corrected for those ties and no correction for continuity. No query left: p = 1.

scipy has average ranks and the studentized range in ``scipy.stats``, whose import takes longer than most
evaluations. :func:`average_ranks` and :func:`normal_range_sf` need numpy and the normal distribution function
only, and are checked against scipy's.

References
----------
.. [1] M. Friedman (1937). The use of ranks to avoid the assumption of normality. JASA 32, 675-701.
.. [2] M. Hollander, D. A. Wolfe (1999). Nonparametric Statistical Methods, 2nd ed., sections 3.1, 7.1, 7.3.
.. [3] J. S. Downie (2008). The music information retrieval evaluation exchange. Acoust. Sci. & Tech. 29,
   247-255.
.. [4] F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80-83.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from earmark.data.arrays import Floats, Ints

EXACT_UP_TO = 50
"""Wilcoxon's p-value is exact for pairs with at most this many queries that are not ties."""

_CHUNK = 1 << 21  # cells of the table of exact distributions that are held at once (16 MB)

# φ is below 1e-16 of its maximum beyond ±8.6. For a smooth function that vanishes at both ends, the trapezoidal rule
# converges exponentially: this grid is exact to about 1e-15.
_Z = np.linspace(-8.6, 8.6, 345)
_DENSITY = np.exp(-(_Z**2) / 2)
_DENSITY /= _DENSITY.sum()


def average_ranks(values: ArrayLike) -> Floats:
    """Rank the values of every column from 1, ascending; equal values share the mean of their ranks.

    Parameters
    ----------
    values : array_like of float, shape (n, ...)
        Ranked along the first axis.

    Examples
    --------
    >>> average_ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    given = np.asarray(values, dtype=np.float64)
    order = np.argsort(given, axis=0, kind="stable")
    ascending = np.take_along_axis(given, order, axis=0)
    place = np.arange(given.shape[0]).reshape(-1, *[1] * (given.ndim - 1))
    differs = ascending[1:] != ascending[:-1]
    edge = np.ones((1, *given.shape[1:]), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate((edge, differs)), place, 0), axis=0)
    ends = np.where(np.concatenate((differs, edge)), place, given.shape[0])
    last = np.minimum.accumulate(ends[::-1], axis=0)[::-1]
    ranks = np.empty(given.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    return ranks


def normal_range_sf(q: ArrayLike, k: int) -> Floats:
    r"""Probability that the range of k independent standard normal variables exceeds q.

    .. math:: 1 - k \int \varphi(z)\, [\Phi(z) - \Phi(z - q)]^{k-1}\, dz

    with z the largest of them: the studentized range with infinitely many degrees of freedom.

    Parameters
    ----------
    q : array_like of float, 0 or more
    k : int, 2 or more

    Examples
    --------
    >>> float(normal_range_sf(3.3145, 3).round(4))
    0.05
    """
    width = np.asarray(q, dtype=np.float64)
    inside = (ndtr(_Z) - ndtr(_Z - width[..., None])) ** (k - 1)
    return np.asarray(np.clip(1.0 - k * (inside @ _DENSITY), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class FriedmanRanks:
    """Mean ranks of the systems and Friedman's test of whether they are all the same.

    Attributes
    ----------
    mean_ranks : float array, shape (systems,), in [1, systems]
        1 for a system that is the best for every query.
    variance : float
        σ², the variance of a rank, corrected for ties; zero when all systems tie on all queries.
    statistic, p_value : float
        Friedman's χ² and its p-value; 0 and 1 when there is nothing to tell apart.
    df : int
        Degrees of freedom, systems - 1.
    """

    mean_ranks: Floats
    variance: float
    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, eq=False)
class SignedRanks:
    """Wilcoxon's signed-rank test of every pair; arrays of shape (pairs,).

    Attributes
    ----------
    positive : float array
        W⁺, the sum of ranks of the positive differences.
    total : float array
        Sum of all ranks, m(m+1)/2 for m differences that are not zero.
    p_value : float array, in [0, 1]
        Two-sided.
    """

    positive: Floats
    total: Floats
    p_value: Floats


def friedman_ranks(scores: Floats) -> FriedmanRanks:
    """Mean ranks and Friedman's test.

    Parameters
    ----------
    scores : float array, shape (systems, queries)
        Higher is better. Ties are where scores are equal as numbers.
    """
    n_systems, n_queries = scores.shape
    ranks = average_ranks(-scores)
    middle = (n_systems + 1) / 2
    mean_ranks = ranks.mean(axis=1)
    df = n_systems - 1
    spread = float(((ranks - middle) ** 2).sum())
    if spread == 0:
        return FriedmanRanks(mean_ranks=mean_ranks, variance=0.0, statistic=0.0, df=df, p_value=1.0)
    variance = spread / (n_queries * df)
    statistic = n_queries / variance * float(((mean_ranks - middle) ** 2).sum())
    return FriedmanRanks(
        mean_ranks=mean_ranks,
        variance=variance,
        statistic=statistic,
        df=df,
        p_value=float(chdtrc(df, statistic)),
    )


def tukey_range(friedman: FriedmanRanks, a: Ints, b: Ints, *, n_queries: int) -> tuple[Floats, Floats]:
    """Compare the mean ranks of pairs by Tukey's honestly significant difference.

    Returns
    -------
    statistic : float array, shape (pairs,)
        q, the difference of mean ranks over its standard error; zero when all systems tie everywhere.
    p_value : float array, shape (pairs,), in [0, 1]
        For the whole family of pairs.
    """
    if friedman.variance == 0:
        return np.zeros(a.size), np.ones(a.size)
    gap = np.abs(friedman.mean_ranks[a] - friedman.mean_ranks[b])
    statistic = gap / np.sqrt(friedman.variance / n_queries)
    if a.size == 0:
        return statistic, np.ones(0)
    return statistic, normal_range_sf(statistic, friedman.mean_ranks.size)


def signed_ranks(differences: Floats) -> SignedRanks:
    """Wilcoxon's signed-rank test of every row.

    Parameters
    ----------
    differences : float array, shape (pairs, queries)
        Ties and zeros are where differences are equal as numbers.
    """
    size = np.abs(differences)
    is_zero = size == 0
    n_zero = is_zero.sum(axis=1, keepdims=True)
    # Zeros tie at the bottom, so ranking everything and taking their number off ranks the rest alone.
    ranks = np.where(is_zero, 0.0, average_ranks(size.T).T - n_zero)
    positive = np.where(differences > 0, ranks, 0.0).sum(axis=1)
    total = ranks.sum(axis=1)

    variance = (ranks**2).sum(axis=1) / 4  # equals m(m+1)(2m+1)/24 less the correction for ties
    z = np.divide(positive - total / 2, np.sqrt(variance), out=np.zeros_like(total), where=variance > 0)
    p_value = 2 * ndtr(-np.abs(z))

    is_exact = differences.shape[1] - n_zero[:, 0] <= EXACT_UP_TO
    if is_exact.any():
        smaller = np.minimum(positive, total - positive)[is_exact]
        p_value[is_exact] = _exact_p_values(ranks[is_exact], smaller)
    return SignedRanks(positive=positive, total=total, p_value=p_value)


def _exact_p_values(ranks: Floats, smaller: Floats) -> Floats:
    """``min(1, 2 P(W⁺ <= smaller))`` when each rank counts towards W⁺ with probability one half.

    Average ranks are halves of integers, so twice the ranks are integers and the distribution of their sum is
    built up one rank at a time. Only its lower half is needed. Pairs without ties share their set of ranks,
    which is why distinct sets are worked out once.
    """
    doubled = np.sort(np.rint(2 * ranks).astype(np.int64), axis=1)[:, ::-1][:, :EXACT_UP_TO]
    distinct, which = np.unique(doubled, axis=0, return_inverse=True)
    which = which.reshape(-1)
    limit = np.rint(2 * smaller).astype(np.int64)
    n_cells = int(limit.max(initial=0)) + 1
    p_value = np.empty(smaller.size)
    rows_per_chunk = max(1, _CHUNK // n_cells)
    for start in range(0, len(distinct), rows_per_chunk):
        sets = distinct[start : start + rows_per_chunk]
        cumulative = np.cumsum(_half_sum_distribution(sets, n_cells=n_cells), axis=1)
        here = np.flatnonzero((which >= start) & (which < start + len(sets)))
        p_value[here] = 2 * cumulative[which[here] - start, limit[here]]
    return np.minimum(p_value, 1.0)


def _half_sum_distribution(terms: Ints, *, n_cells: int) -> Floats:
    """Probabilities of the sums 0 .. n_cells-1 when each term of a row is in or out by the toss of a coin."""
    probability = np.zeros((len(terms), n_cells))
    probability[:, 0] = 1.0
    cells = np.arange(n_cells)
    for term in terms.T:
        source = cells - term[:, None]
        shifted = np.take_along_axis(probability, np.maximum(source, 0), axis=1)
        probability = (probability + np.where(source >= 0, shifted, 0.0)) / 2
    return probability
