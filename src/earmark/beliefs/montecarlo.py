r"""Estimates of any measure, by drawing gains from beliefs and scoring every system on each draw.

Measures such as nDCG or AP are no weighted sums of gains, so their distribution has no closed form. Drawing the gains
of all items many times and scoring all systems on *the same* draws (common random numbers) gives it to any precision:
what two systems share cancels in every draw, as it does in the exact formulas.

The result says how precise it is. With :math:`n` draws of variance :math:`s^2`, a mean has the standard error
:math:`s / \sqrt{n}`, and a variance :math:`\sqrt{(m_4 - s^4) / n}`, with :math:`m_4` the fourth central moment.

Estimates are about the pool: the items that some system retrieved. Normalised measures take their ideal ranking from
it, so ``nDCG@5`` is estimated as ``nDCG(ideal=pool)@5``, and measures that count relevant documents count those of the
pool.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.beliefs.beliefs import UNJUDGED, Beliefs
from earmark.beliefs.estimates import Estimates, Moments, all_pairs, without_noise
from earmark.beliefs.exact_estimates import check_beliefs, estimate_linear
from earmark.data.arrays import Floats, Segments
from earmark.data.collection import Collection
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.base import Measure
from earmark.measures.graded import nDCG

SAMPLES = 1000
"""How many draws are made unless told otherwise."""


def estimate(
    collection: Collection,
    beliefs: Beliefs,
    measure: Measure,
    *,
    rng: np.random.Generator,
    samples: int = SAMPLES,
    collection_size: int | None = None,
) -> Estimates:
    """Estimate any measure: exactly where it is linear, by Monte Carlo where it is not.

    Parameters
    ----------
    collection : Collection
    beliefs : Beliefs
        About the items of the collection.
    measure : Measure
    rng : numpy.random.Generator
        Where samples come from; a linear measure leaves it untouched.
    samples : int
        How many draws a measure that is not linear is averaged over.
    collection_size : int, optional
        How many documents could have been retrieved, for measures that count what was not.

    Examples
    --------
    >>> import earmark, numpy as np
    >>> from earmark.beliefs.beliefs import uniform_beliefs
    >>> lists = {"A": {"q": {"d1": 2, "d2": 1}}, "B": {"q": {"d1": 2, "d3": 1}}}
    >>> collection = Collection.from_runs(earmark.runs_from_dict(lists))
    >>> beliefs = uniform_beliefs(collection, scale=earmark.BINARY)
    >>> estimates = estimate(collection, beliefs, earmark.parse("nDCG@2"), rng=np.random.default_rng(0))
    >>> estimates.measure, bool(abs(estimates.differences.mean[0]) < 3 * estimates.differences.mean_error[0])
    (nDCG(ideal=pool)@2, True)
    """
    if measure.is_linear:
        return estimate_linear(collection, beliefs, measure)
    return estimate_montecarlo(collection, beliefs, measure, rng=rng, samples=samples, collection_size=collection_size)


def estimate_montecarlo(
    collection: Collection,
    beliefs: Beliefs,
    measure: Measure,
    *,
    rng: np.random.Generator,
    samples: int = SAMPLES,
    collection_size: int | None = None,
) -> Estimates:
    """Estimate any measure by Monte Carlo with common random numbers.

    Parameters
    ----------
    collection : Collection
    beliefs : Beliefs
        About the items of the collection.
    measure : Measure
    rng : numpy.random.Generator
    samples : int, 2 or more
        How many times gains are drawn.
    collection_size : int, optional
        How many documents could have been retrieved, for measures that count what was not.

    Returns
    -------
    Estimates
        With standard errors of all means and variances.
    """
    estimated = over_pool(measure)
    drawn = sample_scores(collection, beliefs, estimated, rng=rng, samples=samples, collection_size=collection_size)
    a, b = all_pairs(len(collection.systems))
    scores = _moments(drawn)
    differences = _moments(without_noise(drawn[:, a] - drawn[:, b], drawn))
    # Most measures depend on nothing beyond their cutoff, but only the draws tell whether this one does.
    identical = same_lists(collection, measure.cutoff)[a, b] & (differences.variance == 0) & (differences.mean == 0)
    return Estimates.of(collection, estimated, scores, differences, identical=identical, judged=beliefs.n_judged)


def sample_scores(
    collection: Collection,
    beliefs: Beliefs,
    measure: Measure,
    *,
    rng: np.random.Generator,
    samples: int,
    collection_size: int | None = None,
) -> Floats:
    """Score all systems on drawn gains; the parameters are those of :func:`estimate_montecarlo`.

    Returns
    -------
    ndarray of float, shape (samples, systems)
        Mean scores over all queries; a query that a system did not answer counts as an empty list.
    """
    if samples < 2:
        raise ParameterError(f"a variance needs two samples or more, got {samples}")
    check_beliefs(collection, beliefs, beliefs.scale)
    measure.check(beliefs.scale)
    lists = pooled_lists(collection, beliefs.scale, collection_size=collection_size)
    shape = (-1, len(collection.systems), len(collection.queries))
    chunks = [
        np.broadcast_to(measure.score(lists.with_gains(gains)), (len(gains), lists.size)).reshape(shape).mean(axis=-1)
        for gains in beliefs.sample_chunks(rng, samples)
    ]
    return np.concatenate(chunks)


def over_pool(measure: Measure) -> Measure:
    """Let a normalised measure take its ideal ranking from the pool, which is all that estimates know of."""
    if isinstance(measure, nDCG) and measure.ideal == "judged":
        return replace(measure, ideal="pool")
    return measure


def pooled_lists(collection: Collection, scale: Scale, *, collection_size: int | None = None) -> JudgedLists:
    """Return the ranked lists of a collection in the form that measures score.

    There is one list for every system and query, those of the first system first, empty where it did not answer. The
    rows of the ground truth are the items; their gains are yet to be filled in.
    """
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    of_list = collection.result_system * n_queries + collection.item_query[collection.result_item]
    order = np.lexsort((collection.result_rank, of_list))
    counts = np.bincount(of_list, minlength=n_systems * n_queries)
    truth = GroundTruth(
        collection.queries,
        Segments.from_counts(np.bincount(collection.item_query, minlength=n_queries)).offsets,
        pl.Series(collection.documents, dtype=pl.String).gather(collection.item_document),
        np.full(collection.n_items, UNJUDGED),
        scale,
    )
    return JudgedLists(
        truth,
        np.tile(np.arange(n_queries), n_systems),
        counts,
        Segments.from_counts(counts),
        collection.result_rank[order],
        collection.result_item[order],
        collection_size,
    )


def _moments(drawn: Floats) -> Moments:
    """Estimate mean and variance of every column from draws, shape (samples, columns), with their standard errors."""
    n = len(drawn)
    # Deviations from the first draw: a column that never changes then has exactly its value as mean and no variance.
    apart = drawn - drawn[0]
    mean = apart.mean(axis=0)
    squared = (apart - mean) ** 2
    variance = squared.sum(axis=0) / (n - 1)
    fourth = (squared**2).mean(axis=0)
    return Moments(
        drawn[0] + mean,
        variance,
        np.sqrt(variance / n),
        np.sqrt(np.maximum(fourth - variance**2, 0.0) / n),
    )


def same_lists(collection: Collection, cutoff: int | None) -> NDArray[np.bool_]:
    """Tell which systems retrieved the same documents at the same ranks up to a cutoff, shape (systems, systems)."""
    ranks = collection.ranks.copy()
    if cutoff is not None:
        ranks.data[ranks.data > cutoff] = 0
        ranks.eliminate_zeros()
    rows = [(ranks[[system]].indices.tobytes(), ranks[[system]].data.tobytes()) for system in range(ranks.shape[0])]
    number = {row: index for index, row in enumerate(rows)}
    kind = np.array([number[row] for row in rows])
    return np.asarray(kind[:, None] == kind)
