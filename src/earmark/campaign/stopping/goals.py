"""What people want to know, and the stop rule that follows from it; and how rules are read.

==================  ====================================================================================================
goal                question, and stop rule
==================  ====================================================================================================
``best``            which system is the best? ``best:0.95:0.02``
``order``           what is the order of all systems? ``order:0.95:0.02``
``baseline:NAME``   which systems are better than this one, ``baseline:NAME:0.1`` by more than .1?
                    ``baseline:NAME:0.95:0.02``
==================  ====================================================================================================

The margin, a difference of scores that does not matter, keeps two nearly equal systems from taking all judgments there
are. Whatever the goal, a budget ends the campaign when it is used up.
"""

from __future__ import annotations

from collections.abc import Callable

from earmark.campaign.stopping.base import DEFAULT_CONFIDENCE, STOP_RULES, StopRule
from earmark.campaign.stopping.baseline import AgainstBaseline
from earmark.campaign.stopping.best import BestSystem
from earmark.campaign.stopping.either import OR, Either
from earmark.campaign.stopping.order import WholeOrder
from earmark.campaign.stopping.rules import Budget
from earmark.errors import ParameterError
from earmark.registry import read_number

DEFAULT_GOAL = "best"
DEFAULT_MARGIN = 0.02
"""The difference of scores that does not matter, where a goal and no margin is named."""


def _best(argument: str, margin: float) -> StopRule:
    _refuse("best", argument)
    return BestSystem(margin=margin)


def _order(argument: str, margin: float) -> StopRule:
    _refuse("order", argument)
    return WholeOrder(margin=margin)


def _baseline(argument: str, margin: float) -> StopRule:
    name, colon, by = argument.rpartition(":")
    try:
        difference = read_number(by, "baseline:NAME:0.1") if colon else 0.0
    except ParameterError:
        name, difference = "", 0.0
    return AgainstBaseline(name or argument, DEFAULT_CONFIDENCE, difference, margin=margin)


def _refuse(goal: str, argument: str) -> None:
    if argument:
        raise ParameterError(f"the goal {goal} stands alone, got '{goal}:{argument}'")


GOALS: dict[str, Callable[[str, float], StopRule]] = {"best": _best, "order": _order, "baseline": _baseline}
"""The stop rule of every goal, from what follows its name and a margin."""


def rule_for(goal: str, *, margin: float | None = None) -> StopRule:
    """Return the stop rule that follows from what people want to know.

    Parameters
    ----------
    goal : str
        ``best``, ``order``, ``baseline:NAME`` or ``baseline:NAME:0.1``.
    margin : float, optional
        The difference of scores that does not matter; by default :data:`DEFAULT_MARGIN`.

    Examples
    --------
    >>> print(rule_for("best"), rule_for("baseline:old:0.1"))
    best:0.95:0.02 baseline:old:0.95:0.02:0.1
    """
    name, _, argument = (part.strip() for part in goal.partition(":"))
    rule = GOALS.get(name.lower())
    if rule is None:
        raise ParameterError(f"unknown goal '{goal}': expected best, order or baseline:NAME")
    return rule(argument, DEFAULT_MARGIN if margin is None else margin)


def stop_rule(
    stop: str | None = None, *, goal: str = DEFAULT_GOAL, margin: float | None = None, budget: int | None = None
) -> StopRule:
    """Return the stop rule of a campaign: the one that is named, else that of the goal; a budget ends either.

    Parameters
    ----------
    stop : str, optional
        As :func:`parse_stop` reads it.
    goal : str
        As :func:`rule_for` reads it; what counts where no rule is named.
    margin : float, optional
        The difference of scores that does not matter; by default 0 with a rule, :data:`DEFAULT_MARGIN` with a goal.
    budget : int, optional
        How many judgments may be made at most.

    Examples
    --------
    >>> print(stop_rule(budget=300))
    best:0.95:0.02 or budget:300
    """
    rule = rule_for(goal, margin=margin) if stop is None else parse_stop(stop, margin=margin or 0.0)
    return rule if budget is None else Either((rule, Budget(budget)))


def parse_stop(text: str, *, margin: float = 0.0) -> StopRule:
    """Read a stop rule as written on the command line.

    Parameters
    ----------
    text : str
        ``best:0.95``, ``order:0.95``, ``baseline:NAME:0.95``, ``mean:0.95``, ``min:0.95``, ``decided:0.9``, ``top:1``,
        ``width:0.05``, ``budget:500`` or ``none``; several with ``or`` between them. ``best:0.95:0.02`` and
        ``order:0.95:0.02`` state a margin, ``decided:0.9@0.99`` and ``top:1@0.9`` a confidence.
    margin : float
        The difference of scores that does not matter, for rules about pairs; where it is not 0, it counts in place of
        what the rule states.

    Returns
    -------
    StopRule
        ``parse_stop(str(rule), margin=rule.margin_apart) == rule``.

    Examples
    --------
    >>> parse_stop("decided:.9", margin=0.01)
    DecidedPairs(margin=0.01, share=0.9, confidence=0.95)
    >>> print(parse_stop(" Top:3@0.90 "), parse_stop("best:0.95:0.02 or budget:300"), sep="; ")
    top:3@0.9; best:0.95:0.02 or budget:300

    Raises
    ------
    ParameterError
        For an unknown name, with the closest known one and all forms, or a target that makes no sense.
    """
    parts = text.split(OR)
    if len(parts) > 1:
        kinds = [_class_of(part) for part in parts]
        rules = [_parse_one(part, margin if kind.has_margin else 0.0) for part, kind in zip(parts, kinds, strict=True)]
        return Either(tuple(rules))
    return _parse_one(text, margin)


def _class_of(text: str) -> type[StopRule]:
    rule = STOP_RULES.get(text.partition(":")[0].strip())
    if rule is None:
        raise STOP_RULES.unknown(text)
    return rule


def _parse_one(text: str, margin: float) -> StopRule:
    return _class_of(text).from_text(text.partition(":")[2].strip(), margin=margin)
