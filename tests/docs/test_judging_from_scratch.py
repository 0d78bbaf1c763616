"""The page about judging in the browser, followed by somebody who has nothing yet, in less than five minutes.

earmark is installed from a wheel into an environment of its own, the commands are those of the page, and the colleague
comes by an address that other devices in the same network would use.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import numpy as np
import pytest

from earmark.audio.sound import write_sound

pytestmark = pytest.mark.slow

HOME = Path(__file__).parents[2]
RATE = 44_100
FIVE_MINUTES = 300.0


def commands() -> list[list[str]]:
    """Return what the page says to type."""
    text = (HOME / "docs" / "judging.md").read_text(encoding="utf-8")
    section = text.partition("## Five minutes")[2].partition("\n## ")[0]
    block = re.findall(r"```console\n(.*?)```", section, flags=re.DOTALL)[0]
    return [shlex.split(line.removeprefix("$ ")) for line in block.splitlines() if line.startswith("$ ")]


def write_inputs(folder: Path) -> None:
    """Write what the page says that a user has: runs, and a sound for every query and document."""
    (folder / "songs").mkdir()
    for number, name in enumerate(("query0", "query1", *(f"track{one}" for one in range(8)))):
        when = np.arange(0, 4.0, 1 / RATE)
        write_sound(0.1 * np.sin(2 * np.pi * (200 + 40 * number) * when), folder / "songs" / f"{name}.wav", rate=RATE)
    rows = [
        f"system{system}\tquery{query}\ttrack{document}\n"
        for system in range(3)
        for query in range(2)
        for document in range(system, system + 5)
    ]
    (folder / "runs.tsv").write_text("".join(rows))


@contextmanager
def in_a_terminal(command: list[str], folder: Path) -> Iterator[int]:
    """Run a command as in a terminal; yields what its words are read from. The link is printed to people alone."""
    reading, writing = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdout=writing, stderr=writing, stdin=subprocess.DEVNULL)
    os.close(writing)
    try:
        yield reading
    finally:
        process.terminate()
        process.wait(timeout=240)
        os.close(reading)


def read_until(reading: int, pattern: str, patience: float = 120) -> str:
    said, end = "", time.monotonic() + patience
    while not (found := re.search(pattern, said)):
        assert time.monotonic() < end, said
        if select.select([reading], [], [], 0.2)[0]:
            with suppress(OSError):
                said += os.read(reading, 65536).decode(errors="replace")
    return found[0]


def ask(client: Any, method: str, path: str, **more: Any) -> Any:
    """Ask until the server listens: the link is printed before it does."""
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


def invite_by_the_link(link: str) -> str:
    """Invite a colleague as the page People does; returns the link to send."""
    address, _, secret = link.partition("/organise#")
    headers = {"Authorization": f"Bearer {secret}", "X-Earmark": "organiser"}
    with httpx.Client(base_url=address, headers=headers, timeout=240) as organiser:
        made = ask(organiser, "POST", "/api/organise/invitations", json={"names": ["Ann"]}).json()
    return str(made["invitations"][0]["link"])


def answer_one(link: str) -> None:
    """Listen to the first question and answer it."""
    address, _, token = link.partition("/judge/")
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=240) as ann:
        ask(ann, "GET", f"/judge/{token}")
        least = ask(ann, "GET", "/api/judge/session").json()["campaign"]["minimum_seconds"]
        question = ask(ann, "POST", "/api/judge/questions", json={}).json()["questions"][0]
        taken = time.monotonic()
        parts = {"query": question["query"], "candidate 0": question["candidates"][0]}
        for part in parts.values():
            assert len(ask(ann, "GET", part["parts"][0]["media"]).content) > 1000
        heard = [{"part": part, "seconds": least, "plays": 1} for part in parts]
        time.sleep(max(0.0, 2 * least - (time.monotonic() - taken)))
        body = {"id": question["id"], "key": "a key of the page", "gain": 1, "details": {"heard": heard}}
        assert ask(ann, "POST", "/api/judge/answers", json=body).json()["status"] == "saved"


def test_from_installing_to_a_colleague_s_first_answer(tmp_path: Path) -> None:
    install, *rest = commands()
    init, serve = rest[:2]
    assert install[:2] == ["pip", "install"]
    assert (init[:2], serve[:2]) == (["earmark", "init"], ["earmark", "serve"])
    write_inputs(tmp_path)
    run = {"check": True, "cwd": tmp_path, "stdout": subprocess.DEVNULL}
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "wheels", str(HOME)], **run)  # type: ignore[call-overload]
    (wheel,) = (tmp_path / "wheels").glob("earmark-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "fresh"], **run)  # type: ignore[call-overload]
    programs = tmp_path / "fresh" / "bin"
    # The wheel stands for the source folder that it was made of.
    wanted = [re.sub(r"^\.(\[.*\])$", rf"earmark\1 @ {wheel.as_uri()}", word) for word in install[2:]]
    assert all("earmark" in word for word in wanted), install
    pinned = ["--constraint", str(HOME / "constraints.txt")]

    began = time.monotonic()
    subprocess.run([programs / "pip", "install", "--quiet", *pinned, *wanted], **run)  # type: ignore[call-overload]
    installed = time.monotonic() - began
    subprocess.run([programs / init[0], *init[1:]], **run)  # type: ignore[call-overload]
    # The usual port may be taken here.
    with in_a_terminal([str(programs / serve[0]), *serve[1:], "--port", "0"], tmp_path) as reading:
        link = read_until(reading, r"http://\S+/organise#[\w-]+")
        invitation = invite_by_the_link(link)
        assert urlsplit(invitation).hostname not in ("127.0.0.1", "localhost"), "others in the network can open it"
        answer_one(invitation)
        spent = time.monotonic() - began
        # By its name, as devices in the network may know it.
        by_name = invitation.replace(str(urlsplit(invitation).hostname), socket.gethostname())
        with suppress(httpx.ConnectError), httpx.Client(timeout=240) as other:
            assert other.get(by_name).status_code == 200
    print(f"installed in {installed:.0f} s, first answer after {spent:.0f} s")
    assert spent < FIVE_MINUTES
