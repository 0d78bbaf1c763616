"""Estimates in the background: fresh, by one worker at a time, and never in the way of an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from campaigns_made import make_folder
from clocks import Clock

from earmark.store import worker as worker_module
from earmark.store.folder import CampaignFolder
from earmark.store.overview import version_of
from earmark.store.settings import NAME
from earmark.store.status import history_of, status_of
from earmark.store.stored import AnyStored, StoredCampaign, open_campaign
from earmark.store.worker import Worker


@pytest.fixture
def folder(tmp_path: Path, empty_url: str) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, judging={"scale": "broad"}, estimates={"stop": "budget:12"}) as made:
        yield made


def answer(folder: CampaignFolder, count: int, assessor: str = "ann") -> list[str]:
    asked = []
    for n in range(count):
        question = folder.desk.take(assessor, ahead=0).questions[0]
        asked.append(f"{question.query} {question.document}")
        folder.desk.answer(assessor, question.id, key=f"{assessor}{question.id}", gain=n % 3)
    return asked


def test_questions_are_those_of_the_policy(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    wanted = stored.problem.items[stored.propose(3).items]
    assert Worker(folder).look()
    assert answer(folder, 3) == [f"{query} {document}" for query, document in wanted.rows()]


def test_estimates_follow_the_answers(folder: CampaignFolder) -> None:
    worker = Worker(folder)
    worker.look()
    answer(folder, 5)
    assert worker.look()
    assert not worker.look(), "nothing is new"
    history = history_of(StoredCampaign.read(folder))
    assert history["judged"].to_list() == [0, 5]
    stored = StoredCampaign.read(folder)
    assert history["mean_confidence"][-1] == stored.ranking.mean_confidence


def test_the_stop_rule_stops_the_campaign(folder: CampaignFolder) -> None:
    worker = Worker(folder)
    worker.look()
    answer(folder, 12)
    worker.look()
    assert folder.desk.take("bob").reason == "stopped"
    assert folder.store.log().of_kind("stopped").height == 1
    path = folder.path / NAME
    path.write_text(path.read_text().replace('stop = "budget:12"', 'stop = "budget:15"'))
    worker.look()
    assert answer(worker.folder, 3, "bob")
    worker.look()
    assert worker.folder.desk.take("bob").reason == "stopped"


@pytest.mark.parametrize("when", ["ask", "stop"])
def test_reaching_the_rule_sends_nobody_away_unless_that_was_said(tmp_path: Path, when: str) -> None:
    how = {"stop": "mean:0.3", "when_reached": when}
    with make_folder(tmp_path / "home", judging={"scale": "broad"}, estimates=how) as folder:
        worker = Worker(folder)
        worker.look()
        assert folder.store.row["state"] == "open", "ten answers ago there was nothing to look at"
        # So many that it was no longer too early ten answers ago.
        answer(folder, 26)
        worker.look()
        stored = StoredCampaign.read(folder)
        assert stored.decision.stop
        assert status_of(stored)["reason"] == stored.decision.reason
        gone = folder.desk.take("bob").reason
        assert (folder.store.row["state"], gone) == (("stopped", "stopped") if when == "stop" else ("open", ""))
        # Whoever reads the campaign again comes to the same decision, to the bit.
        assert StoredCampaign.read(folder).decision == stored.decision


def test_a_document_that_left_is_followed(folder: CampaignFolder) -> None:
    worker = Worker(folder)
    worker.look()
    gone = StoredCampaign.read(folder).problem.items["document"][0]
    folder.desk.remove("broken", document=gone)
    worker.look()
    assert worker.failure is None
    assert gone not in {one.document for one in folder.desk.take("bob", ahead=300).questions}
    stored = open_campaign(folder.path)
    assert isinstance(stored, StoredCampaign)
    asked = status_of(stored)["items"]
    assert asked == stored.problem.collection.n_items
    stored.folder.close()


def test_work_goes_on_without_a_worker(folder: CampaignFolder) -> None:
    assert len(set(answer(folder, 10))) == 10


def test_one_worker_at_a_time_and_another_takes_over(folder: CampaignFolder) -> None:
    second = CampaignFolder.open(folder.path)
    workers = [Worker(one, every=0.02) for one in (folder, second)]
    threads = [worker.start() for worker in workers]
    deadline = time.monotonic() + 240
    while not any(worker.campaign for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    busy = [worker.campaign is not None for worker in workers]
    assert sorted(busy) == [False, True]
    first, idle = busy.index(True), busy.index(False)
    threads[first][1].set()
    threads[first][0].join()
    while workers[idle].campaign is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert workers[idle].campaign is not None
    for thread, stopped in threads:
        stopped.set()
        thread.join()
    second.close()


def test_answers_do_not_wait_for_a_broken_estimate(folder: CampaignFolder) -> None:
    worker = Worker(folder)
    worker.look()
    with (folder.path / "inputs" / "runs.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    worker.campaign = None
    answer(folder, 1)
    worker.look()
    assert "changed" in str(worker.failure)
    assert answer(folder, 2)


def test_why_there_are_no_estimates_is_in_the_store(folder: CampaignFolder) -> None:
    runs = folder.path / "inputs" / "runs.tsv"
    worker, before = Worker(folder), runs.read_text()
    worker.look()
    assert folder.store.row["failure"] is None
    version = version_of(folder.store)
    runs.write_text(f"{before}x\ty\tz\n")
    worker.campaign = None
    answer(folder, 1)
    worker.look()
    assert "runs.tsv" in folder.store.row["failure"]
    assert str(version_of(folder.store)) != str(version), "pages are told"
    # Another process takes over when the file is as it was.
    runs.write_text(before)
    assert Worker(folder).look()
    assert folder.store.row["failure"] is None


def test_arithmetic_that_fails_is_told_to_the_organiser(
    folder: CampaignFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def singular(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    worker = Worker(folder)
    worker.look()
    with monkeypatch.context() as patched:
        patched.setattr("earmark.predictors.hierarchical.Hierarchical.predict", singular)
        answer(folder, 1)
        worker.look()
        assert "the predictor hierarchical cannot compute beliefs" in folder.store.row["failure"]
        assert answer(folder, 2), "questions go on"
    worker.look()
    assert folder.store.row["failure"] is None


def test_a_mistake_of_ours_is_told_and_ends_nothing(folder: CampaignFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("divided by zero")

    with monkeypatch.context() as patched:
        patched.setattr(Worker, "refresh", broken)
        thread, stopped = Worker(folder, every=0.02).start()
        wait_for(lambda: folder.store.row["failure"] == "divided by zero")
    wait_for(lambda: folder.store.row["failure"] is None)
    stopped.set()
    thread.join()


def wait_for(what: Callable[[], bool], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_a_worker_whose_connection_was_lost_gives_its_right_up(
    tmp_path: Path, new_postgresql_database: Callable[[], str]
) -> None:
    """A restart of PostgreSQL ends all connections, and with them the right of the worker that has it."""
    with (
        make_folder(tmp_path / "home", store=new_postgresql_database(), judging={"scale": "broad"}) as folder,
        folder.store.database.exclusive("task") as mine,
    ):
        assert mine()
        others = CampaignFolder.open(folder.path)
        with others.store.database.exclusive("task") as theirs:
            assert not theirs()
        ended = sa.text(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        )
        others.store.write(lambda change: change.connection.execute(ended).fetchall())
        with others.store.database.exclusive("task") as theirs:
            assert theirs()
            assert not mine()
            assert not mine(), "not even over a new connection"
        others.close()


def test_the_status_is_that_of_the_campaign(folder: CampaignFolder) -> None:
    answer(folder, 4)
    folder.desk.take("bob")
    said = status_of(StoredCampaign.read(folder))
    assert {name: said[name] for name in ("judged", "answers", "assessors", "pending", "stop")} == {
        "judged": 4,
        "answers": 4,
        "assessors": 1,
        "pending": 2,
        "stop": False,
    }
    assert np.isfinite(said["mean_confidence"])


def test_a_clock_that_was_set_back_is_told(tmp_path: Path) -> None:
    clock = Clock()
    with make_folder(tmp_path / "home", judging={"scale": "broad"}, clock=clock) as folder:
        answer(folder, 1)
        clock.pass_minutes(-60)
        answer(folder, 1)
        notes = status_of(StoredCampaign.read(folder))["notes"]
        assert any("set back" in note for note in notes)
        assert folder.store.log().position == 2


def test_an_answer_that_arrives_while_questions_are_chosen_reaches_the_next_estimate(
    folder: CampaignFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Choosing takes seconds in a large campaign; nothing may have to happen afterwards for its answers to count."""
    worker, choose = Worker(folder), worker_module._next_questions
    worker.look()

    def interrupted(campaign: AnyStored, n: int) -> list[tuple[str, str, str, bool]]:
        monkeypatch.setattr(worker_module, "_next_questions", choose)
        answer(folder, 1, "bob")
        return choose(campaign, n)

    answer(folder, 3)
    monkeypatch.setattr(worker_module, "_next_questions", interrupted)
    assert worker.look()
    assert history_of(StoredCampaign.read(folder))["judged"].to_list() == [0, 3]
    assert worker.look(), "the answer came after the estimate had read the log"
    assert history_of(StoredCampaign.read(folder))["judged"].to_list() == [0, 3, 4]
    assert not worker.look(), "nothing is new"


def test_what_a_worker_does_itself_is_no_news(tmp_path: Path) -> None:
    """A lease that ends and the stop rule are events too; a look after each would be made for nothing."""
    clock = Clock()
    with make_folder(
        tmp_path / "home", judging={"scale": "broad"}, estimates={"stop": "budget:2"}, clock=clock
    ) as folder:
        worker = Worker(folder)
        answer(folder, 2)
        folder.desk.take("bob")
        clock.pass_minutes(24 * 60)
        before = folder.store.last_sequence
        assert worker.look()
        assert folder.store.events(after=before)["kind"].to_list() == ["returned", "returned", "stopped"]
        assert not worker.look()
