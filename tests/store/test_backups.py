"""Copies of a campaign: in one file, and back from it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from campaigns_made import make_folder

from earmark.errors import InputError, StoreError
from earmark.store import backups
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite
from earmark.store.migrate import current_version, run
from earmark.store.people import known_people
from earmark.store.schema import VERSION
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
    saved = backups.backup(folder, tmp_path / "b.zip")
    answer(folder, 2)
    restored = backups.restore(tmp_path / "b.zip", tmp_path / "again")
    assert restored == saved
    with CampaignFolder.open(tmp_path / "again") as again:
        assert again.store.database.is_sqlite
        assert state(again) == before
        assert [one["name"] for one in known_people(again.store)] == [None, "Ann Lee"][-1:]
        answer(again, 3)


def test_a_backup_goes_to_another_database(
    folder: CampaignFolder, tmp_path: Path, new_postgresql_database: Callable[[], str]
) -> None:
    backups.backup(folder, tmp_path / "b.zip")
    url = new_postgresql_database()
    backups.restore(tmp_path / "b.zip", tmp_path / "again", store=url)
    with CampaignFolder.open(tmp_path / "again") as again:
        assert not again.store.database.is_sqlite
        assert again.store.log().digest == folder.store.log().digest
    with pytest.raises(StoreError, match="already"):
        backups.restore(tmp_path / "b.zip", tmp_path / "third", store=url)
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
    backups.backup(folder, path)
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
        backups.restore(path, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path.parent / "evil").exists()


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
    assert backups.restore(saved, tmp_path / "again").events == answer_count
    with zipfile.ZipFile(saved) as archive:
        contents = json.loads(archive.read(backups.CONTENTS))
        assert contents["version"] == "0001"
        assert contents["rows"]["earmark_events"] == answer_count
        assert np.sum([line.strip() != b"" for line in archive.open("tables/earmark_questions.jsonl")]) > 0
