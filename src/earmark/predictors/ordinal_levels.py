"""The levels that models predict: those of the scale, or ten where the scale has too many.

An ordinal model has one intercept per level, so a scale of 101 levels would ask for 100 of them, most for levels that
hardly anyone gave. Urbano and Schedl [1]_ therefore break the Fine scale down to ten levels, worth 0, 11, ..., 99. The
same is done here with every scale of more than `MOST_LEVELS` levels and with scales that have none: the levels are
0, 11, ..., 99 hundredths of the scale's top. All other scales keep their own levels.

A gain belongs to the level nearest to it, and halfway between two to the higher. On the Fine scale that is
round(g / 11). Only models see these levels: a judged item keeps the gain it was given.

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4.2.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from earmark.data.arrays import Ints
from earmark.data.scales import Scale
from earmark.errors import ParameterError

MOST_LEVELS = 11
_HUNDREDTHS = tuple(range(0, 100, 11))


def model_levels(scale: Scale) -> tuple[float, ...]:
    """Return the gains of the levels that models on a scale predict, ascending.

    Raises
    ------
    ParameterError
        If the scale only orders and its gains are no amounts.

    Examples
    --------
    >>> from earmark.data.scales import BROAD, FINE
    >>> model_levels(BROAD)
    (0.0, 1.0, 2.0)
    >>> model_levels(FINE)
    (0.0, 11.0, 22.0, 33.0, 44.0, 55.0, 66.0, 77.0, 88.0, 99.0)
    """
    if scale.ordered_only:
        raise ParameterError(f"the scale '{scale}' only orders documents: there are no gains to predict")
    if scale.continuous or len(scale.gains) > MOST_LEVELS:
        return tuple(scale.top * hundredths / 100 for hundredths in _HUNDREDTHS)
    return scale.gains


def to_levels(scale: Scale, gains: ArrayLike) -> Ints:
    """Return the level nearest to every gain, as an index into `model_levels`.

    Parameters
    ----------
    scale : Scale
    gains : array_like of float, from 0 to the scale's top
        Also what lies between two levels, such as the mean of several assessors.

    Raises
    ------
    ParameterError
        If a gain is not a number between 0 and the top, for example because the item is not judged.

    Examples
    --------
    >>> from earmark.data.scales import FINE
    >>> to_levels(FINE, [0, 5, 6, 94, 100]).tolist()
    [0, 0, 1, 9, 9]
    """
    levels = np.array(model_levels(scale))
    values = np.asarray(gains, dtype=np.float64)
    off = ~((values >= 0) & (values <= scale.top))
    if off.any():
        raise ParameterError(f"a gain on the scale '{scale}' is from 0 to {scale.top:g}, got {values[off].flat[0]:g}")
    halfway = (levels[:-1] + levels[1:]) / 2
    return np.searchsorted(halfway, values, side="right").astype(np.int64, copy=False)
