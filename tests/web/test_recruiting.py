"""People of a recruiting platform: how they come, what they may do, and how they leave."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import Assessor, organiser_headers
from starlette.testclient import TestClient

from earmark.errors import StoreError
from earmark.store.links import revoke
from earmark.store.sittings import list_sittings
from earmark.store.store import Store
from earmark.web.catalogue import words
from earmark.web.limits import RateLimiter
from earmark.web.recruiting import origin_of

Clients = Callable[..., TestClient]
OWN = {"X-Earmark": "recruit"}
TURK = "https://workersandbox.mturk.com"
PROLIFIC = {"recruiting__platform": "prolific", "recruiting__answers_per_assignment": 3, "pages__sound_check": False}
MTURK = PROLIFIC | {"recruiting__platform": "mturk"}


def prolific(client: TestClient, person: str = "pid1", session: str = "s1", key: str = "this browser") -> Assessor:
    said = {"platform": "prolific", "worker": person, "assignment": session, "study": "study1", "key": key}
    made = client.post("/api/recruit/start", json=said, headers=OWN)
    assert made.status_code == 200, made.text
    return Assessor(client, made.json()["token"])


def mturk(client: TestClient, worker: str = "W1", assignment: str = "A1", submit_to: str = TURK) -> Assessor:
    said = {"platform": "mturk", "worker": worker, "assignment": assignment, "study": "H1", "submit_to": submit_to}
    made = client.post("/api/recruit/start", json=said, headers=OWN)
    assert made.status_code == 200, made.text
    return Assessor(client, made.json()["token"])


def work(who: Assessor, times: int = 3) -> None:
    for _ in range(times):
        assert who.answer(who.take(ahead=0)["questions"][0]).json()["status"] == "saved"


def session(who: Assessor) -> Any:
    return who.get("/api/judge/session").json()


def completion(who: Assessor) -> Any:
    return who.get("/api/judge/thanks").json()["completion"]


def sittings(client: TestClient) -> list[Any]:
    store = client.app.state.campaign.store  # type: ignore[attr-defined]
    return store.read(lambda connection: list_sittings(connection, store.campaign))


def policy(response: Any) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


# ---- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"platform": "mturk"}, "unknown"),
        ({"worker": "a b"}, "invalid"),
        ({"worker": None}, "invalid"),
        ({"colour": "blue"}, "invalid"),
        ({"worker": "rejected"}, "rejected"),
        ({"worker": "busy"}, "enough"),
        ({"worker": "revoked"}, "revoked"),
    ],
)
def test_every_refusal_is_said_in_the_language_of_the_page(
    make_client: Clients, said: dict[str, Any], code: str
) -> None:
    client = make_client("grade", **PROLIFIC, judging__answers_per_assessor=3)
    store = client.app.state.campaign.store  # type: ignore[attr-defined]
    prolific(client, "rejected", "s1")
    client.app.state.campaign.desk.reject(sittings(client)[0].assessor, "no reason")  # type: ignore[attr-defined]
    work(prolific(client, "busy", "s2"), 3)
    prolific(client, "revoked", "s3")
    revoke(store, next(one.assessor for one in sittings(client) if one.assignment == "s3"))
    start = {"platform": "prolific", "worker": "new", "assignment": "s9"} | said
    is_said(client, start, code)


@pytest.mark.parametrize(("state", "code"), [("paused", "paused"), ("stopped", "over"), ("closed", "over")])
def test_a_campaign_that_is_not_open_is_said_in_the_language_of_the_page(
    make_client: Clients, state: str, code: str
) -> None:
    client = make_client("grade", **PROLIFIC)
    client.app.state.campaign.desk.set_state(state)  # type: ignore[attr-defined]
    is_said(client, {"platform": "prolific", "worker": "new", "assignment": "s9"}, code)


def test_limits_are_said_in_the_language_of_the_page(make_client: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client("grade", **PROLIFIC)
    start = {"platform": "prolific", "worker": "new", "assignment": "s9"}
    is_said(client, start, "forbidden", headers={})

    def unable(*_: Any) -> Any:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "write", unable)
        is_said(client, start, "busy")
    monkeypatch.setattr(RateLimiter, "seconds_to_wait", lambda *_, **__: 1.0)
    is_said(client, start, "too_many")


def is_said(client: TestClient, start: dict[str, Any], code: str, headers: dict[str, str] = OWN) -> None:
    """Check the code of a refusal, and that the script has words for it in every language."""
    refused = client.post("/api/recruit/start", json=start, headers=headers)
    assert refused.json()["error"]["code"] == code, refused.text
    english, spanish = (words(language, "recruit")[f"refused_{code}"] for language in ("en", "es"))
    assert english != spanish
    script = (Path(str(files("earmark.web"))) / "static" / "recruit" / "recruit.js").read_text()
    # What the server says itself is English.
    assert "error?.message" not in script
    assert "{" not in words("en", "recruit")["refused"]


# ---- Prolific --------------------------------------------------------------------------------------------------------


def test_opening_the_address_changes_nothing_and_says_what_it_pays(make_client: Clients) -> None:
    pay = {"recruiting__reward": 1.5, "recruiting__currency": "GBP", "recruiting__seconds_per_answer": 60}
    client = make_client("grade", **PROLIFIC, **pay)
    address = "/recruit/prolific?PROLIFIC_PID=5f0c&STUDY_ID=64aa&SESSION_ID=77bb"
    for _ in range(2):
        page = client.get(address)
        assert page.status_code == 200
    assert "1.50 GBP, which is 30.00 GBP an hour" in page.text
    assert "about 3 minutes" in page.text
    assert 'id="start"' in page.text
    assert '"worker": "5f0c"' in page.text.replace("&#34;", '"')
    assert policy(page)["frame-ancestors"] == "'none'"
    assert "set-cookie" not in page.headers
    assert sittings(client) == []
    # The other languages keep who somebody is.
    assert re.search(r'href="\?PROLIFIC_PID=5f0c&amp;STUDY_ID=64aa&amp;SESSION_ID=77bb&amp;language=es"', page.text)
    assert "Empezar" in client.get(f"{address}&language=es").text


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("", "Something is missing in the address"),
        ("?PROLIFIC_PID=", "Something is missing in the address"),
        ("?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}", "Something is missing in the address"),
        ("?PROLIFIC_PID=a b&SESSION_ID=1", "The address is not complete"),
        ("?PROLIFIC_PID=<script>alert(1)</script>", "The address is not complete"),
        ("?PROLIFIC_PID=" + "a" * 300, "The address is not complete"),
        ("?PROLIFIC_PID=a&SESSION_ID=%00", "The address is not complete"),
    ],
)
def test_odd_addresses_are_answered_in_words(make_client: Clients, parameters: str, said: str) -> None:
    page = make_client("grade", **PROLIFIC).get(f"/recruit/prolific{parameters}")
    assert page.status_code == 400
    assert said in page.text
    assert 'id="start"' not in page.text
    assert "<script>alert" not in page.text


def test_parameters_may_be_spelt_in_small_letters_and_the_session_may_be_missing(make_client: Clients) -> None:
    page = make_client("grade", **PROLIFIC).get("/recruit/prolific?prolific_pid=p1&study_id=s1")
    assert page.status_code == 200
    assert '"assignment": "s1:p1"' in page.text


def test_a_platform_that_is_not_used_is_closed(make_client: Clients) -> None:
    client = make_client("grade")
    assert client.get("/recruit/prolific?PROLIFIC_PID=a&SESSION_ID=b").status_code == 404
    said = {"platform": "prolific", "worker": "a", "assignment": "b"}
    assert client.post("/api/recruit/start", json=said, headers=OWN).status_code == 404
    assert make_client("grade", **PROLIFIC).get("/recruit/mturk?assignmentId=A").status_code == 404


def test_other_sites_cannot_begin_work(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC)
    said = {"platform": "prolific", "worker": "a", "assignment": "b"}
    assert client.post("/api/recruit/start", json=said).status_code == 403
    foreign = OWN | {"Origin": "https://elsewhere.example"}
    assert client.post("/api/recruit/start", json=said, headers=foreign).status_code == 403
    assert sittings(client) == []


def test_work_ends_after_the_answers_of_an_assignment(make_client: Clients) -> None:
    url = "https://app.prolific.com/submissions/complete?cc=C1"
    client = make_client("grade", **PROLIFIC, recruiting__completion_url=url, recruiting__completion_code="C1")
    ann = prolific(client)
    assert session(ann)["progress"] == {"answers": 0, "limit": 3}
    work(ann, 2)
    assert completion(ann) is None
    assert session(ann)["state"] == "open"
    work(ann, 1)
    assert session(ann)["state"] == "enough"
    assert session(ann)["progress"] == {"answers": 3, "limit": 3}
    assert ann.take()["reason"] == "enough"
    assert completion(ann) == {"url": url, "code": None, "submit": None}
    (sitting,) = sittings(client)
    assert sitting.ended is not None


def test_no_more_is_reserved_than_belongs_to_the_assignment(make_client: Clients) -> None:
    ann = prolific(make_client("grade", **PROLIFIC))
    work(ann, 2)
    assert len(ann.take(ahead=2)["questions"]) == 1


def test_an_id_that_comes_back_goes_on_with_its_own_work(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC, recruiting__completion_code="C1")
    first = prolific(client)
    asked = {first.take(ahead=0)["questions"][0]["candidates"][0]["parts"][0]["media"]}
    work(first, 2)
    again = prolific(client)
    # In the same browser, work has the same link.
    assert again.token == first.token
    assert session(again)["progress"] == {"answers": 2, "limit": 3}
    work(again, 1)
    assert completion(again) == completion(first) == {"url": None, "code": "C1", "submit": None}
    # A second assignment has new questions.
    second = prolific(client, session="s2")
    assert session(second)["progress"] == {"answers": 0, "limit": 3}
    assert session(second)["state"] == "open"
    more = second.take(ahead=0)["questions"][0]
    assert more["candidates"][0]["parts"][0]["media"] not in asked
    work(second, 3)
    assert session(second)["state"] == "enough"
    assert [one.assignment for one in sittings(client)] == ["s1", "s2"]
    assert len({one.assessor for one in sittings(client)}) == 1
    # Somebody else is somebody else.
    assert session(prolific(client, "pid2", "s3"))["progress"]["answers"] == 0
    assert len({one.assessor for one in sittings(client)}) == 2


def test_work_has_one_link_at_a_time(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC)
    first, other = prolific(client), prolific(client, session="s2")
    elsewhere = prolific(client, key="another browser")
    assert elsewhere.token not in (first.token, other.token)
    assert first.get("/api/judge/session").status_code == 401
    assert other.get("/api/judge/session").status_code == 200
    assert prolific(client, key="another browser").token == elsewhere.token
    # Back in the first one, the link is new again, and whoever knows no key gets none of these.
    back = prolific(client)
    assert back.token not in (first.token, elsewhere.token)
    said = {"platform": "prolific", "worker": "pid1", "assignment": "s1"}
    without = client.post("/api/recruit/start", json=said, headers=OWN).json()["token"]
    assert without not in (first.token, elsewhere.token, back.token)
    assert [one.get("/api/judge/session").status_code for one in (first, elsewhere, back)] == [401] * 3


def test_work_that_was_left_for_another_one_is_taken_up_again(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC)
    work(prolific(client, session="s1"), 2)
    work(prolific(client, session="s2"), 3)
    back = prolific(client, session="s1")
    assert session(back)["progress"] == {"answers": 2, "limit": 3}
    work(back, 1)
    assert session(back)["state"] == "enough"
    assert all(one.ended for one in sittings(client))


def test_taking_back_the_last_answer_opens_the_work_again(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC, recruiting__completion_code="C1")
    ann = prolific(client)
    work(ann, 2)
    question = ann.take(ahead=0)["questions"][0]
    ann.answer(question)
    assert completion(ann) is not None
    undone = ann.post("undo", {"id": question["id"], "key": "undo key 1"}).json()
    assert undone["progress"] == {"answers": 2, "limit": 3}
    assert completion(ann) is None
    assert session(ann)["state"] == "open"
    ann.answer(undone["question"])
    assert completion(ann) is not None


def test_who_runs_out_of_questions_may_hand_in(make_client: Clients) -> None:
    many = PROLIFIC | {"recruiting__answers_per_assignment": 1000, "recruiting__completion_code": "C1"}
    client = make_client("order", **many)
    ann = prolific(client)
    assert completion(ann) is None
    found = ann.take()
    while found["questions"]:
        ann.answer(found["questions"][0])
        found = ann.take()
    assert found["reason"] in ("done", "wait")
    assert completion(ann)["code"] == "C1"
    assert session(ann)["state"] == "enough"
    late = prolific(client, "pid2", "s2")
    client.app.state.campaign.desk.set_state("stopped", "enough")  # type: ignore[attr-defined]
    assert completion(late) is None, "nothing was done"
    refused = client.post(
        "/api/recruit/start", json={"platform": "prolific", "worker": "pid3", "assignment": "s3"}, headers=OWN
    )
    assert refused.json()["error"]["code"] == "over"
    assert "The listening test is over" in client.get("/recruit/prolific?PROLIFIC_PID=p&SESSION_ID=s").text


def test_who_is_rejected_or_has_done_enough_gets_no_new_work(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC, judging__answers_per_assessor=3)
    work(prolific(client), 3)
    again = {"platform": "prolific", "worker": "pid1", "assignment": "s2"}
    assert client.post("/api/recruit/start", json=again, headers=OWN).json()["error"]["code"] == "enough"
    campaign = client.app.state.campaign  # type: ignore[attr-defined]
    campaign.desk.reject(sittings(client)[0].assessor, "did not listen")
    assert client.post("/api/recruit/start", json=again, headers=OWN).json()["error"]["code"] == "rejected"
    # What was begun can still be looked at.
    assert session(prolific(client))["state"] == "rejected"


def test_only_https_is_led_to(make_client: Clients) -> None:
    client = make_client("grade", **PROLIFIC, recruiting__completion_url="http://app.prolific.com/x")
    ann = prolific(client)
    work(ann, 3)
    assert completion(ann) is None


def test_people_who_come_by_links_are_not_touched(make_client: Clients) -> None:
    from served import invited

    ann = invited(make_client("grade", **PROLIFIC))
    assert session(ann)["progress"] == {"answers": 0, "limit": None}
    work(ann, 4)
    assert completion(ann) is None
    assert policy(ann.client.get(f"/judge/{ann.token}"))["frame-ancestors"] == "'none'"


# ---- Mechanical Turk -------------------------------------------------------------------------------------------------


def address(**parameters: str) -> str:
    usual = {"assignmentId": "A1", "hitId": "H1", "workerId": "W1", "turkSubmitTo": TURK}
    return "/recruit/mturk?" + "&".join(f"{name}={value}" for name, value in (usual | parameters).items() if value)


def test_a_preview_shows_the_work_and_begins_nothing(make_client: Clients) -> None:
    client = make_client("grade", **MTURK, recruiting__reward=2)
    page = client.get(address(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", workerId=""))
    assert page.status_code == 200
    assert "Accept the task to begin" in page.text
    assert "2.00 USD" in page.text
    assert 'id="start"' not in page.text
    said = {"platform": "mturk", "worker": "W1", "assignment": "ASSIGNMENT_ID_NOT_AVAILABLE", "submit_to": TURK}
    assert client.post("/api/recruit/start", json=said, headers=OWN).status_code == 400
    assert sittings(client) == []


def test_pages_may_be_framed_by_the_platform_alone(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    ancestors = policy(client.get(address()))["frame-ancestors"].split()
    assert set(ancestors) == {
        "https://www.mturk.com",
        "https://worker.mturk.com",
        "https://requester.mturk.com",
        "https://workersandbox.mturk.com",
        "https://requestersandbox.mturk.com",
    }
    worker = mturk(client)
    page = client.get(f"/judge/{worker.token}")
    assert policy(page)["frame-ancestors"].split() == ancestors
    assert policy(page)["form-action"] == f"'self' {TURK} https://requestersandbox.mturk.com"
    assert policy(page)["script-src"] == "'self'"
    assert "set-cookie" not in page.headers


@pytest.mark.parametrize(
    "submit_to",
    [
        "https://evil.example",
        "http://workersandbox.mturk.com",
        "https://workersandbox.mturk.com.evil.example",
        "https://workersandbox.mturk.com@evil.example",
        "https://workersandbox.mturk.com:8443",
        "https://evil.example/https://workersandbox.mturk.com",
        "https://workersandbox.mturk.com/mturk/other",
        "https://evil.example%23workersandbox.mturk.com",
        "javascript:alert(1)",
        "//workersandbox.mturk.com",
    ],
)
def test_work_is_sent_to_addresses_of_the_list_alone(make_client: Clients, submit_to: str) -> None:
    client = make_client("grade", **MTURK)
    page = client.get(address(turkSubmitTo=submit_to.replace("%", "%25")))
    assert page.status_code == 400
    assert "This does not come from the platform" in page.text
    said = {"platform": "mturk", "worker": "W1", "assignment": "A1", "submit_to": submit_to}
    assert client.post("/api/recruit/start", json=said, headers=OWN).status_code == 400
    assert sittings(client) == []


def test_origins_are_compared_as_browsers_do() -> None:
    assert origin_of("https://WWW.mturk.com:443/") == "https://www.mturk.com"
    assert origin_of("http://127.0.0.1:9000") == "http://127.0.0.1:9000"
    for odd in (
        "",
        "www.mturk.com",
        "http://www.mturk.com",
        "https://a b",
        "https://x:99999",
        "https://[::1",
        "https://ü.example",
    ):
        assert origin_of(odd) is None, odd


def test_the_end_is_a_form_for_the_address_that_was_given(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    worker = mturk(client, submit_to=f"{TURK}/")
    work(worker, 3)
    assert completion(worker) == {
        "url": None,
        "code": None,
        "submit": {"url": f"{TURK}/mturk/externalSubmit", "fields": {"assignmentId": "A1", "answers": "3"}},
    }


def test_an_assignment_that_was_returned_goes_to_the_next_worker(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    first = mturk(client, "W1", "A1")
    work(first, 2)
    second = mturk(client, "W2", "A1")
    work(second, 3)
    assert completion(second)["submit"]["fields"]["assignmentId"] == "A1"
    assert session(first)["progress"] == {"answers": 2, "limit": 3}
    assert [(one.assignment, one.ended is None) for one in sittings(client)] == [("A1", True), ("A1", False)]


def test_each_window_submits_its_own_assignment(make_client: Clients) -> None:
    client = make_client("grade", **MTURK | {"recruiting__answers_per_assignment": 4})
    one = mturk(client, "W1", "A1")
    work(one, 2)
    two = mturk(client, "W1", "A2", submit_to="https://www.mturk.com")
    work(two, 2)
    assert (session(one)["progress"]["answers"], session(two)["progress"]["answers"]) == (2, 2)
    # The window of the first assignment is still open, and the work is finished there.
    work(one, 2)
    assert session(one)["state"] == "enough"
    assert one.take()["reason"] == "enough"
    assert completion(one)["submit"] == {
        "url": f"{TURK}/mturk/externalSubmit",
        "fields": {"assignmentId": "A1", "answers": "4"},
    }
    assert policy(client.get(f"/judge/{one.token}"))["form-action"].split()[1] == TURK
    assert completion(two) is None
    assert session(two)["progress"] == {"answers": 2, "limit": 4}
    assert session(two)["state"] == "open"
    rows = client.get("/api/organise/payments", headers=organiser_headers(client)).json()["payments"]
    assert [(row["assignment"], row["answers"], row["decision"]) for row in rows] == [
        ("A1", 4, "approve"),
        ("A2", 2, "unfinished"),
    ]
    work(two, 2)
    assert completion(two)["submit"]["fields"] == {"assignmentId": "A2", "answers": "4"}
    assert all(one.ended for one in sittings(client))


def test_a_question_that_both_windows_show_counts_once(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    one, two = mturk(client, "W1", "A1"), mturk(client, "W1", "A2")
    shown = one.take(ahead=0)["questions"][0]
    assert two.take(ahead=0)["questions"][0]["id"] == shown["id"]
    assert one.answer(shown).json()["progress"]["answers"] == 1
    said = two.answer(shown).json()
    assert (said["status"], said["progress"]["answers"]) == ("elsewhere", 0)
    assert session(one)["progress"]["answers"] == 1


def test_a_window_whose_work_is_done_asks_nothing_that_is_out_for_another_one(make_client: Clients) -> None:
    client = make_client("grade", **MTURK | {"recruiting__answers_per_assignment": 2})
    one, two = mturk(client, "W1", "A1"), mturk(client, "W1", "A2")
    work(one, 1)
    # The other window has more to do, and reserves more than this one needs.
    reserved = two.take(ahead=1)["questions"]
    assert len(reserved) == 2
    asked = one.take(ahead=1)
    assert [question["id"] for question in asked["questions"]] == [reserved[0]["id"]]
    assert one.answer(asked["questions"][0]).json()["progress"] == {"answers": 2, "limit": 2}
    done = one.take(ahead=1)
    assert (done["questions"], done["reason"]) == ([], "enough")
    assert completion(one)["submit"]["fields"] == {"assignmentId": "A1", "answers": "2"}
    # An answer to what the first window answered is told, does not count, and the work goes on.
    assert two.answer(reserved[0]).json()["status"] == "elsewhere"
    assert two.take()["questions"][0]["id"] == reserved[1]["id"]
    work(two, 2)
    assert completion(two)["submit"]["fields"] == {"assignmentId": "A2", "answers": "2"}


def test_a_link_of_the_organiser_is_for_the_work_that_was_done_last(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    headers = organiser_headers(client)
    work(mturk(client, "W1", "A1"), 1)
    work(mturk(client, "W1", "A2"), 3)
    who = sittings(client)[0].assessor
    made = client.post(f"/api/organise/people/{who}/new-link", headers=headers)
    token = made.json()["invitations"][0]["link"].rsplit("/", 1)[1]
    assert completion(Assessor(client, token))["submit"]["fields"]["assignmentId"] == "A2"


def test_whose_links_were_revoked_gets_none_before_there_is_a_new_one(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    headers = organiser_headers(client)
    one = mturk(client, "W1", "A1")
    work(one, 1)
    who = sittings(client)[0].assessor
    assert client.post(f"/api/organise/people/{who}/revoke", headers=headers).status_code == 200
    assert one.get("/api/judge/session").status_code == 401
    for assignment in ("A1", "A2"):
        said = {"platform": "mturk", "worker": "W1", "assignment": assignment, "study": "H1", "submit_to": TURK}
        refused = client.post("/api/recruit/start", json=said, headers=OWN)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "revoked")
    assert "refused_revoked" in words("en", "recruit")
    assert [one.assignment for one in sittings(client)] == ["A1"]
    # Others are not concerned, and a new link lets the person in again.
    mturk(client, "W2", "A3")
    assert client.post(f"/api/organise/people/{who}/new-link", headers=headers).status_code == 200
    again = mturk(client, "W1", "A1")
    assert again.token != one.token
    assert session(again)["progress"]["answers"] == 1


def test_many_links_give_nobody_more_requests(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    client.app.state.limiter = RateLimiter(per_second=0.001, burst=10)  # type: ignore[attr-defined]
    found = [mturk(client, "W1", f"A{number}").get("/api/judge/session").status_code for number in range(12)]
    assert found == [200] * 10 + [429] * 2
    assert mturk(client, "W2", "B1").get("/api/judge/session").status_code == 200


def test_missing_and_odd_parameters_of_turk(make_client: Clients) -> None:
    client = make_client("grade", **MTURK)
    for wrong in ({"assignmentId": ""}, {"workerId": ""}, {"turkSubmitTo": ""}, {"assignmentId": "A<1"}):
        page = client.get(address(**wrong))
        assert page.status_code == 400
        assert 'id="start"' not in page.text


def test_whatever_an_address_holds_is_answered(make_client: Clients) -> None:
    clients = {"mturk": make_client("grade", **MTURK), "prolific": make_client("grade", **PROLIFIC)}
    names = ["assignmentId", "hitId", "workerId", "turkSubmitTo", "PROLIFIC_PID", "SESSION_ID", "STUDY_ID", "language"]
    values = st.one_of(st.text(max_size=40), st.sampled_from([TURK, "A1", "https://[::1", "https://a:b", "%00", "es"]))

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(st.sampled_from(sorted(clients)), st.dictionaries(st.sampled_from(names), values))
    def run(platform: str, parameters: dict[str, str]) -> None:
        page = clients[platform].get(f"/recruit/{platform}?{urlencode(parameters, errors='replace')}")
        assert page.status_code in (200, 400), page.text
        said = {"platform": platform, "worker": parameters.get("workerId", "w"), "assignment": "a", "submit_to": TURK}
        said |= {name: parameters[name] for name in ("language",) if name in parameters}
        body = json.dumps(said, ensure_ascii=True)
        made = clients[platform].post(
            "/api/recruit/start", content=body, headers=OWN | {"Content-Type": "application/json"}
        )
        assert made.status_code in (200, 422), made.text

    run()


# ---- the organiser ---------------------------------------------------------------------------------------------------


def test_the_organiser_sees_budget_and_payments(make_client: Clients) -> None:
    pay = {"recruiting__reward": 0.5, "recruiting__hourly_rate": 12, "recruiting__seconds_per_answer": 60}
    client = make_client("grade", **MTURK, **pay)
    headers = organiser_headers(client)
    assert client.get("/organise/payments.csv").status_code == 401
    assert client.get("/api/organise/payments").status_code == 401
    page = client.get("/organise/recruiting", headers=headers)
    assert page.status_code == 200, page.text
    assert "http://testserver/recruit/mturk" in page.text
    assert "&lt;ExternalQuestion" in page.text
    assert "0.10 USD too small" in page.text
    work(mturk(client), 3)
    work(mturk(client, "W2", "A2"), 1)
    told = client.get("/api/organise/payments", headers=headers).json()
    assert {name: told["summary"][name] for name in ("approve", "reject", "unfinished", "owed")} == {
        "approve": 1,
        "reject": 0,
        "unfinished": 1,
        "owed": 0.5,
    }
    assert [row["worker"] for row in told["payments"]] == ["W1", "W2"]
    review = client.get("/organise/payments.csv", headers=headers)
    assert review.text == "AssignmentId,WorkerId,HITId,Approve,Reject\nA1,W1,H1,x,\n"
    assert review.headers["content-disposition"] == 'attachment; filename="review.csv"'
    assert client.get("/organise/payments.csv?what=bonuses", headers=headers).text.startswith("WorkerId,AssignmentId")
    budget = client.get("/api/organise/budget?answers=7", headers=headers).json()
    assert (budget["assignments"], budget["cost"], budget["missing"]) == (3, 1.5, 0.1)
    assert [(row["worker"], row["assignments"], row["answers"], row["owed"]) for row in told["workers"]] == [
        ("W1", 1, 3, 0.5),
        ("W2", 1, 1, 0.0),
    ]
    assert told["workers"][0]["hourly"] > 0
    table = client.get("/organise/payments.csv?what=workers", headers=headers)
    assert table.headers["content-disposition"] == 'attachment; filename="workers.csv"'
    assert table.text.startswith("worker,assessor,assignments,")


def test_a_file_for_the_platform_lists_what_is_new(make_client: Clients) -> None:
    client = make_client("grade", **MTURK, recruiting__reward=0.5, recruiting__hourly_rate=100_000)
    headers = organiser_headers(client)
    header = "AssignmentId,WorkerId,HITId,Approve,Reject\n"

    def look(every: bool = False) -> str:
        return client.get(f"/organise/payments.csv?every={every}", headers=headers).text

    def make(what: str = "review", every: bool = False) -> str:
        made = client.post("/api/organise/payments/file", json={"what": what, "every": every}, headers=headers)
        assert made.status_code == 200, made.text
        return made.text

    work(mturk(client, "W1", "A1"), 3)
    # Looking changes nothing, nor does a request of another site.
    assert look() == look() == f"{header}A1,W1,H1,x,\n"
    bare = {name: value for name, value in headers.items() if name != "X-Earmark"}
    refused = client.post("/api/organise/payments/file", json={"what": "review"}, headers=bare)
    assert refused.status_code in (401, 403)
    assert make() == f"{header}A1,W1,H1,x,\n"
    assert make() == look() == header
    assert make(every=True) == look(every=True) == f"{header}A1,W1,H1,x,\n"
    client.app.state.campaign.desk.reject(sittings(client)[0].assessor, "too fast")  # type: ignore[attr-defined]
    assert look(every=True) == f"{header}A1,W1,H1,x,\n"
    assert make("bonuses").splitlines()[1].startswith("W1,A1,")
    assert len(make("bonuses").splitlines()) == 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "If every question is asked, {least} answers are needed, including traps."),
        ({"judging__judgments_per_item": 2}, "{least} answers are needed where people agree and up to {most} where"),
        ({"estimates__stop": "budget:4"}, "Until the budget of the stop rule (4) is used up, 4 answers are needed"),
        (
            {"estimates__stop": "budget:4", "judging__judgments_per_item": 2, "judging__more_on_disagreement": 1},
            "Until the budget of the stop rule (4) is used up, 8 answers are needed where people agree and up to 12",
        ),
    ],
)
def test_the_panel_says_how_many_answers_may_be_needed(make_client: Clients, how: dict[str, Any], said: str) -> None:
    client = make_client("grade", **MTURK, **how)
    headers = organiser_headers(client)
    left = client.get("/api/organise/budget", headers=headers).json()
    assert left["answers"] == left["left"]["most"]
    page = client.get("/organise/recruiting", headers=headers).text
    assert said.format(**left["left"]) in page
    assert f'value="{left["answers"]}"' in page


def test_the_page_of_the_organiser_without_a_platform(make_client: Clients) -> None:
    client = make_client("grade")
    headers = organiser_headers(client)
    page = client.get("/organise/recruiting?language=es", headers=headers)
    assert page.status_code == 200, page.text
    assert "recruiting.platform=prolific" in page.text
    assert client.get("/organise/payments.csv", headers=headers).status_code == 409
    assert client.get("/organise/payments.csv?what=workers", headers=headers).status_code == 200


# ---- words -----------------------------------------------------------------------------------------------------------


def test_every_word_that_is_used_is_there_in_every_language() -> None:
    english, spanish = words("en", "recruit"), words("es", "recruit")
    fields = re.compile(r"\{\w+\}")
    for name, text in english.items():
        assert spanish[name] != "", name
        assert sorted(fields.findall(spanish[name])) == sorted(fields.findall(text)), name
    static = files("earmark.web").joinpath("static", "recruit")
    used = {key for file in static.iterdir() for key in re.findall(r'\bt\(\s*"(\w+)"', file.read_text())}
    used |= set(re.findall(r"\bwords\.(\w+)", static.joinpath("recruit.js").read_text()))
    pages = files("earmark.pages").joinpath("templates", "web")
    used |= set(re.findall(r"\bsay\.(\w+)", pages.joinpath("organise_recruiting.html.jinja").read_text()))
    used |= set(re.findall(r"\bwords\.(\w+)", pages.joinpath("recruit.html.jinja").read_text()))
    assert used
    assert used <= set(english)
