"""Which item stands where: the counts that features of items rest on, made once per collection.

A feature of an item, say the share of the results for its query that are by its artist, is a sum over a group of items,
written back to each of them. So every attribute becomes one integer per item, the number of its *group*: the items of
the same query whose documents have the same value. Sums over groups are then one pass over the items, whatever the
attribute is.

What is not known stays unknown. A document that the metadata do not name, or of which they do not know the attribute,
is in no group. A query has the attribute of the document with its id, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata


@dataclass(frozen=True, eq=False)
class Incidence:
    r"""Who retrieved what, counted.

    Attributes
    ----------
    item_query : ndarray of int, shape (items,)
    result_system, result_item, result_rank : ndarray of int, shape (results,)
        As in the collection.
    n_systems, n_queries, n_items, n_results : int
    systems_of_item : ndarray of int, shape (items,)
        How many systems retrieved the item: \|S(q, d)\|.
    results_of_query, items_of_query : ndarray of int, shape (items,)
        How many results, and how many items, the query of the item has: \|R(q)\| and \|D(q)\|.
    """

    item_query: Ints
    result_system: Ints
    result_item: Ints
    result_rank: Ints
    n_systems: int
    n_queries: int
    n_items: int
    n_results: int
    systems_of_item: Ints
    results_of_query: Ints
    items_of_query: Ints


@dataclass(frozen=True, eq=False)
class ItemAttribute:
    """One attribute of the documents, such as artist or genre, as groups of items.

    Attributes
    ----------
    known : ndarray of bool, shape (items,)
        Whether the document's value is known.
    group : ndarray of int, shape (items,), 0..n_groups
        The number of the group; `n_groups` itself where the value is not known.
    n_groups : int
        How many pairs of query and value there are.
    same_as_query : ndarray of float, shape (items,)
        1 where the document has the query's value, 0 where it has another, NaN where either is not known.
    frequency : ndarray of float, shape (items,), 0..1
        The share of all documents that the metadata name which have the document's value; NaN where it is not known.
    """

    known: Bools
    group: Ints
    n_groups: int
    same_as_query: Floats
    frequency: Floats


def incidence(collection: Collection) -> Incidence:
    """Count who retrieved what."""
    query, n_queries = collection.item_query, len(collection.queries)
    systems_of_item = np.bincount(collection.result_item, minlength=collection.n_items)
    results_of_query = np.bincount(query[collection.result_item], minlength=n_queries)
    return Incidence(
        item_query=query,
        result_system=collection.result_system,
        result_item=collection.result_item,
        result_rank=collection.result_rank,
        n_systems=len(collection.systems),
        n_queries=n_queries,
        n_items=collection.n_items,
        n_results=collection.n_results,
        systems_of_item=systems_of_item,
        results_of_query=results_of_query[query],
        items_of_query=np.bincount(query, minlength=n_queries)[query],
    )


def item_attribute(
    collection: Collection, metadata: Metadata, column: str, *, discarded: Sequence[str] = ()
) -> ItemAttribute:
    """Group the items of every query by an attribute of their documents.

    Parameters
    ----------
    collection : Collection
    metadata : Metadata
    column : str
        The attribute, one of `metadata.attributes`.
    discarded : sequence of str
        Values that stand for none, in any mixture of capitals and small letters.
    """
    none = [name.strip().lower() for name in discarded]
    table = (
        metadata.frame.select("document", value=pl.col(column).cast(pl.String))
        .drop_nulls()
        .filter(~pl.col("value").str.strip_chars().str.to_lowercase().is_in(none))
        .select("document", code=pl.col("value").rank("dense").cast(pl.Int64) - 1)
    )
    per_code = np.bincount(table["code"].to_numpy())
    of_document = _codes(collection.documents, table)[collection.item_document]
    of_query = _codes(collection.queries, table)[collection.item_query]
    known = of_document >= 0
    pairs, group = np.unique(collection.item_query[known] * per_code.size + of_document[known], return_inverse=True)
    same = np.where(known & (of_query >= 0), of_document == of_query, np.nan)
    groups = np.full(collection.n_items, pairs.size)
    groups[known] = group
    frequency = np.full(collection.n_items, np.nan)
    frequency[known] = per_code[of_document[known]] / max(metadata.frame.height, 1)
    return ItemAttribute(known, groups, pairs.size, same, frequency)


def _codes(ids: Sequence[str], table: pl.DataFrame) -> Ints:
    """Look up the code of every document or query; -1 where there is none."""
    frame = pl.DataFrame({"document": pl.Series(ids, dtype=pl.String)})
    codes = frame.join(table, on="document", how="left", maintain_order="left")["code"]
    return codes.fill_null(-1).to_numpy()
