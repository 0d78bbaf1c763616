r"""Stretches: consecutive queries whose items are worked on at once.

Whatever is of the size items × systems or items × effects is made for one stretch after the other and never as a whole,
so that memory does not grow with the number of queries. A stretch has up to :data:`STRETCH` items, or one query where
that has more. Stretches depend on the collection alone, and sums over them go from the first to the last: a result does
not depend on what is kept in memory and what is made again.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from earmark.data.arrays import Floats, Ints

STRETCH = 1 << 14
"""How many items a stretch has at most, unless a single query has more."""

LARGE = 1 << 24
"""Matrices with more entries are made stretch by stretch, or kept sparse."""

Columns = Floats | csc_array[Any]


@dataclass(frozen=True)
class Stretch:
    """Consecutive queries and their items.

    Attributes
    ----------
    queries : range
    items : slice
    """

    queries: range
    items: slice

    @property
    def size(self) -> int:
        """How many items there are."""
        return int(self.items.stop - self.items.start)


def query_stretches(offsets: Ints, most: int | None = None) -> tuple[Stretch, ...]:
    """Divide queries into stretches.

    Parameters
    ----------
    offsets : ndarray of int, shape (queries + 1,)
        The items of query q are ``offsets[q]`` to ``offsets[q + 1]``.
    most : int, optional
        How many items a stretch has at most; by default :data:`STRETCH`.

    Examples
    --------
    >>> [(one.queries, one.items) for one in query_stretches(np.array([0, 3, 5, 9]), 5)]
    [(range(0, 2), slice(0, 5, None)), (range(2, 3), slice(5, 9, None))]
    """
    size, last, first, found = most or STRETCH, offsets.size - 1, 0, []
    while first < last:
        end = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        end = min(max(end, first + 1), last)
        found.append(Stretch(range(first, end), slice(int(offsets[first]), int(offsets[end]))))
        first = end
    return tuple(found)


# The last large weights by column, while they are in use: every look at a campaign asks for the same.
_last: list[tuple[weakref.ref[Any], Columns]] = []


def by_column(weights: Any) -> Columns:
    """Return weights, shape (sums, items), in a form whose columns are quick to get: dense, or sparse where large."""
    if not issparse(weights):
        return np.asarray(weights, dtype=np.float64)
    if isinstance(weights, csc_array):
        return weights
    sparse: Any = weights
    if sparse.shape[0] * sparse.shape[1] <= LARGE:
        return np.asarray(sparse.toarray(), dtype=np.float64)
    for known, columns in tuple(_last):
        if known() is sparse:
            return columns
    made: Columns = sparse.tocsc()
    _last[:] = [(weakref.ref(sparse, lambda _: _last.clear()), made)]
    return made


def dense_columns(weights: Columns, items: slice) -> Floats:
    """Return consecutive columns of weights, shape (sums, items of the slice)."""
    if isinstance(weights, np.ndarray):
        dense: Floats = weights[:, items]
        return dense
    first, last = weights.indptr[items.start], weights.indptr[items.stop]
    columns = np.zeros((weights.shape[0], items.stop - items.start))
    of = np.repeat(np.arange(columns.shape[1]), np.diff(weights.indptr[items.start : items.stop + 1]))
    columns[weights.indices[first:last], of] = weights.data[first:last]
    return columns
