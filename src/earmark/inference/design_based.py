r"""Design-based estimates: valid by the sampling design, whatever the model.

The first :math:`n` items of a :class:`~earmark.inference.sampling_design.SampleOrder` are a sample with known inclusion
probabilities :math:`\pi_i`. A model's predictions :math:`m_i` are corrected by a Horvitz–Thompson estimate of their
errors from the sampled gains :math:`y_i`:

.. math::

    \hat\theta_s = \sum_i W_{si}\, m_i + \sum_{i\ sampled} W_{si}\, \frac{y_i - m_i}{\pi_i}, \qquad
    \hat V_{st} = \sum_{i\ sampled} \frac{1 - \pi_i}{\pi_i^2}\, W_{si} W_{ti}\, (y_i - m_i)^2

(the difference estimator of survey sampling [1]_, with the variance of priority sampling). A good model gives narrow
intervals and a bad model wide ones; both are valid. For the difference of two systems, :math:`W_A - W_B` replaces
:math:`W_s`, so that documents which both retrieved at the same rank cancel. The variance is a sum of few terms
:math:`c_i`, hence uncertain itself: intervals use Student's t with Satterthwaite's [2]_ degrees of freedom
:math:`\nu = 2 (\sum c_i)^2 / \sum c_i^2`.

**Which judgments a prediction may use.** The estimator is unbiased if :math:`m_i` is the same whether or not item
:math:`i` is in the sample. So :math:`m_i` must not depend on :math:`y_i`: for a sampled item it is the *leave-one-out*
prediction, from all other sampled items. For an item outside the sample, the ordinary prediction uses one judgment
more, which biases estimates by about :math:`1/n` of the change that one judgment makes in a prediction; leaving out the
last item of the sample for those items removes this bias exactly.

**Adaptive judgments are not used**, neither in the sample (unless the order has reached them) nor in the predictions.
Two ways of using them look plausible and are biased:

- Setting :math:`m_i = y_i` for adaptively judged items outside the sample. Had the order reached the item, it would
  have contributed :math:`m_i + (y_i - m_i)/\pi_i` with another :math:`m_i`, so its expected contribution is
  :math:`y_i + (1 - \pi_i)(y_i - m_i)`, which contains the error of the model.
- Leave-one-out predictions from all judgments, including adaptive ones. The choices of an adaptive policy depend on the
  answers, so the presence of :math:`i` in the sample changes which of its neighbours are judged and thereby
  :math:`m_i` itself, although :math:`y_i` was left out. A policy that judges the neighbours of good items then
  predicts good items better *when they are sampled*, and estimates are too low.

:func:`sampled_gains` hides the judgments outside the sample; predict from what it returns. Judgments made before the
first item of the order was proposed cannot depend on the sample, so predictions may use all of them, and may be equal
to the gains of those items.

**Variances that are too small by chance.** Where most items are predicted well and a few badly, a system for which none
of the few was sampled has a variance near 0. So a variance below a tenth of the pooled variance, computed from the
errors of the whole sample, is replaced by the pooled variance.

**Samples without variation.** If all sampled gains that contribute to a score are equal, or all predictions are exactly
right, the estimated variance is 0 although unsampled items may deviate. If the inclusion probabilities of deviating
items add up to :math:`\sum \pi_i = \lambda`, the probability that none of them is sampled is at most
:math:`e^{-\lambda}`, so at a level of 95% :math:`\lambda \le 3` (the rule of three [3]_), and no deviation exceeds
the range of the scale. Such estimates get an interval of that width. An interval has width 0 only where all items that
contribute to it are judged.

References
----------
.. [1] C.-E. Särndal, B. Swensson, J. Wretman (1992). Model assisted survey sampling. Springer.
.. [2] F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics Bulletin
   2(6), 110-114.
.. [3] J. A. Hanley, A. Lippman-Hand (1983). If nothing goes wrong, is everything all right? JAMA 249(13), 1743-1745.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.sparse import csr_array, vstack

from earmark.beliefs.beliefs import UNJUDGED
from earmark.beliefs.estimates import Estimates, Moments, all_pairs, without_noise
from earmark.beliefs.exact_estimates import Sparse, system_weights
from earmark.data.arrays import Bools, Floats, Ints, Segments
from earmark.data.collection import Collection
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.inference.sampling_design import DrawnItems, ItemSampling
from earmark.measures.base import Measure

MINIMUM_SAMPLE = 30
"""The smallest sample: with fewer judgments, t intervals of most systems depend on one or two items each."""

GUARANTEED_FROM = 60
"""From how many sampled judgments on 95% intervals are guaranteed. With 30 to 56, those of systems held .90 to .94 of
the time on texts, and confidence in signs was .02 to .07 above accuracy."""

TOO_FEW = f"by the sampling design, not guaranteed: fewer than {GUARANTEED_FROM} sampled judgments"
GUARANTEED = "guaranteed by the sampling design, whatever the model"
EXACT = "exact: everything that matters is judged"

_SUSPICIOUSLY_SMALL = 0.1

FLOOR_DF = 4.0
"""The degrees of freedom of t with tails closest to the exponential of the rule of three, for levels of 80% to 99%."""

# Predictions and gains that differ by less than this share of the top gain are equal.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class DesignResult:
    """Estimates by a sampling design, the size of the sample and the kind of guarantee.

    Attributes
    ----------
    estimates : Estimates
        With degrees of freedom of their own.
    sampled : int
        How many items (or whole queries) the sample holds.
    guarantee : str
        In words.
    """

    estimates: Estimates
    sampled: int
    guarantee: str


def sampled_gains(order: ItemSampling, judged_gain: Floats) -> Floats:
    """Hide the judgments outside the sample, so that predictions cannot use them.

    Parameters
    ----------
    order : ItemSampling
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.

    Returns
    -------
    ndarray of float, shape (items,)
        The gain of every sampled item, negative for the others.
    """
    return np.where(order.drawn(judged_gain >= 0).sampled, judged_gain, UNJUDGED)


def mean_of_others(judged_gain: Floats) -> Floats:
    """Predict every item by the mean gain of all judged items but itself: the simplest leave-one-out prediction.

    Parameters
    ----------
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others; two of them at least.

    Examples
    --------
    >>> mean_of_others(np.array([0.0, 2.0, -1.0, 4.0])).tolist()
    [3.0, 2.0, 2.0, 1.0]
    """
    judged = judged_gain >= 0
    count, total = int(np.count_nonzero(judged)), float(judged_gain[judged].sum())
    if count < 2:
        raise ParameterError(f"the mean of the others needs two judgments or more, got {count}")
    return np.where(judged, (total - judged_gain) / (count - 1), total / count)


def estimate_by_design(
    collection: Collection,
    measure: Measure,
    *,
    scale: Scale,
    order: ItemSampling,
    judged_gain: Floats,
    prediction: Floats,
    level: float = 0.95,
) -> DesignResult:
    """Estimate a linear measure from the judged prefix of a sample order.

    Parameters
    ----------
    collection : Collection
    measure : Measure
        A linear one (``measure.is_linear``).
    scale : Scale
        The scale of the gains.
    order : ItemSampling
        How items are sampled: the order in which they were to be judged, fixed before anything was judged, or what is
        known of a sample that was drawn elsewhere.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, including adaptively chosen ones, negative for the others. The sample is
        determined from it and the order.
    prediction : ndarray of float, shape (items,)
        Of a sampled item, from all other sampled items; of another item, from the sample. The top of this module says
        which judgments it must not use.
    level : float, 0..1
        The level of intervals, needed where the rule of three applies.

    Returns
    -------
    DesignResult

    Raises
    ------
    ParameterError
        If the measure is not linear, or too few sampled items are judged.

    Examples
    --------
    >>> import earmark
    >>> from earmark.inference.confidence import rank_systems
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=20, documents=200)
    >>> collection, measure = Collection.from_runs(made.runs), earmark.parse("AG@5")
    >>> from earmark.inference.sampling_design import SampleOrder
    >>> order = SampleOrder.of(collection, measure, scale=earmark.FINE, seed=1)
    >>> gains = np.where(order.sampled(80), earmark.beliefs.beliefs.item_gains(collection, made.judgments), -1.0)
    >>> found = estimate_by_design(collection, measure, scale=earmark.FINE, order=order, judged_gain=gains,
    ...                            prediction=mean_of_others(sampled_gains(order, gains)))
    >>> found.sampled, rank_systems(found.estimates).rank.tolist()
    (80, [1, 2, 3])
    """
    estimator = DesignEstimator(collection, measure, scale=scale, order=order)
    return estimator.estimate(judged_gain, prediction, level=level)


class DesignEstimator:
    """Design-based estimates of a linear measure, updated as items are judged.

    Parameters
    ----------
    collection, measure, scale, order
        As for :func:`estimate_by_design`.
    """

    def __init__(self, collection: Collection, measure: Measure, *, scale: Scale, order: ItemSampling) -> None:
        self.collection = collection
        self.measure = measure
        self.scale = scale
        self.order = order
        self._rows = weight_rows(system_weights(collection, measure, scale=scale))
        check_order(order, self._rows)

    def estimate(self, judged_gain: Floats, prediction: Floats, *, level: float = 0.95) -> DesignResult:
        """Estimate the scores of all systems and their differences; parameters as for :func:`estimate_by_design`."""
        check_items(self.collection.n_items, judged_gain, prediction)
        judged = judged_gain >= 0
        drawn = enough_drawn(self.order, judged)
        sample = Sample(drawn.sampled, drawn.inclusion, judged_gain, prediction)
        known = no_entry(self._rows, ~judged)
        found = corrected_sums(self._rows, sample, known, top=self.scale.top, level=level)
        estimates = as_estimates(found, self._rows, self.collection, self.measure, int(np.count_nonzero(judged)))
        guarantee = EXACT if drawn.complete else GUARANTEED if drawn.n >= GUARANTEED_FROM else TOO_FEW
        return DesignResult(estimates, drawn.n, guarantee)


def weight_rows(weights: Sparse) -> Sparse:
    """Put the weights of all systems and then those of all differences in rows, shape (systems + pairs, items)."""
    a, b = all_pairs(weights.shape[0])
    rows: Sparse = csr_array(vstack((weights, weights[a] - weights[b])))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def check_order(order: ItemSampling, rows: Sparse) -> None:
    """Raise an error if a sampling is about other items or never reaches items with a weight."""
    reachable = order.reachable
    if reachable.size != rows.shape[1]:
        raise ParameterError(f"expected an order of {rows.shape[1]} items, got one of {reachable.size}")
    if not np.all(reachable[rows.indices]):
        raise ParameterError("the order never reaches items that matter to the measure: it was made for another one")


def check_items(n_items: int, judged_gain: Floats, prediction: Floats) -> None:
    """Raise an error unless there is one finite gain and prediction for every item."""
    for name, values in (("judged_gain", judged_gain), ("prediction", prediction)):
        if values.shape != (n_items,):
            raise ParameterError(f"expected '{name}' for each of {n_items} items, got shape {values.shape}")
        if not np.all(np.isfinite(values)):
            raise ParameterError(f"expected finite numbers as '{name}', got NaN or infinity")


def enough_drawn(order: ItemSampling, judged: Bools, least: int = MINIMUM_SAMPLE) -> DrawnItems:
    """Return the sample, or raise an error if it has less than some number of items and is not complete."""
    needed = min(least, order.n_needed)
    if order.count(judged) < needed:
        raise ParameterError(order.too_few(judged, needed))
    return order.drawn(judged)


@dataclass(frozen=True, eq=False)
class Sample:
    """Sampled items, inclusion probabilities, gains and predictions; all of shape (items,).

    Attributes
    ----------
    sampled : ndarray of bool
    inclusion : ndarray of float, above 0 to 1
        Of every item, sampled or not.
    judged_gain : ndarray of float
        Negative where an item is not judged.
    prediction : ndarray of float
    """

    sampled: Bools
    inclusion: Floats
    judged_gain: Floats
    prediction: Floats


def corrected_sums(rows: Sparse, sample: Sample, known: Bools, *, top: float, level: float) -> Moments:
    """Estimate weighted sums of gains by the difference estimator.

    Parameters
    ----------
    rows : scipy.sparse.csr_array of float, shape (rows, items)
        The weights of every sum.
    sample : Sample
    known : ndarray of bool, shape (rows,)
        Sums whose items are all judged: they are computed from the judgments, with variance 0.
    top : float
        The highest possible gain; the lowest is 0.
    level : float, 0..1
        Of the intervals where the rule of three applies.

    Returns
    -------
    Moments, of shape (rows,)
    """
    sampled, inclusion, gain = sample.sampled, sample.inclusion, sample.judged_gain
    error = np.where(sampled, gain - sample.prediction, 0.0)
    mean: Floats = rows @ (sample.prediction + error / inclusion)
    terms = (1.0 - inclusion) * (error / inclusion) ** 2
    squares = rows.power(2)
    variance: Floats = squares @ terms
    fourth: Floats = squares.power(2) @ terms**2
    df = np.divide(2.0 * variance**2, fourth, out=np.full(variance.shape, FLOOR_DF), where=fourth > 0)
    pooled, pooled_df = _pooled(squares, sample, error)
    lucky = (variance > 0) & (variance < _SUSPICIOUSLY_SMALL * pooled)
    variance[lucky], df[lucky] = pooled[lucky], pooled_df
    for suspects, pattern in _suspicious(rows, sample, top):
        width = _rule_of_three(rows[suspects], sample, mean[suspects], pattern, top=top, level=level)
        floor = floor_variance(width, level=level)
        raised = floor > variance[suspects]
        variance[suspects[raised]], df[suspects[raised]] = floor[raised], FLOOR_DF
    mean[known] = rows[known] @ np.maximum(gain, 0.0)
    variance[known] = 0.0
    return Moments.exact(mean, variance, df=df)


def _pooled(squares: Sparse, sample: Sample, error: Floats) -> tuple[Floats, float]:
    r"""Return the variances for equal mean squared errors, :math:`\sigma^2 \sum_i W_i^2 (1 - \pi_i)/\pi_i`.

    :math:`\sigma^2` is the mean squared error of predictions over the whole sample, weighed by :math:`1/\pi_i`, with
    its own degrees of freedom.
    """
    free = sample.sampled & (sample.inclusion < 1)
    if not free.any():
        return np.zeros(squares.shape[0]), FLOOR_DF
    weight = 1.0 / sample.inclusion[free]
    terms = weight * error[free] ** 2
    total = float(terms.sum())
    pooled: Floats = squares @ ((1.0 - sample.inclusion) / sample.inclusion) * (total / float(weight.sum()))
    return pooled, (2.0 * total**2 / float((terms**2).sum()) if total > 0 else FLOOR_DF)


def most_unseen(level: float) -> float:
    r"""Return :math:`\lambda = -\ln(1 - level)`: the largest total inclusion probability of unseen deviations."""
    if not 0 < level < 1:
        raise ParameterError(f"the level of an interval is between 0 and 1, got {level:g}")
    return -math.log1p(-level)


def floor_variance(width: Floats, *, level: float) -> Floats:
    """Return the variance whose interval, by Student's t with `FLOOR_DF` degrees of freedom, is as wide as given.

    Parameters
    ----------
    width : ndarray of float
        From the estimate to either end of its interval.
    level : float, 0..1
    """
    return np.asarray((width / special.stdtrit(FLOOR_DF, (1.0 + level) / 2)) ** 2)


def _suspicious(rows: Sparse, sample: Sample, top: float) -> list[tuple[Ints, Floats]]:
    """Find sums whose sample shows no variation, and the pattern of its gains, shape (suspects, 1 or items)."""
    segments = Segments(rows.indptr.astype(np.int64))
    seen = sample.sampled[rows.indices]
    gain = sample.judged_gain[rows.indices]
    lowest = segments.minimum(np.where(seen, gain, np.inf), empty=np.inf)
    highest = -segments.minimum(np.where(seen, -gain, np.inf), empty=np.inf)
    # Without any sampled item the lowest is infinite and the highest minus infinity: for the second pattern.
    same = np.flatnonzero(lowest == highest)
    wrong = sample.sampled & (np.abs(sample.judged_gain - sample.prediction) > _NOTHING * top)
    right = np.flatnonzero(no_entry(rows, wrong))
    return [(same, lowest[same][:, None]), (right, sample.prediction[None, :])]


def _rule_of_three(rows: Sparse, sample: Sample, mean: Floats, pattern: Floats, *, top: float, level: float) -> Floats:
    r"""Return the largest error of sums if all sampled gains follow a pattern and unseen ones need not.

    With :math:`f` the pattern, :math:`|\sum_i W_i f_i - \hat\theta| + \min(\sum_{unseen} |W_i| b_i,
    \lambda \max_{unseen} |W_i| b_i / \pi_i)`, :math:`b_i = \max(f_i, top - f_i)`, :math:`\lambda = -\ln(1 - level)`.
    """
    segments = Segments(rows.indptr.astype(np.int64))
    expected = np.broadcast_to(pattern, rows.shape)[segments.of_element, rows.indices]
    if_so = segments.sum(rows.data * expected)
    unseen = ~sample.sampled[rows.indices]
    deviation = np.where(unseen, np.abs(rows.data) * np.maximum(np.maximum(expected, top - expected), 0.0), 0.0)
    escaping = -segments.minimum(-deviation / sample.inclusion[rows.indices], empty=0.0)
    return np.abs(if_so - mean) + np.minimum(segments.sum(deviation), most_unseen(level) * escaping)


def no_entry(rows: Sparse, items: Bools) -> Bools:
    """Tell which rows have no weight for any of some items."""
    return np.asarray(Segments(rows.indptr.astype(np.int64)).sum(items[rows.indices]) == 0)


def as_estimates(found: Moments, rows: Sparse, collection: Collection, measure: Measure, judged: int) -> Estimates:
    """Make estimates of the moments of the rows of systems and of pairs."""
    n_systems = len(collection.systems)
    assert found.df is not None
    scores = Moments.exact(found.mean[:n_systems], found.variance[:n_systems], df=found.df[:n_systems])
    difference = without_noise(found.mean[n_systems:], scores.mean)
    differences = Moments.exact(difference, found.variance[n_systems:], df=found.df[n_systems:])
    identical = np.diff(rows.indptr)[n_systems:] == 0
    return Estimates.of(collection, measure, scores, differences, identical=identical, judged=judged)
