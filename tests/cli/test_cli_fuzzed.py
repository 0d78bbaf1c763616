"""What the fuzzer found: inputs that ended in a traceback, ran for minutes or left files behind."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from called import Cli, Files, Said


@pytest.fixture
def study(cli: Cli, files: Files) -> Path:
    folder = files.folder / "study"
    assert cli("init", folder, files.runs, "--scale", "broad").code == 0
    return folder


def assert_refused(said: Said, *words: str) -> None:
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert said.err.startswith("earmark: ")
    assert all(word in said.err for word in words), said.err


@pytest.mark.parametrize("data", [b"\xd7\x00\xff", b"5", b"null", b"[[], 1]", b"[null]", b'"x"', b"true", b"{"])
def test_a_damaged_memory_of_settings_is_made_anew(cli: Cli, study: Path, data: bytes) -> None:
    memory = study / ".settings-agreed.json"
    before = memory.read_bytes()
    memory.write_bytes(data)
    assert cli("status", study).code == 0
    assert cli("pause", study).code == 0
    assert memory.read_bytes() == before


def flipped(data: bytes) -> bytes:
    """Return a zip file whose first packed bytes are no packed bytes."""
    start = data.index(b"campaign.toml") + len(b"campaign.toml")
    return data[:start] + b"\xff" * 40 + data[start + 40 :]


def with_flag(data: bytes) -> bytes:
    """Return a zip file that says that it is encrypted."""
    directory = data.index(b"PK\x01\x02")
    changed = bytearray(data)
    changed[6] |= 1
    changed[directory + 8] |= 1
    return bytes(changed)


def packed_otherwise(data: bytes) -> bytes:
    """Return a zip file that says that it is packed in a way that nobody knows."""
    directory = data.index(b"PK\x01\x02")
    changed = bytearray(data)
    changed[8] = changed[directory + 10] = 99
    return bytes(changed)


def placed_before_its_start(data: bytes) -> bytes:
    """Return a zip file whose list of contents is said to be elsewhere."""
    end = data.rindex(b"PK\x05\x06")
    return data[: end + 16] + (len(data) * 2).to_bytes(4, "little") + data[end + 20 :]


@pytest.mark.parametrize("damage", [flipped, with_flag, packed_otherwise, placed_before_its_start])
def test_a_damaged_backup(cli: Cli, study: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    backup = tmp_path / "backup.zip"
    assert cli("backup", study, "-o", backup).code == 0
    backup.write_bytes(damage(backup.read_bytes()))
    said = cli("restore", backup, tmp_path / "new")
    assert_refused(said, "backup.zip: expected a backup")
    assert "Errno" not in said.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("contents", ["[]", "3", '{"format": 1}', '{"format": 1, "version": "1"}', "{"])
def test_a_backup_whose_contents_say_something_else(cli: Cli, study: Path, tmp_path: Path, contents: str) -> None:
    whole, other = tmp_path / "whole.zip", tmp_path / "other.zip"
    assert cli("backup", study, "-o", whole).code == 0
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            new.writestr(name, contents if name == "contents.json" else old.read(name))
    assert_refused(cli("restore", other, tmp_path / "new"), "other.zip: expected a backup")
    assert not (tmp_path / "new").exists()


def test_media_that_cannot_be_used_leave_nothing(cli: Cli, study: Path, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for name in ("q1", "q2", "q3", *"abcdefgxyz"):
        (tmp_path / "clips" / f"{name}.wav").write_bytes(b"RIFF no sound")
    before = sorted(study.rglob("*"))
    said = cli("media", study, "--media", tmp_path / "clips")
    assert said.code == 2
    assert "expected media that can be played" in said.err
    assert sorted(study.rglob("*")) == before


def test_another_truth_with_a_scale_of_its_own(cli: Cli, study: Path, files: Files) -> None:
    said = cli("evaluate", study, "--cliques", files.cliques, "--scale", "fine")
    assert_refused(said, "--scale")


def test_damaged_parquet_among_the_answers_of_a_crowd(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    for command in ("agree", "aggregate"):
        assert_refused(cli("crowd", command, path), "answers.parquet: expected a Parquet file")


def test_metadata_with_lengths_of_time(cli: Cli, files: Files) -> None:
    path = files.folder / "metadata.parquet"
    times = pl.Series([1, 2]).cast(pl.Duration("us"))
    pl.DataFrame({"document": ["a", "b"], "artist": times}).write_parquet(path)
    said = cli("describe", files.runs, "--metadata", path)
    assert_refused(said, "metadata.parquet: expected one value in each cell of 'artist'", "Duration")


def test_a_margin_beyond_all_scores(cli: Cli, files: Files) -> None:
    said = cli("compare", files.runs, "-j", files.judgments, "--baseline", "good", "--margin", "1e308")
    assert_refused(said, "--margin is at most 1e+12, got 1e+308")


def test_many_answers_to_a_question(cli: Cli, files: Files) -> None:
    begun = time.process_time()
    assert cli("preferences", "next", files.runs, "--answers", "300").code == 0
    assert time.process_time() - begun < 5
    said = cli("preferences", "next", files.runs, "--answers", "2000000")
    assert_refused(said, "a question takes at most 1,000 answers, got 2,000,000")


@pytest.mark.parametrize("scale", ["0,1e308", "0,1e-320,1", "0,1e51"])
def test_a_scale_whose_squares_are_no_numbers(cli: Cli, files: Files, scale: str) -> None:
    said = cli("plan", files.runs, "--scale", scale, "--repeats", "1")
    assert_refused(said, "gains above 0 are from 1e-50 to 1e+50, got ")


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1 < 2, 2), }",
        b"{'desrX: '<f8', 'Dortr-n_order': False,'shap': (1, u)E",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3000000000, 3000000000), }",
        b"{'descr': [], 'fortran_order': False, 'shape': (2, 2), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': ('a', 2), }",
    ],
)
def test_arrays_with_damaged_headers(cli: Cli, files: Files, header: bytes) -> None:
    path, ids = files.folder / "m.npy", files.folder / "m.ids.txt"
    ids.write_text("a\nb\n")
    head = header.ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(32))
    for command in (
        ("runs", "from-matrix", path, "--ids", ids, "-k", "1"),
        ("rank", files.runs, "--scale", "broad", "--content", path),
    ):
        said = cli(*command)
        assert_refused(said, "m.npy: expected ")
        assert "0x" not in said.err


def test_a_library_that_panics_about_a_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("range end index 4290 out of range for slice of length 2771")

    path = tmp_path / "answers.parquet"
    pl.DataFrame({"query": ["q"], "document": ["d"], "gain": [1]}).write_parquet(path)
    monkeypatch.setattr("polars.read_parquet", panics)
    said = cli("crowd", "agree", path)
    assert_refused(said, "answers.parquet: expected a Parquet file, got a damaged one")


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal"])
@pytest.mark.parametrize("value", ["null", "3", "[]", '"x"'])
def test_a_model_that_is_no_object(cli: Cli, files: Files, predictor: str, value: str) -> None:
    model = files.folder / "model.json"
    model.write_text(value)
    said = cli("rank", files.runs, "-j", files.judgments, "--predictor", predictor, "--model", model)
    assert_refused(said, "model.json: expected ")
    assert not any(name in said.err for name in ("NoneType", "got int", "a list", "a str"))
