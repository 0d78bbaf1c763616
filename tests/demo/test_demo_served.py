"""``earmark demo --serve`` in a process of its own: whoever follows the links that it prints judges and watches."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from earmark.audio.sound import write_sound
from earmark.demo.campaign import open_demo_campaign
from earmark.demo.collection import DemoFiles
from earmark.demo.ownership import remember_files

RATE = 44_100


def make_small(folder: Path) -> None:
    """Make a campaign as the demonstration does, of a few tones in place of a hundred songs."""
    files = DemoFiles(folder)
    files.clips.mkdir(parents=True)
    songs = [f"song{number}" for number in range(7)]
    for number, song in enumerate(songs):
        when = np.arange(0, 2.0, 1 / RATE)
        write_sound(0.1 * np.sin(2 * np.pi * (200 + 40 * number) * when), files.clip(song), rate=RATE)
    rows = [
        f"system{system}\t{query}\t{document}\n"
        for system in range(2)
        for query in songs[:2]
        # As many documents each: a list with one more would win before anybody has judged, and the campaign would stop.
        for document in songs[2 + system : 6 + system]
    ]
    files.runs.write_text("".join(rows))
    known = [f"{song},artist{number % 3},genre{number % 2}\n" for number, song in enumerate(songs)]
    files.metadata.write_text("".join(["document,artist,genre\n", *known]))
    remember_files(files)
    address = "http://127.0.0.1:8000"
    open_demo_campaign(files, seed=0, address=address, bar=lambda total: contextlib.nullcontext(lambda n: None)).close()


@contextlib.contextmanager
def serving(folder: Path, *, patience: float) -> Iterator[tuple[str, str]]:
    """Start the command; yields the two links that it prints."""
    command = [sys.executable, "-m", "earmark.cli", "demo", "--serve", "--port", "0", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        said, end = "", time.monotonic() + patience
        while not (links := re.findall(r"http://\S+/(?:judge/|organise#)\S+", said))[1:]:
            assert time.monotonic() < end, f"no links after {patience:g} s: {said}"
            assert process.poll() is None, f"it ended: {said}"
            if select.select([process.stdout], [], [], 0.2)[0]:
                said += os.read(process.stdout.fileno(), 65536).decode()
        judge, organise = links[:2]
        assert "/judge/" in judge
        assert "/organise#" in organise
        yield judge, organise
    finally:
        process.terminate()
        process.wait(timeout=240)
        process.stdout.close()


def ask(client: Any, method: str, path: str, **more: Any) -> Any:
    """Ask until the server listens: the links are printed before it does."""
    end = time.monotonic() + 60
    while True:
        try:
            said = client.request(method, path, **more)
        except httpx.ConnectError:
            assert time.monotonic() < end
            time.sleep(0.1)
            continue
        assert said.status_code == 200, said.text
        return said


def judge_and_watch(judge: str, organise: str) -> None:
    """Answer one question by one link, and see it by the other."""
    address, _, token = judge.partition("/judge/")
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=240) as ann:
        assert "<title>" in ask(ann, "GET", f"/judge/{token}").text
        least = ask(ann, "GET", "/api/judge/session").json()["campaign"]["minimum_seconds"]
        question = ask(ann, "POST", "/api/judge/questions", json={}).json()["questions"][0]
        taken = time.monotonic()
        parts = {"query": question["query"], "candidate 0": question["candidates"][0]}
        for part in parts.values():
            assert len(ask(ann, "GET", part["parts"][0]["media"]).content) > 1000
        heard = [{"part": part, "seconds": least, "plays": 1} for part in parts]
        body = {"id": question["id"], "key": "a key of the page", "gain": 1, "details": {"heard": heard}}
        # Nobody has heard two clips before that.
        time.sleep(max(0.0, 2 * least - (time.monotonic() - taken)))
        assert ask(ann, "POST", "/api/judge/answers", json=body).json()["status"] == "saved"
    secret = organise.partition("#")[2]
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {secret}"}, timeout=240) as organiser:
        people = ask(organiser, "GET", "/api/organise/state").json()["assessors"]
    assert sum(one["answers"] for one in people) == 1


def test_the_links_of_the_demo_work(tmp_path: Path) -> None:
    make_small(tmp_path / "demo")
    with serving(tmp_path / "demo", patience=60) as links:
        judge_and_watch(*links)


@pytest.mark.slow
def test_the_whole_demo_is_judged_by_ear(tmp_path: Path) -> None:
    began = time.monotonic()
    # A minute is promised on a computer that does nothing else; here other tests may run.
    with serving(tmp_path / "demo", patience=300) as links:
        judge_and_watch(*links)
    print(f"from the command to an answer: {time.monotonic() - began:.0f} s")
