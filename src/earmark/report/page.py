"""One HTML file: the verdict first, then the ranking, the pairs, what it rests on, and how to get it again.

The page holds its own style and figures and asks the network for nothing. It formats numbers and computes none.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from earmark._version import __version__
from earmark.data.tables import replacing
from earmark.inference.words import headline, percent
from earmark.plots.ranking import pairs_data, plot_pairs, plot_ranking, ranking_data
from earmark.plots.style import svg_text
from earmark.report.findings import Findings
from earmark.report.markup import figure, folded, number, paragraph, section, signed, table, whole
from earmark.report.sections import (
    assessors_section,
    basis_section,
    calibration_section,
    figure_sections,
    methods_section,
    outlook_section,
    reproduction_section,
)
from earmark.report.words import Tally, say_verdict, tallies
from earmark.wording import counted

# So many rows fit under a figure.
_FEW_SENTENCES = 8
_MOST_IN_MATRIX = 60
_OVERLAP = (
    "Intervals of two systems may overlap though it is sure which is better: what both retrieved, and whatever makes "
    "all scores higher or lower together, does not part them. Compare systems by their differences, further down."
)
_EXACT = "All that counts is judged: these are the scores themselves, without intervals."


def report_html(findings: Findings) -> str:
    """Write a report.

    Parameters
    ----------
    findings : Findings
        What there is to say.

    Returns
    -------
    str
        A whole page; the same findings always give the same text.

    Raises
    ------
    EarmarkError
        Where matplotlib, which draws the figures, is not installed.
    """
    estimates = findings.ranking.estimates
    title = f"{counted(len(estimates.systems), 'system')} compared by {estimates.measure}"
    body = [
        _verdict(findings, title),
        _ranking(findings),
        outlook_section(findings),
        _pairs(findings),
        *figure_sections(findings),
        basis_section(findings),
        calibration_section(findings),
        assessors_section(findings),
        methods_section(findings),
        reproduction_section(findings.reproduction),
    ]
    template = Template(files("earmark.report").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        version=escape(__version__),
        title=escape(title),
        description=escape(headline(findings.ranking)),
        body="\n".join(part for part in body if part),
    )


def write_report(findings: Findings, path: Path) -> None:
    """Write a report to a file, all of it or nothing."""
    text = report_html(findings)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _verdict(findings: Findings, title: str) -> str:
    ranking = findings.ranking
    estimates, said = ranking.estimates, say_verdict(ranking, findings.outlook)
    about = f"{findings.inference.about}, {findings.verdict.basis}"
    facts = [
        ("systems", f"{len(estimates.systems):,}"),
        ("queries", f"{estimates.queries:,}"),
        ("items judged", f"{estimates.judged:,} <small>of {estimates.items:,}</small>"),
    ]
    if ranking.mean_confidence is not None and ranking.min_confidence is not None:
        facts.append(("mean confidence", f"{percent(ranking.mean_confidence)}%"))
        facts.append(("least confidence", f"{percent(ranking.min_confidence)}%"))
    shown = said.neighbours[:_FEW_SENTENCES]
    rest = len(said.neighbours) - len(shown)
    items = "".join(f'<li class="{one.kind}">{whole(one.text, estimates.systems)}</li>' for one in shown)
    more = f'<p class="note">And {rest:,} more, further down the ranking: see the pairs below.</p>' if rest else ""
    return "".join(
        [
            f'<header><p class="kicker">{escape(title)}</p><h1>{whole(said.headline, estimates.systems)}</h1>',
            paragraph(said.summary, kind="lead") if said.summary else "",
            paragraph(said.ahead, kind="lead") if said.ahead else "",
            f'<p class="note">About {escape(about)}.</p></header>',
            '<dl class="facts">',
            *(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts),
            "</dl>",
            "<h3>From one place to the next</h3>" if shown else "",
            f'<ul class="said">{items}</ul>{more}' if shown else "",
        ]
    )


def _ranking(findings: Findings) -> str:
    ranking = findings.ranking
    measure, data, tally = ranking.estimates.measure, ranking_data(ranking), tallies(ranking)
    level = f"{100 * ranking.level:g}%"
    drawn = svg_text(
        plot_ranking(ranking), prefix="ranking", label=f"{measure} of every system with its {level} interval"
    )
    rows = [
        (str(place), name, number(estimate), f"{number(low)} to {number(high)}", *_counts(tally[name]))
        for name, place, estimate, low, high, _ in data.iter_rows()
    ]
    direction = "" if measure.higher_is_better else ", lower is better"
    decided = (("better than", "n"), ("open with", "n"), ("worse than", "n"))
    columns = [("#", "n"), ("system", "s"), (f"{measure}{direction}", "n"), (f"{level} interval", "n"), *decided]
    told = _OVERLAP if ranking.compared.any() else ""
    if (ranking.low == ranking.high).all():
        told = _EXACT
    return section("Ranking", paragraph(told) if told else "", figure(drawn), table(columns, rows))


def _pairs(findings: Findings) -> str:
    ranking = findings.ranking
    if not ranking.compared.any():
        return ""
    drawn, told = "", "The least sure pairs come first."
    if 2 < len(ranking.estimates.systems) <= _MOST_IN_MATRIX:
        told = "How sure it is that the system of a row is better than that of a column."
        label = "How sure it is that the system of a row is better than that of a column, in percent"
        drawn = figure(svg_text(plot_pairs(ranking), prefix="pairs", label=label))
    verdicts = {frozenset((row, column)): decided for row, column, _, decided in pairs_data(ranking).iter_rows()}
    frame = ranking.pairs_frame().drop("kind").sort("confidence", maintain_order=True)
    rows = []
    for a, b, difference, low, high, confidence in frame.iter_rows():
        word = "decided" if verdicts[frozenset((a, b))] else "open"
        rows.append((a, b, signed(difference), f"{signed(low)} to {signed(high)}", f"{percent(confidence)}%", word))
    level = f"{100 * ranking.level:g}%"
    columns = [("a", "s"), ("b", "s"), ("a − b", "n"), (f"{level} interval", "n"), ("confidence", "n"), ("", "n")]
    told += f" From {level} confidence on a pair counts as decided."
    listed = folded(columns, rows, what=f"All {len(rows):,} pairs, the least sure first")
    return section("Every two systems", paragraph(told), drawn, listed)


def _counts(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.better:,}", f"{tally.open:,}", f"{tally.worse:,}"
