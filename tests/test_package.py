"""The package as a whole: cheap to import, and everything it names is there."""

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


def test_nothing_heavy_is_imported_before_it_is_used():
    script = "import sys, earmark; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"polars", "scipy", "pandas", "typer", "rich"} & set(loaded)


@pytest.mark.parametrize("name", earmark.__all__)
def test_every_name_is_there(name):
    assert getattr(earmark, name) is not None
    assert name in dir(earmark)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'earmark' has no attribute 'evalute'"):
        earmark.evalute  # noqa: B018


def test_names_and_homes_agree():
    assert set(earmark.__all__) == {*earmark._MODULE_OF, "__version__"}
    assert sorted(earmark.__all__) == sorted(set(earmark.__all__))
