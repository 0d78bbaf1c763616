"""Copies of a campaign: backups in one file, back from it, and from one database to another.

A backup is a zip file with every table as JSON lines, the folder's settings and inputs, and a list of what it should
hold: the number of rows of each table and a hash of the log. A copy that does not have the same numbers and hash is
refused. Sounds and pictures are not part of it; they are where they were, and are listed with their hashes.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import sqlalchemy as sa

from earmark._version import __version__
from earmark.data.files import replacing, require_file
from earmark.data.log import AnswerLog
from earmark.errors import InputError, ParameterError, StoreError
from earmark.store.address import DATABASE, keep_password, store_url, with_store
from earmark.store.database import Database, database_to_fill
from earmark.store.drafts import drafted, move_draft, refuse_taken
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import FOLDER as INPUTS
from earmark.store.migrate import current_version, migrate
from earmark.store.migrate import run as run_migration
from earmark.store.schema import (
    DERIVED,
    VERSION,
    VERSION_TABLE,
    campaigns,
    invitations,
    people,
    sessions,
    sittings,
    texts,
)
from earmark.store.settings import NAME, Settings
from earmark.store.store import Store, from_moment, read_events, utc_now

FORMAT = 1
CONTENTS = "contents.json"
_PORTION = 1000
_PACKED = zipfile.ZIP_DEFLATED
_PREFIX = "earmark_"
# What reading a zip file raises that is damaged, encrypted or packed in a way that Python does not know.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


@dataclass(frozen=True)
class Copied:
    """What a copy holds.

    Attributes
    ----------
    events : int
        How many events the log has.
    digest : str
        A hash of the log.
    rows : dict of str to int
        The number of rows of each table.
    """

    events: int
    digest: str
    rows: Mapping[str, int]


# ---- reading and writing tables --------------------------------------------------------------------------------------


def _tables(connection: sa.Connection) -> list[sa.Table]:
    """Return the tables of a store as they are there, whatever their version, in the order of their dependencies."""
    found = sa.MetaData()
    found.reflect(connection, only=lambda name, _: name.startswith(_PREFIX) and name != VERSION_TABLE)
    return list(found.sorted_tables)


def _rows(connection: sa.Connection, table: sa.Table, campaign: int | None) -> Iterator[dict[str, Any]]:
    query = sa.select(table)
    if campaign is not None:
        query = query.where((table.c.id if table.name == "earmark_campaigns" else table.c.campaign) == campaign)
    for row in connection.execute(query.order_by(*table.primary_key.columns)).mappings():
        yield dict(row)


def _insert(connection: sa.Connection, tables: list[sa.Table], read: Any, uid_taken: str) -> dict[int, int]:
    """Insert the rows of all tables; campaigns get new numbers, which are returned by their old ones."""
    numbers: dict[int, int] = {}
    for table in tables:
        rows = read(table.name)
        if table.name == "earmark_campaigns":
            for row in rows:
                old = row.pop("id")
                if connection.execute(sa.select(table.c.id).where(table.c.uid == row["uid"])).first() is not None:
                    raise StoreError(uid_taken)
                made = connection.execute(sa.insert(table).values(row)).inserted_primary_key
                assert made is not None
                numbers[old] = int(made[0])
            continue
        portion: list[dict[str, Any]] = []
        for row in rows:
            portion.append({**row, "campaign": numbers[row["campaign"]]})
            if len(portion) == _PORTION:
                connection.execute(sa.insert(table), portion)
                portion = []
        if portion:
            connection.execute(sa.insert(table), portion)
    return numbers


def _copied(connection: sa.Connection, campaign: int) -> Copied:
    """Count and hash what a database holds of a campaign."""
    log = AnswerLog().with_table(read_events(connection, campaign))
    rows = {}
    for table in _tables(connection):
        column = table.c.id if table.name == "earmark_campaigns" else table.c.campaign
        count = connection.execute(sa.select(sa.func.count()).select_from(table).where(column == campaign)).scalar()
        rows[table.name] = int(count or 0)
    return Copied(len(log), log.digest, rows)


def log_of(database: Database, campaign: int) -> dict[str, Any]:
    """Read the log of a campaign from a database, and return its number of events, of answers, and its hash."""
    log = AnswerLog().with_table(database.read(lambda connection: read_events(connection, campaign)))
    return {"events": len(log), "answers": log.of_kind("answered").height, "digest": log.digest}


# ---- backups ---------------------------------------------------------------------------------------------------------


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
        copied = _copied(connection, store.campaign)
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
        for table in _tables(connection):
            count = 0
            with archive.open(f"tables/{table.name}.jsonl", "w") as lines:
                for row in _rows(connection, table, campaign):
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
        numbers = _insert(connection, _tables(connection), read, taken)
        copies = {number: _copied(connection, number) for number in numbers.values()}
        events = sum(copy.events for copy in copies.values())
        rows = {name: sum(copy.rows[name] for copy in copies.values()) for name in contents["rows"]}
        digest = next(iter(copies.values())).digest if len(copies) == 1 else None
        told = (contents["rows"], contents.get("digest", digest), contents.get("events", events))
        if told != (rows, digest, events):
            raise InputError(expected="a backup as it was written", got="other rows or another log", path=path)

    database.write(insert)
    migrate(database)
    campaign = Store.find(database, uid).campaign
    return database.read(lambda connection: _copied(connection, campaign))


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


# ---- from one database to another ------------------------------------------------------------------------------------


def move(folder: CampaignFolder, store: str | None) -> Copied:
    """Copy a campaign to another database, prove that the copy is the same, and go on there.

    Nobody can answer while it is copied, and nobody can answer in the old database afterwards, which keeps a
    copy of the log alone.

    Parameters
    ----------
    folder : CampaignFolder
        Is closed afterwards.
    store : str or None
        The address of the other database; None for the SQLite file in the folder.

    Returns
    -------
    Copied
        The number of rows and the hash of the log, equal in both databases.
    """
    source, settings = folder.store, with_store(folder.settings, store)
    with database_to_fill(store or sa.URL.create("sqlite", database=str(folder.path / DATABASE))) as target:
        if _place(target) == _place(source.database):
            raise ParameterError(f"the campaign is in {target.shown} already")
        migrate(target)
        if source.row["state"] == "moved" and source.row["reason"] == target.shown:
            # It was moved before, and the settings could not be written any more.
            campaign = Store.find(target, folder.settings.id).campaign
            copied = target.read(lambda connection: _copied(connection, campaign))
        else:
            copied = source.database.write(lambda connection: _move(connection, source.campaign, target))
    # The campaign is there now, so the settings have to say so before anything else.
    keep_password(folder.path, store)
    settings.write(folder.path / NAME)
    folder.close()
    return copied


def _place(database: Database) -> sa.URL:
    """Return where a database is, whoever asks for it."""
    url = database.url._replace(username=None, password=None)
    return url if database.path is None else url.set(database=str(database.path.resolve()))


def _move(source: sa.Connection, campaign: int, target: Database) -> Copied:
    """Copy a campaign while nobody can change it, compare, and mark the original."""
    if source.dialect.name == "postgresql":
        # While the other database works, this one waits.
        source.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    mine = campaigns.c.id == campaign
    row = source.execute(sa.select(campaigns).where(mine).with_for_update()).one()
    if row.state == "moved":
        raise StoreError(f"the campaign has moved to {row.reason} already")
    before = _copied(source, campaign)
    after = target.write(lambda connection: _copy(source, connection, row, target.shown))
    if before != after:
        raise StoreError(f"{target.shown}: the copy differs from the original; the campaign stays where it was")
    source.execute(sa.update(campaigns).where(mine).values(state="moved", reason=target.shown))
    _leave_log_alone(source, campaign)
    return after


def _copy(source: sa.Connection, target: sa.Connection, row: Any, shown: str) -> Copied:
    """Copy a campaign; an older copy of it, from an earlier move, is set aside and kept."""
    older = target.execute(sa.select(campaigns).where(campaigns.c.uid == row.uid)).first()
    if older is not None:
        if older.next_sequence > row.next_sequence:
            raise StoreError(f"{shown}: the campaign is there already, and with more events")
        aside = f"{row.uid[:32]}-{older.next_sequence}-{older.id}"
        target.execute(sa.update(campaigns).where(campaigns.c.id == older.id).values(uid=aside, state="moved"))
        _leave_log_alone(target, older.id)
    tables = {table.name: table for table in _tables(source)}
    numbers = _insert(target, _tables(target), lambda name: _rows(source, tables[name], row.id), shown)
    return _copied(target, numbers[row.id])


def _leave_log_alone(connection: sa.Connection, campaign: int) -> None:
    """Delete everything of a copy that nobody uses any more but its log; identities must not stay behind."""
    for table in (*DERIVED, people, invitations, sessions, sittings, texts):
        connection.execute(sa.delete(table).where(table.c.campaign == campaign))
