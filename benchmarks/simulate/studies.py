"""``python -m benchmarks.simulate.studies``: a study with one process, with two, and on a Dask cluster of two workers.

A study of some two minutes on one core is played on a made-up collection by ``earmark simulate``, as users call it,
from reading files to printing rows. The cluster (a scheduler and two workers) is started here and not counted. Printed
are the times from start to end, their ratios to one process, and whether the outputs are identical to the byte. With
cores of their own, two workers should be at least 1.7 times as fast; nothing is asserted about it. The exit code is 1
where outputs differ.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import earmark

TARGET = 1.7
WORKERS = 2
_FILES = ("runs.tsv", "judgments.tsv", "metadata.tsv")


def write_collection(folder: Path) -> None:
    made = earmark.synthetic_collection(np.random.default_rng(2026), systems=16, queries=60, documents=400)
    runs, judgments, metadata = (folder / name for name in _FILES)
    earmark.write_runs(made.runs, runs)
    earmark.write_judgments(made.judgments, judgments)
    made.metadata.frame.write_csv(metadata, separator="\t")


@contextmanager
def cluster() -> Iterator[str]:
    """Keep a cluster for a while; yields the address of its scheduler."""
    distributed: Any = import_module("distributed")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    address, dask = f"tcp://127.0.0.1:{port}", Path(sys.executable).with_name("dask")
    calls = [["scheduler", "--host", "127.0.0.1", "--port", str(port)]]
    calls += [["worker", address, "--nthreads", "1", "--no-nanny"]] * WORKERS
    silent, joined = subprocess.DEVNULL, subprocess.STDOUT
    started = [subprocess.Popen([dask, *call, "--no-dashboard"], stdout=silent, stderr=joined) for call in calls]
    try:
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=60)
        yield address
    finally:
        for process in started:
            process.terminate()
            process.wait()


def play(folder: Path, repeats: int, *who: str) -> tuple[float, bytes]:
    """Return how many seconds the study takes, and what it prints."""
    runs, judgments, metadata = _FILES
    words = ["simulate", runs, "-j", judgments, "--metadata", metadata, "-m", "AG@5", "--stop", "budget:600"]
    words += ["--sample-systems", "8", "--sample-queries", "30", "--repeats", str(repeats), "--quiet", *who]
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "earmark.cli", *words], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - began, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    load = os.getloadavg()[0]
    table = Table(title=f"{repeats} campaigns of 600 judgments; load of the machine before: {load:.1f}")
    for name in ("", "seconds", "times as fast", "output"):
        table.add_column(name, justify="right" if name else "left")
    same = True
    with tempfile.TemporaryDirectory() as made, cluster() as address:
        folder = Path(made)
        write_collection(folder)
        alone, expected = play(folder, repeats, "--jobs", "1")
        table.add_row("1 process", f"{alone:.1f}", "1.00", "")
        for name, who in ((f"{WORKERS} processes", ("--jobs", str(WORKERS))), ("Dask", ("--cluster", address))):
            seconds, printed = play(folder, repeats, *who)
            same &= printed == expected
            said = "identical" if printed == expected else "DIFFERENT"
            table.add_row(name, f"{seconds:.1f}", f"{alone / seconds:.2f}", said)
    Console().print(table)
    print(f"target for {WORKERS} workers: {TARGET} times as fast as one process, on cores of their own")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
