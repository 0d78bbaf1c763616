"""What an organiser looks at, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns_made import make_folder

from earmark.store import overview
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, invite_openly, revoke, revoke_open_links
from earmark.store.people import erase
from earmark.store.tally import tally
from earmark.store.worker import Worker


@pytest.fixture
def folder(tmp_path: Path, empty_url: str) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, judging={"scale": "broad"}) as made:
        yield made


def answer(folder: CampaignFolder, assessor: str, count: int, gain: float = 1) -> list[str]:
    asked = []
    for _ in range(count):
        question = folder.desk.take(assessor, ahead=0).questions[0]
        folder.desk.answer(assessor, question.id, key=f"{assessor}{question.id}", gain=gain)
        asked.append(question.id)
    return asked


def test_the_version_changes_with_everything_that_happens(folder: CampaignFolder) -> None:
    seen = [overview.version_of(folder.store)]

    def changed() -> bool:
        seen.append(overview.version_of(folder.store))
        return seen[-1] != seen[-2]

    assert not changed()
    (ann,) = invite(folder.store, ["Ann"])
    assert ann.assessor is not None
    assert changed()
    answer(folder, ann.assessor, 1)
    assert changed()
    Worker(folder).look()
    assert changed()
    revoke(folder.store, ann.assessor)
    assert changed()
    folder.desk.set_state("paused", "x")
    assert changed()
    assert len({str(one) for one in seen}) == len(set(seen))


def test_the_newest_estimate_and_how_it_came(folder: CampaignFolder) -> None:
    assert overview.newest_estimate(folder.store) is None
    assert overview.history(folder.store).height == 0
    worker = Worker(folder)
    worker.look()
    answer(folder, "ann", 3)
    worker.look()
    newest = overview.newest_estimate(folder.store)
    assert newest is not None
    assert newest.body["judged"] == 3
    assert newest.sequence <= folder.store.last_sequence
    history = overview.history(folder.store)
    assert history["judged"].to_list() == [0, 3]
    assert history["target"].to_list() == [0.95, 0.95]
    assert history["value"][-1] == pytest.approx(newest.body["mean_confidence"])


def test_counts(folder: CampaignFolder) -> None:
    answer(folder, "ann", 3)
    folder.desk.take("bob", ahead=1)
    counts = tally(folder.store, "grade")
    assert (counts["answered"], counts["pending"], counts["assessors"]) == (3, 2, 1)
    assert counts["questions"] > 3
    folder.desk.reject("ann", "x")
    counts = tally(folder.store, "grade")
    assert (counts["answered"], counts["rejected"]) == (0, 1)


def test_people_and_links(folder: CampaignFolder) -> None:
    ann, bob = (one.assessor for one in invite(folder.store, ["Ann", "Bob"]))
    assert ann is not None
    assert bob is not None
    (pilot,) = invite(folder.store, ["Eve"], pilot=True)
    invite_openly(folder.store, 5)
    answer(folder, bob, 2)
    revoke(folder.store, ann)
    rows = {row["assessor"]: row for row in overview.assessors_seen(folder.store)}
    assert next(iter(rows)) == bob, "the busiest first"
    assert (rows[ann]["link"], rows[bob]["link"]) == (False, True)
    assert rows[bob]["answers"] == 2
    assert rows[str(pilot.assessor)]["state"] == "pilot"
    erase(folder.store, bob)
    (row,) = [row for row in overview.assessors_seen(folder.store) if row["assessor"] == bob]
    assert (row["name"], row["erased"], row["link"]) == (None, True, False)
    (link,) = overview.open_links(folder.store)
    assert (link["seats"], link["used"], link["revoked"]) == (5, 0, False)
    revoke_open_links(folder.store)
    assert overview.open_links(folder.store)[0]["revoked"]


def test_single_answers(folder: CampaignFolder) -> None:
    ids = answer(folder, "ann", 3)
    answer(folder, "bob", 2)
    folder.desk.comment("ann", "hm", id=ids[0])
    folder.desk.answer("ann", ids[0], key="again", gain=2)
    folder.desk.withdraw("ann", ids[1])
    rows, total = overview.answers_page(folder.store)
    assert total == 6
    assert [row["sequence"] for row in rows] == sorted((row["sequence"] for row in rows), reverse=True)
    assert {row["id"] for row in rows if row["assessor"] == "ann"} == set(ids)
    mine, total = overview.answers_page(folder.store, assessor="ann", limit=2)
    assert (len(mine), total) == (2, 4)
    rest, _ = overview.answers_page(folder.store, assessor="ann", before=mine[-1]["sequence"])
    assert len(rest) == 2
    assert overview.answers_page(folder.store, query=rows[0]["query"])[1] >= 1
    assert overview.answers_page(folder.store, query="%") == ([], 0)
    newest = overview.last_about(folder.store, rows)
    kinds = {row["id"]: newest["ann", row["query"], row["document"], ""][1] for row in rows if row["assessor"] == "ann"}
    assert kinds == {ids[0]: "answered", ids[1]: "withdrawn", ids[2]: "answered"}
    assert list(overview.comments_about(folder.store, rows).values()) == ["hm"]
    assert overview.last_about(folder.store, []) == {}
