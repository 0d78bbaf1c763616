r"""Krippendorff's alpha: how far assessors agree beyond what chance would give.

Assessors gave *values* to *units* (a choice to a pair of documents, a gain to an item); a unit need not have the same
number of values as another, and one with a single value says nothing and is left out. With :math:`\delta(v, w)` for how
much two values disagree, :math:`m_u` values in unit :math:`u` and :math:`n` in all of them [1]_ [2]_,

.. math::
   \alpha = 1 - \frac{D_o}{D_e}, \qquad
   D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{i \neq j \in u} \delta(v_i, v_j), \qquad
   D_e = \frac{1}{n (n - 1)} \sum_{i \neq j} \delta(v_i, v_j)

where the last sum goes over all values of all units: 1 is perfect agreement, 0 that of values dealt out at random, and
below 0 there is more disagreement than that. If all values are the same nothing can disagree, and alpha is undefined
(NaN). The disagreement :math:`\delta` of two values is by metric

- ``nominal``: 1 if they differ, else 0;
- ``interval``: their squared difference;
- ``ordinal``: the squared difference of their mid-ranks, :math:`F_v = \sum_{w < v} n_w + n_v / 2`, among the n values.

All sums are counts or moments of units, so no two answers are ever compared.

**Mirrored values.** Where values have opposites and which of two opposites stands for an answer means nothing across
units, as with the choice between two documents in some order, the chance of disagreement must not depend on the order
that each unit happens to have. So every value is dealt out as itself or as its opposite, with equal chances:

.. math:: D_e = \frac{1}{n (n - 1)} \sum_{i \neq j} \frac{\delta(v_i, v_j) + \delta(v_i, -v_j)}{2}

and mid-ranks are those among all values and their opposites.

**The interval.** Units differ, and so do assessors; either can matter more. The standard error has a part for each,

.. math:: V = V_{clusters} + V_{assessors} - V_{both}

[3]_: the variance of alpha over units resampled with replacement (bootstrap; with whatever belongs to the same
``cluster``, such as all pairs of a query), that of leaving out one assessor after the other (jackknife), and, since
what happens in single answers is in both, that of leaving out the answers of one assessor to one cluster. V is never
taken to be less than either of the first two. The interval is :math:`\alpha \pm t \sqrt{V}` with one degree of freedom
less than there are clusters, or assessors if those are fewer. Where no assessors are named they are taken as given, and
V is the first part.

How often 95% intervals held in 1,000 simulated studies each (the standard error of such a share is .007): choices
between two documents by six of so many assessors, who are equally reliable or *differ* (the log of the slope of their
choice on how different the documents are has a standard deviation of 0.7), with equal shares of the work or *skewed*
ones, in proportion to 1/rank; with queries that differ likewise (0.5) or none. *Units alone* takes assessors and
queries as given.

============================================== =========== ==== =====================
units, assessors                               units alone V    times as wide as that
============================================== =========== ==== =====================
200, 40 equal                                  .95         .97  1.1
1,000, 300 equal, skewed work                  .95         .95  1.1
200, 10 differ                                 .63         .95  2.4
200, 40 differ                                 .87         .97  1.5
200, 40 differ, skewed work                    .74         .93  1.8
1,000, 40 differ, skewed work                  .45         .94  3.3
1,000, 300 differ, skewed work                 .57         .94  2.4
300 of 11 queries, 40 differ                   .69         .96  2.2
1,000 of 25 queries, 300 differ, skewed work   .51         .94  2.8
50, the same 6 equal                           .94         .99  1.4
50, the same 6 differ                          .76         .95  2.1
============================================== =========== ==== =====================

Where nearly all values are the same few units decide, and all intervals are too short: with 3 answers a unit of which
1 in 10 differs from the rest, .54 of 95% intervals held with 15 units, .85 with 50 and .91 with 200.

With grades, where some assessors are careless, intervals are too short as well: .78 to .87 of them held.

References
----------
.. [1] K. Krippendorff (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.
.. [2] A. F. Hayes, K. Krippendorff (2007). Answering the call for a standard reliability measure for coding data.
   Communication Methods and Measures 1(1), 77-89.
.. [3] A. C. Cameron, J. B. Gelbach, D. L. Miller (2011). Robust inference with multiway clustering. Journal of Business
   and Economic Statistics 29(2), 238-249.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, Summary, facts, written_cells
from earmark.errors import ParameterError
from earmark.wording import counted

Metric = Literal["nominal", "ordinal", "interval"]
# Numbers held at once in any one intermediate matrix (32 MB).
_CHUNK = 1 << 22
# Patterns of values are numbered as the digits of a number, which has to fit 64 bits.
_LARGEST_PATTERN = 2.0**62


@dataclass(frozen=True, repr=False)
class Alpha(Display):
    """Krippendorff's alpha with an interval.

    Attributes
    ----------
    metric : {"nominal", "ordinal", "interval"}
        How much two values disagree.
    alpha : float, at most 1
        NaN where all values are the same, or no unit has two.
    low, high : float
        The interval; NaN where there is no telling.
    standard_error : float
        The square root of V.
    level : float
        The probability with which an interval holds.
    units, answers, clusters, assessors : int
        How many units with two values or more there are, values in them, clusters of them, and assessors; 0 assessors
        where none were named.
    """

    metric: Metric
    alpha: float
    low: float
    high: float
    standard_error: float
    level: float
    units: int
    answers: int
    clusters: int
    assessors: int

    def _summary(self) -> Summary:
        """Say it with its interval."""
        alpha, low, high = written_cells([self.alpha, self.low, self.high])
        sentence = f"{alpha} ({100 * self.level:g}% interval {low} to {high}), {self.metric}"
        return Summary(f"{sentence}, {counted(self.units, 'unit')}", [facts(**asdict(self))])


@dataclass(frozen=True, eq=False)
class CodedUnits:
    """Units with two values or more, and their values as codes.

    Attributes
    ----------
    unit, code : ndarray of int, shape (answers,)
        Unit and value of every answer, both counted from 0 without gaps.
    values : ndarray of float, shape (values,)
        What the codes stand for, ascending.
    kept : ndarray of bool, shape (given answers,)
        Which of the answers that were given are here: the others are alone in their unit.
    mirrored : bool
        Values have opposites: with every value its negative is among the values.
    """

    unit: Ints
    code: Ints
    values: Floats
    kept: NDArray[np.bool_]
    mirrored: bool = False

    @classmethod
    def from_answers(cls, unit: Ints, value: Floats, *, mirrored: bool = False) -> CodedUnits:
        """Leave out units with one value and count from 0."""
        number = np.unique(unit, return_inverse=True)[1]
        kept = np.bincount(number)[number] > 1 if number.size else np.zeros(0, dtype=bool)
        # Adding 0 makes 0 of -0.
        several = value[kept] + 0.0
        values = np.unique(np.concatenate((several, 0.0 - several)) if mirrored else several)
        code = np.searchsorted(values, several)
        return cls(np.unique(number[kept], return_inverse=True)[1], code, values, kept, mirrored)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.unit.max(initial=-1)) + 1

    def counts(self) -> sparse.csr_array:
        """How often each unit has each value, shape (units, values)."""
        ones = np.ones(self.unit.size)
        return sparse.coo_array((ones, (self.unit, self.code)), shape=(self.n_units, self.values.size)).tocsr()


def krippendorff_alpha(
    unit: Ints,
    value: Floats,
    *,
    metric: Metric = "nominal",
    mirrored: bool = False,
    assessor: Ints | None = None,
    cluster: Ints | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Alpha:
    """Return Krippendorff's alpha with an interval.

    Parameters
    ----------
    unit : ndarray of int, shape (answers,)
        What each answer is about.
    value : ndarray of float, shape (answers,)
        What was answered.
    metric : {"nominal", "ordinal", "interval"}
        How much two values disagree.
    mirrored : bool
        The negative of a value is its opposite, and which of the two stands for an answer differs between units.
    assessor : ndarray of int, shape (answers,), optional
        Who answered, at most once per unit.
    cluster : ndarray of int, shape (answers,), optional
        Units that belong together, such as pairs of one query; by default every unit stands for itself.
    n_resamples : int
        How often clusters are drawn with replacement.
    level : float, in (0, 1)
        The probability with which the interval holds.
    rng : numpy.random.Generator
        Where random numbers come from.

    Examples
    --------
    >>> unit, value = np.repeat([0, 1, 2, 3], 2), np.array([1.0, 1, 2, 2, 1, 1, 1, 2])
    >>> found = krippendorff_alpha(unit, value, rng=np.random.default_rng(0))
    >>> round(found.alpha, 4)
    0.5333
    """
    _check(metric, level, n_resamples)
    units = CodedUnits.from_answers(unit, value, mirrored=mirrored)
    cluster_of_answer = units.unit if cluster is None else np.unique(cluster[units.kept], return_inverse=True)[1]
    cluster_of_unit = np.zeros(units.n_units, dtype=np.int64)
    cluster_of_unit[units.unit] = cluster_of_answer
    n_clusters = int(cluster_of_answer.max(initial=-1)) + 1
    alpha = alpha_of(units, metric=metric)
    variance, df, n_assessors = np.nan, n_clusters - 1, 0
    if np.isfinite(alpha) and n_clusters > 1:
        resampled = resample_alpha(units, cluster_of_unit, metric=metric, n_resamples=n_resamples, rng=rng)
        known = resampled[np.isfinite(resampled)]
        # The spread of means of n resampled things is that of means of n - 1.
        variance = float(known.var(ddof=1)) * n_clusters / (n_clusters - 1) if known.size > 1 else np.nan
    if assessor is not None:
        who = np.unique(assessor[units.kept], return_inverse=True)[1]
        n_assessors = int(who.max(initial=-1)) + 1
        df = min(df, n_assessors - 1)
        _, both = np.unique(cluster_of_answer * max(n_assessors, 1) + who, return_inverse=True)
        by_assessor = _jackknife_variance(leave_out_alpha(units, who, metric=metric))
        by_both = _jackknife_variance(leave_out_alpha(units, both, metric=metric))
        variance = max(variance + by_assessor - by_both, variance, by_assessor)
    reach = float(special.stdtrit(df, (1 + level) / 2)) * variance**0.5 if df > 0 else np.nan
    return Alpha(
        metric,
        alpha,
        alpha - reach,
        min(alpha + reach, 1.0) if np.isfinite(reach) else np.nan,
        variance**0.5,
        level,
        units.n_units,
        units.unit.size,
        n_clusters,
        n_assessors,
    )


def _check(metric: str, level: float, n_resamples: int) -> None:
    if metric not in get_args(Metric):
        raise ParameterError(f"unknown metric '{metric}': use {', '.join(get_args(Metric))}")
    if not 0 < level < 1:
        raise ParameterError(f"the level of an interval lies between 0 and 1, got {level:g}")
    if n_resamples < 2:
        raise ParameterError(f"resample at least 2 times, got {n_resamples}")


def alpha_of(units: CodedUnits, *, metric: Metric) -> float:
    """Return alpha alone; NaN where nothing could disagree."""
    return float(_weighted_alpha(np.ones((1, units.n_units)), units.counts(), units, metric)[0])


def resample_alpha(
    units: CodedUnits, cluster: Ints, *, metric: Metric, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return alpha over clusters of units drawn with replacement, shape (n_resamples,)."""
    counts = units.counts()
    n_clusters = int(cluster.max(initial=-1)) + 1
    member, group, probability = _drawable(counts, cluster)
    counts = counts[member]
    step = max(1, _CHUNK // max(member.size, 1))
    parts = []
    for start in range(0, n_resamples, step):
        draws = rng.multinomial(n_clusters, probability, size=min(step, n_resamples - start)).astype(np.float64)
        parts.append(_weighted_alpha(draws[:, group], counts, units, metric))
    return np.concatenate(parts)


def _drawable(counts: sparse.csr_array, cluster: Ints) -> tuple[Ints, Ints, Floats]:
    """Return what is drawn: which units stand for themselves, which draw each follows, and how likely each draw is.

    Where every unit is a cluster, units with the same counts are the same draw, and of a million choices there are a
    few dozen patterns.
    """
    n_units, n_values = counts.shape
    n_clusters = int(cluster.max(initial=-1)) + 1
    base = float(counts.max()) + 1
    if n_clusters < n_units or base**n_values > _LARGEST_PATTERN:
        return np.arange(n_units), cluster, np.full(n_clusters, 1 / n_clusters)
    pattern = counts @ base ** np.arange(n_values)
    _, member, frequency = np.unique(pattern, return_index=True, return_counts=True)
    return member, np.arange(member.size), frequency / n_units


def _weighted_alpha(weights: Floats, counts: sparse.csr_array, units: CodedUnits, metric: Metric) -> Floats:
    """Return alpha for every row of weights, shape (rows, units): how often each unit is there."""
    size = counts.sum(axis=1)
    totals: Floats = weights @ counts
    n = totals.sum(axis=1)
    per_pair = 1 / (size - 1)
    if metric == "nominal":
        within = weights @ ((size**2 - counts.power(2).sum(axis=1)) * per_pair)
        alike, zeros = (totals**2).sum(axis=1), (totals * (units.values == 0)).sum(axis=1)
        among = _among_nominal(n, alike, (totals * totals[:, ::-1]).sum(axis=1), zeros, units.mirrored)
    else:
        place = _places(totals, units, metric)
        first, second = (counts @ place.T).T, (counts @ (place**2).T).T
        within = (weights * (2 * size * second - 2 * first**2) * per_pair).sum(axis=1)
        moments = (totals * place).sum(axis=1), (totals * place**2).sum(axis=1)
        among = _among_places(n, *moments, units.mirrored)
    return _one_minus_ratio((n - 1) * within, among)


def _among_nominal(n: Floats, alike: Floats, opposite: Floats, zeros: Floats, mirrored: bool) -> Floats:
    """Return how much two of n answers disagree, summed over all couples of different answers.

    Parameters
    ----------
    alike, opposite : ndarray of float
        Couples of equal values, and of a value and its opposite, an answer with itself included.
    zeros : ndarray of float
        Answers that are their own opposite.
    """
    if not mirrored:
        return n**2 - alike
    # An answer and its own opposite are no couple.
    return n**2 - (alike + opposite) / 2 - (n - zeros) / 2


def _among_places(n: Floats, first: Floats, second: Floats, mirrored: bool) -> Floats:
    """Return the same for squared differences, by the first and second moments of the places of n answers."""
    # With their opposites, places have the mean 0.
    return 2 * (n - 1) * second if mirrored else 2 * n * second - 2 * first**2


def _places(totals: Floats, units: CodedUnits, metric: Metric) -> Floats:
    """Where each value stands, centred and scaled so that squares neither cancel nor overflow; shape of totals."""
    values = units.values
    if metric == "interval":
        centred = values - values.mean() if values.size else values
        return np.broadcast_to(
            centred / max(float(np.abs(centred).max(initial=0.0)), np.finfo(float).tiny), totals.shape
        )
    if units.mirrored:
        totals = (totals + totals[:, ::-1]) / 2
    n = np.maximum(totals.sum(axis=1, keepdims=True), 1)
    middle: Floats = (np.cumsum(totals, axis=1) - totals / 2) / n - 0.5
    return middle


def _one_minus_ratio(above: Floats, below: Floats) -> Floats:
    # Below this there is nothing but rounding: one value that differs among n contributes about 1 / n.
    defined = below > 1e-12
    ratio: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=defined)
    return 1 - ratio


