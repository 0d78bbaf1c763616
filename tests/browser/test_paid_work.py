"""Prolific from the first page to the last, and what the organiser sees of paid work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from judging import Judge, Server, new_context
from playwright.sync_api import Browser, Page, expect

from earmark.store.links import new_organiser_link

Serve = Callable[..., Server]
Follow = Callable[..., Judge]
DONE = "https://app.prolific.com/submissions/complete?cc=C1"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def server(served: Serve) -> Server:
    return served(
        "grade",
        recruiting__platform="prolific",
        recruiting__answers_per_assignment=1,
        recruiting__reward=0.5,
        recruiting__hourly_rate=100_000,
        recruiting__completion_url=DONE,
    )


@pytest.fixture
def organiser(browser: Browser, server: Server) -> Iterator[Page]:
    context = new_context(browser)
    page = context.new_page()
    problems: list[str] = []
    page.goto(f"{server.address}/organise#{new_organiser_link(server.opened.store)}")
    expect(page.locator("#connection[data-state=live]")).to_be_visible()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: said.type == "error" and problems.append(said.text))
    yield page
    assert not problems, problems
    context.close()


def address(server: Server, person: str, session: str = "s1", **more: str) -> str:
    extra = "".join(f"&{name}={value}" for name, value in more.items())
    return f"{server.address}/recruit/prolific?PROLIFIC_PID={person}&STUDY_ID=st&SESSION_ID={session}{extra}"


def clean(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_from_prolific_and_back(server: Server, judge: Follow, organiser: Page) -> None:
    ann = judge(address(server, "p1")).open()
    clean(ann.page)
    # The keyboard is enough, and a second press while the first is on its way does nothing.
    start = ann.page.get_by_role("button", name="Start")
    start.focus()
    ann.page.keyboard.press("Enter")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_url("**/judge/*")
    ann.page.get_by_role("button", name="Begin").click()
    ann.train()
    ann.hear_all()
    ann.choose("Somewhat similar")
    ann.next()
    finish = ann.page.get_by_role("link", name="Finish")
    expect(finish).to_have_attribute("href", DONE)

    organiser.goto(f"{server.address}/organise/recruiting")
    expect(organiser.get_by_text("at 30 s per answer")).to_be_visible()
    expect(organiser.locator("#platform-address")).to_have_value(
        f"{server.opened.settings.people.address}/recruit/prolific"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    row = organiser.locator("#pay-rows tr", has_text="p1")
    expect(row).to_contain_text("Approve")
    expect(row).to_contain_text("0.50")
    organiser.get_by_label("Answers to pay for").fill("7")
    expect(organiser.locator("#budget-cost")).to_have_text("3.50 USD")
    with organiser.expect_download() as review:
        organiser.get_by_role("button", name="What to approve and reject").click()
    assert "p1,s1,approve," in review.value.path().read_text()
    # The next file lists what is new, unless everything is wanted.
    expect(row).to_contain_text("(in a file)")
    expect(organiser.locator("#pay-summary")).to_contain_text("Decisions not yet in a file: 0")
    for every in (False, True):
        organiser.get_by_label("Include what earlier files contain").set_checked(every)
        with organiser.expect_download() as again:
            organiser.get_by_role("button", name="What to approve and reject").click()
        assert ("p1,s1,approve," in again.value.path().read_text()) == every
    worker = organiser.locator("#pay-workers tr", has_text="p1")
    expect(worker).to_contain_text("0.50")
    with organiser.expect_download() as workers:
        organiser.get_by_role("button", name="Table by worker").click()
    assert "p1," in workers.value.path().read_text()
    with organiser.expect_download() as bonuses:
        organiser.get_by_role("button", name="Bonuses").click()
    assert bonuses.value.path().read_text().startswith("p1,")
    clean(organiser)


def test_on_a_phone_and_in_spanish(server: Server, judge: Follow) -> None:
    eva: Any = judge(address(server, "p2"), **PHONE).open()
    eva.page.get_by_role("link", name="Español").click()
    begin = eva.page.get_by_role("button", name="Empezar")
    expect(begin).to_be_visible()
    eva.page.wait_for_load_state("load")  # Before that, sizes may be those without the style sheet.
    assert eva.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = begin.bounding_box()
    assert box["height"] >= 44
    clean(eva.page)
    begin.click()
    eva.page.wait_for_url("**/judge/*language=es")
    expect(eva.page.locator("html")).to_have_attribute("lang", "es")


def test_a_refusal_is_said_in_words(server: Server, judge: Follow) -> None:
    bob = judge(address(server, "p3", "s3")).open()
    server.opened.desk.set_state("paused", "lunch")
    try:
        bob.page.get_by_role("button", name="Start").click()
        expect(bob.page.get_by_role("alert")).to_contain_text("The organiser has paused this listening test")
        expect(bob.page.get_by_role("button", name="Start")).to_be_enabled()
    finally:
        server.opened.desk.set_state("open")
    bob.problems = [one for one in bob.problems if "409" not in one]


@pytest.mark.parametrize("sessions", [("s1", "s2"), ("s1", "s1")], ids=["two assignments", "one assignment"])
def test_a_question_counts_in_the_window_where_it_is_answered_first(
    served: Serve, judge: Follow, sessions: tuple[str, str]
) -> None:
    server = served("grade", recruiting__platform="prolific", recruiting__answers_per_assignment=2)
    before, person = len(server.events("answered")), f"px{''.join(sessions)}"
    one = judge(address(server, person, sessions[0])).open()
    one.page.get_by_role("button", name="Start").click()
    one.page.get_by_role("button", name="Begin").click()
    one.train()
    one.hear_all()
    one.choose("Very similar")
    first = one.id
    other = Judge(one.context, address(server, person, sessions[1])).open()
    other.page.get_by_role("button", name="Start").click()
    # Where the session is the same one, the words were said in the first window.
    begin = other.page.get_by_role("button", name="Begin")
    expect(begin.or_(other.question).first).to_be_visible()
    if begin.count():
        begin.click()
    expect(other.question).to_have_attribute("data-question", first)
    other.hear_all()
    other.choose("Not similar")
    one.page.evaluate("document.querySelector('.next').click()")
    one.expect_saved()
    other.page.locator(".next").click()
    expect(other.page.locator(".toast")).to_contain_text("another window")
    expect(other.question).not_to_have_attribute("data-question", first)
    assert [row["gain"] for row in server.events("answered")[before:]] == [2]
    assert not other.problems
