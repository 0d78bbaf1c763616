"""The files of a SQLite database: where they may be, when they cannot change, and which go if making one fails."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from earmark.errors import InputError

# Files systems of other machines: their locks do not protect SQLite's shared memory.
_REMOTE = ("nfs", "cifs", "smb", "sshfs", "afs", "ncp", "gluster", "ceph", "lustre", "beegfs", "davfs", "fuse.rclone")
_MOUNTS = Path("/proc/self/mounts")


def lock_file(path: Path, task: str) -> Path:
    """Return the file beside a database whose lock is the right to do a task."""
    return path.with_name(f".{path.name}-{hashlib.sha256(task.encode()).hexdigest()[:8]}.lock")


@contextmanager
def removed_if_empty(path: Path | None) -> Iterator[None]:
    """Remove the files of a SQLite database that were made here, if what is done here fails.

    A database that was there before stays, and so does one that holds a campaign or that another program has open.

    Parameters
    ----------
    path : Path or None
        The file of the database, which is closed when this ends; None for a database that is not a file.
    """
    before = set() if path is None else _files_of(path)
    try:
        yield
    except BaseException:
        if path is not None and path not in before and path.is_file() and _nobody_needs(path):
            for file in _files_of(path) - before:
                file.unlink(missing_ok=True)
        raise


def _files_of(path: Path) -> set[Path]:
    """Return the files there are of a database: itself, its journals and its locks."""
    beside = (path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal"))
    locks = (one for one in path.parent.glob(".*.lock") if one.name.startswith(f".{path.name}-"))
    return {one for one in (*beside, *locks) if one.exists()}


def _nobody_needs(path: Path) -> bool:
    """Tell whether a database holds no campaign, and no other program has it open."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=0)) as connection:
        # It leaves the write-ahead log for good, which is refused while others use that.
        connection.execute("PRAGMA journal_mode=DELETE")
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'earmark_campaigns'").fetchone() is None:
            return True
        return connection.execute("SELECT 1 FROM earmark_campaigns LIMIT 1").fetchone() is None
    return False


def cannot_change(path: Path) -> bool:
    """Tell whether a SQLite database lies complete where nobody of this program's rights can write."""
    fixed = not os.access(path.parent, os.W_OK)
    if not fixed and hasattr(os, "statvfs"):
        fixed = bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    return fixed and not path.with_name(f"{path.name}-wal").exists()


def refuse_remote(path: Path, mounts: Path = _MOUNTS) -> None:
    """Refuse to make a SQLite database on a network file system, where its locks do not hold.

    Raises
    ------
    InputError
        If the folder of the file is mounted from another machine.
    """
    kind = file_system(path.resolve().parent, mounts)
    if (kind is not None and kind.lower().startswith(_REMOTE)) or "sshfs" in (kind or ""):
        raise InputError(
            expected="a folder on a disk of this machine",
            got=f"a network file system ({kind})",
            path=path,
            hint="SQLite's locks do not work there, answers could be lost: use another folder, "
            "or PostgreSQL with --store postgresql://…",
        )


def file_system(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """Return the kind of file system that a folder is on, where the operating system tells."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    best, kind = -1, None
    for line in lines:
        _, where, found, *_ = line.split(" ")
        place = Path(where.replace("\\040", " "))
        if (folder == place or place in folder.parents) and len(place.parts) >= best:
            best, kind = len(place.parts), found
    return kind
