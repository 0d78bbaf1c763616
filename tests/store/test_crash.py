"""The process that serves answers is killed again and again, with SIGKILL, and so is the server of the database.

Assessors live in the process of the test and send their calls through a socket; when the connection breaks they send
the same call, with the same key, to the next server. Whatever a call has returned must be in the log, once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from load import gain_of
from log_checks import check_store

from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.migrate import migrate
from earmark.store.rules import Rules
from earmark.store.store import Store
from servers import PostgreSQL

SERVER = Path(__file__).with_name("server.py")
UID = "d" * 32
RULES = {"judgments_per_item": 2, "trap_every": 6}


class Servers:
    """The process that serves, one after the other, and the next one, which is loaded already."""

    def __init__(self, database: Database, folder: Path) -> None:
        url = database.url.render_as_string(hide_password=False)
        self.command = [sys.executable, str(SERVER), url, UID, json.dumps(RULES)]
        self.folder = folder
        self.address = ""
        self.count = 0
        self.now: subprocess.Popen[str] | None = None
        self.next = self._load()

    def _load(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self) -> None:
        self.now, self.next = self.next, self._load()
        self.count += 1
        address = str(self.folder / f"{self.count}")
        assert self.now.stdin is not None
        assert self.now.stdout is not None
        self.now.stdin.write(f"{address}\n")
        self.now.stdin.flush()
        assert self.now.stdout.readline() == "ready\n"
        self.address = address

    def kill(self) -> None:
        if self.now is not None:
            self.now.send_signal(signal.SIGKILL)
            self.now.communicate()
            self.now = None

    def close(self) -> None:
        self.kill()
        self.next.kill()
        self.next.communicate()


class Assessors:
    """Threads that answer until nothing is left or they are told to stop, and note what was acknowledged."""

    def __init__(self, servers: Servers, count: int) -> None:
        self.servers = servers
        self.acknowledged: list[tuple[str, str]] = []
        self.sent_again = 0
        self.stopped = threading.Event()
        self.failed: list[BaseException] = []
        self.threads = [threading.Thread(target=self._run, args=(f"a{number}",)) for number in range(count)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join()
        assert not self.failed

    def _run(self, assessor: str) -> None:
        try:
            self._assess(assessor)
        except BaseException as error:
            self.failed.append(error)
            raise

    def _assess(self, assessor: str) -> None:
        self_connection: list[Connection] = []
        count = 0
        while not self.stopped.is_set():
            taken = self._call(self_connection, "take", assessor)
            if taken is None or taken.reason == "done":
                break
            if not taken.questions:
                time.sleep(0.02)
                continue
            question = taken.questions[0]
            count += 1
            key = f"{assessor}/{count}"
            receipt = self._call(
                self_connection, "answer", assessor, question.id, key=key, gain=gain_of(question.document)
            )
            if receipt is None:
                break
            self.acknowledged.append((key, receipt.status))
        for connection in self_connection:
            connection.close()

    def _call(self, connection: list[Connection], call: str, *arguments: Any, **options: Any) -> Any:
        """Send a call until it is acknowledged; None where the assessors were stopped before."""
        while True:
            try:
                if not connection:
                    connection.append(Client(self.servers.address, "AF_UNIX"))
                connection[0].send((call, arguments, options))
                return connection[0].recv()
            except (EOFError, OSError):
                # The server is gone: what was sent may or may not have been saved.
                if connection:
                    with suppress(OSError):
                        connection.pop().close()
                    self.sent_again += 1
                if self.stopped.is_set():
                    return None
                time.sleep(0.01)


def crash(database: Database, folder: Path, *, rounds: int, server: PostgreSQL | None = None) -> None:
    rules = Rules(**RULES)
    desk = Desk(Store.create(database, uid=UID, name="study", settings="{}"), rules)
    size = 200 * rounds
    desk.add_questions(pl.DataFrame({"query": ["q"] * size, "document": [f"d{number}" for number in range(size)]}))
    rng = random.Random(rounds)
    servers = Servers(database, folder)
    assessors = Assessors(servers, 6)
    try:
        servers.start()
        assessors.start()
        for number in range(rounds):
            before = len(assessors.acknowledged)
            while len(assessors.acknowledged) < before + 3:
                time.sleep(0.002)
            time.sleep(rng.random() * 0.3)
            if server is not None and number % 5 == 4:
                server.crash()
                server.start()
            else:
                servers.kill()
                servers.start()
            if number % 10 == 9:
                check_store(desk.store, rules)
        # Work goes on.
        before = len(assessors.acknowledged)
        while len(assessors.acknowledged) < before + 20:
            time.sleep(0.01)
    finally:
        assessors.stopped.set()
        servers.close()
        assessors.join()
    state = check_store(desk.store, rules)
    keys = [key for key, _ in assessors.acknowledged]
    assert len(set(keys)) == len(keys)
    missing = set(keys) - set(state.keys)
    assert not missing, "an acknowledged answer is not in the log"
    # The last call of every assessor may have been saved without being acknowledged.
    assert sum(state.keys.values()) - len(keys) <= len(assessors.threads)
    assert assessors.sent_again >= rounds // 2
    assert Counter(status for _, status in assessors.acknowledged)["saved"] >= 3 * rounds


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    # The address of a socket holds about 100 characters.
    folder = tmp_path / "s"
    folder.mkdir()
    assert len(os.fspath(folder)) < 90
    return folder


def test_nothing_is_lost_when_the_process_is_killed(database: Database, sockets: Path) -> None:
    crash(database, sockets, rounds=5)


@pytest.mark.slow
def test_nothing_is_lost_when_the_process_is_killed_fifty_times(database: Database, sockets: Path) -> None:
    crash(database, sockets, rounds=50)


@pytest.fixture
def own_server() -> Iterator[PostgreSQL]:
    server = PostgreSQL()
    yield server
    server.close()


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_of_the_database_is_killed(own_server: PostgreSQL, sockets: Path) -> None:
    database = Database(own_server.url)
    migrate(database)
    try:
        crash(database, sockets, rounds=50, server=own_server)
    finally:
        database.close()
