"""Forecasts with outcomes, drawn at random, and their score from its definition."""

import numpy as np
from hypothesis import strategies as st


def draw_forecasts(n_items, n_levels, seed, concentration=1.0):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_levels, concentration), size=n_items)
    observed = (rng.random((n_items, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    return probabilities, observed


@st.composite
def forecasts(draw):
    n_levels, n_items = draw(st.integers(2, 5)), draw(st.integers(1, 12))
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=n_levels, max_size=n_levels).filter(any),
            min_size=n_items,
            max_size=n_items,
        )
    )
    observed = draw(st.lists(st.integers(0, n_levels - 1), min_size=n_items, max_size=n_items))
    matrix = np.array(weights, dtype=float)
    return matrix / matrix.sum(axis=1, keepdims=True), np.array(observed)


def naive_score(probabilities, observed):
    """Epstein's score from its definition."""
    total = 0.0
    for row, level in zip(probabilities, observed, strict=True):
        for step in range(len(row) - 1):
            total += (sum(row[: step + 1]) - (1.0 if level <= step else 0.0)) ** 2 / (len(row) - 1)
    return total / len(observed)
