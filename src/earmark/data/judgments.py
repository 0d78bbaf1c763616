"""Judgments: the gains that assessors gave to items.

A judgment says that an assessor found a document worth a gain for a query. Several assessors may judge the same
item; :func:`aggregate` makes one gain of them. A negative gain means, as in trec_eval, that the item was put
before the assessors (it is in the pool) but not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from earmark.data.columns import id_column, number_column
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.hashing import first_repeated_row
from earmark.data.scales import Scale, guess_scale
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

Aggregation = Literal["mean", "median", "majority"]
COLUMNS = ("query", "document", "gain", "assessor", "time", "sampled")


@dataclass(frozen=True, eq=False, repr=False)
class Judgments(Display):
    """A table of judgments and the scale they were given on.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns ``query``, ``document``, ``gain`` and, where known, ``assessor``, ``time``, ``sampled``.
    scale : Scale
        The judging scale.
    scale_guessed : bool
        The scale was not stated but guessed from the gains.
    """

    frame: pl.DataFrame
    scale: Scale
    scale_guessed: bool = False

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, scale: Scale | None = None) -> Judgments:
        """Check a table of judgments and guess its scale where none is given.

        Raises
        ------
        InputError
            If a column is missing or holds something else, a gain is off the scale, or an item is judged twice by
            the same assessor.
        """
        columns = [name for name in COLUMNS if name in frame.columns]
        missing = [name for name in COLUMNS[:3] if name not in columns]
        if missing:
            raise InputError(
                expected="columns query, document and gain",
                got=f"{', '.join(frame.columns) or 'none'} (no {' or '.join(missing)})",
            )
        ids = [name for name in ("query", "document", "assessor") if name in columns]
        gains = number_column(frame["gain"])
        frame = frame.select(columns).with_columns(*(id_column(frame[name]) for name in ids), pl.Series("gain", gains))
        if "sampled" in columns and frame["sampled"].dtype != pl.Boolean:
            said = pl.col("sampled").cast(pl.String).str.strip_chars().str.to_lowercase()
            frame = frame.with_columns(said.is_in(["true", "1", "1.0", "yes"]).fill_null(False).alias("sampled"))
        if not frame.height:
            raise InputError(expected="at least one judgment", got="none")
        known = scale or guess_scale(gains)
        off = off_scale_row(frame, known)
        if off is not None:
            raise InputError(expected=f"gains on the scale {known}", got=f"{gains[off]:g} in row {off}, counted from 0")
        twice = repeated_row(frame)
        if twice is not None:
            query, document = frame.row(twice)[:2]
            raise InputError(
                expected="one gain per item and assessor",
                got=f"document '{document}' judged twice for query '{query}'",
                hint="name the assessors in a column 'assessor' if several judged it",
            )
        return cls(frame, known, scale is None)

    def select(self, items: pl.DataFrame) -> Judgments:
        """Keep the judgments of these items, which their ``query`` and ``document`` name; the scale stays as it is.

        Raises
        ------
        InputError
            If none of them is judged.
        """
        kept = self.frame.join(items, on=["query", "document"], how="semi")
        if not kept.height:
            raise InputError(expected="items of which some are judged", got="none")
        return replace(self, frame=kept)

    def with_more(self, more: Judgments) -> Judgments:
        """Add judgments; where an assessor judged an item again, the later judgment counts.

        Parameters
        ----------
        more : Judgments
            The later ones. Where neither scale was stated, it is guessed anew from all gains.

        Raises
        ------
        ParameterError
            If two scales were stated that differ, or only one of the two tables names assessors.
        InputError
            If a gain is off the scale that was stated.

        Examples
        --------
        >>> first = Judgments.from_frame(pl.DataFrame({"query": ["q"], "document": ["a"], "gain": [30]}))
        >>> later = pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "gain": [40, 1]})
        >>> first.with_more(Judgments.from_frame(later)).frame["gain"].to_list()
        [40.0, 1.0]
        """
        stated = [one.scale for one in (self, more) if not one.scale_guessed]
        if len(set(stated)) > 1:
            raise ParameterError(f"judgments on the scale {stated[0]} cannot be added to by some on {stated[1]}")
        if ("assessor" in self.frame.columns) != ("assessor" in more.frame.columns):
            raise ParameterError("only some of the judgments name their assessors: name them in all, or in none")
        frame = pl.concat([self.frame, more.frame], how="diagonal")
        if "sampled" in frame.columns:
            frame = frame.with_columns(pl.col("sampled").fill_null(False))
        item = [name for name in ("query", "document", "assessor") if name in frame.columns]
        latest = frame.unique(item, keep="last", maintain_order=True)
        return Judgments.from_frame(latest, scale=stated[0] if stated else None)

    def __len__(self) -> int:
        return self.frame.height

    def to_polars(self) -> pl.DataFrame:
        """Return the table itself."""
        return self.frame

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame (needs the ``pandas`` extra)."""
        return self.frame.to_pandas()

    def __str__(self) -> str:
        items = self.frame.select("query", "document").n_unique() if len(self) else 0
        people = ""
        if "assessor" in self.frame.columns:
            people = f" by {counted(self.frame['assessor'].n_unique(), 'assessor')}"
        return f"{counted(len(self), 'judgment')} of {counted(items, 'item')}{people}, scale {self.scale}"

    def _summary(self) -> Summary:
        """Show the first of them."""
        return Summary(str(self), [DisplayTable(self.frame, most=5)])


def off_scale_row(frame: pl.DataFrame, scale: Scale) -> int | None:
    """Return the first row whose gain is not on the scale (a negative gain means unjudged and is fine)."""
    gains = frame["gain"].to_numpy()
    off = np.flatnonzero((gains >= 0) & ~scale.contains(gains))
    return int(off[0]) if off.size else None


def repeated_row(frame: pl.DataFrame) -> int | None:
    """Return the first row that judges an item its assessor had judged before."""
    who = [frame[name] for name in ("query", "document", "assessor") if name in frame.columns]
    return first_repeated_row(np.zeros(frame.height, dtype=np.int64), *who)


def aggregate(frame: pl.DataFrame, *, by: Aggregation = "mean") -> pl.DataFrame:
    """Make one gain per item of what several assessors said.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns ``query``, ``document``, ``gain``; without a column ``assessor`` every item has one gain already.
    by : {"mean", "median", "majority"}
        The majority is the most frequent gain, and the lowest of them if several are equally frequent. Negative
        gains (unjudged) only count for an item that nobody judged.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, ``gain``, one row per item.
    """
    rules = {
        "mean": pl.col("gain").mean(),
        "median": pl.col("gain").median(),
        "majority": pl.col("gain").mode().min(),
    }
    if by not in rules:
        raise ParameterError(f"unknown aggregation '{by}': use mean, median or majority")
    if "assessor" not in frame.columns:
        return frame.select("query", "document", "gain")
    item = ["query", "document"]
    judged = frame.filter(pl.col("gain") >= 0).group_by(item, maintain_order=True).agg(rules[by])
    unjudged = frame.filter(pl.col("gain") < 0).select(*item, "gain").unique(item, keep="first", maintain_order=True)
    return pl.concat([judged, unjudged.join(judged, on=item, how="anti")])
