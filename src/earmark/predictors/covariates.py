r"""Covariates of the hierarchical predictor: what is known about an item before anything is judged.

=============  =========================================================================================================
``common``     logarithm of how many systems retrieved the item, over the logarithm of how many there are
``breadth``    the same for the effective number of systems: similar systems count as little more than one
``middle``     how well it separates systems: 1 where half of them retrieved it, 0 where all did
``rank``       how high they ranked it, 1 for the top of every list
``overlap``    mean share of other systems that retrieved the same documents, over the lists that contain the item
``agreement``  the same over all queries of the systems that retrieved it
``sX``         the document has the query's value of attribute X (its genre, say)
``pX``         the share of the results for the query with the document's value
``sX:pX``      their product
``matchX``     by how much more often than all systems those that retrieved the item return the query's value
``sizeX``      logarithm of how many items of the query have the document's value
``noX``        the document's value is not known
``nocontent``  the document has no content (:mod:`earmark.predictors.content_kernels`)
``closeness``  similarity of its content to that of the query, standardised over the items where both are known
=============  =========================================================================================================

Except for the sizes of groups, none of them grows with the number of systems, so that coefficients fitted on one
collection apply to another. A document that five variants of one system retrieved is weaker evidence than one that five
different systems retrieved: hence breadth, the logarithm of the effective number of systems
:math:`n^2 / \sum_{st} r_{st}` for n systems whose results have the cosine similarities :math:`r_{st}`. Breadth,
``middle``, overlap and the sizes of groups also correct for selection: an adaptive policy that looks for items that
separate systems picks items that differ from the rest in these covariates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from earmark.beliefs.stretches import STRETCH
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.predictors.content_kernels import ItemContent, item_content
from earmark.predictors.features import FeatureBuilder
from earmark.predictors.retrieval_counts import RetrievalCounts

OUTPUT = ("common", "breadth", "middle", "rank", "overlap", "agreement")
"""The covariates that need the retrieved lists only."""


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates of all items, and the groups of items within queries.

    Attributes
    ----------
    names : tuple of str, length c
    values : ndarray of float, shape (items, c)
        Never NaN: an unknown value is 0, and ``noX`` is 1.
    groups : dict of str to ndarray of int, shape (items,)
        By attribute, the number of the item's group within its query; -1 where it is not known.
    content : ItemContent or None
        Kernels of the documents' content, where there is any.
    """

    names: tuple[str, ...]
    values: Floats
    groups: dict[str, Ints]
    content: ItemContent | None = None

    @cached_property
    def standardised(self) -> Floats:
        """Values, centred and scaled over the collection; covariates that are the same for all items drop out."""
        apart = self.values - self.values.mean(axis=0)
        deviation = apart.std(axis=0)
        varies = deviation > 1e-9
        return np.asarray(apart[:, varies] / deviation[varies])


def covariates(collection: Collection, features: FeatureBuilder, content: Content | None = None) -> Covariates:
    """Compute the covariates of all items of a collection, including those of content where there is any."""
    columns = _output_covariates(collection)
    groups: dict[str, Ints] = {}
    for code, attribute in features.attributes.items():
        size = np.bincount(attribute.group, minlength=attribute.n_groups + 1)[attribute.group]
        same = np.asarray(np.nan_to_num(attribute.same_as_query), dtype=np.float64)
        share = np.asarray(np.nan_to_num(features.output()[f"p{code}"]), dtype=np.float64)
        columns[f"s{code}"] = same
        columns[f"p{code}"] = share
        columns[f"s{code}:p{code}"] = same * share
        columns[f"match{code}"] = _of_systems(collection, same)
        columns[f"size{code}"] = np.where(attribute.known, np.log(np.maximum(size, 1)), 0.0)
        columns[f"no{code}"] = (~attribute.known).astype(np.float64)
        groups[code] = np.where(attribute.known, attribute.group, -1)
    told = None if content is None else item_content(collection, content)
    if told is not None and not told.missing.all():
        columns["nocontent"] = told.missing
        if told.closeness.shape[1]:
            columns["closeness"] = told.closeness[:, 0]
    return Covariates(tuple(columns), np.column_stack(list(columns.values())), groups, told)


