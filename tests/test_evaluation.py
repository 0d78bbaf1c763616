"""Evaluation: missing, unknown and empty queries are named and never disturb the others."""

from __future__ import annotations

import numpy as np
import pytest

import earmark
from earmark.errors import ParameterError


@pytest.fixture
def runs() -> earmark.Runs:
    return earmark.runs_from_dict(
        {
            "full": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"a": 1.0}, "q9": {"a": 1.0}},
            "partial": {"q1": {"b": 2.0, "a": 1.0}},
        }
    )


@pytest.fixture
def judgments() -> earmark.Judgments:
    return earmark.judgments_from_dict({"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"a": 0}})


def test_unanswered_queries_score_zero_and_are_named(runs: earmark.Runs, judgments: earmark.Judgments) -> None:
    scores = earmark.evaluate(runs, judgments, ["RR"])
    assert scores.queries == ("q1", "q2", "q3")
    np.testing.assert_array_equal(scores.values[0], [[1, 1, 0], [0.5, 0, 0]])
    np.testing.assert_allclose(scores.mean_values[0], [2 / 3, 0.5 / 3])
    assert scores.unanswered == {"partial": ("q2", "q3")}
    assert scores.unjudged == ("q9",)
    assert scores.without_relevant == ("q3",)
    assert scores.notes() == [
        "system 'partial' did not answer 2 queries (q2, q3): they score as empty lists",
        "nothing is known about 1 query (q9): left out",
        "no relevant document is known for 1 query (q3): no system can score there",
    ]


def test_unanswered_queries_drop_out_when_asked(runs: earmark.Runs, judgments: earmark.Judgments) -> None:
    scores = earmark.evaluate(runs, judgments, ["RR"], missing="drop")
    assert scores.mean_values[0].tolist() == pytest.approx([2 / 3, 0.5])
    assert scores.per_query().height == 4
    assert "they are dropped" in scores.notes()[0]


def test_a_system_that_answers_nothing_known_cannot_drop_everything() -> None:
    runs = earmark.runs_from_dict({"lost": {"x": {"a": 1.0}}, "found": {"q": {"a": 1.0}}})
    judgments = earmark.judgments_from_dict({"q": {"a": 1}})
    assert earmark.evaluate(runs, judgments, ["RR"]).mean_values.tolist() == [[1.0, 0.0]]
    with pytest.raises(ParameterError, match="system 'lost' answered no judged query"):
        earmark.evaluate(runs, judgments, ["RR"], missing="drop")


def test_frames_hold_what_the_array_holds(runs: earmark.Runs, judgments: earmark.Judgments) -> None:
    scores = earmark.evaluate(runs, judgments, ["RR", "P@1"])
    for row in scores.per_query().iter_rows(named=True):
        system, query = scores.systems.index(row["system"]), scores.queries.index(row["query"])
        assert row["value"] == scores.of(row["measure"])[system, query]
    means = scores.means()
    assert means.columns == ["system", "measure", "value"]
    assert scores.table()["system"].to_list() == ["full", "partial"]
    assert list(scores.to_pandas().columns) == ["system", "query", "measure", "value"]
    assert "did not answer" in scores._repr_html_()


@pytest.mark.parametrize(
    ("measures", "options", "message"),
    [
        ([], {}, "name at least one measure"),
        (["RR"], {"missing": "ignore"}, "missing queries count zero or drop out, got 'ignore'"),
        (["RR"], {"aggregation": "mode"}, "unknown aggregation 'mode'"),
    ],
)
def test_says_what_is_wrong(
    runs: earmark.Runs, judgments: earmark.Judgments, measures: list[str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        earmark.evaluate(runs, judgments, measures, **options)


def test_a_measure_that_was_not_evaluated_is_named(runs: earmark.Runs, judgments: earmark.Judgments) -> None:
    with pytest.raises(ParameterError, match=r"AP was not evaluated: there are RR, P@1"):
        earmark.evaluate(runs, judgments, ["RR", "P@1"]).of("AP")


def test_cliques_make_every_other_member_relevant() -> None:
    import polars as pl

    cliques = earmark.Cliques(pl.DataFrame({"document": list("abcxy"), "group": ["1", "1", "1", "2", "2"]}))
    # The query stands in its own list and is taken out; x and y are known not to be versions of a; z is unknown.
    runs = earmark.runs_from_dict({"s": {"a": dict(zip("axzbc", [5.0, 4.0, 3.0, 2.0, 1.0], strict=True))}})
    names = ["RR", "AP", "bpref*", "hits@10", "MR1", "TN@2"]
    values = dict(zip(names, earmark.evaluate(runs, cliques, names, missing="drop").mean_values[:, 0], strict=True))
    assert values["RR"] == values["MR1"] ** -1 == 1 / 3
    assert values["AP"] == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert values["bpref*"] == pytest.approx(1 - 1 / (4 + 2))
    assert values["hits@10"] == 2
    assert values["TN@2"] == 4 - 0 - 2 - 2


def test_real_scores_are_those_of_the_facts(mirex: object) -> None:
    from pathlib import Path

    folder = Path(str(mirex))
    runs = earmark.read_runs(folder / "runs.txt")
    judgments = earmark.read_judgments(folder / "judgments.txt")
    scores = earmark.evaluate(runs, judgments, ["AG@5"])
    means = dict(zip(scores.systems, scores.mean_values[0], strict=True))
    assert round(means["207f1d"], 4) == 0.3039
    assert round(means["2d3c5b"], 4) == 0.5864
    assert abs(means["ccaba5"] - means["5177f0"]) == pytest.approx(0.00002)
    assert str(judgments.scale) == "fine"
    assert judgments.scale_guessed


def test_curves_of_every_system():
    runs = earmark.runs_from_dict(
        {"a": {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 1}}, "b": {"q1": {"d2": 2, "d1": 1}}},
    )
    judgments = earmark.judgments_from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}})
    found = earmark.curves(runs, judgments, "pr")
    assert [found[name].area.tolist() for name in "ab"] == [[1.0, 0.0], [0.5, 0.0]]
    areas = earmark.evaluate(runs, judgments, ["PRarea"]).mean_values[0]
    assert [found[name].mean_area for name in "ab"] == areas.tolist()
    dropped = earmark.curves(runs, judgments, "pr", missing="drop")
    assert dropped["b"].area.tolist() == [0.5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "bends"}, "unknown curve 'bends': there are pr, roc, lift, normalised-lift, dynamic-recall"),
        ({"curve": "pr", "missing": "keep"}, "missing queries count zero or drop out, got 'keep'"),
        ({"curve": "dynamic-recall", "rel": 1.0}, "does not apply to dynamic recall: every group counts"),
        ({"curve": "pr", "missing": "drop"}, "system 'b' answered no judged query: nothing is left to average"),
    ],
)
def test_curves_that_cannot_be(options, message):
    runs = earmark.runs_from_dict({"a": {"q1": {"d1": 1}}, "b": {"q2": {"d1": 1}}})
    with pytest.raises(ParameterError, match=message):
        earmark.curves(runs, earmark.judgments_from_dict({"q1": {"d1": 1}}), **options)
