"""Runs: the ranked lists of systems, one list per system and query.

The order within a list is trec_eval's unless told otherwise: descending score, compared as 32-bit floats, and
among equal scores descending document id, compared byte by byte. It depends on scores and ids alone, never on the order
of the lines. A document may stand in a list once, and so may a rank where the ranks give the order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.display import MOST_ROWS, Display, DisplayTable, Summary
from earmark.data.hashing import Stretches, first_repeated_row, number_pairs, stable_order
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

Order = Literal["score", "rank"]
# Below this many results, one piece of memory is quicker to work on than one per file.
_SMALL = 500_000


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Display):
    """Ranked lists, stored one after the other.

    Parameters
    ----------
    systems : tuple of str
        The systems, in the order they were given.
    queries : tuple of str
        Every query that some system answered, sorted.
    list_system, list_query : ndarray of int, shape (lists,)
        Whose list it is and what it answers, as indices into the two above.
    offsets : ndarray of int, shape (lists + 1,)
        List ``i`` occupies ``documents[offsets[i]:offsets[i + 1]]``.
    documents : polars.Series of String, shape (results,)
        Document ids in rank order.
    scores : ndarray of float32, shape (results,), or None
        Retrieval scores where the systems gave any.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    list_system: NDArray[np.int64]
    list_query: NDArray[np.int64]
    offsets: NDArray[np.int64]
    documents: pl.Series
    scores: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return self.documents.len()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many documents each list holds."""
        return np.diff(self.offsets)

    @property
    def list_of_result(self) -> NDArray[np.int64]:
        """The list every result stands in."""
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every result in its list, from 1."""
        return np.arange(1, len(self) + 1) - np.repeat(self.offsets[:-1], self.lengths)

    def to_polars(self) -> pl.DataFrame:
        """One row per result: system, query, document, rank and, where known, score."""
        of = self.list_of_result
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String).gather(self.list_system[of]),
                "query": pl.Series(self.queries, dtype=pl.String).gather(self.list_query[of]),
                "document": self.documents,
                "rank": self.ranks,
            }
        )
        return frame if self.scores is None else frame.with_columns(score=pl.Series(self.scores))

    def select(self, systems: Iterable[str] | None = None, *, queries: Iterable[str] | None = None) -> Runs:
        """Keep only these systems, in this order, and only these queries; all where none are named."""
        chosen = _chosen(self.systems, systems, "system")
        asked = _chosen(self.queries, queries, "query")
        place = np.full(len(self.systems), -1)
        place[[self.systems.index(name) for name in chosen]] = np.arange(len(chosen))
        wanted = np.isin(np.array(self.queries, dtype=object), asked)
        lists = np.flatnonzero((place[self.list_system] >= 0) & wanted[self.list_query])
        lists = lists[np.argsort(place[self.list_system[lists]], kind="stable")]
        answered, query = np.unique(self.list_query[lists], return_inverse=True)
        lengths = self.lengths[lists]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        rows = np.repeat(self.offsets[:-1][lists] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Runs(
            tuple(chosen),
            tuple(self.queries[index] for index in answered),
            place[self.list_system[lists]],
            query,
            offsets,
            self.documents.gather(rows),
            None if self.scores is None else self.scores[rows],
        )

    def without(
        self,
        *,
        systems: Collection[str] = (),
        queries: Collection[str] = (),
        documents: Collection[str] = (),
        items: Collection[tuple[str, str]] = (),
    ) -> Runs:
        """Leave out systems, queries, documents and single items; the documents below move up.

        The result is that of files without them: a list that loses all of its documents is gone, and so is a system or
        a query without lists. Names that occur nowhere change nothing.

        Parameters
        ----------
        systems, queries, documents : collection of str
            What to leave out everywhere.
        items : collection of (query, document)
            Documents to leave out for one query.

        Raises
        ------
        ParameterError
            If nothing is left.
        """
        if not (systems or queries or documents or items):
            return self
        lists = np.isin(self.list_system, _places(self.systems, systems), invert=True)
        lists &= np.isin(self.list_query, _places(self.queries, queries), invert=True)
        of = self.list_of_result
        keep = lists[of]
        if documents:
            keep &= ~self.documents.is_in(pl.Series(list(documents), dtype=pl.String).implode()).to_numpy()
        if items:
            code = {name: index for index, name in enumerate(self.queries)}
            gone = [(code[query], document) for query, document in items if query in code]
            removed = pl.DataFrame(gone, schema={"query": pl.Int64, "document": pl.String}, orient="row")
            results = pl.DataFrame({"query": self.list_query[of], "document": self.documents}).with_row_index()
            keep[results.join(removed, on=["query", "document"], how="semi")["index"].to_numpy()] = False
        lengths = np.bincount(of[keep], minlength=self.lengths.size)
        left = np.flatnonzero(lengths)
        if not left.size:
            raise ParameterError("nothing is left: every result of every system was left out")
        of_system, system = np.unique(self.list_system[left], return_inverse=True)
        of_query, query = np.unique(self.list_query[left], return_inverse=True)
        names = [self.queries[index] for index in of_query]
        # Without some that are no numbers, the others may have to be sorted as numbers.
        asked = sort_ids(names)
        place = {name: index for index, name in enumerate(asked)}
        return Runs(
            tuple(self.systems[index] for index in of_system),
            asked,
            system,
            np.array([place[name] for name in names], dtype=np.int64)[query],
            np.concatenate(([0], np.cumsum(lengths[left]))),
            self.documents.filter(pl.Series(keep)),
            None if self.scores is None else self.scores[keep],
        )

    def renamed(self, systems: Sequence[str]) -> Runs:
        """Return the same lists under other system names."""
        return replace(self, systems=tuple(systems))

    def __str__(self) -> str:
        shortest, longest = (self.lengths.min(), self.lengths.max()) if self.lengths.size else (0, 0)
        depth = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
        counts = counted(len(self.systems), "system"), counted(len(self.queries), "query", "queries")
        documents = "document" if longest == 1 else "documents"
        return f"{', '.join(counts)}, {counted(len(self), 'result')}, lists of {depth} {documents}"

    def _summary(self) -> Summary:
        """Show how much every system returned, and the top of its first list."""
        systems = range(min(len(self.systems), MOST_ROWS))
        lists = [np.flatnonzero(self.list_system == system) for system in systems]
        frame = pl.DataFrame(
            {
                "system": pl.Series([self.systems[system] for system in systems], dtype=pl.String),
                "queries": [own.size for own in lists],
                "results": [int(self.lengths[own].sum()) for own in lists],
                "first list": pl.Series([self._top(int(own[0])) if own.size else "" for own in lists], dtype=pl.String),
            }
        )
        return Summary(str(self), [DisplayTable(frame, total=len(self.systems))])

    def _top(self, index: int, most: int = 3) -> str:
        """Name the query of a list and its first documents."""
        start, end = self.offsets[index : index + 2]
        first = self.documents.slice(int(start), min(most, int(end - start))).to_list()
        return f"{self.queries[self.list_query[index]]}: {', '.join(first)}{', …' if end - start > most else ''}"


class BadRow(Exception):  # noqa: N818 - caught by the reader, which knows the file
    """A row that cannot stand where it does, because of what stood before it."""

    def __init__(self, row: int, *, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.row, self.expected, self.got = row, expected, got


def as_single(score: pl.Series) -> pl.Series:
    """Return scores as 32-bit floats; one beyond their range is infinite, as it is for trec_eval."""
    with np.errstate(over="ignore"):
        return pl.Series(score.name, score.to_numpy().astype(np.float32, copy=False))


def check_order(order: str) -> None:
    """Refuse an order of lists that there is not."""
    if order not in get_args(Order):
        raise ParameterError(f"lists are ordered by score or by rank, not by '{order}'")


def build_runs(
    *,
    system: pl.Series | Stretches | str,
    query: pl.Series | Stretches,
    document: pl.Series,
    score: NDArray[np.floating] | None = None,
    rank: NDArray[np.float64] | None = None,
    order: Order = "score",
) -> Runs:
    """Sort columns of results into ranked lists.

    Parameters
    ----------
    system : polars.Series of String, Stretches or str
        The system of every row, or of all rows.
    query : polars.Series of String, or Stretches
        The query of every row.
    document : polars.Series of String
        The document of every row.
    score, rank : ndarray of float, finite, optional
        What orders a list; without either, the order of the rows does.
    order : {"score", "rank"}
        Which of the two to trust where both are there.

    Raises
    ------
    BadRow
        If a document stands twice in a list, or a rank does where the ranks give the order.
    InputError
        If the ranks are to give the order but there are only scores.
    """
    check_order(order)
    if order == "rank" and rank is None and score is not None:
        raise InputError(expected="ranks to order the lists by", got="scores alone")
    if document.len() < _SMALL:
        document = document.rechunk()
    asked = query if isinstance(query, Stretches) else Stretches.of(query)
    starts = asked.starts
    if isinstance(system, str):
        owners = pl.repeat(system, starts.size, eager=True)
    else:
        given = system if isinstance(system, Stretches) else Stretches.of(system)
        starts = asked.starts_with(given)
        owners = given.split_at(starts)
    heads = asked.split_at(starts)
    of_stretch, first = number_pairs(owners, heads)
    owners, heads = owners[first], heads[first]
    of_row = np.repeat(of_stretch, np.diff(starts, append=asked.rows))
    repeated = first_repeated_row(of_row, document)
    if repeated is not None:
        owner, head = owners[int(of_row[repeated])], heads[int(of_row[repeated])]
        got = f"'{document[repeated]}' twice in the list of system '{owner}' for query '{head}'"
        raise BadRow(repeated, expected="every document at most once in a list", got=got)
    single = None if score is None else as_single(pl.Series(score)).to_numpy()
    if rank is not None and (order == "rank" or single is None):
        permutation: NDArray[np.int64] | None = _order_by_rank(of_row, rank, owners, heads)
    else:
        permutation = _order(of_row, None if single is None else -single, document)
    if permutation is not None:
        # In one piece of memory: looking things up in several is several times slower.
        document = document.rechunk()[permutation]
        single = None if single is None else single[permutation]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(of_row, minlength=first.size))))
    systems, list_system = _numbered(owners, tuple)
    queries, list_query = _numbered(heads, sort_ids)
    return Runs(systems, queries, list_system, list_query, offsets, document, single)


