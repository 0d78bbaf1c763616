"""``python -m fuzz``: run inputs, print those that fail with how to repeat them, and say what was run."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fuzz.commands import LEFT_OUT
from fuzz.session import Tally, limit_memory, run_inputs
from fuzz.templates import make_templates

# As many inputs that fail in the same way are printed in full.
_SHOWN = 2


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the inputs and return the exit code: 1 if any failed."""
    # Many small matrices are slower with several threads than with one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = _options().parse_args(arguments)
    numbers = [options.only] if options.only is not None else range(options.inputs)
    until = time.monotonic() + options.seconds if options.seconds else None
    tally, ways = Tally(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="earmark-fuzz-") as work:
        templates = make_templates(Path(work).resolve() / "templates")
        limit_memory()
        keep = options.keep.resolve()
        for name, code, failure in run_inputs(
            options.seed, numbers, templates, keep, seconds=options.seconds_each, until=until
        ):
            tally.inputs += 1
            tally.commands[name] += 1
            tally.succeeded[name] += code == 0
            if failure is not None:
                tally.failures.append(failure)
                way = f"{name}: {failure.problems[0].signature}"
                ways[way] += 1
                if ways[way] <= _SHOWN:
                    print(failure, flush=True)
            if tally.inputs % 1000 == 0:
                print(f"{tally.inputs:,} inputs, {len(tally.failures):,} failed", file=sys.stderr, flush=True)
    if options.counts:
        for name, called in sorted(tally.commands.items()):
            print(f"{name:22} {called:6,} inputs, {tally.succeeded[name] / called:4.0%} with exit code 0")
    for way, times in ways.most_common():
        print(f"{times:6,} × {way}")
    left_out = ", ".join(LEFT_OUT)
    print(
        f"{tally.inputs:,} inputs of seed {options.seed}, {len(tally.commands)} commands (without {left_out}): "
        f"{tally.succeeded.total():,} with exit code 0, {len(tally.failures):,} failed"
        + (f", kept in {keep}" if tally.failures else "")
    )
    return 1 if tally.failures else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000, metavar="N", help="how many inputs to run")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the seed from which all inputs follow")
    parser.add_argument("--seconds", type=float, metavar="T", help="stop after so many seconds")
    parser.add_argument("--only", type=int, metavar="I", help="run the input of this number alone")
    parser.add_argument("--seconds-each", type=float, default=10, metavar="T", help="computing time of one input")
    parser.add_argument("--counts", action="store_true", help="say how often each command was called and succeeded")
    parser.add_argument(
        "--keep", type=Path, default=Path(tempfile.gettempdir()) / "earmark-fuzz", metavar="DIR",
        help="the folder for inputs that fail",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(run())
