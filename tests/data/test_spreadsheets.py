"""Text that a spreadsheet would compute is marked in tables, and comes back as it was."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.question_files import read_questions, write_table
from earmark.data.content import Content, read_content, write_content
from earmark.data.conversion import judgments_from_dict, runs_from_dict
from earmark.data.ground_truth import OrderedGroups
from earmark.data.preference_checks import check_answers
from earmark.data.preference_files import read_preferences, write_preferences
from earmark.data.preferences import Preferences
from earmark.data.readers import read_groups, read_judgments, read_runs
from earmark.data.spreadsheets import escape_formulas, restore_formulas
from earmark.data.writers import write_groups, write_judgments, write_questions, write_runs

FORMULAS = ("=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx")
# Ids as they are, as they are marked, and some that only look like it.
IDS = (*FORMULAS, *(f"'{one}" for one in FORMULAS), "''=x", "'tis", "''", "a=b", "'", "=cmd|' /C calc'!A0", "=")


def computed(path: Path, separator: str = ",") -> list[str]:
    """Return the cells of text that a spreadsheet would compute; a number is none."""
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file, delimiter=separator) for cell in row]
    return [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) and not _is_number(cell)]


def _is_number(cell: str) -> bool:
    return cell.lstrip("-").replace(".", "").isdigit() and cell not in IDS


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_text_is_a_formula_and_numbers_stay(cell: str) -> None:
    frame = pl.DataFrame({"a": [cell, None, "x=1"], "n": [-1.0, 2.0, None]})
    marked = escape_formulas(frame)
    assert marked.rows() == [(f"'{cell}", -1.0), (None, 2.0), ("x=1", None)]
    assert restore_formulas(marked).equals(frame)


@given(st.lists(st.text(alphabet="'=+-@\t\r\nab1", max_size=4), min_size=1))
def test_every_text_comes_back(cells: list[str]) -> None:
    frame = pl.DataFrame({"a": cells}, schema={"a": pl.String})
    marked = escape_formulas(frame)
    assert restore_formulas(marked).equals(frame)
    assert not marked["a"].str.contains(r"^[=+\-@\t\r\n]").any()


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
def test_runs_judgments_and_groups_come_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    answer = {one: float(-place) for place, one in enumerate(IDS)}
    runs = runs_from_dict({"=S": {"@q": answer, "r": answer}, "T": {"@q": answer}})
    write_runs(runs, path)
    assert name != "x.csv" or not computed(path)
    assert read_runs(path).to_polars().equals(runs.to_polars())
    judged = judgments_from_dict({"-q": {one: place % 3 for place, one in enumerate(IDS)}})
    write_judgments(judged, path)
    assert name != "x.csv" or not computed(path)
    assert read_judgments(path).frame.equals(judged.frame)
    groups = OrderedGroups(pl.DataFrame({"query": ["=q"] * len(IDS), "document": IDS, "group": range(1, len(IDS) + 1)}))
    write_groups(groups, path)
    assert name != "x.csv" or not computed(path)
    assert read_groups(path).frame.equals(groups.frame)


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_preferences_and_content_come_back(tmp_path: Path, name: str) -> None:
    path, separator = tmp_path / name, "\t" if name.endswith("tsv") else ","
    frame = pl.DataFrame({"query": ["-q"] * len(IDS), "a": IDS, "b": ["b"] * len(IDS), "assessor": ["@w"] * len(IDS),
                          "choice": ["a"] * len(IDS), "strength": [1.0] * len(IDS)})  # fmt: skip
    answers = Preferences(check_answers(frame))
    write_preferences(answers, path)
    assert not computed(path, separator)
    assert read_preferences(path).frame.equals(answers.frame)
    content = Content(IDS, np.arange(-len(IDS), len(IDS), dtype=float).reshape(-1, 2))
    write_content(content, path)
    assert not computed(path, separator)
    again = read_content(path)
    assert again.documents == IDS
    assert np.array_equal(again.values, content.values)


def test_questions_come_back(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    items = pl.DataFrame({"query": ["=q"] * len(IDS), "document": IDS, "sampled": [True] * len(IDS)})
    write_questions(items, path)
    assert not computed(path)
    # Somebody fills it in, in a spreadsheet that keeps what it was given.
    path.write_bytes(path.read_bytes().replace(b",,true", b",1,true"))
    assert read_judgments(path).frame.select("query", "document").equals(items.select("query", "document"))
    # White space around the ids of questions never counted.
    ids = [one for one in IDS if one == one.strip()]
    table = pl.DataFrame({"query": ["=q"] * len(ids), "a": ids, "b": ["b"] * len(ids)})
    write_table(table, path)
    assert not computed(path)
    assert read_questions(path).equals(table)


def test_files_without_a_header_hold_text_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    runs = runs_from_dict({"S": {"=q": {"'=x": 2.0, "-y": 1.0}}})
    write_runs(runs, path)
    assert path.read_text() == "S\t=q\t'=x\nS\t=q\t-y\n"
    assert read_runs(path).documents.to_list() == ["'=x", "-y"]
