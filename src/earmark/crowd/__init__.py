"""Asking many people: benchmarks of preferences, questions and traps, agreement, and answers put together.

What is named here is loaded when it is first used; everything else is in the modules.
"""

from typing import TYPE_CHECKING

from earmark._lazy import lazily

if TYPE_CHECKING:
    from earmark.crowd.aggregation import aggregate_preferences as aggregate_preferences
    from earmark.crowd.agreement import agreement_table as agreement_table
    from earmark.crowd.agreement import random_answering_test as random_answering_test
    from earmark.crowd.bradley_terry import fit_bradley_terry as fit_bradley_terry
    from earmark.crowd.grade_models import aggregate_grades as aggregate_grades
    from earmark.crowd.graded import assessor_errors as assessor_errors
    from earmark.crowd.graded import graded_alpha as graded_alpha
    from earmark.crowd.group_agreement import compare_groups as compare_groups
    from earmark.crowd.krippendorff import krippendorff_alpha as krippendorff_alpha
    from earmark.crowd.partial_orders import groups_from_rankings as groups_from_rankings
    from earmark.crowd.position import position_bias as position_bias
    from earmark.crowd.preference_groups import groups_from_preferences as groups_from_preferences
    from earmark.crowd.results import read_results as read_results
    from earmark.crowd.worker_check import RejectionRule as RejectionRule
    from earmark.crowd.worker_check import check_workers as check_workers
    from earmark.crowd.worker_model import fit_worker_model as fit_worker_model
    from earmark.crowd.workers import answer_times as answer_times
    from earmark.crowd.workers import worker_table as worker_table

_HOMES = {
    "earmark.crowd.aggregation": ("aggregate_preferences",),
    "earmark.crowd.agreement": ("agreement_table", "random_answering_test"),
    "earmark.crowd.bradley_terry": ("fit_bradley_terry",),
    "earmark.crowd.grade_models": ("aggregate_grades",),
    "earmark.crowd.graded": ("assessor_errors", "graded_alpha"),
    "earmark.crowd.group_agreement": ("compare_groups",),
    "earmark.crowd.krippendorff": ("krippendorff_alpha",),
    "earmark.crowd.partial_orders": ("groups_from_rankings",),
    "earmark.crowd.preference_groups": ("groups_from_preferences",),
    "earmark.crowd.position": ("position_bias",),
    "earmark.crowd.results": ("read_results",),
    "earmark.crowd.worker_check": ("RejectionRule", "check_workers"),
    "earmark.crowd.worker_model": ("fit_worker_model",),
    "earmark.crowd.workers": ("answer_times", "worker_table"),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
