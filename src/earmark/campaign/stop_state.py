"""What stop rules look at and what they say: a state without NaN, and a decision with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.inference.confidence import Ranking


@dataclass(frozen=True, eq=False)
class StopState:
    """What a stop rule looks at.

    Parameters
    ----------
    judged, items : int
        How many items are judged, of how many.
    rank : ndarray of int, shape (systems,)
        1 for the best system.
    width : ndarray of float, shape (systems,)
        Of the interval of every system's score, from its low to its high end.
    confidence : ndarray of float, shape (pairs,), 0..1
        In the order of every pair, as from :func:`~earmark.beliefs.estimates.all_pairs`.
    identical : ndarray of bool, shape (pairs,)
        Pairs that cannot differ; their confidence is not looked at.
    beats_by : callable, optional
        Given a margin, the probability that the first system of every pair is better than the second by more than
        that, shape (pairs,); rules with a margin need it.
    """

    judged: int
    items: int
    rank: Ints
    width: Floats
    confidence: Floats
    identical: Bools
    beats_by: Callable[[float], Floats] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.judged <= self.items:
            raise ParameterError(f"expected 0 to {self.items} judged items, got {self.judged}")
        n_systems = self.rank.size
        n_pairs = n_systems * (n_systems - 1) // 2
        if self.width.shape != (n_systems,):
            raise ParameterError(f"expected 'width' for each of {n_systems} systems, got shape {self.width.shape}")
        for name, values in (("confidence", self.confidence), ("identical", self.identical)):
            if values.shape != (n_pairs,):
                raise ParameterError(f"expected '{name}' for each of {n_pairs} pairs, got shape {values.shape}")
        if not np.all(self.width >= 0):
            raise ParameterError("expected intervals of width 0 or more, got NaN or a negative number")
        _check_probabilities(self.confidence[self.compared])

    @classmethod
    def from_ranking(cls, ranking: Ranking) -> StopState:
        """Take from a ranking what stop rules look at."""
        estimates = ranking.estimates
        return cls(
            judged=estimates.judged,
            items=estimates.items,
            rank=ranking.rank,
            width=ranking.high - ranking.low,
            confidence=ranking.confidence,
            identical=estimates.identical,
            beats_by=ranking.beats_by,
        )

    @property
    def compared(self) -> Bools:
        """Which pairs there is anything to decide about, shape (pairs,)."""
        return ~self.identical

    def confidence_within(self, margin: float) -> Floats:
        r"""Probability that the system called better is worse by no more than a margin, shape (pairs,).

        :math:`\max(P(\Delta > -m), P(\Delta < m))`; without a margin, the confidence.
        """
        if margin == 0:
            return self.confidence
        if self.beats_by is None:
            raise ParameterError(f"a margin of {margin:g} needs the probability of differences that large")
        # Of the two systems, the greater probability is that of the one called better.
        confidence = np.maximum(self.beats_by(-margin), 1.0 - self.beats_by(margin))
        _check_probabilities(confidence[self.compared])
        return confidence


@dataclass(frozen=True, repr=False)
class StopDecision(Display):
    """Whether to stop, and why or why not.

    Attributes
    ----------
    stop : bool
    reason : str
        In words, for people.
    """

    stop: bool
    reason: str

    def _summary(self) -> Summary:
        """Say it in words."""
        return Summary(f"{'stop' if self.stop else 'go on'}: {self.reason}")


def _check_probabilities(confidence: Floats) -> None:
    if not np.all((confidence >= 0) & (confidence <= 1)):
        raise ParameterError("expected confidences from 0 to 1, got NaN or a number outside: no rule can use them")
