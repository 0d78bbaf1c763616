"""Plots of forecasts, predictions, people and several methods: what would be drawn is right, and is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import earmark
from earmark import plots
from earmark.campaign.forecast import Forecast, PairForecast
from earmark.campaign.verdict import Inference
from earmark.crowd.worker_check import RejectionRule, WorkerCheck, check_workers
from earmark.data.judgments import Judgments
from earmark.data.preferences import Preferences
from earmark.diagnose.calibration import reliability_curve
from earmark.errors import ParameterError
from earmark.measures.curves import Curves
from earmark.plots.style import plain
from earmark.report.assessors import assessor_table
from earmark.simulation.campaigns import Outcome, outcomes_frame
from earmark.simulation.diagnosis import Diagnosis


def pair(a: str, b: str, chance: list[float], left: int) -> PairForecast:
    path = np.array(chance)
    return PairForecast(a, b, 0.7, left, np.arange(path.size), path, float(path[-1]))


FORECAST = Forecast(
    (
        pair("A", "B", [0.0, 0.3, 0.6, 0.95], 5),
        pair("B", "C", [0.0, 0.2, 0.55], 9),
        pair("C", "a very long name of a system", [0.0], 7),
    ),
    Inference(),
)


def worker_check(workers: int = 4) -> WorkerCheck:
    """The first gets all traps right, the second two of three, the third none; everybody else sees no trap."""
    rows = []
    for worker in range(workers):
        for trap in range(3 if worker < 3 else 0):
            right = trap < (3, 2, 0)[worker]
            rows.append(("q", f"x{trap}", f"y{trap}", f"w{worker}", "a" if right else "b", "a"))
        rows.append(("q", "m", "n", f"w{worker}", "b", None))
    schema = ["query", "a", "b", "assessor", "choice", "trap"]
    answers = Preferences.from_frame(pl.DataFrame(rows, schema=schema, orient="row"))
    return check_workers(answers, rule=RejectionRule(min_answers=4))


def people(count: int) -> pl.DataFrame:
    """Everybody judges the same two items, each a little higher than the one before."""
    rows = [("q", document, f"p{who:02d}", 10.0 * who % 100) for who in range(count) for document in ("d", "e")]
    frame = pl.DataFrame(rows, schema=["query", "document", "assessor", "gain"], orient="row")
    table = assessor_table(Judgments.from_frame(frame, scale=earmark.FINE))
    assert table is not None
    return table


PREDICTIONS = pl.DataFrame({"predicted": np.linspace(0, 90, 200), "actual": np.linspace(10, 100, 200)})


def campaigns(*confidence: float | None) -> pl.DataFrame:
    right = [None if sure is None else 0.8 for sure in confidence]
    return outcomes_frame(
        [
            Outcome("step", 0, 20 * look, sure, 0.5, right[look], 0.0, None, None, None, 0, 0, None, 0.0, "")
            for look, sure in enumerate(confidence)
        ]
    )


METHODS = {"one": campaigns(None, 0.8, 0.96, 0.94, 0.97), "_two_$": campaigns(0.5, 0.6, 0.7)}


def many_curves(count: int) -> dict[str, Curves]:
    x = np.linspace(0, 1, 5)
    return {
        f"system {number:02d}": Curves("recall", "precision", x, (1 - x)[None] * number / count, np.array([number]))
        for number in range(count)
    }


DRAWN: dict[str, Callable[..., Axes]] = {
    "forecast": lambda **given: plots.plot_forecast(FORECAST, **given),
    "forecast of nothing": lambda **given: plots.plot_forecast(Forecast((), Inference()), **given),
    "predictions": lambda **given: plots.plot_predictions(PREDICTIONS, **given),
    "one prediction": lambda **given: plots.plot_predictions(PREDICTIONS.head(1), **given),
    "reliability curve": lambda **given: plots.plot_reliability_curve(
        reliability_curve(np.full((30, 2), 0.5), np.arange(30) % 2), **given
    ),
    "traps": lambda **given: plots.plot_traps(worker_check(), **given),
    "assessors": lambda **given: plots.plot_assessors(people(4), **given),
    "many assessors": lambda **given: plots.plot_assessors(people(50), **given),
    "campaigns": lambda **given: plots.plot_campaigns(METHODS, **given),
    "accuracy of campaigns": lambda **given: plots.plot_campaigns(METHODS, what="accuracy", **given),
    "a campaign with nothing to compare": lambda **given: plots.plot_campaign(campaigns(None, None), **given),
    "groups": lambda **given: plots.plot_actual([0.1, 0.2, 0.3], [0.1, 0.3, 0.3], group=["a", "_b", "a"], **given),
    "distribution": lambda **given: plots.plot_distribution([0.0, 0.5, 0.5, 1.0], mean=0.5, variance=0.1, **given),
    "sixty curves": lambda **given: plots.plot_curves(many_curves(60), average=True, **given),
    "coverage without pairs": lambda **given: plots.plot_coverage(
        Diagnosis(0.0, {}, pl.DataFrame({"level": [0.9], "pairs": [float("nan")], "systems": [0.8]}), pl.DataFrame()),
        **given,
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_function_draws_on_the_axes_it_is_given(name: str) -> None:
    axes = Figure(figsize=(5, 4)).add_subplot()
    assert DRAWN[name](ax=axes) is axes
    text = plots.svg_text(DRAWN[name](), prefix="x", label=name)
    assert "<svg" in text
    assert "nan" not in text.replace("many", "")


def test_a_forecast_is_drawn_as_far_as_it_goes() -> None:
    data = plots.forecast_data(FORECAST)
    assert data.rows() == [
        ("A", "B", 2, 3, 5),
        ("B", "C", 2, None, 9),
        ("C", "a very long name of a system", None, None, 7),
    ]
    labels = [label.get_text() for label in plots.plot_forecast(FORECAST).get_yticklabels()]
    assert labels == ["A – B", "B – C", "C – a very lon… a system"]
    assert plain("a very long name of a system", longest=20) == "a very lon… a system"


def test_groups_of_predictions_hold_all_items() -> None:
    data = plots.predictions_data(PREDICTIONS)
    assert data["items"].to_list() == [20] * 10
    assert (data["actual"] - data["predicted"]).to_list() == pytest.approx([10.0] * 10)
    assert (data["low"] < data["actual"]).all()
    same = PREDICTIONS.with_columns(predicted=pl.lit(50.0))
    assert plots.predictions_data(same).select("items", "predicted").rows() == [(200, 50.0)]
    alone = plots.predictions_data(PREDICTIONS.head(1))
    assert alone.select("items", "low", "high").rows() == [(1, 10.0, 10.0)]
    with pytest.raises(ParameterError, match="there are no predictions to draw"):
        plots.predictions_data(PREDICTIONS.head(0))


def test_equal_predictions_are_not_parted() -> None:
    frame = pl.DataFrame({"predicted": [1.0] * 15 + [2.0] * 5 + [3.0] * 10, "actual": np.arange(30.0)})
    assert plots.predictions_data(frame).select("items", "predicted").rows()[0] == (15, 1.0)


def test_traps_tell_who_is_rejected() -> None:
    data = plots.traps_data(worker_check())
    assert data.select("assessor", "right", "decision").rows() == [
        ("w0", 3, "kept"),
        ("w1", 2, "kept"),
        ("w2", 0, "rejected"),
    ]
    legend = plots.plot_traps(worker_check()).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["kept", "rejected", "65%: rejected below"]


def test_assessors_come_from_generous_to_strict() -> None:
    data = plots.assessors_data(people(4))
    assert data["assessor"].to_list() == ["p03", "p02", "p01", "p00"]
    assert data["bias"].to_list() == pytest.approx([20.0, 20 / 3, -20 / 3, -20.0])
    # Of a large crowd, as many as can be read.
    assert plots.assessors_data(people(50)).height == 30


def test_methods_are_compared_where_they_are_sure() -> None:
    data = plots.campaigns_data(METHODS)
    # The first look of the first method compares nothing.
    assert data.filter(pl.col("method") == "one")["judged"].to_list() == [20, 40, 60, 80]
    assert data.filter("reached").select("method", "judged").rows() == [("one", 40)]
    assert data.filter(pl.col("method") == "_two_$")["reached"].any() is False
    legend = plots.plot_campaigns(METHODS).get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one", r" _two_\$"]
    with pytest.raises(ParameterError, match="there are no campaigns to draw"):
        plots.campaigns_data({})
    with pytest.raises(ParameterError, match="mean_confidence and accuracy to draw, got 'tau'"):
        plots.plot_campaigns(METHODS, what="tau")  # type: ignore[arg-type]


def test_values_of_groups_stay_together() -> None:
    data = plots.actual_data([1.0, 2.0], [3.0, 4.0], group=["x", "y"])
    assert data.rows() == [(3.0, 1.0, "x"), (4.0, 2.0, "y")]
    with pytest.raises(ParameterError, match="a group for each of 2 values, got 1"):
        plots.actual_data([1.0, 2.0], [3.0, 4.0], group=["x"])


def test_the_curve_is_that_of_the_estimate_and_few_values_have_bars_of_their_own() -> None:
    # Five documents on the Broad scale: eleven possible scores.
    gains = np.random.default_rng(0).integers(0, 3, (4000, 5)).mean(axis=1) / 2
    data = plots.distribution_data(gains, mean=0.5, variance=2 / 3 / 5 / 4)
    bars, curve = (data.filter(pl.col("kind") == kind) for kind in ("bin", "normal"))
    assert bars.height == 11
    assert bars["x"].to_list() == pytest.approx(np.linspace(0, 1, 11))
    assert (bars["density"] * bars["width"]).sum() == pytest.approx(1.0)
    highest = curve["x"].to_numpy()[curve["density"].to_numpy().argmax()]
    assert highest == pytest.approx(0.5)
    # With an honest curve, bars and curve are about as high.
    assert bars["density"].to_numpy().max() == pytest.approx(curve["density"].to_numpy().max(), rel=0.1)
    assert plots.distribution_data(gains, mean=0.5, variance=0.0)["kind"].unique().to_list() == ["bin"]
    with pytest.raises(ParameterError, match="a variance is 0 or more, got -1"):
        plots.distribution_data(gains, variance=-1.0)


def test_of_many_curves_the_best_have_names() -> None:
    legend = plots.plot_curves(many_curves(60)).get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[0] == "system 59 (59.000)"
    assert texts[-1] == "46 more, with less area"
    assert len(texts) == 15
    averaged = plots.plot_curves(many_curves(3), average=True).get_legend()
    assert averaged is not None
    assert averaged.get_texts()[-1].get_text() == "mean (1.000)"


def test_documents_found_are_recall_times_position() -> None:
    x = np.arange(1.0, 5.0)
    curves = {"S": Curves("position", "dynamic recall", x, np.array([[1.0, 0.5, 2 / 3, 0.75]]), np.array([0.73]))}
    axes = plots.plot_dynamic_recall(curves, counts=True)
    (beside,) = [other for other in axes.figure.axes if other is not axes]
    assert beside.lines[0].get_ydata().tolist() == pytest.approx([1, 1, 2, 3])  # type: ignore[union-attr]
    assert len(plots.plot_dynamic_recall(curves).figure.axes) == 1


def test_without_pairs_there_is_no_coverage_of_them() -> None:
    coverage = pl.DataFrame({"level": [0.9], "pairs": [float("nan")], "systems": [0.8]})
    assert plots.coverage_data(Diagnosis(0.0, {}, coverage, pl.DataFrame())).rows() == [(0.9, None, 0.8)]


def test_a_large_matrix_marks_what_is_open() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(1), systems=20, queries=10, documents=200)
    ranking = earmark.rank(made.runs, Judgments(made.judgments.frame.sample(60, seed=1), made.judgments.scale))
    texts = [text.get_text() for text in plots.plot_pairs(ranking).texts]
    undecided = int((ranking.compared & ~ranking.decided()).sum())
    assert texts.count("•") == undecided > 0
    assert "a dot: open" in texts[-1]
