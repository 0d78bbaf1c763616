"""Estimates beside the truth, and how scores are distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from earmark.data.arrays import Floats
from earmark.errors import ParameterError
from earmark.plots.style import MARKERS, MUTED, ORANGE, PALETTE, SKY, drawing, legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A smooth line, and as far to both sides as a normal curve is seen to be above 0.
_POINTS, _REACH = 121, 3.5
_MOST_BARS = 40


def actual_data(estimated: ArrayLike, actual: ArrayLike, *, group: Sequence[str] | None = None) -> pl.DataFrame:
    """Return ``actual`` and ``estimated``, one row per quantity, and ``group`` where quantities belong to several.

    Raises
    ------
    ParameterError
        If they do not have the same length.
    """
    x, y = np.asarray(actual, dtype=np.float64).ravel(), np.asarray(estimated, dtype=np.float64).ravel()
    if x.size != y.size:
        raise ParameterError(f"expected as many actual values as estimates, got {x.size} and {y.size}")
    data = pl.DataFrame({"actual": x, "estimated": y})
    if group is None:
        return data
    if len(group) != x.size:
        raise ParameterError(f"expected a group for each of {x.size} values, got {len(group)}")
    return data.with_columns(pl.Series("group", [str(name) for name in group], dtype=pl.String))


def plot_actual(
    estimated: ArrayLike,
    actual: ArrayLike,
    *,
    group: Sequence[str] | None = None,
    what: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw estimates against the actual values; right ones lie on the diagonal (BIAS, Figures 1.2 and 4.1 to 4.9).

    Parameters
    ----------
    estimated, actual : array_like of float, of the same length
    group : sequence of str, of the same length, optional
        What each belongs to, such as a measure or a year: groups have colours and marks of their own, in the order in
        which they come.
    what : str
        What is estimated, for the names of the axes.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = actual_data(estimated, actual, group=group)
    with drawing(ax, width=4.6 if group is None else 6.0, height=4.4) as axes:
        if data.height:
            values = data.select("actual", "estimated").to_numpy()
            ends = [float(values.min()), float(values.max())]
            axes.plot(ends, ends, "--", color=MUTED, linewidth=1)
        parts = [("", data)] if group is None else [(str(name), part) for (name,), part in _by_group(data)]
        for number, (name, part) in enumerate(parts):
            axes.plot(
                part["actual"].to_numpy(),
                part["estimated"].to_numpy(),
                MARKERS[number % len(MARKERS)],
                color=PALETTE[number % len(PALETTE)],
                alpha=0.7,
                label=legend_label(name),
            )
        axes.set_xlabel(f"actual {what}")
        axes.set_ylabel(f"estimated {what}")
        axes.grid()
        if group is not None:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), alignment="left")
    return axes


def _by_group(data: pl.DataFrame) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    return iter(data.group_by("group", maintain_order=True))


def distribution_data(
    samples: ArrayLike, *, bins: int | None = None, mean: float | None = None, variance: float | None = None
) -> pl.DataFrame:
    r"""Return a histogram of samples, and a normal curve.

    Parameters
    ----------
    samples : array_like of float
        Scores that were drawn, two or more.
    bins : int, optional
        How many bars; by default :math:`\sqrt n`, at most 40, and one for every value where there are few.
    mean, variance : float, optional
        Of the curve: what an estimate says; by default those of the samples.

    Returns
    -------
    polars.DataFrame
        ``kind``: ``bin`` with the middle ``x``, the ``width`` and the ``density`` of a bar, or ``normal`` with points
        of the curve, their width null. There is no curve where all samples are the same.

    Raises
    ------
    ParameterError
        With fewer than two samples, or some that are not finite; with a variance below 0.
    """
    values = np.asarray(samples, dtype=np.float64).ravel()
    if values.size < 2 or not np.all(np.isfinite(values)):
        raise ParameterError(f"a distribution needs two finite samples or more, got {np.isfinite(values).sum()}")
    density, edges = np.histogram(values, bins=_edges(values) if bins is None else bins, density=True)
    bars = pl.DataFrame(
        {"kind": ["bin"] * density.size, "x": (edges[:-1] + edges[1:]) / 2, "width": np.diff(edges), "density": density}
    )
    if variance is not None and not variance >= 0:
        raise ParameterError(f"a variance is 0 or more, got {variance:g}")
    centre = float(values.mean()) if mean is None else float(mean)
    deviation = float(values.std(ddof=1)) if variance is None else float(np.sqrt(variance))
    if deviation == 0:
        return bars
    z = np.linspace(-_REACH, _REACH, _POINTS)
    curve = np.exp(-(z**2) / 2) / (deviation * np.sqrt(2 * np.pi))
    points = pl.DataFrame({"kind": ["normal"] * z.size, "x": centre + deviation * z, "density": curve})
    return pl.concat([bars, points], how="diagonal")


def _edges(values: Floats) -> int | Floats:
    """Return how many bars to draw, or between which edges where every value can have its own."""
    distinct = np.unique(values)
    if not 1 < distinct.size <= _MOST_BARS:
        return int(min(_MOST_BARS, np.ceil(np.sqrt(values.size))))
    between = (distinct[:-1] + distinct[1:]) / 2
    ends = 2 * distinct[0] - between[0], 2 * distinct[-1] - between[-1]
    return np.concatenate(([ends[0]], between, [ends[1]]))


def plot_distribution(
    samples: ArrayLike,
    *,
    bins: int | None = None,
    mean: float | None = None,
    variance: float | None = None,
    what: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw a histogram of samples under the normal curve that estimates take them to follow (MTC, Figure 1).

    Parameters
    ----------
    samples, bins, mean, variance
        As for :func:`distribution_data`.
    what : str
        What was drawn, for the name of the axis.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = distribution_data(samples, bins=bins, mean=mean, variance=variance)
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
