"""Rank correlations against scipy, ircor and brute force; rank-biased overlap against its defining sum."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from earmark.errors import ParameterError
from earmark.inference.rank_correlation import kendall_tau, rbo, spearman_rho, tau_ap, tau_ap_b

# Data and values of the unit tests of ircor 1.0 (R, by Urbano and Marrero): x is the truth, y the estimate, both
# also rounded to one decimal so that scores tie. Printed to four decimals.
X = [
    [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
]
Y = [
    [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
    [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
    [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
]
IRCOR = {
    "tau": [0.9111, 0.2889, -0.6889],
    "tau_a, estimate tied": [0.8889, 0.3333, -0.6222],
    "tau_b, both tied": [0.9398, 0.3765, -0.6510],
    "tauAP": [0.8519, 0.2504, -0.6971],
    "tauAP_a, estimate tied": [0.7454, 0.2692, -0.5558],
    "tauAP_b": [0.8333, 0.2880, -0.6680],
    "tauAP_b, both tied": [0.7321, 0.2970, -0.7047],
}


@pytest.mark.parametrize("i", range(3))
def test_values_of_ircor(i):
    x, y = X[i], Y[i]
    x_tied, y_tied = np.round(x, 1), np.round(y, 1)
    ours = {
        "tau": kendall_tau(x, y),
        "tau_a, estimate tied": kendall_tau(x, y_tied, variant="a"),
        "tau_b, both tied": kendall_tau(x_tied, y_tied),
        "tauAP": tau_ap(y, x),
        "tauAP_a, estimate tied": tau_ap(y_tied, x),
        "tauAP_b": tau_ap_b(x, y),
        "tauAP_b, both tied": tau_ap_b(x_tied, y_tied),
    }
    assert ours == pytest.approx({name: values[i] for name, values in IRCOR.items()}, abs=5.1e-5)


graded = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(2)])
)


@settings(deadline=None)
@given(graded)
def test_kendall_and_spearman_are_what_scipy_says(rankings):
    x, y = rankings
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert kendall_tau(x, y) == kendall_tau(x, y, variant="a") == spearman_rho(x, y) == 0.0
        return
    assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert spearman_rho(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def tau_ap_by_definition(estimated_order, true_order):
    n = len(estimated_order)
    place = {item: i for i, item in enumerate(true_order)}
    total = 0.0
    for i in range(1, n):
        pivot = estimated_order[i]
        total += sum(place[above] < place[pivot] for above in estimated_order[:i]) / i
    return 2 * total / (n - 1) - 1


def all_orders(scores):
    """All rankings, best first, that agree with the scores: ties broken in every way."""
    groups = [[i for i, s in enumerate(scores) if s == level] for level in sorted(set(scores), reverse=True)]
    for parts in product(*[permutations(group) for group in groups]):
        yield [i for part in parts for i in part]


@settings(deadline=None, max_examples=80)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)])
    )
)
def test_tau_ap_is_the_mean_over_all_ways_to_break_ties(rankings):
    estimated, truth = rankings
    values = [tau_ap_by_definition(e, t) for e in all_orders(estimated) for t in all_orders(truth)]
    assert tau_ap(estimated, truth) == pytest.approx(np.mean(values), abs=1e-12)


@settings(deadline=None)
@given(st.permutations(range(7)), st.permutations(range(7)))
def test_without_ties_the_symmetric_version_is_the_mean_of_both_ways(x, y):
    assert tau_ap_b(x, y) == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2)
    assert kendall_tau(x, y, variant="a") == pytest.approx(kendall_tau(x, y, variant="b"))


@settings(deadline=None)
@given(graded)
def test_bounds_and_symmetry(rankings):
    x, y = rankings
    for correlation in (kendall_tau, spearman_rho, tau_ap_b):
        assert correlation(x, y) == pytest.approx(correlation(y, x))
    for correlation in (kendall_tau, spearman_rho, tau_ap, tau_ap_b):
        assert -1 - 1e-12 <= correlation(x, y) <= 1 + 1e-12
    if len(set(x)) > 1:
        assert kendall_tau(x, x) == spearman_rho(x, x) == tau_ap_b(x, x) == pytest.approx(1)
        reverse = [-v for v in x]
        assert kendall_tau(x, reverse) == spearman_rho(x, reverse) == tau_ap_b(x, reverse) == pytest.approx(-1)
    if len(set(x)) == len(x):
        assert tau_ap(x, x) == pytest.approx(1)


def test_tau_ap_by_hand():
    # Estimated A B C D, truth B A C D: of the systems above B none, above C and D all are right.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    # Errors at the bottom cost less than at the top; Kendall's tau does not see which.
    top, bottom = [3, 4, 2, 1], [4, 3, 1, 2]
    assert tau_ap([4, 3, 2, 1], bottom) > tau_ap([4, 3, 2, 1], top)
    assert kendall_tau([4, 3, 2, 1], bottom) == kendall_tau([4, 3, 2, 1], top)


def test_a_ranking_of_nothing_but_ties_has_no_correlation():
    for correlation in (kendall_tau, spearman_rho, tau_ap, tau_ap_b):
        assert correlation([1, 1, 1], [1, 2, 3]) == pytest.approx(0.0)
        assert correlation([1, 2, 3], [1, 1, 1]) == pytest.approx(0.0)
        assert correlation([1, 1, 1], [1, 1, 1]) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 2, 3], r"one length, got shapes \(2,\) and \(3,\)"),
        ([[1, 2]], [[1, 2]], "two vectors"),
        ([1], [1], "at least two systems, got 1"),
        ([1, np.nan], [1, 2], "must be finite"),
    ],
)
def test_unusable_rankings_are_refused(x, y, message):
    for correlation in (kendall_tau, spearman_rho, tau_ap, tau_ap_b):
        with pytest.raises(ParameterError, match=message):
            correlation(x, y)


def test_unknown_variant_is_refused():
    with pytest.raises(ParameterError, match="unknown variant 'c' of Kendall's tau, choose from a, b"):
        kendall_tau([1, 2], [1, 2], variant="c")


def overlap(a, b, depth):
    return len(set(a[:depth]) & set(b[:depth]))


def rbo_of_long_lists(a, b, p, depth):
    return (1 - p) * sum(p ** (d - 1) * overlap(a, b, d) / d for d in range(1, depth + 1))


def rbo_extrapolated_by_definition(a, b, p, depth):
    """Agreement goes on: at depth d > s the unseen part of the short list matches in proportion to what was seen."""
    short, long = sorted((a, b), key=len)
    s, n = len(short), len(long)
    agreement_short = overlap(a, b, s) / s if s else 0.0
    total, agreement = 0.0, 0.0
    for d in range(1, depth + 1):
        if d <= n:
            agreement = (overlap(a, b, d) + agreement_short * max(d - s, 0)) / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


lists = st.lists(st.sampled_from("abcdefgh"), max_size=7, unique=True)


@settings(deadline=None, max_examples=150)
@given(lists, lists, st.sampled_from([0.3, 0.5, 0.8]))
def test_rbo_is_its_defining_sum_on_the_worst_the_best_and_the_likely_continuation(a, b, p):
    depth = 120
    fillers = [f"only-a-{i}" for i in range(depth)], [f"only-b-{i}" for i in range(depth)]
    shared = [f"both-{i}" for i in range(depth)]
    worst = rbo_of_long_lists(a + fillers[0], b + fillers[1], p, depth)
    # The best either list can do is to go on with what only the other one has shown, then with the same new items.
    best_a = a + [item for item in b if item not in a] + shared
    best_b = b + [item for item in a if item not in b] + shared
    best = rbo_of_long_lists(best_a, best_b, p, depth)

    result = rbo(a, b, p=p)
    assert result.minimum == pytest.approx(worst, abs=1e-9)
    assert result.maximum == pytest.approx(best, abs=1e-9)
    assert result.extrapolated == pytest.approx(rbo_extrapolated_by_definition(a, b, p, depth), abs=1e-9)
    assert result.minimum - 1e-9 <= result.extrapolated <= result.maximum + 1e-9
    swapped = rbo(b, a, p=p)
    assert swapped.minimum == pytest.approx(result.minimum)
    assert swapped.residual == pytest.approx(result.residual)
    assert swapped.extrapolated == pytest.approx(result.extrapolated)


def test_rbo_of_equal_and_of_disjoint_lists():
    same = rbo(list("abcde"), list("abcde"), p=0.9)
    assert same.extrapolated == pytest.approx(1.0)
    assert same.maximum == pytest.approx(1.0)
    disjoint = rbo(list("abc"), list("xyz"), p=0.9)
    assert disjoint.minimum == disjoint.extrapolated == 0.0
    assert 0 < disjoint.residual < 0.9**3


def test_rbo_by_hand():
    # p = 1/2; agreements 1 and 1/2, then 1/2 for ever: 1/2 (1 + 1/4 + 1/2 · 1/2) = .75.
    assert rbo(["x", "y"], ["x", "z"], p=0.5).extrapolated == pytest.approx(0.75)
    # Nothing unseen agrees: 1/2 Σ (1/2)^(d-1)/d = ln 2.
    assert rbo(["x", "y"], ["x", "z"], p=0.5).minimum == pytest.approx(np.log(2))


def test_rbo_of_empty_lists():
    both = rbo([], [], p=0.9)
    assert (both.minimum, both.residual, both.extrapolated) == pytest.approx((0.0, 1.0, 0.0))
    one = rbo([], ["a", "b"], p=0.9)
    assert (one.minimum, one.extrapolated, one.maximum) == pytest.approx((0.0, 0.0, 1.0))


def test_rbo_weighs_the_first_ten_ranks_as_the_docstring_says():
    # All of the weight of d <= 10 at p = .9, by the closed form in the paper: 85.56%.
    p, d = 0.9, 10
    tail = np.log(1 / (1 - p)) - sum(p**i / i for i in range(1, d))
    assert 1 - p ** (d - 1) + (1 - p) / p * d * tail == pytest.approx(0.8556, abs=1e-4)


@pytest.mark.parametrize("p", [0, 1, -0.1, 2])
def test_rbo_persistence_is_a_probability(p):
    with pytest.raises(ParameterError, match="p must lie between 0 and 1"):
        rbo(["a"], ["a"], p=p)


def test_rbo_refuses_an_id_twice():
    with pytest.raises(ParameterError, match="list b must have every id once, got 'y' more than once"):
        rbo(["a"], ["x", "y", "y"])
