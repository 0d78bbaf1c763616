"""Collection: what is being evaluated, with ids turned into consecutive integers once and for all.

A collection holds the *items*, the (query, document) pairs that at least one system retrieved, sorted by query and then
document, and who retrieved which of them at what rank as one sparse matrix of systems × items. Systems are sorted by
name too, so that whatever is computed or drawn from a collection depends on what the files say and never on the order
in which they say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.data.arrays import Ints
from earmark.data.display import Display, DisplayTable, Summary, facts
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs, sort_names
from earmark.errors import ParameterError
from earmark.wording import counted

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Collection(Display):
    """Systems, queries, documents and the items that systems retrieved.

    Parameters
    ----------
    systems, queries, documents : tuple of str
        Ids, sorted; everywhere else they are indices into these.
    item_query, item_document : ndarray of int, shape (items,)
        The query and the document of every item; sorted by query, then document.
    result_system, result_item, result_rank : ndarray of int, shape (results,)
        Who retrieved which item at what rank, sorted by system and item.
    metadata : Metadata, optional
        What is known about the documents.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    item_query: Ints
    item_document: Ints
    result_system: Ints
    result_item: Ints
    result_rank: Ints
    metadata: Metadata | None = None

    @classmethod
    def from_runs(cls, runs: Runs, *, depth: int | None = None, metadata: Metadata | None = None) -> Collection:
        """Pool the first ``depth`` documents of every list (all of them by default)."""
        if depth is not None and depth < 1:
            raise ParameterError(f"a depth is 1 or more, got {depth}")
        names, rank, of = runs.documents, runs.ranks, runs.list_of_result
        kept = rank <= (depth or rank.size)
        if not kept.all():
            names, rank, of = names.filter(pl.Series(kept)), rank[kept], of[kept]
        unique = names.unique().sort()
        document = names.replace_strict(unique, np.arange(unique.len()), return_dtype=pl.Int64).to_numpy()
        # One array after the other, and none for longer than needed: of the largest collections, each is large.
        key = runs.list_query[of] * unique.len() + document
        del names, document, kept
        items, item_of_result = _number(key)
        del key
        systems = sort_names(runs.systems)
        place = {name: index for index, name in enumerate(systems)}
        system = np.array([place[name] for name in runs.systems], dtype=np.int64)[runs.list_system][of]
        del of
        # One key to sort by: systems one after the other, and the items of each.
        order = np.argsort(system * max(items.size, 1) + item_of_result, kind="stable")
        return cls(
            systems,
            runs.queries,
            tuple(unique),
            items // max(unique.len(), 1),
            items % max(unique.len(), 1),
            system[order],
            item_of_result[order],
            rank[order],
            metadata,
        )

    @property
    def n_items(self) -> int:
        """How many items there are to judge."""
        return self.item_query.size

    @property
    def n_results(self) -> int:
        """How many results the systems returned, counting an item once for every system that retrieved it."""
        return self.result_item.size

    @cached_property
    def ranks(self) -> csr_array:
        """Ranks as a sparse matrix of systems × items; 0 where a system did not retrieve the item."""
        from scipy.sparse import csr_array

        shape = (len(self.systems), self.n_items)
        ends = np.searchsorted(self.result_system, np.arange(shape[0] + 1))
        return csr_array((self.result_rank, self.result_item, ends), shape=shape)

    @cached_property
    def ranks_by_item(self) -> csc_array:
        """The same column by column: the systems that retrieved an item, and their ranks, stand side by side."""
        return self.ranks.astype(np.int32).tocsc()

    def item_frame(self) -> pl.DataFrame:
        """Return ``query`` and ``document`` of every item, in the order of the items."""
        return pl.DataFrame(
            {
                "query": pl.Series(self.queries, dtype=pl.String).gather(self.item_query),
                "document": pl.Series(self.documents, dtype=pl.String).gather(self.item_document),
            }
        )

    def __str__(self) -> str:
        counts = counted(len(self.systems), "system"), counted(len(self.queries), "query", "queries")
        return f"{', '.join(counts)}, {counted(self.n_results, 'result')}, {counted(self.n_items, 'item')}"

    def _summary(self) -> Summary:
        """Show what every system returned, and how much of it no other did."""
        size = len(self.systems)
        alone = np.bincount(self.result_item, minlength=self.n_items)[self.result_item] == 1
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "results": np.bincount(self.result_system, minlength=size),
                "of this system alone": np.bincount(self.result_system[alone], minlength=size),
            }
        )
        return Summary(str(self), [DisplayTable(frame)])


def _number(keys: Ints) -> tuple[Ints, Ints]:
    """Return the different keys in ascending order, and the number of every key among them."""
    unique = pl.Series(keys).unique().sort().to_numpy()
    return unique, np.searchsorted(unique, keys)


@dataclass(frozen=True, repr=False)
class Description(Display):
    """The row of a collection in Table 1 of Urbano2013.

    Attributes
    ----------
    systems, queries, results, items : int
        How many there are.
    teams : int or None
        How many teams sent the systems, where that is known.
    judged : int or None
        How many of the items are judged, where there are judgments.
    overlap : float
        The share of judging that systems save each other: 1 − items / results.
    depth_min, depth_max : int
        The length of the shortest and the longest list.
    missing_metadata : int or None
        How many items have a document of which some attribute is not known, where there is metadata.
    """

    systems: int
    teams: int | None
    queries: int
    results: int
    items: int
    judged: int | None
    overlap: float
    depth_min: int
    depth_max: int
    missing_metadata: int | None

    def _summary(self) -> Summary:
        """Show the numbers one below the other."""
        counts = counted(self.systems, "system"), counted(self.queries, "query", "queries")
        return Summary(f"{', '.join(counts)}, {counted(self.items, 'item')}", [facts(**asdict(self))])


def describe(
    collection: Collection,
    *,
    judgments: Judgments | None = None,
    teams: Mapping[str, str] | None = None,
) -> Description:
    """Count what a collection holds."""
    lists = np.unique(
        collection.result_system * len(collection.queries) + collection.item_query[collection.result_item],
        return_counts=True,
    )[1]
    results, items = collection.n_results, collection.n_items
    if teams is not None:
        unknown = [name for name in collection.systems if name not in teams]
        if unknown:
            raise ParameterError(f"no team is given for system '{unknown[0]}'")
    return Description(
        systems=len(collection.systems),
        teams=None if teams is None else len({teams[name] for name in collection.systems}),
        queries=len(collection.queries),
        results=results,
        items=items,
        judged=None if judgments is None else _count_judged(collection, judgments),
        overlap=1.0 - items / results if results else 0.0,
        depth_min=int(lists.min(initial=results)),
        depth_max=int(lists.max(initial=0)),
        missing_metadata=None if collection.metadata is None else _count_missing(collection, collection.metadata),
    )


def _count_judged(collection: Collection, judgments: Judgments) -> int:
    judged = judgments.frame.filter(pl.col("gain") >= 0)
    return collection.item_frame().join(judged, on=["query", "document"], how="semi").height


def _count_missing(collection: Collection, metadata: Metadata) -> int:
    known = metadata.frame.filter(pl.all_horizontal(pl.all().is_not_null()))
    return collection.item_frame().join(known, on="document", how="anti").height
