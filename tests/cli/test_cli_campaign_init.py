"""``earmark init``: all of a campaign or nothing, and what it says when it cannot be made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from called import Cli, Files

from earmark.cli.main import built_commands, main
from earmark.store.database import Database


def settings(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "campaign.toml").read_text())


def write_sounds(folder: Path, names: str = "a b c d e f g x y z q1 q2 q3") -> Path:
    folder.mkdir()
    for place, name in enumerate(names.split()):
        wave = 0.3 * np.sin(2 * np.pi * (220 + 20 * place) * np.arange(22_050) / 22_050)
        soundfile.write(folder / f"{name}.wav", wave, 22_050)
    return folder


def test_a_campaign_is_made(cli: Cli, files: Files) -> None:
    study = files.folder / "study"
    said = cli("init", study, files.runs, "--metadata", files.metadata, "--scale", "broad", "-m", "AG@2")
    assert said.code == 0
    (row,) = said.rows
    assert {**row, "id": ""} == {
        "campaign": str(study),
        "id": "",
        "items": 14,
        "queries": 3,
        "systems": 3,
        "store": str(study / "campaign.db"),
    }
    assert row["id"] == settings(study)["id"]
    assert f"earmark status {study}" in said.err
    assert sorted(path.name for path in (study / "inputs").iterdir()) == ["metadata.tsv", "runs.tsv"]
    assert {path.name for path in files.folder.iterdir() if path.name.startswith(".")} == set()


def test_what_is_not_given_is_chosen_and_said(cli: Cli, files: Files) -> None:
    said = cli("init", files.folder / "study", files.runs, "--predictor", "mtc-output")
    assert said.code == 0
    assert "no --measure given: taking AG@3, as lists hold no more than 3" in said.err
    assert "no --scale given: taking fine, which the predictor mtc-output is made for" in said.err
    written = settings(files.folder / "study")
    assert (written["estimates"]["measure"], written["judging"]["scale"], written["name"]) == ("AG@3", "fine", "study")


def test_all_settings_reach_the_file(cli: Cli, files: Files) -> None:
    folder = files.folder
    (folder / "consent.md").write_text("I agree.")
    (folder / "predictions.csv").write_text("query,document,score\nq1,a,2\nq1,b,1\nq2,d,1\n")
    asked = (
        "--scale 0..2 -m nDCG@2 --judgments-per-item 3 --answers-per-assessor 40 --group-by-query --trap-rate 1/10 "
        "--stop top:1 --margin 0.01 --policy proportional --inference design --target population --anytime "
        "--audit 0.25 --level 0.9 --seed 7 --whole-queries --missing drop --aggregate median --samples 200 "
        "--artist-column artist --name Summer --retention-days 90 --address https://listen.example.org "
        "--lease-minutes 5 --package-days 3 --more-on-disagreement 1 --order rank --encoding latin-1"
    )
    more = {
        "--metadata": files.metadata,
        "--teams": files.teams,
        "--consent": folder / "consent.md",
        "--traps": files.judgments,
        "--predictor": f"external:{folder / 'predictions.csv'}",
    }
    given = [str(word) for pair in more.items() for word in pair]
    said = cli("init", folder / "study", files.runs, *asked.split(), *given)
    assert said.code == 0, said.err
    written = settings(folder / "study")
    assert written["name"] == "Summer"
    assert (
        written["judging"]
        | {
            "scale": "0..2",
            "judgments_per_item": 3,
            "answers_per_assessor": 40,
            "group_by_query": True,
            "more_on_disagreement": 1,
            "lease_minutes": 5,
            "package_days": 3,
        }
        == written["judging"]
    )
    assert written["traps"]["rate"] == 0.1
    assert written["traps"]["sources"] == ["agreed", "self", "list"]
    assert (
        written["estimates"]
        | {
            "measure": "nDCG@2",
            "predictor": "external",
            "policy": "proportional",
            "stop": "top:1",
            "margin": 0.01,
            "inference": "design",
            "target": "population",
            "anytime": True,
            "whole_queries": True,
            "audit": 0.25,
            "level": 0.9,
            "samples": 200,
            "seed": 7,
            "aggregation": "median",
        }
        == written["estimates"]
    )
    assert written["people"] == {"retention_days": 90, "address": "https://listen.example.org", "hosts": []}
    assert written["inputs"]["predictions"]["file"] == "inputs/predictions.csv"
    assert (written["inputs"]["order"], written["inputs"]["missing"]) == ("rank", "drop")


def test_files_can_stay_where_they_are(cli: Cli, files: Files) -> None:
    study = files.folder / "study"
    assert cli("init", study, files.runs, "--scale", "broad", "--reference").code == 0
    assert settings(study)["inputs"]["runs"][0]["file"] == str(files.runs)
    assert not (study / "inputs").exists()
    with files.runs.open("a") as runs:
        runs.write("good\tq4\ta\n")
    said = cli("status", study)
    assert said.code == 2
    assert "the file has changed" in said.err
    assert f"{study / 'campaign.toml'}:" in said.err


@pytest.mark.parametrize("kind", ["prefer", "order", "lists"])
def test_other_kinds_need_no_scale_and_no_measure(kind: str, cli: Cli, files: Files) -> None:
    said = cli("init", files.folder / "study", files.runs, "--kind", kind, "--depth", "3")
    assert said.code == 0, said.err
    assert settings(files.folder / "study")["kind"] == kind
    found = cli("status", files.folder / "study").rows[0]
    assert found["items"] == said.rows[0]["items"] > 0
    assert found["judged"] == 0


WRONG = [
    (["--metadata", "{metadata}"], "--scale is missing"),
    (["--scale", "broad", "-m", "XY@5"], "--measure: expected a measure"),
    (["--scale", "broad", "-m", "AG@5", "-m", "AP"], "one measure at a time"),
    (["--scale", "7..3"], "--scale: expected a scale"),
    (["--scale", "broad", "--stop", "mean:9"], "a confidence to reach lies between 0 and 1"),
    (["--scale", "broad", "--stop", "mean:0.9", "--goal", "best"], "--goal and --stop both say when to stop"),
    (["--scale", "broad", "--goal", "fastest"], "unknown goal 'fastest'"),
    (["--scale", "broad", "--trap-rate", "2"], "--trap-rate: expected a number"),
    (["--scale", "broad", "--policy", "mtc", "--inference", "design"], "--policy: expected"),
    (["--scale", "broad", "--artist-column", "artist"], "--artist-column: expected a file as --metadata too"),
    (["--scale", "broad", "--predictor", "nope"], "--predictor: expected"),
    (["--scale", "broad", "--predictor", "external:nope.csv"], "nope.csv: expected a file, got nothing there"),
    (["--scale", "broad", "--metadata", "nope.csv"], "nope.csv: expected a file"),
    (["--scale", "broad", "--store", "mysql://server/x"], "not stored in mysql"),
    (["--scale", "broad", "--store", "postgresql://127.0.0.1:1/x?connect_timeout=1"], "127.0.0.1"),
    (["--scale", "broad", "--media", "nowhere"], "nowhere: expected a folder"),
    (["--scale", "broad", "--address", "listen.example.org"], "--address: expected"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_made(
    options: list[str], message: str, cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody waits for a server that is not there.
    monkeypatch.setitem(Database.__init__.__kwdefaults__, "patience", 0.0)
    before = sorted(files.folder.iterdir())
    study = files.folder / "new" / "study"
    said = cli("init", study, files.runs, *(one.format(metadata=files.metadata) for one in options))
    assert said.code == 2
    assert message in said.err
    assert said.err.startswith("earmark: ")
    assert said.err.count("\n") == 1
    assert ".draft" not in said.err
    assert sorted(files.folder.iterdir()) == before


@pytest.fixture
def bad_traps(files: Files) -> Path:
    """Return a file that is refused only after the database has been made."""
    path = files.folder / "bad.csv"
    path.write_text("query,document,gain\nq1,a,7\n")
    return path


def test_a_database_made_elsewhere_goes_when_init_fails(cli: Cli, files: Files, bad_traps: Path) -> None:
    before = sorted(files.folder.iterdir())
    store = f"sqlite:///{files.folder}/other.db"
    said = cli("init", files.folder / "study", files.runs, "--scale", "broad", "--store", store, "--traps", bad_traps)
    assert said.code == 2
    assert sorted(files.folder.iterdir()) == before
    assert cli("init", files.folder / "study", files.runs, "--scale", "broad", "--store", store).code == 0


def test_a_database_that_was_there_stays_when_init_fails(cli: Cli, files: Files, bad_traps: Path) -> None:
    store = f"sqlite:///{files.folder}/other.db"
    assert cli("init", files.folder / "one", files.runs, "--scale", "broad", "--store", store).code == 0
    before = sorted(files.folder.iterdir())
    said = cli("init", files.folder / "two", files.runs, "--scale", "broad", "--store", store, "--traps", bad_traps)
    assert said.code == 2
    assert sorted(files.folder.iterdir()) == before
    assert cli("status", files.folder / "one").code == 0


def test_an_error_names_the_file_that_was_given_and_its_line(cli: Cli, files: Files) -> None:
    bad = files.folder / "bad.run"
    bad.write_text("q1 Q0 a 1 0.5 s\nq1 Q0 b 2\n")
    said = cli("init", files.folder / "study", files.runs, bad, "--scale", "broad", "-m", "AG@2")
    assert said.code == 2
    assert said.err.startswith(f"earmark: {bad}:2: expected 6 columns")


def test_nothing_is_overwritten(cli: Cli, files: Files) -> None:
    taken = files.folder / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")
    for folder, what in ((taken, "a folder with files"), (files.runs, "a file")):
        said = cli("init", folder, files.runs, "--scale", "broad")
        assert said.code == 2
        assert f"{folder}: expected a new folder, got {what}" in said.err
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]
    study = files.folder / "study"
    study.mkdir()
    assert cli("init", study, files.runs, "--scale", "broad").code == 0
    said = cli("init", study, files.runs, "--scale", "broad")
    assert "got a campaign" in said.err


def test_media_are_prepared(cli: Cli, files: Files) -> None:
    songs = write_sounds(files.folder / "songs")
    study = files.folder / "study"
    said = cli("init", study, files.runs, "--scale", "broad", "--media", songs, "--excerpt-seconds", "1")
    assert said.code == 0, said.err
    manifest = json.loads((study / "media" / "manifest.json").read_text())
    assert {one["id"] for one in manifest["media"]} == {path.stem for path in songs.iterdir()}
    served = list((study / "media").glob("*.mp3"))
    # Every query has a second recording, for traps.
    assert len(served) == 16
    assert settings(study)["media"]["folder"] == str(songs)
    # The key keeps names, so that preparing again makes nothing anew.
    times = {path: path.stat().st_mtime_ns for path in served}
    again = cli("media", study)
    assert again.code == 0, again.err
    assert again.rows[0]["files"] == 16
    assert {path: path.stat().st_mtime_ns for path in (study / "media").glob("*.mp3")} == times


def test_all_problems_of_media_are_listed_and_nothing_is_made(cli: Cli, files: Files) -> None:
    songs = write_sounds(files.folder / "songs", "a b c d e f x y q1 q2 q3")
    soundfile.write(songs / "g.wav", np.zeros(22_050), 22_050)
    (songs / "b.wav").write_bytes(b"no sound")
    study = files.folder / "study"
    said = cli("init", study, files.runs, "--scale", "broad", "--media", songs)
    assert said.code == 2
    assert {(row["id"], row["problem"]) for row in said.rows} == {
        ("z", "missing"),
        ("g", "silent"),
        ("b", "unreadable"),
    }
    assert "3 problems" in said.err
    assert not study.exists()
    table = cli("init", study, files.runs, "--scale", "broad", "--media", songs, "--format", "table")
    assert "nothing was made" in table.out


@pytest.mark.parametrize(("ending", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupted_init_leaves_nothing(files: Files, ending: signal.Signals, code: int) -> None:
    songs = files.folder / "songs"
    songs.mkdir()
    soundfile.write(songs / "a.wav", np.random.default_rng(0).uniform(-0.3, 0.3, (44_100 * 60, 2)), 44_100)
    for name in ["b", "c", "d", "e", "f", "g", "x", "y", "z", "q1", "q2", "q3"]:
        (songs / f"{name}.wav").hardlink_to(songs / "a.wav")
    before = sorted(files.folder.iterdir())
    command = [sys.executable, "-m", "earmark.cli", "init", "study", files.runs, "--scale", "broad", "--media", songs]
    process = subprocess.Popen(command, cwd=files.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 240
    while not list(files.folder.glob(".study-*.draft/media")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None
    os.kill(process.pid, ending)
    _, error = process.communicate(timeout=240)
    assert process.returncode == code, error
    assert sorted(files.folder.iterdir()) == before


def test_a_missing_library_is_named_with_its_extra(cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sqlalchemy", "alembic", "tomlkit"):
        # None in the table of modules makes an import fail, as if it was not installed.
        monkeypatch.setitem(sys.modules, name, None)
    for command in (
        ["init", files.folder / "study", files.runs, "--scale", "broad"],
        ["status", files.folder],
        ["restore", files.runs, files.folder / "study"],
        ["move", files.folder, "--store", "sqlite"],
    ):
        said = cli(*command)
        assert said.code == 2
        assert "pip install 'earmark[web]'" in said.err
        assert said.err.count("\n") == 1


COMMANDS = [
    "init",
    "status",
    "invite",
    "import",
    "export",
    "set",
    "add",
    "withdraw",
    "reinstate",
    "media",
    "pause",
    "resume",
    "close",
    "reopen",
    "backup",
    "restore",
    "move",
    "erase",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_and_argument_is_explained(command: str) -> None:

    found: Any = built_commands()
    for parameter in found.commands[command].params:
        if parameter.name not in ("help", "help_all"):
            assert parameter.help, f"{command} {parameter.name}"
            assert parameter.help[0].isupper()
            assert parameter.help.endswith("."), parameter.help
    assert found.commands[command].epilog.count(f"earmark {command} ") >= 1


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_folder_without_a_campaign_is_refused(command: str, cli: Cli, files: Files) -> None:
    more: dict[str, list[object]] = {
        "invite": ["Ann"],
        "import": [files.judgments],
        "export": ["-o", files.folder / "x.csv"],
        "set": ["name=x"],
        "add": [files.runs],
        "withdraw": ["--system", "good", "--reason", "why"],
        "reinstate": ["--system", "good"],
        "backup": ["-o", files.folder / "x.zip"],
        "move": ["--store", "sqlite:///x.db"],
        "erase": ["Ann"],
    }
    if command == "restore":
        said = cli("restore", files.runs, files.folder / "study")
        assert "expected a backup that earmark wrote" in said.err
    else:
        said = cli(command, files.folder / "nowhere", *more.get(command, []))
        assert "expected the folder of a campaign, got no campaign.toml there" in said.err
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert not (files.folder / "x.csv").exists()
    assert main(["--version"]) == 0
