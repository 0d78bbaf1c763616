"""The pictures of the dashboard and the tables they are drawn from: those of the report, drawn anew as answers come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from earmark.data.spreadsheets import escape_formulas
from earmark.errors import MissingLibraryError
from earmark.plots.crowd import assessors_data, plot_assessors
from earmark.plots.forecast import forecast_data, plot_forecast
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
from earmark.plots.ranking import pairs_data, plot_pairs, plot_ranking, ranking_data
from earmark.plots.style import need_matplotlib, svg_file
from earmark.plots.watching import confidence_data, guarantee_data, plot_confidence, plot_guarantee
from earmark.report.assessors import assessor_table
from earmark.web.dashboard import figure_names
from earmark.web.watched import Watched

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The settings of matplotlib belong to the process, so one picture is drawn at a time.
_drawing = threading.Lock()


def can_draw() -> bool:
    """Tell whether matplotlib is there."""
    try:
        need_matplotlib()
    except MissingLibraryError:
        return False
    return True


def figure_svg(watched: Watched, name: str) -> str | None:
    """Draw a picture as SVG; None where there is none of this name."""
    if name not in figure_names(watched):
        return None
    with _drawing:
        return svg_file(_picture(watched, name)[0](watched))


def figure_csv(watched: Watched, name: str) -> str | None:
    """Return the data of a picture as CSV, in which no spreadsheet finds a formula; None where there is none."""
    if name not in figure_names(watched):
        return None
    return escape_formulas(_picture(watched, name)[1](watched)).write_csv()


def _ranking(watched: Watched) -> Any:
    assert watched.ranking is not None
    return watched.ranking


_CALLED = {
    "mean": "mean confidence over pairs of systems",
    "min": "least confidence over pairs of systems",
    "decided": "share of decided pairs of systems",
    "top": "confidence in the best",
    "best": "confidence in the best",
    "order": "confidence in the order",
    "baseline": "confidence in the comparisons",
    "width": "width of the widest interval",
}


def _target(watched: Watched) -> float | None:
    """Return where the stop rule stops, where it watches the number that is drawn."""
    target = (watched.body.get("progress") or {}).get("target")
    return float(target) if watched.watched_rule in _CALLED and target is not None else None


def _plot_confidence(watched: Watched) -> Axes:
    name = watched.watched_rule
    least = 0.0 if name in ("width", "decided", "top", "best", "order", "baseline") else 0.5
    label = _CALLED.get(name, _CALLED["mean"])
    # A budget of rankings or of comparisons counts answers, which is not what is drawn.
    in_items = watched.kind in ("grade", "prefer")
    budget = watched.stop.budget if in_items else None
    return plot_confidence(watched.looks, target=_target(watched), budget=budget, label=label, least=least)


def _confidence_data(watched: Watched) -> pl.DataFrame:
    return confidence_data(watched.looks, target=_target(watched))


def _both(watched: Watched) -> tuple[pl.DataFrame, pl.DataFrame]:
    assert watched.both is not None
    model, design = watched.both
    return model.systems_frame(), design.systems_frame()


def _plot_guarantee(watched: Watched) -> Axes:
    measure = _ranking(watched).estimates.measure
    return plot_guarantee(*_both(watched), label=f"{measure}, {100 * watched.level:g}% intervals")


def _table(watched: Watched) -> pl.DataFrame:
    """Return one row per assessor, under the name where it is known."""
    judgments = watched.log.judgments(watched.folder.rules.scale)
    table = None if judgments is None else assessor_table(judgments)
    assert table is not None
    names = {person["assessor"]: person["name"] for person in watched.people if person["name"]}
    return table.with_columns(pl.col("assessor").replace(names))


@dataclass(frozen=True)
class _Told:
    """What an estimate keeps of rankings and of compared lists, as their pictures ask for it."""

    body: dict[str, Any]
    level: float
    anytime: ClassVar[bool] = True
    """What a stored campaign says of lists holds at all looks together."""

    def systems_frame(self) -> pl.DataFrame:
        """One row per system."""
        return pl.DataFrame(self.body["systems"], infer_schema_length=None)

    def pairs_frame(self) -> pl.DataFrame:
        """One row per pair of systems."""
        numbers = dict.fromkeys(("share", "share_low", "share_high"), pl.Float64)
        return pl.DataFrame(self.body["pairs"], infer_schema_length=None, schema_overrides=numbers)

    def frame(self) -> pl.DataFrame:
        """One row per open pair: how many more judgments it takes."""
        types = {"a": pl.String, "b": pl.String, "even": pl.Int64, "likely": pl.Int64, "left": pl.Int64}
        rows = [{name: row[name] for name in types} for row in self.body["ahead"]["pairs"]]
        return pl.DataFrame(rows, schema=types)

    @property
    def queries(self) -> pl.DataFrame:
        """One row per query: how far rankings agree."""
        numbers = dict.fromkeys(("tau", "w"), pl.Float64)
        rows = [{name: row[name] for name in ("query", "tau", "w", "rankings")} for row in self.body["groups"]]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=numbers)

    @property
    def tau(self) -> SimpleNamespace:
        """The mean agreement and its interval."""
        return SimpleNamespace(**self.body["agreement"]["tau"], queries=self.body["agreement"]["queries"])


def _told(watched: Watched) -> Any:
    return _Told(watched.told if watched.kind == "lists" else watched.body, watched.level)


def _precision(watched: Watched) -> pl.DataFrame:
    numbers = dict.fromkeys(("precision", "low", "high"), pl.Float64)
    return pl.DataFrame(watched.body["precision"], infer_schema_length=None, schema_overrides=numbers)


def _ahead(watched: Watched) -> Any:
    return _Told(watched.body, watched.level)


_Picture = tuple[Callable[[Watched], "Axes"], Callable[[Watched], pl.DataFrame]]
_PICTURES: dict[str, _Picture] = {
    "ranking": (lambda watched: plot_ranking(_ranking(watched)), lambda watched: ranking_data(_ranking(watched))),
    "pairs": (lambda watched: plot_pairs(_ranking(watched)), lambda watched: pairs_data(_ranking(watched))),
    "confidence": (_plot_confidence, _confidence_data),
    "forecast": (lambda watched: plot_forecast(_ahead(watched)), lambda watched: forecast_data(_ahead(watched))),
    "guarantee": (_plot_guarantee, lambda watched: guarantee_data(*_both(watched))),
    "assessors": (lambda watched: plot_assessors(_table(watched)), lambda watched: assessors_data(_table(watched))),
    "precision": (
        lambda watched: plot_precision(_precision(watched), level=watched.level),
        lambda watched: precision_data(_precision(watched)),
    ),
    "orders": (lambda watched: plot_orders(_told(watched)), lambda watched: orders_data(_told(watched))),
}
# Lists are compared by the share that is won, which has pictures of its own.
_OF_LISTS: dict[str, _Picture] = {
    "ranking": (lambda watched: plot_won(_told(watched)), lambda watched: won_data(_told(watched))),
    "pairs": (lambda watched: plot_shares(_told(watched)), lambda watched: shares_data(_told(watched))),
}


def _picture(watched: Watched, name: str) -> _Picture:
    own = _OF_LISTS if watched.kind == "lists" else {}
    return own.get(name, _PICTURES[name])
