"""``earmark rank`` and ``earmark next``: their rows, what they say in words, and how they refuse."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from called import Cli, Files, Said

import earmark
from earmark.data.writers import write_runs as write_runs_of
from earmark.predictors.hierarchical_prior import shipped_prior

SUMMARY_FIELDS = ["kind", "judged", "items", "mean_confidence", "min_confidence", "target", "basis", "sampled"]
SUMMARY_FIELDS += ["stop", "reason"]
PUBLISHED = ("--predictor", "ordinal", "--policy", "mtc")


def of_kind(rows: list[dict], kind: str) -> list[dict]:
    return [row for row in rows if row["kind"] == kind]


def lists(files: Files) -> dict[str, dict[str, str]]:
    """The lists of the small collection: by system and query, documents separated by blanks."""
    read: dict[str, dict[str, str]] = {}
    for system, query, document in (line.split("\t") for line in files.runs.read_text().splitlines()):
        answers = read.setdefault(system, {})
        answers[query] = f"{answers.get(query, '')} {document}".strip()
    return read


def gains(files: Files) -> dict[str, dict[str, float]]:
    """The judgments of the small collection, by query and document."""
    read: dict[str, dict[str, float]] = {}
    for query, document, gain in (line.split("\t") for line in files.judgments.read_text().splitlines()):
        read.setdefault(query, {})[document] = float(gain)
    return read


def write_runs(path: Path, runs: dict[str, dict[str, str]]) -> Path:
    rows = [(s, q, d) for s, answers in runs.items() for q, documents in answers.items() for d in documents.split()]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def test_rows_have_exactly_the_promised_fields(cli: Cli, files: Files) -> None:
    command = ("rank", files.runs, "-j", files.judgments, "-m", "AG@2", "--format")
    rows = cli(*command, "jsonl").rows
    assert [row["kind"] for row in rows] == ["system"] * 3 + ["pair"] * 3 + ["summary"]
    assert list(rows[0]) == ["kind", "system", "estimate", "low", "high", "rank"]
    assert list(rows[3]) == ["kind", "a", "b", "difference", "low", "high", "confidence"]
    assert list(rows[-1]) == SUMMARY_FIELDS
    assert (rows[-1]["judged"], rows[-1]["items"]) == (13, 14)
    assert (rows[-1]["target"], rows[-1]["basis"], rows[-1]["sampled"]) == ("sample", "by the model", None)
    in_csv = cli(*command, "csv").csv
    assert [row["kind"] for row in in_csv] == [row["kind"] for row in rows]
    assert float(in_csv[0]["estimate"]) == rows[0]["estimate"]
    assert in_csv[0]["confidence"] == ""


def test_the_summary_says_whether_to_stop(cli: Cli, files: Files) -> None:
    def decision(*arguments: object) -> tuple[bool, str]:
        row = cli("rank", files.runs, "-j", files.judgments, "-m", "AG@2", *arguments).rows[-1]
        return row["stop"], row["reason"]

    assert decision("--stop", "budget:13")[0]
    go_on, reason = decision("--stop", "budget:14")
    assert not go_on
    assert "13" in reason
    # Whoever asks for items is told as well, and gets them.
    said = cli("next", files.runs, "-j", files.judgments, "-m", "AG@2", "--stop", "min:0.9")
    assert len(said.rows) == 1
    assert "the stop rule is reached: " in said.err
    # A difference that does not matter makes systems that are nearly alike count as decided.
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    loose = ("rank", files.runs, "-j", few, "--scale", "broad", "-m", "AG@2", "--stop", "min:0.9")
    assert [cli(*loose, "--margin", margin).rows[-1]["stop"] for margin in (0.0, 0.99)] == [False, True]


def test_estimates_are_those_of_the_formulas(cli: Cli, files: Files) -> None:
    """MTC, Eqs. 2 to 7, written out with dictionaries: uniform beliefs on 0, 1, 2 have mean 1 and variance 2/3."""
    rows = cli("rank", files.runs, "-j", files.judgments, "-m", "AG@3", "--predictor", "uniform").rows

    def weights(system: str) -> dict[tuple[str, str], float]:
        return {(q, d): 1 / (3 * 2 * 3) for q, documents in lists(files)[system].items() for d in documents.split()}

    def moments(weight: dict[tuple[str, str], float]) -> tuple[float, float]:
        mean = sum(w * gains(files)[q].get(d, 1.0) for (q, d), w in weight.items())
        return mean, sum(w * w * (0.0 if d in gains(files)[q] else 2 / 3) for (q, d), w in weight.items())

    for row in of_kind(rows, "system"):
        mean, variance = moments(weights(row["system"]))
        half = 1.959963984540054 * math.sqrt(variance)
        assert row["estimate"] == pytest.approx(mean)
        assert (row["low"], row["high"]) == (pytest.approx(mean - half), pytest.approx(mean + half))
    for row in of_kind(rows, "pair"):
        a, b = weights(row["a"]), weights(row["b"])
        mean, variance = moments({item: a.get(item, 0) - b.get(item, 0) for item in {*a, *b}})
        assert row["difference"] == pytest.approx(mean)
        sure = 0.5 if mean == 0 else 1.0 if variance == 0 else 0.5 * math.erfc(-abs(mean) / math.sqrt(2 * variance))
        assert row["confidence"] == pytest.approx(sure)


@pytest.mark.parametrize("measure", ["AG@3", "nDCG(ideal=pool)@3", "RBP(p=0.8)@3"])
def test_with_everything_judged_it_says_what_evaluate_says(cli: Cli, files: Files, measure: str) -> None:
    everything = files.folder / "all.tsv"
    items = {(q, d) for answers in lists(files).values() for q, documents in answers.items() for d in documents.split()}
    everything.write_text("".join(f"{q}\t{d}\t{gains(files)[q].get(d, 0)}\n" for q, d in sorted(items)))
    estimated = of_kind(cli("rank", files.runs, "-j", everything, "-m", measure).rows, "system")
    scored = cli("evaluate", files.runs, "-j", everything, "-m", measure.replace("ideal=pool", "")).rows
    assert {row["system"]: row["estimate"] for row in estimated} == pytest.approx(
        {row["system"]: row["value"] for row in scored}
    )
    assert all(row["low"] == pytest.approx(row["high"]) for row in estimated)


def test_without_judgments_every_order_is_as_likely(cli: Cli, files: Files) -> None:
    said = cli("rank", files.runs, "--predictor", "ordinal", "--format", "jsonl")
    assert {row["confidence"] for row in of_kind(said.rows, "pair")} == {0.5}
    assert "note: no judgments: every order is as likely as any other" in said.err
    assert "no judgments tell the scale: taking fine; name it with --scale" in said.err
    assert "taking AG@3, as lists hold no more than 3" in said.err
    assert cli("rank", files.runs, "--quiet").err == ""


def test_by_default_past_collections_speak_where_nothing_is_judged(cli: Cli, files: Files) -> None:
    said = cli("rank", files.runs)
    assert said.out == cli("rank", files.runs, "--predictor", "hierarchical").out
    prior = shipped_prior(earmark.FINE, ()).name
    assert f"nothing is judged: predictions are those of the prior '{prior}'" in said.err
    assert "every order is as likely" not in said.err
    # What nobody else retrieves is seldom good, but that decides nothing.
    assert [row["system"] for row in of_kind(said.rows, "system")] == ["good", "fair", "poor"]
    assert all(0.5 < row["confidence"] < 0.95 for row in of_kind(said.rows, "pair"))
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    told = cli("rank", files.runs, "-j", few).err
    assert f"only 1 judged: predictions depend mostly on the prior '{prior}'" in told
    # Nobody is told that intervals are too narrow where errors count as shared.
    assert "predictions of items are treated as independent" not in said.err
    assert "predictions of items are treated as independent" in cli("rank", files.runs, "--predictor", "ordinal").err


def test_a_table_shows_intervals_and_undecided_pairs(cli: Cli, files: Files) -> None:
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    command = ("rank", files.runs, "-j", few, "--scale", "broad", "-m", "AG@2", "--format", "table")
    said = cli(*command, "--predictor", "ordinal")
    assert said.code == 0
    assert "AG@2: 3 systems, 3 queries; 95% intervals" in said.out
    assert "●" in said.out
    assert "3 of 3 pairs are undecided: confidence below 95%" in said.out
    assert "1 of 14 items judged, mean confidence" in said.out
    # Both retrieved the one document that is known to be good.
    assert "good and fair share the highest estimate." in said.out
    assert "bars from" in said.out
    # What other judgments teach about lists that agree less tells the two apart.
    assert "has the highest estimate." in cli(*command).out
    decided = cli("rank", files.runs, "-j", files.judgments, "--format", "table").out
    assert "All pairs are decided" in decided
    listed = cli("rank", files.runs, "-j", files.judgments, "--format", "table", "--pairs").out
    assert listed.count("poor") == decided.count("poor") + 2


def test_the_best_system_is_named_with_its_confidence(cli: Cli, files: Files) -> None:
    runs = write_runs(files.folder / "two.tsv", {name: lists(files)[name] for name in ("good", "poor")})
    said = cli("rank", runs, "-j", files.judgments, "--predictor", "uniform", "--format", "table")
    assert "All pairs are decided: confidence of 95% or more" in said.out
    assert re.search(r"^good is better than poor: 9\d\.\d% sure\.$", said.out, re.MULTILINE)
    # With one judgment there is a leader, but not much to be sure of.
    one = files.folder / "one.tsv"
    one.write_text("q1\ta\t2\n")
    said = cli("rank", runs, "-j", one, "--format", "table")
    assert "good and poor cannot be told apart yet" in said.out


def test_a_seed_makes_it_reproducible(cli: Cli, files: Files) -> None:
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\nq2\te\t1\n")
    command = ("rank", files.runs, "-j", few, "-m", "nDCG@3", "--samples", 50, "--seed")
    assert cli(*command, 3).out == cli(*command, 3).out
    assert cli(*command, 3).out != cli(*command, 4).out


def test_student_t_is_wider(cli: Cli, files: Files) -> None:
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    command = ("rank", files.runs, "-j", few, "--predictor", "ordinal", "--distribution")
    normal, t = (cli(*command, name).rows[0] for name in ("normal", "t"))
    # The quantile of .975 with two degrees of freedom is 4.302653, of the normal distribution 1.959964.
    # An interval is cut at the ends of the scale, so only its lower half is compared.
    ratio = (t["estimate"] - t["low"]) / (normal["estimate"] - normal["low"])
    assert ratio == pytest.approx(4.302653 / 1.959964, rel=1e-5)
    assert t["high"] == 1
    one_query = write_runs(files.folder / "one.tsv", {name: {"q1": lists(files)[name]["q1"]} for name in lists(files)})
    said = cli("rank", one_query, "--distribution", "t")
    assert (said.code, said.out) == (2, "")
    assert "--distribution t needs two queries or more, got one" in said.err


def test_estimates_with_degrees_of_freedom_of_their_own_keep_them(cli: Cli, files: Files) -> None:
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    normal, t = (cli("rank", files.runs, "-j", few, "--distribution", name) for name in ("normal", "t"))
    assert t.out == normal.out
    assert "--distribution t changes nothing: these estimates have degrees of freedom of their own" in t.err
    assert "--distribution" not in normal.err


def test_one_system_has_no_pairs(cli: Cli, files: Files) -> None:
    runs = write_runs(files.folder / "one.tsv", {"good": lists(files)["good"]})
    said = cli("rank", runs, "-j", files.judgments)
    assert said.code == 0
    assert [row["kind"] for row in said.rows] == ["system", "summary"]
    assert said.rows[-1]["mean_confidence"] is None
    assert "no two systems to compare" in said.err
    assert cli("rank", runs, "-j", files.judgments, "--format", "table").code == 0
    assert cli("next", runs, "-n", 2).code == 0


def test_identical_systems_are_listed_as_identical(cli: Cli, files: Files) -> None:
    runs = write_runs(files.folder / "same.tsv", {**lists(files), "again": lists(files)["good"]})
    said = cli("rank", runs, "-j", files.judgments)
    assert said.code == 0
    pairs = {(row["a"], row["b"]) for row in of_kind(said.rows, "pair")}
    # For average gain the order within a list does not matter: fair retrieved what good did.
    assert pairs == {("good", "poor"), ("fair", "poor"), ("poor", "again")}
    assert "identical for AG@3 and not compared: good and fair, good and again, fair and again" in said.err
    only = write_runs(files.folder / "only.tsv", {"one": lists(files)["good"], "two": lists(files)["good"]})
    said = cli("rank", only, "-j", files.judgments, "--format", "table")
    assert said.code == 0
    assert "no two systems to compare" in said.out


def test_lists_of_different_depth_are_said(cli: Cli, files: Files) -> None:
    runs = write_runs(files.folder / "short.tsv", {**lists(files), "short": {"q1": "a", "q2": "d", "q3": "a"}})
    said = cli("rank", runs, "--predictor", "ordinal")
    assert "lists hold 1 to 3 documents: missing documents at the end have a gain of 0" in said.err
    assert "only the lengths of lists tell systems apart" in said.err


def test_unanswered_queries_are_named(cli: Cli, files: Files) -> None:
    runs = write_runs(files.folder / "gap.tsv", {**lists(files), "gap": {"q1": "a b c", "q3": "a d g"}})
    zero = cli("rank", runs, "-j", files.judgments)
    assert "system 'gap' did not answer 1 query (q2): they count as empty lists" in zero.err
    drop = cli("rank", runs, "-j", files.judgments, "--missing", "drop")
    assert "system 'gap' did not answer 1 query (q2): they are left out for all systems" in drop.err
    estimates = {row["system"]: row["estimate"] for row in of_kind(drop.rows, "system")}
    assert estimates["gap"] == estimates["good"] == pytest.approx((3 / 6 + 5 / 6) / 2)
    assert of_kind(zero.rows, "summary")[0]["items"] == 16
    assert of_kind(drop.rows, "summary")[0]["items"] == 11
    apart = write_runs(files.folder / "apart.tsv", {"one": {"q1": "a"}, "two": {"q2": "d"}})
    said = cli("rank", apart, "--missing", "drop")
    assert said.code == 2
    assert "no query was answered by all systems" in said.err


def test_judgments_of_what_nobody_retrieved_are_said(cli: Cli, files: Files) -> None:
    files.judgments.write_text(files.judgments.read_text() + "q1\tnever\t2\nq9\ta\t1\n")
    said = cli("rank", files.runs, "-j", files.judgments)
    assert "2 judged documents were retrieved by no system among the first 3: AG@3 does not depend on them" in said.err
    assert said.rows[-1]["judged"] == 13


def test_a_model_of_another_scale_is_refused(cli: Cli, files: Files) -> None:
    model = files.folder / "model.json"
    content = {"format": "earmark ordinal model 1", "name": "m", "levels": [0, 1], "intercepts": [0.0]}
    model.write_text(json.dumps({**content, "coefficients": {"pTEAM": 1.0}, "source": "a test"}))
    said = cli("rank", files.runs, "-j", files.judgments, "--predictor", "ordinal", "--model", model)
    assert (said.code, said.out) == (2, "")
    assert f"{model}: expected a model for the gains 0, 1, 2, got one for 0, 1 (fit a model on this scale)" in said.err
    # Without judgments the model's own scale is the one to take.
    said = cli("rank", files.runs, "--predictor", "ordinal", "--model", model)
    assert said.code == 0
    assert "no judgments tell the scale: taking binary" in said.err
    assert len({row["estimate"] for row in of_kind(said.rows, "system")}) > 1


def test_an_external_model_speaks_for_unjudged_items(cli: Cli, files: Files) -> None:
    levels = files.folder / "levels.csv"
    sure = [f"{q},{d},0,0,1" for q, documents in lists(files)["poor"].items() for d in documents.split()]
    levels.write_text("query,document,0,1,2\n" + "\n".join(sure) + "\n")
    rows = cli("rank", files.runs, "--scale", "broad", "--predictor", f"external:{levels}").rows
    assert rows[0]["system"] == "poor"
    assert rows[0]["estimate"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--level", "1"), "--level is a probability above 0 and below 1, got 1"),
        (("--level", "1.5"), "--level is a probability above 0 and below 1, got 1.5"),
        (("--predictor", "ordnal"), "unknown predictor 'ordnal': did you mean ordinal?"),
        (("--predictor", "external:"), "name the file after 'external:'"),
        (("--predictor", "external:nowhere.csv"), "nowhere.csv: expected a file, got nothing there"),
        (
            ("--predictor", "uniform", "--model", "m.json"),
            "conditional-forest and hierarchical, 'uniform' does not use one",
        ),
        (("--predictor", "mtc-output", "--scale", "0..3"), "for the scales broad and fine, not '0..3'"),
        (("--predictor", "ordinal", "--model", "nowhere.json"), "nowhere.json: expected a model file"),
        (("--model", "nowhere.json"), "nowhere.json: expected a model, got No such file or directory (write one with"),
        (("--inference", "guess"), "--inference': Value error, 'guess' is not one of 'model', 'design'"),
        (("--target", "all"), "--target': Value error, 'all' is not one of 'sample', 'population'"),
        (("-m", "AG@5", "-m", "P@5"), "systems are compared by one measure at a time, got AG@5, P@5"),
        (("--samples", "1"), "--samples': Input should be greater than or equal to 2"),
        (("--artist-column", "singer"), "--artist-column singer names a column of the metadata: give --metadata too"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused(cli: Cli, files: Files, arguments: tuple[str, ...], message: str) -> None:
    said = cli("rank", files.runs, *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--artist-column", "--genre-column", "--attribute"])
def test_a_column_that_the_metadata_lack_is_named(cli: Cli, files: Files, option: str) -> None:
    for command in ("rank", "next", "features"):
        said = cli(command, files.runs, "--metadata", files.metadata, option, "artists")
        assert (said.code, said.out) == (2, "")
        assert "the metadata has no column 'artists': did you mean 'artist'?" in said.err


def test_next_proposes_what_tells_most_pairs_apart(cli: Cli, files: Files) -> None:
    rows = cli("next", files.runs, "-n", 30, *PUBLISHED).rows
    assert list(rows[0]) == ["query", "document", "priority", "sampled"]
    assert len(rows) == 16
    # MTC, Eq. 8 for average gain: n (S - n) pairs are told apart by an item that n of S systems retrieved.
    for row in rows:
        n = sum(row["document"] in answers[row["query"]].split() for answers in lists(files).values())
        assert row["priority"] == pytest.approx(n * (3 - n))
        assert row["sampled"] is False
    assert [row["priority"] for row in rows] == sorted((row["priority"] for row in rows), reverse=True)


def test_next_proposes_by_default_what_takes_most_doubt_away(cli: Cli, files: Files) -> None:
    said = cli("next", files.runs, "-n", 30)
    assert said.out == cli("next", files.runs, "-n", 30, "--predictor", "hierarchical", "--policy", "variance").out
    assert said.out == cli("next", files.runs, "-n", 30, "--audit", 0.25).out
    assert [row["sampled"] for row in said.rows] == [False, False, False, True] * 4
    # Without the sample, the policy alone.
    rows = cli("next", files.runs, "-n", 30, "--audit", 0).rows
    assert len({(row["query"], row["document"]) for row in rows}) == 16
    assert [row["priority"] for row in rows] == sorted((row["priority"] for row in rows), reverse=True)
    assert {row["sampled"] for row in rows} == {False}
    # What all systems retrieved says nothing about who is better, so it comes last.
    shared = {(q, d) for q, docs in lists(files)["poor"].items() for d in docs.split() if d in lists(files)["good"][q]}
    assert {(row["query"], row["document"]) for row in rows[-len(shared) :]} == shared == {("q1", "c"), ("q2", "f")}
    assert {row["priority"] for row in rows[-len(shared) :]} == {0.0}


def test_next_leaves_out_what_is_judged(cli: Cli, files: Files) -> None:
    said = cli("next", files.runs, "-j", files.judgments, "-n", 5)
    assert {(row["query"], row["document"]) for row in said.rows} == {("q2", "y"), ("q3", "y"), ("q3", "z")}
    assert "only 3 items are left to judge" in said.err
    files.judgments.write_text(files.judgments.read_text() + "q2\ty\t0\nq3\ty\t0\nq3\tz\t0\n")
    said = cli("next", files.runs, "-j", files.judgments)
    assert (said.code, said.out) == (0, "")
    assert "every item is judged: there is nothing to ask" in said.err
    assert cli("next", files.runs, "-j", files.judgments, "--format", "table").code == 0


def test_next_draws_by_its_seed(cli: Cli, files: Files) -> None:
    command = ("next", files.runs, "--policy", "random", "-n", 8, "--seed")
    assert cli(*command, 1).out == cli(*command, 1).out
    assert cli(*command, 1).out != cli(*command, 2).out


def test_questions_can_be_filled_in_and_read_back(cli: Cli, files: Files) -> None:
    questions = files.folder / "questions.csv"
    said = cli("next", files.runs, "-n", 4, "-o", questions)
    lines = questions.read_text().splitlines()
    assert lines[0] == "query,document,gain,sampled"
    marks = ("false", "false", "false", "true")
    assert lines[1:] == [
        f"{row['query']},{row['document']},,{mark}" for row, mark in zip(said.rows, marks, strict=True)
    ]
    assert "4 questions; fill in the column gain and pass the file together with all judgments so far:" in said.err
    # Nobody has answered yet, so new questions may take the place of the old ones.
    assert cli("next", files.runs, "-n", 4, "-o", questions).code == 0
    answered = [line.replace(",,", f",{place % 3},") for place, line in enumerate(lines[1:])]
    questions.write_text("\n".join([lines[0], *answered]) + "\n")
    assert cli("rank", files.runs, "-j", questions).rows[-1]["judged"] == 4
    before = questions.read_bytes()
    said = cli("next", files.runs, "-n", 4, "-o", questions)
    assert (said.code, said.out) == (2, "")
    assert f"{questions}: expected a file to write questions to, got one that holds answers already" in said.err
    assert questions.read_bytes() == before
    said = cli("next", files.runs, "-o", files.folder / "nowhere" / "questions.csv")
    assert (said.code, said.out) == (2, "")
    assert "expected an existing folder to write to" in said.err


def test_next_says_when_items_are_chosen_by_another_measure(cli: Cli, files: Files) -> None:
    said = cli("next", files.runs, "-m", "nDCG@3", "--format", "table", "--audit", 0)
    assert "nDCG@3 is not a weighted sum of gains: items are chosen by DCG@3" in said.err
    assert "16 of 16 unjudged items, by the policy variance" in said.out
    assert "sampled" not in said.out
    said = cli("next", files.runs, "-m", "nDCG@3", "--format", "table", *PUBLISHED)
    assert "16 of 16 unjudged items, by the policy mtc" in said.out
    said = cli("next", files.runs, "--policy", "mtk")
    assert (said.code, said.out) == (2, "")
    assert "unknown policy 'mtk': did you mean mtc?" in said.err


# ---- guarantees, other queries, any time -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Judging:
    """A collection of 270 items within five ranks, all of them judged somewhere."""

    runs: Path
    truth: dict[tuple[str, str], float]
    scores: dict[str, float]

    def answer(self, questions: Path) -> Path:
        """Fill in a file of questions."""
        with questions.open() as file:
            rows = list(csv.DictReader(file))
        with questions.open("w") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "gain": self.truth[row["query"], row["document"]]} for row in rows)
        return questions


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Judging:
    made = earmark.synthetic_collection(np.random.default_rng(8), systems=4, queries=20, documents=200)
    runs = tmp_path_factory.mktemp("judging") / "runs.tsv"
    write_runs_of(made.runs, runs)
    rows = made.judgments.frame.select("query", "document", "gain").rows()
    scores = earmark.evaluate(made.runs, made.judgments, ["AG@5"]).table()
    return Judging(
        runs, {(q, d): gain for q, d, gain in rows}, dict(zip(scores["system"], scores["AG@5"], strict=True))
    )


Ask = Callable[..., Path]
Rank = Callable[..., Said]


@pytest.fixture
def ask(cli: Cli, judging: Judging, tmp_path: Path) -> Ask:
    """Propose items, have them judged, and return the file."""

    def asked(*arguments: object, measure: str = "AG@5") -> Path:
        questions = tmp_path / f"questions{len(list(tmp_path.iterdir()))}.csv"
        said = cli("next", judging.runs, "--scale", "fine", "-m", measure, "-o", questions, *arguments)
        assert said.code == 0, said.err
        return judging.answer(questions)

    return asked


@pytest.fixture
def ranked(cli: Cli, judging: Judging) -> Rank:
    def rank(judgments: Path, *arguments: object, measure: str = "AG@5") -> Said:
        return cli("rank", judging.runs, "-j", judgments, "--scale", "fine", "-m", measure, *arguments)

    return rank


def widths(said: Said) -> dict[tuple[str, ...], float]:
    """The widths of all intervals."""
    assert said.code == 0, said.err
    named = [
        (tuple(row[name] for name in ("system", "a", "b") if name in row), row)
        for row in said.rows
        if row["kind"] in ("system", "pair")
    ]
    return {name: row["high"] - row["low"] for name, row in named}


def wider(one: Said, other: Said) -> bool:
    mine, others = widths(one), widths(other)
    assert set(mine) == set(others)
    # A pair whose lists differ by judged items alone is certain, and has no width either way.
    return all(mine[name] > others[name] or mine[name] == others[name] == 0 for name in mine)


def summary(said: Said) -> dict:
    (row,) = of_kind(said.rows, "summary")
    return row


def test_a_guarantee_from_a_sample_with_known_probabilities(ask: Ask, ranked: Rank, judging: Judging) -> None:
    sample = ask("--policy", "proportional", "-n", 80)
    assert sample.read_text().count(",true") == 80
    said = ranked(sample, "--inference", "design")
    assert summary(said)["basis"] == "guaranteed by the sampling design, whatever the model"
    assert (summary(said)["sampled"], summary(said)["judged"]) == (80, 80)
    assert "note: about these queries; guaranteed by the sampling design, whatever the model" in said.err
    for row in of_kind(said.rows, "system"):
        assert row["low"] < judging.scores[row["system"]] < row["high"]
    # Whatever the model: another one changes how wide intervals are, not that there are any.
    assert summary(ranked(sample, "--inference", "design", "--predictor", "uniform"))["sampled"] == 80
    # The sample is known by its order alone. With another seed it is another one, of which this is no part.
    refused = ranked(sample, "--inference", "design", "--seed", 1)
    assert (refused.code, refused.out) == (2, "")


def test_what_was_picked_adaptively_guarantees_nothing(ask: Ask, ranked: Rank) -> None:
    for policy in ("variance", "mtc", "random"):
        said = ranked(ask("--policy", policy, "--audit", 0, "-n", 60), "--inference", "design")
        assert (said.code, said.out) == (2, "")
        counted = re.search(r"needs at least 30 sampled judgments, there are (\d+)\. The (\d+) other", said.err)
        assert counted is not None, said.err
        sampled, adaptive = map(int, counted.groups())
        assert sampled + adaptive == 60
        assert sampled < 10
        assert "other judgments were picked adaptively and carry no guarantee" in said.err
        assert "earmark next --policy proportional" in said.err


def test_sampled_items_hold_the_model_to_account(ask: Ask, ranked: Rank) -> None:
    mixed = ask("--audit", 0.5, "-n", 80)
    assert mixed.read_text().count(",true") == 40
    said = ranked(mixed)
    (row,) = of_kind(said.rows, "audit")
    assert list(row) == ["kind", "sampled", "p_value", "agrees", "worst", "deviation", "bias"]
    assert row["sampled"] >= 40
    assert row["agrees"] is True
    assert f"audit on {row['sampled']} sampled judgments: the model agrees with the guaranteed estimates" in said.err
    assert of_kind(ranked(mixed, "--no-audit").rows, "audit") == []
    # By design there is nothing to hold against each other.
    assert of_kind(ranked(mixed, "--inference", "design").rows, "audit") == []
    assert summary(ranked(mixed, "--inference", "design"))["sampled"] == row["sampled"]
    # Where nothing is marked as sampled it has to be asked for, and there has to be a sample.
    unmarked = ask("--audit", 0, "-n", 40)
    assert of_kind(ranked(unmarked).rows, "audit") == []
    said = ranked(unmarked, "--audit")
    assert (said.code, said.out) == (2, "")
    assert "too few sampled judgments for an audit: judge items from earmark next --audit 0.2" in said.err


def test_a_model_that_is_wrong_is_found_out(ask: Ask, ranked: Rank, judging: Judging, tmp_path: Path) -> None:
    sample = ask("--policy", "proportional", "-n", 100)
    wrong = tmp_path / "wrong.csv"
    # Sure that everything is as good as can be; learning that it is not, it takes every level for as likely.
    levels = ",".join(str(level) for level in range(0, 100, 11))
    wrong.write_text(f"query,document,{levels}\n" + "".join(f"{q},{d},{'0,' * 9}1\n" for q, d in judging.truth))
    said = ranked(sample, "--predictor", f"external:{wrong}")
    assert said.code == 0, said.err
    (row,) = of_kind(said.rows, "audit")
    assert row["agrees"] is False
    assert row["p_value"] < 0.01
    assert row["bias"] > 0.05
    assert "the model does NOT agree with the guaranteed estimates" in said.err
    assert "higher by the model): trust --inference design" in said.err


def test_other_queries_are_less_certain_than_these(ask: Ask, ranked: Rank) -> None:
    judged = ask("-n", 120)
    these, others = (ranked(judged, "--target", target) for target in ("sample", "population"))
    assert wider(others, these)
    assert (summary(these)["target"], summary(others)["target"]) == ("sample", "population")
    assert "note: about these queries; by the model" in these.err
    assert "note: about queries like these; by the model" in others.err
    assert [row["estimate"] for row in of_kind(these.rows, "system")] == [
        row["estimate"] for row in of_kind(others.rows, "system")
    ]
    assert summary(others)["min_confidence"] < summary(these)["min_confidence"]
    # With the design too.
    sample = ask("--policy", "proportional", "-n", 100)
    others = ranked(sample, "--inference", "design", "--target", "population")
    assert summary(others)["basis"].endswith(
        "whatever the model; except for how much queries differ, which is by the model"
    )
    assert wider(
        ranked(sample, "--inference", "design", "--target", "population"), ranked(sample, "--inference", "design")
    )


def test_one_query_says_nothing_about_others(cli: Cli, files: Files) -> None:
    one_query = write_runs(files.folder / "one.tsv", {name: {"q1": lists(files)[name]["q1"]} for name in lists(files)})
    said = cli("rank", one_query, "--target", "population")
    assert (said.code, said.out) == (2, "")
    assert "queries like these need two queries or more to tell how much queries differ, got one" in said.err


def test_looking_whenever_one_likes_costs_width(ask: Ask, ranked: Rank) -> None:
    judged = ask("-n", 120)
    once, always = ranked(judged), ranked(judged, "--anytime")
    assert wider(always, once)
    assert "about these queries; by the model; at any time" in always.err
    assert summary(always)["min_confidence"] < summary(once)["min_confidence"]
    early = ranked(ask("-n", 99), "--anytime")
    assert (early.code, early.out) == (2, "")
    assert "statements that hold at any time start at 100 judgments, there are 99 of 270" in early.err
    # By design the sample counts, not what was judged besides.
    mixed = ask("--audit", 0.5, "-n", 150)
    said = ranked(mixed, "--anytime", "--inference", "design")
    assert (said.code, said.out) == (2, "")
    assert "statements that hold at any time start at 100 judgments, there are" in said.err
    assert ranked(mixed, "--anytime").code == 0


def test_normalised_measures_are_guaranteed_by_whole_queries(ask: Ask, ranked: Rank, judging: Judging) -> None:
    whole = ask("--policy", "proportional", "--whole-queries", "-n", 200, measure="nDCG@5")
    asked = [line.split(",")[0] for line in whole.read_text().splitlines()[1:]]
    assert len(list(groupby(asked))) == len(set(asked)) < 20
    said = ranked(whole, "--inference", "design", "--whole-queries", measure="nDCG@5")
    assert summary(said)["basis"] == "guaranteed by the sampling design, whatever the model"
    # The last query that was begun need not be complete.
    complete = sum(asked.count(query) for query in set(asked) if asked.count(query) == items_of(judging.runs)[query])
    assert summary(said)["sampled"] == complete > 150
    few = ask("--policy", "proportional", "--whole-queries", "-n", 60, measure="nDCG@5")
    said = ranked(few, "--inference", "design", "--whole-queries", measure="nDCG@5")
    assert (said.code, said.out) == (2, "")
    assert "needs at least 10 complete queries from the front of the order, there are" in said.err


def items_of(runs: Path) -> Counter[str]:
    """How many documents any system has among the first five, by query."""
    found: dict[tuple[str, str], list[str]] = {}
    for system, query, document in (line.split("\t") for line in runs.read_text().splitlines()):
        found.setdefault((system, query), []).append(document)
    return Counter(query for query, _ in {(query, d) for (_, query), docs in found.items() for d in docs[:5]})


def test_a_sample_of_items_says_what_it_does_not_promise(ask: Ask, ranked: Rank) -> None:
    sample = ask("--policy", "proportional", "-n", 80, measure="nDCG@5")
    said = ranked(sample, "--inference", "design", measure="nDCG@5")
    assert summary(said)["basis"].startswith("approximate: differences nearly right")
    assert "not guaranteed" in said.err
    said = ranked(sample, "--inference", "design", measure="AP@5")
    assert (said.code, said.out) == (2, "")
    assert "AP@5 has no estimate by a sample of items: sample whole queries (--whole-queries), or use" in said.err


def test_items_of_a_query_can_come_together(cli: Cli, judging: Judging) -> None:
    command = ("next", judging.runs, "--scale", "fine", "-m", "AG@5", "-n", 40)
    apart, together = cli(*command).rows, cli(*command, "--group-by-query").rows
    assert len({(row["query"], row["document"]) for row in together}) == 40
    assert len({row["query"] for row in together}) < len({row["query"] for row in apart})
    by_query = [query for query, _ in groupby(row["query"] for row in together)]
    assert len(by_query) == len(set(by_query))
    assert len(list(groupby(row["query"] for row in apart))) > 2 * len(by_query)
    said = cli(*command, "--group-by-query", "--policy", "mtc")
    assert (said.code, said.out) == (2, "")
    assert "--group-by-query is for the policy variance, 'mtc' cannot do it" in said.err


def test_a_table_marks_what_is_sampled(cli: Cli, judging: Judging) -> None:
    command = ("next", judging.runs, "--scale", "fine", "-m", "AG@5", "-n", 10, "--audit", 0.2, "--format", "table")
    said = cli(*command)
    assert "sampled" in said.out.splitlines()[0]
    assert said.out.count("yes") == 2


def test_assessors_who_disagree_leave_doubt(cli: Cli, files: Files) -> None:
    """Everything is judged, once by one person and once by two who give the same on average."""
    items = sorted(
        {(q, d) for answers in lists(files).values() for q, documents in answers.items() for d in documents.split()}
    )
    means = {(q, d): 20 + 60 * gains(files)[q].get(d, 0) / 2 for q, d in items}
    one, two = files.folder / "one.csv", files.folder / "two.csv"
    one.write_text("query,document,gain\n" + "".join(f"{q},{d},{mean}\n" for (q, d), mean in means.items()))
    off = {item: 15 * (-1) ** at for at, item in enumerate(means)}
    two.write_text(
        "query,document,assessor,gain\n"
        + "".join(
            f"{q},{d},{who},{mean + sign * off[q, d]}\n"
            for (q, d), mean in means.items()
            for who, sign in (("ann", 1), ("bob", -1))
        )
    )
    command = ("rank", files.runs, "--scale", "fine", "-m", "AG@3", "-j")
    sure, unsure = cli(*command, one), cli(*command, two)
    assert max(widths(sure).values()) < 1e-12
    assert wider(unsure, sure)
    assert min(widths(unsure).values()) > 0.01
    # The published predictors take the mean of the two for the truth.
    published = cli(*command, two, "--predictor", "ordinal")
    assert max(widths(published).values()) < 1e-12


@pytest.mark.parametrize("command", ["rank", "next", "simulate", "features", "fit"])
def test_help_explains_what_its_examples_use(cli: Cli, command: str) -> None:
    said = cli(command, "--help")
    assert said.code == 0
    options, _, examples = said.out.partition("Examples")
    assert f"earmark {command}" in examples
    assert all(word in options for word in examples.split() if word.startswith("-"))
    assert "--format" in options
    assert "--quiet" in options
    assert "[/" not in said.out


def test_by_gives_the_probability_of_a_difference_of_some_size(cli: Cli, files: Files) -> None:
    command = ("rank", files.runs, "-j", files.judgments, "-m", "AG@3", *PUBLISHED[:2])
    plain, said = of_kind(cli(*command).rows, "pair"), of_kind(cli(*command, "--by", 0.3).rows, "pair")
    assert [list(row) for row in said] == [[*plain[0], "by", "a_better_by", "b_better_by"]] * len(plain)
    for row in said:
        assert row["by"] == 0.3
        assert 0 <= row["b_better_by"] + row["a_better_by"] <= 1
        assert (row["a_better_by"] > row["b_better_by"]) == (row["difference"] > 0)
    # With a margin, which is something else, the probabilities are the same.
    assert of_kind(cli(*command, "--by", 0.3, "--margin", 0.2).rows, "pair") == said
    baseline = of_kind(cli(*command, "--by", 0.3, "--baseline", "good").rows, "pair")
    chances = {frozenset((row["a"], row["b"])): {row["a_better_by"], row["b_better_by"]} for row in said}
    assert baseline
    for row in baseline:
        assert {row["a_better_by"], row["b_better_by"]} == chances[frozenset((row["a"], row["b"]))]
    table = cli(*command, "--by", 0.3, "--format", "table").out
    assert "one is better than the other by 0.3 or more" in table
    assert "better by 0.3 or more" in cli(*command, "--by", 0.3, "--format", "latex").out
    refused = cli(*command, "--by", -1)
    assert refused.code == 2
    assert "--by is a difference of scores above 0, got -1" in refused.err


@pytest.mark.parametrize("command", ["rank", "next"])
def test_two_assessors_who_agree_on_everything(cli: Cli, command: str, tmp_path: Path) -> None:
    """A file of judgments under two names, as after importing it twice."""
    made = earmark.synthetic_collection(np.random.default_rng(1), systems=3, queries=20, documents=60)
    write_runs_of(made.runs, tmp_path / "runs.tsv")
    rows = made.judgments.frame.select("query", "document", "gain")[:80].rows()
    lines = [f"{query},{document},{gain:g},{who}" for query, document, gain in rows for who in ("ana", "ben")]
    (tmp_path / "judgments.csv").write_text("\n".join(["query,document,gain,assessor", *lines]) + "\n")
    said = cli(command, tmp_path / "runs.tsv", "-j", tmp_path / "judgments.csv", "--scale", "fine", "-m", "AG@5")
    assert said.code == 0
    assert said.rows


def test_arithmetic_that_fails_is_an_error_like_others(cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def singular(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("earmark.predictors.hierarchical.Hierarchical.predict", singular)
    refused = cli("rank", files.runs, "-j", files.judgments, "-m", "AG@3")
    assert refused.code == 2
    assert "the predictor hierarchical cannot compute beliefs" in refused.err
    assert "Singular matrix" in refused.err
    assert "Traceback" not in refused.err
