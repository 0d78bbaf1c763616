"""Tables: a frame, where its rows come from, and columns of ids and of numbers that are checked.

A table comes from a file, whose lines are named in errors, or from memory, where errors name the row. An id is text or
a whole number. A number with a fraction is not an id: 1.0 and 1 would be two documents, and pandas turns a column of
whole numbers with a gap into one of fractions without saying so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.files import BLANKS
from earmark.errors import InputError


@dataclass(frozen=True)
class Table:
    """A frame and where its rows come from.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    path : str, optional
        The file they were read from; None for a frame in memory.
    line_of : callable
        Returns the line of a row in the file, or its number in the frame in memory.
    """

    frame: pl.DataFrame
    path: str | None = None
    line_of: Callable[[int], int] = int

    def error(self, row: int, *, expected: str, got: str, hint: str | None = None) -> InputError:
        """Build the error that points at one row."""
        if self.path is None:
            return InputError(expected=expected, got=f"{got} in row {self.line_of(row)}, counted from 0", hint=hint)
        return InputError(expected=expected, got=got, path=self.path, line=self.line_of(row), hint=hint)


def is_id_type(dtype: pl.DataType) -> bool:
    """Tell whether a column of this type can hold ids."""
    return dtype in (pl.String, pl.Categorical, pl.Enum) or dtype.is_integer()


def is_number_type(dtype: pl.DataType) -> bool:
    """Tell whether a column of this type holds numbers; truth values count as 1 and 0."""
    return dtype.is_numeric() or dtype == pl.Boolean


def id_cells(table: Table, name: str) -> pl.Series:
    """Return a column of ids as text.

    Raises
    ------
    InputError
        If the column cannot hold ids, or naming the first row without an id.
    """
    column = table.frame[name]
    if not is_id_type(column.dtype):
        got = f"a column of {column.dtype}"
        raise InputError(expected=f"text or whole numbers as {name}", got=got, path=table.path)
    text = column.cast(pl.String)
    missing = (text.is_null() | (text == "")).arg_true()
    if missing.len():
        raise table.error(int(missing[0]), expected=f"{name} in every row", got="nothing")
    return text


def number_cells(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers; a file may hold them as text.

    Raises
    ------
    InputError
        If the column cannot hold numbers, or naming the first row without a finite number.
    """
    column = table.frame[name]
    is_text = column.dtype == pl.String and table.path is not None
    if not (is_text or is_number_type(column.dtype)):
        raise InputError(expected=f"numbers as {name}", got=f"a column of {column.dtype}", path=table.path)
    cells = column.str.strip_chars(BLANKS) if is_text else column
    values = cells.cast(pl.Float64, strict=False)
    bad = (~values.is_finite()).fill_null(True).arg_true()
    if not bad.len():
        return values.to_numpy()
    raise number_error(table, int(bad[0]), name, cells[int(bad[0])])


def number_error(table: Table, row: int, name: str, cell: str | float | None) -> InputError:
    """Build the error for a cell that is not a finite number."""
    if cell is None or cell == "":
        return table.error(row, expected=f"a number as {name}", got="nothing")
    value = _to_float(str(cell))
    infinite = value is not None and not math.isfinite(value)
    return table.error(row, expected=f"a finite {name}" if infinite else f"a number as {name}", got=f"'{cell}'")


def id_column(column: pl.Series) -> pl.Series:
    """Return a column of a frame in memory as ids; see :func:`id_cells`."""
    return id_cells(Table(column.to_frame()), column.name)


def number_column(column: pl.Series) -> NDArray[np.float64]:
    """Return a column of a frame in memory as finite numbers; see :func:`number_cells`."""
    return number_cells(Table(column.to_frame()), column.name)


def parse_number(cell: str, name: str, path: str | Path | None, line: int) -> float:
    """Read one finite number or say what stands there instead."""
    value = _to_float(cell)
    if value is None or not math.isfinite(value):
        raise number_error(Table(pl.DataFrame(), str(path), lambda _: line), 0, name, cell)
    return value


def _to_float(cell: str) -> float | None:
    try:
        # Python's own literals may hold underscores and the digits of any script; files of numbers do not.
        return float(cell) if cell.isascii() and "_" not in cell else None
    except ValueError:
        return None
