"""What the migration page says of other programs, asked of these programs: names that mean the same, differences."""

from __future__ import annotations

import math
import re
import subprocess
import warnings
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

import earmark
from earmark.data.ground_truth import truth_from_judgments
from earmark.data.judged_lists import match
from earmark.measures.curves import precision_recall

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import numba
    import ranx

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def ours(run: Run, qrels: Qrels, measure: str, *, scale: str | None = None, **options: object) -> dict[str, float]:
    judgments = earmark.judgments_from_dict(qrels, scale=None if scale is None else earmark.parse_scale(scale))
    scores = earmark.evaluate(earmark.runs_from_dict({"s": run}), judgments, [measure], **options)
    return dict(zip(scores.queries, scores.values[0, 0].tolist(), strict=True))


def by_trec_eval(run: Run, qrels: Qrels, measure: str) -> dict[str, float]:
    found = pytrec_eval.RelevanceEvaluator(qrels, {re.sub(r"_(\d+)$", r".\1", measure)}).evaluate(run)
    return {query: values[measure] for query, values in found.items()}


def by_ir_measures(run: Run, qrels: Qrels, measure: str) -> dict[str, float]:
    wanted = ir_measures.parse_measure(measure)
    return {found.query_id: found.value for found in ir_measures.iter_calc([wanted], qrels, run)}


def by_ranx(run: Run, qrels: Qrels, measure: str, **options: object) -> dict[str, float]:
    scored = ranx.Run(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx.evaluate(ranx.Qrels(qrels), scored, [measure], **options)
    return {query: float(value) for query, value in scored.scores[measure].items()}


PEERS = {"trec_eval": by_trec_eval, "ir_measures": by_ir_measures, "ranx": by_ranx}


def named_the_same() -> list[tuple[str, str, str]]:
    found = []
    for peer, table in re.findall(r"<!-- names: (\w+) -->\n((?:\|.*\n)+)", PAGE.read_text()):
        found += [(peer, *pair) for pair in re.findall(r"^\| `(.*)` \| `(.*)` \|$", table, flags=re.MULTILINE)]
    return found


@pytest.fixture(scope="module")
def collection() -> tuple[Run, Qrels]:
    """Lists without ties, graded judgments of 0 to 3, some documents unjudged and some not retrieved."""
    rng = np.random.default_rng(0)
    documents = [f"d{number:02}" for number in range(40)]
    queries = [str(number) for number in range(1, 31)]
    qrels = {q: {d: int(rng.integers(0, 4)) for d in rng.permutation(documents)[:25]} for q in queries}
    run = {q: {d: float(s) for s, d in enumerate(rng.permutation(documents)[:20], start=1)} for q in queries}
    return run, qrels


def test_the_page_names_measures_of_all_three() -> None:
    assert {peer for peer, _, _ in named_the_same()} == set(PEERS)
    assert len(named_the_same()) > 40


@pytest.mark.parametrize(("peer", "theirs", "name"), named_the_same(), ids=lambda text: text)
def test_the_names_mean_the_same(peer: str, theirs: str, name: str, collection: tuple[Run, Qrels]) -> None:
    run, qrels = collection
    mine, other = ours(run, qrels, name, scale="0..3"), PEERS[peer](run, qrels, theirs)
    assert str(earmark.parse(name)) == name
    assert set(mine) == set(other)
    # gdeval prints five digits.
    tolerance = 1e-5 if "exp-log2" in theirs or theirs.startswith("ERR") else 1e-9
    assert mine == pytest.approx(other, abs=tolerance)


@pytest.mark.parametrize("name", [theirs for peer, theirs, _ in named_the_same() if peer == "trec_eval"])
def test_the_names_of_trec_eval_are_understood(name: str) -> None:
    means = {theirs: meant for peer, theirs, meant in named_the_same() if peer == "trec_eval"}
    assert str(earmark.parse(name)) == means[name]


def absent(sentence: str) -> list[str]:
    """Return what the page says is not there."""
    text = " ".join(PAGE.read_text().split())
    return re.findall(r"`(\w+)`", re.search(sentence, text)[0])


def test_what_the_page_says_is_not_there_is_not_there() -> None:
    for name in absent(r"There is no `11pt_avg`[^.]*\."):
        with pytest.raises(earmark.ParameterError):
            earmark.parse(name)


def test_queries_that_a_run_does_not_answer() -> None:
    run, qrels = {"1": {"a": 1.0}}, {"1": {"a": 1}, "2": {"a": 1}}
    assert by_trec_eval(run, qrels, "recip_rank") == {"1": 1}
    assert by_ir_measures(run, qrels, "RR") == {"1": 1, "2": 0}
    with pytest.raises(AssertionError, match="do not match"):
        by_ranx(run, qrels, "mrr")
    assert by_ranx(run, qrels, "mrr", make_comparable=True) == {"1": 1, "2": 0}
    assert ours(run, qrels, "RR") == {"1": 1, "2": 0}
    scores = earmark.evaluate(earmark.runs_from_dict({"s": run}), earmark.judgments_from_dict(qrels), ["RR"])
    assert scores.unanswered == {"s": ("2",)}
    dropped = earmark.evaluate(
        earmark.runs_from_dict({"s": run}), earmark.judgments_from_dict(qrels), ["RR"], missing="drop"
    )
    assert dropped.mean_values.tolist() == [[1.0]]


def test_queries_that_nobody_judged() -> None:
    run, qrels = {"1": {"a": 1.0}, "2": {"a": 1.0}}, {"1": {"a": 1}}
    assert by_trec_eval(run, qrels, "recip_rank") == {"1": 1}
    assert by_ir_measures(run, qrels, "RR") == {"1": 1}
    with pytest.raises(AssertionError, match="do not match"):
        by_ranx(run, qrels, "mrr")
    assert by_ranx(run, qrels, "mrr", make_comparable=True) == {"1": 1}
    scores = earmark.evaluate(earmark.runs_from_dict({"s": run}), earmark.judgments_from_dict(qrels), ["RR"])
    assert (scores.queries, scores.unjudged) == (("1",), ("2",))


def test_queries_without_relevant_documents() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 0}, "3": {"a": 1, "b": 0}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    right = {"1": 1, "2": 0, "3": 1}
    assert by_trec_eval(run, qrels, "bpref") == by_ir_measures(run, qrels, "Bpref") == right
    assert ours(run, qrels, "bpref") == right
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert by_ranx(run, qrels, "bpref", threads=1) == {"1": 1, "2": 0, "3": 0}
    finally:
        numba.set_num_threads(threads)


