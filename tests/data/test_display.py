"""How results are shown: numbers that claim no more than there is, nothing long, nothing that breaks a page."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.lib.pretty import pretty

from earmark.data.display import MOST_ROWS, Display, DisplayTable, Summary, facts, written_cells

HOSTILE = '<script>alert("&")</script>'


@dataclass(frozen=True, repr=False)
class Thing(Display):
    name: str
    rows: int = 3

    def _summary(self) -> Summary:
        frame = pl.DataFrame({"id": [self.name] * self.rows, "score": [0.5] * self.rows})
        return Summary(f"a thing called {self.name}", [DisplayTable(frame, "All of it")], [f"mind {self.name}"])


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=5))
def test_nothing_below_one_reads_as_one(values: list[float]) -> None:
    assert all(float(cell) < 1 for cell in written_cells(values))


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=5))
def test_numbers_keep_four_digits(values: list[float]) -> None:
    for value, cell in zip(values, written_cells(values), strict=True):
        assert abs(float(cell) - value) <= 1.0001e-4


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([1.0, 0.99996], ["1.0000", "0.9999"]),
        ([-0.99996], ["-0.9999"]),
        ([3.0, 12.0], ["3", "12"]),
        ([12.345, 0.5], ["12.35", "0.50"]),
        ([999.96], ["1,000.0"]),
        ([123456.7], ["123,457"]),
        ([math.nan, math.inf, None], ["–", "inf", "–"]),
        ([0.5, -6e-17, 2e-9], ["0.5000", "0.0000", "2e-09"]),
        ([True, False], ["yes", "no"]),
        ([12345], ["12,345"]),
        (["a\nb", "x" * 70], ["a b", "x" * 59 + "…"]),
    ],
)
def test_cells(values: list[object], cells: list[str]) -> None:
    assert written_cells(values) == cells


def test_a_long_table_shows_its_first_rows_and_counts_the_others() -> None:
    sheet = DisplayTable(pl.DataFrame({"n": range(1234)}))
    assert sheet.text().splitlines()[-2:] == ["9", "… and 1,224 more"]
    assert sheet.html().count("<tr>") == MOST_ROWS + 1
    assert "… and 1,224 more" in sheet.html()
    assert DisplayTable(pl.DataFrame({"n": range(MOST_ROWS)})).left_out == 0
    assert DisplayTable(pl.DataFrame({"n": [1, 2]}), total=7).left_out == 5


def test_columns_stand_under_each_other() -> None:
    frame = pl.DataFrame({"system": ["a", "long"], "score": [0.25, 10.5]})
    assert DisplayTable(frame).text().splitlines() == ["system  score", "a        0.25", "long    10.50"]


def test_numbers_are_set_to_the_right_in_html() -> None:
    page = DisplayTable(pl.DataFrame({"name": ["a"], "n": [1]})).html()
    assert '<td style="text-align: left">a</td><td style="text-align: right">1</td>' in page


def test_numbers_that_are_written_already_are_numbers() -> None:
    sheet = DisplayTable(pl.DataFrame({"": ["share", "hours"], "low": ["5%", "1,000.5"], "why": ["1 of 2", "3"]}))
    assert [numeric for _, numeric, _ in sheet.columns] == [False, True, False]


def test_facts_one_below_the_other() -> None:
    assert facts(mean_rmse=0.5, items=3).text().splitlines()[1:] == ["mean rmse  0.5000", "items           3"]


def test_a_thing_in_a_line_in_print_and_in_a_notebook() -> None:
    thing = Thing("x")
    assert repr(thing) == "<Thing: a thing called x>"
    whole = "Thing: a thing called x\nAll of it:\nid   score\nx   0.5000\nx   0.5000\nx   0.5000\n- mind x"
    assert str(thing) == whole
    assert pretty(thing) == whole
    assert pretty([thing, thing]) == "[<Thing: a thing called x>, <Thing: a thing called x>]"
    assert thing._repr_html_().startswith("<div><p><b>Thing</b>: a thing called x</p><div>All of it:</div><table>")


def test_a_line_is_never_long() -> None:
    assert len(repr(Thing("x" * 500))) == 162


def test_ids_cannot_become_markup() -> None:
    page = Thing(HOSTILE)._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 5


def test_empty_tables_are_left_out_and_many_notes_cut_short() -> None:
    view = Summary("nothing", [DisplayTable(pl.DataFrame({"a": []}))], [f"note {number}" for number in range(9)])
    assert view.text("V").splitlines() == ["V: nothing", *(f"- note {number}" for number in range(5)), "- and 4 more"]
    assert "<table>" not in view.html("V")
    assert view.html("V").count("<li>") == 6


def test_a_class_has_to_say_what_there_is_to_see() -> None:
    with pytest.raises(NotImplementedError):
        repr(Display())
