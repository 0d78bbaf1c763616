"""The errors earmark raises, all of them under :class:`EarmarkError`.

An error is part of the interface: it says where the trouble is, what was expected, what was found and,
where one helps, what to do. The command line prints it on one line and exits with 2.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any


class EarmarkError(Exception):
    """Everything that earmark raises on purpose."""


class InputError(EarmarkError):
    """Something a person gave us cannot be used as it is.

    Parameters
    ----------
    expected, got : str
        What should have been there, and what was.
    path : path-like, optional
        The file, where the input came from one.
    line : int, optional
        The line in that file, counted from 1.
    hint : str, optional
        What the person could do about it.
    """

    def __init__(
        self,
        *,
        expected: str,
        got: str,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.expected = expected
        self.got = got
        self.hint = hint
        where = ":".join(str(part) for part in (self.path, line) if part is not None)
        message = f"{where}: " if where else ""
        message += f"expected {expected}, got {got}"
        super().__init__(f"{message} ({hint})" if hint else message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes whole, though arguments that have names cannot be passed by position."""
        remake = partial(
            InputError, expected=self.expected, got=self.got, path=self.path, line=self.line, hint=self.hint
        )
        return remake, ()


class ParameterError(EarmarkError, ValueError):
    """An option or argument has a value that makes no sense here."""


class UnknownCollectionSize(ParameterError):  # noqa: N818 - reads as the sentence it is
    """A measure counts documents that were not retrieved, and nobody said how many there are."""


class MissingLibraryError(EarmarkError, ImportError):
    """A library that only some people need is not installed."""


class NotConverged(EarmarkError):  # noqa: N818 - reads as the sentence it is
    """An iterative method stopped before it reached an answer."""


class NumericalFailure(EarmarkError):  # noqa: N818 - reads as the sentence it is
    """Arithmetic failed: a matrix that cannot be inverted, a number too large, or one that is none."""


class StoreError(EarmarkError):
    """The store of a campaign cannot be used now: it is busy, full, read-only, unreachable or of another version."""


class ClusterError(EarmarkError):
    """A cluster cannot help: it is out of reach, has no workers, or workers of another version."""
