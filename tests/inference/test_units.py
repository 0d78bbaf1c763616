"""Tests by unit: the formulas the long way, other programs, what must not matter, and error rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, special, stats
from statsmodels.regression.linear_model import OLS

from earmark.errors import ParameterError
from earmark.inference.effect_sizes import standard_deviation
from earmark.inference.one_sided_tests import below_zero
from earmark.inference.paired_differences import paired_differences
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values
from earmark.inference.significance import TestName, compare_scores
from earmark.inference.units import Units, guarded_spread, pseudo_values, spread

TESTS: tuple[TestName, ...] = ("friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap")
FIELDS = ("difference", "statistic", "p_value", "p_adjusted", "effect_size", "wins", "ties", "losses", "low", "high")


def uneven(n_units: int, seed: int) -> np.ndarray:
    """Numbers of units of uneven size, the queries of a unit not beside each other."""
    rng = np.random.default_rng(seed)
    number = np.repeat(np.arange(n_units), 1 + rng.geometric(0.2, n_units))
    return np.unique(rng.permutation(number), return_inverse=True)[1]


def outcome(scores: np.ndarray, test: TestName, units: np.ndarray | None):
    return compare_scores(scores, test=test, units=units, n_resamples=999, rng=np.random.default_rng(0))


def long_way(values: np.ndarray, number: np.ndarray) -> tuple[float, float]:
    """Variance CR2 of a mean and Satterthwaite's degrees of freedom, from the definition for any regression."""
    n = values.size
    design = np.ones((n, 1))
    bread = np.linalg.inv(design.T @ design)
    residual = values - values.mean()
    leave = np.eye(n) - design @ bread @ design.T
    variance, columns = 0.0, []
    for unit in np.unique(number):
        own = np.flatnonzero(number == unit)
        # The inverse of the symmetric square root, of a block that may have no inverse.
        adjust = linalg.pinvh(linalg.sqrtm(leave[np.ix_(own, own)]).real)
        variance += float((bread @ design[own].T @ adjust @ residual[own])[0] ** 2)
        columns.append(leave[own].T @ adjust @ design[own] @ bread)
    stacked = np.hstack(columns)
    products = stacked.T @ stacked
    return variance, float(np.trace(products) ** 2 / np.sum(products**2))


@pytest.mark.parametrize("n_units", [2, 3, 8, 20])
def test_variance_and_degrees_of_freedom_are_those_of_the_definition(n_units: int) -> None:
    number = uneven(n_units, n_units)
    values = np.random.default_rng(1).normal(size=(3, number.size)) + 0.3
    units = Units(number)
    for row in values:
        variance, df = long_way(row, number)
        assert spread(row[None], units)[0] ** 2 / units.count == pytest.approx(variance)
        assert units.df == pytest.approx(df)


def test_units_of_equal_size_have_the_cluster_robust_variance_of_statsmodels() -> None:
    """There the correction CR2 is the factor G / (G - 1), which statsmodels knows."""
    number = np.random.default_rng(2).permutation(np.repeat(np.arange(9), 5))
    values = np.random.default_rng(3).normal(size=45) + 0.2 * number
    fit = OLS(values, np.ones(45)).fit(cov_type="cluster", cov_kwds={"groups": number})
    units = Units(np.unique(number, return_inverse=True)[1])
    assert spread(values[None], units)[0] / 3 == pytest.approx(fit.bse[0])
    assert units.df == pytest.approx(8)


@pytest.mark.parametrize("test", TESTS)
def test_a_unit_of_its_own_for_every_query_changes_no_bit(test: TestName) -> None:
    scores = np.random.default_rng(4).integers(0, 6, size=(4, 23)) / 5
    plain, alone = outcome(scores, test, None), outcome(scores, test, np.arange(23))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(plain, name), getattr(alone, name))


def test_the_t_test_by_query_is_the_textbooks_to_the_bit() -> None:
    scores = np.random.default_rng(5).integers(0, 6, size=(2, 31)) / 5
    result = outcome(scores, "t", None)
    apart = paired_differences(scores).values
    deviation = standard_deviation(apart)
    assert result.statistic[0] == apart.mean() / (deviation[0] / np.sqrt(31))
    margin = -special.stdtrit(30, 0.025) * deviation[0] / np.sqrt(31)
    assert (result.low[0], result.high[0]) == (apart.mean() - margin, apart.mean() + margin)
    assert result.p_value[0] == pytest.approx(stats.ttest_rel(*scores).pvalue, rel=1e-9)


