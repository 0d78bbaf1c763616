"""Files are written whole or not at all, alone and in groups, and nothing else is harmed."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from earmark.data import outputs
from earmark.data.content import Content, write_content
from earmark.data.outputs import TEMPORARY, check_output, discard_unfinished, make_folder, replacing, together
from earmark.errors import InputError

NOBODY = 65534


@pytest.fixture
def folder_of_a_user() -> Iterator[Path]:
    """A folder of somebody who is not root, who may write anywhere; the test runs as that user."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root:
        # The saved user stays root, so that the test can become root again.
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        if is_root:
            os.setresuid(0, 0, 0)


def write(path: Path, text: str = "new") -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def write_all(texts: dict[Path, str]) -> None:
    with together():
        for path, text in texts.items():
            write(path, text)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---- one file --------------------------------------------------------------------------------------------------------


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "runs.tsv.gz"
    seen = set()
    for _ in range(3):
        with replacing(target) as temporary:
            seen.add(temporary)
            assert temporary.parent == tmp_path
            assert temporary.name.startswith(TEMPORARY)
            assert temporary.name.endswith("-runs.tsv.gz")
            temporary.write_text("new")
    assert len(seen) == 3
    assert names(tmp_path) == {"runs.tsv.gz"}


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("old")

    def fail(error: type[BaseException]) -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
    assert names(tmp_path) == {"x"}
    assert target.read_text() == "old"


