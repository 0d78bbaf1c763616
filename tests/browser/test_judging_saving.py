"""What is said about saving: never more than the server has acknowledged, and to everybody."""

from __future__ import annotations

import json
from collections.abc import Callable

from judging import Judge, Server
from playwright.sync_api import APIResponse, Page, Route, expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]

ANSWERS = "**/api/judge/answers"


def answer(ann: Judge) -> None:
    ann.hear_all()
    ann.answer_somehow()
    ann.next()


def refuse(page: Page, code: str = "listen") -> None:
    body = json.dumps({"error": {"code": code, "message": "plain English words"}})
    page.route(ANSWERS, lambda route: route.fulfill(status=400, body=body, content_type="application/json"))


def without(ann: Judge, *parts: str) -> None:
    """Leave out what the browser itself writes about requests that a test lets fail."""
    ann.problems = [one for one in ann.problems if not any(part in one for part in parts)]


def test_a_refused_answer_is_told_to_everybody_and_never_called_saved(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    answer(ann)
    ann.expect_saved()
    expect(page.locator("#status")).to_have_text("Saved")
    refused = ann.id
    page.evaluate(
        """() => {
          window.said = [];
          const note = () => said.push(document.querySelector("#status").textContent);
          new MutationObserver(note).observe(document.querySelector("#status"), { childList: true });
        }"""
    )
    refuse(page)
    answer(ann)
    toast = page.locator("#toasts[role=alert] .toast")
    expect(toast).to_be_visible()
    expect(toast.locator("p")).to_have_text(
        "The answer was not taken. Listen to every clip for long enough before you answer."
    )
    expect(page.locator("#saved")).to_have_attribute("data-state", "refused")
    # It is read once: by the region that is seen.
    page.wait_for_timeout(200)
    assert page.locator("#alert").inner_text() == ""
    assert "Saved" not in page.evaluate("said")
    # The question is there again, with its answer.
    expect(ann.question).to_have_attribute("data-question", refused)
    expect(page.get_by_role("radio", name="Very similar", exact=True)).to_be_checked()
    toast.get_by_role("button", name="Close").click()
    expect(toast).to_have_count(0)
    page.unroute(ANSWERS)
    ann.next()
    ann.expect_saved()
    without(ann, "400")


def test_the_servers_english_stays_off_a_spanish_page(served: Serve, judge: Follow) -> None:
    ann = judge(f"{served('grade').link()}?language=es").open()
    page = ann.page
    page.get_by_role("button", name="Empezar").click()
    page.get_by_role("button", name="Saltar").click()
    expect(page.locator(".asking .badge")).to_have_count(0)
    for code, words in (("listen", "Escuche cada fragmento"), ("brand_new", "Algo ha ido mal.")):
        refuse(page, code)
        ann.hear_all()
        ann.answer_somehow()
        page.locator(".next").click()
        expect(page.locator(".toast").last).to_contain_text(f"No se aceptó la respuesta. {words}")
        page.unroute(ANSWERS)
        expect(ann.question).to_be_visible()
    assert "English" not in page.locator("main").inner_text() + page.locator("#toasts").inner_text()
    without(ann, "400")


def test_a_break_says_saved_only_when_it_is(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade", pages__pause_after=1).link()).begin()
    page = ann.page
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route(ANSWERS, hold_the_first)
    answer(ann)
    expect(page.get_by_role("heading", name="Time for a short break?")).to_be_visible()
    line = page.locator("main .saved-line")
    expect(line).to_have_text("Your last answer is being saved. Keep this page open.")
    assert "are saved" not in page.locator("main").inner_text()
    held[0].abort()
    expect(line).to_have_text("Your last answer is not saved yet. Keep this page open until it is.")
    expect(line).to_have_text("All your answers are saved.")
    ann.expect_saved()
    without(ann, "ERR_FAILED")


def test_an_answer_on_its_way_is_counted_once(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade", pages__pause_after=1).link()).begin()
    page = ann.page
    kept: list[tuple[Route, APIResponse]] = []
    # The server has the answer, and the page does not know.
    page.route(ANSWERS, lambda route: kept.append((route, route.fetch())))
    answer(ann)
    expect(page.get_by_role("heading", name="Time for a short break?")).to_be_visible()
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Go on").click()
    expect(ann.question).to_be_visible()
    expect(page.locator("#progress-text")).to_have_text("1 answer")
    expect(page).to_have_title("Question 2 · Which songs are alike?")
    ((route, response),) = kept
    route.fulfill(response=response)
    ann.expect_saved()


def test_leaving_waits_for_the_last_answer(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    page.route(ANSWERS, lambda route: route.abort())
    answer(ann)
    expect(page.locator("#saved")).to_have_text("Not saved yet")
    page.get_by_role("button", name="Stop for now").click()
    expect(page.get_by_role("heading", name="Saving your last answer")).to_be_visible()
    expect(page.locator("main .saved-line")).to_contain_text("Keep this page open")
    page.wait_for_timeout(500)
    assert "are saved" not in page.locator("main").inner_text()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1]))
    page.unroute(ANSWERS)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_text("You gave 1 answer")).to_be_visible()
    expect(page.get_by_text("All your answers are saved.")).to_be_visible()
    page.wait_for_timeout(1_000)
    # Nothing is asked for after leaving, and nothing takes the place of the thanks.
    assert "questions" not in asked
    assert asked.index("leave") > asked.index("answers")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(server.events("answered")) == before + 1
    page.get_by_role("button", name="Go on answering").click()
    expect(ann.question).to_be_visible()
    without(ann, "ERR_FAILED")


