"""Simulated crowds: the model by its moments, assignments by their rules, and SRBENCH with the numbers of the paper."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark.crowd.benchmark import make_benchmark
from earmark.crowd.configuration import build_benchmark, example_config
from earmark.crowd.questions import draw_questions, possible_pairs, times_asked
from earmark.data.preferences import Preferences
from earmark.errors import ParameterError
from earmark.measures.preference_precision import AgreementLevel, preference_outcomes, preference_precision
from earmark.simulation.crowds import LatentFit, SimulatedCrowd, draw_crowd, draw_fit, draw_runs
from earmark.simulation.srbench import SimulatedSrbench, SrbenchSize, simulated_srbench


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def crowd_of(n: int, *, reliability: float = 1.0, bias: float = 0.0, cheats: int = 0) -> SimulatedCrowd:
    return draw_crowd(
        rng(),
        n,
        prefix="w",
        reliability=reliability,
        reliability_spread=0,
        activity_spread=0.5,
        bias=bias,
        cheats=cheats,
    )


def one_pair(n: int, assessors: int) -> pl.DataFrame:
    """The same two documents for many queries."""
    return pl.DataFrame(
        {"query": [f"q{number}" for number in range(n)], "a": ["x"] * n, "b": ["y"] * n, "assessors": [assessors] * n}
    )


def constant_fit(n: int, difference: float) -> LatentFit:
    value = np.tile([difference, 0.0], (n, 1))
    return LatentFit(tuple(f"q{number}" for number in range(n)), ("x", "y"), value)


# The model of answers


@pytest.mark.parametrize(
    ("difference", "reliability", "bias", "cheats", "expected"),
    [
        (1.0, 1.5, 0.0, 0, 1 / (1 + np.exp(-1.5))),
        (-1.0, 1.5, 0.0, 0, 1 / (1 + np.exp(1.5))),
        (0.0, 1.0, 0.4, 0, 1 / (1 + np.exp(-0.4))),
        (2.0, 1.0, 0.0, 10, 0.5),
    ],
)
def test_choices_follow_the_logistic_curve(
    difference: float, reliability: float, bias: float, cheats: int, expected: float
) -> None:
    crowd = crowd_of(10, reliability=reliability, bias=bias, cheats=cheats)
    n = 2000
    answers = crowd.answer(one_pair(n, 5), constant_fit(n, difference), rng=rng(1))
    share = float(np.mean(answers.sign > 0))
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / (5 * n))
    assert set(answers.frame["strength"]) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def test_large_differences_are_strong_preferences_and_cheats_say_anything() -> None:
    n = 1000
    small, large = (
        crowd_of(8).answer(one_pair(n, 3), constant_fit(n, gap), rng=rng(2)).strength.mean() for gap in (0.0, 4.0)
    )
    assert small + 1 < large
    random = crowd_of(8, cheats=8).answer(one_pair(n, 3), constant_fit(n, 4.0), rng=rng(3)).strength
    # Whole numbers from 1 to 5 with equal chances: mean 3, standard deviation √2.
    assert abs(random.mean() - 3) < 4 * np.sqrt(2 / random.size)


# Who answers what


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(0, 30), st.integers(0, 9), st.data())
def test_as_many_different_people_as_asked_for(people: int, n: int, seed: int, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, people), min_size=n, max_size=n))
    questions = one_pair(n, 1).with_columns(pl.Series("assessors", wanted, dtype=pl.Int64))
    if not sum(wanted):
        return
    answers = crowd_of(people).answer(questions, constant_fit(max(n, 1), 0.5), rng=rng(seed))
    counts = dict(answers.frame.group_by("query").agg(pl.col("assessor").n_unique()).iter_rows())
    assert [counts.get(f"q{number}", 0) for number in range(n)] == wanted
    assert len(answers) == sum(wanted)


def test_nobody_is_asked_again_what_they_answered_before() -> None:
    questions = one_pair(40, 3)
    fit = constant_fit(40, 0.5)
    crowd = crowd_of(6)
    before = crowd.answer(questions, fit, rng=rng(1))
    turned = questions.rename({"a": "b", "b": "a"})
    after = crowd.answer(turned, fit, rng=rng(2), before=before)
    together = Preferences.concat([before, after])
    assert (together.pairs().answers == 6).all()
    with pytest.raises(ParameterError, match="a question asks for more people than the 6 who can still answer it"):
        crowd.answer(questions, fit, rng=rng(3), before=together)


def test_the_active_answer_more_and_nobody_nothing() -> None:
    activity = np.array([1.0, 2.0, 4.0, 1e-9])
    crowd = SimulatedCrowd(("a", "b", "c", "d"), activity, np.ones(4), np.zeros(4), np.zeros(4, dtype=bool))
    n = 3000
    answers = crowd.answer(one_pair(n, 1), constant_fit(n, 0.0), rng=rng(4))
    counts = np.bincount(answers.assessor_index)
    expected = n * activity[:3] / 7
    assert np.all(np.abs(counts[:3] - expected) < 4 * np.sqrt(expected))
    # One of the busiest's answers went to who got none.
    assert counts[3] == 1
    assert crowd.without({"b", "d"}).names == ("a", "c")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "a crowd has at least 1 person and at most all of them cheat, got 0 and 0"),
        ({"n": 3, "cheats": 4}, "got 3 and 4"),
        ({"n": 3, "activity_spread": -1.0}, "reliability and spreads are 0 or more"),
    ],
)
def test_crowds_that_are_none(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        draw_crowd(rng(), prefix="w", reliability=1.0, **arguments)  # type: ignore[arg-type]


# Documents and systems


def test_differences_of_fit_have_unit_variance_and_groups_matter() -> None:
    frame = pl.DataFrame({"document": [f"d{n:03d}" for n in range(400)], "group": ["g1"] * 200 + ["g2"] * 200})
    benchmark = make_benchmark([f"q{n}" for n in range(100)], frame, {"x": ["g1", "g2"]})
    fit = draw_fit(rng(1), benchmark).value
    generator = rng(2)
    i, j = generator.integers(0, 200, 5000), generator.integers(200, 400, 5000)
    q = generator.integers(0, 100, 5000)
    assert abs(np.var(fit[q, i] - fit[q, j]) - 1) < 0.1
    within = np.var(fit[q, i] - fit[q, (i + 57) % 200])
    # Documents of one group share 3 of 10 parts.
    assert abs(within - 0.7) < 0.1


def test_systems_of_skill_one_order_everything_and_of_skill_zero_nothing() -> None:
    config = example_config()
    pairs = possible_pairs(build_benchmark(config), config.pairs)
    fit = draw_fit(rng(1), pairs.benchmark)
    runs = draw_runs(rng(2), fit, {"deaf": 0.0, "perfect": 1.0}, depth=20)
    assert runs.systems == ("deaf", "perfect")
    assert set(runs.lengths) == {20}
    sure = SimulatedCrowd(("w",), np.ones(1), np.full(1, 1e6), np.zeros(1), np.zeros(1, dtype=bool))
    questions = draw_questions(pairs, 20_000, rng=rng(3), assessors=1)
    answers = sure.answer(questions, fit, rng=rng(4))
    scores = preference_precision(preference_outcomes(runs, answers.pairs(), k=20), AgreementLevel(1, 1))
    assert scores.precision[1] == 1
    assert abs(scores.precision[0] - 0.5) < 4 * np.sqrt(0.25 / scores.pairs[0])
    with pytest.raises(ParameterError, match="a system's skill is a correlation from 0 to 1"):
        draw_runs(rng(), fit, {"better": 1.1})


# All of SRBENCH


@pytest.fixture(scope="module")
def srbench() -> SimulatedSrbench:
    return simulated_srbench(rng(3))


def test_srbench_has_the_numbers_of_the_paper(srbench: SimulatedSrbench) -> None:
    benchmark = srbench.pairs.benchmark
    assert (len(benchmark.queries), len(benchmark.documents)) == (25, 470)
    assert len(srbench.student_answers.assessors) == 30
    assert len(srbench.student_answers) == 665 * 6
    regular = srbench.questions.filter(pl.col("trap").is_null())
    assert regular.height == 5990
    assert srbench.questions.height == 5990 + 1198
    assert times_asked(benchmark, regular).min() >= 1
    everything = srbench.check.preferences
    assert len(everything.assessors) == 269
    assert len(everything) == (5990 + 1198) * 6
    assert len(srbench.cheats) == 15
    # Rejected workers' answers were given by others: six to every question again, and no traps among them.
    assert len(srbench.answers) == 5990 * 6
    assert (srbench.answers.pairs().answers == 6).all()
    assert not {*srbench.answers.assessors} & {*srbench.check.rejected}
    assert not srbench.answers.is_trap.any()
    assert srbench.runs.systems == ("weaker", "stronger")
    assert set(srbench.runs.lengths) == {20}


def test_traps_are_what_all_students_agreed_on_and_cheats_fall_into_them(srbench: SimulatedSrbench) -> None:
    pairs = srbench.student_answers.pairs()
    assert srbench.traps.height == np.count_nonzero(pairs.agreement == 6)
    asked = {*srbench.questions.filter(pl.col("trap").is_not_null())["question"]}
    assert len(asked) == srbench.traps.height
    workers = srbench.check.workers
    share = workers.filter(pl.col("assessor").is_in(srbench.cheats))["share"]
    honest = workers.filter(~pl.col("assessor").is_in(srbench.cheats) & (pl.col("traps") >= 20))["share"]
    assert share.mean() < 0.6 < 0.75 < honest.mean()
    assert srbench.caught >= 12
    assert srbench.caught + srbench.wronged == len(srbench.check.rejected)


def test_the_same_seed_gives_the_same_benchmark() -> None:
    size = SrbenchSize(students=10, student_questions=60, workers=20, cheats=2, questions=200)
    one, two, other = (simulated_srbench(rng(seed), size=size) for seed in (1, 1, 2))
    assert one.answers.frame.equals(two.answers.frame)
    assert one.runs.to_polars().equals(two.runs.to_polars())
    assert not one.answers.frame.equals(other.answers.frame)


def test_favouring_a_side_shows() -> None:
    size = SrbenchSize(students=10, student_questions=300, workers=30, cheats=0, questions=600)
    left = [np.mean(simulated_srbench(rng(1), size=size, bias=bias).answers.sign > 0) for bias in (0.0, 1.0)]
    assert abs(left[0] - 0.5) < 0.05
    assert left[1] > 0.6
