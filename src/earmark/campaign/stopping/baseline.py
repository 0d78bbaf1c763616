r"""``baseline:NAME:0.95``: stop when it is known of every other system whether it is better than one that is named.

``baseline:NAME:0.95:0.02`` allows for a margin, and ``baseline:NAME:0.95:0.02:0.1`` asks whether it is better *by more
than .1*. With the difference :math:`\Delta` of a system to the baseline, the difference that is asked for d and the
margin m, the question is settled when :math:`\max(P(\Delta > d - m), P(\Delta < d + m))` is high enough; doubts about
several systems are added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earmark.beliefs.estimates import all_pairs
from earmark.campaign.stopping.base import DEFAULT_CONFIDENCE, STOP_RULES, StopRule, StopState
from earmark.campaign.stopping.joint import JointRule
from earmark.data.arrays import Bools, Floats
from earmark.errors import ParameterError
from earmark.registry import read_number, show_number, suggest


@STOP_RULES.register
@dataclass(frozen=True)
class AgainstBaseline(JointRule):
    """Stop when it is known which systems are better than a baseline by more than a difference."""

    name: ClassVar[str] = "baseline"
    form: ClassVar[str] = "baseline:NAME:0.95"

    baseline: str
    confidence: float = DEFAULT_CONFIDENCE
    by: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.baseline:
            raise ParameterError(f"'{self}': the baseline has no name, expected one as in {self.form}")
        if not np.isfinite(self.by):
            raise ParameterError(f"'{self}': the difference to a baseline is a finite number, got {self.by:g}")

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read a name, a confidence, a margin and a difference; a confidence has to follow a name with colons."""
        name, numbers = target, list[float]()
        while len(numbers) < 3 and ":" in name:
            rest, _, last = name.rpartition(":")
            try:
                numbers.insert(0, read_number(last, cls.form))
            except ParameterError:
                break
            name = rest
        confidence, own, by = [*numbers, *(DEFAULT_CONFIDENCE, 0.0, 0.0)[len(numbers) :]]
        return cls(name, confidence, by, margin=margin or own)

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs of the baseline with the others."""
        a, b = all_pairs(state.rank.size)
        at = self._place(state)
        pairs: Bools = ((a == at) | (b == at)) & state.compared
        return pairs

    def _place(self, state: StopState) -> int:
        if self.baseline not in state.systems:
            close = suggest(self.baseline, state.systems)
            hint = f": did you mean '{close}'?" if close else ""
            raise ParameterError(f"there is no system '{self.baseline}' to be the baseline{hint}")
        return state.systems.index(self.baseline)

    def confidences(self, state: StopState) -> Floats:
        """Return how sure the answer is for every other system."""
        pairs = self.concerned(state)
        first = all_pairs(state.rank.size)[1][pairs] == self._place(state)

        def beyond(difference: float) -> Floats:
            # Where the baseline comes first, the system is better by d if the baseline is not better by -d.
            return np.where(first, state.better_by(difference)[pairs], 1.0 - state.better_by(-difference)[pairs])

        return np.maximum(beyond(self.by - self.margin), 1.0 - beyond(self.by + self.margin))

    def statement(self, state: StopState) -> str:
        """Name what is asked about the baseline."""
        by = f" by more than {self.by:g}" if self.by else ""
        return f"in which systems are better than '{self.baseline}'{by}{self._within()}"

    def __str__(self) -> str:
        # The difference stands behind the margin, even where that is 0.
        by = f":{show_number(self.margin)}:{show_number(self.by)}" if self.by else self._after_colon()
        return f"{self.name}:{self.baseline}:{show_number(self.confidence)}{by}"
