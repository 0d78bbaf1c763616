"""A folder made whole or not at all: filled beside its place as a draft, then moved there.

Whoever makes a draft holds a lock on it, which ends with the process, however that ends. A draft with something in it
that nobody holds is that of a program that was killed, and goes when another one works in the same folder.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from earmark.errors import InputError
from earmark.store.settings import NAME

_OURS = re.compile(r"\..+-\w{8}\.draft")
_PRIVATE = 0o700


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """Make a folder beside `target`, to be filled and moved there; if that fails, it is removed.

    It is on the same disk as the target, so that it can be moved in one step. Only its owner can read it, because
    answers and names are private, and nobody else can know its name beforehand and put something in its place.
    """
    made_parent = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep_drafts(target.parent)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".draft", dir=target.parent))
        try:
            with _held(draft, wait=True):
                yield draft
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except BaseException:
        if made_parent:
            with suppress(OSError):
                target.parent.rmdir()
        raise


def sweep_drafts(folder: Path) -> None:
    """Remove the drafts in a folder whose makers were killed: they hold answers and names, and nobody goes on there."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name) and _is_ours(entry):
                draft = Path(entry.path)
                with _held(draft) as is_free:
                    # Before its maker holds it, a draft is empty.
                    if is_free and any(draft.iterdir()):
                        shutil.rmtree(draft, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Tell whether it is a folder of this user that nobody else can read, as drafts are."""
    about = entry.stat(follow_symlinks=False)
    mine = not hasattr(os, "getuid") or about.st_uid == os.getuid()
    return stat.S_ISDIR(about.st_mode) and stat.S_IMODE(about.st_mode) == _PRIVATE and mine


@contextmanager
def _held(draft: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold a draft as long as this lasts; yields whether it is held, which no system without such locks allows."""
    try:
        import fcntl
    except ImportError:
        yield False
        return
    opened = os.open(draft, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            # Somebody holds it, or a file system of another machine has no locks on folders.
            yield False
        else:
            yield True
    finally:
        os.close(opened)


def move_draft(draft: Path, target: Path) -> None:
    """Move a finished draft to its place, where there may be an empty folder."""
    if target.exists():
        target.rmdir()
    draft.rename(target)


def refuse_taken(target: Path) -> None:
    """Refuse to make a campaign where there is something already."""
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        what = "a campaign" if (target / NAME).is_file() else "a file" if target.is_file() else "a folder with files"
        raise InputError(
            expected="a new folder", got=what, path=target, hint="name another folder; nothing is ever overwritten"
        )
