"""Reports of campaigns of the kinds prefer, order and lists: the same look, with what each kind concludes.

:func:`gather_kind` gathers what a campaign has to say, :func:`kind_html` writes it as one page, and
:func:`kind_assets` the same tables and figures as files. What is said is in the templates of :mod:`earmark.pages`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from earmark.campaign.list_campaign import ListCampaign, ListLook
from earmark.campaign.order_campaign import OrderCampaign, OrderLook
from earmark.campaign.pairs.campaign import PairCampaign, PairLook
from earmark.campaign.pairs.estimates import PreferenceEstimates
from earmark.campaign.pairs.precision import precision_so_far
from earmark.campaign.statements import say_verdict, tallies
from earmark.data.display import Display, Summary
from earmark.data.log import AnswerLog
from earmark.data.spreadsheets import escape_formulas
from earmark.pages import render, write_page
from earmark.plots.kinds import plot_orders, plot_precision, plot_shares, plot_won
from earmark.plots.ranking import plot_pairs, plot_ranking
from earmark.plots.style import svg_file, svg_text
from earmark.report.assets import write_texts
from earmark.report.changes import Changes, changes_in
from earmark.report.findings import Reproduction
from earmark.report.page import lasting_rows, references

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["prefer", "order", "lists"]
AnyKind = PairCampaign | OrderCampaign | ListCampaign
_LABELS = {
    "ranking": "The estimate of every system with its interval",
    "pairs": "How sure it is that the system of a row is better than that of a column, in percent",
    "precision": "The preference precision of every system on the pairs answered so far, with its interval",
    "systems": "The share that every system wins against the others, with its interval",
    "shares": "The share of queries that one system wins against another, with its interval",
    "agreement": "How far experts agree on every query, and the interval of the mean",
}
# A matrix of two systems says nothing new, and nobody can read one of very many.
_IN_MATRIX = range(3, 61)
_MOST_PICTURED = 200


@dataclass(frozen=True, eq=False, repr=False)
class KindFindings(Display):
    """What a report about preferences, orders or lists has to say.

    Attributes
    ----------
    kind : {"prefer", "order", "lists"}
    look : PairLook, OrderLook or ListLook
        What the answers come to.
    stop : str
        The stop rule.
    needed : int
        How many answers a question gets.
    assessors : polars.DataFrame
        ``assessor`` and ``answers``, the busiest first; empty where they are not known.
    precision : polars.DataFrame or None
        For preferences, the precision on the pairs answered so far.
    notes : tuple of str
        What a reader has to know besides.
    changes : Changes or None
        What changed while the campaign ran.
    reproduction : Reproduction
    closed : bool
        The campaign is closed: nobody is asked any more.
    """

    kind: Kind
    look: PairLook | OrderLook | ListLook
    stop: str
    needed: int
    assessors: pl.DataFrame
    precision: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    changes: Changes | None = None
    reproduction: Reproduction = field(default_factory=Reproduction)
    closed: bool = False

    @property
    def headline(self) -> str:
        """The conclusion in one sentence."""
        estimates = self.look.estimates
        return estimates.ranking.sentence() if isinstance(estimates, PreferenceEstimates) else estimates.sentence()

    def _summary(self) -> Summary:
        """Show what the answers come to."""
        return self.look._summary()


def gather_kind(
    campaign: AnyKind, *, log: AnswerLog | None = None, reproduction: Reproduction | None = None
) -> KindFindings:
    """Gather what a report about a campaign of preferences, orders or lists has to say.

    Parameters
    ----------
    campaign : PairCampaign, OrderCampaign or ListCampaign
        In memory or stored.
    log : AnswerLog, optional
        Where the answers came from, for who gave them and what changed meanwhile.
    reproduction : Reproduction, optional
        How to get the same again.
    """
    precision: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    if isinstance(campaign, PairCampaign):
        kind: Kind = "prefer"
        problem = campaign.problem
        precision = precision_so_far(problem.design, campaign.answers, level=problem.level)
    elif isinstance(campaign, OrderCampaign):
        kind, notes = "order", tuple(campaign.look.estimates.notes())
    else:
        kind, notes = "lists", tuple(campaign.look.estimates.notes())
    return KindFindings(
        kind,
        campaign.look,
        str(campaign.problem.stop),
        campaign.problem.needed,
        _assessors(log),
        precision,
        notes,
        None if log is None else changes_in(log, stored=hasattr(campaign, "folder")),
        reproduction or Reproduction(),
        log is not None and _is_closed(log),
    )


def _is_closed(log: AnswerLog) -> bool:
    states = log.frame.filter(pl.col("kind").is_in(["closed", "opened"]))["kind"]
    return bool(states.len()) and states[-1] == "closed"


def _assessors(log: AnswerLog | None) -> pl.DataFrame:
    if log is None:
        return pl.DataFrame(schema={"assessor": pl.String, "answers": pl.Int64})
    named = log.answers.filter(pl.col("assessor").is_not_null())
    counts = named.group_by("assessor").agg(pl.len().cast(pl.Int64).alias("answers"))
    return counts.sort(["answers", "assessor"], descending=[True, False])


# ---- figures and tables ----------------------------------------------------------------------------------------------


def draw_kind(findings: KindFindings) -> dict[str, Axes]:
    """Draw what there is to draw, by name."""
    look = findings.look
    if isinstance(look, PairLook):
        ranking = look.estimates.ranking
        drawn = {"ranking": plot_ranking(ranking)}
        if ranking.compared.any() and len(ranking.estimates.systems) in _IN_MATRIX:
            drawn["pairs"] = plot_pairs(ranking)
        if findings.precision is not None and findings.precision["precision"].is_not_null().any():
            drawn["precision"] = plot_precision(findings.precision, level=ranking.level)
        return drawn
    if isinstance(look, OrderLook):
        return {"agreement": plot_orders(look.estimates)} if look.estimates.tau.queries else {}
    drawn = {"systems": plot_won(look.estimates)} if len(look.estimates.systems) > 1 else {}
    if 0 < look.estimates.share.size <= _MOST_PICTURED:
        drawn["shares"] = plot_shares(look.estimates)
    return drawn


def kind_tables(findings: KindFindings) -> dict[str, pl.DataFrame]:
    """Return the tables of a report by the names of their files."""
    look = findings.look
    if isinstance(look, PairLook):
        ranking = look.estimates.ranking
        tables = {"systems": ranking.systems_frame().drop("kind"), "pairs": ranking.comparisons_frame().drop("decided")}
        if findings.precision is not None:
            tables["precision"] = findings.precision
        return tables
    if isinstance(look, OrderLook):
        groups = look.estimates.groups_frame().drop("kind")
        return {"queries": look.estimates.queries, "groups": groups}
    return {
        "systems": look.estimates.systems_frame().drop("kind"),
        "shares": look.estimates.pairs_frame().drop("kind"),
    }


def kind_assets(findings: KindFindings, folder: Path) -> list[Path]:
    """Write tables as CSV and LaTeX and figures as SVG into a folder, which is made if it is not there.

    Returns
    -------
    list of Path
        For preferences ``systems``, ``pairs`` and ``precision``; for orders ``queries`` and ``groups``; for lists
        ``systems`` and ``shares``; and an SVG for every figure.

    Raises
    ------
    InputError
        If the folder cannot be made.
    MissingLibraryError
        Where matplotlib or Jinja2 is not installed.
    """
    texts = kind_texts(findings)
    texts |= {f"{name}.svg": svg_file(axes) for name, axes in draw_kind(findings).items()}
    return write_texts(texts, folder)


def kind_texts(findings: KindFindings) -> dict[str, str]:
    """Return the text of every file with a table by its name."""
    level = _level(findings)
    texts = {}
    for name, frame in kind_tables(findings).items():
        texts[f"{name}.csv"] = escape_formulas(frame).write_csv()
        values: dict[str, Any] = {"rows": frame.to_dicts(), "level": level}
        if isinstance(findings.look, PairLook) and name in ("systems", "pairs"):
            ranking = findings.look.estimates.ranking
            values["ranking"] = ranking
            values["rows"] = ranking.comparisons_frame().to_dicts() if name == "pairs" else values["rows"]
        template = "won" if findings.kind == "lists" and name == "systems" else name
        texts[f"{name}.tex"] = render(f"tables/{template}.tex", **values)
    return texts


def _level(findings: KindFindings) -> float:
    look = findings.look
    return look.estimates.ranking.level if isinstance(look, PairLook) else look.estimates.level


# ---- the page --------------------------------------------------------------------------------------------------------


def kind_html(findings: KindFindings) -> str:
    """Write a report as one page that needs no other file; the same findings always give the same text.

    Raises
    ------
    MissingLibraryError
        Where matplotlib, which draws the figures, or Jinja2, which renders the page, is not installed.
    """
    drawn = draw_kind(findings)
    values: dict[str, Any] = {
        "findings": findings,
        "look": findings.look,
        "estimates": findings.look.estimates,
        "headline": findings.headline,
        "tables": {name: frame.to_dicts() for name, frame in kind_tables(findings).items()},
        "references": references(),
        "pictures": {name: svg_text(axes, prefix=name, label=_LABELS[name]) for name, axes in drawn.items()},
    }
    if isinstance(findings.look, PairLook):
        values |= _ranking_values(findings.look)
    if isinstance(findings.look, OrderLook):
        values["groups"] = _groups_by_query(findings.look)
    return render(f"report_{findings.kind}.html", **values)


def _ranking_values(look: PairLook) -> dict[str, Any]:
    """Return what the parts about rankings say, as in a report of grades."""
    ranking = look.estimates.ranking
    pairs = ranking.comparisons_frame()
    return {
        "ranking": ranking,
        "measure": ranking.estimates.measure,
        "said": say_verdict(ranking),
        "systems": ranking.systems_frame().to_dicts(),
        "tallies": tallies(ranking),
        "exact": bool((ranking.low == ranking.high).all()),
        "pairs": pairs.sort("confidence", maintain_order=True).to_dicts(),
        **lasting_rows(ranking.at_any_time(ranking.estimates.judged, ranking.estimates.items)),
    }


def _groups_by_query(look: OrderLook) -> dict[str, list[list[str]]]:
    """Return the documents of every group, the best group first, by query."""
    found: dict[str, list[list[str]]] = {}
    parts = look.estimates.groups_frame().group_by("query", "group", maintain_order=True).agg("document")
    for query, _, documents in parts.sort("query", "group").iter_rows():
        found.setdefault(query, []).append(documents)
    return found


def write_kind_report(findings: KindFindings, path: Path) -> None:
    """Write a report to a file, all of it or nothing."""
    write_page(kind_html(findings), path)
