"""How much scores differ between queries, judged or not: what a statement about *other* queries has to allow for."""

from __future__ import annotations

import numpy as np

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.montecarlo import over_pool, pooled_lists
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.measures.base import Measure

DRAWS = 200


def between_query_covariance(
    collection: Collection, beliefs: Beliefs, measure: Measure, *, rng: np.random.Generator, draws: int = DRAWS
) -> Floats:
    r"""Return the expected covariance of systems' scores over queries, shape (systems, systems).

    For every draw of the gains, the sample covariance over queries of the scores, with :math:`Q - 1` below; averaged
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
    covariance: Floats = total / (draws * (n_queries - 1))
    return covariance
