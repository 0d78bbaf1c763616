"""Pages that are generated say what the code says now."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from earmark.measures import registered

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = ("generate_measures.py", "generate_cli.py")


def run(script: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_page_is_not_stale(script: str) -> None:
    # Neither the width of a terminal nor its colours may make a difference.
    done = run(DOCS / script, "--check", COLUMNS="40", FORCE_COLOR="1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_stale_page_is_found_and_written_anew(script: str, tmp_path: Path) -> None:
    for name in (script, "generated.py"):
        (tmp_path / name).write_text((DOCS / name).read_text())
    page = tmp_path / script.removeprefix("generate_").replace(".py", ".md")
    stale = run(tmp_path / script, "--check")
    assert (stale.returncode, stale.stderr) == (1, f"{page.name} is stale: run python docs/{script}\n")
    assert not page.exists()
    assert run(tmp_path / script).returncode == 0
    assert run(tmp_path / script, "--check").returncode == 0
    page.write_text(page.read_text() + "more\n")
    assert run(tmp_path / script, "--check").returncode == 1


def test_every_measure_has_a_section_without_markup_left_over() -> None:
    text = (DOCS / "measures.md").read_text()
    for name in registered():
        assert re.search(rf"^### `{re.escape(name)}(\[@k\]|@k)`$", text, flags=re.MULTILINE), name
    assert ":math:" not in text
    assert "``" not in text
    assert ".. math" not in text


def test_the_commands_are_plain_text() -> None:
    text = (DOCS / "cli.md").read_text()
    assert "\x1b" not in text
    assert "[bold]" not in text
    assert "│" not in text