@pytest.mark.parametrize("test", TESTS)
def test_units_of_equal_size_are_tested_by_their_means(test: TestName) -> None:
    rng = np.random.default_rng(6)
    # Binary fractions, so that means that are equal are equal to the last bit.
    scores = rng.integers(0, 9, size=(3, 40)) / 8
    scores[0] += 0.125
    number = np.repeat(np.arange(10), 4)
    by_unit, means = outcome(scores, test, number), outcome(scores.reshape(3, 10, 4).mean(axis=2), test, None)
    for name in ("difference", "p_value", "wins", "ties", "losses", "low", "high"):
        np.testing.assert_allclose(getattr(by_unit, name), getattr(means, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_means_are_over_queries_and_the_order_of_queries_is_of_no_matter(test: TestName) -> None:
    rng = np.random.default_rng(7)
    number = uneven(12, 7)
    scores = rng.normal(size=(3, number.size))
    result = outcome(scores, test, number)
    np.testing.assert_allclose(result.difference, scores.mean(axis=1)[result.a] - scores.mean(axis=1)[result.b])
    order = np.argsort(number, kind="stable")
    again = outcome(scores[:, order], test, number[order])
    for name in FIELDS:
        np.testing.assert_allclose(getattr(result, name), getattr(again, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap"])
def test_a_query_asked_three_times_is_no_more_evidence(test: TestName) -> None:
    scores = np.random.default_rng(8).normal(size=(3, 15)) + np.array([[0.3], [0.0], [0.1]])
    once = outcome(scores, test, None)
    thrice = outcome(np.repeat(scores, 3, axis=1), test, np.repeat(np.arange(15), 3))
    np.testing.assert_allclose(once.p_value, thrice.p_value, rtol=1e-9)
    assert np.all(outcome(np.repeat(scores, 3, axis=1), test, None).p_value <= thrice.p_value)


def test_what_cancels_within_every_unit_has_no_variance() -> None:
    number = np.array([0, 0, 1, 1, 1, 2, 2])
    values = np.array([[0.1, -0.1, 0.1, 0.2, -0.3, 0.5, -0.5]]) + 0.3
    assert spread(values, Units(number)).tolist() == [0.0]


def test_one_unit_alone_tells_nothing() -> None:
    with pytest.raises(ParameterError, match="have to be two or more, got 1"):
        compare_scores(np.eye(2, 5), units=np.zeros(5, dtype=int))


# ---- the guard -------------------------------------------------------------------------------------------------------


def test_a_pair_without_a_difference_has_an_interval_as_wide_as_others_differ() -> None:
    """Two systems that nine queries do not tell apart, beside one that differs by up to one half."""
    third = np.array([0.5, 0, 0, 0, 0, 0, 0, 0, 0])
    scores = np.stack([np.zeros(9), np.zeros(9), third])
    result = compare_scores(scores)
    largest = 0.5 - third.mean()
    half = -stats.t.ppf(0.05 / 3 / 2, 8) * np.sqrt(0.5 * largest**2 / 8 / 9)
    assert (result.low[0], result.high[0]) == (pytest.approx(-half), pytest.approx(half))
    by_unit = guarded_spread(third[None], Units(np.arange(9)))[0]
    assert by_unit == pytest.approx(np.sqrt(third.var(ddof=1) + 0.5 * largest**2 / 8))


def near_the_top(rng: np.random.Generator, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Reciprocal ranks of ten systems with their first hit nearly always at rank 1: a sample, and the means of 400."""
    hit = 1 / (1 + np.exp(-(np.linspace(2, 4.5, 10)[:, None] + 1.5 * rng.normal(size=400))))
    scores = 1 / rng.geometric(hit)
    return scores[:, rng.integers(0, 400, queries)], scores.mean(axis=1)


@pytest.mark.parametrize("queries", [15, 40])
def test_intervals_of_systems_that_seldom_differ_hold_together(queries: int) -> None:
    rng = np.random.default_rng([9, queries])
    repeats, together = 300, 0
    for _ in range(repeats):
        sample, truth = near_the_top(rng, queries)
        result = compare_scores(sample)
        true = truth[result.a] - truth[result.b]
        together += bool(((result.low <= true) & (true <= result.high)).all())
    assert together >= stats.binom.ppf(0.001, repeats, 0.95)


# ---- error rates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("n_units", [5, 20, 80])
def test_false_alarms_and_coverage_by_unit(n_units: int, correlation: float) -> None:
    rows, alarms, covered = 400, np.zeros(3), np.zeros(2)
    rng = np.random.default_rng([10, n_units, int(10 * correlation)])
    for seed in range(5):
        number = uneven(n_units, seed)
        units = Units(number)
        values = np.sqrt(correlation) * rng.normal(size=(rows, n_units))[:, number]
        values += np.sqrt(1 - correlation) * rng.normal(size=(rows, number.size))
        mean = values.mean(axis=1)
        error = spread(values, units) / np.sqrt(n_units)
        alarms[0] += np.count_nonzero(2 * stats.t.sf(np.abs(mean) / error, units.df) <= 0.05)
        covered[0] += np.count_nonzero(np.abs(mean) <= stats.t.ppf(0.975, units.df) * error)
        alarms[1] += np.count_nonzero(sign_flip_p_values(units.sums(values), n_resamples=399, rng=rng) <= 0.05)
        drawn = bootstrap_differences(pseudo_values(values, units, alpha=0.05), n_resamples=399, alpha=0.05, rng=rng)
        alarms[2] += np.count_nonzero(drawn.p_value <= 0.05)
        covered[1] += np.count_nonzero((drawn.low <= 0) & (drawn.high >= 0))
    assert np.all(alarms <= stats.binom.ppf(0.9995, 5 * rows, 0.06))
    assert np.all(covered >= stats.binom.ppf(0.0005, 5 * rows, 0.94))


@pytest.mark.parametrize("test", TESTS)
def test_two_equally_good_cover_song_systems(test: TestName) -> None:
    """80 works of 6 versions: by version one comparison in three calls one of the systems better."""
    rng = np.random.default_rng(11)
    number, repeats, alarms = np.repeat(np.arange(80), 6), 200, np.zeros(2)
    for _ in range(repeats):
        heard = rng.normal(size=(2, 80))[:, number] + rng.normal(size=80)[number] + rng.normal(size=(2, 480))
        for place, units in enumerate((None, number)):
            drawn = compare_scores(1 / (1 + np.exp(-heard)), test=test, units=units, n_resamples=199, rng=rng)
            alarms[place] += drawn.significant[0]
    assert alarms[0] > 0.2 * repeats
    assert alarms[1] <= stats.binom.ppf(0.999, repeats, 0.05)


# ---- one-sided tests -------------------------------------------------------------------------------------------------


def low(differences: np.ndarray, test: str = "t", number: np.ndarray | None = None) -> np.ndarray:
    return below_zero(
        differences,
        Units.of(number, n_queries=differences.shape[1]),
        test=test,
        n_resamples=1999,
        alpha=0.05,
        rng=np.random.default_rng(0),
        resolution=1e-12,
    )


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap"])
def test_losses_alone_take_five_units(test: str) -> None:
    losses = -np.array([[0.31, 0.3, 0.29, 0.3, 0.31]])
    assert low(losses[:, :4], test)[0] >= 0.0625
    assert low(losses, "t")[0] == pytest.approx(1 / 32)
    assert low(-losses, test)[0] > 0.9
    # Four queries of each of four users are four units.
    assert low(np.repeat(losses[:, :4], 4, axis=1), test, np.repeat(np.arange(4), 4))[0] >= 0.0625
    assert low(np.zeros((1, 9)), test)[0] >= 0.5


@pytest.mark.parametrize("queries", [10, 50, 200])
def test_one_sided_false_alarms_where_ranks_and_means_disagree(queries: int) -> None:
    """The baseline wins seven queries of ten by a little and loses the others by more; the means are the same."""
    rng = np.random.default_rng([12, queries])
    repeats = 2_000
    lost = rng.random((repeats, queries)) < 0.7
    differences = np.where(lost, -0.06, 0.14) + rng.normal(0, 0.02, size=lost.shape)
    alarms = np.count_nonzero(low(differences) <= 0.05)
    # A sign test, which is what Friedman's test of two systems comes to.
    by_ranks = np.count_nonzero(stats.binom.sf((differences < 0).sum(axis=1) - 1, queries, 0.5) <= 0.025)
    assert alarms <= stats.binom.ppf(0.999, repeats, 0.05)
    assert alarms >= 0.01 * repeats
    assert by_ranks > 2 * alarms
