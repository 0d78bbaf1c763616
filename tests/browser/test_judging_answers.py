"""Giving an answer: what keys, dragging, undoing and skipping do, and what they leave alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from judging import Judge, Server
from playwright.sync_api import Page, expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]

CUT = """() => {
  const rows = [...document.querySelector(".ordering").children];
  return rows.map((row) => (row.matches(".cut") ? "|" : row.querySelector(".shown-name").innerText.split(" ").pop()));
}"""


def arranged(page: Page) -> str:
    """Return the candidates and the line as they stand."""
    return "".join(page.evaluate(CUT))


@pytest.fixture
def ordering(served: Serve, judge: Follow) -> Judge:
    """Somebody who has drawn the line after the second candidate."""
    ann = judge(served("order").link(), viewport={"width": 1280, "height": 1400}).begin()
    assert len(arranged(ann.page)) >= 5
    ann.page.get_by_role("button", name="All are similar").click()
    # The button is gone, and the focus is still at the line.
    assert ann.page.evaluate("document.activeElement.closest('.cut') !== null")
    while not arranged(ann.page).startswith("AB|"):
        ann.page.get_by_role("button", name="Move the line up").click()
    return ann


def row(page: Page, name: str) -> Any:
    return page.locator(".ordered", has=page.get_by_text(f"Candidate {name}", exact=True))


def test_a_candidate_dragged_across_the_line_takes_no_other_along(ordering: Judge) -> None:
    page = ordering.page
    rest = arranged(page).removeprefix("AB|C")
    start, end = row(page, "A").locator(".grip").bounding_box(), row(page, "C").bounding_box()
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(start["x"] + 10, end["y"] + end["height"] - 4, steps=15)
    page.mouse.up()
    assert arranged(page) == f"B|CA{rest}"


def test_buttons_and_keys_move_across_the_line_one_step_at_a_time(ordering: Judge) -> None:
    page = ordering.page
    rest = arranged(page).removeprefix("AB|C")
    page.get_by_role("button", name="Move Candidate B down").click()
    assert arranged(page) == f"A|BC{rest}"
    expect(page.locator("#status")).to_have_text(f"Candidate B is now 2 of {len(rest) + 3}. It is not similar.")
    page.get_by_role("button", name="Move Candidate B down").click()
    assert arranged(page) == f"A|CB{rest}"
    row(page, "C").focus()
    page.keyboard.press("Shift+ArrowUp")
    assert arranged(page) == f"AC|B{rest}"
    # With Alt too, which belongs to the browser otherwise.
    page.keyboard.press("Alt+ArrowDown")
    assert arranged(page) == f"A|CB{rest}"


def test_a_draft_that_does_not_fit_is_no_draft(served: Serve, judge: Follow) -> None:
    ann = judge(served("order").link()).begin()
    page = ann.page
    wanted = arranged(page)
    size = len(wanted) - 1
    shelf = f"earmark.{ann.link[-12:]}.draft.{ann.id}"
    for order, cut in (([0] * size, 1), (list(range(size)), size + 3), (list(range(size - 1)), 1)):
        draft = json.dumps({"form": {"order": order, "cut": cut}})
        # What is on the page is kept when it is left, so this is put there when the next one begins.
        script = f"sessionStorage.setItem({json.dumps(shelf)}, {json.dumps(draft)})"
        page.add_init_script(script)
        page.reload()
        expect(ann.question).to_be_visible()
        assert arranged(page) == wanted
        expect(page.get_by_role("button", name="All are similar")).to_be_visible()


def test_there_are_names_for_any_number_of_candidates(served: Serve, judge: Follow) -> None:
    ann = judge(served("order").link()).open()
    script = "import('/static/judge/order.js').then(({ letters }) => [0, 25, 26, 27, 51, 52, 702].map(letters))"
    assert ann.page.evaluate(script) == ["A", "Z", "AA", "AB", "AZ", "BA", "AAA"]


def test_the_training_of_orders_says_what_is_usual(served: Serve, judge: Follow) -> None:
    ann = judge(served("order").link())
    page = ann.page
    with page.expect_response("**/api/judge/questions") as asked:
        ann.begin()
    question = asked.value.json()["questions"][0]
    size = len(question["candidates"])
    # The first two are worth the same and may stand in any order.
    gains = [2, 2, 1, *([0] * (size - 3))]
    exercises = [
        {**question, "id": f"training {number}", "expected": {"gains": gains, "cut": 3}, "feedback": "The drums."}
        for number in range(2)
    ]
    page.route("**/api/judge/training", lambda route: route.fulfill(json={"questions": exercises}))
    page.route("**/api/judge/session", lambda route: route.fulfill(json={**route.fetch().json(), "stage": "training"}))
    page.reload()
    page.get_by_role("button", name="Begin").click()
    ann.hear_all()
    page.get_by_role("button", name="All are similar").click()
    page.locator(".next").click()
    feedback = page.locator(".feedback")
    expect(feedback).to_contain_text("Others hear this differently")
    expect(feedback).to_contain_text("The usual answer is: A, B, and C above the line, D")
    expect(feedback).to_contain_text("The drums.")
    page.get_by_role("button", name="Next practice question").click()
    ann.hear_all()
    page.get_by_role("button", name="Move Candidate A down").click()
    page.get_by_role("button", name="All are similar").click()
    while not arranged(page).startswith("BAC|"):
        page.get_by_role("button", name="Move the line up").click()
    page.locator(".next").click()
    expect(feedback).to_contain_text("Yes, that is how others hear it.")


@pytest.mark.parametrize(
    ("level", "number", "contradicts"),
    [("Very similar", "50", True), ("Somewhat similar", "100", True), ("Somewhat similar", "60", False)],
)
def test_a_level_stands_for_its_part_of_the_scale(
    served: Serve, judge: Follow, level: str, number: str, contradicts: bool
) -> None:
    ann = judge(served("both").link()).begin()
    page = ann.page
    first = ann.id
    ann.hear_all()
    ann.choose(level)
    page.get_by_label("A number from 0 to 100").fill(number)
    page.locator(".next").click()
    if contradicts:
        expect(page.get_by_text(f"You answered “{level}” and {number}.")).to_be_visible()
        assert ann.id == first
    else:
        expect(ann.question).not_to_have_attribute("data-question", first)
        ann.expect_saved()


def test_combinations_of_keys_belong_to_the_browser(served: Serve, judge: Follow) -> None:
    ann = judge(served("both").link()).begin()
    page = ann.page
    page.keyboard.press("3")
    page.locator("h1").focus()
    number = page.get_by_label("A number from 0 to 100")
    for key in ("Alt+ArrowLeft", "Alt+ArrowUp", "Control+ArrowLeft", "Meta+ArrowUp", "Control+1"):
        page.keyboard.press(key)
        expect(page.get_by_role("radio", name="Very similar", exact=True)).to_be_checked()
        expect(number).to_have_value("")


def test_escape_leaves_a_field_and_keys_work_again(served: Serve, judge: Follow) -> None:
    ann = judge(served("both").link()).begin()
    page = ann.page
    for field in (page.get_by_label("A number from 0 to 100"), page.get_by_label("A comment on this question")):
        page.locator("summary").evaluate("one => (one.parentElement.open = true)")
        field.focus()
        page.keyboard.press("k")
        assert page.evaluate("__earmark.player.playing") is False
        page.keyboard.press("Escape")
        page.keyboard.press("k")
        page.wait_for_function("() => __earmark.player.playing")
        page.keyboard.press("k")
        page.wait_for_function("() => !__earmark.player.playing")


@pytest.mark.parametrize("opener", ["Keyboard", "Skip", "?"])
def test_enter_saves_after_a_dialog_that_a_click_or_a_key_opened(served: Serve, judge: Follow, opener: str) -> None:
    """A dialog gives the focus back to what was clicked before; nobody has gone there by keys."""
    ann = judge(served("grade").link()).begin()
    page, first = ann.page, ann.id
    ann.hear_all()
    page.keyboard.press("2")
    page.locator(".showing .play").first.click()
    page.wait_for_function("() => __earmark.player.playing")
    if opener == "?":
        page.keyboard.press("?")
    else:
        page.locator(".asides").get_by_role("button", name=opener, exact=True).click()
    expect(page.locator("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(ann.question).not_to_have_attribute("data-question", first)
    ann.expect_saved()


def test_enter_presses_a_button_that_keys_have_reached_also_after_its_dialog(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page, first = ann.page, ann.id
    ann.hear_all()
    page.keyboard.press("2")
    page.keyboard.press("Shift")
    skip = page.locator(".asides").get_by_role("button", name="Skip", exact=True)
    for _ in range(50):
        page.keyboard.press("Tab")
        if skip.evaluate("one => one === document.activeElement"):
            break
    for _ in range(2):
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        expect(skip).to_be_focused()
    assert ann.id == first


def test_undo_after_a_skip_says_which_answer_it_takes_back(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    first = ann.id
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    ann.expect_saved()
    second = ann.id
    page.keyboard.press("s")
    page.get_by_role("button", name="Skip it").click()
    expect(ann.question).not_to_have_attribute("data-question", second)
    expect(page.get_by_role("button", name="Undo the last answer")).to_have_count(0)
    undo = page.get_by_role("button", name="Undo the earlier answer, the one before the skipped question")
    expect(undo).to_have_text("Undo the earlier answer")
    ann.expect_saved()
    undo.click()
    expect(ann.question).to_have_attribute("data-question", first)
    expect(page.locator(".toast")).to_contain_text("Your answer before the skipped question was taken back.")


def test_a_comment_goes_with_a_skip_and_is_logged_once(served: Serve, judge: Follow) -> None:
    server = served("grade")
    skipped, commented = len(server.events("skipped")), len(server.events("commented"))
    ann = judge(server.link()).begin()
    page = ann.page
    page.keyboard.press("m")
    page.keyboard.type("hum on the left")
    page.keyboard.press("Escape")
    first = ann.id
    page.keyboard.press("s")
    page.get_by_label("Why?").fill("too loud")
    page.get_by_role("button", name="Skip it").click()
    expect(ann.question).not_to_have_attribute("data-question", first)
    ann.expect_saved()
    assert server.events("skipped")[skipped]["text"] == "hum on the left\ntoo loud"

    page.keyboard.press("m")
    page.keyboard.type("lovely")
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    ann.expect_saved()
    page.get_by_role("button", name="Undo the last answer").click()
    expect(page.get_by_label("A comment on this question")).to_have_value("lovely")
    ann.choose("Not similar")
    ann.next()
    ann.expect_saved()
    assert [one["text"] for one in server.events("commented")[commented:]] == ["lovely"]


def test_the_thanks_are_worded_by_kind(served: Serve, judge: Follow) -> None:
    ann = judge(served("order").link()).begin()
    ann.hear_all()
    ann.answer_somehow()
    ann.next()
    ann.expect_saved()
    ann.page.get_by_role("button", name="Stop for now").click()
    expect(ann.page.get_by_text("You put the candidates of 1 query into order.")).to_be_visible()
