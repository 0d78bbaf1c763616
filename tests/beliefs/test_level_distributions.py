"""Gains on a scale that ends: the right moments, as far as levels allow, and never off the scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

from earmark.beliefs.level_distributions import (
    MOST_LEVELS,
    drawn_levels,
    fit_bounded,
    level_distributions,
    level_use,
    within_scale,
)

SCALES = {2: np.array([0.0, 1.0]), 3: np.linspace(0, 1, 3), 4: np.linspace(0, 1, 4), 101: np.linspace(0, 1, 101)}


def grid(levels: np.ndarray, n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Means over the whole scale with standard deviations from tiny to more than possible."""
    mean, spread = np.meshgrid(np.linspace(-0.1, 1.1, n), np.geomspace(0.005, 0.6, 12))
    return mean.reshape(-1), spread.reshape(-1) ** 2


def moments(chances: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = chances @ levels
    return mean, chances @ levels**2 - mean**2


@pytest.mark.parametrize("n_levels", SCALES)
@pytest.mark.parametrize("use", ["even", "uneven"])
def test_means_are_kept_and_variances_as_far_as_the_scale_allows(n_levels, use):
    levels = drawn_levels(SCALES[n_levels])
    used = None if use == "even" else np.random.default_rng(0).dirichlet(np.full(levels.size, 2.0))
    mean, variance = grid(levels)
    chances = level_distributions(mean, variance, levels=levels, use=used)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.all(chances >= 0)
    found, spread = moments(chances, levels)
    wanted = within_scale(mean)
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    above = np.clip(np.searchsorted(levels, wanted, side="right"), 1, levels.size - 1)
    least = (wanted - levels[above - 1]) * (levels[above] - wanted)
    most = wanted * (1 - wanted)
    possible = np.clip(variance, least, most)
    # A fiftieth of the largest variance is left free at both ends.
    assert np.all(np.abs(spread - possible) <= 0.02 * most + 3e-4)


def test_two_levels_leave_no_choice():
    levels = SCALES[2]
    mean, variance = grid(levels)
    chances = level_distributions(mean, variance, levels=levels)
    np.testing.assert_allclose(chances[:, 1], within_scale(mean), atol=2e-4)


@pytest.mark.parametrize("n_levels", SCALES)
def test_a_higher_draw_is_never_a_lower_level_and_all_are_levels(n_levels):
    levels = drawn_levels(SCALES[n_levels])
    mean, variance = grid(levels)
    z = np.linspace(-6, 6, 301)[:, None] * np.ones(mean.size)
    gains = fit_bounded(mean, variance, levels=levels).from_normal(z)
    assert np.all(np.diff(gains, axis=0) >= 0)
    assert np.abs(gains[..., None] - levels).min(axis=-1).max() < 1e-12
    assert np.all((gains >= 0) & (gains <= 1 + 1e-12))


@pytest.mark.parametrize("n_levels", SCALES)
def test_normal_variables_meet_levels_with_their_probabilities(n_levels):
    levels = drawn_levels(SCALES[n_levels])
    mean, variance = np.array([0.1, 0.5, 0.8]), np.array([0.02, 0.05, 0.1])
    bounded = fit_bounded(mean, variance, levels=levels)
    chances = level_distributions(mean, variance, levels=levels)
    np.testing.assert_allclose(special.ndtr(bounded.thresholds).T, np.cumsum(chances, axis=1)[:, :-1], atol=1e-12)
    drawn = bounded.from_normal(np.random.default_rng(0).standard_normal((40_000, 3)))
    found, spread = moments(chances, levels)
    assert np.all(np.abs(drawn.mean(axis=0) - found) < 5 * np.sqrt(spread / 40_000))


def test_a_fine_even_scale_is_nearly_normal_in_its_middle():
    levels = drawn_levels(SCALES[101])
    chances = level_distributions(np.array([0.5]), np.array([0.02]), levels=levels)[0]
    normal = np.exp(-0.5 * (levels - 0.5) ** 2 / 0.02)
    np.testing.assert_allclose(chances, normal / normal.sum(), atol=2e-3)


def test_levels_that_are_hardly_used_are_hardly_drawn():
    levels = np.linspace(0, 1, 11)
    use = np.where(np.arange(11) == 10, 0.001, 1.0)
    even, uneven = (level_distributions(np.array([0.7]), np.array([0.05]), levels=levels, use=u) for u in (None, use))
    assert uneven[0, 10] < 0.05 * even[0, 10]
    np.testing.assert_allclose(moments(uneven, levels), moments(even, levels), atol=1e-3)


def test_very_fine_scales_are_drawn_in_fewer_steps_from_end_to_end():
    assert drawn_levels(SCALES[4]) is SCALES[4]
    few = drawn_levels(SCALES[101])
    assert few.size == MOST_LEVELS
    assert (few[0], few[-1]) == (0.0, 1.0)
    assert np.isin(few, SCALES[101]).all()


def test_how_often_levels_are_used():
    levels = SCALES[3]
    np.testing.assert_allclose(level_use(np.zeros(0), levels), [1 / 3, 1 / 3, 1 / 3])
    # 20 expected judgments and 10 given; .3 is nearest to .5, as is .25 itself from halfway on.
    given_gains = np.array([0.0] * 6 + [0.25, 0.3] + [1.0] * 2)
    expected = (np.array([6, 2, 2]) + 20 * np.array([0.5, 0.25, 0.25])) / 30
    np.testing.assert_allclose(level_use(given_gains, levels, expected=np.array([4.0, 2.0, 2.0])), expected)


@given(st.integers(2, 21), st.floats(-0.5, 1.5), st.floats(0, 1), st.integers(0, 1000))
@example(20, 0.8585982117592759, 1.0, 547)
def test_whatever_is_asked_for_there_is_an_answer_on_the_scale(n, mean, variance, seed):
    levels = np.linspace(0, 1, n)
    used = np.random.default_rng(seed).dirichlet(np.full(n, 0.3)) + 1e-4
    chances = level_distributions(np.array([mean]), np.array([variance]), levels=levels, use=used)
    assert np.all(np.isfinite(chances))
    assert chances.sum() == pytest.approx(1)
    assert (chances @ levels)[0] == pytest.approx(float(within_scale(np.array([mean]))[0]), abs=1e-3)
    thresholds = fit_bounded(np.array([mean]), np.array([variance]), levels=levels, use=used).thresholds[:, 0]
    assert np.all(thresholds[1:] >= thresholds[:-1])  # no NaN either
