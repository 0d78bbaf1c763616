"""Groups of forecasts and the parts of their score: by hand, written out the long way, and by simulation."""

import numpy as np
import pytest
from forecasts_drawn import draw_forecasts, forecasts, naive_score
from hypothesis import given
from hypothesis import strategies as st

from earmark.diagnose.decomposition import decompose_grouped, decompose_score, group_forecasts
from earmark.errors import ParameterError


def naive_parts(probabilities, observed, group_of, stands_for):
    """Sums over groups, levels and items, as printed; `stands_for` maps a group to its forecast."""
    n_items, n_levels = probabilities.shape
    parts = dict.fromkeys(("reliability", "resolution", "uncertainty", "within_variance", "within_covariance"), 0.0)
    for step in range(n_levels - 1):
        outcome = [1.0 if level <= step else 0.0 for level in observed]
        overall = sum(outcome) / n_items
        parts["uncertainty"] += overall * (1 - overall)
        for group in set(group_of):
            members = [item for item in range(n_items) if group_of[item] == group]
            claimed = sum(stands_for[group][: step + 1])
            happened = sum(outcome[item] for item in members) / len(members)
            parts["reliability"] += len(members) / n_items * (claimed - happened) ** 2
            parts["resolution"] += len(members) / n_items * (happened - overall) ** 2
            for item in members:
                off = sum(probabilities[item][: step + 1]) - claimed
                parts["within_variance"] += off**2 / n_items
                parts["within_covariance"] += 2 * off * (outcome[item] - claimed) / n_items
    return {name: value / (n_levels - 1) for name, value in parts.items()}


# --- groups ---


def test_rounding_follows_the_quantiles():
    probabilities, _ = draw_forecasts(400, 10, seed=1, concentration=0.3)
    groups = group_forecasts(probabilities, n_values=5)
    # Twenty per cent of all probabilities are rounded to each value, and the values are their means.
    in_order = np.sort(probabilities.ravel()).reshape(5, -1)
    np.testing.assert_allclose(groups.values, in_order.mean(axis=1))
    np.testing.assert_allclose(groups.rounded.sum(axis=1), 1)
    assert groups.sizes.sum() == 400


def test_groups_have_equal_rounded_forecasts():
    probabilities, _ = draw_forecasts(300, 4, seed=2)
    groups = group_forecasts(probabilities, n_values=3)
    place = np.array([np.abs(groups.values - value).argmin() for value in probabilities.ravel()])
    # Rounding to means of equal parts is not quite rounding to the nearest, so compare with the cuts themselves.
    cuts = np.sort(probabilities.ravel())[[399, 799]]
    part = (probabilities[..., None] > cuts).sum(axis=-1)
    assert (place.reshape(part.shape) == part).mean() > 0.8
    rounded = groups.values[part]
    rounded /= rounded.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(groups.rounded[groups.group_of], rounded, atol=1e-11)
    assert len(np.unique(np.round(rounded, 10), axis=0)) == len(groups.rounded)


def test_equal_probabilities_stay_together():
    certain = np.eye(10)[[0, 3, 3, 9]]  # nine tenths of the probabilities are 0
    groups = group_forecasts(certain, n_values=4)
    assert groups.values.tolist() == [0.0, 1.0]
    assert groups.group_of.tolist() == [2, 1, 1, 0]
    np.testing.assert_array_equal(groups.rounded[groups.group_of], certain)


def test_one_value_makes_one_group_and_none_keeps_forecasts_as_they_are():
    probabilities, _ = draw_forecasts(20, 3, seed=3)
    assert group_forecasts(probabilities, n_values=1).sizes.tolist() == [20]
    exact = group_forecasts(np.repeat(probabilities, 2, axis=0), n_values=None)
    assert exact.sizes.tolist() == [2] * 20
    assert exact.values.size == 0


def test_taking_items_keeps_the_numbers_of_groups():
    groups = group_forecasts([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], n_values=2)
    assert groups.take(np.array([2, 2])).sizes.tolist() == [2, 0]
    assert groups.take(np.array([True, True, False])).sizes.tolist() == [0, 2]


# --- the parts ---


