"""No command writes over what it reads, and none writes two things to one file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import numpy as np
import polars as pl
import pytest
import soundfile
import typer
from called import Cli, Files

from earmark.cli.main import app
from earmark.cli.paths import ROLES, role_of
from earmark.data.claims import guarding, keyed
from earmark.data.files import opened, read_bytes, replacing, require_file
from earmark.errors import InputError

FILE_LIKE = ("FILE", "DIR", "FOLDER", "CSV", "PATH")
VALUES = {"K": "1", "N": "1", "NAME": "x"}


def commands(group: typer.Typer = app, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Callable[..., Any]]]:
    for one in group.registered_commands:
        assert one.callback is not None
        yield " ".join((*before, one.name or "")), one.callback
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from commands(inner.typer_instance, (*before, inner.name or ""))


def holds_path(kind: Any) -> bool:
    return kind is Path or any(holds_path(one) for one in get_args(kind))


def path_parameters(callback: Callable[..., Any]) -> Iterator[tuple[str, Any, Any, inspect.Parameter]]:
    """Yield every parameter that names a file or a folder, with its type and how it is declared."""
    for name, one in inspect.signature(callback).parameters.items():
        plain, declared = get_args(one.annotation)[:2] if get_origin(one.annotation) is Annotated else (None, None)
        metavar = (getattr(declared, "metavar", None) or "").strip("[]")
        if holds_path(plain) or any(word in metavar.split(":") for word in FILE_LIKE):
            yield name, plain, declared, one


def test_every_path_of_every_command_is_an_input_or_an_output() -> None:
    found = [(command, name) for command, callback in commands() for name, *_ in path_parameters(callback)]
    assert len(found) > 100
    undeclared = [f"{command} --{name}" for command, name in found if role_of(command, name) is None]
    assert not undeclared, f"say in earmark.cli.paths what these are: {', '.join(undeclared)}"
    # Nothing is declared that no command has.
    there = {name for _, name in found} | {f"{command}: {name}" for command, name in found}
    assert not set(ROLES) - there


def spelt(name: str, declared: Any) -> list[str]:
    """Return how an option is written, and nothing for an argument."""
    if isinstance(declared, typer.models.ArgumentInfo):
        return []
    return [next((one for one in declared.param_decls if one.startswith("--")), f"--{name.replace('_', '-')}")]


def pairs() -> Iterator[Any]:
    """Yield every output of every command with each of its inputs."""
    for command, callback in commands():
        roles = {name: role_of(command, name) for name, *_ in path_parameters(callback)}
        for written, of_output in roles.items():
            for read, of_input in roles.items():
                if (of_output, of_input) == ("output", "input") and read not in ("audio", "media", "data"):
                    yield pytest.param(command, callback, read, written, id=f"{command}-{read}-{written}")


def line_of(callback: Callable[..., Any], values: dict[str, str], folder: Path) -> list[str]:
    """Return a command line with these values, and something for all else that is required."""
    arguments, options = [], []
    for name, one in inspect.signature(callback).parameters.items():
        has_default = one.default is not inspect.Parameter.empty
        if get_origin(one.annotation) is not Annotated or (name not in values and has_default):
            continue
        plain, declared = get_args(one.annotation)[:2]
        value = values.get(name) or (
            str(folder / f"other-{name}") if holds_path(plain) else VALUES.get(declared.metavar, "x")
        )
        (options if spelt(name, declared) else arguments).extend([*spelt(name, declared), value])
    return [*arguments, *options]


@pytest.mark.parametrize(("command", "callback", "read", "written"), list(pairs()))
def test_no_output_is_an_input(cli: Cli, tmp_path: Path, command: str, callback: Any, read: str, written: str) -> None:
    precious = tmp_path / "precious.csv"
    precious.write_text("do not touch\n")
    (tmp_path / "link.csv").symlink_to(precious)
    (tmp_path / "second.csv").hardlink_to(precious)
    (tmp_path / "there").symlink_to(tmp_path, target_is_directory=True)
    for other in ("precious.csv", "link.csv", "second.csv", "there/precious.csv"):
        line = line_of(callback, {read: str(precious), written: str(tmp_path / other)}, tmp_path)
        said = cli(*command.split(), *line)
        assert said.code == 2
        assert f"{tmp_path / other}: expected a file to write to, got an input: the file of " in said.err, said.err
        assert said.out == ""
    assert precious.read_text() == "do not touch\n"
    assert {path.name for path in tmp_path.iterdir()} == {"precious.csv", "link.csv", "second.csv", "there"}


def test_two_outputs_are_two_files(cli: Cli, files: Files) -> None:
    answers = files.folder / "answers.csv"
    answers.write_text("query,a,b,assessor,choice\nq,x,y,w,a\n")
    twice, link = files.folder / "twice.csv", files.folder / "link.csv"
    link.symlink_to(twice)
    for other in (twice, link):
        said = cli("crowd", "check", answers, "-o", twice, "--kept", other)
        assert said.code == 2
        assert "expected a file for each output, got the same for " in said.err
        assert not twice.exists()
    page = files.folder / "systems.csv"
    said = cli("report", files.runs, "-j", files.judgments, "-o", page, "--assets", files.folder)
    assert "got the same for --assets and --output" in said.err
    said = cli("crowd", "questions", "--example", "-o", files.folder / "a-tasks.csv", "--package", "2",
               "--package-output", files.folder / "a-tasks.csv")  # fmt: skip
    assert "got the same for --package-output and --output" in said.err or "--output and --package-output" in said.err


def test_files_inside_texts_are_inputs_too(cli: Cli, files: Files) -> None:
    before = files.teams.read_bytes()
    said = cli("fit", files.runs, "-j", files.judgments, "--also", f"x, {files.teams}", "-o", files.teams)
    assert "got an input: the file of --also" in said.err
    said = cli("next", files.runs, "--scale", "broad", "--predictor", f"external:{files.teams}", "-o", files.teams)
    assert "got an input: the file of --predictor" in said.err
    assert files.teams.read_bytes() == before


def test_clips_spare_their_recordings(cli: Cli, tmp_path: Path) -> None:
    song = tmp_path / "song.wav"
    soundfile.write(song, np.zeros(1000), 8000)
    before = song.read_bytes()
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    for folder in (tmp_path, tmp_path / "link"):
        said = cli("crowd", "clips", song, "-o", folder)
        assert said.code == 2
        assert "song.wav: expected a file to write to, got an input: the file of RECORDING" in said.err
    assert song.read_bytes() == before
    assert cli("crowd", "clips", song, "-o", tmp_path, "--ending", ".flac").code == 0


def test_assets_spare_inputs_among_them(cli: Cli, files: Files) -> None:
    judged = files.folder / "pairs.csv"
    judged.write_text("query,document,gain\nq1,a,2\nq1,b,0\n")
    before = judged.read_bytes()
    said = cli("report", files.runs, "-j", judged, "-o", files.folder / "r.html", "--assets", files.folder)
    assert said.code == 2
    assert "pairs.csv: expected a file to write to, got an input: the file of --judgments" in said.err
    assert judged.read_bytes() == before
    assert not (files.folder / "r.html").exists()


def test_ids_beside_content_are_written_too(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.ids.txt").write_text("a\n")
    said = cli("features", "x", "--teams", tmp_path / "c.ids.txt", "-o", tmp_path / "c.npy")
    assert "c.ids.txt: expected a file to write to, got an input: the file of --teams" in said.err


def test_a_folder_that_is_read_gets_no_new_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    said = cli("features", "--audio", tmp_path / "clips", "-o", tmp_path / "clips" / "new.csv")
    assert said.code == 2
    assert "new.csv: expected a file to write to, got a file in the folder of --audio" in said.err


def test_a_file_that_is_read_without_being_named_is_spared(cli: Cli, tmp_path: Path) -> None:
    """Content is an array, and the ids beside it are read all the same."""
    np.save(tmp_path / "c.npy", np.eye(3))
    ids = tmp_path / "c.ids.txt"
    ids.write_text("a\nb\nc\n")
    runs = tmp_path / "runs.tsv"
    runs.write_text("S\tq\ta\nS\tq\tb\nT\tq\tb\nT\tq\tc\n")
    said = cli("next", runs, "--scale", "broad", "--content", tmp_path / "c.npy", "-o", ids)
    assert said.code == 2
    assert "c.ids.txt: expected a file that is only read, got the file that --output writes to" in said.err
    assert ids.read_text() == "a\nb\nc\n"


def test_what_belongs_to_a_campaign_is_spared(cli: Cli, files: Files) -> None:
    study = files.folder / "study"
    assert cli("init", study, files.runs, "--scale", "broad", "--reference").code == 0
    own = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    assert study / "campaign.db" in own
    inside = study / "inputs" / "new.csv"
    inside.parent.mkdir(exist_ok=True)
    for command in (("export", study), ("backup", study), ("pay", study), ("report", study), ("next", study)):
        for target in (study / "campaign.toml", study / "campaign.db", study / "campaign.db-wal", files.runs, inside):
            said = cli(*command, "-o", target)
            assert said.code == 2, said
            assert f"{target}: expected a file to write to, got a" in said.err
            assert f"the campaign {study}" in said.err
    assert all(path.read_bytes() == data for path, data in own.items() if not path.name.startswith("campaign.db-"))
    # What else lies in the folder may be written, and written again.
    for _ in range(2):
        assert cli("export", study, "-o", study / "judgments.csv").code == 0


def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earmark.cli.loading.load_runs", lambda *_, **__: pytest.fail("it went to work"))
    for target, why in ((files.folder / "no" / "x.json", "existing folder"), (files.folder, "Is a directory"),
                        (Path(os.devnull), "a pipe or a device")):  # fmt: skip
        said = cli("fit", files.runs, "-j", files.judgments, "-o", target)
        assert said.code == 2
        assert why in said.err
    assert Path(os.devnull).is_char_device()


def test_the_guard_stands_only_while_a_command_runs(tmp_path: Path) -> None:
    read, written = tmp_path / "read.csv", tmp_path / "written.csv"
    for path in (read, written):
        path.write_text("a\n")
    with guarding(keyed([("RUN", read)]), keyed([("--output", written)])):
        for use in (read_bytes, require_file, lambda path: opened(path).__enter__()):
            with pytest.raises(InputError, match="the file that --output writes to"):
                use(written)
        with pytest.raises(InputError, match="an input: the file of RUN"), replacing(read):
            pass
        with replacing(written) as temporary:
            temporary.write_text("b\n")
    assert read_bytes(written) == b"b\n"
    assert pl.read_csv(read).columns == ["a"]


def test_every_asset_of_a_report_is_known_before(cli: Cli, files: Files) -> None:
    from earmark.report.assets import NAMES

    said = cli("report", files.runs, "-j", files.judgments, "-m", "AG@3", "-o", files.folder / "r.html",
               "--assets", files.folder / "paper")  # fmt: skip
    assert said.code == 0, said.err
    assert {path.name for path in (files.folder / "paper").iterdir()} <= set(NAMES)
