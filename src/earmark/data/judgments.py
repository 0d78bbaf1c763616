"""Judgments: the gains that assessors gave to items.

A judgment says that an assessor found a document worth a gain for a query. Several assessors may judge the same
item; :func:`aggregate` makes one gain of them. A negative gain means, as in trec_eval, that the item was put
before the assessors (it is in the pool) but not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.hashing import first_repeated_row
from earmark.data.runs import Runs
from earmark.data.scales import Scale, guess_scale
from earmark.data.tables import id_column, number_column
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

Aggregation = Literal["mean", "median", "majority"]
UNNAMED = "unnamed"
"""Who gave the answers that name no assessor, where others do."""
COLUMNS = ("query", "document", "gain", "assessor", "time", "sampled", "sequence", "key")


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
    replaced : int
        How many rows were left out because their assessor judged the same item again (:func:`current_answers`).
    unanswered : int
        How many rows of the files have no gain and were left out: questions that nobody has answered yet.
    """

    frame: pl.DataFrame
    scale: Scale
    scale_guessed: bool = False
    replaced: int = 0
    unanswered: int = 0

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, scale: Scale | None = None) -> Judgments:
        """Check a table of judgments and guess its scale where none is given.

        Raises
        ------
        InputError
            If a column is missing or holds something else, or a gain is off the scale.
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
        current = current_answers(frame)
        return cls(current, known, scale is None, frame.height - current.height)

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

    def merged(self, *others: Judgments) -> Judgments:
        """Put judgments of several files together by the rule of :func:`current_answers`; their order changes nothing.

        A row that is in several of them counts once. Where some name assessors, rows that do not are answers of one
        assessor, who is called `UNNAMED`.

        Parameters
        ----------
        *others : Judgments
            Where no scale was stated, it is guessed anew from all gains.

        Raises
        ------
        ParameterError
            If two scales were stated that differ.
        InputError
            If a gain is off the scale that was stated.

        Examples
        --------
        >>> first = Judgments.from_frame(pl.DataFrame({"query": ["q"], "document": ["a"], "gain": [30]}))
        >>> second = pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "gain": [40, 1]})
        >>> first.merged(Judgments.from_frame(second)).frame["gain"].to_list()
        [40.0, 1.0]
        """
        parts = (self, *others)
        stated = [one.scale for one in parts if not one.scale_guessed]
        if len(set(stated)) > 1:
            raise ParameterError(f"judgments on the scale {stated[0]} cannot be merged with judgments on {stated[1]}")
        frames = [one.frame.with_columns(moments(one.frame)) for one in parts]
        frame = pl.concat(frames, how="diagonal_relaxed")
        if "sampled" in frame.columns:
            frame = frame.with_columns(pl.col("sampled").fill_null(False))
        if "assessor" in frame.columns:
            frame = frame.with_columns(pl.col("assessor").fill_null(UNNAMED))
        merged = Judgments.from_frame(frame.unique(maintain_order=True), scale=stated[0] if stated else None)
        return replace(
            merged,
            replaced=merged.replaced + sum(one.replaced for one in parts),
            unanswered=sum(one.unanswered for one in parts),
        )

    def notes(self) -> list[str]:
        """Say what a reader has to know: a scale that was guessed, answers that were replaced, items nobody judged."""
        said = []
        if self.scale_guessed:
            levels = "any number from " if self.scale.continuous else ""
            ends = f"{levels}{self.scale.gains[0]:g} to {self.scale.top:g}"
            said.append(f"scale guessed: {self.scale} ({ends}); name it with --scale")
        if self.replaced:
            said.append(f"{counted(self.replaced, 'answer')} left out: the same assessor judged the item again")
        if self.unanswered:
            said.append(f"{counted(self.unanswered, 'row')} without a gain left out: not judged")
        negative = int((self.frame["gain"] < 0).sum())
        if negative:
            said.append(f"{counted(negative, 'document')} with a negative gain: not judged, as in trec_eval")
        return said

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


def merge_judgments(parts: Sequence[Judgments], *, unanswered: int = 0) -> Judgments:
    """Put the judgments of one file or more together, with rows that nobody answered; see :meth:`Judgments.merged`."""
    merged = parts[0].merged(*parts[1:]) if len(parts) > 1 else parts[0]
    return replace(merged, unanswered=merged.unanswered + unanswered)


def off_scale_row(frame: pl.DataFrame, scale: Scale) -> int | None:
    """Return the first row whose gain is not on the scale (a negative gain means unjudged and is fine)."""
    gains = frame["gain"].to_numpy()
    off = np.flatnonzero((gains >= 0) & ~scale.contains(gains))
    return int(off[0]) if off.size else None


def repeated_row(frame: pl.DataFrame) -> int | None:
    """Return the first row that judges an item its assessor had judged before."""
    who = [frame[name].fill_null("") for name in ("query", "document", "assessor") if name in frame.columns]
    return first_repeated_row(np.zeros(frame.height, dtype=np.int64), *who)


def current_answers(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep one answer per item and assessor: the latest one. Answers of different assessors are all kept.

    The order of rows changes nothing. The latest answer has the largest ``sequence``, then the largest ``time``; where
    neither tells, the larger gain counts. Rows without an assessor are answers of one unnamed assessor.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns ``query``, ``document``, ``gain``, and where known ``assessor``, ``time``, ``sequence``.

    Examples
    --------
    >>> said = {"query": ["q", "q"], "document": ["d", "d"], "gain": [2.0, 1.0], "sequence": [1, 2]}
    >>> current_answers(pl.DataFrame(said))["gain"].to_list()
    [1.0]
    """
    if repeated_row(frame) is None:
        return frame
    item = [name for name in ("query", "document", "assessor") if name in frame.columns]
    order = [name for name in ("sequence", "time", "gain") if name in frame.columns]
    by_time = (
        frame.with_row_index("row").with_columns(moments(frame)).sort(order, nulls_last=False, maintain_order=True)
    )
    return frame[by_time.unique(item, keep="last", maintain_order=True)["row"].sort()]