def test_the_example_of_one_group():
    # BIAS, section 3.1.2: forecast (.2, .8) cumulated, observed (.3, .7): squares .01 + .01, over two steps.
    probabilities = np.tile([0.2, 0.6, 0.2], (100, 1))
    parts = decompose_score(probabilities, np.repeat([0, 1, 2], [30, 40, 30]), n_values=None)
    assert parts.reliability == pytest.approx(0.01)
    assert parts.resolution == pytest.approx(0.0)
    assert parts.uncertainty == pytest.approx((0.3 * 0.7 + 0.7 * 0.3) / 2)
    np.testing.assert_allclose(parts.forecast, [[0.2, 0.8]])
    np.testing.assert_allclose(parts.outcome, [[0.3, 0.7]])


@given(forecasts(), st.sampled_from([None, 1, 2, 3, 10]), st.sampled_from(["mean", "rounded"]))
def test_parts_are_what_their_definitions_say_and_add_up(drawn, n_values, representative):
    probabilities, observed = drawn
    groups = group_forecasts(probabilities, n_values=n_values)
    parts = decompose_score(probabilities, observed, n_values=n_values, representative=representative)
    stands_for = {
        group: probabilities[groups.group_of == group].mean(axis=0)
        if representative == "mean"
        else groups.rounded[group]
        for group in range(len(groups.rounded))
    }
    for name, value in naive_parts(probabilities, observed, groups.group_of, stands_for).items():
        assert getattr(parts, name) == pytest.approx(value, abs=1e-9), name
    assert parts.score == pytest.approx(naive_score(probabilities, observed))
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within_variance - parts.within_covariance
    assert total == pytest.approx(parts.score, abs=1e-9)
    assert parts.n_items == parts.n_kept == len(observed)


@given(forecasts())
def test_nothing_is_left_within_groups_of_equal_forecasts(drawn):
    probabilities, observed = drawn
    parts = decompose_score(probabilities, observed, n_values=None)
    assert parts.within_variance == pytest.approx(0, abs=1e-12)
    assert parts.within_covariance == pytest.approx(0, abs=1e-12)
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(parts.score, abs=1e-9)


@given(forecasts(), st.sampled_from([1, 2, 10]), st.integers(1, 4))
def test_small_groups_are_dropped_with_their_items(drawn, n_values, least):
    probabilities, observed = drawn
    groups = group_forecasts(probabilities, n_values=n_values)
    kept = groups.sizes[groups.group_of] >= least
    if not kept.any():
        with pytest.raises(ParameterError, match=f"no group of forecasts has {least} items, the largest has"):
            decompose_score(probabilities, observed, n_values=n_values, min_group_size=least)
        return
    parts = decompose_score(probabilities, observed, n_values=n_values, min_group_size=least)
    alone = decompose_grouped(probabilities[kept], observed[kept], groups.take(kept))
    assert parts.n_kept == kept.sum()
    assert parts.sizes.min() >= least
    for name in ("score", "reliability", "resolution", "uncertainty", "within_variance", "within_covariance"):
        assert getattr(parts, name) == pytest.approx(getattr(alone, name), abs=1e-12)


def test_the_overall_shares_as_forecast_score_the_uncertainty():
    observed = np.repeat([0, 1, 2], [5, 3, 2])
    parts = decompose_score(np.tile([0.5, 0.3, 0.2], (10, 1)), observed)
    assert parts.score == pytest.approx(parts.uncertainty)
    assert parts.reliability == pytest.approx(0)


def test_certain_and_right_has_all_the_resolution_there_is():
    observed = np.array([0, 1, 2, 2, 1])
    parts = decompose_score(np.eye(3)[observed], observed)
    assert parts.reliability == parts.score == 0
    assert parts.resolution == pytest.approx(parts.uncertainty)


