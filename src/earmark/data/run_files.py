"""Run files and folders in pieces: a piece holds whole lists where a run is sorted by query, as nearly all runs are.

A source gives out pieces, which threads then read; joined, they are the run. So a run is read by the same code whether
all of it is held in memory or each piece is scored and forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from earmark.data.files import is_packed, require_file
from earmark.data.hashing import Stretches
from earmark.data.layouts import run_layout
from earmark.data.limits import max_bytes
from earmark.data.lookalikes import refuse_columns
from earmark.data.named_columns import find_column, has_names, is_of_beir, rename_columns
from earmark.data.parquet_folders import ParquetRun, is_parquet_folder
from earmark.data.run_columns import RunColumns
from earmark.data.runs import BadRow, Order, Runs, as_single
from earmark.data.table_files import Layout, is_parquet, line_finder, read_block, read_named
from earmark.data.tables import Table, id_cells, number_cells
from earmark.data.text_blocks import before_last_group, in_threads, line_blocks
from earmark.errors import InputError

# A Parquet file of more bytes is read in pieces.
_LARGE_PARQUET = 1 << 26
# How many bytes of memory a byte of text takes while lists are put in order, and a byte of packed text.
_MEMORY_OF_TEXT = 3
_MEMORY_OF_PACKED = 15
_MOST_GRADE = 10
_SOUNDS_LIKE_SCORE = re.compile(r"score|dist(ance)?\b|simil|\brank|logit|bm25", re.IGNORECASE)


class RunSource(Protocol):
    """Where a run comes from."""

    @property
    def path(self) -> Path:
        """The file or the folder."""

    @property
    def size(self) -> int:
        """How many bytes there are to read."""

    @property
    def memory(self) -> int:
        """About how many bytes all of it takes while it is put in order."""

    def pieces(self, *, limit: int | None = None) -> Iterator[Any]:
        """Yield what :meth:`read` reads, one piece after the other; refuse more than so many bytes."""

    def read(self, piece: Any) -> RunColumns:
        """Read a piece; several threads may do so."""

    def error(self, row: int, **said: Any) -> InputError:
        """Build the error that points at one row of the run."""


@dataclass(frozen=True)
class TextRun:
    """A TREC run, or three columns of text."""

    path: Path
    layout: Layout
    encoding: str

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return self.path.stat().st_size

    @property
    def memory(self) -> int:
        """About how many bytes all of it takes while it is put in order."""
        return self.size * (_MEMORY_OF_PACKED if is_packed(self.path) else _MEMORY_OF_TEXT)

    @cached_property
    def _owner(self) -> str:
        return "tag" if "tag" in self.layout.columns else "system"

    def pieces(self, *, limit: int | None = None) -> Iterator[bytes]:
        """Yield blocks of lines, cut where the query changes; refuse more than so many bytes."""
        cells = list(self.layout.columns).index("query") + 1
        separator = b"\t" if self.layout.separator == "\t" else None

        def cut(text: bytes, end: int) -> int:
            return before_last_group(text, end, cells, separator)

        return line_blocks(self.path, self.encoding, limit=limit, cut=cut)

    def read(self, piece: bytes) -> RunColumns:
        """Read a block."""
        frame = read_block(piece, self.layout, self.path, self.encoding)
        table = Table(frame, str(self.path), line_finder(self.path, self.layout, self.encoding))
        return RunColumns(
            Stretches.of(frame[self._owner]),
            Stretches.of(frame["query"]),
            frame["document"],
            as_single(frame["score"]).to_numpy() if "score" in frame.columns else None,
            number_cells(table, "rank") if "rank" in frame.columns else None,
        )

    def error(self, row: int, **said: Any) -> InputError:
        """Build the error that points at one row."""
        return InputError(path=self.path, line=line_finder(self.path, self.layout, self.encoding)(row), **said)


@dataclass(frozen=True)
class NamedRun:
    """A CSV or Parquet file that is read at once."""

    path: Path
    encoding: str

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return self.path.stat().st_size

    @property
    def memory(self) -> int:
        """Reading checks itself whether it fits."""
        return 0

    @cached_property
    def _table(self) -> Table:
        named = read_named(self.path, encoding=self.encoding)
        table = rename_columns(named, ("query", "document"), ("system", "score", "rank"))
        if not {"system", "score", "rank"} & set(table.frame.columns) and find_column(named.frame.columns, "gain"):
            raise is_of_judgments(self.path, f"a file of judgments (columns {', '.join(named.frame.columns)})")
        if is_of_beir(named.frame.columns) and set(table.frame["score"].unique()) <= set(
            map(str, range(_MOST_GRADE + 1))
        ):
            raise is_of_judgments(self.path, "what looks like BEIR's judgments: query-id, corpus-id and whole numbers")
        if not {"score", "rank"} & set(table.frame.columns):
            _refuse_other_order(named, table)
        return table

    def pieces(self, *, limit: int | None = None) -> Iterator[Path]:
        """Yield one piece, which is the file."""
        yield self.path

    def read(self, piece: Path) -> RunColumns:
        """Read the file."""
        table = self._table
        score, rank = (number_cells(table, one) if one in table.frame.columns else None for one in ("score", "rank"))
        owner = id_cells(table, "system") if "system" in table.frame.columns else None
        return RunColumns(
            Stretches.same(file_stem(self.path), table.frame.height) if owner is None else Stretches.of(owner),
            Stretches.of(id_cells(table, "query")),
            id_cells(table, "document"),
            score,
            rank,
        )

    def error(self, row: int, **said: Any) -> InputError:
        """Build the error that points at one row."""
        return self._table.error(row, **said)


def open_run(path: Path, *, order: Order, encoding: str) -> RunSource:
    """Find out what kind of run there is."""
    if is_parquet_folder(path):
        return ParquetRun(path)
    file = require_file(path)
    if not has_names(file, encoding):
        return TextRun(file, run_layout(file, encoding, order), encoding)
    if is_parquet(file) and not is_packed(file) and file.stat().st_size > _LARGE_PARQUET:
        return ParquetRun(file)
    return NamedRun(file, encoding)


def read_run(source: RunSource, *, order: Order) -> Runs:
    """Read all of a run and put it in order.

    Raises
    ------
    InputError
        If it is too large, or naming the place of what is wrong.
    """
    pieces = source.pieces(limit=max_bytes())
    return build(RunColumns.join(list(in_threads(source.read, pieces))), source, order)


def build(columns: RunColumns, source: RunSource, order: Order) -> Runs:
    """Put rows in order; what is wrong is named by its place in the source."""
    check_columns(columns, source, order)
    try:
        return columns.build(order)
    except BadRow as bad:
        raise source.error(bad.row, expected=bad.expected, got=bad.got) from None


def check_columns(columns: RunColumns, source: RunSource, order: Order) -> None:
    """Refuse a run without rows, or without the column that is to order it."""
    if not columns.rows:
        raise InputError(expected="results of systems", got="an empty file", path=source.path)
    if order == "rank" and columns.rank is None and columns.score is not None:
        raise InputError(expected="a column 'rank' to order the lists by", got="none", path=source.path)
    refuse_columns(columns, source.path, by_score=order == "score")


def is_of_judgments(path: Path, got: str) -> InputError:
    """Build the error for judgments in the place of a run."""
    hint = "name judgments with --judgments, and repeat the option before every file: -j a.csv -j b.csv"
    return InputError(expected="a run", got=got, path=path, hint=hint)


def _refuse_other_order(named: Table, table: Table) -> None:
    """Refuse a run without scores and ranks that has a column which sounds like them: its rows may be in any order."""
    columns = [name for name in named.frame.columns if name not in table.frame.columns]
    name = next((name for name in columns if _SOUNDS_LIKE_SCORE.search(name)), None)
    if name is not None:
        raise InputError(
            expected="a column 'score' or 'rank', or rows in the order of ranks alone",
            got=f"a column '{name}'",
            path=named.path,
            hint="call it score if larger is better, rank if 1 is the best, or leave it out",
        )


def file_stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    return Path(path.name.removesuffix(".gz")).stem
