"""Runs in Parquet: a file, or a folder of files partitioned by system or by query, as Hive, Spark and polars do.

In such a folder, ``system=a/part-0.parquet`` holds the results of the system ``a``; a column that the file has itself
counts more than the name of a folder. Files are read a million rows or so at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import polars as pl

from earmark.data.claims import refuse_output
from earmark.data.hashing import Stretches
from earmark.data.limits import too_large
from earmark.data.named_columns import find_column, rename_columns
from earmark.data.run_columns import RunColumns
from earmark.data.runs import as_single
from earmark.data.table_files import of_parquet
from earmark.data.tables import Table, id_cells, number_cells
from earmark.errors import InputError

ROWS_AT_ONCE = 1_000_000
_USED = ("system", "query", "document", "score", "rank")
# What a row takes in memory while lists are put in order, longer ids aside.
_BYTES_OF_ROW = 100
# The limit is on what a text file holds, which takes three times as much.
_MEMORY_OF_LIMIT = 3


@dataclass(frozen=True)
class Slice:
    """Some rows of a file."""

    path: Path
    start: int
    rows: int


def is_parquet_folder(path: Path) -> bool:
    """Tell whether a folder holds Parquet files, at whatever depth."""
    return path.is_dir() and next(path.rglob("*.parquet"), None) is not None


@dataclass(frozen=True)
class ParquetRun:
    """A run in one Parquet file or in a folder of them.

    Parameters
    ----------
    path : Path
        The file or the folder.
    """

    path: Path

    @cached_property
    def files(self) -> list[Path]:
        """The files, in the order of their names."""
        return sorted(self.path.rglob("*.parquet")) if self.path.is_dir() else [self.path]

    @cached_property
    def heights(self) -> dict[Path, int]:
        """How many rows each of the files has."""
        found = {}
        for file in self.files:
            refuse_output(file)
            with of_parquet(file):
                found[file] = int(pl.scan_parquet(file).select(pl.len()).collect().item())
        return found

    @property
    def memory(self) -> int:
        """About how many bytes all rows take while they are put in order."""
        return sum(self.heights.values()) * _BYTES_OF_ROW

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return sum(file.stat().st_size for file in self.files)

    def pieces(self, *, limit: int | None = None) -> Iterator[list[Slice]]:
        """Yield pieces of about a million rows, cut where the query changes; refuse more than so many bytes."""
        if limit is not None and self.memory > _MEMORY_OF_LIMIT * limit:
            raise too_large(self.path, limit)
        waiting: list[Slice] = []
        for file in self.files:
            for part in self._slices(file):
                waiting.append(part)
                if sum(one.rows for one in waiting) >= ROWS_AT_ONCE // 2:
                    yield waiting
                    waiting = []
        if waiting:
            yield waiting

    def _slices(self, file: Path) -> Iterator[Slice]:
        rows, start = self.heights[file], 0
        with of_parquet(file):
            scan = pl.scan_parquet(file)
            named = scan.collect_schema().names()
            query = find_column(named, "query")
            while start < rows:
                end = min(start + ROWS_AT_ONCE, rows)
                while query is not None and end < rows:
                    starts = Stretches.of(scan.slice(start, end - start).select(query).collect().to_series()).starts
                    if starts.size > 1:
                        end = start + int(starts[-1])
                        break
                    end = min(end + ROWS_AT_ONCE, rows)
                yield Slice(file, start, end - start)
                start = end

    def read(self, piece: list[Slice]) -> RunColumns:
        """Read a piece.

        Raises
        ------
        InputError
            Naming the file and the row of a cell that cannot be used.
        """
        return RunColumns.join([self._read(part) for part in piece])

    def _read(self, part: Slice) -> RunColumns:
        with of_parquet(part.path):
            scan = pl.scan_parquet(part.path)
            names = scan.collect_schema().names()
            used = [found for name in _USED if (found := find_column(names, name)) is not None]
            frame = scan.select(list(dict.fromkeys(used))).slice(part.start, part.rows).collect()
        for key, value in self._of_folders(part.path).items():
            if find_column(frame.columns, key) is None:
                frame = frame.with_columns(pl.lit(value).alias(key))
        table = Table(frame, str(part.path), lambda row: part.start + row + 1)
        table = rename_columns(table, ("query", "document"), ("system", "score", "rank"))
        score, rank = (number_cells(table, one) if one in table.frame.columns else None for one in ("score", "rank"))
        owner = id_cells(table, "system") if "system" in table.frame.columns else None
        return RunColumns(
            Stretches.same(self.path.stem, table.frame.height) if owner is None else Stretches.of(owner),
            Stretches.of(id_cells(table, "query")),
            id_cells(table, "document"),
            None if score is None else as_single(pl.Series(score)).to_numpy(),
            rank,
        )

    def _of_folders(self, file: Path) -> dict[str, str]:
        """Return what the names of folders say about all rows of a file."""
        pairs = (part.split("=", 1) for part in file.parent.relative_to(self._root).parts if "=" in part)
        named = {key: unquote(value) for key, value in pairs}
        return {
            name: named[found] for name in ("system", "query") if (found := find_column(list(named), name)) is not None
        }

    @property
    def _root(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def error(self, row: int, **said: Any) -> InputError:
        """Build the error that points at one row."""
        ends = np.cumsum(list(self.heights.values()))
        place = int(np.searchsorted(ends, row, side="right"))
        file = self.files[place]
        return InputError(path=file, line=row - int(ends[place]) + self.heights[file] + 1, **said)
