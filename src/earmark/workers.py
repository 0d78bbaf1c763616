"""Processes that help with long work, and never outlive whoever started them.

Every worker holds one end of a pipe whose other end is held by the process that started it, and by nobody else. When
that end is closed, the worker ends, whatever it is doing: it is closed when the work is not wanted any more, and by the
system when the process is gone, however it ended. Ctrl-C in a terminal reaches all processes of a command; workers do
not hear it, since whoever started them ends them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, TypeVar

Result = TypeVar("Result")

# How often a wait looks up, in seconds. Without it, libraries with signal handlers of their own would let it go on.
_LOOK_UP = 0.2


def work_through(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], *, jobs: int) -> Iterator[Result]:
    """Call a function with the arguments of every task, in several processes; yields what it returns, in order.

    Parameters
    ----------
    function : callable
        One that another process can import.
    tasks : iterable of tuple
        The arguments of every call.
    jobs : int
        How many processes.
    """
    # A forked child would inherit polars' threads half-asleep and wait for them forever; a fresh one has its own.
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=context, initializer=_end_with, initargs=(theirs,))
    try:
        with _without_interrupts():
            futures = [pool.submit(function, *task) for task in tasks]
        for future in futures:
            yield _result(future)
    except BaseException:
        # Nobody waits for what is being computed.
        ours.close()
        pool.shutdown(cancel_futures=True)
        raise
    finally:
        pool.shutdown()
        ours.close()
        theirs.close()


def end_with_parent() -> None:
    """End this process in good order when the one that started it is gone; only for one that multiprocessing made."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        _when_ready(parent.sentinel, lambda: os.kill(os.getpid(), signal.SIGTERM))


def _end_with(pipe: Connection) -> None:
    """End this process, whatever it is doing, when the other end of a pipe is closed."""
    _when_ready(pipe, lambda: os._exit(1))


def _when_ready(what: Any, act: Callable[[], None]) -> None:
    def watch() -> None:
        wait_for([what])
        act()

    threading.Thread(target=watch, name="earmark-watch", daemon=True).start()


def _result(future: Future[Result]) -> Result:
    while not wait([future], timeout=_LOOK_UP).done:
        pass
    return future.result()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold interrupts back while processes are started, which then hold them back for ever."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
