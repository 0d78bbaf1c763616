"""Statements that hold at all looks together: the boundary against Brownian motion, intervals against confidences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import earmark
from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.confidence_sequences import AnyTime, anytime_multiplier, anytime_tail
from earmark.inference.intervals import interval, probability_better, sign_confidence

growths = st.floats(1, 1e6)
levels = st.floats(0.5, 0.999)


def estimates_of(mean: list[float], variance: float, *, df: float | None = None) -> Estimates:
    a, b = all_pairs(len(mean))
    scores = np.array(mean)

    def moments(values: np.ndarray, spread: float) -> Moments:
        of_df = None if df is None else np.full(values.size, df)
        return Moments.exact(values, np.full(values.size, spread), df=of_df)

    return Estimates(
        systems=tuple("ABCDEF"[: len(mean)]),
        measure=earmark.parse("AG@5"),
        scores=moments(scores, variance),
        a=a,
        b=b,
        differences=moments(scores[a] - scores[b], 2 * variance),
        identical=np.zeros(a.size, dtype=bool),
        queries=10,
        items=1000,
        judged=100,
    )


def test_the_boundary_starts_where_robbins_says():
    start = float(anytime_multiplier(1.0, level=0.95))
    assert start == pytest.approx(2.795, abs=1e-3)
    assert 2 * (stats.norm.sf(start) + start * stats.norm.pdf(start)) == pytest.approx(0.05)
    assert anytime_multiplier(math.e**2, level=0.95) == pytest.approx(math.sqrt(start**2 + 2))
    # What the page of the module promises about widths.
    ratio = anytime_multiplier([1, 4, 16]) / stats.norm.ppf(0.975)
    assert ratio == pytest.approx([1.43, 1.55, 1.66], abs=5e-3)


def test_brownian_motion_crosses_the_boundary_as_often_as_promised():
    rng = np.random.default_rng(0)
    # Looks at information 1, 1.02, 1.02², … up to 1,000 times the first; between looks nobody sees a crossing.
    information = 1.02 ** np.arange(350)
    paths = 20_000
    steps = rng.normal(size=(paths, information.size)) * np.sqrt(np.diff(information, prepend=0.0))
    z = np.cumsum(steps, axis=1) / np.sqrt(information)
    for level in (0.8, 0.95):
        missed = np.mean(np.any(np.abs(z) > anytime_multiplier(information, level=level), axis=1))
        # Crossings after the last look and between looks are missing from the promised share, hence fewer.
        assert 0.4 * (1 - level) < missed < (1 - level) + 4 * np.sqrt(level * (1 - level) / paths)
    # Ordinary intervals, looked at as often, miss far more often than one time in twenty.
    assert np.mean(np.any(np.abs(z) > stats.norm.ppf(0.975), axis=1)) > 0.5
    # The confidence in a sign is as often too high as it says: ever above .975 on the wrong side.
    wrong = np.any((z > 0) & (anytime_tail(np.abs(z), information) < 0.025), axis=1)
    assert np.mean(wrong) < 0.025 + 4 * np.sqrt(0.025 / paths)


@given(level=levels, growth=growths)
def test_tail_and_multiplier_are_inverse_to_each_other(level, growth):
    multiplier = anytime_multiplier(growth, level=level)
    assert anytime_tail(multiplier, growth) == pytest.approx((1 - level) / 2, rel=1e-6)
    assert multiplier > stats.norm.ppf((1 + level) / 2)


def test_tails_reach_from_a_half_to_nothing():
    assert anytime_tail([0.0, 0.5, np.inf], [1.0, 2.0, 3.0]).tolist() == [0.5, 0.5, 0.0]
    assert np.all(np.diff(anytime_tail(np.linspace(0, 45, 500), 7.0)) <= 0)
    assert np.all(np.diff(anytime_tail(3.0, np.linspace(1, 100, 50))) >= 0)


@given(
    mean=st.floats(-3, 3).filter(lambda x: abs(x) > 1e-6),
    variance=st.floats(1e-3, 1),
    level=levels,
    growth=growths,
    df=st.none() | st.floats(1, 300),
)
def test_an_interval_and_a_confidence_never_contradict_each_other(mean, variance, level, growth, df):
    low, high = interval(mean, variance, level=level, df=df, growth=growth)
    confidence = sign_confidence(mean, variance, df=df, growth=growth)
    if abs(float(confidence) - (1 + level) / 2) > 1e-6:
        assert (confidence > (1 + level) / 2) == (low > 0 or high < 0)
    # Wider and less sure than at one look, and the same for the two systems exchanged.
    ordinary_low, ordinary_high = interval(mean, variance, level=level, df=df)
    assert low <= ordinary_low
    assert high >= ordinary_high
    assert 0.5 <= confidence <= sign_confidence(mean, variance, df=df)
    assert probability_better(mean, variance, df=df, growth=growth) + probability_better(
        -mean, variance, df=df, growth=growth
    ) == pytest.approx(1.0)


def test_what_is_known_exactly_stays_so():
    assert sign_confidence([0.2, 0.0], [0.0, 0.0], growth=5.0).tolist() == [1.0, 0.5]
    low, high = interval(0.3, 0.0, growth=5.0)
    assert low == high == 0.3


def test_a_ranking_at_any_time():
    estimates = estimates_of([0.3, 0.4, 0.9], 0.01)
    at = AnyTime(np.array([1.0, 4.0, 16.0]), np.array(4.0))
    ranking = rank_systems(estimates, anytime=at)
    once = rank_systems(estimates)
    ratio = (ranking.high - ranking.low) / (once.high - once.low)
    assert ratio == pytest.approx([1.43, 1.55, 1.66], abs=5e-3)
    z = np.abs(estimates.differences.mean) / np.sqrt(0.02)
    assert ranking.confidence == pytest.approx(1 - anytime_tail(z, 4.0))
    assert ranking.rank.tolist() == once.rank.tolist()
    assert ranking.mean_confidence < once.mean_confidence
    # A margin goes through the same tail.
    assert ranking.beats_by(-0.1) == pytest.approx(
        probability_better(estimates.differences.mean, 0.02, margin=-0.1, growth=4.0)
    )
    assert ranking.beats_by(0.0) == pytest.approx(ranking.better)
    assert "hold at all looks together" in str(ranking)
    assert "hold at all looks together" not in str(once)


def test_students_t_widens_as_at_one_look():
    at = AnyTime(np.array(2.0), np.array(2.0))
    estimates = estimates_of([0.3, 0.9], 0.01, df=10.0)
    ranking, once = rank_systems(estimates, anytime=at), rank_systems(estimates)
    ratio = anytime_multiplier(2.0) / stats.norm.ppf(0.975)
    assert (ranking.high - ranking.low) / (once.high - once.low) == pytest.approx([ratio] * 2)
    normal = rank_systems(estimates_of([0.3, 0.9], 0.01), anytime=at)
    assert np.all(ranking.confidence < normal.confidence)


def test_never_more_is_claimed_than_at_one_look():
    # Far out, Student's t with one degree of freedom is less sure of itself than any boundary for sums.
    assert sign_confidence(300.0, 1.0, df=1, growth=2.0) == sign_confidence(300.0, 1.0, df=1)
    assert interval(0.0, 1.0, level=0.999, df=1, growth=2.0) == interval(0.0, 1.0, level=0.999, df=1)


def test_growth_is_that_of_information_since_the_first_look():
    first, now = estimates_of([0.3, 0.4, 0.5], 0.08), estimates_of([0.3, 0.4, 0.5], 0.01)
    at = AnyTime.since(first, now)
    assert at.scores == pytest.approx([8.0] * 3)
    assert at.differences == pytest.approx([8.0] * 3)
    # A variance that has risen, or that is none, widens no further.
    assert AnyTime.since(now, first).scores.tolist() == [1.0] * 3
    nothing = estimates_of([0.3, 0.4, 0.5], 0.0)
    assert AnyTime.since(now, nothing).scores.tolist() == [1.0] * 3
    assert AnyTime.since(nothing, now).scores.tolist() == [1.0] * 3


def test_growth_by_count_is_that_of_a_random_sample():
    assert float(AnyTime.by_count(100, items=1000).scores) == pytest.approx(1.0)
    assert float(AnyTime.by_count(400, items=10**9).differences) == pytest.approx(4.0, rel=1e-5)
    assert float(AnyTime.by_count(500, items=1000, first=200).scores) == pytest.approx(4.0)
    assert float(AnyTime.by_count(1000, items=1000).scores) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AnyTime.by_count(99, items=1000), "start at 100 judgments, there are 99 of 1000"),
        (lambda: AnyTime.by_count(1001, items=1000), "there are 1001 of 1000"),
        (lambda: anytime_multiplier(0.5), "finite and no less than at the first look"),
        (lambda: anytime_tail(1.0, np.nan), "finite and no less than at the first look"),
        (lambda: anytime_multiplier(1.0, level=1.0), "the level of an interval is between 0 and 1, got 1"),
        (
            lambda: AnyTime.since(estimates_of([0.1, 0.2], 0.1), estimates_of([0.1, 0.2, 0.3], 0.1)),
            "expected two looks at the same systems",
        ),
    ],
)
def test_what_holds_at_no_time_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
