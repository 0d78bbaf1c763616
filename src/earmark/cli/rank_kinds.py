"""``earmark rank`` on campaigns of the kinds order and lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.cli import folder, folder_views
from earmark.cli.output import NOTHING, Column, Output, number
from earmark.cli.ranking_tables import interval_bar
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.campaign.list_campaign import ListLook
    from earmark.campaign.order_campaign import OrderLook

_FEW_QUERIES = 20


def rank_lists(out: Output, runs: list[Path], stop: str, level: float) -> None:
    """Print the share that systems win against each other."""
    import polars as pl

    path = folder.folder_of(runs)
    assert path is not None
    look = folder_views.load_stored_lists(out, path, _wanted(stop, level)).look
    show_list_look(look, out, summary=pl.DataFrame([look.summary()]))


def show_list_look(look: ListLook, out: Output, *, summary: pl.DataFrame, stopping: bool = True) -> None:
    """Print what comparisons of lists come to, of a stored campaign or of a file."""
    estimates = look.estimates
    out.note(estimates.basis)
    for note in estimates.notes():
        out.note(note)
    if not out.for_people:
        out.kinds(estimates.systems_frame(), estimates.pairs_frame(), estimates.people, summary)
        return
    _show_shares(look, out)
    out.show(estimates.sentence(), *([f"{_stop_said(look)}."] if stopping else []))


def _show_shares(look: ListLook, out: Output) -> None:
    estimates = look.estimates
    systems, pairs = estimates.systems_frame(), estimates.pairs_frame()
    rows = systems.select("low", "estimate", "high").rows()
    level = f"{100 * estimates.level:g}% intervals that hold {'at any time' if estimates.anytime else 'at one look'}"
    out.show_columns(
        [
            Column("#", [str(rank) for rank in systems["rank"]]),
            Column("system", systems["system"].to_list(), numeric=False),
        ],
        [
            Column("share won", [number(row[1]) for row in rows]),
            Column("low", [number(row[0]) for row in rows]),
            Column("high", [number(row[2]) for row in rows]),
            Column("", [interval_bar(*row, start=0.0, end=1.0) for row in rows]),
        ],
        title=f"Share won against the others: {counted(systems.height, 'system')}, "
        f"{counted(look.answered, 'answer')}; {level}",
        caption="bars from 0 to 1",
    )
    if not pairs.height:
        return
    out.show("")
    out.show_columns(
        [Column(name, pairs[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("a wins", [NOTHING if value is None else number(value) for value in pairs["share"]]),
            Column("low", [number(value) for value in pairs["share_low"]]),
            Column("high", [number(value) for value in pairs["share_high"]]),
            Column("queries", [f"{seen:,} of {asked:,}" for seen, asked in pairs.select("queries", "asked").rows()]),
            Column("people", [f"{count:,}" for count in pairs["assessors"]]),
            Column("", ["decided" if one else "open" for one in pairs["decided"]], numeric=False),
        ],
        title=f"Pairs of systems: {int(estimates.decided.sum()):,} of {pairs.height:,} decided",
    )
    out.show("")


def rank_orders(out: Output, runs: list[Path], stop: str, level: float) -> None:
    """Print the ordered groups of every query, and how far experts agree."""
    import polars as pl

    path = folder.folder_of(runs)
    assert path is not None
    look = folder_views.load_stored_orders(out, path, _wanted(stop, level)).look
    estimates = look.estimates
    out.note("the interval of the mean agreement is about queries like these and holds at all looks together")
    for note in estimates.notes():
        out.note(note)
    if not out.for_people:
        out.kinds(estimates.queries_frame(), estimates.groups_frame(), pl.DataFrame([look.summary()]))
        return
    _show_queries(look, out)
    out.show(estimates.sentence(), f"{_stop_said(look)}.")


def _show_queries(look: OrderLook, out: Output) -> None:
    frame = look.estimates.queries
    if not frame.height:
        return
    shown = frame.head(_FEW_QUERIES)
    more = frame.height - shown.height

    def cells(name: str, digits: str) -> list[str]:
        return [NOTHING if value is None else format(value, digits) for value in shown[name]]

    out.show_columns(
        [Column("query", shown["query"].to_list(), numeric=False)],
        [
            Column("documents", cells("documents", ",")),
            Column("similar", cells("similar", ".1f")),
            Column("rankings", cells("rankings", ",")),
            Column("groups", cells("groups", ",")),
            Column("τ", cells("tau", ".3f")),
            Column("W", cells("w", ".3f")),
        ],
        title=f"{counted(frame.height, 'query', 'queries')} put into order, {counted(look.answered, 'ranking')}",
        caption=f"and {more:,} more: --format jsonl lists all" if more else "",
    )
    out.show("")


def _stop_said(look: ListLook | OrderLook) -> str:
    return f"{'Judging may stop' if look.decision.stop else 'Judging goes on'}: {look.decision.reason}"


def _wanted(stop: str, level: float) -> dict[str, Any]:
    return {"estimates.stop": stop, "estimates.level": level}
