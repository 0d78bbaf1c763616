"""Conversion to and from what other programs hold in memory: dictionaries, frames, ir_measures' records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import polars as pl

from earmark.data.judgments import Aggregation, Judgments, aggregate
from earmark.data.runs import BadRow, Order, Runs, build_runs
from earmark.data.scales import Scale
from earmark.data.tables import id_column, number_column
from earmark.data.writers import scores_give_order
from earmark.errors import InputError, ParameterError

Id = str | int


class ScoredDocument(Protocol):
    """What ir_measures calls a ScoredDoc."""

    query_id: str
    doc_id: str
    score: float


class Relevance(Protocol):
    """What ir_measures calls a Qrel."""

    query_id: str
    doc_id: str
    relevance: int


def runs_from_dict(runs: Mapping[str, Mapping[Id, Mapping[Id, float]]]) -> Runs:
    """Make runs of ``{system: {query: {document: score}}}``: pytrec_eval's and ranx's dictionaries, by system."""
    rows = [
        (system, query, document, score)
        for system, lists in runs.items()
        for query, documents in lists.items()
        for document, score in documents.items()
    ]
    return _runs_from_rows(rows, runs)


def runs_of(runs: Mapping[Any, Mapping[Any, Any]], *, system: str = "run") -> Runs:
    """Make runs of a dictionary as :func:`runs_from_dict` takes it, or of one system's ``{query: {document: score}}``.

    Parameters
    ----------
    runs : dict
        Which of the two it is shows in how deep it is.
    system : str
        What the one system is called.
    """
    inner = next((one for lists in runs.values() for one in lists.values()), None)
    return runs_from_dict(runs if isinstance(inner, Mapping) else {system: runs})


def runs_from_records(runs: Mapping[str, Iterable[ScoredDocument]]) -> Runs:
    """Make runs of ``{system: records}``, records with ``query_id``, ``doc_id``, ``score``: ir_measures' ScoredDocs."""
    rows = [(system, r.query_id, r.doc_id, r.score) for system, records in runs.items() for r in records]
    return _runs_from_rows(rows, runs)


def _runs_from_rows(rows: Sequence[tuple[str, Id, Id, float]], systems: Iterable[str]) -> Runs:
    if not rows:
        raise InputError(expected="at least one retrieved document", got="none")
    # A system that retrieved nothing at all leaves no row, and would be missed by nobody.
    answering = {row[0] for row in rows}
    silent = next((name for name in systems if name not in answering), None)
    if silent is not None:
        raise InputError(expected="at least one retrieved document of every system", got=f"none of '{silent}'")
    columns = list(zip(*rows, strict=True))
    return runs_from_frame(
        pl.DataFrame(
            {
                "system": _texts(columns[0], "system"),
                "query": _texts(columns[1], "query"),
                "document": _texts(columns[2], "document"),
                "score": _floats(columns[3], "score"),
            }
        )
    )


def runs_from_frame(frame: Any, *, order: Order = "score") -> Runs:
    """Make runs of a polars or pandas frame with columns ``system``, ``query``, ``document`` and ``score`` or ``rank``.

    Without score and rank, the order of the rows is the ranking.
    """
    table = _to_polars(frame)
    missing = [name for name in ("system", "query", "document") if name not in table.columns]
    if missing:
        raise InputError(
            expected="columns system, query and document", got=f"no {', '.join(missing)} in {table.columns}"
        )
    if not table.height:
        raise InputError(expected="at least one retrieved document", got="none")
    numbers = {name: number_column(table[name]) for name in ("score", "rank") if name in table.columns}
    system, query, document = (id_column(table[name]) for name in ("system", "query", "document"))
    try:
        return build_runs(
            system=system,
            query=query,
            document=document,
            score=numbers.get("score"),
            rank=numbers.get("rank"),
            order=order,
        )
    except BadRow as bad:
        raise InputError(expected=bad.expected, got=bad.got) from None


def runs_to_dict(runs: Runs) -> dict[str, dict[str, dict[str, float]]]:
    """Make ``{system: {query: {document: score}}}``.

    Where there are no scores, or they do not give the order of the lists (they were read by rank), the negative rank
    stands for a score.
    """
    frame = runs.to_polars()
    if not scores_give_order(runs):
        frame = frame.with_columns(score=-pl.col("rank").cast(pl.Float64))
    result: dict[str, dict[str, dict[str, float]]] = {}
    for system, query, document, score in frame.select("system", "query", "document", "score").iter_rows():
        result.setdefault(system, {}).setdefault(query, {})[document] = score
    return result


