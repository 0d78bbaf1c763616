"""A page about results over time: a figure and a table for every measure, and the checks that failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from earmark.data.history import Record
from earmark.errors import ParameterError
from earmark.pages import render, write_page
from earmark.plots.history import history_data, plot_history
from earmark.plots.style import svg_text


def history_html(records: Sequence[Record]) -> str:
    """Write a page about the records of a history.

    Parameters
    ----------
    records : sequence of Record
        Oldest first.

    Returns
    -------
    str
        A whole page that needs no other file; the same records always give the same text.
    """
    data = history_data(records)
    if data.is_empty():
        raise ParameterError("the history has no scores to show")
    measures = data["measure"].unique(maintain_order=True).to_list()
    pictures = {
        measure: svg_text(
            plot_history(records, measure=measure),
            prefix=f"history{place}",
            label=f"{measure} of every system over time",
        )
        for place, measure in enumerate(measures)
    }
    return render(
        "report_history.html",
        measures=measures,
        pictures=pictures,
        tables={measure: latest(data.filter(pl.col("measure") == measure)) for measure in measures},
        records=[record for record in reversed(records) if record.scores],
        failed=sum(record.passed is False for record in records),
        checked=sum(record.passed is not None for record in records),
        systems=data["system"].n_unique(),
    )


def latest(scores: pl.DataFrame) -> list[dict[str, object]]:
    """Return one row per system: its last score, the one before and the change; the systems of the last run first."""
    rows: list[dict[str, object]] = []
    for (system,), part in scores.group_by("system", maintain_order=True):
        values = part["value"].to_list()
        before = values[-2] if len(values) > 1 else None
        change = None if before is None or values[-1] is None else values[-1] - before
        last = {"system": system, "time": part["time"][-1], "value": values[-1], "before": before, "change": change}
        rows.append(last | {"runs": part.height})
    return sorted(rows, key=lambda row: row["time"], reverse=True)  # type: ignore[arg-type, return-value]


def write_history(records: Sequence[Record], path: Path) -> None:
    """Write the page to a file, all of it or nothing."""
    write_page(history_html(records), path)
