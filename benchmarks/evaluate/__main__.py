"""The command: make the collections, measure every program on each, print costs, agreement and targets."""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console

from benchmarks.evaluate.measure_cost import ROOT, Cost, MeasurementError, measure, read_through
from benchmarks.evaluate.peers import PROGRAMS
from benchmarks.evaluate.report import (
    TARGETS,
    Disagreement,
    disagreements,
    print_costs,
    print_disagreements,
    print_targets,
)
from benchmarks.evaluate.specs import LAYOUTS, SPECS, folder_of, is_made

SIZES = ("S", "M", "L")
Key = tuple[str, str, str]


def main() -> int:
    """Return 0, or 1 when a program failed or two programs disagree for no known reason."""
    options = parse_arguments()
    console = Console(width=None if sys.stdout.isatty() else 160)
    messages = Console(stderr=True)
    sizes = SIZES if options.size == "all" else (options.size,)
    layouts = LAYOUTS if options.layout == "all" else (options.layout,)
    programs = options.program or list(PROGRAMS)
    data: Path = options.data.resolve()

    environment = describe_environment()
    console.print(" · ".join(f"{name} {value}" for name, value in environment.items()), highlight=False)
    tiny = made(data, "tiny", "sorted", messages)
    costs: dict[Key, Cost] = {}
    failures: dict[Key, str] = {}
    for size in sizes:
        for layout in layouts:
            folder = made(data, size, layout, messages)
            read_through(folder)
            # Programs take turns within a repetition, so that a slow minute of the machine hits all of them.
            for repetition in range(options.repeats):
                for program in programs:
                    key = size, layout, program
                    messages.print(f"{size} {layout} {program} ({repetition + 1}/{options.repeats})")
                    try:
                        cost = measure(program, folder, tiny)
                    except MeasurementError as failure:
                        failures[key] = str(failure)
                        continue
                    costs[key] = min(cost, costs.get(key, cost), key=lambda c: c.wall)

    found = disagreements(costs)
    print_costs(console, costs, failures)
    print_disagreements(console, found)
    print_targets(console, costs)
    if options.json:
        options.json.write_text(json.dumps(without_nan(results(environment, costs, failures, found)), indent=1) + "\n")
    return int(bool(failures) or any(not one.within_tolerance and not one.explanation for one in found))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluate", description=__doc__)
    parser.add_argument("--size", choices=[*SIZES, "all"], default="all")
    parser.add_argument("--layout", choices=[*LAYOUTS, "all"], default="all")
    parser.add_argument("--program", choices=PROGRAMS, action="append", help="only this one; repeatable")
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks" / "data", help="cache of collections")
    parser.add_argument("--repeats", type=int, default=1, help="processes per program; the fastest counts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results, means included")
    return parser.parse_args()


def made(data: Path, size: str, layout: str, messages: Console) -> Path:
    """Return the folder of a collection, made first where needed, in a process apart (see `measure_cost`)."""
    if not is_made(data, size, layout):
        messages.print(f"making {size} {layout}: {SPECS[size].rows:,} lines")
        maker = "benchmarks.evaluate.collections_made"
        subprocess.run([sys.executable, "-m", maker, str(data), size, layout], cwd=ROOT, check=True)
    return folder_of(data, size, layout)


def describe_environment() -> dict[str, str]:
    versions = {}
    for name, program in PROGRAMS.items():
        try:
            versions[name] = version(program.distribution)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {"Python": platform.python_version(), "CPUs": str(os.cpu_count()), **versions}


def results(
    environment: dict[str, str], costs: dict[Key, Cost], failures: dict[Key, str], found: list[Disagreement]
) -> dict[str, object]:
    """Everything measured, as plain data."""
    names = ("size", "layout", "program")
    return {
        "environment": environment,
        "costs": [{**dict(zip(names, key, strict=True)), **asdict(cost)} for key, cost in costs.items()],
        "failures": [{**dict(zip(names, key, strict=True)), "error": text} for key, text in failures.items()],
        "disagreements": [{**asdict(one), "explanation": one.explanation} for one in found],
        "targets": [
            {"target": t.text, "value": value, "reached": None if value is None else t.is_reached(value)}
            for t in TARGETS
            for value in (t.value(costs),)
        ],
    }


def without_nan(value: object) -> object:
    """Replace NaN, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    sys.exit(main())
