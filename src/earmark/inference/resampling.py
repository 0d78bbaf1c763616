"""Tests that make their own null distribution: paired sign flips and the paired bootstrap.

**Sign flips** (Fisher's randomisation test). If two systems are exchangeable, the sign of each per-query
difference is a coin toss. With ``T = |Σ d|`` observed and the same under random signs, T*, the p-value is
``(1 + #{T* >= T}) / (1 + n_resamples)``, which is valid at any number of resamples: the observed signs are
one of the draws. The number of queries on which the systems differ bounds how small it can get (2 / 2^m).

**Bootstrap.** Queries are drawn with replacement. The p-value uses the shift method with a studentized
statistic [2]_ [3]_: the differences are shifted to have mean zero, and ``|t*| >= |t|`` counted, where
``t* = (mean* - mean) / (sd*/sqrt(n))`` and ``t = mean / (sd/sqrt(n))``. The interval for the mean difference
is BCa: bias-corrected and accelerated percentiles [4]_. Both lean on the sample standing for the population;
below some 20 queries intervals come out too short.

The same flips, and the same draws of queries, serve all pairs at once, and sums are matrix products over
chunks of bounded size. Random numbers are drawn resample by resample: with as many resamples from the same
seed, the p-value of a pair does not depend on which other pairs are tested with it.

References
----------
.. [1] M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for
   information retrieval evaluation. CIKM, 623-632.
.. [2] T. Sakai (2006). Evaluating evaluation metrics based on the bootstrap. SIGIR, 525-532.
.. [3] B. Efron, R. J. Tibshirani (1993). An Introduction to the Bootstrap, chapter 16.
.. [4] B. Efron (1987). Better bootstrap confidence intervals. JASA 82, 171-185.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from earmark.inference.effect_sizes import ratio_or_infinite, standard_deviation
from earmark.inference.pairs import FloatArray

_CHUNK = 1 << 22  # numbers held at once in any one intermediate matrix (32 MB)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Paired bootstrap of every pair; arrays of shape (pairs,).

    Attributes
    ----------
    p_value : float array, in (0, 1]
        Two-sided, shift method on the studentized difference.
    low, high : float array
        BCa interval for the mean difference.
    """

    p_value: FloatArray
    low: FloatArray
    high: FloatArray


