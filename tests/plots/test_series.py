"""Lines, bars and heat maps: what would be drawn is right, and is drawn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from earmark.errors import ParameterError
from earmark.plots import bars_data, heat_data, lines_data, plot_bars, plot_heat, plot_lines

DATA = pl.DataFrame(
    {
        "series": ["b", "b", "a", "a", "a"],
        "x": [2, 1, 1, 2, 3],
        "y": [0.2, 0.1, 0.3, 0.4, None],
        "low": [0.1, 0.0, 0.2, 0.3, None],
        "high": [0.3, 0.2, 0.4, 0.5, None],
    }
)


def test_lines_keep_their_order_and_lose_what_is_missing() -> None:
    found = lines_data(DATA)
    assert found.select("series", "x").rows() == [("b", 1), ("b", 2), ("a", 1), ("a", 2)]
    axes = plot_lines(DATA, x_name="amount", y_name="error", spread="band", log_x=True, marks=False)
    assert [line.get_label() for line in axes.get_lines()] == ["b", "a"]
    assert axes.get_lines()[0].get_ydata().tolist() == [0.1, 0.2]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("amount", "error", "log")
    assert axes.get_legend() is not None
    assert plot_lines(DATA.filter(pl.col("series") == "a")).get_legend() is None


def test_bars_stand_side_by_side() -> None:
    axes = plot_bars(DATA, y_name="error")
    assert bars_data(DATA)["x"].to_list() == ["2", "1", "1", "2"]
    first, second = axes.containers
    assert [bar.get_height() for bar in first] == [0.2, 0.1]
    assert [bar.get_height() for bar in second] == [0.3, 0.4]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "1"]
    # Bars of one x do not overlap.
    ends = first[0].get_x() + first[0].get_width()
    assert ends <= second[1].get_x() + 1e-9


def test_cells_count_what_lies_in_them() -> None:
    estimated, actual = [0.0, 0.04, 0.5, 1.0], [0.0, 0.02, 0.5, 1.0]
    found = heat_data(estimated, actual, bins=10)
    assert found.rows() == [(0.05, 0.05, 2), (0.55, 0.55, 1), (pytest.approx(0.95), pytest.approx(0.95), 1)]
    axes = plot_heat(estimated, actual, bins=10, what="share")
    cells = np.ma.masked_invalid(axes.collections[0].get_array()).reshape(10, 10)
    assert (cells[0, 0], cells[5, 5], cells[9, 9]) == (2, 1, 1)
    assert np.ma.count(cells) == 3
    assert axes.get_xlabel() == "actual share"


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"series": ["a"], "y": [1.0]}), "expected the columns series, x and y, got no x"),
        (DATA.clear(), "there is nothing to draw"),
    ],
)
def test_what_cannot_be_drawn(frame: pl.DataFrame, message: str) -> None:
    for make in (lines_data, bars_data):
        with pytest.raises(ParameterError, match=message):
            make(frame)


def test_values_outside_of_the_grid_are_refused() -> None:
    with pytest.raises(ParameterError, match="expected values from 0 to 1, got 0 to 2"):
        heat_data([0.0], [2.0])
