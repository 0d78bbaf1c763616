"""Names as other programs spell them, several at once, and the summaries of trec_eval that are no means."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import assume, given, settings

import earmark
from collections_drawn import Qrels, Run, qrels, runs
from earmark.errors import ParameterError
from earmark.measures.base import parse, parse_all
from earmark.measures.foreign_names import trec_eval_name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@10,AP", ["nDCG@10", "AP"]),
        (" nDCG@10 , AP ,", ["nDCG@10", "AP"]),
        ("ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
        ("P.5,10,map", ["P@5", "P@10", "AP"]),
        ("P_5,10", ["P@5", "P@10"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("mean(AP,R,w=0.7),RBP(p=0.8,rel=1)@5", ["mean(AP,R,w=0.7)", "RBP(p=0.8,rel=1)@5"]),
        ("map_cut", [f"AP@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
    ],
)
def test_several_names_in_one(text: str, names: list[str]) -> None:
    assert [str(one) for one in parse_all([text])] == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ndcg_cut.10", "nDCG@10"),
        ("recall.100", "R@100"),
        ("success.1", "Success@1"),
        ("hit_rate@10", "Success@10"),
        ("f1@5", "F@5"),
        ("precision@5-l2", "P(rel=2)@5"),
        ("map-l2", "AP(rel=2)"),
        ("ndcg_burges@5", "nDCG(gain=exp)@5"),
        ("dcg_burges@5", "DCG(gain=exp)@5"),
        ("nDCG(dcg='exp-log2')@5", "nDCG(gain=exp)@5"),
        ("nDCG(dcg='log2')@5", "nDCG@5"),
        ("NumRet", "num_ret"),
        ("NumRet(rel=2)", "num_rel_ret(rel=2)"),
        ("gm_map", "GMAP"),
        ("set_map", "SetAP"),
    ],
)
def test_reads_what_other_programs_write(text: str, name: str) -> None:
    assert str(parse(text)) == name


@pytest.mark.parametrize("text", ["5,10", ",", "nDCG@10,,ndgc@5"])
def test_a_list_of_nothing_known_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"is not the name of a measure|did you mean nDCG"):
        parse_all([text])


@pytest.mark.parametrize(
    "name", ["map", "P_5", "recall_10", "ndcg_cut_10", "ndcg", "set_P", "set_map", "gm_map", "recip_rank", "num_q"]
)
def test_the_names_of_trec_eval_come_back(name: str) -> None:
    assert trec_eval_name(parse(name)) == name
    assert trec_eval_name(parse("P(rel=2)@5")) == "P(rel=2)@5"
    assert trec_eval_name(parse("RR@5")) == "RR@5"


@settings(max_examples=200)
@given(run=runs(), truth=qrels())
def test_counts_and_summaries_equal_trec_eval(run: Run, truth: Qrels) -> None:
    assume(set(run) & set(truth))
    names = ["num_q", "num_ret", "num_rel", "num_rel_ret", "gm_map", "set_map"]
    found = pytrec_eval.RelevanceEvaluator(truth, set(names)).evaluate(run)
    scores = earmark.evaluate({"s": run}, truth, names, missing="drop")
    for number, name in enumerate(names):
        theirs = {query: values[name] for query, values in found.items()}
        if name != "gm_map":
            mine = {query: scores.values[number, 0, at] for at, query in enumerate(scores.queries) if query in found}
            assert mine == pytest.approx(theirs, abs=1e-9), name
        expected = pytrec_eval.compute_aggregated_measure(name, list(theirs.values()))
        assert scores.mean(name) == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("name", ["num_ret", "gm_map"])
def test_what_is_no_mean_is_not_compared(name: str) -> None:
    made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    scores = earmark.evaluate(made.runs, made.judgments, [name])
    with pytest.raises(ParameterError, match="not a mean over queries: try hits or AP"):
        earmark.compare(scores)
    with pytest.raises(ParameterError, match="not a mean over queries"):
        earmark.rank(made.runs, made.judgments, measure=name)


def test_dictionaries_of_pytrec_eval_and_plain_numbers() -> None:
    truth = {"q1": {"d1": 1, "d2": 0, "d3": 1}, "q2": {"d1": 0, "d4": 1}}
    run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 2.0, "d4": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(truth, {"map", "ndcg_cut.10"}).evaluate(run)
    scores = earmark.evaluate(run, truth, {"map", "ndcg_cut.10"})
    mine = scores.to_dict()
    assert list(mine) == ["run"]
    for query, values in theirs.items():
        assert mine["run"][query] == pytest.approx({"AP": values["map"], "nDCG@10": values["ndcg_cut_10"]})
        assert all(type(value) is float for value in mine["run"][query].values())
    assert type(scores.mean("map")) is float
    assert scores.mean("map") == pytest.approx(np.mean([values["map"] for values in theirs.values()]))
    assert scores.mean("map") == scores.mean("AP", "run") == pytest.approx(float(scores.of("AP").mean()))
    several = earmark.evaluate({"a": run, "b": {"q1": {"d2": 1.0}}}, truth, ["map"])
    assert several.systems == ("a", "b")
    with pytest.raises(ParameterError, match="there are 2 systems: name one of a, b"):
        several.mean("map")
    with pytest.raises(ParameterError, match="unknown system 'c': there are a, b"):
        several.mean("map", "c")
    dropped = earmark.evaluate({"a": run, "b": {"q1": {"d2": 1.0}}}, truth, ["map"], missing="drop")
    assert list(dropped.to_dict()["b"]) == ["q1"]
