"""For everybody: accessibility of every state of the page, phones, and origins that are no secure context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from judging import OTHER_NAME, Judge, Server, full
from playwright.sync_api import Page, expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
TARGET = 44
SMALL = """(least) => [...document.querySelectorAll("button, a[href], select, textarea, summary, input, [role=slider]")]
  .filter((one) => {
    const box = (one.closest(".choice, label.check, label.level") ?? one).getBoundingClientRect();
    const shown = one.checkVisibility() && box.width > 0 && !one.closest(".skip");
    return shown && (box.width < least - 0.5 || box.height < least - 0.5);
  })
  .map((one) => `${one.outerHTML.slice(0, 80)} ${JSON.stringify(one.getBoundingClientRect())}`)"""


def assert_accessible(page: Page) -> None:
    found = Axe().run(page, options=RULES)
    wrong = [(one["id"], [node["html"][:150] for node in one["nodes"]]) for one in found.response["violations"]]
    assert not wrong


def assert_fits_a_phone(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(SMALL, TARGET) == []


def assert_drawn(page: Page) -> None:
    """Waveforms are drawn in the colours of the style, in light and in dark."""
    drawn = page.evaluate(
        """() => {
          const wanted = getComputedStyle(document.documentElement).getPropertyValue("--wave").trim();
          const probe = document.createElement("canvas").getContext("2d");
          probe.fillStyle = wanted;
          probe.fillRect(0, 0, 1, 1);
          const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
          const canvases = [...document.querySelectorAll(".waveform canvas")].filter((one) => one.checkVisibility());
          return canvases.map((one) => {
            const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
            for (let at = 0; at < data.length; at += 4) {
              if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
            }
            return false;
          });
        }"""
    )
    assert all(drawn)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["grade", "both", "prefer", "order", "lists"])
def test_questions(served: Serve, judge: Follow, name: str, scheme: str) -> None:
    phone = PHONE if scheme == "dark" else {}
    ann = judge(served(name).link(), color_scheme=scheme, bypass_csp=True, **phone).begin()
    page = ann.page
    page.locator(".play").last.click()
    expect(page.locator(".listened[data-state=done]").first).to_be_visible()
    assert_accessible(page)
    assert_drawn(page)
    if phone:
        assert_fits_a_phone(page)
        # The answer is within reach of a thumb: it stays at the lower edge, however long the page is.
        page.evaluate("window.scrollTo(0, 0)")
        box = page.locator(".next").bounding_box()
        assert box is not None
        assert 844 / 2 < box["y"] + box["height"] <= 844


def test_the_clip_that_plays_in_a_list_has_its_waveform_on_a_phone(served: Serve, judge: Follow) -> None:
    ann = judge(served("lists").link(), **PHONE).begin()
    page = ann.page
    # Left and right are beside each other, as the lists are.
    left, right = (page.locator(".lists .choice", has_text=side).bounding_box() for side in ("Left", "Right"))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    row = page.locator("[data-part='second 1']")
    expect(row.locator(".waveform")).to_be_hidden()
    row.locator(".play").tap()
    wave = row.locator(".waveform")
    expect(wave).to_be_visible()
    box = wave.bounding_box()
    assert box is not None
    assert box["width"] >= 120
    assert box["height"] >= TARGET - 0.5
    wave.tap(position={"x": box["width"] * 0.7, "y": 20})
    assert page.evaluate("__earmark.player.position") > 1.8
    expect(page.locator(".listed .waveform:visible")).to_have_count(1)


def test_states_around_the_questions(served: Serve, judge: Follow) -> None:
    how: dict[str, Any] = {"bypass_csp": True, **PHONE}
    server = served("grade", **full("grade"))
    ann = judge(server.link(), **how).open()
    page = ann.page
    seen: list[str] = []

    def look(heading: str) -> None:
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        assert_accessible(page)
        assert_fits_a_phone(page)
        seen.append(page.title())

    look("Before you begin")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Continue").click()
    look("About you")
    page.get_by_label("For how many years").fill("7")
    page.get_by_label("Headphones").check()
    page.get_by_role("button", name="Continue").click()
    look("Sound check")
    page.get_by_role("button", name="Play the beeps").click()
    look("Sound check")
    page.get_by_role("button", name="I hear nothing").click()
    page.get_by_role("button", name="I hear nothing").click()
    look("Sound check")
    page.get_by_role("button", name="Continue anyway").click()
    look("What to do")
    page.get_by_role("button", name="Begin").click()
    ann.hear_all()
    ann.choose("Nothing alike")
    page.locator(".next").click()
    expect(page.locator(".feedback")).to_be_visible()
    look("How similar are these two pieces?")
    page.get_by_role("button", name="Go to the questions").click()
    page.get_by_role("button", name="Does not play").click()
    look("How similar are these two pieces?")
    page.keyboard.press("Escape")
    ann.hear_all()
    ann.choose("Nothing alike")
    page.locator(".next").click()
    look("Time for a short break?")
    page.get_by_role("button", name="Stop for now").click()
    look("Thank you")
    assert len(set(seen)) >= 8
    page.goto(f"{server.address}/judge/nothing")
    look("This link does not work")
    ann.problems = [one for one in ann.problems if "404" not in one]


def test_the_focus_goes_where_the_page_goes(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    expect(page.locator("#status")).to_have_text("Saved")
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    # Keys are for the page only while nobody types.
    page.keyboard.press("m")
    page.keyboard.type("quasi all")
    expect(page.get_by_label("A comment on this question")).to_have_value("quasi all")
    assert page.evaluate("__earmark.player.playing") is False
    # Single keys can be turned off.
    page.keyboard.press("Escape")
    page.locator("h1").focus()
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts are on").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("q")
    page.wait_for_timeout(100)
    assert page.evaluate("__earmark.player.playing") is False


def test_a_page_that_is_much_enlarged(served: Serve, judge: Follow) -> None:
    """At four times the size a window of 1280 by 1024 holds 320 by 256: nothing scrolls sideways or hides the rest."""
    ann = judge(served("grade").link(), viewport={"width": 320, "height": 256}).begin()
    assert ann.page.evaluate("document.documentElement.scrollWidth") <= 320
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    ann.expect_saved()


def test_an_origin_that_is_no_secure_context(served: Serve, judge: Follow) -> None:
    """In a local network pages come by plain http, where browsers offer less than on the own computer."""
    server = served("grade")
    ann = judge(server.link().replace("127.0.0.1", OTHER_NAME)).begin()
    assert ann.page.evaluate("window.isSecureContext") is False
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    ann.expect_saved()
    ann.page.get_by_role("button", name="Stop for now").click()
    ann.page.get_by_role("button", name="Copy").click()
    expect(ann.page.get_by_role("button", name="Copied")).to_be_visible()
