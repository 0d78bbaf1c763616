"""Ranked probability score and claimed variances: by hand, written out the long way, and by simulation."""

import numpy as np
import pytest
from forecasts_drawn import forecasts, naive_score
from hypothesis import given
from hypothesis import strategies as st

from earmark.diagnose.proper_scores import (
    check_probabilities,
    ranked_probability_score,
    ranked_probability_scores,
    summarise_errors,
)
from earmark.errors import ParameterError

# --- the score ---


def test_the_example_of_two_models_that_the_brier_score_cannot_tell_apart():
    # BIAS, section 3.1.2: the label is the third; cumulative (.2, .8) against (.6, .8), truth (0, 0).
    scores = ranked_probability_scores([[0.2, 0.6, 0.2], [0.6, 0.2, 0.2]], [2, 2])
    np.testing.assert_allclose(scores, [(0.04 + 0.64) / 2, (0.36 + 0.64) / 2])


def test_the_score_runs_from_0_to_1():
    certain = np.eye(4)
    assert ranked_probability_scores(certain, np.arange(4)).tolist() == [0.0] * 4
    assert ranked_probability_scores(certain[[0, 3]], [3, 0]).tolist() == [1.0, 1.0]
    assert ranked_probability_score(certain[[1]], [2]) == pytest.approx(1 / 3)


def test_two_levels_give_the_brier_score():
    probability = np.array([0.1, 0.7, 0.5])
    happened = np.array([0, 1, 0])
    scores = ranked_probability_scores(np.column_stack([1 - probability, probability]), happened)
    np.testing.assert_allclose(scores, (probability - happened) ** 2)


@given(forecasts())
def test_the_score_is_what_its_definition_says(drawn):
    probabilities, observed = drawn
    assert ranked_probability_score(probabilities, observed) == pytest.approx(naive_score(probabilities, observed))


@given(forecasts())
def test_turning_the_scale_round_changes_nothing(drawn):
    probabilities, observed = drawn
    turned = ranked_probability_scores(probabilities[:, ::-1], probabilities.shape[1] - 1 - observed)
    np.testing.assert_allclose(turned, ranked_probability_scores(probabilities, observed), atol=1e-12)


@given(forecasts(), st.floats(0.05, 0.95))
def test_a_sharper_forecast_about_the_truth_scores_lower(drawn, share):
    probabilities, observed = drawn
    truth = np.eye(probabilities.shape[1])[observed]
    sharper = (1 - share) * probabilities + share * truth
    np.testing.assert_allclose(
        ranked_probability_scores(sharper, observed),
        (1 - share) ** 2 * ranked_probability_scores(probabilities, observed),
        atol=1e-12,
    )


@given(forecasts())
def test_no_forecast_has_a_lower_expectation_than_the_belief_itself(drawn):
    probabilities, _ = drawn
    n_levels = probabilities.shape[1]
    belief = probabilities[0]
    for stated in probabilities:
        expected = {
            name: sum(belief[level] * ranked_probability_score([row], [level]) for level in range(n_levels))
            for name, row in (("belief", belief), ("stated", stated))
        }
        assert expected["belief"] <= expected["stated"] + 1e-12


# --- claimed variances ---


def test_errors_by_hand():
    summary = summarise_errors([[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [2.0, 4.0]], [[2.0, 4.0], [3.0, 1.0]])
    assert summary.n == 4
    assert summary.bias == pytest.approx((-1 - 2 + 0 + 3) / 4)
    assert summary.mean_squared_error == pytest.approx((1 + 4 + 0 + 9) / 4)
    assert summary.rmse == pytest.approx(3.5**0.5)
    assert summary.mean_variance == pytest.approx(2)
    assert summary.inflation == pytest.approx(1.75)


def test_true_claims_have_no_inflation_and_false_ones_show():
    rng = np.random.default_rng(3)
    variance = rng.uniform(0.5, 2, size=50_000)
    estimate = rng.normal(size=variance.size)
    truth = estimate + rng.normal(size=variance.size) * np.sqrt(variance)
    assert summarise_errors(estimate, variance, truth).inflation == pytest.approx(1, abs=0.03)
    assert summarise_errors(estimate, variance / 4, truth).inflation == pytest.approx(4, abs=0.12)


def test_no_variance_claimed():
    assert summarise_errors([1.0], [0.0], [1.0]).inflation == 1
    assert summarise_errors([1.0], [0.0], [2.0]).inflation == float("inf")


# --- what cannot be used ---


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.5], r"matrix of shape \(items, levels\), got 1 dimension"),
        ([[1.0]], "at least one item and two levels, got 1 and 1"),
        (np.empty((0, 3)), "at least one item and two levels, got 0 and 3"),
        ([[0.5, 0.5], [0.5, 0.6]], r"add up to 1, got \[0.5, 0.6\] for item 1"),
        ([[-0.1, 1.1]], r"must be 0 or more and add up to 1, got \[-0.1, 1.1\] for item 0"),
        ([[np.nan, 1.0]], r"got \[nan, 1.0\] for item 0"),
    ],
)
def test_probabilities_that_are_none(probabilities, message):
    with pytest.raises(ParameterError, match=message):
        check_probabilities(probabilities)


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ([0], r"one observed level for each of 2 items, got \(1,\)"),
        ([0.0, 1.0], "whole numbers .places on the scale., got float64"),
        ([0, 2], "observed levels must be 0 to 1, got 0 to 2"),
        ([-1, 1], "observed levels must be 0 to 1, got -1 to 1"),
    ],
)
def test_observed_levels_that_do_not_fit(observed, message):
    with pytest.raises(ParameterError, match=message):
        ranked_probability_score([[0.5, 0.5], [0.2, 0.8]], observed)


def test_estimates_that_do_not_fit():
    with pytest.raises(ParameterError, match=r"must have one shape, got \(2,\), \(1,\) and \(2,\)"):
        summarise_errors([1.0, 2.0], [1.0], [1.0, 2.0])
    with pytest.raises(ParameterError, match="estimates and truths must be finite"):
        summarise_errors([np.nan], [1.0], [1.0])
    with pytest.raises(ParameterError, match="variances must be 0 or more"):
        summarise_errors([1.0], [-1.0], [1.0])
    with pytest.raises(ParameterError, match="variances must be 0 or more"):
        summarise_errors([1.0], [np.nan], [1.0])
    with pytest.raises(ParameterError, match="at least one estimate to compare with the truth, got none"):
        summarise_errors([], [], [])
