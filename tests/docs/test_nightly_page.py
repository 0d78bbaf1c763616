"""The page about nightly builds: its recipes for make and pytest run, and fail when a build is worse."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "nightly.md"


def recipe(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    return str(found)


def write_run(path: Path, *, spread: float, seed: int) -> None:
    draw = random.Random(seed)
    lines = []
    for query in range(30):
        order = sorted(range(20), key=lambda document: document + draw.random() * spread)
        lines += [f"q{query} Q0 d{document} 0 {-place} {path.stem}\n" for place, document in enumerate(order[:10])]
    path.write_text("".join(lines))


@pytest.fixture
def builds(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    write_run(tmp_path / "runs" / "released.run", spread=5, seed=1)
    write_run(tmp_path / "runs" / "tonight.run", spread=5, seed=1)
    gains = "".join(f"q{query} 0 d{document} {int(document < 6)}\n" for query in range(30) for document in range(20))
    (tmp_path / "qrels.txt").write_text(gains)
    return tmp_path


def run(builds: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "EARMARK": f"{sys.executable} -m earmark.cli"}
    return subprocess.run(command, cwd=builds, env=environment, capture_output=True, text=True, check=False)


def make_worse(builds: Path) -> None:
    write_run(builds / "runs" / "tonight.run", spread=200, seed=2)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_recipe_for_make(builds: Path) -> None:
    (builds / "Makefile").write_text(recipe("make"))
    passed = run(builds, "make", "nightly")
    assert passed.returncode == 0, passed.stderr
    make_worse(builds)
    failed = run(builds, "make", "nightly")
    assert failed.returncode == 2
    assert "the check failed: 'tonight' is worse than 'released' by more than 0.01 on nDCG@10" in failed.stderr
    assert "Error 1" in failed.stderr
    assert len((builds / "results.jsonl").read_text().splitlines()) == 2
    assert "1 of 2 checks failed" in (builds / "history.html").read_text()


def test_the_recipe_for_pytest(builds: Path) -> None:
    (builds / "test_retrieval.py").write_text(recipe("python"))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_retrieval.py")
    passed = run(builds, *command)
    assert passed.returncode == 0, passed.stdout
    assert "3 passed" in passed.stdout
    make_worse(builds)
    failed = run(builds, *command)
    assert failed.returncode == 1
    assert "2 failed, 1 passed" in failed.stdout
    assert "'tonight' is worse than 'released' by more than 0.01 on AP" in failed.stdout


def test_the_recipe_for_github_actions() -> None:
    steps = yaml.safe_load(recipe("yaml"))["jobs"]["compare"]["steps"]
    check = next(step for step in steps if "--fail-if-worse" in step.get("run", ""))
    assert recipe("make").count("--margin 0.01") == check["run"].count("--margin 0.01") == 1
    assert all(step["if"] == "always()" for step in steps[steps.index(check) + 1 :])
