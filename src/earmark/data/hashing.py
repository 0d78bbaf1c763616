"""Ids compared by the million: 64-bit hashes raise a suspicion, the ids themselves decide.

Looking up or comparing text costs far more than comparing integers. Everything here first works on hashes and then
confirms the few candidates that are left, so a collision of hashes can cost time but never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
# Spreads small numbers over 64 bits before they are mixed with a hash (2^64 over the golden ratio, odd).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)

# How many places a row has in a table of rows by key, where most keys asked for are those of no row.
_SPARSE = 8
# How many times as many places as rows a table has that only compares rows with each other.
_DENSE = 2
# A table of more rows takes too much memory.
_MOST_IN_TABLE = 1 << 22
# Fewer rows than this are numbered faster one by one.
_FEW = 5_000
# How many times as many entries as rows a table of numbers may have.
_TABLE_PER_ROW = 4


def spread(numbers: NDArray[np.integer]) -> Keys:
    """Turn small numbers into keys far from each other."""
    return numbers.astype(np.uint64) * _SPREAD


def text_keys(texts: pl.Series) -> Keys:
    """Hash ids."""
    return texts.hash().to_numpy()


class KeyTable:
    """Finds rows by group and key: a table of places, each with the last row that belongs there, chained to the others.

    Every group has a stretch of the table to itself, as long as its rows are many. So keys that are asked for group by
    group are looked up in a small part of the memory at a time, which is several times faster.

    Parameters
    ----------
    keys : ndarray of uint64, shape (rows,)
        The key of every row; rows may share one.
    counts : ndarray of int, shape (groups,)
        How many rows every group has; the rows of a group follow each other.
    """

    def __init__(self, keys: Keys, counts: NDArray[np.integer]) -> None:
        self._keys = keys
        sizes = counts * _SPARSE
        end = int(sizes.sum())
        # No row is in group -1, the last, nor in a group of size 0: a place that stays empty is theirs.
        self._sizes = np.append(sizes, 0).astype(np.uint64)
        self._starts = np.append(np.where(sizes > 0, np.cumsum(sizes) - sizes, end), end)
        self._last = np.full(end + 1, -1, dtype=np.int32)
        self._before = np.full(keys.size, -1, dtype=np.int32)
        places = self._places(keys, np.repeat(np.arange(counts.size), counts))
        rows = np.arange(keys.size, dtype=np.int32)
        while rows.size:
            before = self._last[places]
            self._last[places] = rows
            is_last = self._last[places] == rows
            self._before[rows[is_last]] = before[is_last]
            rows, places = rows[~is_last], places[~is_last]

    def find(self, asked: Keys, group: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where in an array keys stand that rows of their groups have, in any order, and these rows.

        A key is there as many times as rows have it. No row is in the group -1.
        """
        found_at, found = [], []
        rows = self._last.take(self._places(asked, group))
        at = np.flatnonzero(rows >= 0)
        rows = rows[at]
        while True:
            # Places of what is true select several times faster than truth values do.
            same = np.flatnonzero(self._keys[rows] == asked[at])
            found_at.append(at[same])
            found.append(rows[same])
            if not rows.size:
                return np.concatenate(found_at), np.concatenate(found)
            rows = self._before[rows]
            goes_on = np.flatnonzero(rows >= 0)
            at, rows = at[goes_on], rows[goes_on]

    def _places(self, keys: Keys, group: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the place of every key: as far into the stretch of its group as the key is into all keys."""
        into = (keys >> _HALF) * self._sizes.take(group, mode="wrap") >> _HALF
        places: NDArray[np.int64] = into.view(np.int64) + self._starts.take(group, mode="wrap")
        return places


def first_repeated_row(numbers: NDArray[np.integer], *columns: pl.Series) -> int | None:
    """Return the first row whose number and texts stood together in an earlier row, if there is one."""
    if not _may_repeat(_mixed_keys(columns, spread(numbers))):
        return None
    together = pl.DataFrame([pl.Series("number", numbers), *(c.alias(str(i)) for i, c in enumerate(columns))])
    fresh = together.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    return None if fresh.all() else int((~fresh).arg_true()[0])


def _mixed_keys(columns: Sequence[pl.Series], keys: Keys) -> Keys:
    """Mix the hashes of the texts of every row with a key that it has already."""
    for column in columns:
        # Multiplying in between keeps two columns from being taken for each other.
        keys = keys * _SPREAD ^ text_keys(column)
    return keys


def _may_repeat(keys: Keys) -> bool:
    """Tell whether two keys are equal; many are sorted in place."""
    if keys.size > _MOST_IN_TABLE:
        keys.sort()
        return bool(np.any(keys[1:] == keys[:-1]))
    while keys.size:
        holder = _last_in_place(keys)
        displaced = np.flatnonzero(holder != np.arange(keys.size))
        left = keys[displaced]
        if np.any(keys[holder[displaced]] == left):
            return True
        keys = left
    return False


def _last_in_place(keys: Keys) -> NDArray[np.int32]:
    """Put keys into a table, and return for every key the last of those that fell on the same place.

    That is a table in place of sorting, which takes ten times as long.
    """
    size = 1 << (_DENSE * keys.size).bit_length()
    places = (keys & np.uint64(size - 1)).view(np.int64)
    table = np.empty(size, dtype=np.int32)
    table[places] = np.arange(keys.size, dtype=np.int32)
    return table.take(places)


@dataclass(frozen=True, eq=False)
class Stretches:
    """A column of ids as stretches of equal ids: short where a file is sorted, and never wrong where it is not.

    Parameters
    ----------
    starts : ndarray of int, shape (stretches,)
        The row at which every stretch starts.
    ids : polars.Series of String, shape (stretches,)
        The id of every stretch.
    rows : int
        How many rows there are.
    """

    starts: NDArray[np.int64]
    ids: pl.Series
    rows: int

    @classmethod
    def of(cls, column: pl.Series) -> Stretches:
        """Find the stretches of a column."""
        parts = [cls(starts := _changes(chunk), chunk[starts], chunk.len()) for chunk in _chunks(column)]
        return cls.join(parts) if len(parts) != 1 else parts[0]

    @classmethod
    def join(cls, parts: Sequence[Stretches]) -> Stretches:
        """Put the rows of columns one after the other."""
        filled = [part for part in parts if part.rows]
        if not filled:
            return cls(np.zeros(0, dtype=np.int64), pl.Series(dtype=pl.String), 0)
        # A stretch may go on in the next part.
        first = [0, *(int(one.ids[-1] == other.ids[0]) for one, other in pairwise(filled))]
        before = np.cumsum([0, *(part.rows for part in filled)])
        starts = [part.starts[skip:] + rows for part, skip, rows in zip(filled, first, before[:-1], strict=True)]
        ids = pl.concat([part.ids.slice(skip) for part, skip in zip(filled, first, strict=True)])
        return cls(np.concatenate(starts), ids.rechunk(), int(before[-1]))

    @classmethod
    def same(cls, text: str, rows: int) -> Stretches:
        """Give all rows the same id."""
        few = min(rows, 1)
        return cls(np.zeros(few, dtype=np.int64), pl.Series([text][:few], dtype=pl.String), rows)

    def take(self, rows: NDArray[np.integer]) -> Stretches:
        """Return the column of some of the rows, in their order."""
        if self.starts.size == 1:
            return Stretches.same(self.ids[0], rows.size)
        return Stretches.of(self.spelt_out()[rows])

    def spelt_out(self) -> pl.Series:
        """Return the column itself."""
        if self.starts.size == self.rows:
            return self.ids
        return self.ids[np.repeat(np.arange(self.starts.size), self.lengths)]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows every stretch has."""
        return np.diff(self.starts, append=self.rows)

    def split_at(self, starts: NDArray[np.int64]) -> pl.Series:
        """Return the ids of stretches that start at these rows, all starts of this column among them."""
        if starts.size == self.starts.size:
            return self.ids
        if self.starts.size == 1:
            return pl.repeat(self.ids[0], starts.size, dtype=pl.String, eager=True)
        return self.ids[np.cumsum(self._is_start[starts]) - 1]

    def starts_with(self, other: Stretches) -> NDArray[np.int64]:
        """Return the rows at which this column or another one of as many rows changes."""
        return self.starts if other.starts.size == 1 else np.flatnonzero(self._is_start | other._is_start)

    @property
    def _is_start(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.rows, dtype=bool)
        mask[self.starts] = True
        return mask


def _chunks(column: pl.Series) -> list[pl.Series]:
    return column.get_chunks() if column.n_chunks() > 1 else [column]


def _changes(column: pl.Series) -> NDArray[np.int64]:
    """Return the rows at which a column changes its value, the first row included."""
    if not column.len():
        return np.zeros(0, dtype=np.int64)
    changes = column.slice(1) != column.slice(0, column.len() - 1)
    return np.concatenate(([0], changes.arg_true().to_numpy().astype(np.int64) + 1))


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
        pairs = zip(a.to_list(), b.to_list(), strict=True)
        number = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], dtype=np.int32)
        return number, np.unique(number, return_index=True)[1]
    return number_by_appearance(equal_row(a, b))


