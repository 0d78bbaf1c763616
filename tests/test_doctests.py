"""Every example in a docstring is true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import earmark

# Alembic runs migrations; they cannot be imported.
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(earmark.__path__, "earmark.") if ".migrations." not in module.name
)


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = (importlib.import_module(name) for name in MODULES if not name.endswith("__main__"))
    assert sum(bool(test.examples) for module in modules for test in finder.find(module)) > 30
