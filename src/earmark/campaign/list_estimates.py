"""What comparisons of two result lists say of systems: the shares that they win, as tables and in one sentence.

:mod:`earmark.campaign.list_campaign` computes the shares and their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.wording import counted, listed

EVEN = 0.5
"""The share won where neither of two systems is better."""


@dataclass(frozen=True, eq=False, repr=False)
class ListEstimates(Display):
    """How often systems win, and how sure that is.

    Attributes
    ----------
    systems : tuple of str
    level : float
    estimate, low, high : ndarray of float, shape (systems,), in [0, 1]
        The share that a system wins, averaged over the others.
    rank : ndarray of int, shape (systems,)
        1 for the best; equal shares have the best rank among them.
    a, b : ndarray of int, shape (pairs,)
        The systems of every pair that is compared.
    share : ndarray of float, shape (pairs,), in [0, 1]
        The share of queries that a wins against b; NaN where nobody answered.
    pair_low, pair_high : ndarray of float, shape (pairs,), in [0, 1]
        Its interval, [0, 1] where nobody answered.
    confidence : ndarray of float, shape (pairs,), .5..1
        That the share is not ½, on the side where it is.
    queries, asked, answers : ndarray of int, shape (pairs,)
        How many queries were answered, of how many for which the lists differ, and how many answers there are.
    identical : tuple of (str, str)
        Pairs whose lists never differ.
    """

    systems: tuple[str, ...]
    level: float
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
    queries: Ints
    asked: Ints
    answers: Ints
    identical: tuple[tuple[str, str], ...] = ()

    @property
    def decided(self) -> Bools:
        """Which pairs are decided: their interval excludes ½."""
        return np.asarray((self.pair_low > EVEN) | (self.pair_high < EVEN))

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
            ``confidence``; ``share`` that a wins, ``share_low`` and ``share_high``; ``queries``, ``asked``, ``answers``
            and ``decided``. Difference and share are null where nobody answered.
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
                "queries": self.queries,
                "asked": self.asked,
                "answers": self.answers,
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
            if others:
                return f"{listed(names)} cannot be told apart yet: the interval of the share won contains one half."
            return f"{leader} is better than {names[1]}."
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

    def _summary(self) -> Summary:
        """Show the systems and the pairs."""
        level = f"{100 * self.level:g}% intervals that hold at any time"
        pairs = self.pairs_frame().drop("kind")
        notes = [f"lists never differ, not compared: {a} and {b}" for a, b in self.identical]
        return Summary(
            self.sentence(),
            [DisplayTable(self.systems_frame().drop("kind"), f"Share won, {level}"), DisplayTable(pairs, "Pairs")],
            notes,
        )
