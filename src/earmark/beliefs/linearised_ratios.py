r"""Normalised measures under correlated beliefs: the ratio of two sums, linearised.

The score of system s in query q is :math:`N_{sq} / D_q`, the discounted gain of its list over that of the ideal ranking
of the pool. The numerator is a weighted sum of gains, about which a linear model of effects is exact. The ideal ranking
is made of the highest gains, whatever items they belong to, so it needs gains that are on the scale:
:math:`D_q` comes from draws of levels (:mod:`earmark.beliefs.level_distributions`). With :math:`\hat D_q = E[D_q]` and
:math:`\hat r_{sq} = E[N_{sq}] / \hat D_q`, the mean score over Q queries is taken as

.. math:: \frac1Q \sum_q \Bigl( \hat r_{sq} + \frac{N_{sq} - \hat r_{sq} D_q}{\hat D_q} \Bigr),

the ratio to first order around the expected sums. Its mean is :math:`\frac1Q \sum_q \hat r_{sq}`; its variance comes
from draws in which numerator and ideal belong together. What the first order leaves out is
:math:`(\hat r\, Var[D] - Cov[N, D]) / \hat D^2`. It vanishes where a query with a better pool has proportionally better
lists, which is what real collections are like; additive effects are not, and the exact ratio of their draws is too low,
as it gives queries with poor pools still poorer lists.

The ideal depends on how many of a query's items have the highest levels, and so on more than the means and covariances
that the model is about. Queries differ in more than their means: in some hardly any item has the highest level, in
others nearly all good items have it. A model that does not know this expects too much of ideal rankings. On judged
collections of text and music the part that judged items do not fix, :math:`D_q - D_q^{judged}`, was drawn too large by
3 to 10% (:mod:`benchmarks.honesty.everywhere` prints the error of the ideal). So every draw of this part is reduced by
:data:`IDEAL_EXCESS`. What remains is taken as a relative error with the standard deviation c = :data:`IDEAL_ERROR` that
all queries share; with the share :math:`\kappa_q = 1 - D_q^{judged} / \hat D_q`, it adds
:math:`\bigl(\frac cQ \sum_q \hat r_{sq} \kappa_q\bigr)^2` to the variance of a score. Differences of systems hardly
depend on it.

References
----------
W. G. Cochran (1977). Sampling techniques, third edition, Wiley; chapter 6 on ratio estimators.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import numpy as np
from scipy.sparse import csr_array

from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.estimates import Estimates, Moments, all_pairs, mixture_moments, without_noise
from earmark.beliefs.exact_estimates import Sparse, check_beliefs, system_weights
from earmark.beliefs.montecarlo import over_pool, pooled_lists, same_lists
from earmark.beliefs.normalised_estimates import numerator_of
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.judged_lists import JudgedLists
from earmark.measures.base import Measure
from earmark.measures.graded import nDCG, nRBP

IDEAL_EXCESS = 0.05
"""By how much the unjudged part of ideal rankings is drawn too large, as a share of it."""
IDEAL_ERROR = 0.03
"""Standard deviation of the relative error that then remains in the unjudged part of ideal rankings."""


def is_linearised(measure: Measure) -> bool:
    """Tell whether a measure is a weighted sum of gains over that of the ideal ranking of the pool."""
    pooled = over_pool(measure)
    return isinstance(pooled, nRBP) or (isinstance(pooled, nDCG) and pooled.ideal == "pool" and pooled.gain == "linear")


def estimate_linearised(
    collection: Collection, beliefs: CorrelatedBeliefs, measure: Measure, *, rng: np.random.Generator, samples: int
) -> Estimates:
    """Estimate nDCG@k or nRBP@k.

    Parameters
    ----------
    collection : Collection
    beliefs : CorrelatedBeliefs
        About the items of the collection.
    measure : Measure
        One for which :func:`is_linearised` holds.
    rng : numpy.random.Generator
    samples : int, 2 or more
        How many times gains are drawn.
    """
    estimated = over_pool(measure)
    assert isinstance(estimated, (nDCG, nRBP))
    check_beliefs(collection, beliefs, beliefs.scale)
    n_queries = len(collection.queries)
    lists = pooled_lists(collection, beliefs.scale)
    again = deepcopy(rng)
    ideal = drawn_ideals(lists, beliefs, estimated, rng=rng, samples=samples)
    expected_ideal = ideal.mean(axis=0)
    over_ideal = np.divide(1.0, expected_ideal, out=np.zeros(n_queries), where=expected_ideal > 0)
    # The weights of gains in the mean score, every query's divided by its expected ideal.
    plain = system_weights(collection, numerator_of(estimated), scale=beliefs.scale)
    weights = csr_array(plain.multiply(over_ideal[collection.item_query]))
    expected_gain = beliefs.linear_mean
    # The part of every query in the mean score: its ratio over the number of queries.
    ratio = _by_query(plain, expected_gain, collection.item_query, n_queries) * over_ideal
    linear = np.concatenate([gains @ weights.T for gains, _ in _chunks(beliefs, again, samples)])
    drawn = linear - (ideal * over_ideal) @ ratio.T

    unknown = 1.0 - np.minimum(_judged_ideal(lists, beliefs, estimated) * over_ideal, 1.0)
    error = IDEAL_ERROR * (ratio @ unknown)

    a, b = all_pairs(len(collection.systems))
    of_case, covariance = beliefs.sums(weights)
    own = np.einsum("css->cs", covariance)
    mean = np.asarray(weights @ expected_gain)
    identical = same_lists(collection, measure.cutoff)[a, b]
    scores = _moments(mean, of_case, own, linear, drawn, error)
    differences = _moments(
        np.where(identical, 0.0, without_noise(mean[a] - mean[b], mean)),
        of_case[:, a] - of_case[:, b],
        np.where(identical, 0.0, np.maximum(own[:, a] + own[:, b] - 2.0 * covariance[:, a, b], 0.0)),
        linear[:, a] - linear[:, b],
        np.where(identical, 0.0, drawn[:, a] - drawn[:, b]),
        np.where(identical, 0.0, error[a] - error[b]),
    )
    return Estimates.of(collection, estimated, scores, differences, identical=identical, judged=beliefs.n_judged)


def drawn_ideals(
    lists: JudgedLists, beliefs: CorrelatedBeliefs, measure: nDCG | nRBP, *, rng: np.random.Generator, samples: int
) -> Floats:
    """Draw the discounted gain of every query's ideal ranking, shape (samples, queries).

    Parameters
    ----------
    lists : JudgedLists
        Those of :func:`~earmark.beliefs.montecarlo.pooled_lists`.
    beliefs : CorrelatedBeliefs
    measure : nDCG or nRBP
        With its ideal over the pool.
    rng : numpy.random.Generator
    samples : int
    """
    judged = _judged_ideal(lists, beliefs, measure)
    drawn = np.concatenate(
        [measure.ideal_of(lists.with_gains(levels))[:, : judged.size] for _, levels in _chunks(beliefs, rng, samples)]
    )
    return drawn - IDEAL_EXCESS * np.maximum(drawn - judged, 0.0)


def _judged_ideal(lists: JudgedLists, beliefs: CorrelatedBeliefs, measure: nDCG | nRBP) -> Floats:
    """Return the discounted gain of every query's ideal ranking if nothing but the judged items were any good."""
    known = np.where(beliefs.judged, beliefs.mean, 0.0)
    return measure.ideal_of(lists.with_gains(known[None]))[0, : beliefs.model.n_queries]


