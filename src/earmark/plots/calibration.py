"""Honesty as a picture: whether claims come true as often as they say, about pairs, levels and single items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from earmark.diagnose.calibration import ConfidenceBins, ReliabilityCurve
from earmark.errors import ParameterError
from earmark.plots.style import BLACK, BLUE, MARKERS, MUTED, ORANGE, SKY, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from earmark.simulation.diagnosis import Diagnosis

_LARGEST_DISC = 180.0
# Groups of predictions: enough items in each for a mean to say something.
_GROUPS, _SMALLEST_GROUP = 10, 10
_TWO_SIDED = 1.96
# More dots than this are a stain.
_MOST_DOTS = 1500


def reliability_data(diagnosis: Diagnosis | ConfidenceBins) -> pl.DataFrame:
    """Return the bins of confidence that hold any pairs.

    Parameters
    ----------
    diagnosis : Diagnosis or ConfidenceBins
        The latter from :func:`earmark.diagnose.calibration.accuracy_by_confidence`.

    Returns
    -------
    polars.DataFrame
        ``lower``, ``upper``, ``pairs``, ``confidence``, ``accuracy``, ``accuracy_low``, ``accuracy_high``.
    """
    columns = ("lower", "upper", "pairs", "confidence", "accuracy", "accuracy_low", "accuracy_high")
    bins = diagnosis.frame() if isinstance(diagnosis, ConfidenceBins) else diagnosis.bins
    return bins.filter(pl.col("pairs") > 0).select(columns)


def plot_reliability(diagnosis: Diagnosis | ConfidenceBins, *, ax: Axes | None = None) -> Axes:
    """Draw accuracy against confidence; an honest method lies on the diagonal, an overconfident one below.

    Discs are as large as there are pairs in a bin; lines are the bounds of their accuracy.

    Parameters
    ----------
    diagnosis : Diagnosis or ConfidenceBins
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


def reliability_curve_data(curve: ReliabilityCurve) -> pl.DataFrame:
    """Return the bins of probability.

    Returns
    -------
    polars.DataFrame
        ``lower``, ``upper``, ``count``, ``forecast``, ``observed``, ``observed_low``, ``observed_high``.
    """
    return curve.frame()


def plot_reliability_curve(curve: ReliabilityCurve, *, ax: Axes | None = None) -> Axes:
    """Draw how often events happened against the probability they were given; honest ones lie on the diagonal.

    Parameters
    ----------
    curve : ReliabilityCurve
        As from :func:`~earmark.diagnose.calibration.reliability_curve`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = reliability_curve_data(curve)
    with drawing(ax, width=4.6, height=4.4) as axes:
        forecast, observed = data["forecast"].to_numpy(), data["observed"].to_numpy()
        axes.plot([0.0, 1.0], [0.0, 1.0], "--", color=MUTED, linewidth=1, label="honest")
        axes.vlines(forecast, data["observed_low"].to_numpy(), data["observed_high"].to_numpy(), color=BLUE)
        size = data["count"].to_numpy() / data["count"].to_numpy().max(initial=1)
        axes.scatter(forecast, observed, s=20 + _LARGEST_DISC * size, color=BLUE, zorder=3, alpha=0.9, linewidth=0)
        axes.set_xlabel("probability that was given")
        axes.set_ylabel("share of events that happened")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.grid()
        axes.legend(loc="upper left")
    return axes


def predictions_data(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return groups of items with similar predictions, and what was judged in them.

    Parameters
    ----------
    predictions : polars.DataFrame
        ``predicted`` and ``actual``, one row per item.

    Returns
    -------
    polars.DataFrame
        ``items``, the means ``predicted`` and ``actual``, and an interval of 95% of the latter, ``low`` and ``high``.
        Up to ten groups of about the same size.

    Raises
    ------
    ParameterError
        Without items.
    """
    if not predictions.height:
        raise ParameterError("there are no predictions to draw")
    groups = max(1, min(_GROUPS, predictions.height // _SMALLEST_GROUP))
    place = pl.col("predicted").rank("ordinal") - 1
    grouped = (
        predictions.select("predicted", "actual")
        .with_columns((place * groups // pl.len()).alias("group"))
        # Equal predictions belong together, whichever group the first of them is in.
        .with_columns(pl.col("group").min().over("predicted"))
        .group_by("group")
        .agg(
            pl.len().cast(pl.Int64).alias("items"),
            pl.col("predicted", "actual").mean(),
            (pl.col("actual").std().fill_null(0.0) / pl.len().sqrt() * _TWO_SIDED).alias("reach"),
        )
        .sort("group")
    )
    reach = pl.col("reach")
    return grouped.select(
        "items",
        "predicted",
        "actual",
        (pl.col("actual") - reach).alias("low"),
        (pl.col("actual") + reach).alias("high"),
    )


def plot_predictions(predictions: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw what was judged against what was predicted; groups of items of an honest model lie on the diagonal.

    Parameters
    ----------
    predictions : polars.DataFrame
        As for :func:`predictions_data`; of very many items some are drawn as dots, all are in the groups.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = predictions_data(predictions)
    dots = predictions.gather_every(max(1, -(-predictions.height // _MOST_DOTS)))
    with drawing(ax, width=4.8, height=4.6) as axes:
        values = predictions.select("predicted", "actual").to_numpy()
        ends = [float(values.min()), float(values.max())]
        axes.plot(
            dots["predicted"].to_numpy(),
            dots["actual"].to_numpy(),
            "o",
            color=SKY,
            markersize=4,
            alpha=0.6,
            mew=0,
            label="judged items",
            zorder=1,
        )
        axes.plot(ends, ends, "--", color=MUTED, linewidth=1, label="as predicted")
        axes.vlines(data["predicted"].to_numpy(), data["low"].to_numpy(), data["high"].to_numpy(), color=BLACK)
        axes.plot(
            data["predicted"].to_numpy(),
            data["actual"].to_numpy(),
            "s",
            color=BLACK,
            markersize=5.5,
            label="means of groups",
            zorder=3,
        )
        axes.set_xlabel("predicted gain")
        axes.set_ylabel("judged gain")
        axes.grid()
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderpad=0.1, handletextpad=0.3, columnspacing=1.0
        )
    return axes


def coverage_data(diagnosis: Diagnosis) -> pl.DataFrame:
    """Return ``level``, and the share of intervals of that level that hold the truth: ``pairs``, ``systems``.

    A share of none at all is null.
    """
    return diagnosis.coverage.select("level", pl.col("pairs", "systems").cast(pl.Float64).fill_nan(None))


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
        least = data.select(pl.min_horizontal("pairs", "systems").min()).item()
        start = 0.6 if least is None else min(0.6, least)
        axes.plot([start, 1.0], [start, 1.0], "--", color=MUTED, linewidth=1, label="honest")
        for name, colour, marker, line in (("pairs", BLUE, MARKERS[0], "-"), ("systems", ORANGE, MARKERS[1], ":")):
            label = "differences of pairs" if name == "pairs" else "scores of systems"
            # Without pairs there are no shares of them.
            part = data.drop_nulls(name)
            axes.plot(part["level"].to_numpy(), part[name].to_numpy(), line, color=colour, marker=marker, label=label)
        axes.set_xlabel("nominal level of intervals")
        axes.set_ylabel("share that holds the truth")
        axes.grid()
        axes.legend(loc="lower right")
    return axes
