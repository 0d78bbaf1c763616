"""``--content`` on the commands that take it: what it changes, what is said about it, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from called import Cli, Files

from earmark.data.content import Content, write_content

DOCUMENTS = "abcdefgxyz"
QUERIES = ("q1", "q2", "q3")
COMMANDS = ("rank", "next", "simulate", "report", "plan", "diagnose")


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """Content of all documents and queries of the small collection, as an array with ids beside it."""
    ids = (*DOCUMENTS, *QUERIES)
    made = Content(ids, np.random.default_rng(0).normal(0, 1, (len(ids), 3)))
    return write_content(made, tmp_path / "content.npy")[0]


def everything(files: Files) -> Path:
    """Judgments of all items: diagnosing needs the whole truth."""
    path = files.folder / "all.tsv"
    path.write_text(files.judgments.read_text() + "q3\tz\t0\nq2\ty\t1\nq3\ty\t0\n")
    return path


def arguments(command: str, files: Files) -> list[object]:
    usual: list[object] = [command, files.runs, "-j", everything(files), "-m", "AG@3"]
    more: dict[str, list[object]] = {
        "simulate": ["--stop", "budget:6", "--batch", 2],
        "report": ["-o", files.folder / "report.html"],
        "plan": ["--stop", "budget:3", "--repeats", 2],
        "diagnose": ["--repeats", 1, "--share", 0.3],
        "next": ["--audit", 0],
    }
    if command in ("rank", "next", "report", "plan"):
        usual[3] = files.folder / "some.tsv"
        (files.folder / "some.tsv").write_text("".join(files.judgments.read_text().splitlines(keepends=True)[::2]))
    return [*usual, *more.get(command, [])]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_how_much_of_it_there_is(cli: Cli, files: Files, content: Path, command: str) -> None:
    plain = cli(*arguments(command, files))
    told = cli(*arguments(command, files), "--content", content)
    assert (plain.code, told.code) == (0, 0), told.err
    assert "have content" not in plain.err
    if command == "report":
        page = (files.folder / "report.html").read_text()
        assert "10 of 10 documents and 3 of 3 queries have content" in page
        assert "hierarchical, with content" in page
        assert "The model also uses the content of documents" in page
        for name in ("content.npy", "content.ids.txt"):
            assert name in page
    else:
        assert "note: 10 of 10 documents and 3 of 3 queries have content\n" in told.err


@pytest.mark.parametrize("command", ["rank", "next", "simulate", "diagnose"])
def test_it_changes_what_is_believed(cli: Cli, files: Files, content: Path, command: str) -> None:
    usual = arguments(command, files)
    assert cli(*usual).out != cli(*usual, "--content", content).out
    # Other predictors do not use it, and say so.
    usual += ["--predictor", "uniform"]
    told = cli(*usual, "--content", content)
    assert cli(*usual).out == told.out
    assert "note: --content is used by the predictor hierarchical only\n" in told.err
    assert "have content" not in told.err


def test_the_same_numbers_in_another_file_are_the_same_content(cli: Cli, files: Files, content: Path) -> None:
    usual = arguments("rank", files)
    first = cli(*usual, "--content", content).out
    ids = (*DOCUMENTS, *QUERIES)
    (files.folder / "elsewhere.txt").write_text("".join(f"{one}\n" for one in ids))
    (files.folder / "content.ids.txt").unlink()
    assert cli(*usual, "--content", content, "--content-ids", files.folder / "elsewhere.txt").out == first
    table = write_content(Content(ids, np.load(content)), files.folder / "content.csv")[0]
    assert cli(*usual, "--content", table).out == first


def test_some_have_no_content(cli: Cli, files: Files) -> None:
    usual = arguments("rank", files)
    values = np.random.default_rng(0).normal(0, 1, (6, 2))
    some = write_content(Content(("a", "b", "c", "d", "q1", "q3"), values), files.folder / "some.npy")[0]
    said = cli(*usual, "--content", some).err
    assert "note: 4 of 10 documents and 2 of 3 queries have content\n" in said
    assert "no query" not in said
    none = write_content(Content(("a", "b", "c", "d"), values[:4]), files.folder / "none.npy")[0]
    said = cli(*usual, "--content", none).err
    assert "note: 4 of 10 documents and 0 of 3 queries have content\n" in said
    assert "no query is among the documents of --content" in said


def test_content_of_other_documents(cli: Cli, files: Files) -> None:
    other = write_content(Content(("one", "two"), np.eye(2)), files.folder / "other.csv")[0]
    said = cli(*arguments("rank", files), "--content", other)
    assert said.code == 2
    assert f"{other}: expected content of some of the documents that were retrieved, got content of none" in said.err
    assert "in the content, documents are named like 'one'" in said.err


def test_options_that_do_not_fit(cli: Cli, files: Files, content: Path) -> None:
    usual = arguments("next", files)
    said = cli(*usual, "--content-ids", files.runs)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "--content-ids names the rows of --content: give that too" in said.err
    said = cli(*usual, "--content", files.folder / "nothing.npy")
    assert said.code == 2
    assert "nothing.npy: expected a file, got nothing there" in said.err
    (files.folder / "content.ids.txt").unlink()
    said = cli(*usual, "--content", content)
    assert said.code == 2
    assert "expected the ids of the rows in content.ids.txt or content.ids beside it" in said.err


def test_campaigns_with_content_in_other_processes(cli: Cli, files: Files, content: Path) -> None:
    usual = [*arguments("simulate", files), "--content", content, "--repeats", 2, "--sample-queries", 2]
    assert cli(*usual, "--jobs", 2).out == cli(*usual).out