def sign_flip_p_values(differences: FloatArray, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Two-sided p-values of the paired sign-flip test of every row.

    Parameters
    ----------
    differences : float array, shape (pairs, queries)
        On the grid of :mod:`earmark.inference.pairs`, so that equal sums are equal as numbers.
    n_resamples : int
        Number of random assignments of signs, shared by all pairs.
    rng : numpy.random.Generator

    Returns
    -------
    float array, shape (pairs,), in (0, 1]
    """
    n_pairs, n_queries = differences.shape
    observed = np.abs(differences.sum(axis=1))[:, None]
    at_least = np.zeros(n_pairs, dtype=np.int64)
    step = max(1, _CHUNK // max(n_pairs, n_queries))
    for start in range(0, n_resamples, step):
        draws = min(step, n_resamples - start)
        signs = np.where(rng.random((draws, n_queries)) < 0.5, -1.0, 1.0)
        flipped = differences @ signs.T
        at_least += np.count_nonzero(np.abs(flipped, out=flipped) >= observed, axis=1)
    return (at_least + 1) / (n_resamples + 1)


def bootstrap_differences(
    differences: FloatArray, *, n_resamples: int, alpha: float, rng: np.random.Generator
) -> Bootstrap:
    """Bootstrap the mean difference of every row over queries.

    Parameters
    ----------
    differences : float array, shape (pairs, queries)
    n_resamples : int
        Number of samples of queries, shared by all pairs.
    alpha : float, in (0, 1)
        The intervals have confidence ``1 - alpha``.
    rng : numpy.random.Generator

    Returns
    -------
    Bootstrap
        Where all differences of a pair are the same number c the interval is [c, c], and the p-value 1 if c
        is zero, ``1 / (n_resamples + 1)`` otherwise.
    """
    n_pairs, n_queries = differences.shape
    counts = _query_counts(n_queries, n_resamples=n_resamples, rng=rng)
    p_value, low, high = np.ones(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    step = max(1, _CHUNK // n_resamples)
    for start in range(0, n_pairs, step):
        rows = slice(start, start + step)
        sums, at_least = _resampled_sums(differences[rows], counts)
        p_value[rows] = (at_least + 1) / (n_resamples + 1)
        low[rows], high[rows] = _bca_interval(differences[rows], sums, alpha=alpha)
    return Bootstrap(p_value=p_value, low=low, high=high)


def _query_counts(n_queries: int, *, n_resamples: int, rng: np.random.Generator) -> npt.NDArray[np.unsignedinteger]:
    """How often each query is drawn, shape (n_resamples, n_queries), in the smallest integers."""
    counts = np.empty((n_resamples, n_queries), dtype=np.min_scalar_type(n_queries))
    step = max(1, _CHUNK // n_queries)
    for start in range(0, n_resamples, step):
        draws = min(step, n_resamples - start)
        drawn = rng.integers(0, n_queries, size=(draws, n_queries))
        cells = drawn + np.arange(draws)[:, None] * n_queries
        counts[start : start + draws] = np.bincount(cells.ravel(), minlength=draws * n_queries).reshape(
            draws, n_queries
        )
    return counts


def _resampled_sums(
    differences: FloatArray, counts: npt.NDArray[np.unsignedinteger]
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the sum of every resample, shape (pairs, resamples), and how many have ``|t*| >= |t|``.

    With S the sum of the differences, v their variance (divisor n), S* the sum of a resample and Q* its sum
    of squares about the mean of the sample, ``|t*| >= |t|`` is ``(S* - S)² >= c Q*`` for
    ``c = n S² / (n² v + S²)``. There is no division per resample, so one without variance needs no special treatment.
    """
    n_pairs, n_queries = differences.shape
    n_resamples = len(counts)
    total = differences.sum(axis=1)[:, None]
    variance = standard_deviation(differences)[:, None] ** 2 * (n_queries - 1) / n_queries
    # Squares are not exact, so statistics that are equal but for rounding are made to count.
    threshold = ratio_or_infinite(n_queries * total**2 * (1 - 1e-10), n_queries**2 * variance + total**2)
    scaled_squares = threshold * (differences - total / n_queries) ** 2
    sums = np.empty((n_pairs, n_resamples))
    at_least = np.zeros(n_pairs, dtype=np.int64)
    step = max(1, _CHUNK // max(n_pairs, n_queries))
    for start in range(0, n_resamples, step):
        weights = counts[start : start + step].astype(np.float64).T
        chunk = sums[:, start : start + step]
        np.matmul(differences, weights, out=chunk)
        at_least += np.count_nonzero((chunk - total) ** 2 >= scaled_squares @ weights, axis=1)
    at_least[(variance[:, 0] == 0) & (total[:, 0] != 0)] = 0  # t is infinite: nothing reaches it
    return sums, at_least


def _bca_interval(differences: FloatArray, sums: FloatArray, *, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Bias-corrected and accelerated percentiles of the resampled means; sorts `sums` in place."""
    n_queries, n_resamples = differences.shape[1], sums.shape[1]
    total = differences.sum(axis=1)
    below = np.count_nonzero(sums < total[:, None], axis=1)
    equal = np.count_nonzero(sums == total[:, None], axis=1)
    share_below = np.clip((below + equal / 2) / n_resamples, 0.5 / n_resamples, 1 - 0.5 / n_resamples)
    bias = ndtri(share_below)

    centred = differences - total[:, None] / n_queries
    cubes, squares = (centred**3).sum(axis=1), (centred**2).sum(axis=1)
    acceleration = np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)

    sums.sort(axis=1)

    def bound(normal_quantile: float) -> FloatArray:
        z = bias + normal_quantile
        level = ndtr(bias + z / np.maximum(1 - acceleration * z, 1e-9))
        place = level * (n_resamples - 1)
        lower = np.floor(place).astype(np.int64)
        upper = np.minimum(lower + 1, n_resamples - 1)
        pair = np.arange(len(sums))
        at_lower = sums[pair, lower]
        return np.asarray((at_lower + (place - lower) * (sums[pair, upper] - at_lower)) / n_queries)

    return bound(float(ndtri(alpha / 2))), bound(float(ndtri(1 - alpha / 2)))
