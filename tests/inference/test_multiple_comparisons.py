"""Corrections agree with statsmodels; groups agree with their definition."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from earmark.errors import ParameterError
from earmark.inference.multiple_comparisons import (
    adjust_p_values,
    benjamini_hochberg,
    holm,
    indistinguishable_groups,
    letter_display,
)

p_vectors = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.02, 0.05, 1.0])), min_size=1, max_size=40)


@settings(deadline=None)
@given(p_vectors)
def test_holm_is_what_statsmodels_says(p_values):
    # With this method statsmodels collects garbage at every call, which takes long in a process that ran many tests.
    with patch("gc.collect"):
        theirs = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(holm(p_values), theirs, atol=1e-15)


@settings(deadline=None)
@given(p_vectors)
def test_benjamini_hochberg_is_what_statsmodels_says(p_values):
    np.testing.assert_allclose(benjamini_hochberg(p_values), multipletests(p_values, method="fdr_bh")[1], atol=1e-15)


@settings(deadline=None)
@given(p_vectors)
def test_corrections_only_ever_raise_and_holm_raises_more(p_values):
    raw = adjust_p_values(p_values, correction="none")
    assert raw.tolist() == p_values
    tolerance = 1e-15
    assert (benjamini_hochberg(p_values) >= raw - tolerance).all()
    assert (holm(p_values) >= benjamini_hochberg(p_values) - tolerance).all()


def test_no_p_values_stay_none():
    assert holm([]).size == benjamini_hochberg([]).size == 0


@pytest.mark.parametrize(
    ("p_values", "message"), [([[0.1]], "must be a vector"), ([1.1], "between 0 and 1"), ([np.nan], "between 0 and 1")]
)
def test_bad_p_values_are_refused(p_values, message):
    for correct in (holm, benjamini_hochberg):
        with pytest.raises(ParameterError, match=message):
            correct(p_values)


def test_unknown_correction_is_refused():
    with pytest.raises(ParameterError, match="unknown correction 'fdr', choose from holm, bh, none"):
        adjust_p_values([0.1], correction="fdr")


@st.composite
def rankings_with_verdicts(draw):
    n = draw(st.integers(1, 7))
    order = draw(st.permutations(range(n)))
    a, b = np.triu_indices(n, k=1)
    significant = draw(st.lists(st.booleans(), min_size=a.size, max_size=a.size))
    return order, a.astype(np.int64), b.astype(np.int64), np.array(significant, dtype=bool)


@settings(deadline=None)
@given(rankings_with_verdicts())
def test_groups_are_the_maximal_stretches_without_a_significant_pair(case):
    order, a, b, significant = case
    differ = {frozenset(pair) for pair in zip(a[significant].tolist(), b[significant].tolist(), strict=True)}
    stretches = [
        tuple(order[start:stop])
        for start in range(len(order))
        for stop in range(start + 1, len(order) + 1)
        if not any(frozenset(pair) in differ for pair in combinations(order[start:stop], 2))
    ]
    maximal = [s for s in stretches if not any(set(s) < set(other) for other in stretches)]
    assert list(indistinguishable_groups(order, a, b, significant)) == maximal


def test_letters_of_a_chain_of_overlapping_groups():
    # Best to worst 3, 1, 0, 2: 3 differs from 0 and 2, 1 differs from 2.
    a, b = np.triu_indices(4, k=1)
    differ = {(0, 3), (2, 3), (1, 2)}
    significant = np.array([(i, j) in differ for i, j in zip(a.tolist(), b.tolist(), strict=True)])
    groups = indistinguishable_groups([3, 1, 0, 2], a.astype(np.int64), b.astype(np.int64), significant)
    assert groups == ((3, 1), (1, 0), (0, 2))
    assert letter_display(groups, n_systems=4) == ("bc", "ab", "c", "a")


def test_letters_go_on_after_the_alphabet():
    letters = letter_display([(i,) for i in range(54)], n_systems=54)
    assert letters[25:28] == ("z", "A", "B")
    assert letters[51:] == ("Z", "a2", "b2")
    assert len(set(letters)) == 54
