"""The package as a whole: cheap to import, and everything it names is there."""

import pkgutil
import subprocess
import sys

import pytest

import earmark

# CPU time of the process itself, least of a few runs; that of numpy is part of any user's program.
SCRIPT = "import time, {first}; start = time.process_time(); import {second}; print(time.process_time() - start)"


def seconds(first: str, second: str) -> float:
    command = [sys.executable, "-c", SCRIPT.format(first=first, second=second)]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(3)]
    return min(map(float, runs))


def test_importing_costs_next_to_nothing():
    assert seconds("numpy", "earmark") < 0.3


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        (
            "evaluate",
            ("scipy.optimize", "scipy.sparse", "scipy.stats", "matplotlib", "sqlalchemy", "sklearn", "joblib"),
        ),
        ("rank", ("scipy.optimize", "scipy.linalg", "scipy.stats", "matplotlib", "sqlalchemy", "sklearn", "joblib")),
    ],
)
def test_commands_load_what_they_use(command, unused, tmp_path):
    """Starting a command takes longer than a small job, so it must not load libraries for others."""
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\n")
    (tmp_path / "b.run").write_text("q1 Q0 d3 1 2 b\nq1 Q0 d1 2 1 b\n")
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 0\n")
    called = [command, *map(str, tmp_path.glob("*.run")), "-j", str(tmp_path / "qrels"), "-m", "P@2", "--format", "csv"]
    code = (
        f"import sys; sys.argv[1:] = {called!r}\n"
        "from earmark.cli.start import run\n"
        "try: run()\n"
        "except SystemExit as end: assert not end.code\n"
        f"print([name for name in {unused!r} if name in sys.modules], file=sys.stderr)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stderr.splitlines()[-1] == "[]"


def test_nothing_heavy_is_imported_before_it_is_used():
    script = "import sys, earmark; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"polars", "scipy", "pandas", "typer", "rich", "matplotlib", "numpy"} & set(loaded)


@pytest.mark.parametrize("name", ["crowd", "diagnose", "plots", "report", "simulation"])
def test_parts_need_not_be_imported(name):
    script = f"import earmark; assert '{name}' in dir(earmark); print(earmark.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == f"earmark.{name}\n"


@pytest.mark.parametrize("part", [earmark.crowd, earmark.diagnose, earmark.simulation], ids=lambda part: part.__name__)
def test_every_name_of_a_part_is_there(part):
    for module, names in part._HOMES.items():
        for name in names:
            assert getattr(part, name).__module__ == module
            assert name in dir(part)
    with pytest.raises(AttributeError, match=f"module '{part.__name__}' has no attribute 'nothing'"):
        part.nothing  # noqa: B018


@pytest.mark.parametrize(
    "part", [earmark, earmark.crowd, earmark.diagnose, earmark.simulation], ids=lambda p: p.__name__
)
def test_no_name_hides_a_module(part):
    """Whichever of the two was loaded last would be found under it."""
    names = {name for names in (part._HOME if part is earmark else part._HOMES).values() for name in names}
    assert not names & {module.name for module in pkgutil.iter_modules(part.__path__)}


def test_parts_load_late():
    script = "import sys, earmark.crowd, earmark.diagnose, earmark.simulation; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"polars", "scipy", "numpy"} & set(loaded)


@pytest.mark.parametrize("name", earmark.__all__)
def test_every_name_is_there(name):
    assert getattr(earmark, name) is not None
    assert name in dir(earmark)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'earmark' has no attribute 'evalute'"):
        earmark.evalute  # noqa: B018


def test_names_and_homes_agree():
    names = [name for names in earmark._HOME.values() for name in names]
    assert set(earmark.__all__) == {*names, "__version__"}
    assert sorted(earmark.__all__) == sorted(set(earmark.__all__))
