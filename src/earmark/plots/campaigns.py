"""Simulated campaigns as a picture: how sure the method was and how right, as more was judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

import polars as pl

from earmark.errors import ParameterError
from earmark.plots.style import BLUE, LINES, MARKERS, MUTED, ORANGE, PALETTE, drawing, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = Literal["mean_confidence", "accuracy"]
# So many marks on a line; more would hide it.
_MARKS = 12


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
        for name, label, colour, line, marker in (
            ("mean_confidence", "mean confidence", BLUE, "-", MARKERS[0]),
            ("accuracy", "accuracy", ORANGE, "--", MARKERS[1]),
        ):
            # Where there is nothing to compare, there is nothing to draw.
            part = data.drop_nulls(name)
            judged, often = part["judged"].to_numpy(), max(1, part.height // _MARKS)
            low, high = (part[f"{name}_{end}"].to_numpy() for end in ("low", "high"))
            axes.fill_between(judged, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(judged, part[name].to_numpy(), line, color=colour, marker=marker, markevery=often, label=label)
        axes.set_xlabel("judgments")
        axes.set_ylabel("over pairs of systems")
        axes.grid()
        axes.legend(loc="lower right")
    return axes


def campaigns_data(outcomes: Mapping[str, pl.DataFrame], *, target: float = 0.95) -> pl.DataFrame:
    """Return the means over campaigns of several methods at every number of judgments.

    Parameters
    ----------
    outcomes : mapping of str to polars.DataFrame
        The campaigns of every method, as for :func:`campaign_data`.
    target : float, 0..1
        A mean confidence.

    Returns
    -------
    polars.DataFrame
        ``method``, ``judged``, ``mean_confidence``, ``accuracy``, and ``reached``: whether the target is reached there
        for the first time.

    Raises
    ------
    ParameterError
        Without methods.
    """
    if not outcomes:
        raise ParameterError("there are no campaigns to draw")
    frames = []
    for name, frame in outcomes.items():
        data = campaign_data(frame).select("judged", "mean_confidence", "accuracy").drop_nulls("mean_confidence")
        reached = (pl.col("mean_confidence") >= target).cum_sum()
        frames.append(
            data.select(
                pl.lit(name).alias("method"),
                pl.all(),
                ((reached == 1) & (pl.col("mean_confidence") >= target)).alias("reached"),
            )
        )
    return pl.concat(frames)


def plot_campaigns(
    outcomes: Mapping[str, pl.DataFrame],
    *,
    what: Drawn = "mean_confidence",
    target: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw confidence, or accuracy, of several methods against the number of judgments (MTC, Figures 2 and 3).

    Vertical lines mark where a method's mean confidence first reaches the target.

    Parameters
    ----------
    outcomes : mapping of str to polars.DataFrame
        As for :func:`campaigns_data`.
    what : {"mean_confidence", "accuracy"}
        What to draw.
    target : float, 0..1
        The mean confidence to mark.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    if what not in get_args(Drawn):
        raise ParameterError(f"campaigns have {' and '.join(get_args(Drawn))} to draw, got '{what}'")
    data = campaigns_data(outcomes, target=target)
    with drawing(ax, width=6.8) as axes:
        for number, name in enumerate(outcomes):
            part = data.filter(pl.col("method") == name).drop_nulls(what)
            colour = PALETTE[number % len(PALETTE)]
            axes.plot(
                part["judged"].to_numpy(),
                part[what].to_numpy(),
                LINES[number % len(LINES)],
                color=colour,
                marker=MARKERS[number % len(MARKERS)],
                markevery=max(1, part.height // _MARKS),
                label=legend_label(name),
            )
            for judged in part.filter("reached")["judged"]:
                axes.axvline(judged, color=colour, linestyle=(0, (4, 3)), linewidth=0.9)
        if what == "mean_confidence":
            axes.axhline(target, color=MUTED, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.set_xlabel(f"judgments; dashed: mean confidence reaches {100 * target:g}%")
        axes.set_ylabel("mean confidence" if what == "mean_confidence" else "accuracy")
        axes.grid()
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), alignment="left")
    return axes
