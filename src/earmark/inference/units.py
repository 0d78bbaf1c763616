r"""Means over queries that are not independent of each other: their standard errors, and degrees of freedom.

Queries of one *unit* (the versions of one work, the questions of one user) tend to favour the same system. The mean
stays the mean over queries; only what is concluded from it counts units. With :math:`n_g` queries in unit :math:`g`,
:math:`n` in all, and :math:`U_g = \sum_{q \in g} (d_q - \bar d)`, the variance of the mean is estimated by

.. math:: V = \frac1{n^2} \sum_g \frac{U_g^2}{1 - n_g / n}

the cluster-robust variance with the correction CR2 [1]_, whose expectation is right where queries are independent after
all, and :math:`\bar d / \sqrt V` is referred to Student's t with Satterthwaite's degrees of freedom [1]_ [2]_,

.. math:: \nu = \frac{n^2}{\sum_g n_g^2 + (\sum_g a_g)^2 - \sum_g a_g^2}, \qquad a_g = \frac{n_g^2}{n - n_g}

Where every query is a unit, :math:`V = s^2/n` and :math:`\nu = n - 1`: Student's t-test, to the bit. One large unit
among small ones leaves few degrees of freedom, as it should.

**A guarded standard error** (:func:`guarded_spread`) is for statements about many rows at once. Where two systems are
nearly alike, few queries may happen not to show any difference, and a standard error of 0 says too much. The largest
deviation :math:`R` of any query of any row from its mean is known to occur, so every row counts as if one half of a
query more had deviated by it:

.. math:: V' = V + \frac{R^2 / 2}{G (G - 1)}

with :math:`G` units, and :math:`R` the largest :math:`|G U_g / n|`. The half was chosen on made-up collections and on
half of the queries of MIREX 2011, so that intervals of ten systems hold together;
``benchmarks/honesty/comparisons.py`` prints how often they do elsewhere.

References
----------
.. [1] R. M. Bell, D. F. McCaffrey (2002). Bias reduction in standard errors for linear regression with multi-stage
   samples. Survey Methodology 28, 169-181.
.. [2] J. E. Pustejovsky, E. Tipton (2018). Small-sample methods for cluster-robust variance estimation and hypothesis
   testing in fixed effects models. J. Bus. Econ. Stat. 36, 672-683.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError
from earmark.inference.effect_sizes import standard_deviation

# Sums that cancel but for rounding are none.
_ROUNDING = 1e-12
_QUERIES_MORE = 0.5


@dataclass(frozen=True, eq=False)
class Units:
    """Which queries belong together.

    Parameters
    ----------
    number : ndarray of int, shape (queries,)
        The unit of every query, from 0 in the order of appearance.

    Raises
    ------
    ParameterError
        With one unit alone.
    """

    number: Ints

    def __post_init__(self) -> None:
        if self.count < 2:
            raise ParameterError(f"units that are independent of each other have to be two or more, got {self.count}")

    @classmethod
    def of(cls, number: npt.ArrayLike | None, *, n_queries: int) -> Units:
        """Return units by their numbers, or one for every query."""
        return cls(np.arange(n_queries) if number is None else np.asarray(number, dtype=np.int64))

    @cached_property
    def size(self) -> Ints:
        """How many queries every unit has, shape (units,)."""
        return np.bincount(self.number).astype(np.int64)

    @property
    def count(self) -> int:
        """How many units there are."""
        return self.size.size

    @property
    def single(self) -> bool:
        """Whether every query is a unit of its own."""
        return self.count == self.number.size

    @cached_property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom of the variance of a mean."""
        n = self.number.size
        if self.single:
            return n - 1
        size = self.size.astype(np.float64)
        across = size**2 / (n - size)
        return float(n**2 / ((size**2).sum() + across.sum() ** 2 - (across**2).sum()))

    def sums(self, values: Floats) -> Floats:
        """Add up values over the queries of every unit: from shape (..., queries) to (..., units)."""
        if self.single:
            return values
        order = np.argsort(self.number, kind="stable")
        starts = np.cumsum(self.size) - self.size
        return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1))

    def means(self, values: Floats) -> Floats:
        """Average values over the queries of every unit: from shape (..., queries) to (..., units)."""
        return values if self.single else self.sums(values) / self.size


def unit_deviations(values: Floats, units: Units) -> Floats:
    r"""Deviations of units from the mean over queries, :math:`G U_g / n`, shape (..., units).

    Of units of one query each, or of equal sizes, they are deviations of their means.
    """
    deviations = values - values.mean(axis=-1, keepdims=True)
    if units.single:
        return np.asarray(deviations)
    sums = units.sums(deviations) * (units.count / units.number.size)
    return np.where(np.abs(sums) <= _ROUNDING * np.abs(values).max(axis=-1, keepdims=True), 0.0, sums)


def spread(values: Floats, units: Units) -> Floats:
    r"""Return the standard deviation of every row whose quotient by :math:`\sqrt G` is its standard error, (rows,).

    Parameters
    ----------
    values : ndarray of float, shape (rows, queries)
    units : Units
    """
    if units.single:
        return standard_deviation(values)
    weighted = unit_deviations(values, units) ** 2 / (1.0 - units.size / units.number.size)
    return np.asarray(np.sqrt(weighted.mean(axis=-1)))


def guarded_spread(values: Floats, units: Units) -> Floats:
    """Return :func:`spread` with the guard, shape (rows,)."""
    largest = np.abs(unit_deviations(values, units)).max()
    return np.asarray(np.sqrt(spread(values, units) ** 2 + guard(largest, units.count)))


def guard(largest: npt.ArrayLike, units: int) -> Floats:
    """Return what a variance grows by, for the largest deviation of any unit of any row."""
    return np.asarray(_QUERIES_MORE * np.square(largest) / (units - 1))


def pseudo_values(values: Floats, units: Units, *, alpha: float) -> Floats:
    r"""One value for every unit, of the same mean as the queries, to be drawn in place of them, shape (rows, units).

    They are :math:`\bar d + \lambda G U_g / n`. The factor :math:`\lambda` makes their ordinary standard error, times
    the quantile of Student's t with :math:`G - 1` degrees of freedom, that of CR2 times its own quantile; of units of
    equal sizes it is 1, and the values are the units' means.
    """
    if units.single:
        return values
    deviations = unit_deviations(values, units)
    plain = standard_deviation(deviations)
    stretch = np.divide(spread(values, units), plain, out=np.ones_like(plain), where=plain > 0)
    stretch *= stdtrit(units.df, alpha / 2) / stdtrit(units.count - 1, alpha / 2)
    return np.asarray(values.mean(axis=-1, keepdims=True) + stretch[:, None] * deviations)
