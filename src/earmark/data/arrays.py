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
        """Add up each segment from its start to every element, that element included."""
        running = np.cumsum(values, axis=-1, dtype=np.float64)
        padded = np.concatenate((np.zeros((*running.shape[:-1], 1)), running), axis=-1)
        before: Floats = padded[..., self.offsets[:-1]]
        return running - self.spread(before)

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
