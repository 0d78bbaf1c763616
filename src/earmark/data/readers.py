"""Readers of every format people have: TREC runs and qrels, TSV, CSV, Parquet, cliques, groups, metadata.

The format is told by the file, not by an option: a Parquet or CSV file has named columns in any order; a text
file is told by how many columns its first line has. Files may be gzipped and may start with a byte-order mark.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.ground_truth import Cliques, OrderedGroups
from earmark.data.judgments import Judgments, off_scale_row, repeated_row
from earmark.data.metadata import Metadata
from earmark.data.runs import Duplicate, Order, Runs, build_runs, join_runs
from earmark.data.scales import Scale, guess_scale
from earmark.data.tables import (
    Layout,
    Table,
    first_data_line,
    is_parquet,
    parse_number,
    read_layout,
    read_named,
    require_file,
)
from earmark.errors import EarmarkError, InputError

AnyPath = str | os.PathLike[str]

TREC_RUN = Layout(
    {"query": False, "Q0": False, "document": False, "rank": False, "score": True, "tag": False},
    open_ended=True,
    comments=True,
    unused=("Q0", "rank"),
)
TREC_RUN_BY_RANK = replace(TREC_RUN, unused=("Q0",))
TREC_QRELS = Layout(
    {"query": False, "iteration": False, "document": False, "gain": True},
    comments=True,
    unused=("iteration",),
)

# The names that other programs give our columns.
_ALIASES = {
    "query": ("query", "query_id", "queryid", "qid", "q_id", "topic"),
    "document": ("document", "document_id", "doc_id", "docid", "docno", "doc"),
    "system": ("system", "system_id", "run", "run_id", "tag", "name"),
    "gain": ("gain", "relevance", "rel", "label", "judgment"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "group": ("group", "clique", "work", "label"),
    "assessor": ("assessor", "worker", "annotator"),
    "time": ("time", "timestamp"),
    "sampled": ("sampled",),
    "artist": ("artist",),
    "genre": ("genre",),
}


def read_runs(paths: AnyPath | Iterable[AnyPath], *, order: Order = "score", encoding: str = "utf-8") -> Runs:
    """Read the ranked lists of one or more systems.

    Parameters
    ----------
    paths : path or paths
        TREC runs (``query Q0 document rank score tag``), three columns ``system query document`` in rank order,
        or CSV/Parquet with columns ``query``, ``document`` and any of ``system``, ``score``, ``rank``.
    order : {"score", "rank"}
        What to trust where a file has both: by default the score, as trec_eval does.
    encoding : str
        The text encoding of the files.

    Returns
    -------
    Runs
        A system is called what the file calls it. Where several files use the same name for different systems,
        those are named after their files.
    """
    files = [require_file(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else list(paths))]
    if not files:
        raise InputError(expected="one run or more", got="none")
    # Two at a time: while polars parses one file on all cores, the next one's ordering is checked.
    with ThreadPoolExecutor(max_workers=2) as pool:
        parts = list(pool.map(lambda file: _read_run(file, order=order, encoding=encoding), files))
    return join_runs(_with_distinct_names(parts, files))


def _with_distinct_names(parts: list[Runs], files: Sequence[Path]) -> list[Runs]:
    uses = Counter(name for part in parts for name in part.systems)
    if max(uses.values()) == 1:
        return parts
    if len({file.resolve() for file in files}) < len(files):
        twice = next(file for file in files if files.count(file) > 1 or sum(file.samefile(f) for f in files) > 1)
        raise InputError(expected="every run once", got="the same file twice", path=twice)
    stems = [file.name.removesuffix(".gz").rsplit(".", 1)[0] for file in files]
    if len(set(stems)) < len(stems):
        stems = [str(file) for file in files]
    renamed = []
    for part, stem in zip(parts, stems, strict=True):
        alone = len(part.systems) == 1
        names = tuple((stem if alone else f"{stem}:{name}") if uses[name] > 1 else name for name in part.systems)
        renamed.append(part.renamed(names))
    return renamed


def _read_run(path: Path, *, order: Order, encoding: str) -> Runs:
    system: pl.Series | str = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    score = rank = None
    if _has_names(path, encoding):
        table = _rename(read_named(path, encoding=encoding), ("query", "document"), ("system", "score", "rank"))
        system = _ids(table, "system") if "system" in table.frame.columns else system
        score = _numbers(table, "score") if "score" in table.frame.columns else None
        rank = _numbers(table, "rank") if "rank" in table.frame.columns else None
        if score is None and rank is not None:
            order = "rank"
    else:
        layout = _run_layout(path, encoding, order)
        table = read_layout(path, layout, encoding=encoding)
        if "tag" in layout.columns:
            tags = table.frame["tag"]
            first = tags[0]
            system = first if (tags == first).all() else tags
            score = table.frame["score"].to_numpy()
            rank = _numbers(table, "rank") if order == "rank" else None
        else:
            system = table.frame["system"]
    if order == "rank" and rank is None and score is not None:
        raise InputError(expected="a column rank (order by rank)", got="none", path=path)
    try:
        runs = build_runs(
            system=system,
            query=_ids(table, "query"),
            document=_ids(table, "document"),
            score=score,
            rank=rank,
            order=order,
        )
    except Duplicate as duplicate:
        raise table.error(duplicate.row, expected="every document at most once in a list", got=str(duplicate)) from None
    return runs


def _run_layout(path: Path, encoding: str, order: Order) -> Layout:
    number, line = first_data_line(path, encoding=encoding, comments=True)
    for separator in ("\t", " "):
        cells = line.split("\t") if separator == "\t" else line.split()
        if len(cells) == 3:
            return Layout({"system": False, "query": False, "document": False}, separator=separator, comments=True)
        if len(cells) >= 6:
            break
    if len(line.split()) < 6:
        raise InputError(
            expected="6 columns (query Q0 document rank score tag) or 3 (system query document)",
            got=f"{len(line.split())} ({line[:60]!r})",
            path=path,
            line=number,
        )
    return TREC_RUN_BY_RANK if order == "rank" else TREC_RUN


def read_judgments(path: AnyPath, *, scale: Scale | None = None, encoding: str = "utf-8") -> Judgments:
    """Read judgments: TREC qrels, three columns ``query document gain``, or CSV/Parquet with these columns.

    Parameters
    ----------
    path : path
        The file. CSV and Parquet may also have columns ``assessor``, ``time`` and ``sampled``.
    scale : Scale, optional
        The judging scale; guessed from the gains where it is not given.
    encoding : str
        The text encoding of the file.
    """
    file = require_file(path)
    if _has_names(file, encoding):
        table = _rename(
            read_named(file, encoding=encoding),
            ("query", "document", "gain"),
            ("assessor", "time", "sampled"),
        )
        frame = table.frame.with_columns(
            _ids(table, "query"), _ids(table, "document"), pl.Series("gain", _numbers(table, "gain"))
        )
        table = Table(frame, table.path, table.line_of)
    else:
        line = first_data_line(file, encoding=encoding, comments=True)[1]
        table = read_layout(file, _three_or_four(line, TREC_QRELS, ("query", "document", "gain")), encoding=encoding)
    gains = table.frame["gain"].to_numpy()
    known = scale or guess_scale(gains)
    off = off_scale_row(table.frame, known)
    if off is not None:
        raise table.error(off, expected=f"a gain on the scale {known}", got=f"{gains[off]:g}")
    twice = repeated_row(table.frame)
    if twice is not None:
        item = table.frame.row(twice, named=True)
        raise table.error(
            twice,
            expected="one gain per item and assessor",
            got=f"document '{item['document']}' judged again for query '{item['query']}'",
            hint="if several people judged it, name them in a column 'assessor' of a CSV file",
        )
    wanted = [name for name in ("query", "document", "gain", "assessor", "time", "sampled") if name in table.frame]
    return Judgments(table.frame.select(wanted), known, scale is None)


def _three_or_four(line: str, four: Layout, three: tuple[str, str, str]) -> Layout:
    """Tell a TREC-like file of four columns from a plain one of three."""
    if len(line.split("\t")) == 3:
        return Layout({name: name == "gain" for name in three}, separator="\t", comments=True)
    if len(line.split()) == 3:
        return Layout({name: name == "gain" for name in three}, comments=True)
    return four


def read_cliques(path: AnyPath, *, encoding: str = "utf-8") -> Cliques:
    """Read cliques (versions of one work): ``document group`` per line, or CSV/Parquet with these columns."""
    file = require_file(path)
    if _has_names(file, encoding, required=("document", "group")):
        table = _rename(read_named(file, encoding=encoding), ("document", "group"), ())
    else:
        tabs = "\t" in first_data_line(file, encoding=encoding, comments=True)[1]
        layout = Layout({"document": False, "group": False}, separator="\t" if tabs else " ", comments=True)
        table = read_layout(file, layout, encoding=encoding)
    frame = pl.DataFrame({"document": _ids(table, "document"), "group": _ids(table, "group")})
    again = (~frame["document"].is_first_distinct()).arg_true()
    if again.len():
        row = int(again[0])
        raise table.error(row, expected="every document in one clique", got=f"'{frame['document'][row]}' again")
    if frame["group"].n_unique() == frame.height:
        raise InputError(expected="a clique of two or more documents", got="only single documents", path=path)
    return Cliques(frame)


def read_groups(path: AnyPath, *, encoding: str = "utf-8") -> OrderedGroups:
    """Read ordered groups: ``query document group`` (group 1 comes first), perhaps with a leading tag column."""
    file = require_file(path)
    if _has_names(file, encoding):
        table = _rename(read_named(file, encoding=encoding), ("query", "document", "group"), ())
    else:
        columns = {"query": False, "document": False, "group": False}
        line = first_data_line(file, encoding=encoding, comments=True)[1]
        tabs = len(line.split("\t")) in (3, 4)
        if len(line.split("\t") if tabs else line.split()) == 4:
            columns = {"tag": False, **columns}
        table = read_layout(file, Layout(columns, separator="\t" if tabs else " ", comments=True), encoding=encoding)
    numbers = _numbers(table, "group")
    odd = np.flatnonzero((numbers != np.floor(numbers)) | (numbers < 1))
    if odd.size:
        row = int(odd[0])
        raise table.error(row, expected="a group number from 1", got=f"'{numbers[row]:g}'")
    frame = pl.DataFrame(
        {
            "query": _ids(table, "query"),
            "document": _ids(table, "document"),
            "group": pl.Series(numbers.astype(np.int64)),
        }
    )
    again = (~frame.select(pl.struct("query", "document").is_first_distinct()).to_series()).arg_true()
    if again.len():
        row = int(again[0])
        got = f"'{frame['document'][row]}' again for query '{frame['query'][row]}'"
        raise table.error(row, expected="every document in one group", got=got)
    return OrderedGroups(frame)


def read_metadata(path: AnyPath, *, encoding: str = "utf-8") -> Metadata:
    """Read metadata: a table with a column ``document``, or headerless lines ``document artist genre``."""
    file = require_file(path)
    if _has_names(file, encoding, required=("document",)):
        table = read_named(file, encoding=encoding)
        renames = {_find_column(table.frame.columns, "document") or "": "document"}
        table = Table(table.frame.rename(renames, strict=False), table.path, table.line_of)
    else:
        line = first_data_line(file, encoding=encoding, comments=False)[1]
        tabs = len(line.split("\t")) == 3
        layout = Layout({"document": False, "artist": False, "genre": False}, separator="\t" if tabs else " ")
        table = read_layout(file, layout, encoding=encoding)
    documents = _ids(table, "document")
    again = (~documents.is_first_distinct()).arg_true()
    if again.len():
        row = int(again[0])
        raise table.error(row, expected="every document once", got=f"'{documents[row]}' again")
    attributes = [name for name in table.frame.columns if name != "document"]
    return Metadata(table.frame.select(documents, *(pl.col(name).cast(pl.String) for name in attributes)))


def _has_names(path: Path, encoding: str, required: tuple[str, ...] = ("query", "document")) -> bool:
    """Tell whether the columns of a file have names: a Parquet file, or a header that names the required ones."""
    if is_parquet(path):
        return True
    number, header = first_data_line(path, encoding=encoding, comments=False)
    cells = [cell.strip().strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    named = all(_find_column(cells, name) is not None for name in required)
    csv = path.name.lower().removesuffix(".gz").endswith(".csv")
    if csv and not named:
        raise InputError(
            expected=f"a header with the columns {', '.join(required)}",
            got=repr(header[:60]),
            path=path,
            line=number,
        )
    return named


def _find_column(columns: Sequence[str], wanted: str) -> str | None:
    lowered = {name.strip().lower(): name for name in reversed(columns)}
    return next((lowered[alias] for alias in _ALIASES[wanted] if alias in lowered), None)


def _rename(table: Table, required: Iterable[str], optional: Iterable[str]) -> Table:
    """Give the columns our names; complain about the ones that are not there."""
    renames: dict[str, str] = {}
    for wanted in (*required, *optional):
        remaining = [name for name in table.frame.columns if name not in renames]
        actual = _find_column(remaining, wanted)
        if actual is not None:
            renames[actual] = wanted
        elif wanted in tuple(required):
            raise InputError(
                expected=f"a column '{wanted}'",
                got=f"columns {', '.join(table.frame.columns)}",
                path=table.path,
            )
    return Table(table.frame.select(pl.col(old).alias(new) for old, new in renames.items()), table.path, table.line_of)


def _ids(table: Table, name: str) -> pl.Series:
    """Return a column of ids as text; whole numbers are fine, fractions and gaps are not."""
    column = table.frame[name]
    if column.dtype.is_float() or column.dtype.is_nested():
        raise InputError(expected=f"text or whole numbers as {name}", got=f"{column.dtype}", path=table.path)
    text = column.cast(pl.String)
    if text.null_count():
        raise table.error(int(text.is_null().arg_true()[0]), expected=f"a {name}", got="nothing")
    return text


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers or point at the first cell that is none."""
    column = table.frame[name]
    values = column.cast(pl.Float64, strict=False)
    bad = (values.is_null() | ~values.is_finite()).fill_null(True)
    if bad.any():
        row = int(bad.arg_true()[0])
        cell = column[row]
        parse_number("" if cell is None else str(cell), name, table.path, table.line_of(row))
        raise EarmarkError(f"{table.path}: cannot read '{cell}' as {name}")
    return values.to_numpy()
