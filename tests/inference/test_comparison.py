"""Comparing systems by name: directions, gaps, and what stays the same whatever was asked for besides."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.data.units import QueryUnits
from earmark.errors import ParameterError
from earmark.file_evaluation import evaluate_files
from earmark.simulation import synthetic_collection


@pytest.fixture(scope="module")
def scores() -> earmark.Scores:
    made = synthetic_collection(np.random.default_rng(3), systems=4, queries=30)
    return earmark.evaluate(made.runs, made.judgments, ["AG@5", "MR1(rel=50)", "nDCG@5"])


def test_a_lower_rank_of_the_first_hit_is_better(scores: earmark.Scores) -> None:
    compared = earmark.compare(scores, "MR1(rel=50)", test="t")
    means = dict(zip(scores.systems, scores.of("MR1(rel=50)").mean(axis=1), strict=True))
    for row in compared.pairs().iter_rows(named=True):
        assert row["difference"] == pytest.approx(means[row["a"]] - means[row["b"]])
        assert row["low"] <= row["difference"] <= row["high"]
        if row["better"]:
            assert means[row["better"]] == min(means[row["a"]], means[row["b"]])
    assert compared.ranking()["mean"].is_sorted()


def test_a_result_does_not_depend_on_the_other_measures(scores: earmark.Scores) -> None:
    alone = earmark.compare(scores, "nDCG@5", test="permutation", seed=5).pairs()
    again = earmark.compare(scores, earmark.parse("ndcg_cut_5"), test="permutation", seed=5).pairs()
    assert alone.equals(again)
    assert earmark.compare(scores).measure == earmark.parse("AG@5")


def test_queries_that_some_system_did_not_answer_are_dropped_for_all() -> None:
    runs = earmark.runs_from_dict(
        {"a": {f"q{i}": {"d": 1.0} for i in range(6)}, "b": {f"q{i}": {"e": 1.0} for i in range(1, 6)}}
    )
    judgments = earmark.judgments_from_dict({f"q{i}": {"d": i % 2, "e": 1} for i in range(6)})
    compared = earmark.compare(earmark.evaluate(runs, judgments, ["P@1"], missing="drop"), test="t")
    assert compared.dropped == ("q0",)
    assert compared.scores.shape == (2, 5)


def test_one_system_cannot_be_compared() -> None:
    scores = earmark.evaluate(
        earmark.runs_from_dict({"only": {"q": {"d": 1.0}}}), earmark.judgments_from_dict({"q": {"d": 1}}), ["P@1"]
    )
    with pytest.raises(ParameterError, match="there is only the system 'only'"):
        earmark.compare(scores)


def test_measures_that_rank_alike_correlate(scores: earmark.Scores) -> None:
    rows = earmark.correlate(scores)
    assert rows.height == 3
    assert rows.filter((rows["measure_a"] == "AG@5") & (rows["measure_b"] == "nDCG@5"))["tau"][0] > 0.5


def test_queries_that_belong_together_count_once(scores: earmark.Scores) -> None:
    unit_of = {query: f"unit {place // 3}" for place, query in enumerate(scores.queries)}
    compared = earmark.compare(scores, "AG@5", test="t", unit_of=unit_of)
    plain = earmark.compare(scores, "AG@5", test="t")
    # Means are over queries; only what is concluded from them counts units.
    assert compared.ranking()["mean"].to_list() == plain.ranking()["mean"].to_list()
    assert set(compared.pairs().select("unit", "units").rows()) == {("unit", 10)}
    assert set(plain.pairs().select("unit", "units").rows()) == {("query", 30)}
    assert "10 units for 30 queries; means are over queries" in compared.about_units()
    # A unit of its own for every query changes nothing.
    alone = earmark.compare(scores, "AG@5", test="t", unit_of={query: query for query in scores.queries})
    assert alone.pairs().drop("unit").equals(plain.pairs().drop("unit"))
    # A query asked three times over is no evidence for anything more.
    thrice = dataclasses.replace(
        scores,
        queries=tuple(f"{query} {copy}" for query in scores.queries for copy in range(3)),
        values=np.repeat(scores.values, 3, axis=-1),
    )
    copies = {query: query.rsplit(" ", 1)[0] for query in thrice.queries}
    once = earmark.compare(thrice, "AG@5", test="t", unit_of=copies)
    np.testing.assert_allclose(once.tests.p_value, plain.tests.p_value)
    assert np.all(earmark.compare(thrice, "AG@5", test="t").tests.p_value <= once.tests.p_value)


def test_every_query_belongs_to_a_unit(scores: earmark.Scores) -> None:
    with pytest.raises(ParameterError, match=f"query '{scores.queries[0]}' belongs to no unit"):
        earmark.compare(scores, "AG@5", unit_of={})
    with pytest.raises(ParameterError, match="a mapping, or 'query' for every query, got 'works'"):
        earmark.compare(scores, "AG@5", unit_of="works")  # type: ignore[arg-type]


def test_works_are_units_where_the_truth_is_cliques(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    works = {f"{work}{version}": work for work in "abcdefgh" for version in "123"}
    runs = earmark.runs_from_dict(
        {
            system: {query: {document: rng.random() for document in works if document != query} for query in works}
            for system in ("one", "two")
        }
    )
    cliques = earmark.Cliques(pl.DataFrame({"document": list(works), "group": list(works.values())}))
    earmark.write_runs(runs, tmp_path / "runs.tsv")
    for scores in (earmark.evaluate(runs, cliques, ["AP"]), evaluate_files(tmp_path / "runs.tsv", cliques, ["AP"])):
        by_work = earmark.compare(scores, test="t")
        assert by_work.pairs().equals(earmark.compare(scores, test="t", unit_of=QueryUnits("work", works)).pairs())
        assert by_work.pairs().select("unit", "units").row(0) == ("work", 8)
        by_query = earmark.compare(scores, test="t", unit_of="query").pairs()
        assert by_query.select("unit", "units", "difference").row(0) == (
            "query",
            24,
            by_work.pairs()["difference"][0],
        )
