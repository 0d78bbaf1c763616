r"""From the queries at hand to the population of queries that they were drawn from.

An estimate about the queries at hand is conditional on them. The mean score over :math:`Q` queries differs from the
population mean by the sampling of queries, with variance :math:`B / Q` where :math:`B` is the variance of scores
between queries. So the variance of an estimate about the population is :math:`V + B/Q`, with Satterthwaite's degrees of
freedom for the sum: :math:`Q - 1` where everything is judged and the sampling of queries is the only uncertainty left.
Where queries are not independent of each other, units are what was sampled (:mod:`earmark.inference.units`).

Few queries may happen to be alike: of eight queries, all with their first hit at rank 1, scores would not vary at all.
So :math:`B` is guarded as :func:`~earmark.inference.units.guarded_spread` is, by the largest deviation of any query of
any system, or of any pair of systems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.estimates import Estimates, Moments
from earmark.beliefs.montecarlo import over_pool, pooled_lists
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.inference.units import Units, guard, unit_deviations
from earmark.measures.base import Measure

Target = Literal["sample", "population"]
TARGETS = {"sample": "these queries", "population": "queries like these"}
DRAWS = 200
_MANY = 1e6


@dataclass(frozen=True, eq=False)
class QuerySampling:
    """How much the sampling of queries adds to what is not known of systems' mean scores.

    Attributes
    ----------
    covariance : ndarray of float, shape (systems, systems)
        Of mean scores, by the sampling of queries.
    df : float
        Its degrees of freedom.
    score_guard, difference_guard : float
        What the variances of means, and of their differences, grow by, in case the queries at hand are too much alike.
    """

    covariance: Floats
    df: float
    score_guard: float = 0.0
    difference_guard: float = 0.0


def query_sampling(
    collection: Collection,
    beliefs: Beliefs,
    measure: Measure,
    *,
    rng: np.random.Generator,
    units: Units | None = None,
    draws: int = DRAWS,
) -> QuerySampling:
    r"""Return what the sampling of queries, or of units of queries, adds, as expected of draws of the gains.

    Raises
    ------
    ParameterError
        If there is one query only.
    """
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    if n_queries < 2:
        raise ParameterError("queries like these need two queries or more to tell how much queries differ, got one")
    units = units or Units.of(None, n_queries=n_queries)
    weight = 1.0 / (1.0 - units.size / n_queries)
    lists = pooled_lists(collection, beliefs.scale)
    estimated = over_pool(measure)
    total = np.zeros((n_systems, n_systems))
    of_scores = of_differences = 0.0
    for gains in beliefs.sample_chunks(rng, draws):
        scores = np.broadcast_to(estimated.score(lists.with_gains(gains)), (len(gains), lists.size))
        apart = unit_deviations(scores.reshape(-1, n_systems, n_queries), units)
        total += np.einsum("dsg,dtg->st", apart * weight, apart, optimize=True)
        of_scores += float(guard(np.abs(apart).max(axis=(1, 2)), units.count).sum())
        of_differences += float(guard(np.ptp(apart, axis=1).max(axis=1), units.count).sum())
    return QuerySampling(
        (total + total.T) / (2 * draws * units.count**2),
        units.df,
        of_scores / (draws * units.count),
        of_differences / (draws * units.count),
    )


def to_population(estimates: Estimates, sampling: QuerySampling) -> Estimates:
    """Turn estimates about the queries at hand into estimates about the population of queries.

    Parameters
    ----------
    estimates : Estimates
        About the queries at hand.
    sampling : QuerySampling
        As from :func:`query_sampling`.
    """
    between = sampling.covariance
    own = np.diagonal(between)
    a, b = estimates.a, estimates.b
    apart = np.maximum(own[a] + own[b] - 2.0 * between[a, b], 0.0) + sampling.difference_guard
    return replace(
        estimates,
        scores=_with_query_sampling(estimates.scores, own + sampling.score_guard, sampling.df),
        differences=_with_query_sampling(estimates.differences, np.where(estimates.identical, 0.0, apart), sampling.df),
    )


def _with_query_sampling(moments: Moments, sampling: Floats, df: float) -> Moments:
    total = moments.variance + sampling
    own_df = np.full(total.shape, _MANY) if moments.df is None else moments.df
    parts = moments.variance**2 / own_df + sampling**2 / df
    both = np.divide(total**2, parts, out=np.full(total.shape, _MANY), where=parts > 0)
    return replace(moments, variance=total, df=both)
