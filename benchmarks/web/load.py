"""``python -m benchmarks.web.load``: assessors at once over real sockets, on SQLite and on PostgreSQL.

Every assessor loads the page, fetches the sounds of every question and answers after thinking for a while; some send an
answer twice, take one back, skip or leave. Two dashboards are open. In the end the log is compared with what the server
acknowledged, and every answer has to be part of an estimate.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil  # type: ignore[import-untyped]
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from benchmarks.campaigns.stores import servers
from benchmarks.web.campaign import make_campaign, write_inputs
from benchmarks.web.people import Record, judge_all
from benchmarks.web.watchers import Dashboard
from earmark.store import schema
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, new_organiser_link

# Store, assessors, processes, and between how many seconds somebody thinks.
PLANS = {"sqlite": (50, 1, (2.0, 6.0)), "postgresql": (200, 2, (5.0, 15.0))}
FRESH = 10.0
"""An estimate that has an answer comes in less than so many seconds."""
CATCH_UP = 60.0
"""For so many seconds after the load, the last estimate is waited for."""
DASHBOARDS = 2


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web.load", description=__doc__)
    parser.add_argument("--store", choices=[*PLANS], action="append", help="by default both")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--assessors", type=int, help="by default 50 on SQLite and 200 on PostgreSQL")
    parser.add_argument("--think", type=float, nargs=2, metavar=("FROM", "TO"), help="seconds before an answer")
    parser.add_argument("--postgresql", metavar="URL", help="a server that may be written to, by default a new one")
    parser.add_argument("--small", action="store_true", help="a campaign of 5 systems and 10 queries")
    chosen = parser.parse_args(arguments)
    kinds = chosen.store or [*PLANS]
    console = Console(width=None if sys.stdout.isatty() else 120)
    right = True
    with tempfile.TemporaryDirectory(prefix="earmark-load-") as name, servers(kinds, chosen.postgresql) as urls:
        home = Path(name)
        write_inputs(home, **({"systems": 5, "queries": 10, "documents": 300} if chosen.small else {}))
        for kind in kinds:
            assessors, processes, think = PLANS[kind]
            store = None if kind == "sqlite" else _new_database(urls[kind])
            with make_campaign(home / kind, home, store=store, judgments=4 if chosen.small else 2) as folder:
                run = Run(kind, chosen.assessors or assessors, processes, tuple(chosen.think or think), chosen.seconds)
                run.play(folder)
                right &= run.show(console, folder)
    return 0 if right else 1


@dataclass
class Run:
    """One load on one server."""

    store: str
    assessors: int
    processes: int
    think: tuple[float, ...]
    seconds: float
    record: Record = field(default_factory=Record)
    use: dict[str, list[float]] = field(default_factory=lambda: {"server": [], "database": [], "clients": []})
    memory: list[float] = field(default_factory=list)
    caught_up: float = float("inf")

    def play(self, folder: CampaignFolder) -> None:
        """Serve the campaign and let everybody judge."""
        tokens = [one.token for one in invite(folder.store, [f"person {n}" for n in range(self.assessors)])]
        secret = new_organiser_link(folder.store)
        with served(folder.path, self.processes) as (address, process):
            stopped = threading.Event()
            watcher = threading.Thread(target=self._watch, args=(process.pid, stopped), daemon=True)
            watcher.start()
            first, last = self.think[0], self.think[-1]
            work = judge_all(address, tokens, seconds=self.seconds, think=(first, last), record=self.record)
            dashboards = [Dashboard(address, secret, self.record) for _ in range(DASHBOARDS)]
            asyncio.run(_together(work, *(one.watch(time.monotonic() + self.seconds) for one in dashboards)))
            self.caught_up = catch_up(folder)
            stopped.set()
            watcher.join()

    def _watch(self, pid: int, stopped: threading.Event) -> None:
        """Note how busy the processors are, once a second."""
        known: dict[int, tuple[str, float]] = {}
        while not stopped.wait(1.0):
            used: Counter[str] = Counter()
            memory = 0.0
            for process in _processes(pid):
                with contextlib.suppress(psutil.Error):
                    which = process[1]
                    times = process[0].cpu_times()
                    total = times.user + times.system
                    if process[0].pid in known:
                        used[which] += total - known[process[0].pid][1]
                    known[process[0].pid] = which, total
                    memory += process[0].memory_info().rss if which == "server" else 0.0
            for which in self.use:
                self.use[which].append(used[which])
            self.memory.append(memory)

    # ---- results -----------------------------------------------------------------------------------------------------

    def show(self, console: Console, folder: CampaignFolder) -> bool:
        """Print what was measured; returns whether all that was promised held."""
        record = self.record
        requests = sum(len(one) for one in record.seconds.values())
        title = f"{self.store}, {self.processes} process(es), {self.assessors} assessors, {self.seconds:g} s"
        title += f", thinking {self.think[0]:g} to {self.think[-1]:g} s; milliseconds"
        table = Table(title=title, title_justify="left")
        for name in ("route", "requests", "median", "95 %", "99 %", "most"):
            table.add_column(name, justify="left" if name == "route" else "right")
        for route, seconds in sorted(record.seconds.items()):
            marks = np.percentile(np.array(seconds) * 1000, [50, 95, 99, 100])
            table.add_row(route, f"{len(seconds):,}", *(f"{one:,.0f}" for one in marks))
        console.print(table)
        megabytes = record.bytes / 1e6
        console.print(
            f"{requests / self.seconds:,.0f} requests/s, {megabytes / self.seconds:,.1f} MB/s, "
            f"{len(record.acknowledged) / self.seconds:,.1f} answers/s; {sum(record.errors.values())} errors"
        )
        console.print(f"{DASHBOARDS} dashboards were told {record.told:,} times that something happened")
        for what, count in record.errors.most_common(10):
            console.print(f"  {count} times {what}")
        busy = {name: np.array(used[5:] or [0.0]) for name, used in self.use.items()}
        console.print(
            "processors in use, mean and most of "
            f"{os.cpu_count()}: "
            + ", ".join(f"{name} {used.mean():.2f} and {used.max():.2f}" for name, used in busy.items())
            + f"; memory of the server {self._early_memory() / 1e6:,.0f} MB in the beginning, "
            f"{max(self.memory, default=0.0) / 1e6:,.0f} MB at most"
        )
        delays = estimate_delays(folder)
        never = int(np.isinf(delays).sum())
        console.print(
            f"from an answer to an estimate that has it: median {np.median(delays):.1f} s, most {delays.max():.1f} s, "
            f"{never} answers are part of none; after the load, the last one came in {self.caught_up:.1f} s"
        )
        wrong = check_log(folder, record)
        if record.idle:
            wrong.append(f"there was no question {record.idle} times: the campaign is too small for this load")
        console.print(f"{len(record.acknowledged):,} acknowledged answers, {record.doubled} sent twice, ", end="")
        console.print(f"{record.undone} taken back: " + ("all in the log once" if not wrong else "; ".join(wrong)))
        return not wrong and not record.errors and bool(delays.max() < FRESH)

    def _early_memory(self) -> float:
        return self.memory[min(60, len(self.memory) // 3)] if self.memory else 0.0


async def _together(*work: Awaitable[None]) -> None:
    await asyncio.gather(*work)


def _processes(pid: int) -> Iterator[tuple[psutil.Process, str]]:
    with contextlib.suppress(psutil.Error):
        server = psutil.Process(pid)
        for one in (server, *server.children(recursive=True)):
            yield one, "server"
    yield psutil.Process(), "clients"
    for one in psutil.process_iter(["name"]):
        if one.info["name"] == "postgres":
            yield one, "database"


@contextlib.contextmanager
def served(folder: Path, processes: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a campaign; yields its address and the process."""
    command = [sys.executable, "-m", "earmark.cli", "serve", str(folder), "--port", "0", "--format", "jsonl"]
    errors = folder.parent / f"{folder.name}.err"
    with errors.open("w") as told:
        process = subprocess.Popen(
            [*command, "--workers", str(processes)], stdout=subprocess.PIPE, stderr=told, text=True
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server did not start: {errors.read_text()[-2000:]}")
            address = str(json.loads(line)["link"])
            for _ in range(600):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5):
                    break
                time.sleep(0.1)
            yield address, process
        finally:
            process.terminate()
            process.wait(timeout=60)
            process.stdout.close()
    said = [line for line in errors.read_text().splitlines() if " ERROR " in line or "Traceback" in line]
    if said:
        print("the server said:", *said[:5], sep="\n  ", file=sys.stderr)