def test_queries_of_which_only_relevant_documents_are_judged() -> None:
    run, qrels = {"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": 1}}
    assert math.isnan(by_ranx(run, qrels, "bpref")["1"])
    assert by_trec_eval(run, qrels, "bpref") == ours(run, qrels, "bpref") == {"1": 1}


# The reciprocal rank of the document with the smallest of three ids if all scores are equal.
SMALLEST_FIRST, GREATEST_FIRST = 1.0, 1 / 3


def test_ties() -> None:
    qrels = {"1": {"a": 1}}
    ascending: Run = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    descending: Run = {"1": {"c": 1.0, "b": 1.0, "a": 1.0}}
    for run in (ascending, descending):
        assert by_trec_eval(run, qrels, "recip_rank")["1"] == pytest.approx(GREATEST_FIRST)
        assert by_ir_measures(run, qrels, "RR")["1"] == pytest.approx(GREATEST_FIRST)
        assert ours(run, qrels, "RR")["1"] == ours(run, qrels, "RR@5")["1"] == pytest.approx(GREATEST_FIRST)
        assert by_ir_measures(run, qrels, "RR@5")["1"] == SMALLEST_FIRST
        assert by_ir_measures(run, qrels, "Compat(p=0.8)")["1"] == by_ir_measures(run, qrels, "Judged@1")["1"] == 1
        assert ours(run, qrels, "Judged@1")["1"] == 0
        assert by_ir_measures(run, qrels, "ERR@5")["1"] == pytest.approx(GREATEST_FIRST / 16, abs=1e-5)
    assert by_ranx(ascending, qrels, "mrr")["1"] == pytest.approx(SMALLEST_FIRST)
    assert by_ranx(descending, qrels, "mrr")["1"] == pytest.approx(GREATEST_FIRST)


def test_scores_that_are_equal_as_32_bit_floats() -> None:
    run, qrels = {"1": {"a": 1.0 + 1e-9, "b": 1.0}}, {"1": {"a": 1}}
    assert by_trec_eval(run, qrels, "recip_rank") == ours(run, qrels, "RR") == {"1": 0.5}
    assert by_ir_measures(run, qrels, "RR@5") == by_ranx(run, qrels, "mrr") == {"1": 1}
    assert by_ir_measures(run, qrels, "ERR@5") == {"1": pytest.approx(1 / 16)}
    # With the greater score at the greater id, only a comparison of 64 bits puts it before the smaller id.
    run, qrels = {"1": {"a": 1.0, "b": 1.0 + 1e-9}}, {"1": {"b": 1}}
    for measure in ("RR@5", "Judged@1", "Compat(p=0.8)"):
        assert by_ir_measures(run, qrels, measure) == {"1": 1}


