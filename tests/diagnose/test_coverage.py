"""Coverage of intervals: by hand, against scipy's distributions, and where the truth is drawn from the claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from earmark.diagnose.coverage import LEVELS, half_widths, integral_transform, interval_coverage, wilson_interval
from earmark.errors import ParameterError
from earmark.inference.intervals import interval

REPEATS = 20_000
SCORES = st.floats(-2, 2)


def assert_rate(count, repeats, rate):
    low, high = stats.binom.interval(0.9999, repeats, rate)
    assert low <= count <= high


def draw_claims(seed, df=None, n=REPEATS):
    """Estimates, variances and truths such that every claim is true."""
    rng = np.random.default_rng(seed)
    estimate, variance = rng.normal(size=n), rng.uniform(0.01, 2, size=n)
    error = rng.normal(size=n) if df is None else rng.standard_t(df, size=n)
    return estimate, variance, estimate + error * np.sqrt(variance)


# --- coverage ---


def test_by_hand():
    # Half-widths 1.6449 at .90 and 2.5758 at .99, for variance 1; 3.2897 and 5.1517 for variance 4.
    result = interval_coverage([0, 0, 0, 0], [1, 1, 4, 4], [1.6, -1.7, 3.2, -5.2], levels=[0.9, 0.99])
    assert result.covered.tolist() == [2, 3]
    assert result.total == 4
    np.testing.assert_allclose(result.share, [0.5, 0.75])
    np.testing.assert_allclose(result.shortfall, [0.4, 0.24])
    np.testing.assert_allclose(result.half_width, [1.5 * 1.644854, 1.5 * 2.575829], rtol=1e-6)
    assert result.frame().columns == ["level", "covered", "total", "coverage", "low", "high", "half_width"]
    assert result.frame().row(0)[:4] == (0.9, 2, 4, 0.5)


@pytest.mark.parametrize("df", [None, 3.0, 40.0])
def test_true_claims_are_covered_as_often_as_promised(df):
    result = interval_coverage(*draw_claims(1, df), df=df)
    assert result.level.tolist() == list(LEVELS)
    for covered, level in zip(result.covered, LEVELS, strict=True):
        assert_rate(covered, REPEATS, level)


def test_one_df_for_each_estimate():
    df = np.where(np.arange(REPEATS) % 2, 2.0, 30.0)
    result = interval_coverage(*draw_claims(2, df), df=df)
    for covered, level in zip(result.covered, LEVELS, strict=True):
        assert_rate(covered, REPEATS, level)
    # With the normal quantile instead, t intervals fall short: that is what z does on small samples.
    assert (interval_coverage(*draw_claims(2, df)).shortfall > 0.01).all()


def test_variances_that_are_too_small_or_too_large_show():
    estimate, variance, truth = draw_claims(3)
    assert interval_coverage(estimate, variance / 4, truth).share[2] == pytest.approx(
        2 * stats.norm.cdf(1.959964 / 2) - 1, abs=0.015
    )
    wide = interval_coverage(estimate, variance * 4, truth)
    assert (wide.shortfall < 0).all()
    np.testing.assert_allclose(wide.half_width, 2 * interval_coverage(estimate, variance, truth).half_width)


def test_pairs_are_covered_by_the_variance_of_the_difference():
    # Two systems that share most of their items: the marginal variances would be far too wide.
    rng = np.random.default_rng(4)
    covariance = np.array([[1.0, 0.9], [0.9, 1.0]])
    truth = rng.multivariate_normal([0, 0], covariance, size=REPEATS)
    zero = np.zeros(REPEATS)
    difference = truth[:, 0] - truth[:, 1]
    right = interval_coverage(zero, np.full(REPEATS, 1 + 1 - 2 * 0.9), difference)
    for covered, level in zip(right.covered, LEVELS, strict=True):
        assert_rate(covered, REPEATS, level)
    assert interval_coverage(zero, np.full(REPEATS, 2.0), difference).share[0] > 0.95


@given(st.lists(st.tuples(SCORES, st.floats(0, 2), SCORES), min_size=1, max_size=20), st.sampled_from([None, 1.0, 7.0]))
def test_it_counts_what_the_intervals_of_inference_contain(rows, df):
    estimate, variance, truth = (np.array(column) for column in zip(*rows, strict=True))
    result = interval_coverage(estimate, variance, truth, df=df)
    for place, level in enumerate(LEVELS):
        low, high = interval(estimate, variance, level=level, df=df)
        surely = np.count_nonzero((truth > low + 1e-9) & (truth < high - 1e-9))
        at_most = np.count_nonzero((truth > low - 1e-9) & (truth < high + 1e-9))
        assert surely <= result.covered[place] <= at_most
    assert (np.diff(result.covered) >= 0).all()
    assert (result.low <= result.share).all()
    assert (result.share <= result.high).all()


def test_no_variance_covers_the_estimate_itself_but_for_rounding():
    result = interval_coverage([0.3, 0.3, 0.3], [0, 0, 0], [0.1 + 0.2, 0.3, 0.30001])
    assert result.covered.tolist() == [2] * 4
    assert result.half_width.tolist() == [0.0] * 4
    assert interval_coverage([0.3], [0], [0.30001], tolerance=1e-3).covered.tolist() == [1] * 4


def test_an_infinite_variance_covers_everything():
    result = interval_coverage([0.3], [np.inf], [5.0])
    assert result.covered.tolist() == [1] * 4
    assert integral_transform([0.3], [np.inf], [5.0]).tolist() == [0.5]


def test_nothing_to_cover():
    result = interval_coverage([], [], [])
    assert result.total == 0
    assert np.isnan(result.share).all()
    assert result.frame()["coverage"].to_list() == result.frame()["half_width"].to_list() == [None] * 4
    assert (result.low.tolist(), result.high.tolist()) == ([0.0] * 4, [1.0] * 4)


# --- half-widths and the integral transform ---


def test_half_widths_are_quantiles_of_the_distributions():
    variance = np.array([0.0, 1.0, 4.0])
    np.testing.assert_allclose(half_widths(variance), np.outer(stats.norm.interval(LEVELS)[1], [0, 1, 2]))
    df = np.array([5.0, 1.0, np.inf])
    expected = np.column_stack([np.zeros(4), stats.t.interval(LEVELS, 1)[1], 2 * stats.norm.interval(LEVELS)[1]])
    np.testing.assert_allclose(half_widths(variance, df=df), expected, rtol=1e-9)
    np.testing.assert_allclose(half_widths(variance, levels=[0.5], df=9)[0, 1], stats.t.ppf(0.75, 9))


@pytest.mark.parametrize("df", [None, 4.0])
def test_the_transform_of_true_claims_is_uniform(df):
    u = integral_transform(*draw_claims(5, df), df=df)
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    tails = integral_transform(*draw_claims(5, df))
    assert df is None or stats.kstest(tails, "uniform").pvalue < 1e-4


@given(st.lists(st.tuples(SCORES, st.floats(1e-3, 2), SCORES), min_size=1, max_size=20), st.floats(0.01, 0.99))
def test_an_interval_covers_where_the_transform_is_central(rows, level):
    estimate, variance, truth = (np.array(column) for column in zip(*rows, strict=True))
    u = integral_transform(estimate, variance, truth)
    covered = interval_coverage(estimate, variance, truth, levels=[level]).covered[0]
    assert np.count_nonzero(np.abs(2 * u - 1) <= level - 1e-9) <= covered
    assert covered <= np.count_nonzero(np.abs(2 * u - 1) <= level + 1e-9)


def test_the_transform_without_variance():
    u = integral_transform([0.3, 0.3, 0.3], [0, 0, 0], [0.1 + 0.2, 0.2, 0.4])
    assert u.tolist() == [0.5, 0.0, 1.0]
    assert integral_transform([0.3], [0], [0.4], df=3).tolist() == [1.0]


# --- Wilson's interval ---


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_as_statsmodels_has_it(drawn, level):
    successes, trials = drawn
    low, high = wilson_interval([successes], [trials], level=level)
    np.testing.assert_allclose(
        (low[0], high[0]), proportion_confint(successes, trials, alpha=1 - level, method="wilson"), atol=1e-12
    )
    assert 0 <= low[0] <= successes / trials <= high[0] <= 1


def test_wilson_at_the_ends():
    low, high = wilson_interval([0, 3, 0, 2.5], [3, 3, 0, 5])
    assert (low[0], high[1], low[2], high[2]) == (0.0, 1.0, 0.0, 1.0)
    np.testing.assert_allclose(low[3] + high[3], 1)


def test_wilson_covers_a_share_about_as_often_as_it_says():
    # Exact probability of covering, summed over all outcomes: near .95, on average over shares.
    share = np.linspace(0.05, 0.95, 19)
    low, high = wilson_interval(np.arange(51), np.full(51, 50))
    inside = (low[:, None] <= share) & (share <= high[:, None])
    probability = stats.binom.pmf(np.arange(51)[:, None], 50, share)
    covered = (inside * probability).sum(axis=0)
    assert covered.mean() == pytest.approx(0.95, abs=0.01)
    assert covered.min() > 0.91


# --- what cannot be used ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interval_coverage([0], [1], [0], levels=[0.9, 1]), r"between 0 and 1, got \[0.9, 1\]"),
        (lambda: interval_coverage([0], [1], [0], levels=[]), "levels of intervals lie between 0 and 1"),
        (lambda: interval_coverage([0], [1], [0], df=0), "above 0, one for all or one for each of 1 estimates"),
        (lambda: interval_coverage([0] * 3, [1] * 3, [0] * 3, df=[1, 2]), "one for each of 3 estimates"),
        (lambda: interval_coverage([0], [1], [0, 0]), r"one shape, got \(1,\), \(1,\) and \(2,\)"),
        (lambda: interval_coverage([0], [1], [np.inf]), "must be finite"),
        (lambda: interval_coverage([0], [-1], [0]), "variances must be 0 or more"),
        (lambda: interval_coverage([0], [1], [0], tolerance=-1), "a tolerance is 0 or more, got -1"),
        (lambda: interval_coverage([0], [1], [0], bounds=1), "between 0 and 1, got 1"),
        (lambda: integral_transform([0], [1], [0], tolerance=np.nan), "a tolerance is 0 or more, got nan"),
        (lambda: half_widths([-1]), "a vector of numbers that are 0 or more"),
        (lambda: half_widths([[1]]), "a vector of numbers that are 0 or more"),
        (lambda: wilson_interval([2], [1]), "0 <= successes <= trials"),
        (lambda: wilson_interval([1], [1, 2]), "must have one shape"),
        (lambda: wilson_interval([1], [1], level=0), "between 0 and 1, got 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
