"""What an organiser sees: pages, the state of the dashboard, pictures, files; and that nobody else sees any of it."""

from __future__ import annotations

import io
import json
import re
import tomllib
import zipfile
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from fastapi.routing import APIRoute
from organised import Organiser, answer_some, pseudonym_of, running
from served import SYSTEMS, invited, open_client
from starlette.testclient import TestClient

from earmark.campaign.campaign import Campaign
from earmark.store.folder import CampaignFolder
from earmark.store.overview import answers_page, newest_estimate
from earmark.store.schema import assignments, estimates
from earmark.store.status import status_of
from earmark.store.stored import read_stored
from earmark.web import organiser as pages
from earmark.web.catalogue import LANGUAGES, words
from earmark.web.limits import RateLimiter

Make = Callable[..., TestClient]

_PATHS = {
    "name": "ranking",
    "ending": "csv",
    "what": "judgments",
    "assessor": "a-22222222",
    "id": "x",
    "action": "pause",
}


def routes(client: TestClient) -> list[APIRoute]:
    found = [one for one in _flat(client.app.routes) if isinstance(one, APIRoute)]  # type: ignore[attr-defined]
    return [one for one in found if re.match(r"/(api/)?organise", one.path)]


def _flat(some: list[object]) -> list[object]:
    """Return routes, and those of routers within."""
    return [one for route in some for one in ([route] if isinstance(route, APIRoute) else _inner(route))]


def _inner(route: object) -> list[object]:
    router = getattr(route, "original_router", None) or getattr(route, "router", None)
    return [] if router is None else _flat(router.routes)


# ---- who may see it --------------------------------------------------------------------------------------------------


def test_nobody_else_sees_anything(make_client: Make) -> None:
    client = make_client()
    known = routes(client)
    assert len(known) > 20
    for route in known:
        if route.path in ("/api/organise/session", "/api/organise/leave"):
            continue
        address = route.path.format(**_PATHS)
        for method in sorted(route.methods):
            # Whoever guesses has to wait; that is not what is tested here.
            client.app.state.limiter = RateLimiter()  # type: ignore[attr-defined]
            body = {"json": {}} if method == "POST" else {}
            found = client.request(method, address, headers={"X-Earmark": "organiser"}, **body)
            assert found.status_code == 401, f"{method} {address}: {found.status_code}"
            assert not any(system in found.text for system in SYSTEMS)