# ---- what the log tells ----------------------------------------------------------------------------------------------


def catch_up(folder: CampaignFolder) -> float:
    """Wait for the estimate that has the last answer; returns after how many seconds it came, infinity for never."""
    began, last = time.monotonic(), int(_sequences(folder, "answered").max(initial=0))
    while (spent := time.monotonic() - began) < CATCH_UP:
        if _estimates(folder)[0].max(initial=0) >= last:
            return spent
        time.sleep(0.2)
    return float("inf")


def estimate_delays(folder: CampaignFolder) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return for every answer after how many seconds there was an estimate that has it; infinity for never."""
    sequences, times = _estimates(folder)
    answers = folder.store.log().frame.filter(pl.col("kind") == "answered", pl.col("expected").is_null())
    given = answers["time"].dt.epoch("us").to_numpy() / 1e6
    places = np.searchsorted(sequences, _sequences(folder, "answered"))
    return np.append(times, np.inf)[places] - given


def _estimates(folder: CampaignFolder) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the number of the last event that each estimate has, and when it was made, in seconds."""
    table, store = schema.estimates.c, folder.store
    mine = sa.select(table.sequence, table.time).where(table.campaign == store.campaign).order_by(table.sequence)
    made = store.read(lambda connection: connection.execute(mine).fetchall())
    return np.array([row.sequence for row in made], dtype=np.int64), np.array([row.time for row in made]) / 1e6


