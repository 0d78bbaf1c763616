"""The front door: every test, every edge, and relations that must hold whatever the scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from earmark.errors import ParameterError
from earmark.inference.significance import compare_scores

ALL_TESTS = ["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]


def run(scores, test, **options):
    options.setdefault("n_resamples", 999 if test in ("permutation", "bootstrap") else None)
    return compare_scores(scores, test=test, rng=np.random.default_rng(11), **options)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    return rng.beta(2, 3, size=(6, 40)) + np.array([0.0, 0.25, 0.05, 0.3, -0.05, 0.0])[:, None]


def test_t_is_what_scipy_says(scores):
    result = compare_scores(scores, test="t", correction="none", alpha=0.1)
    for i, (a, b) in enumerate(zip(result.a, result.b, strict=True)):
        theirs = stats.ttest_rel(scores[a], scores[b])
        assert result.statistic[i] == pytest.approx(theirs.statistic)
        assert result.p_value[i] == pytest.approx(theirs.pvalue, rel=1e-8)
        interval = theirs.confidence_interval(0.9)
        assert (result.low[i], result.high[i]) == pytest.approx((interval.low, interval.high), abs=1e-11)
        assert result.difference[i] == pytest.approx(scores[a].mean() - scores[b].mean())


def test_wilcoxon_is_what_scipy_says(scores):
    result = run(scores, "wilcoxon")
    theirs = [stats.wilcoxon(scores[a], scores[b]).pvalue for a, b in zip(result.a, result.b, strict=True)]
    np.testing.assert_allclose(result.p_value, theirs, rtol=1e-9)


def test_friedman_tukey_as_a_whole(scores):
    result = compare_scores(scores)
    theirs = stats.friedmanchisquare(*scores)
    assert result.omnibus is not None
    assert (result.omnibus.statistic, result.omnibus.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert result.omnibus.df == 5
    assert result.correction == "tukey"
    np.testing.assert_array_equal(result.p_adjusted, result.p_value)
    assert result.simultaneous
    apart = scores[result.a] - scores[result.b]
    guard = 0.5 * np.abs(apart - apart.mean(axis=1, keepdims=True)).max() ** 2 / (scores.shape[1] - 1)
    for i, (a, b) in enumerate(zip(result.a, result.b, strict=True)):
        bonferroni = stats.ttest_rel(scores[a], scores[b]).confidence_interval(1 - 0.05 / result.a.size)
        # The guard makes all of them wider, the narrowest ones most.
        wider = np.sqrt(1 + guard / (scores[a] - scores[b]).var(ddof=1)) * (bonferroni.high - bonferroni.low) / 2
        center = (bonferroni.high + bonferroni.low) / 2
        assert (result.low[i], result.high[i]) == pytest.approx((center - wider, center + wider), abs=1e-11)
    # The best for every query has a mean rank of 1.
    always_first = np.vstack([scores, scores.max(axis=0) + 1])
    assert compare_scores(always_first).ranked_by[-1] == 1
    assert compare_scores(always_first).order[0] == len(scores)
    # On mean ranks the verdict depends on the distance alone, so the groups say everything the pairs say.
    together = {frozenset(p) for g in result.groups for i, p0 in enumerate(g) for p in [(p0, q) for q in g[i + 1 :]]}
    apart = zip(result.a[result.significant].tolist(), result.b[result.significant].tolist(), strict=True)
    assert together.isdisjoint({frozenset(p) for p in apart})
    assert len(together) + result.significant.sum() == result.a.size
    assert 0 < result.significant.sum() < result.a.size


def test_correction_does_not_touch_compare_scores(scores):
    for correction in ("holm", "bh", "none"):
        result = run(scores, "friedman-tukey", correction=correction)
        np.testing.assert_array_equal(result.p_adjusted, compare_scores(scores).p_adjusted)


@pytest.mark.parametrize("test", ALL_TESTS)
def test_all_tests_see_a_large_difference_and_no_small_one(scores, test):
    result = run(scores, test)
    pairs = list(zip(result.a.tolist(), result.b.tolist(), strict=True))
    large, none = pairs.index((3, 4)), pairs.index((0, 5))
    assert result.significant[large]
    assert result.p_adjusted[large] <= 0.05
    assert result.effect_size[large] > 0.5
    assert result.difference[large] > 0
    assert not result.significant[none]
    assert result.order[0] in (1, 3)
    assert (result.p_adjusted >= result.p_value - 1e-15).all()


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_intervals_hold_the_difference_and_shrink_with_alpha(scores, test):
    wide, narrow = run(scores, test, alpha=0.05), run(scores, test, alpha=0.4)
    assert (wide.low < narrow.low).all()
    assert (narrow.low < wide.difference).all()
    assert (wide.difference < narrow.high).all()
    assert (narrow.high < wide.high).all()


@pytest.mark.parametrize("test", ALL_TESTS)
def test_two_identical_systems(test):
    row = [0.3, 0.1, 0.7, 0.2]
    result = run([row, row], test)
    assert result.difference.tolist() == [0.0]
    assert result.p_value.tolist() == result.p_adjusted.tolist() == [1.0]
    assert result.effect_size.tolist() == [0.0]
    assert not result.significant.any()
    assert (result.wins.tolist(), result.ties.tolist(), result.losses.tolist()) == ([0], [4], [0])
    assert result.superiority.tolist() == [0.5]
    assert result.groups == ((0, 1),)
    if test in ("t", "bootstrap"):
        assert result.low.tolist() == result.high.tolist() == [0.0]


@pytest.mark.parametrize("test", ALL_TESTS)
def test_systems_equal_but_for_rounding_are_identical(test):
    result = run([[0.1 + 0.2, 0.7, 0.6, 0.1 * 3], [0.3, 0.7, 0.2 * 3, 0.3]], test)
    assert result.p_value.tolist() == [1.0]
    assert result.ties.tolist() == [4]


@pytest.mark.parametrize("test", ALL_TESTS)
def test_one_system_has_no_pairs(test):
    result = run([[0.3, 0.1, 0.7]], test)
    for name in ("a", "b", "difference", "statistic", "p_value", "p_adjusted", "significant", "effect_size", "low"):
        assert getattr(result, name).shape == (0,)
    assert result.omnibus is None
    assert result.groups == ((0,),)
    assert result.order.tolist() == [0]


@pytest.mark.parametrize("test", ALL_TESTS)
def test_one_query_is_refused(test):
    with pytest.raises(ParameterError, match="at least two queries, got 1"):
        run([[0.3], [0.1]], test)


@pytest.mark.parametrize("test", ALL_TESTS)
def test_nan_is_refused(test):
    with pytest.raises(ParameterError, match="got nan for system 0 on query 1"):
        run([[0.3, np.nan], [0.1, 0.2]], test)


def test_constant_differences():
    base = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.8, 0.4, 0.6])
    scores = np.stack([base + 0.1, base])
    t = run(scores, "t")
    assert t.statistic.tolist() == [np.inf]
    assert t.p_value.tolist() == [0.0]
    assert t.effect_size.tolist() == [np.inf]
    assert t.low[0] == t.high[0] == pytest.approx(0.1)
    assert run(scores, "bootstrap").p_value.tolist() == [0.001]
    assert run(scores, "wilcoxon").p_value.tolist() == [2 / 2**8]
    assert run(scores, "permutation", n_resamples=40_000).p_value[0] == pytest.approx(2 / 2**8, abs=0.002)
    assert run(-scores, "t").statistic.tolist() == [-np.inf]


def test_all_systems_tied_everywhere():
    result = run(np.full((3, 4), 0.5), "friedman-tukey")
    assert result.omnibus is not None
    assert (result.omnibus.statistic, result.omnibus.p_value) == (0.0, 1.0)
    assert result.p_value.tolist() == [1.0] * 3
    assert result.groups == ((0, 1, 2),)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_random_tests_ask_for_a_generator(scores, test):
    with pytest.raises(ParameterError, match=f"the {test} test draws at random: pass rng"):
        compare_scores(scores, test=test)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_same_seed_same_result(scores, test):
    np.testing.assert_array_equal(run(scores, test).p_value, run(scores, test).p_value)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_too_few_resamples_for_any_pair_to_be_significant_are_refused(scores, test):
    # 15 pairs at .05 under Holm: 15 / (n + 1) <= .05 needs 299 resamples.
    with pytest.raises(ParameterError, match=r"n_resamples=298 is too few for any of 15 pairs .* at least 299"):
        run(scores, test, n_resamples=298)
    assert run(scores, test, n_resamples=299).p_adjusted.min() == pytest.approx(0.05)
    far_apart = scores + np.arange(6)[:, None]
    assert run(far_apart, test, n_resamples=19, correction="bh").significant.all()
    with pytest.raises(ParameterError, match="n_resamples=18 is too few"):
        run(far_apart, test, n_resamples=18, correction="none")


def test_default_resamples_suffice_for_many_pairs():
    scores = np.random.default_rng(0).random((30, 40)) + np.linspace(0, 2, 30)[:, None]
    result = compare_scores(scores, test="permutation", rng=np.random.default_rng(0))
    assert result.p_value.min() < 0.05 / result.a.size
    assert result.significant.any()


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5])
def test_alpha_must_be_a_level(scores, alpha):
    with pytest.raises(ParameterError, match="alpha must lie between 0 and 1"):
        compare_scores(scores, alpha=alpha)


def test_unknown_names_are_refused(scores):
    with pytest.raises(ParameterError, match="unknown test 'anova', choose from friedman-tukey, t, wilcoxon"):
        compare_scores(scores, test="anova")
    with pytest.raises(ParameterError, match="unknown correction 'bonferroni'"):
        compare_scores(scores, test="t", correction="bonferroni")


small_scores = arrays(
    float, st.tuples(st.integers(2, 5), st.integers(2, 9)), elements=st.integers(0, 10).map(lambda g: g / 10)
)


@settings(deadline=None, max_examples=40)
@given(small_scores, st.sampled_from(ALL_TESTS))
def test_swapping_the_systems_flips_signs_and_keeps_p_values(scores, test):
    forth, back = run(scores, test), run(scores[::-1], test)
    # The pair (a, b) reads (k-1-b, k-1-a) when the rows are reversed: with all pairs, the reverse order of pairs
    # sorted by the second index.
    k = len(scores)
    where = {pair: i for i, pair in enumerate(zip(back.a.tolist(), back.b.tolist(), strict=True))}
    match = [where[k - 1 - b, k - 1 - a] for a, b in zip(forth.a.tolist(), forth.b.tolist(), strict=True)]
    np.testing.assert_allclose(forth.p_value, back.p_value[match], atol=1e-12)
    np.testing.assert_allclose(forth.difference, -back.difference[match], atol=1e-12)
    np.testing.assert_allclose(forth.effect_size, -back.effect_size[match], atol=1e-12)
    np.testing.assert_array_equal(forth.wins, back.losses[match])
    if test in ("friedman-tukey", "t", "bootstrap"):
        np.testing.assert_allclose(forth.low, -back.high[match], rtol=1e-6, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(small_scores, st.sampled_from(ALL_TESTS), st.integers(-3, 3))
def test_scaling_by_a_power_of_two_and_shuffling_queries_changes_no_verdict(scores, test, power):
    plain, scaled = run(scores, test), run(scores * 2.0**power, test)
    np.testing.assert_allclose(scaled.p_value, plain.p_value, atol=1e-12)
    np.testing.assert_allclose(scaled.effect_size, plain.effect_size, atol=1e-12)
    if test in ("friedman-tukey", "t", "wilcoxon"):
        shuffled = run(np.random.default_rng(0).permutation(scores, axis=1), test)
        np.testing.assert_allclose(shuffled.p_value, plain.p_value, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(small_scores, st.sampled_from(ALL_TESTS))
def test_results_are_never_nan_and_always_in_range(scores, test):
    result = run(scores, test)
    for p in (result.p_value, result.p_adjusted):
        assert ((p >= 0) & (p <= 1)).all()
    assert not np.isnan(result.statistic).any()
    assert not np.isnan(result.effect_size).any()
    np.testing.assert_array_equal(result.wins + result.ties + result.losses, scores.shape[1])
    assert sorted({system for group in result.groups for system in group}) == list(range(len(scores)))
    if test in ("friedman-tukey", "t", "bootstrap"):
        assert (result.low <= result.difference + 1e-12).all()
        assert (result.difference <= result.high + 1e-12).all()
    if test in ("t", "bootstrap"):
        np.testing.assert_array_equal((result.low > 0) | (result.high < 0), result.p_value <= result.alpha)
