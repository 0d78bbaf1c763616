"""One campaign, several processes: whatever happens through one is so through the other.

Two hosts are two copies of a folder, each served by an ``earmark serve`` of its own, with one PostgreSQL database. Two
processes on SQLite share a folder and an address.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from served import KINDS, copy_campaign, new_key, open_client, write_inputs

from earmark.cli.main import main
from earmark.store.database import Database
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, new_organiser_link
from earmark.store.migrate import migrate
from earmark.store.schema import estimates, events, usage
from earmark.store.store import Store
from earmark.store.usage import Spent, settle
from earmark.web.limits import RateLimiter

LOAD = Path(__file__).with_name("judging_load.py")
PEOPLE = 6


@dataclass(eq=False)
class Host:
    """A server that runs, and the way to ask it."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> tuple[int, Any, Any]:
        """Return the status, the JSON and the headers of what the server says."""
        data = None if body is None else json.dumps(body).encode()
        known = {"Content-Type": "application/json", "X-Earmark": "organiser"} | headers
        request = urllib.request.Request(f"{self.address}{path}", data, known)
        try:
            with urllib.request.urlopen(request, timeout=240) as said:
                return said.status, json.loads(said.read()), said.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read()), error.headers

    def judge(self, token: str, path: str, **body: Any) -> dict[str, Any]:
        status, said, _ = self.ask(f"/api/judge/{path}", body, Authorization=f"Bearer {token}")
        assert status == 200, said
        return dict(said)


