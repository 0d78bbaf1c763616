"""Migrations: every version of a store becomes the newest one, with all its rows and after a backup."""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from earmark.errors import StoreError
from earmark.store import schema
from earmark.store.database import Database
from earmark.store.migrate import configuration, current_version, migrate, run
from earmark.store.store import Store


@pytest.fixture
def empty(empty_url: str):
    made = Database(empty_url)
    yield made
    made.close()


def tables_of(database: Database) -> set[str]:
    return set(database.read(lambda connection: sa.inspect(connection).get_table_names()))


def fill(database: Database) -> dict[str, list[Any]]:
    """Add a campaign with two events and a person; returns the rows of all tables."""
    campaign = {"uid": "0" * 32, "name": "study", "created": 1, "state": "open", "since": 1, "secret": "s"}
    campaign |= {"settings": "{}", "next_sequence": 3, "next_place": 1, "last_time": 1}
    answer = {"query": "q", "document": "d", "gain": 1.0, "assessor": "ann", "key": "k"}
    events = [{"sequence": 1, "kind": "answered", **answer}, {"sequence": 2, "kind": "changed", "text": "stop"}]

    def add(connection: sa.Connection) -> None:
        # The tables of an older version have not all the columns that the program knows.
        connection.execute(sa.insert(schema.campaigns).values(campaign))
        number = connection.execute(sa.select(schema.campaigns.c.id)).scalar()
        for event in events:
            told = {"campaign": number, "time": 1, "sampled": False, **event}
            connection.execute(sa.insert(schema.events).values(told))
        person = {"campaign": number, "assessor": "ann", "name": "Ann", "created": 1}
        connection.execute(sa.insert(schema.people).values(person))

    database.write(add)
    return rows_of(database)


def rows_of(database: Database, *, columns_of: str | None = None) -> dict[str, list[Any]]:
    """Return the rows of all tables as they are there, whatever their version; or the columns of an older version."""

    def look(connection: sa.Connection) -> dict[str, list[Any]]:
        there = sa.MetaData()
        there.reflect(connection, only=lambda name, _: name != schema.VERSION_TABLE)
        return {
            table.name: [
                {
                    name: value
                    for name, value in row.items()
                    if columns_of is None or name not in NEWER.get(table.name, ())
                }
                for row in connection.execute(sa.select(table)).mappings()
            ]
            for table in there.sorted_tables
            if columns_of is None or table.name not in NEWER_TABLES
        }

    return database.read(look)


NEWER = {
    "earmark_campaigns": ("failure",),
    "earmark_people": ("consent", "questionnaire", "prepared"),
    "earmark_invitations": ("role", "sitting"),
}
"""The columns that came after the first version."""
NEWER_TABLES = ("earmark_sessions", "earmark_sittings", "earmark_usage")


def test_the_newest_migration_is_the_version_of_the_tables() -> None:
    script = ScriptDirectory.from_config(configuration())
    assert script.get_heads() == [schema.VERSION]
    assert script.get_bases() == ["0001"]


def test_an_empty_database_gets_exactly_the_tables(empty: Database) -> None:
    assert current_version(empty) is None
    assert migrate(empty, lambda version: pytest.fail("there is nothing to back up"))
    assert current_version(empty) == schema.VERSION

    def compare(connection: sa.Connection) -> list[Any]:
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, kind, parents: name != schema.VERSION_TABLE,
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), schema.metadata))

    assert empty.read(compare) == []
    assert tables_of(empty) == set(schema.metadata.tables) | {schema.VERSION_TABLE}
    assert not migrate(empty, lambda version: pytest.fail("nothing is to be done"))


