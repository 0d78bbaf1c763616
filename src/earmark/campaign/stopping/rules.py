r"""When to stop judging.

==================  ====================================================================================================
``mean:0.95``       the mean confidence over pairs of systems is at least .95, as in Urbano and Schedl (2013)
``min:0.95``        every pair has a confidence of at least .95
``decided:0.9``     nine in ten pairs have a confidence of at least .95; ``decided:0.9@0.99`` for another confidence
``top:1``           the best system is known with a confidence of at least .95; ``top:3`` the best three, in any order;
                    ``top:1@0.9`` for another confidence
``width:0.05``      the interval of every system's score is at most .05 wide, from its low to its high end
``budget:500``      500 items are judged
``none``            never
==================  ====================================================================================================

Conventions:

- *Everything judged* always stops: there is nothing left to ask.
- *Reaching is enough*: a rule stops at its target, not only beyond it. Urbano and Schedl say so in section 3.3
  (:math:`C_{AB} \ge` 95%), while its Algorithm 1 goes on at equality.
- *Pairs that cannot differ* have no part in any rule. Where no pair is left, as with one system alone, there is no
  confidence to reach, and judging goes on until everything is judged.
- *A margin of indifference* :math:`m` makes near-ties decidable: in place of the confidence in the sign, what counts is
  the probability :math:`\max(P(\Delta > -m), P(\Delta < m))` that the system called better is worse by no more than m.
  Two systems closer than the margin become decided as they become known; without a margin they may never be.
- *The top* is one statement about several pairs: each of the best with each of the others. The chance that any of them
  is wrong is at most the sum of their chances (Bonferroni), and that sum is held to one minus the confidence.

Nothing here compares with NaN: a state that holds one where it matters is refused.

References
----------
J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; sections 3.3 and 3.4.
Buckers (2021), on overconfidence and bias in low-cost evaluation; section 2.2, on when to stop.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earmark.campaign.stopping.base import (
    DEFAULT_CONFIDENCE,
    NOTHING_TO_COMPARE,
    ROUNDING,
    STOP_RULES,
    Progress,
    StopDecision,
    StopRule,
    StopState,
    across_top,
    ask_percent,
    check_confidence,
    joint_confidence,
    reached,
    show_beside,
    show_confidence,
    split_confidence,
)
from earmark.data.arrays import Bools, Floats
from earmark.errors import ParameterError
from earmark.registry import read_count, read_number, show_number


@dataclass(frozen=True)
class ConfidenceRule(StopRule):
    """Stop when some summary of the confidence in all pairs is at least the target."""

    has_margin: ClassVar[bool] = True
    summary: ClassVar[str]

    target: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_confidence(self.target, str(self))

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a confidence."""
        return cls(read_number(target, cls.form), margin=margin)

    @property
    def pair_confidence(self) -> float:
        """The target."""
        return self.target

    @staticmethod
    @abstractmethod
    def summarise(confidence: Floats) -> float:
        """Make one number of the confidence in one or more pairs."""

    def _check(self, state: StopState) -> StopDecision:
        confidence = self._on_pairs(state)
        if not confidence.size:
            return NOTHING_TO_COMPARE
        return reached(self.summarise(confidence), self.target, f"the {self.summary}{self._within()}")

    def progress(self, state: StopState) -> Progress:
        """Return the summary of the confidence in pairs."""
        confidence = self._on_pairs(state)
        return Progress(self.name, self.summarise(confidence) if confidence.size else None, self.target)

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.target)}"


@STOP_RULES.register
@dataclass(frozen=True)
class MeanConfidence(ConfidenceRule):
    """Stop when the mean confidence over pairs is at least the target; Urbano2013, Algorithm 1."""

    name: ClassVar[str] = "mean"
    form: ClassVar[str] = "mean:0.95"
    summary: ClassVar[str] = "mean confidence"

    @staticmethod
    def summarise(confidence: Floats) -> float:
        """Return the mean."""
        return float(confidence.mean())


@STOP_RULES.register
@dataclass(frozen=True)
class MinConfidence(ConfidenceRule):
    """Stop when every pair has at least the target confidence; Urbano2013, section 3.4."""

    name: ClassVar[str] = "min"
    form: ClassVar[str] = "min:0.95"
    summary: ClassVar[str] = "least confidence"

    @staticmethod
    def summarise(confidence: Floats) -> float:
        """Return the least."""
        return float(confidence.min())


