"""A system that was not pooled is not called worse because nobody judged its documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from called import Cli

import earmark
from earmark.data.judgments import Judgments
from earmark.data.runs import Runs
from earmark.data.writers import write_judgments, write_runs
from earmark.evaluation import evaluate
from earmark.inference.baseline import compare_with_baseline
from earmark.inference.comparison import compare

TESTS = ("friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap")


def twins(seed: int, *, queries: int = 30, better: float = 0.0) -> tuple[Runs, Judgments, Judgments]:
    """Make two equally good systems, the judgments of all they retrieved and those of what the older one retrieved.

    Gains are 0 to 2, drawn for every document, of the new system with a chance more of being good; half of the lists is
    shared.
    """
    rng = np.random.default_rng(seed)
    lists: dict[str, dict[str, dict[str, float]]] = {"new": {}, "old": {}}
    rows = []
    for query in range(queries):
        shared = [f"s{place}" for place in range(5)]
        for system in lists:
            own = [f"{system}{place}" for place in range(5)]
            order = rng.permutation([*shared, *own])
            lists[system][f"q{query}"] = {str(name): float(-place) for place, name in enumerate(order)}
            rows.extend(
                (f"q{query}", name, min(2.0, rng.integers(0, 3) + (better if system == "new" else 0.0)))
                for name in [*own, *(shared if system == "old" else [])]
            )
    frame = pl.DataFrame(rows, schema=["query", "document", "gain"], orient="row")
    whole = Judgments(frame, earmark.parse_scale("0..2"))
    return (
        earmark.runs_from_dict(lists),
        whole,
        replace(whole, frame=frame.filter(~pl.col("document").str.starts_with("new"))),
    )


@pytest.fixture
def pooled(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Files of the runs, of the judgments of the old system's documents, and of all judgments."""
    runs, whole, pool = twins(1)
    paths = (tmp_path / "runs.tsv", tmp_path / "pool.tsv", tmp_path / "all.tsv")
    write_runs(runs, paths[0])
    write_judgments(pool, paths[1])
    write_judgments(whole, paths[2])
    return paths


@pytest.mark.parametrize("test", TESTS)
def test_a_new_system_is_not_worse_because_nobody_judged_it(
    cli: Cli, pooled: tuple[Path, Path, Path], test: str
) -> None:
    runs, pool, _ = pooled
    check = (
        ["--baseline", "old", "--test", test, "--resamples", 2000]
        if test in TESTS[3:]
        else ["--baseline", "old", "--test", test]
    )
    said = cli("compare", runs, "-j", pool, "-m", "AG@10", *check, "--fail-if-worse")
    assert said.code == 2
    assert "the check cannot be decided: whether 'new' is worse than 'old' on AG@10 is open" in said.err
    assert "judge 150 documents (query and document, the most important first: " in said.err
    assert f"earmark next {runs} --judgments {pool} --measure AG@10 -n 150" in said.err
    assert f"earmark rank {runs} --judgments {pool} --measure AG@10 --baseline old --fail-if-worse" in said.err
    row = said.rows[0]
    assert (row["undecided_by_unjudged"], row["significant"], row["worse"], row["better"]) == (True, False, False, None)
    assert row["unjudged_a"] == pytest.approx(0.5)
    assert row["unjudged_b"] == 0.0
    assert row["difference_low"] == pytest.approx(row["difference"])
    assert row["difference_high"] == pytest.approx(row["difference"] + 0.5)
    # As before, if one says so.
    before = cli("compare", runs, "-j", pool, "-m", "AG@10", *check, "--fail-if-worse", "--unjudged", "zero")
    assert before.code == 1
    assert "the check failed: 'new' is worse than 'old' on AG@10" in before.err


def test_what_is_proposed_decides_the_check(cli: Cli, pooled: tuple[Path, Path, Path]) -> None:
    runs, _, whole = pooled
    assert cli("compare", runs, "-j", whole, "-m", "AG@10", "--baseline", "old", "--fail-if-worse").code == 0
    # By the command that is recommended nobody is worse either: the judgments are too few for a verdict.
    said = cli("rank", runs, "-j", pooled[1], "-m", "AG@10", "--baseline", "old", "--fail-if-worse")
    assert said.code == 2
    assert "neither passed nor failed" in said.err
    assert [row for row in said.rows if row.get("worse")] == []


