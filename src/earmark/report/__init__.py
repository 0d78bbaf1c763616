"""Reports: results in, one page out that says who is better, how sure that is, and what it rests on.

:func:`find` puts together what there is to say; :func:`report_html` writes it as one HTML file that needs no other
file and no network, on screen and in print; :func:`write_assets` writes the same tables and figures for a paper.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> findings = find(earmark.stand(made.runs, made.judgments, measure="AG@5"))
>>> say_verdict(findings.ranking).headline
'system-1 is the best of 3 systems: it is certain to be better than system-3.'
"""

from earmark.report.assessors import Agreement, assessor_agreement, assessor_table
from earmark.report.assets import write_assets
from earmark.report.calibration import Calibration, calibrate
from earmark.report.findings import Figure, Findings, Reproduction, find, versions_here
from earmark.report.page import report_html, write_report
from earmark.report.words import Said, say_verdict

__all__ = [
    "Agreement",
    "Calibration",
    "Figure",
    "Findings",
    "Reproduction",
    "Said",
    "assessor_agreement",
    "assessor_table",
    "calibrate",
    "find",
    "report_html",
    "say_verdict",
    "versions_here",
    "write_assets",
    "write_report",
]
