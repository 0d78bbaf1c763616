"""Ctrl-C at any moment ends with 130 and one line, and no process outlives the one that started it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from called import Files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")

# For what hangs, not for what is slow on a busy machine.
PATIENCE = 240.0
SAID = "earmark: interrupted\n"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts earmark in a session of its own, as a shell does for a job."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: object, code: str | None = None, program: str = "") -> subprocess.Popen[str]:
        how = ["-m", "earmark.cli"] if code is None else ["-c", code]
        process = subprocess.Popen(
            [sys.executable, *how, *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def study(tmp_path: Path) -> list[object]:
    """Return a command line that simulates for minutes."""
    draw, documents = random.Random(3), [f"d{number}" for number in range(60)]
    runs, judgments = tmp_path / "many.tsv", tmp_path / "all.tsv"
    queries = [f"q{number}" for number in range(30)]
    runs.write_text(
        "".join(
            f"S{system}\t{query}\t{one}\n"
            for query in queries
            for system in range(8)
            for one in draw.sample(documents, 10)
        )
    )
    judgments.write_text("".join(f"{query}\t{one}\t{draw.randint(0, 2)}\n" for query in queries for one in documents))
    return ["simulate", runs, "-j", judgments, "-m", "AG@5", "--repeats", "40", "--stop", "none", "--quiet"]


def ends_as_interrupted(process: subprocess.Popen[str]) -> None:
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, SAID)


def wait_until(check: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes that work, without those that joblib and multiprocessing have for themselves."""
    found = []
    for one in children(process):
        try:
            if any("loky.backend.popen" in word for word in one.cmdline()):
                found.append(one)
        except psutil.Error:
            continue
    return found


# An interrupt while a module is loaded: just before, within, and where loading turns it into another error.
LOADING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            sys.meta_path.remove(self)
            {how}
