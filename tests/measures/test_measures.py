"""Every measure against its definition written out the long way, and the relations that hold between them."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import earmark
from collections_drawn import Qrels, Run, qrels, runs
from earmark.data.ground_truth import OrderedGroups
from earmark.data.scales import BINARY, FINE, parse_scale
from earmark.errors import ParameterError
from earmark.evaluation import Scores, evaluate
from earmark.measures import parse, registered

SCALE = parse_scale("0..3")


def scores_of(run: Run, truth: Qrels, *measures: str, **options: object) -> Scores:
    judgments = earmark.judgments_from_dict(truth, scale=SCALE)
    return evaluate(earmark.runs_from_dict({"s": run}), judgments, measures, **options)


def ranking_of(docs: dict[str, float]) -> list[str]:
    return sorted(docs, key=lambda d: (np.float32(docs[d]), d), reverse=True)


DEFINED = {
    "CG@4": lambda r, t: sum(naive.gains_of(r, t, 4)),
    "AG@4": lambda r, t: sum(naive.gains_of(r, t, 4)) / 4 / 3,
    "DCG@4": lambda r, t: naive.dcg(naive.gains_of(r, t, 4)),
    "DCG(gain=exp)@4": lambda r, t: naive.dcg(naive.gains_of(r, t, 4), exp=True),
    "DCG(base=e,discount=first)": lambda r, t: naive.dcg(naive.gains_of(r, t), "first", math.e),
    "DCG(base=3,discount=base)@6": lambda r, t: naive.dcg(naive.gains_of(r, t, 6), "base", 3.0),
    "nDCG(ideal=scale)@4": lambda r, t: naive.dcg(naive.gains_of(r, t, 4)) / naive.dcg([3.0] * 4),
    "RBP(p=0.7)@5": lambda r, t: naive.rbp(naive.gains_of(r, t, 5), 0.7, 3),
    "RBP(p=0.8,rel=2)": lambda r, t: naive.rbp([float(g >= 2) for g in naive.gains_of(r, t)], 0.8, 1),
    "RBPres(p=0.8)": lambda r, t: 1 - sum(0.2 * 0.8**i for i, d in enumerate(r) if d in t),
    "ERR@5": lambda r, t: naive.err(naive.gains_of(r, t, 5), 3),
    "Q": lambda r, t: naive.q_measure(r, t, 1.0),
    "Q(beta=10)@5": lambda r, t: naive.q_measure(r, t, 10.0, 5),
    "SumRR": lambda r, t: sum(1 / i for i, d in enumerate(r, 1) if t.get(d, 0) > 0),
    "SumRR(over=length)@4": lambda r, t: sum(1 / i for i, d in enumerate(r[:4], 1) if t.get(d, 0) > 0) / 4,
    "MR1": lambda r, t: next((i for i, d in enumerate(r, 1) if t.get(d, 0) > 0), len(r) + 1),
    "hits@4": lambda r, t: sum(t.get(d, 0) > 0 for d in r[:4]),
    "bpref(cap=none)": lambda r, t: naive.bpref_family(r, t, sum(g > 0 for g in t.values())),
    "bpref-10": lambda r, t: naive.bpref_family(r, t, 10 + (R := sum(g > 0 for g in t.values())), 10 + R),
    "bpref*": lambda r, t: naive.bpref_family(r, t, len(r) + sum(g > 0 for g in t.values())),
    "bpref*@4": lambda r, t: naive.bpref_family(r[:4], t, 4 + sum(g > 0 for g in t.values())),
    "F(beta=2)@4": lambda r, t: _f(r, t, 2.0, 4),
    "mean(AP,R,w=0.3)": None,
    "hmean(P@4,R@4)": lambda r, t: _f(r, t, 1.0, 4),
}


def _f(ranking: list[str], truth: dict[str, float], beta: float, k: int) -> float:
    found = sum(truth.get(d, 0) > 0 for d in ranking[:k])
    precision, recall = found / k, found / max(sum(g > 0 for g in truth.values()), 1)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if found else 0.0


# All measures are computed of the same lists, as drawing lists takes longer than most measures.
@settings(max_examples=200)
@given(docs=st.dictionaries(st.sampled_from("abcdefghij"), st.floats(-5, 5, width=32), min_size=1), truth=qrels())
def test_measures_are_what_their_definitions_say(docs: dict[str, float], truth: Qrels) -> None:
    known = {d.replace("d", "abcdefghijkl"[int(d[1:])])[0]: g for d, g in next(iter(truth.values())).items()}
    expected = {name: definition(ranking_of(docs), known) for name, definition in DEFINED.items() if definition}
    mine = scores_of({"q": docs}, {"q": known}, *expected).values[:, 0, 0]
    assert dict(zip(expected, mine, strict=True)) == pytest.approx(expected, abs=1e-12)


@given(run=runs(), truth=qrels())
def test_combinations_combine(run: Run, truth: Qrels) -> None:
    ap, r, mixed, harmonic = scores_of(run, truth, "AP", "R", "mean(AP,R,w=0.3)", "hmean(AP,R)").values
    np.testing.assert_allclose(mixed, 0.3 * ap + 0.7 * r)
    both = ap + r
    np.testing.assert_allclose(harmonic, np.divide(2 * ap * r, both, out=np.zeros_like(both), where=both > 0))


@given(run=runs(), truth=qrels())
def test_normalised_measures_divide_by_the_ideal_of_the_pool(run: Run, truth: Qrels) -> None:
    names = ["nDCG(ideal=pool)@3", "nRBP(p=0.8)@3"]
    scores = scores_of(run, truth, *names)
    for column, query in enumerate(scores.queries):
        ranking = ranking_of(run.get(query, {}))
        pool = {d: g for d, g in truth[query].items() if d in ranking}
        got, best = naive.gains_of(ranking, truth[query], 3), naive.ideal_gains(pool, 3)
        expected = (
            [naive.dcg(got) / naive.dcg(best), naive.rbp(got, 0.8, 1) / naive.rbp(best, 0.8, 1)]
            if any(best)
            else [0, 0]
        )
        np.testing.assert_allclose(scores.values[:, 0, column], expected, atol=1e-12)


@given(run=runs(), truth=qrels())
def test_confusion_matrix_adds_up_to_the_collection(run: Run, truth: Qrels) -> None:
    cells = ["TP@4", "FP@4", "FN@4", "TN@4"]
    rates = ["accuracy@4", "sensitivity@4", "specificity@4", "NPV@4", "fallout@4"]
    values = scores_of(run, truth, *cells, *rates, collection_size=50).values[:, 0]
    tp, fp, fn, tn, accuracy, sensitivity, specificity, npv, fallout = values
    np.testing.assert_allclose(tp + fp + fn + tn, 50)
    np.testing.assert_allclose(accuracy, (tp + tn) / 50)
    np.testing.assert_allclose(specificity, tn / (tn + fp))
    np.testing.assert_allclose(fallout, 1 - specificity)
    np.testing.assert_allclose(npv, tn / (tn + fn))
    np.testing.assert_allclose(sensitivity * (tp + fn), tp)


def test_true_negatives_need_the_collection() -> None:
    with pytest.raises(ParameterError, match=r"TN@5 counts documents that were not retrieved.*--collection-size"):
        scores_of({"q": {"a": 1.0}}, {"q": {"a": 1}}, "TN@5")


@given(
    ranking=st.permutations([f"d{i}" for i in range(8)]),
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    k=st.none() | st.integers(1, 12),
    length=st.integers(1, 8),
)
def test_adr_is_the_mean_of_dynamic_recall(ranking: list[str], sizes: list[int], k: int | None, length: int) -> None:
    import polars as pl

    names = iter(f"d{i}" for i in range(12))
    groups = [[next(names) for _ in range(size)] for size in sizes]
    rows = [("q", d, number) for number, group in enumerate(groups, 1) for d in group]
    truth = OrderedGroups(pl.DataFrame(rows, schema=["query", "document", "group"], orient="row"))
    run = {"q": {d: float(-i) for i, d in enumerate(ranking[:length])}}
    measure = "ADR" if k is None else f"ADR@{k}"
    mine = evaluate(earmark.runs_from_dict({"s": run}), truth, [measure]).values[0, 0, 0]
    assert mine == pytest.approx(naive.adr(ranking[:length], groups, k))


@settings(max_examples=200)
@given(run=runs(), truth=qrels())
def test_every_measure_stays_in_its_range(run: Run, truth: Qrels) -> None:
    built = [kind(cutoff=5) if kind.cutoff_required else kind() for kind in registered().values()]
    scores = scores_of(run, truth, *built, collection_size=50).values
    for measure, values in zip(built, scores, strict=True):
        low, high = measure.range
        assert np.all((values >= low - 1e-12) & (values <= high + 1e-12)), measure


@pytest.mark.parametrize("name", sorted(set(registered()) - {"ADR", "DR", "ADRinv"}))
def test_many_gains_at_once_give_what_each_gives_alone(name: str) -> None:
    from earmark.data.judged_lists import match
    from earmark.evaluation import ground_truth

    rng = np.random.default_rng(3)
    docs = [f"d{i}" for i in range(15)]
    run = {f"q{q}": {d: float(rng.normal()) for d in rng.permutation(docs)[:10]} for q in range(6)}
    truth = {f"q{q}": {d: int(rng.integers(0, 4)) for d in docs[: 5 + q]} for q in range(6)}
    judgments = earmark.judgments_from_dict(truth, scale=SCALE)
    lists = match(earmark.runs_from_dict({"s": run}), ground_truth(judgments), collection_size=40)
    samples = rng.integers(0, 4, (3, lists.truth.gain.size)).astype(float)
    measure = registered()[name]
    built = measure(cutoff=5) if measure.cutoff_required else measure()
    together = built.score(lists.with_gains(samples))
    apart = [built.score(lists.with_gains(sample)) for sample in samples]
    np.testing.assert_allclose(np.broadcast_to(together, (3, lists.size)), apart)


@given(run=runs(), truth=qrels())
def test_an_irrelevant_document_at_the_end_never_raises_precision(run: Run, truth: Qrels) -> None:
    longer = {q: docs | {"zzz": -1e9} for q, docs in run.items()}
    assert np.all(scores_of(longer, truth, "P").values <= scores_of(run, truth, "P").values + 1e-15)
    for measure in ("AP", "nDCG", "bpref", "RR"):
        np.testing.assert_allclose(scores_of(longer, truth, measure).values, scores_of(run, truth, measure).values)


@given(run=runs(), truth=qrels(), seed=st.integers(0, 100))
def test_renaming_queries_and_order_of_input_change_nothing(run: Run, truth: Qrels, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = scores_of(run, truth, "nDCG@5", "AP", "bpref*")
    shuffled = {
        q: dict(sorted(run[q].items(), key=lambda _: rng.random())) for q in sorted(run, key=lambda _: rng.random())
    }
    again = scores_of(
        {f"x{q}": d for q, d in shuffled.items()}, {f"x{q}": d for q, d in truth.items()}, "nDCG@5", "AP", "bpref*"
    )
    np.testing.assert_array_equal(before.values, again.values)


def test_gains_are_scaled_by_the_top_of_the_scale() -> None:
    judgments = earmark.judgments_from_dict({"q": {"a": 80, "b": 20}}, scale=FINE)
    runs_ = earmark.runs_from_dict({"s": {"q": {"a": 2.0, "b": 1.0}}})
    values = evaluate(runs_, judgments, ["AG@2", "CG@2", "RBP(p=0.5)"]).values[:, 0, 0]
    np.testing.assert_allclose(values, [0.5, 100, 0.5 * 0.8 + 0.25 * 0.2])


def test_exponential_gain_refuses_a_fine_scale() -> None:
    judgments = earmark.judgments_from_dict({"q": {"a": 80}}, scale=FINE)
    runs_ = earmark.runs_from_dict({"s": {"q": {"a": 2.0}}})
    with pytest.raises(ParameterError, match=r"2\^100 would outweigh every lower gain"):
        evaluate(runs_, judgments, ["nDCG(gain=exp)@5"])


def test_graded_measures_refuse_ordered_groups() -> None:
    import polars as pl

    groups = OrderedGroups(pl.DataFrame({"query": ["q"], "document": ["a"], "group": [1]}))
    runs_ = earmark.runs_from_dict({"s": {"q": {"a": 2.0}}})
    with pytest.raises(ParameterError, match="ordered groups only have an order"):
        evaluate(runs_, groups, ["nDCG@5"])
    assert evaluate(runs_, groups, ["ADR", "AP"]).values.tolist() == [[[1.0]], [[1.0]]]


def test_binary_gains_make_graded_and_binary_agree() -> None:
    judgments = earmark.judgments_from_dict({"q": {"a": 1, "b": 0, "c": 1}}, scale=BINARY)
    runs_ = earmark.runs_from_dict({"s": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}})
    ag, p, rbp, rbp_binary = evaluate(runs_, judgments, ["AG@2", "P@2", "RBP(p=0.8)", "RBP(p=0.8,rel=1)"]).values[
        :, 0, 0
    ]
    assert ag == p
    assert rbp == rbp_binary


def test_measures_with_opposite_directions_do_not_mix() -> None:
    with pytest.raises(ParameterError, match="opposite directions"):
        parse("mean(AP,MR1)")


@pytest.mark.parametrize("top", [52, 53, 60, 100, 1000])
def test_err_where_a_document_satisfies_everybody(top: int) -> None:
    """On the fine scale, 2^100 - 1 is no other number than 2^100."""
    lists = {"q1": "abc", "q2": "cab", "q3": "bca", "q4": "xyz"}
    truth = {"a": float(top), "b": top - 1.0, "c": 2.0}
    run = {query: {d: -float(place) for place, d in enumerate(names)} for query, names in lists.items()}
    judgments = earmark.judgments_from_dict(dict.fromkeys(lists, truth), scale=parse_scale(f"0..{top}"))
    scores = evaluate(earmark.runs_from_dict({"s": run}), judgments, ["ERR"]).values[0, 0]
    expected = [naive.err(naive.gains_of(list(names), truth), float(top)) for names in lists.values()]
    assert scores == pytest.approx(expected, abs=1e-12)
    assert np.all(np.isfinite(scores))
