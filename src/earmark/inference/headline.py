"""A ranking in a sentence: which system is the best, how sure that is, and how much is decided.

Where a premise of the verdict failed (:mod:`earmark.inference.premises`), no sentence calls anything sure or decided.
Percentages are cut off, not rounded (:mod:`earmark.wording`): an undecided ranking must not read as a decided one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from earmark.data.arrays import Bools
from earmark.wording import counted, listed, percent, sure

if TYPE_CHECKING:
    from earmark.inference.confidence import Ranking

_FEW_NAMES = 5


def may_be_best(ranking: Ranking) -> Bools:
    """Tell which systems no system of the first place is decided to be better than, shape (systems,)."""
    estimates, best = ranking.estimates, ranking.rank == 1
    decided = ranking.decided(ranking.level)
    beaten = np.zeros(best.size, dtype=bool)
    for one, other in ((estimates.a, estimates.b), (estimates.b, estimates.a)):
        beaten[other[decided & best[one]]] = True
    possible: Bools = ~beaten | best
    return possible


def headline(ranking: Ranking) -> str:
    """Say who is the best, or who may be, in one sentence."""
    names: list[str] = ranking.systems_frame()["system"].to_list()
    if len(names) == 1:
        return f"There is one system, {names[0]}, and nothing to compare it with."
    if not ranking.compared.any():
        return "All systems return the same results within the cutoff: there is nothing to compare."
    at = {name: index for index, name in enumerate(ranking.estimates.systems)}
    possible = may_be_best(ranking)
    first = [name for name in names if ranking.rank[at[name]] == 1]
    rivals = [name for name in names if possible[at[name]]]
    of_all = f"of {counted(len(names), 'system')}"
    if ranking.withheld is not None:
        return f"{_tentative(ranking, first)} {of_all}, {ranking.withheld.clause}."
    if len(rivals) == 1:
        rival, chance = _closest(ranking, first[0])
        if len(names) == 2:
            return f"{first[0]} is better than {rival}: {sure(chance)}."
        if chance >= 1:
            return f"{first[0]} is the best {of_all}: it is certain to be better than {rival}."
        overall = _better_than_all(ranking, first[0])
        if overall >= ranking.level:
            return f"{first[0]} is the best {of_all}: {percent(overall)}% sure."
        return (
            f"{first[0]} is probably the best {of_all}: {percent(chance)}% sure that it is better than {rival}, "
            f"{percent(overall)}% that it is better than all."
        )
    if len(names) == 2:
        return f"{listed(names)} cannot be told apart yet."
    if len(rivals) == 2:
        why = "cannot be told apart yet" if _differ(ranking, *rivals) else "return the same results within the cutoff"
        return f"The best {of_all} is {listed(rivals, 'or')}: they {why}."
    has = _tentative(ranking, first)
    if len(rivals) == len(names):
        return f"No system is clearly the best of {len(names):,} yet: {has}."
    which = listed(rivals, "or") if len(rivals) <= _FEW_NAMES else f"one of {len(rivals):,}"
    return f"The best {of_all} is {which}: {has}."


def how_decided(ranking: Ranking) -> str:
    """Say how many pairs are decided; nothing where there are none to compare."""
    compared = int(ranking.compared.sum())
    if not compared:
        return ""
    if ranking.withheld is not None:
        return "No pair of systems is called decided."
    decided = int(ranking.decided(ranking.level).sum())
    at_level = f"at {100 * ranking.level:g}% confidence"
    if decided == compared:
        every = "The pair is" if compared == 1 else f"All {compared:,} pairs of systems are"
        return f"{every} decided {at_level}."
    return (
        f"{decided:,} of {counted(compared, 'pair')} of systems {'is' if decided == 1 else 'are'} decided {at_level}."
    )


def _tentative(ranking: Ranking, first: list[str]) -> str:
    """Say whose estimate is the best, and no more."""
    best = f"the {'highest' if ranking.estimates.measure.higher_is_better else 'lowest'} estimate"
    return f"{first[0]} has {best}" if len(first) == 1 else f"{listed(first)} share {best}"


def _better_than_all(ranking: Ranking, leader: str) -> float:
    """Return how sure it is at least that a system is better than all others: doubts about them add up."""
    estimates = ranking.estimates
    at = estimates.systems.index(leader)
    own = ((estimates.a == at) | (estimates.b == at)) & ranking.compared
    return max(1.0 - float(np.sum(1.0 - ranking.confidence[own])), 0.0)


def _differ(ranking: Ranking, one: str, other: str) -> bool:
    """Tell whether two systems can differ at all."""
    estimates = ranking.estimates
    pair = {estimates.systems.index(one), estimates.systems.index(other)}
    return any(
        {a, b} == pair for a, b in zip(*(ends[ranking.compared] for ends in (estimates.a, estimates.b)), strict=True)
    )


def _closest(ranking: Ranking, leader: str) -> tuple[str, float]:
    """Return the system that the leader is least surely better than, the first of several, and how sure that is."""
    estimates = ranking.estimates
    at = estimates.systems.index(leader)
    own = np.flatnonzero(((estimates.a == at) | (estimates.b == at)) & ranking.compared)
    others = np.where(estimates.a[own] == at, estimates.b[own], estimates.a[own])
    closest = np.lexsort((ranking.rank[others], ranking.confidence[own]))[0]
    return estimates.systems[others[closest]], float(ranking.confidence[own[closest]])
