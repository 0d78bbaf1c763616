"""``best:0.95 or budget:300``: several rules, of which one is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from earmark.campaign.stopping.base import Progress, StopDecision, StopRule, StopState
from earmark.data.arrays import Bools
from earmark.errors import ParameterError

OR = " or "


@dataclass(frozen=True)
class Either(StopRule):
    """Stop when one of several rules says so; the first of them is what the campaign is about."""

    name: ClassVar[str] = "or"
    form: ClassVar[str] = "best:0.95 or budget:300"
    # Each of the rules knows that for itself: a verdict that may not be given leaves the budget as it is.
    rests_on_estimates: ClassVar[bool] = False

    rules: tuple[StopRule, ...]

    @property
    def margin_apart(self) -> float:
        """The margin where the rules are written without it."""
        return max(rule.margin_apart for rule in self.rules)

    @classmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:  # noqa: ARG003
        """Refuse: such a rule is read by :func:`~earmark.campaign.stopping.goals.parse_stop`."""
        raise ParameterError(f"expected a stop rule such as {cls.form}, got '{target}'")

    @property
    def first(self) -> StopRule:
        """The rule that the campaign is about."""
        return self.rules[0]

    @property
    def pair_confidence(self) -> float:
        """That of the first rule."""
        return self.first.pair_confidence

    @property
    def budget(self) -> int | None:
        """The smallest limit that any of them sets."""
        return min((rule.budget for rule in self.rules if rule.budget is not None), default=None)

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs that the first rule is about."""
        return self.first.concerned(state)

    def _check(self, state: StopState) -> StopDecision:
        decisions = [rule.check(state) for rule in self.rules]
        # A limit that is used up ends a campaign for good, whatever else is reached.
        ends = sorted((one for one in decisions if one.stop), key=lambda one: not one.final)
        return ends[0] if ends else decisions[0]

    def progress(self, state: StopState) -> Progress:
        """Return the number that the first rule watches."""
        return self.first.progress(state)

    def __str__(self) -> str:
        return OR.join(map(str, self.rules))
