r"""Normalised measures by a sampling design: nDCG@k, nRBP@k and whatever else is not a weighted sum of gains.

The score of a query is a ratio whose denominator, the ideal ranking of the pool, depends on every item of the query at
once. A sample of items cannot pin it down, so there are two ways.

**By items, approximately** (:func:`estimate_ratio_by_design`). The numerator is a weighted sum of gains and is
estimated as in :mod:`earmark.inference.design_based`; the ideal is put in as it is expected to be:

.. math:: \hat\theta_s = \frac1Q \sum_q \frac{1}{\hat D_q} \Bigl( \sum_{i \in q} w_{si} m_i +
    \sum_{i \in q\ sampled} w_{si} \frac{y_i - m_i}{\pi_i} \Bigr).

A wrong ideal stretches or shrinks both systems of a pair alike, so differences are nearly right; scores of single
systems are off by whatever the ideal is off by. Nothing is guaranteed. Ranking the *predictions* would make the ideal
too low, since the highest gains are higher than the highest predictions. So predictions are disturbed, again and again,
by errors drawn from those that the sample shows among items of similar prediction, and :math:`\hat D_q` is the mean of
the ideals. Its variance over these draws is added to that of the numerator (delta method).

**By whole queries, guaranteed** (:func:`estimate_by_complete_queries`). The queries at the front of a
:class:`~earmark.inference.sampling_design.QueryOrder` that are judged completely are a simple random sample of all
queries. The scores of their lists are known, for any measure, and the mean over queries has the interval of the
textbook [1]_,

.. math:: \bar x \pm t_{n-1} \sqrt{\frac{s^2}{n} \Bigl(1 - \frac nQ\Bigr)},

with pairs by differences per query. Scores that were predicted for all queries from *other* judgments, such as those of
a sample of items judged before, narrow it (two phases): they are corrected by the mean error over the complete queries.

References
----------
.. [1] W. G. Cochran (1977). Sampling techniques, 3rd edition. Wiley.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from earmark.beliefs.estimates import Estimates, Moments, all_pairs, without_noise
from earmark.beliefs.exact_estimates import Sparse, rank_weights, system_weights
from earmark.beliefs.montecarlo import over_pool, pooled_lists, same_lists
from earmark.beliefs.normalised_estimates import normalised_over_pool, numerator_of
from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.collection import Collection
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.inference.design_based import (
    EXACT,
    FLOOR_DF,
    GUARANTEED,
    DesignResult,
    Sample,
    as_estimates,
    check_items,
    check_order,
    corrected_sums,
    enough_drawn,
    floor_variance,
    most_unseen,
    no_entry,
    weight_rows,
)
from earmark.inference.sampling_design import ItemSampling, QueryOrder
from earmark.measures.base import Measure

MINIMUM_QUERIES = 10
"""How many complete queries an estimate needs, for a mean over them to be about normal."""

APPROXIMATE = "approximate: differences nearly right, scores of single systems less so, not guaranteed"

# Values that differ by less than this share of their range are the same.
_NOTHING = 1e-9
# How many neighbours in prediction lend their errors, on either side.
_NEIGHBOURS = 15


def estimate_ratio_by_design(
    collection: Collection,
    measure: Measure,
    *,
    scale: Scale,
    order: ItemSampling,
    judged_gain: Floats,
    prediction: Floats,
    rng: np.random.Generator,
    draws: int = 50,
    level: float = 0.95,
) -> DesignResult:
    """Estimate nDCG or nRBP from the judged prefix of a sample order: approximately, see the top of this module.

    Parameters
    ----------
    collection, scale, order, judged_gain, prediction, level
        As for :func:`~earmark.inference.design_based.estimate_by_design`.
    measure : Measure
        ``nDCG`` with linear gain and its ideal over the pool (or over all judged documents, for estimates the same), or
        ``nRBP``.
    rng : numpy.random.Generator
        Where the errors of predictions are drawn from.
    draws : int, 2 or more
        How often the ideal is drawn.

    Returns
    -------
    DesignResult
        Exact where everything that matters is judged, else labelled as approximate.
    """
    normalised = normalised_over_pool(measure)
    numerator = numerator_of(normalised)
    if draws < 2:
        raise ParameterError(f"the ideal is drawn twice or more, got {draws}")
    lists = system_weights(collection, numerator, scale=scale)
    check_order(order, lists)
    check_items(collection.n_items, judged_gain, prediction)
    judged = judged_gain >= 0
    drawn = enough_drawn(order, judged)
    sample = Sample(drawn.sampled, drawn.inclusion, judged_gain, prediction)
    ideals = _draw_ideals(collection, numerator, sample, scale=scale, rng=rng, draws=draws)
    # About the first draw, so that an ideal that never changes is exactly that, with no variance.
    expected = ideals[0] + (ideals - ideals[0]).mean(axis=0)
    # Without a known ideal, what little was seen of a query is compared with one document of top gain at least.
    incomplete = np.bincount(collection.item_query[~sample.sampled], minlength=expected.size) > 0
    single = float(rank_weights(numerator, np.array([1]), scale)[0]) * scale.top
    ideal = np.where(incomplete, np.maximum(expected, single), expected)
    over_ideal = np.divide(1.0, ideal, out=np.zeros(ideal.shape), where=ideal > 0)
    rows = weight_rows(csr_array(lists * over_ideal[collection.item_query]))
    known = no_entry(rows, incomplete[collection.item_query])
    found = corrected_sums(rows, sample, known, top=scale.top, level=level)
    spread = (ideals - ideals[0]).var(axis=0, ddof=1) * over_ideal**2
    found = replace(found, variance=found.variance + _of_ideals(rows, sample, collection, spread))
    estimates = as_estimates(found, rows, collection, normalised, int(np.count_nonzero(judged)))
    return DesignResult(estimates, drawn.n, EXACT if drawn.complete else APPROXIMATE)


def _draw_ideals(
    collection: Collection, numerator: Measure, sample: Sample, *, scale: Scale, rng: np.random.Generator, draws: int
) -> Floats:
    """Draw the value of every query's ideal ranking, shape (draws, queries)."""
    queries = Segments.from_counts(np.bincount(collection.item_query, minlength=len(collection.queries)))
    worth = rank_weights(numerator, queries.position, scale)
    seen = np.flatnonzero(sample.sampled)
    by_prediction = seen[np.argsort(sample.prediction[seen], kind="stable")]
    place = np.searchsorted(sample.prediction[by_prediction], sample.prediction)
    error = (sample.judged_gain - sample.prediction)[by_prediction]
    ideals = np.empty((draws, queries.size))
    for draw in range(draws):
        near = place + rng.integers(-_NEIGHBOURS, _NEIGHBOURS + 1, place.size)
        disturbed = sample.prediction + error[np.clip(near, 0, error.size - 1)]
        gain = np.where(sample.sampled, sample.judged_gain, np.clip(disturbed, 0.0, scale.top))
        ideals[draw] = queries.sum(worth * gain[np.lexsort((-gain, collection.item_query))])
    return ideals