def test_a_comparison_says_so_in_place_of_a_verdict(cli: Cli, pooled: tuple[Path, Path, Path]) -> None:
    runs, pool, whole = pooled
    said = cli("compare", runs, "-j", pool, "-m", "AG@10")
    (row,) = said.rows
    assert (row["undecided_by_unjudged"], row["significant"]) == (True, False)
    assert (
        "AG@10: unjudged documents could turn 1 significant difference (--unjudged alike): no verdict there" in said.err
    )
    table = cli("compare", runs, "-j", pool, "-m", "AG@10", "--format", "table")
    assert "? unjudged documents could turn this" in table.out
    assert "could be" in table.out
    judged = cli("compare", runs, "-j", whole, "-m", "AG@10", "--format", "table")
    assert "unjudged" not in judged.out + judged.err


def test_scores_come_with_their_bounds(cli: Cli, pooled: tuple[Path, Path, Path]) -> None:
    said = cli("evaluate", pooled[0], "-j", pooled[1], "-m", "AG@10", "-m", "bpref")
    rows = {(row["system"], row["measure"]): row for row in said.rows}
    new, old = rows["new", "AG@10"], rows["old", "AG@10"]
    assert new["unjudged"] == pytest.approx(0.5)
    assert (new["value_low"], new["value_high"]) == pytest.approx((new["value"], new["value"] + 0.5))
    assert (old["unjudged"], old["value_low"], old["value_high"]) == (0.0, old["value"], old["value"])
    assert rows["new", "bpref"]["value_low"] is None
    table = cli("evaluate", pooled[0], "-j", pooled[1], "-m", "AG@10", "--format", "table").out
    assert "could be" in table


def test_a_few_gaps_in_judgments_leave_clear_verdicts() -> None:
    # The new system is better throughout, or worse; 2% of the judgments are missing at random.
    runs, whole, _ = twins(3, better=1.0)
    keep = pl.Series(np.random.default_rng(0).random(whole.frame.height) > 0.02)
    scores = evaluate(runs, replace(whole, frame=whole.frame.filter(keep)), ["nDCG@10", "AP", "RR@10"])
    bounds = scores.bounds("nDCG@10")
    assert bounds is not None
    assert 0 < bounds.share.max() < 0.05
    for rule in ("any", "alike"):
        for measure in ("nDCG@10", "AP"):
            found = compare(scores, measure, test="t", unjudged=rule)
            assert found.tests.significant.all(), (rule, measure)
        assert compare_with_baseline(scores, "new", "nDCG@10", test="t", unjudged=rule).check.worse.all()


def test_false_alarms_of_systems_that_were_not_pooled() -> None:
    alarms = dict.fromkeys(("any", "alike", "zero"), 0)
    for seed in range(20):
        runs, _, pool = twins(100 + seed, queries=15)
        scores = evaluate(runs, pool, ["AG@10"])
        for rule in alarms:
            alarms[rule] += int(compare_with_baseline(scores, "old", test="t", unjudged=rule).check.worse[0])
    assert alarms["zero"] >= 15
    # At .05, 20 campaigns give more than 4 with a chance of .003.
    assert alarms["any"] == 0
    assert alarms["alike"] <= 4


def test_a_list_of_relevant_documents_says_that_others_are_not(cli: Cli, tmp_path: Path) -> None:
    runs, judgments = tmp_path / "runs.tsv", tmp_path / "relevant.tsv"
    lines = [
        f"{system}\tq{query}\t{name}\n"
        for query in range(20)
        for system, order in (("a", "xyz"), ("b", "yzx"))
        for name in order
    ]
    runs.write_text("".join(lines))
    judgments.write_text("".join(f"q{query}\tx\t1\n" for query in range(20)))
    said = cli("compare", runs, "-j", judgments, "-m", "RR@3")
    assert said.rows[0]["significant"]
    assert "they are taken for all relevant documents there are; --unjudged any shows what else could be" in said.err
    strict = cli("compare", runs, "-j", judgments, "-m", "RR@3", "--unjudged", "any")
    assert strict.rows[0]["undecided_by_unjudged"]


def test_a_measure_without_bounds_says_so(cli: Cli, pooled: tuple[Path, Path, Path]) -> None:
    said = cli("compare", pooled[0], "-j", pooled[1], "-m", "SumRR")
    assert "SumRR: what unjudged documents could change is unknown" in said.err
    assert said.rows[0]["difference_low"] is None
    # bpref leaves out what nobody judged.
    said = cli("compare", pooled[0], "-j", pooled[1], "-m", "bpref")
    assert "unjudged" not in said.err


def test_an_unknown_rule_is_refused() -> None:
    runs, _, pool = twins(1, queries=4)
    with pytest.raises(earmark.ParameterError, match="what unjudged documents may be is any, alike, zero, got 'some'"):
        compare(evaluate(runs, pool, ["AG@10"]), unjudged="some")  # type: ignore[arg-type]
