"""The wheel, installed by pipx into an environment of its own, works without the folder that it was built in."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
# What would lead a program back to the environment or the source of the tests.
OF_THE_TESTS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheels")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(HOME)]
    subprocess.run(build, check=True, cwd=folder)
    (built,) = folder.glob("earmark-*.whl")
    return built


def test_everything_in_the_source_folder_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    """Templates, scripts, texts, migrations and data, not only modules."""
    source = HOME / "src"
    files = (path for path in (source / "earmark").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    there = {path.relative_to(source).as_posix() for path in files}
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert there
    assert there - packed == set()


def test_pipx_installs_the_wheel_and_the_demonstration_runs(wheel: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OF_THE_TESTS}
    for variable, folder in (("PIPX_HOME", "home"), ("PIPX_BIN_DIR", "bin"), ("PIPX_MAN_DIR", "man")):
        environment[variable] = str(tmp_path / folder)
    work = tmp_path / "work"
    work.mkdir()

    def run(*command: str | Path) -> str:
        return subprocess.run(
            command, check=True, cwd=work, env=environment, stdout=subprocess.PIPE, text=True, timeout=300
        ).stdout

    # The demonstration says which extras it needs; pins are those that everything is tested with. What is not used need
    # not be compiled.
    run(
        *(sys.executable, "-m", "pipx", "install", "--quiet", "--backend", "pip", "--python", sys.executable),
        *(f"--pip-args=--no-compile --constraint '{HOME / 'constraints.txt'}'", f"{wheel}[audio,plots]"),
    )
    python = tmp_path / "home" / "venvs" / "earmark" / "bin" / "python"
    installed = Path(run(python, "-c", "import earmark; print(earmark.__file__)").strip())
    assert installed.is_relative_to(tmp_path / "home")

    told = run(tmp_path / "bin" / "earmark", "demo", "--quiet")
    assert "report.html" in told
    report = (work / "earmark-demo" / "report.html").read_text(encoding="utf-8")
    assert "<html" in report
    assert (work / "earmark-demo" / "runs.tsv").stat().st_size > 0
