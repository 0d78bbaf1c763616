"""How far a predictor and the estimates that rest on it may be trusted, where the truth is known.

What is named here is loaded when it is first used. To diagnose a predictor on a judged collection, all at once, see
:func:`earmark.diagnose_predictor`.
"""

from typing import TYPE_CHECKING

from earmark._lazy import lazily

if TYPE_CHECKING:
    from earmark.diagnose.calibration import accuracy_by_confidence as accuracy_by_confidence
    from earmark.diagnose.calibration import reliability_curve as reliability_curve
    from earmark.diagnose.calibration import sign_agreement as sign_agreement
    from earmark.diagnose.coverage import interval_coverage as interval_coverage
    from earmark.diagnose.decomposition import decompose_score as decompose_score
    from earmark.diagnose.proper_scores import ranked_probability_score as ranked_probability_score
    from earmark.diagnose.proper_scores import summarise_errors as summarise_errors

_HOMES = {
    "earmark.diagnose.calibration": ("accuracy_by_confidence", "reliability_curve", "sign_agreement"),
    "earmark.diagnose.coverage": ("interval_coverage",),
    "earmark.diagnose.decomposition": ("decompose_score",),
    "earmark.diagnose.proper_scores": ("ranked_probability_score", "summarise_errors"),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
