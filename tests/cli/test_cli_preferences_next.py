"""``preferences next``, ``rank`` and ``simulate``: fields, files that other commands take, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from called import Cli, Files, Said

from earmark.crowd.question_files import read_questions
from earmark.data.conversion import runs_from_frame
from earmark.data.writers import write_runs
from earmark.simulation.pair_campaigns import made_up_world


@pytest.fixture
def answers(files: Files) -> Path:
    # The lists: good q1 a b c, q2 d e f; fair q1 c a b, q2 e f d; poor q1 x y c, q2 x f y.
    rows = ["query,a,b,assessor,choice"]
    for line in ("q1 a b aab", "q1 c a bbb", "q2 e f aaa"):
        query, a, b, choices = line.split()
        rows += [f"{query},{a},{b},w{number},{letter}" for number, letter in enumerate(choices)]
    path = files.folder / "answers.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def pairs(files: Files) -> Path:
    path = files.folder / "pairs.csv"
    rows = ["q1,a,b", "q1,c,a", "q1,x,a", "q1,b,c", "q2,e,f", "q2,d,f", "q2,d,e", "q3,v,w", "q3,g,a"]
    path.write_text("query,a,b\n" + "\n".join(rows) + "\n")
    return path


def test_rows_of_next(cli: Cli, files: Files, answers: Path, pairs: Path) -> None:
    said = cli("preferences", "next", files.runs, "--preferences", answers, "--candidates", pairs, "-n", 3)
    assert said.code == 0
    assert list(said.rows[0]) == ["question", "query", "a", "b", "assessors", "priority"]
    assert len(said.rows) == 3
    asked = {("q1", "a", "b"), ("q1", "a", "c"), ("q2", "e", "f")}
    assert all((row["query"], *sorted((row["a"], row["b"]))) not in asked for row in said.rows)
    assert all(row["assessors"] == 3 for row in said.rows)
    assert [row["priority"] > 0 for row in said.rows] == [True] * 3
    assert "no --answers given: taking 3 answers a question" in said.err
    assert "9 candidate pairs, 1 of them without a document in the first 20 of any list" in said.err
    assert "9 answers about 9 candidate pairs: mean confidence" in said.err
    again = cli("preferences", "next", files.runs, "--preferences", answers, "--candidates", pairs, "-n", 3)
    assert again.out == said.out


def test_a_pair_with_too_few_answers_is_completed(cli: Cli, files: Files, answers: Path, pairs: Path) -> None:
    said = cli(
        "preferences", "next", files.runs, "--preferences", answers, "--candidates", pairs, "-n", 9, "--answers", 4
    )  # fmt: skip
    wanted = {(row["query"], *sorted((row["a"], row["b"]))): row["assessors"] for row in said.rows}
    assert len(wanted) == 9
    assert wanted["q1", "a", "b"] == 1
    assert wanted["q2", "d", "e"] == 4
    # What three of four agree on is settled, and what nobody ranks tells nothing: both come last.
    assert {(row["query"], *sorted((row["a"], row["b"]))) for row in said.rows[-3:]} == {
        ("q1", "a", "c"),
        ("q2", "e", "f"),
        ("q3", "v", "w"),
    }


@pytest.mark.parametrize("policy", ["adaptive", "told-apart", "random"])
def test_policies_and_files(cli: Cli, files: Files, policy: str) -> None:
    path = files.folder / "questions.csv"
    said = cli("preferences", "next", files.runs, "-k", 2, "-n", 5, "--policy", policy, "-o", path, "--seed", 3)
    assert said.code == 0
    assert "no --answers given: taking 6 answers a question" in said.err
    assert f"wrote {path}: 5 questions" in said.err
    written = read_questions(path)
    assert written.select("query", "a", "b").rows() == [(row["query"], row["a"], row["b"]) for row in said.rows]
    other = cli("preferences", "next", files.runs, "-k", 2, "-n", 5, "--policy", policy, "--seed", 4)
    if policy != "adaptive":
        assert other.out != said.out


def test_a_table_of_questions(cli: Cli, files: Files, answers: Path, pairs: Path) -> None:
    said = cli(
        "preferences", "next", files.runs, "--preferences", answers, "--candidates", pairs, "-n", 2, "--format", "table"
    )
    lines = said.out.splitlines()
    assert lines[0].split() == ["query", "a", "b", "assessors", "priority"]
    assert lines[-1] == "2 of 6 open questions, by the policy adaptive"


def test_everything_asked(cli: Cli, files: Files, answers: Path) -> None:
    said = cli("preferences", "next", files.runs, "--preferences", answers, "--candidates", answers)
    assert (said.code, said.out) == (0, "")
    assert "every pair is answered" in said.err


def test_rank_with_all_answers_is_the_precision(cli: Cli, files: Files, answers: Path) -> None:
    said = cli("preferences", "rank", files.runs, "--preferences", answers, "--candidates", answers, "-k", 3)
    systems = {row["system"]: row for row in said.rows if row["kind"] == "system"}
    assert list(systems["good"]) == ["kind", "system", "precision", "low", "high", "rank", "pairs"]
    measured = cli("preferences", "precision", files.runs, "--preferences", answers, "-k", 3, "--agreement", "1/3")
    for row in measured.rows:
        if row["kind"] == "system":
            assert systems[row["system"]]["precision"] == pytest.approx(row["precision"])
            assert systems[row["system"]]["low"] == pytest.approx(row["precision"])
    pair = next(row for row in said.rows if row["kind"] == "pair")
    assert list(pair) == ["kind", "a", "b", "difference", "low", "high", "confidence"]
    summary = said.rows[-1]
    assert summary == {
        "kind": "summary",
        "answers": 9,
        "questions": 3,
        "candidates": 3,
        "mean_confidence": 1.0,
        "min_confidence": 1.0,
    }


def test_rank_before_anybody_was_asked(cli: Cli, files: Files) -> None:
    said = cli("preferences", "rank", files.runs, "-k", 3, "--level", 0.9)
    for row in said.rows:
        if row["kind"] == "system":
            assert row["precision"] == pytest.approx(0.5)
            assert row["low"] < 0.5 < row["high"]
    table = cli("preferences", "rank", files.runs, "-k", 3, "--format", "table").out.splitlines()
    assert table[0] == "Preference precision in the first 3 ranks, 95% intervals"
    assert [line.split()[0] for line in table[3:6]] == ["fair", "good", "poor"]
    assert table[7].split() == ["a", "b", "a", "−", "b", "at", "least", "confidence"]


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path]:
    """Made-up answers to all candidates, as a crowd would be recorded, and the runs."""
    world = made_up_world(np.random.default_rng(0), skills=(0.8, 0.2), queries=6, documents=10, depth=5, pairs=12)
    table = world.design.pairs.to_polars()
    rows, words = ["query,a,b,assessor,choice"], {1: "a", -1: "b", 0: "same"}
    for (query, a, b), signs in zip(table.select("query", "first", "second").rows(), world.signs, strict=True):
        rows += [f"{query},{a},{b},w{number},{words[sign]}" for number, sign in enumerate(signs.tolist())]
    answers = tmp_path / "recorded.csv"
    answers.write_text("\n".join(rows) + "\n")
    wins = dict.fromkeys(world.design.pairs.documents, 0)
    for (_, a, b), sign in zip(table.select("query", "first", "second").rows(), world.winner, strict=True):
        wins[a], wins[b] = wins[a] + int(sign), wins[b] - int(sign)
    order = sorted(wins, key=lambda name: -wins[name])
    lists = [
        (system, query, name)
        for system, names in (("liked", order), ("reverse", order[::-1]), ("names", sorted(order)))
        for query in world.design.pairs.queries
        for name in names
    ]
    runs = tmp_path / "lists.tsv"
    write_runs(runs_from_frame(pl.DataFrame(lists, schema=["system", "query", "document"], orient="row")), runs)
    return runs, answers


def test_a_simulated_campaign(cli: Cli, recorded: tuple[Path, Path]) -> None:
    runs, answers = recorded
    said = cli("preferences", "simulate", runs, "--preferences", answers, "--repeats", 2, "--batch", 10)
    assert said.code == 0
    kinds = [row["kind"] for row in said.rows]
    assert kinds.count("stop") == 2
    assert kinds[-1] == "summary"
    step, stop = said.rows[0], next(row for row in said.rows if row["kind"] == "stop")
    fields = ["kind", "repeat", "answers", "questions", "mean_confidence", "min_confidence", "accuracy"]
    assert list(step)[:7] == fields
    assert "reason" not in step
    assert stop["mean_confidence"] >= 0.95
    assert stop["accuracy"] == 1.0
    assert "72 candidate pairs with 6 answers each" in said.err
    shown = cli("preferences", "simulate", runs, "--preferences", answers, "--batch", 10, "--format", "table").out
    assert "policy adaptive, stop best:0.95:0.02" in shown
    assert "1 campaign stopped after" in shown


def test_one_answer_at_a_time(cli: Cli, recorded: tuple[Path, Path]) -> None:
    runs, answers = recorded
    said = cli(
        "preferences", "simulate", runs, "--preferences", answers, "--one-at-a-time", "--answers", 5, "--batch", 10,
        "--stop", "budget:6", "--policy", "random",
    )  # fmt: skip
    assert [row["answers"] for row in said.rows if row["kind"] != "summary"] == [0, 10, 20, 30]


@pytest.mark.parametrize(
    ("command", "more", "message"),
    [
        ("next", ["--policy", "best"], "unknown policy for pairs 'best': (there are adaptive, told-apart, random)"),
        ("rank", ["--level", "2"], "--level is a probability above 0 and below 1, got 2"),
        (
            "next",
            ["--candidates", "elsewhere.csv"],
            "candidate pairs with documents among the first 20 of every system",
        ),
        ("simulate", ["--stop", "soon"], "unknown stop rule 'soon'"),
        ("simulate", ["--answers", "9"], "every pair has 3 answers or more: 9 cannot be taken of each"),
        ("simulate", ["--phase", "2"], "no phase called '2'"),
    ],
)
def test_what_is_refused(
    cli: Cli, files: Files, answers: Path, command: str, more: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files.folder)
    Path("elsewhere.csv").write_text("query,a,b\nq9,a,b\n")
    said = cli("preferences", command, files.runs, "--preferences", answers, *more)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("command", ["next", "rank", "simulate", "plan"])
def test_a_worker_who_answered_again(cli: Cli, files: Files, answers: Path, command: str) -> None:
    """The rule chooses the same answers as a file that holds only those."""
    again = "q1,b,a,w0,a"
    first, last = (files.folder / f"{name}.csv" for name in ("kept_first", "kept_last"))
    lines = answers.read_text().splitlines()
    first.write_text("\n".join(lines) + "\n")
    last.write_text("\n".join([again if line.startswith("q1,a,b,w0,") else line for line in lines]) + "\n")
    twice = files.folder / "twice.csv"
    twice.write_text("\n".join([*lines, again]) + "\n")
    more = {"simulate": ("--stop", "none"), "plan": ("--stop", "budget:4", "--repeats", 2)}.get(command, ())

    def call(path: Path, *options: str) -> Said:
        return cli("preferences", command, files.runs, "--preferences", path, *more, *options)

    refused = call(twice)
    assert refused.code == 2
    assert "--repeated first or last" in refused.err
    said = {}
    for rule, path in (("first", first), ("last", last)):
        chosen, wanted = call(twice, "--repeated", rule), call(path)
        assert chosen.code == wanted.code == 0, chosen.err
        assert chosen.rows == wanted.rows
        assert f"1 answer left out: the same worker answered again, the {rule} counts" in chosen.err
        said[rule] = chosen.out
    if command in ("rank", "simulate"):
        assert said["first"] != said["last"]


def test_a_campaign_has_its_own_rule_for_repeated_answers(cli: Cli, files: Files) -> None:
    folder = files.folder / "study"
    assert cli("init", folder, files.runs, "--kind", "prefer", "--stop", "none", "--quiet").code == 0
    refused = cli("preferences", "rank", folder, "--repeated", "first")
    assert refused.code == 2
    assert "--repeated: the answers are those of the campaign" in refused.err
