"""ADR's examples to the digit, its tie-break by definition, and the lists that show what a base does to nDCG."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.conversion import judgments_from_dict
from earmark.data.ground_truth import truth_from_judgments
from earmark.data.scales import parse_scale
from earmark.measures.base import parse
from earmark.reproduce import typke2006 as adr
from earmark.reproduce.comparison import Comparison, judge_lists


@pytest.fixture(scope="module")
def tables() -> list[Comparison]:
    return adr.tables()


def test_nothing_disagrees_with_the_paper(tables: list[Comparison]) -> None:
    assert [row for table in tables for row in table.disagreements()] == []
    assert len(tables) == 6


def test_the_worked_examples(tables: list[Comparison]) -> None:
    example, false_positive = (row.ours for row in tables[0].rows)
    assert example == pytest.approx(0.86)
    assert false_positive == pytest.approx(0.74 + 1 / 300)
    assert [row.paper for row in tables[0].rows] == ["0.86", "0.7433"]


def test_the_table_by_position(tables: list[Comparison]) -> None:
    ours = {(row.name, row.column): row.ours for row in tables[1].rows}
    assert [ours[f"position {i}", "found"] for i in range(1, 6)] == [1, 1, 3, 4, 4]
    assert [ours[f"position {i}", "recall"] for i in range(1, 6)] == [1, 0.5, 1, 1, 0.8]


def test_the_list_of_figure_1_is_given_and_not_found(tables: list[Comparison]) -> None:
    adr_of_list, *recall = tables[2].rows
    assert adr_of_list.ours == pytest.approx(0.74, abs=5e-3)
    assert [row.ours for row in recall] == [26 / 48, 26 / 48]
    assert {row.how for row in tables[2].rows} == {"given"}
    documents = adr.figure_1_list()
    assert len(set(documents)) == len(documents) == 48
    assert sum(document <= 48 for document in documents) == 26
    assert score_once(documents, adr.FIGURE_1_TRUTH) == pytest.approx(float(adr_of_list.ours))


def test_the_tie_and_how_it_is_broken(tables: list[Comparison]) -> None:
    table = tables[3]
    inverted = [row.ours for row in table.rows if row.name.startswith("ADR of the constructed list")]
    assert [round(value, 3) for value in inverted if isinstance(value, float)] == [0.854, 0.604]
    plain = [row.ours for row in table.rows if row.name == "ADR"]
    assert plain[0] == plain[1]
    assert [row.ours for row in table.rows if row.name == "constructed list"] == ["⟨4, 3, 1, 1⟩", "⟨3, 4, 1, 1⟩"]
    assert table.rows[-1].ours == "⟨3, 4, 5, 6⟩"


def score_once(constructed: tuple[int, ...], groups: tuple[tuple[int, ...], ...]) -> float:
    """ADR by its definition, a repeated document counting once."""
    size = sum(map(len, groups))
    total = 0.0
    for position in range(1, size + 1):
        relevant: set[int] = set()
        for group in groups:
            if len(relevant) >= position:
                break
            relevant |= set(group)
        total += len(relevant & set(constructed[:position])) / position
    return total / size


@given(
    st.permutations(range(1, 9)).map(tuple),
    st.sampled_from([((1,), (2,), (3,), (4,)), ((1, 2), (3, 4, 5)), ((1,), (2, 3), (4, 5)), ((1, 2, 3),)]),
)
def test_the_tie_break_is_the_adr_of_the_constructed_list(
    result: tuple[int, ...], groups: tuple[tuple[int, ...], ...]
) -> None:
    lists = judge_lists([result], adr._truth(groups))
    assert parse("ADR").score(lists)[0] == pytest.approx(score_once(result, groups))
    constructed = adr.constructed_list(result, groups)
    # Where all of the best group is misplaced several documents could stand in for the others; the first found does.
    if not set(groups[0]) <= set(constructed) or len(groups[0]) == 1:
        wanted = score_once(constructed, tuple(reversed(groups)))
        assert parse("ADRinv").score(lists)[0] == pytest.approx(wanted)


def naive_ndcg(result: tuple[int, ...], gains: dict[int, float], base: int) -> float:
    def dcg(values: list[float]) -> float:
        return sum(gain / (1 if rank < base else math.log(rank, base)) for rank, gain in enumerate(values, 1))

    return dcg([gains.get(document, 0) for document in result]) / dcg(sorted(gains.values(), reverse=True))


def test_the_base_of_the_logarithm_turns_a_pair_around() -> None:
    pair = adr.opposite_pair()
    assert sorted(pair.first) == sorted(pair.second) == [1, 2, 3, 4, 5]
    for base, scores in ((2, pair.base_2), (3, pair.base_3)):
        wanted = [naive_ndcg(result, pair.gains, base) for result in (pair.first, pair.second)]
        assert list(scores) == pytest.approx(wanted)
    assert pair.base_2[0] > pair.base_2[1]
    assert pair.base_3[0] < pair.base_3[1]
    groups = ((1,), (2,), (3,))
    assert list(pair.adr) == pytest.approx([score_once(result, groups) for result in (pair.first, pair.second)])
    assert pair.adr[0] != pytest.approx(pair.adr[1])


def test_the_search_finds_the_clearest_pair() -> None:
    pair = adr.opposite_pair()
    orders = [order for order in permutations(range(1, 6)) if order.index(4) < order.index(5)]
    gains, groups = pair.gains, ((1,), (2,), (3,))
    two, three = ([naive_ndcg(order, gains, base) for order in orders] for base in (2, 3))
    dynamic = [score_once(order, groups) for order in orders]
    best = max(
        min(two[i] - two[j], three[j] - three[i])
        for i in range(len(orders))
        for j in range(len(orders))
        if not math.isclose(dynamic[i], dynamic[j])
    )
    assert min(pair.base_2[0] - pair.base_2[1], pair.base_3[1] - pair.base_3[0]) == pytest.approx(best)
    assert best > 0.05


def test_with_the_shifted_logarithm_the_base_cancels() -> None:
    gains = {"1": 3, "2": 2, "3": 1}
    truth = truth_from_judgments(judgments_from_dict({"q": gains}, scale=parse_scale("0..3")))
    lists = judge_lists(list(permutations(range(1, 6))), truth)
    two, three = (parse(f"nDCG(base={base})").score(lists) for base in (2, 3))
    assert two == pytest.approx(three)
    assert np.unique(two.round(9)).size > 20


def test_the_notes_say_so(tables: list[Comparison]) -> None:
    assert "the base cancels" in tables[4].notes[1]
    better = [row.ours for row in tables[4].rows if row.column == "the better list"]
    assert better[:2] == ["first", "second"]
