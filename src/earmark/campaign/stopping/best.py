"""``best:0.95``: stop when the best system is known; ``best:0.95:0.02``, or one that is at most .02 below it.

That is one statement about several pairs, the system called best with each of the others, so their doubts are added up.
With a margin, systems that are nearly as good need not be told apart: what has to be sure is that the system called
best is worse than none by more than the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earmark.campaign.stopping.base import DEFAULT_CONFIDENCE, STOP_RULES, StopState, across_top
from earmark.campaign.stopping.joint import JointRule
from earmark.data.arrays import Bools


@STOP_RULES.register
@dataclass(frozen=True)
class BestSystem(JointRule):
    """Stop when the system called best is surely the best, or worse than none by more than the margin."""

    name: ClassVar[str] = "best"
    form: ClassVar[str] = "best:0.95"

    confidence: float = DEFAULT_CONFIDENCE

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs of the system called best with the others."""
        return across_top(state, 1)

    def statement(self, state: StopState) -> str:
        """Name the best system."""
        first = state.name_of(int(np.argmin(state.rank)))
        return f"that {first} is {f'at most {self.margin:g} below the best' if self.margin else 'the best system'}"
