"""``earmark crowd check``: which workers fell into too many traps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli import options
from earmark.cli.crowd_answers import AnswerFiles, Level, Phases, read_answers, require_probability
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.worker_check import ExpectedErrors, WorkerCheck

EXAMPLES = options.examples(
    "earmark crowd check answers.csv",
    "earmark crowd check answers.csv --traps traps.csv --min-answers 50 --min-right 0.7",
    "earmark crowd check answers.csv -o again.csv --kept kept.csv",
)
_RULE = "Who is rejected"
_ERRORS = "How often that goes wrong"


def check(
    files: AnswerFiles,
    traps: Annotated[
        Path | None,
        typer.Option(
            "--traps",
            metavar="FILE",
            help="Traps: a table with the columns query, a, b and trap (the choice that is expected), for answers that "
            "do not say it themselves.",
            rich_help_panel=_RULE,
        ),
    ] = None,
    min_answers: Annotated[
        int,
        typer.Option(
            "--min-answers",
            metavar="N",
            min=0,
            help="Workers with fewer answers, traps among them, are not checked.",
            rich_help_panel=_RULE,
        ),
    ] = 100,
    min_right: Annotated[
        float,
        typer.Option(
            "--min-right",
            metavar="P",
            help="Workers who get a smaller share of their traps right are rejected.",
            rich_help_panel=_RULE,
        ),
    ] = 0.65,
    honest: Annotated[
        float,
        typer.Option(
            "--honest",
            metavar="P",
            help="How probable it is that an honest worker gets a trap right.",
            rich_help_panel=_ERRORS,
        ),
    ] = 0.9,
    cheating: Annotated[
        float,
        typer.Option(
            "--cheating",
            metavar="P",
            help="How probable it is that one who answers at random does.",
            rich_help_panel=_ERRORS,
        ),
    ] = 0.5,
    cheaters: Annotated[
        float,
        typer.Option(
            "--cheaters",
            metavar="P",
            help="What share of the workers is supposed to answer at random.",
            rich_help_panel=_ERRORS,
        ),
    ] = 0.1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write, as CSV, the questions to ask again: all that rejected workers answered.",
        ),
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option("--kept", metavar="FILE", help="Where to write the answers of all who are not rejected."),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--all", metavar="", help="List all workers in a table, not only those who are rejected.")
    ] = False,
    phase: Phases = None,
    level: Level = 0.95,
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Find workers who answer without looking, by the traps that they fell into.

    A worker is rejected who gave many answers and got too few traps right. All answers of such a worker are to be asked
    again. The command also says how many honest workers the rule is expected to wrong and how many cheaters to miss,
    given how many traps each worker saw.
    """
    import polars as pl

    from earmark.crowd.question_files import read_questions, write_table
    from earmark.crowd.traps import mark_traps
    from earmark.crowd.worker_check import RejectionRule, check_workers
    from earmark.data.preference_files import write_preferences

    out = Output.choose(format, quiet=quiet)
    require_probability(level, "--level")
    rule = RejectionRule(min_answers, min_right)
    answers = read_answers(files, out, phases=phase, encoding=encoding)
    if traps is not None:
        answers = mark_traps(answers, _only_traps(read_questions(traps, encoding=encoding), traps))
    checked = check_workers(answers, rule=rule, level=level)
    expected = checked.expected_errors(cheater_share=cheaters, honest_accuracy=honest, cheater_accuracy=cheating)
    again = checked.ask_again()
    if output is not None:
        write_table(again, output)
        out.note(f"wrote {output}: {counted(again.height, 'question')} to ask again")
    if kept is not None:
        write_preferences(checked.kept_answers(), kept)
        out.note(f"wrote {kept}")
    summary = {
        "workers": checked.workers.height,
        "rejected": len(checked.rejected),
        "unchecked": int((checked.workers["decision"] == "unchecked").sum()),
        "questions_again": again.height,
        "answers_again": int(again["assessors"].sum()),
    }
    if out.for_people:
        _show_workers(checked, out, everybody=everybody)
        _show_expected(expected, out)
        out.show(
            f"{summary['rejected']:,} of {counted(summary['workers'], 'worker')} rejected, {summary['unchecked']:,} "
            f"unchecked; {counted(summary['answers_again'], 'answer')} to {counted(again.height, 'question')} to ask "
            "again."
        )
    else:
        out.kinds(
            checked.workers.select(pl.lit("worker").alias("kind"), pl.all()),
            pl.DataFrame([vars(expected)]).select(pl.lit("expected").alias("kind"), pl.all()),
            pl.DataFrame([summary]).select(pl.lit("summary").alias("kind"), pl.all()),
        )


def _only_traps(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Take the rows of a table of questions that are traps."""
    import polars as pl

    from earmark.errors import InputError

    if "trap" not in table.columns or table["trap"].is_null().all():
        raise InputError(expected="traps in a column 'trap'", got="none", path=path)
    return table.filter(pl.col("trap").is_not_null())


def _show_workers(checked: WorkerCheck, out: Output, *, everybody: bool) -> None:
    import polars as pl

    rows = checked.workers.sort("share", "assessor", nulls_last=True)
    if not everybody:
        rows = rows.filter(pl.col("decision") == "rejected")
    if not rows.height:
        return
    style = {"rejected": "bold red", "unchecked": "dim"}
    out.show_columns(
        [Column("worker", rows["assessor"].to_list(), numeric=False)],
        [
            Column("answers", [f"{value:,}" for value in rows["answers"]]),
            Column("traps", [f"{value:,}" for value in rows["traps"]]),
            Column("right", [f"{value:,}" for value in rows["right"]]),
            Column("share", [number(value) for value in rows["share"]]),
            Column("from", [number(value) for value in rows["low"]]),
            Column("to", [number(value) for value in rows["high"]]),
            Column("decision", [Text(value, style=style.get(value, "")) for value in rows["decision"]], numeric=False),
            Column("reason", rows["reason"].to_list(), numeric=False),
        ],
        title="Workers and traps" if everybody else "Rejected workers",
    )
    out.show("")


def _show_expected(expected: ExpectedErrors, out: Output) -> None:
    out.show_columns(
        [Column("workers", ["honest", "cheaters"], numeric=False)],
        [
            Column("a trap right", [number(expected.honest_accuracy), number(expected.cheater_accuracy)]),
            Column("supposed", [f"{expected.honest:,.1f}", f"{expected.cheaters:,.1f}"]),
            Column("judged wrongly", [f"{expected.honest_rejected:,.2f}", f"{expected.cheaters_missed:,.2f}"]),
        ],
        title="What the rule is expected to get wrong",
        caption="Honest workers who are rejected and cheaters who are not, given how many traps each worker saw.",
    )
    out.show("")
