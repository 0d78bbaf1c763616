"""The order of a sample: sizes by brute force, probabilities that are what they say, prefixes that nest."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import earmark
from collections_drawn import runs
from earmark.beliefs.exact_estimates import system_weights
from earmark.data.collection import Collection
from earmark.data.permanent_random_numbers import item_numbers, query_numbers
from earmark.errors import ParameterError
from earmark.inference.sampling_design import QueryOrder, SampleOrder, sizes

numbers = st.floats(0.001, 0.999)


@st.composite
def orders(draw):
    n = draw(st.integers(1, 12))
    size = draw(arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.5])))
    return SampleOrder(draw(arrays(float, n, elements=numbers, unique=True)), size)


# ---- sizes -----------------------------------------------------------------------------------------------------------


@given(st.lists(runs(), min_size=2, max_size=5), st.integers(1, 6))
def test_sizes_for_average_gain_count_who_retrieved_the_item(drawn, k):
    lists = {f"s{number}": run for number, run in enumerate(drawn)}
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    ranks = collection.ranks.toarray()
    n = ((ranks > 0) & (ranks <= k)).sum(axis=0)
    systems = len(lists)
    weights = system_weights(collection, earmark.parse(f"AG@{k}"), scale=earmark.FINE)
    assert sizes(weights) == pytest.approx(np.sqrt(n * (systems - n) / (systems - 1) + n / 4))


@given(
    arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.sampled_from([0.0, 0.3, 1.0, -0.7])),
    st.sampled_from([1e-6, 1.0, 30.0]),
)
def test_sizes_are_those_of_all_pairs_and_all_systems(matrix, unit):
    largest = np.abs(matrix).max() or 1.0
    relative = matrix / largest
    squared = (relative**2).sum(axis=0) / 4
    for a, b in combinations(range(len(matrix)), 2):
        squared += (relative[a] - relative[b]) ** 2 / (len(matrix) - 1)
    assert sizes(csr_array(matrix * unit)) == pytest.approx(np.sqrt(squared), abs=1e-12)
    variance = np.linspace(0.5, 2, matrix.shape[1])
    assert sizes(csr_array(matrix * unit), variance) == pytest.approx(np.sqrt(squared * variance), abs=1e-12)


def test_one_system_alone_has_no_pairs():
    assert sizes(csr_array([[0.2, 0.1, 0.0]])).tolist() == [0.5, 0.25, 0.0]


def test_entries_that_are_stored_in_two_parts_count_once():
    twice = csr_array((np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert sizes(twice) == pytest.approx(sizes(csr_array([[1.0, 0.0], [0.0, 1.0]])))


# ---- probabilities ---------------------------------------------------------------------------------------------------


def test_items_are_judged_by_number_over_size():
    order = SampleOrder(np.array([0.5, 0.1, 0.9, 0.3, 0.6]), np.array([1.0, 0.1, 3.0, 0.0, 2.0]))
    assert order.rank_number.tolist() == pytest.approx([0.5, 1.0, 0.3, np.inf, 0.3])
    assert order.order.tolist()[2:] == [0, 1, 3]
    assert order.priority.tolist() == pytest.approx([2.0, 1.0, 10 / 3, 0.0, 10 / 3])
    assert order.inclusion(0) == pytest.approx([0.3, 0.03, 0.9, 1.0, 0.6])
    assert order.inclusion(2) == pytest.approx([0.5, 0.05, 1.0, 1.0, 1.0])
    assert order.inclusion(3) == pytest.approx([1.0, 0.1, 1.0, 1.0, 1.0])
    assert order.inclusion(4).tolist() == [1.0] * 5


def test_the_inverse_probability_of_a_sampled_item_has_mean_one_and_no_correlation():
    size = np.array([0.2, 1.0, 1.0, 0.5, 3.0, 0.8])
    rng = np.random.default_rng(1)
    repeats, n = 40_000, 3
    u = rng.random((repeats, size.size))
    r = u / size
    # The class on a few draws, the same arithmetic on all of them at once.
    rank = np.sort(r, axis=1)
    sampled = r < rank[:, n : n + 1]
    inverse = sampled / np.minimum(1.0, size * rank[:, n : n + 1])
    for draw in range(50):
        order = SampleOrder(u[draw], size)
        assert np.array_equal(order.sampled(n), sampled[draw])
        assert np.where(sampled[draw], 1 / order.inclusion(n), 0.0) == pytest.approx(inverse[draw])
    error = inverse.std(axis=0) / np.sqrt(repeats)
    assert np.all(np.abs(inverse.mean(axis=0) - 1) < 4 * error)
    for i, j in combinations(range(size.size), 2):
        both = inverse[:, i] * inverse[:, j]
        assert abs(both.mean() - 1) < 4.5 * both.std() / np.sqrt(repeats), (i, j)


@given(orders())
def test_samples_nest_and_probabilities_rise(order):
    before, chance = np.zeros(order.size.size, dtype=bool), np.zeros(order.size.size)
    for n in range(order.n_needed + 1):
        sampled, inclusion = order.sampled(n), order.inclusion(n)
        assert sampled.sum() == n
        assert np.all(sampled[before])
        assert np.all(inclusion >= chance)
        assert np.all((inclusion > 0) & (inclusion <= 1))
        # An item that is certain to be sampled is sampled.
        assert np.all(sampled[(inclusion == 1) & (order.size > 0)])
        before, chance = sampled, inclusion
    assert inclusion.tolist() == [1.0] * order.size.size


@given(orders(), st.data())
def test_the_sample_is_the_longest_judged_prefix(order, data):
    judged = data.draw(arrays(bool, order.size.size))
    n = order.prefix(judged)
    in_order = judged[order.order]
    assert in_order[:n].all()
    assert n == order.n_needed or not in_order[n]
    # What comes after the first gap is of no consequence, nor are items that matter to nobody.
    later = judged.copy()
    later[order.order[n + 1 :]] = data.draw(st.booleans())
    assert order.prefix(later) >= n
    later[order.order[min(n, order.n_needed) :]] = False
    assert order.prefix(later) == n


def test_items_that_matter_to_nobody_come_last_and_are_not_needed():
    order = SampleOrder(np.array([0.001, 0.9, 0.8]), np.array([0.0, 1.0, 1.0]))
    assert order.order.tolist() == [2, 1, 0]
    assert order.n_needed == 2
    assert order.prefix(np.array([False, True, True])) == 2
    assert order.inclusion(2).tolist() == [1.0, 1.0, 1.0]


def test_orders_of_a_collection_follow_its_seed_and_the_measure():
    lists = {"A": {"q": {"x": 3, "y": 2, "z": 1}}, "B": {"q": {"x": 3, "z": 2, "w": 1}}}
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    order = SampleOrder.of(collection, earmark.parse("AG@2"), scale=earmark.BINARY, seed=3)
    assert order.number.tolist() == item_numbers(collection, seed=3).tolist()
    assert order.size.tolist() == pytest.approx([0.0, np.sqrt(0.5), np.sqrt(1.25), np.sqrt(1.25)])
    by_query = QueryOrder.of(collection, seed=3)
    assert by_query.number.tolist() == query_numbers(collection, seed=3).tolist()


# ---- whole queries ---------------------------------------------------------------------------------------------------


def test_queries_are_judged_one_after_the_other():
    order = QueryOrder(np.array([0.7, 0.2, 0.4]), np.array([0, 0, 1, 1, 2, 2, 2]))
    assert order.queries.tolist() == [1, 2, 0]
    assert order.order.tolist() == [2, 3, 4, 5, 6, 0, 1]
    assert np.all(np.diff(order.priority[order.order]) <= 0)
    judged = np.array([True, True, True, True, True, False, True])
    # The third query is complete too, but not its predecessor.
    assert order.complete(judged).tolist() == [1]
    judged[5] = True
    assert order.complete(judged).tolist() == [1, 2, 0]
    assert order.complete(np.zeros(7, dtype=bool)).tolist() == []


def test_a_query_without_items_is_complete():
    order = QueryOrder(np.array([0.7, 0.2, 0.4]), np.array([0, 2]))
    assert order.complete(np.array([False, False])).tolist() == [1]


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sizes(csr_array([[np.nan, 1.0]])), "expected finite weights, got NaN or infinity"),
        (lambda: sizes(csr_array([[1.0, 1.0]]), np.ones(3)), r"a variance for each of 2 items, got shape \(3,\)"),
        (lambda: sizes(csr_array([[1.0, 1.0]]), np.array([1.0, 0.0])), "expected finite variances above 0"),
        (lambda: SampleOrder(np.ones(2) / 2, np.ones(3)), r"got shapes \(2,\) and \(3,\)"),
        (lambda: SampleOrder(np.array([0.0, 0.5]), np.ones(2)), "random numbers above 0 and below 1"),
        (lambda: SampleOrder(np.array([0.1, 0.5]), np.array([1.0, -1.0])), "finite sizes of 0 or more"),
        (
            lambda: SampleOrder(np.ones(2) / 2, np.ones(2)).prefix(np.ones(3, bool)),
            r"each of 2 items, got shape \(3,\)",
        ),
        (lambda: SampleOrder(np.ones(2) / 2, np.ones(2)).inclusion(3), "a sample holds 0 to 2 items here, got 3"),
        (lambda: SampleOrder(np.ones(2) / 2, np.ones(2)).sampled(-1), "a sample holds 0 to 2 items here, got -1"),
        (lambda: QueryOrder(np.array([1.0]), np.zeros(2, int)), "random numbers above 0 and below 1"),
        (lambda: QueryOrder(np.array([0.5]), np.zeros(2, int)).complete(np.ones(3, bool)), r"each of 2 items"),
    ],
)
def test_what_makes_no_order_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
