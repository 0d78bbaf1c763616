"""Every test of the store runs on SQLite and on a real PostgreSQL server, which the test run starts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from clocks import Clock

from earmark.store.database import Database
from earmark.store.migrate import migrate
from earmark.store.store import Store

_numbers = count()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaign.db"
    return str(request.getfixturevalue("new_postgresql_database")())


@pytest.fixture
def database(empty_url: str) -> Iterator[Database]:
    """Return a database with all tables."""
    made = Database(empty_url)
    migrate(made)
    yield made
    made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(database: Database, clock: Clock) -> Store:
    """Return the store of a new campaign, whose time is that of ``clock``."""
    return Store.create(database, uid="0" * 32, name="study", settings="{}", clock=clock)


def rows(store: Store, table: sa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table that belong to a campaign."""
    mine = sa.select(table).where(table.c.campaign == store.campaign)
    return [dict(row) for row in store.read(lambda connection: connection.execute(mine).mappings().fetchall())]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Return a database for all tests of a module, as making one takes longer than most tests."""
    if request.param == "sqlite":
        made = Database(f"sqlite:///{tmp_path_factory.mktemp('sqlite')}/campaign.db")
    else:
        made = Database(request.getfixturevalue("new_postgresql_database")())
    migrate(made)
    yield made
    made.close()


@pytest.fixture
def shared_store(shared_database: Database, clock: Clock) -> Store:
    """Return the store of a new campaign in a database that holds others."""
    return Store.create(shared_database, uid=f"{next(_numbers):032d}", name="study", settings="{}", clock=clock)