def test_the_correction_takes_out_what_chance_adds():
    # True probabilities, ten items a group: chance alone makes the reliability p(1-p)/10 on average.
    rng = np.random.default_rng(7)
    rows = rng.dirichlet(np.ones(4), size=12)
    probabilities = np.repeat(rows, 10, axis=0)
    plain, corrected, resolution, uncertainty = [], [], [], []
    for _ in range(400):
        observed = (rng.random((120, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
        parts = decompose_score(probabilities, observed, n_values=None)
        assert parts.corrected_reliability - parts.corrected_resolution + parts.corrected_uncertainty == pytest.approx(
            parts.score
        )
        plain.append(parts.reliability)
        corrected.append(parts.corrected_reliability)
        resolution.append(parts.corrected_resolution)
        uncertainty.append(parts.corrected_uncertainty)
    steps = np.cumsum(rows, axis=1)[:, :-1]
    bias = (steps * (1 - steps)).mean() / 10
    error = np.std(corrected) / 20
    assert abs(np.mean(plain) - bias) < 4 * error
    assert abs(np.mean(corrected)) < 4 * error < bias
    # Resolution and uncertainty are only nearly unbiased, as the sizes of the groups are fixed here.
    assert np.mean(resolution) == pytest.approx(np.square(steps - steps.mean(axis=0)).mean(), rel=0.05)
    assert np.mean(uncertainty) == pytest.approx((steps.mean(axis=0) * (1 - steps.mean(axis=0))).mean(), rel=0.02)


def test_overconfidence_shows_in_the_reliability():
    probabilities, observed = draw_forecasts(20_000, 5, seed=11)
    sharpened = probabilities**3
    sharpened /= sharpened.sum(axis=1, keepdims=True)
    honest = decompose_score(probabilities, observed, min_group_size=2)
    overconfident = decompose_score(sharpened, observed, min_group_size=2)
    assert honest.reliability > 0.05  # some 5,000 groups of four items: nearly all of it is chance
    assert abs(honest.corrected_reliability) < 0.003
    assert overconfident.corrected_reliability > 0.02
    assert overconfident.score > honest.score


def test_the_correction_overdoes_it_by_the_variance_within_groups():
    # Ten honest forecasts that differ widely, all in one group.
    rng = np.random.default_rng(13)
    probabilities, _ = draw_forecasts(10, 3, seed=14)
    steps = np.cumsum(probabilities, axis=1)[:, :-1]
    corrected = []
    groups = group_forecasts(probabilities, n_values=1)
    for _ in range(2_000):
        observed = (rng.random((10, 1)) > steps).sum(axis=1)
        corrected.append(decompose_grouped(probabilities, observed, groups).corrected_reliability)
    surplus = steps.var(axis=0, ddof=1).mean() / 10
    error = np.std(corrected) / np.sqrt(len(corrected))
    assert surplus > 8 * error
    assert abs(np.mean(corrected) + surplus) < 4 * error


def test_the_rounded_forecast_adds_what_rounding_did():
    # Honest forecasts, rounded to two values: the mean of a group stays honest, the rounded forecast does not.
    probabilities, observed = draw_forecasts(20_000, 5, seed=12)
    by_mean = decompose_score(probabilities, observed, n_values=2)
    by_rounding = decompose_score(probabilities, observed, n_values=2, representative="rounded")
    assert by_mean.reliability < 0.001
    assert by_rounding.reliability > by_mean.reliability
    assert by_rounding.score == by_mean.score


# --- what cannot be used ---


def test_ways_of_grouping_that_make_no_sense():
    probabilities, observed = [[0.5, 0.5], [0.2, 0.8]], [0, 1]
    with pytest.raises(ParameterError, match="at least one value, got n_values=0"):
        decompose_score(probabilities, observed, n_values=0)
    with pytest.raises(ParameterError, match="at least one item, got min_group_size=0"):
        decompose_score(probabilities, observed, min_group_size=0)
    with pytest.raises(ParameterError, match="unknown representative 'median', choose from mean, rounded"):
        decompose_score(probabilities, observed, representative="median")
    with pytest.raises(ParameterError, match="expected groups of 2 items with 2 levels, got groups of 1 items with 3"):
        decompose_grouped(probabilities, observed, group_forecasts([[0.2, 0.3, 0.5]]))
    parts = decompose_score(probabilities, observed, n_values=None)
    for name in ("reliability", "resolution", "uncertainty"):
        with pytest.raises(ParameterError, match=r"got 2 group\(s\) of one: ask for min_group_size=2"):
            getattr(parts, f"corrected_{name}")
