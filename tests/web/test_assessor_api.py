"""What an assessor's page asks the server, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from served import DOCUMENTS, Assessor, invited, new_key
from starlette.testclient import TestClient

from earmark.store.links import invite_openly, revoke
from earmark.store.rules import MINUTE
from earmark.store.store import Store
from earmark.web.context import WebCampaign
from earmark.web.shown import arrange

Make = Callable[..., TestClient]


def store_of(client: TestClient) -> Store:
    return client.app.state.campaign.store  # type: ignore[attr-defined]


def events(client: TestClient, *kinds: str) -> list[dict[str, Any]]:
    return store_of(client).log().of_kind(*kinds).to_dicts()


def set_clock(store: Store, now: int) -> None:
    """Let it be another time, in microseconds."""
    object.__setattr__(store, "clock", lambda: now)


def test_a_page_changes_nothing(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    before = store_of(client).last_sequence
    page = client.get(f"/judge/{who.token}")
    assert page.status_code == 200
    assert "text/html" in page.headers["content-type"]
    for path in ("session", "training", "thanks"):
        assert who.get(f"/api/judge/{path}").status_code == 200
    assert store_of(client).last_sequence == before


@pytest.mark.parametrize("token", ["x", "x" * 300, "é", "%00", "..%2f.."])
def test_an_unknown_link_says_so(make_client: Make, token: str) -> None:
    client = make_client()
    page = client.get(f"/judge/{token}")
    assert page.status_code == 404
    if "%2f" not in token:
        assert "link" in page.text
    assert client.get("/api/judge/session", headers={"Authorization": b"Bearer " + token.encode()}).status_code == 401


def test_a_revoked_link_ends_at_once(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question = who.take()["questions"][0]
    (assessor,) = {row["assessor"] for row in events(client, "asked")}
    revoke(store_of(client), assessor)
    assert client.get(f"/judge/{who.token}").status_code == 404
    assert who.answer(question).status_code == 401
    assert who.get(question["query"]["parts"][0]["media"]).status_code == 401
    assert not events(client, "answered")


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_a_whole_session_of_every_kind(make_client: Make, kind: str) -> None:
    client = make_client(kind)
    who = invited(client)
    seen: set[str] = set()
    while True:
        taken = who.take()
        if not taken["questions"]:
            break
        question = taken["questions"][0]
        assert question["id"] not in seen
        seen.add(question["id"])
        for shown in [question["query"], *question["candidates"], *(x for one in question["lists"] or [] for x in one)]:
            (part,) = shown["parts"]
            assert shown["title"] is None
            assert who.get(part["media"]).headers["content-type"] == "audio/mpeg"
        assert who.answer(question).json()["status"] == "saved"
    assert taken["reason"] == "done"
    kept = store_of(client).log().answers
    assert kept.height == len(seen) > 2
    assert who.get("/api/judge/thanks").json()["answers"] == len(seen)


def test_sides_are_translated_back(make_client: Make) -> None:
    client = make_client("prefer")
    who = invited(client)
    said = {}
    for _ in range(8):
        question = who.take(ahead=0)["questions"][0]
        said[question["id"]] = "first"
        who.answer(question, choice="first", strength=3)
    asked = {row["key"]: row["text"] == "swapped" for row in events(client, "asked")}
    kept = store_of(client).log().answers
    assert kept.height == 8
    # Each of two questions in a row shows another side first, and "first" means what was shown first.
    assert sum(asked.values()) == 4
    assert sorted(kept["choice"]) == ["a"] * 4 + ["b"] * 4
    assert set(kept["strength"]) == {3.0}
    assert who.answer(who.take()["questions"][0], choice="first", strength=6).status_code == 400
    assert who.answer(who.take()["questions"][0], choice="neither").status_code == 400


def test_a_tie_is_refused_where_it_is_not_allowed(make_client: Make) -> None:
    # It cannot change once answers exist, so it is a campaign of its own.
    client = make_client("prefer")
    who = invited(client)
    assert who.answer(who.take()["questions"][0], choice="same").json()["status"] == "saved"


def test_an_order_names_documents_and_a_cut(make_client: Make) -> None:
    client = make_client("order")
    who, other = invited(client, "Ann"), invited(client, "Bob")
    question = who.take()["questions"][0]
    count = len(question["candidates"])
    assert who.answer(question, order=[0] * count, cut=1).status_code == 400
    assert who.answer(question, order=list(range(count)), cut=count + 1).status_code == 400
    assert who.answer(question, order=list(range(count))[::-1], cut=2).json()["status"] == "saved"
    (kept,) = events(client, "answered")
    said = json.loads(kept["choice"])
    assert said["cut"] == 2
    assert sorted(said["order"]) == sorted(set(said["order"]))
    assert len(said["order"]) == count
    # The order that candidates are shown in is another one for everybody, and stays when the page is loaded again.
    assert other.take()["questions"] == other.take()["questions"]


def test_an_answer_that_is_sent_again_is_kept_once(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question, key = who.take()["questions"][0], new_key()
    body = {"id": question["id"], "key": key, "gain": 2, "details": {"seconds": 3.5}, "comment": " hm "}
    assert [who.post("answers", body).json()["status"] for _ in range(3)] == ["saved", "known", "known"]
    (kept,) = events(client, "answered")
    assert json.loads(kept["text"]) == {"seconds": 3.5}
    assert [row["text"] for row in events(client, "commented")] == ["hm"]
    # In another window the same question is answered already: nothing is overwritten.
    assert who.answer(question, gain=0).json()["status"] == "elsewhere"
    assert store_of(client).log().answers["gain"].to_list() == [2.0]


def test_undo_gives_the_same_question_again(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question = who.take()["questions"][0]
    who.answer(question, gain=2)
    key = new_key()
    again = who.post("undo", {"id": question["id"], "key": key}).json()
    assert again["question"]["id"] == question["id"]
    assert again["question"]["query"] == question["query"]
    assert again["progress"]["answers"] == 0
    # The page did not hear of it and asks once more.
    assert who.post("undo", {"id": question["id"], "key": key}).json()["question"]["id"] == question["id"]
    assert who.answer(question, gain=0).json()["status"] == "saved"
    assert store_of(client).log().answers["gain"].to_list() == [0.0]


def test_a_question_that_was_undone_comes_before_those_ahead(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    first, second = who.take()["questions"]
    who.answer(first)
    held = [one["id"] for one in who.take()["questions"]]
    assert held[0] == second["id"]
    key = new_key()
    assert who.post("undo", {"id": first["id"], "key": key}).json()["question"]["id"] == first["id"]
    assert who.take()["questions"][0]["id"] == first["id"]
    assert who.post("undo", {"id": first["id"], "key": key}).json()["question"]["id"] == first["id"]


def test_a_lease_is_renewed_while_somebody_is_at_work(make_client: Make) -> None:
    client = make_client(judging__lease_minutes=10)
    store, who = store_of(client), invited(client)
    question = who.take()["questions"][0]
    assert who.post("renew", {"id": question["id"]}).json() == {"expires": question["expires"]}
    started = store.clock()
    set_clock(store, started + 6 * MINUTE)
    renewed = who.post("renew", {"id": question["id"]}).json()["expires"]
    assert renewed > question["expires"]
    set_clock(store, started + 12 * MINUTE)
    assert who.take()["questions"][0]["id"] == question["id"]
    set_clock(store, started + 30 * MINUTE)
    assert who.post("renew", {"id": question["id"]}).json() == {"expires": None}


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_who_has_not_listened_cannot_answer(make_client: Make, kind: str) -> None:
    client = make_client(kind, pages__minimum_seconds=1.0)
    store, who = store_of(client), invited(client)
    question = who.take()["questions"][0]
    places = [f"candidate {number}" for number in range(len(question["candidates"]))]
    if kind == "lists":
        sides = zip(("first", "second"), question["lists"], strict=True)
        places = [f"{side} {row}" for side, rows in sides for row in range(len(rows))]
    said, parts = who.some_answer(question), ["query", *places]

    def answer(seconds: float, parts: list[str]) -> Any:
        details = {"heard": [{"part": part, "seconds": seconds} for part in parts]}
        return who.answer(question, **said, details=details)

    assert answer(1.0, parts).json()["error"]["code"] == "listen", "nobody hears so much in no time"
    started = store.clock()
    set_clock(store, started + MINUTE)
    assert answer(1.0, parts[:-1]).json()["error"]["code"] == "listen"
    assert answer(0.5, parts).json()["error"]["code"] == "listen"
    assert who.answer(question, **said).json()["error"]["code"] == "listen"
    assert answer(1.0, parts).json()["status"] == "saved"


def places_of(client: TestClient, question: dict[str, Any]) -> dict[str, str]:
    """Return the documents of a question by their places on the page."""
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    (asked,) = [row for row in events(client, "asked") if row["key"] == question["id"]]
    return arrange(campaign, campaign.desk.question(asked["assessor"], question["id"])).places()


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_a_candidate_that_does_not_play_leaves(make_client: Make, kind: str) -> None:
    client = make_client(kind, judging__judgments_per_item=4)
    people = [invited(client, name) for name in ("Ann", "Bob")]
    held = [who.take(0)["questions"][0] for who in people]
    both = set(places_of(client, held[0]).values()) & set(places_of(client, held[1]).values())
    broken = min(both)
    for who, question in zip(people, held, strict=True):
        part = next(place for place, document in places_of(client, question).items() if document == broken)
        assert not events(client, "removed")
        body = {"id": question["id"], "key": new_key(), "part": part}
        assert who.post("unplayable", body).status_code == 200
        assert who.post("unplayable", body | {"key": new_key(), "part": "first 99"}).status_code == 400
    (left,) = events(client, "removed")
    assert (left["document"], left["query"]) == (broken, None)
    assert [row["choice"] for row in events(client, "unplayable")] == [broken, broken]
    client.app.state.campaign._lists = None  # type: ignore[attr-defined]
    later = invited(client, "Cid").take(2)["questions"]
    assert all(broken not in places_of(client, question).values() for question in later)


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_every_kind_has_a_training_of_its_own(make_client: Make, kind: str) -> None:
    client = make_client(kind, pages__sound_check=False)
    who = invited(client)
    assert who.get("/api/judge/session").json()["stage"] == "training"
    (exercise,) = who.get("/api/judge/training").json()["questions"]
    assert exercise["kind"] == kind
    expected = exercise["expected"]
    assert expected.get("choice", "first") in ("first", "second")
    assert max(expected.get("gains", [1.0])) == 1.0
    shown = [exercise["query"], *exercise["candidates"], *(one for found in exercise["lists"] or [] for one in found)]
    assert all(who.get(one["parts"][0]["media"]).status_code == 200 for one in shown)


@pytest.mark.parametrize("kind", ["prefer", "order", "lists"])
@pytest.mark.parametrize("not_retrieved", [0, 1])
def test_a_small_collection_has_a_training_too(
    make_client: Make, monkeypatch: pytest.MonkeyPatch, kind: str, not_retrieved: int
) -> None:
    retrieved = [f"track{number}" for number in range(not_retrieved, DOCUMENTS)]
    monkeypatch.setattr(WebCampaign, "candidates_of", lambda campaign, query: retrieved)
    who = invited(make_client(kind))
    (exercise,) = who.get("/api/judge/training").json()["questions"]
    assert exercise["kind"] == kind


def test_what_is_no_answer_counts_as_none(make_client: Make) -> None:
    client = make_client("prefer")
    who = invited(client)
    first, second = who.take()["questions"]
    assert who.post("skip", {"id": first["id"], "key": new_key(), "text": "too loud"}).status_code == 200
    body = {"id": second["id"], "key": new_key(), "part": "candidate 1"}
    assert who.post("unplayable", body).status_code == 200
    assert who.post("unplayable", body | {"key": new_key(), "part": "candidate 7"}).status_code == 400
    assert not store_of(client).log().answers.height
    (asked,) = [row for row in events(client, "asked") if row["key"] == second["id"]]
    (report,) = events(client, "unplayable")
    # What was shown second is the other document, unless sides were swapped.
    assert report["text"] == ("document" if asked["text"] == "swapped" else "other")
    held = who.take()["questions"]
    assert who.post("leave").json()["returned"] == len(held) == 2


def test_consent_comes_first_and_its_version_is_kept(make_client: Make, tmp_path: Path) -> None:
    client = make_client()
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    text = campaign.opened.path / "inputs" / "consent.md"
    text.write_text("We keep your answers.")
    campaign.change_settings({"inputs.consent": "inputs/consent.md"})
    who = invited(client)
    session = who.get("/api/judge/session").json()
    assert session["stage"] == "consent"
    assert session["consent"]["text"] == "We keep your answers."
    refused = who.post("questions")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "consent")
    assert who.post("consent", {"version": "0" * 12}).status_code == 409
    for _ in range(2):
        session = who.post("consent", {"version": session["consent"]["version"]}).json()
    assert session["stage"] == "sound"
    (event,) = events(client, "consented")
    assert event["text"] == session["consent"]["version"]
    assert event["time"] is not None
    assert who.take()["questions"]


def test_a_questionnaire_is_kept_beside_the_name(make_client: Make) -> None:
    client = make_client()
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    (campaign.opened.path / "inputs" / "about.toml").write_text(
        '[[question]]\nid = "years"\nlabel = "Years of training"\nkind = "number"\nrequired = true\n'
        '[[question]]\nid = "plays"\nlabel = "Instrument"\nkind = "choice"\noptions = ["none", "piano"]\n'
    )
    campaign.change_settings({"inputs.questionnaire": "inputs/about.toml"})
    who = invited(client)
    assert who.get("/api/judge/session").json()["stage"] == "questionnaire"
    assert who.post("questionnaire", {"answers": {"plays": "piano"}}).status_code == 400
    assert who.post("questionnaire", {"answers": {"years": 3, "plays": "drums"}}).status_code == 400
    said = who.post("questionnaire", {"answers": {"years": 3, "plays": "piano", "other": "x"}}).json()
    assert said["stage"] == "sound"
    from earmark.store.people import known_people

    (person,) = known_people(store_of(client))
    assert json.loads(person["questionnaire"]) == {"years": 3, "plays": "piano"}
    assert "piano" not in store_of(client).log().frame.write_json()


def test_steps_come_once_on_all_devices(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    assert who.get("/api/judge/session").json()["stage"] == "sound"
    assert who.post("prepared", {"step": "sound", "details": {"level": -6}}).json()["stage"] == "training"
    (training,) = who.get("/api/judge/training").json()["questions"]
    assert training["expected"] == {"gain": 2.0}
    assert who.get(training["candidates"][0]["parts"][0]["media"]).status_code == 200
    assert who.post("prepared", {"step": "training"}).json()["stage"] == "judge"
    assert Assessor(client, who.token).get("/api/judge/session").json()["stage"] == "judge"


def test_an_open_link_gives_everybody_a_link_of_their_own(make_client: Make) -> None:
    client = make_client()
    shared = Assessor(client, invite_openly(store_of(client), 2).token)
    assert shared.get("/api/judge/session").json()["stage"] == "join"
    assert shared.post("questions").json()["error"]["code"] == "join"
    keys = [new_key() for _ in range(2)]
    first, second = (Assessor(client, shared.post("join", {"key": key}).json()["token"]) for key in keys)
    assert shared.get("/api/judge/session").json()["state"] == "full"
    assert shared.post("join", {"key": new_key()}).json()["error"]["code"] == "full"
    # The page did not hear of it and asks again: the same link, and no second seat.
    assert shared.post("join", {"key": keys[0]}).json()["token"] == first.token
    assert first.take()["questions"][0]["id"] != second.take()["questions"][0]["id"]
    # Who has joined and opens the own link again is the same person.
    assert first.post("join", {"key": new_key()}).json()["token"] == first.token


def test_the_pilot_never_counts(make_client: Make) -> None:
    client = make_client()
    who = invited(client, pilot=True)
    session = who.get("/api/judge/session").json()
    assert (session["pilot"], session["person"]["name"]) == (True, "Ann")
    assert who.answer(who.take()["questions"][0]).json()["status"] == "saved"
    assert not store_of(client).log().answers.height
    assert invited(client, "Ann").get("/api/judge/session").json()["pilot"] is False


def test_nobody_gets_more_than_the_limit(make_client: Make) -> None:
    client = make_client(judging__answers_per_assessor=2)
    who = invited(client)
    for _ in range(2):
        who.answer(who.take()["questions"][0])
    assert who.take() == {"questions": [], "reason": "enough", "progress": {"answers": 2, "limit": 2}}
    assert who.get("/api/judge/session").json()["state"] == "enough"


def test_states_of_the_campaign_reach_the_page(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question = who.take(ahead=0)["questions"][0]
    desk = client.app.state.campaign.desk  # type: ignore[attr-defined]
    desk.set_state("paused")
    assert who.get("/api/judge/session").json()["state"] == "paused"
    # What is out may still be answered.
    assert who.answer(question).json()["status"] == "saved"
    assert who.take()["reason"] == "paused"
    desk.set_state("closed")
    assert who.take()["reason"] == "closed"
    assert who.get(question["query"]["parts"][0]["media"]).status_code == 410


def test_settings_that_are_edited_count_at_once(make_client: Make) -> None:
    client = make_client()
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    who = invited(client)
    file = campaign.opened.path / "campaign.toml"
    text = file.read_text()
    file.write_text(text.replace("minimum_seconds = 0", "minimum_seconds = 7"))
    assert who.get("/api/judge/session").json()["campaign"]["minimum_seconds"] == 7
    # In the middle of editing: what it said before holds.
    file.write_text("minimum")
    assert who.get("/api/judge/session").json()["campaign"]["minimum_seconds"] == 7
    assert campaign.problem_with_settings is not None


def test_a_second_scale_is_kept_and_does_not_count(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    who.answer(who.take()["questions"][0], gain=2, also=90)
    (kept,) = events(client, "answered")
    assert (kept["gain"], json.loads(kept["text"])) == (2.0, {"also": 90.0})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"id": "x"},
        {"id": "x", "key": "short"},
        {"id": "unknown", "key": "k" * 16, "gain": 1},
        {"id": "x\0", "key": "k" * 16, "gain": 1},
        {"id": "x", "key": "k" * 16, "gain": "many"},
        {"id": "x", "key": "k" * 16, "gain": 1, "system": "y"},
        {"id": "x", "key": "k" * 16, "details": {"a": "b" * 30_000}},
        {"id": "x", "key": "k" * 16, "choice": "a"},
    ],
)
def test_what_is_no_answer_is_refused_in_one_shape(make_client: Make, body: dict[str, Any]) -> None:
    client = make_client()
    said = invited(client).post("answers", body)
    assert said.status_code in (400, 422)
    assert set(said.json()) == {"error"}
    assert said.json()["error"]["code"] == "invalid"
    assert said.json()["error"]["message"]


def test_gains_are_those_of_the_scale(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question = who.take()["questions"][0]
    for gain in (-1, 0.5, 3):
        assert who.answer(question, gain=gain).status_code == 400
    assert not store_of(client).log().answers.height


def test_documents_without_media_are_shown_by_their_ids(make_client: Make) -> None:
    client = make_client(traps__sources=("agreed",))
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    (campaign.opened.path / "media" / "manifest.json").unlink()
    question = invited(client).take()["questions"][0]
    assert question["query"]["title"].startswith("query")
    assert question["candidates"][0] == {"title": question["candidates"][0]["title"], "parts": []}


def test_the_log_knows_pseudonyms_only(make_client: Make) -> None:
    client = make_client()
    who = invited(client, "Ann Lee")
    who.answer(who.take()["questions"][0])
    frame = store_of(client).log().frame
    assert "Ann" not in frame.write_json()
    assert frame.filter(pl.col("kind") == "answered")["assessor"][0].startswith("a-")


@pytest.mark.parametrize(("kind", "budget", "share"), [("grade", 4, 0.5), ("order", 4, 0.5), ("prefer", 4, 0.5)])
def test_the_share_of_the_work_is_that_of_the_budget(make_client: Make, kind: str, budget: int, share: float) -> None:
    who = invited(make_client(kind, estimates__stop=f"budget:{budget}"))
    for _ in range(2):
        assert who.answer(who.take(ahead=0)["questions"][0]).status_code == 200
    done = who.get("/api/judge/thanks").json()
    assert (done["share"], done["until_budget"]) == (share, True)
