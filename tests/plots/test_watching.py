"""Pictures of a running campaign: what is drawn, without pixels."""

from __future__ import annotations

import polars as pl

from earmark.plots import confidence_data, guarantee_data, plot_confidence, plot_guarantee
from earmark.plots.style import svg_text

HISTORY = pl.DataFrame({"judged": [20, 0, 10, 30], "value": [0.8, 0.5, 0.7, None]})
MODEL = pl.DataFrame({"system": ["a", "b"], "estimate": [0.6, 0.5], "low": [0.5, 0.4], "high": [0.7, 0.6]})
DESIGN = MODEL.with_columns(pl.col("estimate") + 0.1).reverse()


def test_looks_come_in_order_and_those_without_a_value_are_left_out() -> None:
    data = confidence_data(HISTORY, target=0.95)
    assert data["judged"].to_list() == [0, 10, 20]
    assert data["value"].to_list() == [0.5, 0.7, 0.8]
    assert set(data["target"]) == {0.95}


def test_the_line_at_which_it_stops_is_drawn() -> None:
    axes = plot_confidence(HISTORY, target=0.95, least=0.5)
    assert any(set(line.get_ydata()) == {0.95} for line in axes.lines)
    assert "stops at 0.95" in svg_text(axes, prefix="x", label="x")
    assert axes.get_ylim()[0] == 0.5
    without = plot_confidence(HISTORY, label="width")
    assert without.get_ylabel() == "width"
    assert not any(set(line.get_ydata()) == {0.95} for line in without.lines)


def test_nothing_is_drawn_of_nothing() -> None:
    axes = plot_confidence(HISTORY.clear(), target=0.9)
    assert axes.get_xlim() == (0.0, 5.0)


def test_the_model_stands_beside_the_guarantee() -> None:
    data = guarantee_data(MODEL, DESIGN)
    assert data["system"].to_list() == ["a", "b"], "in the order of the model"
    assert data["design"].to_list() == [0.7, 0.6]
    axes = plot_guarantee(MODEL, DESIGN, label="AG@5")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_xlabel() == "AG@5"
    missing = plot_guarantee(MODEL, DESIGN.head(1), label="AG@5")
    assert len(missing.get_legend_handles_labels()[1]) == 2
