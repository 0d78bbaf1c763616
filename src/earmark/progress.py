"""How far a long computation is, for whoever watches it.

Computations that take long on large collections go through :func:`track`. It costs next to nothing while nobody
watches; a command that shows a bar says so with :func:`watched`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Watcher = Callable[[str, int, int], None]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
# What has fewer steps is over before anybody could look.
_FEW_STEPS = 10


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with the name of a computation, how many of its steps are done, and of how many."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def track(steps: Sequence[T], task: str) -> Iterator[T]:
    """Go through the steps of a computation, and tell whoever watches.

    Parameters
    ----------
    steps : sequence
    task : str
        What is done, for people: ``"covariances of scores"``.
    """
    watcher = _watcher.get()
    if watcher is None or len(steps) < _FEW_STEPS:
        yield from steps
        return
    for done, step in enumerate(steps):
        watcher(task, done, len(steps))
        yield step
    watcher(task, len(steps), len(steps))
