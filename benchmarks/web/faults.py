"""``python -m benchmarks.web.faults``: the database is restarted, the network is cut, the disk is full, under load.

People judge all the time, as the page does: what was not acknowledged is sent again with the same key, after a second
at first and after 20 at most. In the end the log is compared with what the server acknowledged. The server is ``earmark
serve``, with two processes on PostgreSQL, and is never restarted. The database is reached through a proxy that stops
forwarding where the network is cut. A full disk is a file system in memory of 32 MB where mounting is allowed (for
PostgreSQL the tablespace of the database; its log of transactions is elsewhere), else a limit on the size of files.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import earmark
from benchmarks.web.breakable import Server, fill, limit_files, small_disk
from benchmarks.web.load import served
from benchmarks.web.stubborn import Faced, Stubborn, is_healthy
from earmark.cli.main import main as run_command
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite

FAULTS = ("restart", "cut", "full-postgresql", "full-sqlite")
NAMES = {
    "restart": "PostgreSQL restarted",
    "cut": "network to PostgreSQL cut",
    "full-postgresql": "disk of PostgreSQL full",
    "full-sqlite": "disk of SQLite full",
}
_LONGEST = 120.0


@dataclass(frozen=True)
class Load:
    """How much is asked of a server.

    Parameters
    ----------
    people : int
    think : pair of float
        Between how many seconds somebody thinks before an answer.
    queries : int
        Of the campaign; three judgments of every item.
    before : float
        For how many seconds people judge before something breaks.
    processes : int
        Of the server on PostgreSQL; on SQLite there is one.
    """

    people: int = 20
    think: tuple[float, float] = (0.5, 2.0)
    queries: int = 60
    before: float = 5.0
    processes: int = 2


@dataclass
class Outcome:
    """What became of the answers, and when everything worked again.

    Attributes
    ----------
    fault : str
    how : str
        How it was brought about.
    lasted : float
        Seconds.
    found, doubled : int
        Acknowledged answers that are in the log, and answers that are there twice.
    healthy : float
        Seconds from the end of the fault until ``/health`` says that all is well.
    again : dict of float
        Seconds from the end of the fault until somebody's next answer was acknowledged, by person.
    """

    fault: str
    how: str
    lasted: float
    faced: Faced
    found: int = 0
    doubled: int = 0
    healthy: float = float("inf")
    again: dict[str, float] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """How many acknowledged answers are not in the log."""
        return len(self.faced.acknowledged) - self.found


def play(folder: CampaignFolder, address: str, load: Load, outcome: Outcome, breaking: Callable[[], None]) -> Outcome:
    """Let people judge while something breaks, until everybody is served again; compare the log in the end."""
    tokens = [one.token for one in invite(folder.store, [f"{outcome.fault} {n}" for n in range(load.people)])]
    asyncio.run(_play(address, tokens, load, outcome, breaking))
    said = folder.store.log().frame.filter(pl.col("kind").is_in(["answered", "late"]))
    keys = Counter(said["key"].to_list())
    outcome.found = sum(keys[key] > 0 for key in outcome.faced.acknowledged)
    outcome.doubled = sum(count > 1 for count in keys.values())
    return outcome


async def _play(address: str, tokens: list[str], load: Load, outcome: Outcome, breaking: Callable[[], None]) -> None:
    faced, ending = outcome.faced, asyncio.Event()
    people = [Stubborn(address, token, faced, load.think, seed) for seed, token in enumerate(tokens)]
    judging = asyncio.gather(*(one.judge(ending) for one in people))
    await asyncio.sleep(load.before)
    began = time.monotonic()
    await asyncio.to_thread(breaking)
    mended = time.monotonic()
    outcome.lasted = mended - began
    async with httpx.AsyncClient(base_url=address, timeout=10, verify=False) as client:
        while time.monotonic() - mended < _LONGEST and not await is_healthy(client):
            await asyncio.sleep(0.1)
    outcome.healthy = time.monotonic() - mended
    while time.monotonic() - mended < _LONGEST and len(faced.served_again(mended)) < len(tokens):
        await asyncio.sleep(0.1)
    outcome.again = faced.served_again(mended)
    ending.set()
    await asyncio.wait_for(judging, _LONGEST)


def make_campaign(home: Path, name: str, load: Load, store: str | None = None) -> CampaignFolder:
    """Make a campaign without sounds: questions come and go as fast as people think."""
    runs = home / f"runs-{load.queries}.tsv"
    if not runs.exists():
        made = earmark.synthetic_collection(np.random.default_rng(3), systems=5, queries=load.queries, documents=500)
        earmark.write_runs(made.runs, runs)
    how = ["--scale", "broad", "-m", "AG@5", "--stop", "none", "--judgments-per-item", "3", "--trap-rate", "0"]
    how += ["--minimum-seconds", "0", "--quiet", *(["--store", store] if store else [])]
    if run_command(["init", str(home / name), str(runs), *how]):
        raise RuntimeError("the campaign was not made")
    return CampaignFolder.open(home / name)


# ---- faults ----------------------------------------------------------------------------------------------------------


def postgresql_faults(home: Path, faults: list[str], seconds: float, load: Load) -> Iterator[Outcome]:
    """Play faults of PostgreSQL one after the other, on one server that is not restarted."""
    with ExitStack() as stack:
        server = Server(home / "postgresql")
        stack.callback(server.close)
        disk: Path | None = home / "disk"
        assert disk is not None
        if "full-postgresql" not in faults or not stack.enter_context(small_disk(disk, server.owner)):
            disk = None
        folder = stack.enter_context(make_campaign(home, "study", load, server.database("study", disk)))
        address, _ = stack.enter_context(served(folder.path, load.processes))

        def restart() -> None:
            server.stop()
            server.start()

        def cut() -> None:
            server.network.cut()
            time.sleep(seconds)
            server.network.mend()

        def full() -> None:
            assert disk is not None
            filler = fill(disk)
            time.sleep(seconds)
            filler.unlink()

        known = {"restart": (restart, "stopped and started"), "cut": (cut, "a proxy that forwards nothing")}
        known["full-postgresql"] = full, "a tablespace on a small tmpfs"
        for fault in faults:
            if fault == "full-postgresql" and disk is None:
                print("a full disk of PostgreSQL needs the right to mount: left out", file=sys.stderr)
                continue
            breaking, how = known[fault]
            yield play(folder, address, load, Outcome(fault, how, 0.0, Faced()), breaking)


def sqlite_fault(home: Path, seconds: float, load: Load) -> Outcome:
    """Fill the disk on which the file of SQLite is."""
    disk = home / "sqlite"
    with small_disk(disk) as mounted, make_campaign(disk, "study", load) as folder, served(folder.path, 1) as running:
        address, process = running

        def full() -> None:
            if mounted:
                filler = fill(disk)
                time.sleep(seconds)
                filler.unlink()
                return
            path = folder.store.database.path
            assert path is not None
            limit_files(process.pid, path.stat().st_size)
            time.sleep(seconds)
            limit_files(process.pid, None)

        how = "a small tmpfs" if mounted else "a limit on the size of files (RLIMIT_FSIZE)"
        return play(folder, address, load, Outcome("full-sqlite", how, 0.0, Faced()), full)


def table_of(outcomes: list[Outcome]) -> Table:
    """Return what happened as a table."""
    table = Table()
    for name in ("fault", "how", "lasted s", "acknowledged", "found", "lost", "doubled", "refused"):
        table.add_column(name, justify="left" if name in ("fault", "how") else "right")
    for name in ("unclear", "healthy after s", "next answer after s", "everybody after s"):
        table.add_column(name, justify="right")
    for one in outcomes:
        again = sorted(one.again.values())
        counts = (len(one.faced.acknowledged), one.found, one.lost, one.doubled, sum(one.faced.refused.values()))
        times = (one.healthy, again[0] if again else float("inf"), again[-1] if again else float("inf"))
        told = [f"{count:,}" for count in (*counts, one.faced.unclear)]
        table.add_row(NAMES[one.fault], one.how, f"{one.lasted:.1f}", *told, *(f"{time:.1f}" for time in times))
    return table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web.faults", description=__doc__)
    parser.add_argument("--fault", choices=FAULTS, action="append", help="by default all")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a cut and a full disk last")
    parser.add_argument("--people", type=int, default=Load.people)
    chosen = parser.parse_args(arguments)
    faults, load = chosen.fault or [*FAULTS], Load(people=chosen.people)
    console = Console(width=None if sys.stdout.isatty() else 200)
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="earmark-faults-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        # The server of PostgreSQL may run as another user.
        home.chmod(0o755)
        of_server = [one for one in faults if one != "full-sqlite"]
        if of_server:
            outcomes += postgresql_faults(home, of_server, chosen.seconds, load)
        if "full-sqlite" in faults:
            outcomes.append(sqlite_fault(home, chosen.seconds, load))
    console.print(table_of(outcomes))
    for one in outcomes:
        for said, count in one.faced.refused.most_common(6):
            console.print(f"  {NAMES[one.fault]}: {count} times {said}")
    wrong = any(one.lost or one.doubled or one.faced.unclear or len(one.again) < load.people for one in outcomes)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
