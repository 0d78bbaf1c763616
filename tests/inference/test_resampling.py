"""Sign flips against full enumeration; the bootstrap against its definition and against scipy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from earmark.inference.pairs import paired_differences
from earmark.inference.resampling import _query_counts, bootstrap_differences, sign_flip_p_values


def all_sign_flips(differences):
    signs = np.array(list(product([-1.0, 1.0], repeat=differences.shape[1])))
    return (np.abs(differences @ signs.T) >= np.abs(differences.sum(axis=1))[:, None] - 1e-9).mean(axis=1)


def test_sign_flips_tend_to_the_full_enumeration():
    rng = np.random.default_rng(1)
    scores = np.round(rng.random((4, 8)) + np.array([[0.25], [0.1], [0.0], [0.0]]), 1)  # many ties
    differences = paired_differences(scores).values
    exact = all_sign_flips(differences)
    n_resamples = 40_000
    ours = sign_flip_p_values(differences, n_resamples=n_resamples, rng=rng)
    np.testing.assert_allclose(ours, exact, atol=4.5 * 0.5 / np.sqrt(n_resamples))
    assert exact.min() < 0.2  # not all of them trivial


def test_equal_statistics_count_although_computed_differently():
    # Every |sum| of ±d equals the observed one or is smaller; as raw floats some that are equal compare as smaller.
    scores = np.array([[0.3, 0.2, 0.7, 0.8, 0.9], [0.1, 0.0, 0.5, 0.6, 0.7]])
    differences = paired_differences(scores).values
    ours = sign_flip_p_values(differences, n_resamples=20_000, rng=np.random.default_rng(3))
    assert ours[0] == pytest.approx(2 / 32, abs=0.006)
    mixed = paired_differences(scores * np.array([1.0, 1, 1, 1, -1])).values  # one of five against
    ours = sign_flip_p_values(mixed, n_resamples=20_000, rng=np.random.default_rng(3))
    assert ours[0] == pytest.approx(12 / 32, abs=0.015)


def test_sign_flip_p_value_is_never_zero_and_is_one_without_differences():
    differences = np.stack([np.ones(60), np.zeros(60)])
    p_value = sign_flip_p_values(differences, n_resamples=99, rng=np.random.default_rng(0))
    assert p_value.tolist() == [0.01, 1.0]


def test_sign_flips_of_a_pair_do_not_depend_on_the_others_nor_on_chunks(monkeypatch):
    differences = np.random.default_rng(2).normal(0.2, 1, size=(30, 25))
    together = sign_flip_p_values(differences, n_resamples=500, rng=np.random.default_rng(7))
    alone = sign_flip_p_values(differences[4:5], n_resamples=500, rng=np.random.default_rng(7))
    assert alone[0] == together[4]
    monkeypatch.setattr("earmark.inference.resampling._CHUNK", 100)
    chunked = sign_flip_p_values(differences, n_resamples=500, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(chunked, together)


def test_bootstrap_p_value_from_its_definition():
    differences = np.random.default_rng(4).exponential(1, size=(3, 15)) - np.array([[0.6], [0.9], [1.1]])
    n_resamples, n = 400, 15
    ours = bootstrap_differences(differences, n_resamples=n_resamples, alpha=0.05, rng=np.random.default_rng(5))
    counts = _query_counts(n, n_resamples=n_resamples, rng=np.random.default_rng(5))
    for row, p_value in zip(differences, ours.p_value, strict=True):
        shifted = row - row.mean()
        reached = 0
        for count in counts:
            resample = np.repeat(shifted, count)
            reached += abs(stats.ttest_1samp(resample, 0).statistic) >= abs(stats.ttest_1samp(row, 0).statistic)
        assert p_value == (reached + 1) / (n_resamples + 1)


def test_query_counts_are_draws_with_replacement():
    counts = _query_counts(300, n_resamples=200, rng=np.random.default_rng(0))
    assert (counts.sum(axis=1) == 300).all()
    assert counts.dtype == np.uint16
    assert counts.var() == pytest.approx(1 - 1 / 300, abs=0.03)  # binomial(300, 1/300)


def test_bca_interval_agrees_with_scipy():
    row = np.random.default_rng(6).exponential(1, size=40) - 0.5
    ours = bootstrap_differences(row[None], n_resamples=60_000, alpha=0.1, rng=np.random.default_rng(1))
    theirs = stats.bootstrap(
        (row,),
        np.mean,
        n_resamples=60_000,
        batch=5_000,
        confidence_level=0.9,
        method="BCa",
        rng=np.random.default_rng(2),
    ).confidence_interval
    np.testing.assert_allclose([ours.low[0], ours.high[0]], [theirs.low, theirs.high], atol=0.01)
    plain = stats.norm.interval(0.9, row.mean(), stats.sem(row))
    assert ours.low[0] > plain[0] + 0.02  # the skew is taken into account ...
    assert ours.high[0] > plain[1] + 0.02  # ... on both sides


def test_bootstrap_without_variance():
    differences = np.stack([np.zeros(10), np.full(10, 0.125), np.full(10, -0.25)])
    result = bootstrap_differences(differences, n_resamples=199, alpha=0.05, rng=np.random.default_rng(0))
    assert result.p_value.tolist() == [1.0, 0.005, 0.005]
    assert result.low.tolist() == result.high.tolist() == [0.0, 0.125, -0.25]


def test_bootstrap_chunks_do_not_change_the_result(monkeypatch):
    differences = paired_differences(np.random.default_rng(3).random((6, 30))).values
    whole = bootstrap_differences(differences, n_resamples=300, alpha=0.05, rng=np.random.default_rng(1))
    monkeypatch.setattr("earmark.inference.resampling._CHUNK", 900)
    monkeypatch.setattr(
        "earmark.inference.resampling._query_counts",
        lambda n, *, n_resamples, rng: _query_counts(n, n_resamples=n_resamples, rng=rng),
    )
    chunked = bootstrap_differences(differences, n_resamples=300, alpha=0.05, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(chunked.p_value, whole.p_value)
    np.testing.assert_array_equal(chunked.low, whole.low)
    np.testing.assert_array_equal(chunked.high, whole.high)
