"""The greatest difference of two lists of one query, whatever its unjudged documents are: pure functions on arrays.

Arrays have one row per pair of lists and one column per unjudged document of the query. The least difference is minus
the greatest of the pair turned round, and a bound of a single score is that of its difference to an empty list.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats

_MOST_STEPS = 100


def most_of_sums(difference: Floats, weights: Floats, top: float) -> Floats:
    """Bound differences of weighted sums.

    Parameters
    ----------
    difference : ndarray of float, shape (pairs,)
        Their values if no unjudged document is worth anything.
    weights : ndarray of float, shape (pairs, documents)
        How much more a document counts in the first list than in the second.
    top : float
        What a document of top gain is worth.
    """
    return np.asarray(difference + top * np.maximum(weights, 0.0).sum(axis=1))


def most_of_ratios(
    difference: Floats,
    weights: Floats,
    known: Floats,
    top: float,
    ideal: Callable[[NDArray[np.integer]], Floats],
) -> Floats:
    r"""Bound differences of weighted sums that are divided by that of the best ranking.

    Dinkelbach's iteration: with a ratio :math:`c`, every layer of worth takes the unjudged documents that maximise
    :math:`N - c I`, and their ratio is the next :math:`c`.

    Parameters
    ----------
    difference, weights, top
        As for :func:`most_of_sums`; differences are of ratios.
    known : ndarray of float, shape (known documents,)
        What the judged documents of the query are worth.
    ideal : callable
        The weights of the ranks of the best ranking.
    """
    pairs, size = weights.shape
    known = known[known > 0]
    thresholds = np.unique(np.append(known, top))
    steps = np.diff(thresholds, prepend=0.0)
    summed = np.concatenate((np.zeros((pairs, 1)), np.cumsum(-np.sort(-weights, axis=1), axis=1)), axis=1)
    ranks = np.arange(1, known.size + size + 1)
    best = np.concatenate(([0.0], np.cumsum(ideal(ranks))))
    counts = np.array([np.count_nonzero(known >= threshold) for threshold in thresholds])
    # What so many more documents of a layer add to the best ranking, shape (layers, documents + 1).
    added = best[counts[:, None] + np.arange(size + 1)] - best[counts][:, None]
    start = float(steps @ best[counts])
    ratio, rows = difference.astype(np.float64), np.arange(pairs)
    for _ in range(_MOST_STEPS):
        above, below = difference * start, np.full(pairs, start)
        for step, more in zip(steps, added, strict=True):
            chosen = np.argmax(summed - ratio[:, None] * more, axis=1)
            above = above + step * summed[rows, chosen]
            below = below + step * more[chosen]
        again = np.divide(above, below, out=ratio.copy(), where=below > 0)
        again = np.maximum(again, ratio)
        if np.array_equal(again, ratio):
            break
        ratio = again
    return ratio


def most_of_firsts(first: Floats, second: Floats, of_first: Floats, of_second: Floats) -> Floats:
    """Bound differences of scores that depend on the first relevant document alone: one document makes the most.

    Parameters
    ----------
    first, second : ndarray of float, shape (pairs,)
        The scores of the two lists if no unjudged document is relevant.
    of_first, of_second : ndarray of float, shape (pairs, documents)
        The scores that a document alone would give them, 0 where they do not have it.
    """
    chances = np.maximum(first[:, None], of_first) - np.maximum(second[:, None], of_second)
    return np.asarray(np.maximum(first - second, chances.max(axis=1, initial=-np.inf)))
