"""What an outlook says: how many more judgments every open pair takes, and which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.campaign.appraisal import Inference
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.display import Display, DisplayTable, Summary, facts
from earmark.errors import ParameterError
from earmark.wording import counted

EVEN, LIKELY = 0.5, 0.9
"""As likely as not, and nearly surely."""


@dataclass(frozen=True, eq=False, repr=False)
class Prospect(Display):
    """What more judgments would do for one open pair.

    Attributes
    ----------
    a, b : str
        The two systems.
    confidence : float, .5..1
        In their order, as of now.
    left : int
        How many judgments are left that bear on the pair.
    judgments : ndarray of int, shape (steps,), ascending from 0
        How many more are made.
    chance : ndarray of float, shape (steps,), 0..1
        That the pair is decided then. The path ends where that is nearly sure, or where nothing is left.
    chance_of_all : float, 0..1
        That the pair is decided once all that are left are made.
    items : ndarray of int, shape (at most left,)
        What is judged on the way, the first first.
    exact : bool
        A judged gain is the truth; else assessors disagree, and every item counts for one more answer.
    """

    a: str
    b: str
    confidence: float
    left: int
    judgments: Ints
    chance: Floats
    chance_of_all: float
    items: Ints
    exact: bool = True

    def needed(self, probability: float) -> int | None:
        """Return after how many more judgments the pair is decided with a probability; None if that is too far."""
        reached = np.flatnonzero(self.chance >= probability)
        return int(self.judgments[reached[0]]) if reached.size else None

    @property
    def even(self) -> int | None:
        """After how many more judgments the pair is as likely decided as not."""
        return self.needed(EVEN)

    @property
    def likely(self) -> int | None:
        """After how many more judgments the pair is nearly surely decided."""
        return self.needed(LIKELY)

    def _summary(self) -> Summary:
        """Show how far the pair has to go."""
        told = facts(even=self.even, likely=self.likely, left=self.left, chance_of_all=self.chance_of_all)
        return Summary(f"{self.a} and {self.b}, {self.confidence:.3f} sure so far", [told])


@dataclass(frozen=True, eq=False, repr=False)
class Outlook(Display):
    """What more judgments would do for open pairs.

    Attributes
    ----------
    prospects : tuple of Prospect
        One for every open pair that was asked for, in the order of the ranking.
    inference : Inference
        What deciding means.
    """

    prospects: tuple[Prospect, ...]
    inference: Inference

    @cached_property
    def _by_pair(self) -> dict[frozenset[str], Prospect]:
        return {frozenset((one.a, one.b)): one for one in self.prospects}

    def of(self, a: str, b: str) -> Prospect | None:
        """Return the prospect of two systems; None where they are decided or were not asked for."""
        return self._by_pair.get(frozenset((a, b)))

    def frame(self) -> pl.DataFrame:
        """One row per pair: ``a``, ``b``, ``confidence``, ``even``, ``likely``, ``left``, ``chance_of_all``.

        ``even`` and ``likely`` are null where no number of judgments is enough, or one that is too far to look ahead.
        """
        return pl.DataFrame(
            {
                "a": pl.Series([one.a for one in self.prospects], dtype=pl.String),
                "b": pl.Series([one.b for one in self.prospects], dtype=pl.String),
                "confidence": pl.Series([one.confidence for one in self.prospects], dtype=pl.Float64),
                "even": pl.Series([one.even for one in self.prospects], dtype=pl.Int64),
                "likely": pl.Series([one.likely for one in self.prospects], dtype=pl.Int64),
                "left": pl.Series([one.left for one in self.prospects], dtype=pl.Int64),
                "chance_of_all": pl.Series([one.chance_of_all for one in self.prospects], dtype=pl.Float64),
            }
        )

    def to_judge(self, a: str, b: str, collection: Collection) -> pl.DataFrame:
        """Return ``query`` and ``document`` of what tells most about two systems, the first first.

        Raises
        ------
        ParameterError
            If they are decided, or were not asked for.
        """
        found = self.of(a, b)
        if found is None:
            raise ParameterError(f"nothing was looked ahead for {a} and {b}: they are decided, or were not asked for")
        return collection.item_frame()[found.items].select("query", "document")

    def _summary(self) -> Summary:
        """Show how far every pair has to go."""
        level = f"{100 * self.inference.level:g}% confidence"
        if not self.prospects:
            return Summary(f"no open pair at {level}")
        note = "even: decided as likely as not after so many more judgments of what tells most about the pair; likely: "
        return Summary(
            f"{counted(len(self.prospects), 'open pair')} at {level}",
            [DisplayTable(self.frame())],
            [f"{note}{100 * LIKELY:g}% likely; left: all that bear on it"],
        )
