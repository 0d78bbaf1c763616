"""One command line, called as the shell calls it, but in this process: its streams, its folder, its time."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from earmark.cli import main as command_line

# How much longer than its time a command may wait for others.
_WAITING = 4


@dataclass(frozen=True)
class Called:
    """How a command ended.

    Parameters
    ----------
    code : int, optional
        Its exit code; None if it did not end by itself.
    out, err : str
        What it printed.
    escaped : tuple of (str, str)
        Exceptions, warnings and hangs: the kind of each, and where it came from.
    """

    code: int | None
    out: str
    err: str
    escaped: tuple[tuple[str, str], ...]


class OutOfTime(BaseException):
    """A command that does not end; no handler of errors may take it for one."""


def call(line: Sequence[str], folder: Path, *, seconds: float) -> Called:
    """Run a command in a folder, for at most so many seconds of computing time."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    code: int | None = None
    escaped: list[tuple[str, str]] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with _standing_in(folder), _streams(out, err), _time_limit(seconds):
                code = command_line.main(list(line))
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
        except OutOfTime:
            escaped.append(("hang", f"no end within {seconds:g} seconds\n{traceback.format_exc(limit=-8)}"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # Panics of compiled libraries are no exceptions of the usual kind.
            escaped.append((type(error).__name__, traceback.format_exc()))
    escaped += [
        (f"warning {one.category.__name__}", f'File "{one.filename}", line {one.lineno}: {one.message}')
        for one in warned
        if not _is_of_others(one)
    ]
    return Called(code, _said(out), _said(err), tuple(escaped))


def _is_of_others(one: warnings.WarningMessage) -> bool:
    """Tell whether a warning is for those who write other libraries, and is not shown to whoever uses them."""
    if issubclass(one.category, ResourceWarning):
        # It names the line at which Python happened to collect garbage.
        return True
    return issubclass(one.category, DeprecationWarning | PendingDeprecationWarning) and "/earmark/" not in one.filename


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.detach().getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined, no-any-return]


@contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _streams(out: io.TextIOWrapper, err: io.TextIOWrapper) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End what takes more computing time than this, or waits several times as long."""
    timers = ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, seconds * _WAITING))
    before: list[Any] = [signal.signal(number, _out_of_time) for number, _, _ in timers]
    for _, timer, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for _, timer, _ in timers:
            signal.setitimer(timer, 0)
        for (number, _, _), handler in zip(timers, before, strict=True):
            signal.signal(number, handler)


def _out_of_time(number: int, frame: FrameType | None) -> NoReturn:
    raise OutOfTime
