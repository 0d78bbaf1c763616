"""Simulated assessors: each does what the page does, and thinks for a while before every answer."""

from __future__ import annotations

import asyncio
import posixpath
import random
import re
import secrets
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx

RETRY, UNDO, SKIP, LEAVE = 0.04, 0.03, 0.01, 0.01
"""How often somebody sends an answer twice, takes one back, goes on without one, or leaves and comes again."""
LISTENED = 1.0
"""For how many seconds every clip has to be heard, as the campaign's settings say."""
_LEAST_WAIT = 2 * LISTENED + 0.1


@dataclass
class Record:
    """What all assessors saw.

    Attributes
    ----------
    seconds : dict of list of float
        How long every request took, by route.
    errors : Counter
        Statuses other than 200 and 206, and requests that failed, by route.
    acknowledged : dict of str
        The key of every answer that the server said it has, and whose it is.
    bytes : int
        How much was received.
    idle : int
        How often there was no question for somebody.
    told : int
        How often a dashboard was told that something happened.
    """

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, str] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    undone: int = 0
    doubled: int = 0
    idle: int = 0
    told: int = 0


async def request(
    client: httpx.AsyncClient, record: Record, route: str, method: str, path: str, **more: Any
) -> httpx.Response | None:
    """Send a request and note how long it took; returns None where it failed."""
    began = time.perf_counter()
    try:
        said = await client.request(method, path, **more)
    except httpx.HTTPError as error:
        record.errors[f"{route}: {type(error).__name__}"] += 1
        return None
    record.seconds[route].append(time.perf_counter() - began)
    record.bytes += len(said.content)
    if said.status_code not in (200, 206):
        record.errors[f"{route}: {said.status_code} {said.text[:80]}"] += 1
        return None
    return said


class Person:
    """One assessor with a browser."""

    def __init__(self, address: str, token: str, record: Record, think: tuple[float, float], seed: int) -> None:
        self.record, self.token, self.think = record, token, think
        self.chance = random.Random(seed)
        self.client = httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            verify=False,
            limits=httpx.Limits(max_connections=6, max_keepalive_connections=6, keepalive_expiry=20),
        )
        self.fetched: set[str] = set()

    async def call(self, route: str, method: str, path: str, **more: Any) -> httpx.Response | None:
        """Send a request and note how long it took; returns None where it failed."""
        return await request(self.client, self.record, route, method, path, **more)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Send what the page sends; returns None where it failed."""
        said = await self.call(f"POST {path}", "POST", f"/api/judge/{path}", json=body)
        return None if said is None else said.json()

    async def arrive(self) -> None:
        """Load the page and do what comes before the first question."""
        page = await self.call("GET page", "GET", f"/judge/{self.token}")
        if page is not None:
            await self.load_files(page.text)
        await self.call("GET session", "GET", "/api/judge/session")
        said = await self.call("GET training", "GET", "/api/judge/training")
        for question in [] if said is None else said.json()["questions"]:
            await self.fetch(question)
        for step in ("sound", "training"):
            await self.post("prepared", {"step": step})

    async def load_files(self, page: str) -> None:
        """Load the scripts and styles of the page, and the scripts that these name, as a browser does."""
        waiting, loaded = set(re.findall(r"/static/[\w./-]+", page)), set[str]()
        while waiting:
            loaded |= waiting
            found = await asyncio.gather(*(self.call("GET static", "GET", path) for path in waiting))
            named = set()
            for path, said in zip(waiting, found, strict=True):
                for one in re.findall(r"(?:from|import)\s*\(?[\"'](\.[\w./-]+)", "" if said is None else said.text):
                    named.add(posixpath.normpath(posixpath.join(posixpath.dirname(path), one)))
            waiting = named - loaded

    async def fetch(self, question: dict[str, Any]) -> None:
        """Fetch the sounds of a question and their outlines, all at once, as the page does."""
        parts = [part for one in (question["query"], *question["candidates"]) for part in one["parts"]]
        new = [part for part in parts if part["media"] not in self.fetched]
        self.fetched |= {part["media"] for part in new}
        await asyncio.gather(
            *(self.call("GET media", "GET", part["media"]) for part in new),
            *(self.call("GET peaks", "GET", part["peaks"]) for part in new),
        )

    async def judge(self, until: float) -> None:
        """Come some time in the first fifth, a minute at most, and answer questions until the time is over."""
        await asyncio.sleep(self.chance.uniform(0, min(60.0, (until - time.monotonic()) / 5)))
        await self.arrive()
        while time.monotonic() < until:
            taken = await self.post("questions", {"ahead": 1})
            if taken is None or not taken["questions"]:
                self.record.idle += 1
                await asyncio.sleep(1)
                continue
            for question in taken["questions"]:
                await self.fetch(question)
            await asyncio.sleep(max(_LEAST_WAIT, self.chance.uniform(*self.think)))
            await self.act(taken["questions"][0])
        await self.client.aclose()

    async def act(self, question: dict[str, Any]) -> None:
        """Answer a question, or do something else with it."""
        luck, about = self.chance.random(), question["id"]
        if luck < SKIP:
            await self.post("skip", {"id": about, "key": secrets.token_hex(8)})
            return
        if luck < SKIP + LEAVE:
            await self.post("leave", {})
            return
        await self.answer(about, twice=luck > 1 - RETRY)
        if luck < SKIP + LEAVE + UNDO and await self.post("undo", {"id": about, "key": secrets.token_hex(8)}):
            self.record.undone += 1
            await asyncio.sleep(_LEAST_WAIT)
            await self.answer(about)

    async def answer(self, about: str, *, twice: bool = False) -> None:
        """Send an answer; one that is sent twice at the same time has one key."""
        body = {"id": about, "key": secrets.token_hex(8), "gain": self.chance.choice([0, 1, 1, 2])}
        heard = [{"part": part, "seconds": 3.0, "plays": 1} for part in ("query", "candidate 0")]
        body["details"] = {"seconds": 3.2, "switches": 2, "heard": heard}
        sent = await asyncio.gather(*(self.post("answers", body) for _ in range(2 if twice else 1)))
        self.record.doubled += twice
        for said in sent:
            if said is not None:
                self.record.statuses[said["status"]] += 1
                if said["status"] in ("saved", "known", "late", "corrected"):
                    self.record.acknowledged[str(body["key"])] = self.token


async def judge_all(
    address: str, tokens: list[str], *, seconds: float, think: tuple[float, float], record: Record
) -> None:
    """Let everybody judge at once."""
    until = time.monotonic() + seconds
    people = [Person(address, token, record, think, seed) for seed, token in enumerate(tokens)]
    await asyncio.gather(*(person.judge(until) for person in people))
