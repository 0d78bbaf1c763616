"""The likelihood of an answer against its definition and numerical derivatives; verdicts against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.davidson import (
    estimate_same_weight,
    log_likelihood,
    outcome_probabilities,
    slope_and_information,
    verdict_probabilities,
)
from earmark.errors import ParameterError

counts = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)).filter(any)


@given(st.floats(-6, 6), st.floats(0.05, 5), counts)
def test_derivatives(difference: float, weight: float, answers: tuple[int, int, int]) -> None:
    first, second, same = (np.array(count) for count in answers)

    def height(at: float) -> float:
        return float(log_likelihood(np.array(at), first, second, same, weight))

    total = first + second + same
    slope, information = slope_and_information(np.array(difference), first - second, total, weight)
    step = 1e-4
    assert slope == pytest.approx((height(difference + step) - height(difference - step)) / (2 * step), abs=1e-5)
    bend = (height(difference + step) - 2 * height(difference) + height(difference - step)) / step**2
    assert total * information == pytest.approx(-bend, abs=1e-4)
    assert information >= 0


def test_likelihood_is_that_of_the_probabilities() -> None:
    first, second, same = outcome_probabilities(np.array(0.7), 1.3)
    expected = 3 * np.log(first) + np.log(second) + 2 * np.log(same)
    found = log_likelihood(np.array(0.7), np.array(3), np.array(1), np.array(2), 1.3)
    assert float(found) == pytest.approx(float(expected))


def test_same_has_to_be_possible() -> None:
    none = np.array(0)
    assert float(log_likelihood(np.array(0.0), np.array(1), none, none, 0.0)) == pytest.approx(np.log(0.5))
    with pytest.raises(ParameterError, match="with answers 'same' the weight of same is above 0, got 0"):
        log_likelihood(np.array(0.0), none, none, np.array(1), 0.0)


def test_weight_of_same_gives_as_many_as_there_were() -> None:
    difference, answers = np.array([0.0, 1.0, -3.0]), np.array([10, 20, 30])
    weight = estimate_same_weight(difference, answers, 24)
    expected = np.sum(answers * outcome_probabilities(difference, weight)[2])
    assert expected == pytest.approx(60 * 24.5 / 61)
    assert estimate_same_weight(difference, answers, 0) == 0.0
    assert np.isfinite(estimate_same_weight(difference, answers, 60))


@pytest.mark.parametrize(("lead", "left", "weight"), [(0, 4, 0.0), (0, 3, 1.5), (-2, 4, 0.7), (3, 2, 0.7), (1, 0, 0.7)])
def test_verdicts_by_enumeration(lead: int, left: int, weight: float) -> None:
    difference = np.array([-1.2, 0.0, 0.4])
    chances = dict(zip((1, -1, 0), outcome_probabilities(difference, weight), strict=True))
    first, second = np.zeros(3), np.zeros(3)
    for answers in product((1, -1, 0), repeat=left):
        chance = np.prod([chances[answer] for answer in answers], axis=0) * np.ones(3)
        first += chance * (lead + sum(answers) > 0)
        second += chance * (lead + sum(answers) < 0)
    found = verdict_probabilities(difference, lead, left, weight)
    np.testing.assert_allclose(found[0], first, atol=1e-12)
    np.testing.assert_allclose(found[1], second, atol=1e-12)


@pytest.mark.parametrize("left", [0, 1, 6, 15])
@pytest.mark.parametrize("lead", [-20, -2, 0, 1, 20])
@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_verdicts_are_those_of_one_answer_after_the_other(left: int, lead: int, weight: float) -> None:
    difference = np.array([-40.0, -2.0, 0.0, 0.5, 700.0])
    first, second, same = outcome_probabilities(difference, weight)
    chance = {lead: np.ones(difference.size)}
    for _ in range(left):
        wider: dict[int, np.ndarray] = {}
        for at, known in chance.items():
            for step, outcome in ((1, first), (-1, second), (0, same)):
                wider[at + step] = wider.get(at + step, 0.0) + known * outcome
        chance = wider
    found = verdict_probabilities(difference, lead, left, weight)
    for side, leads in zip((1, -1), found, strict=True):
        expected = sum((known for at, known in chance.items() if at * side > 0), np.zeros(difference.size))
        assert leads == pytest.approx(expected, abs=1e-12)
