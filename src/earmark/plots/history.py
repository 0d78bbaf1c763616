"""Results over time as a picture: the scores of systems in one nightly run after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import polars as pl

from earmark.data.history import Record
from earmark.errors import ParameterError
from earmark.plots.style import INK, LINES, MARKERS, PALETTE, drawing, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCHEMA: dict[str, Any] = {
    "time": pl.Datetime("us", "UTC"),
    "system": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "passed": pl.Boolean,
}


def history_data(records: Sequence[Record], *, measure: str | None = None) -> pl.DataFrame:
    """Return the scores of all records.

    Parameters
    ----------
    records : sequence of Record
        As :func:`earmark.data.history.read_history` returns them.
    measure : str, optional
        Of one measure; of all when omitted.

    Returns
    -------
    polars.DataFrame
        ``time``, ``system``, ``measure``, ``value``, ``low``, ``high``, ``passed``, oldest first.
    """
    names = list(_SCHEMA)[1:-1]
    rows = [
        {"time": record.time, **{name: score.get(name) for name in names}, "passed": record.passed}
        for record in records
        for score in record.scores
    ]
    frame = pl.DataFrame(rows, schema=_SCHEMA).sort("time", maintain_order=True)
    return frame if measure is None else frame.filter(pl.col("measure") == measure)


def plot_history(records: Sequence[Record], *, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the score of every system against time, with its interval where there is one; failed checks are marked.

    Parameters
    ----------
    records : sequence of Record
    measure : str, optional
        Which measure; may be left out where there is only one.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = history_data(records, measure=measure)
    there = data["measure"].unique(maintain_order=True).to_list()
    if len(there) != 1:
        known = ", ".join(history_data(records)["measure"].unique(maintain_order=True)) or "none"
        raise ParameterError(f"a picture of results over time shows one measure, there are {known}")
    with drawing(ax, width=7.2, height=4.2) as axes:
        styles = zip(cycle(PALETTE), cycle(MARKERS), cycle(LINES), strict=False)
        for (name,), part in data.group_by("system", maintain_order=True):
            colour, marker, line = next(styles)
            time = part["time"].dt.replace_time_zone(None).to_numpy()
            bounded = part["low"].is_not_null().to_numpy()
            if bounded.any():
                low, high = part["low"].to_numpy()[bounded], part["high"].to_numpy()[bounded]
                axes.fill_between(time[bounded], low, high, color=colour, alpha=0.12, lw=0)
            axes.plot(time, part["value"].to_numpy(), line, color=colour, marker=marker, label=legend_label(str(name)))
        failed = data.filter(~pl.col("passed"))["time"].unique().dt.replace_time_zone(None).to_numpy()
        for number, moment in enumerate(failed):
            label = "failed check" if number == 0 else "_"
            axes.axvline(moment, color=INK, linewidth=0.8, linestyle=":", zorder=0, label=label)
        axes.set_ylabel(there[0])
        axes.tick_params(axis="x", labelrotation=30)
        axes.grid(axis="y")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes
