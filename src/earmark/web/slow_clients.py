"""Connections that send the head of a request too slowly are closed: each would take a place until its client ends it.

uvicorn ends connections that are idle between two requests, and waits for ever within the head of one. Bodies have a
time limit of their own (:mod:`earmark.web.responses`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SLOWEST_HEAD = 15.0
"""For how many seconds the head of a request may be on its way."""


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol of HTTP, which waits for the head of a request for a limited time."""

    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in a piece; where a head has begun and is not complete, wait for the rest of it."""
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()
        elif self._giving_up is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._giving_up = self.loop.call_later(SLOWEST_HEAD, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        if not self._is_answering() and not self.transport.is_closing():
            self.transport.close()