sys.meta_path.insert(0, Interrupting())
from earmark.cli.start import run
run()
"""
PLAINLY = "os.kill(os.getpid(), signal.SIGINT)"
AS_ERROR = """
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("the library is broken") from None"""
UNRAISABLE = """
            class Garbage:
                def __del__(self):
                    os.kill(os.getpid(), signal.SIGINT)
            Garbage()"""
FROM_TEXT = """
            exec("os.kill(os.getpid(), signal.SIGINT)")"""


@pytest.mark.parametrize("module", ["earmark.cli.main", "typer", "rich", "numpy", "polars", "earmark.data.readers"])
@pytest.mark.parametrize("how", [PLAINLY, AS_ERROR, UNRAISABLE, FROM_TEXT], ids=["plainly", "error", "del", "text"])
def test_an_interrupt_while_modules_are_loaded(start, files: Files, module: str, how: str) -> None:
    code = LOADING.format(how=how, module=module)
    ends_as_interrupted(start("evaluate", files.runs, "-j", files.judgments, "-m", "RR", code=code))


def test_an_interrupt_before_anything_runs(start) -> None:
    ends_as_interrupted(start(code="import os, signal, earmark.cli.start as s; os.kill(os.getpid(), 2); s.run()"))


# Computing time says how far a program is, however busy the machine is.
AFTER_COMPUTING = """
import atexit, os, signal, earmark.cli.start as s
signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGINT))
# Called last: while Python tidies up, it would give the signal back its usual effect, the end of the process.
atexit.register(signal.signal, signal.SIGPROF, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_PROF, {seconds})
s.run()
"""


def test_interrupts_at_any_time(start, files: Files) -> None:
    """After the interpreter has started, which nobody can guard, whatever the moment."""
    rank = ("rank", files.runs, "-j", files.judgments, "-m", "AG@3")
    whole = start(*rank, code=AFTER_COMPUTING.format(seconds=0))
    _, _, used = os.wait4(whole.pid, 0)
    whole.returncode = 0
    ended = 0
    for step in range(1, 11):
        process = start(*rank, code=AFTER_COMPUTING.format(seconds=(used.ru_utime + used.ru_stime) * step / 12))
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 0:
            continue
        assert (process.returncode, err.splitlines()[-1]) == (130, SAID.strip())
        assert "Traceback" not in err
        assert all(line.startswith(("note: ", "earmark: ")) for line in err.splitlines())
        ended += 1
    assert ended > 3


def test_the_second_interrupt_does_not_wait(start) -> None:
    code = (
        "import sys, time, earmark.cli.main as m, earmark.cli.start as s\n"
        "def stubborn():\n"
        "    while True:\n"
        "        try:\n"
        "            print('ready', file=sys.stderr, flush=True)\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
        "m.main = stubborn\n"
        "s.run()"
    )
    process = start(code=code)
    assert process.stderr is not None
    for _ in range(2):
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
    ends_as_interrupted(process)


def test_an_interrupt_leaves_no_file(start, files: Files) -> None:
    target = files.folder / "out.tsv"
    code = (
        "import sys, time, pathlib, earmark.cli.start as s\n"
        "real = pathlib.Path.write_bytes\n"
        "def slow(self, data):\n"
        "    real(self, data[:1])\n"
        "    print('ready', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "pathlib.Path.write_bytes = slow\n"
        "s.run()"
    )
    before = set(files.folder.iterdir())
    process = start("runs", "convert", files.runs, "-o", target, code=code)
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    assert set(files.folder.iterdir()) != before
    process.send_signal(signal.SIGINT)
    ends_as_interrupted(process)
    assert set(files.folder.iterdir()) == before


def test_who_is_told_to_ignore_interrupts_does(start, files: Files) -> None:
    code = (
        "import os, signal, sys, earmark.cli.main as m, earmark.cli.start as s\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "m.main = lambda: os.kill(os.getpid(), signal.SIGINT) or 7\n"
        "s.run()"
    )
    process = start(code=code)
    assert process.communicate(timeout=PATIENCE)[1] == ""
    assert process.returncode == 7


def test_sigterm_tidies_up_and_ends_by_that_signal(start, files: Files) -> None:
    """As a service manager, a batch system and ``timeout`` expect; a second one does not wait."""
    code = (
        "import sys, time, pathlib, earmark.cli.main as m, earmark.cli.start as s\n"
        "def working():\n"
        "    try:\n"
        "        print('ready', file=sys.stderr, flush=True)\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        print('tidying', file=sys.stderr, flush=True)\n"
        "        time.sleep(60 if len(sys.argv) > 1 else 0)\n"
        "m.main = working\n"
        "s.run()"
    )
    for signals, more in ((1, []), (2, ["slowly"])):
        process = start(*more, code=code)
        assert process.stderr is not None
        for said in ("ready\n", "tidying\n")[:signals]:
            assert process.stderr.readline() == said
            process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGTERM
        assert err == ("tidying\n" if signals == 1 else "")


slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("jobs", "moment", "whole_job"),
    [
        (1, "working", True),
        (2, "starting", True),
        (2, "working", True),
        pytest.param(1, "starting", True, marks=slow),
        pytest.param(1, "working", False, marks=slow),
        pytest.param(2, "starting", False, marks=slow),
        pytest.param(2, "working", False, marks=slow),
    ],
)
def test_an_interrupt_while_campaigns_are_simulated(start, study, jobs: int, moment: str, whole_job: bool) -> None:
    """In a terminal, Ctrl-C reaches all processes of a job; a program that sends it may reach the first alone."""
    process = start(*study, "--jobs", jobs)
    if jobs == 1:
        itself = psutil.Process(process.pid)
        wait_until(lambda: itself.cpu_times().user > (2 if moment == "working" else 0.3))
    else:
        wait_until(lambda: len(workers(process)) == 2)
        if moment == "working":
            wait_until(lambda: all(one.cpu_times().user > 1.5 for one in workers(process)))
    helping = children(process)
    if whole_job:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    ends_as_interrupted(process)
    assert not psutil.wait_procs(helping, timeout=PATIENCE)[1]


@pytest.mark.parametrize(
    ("ending", "moment"),
    [
        (signal.SIGKILL, "working"),
        (signal.SIGTERM, "starting"),
        pytest.param(signal.SIGKILL, "starting", marks=slow),
        pytest.param(signal.SIGTERM, "working", marks=slow),
    ],
)
def test_workers_end_with_whoever_started_them(start, study, ending: signal.Signals, moment: str) -> None:
    process = start(*study, "--jobs", 2)
    wait_until(lambda: len(workers(process)) == 2)
    if moment == "working":
        wait_until(lambda: all(one.cpu_times().user > 1.5 for one in workers(process)))
    helping = children(process)
    process.send_signal(ending)
    process.wait(timeout=PATIENCE)
    assert process.returncode == -ending
    assert not psutil.wait_procs(helping, timeout=PATIENCE)[1]
