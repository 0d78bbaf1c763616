"""The options of commands that read what people answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.command import argument, option
from earmark.cli.options import READING, Encoding
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences

Repeated = Literal["refuse", "first", "last"]

RepeatedRule = Annotated[
    Repeated,
    option(
        "RULE",
        panel=READING,
        help="What to do where a worker answered the same question again: refuse the file, or take the first or the "
        "last of the answers, in the order of rows.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What people answered.

    Parameters
    ----------
    files
        Preferences, one file or more: CSV, TSV or Parquet with the columns query, a, b, assessor and choice (a, b or
        same), and perhaps strength, seconds, phase and trap (the choice that was expected).
    phase
        Take the answers of this phase only. Give the option again for more. All phases together when omitted.
    """

    files: Annotated[list[Path], argument("ANSWERS")]
    phase: Annotated[list[str] | None, option("NAME")] = None
    repeated: RepeatedRule = "refuse"
    encoding: Encoding = "utf-8"

    def load(self, out: Output, *, keep_traps: bool = False) -> Preferences:
        """Read the answers, without those to traps unless asked to."""
        from earmark.cli.loading import load_preferences

        return load_preferences(
            self.files,
            out,
            phases=self.phase,
            encoding=self.encoding,
            keep_traps=keep_traps,
            repeated=self.repeated,
        )

    def are_grades(self) -> bool:
        """Tell whether the files hold judgments with gains, by the columns of the first one."""
        from earmark.cli.folder import is_folder
        from earmark.data.readers import has_gains

        return not is_folder(self.files[0]) and has_gains(self.files[0], encoding=self.encoding)

    def load_grades(self, out: Output, scale: str | None) -> Judgments:
        """Read the answers as judgments with gains."""
        from earmark.cli.loading import load_judgments

        return load_judgments(self.files, out, scale=scale, encoding=self.encoding)
