"""A folder made whole or not at all: filled beside its place as a draft, then moved there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from earmark.errors import InputError
from earmark.store.settings import NAME


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """Make a folder beside `target`, to be filled and moved there; if that fails, it is removed.

    It is on the same disk as the target, so that it can be moved in one step. Only its owner can read it, because
    answers and names are private, and nobody else can know its name beforehand and put something in its place.
    """
    made_parent = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".draft", dir=target.parent))
        try:
            yield draft
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except BaseException:
        if made_parent:
            with suppress(OSError):
                target.parent.rmdir()
        raise


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
