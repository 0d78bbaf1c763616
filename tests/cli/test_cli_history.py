"""``--append`` and ``report --history``."""

from __future__ import annotations

import json

import pytest
from called import Cli, Files

from earmark import __version__


@pytest.mark.parametrize("command", ["evaluate", "compare", "rank"])
def test_every_run_is_one_line(cli: Cli, files: Files, command: str) -> None:
    path = files.folder / "results.jsonl"
    common = (command, files.runs, "-j", files.judgments, "-m", "AG@2", "--append", path)
    for _ in range(2):
        said = cli(*common)
        assert said.code == 0
    assert said.out == cli(*common[:-2]).out
    cli(*common, "--format", "table")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 3
    assert {line["version"] for line in lines} == {__version__}
    assert lines[0]["options"] == {
        "runs": [str(files.runs)],
        "judgments": [str(files.judgments)],
        "measure": ["AG@2"],
        "append": str(path),
    }
    assert lines[0]["command"].startswith(f"earmark {command} {files.runs} --judgments")
    assert lines[0]["results"] == lines[2]["results"]
    assert lines[0]["results"][0] == said.rows[0]
    assert {score["system"] for score in lines[0]["scores"]} == {"good", "fair", "poor"}
    assert lines[0]["passed"] is None
    assert any("scale guessed" in note for note in lines[0]["notes"])


def test_a_failed_check_is_kept_too(cli: Cli, files: Files) -> None:
    path = files.folder / "results.jsonl"
    common = ("rank", files.runs, "-j", files.judgments, "-m", "AG@2", "--append", path, "--baseline", "good")
    assert cli(*common, "--fail-if-worse").code == 1
    assert cli(*common, "--fail-if-worse", "--margin", 1).code == 0
    assert [json.loads(line)["passed"] for line in path.read_text().splitlines()] == [False, True]


def test_what_fails_leaves_no_line(cli: Cli, files: Files) -> None:
    path = files.folder / "results.jsonl"
    assert cli("evaluate", files.runs, "-j", files.judgments, "-m", "ndgc", "--append", path).code == 2
    assert not path.exists()
    path.write_text("something else\n")
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "AP", "--append", path)
    assert (said.code, said.out) == (2, "")
    assert "expected a history of results, or a new file" in said.err


def test_a_torn_line_is_removed_and_said(cli: Cli, files: Files) -> None:
    path = files.folder / "results.jsonl"
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "AP", "--append", path)
    cli(*common)
    with path.open("a") as file:
        file.write('{"earmark')
    assert f"note: {path}: a torn last line of 9 bytes was removed" in cli(*common).err
    assert len(path.read_text().splitlines()) == 2


def test_a_page_of_results_over_time(cli: Cli, files: Files) -> None:
    path, page = files.folder / "results.jsonl", files.folder / "page.html"
    for measure in ("AG@2", "nDCG@2"):
        cli("evaluate", files.runs, "-j", files.judgments, "-m", measure, "--append", path)
    said = cli("report", "--history", path, "-o", page)
    assert said.rows == [{"file": str(page), "runs": 2}]
    assert page.read_text().count("<svg") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a report is about runs, the folder of a campaign, or results over time (--history FILE)"),
        (("--history", "none.jsonl"), "none.jsonl: expected a history of results"),
        (("--history", "none.jsonl", "-m", "AP"), "--history is about runs of the past: leave out measure"),
        (("a.run", "--history", "none.jsonl"), "--history is about runs of the past: leave out runs"),
    ],
)
def test_reports_that_cannot_be(cli: Cli, files: Files, arguments: tuple[str, ...], message: str) -> None:
    said = cli("report", *arguments, "-o", files.folder / "page.html")
    assert (said.code, said.out) == (2, "")
    assert message in said.err
