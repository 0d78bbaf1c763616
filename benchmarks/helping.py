"""Who computes a study: the options ``--jobs`` and ``--cluster`` of commands here, as those of ``earmark simulate``.

On a cluster, workers have to find this package as well: start them in the folder of the project with ``PYTHONPATH=.``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import track

from earmark.workers import work_through


@dataclass(frozen=True)
class Helpers:
    """Where the pieces of a study are computed; its results do not depend on it.

    Parameters
    ----------
    jobs, cluster
        As for :func:`earmark.workers.work_through`.
    """

    jobs: int | None = 1
    cluster: str | None = None

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        """Add the options to those of a command."""
        parser.add_argument("--jobs", type=int, metavar="N", help="how many processes to use; by default all cores")
        parser.add_argument("--cluster", metavar="ADDRESS", help="the scheduler of a Dask cluster, tcp://host:port")

    @classmethod
    def given(cls, told: argparse.Namespace) -> Helpers:
        """Return what the options say."""
        return cls(told.jobs, told.cluster)

    def each(self, function: Callable[..., Any], shared: Any, tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a function with `shared` and the arguments of every task, behind a bar; returns what it returns."""
        found = work_through(_call, (function, shared), tasks, jobs=self.jobs, cluster=self.cluster)
        console = Console(stderr=True)
        return list(
            track(found, "computing", len(tasks), console=console, transient=True, disable=not console.is_terminal)
        )


def _call(shared: tuple[Callable[..., Any], Any], *task: Any) -> Iterator[Any]:
    function, what = shared
    yield function(what, *task)
