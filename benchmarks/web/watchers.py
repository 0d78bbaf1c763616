"""Simulated organisers: each keeps a dashboard open, which asks for the state and its pictures as the page does."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx2 as httpx

from benchmarks.web.people import Record, request

STATE_EVERY, PICTURES_EVERY, STATE_AT_LEAST = 1.0, 4.0, 30.0
"""The page asks for the state and for a picture no more often than this, and for the state no less often."""


class Dashboard:
    """One window with the results of a campaign."""

    def __init__(self, address: str, secret: str, record: Record) -> None:
        self.record = record
        self.client = httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {secret}", "X-Earmark": "organiser"},
            timeout=60,
            verify=False,
            limits=httpx.Limits(max_connections=6, max_keepalive_connections=6, keepalive_expiry=20),
        )
        self.changed = asyncio.Event()
        self.drawn: dict[str, tuple[str, float]] = {}

    async def watch(self, until: float) -> None:
        """Follow the campaign until the time is over."""
        await request(self.client, self.record, "GET dashboard", "GET", "/organise")
        listening = asyncio.create_task(self._listen())
        try:
            while time.monotonic() < until:
                self.changed.clear()
                await self._show()
                await asyncio.sleep(STATE_EVERY)
                left = min(STATE_AT_LEAST, until - time.monotonic())
                if left > 0:
                    await _wait(self.changed, left)
        finally:
            if listening.done():
                self.record.errors["GET live: the stream ended"] += 1
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await self.client.aclose()

    async def _listen(self) -> None:
        async with self.client.stream("GET", "/api/organise/live", timeout=httpx.Timeout(60)) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: changed"):
                    self.record.told += 1
                    self.changed.set()

    async def _show(self) -> None:
        """Fetch the state, and the pictures that are out of date."""
        said = await request(self.client, self.record, "GET state", "GET", "/api/organise/state")
        if said is None:
            return
        state: dict[str, Any] = said.json()
        for name in state.get("figures") or []:
            version = str(state["version"] if name == "assessors" else state["estimated"])
            known, when = self.drawn.get(name, ("", 0.0))
            if known == version or time.monotonic() < when + PICTURES_EVERY:
                continue
            self.drawn[name] = version, time.monotonic()
            path = f"/organise/figures/{name}.svg"
            await request(self.client, self.record, "GET picture", "GET", path, params={"v": version})


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
