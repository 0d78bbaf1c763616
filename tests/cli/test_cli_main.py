"""The command as a whole: help, versions, exit codes, pipes and terminals."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called import Cli, Files
from rich.console import Console
from rich.text import Text

from earmark import __version__
from earmark.cli import main as main_module
from earmark.cli.main import built_commands
from earmark.cli.output import Column, _long_table, _table
from earmark.errors import ParameterError

COMMANDS = (
    ("evaluate",),
    ("compare",),
    ("curves",),
    ("describe",),
    ("runs", "from-matrix"),
    ("runs", "convert"),
    ("measures",),
    ("audition",),
    ("rank",),
    ("report",),
    ("next",),
    ("plan",),
    ("simulate",),
    ("diagnose",),
    ("features",),
    ("fit",),
    ("preferences", "precision"),
    ("preferences", "rank"),
    ("preferences", "lists"),
    ("preferences", "next"),
    ("preferences", "plan"),
    ("preferences", "simulate"),
    ("crowd", "questions"),
    ("crowd", "clips"),
    ("crowd", "import"),
    ("crowd", "check"),
    ("crowd", "agree"),
    ("crowd", "aggregate"),
    ("crowd", "groups"),
    ("reproduce",),
    ("demo",),
    ("init",),
    ("status",),
    ("serve",),
    ("invite",),
    ("pay",),
    ("import",),
    ("export",),
    ("set",),
    ("add",),
    ("withdraw",),
    ("reinstate",),
    ("media",),
    ("pause",),
    ("resume",),
    ("close",),
    ("reopen",),
    ("backup",),
    ("restore",),
    ("move",),
    ("erase",),
)


def earmark(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Call the command in a process of its own."""
    command = [sys.executable, "-m", "earmark.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, **options)  # type: ignore[call-overload, no-any-return]


def in_terminal(width: int, *arguments: object) -> str:
    """Call the command in a terminal of this width and return all that it shows, without colours."""
    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    command = [sys.executable, "-m", "earmark.cli", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=outside, stdout=outside, stderr=outside, env={**environment, "TERM": "xterm-256color"}
    ):
        os.close(outside)
        shown = b""
        while True:
            try:
                more = os.read(inside, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
    os.close(inside)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).replace("\r\n", "\n")


def test_alone_it_shows_help(cli: Cli) -> None:
    said = cli()
    assert said.code == 0
    assert "Usage: earmark" in said.out
    for name, *_ in COMMANDS:
        assert name in said.out


def names_of(command: Any, *path: str) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield path
        return
    for name, part in command.commands.items():
        yield from names_of(part, *path, name)


def test_these_are_all_commands() -> None:
    assert sorted(COMMANDS) == sorted(names_of(built_commands()))


@pytest.mark.parametrize("group", sorted({command[0] for command in COMMANDS if len(command) > 1}))
def test_a_group_alone_shows_its_commands(cli: Cli, group: str) -> None:
    said = cli(group)
    assert said.code == 0
    assert all(name in said.out for of, *names in COMMANDS for name in names if of == group)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(cli: Cli, command: tuple[str, ...]) -> None:
    said = cli(*command, "--help")
    assert said.code == 0
    assert "Examples" in said.out
    assert f"earmark {' '.join(command)}" in said.out.partition("Examples")[2]
    # Rich markup that was not meant as such would swallow words in brackets.
    assert "[/" not in said.out
    words = said.out.partition("Examples")[2].split()
    assert all(word in said.out.partition("Examples")[0] for word in words if word.startswith("-"))
    assert cli(*command, "-h").out == said.out


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != ("demo",)], ids=" ".join)
def test_every_command_has_format_and_quiet(cli: Cli, command: tuple[str, ...]) -> None:
    said = cli(*command, "--help")
    assert "--format" in said.out
    assert "--quiet" in said.out


