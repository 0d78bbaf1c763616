"""``earmark crowd import``: what a crowd answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output
from earmark.wording import counted

EXAMPLES = options.examples(
    "earmark crowd import Batch_results.csv --questions questions.csv -o answers.csv",
    "earmark crowd import judgments.csv --mapping melody-2010 -o answers.csv",
    "earmark crowd import results.csv --column a=Input.song1 --column b=Input.song2 --column choice=Answer.best "
    "--choice song1=a --choice song2=b -o answers.csv",
)
_READING = "How files are read"


def import_results(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="What a platform has written: CSV, TSV or Parquet, one task a row, as Mechanical Turk does.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the answers: .csv, .tsv, .csv.gz, .tsv.gz or .parquet.",
            show_default=False,
        ),
    ],
    mapping: Annotated[
        str,
        typer.Option(
            "--mapping",
            metavar="NAME",
            help="Which columns hold what: mturk, what comes back of 'earmark crowd questions --package', or "
            "melody-2010, a published file of judgments on melodies.",
            rich_help_panel=_READING,
        ),
    ] = "mturk",
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="FIELD=NAME",
            help="Another column for a field: query, a, b, choice, strength, question, phase, trap, assessor, time, "
            "seconds, assignment, status, rejected or reject. Where tasks have several questions, without the number. "
            "Give the option again for more.",
            rich_help_panel=_READING,
        ),
    ] = None,
    choice: Annotated[
        list[str] | None,
        typer.Option(
            "--choice",
            metavar="WORD=CHOICE",
            help="What a word of the file means: a, b or same. Give the option again for more.",
            rich_help_panel=_READING,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="The questions that were asked, as 'earmark crowd questions' wrote them: says which are traps, and "
            "what they expect.",
            rich_help_panel=_READING,
        ),
    ] = None,
    keep_rejected: Annotated[
        bool,
        typer.Option("--keep-rejected", metavar="", help="Take work that was rejected as well."),
    ] = False,
    left_out: Annotated[
        Path | None,
        typer.Option("--left-out", metavar="FILE", help="Write what was left out, and why, to a CSV file."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="The encoding of the results. When omitted, that of the mapping: utf-8, or latin-1 for melody-2010.",
            rich_help_panel=_READING,
        ),
    ] = None,
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Turn the results of a crowd platform into preferences.

    Rejected work, answers without a choice or a strength, and second answers of the same person to the same question
    are left out and counted: what is printed says what became of every answer.
    """
    import polars as pl

    from earmark.crowd.platforms import find_mapping
    from earmark.crowd.question_files import read_questions, write_table
    from earmark.crowd.results import read_results
    from earmark.data.preference_files import write_preferences

    out = Output.choose(format, quiet=quiet)
    used = find_mapping(mapping).with_columns(_pairs(column, "--column", "FIELD=NAME"))
    used = used.with_choices(_pairs(choice, "--choice", "WORD=CHOICE"))
    asked = None if questions is None else read_questions(questions)
    found = read_results(results, used, encoding=encoding, keep_rejected=keep_rejected, questions=asked)
    write_preferences(found.preferences, output)
    out.note(f"wrote {output}: {found.preferences}")
    if left_out is not None:
        write_table(found.report.left_out, left_out)
        out.note(f"wrote {left_out}: {counted(found.report.left_out.height, 'answer')} left out")
    if found.report.unknown:
        out.note(f"{counted(found.report.unknown, 'answer')} to questions that {questions} does not have")
    traps = int(found.preferences.is_trap.sum())
    if traps:
        out.note(f"{counted(traps, 'answer')} to traps")
    table = found.report.to_polars()
    if not out.for_people:
        out.rows(table)
        return
    shown = table.filter((pl.col("answers") > 0) | (pl.col("outcome") == "kept"))
    out.show_columns(
        [Column("outcome", shown["outcome"].to_list(), numeric=False)],
        [Column(name, [f"{cell:,}" for cell in shown[name]]) for name in ("answers", "assessors")],
        caption=f"{counted(found.report.answers, 'answer')} in {counted(found.report.rows, 'row')}",
    )


def _pairs(given: Sequence[str] | None, option: str, shape: str) -> dict[str, str]:
    from earmark.errors import ParameterError

    pairs = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise ParameterError(f"{option} takes {shape}, got '{text}'")
        pairs[name.strip()] = value.strip()
    return pairs
