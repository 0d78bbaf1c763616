"""Files that are written: complete or not at all, one by one or several together.

What is written goes to a temporary neighbour first, whose name nobody can guess and which was not there before, and is
moved into place when all went well. Where the target is a link, the file that it leads to is written and the link
stays; a file that is replaced keeps its permissions and, where we may, its owner. Whatever goes wrong is an
:class:`~earmark.errors.InputError` that names the file that was asked for.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from earmark.data.claims import refuse_input
from earmark.errors import InputError

AnyPath = str | os.PathLike[str]

TEMPORARY = ".earmark-"
"""How the names of temporary neighbours start."""

_PRIVATE, _USUAL = 0o600, 0o666
# Format and compression follow the endings of a name, so the neighbour keeps them; a whole name could become too long.
_ENDING = 40
# What is on its way now, for an end that cannot wait (earmark.cli.start).
_live: set[Path] = set()


def check_output(path: AnyPath, *, follow: bool = True) -> Path:
    """Return the file that is to be written, which is where a link leads unless links are not to be followed.

    Raises
    ------
    InputError
        If it cannot be written: there is no such folder, or something else than a file that may be changed.
    """
    given = Path(path)
    with naming(path):
        if not follow and given.is_symlink():
            return given
        target = Path(os.path.realpath(given)) if given.is_symlink() else given
        if not target.parent.is_dir():
            raise InputError(expected="an existing folder to write to", got=f"'{target.parent}'", path=path)
        if target.is_dir():
            raise _unwritable(path, "Is a directory")
        if target.is_symlink():
            raise _unwritable(path, "a link that leads to itself")
        if target.exists() and not target.is_file():
            # Moved into its place, a file would replace the device itself.
            raise _unwritable(path, "a pipe or a device", hint="write to a file")
        if target.exists() and not os.access(target, os.W_OK):
            raise _unwritable(path, "Permission denied", hint="the file is protected against writing")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise _unwritable(path, "Permission denied", hint="the folder is protected against writing")
    return target


@contextmanager
def naming(path: AnyPath, *temporary: Path) -> Iterator[None]:
    """Turn what the system says about a file, or about its neighbours, into our error about the file."""
    try:
        yield
    except OSError as error:
        # A full disk is reported without any name; a name of another file is that of something read meanwhile.
        if error.filename is None or Path(os.fsdecode(error.filename)) in (Path(path), *temporary):
            # Nobody asked for the neighbour, so nobody should have to read its name.
            raise _unwritable(path, error.strerror or str(error)) from None
        raise


def _unwritable(path: AnyPath, got: str, *, hint: str | None = None) -> InputError:
    return InputError(expected="a file that can be written", got=got, path=path, hint=hint)


class _Move(NamedTuple):
    temporary: Path
    target: Path
    path: AnyPath
    private: bool

    def make(self) -> None:
        """Move the file into place, with the permissions of the one that it replaces."""
        with naming(self.path, self.temporary, self.target):
            if not self.private:
                _keep_permissions(self.temporary, self.target)
            self.temporary.replace(self.target)
            _live.discard(self.temporary)


@dataclass
class _Group:
    """Files that appear together."""

    moves: list[_Move] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def make(self) -> None:
        """Move all files into place; if one cannot be moved, put everything back."""
        if len(self.moves) == 1:
            self.moves[0].make()
            return
        before: list[tuple[Path, Path | None]] = []
        try:
            for move in self.moves:
                with naming(move.path, move.target):
                    before.append((move.target, _set_aside(move.target)))
                move.make()
        except BaseException:
            for target, kept in reversed(before):
                with suppress(OSError):
                    if kept is None:
                        target.unlink(missing_ok=True)
                    else:
                        kept.replace(target)
            raise
        finally:
            for _, kept in before:
                if kept is not None:
                    discard(kept)

    def undo(self) -> None:
        """Leave nothing behind."""
        for move in self.moves:
            discard(move.temporary)
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()


_group: ContextVar[_Group | None] = ContextVar("group", default=None)


@contextmanager
def replacing(path: AnyPath, *, private: bool = False, follow: bool = True) -> Iterator[Path]:
    """Write to a temporary neighbour and move it into place only when all went well.

    Parameters
    ----------
    path : path
        The file. Within :func:`together` it appears when all files of the group are there.
    private : bool
        Nobody else may read the file, whatever the file that it replaces allowed.
    follow : bool
        Write where a link leads. Else the link is replaced: for files of ours, at whose place nobody should have put
        a link to something else.

    Raises
    ------
    InputError
        If the file cannot be written, or a command named it as an input.
    """
    refuse_input(path)
    target = check_output(path, follow=follow)
    with naming(path, target.parent):
        temporary = neighbour(target, private=private or target.exists())
    try:
        with naming(path, temporary):
            yield temporary
        move = _Move(temporary, target, path, private)
        group = _group.get()
        if group is None:
            move.make()
        else:
            group.moves.append(move)
    except BaseException:
        discard(temporary)
        raise


@contextmanager
def together() -> Iterator[None]:
    """Let all files that are written meanwhile appear at the end, or none of them; so do folders that are made.

    A group within a group belongs to the outer one.
    """
    if _group.get() is not None:
        yield
        return
    group = _Group()
    token = _group.set(group)
    try:
        yield
        group.make()
    except BaseException:
        group.undo()
        raise
    finally:
        _group.reset(token)


def make_folder(path: AnyPath) -> Path:
    """Make a folder where there is none, and those that it is in; they go if a group fails.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    folder = Path(path)
    group = _group.get()
    missing = []
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        for one in missing:
            with suppress(OSError):
                one.rmdir()
        got = error.strerror or str(error)
        raise InputError(expected="a folder to write to", got=got, path=path) from None
    if group is not None:
        group.folders += missing
    return folder


def discard_unfinished() -> None:
    """Remove everything that is on its way, before the program ends at once."""
    for temporary in tuple(_live):
        discard(temporary)


def neighbour(target: Path, *, private: bool = False) -> Path:
    """Make an empty file beside a file, under a name that nobody can guess, and return its path.

    Its permissions are those that the user's mask allows, or the user's alone where it is to be private.
    """
    # tempfile.mkstemp knows no mask, and asking for the mask means to change it, for all threads.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        temporary = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}-{target.name[-_ENDING:]}")
        try:
            descriptor = os.open(temporary, flags, _PRIVATE if private else _USUAL)
        except FileExistsError:
            continue
        except OSError as error:
            error.filename = None
            raise
        _live.add(temporary)
        os.close(descriptor)
        return temporary


def _set_aside(target: Path) -> Path | None:
    """Keep a file that is to be replaced under another name; None where there is none."""
    if not target.exists():
        return None
    kept = neighbour(target, private=True)
    try:
        kept.unlink()
        try:
            kept.hardlink_to(target)
        except OSError:
            # Some file systems have no links.
            shutil.copy2(target, kept)
    except BaseException:
        discard(kept)
        raise
    return kept


def _keep_permissions(temporary: Path, target: Path) -> None:
    """Give a file the permissions and the owner of the one that it replaces; a link has none of its own."""
    if target.is_symlink():
        return
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    new = temporary.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(OSError, AttributeError):
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(stat.S_IMODE(old.st_mode))


def discard(temporary: Path) -> None:
    """Remove a temporary file, if it is still there."""
    with suppress(OSError):
        temporary.unlink(missing_ok=True)
    _live.discard(temporary)