def test_compatibility_and_documents_that_were_not_retrieved() -> None:
    qrels = {"1": {"d1": 1, "d3": 1}}
    below, above = {"1": {"d1": -1.0, "d2": -2.0}}, {"1": {"d1": 2.0, "d2": 1.0}}
    measure = "Compat(p=0.5)"
    assert by_ir_measures(below, qrels, measure)["1"] == pytest.approx(0.167, abs=5e-4)
    assert by_ir_measures(above, qrels, measure)["1"] == pytest.approx(0.833, abs=5e-4)
    assert ours(below, qrels, measure) == ours(above, qrels, measure) == {"1": pytest.approx(0.833, abs=5e-4)}


@pytest.mark.parametrize("measure", ["ERR@5", "nDCG(dcg='exp-log2')@5"])
def test_gdeval_takes_numbers_as_query_ids(measure: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        by_ir_measures({"q1": {"a": 1.0}}, {"q1": {"a": 1}}, measure)
    assert "format error" in capfd.readouterr().err
    assert ours({"q1": {"a": 1.0}}, {"q1": {"a": 1}}, "nDCG(gain=exp)@5") == {"q1": 1}


def test_the_highest_gain_of_err() -> None:
    run, qrels = {"1": {"a": 1.0}}, {"1": {"a": 2}}
    assert by_ir_measures(run, qrels, "ERR@5") == {"1": 0.1875}
    assert ours(run, qrels, "ERR@5", scale="broad") == {"1": pytest.approx(0.75)}
    assert ours(run, qrels, "ERR(max=4)@5", scale="broad") == {"1": pytest.approx(0.1875)}


def test_rbp_graded_or_binary() -> None:
    qrels = {"1": dict.fromkeys("abcdefgh", 2)}
    run = {"1": {name: float(score) for score, name in enumerate("abcdefgh")}}
    mine = ours(run, qrels, "RBP(p=0.8)", scale="broad")["1"]
    assert by_ranx(run, qrels, "rbp.80")["1"] == pytest.approx(2 * mine)
    assert by_ranx(run, qrels, "rbp.80")["1"] > 1
    assert ours(run, qrels, "RBP(p=0.8,rel=1)", scale="0..4")["1"] == pytest.approx(mine)
    with pytest.raises(ValueError, match="Unsupported"):
        by_ir_measures(run, qrels, "RBP(p=0.8)")


def test_accuracy_is_another_measure_there() -> None:
    run, qrels = {"1": {"b": 4.0, "a": 3.0, "c": 2.0}}, {"1": {"a": 1, "b": 0, "c": 0, "d": 0}}
    assert by_ir_measures(run, qrels, "Accuracy") == {"1": 0.5}
    assert ours(run, qrels, "accuracy", collection_size=10) == {"1": pytest.approx(0.8)}


@pytest.mark.parametrize(
    ("top", "scale", "score"), [(1, "binary", 1), (2, "broad", 1), (3, "0..3", 1), (10, "0..10", 1), (50, "fine", 0.5)]
)
def test_the_guessed_scale(top: int, scale: str, score: float) -> None:
    judgments = earmark.judgments_from_dict({"1": {"a": top, "b": 0}})
    assert judgments.scale == earmark.parse_scale(scale)
    assert judgments.scale_guessed
    assert ours({"1": {"a": 1.0}}, {"1": {"a": top, "b": 0}}, "AG@1") == {"1": score}
    assert ours({"1": {"a": 1.0}}, {"1": {"a": top, "b": 0}}, "CG@1") == {"1": top}


def test_only_judgments_below_zero() -> None:
    """Not asked of pytrec_eval here, as it may not return."""
    qrels = {"0": {"a": 3, "b": 1}, "1": {"a": -1}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    assert ours(run, qrels, "nDCG") == ours(run, qrels, "nDCG@5") == {"0": 1, "1": 0}


def test_gains_with_a_fraction() -> None:
    with pytest.raises(TypeError, match="integer"):
        pytrec_eval.RelevanceEvaluator({"1": {"a": 0.5}}, {"map"})
    judgments = earmark.judgments_from_dict({"1": {"a": 0.5}})
    scores = earmark.evaluate(earmark.runs_from_dict({"s": {"1": {"a": 1.0}}}), judgments, ["AG@1"])
    assert scores.mean_values.tolist() == [[0.5]]


def test_a_document_twice_in_a_run(tmp_path: Path) -> None:
    file = tmp_path / "my.run"
    file.write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n")
    with file.open() as lines, pytest.raises(AssertionError):
        pytrec_eval.parse_run(lines)
    qrels = {"1": {"a": 1, "b": 0}}
    theirs = list(ir_measures.iter_calc([ir_measures.RR], qrels, list(ir_measures.read_trec_run(str(file)))))
    assert [found.value for found in theirs] == [0.5]
    assert ranx.Run.from_file(str(file), kind="trec").to_dict() == {"1": {"b": 2.0, "a": 1.0}}
    with pytest.raises(earmark.InputError, match=r"my\.run:3: .*'a' twice"):
        earmark.read_runs(file)


def test_a_document_twice_in_qrels(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("1 0 a 1\n1 0 a 0\n")
    with file.open() as lines, pytest.raises(AssertionError):
        pytrec_eval.parse_qrel(lines)
    judged = list(ir_measures.read_trec_qrels(str(file)))
    assert [found.value for found in ir_measures.iter_calc([ir_measures.RR], judged, {"1": {"a": 1.0}})] == [0]
    assert ranx.Qrels.from_file(str(file), kind="trec").to_dict() == {"1": {"a": 0}}
    for lines in ("1 0 a 1\n1 0 a 0\n", "1 0 a 0\n1 0 a 1\n"):
        file.write_text(lines)
        kept = earmark.read_judgments(file)
        assert (earmark.judgments_to_dict(kept), kept.replaced) == ({"1": {"a": 1}}, 1)
    later = tmp_path / "later.csv"
    later.write_text("query,document,gain,time\n1,a,1,2026-01-01\n1,a,0,2026-01-02\n")
    assert earmark.judgments_to_dict(earmark.read_judgments(later)) == {"1": {"a": 0}}
    both = tmp_path / "both.csv"
    both.write_text("query,document,gain,assessor\n1,a,1,x\n1,a,0,y\n")
    assert len(earmark.read_judgments(both)) == 2


def test_scores_that_are_not_numbers(tmp_path: Path) -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": math.nan, "b": 1.0}}
    for score, measure in ((by_trec_eval, "recip_rank"), (by_ir_measures, "RR"), (by_ranx, "mrr")):
        assert score(run, qrels, measure)["1"] in (0.5, 1.0)
    file = tmp_path / "my.run"
    file.write_text("1 Q0 a 1 nan t\n1 Q0 b 2 1 t\n")
    with pytest.raises(earmark.InputError, match=r"my\.run:1: expected a finite score"):
        earmark.read_runs(file)
    with pytest.raises(earmark.InputError, match="expected a finite score"):
        earmark.runs_from_dict({"s": run})


def test_comment_lines(tmp_path: Path) -> None:
    file = tmp_path / "my.run"
    file.write_text("# a comment\n1 Q0 a#b 1 3 t\n")
    with file.open() as lines, pytest.raises(ValueError, match="values to unpack"):
        pytrec_eval.parse_run(lines)
    with pytest.raises(ValueError, match="values to unpack"):
        list(ir_measures.read_trec_run(str(file)))
    with pytest.raises(ValueError, match="values to unpack"):
        ranx.Run.from_file(str(file), kind="trec")
    assert earmark.read_runs(file).documents.to_list() == ["a#b"]
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("# a comment\n1 0 a 1\n")
    assert len(earmark.read_judgments(qrels)) == 1


def test_means_of_counts() -> None:
    qrels = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    count = ir_measures.parse_measure("NumRet(rel=1)")
    assert ir_measures.calc_aggregate([count], qrels, run) == {count: 3}
    scores = earmark.evaluate(earmark.runs_from_dict({"s": run}), earmark.judgments_from_dict(qrels), ["num_rel_ret"])
    assert scores.mean_values.tolist() == [[3]]
    assert earmark.evaluate(run, qrels, ["hits"]).mean() == 1.5


def test_levels_of_recall() -> None:
    """Of three relevant documents, three make a recall of .7 or more; in floating point, .7 · 3 + .9 is below 3."""
    qrels = {"1": {"a": 1, "b": 1, "c": 1}}
    run = {"1": {"a": 9.0, "b": 8.0, "x": 7.0, "c": 6.0}}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)["1"]
    assert found["iprec_at_recall_0.70"] == 1
    lists = match(earmark.runs_from_dict({"s": run}), truth_from_judgments(earmark.judgments_from_dict(qrels)))
    assert precision_recall(lists).y[0, 7] == pytest.approx(3 / 4)
