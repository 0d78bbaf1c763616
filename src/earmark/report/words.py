"""A verdict in words: who is better, how sure that is, what cannot be told yet, and what it would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from earmark.campaign.appraisal import Inference
from earmark.campaign.prospects import EVEN, Outlook, Prospect
from earmark.inference.confidence import Ranking
from earmark.inference.words import headline, how_decided, may_be_best, percent, sure
from earmark.plots.ranking import pairs_data
from earmark.wording import counted

Kind = Literal["decided", "open", "equal"]
# Up to a number of judgments, what it is rounded up to a multiple of.
_ROUND = ((50, 5), (200, 10), (1000, 50))
_ROUND_MANY = 100
_NOT_YET = "cannot be told apart yet"


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
    ahead : str
        What it would take to decide more; empty where nothing is open, or nobody looked ahead.
    """

    headline: str
    summary: str
    neighbours: tuple[Sentence, ...]
    ahead: str = ""


def say_verdict(ranking: Ranking, outlook: Outlook | None = None) -> Said:
    """Say in words what a ranking says, and, with an outlook, how many more judgments what is open would take."""
    data = pairs_data(ranking)
    order = ranking.systems_frame()["system"].to_list()
    following = dict(pairwise(order))
    neighbours = tuple(
        _sentence(row, column, chance, decided, outlook)
        for row, column, chance, decided in data.iter_rows()
        if following.get(row) == column
    )
    said = Said(headline(ranking), how_decided(ranking), neighbours)
    return said if outlook is None else _with_outlook(said, ranking, outlook)


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


def rounded(count: int) -> int:
    """Round a number of judgments up to one that claims no more than is known: 57 is 60, 312 is 350."""
    step = next((step for most, step in _ROUND if count <= most), _ROUND_MANY)
    return -(-count // step) * step


def how_many(count: int, left: int) -> str:
    """Say a number of judgments: ``about 60``, or ``nearly all 310`` where it comes to that."""
    near = rounded(count)
    return f"about {near:,}" if near < left else f"nearly all {left:,}"


def say_prospect(prospect: Prospect, inference: Inference) -> str:
    """Say what would decide a pair: ``about 60 more judgments``, as a part of a sentence."""
    judgments = "sampled judgments" if inference.mode == "design" else "judgments"
    if not prospect.left:
        return "everything in which they differ is judged"
    if prospect.even is not None:
        near = rounded(prospect.even)
        if near < prospect.left:
            return f"about {near:,} more {judgments}"
        return f"nearly all of the {prospect.left:,} {judgments} that are left"
    if prospect.chance_of_all < EVEN and not prospect.exact:
        return f"even one more judgment of all {prospect.left:,} items in which they differ would probably not do"
    if prospect.chance_of_all < EVEN:
        instead = ": it takes more queries" if inference.target == "population" else ""
        return f"even all {prospect.left:,} {judgments} that are left would probably not do{instead}"
    return f"more than {int(prospect.judgments[-1]):,} more {judgments}"


def _sentence(first: str, second: str, chance: float | None, decided: bool, outlook: Outlook | None) -> Sentence:
    if chance is None:
        return Sentence("equal", f"{first} and {second} return the same where it counts: no judgment can part them.")
    if decided:
        return Sentence("decided", f"{first} is better than {second}: {sure(chance)}.")
    level, likelier = chance == 0.5, first if chance > 0.5 else second
    prospect = None if outlook is None else outlook.of(first, second)
    if outlook is None or prospect is None:
        if level:
            return Sentence("open", f"{first} and {second} are level: either may be better.")
        told = f"{percent(max(chance, 1 - chance))}% sure that {likelier} is better."
        return Sentence("open", f"{first} and {second} {_NOT_YET}: {told}")
    takes = say_prospect(prospect, outlook.inference)
    if not prospect.left:
        return Sentence("open", f"{first} and {second} score the same: {takes}.")
    # What is said of the other pairs is said of a level one too, but for who looks better.
    so_far = "" if level else f" So far it is {percent(max(chance, 1 - chance))}% sure that {likelier} is better."
    return Sentence("open", f"{first} and {second} {_NOT_YET}: {takes}.{so_far}")


def _with_outlook(said: Said, ranking: Ranking, outlook: Outlook) -> Said:
    """Add what it would take: to the headline where that is about two systems, in a sentence of its own otherwise."""
    systems = np.array(ranking.estimates.systems, dtype=object)
    rivals = systems[may_be_best(ranking)].tolist()
    order = ranking.systems_frame()["system"].to_list()
    first, told = said.headline, set[frozenset[str]]()
    if len(rivals) == 2 and first.endswith(f"{_NOT_YET}."):
        between = outlook.of(*rivals)
        if between is not None and between.left:
            takes = say_prospect(between, outlook.inference)
            first = f"{first[:-1]}: {takes}." if len(order) == 2 else f"{first[:-1]} ({takes})."
            told.add(frozenset(rivals))
    ahead = ""
    if len(rivals) > 2:
        leader = order[0]
        from_rivals = [found for name in rivals if (found := outlook.of(leader, name)) is not None]
        if from_rivals:
            ahead = f"To tell {leader} from each system that may be better: {_say_range(from_rivals, outlook)}."
    if not ahead:
        pairs = [frozenset(pair) for pair in pairwise(order)]
        following = [one for one in outlook.prospects if frozenset((one.a, one.b)) in pairs]
        others = [one for one in following if frozenset((one.a, one.b)) not in told]
        if others:
            many = f"{'other pair' if told else 'pair'}{'' if len(others) == 1 else 's'}"
            are = "is" if len(others) == 1 else "are"
            ahead = f"{len(others):,} {many} of neighbours {are} open: {_say_range(others, outlook)}."
    return Said(first, said.summary, said.neighbours, ahead)


def _say_range(prospects: Sequence[Prospect], outlook: Outlook) -> str:
    """Say how many more judgments several pairs take each."""
    if len(prospects) == 1:
        return say_prospect(prospects[0], outlook.inference)
    judgments = "sampled judgments" if outlook.inference.mode == "design" else "judgments"
    counts = sorted(rounded(one.even) for one in prospects if one.even is not None)
    out_of_reach = len(prospects) - len(counts)
    if not counts:
        return f"even all {judgments} that are left would probably not do"
    spread = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
    said = f"about {spread} more {judgments}" + (" each" if len(counts) > 1 else " for one of them")
    if out_of_reach:
        said += f"; for {counted(out_of_reach, 'pair')} all that are left would probably not do"
    return said
