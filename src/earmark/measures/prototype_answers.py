"""Prototype answers: what a system could answer, reduced to what measures see and put in order by a person.

A prototype is the ranks of an answer's relevant documents, how many relevant documents there are, the list's length
and, where it is known, the collection's size. All retrieved documents count as judged, and so does the whole collection
where its size is given (Serrà 2007, section 3). Answers of equal order are equally good to the person.

References: Serra2007.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import require_file
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists
from earmark.data.scales import BINARY
from earmark.data.table_files import read_named
from earmark.data.tables import Table, parse_number
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

_COLUMNS = ("set", "order", "ranks", "relevant", "length")
_OPTIONAL = ("collection",)


@dataclass(frozen=True)
class Prototype:
    """An answer that a system could give.

    Parameters
    ----------
    order : float
        Its place in the wanted order; 1 is the best, equal numbers are equally good.
    ranks : tuple of int
        The ranks of its relevant documents, ascending.
    relevant : int
        How many relevant documents there are in all: :math:`|R_q|`.
    length : int
        How many documents it holds: :math:`|A|`.
    collection : int, optional
        How many documents could have been retrieved: :math:`|D|`.
    """

    order: float
    ranks: tuple[int, ...]
    relevant: int
    length: int
    collection: int | None = None

    def __post_init__(self) -> None:
        shown = " ".join(map(str, self.ranks))
        if self.length < 0:
            raise InputError(expected="a length of 0 or more", got=str(self.length))
        if self.relevant < 1:
            raise InputError(expected="one relevant document or more in the collection", got=str(self.relevant))
        if any(rank < 1 for rank in self.ranks):
            raise InputError(expected="ranks from 1 on", got=f"'{shown}'")
        if any(a >= b for a, b in pairwise(self.ranks)):
            raise InputError(expected="ranks that ascend, each of them once", got=f"'{shown}'")
        if self.ranks and self.ranks[-1] > self.length:
            raise InputError(expected=f"ranks up to the length {self.length}", got=str(self.ranks[-1]))
        if len(self.ranks) > self.relevant:
            raise InputError(
                expected=f"at most {self.relevant} ranks, one per relevant document",
                got=f"{len(self.ranks)} ('{shown}')",
            )
        least = self.length + self.relevant - len(self.ranks)
        if self.collection is not None and self.collection < least:
            raise InputError(
                expected=f"a collection of {least} documents or more (the list and the relevant ones it misses)",
                got=str(self.collection),
            )


@dataclass(frozen=True, repr=False)
class PrototypeSet(Display):
    """Answers that a person put in order.

    Parameters
    ----------
    name : str
        What the set is called.
    answers : tuple of Prototype
        Two or more, not all equally good, over collections of one size. They are kept best first and are called A1,
        A2, … by their place there.
    """

    name: str
    answers: tuple[Prototype, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", tuple(sorted(self.answers, key=lambda answer: answer.order)))
        if len(self.answers) < 2:
            raise InputError(expected=f"two answers or more in set '{self.name}'", got=str(len(self.answers)))
        if self.answers[0].order == self.answers[-1].order:
            raise InputError(
                expected=f"a better and a worse answer in set '{self.name}'",
                got=f"order {self.answers[0].order:g} for all of them",
            )
        if len({answer.collection for answer in self.answers}) > 1:
            raise InputError(expected=f"one collection size for set '{self.name}'", got="several, or gaps")

    @property
    def names(self) -> tuple[str, ...]:
        """What the answers are called: A1 is the best."""
        return tuple(f"A{place}" for place in range(1, len(self.answers) + 1))

    @property
    def wanted(self) -> str:
        """The wanted order in words, for example ``A1 > A2 = A3``."""
        return order_in_words(self.names, -np.array([answer.order for answer in self.answers]))

    def _summary(self) -> Summary:
        """Show the answers."""
        frame = pl.DataFrame(
            {
                "answer": self.names,
                "ranks of the relevant": [" ".join(map(str, answer.ranks)) for answer in self.answers],
                "relevant": [answer.relevant for answer in self.answers],
                "length": [answer.length for answer in self.answers],
            }
        )
        answers = counted(len(self.answers), "answer")
        return Summary(f"{self.name}, {answers}, wanted order {self.wanted}", [DisplayTable(frame)])


def read_prototypes(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> tuple[PrototypeSet, ...]:
    """Read prototype answers.

    Parameters
    ----------
    path : path
        A CSV (or TSV, or Parquet) file with columns ``set`` (which answers are compared with each other), ``order``
        (1 is the best), ``ranks`` (of the relevant documents, separated by spaces; may be empty), ``relevant``,
        ``length`` and, if known, ``collection``.
    encoding : str
        The text encoding of the file.

    Returns
    -------
    tuple of PrototypeSet
        In the order of the file.
    """
    table = read_named(require_file(path), encoding=encoding)
    _check_columns(table)
    frame = table.frame.cast(pl.String)
    rows_of: dict[str, list[int]] = {}
    answers = []
    for row, cells in enumerate(frame.iter_rows(named=True)):
        name = (cells["set"] or "").strip()
        if not name:
            raise table.error(row, expected="a set", got="nothing")
        rows_of.setdefault(name, []).append(row)
        try:
            answers.append(_read_prototype(cells, table.path))
        except InputError as error:
            raise _at(error, table, row) from None
    sets = []
    for name, rows in rows_of.items():
        try:
            sets.append(PrototypeSet(name, tuple(answers[row] for row in rows)))
        except InputError as error:
            raise _at(error, table, rows[0]) from None
    return tuple(sets)


def _check_columns(table: Table) -> None:
    present = table.frame.columns
    missing = [name for name in _COLUMNS if name not in present]
    unknown = [name for name in present if name not in (*_COLUMNS, *_OPTIONAL)]
    if missing or unknown:
        trouble = f"no {', '.join(missing)}" if missing else f"also {', '.join(unknown)}"
        raise InputError(
            expected=f"columns {', '.join(_COLUMNS)} and optionally {_OPTIONAL[0]}",
            got=f"{', '.join(present)} ({trouble})",
            path=table.path,
            line=1,
        )


def _read_prototype(cells: dict[str, str | None], path: str | None) -> Prototype:
    def number(text: str, name: str) -> float:
        # The caller adds the line, which takes a while to find and is wanted for an error only.
        return parse_number(text, name, path, 0)

    def whole(text: str, name: str) -> int:
        value = number(text, name)
        if value != int(value):
            raise InputError(expected=f"a whole number as {name}", got=f"'{text}'")
        return int(value)

    def cell(name: str) -> str:
        text = (cells[name] or "").strip()
        if not text:
            raise InputError(expected=f"a number as {name}", got="nothing")
        return text

    collection = (cells.get("collection") or "").strip()
    return Prototype(
        number(cell("order"), "order"),
        tuple(whole(rank, "rank") for rank in (cells["ranks"] or "").split()),
        whole(cell("relevant"), "relevant"),
        whole(cell("length"), "length"),
        whole(collection, "collection") if collection else None,
    )


def _at(error: InputError, table: Table, row: int) -> InputError:
    """Say of an error where in the file it is."""
    return table.error(row, expected=error.expected, got=error.got, hint=error.hint)


def prototype_lists(answers: Sequence[Prototype]) -> JudgedLists:
    """Make lists of prototype answers, one query each, in which every document is judged.

    Where the answers name their collection's size, which has to be one and the same, its other documents are known
    not to be relevant.
    """
    sizes = {answer.collection for answer in answers}
    if len(sizes) > 1:
        raise ParameterError("the answers come from collections of different sizes")
    collection = sizes.pop() if sizes else None
    length = np.array([answer.length for answer in answers], dtype=np.int64)
    relevant = np.array([answer.relevant for answer in answers], dtype=np.int64)
    retrieved = np.array([len(answer.ranks) for answer in answers], dtype=np.int64)
    hits = Segments.from_counts(length)
    is_relevant = np.zeros(int(length.sum()), dtype=bool)
    ranks = np.array([rank for answer in answers for rank in answer.ranks], dtype=np.int64)
    is_relevant[np.repeat(hits.offsets[:-1], retrieved) + ranks - 1] = True
    # A query's rows: its relevant documents, those the list holds first, and then what else the list holds.
    rows = Segments.from_counts(relevant + length - retrieved)
    place = np.where(is_relevant, hits.cumsum(is_relevant), np.repeat(relevant, length) + hits.cumsum(~is_relevant))
    row = np.repeat(rows.offsets[:-1], length) + place.astype(np.int64) - 1
    truth = GroundTruth(
        tuple(f"q{number}" for number in range(1, len(answers) + 1)),
        rows.offsets,
        _document_names(rows.position),
        (rows.position <= np.repeat(relevant, rows.counts)).astype(np.float64),
        BINARY,
        None if collection is None else _document_names(np.arange(1, collection + 1)),
    )
    return JudgedLists(truth, np.arange(len(answers)), length, hits, hits.position, row, collection)


def _document_names(numbers: Ints) -> pl.Series:
    return pl.Series("document", numbers).cast(pl.String)


def order_in_words(names: Sequence[str], level: Floats | Ints) -> str:
    """Write an order, highest level first: ``A1 > A2 = A3``."""
    order: list[int] = np.argsort(-level, kind="stable").tolist()
    words = names[order[0]]
    for before, after in pairwise(order):
        words += f" {'=' if level[before] == level[after] else '>'} {names[after]}"
    return words