def _sequences(folder: CampaignFolder, kind: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    table, store = schema.events.c, folder.store
    mine = sa.and_(table.campaign == store.campaign, table.kind == kind, table.expected.is_(None))
    query = sa.select(table.sequence).where(mine).order_by(table.sequence)
    return np.array(store.read(lambda connection: list(connection.execute(query).scalars())), dtype=np.int64)


def check_log(folder: CampaignFolder, record: Record) -> list[str]:
    """Compare the log with what the server acknowledged; returns what is wrong, in words."""
    log = folder.store.log()
    said = log.frame.filter(pl.col("kind").is_in(["answered", "late"]))
    keys = Counter(said["key"].to_list())
    wrong = []
    if missing := [key for key in record.acknowledged if keys[key] == 0]:
        wrong.append(f"{len(missing)} acknowledged answers are not in the log")
    if doubled := [key for key, count in keys.items() if count > 1]:
        wrong.append(f"{len(doubled)} answers are in the log twice")
    if foreign := [key for key in keys if key not in record.acknowledged]:
        wrong.append(f"{len(foreign)} answers in the log were not acknowledged")
    counted = log.answers.group_by("query", "document").agg(pl.len(), pl.col("assessor").n_unique().alias("people"))
    if over := counted.filter(pl.col("len") > folder.rules.judgments_per_item).height:
        wrong.append(f"{over} questions have too many answers")
    if twice := counted.filter(pl.col("len") != pl.col("people")).height:
        wrong.append(f"{twice} questions were answered twice by somebody")
    return wrong


def _new_database(url: str) -> str:
    address = sa.make_url(url)
    engine = sa.create_engine(
        address.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
    )
    with engine.connect() as connection:
        connection.execute(sa.text("DROP DATABASE IF EXISTS web_load WITH (FORCE)"))
        connection.execute(sa.text("CREATE DATABASE web_load"))
    return address.set(database="web_load").render_as_string(hide_password=False)


if __name__ == "__main__":
    sys.exit(main())
