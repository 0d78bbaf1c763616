"""Matrices written as text: plain numbers, or numbers that carry the ids of their rows and columns.

Plain numbers are separated by white space or commas, one row of the matrix a line. A matrix with ids has a header row
of column ids and then rows of an id and numbers, separated by tabs, commas or white space; its top-left cell may be
anything or absent. MIREX's distance matrix files are of the second kind, and list the files they compare, numbered,
before the header row, which starts with ``Q/R``.

References
----------
MIREX, "Audio Music Similarity and Retrieval", music-ir.org/mirex/wiki: its distance matrix files.
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from earmark.data.files import BLANKS, data_lines, words
from earmark.data.nearest_neighbours import NEVER_HINT, Values
from earmark.errors import InputError

_Lines: TypeAlias = Iterator[tuple[int, str]]

PLAIN_HINT = "a matrix of plain numbers needs an ids file"
_NUMBERS_HINT = "a text matrix that carries its own ids is read without an ids file"


class LabelledValues(NamedTuple):
    """A matrix and the ids that its file gives to rows and columns."""

    values: Values
    row_ids: tuple[str, ...]
    column_ids: tuple[str, ...]


def read_numbers(path: Path, *, encoding: str) -> Values:
    """Read a matrix of plain numbers; blank lines and lines that start with ``#`` are skipped."""
    values = array("d")
    width = 0
    for number, line in data_lines(path, encoding=encoding, comments=True):
        cells = words(line.replace(",", " "))
        width = width or len(cells)
        if len(cells) != width:
            raise InputError(expected=f"{width} columns", got=str(len(cells)), path=path, line=number)
        values.extend(_numbers(cells, path, number, hint=_NUMBERS_HINT))
    if not values:
        raise InputError(expected="rows of numbers", got="an empty file", path=path)
    return np.frombuffer(values).reshape(-1, width)


def read_labelled(path: Path, *, encoding: str) -> LabelledValues:
    """Read a matrix that carries the ids of its rows and columns."""
    lines = data_lines(path, encoding=encoding, comments=False)
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
            error = partial(InputError, path=path, line=header[0], hint=PLAIN_HINT)
            raise error(expected="a header row of ids", got="a row of numbers")
        del columns[0]
    line_of_column: dict[str, int] = {}
    for column in columns:
        add_id(line_of_column, _named(column, id_of_number, path, header[0]), path, header[0])

    values = array("d")
    line_of_row: dict[str, int] = {}
    for line in chain([first], lines):
        row, *cells = _cells(line, separator, path)
        if len(cells) != len(columns):
            error = partial(InputError, path=path, line=line[0], hint=PLAIN_HINT)
            raise error(expected=f"an id and {len(columns)} columns", got=str(len(cells)))
        add_id(line_of_row, _named(row, id_of_number, path, line[0]), path, line[0])
        values.extend(_numbers(cells, path, line[0], first_column=2))
    shape = len(line_of_row), len(columns)
    return LabelledValues(np.frombuffer(values).reshape(shape), tuple(line_of_row), tuple(line_of_column))


def _cells(line: tuple[int, str], separator: str | None, path: Path) -> list[str]:
    """Split a row of a labelled matrix; `separator` is a tab, a comma, or None for white space."""
    number, text = line
    if separator is None:
        return words(text)
    text = text.rstrip(" ").removesuffix(separator)
    try:
        cells = next(csv.reader([text])) if separator == "," and '"' in text else text.split(separator)
    except csv.Error as error:
        raise InputError(expected="cells between commas", got=str(error), path=path, line=number) from None
    return [cell.strip(BLANKS) for cell in cells]


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
        raise error(got=f"NaN in column {first_column + place}", hint=NEVER_HINT)
    return numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def add_id(line_of_id: dict[str, int], new: str, path: Path, line: int) -> None:
    """Add an id and its line, unless it is empty or there already."""
    if not new:
        raise InputError(expected="an id", got="an empty cell", path=path, line=line)
    if new in line_of_id:
        got = f"{new!r} again, first on line {line_of_id[new]}"
        raise InputError(expected="an id that is new", got=got, path=path, line=line)
    line_of_id[new] = line


def _next_line(lines: _Lines, path: Path, expected: str) -> tuple[int, str]:
    line = next(lines, None)
    if line is None:
        raise InputError(expected=expected, got="the end of the file", path=path)
    return line


def _is_legend_entry(line: str) -> bool:
    """Whether a line is the first of MIREX's numbered list of files, and not a row of numbers."""
    number, *rest = line.split(maxsplit=1)
    return number == "1" and not all(map(_is_number, chain.from_iterable(cell.split() for cell in rest)))


def _read_legend(lines: _Lines, path: Path) -> tuple[dict[str, str], tuple[int, str]]:
    """Read ``number file`` lines up to the header row, which starts with ``Q/R``."""
    id_of_number: dict[str, str] = {}
    line_of_number: dict[str, int] = {}
    for line, text in lines:
        number, *name = text.split(maxsplit=1)
        if number == "Q/R":
            return id_of_number, (line, text)
        if not name:
            raise InputError(expected="a number and a file", got=repr(number), path=path, line=line)
        add_id(line_of_number, number, path, line)
        id_of_number[number] = name[0].strip()
    raise InputError(expected="a row 'Q/R' after the list of files", got="the end of the file", path=path)


def _named(cell: str, id_of_number: Mapping[str, str], path: Path, line: int) -> str:
    if id_of_number and cell not in id_of_number:
        raise InputError(expected="a number from the list of files", got=repr(cell), path=path, line=line)
    return id_of_number.get(cell, cell)
