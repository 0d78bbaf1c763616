"""Backups: a campaign in one file, and back from it.

A backup is a zip file with every table as JSON lines, the folder's settings and inputs, and a list of what it should
hold: the version of the tables, the size and the hash of each file, the number of rows of each table and a hash of the
log. A backup that is not as it lists, and a copy that does not have the same numbers and hash, are refused. Sounds and
pictures are not part of it; they are where they were, and are listed with their hashes. Nor are inputs outside of the
folder, which ``campaign.toml`` names with theirs.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path, PurePosixPath
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy import exc

from earmark._version import __version__
from earmark.data.files import replacing, require_file
from earmark.errors import InputError, ParameterError, StoreError
from earmark.store.address import keep_password, store_url, with_store
from earmark.store.database import Database, database_to_fill
from earmark.store.drafts import drafted, move_draft, refuse_taken
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import FOLDER as INPUTS
from earmark.store.inputs import find_file, is_inside
from earmark.store.migrate import current_version, known_versions, migrate
from earmark.store.migrate import run as run_migration
from earmark.store.schema import VERSION
from earmark.store.setting_types import InputFile
from earmark.store.settings import NAME, Settings
from earmark.store.store import Store, check_text, from_moment, utc_now
from earmark.store.table_rows import Copied, count_copied, insert_rows, rows_of, tables_of

FORMAT = 1
CONTENTS = "contents.json"
_FOLDER = "folder"
_PACKED = zipfile.ZIP_DEFLATED
_PIECE = 1 << 20
_LONGEST_LIST = 16 << 20
# Integers of databases have 64 bits.
_BEYOND = 1 << 63
# The files of backups that list none.
_OLDER = re.compile(rf"{_FOLDER}/({re.escape(INPUTS)}/[^/]+|media/manifest\.json)")
# What reading a zip file raises that is damaged, encrypted or packed in a way that Python does not know.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def dump_database(database: Database, path: Path, files: Mapping[str, Path] | None = None) -> Path:
    """Write all campaigns of a database to a zip file, whatever the version of its tables."""
    database.read(lambda connection: _write_zip(connection, path, current_version(database), None, files or {}))
    return path


def folder_files(folder: Path, settings: Settings | None = None) -> dict[str, Path]:
    """Return the files of a campaign's folder that belong into a backup, with those inputs that lie elsewhere in it."""
    files = {NAME: folder / NAME}
    inputs, manifest = folder / INPUTS, folder / "media" / "manifest.json"
    if inputs.is_dir():
        files |= {f"{INPUTS}/{file.name}": file for file in sorted(inputs.iterdir()) if file.is_file()}
    if manifest.is_file():
        files["media/manifest.json"] = manifest
    for _, file in () if settings is None else settings.inputs.files():
        path = find_file(folder, file)
        if is_inside(file) and path.is_file():
            files.setdefault(str(PurePosixPath(file.file)), path)
    return files


def inputs_elsewhere(settings: Settings) -> list[InputFile]:
    """Return the inputs that are outside of a campaign's folder, and therefore not in its backups."""
    return [file for _, file in settings.inputs.files() if not is_inside(file)]


