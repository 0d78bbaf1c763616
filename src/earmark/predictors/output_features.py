r"""Features of items that need no judgments: which systems retrieved a document, and what else was retrieved.

For a query q and a document d, let S be the systems, S(q, d) those that retrieved d for q, R(q) the results for q (a
document counts once for every system that retrieved it), D(q) the distinct documents among them and x(d) the value of
an attribute x of d: its artist, its genre. All functions return one number per item; those that need an attribute
return NaN where the document's value is not known, and count documents of unknown value among R(q) and D(q): they
were retrieved, and are not known to share the value.

Two papers define two similar features. Urbano and Schedl's pX [1]_ is a share of *results*: it reproduces their numbers
if R(q) counts multiplicities. Buckers' fX [2]_ is a share of *documents*: it has the maxima of his Table 3.4 if D(q)
counts every document once. (His list says "as the query document" where it means the retrieved document.) His other
features are defined for one result of one system; here they are averaged over the systems that retrieved the item.

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4.2.1.
.. [2] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity.
   Master's thesis, Delft University of Technology; sections 2.2.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earmark.data.arrays import Bools, Floats, Ints
from earmark.predictors.retrieval_counts import ItemAttribute, RetrievalCounts


def system_share(retrieved: RetrievalCounts) -> Floats:
    r"""Share of the systems that retrieved the item (pSYS, fSYS): \|S(q, d)\| / \|S\|."""
    return retrieved.systems_of_item / max(retrieved.n_systems, 1)


def team_share(retrieved: RetrievalCounts, team_of_system: Sequence[int]) -> Floats:
    """Share of the teams of which some system retrieved the item (pTEAM).

    Parameters
    ----------
    retrieved : RetrievalCounts
    team_of_system : sequence of int, length systems, 0..teams - 1
        Where every system is a team of its own this is `system_share`.
    """
    team, collection = np.asarray(team_of_system, dtype=np.int64), retrieved.collection
    pairs = np.unique(team[collection.result_system] * collection.n_items + collection.result_item)
    teams_of_item = np.bincount(pairs % max(collection.n_items, 1), minlength=collection.n_items)
    return teams_of_item / max(np.unique(team).size, 1)


def overlap(retrieved: RetrievalCounts) -> Floats:
    """Distinct items over results (OV), the same for all items; 1 means that no two systems share a result.

    For lists of equal length k this is items / (systems × queries × k).
    """
    return np.full(retrieved.collection.n_items, retrieved.collection.n_items / max(retrieved.collection.n_results, 1))


def mean_rank(retrieved: RetrievalCounts) -> Floats:
    """Average rank, from 1, at which systems retrieved the item (aRANK)."""
    collection = retrieved.collection
    total = np.bincount(collection.result_item, collection.result_rank, minlength=collection.n_items)
    return total / retrieved.systems_of_item


def result_count(retrieved: RetrievalCounts) -> Floats:
    r"""Results that the shares rest on (nRES): \|R(q)\|, which is systems × k for lists of equal length k."""
    return retrieved.results_of_query.astype(np.float64)


def attribute_result_share(retrieved: RetrievalCounts, attribute: ItemAttribute) -> Floats:
    r"""Share of the results for q with the document's value (pX): \|{r in R(q): x(r) = x(d)}\| / \|R(q)\|."""
    results = np.bincount(attribute.group, retrieved.systems_of_item, minlength=attribute.n_groups + 1)
    return _where_known(attribute, results[attribute.group] / retrieved.results_of_query)


def attribute_item_share(retrieved: RetrievalCounts, attribute: ItemAttribute) -> Floats:
    r"""Share of the distinct documents for q with the value (fX): \|{e in D(q): x(e) = x(d)}\| / \|D(q)\|."""
    items = np.bincount(attribute.group, minlength=attribute.n_groups + 1)
    return _where_known(attribute, items[attribute.group] / retrieved.items_of_query)


def attribute_system_share(retrieved: RetrievalCounts, attribute: ItemAttribute) -> Floats:
    """Share of the systems that retrieved some document with the document's value for q (fX_systems)."""
    width = attribute.n_groups + 1
    pairs = np.unique(retrieved.collection.result_system * width + attribute.group[retrieved.collection.result_item])
    systems = np.bincount(pairs % width, minlength=width)
    return _where_known(attribute, systems[attribute.group] / max(retrieved.n_systems, 1))


def attribute_share_of_others(retrieved: RetrievalCounts, attribute: ItemAttribute) -> Floats:
    """Share fX without the own system, averaged over the systems that retrieved the item (fX_others).

    Leaving a system out takes away the documents that it alone retrieved. An item that one system retrieved, alone of
    its value, thus gets 0, and so does every item where no other system answered the query.
    """
    system, item = retrieved.collection.result_system, retrieved.collection.result_item
    only_here = (retrieved.systems_of_item == 1)[item]
    lost = _count_by(system * retrieved.n_queries + retrieved.collection.item_query[item], only_here)
    lost_of_value = _count_by(system * (attribute.n_groups + 1) + attribute.group[item], only_here)
    of_value = np.bincount(attribute.group, minlength=attribute.n_groups + 1)[attribute.group][item] - lost_of_value
    left = retrieved.items_of_query[item] - lost
    share = np.divide(of_value, left, out=np.zeros(item.size), where=left > 0)
    total = np.bincount(item, share, minlength=retrieved.collection.n_items)
    return _where_known(attribute, total / retrieved.systems_of_item)


def _count_by(keys: Ints, counted: Bools) -> Ints:
    """For every entry, count the counted entries with the same key."""
    of_key = np.unique(keys, return_inverse=True)[1]
    return np.bincount(of_key[counted], minlength=of_key.max(initial=-1) + 1)[of_key]


def _where_known(attribute: ItemAttribute, values: Floats) -> Floats:
    return np.where(attribute.known, values, np.nan)
