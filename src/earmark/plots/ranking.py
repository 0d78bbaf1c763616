"""A ranking as a picture: systems with their intervals, and how sure the order of every two is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign, Look
from earmark.campaign.statements import ordered_pairs
from earmark.campaign.verdict import Verdict
from earmark.inference.confidence import Ranking
from earmark.inference.headline import may_be_best
from earmark.plots.style import BLUE, MUTED, drawing, ink_on, plain
from earmark.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ranked = Ranking | Verdict | Look | Campaign
# More systems than this leave no room for figures in the cells of a matrix.
_READABLE = 18


def ranking_of(shown: Ranked) -> Ranking:
    """Return the ranking of a result: itself, or that of a verdict, a look or a campaign."""
    return shown if isinstance(shown, Ranking) else shown.ranking


def ranking_data(ranking: Ranked) -> pl.DataFrame:
    """Return the systems, best first, as they are drawn.

    Parameters
    ----------
    ranking : Ranking, Verdict, Look or Campaign

    Returns
    -------
    polars.DataFrame
        ``system``, ``rank``, ``estimate``, ``low``, ``high``, and ``may_be_best``: no system of the first place is
        decided to be better.
    """
    ranking = ranking_of(ranking)
    systems = pl.Series(ranking.estimates.systems, dtype=pl.String)
    frame = ranking.systems_frame().select("system", "rank", "estimate", "low", "high")
    may_be = pl.DataFrame({"system": systems, "may_be_best": may_be_best(ranking)})
    return frame.join(may_be, on="system", how="left", maintain_order="left")


def plot_ranking(ranking: Ranked, *, ax: Axes | None = None) -> Axes:
    """Draw every system's estimate and interval, the best on top.

    Blue discs are the systems that may still be the best; white ones are decided not to be.

    Parameters
    ----------
    ranking : Ranking, Verdict, Look or Campaign
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    ranking = ranking_of(ranking)
    data = ranking_data(ranking)
    longest = max(len(plain(name)) for name in data["system"])
    with drawing(ax, width=5.9 + 0.1 * longest, height=1.1 + 0.3 * max(data.height, 2)) as axes:
        place = np.arange(data.height)
        for name, colour, fill in (("may_be_best", BLUE, BLUE), ("beaten", MUTED, "white")):
            chosen = data["may_be_best"].to_numpy() == (name == "may_be_best")
            low, middle, high = (data[column].to_numpy()[chosen] for column in ("low", "estimate", "high"))
            axes.hlines(place[chosen], low, high, color=colour, linewidth=2.2)
            label = "may be the best" if name == "may_be_best" else "decided not to be"
            axes.plot(
                middle, place[chosen], "o", color=colour, markerfacecolor=fill, markersize=7, label=label, zorder=3
            )
        axes.set_yticks(place, [plain(name) for name in data["system"]])
        axes.set_ylim(data.height - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        direction = "" if ranking.estimates.measure.higher_is_better else " (lower is better)"
        axes.set_xlabel(f"{ranking.estimates.measure}{direction}, {100 * ranking.level:g}% intervals")
        if not data["may_be_best"].all():
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0.1, handletextpad=0.3)
    return axes


def pairs_data(ranking: Ranked) -> pl.DataFrame:
    """Return the cells of the matrix as they are drawn: the system of the row stands before that of the column.

    Parameters
    ----------
    ranking : Ranking, Verdict, Look or Campaign

    Returns
    -------
    polars.DataFrame
        ``row``, ``column``, ``probability`` that the first is better (null where the two cannot differ), ``decided``.
    """
    return ordered_pairs(ranking_of(ranking))


def plot_pairs(ranking: Ranked, *, ax: Axes | None = None) -> Axes:
    """Draw how sure it is that the system of a row is better than that of a column, in percent.

    The darker, the surer; decided pairs are in bold, and ``=`` stands for two that cannot differ. Where there are too
    many systems for figures, a dot marks the pairs that are open.

    Parameters
    ----------
    ranking : Ranking, Verdict, Look or Campaign
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    ranking = ranking_of(ranking)
    data = pairs_data(ranking)
    names: list[str] = ranking.systems_frame()["system"].to_list()
    side = max(len(names) - 1, 1)
    longest = max(len(plain(name)) for name in names)
    cell = 0.5 if side < _READABLE else 0.3
    with drawing(ax, width=1.2 + 0.1 * longest + cell * side, height=0.7 + 0.06 * longest + 0.8 * cell * side) as axes:
        from matplotlib.colors import LinearSegmentedColormap

        shown = np.full((side, side), np.nan)
        at = {name: index for index, name in enumerate(names)}
        cells = [(at[row], at[column] - 1, chance, decided) for row, column, chance, decided in data.iter_rows()]
        for row, column, chance, _ in cells:
            shown[row, column] = 0.5 if chance is None else chance
        colours = LinearSegmentedColormap.from_list("earmark", ["#f4f6f8", "#56a3d3", "#004a76"])
        edges = np.arange(side + 1) - 0.5
        cells_shown = np.ma.masked_invalid(shown)
        axes.pcolormesh(edges, edges, cells_shown, cmap=colours, vmin=0.5, vmax=1.0, edgecolors="white", linewidth=1.5)
        axes.set_ylim(side - 0.5, -0.5)
        for row, column, chance, decided in cells:
            text = "=" if chance is None else percent(chance)
            if side >= _READABLE and chance is not None:
                text = "" if decided else "•"
            ink = ink_on(colours((shown[row, column] - 0.5) / 0.5))
            weight = "bold" if decided else "normal"
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=8.5, fontweight=weight)
        axes.set_xticks(
            np.arange(side), [plain(name) for name in names[1:]], rotation=40, ha="left", rotation_mode="anchor"
        )
        axes.set_yticks(np.arange(side), [plain(name) for name in names[:-1] or names])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        if side > 2:
            bold = f"bold from {100 * ranking.level:g}% on: decided"
            if ranking.withheld is not None:
                bold = "no pair is called decided"
            figures = f"% sure that the row\nis better than the column;\n{bold}"
            dots = "the darker, the surer that the row\nis better than the column; a dot: open"
            axes.text(
                -0.45,
                side - 0.55,
                figures if side < _READABLE else dots,
                ha="left",
                va="bottom",
                fontsize=8.5,
                color=MUTED,
            )
    return axes
