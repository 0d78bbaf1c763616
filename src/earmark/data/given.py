"""What was given in place of data: a path, which has to be read first."""

from __future__ import annotations

import os

from earmark.errors import ParameterError


def refuse_paths(**given: object) -> None:
    """Refuse paths in place of what their files hold, naming the function that reads them.

    Parameters
    ----------
    **given
        What was given, by what it should be: ``runs``, ``judgments``, ``metadata`` or ``content``.

    Examples
    --------
    >>> refuse_paths(runs="runs.tsv")
    Traceback (most recent call last):
    earmark.errors.ParameterError: 'runs.tsv' is a path, not runs: read it first: earmark.read_runs('runs.tsv')
    """
    for kind, value in given.items():
        paths = value if isinstance(value, list | tuple) else [value]
        path = next((one for one in paths if isinstance(one, str | os.PathLike)), None)
        if path is not None:
            call = f"earmark.read_{kind}({os.fspath(path)!r})"
            raise ParameterError(f"'{os.fspath(path)}' is a path, not {kind}: read it first: {call}")