def _of_ideals(rows: Sparse, sample: Sample, collection: Collection, spread: Floats) -> Floats:
    """Return what uncertain ideals add to the variance of every row, given the squares of their relative errors."""
    error = np.where(sample.sampled, sample.judged_gain - sample.prediction, 0.0)
    gain = sample.prediction + error / sample.inclusion
    n_items = collection.n_items
    shape = (n_items, spread.size)
    of_query: Sparse = csr_array((gain, collection.item_query, np.arange(n_items + 1)), shape=shape)
    return np.asarray((rows @ of_query).power(2) @ spread)


def estimate_by_complete_queries(
    collection: Collection,
    measure: Measure,
    *,
    scale: Scale,
    order: QueryOrder,
    judged_gain: Floats,
    predicted: Floats | None = None,
    level: float = 0.95,
) -> DesignResult:
    """Estimate any measure from the queries at the front of an order that are judged completely.

    Parameters
    ----------
    collection : Collection
    measure : Measure
        Of bounded range.
    scale : Scale
        The scale of the gains.
    order : QueryOrder
        In which queries were to be judged, fixed before anything was.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    predicted : ndarray of float, shape (systems, queries), optional
        Scores predicted for all lists. The prediction for a query must not depend on whether that query is among the
        complete ones: it may use judgments of a sample of items, but not those that completed the query.
    level : float, 0..1
        The level at which intervals will be asked for, where the rule of three has to stand in.

    Returns
    -------
    DesignResult
        `sampled` counts queries.

    Raises
    ------
    ParameterError
        If the range of the measure has no bounds, or too few queries are complete.
    """
    measured = over_pool(measure)
    measured.check(scale)
    low, high = measured.range
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ParameterError(f"{measure} has no bounds, and a sample of queries guarantees nothing without: use nDCG")
    if judged_gain.shape != (collection.n_items,):
        raise ParameterError(
            f"expected 'judged_gain' for each of {collection.n_items} items, got shape {judged_gain.shape}"
        )
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    complete = order.complete(judged_gain >= 0)
    n = complete.size
    if n < min(MINIMUM_QUERIES, n_queries):
        raise ParameterError(
            f"a guarantee for {measure} needs at least {min(MINIMUM_QUERIES, n_queries)} complete queries from the "
            f"front of the order, there are {n} of {n_queries}. Judge whole queries in that order, or trust the "
            "model: --inference model"
        )
    scores = measured.score(pooled_lists(collection, scale).with_gains(judged_gain)).reshape(n_systems, n_queries)
    guess = np.zeros((n_systems, n_queries)) if predicted is None else predicted
    if guess.shape != scores.shape or not np.all(np.isfinite(guess)):
        raise ParameterError(f"expected finite predicted scores of shape {scores.shape}, got shape {guess.shape}")
    a, b = all_pairs(n_systems)
    ours = scores[:, complete]
    apart = without_noise((ours[a] - ours[b]).T, ours.T).T
    same = same_lists(collection, measured.cutoff)[a, b] & ~apart.any(axis=1)
    of_scores = _query_means(ours, guess, complete=complete, bounds=(low, high), level=level)
    of_pairs = _query_means(apart, guess[a] - guess[b], complete=complete, bounds=(low - high, high - low), level=level)
    of_pairs = replace(
        of_pairs,
        mean=np.where(same, 0.0, without_noise(of_pairs.mean, of_scores.mean)),
        variance=np.where(same, 0.0, of_pairs.variance),
    )
    judged = int(np.count_nonzero(judged_gain >= 0))
    estimates = Estimates.of(collection, measured, of_scores, of_pairs, identical=same, judged=judged)
    return DesignResult(estimates, n, EXACT if n == n_queries else GUARANTEED)


