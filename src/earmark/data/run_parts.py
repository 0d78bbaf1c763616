"""Runs that are not sorted by query, in parts that hold whole lists: the rows are distributed by a hash of the query.

Parts in memory are small enough for the cache of a processor, and several threads work on them. Parts on disk are as
large as memory allows. Either way the number of every row in the run stays beside it, to name what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.hashing import text_keys
from earmark.data.limits import max_bytes
from earmark.data.run_columns import RunColumns
from earmark.data.run_files import RunSource
from earmark.data.text_blocks import WORKERS, in_threads

# About how many bytes of a run make a part in memory.
PART_BYTES = 1 << 23
_MOST_PARTS = 1 << 10
# Blocks whose rows are distributed over the files on disk together.
_BLOCKS_AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a run, and the number of every row in the run."""

    columns: RunColumns
    row: NDArray[np.int64]


class RunParts(Protocol):
    """A run whose rows were distributed; every part has all rows of its queries."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in order of appearance."""

    @property
    def workers(self) -> int:
        """How many threads may read parts and work on them."""

    def pieces(self) -> Iterator[Any]:
        """Yield what :meth:`read` reads, one part after the other, once."""

    def read(self, piece: Any) -> Part:
        """Read a part."""


class PartsInMemory:
    """A run in parts that stay in memory until they are read.

    Parameters
    ----------
    source : RunSource
        The run, which is distributed at once.
    """

    workers = WORKERS

    def __init__(self, source: RunSource) -> None:
        count = min(_MOST_PARTS, source.size // PART_BYTES + 1)
        self._parts: list[list[Part]] = [[] for _ in range(count)]
        systems: dict[str, None] = {}
        first = 0

        def split(piece: Any) -> tuple[list[str], list[Part]]:
            columns = source.read(piece)
            return list(columns.system.ids.unique(maintain_order=True)), _split(columns, count)

        for found, parts in in_threads(split, source.pieces(limit=max_bytes())):
            systems |= dict.fromkeys(found)
            for pieces, part in zip(self._parts, parts, strict=True):
                pieces.append(Part(part.columns, part.row + first))
            first += sum(part.row.size for part in parts)
        self.systems = tuple(systems)

    def pieces(self) -> Iterator[list[Part]]:
        """Yield every part as it was read, in pieces, and forget it."""
        while self._parts:
            pieces = self._parts.pop()
            if any(piece.row.size for piece in pieces):
                yield pieces

    def read(self, piece: list[Part]) -> Part:
        """Join a part."""
        return Part(RunColumns.join([one.columns for one in piece]), np.concatenate([one.row for one in piece]))


def _split(columns: RunColumns, count: int) -> list[Part]:
    key = text_keys(columns.query.ids) % np.uint64(count)
    # Numbers of 16 bits are sorted in linear time.
    of_row = np.repeat(key.astype(np.uint16), columns.query.lengths)
    order = np.argsort(of_row, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(of_row, minlength=count))[:-1])
    return [Part(part, row) for part, row in zip(columns.distributed(rows), rows, strict=True)]


class PartsOnDisk:
    """A run in parts that are in folders of files.

    Parameters
    ----------
    source : RunSource
        The run, which is distributed at once.
    folder : Path
        Where the folders are made.
    count : int
        How many parts there are.
    """

    workers = 1

    def __init__(self, source: RunSource, folder: Path, count: int) -> None:
        self._folders = [folder / str(part) for part in range(count)]
        for one in self._folders:
            one.mkdir(parents=True)
        systems: dict[str, None] = {}
        waiting: list[pl.DataFrame] = []
        row = written = 0
        for columns in in_threads(source.read, source.pieces()):
            systems |= dict.fromkeys(columns.system.ids.unique(maintain_order=True))
            waiting.append(columns.to_frame(row))
            row += columns.rows
            if len(waiting) == _BLOCKS_AT_ONCE:
                self._write(waiting, written)
                written += 1
                waiting.clear()
        if waiting:
            self._write(waiting, written)
        self.systems = tuple(systems)

    def _write(self, blocks: list[pl.DataFrame], number: int) -> None:
        count = len(self._folders)
        frame = pl.concat(blocks).with_columns((pl.col("query").hash() % count).alias("part"))
        for (part,), rows in frame.partition_by("part", include_key=False, as_dict=True).items():
            rows.write_ipc(self._folders[part] / f"{number:06d}.arrow", compression="lz4")

    def pieces(self) -> Iterator[list[Path]]:
        """Yield the files of every part."""
        for folder in self._folders:
            files = sorted(folder.iterdir())
            if files:
                yield files

    def read(self, piece: list[Path]) -> Part:
        """Read the files of a part."""
        frame = pl.concat([pl.read_ipc(file.read_bytes()) for file in piece])
        return Part(RunColumns.from_frame(frame), frame["row"].to_numpy())
