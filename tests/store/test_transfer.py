"""A campaign goes from one database to another, and the copy is proved to be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns_made import make_folder

from earmark.errors import ParameterError, StoreError
from earmark.store import transfer
from earmark.store.database import Database
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite
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