def test_a_name_that_somebody_took_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link under the name of the temporary file would lead the output elsewhere."""
    drawn = iter(["first", "second"])
    monkeypatch.setattr(outputs.secrets, "token_hex", lambda _: next(drawn))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f"{TEMPORARY}first-x").symlink_to(victim)
    write(tmp_path / "x")
    assert victim.read_text() == "mine"
    assert (tmp_path / "x").read_text() == "new"


def test_names_as_long_as_a_disk_allows(tmp_path: Path) -> None:
    target = tmp_path / ("ä" * 120 + ".csv")
    write(target)
    assert names(tmp_path) == {target.name}


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_that_the_mask_allows(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        write(tmp_path / "x")
    assert mode(tmp_path / "x") == 0o666 & ~mask


@pytest.mark.parametrize("before", [0o600, 0o640, 0o664, 0o755])
def test_permissions_of_a_file_that_is_replaced_stay(tmp_path: Path, before: int) -> None:
    target = tmp_path / "x"
    target.write_text("old")
    target.chmod(before)
    with replacing(target) as temporary:
        # Nobody reads meanwhile what nobody was to read before.
        assert mode(temporary) == 0o600
        temporary.write_text("new")
    assert (target.read_text(), mode(target)) == ("new", before)


def test_what_is_private_is_so_whatever_was_there(tmp_path: Path) -> None:
    target = tmp_path / "x"
    for _ in range(2):
        with replacing(target, private=True) as temporary:
            temporary.write_text("names")
        assert mode(target) == 0o600
        target.chmod(0o644)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("old")
    os.chown(target, 12345, 12346)
    write(target)
    assert (target.stat().st_uid, target.stat().st_gid) == (12345, 12346)


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "x.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    for _ in range(2):
        # The first time, the link leads to a file that is not there yet.
        write(link)
        assert link.is_symlink()
        assert target.read_text() == "new"
        target.write_text("old")
    assert names(tmp_path / "there") == {"x.csv"}
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    lost = tmp_path / "lost"
    lost.symlink_to(tmp_path / "no" / "x")
    for path in (loop, lost):
        with pytest.raises(InputError, match=path.name):
            write(path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "nowhere"])
def test_what_is_no_file_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = {"device": Path(os.devnull), "nowhere": tmp_path / "no" / "x"}.get(kind, tmp_path / kind)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(InputError, match=re.escape(str(path))):
        check_output(path)
    with pytest.raises(InputError, match=re.escape(str(path))):
        write(path)
    assert Path(os.devnull).is_char_device()


def test_what_is_protected_is_left_alone(folder_of_a_user: Path) -> None:
    target = folder_of_a_user / "x"
    target.write_text("old")
    target.chmod(0o444)
    with pytest.raises(InputError, match=r"Permission denied.*protected against writing"):
        write(target)
    assert target.read_text() == "old"


def test_a_full_disk_is_reported_with_the_file(tmp_path: Path) -> None:
    target = tmp_path / "x"
    said = f"{target}: expected a file that can be written, got No space left"
    # What a write says has no name; what reading another file says has, and is told as it is.
    with pytest.raises(InputError, match=said), replacing(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError, match="other"), replacing(target):
        (tmp_path / "other").read_text()
    assert not names(tmp_path)


def test_an_end_that_cannot_wait_leaves_nothing(tmp_path: Path) -> None:
    with together(), suppress(KeyError), replacing(tmp_path / "x") as one, replacing(tmp_path / "y") as two:
        assert names(tmp_path) == {one.name, two.name}
        discard_unfinished()
        assert not names(tmp_path)
        raise KeyError


# ---- several files ---------------------------------------------------------------------------------------------------


def test_a_group_appears_together(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old")
    with together():
        write(tmp_path / "a")
        with together():
            write(tmp_path / "b")
        assert (tmp_path / "b").read_text() == "old"
        assert not (tmp_path / "a").exists()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


def test_a_group_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old")

    def fail() -> None:
        with together():
            make_folder(tmp_path / "made" / "inside")
            write(tmp_path / "made" / "inside" / "a")
            write(tmp_path / "b")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "old"}


@pytest.mark.parametrize("fails_at", range(4))
@pytest.mark.parametrize("links", [True, False])
def test_a_group_whose_nth_file_cannot_be_moved_is_put_back(
    tmp_path: Path, fails_at: int, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").write_text("old b")
    (tmp_path / "b").chmod(0o640)
    (tmp_path / "d").write_text("old d")
    moved, real = [], Path.replace

    def replace(self: Path, target: Path) -> Path:
        if self.read_text() == "new":
            moved.append(target)
            if len(moved) == fails_at + 1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self), None, str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_: (_ for _ in ()).throw(PermissionError("no links")))
    said = f"{'abcd'[fails_at]}: expected a file that can be written, got No space"
    with pytest.raises(InputError, match=said):
        write_all({tmp_path / name: "new" for name in "abcd"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "old b", "d": "old d"}
    assert mode(tmp_path / "b") == 0o640


def test_content_and_its_ids_appear_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(InputError, match=r"c\.npy: expected a file that can be written, got No space left"):
        write_content(Content(("a", "b"), np.eye(2)), tmp_path / "c.npy")
    assert not names(tmp_path)


# ---- a real disk that is full ----------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs root and CAP_SYS_ADMIN")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet"])
def test_content_on_a_full_disk(small_disk: Path, ending: str) -> None:
    values = np.random.default_rng(0).normal(size=(5000, 8))
    content = Content(tuple(f"d{number}" for number in range(5000)), values)
    with pytest.raises(InputError, match=f"c.{ending}: expected a file that can be written, got .*[Nn]o space left"):
        write_content(content, small_disk / f"c.{ending}")
    assert not names(small_disk)


def test_a_group_on_a_full_disk(small_disk: Path) -> None:
    (small_disk / "a").write_text("old")
    with pytest.raises(InputError, match=r"b: expected a file that can be written, got No space left"):
        write_all({small_disk / "a": "x" * 1000, small_disk / "b": "x" * 100_000})
    assert {path.name: path.read_text() for path in small_disk.iterdir()} == {"a": "old"}


def test_sounds_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    from earmark.crowd.clips import cut_clips

    for name, seconds in (("a", 0.5), ("b", 30)):
        noise = np.random.default_rng(0).uniform(-1, 1, size=int(8000 * seconds))
        soundfile.write(tmp_path / f"{name}.wav", noise, 8000)
    with pytest.raises(InputError, match=r"small/b\.wav: expected a clip that can be written"):
        cut_clips([tmp_path / "a.wav", tmp_path / "b.wav"], small_disk)
    assert not names(small_disk)


def test_frames_are_read_whole(tmp_path: Path) -> None:
    with replacing(tmp_path / "x.parquet") as temporary:
        pl.DataFrame({"a": [1]}).write_parquet(temporary)
    assert pl.read_parquet(tmp_path / "x.parquet").rows() == [(1,)]
