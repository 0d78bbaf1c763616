"""When to stop judging: :mod:`~earmark.campaign.stopping.rules` has the rules and what they are written like."""

from earmark.campaign.stopping.base import STOP_RULES, Progress, StopDecision, StopRule, StopState
from earmark.campaign.stopping.rules import (
    Budget,
    DecidedPairs,
    IntervalWidth,
    MeanConfidence,
    MinConfidence,
    Never,
    TopSystems,
    parse_stop,
)

__all__ = [
    "STOP_RULES",
    "Budget",
    "DecidedPairs",
    "IntervalWidth",
    "MeanConfidence",
    "MinConfidence",
    "Never",
    "Progress",
    "StopDecision",
    "StopRule",
    "StopState",
    "TopSystems",
    "parse_stop",
]
