"""Counts of what systems retrieved, and groups of items by attribute: the basis of the features of items.

A feature of an item, such as the share of the results for its query that are by its artist, is a sum over a group of
items, written back to each of them. So every attribute becomes one integer per item, the number of its *group*: the
items of the same query whose documents have the same value. A sum over groups is then one pass over the items for any
attribute.

A document that the metadata do not contain, or whose attribute they do not contain, is in no group. A query has the
attribute of the document with the same id, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata


@dataclass(frozen=True, eq=False)
class RetrievalCounts:
    """How many systems retrieved every item, and how much was retrieved for its query.

    Parameters
    ----------
    collection : Collection
    """

    collection: Collection

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.collection.systems)

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.collection.queries)

    @cached_property
    def systems_of_item(self) -> Ints:
        r"""How many systems retrieved the item, \|S(q, d)\|, shape (items,)."""
        return np.bincount(self.collection.result_item, minlength=self.collection.n_items)

    @cached_property
    def results_of_query(self) -> Ints:
        r"""How many results the query of the item has, \|R(q)\|, shape (items,)."""
        query = self.collection.item_query
        return np.bincount(query[self.collection.result_item], minlength=self.n_queries)[query]

    @cached_property
    def items_of_query(self) -> Ints:
        r"""How many distinct documents the query of the item has, \|D(q)\|, shape (items,)."""
        return np.bincount(self.collection.item_query, minlength=self.n_queries)[self.collection.item_query]


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
        The share of the documents in the metadata that have the document's value; NaN where it is not known.
    """

    known: Bools
    group: Ints
    n_groups: int
    same_as_query: Floats
    frequency: Floats


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
        Values that mean "unknown", compared without regard to case.
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
