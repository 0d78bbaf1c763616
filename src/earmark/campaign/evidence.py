"""What people answered, as a campaign takes it in, and what all answers say about the items of a collection."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import AssessorGains, assessor_gains, item_gains
from earmark.campaign.problem import Problem
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.log import AnswerLog
from earmark.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Answers:
    """Gains that somebody gave to items, every gain beside its item.

    Parameters
    ----------
    items : ndarray of int, shape (answers,)
    gains : ndarray of float, shape (answers,)
    sampled : ndarray of bool, shape (answers,), optional
        Which answers belong to the sample; by default none.
    assessor : str, optional
        Who answered.
    """

    items: Ints
    gains: Floats
    sampled: Bools | None = None
    assessor: str | None = None

    def __post_init__(self) -> None:
        if self.items.shape != self.gains.shape:
            raise ParameterError(f"expected a gain for each of {self.items.size} items, got {self.gains.size}")


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the answers say about the items of a collection.

    Attributes
    ----------
    gains : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    order : ndarray of int
        The judged items whose order is known, the first judged first; other judged items came before them.
    answers : AssessorGains or None
        What every assessor said, where some item has answers of several.
    outside : ndarray of int
        The judged items with answers from outside the campaign, which did not choose them.
    """

    gains: Floats
    order: Ints
    answers: AssessorGains | None = None
    outside: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def from_log(cls, problem: Problem, log: AnswerLog) -> Evidence:
        """Derive it from the answers that count."""
        judgments = log.judgments(problem.scale)
        if judgments is None:
            return cls(problem.setting.unjudged, np.zeros(0, dtype=np.int64))
        collection = problem.collection
        places = problem.items.with_row_index("item")
        known = log.answers.filter(pl.col("known"), pl.col("gain").is_not_null())
        found = known.join(places, on=["query", "document"], how="inner", maintain_order="left")["item"]
        said = assessor_gains(collection, judgments)
        return cls(
            item_gains(collection, judgments, aggregation=problem.aggregation),
            found.unique(maintain_order=True).to_numpy().astype(np.int64),
            said if said is not None and said.overlap else None,
            places.join(log.from_outside, on=["query", "document"], how="semi")["item"].to_numpy().astype(np.int64),
        )

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return int(np.count_nonzero(self.gains >= 0))

    def with_new(self, answers: Answers) -> Evidence | None:
        """Return the evidence with answers about items that nobody judged; None where that cannot be said so simply."""
        repeated = np.unique(answers.items).size < answers.items.size
        if self.answers is not None or repeated or np.any(self.gains[answers.items] >= 0):
            return None
        gains = self.gains.copy()
        gains[answers.items] = answers.gains
        return Evidence(gains, np.concatenate((self.order, answers.items)), outside=self.outside)
