"""What the commands about answers share: which files are read, which answers are taken, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.data.preferences import Preferences

AnswerFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="ANSWERS",
        help="Preferences, one file or more: CSV, TSV or Parquet with the columns query, a, b, assessor and choice (a, "
        "b or same), and perhaps strength, seconds, phase and trap (the choice that was expected).",
        show_default=False,
    ),
]
Phases = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        help="Take the answers of this phase only. Give the option again for more. All phases together when omitted.",
    ),
]
Level = Annotated[float, typer.Option("--level", metavar="P", help="The probability that an interval holds.")]


def require_probability(value: float, option: str) -> None:
    """Complain about a level of intervals that is none."""
    from earmark.errors import ParameterError

    if not 0 < value < 1:
        raise ParameterError(f"{option} is a probability above 0 and below 1, got {value:g}")


def read_answers(files: Sequence[Path], out: Output, *, phases: Sequence[str] | None, encoding: str) -> Preferences:
    """Read answers, those to traps among them, and say what was left out or put together."""
    from earmark.data.preference_files import read_preferences
    from earmark.data.preferences import Preferences

    parts = [read_preferences(path, encoding=encoding) for path in files]
    answers = Preferences.concat(parts) if len(parts) > 1 else parts[0]
    if answers.unanswered:
        out.note(f"{counted(answers.unanswered, 'row')} without a choice left out")
    if phases:
        return answers.select(phases=phases)
    if "phase" in answers.frame.columns and answers.frame["phase"].n_unique() > 1:
        out.note("the answers of all phases are taken together; choose with --phase")
    return answers


def leave_out_traps(answers: Preferences, out: Output) -> Preferences:
    """Take the answers that say something about documents, and say how many do not."""
    from earmark.errors import InputError

    traps = int(answers.is_trap.sum())
    if not traps:
        return answers
    if traps == len(answers):
        raise InputError(expected="answers to other questions than traps", got=f"{counted(traps, 'trap')} alone")
    out.note(f"{counted(traps, 'answer')} to traps left out")
    return answers.without_traps()
