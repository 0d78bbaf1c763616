"""Every measure of the field under one grammar.

Importing this package registers all of them; :func:`~earmark.measures.base.parse` reads one from its name.
"""

from earmark.measures import (
    binary,
    combinations,
    confusion_matrix,
    counts,
    graded,
    incomplete_judgments,
    partial_order,
)
from earmark.measures.base import LinearMeasure, Measure, parse, parse_all, registered

__all__ = [
    "LinearMeasure",
    "Measure",
    "binary",
    "combinations",
    "confusion_matrix",
    "counts",
    "graded",
    "incomplete_judgments",
    "parse",
    "parse_all",
    "partial_order",
    "registered",
]
