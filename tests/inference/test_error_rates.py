"""Do the tests keep their promise? Rates of false positives under the null, and coverage of the intervals.

Seeded simulations with two-sided bounds: too many false positives is a broken test, far too few a useless one.
The bounds are where a correct rate falls with probability .999; where a method is known to be only approximate
the slack is stated beside it.
"""

import numpy as np
import pytest
from scipy import stats

from earmark.inference.pairs import paired_differences
from earmark.inference.rank_tests import signed_ranks
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values
from earmark.inference.significance import friedman_tukey, paired_t

REPEATS = 4_000
N_QUERIES = 40


def assert_rate(count, repeats, rate, slack=0.0):
    low, high = stats.binom.interval(0.999, repeats, rate)
    assert low / repeats - slack <= count / repeats <= high / repeats + slack


def null_differences(shape, seed):
    """Independent rows of symmetric differences: normal, or those of graded scores with many ties."""
    rng = np.random.default_rng(seed)
    if shape == "normal":
        return rng.normal(size=(REPEATS, N_QUERIES))
    graded = rng.integers(0, 6, size=(2, REPEATS, N_QUERIES)) / 5
    return np.concatenate(
        [paired_differences(np.stack([a, b])).values for a, b in zip(graded[0], graded[1], strict=True)]
    )


@pytest.mark.parametrize("shape", ["normal", "graded"])
def test_false_positives_of_sign_flips(shape):
    p_value = sign_flip_p_values(null_differences(shape, 1), n_resamples=999, rng=np.random.default_rng(1))
    assert_rate(np.count_nonzero(p_value <= 0.05), REPEATS, 0.05, slack=0.002)  # ties make it a little cautious


@pytest.mark.parametrize("shape", ["normal", "graded"])
def test_false_positives_of_wilcoxon(shape):
    p_value = signed_ranks(null_differences(shape, 2)).p_value
    assert_rate(np.count_nonzero(p_value <= 0.05), REPEATS, 0.05, slack=0.002)  # discrete, so a little cautious


@pytest.mark.parametrize("shape", ["normal", "graded"])
def test_false_positives_and_coverage_of_the_bootstrap(shape):
    result = bootstrap_differences(
        null_differences(shape, 3), n_resamples=999, alpha=0.05, rng=np.random.default_rng(3)
    )
    assert_rate(np.count_nonzero(result.p_value <= 0.05), REPEATS, 0.05, slack=0.005)
    covered = np.count_nonzero((result.low <= 0) & (0 <= result.high))
    assert_rate(covered, REPEATS, 0.95, slack=0.012)  # BCa intervals are too short by about 1/n


def test_bootstrap_covers_the_mean_of_skewed_differences():
    rng = np.random.default_rng(4)
    differences = rng.exponential(1, size=(REPEATS, 80))
    result = bootstrap_differences(differences, n_resamples=999, alpha=0.05, rng=rng)
    below, above = np.count_nonzero(result.high < 1), np.count_nonzero(result.low > 1)
    assert_rate(REPEATS - below - above, REPEATS, 0.95, slack=0.015)
    assert 0.01 < above / REPEATS < below / REPEATS < 0.06
    width = (result.high - result.low).mean()
    assert 2 * 1.96 / np.sqrt(80) * 0.9 < width < 2 * 1.96 / np.sqrt(80) * 1.1


def test_false_positives_and_coverage_of_t():
    rng = np.random.default_rng(5)
    repeats, true_difference, n = 2_000, 0.1, 12
    positives = covered = 0
    for _ in range(repeats):
        null = rng.normal(0, 1, size=(2, n))
        positives += int(paired_t(null).significant[0])
        result = paired_t(null + np.array([[true_difference], [0.0]]))
        covered += int(result.low[0] <= true_difference <= result.high[0])
    assert_rate(positives, repeats, 0.05)
    assert_rate(covered, repeats, 0.95)


def test_family_wise_false_positives_of_friedman_tukey():
    rng = np.random.default_rng(6)
    repeats = 1_500
    query_difficulty = rng.normal(0, 2, size=(repeats, 1, N_QUERIES))
    scores = rng.normal(size=(repeats, 5, N_QUERIES)) + query_difficulty
    results = [friedman_tukey(one) for one in scores]
    any_false = sum(bool(result.significant.any()) for result in results)
    assert_rate(any_false, repeats, 0.05, slack=0.005)
    omnibus = sum(result.omnibus is not None and result.omnibus.p_value <= 0.05 for result in results)
    assert_rate(omnibus, repeats, 0.05, slack=0.005)


def test_family_wise_false_positives_of_corrected_t_tests():
    rng = np.random.default_rng(7)
    repeats = 1_500
    scores = rng.normal(size=(repeats, 5, N_QUERIES))
    any_false = {
        correction: sum(bool(paired_t(one, correction=correction).significant.any()) for one in scores)
        for correction in ("none", "holm", "bh")
    }
    high = stats.binom.interval(0.999, repeats, 0.05)[1]
    assert any_false["holm"] <= any_false["bh"] <= high  # with no true difference BH bounds any false one, too
    assert any_false["holm"] > 0.02 * repeats
    assert any_false["none"] > 0.2 * repeats
