"""Preference precision against loops over pairs and ranks written down naively, and against examples by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.conversion import runs_from_frame
from earmark.data.preference_checks import REQUIRED
from earmark.data.preferences import Preferences
from earmark.data.runs import Runs
from earmark.errors import ParameterError
from earmark.measures.preference_precision import (
    AgreementLevel,
    order_outcomes,
    pair_ranks,
    parse_level,
    parse_levels,
    preference_outcomes,
    preference_precision,
    usual_levels,
)

Lists = dict[str, dict[str, list[str]]]
Answer = tuple[str, str, str, str, str, float]
DOCUMENTS = "uvwxyz"


def runs_of(lists: Lists) -> Runs:
    rows = [(s, q, d) for s, answers in lists.items() for q, documents in answers.items() for d in documents]
    return runs_from_frame(pl.DataFrame(rows, schema=["system", "query", "document"], orient="row"))


def preferences_of(rows: list[Answer]) -> Preferences:
    return Preferences.from_frame(pl.DataFrame(rows, schema=[*REQUIRED, "strength"], orient="row"))


def votes(query: str, a: str, b: str, choices: str, strength: float = 1.0) -> list[Answer]:
    """One answer per letter: a, b, or s for same."""
    words = {"a": "a", "b": "b", "s": "same"}
    return [(query, a, b, f"w{i}", words[choice], strength) for i, choice in enumerate(choices)]


@st.composite
def drawn_lists(draw: st.DrawFn) -> Lists:
    """Up to three systems; some do not answer some queries, and lists differ in length."""
    lists: Lists = {}
    for system in "AB"[: draw(st.integers(1, 2))]:
        answers = {query: draw(st.permutations(DOCUMENTS))[: draw(st.integers(0, 6))] for query in "pqr"}
        lists[system] = {query: documents for query, documents in answers.items() if documents} or {"p": ["u"]}
    return lists


@st.composite
def drawn_answers(draw: st.DrawFn) -> list[Answer]:
    keys = st.tuples(st.sampled_from("qrs"), st.sampled_from(list(combinations("uvwx", 2))), st.sampled_from("ABCDEF"))
    rows = []
    for query, (a, b), assessor in draw(st.lists(keys, min_size=1, max_size=40, unique=True)):
        a, b = (a, b) if draw(st.booleans()) else (b, a)
        rows.append((query, a, b, assessor, draw(st.sampled_from(["a", "b", "same"])), float(draw(st.integers(1, 5)))))
    return rows


def naive(lists: Lists, rows: list[Answer], k: int, level: Fraction, min_answers: int) -> dict[str, Any]:
    """The definition, pair by pair."""
    asked: dict[tuple[str, frozenset[str]], list[tuple[str | None, float]]] = {}
    for query, a, b, _, choice, strength in rows:
        chosen = {"a": a, "b": b}.get(choice)
        asked.setdefault((query, frozenset((a, b))), []).append((chosen, strength if chosen else 0.0))
    scores = {}
    for system, answers in lists.items():
        right, total, right_weight, total_weight = 0, 0, 0.0, 0.0
        for (query, pair), said in asked.items():
            one, other = sorted(pair)
            for_one, for_other = (sum(chosen == name for chosen, _ in said) for name in (one, other))
            if for_one == for_other or len(said) < min_answers:
                continue
            winner, loser = (one, other) if for_one > for_other else (other, one)
            if Fraction(max(for_one, for_other), len(said)) < level:
                continue
            top = answers.get(query, [])[:k]
            if winner not in top and loser not in top:
                continue
            rank = {name: top.index(name) + 1 if name in top else k + 1 for name in pair}
            weight = sum(strength for _, strength in said) / len(said)
            total, total_weight = total + 1, total_weight + weight
            if rank[winner] < rank[loser]:
                right, right_weight = right + 1, right_weight + weight
        scores[system] = (right, total, right_weight / total_weight if total else None)
    return scores


@given(
    drawn_lists(),
    drawn_answers(),
    st.integers(1, 8),
    st.sampled_from(["6/6", "5/6", "2/3", "1/2", "1/6"]),
    st.integers(1, 3),
)
def test_precision_is_what_a_loop_over_pairs_gives(
    lists: Lists, rows: list[Answer], k: int, level: str, min_answers: int
) -> None:
    expected = naive(lists, rows, k, Fraction(level), min_answers)
    outcomes = preference_outcomes(runs_of(lists), preferences_of(rows).pairs(), k=k)
    found = preference_precision(outcomes, parse_level(level), min_answers=min_answers).to_polars()
    for system, (right, total, weighted) in expected.items():
        row = found.row(by_predicate=pl.col("system") == system, named=True)
        assert (row["correct"], row["pairs"], row["agreement"]) == (right, total, level)
        assert row["precision"] == (pytest.approx(right / total) if total else None)
        assert row["weighted_precision"] == (pytest.approx(weighted) if total else None)


@given(drawn_lists(), drawn_answers(), st.integers(1, 8))
def test_turning_all_answers_around_turns_precision_around(lists: Lists, rows: list[Answer], k: int) -> None:
    turned = [(q, a, b, who, {"a": "b", "b": "a"}.get(c, c), s) for q, a, b, who, c, s in rows]
    one, other = (preference_outcomes(runs_of(lists), preferences_of(part).pairs(), k=k) for part in (rows, turned))
    assert np.array_equal(one.counted, other.counted)
    assert np.array_equal(one.counted, one.correct | other.correct)
    assert not np.any(one.correct & other.correct)
    assert np.array_equal(one.signed_strength, -other.signed_strength)


@given(drawn_lists(), drawn_answers(), st.integers(1, 8))
def test_higher_levels_are_part_of_lower_ones(lists: Lists, rows: list[Answer], k: int) -> None:
    outcomes = preference_outcomes(runs_of(lists), preferences_of(rows).pairs(), k=k)
    counts = [preference_precision(outcomes, level).pairs for level in parse_levels("6/6,5/6,4/6,1/6")]
    assert all(np.all(fewer <= more) for fewer, more in pairwise(counts))


def test_an_example_by_hand() -> None:
    """The list is x y z; u is nowhere. Ranks within two: x 1, y 2, the others 3."""
    rows = [
        *votes("q", "x", "y", "aaaaaa", 3),  # 6/6, x first: correct
        *votes("q", "z", "y", "aaaaab", 2),  # 5/6 for z, which is beyond rank 2: wrong
        *votes("q", "y", "u", "bbaaaa", 1),  # 4/6 for y over one that is nowhere: correct
        *votes("q", "z", "u", "aaaaaa", 5),  # neither is in the first two: does not count
        *votes("q", "x", "u", "aaabbb", 5),  # no majority: does not count
        *votes("r", "x", "y", "aaaaaa", 5),  # a query without a list: does not count
    ]
    runs = runs_of({"S": {"q": ["x", "y", "z"]}})
    outcomes = preference_outcomes(runs, preferences_of(rows).pairs(), k=2)
    scores = [preference_precision(outcomes, level) for level in parse_levels("6/6,5/6,4/6")]
    assert [one.precision[0] for one in scores] == pytest.approx([1, 1 / 2, 2 / 3])
    assert [one.weighted_precision[0] for one in scores] == pytest.approx([1, 3 / 5, 4 / 6])
    assert [one.pairs[0] for one in scores] == [1, 2, 3]
    assert sorted(outcomes.signed_strength[0].tolist()) == [-2, 0, 0, 0, 1, 3]


def test_the_weight_is_the_strength_of_all_answers_whichever_way_they_went() -> None:
    rows = [("q", "x", "y", "1", "a", 5.0), ("q", "x", "y", "2", "a", 3.0), ("q", "y", "x", "3", "a", 1.0)]
    outcomes = preference_outcomes(runs_of({"S": {"q": ["x"]}}), preferences_of(rows).pairs(), k=1)
    assert outcomes.signed_strength.tolist() == [[3.0]]


def test_k_larger_than_the_list() -> None:
    rows = votes("q", "x", "y", "bb")
    pairs = preferences_of(rows).pairs()
    first, second = pair_ranks(runs_of({"S": {"q": ["x"]}, "T": {"q": ["y", "x"]}}), pairs, k=100)
    assert (first.tolist(), second.tolist()) == ([[1], [2]], [[101], [1]])
    outcomes = preference_outcomes(runs_of({"S": {"q": ["x"]}, "T": {"q": ["y", "x"]}}), pairs, k=100)
    assert outcomes.correct.tolist() == [[False], [True]]


def test_two_answers_reach_the_level_of_six() -> None:
    rows = [*votes("q", "x", "y", "aa"), *votes("q", "x", "z", "as")]
    outcomes = preference_outcomes(runs_of({"S": {"q": ["x"]}}), preferences_of(rows).pairs(), k=1)
    assert preference_precision(outcomes, parse_level("6/6")).pairs.tolist() == [1]
    assert preference_precision(outcomes, parse_level("1/2")).pairs.tolist() == [2]
    assert preference_precision(outcomes, parse_level("1/2"), min_answers=3).pairs.tolist() == [0]


def test_nobody_prefers_anything() -> None:
    outcomes = preference_outcomes(
        runs_of({"S": {"q": ["x"]}}), preferences_of(votes("q", "x", "y", "ssss")).pairs(), k=1
    )
    scores = preference_precision(outcomes, parse_level("1/4"))
    assert scores.pairs.tolist() == [0]
    assert np.isnan(scores.precision).all()
    assert scores.to_polars().rows() == [("S", "1/4", None, None, 0, 0)]


def test_no_pairs_at_all() -> None:
    nothing = preferences_of(votes("q", "x", "y", "a")).keep(np.array([False])).pairs()
    outcomes = preference_outcomes(runs_of({"S": {"q": ["x"]}}), nothing, k=5)
    assert outcomes.counted.shape == (1, 0)
    assert preference_precision(outcomes, parse_level("1/1")).pairs.tolist() == [0]
    assert usual_levels(nothing) == ()


def test_ties_of_ranks_and_winners_are_never_correct() -> None:
    counted, correct = order_outcomes(np.array([3, 1, 3]), np.array([3, 2, 1]), np.array([1, 0, 1]), k=2)
    assert (counted.tolist(), correct.tolist()) == ([False, False, True], [False, False, False])


def test_levels() -> None:
    assert [str(level) for level in parse_levels("6/6, 5 / 6,6/6,4/6")] == ["6/6", "5/6", "4/6"]
    six = preferences_of([*votes("q", "x", "y", "aaaaaa"), *votes("q", "x", "z", "abbbbb"), *votes("q", "x", "w", "a")])
    assert list(map(str, usual_levels(six.pairs()))) == ["6/6", "5/6", "4/6"]
    one_and_two = preferences_of([*votes("q", "x", "y", "aa"), *votes("q", "x", "z", "a")])
    assert usual_levels(one_and_two.pairs()) == (AgreementLevel(2, 2),)


@pytest.mark.parametrize("text", ["", "5", "5/", "5-6", "-1/6", "1.5/6", "5/6/7", "٥/٦", "6/6,"])
def test_what_is_no_level(text: str) -> None:
    with pytest.raises(ParameterError, match="a level of agreement is x/y, such as 5/6, not '"):
        parse_levels(text)


@pytest.mark.parametrize("text", ["7/6", "0/6", "0/0"])
def test_levels_out_of_range(text: str) -> None:
    with pytest.raises(ParameterError, match=f"a level of agreement is x/y with x from 1 to y, not {text}"):
        parse_level(text)


def test_a_depth_of_nothing() -> None:
    with pytest.raises(ParameterError, match="k, how many ranks count, is 1 or more, got 0"):
        pair_ranks(runs_of({"S": {"q": ["x"]}}), preferences_of(votes("q", "x", "y", "a")).pairs(), k=0)
