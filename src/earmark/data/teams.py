"""Teams: who sent which system."""

from __future__ import annotations

from pathlib import Path

from earmark.data.tables import Layout, Table, read_layout, read_named, require_file
from earmark.data.text_files import first_data_line
from earmark.errors import InputError


def read_teams(path: Path, *, encoding: str = "utf-8") -> dict[str, str]:
    """Read who sent which system: two columns ``system team``, with or without a header that names them."""
    file = require_file(path)
    number, line = first_data_line(file, encoding=encoding, comments=True)
    separator = next((mark for mark in "\t,;" if mark in line), " ")
    header = [cell.strip().strip('"').lower() for cell in line.split(separator)]
    if {"system", "team"} <= set(header):
        named = read_named(file, encoding=encoding)
        frame = named.frame.rename({name: name.strip().lower() for name in named.frame.columns})
        table = Table(frame, named.path, named.line_of)
    elif separator in ",;":
        raise InputError(expected="a header with the columns system, team", got=repr(line[:60]), path=path, line=number)
    else:
        layout = Layout({"system": False, "team": False}, separator=separator, comments=True)
        table = read_layout(file, layout, encoding=encoding)
    teams: dict[str, str] = {}
    for row, (system, team) in enumerate(table.frame.select("system", "team").iter_rows()):
        if not system or not team:
            raise table.error(row, expected="a system and its team", got="an empty cell")
        if teams.setdefault(system, team) != team:
            got = f"'{system}' of '{team}' after '{teams[system]}'"
            raise table.error(row, expected="one team for every system", got=got)
    return teams
