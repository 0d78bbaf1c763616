"""Agreement of rankings, against scipy and against definitions written out the long way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, kendalltau, rankdata, spearmanr

from earmark.crowd.ranking_agreement import kendall_w, mean_tau, ranks_with_cut
from earmark.errors import ParameterError


def drawn_ranks(rng: np.random.Generator, experts: int, documents: int, levels: int) -> np.ndarray:
    return np.array([rankdata(rng.integers(levels, size=documents)) for _ in range(experts)])


@pytest.mark.parametrize(("experts", "documents", "levels"), [(3, 5, 100), (4, 8, 4), (6, 10, 3), (3, 12, 2)])
def test_w_is_that_of_friedmans_statistic(experts: int, documents: int, levels: int) -> None:
    rng = np.random.default_rng(experts)
    for _ in range(20):
        ranks = drawn_ranks(rng, experts, documents, levels)
        if np.ptp(ranks, axis=1).max() == 0:
            continue
        statistic = friedmanchisquare(*ranks.T).statistic
        assert kendall_w(ranks) == pytest.approx(statistic / (experts * (documents - 1)), abs=1e-12)


def test_w_is_the_mean_rank_correlation_in_other_words() -> None:
    rng = np.random.default_rng(1)
    ranks = np.array([rng.permutation(9) + 1.0 for _ in range(5)])
    mean = np.mean([spearmanr(a, b).statistic for a, b in combinations(ranks, 2)])
    found = kendall_w(ranks)
    assert found is not None
    assert (5 * found - 1) / 4 == pytest.approx(mean)


@pytest.mark.parametrize("levels", [2, 5, 100])
def test_tau_is_that_of_scipy_averaged(levels: int) -> None:
    rng = np.random.default_rng(levels)
    ranks = drawn_ranks(rng, 4, 10, levels)
    expected = np.mean([kendalltau(a, b).statistic for a, b in combinations(ranks, 2)])
    assert mean_tau(ranks) == pytest.approx(expected)


def test_tau_by_counting_pairs() -> None:
    ranks = ranks_with_cut([["a", "b", "c"], ["b", "a"], ["a"]], ["a", "b", "c", "d"])

    def tau(x: np.ndarray, y: np.ndarray) -> float:
        pairs = list(combinations(range(x.size), 2))
        signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in pairs]
        surplus = sum(one * other for one, other in signs)
        return surplus / np.sqrt(sum(one != 0 for one, _ in signs) * sum(other != 0 for _, other in signs))

    expected = np.mean([tau(*ranks[[i, j]]) for i, j in ((0, 1), (0, 2), (1, 2))])
    assert mean_tau(ranks) == pytest.approx(expected)


def test_documents_after_the_cut_share_the_last_places() -> None:
    ranks = ranks_with_cut([["c", "a"], [], ["a", "b", "c", "d"]], ["a", "b", "c", "d"])
    assert ranks.tolist() == [[2.0, 3.5, 1.0, 3.5], [2.5] * 4, [1.0, 2.0, 3.0, 4.0]]


def test_all_alike_and_all_opposite() -> None:
    ranks = np.array([[1.0, 2.0, 3.0]] * 4)
    assert kendall_w(ranks) == 1.0
    assert mean_tau(ranks) == 1.0
    opposite = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert kendall_w(opposite) == 0.0
    assert mean_tau(opposite) == -1.0


def test_nobody_orders_anything() -> None:
    ranks = np.full((3, 4), 2.5)
    assert kendall_w(ranks) is None
    assert mean_tau(ranks) == 0.0


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(2, 8), st.integers(1, 5), st.integers(0, 10_000))
def test_agreement_stays_in_its_range_and_ignores_names(experts: int, documents: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = drawn_ranks(rng, experts, documents, levels)
    w = kendall_w(ranks)
    assert w is None or 0 <= w <= 1
    assert -1 <= mean_tau(ranks) <= 1
    mixed = ranks[rng.permutation(experts)][:, rng.permutation(documents)]
    assert mean_tau(mixed) == pytest.approx(mean_tau(ranks))
    assert kendall_w(mixed) == (None if w is None else pytest.approx(w))


@pytest.mark.parametrize("shape", [(1, 4), (3, 1)])
def test_one_expert_or_one_document_is_refused(shape: tuple[int, int]) -> None:
    for measure in (kendall_w, mean_tau):
        with pytest.raises(ParameterError, match="two experts or more"):
            measure(np.ones(shape))
