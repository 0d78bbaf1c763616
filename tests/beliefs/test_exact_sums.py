"""Sums to which parts are added and from which they are taken again."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.beliefs.exact_sums import ExactSum, spacing_for


def parts_of(seed: int, n: int = 30) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 3, 4)) * 10.0 ** rng.integers(-6, 1, (n, 1, 1))


@pytest.mark.parametrize("seed", range(5))
def test_neither_order_nor_what_was_taken_again_changes_a_bit(seed):
    parts = parts_of(seed)
    spacing = spacing_for(np.abs(parts).sum(axis=0))
    straight, winding = ExactSum((3, 4), spacing), ExactSum((3, 4), spacing)
    for part in parts[:20]:
        straight.add(part / spacing)
    for part in parts[::-1]:
        winding.add(part / spacing)
    for part in parts[20:]:
        winding.subtract(part / spacing)
    assert winding.value.tobytes() == straight.value.tobytes()
    np.testing.assert_allclose(straight.value, parts[:20].sum(axis=0), atol=1e-12)


def test_a_copy_goes_on_by_itself():
    spacing = spacing_for(np.ones(2))
    total = ExactSum((2,), spacing)
    total.add(np.array([0.25, 0.5]) / spacing)
    other = total.copy()
    other.add(np.array([0.25, 0.25]) / spacing)
    assert total.value.tolist() == [0.25, 0.5]
    assert other.value.tolist() == [0.5, 0.75]


def test_a_sum_of_nothing_is_0():
    assert ExactSum((2, 3), None).value.tolist() == [[0.0] * 3] * 2
    assert spacing_for(np.zeros(2)).tolist() == [2.0**-51] * 2
