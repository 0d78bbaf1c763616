"""Array types, and sums over consecutive segments of an array, which all measures share.

Lists differ in how many known documents they hold, so their hits are stored one after the other. Everything here
works along the last axis and leaves leading axes (samples) alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


_TABLE_CELLS = 1 << 20
# Above it, whole numbers may not be added up exactly.
_EXACT = 2.0**53


def _are_small_integers(values: Floats) -> bool:
    """Tell whether all sums of these values are exact."""
    if not values.size:
        return True
    with np.errstate(invalid="ignore"):
        whole = bool(np.all(values == np.rint(values)))
    return whole and bool(np.abs(values).max() * values.shape[-1] < _EXACT)


@dataclass(frozen=True, eq=False)
class Segments:
    """A partition of an axis into consecutive stretches, some of them possibly empty.

    Parameters
    ----------
    offsets : ndarray of int, shape (segments + 1,)
        Segment ``i`` is ``offsets[i]:offsets[i + 1]``.
    """

    offsets: NDArray[np.int64]

    @classmethod
    def from_counts(cls, counts: NDArray[np.integer]) -> Segments:
        """Build from the length of every segment."""
        return cls(np.concatenate(([0], np.cumsum(counts, dtype=np.int64))))

    @property
    def size(self) -> int:
        """How many segments there are."""
        return self.offsets.size - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """The length of every segment."""
        return np.diff(self.offsets)

    @cached_property
    def of_element(self) -> NDArray[np.int64]:
        """The segment every element is in."""
        return np.repeat(np.arange(self.size), self.counts)

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """The place of every element in its segment, from 1."""
        return np.arange(1, int(self.offsets[-1]) + 1) - np.repeat(self.offsets[:-1], self.counts)

    def sum(self, values: Floats | NDArray[np.bool_]) -> Floats:
        """Add up each segment: (..., elements) to (..., segments); an empty one sums to 0."""
        filled = np.flatnonzero(self.counts)
        sums = np.zeros((*values.shape[:-1], self.size))
        if filled.size:
            sums[..., filled] = np.add.reduceat(values.astype(np.float64), self.offsets[filled], axis=-1)
        return sums

    def cumsum(self, values: Floats | NDArray[np.bool_]) -> Floats:
        """Add up each segment from its start to every element, that element included.

        What comes out for a segment depends on nothing but its elements, to the bit.
        """
        if values.dtype != bool and not _are_small_integers(values.astype(np.float64, copy=False)):
            return self._cumsum_apart(values.astype(np.float64, copy=False))
        # Sums of whole numbers are exact, so one running sum may go through all segments.
        running = np.cumsum(values, axis=-1, dtype=np.float64)
        padded = np.concatenate((np.zeros((*running.shape[:-1], 1)), running), axis=-1)
        before: Floats = padded[..., self.offsets[:-1]]
        return running - self.spread(before)

    def _cumsum_apart(self, values: Floats) -> Floats:
        """Add up segments of similar length as rows of a table."""
        sums = np.zeros(values.shape)
        counts = self.counts
        order = np.argsort(counts, kind="stable")
        order = order[counts[order] > 0]
        start = 0
        while start < order.size:
            # As many segments as fit in a table of some size, at least one.
            most = max(1, _TABLE_CELLS // (int(counts[order[start]]) * max(1, values[..., :1].size)))
            chosen = order[start : start + most]
            chosen = chosen[counts[chosen] <= 2 * counts[chosen[0]]]
            place = np.arange(int(counts[chosen[-1]]))
            filled = place < counts[chosen, None]
            at = np.where(filled, self.offsets[chosen, None] + place, 0)
            table = np.cumsum(np.where(filled, values[..., at], 0.0), axis=-1)
            sums[..., at[filled]] = table[..., filled]
            start += chosen.size
        return sums

    def spread(self, per_segment: Floats) -> Floats:
        """Give every element its segment's value."""
        return np.repeat(per_segment, self.counts, axis=-1)

    def minimum(self, values: Floats, *, empty: float) -> Floats:
        """Return the least element of each segment, or ``empty`` where it has none."""
        filled = np.flatnonzero(self.counts)
        least = np.full((*values.shape[:-1], self.size), empty)
        if filled.size:
            least[..., filled] = np.minimum.reduceat(values, self.offsets[filled], axis=-1)
        return least
