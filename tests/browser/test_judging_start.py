"""Before the first question: joining, the sound check, the training, the language."""

from __future__ import annotations

import json
from collections.abc import Callable

from judging import Judge, Server, full
from playwright.sync_api import Route, expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]


def test_whoever_opens_an_open_link_again_goes_on(served: Serve, judge: Follow) -> None:
    server = served("grade")
    link = server.open_link(2)
    ann = judge(link).open()
    page = ann.page
    page.get_by_role("button", name="Take part").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    own = page.url
    page.goto(link)
    expect(page.get_by_role("button", name="Take part")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    assert page.url == own
    page.goto(link)
    page.get_by_role("button", name="Somebody else takes part").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    other = page.url
    assert other not in (own, link)
    # All places are taken; the one who joined last still goes on.
    page.goto(link)
    expect(page.get_by_role("button", name="Somebody else takes part")).to_have_count(0)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    assert page.url == other


def test_joining_whose_answer_is_lost_takes_one_place(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").open_link(1)).open()
    page = ann.page
    keys: list[str] = []

    def lose(route: Route) -> None:
        keys.append(json.loads(route.request.post_data or "{}")["key"])
        if len(keys) > 1:
            route.continue_()
            return
        route.fetch()
        route.abort()

    page.route("**/api/judge/join", lose)
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    ann.problems = [one for one in ann.problems if "ERR_FAILED" not in one]


def test_a_wrong_count_needs_new_beeps(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade", pages__sound_check=True).link()).open()
    page = ann.page
    beeps = ann.play_beeps()
    # Walking through the numbers by arrows is no attempt.
    page.locator(".counts input").first.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".check-result")).to_be_empty()
    ann.count_beeps(beeps - 1 if beeps > 3 else beeps + 1)
    expect(page.get_by_text("That is not the number.")).to_be_visible()
    # The right number for the old beeps cannot be given any more.
    expect(page.locator(".counts")).to_be_hidden()
    expect(page.get_by_role("button", name="Continue anyway")).to_have_count(0)
    again = ann.play_beeps()
    assert again != beeps
    ann.count_beeps(again)
    with page.expect_request("**/api/judge/prepared") as sent:
        page.locator(".check-result").get_by_role("button", name="Continue", exact=True).click()
    details = json.loads(sent.value.post_data or "")["details"]
    assert (details["right"], details["attempts"]) == (True, 2)


def test_the_sound_of_every_device_is_checked(served: Serve, judge: Follow) -> None:
    link = served("grade", pages__sound_check=True).link()
    ann = judge(link).open()
    ann.pass_sound_check()
    expect(ann.page.get_by_role("heading", name="What to do")).to_be_visible()
    ann.page.reload()
    expect(ann.page.get_by_role("heading", name="What to do")).to_be_visible()
    other = judge(link).open()
    other.pass_sound_check()
    expect(other.page.get_by_role("heading", name="What to do")).to_be_visible()
    # Whoever hears nothing later finds help.
    other.begin()
    other.page.get_by_role("button", name="I hear nothing").click()
    expect(other.page.get_by_role("dialog")).to_contain_text("turn off silent mode")


def test_a_training_whose_clip_fails_can_be_skipped(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).open()
    page = ann.page
    page.route("**/media/*", lambda route: route.fulfill(status=200, body=b"this is no sound"))
    page.get_by_role("button", name="Begin").click()
    page.locator("[data-part=query] .play").click()
    expect(page.locator("[data-part=query] .trouble")).to_contain_text("does not play")
    page.unroute("**/media/*")
    expect(page.get_by_role("button", name="Stop for now")).to_be_visible()
    page.get_by_role("button", name="Skip this practice question").first.click()
    expect(page.locator(".asking .badge")).to_have_count(0)
    expect(ann.question).to_be_visible()


def test_the_chosen_language_is_remembered(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).open()
    page = ann.page
    page.get_by_role("link", name="Español").click()
    expect(page.get_by_role("heading", name="Qué hay que hacer")).to_be_visible()
    page.goto(ann.link)
    expect(page.get_by_role("heading", name="Qué hay que hacer")).to_be_visible()
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    page.goto(ann.link)
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()


def test_stressed_words_of_the_consent_are_shown_so(served: Serve, judge: Follow) -> None:
    text = judge(served("grade", **full("grade")).link()).open().page.locator(".consent-text")
    expect(text.locator("em")).to_have_text("music")
    expect(text.locator("strong")).to_have_text("you")
    expect(text).not_to_contain_text("*")
