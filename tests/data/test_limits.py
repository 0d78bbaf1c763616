"""Files that do not fit in memory are refused before they fill it."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from pathlib import Path

import pytest

from earmark.data import limits
from earmark.data.files import read_bytes
from earmark.data.matrices import read_matrix
from earmark.data.readers import read_judgments, read_runs
from earmark.errors import InputError, ParameterError

LINE = b"q Q0 d%07d 1 1.0 tag\n"


def bomb(size: int, line: bytes = b"q Q0 d 1 1.0 tag\n") -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = line * 10_000
    parts = [packer.compress(block) for _ in range(size // len(block) + 1)]
    return b"".join(parts) + packer.flush()


def test_a_file_that_unpacks_to_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(bomb(30_000_000))
    assert path.stat().st_size < 300_000
    monkeypatch.setenv(limits.VARIABLE, "1000000")
    with pytest.raises(InputError, match=r"run.gz: expected a file of at most 1.0 MB, unpacked, got more") as caught:
        read_runs(path)
    assert "EARMARK_MAX_BYTES sets another limit" in (caught.value.hint or "")


@pytest.mark.parametrize("line", [b"x", b"1 2 3\n"])
def test_one_endless_line_and_endless_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(bomb(5_000_000, line))
    monkeypatch.setenv(limits.VARIABLE, "100000")
    for read in (read_runs, read_judgments, lambda path: read_matrix(path, ids=None)):
        with pytest.raises(InputError, match=r"at most 0.1 MB|one of more than 100,000 characters|ids"):
            read(path)


def test_the_limit_holds_for_plain_files_and_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"q\ta\t1\n"
    plain, packed = tmp_path / "j.tsv", tmp_path / "j.tsv.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    monkeypatch.setenv(limits.VARIABLE, str(len(data)))
    assert read_bytes(plain) == data
    monkeypatch.setenv(limits.VARIABLE, str(len(data) - 1))
    with pytest.raises(InputError, match="at most 5 bytes, unpacked"):
        read_bytes(plain)
    monkeypatch.setenv(limits.VARIABLE, "100")
    assert read_bytes(packed) == data


def test_members_and_zeros_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.gz"
    whole = gzip.compress(b"one\n") + gzip.compress(b"two\n")
    path.write_bytes(whole + b"\0" * 9)
    assert read_bytes(path) == b"one\ntwo\n"
    monkeypatch.setenv(limits.VARIABLE, "60")
    path.write_bytes(gzip.compress(b"a" * 40) + gzip.compress(b"a" * 40))
    with pytest.raises(InputError, match="at most 60 bytes"):
        read_bytes(path)
    monkeypatch.delenv(limits.VARIABLE)
    for broken in (whole[:-3], whole + b"more", whole[:-6] + b"\0\1\2\3\4\5"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="expected a readable file"):
            read_bytes(path)


@pytest.mark.parametrize("value", ["0", "-1", "1e9", "lots", "²"])
def test_a_limit_that_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(limits.VARIABLE, value)
    with pytest.raises(ParameterError, match="EARMARK_MAX_BYTES is a whole number of bytes above 0"):
        limits.max_bytes()


def test_how_much_memory_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    info, group = tmp_path / "meminfo", tmp_path / "group"
    group.mkdir()
    info.write_text("MemTotal: 9 kB\nMemAvailable:  3000 kB\n")
    monkeypatch.setattr(limits, "_MEMINFO", info)
    monkeypatch.setattr(limits, "_GROUP", group)
    assert limits.max_bytes() == 1_024_000
    (group / "memory.current").write_text("400\n")
    (group / "memory.max").write_text("max\n")
    assert limits.available_memory() == 3_072_000
    (group / "memory.max").write_text("1000\n")
    assert (limits.available_memory(), limits.max_bytes()) == (600, 200)
    info.unlink()
    (group / "memory.max").unlink()
    assert limits.available_memory() > 1 << 20


def test_what_unpacks_to_too_much_is_counted_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a" * 10) + bomb(200_000_000))
    monkeypatch.setenv(limits.VARIABLE, "150000000")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"at most 0.1 GB|at most 0.2 GB"):
            read_bytes(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