def number_by_appearance(codes: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give the different values of an array, none below 0, consecutive numbers in order of appearance.

    Returns
    -------
    number : ndarray of int, shape (rows,)
        Which value every row holds.
    first : ndarray of int, shape (values,)
        The row at which every value appears first.
    """
    highest = int(codes.max(initial=0))
    if highest > _TABLE_PER_ROW * codes.size:
        _, first, of_row = np.unique(codes, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        place = np.empty(first.size, dtype=np.int32)
        place[by_appearance] = np.arange(first.size, dtype=np.int32)
        return place[of_row], first[by_appearance]
    # A table in place of sorting. Written from the last row to the first, it keeps the first.
    table = np.full(highest + 1, -1, dtype=np.int32)
    table[codes[::-1]] = np.arange(codes.size - 1, -1, -1, dtype=np.int32)
    first = np.sort(table[table >= 0]).astype(np.int64)
    numbers = np.zeros(highest + 1, dtype=np.int32)
    numbers[codes[first]] = np.arange(first.size, dtype=np.int32)
    return numbers[codes], first


def stable_order(*numbers: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the permutation that sorts by 32-bit numbers, none below 0, the last of several first, as a lexsort does.

    Numbers of 16 bits are sorted by counting them, which is several times faster than comparing.
    """
    permutation = np.arange(numbers[0].size)
    for number in numbers:
        for shift in (0, 16) if number.max(initial=0) >> 16 else (0,):
            digits = (number >> shift).astype(np.uint16)[permutation]
            permutation = permutation[np.argsort(digits, kind="stable")]
    return permutation


def equal_row(*columns: pl.Series) -> NDArray[np.int32]:
    """Return for every row one that has the same texts, the same one for all that have them."""
    # What is the same in all rows, as the system mostly is, tells none apart.
    telling = [column for column in columns if column.len() and not column.eq_missing(column[0]).all()]
    row = _equal_key(_mixed_keys(telling, np.zeros(columns[0].len(), dtype=np.uint64)))
    if all(column.eq_missing(column[row]).all() for column in telling):
        return row
    # Different texts share a key.
    names = [str(place) for place in range(len(columns))]
    frame = pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
    return frame.with_row_index("row").select(pl.col("row").min().over(names))["row"].to_numpy().astype(np.int32)


def _equal_key(keys: Keys) -> NDArray[np.int32]:
    """Return for every key the row of an equal one, the same one for all that are equal."""
    found = np.empty(keys.size, dtype=np.int32)
    rows = np.arange(keys.size, dtype=np.int32)
    while rows.size:
        left = keys[rows]
        holder = _last_in_place(left)
        found[rows] = rows[holder]
        rows = rows[left != left[holder]]
    return found
