"""The best columns of each row of a matrix, found exactly, in blocks, with exclusions.

This is the array core of :mod:`earmark.data.matrices`: it knows rows, columns and numbers, but no ids and no files.

- ``kind`` says which way the numbers run: in ``"distance"`` small is near, in ``"similarity"`` large is near.
  Scores always run upwards: a distance is negated.
- An infinitely bad value (a distance of ``inf``, a similarity of ``-inf``) means *never retrieve*; an infinitely good
  one (the inverse of a distance of 0, say) ranks first. NaN is an error.
- Scores are compared as 32-bit floats, as trec_eval compares them; a permutation of the columns orders equal ones.

How the best ``k`` are found
----------------------------
Order-preserving bits of the 32-bit score and the tie rank of the column together make one 64-bit integer,

    key(q, d) = bits(score(q, d)) · 2³² + tie_order(d),

which is different for every column of a row. Partitioning the keys of a row is therefore exact where ties
straddle the ``k``-th place, and a key gives back both its score and its column.

A matrix of 15,000 × 15,000 need not fit in memory: rows are taken in blocks, and the pages of a mapped file are handed
back once they are copied.

References
----------
E. Voorhees and C. Buckley, trec_eval: the order of a run.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from earmark.errors import InputError, ParameterError

Kind: TypeAlias = Literal["distance", "similarity"]
Values: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[np.integer[Any]]

NEVER_HINT = "an infinite distance, or a similarity of minus infinity, means 'never retrieve'"

# Rows are ranked in blocks of this many cells, which fit a processor's cache.
_BLOCK_CELLS = 2**18
# In a column-major file a few rows lie spread over the whole file. So many rows are fetched in one walk over
# it, and the walk gives back pages after each stretch.
_COLUMN_MAJOR_FETCH_CELLS = 2**22
_COLUMN_MAJOR_STRETCH_BYTES = 2**23

_EXCLUDED = np.iinfo(np.int64).min
_TIE_BITS = np.int64(0xFFFF_FFFF)
_MAGNITUDE_BITS = np.int32(0x7FFF_FFFF)

# A matrix counts as one kind when the diagonal is the best value in nearly all of at least this many rows.
_GUESS_MIN_ROWS = 5
_GUESS_SHARE = 0.95


class Nearest(NamedTuple):
    """The best columns of some rows, best first.

    Attributes
    ----------
    indices : int32 array, shape (rows, k)
        Columns; -1 beyond the end of a list.
    scores : float32 array, shape (rows, k)
        Higher is better; -inf beyond the end of a list.
    lengths : int32 array, shape (rows,)
        How many columns each list holds, at most k.
    """

    indices: NDArray[np.int32]
    scores: NDArray[np.float32]
    lengths: NDArray[np.int32]


def nearest(
    values: Values,
    *,
    k: int,
    kind: Kind = "distance",
    rows: Integers | None = None,
    column_of_row: Integers | None = None,
    labels: Sequence[tuple[Integers, Integers]] = (),
    tie_order: Integers | None = None,
    block_rows: int | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> Nearest:
    """Find the `k` best columns of each row, best first.

    Parameters
    ----------
    values : array, shape (n, m)
        Distances or similarities; only the chosen rows are looked at, a block at a time.
    k : int, at least 1
        The length of the lists.
    kind : {"distance", "similarity"}
        Whether small or large values are near.
    rows : int array, shape (r,), optional
        The rows to rank, in this order; all by default.
    column_of_row : int array, shape (n,), optional
        The column that is the row itself, left out of its list; -1 where there is none.
    labels : sequence of (int array of shape (n,), int array of shape (m,))
        Labels of rows and of columns. A column is left out of a row's list if their labels are equal in any
        of the pairs; a label below 0 is unknown and leaves nothing out.
    tie_order : int array, shape (m,), optional
        A permutation of 0..m-1. Among columns with equal scores (as float32) the one with the *larger* number
        comes first. The column's own index by default.
    block_rows : int, optional
        Rows ranked at once. The result does not depend on it.
    on_rows : callable, optional
        Called after each block with the number of rows in it.

    Returns
    -------
    Nearest
        Indices, scores and lengths, one row for each of `rows`.

    Examples
    --------
    >>> import numpy as np
    >>> distances = np.array([[0.0, 0.3, 0.1], [0.3, 0.0, 0.2], [0.1, 0.2, 0.0]])
    >>> nearest(distances, k=2, column_of_row=np.arange(3)).indices.tolist()
    [[2, 1], [2, 0], [0, 1]]
    """
    values = np.asanyarray(values)
    if values.ndim != 2 or not values.size:
        raise ParameterError(f"values must be a matrix that is not empty, not of shape {values.shape}")
    n, m = values.shape
    if k < 1:
        raise ParameterError(f"k must be at least 1, not {k}")
    if block_rows is not None and block_rows < 1:
        raise ParameterError(f"block_rows must be at least 1, not {block_rows}")
    check_kind_name(kind)
    rows = np.arange(n) if rows is None else _integers(rows, "rows", within=(0, n - 1))
    own = np.full(n, -1) if column_of_row is None else column_of_row
    own = _integers(own, "column_of_row", size=n, within=(-1, m - 1))
    order = _integers(np.arange(m) if tie_order is None else tie_order, "tie_order", size=m, within=(0, m - 1))
    column_at = np.zeros(m, dtype=np.int32)
    column_at[order] = np.arange(m)
    if not np.array_equal(order[column_at], np.arange(m)):
        raise ParameterError("tie_order must be a permutation of the columns' numbers")
    checked_labels = [
        (_integers(of_rows, "row labels", size=n), _integers(of_columns, "column labels", size=m))
        for of_rows, of_columns in labels
    ]

    never = np.inf if kind == "distance" else -np.inf
    kept = min(k, m)
    found = Nearest(
        np.full((rows.size, k), -1, dtype=np.int32),
        np.full((rows.size, k), -np.inf, dtype=np.float32),
        np.zeros(rows.size, dtype=np.int32),
    )
    for chosen, block in row_blocks(values, rows, block_rows):
        if (cell := first_nan(block)) is not None:
            got = f"NaN in row {rows[chosen][cell[0]]}, column {cell[1]}, counted from 0"
            raise InputError(expected="a number in every cell", got=got, hint=NEVER_HINT)
        keys = _keys(_scores(block, kind), order)
        np.copyto(keys, _EXCLUDED, where=block == never)
        with_own = np.flatnonzero(own[rows[chosen]] >= 0)
        keys[with_own, own[rows[chosen]][with_own]] = _EXCLUDED
        for of_rows, of_columns in checked_labels:
            same = of_rows[rows[chosen], None] == of_columns
            same[of_rows[rows[chosen]] < 0] = False
            np.copyto(keys, _EXCLUDED, where=same)

        if kept < m:
            keys.partition(m - kept, axis=1)
        best = np.sort(keys[:, m - kept :], axis=1)[:, ::-1]
        retrieved = best != _EXCLUDED
        found.lengths[chosen] = retrieved.sum(axis=1)
        np.copyto(found.indices[chosen, :kept], column_at[best & _TIE_BITS], where=retrieved)
        np.copyto(found.scores[chosen, :kept], _scores_of_keys(best), where=retrieved)
        if on_rows is not None:
            on_rows(len(block))
    return found


def check_kind_name(kind: str) -> None:
    """Refuse a kind of matrix that there is not."""
    if kind not in get_args(Kind):
        raise ParameterError(f"kind must be 'distance' or 'similarity', not {kind!r}")


def _integers(
    numbers: Integers, name: str, *, size: int | None = None, within: tuple[int, int] | None = None
) -> NDArray[np.int64]:
    """Check a vector of integers: it holds `size` numbers, all of them `within` a range, ends included."""
    checked = np.asarray(numbers)
    if checked.ndim != 1 or (checked.size and checked.dtype.kind not in "iu"):
        raise ParameterError(f"{name} must be a vector of integers")
    if size is not None and checked.size != size:
        raise ParameterError(f"{name} must hold {size} numbers, not {checked.size}")
    if within is not None and checked.size and (checked.min() < within[0] or checked.max() > within[1]):
        raise ParameterError(f"{name} must lie in {within[0]}..{within[1]}")
    return checked.astype(np.int64)


def _scores(block: Values, kind: Kind) -> NDArray[np.float32]:
    """Return values as 32-bit scores that run upwards, without negative zeros: their bits are not zero's."""
    with np.errstate(over="ignore"):
        single = block.astype(np.float32)
    zero = np.float32(0)
    return np.subtract(zero, single, out=single) if kind == "distance" else np.add(single, zero, out=single)


