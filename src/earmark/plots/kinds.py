"""What campaigns of the other kinds conclude, as pictures: shares won, agreement of experts, precision of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.campaign.list_estimates import ListEstimates
from earmark.campaign.order_campaign import OrderEstimates
from earmark.plots.style import BLUE, INK, MUTED, drawing, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More rows than this are drawn without their names.
_READABLE = 40


def won_data(estimates: ListEstimates) -> pl.DataFrame:
    """Return the share that every system wins against the others, the best first.

    Returns
    -------
    polars.DataFrame
        ``system``, ``rank``, ``estimate``, ``low``, ``high``.
    """
    return estimates.systems_frame().select("system", "rank", "estimate", "low", "high")


def plot_won(estimates: ListEstimates, *, ax: Axes | None = None) -> Axes:
    """Draw the share that every system wins against the others, with its interval, the best on top.

    Parameters
    ----------
    estimates : ListEstimates
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = won_data(estimates)
    label = f"share won against the others, {_intervals(estimates)}"
    return _draw_intervals(data.with_columns(decided=True), "system", label, ax)


def shares_data(estimates: ListEstimates) -> pl.DataFrame:
    """Return what is drawn of every pair, the system that wins more often first; surest pairs on top.

    Returns
    -------
    polars.DataFrame
        ``pair``, ``estimate`` (null where nobody answered), ``low``, ``high`` and ``decided``.
    """
    frame = estimates.pairs_frame()
    turned = pl.col("share").fill_null(0.5) < 0.5
    names = pl.when(turned).then(pl.format("{} over {}", "b", "a")).otherwise(pl.format("{} over {}", "a", "b"))
    return frame.select(
        pair=names,
        estimate=pl.when(turned).then(1 - pl.col("share")).otherwise("share"),
        low=pl.when(turned).then(1 - pl.col("share_high")).otherwise("share_low"),
        high=pl.when(turned).then(1 - pl.col("share_low")).otherwise("share_high"),
        decided="decided",
    ).sort("low", "pair", descending=[True, False], maintain_order=True)


def plot_shares(estimates: ListEstimates, *, ax: Axes | None = None) -> Axes:
    """Draw the share of queries that one system wins against another, with its interval.

    Blue pairs are decided: their interval excludes one half, the dotted line.

    Parameters
    ----------
    estimates : ListEstimates
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    label = f"share of queries won, {_intervals(estimates)}"
    return _draw_intervals(shares_data(estimates), "pair", label, ax)


def _intervals(estimates: ListEstimates) -> str:
    return f"{100 * estimates.level:g}% intervals that hold {'at any time' if estimates.anytime else 'at one look'}"


def _draw_intervals(data: pl.DataFrame, name: str, label: str, ax: Axes | None) -> Axes:
    names = [plain(one, longest=40) for one in data[name]] or [""]
    readable = data.height <= _READABLE
    each = 0.3 if readable else 0.1
    with drawing(ax, width=5.9 + 0.1 * max(map(len, names)), height=1.1 + each * max(data.height, 2)) as axes:
        place = np.arange(data.height)
        decided = data["decided"].to_numpy().astype(bool)
        for chosen, colour, fill, meaning in (
            (decided, BLUE, BLUE, "decided"),
            (~decided, MUTED, "white", "open"),
        ):
            part = data.filter(pl.Series(chosen))
            axes.hlines(place[chosen], part["low"].to_numpy(), part["high"].to_numpy(), color=colour, linewidth=2.2)
            axes.plot(
                part["estimate"].to_numpy(),
                place[chosen],
                "o",
                color=colour,
                markerfacecolor=fill,
                markersize=7 if readable else 4,
                label=meaning,
                zorder=3,
            )
        axes.axvline(0.5, color=INK, linewidth=0.9, linestyle=":")
        axes.set_yticks(place if readable else [], names if readable else [])
        axes.set_ylim(max(data.height, 1) - 0.4, -0.6)
        axes.set_xlim(-0.02, 1.02)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(label)
        if decided.any() and not decided.all():
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0.1, handletextpad=0.3)
    return axes


def orders_data(estimates: OrderEstimates) -> pl.DataFrame:
    """Return the agreement of every query with two rankings or more, the highest first.

    Returns
    -------
    polars.DataFrame
        ``query``, ``tau``, ``w`` and ``rankings``.
    """
    known = estimates.queries.filter(pl.col("tau").is_not_null())
    return known.select("query", "tau", "w", "rankings").sort("tau", "query", descending=[True, False])


def plot_orders(estimates: OrderEstimates, *, ax: Axes | None = None) -> Axes:
    """Draw how far experts agree on every query, and the interval of the mean.

    Discs are the mean pairwise rank correlation of a query; the line is the mean over queries, the band its interval.
    At 0, the dotted line, experts agree no more than by chance.

    Parameters
    ----------
    estimates : OrderEstimates
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = orders_data(estimates)
    names = [plain(name) for name in data["query"]] or [""]
    readable = data.height <= _READABLE
    each = 0.26 if readable else 0.1
    with drawing(ax, width=5.9 + 0.1 * max(map(len, names)), height=1.3 + each * max(data.height, 2)) as axes:
        place = np.arange(data.height)
        level = f"{100 * estimates.level:g}% interval of the mean"
        axes.axvspan(estimates.tau.low, estimates.tau.high, color=BLUE, alpha=0.12, linewidth=0, label=level)
        if estimates.tau.mean is not None:
            axes.axvline(estimates.tau.mean, color=BLUE, linewidth=1.6, label="mean")
        axes.axvline(0.0, color=INK, linewidth=0.9, linestyle=":")
        axes.plot(data["tau"].to_numpy(), place, "o", color=BLUE, markersize=6 if readable else 3, label="one query")
        axes.set_yticks(place if readable else [], names if readable else [])
        axes.set_ylim(max(data.height, 1) - 0.4, -0.6)
        # Nobody agrees far less than by chance: the axis goes no further down than what there is to see.
        least = min(0.0, estimates.tau.low, *data["tau"].to_list())
        axes.set_xlim(max(least - 0.05, -1.02), 1.02)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel("mean pairwise rank correlation of experts (Kendall's τ)")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderpad=0.1, handletextpad=0.3)
    return axes


def precision_data(precision: pl.DataFrame) -> pl.DataFrame:
    """Return the preference precision of systems as it is drawn: those that are asked about no pair are left out.

    Parameters
    ----------
    precision : polars.DataFrame
        As from :func:`earmark.campaign.pairs.precision.precision_so_far`.

    Returns
    -------
    polars.DataFrame
        ``system``, ``precision``, ``low``, ``high`` (the precision itself where there is no interval) and ``pairs``.
    """
    known = precision.filter(pl.col("precision").is_not_null())
    ends = [pl.col(name).fill_null(pl.col("precision")) for name in ("low", "high")]
    return known.select("system", "precision", *ends, "pairs")


def plot_precision(precision: pl.DataFrame, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the preference precision of systems on the pairs answered so far, the best on top.

    Parameters
    ----------
    precision : polars.DataFrame
        As for :func:`precision_data`.
    level : float
        Of the intervals.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = precision_data(precision).rename({"precision": "estimate"}).with_columns(decided=True)
    label = f"preference precision on answered pairs, {100 * level:g}% intervals at one look"
    return _draw_intervals(data, "system", label, ax)
