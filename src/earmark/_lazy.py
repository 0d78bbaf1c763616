"""Names that are loaded when they are first used, so that importing a package costs next to nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazily(
    package: str, homes: Mapping[str, Iterable[str]], *, submodules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package that loads its names late.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to iterable of str
        Modules, and the names that each of them provides.
    submodules : iterable of str
        Modules of the package that are to be had as its attributes without being imported first.
    """
    module_of = {name: module for module, names in homes.items() for name in names}
    inside = set(submodules)

    def load(name: str) -> Any:
        if name in inside:
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(importlib.import_module(module_of[name]), name)
        # From now on the name is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of, *inside})

    return load, names
