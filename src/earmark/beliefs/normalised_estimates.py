r"""Normalised measures: the ways of estimating nDCG@k and nRBP@k that have been proposed, side by side.

The score of a query is a ratio: the discounted gain of the list over that of the ideal ranking of the pool. BIAS
compares several ways of estimating it when gains are uncertain, and finds the first to be too high throughout: the
ideal ranking is made of the items with the highest *expected* gain, which is lower than the highest gain will be.

``delta``
    The delta method on expected values: with numerator :math:`N` and ideal :math:`D`, both weighted sums,
    :math:`E[N/D] \approx E[N] / E[D]` and
    :math:`Var[N/D] \approx (Var[N] + r^2 Var[D] - 2 r\, Cov[N, D]) / E[D]^2` with :math:`r = E[N]/E[D]`: Eqs. 2.11 and
    2.12, written so that nothing is divided by :math:`E[N]`, which may be 0. BIAS takes the covariance as 0; so does
    this module unless told otherwise.
``mode``
    As ``delta``, with the label of maximum probability in place of every expected value (section 4.3.1), the lowest of
    them where several are equally probable. Variances stay those of the beliefs.
``rounded``
    As ``delta``, with every expected value rounded to the nearest label, halves upwards (section 4.3.1).
``truncated``
    Weighted sampling (section 4.3.2): Monte Carlo after removing all levels whose probability is below
    1/levels and sharing what is left among the others. Uniform predictions are meant not to contribute, so a level of
    probability exactly 1/levels is removed too, and an item left without any level gains 0.
``montecarlo``
    Monte Carlo from the beliefs as they are. This is what :func:`earmark.beliefs.montecarlo.estimate` does.

Differences use :math:`W_A - W_B` in the numerator of the first three forms and common samples in the others. Scores and
variances are averaged over queries by Eqs. 2.15 and 2.16. A query whose ideal is 0 scores 0 with no variance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from earmark.beliefs.beliefs import IndependentBeliefs, LevelProbabilities
from earmark.beliefs.estimates import Estimates, Moments, without_noise
from earmark.beliefs.exact_estimates import check_beliefs, query_weights, rank_weights
from earmark.beliefs.montecarlo import SAMPLES, estimate_montecarlo, over_pool
from earmark.data.arrays import Floats, Segments
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.measures.base import Measure
from earmark.measures.graded import DCG, RBP, nDCG, nRBP
from earmark.measures.relevance import divide

Form = Literal["delta", "mode", "rounded", "truncated", "montecarlo"]
Label = Literal["delta", "mode", "rounded"]
FORMS: tuple[Form, ...] = get_args(Form)

# A probability is above 1/levels if it is so by more than rounding.
_ABOVE_EVEN = 1.0 + 1e-9


def estimate_normalised(
    collection: Collection,
    beliefs: IndependentBeliefs,
    measure: Measure,
    *,
    form: Form,
    rng: np.random.Generator,
    samples: int = SAMPLES,
) -> Estimates:
    """Estimate nDCG@k or nRBP@k in one of the ways that BIAS compares.

    Parameters
    ----------
    collection : Collection
    beliefs : IndependentBeliefs
        About the items of the collection.
    measure : Measure
        ``nDCG`` with its ideal over the pool (or over all judged documents, for estimates the same), or ``nRBP``.
    form : {"delta", "mode", "rounded", "truncated", "montecarlo"}
        See the top of this module.
    rng : numpy.random.Generator
        Where samples come from, in the last two forms; the others leave it untouched.
    samples : int
        How many samples.
    """
    if form == "montecarlo":
        return estimate_montecarlo(collection, beliefs, normalised_over_pool(measure), rng=rng, samples=samples)
    if form == "truncated":
        probable = truncated_beliefs(beliefs)
        return estimate_montecarlo(collection, probable, normalised_over_pool(measure), rng=rng, samples=samples)
    if form in get_args(Label):
        return estimate_ratio(collection, beliefs, measure, label=form)
    raise ParameterError(f"unknown form '{form}': there are {', '.join(FORMS)}")


def estimate_ratio(
    collection: Collection,
    beliefs: IndependentBeliefs,
    measure: Measure,
    *,
    label: Label = "delta",
    with_covariance: bool = False,
) -> Estimates:
    """Estimate a normalised measure by the delta method, Eqs. 2.11 and 2.12 of BIAS.

    Parameters
    ----------
    collection : Collection
    beliefs : IndependentBeliefs
    measure : Measure
    label : {"delta", "mode", "rounded"}
        What an unjudged item is taken to be worth: its expected gain, its most probable level, or the level nearest to
        the expected gain.
    with_covariance : bool
        Count the covariance of numerator and ideal instead of taking them as independent.
    """
    normalised = normalised_over_pool(measure)
    top = numerator_of(normalised)
    check_beliefs(collection, beliefs, beliefs.scale)
    gain, variance = _label_gains(beliefs, label), beliefs.variance
    weights = query_weights(collection, top, scale=beliefs.scale)
    ideal = _ideal_weights(collection, top, gain, beliefs)
    queries = Segments.from_counts(np.bincount(collection.item_query, minlength=weights.n_queries))
    below, below_variance = queries.sum(ideal * gain)[:, None], queries.sum(ideal**2 * variance)[:, None]
    above = weights.add_up(weights.rows, gain)
    above_variance = weights.add_up(weights.rows.power(2), variance)
    ratio = _over(above, below)
    spread = above_variance + ratio**2 * below_variance
    if with_covariance:
        spread = np.maximum(spread - 2 * ratio * weights.add_up(weights.rows, ideal * variance), 0.0)
    n = weights.n_queries
    mean, difference = weights.split(ratio.sum(axis=0) / n)
    mean_variance, difference_variance = weights.split(_over(spread, below**2).sum(axis=0) / n**2)
    scores = Moments.exact(mean, mean_variance)
    # Each query's difference is one ratio, so identical lists still give exactly 0 with variance exactly 0.
    differences = Moments.exact(without_noise(difference, mean), difference_variance)
    return Estimates.of(
        collection, normalised, scores, differences, identical=weights.identical, judged=beliefs.n_judged
    )


def truncated_beliefs(beliefs: IndependentBeliefs) -> IndependentBeliefs:
    """Remove levels that are no more probable than they would be by chance, and share what is left among the others.

    An item all of whose levels are equally probable keeps none and gains 0.

    Examples
    --------
    >>> from earmark.beliefs.beliefs import from_probabilities
    >>> from earmark.data.scales import BROAD
    >>> beliefs = from_probabilities([[0.1, 0.4, 0.5], [1 / 3, 1 / 3, 1 / 3]], scale=BROAD)
    >>> truncated_beliefs(beliefs).expected.probabilities.round(3).tolist()
    [[0.0, 0.444, 0.556], [1.0, 0.0, 0.0]]
    """
    levels, probabilities = beliefs.expected.levels, beliefs.expected.probabilities
    kept = np.where(probabilities * levels.size > _ABOVE_EVEN, probabilities, 0.0)
    left = kept.sum(axis=1, keepdims=True)
    none = left[:, 0] == 0
    kept = _over(kept, left)
    if levels[0] > 0 and none.any():
        levels = np.concatenate(([0.0], levels))
        kept = np.concatenate((np.zeros((len(kept), 1)), kept), axis=1)
    kept[none, 0] = 1.0
    return replace(beliefs, expected=LevelProbabilities(levels, kept))


def normalised_over_pool(measure: Measure) -> Measure:
    """Return the measure with its ideal over the pool, or refuse one that is not normalised by it."""
    pooled = over_pool(measure)
    if isinstance(pooled, nRBP) or (isinstance(pooled, nDCG) and pooled.ideal == "pool"):
        return pooled
    raise ParameterError(f"{measure} is not normalised by the ideal ranking of the pool: use nDCG or nRBP")


def numerator_of(measure: Measure) -> Measure:
    """Return the weighted sum that a normalised measure divides by its highest possible value."""
    if isinstance(measure, nDCG):
        return DCG(gain=measure.gain, base=measure.base, discount=measure.discount, cutoff=measure.cutoff)
    assert isinstance(measure, nRBP)
    return RBP(p=measure.p, cutoff=measure.cutoff)


def _label_gains(beliefs: IndependentBeliefs, label: Label) -> Floats:
    """Return what every item is taken to be worth; a judged one is worth what it was given."""
    expected = beliefs.expected
    labels = {"delta": expected.mean, "mode": expected.most_probable, "rounded": expected.nearest}
    if label not in labels:
        raise ParameterError(f"unknown label '{label}': there are {', '.join(labels)}")
    return np.where(beliefs.judged, beliefs.judged_gain, labels[label])


def _ideal_weights(collection: Collection, measure: Measure, gain: Floats, beliefs: IndependentBeliefs) -> Floats:
    """Return the weight of every item in the ideal ranking of its query: highest gain first, then in item order."""
    order = np.lexsort((-gain, collection.item_query))
    position = Segments.from_counts(np.bincount(collection.item_query)).position
    weights = np.empty(gain.size)
    weights[order] = rank_weights(measure, position, beliefs.scale)
    return weights


def _over(numerator: Floats, denominator: Floats) -> Floats:
    """Divide rows, with 0/0 worth 0."""
    return divide(numerator, np.broadcast_to(denominator, numerator.shape))