def backup(folder: CampaignFolder, path: Path) -> Copied:
    """Write a campaign to one file: its log, settings and inputs, as they are at one moment.

    Inputs outside of the folder (:func:`inputs_elsewhere`) are named with their hashes, and stay where they are.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    files = folder_files(folder.path, folder.settings)
    store = folder.store

    def write(connection: sa.Connection) -> Copied:
        copied = count_copied(connection, store.campaign)
        _write_zip(connection, path, VERSION, store.campaign, files, copied)
        return copied

    return store.read(write)


def _write_zip(
    connection: sa.Connection,
    path: Path,
    version: str | None,
    campaign: int | None,
    files: Mapping[str, Path],
    copied: Copied | None = None,
) -> None:
    contents: dict[str, Any] = {"format": FORMAT, "version": version, "earmark": __version__}
    contents["created"] = from_moment(utc_now()).isoformat()
    if copied is not None:
        contents |= {"events": copied.events, "digest": copied.digest}
    rows: dict[str, int] = {}
    listed: dict[str, dict[str, Any]] = {}

    def lines_of(table: sa.Table) -> Iterator[bytes]:
        rows[table.name] = 0
        for row in rows_of(connection, table, campaign):
            rows[table.name] += 1
            yield json.dumps(row, ensure_ascii=True).encode() + b"\n"

    # A backup holds the names of assessors.
    with replacing(path, private=True) as temporary, zipfile.ZipFile(temporary, "w", _PACKED) as archive:
        for name, file in files.items():
            with file.open("rb") as source:
                listed[f"{_FOLDER}/{name}"] = _pack(archive, f"{_FOLDER}/{name}", _pieces(source))
        for table in tables_of(connection):
            listed[_table_file(table.name)] = _pack(archive, _table_file(table.name), lines_of(table))
        archive.writestr(CONTENTS, json.dumps(contents | {"rows": rows, "files": listed}, indent=1))


def _table_file(table: str) -> str:
    return f"tables/{table}.jsonl"


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_PIECE), b"")


def _pack(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    """Write a file into a backup, and return its size and hash."""
    size, digest = 0, hashlib.sha256()
    with archive.open(name, "w", force_zip64=True) as packed:
        for piece in pieces:
            packed.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"size": size, "sha256": digest.hexdigest()}


# ---- back from it ----------------------------------------------------------------------------------------------------


def restore(path: Path, target: Path, *, store: str | None = None) -> Copied:
    """Make a campaign's folder from a backup, all of it or nothing.

    Parameters
    ----------
    path : path
        What :func:`backup` wrote, also with an earlier version, which listed no sizes and hashes of files.
    target : path
        The folder, which must not exist or be empty.
    store : str, optional
        The address of the database; by default a SQLite file in the folder.

    Raises
    ------
    InputError
        If the file is no backup, is of a newer version, is damaged, or holds something else than it lists.
    """
    refuse_taken(target)
    with _opened(path) as archive:
        contents = _contents(archive, path)
        _check_files(archive, contents, path)
        with drafted(target) as draft:
            settings = with_store(_unpacked(archive, draft, path), store)
            keep_password(draft, store)
            settings.write(draft / NAME)
            with database_to_fill(store_url(draft, settings)) as database:
                copied = _load(database, archive, contents, settings.id, path)
            move_draft(draft, target)
    return copied


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(require_file(path))
    except (*_DAMAGED, ValueError) as error:
        raise _no_backup(path, error) from None


def _no_backup(path: Path, error: Exception) -> InputError:
    """Return the error for a file that is no backup, or no whole one."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(expected="a backup that earmark wrote", got=f"another file ({why})", path=path)


def _not_as_written(path: Path, got: str) -> InputError:
    return InputError(expected="a backup as it was written", got=got, path=path)


# ---- what a backup holds ---------------------------------------------------------------------------------------------


