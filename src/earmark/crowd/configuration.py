"""The configuration of a benchmark of preferences, as a TOML file says it.

It names the queries, the categories with their groups, which documents are compared with each other, and where the
documents come from: a table of them, the tables that they are chosen from by the rule of Stupar2013, or nowhere yet.
The example that comes with earmark (``earmark crowd questions --write-config FILE`` writes it out) explains every
entry. An entry that is misspelt is refused, not passed over.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from earmark.crowd.benchmark import (
    ARTISTS_PER_GROUP,
    MINIMUM_USERS,
    SONGS_PER_ARTIST,
    Benchmark,
    choose_documents,
    made_up_documents,
    make_benchmark,
    shortfalls,
    widely_used,
)
from earmark.crowd.traps import EVERY
from earmark.data.examples import example_path
from earmark.data.files import BLANKS, decode, read_bytes, replacing, require_file
from earmark.data.table_files import read_named
from earmark.data.tables import Table, parse_number
from earmark.errors import InputError, ParameterError

EXAMPLE = "srbench.toml"
ASSESSORS = 6


@dataclass(frozen=True)
class GivenDocuments:
    """Documents that are listed in a table with the columns ``document``, ``group`` and perhaps ``artist``."""

    file: Path


@dataclass(frozen=True)
class ChosenDocuments:
    """Documents that are chosen by how often artists and songs are played, see :mod:`earmark.crowd.benchmark`."""

    artists: Path
    songs: Path
    tags: Path | None = None
    minimum_users: int = MINIMUM_USERS
    minimum_users_for: tuple[str, ...] = ()
    artists_per_group: int = ARTISTS_PER_GROUP
    songs_per_artist: int = SONGS_PER_ARTIST


@dataclass(frozen=True)
class MadeUpDocuments:
    """Documents that have nothing but a name yet."""

    artists_per_group: int = ARTISTS_PER_GROUP
    songs_per_artist: int = SONGS_PER_ARTIST
    shared_artists: int = 0


_ENTRIES = ("queries", "categories", "pairs", "assessors", "trap_every")
_SOURCES: dict[str, type[GivenDocuments | ChosenDocuments | MadeUpDocuments]] = {
    "documents": GivenDocuments,
    "choose": ChosenDocuments,
    "made_up": MadeUpDocuments,
}


@dataclass(frozen=True)
class BenchmarkConfig:
    """What a benchmark consists of and how it is asked about.

    Parameters
    ----------
    queries : tuple of str
        The queries.
    categories : dict of str to tuple of str
        The groups of every category.
    pairs : dict of str to tuple of two str
        Which documents are compared, by the name of the kind: the categories that the two come from.
    assessors : int
        How many people answer each question.
    trap_every : int
        How many ordinary questions come before a trap.
    source : GivenDocuments, ChosenDocuments or MadeUpDocuments
        Where documents come from.
    """

    queries: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    pairs: dict[str, tuple[str, str]]
    assessors: int = ASSESSORS
    trap_every: int = EVERY
    source: GivenDocuments | ChosenDocuments | MadeUpDocuments = field(default_factory=MadeUpDocuments)


def example_config() -> BenchmarkConfig:
    """Return the configuration of a benchmark in the manner of Stupar2013, its songs made up.

    Examples
    --------
    >>> config = example_config()
    >>> len(config.queries), {name: len(groups) for name, groups in config.categories.items()}
    (25, {'genre': 12, 'positive': 7, 'negative': 7})
    >>> print(build_benchmark(config))
    25 queries, 470 documents in 26 groups of 3 categories
    """
    return read_config(example_path(EXAMPLE))


def read_config(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> BenchmarkConfig:
    """Read the configuration of a benchmark.

    Raises
    ------
    InputError
        If the file is no TOML, or an entry is missing, unknown or of the wrong kind.
    """
    file = require_file(path)
    text = decode(read_bytes(file), encoding, file)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        got = str(error) if place is None else str(error)[: place.start()]
        line = None if place is None else int(place[1])
        raise InputError(expected="a TOML file", got=f"this: {got}", path=path, line=line) from None
    return _Entries(content, file, text).config()


@dataclass(frozen=True)
class _Entries:
    """The entries of a file, and where it says them."""

    content: Mapping[str, Any]
    file: Path
    text: str

    def config(self) -> BenchmarkConfig:
        self._refuse_unknown(self.content, [*_ENTRIES, *_SOURCES])
        for name in ("queries", "categories", "pairs"):
            if not self.content.get(name):
                raise self._error(name, f"an entry '{name}'", "none", hint="look at the example's")
        categories = {name: self._names(name, groups) for name, groups in self._table("categories").items()}
        kinds = {name: self._names(name, parts) for name, parts in self._table("pairs").items()}
        for name, parts in kinds.items():
            unknown = [part for part in parts if part not in categories]
            if unknown or len(parts) not in (1, 2):
                got = f"'{unknown[0]}'" if unknown else str(len(parts))
                raise self._error(name, f"one or two of the categories {', '.join(categories)}", got)
        return BenchmarkConfig(
            self._names("queries", self.content["queries"]),
            categories,
            {name: (parts[0], parts[-1]) for name, parts in kinds.items()},
            self._count("assessors", self.content.get("assessors", ASSESSORS)),
            self._count("trap_every", self.content.get("trap_every", EVERY)),
            self._source(categories),
        )

    def _source(self, categories: Mapping[str, Any]) -> GivenDocuments | ChosenDocuments | MadeUpDocuments:
        named = [name for name in _SOURCES if name in self.content]
        if len(named) != 1:
            expected = f"one of {', '.join(f'[{name}]' for name in _SOURCES)}, where documents come from"
            raise self._error(named[-1] if named else "", expected, " and ".join(named) or "none")
        (name,) = named
        kind, entries = _SOURCES[name], self._table(name)
        self._refuse_unknown(entries, [one.name for one in fields(kind)])
        values: dict[str, Any] = {}
        for key, value in entries.items():
            if key in ("file", "artists", "songs", "tags"):
                if not isinstance(value, str):
                    raise self._error(key, f"the name of a file as {key}", repr(value))
                values[key] = self.file.parent / value
            elif key == "minimum_users_for":
                values[key] = self._names(key, value)
                unknown = [one for one in values[key] if one not in categories]
                if unknown:
                    raise self._error(key, f"some of the categories {', '.join(categories)}", f"'{unknown[0]}'")
            else:
                values[key] = self._count(key, value, least=0)
        missing = [one for one in ("file", "artists", "songs") if one in kind.__annotations__ and one not in values]
        if missing:
            raise self._error(name, f"an entry '{missing[0]}' in [{name}]", "none")
        if values.get("minimum_users_for") and "tags" not in values:
            raise self._error("minimum_users_for", "a file of tags to count users in", "none")
        return kind(**values)

    def _table(self, name: str) -> Mapping[str, Any]:
        value = self.content[name]
        if not isinstance(value, dict):
            raise self._error(name, f"a table [{name}]", repr(value))
        return value

    def _names(self, name: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value) or not value:
            raise self._error(name, f"a list of names as {name}", repr(value)[:60])
        twice = next((one for one in value if value.count(one) > 1), None)
        if twice is not None:
            raise self._error(name, f"different names as {name}", f"'{twice}' twice")
        return tuple(value)

    def _count(self, name: str, value: Any, *, least: int = 1) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._error(name, f"a whole number, {least} or more, as {name}", repr(value))
        return value

    def _refuse_unknown(self, entries: Iterable[str], known: list[str]) -> None:
        unknown = next((name for name in entries if name not in known), None)
        if unknown is not None:
            close = get_close_matches(unknown, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else None
            raise self._error(unknown, f"entries {', '.join(known)}", f"'{unknown}'", hint=hint)

    def _error(self, name: str, expected: str, got: str, *, hint: str | None = None) -> InputError:
        """Point at the line in which an entry or a table is named, if there is one."""
        found = re.search(rf"""^\s*\[?\s*["']?{re.escape(name)}["']?\s*[\]=]""", self.text, flags=re.MULTILINE)
        line = self.text[: found.end()].count("\n") + 1 if name and found else None
        return InputError(expected=expected, got=got, path=self.file, line=line, hint=hint)


def build_benchmark(config: BenchmarkConfig, *, encoding: str = "utf-8") -> Benchmark:
    """Read or choose the documents that a configuration asks for.

    Raises
    ------
    InputError
        If a table cannot be used, naming the first line that it fails at.
    """
    source, notes = config.source, []
    categories: Mapping[str, tuple[str, ...]] = config.categories
    if isinstance(source, MadeUpDocuments):
        documents = made_up_documents(
            categories,
            artists_per_group=source.artists_per_group,
            songs_per_artist=source.songs_per_artist,
            shared_artists=source.shared_artists,
        )
    elif isinstance(source, GivenDocuments):
        documents = _read_documents(source.file, categories, encoding)
    else:
        categories, dropped = _with_enough_users(categories, source, encoding)
        groups = [group for names in categories.values() for group in names]
        documents = choose_documents(
            _read_table(source.artists, ("group", "artist"), ("plays",), encoding).frame,
            _read_table(source.songs, ("artist", "document"), ("plays",), encoding).frame,
            groups,
            artists_per_group=source.artists_per_group,
            songs_per_artist=source.songs_per_artist,
        )
        if not documents.height:
            raise InputError(
                expected="songs by the artists of the groups",
                got="none",
                path=source.songs,
                hint=f"do {source.songs.name} and {source.artists.name} use the same names of artists?",
            )
        notes = [*dropped, *shortfalls(documents, groups, artists_per_group=source.artists_per_group,
                                       songs_per_artist=source.songs_per_artist)]  # fmt: skip
    return make_benchmark(config.queries, documents, categories, notes=notes)


def _with_enough_users(
    categories: Mapping[str, tuple[str, ...]], source: ChosenDocuments, encoding: str
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Leave out the groups that too few people use as a tag, and say which."""
    if source.tags is None:
        return dict(categories), []
    tags = _read_table(source.tags, ("tag",), ("users",), encoding).frame
    kept = {
        name: widely_used(tags, groups, minimum=source.minimum_users) if name in source.minimum_users_for else groups
        for name, groups in categories.items()
    }
    empty = next((name for name, groups in kept.items() if not groups), None)
    if empty is not None:
        raise InputError(
            expected=f"tags of category {empty} with {source.minimum_users:,} users or more",
            got="none",
            path=source.tags,
        )
    dropped = [group for name, groups in categories.items() for group in groups if group not in kept[name]]
    return kept, [f"used as a tag by fewer than {source.minimum_users:,}: {', '.join(dropped)}"] if dropped else []


def _read_documents(path: Path, categories: Mapping[str, tuple[str, ...]], encoding: str) -> pl.DataFrame:
    table = _read_table(path, ("document", "group"), (), encoding, optional=("artist",))
    groups = [group for names in categories.values() for group in names]
    unknown = (~table.frame["group"].is_in(groups)).arg_true()
    if unknown.len():
        row = int(unknown[0])
        got = table.frame["group"][row]
        close = get_close_matches(got, groups, n=1)
        raise table.error(
            row,
            expected="a group of the configuration's categories",
            got=f"'{got}'",
            hint=f"did you mean '{close[0]}'?" if close else None,
        )
    return table.frame


def _read_table(
    path: Path, ids: tuple[str, ...], numbers: tuple[str, ...], encoding: str, *, optional: tuple[str, ...] = ()
) -> Table:
    """Read a table with these columns of ids and of numbers, in which no id is missing and no number below 0."""
    table = read_named(require_file(path), encoding=encoding)
    wanted = (*ids, *numbers)
    missing = [name for name in wanted if name not in table.frame.columns]
    if missing:
        got = f"{', '.join(table.frame.columns)} (no {' or '.join(missing)})"
        raise InputError(expected=f"columns {', '.join(wanted)}", got=got, path=path, line=1)
    frame = table.frame.select(*wanted, *(name for name in optional if name in table.frame.columns))
    columns = [frame[name].cast(pl.String).str.strip_chars(BLANKS).replace("", None) for name in frame.columns]
    for column in columns[: len(wanted)]:
        empty = column.is_null().arg_true()
        if empty.len():
            raise table.error(int(empty[0]), expected=f"{column.name} in every row", got="nothing")
    frame = pl.DataFrame(columns)
    for name in numbers:
        values = frame[name].cast(pl.Float64, strict=False)
        wrong = (~(values.is_finite() & (values >= 0)).fill_null(False)).arg_true()
        if wrong.len():
            row = int(wrong[0])
            parse_number(frame[name][row], name, path, table.line_of(row))
            raise table.error(row, expected=f"0 or more as {name}", got=f"'{frame[name][row]}'")
        frame = frame.with_columns(values)
    return Table(frame, table.path, table.line_of)


def write_example(path: str | os.PathLike[str]) -> None:
    """Write the example configuration to a file that is not there yet.

    Raises
    ------
    ParameterError
        If there is such a file.
    InputError
        If it cannot be written.
    """
    target = Path(path)
    if target.exists():
        raise ParameterError(f"{target}: there is such a file already; name another")
    with replacing(target) as temporary:
        temporary.write_bytes(example_path(EXAMPLE).read_bytes())
