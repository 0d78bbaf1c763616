"""Copies of a campaign: in one file, and back from it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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
from earmark.store.settings import NAME
from earmark.store.stored import StoredCampaign


@pytest.fixture
def folder(tmp_path: Path, empty_url: str) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, judging={"scale": "broad"}) as made:
        answer(made, 9)
        invite(made.store, ["Ann Lee"])
        yield made


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a campaign in a SQLite database."""
    with make_folder(tmp_path / "home", judging={"scale": "broad"}) as made:
        answer(made, 3)
        backups.backup(made, tmp_path / "b.zip")
    return tmp_path / "b.zip"


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


def test_a_backup_lists_every_file_with_its_size_and_hash(folder: CampaignFolder, tmp_path: Path) -> None:
    backups.backup(folder, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        listed = json.loads(archive.read(backups.CONTENTS))["files"]
        assert set(listed) == set(archive.namelist()) - {backups.CONTENTS}
        for name, about in listed.items():
            data = archive.read(name)
            assert about == {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def of_today(contents: bytes) -> bytes:
    """Return the list of a backup as earlier versions wrote it."""
    told = json.loads(contents)
    del told["files"]
    return json.dumps(told).encode()


def test_a_backup_of_an_earlier_version_is_restored(folder: CampaignFolder, tmp_path: Path) -> None:
    saved = backups.backup(folder, tmp_path / "b.zip")
    old = _damaged(tmp_path / "b.zip", lambda name, data: of_today(data) if name == backups.CONTENTS else data)
    assert backups.restore(old, tmp_path / "again") == saved


def listed(**changed: Any) -> Callable[[str, bytes], bytes]:
    """Return a change of the list of a backup."""

    def change(name: str, data: bytes) -> bytes:
        told = json.loads(data) if name == backups.CONTENTS else {}
        return json.dumps(told | changed).encode() if told else data

    return change


def in_table(table: str, change: Callable[[list[bytes]], list[bytes]], *, old: bool) -> Callable[[str, bytes], bytes]:
    """Return a change of the lines of a table, in a backup that lists hashes or in an older one."""

    def changed(name: str, data: bytes) -> bytes:
        if name == f"tables/earmark_{table}.jsonl":
            return b"".join(line + b"\n" for line in change(data.splitlines()))
        return of_today(data) if old and name == backups.CONTENTS else data

    return changed


def first(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [json.dumps(change(json.loads(lines[0]))).encode(), *lines[1:]]


DAMAGES: dict[str, tuple[Callable[[str, bytes], bytes], str]] = {
    "newer format": (listed(format=9), "install a newer earmark"),
    "newer version": (listed(version="0999"), "install that or a newer one"),
    "no version": (listed(version="x"), "got version x"),
    "no text as version": (listed(version=["0004"]), "got version"),
    "rows of another form": (listed(rows=[1]), "of another form"),
    "files of another form": (listed(files={"a": 1}), "of another form"),
    "a file that is missing": (listed(files={"folder/x": {}}), "does not list|no 'folder/x'"),
    "hash": (in_table("events", lambda lines: lines[::-1], old=False), "damaged 'tables/earmark_events.jsonl'"),
    "size": (in_table("events", lambda lines: lines[1:], old=False), "damaged 'tables/earmark_events.jsonl'"),
    "rows": (in_table("questions", lambda lines: lines[1:], old=True), "other rows or another log"),
    "log": (in_table("events", first(lambda row: row | {"text": "x"}), old=True), "other rows or another log"),
    "no line of JSON": (in_table("events", lambda lines: [b"{", *lines[1:]], old=True), "damaged row 1"),
    "no row": (in_table("events", lambda lines: [b"3", *lines[1:]], old=True), "damaged row 1"),
    "a column more": (in_table("events", first(lambda row: row | {"x": 1}), old=True), "damaged row 1"),
    "text for a number": (
        in_table("events", first(lambda row: row | {"time": "x"}), old=True),
        "damaged time in row 1",
    ),
    "nothing": (in_table("events", first(lambda row: row | {"kind": None}), old=True), "damaged kind in row 1"),
    "too large": (in_table("events", first(lambda row: row | {"time": 1 << 64}), old=True), "damaged time in row 1"),
    "half a character": (
        in_table("events", first(lambda row: row | {"text": "\ud800"}), old=True),
        "damaged text in row 1",
    ),
    "not a number": (in_table("events", first(lambda row: row | {"gain": float("nan")}), old=True), "damaged gain"),
    "another campaign": (in_table("events", first(lambda row: row | {"campaign": 99}), old=True), "do not go together"),
    "the same row twice": (in_table("events", lambda lines: [lines[0], *lines], old=True), "do not go together"),
    "no event": (in_table("events", first(lambda row: row | {"kind": "x"}), old=True), "as kind of an event"),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_backup_is_refused_and_nothing_is_made(backup: Path, tmp_path: Path, how: str) -> None:
    change, said = DAMAGES[how]
    with pytest.raises(InputError, match=said) as caught:
        backups.restore(_damaged(backup, change), tmp_path / "again")
    assert ".draft" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "damaged.zip", "home"]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", ["folder/zeros", "folder/../../evil", "folder/inputs/x/y", "tables/x.jsonl", "x"])
def test_a_file_that_a_backup_does_not_list_is_refused(backup: Path, tmp_path: Path, name: str, old: bool) -> None:
    target = _damaged(backup, lambda name, data: of_today(data) if old and name == backups.CONTENTS else data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(name, bytes(1000))
    with pytest.raises(InputError, match="that it does not list"):
        backups.restore(target, tmp_path / "again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "damaged.zip", "home"]


def test_what_is_no_backup_is_refused(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    with zipfile.ZipFile(backup, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(f"folder/{NAME}", "another one")
    with pytest.raises(InputError, match=f"two files 'folder/{NAME}'"):
        backups.restore(backup, tmp_path / "again")
    for data in (whole[:-200], b"no backup"):
        backup.write_bytes(data)
        with pytest.raises(InputError, match="a backup that earmark wrote"):
            backups.restore(backup, tmp_path / "again")


@pytest.mark.parametrize("inside", [True, False])
def test_inputs_in_the_folder_are_part_of_a_backup_and_those_outside_are_not(tmp_path: Path, inside: bool) -> None:
    with make_folder(tmp_path / "home", judging={"scale": "broad"}) as made:
        path = made.path / NAME
    place = path.parent / "more" / "metadata.csv" if inside else tmp_path / "metadata.csv"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes((path.parent / "inputs" / "metadata.csv").read_bytes())
    name = "more/metadata.csv" if inside else str(place)
    path.write_text(path.read_text().replace("inputs/metadata.csv", name))
    with CampaignFolder.open(path.parent) as changed:
        assert [file.file for file in backups.inputs_elsewhere(changed.settings)] == ([] if inside else [name])
        backups.backup(changed, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert {one for one in archive.namelist() if one.startswith("folder/")} == {
            f"folder/{NAME}",
            "folder/inputs/runs.tsv",
            "folder/inputs/metadata.csv",
            *(["folder/more/metadata.csv"] if inside else []),
        }
    backups.restore(tmp_path / "b.zip", tmp_path / "again")
    with CampaignFolder.open(tmp_path / "again") as again:
        assert StoredCampaign.read(again).problem.collection.n_items


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
