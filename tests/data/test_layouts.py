"""Headerless files with tabs and blanks: words decide, unless the tabs make a table of three columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from earmark.data.readers import read_judgments, read_runs


def write(folder: Path, text: str) -> Path:
    path = folder / "file.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "line",
    ["{q} Q0 {d}\t{r} {s}\tsys", "{q}\tQ0 {d} {r} {s}\tsys", "{q} 0\t{d} {r}\t{s} sys", "{q}\tit {d} {r} {s}\tsys b"],
)
def test_trec_runs_with_two_tabs(tmp_path: Path, line: str) -> None:
    lines = [line.format(q="q1", d=d, r=r, s=3 - r) for r, d in enumerate("ab", start=1)]
    if "it" in line:
        # Only another line, with other white space, tells that this is no table of three columns.
        lines.append("q2 it c 1 2.5 " + line.rpartition("\t")[2])
    runs = read_runs(write(tmp_path, "\n".join(lines) + "\n"))
    frame = runs.to_polars().filter(query="q1")
    assert frame.select("query", "document").rows() == [("q1", "a"), ("q1", "b")]
    assert runs.systems == (line.rpartition("\t")[2].removeprefix("{s} "),)


@pytest.mark.parametrize("line", ["{q}\t0\t{d} {g}", "{q} 0\t{d}\t{g}", "{q}\tQ0\t{d} {g}", "{q}\t3 {d}\t{g}"])
def test_qrels_with_two_tabs(tmp_path: Path, line: str) -> None:
    lines = [line.format(q="q1", d=d, g=g) for d, g in (("a", 2), ("b", -1))]
    if "3" in line:
        lines.append("q1\t3\tc 0")
    read = read_judgments(write(tmp_path, "\n".join(lines) + "\n")).frame
    assert read.rows()[:2] == [("q1", "a", 2.0), ("q1", "b", -1.0)]


def test_three_columns_with_blanks_in_ids(tmp_path: Path) -> None:
    read = read_judgments(write(tmp_path, "q 1\ta\t2\nq 2\tb\t0\n")).frame
    assert read.rows() == [("q 1", "a", 2.0), ("q 2", "b", 0.0)]
    read = read_judgments(write(tmp_path, "q 0\ta\t2\nq 2\tb\t0\n")).frame
    assert read.rows() == [("q 0", "a", 2.0), ("q 2", "b", 0.0)]
    read = read_judgments(write(tmp_path, "q\tmy song\t2\nq\tb\t0\n")).frame
    assert read.rows() == [("q", "my song", 2.0), ("q", "b", 0.0)]
    runs = read_runs(write(tmp_path, "my system\tq 1\t2 3\nmy system\tq 1\ta b\n")).to_polars()
    assert runs.select("system", "query", "document").row(0) == ("my system", "q 1", "2 3")
    runs = read_runs(write(tmp_path, "A B\tq 1\t2 3\nA B\tq 2\t7 8\n")).to_polars()
    assert runs.select("system", "query", "document").row(1) == ("A B", "q 2", "7 8")