def _chunks(beliefs: CorrelatedBeliefs, rng: np.random.Generator, samples: int) -> Iterator[tuple[Floats, Floats]]:
    most = beliefs.draws_at_a_time
    for start in range(0, samples, most):
        yield beliefs.draw_with_levels(rng, min(most, samples - start))


def _by_query(weights: Sparse, gains: Floats, item_query: Ints, n_queries: int) -> Floats:
    """Return the part of every query in weighted sums of gains, shape (systems, queries)."""
    entries = weights.tocoo()
    place = entries.row * n_queries + item_query[entries.col]
    total = np.bincount(place, entries.data * gains[entries.col], minlength=weights.shape[0] * n_queries)
    return np.asarray(total.reshape(weights.shape[0], n_queries))


def _moments(mean: Floats, of_case: Floats, variance: Floats, linear: Floats, drawn: Floats, error: Floats) -> Moments:
    """Describe sums whose linear part is known exactly: draws tell by how much the ideal changes the variance.

    The square of `error` is added; `error` is the standard deviation that an error of the expected ideal causes.
    """
    _, scale, df = mixture_moments(of_case, variance)
    more = drawn.var(axis=0, ddof=1) - linear.var(axis=0, ddof=1)
    # Sampling errors of the two variances nearly cancel; what they leave must not take an exact variance away.
    spread = np.maximum(scale + more * (df - 2.0) / df, 0.5 * scale) + error**2 * (df - 2.0) / df
    return Moments(mean, spread, np.zeros_like(mean), np.abs(more) * np.sqrt(2.0 / (len(drawn) - 1)), df)
