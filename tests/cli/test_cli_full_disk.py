"""Commands on a disk that is full: what failed is named, and nothing is half there."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from called import Cli, Files


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root and CAP_SYS_ADMIN")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int) -> list[Path]:
    """Let the n-th file that is written, counted from 0, meet a full disk."""
    written: list[Path] = []

    def failing(real):
        def write(self: Path, *arguments, **settings):
            written.append(self)
            if len(written) == number + 1:
                with self.open("wb") as file:
                    file.write(b"half of it")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(self, *arguments, **settings)

        return write

    for name in ("write_text", "write_bytes"):
        monkeypatch.setattr(Path, name, failing(getattr(Path, name)))
    return written


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("number", range(7))
def test_a_report_and_its_assets_appear_together(
    cli: Cli, files: Files, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files.folder / "r.html").write_text("the last one")
    before = everything(files.folder)
    with monkeypatch.context() as patch:
        fail_at(patch, number)
        said = cli("report", files.runs, "-j", files.judgments, "-m", "AG@3", "-o", files.folder / "r.html",
                   "--assets", files.folder / "for" / "paper")  # fmt: skip
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert "expected a file that can be written, got No space left on device" in said.err
    assert ".earmark-" not in said.err
    assert everything(files.folder) == before


def test_a_report_on_a_full_disk(cli: Cli, files: Files, small_disk: Path) -> None:
    said = cli("report", files.runs, "-j", files.judgments, "-m", "AG@3", "-o", small_disk / "r.html",
               "--assets", small_disk / "paper")  # fmt: skip
    assert said.code == 2
    assert "No space left on device" in said.err
    assert not everything(small_disk)


ANSWERS = "query,a,b,assessor,choice,trap\n" + "".join(
    f"q{number},x,y,w{number % 3},a,{('', 'b', 'a')[number % 3]}\n" for number in range(40)
)


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("command", ["check", "questions", "import"])
def test_what_a_crowd_needs_appears_together(
    cli: Cli, tmp_path: Path, command: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text(ANSWERS)
    results = tmp_path / "results.csv"
    results.write_text("q,left,right,best,who\nq1,x,y,a,w\nq1,x,y,a,w\n")
    columns = [f"--column={field}={name}" for field, name in
               {"query": "q", "a": "left", "b": "right", "choice": "best", "assessor": "who"}.items()]  # fmt: skip
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("the last one")
    line = {
        "check": ["check", answers, "--min-answers", "1", "-o", one, "--kept", two],
        "questions": ["questions", "--example", "-n", "6", "-o", one, "--package", "2", "--package-output", two],
        "import": ["import", results, *columns, "-o", one, "--left-out", two],
    }[command]
    before = everything(tmp_path)
    with monkeypatch.context() as patch:
        fail_at(patch, number)
        said = cli("crowd", *line)
    assert said.code == 2, said
    assert f"{(one, two)[number]}: expected a file that can be written, got No space left on device" in said.err
    assert everything(tmp_path) == before
    assert cli("crowd", *line).code == 0
    assert two.exists()


@pytest.mark.parametrize("command", ["fit", "runs convert", "next", "crowd groups"])
def test_one_file_is_named(cli: Cli, files: Files, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = files.folder / ("x.json" if command == "fit" else "x.csv")
    answers = files.folder / "answers.csv"
    answers.write_text(ANSWERS)
    line = {
        "fit": [files.runs, "-j", files.judgments, "--feature", "aRANK"],
        "runs convert": [files.runs],
        "next": [files.runs, "--scale", "broad"],
        "crowd groups": [answers],
    }[command]
    before = everything(files.folder)
    with monkeypatch.context() as patch:
        fail_at(patch, 0)
        said = cli(*command.split(), *line, "-o", target)
    assert (said.code, said.out) == (2, "")
    assert f"{target}: expected a file that can be written, got No space left on device" in said.err
    assert everything(files.folder) == before
