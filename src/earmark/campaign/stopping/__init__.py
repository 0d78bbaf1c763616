"""When to stop judging: rules by name (:mod:`~earmark.campaign.stopping.rules`), and rules that follow from a goal."""

from earmark.campaign.stopping.base import STOP_RULES, Progress, StopDecision, StopRule, StopState
from earmark.campaign.stopping.baseline import AgainstBaseline
from earmark.campaign.stopping.best import BestSystem
from earmark.campaign.stopping.either import Either
from earmark.campaign.stopping.goals import DEFAULT_GOAL, DEFAULT_MARGIN, GOALS, parse_stop, rule_for, stop_rule
from earmark.campaign.stopping.looks import LOOKS_APART, confirmed
from earmark.campaign.stopping.order import WholeOrder
from earmark.campaign.stopping.rules import (
    Budget,
    DecidedPairs,
    IntervalWidth,
    MeanConfidence,
    MinConfidence,
    Never,
    TopSystems,
)

__all__ = [
    "DEFAULT_GOAL",
    "DEFAULT_MARGIN",
    "GOALS",
    "LOOKS_APART",
    "STOP_RULES",
    "AgainstBaseline",
    "BestSystem",
    "Budget",
    "DecidedPairs",
    "Either",
    "IntervalWidth",
    "MeanConfidence",
    "MinConfidence",
    "Never",
    "Progress",
    "StopDecision",
    "StopRule",
    "StopState",
    "TopSystems",
    "WholeOrder",
    "confirmed",
    "parse_stop",
    "rule_for",
    "stop_rule",
]
