"""Groups of real preferences are the published ones, and the ADR of simple orders under them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from earmark.data.conversion import runs_from_frame
from earmark.data.ground_truth import OrderedGroups
from earmark.evaluation import evaluate
from earmark.reproduce import typke2006 as adr
from earmark.reproduce import urbano2010 as melodies
from earmark.reproduce.comparison import Comparison


@pytest.fixture(scope="module")
def tables(melody: Path) -> list[Comparison]:
    return melodies.tables(melody)


def test_the_published_groups_come_back(tables: list[Comparison]) -> None:
    ours = {(row.name, row.column): (row.paper, row.ours, row.agrees) for row in tables[0].rows}
    assert ours["pairs of documents that agree", "pivots, lead 2"] == ("717", 717.0, True)
    assert ours["pairs ordered by both", "pivots, lead 2"] == ("651", 651.0, True)
    assert ours["queries with the same groups", "pivots, lead 2"] == ("11", 11.0, True)
    assert ours["groups", "pivots, lead 2"] == ("71", 71.0, True)
    assert ours["of these, opposite", "scores, α 0.05, all"] == ("0", 0.0, None)
    assert "Of the 171 questions with such a lead, 43 are significant" in tables[0].notes[1]


def test_simple_orders_stand_in_the_order_one_would_expect(tables: list[Comparison]) -> None:
    ours = {(row.name, row.column): float(row.ours) for row in tables[1].rows}
    for groups in ("published", "pivots, lead 2", "scores, α 0.05, all", "scores, α 0.05, any"):
        wins, chance, reverse = (
            ours[name, groups] for name in ("by number of wins", "random order, expected", "the same reversed")
        )
        assert wins > chance > reverse
    assert ours["by number of wins", "published"] == pytest.approx(0.7840, abs=5e-5)
    assert ours["random order, expected", "published"] == pytest.approx(0.6179, abs=5e-5)
    assert ours["the same reversed", "published"] == pytest.approx(0.5072, abs=5e-5)


def test_they_follow_the_examples_of_the_paper(melody: Path) -> None:
    assert [table.title for table in adr.tables(melody)[5:-1]] == [
        "Melodies of 2010: groups made of preferences",
        "Melodies of 2010: ADR of simple orders",
    ]


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 3), (4,), (1, 3)])
def test_the_expected_adr_is_the_mean_over_all_orders(sizes: tuple[int, ...]) -> None:
    group = [number for number, size in enumerate(sizes, 1) for _ in range(size)]
    documents = [f"d{place}" for place in range(len(group))]
    groups = OrderedGroups(pl.DataFrame({"query": ["q"] * len(group), "document": documents, "group": group}))
    rows = [
        (f"s{number}", "q", document)
        for number, order in enumerate(permutations(documents))
        for document in order
    ]  # fmt: skip
    runs = runs_from_frame(pl.DataFrame(rows, schema=["system", "query", "document"], orient="row"))
    mean = evaluate(runs, groups, ["ADR"]).values[0].mean()
    assert melodies.expected_random_adr(groups) == pytest.approx(mean)
