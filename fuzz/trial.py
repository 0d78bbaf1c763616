"""One input: run it as the shell would, in a folder of its own, and say what must not have happened."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from fuzz.calling import call
from fuzz.lines import Input

FINE, CHECK_FAILED, BAD_INPUT = 0, 1, 2
# What no message for people should have in it.
_INTERNAL = re.compile(
    r"Traceback|object at 0x|<class '|NoneType|pyo3|PanicException|\[Errno|KeyError|not supported between"
)
# A campaign's own record of what happened, which commands that fail may write to as well, where there is a campaign.
_RECORD = re.compile(r"(campaign\.db(-wal|-shm|-journal)?|\.settings-agreed\.json)$")
_CAMPAIGN = "campaign.toml"


@dataclass(frozen=True)
class Problem:
    """What went wrong with an input: the kind, and the details."""

    kind: str
    detail: str

    @property
    def signature(self) -> str:
        """What is the same for inputs that fail in the same way: the kind and the last place in our code."""
        places = re.findall(r'earmark/([\w/]+\.py)", line (\d+)', self.detail)
        return f"{self.kind} at {':'.join(places[-1])}" if places else f"{self.kind}: {self.detail[:80]}"


@dataclass(frozen=True)
class Outcome:
    """The exit code of an input, None if it had none, and what is wrong."""

    code: int | None
    problems: tuple[Problem, ...]


def run_trial(drawn: Input, folder: Path, *, seconds: float = 10.0) -> Outcome:
    """Write the files of an input into a new folder, run its command there, and check what happened.

    Parameters
    ----------
    drawn : Input
        The command line and the files.
    folder : Path
        Is made, and removed in the end.
    seconds : float
        The computing time that the command may take.
    """
    write_files(drawn, folder)
    try:
        campaigns = {folder / Path(name).parent for name in drawn.files if Path(name).name == _CAMPAIGN}
        before = _content(folder, campaigns)
        called = call(drawn.line, folder, seconds=seconds)
        problems = [Problem(*one) for one in called.escaped]
        if called.code is not None:
            problems += _check_code(drawn.line, called.code, called.out, called.err)
            problems += _check_files(drawn, called.code, before, _content(folder, campaigns))
            if drawn.check is not None:
                problems += [Problem("wrong value", said) for said in drawn.check(called.code, called.out)]
        return Outcome(called.code, tuple(problems))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_files(drawn: Input, folder: Path) -> None:
    """Write the files of an input into a new folder."""
    folder.mkdir(parents=True)
    for name, data in drawn.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


# ---- checks ----------------------------------------------------------------------------------------------------------


def _check_code(line: Sequence[str], code: int, out: str, err: str) -> Iterator[Problem]:
    if code not in (FINE, CHECK_FAILED, BAD_INPUT) or (code == CHECK_FAILED and "--fail-if-worse" not in line):
        yield Problem("exit code", f"{code}, with {err[-300:]!r}")
    *notes, last = err.splitlines() or [""]
    # Notes belong to data, such as a table of everything that is wrong.
    if code == BAD_INPUT and not (
        last.startswith("earmark: ") and all(out and one.startswith("note: ") for one in notes)
    ):
        yield Problem("message", f"not one line 'earmark: …': {err[:600]!r}")
    if found := _INTERNAL.search(err):
        yield Problem("message", f"{found[0]!r} in {err[-600:]!r}")
    if code == FINE and _prints_jsonl(line):
        for row in filter(None, out.split("\n")):
            try:
                json.loads(row, parse_constant=_refuse_constant)
            except ValueError as error:
                yield Problem("jsonl", f"{error}: {row[:300]!r}")
                break


def _prints_jsonl(line: Sequence[str]) -> bool:
    """Tell whether a command line asks for rows of JSON by name; what is printed otherwise may be text."""
    return "--format=jsonl" in line or any(pair == ("--format", "jsonl") for pair in pairwise(line))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _content(folder: Path, campaigns: set[Path]) -> dict[str, bytes]:
    """Return all files of a folder but the records of the campaigns that were there from the start."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file() and not (one.parent in campaigns and _RECORD.match(one.name))
    }


def _check_files(drawn: Input, code: int, before: dict[str, bytes], after: dict[str, bytes]) -> Iterator[Problem]:
    """Say which inputs were changed, and what a command that failed has left."""
    for name, data in before.items():
        if after.get(name) != data and (code == BAD_INPUT or not _is_in(name, drawn.written)):
            yield Problem("input changed", f"{name} is {'other' if name in after else 'gone'}, exit code {code}")
    for name in sorted(after.keys() - before.keys()):
        if "/.earmark-" in f"/{name}":
            yield Problem("left over", f"{name}, exit code {code}")
        elif code == BAD_INPUT:
            yield Problem("half written", f"{name} is there after exit code 2")


def _is_in(name: str, written: set[str]) -> bool:
    return any(name == one or name.startswith(f"{one}/") for one in written)
