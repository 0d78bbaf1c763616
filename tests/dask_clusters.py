"""A real Dask cluster on this machine: a scheduler and workers as processes, which tests may kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

# For what hangs, not for what is slow on a busy machine.
PATIENCE = 240.0
_DASK = Path(sys.executable).with_name("dask")
# Workers have to find what is defined beside the tests.
_PLACES = [str(Path(__file__).parent), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Cluster:
    """A scheduler, and as many workers as are started."""

    def __init__(self) -> None:
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))

    def start_worker(self, *places: Path) -> subprocess.Popen[bytes]:
        """Start a worker with one thread, which looks for modules in these places first."""
        worker = self._start("worker", self.address, "--nthreads", "1", "--no-nanny", places=places)
        self.workers.append(worker)
        return worker

    def kill_worker(self, worker: subprocess.Popen[bytes]) -> None:
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def kill_scheduler(self) -> None:
        self._scheduler.kill()
        self._scheduler.wait()

    def close(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()

    def _start(self, *words: str, places: tuple[Path, ...] = ()) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([*map(str, places), *_PLACES])
        return subprocess.Popen(
            [_DASK, *words, "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "30s"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


class Counted:
    """Something that pieces of work share; every time it is packed or opened, a line is added to a file."""

    def __init__(self, log: Path, size: int = 2_000_000) -> None:
        self.log, self.content = log, b"x" * size

    def __getstate__(self) -> dict[str, object]:
        self._note("packed")
        return self.__dict__

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._note("opened")

    def _note(self, what: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{what} {os.getpid()}\n")


def size_of(shared: Counted, number: int) -> list[tuple[int, int, int]]:
    """A piece of work: says who computed it."""
    return [(number, len(shared.content), os.getpid())]


def killed_once(marker: Path, number: int) -> list[int]:
    """A piece of work whose process is killed at number 3, the first time."""
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [number**2]


def always_killed(shared: None, number: int) -> list[int]:
    """A piece of work that nobody survives."""
    os.kill(os.getpid(), signal.SIGKILL)
    return [number]


def blas_threads(shared: None, number: int) -> list[int]:
    """How many threads BLAS has in a worker, at most."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return [max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")]
