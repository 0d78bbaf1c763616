"""How work is given out and when answers count, as the settings of a campaign say it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from earmark.crowd.worker_check import RejectionRule
from earmark.data.scales import BROAD, Scale, parse_scale
from earmark.errors import ParameterError
from earmark.wording import listed

if TYPE_CHECKING:
    from earmark.store.settings import Settings

QuestionKind = Literal["grade", "prefer", "order", "lists"]
TrapSource = Literal["agreed", "self", "list"]

MINUTE = 60_000_000
"""In microseconds."""
DAY = 24 * 60 * MINUTE

# Choices as numbers, so that agreement means the same for grades and for preferences.
# Of two lists, both may be equally good (same) or equally bad (neither).
CHOICES = {"a": 1.0, "same": 0.0, "neither": 0.0, "b": -1.0}


@dataclass(frozen=True)
class Rules:
    """How work is given out and when answers count.

    Parameters
    ----------
    kind : {"grade", "prefer", "order", "lists"}
        What assessors are asked.
    scale : Scale
        What grades are given on.
    judgments_per_item : int
        How many assessors answer a question.
    more_on_disagreement : int
        How many more answer it where the first ones disagree.
    disagreement : float, 0..1
        Answers disagree when their range is larger than this share of the top gain.
    group_by_query : bool
        Prefer questions about the query that an assessor heard last.
    answers_per_assessor : int, optional
        After so many answers an assessor gets no more questions.
    lease, package_lease : int
        How long a question stays out, in the browser and in a file, in microseconds.
    unplayable_after : int
        So many assessors have to report that a document does not play before it leaves the collection.
    trap_every : int
        One question in so many is a trap; 0 for none.
    trap_sources : tuple of {"agreed", "self", "list"}
        Where traps come from.
    agreed_by : int
        So many answers have to agree before a question may serve as a trap.
    tolerance : float, 0..1
        A grade is right if it differs from the expected one by no more than this share of the top gain.
    rejection : RejectionRule
        When an assessor is rejected.
    allow_same : bool
        Whether a preference may be that both documents fit equally well; two lists may always be equally good or bad.
    """

    kind: QuestionKind = "grade"
    scale: Scale = BROAD
    judgments_per_item: int = 1
    more_on_disagreement: int = 2
    disagreement: float = 0.5
    group_by_query: bool = False
    answers_per_assessor: int | None = None
    lease: int = 10 * MINUTE
    package_lease: int = 14 * DAY
    unplayable_after: int = 2
    trap_every: int = 6
    trap_sources: tuple[TrapSource, ...] = ("agreed", "list")
    agreed_by: int = 2
    tolerance: float = 0.25
    rejection: RejectionRule = field(default_factory=RejectionRule)
    allow_same: bool = True

    @classmethod
    def from_settings(cls, settings: Settings) -> Rules:
        """Return the rules that the settings of a campaign state."""
        judging, traps = settings.judging, settings.traps
        return cls(
            kind=settings.kind,
            scale=BROAD if judging.scale is None else parse_scale(judging.scale),
            judgments_per_item=judging.judgments_per_item,
            more_on_disagreement=judging.more_on_disagreement,
            disagreement=judging.disagreement,
            group_by_query=judging.group_by_query,
            answers_per_assessor=judging.answers_per_assessor,
            lease=round(judging.lease_minutes * MINUTE),
            package_lease=round(judging.package_days * DAY),
            unplayable_after=judging.unplayable_after,
            trap_every=round(1 / traps.rate) if traps.rate else 0,
            trap_sources=traps.sources,  # type: ignore[arg-type]
            agreed_by=traps.agreed_by,
            tolerance=traps.tolerance,
            rejection=RejectionRule(traps.reject_after, traps.reject_below),
            allow_same=judging.allow_same,
        )

    @property
    def top(self) -> float:
        """The largest number that an answer can be."""
        return self.scale.top if self.kind == "grade" else 1.0

    def value_of(self, gain: float | None, choice: str | None) -> float:
        """Return an answer as a number, where the first document comes first.

        Raises
        ------
        ParameterError
            If it is no answer to a question of this kind.
        """
        if self.kind == "order":
            _read_order(choice)
            return 0.0
        if self.kind == "grade":
            if gain is None or choice is not None or not self.scale.contains(np.array([gain], dtype=np.float64)).all():
                got = "nothing" if gain is None else f"{gain:g}"
                raise ParameterError(f"expected a gain on the scale {self.scale}, got {got}")
            return float(gain)
        same = ["same", "neither"] if self.kind == "lists" else ["same"] if self.allow_same else []
        allowed = ["a", "b", *same]
        if gain is not None or choice not in allowed:
            got = str(gain) if gain is not None else "nothing" if choice is None else f"'{choice}'"
            raise ParameterError(f"expected {listed(allowed, 'or')} as choice, got {got}")
        return CHOICES[choice]

    def wanted(self, answers: int, low: float | None, high: float | None) -> int:
        """Return how many answers a question should have, given how many it has and their range."""
        if answers < self.judgments_per_item or low is None or high is None:
            return self.judgments_per_item
        if high - low <= self.disagreement * self.top:
            return self.judgments_per_item
        return min(self.judgments_per_item + self.more_on_disagreement, answers + 1)

    def agreed(self, answers: int, low: float | None, high: float | None) -> bool:
        """Tell whether answers agree so well that others can be checked by them."""
        if (
            self.kind == "order"
            or "agreed" not in self.trap_sources
            or answers < max(self.agreed_by, 1)
            or low is None
            or high is None
        ):
            return False
        if self.kind == "grade":
            return high - low <= self.tolerance * self.top
        return low == high != 0

    def is_right(self, value: float, expected: str) -> bool:
        """Tell whether the answer to a trap is the expected one."""
        if self.kind == "grade":
            return abs(value - float(expected)) <= self.tolerance * self.top + 1e-9
        return value == CHOICES.get(expected)

    def expected_text(self, mean: float) -> str:
        """Return the expected answer of a trap as the log keeps it."""
        return f"{mean:g}" if self.kind == "grade" else ("a" if mean > 0 else "b")


def _read_order(choice: str | None) -> None:
    """Refuse what is no ranking: ``{"order": [documents, the best first], "cut": how many of them are similar}``."""
    try:
        said = json.loads(choice or "")
        order, cut = said["order"], said["cut"]
        fine = len(set(order)) == len(order) and all(isinstance(one, str) for one in order) and 0 <= cut <= len(order)
    except (ValueError, TypeError, KeyError):
        fine = False
    if not fine:
        raise ParameterError('expected a ranking such as {"order": ["d1", "d2"], "cut": 1} as choice')
