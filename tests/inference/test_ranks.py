"""Average ranks and the range of normal samples are what scipy says they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from earmark.inference.ranks import average_ranks, normal_range_sf


@given(arrays.arrays(float, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=st.integers(-2, 2)))
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
