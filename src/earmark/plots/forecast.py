"""What is still to be done, as a picture: how many more judgments every open pair takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.campaign.forecast import EVEN, LIKELY, Forecast
from earmark.plots.style import BLUE, FAINT, drawing, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many pairs can be read one below the other.
MOST_PAIRS = 40
_LONGEST = 20


def forecast_data(forecast: Forecast) -> pl.DataFrame:
    """Return the pairs as they are drawn, in the order of the ranking.

    Returns
    -------
    polars.DataFrame
        ``a``, ``b``, ``even`` and ``likely`` (after how many more judgments the pair is decided as likely as not, and
        nearly surely; null where that is out of reach), ``left`` (how many there are).
    """
    return forecast.frame().select("a", "b", "even", "likely", "left").head(MOST_PAIRS)


def plot_forecast(forecast: Forecast, *, ax: Axes | None = None) -> Axes:
    """Draw after how many more judgments every open pair is decided as likely as not, and nearly surely.

    A thin line goes on to all judgments that bear on the pair. A pair without a disc is out of reach: all of them would
    probably not decide it.

    Parameters
    ----------
    forecast : Forecast
        The first forty pairs are drawn.
    ax : Axes, optional
        Where to draw; on a figure of its own otherwise.
    """
    data = forecast_data(forecast)
    names = [" – ".join(plain(name, longest=_LONGEST) for name in pair) for pair in data.select("a", "b").iter_rows()]
    longest = max((len(name) for name in names), default=0)
    with drawing(ax, width=5.4 + 0.09 * longest, height=1.3 + 0.28 * max(data.height, 2)) as axes:
        from matplotlib.ticker import MaxNLocator

        place = np.arange(data.height)
        axes.hlines(place, 0, data["left"].to_numpy(), color=FAINT, linewidth=1.6)
        axes.vlines(data["left"].to_numpy(), place - 0.22, place + 0.22, color=FAINT, linewidth=1.6)
        for name, fill, label in (
            ("likely", "white", f"{100 * LIKELY:g}% likely"),
            ("even", BLUE, f"{100 * EVEN:g}% likely"),
        ):
            known = data[name].is_not_null().to_numpy()
            count = data[name].drop_nulls().to_numpy()
            if name == "likely":
                start = data["even"].to_numpy()[known]
                axes.hlines(place[known], start, count, color=BLUE, linewidth=2.2)
            axes.plot(count, place[known], "o", color=BLUE, markerfacecolor=fill, markersize=7, label=label, zorder=3)
        axes.set_yticks(place, names)
        axes.set_ylim(max(data.height, 1) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="x")
        axes.set_xlabel("more judgments until the pair is decided; the thin line: all that are left")
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(
            handles[::-1],
            labels[::-1],
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=2,
            borderpad=0.1,
            handletextpad=0.3,
        )
    return axes
