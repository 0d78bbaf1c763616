"""``earmark crowd import``: what a crowd answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from earmark.cli.answer_options import Repeated
from earmark.cli.command import argument, option
from earmark.cli.options import READING
from earmark.cli.output import Output
from earmark.wording import counted


def import_results(
    results: Annotated[Path, argument("RESULTS")],
    out: Output,
    output: Annotated[Path, option("FILE", "-o")],
    mapping: Annotated[str, option("NAME", panel=READING)] = "mturk",
    column: Annotated[list[str] | None, option("FIELD=NAME", panel=READING)] = None,
    choice: Annotated[list[str] | None, option("WORD=CHOICE", panel=READING)] = None,
    questions: Annotated[Path | None, option("FILE", panel=READING)] = None,
    keep_rejected: Annotated[bool, option()] = False,
    repeated: Annotated[Repeated, option("RULE")] = "first",
    left_out: Annotated[Path | None, option("FILE")] = None,
    encoding: Annotated[str | None, option("NAME", panel=READING, rare=True)] = None,
) -> None:
    """Turn the results of a crowd platform into preferences.

    Rejected work, answers without a choice or a strength, and further answers of the same person to the same question
    are left out and counted. The output lists how many answers were kept and why others were left out.

    Parameters
    ----------
    results
        What a platform has written: CSV, TSV or Parquet, one task a row, as Mechanical Turk does.
    output
        Where to write the answers: .csv, .tsv, .csv.gz, .tsv.gz or .parquet.
    mapping
        Which columns hold what: mturk, what comes back of 'earmark crowd questions --package', or melody-2010, a
        published file of judgments on melodies.
    column
        Another column for a field: query, a, b, choice, strength, question, phase, trap, assessor, time, seconds,
        assignment, status, rejected or reject. Where tasks have several questions, without the number. Give the option
        again for more.
    choice
        What a word of the file means: a, b or same. Words with blanks need quotes, as in 'the first song=a'. Give the
        option again for more.
    questions
        The questions that were asked, as 'earmark crowd questions' wrote them: says which are traps, and what they
        expect.
    keep_rejected
        Take work that was rejected as well.
    repeated
        Which answer counts where a person answered the same question again: the first or the last, in the order of
        rows; refuse rejects the file.
    left_out
        Write what was left out, and why, to a CSV file.
    encoding
        The encoding of the results. When omitted, that of the mapping: utf-8, or latin-1 for melody-2010.

    Examples
    --------
    earmark crowd import Batch_results.csv --questions questions.csv -o answers.csv
    earmark crowd import judgments.csv --mapping melody-2010 -o answers.csv
    earmark crowd import results.csv --column a=Input.song1 --column b=Input.song2 --column choice=Answer.best
        --choice song1=a --choice song2=b -o answers.csv
    """
    import polars as pl

    from earmark.crowd.platforms import find_mapping
    from earmark.crowd.question_files import read_questions, write_table
    from earmark.crowd.results import read_results
    from earmark.data.outputs import together
    from earmark.data.preference_files import write_preferences

    used = find_mapping(mapping).with_columns(_pairs(column, "--column", "FIELD=NAME"))
    used = used.with_choices(_pairs(choice, "--choice", "WORD=CHOICE"))
    asked = None if questions is None else read_questions(questions)
    found = read_results(
        results, used, encoding=encoding, keep_rejected=keep_rejected, questions=asked, repeated=repeated
    )
    with together():
        write_preferences(found.preferences, output)
        if left_out is not None:
            write_table(found.report.left_out, left_out)
    out.note(f"wrote {output}: {found.preferences}")
    if left_out is not None:
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
    out.show_frame(
        table.filter((pl.col("answers") > 0) | (pl.col("outcome") == "kept")),
        ("outcome", "answers", "assessors"),
        caption=f"{counted(found.report.answers, 'answer')} in {counted(found.report.rows, 'row')}",
    )


_ENDS = {"--column": "NAME", "--choice": "a"}


def _pairs(given: Sequence[str] | None, option: str, shape: str) -> dict[str, str]:
    from earmark.errors import ParameterError

    pairs = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            hint = "" if sign else f"; words with blanks need quotes: {option} '{text} …={_ENDS[option]}'"
            raise ParameterError(f"{option} takes {shape}, got '{text}'{hint}")
        pairs[name.strip()] = value.strip()
    return pairs
