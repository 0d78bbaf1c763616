"""Media by map: a table that says which file belongs to which query or document.

==========  ==============================================================================================
column      holds
==========  ==============================================================================================
``id``      the query or document; several rows of one id are shown together, in their order
``file``    a path, relative to the map or absolute, or the address of a link (http or https)
``text``    instead of a file: the text itself
``role``    ``query`` or ``document``, where the two differ for one id; empty for both
``kind``    ``audio``, ``image``, ``score``, ``text`` or ``link``, where the ending does not tell
``start``   where the excerpt of this recording starts, in seconds or as m:ss
``end``     where it ends; either alone goes with the usual length
``title``   what assessors may read beside it
==========  ==============================================================================================

Only ``id`` and one of ``file`` and ``text`` must be there. Rows of ids that are neither query nor document are left out
and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from earmark.audio.excerpts import parse_time
from earmark.data.files import require_file
from earmark.data.table_files import read_named
from earmark.data.tables import Table, id_cells
from earmark.errors import ParameterError
from earmark.media.folders import Found, shortcut_address
from earmark.media.kinds import AUDIO, KINDS, LINK, TEXT, kind_of
from earmark.media.originals import DOCUMENT, QUERY, Original
from earmark.wording import listed

_COLUMNS = ("id", "file", "text", "role", "kind", "start", "end", "title")

Titles = dict[tuple[str, str], str]


def read_map(path: Path, wanted: Mapping[str, Sequence[str]], *, encoding: str = "utf-8") -> tuple[Found, Titles, int]:
    """Read a map: the originals and the titles of ids by role, and how many rows belong to nobody.

    Raises
    ------
    InputError
        Naming the first line that cannot be used.
    """
    table = read_named(require_file(path), encoding=encoding)
    lowered = {name.strip().lower(): name for name in reversed(table.frame.columns)}
    columns = {name: lowered[name] for name in _COLUMNS if name in lowered}
    if "id" not in columns or not {"file", "text"} & set(columns):
        got = listed([repr(name) for name in table.frame.columns])
        raise table.error(0, expected="the columns id and file", got=got, hint="a map names the file of every id")
    frame = table.frame.select(**{name: table.frame[given] for name, given in columns.items()})
    table = Table(frame, table.path, table.line_of)
    ids = id_cells(table, "id").to_list()
    rows = [{name: str(cell or "").strip() for name, cell in row.items()} for row in frame.iter_rows(named=True)]
    known = {role: set(names) for role, names in wanted.items()}
    by_role: dict[tuple[str, str], list[tuple[Original, str]]] = {}
    unused = 0
    for number, (name, row) in enumerate(zip(ids, rows, strict=True)):
        role = row.get("role", "").lower()
        if role not in ("", QUERY, DOCUMENT):
            raise table.error(number, expected="query, document or nothing as role", got=f"'{row['role']}'")
        original = _original(table, number, row, path.parent, encoding)
        if not any(name in names for one, names in known.items() if role in ("", one)):
            unused += 1
            continue
        by_role.setdefault((role, name), []).append((original, row.get("title", "")))
    found: Found = {}
    titles: Titles = {}
    for role, names in wanted.items():
        for name in names:
            # A row that names the role speaks for it alone; others speak for both.
            if given := by_role.get((role, name)) or by_role.get(("", name)):
                found[role, name] = tuple(original for original, _ in given)
                titles[role, name] = next((title for _, title in given if title), "")
    return found, titles, unused


def _original(table: Table, row: int, cells: Mapping[str, str], folder: Path, encoding: str) -> Original:
    file, text, kind = cells.get("file", ""), cells.get("text", ""), cells.get("kind", "").lower()
    if kind not in ("", *KINDS):
        raise table.error(row, expected=f"{listed(KINDS, 'or')} as kind", got=f"'{cells['kind']}'")
    if bool(file) == bool(text):
        raise table.error(row, expected="a file or a text", got="both" if file else "neither")
    start, end = (_time(table, row, name, cells.get(name, "")) for name in ("start", "end"))
    if text:
        if kind not in ("", TEXT):
            raise table.error(row, expected=f"a file of kind {kind}", got="a text")
        original = Original(TEXT, text=text)
    elif urlsplit(file).scheme.lower() in ("http", "https"):
        if kind not in ("", LINK):
            hint = "fetch it first and name the file, or leave out the kind for a link"
            raise table.error(row, expected=f"a file of kind {kind}", got=f"'{file}'", hint=hint)
        original = Original(LINK, url=file)
    else:
        if "\0" in file:
            raise table.error(row, expected="a path", got="one with a NUL in it")
        path = folder / file
        kind = kind or kind_of(path) or ""
        if not kind:
            hint = f"name its kind in a column kind: {listed(KINDS, 'or')}"
            raise table.error(row, expected="a file whose ending tells what it is", got=f"'{file}'", hint=hint)
        url = shortcut_address(path, encoding) if kind == LINK else None
        original = Original(kind, path, url=url, start=start, end=end)
    if (start is not None or end is not None) and original.kind != AUDIO:
        raise table.error(row, expected="start and end of recordings only", got=f"those of kind {original.kind}")
    if start is not None and end is not None and start >= end:
        raise table.error(row, expected="an end after the start", got=f"{cells['start']} to {cells['end']}")
    return original


def _time(table: Table, row: int, name: str, cell: str) -> float | None:
    try:
        return parse_time(cell) if cell else None
    except ParameterError:
        hint = "for example 75, 75.5 or 1:15"
        raise table.error(row, expected=f"seconds or m:ss as {name}", got=f"'{cell}'", hint=hint) from None
