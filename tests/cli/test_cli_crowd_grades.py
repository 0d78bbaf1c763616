"""``crowd aggregate`` and ``crowd agree`` on judgments with gains."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files


@pytest.fixture
def grades(tmp_path: Path) -> Path:
    said = {"ann": (90, 70, 50, 30, 10, 60), "bob": (80, 65, 45, 20, 5, 45), "eve": (40, 90, 10, 80, 30, 20)}
    rows = [f"q1,{'abcdef'[place]},{gain},{who}" for who, gains in said.items() for place, gain in enumerate(gains)]
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(["query,document,gain,assessor", *rows]) + "\n")
    return path


def test_gains_with_intervals_and_assessors(cli: Cli, grades: Path) -> None:
    said = cli("crowd", "aggregate", grades, "--scale", "fine")
    assert said.code == 0, said.err
    items = [row for row in said.rows if row["kind"] == "item"]
    assert list(items[0]) == ["kind", "query", "document", "gain", "low", "high", "answers"]
    assert [row["document"] for row in items] == list("abcdef")
    assert all(0 <= row["low"] <= row["gain"] <= row["high"] <= 100 and row["answers"] == 3 for row in items)
    people = {row["assessor"]: row for row in said.rows if row["kind"] == "assessor"}
    assert people["eve"]["reliability"] < min(people["ann"]["reliability"], people["bob"]["reliability"])
    assert people["eve"]["noise_low"] < people["eve"]["noise"] < people["eve"]["noise_high"]
    # With --graded it is the same; the columns say so as well.
    assert cli("crowd", "aggregate", grades, "--scale", "fine", "--graded").out == said.out
    assert "scale guessed: fine" in cli("crowd", "aggregate", grades).err


@pytest.mark.parametrize("method", ["mean", "median", "majority", "linear"])
def test_methods(cli: Cli, grades: Path, method: str) -> None:
    said = cli("crowd", "aggregate", grades, "--method", method)
    gains = {row["document"]: row["gain"] for row in said.rows if row["kind"] == "item"}
    assert gains["a"] > gains["e"]
    assert len(gains) == 6
    assert any(row["kind"] == "assessor" for row in said.rows) == (method == "linear")
    table = cli("crowd", "aggregate", grades, "--method", method, "--format", "table").out
    assert f"Gains by {method}, with 95% intervals" in table
    assert ("Assessors by linear" in table) == (method == "linear")


def test_levels(cli: Cli, tmp_path: Path) -> None:
    said = {"x": "001122", "y": "001121", "z": "011122"}
    rows = [f"q,d{place},{gain},{who}" for who, gains in said.items() for place, gain in enumerate(gains)]
    path = tmp_path / "levels.csv"
    path.write_text("\n".join(["query,document,gain,assessor", *rows]) + "\n")
    found = cli("crowd", "aggregate", path, "--method", "dawid-skene", "--scale", "broad")
    items = [row for row in found.rows if row["kind"] == "item"]
    assert [row["gain"] for row in items] == [0, 0, 1, 1, 2, 2]
    assert all(row["gain"] in (0, 1, 2) and 0 < row["probability"] <= 1 for row in items)
    table = cli("crowd", "aggregate", path, "--method", "dawid-skene", "--format", "table").out
    assert "reliability: the probability of giving the true level" in table


def test_what_is_written_is_read_as_judgments(cli: Cli, files: Files, tmp_path: Path) -> None:
    path, output = tmp_path / "several.csv", tmp_path / "gains.csv"
    rows = [line.split("\t") for line in files.judgments.read_text().splitlines()]
    lines = [f"{query},{document},{gain},{who}" for query, document, gain in rows for who in ("ann", "bob")]
    path.write_text("\n".join(["query,document,gain,assessor", *lines]) + "\n")
    said = cli("crowd", "aggregate", path, "--method", "dawid-skene", "-o", output)
    assert f"note: wrote {output}: {len(rows)} gains\n" in said.err
    assert {row["kind"] for row in said.rows} == {"assessor"}
    assert output.read_text().startswith("query,document,gain,low,high,answers")
    assert cli("evaluate", files.runs, "-j", output, "-m", "AG@5").code == 0


def test_one_answer_each_is_said(cli: Cli, grades: Path) -> None:
    one = grades.parent / "one.csv"
    one.write_text("\n".join(grades.read_text().splitlines()[:7]) + "\n")
    said = cli("crowd", "aggregate", one)
    assert said.code == 0
    assert "every item has one answer, so the reliability of assessors cannot be identified" in said.err
    assert [row["gain"] for row in said.rows[:6]] == [90, 70, 50, 30, 10, 60]
    assert {row["low"] for row in said.rows[:6]} == {None}
    assert said.rows[6]["reliability"] is None
    assert "Assessors by" not in cli("crowd", "aggregate", one, "--format", "table").out


def test_the_table_of_assessors_beside_agreement(cli: Cli, grades: Path) -> None:
    said = cli("crowd", "agree", grades, "--graded", "--scale", "fine")
    people = [row for row in said.rows if row["kind"] == "assessor"]
    assert {row["assessor"] for row in people} == {"ann", "bob", "eve"}
    assert {"bias", "bias_low", "scale_use", "noise", "reliability", "reliability_high"} <= set(people[0])
    plain = cli("crowd", "agree", grades, "--graded", "--format", "table").out
    assert "Assessors by linear" not in plain
    assert "Assessors by linear" in cli("crowd", "agree", grades, "--graded", "--workers", "--format", "table").out


def test_what_is_refused(cli: Cli, grades: Path, tmp_path: Path) -> None:
    def error(*arguments: object) -> str:
        said = cli("crowd", "aggregate", *arguments)
        assert (said.code, said.out) == (2, "")
        return said.err

    assert "at most 11 levels, not for fine: use linear" in error(grades, "--method", "dawid-skene")
    assert "the method davidson is for preferences" in error(grades, "--method", "davidson")
    assert "--agreement is for preferences" in error(grades, "--agreement", "2/3")
    assert "items with at least 4 answers, got at most 3" in error(grades, "--min-answers", 4)
    answers = tmp_path / "answers.csv"
    answers.write_text("query,a,b,assessor,choice\nq,x,y,w,a\n")
    assert "the method linear is for judgments with gains" in error(answers, "--method", "linear")
    assert "--scale is for judgments with gains" in error(answers, "--scale", "broad")
