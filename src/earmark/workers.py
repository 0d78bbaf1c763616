"""Long work in pieces: in this process, in several processes of this machine, or on a Dask cluster.

Every piece is a call of the same function with what all of them share and with arguments of its own. joblib distributes
them to processes, Dask to the workers of a cluster (:mod:`earmark.cluster`). Wherever they are computed:

- *What is shared is sent once*, as one array of bytes. joblib maps it into the memory of all processes, Dask hands it
  to every worker; a call carries the arguments of its piece alone. A worker makes it an object when its first call
  arrives.
- *The results do not depend on who computes them*, nor on how many do. They come in the order of the pieces, and BLAS
  works with one thread everywhere: sums of several threads differ in their last bits.
- *A worker that dies takes nothing with it.* Its pieces are computed again.
- *No process outlives whoever started it.* Every worker process holds one end of a pipe whose other end is held by the
  process that started it, and by nobody else. When that end is closed, the worker ends, whatever it is doing: it is
  closed when the work is not wanted any more, and by the system when the process is gone, however it ended. Ctrl-C in a
  terminal reaches all processes of a command; workers do not hear it, since whoever started them ends them.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, TypeVar

from earmark._version import __version__
from earmark.cluster import Compute, compare_versions, connected
from earmark.errors import EarmarkError, MissingLibraryError, ParameterError

Result = TypeVar("Result")

BEFORE_HELP = 2.0
"""For how many seconds work goes on in one process before others are started, unless a number of processes is given."""

# How often workers may die one after the other without a piece being finished.
_MOST_LOSSES = 3

# Of every thread that computes pieces: which work it is at, and what its pieces share.
_opened: dict[int, tuple[str, Any]] = {}


def work_through(
    function: Callable[..., Iterable[Result]],
    shared: Any,
    tasks: Iterable[tuple[Any, ...]],
    *,
    jobs: int | None = None,
    cluster: str | None = None,
) -> Iterator[Result]:
    """Call a function for every task, on several processors at once; yields what it yields, in the order of the tasks.

    Parameters
    ----------
    function : callable
        Called with `shared` and the arguments of a task, returns an iterable. Other processes import it by its name.
    shared : object
        What all calls need: sent to every process once.
    tasks : iterable of tuple
        The arguments of every call.
    jobs : int, optional
        How many processes to use; 1 is this one. By default all cores, once the work has gone on for `BEFORE_HELP`
        seconds: short work is done before other processes have started.
    cluster : str, optional
        The address of the scheduler of a Dask cluster, ``tcp://host:port``, whose workers do it all; `jobs` does not
        matter then.

    Raises
    ------
    MissingLibraryError
        If several processes need joblib, or a cluster Dask, and it is not installed.
    ClusterError
        If the cluster cannot be reached, or its workers cannot do the work.
    """
    if jobs is not None and jobs < 1:
        raise ParameterError(f"expected 1 process or more, got {jobs}")
    left = list(tasks)
    if cluster is None:
        until = time.monotonic() + (BEFORE_HELP if jobs is None else 0.0)
        alone = jobs == 1 or (jobs is None and _cores() == 1)
        with _one_blas_thread():
            while left and (alone or len(left) == 1 or time.monotonic() < until):
                yield from function(shared, *left.pop(0))
    if left:
        yield from _with_help(function, shared, left, jobs=jobs or _cores(), cluster=cluster)


def _with_help(
    function: Callable[..., Iterable[Result]],
    shared: Any,
    tasks: Sequence[tuple[Any, ...]],
    *,
    jobs: int,
    cluster: str | None,
) -> Iterator[Result]:
    import numpy as np

    # Predictors that somebody wrote in a notebook travel too, which pickle alone does not manage.
    packed = np.frombuffer(_load("cloudpickle").dumps(shared), dtype=np.uint8)
    work = uuid.uuid4().hex
    call = partial(_work, __version__, work, function)
    done = losses = 0
    while done < len(tasks):
        before = done
        helpers = _processes(jobs) if cluster is None else connected(cluster, partial(_forget, work))
        try:
            with helpers as compute, closing(compute(call, packed, tasks[done:])) as results:
                for found in results:
                    done += 1
                    yield from found
        except (BrokenExecutor, CancelledError):
            # A process was killed, or everybody on the cluster who had what is shared: once more, with what is left.
            losses = losses + 1 if done == before else 0
            if losses == _MOST_LOSSES:
                raise EarmarkError(
                    f"workers died {losses} times at the same work: there may be too little memory for so many"
                ) from None


def _work(
    version: str, work: str, function: Callable[..., Iterable[Result]], packed: Any, task: tuple[Any, ...]
) -> list[Result]:
    """Compute one piece, in a worker."""
    compare_versions({"earmark": version}, {"earmark": __version__}, "a worker")
    thread = threading.get_ident()
    if thread not in _opened or _opened[thread][0] != work:
        # A thread has what is shared for itself: nobody promises that two may use it at once.
        _opened[thread] = work, pickle.loads(packed)
        _limit_blas()
    return list(function(_opened[thread][1], *task))


def _forget(work: str) -> None:
    """Drop what pieces share, when they are all computed."""
    for thread in [thread for thread, (name, _) in _opened.items() if name == work]:
        del _opened[thread]


def _load(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingLibraryError(f"several processes need {name}: pip install 'earmark[cluster]'") from None


def _cores() -> int:
    """Return how many processors there are to use; where something is missing, the one in use."""
    if find_spec("joblib") is None or find_spec("cloudpickle") is None:
        return 1
    return int(_load("joblib").cpu_count())


# ---- processes of this machine ---------------------------------------------------------------------------------------


@contextmanager
def _processes(jobs: int) -> Iterator[Compute]:
    """Keep processes for a while; yields what lets them compute."""
    joblib = _load("joblib")
    from joblib.externals.loky import get_reusable_executor

    theirs, ours = multiprocessing.Pipe(duplex=False)

    def compute(call: Callable[..., Any], packed: Any, tasks: Sequence[Any]) -> Generator[Any, None, None]:
        # Processes are fresh ones: a forked child would wait for ever for polars' threads, which it does not have.
        with joblib.parallel_config("loky", inner_max_num_threads=1, initializer=_end_with, initargs=(theirs,)):
            # Arrays of any size are mapped into memory, not copied into every call.
            parallel = joblib.Parallel(jobs, return_as="generator", batch_size=1, max_nbytes=1)
        with _without_interrupts():
            results = parallel([joblib.delayed(call)(packed, task) for task in tasks])
        with closing(results):
            yield from results

    # A process that needs much more memory than at first is replaced, and after an interrupt calls are given up at any
    # moment: nothing to warn about.
    given_up = r"\d+ tasks (have been successfully|which were still)"
    for meant in ("A worker stopped while some jobs were given", given_up):
        warnings.filterwarnings("ignore", message=meant, category=UserWarning)
    try:
        yield compute
        # joblib would keep them for the next work, and with them what this one shared.
        get_reusable_executor().shutdown(wait=True)
    finally:
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


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold interrupts back while processes are started, which then hold them back for ever."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python starts this process together with the first worker, and lets interrupts through afterwards.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- one thread ------------------------------------------------------------------------------------------------------


def _one_blas_thread() -> AbstractContextManager[Any]:
    """Let BLAS work with one thread for a while, where there is a way to tell it."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    # Only what is loaded can be told, and scipy has a BLAS of its own.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _limit_blas() -> None:
    """Let BLAS work with one thread in this process from now on: a thread that sets it back would do so for others."""
    _one_blas_thread()
