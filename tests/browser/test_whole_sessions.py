"""Whole sessions, from consent to thanks: every kind of question by mouse, and by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hands import Hands, Keyboard, Mouse, Shortcuts
from judging import DEPTH, Judge, Server, full
from playwright.sync_api import expect

from earmark.store.people import known_people

Serve = Callable[..., Server]
Follow = Callable[..., Judge]
USUAL = "The usual answer is: "


@dataclass(frozen=True)
class Course:
    """What somebody answers to questions of a kind: what is pressed, or the keys of the page for the same.

    Attributes
    ----------
    exercise, first, second : tuple of str
        What is pressed in the training and for the two questions.
    exercise_keys, second_keys : tuple of str
        Keys instead. The first question is answered with Tab, arrows, space and Enter.
    feedback, keys_feedback : str
        What is said after the training, a regular expression.
    thanks : str
    """

    exercise: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    exercise_keys: tuple[str, ...]
    second_keys: tuple[str, ...]
    feedback: str
    keys_feedback: str
    thanks: str


COURSES = {
    "grade": Course(
        exercise=("Nothing alike",),
        first=("Somewhat similar",),
        second=("Very similar",),
        exercise_keys=("3",),
        second_keys=("3",),
        feedback="Both clips were the same song, so the expected answer is: Very similar\\.",
        keys_feedback="That is right",
        thanks="You gave 2 answers about",
    ),
    "pairs": Course(
        exercise=("The same",),
        first=("A is better", "4"),
        second=("The same",),
        exercise_keys=("ArrowRight", "ArrowDown"),
        second_keys=("ArrowDown",),
        feedback=f"{USUAL}[AB] is better\\.Listen to the melody",
        keys_feedback=f"{USUAL}[AB] is better\\.Listen to the melody",
        thanks="You gave 2 answers about",
    ),
    "order": Course(
        exercise=("All are similar",),
        first=("All are similar", "Move the line up"),
        second=("All are similar", "Move the line up", "Move the line up"),
        exercise_keys=("e",),
        second_keys=("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "Shift+ArrowDown", "c"),
        feedback=f"{USUAL}.*Listen to the melody",
        keys_feedback=f"{USUAL}.*Listen to the melody",
        thanks="You put the candidates of 2 queries into order",
    ),
    "covering lists": Course(
        exercise=("Both bad",),
        first=("Left is better",),
        second=("Both bad",),
        exercise_keys=("2",),
        second_keys=("3",),
        feedback="begins with the query itself, so the expected answer is: (Left|Right) is better\\.",
        keys_feedback="begins with the query itself, so the expected answer is: (Left|Right) is better\\.",
        thanks="You compared 2 pairs of lists",
    ),
}


@pytest.mark.parametrize("how", [Mouse, Keyboard])
@pytest.mark.parametrize("name", COURSES)
def test_a_session_from_consent_to_thanks(served: Serve, judge: Follow, name: str, how: type[Hands]) -> None:
    course = COURSES[name]
    server = served(name, **full(name))
    ann = judge(server.link(f"{how.__name__} {name}"))
    hands = how(ann)
    # Somebody with a keyboard also uses the keys of the page.
    quick = Shortcuts(ann) if how is Keyboard else hands
    page = ann.page
    ann.open()
    hands.consent()
    hands.describe_oneself()
    hands.check_sound()
    assert page.evaluate("__earmark.player.context.state") == "running"
    hands.begin()

    expect(page.get_by_text("Practice 1 of 1")).to_be_visible()
    quick.hear_all()
    quick.answer(*(course.exercise if quick is hands else course.exercise_keys))
    quick.save()
    quick.read_feedback(course.feedback if quick is hands else course.keys_feedback)

    expect(page).to_have_title("Question 1 · Which songs are alike?")
    expect(page.locator(".listed")).to_have_count(2 * DEPTH if name == "covering lists" else 0)
    hands.hear_all()
    # In rows, one button is for the clip that was played last.
    hands.press(page.get_by_role("button", name="I know this song: ").last)
    wanted = order_by_moving(hands) if name == "order" else []
    hands.answer(*course.first)
    if wanted:
        assert order_on_page(hands) == wanted
    hands.save()
    hands.go_on_after_a_break()

    expect(page).to_have_title("Question 2 · Which songs are alike?")
    quick.hear_all()
    quick.answer(*(course.second if quick is hands else course.second_keys))
    quick.save()
    hands.expect_thanks(course.thanks)
    hands.expect_no_other_input()

    (person,) = (one for one in known_people(server.opened.store) if one["name"] == f"{how.__name__} {name}")
    assert_described(person)
    mine = [row for row in server.events() if row["assessor"] == person["assessor"]]
    assert "consented" in {row["kind"] for row in mine}
    given = [row for row in mine if row["kind"] == "answered"]
    assert_recorded(name, given, n_candidates=len(wanted))
    for row in given:
        details = json.loads(row["text"])
        assert details["input"] == hands.input
        assert len(details["heard"]) > 1
        assert all(one["seconds"] >= 0.2 for one in details["heard"])
    known = json.loads(given[0]["text"])["known"]
    assert known == ["candidate 0"] if name == "grade" else len(known) == 1


def order_on_page(hands: Hands) -> list[str]:
    return hands.page.locator(".ordered .shown-name").all_inner_texts()


def order_by_moving(hands: Hands) -> list[str]:
    """Move the third candidate to the top; return the order that there should be."""
    names = order_on_page(hands)
    hands.move_up(names[2], 2)
    wanted = [names[2], *names[:2], *names[3:]]
    assert order_on_page(hands) == wanted
    return wanted


def assert_described(person: dict[str, Any]) -> None:
    """See that what somebody said about themselves and did before the questions was noted."""
    assert json.loads(person["questionnaire"]) == {"years": 7, "listens": "Headphones", "other": "No, nothing"}
    prepared = json.loads(person["prepared"])
    assert prepared["sound"]["right"] is True
    assert prepared["sound"]["attempts"] == 2
    assert 0 < prepared["sound"]["level"] < 0.9
    assert (prepared["training"]["of"], prepared["training"]["skipped"]) == (1, 0)


def assert_recorded(name: str, given: list[dict[str, Any]], *, n_candidates: int) -> None:
    """See that the two answers are in the log as they were meant."""
    first, second = given
    if name == "grade":
        assert [row["gain"] for row in given] == [1.0, 2.0]
    elif name == "pairs":
        assert (first["choice"] in ("a", "b"), first["strength"]) == (True, 4.0)
        assert (second["choice"], second["strength"]) == ("same", None)
    elif name == "order":
        said = [json.loads(row["choice"]) for row in given]
        assert said[0]["cut"] == n_candidates - 1
        assert len(set(said[0]["order"])) == n_candidates
        assert 0 < said[1]["cut"] < len(said[1]["order"])
    else:
        assert first["choice"] in ("a", "b")
        assert second["choice"] == "neither"
