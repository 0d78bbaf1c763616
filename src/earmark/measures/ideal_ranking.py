"""The ideal ranking: the known documents of a query, best first, that graded measures compare a list with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists


@dataclass(frozen=True, eq=False)
class Ideal:
    """The gains of every query's known documents in descending order.

    Parameters
    ----------
    queries : Segments
        Which gains belong to which query.
    gain : ndarray of float, shape (..., rows)
        Gains, descending within each query; unjudged documents count 0.
    """

    queries: Segments
    gain: Floats

    @cached_property
    def rank(self) -> Ints:
        """The rank of every gain in its query's ideal ranking."""
        return self.queries.position


def ideal_ranking(truth: GroundTruth, *, keep: NDArray[np.bool_] | None = None) -> Ideal:
    """Sort the known documents of every query by gain.

    Parameters
    ----------
    truth : GroundTruth
        What is known.
    keep : ndarray of bool, shape (rows,), optional
        Only these documents may appear in the ideal ranking.
    """
    gain = np.maximum(truth.gain, 0.0)
    query = truth.query_of_row
    if keep is not None:
        gain, query = gain[..., keep], query[keep]
    queries = Segments.from_counts(np.bincount(query, minlength=len(truth.queries)))
    if gain.ndim == 1:
        order = truth.best_first if keep is None else np.lexsort((-gain, query))
        return Ideal(queries, gain[order])
    # Query numbers stand further apart than gains can, so that one sort along the axis sorts within each query.
    apart = 2.0 * (float(gain.max(initial=0.0)) + 1.0)
    order = np.argsort(query * apart - gain, axis=-1, kind="stable")
    return Ideal(queries, np.take_along_axis(gain, order, axis=-1))


def pooled_rows(lists: JudgedLists) -> NDArray[np.bool_]:
    """Tell which rows of the truth some list retrieved."""
    pooled = np.zeros(lists.truth.documents.len(), dtype=bool)
    pooled[lists.row[lists.row >= 0]] = True
    return pooled
