"""To and from what other programs hold in memory: dictionaries, frames, ir_measures' records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import polars as pl

from earmark.data.judgments import Judgments
from earmark.data.runs import Duplicate, Order, Runs, build_runs
from earmark.data.scales import Scale
from earmark.errors import InputError

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
    return _runs_from_rows(rows)


def runs_from_records(runs: Mapping[str, Iterable[ScoredDocument]]) -> Runs:
    """Make runs of ``{system: records}``, records with ``query_id``, ``doc_id``, ``score``: ir_measures' ScoredDocs."""
    return _runs_from_rows(
        [(system, r.query_id, r.doc_id, r.score) for system, records in runs.items() for r in records]
    )


def _runs_from_rows(rows: list[tuple[str, Id, Id, float]]) -> Runs:
    if not rows:
        raise InputError(expected="at least one retrieved document", got="none")
    columns = list(zip(*rows, strict=True))
    return runs_from_frame(
        pl.DataFrame(
            {
                "system": _texts(columns[0], "system"),
                "query": _texts(columns[1], "query"),
                "document": _texts(columns[2], "document"),
                "score": pl.Series(columns[3], dtype=pl.Float64),
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
    numbers = {name: _finite(table[name].cast(pl.Float64), name) for name in ("score", "rank") if name in table.columns}
    system, query, document = (_id_column(table[name]) for name in ("system", "query", "document"))
    try:
        return build_runs(
            system=system,
            query=query,
            document=document,
            score=numbers.get("score"),
            rank=numbers.get("rank"),
            order=order if "score" in numbers else "rank",
        )
    except Duplicate as duplicate:
        raise InputError(expected="every document at most once in a list", got=str(duplicate)) from None


def runs_to_dict(runs: Runs) -> dict[str, dict[str, dict[str, float]]]:
    """Make ``{system: {query: {document: score}}}``; without scores, the negative rank stands for one."""
    frame = runs.to_polars()
    if "score" not in frame.columns:
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
            "gain": pl.Series(gain, dtype=pl.Float64, strict=False),
        }
    )
    return Judgments.from_frame(frame, scale=scale)


def judgments_from_frame(frame: Any, *, scale: Scale | None = None) -> Judgments:
    """Make judgments of a polars or pandas frame with columns ``query``, ``document``, ``gain`` and more."""
    return Judgments.from_frame(_to_polars(frame), scale=scale)


def judgments_to_dict(judgments: Judgments) -> dict[str, dict[str, float]]:
    """Make ``{query: {document: gain}}``, whole gains as integers, as pytrec_eval wants them."""
    result: dict[str, dict[str, float]] = {}
    for query, document, gain in judgments.frame.select("query", "document", "gain").iter_rows():
        result.setdefault(query, {})[document] = int(gain) if float(gain).is_integer() else gain
    return result


def _texts(values: Iterable[Any], name: str) -> pl.Series:
    """Turn ids into text; whole numbers are fine, anything else is a mistake worth naming."""
    texts = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | np.integer):
            raise InputError(expected=f"text or whole numbers as {name}", got=f"{value!r} ({type(value).__name__})")
        texts.append(str(value))
    return pl.Series(name, texts, dtype=pl.String)


def _id_column(column: pl.Series) -> pl.Series:
    if not (column.dtype in (pl.String, pl.Categorical) or column.dtype.is_integer()):
        raise InputError(expected=f"text or whole numbers as {column.name}", got=str(column.dtype))
    if column.null_count():
        raise InputError(expected=f"a {column.name} in every row", got="a gap")
    return column.cast(pl.String)


def _finite(column: pl.Series, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = column.to_numpy()
    if column.null_count() or not np.isfinite(values).all():
        raise InputError(expected=f"a finite {name} in every row", got="NaN, infinity or a gap")
    return values


def _to_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.split(".")[0] == "pandas":
        table = pl.from_pandas(frame)
        assert isinstance(table, pl.DataFrame)
        return table
    raise InputError(expected="a polars or pandas frame", got=type(frame).__name__)
