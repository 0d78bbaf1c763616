"""The table of premises: whatever test it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADING = "## When a headline says less"
NAME = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> list[list[str]]:
    """Return the rows of the first table of the section."""
    _, _, end = (ROOT / "docs" / "honesty.md").read_text(encoding="utf-8").partition(HEADING)
    table = re.search(r"(?:^\|.*\n)+", end, flags=re.MULTILINE)
    assert table is not None
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()]
    assert cells[0] == ["premise", "what is printed where it fails", "test"]
    return cells[2:]


def test_every_premise_has_words_and_a_test() -> None:
    assert len(rows()) >= 13
    for premise, printed, test in rows():
        assert premise
        assert printed
        assert NAME.search(test), premise


@pytest.mark.parametrize(("path", "name"), sorted({pair for row in rows() for pair in NAME.findall(row[-1])}))
def test_tests_exist(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path} has no {name}"


def test_premises_of_the_model_are_in_the_table() -> None:
    from earmark.campaign.premises import PREMISES

    named = [row[0] for row in rows()]
    assert all(premise.name in named for premise in PREMISES)