def moments(frame: pl.DataFrame) -> list[pl.Series]:
    """Return the column ``time`` as times in UTC, where there is one; null where it cannot be read as a time."""
    if "time" not in frame.columns:
        return []
    time = frame["time"]
    if time.dtype == pl.String:
        time = time.str.to_datetime(time_unit="us", time_zone="UTC", strict=False)
    elif isinstance(time.dtype, pl.Datetime):
        naive = time.dtype.time_zone is None
        time = (time.dt.replace_time_zone("UTC") if naive else time.dt.convert_time_zone("UTC")).dt.cast_time_unit("us")
    return [time]


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


def require_retrieved(judgments: Judgments, runs: Runs, path: Path | None) -> None:
    """Refuse judgments of which no item was retrieved: they are nearly always those of another collection."""
    asked = pl.Series(runs.queries, dtype=pl.String)
    of_result = asked.gather(runs.list_query[runs.list_of_result])
    retrieved = pl.DataFrame({"query": of_result, "document": runs.documents})
    if not judgments.frame.join(retrieved, on=["query", "document"], how="semi").height:
        refuse_other_collection(judgments, runs.queries, runs.documents[0] if len(runs) else None, path=path)


def refuse_other_collection(
    judgments: Judgments, queries: Sequence[str], document: str | None, *, path: Path | None = None
) -> None:
    """Refuse judgments of which no item was retrieved, showing how queries or documents are named in the runs.

    Parameters
    ----------
    judgments : Judgments
        They.
    queries : sequence of str
        The queries of the runs.
    document : str or None
        One of the documents of the runs.
    path : Path, optional
        The file of the judgments.
    """
    judged = judgments.frame
    shared = judged.filter(pl.col("query").is_in(pl.Series(queries, dtype=pl.String).implode()))
    column, name, known = (
        ("document", document, shared) if shared.height else ("query", next(iter(queries), None), judged)
    )
    if name is None or not judged.height:
        return
    things = {"document": "documents", "query": "queries"}[column]
    raise InputError(
        expected="judgments of some of the documents that were retrieved",
        got=f"judgments of none of them; in the runs, {things} are named like '{name}'",
        path=path,
        hint=f"in the judgments, {things} are named like '{known[column][0]}'",
    )
