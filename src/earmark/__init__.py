"""Which of my systems is better, how sure may I be, and what is the least I must ask people to judge.

>>> import earmark
>>> runs = earmark.runs_from_dict({"A": {"q": {"a": 2.0, "b": 1.0}}, "B": {"q": {"b": 2.0, "c": 1.0}}})
>>> judgments = earmark.judgments_from_dict({"q": {"a": 2, "b": 1, "c": 0}})
>>> scores = earmark.evaluate(runs, judgments, ["AG@2", "nDCG@10"])
>>> scores.mean_values.round(3).tolist()
[[0.75, 0.25], [1.0, 0.38]]

What is named here is loaded when it is first used, so that importing earmark costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from earmark._version import __version__

if TYPE_CHECKING:
    from earmark.campaign.standing import Standing, propose, rank, stand
    from earmark.data.collection import Collection, describe
    from earmark.data.conversion import (
        judgments_from_dict,
        judgments_from_frame,
        judgments_from_records,
        judgments_to_dict,
        runs_from_dict,
        runs_from_frame,
        runs_from_records,
        runs_to_dict,
    )
    from earmark.data.ground_truth import Cliques, GroundTruth, OrderedGroups
    from earmark.data.judgments import Judgments
    from earmark.data.metadata import Metadata
    from earmark.data.preference_files import read_preferences, write_preferences
    from earmark.data.preferences import Preferences
    from earmark.data.readers import read_cliques, read_groups, read_judgments, read_metadata, read_runs
    from earmark.data.runs import Runs
    from earmark.data.scales import BINARY, BROAD, FINE, Scale, parse_scale
    from earmark.data.writers import write_judgments, write_runs
    from earmark.errors import EarmarkError, InputError, NotConverged, ParameterError
    from earmark.evaluation import Scores, evaluate
    from earmark.inference.confidence import Ranking
    from earmark.inference.systems import Comparison, compare, correlate
    from earmark.measures import Measure, parse
    from earmark.simulation import SyntheticCollection, synthetic_collection

_HOME = {
    "earmark.campaign.standing": ("Standing", "propose", "rank", "stand"),
    "earmark.data.collection": ("Collection", "describe"),
    "earmark.data.conversion": (
        "judgments_from_dict",
        "judgments_from_frame",
        "judgments_from_records",
        "judgments_to_dict",
        "runs_from_dict",
        "runs_from_frame",
        "runs_from_records",
        "runs_to_dict",
    ),
    "earmark.data.ground_truth": ("Cliques", "GroundTruth", "OrderedGroups"),
    "earmark.data.judgments": ("Judgments",),
    "earmark.data.metadata": ("Metadata",),
    "earmark.data.preference_files": ("read_preferences", "write_preferences"),
    "earmark.data.preferences": ("Preferences",),
    "earmark.data.readers": ("read_cliques", "read_groups", "read_judgments", "read_metadata", "read_runs"),
    "earmark.data.runs": ("Runs",),
    "earmark.data.scales": ("BINARY", "BROAD", "FINE", "Scale", "parse_scale"),
    "earmark.data.writers": ("write_judgments", "write_runs"),
    "earmark.errors": ("EarmarkError", "InputError", "NotConverged", "ParameterError"),
    "earmark.evaluation": ("Scores", "evaluate"),
    "earmark.inference.confidence": ("Ranking",),
    "earmark.inference.systems": ("Comparison", "compare", "correlate"),
    "earmark.measures": ("Measure", "parse"),
    "earmark.simulation": ("SyntheticCollection", "synthetic_collection"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BINARY",
    "BROAD",
    "FINE",
    "Cliques",
    "Collection",
    "Comparison",
    "EarmarkError",
    "GroundTruth",
    "InputError",
    "Judgments",
    "Measure",
    "Metadata",
    "NotConverged",
    "OrderedGroups",
    "ParameterError",
    "Preferences",
    "Ranking",
    "Runs",
    "Scale",
    "Scores",
    "Standing",
    "SyntheticCollection",
    "__version__",
    "compare",
    "correlate",
    "describe",
    "evaluate",
    "judgments_from_dict",
    "judgments_from_frame",
    "judgments_from_records",
    "judgments_to_dict",
    "parse",
    "parse_scale",
    "propose",
    "rank",
    "read_cliques",
    "read_groups",
    "read_judgments",
    "read_metadata",
    "read_preferences",
    "read_runs",
    "runs_from_dict",
    "runs_from_frame",
    "runs_from_records",
    "runs_to_dict",
    "stand",
    "synthetic_collection",
    "write_judgments",
    "write_preferences",
    "write_runs",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'earmark' has no attribute '{name}'")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
