"""A network that can be cut: a proxy on the loopback address that stops forwarding when it is told to.

Nothing is closed by a cut and nothing is refused: connections stay open and new ones are accepted by the operating
system, as where a firewall in between drops what it should forward.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Network:
    """Forwards connections to a server, in a thread with an event loop of its own, until it is cut.

    Parameters
    ----------
    open_server : callable
        Returns a coroutine that connects to the server: ``lambda: asyncio.open_unix_connection(path)``.
    """

    def __init__(self, open_server: Callable[[], Coroutine[Any, Any, Streams]]) -> None:
        self._open_server = open_server
        self._loop = asyncio.new_event_loop()
        self._whole = asyncio.Event()
        self._whole.set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._thread.start()
        self.port = self._call(self._listen())

    def cut(self) -> None:
        """Forward nothing any more."""
        self._loop.call_soon_threadsafe(self._whole.clear)

    def mend(self) -> None:
        """Forward what has come meanwhile, and everything from then on."""
        self._loop.call_soon_threadsafe(self._whole.set)

    def close(self) -> None:
        """End all connections."""
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(20)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        with suppress(OSError, asyncio.CancelledError):
            there, back = await self._open_server()
            await asyncio.gather(self._copy(reader, back), self._copy(there, writer), return_exceptions=True)
        writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
        finally:
            await self._whole.wait()
            # The other side hears of the end too.
            writer.close()
