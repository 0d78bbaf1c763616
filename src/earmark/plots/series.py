"""Any numbers by group, as lines or as bars, and many pairs of numbers as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from earmark.errors import ParameterError
from earmark.plots.accuracy import actual_data
from earmark.plots.style import BLUE, INK, LINES, MARKERS, MUTED, PALETTE, drawing, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Spread = Literal["bars", "band"]
# So many marks on a line; more would hide it.
_MARKS = 15
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++++")
_WIDTH = 0.8


def lines_data(data: pl.DataFrame) -> pl.DataFrame:
    """Return the points of lines, by line in the order in which they come, and along ``x``.

    Parameters
    ----------
    data : polars.DataFrame
        ``series``, the name of a line, ``x`` and ``y``; ``low`` and ``high`` where something is known about how far
        ``y`` varies.

    Returns
    -------
    polars.DataFrame
        The same columns, without points whose ``y`` is missing.

    Raises
    ------
    ParameterError
        If a column is missing, or there is nothing to draw.
    """
    columns = _columns(data)
    order = data["series"].unique(maintain_order=True)
    place = pl.col("series").replace_strict(order, np.arange(order.len()), return_dtype=pl.Int64)
    return data.select(columns).drop_nulls("y").sort(place, "x", maintain_order=True)


def plot_lines(
    data: pl.DataFrame,
    *,
    x_name: str = "x",
    y_name: str = "y",
    spread: Spread = "bars",
    log_x: bool = False,
    marks: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line for every series, with how far it varies as bars or as a band.

    Parameters
    ----------
    data : polars.DataFrame
        As for :func:`lines_data`.
    x_name, y_name : str
        The names of the axes.
    spread : {"bars", "band"}
        How ``low`` and ``high`` are drawn.
    log_x : bool
        Count equal ratios of ``x`` as equally far.
    marks : bool
        Mark the points; curves have none.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    drawn = lines_data(data)
    with drawing(ax) as axes:
        for number, ((name,), part) in enumerate(drawn.group_by("series", maintain_order=True)):
            colour = PALETTE[number % len(PALETTE)]
            x, y = part["x"].to_numpy(), part["y"].to_numpy()
            if "low" in part.columns:
                low, high = part["low"].to_numpy(), part["high"].to_numpy()
                if spread == "band":
                    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
                else:
                    axes.vlines(x, low, high, color=colour, linewidth=1)
            axes.plot(
                x,
                y,
                LINES[number % len(LINES)],
                color=colour,
                marker=MARKERS[number % len(MARKERS)] if marks else None,
                markevery=max(1, part.height // _MARKS),
                label=legend_label(str(name)),
            )
        if log_x:
            from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(x_name)
        axes.set_ylabel(y_name)
        axes.grid()
        if drawn["series"].n_unique() > 1:
            axes.legend()
    return axes


def bars_data(data: pl.DataFrame) -> pl.DataFrame:
    """Return the heights of bars, by series in the order in which they come.

    Parameters
    ----------
    data : polars.DataFrame
        As for :func:`lines_data`; ``x`` is text: what the bars that stand together are about.

    Returns
    -------
    polars.DataFrame
        The same columns, without bars whose height is missing.

    Raises
    ------
    ParameterError
        If a column is missing, or there is nothing to draw.
    """
    return data.select(_columns(data)).drop_nulls("y").with_columns(pl.col("x").cast(pl.String))


def plot_bars(data: pl.DataFrame, *, x_name: str = "", y_name: str = "y", ax: Axes | None = None) -> Axes:
    """Draw bars side by side, one of every series for each ``x``, with how far they vary.

    Parameters
    ----------
    data : polars.DataFrame
        As for :func:`bars_data`.
    x_name, y_name : str
        The names of the axes.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    drawn = bars_data(data)
    with drawing(ax) as axes:
        cases = drawn["x"].unique(maintain_order=True).to_list()
        names = drawn["series"].unique(maintain_order=True).to_list()
        width = _WIDTH / len(names)
        for number, name in enumerate(names):
            part = drawn.filter(pl.col("series") == name)
            place = np.array([cases.index(case) for case in part["x"]]) + (number - (len(names) - 1) / 2) * width
            axes.bar(
                place,
                part["y"].to_numpy(),
                width=width * 0.94,
                color=PALETTE[number % len(PALETTE)],
                alpha=0.85,
                # A copy in black and white still tells them apart.
                hatch=_HATCHES[number % len(_HATCHES)],
                edgecolor="white",
                linewidth=0,
                label=legend_label(name),
            )
            if "low" in part.columns:
                axes.vlines(place, part["low"].to_numpy(), part["high"].to_numpy(), color=INK, linewidth=1)
        axes.set_xticks(np.arange(len(cases)), cases)
        axes.set_xlabel(x_name)
        axes.set_ylabel(y_name)
        axes.grid(axis="y")
        if len(names) > 1:
            axes.legend()
    return axes


