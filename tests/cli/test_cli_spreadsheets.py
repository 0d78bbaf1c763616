"""Ids that a spreadsheet would compute travel through files that people open in one, and come back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from called import Cli

QUERIES = ("=q", "-q")
DOCUMENTS = ("=1+1", "+1", "-1", "@x", "'=x", "plain")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.tsv"
    lists = {"=S": DOCUMENTS, "T": tuple(reversed(DOCUMENTS))}
    path.write_text(
        "".join(f"{name}\t{query}\t{one}\n" for name, found in lists.items() for query in QUERIES for one in found)
    )
    return path


def fill_in(path: Path, column: str, value: str) -> list[list[str]]:
    """Answer all questions of a file as a spreadsheet would save it, and return its cells."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    for row in rows:
        row[header.index(column)] = value
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return [header, *rows]


def is_safe(rows: list[list[str]]) -> bool:
    return not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_questions_that_are_filled_in(cli: Cli, runs: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.csv"
    said = cli("next", runs, "--scale", "broad", "-n", "50", "-o", questions)
    assert {row["document"] for row in said.rows} == set(DOCUMENTS)
    assert is_safe(fill_in(questions, "gain", "1"))
    assert cli("describe", runs, "-j", questions).rows[0]["judged"] == len(QUERIES) * len(DOCUMENTS)


def test_a_campaign_by_files(cli: Cli, runs: Path, tmp_path: Path) -> None:
    study, package, out = tmp_path / "study", tmp_path / "package.csv", tmp_path / "judgments.csv"
    assert cli("init", study, runs, "--scale", "broad", "-m", "AG@3", "--stop", "none").code == 0
    assert cli("next", study, "-n", "50", "-o", package, "--assessor", "=Ann").code == 0
    assert is_safe(fill_in(package, "gain", "2"))
    said = cli("import", study, package)
    assert (said.rows[0]["new"], said.rows[0]["refused"]) == (len(QUERIES) * len(DOCUMENTS), 0)
    assert cli("export", study, "-o", out, "--people", "names").code == 0
    with out.open(encoding="utf-8", newline="") as file:
        assert is_safe(list(csv.reader(file)))
    assert cli("describe", runs, "-j", out).rows[0]["judged"] == len(QUERIES) * len(DOCUMENTS)
    # Importing what was exported changes nothing.
    assert cli("import", study, out).rows[0]["refused"] == 0
