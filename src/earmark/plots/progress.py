"""A campaign as a picture: how the estimates of all systems close in as more is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import polars as pl

from earmark.campaign.campaign import Look
from earmark.errors import ParameterError
from earmark.plots.style import INK, LINES, MARKERS, PALETTE, drawing, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKED = 12


def progress_data(looks: Sequence[Look]) -> pl.DataFrame:
    """Return the estimates at every look.

    Returns
    -------
    polars.DataFrame
        ``judged``, ``system``, ``estimate``, ``low``, ``high``; at every look the systems in the order of the last one.
    """
    if not looks:
        raise ParameterError("a campaign without a look has nothing to show")
    order = looks[-1].ranking.systems_frame()["system"].to_list()
    parts = []
    for look in looks:
        frame = look.ranking.systems_frame().select("system", "estimate", "low", "high")
        parts.append(frame.select(pl.lit(look.judged, dtype=pl.Int64).alias("judged"), pl.all()))
    return (
        pl.concat(parts)
        .sort("judged", pl.col("system").cast(pl.Enum(order)))
        .with_columns(pl.col("system").cast(pl.String))
    )


def plot_progress(looks: Sequence[Look], *, truth: Mapping[str, float] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the estimate of every system with its interval against the number of judgments.

    Parameters
    ----------
    looks : sequence of Look
        Of one campaign, in their order.
    truth : mapping of str to float, optional
        By system, what judging everything would say; marked at the right.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data, ranking = progress_data(looks), looks[-1].ranking
    label = f"{ranking.estimates.measure} with {100 * ranking.level:g}% interval"
    return draw_progress(data, label, truth=truth, ax=ax)


def draw_progress(
    data: pl.DataFrame, label: str, *, truth: Mapping[str, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what :func:`progress_data` returned, in this campaign or in one that was kept in a file.

    Parameters
    ----------
    data : polars.DataFrame
    label : str
        What is estimated.
    truth, ax
        As for :func:`plot_progress`.
    """
    last = int(data["judged"].to_numpy().max(initial=0))
    with drawing(ax, width=7.2, height=4.2) as axes:
        styles = zip(cycle(PALETTE), cycle(MARKERS), cycle(LINES), strict=False)
        every = max(data["judged"].n_unique() // _MARKED, 1)
        for (name,), part in data.group_by("system", maintain_order=True):
            colour, marker, line = next(styles)
            judged = part["judged"].to_numpy()
            axes.fill_between(judged, part["low"].to_numpy(), part["high"].to_numpy(), color=colour, alpha=0.12, lw=0)
            axes.plot(
                judged,
                part["estimate"].to_numpy(),
                line,
                color=colour,
                marker=marker,
                markevery=every,
                label=plain(str(name)),
            )
            if truth is not None:
                axes.plot([1.03 * last], [truth[str(name)]], color=colour, marker=marker, clip_on=False, markersize=8)
        if truth is not None:
            axes.axvline(1.015 * last, color=INK, linewidth=0.8, linestyle=":")
            axes.annotate(
                "all judged",
                (1.03 * last, 1.0),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="bottom",
                fontsize=9,
            )
        axes.set_xlim(0, last * (1.06 if truth is not None else 1.0) or 1)
        axes.set_xlabel("judgments")
        axes.set_ylabel(label)
        axes.grid(axis="y")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes
