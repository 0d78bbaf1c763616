"""``earmark demo``: it runs, is the same for the same seed, and the commands it names work on the files it writes."""

from __future__ import annotations

import json
from pathlib import Path

from called import Cli


def test_the_commands_that_the_demo_names_work(cli: Cli, tmp_path: Path) -> None:
    shown = cli("demo", "--out", tmp_path / "demo")
    assert shown.code == 0
    assert "Which system is best?" in shown.out
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"runs.tsv", "judgments.tsv", "metadata.csv"}
    named = [line.split()[1:] for line in shown.out.splitlines() if line.startswith("  earmark ")]
    assert [words[0] for words in named] == ["evaluate", "compare", "simulate", "describe"]
    for words in named:
        said = cli(*words)
        assert said.code == 0
        assert all(json.loads(line) for line in said.out.splitlines())


def test_the_demo_is_reproducible(cli: Cli, tmp_path: Path) -> None:
    for folder in "ab":
        assert cli("demo", "--out", tmp_path / folder, "--seed", 4).code == 0
    assert cli("demo", "--out", tmp_path / "c", "--seed", 5).code == 0
    for name in ("runs.tsv", "judgments.tsv", "metadata.csv"):
        a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert a == b
        assert a != c


def test_a_folder_that_cannot_be_made_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    said = cli("demo", "--out", tmp_path / "taken")
    assert said.code == 2
    assert said.err.startswith(f"earmark: {tmp_path / 'taken'}: expected a folder to write to, got ")