def leave_out_alpha(units: CodedUnits, group: Ints, *, metric: Metric) -> Floats:
    """Return alpha without the answers of each group in turn, shape (groups,).

    Parameters
    ----------
    units : CodedUnits
        The answers.
    group : ndarray of int, shape (answers,)
        Numbered from 0 without gaps; no two answers to a unit are in the same group.
    metric : {"nominal", "ordinal", "interval"}
        Ranks of the ordinal metric are those of all answers.
    """
    n_groups = int(group.max(initial=-1)) + 1
    unit, code = units.unit, units.code
    size = np.bincount(unit).astype(np.float64)[unit]
    total = np.bincount(code, minlength=units.values.size).astype(np.float64)
    # Of a unit with two answers nothing is left without one of them: the other goes too.
    couple = size == 2
    other = (np.bincount(unit, code)[unit] - code).astype(np.int64)[couple]
    gone_group, gone_code = np.concatenate([group, group[couple]]), np.concatenate([code, other])
    left = unit.size - np.bincount(gone_group, minlength=n_groups).astype(np.float64)
    divide = 1 / np.maximum(size - 2, 1)
    if metric == "nominal":
        counts = np.asarray(units.counts()[unit, code]).ravel()
        squares = np.bincount(unit, counts)[unit]
        before = (size**2 - squares) / (size - 1)
        after = ((size - 1) ** 2 - (squares - 2 * counts + 1)) * divide
        gone_counts = sparse.coo_array(
            (np.ones(gone_group.size), (gone_group, gone_code)), shape=(n_groups, total.size)
        ).tocsr()
        # What is left of couples: the square of all answers less those of a group.
        alike = (total @ total) - 2 * (gone_counts @ total) + gone_counts.power(2).sum(axis=1)
        turned = gone_counts[:, np.arange(total.size)[::-1]]
        opposite = (total @ total[::-1]) - 2 * (gone_counts @ total[::-1]) + gone_counts.multiply(turned).sum(axis=1)
        zeros = (units.values == 0).astype(np.float64)
        among = _among_nominal(left, alike, opposite, total @ zeros - gone_counts @ zeros, units.mirrored)
    else:
        place = _places(total[None, :], units, metric)[0]
        x = place[code]
        first, second = np.bincount(unit, x)[unit], np.bincount(unit, x**2)[unit]
        before = (2 * size * second - 2 * first**2) / (size - 1)
        after = (2 * (size - 1) * (second - x**2) - 2 * (first - x) ** 2) * divide
        gone = place[gone_code]
        first_left = (total * place).sum() - np.bincount(gone_group, gone, n_groups)
        second_left = (total * place**2).sum() - np.bincount(gone_group, gone**2, n_groups)
        among = _among_places(left, first_left, second_left, units.mirrored)
    after[couple] = 0.0
    within = (before / size).sum() + np.bincount(group, after - before, n_groups)
    return _one_minus_ratio((left - 1) * within, among)


def _jackknife_variance(without: Floats) -> float:
    """Return the jackknife's variance of a statistic from its values without one group after the other."""
    known = without[np.isfinite(without)]
    if known.size < 2:
        return 0.0
    return float((known.size - 1) / known.size * ((known - known.mean()) ** 2).sum())
