"""Ground truth: one gain per item, from whatever kind of knowledge there is.

Three kinds of knowledge end here. *Judgments* give gains to items. *Cliques* say which documents belong together
(the versions of one song): each is a query, every other member is relevant to it and every document of another
clique is known not to be. *Ordered groups* say for each query which documents should come first, without amounts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.hashing import (
    KeyTable,
    Stretches,
    equal_row,
    number_by_appearance,
    stable_order,
    text_keys,
)
from earmark.data.judgments import Aggregation, Judgments, aggregate
from earmark.data.runs import sort_ids
from earmark.data.scales import BINARY, ORDERED, Scale
from earmark.errors import ParameterError
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class GroundTruth(Display):
    """What is known about the documents of every query.

    Parameters
    ----------
    queries : tuple of str
        The queries about which something is known, sorted.
    offsets : ndarray of int, shape (queries + 1,)
        Query ``q`` occupies the rows ``offsets[q]:offsets[q + 1]``.
    documents : polars.Series of String, shape (rows,)
        The documents named for each query.
    gain : ndarray of float, shape (..., rows)
        Their gains; negative where a document was pooled but not judged. Leading axes hold alternative gains
        (samples), where there are any.
    scale : Scale
        The scale of the gains.
    elsewhere : polars.Series of String, optional
        Documents known not to be relevant to any query that does not name them (all of a clique file's).
    own_document : bool
        A query is itself a document, which its list should not contain.
    """

    queries: tuple[str, ...]
    offsets: Ints
    documents: pl.Series
    gain: Floats
    scale: Scale
    elsewhere: pl.Series | None = None
    own_document: bool = False
    query_index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "query_index", {name: index for index, name in enumerate(self.queries)})

    @cached_property
    def query_of_row(self) -> Ints:
        """The query each row belongs to."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    @cached_property
    def best_first(self) -> Ints:
        """The permutation that sorts the rows of every query by gain, best first; where a row has one gain."""
        return np.lexsort((-np.maximum(self.gain, 0.0), self.query_of_row))

    @cached_property
    def rows_by_key(self) -> KeyTable:
        """Finds rows by their query and the hash of their document."""
        return KeyTable(text_keys(self.documents), np.diff(self.offsets))

    @cached_property
    def _computed(self) -> dict[Hashable, Floats]:
        return {}

    def once(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """Return what was computed under a key, once: lists are scored in pieces that share the truth."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]

    @cached_property
    def known_elsewhere(self) -> Ints:
        """For every query, how many documents are known not to be relevant without being named for it."""
        if self.elsewhere is None:
            return np.zeros(len(self.queries), dtype=np.int64)
        return self.elsewhere.len() - np.diff(self.offsets) - int(self.own_document)

    def restricted(self, queries: Ints) -> GroundTruth:
        """Return what is known about some of the queries, named by their places, which ascend."""
        counts = np.diff(self.offsets)[queries]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        rows = np.repeat(self.offsets[queries] - offsets[:-1], counts) + np.arange(offsets[-1])
        return GroundTruth(
            tuple([self.queries[place] for place in queries.tolist()]),
            offsets,
            self.documents[rows],
            self.gain[..., rows],
            self.scale,
            self.elsewhere,
            self.own_document,
        )

    @property
    def collection_size(self) -> int | None:
        """How many documents could be retrieved, where the truth lists them all."""
        return None if self.elsewhere is None else self.elsewhere.len() - int(self.own_document)

    def _summary(self) -> Summary:
        """Show for the first queries how many documents are known, and how many of them are relevant."""
        gain = self.gain if self.gain.ndim == 1 else self.gain.reshape(-1, self.gain.shape[-1])[0]
        relevant = np.bincount(self.query_of_row[gain > 0], minlength=len(self.queries))
        frame = pl.DataFrame(
            {
                "query": pl.Series(self.queries, dtype=pl.String),
                "documents": np.diff(self.offsets),
                "relevant": relevant,
            }
        )
        queries, rows = counted(len(self.queries), "query", "queries"), counted(self.documents.len(), "document")
        return Summary(f"{rows} of {queries}, scale {self.scale}", [DisplayTable(frame, most=5)])


def truth_from_judgments(judgments: Judgments, *, by: Aggregation = "mean") -> GroundTruth:
    """Aggregate judgments to one gain per item."""
    return _build(aggregate(judgments.frame, by=by), judgments.scale)


@dataclass(frozen=True, eq=False, repr=False)
class Cliques(Display):
    """Documents that belong together: the versions of one song.

    Parameters
    ----------
    frame : polars.DataFrame
        ``document`` and ``group``, one row per document.
    """

    frame: pl.DataFrame

    def __str__(self) -> str:
        cliques = counted(self.frame["group"].n_unique(), "clique")
        return f"{cliques} of {counted(self.frame.height, 'document')}"

    def _summary(self) -> Summary:
        """Show the first cliques with their members."""
        by_group = self.frame.group_by("group", maintain_order=True)
        frame = by_group.agg(pl.len().alias("size"), pl.col("document").str.join(", ").alias("documents"))
        alone = int((frame["size"] == 1).sum())
        notes = [f"{counted(alone, 'clique')} of one document: nothing is relevant to it"] if alone else []
        return Summary(str(self), [DisplayTable(frame, most=5)], notes)


def truth_from_cliques(cliques: Cliques, *, asked: Collection[str] | None = None) -> GroundTruth:
    """Make documents of cliques with two or more members queries for the others.

    Parameters
    ----------
    cliques : Cliques
    asked : collection of str, optional
        Which documents are queries; by default all. A file of cliques says which documents belong together, not
        which of them somebody asked for.

    Raises
    ------
    ParameterError
        If none of the documents asked for has another in its clique.
    """
    members = cliques.frame
    queries = members if asked is None else members.filter(pl.col("document").is_in(list(asked)))
    pairs = queries.rename({"document": "query"}).join(members, on="group", maintain_order="left_right")
    pairs = pairs.filter(pl.col("query") != pl.col("document")).select("query", "document", gain=pl.lit(1.0))
    if asked is not None and not pairs.height:
        raise ParameterError(
            "no query of the runs is a document of a clique of two or more: nothing is relevant to any"
        )
    return _build(pairs, BINARY, elsewhere=members["document"], own_document=True)


@dataclass(frozen=True, eq=False, repr=False)
class OrderedGroups(Display):
    """Partially ordered ground truth: for every query, groups of documents, best first.

    Parameters
    ----------
    frame : polars.DataFrame
        ``query``, ``document`` and ``group`` (whole numbers, 1 comes first).
    """

    frame: pl.DataFrame

    def __str__(self) -> str:
        groups = self.frame.select("query", "group").n_unique()
        return f"{counted(groups, 'ordered group')} of {counted(self.frame.height, 'document')}"

    def _summary(self) -> Summary:
        """Show the groups of the first queries, best first."""
        group = self.frame.group_by("query", "group", maintain_order=True).agg(pl.col("document").str.join(", "))
        in_order = group.sort("group", maintain_order=True).group_by("query", maintain_order=True)
        frame = in_order.agg(pl.format("({})", "document").str.join(" ").alias("groups, best first"))
        return Summary(str(self), [DisplayTable(frame.sort("query", maintain_order=True), most=5)])


def looks_like_groups(judgments: Judgments) -> bool:
    """Tell whether gains look like numbers of ordered groups: for every query 1, 2, … without a gap, and never 0."""
    gains = judgments.frame.group_by("query").agg(
        pl.col("gain").min().alias("least"), pl.col("gain").max().alias("most"), pl.col("gain").n_unique().alias("n")
    )
    counts_up = (pl.col("least") == 1) & (pl.col("most") == pl.col("n"))
    return gains.height > 0 and bool(gains.select(counts_up.all()).item()) and bool((gains["n"] > 1).any())


def truth_from_groups(groups: OrderedGroups) -> GroundTruth:
    """Turn group numbers around into gains that only order: the last group is worth 1."""
    gain = (pl.col("group").max().over("query") - pl.col("group") + 1).cast(pl.Float64)
    return _build(groups.frame.select("query", "document", gain=gain), ORDERED)


def _build(
    items: pl.DataFrame, scale: Scale, *, elsewhere: pl.Series | None = None, own_document: bool = False
) -> GroundTruth:
    asked = Stretches.of(items["query"])
    number, first = number_by_appearance(equal_row(asked.ids))
    names = asked.ids.gather(first).to_list()
    queries = sort_ids(names)
    place = {name: index for index, name in enumerate(queries)}
    of_stretch = np.array([place[name] for name in names], dtype=np.int32)[number]
    documents, gain = items["document"].rechunk(), items["gain"].to_numpy().astype(np.float64)
    of_row = np.repeat(of_stretch, asked.lengths)
    if np.any(np.diff(of_stretch) <= 0):
        order = stable_order(of_row)
        documents, gain = documents.gather(order), gain[order]
    counts = np.bincount(of_row, minlength=len(queries))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return GroundTruth(queries, offsets, documents, gain, scale, elsewhere, own_document)
