"""Estimates beside the truth, and how scores are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from earmark.errors import ParameterError
from earmark.plots.style import BLUE, MUTED, ORANGE, SKY, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A smooth line, and as far to both sides as a normal curve is seen to be above 0.
_POINTS, _REACH = 121, 3.5


def actual_data(estimated: ArrayLike, actual: ArrayLike) -> pl.DataFrame:
    """Return ``actual`` and ``estimated``, one row per quantity.

    Raises
    ------
    ParameterError
        If the two do not have the same length.
    """
    x, y = np.asarray(actual, dtype=np.float64).ravel(), np.asarray(estimated, dtype=np.float64).ravel()
    if x.size != y.size:
        raise ParameterError(f"expected as many actual values as estimates, got {x.size} and {y.size}")
    return pl.DataFrame({"actual": x, "estimated": y})


def plot_actual(estimated: ArrayLike, actual: ArrayLike, *, what: str = "score", ax: Axes | None = None) -> Axes:
    """Draw estimates against the actual values; right ones lie on the diagonal.

    Parameters
    ----------
    estimated, actual : array_like of float, of the same length
    what : str
        What is estimated, for the names of the axes.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = actual_data(estimated, actual)
    with drawing(ax, width=4.6, height=4.4) as axes:
        if data.height:
            values = data.to_numpy()
            ends = [float(values.min()), float(values.max())]
            axes.plot(ends, ends, "--", color=MUTED, linewidth=1)
        axes.plot(data["actual"].to_numpy(), data["estimated"].to_numpy(), "o", color=BLUE, alpha=0.7)
        axes.set_xlabel(f"actual {what}")
        axes.set_ylabel(f"estimated {what}")
        axes.grid()
    return axes


def distribution_data(samples: ArrayLike, *, bins: int | None = None) -> pl.DataFrame:
    r"""Return a histogram of samples, and the normal curve with their mean and standard deviation.

    Parameters
    ----------
    samples : array_like of float
        Scores that were drawn, two or more.
    bins : int, optional
        How many bars; by default :math:`\sqrt n`, at most 40.

    Returns
    -------
    polars.DataFrame
        ``kind``: ``bin`` with the middle ``x``, the ``width`` and the ``density`` of a bar, or ``normal`` with points
        of the curve, their width null. There is no curve where all samples are the same.

    Raises
    ------
    ParameterError
        With fewer than two samples, or some that are not finite.
    """
    values = np.asarray(samples, dtype=np.float64).ravel()
    if values.size < 2 or not np.all(np.isfinite(values)):
        raise ParameterError(f"a distribution needs two finite samples or more, got {np.isfinite(values).sum()}")
    density, edges = np.histogram(values, bins=bins or int(min(40, np.ceil(np.sqrt(values.size)))), density=True)
    bars = pl.DataFrame(
        {"kind": ["bin"] * density.size, "x": (edges[:-1] + edges[1:]) / 2, "width": np.diff(edges), "density": density}
    )
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation == 0:
        return bars
    z = np.linspace(-_REACH, _REACH, _POINTS)
    curve = np.exp(-(z**2) / 2) / (deviation * np.sqrt(2 * np.pi))
    points = pl.DataFrame({"kind": ["normal"] * z.size, "x": mean + deviation * z, "density": curve})
    return pl.concat([bars, points], how="diagonal")


def plot_distribution(
    samples: ArrayLike, *, bins: int | None = None, what: str = "score", ax: Axes | None = None
) -> Axes:
    """Draw a histogram of samples under the normal curve that estimates take them to follow.

    Parameters
    ----------
    samples, bins
        As for :func:`distribution_data`.
    what : str
        What was drawn, for the name of the axis.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = distribution_data(samples, bins=bins)
    bars, curve = (data.filter(pl.col("kind") == kind) for kind in ("bin", "normal"))
    with drawing(ax) as axes:
        axes.bar(
            bars["x"].to_numpy(),
            bars["density"].to_numpy(),
            width=bars["width"].to_numpy(),
            color=SKY,
            edgecolor="white",
            linewidth=0.6,
            label="samples",
        )
        if curve.height:
            axes.plot(curve["x"].to_numpy(), curve["density"].to_numpy(), color=ORANGE, label="normal curve")
        axes.set_xlabel(what)
        axes.set_ylabel("density")
        axes.grid(axis="y")
        axes.legend()
    return axes
