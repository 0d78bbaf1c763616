"""What a command reads must not be what it writes.

A command names its inputs and outputs before it starts (:func:`guarding`). From then on, reading a file that is to be
written is refused, so that a file which nobody named but which is read all the same (the ids beside a matrix, a table
that a configuration names) is found before anything is written; and so is writing a file that was named as an input.
Without a guard nothing is refused: in Python, whoever calls decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from earmark.errors import InputError

AnyPath = str | os.PathLike[str]
Key = str | tuple[int, int]

ELSEWHERE = "write to another file"


@dataclass(frozen=True)
class _Guard:
    outputs: Mapping[Key, str]
    inputs: Mapping[Key, str]


_guard: ContextVar[_Guard | None] = ContextVar("guard", default=None)


def keys_of(path: AnyPath) -> list[Key]:
    """Return what a file is known by: its path without links and, where it exists, its number on its disk."""
    keys: list[Key] = [os.path.realpath(path)]
    try:
        found = os.stat(path)  # noqa: PTH116 - no Path is made for each of many recordings
    except OSError:
        return keys
    return [*keys, (found.st_dev, found.st_ino)]


def keyed(paths: Iterable[tuple[str, AnyPath]]) -> dict[Key, str]:
    """Return what every key of the paths is called; the first name of a file counts."""
    keys: dict[Key, str] = {}
    for label, path in paths:
        for key in keys_of(path):
            keys.setdefault(key, label)
    return keys


@contextmanager
def guarding(inputs: Mapping[Key, str], outputs: Mapping[Key, str]) -> Iterator[None]:
    """Refuse, while this lasts, to read the outputs and to write the inputs; both by key, with what they are called."""
    token = _guard.set(_Guard(outputs, inputs))
    try:
        yield
    finally:
        _guard.reset(token)


def refuse_output(path: AnyPath) -> None:
    """Refuse to read a file that is to be written."""
    guard = _guard.get()
    if guard is not None and guard.outputs:
        for key in keys_of(path):
            if key in guard.outputs:
                got = f"the file that {guard.outputs[key]} writes to"
                raise InputError(expected="a file that is only read", got=got, path=path, hint=ELSEWHERE)


def refuse_input(path: AnyPath) -> None:
    """Refuse to write a file that was named as an input."""
    guard = _guard.get()
    if guard is not None and guard.inputs:
        for key in keys_of(path):
            if key in guard.inputs:
                raise input_error(path, guard.inputs[key])


def input_error(path: AnyPath, label: str) -> InputError:
    """Return the error for an output that is an input."""
    got = f"an input: the file of {label}"
    return InputError(expected="a file to write to", got=got, path=path, hint=ELSEWHERE)
