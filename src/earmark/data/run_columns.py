"""The rows of a run as columns, before they are put in order: all of a run, or a piece of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.hashing import Stretches
from earmark.data.runs import Order, Runs, build_runs


@dataclass(frozen=True, eq=False)
class RunColumns:
    """Rows of a run.

    Parameters
    ----------
    system, query : Stretches
        The system and the query of every row.
    document : polars.Series of String
        The document of every row.
    score, rank : ndarray of float, optional
        What may order the lists.
    """

    system: Stretches
    query: Stretches
    document: pl.Series
    score: NDArray[np.floating] | None = None
    rank: NDArray[np.float64] | None = None

    @classmethod
    def join(cls, parts: Sequence[RunColumns]) -> RunColumns:
        """Put the rows of several pieces one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            Stretches.join([part.system for part in parts]),
            Stretches.join([part.query for part in parts]),
            pl.concat([part.document.alias("document") for part in parts], rechunk=False),
            _joined([part.score for part in parts]),
            _joined([part.rank for part in parts]),
        )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.query.rows

    @property
    def is_scattered(self) -> bool:
        """Whether the rows of queries are so mixed that other pieces must have some of them, too."""
        return self.query.starts.size > 2 * self.query.ids.n_unique() * self.system.ids.n_unique()

    def distributed(self, rows: Sequence[NDArray[np.integer]]) -> list[RunColumns]:
        """Return several selections of rows."""
        # In one piece of memory: taking rows out of several is several times slower.
        document, system, query = self.document.rechunk(), self.system, self.query.spelt_out()
        return [
            RunColumns(
                system.take(own),
                Stretches(np.arange(own.size), query[own], own.size),
                document[own],
                None if self.score is None else self.score[own],
                None if self.rank is None else self.rank[own],
            )
            for own in rows
        ]

    def build(self, order: Order) -> Runs:
        """Put the rows in order; see :func:`~earmark.data.runs.build_runs`."""
        return build_runs(
            system=self.system,
            query=self.query,
            document=self.document,
            score=self.score,
            rank=self.rank,
            order=order,
        )

    def to_frame(self, first_row: int) -> pl.DataFrame:
        """Return the columns as a frame, with the number of every row."""
        columns: dict[str, Any] = {
            "system": self.system.spelt_out(),
            "query": self.query.spelt_out(),
            "document": self.document,
            "row": np.arange(first_row, first_row + self.rows),
        }
        numbers = {"score": self.score, "rank": self.rank}
        return pl.DataFrame(columns | {name: column for name, column in numbers.items() if column is not None})

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> RunColumns:
        """Take the columns of a frame."""
        score, rank = (frame[name].to_numpy() if name in frame.columns else None for name in ("score", "rank"))
        return cls(Stretches.of(frame["system"]), Stretches.of(frame["query"]), frame["document"], score, rank)


def _joined(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    there = [column for column in columns if column is not None]
    return np.concatenate(there) if len(there) == len(columns) else None
