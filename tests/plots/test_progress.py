"""A campaign's progress: what is drawn is what the looks say."""

from __future__ import annotations

import numpy as np
import pytest

import earmark
from earmark.campaign.campaign import Campaign, Look, oracle
from earmark.campaign.loop import play
from earmark.errors import ParameterError
from earmark.plots import plot_progress, progress_data


@pytest.fixture(scope="module")
def looks() -> list[Look]:
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    campaign = Campaign.build(
        made.runs, scale=earmark.FINE, measure="AG@5", predictor="uniform", policy="random", stop="budget:30", seed=1
    )
    ask = oracle(np.full(campaign.gains.size, 50.0))
    seen = [reached.look for reached in play(campaign, ask, batch=10)]
    return [look for look in seen if look is not None]


def test_data_are_the_estimates_of_all_looks(looks: list[Look]) -> None:
    data = progress_data(looks)
    assert data["judged"].to_list() == [judged for judged in (0, 10, 20, 30) for _ in range(3)]
    last = looks[-1].ranking.systems_frame()
    assert data[-3:].drop("judged").equals(last.select("system", "estimate", "low", "high"))
    first = looks[0].ranking.systems_frame().select("system", "estimate", "low", "high")
    assert data[:3].drop("judged").sort("system").equals(first.sort("system"))


def test_every_system_has_a_line_a_band_and_a_mark_for_the_truth(looks: list[Look]) -> None:
    names = looks[0].ranking.estimates.systems
    axes = plot_progress(looks, truth=dict.fromkeys(names, 0.4))
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(names) <= set(lines)
    frame = progress_data(looks)
    for name in names:
        wanted = frame.filter(frame["system"] == name)["estimate"].to_list()
        assert lines[name].get_ydata().tolist() == wanted
    marks = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert [float(line.get_ydata()[0]) for line in marks] == [0.4] * 3
    assert len(axes.collections) == 3
    assert len(plot_progress(looks).get_lines()) == 3


def test_a_single_look_before_any_judgment_is_drawn(looks: list[Look]) -> None:
    assert plot_progress(looks[:1]).get_xlim() == (0.0, 1.0)


def test_no_looks_are_refused() -> None:
    with pytest.raises(ParameterError, match="a campaign without a look has nothing to show"):
        progress_data([])
