"""``python -m benchmarks.costs``: what a result costs ``evaluate``, ``rank`` and ``next``, as a collection grows.

A result is a line of a run: a document that a system retrieved for a query. Collections are made up; two hundred items
are judged for ``rank`` and ``next``, all of them for ``evaluate``. Every command runs in a process of its own. Printed
are its processor time, of which other work on the machine takes nothing away, its peak memory, and both per result:
the slope between the smallest collection and this one, so that starting Python counts for nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

SYSTEMS, DEPTH, POOL, JUDGED = 10, 10, 40, 200
QUERIES = (50, 5000)
COMMANDS = ("evaluate", "rank", "next")


@dataclass(frozen=True)
class Cost:
    """What one command took.

    Attributes
    ----------
    results : int
        Lines of the runs.
    seconds : float
        Of processor time, the user's and the system's.
    megabytes : float
        The peak of resident memory.
    """

    results: int
    seconds: float
    megabytes: float


def write_collection(folder: Path, queries: int) -> int:
    """Write runs, all judgments and a few of them; returns how many results there are.

    Every query has a pool of documents of its own, with gains; a system ranks it by gain and noise.
    """
    rng = np.random.default_rng(7)
    gains = rng.choice(3, size=(queries, POOL), p=(0.6, 0.25, 0.15))
    noise = rng.normal(size=(SYSTEMS, queries, POOL)) * np.linspace(0.5, 2.0, SYSTEMS)[:, None, None]
    lists = np.argsort(-(gains + noise), axis=2)[:, :, :DEPTH]
    system, query, rank = (one.ravel() for one in np.indices(lists.shape))
    document = query * POOL + lists.ravel()
    runs = pl.DataFrame({"system": system, "query": query, "document": document, "rank": rank + 1})
    names = {"system": "s", "query": "q", "document": "d"}
    named = [pl.format("{}{}", pl.lit(letter), pl.col(name)).alias(name) for name, letter in names.items()]
    runs = runs.with_columns(named)
    runs.write_csv(folder / "runs.tsv", separator="\t")
    found = runs.select("query", "document").unique(maintain_order=True)
    number = found["document"].str.slice(1).cast(pl.Int64).to_numpy()
    judgments = found.with_columns(gain=pl.Series(gains.ravel()[number]))
    judgments.write_csv(folder / "all.csv")
    judgments.sample(min(JUDGED, judgments.height), seed=1).write_csv(folder / "some.csv")
    return runs.height


def run(command: str, folder: Path, results: int) -> Cost:
    """Run a command in a process of its own, and return what it took."""
    told = "all.csv" if command == "evaluate" else "some.csv"
    line = [sys.executable, "-m", "earmark.cli", command, str(folder / "runs.tsv"), "--judgments", str(folder / told)]
    line += ["--scale", "broad", "-m", f"AG@{DEPTH}", "--quiet", *(["-n", "20"] if command == "next" else [])]
    # One thread: what is counted is work, not how it is spread.
    alone = {**os.environ, "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=alone)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: {said[-500:]}")
    return Cost(results, used.ru_utime + used.ru_stime, used.ru_maxrss / _RSS_PER_MEGABYTE)


# Linux counts kilobytes, macOS bytes.
_RSS_PER_MEGABYTE = 1e3 if sys.platform == "linux" else 1e6


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--queries", type=int, nargs="+", default=list(QUERIES), help="of each collection")
    chosen = parser.parse_args(arguments)
    table = Table(title=f"{SYSTEMS} systems, lists of {DEPTH}; processor time on one core, slopes from the smallest on")
    for name in ("command", "results", "seconds", "MB", "µs per result", "kB per result"):
        table.add_column(name, justify="left" if name == "command" else "right")
    with tempfile.TemporaryDirectory(prefix="earmark-costs-") as name:
        folders = []
        for queries in sorted(chosen.queries):
            folder = Path(name) / str(queries)
            folder.mkdir()
            # In a process of its own: a process that is started counts the memory of the one that starts it as its own.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                folders.append((folder, pool.submit(write_collection, folder, queries).result()))
        for command in COMMANDS:
            costs = [run(command, folder, results) for folder, results in folders]
            for cost in costs:
                more = cost.results - costs[0].results
                slopes = (
                    f"{1e6 * (cost.seconds - costs[0].seconds) / more:.2f}" if more else "",
                    f"{1e3 * (cost.megabytes - costs[0].megabytes) / more:.2f}" if more else "",
                )
                table.add_row(command, f"{cost.results:,}", f"{cost.seconds:.2f}", f"{cost.megabytes:,.0f}", *slopes)
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