def _keys(scores: NDArray[np.float32], tie_order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make one integer of score and tie rank that orders as the pair does.

    The bits of a float (IEEE 754), read as an integer, order as the float does if it is not negative, and
    backwards if it is. Flipping the magnitude of the negative ones puts all in order.
    """
    bits = scores.view(np.int32)
    keys = (bits ^ ((bits >> 31) & _MAGNITUDE_BITS)).astype(np.int64)
    keys <<= 32
    keys |= tie_order
    return keys


def _scores_of_keys(keys: NDArray[np.int64]) -> NDArray[np.float32]:
    flipped = (keys >> 32).astype(np.int32)
    return (flipped ^ ((flipped >> 31) & _MAGNITUDE_BITS)).view(np.float32)


def first_nan(block: Values) -> tuple[int, int] | None:
    """Return the row and the column of the first NaN, if there is one."""
    # A maximum passes NaN on, and is many times faster than looking at each cell.
    if block.dtype.kind != "f" or not np.isnan(block.max()):
        return None
    row, column = np.argwhere(np.isnan(block))[0]
    return int(row), int(column)


def row_blocks(
    values: Values, rows: NDArray[np.int64], block_rows: int | None = None
) -> Iterator[tuple[slice, Values]]:
    """Copy the chosen rows block by block; a block is overwritten after the next one is asked for.

    Touched pages of a mapped file count as memory of the process, so that a pass over the file would end up
    holding all of it. They are given back as soon as they are copied.
    """
    n, m = values.shape
    mapped = _mapped_file(values)
    block_rows = block_rows or max(1, _BLOCK_CELLS // m)
    fetch_rows, stretch = block_rows, m
    if values.strides[0] < values.strides[1]:
        fetch_rows = max(block_rows, _COLUMN_MAJOR_FETCH_CELLS // m)
        stretch = max(1, _COLUMN_MAJOR_STRETCH_BYTES // (n * values.itemsize))
    plain = np.asarray(values)
    fetched = np.empty((min(fetch_rows, rows.size), m), dtype=values.dtype)
    for start in range(0, rows.size, fetch_rows):
        wanted = rows[start : start + fetch_rows]
        for column in range(0, m, stretch):
            columns = slice(column, column + stretch)
            fetched[: wanted.size, columns] = plain[wanted, columns]
            if mapped is not None:
                mapped.madvise(mmap.MADV_DONTNEED)
        for first in range(0, wanted.size, block_rows):
            last = min(first + block_rows, wanted.size)
            yield slice(start + first, start + last), fetched[first:last]


def _mapped_file(values: Values) -> mmap.mmap | None:
    """Return the mapping behind an array, if its pages can be given back and read again later."""
    read_only = False
    base: object = values
    while isinstance(base, np.ndarray):
        # Giving back the pages of a copy-on-write mapping would undo what was written to it.
        read_only = isinstance(base, np.memmap) and base.mode == "r"
        base = base.base
    # Windows has no such advice; it trims mapped pages by itself.
    return base if isinstance(base, mmap.mmap) and read_only and hasattr(base, "madvise") else None


def guess_kind(values: Values, *, column_of_row: Integers | None = None, sample_rows: int = 200) -> Kind | None:
    """Guess from the diagonal whether a matrix holds distances or similarities.

    A document is nearest to itself. If its own value is the smallest of nearly every row, these are
    distances; if it is the largest, similarities. Rows whose values are all equal and rows whose own value is
    infinite (a common way to leave out the query) say nothing.

    Parameters
    ----------
    values : array, shape (n, m)
        Distances or similarities.
    column_of_row : int array, shape (n,), optional
        The column that is the row itself, or -1. The diagonal by default.
    sample_rows : int
        Look at this many rows, evenly spread.

    Returns
    -------
    {"distance", "similarity"} or None
        None where the diagonal does not tell.
    """
    n, m = values.shape
    own = np.where(np.arange(n) < m, np.arange(n), -1) if column_of_row is None else column_of_row
    own = _integers(own, "column_of_row", size=n, within=(-1, m - 1))
    with_own = np.flatnonzero(own >= 0)
    rows = with_own[np.linspace(0, with_own.size - 1, min(sample_rows, with_own.size)).astype(np.int64)]
    smallest = largest = telling = 0
    for chosen, block in row_blocks(values, rows):
        others = block.astype(np.float64)
        cells = np.arange(len(block)), own[rows[chosen]]
        mine = others[cells]
        others[cells] = np.inf
        low = others.min(axis=1)
        others[cells] = -np.inf
        high = others.max(axis=1)
        tells = np.isfinite(mine) & ((mine < high) | (mine > low)) & (m > 1)
        telling += int(tells.sum())
        smallest += int((tells & (mine <= low)).sum())
        largest += int((tells & (mine >= high)).sum())
    if telling < _GUESS_MIN_ROWS:
        return None
    if smallest >= _GUESS_SHARE * telling:
        return "distance"
    return "similarity" if largest >= _GUESS_SHARE * telling else None


def relates_documents(values: Values, *, column_of_row: Integers, sample_rows: int = 200) -> bool:
    """Tell whether a square matrix may hold distances or similarities of documents, and not a row of features for each.

    Distances are symmetric, or every document is as near to itself as any other to itself, or nearest to itself. A
    matrix of embeddings with as many numbers as documents is none of these.

    Parameters
    ----------
    values : array, shape (n, n)
        The matrix.
    column_of_row : int array, shape (n,)
        The column that is the row itself.
    sample_rows : int
        Look at this many rows and their columns, evenly spread.
    """
    n = len(values)
    if n < _GUESS_MIN_ROWS or guess_kind(values, column_of_row=column_of_row, sample_rows=sample_rows) is not None:
        return True
    rows = np.unique(np.linspace(0, n - 1, min(sample_rows, n)).astype(np.int64))
    block = np.asarray(values[rows], dtype=np.float64)[:, np.asarray(column_of_row)[rows]]
    finite = np.isfinite(block)
    if not finite.any():
        return True
    tolerance = 1e-3 * np.ptp(block[finite])
    own = np.diag(block)
    if not np.isfinite(own).all() or np.ptp(own) <= tolerance:
        return True
    both = finite & finite.T
    return bool(np.all(np.abs(block - block.T)[both] <= tolerance))