def test_a_store_of_the_first_version_keeps_every_row(empty: Database) -> None:
    migrate(empty, to="0001")
    before = fill(empty)
    # The first version let the log be changed.
    calls = []

    def backup(version: str) -> None:
        calls.append((version, current_version(empty), rows_of(empty)))

    assert migrate(empty, backup)
    assert calls == [("0001", "0001", before)]
    assert rows_of(empty, columns_of="0001") == before
    assert len(before["earmark_events"]) == 2
    assert current_version(empty) == schema.VERSION
    with pytest.raises(Exception, match="append-only"):
        empty.write(lambda connection: connection.execute(sa.delete(schema.events)))
    store = Store.find(empty, "0" * 32)
    assert store.write(lambda change: change.append("changed", text="more")) == 3


def test_a_backup_that_fails_stops_the_migration(empty: Database) -> None:
    migrate(empty, to="0001")
    before = fill(empty)

    def backup(version: str) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="disk is full"):
        migrate(empty, backup)
    assert current_version(empty) == "0001"
    assert rows_of(empty) == before


def test_a_migration_that_fails_changes_nothing(empty: Database) -> None:
    migrate(empty, to="0001")
    before = fill(empty)
    # A trigger or function of this name is in the way of the second migration.
    if empty.is_sqlite:
        blocker = "CREATE TRIGGER earmark_events_no_delete BEFORE DELETE ON earmark_events BEGIN SELECT 1; END"
    else:
        blocker = "CREATE FUNCTION earmark_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
    empty.write(lambda connection: connection.exec_driver_sql(blocker))
    with pytest.raises(Exception, match="already exists"):
        migrate(empty)
    assert current_version(empty) == "0001"
    assert rows_of(empty) == before
    # The update trigger, which comes first, is not there either.
    empty.write(lambda connection: connection.execute(sa.update(schema.people).values(name="Anne")))
    empty.write(lambda connection: connection.execute(sa.update(schema.events).values(text="changed")))


def test_down_to_nothing_and_up_again(empty: Database) -> None:
    migrate(empty)
    run(empty, "downgrade", "base")
    assert tables_of(empty) == {schema.VERSION_TABLE}
    assert current_version(empty) is None
    assert migrate(empty)
    assert tables_of(empty) == set(schema.metadata.tables) | {schema.VERSION_TABLE}
    assert fill(empty)["earmark_events"]


def _migrate_elsewhere(url: str, ready: Any, results: Any) -> None:
    database = Database(url)

    def backup(version: str) -> None:
        results.put(("backup", version))
        time.sleep(0.5)

    ready.wait()
    results.put(("done", migrate(database, backup)))
    database.close()


def test_of_two_processes_one_migrates_and_the_other_waits(empty: Database, empty_url: str) -> None:
    migrate(empty, to="0001")
    before = fill(empty)
    empty.close()
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(2), context.Queue()
    processes = [context.Process(target=_migrate_elsewhere, args=(empty_url, ready, results)) for _ in range(2)]
    for process in processes:
        process.start()
    told = [results.get(timeout=240) for _ in range(3)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    results.close()
    results.join_thread()
    assert sorted(told, key=str) == [("backup", "0001"), ("done", False), ("done", True)]
    assert current_version(empty) == schema.VERSION
    assert rows_of(empty, columns_of="0001") == before


def test_a_store_of_a_newer_program_is_refused(empty: Database) -> None:
    migrate(empty)
    newer = sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    empty.write(lambda connection: connection.execute(newer))
    with pytest.raises(StoreError, match=r"version 9999, this earmark knows 0\d+: install a newer earmark"):
        migrate(empty)
    assert current_version(empty) == "9999"


def test_reading_only_does_not_migrate(empty: Database, empty_url: str) -> None:
    migrate(empty, to="0001")
    looking = Database(empty_url, read_only=True)
    try:
        with pytest.raises(StoreError, match="open it once with the right to write"):
            migrate(looking)
        with pytest.raises(StoreError, match="reading only"):
            run(looking, "upgrade", schema.VERSION)
        assert current_version(looking) == "0001"
        migrate(empty)
        assert not migrate(looking)
    finally:
        looking.close()
