"""Scores in, paired differences out: the ground every test between systems stands on.

A score matrix has one row per system and one column per query, higher is better. Systems are compared on the
same queries, so all tests work on the paired differences ``scores[a] - scores[b]`` of every pair ``a < b``.

**Why the differences are rounded.** Retrieval scores are sums of a few gains, so exact ties are common and
mean something: a query on which two systems are equally good says nothing about which is better. In binary
floating point ``0.3 - 0.1`` and ``0.2 - 0.0`` are different numbers, and a rank test, a sign-flip test or a
count of ties would take that noise for information. Scores and differences are therefore rounded to multiples
of a *resolution*, 2⁻⁴⁰ (about 10⁻¹²) of the largest score: far above the noise, far below any difference that
was measured. A power of two makes the rounding itself exact. Sums over n queries that differ by no more than n
times the resolution are equal for all that is known, and the resampling tests count them so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from earmark.errors import ParameterError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_RESOLUTION_BITS = 40


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """Per-query differences of every pair of systems.

    Attributes
    ----------
    a, b : int array, shape (pairs,)
        Indices of the two systems, ``a < b``, in the order (0, 1), (0, 2), ..., (1, 2), ...
    values : float array, shape (pairs, queries)
        ``scores[a] - scores[b]``, rounded as described above.
    resolution : float
        What the values are multiples of.
    """

    a: Ints
    b: Ints
    values: Floats
    resolution: float


def check_scores(scores: npt.ArrayLike) -> Floats:
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


def score_resolution(scores: Floats) -> float:
    """Smallest difference of scores that is not taken for rounding noise, a power of two."""
    _, exponent = np.frexp(np.abs(scores).max())
    return max(float(np.ldexp(1.0, int(exponent) - _RESOLUTION_BITS)), float(np.finfo(np.float64).tiny))


def round_to_multiples(values: Floats, resolution: float) -> Floats:
    """Round to the nearest multiples of `resolution`."""
    return np.asarray(np.rint(values / resolution) * resolution, dtype=np.float64)


def paired_differences(scores: Floats) -> PairedDifferences:
    """Differences per query of every pair of systems ``a < b``.

    Parameters
    ----------
    scores : float array, shape (systems, queries)
        As returned by :func:`check_scores`.
    """
    a, b = np.triu_indices(len(scores), k=1)
    resolution = score_resolution(scores)
    return PairedDifferences(
        a=a.astype(np.int64),
        b=b.astype(np.int64),
        values=round_to_multiples(scores[a] - scores[b], resolution),
        resolution=resolution,
    )
