"""Upgrading while servers run: a program that meets tables of another version refuses, and damages nothing.

The migration is a real one of Alembic, which comes after those of this program, as a newer earmark would bring it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from served import copy_campaign, invited, new_key, open_client

from earmark.cli.main import main
from earmark.errors import StoreError
from earmark.store import migrate as migrating
from earmark.store.database import Database
from earmark.store.folder import CampaignFolder
from earmark.store.migrate import configuration, current_version, migrate, run
from earmark.store.schema import VERSION, assessors
from earmark.store.store import Change, Store
from earmark.store.versions import OtherTablesError
from earmark.store.worker import Worker

NEWER = "9000"
MIGRATION = f'''
"""What a newer earmark may do: a column that has to be filled, and another name for a column."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{NEWER}", "{VERSION}", None, None


def upgrade():
    op.add_column("earmark_events", sa.Column("place", sa.Text(), nullable=False, server_default="here"))
    with op.batch_alter_table("earmark_assessors") as table:
        table.alter_column("given", new_column_name="handed_out")


def downgrade():
    with op.batch_alter_table("earmark_assessors") as table:
        table.alter_column("handed_out", new_column_name="given")
    op.drop_column("earmark_events", "place")
'''


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Alembic know the migration of a newer earmark."""
    folder = tmp_path / "newer"
    folder.mkdir()
    (folder / f"{NEWER}_newer.py").write_text(MIGRATION)

    def with_newer() -> Any:
        config = configuration()
        own = Path(migrating.__file__).parent / "migrations" / "versions"
        config.set_main_option("version_locations", os.pathsep.join((str(own), str(folder))))
        return config

    monkeypatch.setattr(migrating, "configuration", with_newer)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path}/campaign.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("new_postgresql_database")()
    database = Database(url)
    migrate(database)
    yield Store.create(database, uid="v" * 32, name="study", settings="{}")
    database.close()


def comment(change: Change) -> int:
    return change.append("commented", assessor="ann", text="hm")


def handed_out(store: Store) -> Any:
    """Read what a newer earmark calls by another name."""
    return store.read(lambda connection: connection.execute(sa.select(assessors.c.given)).fetchall())


def test_an_older_program_writes_nothing_to_newer_tables(store: Store, newer: None) -> None:
    store.write(comment)
    for _ in range(6):
        # PostgreSQL keeps the plan of a statement that comes often.
        handed_out(store)
    assert migrate(store.database, to=NEWER)
    told = rf"version {NEWER}, this earmark knows {VERSION}: a newer earmark has changed the tables"
    with pytest.raises(OtherTablesError, match=told):
        store.write(comment)
    with pytest.raises(OtherTablesError, match=told):
        handed_out(store)
    with pytest.raises(StoreError, match="install a newer earmark"):
        migrate(store.database)
    run(store.database, "downgrade", VERSION)
    assert store.write(comment) == 2, "nothing was written meanwhile"
    assert len(store.log()) == 2


def test_a_newer_program_writes_nothing_to_older_tables(store: Store) -> None:
    store.write(comment)
    run(store.database, "downgrade", "0003")
    with pytest.raises(OtherTablesError, match=f"version 0003, this earmark knows {VERSION}: the tables are older"):
        store.write(comment)
    assert migrate(store.database)
    assert store.write(comment) == 2


def test_a_migration_waits_for_whoever_writes(store: Store, newer: None) -> None:
    """Between reading the version and writing there is no gap in which the tables could change."""
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(migrate(store.database, to=NEWER)))

    def slowly(change: Change) -> int:
        thread.start()
        time.sleep(0.5)
        assert not done
        return comment(change)

    assert store.write(slowly) == 1
    thread.join(240)
    assert done == [True]
    with pytest.raises(OtherTablesError):
        store.write(comment)


def test_a_server_refuses_clearly_and_goes_on_when_the_tables_fit_again(
    make_campaign: Callable[..., CampaignFolder], newer: None
) -> None:
    folder = make_campaign("grade")
    database = folder.store.database
    with open_client(folder) as client:
        ann = invited(client)
        question = ann.take()["questions"][0]
        given = {"id": question["id"], "key": new_key(), "gain": 1}
        migrate(database, to=NEWER)
        # A proxy that asks for its health sends people to another process.
        assert client.get("/health").status_code == 503
        said = ann.post("answers", given)
        assert said.status_code == 503
        assert "try again" in said.json()["error"]["message"]
        with pytest.raises(OtherTablesError):
            Worker(folder).look()
        run(database, "downgrade", VERSION)
        assert client.get("/health").status_code == 200
        # The page sends the answer again, with the same key.
        assert ann.post("answers", given).json()["status"] == "saved"


def test_commands_refuse_newer_tables_and_change_older_ones_after_a_backup(
    templates: Callable[[str], Path], tmp_path: Path, newer: None, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_campaign(templates("grade"), tmp_path / "study")
    migrate(folder.store.database, to=NEWER)
    assert main(["serve", str(folder.path), "--port", "0"]) != 0
    assert "install a newer earmark" in capsys.readouterr().err
    run(folder.store.database, "downgrade", "0003")
    folder.close()
    with CampaignFolder.open(folder.path) as opened:
        assert current_version(opened.store.database) == VERSION
        assert opened.store.write(comment) > 0
    assert len(list((folder.path / "backups").iterdir())) == 1
