"""The fuzzer: a short seeded run over all commands finds nothing, and everything that could go wrong is found."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.commands import LEFT_OUT, Command, Parameter, find_commands
from fuzz.differential import draw_case
from fuzz.lines import Input, draw_input
from fuzz.session import Failure, draw, quoted, run_inputs
from fuzz.templates import Templates, make_templates
from fuzz.trial import run_trial

from earmark.cli.main import app
from earmark.cli.main import main as real_main
from earmark.measures import parse_all
from fuzz import __main__ as program
from fuzz import session

# Inputs have a limit of their own, for which they use the alarm.
pytestmark = pytest.mark.timeout(method="thread")

INPUTS = 800
Main = Callable[[Sequence[str]], int]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return make_templates(tmp_path_factory.mktemp("fuzz") / "templates")


def kinds(drawn: Input, folder: Path, seconds: float = 5) -> list[str]:
    return [one.kind for one in run_trial(drawn, folder / "running", seconds=seconds).problems]


def test_a_seeded_run_over_all_commands_finds_nothing(templates: Templates, tmp_path: Path) -> None:
    done = list(run_inputs(20_26, range(INPUTS), templates, tmp_path / "keep", seconds=30))
    assert len(done) == INPUTS
    failures = [failure for _, _, failure in done if failure is not None]
    assert not failures, "\n".join(map(str, failures[:5]))
    # Every command is called, and nearly all of them get to work.
    called = {name for name, _, _ in done}
    assert called >= {command.name for command in find_commands()}
    assert len({name for name, code, _ in done if code == 0}) > 0.85 * len(called)
    assert not list((tmp_path / "keep").iterdir())


def test_all_commands_and_options_are_found() -> None:
    found = {command.name: command for command in find_commands()}
    groups = [(one.name, one.typer_instance) for one in app.registered_groups]
    names = {one.name for one in app.registered_commands}
    names |= {f"{group} {one.name}" for group, inner in groups if inner for one in inner.registered_commands}
    assert names == set(found) | set(LEFT_OUT)
    assert found["evaluate"]["runs"] == Parameter("runs", "", Path, (), None, None, True, True, "input")
    assert found["compare"]["alpha"].kind is float
    assert "wilcoxon" in found["compare"]["test"].choices


def test_an_option_that_nobody_has_heard_of_gets_files_of_all_kinds(templates: Templates) -> None:
    mystery = Parameter("mystery", "--mystery", Path, (), None, None, True, False, None)
    drawn = [draw_input(Command("new thing", (mystery,)), templates, Random(number)) for number in range(200)]
    assert len({tuple(one.files) for one in drawn}) > 20
    assert all(one.line[:2] == ["new", "thing"] for one in drawn)


def test_an_input_follows_from_its_seed_and_number(templates: Templates) -> None:
    for number in range(30):
        (name, one), (again, two) = draw(1, number, templates), draw(1, number, templates)
        assert (name, one.line, one.files) == (again, two.line, two.files)
    assert [draw(1, number, templates)[1].line for number in range(9)] != [
        draw(2, number, templates)[1].line for number in range(9)
    ]


# ---- what goes wrong is found ----------------------------------------------------------------------------------------


def raises(line: Sequence[str]) -> int:
    raise ValueError("a mistake")


def hangs(line: Sequence[str]) -> int:
    while True:
        sum(range(1000))


def waits(line: Sequence[str]) -> int:
    time.sleep(60)
    return 0


def leaves_with_3(line: Sequence[str]) -> int:
    return 3


def fails_a_check_that_nobody_asked_for(line: Sequence[str]) -> int:
    return 1


def says_nothing(line: Sequence[str]) -> int:
    return 2


def says_too_much(line: Sequence[str]) -> int:
    print("earmark: one\nearmark: two", file=sys.stderr)
    return 2


def shows_its_insides(line: Sequence[str]) -> int:
    print("earmark: expected a file, got <class 'int'>", file=sys.stderr)
    return 2


def warns(line: Sequence[str]) -> int:
    import numpy as np

    np.log(np.array([0.0, -1.0]))
    return 0


def prints_nan(line: Sequence[str]) -> int:
    print('{"value": NaN}')
    return 0


def overwrites(line: Sequence[str]) -> int:
    Path("run.tsv").write_text("gone")
    return 0


def removes(line: Sequence[str]) -> int:
    Path("run.tsv").unlink()
    return 0


def writes_half(line: Sequence[str]) -> int:
    Path("out.csv").write_text("query,docu")
    return shows_an_error(line)


def leaves_a_temporary_file(line: Sequence[str]) -> int:
    Path(".earmark-0-out.csv").write_text("query")
    return 0


def shows_an_error(line: Sequence[str]) -> int:
    print("earmark: a mistake of yours", file=sys.stderr)
    return 2


def succeeds(line: Sequence[str]) -> int:
    Path("out.csv").write_text("whole")
    return 0


@pytest.mark.parametrize(
    ("fake", "found"),
    [
        (raises, ["ValueError"]),
        (hangs, ["hang"]),
        (waits, ["hang"]),
        (leaves_with_3, ["exit code"]),
        (fails_a_check_that_nobody_asked_for, ["exit code"]),
        (says_nothing, ["message"]),
        (says_too_much, ["message"]),
        (shows_its_insides, ["message"]),
        (warns, ["warning RuntimeWarning", "warning RuntimeWarning"]),
        (prints_nan, ["jsonl"]),
        (overwrites, ["input changed"]),
        (removes, ["input changed"]),
        (writes_half, ["half written"]),
        (leaves_a_temporary_file, ["left over"]),
        (shows_an_error, []),
        (succeeds, []),
    ],
)
def test_what_a_command_does_wrong_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: Main, found: list[str]
) -> None:
    monkeypatch.setattr("earmark.cli.main.main", fake)
    line = ["evaluate", "run.tsv", "-o", "out.csv", "--format", "jsonl"]
    drawn = Input(line, {"run.tsv": b"s\tq\td\n"}, {"out.csv"})
    assert kinds(drawn, tmp_path, seconds=0.2) == found


@pytest.mark.parametrize("measure", ["P@3", "AG@5", "nDCG@3", "RBP(p=0.8)@5", "AP", "bpref"])
def test_a_wrong_value_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, measure: str) -> None:
    kind: Any = type(parse_all([measure])[0])
    right = kind.score
    monkeypatch.setattr("fuzz.differential.MEASURES", (measure,))
    monkeypatch.setattr(kind, "score", lambda self, lists: right(self, lists) + 1e-6)
    assert any("wrong value" in kinds(draw_case(Random(number)), tmp_path) for number in range(5))


def test_ties_in_another_order_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("fuzz.reference.as_float32", lambda number: number)
    found = [kinds(draw_case(Random(number)), tmp_path) for number in range(150)]
    assert any("wrong value" in one for one in found)


def test_a_failure_is_kept_with_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, templates: Templates, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(line: Sequence[str]) -> int:
        if line[0] == "measures":
            raise KeyError(line[0])
        return real_main(line)

    number = next(n for n in range(1000) if draw(0, n, templates)[0] == "measures")
    monkeypatch.setattr("earmark.cli.main.main", breaks)
    monkeypatch.setattr(program, "limit_memory", lambda: None)
    monkeypatch.setattr(program, "make_templates", lambda folder: replace(templates, folder=folder))
    keep = tmp_path / "keep"
    arguments = ["--seed", "0", "--only", str(number), "--keep", str(keep)]
    assert program.run(arguments) == 1
    said = capsys.readouterr().out
    assert f"python -m fuzz --seed 0 --only {number}" in said
    assert f"cd {keep / f'0-{number}'} && earmark measures" in said
    assert "1 × measures: KeyError" in said
    assert (keep / f"0-{number}").is_dir()
    assert (keep / f"0-{number}.txt").read_text() in said
    monkeypatch.setattr("earmark.cli.main.main", real_main)
    assert program.run(arguments) == 0
    assert "1 inputs of seed 0, 1 commands" in capsys.readouterr().out


def test_the_input_of_a_process_that_dies_is_named(tmp_path: Path, templates: Templates) -> None:
    for _ in run_inputs(0, range(3), templates, tmp_path, seconds=30):
        current = json.loads((tmp_path / "current.json").read_text())
        assert current["seed"] == 0
        assert current["line"] == draw(0, current["number"], templates)[1].line
    assert not (tmp_path / "current.json").exists()


def test_a_hang_is_one_that_happens_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, templates: Templates
) -> None:
    calls: list[Sequence[str]] = []

    def stands_still_once(line: Sequence[str]) -> int:
        calls.append(line)
        return waits(line) if len(calls) == 1 else real_main(line)

    monkeypatch.setattr("earmark.cli.main.main", stands_still_once)
    number = next(n for n in range(1000) if draw(0, n, templates)[0] == "measures")
    ((_, code, failure),) = run_inputs(0, [number], templates, tmp_path, seconds=1)
    assert (code is not None, failure, len(calls)) == (True, None, 2)
    monkeypatch.setattr("earmark.cli.main.main", waits)
    ((_, code, failure),) = run_inputs(0, [number], templates, tmp_path, seconds=0.1)
    assert failure is not None
    assert [one.kind for one in failure.problems] == ["hang"]


def test_a_session_ends_in_time(tmp_path: Path, templates: Templates) -> None:
    assert not list(run_inputs(0, range(10), templates, tmp_path, seconds=5, until=time.monotonic() - 1))


def test_words_are_printed_for_a_shell() -> None:
    for word in ("a b", "it's", "", "\x1b[31m", "\u202ex", "a\nb", "\\", "é\t'"):
        echoed = subprocess.run(["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True)
        assert echoed.stdout.decode() == word
        assert quoted(word).isprintable()
    assert "\x1b" not in str(Failure(0, 0, Input(["\x1b"]), [], Path("x")))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit of address space is kept by Linux alone")
def test_memory_is_bounded() -> None:
    code = "import numpy; from fuzz.session import limit_memory; limit_memory(2**28); numpy.ones(2**27)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MemoryError" in ended.stderr
    assert session.MEMORY > 2**30
