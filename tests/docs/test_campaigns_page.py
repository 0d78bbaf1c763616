"""The page about campaigns: its commands run one after the other, as a reader would type them."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earmark.cli.main import built_commands, main
from earmark.data.writers import write_runs
from earmark.simulation import synthetic_collection

PAGE = Path(__file__).parents[2] / "docs" / "campaigns.md"
SERVER = "postgresql://earmark@server/campaigns"


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [shlex.split(line.removeprefix("$ ")) for block in blocks for line in block.splitlines()]


def fill_in(path: Path) -> None:
    """Fill in a package, as the person does who judges."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "gain": place % 3} for place, row in enumerate(rows))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the reader has: runs, metadata, judgments made elsewhere, a late run and songs."""
    made = synthetic_collection(np.random.default_rng(1), systems=3, queries=6, documents=15)
    write_runs(made.runs, tmp_path / "runs.tsv")
    made.metadata.frame.write_csv(tmp_path / "metadata.csv")
    lines = (tmp_path / "runs.tsv").read_text().splitlines()
    first = lines[0].split("\t")
    (tmp_path / "late.tsv").write_text(f"late\t{first[1]}\t{first[2]}\n")
    (tmp_path / "elsewhere.csv").write_text(f"query,document,gain\n{first[1]},{first[2]},2\n")
    songs = tmp_path / "songs"
    songs.mkdir()
    ids = {one for line in lines for one in line.split("\t")[1:]}
    for place, name in enumerate(sorted(ids)):
        soundfile.write(songs / f"{name}.wav", 0.3 * np.sin(np.arange(8_000) * (0.1 + 0.01 * place)), 8_000)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_page_run(
    folder: Path, new_postgresql_database: Callable[[], str], capsys: pytest.CaptureFixture[str]
) -> None:
    server = new_postgresql_database()
    said = commands()
    for program, *arguments in said:
        assert program == "earmark"
        closed = arguments[:2] == ["close", "study"]
        code = main([server if one == SERVER else one for one in arguments])
        assert code == 0, f"{' '.join(arguments)}: {capsys.readouterr().err}"
        if closed:
            # The page goes on with other subjects, for which its campaign has to be open.
            assert main(["reopen", "study"]) == 0
        if arguments[0] == "next" and "-o" in arguments:
            fill_in(folder / arguments[arguments.index("-o") + 1])
    used = {arguments[1] for arguments in said}
    assert {"init", "next", "import", "export", "status", "invite", "set", "add", "withdraw", "reinstate"} <= used
    assert {"media", "close", "backup", "restore", "move", "erase", "rank", "report"} <= used


def test_every_command_about_campaigns_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    root: Any = built_commands()
    names = [name for name, one in root.commands.items() if one.rich_help_panel == "Run a campaign"]
    assert len(names) >= 18
    for name in names:
        assert f"earmark {name}" in page, name
