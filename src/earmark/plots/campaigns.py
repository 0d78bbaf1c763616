"""Simulated campaigns as a picture: how sure the method was and how right, as more was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from earmark.plots.style import BLUE, MARKERS, ORANGE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def campaign_data(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return the means over campaigns at every number of judgments.

    Parameters
    ----------
    outcomes : polars.DataFrame
        As from :func:`~earmark.simulation.campaigns.outcomes_frame`.

    Returns
    -------
    polars.DataFrame
        ``judged``, how many ``repeats`` had a look there, and the means of ``mean_confidence`` and ``accuracy`` with
        their least and greatest values: ``…_low``, ``…_high``.
    """
    shown = ("mean_confidence", "accuracy")
    return (
        outcomes.group_by("judged")
        .agg(
            pl.col("repeat").n_unique().cast(pl.Int64).alias("repeats"),
            *(pl.col(name).cast(pl.Float64).mean() for name in shown),
            *(pl.col(name).cast(pl.Float64).min().alias(f"{name}_low") for name in shown),
            *(pl.col(name).cast(pl.Float64).max().alias(f"{name}_high") for name in shown),
        )
        .sort("judged")
    )


def plot_campaign(outcomes: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw mean confidence and accuracy against the number of judgments, bands from the least to the greatest.

    Where the line of confidence lies above that of accuracy, the method was surer than it should have been.

    Parameters
    ----------
    outcomes : polars.DataFrame
        As from :func:`~earmark.simulation.campaigns.outcomes_frame`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = campaign_data(outcomes)
    with drawing(ax) as axes:
        judged = data["judged"].to_numpy()
        for name, label, colour, line, marker in (
            ("mean_confidence", "mean confidence", BLUE, "-", MARKERS[0]),
            ("accuracy", "accuracy", ORANGE, "--", MARKERS[1]),
        ):
            low, high = (data[f"{name}_{end}"].to_numpy() for end in ("low", "high"))
            axes.fill_between(judged, low, high, color=colour, alpha=0.15, linewidth=0)
            often = max(1, data.height // 12)
            axes.plot(judged, data[name].to_numpy(), line, color=colour, marker=marker, markevery=often, label=label)
        axes.set_xlabel("judgments")
        axes.set_ylabel("over pairs of systems")
        axes.grid()
        axes.legend(loc="lower right")
    return axes
