"""The tutorials run, print what they hold, and are fit to be read; notebooks that are not so are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = DOCS / "execute_tutorials.py"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
ROUND_ABOUT_A_SCREEN = 15


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def written(path: Path, *sources: str) -> Path:
    nbformat.write(new_notebook(cells=[new_markdown_cell("# A title"), *map(new_code_cell, sources)]), path)
    return path


def test_there_are_tutorials() -> None:
    assert [path.stem for path in TUTORIALS] == ["audit", "cover-songs", "own-systems"]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_holds(path: Path) -> None:
    done = run("--check", path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_fit_to_be_read(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert path.stat().st_size < 400_000
    assert notebook.cells[0].source.startswith("# ")
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "version" not in notebook.metadata.language_info
    for place, cell in enumerate(notebook.cells, start=1):
        assert cell.id == f"{path.stem}-{place:02d}"
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= ROUND_ABOUT_A_SCREEN, cell.source
            assert cell.execution_count is not None
            assert not any(output.get("name") == "stderr" or output.output_type == "error" for output in cell.outputs)


def test_results_have_text_and_html_and_plots_are_pictures() -> None:
    kinds = {
        tuple(sorted(output.data))
        for path in TUTORIALS
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "execute_result"
    }
    assert kinds == {("text/html", "text/plain"), ("image/png", "text/plain")}


def test_what_is_written_is_the_same_the_next_time_and_what_is_stale_is_found(tmp_path: Path) -> None:
    path = written(
        tmp_path / "small.ipynb",
        "import os, sys\nprint(sys.executable == os.environ['THIS_PYTHON'], 'EARMARK_DATA' in os.environ)",
        "from IPython.display import HTML\nimport secrets\nHTML(secrets.token_hex())",
        "import warnings\nwarnings.warn('nobody wants to read this')\nprint('a')\nprint('b')",
    )
    unexecuted = run("--check", path, THIS_PYTHON=sys.executable)
    assert unexecuted.returncode == 1
    assert "-  not executed" in unexecuted.stderr
    assert run(path, THIS_PYTHON=sys.executable, EARMARK_DATA="somewhere").returncode == 0
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[1].outputs[0].text == "True False\n"
    assert [output.text for output in notebook.cells[3].outputs] == ["a\nb\n"]
    # What HTML says is not compared, and differs every time here.
    assert run("--check", path, THIS_PYTHON=sys.executable).returncode == 0
    notebook.cells[3].outputs[0].text = "a\nc\n"
    nbformat.write(notebook, path)
    before = path.read_bytes()
    stale = run("--check", path, THIS_PYTHON=sys.executable)
    assert stale.returncode == 1
    assert "small.ipynb is stale: run python docs/execute_tutorials.py" in stale.stderr
    assert "-    c\n+    b" in stale.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "bad.ipynb: a cell fails\n"),
        ("import sys\nprint('careful', file=sys.stderr)", "bad.ipynb: cell 2 writes to standard error\ncareful"),
        ("import os\nos.getcwd()", "bad.ipynb: cell 2 names a folder of this machine, "),
    ],
)
def test_what_is_not_for_readers_is_refused(source: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "bad.ipynb", source)
    before = path.read_bytes()
    done = run(path)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert "\x1b" not in done.stderr
    assert path.read_bytes() == before


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "twice.ipynb", "import earmark\nearmark.BINARY", "print(1)")
    assert run(path).returncode == 0
    first = path.read_bytes()
    assert run(path).returncode == 0
    assert path.read_bytes() == first
