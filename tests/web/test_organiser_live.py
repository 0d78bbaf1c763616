"""The dashboard hears that something happened: over real sockets, and by one look at the store for all who listen."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn
from organised import answer_some, pseudonym_of, running
from served import invited
from starlette.testclient import TestClient

from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, new_organiser_link
from earmark.store.worker import Worker
from earmark.web.app import create_app
from earmark.web.live import Live


async def next_event(stream: AsyncIterator[str]) -> dict[str, Any]:
    """Return the next event that says that something changed."""
    async for lines in stream:
        if lines.startswith("event: changed"):
            return json.loads(lines.splitlines()[1].removeprefix("data: "))  # type: ignore[no-any-return]
    raise AssertionError("the stream has ended")


def test_listeners_share_one_look() -> None:
    looks: list[float] = []
    version = ["1"]

    def look() -> str:
        looks.append(time.monotonic())
        return version[0]

    async def listen() -> None:
        live = Live(look, every=0.05)
        streams = [live.stream() for _ in range(10)]
        first = await asyncio.gather(*(next_event(one) for one in streams))
        assert first == [{"version": "1"}] * 10
        version[0] = "2"
        began, seen = time.monotonic(), len(looks)
        second = await asyncio.gather(*(next_event(one) for one in streams))
        assert second == [{"version": "2"}] * 10
        assert len(looks) - seen <= (time.monotonic() - began) / 0.05 + 2
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]
        assert live.listeners == 0
        seen = len(looks)
        await asyncio.sleep(0.2)
        assert len(looks) <= seen + 1, "nobody listens, so nobody looks"

    asyncio.run(listen())


def test_who_listens_later_hears_the_version_at_once() -> None:
    async def listen() -> None:
        live = Live(lambda: "7", every=0.05)
        first, second = live.stream(), live.stream()
        await next_event(first)
        assert await asyncio.wait_for(next_event(second), 1) == {"version": "7"}
        for stream in (first, second):
            await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(listen())


def test_a_store_that_is_away_ends_no_stream() -> None:
    told = iter([RuntimeError("away"), "1"])

    def look() -> str:
        one = next(told, "1")
        if isinstance(one, Exception):
            raise one
        return one

    async def listen() -> None:
        live = Live(look, every=0.02)
        stream = live.stream()
        assert await asyncio.wait_for(next_event(stream), 2) == {"version": "1"}
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(listen())


def test_silence_is_broken_and_closing_ends_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earmark.web.live.BEAT", 0.05)

    async def listen() -> None:
        live = Live(lambda: "1", every=5)
        stream = live.stream()
        await next_event(stream)
        assert (await anext(stream)).startswith("event: beat")
        live.close()
        assert [one async for one in stream] == []

    asyncio.run(listen())


@contextmanager
def served(folder: CampaignFolder) -> Iterator[str]:
    """Serve a campaign on a port of its own."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(folder), port=0, log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def test_an_event_arrives_after_an_answer(make_campaign: Callable[..., CampaignFolder]) -> None:
    folder = make_campaign("grade")
    secret = new_organiser_link(folder.store)
    (ann,) = invite(folder.store, ["Ann"])
    headers = {"Authorization": f"Bearer {secret}"}
    with served(folder) as address, httpx.Client(base_url=address, timeout=240) as client:
        assert client.get("/api/organise/live").status_code == 401
        with client.stream("GET", "/api/organise/live", headers=headers) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            versions = (json.loads(line[6:])["version"] for line in lines if line.startswith('data: {"version'))
            first = next(versions)
            judge = {"Authorization": f"Bearer {ann.token}"}
            question = client.post("/api/judge/questions", json={}, headers=judge).json()["questions"][0]
            sent = {"id": question["id"], "key": "0123456789abcdef", "gain": 2}
            assert client.post("/api/judge/answers", json=sent, headers=judge).status_code == 200
            assert next(versions) != first
        state = client.get("/api/organise/state", headers=headers).json()
        assert state["counts"]["answers"] == 1


def test_why_there_are_no_estimates_reaches_the_dashboard(make_client: Callable[..., TestClient]) -> None:
    organiser = running(make_client("grade"), answers=1)
    assert organiser.state()["failure"] is None
    runs = organiser.campaign.opened.path / "inputs" / "runs.tsv"
    with runs.open("a") as file:
        file.write("x\ty\tz\n")
    # The worker may run in another process: what it says comes by the store.
    Worker(organiser.campaign.folder).look()
    answer_some(invited(organiser.client, "Cid"), 1)
    Worker(organiser.campaign.folder).look()
    assert "runs.tsv" in organiser.state()["failure"]


def test_the_state_says_what_the_estimate_contains(make_client: Callable[..., TestClient]) -> None:
    """By the numbers of events and by no clock: an estimate may be made after an answer that it has not read."""
    client = make_client(traps__rate=0.0)
    organiser = running(client, answers=2)
    assert organiser.state()["included"] == {"answers": 4, "behind": 0}
    ann, pilot = invited(client, "Eve"), invited(client, "Pat", pilot=True)
    answer_some(ann, 3)
    answer_some(pilot, 2)
    organiser.campaign.desk.comment(pseudonym_of(organiser, "Eve"), "nice")
    assert organiser.state()["included"] == {"answers": 4, "behind": 3}, "neither pilots nor comments are missing"
    organiser.campaign.desk.reject(pseudonym_of(organiser, "Bob"), "asleep")
    assert organiser.state()["included"] == {"answers": 4, "behind": 4}
    organiser.estimate()
    assert organiser.state()["included"] == {"answers": 5, "behind": 0}
