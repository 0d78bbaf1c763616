"""``crowd aggregate``: rows by method, files that other commands read, cycles, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    questions = (
        "q1 a b aaaaab", "q1 b c aaaabb", "q1 c a aaaaas", "q2 d e aaaaaa", "q2 e f aaabbb", "q2 d f aaaass",
    )  # fmt: skip
    rows = ["query,a,b,assessor,choice,trap"]
    for line in questions:
        query, a, b, letters = line.split()
        for number, letter in enumerate(letters):
            rows.append(f"{query},{a},{b},w{number},{'same' if letter == 's' else letter},")
    path = tmp_path / "answers.csv"
    path.write_text("\n".join([*rows, "q2,x,y,w0,a,a", "q2,d,x,w0,,"]) + "\n")
    return path


def kinds(rows: list[dict[str, object]]) -> dict[object, int]:
    found: dict[object, int] = {}
    for row in rows:
        found[row["kind"]] = found.get(row["kind"], 0) + 1
    return found


def test_majorities(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "aggregate", answers)
    assert said.code == 0
    assert kinds(said.rows) == {"preference": 6, "cycles": 2}
    chosen = [(row["a"], row["b"], row["choice"], row["agreement"]) for row in said.rows if row["kind"] == "preference"]
    assert chosen == [
        ("a", "b", "a", 5), ("a", "c", "b", 5), ("b", "c", "a", 4),
        ("d", "e", "a", 6), ("d", "f", "a", 4), ("e", "f", "same", 0),
    ]  # fmt: skip
    assert [row["cyclic_triads"] for row in said.rows if row["kind"] == "cycles"] == [1, 0]
    assert said.err == (
        "note: 1 row without a choice left out\nnote: 1 answer to traps left out\n"
        "note: 1 of 6 pairs without a preferred document\n"
    )
    strict = cli("crowd", "aggregate", answers, "--agreement", "5/6")
    assert kinds(strict.rows)["preference"] == 3
    assert "note: 3 of 6 pairs left out: too few agree, or answered\n" in strict.err


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("bradley-terry", {"document": 6}),
        ("davidson", {"document": 6}),
        ("one-coin", {"worker": 6}),
        ("dawid-skene", {"worker": 6}),
    ],
)
def test_models(cli: Cli, answers: Path, method: str, more: dict[str, int]) -> None:
    said = cli("crowd", "aggregate", answers, "--method", method)
    assert said.code == 0
    assert kinds(said.rows) == {"preference": 6, **more, "cycles": 2}
    table = cli("crowd", "aggregate", answers, "--method", method, "--format", "table").out
    assert f"Preferences by {method}" in table
    assert "Cycles among majorities: 1 of 1 triad, in 1 of 2 queries" in table


def test_strengths_and_priors(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "strong.csv"
    path.write_text("query,a,b,assessor,choice,strength\nq,x,y,w0,a,5\nq,x,y,w1,b,1\nq,x,y,w2,b,1\n")
    assert cli("crowd", "aggregate", path, "--method", "bradley-terry").rows[0]["choice"] == "b"
    strong = cli("crowd", "aggregate", path, "--method", "bradley-terry", "--strengths").rows
    assert strong[0]["choice"] == "a"
    narrow = cli("crowd", "aggregate", path, "--method", "bradley-terry", "--strengths", "--prior", 0.1).rows
    assert 0 < narrow[0]["strength"] < strong[0]["strength"]


def test_what_is_written_can_be_used(cli: Cli, answers: Path, files: Files, tmp_path: Path) -> None:
    output = tmp_path / "majority.csv"
    said = cli("crowd", "aggregate", answers, "-o", output)
    assert kinds(said.rows) == {"cycles": 2}
    assert f"note: wrote {output}: 6 preferences\n" in said.err
    assert output.read_text().splitlines()[:2] == ["query,a,b,assessor,choice,strength", "q1,a,b,majority,a,1"]
    scored = cli("preferences", "precision", files.runs, "--preferences", output, "-k", 3)
    assert scored.code == 0
    table = cli("crowd", "aggregate", answers, "-o", tmp_path / "again.csv", "--format", "table").out
    assert "Preferences by" not in table


def test_long_tables_are_cut_and_no_cycles_are_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rows = [f"q,x{number:02d},y{number:02d},w0,a" for number in range(25)]
    path.write_text("\n".join(["query,a,b,assessor,choice", *rows]) + "\n")
    table = cli("crowd", "aggregate", path, "--format", "table").out
    assert "5 more: --format csv prints all of them" in table
    assert table.endswith("No cycles among majorities (0 triads of documents with three preferences).\n")


def test_what_is_refused(cli: Cli, answers: Path, tmp_path: Path) -> None:
    def error(*arguments: object) -> str:
        said = cli("crowd", "aggregate", answers, *arguments)
        assert (said.code, said.out) == (2, "")
        return said.err

    assert "levels of agreement are for the method majority, not davidson" in error(
        "--method", "davidson", "--agreement", "5/6"
    )
    assert "standard deviation of scores is above 0" in error("--method", "davidson", "--prior", 0)
    assert "pairs with at least 7 answers, got none of 6" in error("--min-answers", 7)
    assert "preferences are written as .csv" in error("-o", tmp_path / "made.txt")
    assert "borda" in error("--method", "borda")
    assert "--level is a probability" in error("--level", 1)
