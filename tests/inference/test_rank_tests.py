"""Friedman, Tukey and Wilcoxon against scipy, textbooks and enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from earmark.inference.rank_tests import average_ranks, friedman_ranks, normal_range_sf, signed_ranks, tukey_range

# Twelve home owners rank four grasses: Conover (1999), Practical Nonparametric Statistics, 3rd ed., section 5.8.
CONOVER_GRASSES = np.array(
    [
        [4, 4, 3, 3, 4, 2, 1, 2, 3.5, 4, 4, 3.5],
        [3, 2, 1.5, 1, 2, 2, 3, 4, 1, 1, 2, 1],
        [2, 3, 1.5, 2, 1, 2, 2, 1, 2, 3, 3, 2],
        [1, 1, 4, 4, 3, 4, 4, 3, 3.5, 2, 1, 3.5],
    ]
)
# Critical values q/sqrt(2) of the two-tailed Nemenyi test at .05: Demšar (2006), JMLR 7, table 5a.
DEMSAR_NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


def test_friedman_of_a_textbook_example():
    friedman = friedman_ranks(CONOVER_GRASSES)
    assert friedman.statistic == pytest.approx(8.097, abs=5e-4)  # T1 as Conover prints it
    assert friedman.df == 3
    # His ranks ascend, ours begin with the best.
    np.testing.assert_allclose((5 - friedman.mean_ranks) * 12, [38, 23.5, 24.5, 34])


@settings(deadline=None)
@given(arrays(float, st.tuples(st.integers(3, 6), st.integers(2, 12)), elements=st.integers(0, 4).map(float)))
def test_friedman_is_what_scipy_says_ties_included(scores):
    ours = friedman_ranks(scores)
    if ours.variance == 0:
        assert (ours.statistic, ours.p_value) == (0.0, 1.0)
        return
    theirs = stats.friedmanchisquare(*scores)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_rank_variance_without_ties():
    scores = np.random.default_rng(2).random((5, 30))
    assert friedman_ranks(scores).variance == pytest.approx(5 * 6 / 12)


@pytest.mark.parametrize(("k", "critical"), DEMSAR_NEMENYI.items())
def test_tukey_p_value_crosses_a_published_critical_difference(k, critical):
    n = 40
    critical_difference = critical * np.sqrt(k * (k + 1) / (6 * n))
    p_values = []
    for gap in (critical_difference - 0.002, critical_difference + 0.002):
        friedman = friedman_ranks(np.random.default_rng(k).random((k, n)))
        mean_ranks = friedman.mean_ranks.copy()
        mean_ranks[:2] = [2.0, 2.0 + gap]
        moved = type(friedman)(mean_ranks=mean_ranks, variance=friedman.variance, statistic=0, df=k - 1, p_value=1)
        p_values.append(tukey_range(moved, np.array([0]), np.array([1]), n_queries=n)[1][0])
    assert p_values[0] > 0.05 > p_values[1]
    np.testing.assert_allclose(p_values, 0.05, atol=2e-3)


def test_tukey_statistic_and_p_value_from_their_definitions():
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((4, 25)) + np.array([[0.3], [0.1], [0.0], [0.0]]), 1)
    ranks = np.array([stats.rankdata(column) for column in scores.T])
    sigma2 = ranks.var(axis=1, ddof=1).mean()  # the mean over queries of the sample variance of the ranks
    q = abs(ranks[:, 0].mean() - ranks[:, 3].mean()) / np.sqrt(sigma2 / 25)
    statistic, p_value = tukey_range(friedman_ranks(scores), np.array([0]), np.array([3]), n_queries=25)
    assert statistic[0] == pytest.approx(q)
    assert p_value[0] == pytest.approx(stats.studentized_range.sf(q, 4, np.inf))


def test_tukey_of_two_systems_is_a_normal_test():
    scores = np.random.default_rng(4).random((2, 20)) + np.array([[0.2], [0.0]])
    friedman = friedman_ranks(scores)
    _, p_value = tukey_range(friedman, np.array([0]), np.array([1]), n_queries=20)
    assert p_value[0] == pytest.approx(friedman.p_value)  # both are z² = χ² with one degree of freedom


def brute_force_signed_rank(differences):
    kept = differences[differences != 0]
    ranks = stats.rankdata(np.abs(kept))
    observed = ranks[kept > 0].sum()
    sums = np.array([ranks[np.array(signs, dtype=bool)].sum() for signs in product([0, 1], repeat=kept.size)])
    return min(1.0, 2 * min((sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()))


@settings(deadline=None, max_examples=60)
@given(arrays(float, (3, 9), elements=st.integers(-4, 4).map(float)))
def test_wilcoxon_is_exact_with_ties_and_zeros(differences):
    expected = [brute_force_signed_rank(row) for row in differences]
    np.testing.assert_allclose(signed_ranks(differences).p_value, expected, atol=1e-12)


@pytest.mark.parametrize("n", [5, 20, 50])
def test_wilcoxon_without_ties_is_what_scipy_says_exactly(n):
    differences = np.random.default_rng(n).normal(0.3, 1, size=(7, n))
    ours = signed_ranks(differences)
    theirs = stats.wilcoxon(differences, axis=1, method="exact")
    np.testing.assert_allclose(ours.p_value, theirs.pvalue, rtol=1e-10)
    np.testing.assert_allclose(np.minimum(ours.positive, ours.total - ours.positive), theirs.statistic)


def test_wilcoxon_on_many_queries_is_what_scipy_says_ties_included():
    differences = np.random.default_rng(0).integers(-6, 8, size=(9, 120)).astype(float)
    theirs = [stats.wilcoxon(row, method="asymptotic", zero_method="wilcox").pvalue for row in differences]
    np.testing.assert_allclose(signed_ranks(differences).p_value, theirs, rtol=1e-10)


def test_exact_and_normal_wilcoxon_agree_where_they_meet():
    rng = np.random.default_rng(8)
    fifty = rng.normal(0.25, 1, size=(30, 50))
    exact = signed_ranks(fifty).p_value
    normal = [stats.wilcoxon(row, method="asymptotic").pvalue for row in fifty]
    np.testing.assert_allclose(exact, normal, atol=0.02)


def test_wilcoxon_decides_by_pair_whether_to_be_exact():
    rng = np.random.default_rng(9)
    many = rng.normal(0.2, 1, size=60)
    few = np.where(np.arange(60) < 12, rng.normal(1, 1, size=60), 0.0)
    together = signed_ranks(np.stack([many, few])).p_value
    assert together[0] == pytest.approx(stats.wilcoxon(many, method="asymptotic").pvalue)
    assert together[1] == pytest.approx(stats.wilcoxon(few[:12], method="exact").pvalue)


def test_wilcoxon_of_nothing_but_zeros():
    ranks = signed_ranks(np.zeros((2, 60)))
    assert ranks.p_value.tolist() == [1.0, 1.0]
    assert ranks.total.tolist() == [0.0, 0.0]


def test_wilcoxon_chunks_do_not_change_the_result(monkeypatch):
    differences = np.random.default_rng(3).integers(-9, 10, size=(40, 30)).astype(float)
    whole = signed_ranks(differences).p_value
    monkeypatch.setattr("earmark.inference.rank_tests._CHUNK", 1)
    np.testing.assert_array_equal(signed_ranks(differences).p_value, whole)


@given(arrays(float, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=st.integers(-2, 2)))
def test_ranks_are_those_of_scipy(values: np.ndarray) -> None:
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values, axis=0))
    np.testing.assert_array_equal(average_ranks(values[:, 0]), stats.rankdata(values[:, 0]))


@pytest.mark.parametrize("k", [2, 3, 18, 100])
def test_range_is_the_studentized_range_with_infinitely_many_degrees_of_freedom(k: int) -> None:
    q = np.array([0.0, 0.01, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0])
    np.testing.assert_allclose(normal_range_sf(q, k), stats.studentized_range.sf(q, k, np.inf), atol=5e-15)
    assert normal_range_sf(0.0, k) == pytest.approx(1.0, abs=1e-14)


def test_range_of_two_is_twice_a_normal_tail() -> None:
    q = np.linspace(0, 8, 30)
    np.testing.assert_allclose(normal_range_sf(q, 2), 2 * stats.norm.sf(q / np.sqrt(2)), atol=1e-15)
