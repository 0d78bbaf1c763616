r"""Average ranks and the range of normal samples: what Friedman's test and Tukey's comparisons are made of.

scipy has both in ``scipy.stats``, whose import takes longer than most evaluations; these need numpy and the normal
distribution function only, and are checked against scipy's.

The range of :math:`k` independent standard normal variables is at most :math:`q` with probability

.. math:: F(q; k) = k \int \varphi(z)\, [\Phi(z) - \Phi(z - q)]^{k-1}\, dz

(z being the largest of them), which is the studentized range with infinitely many degrees of freedom.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from earmark.data.arrays import Floats

# φ is below 1e-16 of its peak beyond ±8.6. For a smooth function that has died down at both ends, equal steps are as
# good as any quadrature: these are exact to about 1e-15.
_Z = np.linspace(-8.6, 8.6, 345)
_DENSITY = np.exp(-(_Z**2) / 2)
_DENSITY /= _DENSITY.sum()


def average_ranks(values: ArrayLike) -> Floats:
    """Rank the values of every column from 1, ascending; equal values share the mean of their ranks.

    Parameters
    ----------
    values : array_like of float, shape (n, ...)
        Ranked along the first axis.

    Examples
    --------
    >>> average_ranks([3.0, 1.0, 3.0]).tolist()
    [2.5, 1.0, 2.5]
    """
    given = np.asarray(values, dtype=np.float64)
    order = np.argsort(given, axis=0, kind="stable")
    ascending = np.take_along_axis(given, order, axis=0)
    place = np.arange(given.shape[0]).reshape(-1, *[1] * (given.ndim - 1))
    differs = ascending[1:] != ascending[:-1]
    edge = np.ones((1, *given.shape[1:]), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate((edge, differs)), place, 0), axis=0)
    ends = np.where(np.concatenate((differs, edge)), place, given.shape[0])
    last = np.minimum.accumulate(ends[::-1], axis=0)[::-1]
    ranks = np.empty(given.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    return ranks


def normal_range_sf(q: ArrayLike, k: int) -> Floats:
    """Probability that the range of k standard normal variables exceeds q.

    Parameters
    ----------
    q : array_like of float, 0 or more
    k : int, 2 or more

    Examples
    --------
    >>> float(normal_range_sf(3.3145, 3).round(4))
    0.05
    """
    width = np.asarray(q, dtype=np.float64)
    inside = (ndtr(_Z) - ndtr(_Z - width[..., None])) ** (k - 1)
    exceeds: Floats = np.clip(1.0 - k * (inside @ _DENSITY), 0.0, 1.0)
    return exceeds
