"""Backups: a campaign in one file, and back from it.

A backup is a zip file with every table as JSON lines, the folder's settings and inputs, and a list of what it should
hold: the number of rows of each table and a hash of the log. A copy that does not have the same numbers and hash is
refused. Sounds and pictures are not part of it; they are where they were, and are listed with their hashes.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import sqlalchemy as sa

from earmark._version import __version__
from earmark.data.files import replacing, require_file
from earmark.errors import InputError, StoreError
from earmark.store.address import keep_password, store_url, with_store
from earmark.store.database import Database, database_to_fill
from earmark.store.drafts import drafted, move_draft, refuse_taken
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import FOLDER as INPUTS
from earmark.store.migrate import current_version, migrate
from earmark.store.migrate import run as run_migration
from earmark.store.schema import VERSION
from earmark.store.settings import NAME, Settings
from earmark.store.store import Store, from_moment, utc_now
from earmark.store.table_rows import Copied, count_copied, insert_rows, rows_of, tables_of

FORMAT = 1
CONTENTS = "contents.json"
_PACKED = zipfile.ZIP_DEFLATED
# What reading a zip file raises that is damaged, encrypted or packed in a way that Python does not know.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def dump_database(database: Database, path: Path, files: Mapping[str, Path] | None = None) -> Path:
    """Write all campaigns of a database to a zip file, whatever the version of its tables."""
    database.read(lambda connection: _write_zip(connection, path, current_version(database), None, files or {}))
    return path


def folder_files(folder: Path) -> dict[str, Path]:
    """Return the files of a campaign's folder that belong into a backup."""
    files = {NAME: folder / NAME}
    inputs, manifest = folder / INPUTS, folder / "media" / "manifest.json"
    if inputs.is_dir():
        files |= {f"{INPUTS}/{file.name}": file for file in sorted(inputs.iterdir()) if file.is_file()}
    if manifest.is_file():
        files["media/manifest.json"] = manifest
    return files


def backup(folder: CampaignFolder, path: Path) -> Copied:
    """Write a campaign to one file: its log, settings and inputs, as they are at one moment.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    files = folder_files(folder.path)
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
    # A backup holds the names of assessors.
    with replacing(path, private=True) as temporary, zipfile.ZipFile(temporary, "w", _PACKED) as archive:
        for name, file in files.items():
            archive.write(file, f"folder/{name}")
        for table in tables_of(connection):
            count = 0
            with archive.open(f"tables/{table.name}.jsonl", "w") as lines:
                for row in rows_of(connection, table, campaign):
                    lines.write(json.dumps(row, ensure_ascii=True).encode() + b"\n")
                    count += 1
            rows[table.name] = count
        archive.writestr(CONTENTS, json.dumps(contents | {"rows": rows}, indent=1))


def restore(path: Path, target: Path, *, store: str | None = None) -> Copied:
    """Make a campaign's folder from a backup, all of it or nothing.

    Parameters
    ----------
    path : path
        What :func:`backup` wrote.
    target : path
        The folder, which must not exist or be empty.
    store : str, optional
        The address of the database; by default a SQLite file in the folder.

    Raises
    ------
    InputError
        If the file is no backup or is damaged.
    """
    refuse_taken(target)
    with _opened(path) as archive:
        contents = _contents(archive, path)
        with drafted(target) as draft:
            _unpack(archive, draft, path)
            settings = Settings.read(draft / NAME)
            settings = with_store(settings, store)
            keep_password(draft, store)
            settings.write(draft / NAME)
            with database_to_fill(store_url(draft, settings)) as database:
                copied = _load(database, archive, contents, settings.id, path)
            move_draft(draft, target)
    return copied


def _load(database: Database, archive: zipfile.ZipFile, contents: Mapping[str, Any], uid: str, path: Path) -> Copied:
    """Fill a database from a backup, bring it to the version of this program, and compare."""
    found = current_version(database)
    if found is None:
        # Tables as they were when the backup was made, so that its rows fit.
        run_migration(database, "upgrade", str(contents["version"]))
    elif found != contents["version"]:
        if str(contents["version"]) > found:
            raise StoreError(f"{path}: the backup has version {contents['version']}, the database {found}")
        raise StoreError(
            f"{path}: the backup is of version {contents['version']}, and the database is at {found}: restore it "
            "to a new SQLite file first, then move it"
        )

    def read(name: str) -> Iterator[dict[str, Any]]:
        with archive.open(f"tables/{name}.jsonl") as lines:
            for line in lines:
                yield json.loads(line)

    def insert(connection: sa.Connection) -> None:
        taken = f"{database.shown}: the campaign is in this database already"
        numbers = insert_rows(connection, tables_of(connection), read, taken)
        copies = {number: count_copied(connection, number) for number in numbers.values()}
        events = sum(copy.events for copy in copies.values())
        rows = {name: sum(copy.rows[name] for copy in copies.values()) for name in contents["rows"]}
        digest = next(iter(copies.values())).digest if len(copies) == 1 else None
        told = (contents["rows"], contents.get("digest", digest), contents.get("events", events))
        if told != (rows, digest, events):
            raise InputError(expected="a backup as it was written", got="other rows or another log", path=path)

    database.write(insert)
    migrate(database)
    campaign = Store.find(database, uid).campaign
    return database.read(lambda connection: count_copied(connection, campaign))


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(require_file(path))
    except (*_DAMAGED, ValueError) as error:
        raise _no_backup(path, error) from None


def _no_backup(path: Path, error: Exception) -> InputError:
    """Return the error for a file that is no backup, or no whole one."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(expected="a backup that earmark wrote", got=f"another file ({why})", path=path)


def _contents(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    try:
        bad = archive.testzip()
        contents = json.loads(archive.read(CONTENTS))
    except (*_DAMAGED, KeyError, ValueError) as error:
        raise _no_backup(path, error) from None
    if bad is not None:
        raise InputError(expected="a backup as it was written", got=f"a damaged '{bad}'", path=path)
    found = contents.get("format") if isinstance(contents, dict) else None
    if found != FORMAT:
        got = f"format {found}"
        raise InputError(expected=f"a backup of format {FORMAT}", got=got, path=path, hint="install a newer earmark")
    if f"folder/{NAME}" not in archive.namelist():
        raise InputError(expected=f"a backup with {NAME}", got="none", path=path)
    missing = [one for one in ("version", "rows") if one not in contents]
    if missing:
        raise InputError(expected="a backup as it was written", got=f"no {missing[0]} in {CONTENTS}", path=path)
    return dict(contents)


def _unpack(archive: zipfile.ZipFile, draft: Path, path: Path) -> None:
    for name in archive.namelist():
        parts = PurePosixPath(name).parts
        if parts[:1] != ("folder",):
            continue
        inside = PurePosixPath(*parts[1:])
        if inside.is_absolute() or ".." in inside.parts or len(inside.parts) > 2:
            raise InputError(expected="a backup that earmark wrote", got=f"a file '{name}' in it", path=path)
        target = draft / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(archive.read(name))
