"""The tables and figures of a report: drawn once for the page, and as files for a paper: CSV, LaTeX and SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from earmark.campaign.forecast import Forecast
from earmark.data.outputs import make_folder, together
from earmark.data.spreadsheets import escape_formulas
from earmark.pages import render, write_page
from earmark.plots.calibration import plot_predictions, predictions_data
from earmark.plots.crowd import plot_assessors
from earmark.plots.forecast import plot_forecast
from earmark.plots.ranking import plot_pairs, plot_ranking
from earmark.plots.style import svg_file
from earmark.report.findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TABLES = ("systems", "pairs", "forecast", "calibration", "assessors", "precision", "queries", "groups", "shares")
NAMES = (
    *(f"{name}.{ending}" for name in _TABLES for ending in ("csv", "tex", "svg")),
    *("assessor-pairs.csv", "ranking.svg", "agreement.svg"),
)
"""The files that a report of any kind may have beside it, without figures that were added."""

# Where there are more open pairs, those of neighbours alone are drawn.
_MOST_PAIRS = 20


def write_assets(findings: Findings, folder: Path) -> list[Path]:
    """Write tables and figures into a folder, which is made if it is not there.

    Returns
    -------
    list of Path
        ``systems`` and ``pairs`` as CSV and LaTeX, ``ranking.svg``, and what else there is: ``pairs.svg``, ``forecast``
        (CSV, LaTeX, SVG) where something is open, ``calibration`` (CSV of all items, LaTeX of groups of them, SVG)
        where enough is judged, ``assessors`` (CSV, LaTeX, SVG) and ``assessor-pairs.csv`` where judgments name them,
        and an SVG under its title for every figure that was added. LaTeX tables need the package booktabs.

    Raises
    ------
    InputError
        If the folder cannot be made.
    MissingLibraryError
        Where matplotlib or Jinja2 is not installed.
    """
    # Before anything is written, so that what cannot be drawn leaves nothing behind.
    texts = {**tables_of(findings), **{f"{name}.svg": svg_file(axes) for name, axes in draw(findings).items()}}
    texts |= {name: svg for name, (_, svg) in slug_names(findings, texts).items()}
    return write_texts(texts, folder)


def slug_names(findings: Findings, taken: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return title and SVG of every figure that was added, by a file name that is not taken."""
    names, found = set(taken), dict[str, tuple[str, str]]()
    for title, _, svg in findings.figures:
        found[_unused(f"{_slug(title)}.svg", names | set(found))] = title, svg
    return found


def write_texts(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files into a folder, which is made if it is not there; all of them or none.

    Raises
    ------
    InputError
        If the folder cannot be made, or a file cannot be written.
    """
    with together():
        make_folder(folder)
        for name, text in texts.items():
            write_page(text, folder / name)
    return [folder / name for name in texts]


def tables_of(findings: Findings) -> dict[str, str]:
    """Return the text of every file with a table by its name."""
    ranking, forecast, calibration = findings.ranking, findings.forecast, findings.calibration
    systems, pairs = ranking.systems_frame().drop("kind"), ranking.comparisons_frame()
    # What the CSV file holds, and what the LaTeX table shows: decisions stand beside the bound that belongs to them and
    # not beside an interval of two sides.
    frames = {"systems": (systems, systems), "pairs": (pairs.drop("decided"), pairs)}
    if forecast is not None and forecast.pairs:
        frames["forecast"] = (forecast.frame(), forecast.frame())
    if calibration is not None:
        frames["calibration"] = (calibration.frame, predictions_data(calibration.frame))
    if findings.assessors is not None:
        frames["assessors"] = (findings.assessors, findings.assessors)
    texts = {}
    for name, (held, shown) in frames.items():
        texts[f"{name}.csv"] = escape_formulas(held).write_csv()
        texts[f"{name}.tex"] = render(f"tables/{name}.tex", rows=shown.to_dicts(), ranking=ranking)
    if findings.agreement is not None:
        texts["assessor-pairs.csv"] = escape_formulas(findings.agreement.errors.pairs).write_csv()
    return texts


def draw(findings: Findings, *, matrix: bool = True) -> dict[str, Axes]:
    """Draw what there is to draw: ``ranking``, ``pairs`` as a matrix, ``forecast``, ``calibration``, ``assessors``."""
    drawn = {"ranking": plot_ranking(findings.ranking)}
    if matrix and findings.ranking.compared.any():
        drawn["pairs"] = plot_pairs(findings.ranking)
    if findings.forecast is not None:
        within_reach = _few(findings.forecast, findings.ranking.systems_frame()["system"].to_list())
        if any(one.even is not None for one in within_reach.pairs):
            drawn["forecast"] = plot_forecast(within_reach)
    if findings.calibration is not None:
        drawn["calibration"] = plot_predictions(findings.calibration.frame)
    if findings.assessors is not None and findings.agreement is not None:
        drawn["assessors"] = plot_assessors(findings.assessors)
    return drawn


def _few(forecast: Forecast, order: list[str]) -> Forecast:
    """Leave out pairs that are no neighbours in the ranking where there are too many to draw."""
    if len(forecast.pairs) <= _MOST_PAIRS:
        return forecast
    neighbours = {frozenset(pair) for pair in pairwise(order)}
    kept = tuple(one for one in forecast.pairs if frozenset((one.a, one.b)) in neighbours)
    return Forecast(kept, forecast.inference)


def _slug(title: str) -> str:
    """Make a file name of a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].rstrip("-") or "figure"


def _unused(name: str, taken: Iterable[str]) -> str:
    stem, number = name.removesuffix(".svg"), 2
    while name in taken:
        name, number = f"{stem}-{number}.svg", number + 1
    return name
