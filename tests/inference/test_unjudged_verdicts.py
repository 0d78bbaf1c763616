"""Which completions of unjudged documents verdicts have to withstand."""

from __future__ import annotations

from itertools import product

import numpy as np

from earmark.inference.unjudged_verdicts import least_sure


def sureness(differences: np.ndarray) -> np.ndarray:
    """Return what grows with the absolute t of every row."""
    return differences.sum(axis=-1) ** 2 / (differences**2).sum(axis=-1)


def test_the_least_sure_differences_against_all_choices_of_bounds() -> None:
    rng = np.random.default_rng(0)
    best = []
    for _ in range(200):
        n = int(rng.integers(2, 8))
        low = rng.normal(0.4, 0.4, n)
        high = low + rng.exponential(0.3, n) * (rng.random(n) < 0.7)
        if low.sum() <= 0:
            continue
        ours = least_sure(low[None], high[None])[0]
        assert np.all((ours == low) | (ours == high))
        every = np.where(np.array(list(product([False, True], repeat=n))), high, low)
        least = sureness(every).min()
        assert sureness(ours) <= 1.2 * least
        best.append(sureness(ours) <= least * (1 + 1e-9))
    assert len(best) > 100
    assert np.mean(best) > 0.98


def test_where_the_mean_could_turn_the_lower_bounds_are_enough() -> None:
    low, high = np.array([[-1.0, 0.2, np.nan]]), np.array([[0.5, 0.4, np.nan]])
    np.testing.assert_array_equal(least_sure(low, high), low)


def test_a_margin_moves_what_is_sure() -> None:
    low, high = np.array([[0.3, 0.4]]), np.array([[0.3, 0.9]])
    # By more than .2 the first differs by .1 and the second by .2 or .7.
    np.testing.assert_array_equal(least_sure(low, high, margin=0.2), [[0.3, 0.9]])
    np.testing.assert_array_equal(least_sure(high, high, margin=0.2), high)