def _contents(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Read the list of what a backup holds, and refuse one of a version that this program does not know."""
    try:
        if archive.getinfo(CONTENTS).file_size > _LONGEST_LIST:
            raise _not_as_written(path, f"a {CONTENTS} of more than {_LONGEST_LIST:,} bytes")
        contents = json.loads(archive.read(CONTENTS))
    except (*_DAMAGED, KeyError, ValueError) as error:
        raise _no_backup(path, error) from None
    form = contents.get("format") if isinstance(contents, dict) else None
    if form != FORMAT:
        got = f"format {form}"
        raise InputError(expected=f"a backup of format {FORMAT}", got=got, path=path, hint="install a newer earmark")
    missing = [name for name in ("version", "rows") if name not in contents]
    if missing:
        raise _not_as_written(path, f"no {missing[0]} in {CONTENTS}")
    version = contents["version"]
    if not isinstance(version, str) or version not in known_versions():
        newer = isinstance(version, str) and version > VERSION
        raise InputError(
            expected=f"a backup of version {VERSION} or an older one",
            got=f"version {version}",
            path=path,
            hint=f"earmark {contents.get('earmark')} wrote it: install that or a newer one" if newer else None,
        )
    rows, files = contents["rows"], contents.get("files")
    whole = isinstance(rows, dict) and all(isinstance(count, int) for count in rows.values())
    if files is not None:
        whole &= isinstance(files, dict) and all(isinstance(about, dict) for about in files.values())
    if not whole:
        raise _not_as_written(path, f"a {CONTENTS} of another form")
    return dict(contents)


def _check_files(archive: zipfile.ZipFile, contents: Mapping[str, Any], path: Path) -> None:
    """Refuse a backup in which a file is missing, damaged, larger than listed or not listed, before any is unpacked.

    Backups of earlier versions list no files. They hold settings, inputs, the list of media, and tables.
    """
    there = [info.filename for info in archive.infolist()]
    listed: dict[str, dict[str, Any]] | None = contents.get("files")
    twice = next((name for name in there if there.count(name) > 1), None) if len(set(there)) < len(there) else None
    if twice is not None:
        raise _not_as_written(path, f"two files '{twice}'")
    tables = {_table_file(table) for table in contents["rows"]}
    known = tables | {f"{_FOLDER}/{NAME}", CONTENTS} | set(listed or ())
    for name in there:
        if name not in known and (listed is not None or not _OLDER.fullmatch(name)):
            raise _not_as_written(path, f"a file '{name}' that it does not list")
        if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
            raise _not_as_written(path, f"a file '{name}'")
    missing = sorted(known.difference(there))
    if missing:
        raise _not_as_written(path, f"no '{missing[0]}'")
    try:
        if listed is None:
            bad = archive.testzip()
        else:
            bad = next((name for name, about in listed.items() if not _is_as_listed(archive, name, about)), None)
    except _DAMAGED as error:
        raise _not_as_written(path, str(error)) from None
    if bad is not None:
        raise _not_as_written(path, f"a damaged '{bad}'")


def _is_as_listed(archive: zipfile.ZipFile, name: str, about: Mapping[str, Any]) -> bool:
    """Tell whether a file has the size and the hash that are listed; one of another size is not read."""
    if archive.getinfo(name).file_size != about.get("size"):
        return False
    with archive.open(name) as packed:
        digest = hashlib.sha256()
        for piece in _pieces(packed):
            digest.update(piece)
    return digest.hexdigest() == about.get("sha256")


# ---- unpacking it ----------------------------------------------------------------------------------------------------


def _unpacked(archive: zipfile.ZipFile, draft: Path, path: Path) -> Settings:
    """Unpack the files of the folder, and return the settings."""
    for name in archive.namelist():
        parts = PurePosixPath(name).parts
        if parts[0] == _FOLDER:
            target = draft.joinpath(*parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file)
    try:
        return Settings.read(draft / NAME)
    except InputError as error:
        line = "" if error.line is None else f", line {error.line}"
        raise InputError(
            expected=error.expected, got=f"{error.got} ({NAME}{line})", path=path, hint=error.hint
        ) from None


def _load(database: Database, archive: zipfile.ZipFile, contents: Mapping[str, Any], uid: str, path: Path) -> Copied:
    """Fill a database from a backup, bring it to the version of this program, and compare."""
    version, shown = current_version(database), database.shown
    if version is None:
        # Tables as they were when the backup was made, so that its rows fit.
        run_migration(database, "upgrade", str(contents["version"]))
    elif version != contents["version"]:
        if str(contents["version"]) > version:
            raise StoreError(f"{path}: the backup has version {contents['version']}, the database {version}")
        raise StoreError(
            f"{path}: the backup is of version {contents['version']}, and the database is at {version}: restore it "
            "to a new SQLite file first, then move it"
        )

    def insert(connection: sa.Connection) -> None:
        tables = {table.name: table for table in tables_of(connection)}
        if set(tables) != set(contents["rows"]):
            odd = sorted(set(tables).symmetric_difference(contents["rows"]))
            raise _not_as_written(path, f"other tables than version {contents['version']} has: {odd[0]}")

        taken = f"{shown}: the campaign is in this database already"
        try:
            with ExitStack() as reading:

                def read(name: str) -> Iterator[dict[str, Any]]:
                    return reading.enter_context(closing(_table_rows(archive, tables[name], path)))

                numbers = insert_rows(connection, list(tables.values()), read, taken)
            copies = {number: count_copied(connection, number) for number in numbers.values()}
        except (KeyError, exc.IntegrityError, exc.DataError):
            raise _not_as_written(path, "rows that do not go together") from None
        except InputError as error:
            raise error if error.path else _not_as_written(path, str(error)) from None
        events = sum(copy.events for copy in copies.values())
        rows = {name: sum(copy.rows[name] for copy in copies.values()) for name in contents["rows"]}
        digest = next(iter(copies.values())).digest if len(copies) == 1 else None
        told = (contents["rows"], contents.get("digest", digest), contents.get("events", events))
        if told != (rows, digest, events):
            raise _not_as_written(path, "other rows or another log")

    database.write(insert)
    migrate(database)
    campaign = Store.find(database, uid).campaign
    return database.read(lambda connection: count_copied(connection, campaign))


def _table_rows(archive: zipfile.ZipFile, table: sa.Table, path: Path) -> Generator[dict[str, Any], None, None]:
    """Read the rows of a table from a backup, each with all columns and values that they can hold."""
    columns = {column.name: column for column in table.columns}
    with archive.open(_table_file(table.name)) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or set(row) != set(columns):
                raise _not_as_written(path, f"a damaged row {number} of {table.name}")
            wrong = next((name for name, value in row.items() if not _fits(columns[name], value)), None)
            if wrong is not None:
                raise _not_as_written(path, f"a damaged {wrong} in row {number} of {table.name}")
            yield row


def _fits(column: sa.Column[Any], value: Any) -> bool:
    """Tell whether a column can hold a value."""
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, sa.Boolean):
        return value in (0, 1)
    if isinstance(column.type, sa.Integer):
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _BEYOND
    if isinstance(column.type, sa.Float):
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    try:
        check_text(value)
    except ParameterError:
        return False
    return isinstance(value, str)