def heat_data(
    estimated: ArrayLike, actual: ArrayLike, *, bins: int = 20, ends: tuple[float, float] = (0.0, 1.0)
) -> pl.DataFrame:
    """Return how many quantities are in every cell of a grid.

    Parameters
    ----------
    estimated, actual : array_like of float, of the same length
    bins : int
        How many cells there are in each direction.
    ends : tuple of float
        Between which values the grid lies.

    Returns
    -------
    polars.DataFrame
        ``actual`` and ``estimated``, the middle of a cell, and ``count``; cells without any are left out.

    Raises
    ------
    ParameterError
        If they do not have the same length, or some lie outside of the grid.
    """
    data = actual_data(estimated, actual).to_numpy()
    if data.size and not ((data >= ends[0]) & (data <= ends[1])).all():
        raise ParameterError(f"expected values from {ends[0]:g} to {ends[1]:g}, got {data.min():g} to {data.max():g}")
    count, edges, _ = np.histogram2d(data[:, 0], data[:, 1], bins=bins, range=(ends, ends))
    middle = (edges[:-1] + edges[1:]) / 2
    x, y = np.nonzero(count)
    return pl.DataFrame({"actual": middle[x], "estimated": middle[y], "count": count[x, y].astype(np.int64)})


def plot_heat(
    estimated: ArrayLike,
    actual: ArrayLike,
    *,
    bins: int = 20,
    ends: tuple[float, float] = (0.0, 1.0),
    what: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw where estimates lie against actual values as a heat map; right ones lie on the diagonal.

    Parameters
    ----------
    estimated, actual, bins, ends
        As for :func:`heat_data`.
    what : str
        What is estimated, for the names of the axes.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = heat_data(estimated, actual, bins=bins, ends=ends)
    with drawing(ax, width=5.2, height=4.4) as axes:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.ticker import MaxNLocator

        edges = np.linspace(*ends, bins + 1)
        cells = np.full((bins, bins), np.nan)
        place = [np.searchsorted(edges, data[name].to_numpy(), side="right") - 1 for name in ("estimated", "actual")]
        cells[place[0], place[1]] = data["count"].to_numpy()
        colours = LinearSegmentedColormap.from_list("earmark", ["#d6e6f2", BLUE, "#00263d"])
        mesh = axes.pcolormesh(edges, edges, cells, cmap=colours, vmin=0)
        axes.plot(ends, ends, "--", color=MUTED, linewidth=1)
        axes.set_aspect("equal")
        axes.set_xlabel(f"actual {what}")
        axes.set_ylabel(f"estimated {what}")
        axes.grid()
        axes.figure.colorbar(mesh, ax=axes, label="count", shrink=0.8, ticks=MaxNLocator(nbins=5, integer=True))
    return axes


def _columns(data: pl.DataFrame) -> list[str]:
    """Return the columns to draw, or say which is missing."""
    missing = [name for name in ("series", "x", "y") if name not in data.columns]
    if missing:
        raise ParameterError(f"expected the columns series, x and y, got no {missing[0]}")
    if not data.height:
        raise ParameterError("there is nothing to draw")
    spread = ["low", "high"] if {"low", "high"} <= set(data.columns) else []
    return ["series", "x", "y", *spread]
