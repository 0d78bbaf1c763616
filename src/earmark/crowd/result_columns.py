"""Columns of results that hold several questions: ``Input.left_1``, ``Input.left_2`` and so on.

A field of a question stands in a column of its own, which then holds for all questions of a task, or in one column per
question, numbered by their places. Options that were ticked may have a column each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from earmark.crowd.platforms import PER_QUESTION, ResultMapping
from earmark.errors import InputError

_TRUE = ("true", "on", "1", "yes")
# What classifiers call the column that holds the chosen option itself.
_LABEL = "label"


@dataclass(frozen=True)
class NumberedColumns:
    """Where the questions of a task stand: for every place, the column of every field that the file has."""

    places: tuple[dict[str, str], ...]

    def names(self) -> Iterator[str]:
        """Yield every column that is used, some of them again."""
        return (column for place in self.places for column in place.values())


def find_columns(columns: Sequence[str], mapping: ResultMapping, *, path: str) -> NumberedColumns:
    """Find the columns of every field.

    Raises
    ------
    InputError
        If a column that is needed is not there, or not at every place.
    """
    there = set(columns)
    numbers: dict[str, set[int]] = {}
    for name in PER_QUESTION:
        column = mapping.columns.get(name)
        if column is not None and column not in there:
            found = (re.fullmatch(rf"{re.escape(column)}_(\d+)", one) for one in columns)
            numbers[name] = {int(one[1]) for one in found if one is not None}
    places = sorted(set().union(*(numbers.get(name, set()) for name in ("query", "a", "b"))))
    located: list[dict[str, str]] = [{} for _ in places or [0]]
    for name, column in mapping.columns.items():
        if column in there:
            for place in located:
                place[name] = column
        elif places and numbers.get(name):
            absent = next((number for number in places if number not in numbers[name]), None)
            if absent is not None:
                raise _missing(f"{column}_{absent}", columns, path)
            for place, number in zip(located, places, strict=True):
                place[name] = f"{column}_{number}"
        elif name in mapping.required:
            raise _missing(f"{column}_1" if places and name in PER_QUESTION else column, columns, path)
    return NumberedColumns(tuple(located))


def _missing(column: str, columns: Sequence[str], path: str) -> InputError:
    return InputError(
        expected=f"a column {column}",
        got=", ".join(columns)[:200],
        path=path,
        line=1,
        hint="say which column it is, for example --column choice=Answer.radio, or name another --mapping",
    )


def gather_options(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Turn columns of single options, such as ``choice_1.left``, into one that names the option that was ticked.

    Where several options of a question are ticked the cell names them all, which is no choice.
    """
    pattern = re.compile(rf"({re.escape(column)}(?:_\d+)?)\.(.+)")
    options: dict[str, list[tuple[str, str]]] = {}
    for name in frame.columns:
        found = pattern.fullmatch(name)
        if found is not None and found[1] not in frame.columns:
            options.setdefault(found[1], []).append((found[2], name))
    return frame.with_columns(_ticked(parts).alias(name) for name, parts in options.items())


def _ticked(parts: Sequence[tuple[str, str]]) -> pl.Expr:
    label = next((column for option, column in parts if option == _LABEL), None)
    if label is not None:
        return pl.col(label)
    cells = [
        pl.when(pl.col(column).cast(pl.String).str.to_lowercase().is_in(_TRUE)).then(pl.lit(option))
        for option, column in parts
    ]
    return pl.concat_str(cells, separator=" and ", ignore_nulls=True)
