"""Sign flips and bootstrap against full enumeration and against their definitions."""

from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from earmark.inference.paired_differences import paired_differences
from earmark.inference.resampling import _query_counts, bootstrap_differences, sign_flip_p_values


def all_sign_flips(differences):
    """Exact p-values of whole numbers."""
    signs = np.array(list(product([-1.0, 1.0], repeat=differences.shape[1])))
    return (np.abs(differences @ signs.T) >= np.abs(differences.sum(axis=1))[:, None]).mean(axis=1)


@pytest.mark.parametrize("step", [10, 3, 7, 2**6, 1000])
def test_sign_flips_tend_to_the_full_enumeration(step):
    # Scores that are multiples of 1/10, 1/3, ...: many sums are equal, and most of these differ as raw floats.
    rng = np.random.default_rng(step)
    scores = rng.integers(0, min(step, 12), size=(5, 8)) / step
    pairs = paired_differences(scores)
    exact = all_sign_flips(np.rint(pairs.values * step))
    n_resamples = 40_000
    # More queries without a difference change no p-value, but make more assignments of signs than are drawn.
    values = np.hstack([pairs.values, np.zeros((len(pairs.values), 8))])
    ours = sign_flip_p_values(values, n_resamples=n_resamples, rng=rng, resolution=pairs.resolution / 2)
    np.testing.assert_allclose(ours, exact, atol=4.5 * 0.5 / np.sqrt(n_resamples))
    assert exact.min() < 0.5  # not all of them trivial


def test_few_queries_have_exact_p_values_that_do_not_depend_on_the_order_of_queries():
    scores = np.random.default_rng(4).integers(0, 10, size=(4, 9)) / 10
    pairs = paired_differences(scores)
    exact = all_sign_flips(np.rint(pairs.values * 10))
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(9)
        ours = sign_flip_p_values(
            pairs.values[:, order], n_resamples=2**9, rng=np.random.default_rng(seed), resolution=pairs.resolution
        )
        assert ours.tolist() == exact.tolist()


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


def test_bootstrap_from_its_definition(monkeypatch):
    drawn = []

    def remember(n_queries, **options):
        drawn.append(_query_counts(n_queries, **options))
        return drawn[-1]

    monkeypatch.setattr("earmark.inference.resampling._query_counts", remember)
    differences = np.random.default_rng(4).exponential(1, size=(3, 15)) - np.array([[0.6], [0.9], [1.1]])
    n_resamples, alpha = 400, 0.1
    ours = bootstrap_differences(differences, n_resamples=n_resamples, alpha=alpha, rng=np.random.default_rng(5))
    counts = np.concatenate(drawn).astype(int)
    assert len(counts) == n_resamples
    for row, p_value, low, high in zip(differences, ours.p_value, ours.low, ours.high, strict=True):
        resampled = [abs(stats.ttest_1samp(np.repeat(row, count), row.mean()).statistic) for count in counts]
        reached = np.count_nonzero(resampled >= abs(stats.ttest_1samp(row, 0).statistic))
        assert p_value == (reached + 1) / (n_resamples + 1)
        margin = sorted(resampled, reverse=True)[40 - 1] * stats.sem(row)  # 40 = floor(.1 * 401)
        np.testing.assert_allclose([low, high], [row.mean() - margin, row.mean() + margin], atol=2e-6 * margin)


@pytest.mark.parametrize(
    "whole",
    [[1, 2, 3, -1, 5], [0, 0, 1, 2, 5], [-1, 0, 0, 0, 1], [0, 0, 3, 3, 3], [7, 7, 8, 8, 9], [-2, -1, 0, 1, 2]],
)
@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.05, 0.01])
def test_bootstrap_of_all_resamples_in_exact_arithmetic(monkeypatch, whole, alpha):
    # Every one of the 5⁵ resamples once. Many have the same statistic, and some no variance.
    n, n_resamples = 5, 5**5
    counts = np.array([np.bincount(drawn, minlength=n) for drawn in product(range(n), repeat=n)])
    unseen = iter(counts)
    monkeypatch.setattr(
        "earmark.inference.resampling._query_counts",
        lambda n_queries, *, n_resamples, rng: np.array(list(islice(unseen, n_resamples)), dtype=float),
    )
    ours = bootstrap_differences(
        np.array([whole]) / 10, n_resamples=n_resamples, alpha=alpha, rng=np.random.default_rng(0), resolution=1e-12
    )

    def squared_t(total, total_of_squares, null_total):
        variance = n * total_of_squares - total**2
        return Fraction((total - null_total) ** 2 * (n - 1), variance) if variance else Fraction(10**12)

    values = np.array(whole)
    observed = squared_t(sum(whole), sum(v * v for v in whole), 0)
    resampled = sorted((squared_t(int(c @ values), int(c @ values**2), sum(whole)) for c in counts), reverse=True)
    reached = sum(value >= observed for value in resampled)
    assert ours.p_value[0] == (reached + 1) / (n_resamples + 1)
    critical = float(resampled[int(alpha * (n_resamples + 1)) - 1])
    if critical > 1e9:
        assert (ours.low[0], ours.high[0]) == (-np.inf, np.inf)
    else:
        half = (ours.high[0] - ours.low[0]) / 2
        assert half == pytest.approx(np.sqrt(critical) * stats.sem(values / 10), rel=1e-5)
        assert (ours.low[0] + ours.high[0]) / 2 == pytest.approx(np.mean(whole) / 10, abs=1e-12)


