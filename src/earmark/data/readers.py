"""Readers of every format people have: TREC runs and qrels, TSV, CSV, Parquet, cliques, groups, metadata.

The format is told by the file, not by an option: a Parquet or CSV file has named columns in any order; a text
file is told by how many columns its first line has. Files may be gzipped and may start with a byte-order mark.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from earmark.data.files import BLANKS, first_data_line, require_file, words
from earmark.data.gains import JudgedTable, read_gains
from earmark.data.ground_truth import Cliques, OrderedGroups
from earmark.data.judgment_sources import judgment_files
from earmark.data.judgments import (
    COLUMNS,
    Judgments,
    current_answers,
    merge_judgments,
    off_scale_row,
    repeated_row,
)
from earmark.data.layouts import judgments_layout
from earmark.data.lookalikes import refuse_mostly_repeated, refuse_parts, refuse_ranks_as_gains
from earmark.data.metadata import Metadata
from earmark.data.named_columns import (
    find_column,
    has_names,
    is_of_beir,
    no_column,
    refuse_nested,
    rename_columns,
    times,
    whole_numbers,
    yes_or_no,
)
from earmark.data.parquet_folders import is_parquet_folder
from earmark.data.run_files import file_stem, is_of_judgments, open_run, read_run
from earmark.data.runs import Order, Runs, check_order, join_runs
from earmark.data.scales import Scale, guess_scale
from earmark.data.table_files import Layout, is_parquet, parquet_columns, read_layout, read_named
from earmark.data.tables import Table, id_cells, number_cells
from earmark.data.text_blocks import in_threads
from earmark.errors import InputError, ParameterError
from earmark.progress import track

AnyPath = str | os.PathLike[str]


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
    given = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else list(paths))]
    if not given:
        raise InputError(expected="one run or more", got="none")
    files = [path if is_parquet_folder(path) else require_file(path) for path in given]
    # A few at a time: while one file is read, another is put in order.
    reading = in_threads(lambda file: read_run(open_run(file, order=order, encoding=encoding), order=order), files)
    parts = [part for part, _ in zip(reading, track(files, "reading"), strict=True)]
    if len(parts) > 1:
        refuse_judgments(parts, files)
    names = distinct_names([part.systems for part in parts], files)
    return join_runs([part.renamed(of_part) for part, of_part in zip(parts, names, strict=True)])


class _Lists(Protocol):
    """Runs, or scores of them."""

    @property
    def systems(self) -> tuple[str, ...]: ...

    @property
    def queries(self) -> tuple[str, ...]: ...


def refuse_judgments(parts: Sequence[_Lists], files: Sequence[Path]) -> None:
    """Refuse a file of three columns whose systems are the queries of the other files: they are judgments."""
    queries = [frozenset(part.queries) for part in parts]
    uses = Counter(name for of_part in queries for name in of_part)
    for own, part, file in zip(queries, parts, files, strict=True):
        if all(uses[name] > (name in own) for name in part.systems) and all(uses[name] == 1 for name in own):
            got = f"what looks like judgments: its systems are queries, '{part.systems[0]}'"
            raise is_of_judgments(file, got)


def distinct_names(systems: Sequence[tuple[str, ...]], files: Sequence[Path]) -> list[tuple[str, ...]]:
    """Return names for the systems of files that differ: where files share a name, it gets that of the file.

    Raises
    ------
    InputError
        If a file is there twice.
    """
    uses = Counter(name for of_file in systems for name in of_file)
    if max(uses.values()) == 1:
        return list(systems)
    places = [file.resolve() for file in files]
    twice = next((file for file, place in zip(files, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise InputError(expected="every run once", got="the same file twice", path=twice)
    for of_path in (file_stem, str):
        names = [
            tuple(_unique_name(name, of_path(file), len(of_file)) if uses[name] > 1 else name for name in of_file)
            for of_file, file in zip(systems, files, strict=True)
        ]
        if max(Counter(name for of_file in names for name in of_file).values()) == 1:
            break
    return names


def _unique_name(name: str, file: str, systems: int) -> str:
    return file if systems == 1 else f"{file}:{name}"


def read_judgments(
    path: AnyPath | Iterable[AnyPath], *, scale: Scale | None = None, encoding: str = "utf-8"
) -> Judgments:
    """Read judgments: TREC qrels, three columns ``query document gain``, or CSV/Parquet with these columns.

    Parameters
    ----------
    path : path or paths
        Files, folders of files, or patterns such as ``answers/*.csv``; a file that is named twice counts once. CSV and
        Parquet may also have columns ``assessor``, ``time``, ``sampled``, ``sequence`` (the order of answers) and
        ``key`` (of a question in a work package). A row without a gain, or with ``n/a``, is a question not answered yet
        and does not count. Of several answers of one assessor about an item, the latest counts, whichever file it is
        in; answers of different assessors are all kept (:func:`~earmark.data.judgments.current_answers`).
    scale : Scale, optional
        The judging scale; guessed from all gains where it is not given.
    encoding : str
        The text encoding of the files.

    Raises
    ------
    InputError
        Naming the file, and mostly the line, that cannot be used.
    """
    files = judgment_files(path)
    parts = [_read_judgment_table(file, encoding) for file in files]
    unanswered = sum(part.unanswered for part in parts)
    tables = [part.table for part in parts if part.table.frame.height]
    if not tables:
        where = files[0] if len(files) == 1 else None
        got = "a file in which no gain is filled in" if where else f"{len(files):,} files in which no gain is filled in"
        raise InputError(expected="judgments", got=got, path=where)
    return merge_judgments([_on_scale(table, scale) for table in tables], unanswered=unanswered)


def _read_judgment_table(file: Path, encoding: str) -> JudgedTable:
    """Read the rows of one file that have a gain, and count the others."""
    if not has_names(file, encoding):
        layout = judgments_layout(file, encoding)
        qrels = "iteration" in layout.columns
        try:
            table = read_layout(file, layout, encoding=encoding)
        except InputError:
            # Gains that are no plain numbers: what they mean is found out from their text.
            empty = ("gain",) if layout.separator == "\t" else ()
            layout = replace(layout, columns=layout.columns | {"gain": False}, optional=empty)
            table = read_layout(file, layout, encoding=encoding)
        if qrels and repeated_row(table.frame) is not None:
            whole = read_layout(file, replace(layout, unused=()), encoding=encoding)
            refuse_parts(whole, whole.frame["iteration"])
        return read_gains(table, qrels=qrels)
    named = read_named(file, encoding=encoding)
    if is_of_beir(named.frame.columns):
        named = Table(named.frame.rename({named.frame.columns[2]: "gain"}), named.path, named.line_of)
    optional = ("assessor", "time", "sampled", "sequence", "key")
    # Qrels that another program wrote with names have the column that nobody uses, too.
    qrels = "iteration" in [name.strip().lower() for name in named.frame.columns]
    judged = read_gains(rename_columns(named, ("query", "document", "gain"), optional), qrels=qrels)
    table = judged.table
    frame = table.frame.with_columns(id_cells(table, "query"), id_cells(table, "document"))
    if "assessor" in frame.columns:
        frame = frame.with_columns(id_cells(table, "assessor"))
    if "time" in frame.columns:
        frame = frame.with_columns(times(table, "time"))
    if "sampled" in frame.columns:
        frame = frame.with_columns(yes_or_no(table, "sampled"))
    if "sequence" in frame.columns:
        frame = frame.with_columns(whole_numbers(table, "sequence"))
    if "key" in frame.columns:
        frame = frame.with_columns(pl.col("key").cast(pl.String))
    part = find_column(named.frame.columns, "part")
    if part is not None and not judged.unanswered and repeated_row(frame) is not None:
        refuse_parts(Table(frame, table.path, table.line_of), named.frame[part])
    return JudgedTable(Table(frame, table.path, table.line_of), judged.unanswered)


def _on_scale(table: Table, scale: Scale | None) -> Judgments:
    """Make judgments of the rows of one file, all of them on the scale."""
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
    if scale is None:
        refuse_ranks_as_gains(table)
    refuse_mostly_repeated(table, frame.height - current.height)
    return Judgments(current, known, scale is None, frame.height - current.height)


def read_cliques(path: AnyPath, *, encoding: str = "utf-8") -> Cliques:
    """Read cliques (versions of one work): ``document group`` per line, or CSV/Parquet with these columns."""
    file = require_file(path)
    if has_names(file, encoding, required=("document", "group")):
        table = rename_columns(read_named(file, encoding=encoding), ("document", "group"), ())
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
    if has_names(file, encoding):
        table = rename_columns(read_named(file, encoding=encoding), ("query", "document", "group"), ())
    else:
        columns = {"query": False, "document": False, "group": False}
        line = first_data_line(file, encoding=encoding, comments=True)[1]
        tabs = line.count("\t") in (2, 3)
        if len(line.split("\t") if tabs else words(line)) == 4:
            columns = {"tag": False, **columns}
        table = read_layout(file, Layout(columns, separator="\t" if tabs else " ", comments=True), encoding=encoding)
    if "tag" in table.frame.columns and table.frame["query"].str.to_lowercase().is_in(["0", "q0"]).all():
        raise InputError(
            expected="query document group",
            got="what looks like qrels (query 0 document gain)",
            path=path,
            hint="give them as --judgments",
        )
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
    if has_names(file, encoding, required=("document",)):
        named = read_named(file, encoding=encoding)
        found = find_column(named.frame.columns, "document")
        if found is None:
            raise no_column("document", named)
        table = Table(named.frame.rename({found: "document"}), named.path, named.line_of)
    else:
        number, line = first_data_line(file, encoding=encoding, comments=False)
        names = {cell.strip(BLANKS).strip('"').lower() for cell in line.replace("\t", ",").split(",")}
        if {"artist", "genre"} & names:
            raise InputError(
                expected="a header with a column document, or none", got=repr(line[:60]), path=path, line=number
            )
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
    refuse_nested(table, [column.name for column in attributes])
    return Metadata(pl.DataFrame([documents, *(column.cast(pl.String).replace("", None) for column in attributes)]))


def has_gains(path: AnyPath, *, encoding: str = "utf-8") -> bool:
    """Tell whether a file has columns that name documents and gains: judgments, not preferences.

    Qrels and other files without a header are judgments as well, but nothing in them says so.
    """
    file = require_file(path)
    if is_parquet(file):
        columns = parquet_columns(file)
    else:
        _, header = first_data_line(file, encoding=encoding, comments=False)
        columns = [cell.strip(BLANKS).strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    return all(find_column(columns, name) is not None for name in ("document", "gain"))
