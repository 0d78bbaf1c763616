"""Plots: what would be drawn is right, and every function draws it where it is told to."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import earmark
from earmark import plots
from earmark.beliefs.beliefs import uniform_beliefs
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.crowd.agreement import agreement_table
from earmark.crowd.workers import worker_table
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.data.preferences import Preferences
from earmark.diagnose.calibration import accuracy_by_confidence
from earmark.errors import EarmarkError, ParameterError
from earmark.evaluation import ground_truth, judged_lists
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures import curves as library
from earmark.measures.curves import Curves
from earmark.plots.ranking import percent
from earmark.plots.style import contrast, ink_on, plain
from earmark.simulation.campaigns import Outcome, outcomes_frame
from earmark.simulation.diagnosis import Diagnosis

LISTS = {
    "A": {"q": "d1 d2", "p": "e1 e2"},
    "same as A": {"q": "d1 d2", "p": "e1 e2"},
    "B": {"q": "d3 d1", "p": "e3 e4"},
    "C": {"q": "d4 d5", "p": "e5 e6"},
}


def ranking_of(judged: dict[str, dict[str, int]], systems: tuple[str, ...] = tuple(LISTS)) -> Ranking:
    lists = {
        name: {query: {document: -rank for rank, document in enumerate(text.split())} for query, text in by.items()}
        for name, by in LISTS.items()
        if name in systems
    }
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    beliefs = uniform_beliefs(collection, scale=earmark.BINARY)
    frame = collection.item_frame()
    known = [
        (index, float(judged[query][document]))
        for index, (query, document) in enumerate(frame.select("query", "document").iter_rows())
        if document in judged.get(query, {})
    ]
    if known:
        beliefs = beliefs.with_judgments([index for index, _ in known], [gain for _, gain in known])
    return rank_systems(estimate_linear(collection, beliefs, earmark.parse("AG@2")))


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    """A is certainly better than C, and B is not judged at all."""
    return ranking_of({"q": {"d1": 1, "d2": 1, "d4": 0, "d5": 0}, "p": {"e1": 1, "e2": 1, "e5": 0, "e6": 0}})


def outcome(repeat: int, judged: int, confidence: float | None, accuracy: float | None) -> Outcome:
    return Outcome("step", repeat, judged, confidence, 0.5, accuracy, 0.0, None, None, None, 0.1, 0.2, None, 0.0, "")


OUTCOMES = outcomes_frame(
    [outcome(0, 20, 0.8, 0.7), outcome(1, 20, 0.6, 0.9), outcome(0, 40, 0.9, 1.0), outcome(0, 0, None, None)]
)
DIAGNOSIS = Diagnosis(
    0.2,
    {},
    pl.DataFrame({"level": [0.6, 0.95], "pairs": [0.5, 0.9], "systems": [0.7, 1.0]}),
    pl.DataFrame(
        {
            "lower": [0.5, 0.6, 0.9],
            "upper": [0.6, 0.9, 1.0],
            "pairs": [4, 0, 16],
            "share": [0.2, 0.0, 0.8],
            "confidence": [0.55, None, 0.97],
            "accuracy": [0.5, None, 0.9],
            "accuracy_low": [0.1, 0.0, 0.7],
            "accuracy_high": [0.9, 1.0, 0.95],
        }
    ),
)
ANSWERS = Preferences.from_frame(
    pl.DataFrame(
        {
            "query": ["q"] * 7,
            "a": ["x"] * 6 + ["y"],
            "b": ["y"] * 6 + ["z"],
            "assessor": ["w1", "w2", "w3", "w4", "w5", "w6", "w2"],
            "choice": ["a", "a", "a", "a", "a", "b", "same"],
        }
    )
)


def curves(kind: Callable[..., Curves]) -> dict[str, Curves]:
    runs = earmark.runs_from_dict({"S": {"q": {"a": 3, "b": 2, "c": 1}}, "_$T$": {"q": {"b": 3, "c": 2, "a": 1}}})
    truth = ground_truth(earmark.judgments_from_dict({"q": {"a": 2, "b": 1, "c": 0}}))
    lists, system, _ = judged_lists(runs, truth, collection_size=10)
    drawn = kind(lists)
    return {
        name: Curves(drawn.x_name, drawn.y_name, drawn.x, drawn.y[system == index], drawn.area[system == index])
        for index, name in enumerate(runs.systems)
    }


# Every function with what it draws, to be called with or without axes.
DRAWN: dict[str, Callable[..., Axes]] = {
    "campaign": lambda **given: plots.plot_campaign(OUTCOMES, **given),
    "reliability": lambda **given: plots.plot_reliability(DIAGNOSIS, **given),
    "coverage": lambda **given: plots.plot_coverage(DIAGNOSIS, **given),
    "actual": lambda **given: plots.plot_actual([0.1, 0.2], [0.1, 0.3], **given),
    "distribution": lambda **given: plots.plot_distribution(np.random.default_rng(0).normal(size=50), **given),
    "precision and recall": lambda **given: plots.plot_curves(curves(library.precision_recall), **given),
    "roc": lambda **given: plots.plot_curves(curves(library.roc), **given),
    "normalised lift": lambda **given: plots.plot_curves(curves(library.normalised_lift), **given),
    "dynamic recall": lambda **given: plots.plot_dynamic_recall(curves(library.dynamic_recall), **given),
    "agreement": lambda **given: plots.plot_agreement(agreement_table(ANSWERS.pairs()), **given),
    "workers": lambda **given: plots.plot_workers(worker_table(ANSWERS), **given),
    "ranking": lambda **given: plots.plot_ranking(ranking_of({"q": {"d1": 1}}), **given),
    "pairs": lambda **given: plots.plot_pairs(ranking_of({"q": {"d1": 1}}), **given),
    "pairs of one system": lambda **given: plots.plot_pairs(ranking_of({}, ("A",)), **given),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_function_draws_on_the_axes_it_is_given(name: str) -> None:
    axes = Figure(figsize=(5, 4)).add_subplot()
    assert DRAWN[name](ax=axes) is axes
    assert axes.has_data()
    own = DRAWN[name]()
    assert own.figure is not axes.figure
    # Texts that cannot be set, or marks outside of what may be drawn, show when a file is made.
    assert "<svg" in plots.svg_text(own, prefix="x", label=name)


def test_users_settings_and_windows_are_left_alone() -> None:
    code = (
        "import matplotlib, sys, earmark.plots as plots\n"
        # Asking which backend there is chooses one.
        "settings = lambda: {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != 'backend'}\n"
        "before = settings()\n"
        "plots.svg_text(plots.plot_actual([1.0, 2.0], [1.0, 2.5]), prefix='x', label='y')\n"
        "assert settings() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=240)


def test_data_needs_no_matplotlib_and_drawing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return usual(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    assert plots.actual_data([1.0], [2.0]).rows() == [(2.0, 1.0)]
    with pytest.raises(EarmarkError, match=r"plots need matplotlib: pip install 'earmark\[plots\]'"):
        plots.plot_actual([1.0], [2.0])


def test_importing_plots_does_not_wait_for_matplotlib() -> None:
    code = "import sys, earmark.plots, earmark.report; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)


def test_the_ranking_says_who_may_be_the_best(ranking: Ranking) -> None:
    data = plots.ranking_data(ranking)
    assert data["system"].to_list() == ["A", "same as A", "B", "C"]
    may_be = dict(data.select("system", "may_be_best").iter_rows())
    # Of B's four places one is judged, so it may be as good as A; C is certainly not.
    assert may_be["A"]
    assert may_be["same as A"]
    assert not may_be["C"]
    assert data["low"].to_list() == ranking.systems_frame()["low"].to_list()


def test_cells_hold_the_chance_that_the_row_is_better(ranking: Ranking) -> None:
    cells = {(row, column): (chance, decided) for row, column, chance, decided in plots.pairs_data(ranking).iter_rows()}
    assert len(cells) == 6
    assert cells["A", "same as A"] == (None, False)
    assert cells["A", "C"] == (1.0, True)
    names = ranking.estimates.systems
    for a, b, better, compared in zip(
        ranking.estimates.a, ranking.estimates.b, ranking.better, ranking.compared, strict=True
    ):
        if not compared:
            continue
        first, second = names[a], names[b]
        chance = cells[first, second][0] if (first, second) in cells else 1 - cells[second, first][0]
        assert chance == pytest.approx(better)


def test_the_better_system_stands_in_the_row_where_lower_is_better() -> None:
    from dataclasses import replace

    from earmark.measures.partial_order import ADRinv

    estimates = ranking_of({"q": {"d1": 1, "d2": 1, "d4": 0, "d5": 0}}).estimates
    turned = rank_systems(replace(estimates, measure=ADRinv()))
    chances = plots.pairs_data(turned)["probability"].drop_nulls()
    assert (chances >= 0.5).all()
    assert plots.ranking_data(turned)["system"][0] == "C"


@given(st.floats(0.5, 1.0))
def test_a_percentage_never_claims_more_than_there_is(chance: float) -> None:
    text = percent(chance)
    assert float(text) <= 100 * chance + 1e-6
    assert (text == "100") == (chance == 1.0)


def test_percentages_are_cut_off() -> None:
    assert [percent(chance) for chance in (0.5, 0.9499, 0.95, 0.99, 0.9996, 1.0)] == [
        "50",
        "94",
        "95",
        "99",
        "99.9",
        "100",
    ]


def test_means_of_campaigns_are_over_those_that_came_so_far() -> None:
    data = plots.campaign_data(OUTCOMES)
    assert data["judged"].to_list() == [0, 20, 40]
    assert data["repeats"].to_list() == [1, 2, 1]
    assert data.row(1, named=True) == pytest.approx(
        {
            "judged": 20,
            "repeats": 2,
            "mean_confidence": 0.7,
            "accuracy": 0.8,
            "mean_confidence_low": 0.6,
            "accuracy_low": 0.7,
            "mean_confidence_high": 0.8,
            "accuracy_high": 0.9,
        }
    )
    assert data["accuracy"][0] is None


def test_empty_bins_are_not_drawn() -> None:
    assert plots.reliability_data(DIAGNOSIS)["pairs"].to_list() == [4, 16]
    assert plots.coverage_data(DIAGNOSIS).rows() == [(0.6, 0.5, 0.7), (0.95, 0.9, 1.0)]


def test_a_distribution_and_its_normal_curve_have_the_same_area() -> None:
    samples = np.random.default_rng(0).normal(0.4, 0.1, 400)
    data = plots.distribution_data(samples)
    bars, curve = (data.filter(pl.col("kind") == kind) for kind in ("bin", "normal"))
    assert (bars["density"] * bars["width"]).sum() == pytest.approx(1.0)
    assert np.trapezoid(curve["density"], curve["x"]) == pytest.approx(1.0, abs=1e-3)
    assert curve["x"].to_numpy()[curve["density"].to_numpy().argmax()] == pytest.approx(samples.mean())
    assert plots.distribution_data([0.5, 0.5])["kind"].unique().to_list() == ["bin"]
    with pytest.raises(ParameterError, match="two finite samples or more, got 1"):
        plots.distribution_data([0.5])


def test_curves_are_means_largest_area_first() -> None:
    drawn = curves(library.dynamic_recall)
    data = plots.dynamic_recall_data(drawn)
    # The truth is a before b: S brings both in time, T brings b when a was due and a at the end.
    assert data.filter(pl.col("system") == "S").select("x", "y").rows() == [(1.0, 1.0), (2.0, 1.0)]
    assert data["system"].to_list()[0] == "S"
    assert data["area"][0] == 1.0


def test_curves_of_several_kinds_are_refused() -> None:
    mixed = {"S": curves(library.roc)["S"], "T": curves(library.lift)["S"]}
    with pytest.raises(ParameterError, match="one kind, got recall against fallout, relevant found against documents"):
        plots.curves_data(mixed)
    with pytest.raises(ParameterError, match="one kind, got none"):
        plots.curves_data({})
    with pytest.raises(ParameterError, match="expected curves of dynamic recall, got recall"):
        plots.dynamic_recall_data(curves(library.roc))


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ParameterError, match="as many actual values as estimates, got 1 and 2"):
        plots.actual_data([1.0, 2.0], [1.0])


def test_agreement_and_workers_are_those_of_the_tables() -> None:
    agreement = plots.agreement_data(agreement_table(ANSWERS.pairs(), themes={"q": "one theme"}))
    assert agreement["questions"].sum() == 2
    workers = plots.workers_data(worker_table(ANSWERS))
    assert workers["assessor"].to_list() == ["w2", "w1", "w3", "w4", "w5", "w6"]
    assert workers["agreement"].to_list()[1:] == pytest.approx([0.8, 0.8, 0.8, 0.8, 0.0])


def test_every_system_is_in_the_legend_under_its_own_name() -> None:
    legend = plots.plot_curves(curves(library.roc)).get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 2
    assert plain("a$b$") == r"a\$b\$"
    assert plain("x" * 40 + "end") == "x" * 17 + "…" + "x" * 7 + "end"


def test_figures_are_the_same_to_the_byte_and_share_a_page(ranking: Ranking, tmp_path: Path) -> None:
    one, two = (plots.svg_text(plots.plot_ranking(ranking), prefix="one", label='a "b"') for _ in range(2))
    assert one == two
    assert one.startswith('<svg role="img" aria-label="a &quot;b&quot;"')
    assert 'id="one-' in one
    assert one.count('id="') == one.count('id="one-')
    plots.save_svg(plots.plot_ranking(ranking), tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text().startswith("<?xml")


def test_names_that_the_font_lacks_are_no_warning() -> None:
    axes = plots.plot_ranking(ranking_of({}, ("A", "B")))
    axes.set_title("日本")
    assert "日本" in plots.svg_text(axes, prefix="x", label="x")


def test_a_ranking_may_be_held_in_other_ways() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    campaign = earmark.Campaign.build(made.runs, metadata=made.metadata)
    for data, plot in ((plots.ranking_data, plots.plot_ranking), (plots.pairs_data, plots.plot_pairs)):
        shown = [data(held) for held in (campaign.ranking, campaign.verdict, campaign)]
        assert shown[0].equals(shown[1])
        assert shown[0].equals(shown[2])
        assert plot(campaign).get_xlabel() == plot(campaign.verdict).get_xlabel()


def test_a_notebook_shows_the_picture_itself() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    axes = plots.plot_ranking(earmark.Campaign.build(made.runs))
    assert isinstance(axes, Axes)
    image, size = axes._repr_png_()
    assert image.startswith(b"\x89PNG")
    width, height = axes.figure.get_size_inches()
    assert size == {"width": round(92 * width), "height": round(92 * height)}
    assert len(image) < 60_000
    assert axes._repr_png_()[0] == image


def test_axes_that_are_given_stay_what_they_are() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    own = Figure().add_subplot()
    assert plots.plot_ranking(earmark.Campaign.build(made.runs), ax=own) is own


def test_bins_of_confidence_are_drawn_as_a_diagnosis_is() -> None:
    bins = accuracy_by_confidence([1.0, 2.0, -3.0], [0.55, 0.995, 1.0], [-1.0, 1.0, -1.0])
    diagnosis = Diagnosis(0.0, {}, pl.DataFrame(), bins.frame())
    assert plots.reliability_data(bins).equals(plots.reliability_data(diagnosis))
    assert plots.plot_reliability(bins).get_xlabel() == "confidence in the order of a pair"


def test_what_is_written_on_the_matrix_can_be_read() -> None:
    """Every figure has a contrast of 4.5 to its cell, and whatever the cell, black or white has."""
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=9, queries=8, documents=80)
    few = made.judgments.frame.sample(40, seed=1).select("query", "document", "gain")
    found = earmark.rank(made.runs, Judgments.from_frame(few, scale=made.judgments.scale), measure="AG@5")
    axes = plots.plot_pairs(found)
    cells = axes.collections[0]
    side = len(found.estimates.systems) - 1
    colours = cells.to_rgba(cells.get_array()).reshape(side, side, 4)
    drawn = [text for text in axes.texts if text.get_text() and "\n" not in text.get_text()]
    assert len({text.get_text() for text in drawn}) > 5
    for text in drawn:
        column, row = (round(place) for place in text.get_position())
        assert contrast(text.get_color(), colours[row, column][:3]) >= 4.5
    for share in np.linspace(0, 1, 201):
        for colour in (cells.cmap(share), (share, share, share)):
            assert contrast(ink_on(colour), colour) >= 4.5


def test_the_matrix_calls_no_pair_decided_where_a_premise_fails() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=4, queries=8, documents=80)
    for judgments, note in ((None, "no pair is called decided"), (made.judgments, "bold from 95% on: decided")):
        axes = plots.plot_pairs(earmark.rank(made.runs, judgments, measure="AG@5"))
        assert any(text.get_text().endswith(note) for text in axes.texts)
