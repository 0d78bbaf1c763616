"""What comparisons of two result lists say of systems: the shares that they win, as tables and in one sentence.

:mod:`earmark.campaign.list_campaign` computes the shares and their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.inference.shares_won import EVEN
from earmark.wording import counted, listed


@dataclass(frozen=True, eq=False, repr=False)
class ListEstimates(Display):
    """How often systems win, and how sure that is.

    Attributes
    ----------
    systems : tuple of str
    level : float
        The probability that the intervals of all pairs hold together.
    anytime : bool
        Whether they hold at all looks together, or at one.
    estimate, low, high : ndarray of float, shape (systems,), in [0, 1]
        The share that a system wins, averaged over the others.
    rank : ndarray of int, shape (systems,)
        1 for the best; equal shares have the best rank among them.
    a, b : ndarray of int, shape (pairs,)
        The systems of every pair that is compared.
    share : ndarray of float, shape (pairs,), in [0, 1]
        The share of queries that a wins against b; NaN where nobody answered.
    pair_low, pair_high : ndarray of float, shape (pairs,), in [0, 1]
        Its interval for queries and people like these; [0, 1] where fewer than two people answered.
    confidence : ndarray of float, shape (pairs,), .5..1
        That the share is not ½, on the side where it is.
    these_low, these_high : ndarray of float, shape (pairs,), in [0, 1]
        The interval for queries like these and the people who answered.
    queries, asked, answers : ndarray of int, shape (pairs,)
        How many queries were answered, of how many for which the lists differ, and how many answers there are.
    assessors : ndarray of int, shape (pairs,)
        How many people answered.
    identical : tuple of (str, str)
        Pairs whose lists never differ.
    people : polars.DataFrame
        ``kind``, ``a``, ``b``, ``assessor``, ``share`` that a wins by the answers of this person, and ``answers``.
    """

    systems: tuple[str, ...]
    level: float
    anytime: bool
    estimate: Floats
    low: Floats
    high: Floats
    rank: Ints
    a: Ints
    b: Ints
    share: Floats
    pair_low: Floats
    pair_high: Floats
    confidence: Floats
    these_low: Floats
    these_high: Floats
    queries: Ints
    asked: Ints
    answers: Ints
    assessors: Ints
    identical: tuple[tuple[str, str], ...]
    people: pl.DataFrame

    @property
    def decided(self) -> Bools:
        """Which pairs are decided: their interval excludes ½."""
        return np.asarray((self.pair_low > EVEN) | (self.pair_high < EVEN))

    @property
    def preferred_here(self) -> Bools:
        """Which pairs these people decide, while it is open whether people like them do."""
        return np.asarray(((self.these_low > EVEN) | (self.these_high < EVEN)) & ~self.decided)

    @property
    def mean_confidence(self) -> float | None:
        """The mean over pairs; None where no two systems are compared."""
        return float(self.confidence.mean()) if self.confidence.size else None

    @property
    def min_confidence(self) -> float | None:
        """The least over pairs; None where no two systems are compared."""
        return float(self.confidence.min()) if self.confidence.size else None

    @property
    def widest(self) -> float:
        """The width of the widest interval of a pair; 0 where no two systems are compared."""
        return float((self.pair_high - self.pair_low).max(initial=0.0))

    def systems_frame(self) -> pl.DataFrame:
        """One row per system, best first: ``kind``, ``system``, ``estimate``, ``low``, ``high``, ``rank``."""
        frame = pl.DataFrame(
            {
                "kind": pl.repeat("system", len(self.systems), eager=True),
                "system": pl.Series(self.systems, dtype=pl.String),
                "estimate": self.estimate,
                "low": self.low,
                "high": self.high,
                "rank": self.rank,
            }
        )
        return frame.sort("rank", "system", maintain_order=True)

    def pairs_frame(self) -> pl.DataFrame:
        """One row per compared pair.

        Returns
        -------
        polars.DataFrame
            ``kind``, ``a``, ``b``; ``difference`` of the shares that a and b win, its ``low`` and ``high``, and
            ``confidence``; ``share`` that a wins, ``share_low`` and ``share_high``; the interval for the people who
            answered, ``these_low`` and ``these_high``; ``queries``, ``asked``, ``answers``, ``assessors`` and
            ``decided``. Difference and share are null where nobody answered.
        """
        names = pl.Series(self.systems, dtype=pl.String)
        return pl.DataFrame(
            {
                "kind": pl.repeat("pair", self.share.size, dtype=pl.String, eager=True),
                "a": names.gather(self.a),
                "b": names.gather(self.b),
                "difference": pl.Series(2 * self.share - 1, nan_to_null=True),
                "low": 2 * self.pair_low - 1,
                "high": 2 * self.pair_high - 1,
                "confidence": self.confidence,
                "share": pl.Series(self.share, nan_to_null=True),
                "share_low": self.pair_low,
                "share_high": self.pair_high,
                "these_low": self.these_low,
                "these_high": self.these_high,
                "queries": self.queries,
                "asked": self.asked,
                "answers": self.answers,
                "assessors": self.assessors,
                "decided": self.decided,
            }
        )

    def sentence(self) -> str:
        """Say who is the best, or who may be, in one sentence."""
        names = self.systems_frame()["system"].to_list()
        if len(names) == 1:
            return f"There is one system, {names[0]}, and nothing to compare it with."
        if not self.share.size:
            return "All systems return the same lists: there is nothing to compare."
        if not self.answers.any():
            return f"Nobody has compared the lists of the {counted(len(names), 'system')} yet."
        leader = names[0]
        beaten = self._beaten_by(leader)
        others = [name for name in names if name != leader and name not in beaten]
        if len(names) == 2:
            if not others:
                return f"{leader} is better than {names[1]}."
            if self.preferred_here.any():
                people = counted(int(self.assessors.max()), "person", "people")
                return f"{leader} is preferred to {names[1]} by {people}: too few or too different to speak for others."
            return f"{listed(names)} cannot be told apart yet: the interval of the share won contains one half."
        if not others:
            return f"{leader} is the best of {counted(len(names), 'system')}: it is better than every other one."
        if len(others) == len(names) - 1:
            ahead = f"{leader} is ahead of the {counted(len(names) - 1, 'other system')}"
            return f"{ahead}, but no difference is decided yet."
        better = f"it is better than {listed([name for name in names if name in beaten])}"
        return (
            f"{leader} is first of {counted(len(names), 'system')}: {better}; "
            f"it cannot be told apart yet from {listed(others)}."
        )

    def _beaten_by(self, leader: str) -> set[str]:
        at = self.systems.index(leader)
        won = [(self.b[one] if self.a[one] == at else self.a[one]) for one in self._won(at)]
        return {self.systems[index] for index in won}

    def _won(self, at: int) -> Ints:
        first, second = self.a == at, self.b == at
        return np.flatnonzero((first & (self.pair_low > EVEN)) | (second & (self.pair_high < EVEN)))

    @property
    def basis(self) -> str:
        """What intervals are and whom they are about, in a phrase."""
        when = "hold at all looks together" if self.anytime else "hold at one look"
        return f"about queries and people like these; the intervals of all pairs {when}"

    def notes(self) -> list[str]:
        """Say what a reader has to know about pairs of systems."""
        notes = [f"lists never differ, not compared: {a} and {b}" for a, b in self.identical]
        here = self.pairs_frame().filter(pl.Series(self.preferred_here))
        for a, b, share, assessors in here.select("a", "b", "share", "assessors").iter_rows():
            better, worse = (a, b) if share > EVEN else (b, a)
            notes.append(
                f"{counted(assessors, 'person', 'people')} prefer{'s' if assessors == 1 else ''} {better} to {worse}; "
                "whether others do is open: that takes more people"
            )
        return notes

    def _summary(self) -> Summary:
        """Show the systems, the pairs and the people."""
        level = f"{100 * self.level:g}% intervals that hold {'at any time' if self.anytime else 'at one look'}"
        sheets = [
            DisplayTable(self.systems_frame().drop("kind"), f"Share won, {level}"),
            DisplayTable(self.pairs_frame().drop("kind"), "Pairs"),
            DisplayTable(self.people.drop("kind"), "What a wins by the answers of each person", most=20),
        ]
        return Summary(self.sentence(), sheets, self.notes())
