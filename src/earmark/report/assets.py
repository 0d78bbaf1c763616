"""The tables and figures of a report as files for a paper: CSV with all digits, LaTeX, and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from earmark.data.tables import replacing
from earmark.errors import InputError
from earmark.plots.ranking import pairs_data, percent, plot_pairs, plot_ranking
from earmark.plots.style import save_svg
from earmark.report.findings import Findings

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
    "*": r"{*}",
}


def write_assets(findings: Findings, folder: Path) -> list[Path]:
    """Write tables and figures into a folder, which is made if it is not there.

    Returns
    -------
    list of Path
        ``systems.csv``, ``pairs.csv``, ``systems.tex``, ``pairs.tex``, ``ranking.svg``, and ``pairs.svg`` where there
        are pairs.

    Raises
    ------
    InputError
        If the folder cannot be made.
    EarmarkError
        Where matplotlib is not installed.
    """
    ranking = findings.ranking
    # Before anything is written, so that what cannot be drawn leaves nothing behind.
    drawn = {"ranking.svg": plot_ranking(ranking)}
    if ranking.compared.any():
        drawn["pairs.svg"] = plot_pairs(ranking)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(expected="a folder to write to", got=str(error.strerror), path=folder) from None
    texts = {
        "systems.csv": ranking.systems_frame().drop("kind").write_csv(),
        "pairs.csv": _pairs(findings).write_csv(),
        "systems.tex": systems_latex(findings),
        "pairs.tex": pairs_latex(findings),
    }
    for name, text in texts.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    for name, axes in drawn.items():
        save_svg(axes, folder / name)
    return [folder / name for name in (*texts, *drawn)]


def _pairs(findings: Findings) -> pl.DataFrame:
    return findings.ranking.pairs_frame().drop("kind")


def systems_latex(findings: Findings) -> str:
    """Return the ranking as a LaTeX table (package booktabs)."""
    ranking = findings.ranking
    rows = [
        (str(place), latex(name), f"{estimate:.4f}", f"[{low:.4f}, {high:.4f}]")
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


def latex(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_ESCAPED.get(letter, letter) for letter in text)


def _tabular(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
