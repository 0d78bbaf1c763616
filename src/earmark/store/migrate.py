"""Bring the tables of a store to the version of this program, one Alembic migration after the other.

Before the tables of a store that holds campaigns are changed, all of it is backed up. Only one process migrates; others
wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from earmark.errors import StoreError
from earmark.store.database import BUSY_SECONDS, Database
from earmark.store.schema import VERSION, VERSION_TABLE
from earmark.store.versions import VERSION_OF_TABLES, lock_campaigns

_HERE = Path(__file__).parent / "migrations"


def current_version(database: Database) -> str | None:
    """Return the version of a store's tables; None where there are none yet."""

    def look(connection: sa.Connection) -> str | None:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        found = connection.execute(VERSION_OF_TABLES).scalar()
        return None if found is None else str(found)

    return database.read(look)


def known_versions() -> frozenset[str]:
    """Return all versions that tables had so far."""
    from alembic.script import ScriptDirectory

    return frozenset(found.revision for found in ScriptDirectory.from_config(configuration()).walk_revisions())


def migrate(database: Database, backup: Callable[[str], Any] | None = None, *, to: str = VERSION) -> bool:
    """Bring a store to a version; returns whether anything had to be done.

    Parameters
    ----------
    database : Database
    backup : callable, optional
        Called with the old version before the tables of an existing store change.
    to : str
        The version wanted, by default that of this program.

    Raises
    ------
    StoreError
        If the store was made by a newer program, or cannot be changed.
    """
    found = current_version(database)
    if found == to:
        return False
    if found is not None and found > to:
        raise StoreError(
            f"{database.shown}: the store has version {found}, this earmark knows {to}: install a newer earmark"
        )
    if database.read_only:
        raise StoreError(f"{database.shown}: the store has version {found}: open it once with the right to write")
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        with database.exclusive("migrate") as is_mine:
            if is_mine():
                found = current_version(database)
                if found == to:
                    return False
                if found is not None and backup is not None:
                    backup(found)
                run(database, "upgrade", to)
                return True
        if time.monotonic() > deadline:
            raise StoreError(f"{database.shown}: another process has been changing the tables for a minute")
        time.sleep(0.1)


def run(database: Database, command: str, to: str) -> None:
    """Run one command of Alembic, all of it in one transaction, while nobody else writes.

    Parameters
    ----------
    database : Database
    command : {"upgrade", "downgrade"}
    to : str
        The version wanted, ``base`` for none.
    """
    from alembic import command as commands

    config = configuration()

    def change(connection: sa.Connection) -> None:
        lock_campaigns(connection)
        config.attributes["connection"] = connection
        getattr(commands, command)(config, to)

    database.write(change)


def configuration() -> Any:
    """Return the configuration of Alembic; there is no file of it."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
