"""``order:0.95``: stop when the order of all systems is known; ``order:0.95:0.02``, but for differences of up to .02.

That is one statement about all pairs, so their doubts are added up: with the confidence that is asked for, no two
systems are in the wrong order by more than the margin. ``min:0.95`` asks for as much of every pair alone, and is wrong
about some pair more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from earmark.campaign.stopping.base import (
    DEFAULT_CONFIDENCE,
    NOTHING_TO_COMPARE,
    STOP_RULES,
    Progress,
    StopDecision,
    StopRule,
    StopState,
    check_confidence,
    joint_confidence,
    reached,
    split_margin,
)
from earmark.registry import read_number, show_number


@STOP_RULES.register
@dataclass(frozen=True)
class WholeOrder(StopRule):
    """Stop when no two systems are in the wrong order by more than the margin."""

    name: ClassVar[str] = "order"
    form: ClassVar[str] = "order:0.95"
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
        """The confidence in the order; a pair that has less is certainly not decided."""
        return self.confidence

    def _check(self, state: StopState) -> StopDecision:
        if not state.compared.any():
            return NOTHING_TO_COMPARE
        return reached(self._sure(state), self.confidence, f"the confidence in the whole order{self._within()}")

    def progress(self, state: StopState) -> Progress:
        """Return the confidence in the order."""
        return Progress(self.name, self._sure(state) if state.compared.any() else None, self.confidence)

    def _sure(self, state: StopState) -> float:
        return joint_confidence(self._on_pairs(state))

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.confidence)}{self._after_colon()}"
