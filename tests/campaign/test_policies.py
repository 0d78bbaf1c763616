"""Policies: Eq. 8 against counting pairs, draws that are fair, and nothing that is judged already."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.stats import chisquare

import earmark
from collections_drawn import runs
from earmark import registry
from earmark.beliefs.exact_estimates import system_weights
from earmark.campaign.policies import (
    MTC,
    POLICIES,
    Absolute,
    Balanced,
    MTCUndecided,
    PolicyState,
    Random,
    make_policy,
    propose_highest,
)
from earmark.campaign.policies.separation import (
    level_ties,
    pairs_told_apart,
    stored_once,
    variance_taken_away,
    weighted_pairs_told_apart,
)
from earmark.data.collection import Collection
from earmark.errors import ParameterError

ALL = [MTC(), MTCUndecided(), MTCUndecided("doubt"), Absolute(), Random(), Balanced(), Balanced(3, "mtc")]


def collection_of(matrix: np.ndarray) -> Collection:
    """One query, and a document for every column; a system retrieved what it has a weight for."""
    n_systems, n_items = matrix.shape
    system, item = np.nonzero(matrix)
    return Collection(
        systems=tuple(f"s{number}" for number in range(n_systems)),
        queries=("q",),
        documents=tuple(f"d{number}" for number in range(n_items)),
        item_query=np.zeros(n_items, dtype=np.int64),
        item_document=np.arange(n_items),
        result_system=system,
        result_item=item,
        result_rank=np.ones(item.size, dtype=np.int64),
    )


def state_of(matrix, *, judged=(), variance=None, **known) -> PolicyState:
    matrix = np.asarray(matrix, dtype=float)
    n_items = matrix.shape[1]
    mask = np.zeros(n_items, dtype=bool)
    mask[list(judged)] = True
    variance = np.ones(n_items) if variance is None else np.asarray(variance, dtype=float)
    return PolicyState(collection_of(matrix), csr_array(matrix), mask, variance, **known)


@st.composite
def weight_matrices(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 12)))
    # Few distinct weights make ties; thirds and logarithms do not add up exactly.
    return draw(arrays(float, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 1 / 3, 1 / np.log2(3), 0.1])))


@st.composite
def states(draw):
    matrix = draw(weight_matrices())
    n_systems, n_items = matrix.shape
    n_pairs = comb(n_systems, 2)
    known = {}
    if draw(st.booleans()):
        known["identical"] = draw(arrays(bool, n_pairs))
        confidence = draw(arrays(float, n_pairs, elements=st.sampled_from([0.5, 0.7, 0.94, 0.95, 1.0])))
        known["confidence"] = np.where(known["identical"], np.nan, confidence)
    judged = np.flatnonzero(draw(arrays(bool, n_items)))
    variance = draw(arrays(float, n_items, elements=st.sampled_from([0.0, 0.25, 2 / 3])))
    return state_of(matrix, judged=judged, variance=variance, **known)


def told_apart_one_by_one(matrix: np.ndarray, pair_weight=None) -> np.ndarray:
    pairs = list(combinations(range(len(matrix)), 2))
    importance = np.ones(len(pairs)) if pair_weight is None else pair_weight
    return np.array(
        [
            sum(p * (column[a] - column[b]) ** 2 for p, (a, b) in zip(importance, pairs, strict=True))
            for column in matrix.T
        ]
    )


# ---- priorities ------------------------------------------------------------------------------------------------------


@given(st.lists(runs(), min_size=1, max_size=5), st.integers(1, 6))
def test_eq_8_counts_the_pairs_of_which_exactly_one_system_retrieved_the_item(drawn, k):
    lists = {f"s{number}": run for number, run in enumerate(drawn)}
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    ranks = collection.ranks.toarray()
    within = (ranks > 0) & (ranks <= k)
    expected = [
        sum(int(a) != int(b) for a, b in combinations(column, 2)) for column in within.T
    ]  # (I(A_i ≤ k) − I(B_i ≤ k))², pair by pair
    weights = system_weights(collection, earmark.parse(f"AG@{k}"), scale=earmark.FINE)
    state = PolicyState(collection, weights, np.zeros(collection.n_items, bool), np.ones(collection.n_items))
    proposal = MTC().propose(state, collection.n_items, np.random.default_rng(0))
    priority = np.empty(collection.n_items)
    priority[proposal.items] = proposal.priority
    assert priority.tolist() == expected  # to the last bit: whole numbers
    found = within.sum(axis=0)
    assert priority.tolist() == (found * (len(lists) - found)).tolist()


@given(weight_matrices())
def test_squared_differences_of_weights_over_all_pairs(matrix):
    expected = told_apart_one_by_one(matrix)
    found = pairs_told_apart(csr_array(matrix))
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert (found[expected == 0] == 0).all()  # nothing is left of equal weights, not even rounding errors
    np.testing.assert_allclose(weighted_pairs_told_apart(csr_array(matrix), np.ones(comb(len(matrix), 2))), expected)


@given(st.data())
def test_the_laplacian_weighs_every_pair(data):
    matrix = data.draw(weight_matrices())
    pair_weight = data.draw(arrays(float, comb(len(matrix), 2), elements=st.sampled_from([0.0, 0.05, 0.5, 0.94])))
    expected = told_apart_one_by_one(matrix, pair_weight)
    found = weighted_pairs_told_apart(csr_array(matrix), pair_weight)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert (found[expected == 0] == 0).all()


def test_the_variance_of_scores_falls_by_what_absolute_says():
    rng = np.random.default_rng(3)
    matrix = rng.random((4, 7)) * (rng.random((4, 7)) < 0.6)
    variance = rng.random(7)

    def total(of_items):
        return np.trace(matrix @ np.diag(of_items) @ matrix.T)

    falls = [total(variance) - total(np.where(np.arange(7) == item, 0.0, variance)) for item in range(7)]
    np.testing.assert_allclose(variance_taken_away(csr_array(matrix), variance), falls)


def test_entries_stored_in_parts_are_one_weight():
    parts = csr_array(
        (np.array([0.25, 0.25, 0.5]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1)
    )  # both systems: 0.5
    assert stored_once(parts).toarray().tolist() == [[0.5], [0.5]]
    assert pairs_told_apart(parts).tolist() == [0]
    assert weighted_pairs_told_apart(parts, np.array([1.0])).tolist() == [0]
    assert variance_taken_away(parts, np.array([1.0])).tolist() == [0.5]
    assert parts.nnz == 3  # what was given is left alone


@given(arrays(float, st.integers(0, 30), elements=st.sampled_from([0.0, 0.3, 0.1 + 0.2, 1e-30, 3e-30, 5.0])))
def test_rounding_errors_are_no_difference_but_small_numbers_are(values):
    level = level_ties(values)
    assert (level >= values).all()
    np.testing.assert_allclose(level, values, rtol=1e-12)
    for a, b in combinations(range(values.size), 2):
        assert (level[a] == level[b]) == np.isclose(values[a], values[b], rtol=1e-9, atol=0)


# ---- every policy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ALL, ids=str)
@settings(max_examples=40)
@given(state=states(), n=st.integers(0, 14), seed=st.integers(0, 5))
def test_proposals_are_unjudged_distinct_and_as_many_as_wanted_or_left(policy, state, n, seed):
    proposal = policy.propose(state, n, np.random.default_rng(seed))
    left = np.flatnonzero(~state.judged)
    assert len(proposal) == min(n, left.size) == len(set(proposal.items.tolist()))
    assert set(proposal.items.tolist()) <= set(left.tolist())
    assert (np.diff(proposal.priority) <= 0).all()
    assert np.isfinite(proposal.priority).all()
    assert not proposal.sampled.any()
    assert proposal.items.dtype == np.int64
    assert proposal.sampled.dtype == bool
    assert len(proposal) == proposal.priority.size == proposal.sampled.size
    again = policy.propose(state, n, np.random.default_rng(seed))
    assert again.items.tolist() == proposal.items.tolist()


@pytest.mark.parametrize("policy", ALL, ids=str)
@settings(max_examples=40)
@given(state=states(), seed=st.integers(0, 3), factor=st.sampled_from([1e-6, 0.1, 3.0, 1e6]))
def test_the_units_of_scores_do_not_matter(policy, state, seed, factor):
    scaled = PolicyState(
        state.collection, state.weights * factor, state.judged, state.variance, state.confidence, state.identical
    )
    n = state.judged.size
    same, other = (policy.propose(one, n, np.random.default_rng(seed)).items for one in (state, scaled))
    assert same.tolist() == other.tolist()


@pytest.mark.parametrize("policy", ALL, ids=str)
def test_nobody_minds_an_empty_collection(policy):
    assert len(policy.propose(state_of(np.zeros((2, 0))), 5, np.random.default_rng(0))) == 0


@pytest.mark.parametrize("policy", ALL, ids=str)
def test_a_negative_number_of_items(policy):
    with pytest.raises(ParameterError, match=r"the number of items to propose is 0 or more, got -1"):
        policy.propose(state_of([[1, 0], [0, 1]]), -1, np.random.default_rng(0))


@pytest.mark.parametrize("policy", [policy for policy in ALL if not isinstance(policy, Balanced)], ids=str)
def test_judging_an_item_leaves_the_order_of_the_others(policy):
    matrix = np.random.default_rng(8).integers(0, 2, (4, 30))
    before = policy.propose(state_of(matrix), 30, np.random.default_rng(1)).items.tolist()
    after = policy.propose(state_of(matrix, judged=[before[0], before[7]]), 30, np.random.default_rng(1)).items.tolist()
    assert after == [item for item in before if item not in (before[0], before[7])]


# ---- draws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [*ALL, make_policy("balanced:1")], ids=str)
def test_every_item_that_ties_is_as_likely_as_another(policy):
    # Three systems retrieve four documents each, nobody what another does: twelve items that no policy tells apart.
    state = state_of(np.kron(np.eye(3), np.ones(4)), confidence=np.full(3, 0.8))
    rng = np.random.default_rng(20260101)
    orders = np.array([policy.propose(state, 12, rng).items for _ in range(1200)])
    for place in (0, -1):
        assert chisquare(np.bincount(orders[:, place], minlength=12)).pvalue > 1e-3


def test_ties_are_drawn_whatever_the_rounding():
    # The same four weights in another order add up to sums that differ in the last bits.
    first_six = 1 / np.log2(np.arange(2, 8))
    orders = first_six[[[0, 1, 2, 5], [5, 2, 1, 0], [2, 0, 5, 1], [1, 5, 0, 2], [5, 0, 1, 2]]].T
    matrix = np.vstack((orders, np.zeros((3, 5))))
    raw = 7 * sum(orders**2) - sum(orders) ** 2
    assert len(set(raw.tolist())) > 1  # the noise is real
    rng = np.random.default_rng(5)
    state = state_of(matrix)
    first = [MTC().propose(state, 1, rng).items[0] for _ in range(2000)]
    assert chisquare(np.bincount(first, minlength=5)).pvalue > 1e-3


def test_random_draws_every_set_of_items_as_often():
    state = state_of([[1, 1, 1, 0, 0], [0, 1, 1, 0, 1]], judged=[2])
    rng = np.random.default_rng(11)
    drawn = [tuple(sorted(Random().propose(state, 2, rng).items.tolist())) for _ in range(3000)]
    sets = list(combinations([0, 1, 3, 4], 2))
    assert chisquare([drawn.count(one) for one in sets]).pvalue > 1e-3
    assert set(drawn) == set(sets)


# ---- each policy -----------------------------------------------------------------------------------------------------

FOUR = [
    # d0: one system; d1: two; d2: three; d3: all; d4: nobody (beyond the cutoff)
    [1, 1, 1, 1, 0],
    [0, 1, 1, 1, 0],
    [0, 0, 1, 1, 0],
    [0, 0, 0, 1, 0],
]


def test_mtc_prefers_items_that_half_of_the_systems_retrieved():
    proposal = MTC().propose(state_of(FOUR), 5, np.random.default_rng(0))
    assert proposal.items[0] == 1
    assert set(proposal.items[1:3].tolist()) == {0, 2}
    assert proposal.priority.tolist() == [4, 3, 3, 0, 0]


def test_mtc_prefers_high_ranks_of_discounted_measures():
    state = state_of([[1, 0.63, 0.5, 0], [0, 0, 0, 0.43]])
    proposal = MTC().propose(state, 4, np.random.default_rng(0))
    assert proposal.items.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(proposal.priority, [1, 0.63**2, 0.5**2, 0.43**2])


def test_mtc_with_one_system_draws():
    first = [MTC().propose(state_of([[1, 1]]), 1, np.random.default_rng(seed)).items[0] for seed in range(20)]
    assert set(first) == {0, 1}


# Systems A, B, C; d0 and d1 tell A from B (and C), d2 tells C from both, d3 tells B from both.
THREE = [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_undecided_leaves_decided_pairs_out():
    state = state_of(THREE, confidence=np.array([0.95, 0.99, 0.6]))  # only B–C is undecided: .95 is decided
    proposal = MTCUndecided().propose(state, 4, np.random.default_rng(0))
    assert set(proposal.items[:2].tolist()) == {2, 3}
    np.testing.assert_allclose(proposal.priority, [0.6, 0.6, 0, 0])
    # d0 tells nobody undecided apart, but somebody; d1 nobody at all.
    assert proposal.items[2:].tolist() == [0, 1]
    np.testing.assert_allclose(MTCUndecided("doubt").propose(state, 1, np.random.default_rng(0)).priority, [0.4])


def test_confidence_prefers_pairs_near_their_decision_and_doubt_pairs_far_from_it():
    matrix = [[1, 0], [0, 0], [0, 1]]
    state = state_of(matrix, confidence=np.array([0.9, 0.9, 0.5]))  # d0: A–B .9, A–C .9; d1: A–C .9, B–C .5
    near = MTCUndecided("confidence").propose(state, 2, np.random.default_rng(0))
    far = MTCUndecided("doubt").propose(state, 2, np.random.default_rng(0))
    assert near.items.tolist() == [0, 1]
    np.testing.assert_allclose(near.priority, [1.8, 1.4])
    assert far.items.tolist() == [1, 0]
    np.testing.assert_allclose(far.priority, [0.6, 0.2])


def test_another_target_decides_other_pairs():
    state = state_of(THREE, confidence=np.array([0.95, 0.99, 0.6]), target=0.97)
    assert MTCUndecided().propose(state, 1, np.random.default_rng(0)).priority[0] == pytest.approx(0.95 + 0.6)


@pytest.mark.parametrize("confidence", [None, np.array([0.95, 1.0, 0.99])])
@pytest.mark.parametrize("weighting", ["confidence", "doubt"])
def test_undecided_is_mtc_without_estimates_and_once_all_is_decided(confidence, weighting):
    matrix = np.random.default_rng(4).integers(0, 2, (3, 20))
    by_pairs = MTCUndecided(weighting).propose(state_of(matrix, confidence=confidence), 20, np.random.default_rng(2))
    by_all = MTC().propose(state_of(matrix), 20, np.random.default_rng(2))
    assert by_pairs.items.tolist() == by_all.items.tolist()


def test_identical_pairs_have_no_part():
    # A and B are the same; what confidence an estimate gives them means nothing.
    matrix = [[1, 0], [1, 0], [0, 1]]
    identical = np.array([True, False, False])
    for nonsense in (np.nan, 0.5, 7.0):
        state = state_of(matrix, confidence=np.array([nonsense, 0.7, 0.7]), identical=identical)
        np.testing.assert_allclose(MTCUndecided().propose(state, 2, np.random.default_rng(0)).priority, [1.4, 1.4])


def test_pairs_called_identical_have_no_part_even_where_weights_differ():
    # As when items are chosen by the weights of another measure than systems are compared by.
    state = state_of([[1, 0], [0, 0], [0, 1]], confidence=np.full(3, 0.6), identical=np.array([True, False, False]))
    proposal = MTCUndecided().propose(state, 2, np.random.default_rng(0))
    assert proposal.items.tolist() == [1, 0]
    np.testing.assert_allclose(proposal.priority, [1.2, 0.6])


def test_absolute_counts_systems_ranks_and_variance():
    state = state_of([[0.5, 0.5, 0.25, 0.5], [0, 0.5, 0, 0]], variance=[2.0, 2.0, 2.0, 0.0])
    proposal = Absolute().propose(state, 4, np.random.default_rng(0))
    assert proposal.items.tolist() == [1, 0, 2, 3]
    assert proposal.priority.tolist() == [1.0, 0.5, 0.125, 0.0]


def lists_apart(sizes: list[int]) -> np.ndarray:
    matrix = np.zeros((len(sizes), sum(sizes)))
    ends = np.cumsum(sizes)
    for system, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        matrix[system, end - size : end] = 1
    return matrix


@pytest.mark.parametrize("then", ["mtc", "random"])
@settings(max_examples=25)
@given(seed=st.integers(0, 1000), batch=st.integers(1, 25))
def test_balanced_finishes_a_system_before_it_begins_another(then, seed, batch):
    matrix = lists_apart([15, 4, 12, 9])
    rng = np.random.default_rng(seed)
    judged: list[int] = []
    while len(judged) < 40:
        batch_items = Balanced(then=then).propose(state_of(matrix, judged=judged), batch, rng).items
        for item in batch_items.tolist():
            judged.append(item)
            counts = matrix[:, judged].sum(axis=1)
            begun = (counts > 0) & (counts < np.minimum(10, matrix.sum(axis=1)))
            assert begun.sum() <= 1  # of lists that share nothing, one at a time


def test_balanced_prefers_what_makes_nobody_else_lack_judgments():
    # A has one judgment (d0). d1 serves A alone, d2 A and B: B would then lack nine. d3 is nobody's concern yet.
    matrix = np.zeros((3, 30))
    matrix[0, [0, 1, 2]] = 1
    matrix[1, [2, *range(10, 20)]] = 1
    matrix[2, [3, *range(20, 30)]] = 1
    for seed in range(10):
        proposal = Balanced(2).propose(state_of(matrix, judged=[0]), 3, np.random.default_rng(seed))
        assert proposal.items[0] == 1  # now A has two
    # With a minimum of three, A needs d2 too, and B has to follow.
    proposal = Balanced(3).propose(state_of(matrix, judged=[0]), 4, np.random.default_rng(0))
    assert proposal.items[:2].tolist() == [1, 2]
    assert all(10 <= item < 20 for item in proposal.items[2:])
    assert proposal.priority.tolist() == [4, 3, 2, 1]


def test_balanced_prefers_what_serves_several_who_lack_judgments():
    matrix = np.array([[1, 1, 0, 1], [1, 0, 1, 1]])
    for seed in range(10):
        assert Balanced(2).propose(state_of(matrix, judged=[0]), 1, np.random.default_rng(seed)).items.tolist() == [3]


def short_of(matrix: np.ndarray, judged: list[int], minimum: int) -> int:
    """Count the systems that have judgments, but fewer than the minimum and than they have items."""
    counts = matrix[:, judged].sum(axis=1)
    return int(np.count_nonzero((counts > 0) & (counts < np.minimum(minimum, matrix.sum(axis=1)))))


@pytest.mark.parametrize("then", ["random", "mtc"])
@settings(max_examples=20)
@given(seed=st.integers(0, 1000), batch=st.integers(1, 25))
def test_at_most_one_system_is_short_of_judgments_at_any_moment(then, seed, batch):
    # Every system has ten items of its own, and as many that it shares with any of the others.
    rng = np.random.default_rng(seed)
    shared = (rng.random((5, 50)) < 0.4).astype(float)
    matrix = np.hstack((lists_apart([10] * 5), shared[:, shared.any(axis=0)]))
    judged: list[int] = []
    while len(judged) < matrix.shape[1]:
        for item in Balanced(then=then).propose(state_of(matrix, judged=judged), batch, rng).items.tolist():
            judged.append(item)
            assert short_of(matrix, judged, 10) <= 1
    assert sorted(judged) == list(range(matrix.shape[1]))


def test_at_most_one_system_is_short_of_judgments_at_any_moment_on_mirex(mirex):
    lists = earmark.read_runs(mirex / "runs.txt")
    collection = Collection.from_runs(lists)
    weights = system_weights(collection, earmark.parse("AG@5"), scale=earmark.FINE)
    matrix = (weights.toarray() != 0).astype(float)
    state = PolicyState(collection, weights, np.zeros(collection.n_items, dtype=bool))
    judged = Balanced().propose(state, 400, np.random.default_rng(1)).items.tolist()
    assert all(short_of(matrix, judged[:count], 10) <= 1 for count in range(400))
    assert (matrix[:, judged].sum(axis=1) >= 10).all()


def test_where_every_item_is_shared_balanced_begins_as_few_systems_as_it_can():
    # Systems 0 and 1 return the same; 2 and 3 too, and system 4 some of all.
    matrix = np.zeros((5, 24))
    matrix[:2, :12], matrix[2:4, 12:], matrix[4, 9:15] = 1, 1, 1
    for seed in range(10):
        judged = Balanced(5).propose(state_of(matrix), 10, np.random.default_rng(seed)).items.tolist()
        assert max(short_of(matrix, judged[:count], 5) for count in range(11)) == 2


@pytest.mark.parametrize(("then", "other"), [("mtc", MTC()), ("random", Random())])
def test_balanced_goes_on_as_the_other_policy_once_all_have_enough(then, other):
    rng = np.random.default_rng(6)
    matrix = (rng.random((4, 80)) < 0.4).astype(float)
    judged = np.arange(40)
    assert (matrix[:, :40].sum(axis=1) >= 10).all()
    state = state_of(matrix, judged=judged)
    balanced = Balanced(then=then).propose(state, 25, np.random.default_rng(9)).items
    assert balanced.tolist() == other.propose(state, 25, np.random.default_rng(9)).items.tolist()


def test_balanced_judges_all_of_a_system_with_few_items():
    matrix = lists_apart([2, 20])
    items = Balanced(then="random").propose(state_of(matrix, judged=[0]), 22, np.random.default_rng(0)).items
    assert items[0] == 1
    assert len(items) == 21


def test_a_system_without_items_lacks_nothing():
    matrix = np.array([[1.0, 1, 1], [0, 0, 0]])
    assert len(Balanced().propose(state_of(matrix), 5, np.random.default_rng(0))) == 3


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["absolute", "balanced", "balanced:20", "balanced:mtc", "balanced:5:mtc", "mtc", "mtc-undecided",
             "mtc-undecided:doubt", "random"]
)  # fmt: skip
def test_names_come_back(text):
    assert str(make_policy(text)) == text
    assert make_policy(str(make_policy(text.upper()))) == make_policy(text)


def test_what_the_names_mean():
    assert make_policy("mtc-undecided") == make_policy("mtc-undecided:confidence") == MTCUndecided("confidence")
    assert make_policy(" balanced:mtc:5 ") == Balanced(5, "mtc")
    assert make_policy("balanced:10:random") == Balanced()
    assert {"absolute", "balanced", "mtc", "mtc-undecided", "random"} <= set(POLICIES.names())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "mtc-undecide",
            r"unknown policy 'mtc-undecide': did you mean mtc-undecided\? \(there are .*absolute, ",
        ),
        ("xyzzy", r"unknown policy 'xyzzy': there are .*mtc, mtc-undecided, .*random"),
        ("", r"unknown policy '': there are "),
        ("mtc:5", r"mtc takes no argument, got 'mtc:5'"),
        ("random:a:b", r"random takes no argument, got 'random:a:b'"),
        ("mtc-undecided:doubts", r"mtc-undecided is followed by :confidence or :doubt, got ':doubts'"),
        ("mtc-undecided:doubt:doubt", r"mtc-undecided is followed by :confidence or :doubt, got ':doubt:doubt'"),
        ("balanced:few", r"balanced is followed by a number, by random or mtc, or by both .*, got ':few'"),
        ("balanced:5:6", r"balanced is followed by a number, .*, got ':5:6'"),
        ("balanced:-5", r"balanced is followed by a number, .*, got ':-5'"),
        ("balanced:0", r"the minimum of judgments per system is 1 or more, got 0"),
    ],
)
def test_names_that_are_none(text, message):
    with pytest.raises(ParameterError, match=message):
        make_policy(text)


def test_parameters_that_make_no_sense():
    with pytest.raises(ParameterError, match="weighted by confidence or by doubt, got 'hope'"):
        MTCUndecided("hope")
    with pytest.raises(ParameterError, match="balanced picks as random or mtc, got 'absolute'"):
        Balanced(then="absolute")


def test_other_packages_bring_their_policies(monkeypatch):
    announced = EntryPoint("ours", "collections:OrderedDict", "earmark.policies")

    class Theirs(Random):
        name = "theirs"

    class Impostor(Random):
        name = "mtc"

    loaded = iter([Theirs, Impostor])
    monkeypatch.setattr(EntryPoint, "load", lambda self: next(loaded))
    monkeypatch.setattr(registry, "entry_points", lambda group: [announced] * 2 if group == "earmark.policies" else [])
    monkeypatch.setattr(POLICIES, "_by_name", dict(POLICIES._by_name))
    monkeypatch.setattr(POLICIES, "_loaded", False)
    assert isinstance(make_policy("theirs"), Theirs)
    assert type(make_policy("mtc")) is MTC


# ---- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": csr_array(np.ones((2, 3)))}, r"expected weights of shape \(3, 4\), got \(2, 3\)"),
        ({"weights": csr_array(np.full((3, 4), np.nan))}, r"expected finite weights, got NaN or infinity"),
        ({"judged": np.zeros(3, bool)}, r"expected 'judged' for each of 4 items, got shape \(3,\)"),
        ({"variance": np.zeros((4, 1))}, r"expected 'variance' for each of 4 items, got shape \(4, 1\)"),
        ({"confidence": np.ones(2)}, r"expected 'confidence' for each of 3 pairs, got shape \(2,\)"),
        ({"identical": np.ones(4, bool)}, r"expected 'identical' for each of 3 pairs, got shape \(4,\)"),
        ({"confidence": np.array([0.5, np.nan, 0.5])}, r"expected confidences from 0 to 1, got NaN"),
        ({"confidence": np.array([0.5, 1.5, 0.5])}, r"expected confidences from 0 to 1, got NaN or a number outside"),
        ({"target": 1.0}, r"expected a target confidence between 0 and 1, got 1"),
        ({"target": float("nan")}, r"expected a target confidence between 0 and 1, got nan"),
    ],
)
def test_states_that_do_not_fit_together(change, message):
    fits = state_of(THREE)
    parts = {
        "collection": fits.collection, "weights": fits.weights, "judged": fits.judged, "variance": fits.variance,
    }  # fmt: skip
    with pytest.raises(ParameterError, match=message):
        PolicyState(**{**parts, **change})


def test_a_priority_that_is_no_number():
    with pytest.raises(ParameterError, match="expected finite priorities, got NaN or infinity"):
        propose_highest(np.array([1.0, np.nan]), np.zeros(2, bool), 1, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="expected finite priorities"):
        Absolute().propose(state_of([[1, 1]], variance=[np.nan, 1]), 1, np.random.default_rng(0))


# ---- the real collection ---------------------------------------------------------------------------------------------


def test_most_items_of_mirex_tie(mirex):
    collection = Collection.from_runs(earmark.read_runs([mirex / "runs.txt"]), depth=5)
    weights = system_weights(collection, earmark.parse("AG@5"), scale=earmark.FINE)
    state = PolicyState(collection, weights, np.zeros(6322, bool), np.ones(6322))
    proposal = MTC().propose(state, 6322, np.random.default_rng(0))
    assert 0.75 < np.mean(proposal.priority == 17) < 0.76  # 1 · (18 − 1)
    assert proposal.priority[0] == 81  # 9 · 9
    # Drawn, they are no longer in the order of the file: about half of neighbours go up.
    tied = proposal.items[proposal.priority == 17]
    assert abs(np.mean(np.diff(tied) > 0) - 0.5) < 0.03
