"""Pages about papers end with a table of everything in them: whatever it names is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from earmark.campaign.policies import make_policy
from earmark.cli.main import built_commands
from earmark.predictors import PREDICTORS
from earmark.reproduce.figures import NUMBERS

DOCS = Path(__file__).parents[2] / "docs" / "papers"
PAGES = ("mtc", "bias", "cover", "adr", "srbench")
HEADING = "## Everything in the paper, and where it is here"
STATES = ("done", "2011", "given", "simulated", "out of reach: ")


def rows(page: str) -> list[tuple[str, str, str]]:
    """Return the rows of the table at the end of a page."""
    _, found, end = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition(HEADING)
    assert found, page
    lines = [line for line in end.splitlines() if line.startswith("|")]
    assert end.rstrip().endswith(lines[-1]), "the table is the end of the page"
    cells = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines[2:]]
    return [(what, here, state) for what, here, state in cells]


NAMED = sorted({(page, name) for page in PAGES for _, here, _ in rows(page) for name in re.findall("`([^`]+)`", here)})


@pytest.mark.parametrize("page", PAGES)
def test_every_row_has_a_place_or_a_reason(page: str) -> None:
    table = rows(page)
    assert len(table) > 5
    for what, here, state in table:
        assert what
        assert state.startswith(STATES), state
        assert (here == "–") <= state.startswith("out of reach: "), what
        assert here == "–" or re.search("`earmark[ .`]", here), what
    drawn = " ".join(here for _, here, _ in table)
    assert f"earmark reproduce {page} --figures DIR" in drawn
    assert page in NUMBERS


@pytest.mark.parametrize(("page", "name"), [pair for pair in NAMED if pair[1].startswith("earmark.")])
def test_functions_exist(page: str, name: str) -> None:
    parts = name.split(".")
    found = None
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        break
    assert callable(found), f"{page}: {name}"


@pytest.mark.parametrize(("page", "name"), [pair for pair in NAMED if pair[1].startswith("earmark ")])
def test_commands_exist(page: str, name: str) -> None:
    words = name.split()[1:]
    command: Any = built_commands()
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for place, word in enumerate(words):
        if word.startswith("-"):
            assert word in known, f"{page}: {name}"
        if word == "--policy":
            assert make_policy(words[place + 1])
        if word == "--predictor":
            assert words[place + 1] in PREDICTORS, f"{page}: {name}"


def test_predictors_that_are_named_exist() -> None:
    named = {name.partition(" ")[2] for _, name in NAMED if name.startswith("--predictor ")}
    assert named == {"forest"}
    assert all(name in PREDICTORS for name in named)
