"""Scores are checked and their differences rounded so that ties are ties and sums are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.errors import ParameterError
from earmark.inference.pairs import check_scores, paired_differences, round_to_grid


def test_pairs_come_in_order_with_a_before_b():
    pairs = paired_differences(np.array([[3.0, 1.0], [2.0, 1.0], [0.0, 5.0]]))
    assert pairs.a.tolist() == [0, 0, 1]
    assert pairs.b.tolist() == [1, 2, 2]
    assert pairs.values.tolist() == [[1.0, 0.0], [3.0, -4.0], [2.0, -4.0]]


def test_differences_equal_but_for_rounding_become_equal():
    scores = np.array([[0.3, 0.2, 0.7, 2 / 3, 0.1 + 0.2], [0.1, 0.0, 0.5, 1 / 3, 0.3]])
    raw = scores[0] - scores[1]
    assert len(set(raw[:3].tolist())) == 3  # the noise is real
    values = paired_differences(scores).values[0]
    assert values[0] == values[1] == values[2]
    assert values[4] == 0
    np.testing.assert_allclose(values, raw, atol=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.randoms(use_true_random=False))
def test_sums_on_the_grid_do_not_depend_on_their_order(values, random):
    array = np.array(values)
    rounded = round_to_grid(array, largest=float(np.abs(array).max()), n_queries=array.size)
    shuffled = rounded.tolist()
    random.shuffle(shuffled)
    assert sum(shuffled) == sum(rounded.tolist())
    np.testing.assert_allclose(rounded, array, atol=2e-12 * float(np.abs(array).max()))


def test_sums_stay_exact_on_very_many_queries():
    values = np.random.default_rng(1).random(1_000_000)
    rounded = round_to_grid(values, largest=1.0, n_queries=values.size)
    assert sum(rounded.tolist()) == rounded.sum() == rounded[::-1].sum()


def test_all_zero_scores_have_zero_differences():
    assert paired_differences(np.zeros((2, 3))).values.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], r"shape \(systems, queries\), got 1 dimension"),
        (np.zeros((0, 3)), "at least one system"),
        ([[1.0], [2.0]], "at least two queries, got 1"),
        (np.zeros((2, 0)), "at least two queries, got 0"),
        ([[1.0, 2.0], [np.nan, np.nan]], r"got nan for system 1 on query 0 \(2 such scores\)"),
        ([[1.0, np.inf], [0.0, 1.0]], "got inf for system 0 on query 1"),
    ],
)
def test_unusable_scores_are_refused(scores, message):
    with pytest.raises(ParameterError, match=message):
        check_scores(scores)
