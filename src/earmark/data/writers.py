"""Writers of the formats that the readers read: what is written comes back as it was.

The format follows the name of the file unless it is stated:

========================= ============================================= ==========================
name ends in              runs                                          judgments
========================= ============================================= ==========================
``.tsv``                  ``system query document`` in rank order       ``query document gain``
``.csv``, ``.parquet``    columns with names, scores where there are any  all columns, with names
anything else             TREC: ``query Q0 document rank score tag``    TREC: ``query 0 document gain``
========================= ============================================= ==========================

Ordered groups are ``query document group`` where runs are a TREC file or ``.tsv``, and have names where runs do.

A text file whose name ends in ``.gz`` as well is gzipped. CSV files are safe to open in a spreadsheet
(:mod:`earmark.data.spreadsheets`). A file appears complete or not at all, and the same data
always gives the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.data.files import replacing
from earmark.data.ground_truth import OrderedGroups
from earmark.data.judgments import COLUMNS, Judgments, repeated_row
from earmark.data.runs import Runs
from earmark.data.spreadsheets import escape_formulas
from earmark.errors import InputError, ParameterError

AnyPath = str | os.PathLike[str]
FileFormat = Literal["tsv", "trec", "csv", "parquet"]

_BY_SUFFIX: dict[str, FileFormat] = {".tsv": "tsv", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
# What would cut an id in two, or be cut off it, when the file is read again: any white space where blanks separate, and
# where tabs do, tabs, line breaks and blanks at the ends.
_WHITE_SPACE = r"[ \t\n\r\x{0b}\x{0c}]"
_BREAKS = r"[\t\n\r\x{0b}\x{0c}]|^ | $"
# A first id that starts so would be taken for a comment, or lose its start to what looks like a byte-order mark.
_MISTAKABLE = r"^[#\x{feff}]"


def write_runs(runs: Runs, path: AnyPath, *, format: FileFormat | None = None) -> None:
    """Write the ranked lists of all systems to one file.

    Parameters
    ----------
    runs : Runs
        The lists.
    path : path
        Where to; its ending names the format, see the module.
    format : {"tsv", "trec", "csv", "parquet"}, optional
        The format, whatever the name says.

    Notes
    -----
    Readers sort a list by its scores. Where the scores do not give the order of the lists (they were read by
    rank, say), or there are none, a TREC run gets descending whole numbers as scores, and a CSV or Parquet file
    the ranks alone.

    Raises
    ------
    InputError
        If an id holds white space that the format cannot hold, or there is no such folder.
    """
    chosen, packed = _format_of(path, format)
    frame = runs.to_polars()
    if "score" in frame.columns and not scores_give_order(runs):
        frame = frame.drop("score")
    ids = {"system": frame["system"], "query": frame["query"], "document": frame["document"]}
    if chosen == "tsv":
        _refuse_unwritable(ids, first="system", blanks=True, path=path)
        _write_text(_separated(frame.select(list(ids)), "\t"), path, packed=packed)
    elif chosen == "trec":
        _refuse_unwritable(ids, first="query", blanks=False, path=path)
        # Descending whole numbers, exact as 32-bit floats for lists of up to 16 million documents.
        falling = np.repeat(runs.lengths, runs.lengths) - runs.ranks + 1
        score = pl.col("score") if "score" in frame.columns else pl.Series("score", falling)
        trec = frame.select("query", pl.lit("Q0").alias("Q0"), "document", "rank", score, "system")
        _write_text(_separated(trec, " "), path, packed=packed)
    else:
        _write_named(frame, path, chosen, packed=packed)


def write_judgments(judgments: Judgments, path: AnyPath, *, format: FileFormat | None = None) -> None:
    """Write judgments to one file.

    Parameters
    ----------
    judgments : Judgments
        What was judged. CSV and Parquet keep assessor, time and sample; the others hold query, document and gain alone.
    path : path
        Where to; its ending names the format, see the module.
    format : {"tsv", "trec", "csv", "parquet"}, optional
        The format, whatever the name says.

    Raises
    ------
    InputError
        If an id holds white space that the format cannot hold, or there is no such folder.
    ParameterError
        If an item has several judgments and the format cannot say whose they are, or gains are negative and it cannot
        say that these items were not judged.
    """
    chosen, packed = _format_of(path, format)
    frame = judgments.frame.select([name for name in COLUMNS if name in judgments.frame.columns])
    unjudged = bool((frame["gain"] < 0).any())
    if unjudged and chosen == "tsv":
        raise ParameterError(
            f"{os.fspath(path)}: negative gains, which mean not judged, are for TREC qrels: write .csv, .parquet, or a "
            "name with another ending for qrels"
        )
    if chosen in ("csv", "parquet"):
        if unjudged:
            # The column of TREC qrels, by which readers know that a negative gain is no mistake.
            frame = frame.with_columns(iteration=pl.lit(0))
        _write_named(frame, path, chosen, packed=packed)
        return
    ids = {"query": frame["query"], "document": frame["document"]}
    _refuse_unwritable(ids, first="query", blanks=chosen == "tsv", path=path)
    plain = frame.select("query", "document", _without_fraction(frame["gain"]))
    if (twice := repeated_row(plain)) is not None:
        query, document, _ = plain.row(twice)
        raise ParameterError(
            f"{os.fspath(path)}: document '{document}' has several judgments for query '{query}', and this format "
            "cannot say whose they are: write .csv or .parquet"
        )
    if chosen == "tsv":
        _write_text(_separated(plain, "\t"), path, packed=packed)
    else:
        qrels = plain.select("query", pl.lit("0").alias("iteration"), "document", "gain")
        _write_text(_separated(qrels, " "), path, packed=packed)


def write_questions(items: pl.DataFrame, path: AnyPath) -> None:
    """Write items to be judged to a CSV file with an empty column ``gain``; filled in, it is a file of judgments.

    Parameters
    ----------
    items : polars.DataFrame
        ``query``, ``document`` and perhaps ``sampled``, as :func:`earmark.propose` returns them, and ``key``.
    path : path
        Where to. A file in which somebody has answered is left alone.

    Raises
    ------
    InputError
        If the file is there and holds answers, or cannot be written.
    """
    refuse_answered(path)
    more = [name for name in ("sampled", "key") if name in items.columns]
    # Null and not an empty text, which would be written as two quotation marks.
    gain = pl.lit(None, dtype=pl.String).alias("gain")
    _write_named(items.select("query", "document", gain, *more), path, "csv", packed=False)


def refuse_answered(path: AnyPath) -> None:
    """Refuse to write questions over a file in which somebody has answered.

    Raises
    ------
    InputError
        If the file is there and holds a gain or a choice.
    """
    if Path(path).is_file() and _is_answered(Path(path)):
        raise InputError(
            expected="a file to write questions to",
            got="one that holds answers already",
            path=path,
            hint="name another file, or move this one away",
        )


def _is_answered(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return any((row.get("gain") or row.get("choice") or "").strip() for row in csv.DictReader(file))


def write_groups(groups: OrderedGroups, path: AnyPath) -> None:
    """Write ordered groups to one file: ``query document group`` separated by tabs, or with names in .csv and .parquet.

    Parameters
    ----------
    groups : OrderedGroups
        The groups.
    path : path
        Where to. Any other ending than .csv and .parquet (perhaps with .gz) is text with tabs.

    Raises
    ------
    InputError
        If an id holds white space that the format cannot hold, or there is no such folder.
    """
    chosen, packed = _format_of(path, None)
    frame = groups.frame.select("query", "document", "group")
    if chosen in ("csv", "parquet"):
        _write_named(frame, path, chosen, packed=packed)
        return
    _refuse_unwritable({"query": frame["query"], "document": frame["document"]}, first="query", blanks=True, path=path)
    _write_text(_separated(frame, "\t"), path, packed=packed)


def scores_give_order(runs: Runs) -> bool:
    """Tell whether sorting the lists by score, and by descending id among equals, leaves them as they are."""
    if runs.scores is None:
        return False
    scores, documents = runs.scores, runs.documents
    same_list = np.ones(max(len(runs) - 1, 0), dtype=bool)
    ends = runs.offsets[1:-1]
    same_list[ends[(ends > 0) & (ends < len(runs))] - 1] = False
    before, after = scores[:-1][same_list], scores[1:][same_list]
    if not np.all(before >= after):
        return False
    tied = np.flatnonzero(same_list)[before == after]
    return bool((documents.gather(tied) >= documents.gather(tied + 1)).all())


def _format_of(path: AnyPath, stated: FileFormat | None) -> tuple[FileFormat, bool]:
    """Return the format and whether the file is to be gzipped."""
    if stated is not None and stated not in get_args(FileFormat):
        raise ParameterError(f"unknown file format '{stated}': use {', '.join(get_args(FileFormat))}")
    name = Path(path).name.lower()
    packed = name.endswith(".gz")
    chosen = stated or _BY_SUFFIX.get(Path(name.removesuffix(".gz")).suffix, "trec")
    if packed and chosen == "parquet":
        raise ParameterError(f"{os.fspath(path)}: a Parquet file is compressed already, leave .gz off its name")
    return chosen, packed


def _refuse_unwritable(ids: dict[str, pl.Series], *, first: str, blanks: bool, path: AnyPath) -> None:
    """Refuse ids that would be read back as something else.

    ``first`` is the first column, where a ``#`` would begin a comment; with ``blanks`` an id may hold them.
    """
    fault = "white space at an end, a tab or a line break" if blanks else "white space"
    for name, column in ids.items():
        unique = column.unique(maintain_order=True)
        bad = unique.str.contains(_BREAKS if blanks else _WHITE_SPACE) | (unique == "")
        if bad.any():
            raise InputError(
                expected=f"{name} ids that this format can hold",
                got=f"{unique.filter(bad)[0]!r} (empty, or with {fault})",
                path=path,
                hint="write .csv or .parquet, which hold any text",
            )
        if name == first and (mistakable := unique.str.contains(_MISTAKABLE)).any():
            raise InputError(
                expected=f"{name} ids that do not start as a comment does, or with a byte-order mark",
                got=repr(unique.filter(mistakable)[0]),
                path=path,
                hint="write .csv or .parquet, which hold any text",
            )


def _without_fraction(gain: pl.Series) -> pl.Series:
    """Print whole gains as whole numbers: 2, not 2.0."""
    whole = gain.cast(pl.Int64, strict=False)
    text = pl.when(whole == gain).then(whole.cast(pl.String)).otherwise(gain.cast(pl.String))
    return pl.select(text.alias("gain")).to_series()


def _separated(frame: pl.DataFrame, separator: str) -> str:
    return frame.write_csv(separator=separator, include_header=False, quote_style="never")


def _write_named(frame: pl.DataFrame, path: AnyPath, format: FileFormat, *, packed: bool) -> None:
    if format == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        _write_bytes(buffer.getvalue(), path)
    else:
        table = escape_formulas(frame)
        if "gain" in frame.columns and frame["gain"].dtype.is_float():
            # Text from here on, but numbers all the same.
            table = table.with_columns(_without_fraction(frame["gain"]))
        _write_text(table.write_csv(), path, packed=packed)


def _write_text(text: str, path: AnyPath, *, packed: bool) -> None:
    data = text.encode("utf-8")
    # No time stamp and no name in the header: the same data always gives the same bytes.
    _write_bytes(gzip.compress(data, mtime=0) if packed else data, path)


def _write_bytes(data: bytes, path: AnyPath) -> None:
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None
