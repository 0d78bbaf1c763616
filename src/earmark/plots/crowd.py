"""What many people said, as a picture: how far they agree, and how much each of them did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.crowd.worker_check import KEPT, REJECTED, UNCHECKED, WorkerCheck
from earmark.plots.style import BLUE, MUTED, ORANGE, SKY, drawing, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many names can be read on an axis; a larger crowd is numbered.
_NAMED = 30


def agreement_data(table: pl.DataFrame) -> pl.DataFrame:
    """Return the levels of agreement over all themes.

    Parameters
    ----------
    table : polars.DataFrame
        As from :func:`~earmark.crowd.agreement.agreement_table`.

    Returns
    -------
    polars.DataFrame
        ``agreement``, ``questions``, ``share``, ``cumulative_share``.
    """
    first = table["theme"][0] if table.height else None
    columns = ("agreement", "questions", "share", "cumulative_share")
    return table.filter(pl.col("theme") == first).select(columns)


def plot_agreement(table: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the share of questions at every level of agreement.

    Parameters
    ----------
    table : polars.DataFrame
        As for :func:`agreement_data`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = agreement_data(table)
    with drawing(ax) as axes:
        place, share = np.arange(data.height), data["share"].to_numpy()
        bars = axes.bar(place, share, color=SKY, width=0.7)
        axes.bar_label(bars, [f"{count:,}" for count in data["questions"]], padding=2, fontsize=9)
        axes.set_xticks(place, data["agreement"].to_list())
        axes.set_xlabel("how many of those asked chose the same")
        axes.set_ylabel("share of questions (their number on top)")
        axes.grid(axis="y")
    return axes


def workers_data(table: pl.DataFrame) -> pl.DataFrame:
    """Return the workers, the busiest first.

    Parameters
    ----------
    table : polars.DataFrame
        As from :func:`~earmark.crowd.workers.worker_table`.

    Returns
    -------
    polars.DataFrame
        ``assessor``, ``answers``, ``agreement`` (null where nobody answered the same).
    """
    return table.select("assessor", "answers", "agreement").sort(
        ["answers", "assessor"], descending=[True, False], maintain_order=True
    )


def plot_workers(table: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how much every worker answered, and how many others agree with them; white bars have none to compare with.

    Parameters
    ----------
    table : polars.DataFrame
        As for :func:`workers_data`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = workers_data(table)
    with drawing(ax, width=6.8) as axes:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, Normalize
        from matplotlib.ticker import MaxNLocator

        place = np.arange(data.height)
        colours = LinearSegmentedColormap.from_list("earmark", ["#dfe8ef", BLUE])
        scale = ScalarMappable(Normalize(0.0, 1.0), colours)
        agreement = data["agreement"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        filled = [scale.to_rgba(share) if np.isfinite(share) else "white" for share in agreement]
        axes.bar(place, data["answers"].to_numpy(), color=filled, edgecolor=MUTED, linewidth=0.5, width=0.8)
        _name_people(axes, data["assessor"], "workers, the busiest first")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("answers")
        axes.grid(axis="y")
        figure = axes.figure
        figure.colorbar(scale, ax=axes, label="share of others who agree")
    return axes


def traps_data(check: WorkerCheck) -> pl.DataFrame:
    """Return the workers who saw traps, the best first.

    Parameters
    ----------
    check : WorkerCheck
        As from :func:`~earmark.crowd.worker_check.check_workers`.

    Returns
    -------
    polars.DataFrame
        ``assessor``, ``traps``, ``right``, the ``share`` that is right with its bounds ``low`` and ``high``, and the
        ``decision``: kept, rejected or unchecked.
    """
    columns = ("assessor", "traps", "right", "share", "low", "high", "decision")
    return (
        check.workers.filter(pl.col("traps") > 0)
        .select(columns)
        .sort(["share", "traps", "assessor"], descending=[True, True, False])
    )


def plot_traps(check: WorkerCheck, *, ax: Axes | None = None) -> Axes:
    """Draw what share of their traps workers got right, and from which share on they are kept.

    Parameters
    ----------
    check : WorkerCheck
        As for :func:`traps_data`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = traps_data(check)
    with drawing(ax, width=6.8) as axes:
        place, share = np.arange(data.height), data["share"].to_numpy()
        for decision, colour, marker, fill in (
            (KEPT, BLUE, "o", BLUE),
            (UNCHECKED, MUTED, "D", "white"),
            (REJECTED, ORANGE, "X", ORANGE),
        ):
            chosen = (data["decision"] == decision).to_numpy()
            if not chosen.any():
                continue
            axes.vlines(
                place[chosen],
                data["low"].to_numpy()[chosen],
                data["high"].to_numpy()[chosen],
                color=colour,
                linewidth=1,
            )
            axes.plot(
                place[chosen], share[chosen], marker, color=colour, markerfacecolor=fill, markersize=6, label=decision
            )
        least = check.rule.min_right
        axes.axhline(least, color=MUTED, linestyle="--", linewidth=1, label=f"{100 * least:g}%: rejected below")
        _name_people(axes, data["assessor"], "workers who saw traps, the best first")
        axes.set_ylim(-0.03, 1.03)
        axes.set_ylabel("share of traps right")
        axes.grid(axis="y")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, borderpad=0.1, handletextpad=0.3)
    return axes


def assessors_data(table: pl.DataFrame) -> pl.DataFrame:
    """Return the assessors who share items with others, the most generous first.

    Parameters
    ----------
    table : polars.DataFrame
        As from :func:`~earmark.report.assessors.assessor_table`.

    Returns
    -------
    polars.DataFrame
        ``assessor``, ``shared``, ``bias``, and ``low`` and ``high``, between which eight in ten of their differences
        from the others lie. Of a large crowd, those who share most.
    """
    shared = table.filter(pl.col("shared") > 0).select("assessor", "shared", "bias", "low", "high")
    return (
        shared.sort(["shared", "assessor"], descending=[True, False])
        .head(_NAMED)
        .sort(["bias", "assessor"], descending=[True, False])
    )


def plot_assessors(table: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how far every assessor is from the others: the mean as a disc, eight in ten differences as a line.

    Parameters
    ----------
    table : polars.DataFrame
        As for :func:`assessors_data`.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = assessors_data(table)
    longest = max((len(plain(name)) for name in data["assessor"]), default=0)
    with drawing(ax, width=5.6 + 0.1 * longest, height=1.1 + 0.3 * max(data.height, 2)) as axes:
        place = np.arange(data.height)
        axes.axvline(0.0, color=MUTED, linewidth=1, linestyle="--")
        axes.hlines(place, data["low"].to_numpy(), data["high"].to_numpy(), color=BLUE, linewidth=2.2)
        axes.plot(data["bias"].to_numpy(), place, "o", color=BLUE, markersize=7, zorder=3)
        axes.set_yticks(place, [plain(name) for name in data["assessor"]])
        axes.set_ylim(max(data.height, 1) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel("own gain less the mean of the others'; the line: eight in ten judgments")
    return axes


def _name_people(axes: Axes, names: pl.Series, several: str) -> None:
    """Write names below an axis, or how many there are where they would not be read."""
    if names.len() <= _NAMED:
        axes.set_xticks(
            np.arange(names.len()),
            [plain(name) for name in names],
            rotation=45,
            ha="right",
            rotation_mode="anchor",
        )
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{names.len():,} {several}")
