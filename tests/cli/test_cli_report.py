"""``earmark report``: one file, written whole, that says how to get it again."""

from __future__ import annotations

import hashlib
import html
import re
import shlex
from pathlib import Path

import pytest
from called import Cli, Files

from earmark.errors import EarmarkError


def test_a_report_is_one_file_that_says_who_is_better(cli: Cli, files: Files, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    said = cli("report", files.runs, "-j", files.judgments, "-m", "AG@2", "-o", target, "--format", "jsonl", "-q")
    assert (said.code, said.err) == (0, "")
    verdict = said.rows[0]["verdict"]
    assert said.rows == [{"file": str(target), "verdict": verdict}]
    assert verdict.startswith("good is the best of 3 systems: ")
    page = target.read_text(encoding="utf-8")
    assert f"<h1>{html.escape(verdict)}</h1>" in page
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert not list(tmp_path.glob(".*out.html"))


def test_the_command_in_the_report_gives_the_same_report(cli: Cli, files: Files, tmp_path: Path) -> None:
    target, folder = tmp_path / "a report.html", tmp_path / "paper"
    given = ("-j", files.judgments, "--metadata", files.metadata, "--measure", "nDCG@2", "--predictor", "uniform")
    first = cli("report", files.runs, *given, "--samples", 50, "-o", target, "--assets", folder, "--quiet")
    assert first.code == 0
    page = target.read_text(encoding="utf-8")
    command = re.search(r"<pre><code>(.*?)</code></pre>", page)
    assert command is not None
    words = shlex.split(html.unescape(command[1]))
    assert words[:3] == ["earmark", "report", str(files.runs)]
    assert {"--judgments", "--measure", "--samples", "--assets", "--quiet"} <= set(words)
    assert "--level" not in words
    target.unlink()
    assert cli(*words[1:]).out == first.out
    assert target.read_text(encoding="utf-8") == page
    assert hashlib.sha256(files.runs.read_bytes()).hexdigest() in page
    assert {path.name for path in folder.iterdir()} >= {"systems.csv", "pairs.tex", "ranking.svg"}


def test_a_folder_for_a_paper_says_what_is_in_it(cli: Cli, files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    given = ("report", files.runs, "-j", files.judgments, "-o", tmp_path / "r.html", "--publish", folder)
    assert cli(*given).code == 0
    names = {path.name for path in folder.iterdir()}
    assert {"README.txt", "systems.tex", "systems.csv", "pairs.tex", "pairs.csv", "ranking.pdf", "pairs.pdf"} <= names
    from earmark.report.publication import PUBLISHED

    assert names <= set(PUBLISHED)
    said = (folder / "README.txt").read_text(encoding="utf-8")
    assert all(name in said for name in names - {"README.txt"})
    assert "booktabs" in said
    assert "--publish" in said
    for name in names:
        content = (folder / name).read_bytes()
        if name.endswith(".tex"):
            assert all(rule in content for rule in (b"\\toprule", b"\\midrule", b"\\bottomrule"))
        if name.endswith(".pdf"):
            assert content.startswith(b"%PDF")
            # Letters of type 3 are refused by publishers.
            assert b"/Type3" not in content
    before = {name: (folder / name).read_bytes() for name in names}
    assert cli(*given).code == 0
    assert {name: (folder / name).read_bytes() for name in names} == before


def test_what_was_guessed_is_in_the_report(cli: Cli, files: Files, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    said = cli("report", files.runs, "-o", target, "--format", "table")
    assert said.code == 0
    assert str(target) in said.out
    page = target.read_text(encoding="utf-8")
    # Before anything is judged, it is too early to say more, on the terminal as on the page.
    for text in (said.out, page):
        assert "it is too early: this is still largely what is expected of any such systems" in text
        assert "Judgments explain 0% of what is uncertain about the differences between systems" in text
    assert "No --measure given: taking AG@3" in page
    assert "No judgments tell the scale" in page
    assert "no --measure given: taking AG@3" in said.err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("-o", "x.html", "--level", "1"), "--level is a probability above 0 and below 1, got 1"),
        ((), "Missing option '--output'"),
        (("-o", "nowhere/x.html", "-q"), "expected an existing folder to write to, got 'nowhere'"),
    ],
)
def test_wrong_usage_writes_nothing(
    cli: Cli, files: Files, tmp_path: Path, given: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    said = cli("report", files.runs, "-j", files.judgments, *given)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not list(empty.iterdir())


def test_without_matplotlib_it_says_what_to_install(
    cli: Cli, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise EarmarkError("plots need matplotlib: pip install 'earmark[plots]'")

    monkeypatch.setattr("earmark.plots.style.need_matplotlib", missing)
    said = cli("report", files.runs, "-j", files.judgments, "-o", tmp_path / "out.html")
    assert (said.code, said.err) == (2, "earmark: plots need matplotlib: pip install 'earmark[plots]'\n")
    assert not (tmp_path / "out.html").exists()


def test_nothing_in_a_report_of_few_judgments_says_that_confident_pairs_are_decided(
    cli: Cli, files: Files, tmp_path: Path
) -> None:
    page = tmp_path / "early.html"
    assert cli("report", files.runs, "--scale", "broad", "-m", "AG@2", "-o", page).code == 0
    pairs = page.read_text(encoding="utf-8").partition("<h2>Pairwise comparisons</h2>")[2]
    assert "No pair is called decided, however high its confidence" in pairs
    assert "A pair is decided when" not in pairs
    assert "exactly for decided pairs" not in pairs
