r"""Decomposition of the ranked probability score into reliability, resolution and uncertainty.

The score itself is in :mod:`earmark.diagnose.proper_scores`.

Forecasts are put into groups within which they are (nearly) equal. With :math:`y_k` the cumulative forecast that
represents group k, :math:`\bar o_k` the cumulative share of outcomes in the group, and :math:`\bar o` that of all
items, and squares summed over the levels but the last and divided by their number [1]_,

.. math::
    REL = \sum_k \tfrac{n_k}{N} (y_k - \bar o_k)^2, \quad
    RES = \sum_k \tfrac{n_k}{N} (\bar o_k - \bar o)^2, \quad
    UNC = \bar o (1 - \bar o)

*Reliability* (lower is better; the reliability error of Buckers [2]_, Eq. 3.1) is the distance between forecasts
and outcomes, *resolution* (higher is better) how much the outcomes differ between groups, *uncertainty* the score of a
constant forecast of the overall shares. The identity is

.. math:: RPS = REL - RES + UNC + WGV - WGC

where the last two vanish if the forecasts within a group are equal [3]_: with :math:`f_i` the forecast and
:math:`o_i` the outcome of item i in group k, :math:`WGV = \tfrac1N \sum (f_i - y_k)^2` and
:math:`WGC = \tfrac2N \sum (f_i - y_k)(o_i - y_k)`.

**Groups.** Forecasts of a model are rarely equal, so Buckers first rounds probabilities to a few values. As most
probabilities are small, the values follow the quantiles of all probabilities of any level of any item; the rounded
probabilities of an item are then divided by their sum. Forecasts that are equal after rounding form a group. Groups
below a minimum size may be dropped together with their items. Buckers does not say which values these are: here the
probabilities are cut at quantiles into equal parts, one per value (equal probabilities stay together, so there may be
fewer parts), and each is rounded to the mean of its part. In Buckers [2]_ the rounded forecast represents the group
(``representative="rounded"``), so that its reliability includes the rounding error; by default here, the mean forecast
of the group represents it.

**Bias of small groups.** The share of outcomes in a group of n has a sampling variance of :math:`p (1 - p) / n`, which
is part of both REL and RES. Therefore Buckers compares reliabilities on equal numbers of forecasts only. The
``corrected_*`` parts have the expectation of this variance subtracted [4]_; they have the same sum.

References
----------
.. [1] A. H. Murphy (1972). Scalar and vector partitions of the ranked probability score. Mon. Weather Rev. 100,
   701-708.
.. [2] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; section 3.1.2.
.. [3] D. B. Stephenson, C. A. S. Coelho, I. T. Jolliffe (2008). Two extra components in the Brier score decomposition.
   Weather Forecast. 23, 752-757.
.. [4] C. A. T. Ferro, T. E. Fricker (2012). A bias-corrected decomposition of the Brier score. Q. J. R. Meteorol. Soc.
   138, 1954-1960.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, Summary, facts, written_cells
from earmark.diagnose.proper_scores import check_forecasts, check_probabilities, cumulative
from earmark.errors import ParameterError
from earmark.wording import counted

Representative = Literal["mean", "rounded"]

# Rounded forecasts come out of divisions: differences beyond this many decimals are rounding error.
_EQUAL_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class ForecastGroups:
    """Which forecasts count as equal.

    Attributes
    ----------
    group_of : ndarray of int, shape (items,)
        The group of every item, 0..groups-1.
    rounded : ndarray of float, shape (groups, levels)
        The rounded forecast that the members of a group share.
    values : ndarray of float, shape (values,)
        The values probabilities were rounded to, before those of an item were divided by their sum; empty without
        rounding.
    """

    group_of: Ints
    rounded: Floats
    values: Floats

    @property
    def sizes(self) -> Ints:
        """Number of items of every group, shape (groups,)."""
        return np.bincount(self.group_of, minlength=len(self.rounded)).astype(np.int64)

    def take(self, items: npt.NDArray[np.int64] | Bools) -> ForecastGroups:
        """Keep some of the items (indices or a mask); groups keep their numbers, also if they become empty."""
        return ForecastGroups(group_of=self.group_of[items], rounded=self.rounded, values=self.values)


def group_forecasts(probabilities: npt.ArrayLike, *, n_values: int | None = 10) -> ForecastGroups:
    """Group forecasts that are equal once probabilities are rounded to a few values; see the head of this module.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    n_values : int or None, at least 1
        How many values to round to, at most; None groups forecasts that are equal as they are.

    Examples
    --------
    >>> groups = group_forecasts([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], n_values=2)
    >>> groups.values.round(2).tolist(), groups.group_of.tolist(), groups.rounded.round(2).tolist()
    ([0.2, 0.8], [1, 1, 0], [[0.2, 0.8], [0.8, 0.2]])
    """
    matrix = check_probabilities(probabilities)
    if n_values is None:
        rounded, values = matrix, np.empty(0)
    elif n_values < 1:
        raise ParameterError(f"probabilities are rounded to at least one value, got n_values={n_values}")
    else:
        # Cuts are probabilities that occur, each the last of its part, so that no part but the last can be empty.
        cuts = np.unique(np.quantile(matrix, np.arange(1, n_values) / n_values, method="inverted_cdf"))
        part = np.searchsorted(cuts, matrix).ravel()
        values = np.bincount(part, weights=matrix.ravel()) / np.bincount(part)
        rounded = values[part].reshape(matrix.shape)
        # Some probability of the row is positive, hence the mean of its part, hence this sum.
        rounded = rounded / rounded.sum(axis=1, keepdims=True)
    distinct, group_of = np.unique(np.round(rounded, _EQUAL_DECIMALS), axis=0, return_inverse=True)
    return ForecastGroups(group_of=group_of.reshape(-1).astype(np.int64), rounded=distinct, values=values)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreParts(Display):
    """The ranked probability score of the items in groups that are large enough, and its parts.

    Attributes
    ----------
    score : float, 0..1
        ``reliability - resolution + uncertainty + within_variance - within_covariance``.
    reliability, resolution, uncertainty : float
        See the head of the module.
    within_variance, within_covariance : float
        The two terms for forecasts that differ within their group.
    n_items, n_kept : int
        Items given, and items in groups that were not dropped: all numbers here are about the latter.
    sizes : ndarray of int, shape (groups,)
        Items in every group that was kept.
    forecast, outcome : ndarray of float, shape (groups, levels - 1)
        The cumulative forecast that represents a group and the cumulative shares of its outcomes, without the last
        level, where both are 1.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float
    n_items: int
    n_kept: int
    sizes: Ints
    forecast: Floats
    outcome: Floats

    @property
    def corrected_reliability(self) -> float:
        """Reliability less the expected sampling variance of the groups' outcome shares; it may be below 0.

        All items of a group are assumed to have the same distribution. Where they rightly differ, the correction is too
        large by their variance within the group over the size of the group.

        Raises
        ------
        ParameterError
            If a group has a single item, for which the sampling variance cannot be estimated.
        """
        return self.reliability - self._scatter()

    @property
    def corrected_resolution(self) -> float:
        """Resolution less the expected sampling variance; raises as `corrected_reliability` does."""
        return self.resolution - self._scatter() + self.uncertainty / (self.n_kept - 1)

    @property
    def corrected_uncertainty(self) -> float:
        """Uncertainty with a divisor of one item less; raises as `corrected_reliability` does."""
        self._scatter()
        return self.uncertainty * self.n_kept / (self.n_kept - 1)

    def _summary(self) -> Summary:
        """Show the score and its parts."""
        names = ("score", "reliability", "resolution", "uncertainty", "within_variance", "within_covariance")
        kept = f"{self.n_kept:,} of {counted(self.n_items, 'item')} in {counted(self.sizes.size, 'group')}"
        score = written_cells([self.score])[0]
        return Summary(f"{score} over {kept}", [facts(**{name: getattr(self, name) for name in names})])

    def _scatter(self) -> float:
        """Estimate the mean sampling variance of the groups' outcome shares."""
        if self.sizes.min() < 2:
            raise ParameterError(
                "the correction needs two items in every group,"
                f" got {np.count_nonzero(self.sizes < 2)} group(s) of one: ask for min_group_size=2"
            )
        variance = (self.outcome * (1 - self.outcome)).mean(axis=1) / (self.sizes - 1)
        return float(self.sizes @ variance) / self.n_kept


