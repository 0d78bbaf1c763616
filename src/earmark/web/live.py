"""Server-sent events: pages hear that something happened, and ask for what they show.

One task per process looks at the store while somebody listens, whatever the number of windows. An event carries a
version and nothing else, so what may be seen is decided in one place, where the page asks for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable

from anyio import to_thread

_log = logging.getLogger("earmark.web")

EVERY = 1.0
"""How many seconds pass between two looks at the store."""

BEAT = 15.0
"""After so many seconds without news a line is sent all the same: proxies close what is silent, and pages notice."""

LONGEST = 3600.0
"""A stream ends after so many seconds, and the page asks for another one: nothing stays open for ever."""


class Live:
    """Tells everybody who listens when a version changes.

    Parameters
    ----------
    version : callable
        Returns the version; called in a thread.
    every : float
        How many seconds pass between two looks.
    """

    def __init__(self, version: Callable[[], str], *, every: float = EVERY) -> None:
        self._version = version
        self._every = every
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._poller: asyncio.Task[None] | None = None
        self._known: str | None = None
        self._closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def close(self) -> None:
        """End all streams, so that the server can stop; has to be called in its event loop."""
        self._closed = True
        for queue in self._listeners:
            _put(queue, None)

    async def stream(self) -> AsyncIterator[str]:
        """Yield lines of ``text/event-stream``: the version now, and whenever it changes."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
        self._listeners.add(queue)
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST
        try:
            if self._poller is None or self._poller.done():
                self._known = None
                self._poller = asyncio.create_task(self._poll())
            elif self._known is not None:
                _put(queue, self._known)
            # Ask again after two seconds where the connection breaks.
            yield "retry: 2000\n\n"
            while not self._closed and loop.time() < end:
                try:
                    version = await asyncio.wait_for(queue.get(), BEAT)
                except TimeoutError:
                    yield "event: beat\ndata: {}\n\n"
                    continue
                if version is None:
                    break
                yield f"event: changed\ndata: {json.dumps({'version': version})}\n\n"
        finally:
            self._listeners.discard(queue)
            if not self._listeners and self._poller is not None:
                self._poller.cancel()
                self._poller = None

    async def _poll(self) -> None:
        while True:
            try:
                version = await to_thread.run_sync(self._version)
            except Exception as error:
                # The database is away for a moment: the page says how old its numbers are.
                _log.warning("the dashboard waits: %s", error)
            else:
                if version != self._known:
                    self._known = version
                    for queue in self._listeners:
                        _put(queue, version)
            await asyncio.sleep(self._every)


def _put(queue: asyncio.Queue[str | None], version: str | None) -> None:
    """Put a version into a queue of one place; what waits there is out of date."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(version)
