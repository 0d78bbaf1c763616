"""A network that is cut: connections to PostgreSQL on which nothing comes any more.

A cut ends no connection. Whoever waits for an answer would wait until the network is back, and a server that waits for
its client would keep that client's locks for two hours, the default of TCP. So both sides ask by themselves whether
the other one is there (``keepalives``). That tells nothing where something between them still answers, as a proxy does
that forwards nothing; so whoever has waited for some seconds looks whether a new connection can be made, and gives up
the old one if not. Where a new one can be made, the statement takes long or waits for a lock, and is waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

SILENT = 4.0
"""After how many seconds without an answer one looks whether the server can be reached."""

REACHED_WITHIN = 4
"""Within how many seconds a server that can be reached makes a new connection."""

# Of a look that somebody else made so many seconds ago, one takes what it found.
_FRESH = 2.0

# The other side is asked after ten silent seconds, then every five, and has gone if it answers none of three.
KEEPALIVE = {"idle": 10, "interval": 5, "count": 3}
_GONE = 1000 * (KEEPALIVE["idle"] + KEEPALIVE["interval"] * KEEPALIVE["count"])

CLIENT_OPTIONS: dict[str, Any] = {f"keepalives_{name}": value for name, value in KEEPALIVE.items()}
CLIENT_OPTIONS |= {"tcp_user_timeout": _GONE, "connect_timeout": REACHED_WITHIN}
"""Options of a connection, by which this side notices that the other one has gone."""

SERVER_SETTINGS = tuple(f"SET tcp_keepalives_{name} TO {value}" for name, value in KEEPALIVE.items())
"""Statements for a new connection, by which the server notices it; sockets of Unix ignore them."""


def watched_connector() -> Callable[..., psycopg.Connection[Any]]:
    """Return what connects to PostgreSQL as ``psycopg.connect`` does, and gives up connections that a cut has left."""
    import psycopg

    look = _Looks()

    class Watched(psycopg.Connection[Any]):
        """A connection that is given up when nothing comes and the server cannot be reached."""

        reach: Callable[[], bool] = staticmethod(lambda: True)

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            # All that waits for the server waits here: statements, commits and rollbacks.
            return super().wait(self._unless_cut(gen), *arguments, **options)

        def _unless_cut(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
            """Pass on what a generator waits for, until it has waited in vain."""
            quiet_since = time.monotonic()
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    now = time.monotonic()
                    if ready:
                        quiet_since = now
                    elif now - quiet_since > SILENT:
                        if not self.reach():
                            self.pgconn.finish()
                            raise psycopg.OperationalError("connection is lost: the server does not answer")
                        quiet_since = time.monotonic()
                    wanted = gen.send(ready)
            except StopIteration as end:
                return end.value

    def connect(*arguments: Any, **options: Any) -> psycopg.Connection[Any]:
        def can_connect() -> bool:
            try:
                psycopg.connect(*arguments, **options).close()
            except psycopg.OperationalError as error:
                # A server that refuses can be reached.
                return "FATAL" in str(error)
            return True

        made = Watched.connect(*arguments, **options)
        made.reach = lambda: look(can_connect)
        return made

    return connect


class _Looks:
    """Whether the server can be reached: one look for all who wait at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found, self._when = True, float("-inf")

    def __call__(self, can_connect: Callable[[], bool]) -> bool:
        with self._lock:
            if time.monotonic() - self._when > _FRESH:
                self._found = can_connect()
                self._when = time.monotonic()
            return self._found
