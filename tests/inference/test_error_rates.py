"""Do the tests keep their promise? Rates of false positives under the null, and coverage of the intervals.

Seeded simulations with two-sided bounds: too many false positives is a broken test, far too few a useless one.
The bounds are where a correct rate falls with probability .999; where a method is known to be only approximate
the slack is stated beside it.
"""

import numpy as np
import pytest
from scipy import stats

from earmark.inference.paired_differences import paired_differences
from earmark.inference.rank_tests import signed_ranks
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values
from earmark.inference.significance import compare_scores

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
def test_false_positives_of_the_bootstrap(shape):
    p_value = bootstrap_differences(
        null_differences(shape, 3), n_resamples=1_999, alpha=0.05, rng=np.random.default_rng(3)
    ).p_value
    assert_rate(np.count_nonzero(p_value <= 0.05), REPEATS, 0.05, slack=0.005)


def draw_differences(shape, n_queries, rng, repeats):
    """Independent rows of differences that are not symmetric about 0, and their true mean."""
    size = (repeats, n_queries)
    if shape == "normal":
        return rng.normal(0.3, 1, size=size), 0.3
    if shape == "skewed":  # scores near zero, with a long tail
        return rng.beta(0.5, 4.5, size=size) - rng.beta(0.3, 5.7, size=size), 0.1 - 0.05
    if shape == "exponential":
        return rng.exponential(1, size=size), 1.0
    ease = rng.beta(1, 1.5, size=size)  # of a query; the mean gain at five ranks, of gains 0, 1/2 and 1
    return (rng.binomial(10, ease) - rng.binomial(10, 0.8 * ease)) / 10, 0.2 * 0.4


def bootstrap_misses(shape, n_queries, seed):
    """Return how many intervals lie below and above the mean, and the median width relative to Student's."""
    rng = np.random.default_rng([seed, n_queries])
    below = above = 0
    widths = []
    for _ in range(10):  # resamples are shared by all rows of a call, so that it takes several
        differences, mean = draw_differences(shape, n_queries, rng, REPEATS // 10)
        result = bootstrap_differences(differences, n_resamples=999, alpha=0.05, rng=rng)
        below += np.count_nonzero(result.high < mean - 1e-12)
        above += np.count_nonzero(result.low > mean + 1e-12)
        student = 2 * stats.t.ppf(0.975, n_queries - 1) * stats.sem(differences, axis=1)
        widths.append((result.high - result.low)[student > 0] / student[student > 0])
    return below, above, np.median(np.concatenate(widths))


@pytest.mark.parametrize("shape", ["normal", "skewed", "discrete"])
@pytest.mark.parametrize("n_queries", [5, 10, 20, 40])
def test_bootstrap_intervals_cover_the_mean_difference(shape, n_queries):
    below, above, width = bootstrap_misses(shape, n_queries, seed=10)
    coverage = 1 - (below + above) / REPEATS
    assert 0.94 <= coverage <= (0.995 if n_queries < 10 else 0.975)
    assert 0.99 < width < (1.7 if n_queries < 10 else 1.15)
    if shape != "skewed":
        assert min(below, above) > 0.35 * max(below, above)


@pytest.mark.parametrize("n_queries", [10, 40])
def test_bootstrap_intervals_fall_a_little_short_where_one_system_always_wins(n_queries):
    below, above, width = bootstrap_misses("exponential", n_queries, seed=11)
    coverage = 1 - (below + above) / REPEATS
    assert 0.915 <= coverage <= 0.96
    assert below > 2 * above  # symmetric intervals, a tail on one side
    assert 1 < width < 2


def test_false_positives_and_coverage_of_t():
    rng = np.random.default_rng(5)
    repeats, true_difference, n = 2_000, 0.1, 12
    positives = covered = 0
    for _ in range(repeats):
        null = rng.normal(0, 1, size=(2, n))
        positives += int(compare_scores(null, test="t").significant[0])
        result = compare_scores(null + np.array([[true_difference], [0.0]]), test="t")
        covered += int(result.low[0] <= true_difference <= result.high[0])
    assert_rate(positives, repeats, 0.05)
    assert_rate(covered, repeats, 0.95)


def test_family_wise_false_positives_of_friedman_tukey():
    rng = np.random.default_rng(6)
    repeats = 1_500
    query_difficulty = rng.normal(0, 2, size=(repeats, 1, N_QUERIES))
    scores = rng.normal(size=(repeats, 5, N_QUERIES)) + query_difficulty
    results = [compare_scores(one) for one in scores]
    any_false = sum(bool(result.significant.any()) for result in results)
    assert_rate(any_false, repeats, 0.05, slack=0.005)
    omnibus = sum(result.omnibus is not None and result.omnibus.p_value <= 0.05 for result in results)
    assert_rate(omnibus, repeats, 0.05, slack=0.005)


def test_family_wise_false_positives_of_corrected_t_tests():
    rng = np.random.default_rng(7)
    repeats = 1_500
    scores = rng.normal(size=(repeats, 5, N_QUERIES))
    any_false = {
        correction: sum(bool(compare_scores(one, test="t", correction=correction).significant.any()) for one in scores)
        for correction in ("none", "holm", "bh")
    }
    high = stats.binom.interval(0.999, repeats, 0.05)[1]
    assert any_false["holm"] <= any_false["bh"] <= high  # with no true difference BH bounds any false one, too
    assert any_false["holm"] > 0.02 * repeats
    assert any_false["none"] > 0.2 * repeats


def draw_scores(shape, n_systems, n_queries, rng):
    """Scores of systems on the same queries, and their true means; no two systems are spread alike."""
    if shape == "normal":
        means, spread = np.linspace(0, 1, n_systems), np.linspace(1, 3, n_systems)
        noise = rng.normal(size=(n_systems, n_queries)) * spread[:, None] + rng.normal(0, 2, size=n_queries)
        return means[:, None] + noise, means
    if shape == "skewed":  # scores near zero, with a long tail
        alpha = np.linspace(0.3, 0.6, n_systems)
        return rng.beta(alpha[:, None], 5 - alpha[:, None], size=(n_systems, n_queries)), alpha / 5
    factor, ease = np.linspace(0.6, 1, n_systems), rng.beta(1, 1.5, size=n_queries)
    return rng.binomial(10, factor[:, None] * ease) / 10, factor * 0.4


@pytest.mark.parametrize("shape", ["normal", "skewed", "discrete"])
@pytest.mark.parametrize(("n_systems", "n_queries"), [(2, 40), (5, 10), (5, 40), (12, 40)])
def test_intervals_of_friedman_tukey_hold_together(shape, n_systems, n_queries):
    rng = np.random.default_rng([12, n_systems, n_queries])
    repeats, together = 500, 0
    for _ in range(repeats):
        scores, means = draw_scores(shape, n_systems, n_queries, rng)
        result = compare_scores(scores)
        truth = means[result.a] - means[result.b]
        together += bool(((result.low <= truth) & (truth <= result.high)).all())
    # Bonferroni's correction and the guard are cautious, the more so the fewer the queries.
    low = stats.binom.interval(0.999, repeats, 0.95)[0] / repeats
    assert low <= together / repeats <= (0.998 if n_queries > 10 else 1.0)
