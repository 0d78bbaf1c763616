"""What some measures are made of, so that others can reason about gains that are not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats


@dataclass(frozen=True)
class WeightedSum:
    r"""A score :math:`\sum_r w_r\, u(g_r)`, or this sum divided by its value for the best ranking.

    Parameters
    ----------
    weights : callable
        The weights of ranks.
    worth : callable
        What gains are worth: it never falls, and no gain is worth nothing.
    ideal : callable, optional
        The weights of the ranks of the best ranking of all known documents; without it, nothing is divided by.
    """

    weights: Callable[[NDArray[np.integer]], Floats]
    worth: Callable[[Floats], Floats]
    ideal: Callable[[NDArray[np.integer]], Floats] | None = None