@STOP_RULES.register
@dataclass(frozen=True)
class DecidedPairs(StopRule):
    """Stop when a share of the pairs is decided, each with at least a given confidence."""

    name: ClassVar[str] = "decided"
    form: ClassVar[str] = "decided:0.9"
    has_margin: ClassVar[bool] = True

    share: float
    confidence: float = DEFAULT_CONFIDENCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_confidence(self.confidence, str(self))
        if not 0 < self.share < 1:
            got = f"{self.share:g}{ask_percent(self.name, self.share)}"
            all_of_them = f"(for all of them: min:{show_number(self.confidence)})"
            raise ParameterError(f"'{self}': a share of pairs lies between 0 and 1, got {got} {all_of_them}")

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a share, and a confidence after ``@``."""
        share, confidence = split_confidence(target, cls.form)
        return cls(read_number(share, cls.form), confidence, margin=margin)

    @property
    def pair_confidence(self) -> float:
        """The confidence of a decided pair."""
        return self.confidence

    def _check(self, state: StopState) -> StopDecision:
        confidence = self._on_pairs(state)
        if not confidence.size:
            return NOTHING_TO_COMPARE
        decided = int(np.count_nonzero(confidence >= self.confidence))
        which = f"decided pairs (confidence of {show_number(self.confidence)} or more{self._within()}):"
        said = f"{decided} of {confidence.size} are"
        stop = decided / confidence.size >= self.share
        wanted = f"{'at least' if stop else 'fewer than'} the wanted share of {show_number(self.share)}"
        return StopDecision(stop, f"{which} {said}, {wanted}")

    def progress(self, state: StopState) -> Progress:
        """Return the share of decided pairs."""
        confidence = self._on_pairs(state)
        share = float(np.mean(confidence >= self.confidence)) if confidence.size else None
        return Progress(self.name, share, self.share)

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.share)}{show_confidence(self.confidence)}"


@STOP_RULES.register
@dataclass(frozen=True)
class TopSystems(StopRule):
    """Stop when it is known which systems are the best, whatever their order among themselves."""

    name: ClassVar[str] = "top"
    form: ClassVar[str] = "top:1"
    has_margin: ClassVar[bool] = True

    systems: int
    confidence: float = DEFAULT_CONFIDENCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_confidence(self.confidence, str(self))
        if self.systems < 1:
            raise ParameterError(f"'{self}': the number of best systems is 1 or more, got {self.systems}")

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read how many systems, and a confidence after ``@``."""
        systems, confidence = split_confidence(target, cls.form)
        return cls(read_count(systems, cls.form), confidence, margin=margin)

    @property
    def pair_confidence(self) -> float:
        """The confidence in the top; a pair that has less is certainly not decided."""
        return self.confidence

    def _check(self, state: StopState) -> StopDecision:
        n_systems = state.rank.size
        if not state.compared.any():
            return NOTHING_TO_COMPARE
        if self.systems >= n_systems:
            said = f"all {n_systems} systems are among the best {self.systems}: only judging everything ends this"
            return StopDecision(False, said)
        best = "the best system" if self.systems == 1 else f"the best {self.systems} systems"
        return reached(self._certain(state), self.confidence, f"the confidence in {best}{self._within()}")

    def progress(self, state: StopState) -> Progress:
        """Return the confidence in the top."""
        known = bool(state.compared.any()) and self.systems < state.rank.size
        return Progress(self.name, self._certain(state) if known else None, self.confidence)

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs of one system of the top and one that is not."""
        return across_top(state, self.systems)

    def _certain(self, state: StopState) -> float:
        return joint_confidence(state.confidence_within(self.margin)[self.concerned(state)])

    def __str__(self) -> str:
        return f"{self.name}:{self.systems}{show_confidence(self.confidence)}"


@STOP_RULES.register
@dataclass(frozen=True)
class IntervalWidth(StopRule):
    """Stop when no system's interval is wider than allowed; the acceptable error of a score in Buckers2021."""

    name: ClassVar[str] = "width"
    form: ClassVar[str] = "width:0.05"

    width: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.width) and self.width > 0):
            raise ParameterError(f"'{self}': the width of an interval is above 0, got {self.width:g}")

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a width."""
        return cls(read_number(target, cls.form), margin=margin)

    def _check(self, state: StopState) -> StopDecision:
        if not state.width.size:
            return StopDecision(False, "there are no systems: only judging everything ends this")
        return self.check_width(float(state.width.max()), "the widest interval of a system")

    def check_width(self, width: float, what: str) -> StopDecision:
        """Decide by the width of an interval, which `what` names."""
        stop = self._narrow_enough(width)
        than = "no wider" if stop else "wider"
        shown = show_beside(width, self._narrow_enough)
        return StopDecision(stop, f"{what} is {shown}, {than} than {show_number(self.width)}")

    def progress(self, state: StopState) -> Progress:
        """Return the width of the widest interval."""
        widest = float(state.width.max()) if state.width.size else None
        return Progress(self.name, widest, self.width, rising=False)

    def _narrow_enough(self, width: float) -> bool:
        return width <= self.width + ROUNDING

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.width)}"


@STOP_RULES.register
@dataclass(frozen=True)
class Budget(StopRule):
    """Stop when so many items are judged."""

    name: ClassVar[str] = "budget"
    form: ClassVar[str] = "budget:500"
    rests_on_estimates: ClassVar[bool] = False

    judgments: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.judgments < 0:
            raise ParameterError(f"'{self}': a budget is 0 judgments or more, got {self.judgments}")

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read how many items."""
        return cls(read_count(target, cls.form), margin=margin)

    def _check(self, state: StopState) -> StopDecision:
        return self.check_count(state.judged, "judged")

    def check_count(self, count: int, what: str) -> StopDecision:
        """Decide by how much was spent, `what` being the word for it."""
        stop = count >= self.judgments
        said = "the budget is used up" if stop else "the budget is not used up"
        return StopDecision(stop, f"{said}: {count:,} {what} of {self.judgments:,}", final=True)

    @property
    def budget(self) -> int:
        """How many judgments may be made at most."""
        return self.judgments

    def progress(self, state: StopState) -> Progress:
        """Return how many items are judged, of how many may be."""
        return Progress(self.name, state.judged, self.judgments)

    def __str__(self) -> str:
        return f"{self.name}:{self.judgments}"


@STOP_RULES.register
@dataclass(frozen=True)
class Never(StopRule):
    """Go on until everything is judged."""

    name: ClassVar[str] = "none"
    form: ClassVar[str] = "none"
    rests_on_estimates: ClassVar[bool] = False

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read nothing."""
        if target:
            raise ParameterError(f"the stop rule none stands alone, got 'none:{target}'")
        return cls(margin=margin)

    def _check(self, state: StopState) -> StopDecision:
        return StopDecision(False, "no stop rule: judging goes on until everything is judged")

    def __str__(self) -> str:
        return self.name