def test_the_version(cli: Cli) -> None:
    assert cli("--version").out == f"earmark {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evalute",), "No such command 'evalute'. Did you mean 'evaluate'? (try 'earmark --help')"),
        (("evaluate",), "Missing argument 'RUN'. (try 'earmark evaluate --help')"),
        (("evaluate", "x", "--colour"), "No such option: --colour"),
        (("evaluate", "x", "-j"), "requires an argument"),
        (("--colour",), "No such option: --colour (try 'earmark --help')"),
        (("evaluate", "x", "--format", "xml"), "'xml' is not one of 'table', 'jsonl', 'csv'"),
        (("evaluate", "x", "--encoding", "klingon"), "there is no encoding of text 'klingon'"),
        (("evaluate", "x"), "say what is known about the documents: --judgments, --cliques or --groups"),
        (
            ("evaluate", "x", "-j", "y", "--groups", "z"),
            "--judgments and --groups exclude each other: give one of them",
        ),
        (
            ("evaluate", "x", "--cliques", "y", "--scale", "broad"),
            "--scale belongs to --judgments: --cliques has no gains",
        ),
        (("evaluate", "x", "-j", "nowhere.txt"), "nowhere.txt: expected a file, got nothing there"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    said = cli(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("runs", "S\tq1\ta\nS\tq1\n", ":2: expected 3 columns (system query document), got 2 ("),
        ("runs", "S\tq1\ta\nS\tq1\ta\n", ":2: expected every document at most once in a list, got "),
        ("judgments", "q1\ta\t1\nq1\tb\tgood\n", ":2: expected a number as gain, got 'good'"),
        ("runs", "", ": expected lines of data, got an empty file"),
    ],
)
def test_bad_files_are_named_with_their_line(cli: Cli, files: Files, file: str, text: str, message: str) -> None:
    path = getattr(files, file)
    path.write_text(text)
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "AG@5")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"earmark: {path}{message}")
    assert said.err.count("\n") == 1


def test_an_unknown_measure_is_one_line_too(cli: Cli, files: Files) -> None:
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "nDGC@5")
    assert said.err.startswith("earmark: unknown measure 'nDGC': did you mean nDCG? (there are ")