def judgments_from_dict(judgments: Mapping[Id, Mapping[Id, float]], *, scale: Scale | None = None) -> Judgments:
    """Make judgments of ``{query: {document: gain}}``: pytrec_eval's and ranx's qrels."""
    rows = [(query, document, gain) for query, items in judgments.items() for document, gain in items.items()]
    return _judgments_from_rows(rows, scale)


def judgments_from_records(records: Iterable[Relevance], *, scale: Scale | None = None) -> Judgments:
    """Make judgments of records with ``query_id``, ``doc_id`` and ``relevance``: ir_measures' Qrels."""
    return _judgments_from_rows([(r.query_id, r.doc_id, r.relevance) for r in records], scale)


def _judgments_from_rows(rows: list[tuple[Id, Id, float]], scale: Scale | None) -> Judgments:
    if not rows:
        raise InputError(expected="at least one judgment", got="none")
    query, document, gain = zip(*rows, strict=True)
    frame = pl.DataFrame(
        {
            "query": _texts(query, "query"),
            "document": _texts(document, "document"),
            "gain": _floats(gain, "gain"),
        }
    )
    return Judgments.from_frame(frame, scale=scale)


def judgments_from_frame(frame: Any, *, scale: Scale | None = None) -> Judgments:
    """Make judgments of a polars or pandas frame with columns ``query``, ``document``, ``gain`` and more."""
    return Judgments.from_frame(_to_polars(frame), scale=scale)


def judgments_to_dict(judgments: Judgments, *, aggregation: Aggregation = "mean") -> dict[str, dict[str, float]]:
    """Make ``{query: {document: gain}}``, whole gains as integers, as pytrec_eval wants them.

    Where several assessors judged an item, ``aggregation`` makes one gain of theirs.
    """
    result: dict[str, dict[str, float]] = {}
    for query, document, gain in aggregate(judgments.frame, by=aggregation).iter_rows():
        result.setdefault(query, {})[document] = int(gain) if float(gain).is_integer() else gain
    return result


def refuse_paths(**given: object) -> None:
    """Refuse paths in place of what their files hold, naming the function that reads them.

    Parameters
    ----------
    **given
        What was given, by what it should be: ``runs``, ``judgments``, ``metadata`` or ``content``.

    Examples
    --------
    >>> refuse_paths(runs="runs.tsv")
    Traceback (most recent call last):
    earmark.errors.ParameterError: 'runs.tsv' is a path, not runs: read it first: earmark.read_runs('runs.tsv')
    """
    for kind, value in given.items():
        paths = value if isinstance(value, list | tuple) else [value]
        path = next((one for one in paths if isinstance(one, str | os.PathLike)), None)
        if path is not None:
            call = f"earmark.read_{kind}({os.fspath(path)!r})"
            raise ParameterError(f"'{os.fspath(path)}' is a path, not {kind}: read it first: {call}")


def _texts(values: Iterable[Any], name: str) -> pl.Series:
    """Turn ids into text; whole numbers are fine, anything else is a mistake worth naming."""
    texts = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | np.integer):
            raise InputError(expected=f"text or whole numbers as {name}", got=f"{value!r} ({type(value).__name__})")
        texts.append(str(value))
    return pl.Series(name, texts, dtype=pl.String)


def _floats(values: Sequence[Any], name: str) -> pl.Series:
    """Turn numbers into a column; a gap is left for the next check to find."""
    try:
        return pl.Series(name, values, dtype=pl.Float64)
    except (TypeError, ValueError):
        odd = next((value for value in values if not isinstance(value, float | int | np.number)), None)
        raise InputError(expected=f"a number as {name}", got=f"{odd!r} ({type(odd).__name__})") from None


def _to_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.split(".")[0] == "pandas":
        try:
            table = pl.from_pandas(frame)
        except (TypeError, ValueError) as error:
            # For example a column that holds text in some rows and numbers in others.
            raise InputError(expected="columns of one type each", got=str(error).split("\n")[0]) from None
        assert isinstance(table, pl.DataFrame)
        return table
    raise InputError(expected="a polars or pandas frame", got=type(frame).__name__)
