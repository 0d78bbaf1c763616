"""What many people said, as a picture: how far they agree, and how much each of them did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.plots.style import BLUE, MUTED, SKY, drawing, plain

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
        if data.height <= _NAMED:
            axes.set_xticks(
                place, [plain(name) for name in data["assessor"]], rotation=45, ha="right", rotation_mode="anchor"
            )
        else:
            axes.set_xlabel(f"{data.height:,} workers, the busiest first")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("answers")
        axes.grid(axis="y")
        figure = axes.figure
        figure.colorbar(scale, ax=axes, label="share of others who agree")
    return axes