def test_all_that_earlier_pages_left_is_sent(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = len(server.events("skipped"))
    ann = judge(server.link()).begin()
    page = ann.page
    letters = {
        f"kept letter {place}": {"path": "skip", "body": {"id": id, "key": f"kept letter {place}"}, "kept": place}
        for place, id in enumerate(ann.state["questions"])
    }
    assert len(letters) == 2
    shelf = f"earmark.{ann.link[-12:]}.outbox"
    page.evaluate("([key, value]) => localStorage.setItem(key, JSON.stringify(value))", [shelf, letters])
    page.reload()
    ann.expect_saved()
    expect(ann.question).to_be_visible()
    assert len(server.events("skipped")) == before + 2
    assert page.evaluate("key => localStorage.getItem(key)", shelf) == "{}"


def test_a_refused_answer_keeps_its_draft_across_a_reload(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    page.route(ANSWERS, lambda route: route.abort())
    first = ann.id
    answer(ann)
    expect(page.locator("#saved")).to_have_text("Not saved yet")
    page.unroute(ANSWERS)
    refuse(page)
    page.reload()
    expect(page.locator(".toast")).to_contain_text("The answer was not taken.")
    expect(ann.question).to_have_attribute("data-question", first)
    expect(page.get_by_role("radio", name="Very similar", exact=True)).to_be_checked()
    expect(page.locator(".hint")).to_have_text("Ready to save.")
    without(ann, "400", "ERR_FAILED")


def test_what_another_tab_removed_is_gone(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).open()
    found = ann.page.evaluate(
        """async () => {
          const { device } = await import("/static/judge/memory.js");
          device.set("probe", 1);
          const before = device.get("probe");
          localStorage.removeItem("earmark.probe");
          const after = device.get("probe");
          // Where the browser keeps nothing, the page does.
          Storage.prototype.setItem = () => { throw new Error("full"); };
          device.set("probe", 2);
          return [before, after, device.get("probe")];
        }"""
    )
    assert found == [1, None, 2]


def test_the_question_of_somebody_at_work_is_kept_for_them(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    renewed: list[str] = []
    page.on("request", lambda request: "renew" in request.url and renewed.append(str(request.post_data)))

    def shorten(route: Route) -> None:
        response = route.fetch()
        body = response.json()
        # The end comes in two seconds, by the clock of the server.
        soon = page.evaluate("date => new Date(Date.parse(date) + 2000).toISOString()", response.headers["date"])
        for question in body["questions"]:
            question["expires"] = soon
        route.fulfill(response=response, json=body)

    page.route("**/api/judge/questions", shorten)
    page.reload()
    expect(ann.question).to_be_visible()
    page.wait_for_timeout(1_500)
    # A page that is only open is not at work.
    assert renewed == []
    with page.expect_response("**/api/judge/renew") as response:
        ann.hear_all()
    assert json.loads(renewed[0]) == {"id": ann.id}
    assert response.value.json()["expires"]
