"""One HTML file: the verdict first, then ranking, pairwise comparisons, effort, method, and how to reproduce it.

What is said and how it looks is in the templates of :mod:`earmark.pages`; here it is only gathered.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from earmark.campaign.forecast import EVEN, LIKELY
from earmark.campaign.statements import how_many, say_verdict, tallies
from earmark.inference.confidence import Ranking
from earmark.pages import render, write_page
from earmark.plots.style import svg_text
from earmark.report.assessors import most_and_least_generous
from earmark.report.assets import draw
from earmark.report.findings import Findings

_LABELS = {
    "ranking": "The estimate of every system with its interval",
    "pairs": "How sure it is that the system of a row is better than that of a column, in percent",
    "forecast": "How many more judgments open pairs take, for an even chance of a decision and for nine chances in ten",
    "calibration": "Judged gains against those that the model predicts",
    "assessors": "How far every assessor is from the others",
}
# A matrix of two systems says nothing new, and nobody can read one of very many.
_IN_MATRIX = range(3, 61)


def report_html(findings: Findings) -> str:
    """Write a report.

    Parameters
    ----------
    findings : Findings
        What there is to say.

    Returns
    -------
    str
        A whole page that needs no other file; the same findings always give the same text.

    Raises
    ------
    MissingLibraryError
        Where matplotlib, which draws the figures, or Jinja2, which renders the page, is not installed.
    """
    ranking, forecast, agreement = findings.ranking, findings.forecast, findings.agreement
    drawn = draw(findings, matrix=len(ranking.estimates.systems) in _IN_MATRIX)
    pairs = ranking.comparisons_frame()
    assessors = [] if findings.assessors is None else findings.assessors.to_dicts()
    return render(
        "report.html",
        findings=findings,
        said=say_verdict(ranking, forecast),
        how_many=how_many,
        even=EVEN,
        likely=LIKELY,
        systems=ranking.systems_frame().to_dicts(),
        tallies=tallies(ranking),
        exact=bool((ranking.low == ranking.high).all()),
        **lasting_rows(findings.lasting),
        pairs=pairs.sort("confidence", maintain_order=True).to_dicts(),
        open_pairs=forecast.pairs if forecast is not None and any(one.left for one in forecast.pairs) else (),
        assessors=assessors,
        judgments=sum(row["judgments"] for row in assessors),
        generous_and_strict=most_and_least_generous(assessors),
        assessor_pairs=[] if agreement is None else agreement.errors.pairs.to_dicts(),
        references=references(),
        pictures={name: svg_text(axes, prefix=name, label=_LABELS[name]) for name, axes in drawn.items()},
    )


def lasting_rows(ranking: Ranking | None) -> dict[str, dict[Any, dict[str, Any]]]:
    """Return intervals that hold however often one looks, by system and by pair; empty where there are none."""
    if ranking is None:
        return {"lasting_systems": {}, "lasting_pairs": {}}
    return {
        "lasting_systems": {row["system"]: row for row in ranking.systems_frame().to_dicts()},
        "lasting_pairs": {(row["a"], row["b"]): row for row in ranking.comparisons_frame().to_dicts()},
    }


def write_report(findings: Findings, path: Path) -> None:
    """Write a report to a file, all of it or nothing."""
    write_page(report_html(findings), path)


@cache
def references() -> dict[str, str]:
    """Return where the methods that reports name come from, by key."""
    return tomllib.loads(files("earmark.report").joinpath("references.toml").read_text(encoding="utf-8"))
