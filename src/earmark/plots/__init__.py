"""Plots: every result as a picture that is readable in print and to the colour-blind.

Each ``plot_x(result, *, ax=None)`` draws on the axes it is given, or on those of a figure of its own, and returns them.
Each has a twin ``x_data(result)`` that returns, as a frame, what would be drawn: for a table, for another program, or
for a test. Nothing is estimated here.

matplotlib is needed to draw and not before: ``pip install 'earmark[plots]'``. A figure made here belongs to no window
and changes no setting; to show one in a window, make the axes with ``matplotlib.pyplot`` and pass them as ``ax``.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> ranking_data(earmark.rank(made.runs, made.judgments, measure="AG@5")).columns
['system', 'rank', 'estimate', 'low', 'high', 'may_be_best']
"""

from earmark.plots.accuracy import (
    actual_data,
    distribution_data,
    plot_actual,
    plot_distribution,
)
from earmark.plots.calibration import (
    coverage_data,
    plot_coverage,
    plot_predictions,
    plot_reliability,
    plot_reliability_curve,
    predictions_data,
    reliability_curve_data,
    reliability_data,
)
from earmark.plots.campaigns import campaign_data, campaigns_data, plot_campaign, plot_campaigns
from earmark.plots.crowd import (
    agreement_data,
    assessors_data,
    plot_agreement,
    plot_assessors,
    plot_traps,
    plot_workers,
    traps_data,
    workers_data,
)
from earmark.plots.curves import curves_data, dynamic_recall_data, plot_curves, plot_dynamic_recall
from earmark.plots.forecast import forecast_data, plot_forecast
from earmark.plots.history import history_data, plot_history
from earmark.plots.kinds import (
    orders_data,
    plot_orders,
    plot_precision,
    plot_shares,
    plot_won,
    precision_data,
    shares_data,
    won_data,
)
from earmark.plots.progress import plot_progress, progress_data
from earmark.plots.ranking import pairs_data, plot_pairs, plot_ranking, ranking_data
from earmark.plots.series import bars_data, heat_data, lines_data, plot_bars, plot_heat, plot_lines
from earmark.plots.style import PALETTE, save_svg, svg_text
from earmark.plots.watching import confidence_data, guarantee_data, plot_confidence, plot_guarantee

__all__ = [
    "PALETTE",
    "actual_data",
    "agreement_data",
    "assessors_data",
    "bars_data",
    "campaign_data",
    "campaigns_data",
    "confidence_data",
    "coverage_data",
    "curves_data",
    "distribution_data",
    "dynamic_recall_data",
    "forecast_data",
    "guarantee_data",
    "heat_data",
    "history_data",
    "lines_data",
    "orders_data",
    "pairs_data",
    "plot_actual",
    "plot_agreement",
    "plot_assessors",
    "plot_bars",
    "plot_campaign",
    "plot_campaigns",
    "plot_confidence",
    "plot_coverage",
    "plot_curves",
    "plot_distribution",
    "plot_dynamic_recall",
    "plot_forecast",
    "plot_guarantee",
    "plot_heat",
    "plot_history",
    "plot_lines",
    "plot_orders",
    "plot_pairs",
    "plot_precision",
    "plot_predictions",
    "plot_progress",
    "plot_ranking",
    "plot_reliability",
    "plot_reliability_curve",
    "plot_shares",
    "plot_traps",
    "plot_won",
    "plot_workers",
    "precision_data",
    "predictions_data",
    "progress_data",
    "ranking_data",
    "reliability_curve_data",
    "reliability_data",
    "save_svg",
    "shares_data",
    "svg_text",
    "traps_data",
    "won_data",
    "workers_data",
]