def _numbered(
    ids: pl.Series, arrange: Callable[[Iterable[str]], tuple[str, ...]]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Arrange the different ids, and return for every id its place among them."""
    if ids.len() and (ids == ids[0]).all():
        return (ids[0],), np.zeros(ids.len(), dtype=np.int64)
    listed = ids.to_list()
    names = arrange(dict.fromkeys(listed))
    place = {name: index for index, name in enumerate(names)}
    return names, np.array([place[name] for name in listed], dtype=np.int64)


def _order(
    of_row: NDArray[np.int32], keys: NDArray[np.float32] | None, document: pl.Series
) -> NDArray[np.int64] | None:
    """Return the permutation that sorts by list, then key, then document id descending; None if all is in order."""
    grouped = bool(np.all(of_row[1:] >= of_row[:-1]))
    if keys is None:
        return None if grouped else stable_order(of_row)
    permutation: NDArray[np.int64] | None = None
    same_list = of_row[1:] == of_row[:-1]
    if grouped and not np.any(same_list & (keys[1:] < keys[:-1])):
        tied = same_list & (keys[1:] == keys[:-1])
    else:
        permutation, tied = _sorted_rows(of_row, keys)
    before = np.flatnonzero(tied)
    if not before.size:
        return permutation
    # Only what is tied has to be looked at again.
    at = np.unique(np.concatenate((before, before + 1)))
    rows = at if permutation is None else permutation[at]
    group = np.cumsum(~(tied[at - 1] & (at > 0)))
    frame = pl.DataFrame({"group": group, "document": document.gather(rows), "row": rows})
    resorted = frame.sort("group", "document", descending=[False, True])["row"].to_numpy()
    if permutation is None:
        if np.array_equal(resorted, rows):
            return None
        permutation = np.arange(of_row.size)
    permutation[at] = resorted
    return permutation


def _sorted_rows(of_row: NDArray[np.int32], keys: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the permutation that sorts by list, then key, and which rows are equal to the next in both."""
    # A float's bits sort like it once negatives are flipped; adding 0 makes one of both zeros.
    bits = (keys + np.float32(0)).view(np.uint32)
    sortable = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    permutation = stable_order(sortable, of_row)
    lists, ordered = of_row[permutation], sortable[permutation]
    return permutation, (lists[1:] == lists[:-1]) & (ordered[1:] == ordered[:-1])


def _order_by_rank(
    of_row: NDArray[np.int32], rank: NDArray[np.float64], owners: pl.Series, heads: pl.Series
) -> NDArray[np.int64]:
    """Return the permutation that sorts by list, then rank; no two documents of a list may share one."""
    permutation = np.lexsort((rank, of_row))
    lists, ranks = of_row[permutation], rank[permutation]
    shared = (lists[1:] == lists[:-1]) & (ranks[1:] == ranks[:-1])
    if shared.any():
        row = int(permutation[1:][shared].min())
        owner, head = owners[int(of_row[row])], heads[int(of_row[row])]
        got = f"rank {rank[row]:g} twice in the list of system '{owner}' for query '{head}'"
        raise BadRow(row, expected="every rank at most once in a list", got=got)
    return permutation


def join_runs(parts: Sequence[Runs]) -> Runs:
    """Put runs of different systems side by side."""
    if len(parts) == 1:
        return parts[0]
    systems = tuple(name for part in parts for name in part.systems)
    if len(set(systems)) < len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        raise InputError(
            expected="systems with different names",
            got=f"'{twice}' twice",
            hint="the same run given twice, or two runs with the same tag?",
        )
    queries = sort_ids({name for part in parts for name in part.queries})
    query_index = {name: index for index, name in enumerate(queries)}
    before = np.cumsum([0, *(len(part.systems) for part in parts)])
    recoded = [np.array([query_index[name] for name in part.queries], dtype=np.int64) for part in parts]
    scores = [part.scores for part in parts if part.scores is not None]
    documents = pl.concat([part.documents.rename("document") for part in parts], rechunk=False)
    return Runs(
        systems,
        queries,
        np.concatenate([part.list_system + first for part, first in zip(parts, before[:-1], strict=True)]),
        np.concatenate([codes[part.list_query] for part, codes in zip(parts, recoded, strict=True)]),
        np.concatenate(([0], np.cumsum(np.concatenate([part.lengths for part in parts])))),
        documents.rechunk() if documents.len() < _SMALL else documents,
        np.concatenate(scores) if len(scores) == len(parts) else None,
    )


def _places(known: tuple[str, ...], names: Collection[str]) -> list[int]:
    return [index for index, name in enumerate(known) if name in names]


def _chosen(known: tuple[str, ...], names: Iterable[str] | None, what: str) -> list[str]:
    if names is None:
        return list(known)
    chosen = list(dict.fromkeys(names))
    if not chosen:
        raise ParameterError(f"name at least one {what} to keep")
    there = set(known)
    unknown = [name for name in chosen if name not in there]
    if unknown:
        raise ParameterError(f"no {what} called '{unknown[0]}': there are {', '.join(known[:20])}")
    return chosen


def sort_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Sort ids as a person would: by number where all of them are whole numbers, else as text."""
    listed = list(ids)
    numeric = all(name.isascii() and name.isdigit() for name in listed)
    return tuple(sorted(listed, key=lambda name: (int(name), name)) if numeric else sorted(listed))


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names as a person would, every number within them as a number: ``run-9`` comes before ``run-10``."""

    def parts(name: str) -> list[tuple[str, int]]:
        return [(text, int(digits or -1)) for text, digits in re.findall(r"([^0-9]*)([0-9]{0,18})", name)]

    return tuple(sorted(names, key=lambda name: (parts(name), name)))
