"""``python -m benchmarks.campaigns``: how fast stored campaigns are, with many assessors and with long logs."""

from __future__ import annotations

import argparse
import sys
import time

from rich.console import Console
from rich.table import Table

from benchmarks.campaigns.growth import VETERAN, Point, grow, measure
from benchmarks.campaigns.load import Load, percentiles, play
from benchmarks.campaigns.stores import new_desk, servers

ASSESSORS = (1, 10, 50)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
TARGET_OPEN = 3.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less than a minute: logs of up to 10,000 answers")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], action="append", help="by default both")
    parser.add_argument("--postgresql", metavar="URL", help="a server that may be written to, by default a new one")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number of assessors")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="answers in the longest log")
    chosen = parser.parse_args()
    seconds = 2.0 if chosen.quick else chosen.seconds
    largest = min(chosen.largest, 10_000) if chosen.quick else chosen.largest
    kinds = chosen.store or ["sqlite", "postgresql"]
    # Wide enough for all columns, also where the output goes to a file.
    console = Console(width=None if sys.stdout.isatty() else 120)
    with servers(kinds, chosen.postgresql) as urls:
        loads = {}
        for kind, url in urls.items():
            with new_desk(url, questions=50_000) as desk:
                loads[kind] = [play(desk, assessors, seconds) for assessors in ASSESSORS]
        console.print(load_table(loads, seconds))
        for kind, url in urls.items():
            console.print(growth_table(kind, curve(url, largest, calls=60 if chosen.quick else 300)))
    console.print(f"target: the log of 100,000 answers is read in less than {TARGET_OPEN:g} s")
    return 0


def curve(url: str, largest: int, calls: int) -> list[tuple[Point, float]]:
    """Measure logs of growing size, each in a store of its own; the second number is the seconds to build it."""
    found = []
    for size in SIZES:
        if size <= largest:
            with new_desk(url) as desk:
                begun = time.perf_counter()
                grow(desk, 0, -(-size // 3))
                built = time.perf_counter() - begun
                found.append((measure(desk, size, calls), built))
    return found


def load_table(loads: dict[str, list[Load]], seconds: float) -> Table:
    title = f"assessors at once (threads of one process, no thinking time, {seconds:g} s each); milliseconds"
    table = Table(title=title)
    for name in ("store", "assessors", "answers/s", "take, median", "99%", "answer, median", "99%"):
        table.add_column(name, justify="right")
    for kind, rows in loads.items():
        for load in rows:
            numbers = [*percentiles(load.takes), *percentiles(load.answers)]
            shown = [f"{number:.1f}" for number in numbers]
            table.add_row(kind, str(load.assessors), f"{load.answers_per_second:.0f}", *shown)
    return table


def growth_table(kind: str, points: list[tuple[Point, float]]) -> Table:
    table = Table(title=f"{kind}: one call after the other, as the log grows; milliseconds, median and 99%")
    people = ("newcomer", "regular1", VETERAN)
    takes = [f"take: {who}" for who in people]
    for name in ("answers", "events", *takes, "take, CPU", "answer: regular1", "read log", "build"):
        table.add_column(name, justify="right")
    for point, built in points:
        cells = ["{:.1f} {:.1f}".format(*point.takes[who]) for who in people]
        cells += ["{:.1f} {:.1f}".format(*numbers) for numbers in (point.busy, point.replies["regular1"])]
        table.add_row(f"{point.answers:,}", f"{point.events:,}", *cells, f"{point.log_seconds:.2f} s", f"{built:.0f} s")
    return table


if __name__ == "__main__":
    sys.exit(main())
