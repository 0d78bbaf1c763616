"""``--format trec_eval`` and ``--format latex``, measures in one list, and notes on lists and files that mislead."""

from __future__ import annotations

import re

import pytest
import pytrec_eval
from called import Cli, Files

from conftest import GAINS, RUNS


def as_trec_eval(files: Files) -> tuple[dict, dict]:
    run = {q: {d: -float(place) for place, d in enumerate(docs.split())} for q, docs in RUNS["fair"].items()}
    return run, GAINS


def test_trec_evals_three_columns(cli: Cli, files: Files) -> None:
    names = ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "P_5", "ndcg_cut_10"]
    asked = "num_q,num_ret,num_rel,num_rel_ret,map,gm_map,P.5,ndcg_cut.10"
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", asked, "--format", "trec_eval", "--per-query")
    assert said.code == 0
    lines = [line.split("\t") for line in said.out.splitlines()]
    assert {len(line) for line in lines} == {3}
    # As printf("%-22s\t%s\t%6.4f\n") and "%ld" of trec_eval write it.
    assert all(len(name) == 22 for name, _, _ in lines)
    assert [name.rstrip() for name, _, _ in lines if name.startswith("runid")] == ["runid"] * 3
    start = lines.index(["runid".ljust(22), "all", "fair"])
    run, truth = as_trec_eval(files)
    found = pytrec_eval.RelevanceEvaluator(truth, {re.sub(r"_(\d+)$", r".\1", name) for name in names}).evaluate(run)
    for name, (printed, query, value) in zip(names, lines[start + 1 : start + 9], strict=True):
        expected = pytrec_eval.compute_aggregated_measure(name, [values[name] for values in found.values()])
        assert (printed.rstrip(), query) == (name, "all")
        assert value == (f"{expected:.0f}" if name.startswith("num_") else f"{expected:.4f}")
    fair = [line for line in lines[:start] if line[1] == "q1"][-6:]
    assert [name.rstrip() for name, _, _ in fair] == [name for name in names if name not in ("num_q", "gm_map")]
    assert fair[3][2] == f"{found['q1']['map']:.4f}"


@pytest.mark.parametrize("command", ["evaluate", "compare", "rank"])
def test_tables_for_papers(cli: Cli, files: Files, command: str) -> None:
    files.runs.write_text(files.runs.read_text().replace("good", "good_one"))
    said = cli(command, files.runs, "-j", files.judgments, "-m", "AG@2", "--format", "latex", "-q")
    assert said.code == 0
    assert said.out.count(r"\begin{tabular}") == said.out.count(r"\bottomrule") == (1 if command == "evaluate" else 2)
    assert r"good\_one" in said.out
    columns = {line.count("&") for line in said.out.split(r"\end{tabular}")[0].splitlines() if line.endswith(r"\\")}
    assert len(columns) == 1
    if command == "evaluate":
        assert re.search(r"good\\_one & \\textbf\{\d\.\d{4}\} \\\\", said.out)


def test_other_commands_do_not_have_them(cli: Cli, files: Files) -> None:
    assert cli("compare", files.runs, "-j", files.judgments, "--format", "trec_eval").code == 2
    assert cli("describe", files.runs, "--format", "latex").code == 2


def test_one_option_names_several_measures(cli: Cli, files: Files) -> None:
    common = ("evaluate", files.runs, "-j", files.judgments, "-q", "-m")
    assert cli(*common, "AP,mean(AP,R)").out == cli(*common, "AP", "-m", "mean(AP,R)").out
    refused = cli("rank", files.runs, "-j", files.judgments, "-m", "AG@2,nDCG@2")
    assert (refused.code, refused.err) == (
        2,
        "earmark: systems are compared by one measure at a time, got AG@2, nDCG@2\n",
    )


@pytest.mark.parametrize("measure", ["AP", "MR1", "bpref*"])
def test_lists_that_were_cut_are_pointed_out(cli: Cli, files: Files, measure: str) -> None:
    note = "of 9 lists are shorter than the number of relevant documents"
    common = ("evaluate", files.runs, "-j", files.judgments, "-m")
    assert note not in cli(*common, measure).err
    short = [line for line in files.runs.read_text().splitlines(keepends=True) if line.split()[2] in "ad"]
    files.runs.write_text("".join(short) + "poor\tq1\tx\npoor\tq2\tx\npoor\tq3\tx\n")
    said = cli(*common, measure)
    assert re.search(rf"note: \d {note}: {re.escape(measure)} cannot reach the best score there", said.err)
    assert note in cli("compare", *common[1:], measure).err
    assert note not in cli(*common, "P@1").err


def test_group_numbers_in_place_of_gains_are_pointed_out(cli: Cli, files: Files) -> None:
    files.runs.write_text("".join(f"S\tq\td{number}\n" for number in range(1, 6)))
    said = cli("evaluate", files.runs, "-j", files.groups, "-m", "ADR", "--scale", "0..2")
    assert "the judgments look like group numbers: 1, 2, … for every query, and never 0. ADR takes the" in said.err
    assert "give the file as --groups" in said.err
    assert "group numbers" not in cli("evaluate", files.runs, "--groups", files.groups, "-m", "ADR").err
    assert "group numbers" not in cli("evaluate", files.runs, "-j", files.groups, "-m", "nDCG").err
    files.groups.write_text(files.groups.read_text() + "q\td6\t0\n")
    assert "group numbers" not in cli("evaluate", files.runs, "-j", files.groups, "-m", "ADR").err


def test_lists_of_a_matrix_are_whole_unless_cut(cli: Cli, files: Files) -> None:
    matrix = files.folder / "m.csv"
    matrix.write_text("0,1,2,3\n1,0,2,3\n2,1,0,3\n3,2,1,0\n")
    ids = files.folder / "ids.txt"
    ids.write_text("a\nb\nc\nd\n")
    common = ("runs", "from-matrix", matrix, "--ids", ids, "--kind", "distance", "-q")
    assert len(cli(*common).rows) == 12
    assert len(cli(*common, "-k", 2).rows) == 8


def test_which_of_two_columns_counts_is_a_note(cli: Cli, files: Files) -> None:
    run = files.folder / "frame.csv"
    run.write_text("qid,query,docid,docno,score\nq1,slow piano,7,a,2\nq1,slow piano,3,x,1\n")
    said = cli("evaluate", run, "-j", files.judgments, "-m", "P@1", "--format", "csv")
    assert said.code == 0
    assert f"note: {run}: column 'qid' is taken as the query, 'query' not read\n" in said.err
    assert f"note: {run}: column 'docno' is taken as the document, 'docid' not read\n" in said.err
    quiet = cli("evaluate", run, "-j", files.judgments, "-m", "P@1", "--format", "csv", "--quiet")
    assert (quiet.out, quiet.err) == (said.out, "")
