"""Where the store of a campaign is: a SQLite file in its folder, or the address of a database.

A password in an address is kept in a file of its own, apart from the settings, which people show to others.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from earmark.store.database import Database, parse_url
from earmark.store.settings import Settings

DATABASE = "campaign.db"
PASSWORD = ".store-password"


def store_url(folder: Path, settings: Settings) -> sa.URL:
    """Return the address of a campaign's store, with its password where one is kept beside it."""
    if settings.store.url is None:
        # Not as text, in which some characters of a path would mean something else.
        return sa.URL.create("sqlite", database=str(folder / DATABASE))
    url = parse_url(settings.store.url)
    secret = folder / PASSWORD
    if url.get_backend_name() == "postgresql" and url.password is None and secret.is_file():
        url = url.set(password=secret.read_text(encoding="utf-8").strip())
    return url


def store_is_elsewhere(folder: Path, database: Database) -> bool:
    """Tell whether the file of a store is not in the campaign's folder."""
    return database.path is not None and database.path.resolve().parent != folder.resolve()


def with_store(settings: Settings, store: str | None) -> Settings:
    """Return settings with another store, None for the SQLite file in the folder; without a password."""
    if store is None:
        return settings.changed(**{"store.url": None})
    url = parse_url(store)._replace(password=None)
    plain = url if url.get_backend_name() == "sqlite" else url.set(drivername="postgresql")
    return settings.changed(**{"store.url": plain.render_as_string()})


def keep_password(folder: Path, store: str | None) -> None:
    """Keep the password of an address in a file that nobody else can read; where it has none, there is no file."""
    secret = folder / PASSWORD
    secret.unlink(missing_ok=True)
    password = parse_url(store).password if store is not None else None
    if password:
        secret.touch(mode=0o600)
        secret.write_text(str(password), encoding="utf-8")
