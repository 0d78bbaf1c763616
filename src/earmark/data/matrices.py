"""Distance and similarity matrices to ranked lists, with filters.

A music similarity system often delivers one number for every pair of tracks rather than ranked lists. A
campaign turns that matrix into lists: for each query the ``k`` best documents of its row, without the query
itself and, under an *artist filter*, without any document by the query's artist. The same filter works for
any attribute (album, genre, work, ...).

Conventions
-----------
- Rows are queries and columns are documents. A square matrix with one list of ids is the common case; a
  rectangular one names its rows apart.
- ``kind`` says which way the numbers run: in ``"distance"`` small is near, in ``"similarity"`` large is near.
  Scores in the lists always run upwards: a distance is negated.
- An infinitely bad value (a distance of ``inf``, a similarity of ``-inf``) means *never retrieve*; an
  infinitely good one (the inverse of a distance of 0, say) ranks first. NaN is an error.
- Lists are ordered as trec_eval orders a run: scores are compared as 32-bit floats, and among equal scores
  the document whose id is *larger* in byte order comes first. Reading a list back from a TREC file therefore
  gives the same list.
- An unknown attribute (of the query or of the document) excludes nothing.

A matrix of 15,000 × 15,000 need not fit in memory: ``.npy`` files are memory-mapped, rows are taken in
blocks, and the pages of a block are handed back once its lists are made.

How the best ``k`` are found
----------------------------
Order-preserving bits of the 32-bit score and the tie rank of the column together make one 64-bit integer,

    key(q, d) = bits(score(q, d)) · 2³² + tie_order(d),

which is different for every column of a row. Partitioning the keys of a row is therefore exact where ties
straddle the ``k``-th place, and a key gives back both its score and its column.

References
----------
MIREX, "Audio Music Similarity and Retrieval", music-ir.org/mirex/wiki: the task, its artist filter and its
distance matrix files. E. Voorhees and C. Buckley, trec_eval: the order of a run.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import difflib
import gzip
import io
import math
import mmap
import os
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.errors import InputError, ParameterError

Kind: TypeAlias = Literal["distance", "similarity"]
Values: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[np.integer[Any]]
_PathLike: TypeAlias = str | os.PathLike[str]
_Lines: TypeAlias = Iterator[tuple[int, str]]

_NEVER_HINT = "an infinite distance, or a similarity of minus infinity, means 'never retrieve'"
_NUMBERS_HINT = "a text matrix that carries its own ids is read without an ids file"
_PLAIN_HINT = "a matrix of plain numbers needs an ids file"

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


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers between queries (rows) and documents (columns), and the ids of both.

    Parameters
    ----------
    values : array, shape (queries, documents)
        Distances or similarities, in memory or memory-mapped.
    row_ids, column_ids : tuple of str
        The ids of the queries and of the documents, each without duplicates.
    path : Path, optional
        The file the values came from, for messages.
    """

    values: Values
    row_ids: tuple[str, ...]
    column_ids: tuple[str, ...]
    path: Path | None = None

    def __post_init__(self) -> None:
        error = partial(InputError, path=self.path)
        shape = self.values.shape
        if self.values.dtype.kind not in "biuf":
            raise error(expected="a matrix of real numbers", got=f"values of type {self.values.dtype}")
        if len(shape) != 2:
            raise error(expected="a matrix (2 dimensions)", got=f"an array of shape {shape}")
        if not self.values.size:
            raise error(expected="at least one row and one column", got=f"shape {shape}")
        if shape[0] != shape[1] and self.row_ids == self.column_ids:
            got, hint = (
                f"{shape[0]} rows and {shape[1]} columns",
                "give the ids of the rows apart, as query ids",
            )
            raise error(expected="a square matrix", got=got, hint=hint)
        for count, ids, name in ((shape[1], self.column_ids, "column"), (shape[0], self.row_ids, "row")):
            if len(ids) != count:
                raise error(expected=f"{count} ids", got=str(len(ids)), hint=f"one for each {name}")
            if len(set(ids)) != count:
                raise error(expected=f"a different id for each {name}", got="duplicates")


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


# Reading ----------------------------------------------------------------------------------------------------


