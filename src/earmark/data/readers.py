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

from earmark.data.files import BLANKS, first_data_line, require_file, words
from earmark.data.ground_truth import Cliques, OrderedGroups
from earmark.data.judgments import COLUMNS, Judgments, current_answers, off_scale_row
from earmark.data.metadata import Metadata
from earmark.data.runs import BadRow, Order, Runs, build_runs, check_order, join_runs
from earmark.data.scales import Scale, guess_scale
from earmark.data.table_files import Layout, is_parquet, read_layout, read_named
from earmark.data.tables import Table, id_cells, number_cells
from earmark.errors import InputError, ParameterError

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
    "sequence": ("sequence",),
    "key": ("key",),
    "artist": ("artist",),
    "genre": ("genre",),
}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


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
    check_order(order)
    files = [require_file(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else list(paths))]
    if not files:
        raise InputError(expected="one run or more", got="none")
    # A few at a time: while polars parses one file on all cores, another is read and a third put in order.
    with ThreadPoolExecutor(max_workers=3) as pool:
        parts = list(pool.map(lambda file: _read_run(file, order=order, encoding=encoding), files))
    return join_runs(_with_distinct_names(parts, files))


def _with_distinct_names(parts: list[Runs], files: Sequence[Path]) -> list[Runs]:
    uses = Counter(name for part in parts for name in part.systems)
    if max(uses.values()) == 1:
        return parts
    places = [file.resolve() for file in files]
    twice = next((file for file, place in zip(files, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise InputError(expected="every run once", got="the same file twice", path=twice)
    for of_file in (_stem, str):
        names = [
            tuple(_unique_name(name, of_file(file), part) if uses[name] > 1 else name for name in part.systems)
            for part, file in zip(parts, files, strict=True)
        ]
        if max(Counter(name for of_part in names for name in of_part).values()) == 1:
            break
    return [part.renamed(of_part) for part, of_part in zip(parts, names, strict=True)]


def _unique_name(name: str, file: str, part: Runs) -> str:
    return file if len(part.systems) == 1 else f"{file}:{name}"


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem


def _read_run(path: Path, *, order: Order, encoding: str) -> Runs:
    system: pl.Series | str = _stem(path)
    score = rank = None
    if _has_names(path, encoding):
        table = _rename(read_named(path, encoding=encoding), ("query", "document"), ("system", "score", "rank"))
        system = id_cells(table, "system") if "system" in table.frame.columns else system
        score = number_cells(table, "score") if "score" in table.frame.columns else None
        rank = number_cells(table, "rank") if "rank" in table.frame.columns else None
        query, document = id_cells(table, "query"), id_cells(table, "document")
    else:
        layout = _run_layout(path, encoding, order)
        table = read_layout(path, layout, encoding=encoding)
        if "tag" in layout.columns:
            tags = table.frame["tag"]
            first = tags[0]
            system = first if (tags == first).all() else tags
            score = table.frame["score"].to_numpy()
            rank = number_cells(table, "rank") if order == "rank" else None
        else:
            system = table.frame["system"]
        query, document = table.frame["query"], table.frame["document"]
    if order == "rank" and rank is None and score is not None:
        raise InputError(expected="a column 'rank' to order the lists by", got="none", path=path)
    try:
        return build_runs(system=system, query=query, document=document, score=score, rank=rank, order=order)
    except BadRow as bad:
        raise table.error(bad.row, expected=bad.expected, got=bad.got) from None


def _run_layout(path: Path, encoding: str, order: Order) -> Layout:
    number, line = first_data_line(path, encoding=encoding, comments=True)
    cells = words(line)
    for separator, count in (("\t", line.count("\t") + 1), (" ", len(cells))):
        if count == 3:
            return Layout({"system": False, "query": False, "document": False}, separator=separator, comments=True)
    if len(cells) < 6:
        raise InputError(
            expected="6 columns (query Q0 document rank score tag) or 3 (system query document)",
            got=f"{len(cells)} ({line[:60]!r})",
            path=path,
            line=number,
        )
    return TREC_RUN_BY_RANK if order == "rank" else TREC_RUN


def read_judgments(path: AnyPath, *, scale: Scale | None = None, encoding: str = "utf-8") -> Judgments:
    """Read judgments: TREC qrels, three columns ``query document gain``, or CSV/Parquet with these columns.

    Parameters
    ----------
    path : path
        The file. CSV and Parquet may also have columns ``assessor``, ``time``, ``sampled``, ``sequence`` (the order of
        answers) and ``key`` (of a question in a work package); a row without a gain is a question not answered yet and
        does not count. Of several answers of one assessor about an item, the latest counts
        (:func:`~earmark.data.judgments.current_answers`).
    scale : Scale, optional
        The judging scale; guessed from the gains where it is not given.
    encoding : str
        The text encoding of the file.
    """
    file = require_file(path)
    if _has_names(file, encoding):
        optional = ("assessor", "time", "sampled", "sequence", "key")
        table = _answered(_rename(read_named(file, encoding=encoding), ("query", "document", "gain"), optional))
        frame = table.frame.with_columns(
            id_cells(table, "query"), id_cells(table, "document"), pl.Series("gain", number_cells(table, "gain"))
        )
        if "assessor" in frame.columns:
            frame = frame.with_columns(id_cells(table, "assessor"))
        if "sampled" in frame.columns:
            frame = frame.with_columns(_yes_or_no(table, "sampled"))
        if "sequence" in frame.columns:
            frame = frame.with_columns(_whole_numbers(table, "sequence"))
        if "key" in frame.columns:
            frame = frame.with_columns(pl.col("key").cast(pl.String))
        table = Table(frame, table.path, table.line_of)
    else:
        line = first_data_line(file, encoding=encoding, comments=True)[1]
        table = read_layout(file, _judgments_layout(line), encoding=encoding)
    gains = table.frame["gain"].to_numpy()
    try:
        known = scale or guess_scale(gains)
    except ParameterError:
        highest = int(gains.argmax())
        hint = "name the scale, for example --scale 0..1000"
        raise table.error(
            highest, expected="gains on a customary scale, up to 100", got=f"{gains[highest]:g}", hint=hint
        ) from None
    off = off_scale_row(table.frame, known)
    if off is not None:
        raise table.error(off, expected=f"a gain on the scale {known}", got=f"{gains[off]:g}")
    frame = table.frame.select([name for name in COLUMNS if name in table.frame.columns])
    current = current_answers(frame)
    return Judgments(current, known, scale is None, frame.height - current.height)


def _judgments_layout(line: str) -> Layout:
    """Tell TREC qrels from a plain table of three columns by a line of it."""
    three = {"query": False, "document": False, "gain": True}
    if line.count("\t") == 2:
        return Layout(three, separator="\t", comments=True)
    return Layout(three, comments=True) if len(words(line)) == 3 else TREC_QRELS


def _answered(table: Table) -> Table:
    """Leave out rows whose gain is empty: questions that nobody has answered yet."""
    gain = table.frame["gain"]
    empty = gain.cast(pl.String).str.strip_chars().fill_null("") == ""
    if not empty.any():
        return table
    if empty.all():
        raise InputError(expected="judgments", got="a file in which no gain is filled in", path=table.path)
    rows = (~empty).arg_true()
    return Table(table.frame.filter(~empty), table.path, lambda row: table.line_of(int(rows[row])))


def read_cliques(path: AnyPath, *, encoding: str = "utf-8") -> Cliques:
    """Read cliques (versions of one work): ``document group`` per line, or CSV/Parquet with these columns."""
    file = require_file(path)
    if _has_names(file, encoding, required=("document", "group")):
        table = _rename(read_named(file, encoding=encoding), ("document", "group"), ())
    else:
        tabs = first_data_line(file, encoding=encoding, comments=True)[1].count("\t") == 1
        layout = Layout({"document": False, "group": False}, separator="\t" if tabs else " ", comments=True)
        table = read_layout(file, layout, encoding=encoding)
    frame = pl.DataFrame({"document": id_cells(table, "document"), "group": id_cells(table, "group")})
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
        tabs = line.count("\t") in (2, 3)
        if len(line.split("\t") if tabs else words(line)) == 4:
            columns = {"tag": False, **columns}
        table = read_layout(file, Layout(columns, separator="\t" if tabs else " ", comments=True), encoding=encoding)
    numbers = number_cells(table, "group")
    odd = np.flatnonzero((numbers != np.floor(numbers)) | (numbers < 1))
    if odd.size:
        row = int(odd[0])
        raise table.error(row, expected="a group number from 1", got=f"'{numbers[row]:g}'")
    frame = pl.DataFrame(
        {
            "query": id_cells(table, "query"),
            "document": id_cells(table, "document"),
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
        named = read_named(file, encoding=encoding)
        found = _find_column(named.frame.columns, "document")
        if found is None:
            raise _no_column("document", named)
        table = Table(named.frame.rename({found: "document"}), named.path, named.line_of)
    else:
        line = first_data_line(file, encoding=encoding, comments=False)[1]
        layout = Layout(
            {"document": False, "artist": False, "genre": False},
            separator="\t" if line.count("\t") == 2 else " ",
            optional=("artist", "genre"),
        )
        table = read_layout(file, layout, encoding=encoding)
    documents = id_cells(table, "document")
    again = (~documents.is_first_distinct()).arg_true()
    if again.len():
        row = int(again[0])
        raise table.error(row, expected="every document once", got=f"'{documents[row]}' again")
    attributes = [column for column in table.frame if column.name != "document"]
    nested = next((column for column in attributes if column.dtype.is_nested()), None)
    if nested is not None:
        raise InputError(expected=f"one value in each cell of '{nested.name}'", got=str(nested.dtype), path=path)
    return Metadata(pl.DataFrame([documents, *(column.cast(pl.String).replace("", None) for column in attributes)]))


def has_gains(path: AnyPath, *, encoding: str = "utf-8") -> bool:
    """Tell whether a file has columns that name documents and gains: judgments, not preferences.

    Qrels and other files without a header are judgments as well, but nothing in them says so.
    """
    file = require_file(path)
    if is_parquet(file):
        columns = list(pl.read_parquet_schema(file))
    else:
        _, header = first_data_line(file, encoding=encoding, comments=False)
        columns = [cell.strip(BLANKS).strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    return all(_find_column(columns, name) is not None for name in ("document", "gain"))


def _has_names(path: Path, encoding: str, required: tuple[str, ...] = ("query", "document")) -> bool:
    """Tell whether the columns of a file have names: a Parquet file, or a header that names the required ones."""
    if is_parquet(path):
        return True
    number, header = first_data_line(path, encoding=encoding, comments=False)
    cells = [cell.strip().strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    named = all(_find_column(cells, name) is not None for name in required)
    if len(cells) == 1 and len(required) > 1 and all(_find_column(words(header), name) for name in required):
        raise InputError(
            expected="tabs or commas between columns that have names",
            got=f"blanks ({header[:60]!r})",
            path=path,
            line=number,
        )
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


def _rename(table: Table, required: Sequence[str], optional: Sequence[str]) -> Table:
    """Give the columns our names; complain about the ones that are not there."""
    renames: dict[str, str] = {}
    for wanted in (*required, *optional):
        remaining = [name for name in table.frame.columns if name not in renames]
        actual = _find_column(remaining, wanted)
        if actual is not None:
            renames[actual] = wanted
        elif wanted in required:
            raise _no_column(wanted, table)
    return Table(table.frame.select(pl.col(old).alias(new) for old, new in renames.items()), table.path, table.line_of)


def _no_column(wanted: str, table: Table) -> InputError:
    got = f"columns {', '.join(table.frame.columns)}"
    return InputError(expected=f"a column '{wanted}'", got=got, path=table.path)


def _whole_numbers(table: Table, name: str) -> pl.Series:
    """Return a column of whole numbers, null where a cell is empty."""
    column = table.frame[name]
    cells = column.str.strip_chars(BLANKS).replace("", None) if column.dtype == pl.String else column
    values = cells.cast(pl.Int64, strict=False)
    bad = (values.is_null() & cells.is_not_null()).arg_true()
    if bad.len():
        raise table.error(int(bad[0]), expected=f"a whole number as {name}", got=f"'{cells[int(bad[0])]}'")
    return values


def _yes_or_no(table: Table, name: str) -> pl.Series:
    """Return a column of truth values, null where a cell is empty."""
    column = table.frame[name]
    if column.dtype == pl.Boolean:
        return column
    text = column.cast(pl.String).str.strip_chars(BLANKS).str.to_lowercase().replace("", None)
    truth = text.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
    wrong = (truth.is_null() & text.is_not_null()).arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise table.error(row, expected=f"true or false as {name}", got=f"'{column[row]}'")
    return truth