def _query_means(
    values: Floats, predicted: Floats, *, complete: Ints, bounds: tuple[float, float], level: float
) -> Moments:
    """Estimate means over all queries from values of some, corrected predictions for all.

    Parameters
    ----------
    values : ndarray of float, shape (rows, complete queries)
    predicted : ndarray of float, shape (rows, queries)
    complete : ndarray of int, shape (complete queries,)
        Which queries those are.
    bounds : tuple of float
        Between which every value lies.
    level : float, 0..1
        Of intervals where the rule of three stands in.
    """
    n, n_queries = complete.size, predicted.shape[1]
    error = values - predicted[:, complete]
    mean = predicted.mean(axis=1) + error.mean(axis=1)
    left = 1.0 - n / n_queries
    variance = error.var(axis=1, ddof=1) * left / n if n > 1 else np.zeros(len(mean))
    df = np.full(mean.shape, float(max(n - 1, 1)))
    # Values that never vary, or predictions that are always off by the same, say nothing about what is unseen.
    constant, shifted = values[:, :1], predicted + error[:, :1]
    for pattern, varied in ((constant, values), (shifted, error)):
        steady = np.ptp(varied, axis=1) <= _NOTHING * (bounds[1] - bounds[0])
        deviation = np.maximum(bounds[1] - pattern.min(axis=1), pattern.max(axis=1) - bounds[0])
        escaping = np.minimum(left, most_unseen(level) / n) * deviation
        width = np.where(left > 0, np.abs(pattern.mean(axis=1) - mean) + escaping, 0.0)
        floor = np.where(steady, floor_variance(width, level=level), 0.0)
        variance, df = np.maximum(variance, floor), np.where(floor > variance, FLOOR_DF, df)
    return Moments.exact(mean, variance, df=df)