def read_matrix(
    path: _PathLike,
    *,
    ids: _PathLike | None = None,
    query_ids: _PathLike | None = None,
    encoding: str = "utf-8",
) -> Matrix:
    """Read a matrix of distances or similarities with the ids of its rows and columns.

    Three layouts are understood, the last two also gzipped:

    - ``.npy``, with an ids file; it is mapped into memory, not loaded;
    - text of plain numbers separated by white space or commas, with an ids file; blank lines and lines that
      start with ``#`` are skipped;
    - text that carries its ids (no ids file): a header row of column ids, then rows of an id and numbers,
      separated by tabs, commas or spaces. The top-left cell may be anything or absent. MIREX's distance
      matrix files are of this layout; their numbered list of files before the ``Q/R`` row is understood, and
      the ids are then the files.

    Parameters
    ----------
    path : path-like
        The matrix.
    ids : path-like, optional
        The ids of the columns, one per line (see :func:`read_ids`); of the rows too, without `query_ids`.
    query_ids : path-like, optional
        The ids of the rows, where they differ from those of the columns.
    encoding : str
        The encoding of the text files.

    Raises
    ------
    InputError
        If a file cannot be read, is not a matrix of numbers, holds NaN, or its size and ids disagree.
    """
    path = Path(path)
    is_npy = path.name.endswith((".npy", ".npy.gz"))
    if query_ids is not None and ids is None:
        raise ParameterError("query ids name the rows of a matrix whose columns are named by an ids file")
    if ids is None:
        if is_npy:
            raise InputError(expected="an ids file beside the matrix", got="none", path=path, hint=_PLAIN_HINT)
        return _read_labelled(path, encoding)
    column_ids = read_ids(ids, encoding=encoding)
    row_ids = column_ids if query_ids is None else read_ids(query_ids, encoding=encoding)
    if not is_npy:
        return Matrix(_read_numbers(path, encoding), row_ids, column_ids, path)
    matrix = Matrix(_map_npy(path), row_ids, column_ids, path)
    _refuse_nan(matrix)
    return matrix


def read_ids(path: _PathLike, *, encoding: str = "utf-8") -> tuple[str, ...]:
    """Read ids, one per line; blank lines and lines that start with ``#`` are skipped.

    Raises
    ------
    InputError
        If the file cannot be read, holds no ids, or holds an id twice.
    """
    path = Path(path)
    line_of_id: dict[str, int] = {}
    for number, line in _content_lines(path, encoding):
        _add_id(line_of_id, line.strip(), path, number)
    if not line_of_id:
        raise InputError(expected="ids, one per line", got="none", path=path)
    return tuple(line_of_id)