def test_an_assessor_is_no_organiser(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    assert who.get("/api/organise/state").status_code == 401
    assert who.get("/organise/export/log.csv").status_code == 401


def test_signing_in_and_out(make_client: Make) -> None:
    client = make_client()
    assert "sign-in.js" in client.get("/organise").text
    organiser = Organiser(client)
    page = organiser.get("/organise")
    assert page.status_code == 200
    assert "results.js" in page.text
    assert client.post("/api/organise/leave", headers={"X-Earmark": "organiser"}).status_code == 200
    assert client.get("/organise").status_code == 401


def test_a_new_link_ends_the_old_one(make_client: Make) -> None:
    client = make_client()
    first = Organiser(client)
    second = Organiser(client)
    client.cookies.clear()
    for organiser, status in ((first, 401), (second, 200)):
        headers = {"Authorization": f"Bearer {organiser.secret}"}
        assert client.get("/api/organise/state", headers=headers).status_code == status


def test_pages_have_no_inline_script_or_style(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    for name in pages.PAGES:
        page = organiser.get("/organise" if name == "results" else f"/organise/{name}")
        assert page.status_code == 200, name
        assert " style=" not in page.text
        assert "<style" not in page.text
        assert not re.search(r"\son\w+=", page.text)
        scripts = re.findall(r"<script([^>]*)>", page.text)
        assert all("src=" in one or "application/json" in one for one in scripts)
        assert "unsafe" not in page.headers["content-security-policy"]


def test_pages_are_translated(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    page = organiser.get("/organise/people?language=es").text
    assert '<html lang="es">' in page
    assert words("es", "organise")["people_title"] in page


def test_languages_have_the_same_words() -> None:
    english = words("en", "organise")
    for language in LANGUAGES:
        own = tomllib.loads(files("earmark.web").joinpath("texts", f"{language}.toml").read_text("utf-8"))["organise"]
        assert set(own) == set(english), language
        for key, text in own.items():
            names = set(re.findall(r"\{(\w+)\}", text))
            assert names == set(re.findall(r"\{(\w+)\}", english[key])), f"{language}: {key}"


def test_every_word_that_a_page_uses_is_there() -> None:
    known = words("en", "organise")
    static = files("earmark.web").joinpath("static", "organise")
    for file in static.iterdir():
        if file.name.endswith(".js"):
            for key in re.findall(r"""\bt\(\s*"(\w+)["]""", file.read_text()):
                assert key in known, f"{file.name}: {key}"


# ---- the dashboard ---------------------------------------------------------------------------------------------------


def test_the_state_of_a_new_campaign(make_client: Make) -> None:
    organiser = Organiser(make_client())
    state = organiser.state()
    assert state["verdict"] is None
    assert state["ranking"] is None
    assert state["counts"]["judged"] == 0
    assert state["pace"]["per_hour"] is None
    assert state["assessors"] == []


def test_the_state_follows_the_answers(make_client: Make) -> None:
    organiser = running(make_client(pages__look_early=True), answers=8)
    state = organiser.state()
    assert {row["system"] for row in state["ranking"]["rows"]} == set(SYSTEMS)
    assert [row["rank"] for row in state["ranking"]["rows"]] == sorted(row["rank"] for row in state["ranking"]["rows"])
    assert len(state["pairs"]) == 3
    assert state["verdict"]["headline"].endswith(".")
    assert state["counts"]["answers"] == organiser.store.log().position
    assert state["counts"]["remaining"] == state["counts"]["questions"] - state["counts"]["judged"]
    assert {row["name"] for row in state["assessors"]} == {"Ann", "Bob"}
    assert {"ranking", "pairs", "confidence"} <= set(state["figures"])
    assert state["progress"]["target"] == 0.95


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
@pytest.mark.parametrize("per_item", [1, 2])
def test_what_is_judged_is_counted_as_the_stop_rule_counts_it(make_client: Make, kind: str, per_item: int) -> None:
    settings = {"estimates__stop": "none"}
    if kind != "prefer":
        settings |= {"judging__judgments_per_item": per_item}  # type: ignore[dict-item]
    organiser = running(make_client(kind, **settings), answers=3, people=("Ann",))
    for name in ("", "Bob"):
        if name:
            answer_some(invited(organiser.client, name), 2)
            organiser.estimate()
        state = organiser.state()
        counts, progress = state["counts"], state["progress"]
        assert (counts["judged"], counts["questions"]) == (progress["value"], progress["target"])
        # One unit for what is left and for how long it takes: answers.
        assert counts["remaining"] == counts["missing"]
        # The campaign goes on until nothing is missing.
        assert state["campaign"]["state"] == "open" or counts["missing"] == 0
        if counts["missing"]:
            assert state["pace"]["end"]["more"] == counts["remaining"]
            assert state["pace"]["end"]["all"]["judgments"] == counts["remaining"]
    if kind == "order" and per_item == 2:
        assert (counts["answered"], counts["judged"]) == (3, 2)


@pytest.mark.parametrize(
    ("kind", "budget", "left"), [("grade", 5, 4), ("prefer", 5, 2), ("order", 5, 2), ("lists", 5, 2)]
)
def test_what_is_left_of_a_budget_is_counted_in_answers(make_client: Make, kind: str, budget: int, left: int) -> None:
    # Two people judge everything, but for pairs; three answers are there.
    each = {} if kind == "prefer" else {"judging__judgments_per_item": 2}
    organiser = running(make_client(kind, estimates__stop=f"budget:{budget}", **each), answers=3, people=("Ann",))
    counts, end = organiser.state()["counts"], organiser.state()["pace"]["end"]
    assert (counts["answers"], counts["budget"], counts["remaining"], end["more"]) == (3, budget, left, left)


def test_a_campaign_without_missing_answers_says_so(make_client: Make) -> None:
    organiser = running(make_client("order", judging__judgments_per_item=1), answers=3, people=("Ann",))
    organiser.campaign.desk.set_state("open")
    end = organiser.state()["pace"]["end"]
    assert (organiser.state()["counts"]["remaining"], end["how"], end["likely"], end["all"]) == (
        0,
        "complete",
        None,
        None,
    )


def test_nothing_is_ranked_before_the_first_judgment(make_client: Make) -> None:
    organiser = Organiser(make_client(pages__look_early=True))
    organiser.estimate()
    state = organiser.state()
    assert state["estimated"] is not None
    assert state["unjudged"]
    assert (state["verdict"], state["ranking"], state["pairs"], state["guarantee"]) == (None, None, None, None)
    assert (state["figures"], state["progress"]["value"], state["progress"]["reason"]) == ([], None, "")
    answer_some(invited(organiser.client), 2)
    organiser.estimate()
    state = organiser.state()
    assert not state["unjudged"]
    assert state["ranking"]["rows"]


def test_which_looks_a_number_is_valid_for(make_client: Make) -> None:
    organiser = running(make_client(pages__look_early=True), answers=2)
    assert (organiser.state()["progress"]["anytime"], organiser.state()["verdict"]["anytime"]) == (False, False)
    assert organiser.state()["verdict"]["basis"] == {"by": "model", "about": "these", "other": None}
    organiser = running(make_client("lists"), answers=2)
    assert (organiser.state()["progress"]["anytime"], organiser.state()["verdict"]["anytime"]) == (True, True)
    assert organiser.state()["verdict"]["basis"]["by"] == "sequence"


def test_nobody_is_at_work_without_a_link_or_after_the_end(make_client: Make) -> None:
    client = make_client()
    organiser, ann, bob = Organiser(client), invited(client, "Ann"), invited(client, "Bob")
    for who in (ann, bob):
        who.take()

    def at_work() -> tuple[int, set[str]]:
        state = organiser.state()
        return state["counts"]["at_work"], {row["name"] for row in state["assessors"] if row["out"]}

    assert at_work() == (2, {"Ann", "Bob"})
    assert organiser.post(f"people/{pseudonym_of(organiser, 'Ann')}/revoke").status_code == 200
    assert at_work() == (1, {"Bob"})
    assert organiser.post("campaign", {"state": "closed"}).status_code == 200
    assert at_work() == (0, set())


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_every_kind_has_its_dashboard(make_client: Make, kind: str) -> None:
    organiser = running(make_client(kind, pages__look_early=True), answers=4, people=("Ann", "Bob", "Eve"))
    state = organiser.state()
    assert state["verdict"] is not None
    assert state["campaign"]["kind"] == kind
    assert (state["ranking"] is None) == (kind == "order")
    assert (state["orders"] is not None) == (kind == "order")
    assert (state["precision"] is not None) == (kind == "prefer")
    for name in state["figures"]:
        assert organiser.get(f"/organise/figures/{name}.svg").status_code == 200


def test_looking_changes_nothing(make_client: Make) -> None:
    organiser = running(make_client(pages__look_early=True))
    before = organiser.store.last_sequence
    for path in ("state", "people", "answers", "settings", "changes"):
        assert organiser.get(f"/api/organise/{path}").status_code == 200
    for path in ("/organise", "/organise/figures/ranking.svg", "/organise/report.html", "/organise/export/log.csv"):
        assert organiser.get(path).status_code == 200
    assert organiser.store.last_sequence == before


def test_pilots_do_not_count(make_client: Make) -> None:
    client = make_client()
    organiser = Organiser(client)
    answer_some(invited(client, "Ann", pilot=True), 3)
    state = organiser.state()
    assert state["counts"]["answers"] == 0
    assert state["counts"]["judged"] == 0
    assert state["pace"]["per_hour"] is None
    assert [row["state"] for row in state["assessors"]] == ["pilot"]


def test_how_people_work(make_client: Make) -> None:
    client = make_client(judging__judgments_per_item=2)
    organiser = Organiser(client)
    for name, gain in (("Ann", 2), ("Bob", 2), ("Eve", 0)):
        who = invited(client, name)
        for _ in range(5):
            question = who.take(ahead=0)["questions"][0]
            who.answer(question, gain=gain, details={"seconds": 10 + 10 * gain})
    rows = {row["name"]: row for row in organiser.state()["assessors"]}
    assert rows["Ann"]["seconds"] == 30
    assert rows["Eve"]["seconds"] == 10
    assert all(row["answers"] == 5 for row in rows.values())
    assert 0 <= rows["Ann"]["agreement"] <= 1


@pytest.mark.parametrize("kind", ["grade", "prefer"])
def test_intervals_of_one_look_are_not_shown_unasked(make_client: Make, kind: str) -> None:
    organiser = running(make_client(kind), answers=5)
    state = organiser.state()
    assert state["verdict"]["early"]
    assert state["verdict"]["headline"] is None
    assert state["verdict"]["anytime_from"] > state["counts"]["judged"]
    rows = state["ranking"]["rows"]
    assert {row["system"] for row in rows} == set(SYSTEMS)
    assert all(0 <= row["estimate"] <= 1 and row["low"] is None and row["high"] is None for row in rows)
    assert (state["pairs"], state["precision"], state["guarantee"]) == (None, None, None)
    assert not {"ranking", "pairs", "precision", "guarantee"} & set(state["figures"])
    assert organiser.get("/organise/figures/ranking.csv").status_code == 404
    organiser.post("settings", {"changes": {"pages.look_early": True}})
    state = organiser.state()
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in state["ranking"]["rows"])
    assert (state["verdict"]["anytime"], state["verdict"]["early"]) == (False, False)


def test_once_enough_is_judged_intervals_hold_at_any_time(make_client: Make) -> None:
    organiser = running(make_client(estimates__stop="none"), answers=30, people=("Ann",))
    assert organiser.state()["verdict"]["anytime"], "everything is judged"
    told = newest_estimate(organiser.store)
    assert told is not None
    assert told.body["live"]["anytime"]


def test_the_live_ranking_holds_at_any_time(make_client: Make) -> None:
    client = make_client()
    organiser = running(client, answers=8)
    estimate = newest_estimate(organiser.store)
    assert estimate is not None
    rows = [{**row, "low": 0.0, "high": 1.0} for row in estimate.body["systems"]]
    open_pairs = [{**row, "confidence": 0.6} for row in estimate.body["pairs"]]
    live = {"systems": rows, "pairs": open_pairs, "anytime": True, "anytime_from": 100, "level": 0.95}
    body = estimate.body | {"live": live, "said": "somebody is the best: 99% sure."}
    table = estimates.c
    mine = sa.and_(table.campaign == organiser.store.campaign, table.sequence == estimate.sequence)
    change = sa.update(estimates).where(mine).values(body=json.dumps(body))
    organiser.store.database.write(lambda connection: connection.execute(change).rowcount)
    state = organiser.state()
    assert state["verdict"]["anytime"]
    assert "99%" not in state["verdict"]["headline"]
    assert all((row["low"], row["high"]) == (0, 1) for row in state["ranking"]["rows"])
    assert not any(row["decided"] for row in state["pairs"])
    shown = pl.read_csv(io.BytesIO(organiser.get("/organise/figures/ranking.csv").content))
    assert set(shown["high"]) == {1.0}


# ---- hiding ----------------------------------------------------------------------------------------------------------


def test_a_hidden_ranking_is_not_sent(make_client: Make) -> None:
    organiser = running(make_client(pages__hide_ranking=True), answers=8)
    for path in ("/api/organise/state", "/api/organise/people", "/api/organise/changes"):
        found = organiser.get(path).text
        assert not any(told in found for told in (*SYSTEMS, "confidence")), path
    state = organiser.state()
    assert state["hidden"]
    assert not {"verdict", "ranking", "pairs", "progress", "guarantee", "figures"} & set(state)
    assert state["counts"]["judged"] > 0
    for name in ("ranking", "pairs", "confidence", "guarantee"):
        for ending in ("svg", "csv"):
            assert organiser.get(f"/organise/figures/{name}.{ending}").status_code == 404
    refused = organiser.get("/organise/report.html")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "hidden"


def test_a_hidden_ranking_is_shown_at_the_end(make_client: Make) -> None:
    organiser = running(make_client(pages__hide_ranking=True), answers=8)
    assert organiser.post("campaign", {"state": "closed", "reason": "enough"}).status_code == 200
    assert {row["system"] for row in organiser.state()["ranking"]["rows"]} == set(SYSTEMS)
    assert organiser.get("/organise/figures/ranking.svg").status_code == 200
    assert organiser.get("/organise/report.html").status_code == 200


def test_the_reason_of_the_stop_rule_is_hidden_too(make_client: Make) -> None:
    how = {"estimates__stop": "mean:0.51", "estimates__when_reached": "stop"}
    organiser = running(make_client(pages__hide_ranking=True, **how), answers=12)
    assert organiser.store.row["state"] == "stopped"
    assert organiser.state()["campaign"]["reason"] == ""
    told = [row["text"] for row in organiser.get("/api/organise/changes").json()["changes"] if row["kind"] == "stopped"]
    assert told == ["stopped"]


# ---- pictures and files ----------------------------------------------------------------------------------------------


def test_pictures_and_their_data(make_client: Make) -> None:
    organiser = running(make_client(pages__look_early=True), answers=8)
    for name in ("ranking", "pairs", "confidence"):
        drawn = organiser.get(f"/organise/figures/{name}.svg")
        assert drawn.headers["content-type"].startswith("image/svg+xml")
        assert "<svg" in drawn.text
        assert "sandbox" in drawn.headers["content-security-policy"]
        data = organiser.get(f"/organise/figures/{name}.csv")
        assert data.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
        assert pl.read_csv(io.BytesIO(data.content)).height
    shown = pl.read_csv(io.BytesIO(organiser.get("/organise/figures/ranking.csv").content))
    rows = organiser.state()["ranking"]["rows"]
    assert shown["estimate"].to_list() == pytest.approx([row["estimate"] for row in rows])
    assert organiser.get("/organise/figures/nothing.svg").status_code == 404
    assert organiser.get("/organise/figures/ranking.png").status_code == 422


def test_a_picture_is_drawn_once_for_an_estimate(make_client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from earmark.web import watch

    organiser = running(make_client(pages__look_early=True), answers=6)
    drawn = []
    draw = watch.figure_svg
    monkeypatch.setattr(watch, "figure_svg", lambda watched, name: drawn.append(name) or draw(watched, name))
    for _ in range(3):
        organiser.get("/organise/figures/ranking.svg")
    assert drawn == ["ranking"]
    answer_some(invited(organiser.client, "Eve"), 2)
    organiser.get("/organise/figures/ranking.svg")
    assert drawn == ["ranking"], "no new estimate yet"
    organiser.estimate()
    organiser.get("/organise/figures/ranking.svg")
    assert drawn == ["ranking", "ranking"]


def test_looking_ahead(make_client: Make) -> None:
    organiser = running(make_client(), answers=3)
    assert organiser.state()["ahead"] is None
    assert "forecast" not in organiser.state()["figures"]
    told = organiser.post("forecast")
    assert told.status_code == 200, told.text
    assert told.json()["said"].endswith(".")
    state = organiser.state()
    assert state["ahead"] == told.json()
    assert "forecast" in state["figures"]
    assert "<svg" in organiser.get("/organise/figures/forecast.svg").text
    assert organiser.get("/organise/figures/forecast.csv").text.startswith("a,b,even")


def test_what_was_looked_ahead_at_is_shown_by_every_process_and_stays(make_client: Make) -> None:
    client = make_client(pages__look_early=True)
    organiser = running(client, answers=3)
    folder = organiser.campaign.folder
    with open_client(folder) as other:
        other.cookies = client.cookies
        # The other process has read the campaign before, and hears that there is something new.
        before = other.get("/api/organise/state").json()
        assert before["ahead"] is None
        told = organiser.post("forecast").json()
        state = other.get("/api/organise/state").json()
        assert state["version"] != before["version"]
        assert state["ahead"] == organiser.state()["ahead"] == told
        assert "forecast" in state["figures"]
        drawn = [one.get("/organise/figures/forecast.csv").text for one in (client, other)]
        assert drawn[0] == drawn[1]
        assert len(drawn[0].splitlines()) > 1
        # Later estimates do not make it come and go; it says of how many judgments it was.
        answer_some(invited(client, "Eve"), 2)
        organiser.estimate()
        assert other.get("/api/organise/state").json()["ahead"] == organiser.state()["ahead"] == told


def test_looking_ahead_blocks_nobody(make_client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client()
    organiser, ann = running(client, answers=3), invited(client, "Eve")
    taken: list[int] = []
    made = Campaign.forecast

    def slow(self: Campaign, *args: Any, **more: Any) -> Any:
        # Somebody takes a question while the forecast is made: nothing is locked.
        taken.append(len(ann.take()["questions"]))
        return made(self, *args, **more)

    monkeypatch.setattr(Campaign, "forecast", slow)
    assert organiser.post("forecast").status_code == 200
    assert taken == [2]


def test_looking_ahead_is_refused_where_it_cannot_be(make_client: Make) -> None:
    assert Organiser(make_client("lists")).post("forecast").status_code == 409
    client = make_client()
    organiser = running(client, answers=3)
    assert organiser.post("forecast").status_code == 200
    # What was looked ahead at is hidden with the ranking.
    organiser.campaign.change_settings({"pages.hide_ranking": True})
    assert "ahead" not in organiser.state()
    assert organiser.post("forecast").status_code == 409
    assert organiser.get("/organise/figures/forecast.svg").status_code == 404


@pytest.mark.parametrize("what", ["judgments", "answers", "log"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_exports(make_client: Make, what: str, ending: str) -> None:
    organiser = running(make_client())
    found = organiser.get(f"/organise/export/{what}.{ending}")
    assert found.status_code == 200
    assert found.headers["content-disposition"] == f'attachment; filename="{what}.{ending}"'
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}[ending]
    frame = read(io.BytesIO(found.content))
    log = organiser.store.log()
    # Answers to traps are answers, and no judgments.
    expected = {"judgments": log.position, "answers": log.of_kind("answered").height, "log": len(log)}
    assert frame.height == expected[what]


def test_exports_as_qrels_and_by_name(make_client: Make) -> None:
    organiser = running(make_client())
    assert organiser.get("/organise/export/judgments.qrels").text.startswith("query")
    assert organiser.get("/organise/export/log.qrels").status_code == 400
    assert "Ann" not in organiser.get("/organise/export/answers.csv").text
    assert "Ann" in organiser.get("/organise/export/answers.csv?people=names").text


def test_a_backup_holds_the_log(make_client: Make) -> None:
    organiser = running(make_client())
    found = organiser.get("/organise/backup.zip")
    with zipfile.ZipFile(io.BytesIO(found.content)) as packed:
        contents = json.loads(packed.read("contents.json"))
    assert str(organiser.store.last_sequence) in json.dumps(contents)


def test_the_report_while_people_judge(make_client: Make) -> None:
    organiser = running(make_client(), answers=8)
    found = organiser.get("/organise/report.html")
    assert found.status_code == 200
    assert all(system in found.text for system in SYSTEMS)
    assert found.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_status_and_the_dashboard_count_the_same(make_client: Make, kind: str) -> None:
    """With people who were rejected, took answers back or try it out, a lease that ended and things that left."""
    each = {} if kind == "prefer" else {"judging__judgments_per_item": 2 if kind == "grade" else 6}
    client = make_client(kind, traps__rate=0.0, **each)
    organiser = running(client, answers=3)
    answer_some(invited(client, "Rita"), 2)
    answer_some(invited(client, "Pat", pilot=True), 2)
    desk, store = organiser.campaign.desk, organiser.store
    desk.reject(pseudonym_of(organiser, "Rita"), "asleep")
    ann = pseudonym_of(organiser, "Ann")
    last = answers_page(store, assessor=ann)[0][0]
    desk.withdraw(ann, last["id"])
    invited(client, "Eve").take(ahead=0)
    invited(client, "Phil", pilot=True).take(ahead=0)
    invited(client, "Lea").take(ahead=0)
    lea = pseudonym_of(organiser, "Lea")
    store.write(lambda change: change.connection.execute(_END_LEASES, {"of_assessor": lea}))
    desk.remove("broken", query=last["query"])
    with CampaignFolder.open(organiser.campaign.folder.path, read_only=True) as folder:
        status = status_of(read_stored(folder))
    counts = organiser.state()["counts"]
    words = ("judged", "items", "answers", "assessors", "pending", "removed", "rejected", "late")
    assert {word: status[word] for word in words} == {word: counts[word] for word in words}
    assert (status["assessors"], status["rejected"], status["pending"]) == (3, 1, 1)
    assert status["removed"] > 0
    if kind in ("grade", "prefer"):
        organiser.estimate()
        newest = newest_estimate(store)
        assert newest is not None
        assert newest.body["judged"] == counts["judged"]


_END_LEASES = (
    sa.update(assignments)
    .where(assignments.c.assessor == sa.bindparam("of_assessor"), assignments.c.state == "out")
    .values(expires=1)
)
