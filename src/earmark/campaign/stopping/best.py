"""``best:0.95``: stop when the best system is known; ``best:0.95:0.02``, or one that is at most .02 below it.

That is one statement about several pairs, the system called best with each of the others, so their doubts are added up.
With a margin, systems that are nearly as good need not be told apart: what has to be sure is that the system called
best is worse than none by more than the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earmark.campaign.stopping.base import (
    DEFAULT_CONFIDENCE,
    NOTHING_TO_COMPARE,
    STOP_RULES,
    Progress,
    StopDecision,
    StopRule,
    StopState,
    across_top,
    check_confidence,
    joint_confidence,
    reached,
    split_margin,
)
from earmark.data.arrays import Bools
from earmark.registry import read_number, show_number


@STOP_RULES.register
@dataclass(frozen=True)
class BestSystem(StopRule):
    """Stop when the system called best is surely the best, or worse than none by more than the margin."""

    name: ClassVar[str] = "best"
    form: ClassVar[str] = "best:0.95"
    has_margin: ClassVar[bool] = True
    states_margin: ClassVar[bool] = True

    confidence: float = DEFAULT_CONFIDENCE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_confidence(self.confidence, str(self))

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a confidence, and a margin after another colon."""
        confidence, margin = split_margin(target, cls.form, margin)
        return cls(read_number(confidence, cls.form), margin=margin)

    @property
    def pair_confidence(self) -> float:
        """The confidence in the best; a pair that has less is certainly not decided."""
        return self.confidence

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs of the system called best with the others."""
        return across_top(state, 1)

    def _check(self, state: StopState) -> StopDecision:
        if not state.compared.any():
            return NOTHING_TO_COMPARE
        first = state.name_of(int(np.argmin(state.rank)))
        what = f"is at most {self.margin:g} below the best" if self.margin else "is the best system"
        return reached(self._sure(state), self.confidence, f"the confidence that {first} {what}")

    def progress(self, state: StopState) -> Progress:
        """Return the confidence in the best."""
        return Progress(self.name, self._sure(state) if state.compared.any() else None, self.confidence)

    def _sure(self, state: StopState) -> float:
        return joint_confidence(state.confidence_within(self.margin)[self.concerned(state)])

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.confidence)}{self._after_colon()}"
