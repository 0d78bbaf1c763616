"""Scores in, paired differences out: the ground every test between systems stands on.

A score matrix has one row per system and one column per query, higher is better. Systems are compared on the
same queries, so all tests work on the paired differences ``scores[a] - scores[b]`` of every pair ``a < b``.

**Why the differences are rounded.** Retrieval scores are sums of a few gains, so exact ties are common and
mean something: a query on which two systems are equally good says nothing about which is better. In binary
floating point ``0.3 - 0.1`` and ``0.2 - 0.0`` are different numbers, and a rank test, a sign-flip test or a
count of ties would take that noise for information. Scores and differences are therefore rounded to a grid of
2⁻⁴⁰ (about 10⁻¹²) of the largest score. The grid is a power of two and coarse enough that sums over all
queries are *exact* in double precision, whatever the order of summation: statistics that are equal compare
as equal, and no test needs a tolerance of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earmark.errors import ParameterError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_GRID_BITS = 40  # the grid is 2**-40 of the largest score: far below any real difference, far above rounding noise
_EXACT_BITS = 52  # a sum of integers below 2**52 is exact in double precision


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """Per-query differences of every pair of systems.

    Attributes
    ----------
    a, b : int array, shape (pairs,)
        Indices of the two systems, ``a < b``, in the order (0, 1), (0, 2), ..., (1, 2), ...
    values : float array, shape (pairs, queries)
        ``scores[a] - scores[b]`` on the grid described above.
    """

    a: IntArray
    b: IntArray
    values: FloatArray


def check_scores(scores: npt.ArrayLike) -> FloatArray:
    """Return `scores` as a float array, or say why tests between systems cannot use it.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
        Finite scores of at least one system on at least two queries.

    Raises
    ------
    ParameterError
        If the shape is wrong, there are fewer than two queries, or a score is not a finite number.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ParameterError(f"scores must be a matrix of shape (systems, queries), got {matrix.ndim} dimension(s)")
    n_systems, n_queries = matrix.shape
    if n_systems < 1:
        raise ParameterError("scores must have at least one system (row), got none")
    if n_queries < 2:
        raise ParameterError(f"tests between systems need at least two queries, got {n_queries}")
    bad = ~np.isfinite(matrix)
    if bad.any():
        system, query = np.argwhere(bad)[0]
        raise ParameterError(
            f"scores must be finite numbers, got {matrix[system, query]} for system {system} on query {query}"
            f" ({np.count_nonzero(bad)} such scores): drop those queries or give them a score first"
        )
    return matrix


def round_to_grid(values: FloatArray, *, largest: float, n_queries: int) -> FloatArray:
    """Round to multiples of a power of two, so fine that only noise is lost and sums over queries stay exact.

    Parameters
    ----------
    values : float array
        Scores or differences of scores.
    largest : float
        Largest absolute score.
    n_queries : int
        Number of terms in the sums that must stay exact.
    """
    _, exponent = np.frexp(largest)
    bits = min(_GRID_BITS, _EXACT_BITS - (n_queries - 1).bit_length())
    shift = bits - int(exponent)
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, shift)), -shift), dtype=np.float64)


def paired_differences(scores: FloatArray) -> PairedDifferences:
    """Differences per query of every pair of systems ``a < b``.

    Parameters
    ----------
    scores : float array, shape (systems, queries)
        As returned by :func:`check_scores`.
    """
    n_systems, n_queries = scores.shape
    a, b = np.triu_indices(n_systems, k=1)
    largest = float(np.abs(scores).max())
    values = round_to_grid(scores[a] - scores[b], largest=largest, n_queries=n_queries)
    return PairedDifferences(a=a.astype(np.int64), b=b.astype(np.int64), values=values)
