r"""From the queries at hand to the population of queries that they were drawn from.

An estimate about the queries at hand is conditional on them. The mean score over :math:`Q` queries differs from the
population mean by the sampling of queries, with variance :math:`B / Q` where :math:`B` is the variance of scores
between queries. So the variance of an estimate about the population is :math:`V + B/Q`, with Satterthwaite's degrees of
freedom for the sum: :math:`Q - 1` where everything is judged and the sampling of queries is the only uncertainty left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.estimates import Estimates, Moments
from earmark.beliefs.montecarlo import over_pool, pooled_lists
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.measures.base import Measure

Target = Literal["sample", "population"]
TARGETS = {"sample": "these queries", "population": "queries like these"}
DRAWS = 200
_MANY = 1e6


def between_query_covariance(
    collection: Collection, beliefs: Beliefs, measure: Measure, *, rng: np.random.Generator, draws: int = DRAWS
) -> Floats:
    r"""Return the expected covariance of systems' scores between queries, shape (systems, systems).

    It is the sample covariance over queries (divisor :math:`Q - 1`) of the scores for one draw of the gains, averaged
    over the draws.

    Raises
    ------
    ParameterError
        If there is one query only.
    """
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    if n_queries < 2:
        raise ParameterError("queries like these need two queries or more to tell how much queries differ, got one")
    lists = pooled_lists(collection, beliefs.scale)
    estimated = over_pool(measure)
    total = np.zeros((n_systems, n_systems))
    for gains in beliefs.sample_chunks(rng, draws):
        scores = np.broadcast_to(estimated.score(lists.with_gains(gains)), (len(gains), lists.size))
        by_query = scores.reshape(-1, n_systems, n_queries)
        apart = by_query - by_query.mean(axis=2, keepdims=True)
        total += np.einsum("dsq,dtq->st", apart, apart, optimize=True)
    return np.asarray(total / (draws * (n_queries - 1)))


def to_population(estimates: Estimates, between: Floats) -> Estimates:
    """Turn estimates about the queries at hand into estimates about the population of queries.

    Parameters
    ----------
    estimates : Estimates
        About the queries at hand.
    between : ndarray of float, shape (systems, systems)
        Covariance of scores between queries, as from :func:`between_query_covariance`.
    """
    own = np.diagonal(between)
    a, b = estimates.a, estimates.b
    apart = np.where(estimates.identical, 0.0, np.maximum(own[a] + own[b] - 2.0 * between[a, b], 0.0))
    return replace(
        estimates,
        scores=_with_query_sampling(estimates.scores, own, estimates.queries),
        differences=_with_query_sampling(estimates.differences, apart, estimates.queries),
    )


def _with_query_sampling(moments: Moments, between: Floats, queries: int) -> Moments:
    sampling = between / queries
    total = moments.variance + sampling
    own_df = np.full(total.shape, _MANY) if moments.df is None else moments.df
    parts = moments.variance**2 / own_df + sampling**2 / (queries - 1)
    df = np.divide(total**2, parts, out=np.full(total.shape, _MANY), where=parts > 0)
    return replace(moments, variance=total, df=df)
