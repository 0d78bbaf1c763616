"""Traps: chosen where all agree, put where they do not show, and workers judged by them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from answers_made import answers
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from earmark.crowd.traps import check_traps, choose_traps, mark_traps, with_traps
from earmark.crowd.worker_check import RejectionRule, check_workers, expected_errors
from earmark.data.preferences import Preferences
from earmark.errors import InputError, ParameterError


def made_traps(n: int) -> pl.DataFrame:
    """Traps 0 to n - 1, each expecting the document that starts with g."""
    schema = dict.fromkeys(("query", "a", "b", "trap"), pl.String)
    return pl.DataFrame([("q", f"g{k}", f"w{k}", "a") for k in range(n)], schema=schema, orient="row")


def made_questions(n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"query": ["q"] * n, "a": [f"x{k}" for k in range(n)], "b": ["y"] * n, "question": [str(k) for k in range(n)]}
    )


# Choosing


def test_what_everybody_agrees_on_becomes_a_trap() -> None:
    phase = answers("q y x bbbbbb", "q x z aaaaaa", "q y z aaaaab", "q u v ssssss", "r x y aaaaa", "r y z bbbbbbb")
    found = choose_traps(phase)
    assert found.columns == ["query", "a", "b", "trap", "answers", "strength"]
    # The documents in the order of their ids: y and x, of which all chose x, expects a.
    assert found.select("query", "a", "b", "trap", "answers").rows() == [
        ("q", "x", "y", "a", 6), ("q", "x", "z", "a", 6), ("r", "y", "z", "b", 7),
    ]  # fmt: skip
    assert choose_traps(phase, min_answers=5).height == 4
    assert choose_traps(answers("q x y ab")).height == 0
    with pytest.raises(ParameterError, match="at least 1 answer, got 0"):
        choose_traps(phase, min_answers=0)


def test_strength_may_matter_and_traps_of_the_first_phase_do_not() -> None:
    phase = answers("q x y aa", "q x z aa", "q y z aa", strength="115533", trap=[None] * 4 + ["a", "a"])
    assert choose_traps(phase, min_answers=2)["b"].to_list() == ["y", "z"]
    assert choose_traps(phase, min_answers=2, min_strength=4).select("a", "b").rows() == [("x", "z")]
    with pytest.raises(InputError, match="answers to make traps of, got answers to traps alone"):
        choose_traps(answers("q x y aa", trap=["a", "a"]))


# Inserting


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 7), st.integers(0, 1000))
def test_one_trap_among_every_so_many(n: int, traps: int, every: int, seed: int) -> None:
    questions = made_questions(n)
    mixed = with_traps(questions, made_traps(traps), every=every, rng=np.random.default_rng(seed))
    is_trap = mixed["trap"].is_not_null().to_numpy()
    assert is_trap.sum() == -(-n // every)
    # Questions stay in order and whole; every block of so many has its trap, at either end or within.
    assert mixed.filter(~pl.Series(is_trap)).drop("trap").equals(questions)
    before = np.cumsum(~is_trap)[is_trap]
    block = np.arange(before.size)
    assert np.all(before >= block * every)
    assert np.all(before <= np.minimum((block + 1) * every, n))
    # What is expected follows the side: always the document that starts with g.
    shown = mixed.filter(pl.Series(is_trap))
    expected = [row["a"] if row["trap"] == "a" else row["b"] for row in shown.iter_rows(named=True)]
    assert all(name.startswith("g") for name in expected)
    # All traps come once before any comes again.
    times = np.bincount([int(name[1:]) for name in expected], minlength=traps)
    assert times.max() - times.min() <= 1


def test_places_and_sides_are_random() -> None:
    mixed = with_traps(made_questions(5 * 2000), made_traps(7), rng=np.random.default_rng(3))
    is_trap = mixed["trap"].is_not_null().to_numpy()
    within = np.cumsum(~is_trap)[is_trap] - 5 * np.arange(2000)
    assert stats.chisquare(np.bincount(within, minlength=6)).pvalue > 0.001
    left = int((mixed["trap"].drop_nulls() == "a").sum())
    assert stats.binomtest(left, 2000).pvalue > 0.001
    again = with_traps(made_questions(5 * 2000), made_traps(7), rng=np.random.default_rng(3))
    assert again.equals(mixed)


def test_packages_have_traps_of_their_own() -> None:
    questions = made_questions(9).with_columns(pl.Series("task", [1] * 7 + [2] * 2))
    mixed = with_traps(questions, made_traps(3), by="task", rng=np.random.default_rng(1))
    assert mixed.filter(pl.col("trap").is_not_null())["task"].to_list() == [1, 1, 2]
    assert mixed["task"].is_sorted()
    with pytest.raises(ParameterError, match="the questions have no column 'package'"):
        with_traps(questions, made_traps(3), by="package", rng=np.random.default_rng(1))
    with pytest.raises(ParameterError, match="rows of the same 'task' have to stand together"):
        with_traps(questions[::2].vstack(questions[1::2]), made_traps(3), by="task", rng=np.random.default_rng(1))


def test_no_questions_need_no_traps() -> None:
    assert with_traps(made_questions(0), made_traps(1), rng=np.random.default_rng(0)).height == 0


def test_traps_that_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="at least one trap, got none"):
        with_traps(made_questions(5), made_traps(0), rng=rng)
    with pytest.raises(ParameterError, match="at least 1 question, got 0"):
        with_traps(made_questions(5), made_traps(1), every=0, rng=rng)
    with pytest.raises(InputError, match=r"columns query, a, b and trap, got query, a, b, question \(no trap\)"):
        with_traps(made_questions(5), made_questions(2), rng=rng)
    with pytest.raises(InputError, match="a, b or same as trap, got 'left' in row 0"):
        check_traps(made_traps(1).with_columns(pl.lit("left").alias("trap")))
    with pytest.raises(InputError, match="a, b or same as trap, got nothing in row 0"):
        check_traps(made_traps(1).with_columns(pl.lit(None, dtype=pl.String).alias("trap")))


def test_contradictory_traps_are_refused() -> None:
    rows = [("q", "x", "y", "a"), ("q", "y", "x", "b"), ("r", "x", "y", "b"), ("r", "x", "y", "a")]
    traps = pl.DataFrame(rows, schema=["query", "a", "b", "trap"], orient="row")
    # The first two say the same, each in its own order.
    assert check_traps(traps[:2]).rows() == [("q", "x", "y", "a")]
    message = "one about 'x' and 'y' for query 'r' that expects once 'y' and once 'x'"
    with pytest.raises(InputError, match=message):
        check_traps(traps)
    with pytest.raises(InputError, match="traps that agree, got one about 'x' and 'y' for query 'q'"):
        check_workers(answers("q x y aa", "q y x --aa", trap=["a", "a", "a", "a"]))


# Marking


def test_answers_to_traps_are_marked_whichever_way_they_were_shown() -> None:
    given_ = answers("q x y ab", "q y x --ab", "q x z ab")
    traps = pl.DataFrame({"query": ["q"], "a": ["y"], "b": ["x"], "trap": ["a"]})
    marked = mark_traps(given_, traps)
    assert marked.frame["trap"].to_list() == ["b", "b", "a", "a", None, None]
    assert marked.frame.drop("trap").equals(given_.frame)
    # What an answer says itself stays.
    own = answers("q x y ab", trap=["a", None])
    assert mark_traps(own, traps).frame["trap"].to_list() == ["a", "b"]


# Checking


def crowd(*workers: tuple[str, int, int, int]) -> Preferences:
    """Workers with so many questions, traps and right answers to traps."""
    rows = []
    for name, questions, traps, right in workers:
        rows += [("q", f"x{k}", "y", name, "a", None) for k in range(questions)]
        rows += [("q", f"t{k}", "u", name, "a" if k < right else "b", "a") for k in range(traps)]
    schema = dict.fromkeys(("query", "a", "b", "assessor", "choice", "trap"), pl.String)
    return Preferences.from_frame(pl.DataFrame(rows, schema=schema, orient="row"))


def test_the_rule_of_srbench() -> None:
    given_ = crowd(
        ("good", 100, 20, 19), ("edge", 80, 20, 13), ("cheat", 80, 20, 12), ("short", 79, 20, 0), ("none", 200, 0, 0)
    )
    found = check_workers(given_)
    assert found.workers.select("assessor", "answers", "traps", "right", "decision", "reason").rows() == [
        ("cheat", 100, 20, 12, "rejected", "12 of 20 traps right, below 65%"),
        ("edge", 100, 20, 13, "kept", "13 of 20 traps right"),
        ("good", 120, 20, 19, "kept", "19 of 20 traps right"),
        ("none", 200, 0, 0, "unchecked", "saw no traps"),
        ("short", 99, 20, 0, "unchecked", "fewer than 100 answers"),
    ]
    assert found.rejected == ("cheat",)
    cheat = found.workers.row(0, named=True)
    interval = stats.binomtest(12, 20).proportion_ci(0.95, method="wilson")
    assert (cheat["share"], cheat["low"], cheat["high"]) == pytest.approx((0.6, interval.low, interval.high))
    assert found.workers["share"][3] is None
    assert set(found.kept_answers().assessors) == {"good", "edge", "none", "short"}


def test_the_rule_can_be_changed() -> None:
    given_ = crowd(("edge", 80, 20, 13), ("short", 3, 2, 1))
    strict = check_workers(given_, rule=RejectionRule(min_answers=5, min_right=0.7))
    assert strict.rejected == ("edge", "short")
    with pytest.raises(InputError, match="a worker who is not rejected, got all 2 rejected"):
        strict.kept_answers()
    assert check_workers(given_, rule=RejectionRule(min_answers=0, min_right=0)).rejected == ()
    with pytest.raises(ParameterError, match=r"lies between 0 and 1, got 1\.5"):
        RejectionRule(min_right=1.5)
    with pytest.raises(ParameterError, match="0 or more, got -1"):
        RejectionRule(min_answers=-1)


def test_a_share_is_compared_exactly() -> None:
    # In floating point 0.65 * 20 is 13, but 0.55 * 20 is 11.000000000000002 and 0.07 * 100 is 7.000000000000001.
    assert RejectionRule(min_right=0.55).needed([20, 40, 100]).tolist() == [11, 22, 55]
    assert RejectionRule(min_right=0.07).needed(100) == 7
    assert RejectionRule(min_right=0.65).needed([0, 1, 3, 20]).tolist() == [0, 1, 2, 13]


def test_what_is_asked_again() -> None:
    rows = [
        ("q", "x", "y", "bad", "a", None, "1"),
        ("q", "y", "x", "good", "a", None, "1"),
        ("q", "x", "y", "fine", "a", None, "1"),
        ("q", "z", "x", "bad", "b", None, "1"),
        ("q", "x", "y", "bad", "a", None, "2"),
        ("r", "x", "y", "good", "a", None, "1"),
        ("q", "t", "u", "bad", "b", "a", "1"),
        ("q", "t", "u", "good", "a", "a", "1"),
    ]
    schema = dict.fromkeys(("query", "a", "b", "assessor", "choice", "trap", "phase"), pl.String)
    given_ = Preferences.from_frame(pl.DataFrame(rows, schema=schema, orient="row"))
    again = check_workers(given_, rule=RejectionRule(min_answers=1)).ask_again()
    assert again.columns == ["query", "a", "b", "phase", "assessors", "left"]
    assert again.rows() == [("q", "x", "y", "1", 1, 2), ("q", "z", "x", "1", 1, 0), ("q", "x", "y", "2", 1, 0)]
    nobody = check_workers(given_, rule=RejectionRule(min_answers=1, min_right=0)).ask_again()
    assert nobody.height == 0


def test_same_is_no_right_answer_to_a_trap_that_expects_a_document() -> None:
    found = check_workers(answers("q x y as", trap=["a", "a"]))
    assert found.workers["right"].to_list() == [1, 0]
    with pytest.raises(InputError, match="answers to traps, got none"):
        check_workers(answers("q x y ab"))


# How often it goes wrong


@given(st.integers(1, 60), st.integers(0, 100).map(lambda k: k / 100), st.floats(0, 1))
def test_rejection_is_binomial(traps: int, accuracy: float, least: float) -> None:
    rule = RejectionRule(min_answers=0, min_right=least)
    # Shares of all possible numbers of right answers, compared as the decision compares them.
    right = np.arange(traps + 1)
    expected = stats.binom.pmf(right, traps, accuracy)[right < rule.needed(traps)].sum()
    assert rule.rejection_probability(100, traps, accuracy) == pytest.approx(expected, abs=1e-9)


def test_expected_errors_add_up() -> None:
    answers_, traps = np.array([120, 120, 99, 300]), np.array([20, 10, 20, 0])
    found = expected_errors(answers_, traps, rule=RejectionRule(), cheater_share=0.25, honest_accuracy=0.8)
    honest = stats.binom.cdf(12, 20, 0.8) + stats.binom.cdf(6, 10, 0.8)
    caught = stats.binom.cdf(12, 20, 0.5) + stats.binom.cdf(6, 10, 0.5)
    assert found.honest_rejected == pytest.approx(0.75 * honest)
    # Two cheaters of four are never checked.
    assert found.cheaters_missed == pytest.approx(0.25 * (4 - caught))
    assert (found.honest, found.cheaters) == (3, 1)
    with pytest.raises(ParameterError, match="share of cheaters lies between 0 and 1, got 2"):
        expected_errors(answers_, traps, rule=RejectionRule(), cheater_share=2)
    with pytest.raises(ParameterError, match="getting a trap right lies between 0 and 1, got -1"):
        expected_errors(answers_, traps, rule=RejectionRule(), honest_accuracy=-1)


def test_expected_errors_are_what_happens() -> None:
    rng = np.random.default_rng(4)
    wrong = np.zeros(2)
    rounds, workers, traps = 400, 20, 15
    rule = RejectionRule(min_answers=50)
    for number in range(rounds):
        honest = rng.random(workers) >= 0.3
        right = rng.binomial(traps, np.where(honest, 0.8, 0.5))
        rejected = right < rule.needed(traps)
        if number < 20:
            people = [(f"w{k:02d}", 40, traps, int(right[k])) for k in range(workers)]
            assert check_workers(crowd(*people), rule=rule).rejected == tuple(
                f"w{k:02d}" for k in np.flatnonzero(rejected)
            )
        wrong += (rejected & honest).sum(), (~rejected & ~honest).sum()
    expected = expected_errors(
        np.full(workers, 55), np.full(workers, traps), rule=rule, cheater_share=0.3, honest_accuracy=0.8
    )
    assert wrong / rounds == pytest.approx([expected.honest_rejected, expected.cheaters_missed], rel=0.1)
