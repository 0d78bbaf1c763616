"""Cycles among preferences: x before y, y before z, and z before x.

Whatever two documents a majority is asked about, it decides; all its decisions together need not be an order. Cycles
are a sign of noise, or of documents that differ in more ways than one, and no list can satisfy them. They are counted
per query in two ways: *triads*, three documents with three preferences that go round, of all triads with three
preferences; and *knots*, sets of documents each of which can be reached from each other one by following preferences
(strongly connected components), which also finds longer cycles.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse import csgraph

from earmark.data.arrays import Floats, Ints
from earmark.data.preferences import PairTable


def count_cycles(pairs: PairTable, winner: Ints) -> pl.DataFrame:
    """Count the cycles among preferences, for every query.

    Parameters
    ----------
    pairs : PairTable
        The pairs.
    winner : ndarray of int, shape (pairs,)
        +1 where the first document is preferred, −1 where the second is, 0 for neither.

    Returns
    -------
    polars.DataFrame
        ``query``, ``preferences``, ``triads`` (with three preferences), ``cyclic_triads``, ``knots``,
        ``documents_in_knots`` and ``largest_knot`` (0 where there is none).
    """
    size, n_queries = max(len(pairs.documents), 1), len(pairs.queries)
    first, second = (pairs.query_index * size + index for index in (pairs.first_index, pairs.second_index))
    decided = winner != 0
    items, place = np.unique(np.concatenate([first[decided], second[decided]]), return_inverse=True)
    one, other = np.split(place, 2)
    ahead = winner[decided] > 0
    better, worse = np.where(ahead, one, other), np.where(ahead, other, one)
    query_of_item = items // size

    edges = sparse.csr_array((np.ones(better.size), (better, worse)), shape=(items.size, items.size))
    two_steps = edges @ edges
    # Two steps forward and one back to the start, per document: every cycle is met at each of its three documents.
    around: Floats = two_steps.multiply(edges.T).sum(axis=1)
    # Two steps and the short cut, from the one document that both of the others lose to.
    straight: Floats = two_steps.multiply(edges).sum(axis=1)
    cyclic = np.bincount(query_of_item, weights=around, minlength=n_queries) / 3
    transitive = np.bincount(query_of_item, weights=straight, minlength=n_queries)

    n_components, component = csgraph.connected_components(edges, directed=True, connection="strong")
    members = np.bincount(component, minlength=n_components)
    query_of_component = np.zeros(n_components, dtype=np.int64)
    query_of_component[component] = query_of_item
    knot = members > 1
    largest = np.zeros(n_queries, dtype=np.int64)
    np.maximum.at(largest, query_of_component[knot], members[knot])

    def per_query(index: Ints, weights: Ints | None = None) -> Ints:
        return np.bincount(index, weights=weights, minlength=n_queries).astype(np.int64)

    return pl.DataFrame(
        {
            "query": pl.Series(pairs.queries, dtype=pl.String),
            "preferences": per_query(pairs.query_index[decided]),
            "triads": np.rint(cyclic + transitive).astype(np.int64),
            "cyclic_triads": np.rint(cyclic).astype(np.int64),
            "knots": per_query(query_of_component[knot]),
            "documents_in_knots": per_query(query_of_component[knot], members[knot]),
            "largest_knot": largest,
        }
    )
