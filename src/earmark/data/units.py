"""Which queries belong together: the versions of one work, the questions of one user, the paraphrases of one question.

Systems tend to succeed or fail on such queries together, so they tell less than as many independent ones. What is
independent of each other is a *unit*: a work, a user, a session. Where nothing else is said, every query is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.arrays import Ints
from earmark.data.files import first_data_line, require_file
from earmark.data.ground_truth import Cliques
from earmark.data.metadata import Metadata
from earmark.data.named_columns import find_column
from earmark.data.readers import read_metadata
from earmark.data.table_files import is_parquet, read_named
from earmark.data.teams import assignment, read_assignment
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

EACH_QUERY = "query"
"""The unit where every query is one of its own."""


@dataclass(frozen=True)
class QueryUnits:
    """The unit that every query belongs to.

    Parameters
    ----------
    name : str
        What a unit is: ``work``, ``user``.
    of : mapping of str to str
        The unit of every query.
    """

    name: str
    of: Mapping[str, str]

    def numbers(self, queries: Iterable[str]) -> Ints:
        """Return the number of every query's unit, from 0 in the order of appearance, shape (queries,).

        Raises
        ------
        ParameterError
            If a query belongs to no unit.
        """
        names = list(queries)
        alone = next((query for query in names if query not in self.of), None)
        if alone is not None:
            raise ParameterError(f"query '{alone}' belongs to no {self.name}: name one for every query")
        number: dict[str, int] = {}
        return np.array([number.setdefault(self.of[query], len(number)) for query in names], dtype=np.int64)


def counted_units(number: int, unit: str) -> str:
    """Say how many units there are: ``80 works``, ``4 queries``."""
    return counted(number, unit, "queries" if unit == EACH_QUERY else None)


def work_units(cliques: Cliques) -> QueryUnits:
    """Return the work of every document of cliques: versions of one work are not independent of each other."""
    return QueryUnits("work", dict(cliques.frame.select("document", "group").iter_rows()))


def column_units(metadata: Metadata, column: str) -> QueryUnits:
    """Take the unit of a query from the metadata of the document that it is."""
    return QueryUnits(column, metadata.attribute(column))


def read_units(path: Path, *, encoding: str = "utf-8") -> QueryUnits:
    """Read the unit of every query: two columns, with or without a header.

    Parameters
    ----------
    path : path
        The file: query and unit. With a header such as ``query,user`` units are called by the name of their column.
    encoding : str
        The text encoding of the file.

    Raises
    ------
    InputError
        If a query has two units, or columns have other names.
    """
    file = require_file(path)
    if not is_parquet(file):
        _, line = first_data_line(file, encoding=encoding, comments=True)
        header = [cell.strip().strip('"') for cell in line.replace(";", ",").replace("\t", ",").split(",")]
        if find_column(header, "query") is None:
            return QueryUnits("unit", read_assignment(file, "query", "unit", encoding=encoding))
    table = read_named(file, encoding=encoding)
    query = find_column(table.frame.columns, "query")
    others = [name for name in table.frame.columns if name != query]
    if query is None or len(others) != 1:
        got = f"columns {', '.join(table.frame.columns)}"
        raise InputError(expected="two columns, the query and its unit", got=got, path=file)
    rows = table.frame.select(pl.col(query, others[0]).cast(pl.String)).iter_rows()
    return QueryUnits(others[0], assignment(rows, table, EACH_QUERY, others[0]))


def units_named(unit: str, *, metadata: Path | None = None, encoding: str = "utf-8") -> QueryUnits | None:
    """Return what ``--unit`` names: a file, a column of the metadata, or ``query``, where every query is a unit.

    Raises
    ------
    ParameterError
        If it is none of these.
    """
    if unit == EACH_QUERY:
        return None
    if Path(unit).is_file():
        return read_units(Path(unit), encoding=encoding)
    if metadata is None:
        raise ParameterError(
            f"--unit '{unit}' is no file, and no --metadata is there to have such a column: name a file with the "
            "columns query and unit, or the metadata"
        )
    return column_units(read_metadata(metadata, encoding=encoding), unit)