def _output_covariates(collection: Collection) -> dict[str, Floats]:
    retrieved = RetrievalCounts(collection)
    n_systems, n_queries, of_item = retrieved.n_systems, retrieved.n_queries, retrieved.systems_of_item
    system, item, rank = collection.result_system, collection.result_item, collection.result_rank
    deepest = max(int(rank.max(initial=1)), 1)
    the_list = system * n_queries + collection.item_query[item]
    others = (of_item[item] - 1) / max(n_systems - 1, 1)
    length = np.bincount(the_list, minlength=n_systems * n_queries)
    shared = np.bincount(the_list, others, minlength=n_systems * n_queries)
    by_system = shared.reshape(n_systems, n_queries).sum(axis=1) / np.maximum(
        length.reshape(n_systems, n_queries).sum(axis=1), 1
    )

    def mean_over_systems(values: Floats) -> Floats:
        return np.asarray(np.bincount(item, values, minlength=retrieved.collection.n_items) / of_item)

    return {
        "common": np.log(of_item) / np.log(max(n_systems, 2)),
        "breadth": np.log(_breadth(retrieved, result_overlap(collection))) / np.log(max(n_systems, 2)),
        "middle": 4.0 * of_item / n_systems * (1.0 - of_item / n_systems),
        "rank": mean_over_systems((deepest + 1 - rank) / deepest),
        "overlap": mean_over_systems((shared / np.maximum(length, 1))[the_list]),
        "agreement": mean_over_systems(by_system[system]),
    }


def _of_systems(collection: Collection, values: Floats) -> Floats:
    """Return for every item the mean value of all results of the systems that retrieved it, less that of all systems.

    So it tells systems apart, and says nothing about how good the pool of a collection is.
    """
    system, item, n_systems = collection.result_system, collection.result_item, len(collection.systems)
    results = np.maximum(np.bincount(system, minlength=n_systems), 1)
    of_system = np.bincount(system, values[item], minlength=n_systems) / results
    of_system -= of_system.mean()
    retrieved = np.bincount(item, minlength=collection.n_items)
    return np.asarray(np.bincount(item, of_system[system], minlength=collection.n_items) / retrieved)


def result_overlap(collection: Collection) -> Floats:
    """Return the cosine of systems' results over all queries, shape (systems, systems); 1 for the same documents."""
    n_systems = len(collection.systems)
    shared = np.zeros((n_systems, n_systems))
    for member in _members(collection):
        # Single precision holds the counts of a stretch exactly.
        few = member.astype(np.float32)
        shared += few.T @ few
    length = np.sqrt(np.maximum(np.diagonal(shared), 1.0))
    return np.asarray(shared / np.outer(length, length))


def _breadth(retrieved: RetrievalCounts, overlap: Floats) -> Floats:
    """Return the effective number of systems that retrieved every item, 1 or more."""
    # The sum of the overlaps of all pairs of the item's systems; that of a system with itself is 1.
    alike = [np.einsum("is,is->i", member @ overlap, member) for member in _members(retrieved.collection)]
    total = np.concatenate(alike) if alike else np.zeros(0)
    return np.asarray(np.maximum(retrieved.systems_of_item**2 / np.maximum(total, 1e-12), 1.0))


def _members(collection: Collection) -> Iterator[Floats]:
    """Yield which systems retrieved which items, shape (items, systems), for one stretch of items after the other."""
    ranks = collection.ranks_by_item
    for first in range(0, collection.n_items, STRETCH):
        ends = ranks.indptr[first : min(first + STRETCH, collection.n_items) + 1]
        member = np.zeros((ends.size - 1, len(collection.systems)))
        member[np.repeat(np.arange(len(member)), np.diff(ends)), ranks.indices[ends[0] : ends[-1]]] = 1.0
        yield member
