"""``crowd groups``: rows, files that other commands read, what it compares with, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

from earmark.data.readers import read_groups


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """What sorting d1 … d5 with the pivot d3 asked; d4 was found equal to it, and d1 before d2."""
    questions = ("d1 d3 aaaa", "d2 d3 aaas", "d4 d3 abss", "d5 d3 bbbb", "d1 d2 aaab")
    rows = ["query,a,b,assessor,choice"]
    for line in questions:
        a, b, choices = line.split()
        for number, letter in enumerate(choices):
            rows.append(f"q,{a},{b},w{number},{'same' if letter == 's' else letter}")
    path = tmp_path / "answers.csv"
    path.write_text("\n".join([*rows, "q,d1,d5,w9,"]) + "\n")
    return path


def rows(said_rows: list[dict[str, object]]) -> list[str]:
    groups: dict[object, str] = {}
    for row in said_rows:
        groups[row["group"]] = groups.get(row["group"], "") + str(row["document"])
    return list(groups.values())


def test_rows_by_pivots(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "groups", answers, "--method", "pivots", "--lead", 2)
    assert said.code == 0
    assert list(said.rows[0]) == ["query", "document", "group"]
    assert rows(said.rows) == ["d1", "d2", "d3d4", "d5"]
    assert "1 row without a choice left out" in said.err
    assert "4 ordered groups of 5 documents" in said.err


def test_alpha_is_the_sign_test_and_scores_take_the_rest(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "groups", answers, "--method", "pivots", "--alpha", 0.25)
    assert rows(said.rows) == ["d1d2", "d3d4", "d5"]
    # Three of three are not enough at .2: d2 would stay with d3 and d4, and nobody was asked about d2 and d4.
    refused = cli("crowd", "groups", answers, "--method", "pivots", "--alpha", 0.2)
    assert (refused.code, "compared with all others there, got none" in refused.err) == (2, True)
    by_scores = cli("crowd", "groups", answers, "--alpha", 0.3)
    assert rows(by_scores.rows)[0].startswith("d1")
    assert rows(by_scores.rows)[-1] == "d5"


def test_a_file_for_other_commands(cli: Cli, files: Files, answers: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.txt"
    said = cli("crowd", "groups", answers, "--method", "pivots", "--lead", 2, "-o", made, "--against", files.groups)
    assert said.code == 0
    assert said.out == ""
    assert f"wrote {made}" in said.err
    # The other file holds d1 and d2 before d3, d4 and d5, each in one group.
    assert "7 of 10 pairs of documents agree, 0 of 6 ordered by both are opposite" in said.err
    assert read_groups(made).frame["group"].to_list() == [1, 2, 3, 3, 4]
    run = tmp_path / "run.tsv"
    run.write_text("".join(f"perfect\tq\t{name}\n" for name in ("d1", "d2", "d4", "d3", "d5")))
    scored = cli("evaluate", run, "--groups", made, "-m", "ADR")
    assert [row["value"] for row in scored.rows if row["query"] == "all"] == [1.0]


def test_several_files_and_a_table(cli: Cli, answers: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.csv"
    more.write_text("query,a,b,assessor,choice\n" + "".join(f"r,x,y,w{n},b\n" for n in range(5)))
    said = cli("crowd", "groups", answers, more, "--method", "pivots", "--lead", 2, "--format", "table")
    assert [line.split() for line in said.out.splitlines()[2:]][:6] == [
        ["q", "1", "d1"],
        ["q", "2", "d2"],
        ["q", "3", "d3,", "d4"],
        ["q", "4", "d5"],
        ["r", "1", "y"],
        ["r", "2", "x"],
    ]


def test_rankings(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "experts.tsv"
    lines = [f"e{n}\tq\t{name}\n" for n in range(10) for name in ("x", *(("y", "z") if n % 2 else ("z", "y")))]
    path.write_text("".join(lines))
    for test in ("rank-sum", "signed-rank", "friedman-tukey"):
        assert rows(cli("crowd", "groups", "--rankings", path, "--test", test).rows) == ["x", "yz"]


def test_traps_are_left_out(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "traps.csv"
    path.write_text("query,a,b,assessor,choice,trap\nq,x,y,w1,a,\nq,x,y,w2,a,\nq,y,x,w1,a,b\nq,y,x,w2,a,b\n")
    said = cli("crowd", "groups", path, "--method", "pivots", "--lead", 2)
    assert rows(said.rows) == ["x", "y"]
    assert "2 answers to traps left out" in said.err
    path.write_text("query,a,b,assessor,choice,trap\nq,x,y,w1,a,a\n")
    refused = cli("crowd", "groups", path)
    assert (refused.code, "answers to other questions than traps, got 1 trap alone" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "rank-sum"], "--test is for --rankings"),
        (["--lead", "2"], "a lead is for groups by pivots"),
        (["--method", "pivots", "--lead", "2", "--alpha", "0.1"], "--lead and --alpha exclude each other"),
        (["--alpha", "0"], "alpha, the largest p-value of a difference, lies between 0 and 1, got 0"),
        (["--rankings", "--method", "scores"], "--method, --lead and --phase are for preferences"),
        (["--phase", "2"], "no phase called '2'"),
    ],
)
def test_what_is_refused(cli: Cli, answers: Path, options: list[str], message: str) -> None:
    said = cli("crowd", "groups", answers, *options)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


def test_the_published_groups(cli: Cli, melody: Path, tmp_path: Path) -> None:
    import csv

    path = tmp_path / "melodies.csv"
    with (melody / "judgments.csv").open(encoding="latin-1", newline="") as file, path.open("w", newline="") as to:
        writer = csv.writer(to)
        writer.writerow(["query", "a", "b", "assessor", "choice"])
        for row in csv.DictReader(file):
            choice = {"s": "same"}.get(row["Answer.radio"], row["Answer.radio"])
            writer.writerow([row["Input.query"], row["Input.docA"], row["Input.docB"], row["WorkerId"], choice])
    said = cli("crowd", "groups", path, "--method", "pivots", "--lead", 2, "--against", melody / "MTurk.qrel")
    assert "717 of 717 pairs of documents agree" in said.err
    assert "11 of 11 queries with the same groups" in said.err
    assert len(said.rows) == 118
