"""Gains as people write them: ``85%``, ``0,5``, ``n/a`` or nothing, read where they can mean one thing only.

An empty cell, ``n/a`` and ``NA`` say that nobody judged: the row is left out and counted. A negative gain says so in
TREC qrels alone, where it is kept, as trec_eval does; anywhere else it is a mistake.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from earmark.data.files import BLANKS
from earmark.data.tables import Table, number_cells, number_error
from earmark.errors import InputError

_NOT_JUDGED = ("", "n/a", "na")
_PERCENT = r"\s*%$"
_DECIMAL_COMMA = r"^([+-]?\d*),(\d+)$"
# A comma before three digits may group thousands, unless a zero stands before it.
_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"


class JudgedTable(NamedTuple):
    """A table whose gains are numbers, and how many rows had none and were left out."""

    table: Table
    unanswered: int


def read_gains(table: Table, *, qrels: bool = False) -> JudgedTable:
    """Turn the column ``gain`` into numbers, and leave out rows of which nobody judged the item.

    Parameters
    ----------
    table : Table
        Gains as numbers or as text.
    qrels : bool
        A negative gain is no mistake but says that the item is in the pool and was not judged.

    Raises
    ------
    InputError
        Naming the first row whose gain is no number, could be two, or is negative.
    """
    column = table.frame["gain"]
    if column.dtype == pl.String and (numbers := column.cast(pl.Float64, strict=False)).null_count() == 0:
        # Plain numbers, as nearly all files have them.
        cells, empty = numbers, pl.Series([False])
    elif column.dtype == pl.String:
        cells = column.str.strip_chars(BLANKS).fill_null("")
        empty = cells.str.to_lowercase().is_in(_NOT_JUDGED)
    else:
        cells, empty = column, column.is_null()
    unanswered = int(empty.sum())
    if unanswered:
        rows, before = (~empty).arg_true(), table
        table = Table(table.frame.filter(~empty), table.path, lambda row: before.line_of(int(rows[row])))
        cells = cells.filter(~empty)
    if cells.dtype == pl.String:
        cells = _plain_numbers(table, cells)
    frame = table.frame.with_columns(cells.alias("gain"))
    if not frame.height:
        return JudgedTable(Table(frame, table.path, table.line_of), unanswered)
    gains = number_cells(Table(frame, table.path, table.line_of), "gain")
    frame = frame.with_columns(pl.Series("gain", gains))
    negative = (frame["gain"] < 0).arg_true()
    if negative.len() and not qrels:
        row = int(negative[0])
        raise table.error(
            row,
            expected="a gain of 0 or more",
            got=f"{gains[row]:g}",
            hint="leave the gain empty where nobody judged; only TREC qrels (four columns) say it by a negative gain",
        )
    return JudgedTable(Table(frame, table.path, table.line_of), unanswered)


def _plain_numbers(table: Table, cells: pl.Series) -> pl.Series:
    """Return numbers as programs write them; text that is none stays as it is."""
    if cells.cast(pl.Float64, strict=False).null_count() == 0:
        return cells
    percent = cells.str.contains(_PERCENT)
    bare = cells.str.replace(_PERCENT, "")
    comma = bare.str.contains(_DECIMAL_COMMA)
    plain = bare.str.replace(_DECIMAL_COMMA, "$1.$2")
    numbers = plain.cast(pl.Float64, strict=False)
    wrong = numbers.is_null().arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise number_error(table, row, "gain", cells[row])
    if percent.any():
        # Nothing is nothing, with or without the sign.
        _refuse_first(
            table,
            cells,
            ~percent & (numbers != 0),
            expected=f"a gain with a percent sign, as in line {table.line_of(int(percent.arg_true()[0]))}",
            hint="write all gains of a file in one way",
        )
    if comma.any():
        _refuse_first(
            table,
            cells,
            bare.str.contains(_THOUSANDS),
            expected="a number as gain",
            hint="a decimal comma or thousands? write the number with a decimal point, or without the comma",
        )
        _refuse_first(
            table,
            cells,
            bare.str.contains(".", literal=True),
            expected=f"a gain with a decimal comma, as in line {table.line_of(int(comma.arg_true()[0]))}",
            hint="write all gains of a file in one way",
        )
    return plain


def _refuse_first(table: Table, cells: pl.Series, wrong: pl.Series, *, expected: str, hint: str) -> None:
    """Refuse the first of the cells that are wrong, if there is one."""
    if wrong.any():
        row = int(wrong.arg_true()[0])
        error: InputError = table.error(row, expected=expected, got=f"'{cells[row]}'", hint=hint)
        raise error
