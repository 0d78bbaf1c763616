"""SRBENCH: what follows from its printed numbers, to the digit; what is simulated, in sight of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2, fisher_exact

from earmark.errors import ParameterError
from earmark.inference.preference_tests import fisher_p_values
from earmark.reproduce import stupar2013 as srbench
from earmark.reproduce import stupar2013_counts as counts
from earmark.reproduce.comparison import Comparison, Row


@pytest.fixture(scope="module")
def tables() -> list[Comparison]:
    return srbench.tables(seeds=3)


def find(tables: list[Comparison], title: str) -> dict[tuple[str, str], Row]:
    (table,) = (one for one in tables if title in one.title)
    return {(row.name, row.column): row for row in table.rows}


def test_what_is_printed_is_computed_again(tables: list[Comparison]) -> None:
    agreed = [row for table in tables for row in table.rows if row.agrees]
    # Two about chance, three that other printed numbers give; whatever was chosen to match is given.
    assert {row.name for row in agreed} == {
        "6/6",
        "degrees of freedom of the chi-square test",
        "questions at 6/6, %",
        "p-value of chi-square 1586.86",
        "p-value of chi-square 6605.18",
    }
    assert not [row for table in tables for row in table.disagreements()]


def test_what_was_chosen_to_match_neither_agrees_nor_disagrees(tables: list[Comparison]) -> None:
    made = find(tables, "the benchmark")
    assert {row.how for (name, _), row in made.items() if name != "questions there are"} == {"given"}
    for title in ("all counts that give its chi-square", "all counts of pairs"):
        rows = find(tables, title).values()
        assert {row.how for row in rows} <= {"given", "not printed", "not comparable"}
        assert all(row.agrees is None for row in rows)


def test_agreement_by_chance(tables: list[Comparison]) -> None:
    rows = find(tables, "by chance")
    # All 2^6 answers, one by one.
    levels = [max(sum(answers), 6 - sum(answers)) for answers in product((0, 1), repeat=6)]
    for level in (3, 4, 5, 6):
        assert rows[f"{level}/6", ""].ours == pytest.approx(levels.count(level) / 64)
    assert rows["6/6", ""].how == "rounded"


def test_table_4_follows_from_its_statistic(tables: list[Comparison]) -> None:
    found = {tuple(row) for row in counts.counts_with_statistic(665, 195, "1586.86").tolist()}
    # By a loop over all divisions of the questions.
    probability = np.array([2, 12, 30, 20]) / 64
    expected = 665 * probability
    by_loop = set()
    for five in range(471):
        for four in range(471 - five):
            divided = (195, five, four, 470 - five - four)
            if round(sum((o - e) ** 2 / e for o, e in zip(divided, expected, strict=True)), 2) == 1586.86:
                by_loop.add(divided)
    assert found == by_loop
    assert (195, 174, 214, 82) in found
    assert len(found) == 4
    rows = find(tables, "Table 4: all counts")
    assert {name.partition(": ")[2] for name, _ in rows} == {", ".join(map(str, row)) for row in found}
    (likely,) = (name for (name, _), row in rows.items() if row.note == "the plausible one")
    assert rows[likely, "5/6, %"].ours == pytest.approx(100 * 174 / 665)
    assert all(round(float(row.ours), 2) == 1586.86 for (_, column), row in rows.items() if column == "chi-square")
    assert chi2.sf(1586.86, 3) < 0.0001
    with pytest.raises(ParameterError, match="expected one plausible table of agreement, got 0"):
        counts.plausible(np.array([[1, 2, 3, 4]]), 665)


@pytest.mark.parametrize(("place", "solutions"), [(0, 0), (1, 14), (2, 11)])
def test_all_counts_that_give_table_6(place: int, solutions: int, tables: list[Comparison]) -> None:
    first, second = (counts.PRECISION[system][place] for system in (counts.EMOTION, counts.PICASSO))
    found = counts.pair_counts(first, second, counts.FISHER[place])
    assert found.exact is (solutions > 0)
    assert len(found.counts) == (solutions or counts.NEAREST)
    for (x, n, y, m), p_value in zip(found.counts.tolist(), found.p_value.tolist(), strict=True):
        assert (f"{x / n:.3f}", f"{y / m:.3f}") == (first, second)
        assert p_value == pytest.approx(fisher_exact([[x, n - x], [y, m - y]])[1])
        assert (f"{p_value:.4f}" == counts.FISHER[place]) is found.exact
    names = {name for name, _ in find(tables, "all counts of pairs") if name.startswith(f"{counts.CUMULATIVE[place]}:")}
    assert len(names) == len(found.counts)


def test_of_how_many_pairs_there_were_only_the_least_number_is_said(tables: list[Comparison]) -> None:
    """The greatest number follows from how many pairs were tried: more pairs give more counts that fit."""
    (table,) = (table for table in tables if "all counts of pairs" in table.title)
    said = " ".join(table.notes)
    for level, solutions in (("+5/6", 14), ("+4/6", 11)):
        pairs = [row.ours for row in table.rows if row.name.startswith(f"{level}:") and row.column == "pairs"]
        assert len(pairs) == solutions
        assert f"{level}: {solutions} give all digits, with at least {min(pairs):.0f} pairs" in said
        assert f"{max(pairs):.0f}" not in said


def test_no_counts_are_overlooked() -> None:
    """The exact test is only done near the normal approximation: on small numbers, it is done on all."""
    found = counts.pair_counts("0.595", "0.690", "0.0249", most=300)
    right = {"0.595": [], "0.690": []}
    for printed, fractions in right.items():
        fractions += [(x, n) for n in range(1, 301) for x in range(n + 1) if f"{x / n:.3f}" == printed]
    every = np.array([(x, n, y, m) for x, n in right["0.595"] for y, m in right["0.690"]])
    exact = np.round(fisher_p_values(*every.T), 4) == 0.0249
    assert {tuple(row) for row in found.counts.tolist()} == {tuple(row) for row in every[exact].tolist()}


def test_the_simulation_comes_near_to_the_paper(tables: list[Comparison]) -> None:
    students, workers = find(tables, "Table 4: agreement of students"), find(tables, "Table 5")
    assert students["6/6", "questions, %"].ours == pytest.approx(29.32, abs=6)
    assert students["3/6", "average difference"].ours == pytest.approx(2.75, abs=0.2)
    assert students["6/6", "average difference"].ours == pytest.approx(3.65, abs=0.2)
    high = sum(float(workers[level, "questions, %"].ours) for level in ("5/6", "6/6"))
    assert high == pytest.approx(50, abs=6)
    for table in (students, workers):
        assert sum(float(table[level, "questions, %"].ours) for level in counts.LEVELS) == pytest.approx(100, abs=2)
        strengths = [float(table[level, "average difference"].ours) for level in counts.LEVELS]
        assert strengths[0] > strengths[1] > strengths[2]


def test_the_better_system_comes_out_better(tables: list[Comparison]) -> None:
    for title in ("Table 6: preference precision", "Table 7"):
        rows = find(tables, title)
        for level in counts.CUMULATIVE:
            assert float(rows[counts.EMOTION, level].ours) < float(rows[counts.PICASSO, level].ours)
        assert all(row.how == "not comparable" for row in rows.values())
    known = find(tables, "only a simulation knows")
    assert known["cheats who are rejected", ""].ours >= 13
    assert known["honest workers who are rejected", ""].ours <= 6
    assert known["songs a query is not asked about", ""].ours == 0
    for (name, _), row in known.items():
        if name.startswith("share of benchmarks"):
            assert row.ours >= 2 / 3


def test_seeds_are_at_least_one() -> None:
    with pytest.raises(ParameterError, match="the number of seeds is 1 or more, got 0"):
        srbench.tables(seeds=0)
