"""``--append``: the results of a run kept in a file of all runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from earmark.cli.command import option
from earmark.cli.output import Output

if TYPE_CHECKING:
    import polars as pl

    from earmark.inference.baseline import BaselineCheck


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Where results are kept.

    Parameters
    ----------
    append
        Add the results to this file, one JSON line for every run, with time, version and options; 'earmark report
        --history FILE' draws them over time.
    """

    panel: ClassVar[str] = "Output"
    append: Annotated[Path | None, option("FILE")] = None

    def keep(
        self,
        context: typer.Context,
        out: Output,
        *results: pl.DataFrame,
        scores: pl.DataFrame,
        checks: tuple[BaselineCheck, ...] = (),
    ) -> None:
        """Append what was found, if asked to; before it is printed, so that nothing is said that was not kept.

        Parameters
        ----------
        context : typer.Context
            Of the command.
        *results : DataFrame
            The rows of the command.
        scores : DataFrame
            ``system``, ``measure``, ``value`` and perhaps ``low`` and ``high``.
        checks : tuple of BaselineCheck
        """
        if self.append is None:
            return
        from earmark.cli.command_lines import command_line, given_options
        from earmark.data.history import Record, append_record

        record = Record(
            command_line(context),
            scores.to_dicts(),
            given_options(context),
            [row for frame in results for row in frame.to_dicts()],
            list(out.notes),
            all(check.passed for check in checks) if checks else None,
        )
        if removed := append_record(self.append, record):
            out.note(f"{self.append}: a torn last line of {removed:,} bytes was removed")
