"""Ids compared by the million: 64-bit hashes raise a suspicion, the ids themselves decide.

Looking up or comparing text costs far more than comparing integers. Everything here first works on hashes and then
confirms the few candidates that are left, so a collision of hashes can cost time but never a wrong answer.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
# Spreads small numbers over 64 bits before they are mixed with a hash (2^64 over the golden ratio, odd).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


# Fewer rows than this are numbered faster one by one.
_FEW = 5_000


def spread(numbers: NDArray[np.integer]) -> Keys:
    """Turn small numbers into keys far from each other."""
    return numbers.astype(np.uint64) * _SPREAD


def text_keys(texts: pl.Series) -> Keys:
    """Hash ids."""
    return texts.hash().to_numpy()


def first_repeated_row(numbers: NDArray[np.integer], *columns: pl.Series) -> int | None:
    """Return the first row whose number and texts stood together in an earlier row, if there is one."""
    keys = spread(numbers)
    for column in columns:
        # Multiplying in between keeps the order of the columns from mattering.
        keys = keys * _SPREAD ^ text_keys(column)
    ordered = np.sort(keys)
    if not np.any(ordered[1:] == ordered[:-1]):
        return None
    together = pl.DataFrame([pl.Series("number", numbers), *(c.alias(str(i)) for i, c in enumerate(columns))])
    fresh = together.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    return None if fresh.all() else int((~fresh).arg_true()[0])


def stretches(*columns: pl.Series) -> NDArray[np.int64]:
    """Return the rows at which any of the columns changes its value, the first row included."""
    if not columns[0].len():
        return np.zeros(0, dtype=np.int64)
    changes = np.zeros(columns[0].len(), dtype=bool)
    for column in columns:
        changes[1:] |= (column.slice(1) != column.slice(0, column.len() - 1)).to_numpy()
    changes[0] = True
    return np.flatnonzero(changes)


def number_pairs(a: pl.Series, b: pl.Series) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give the different pairs of texts numbers, in order of appearance.

    Returns
    -------
    number : ndarray of int, shape (rows,)
        Which pair every row holds.
    first : ndarray of int, shape (pairs,)
        The row at which every pair appears first.
    """
    if a.len() < _FEW:
        numbers: dict[tuple[str, str], int] = {}
        number = np.array([numbers.setdefault(pair, len(numbers)) for pair in zip(a, b, strict=True)], dtype=np.int32)
        return number, np.unique(number, return_index=True)[1]
    codes = [_codes(column) for column in (a, b)]
    pairs = codes[0] * (int(codes[1].max(initial=0)) + 1) + codes[1]
    _, first, of_row = np.unique(pairs, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    place = np.empty(first.size, dtype=np.int32)
    place[by_appearance] = np.arange(first.size, dtype=np.int32)
    return place[of_row], first[by_appearance]


def _codes(column: pl.Series) -> NDArray[np.int64]:
    """Give the different texts of a column numbers, in any order."""
    unique = column.unique()
    if unique.len() == 1:
        return np.zeros(column.len(), dtype=np.int64)
    return column.replace_strict(unique, pl.int_range(unique.len(), eager=True), return_dtype=pl.Int64).to_numpy()
