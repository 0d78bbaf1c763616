"""Whole sessions: every kind of question by mouse, and by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from judging import DEPTH, FULL, Judge, Server
from playwright.sync_api import expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]


def answers_since(server: Server, before: int) -> list[dict[str, Any]]:
    return server.events("answered")[before:]


def test_a_session_from_consent_to_thanks_by_mouse(served: Serve, judge: Follow) -> None:
    server = served("grade", **FULL)
    before = len(server.events("answered"))
    ann = judge(server.link()).open()
    page = ann.page
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert").filter(has_text="Tick the box")).to_be_visible()
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("heading", name="About you")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("2 questions still need an answer")).to_be_visible()
    page.get_by_label("For how many years").fill("7")
    page.get_by_label("Headphones").check()
    page.get_by_role("button", name="Continue").click()

    ann.pass_sound_check()
    assert page.evaluate("__earmark.player.context.state") == "running"

    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Practice 1 of 1")).to_be_visible()
    ann.hear_all()
    ann.choose("Nothing alike")
    page.locator(".next").click()
    expect(page.get_by_text("Others hear this differently")).to_be_visible()
    expect(page.get_by_text("The usual answer is: Very similar.")).to_be_visible()
    page.get_by_role("button", name="Go to the questions").click()

    for number in range(2):
        expect(page).to_have_title(f"Question {number + 1} · Which songs are alike?")
        page.get_by_role("button", name="I know this song: Candidate").click()
        ann.hear_all()
        ann.choose("Somewhat similar")
        ann.next()
        if number == 0:
            expect(page.get_by_role("heading", name="Time for a short break?")).to_be_visible()
            page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_text("You gave 2 answers about")).to_be_visible()
    expect(page.get_by_text("All your answers are saved.")).to_be_visible()

    given = answers_since(server, before)
    assert [row["gain"] for row in given] == [1.0, 1.0]
    details = json.loads(given[0]["text"])
    assert details["known"] == ["candidate 0"]
    assert details["input"] == "mouse"
    assert {one["part"]: one["seconds"] >= 0.2 for one in details["heard"]} == {"query": True, "candidate 0": True}
    kinds = {row["kind"] for row in server.events()}
    assert {"consented", "answered"} <= kinds


def test_both_scales_and_a_gentle_check_when_they_contradict(served: Serve, judge: Follow) -> None:
    server = served("both")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    ann.hear_all()
    ann.choose("Not similar")
    page.get_by_label("A number from 0 to 100").fill("90")
    page.locator(".next").click()
    expect(page.get_by_text("You said “Not similar” and 90.")).to_be_visible()
    assert len(server.events("answered")) == before
    page.get_by_label("A number from 0 to 100").fill("12")
    ann.next()
    ann.hear_all()
    ann.choose("Very similar")
    slider = page.get_by_role("slider", name="How similar are these two pieces?")
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


def drag(page: Any, grip: Any, target: Any) -> None:
    start, end = grip.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(start["x"] + 10, start["y"] - 20, steps=3)
    page.mouse.move(start["x"] + 10, end["y"] + 2, steps=8)
    page.mouse.up()


def test_two_lists_by_mouse(served: Serve, judge: Follow) -> None:
    server = served("lists")
    before = len(server.events("answered"))
    ann = judge(server.link()).begin()
    page = ann.page
    expect(page.locator(".result-list").nth(0).locator(".listed")).to_have_count(DEPTH)
    for answer in ("Left is better", "Both bad"):
        ann.hear_all()
        ann.choose(answer)
        ann.next()
    ann.expect_saved()
    first, second = answers_since(server, before)
    assert first["choice"] in ("a", "b")
    assert second["choice"] == "neither"


@pytest.mark.parametrize("name", ["grade", "both", "prefer", "order", "lists"])
def test_a_session_by_keyboard_alone(served: Serve, judge: Follow, name: str) -> None:
    server = served(name)
    before = len(server.events("answered"))
    ann = judge(server.link()).open()
    page = ann.page
    press = page.keyboard.press
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    for _ in range(10):
        press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Begin":
            break
    press("Enter")
    expect(ann.question).to_be_visible()
    while page.locator(".asking .badge").count():
        listen_by_keys(ann, name)
        answer_by_keys(ann, name)
        press("Enter")
        expect(page.locator(".feedback")).to_be_visible()
        press("Enter")
        expect(page.locator(".feedback")).to_have_count(0)
        expect(ann.question).to_be_visible()
    for number in range(2):
        expect(page).to_have_title(f"Question {number + 1} · Which songs are alike?")
        listen_by_keys(ann, name)
        answer_by_keys(ann, name)
        expect(page.locator(".hint")).to_have_text("Ready to save.")
        press("Enter")
    expect(page).to_have_title("Question 3 · Which songs are alike?")
    ann.expect_saved()
    given = answers_since(server, before)
    assert len(given) == 2
    assert all(json.loads(row["text"])["input"] == "keys" for row in given)
    press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def listen_by_keys(ann: Judge, name: str) -> None:
    page = ann.page
    press = page.keyboard.press

    def heard(part: str) -> None:
        expect(page.locator(f"[data-part='{part}'] .listened[data-state=done]")).to_be_visible()

    if page.locator("[data-part=query] .play").count():
        press("q")
        heard("query")
    if name == "order":
        parts = page.locator(".ordered .shown").evaluate_all("all => all.map(one => one.dataset.part)")
        for number, part in enumerate(parts):
            press(str(number + 1))
            heard(part)
    elif name == "lists":
        depth = page.locator(".result-list").first.locator(".listed").count()
        for move, side in (("ArrowDown", "first"), ("ArrowUp", "second")):
            ranks = range(depth) if side == "first" else reversed(range(depth))
            for place, rank in enumerate(ranks):
                press("ArrowRight" if side == "second" and place == 0 else move)
                heard(f"{side} {rank}")
    else:
        press("a")
        heard("candidate 0")
        if name == "prefer":
            press("b")
            heard("candidate 1")
    press("k")
    expect(page.locator(".playing")).to_have_count(0)


def answer_by_keys(ann: Judge, name: str) -> None:
    press = ann.page.keyboard.press
    keys = {
        "grade": ["3"],
        "both": ["2", "ArrowUp", "Shift+ArrowUp"],
        "prefer": ["ArrowRight", "3"],
        "order": ["ArrowDown", "Shift+ArrowDown", "c"],
        "lists": ["2"],
    }[name]
    for key in keys:
        press(key)
