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
    succeeded : Counter
        By command, how many ended with exit code 0; a command that never does is hardly tested.
    commands : Counter
        How many of them called each command.
    failures : list of Failure
        Those that went wrong.
    """

    inputs: int = 0
    succeeded: Counter[str] = field(default_factory=Counter)
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
        said = "\n".join(f"  {one.kind}: {shown(one.detail.strip())}" for one in self.problems)
        return (
            f"FAILED: input {self.number} of seed {self.seed}\n{said}\n"
            f"  repeat: python -m fuzz --seed {self.seed} --only {self.number}\n"
            f"  or:     cd {quoted(str(self.folder))} && earmark {' '.join(map(quoted, self.drawn.line))}\n"
        )


def shown(text: str) -> str:
    """Return a text without anything that a terminal would obey."""
    return "".join(one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text)


def quoted(word: str) -> str:
    """Return a word as a shell takes it, without anything that a terminal would not show as it is."""
    if word.isprintable():
        return shlex.quote(word)
    parts = (
        one if one.isprintable() and one not in "\\'" else "".join(f"\\x{byte:02x}" for byte in one.encode())
        for one in word
    )
    return f"$'{''.join(parts)}'"


def draw(seed: int, number: int, templates: Templates) -> tuple[str, Input]:
    """Return the input of a number, and the command it calls: the same for the same seed and number."""
    rng = Random(f"{seed}/{number}")
    if rng.random() < DIFFERENTIAL:
        return "evaluate, compared", draw_case(rng)
    command = rng.choice(find_commands())
    return command.name, draw_input(command, templates, rng)


def run_inputs(
    seed: int, numbers: Sequence[int], templates: Templates, keep: Path, *, seconds: float, until: float | None = None
) -> Iterator[tuple[str, int | None, Failure | None]]:
    """Run the inputs of these numbers and yield, for each, its command, its exit code and how it failed, if it did.

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
        faulthandler.dump_traceback_later(seconds * _LAST_RESORT, exit=True, file=sys.__stderr__ or 2)
        outcome = run_trial(drawn, templates.folder.parent / "running", seconds=seconds)
        if any(one.kind == "hang" for one in outcome.problems):
            # A machine that stands still for a while is no mistake of the command: a hang happens again.
            outcome = run_trial(drawn, templates.folder.parent / "running", seconds=seconds)
        faulthandler.cancel_dump_traceback_later()
        failed = _kept(seed, number, drawn, outcome.problems, keep) if outcome.problems else None
        yield name, outcome.code, failed
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
