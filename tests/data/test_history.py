"""A history of results: lines that survive other writers, crashes and full disks, and files that are left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from earmark.data.history import Record, append_record, read_history
from earmark.errors import InputError


def record(number: int = 0, *, system: str = "S") -> Record:
    time = datetime(2026, 5, 1 + number % 28, 3, tzinfo=UTC)
    return Record("earmark evaluate", [{"system": system, "measure": "AP", "value": number / 100}], time=time)


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for number in (1, 0):
        assert append_record(path, record(number)) == 0
    assert read_history(path) == [record(0), record(1)]
    assert all(json.loads(line)["time"].endswith("+00:00") for line in path.read_text().splitlines())


def test_numbers_that_json_does_not_have_are_null(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_record(path, Record("c", [{"system": "ü", "value": float("nan")}], results=[{"low": float("-inf")}]))
    [read] = read_history(path)
    assert (read.scores, read.results) == ([{"system": "ü", "value": None}], [{"low": None}])


WRITER = """
import sys
from pathlib import Path
from earmark.data.history import Record, append_record
for number in range(40):
    append_record(Path(sys.argv[1]), Record(sys.argv[2], [{"value": number}], notes=["x" * 30_000]))
"""


def test_two_processes_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name], env={**os.environ}) for name in ("one", "two", "three")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    found = read_history(path)
    assert len(found) == 120
    for name in ("one", "two", "three"):
        assert [one.scores[0]["value"] for one in found if one.command == name] == list(range(40))


@pytest.mark.parametrize("kept", [1, 7, 60, -1])
def test_a_torn_last_line_is_removed_by_the_next_run(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "results.jsonl"
    append_record(path, record(0))
    torn = record(1).line()[:kept]
    with path.open("ab") as file:
        file.write(torn)
    assert read_history(path) == [record(0)]
    assert append_record(path, record(2)) == len(torn)
    assert read_history(path) == [record(0), record(2)]


def test_a_torn_first_line_is_removed_too(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for kept in (3, 50):
        path.write_bytes(record(1).line()[:kept])
        assert append_record(path, record(2)) == kept
        assert read_history(path) == [record(2)]


@pytest.mark.parametrize("text", ["my notes\nline two", '{"system":"S"}\n', "x"])
def test_other_files_are_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="expected a history of results, or a new file, got a file that begins with"):
        append_record(path, record())
    assert path.read_text() == text


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.jsonl"
    append_record(path, record(0))
    before, write = path.read_bytes(), os.write

    def half(file: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(InputError, match="expected room for another record, got No space left on device"):
        append_record(path, record(1))
    assert path.read_bytes() == before


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with pytest.raises(InputError, match="expected a history of results, got No such file"):
        read_history(path)
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        append_record(tmp_path / "none" / "h.jsonl", record())
    with pytest.raises(InputError, match="expected a file that can be written"):
        append_record(tmp_path, record())
    path.write_bytes(b"\n")
    with pytest.raises(InputError, match="got no record"):
        read_history(path)
    path.write_bytes(record().line() + b"rubbish\n" + record().line())
    with pytest.raises(InputError, match=r"results.jsonl:2: expected a record as --append writes it, got 'rubbish'"):
        read_history(path)
    path.write_bytes(record().line().replace(b'"earmark_history":1', b'"earmark_history":9'))
    with pytest.raises(InputError, match="expected records of format 1, got 9"):
        read_history(path)
