"""Scores are checked and their differences rounded so that ties are ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from earmark.errors import ParameterError
from earmark.inference.paired_differences import check_scores, paired_differences


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


@settings(deadline=None)
@given(arrays(float, (3, 8), elements=st.integers(-(10**9), 10**9).map(lambda i: i / 997)), st.integers(-30, 30))
def test_rounding_is_fine_and_follows_the_scale(scores, power):
    pairs = paired_differences(scores)
    largest = np.abs(scores).max()
    np.testing.assert_allclose(pairs.values, scores[pairs.a] - scores[pairs.b], atol=2e-12 * largest)
    scaled = paired_differences(np.ldexp(scores, power))
    if largest > 0:
        np.testing.assert_array_equal(scaled.values, np.ldexp(pairs.values, power))
        assert scaled.resolution == pairs.resolution * 2.0**power


def test_all_zero_scores_have_zero_differences():
    assert paired_differences(np.zeros((2, 3))).values.tolist() == [[0.0, 0.0, 0.0]]


def test_scores_too_small_to_be_scores_do_no_harm():
    assert np.isfinite(paired_differences(np.full((2, 3), 5e-324) * [[1.0], [2.0]]).values).all()


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
