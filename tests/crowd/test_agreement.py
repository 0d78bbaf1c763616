"""Levels of agreement: SRBENCH's printed statistics, tables by hand, random answers by enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from answers_made import answers, drawn_answers
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from earmark.crowd.agreement import agreement_table, random_agreement, random_answering_test
from earmark.data.preferences import PairTable
from earmark.errors import InputError, ParameterError
from earmark.measures.preference_precision import parse_levels


def questions_at(*, six: int, five: int, four: int, three: int) -> PairTable:
    """So many questions at each level of agreement of six assessors."""
    letters = {"aaaaaa": six, "aaaaab": five, "aaaabb": four, "aaabbb": three}
    lines = [word for word, times in letters.items() for _ in range(times)]
    return answers(*(f"q x{number:04d} y{number:04d} {word}" for number, word in enumerate(lines))).pairs()


@pytest.mark.parametrize("n", range(1, 9))
def test_random_agreement_by_enumeration(n: int) -> None:
    counts = Counter(max(sum(said), n - sum(said)) for said in product((0, 1), repeat=n))
    agreeing, probability = random_agreement(n)
    assert agreeing.tolist() == sorted(counts)
    assert probability == pytest.approx([counts[k] / 2**n for k in agreeing.tolist()])


def test_random_agreement_of_six_and_of_very_many() -> None:
    agreeing, probability = random_agreement(6)
    assert agreeing.tolist() == [3, 4, 5, 6]
    assert 64 * probability == pytest.approx([20, 30, 12, 2])
    # The chance of 6/6 that SRBENCH gives.
    assert probability[-1] == pytest.approx(0.03125)
    assert random_agreement(2001)[1].sum() == pytest.approx(1)
    with pytest.raises(ParameterError, match="among 1 answer or more, got 0"):
        random_agreement(0)


def test_the_statistic_of_srbench() -> None:
    # Of 665 questions 195 reached 6/6 (29.32%). Counts of the other levels are not in the text; these are the ones that
    # give its chi-square of 1586.86 with more questions at 4/6 than at 5/6 and more at 5/6 than at 3/6.
    found = random_answering_test(
        questions_at(six=195, five=174, four=214, three=82), n_simulated=100, rng=np.random.default_rng(0)
    )
    assert found.statistic == pytest.approx(1586.86, abs=0.005)
    assert found.df == 3
    assert found.p_value < 0.0001
    assert found.simulated_p_value == pytest.approx(1 / 101)
    assert found.levels["questions"].to_list() == [82, 214, 174, 195]
    assert found.levels["expected"].to_list() == pytest.approx([665 * k / 64 for k in (20, 30, 12, 2)])


def test_levels_of_srbench() -> None:
    table = agreement_table(questions_at(six=195, five=174, four=214, three=82))
    assert table["agreement"].to_list() == ["6/6", "5/6", "4/6", "below 4/6"]
    assert 100 * table["share"][0] == pytest.approx(29.32, abs=0.005)
    assert table["cumulative_questions"].to_list() == [195, 369, 583, 665]
    assert table["cumulative_share"][-1] == 1


def test_several_numbers_of_answers_add_up() -> None:
    pairs = answers("q x y aaaaas", "q x z abs", "q y z ab", "q v w a", "q v x sss", "r x y bbb").pairs()
    found = random_answering_test(pairs, n_simulated=999, rng=np.random.default_rng(1))
    # Answers that choose a document: five that agree, one of two twice, three that agree, and two without any to agree.
    assert found.levels.select("answers", "agreeing", "questions").rows() == [
        (1, 1, 1), (2, 1, 2), (2, 2, 0), (3, 2, 0), (3, 3, 1), (5, 3, 0), (5, 4, 0), (5, 5, 1),
    ]  # fmt: skip
    parts = [
        stats.chisquare([2, 0], [1, 1]).statistic,
        stats.chisquare([0, 1], [0.75, 0.25]).statistic,
        stats.chisquare([0, 0, 1], [20 / 32, 10 / 32, 2 / 32]).statistic,
    ]
    assert found.statistic == pytest.approx(sum(parts))
    assert found.df == 1 + 1 + 2
    assert found.p_value == pytest.approx(stats.chi2.sf(sum(parts), 4))


def test_nothing_to_test() -> None:
    found = random_answering_test(answers("q x y a", "q y z s").pairs(), rng=np.random.default_rng(1))
    assert (found.df, found.statistic, found.p_value, found.simulated_p_value) == (0, 0, 1, 1)
    none = random_answering_test(answers("q x y ss").pairs(), rng=np.random.default_rng(1))
    assert none.levels.height == 0
    assert none.p_value == 1
    with pytest.raises(ParameterError, match="at least 1 set of answers, got 0"):
        random_answering_test(answers("q x y a").pairs(), n_simulated=0, rng=np.random.default_rng(1))


def test_simulated_p_values_are_uniform_where_the_distribution_is_not_chi_square() -> None:
    rng = np.random.default_rng(3)
    values, rejected = [], 0
    for _ in range(300):
        letters = ["".join(row) for row in rng.choice(["a", "b"], size=(12, 10))]
        pairs = answers(*(f"q x{number} y{number} {word}" for number, word in enumerate(letters))).pairs()
        found = random_answering_test(pairs, n_simulated=199, rng=rng)
        values.append(found.simulated_p_value)
        rejected += found.p_value <= 0.05
    assert stats.binomtest(int(np.sum(np.array(values) <= 0.05)), 300, 0.05).pvalue > 0.001
    assert stats.binomtest(int(np.sum(np.array(values) <= 0.5)), 300, 0.5).pvalue > 0.001
    # Twelve questions at 2/1024: what the chi-square distribution says is wrong by a factor.
    assert rejected / 300 != pytest.approx(0.05, abs=0.01)


def test_tables_by_theme() -> None:
    given_ = answers("q x y aaaa", "q y z aaab", "r x y aabb", "r z x bbbb", "t x y assb", strength="1111222233334444")
    table = agreement_table(given_.pairs(), themes={"q": "sea", "r": "sky", "t": "sky"})
    rows = {(row["theme"], row["agreement"]): row for row in table.iter_rows(named=True)}
    assert table["theme"].unique(maintain_order=True).to_list() == ["all", "sea", "sky"]
    assert [rows["all", level]["questions"] for level in ("4/4", "3/4", "below 3/4")] == [2, 1, 2]
    assert rows["all", "4/4"]["strength"] == pytest.approx((1 + 4) / 2)
    assert rows["all", "3/4"]["cumulative_strength"] == pytest.approx((1 + 2 + 4) / 3)
    assert (rows["sea", "3/4"]["cumulative_share"], rows["sea", "below 3/4"]["strength"]) == (1, None)
    assert (rows["sky", "4/4"]["share"], rows["sky", "3/4"]["questions"]) == (pytest.approx(1 / 3), 0)
    # One in four chose either document, and strengths of same count 0.
    assert rows["sky", "below 3/4"]["strength"] == pytest.approx((3 + 2 / 4) / 2)
    with pytest.raises(InputError, match="a theme for every query, got none for query 'r' and 1 more"):
        agreement_table(given_.pairs(), themes={"q": "sea"})


def test_levels_may_be_chosen_and_questions_left_out() -> None:
    pairs = answers("q x y aaaaa", "q y z aa", "q x z aab").pairs()
    table = agreement_table(pairs, levels=parse_levels("2/3,1/1"), min_answers=3)
    assert table["agreement"].to_list() == ["1/1", "2/3", "below 2/3"]
    assert table["questions"].to_list() == [1, 1, 0]
    with pytest.raises(InputError, match="questions with at least 6 answers, got at most 5"):
        agreement_table(pairs, min_answers=6)
    with pytest.raises(ParameterError, match="no level of agreement"):
        agreement_table(pairs, levels=[])


@given(st.integers(0, 10_000))
def test_tables_hold_every_question_once(seed: int) -> None:
    pairs = drawn_answers(np.random.default_rng(seed), pairs=15, per_pair=5, same=0.3).pairs()
    table = agreement_table(pairs, themes={query: query for query in pairs.queries})
    parts = (
        table.filter(pl.col("theme") != "all").group_by("agreement", maintain_order=True).agg(pl.col("questions").sum())
    )
    assert parts["questions"].to_list() == table.filter(pl.col("theme") == "all")["questions"].to_list()
    assert parts["questions"].sum() == len(pairs)
