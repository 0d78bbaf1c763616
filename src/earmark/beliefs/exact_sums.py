r"""Sums without rounding errors, from which a part can be taken again.

Multiples of a common power of two, the *spacing*, are added and subtracted without any rounding error as long as all
sums stay below :math:`2^{53}` times that power. What is added is therefore rounded to such multiples first. So the sum
over all queries does not depend on the order in which they came to be judged, and a query's part can be replaced by
another.
"""

from __future__ import annotations

import copy

import numpy as np

from earmark.data.arrays import Floats


def spacing_for(bound: Floats) -> Floats:
    """Return the spacing for sums that are bounded, with room for both the old and the new part of a query."""
    return np.asarray(np.exp2(np.ceil(np.log2(np.where(bound > 0, bound, 1.0))) - 51.0))


class ExactSum:
    """A sum of arrays, 0 at first.

    Parameters
    ----------
    shape : tuple of int
        Of the arrays.
    spacing : ndarray of float or None
        Powers of two that broadcast to that shape, in units of which arrays are added; None for an ordinary sum with
        ordinary rounding errors, in units of 1.
    """

    def __init__(self, shape: tuple[int, ...], spacing: Floats | None) -> None:
        self._shape, self._spacing = shape, spacing
        self._units: Floats | None = None

    @property
    def value(self) -> Floats:
        """The sum."""
        if self._units is None:
            return np.broadcast_to(0.0, self._shape)
        return self._units.copy() if self._spacing is None else self._units * self._spacing

    def copy(self) -> ExactSum:
        """Return a sum that goes on by itself."""
        one = copy.copy(self)
        one._units = None if self._units is None else self._units.copy()
        return one

    def add(self, units: Floats) -> None:
        """Add an array, which is rounded in place."""
        self._round(units)
        if self._units is None:
            # Plus 0, so that no sum is -0 or 0 as it came about.
            self._units = units + 0.0
        else:
            self._units += units

    def subtract(self, units: Floats) -> None:
        """Take an array that was added before, which is rounded in place."""
        assert self._units is not None
        self._round(units)
        self._units -= units

    def _round(self, units: Floats) -> None:
        if self._spacing is not None:
            np.rint(units, out=units)
