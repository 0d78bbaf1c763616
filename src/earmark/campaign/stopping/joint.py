"""Rules about one statement on several pairs of systems, such as which is the best: doubts about pairs are added up."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from earmark.campaign.stopping.base import (
    NOTHING_TO_COMPARE,
    Progress,
    StopDecision,
    StopRule,
    StopState,
    check_confidence,
    joint_confidence,
    reached,
    split_margin,
)
from earmark.data.arrays import Floats
from earmark.registry import read_number, show_number


class JointRule(StopRule):
    """Stop when a statement about several pairs is sure; a rule says which pairs, and what the statement is."""

    has_margin: ClassVar[bool] = True
    states_margin: ClassVar[bool] = True

    confidence: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_confidence(self.confidence, str(self))

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a confidence, and a margin after another colon."""
        confidence, margin = split_margin(target, cls.form, margin)
        return cls(confidence=read_number(confidence, cls.form), margin=margin)  # type: ignore[call-arg]

    @property
    def pair_confidence(self) -> float:
        """The confidence in the statement; a pair that has less is certainly not decided."""
        return self.confidence

    def confidences(self, state: StopState) -> Floats:
        """Return how sure every part of the statement is; by default each of the pairs that it is about."""
        return state.confidence_within(self.margin)[self.concerned(state)]

    @abstractmethod
    def statement(self, state: StopState) -> str:
        """Return what is to be sure, after *the confidence*."""

    def _check(self, state: StopState) -> StopDecision:
        if not self.concerned(state).any():
            return NOTHING_TO_COMPARE
        sure = joint_confidence(self.confidences(state))
        return reached(sure, self.confidence, f"the confidence {self.statement(state)}")

    def progress(self, state: StopState) -> Progress:
        """Return the confidence in the statement."""
        sure = joint_confidence(self.confidences(state)) if self.concerned(state).any() else None
        return Progress(self.name, sure, self.confidence)

    def __str__(self) -> str:
        return f"{self.name}:{show_number(self.confidence)}{self._after_colon()}"
