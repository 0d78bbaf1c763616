"""What an organiser does, and what the log keeps of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from organised import Organiser, answer_some, pseudonym_of, running
from served import SYSTEMS, Assessor, invited, new_key
from starlette.testclient import TestClient

from earmark.store.settings import NAME

Make = Callable[..., TestClient]


def token_of(link: str) -> str:
    assert "/judge/" in link
    return link.rpartition("/")[2]


def last_event(organiser: Organiser, *kinds: str) -> dict[str, Any]:
    return organiser.events(*kinds)[-1]


# ---- only from pages of this app -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Earmark": "organiser", "Origin": "https://evil.example"},
        {"X-Earmark": "organiser", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_site_can_do_nothing(make_client: Make, headers: dict[str, str]) -> None:
    client = make_client()
    organiser = Organiser(client)
    before = organiser.store.last_sequence
    actions: dict[str, Any] = {
        "invitations": {"names": ["Eve"]},
        "preview": {},
        "links/revoke": {},
        "campaign": {"state": "closed"},
        "settings": {"changes": {"estimates.stop": "none"}},
        "people/x/reject": {"reason": "x"},
        "people/x/new-link": {},
        "people/x/revoke": {},
        "erase/x": {"confirm": True},
        "answers/x/correct": {"assessor": "x", "gain": 1, "reason": "x"},
        "answers/x/withdraw": {"assessor": "x", "reason": "x"},
    }
    for action, body in actions.items():
        found = client.post(f"/api/organise/{action}", json=body, headers=headers)
        assert found.status_code == 403, action
        assert found.json()["error"]["code"] == "forbidden"
    assert organiser.store.last_sequence == before
    # A form of another site can send no JSON and no header.
    form = client.post("/api/organise/campaign", data={"state": "closed"})
    assert form.status_code in (403, 422)
    assert organiser.store.row["state"] == "open"


# ---- invitations -----------------------------------------------------------------------------------------------------


def test_people_are_invited_by_name(make_client: Make) -> None:
    organiser = Organiser(make_client())
    made = organiser.post("invitations", {"names": ["Ann", " Bob "]}).json()["invitations"]
    assert [one["name"] for one in made] == ["Ann", "Bob"]
    assert len(organiser.events("invited")) == 2
    who = Assessor(organiser.client, token_of(made[0]["link"]))
    assert who.get("/api/judge/session").json()["person"]["name"] == "Ann"
    assert made[0]["link"].startswith("http://testserver/judge/")
    assert token_of(made[0]["link"]) not in organiser.get("/api/organise/people").text, "a link is shown once"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "whom to invite"),
        ({"names": [" "]}, "name"),
        ({"names": ["Ann", "Ann"]}, "twice"),
        ({"names": ["Ann"], "seats": 3}, "whom to invite"),
        ({"seats": 0}, "greater than or equal to 1"),
        ({"names": ["A\0"]}, "NUL"),
    ],
)
def test_wrong_invitations_are_refused_in_words(make_client: Make, body: dict[str, Any], said: str) -> None:
    organiser = Organiser(make_client())
    found = organiser.post("invitations", body)
    assert found.status_code in (400, 422)
    assert said in found.json()["error"]["message"]
    assert not organiser.events("invited")


def test_an_open_link_has_a_limit(make_client: Make) -> None:
    organiser = Organiser(make_client())
    (made,) = organiser.post("invitations", {"seats": 2}).json()["invitations"]
    newcomer = Assessor(organiser.client, token_of(made["link"]))
    joined = [newcomer.post("join", {"key": new_key()}) for _ in range(3)]
    assert [one.status_code for one in joined] == [200, 200, 409]
    (link,) = organiser.get("/api/organise/people").json()["open_links"]
    assert (link["used"], link["seats"], link["revoked"]) == (2, 2, False)
    assert organiser.post("links/revoke").json() == {"ended": 1}
    assert newcomer.get("/api/judge/session").status_code == 401
    own = Assessor(organiser.client, joined[0].json()["token"])
    assert own.get("/api/judge/session").status_code == 200, "who has joined goes on"


def test_the_preview_and_the_pilot_do_not_count(make_client: Make) -> None:
    organiser = Organiser(make_client())
    link = organiser.post("preview").json()["link"]
    assert organiser.get(link).status_code == 200
    again = organiser.post("preview").json()["link"]
    assert organiser.client.get(link).status_code == 404, "the preview before ends"
    (made,) = organiser.post("invitations", {"names": ["Ann"], "pilot": True}).json()["invitations"]
    for token in (token_of(again), token_of(made["link"])):
        answer_some(Assessor(organiser.client, token), 2)
    assert len(organiser.events("answered")) == 4
    assert organiser.store.log().position == 0


# ---- people ----------------------------------------------------------------------------------------------------------


def test_a_new_link_replaces_the_old_one(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    who = invited(client, "Ann")
    name = pseudonym_of(organiser, "Ann")
    (made,) = organiser.post(f"people/{name}/new-link").json()["invitations"]
    assert who.get("/api/judge/session").status_code == 401
    new = Assessor(client, token_of(made["link"]))
    assert new.get("/api/judge/session").json()["person"]["name"] == "Ann"
    assert organiser.post(f"people/{name}/revoke").status_code == 200
    assert new.get("/api/judge/session").status_code == 401
    (row,) = organiser.state()["assessors"]
    assert row["link"] is False


def test_pausing_and_resuming_somebody(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    who = invited(client, "Ann")
    name = pseudonym_of(organiser, "Ann")
    assert organiser.post(f"people/{name}/pause", {"reason": "on holiday"}).status_code == 200
    assert who.take()["reason"] == "paused"
    event = last_event(organiser, "paused")
    assert (event["assessor"], event["text"]) == (name, "on holiday")
    assert organiser.post(f"people/{name}/resume").status_code == 200
    assert who.take()["questions"]
    assert last_event(organiser, "resumed")["assessor"] == name


def test_rejecting_needs_a_reason_and_can_be_taken_back(make_client: Make) -> None:
    organiser = running(make_client())
    name = pseudonym_of(organiser, "Ann")
    counted = organiser.store.log().position
    for reason in ("", "   "):
        refused = organiser.post(f"people/{name}/reject", {"reason": reason})
        assert refused.status_code == 400
        assert "reason" in refused.json()["error"]["message"]
    assert organiser.post(f"people/{name}/reject", {"reason": "does not listen"}).status_code == 200
    assert last_event(organiser, "rejected")["text"] == "does not listen"
    assert organiser.store.log().position < counted
    assert organiser.post(f"people/{name}/reinstate", {"reason": "a mistake"}).status_code == 200
    assert last_event(organiser, "reinstated")["text"] == "a mistake"
    assert organiser.store.log().position == counted


def test_nobody_unknown_is_made_up(make_client: Make) -> None:
    organiser = Organiser(make_client())
    before = organiser.store.last_sequence
    for action in ("pause", "resume", "reject", "reinstate"):
        assert organiser.post(f"people/nobody/{action}", {"reason": "x"}).status_code == 404
    for action in ("people/nobody/new-link", "people/nobody/revoke"):
        assert organiser.post(action).status_code == 404
    assert organiser.post("erase/nobody", {"confirm": True}).status_code == 404
    assert organiser.post("people/nobody/promote", {"reason": "x"}).status_code == 422
    assert organiser.store.last_sequence == before


def test_erasing_somebody_needs_a_confirmation(make_client: Make) -> None:
    organiser = running(make_client())
    name = pseudonym_of(organiser, "Ann")
    assert organiser.post(f"erase/{name}").status_code == 422
    assert organiser.post(f"erase/{name}", {"confirm": False}).status_code == 422
    counted = organiser.store.log().position
    assert organiser.post(f"erase/{name}", {"confirm": True}).status_code == 200
    assert last_event(organiser, "erased")["assessor"] == name
    assert organiser.store.log().position == counted, "the answers stay"
    assert "Ann" not in organiser.get("/api/organise/state").text
    assert "Ann" not in organiser.get("/organise/export/answers.csv?people=names").text


# ---- single answers --------------------------------------------------------------------------------------------------


def answers(organiser: Organiser, **which: Any) -> list[dict[str, Any]]:
    found = organiser.get("/api/organise/answers", params=which)
    assert found.status_code == 200, found.text
    return found.json()["answers"]  # type: ignore[no-any-return]


def test_answers_are_listed_and_found(make_client: Make) -> None:
    organiser = running(make_client(), answers=5)
    rows = answers(organiser)
    assert [row["sequence"] for row in rows] == sorted((row["sequence"] for row in rows), reverse=True)
    assert len(rows) == 10
    assert {row["status"] for row in rows} == {"counts"}
    ann = pseudonym_of(organiser, "Ann")
    assert {row["name"] for row in answers(organiser, assessor=ann)} == {"Ann"}
    assert {row["query"] for row in answers(organiser, query="y1")} == {"query1"}
    assert not answers(organiser, query="%")
    first = organiser.get("/api/organise/answers", params={"limit": 4}).json()
    second = organiser.get("/api/organise/answers", params={"limit": 4, "before": first["next"]}).json()
    assert first["total"] == 10
    assert [row["sequence"] for row in first["answers"] + second["answers"]] == [row["sequence"] for row in rows[:8]]


def test_details_and_comments_are_shown(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    who = invited(client)
    question = who.take()["questions"][0]
    who.answer(question, gain=2, details={"seconds": 12.5, "known": ["query"]}, comment="<b>loud</b>")
    (row,) = answers(organiser)
    assert row["details"] == {"seconds": 12.5, "known": ["query"]}
    assert row["comment"] == "<b>loud</b>"


@pytest.mark.parametrize("kind", ["grade", "prefer", "lists", "order"])
def test_an_answer_is_corrected(make_client: Make, kind: str) -> None:
    organiser = running(make_client(kind), answers=1, people=("Ann",))
    (row,) = answers(organiser)
    other: dict[str, Any] = {"gain": 2.0} if kind == "grade" else {"choice": "b" if row["choice"] == "a" else "a"}
    if kind == "order":
        told = json.loads(row["choice"])
        other = {"choice": json.dumps({"order": told["order"][::-1], "cut": told["cut"]})}
    body = {"assessor": row["assessor"], **other}
    address = f"answers/{row['id']}/correct"
    assert organiser.post(address, {**body, "reason": " "}).status_code == 400, "a reason is needed"
    done = organiser.post(address, {**body, "reason": "the assessor wrote to us"})
    assert done.json()["status"] == "corrected", done.text
    event = last_event(organiser, "answered")
    assert (event["source"], event["text"]) == ("organiser", "the assessor wrote to us")
    assert len(organiser.events("answered")) == 2, "the old answer stays in the log"
    (current,) = organiser.store.log().answers.to_dicts()
    assert {name: current[name] for name in other} == other
    newest, oldest = answers(organiser)
    assert (newest["status"], oldest["status"]) == ("counts", "replaced")
    assert oldest["id"] is None


def test_a_wrong_correction_is_refused_in_words(make_client: Make) -> None:
    organiser = running(make_client(), answers=1, people=("Ann",))
    (row,) = answers(organiser)
    for body, said in (
        ({"gain": 7}, "scale"),
        ({"choice": "a"}, "gain"),
        ({"gain": 1, "assessor": "somebody"}, "not asked"),
    ):
        found = organiser.post(f"answers/{row['id']}/correct", {"assessor": row["assessor"], "reason": "x", **body})
        assert found.status_code == 400
        assert said in found.json()["error"]["message"]
    assert len(organiser.events("answered")) == 1


@pytest.mark.parametrize("choice", [None, "x", "[" * 50_000, '{"order": 1}', '{"order": ["track0"], "cut": 0}'])
def test_a_ranking_of_something_else_is_no_correction(make_client: Make, choice: str | None) -> None:
    organiser = running(make_client("order"), answers=1, people=("Ann",))
    (row,) = answers(organiser)
    body = {"assessor": row["assessor"], "reason": "x", "choice": choice}
    found = organiser.post(f"answers/{row['id']}/correct", body)
    assert found.status_code == 400
    assert "document" in found.json()["error"]["message"]


def test_an_answer_is_withdrawn(make_client: Make) -> None:
    organiser = running(make_client(), answers=2, people=("Ann",))
    row = answers(organiser)[0]
    body = {"assessor": row["assessor"], "reason": "answered by a cat"}
    assert organiser.post(f"answers/{row['id']}/withdraw", body | {"reason": ""}).status_code == 400
    assert organiser.post(f"answers/{row['id']}/withdraw", body).status_code == 200
    event = last_event(organiser, "withdrawn")
    assert (event["text"], event["source"], event["query"]) == ("answered by a cat", "organiser", row["query"])
    assert organiser.store.log().position == 1
    assert answers(organiser)[0]["status"] == "withdrawn"
    assert organiser.post(f"answers/{row['id']}/withdraw", body).status_code == 400, "once"
    assert any("answered by a cat" in one["text"] for one in organiser.get("/api/organise/changes").json()["changes"])


def test_nothing_is_corrected_after_the_end(make_client: Make) -> None:
    organiser = running(make_client(), answers=1, people=("Ann",))
    (row,) = answers(organiser)
    organiser.post("campaign", {"state": "closed"})
    for action, more in (("correct", {"gain": 2}), ("withdraw", {})):
        found = organiser.post(f"answers/{row['id']}/{action}", {"assessor": row["assessor"], "reason": "x", **more})
        assert found.status_code == 409
        assert found.json()["error"]["code"] == "closed"


# ---- the campaign ----------------------------------------------------------------------------------------------------


def test_pausing_resuming_closing_and_opening_again(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    who = invited(client)
    steps = (
        ("paused", "lunch", "paused"),
        ("open", "back", "resumed"),
        ("closed", "done", "closed"),
        ("open", "oh", "opened"),
    )
    for state, reason, kind in steps:
        assert organiser.post("campaign", {"state": state, "reason": reason}).json() == {"state": state}
        assert last_event(organiser, kind)["text"] == reason
        assert organiser.state()["campaign"]["state"] == state
        assert bool(who.take()["questions"]) == (state == "open")
        client.post("/api/judge/leave", headers=who.headers)
    organiser.post("campaign", {"state": "closed"})
    assert organiser.post("campaign", {"state": "paused"}).status_code == 409
    assert organiser.post("campaign", {"state": "stopped"}).status_code == 422


def test_the_stop_rule_changes_and_the_log_keeps_it(make_client: Make) -> None:
    organiser = running(make_client(estimates__stop="budget:4"), answers=3)
    assert organiser.store.row["state"] == "stopped"
    done = organiser.post("settings", {"changes": {"estimates.stop": "budget:9"}})
    assert any("estimates.stop" in line for line in done.json()["recorded"]), done.text
    assert json.loads(last_event(organiser, "changed")["text"])["to"] == "budget:9"
    assert 'stop = "budget:9"' in (organiser.campaign.opened.path / NAME).read_text()
    assert organiser.state()["campaign"]["state"] == "open", "a new stop rule decides anew"
    assert organiser.state()["counts"]["budget"] == 9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"estimates.stop": "mean:95"}, "confidence"),
        ({"estimates.stop": ""}, "expected a value"),
        ({"judging.judgments_per_item": 0}, "judgments_per_item"),
        ({"judging.judgments_per_item": "many"}, "judgments_per_item"),
        ({"estimates.measure": "AG@3"}, "cannot be changed here"),
        ({"store.url": "sqlite:////etc/passwd"}, "cannot be changed here"),
        ({"inputs.consent": "/etc/passwd"}, "cannot be changed here"),
        ({"traps.rate": 2}, "traps.rate"),
        ({"judging.lease_minutes": 1e300}, "up to 1,000,000"),
        ({"judging.answers_per_assessor": 10**30}, "up to 1,000,000"),
        ({"judging.lease_minutes": [1]}, "lease_minutes"),
        ({"estimates.policy": "whatever"}, "expected one of"),
        ({"pages.title": "a\0b"}, "NUL"),
        ({"pages.title": {"a": 1}}, "pages.title"),
        ({"people.address": "javascript:alert(1)"}, "people.address"),
    ],
)
def test_wrong_settings_are_refused_in_words(make_client: Make, changes: dict[str, Any], said: str) -> None:
    organiser = Organiser(make_client())
    path = organiser.campaign.opened.path / NAME
    before = path.read_text()
    found = organiser.post("settings", {"changes": changes})
    assert found.status_code == 400, found.text
    assert said in found.json()["error"]["message"]
    assert str(path) not in found.text
    assert path.read_text() == before
    assert not organiser.events("changed")


def test_settings_of_the_form_can_be_sent_back(make_client: Make) -> None:
    organiser = Organiser(make_client())
    shown = organiser.get("/api/organise/settings").json()["settings"]
    assert {"estimates.stop", "pages.hide_ranking", "judging.lease_minutes"} <= {one["name"] for one in shown}
    done = organiser.post("settings", {"changes": {one["name"]: one["value"] for one in shown}})
    assert done.json() == {"recorded": []}, done.text
    more = {"judging.lease_minutes": 5, "pages.hide_ranking": True, "judging.answers_per_assessor": 30.0}
    done = organiser.post("settings", {"changes": more})
    assert len(done.json()["recorded"]) == 3
    after = {one["name"]: one["value"] for one in organiser.get("/api/organise/settings").json()["settings"]}
    assert {name: after[name] for name in more} == more
    assert organiser.state()["hidden"]


def test_what_happened_is_told(make_client: Make) -> None:
    organiser = running(make_client(), answers=2)
    name = pseudonym_of(organiser, "Ann")
    organiser.post(f"people/{name}/pause", {"reason": "tired"})
    organiser.post("settings", {"changes": {"pages.title": "Songs"}})
    organiser.post("campaign", {"state": "paused", "reason": "lunch"})
    told = [one["text"] for one in organiser.get("/api/organise/changes").json()["changes"]]
    assert told[0] == "paused (lunch)"
    assert any("pages.title" in one for one in told)
    # Names never enter the log; they are put in where it is shown.
    assert "Ann was paused (tired)" in told
    assert "Ann" not in str(organiser.store.log().frame.to_dicts())


def test_who_took_an_answer_back_and_which_links_ended(make_client: Make) -> None:
    client = make_client()
    organiser, ann = Organiser(client), invited(client, "Ann")
    first, second = answer_some(ann, 2)
    assert ann.post("undo", {"id": second["id"], "key": new_key()}).status_code == 200
    name = pseudonym_of(organiser, "Ann")
    asked = {"assessor": name, "reason": "a mistake"}
    assert organiser.post(f"answers/{first['id']}/withdraw", asked).status_code == 200
    assert organiser.post(f"people/{name}/revoke").status_code == 200
    told = [one["text"] for one in organiser.get("/api/organise/changes").json()["changes"]]
    assert told[0] == "a link of Ann was ended"
    assert told[1].startswith("the organiser withdrew an answer of Ann about query")
    assert told[1].endswith("(a mistake)")
    assert told[2].startswith("Ann undid an answer about query")


@pytest.mark.parametrize(("kind", "part"), [("grade", "candidate 0"), ("order", "candidate 1"), ("lists", "first 0")])
def test_reports_are_listed_with_the_document(make_client: Make, kind: str, part: str) -> None:
    client = make_client(kind, pages__hide_ranking=True)
    organiser, ann = Organiser(client), invited(client, "Ann")
    question = ann.take(ahead=0)["questions"][0]
    said = {"id": question["id"], "key": new_key(), "part": part, "text": "it crackles"}
    assert ann.post("unplayable", said).status_code == 200
    question = ann.take(ahead=0)["questions"][0]
    assert ann.post("skip", {"id": question["id"], "key": new_key(), "text": "too long"}).status_code == 200
    question = ann.take(ahead=0)["questions"][0]
    said = {"id": question["id"], "key": new_key(), "part": "query", "text": None}
    assert ann.post("unplayable", said).status_code == 200
    found = organiser.get("/api/organise/reports")
    silent, skipped, crackles = found.json()["reports"]
    assert (crackles["kind"], crackles["name"], crackles["text"]) == ("unplayable", "Ann", "it crackles")
    assert crackles["document"].startswith("track")
    assert (skipped["kind"], skipped["text"]) == ("skipped", "too long")
    assert (silent["is_query"], silent["text"], silent["document"]) == (True, "", silent["query"])
    assert found.json()["counts"] == {"unplayable": 2, "skipped": 1}
    assert organiser.state()["counts"]["unplayable"] == 2
    assert not any(system in found.text for system in SYSTEMS)


def test_answers_have_the_labels_that_assessors_see(make_client: Make) -> None:
    organiser = Organiser(make_client())
    answer_some(invited(organiser.client), 1, gain=1, also=40)
    told = organiser.get("/api/organise/answers").json()
    assert told["scale"]["labels"] == ["Not similar", "Somewhat similar", "Very similar"]
    assert (told["also"], told["answers"][0]["details"]["also"]) == (None, 40)


def test_a_wrong_stop_rule_is_refused_in_plain_words(make_client: Make) -> None:
    for kind, wrong, said in (("grade", "men:0.9", "did you mean mean:0.95?"), ("order", "mean:0.9", "budget:200")):
        organiser = Organiser(make_client(kind))
        refused = organiser.post("settings", {"changes": {"estimates.stop": wrong}})
        assert refused.status_code == 400
        message = refused.json()["error"]["message"]
        assert said in message
        assert "))" not in message
        (field,) = [one for one in organiser.get("/api/organise/settings").json()["settings"] if one["examples"]]
        for example in field["examples"]:
            assert organiser.post("settings", {"changes": {field["name"]: example}}).status_code == 200
