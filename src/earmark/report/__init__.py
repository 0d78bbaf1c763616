"""Reports: results in, one page out that says who is better, how sure that is, and what it rests on.

:func:`gather_findings` gathers what a campaign has to say; :func:`report_html` writes it as one HTML file that needs no
other file and no network, on screen and in print; :func:`write_assets` writes the same tables and figures as files, and
:func:`publish` a folder for a paper.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> findings = gather_findings(earmark.Campaign.build(made.runs, made.judgments, measure="AG@5"))
>>> findings.ranking.sentence()
'system-1 is the best of 3 systems: it is certain to be better than system-3.'
"""

from earmark.report.assessors import Agreement, assessor_agreement, assessor_table
from earmark.report.assets import write_assets
from earmark.report.calibration import Calibration, calibrate
from earmark.report.changes import Changes, changes_of
from earmark.report.findings import Figure, Findings, Reproduction, gather_findings, versions_here
from earmark.report.history import history_html, write_history
from earmark.report.kinds import KindFindings, gather_kind, kind_assets, kind_html, write_kind_report
from earmark.report.page import report_html, write_report
from earmark.report.publication import publish

__all__ = [
    "Agreement",
    "Calibration",
    "Changes",
    "Figure",
    "Findings",
    "KindFindings",
    "Reproduction",
    "assessor_agreement",
    "assessor_table",
    "calibrate",
    "changes_of",
    "gather_findings",
    "gather_kind",
    "history_html",
    "kind_assets",
    "kind_html",
    "publish",
    "report_html",
    "versions_here",
    "write_assets",
    "write_history",
    "write_kind_report",
    "write_report",
]
