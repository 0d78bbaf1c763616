"""Results over time: a file of JSON lines, one for every run of a command, to which runs append.

A record says when it was made, by which version and command, and what came out::

    {"earmark_history": 1, "time": "2026-05-04T03:00:12+00:00", "version": "0.1.0", "command": "earmark evaluate …",
     "options": {…}, "scores": [{"system", "measure", "value", "low", "high"}, …], "results": […], "notes": […],
     "passed": null}

**Appending** is one write at the end of a file that is locked meanwhile, so that two processes never mix their lines,
and what could not be written whole is taken back. A line that was torn all the same, by a crash or a full disk, is the
last one and has no end; the next run removes it and says so. It does this only in a file that begins with a record of
earmark: whatever else the file is, it is left alone and refused.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from earmark._version import __version__
from earmark.errors import InputError

FORMAT = 1
_MARK = "earmark_history"
_START = f'{{"{_MARK}":'.encode()


@dataclass(frozen=True)
class Record:
    """What one run of a command found.

    Parameters
    ----------
    command : str
        The command line.
    scores : list of dict
        ``system``, ``measure``, ``value`` and, where they are known, ``low`` and ``high``.
    options : dict
        The options that were given.
    results : list of dict
        The rows of the command.
    notes : list of str
    passed : bool, optional
        How a check ended, if there was one.
    time : datetime
        With its time zone.
    version : str
        Of earmark.
    """

    command: str
    scores: list[dict[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    passed: bool | None = None
    time: datetime = field(default_factory=lambda: datetime.now(UTC))
    version: str = __version__

    def line(self) -> bytes:
        """Return the record as a line of the file."""
        said = {_MARK: FORMAT, "time": self.time.isoformat(timespec="seconds"), "version": self.version}
        said |= {"command": self.command, "options": dict(self.options), "scores": self.scores}
        said |= {"results": self.results, "notes": self.notes, "passed": self.passed}
        text = json.dumps(_finite(said), ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
        return text.encode() + b"\n"


def append_record(path: Path, record: Record) -> int:
    """Append a record to a file, which is made if it is not there.

    Returns
    -------
    int
        How many bytes of a torn last line were removed; 0 as a rule.

    Raises
    ------
    InputError
        If the file is no history, or cannot be written.
    """
    line = record.line()
    with _locked(path) as file:
        removed = _heal(file, path)
        end = os.lseek(file, 0, os.SEEK_END)
        try:
            written = 0
            while written < len(line):
                written += os.write(file, line[written:])
            os.fsync(file)
        except OSError as error:
            os.ftruncate(file, end)
            raise InputError(expected="room for another record", got=str(error.strerror), path=path) from None
    return removed


def read_history(path: Path) -> list[Record]:
    """Read the records of a file, oldest first; a torn last line is left out.

    Raises
    ------
    InputError
        If a line is no record, or there is none.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(expected="a history of results", got=str(error.strerror), path=path) from None
    # What follows the last end of a line is nothing, or torn.
    records = [_read(line, path, number) for number, line in enumerate(lines[:-1], start=1) if line.strip()]
    if not records:
        raise InputError(
            expected="a history of results", got="no record", path=path, hint="commands add to it with --append FILE"
        )
    return sorted(records, key=lambda record: record.time)


def _read(line: bytes, path: Path, number: int) -> Record:
    try:
        said = json.loads(line)
        made_by, time = said[_MARK], datetime.fromisoformat(said["time"])
        names = ("command", "scores", "options", "results", "notes", "passed", "version")
        record = Record(**{name: said[name] for name in names}, time=time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, KeyError, TypeError):
        shown = line[:40].decode(errors="replace")
        raise InputError(expected="a record as --append writes it", got=f"'{shown}'", path=path, line=number) from None
    if made_by > FORMAT:
        hint = "a newer earmark wrote it"
        raise InputError(expected=f"records of format {FORMAT}", got=str(made_by), path=path, line=number, hint=hint)
    return record


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open a file for appending, and keep other processes of earmark from doing so meanwhile."""
    if not path.parent.is_dir():
        raise InputError(expected="an existing folder to write to", got=f"'{path.parent}'", path=path)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None
    try:
        # Where there are no such locks (Windows), one write at the end of the file has to do.
        try:
            import fcntl
        except ImportError:
            yield file
        else:
            # Closing the file gives the lock back.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
    finally:
        os.close(file)


def _heal(file: int, path: Path) -> int:
    """Refuse a file that is no history; remove a last line without an end, and return how long it was."""
    size = os.lseek(file, 0, os.SEEK_END)
    if size == 0:
        return 0
    os.lseek(file, 0, os.SEEK_SET)
    start = os.read(file, len(_START))
    if start != _START[: len(start)] or (len(start) < len(_START) and size > len(start)):
        shown = start.decode(errors="replace")
        raise InputError(
            expected="a history of results, or a new file", got=f"a file that begins with '{shown}'", path=path
        )
    end = _last_end(file, size)
    if end < size:
        os.ftruncate(file, end)
    return size - end


def _last_end(file: int, size: int, block: int = 1 << 16) -> int:
    """Return the place after the last end of a line, looked for from the end of the file."""
    stop = size
    while stop > 0:
        start = max(stop - block, 0)
        os.lseek(file, start, os.SEEK_SET)
        found = os.read(file, stop - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        stop = start
    return 0


def _finite(value: Any) -> Any:
    """Put null in the place of numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