@settings(deadline=None, max_examples=200)
@given(
    arrays(float, st.tuples(st.integers(1, 4), st.integers(2, 12)), elements=st.integers(-4, 8)),
    st.sampled_from([1, 3, 10]),
    st.sampled_from([0.01, 0.05, 0.1, 0.32, 0.5]),
    st.integers(99, 260),
    st.integers(0, 2**32 - 1),
)
def test_bootstrap_interval_excludes_zero_exactly_when_the_p_value_is_at_most_alpha(
    whole, step, alpha, n_resamples, seed
):
    pairs = whole / step
    result = bootstrap_differences(
        pairs, n_resamples=n_resamples, alpha=alpha, rng=np.random.default_rng(seed), resolution=1e-12
    )
    np.testing.assert_array_equal((result.low > 0) | (result.high < 0), result.p_value <= alpha)
    mean = pairs.mean(axis=1)
    assert ((result.low <= mean) & (mean <= result.high)).all()


def test_bootstrap_interval_at_the_very_edge_of_significance():
    # Below alpha = p the critical statistic is a tie with the observed one: 0 is the end of the interval, and in it.
    rows = np.random.default_rng(9).integers(-1, 3, size=(60, 8)) / 10

    def bootstrap_at(alpha):
        return bootstrap_differences(rows, n_resamples=999, alpha=alpha, rng=np.random.default_rng(2), resolution=1e-12)

    at_the_edge = 0
    for i, p_value in enumerate(bootstrap_at(0.05).p_value):
        if p_value == 1:
            continue
        significant, not_quite = bootstrap_at(p_value), bootstrap_at(np.nextafter(p_value, 0))
        assert not significant.low[i] <= 0 <= significant.high[i]
        assert not_quite.low[i] <= 0 <= not_quite.high[i]
        at_the_edge += min(abs(not_quite.low[i]), abs(not_quite.high[i])) < 1e-6
    assert at_the_edge > 10


def test_bootstrap_interval_holds_the_shifts_that_are_not_significant():
    differences = np.random.default_rng(8).beta(1, 4, size=(1, 12))
    options = {"n_resamples": 999, "alpha": 0.05}
    interval = bootstrap_differences(differences, rng=np.random.default_rng(1), **options)
    shifts = np.linspace(interval.low[0] - 0.1, interval.high[0] + 0.1, 200)
    p_value = bootstrap_differences(differences - shifts[:, None], rng=np.random.default_rng(1), **options).p_value
    inside = (interval.low[0] <= shifts) & (shifts <= interval.high[0])
    np.testing.assert_array_equal(inside, p_value > 0.05)
    assert 0 < inside.sum() < 200


def test_bootstrap_tends_to_student_on_many_queries():
    row = np.random.default_rng(6).normal(0.2, 1, size=400)
    ours = bootstrap_differences(row[None], n_resamples=40_000, alpha=0.1, rng=np.random.default_rng(1))
    theirs = stats.ttest_1samp(row, 0).confidence_interval(0.9)
    np.testing.assert_allclose([ours.low[0], ours.high[0]], [theirs.low, theirs.high], atol=0.02 * row.std() / 20)


def test_query_counts_are_draws_with_replacement():
    counts = _query_counts(300, n_resamples=200, rng=np.random.default_rng(0))
    assert counts.shape == (200, 300)
    assert (counts.sum(axis=1) == 300).all()
    assert counts.var() == pytest.approx(1 - 1 / 300, abs=0.03)  # binomial(300, 1/300)


