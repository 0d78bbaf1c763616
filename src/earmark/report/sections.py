"""The parts of a report that follow the verdict: what it would take, what it rests on, and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise

import polars as pl

from earmark.campaign.prospects import EVEN, LIKELY, Outlook, Prospect
from earmark.inference.words import percent
from earmark.plots.calibration import plot_predictions
from earmark.plots.crowd import plot_assessors
from earmark.plots.outlook import plot_outlook
from earmark.plots.style import svg_text
from earmark.report.findings import Findings, Reproduction
from earmark.report.markup import bullets, figure, folded, number, paragraph, section, sentence, signed, table
from earmark.report.methods import methods
from earmark.report.quality import say_assessors, say_calibration
from earmark.report.references import REFERENCES
from earmark.report.words import how_many
from earmark.wording import counted

_NOTHING = "–"
# Where there are more pairs, those of neighbours alone are drawn.
_MOST_DRAWN = 20


def outlook_section(findings: Findings) -> str:
    """Say how many more judgments every open pair takes."""
    found = findings.outlook
    if found is None or not any(one.left for one in found.prospects):
        return ""
    which = (
        "if the sample goes on in its order"
        if found.inference.mode == "design"
        else "if those items are judged next that tell most about the two systems"
    )
    told = (
        f"How many more judgments it takes until a pair is decided, {which}: so many for an even chance of a decision, "
        f"and so many for {LIKELY * 10:g} chances in 10. A judgment serves several pairs at once, so the numbers do "
        "not add up."
    )
    if findings.ranking.estimates.judged == 0:
        told += " Nothing is judged yet: they rest on what is believed beforehand, and will change."
    rows = [
        (
            one.a,
            one.b,
            f"{percent(one.confidence)}%",
            _count(one, EVEN),
            _count(one, LIKELY),
            f"{one.left:,}",
        )
        for one in found.prospects
    ]
    columns = [
        ("looks better", "s"),
        ("than", "s"),
        ("sure", "n"),
        ("even chance", "n"),
        (f"{LIKELY * 10:g} in 10", "n"),
        ("left", "n"),
    ]
    drawn = ""
    if any(one.even is not None for one in found.prospects):
        label = "After how many more judgments every open pair is decided as likely as not, and nearly surely"
        drawn = figure(svg_text(plot_outlook(_drawn(findings, found)), prefix="outlook", label=label))
    listed = folded(columns, rows, what=f"All {counted(len(rows), 'open pair')} that were looked at")
    return section("What it would take", paragraph(told), drawn, listed)


def _drawn(findings: Findings, found: Outlook) -> Outlook:
    """Leave out the pairs of the leader with systems far down where there are too many to draw."""
    if len(found.prospects) <= _MOST_DRAWN:
        return found
    order = findings.ranking.systems_frame()["system"].to_list()
    neighbours = {frozenset(pair) for pair in pairwise(order)}
    return Outlook(tuple(one for one in found.prospects if frozenset((one.a, one.b)) in neighbours), found.inference)


def _count(one: Prospect, probability: float) -> str:
    count = one.needed(probability)
    if count is not None:
        return how_many(count, one.left)
    return "out of reach" if one.chance_of_all < probability else f"over {int(one.judgments[-1]):,}"


def figure_sections(findings: Findings) -> Iterator[str]:
    """Show what somebody wanted to be shown."""
    for title, caption, svg in findings.figures:
        yield section(title, figure(svg, caption))


def basis_section(findings: Findings) -> str:
    """Say what the verdict rests on."""
    estimates = findings.ranking.estimates
    rests = findings.verdict.basis
    if findings.verdict.sampled is not None:
        rests += f", from {counted(findings.verdict.sampled, 'sampled judgment')}"
    told = [
        ("about", findings.inference.about),
        ("rests on", rests),
        ("judged", f"{estimates.judged:,} of {counted(estimates.items, 'item')}, scale {findings.scale}"),
        ("predictor", f"{findings.predictor}, with content" if findings.content else findings.predictor),
    ]
    if findings.inference.anytime:
        told.append(("looks", "statements hold however often one looks"))
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in told)
    audit = ""
    if findings.audit is not None:
        kind = "" if findings.audit.agrees else "alarm"
        # The p-value stays on one line.
        told_by_audit = sentence(str(findings.audit)).replace("p = ", "p\u00a0=\u00a0")
        audit = f"<h3>Audit</h3>{paragraph(told_by_audit, kind=kind)}"
    notes = ""
    if findings.notes:
        notes = "<h3>To keep in mind</h3>" + bullets(escape(sentence(note)) for note in findings.notes)
    return section("What it rests on", f'<dl class="basis">{terms}</dl>', audit, notes)


def calibration_section(findings: Findings) -> str:
    """Hold what the model predicted of judged items against what was judged."""
    found = findings.calibration
    if found is None:
        return ""
    said, caution = say_calibration(found)
    drawn = svg_text(
        plot_predictions(found.frame), prefix="calibration", label="Judged gains against those the model predicts"
    )
    caption = "Every item as predicted from all judgments but its own. Squares: the means of items with similar "
    caption += "predictions, with 95% intervals."
    return section(
        "How well the model predicts", paragraph(said), paragraph(caution, kind="note"), figure(drawn, caption)
    )


def assessors_section(findings: Findings) -> str:
    """Say who judged, and how far they agree."""
    people = findings.assessors
    if people is None:
        return ""
    parts = [paragraph(text) for text in say_assessors(people, findings.agreement)]
    if people.filter(pl.col("shared") > 0).height > 1:
        label = "How far every assessor is from the others"
        parts.append(figure(svg_text(plot_assessors(people), prefix="assessors", label=label)))
    rows = [
        (
            one["assessor"],
            f"{one['judgments']:,}",
            number(one["mean_gain"], 2),
            f"{one['shared']:,}",
            _NOTHING if one["bias"] is None else signed(one["bias"], 2),
            _NOTHING if one["rmse"] is None else number(one["rmse"], 2),
            _NOTHING if one["agreement"] is None else f"{100 * one['agreement']:.0f}%",
        )
        for one in people.iter_rows(named=True)
    ]
    columns = [
        ("assessor", "s"),
        ("judgments", "n"),
        ("mean gain", "n"),
        ("shared", "n"),
        ("bias", "n"),
        ("RMSE", "n"),
        ("same level", "n"),
    ]
    parts.append(folded(columns, rows, what=f"All {counted(len(rows), 'assessor')}, the busiest first"))
    if findings.agreement is not None:
        parts.append(
            '<p class="note">Shared: judgments of items that others judged too. On these, bias is the mean of the own '
            "gain less that of the others, RMSE the root mean square of the same, and same level the share of the "
            "others' judgments at the same level.</p>"
        )
        pairs = [
            (a, b, f"{items:,}", f"{rmse:.2f}", signed(bias, 2))
            for a, b, items, rmse, bias in findings.agreement.errors.pairs.iter_rows()
        ]
        if people.height > 2:
            columns = [("a", "s"), ("b", "s"), ("items", "n"), ("RMSE", "n"), ("a − b", "n")]
            told = f"All {counted(len(pairs), 'pair')} of assessors"
            parts.append(f"<details><summary>{told}</summary>{table(columns, pairs)}</details>")
    return section("Assessors", *parts)


def methods_section(findings: Findings) -> str:
    """Say what was done, with where it comes from."""
    told = methods(findings)
    keys = list(dict.fromkeys(key for method in told for key in method.references))
    place = {key: at for at, key in enumerate(keys, start=1)}
    sentences = bullets(
        escape(method.text)
        + "".join(f' <a href="#reference-{place[key]}">[{place[key]}]</a>' for key in method.references)
        for method in told
    )
    entries = "".join(f'<li id="reference-{place[key]}">{escape(REFERENCES[key])}</li>' for key in keys)
    return section("Methods", sentences, f'<h3>References</h3><ol class="references">{entries}</ol>')


def reproduction_section(how: Reproduction) -> str:
    """Say how to get the same report again."""
    if not (how.command or how.files or how.versions):
        return ""
    parts = []
    if how.command:
        parts.append(f"<pre><code>{escape(how.command)}</code></pre>")
    if how.versions:
        parts.append(paragraph(f"With {', '.join(f'{name} {version}' for name, version in how.versions)}."))
    if how.files:
        parts.append(table([("file", "s"), ("SHA-256", "h")], how.files))
    return section("How to get this again", *parts)
