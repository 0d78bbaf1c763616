"""Files of preferences: tables with named columns, one answer a row, as CSV, TSV or Parquet.

The columns are ``query``, ``a``, ``b``, ``assessor`` and ``choice``, in any order, and perhaps ``strength``, ``time``,
``seconds``, ``phase``, ``question`` and ``trap``; what they mean stands in :mod:`earmark.data.preferences`. Others are
passed over. Text files may be gzipped. A file that was written comes back as it was.
"""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import polars as pl

from earmark.data.files import BLANKS, first_data_line, replacing, require_file
from earmark.data.named_columns import find_column, rename_columns
from earmark.data.preference_checks import COLUMNS, REQUIRED, BadAnswer, Repeated, check_answers
from earmark.data.preferences import Preferences, left_out_rows
from earmark.data.spreadsheets import escape_formulas
from earmark.data.table_files import is_parquet, read_named
from earmark.data.tables import Table, is_number_type, number_error
from earmark.errors import InputError, ParameterError

AnyPath = str | os.PathLike[str]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")


def read_preferences(path: AnyPath, *, encoding: str = "utf-8", repeated: Repeated = "refuse") -> Preferences:
    """Read answers: CSV, TSV or Parquet with columns ``query``, ``a``, ``b``, ``assessor``, ``choice``, ``strength``.

    Parameters
    ----------
    path : path
        The file. A row without a choice is a question not answered yet: it is left out and counted.
    encoding : str
        The text encoding of the file.
    repeated : {"refuse", "first", "last"}
        What to do where an assessor answered a question again: it is an error, or the first or the last answer counts,
        in the order of rows.

    Raises
    ------
    InputError
        Naming the file and the first line that cannot be used.
    """
    file = require_file(path)
    if not is_parquet(file):
        _require_header(file, encoding)
    table = _named(read_named(file, encoding=encoding))
    frame = table.frame
    for name in ("strength", "seconds"):
        if name in frame.columns:
            frame = frame.with_columns(_numbers(table, name))
    if "strength" in frame.columns and frame["strength"].is_null().all():
        # A column that nobody filled in says as much as none.
        frame = frame.drop("strength")
    try:
        answers = check_answers(frame, repeated=repeated)
    except BadAnswer as bad:
        raise table.error(bad.row, expected=bad.expected, got=bad.got, hint=bad.hint) from None
    except InputError as error:
        raise InputError(expected=error.expected, got=error.got, path=path, hint=error.hint) from None
    return Preferences(answers, *left_out_rows(frame, answers))


def write_preferences(preferences: Preferences, path: AnyPath) -> None:
    """Write answers to one file: ``.csv``, ``.tsv`` (either perhaps with ``.gz`` after it) or ``.parquet``.

    Raises
    ------
    ParameterError
        If the name ends in anything else.
    InputError
        If the file cannot be written; then nothing is.
    """
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    packed = name.endswith(".gz")
    if ending in _PARQUET and not packed:
        buffer = io.BytesIO()
        preferences.frame.write_parquet(buffer)
        data = buffer.getvalue()
    elif ending in _SEPARATORS:
        strength = _without_fraction(preferences.frame["strength"])
        table = escape_formulas(preferences.frame).with_columns(strength)
        text = table.write_csv(separator=_SEPARATORS[ending])
        # No time stamp and no name in the header: the same data always gives the same bytes.
        data = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
    else:
        raise ParameterError(
            f"{os.fspath(path)}: preferences are written as .csv, .tsv, .csv.gz, .tsv.gz or .parquet, by the name"
        )
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None


def _require_header(path: Path, encoding: str) -> None:
    number, header = first_data_line(path, encoding=encoding, comments=False)
    cells = [cell.strip(BLANKS).strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    missing = [name for name in REQUIRED if find_column(cells, name) is None]
    if missing:
        raise InputError(
            expected=f"a header with the columns {', '.join(REQUIRED)}",
            got=f"{header[:60]!r} (no {' or '.join(missing)})",
            path=path,
            line=number,
        )


def _named(table: Table) -> Table:
    """Give the columns our names and leave the others out; what is missing is found later."""
    return rename_columns(table, (), COLUMNS)


def _numbers(table: Table, name: str) -> pl.Series:
    """Turn text into numbers, null where a cell is blank, or point at the first cell that is none."""
    column = table.frame[name]
    if column.dtype != pl.String:
        if column.dtype != pl.Null and not is_number_type(column.dtype):
            raise InputError(expected=f"numbers as {name}", got=f"{column.dtype}", path=table.path)
        return column.cast(pl.Float64)
    cells = column.str.strip_chars(BLANKS).replace("", None)
    values = cells.cast(pl.Float64, strict=False)
    wrong = ~values.is_finite().fill_null(False) & cells.is_not_null()
    if name == "strength":
        # Where there is no preference its strength does not count, so it may be a dash as well.
        choice = table.frame["choice"].cast(pl.String).str.strip_chars().str.to_lowercase()
        wrong &= choice.is_in(("a", "b")).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise number_error(table, row, name, cells[row])
    return values


def _without_fraction(numbers: pl.Series) -> pl.Series:
    """Print whole numbers as such: 2, not 2.0."""
    whole = numbers.cast(pl.Int64, strict=False)
    text = pl.when(whole == numbers).then(whole.cast(pl.String)).otherwise(numbers.cast(pl.String))
    return pl.select(text.alias(numbers.name)).to_series()
