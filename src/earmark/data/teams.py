"""Teams, and whatever else every thing has one of: who sent which system, which theme a query has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from earmark.data.files import first_data_line, require_file
from earmark.data.table_files import Layout, read_layout, read_named
from earmark.data.tables import Table
from earmark.errors import InputError


def read_teams(path: Path, *, encoding: str = "utf-8") -> dict[str, str]:
    """Read who sent which system: two columns ``system team``, with or without a header that names them."""
    return read_assignment(path, "system", "team", encoding=encoding)


def read_assignment(path: Path, of: str, to: str, *, encoding: str = "utf-8") -> dict[str, str]:
    """Read which thing belongs to what: two columns, with or without a header that names them.

    Parameters
    ----------
    path : path
        The file: blanks or tabs between columns, or named columns with commas or semicolons.
    of, to : str
        The names of the columns, such as ``query`` and ``theme``.
    encoding : str
        The text encoding of the file.
    """
    file = require_file(path)
    number, line = first_data_line(file, encoding=encoding, comments=True)
    separator = next((mark for mark in "\t,;" if mark in line), " ")
    header = [cell.strip().strip('"').lower() for cell in line.split(separator)]
    if {of, to} <= set(header):
        named = read_named(file, encoding=encoding)
        frame = named.frame.rename({name: name.strip().lower() for name in named.frame.columns})
        table = Table(frame, named.path, named.line_of)
    elif separator in ",;":
        raise InputError(expected=f"a header with the columns {of}, {to}", got=repr(line[:60]), path=path, line=number)
    else:
        layout = Layout({of: False, to: False}, separator=separator, comments=True)
        table = read_layout(file, layout, encoding=encoding)
    return assignment(table.frame.select(of, to).iter_rows(), table, of, to)


def assignment(rows: Iterable[tuple[str, str]], table: Table, of: str, to: str) -> dict[str, str]:
    """Return which thing belongs to what, from the rows of a table.

    Raises
    ------
    InputError
        If a cell is empty, or a thing belongs to two.
    """
    assigned: dict[str, str] = {}
    for row, (one, whose) in enumerate(rows):
        if not one or not whose:
            raise table.error(row, expected=f"a {of} and its {to}", got="an empty cell")
        if assigned.setdefault(one, whose) != whose:
            got = f"'{one}' of '{whose}' after '{assigned[one]}'"
            raise table.error(row, expected=f"one {to} for every {of}", got=got)
    return assigned
