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

from typing import TYPE_CHECKING

from earmark._lazy import lazily
from earmark._version import __version__

if TYPE_CHECKING:
    from earmark import crowd as crowd
    from earmark import diagnose as diagnose
    from earmark import plots as plots
    from earmark import report as report
    from earmark import simulation as simulation
    from earmark.campaign.campaign import Campaign, step
    from earmark.campaign.evidence import Answers
    from earmark.campaign.forecast import Forecast
    from earmark.campaign.plan import Plan
    from earmark.campaign.problem import Problem
    from earmark.campaign.verdict import Inference, Verdict
    from earmark.data.collection import Collection, describe
    from earmark.data.content import Content, read_content
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
    from earmark.data.examples import example_path
    from earmark.data.ground_truth import Cliques, GroundTruth, OrderedGroups
    from earmark.data.judgments import Judgments
    from earmark.data.log import AnswerLog
    from earmark.data.matrices import Matrix, read_matrix, runs_from_matrices
    from earmark.data.metadata import Metadata
    from earmark.data.preference_files import read_preferences, write_preferences
    from earmark.data.preferences import Preferences
    from earmark.data.readers import read_cliques, read_groups, read_judgments, read_metadata, read_runs
    from earmark.data.runs import Runs
    from earmark.data.scales import BINARY, BROAD, FINE, Scale, parse_scale
    from earmark.data.writers import write_judgments, write_questions, write_runs
    from earmark.errors import ClusterError, EarmarkError, InputError, NotConverged, ParameterError, StoreError
    from earmark.evaluation import Scores, curves, evaluate
    from earmark.file_evaluation import evaluate_files
    from earmark.inference.baseline import BaselineCheck, check_ranking, compare_with_baseline
    from earmark.inference.comparison import Comparison, compare, correlate
    from earmark.inference.confidence import Ranking
    from earmark.measures import Measure, parse
    from earmark.measures.audition import audition, read_prototypes
    from earmark.shortcuts import diagnose_predictor, plan, propose, rank, simulate_campaigns
    from earmark.simulation.campaigns import Simulation
    from earmark.simulation.synthetic import SyntheticCollection, synthetic_collection
    from earmark.store.stored import StoredCampaign, open_campaign

_HOME = {
    "earmark.campaign.verdict": ("Inference", "Verdict"),
    "earmark.campaign.campaign": ("Campaign", "step"),
    "earmark.campaign.evidence": ("Answers",),
    "earmark.campaign.forecast": ("Forecast",),
    "earmark.campaign.plan": ("Plan",),
    "earmark.campaign.problem": ("Problem",),
    "earmark.data.collection": ("Collection", "describe"),
    "earmark.data.content": ("Content", "read_content"),
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
    "earmark.data.examples": ("example_path",),
    "earmark.data.ground_truth": ("Cliques", "GroundTruth", "OrderedGroups"),
    "earmark.data.judgments": ("Judgments",),
    "earmark.data.log": ("AnswerLog",),
    "earmark.data.matrices": ("Matrix", "read_matrix", "runs_from_matrices"),
    "earmark.data.metadata": ("Metadata",),
    "earmark.data.preference_files": ("read_preferences", "write_preferences"),
    "earmark.data.preferences": ("Preferences",),
    "earmark.data.readers": ("read_cliques", "read_groups", "read_judgments", "read_metadata", "read_runs"),
    "earmark.data.runs": ("Runs",),
    "earmark.data.scales": ("BINARY", "BROAD", "FINE", "Scale", "parse_scale"),
    "earmark.data.writers": ("write_judgments", "write_questions", "write_runs"),
    "earmark.errors": ("ClusterError", "EarmarkError", "InputError", "NotConverged", "ParameterError", "StoreError"),
    "earmark.evaluation": ("Scores", "curves", "evaluate"),
    "earmark.file_evaluation": ("evaluate_files",),
    "earmark.inference.baseline": ("BaselineCheck", "check_ranking", "compare_with_baseline"),
    "earmark.inference.confidence": ("Ranking",),
    "earmark.inference.comparison": ("Comparison", "compare", "correlate"),
    "earmark.measures": ("Measure", "parse"),
    "earmark.measures.audition": ("audition", "read_prototypes"),
    "earmark.shortcuts": ("diagnose_predictor", "plan", "propose", "rank", "simulate_campaigns"),
    "earmark.simulation.campaigns": ("Simulation",),
    "earmark.simulation.synthetic": ("SyntheticCollection", "synthetic_collection"),
    "earmark.store.stored": ("StoredCampaign", "open_campaign"),
}
_SUBMODULES = ("crowd", "diagnose", "plots", "report", "simulation")

__all__ = [
    "BINARY",
    "BROAD",
    "FINE",
    "AnswerLog",
    "Answers",
    "BaselineCheck",
    "Campaign",
    "Cliques",
    "ClusterError",
    "Collection",
    "Comparison",
    "Content",
    "EarmarkError",
    "Forecast",
    "GroundTruth",
    "Inference",
    "InputError",
    "Judgments",
    "Matrix",
    "Measure",
    "Metadata",
    "NotConverged",
    "OrderedGroups",
    "ParameterError",
    "Plan",
    "Preferences",
    "Problem",
    "Ranking",
    "Runs",
    "Scale",
    "Scores",
    "Simulation",
    "StoreError",
    "StoredCampaign",
    "SyntheticCollection",
    "Verdict",
    "__version__",
    "audition",
    "check_ranking",
    "compare",
    "compare_with_baseline",
    "correlate",
    "curves",
    "describe",
    "diagnose_predictor",
    "evaluate",
    "evaluate_files",
    "example_path",
    "judgments_from_dict",
    "judgments_from_frame",
    "judgments_from_records",
    "judgments_to_dict",
    "open_campaign",
    "parse",
    "parse_scale",
    "plan",
    "propose",
    "rank",
    "read_cliques",
    "read_content",
    "read_groups",
    "read_judgments",
    "read_matrix",
    "read_metadata",
    "read_preferences",
    "read_prototypes",
    "read_runs",
    "runs_from_dict",
    "runs_from_frame",
    "runs_from_matrices",
    "runs_from_records",
    "runs_to_dict",
    "simulate_campaigns",
    "step",
    "synthetic_collection",
    "write_judgments",
    "write_preferences",
    "write_questions",
    "write_runs",
]


__getattr__, __dir__ = lazily(__name__, _HOME, submodules=_SUBMODULES)
