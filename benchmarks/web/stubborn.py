"""People whose pages do not give up: what was not acknowledged is sent again, as ``static/judge/outbox.js`` does."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx

FIRST_WAIT, LONGEST_WAIT, PATIENCE = 1.0, 20.0, 15.0
"""Seconds until the first and at most until the next attempt, and until a page gives up waiting for an answer."""


@dataclass
class Faced:
    """What people faced.

    Attributes
    ----------
    acknowledged : dict of str
        The key of every answer that the server said it has, and whose it is.
    when : list of (float, str)
        When each of them was acknowledged, and whose it is.
    refused : Counter
        Requests that failed and were sent again, by what was said.
    unclear : int
        Those of them to which the server said something else than an error with a message.
    """

    acknowledged: dict[str, str] = field(default_factory=dict)
    when: list[tuple[float, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    unclear: int = 0

    def served_again(self, since: float) -> dict[str, float]:
        """Return after how many seconds everybody had an answer acknowledged for the first time since a moment."""
        first: dict[str, float] = {}
        for moment, token in self.when:
            if moment >= since:
                first.setdefault(token, moment - since)
        return first


class Stubborn:
    """One assessor with a page that sends everything until it is acknowledged."""

    def __init__(self, address: str, token: str, faced: Faced, think: tuple[float, float], seed: int) -> None:
        self.token, self.faced, self.think = token, faced, think
        self.chance = random.Random(seed)
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE, verify=False)

    async def judge(self, ending: asyncio.Event) -> None:
        """Answer questions until the time is over, and send what is on its way."""
        async with self.client:
            await asyncio.sleep(self.chance.uniform(0, self.think[1]))
            while not ending.is_set():
                taken = await self.send("questions", {"ahead": 1})
                if not taken["questions"]:
                    await asyncio.sleep(1)
                    continue
                await asyncio.sleep(self.chance.uniform(*self.think))
                key, about = secrets.token_hex(8), taken["questions"][0]["id"]
                said = await self.send("answers", {"id": about, "key": key, "gain": self.chance.choice([0, 1, 2])})
                if said["status"] in ("saved", "known", "late", "corrected"):
                    self.faced.acknowledged[key] = self.token
                    self.faced.when.append((time.monotonic(), self.token))

    async def send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send something until the server has read it."""
        wait = FIRST_WAIT
        while True:
            try:
                said = await self.client.post(f"/api/judge/{path}", json=body)
            except httpx.HTTPError as error:
                self.faced.refused[type(error).__name__] += 1
            else:
                if said.status_code == 200:
                    found: dict[str, Any] = said.json()
                    return found
                self._note(said)
            await asyncio.sleep(wait * self.chance.uniform(0.75, 1.25))
            wait = min(LONGEST_WAIT, 2 * wait)

    def _note(self, said: httpx.Response) -> None:
        try:
            message = said.json()["error"]["message"]
        except (ValueError, KeyError, TypeError):
            self.faced.unclear += 1
            message = said.text[:60]
        self.faced.refused[f"{said.status_code} {message}"] += 1
        if said.status_code not in (429, 503):
            # A page asks again after any status of the server's own, but this one should not come.
            self.faced.unclear += 1


async def is_healthy(client: httpx.AsyncClient) -> bool:
    """Tell whether a server says that it and its store work."""
    try:
        return (await client.get("/health")).status_code == 200
    except httpx.HTTPError:
        return False
