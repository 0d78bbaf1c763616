"""The words of the pages: every language has them, and every word that a page asks for is there."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from earmark.web.catalogue import ENGLISH, LANGUAGES, words

STATIC = Path(str(files("earmark.web") / "static" / "judge"))
PARTS = ("judge", "messages", "recruit", "verdict", "grammar")
OTHERS = sorted(set(LANGUAGES) - {ENGLISH})


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_says_everything_that_assessors_read(language: str, part: str) -> None:
    english, other = words(ENGLISH, part), words(language, part)
    # Where a word is missing, the English one stands in.
    same = {key for key, text in english.items() if other[key] == text}
    assert same <= {"better_a", "hint_part", "listed", "platform_prolific", "platform_mturk"}
    wrong = {key for key, text in english.items() if placeholders(text) != placeholders(other[key])}
    assert not wrong


def test_pages_ask_for_words_that_exist() -> None:
    known = words(ENGLISH, "judge")
    source = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.js"))
    asked = set(re.findall(r'\bt\("(\w+)"', source))
    counted = {f"{key}_{form}" for key in re.findall(r'\bcounted\("(\w+)"', source) for form in ("one", "other")}
    assert len(asked) > 100
    assert asked | counted <= set(known)


def test_words_are_asked_for() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.js"))
    templates = Path(str(files("earmark.pages") / "templates" / "web"))
    source += "".join(path.read_text(encoding="utf-8") for path in templates.glob("*.jinja"))
    # Some names are put together: intro_grade, thanks_done, progress_one.
    stems = ("ask", "intro", "keys_listen", "level_broad", "level_binary", "state", "thanks", "training_own")
    unused = {
        key
        for key in words(ENGLISH, "judge")
        if not re.search(rf"\b{key}\b", source)
        and not re.search(rf'"{key.removesuffix("_one").removesuffix("_other")}"', source)
        and not key.startswith(stems)
    }
    assert not unused


def test_modules_fetch_nothing_from_elsewhere_and_make_no_html_of_text() -> None:
    for path in STATIC.glob("*.js"):
        source = path.read_text(encoding="utf-8")
        assert source.startswith("/* "), path.name
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org)", source)
