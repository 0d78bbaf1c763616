"""``python -m benchmarks.simulate``: mtc-judge campaigns on MIREX 2011, beside the recorded times of Allcea.

Allcea (C#, run under Mono on the same data) cannot be run here; its user times were recorded elsewhere and are printed
as such. Ours are user times of this run, once without and once with starting Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

# Budget, and the user seconds that were recorded for Allcea's "mjud" with batches of 20 × 1 and 1 × 20.
RECORDED = {220: 4.6, 600: 10.1}
TARGET, TARGET_WITH_START = 1 / 20, 1 / 4
TARGET_MEGABYTES = 250

_PLAY = """
import resource, sys
import earmark
from earmark.campaign.problem import Problem
from earmark.simulation.campaigns import Study, simulate
folder, budget = sys.argv[1:]
def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
judgments = earmark.read_judgments(f"{folder}/judgments.txt")
problem = Problem.build(
    earmark.read_runs(f"{folder}/runs.txt"),
    judgments=judgments,
    measure="AG@5",
    predictor="mtc-judge",
    metadata=earmark.read_metadata(f"{folder}/metadata.txt"),
    stop=f"budget:{budget}",
    update_every=20,
)
study = Study(problem, judgments)
before = used()
last = list(simulate(study))[-1]
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(used() - before, used(), int(peak) / 1024, last.judged, last.accuracy)
"""


def main() -> int:
    data = Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "mirex-ams-2011"
    if not data.is_dir():
        print(f"needs the MIREX 2011 collection in {data}: set EARMARK_DATA", file=sys.stderr)
        return 2
    table = Table(title="mtc-judge campaigns on MIREX 2011, updated every 20 judgments; user seconds")
    for name in (
        "budget",
        "Allcea, recorded",
        "earmark",
        "share",
        "with start",
        "share",
        "peak MB",
        "accuracy",
        "targets",
    ):
        table.add_column(name, justify="right")
    for budget, recorded in RECORDED.items():
        command = [sys.executable, "-c", _PLAY, str(data), str(budget)]
        runs = [
            [float(x) for x in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]
            for _ in range(3)
        ]
        alone, whole, peak, _, accuracy = min(runs)
        reached = alone <= TARGET * recorded and whole <= TARGET_WITH_START * recorded and peak <= TARGET_MEGABYTES
        table.add_row(
            str(budget),
            f"{recorded:.1f}",
            f"{alone:.3f}",
            f"1/{recorded / alone:.0f}",
            f"{whole:.2f}",
            f"1/{recorded / whole:.1f}",
            f"{peak:.0f}",
            f"{accuracy:.3f}",
            "reached" if reached else "missed",
        )
    console = Console()
    console.print(table)
    console.print(f"targets: 1/{1 / TARGET:.0f}, with start 1/{1 / TARGET_WITH_START:.0f}, {TARGET_MEGABYTES} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
