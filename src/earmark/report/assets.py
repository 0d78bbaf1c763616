"""The tables and figures of a report as files for a paper: CSV with all digits, LaTeX, and SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from earmark.data.tables import replacing
from earmark.errors import InputError
from earmark.inference.words import percent
from earmark.plots.calibration import plot_predictions, predictions_data
from earmark.plots.crowd import plot_assessors
from earmark.plots.outlook import plot_outlook
from earmark.plots.ranking import pairs_data, plot_pairs, plot_ranking
from earmark.plots.style import svg_file
from earmark.report.findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # After the end of a row these would be taken for options of it.
    "*": r"{*}",
    "[": r"{[}",
    "]": r"{]}",
}


def write_assets(findings: Findings, folder: Path) -> list[Path]:
    """Write tables and figures into a folder, which is made if it is not there.

    Returns
    -------
    list of Path
        ``systems`` and ``pairs`` as CSV and LaTeX, ``ranking.svg``, and what else there is: ``pairs.svg``, ``outlook``
        (CSV, LaTeX, SVG) where something is open, ``calibration`` (CSV of all items, LaTeX of groups of them, SVG)
        where enough is judged, ``assessors`` (CSV, LaTeX, SVG) and ``assessor-pairs.csv`` where judgments name them,
        and an SVG under its title for every figure that was added. LaTeX tables need the package booktabs.

    Raises
    ------
    InputError
        If the folder cannot be made.
    EarmarkError
        Where matplotlib is not installed.
    """
    # Before anything is written, so that what cannot be drawn leaves nothing behind.
    texts = {**_texts(findings), **{name: svg_file(axes) for name, axes in _pictures(findings).items()}}
    for title, _, svg in findings.figures:
        texts[_unused(f"{_slug(title)}.svg", texts)] = svg
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(expected="a folder to write to", got=str(error.strerror), path=folder) from None
    for name, text in texts.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _texts(findings: Findings) -> dict[str, str]:
    ranking, agreement = findings.ranking, findings.agreement
    texts = {
        "systems.csv": ranking.systems_frame().drop("kind").write_csv(),
        "systems.tex": systems_latex(findings),
        "pairs.csv": ranking.pairs_frame().drop("kind").write_csv(),
        "pairs.tex": pairs_latex(findings),
    }
    if findings.outlook is not None and findings.outlook.prospects:
        texts["outlook.csv"] = findings.outlook.frame().write_csv()
        texts["outlook.tex"] = outlook_latex(findings.outlook.frame())
    if findings.calibration is not None:
        texts["calibration.csv"] = findings.calibration.frame.write_csv()
        texts["calibration.tex"] = calibration_latex(findings.calibration.frame)
    if findings.assessors is not None:
        texts["assessors.csv"] = findings.assessors.write_csv()
        texts["assessors.tex"] = assessors_latex(findings.assessors)
    if agreement is not None:
        texts["assessor-pairs.csv"] = agreement.errors.pairs.write_csv()
    return texts


def _pictures(findings: Findings) -> dict[str, Axes]:
    drawn = {"ranking.svg": plot_ranking(findings.ranking)}
    if findings.ranking.compared.any():
        drawn["pairs.svg"] = plot_pairs(findings.ranking)
    if findings.outlook is not None and any(one.even is not None for one in findings.outlook.prospects):
        drawn["outlook.svg"] = plot_outlook(findings.outlook)
    if findings.calibration is not None:
        drawn["calibration.svg"] = plot_predictions(findings.calibration.frame)
    if findings.assessors is not None and findings.agreement is not None:
        drawn["assessors.svg"] = plot_assessors(findings.assessors)
    return drawn


def _slug(title: str) -> str:
    """Make a file name of a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].rstrip("-") or "figure"


def _unused(name: str, taken: Iterable[str]) -> str:
    stem, number = name.removesuffix(".svg"), 2
    while name in taken:
        name, number = f"{stem}-{number}.svg", number + 1
    return name


def systems_latex(findings: Findings) -> str:
    """Return the ranking as a LaTeX table (package booktabs)."""
    ranking = findings.ranking
    rows = [
        (str(place), latex(name), _number(estimate, 4), f"{{[}}{_number(low, 4)}, {_number(high, 4)}{{]}}")
        for name, estimate, low, high, place in ranking.systems_frame().drop("kind").iter_rows()
    ]
    header = ("", "system", latex(str(ranking.estimates.measure)), f"{100 * ranking.level:g}\\% interval")
    return _tabular("rlrr", header, rows)


def pairs_latex(findings: Findings) -> str:
    """Return the pairs, in the order of the ranking, as a LaTeX table (package booktabs)."""
    rows = [
        (latex(row), latex(column), "--" if chance is None else f"{percent(chance)}\\%", "yes" if decided else "no")
        for row, column, chance, decided in pairs_data(findings.ranking).iter_rows()
    ]
    return _tabular("llrl", ("better", "worse", "confidence", "decided"), rows)


def outlook_latex(frame: pl.DataFrame) -> str:
    """Return how many more judgments open pairs take as a LaTeX table; a dash where no number is enough."""
    rows = [
        (latex(a), latex(b), f"{percent(confidence)}\\%", _count(even), _count(likely), _count(left))
        for a, b, confidence, even, likely, left, _ in frame.iter_rows()
    ]
    return _tabular("llrrrr", ("better", "worse", "confidence", "50\\% likely", "90\\% likely", "left"), rows)


def calibration_latex(frame: pl.DataFrame) -> str:
    """Return predicted and judged gains of groups of items as a LaTeX table."""
    rows = [
        (_count(items), _number(predicted, 2), _number(actual, 2), f"{{[}}{_number(low, 2)}, {_number(high, 2)}{{]}}")
        for items, predicted, actual, low, high in predictions_data(frame).iter_rows()
    ]
    return _tabular("rrrr", ("items", "predicted", "judged", "95\\% interval"), rows)


def assessors_latex(table: pl.DataFrame) -> str:
    """Return the assessors as a LaTeX table; a dash where they share no item with others."""
    rows = [
        (
            latex(one["assessor"]),
            _count(one["judgments"]),
            _number(one["mean_gain"], 2),
            _count(one["shared"]),
            _number(one["bias"], 2),
            _number(one["rmse"], 2),
            _number(one["agreement"], 2),
        )
        for one in table.iter_rows(named=True)
    ]
    return _tabular("lrrrrrr", ("assessor", "judgments", "mean gain", "shared", "bias", "RMSE", "same level"), rows)


def latex(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_ESCAPED.get(letter, letter) for letter in text)


def _number(value: float | None, digits: int) -> str:
    """Write a number, with a minus and not a hyphen; a dash where there is none."""
    return "--" if value is None else f"{value:.{digits}f}".replace("-", "$-$")


def _count(value: int | None) -> str:
    return "--" if value is None else f"{value:,}".replace(",", "\\,")


def _tabular(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
