"""Honesty as a picture: whether claims come true as often as they say (BIAS; MTC, Figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.plots.style import BLUE, MARKERS, MUTED, ORANGE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earmark.simulation.diagnosis import Diagnosis

_LARGEST_DISC = 180.0


def reliability_data(diagnosis: Diagnosis) -> pl.DataFrame:
    """Return the bins of confidence that hold any pairs.

    Returns
    -------
    polars.DataFrame
        ``lower``, ``upper``, ``pairs``, ``confidence``, ``accuracy``, ``accuracy_low``, ``accuracy_high``.
    """
    columns = ("lower", "upper", "pairs", "confidence", "accuracy", "accuracy_low", "accuracy_high")
    return diagnosis.bins.filter(pl.col("pairs") > 0).select(columns)


def plot_reliability(diagnosis: Diagnosis, *, ax: Axes | None = None) -> Axes:
    """Draw accuracy against confidence; an honest method lies on the diagonal, an overconfident one below.

    Discs are as large as there are pairs in a bin; lines are the bounds of their accuracy.

    Parameters
    ----------
    diagnosis : Diagnosis
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = reliability_data(diagnosis)
    with drawing(ax, width=4.6, height=4.4) as axes:
        confidence, accuracy = data["confidence"].to_numpy(), data["accuracy"].to_numpy()
        axes.plot([0.5, 1.0], [0.5, 1.0], "--", color=MUTED, linewidth=1, label="honest")
        axes.vlines(confidence, data["accuracy_low"].to_numpy(), data["accuracy_high"].to_numpy(), color=BLUE)
        size = data["pairs"].to_numpy() / data["pairs"].to_numpy().max(initial=1)
        axes.scatter(confidence, accuracy, s=20 + _LARGEST_DISC * size, color=BLUE, zorder=3, alpha=0.9, linewidth=0)
        axes.set_xlabel("confidence in the order of a pair")
        axes.set_ylabel("share of pairs in the right order")
        axes.set_xlim(0.48, 1.02)
        axes.grid()
        axes.legend(loc="upper left")
    return axes


def coverage_data(diagnosis: Diagnosis) -> pl.DataFrame:
    """Return ``level``, and the share of intervals of that level that hold the truth: ``pairs``, ``systems``."""
    return diagnosis.coverage.select("level", "pairs", "systems")


def plot_coverage(diagnosis: Diagnosis, *, ax: Axes | None = None) -> Axes:
    """Draw how many intervals hold the truth against how many should; too narrow ones lie below the diagonal.

    Parameters
    ----------
    diagnosis : Diagnosis
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = coverage_data(diagnosis)
    with drawing(ax, width=4.6, height=4.4) as axes:
        level = data["level"].to_numpy()
        start = min(float(np.nanmin(data.to_numpy(), initial=1.0)), 0.6)
        axes.plot([start, 1.0], [start, 1.0], "--", color=MUTED, linewidth=1, label="honest")
        for name, colour, marker, line in (("pairs", BLUE, MARKERS[0], "-"), ("systems", ORANGE, MARKERS[1], ":")):
            label = "differences of pairs" if name == "pairs" else "scores of systems"
            axes.plot(level, data[name].to_numpy(), line, color=colour, marker=marker, label=label)
        axes.set_xlabel("nominal level of intervals")
        axes.set_ylabel("share that holds the truth")
        axes.grid()
        axes.legend(loc="lower right")
    return axes
