"""Results over time: what is drawn is what was kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from earmark.data.history import Record
from earmark.errors import ParameterError
from earmark.plots import history_data, plot_history
from earmark.report import history_html


@pytest.fixture
def records() -> list[Record]:
    made = []
    for day in range(1, 4):
        scores = [
            {"system": system, "measure": measure, "value": day / 10 + (system == "<b>"), "low": None, "high": None}
            for system in ("base", "<b>")
            for measure in ("AP", "nDCG@5")
        ]
        if day == 3:
            scores[0] |= {"low": 0.25, "high": 0.35}
        time = datetime(2026, 5, day, 3, tzinfo=UTC)
        made.append(Record(f"earmark rank {day}", scores, passed=day != 2, time=time))
    return made


def test_data_are_the_scores_of_all_runs(records: list[Record]) -> None:
    data = history_data(records, measure="AP")
    assert data.columns == ["time", "system", "measure", "value", "low", "high", "passed"]
    assert data["system"].to_list() == ["base", "<b>"] * 3
    assert data["value"].to_list() == pytest.approx([0.1, 1.1, 0.2, 1.2, 0.3, 1.3])
    assert data["low"].to_list() == [None] * 4 + [0.25, None]
    assert history_data(records).height == 12
    assert history_data([]).is_empty()


def test_what_is_drawn(records: list[Record]) -> None:
    axes = plot_history(records, measure="AP")
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert list(drawn["base"]) == pytest.approx([0.1, 0.2, 0.3])
    assert "failed check" in drawn
    assert axes.get_ylabel() == "AP"
    assert len(axes.collections) == 1
    with pytest.raises(ParameterError, match="shows one measure, there are AP, nDCG@5"):
        plot_history(records)
    with pytest.raises(ParameterError, match="there are AP, nDCG@5"):
        plot_history(records, measure="P@5")


def test_the_page(records: list[Record]) -> None:
    page = history_html(records)
    assert page == history_html(records)
    assert "The last of 3 runs was on 2026-05-03; 1 of 3 checks failed." in page
    assert page.count("<figure>") == 2
    assert "<b>" not in page
    assert "+0.1000" in page
    assert page.index("earmark rank 3") < page.index("earmark rank 1")
    with pytest.raises(ParameterError, match="the history has no scores to show"):
        history_html([Record("c", [])])
