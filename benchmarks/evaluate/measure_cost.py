"""What a program costs: wall-clock time, CPU time and peak memory, measured in a fresh process of its own.

The process reads its own counters (`resource.getrusage`) around three steps that are reported apart:
importing the program; compiling it, for a program that does, by one evaluation of a tiny collection; and the
step that counts, from files to means. The peak is that of the whole process, modules included.

On Linux a process starts with its parent's peak memory as its own (the counter survives fork and exec), so
whoever calls `measure` must stay smaller than any program measured: no numpy, no polars, no collections in
memory.
"""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
# The threads that numpy's BLAS starts on import spin for some 60 ms: CPU time of the import, not of the rest.
SETTLING_SECONDS = 0.25


class MeasurementError(Exception):
    """A program could not be run; the message is the last line it printed."""


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes of one program on one collection, and the means it found (measure, system)."""

    wall: float
    cpu: float
    peak_bytes: int
    import_wall: float
    compile_wall: float
    means: dict[str, dict[str, float]]


def measure(program: str, folder: Path, tiny: Path) -> Cost:
    """Run a program on the collection in a folder, in a new process.

    Raises
    ------
    MeasurementError
        When the program is not installed or breaks off.
    """
    done = subprocess.run(
        [sys.executable, "-m", __name__, program, str(folder.resolve()), str(tiny.resolve())],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise MeasurementError((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return Cost(**json.loads(done.stdout))


def read_through(folder: Path) -> None:
    """Read all files once, so that the first program measured does not pay for the disk."""
    buffer = bytearray(1 << 20)
    for path in folder.iterdir():
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(name: str, folder: Path, tiny: Path) -> None:
    """Measure in this process and print the `Cost` as JSON."""
    from benchmarks.evaluate.peers import PROGRAMS

    program = PROGRAMS[name]
    started = time.perf_counter()
    evaluate = program.load()
    imported = time.perf_counter()
    if program.compiles:
        evaluate(sorted(tiny.glob("*.run")), tiny / "qrels")
    compiled = time.perf_counter()
    time.sleep(SETTLING_SECONDS)
    runs = sorted(folder.glob("*.run"))
    wall_before, cpu_before = time.perf_counter(), cpu_seconds()
    means = evaluate(runs, folder / "qrels")
    wall, cpu = time.perf_counter() - wall_before, cpu_seconds() - cpu_before
    cost = {
        "wall": wall,
        "cpu": cpu,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT,
        "import_wall": imported - started,
        "compile_wall": compiled - imported,
        "means": means,
    }
    print(json.dumps(cost))
    sys.stdout.flush()
    os._exit(0)  # taking down millions of Python objects is nobody's cost here, only waiting


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
