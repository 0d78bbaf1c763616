"""How somebody uses a page: by mouse, or by keyboard alone. The steps of a session are the same for both."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from judging import Judge
from playwright.sync_api import Locator, Page, expect

# Counts what the page is told by a mouse and by keys, so that a test knows that there was nothing of the other kind.
COUNT_INPUTS = """
window.inputs = { mouse: 0, keys: 0 };
addEventListener("pointerdown", () => (inputs.mouse += 1), true);
addEventListener("keydown", () => (inputs.keys += 1), true);
"""
# Which key leads from the focus to an element: whether the element comes earlier in the page.
IS_BEFORE = """target => {
  const { activeElement: at, body } = document;
  return at !== body && Boolean(at.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING);
}"""
HAS_FOCUS = "target => target === document.activeElement"
# Of the radio buttons of one name, Tab reaches one, and arrows lead to the others.
GROUP_HAS_FOCUS = "target => document.activeElement.type === 'radio' && document.activeElement.name === target.name"
FAR = 80


class Hands(ABC):
    """Somebody who goes through a session. What differs between mouse and keyboard is below."""

    input: str

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.page: Page = judge.page
        self.page.add_init_script(COUNT_INPUTS)

    @abstractmethod
    def press(self, button: Locator) -> None:
        """Press a button."""

    @abstractmethod
    def tick(self, box: Locator) -> None:
        """Choose a radio button, or tick a box."""

    @abstractmethod
    def write(self, field: Locator, text: str) -> None:
        """Write into a field."""

    @abstractmethod
    def turn_down(self, slider: Locator) -> None:
        """Turn the loudness down."""

    @abstractmethod
    def move_up(self, name: str, places: int) -> None:
        """Move a candidate of an order up."""

    # What there is to press.

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def press_named(self, name: str) -> None:
        self.press(self.button(name))

    def expect_heading(self, name: str) -> None:
        expect(self.page.get_by_role("heading", name=name, level=1)).to_be_visible()

    # Before the questions.

    def consent(self) -> None:
        self.expect_heading("Before you begin")
        self.press_named("Continue")
        expect(self.page.get_by_role("alert").filter(has_text="Tick the box")).to_be_visible()
        self.tick(self.page.get_by_label("I have read this"))
        self.press_named("Continue")

    def describe_oneself(self) -> None:
        self.expect_heading("About you")
        self.press_named("Continue")
        expect(self.page.get_by_text("2 questions still need an answer")).to_be_visible()
        self.write(self.page.get_by_label("For how many years"), "7")
        self.tick(self.page.get_by_label("Loudspeakers"))
        # Somebody who thinks again.
        self.tick(self.page.get_by_label("Headphones"))
        self.write(self.page.get_by_label("Anything else?"), "No, nothing")
        self.press_named("Continue")

    def check_sound(self) -> None:
        """Set the level, and count the beeps: first wrongly, then as many as there are."""
        self.expect_heading("Sound check")
        self.turn_down(self.page.get_by_role("slider"))
        for label, wrong in (("Play the beeps", 1), ("Play once more", 0)):
            beeps = self.judge.play_beeps(lambda label=label: self.press_named(label))
            self.tick(self.page.locator(".counts").get_by_role("radio", name=str(beeps - wrong), exact=True))
            self.press_named("Confirm")
            said = "That is not the number" if wrong else "That is right"
            expect(self.page.locator(".check-result")).to_contain_text(said)
        self.press_named("Continue")

    def begin(self) -> None:
        self.expect_heading("What to do")
        self.press_named("Begin")

    # Questions.

    def hear_all(self) -> None:
        for part in self.page.locator(".showing .shown:has(.play)").all():
            self.judge.hear(part, lambda part=part: self.press(part.locator(".play")))

    def answer(self, *names: str) -> None:
        """Choose or press what has these names, in this order."""
        for name in names:
            radio = self.page.get_by_role("radio", name=name, exact=True)
            if radio.count():
                self.tick(radio)
            else:
                self.press_named(name)

    def save(self) -> None:
        expect(self.page.locator(".hint")).to_have_text("Ready to save.")
        self.judge.next(lambda: self.press(self.page.locator(".next")))

    def read_feedback(self, said: str) -> None:
        expect(self.page.locator(".feedback")).to_have_text(re.compile(said))
        # The question is over, and there is nothing to skip.
        expect(self.page.locator(".asides")).to_have_count(0)
        self.press_named("Go to the questions")

    def go_on_after_a_break(self) -> None:
        self.expect_heading("Time for a short break?")
        self.press_named("Go on")

    def expect_thanks(self, said: str) -> None:
        self.expect_heading("Thank you")
        expect(self.page.get_by_text(said)).to_be_visible()
        expect(self.page.get_by_text("All your answers are saved.")).to_be_visible()

    def expect_no_other_input(self) -> None:
        """See that the page was told nothing by the other device."""
        counted: dict[str, int] = self.page.evaluate("inputs")
        used = {device for device, count in counted.items() if count}
        assert used == {self.input}, counted


class Mouse(Hands):
    input = "mouse"

    def press(self, button: Locator) -> None:
        button.click()

    def tick(self, box: Locator) -> None:
        # What can be seen of a choice is its label, which lies over it.
        box.check(force=True)

    def write(self, field: Locator, text: str) -> None:
        field.fill(text)

    def turn_down(self, slider: Locator) -> None:
        box = slider.bounding_box()
        assert box is not None
        slider.click(position={"x": box["width"] * 0.7, "y": box["height"] / 2})

    def move_up(self, name: str, places: int) -> None:
        rows = self.page.locator(".ordered")
        at = rows.locator(".shown-name").all_inner_texts().index(name)
        target = rows.nth(at - places)
        target.scroll_into_view_if_needed()
        drag(self.page, rows.nth(at).locator(".grip"), target)


def drag(page: Page, grip: Locator, target: Locator) -> None:
    start, end = grip.bounding_box(), target.bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(start["x"] + 10, start["y"] - 20, steps=3)
    page.mouse.move(start["x"] + 10, end["y"] + 2, steps=8)
    page.mouse.up()


class Keyboard(Hands):
    """Nothing but keys: Tab and Shift+Tab to get somewhere, arrows, space and Enter."""

    input = "keys"

    def reach(self, target: Locator, there: str = HAS_FOCUS) -> None:
        """Go to an element with Tab, or with Shift+Tab if it comes earlier; the focus must be seen."""
        expect(target).to_be_attached()
        for _ in range(FAR):
            if target.evaluate(there):
                assert self.page.evaluate("document.activeElement.matches(':focus-visible')")
                return
            self.page.keyboard.press("Shift+Tab" if target.evaluate(IS_BEFORE) else "Tab")
        raise AssertionError(f"Tab does not lead to {target}")

    def press(self, button: Locator) -> None:
        self.reach(button)
        self.page.keyboard.press("Enter")

    def tick(self, box: Locator) -> None:
        if box.get_attribute("type") == "radio":
            self.reach(box, GROUP_HAS_FOCUS)
            for _ in range(FAR):
                if box.evaluate(HAS_FOCUS):
                    break
                self.page.keyboard.press("ArrowDown")
        self.reach(box)
        if not box.is_checked():
            self.page.keyboard.press("Space")
        expect(box).to_be_checked()

    def write(self, field: Locator, text: str) -> None:
        self.reach(field)
        self.page.keyboard.type(text)

    def turn_down(self, slider: Locator) -> None:
        self.reach(slider)
        self.page.keyboard.press("ArrowLeft")

    def move_up(self, name: str, places: int) -> None:
        up = self.button(f"Move {name} up")
        self.reach(up)
        for _ in range(places):
            self.page.keyboard.press("Space")
            # The button moves with its candidate, and the focus with it.
            assert up.evaluate(HAS_FOCUS)


class Shortcuts(Keyboard):
    """The keys of a question: letters and digits listen, arrows and digits answer, Enter saves."""

    def hear_all(self) -> None:
        kind = self.page.evaluate("document.querySelector('.asking').className.match(/asking-([a-z]+)/)[1]")
        for part, key in self.keys_of_parts(kind):
            self.hear(part, key)
        # One that ends by itself at this moment would begin again.
        while self.page.locator(".playing").count():
            self.page.keyboard.press("k")

    def keys_of_parts(self, kind: str) -> list[tuple[str, str]]:
        """Return all clips of a question in the order in which they are gone through, each with its key."""
        parts: list[str] = self.page.locator(".showing .shown:has(.play)").evaluate_all(
            "all => all.map(one => one.dataset.part)"
        )
        letters = {"query": "q", "candidate 0": "a", "candidate 1": "b"}
        if kind == "order":
            others = [part for part in parts if part != "query"]
            letters = {"query": "q"} | {part: str(number + 1) for number, part in enumerate(others)}
        elif kind == "lists":
            # Down on the left, over to the right, and up.
            left = [part for part in parts if part.startswith("first")]
            right = [part for part in parts if part.startswith("second")][::-1]
            arrows = ["ArrowDown"] * len(left) + ["ArrowRight"] + ["ArrowUp"] * (len(right) - 1)
            return [("query", "q"), *zip([*left, *right], arrows, strict=True)]
        return [(part, letters[part]) for part in parts]

    def hear(self, name: str, key: str) -> None:
        keys = iter([key])
        part = self.page.locator(f"[data-part='{name}']")
        # An arrow goes to the next clip; where that does not play because the last one was over, k plays it.
        self.judge.hear(part, lambda: self.page.keyboard.press(next(keys, "k")))

    def answer(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def save(self) -> None:
        expect(self.page.locator(".hint")).to_have_text("Ready to save.")
        self.judge.next(lambda: self.page.keyboard.press("Enter"))

    def read_feedback(self, said: str) -> None:
        expect(self.page.locator(".feedback")).to_have_text(re.compile(said))
        self.page.keyboard.press("Enter")
