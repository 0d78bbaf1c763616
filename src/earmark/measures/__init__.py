"""Every measure of the field under one grammar.

Importing this package registers all of them; :func:`~earmark.measures.base.parse` reads one from its name.
"""

from earmark.measures import binary, combined, confusion, curve_areas, graded, incomplete, partial_order
from earmark.measures.base import LinearMeasure, Measure, parse, parse_all, registered

__all__ = [
    "LinearMeasure",
    "Measure",
    "binary",
    "combined",
    "confusion",
    "curve_areas",
    "graded",
    "incomplete",
    "parse",
    "parse_all",
    "partial_order",
    "registered",
]
