"""Columns of frames that people hand over: ids become text, numbers become finite floats, and nothing else passes.

An id is text or a whole number. A number with a fraction is none: 1.0 and 1 would be two documents, and a column of
whole numbers with a gap becomes one of fractions in pandas without a word.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.errors import InputError


def is_id_type(dtype: pl.DataType) -> bool:
    """Tell whether a column of this type can hold ids."""
    return dtype in (pl.String, pl.Categorical, pl.Enum) or dtype.is_integer()


def is_number_type(dtype: pl.DataType) -> bool:
    """Tell whether a column of this type holds numbers; truth values count as 1 and 0."""
    return dtype.is_numeric() or dtype == pl.Boolean


def id_column(column: pl.Series) -> pl.Series:
    """Return a column of ids as text.

    Raises
    ------
    InputError
        If its type is no type of ids, or an id is missing or empty.
    """
    if not is_id_type(column.dtype):
        raise InputError(expected=f"text or whole numbers as {column.name}", got=f"a column of {column.dtype}")
    text = column.cast(pl.String)
    missing = (text.is_null() | (text == "")).arg_true()
    if missing.len():
        raise InputError(expected=f"{column.name} in every row", got=f"nothing in row {missing[0]}, counted from 0")
    return text


def number_column(column: pl.Series) -> NDArray[np.float64]:
    """Return a column of finite numbers.

    Raises
    ------
    InputError
        If it holds anything but numbers, or one is missing, infinite or NaN.
    """
    if not is_number_type(column.dtype):
        raise InputError(expected=f"numbers as {column.name}", got=f"a column of {column.dtype}")
    numbers = column.cast(pl.Float64)
    bad = (~numbers.is_finite()).fill_null(True).arg_true()
    if bad.len():
        got = "nothing" if numbers[bad[0]] is None else f"{numbers[bad[0]]}"
        raise InputError(expected=f"a finite {column.name} in every row", got=f"{got} in row {bad[0]}, counted from 0")
    return numbers.to_numpy()
