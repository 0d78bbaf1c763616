"""Panels of figures: each a picture of :mod:`earmark.plots` with the table that belongs to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from numpy.typing import ArrayLike

from earmark.plots.accuracy import actual_data, distribution_data, plot_actual, plot_distribution
from earmark.plots.campaigns import Drawn, campaigns_data, plot_campaigns
from earmark.plots.series import bars_data, heat_data, lines_data, plot_bars, plot_heat, plot_lines
from earmark.plots.style import MUTED
from earmark.reproduce.figures import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def lines(title: str, data: pl.DataFrame, *, diagonal: bool = False, **look: Any) -> Panel:
    """Draw lines, as :func:`~earmark.plots.series.plot_lines` does.

    Parameters
    ----------
    title : str
    data : polars.DataFrame
        ``series``, ``x``, ``y`` and, if known, ``low`` and ``high``.
    diagonal : bool
        Draw where both axes are equal.
    **look
        As for :func:`~earmark.plots.series.plot_lines`.
    """

    def draw(axes: Axes) -> None:
        plot_lines(data, **look, ax=axes)
        if diagonal:
            axes.plot([0.5, 1.0], [0.5, 1.0], "--", color=MUTED, linewidth=1, zorder=1)

    return Panel(title, lines_data(data), draw)


def bars(title: str, data: pl.DataFrame, **look: Any) -> Panel:
    """Draw bars, as :func:`~earmark.plots.series.plot_bars` does."""
    return Panel(title, bars_data(data), lambda axes: plot_bars(data, **look, ax=axes))


def heat(title: str, estimated: ArrayLike, actual: ArrayLike, **look: Any) -> Panel:
    """Draw a heat map of estimated against actual values."""
    grid = {name: value for name, value in look.items() if name != "what"}
    return Panel(
        title, heat_data(estimated, actual, **grid), lambda axes: plot_heat(estimated, actual, **look, ax=axes)
    )


def actual(title: str, estimated: ArrayLike, true: ArrayLike, group: Sequence[str], *, what: str = "score") -> Panel:
    """Draw estimated against actual values by group."""

    def draw(axes: Axes) -> None:
        plot_actual(estimated, true, group=group, what=what, ax=axes)
        # Groups may lie upon each other: every other one is a ring around the one below.
        for line in axes.get_lines()[2::2]:
            line.set(markerfacecolor="none", markersize=8, markeredgewidth=1.2)
        axes.set_aspect("equal", adjustable="datalim")

    return Panel(title, actual_data(estimated, true, group=group), draw)


def distribution(title: str, samples: ArrayLike, *, what: str, **known: Any) -> Panel:
    """Draw a histogram under a normal curve."""
    return Panel(
        title,
        distribution_data(samples, **known),
        lambda axes: plot_distribution(samples, **known, what=what, ax=axes),
    )


def campaigns(title: str, outcomes: Mapping[str, pl.DataFrame], *, what: Drawn) -> Panel:
    """Draw confidence or accuracy of several kinds of campaigns."""
    data = campaigns_data(outcomes).select("method", "judged", "reached", what)
    return Panel(title, data, lambda axes: plot_campaigns(outcomes, what=what, ax=axes))
