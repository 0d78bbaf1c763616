"""What a reader of files has to say about them, for whoever listens.

A file may leave a choice that is made for its user, who should know: which of two columns names the queries, say. A
command listens with :func:`listening` and prints a note; in a Python program a remark is a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class FileWarning(UserWarning):
    """A file could be read in more than one way."""


def _warn(text: str) -> None:
    warnings.warn(text, FileWarning, stacklevel=3)


_listener: ContextVar[Callable[[str], None]] = ContextVar("listener", default=_warn)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with every remark."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def remark(text: str) -> None:
    """Say something about a file."""
    _listener.get()(text)
