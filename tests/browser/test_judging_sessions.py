"""What is special about some questions: two scales, queries that are no sound, orders by dragging, keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hands import Shortcuts, drag
from judging import Judge, Server
from playwright.sync_api import expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]
KEYS = {"both": ("2", "ArrowUp", "Shift+ArrowUp"), "prefer": ("ArrowRight", "3")}


def answers_since(server: Server, before: int) -> list[dict[str, Any]]:
    return server.events("answered")[before:]


def test_both_scales_and_a_gentle_check_when_they_contradict(served: Serve, judge: Follow) -> None:
    server = served("both")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    ann.hear_all()
    # The second scale has a question of its own, its ends have numbers, and no knob suggests an answer.
    scale = page.locator(".range")
    for said in ("And more finely, from 0 to 100?", "0 Not similar at all", "100 Identical"):
        expect(scale).to_contain_text(said)
    expect(scale.get_by_role("slider")).to_have_class("unset")
    ann.choose("Not similar")
    page.get_by_label("A number from 0 to 100").fill("150")
    expect(page.locator(".hint")).to_have_text("Type a number from 0 to 100.")
    page.get_by_label("A number from 0 to 100").fill("90")
    page.locator(".next").click()
    expect(page.get_by_text("You answered “Not similar” and 90.")).to_be_visible()
    assert len(server.events("answered")) == before
    page.get_by_label("A number from 0 to 100").fill("12")
    ann.next()
    ann.hear_all()
    ann.choose("Very similar")
    slider = page.get_by_role("slider", name="And more finely, from 0 to 100?")
    slider.focus()
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
    expect(page.get_by_label("A number from 0 to 100")).to_have_value("98")
    ann.next()
    ann.expect_saved()
    given = answers_since(server, before)
    assert [(row["gain"], json.loads(row["text"])["also"]) for row in given] == [(12.0, 0.0), (98.0, 2.0)]


def test_queries_that_are_no_sound_and_a_typed_number(served: Serve, judge: Follow) -> None:
    server = served("mixed")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    seen = set()
    for number in range(12):
        if page.get_by_role("heading", name="Thank you").count() or seen == {"text", "score", "link", "title"}:
            break
        query = page.locator("[data-part=query]")
        if query.locator("blockquote").count():
            # What others wrote is text, and no part of the page.
            expect(query.locator("blockquote")).to_have_text("Something slow, <b>for late at night</b>")
            seen.add("text")
        elif query.get_by_role("link").count():
            expect(query.get_by_role("link", name="Open example.org")).to_have_attribute("rel", "noopener noreferrer")
            seen.add("link")
        elif query.locator("img").count():
            expect(query.get_by_role("button", name="Enlarge: Score: Query")).to_be_visible()
            seen.add("score")
        else:
            expect(query.locator(".shown-title")).to_have_text("Take Five")
            seen.add("title")
        ann.hear_all()
        page.keyboard.type(str(50 + number))
        expect(page.get_by_label("A number from 0 to 100")).to_have_value(str(50 + number))
        page.keyboard.press("Enter")
        expect(page).to_have_title(f"Question {number + 2} · Which songs are alike?")
    assert seen == {"text", "score", "link", "title"}
    ann.expect_saved()
    assert {row["gain"] for row in answers_since(server, before)} <= {50.0 + number for number in range(12)}


def test_preferences_by_mouse(served: Serve, judge: Follow) -> None:
    server = served("prefer")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    expect(page.locator("[data-part=query] img")).to_have_count(5)
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-part=query] img')].every(one => one.naturalWidth > 0)"
    )
    page.get_by_role("button", name="Enlarge: Picture 2 of 5").click()
    page.get_by_role("button", name="Close").click()
    ann.hear_all()
    ann.choose("A is better")
    page.locator(".next").click(force=True)
    expect(page.locator(".hint.attempted")).to_have_text("Say by how much.")
    ann.choose("4")
    ann.next()
    ann.hear_all()
    ann.choose("The same")
    ann.next()
    ann.expect_saved()
    first, second = answers_since(server, before)
    assert (first["choice"] in ("a", "b"), first["strength"]) == (True, 4.0)
    assert (second["choice"], second["strength"]) == ("same", None)


def test_an_order_by_dragging(served: Serve, judge: Follow) -> None:
    server = served("order")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    ann.hear_all()
    rows = page.locator(".ordered")
    names = rows.locator(".shown-name").all_inner_texts()
    rows.nth(0).scroll_into_view_if_needed()
    drag(page, rows.nth(2).locator(".grip"), rows.nth(0))
    assert rows.locator(".shown-name").all_inner_texts() == [names[2], names[0], names[1], *names[3:]]
    page.locator(".next").click(force=True)
    expect(page.locator(".hint.attempted")).to_contain_text("Move the line")
    page.get_by_role("button", name="All are similar").click()
    page.get_by_role("button", name="Move the line up").click()
    page.get_by_role("button", name=f"Move {names[1]} up").click()
    ann.next()
    ann.expect_saved()
    (given,) = answers_since(server, before)
    said = json.loads(given["choice"])
    assert said["cut"] == len(names) - 1
    assert len(said["order"]) == len(names)


@pytest.mark.parametrize("name", KEYS)
def test_two_scales_and_pictures_by_keyboard_alone(served: Serve, judge: Follow, name: str) -> None:
    server = served(name)
    before = len(server.events("answered"))
    ann = judge(server.link())
    hands = Shortcuts(ann)
    page = ann.page
    ann.open()
    hands.begin()
    expect(ann.question).to_be_visible()
    if page.locator(".asking .badge").count():
        hands.hear_all()
        hands.answer(*KEYS[name])
        hands.save()
        hands.read_feedback("Both clips were the same song, so the expected answer is: 100")
    for number in range(2):
        expect(page).to_have_title(f"Question {number + 1} · Which songs are alike?")
        hands.hear_all()
        hands.answer(*KEYS[name])
        hands.save()
    expect(page).to_have_title("Question 3 · Which songs are alike?")
    ann.expect_saved()
    given = answers_since(server, before)
    assert len(given) == 2
    assert all(json.loads(row["text"])["input"] == "keys" for row in given)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    hands.expect_no_other_input()
