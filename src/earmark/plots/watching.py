"""A running campaign as a picture: how near it is to its end, and the model beside the guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.plots.style import BLUE, INK, MUTED, ORANGE, drawing, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confidence_data(history: pl.DataFrame, *, target: float | None = None) -> pl.DataFrame:
    """Return what the stop rule watches, at every look.

    Parameters
    ----------
    history : polars.DataFrame
        ``judged`` and ``value``, one row per look.
    target : float, optional
        Where the campaign stops.

    Returns
    -------
    polars.DataFrame
        ``judged``, ``value``, ``target`` (null without one), the looks without a value left out.
    """
    known = history.select(pl.col("judged").cast(pl.Int64), pl.col("value").cast(pl.Float64)).drop_nulls()
    return known.sort("judged").with_columns(target=pl.lit(target, dtype=pl.Float64))


def plot_confidence(
    history: pl.DataFrame,
    *,
    target: float | None = None,
    budget: int | None = None,
    label: str = "mean confidence",
    least: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what the stop rule watches against the number of judgments, and the line at which it stops.

    Parameters
    ----------
    history : polars.DataFrame
        As for :func:`confidence_data`.
    target : float, optional
        Where the campaign stops.
    budget : int, optional
        After how many judgments it stops, where the rule is a budget.
    label : str
        What is watched.
    least : float, optional
        Where the axis begins; .5 for a confidence.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = confidence_data(history, target=target)
    with drawing(ax) as axes:
        from matplotlib.ticker import MaxNLocator

        judged, value = data["judged"].to_numpy(), data["value"].to_numpy()
        marker = "o" if data.height <= 12 else None
        axes.plot(judged, value, color=BLUE, marker=marker)
        if data.height:
            axes.plot(judged[-1:], value[-1:], "o", color=BLUE, markersize=7, zorder=3)
        if target is not None:
            axes.axhline(target, color=ORANGE, linestyle="--", linewidth=1.2)
            axes.annotate(
                f"stops at {target:g}",
                (0.01, target),
                xycoords=("axes fraction", "data"),
                xytext=(0, 3),
                textcoords="offset points",
                fontsize=9,
                color=INK,
                va="bottom",
            )
        if budget is not None:
            axes.axvline(budget, color=ORANGE, linestyle="--", linewidth=1.2)
            axes.annotate(
                f"stops at {budget:,}",
                (budget, 0.02),
                xycoords=("data", "axes fraction"),
                xytext=(-3, 0),
                textcoords="offset points",
                fontsize=9,
                color=INK,
                ha="right",
            )
        last = max(int(judged.max(initial=0)), budget or 0)
        axes.set_xlim(0, max(1.04 * last, 5))
        if least is not None:
            axes.set_ylim(least, max(1.0, 1.02 * float(value.max(initial=0.0))))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("judgments")
        axes.set_ylabel(label)
        axes.grid(axis="y")
    return axes


def guarantee_data(model: pl.DataFrame, design: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of the model beside those that the sample guarantees, in the order of the model.

    Parameters
    ----------
    model, design : polars.DataFrame
        ``system``, ``estimate``, ``low``, ``high``.

    Returns
    -------
    polars.DataFrame
        ``system``, ``model``, ``model_low``, ``model_high``, ``design``, ``design_low``, ``design_high``.
    """
    columns = {"estimate": "{}", "low": "{}_low", "high": "{}_high"}

    def named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
        return frame.select("system", *(pl.col(old).alias(new.format(name)) for old, new in columns.items()))

    return named(model, "model").join(named(design, "design"), on="system", how="left", maintain_order="left")


def plot_guarantee(model: pl.DataFrame, design: pl.DataFrame, *, label: str, ax: Axes | None = None) -> Axes:
    """Draw the interval of the model and the guaranteed one of every system, one above the other.

    Parameters
    ----------
    model, design : polars.DataFrame
        As for :func:`guarantee_data`.
    label : str
        What is estimated.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = guarantee_data(model, design)
    longest = max((len(plain(name)) for name in data["system"]), default=0)
    with drawing(ax, width=5.9 + 0.1 * longest, height=1.2 + 0.36 * max(data.height, 2)) as axes:
        place = np.arange(data.height)
        for name, said, colour, marker, shift in (
            ("model", "by the model", BLUE, "o", -0.14),
            ("design", "guaranteed by the sample", MUTED, "s", 0.14),
        ):
            known = data[name].is_not_null().to_numpy()
            low, middle, high = (data[f"{name}{end}"].to_numpy()[known] for end in ("_low", "", "_high"))
            axes.hlines(place[known] + shift, low, high, color=colour, linewidth=2.2)
            axes.plot(middle, place[known] + shift, marker, color=colour, markersize=6, label=said, zorder=3)
        axes.set_yticks(place, [plain(name) for name in data["system"]])
        axes.set_ylim(max(data.height, 1) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(label)
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0.1, handletextpad=0.3)
    return axes
