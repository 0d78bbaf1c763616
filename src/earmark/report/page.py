"""One HTML file: the verdict first, then the ranking, the pairs, what it rests on, and how to get it again.

The page holds its own style and figures and asks the network for nothing. It formats numbers and computes none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from earmark._version import __version__
from earmark.data.phrases import counted
from earmark.data.tables import replacing
from earmark.plots.ranking import pairs_data, percent, plot_pairs, plot_ranking, ranking_data
from earmark.plots.style import svg_text
from earmark.report.findings import Agreement, Findings, Reproduction
from earmark.report.methods import methods
from earmark.report.references import REFERENCES
from earmark.report.words import Tally, say_verdict, tallies

# So many rows fit under a figure; longer tables are folded.
_FEW_PAIRS = 15
_FEW_SENTENCES = 8
_MOST_IN_MATRIX = 60
_OVERLAP = (
    "Intervals of two systems may overlap though it is sure which is better: what both retrieved, and whatever makes "
    "all scores higher or lower together, does not part them. Compare systems by their differences, further down."
)


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
    parts = (_verdict(findings, title), _ranking(findings), _pairs(findings), _basis(findings))
    agreement = "" if findings.agreement is None else _agreement(findings.agreement)
    body = [*parts, agreement, _methods(findings), _reproduction(findings.reproduction)]
    template = Template(files("earmark.report").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        version=escape(__version__), title=escape(title), body="\n".join(part for part in body if part)
    )


def write_report(findings: Findings, path: Path) -> None:
    """Write a report to a file, all of it or nothing."""
    text = report_html(findings)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _verdict(findings: Findings, title: str) -> str:
    ranking = findings.ranking
    estimates, said = ranking.estimates, say_verdict(ranking)
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
    items = "".join(f'<li class="{one.kind}">{escape(one.text)}</li>' for one in shown)
    more = f'<p class="note">And {rest:,} more, further down the ranking: see the pairs below.</p>' if rest else ""
    return "".join(
        [
            f'<header><p class="kicker">{escape(title)}</p><h1>{escape(said.headline)}</h1>',
            f'<p class="lead">{escape(said.summary)}</p>' if said.summary else "",
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
    figure = svg_text(
        plot_ranking(ranking), prefix="ranking", label=f"{measure} of every system with its {level} interval"
    )
    rows = [
        (str(place), name, _number(estimate), f"{_number(low)} to {_number(high)}", *_counts(tally[name]))
        for name, place, estimate, low, high, _ in data.iter_rows()
    ]
    direction = "" if measure.higher_is_better else ", lower is better"
    decided = (("better than", "n"), ("open with", "n"), ("worse than", "n"))
    table = _table(
        [("#", "n"), ("system", "s"), (f"{measure}{direction}", "n"), (f"{level} interval", "n"), *decided],
        rows,
    )
    return f"<section><h2>Ranking</h2><p>{_OVERLAP}</p><figure>{figure}</figure>{table}</section>"


def _pairs(findings: Findings) -> str:
    ranking = findings.ranking
    if not ranking.compared.any():
        return ""
    figure = ""
    if len(ranking.estimates.systems) <= _MOST_IN_MATRIX:
        label = "How sure it is that the system of a row is better than that of a column, in percent"
        figure = f"<figure>{svg_text(plot_pairs(ranking), prefix='pairs', label=label)}</figure>"
    verdicts = {frozenset((row, column)): decided for row, column, _, decided in pairs_data(ranking).iter_rows()}
    frame = ranking.pairs_frame().drop("kind").sort("confidence", maintain_order=True)
    rows = []
    for a, b, difference, low, high, confidence in frame.iter_rows():
        word = "decided" if verdicts[frozenset((a, b))] else "open"
        rows.append((a, b, _signed(difference), f"{_signed(low)} to {_signed(high)}", f"{percent(confidence)}%", word))
    level = f"{100 * ranking.level:g}%"
    table = _table(
        [("a", "s"), ("b", "s"), ("a − b", "n"), (f"{level} interval", "n"), ("confidence", "n"), ("", "n")], rows
    )
    if len(rows) > _FEW_PAIRS:
        table = f"<details><summary>All {len(rows):,} pairs, the least sure first</summary>{table}</details>"
    return (
        "<section><h2>Every two systems</h2><p>How sure it is, in percent, that the system of a row is better than "
        f"that of a column. From {level} on, in bold, a pair counts as decided.</p>{figure}{table}</section>"
    )


def _basis(findings: Findings) -> str:
    estimates = findings.ranking.estimates
    rests = findings.verdict.basis
    if findings.verdict.sampled is not None:
        rests += f", from {counted(findings.verdict.sampled, 'sampled judgment')}"
    told = [
        ("about", findings.inference.about),
        ("rests on", rests),
        ("judged", f"{estimates.judged:,} of {counted(estimates.items, 'item')}, scale {findings.scale}"),
        ("predictor", findings.predictor),
    ]
    if findings.inference.anytime:
        told.append(("looks", "statements hold however often one looks"))
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in told)
    audit = ""
    if findings.audit is not None:
        kind = "" if findings.audit.agrees else ' class="alarm"'
        audit = f"<h3>Audit</h3><p{kind}>{escape(_sentence(str(findings.audit)))}</p>"
    notes = ""
    if findings.notes:
        notes = "<h3>To keep in mind</h3>" + _bullets(escape(_sentence(note)) for note in findings.notes)
    return f'<section><h2>What it rests on</h2><dl class="basis">{terms}</dl>{audit}{notes}</section>'


def _agreement(agreement: Agreement) -> str:
    alpha, errors = agreement.alpha, agreement.errors
    said = "Krippendorff's alpha has no value here: all gains are the same."
    if not math.isnan(alpha.alpha):
        interval = f" ({100 * alpha.level:g}% interval {alpha.low:.2f} to {alpha.high:.2f})"
        said = f"Krippendorff's alpha, 1 for full agreement and 0 for that of chance, is {alpha.alpha:.2f}"
        said += f"{'' if math.isnan(alpha.low) else interval}."
    rows = [
        (a, b, f"{items:,}", f"{rmse:.2f}", f"{bias:+.2f}".replace("-", "−"))
        for a, b, items, rmse, bias in errors.pairs.iter_rows()
    ]
    table = _table([("a", "s"), ("b", "s"), ("items", "n"), ("RMSE", "n"), ("a − b", "n")], rows)
    if len(rows) > _FEW_PAIRS:
        table = f"<details><summary>All {len(rows):,} pairs of assessors</summary>{table}</details>"
    return (
        f"<section><h2>How far assessors agree</h2><p>{counted(errors.items, 'item')} judged by several assessors. "
        f"{escape(said)} Two assessors are {errors.mean_rmse:.2f} apart on the judging scale (root mean square, "
        f"averaged over pairs of assessors).</p>{table}</section>"
    )


def _methods(findings: Findings) -> str:
    told = methods(findings)
    keys = list(dict.fromkeys(key for method in told for key in method.references))
    number = {key: place for place, key in enumerate(keys, start=1)}
    sentences = _bullets(
        escape(method.text)
        + "".join(f' <a href="#reference-{number[key]}">[{number[key]}]</a>' for key in method.references)
        for method in told
    )
    entries = "".join(f'<li id="reference-{number[key]}">{escape(REFERENCES[key])}</li>' for key in keys)
    return f'<section><h2>Methods</h2>{sentences}<h3>References</h3><ol class="references">{entries}</ol></section>'


def _reproduction(how: Reproduction) -> str:
    if not (how.command or how.files or how.versions):
        return ""
    parts = ["<section><h2>How to get this again</h2>"]
    if how.command:
        parts.append(f"<pre><code>{escape(how.command)}</code></pre>")
    if how.versions:
        parts.append(f"<p>With {escape(', '.join(f'{name} {version}' for name, version in how.versions))}.</p>")
    if how.files:
        parts.append(_table([("file", "s"), ("SHA-256", "h")], how.files))
    return "".join([*parts, "</section>"])


def _table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Set a table; a column has a header and a class: n for numbers, s for names, h for hashes."""
    head = "".join(f'<th class="{kind}">{escape(name)}</th>' for name, kind in columns)
    lines = []
    for row in rows:
        cells = zip(row, columns, strict=True)
        lines.append("".join(f'<td class="{_class(cell, kind)}">{escape(cell)}</td>' for cell, (_, kind) in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _class(cell: str, kind: str) -> str:
    return f"{kind} open" if cell == "open" and kind == "n" else kind


def _counts(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.better:,}", f"{tally.open:,}", f"{tally.worse:,}"


def _bullets(items: Iterable[str]) -> str:
    return f'<ul class="plain">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def _sentence(text: str) -> str:
    """Make a sentence of a note."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _number(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