def test_a_message_of_several_lines_becomes_one(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    def fail(**_: object) -> None:
        raise ParameterError("first\nsecond")

    monkeypatch.setattr(main_module, "built_commands", lambda: fail)
    assert cli().err == "earmark: first second\n"


def test_a_file_that_may_not_be_read_is_no_traceback(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    def fail(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "secret.txt")

    monkeypatch.setattr(main_module, "built_commands", lambda: fail)
    assert (cli().code, cli().err) == (2, "earmark: secret.txt: Permission denied\n")


def test_a_mistake_of_ours_shows_itself(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main_module, "built_commands", lambda: fail)
    with pytest.raises(ZeroDivisionError):
        cli()


def test_help_does_not_wait_for_numpy() -> None:
    code = (
        "import sys; from earmark.cli.main import main; main(['--help']); main(['evaluate', '--help']);"
        "print(sorted({'numpy', 'polars', 'scipy', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    assert done.stderr == "[]\n"


def test_a_process_ends_as_the_command_did(files: Files) -> None:
    good = earmark("evaluate", files.runs, "-j", files.judgments, "-m", "RR", "--quiet")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith('{"system":"fair","query":"all","measure":"RR","value":')
    bad = earmark("evaluate", files.folder / "nowhere", "-j", files.judgments)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith(f"earmark: {files.folder / 'nowhere'}: expected a file, got nothing there")
    assert "Traceback" not in bad.stderr


def test_data_is_utf8_whatever_the_locale(files: Files) -> None:
    files.runs.write_text("Größe\tq1\ta\n", encoding="utf-8")
    command = [sys.executable, "-m", "earmark.cli", "evaluate", files.runs, "-j", files.judgments, "-m", "RR", "-q"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, timeout=240, check=True, env=environment)
    assert "Größe" in done.stdout.decode("utf-8")


def write_many(files: Files) -> None:
    """Make the collection so large that its scores do not fit into a pipe at once."""
    files.runs.write_text("".join(f"S\tq{query}\td0\n" for query in range(20_000)))
    files.judgments.write_text("".join(f"q{query}\td0\t1\n" for query in range(20_000)))


def per_query(files: Files) -> tuple[object, ...]:
    return ("evaluate", files.runs, "-j", files.judgments, "-m", "RR", "--per-query", "-q")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("format", ["jsonl", "table"])
def test_all_of_a_large_output_goes_through_a_pipe(files: Files, unbuffered: str, format: str) -> None:
    write_many(files)
    done = earmark(*per_query(files), "--format", format, env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 0
    assert sum(line.startswith(("S", '{"system":"S"')) for line in done.stdout.splitlines()) == 20_001


def test_a_reader_that_leaves_early_is_nothing_to_complain_about(files: Files) -> None:
    write_many(files)
    command = [sys.executable, "-m", "earmark.cli", *map(str, per_query(files))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"system":"S"')
        process.stdout.close()
        assert process.stderr.read() == b""
    # Not 1, which is the code of a failed check.
    assert process.returncode == 141


def test_an_interrupt_ends_with_130(files: Files) -> None:
    code = (
        "import sys, time, earmark.cli.evaluate as e, earmark.cli.loading as l\n"
        "def wait(*a, **k):\n    print('ready', file=sys.stderr, flush=True)\n    time.sleep(30)\n"
        "l.load_scores = wait\n"
        f"from earmark.cli.main import main; sys.exit(main(['evaluate', 'x', '-j', {str(files.judgments)!r}]))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 130


def test_a_terminal_gets_a_table_and_a_pipe_gets_jsonl(files: Files) -> None:
    arguments = ("evaluate", files.runs, "-j", files.judgments, "-m", "P@1", "-q")
    assert in_terminal(80, *arguments).splitlines()[0].split() == ["system", "P@1"]
    assert earmark(*arguments).stdout.startswith("{")
    assert in_terminal(80, *arguments, "--format", "jsonl").startswith("{")


def test_long_tables_look_like_short_ones() -> None:
    columns = [Column("name", ["ä", "日本", "c"], numeric=False), Column("AG@5", ["0.5", "12.25", Text("3")])]
    console = Console(width=80, file=io.StringIO())
    console.print(_table(columns))
    assert [line.rstrip() for line in _long_table(columns).splitlines()] == [
        line.rstrip()
        for line in console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_break_no_numbers(files: Files, width: int) -> None:
    names = [f"P@{cutoff}" for cutoff in range(1, 21)]
    options = [option for name in names for option in ("-m", name)]
    shown = in_terminal(width, "evaluate", files.runs, "-j", files.judgments, *options, "-q")
    lines = shown.splitlines()
    assert max(len(line) for line in lines) <= width
    headers = [line.split()[1:] for line in lines if line.startswith("system")]
    assert [name for part in headers for name in part] == names
    rows = [line.split()[1:] for line in lines if line.startswith(("good", "fair", "poor"))]
    assert all(re.fullmatch(r"\d\.\d{4}", cell) for row in rows for cell in row)


def test_the_matrix_of_a_comparison_fits_80_columns(mirex: Path) -> None:
    arguments = ("compare", mirex / "runs.txt", "-j", mirex / "judgments.txt", "-m", "AG@5", "-q")
    lines = in_terminal(80, *arguments).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert any(line.startswith(" 1  2d3c5b  0.5864") and line.count(">") == 12 for line in lines)


def test_a_matrix_that_is_too_wide_is_left_out_and_that_is_said(files: Files) -> None:
    files.runs.write_text("".join(f"system{n:03d}\tq{q}\ta\n" for n in range(60) for q in (1, 2, 3)))
    shown = in_terminal(80, "compare", files.runs, "-j", files.judgments, "-m", "AG@1", "-q")
    assert "The matrix of 60 systems is too wide for this terminal: see --format csv." in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    dense = in_terminal(120, "compare", files.runs, "-j", files.judgments, "-m", "AG@1", "-q")
    assert "too wide" not in dense
