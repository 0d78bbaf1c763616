"""A verdict in words: who is better, how sure that is, and what cannot be told yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from earmark.data.phrases import counted
from earmark.inference.confidence import Ranking
from earmark.plots.ranking import pairs_data, percent, ranking_data

_FEW_NAMES = 5
Kind = Literal["decided", "open", "equal"]


@dataclass(frozen=True)
class Sentence:
    """One comparison in words, and whether it is decided, open, or about two that cannot differ."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Said:
    """A verdict in words.

    Attributes
    ----------
    headline : str
        The answer, in one sentence.
    summary : str
        How many pairs are decided.
    neighbours : tuple of Sentence
        About every two systems that follow one another in the ranking.
    """

    headline: str
    summary: str
    neighbours: tuple[Sentence, ...]


def say_verdict(ranking: Ranking) -> Said:
    """Say in words what a ranking says."""
    data = pairs_data(ranking)
    order = ranking.systems_frame()["system"].to_list()
    following = dict(pairwise(order))
    neighbours = tuple(
        _sentence(row, column, chance, decided)
        for row, column, chance, decided in data.iter_rows()
        if following.get(row) == column
    )
    return Said(_headline(ranking), _summary(ranking), neighbours)


@dataclass
class Tally:
    """How many systems one is decided to be better and worse than, and how many it is open with."""

    better: int = 0
    open: int = 0
    worse: int = 0


def tallies(ranking: Ranking) -> dict[str, Tally]:
    """Count for every system, the best first, what is decided; pairs that cannot differ do not count."""
    counts = {name: Tally() for name in ranking.systems_frame()["system"]}
    for row, column, chance, decided in pairs_data(ranking).iter_rows():
        if chance is None:
            continue
        if not decided:
            counts[row].open += 1
            counts[column].open += 1
        else:
            winner, loser = (row, column) if chance > 0.5 else (column, row)
            counts[winner].better += 1
            counts[loser].worse += 1
    return counts


def sure(chance: float) -> str:
    """Say how sure something is: ``97% sure``, or ``certain`` where nothing is left to doubt."""
    return "certain" if chance >= 1 else f"{percent(chance)}% sure"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Put names in a row: ``A``, ``A and B``, ``A, B and C``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _sentence(first: str, second: str, chance: float | None, decided: bool) -> Sentence:
    if chance is None:
        return Sentence("equal", f"{first} and {second} return the same where it counts: no judgment can part them.")
    if decided:
        return Sentence("decided", f"{first} is better than {second}: {sure(chance)}.")
    if chance == 0.5:
        return Sentence("open", f"{first} and {second} are level: either may be better.")
    likelier = first if chance > 0.5 else second
    return Sentence(
        "open",
        f"{first} and {second} cannot be told apart yet: {percent(max(chance, 1 - chance))}% sure that {likelier} is "
        "better.",
    )


def _headline(ranking: Ranking) -> str:
    data = ranking_data(ranking)
    names = data["system"].to_list()
    if len(names) == 1:
        return f"There is one system, {names[0]}, and nothing to compare it with."
    if not ranking.compared.any():
        return "All systems return the same where it counts: there is nothing to compare."
    first = data.filter(data["rank"] == 1)["system"].to_list()
    rivals = data.filter(data["may_be_best"])["system"].to_list()
    of_all = f"of {counted(len(names), 'system')}"
    if len(rivals) == 1:
        rival, chance = _closest(ranking, first[0])
        if len(names) == 2:
            return f"{first[0]} is better than {rival}: {sure(chance)}."
        said = "it is certain to be" if chance >= 1 else f"{percent(chance)}% sure that it is"
        return f"{first[0]} is the best {of_all}: {said} better than {rival}."
    if len(names) == 2:
        return f"{listed(names)} cannot be told apart yet."
    if len(rivals) == 2:
        return f"The best {of_all} is {listed(rivals, 'or')}: they cannot be told apart yet."
    leads = f"{first[0]} leads, but not surely" if len(first) == 1 else f"{listed(first)} lead together"
    if len(rivals) == len(names) or len(rivals) > _FEW_NAMES:
        may_be = "any" if len(rivals) == len(names) else f"one of {len(rivals):,}"
        return f"The best {of_all} may be {may_be}: {leads}."
    return f"The best {of_all} is {listed(rivals, 'or')}: {leads}."


def _closest(ranking: Ranking, leader: str) -> tuple[str, float]:
    """Return the system that the leader is least surely better than, the first of several, and how sure that is."""
    estimates = ranking.estimates
    at = estimates.systems.index(leader)
    own = np.flatnonzero(((estimates.a == at) | (estimates.b == at)) & ranking.compared)
    others = np.where(estimates.a[own] == at, estimates.b[own], estimates.a[own])
    closest = np.lexsort((ranking.rank[others], ranking.confidence[own]))[0]
    return estimates.systems[others[closest]], float(ranking.confidence[own[closest]])


def _summary(ranking: Ranking) -> str:
    compared = int(ranking.compared.sum())
    if not compared:
        return ""
    decided = int(ranking.decided(ranking.level).sum())
    at_level = f"at {100 * ranking.level:g}% confidence"
    if decided == compared:
        every = "The pair is" if compared == 1 else f"All {compared:,} pairs of systems are"
        return f"{every} decided {at_level}."
    return (
        f"{decided:,} of {counted(compared, 'pair')} of systems {'is' if decided == 1 else 'are'} decided {at_level}."
    )
