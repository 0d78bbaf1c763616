"""A network that is cut: whoever waits hears of it within seconds, and whoever is slow is waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from benchmarks.web.network import Network

from earmark.errors import StoreError
from earmark.store import silence
from earmark.store.database import Database

ONE = sa.select(sa.literal(1))


@pytest.fixture
def network(postgresql: str) -> Iterator[Network]:
    folder = Path(str(sa.make_url(postgresql).query["host"]))
    socket = next(folder.glob(".s.PGSQL.*[0-9]"))
    made = Network(lambda: asyncio.open_unix_connection(str(socket)))
    yield made
    made.mend()
    made.close()


@pytest.fixture
def database(
    network: Network, postgresql: str, new_postgresql_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    monkeypatch.setattr(silence, "SILENT", 0.3)
    # The least that PostgreSQL's library knows.
    monkeypatch.setitem(silence.CLIENT_OPTIONS, "connect_timeout", 2)
    url = sa.make_url(new_postgresql_database())
    made = Database(f"postgresql://{url.username}@127.0.0.1:{network.port}/{url.database}", patience=0)
    yield made
    made.close()


def test_a_statement_that_takes_long_is_waited_for(database: Database) -> None:
    began = time.monotonic()
    assert database.read(lambda connection: connection.execute(sa.text("SELECT 1 FROM pg_sleep(1)")).scalar()) == 1
    assert time.monotonic() - began >= 1


def test_who_waits_behind_a_cut_hears_of_it(database: Database, network: Network) -> None:
    def cut_in_the_middle(connection: sa.Connection) -> object:
        assert connection.execute(ONE).scalar() == 1
        network.cut()
        time.sleep(0.1)
        return connection.execute(ONE).scalar()

    with pytest.raises(StoreError, match=r"cannot be reached \(connection is lost: the server does not answer\)"):
        database.read(cut_in_the_middle)
    # New connections wait no longer than old ones.
    with pytest.raises(StoreError, match="cannot be reached"):
        database.read(lambda connection: connection.execute(ONE).scalar())
    network.mend()
    assert database.read(lambda connection: connection.execute(ONE).scalar(), patience=240) == 1


def test_the_right_to_a_task_is_lost_with_the_network(database: Database, network: Network) -> None:
    with database.exclusive("compute") as is_mine:
        assert is_mine()
        network.cut()
        time.sleep(0.1)
        assert not is_mine()
        network.mend()
        assert not is_mine(), "another process may have it by now"
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        with database.exclusive("compute") as is_mine:
            if is_mine():
                return
        time.sleep(0.1)
    pytest.fail("the right was never free again")


def test_both_sides_ask_whether_the_other_is_there(database: Database) -> None:
    def look(connection: sa.Connection) -> dict[str, str]:
        raw = connection.connection.driver_connection
        assert raw is not None
        told = {option.keyword.decode(): option.val for option in raw.pgconn.info}
        return {name: value.decode() for name, value in told.items() if value is not None}

    told = database.read(look)
    assert told["keepalives_idle"] == "10"
    assert int(told["tcp_user_timeout"]) == 25_000
    assert all(statement.startswith("SET tcp_keepalives_") for statement in silence.SERVER_SETTINGS)