@pytest.mark.parametrize("step", [10, 3, 64])
def test_bootstrap_does_not_see_rounding(step):
    whole = np.random.default_rng(step).integers(-4, 7, size=(30, 9)).astype(float)
    pairs = paired_differences(np.vstack([whole + 4, np.full(9, 4.0)]) / step)
    against_last = pairs.values[pairs.b == 30]
    options = {"n_resamples": 5_000, "alpha": 0.1}
    exact = bootstrap_differences(whole, rng=np.random.default_rng(0), **options)
    ours = bootstrap_differences(against_last, rng=np.random.default_rng(0), resolution=pairs.resolution, **options)
    np.testing.assert_array_equal(ours.p_value, exact.p_value)
    np.testing.assert_allclose(ours.low * step, exact.low, atol=1e-9)
    np.testing.assert_allclose(ours.high * step, exact.high, atol=1e-9)


def test_bootstrap_without_variance():
    differences = np.stack([np.zeros(10), np.full(10, 0.125), np.full(10, -0.25)])
    result = bootstrap_differences(differences, n_resamples=199, alpha=0.05, rng=np.random.default_rng(0))
    assert result.p_value.tolist() == [1.0, 0.005, 0.005]
    assert result.low.tolist() == result.high.tolist() == [0.0, 0.125, -0.25]


def test_bootstrap_interval_is_unbounded_where_resamples_lack_variance():
    rare = np.zeros((3, 30))
    rare[0, :1], rare[1, :2], rare[2, :6] = 0.5, [0.5, -0.25], [0.5, 0.25, 0.5, 0.75, 0.25, 0.5]
    # A resample without variance misses all of them: (29/30)³⁰ = .36, (28/30)³⁰ = .13, (24/30)³⁰ = .001.
    result = bootstrap_differences(rare, n_resamples=2_000, alpha=0.05, rng=np.random.default_rng(0))
    assert result.low[:2].tolist() == [-np.inf, -np.inf]
    assert result.high[:2].tolist() == [np.inf, np.inf]
    assert np.isfinite([result.low[2], result.high[2]]).all()
    assert result.p_value[0] > 0.3
    three_queries = np.array([[0.1, 0.2, 0.4]])  # of 27 resamples 3 draw one query only
    assert (
        bootstrap_differences(three_queries, n_resamples=999, alpha=0.05, rng=np.random.default_rng(0)).high == np.inf
    )
    assert bootstrap_differences(three_queries, n_resamples=999, alpha=0.3, rng=np.random.default_rng(0)).high < np.inf


def test_bootstrap_interval_is_unbounded_with_too_few_resamples_for_its_confidence():
    row = np.random.default_rng(0).normal(5, 1, size=(1, 20))
    too_few = bootstrap_differences(row, n_resamples=18, alpha=0.05, rng=np.random.default_rng(0))
    assert (too_few.low[0], too_few.high[0]) == (-np.inf, np.inf)
    enough = bootstrap_differences(row, n_resamples=19, alpha=0.05, rng=np.random.default_rng(0))
    assert 0 < enough.low[0] < 5 < enough.high[0] < 10


@pytest.mark.parametrize(("name", "size"), [("_CHUNK", 900), ("_KEPT", 400), ("_KEPT", 1)])
@pytest.mark.parametrize("alpha", [0.02, 0.6])
def test_bootstrap_chunks_and_blocks_do_not_change_the_result(monkeypatch, name, size, alpha):
    differences = paired_differences(np.random.default_rng(3).random((6, 30))).values
    whole = bootstrap_differences(differences, n_resamples=300, alpha=alpha, rng=np.random.default_rng(1))
    monkeypatch.setattr(f"earmark.inference.resampling.{name}", size)
    chunked = bootstrap_differences(differences, n_resamples=300, alpha=alpha, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(chunked.p_value, whole.p_value)
    np.testing.assert_allclose(chunked.low, whole.low, rtol=1e-6)
    np.testing.assert_allclose(chunked.high, whole.high, rtol=1e-6)


def test_bootstrap_calls_on_the_same_generator_draw_anew():
    row = np.random.default_rng(3).normal(0.4, 1, size=(1, 20))
    rng = np.random.default_rng(1)
    first, second = (bootstrap_differences(row, n_resamples=500, alpha=0.05, rng=rng) for _ in range(2))
    assert first.high[0] != second.high[0]
