"""Accuracy of signs and reliability of probabilities: by hand, from printed tables, and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from earmark.diagnose.calibration import (
    BIAS_EDGES,
    MTC_EDGES,
    SignAgreement,
    accuracy_by_confidence,
    reliability_curve,
    sign_agreement,
)
from earmark.errors import ParameterError
from earmark.inference.rank_correlation import kendall_tau
from earmark.inference.significance import compare_scores


def assert_rate(share, count, rate):
    low, high = stats.binom.interval(0.9999, count, rate)
    assert low / count <= share <= high / count


def draw_pairs(n, seed, overconfidence=1.0):
    """Differences estimated with known variance, the confidence in their signs, and what they really are."""
    rng = np.random.default_rng(seed)
    estimate, spread = rng.normal(size=n), rng.uniform(0.2, 2, size=n)
    truth = estimate + overconfidence * spread * rng.normal(size=n)
    return estimate, ndtr(np.abs(estimate) / spread), truth


# --- signs ---


def test_accuracy_and_tau_of_the_2010_collection():
    # MTC, section 5: of 28 pairs, a single incorrect one brings τ to 26/28; Table 3 has .857 and .714, four incorrect.
    right = np.ones(28)
    assert sign_agreement(right, np.where(np.arange(28) < 1, -1, 1)).tau == pytest.approx(26 / 28)
    four = sign_agreement(right, np.where(np.arange(28) < 4, -1, 1))
    assert (round(four.accuracy, 3), round(four.tau, 3)) == (0.857, 0.714)


def test_ties_count_half():
    result = sign_agreement([0.1, 0.0, 0.2, -0.1, 0.0], [0.3, 0.1, 0.0, 0.1, 0.0])
    assert result == SignAgreement(correct=1, incorrect=1, tied=3)
    assert (result.total, result.accuracy, result.tau) == (5, 0.5, 0.0)


def test_rounding_is_a_tie_and_so_is_what_one_does_not_care_about():
    noise = 0.1 + 0.2 - 0.3
    assert noise > 0
    assert sign_agreement([noise], [1.0]).tied == 1
    assert sign_agreement([noise], [1.0], tolerance=0).correct == 1
    assert sign_agreement([0.2, 0.2], [-0.01, -0.2], tolerance=0.01) == SignAgreement(correct=0, incorrect=1, tied=1)


def test_no_pairs_have_no_accuracy():
    nothing = sign_agreement([], [])
    assert (nothing.total, nothing.accuracy, nothing.tau) == (0, None, None)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_tau_is_kendalls(rows):
    estimated, true = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    a, b = np.triu_indices(len(rows), k=1)
    result = sign_agreement(estimated[a] - estimated[b], true[a] - true[b])
    assert result.tau == pytest.approx(kendall_tau(estimated, true, variant="a"))
    assert result.accuracy == pytest.approx((1 + result.tau) / 2)
    turned = sign_agreement(estimated[b] - estimated[a], true[b] - true[a])
    assert turned == result


def test_accuracy_among_significant_pairs():
    # Three systems a clear step apart and one that is hardly better than the third.
    rng = np.random.default_rng(1)
    scores = np.array([0.8, 0.5, 0.2, 0.201])[:, None] + rng.normal(0, 0.02, size=(1, 30))
    scores = scores + rng.normal(0, 0.02, size=(4, 30))
    test = compare_scores(scores, test="t")
    estimate = test.difference.copy()
    close = (test.a == 2) & (test.b == 3)
    estimate[close] *= -1
    assert test.significant.tolist() == (~close).tolist()
    assert sign_agreement(estimate, test.difference).accuracy == pytest.approx(5 / 6)
    assert sign_agreement(estimate, test.difference, among=test.significant).accuracy == 1.0
    assert sign_agreement(estimate, test.difference, among=np.zeros(6, dtype=bool)).accuracy is None


# --- bins of confidence ---


def test_bins_by_hand():
    confidence = [0.5, 0.5999, 0.6, 0.9, 0.95, 0.9899, 0.99, 1.0]
    truth = [1, -1, 1, -1, 1, 1, 1, 1]
    bins = accuracy_by_confidence(np.ones(8), confidence, truth)
    assert bins.pairs.tolist() == [2, 1, 0, 0, 1, 2, 2]
    np.testing.assert_allclose(bins.accuracy, [0.5, 1, np.nan, np.nan, 0, 1, 1])
    np.testing.assert_allclose(bins.confidence[[0, 5, 6]], [0.54995, 0.96995, 0.995])
    assert bins.expected_accuracy == pytest.approx(np.mean(confidence))
    assert bins.observed_accuracy == pytest.approx(6 / 8)
    assert bins.overconfidence == pytest.approx(np.mean(confidence) - 6 / 8)
    gaps = [2 * 0.04995, 0.4, 0.9, 2 * 0.03005, 2 * 0.005]
    assert bins.calibration_error == pytest.approx(sum(gaps) / 8)
    frame = bins.frame()
    assert frame["lower"].to_list() == list(MTC_EDGES[:-1])
    assert frame["upper"].to_list() == list(MTC_EDGES[1:])
    assert frame["accuracy"].to_list()[2] is None
    assert frame["share"].sum() == pytest.approx(1)
    assert (frame["accuracy_low"][2], frame["accuracy_high"][2]) == (0.0, 1.0)


def test_the_counts_of_mtc_table_4_give_its_accuracies():
    # Fine scale: pairs in bin and accuracy as printed, over all four years.
    pairs = [13, 13, 7, 24, 15, 22, 258]
    printed = [0.615, 0.846, 0.714, 0.833, 0.667, 0.909, 0.996]
    correct = np.rint(np.multiply(pairs, printed)).astype(int)
    confidence = np.repeat(np.array([0.55, 0.65, 0.75, 0.85, 0.92, 0.97, 0.999]), pairs)
    truth = np.concatenate([np.repeat([1.0, -1.0], [c, n - c]) for c, n in zip(correct, pairs, strict=True)])
    bins = accuracy_by_confidence(np.ones(352), confidence, truth)
    assert bins.pairs.tolist() == pairs
    np.testing.assert_allclose(bins.accuracy, printed, atol=5e-4)
    # "overestimated in the range [0.90, 0.99], though there are too few to say": the bounds agree with both halves.
    assert bins.accuracy[4] < 0.9 < 0.92
    assert bins.accuracy_low[5] < 0.95 < bins.accuracy_high[5]


def test_the_total_of_bias_table_1_1_is_not_the_one_printed():
    # Its bins hold 18, 28, 44 and 251 pairs of mean confidence .57, .80, .95 and 1.00: .954 in all, not .92.
    confidence = np.repeat([0.57, 0.80, 0.95, 1.0], [18, 28, 44, 251])
    bins = accuracy_by_confidence(np.ones(341), confidence, np.ones(341), edges=BIAS_EDGES)
    assert bins.pairs.tolist() == [18, 28, 44, 251]
    assert bins.expected_accuracy == pytest.approx(0.954, abs=5e-4)


def test_true_confidence_matches_accuracy_in_every_bin():
    bins = accuracy_by_confidence(*draw_pairs(40_000, 2))
    for confidence, accuracy, pairs in zip(bins.confidence, bins.accuracy, bins.pairs, strict=True):
        assert_rate(accuracy, pairs, confidence)
    assert abs(bins.overconfidence) < 0.01


def test_overconfidence_shows_where_there_is_something_to_be_wrong_about():
    bins = accuracy_by_confidence(*draw_pairs(40_000, 3, overconfidence=2.0))
    assert bins.overconfidence > 0.05
    assert (bins.accuracy_high < bins.confidence)[1:].all()
    assert bins.calibration_error == pytest.approx(bins.overconfidence)


@given(st.integers(0, 2**32), st.integers(0, 30))
def test_swapping_the_systems_of_every_pair_changes_nothing(seed, n):
    estimate, confidence, truth = draw_pairs(n, seed)
    bins = accuracy_by_confidence(estimate, confidence, truth)
    turned = accuracy_by_confidence(-estimate, confidence, -truth)
    np.testing.assert_array_equal(bins.accuracy, turned.accuracy)
    assert bins.pairs.sum() == n
    observed = sign_agreement(estimate, truth).accuracy
    assert bins.observed_accuracy == (pytest.approx(observed) if n else None)


def test_no_pairs_have_no_bins_to_speak_of():
    bins = accuracy_by_confidence([], [], [])
    assert bins.pairs.tolist() == [0] * 7
    assert bins.expected_accuracy is bins.observed_accuracy is bins.overconfidence is bins.calibration_error is None
    assert bins.frame()["share"].to_list() == [0.0] * 7


def test_a_confidence_off_by_rounding_is_taken_for_what_it_is():
    bins = accuracy_by_confidence([1.0, 1.0], [0.5 - 1e-12, 1 + 1e-12], [1.0, 1.0])
    assert bins.pairs.tolist() == [1, 0, 0, 0, 0, 0, 1]
    assert bins.confidence[[0, 6]].tolist() == [0.5, 1.0]


# --- reliability of level probabilities ---


def draw_forecasts(n_items, n_levels, seed):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_levels, 0.7), size=n_items)
    observed = (rng.random((n_items, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    return probabilities, observed


def test_a_curve_by_hand():
    probabilities = [[0.1, 0.3, 0.6], [0.1, 0.3, 0.6], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2]]
    observed = [2, 1, 0, 0]
    curve = reliability_curve(probabilities, observed, n_bins=3)
    # All twelve probabilities: .1 .1 .1 .2 | .3 .3 .3 .3 | .5 .6 .6 .6
    assert curve.count.tolist() == [4, 4, 4]
    np.testing.assert_allclose(curve.lower, [0.1, 0.3, 0.5])
    np.testing.assert_allclose(curve.upper, [0.2, 0.3, 0.6])
    np.testing.assert_allclose(curve.forecast, [0.125, 0.3, 0.575])
    np.testing.assert_allclose(curve.observed, [0.0, 0.25, 0.75])
    assert curve.calibration_error == pytest.approx((0.125 + 0.05 + 0.175) / 3)
    at_least = reliability_curve(probabilities, observed, event="at-least", level=1, n_bins=2)
    np.testing.assert_allclose(at_least.forecast, [0.45, 0.9])
    assert at_least.observed.tolist() == [0.0, 1.0]
    assert at_least.frame().columns[:5] == ["lower", "upper", "count", "forecast", "observed"]


def test_at_least_the_first_level_is_no_event():
    probabilities, observed = draw_forecasts(50, 4, seed=1)
    assert reliability_curve(probabilities, observed).count.sum() == 200
    assert reliability_curve(probabilities, observed, event="at-least").count.sum() == 150


def test_equal_probabilities_share_a_bin():
    curve = reliability_curve(np.tile([0.2, 0.8], (10, 1)), [0, 1] * 5, n_bins=8)
    assert curve.count.tolist() == [10, 10]
    np.testing.assert_allclose(curve.forecast, [0.2, 0.8])
    assert curve.observed.tolist() == [0.5, 0.5]
    alone = reliability_curve(np.tile([0.2, 0.8], (10, 1)), [0, 1] * 5, level=0)
    assert alone.count.tolist() == [10]


@pytest.mark.parametrize(("event", "level"), [("equal", None), ("equal", 2), ("at-least", 2)])
def test_honest_forecasts_lie_on_the_diagonal(event, level):
    probabilities, observed = draw_forecasts(20_000, 4, seed=3)
    curve = reliability_curve(probabilities, observed, event=event, level=level)
    # With all levels, events of one item exclude each other: their shares scatter less than independent ones would.
    for forecast, share, count in zip(curve.forecast, curve.observed, curve.count, strict=True):
        assert_rate(share, count, forecast)
    assert (curve.observed_low <= curve.observed).all()
    assert (curve.observed <= curve.observed_high).all()


def test_sharpened_forecasts_leave_it_at_both_ends():
    probabilities, observed = draw_forecasts(20_000, 4, seed=4)
    sharpened = probabilities**2 / (probabilities**2).sum(axis=1, keepdims=True)
    curve = reliability_curve(sharpened, observed, event="at-least", level=2)
    assert curve.observed_low[0] > curve.forecast[0]
    assert curve.observed_high[-1] < curve.forecast[-1]
    assert curve.calibration_error > 0.03


# --- what cannot be used ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_agreement([1.0], [1.0, 2.0]), r"two vectors of one length, got shapes \(1,\) and \(2,\)"),
        (lambda: sign_agreement([[1.0]], [[1.0]]), "two vectors of one length"),
        (lambda: sign_agreement([np.nan], [1.0]), "must be finite"),
        (lambda: sign_agreement([1.0], [1.0], tolerance=-0.1), "a tolerance is 0 or more, got -0.1"),
        (
            lambda: sign_agreement([1.0], [1.0], among=[0]),
            r"truth value for each of 1 pairs, got int64 of shape \(1,\)",
        ),
        (lambda: sign_agreement([1.0], [1.0], among=[True, True]), r"each of 1 pairs, got bool of shape \(2,\)"),
        (lambda: accuracy_by_confidence([1.0], [0.9, 0.9], [1.0]), r"each of 1 pairs, got shape \(2,\)"),
        (lambda: accuracy_by_confidence([1.0], [0.4], [1.0]), "confidence in a sign lies between .5 and 1"),
        (lambda: accuracy_by_confidence([1.0], [np.nan], [1.0]), "confidence in a sign lies between .5 and 1"),
        (lambda: accuracy_by_confidence([1.0], [0.9], [1.0], edges=[0.6, 1]), r"rise from .5 to 1, got \[0.6, 1\]"),
        (lambda: accuracy_by_confidence([1.0], [0.9], [1.0], edges=[0.5, 0.9, 0.8, 1]), "rise from .5 to 1"),
        (
            lambda: reliability_curve([[0.5, 0.5]], [0], event="at-most"),
            "unknown event 'at-most', choose from equal, at",
        ),
        (lambda: reliability_curve([[0.5, 0.5]], [0], level=2), "'equal' is of a level from 0 to 1, got 2"),
        (lambda: reliability_curve([[0.5, 0.5]], [0], event="at-least", level=0), "a level from 1 to 1, got 0"),
        (lambda: reliability_curve([[0.5, 0.5]], [0], n_bins=0), "at least one bin, got n_bins=0"),
        (lambda: reliability_curve([[0.5, 0.6]], [0]), "add up to 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
