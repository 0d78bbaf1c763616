"""The command: make collections of growing size, measure every stage on each, print costs and how they grow."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.scale.stages import ROOT, STAGES, Cost, StageError, measure

BASE_QUERIES = 600
DEPTH = 10
FACTORS = (1, 4, 16, 64)
TARGET_EXPONENT = 1.05


def main() -> int:
    """Return 0, or 1 when a stage failed."""
    options = parse_arguments()
    console, messages = Console(width=None if sys.stdout.isatty() else 120), Console(stderr=True)
    sizes = [options.queries] if options.queries else [BASE_QUERIES * factor for factor in options.factors]
    costs: dict[tuple[int, str], Cost] = {}
    failures: dict[tuple[int, str], str] = {}
    for queries in sizes:
        folder = options.data.resolve() / f"scale-{queries}-{options.systems}"
        if not folder.exists():
            messages.print(f"making {queries:,} queries × {options.systems} systems × {DEPTH}")
            maker = [sys.executable, "-m", "benchmarks.scale.made", str(folder), str(queries), str(options.systems)]
            folder.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(maker, cwd=ROOT, check=True)
        for stage in options.stage or STAGES:
            messages.print(f"{queries:,} queries: {stage}")
            try:
                costs[queries, stage] = measure(stage, folder, limit=options.limit)
            except StageError as failure:
                failures[queries, stage] = str(failure)
    print_costs(console, costs, failures, options.systems)
    if options.json:
        told = [{"queries": key[0], "stage": key[1], **vars(cost)} for key, cost in costs.items()]
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    return int(bool(failures))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--factors", type=int, nargs="+", default=FACTORS, help=f"times {BASE_QUERIES} queries")
    parser.add_argument("--queries", type=int, help="one collection of so many queries instead")
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--stage", choices=STAGES, action="append", help="only this one; repeatable")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds after which a stage is given up")
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks" / "data", help="cache of collections")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results")
    return parser.parse_args()


def exponent(points: dict[int, float]) -> float | None:
    """Fit the power of the number of results that a cost grows with, by least squares of logarithms.

    Parameters
    ----------
    points : dict of int to float
        Costs by the number of results; two or more, else there is nothing to fit.
    """
    if len(points) < 2:
        return None
    x, y = [math.log(size) for size in points], [math.log(cost) for cost in points.values()]
    centre = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - centre[0]) * (b - centre[1]) for a, b in zip(x, y, strict=True))
    return across / sum((a - centre[0]) ** 2 for a in x)


def print_costs(
    console: Console, costs: dict[tuple[int, str], Cost], failures: dict[tuple[int, str], str], systems: int
) -> None:
    """Print one row per stage and size, and the exponent of every stage."""
    console.print(f"{os.cpu_count()} CPUs; {systems} systems, lists of {DEPTH}; peak: of the whole process")
    console.print("exponent: of the number of results that CPU time grows with")
    table = Table("stage", "queries", "results", "seconds", "CPU s", "peak GB", "exponent")
    for stage in STAGES:
        points: dict[int, float] = {}
        for queries in sorted({key[0] for key in (*costs, *failures) if key[1] == stage}):
            results = queries * systems * DEPTH
            cost = costs.get((queries, stage))
            if cost is None:
                table.add_row(stage, f"{queries:,}", f"{results:,}", failures[queries, stage], "", "", "")
                continue
            # Another program that runs at the same time changes the clock's time, but hardly that of the CPU.
            points[results] = cost.cpu_seconds
            times = f"{cost.seconds:.2f}", f"{cost.cpu_seconds:.2f}"
            table.add_row(stage, f"{queries:,}", f"{results:,}", *times, f"{cost.peak_bytes / 2**30:.2f}", "")
        found = exponent(points)
        if found is not None:
            met = "" if found <= TARGET_EXPONENT else f" > {TARGET_EXPONENT}"
            table.add_row("", "", "", "", "", "", f"{found:.2f}{met}", end_section=True)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
