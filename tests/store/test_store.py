"""The log in a database: events in order, without gaps, never changed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa

from earmark.data.log import AnswerLog
from earmark.errors import InputError, ParameterError, StoreError
from earmark.store.database import Database, database_to_fill, parse_url
from earmark.store.database_files import file_system, refuse_remote
from earmark.store.migrate import current_version, migrate
from earmark.store.schema import events
from earmark.store.store import Store, from_moment, to_moment


def test_events_come_back_as_they_were(store: Store, clock) -> None:
    clock.now += 7
    store.write(
        lambda change: change.append("answered", query="q", document="d\0é"[2:], gain=1.5, assessor="ann", key="k")
    )
    store.write(lambda change: change.append("changed", text="stop"))
    frame = store.log().frame
    assert frame["sequence"].to_list() == [1, 2]
    assert frame.row(0, named=True) == {
        **dict.fromkeys(frame.columns),
        "sequence": 1,
        "kind": "answered",
        "time": from_moment(clock.now),
        "assessor": "ann",
        "query": "q",
        "document": "é",
        "gain": 1.5,
        "sampled": False,
        "key": "k",
    }
    assert store.events(after=1)["kind"].to_list() == ["changed"]
    assert store.events(without=["changed"])["sequence"].to_list() == [1]
    assert AnswerLog().with_table(store.events()).digest == store.log().digest


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def fail(change) -> None:
        change.append("changed", text="one")
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - ours
        store.write(fail)
    assert len(store.log()) == 0
    assert store.write(lambda change: change.append("changed", text="two")) == 1


@pytest.mark.parametrize("statement", [sa.update(events).values(gain=0.0), sa.delete(events)])
def test_the_database_refuses_to_change_the_log(store: Store, statement) -> None:
    store.write(lambda change: change.append("changed", text="one"))
    with pytest.raises(Exception, match="append-only"):
        store.database.write(lambda connection: connection.execute(statement))
    assert len(store.log()) == 1


def test_a_key_is_known_once(store: Store) -> None:
    def add(change) -> set[str]:
        change.append("commented", text="hm", key="a")
        return change.known_keys(["a", "b"])

    assert store.write(add) == {"a"}
    assert store.write(lambda change: change.known_keys(["a", "b"])) == {"a"}


def test_two_campaigns_share_a_database(store: Store) -> None:
    other = Store.create(store.database, uid="1" * 32, name="other", settings="{}")
    store.write(lambda change: change.append("changed", text="one"))
    assert (store.last_sequence, other.last_sequence) == (1, 0)
    assert Store.find(store.database, "1" * 32).campaign == other.campaign
    with pytest.raises(StoreError, match="already"):
        Store.create(store.database, uid="1" * 32, name="again", settings="{}")
    with pytest.raises(StoreError, match="not in this store"):
        Store.find(store.database, "2" * 32)


def test_only_one_process_at_a_time(database: Database) -> None:
    again = Database(database.url.render_as_string(hide_password=False))
    with database.exclusive("task") as mine, again.exclusive("task") as theirs, again.exclusive("other") as free:
        assert (mine(), theirs(), free()) == (True, False, True)
    with again.exclusive("task") as mine:
        assert mine()
    again.close()


def test_sqlite_saves_before_it_acknowledges(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/c.db")
    pragma = lambda name: database.read(lambda c: c.exec_driver_sql(f"PRAGMA {name}").scalar())  # noqa: E731
    assert (pragma("journal_mode"), pragma("synchronous"), pragma("foreign_keys")) == ("wal", 2, 1)
    assert pragma("busy_timeout") >= 30_000
    database.close()


def fill_and_fail(url: str, fill: Callable[[Database], object]) -> None:
    def act() -> None:
        with database_to_fill(url) as database:
            migrate(database)
            fill(database)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        act()


def test_files_of_a_database_that_could_not_be_filled_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".c.db-old.lock").touch()
    fill_and_fail(f"sqlite:///{tmp_path}/c.db", lambda database: None)
    assert [one.name for one in tmp_path.iterdir()] == [".c.db-old.lock"]


def test_a_database_that_others_need_is_not_removed(tmp_path: Path) -> None:
    def keep(database: Database) -> None:
        Store.create(database, uid="0" * 32, name="study", settings="{}")

    fill_and_fail(f"sqlite:///{tmp_path}/filled.db", keep)
    assert (tmp_path / "filled.db").exists()
    (tmp_path / "empty.db").touch()
    fill_and_fail(f"sqlite:///{tmp_path}/empty.db", lambda database: None)
    assert (tmp_path / "empty.db").exists()
    open_elsewhere: list[Database] = []

    def open_again(database: Database) -> None:
        open_elsewhere.append(Database(database.url))
        current_version(open_elsewhere[0])

    fill_and_fail(f"sqlite:///{tmp_path}/open.db", open_again)
    assert (tmp_path / "open.db").exists()
    assert current_version(open_elsewhere[0]) is not None
    open_elsewhere[0].close()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "smb3"])
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {tmp_path}/far {kind} rw 0 0\n")
    (tmp_path / "far").mkdir()
    with pytest.raises(InputError, match="network file system"):
        refuse_remote(tmp_path / "far" / "campaign.db", mounts)
    refuse_remote(tmp_path / "campaign.db", mounts)
    assert file_system(tmp_path / "far" / "deep", mounts) == kind


@pytest.mark.parametrize(
    ("url", "said"),
    [("mysql://x/y", "mysql"), ("sqlite://", "lost"), ("nonsense", "address"), ("sqlite:///:memory:", "lost")],
)
def test_other_databases_are_refused(url: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_url(url)


def test_a_password_is_never_shown() -> None:
    database = Database("postgresql://ann:secret@localhost/x")
    assert "secret" not in database.shown
    database.close()


def test_times_survive_the_round_trip() -> None:
    moment = to_moment(pl.Series(["2026-03-01T12:00:00.123457+00:00"]).str.to_datetime(time_zone="UTC")[0])
    assert to_moment(from_moment(moment)) == moment


def test_only_a_lost_connection_cannot_be_reached(database: Database) -> None:
    make = sa.text("CREATE TABLE earmark_campaigns (id INTEGER)")
    with pytest.raises(sa.exc.DBAPIError, match="already exists"):
        database.write(lambda connection: connection.execute(make))
    with pytest.raises(sa.exc.DBAPIError, match="syntax"):
        database.read(lambda connection: connection.execute(sa.text("SELECT FROM WHERE")))


def test_many_threads_share_few_connections(new_postgresql_database: Callable[[], str]) -> None:
    """The server of a database gives a hundred connections by default, to all processes of all programs."""
    database = Database(new_postgresql_database())
    migrate(database)
    store = Store.create(database, uid="0" * 32, name="study", settings="{}")
    # The server's own processes, such as those that clean up, do not count.
    ours = "datname = current_database() AND application_name = 'earmark'"
    count = f"SELECT count(*) FROM pg_stat_activity, pg_sleep(0.01) WHERE {ours}"

    def work(number: int) -> int:
        if number % 2:
            store.write(lambda change: change.append("changed", text=str(number)))
        return store.read(lambda connection: int(connection.execute(sa.text(count)).scalar_one()))

    with ThreadPoolExecutor(64) as threads:
        seen = list(threads.map(work, range(300)))
    assert store.last_sequence == 150, "whoever comes late waits and is not refused"
    assert 5 <= max(seen) <= 15
    database.close()
