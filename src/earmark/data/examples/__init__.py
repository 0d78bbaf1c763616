"""Small files that come with earmark, to try a command on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from earmark.errors import ParameterError


def example_names() -> tuple[str, ...]:
    """Return the names of all examples."""
    return tuple(sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith((".csv", ".toml"))))


def example_path(name: str) -> Path:
    """Return where an example file is.

    Parameters
    ----------
    name : str
        Its file name: ``cover-prototypes.csv`` holds the prototype answers of Serra2007 (Table 1, with the ranks
        of its fifth answer corrected to those its Table 2 was computed from); ``srbench.toml`` is a benchmark of
        preferences with the genres and image themes of Stupar2013.

    Examples
    --------
    >>> example_path("cover-prototypes.csv").name
    'cover-prototypes.csv'
    """
    if name not in example_names():
        raise ParameterError(f"no example called '{name}': there are {', '.join(example_names())}")
    return Path(str(files(__name__) / name))
