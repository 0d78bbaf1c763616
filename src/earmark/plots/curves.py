"""Curves of systems: precision and recall, ROC, lift, and the dynamic recall behind ADR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from earmark.errors import ParameterError
from earmark.measures.curves import Curves
from earmark.plots.style import BLACK, FAINT, LINES, MARKERS, MUTED, PALETTE, drawing, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many lines can be told apart by colour and stroke; the others are in the background.
_TOLD_APART = 14


def curves_data(curves: Mapping[str, Curves]) -> pl.DataFrame:
    """Return the mean curve of every system.

    Parameters
    ----------
    curves : mapping of str to Curves
        The curves of each system's lists, all of one kind, as from :mod:`earmark.measures.curves`.

    Returns
    -------
    polars.DataFrame
        ``system``, ``x``, ``y``, and the mean ``area`` below the curves of the system's lists; largest area first.
        Points where no list has a curve are left out.

    Raises
    ------
    ParameterError
        Without curves, or with curves of several kinds.
    """
    kinds = {(curve.x_name, curve.y_name) for curve in curves.values()}
    if len(kinds) != 1:
        told = ", ".join(sorted(f"{y} against {x}" for x, y in kinds)) or "none"
        raise ParameterError(f"expected curves of one kind, got {told}")
    ordered = sorted(curves.items(), key=lambda named: (-named[1].mean_area, named[0]))
    frames = [
        pl.DataFrame({"x": curve.x, "y": curve.mean}).select(
            pl.lit(name).alias("system"), "x", "y", pl.lit(curve.mean_area, dtype=pl.Float64).alias("area")
        )
        for name, curve in ordered
    ]
    return pl.concat(frames).filter(pl.col("y").is_not_nan())


def plot_curves(curves: Mapping[str, Curves], *, average: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the mean curve of every system, with the area below it in the legend (COVER, Figures 1 and 2).

    Of very many systems, those with the largest areas have colours and names, the others are drawn in the background.

    Parameters
    ----------
    curves : mapping of str to Curves
        As for :func:`curves_data`.
    average : bool
        Draw the mean of all systems as well.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = curves_data(curves)
    one = next(iter(curves.values()))
    with drawing(ax, width=6.2, height=4.4) as axes:
        if one.x_name == "fallout":
            axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (2, 3)))
        for number, (name, points) in enumerate(_by_system(data)):
            axes.plot(points["x"].to_numpy(), points["y"].to_numpy(), **_look(number, name, points))
        if average:
            mean = data.group_by("x").agg(pl.col("y").mean()).sort("x")
            area = float(np.mean([curve.mean_area for curve in curves.values()]))
            axes.plot(mean["x"].to_numpy(), mean["y"].to_numpy(), color=BLACK, linewidth=3, label=_label("mean", area))
        _name_the_rest(axes, len(curves))
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel(one.x_name)
        axes.set_ylabel(one.y_name)
        axes.grid()
        axes.legend(title="area", loc="center left", bbox_to_anchor=(1.0, 0.5), alignment="left")
    return axes


def dynamic_recall_data(curves: Mapping[str, Curves]) -> pl.DataFrame:
    """Return the mean dynamic recall of every system: as :func:`curves_data`, the ``area`` being ADR.

    Raises
    ------
    ParameterError
        If the curves are of another kind.
    """
    data = curves_data(curves)
    if any(curve.y_name != "dynamic recall" for curve in curves.values()):
        raise ParameterError(f"expected curves of dynamic recall, got {next(iter(curves.values())).y_name}")
    return data


def plot_dynamic_recall(curves: Mapping[str, Curves], *, counts: bool = False, ax: Axes | None = None) -> Axes:
    """Draw dynamic recall at every position, with ADR, the mean over positions, in the legend (ADR, Figure 1).

    Parameters
    ----------
    curves : mapping of str to Curves
        As from :func:`~earmark.measures.curves.dynamic_recall`, one for every system.
    counts : bool
        Draw, thin and by the scale on the right, how many documents are found so far: dynamic recall times position.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = dynamic_recall_data(curves)
    with drawing(ax, width=6.2, height=4.4) as axes:
        from matplotlib.ticker import MaxNLocator

        for number, (name, points) in enumerate(_by_system(data)):
            axes.plot(
                points["x"].to_numpy(),
                points["y"].to_numpy(),
                marker=MARKERS[number % len(MARKERS)] if number < _TOLD_APART else None,
                markevery=max(1, points.height // 15),
                **_look(number, name, points),
            )
        _name_the_rest(axes, len(curves))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(0.0, max(1.0, float(np.max(data["y"].to_numpy(), initial=0.0))) * 1.03)
        axes.set_xlabel("position")
        axes.set_ylabel("dynamic recall")
        axes.grid()
        beside = 1.0
        if counts:
            beside = 1.18
            found = axes.twinx()
            for number, (_, points) in enumerate(_by_system(data)):
                found.step(
                    points["x"].to_numpy(),
                    (points["x"] * points["y"]).to_numpy(),
                    where="post",
                    color=PALETTE[number % len(PALETTE)] if number < _TOLD_APART else FAINT,
                    linewidth=0.8,
                )
            found.set_ylim(bottom=0.0)
            found.set_ylabel("documents found (thin)")
            found.spines["right"].set_visible(True)
            found.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(title="ADR", loc="center left", bbox_to_anchor=(beside, 0.5), alignment="left")
    return axes


def _look(number: int, name: str, points: pl.DataFrame) -> dict[str, Any]:
    """Return how the line of a system looks; those after the first are drawn in the background."""
    if number >= _TOLD_APART:
        return {"color": FAINT, "linewidth": 0.8, "zorder": 1}
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": LINES[number % len(LINES)],
        "label": _label(name, points["area"][0]),
    }


def _name_the_rest(axes: Axes, systems: int) -> None:
    if systems > _TOLD_APART:
        axes.plot([], [], color=FAINT, linewidth=0.8, label=f"{systems - _TOLD_APART} more, with less area")


def _label(name: str, area: float) -> str:
    return f"{legend_label(name)} ({area:.3f})"


def _by_system(data: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(str(name), points) for (name,), points in data.group_by("system", maintain_order=True)]
