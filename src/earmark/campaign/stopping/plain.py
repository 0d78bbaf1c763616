"""Stop rules for campaigns that end in intervals and not in the confidence of a model: a budget, a width, or none.

Rankings of documents by experts and comparisons of two result lists have no model that says how likely one system is
better than another. Of all stop rules, these three make sense for them:

==================  ====================================================================================================
``budget:200``      200 answers were given
``width:0.2``       no interval that the campaign is about is wider than .2
``none``            never
==================  ====================================================================================================

As with all rules, having an answer to everything always stops.
"""

from __future__ import annotations

from dataclasses import dataclass

from earmark.campaign.stopping.base import Progress, StopDecision, StopRule
from earmark.campaign.stopping.goals import parse_stop
from earmark.campaign.stopping.rules import Budget, IntervalWidth, Never
from earmark.errors import ParameterError

PLAIN_RULES = (IntervalWidth, Budget, Never)
"""The stop rules that need no model."""


@dataclass(frozen=True)
class PlainState:
    """What these rules look at.

    Parameters
    ----------
    answers : int
        How many answers were given.
    judged, items : int
        How many questions have all their answers, of how many.
    width : float, 0 or more
        Of the widest interval that counts; as wide as the range where nothing is known.
    what : str
        What that interval is, in words: ``the widest interval of a pair``.
    """

    answers: int
    judged: int
    items: int
    width: float
    what: str

    def __post_init__(self) -> None:
        if not self.width >= 0:
            raise ParameterError(f"expected an interval of width 0 or more, got {self.width:g}")
        if not 0 <= self.judged <= self.items:
            raise ParameterError(f"expected 0 to {self.items} judged questions, got {self.judged}")


def parse_plain_stop(text: str, *, kind: str) -> StopRule:
    """Read a stop rule of a campaign that ends in intervals.

    Parameters
    ----------
    text : str
        ``width:0.2``, ``budget:200`` or ``none``.
    kind : str
        Of the campaign, for the message.

    Raises
    ------
    ParameterError
        If it is no stop rule, or none of these.

    Examples
    --------
    >>> parse_plain_stop("budget:200", kind="lists")
    Budget(margin=0.0, judgments=200)
    """
    rule = parse_stop(text)
    if not isinstance(rule, PLAIN_RULES):
        raise ParameterError(
            f"a campaign of kind {kind} stops by width:0.2, budget:200 (answers) or none, not by {rule}"
        )
    return rule


def check_plain(rule: StopRule, state: PlainState) -> StopDecision:
    """Decide whether to stop."""
    if state.judged == state.items:
        return StopDecision(True, "every question is answered")
    if isinstance(rule, Budget):
        return rule.check_count(state.answers, "answers")
    if isinstance(rule, IntervalWidth):
        return rule.check_width(state.width, state.what)
    if isinstance(rule, Never):
        return StopDecision(False, "no stop rule: judging goes on until every question is answered")
    raise ParameterError(f"expected a width, a budget or none as stop rule, got {rule}")


def plain_progress(rule: StopRule, state: PlainState) -> Progress:
    """Return the number that a rule watches, beside its target."""
    if isinstance(rule, Budget):
        return Progress(rule.name, state.answers, rule.judgments)
    if isinstance(rule, IntervalWidth):
        return Progress(rule.name, state.width, rule.width, rising=False)
    return Progress(rule.name, state.judged, state.items)
