"""``order:0.95``: stop when the order of all systems is known; ``order:0.95:0.02``, but for differences of up to .02.

That is one statement about all pairs, so their doubts are added up: with the confidence that is asked for, no two
systems are in the wrong order by more than the margin. ``min:0.95`` asks for as much of every pair alone, and is wrong
about some pair more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from earmark.campaign.stopping.base import DEFAULT_CONFIDENCE, STOP_RULES, StopState
from earmark.campaign.stopping.joint import JointRule


@STOP_RULES.register
@dataclass(frozen=True)
class WholeOrder(JointRule):
    """Stop when no two systems are in the wrong order by more than the margin."""

    name: ClassVar[str] = "order"
    form: ClassVar[str] = "order:0.95"

    confidence: float = DEFAULT_CONFIDENCE

    def statement(self, state: StopState) -> str:
        """Name the order."""
        return f"in the whole order{self._within()}"
