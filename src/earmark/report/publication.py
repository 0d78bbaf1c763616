"""A folder for a paper: tables for LaTeX, figures as PDF, all numbers as CSV, and a text that says what is what.

Tables and figures are those of :mod:`earmark.report.assets` and :mod:`earmark.report.kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from earmark.data.files import replacing
from earmark.data.outputs import make_folder, together
from earmark.plots.style import pdf_file
from earmark.report.assets import NAMES, draw, slug_names, tables_of
from earmark.report.findings import Findings, Reproduction
from earmark.report.kinds import KindFindings, draw_kind, kind_texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

README = "README.txt"
PUBLISHED = (README, *NAMES, *(name.removesuffix(".svg") + ".pdf" for name in NAMES if name.endswith(".svg")))
"""The files that such a folder may have, without figures that were added."""

_TABLES = {
    "systems": "the ranking: every system with its estimate and interval",
    "pairs": "every pair of systems, the better one first: difference, one-sided bound, confidence, decided or not",
    "forecast": "open pairs: judgments for a decision that is 50% and 90% likely, and all that affect the pair",
    "calibration": "judged gains beside those that the model predicts (CSV: every item; LaTeX: groups of them)",
    "assessors": "every assessor: how much they judged, and how far they are from the others",
    "assessor-pairs": "every two assessors: how far they are apart",
    "precision": "the preference precision of every system on the pairs answered so far",
    "queries": "every query: how many rankings and groups it has, and how far experts agree",
    "groups": "the documents of every query in ordered groups",
    "shares": "the share of queries that one system wins against another",
}
_FIGURES = {
    "ranking": "every system with its interval; open circles are decided not to be the best",
    "pairs": "how sure it is that the system of the row is better than that of the column, in percent",
    "forecast": "how many more judgments open pairs take",
    "calibration": "judged gains against those that the model predicts",
    "assessors": "how far every assessor is from the others",
    "precision": "the preference precision of every system, with its interval",
    "systems": "the share that every system wins against the others, with its interval",
    "shares": "the share of queries that one system wins against another, with its interval",
    "agreement": "how far experts agree on every query, and the interval of the mean",
}


def publish(findings: Findings | KindFindings, folder: Path) -> list[Path]:
    """Write a folder that a paper can take its tables and figures from; it is made if it is not there.

    Parameters
    ----------
    findings : Findings or KindFindings
    folder : Path

    Returns
    -------
    list of Path
        ``README.txt``, which says what every file is and how to include it; tables for LaTeX with the package booktabs
        and the same as CSV, unrounded; figures as PDF with their letters in it. All of them are written or none.

    Raises
    ------
    InputError
        If the folder cannot be made.
    MissingLibraryError
        Where matplotlib or Jinja2 is not installed.
    """
    drawn: Mapping[str, Axes]
    if isinstance(findings, KindFindings):
        texts, drawn, said = kind_texts(findings), draw_kind(findings), findings.headline
    else:
        texts, drawn, said = tables_of(findings), draw(findings), findings.ranking.sentence()
    files: dict[str, bytes] = {name: text.encode() for name, text in texts.items()}
    files |= {f"{name}.pdf": pdf_file(axes) for name, axes in drawn.items()}
    added = {} if isinstance(findings, KindFindings) else slug_names(findings, files)
    files |= {name: svg.encode() for name, (_, svg) in added.items()}
    titles = {name: title for name, (title, _) in added.items()}
    read_me = _read_me(said, list(files), titles, findings.reproduction)
    with together():
        make_folder(folder)
        for name, content in {README: read_me.encode(), **files}.items():
            with replacing(folder / name) as temporary:
                temporary.write_bytes(content)
    return [folder / name for name in (README, *files)]


def _read_me(said: str, names: list[str], titles: Mapping[str, str], how: Reproduction) -> str:
    """Say what every file is, how a paper includes it, and how to get it again."""
    lines = [
        said,
        "",
        "Tables: .tex for LaTeX (\\usepackage{booktabs}, then \\input{systems}), .csv with all digits",
        "",
    ]
    tables = list(dict.fromkeys(Path(name).stem for name in names if name.endswith((".tex", ".csv"))))
    for stem in tables:
        endings = ", ".join(name for name in names if name in (f"{stem}.tex", f"{stem}.csv"))
        lines.append(f"  {endings}: {_TABLES[stem]}")
    lines += ["", "Figures: \\usepackage{graphicx}, then \\includegraphics[width=\\linewidth]{ranking}", ""]
    lines += [f"  {name}: {_FIGURES[Path(name).stem]}" for name in names if name.endswith(".pdf")]
    lines += [f"  {name}: {title}" for name, title in titles.items()]
    lines += [
        "",
        "A confidence is cut off, not rounded (94.9% reads 94%); scores and differences are rounded to four decimals.",
        "A pair is decided when the confidence in its order reaches the level; then the one-sided bound is above 0.",
    ]
    if how.command:
        lines += ["", "Made by", "", f"  {how.command}"]
    if how.versions:
        lines += ["", "With " + ", ".join(f"{name} {number}" for name, number in how.versions)]
    return "\n".join(lines) + "\n"
