"""Copies of a campaign: in one file, back from it, and from one database to another, each proved to be the same."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns_made import make_folder

from earmark.errors import InputError, ParameterError, StoreError
from earmark.store import transfer
from earmark.store.database import Database
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite
from earmark.store.migrate import current_version, run
from earmark.store.people import known_people
from earmark.store.schema import VERSION
from earmark.store.settings import NAME
from earmark.store.store import Store
from earmark.store.stored import StoredCampaign


@pytest.fixture
def folder(tmp_path: Path, empty_url: str) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, judging={"scale": "broad"}) as made:
        answer(made, 9)
        invite(made.store, ["Ann Lee"])
        yield made


def answer(folder: CampaignFolder, count: int, assessor: str = "bob") -> None:
    for n in range(count):
        question = folder.desk.take(assessor).questions[0]
        folder.desk.answer(assessor, question.id, key=f"{assessor}{question.id}", gain=n % 3)


def state(folder: CampaignFolder) -> tuple[str, list[float], list[str]]:
    stored = StoredCampaign.read(folder)
    held = [one.id for one in folder.desk.take("bob").questions]
    return folder.store.log().digest, stored.ranking.low.tolist(), held


def test_a_backup_brings_everything_back(folder: CampaignFolder, tmp_path: Path) -> None:
    before = state(folder)
    saved = transfer.backup(folder, tmp_path / "b.zip")
    answer(folder, 2)
    restored = transfer.restore(tmp_path / "b.zip", tmp_path / "again")
    assert restored == saved
    with CampaignFolder.open(tmp_path / "again") as again:
        assert again.store.database.is_sqlite
        assert state(again) == before
        assert [one["name"] for one in known_people(again.store)] == [None, "Ann Lee"][-1:]
        answer(again, 3)


def test_a_backup_goes_to_another_database(
    folder: CampaignFolder, tmp_path: Path, new_postgresql_database: Callable[[], str]
) -> None:
    transfer.backup(folder, tmp_path / "b.zip")
    url = new_postgresql_database()
    transfer.restore(tmp_path / "b.zip", tmp_path / "again", store=url)
    with CampaignFolder.open(tmp_path / "again") as again:
        assert not again.store.database.is_sqlite
        assert again.store.log().digest == folder.store.log().digest
    with pytest.raises(StoreError, match="already"):
        transfer.restore(tmp_path / "b.zip", tmp_path / "third", store=url)
    assert not (tmp_path / "third").exists()


def _damaged(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Write a backup anew with some of its files changed."""
    target = path.with_name("damaged.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            copy.writestr(name, change(name, source.read(name)))
    return target


@pytest.mark.parametrize("how", ["rows", "log", "cut", "text", "path", "newer"])
def test_a_damaged_backup_is_refused(folder: CampaignFolder, tmp_path: Path, how: str) -> None:
    path = tmp_path / "b.zip"
    transfer.backup(folder, path)
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif how == "text":
        path.write_text("no backup")
    elif how == "path":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("folder/../../evil", "x")
    else:

        def change(name: str, data: bytes) -> bytes:
            if how == "rows" and name.endswith("questions.jsonl"):
                return b"\n".join(data.split(b"\n")[1:])
            if how == "log" and name.endswith("events.jsonl"):
                return data.replace(b'"gain": 1.0', b'"gain": 2.0', 1)
            return data.replace(b'"format": 1', b'"format": 9') if how == "newer" else data

        path = _damaged(path, change)
    with pytest.raises(InputError):
        transfer.restore(path, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path.parent / "evil").exists()


def test_a_campaign_moves_there_and_back(
    folder: CampaignFolder, tmp_path: Path, new_postgresql_database: Callable[[], str]
) -> None:
    before = state(folder)
    old = folder.store
    there = transfer.move(folder, new_postgresql_database())
    with CampaignFolder.open(folder.path) as moved:
        assert not moved.store.database.is_sqlite
        assert state(moved) == before
        assert there.digest == before[0]
        answer(moved, 2, "eve")
        left = Database(old.database.url.render_as_string(hide_password=False))
        with pytest.raises(StoreError, match="moved to postgresql"):
            Store(left, old.campaign).write(lambda change: change.append("changed", text="x"))
        left.close()
        after = state(moved)
        back = transfer.move(moved, None)
    with CampaignFolder.open(folder.path) as again:
        assert again.store.database.is_sqlite
        assert back.events == again.store.last_sequence
        assert state(again) == after
        answer(again, 1, "eve")


def test_nobody_stays_behind_in_the_old_database(tmp_path: Path, new_postgresql_database: Callable[[], str]) -> None:
    with make_folder(tmp_path / "home") as folder:
        invite(folder.store, ["Ann Lee"])
        transfer.move(folder, new_postgresql_database())
    old = Database(f"sqlite:///{folder.path}/campaign.db")
    assert old.read(lambda c: c.execute(sa.text("SELECT count(*) FROM earmark_people")).scalar()) == 0
    old.close()


def test_a_move_that_was_cut_off_goes_on(
    tmp_path: Path, new_postgresql_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_postgresql_database()
    folder = make_folder(tmp_path / "home", judging={"scale": "broad"})
    answer(folder, 4)
    settings = (folder.path / NAME).read_text()
    with monkeypatch.context() as patched:

        def fail(*_: object) -> None:
            raise KeyboardInterrupt

        # After the copy, before the original is marked.
        patched.setattr(transfer, "_leave_log_alone", fail)
        with pytest.raises(KeyboardInterrupt):
            transfer.move(folder, url)
    assert (folder.path / NAME).read_text() == settings
    answer(folder, 1)
    transfer.move(folder, url)
    # After both, before the settings were written.
    (folder.path / NAME).write_text(settings)
    again = CampaignFolder.open(folder.path)
    with pytest.raises(StoreError, match="moved"):
        again.desk.take("bob")
    transfer.move(again, url)
    with CampaignFolder.open(folder.path) as moved:
        assert moved.store.log().position == 5
        answer(moved, 1)


def test_moving_to_where_it_is(folder: CampaignFolder) -> None:
    url = folder.store.database.url.set(drivername="postgresql") if not folder.store.database.is_sqlite else None
    with pytest.raises(ParameterError, match="already"):
        transfer.move(folder, None if url is None else url.render_as_string(hide_password=False))


def test_old_tables_are_backed_up_before_they_change(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "home")
    answer_count = len(folder.store.log())
    run(folder.store.database, "downgrade", "0001")
    assert current_version(folder.store.database) == "0001"
    folder.close()
    with CampaignFolder.open(folder.path) as again:
        assert current_version(again.store.database) == VERSION
        assert len(again.store.log()) == answer_count
    (saved,) = (folder.path / "backups").iterdir()
    assert saved.stat().st_mode & 0o077 == 0, "it holds names"
    assert transfer.restore(saved, tmp_path / "again").events == answer_count
    with zipfile.ZipFile(saved) as archive:
        contents = json.loads(archive.read(transfer.CONTENTS))
        assert contents["version"] == "0001"
        assert contents["rows"]["earmark_events"] == answer_count
        assert np.sum([line.strip() != b"" for line in archive.open("tables/earmark_questions.jsonl")]) > 0
