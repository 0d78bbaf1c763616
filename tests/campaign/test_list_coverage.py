"""Intervals of compared lists hold at all looks together: campaigns simulated answer by answer.

Queries differ in how often the first system wins, assessors differ among each other, and somebody looks after every
answer. With several answers a query, outcomes move after they were counted, which the theory does not cover.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from earmark.inference.bounded_means import betting_intervals
from earmark.inference.proportions import wilson_interval


def looks_of(rng: np.random.Generator, queries: int, each: int, *, in_turn: bool) -> tuple[list[np.ndarray], float]:
    """Return the outcomes at every look, and the mean over all queries that there could be.

    Parameters
    ----------
    in_turn : bool
        A query gets all its answers before the next one; else all queries get one answer first.
    """
    # Chances of queries from a beta distribution: a mean of .6, and queries differ much.
    chance = rng.beta(1.2, 0.8, size=queries)
    tie = rng.random((queries, each)) < 0.15
    won = np.where(tie, 0.5, (rng.random((queries, each)) < chance[:, None]).astype(float))
    steps = [(q, n) for q in range(queries) for n in range(each)]
    if not in_turn:
        steps.sort(key=lambda step: (step[1], step[0]))
    total, count = np.zeros(queries), np.zeros(queries)
    seen: list[np.ndarray] = []
    for query, answer in steps:
        total[query] += won[query, answer]
        count[query] += 1
        answered = count > 0
        seen.append(total[answered] / count[answered])
    return seen, 0.15 * 0.5 + 0.85 * 0.6


def share_never_wrong(campaigns: int, queries: int, each: int, *, in_turn: bool, seed: int) -> float:
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(campaigns):
        seen, mean = looks_of(rng, queries, each, in_turn=in_turn)
        low, high = betting_intervals(seen)
        held += bool(np.all((low <= mean) & (mean <= high)))
    return held / campaigns


@pytest.mark.parametrize("in_turn", [True, False])
def test_intervals_hold_while_answers_come_in(in_turn: bool) -> None:
    campaigns = 120
    held = share_never_wrong(campaigns, 40, 2, in_turn=in_turn, seed=7)
    assert held >= binom.ppf(0.001, campaigns, 0.95) / campaigns


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("in_turn", [True, False])
def test_study_of_coverage(each: int, in_turn: bool, capsys: pytest.CaptureFixture[str]) -> None:
    campaigns, queries = 1000, 100
    held = share_never_wrong(campaigns, queries, each, in_turn=in_turn, seed=each)
    rng = np.random.default_rng(0)
    last = [looks_of(rng, queries, each, in_turn=in_turn)[0][-1] for _ in range(100)]
    low, high = betting_intervals(last)
    spread = np.mean([one.var(ddof=1) for one in last])
    share = np.mean([one.mean() for one in last])
    wilson = np.subtract(*wilson_interval(share, share * (1 - share) * queries / spread, 1.96)[::-1])
    with capsys.disabled():
        order = "query by query" if in_turn else "all queries in turn"
        print(
            f"\n{each} answers a query, {order}: {held:.3f} of campaigns never wrong; "
            f"width at {queries} queries {(high - low).mean():.3f}, Wilson {wilson:.3f}"
        )
    assert held >= binom.ppf(0.001, campaigns, 0.95) / campaigns