def _unreadable(path: Path, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(expected="a file", got="nothing there", path=path)
    if isinstance(error, IsADirectoryError):
        return InputError(expected="a file", got="a directory", path=path)
    return InputError(expected="a readable file", got=str(error), path=path)


def _open(path: Path) -> BinaryIO:
    """Open a file, unpacking it where it is gzipped."""
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if gzipped else path.open("rb")


def _lines(path: Path, encoding: str) -> _Lines:
    """Lines that are not blank, with their numbers, without their ends."""
    try:
        # A byte order mark is no part of the first id.
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        with _open(path) as binary, io.TextIOWrapper(binary, encoding=codec) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\n")
    except LookupError:
        raise InputError(expected="a known encoding", got=repr(encoding), path=path) from None
    except UnicodeDecodeError as error:
        raise InputError(
            expected=f"text in {encoding}",
            got=f"byte 0x{error.object[error.start]:02x}",
            path=path,
            line=_undecodable_line(path, encoding),
            hint="name the file's encoding, for example --encoding latin-1",
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None


def _undecodable_line(path: Path, encoding: str) -> int:
    """Find the line that cannot be decoded: a text file decodes far ahead of the line it gives out."""
    decoder = codecs.getincrementaldecoder(encoding)()
    good_lines = 0
    with _open(path) as file, contextlib.suppress(UnicodeDecodeError, OSError, EOFError, zlib.error):
        for line in file:
            decoder.decode(line)
            good_lines += 1
    return good_lines + 1


def _content_lines(path: Path, encoding: str) -> _Lines:
    return ((number, line) for number, line in _lines(path, encoding) if not line.startswith("#"))


def _add_id(line_of_id: dict[str, int], new: str, path: Path, line: int) -> None:
    if not new:
        raise InputError(expected="an id", got="an empty cell", path=path, line=line)
    if new in line_of_id:
        got = f"{new!r} again, first on line {line_of_id[new]}"
        raise InputError(expected="an id that is new", got=got, path=path, line=line)
    line_of_id[new] = line


def _map_npy(path: Path) -> Values:
    try:
        if not path.stat().st_size:
            raise InputError(expected="a NumPy array", got="an empty file", path=path)
        return np.lib.format.open_memmap(path, mode="r")
    except ValueError as error:
        hint = "it is mapped into memory, so it cannot be gzipped" if path.suffix == ".gz" else None
        raise InputError(expected="a NumPy array of numbers", got=str(error), path=path, hint=hint) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _refuse_nan(matrix: Matrix) -> None:
    for rows, block in _row_blocks(matrix.values, np.arange(len(matrix.row_ids))):
        if (cell := _first_nan(block)) is not None:
            row, column = rows.start + cell[0], cell[1]
            got = f"NaN in row {row + 1} ({matrix.row_ids[row]!r}), column {column + 1} ({matrix.column_ids[column]!r})"
            raise InputError(expected="a number in every cell", got=got, path=matrix.path, hint=_NEVER_HINT)


def _numbers(
    cells: Sequence[str], path: Path, line: int, *, first_column: int = 1, hint: str | None = None
) -> list[float]:
    error = partial(InputError, expected="a number", path=path, line=line)
    try:
        numbers = list(map(float, cells))
    except ValueError:
        place, cell = next(item for item in enumerate(cells) if not _is_number(item[1]))
        raise error(got=f"{cell!r} in column {first_column + place}", hint=hint) from None
    # A sum is NaN where a number is, but also where two infinities of unlike sign meet.
    if math.isnan(sum(numbers)) and any(map(math.isnan, numbers)):
        place = next(place for place, number in enumerate(numbers) if math.isnan(number))
        raise error(got=f"NaN in column {first_column + place}", hint=_NEVER_HINT)
    return numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_numbers(path: Path, encoding: str) -> Values:
    values = array("d")
    width = 0
    for number, line in _content_lines(path, encoding):
        cells = line.replace(",", " ").split()
        width = width or len(cells)
        if len(cells) != width:
            raise InputError(expected=f"{width} columns", got=str(len(cells)), path=path, line=number)
        values.extend(_numbers(cells, path, number, hint=_NUMBERS_HINT))
    if not values:
        raise InputError(expected="rows of numbers", got="an empty file", path=path)
    return np.frombuffer(values).reshape(-1, width)


def _cells(line: tuple[int, str], separator: str | None, path: Path) -> list[str]:
    """Split a row of a labelled matrix; `separator` is a tab, a comma, or None for white space."""
    number, text = line
    if separator is None:
        return text.split()
    text = text.rstrip(" ").removesuffix(separator)
    try:
        cells = next(csv.reader([text])) if separator == "," and '"' in text else text.split(separator)
    except csv.Error as error:
        raise InputError(expected="cells between commas", got=str(error), path=path, line=number) from None
    return [cell.strip() for cell in cells]


def _read_labelled(path: Path, encoding: str) -> Matrix:
    lines = _lines(path, encoding)
    header = _next_line(lines, path, "a header row of ids")
    first = _next_line(lines, path, "a row of numbers")
    id_of_number: dict[str, str] = {}
    if _is_legend_entry(first[1]):
        id_of_number, header = _read_legend(chain([first], lines), path)
        first = _next_line(lines, path, "a row of numbers")

    separator = next((mark for mark in "\t," if mark in first[1]), None)
    columns = _cells(header, separator, path)
    if len(columns) == len(_cells(first, separator, path)):
        # Plain numbers would pass for a table with ids if its ids, and the top-left cell too, may be numbers.
        if all(map(_is_number, columns)):
            error = partial(InputError, path=path, line=header[0], hint=_PLAIN_HINT)
            raise error(expected="a header row of ids", got="a row of numbers")
        del columns[0]
    line_of_column: dict[str, int] = {}
    for column in columns:
        _add_id(line_of_column, _named(column, id_of_number, path, header[0]), path, header[0])

    values = array("d")
    line_of_row: dict[str, int] = {}
    for line in chain([first], lines):
        row, *cells = _cells(line, separator, path)
        if len(cells) != len(columns):
            error = partial(InputError, path=path, line=line[0], hint=_PLAIN_HINT)
            raise error(expected=f"an id and {len(columns)} columns", got=str(len(cells)))
        _add_id(line_of_row, _named(row, id_of_number, path, line[0]), path, line[0])
        values.extend(_numbers(cells, path, line[0], first_column=2))
    shape = len(line_of_row), len(columns)
    return Matrix(np.frombuffer(values).reshape(shape), tuple(line_of_row), tuple(line_of_column), path)


def _next_line(lines: _Lines, path: Path, expected: str) -> tuple[int, str]:
    line = next(lines, None)
    if line is None:
        raise InputError(expected=expected, got="the end of the file", path=path)
    return line


def _is_legend_entry(line: str) -> bool:
    """Whether a line is the first of MIREX's numbered list of files, and not a row of numbers."""
    number, *rest = line.split(maxsplit=1)
    return number == "1" and not all(map(_is_number, chain.from_iterable(cell.split() for cell in rest)))


def _read_legend(lines: Iterator[tuple[int, str]], path: Path) -> tuple[dict[str, str], tuple[int, str]]:
    """Read ``number file`` lines up to the header row, which starts with ``Q/R``."""
    id_of_number: dict[str, str] = {}
    line_of_number: dict[str, int] = {}
    for line, text in lines:
        number, *name = text.split(maxsplit=1)
        if number == "Q/R":
            return id_of_number, (line, text)
        if not name:
            raise InputError(expected="a number and a file", got=repr(number), path=path, line=line)
        _add_id(line_of_number, number, path, line)
        id_of_number[number] = name[0].strip()
    raise InputError(expected="a row 'Q/R' after the list of files", got="the end of the file", path=path)


def _named(cell: str, id_of_number: Mapping[str, str], path: Path, line: int) -> str:
    if id_of_number and cell not in id_of_number:
        raise InputError(expected="a number from the list of files", got=repr(cell), path=path, line=line)
    return id_of_number.get(cell, cell)


# Ranking ----------------------------------------------------------------------------------------------------


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
    _check_kind_name(kind)
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
    for chosen, block in _row_blocks(values, rows, block_rows):
        if (cell := _first_nan(block)) is not None:
            got = f"NaN in row {rows[chosen][cell[0]]}, column {cell[1]}, counted from 0"
            raise InputError(expected="a number in every cell", got=got, hint=_NEVER_HINT)
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


def _check_kind_name(kind: str) -> None:
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


def _first_nan(block: Values) -> tuple[int, int] | None:
    # A maximum passes NaN on, and is many times faster than looking at each cell.
    if block.dtype.kind != "f" or not np.isnan(block.max()):
        return None
    row, column = np.argwhere(np.isnan(block))[0]
    return int(row), int(column)


def _row_blocks(
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
    for chosen, block in _row_blocks(values, rows):
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


# Lists ------------------------------------------------------------------------------------------------------


def lists_from_matrix(
    matrix: Matrix,
    *,
    k: int,
    kind: Kind = "distance",
    queries: Sequence[str] | None = None,
    exclude: Sequence[Mapping[str, str | None]] = (),
    exclude_query: bool = True,
    check_kind: bool = True,
    block_rows: int | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> pl.DataFrame:
    """Make ranked lists of a matrix.

    Parameters
    ----------
    matrix : Matrix
        Distances or similarities between queries and documents.
    k : int, at least 1
        The length of the lists.
    kind : {"distance", "similarity"}
        Whether small or large values are near.
    queries : sequence of str, optional
        The queries to make lists for, in this order; all rows by default.
    exclude : sequence of mappings from id to attribute value
        One mapping per filter, for instance the artist of each document. A document is left out of a query's
        list if both have the same value in any of them. None, or no entry, means unknown.
    exclude_query : bool
        Leave the query itself out of its list.
    check_kind : bool
        Refuse a `kind` that the diagonal contradicts (see :func:`guess_kind`). Switch it off where the
        diagonal holds a placeholder, for instance similarities with zeros on the diagonal.
    block_rows, on_rows
        As in :func:`nearest`.

    Returns
    -------
    polars.DataFrame
        Columns ``query``, ``document`` (strings) and ``score`` (float32; a distance is negated), list by list
        and best first. A query with no documents left has no rows.

    Raises
    ------
    InputError
        If a query is not a row of the matrix or comes twice, if a filter knows none of the documents, if the
        diagonal contradicts `kind`, or if a chosen row holds NaN.
    """
    _check_kind_name(kind)
    column_index = {name: column for column, name in enumerate(matrix.column_ids)}
    own = np.array([column_index.get(name, -1) for name in matrix.row_ids], dtype=np.int64)
    rows = _rows_of_queries(matrix, matrix.row_ids if queries is None else queries)
    labels = [_labels(matrix, attribute) for attribute in exclude]
    if check_kind:
        _refuse_other_kind(matrix, kind, own)
    # Code point order, in which Python compares strings, is the byte order of UTF-8.
    tie_order = np.empty(len(matrix.column_ids), dtype=np.int64)
    tie_order[sorted(range(tie_order.size), key=matrix.column_ids.__getitem__)] = np.arange(tie_order.size)
    found = nearest(
        matrix.values,
        k=k,
        kind=kind,
        rows=rows,
        column_of_row=own if exclude_query else None,
        labels=labels,
        tie_order=tie_order,
        block_rows=block_rows,
        on_rows=on_rows,
    )
    retrieved = found.indices >= 0
    row_ids, column_ids = (pl.Series(ids, dtype=pl.String) for ids in (matrix.row_ids, matrix.column_ids))
    return pl.DataFrame(
        {
            "query": row_ids.gather(np.repeat(rows, found.lengths)),
            "document": column_ids.gather(found.indices[retrieved]),
            "score": found.scores[retrieved],
        }
    )


def _rows_of_queries(matrix: Matrix, queries: Sequence[str]) -> NDArray[np.int64]:
    row_index = {name: row for row, name in enumerate(matrix.row_ids)}
    seen: set[str] = set()
    for query in queries:
        if query not in row_index:
            close = difflib.get_close_matches(query, matrix.row_ids, n=1)
            raise InputError(
                expected="a query that is a row of the matrix",
                got=repr(query),
                path=matrix.path,
                hint=f"did you mean {close[0]!r}?" if close else None,
            )
        if query in seen:
            raise InputError(expected="each query once", got=f"{query!r} twice")
        seen.add(query)
    return np.array([row_index[query] for query in queries], dtype=np.int64)


def _labels(matrix: Matrix, attribute: Mapping[str, str | None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give each value of an attribute a number; -1 where it is unknown."""
    number_of: dict[str, int] = {}

    def numbers(ids: tuple[str, ...]) -> NDArray[np.int64]:
        known = (attribute.get(name) for name in ids)
        return np.array(
            [-1 if value is None else number_of.setdefault(value, len(number_of)) for value in known],
            dtype=np.int64,
        )

    of_rows, of_columns = numbers(matrix.row_ids), numbers(matrix.column_ids)
    # A filter that matches nothing is nearly always a file with other ids, and would pass unnoticed.
    for labels, name, ids in ((of_rows, "rows", matrix.row_ids), (of_columns, "columns", matrix.column_ids)):
        if (labels < 0).all():
            raise InputError(
                expected=f"a filter that knows some of the matrix's {name}",
                got=f"one that knows none ({name} are named like {ids[0]!r})",
                path=matrix.path,
            )
    return of_rows, of_columns


def _refuse_other_kind(matrix: Matrix, kind: Kind, own: NDArray[np.int64]) -> None:
    guess = guess_kind(matrix.values, column_of_row=own)
    if guess is None or guess == kind:
        return
    extreme, plural = ("largest", "similarities") if guess == "similarity" else ("smallest", "distances")
    raise InputError(
        expected="distances" if kind == "distance" else "similarities",
        got=f"a matrix in which nearly every document's own value is the {extreme} of its row",
        path=matrix.path,
        hint=f"these look like {plural}: say kind={guess!r}, or switch this check off (check_kind)",
    )
