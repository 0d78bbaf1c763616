"""Many inputs in one process: drawn by number, run, and kept where they fail."""

from __future__ import annotations

import faulthandler
import json
import resource
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz.commands import find_commands
from fuzz.differential import draw_case
from fuzz.lines import Input, draw_input
from fuzz.templates import Templates
from fuzz.trial import Problem, run_trial, write_files

DIFFERENTIAL = 0.2
"""The share of inputs whose values are compared with those of the naive program."""
MEMORY = 6 * 2**30
"""How many bytes a command may take beyond what is taken when the session starts."""
# A command in which no signal arrives, deep in a library, takes the process with it.
_LAST_RESORT = 20


@dataclass
class Tally:
    """What became of the inputs.

    Parameters
    ----------
    inputs : int
        How many were run.
    commands : Counter
        How many of them called each command.
    failures : list of Failure
        Those that went wrong.
    """

    inputs: int = 0
    commands: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True)
class Failure:
    """An input that went wrong, and where it is kept."""

    seed: int
    number: int
    drawn: Input
    problems: Sequence[Problem]
    folder: Path

    def __str__(self) -> str:
        said = "\n".join(f"  {one.kind}: {one.detail.strip()}" for one in self.problems)
        return (
            f"FAILED: input {self.number} of seed {self.seed}\n{said}\n"
            f"  repeat: python -m fuzz --seed {self.seed} --only {self.number}\n"
            f"  or:     cd {shlex.quote(str(self.folder))} && earmark {shlex.join(self.drawn.line)}\n"
        )


def draw(seed: int, number: int, templates: Templates) -> tuple[str, Input]:
    """Return the input of a number, and the command it calls: the same for the same seed and number."""
    rng = Random(f"{seed}/{number}")
    if rng.random() < DIFFERENTIAL:
        return "evaluate, compared", draw_case(rng)
    command = rng.choice(find_commands())
    return command.name, draw_input(command, templates, rng)


def run_inputs(
    seed: int, numbers: Sequence[int], templates: Templates, keep: Path, *, seconds: float, until: float | None = None
) -> Iterator[tuple[str, Failure | None]]:
    """Run the inputs of these numbers and yield, for each, its command and how it failed, if it did.

    Parameters
    ----------
    seed : int
        The seed of the session.
    numbers : sequence of int
        Which of its inputs.
    templates : Templates
        What earmark has made for them.
    keep : Path
        The folder for inputs that fail; ``current.json`` in it names the one that is running, for a process that dies.
    seconds : float
        The computing time of each.
    until : float, optional
        When to stop, by ``time.monotonic``.
    """
    keep.mkdir(parents=True, exist_ok=True)
    current = keep / "current.json"
    for number in numbers:
        if until is not None and time.monotonic() > until:
            break
        name, drawn = draw(seed, number, templates)
        current.write_text(json.dumps({"seed": seed, "number": number, "line": drawn.line}))
        faulthandler.dump_traceback_later(seconds * _LAST_RESORT, exit=True, file=sys.__stderr__)
        problems = run_trial(drawn, templates.folder.parent / "running", seconds=seconds)
        faulthandler.cancel_dump_traceback_later()
        yield name, _kept(seed, number, drawn, problems, keep) if problems else None
    current.unlink(missing_ok=True)


def _kept(seed: int, number: int, drawn: Input, problems: Sequence[Problem], keep: Path) -> Failure:
    folder = keep / f"{seed}-{number}"
    if not folder.exists():
        write_files(drawn, folder)
    failure = Failure(seed, number, drawn, problems, folder)
    (keep / f"{seed}-{number}.txt").write_text(str(failure), errors="backslashreplace")
    return failure


def limit_memory(allowance: int = MEMORY) -> None:
    """Let allocations beyond an allowance fail, as MemoryError, instead of filling the memory of the machine."""
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        # Only Linux says how much address space is taken, and only there is the limit kept.
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + allowance, most))