def decompose_score(
    probabilities: npt.ArrayLike,
    observed: npt.ArrayLike,
    *,
    n_values: int | None = 10,
    min_group_size: int = 1,
    representative: Representative = "mean",
) -> ScoreParts:
    """Split the ranked probability score into reliability, resolution, uncertainty and two terms within groups.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    observed : array-like of int, shape (items,), 0..levels-1
    n_values : int or None
        How many values to round probabilities to before grouping; None groups equal forecasts only.
    min_group_size : int, at least 1
        Groups with fewer items are left out, with their items.
    representative : {'mean', 'rounded'}
        What represents a group: the mean of its forecasts, or their common rounded forecast as in Buckers2021.

    Returns
    -------
    ScoreParts

    Raises
    ------
    ParameterError
        If no group is large enough, or an argument makes no sense.

    Examples
    --------
    >>> parts = decompose_score([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]], [0, 1, 1, 1], n_values=None)
    >>> parts.score, parts.reliability, parts.resolution, parts.uncertainty
    (0.125, 0.0, 0.0625, 0.1875)
    """
    groups = group_forecasts(probabilities, n_values=n_values)
    return decompose_grouped(
        probabilities, observed, groups, min_group_size=min_group_size, representative=representative
    )


def decompose_grouped(
    probabilities: npt.ArrayLike,
    observed: npt.ArrayLike,
    groups: ForecastGroups,
    *,
    min_group_size: int = 1,
    representative: Representative = "mean",
) -> ScoreParts:
    """Split the ranked probability score by given groups; otherwise as :func:`decompose_score`."""
    matrix, levels = check_forecasts(probabilities, observed)
    if groups.group_of.shape != levels.shape or groups.rounded.shape[1] != matrix.shape[1]:
        raise ParameterError(
            f"expected groups of {len(levels)} items with {matrix.shape[1]} levels, got groups of"
            f" {len(groups.group_of)} items with {groups.rounded.shape[1]} levels"
        )
    if min_group_size < 1:
        raise ParameterError(f"a group has at least one item, got min_group_size={min_group_size}")
    if representative not in get_args(Representative):
        raise ParameterError(f"unknown representative {representative!r}, choose from mean, rounded")
    all_sizes = groups.sizes
    large = all_sizes >= min_group_size
    if not large.any():
        raise ParameterError(
            f"no group of forecasts has {min_group_size} items, the largest has {all_sizes.max()}:"
            " lower min_group_size or round to fewer values"
        )
    kept = large[groups.group_of]
    group_of = (np.cumsum(large) - 1)[groups.group_of[kept]]
    sizes = all_sizes[large]
    forecast, outcome = cumulative(matrix[kept], levels[kept])
    group_outcome = _group_means(outcome, group_of, sizes)
    if representative == "mean":
        group_forecast = _group_means(forecast, group_of, sizes)
    else:
        group_forecast = np.cumsum(groups.rounded[large], axis=1)[:, :-1]
    overall = outcome.mean(axis=0)
    weight = sizes / sizes.sum()
    off_group = forecast - group_forecast[group_of]
    return ScoreParts(
        score=float(np.square(forecast - outcome).mean()),
        reliability=float(weight @ np.square(group_forecast - group_outcome).mean(axis=1)),
        resolution=float(weight @ np.square(group_outcome - overall).mean(axis=1)),
        uncertainty=float((overall * (1 - overall)).mean()),
        within_variance=float(np.square(off_group).mean()),
        within_covariance=float(2 * (off_group * (outcome - group_forecast[group_of])).mean()),
        n_items=len(levels),
        n_kept=int(sizes.sum()),
        sizes=sizes,
        forecast=group_forecast,
        outcome=group_outcome,
    )


def _group_means(values: Floats, group_of: Ints, sizes: Ints) -> Floats:
    """Means of the rows of each group, shape (groups, columns)."""
    n_items = len(values)
    membership = sparse.csr_array((np.ones(n_items), (group_of, np.arange(n_items))), shape=(sizes.size, n_items))
    return np.asarray(membership @ values) / sizes[:, None]
