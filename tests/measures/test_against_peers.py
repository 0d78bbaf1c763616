"""Equality with trec_eval (through pytrec_eval) and ir_measures: ties, gaps and unjudged documents included."""

from __future__ import annotations

import re
from collections.abc import Iterable

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import assume, given, settings

import earmark
from collections_drawn import Qrels, Run, qrels, runs
from earmark.data.scales import Scale, parse_scale

SCALE = parse_scale("0..3")


def all_of_ours(
    run: Run, truth: Qrels, measures: Iterable[str], *, scale: Scale = SCALE
) -> dict[str, dict[str, float]]:
    judgments = earmark.judgments_from_dict(truth, scale=scale)
    scores = earmark.evaluate(earmark.runs_from_dict({"s": run}), judgments, list(measures))
    return {
        name: dict(zip(scores.queries, values[0], strict=True))
        for name, values in zip(measures, scores.values, strict=True)
    }


def ours(run: Run, truth: Qrels, measure: str, *, scale: Scale = SCALE) -> dict[str, float]:
    return all_of_ours(run, truth, [measure], scale=scale)[measure]


TREC = {
    "P@5": "P_5",
    "R@5": "recall_5",
    "P": "set_P",
    "R": "set_recall",
    "F": "set_F",
    "Success@5": "success_5",
    "AP": "map",
    "AP@5": "map_cut_5",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "infAP": "infAP",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
}


# All measures are computed of the same lists, as drawing lists takes longer than most measures.
@settings(max_examples=200)
@given(run=runs(), truth=qrels(unjudged=True))
def test_equals_trec_eval(run: Run, truth: Qrels) -> None:
    answered = set(run) & set(truth)
    assume(answered)
    # A relevance of -1 is trec_eval's "in the pool, not judged". Where a query has nothing else its nDCG may never
    # return, so there we check that to us it is the same as not being in the pool at all.
    judged = {q: {d: g for d, g in docs.items() if g >= 0} | {"nowhere": 0} for q, docs in truth.items()}
    mine = all_of_ours(run, truth, TREC)
    for known, normalised in ((truth, False), (judged, True)):
        names = {name: theirs for name, theirs in TREC.items() if theirs.startswith("ndcg") is normalised}
        requests = {re.sub(r"_(\d+)$", r".\1", theirs) for theirs in names.values()}
        result = pytrec_eval.RelevanceEvaluator(known, requests).evaluate(run)
        for name, theirs in names.items():
            for query in answered:
                assert mine[name][query] == pytest.approx(result[query][theirs], abs=1e-9), (name, query)
            for query in set(known) - set(run):
                assert mine[name][query] == 0, (name, query)


def theirs(run: Run, truth: Qrels, measure: object) -> dict[str, float]:
    scored = [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    judged = [ir_measures.Qrel(q, d, g) for q, docs in truth.items() for d, g in docs.items()]
    return {m.query_id: m.value for m in ir_measures.iter_calc([measure], judged, scored)}


def untied(docs: dict[str, float]) -> dict[str, float]:
    ranking = sorted(docs, key=lambda d: (np.float32(docs[d]), d))
    # Above 0: ir_measures' Compat takes documents that were not retrieved to have a score of 0.
    return {d: float(place) for place, d in enumerate(ranking, start=1)}


@pytest.mark.parametrize(
    ("measure", "peer"),
    [
        ("P(rel=2)@5", ir_measures.P(rel=2) @ 5),
        ("AP(rel=2)", ir_measures.AP(rel=2)),
        ("Compat(p=0.8)", ir_measures.Compat(p=0.8)),
        ("Judged@5", ir_measures.Judged @ 5),
        ("RR@3", ir_measures.RR @ 3),
    ],
    ids=str,
)
@given(run=runs(), truth=qrels())
def test_equals_ir_measures(measure: str, peer: object, run: Run, truth: Qrels) -> None:
    answered = set(run) & set(truth)
    assume(answered)
    # ir_measures breaks ties differently from measure to measure, so there are none here.
    run = {q: untied(docs) for q, docs in run.items()}
    mine, other = ours(run, truth, measure), theirs(run, truth, peer)
    for query in answered & set(other):
        assert mine[query] == pytest.approx(other[query], abs=1e-9), query


@pytest.mark.parametrize(
    ("measure", "peer"),
    [("nDCG(gain=exp)@5", ir_measures.nDCG(dcg="exp-log2") @ 5), ("ERR(max=4)@5", ir_measures.ERR @ 5)],
    ids=str,
)
def test_equals_gdeval(measure: str, peer: object) -> None:
    """gdeval, which ir_measures runs for these, prints five digits and takes only numbers as query ids."""
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(12)]
    names = [str(i) for i in range(1, 41)]
    truth = {q: {d: int(g) for d, g in zip(docs, rng.integers(0, 4, 9), strict=False)} | {"d0": 3} for q in names}
    run = {q: untied({d: float(rng.normal()) for d in rng.permutation(docs)[:8]}) for q in names}
    mine, other = ours(run, truth, measure), theirs(run, truth, peer)
    assert len(other) == len(names)
    for query in names:
        assert mine[query] == pytest.approx(other[query], abs=1e-5), query


def test_query_without_relevant_documents_disturbs_no_other() -> None:
    """ranx returns zeros (or NaN) for bpref of queries that share a chunk with a query without relevant documents."""
    truth = {f"q{i}": {"a": 1, "b": 0} for i in range(20)} | {"q7": {"a": 0, "b": 0}}
    run = {q: {"b": 2.0, "a": 1.0} for q in truth}
    mine = ours(run, truth, "bpref(cap=none)")
    assert mine.pop("q7") == 0
    assert set(mine.values()) == {0.0}
    better = ours({q: {"a": 2.0, "b": 1.0} for q in truth}, truth, "bpref")
    assert better.pop("q7") == 0
    assert set(better.values()) == {1.0}
