"""Many comparisons at once: adjusted p-values, and groups of systems that cannot be told apart.

Fifty systems make 1,225 pairs, of which about 61 differ "significantly at .05" when all are equally good.
Two ways to keep such findings in check:

- **Holm** [1]_ bounds the family-wise error: the probability that *any* reported difference is false.
  It is never weaker than Bonferroni and asks nothing of how the tests depend on one another.
- **Benjamini–Hochberg** [2]_ bounds the false discovery rate: the expected *share* of reported differences
  that are false. More power, a weaker promise.

Verdicts on all pairs are hard to read, so they are summed up by *groups*: the longest stretches of the
ranking within which no two systems differ significantly. Written as letters, systems that share a letter are
not significantly different (a compact letter display [3]_). Where the verdict depends on the distance in the
ranking alone (Tukey's test on mean ranks) the groups say everything the pairs say. With the other tests a
pair can be indistinguishable across a pair that is not; the groups then stay on the safe side of what they
claim (members never differ significantly) and the pairs themselves hold the rest.

References
----------
.. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
.. [2] Y. Benjamini, Y. Hochberg (1995). Controlling the false discovery rate. J. R. Statist. Soc. B 57,
   289-300.
.. [3] H.-P. Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons.
   J. Comput. Graph. Statist. 13, 456-466.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from earmark.data.arrays import Bools, Floats, Ints
from earmark.errors import ParameterError

CorrectionName = Literal["holm", "bh", "none"]


def _check_p_values(p_values: npt.ArrayLike) -> Floats:
    vector = np.asarray(p_values, dtype=np.float64)
    if vector.ndim != 1:
        raise ParameterError(f"p-values must be a vector, got {vector.ndim} dimension(s)")
    if not ((vector >= 0) & (vector <= 1)).all():
        raise ParameterError("p-values must lie between 0 and 1")
    return vector


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values by Holm's step-down procedure.

    With the p-values sorted, ``p(1) <= ... <= p(m)``, the adjusted values are
    ``min(1, max over j <= i of (m - j + 1) * p(j))``.

    Parameters
    ----------
    p_values : array-like, shape (m,), in [0, 1]

    Returns
    -------
    float array, shape (m,), in [0, 1]
        In the order given. Rejecting where it is at most α keeps the family-wise error at most α.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _check_p_values(p_values)
    order = np.argsort(p, kind="stable")
    remaining = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(remaining * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values by the step-up procedure of Benjamini and Hochberg.

    With the p-values sorted, ``p(1) <= ... <= p(m)``, the adjusted values are
    ``min over j >= i of min(1, m / j * p(j))``.

    Parameters
    ----------
    p_values : array-like, shape (m,), in [0, 1]

    Returns
    -------
    float array, shape (m,), in [0, 1]
        In the order given. Rejecting where it is at most α keeps the false discovery rate at most α when the
        tests are independent or positively dependent.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.02]).tolist()
    [0.03, 0.04, 0.03]
    """
    p = _check_p_values(p_values)
    order = np.argsort(p, kind="stable")[::-1]
    rank = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(p.size / rank * p[order]), 1.0)
    return adjusted


def adjust_p_values(p_values: npt.ArrayLike, *, correction: CorrectionName) -> Floats:
    """Adjust p-values for the number of comparisons by the named correction."""
    if correction == "holm":
        return holm(p_values)
    if correction == "bh":
        return benjamini_hochberg(p_values)
    if correction == "none":
        return _check_p_values(p_values).copy()
    raise ParameterError(f"unknown correction {correction!r}, choose from {', '.join(get_args(CorrectionName))}")


def indistinguishable_groups(order: npt.ArrayLike, a: Ints, b: Ints, significant: Bools) -> tuple[tuple[int, ...], ...]:
    """Maximal stretches of the ranking within which no two systems differ significantly.

    Parameters
    ----------
    order : int array-like, shape (systems,)
        Systems from best to worst.
    a, b : int array, shape (pairs,)
        The pairs tested.
    significant : bool array, shape (pairs,)
        Whether each pair differs.

    Returns
    -------
    tuple of tuples of int
        Each group lists its systems from best to worst; groups are ordered by their best system and none is
        part of another. Every system is in at least one.
    """
    ranking = np.asarray(order, dtype=np.int64)
    n = ranking.size
    position = np.empty(n, dtype=np.int64)
    position[ranking] = np.arange(n)
    above = np.minimum(position[a], position[b])[significant]
    below = np.maximum(position[a], position[b])[significant]
    # A stretch that starts at s must end before the first system that differs from any member, and that
    # member may be any from s on: a running minimum from the bottom of the ranking.
    first_different = np.full(n, n, dtype=np.int64)
    np.minimum.at(first_different, above, below)
    end = np.minimum.accumulate(first_different[::-1])[::-1]
    is_maximal = np.diff(end, prepend=0) > 0
    return tuple(tuple(ranking[start : end[start]].tolist()) for start in np.flatnonzero(is_maximal).tolist())


def letter_display(groups: Sequence[Sequence[int]], *, n_systems: int) -> tuple[str, ...]:
    """Letters of every system: two systems that share one are not significantly different.

    Parameters
    ----------
    groups : sequence of sequences of int
        As returned by :func:`indistinguishable_groups`; the first group gets the letter ``a``.
    n_systems : int
        Number of systems.

    Returns
    -------
    tuple of str, length `n_systems`
        After ``z`` come ``A`` to ``Z``, then ``a2``, ``b2`` and so on.

    Examples
    --------
    >>> letter_display(((2, 0), (0, 1)), n_systems=3)
    ('ab', 'b', 'a')
    """
    letters = [""] * n_systems
    for index, group in enumerate(groups):
        lap, place = divmod(index, len(string.ascii_letters))
        letter = string.ascii_letters[place] + (str(lap + 1) if lap else "")
        for system in group:
            letters[system] += letter
    return tuple(letters)