@contextmanager
def hosts(*folders: Path, workers: int = 1) -> Iterator[list[Host]]:
    """Serve folders, all at once."""
    with ExitStack() as running:
        started = []
        for folder in folders:
            command = [sys.executable, "-m", "earmark.cli", "serve", str(folder), "--port", "0", "--format", "jsonl"]
            command += ["--workers", str(workers), "--quiet"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            running.callback(_end, process)
            started.append(process)
        found = []
        for process in started:
            assert process.stdout is not None
            found.append(Host(process, str(json.loads(process.stdout.readline())["link"])))
        for host in found:
            wait_for(lambda host=host: is_healthy(host))
        yield found


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate(timeout=240)


def is_healthy(host: Host) -> bool:
    with suppress(OSError):
        return host.ask("/health")[0] == 200
    return False


def wait_for(what: Callable[[], bool], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def two_hosts(home: Path, store: str) -> list[Path]:
    """Make a campaign on PostgreSQL, and a copy of its folder for another host."""
    write_inputs(home)
    how = ["--trap-rate", "0", "--judgments-per-item", "2", "--stop", "none", "--store", store, "--quiet"]
    assert main(["init", str(home / "here"), str(home / "runs.tsv"), *KINDS["grade"], *how]) == 0
    assert main(["set", str(home / "here"), "judging.more_on_disagreement=0", "--quiet"]) == 0
    subprocess.run(["cp", "-a", str(home / "here"), str(home / "there")], check=True)
    return [home / "here", home / "there"]


@pytest.fixture(scope="module")
def on_postgresql(
    tmp_path_factory: pytest.TempPathFactory, new_postgresql_database: Callable[[], str]
) -> Iterator[tuple[CampaignFolder, list[Host]]]:
    folders = two_hosts(tmp_path_factory.mktemp("hosts"), new_postgresql_database())
    with CampaignFolder.open(folders[0]) as folder, hosts(*folders) as running:
        yield folder, running


def check_load(folder: CampaignFolder, addresses: list[str]) -> None:
    """Let people answer everything through all addresses; nothing is lost, doubled or asked too often."""
    tokens = [one.token for one in invite(folder.store, [f"person {n}" for n in range(PEOPLE)])]
    before = folder.store.last_sequence
    told = json.dumps({"addresses": addresses, "tokens": tokens})
    done = subprocess.run([sys.executable, str(LOAD), told], capture_output=True, text=True, timeout=240, check=True)
    said = json.loads(done.stdout)
    assert said["failed"] == []
    log, new = folder.store.log(), folder.store.events(after=before)
    given = new.filter(pl.col("kind") == "answered")
    assert Counter(given["key"]) == Counter(dict.fromkeys(said["acknowledged"], 1)), "every answer is in the log, once"
    assert new.filter(pl.col("kind") == "withdrawn").height == len(said["undone"]) > 0
    per_item = log.answers.group_by("query", "document").agg(pl.len(), people=pl.col("assessor").n_unique())
    assert per_item.height == folder.problem(folder.removed()).items.height, "everything was asked"
    assert set(per_item["len"]) == {2} == set(per_item["people"]), "twice, and of two people"
    assert said["doubled"]
    for statuses in said["doubled"]:
        assert Counter(statuses)["saved"] == 1, "one of the answers sent at once is saved, the others are known"


def test_what_happens_here_is_seen_there(on_postgresql: tuple[CampaignFolder, list[Host]]) -> None:
    folder, (here, there) = on_postgresql
    (ann,) = invite(folder.store, ["Ann"])
    secret = new_organiser_link(folder.store)
    # The organiser signs in here and is signed in there.
    status, _, headers = here.ask("/api/organise/session", {"secret": secret})
    assert status == 200
    cookie = {"Cookie": headers["Set-Cookie"].partition(";")[0]}
    assert there.ask("/api/organise/state", **cookie)[0] == 200
    request = urllib.request.Request(f"{there.address}/api/organise/live", headers=cookie)
    with urllib.request.urlopen(request, timeout=240) as stream:
        lines = (line.decode().strip() for line in stream)
        next(line for line in lines if line.startswith("data:"))
        question = here.judge(ann.token, "questions", ahead=1)["questions"][0]
        given = here.judge(ann.token, "answers", id=question["id"], key=new_key(), gain=1)
        assert given["status"] == "saved"
        # At once: no cache stands between an answer and whoever asks.
        assert there.ask("/api/organise/state", **cookie)[1]["counts"]["answers"] == 1
        session = there.ask("/api/judge/session", Authorization=f"Bearer {ann.token}")[1]
        assert session["progress"]["answers"] == 1
        # Who listens there hears of it.
        assert next(line for line in lines if line.startswith("data:")) != ""
    # What was answered here is taken back there, and answered again here.
    again = there.judge(ann.token, "undo", id=question["id"], key=new_key())
    assert again["question"]["id"] == question["id"]
    assert here.ask("/api/organise/state", **cookie)[1]["counts"]["answers"] == 0
    assert here.judge(ann.token, "answers", id=question["id"], key=new_key(), gain=2)["status"] == "saved"
    # What was given out here is given back there, so that others need not wait for it.
    assert there.judge(ann.token, "leave")["returned"] == 1
    # Settings that are changed here hold there within seconds.
    assert here.ask("/api/organise/settings", {"changes": {"pages.title": "Songs"}}, **cookie)[0] == 200
    wait_for(lambda: title(there, ann.token) == "Songs", 20)
    # A link that ends here has ended there, and so has a session.
    assert here.ask("/api/organise/leave", {}, **cookie)[0] == 200
    assert there.ask("/api/organise/state", **cookie)[0] == 401


def test_questions_and_answers_through_two_hosts(on_postgresql: tuple[CampaignFolder, list[Host]]) -> None:
    folder, (here, there) = on_postgresql
    check_load(folder, [here.address, there.address])
    # One process computes estimates, and both show them.
    secret = new_organiser_link(folder.store)
    bearer = {"Authorization": f"Bearer {secret}"}
    wait_for(lambda: is_estimated(folder.store))
    shown = [host.ask("/api/organise/state", **bearer)[1] for host in (here, there)]
    assert shown[0]["ranking"] == shown[1]["ranking"]
    assert shown[0]["counts"] == shown[1]["counts"]
    with folder.store.database.exclusive(f"worker {folder.settings.id}") as is_mine:
        assert not is_mine(), "one of the two has the right to compute estimates"
    # Where the host that computes them dies, the other one takes over.
    os.kill(here.process.pid, signal.SIGKILL)
    here.process.wait(10)
    (bob,) = invite(folder.store, ["Bob"])
    there.judge(bob.token, "comments", text="hm", key=new_key())
    wait_for(lambda: is_estimated(folder.store))


def is_estimated(store: Store) -> bool:
    """Tell whether the newest estimate has everything that people said."""
    made = sa.select(sa.func.max(estimates.c.sequence)).where(estimates.c.campaign == store.campaign)
    table = events.c
    theirs = sa.and_(table.campaign == store.campaign, table.kind.in_(("answered", "withdrawn", "commented")))
    said = sa.select(sa.func.max(table.sequence)).where(theirs)
    newest, last = store.read(lambda connection: [connection.execute(one).scalar() for one in (made, said)])
    return bool(newest is not None and newest >= last)


def title(host: Host, token: str) -> str:
    return str(host.ask("/api/judge/session", Authorization=f"Bearer {token}")[1]["campaign"]["title"])


@pytest.mark.slow
def test_two_processes_on_sqlite(templates: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copy_campaign(
        templates("grade"),
        tmp_path / "study",
        judging__judgments_per_item=2,
        judging__more_on_disagreement=0,
        estimates__stop="none",
    )
    with folder, hosts(folder.path, workers=2) as (host,):
        # Connections are shared out between the processes by the operating system.
        check_load(folder, [host.address, host.address])


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path}/campaign.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("new_postgresql_database")()
    database = Database(url)
    migrate(database)
    yield Store.create(database, uid="u" * 32, name="study", settings="{}")
    database.close()


def test_a_limit_holds_for_all_processes_together(empty_store: Store) -> None:
    here, there = (RateLimiter(per_second=0.001, burst=100) for _ in range(2))
    for limiter in (here, there):
        assert [limiter.seconds_to_wait("ann") for _ in range(60)] == [0.0] * 60
        limiter.seconds_to_wait("bob")
    for limiter in (here, there, here):
        spent = limiter.unsettled()
        assert "bob" not in spent, "one request is nothing that others have to know about"
        limiter.settle(spent, settle(empty_store, spent))
        assert limiter.unsettled() == {}
        assert limiter.seconds_to_wait("bob") == 0
    # Forty were left, and sixty were asked there.
    assert there.seconds_to_wait("ann") > 20_000
    for _ in range(40):
        here.seconds_to_wait("ann")
    spent = here.unsettled()
    assert settle(empty_store, spent)["ann"] == pytest.approx(-60, abs=1)
    rows = empty_store.read(lambda connection: connection.execute(sa.select(usage)).fetchall())
    assert len(rows) == 1
    assert "ann" not in str(rows), "the store has a hash"


def test_what_is_forgotten_leaves_the_store(empty_store: Store) -> None:
    assert settle(empty_store, {}) == {}
    assert settle(empty_store, {"ann": Spent(5, 1e6, 10)}) == {"ann": 5}
    time.sleep(0.01)
    assert settle(empty_store, {"bob": Spent(5, 0.01, 10)}) == {"bob": 5}
    rows = empty_store.read(lambda connection: connection.execute(sa.select(usage.c.allowed)).scalars().all())
    assert rows == [5], "who may ask as often as ever is forgotten"


def test_the_app_settles_by_itself(make_campaign: Callable[..., CampaignFolder]) -> None:
    folder = make_campaign("grade")
    with open_client(folder) as here, open_client(folder) as there:
        for client in (here, there):
            client.app.state.limiter = RateLimiter(per_second=0.001, burst=20)  # type: ignore[attr-defined]
        (ann,) = invite(folder.store, ["Ann"])
        headers = {"Authorization": f"Bearer {ann.token}"}
        assert [here.get("/api/judge/session", headers=headers).status_code for _ in range(18)] == [200] * 18
        for _ in range(3):
            there.get("/api/judge/session", headers=headers)
        wait_for(lambda: there.get("/api/judge/session", headers=headers).status_code == 429, 10)
        asked = there.app.state.limiter._left  # type: ignore[attr-defined]
        assert all(one.left < 1 for one in asked.values())
