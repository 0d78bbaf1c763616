"""SRBENCH: what follows from its printed numbers, to the digit; what is simulated, in sight of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2, fisher_exact

from earmark.errors import ParameterError
from earmark.reproduce import stupar2013 as srbench
from earmark.reproduce.comparison import Comparison, Row


@pytest.fixture(scope="module")
def tables() -> list[Comparison]:
    return srbench.tables(seeds=3)


def find(tables: list[Comparison], title: str) -> dict[tuple[str, str], Row]:
    (table,) = (one for one in tables if title in one.title)
    return {(row.name, row.column): row for row in table.rows}


def test_what_is_printed_is_computed_again(tables: list[Comparison]) -> None:
    agreed = [row for table in tables for row in table.rows if row.agrees]
    assert len(agreed) == 5 + 2 + 3 + 8
    # One printed p-value cannot be had by counts that fit.
    assert [row.paper for table in tables for row in table.disagreements()] == ["0.0530"]


def test_agreement_by_chance(tables: list[Comparison]) -> None:
    rows = find(tables, "by chance")
    # All 2^6 answers, one by one.
    levels = [max(sum(answers), 6 - sum(answers)) for answers in product((0, 1), repeat=6)]
    for level in (3, 4, 5, 6):
        assert rows[f"{level}/6", ""].ours == pytest.approx(levels.count(level) / 64)
    assert rows["6/6", ""].how == "rounded"


def test_table_4_follows_from_its_statistic(tables: list[Comparison]) -> None:
    found = {tuple(row) for row in srbench.counts_with_statistic(665, 195, "1586.86").tolist()}
    # By a loop over all divisions of the questions.
    probability = np.array([2, 12, 30, 20]) / 64
    expected = 665 * probability
    by_loop = set()
    for five in range(471):
        for four in range(471 - five):
            counts = (195, five, four, 470 - five - four)
            if round(sum((o - e) ** 2 / e for o, e in zip(counts, expected, strict=True)), 2) == 1586.86:
                by_loop.add(counts)
    assert found == by_loop
    assert (195, 174, 214, 82) in found
    assert len(found) == 4
    rows = find(tables, "Table 4 as its chi-square")
    assert rows["chi-square of these counts", ""].how == "rounded"
    assert rows["questions at 5/6, %", ""].ours == pytest.approx(100 * 174 / 665)
    assert chi2.sf(1586.86, 3) < 0.0001
    with pytest.raises(ParameterError, match="expected one plausible table of agreement, got 0"):
        srbench.plausible(np.array([[1, 2, 3, 4]]), 665)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_counts_give_the_printed_precisions(place: int, tables: list[Comparison]) -> None:
    (x, n), (y, m) = srbench.COUNTS[place]
    assert f"{x / n:.3f}" == srbench.PRECISION[srbench.EMOTION][place]
    assert f"{y / m:.3f}" == srbench.PRECISION[srbench.PICASSO][place]
    p_value = fisher_exact([[x, n - x], [y, m - y]])[1]
    assert p_value == pytest.approx(float(srbench.FISHER[place]), abs=1.1e-4)
    rows = find(tables, "counts of pairs")
    (column,) = {column for _, column in rows if column.startswith(f"{srbench.CUMULATIVE[place]}:")}
    assert rows["Fisher's exact test", column].ours == pytest.approx(p_value)


def test_the_simulation_comes_near_to_the_paper(tables: list[Comparison]) -> None:
    students, workers = find(tables, "Table 4: agreement of students"), find(tables, "Table 5")
    assert students["6/6", "questions, %"].ours == pytest.approx(29.32, abs=6)
    assert students["3/6", "average difference"].ours == pytest.approx(2.75, abs=0.2)
    assert students["6/6", "average difference"].ours == pytest.approx(3.65, abs=0.2)
    high = sum(float(workers[level, "questions, %"].ours) for level in ("5/6", "6/6"))
    assert high == pytest.approx(50, abs=6)
    for table in (students, workers):
        assert sum(float(table[level, "questions, %"].ours) for level in srbench.LEVELS) == pytest.approx(100, abs=2)
        strengths = [float(table[level, "average difference"].ours) for level in srbench.LEVELS]
        assert strengths[0] > strengths[1] > strengths[2]


def test_the_better_system_comes_out_better(tables: list[Comparison]) -> None:
    for title in ("Table 6: preference precision", "Table 7"):
        rows = find(tables, title)
        for level in srbench.CUMULATIVE:
            assert float(rows[srbench.EMOTION, level].ours) < float(rows[srbench.PICASSO, level].ours)
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
