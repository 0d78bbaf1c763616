"""``earmark crowd check``: which workers fell into too many traps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli.answer_options import Answers
from earmark.cli.command import option
from earmark.cli.options import Level
from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.worker_check import ExpectedErrors, WorkerCheck

_RULE = "Who is rejected"
_ERRORS = "How often the rule is wrong"


def check(
    answers: Answers,
    out: Output,
    traps: Annotated[Path | None, option("FILE", panel=_RULE)] = None,
    min_answers: Annotated[int, option("N", panel=_RULE, min=0)] = 100,
    min_right: Annotated[float, option("P", panel=_RULE)] = 0.65,
    honest: Annotated[float, option("P", panel=_ERRORS, rare=True)] = 0.9,
    cheating: Annotated[float, option("P", panel=_ERRORS, rare=True)] = 0.5,
    cheaters: Annotated[float, option("P", panel=_ERRORS, rare=True)] = 0.1,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    kept: Annotated[Path | None, option("FILE")] = None,
    everybody: Annotated[bool, option("", "--all")] = False,
    level: Level = 0.95,
) -> None:
    """Find workers who answer at random, by their wrong answers to traps.

    A worker who gave many answers and got too few traps right is rejected, and the questions of that worker have to be
    asked again. The command also says how many honest workers the rule is expected to reject by mistake and how many
    cheaters to miss, given how many traps each worker saw.

    Parameters
    ----------
    traps
        Traps: a table with the columns query, a, b and trap (the choice that is expected), for answers that do not say
        it themselves.
    min_answers
        Workers with fewer answers, traps among them, are not checked.
    min_right
        Workers who get a smaller share of their traps right are rejected.
    honest
        How probable it is that an honest worker gets a trap right.
    cheating
        How probable it is that a worker who answers at random gets a trap right.
    cheaters
        The share of workers who are assumed to answer at random.
    output
        Where to write, as CSV, the questions to ask again: all that rejected workers answered.
    kept
        Where to write the answers of all who are not rejected. If everybody is, nothing is written and the command ends
        with exit code 1.
    everybody
        List all workers in a table, not only those who are rejected.

    Examples
    --------
    earmark crowd check answers.csv
    earmark crowd check answers.csv --traps traps.csv --min-answers 50 --min-right 0.7
    earmark crowd check answers.csv -o again.csv --kept kept.csv
    """
    from earmark.crowd.question_files import read_questions, write_table
    from earmark.crowd.traps import mark_traps
    from earmark.crowd.worker_check import RejectionRule, check_workers
    from earmark.data.outputs import together
    from earmark.data.preference_files import write_preferences

    rule = RejectionRule(min_answers, min_right)
    given = answers.load(out, keep_traps=True)
    if traps is not None:
        given = mark_traps(given, _only_traps(read_questions(traps, encoding=answers.encoding), traps))
    checked = check_workers(given, rule=rule, level=level)
    expected = checked.expected_errors(cheater_share=cheaters, honest_accuracy=honest, cheater_accuracy=cheating)
    again = checked.ask_again()
    with together():
        if output is not None:
            write_table(again, output)
            out.note(f"wrote {output}: {counted(again.height, 'question')} to ask again")
        nobody_left = len(checked.rejected) == checked.workers.height
        if kept is not None and nobody_left:
            out.note(f"nothing written to {kept}: all {counted(checked.workers.height, 'worker')} are rejected")
        elif kept is not None:
            write_preferences(checked.kept_answers(), kept)
            out.note(f"wrote {kept}")
    summary = {
        "workers": checked.workers.height,
        "rejected": len(checked.rejected),
        "unchecked": int((checked.workers["decision"] == "unchecked").sum()),
        "questions_again": again.height,
        "answers_again": int(again["assessors"].sum()),
    }
    if not out.for_people:
        out.named_kinds({"worker": checked.workers, "expected": [vars(expected)], "summary": [summary]})
    else:
        _show_workers(checked, out, everybody=everybody)
        _show_expected(expected, out)
        out.show(
            f"{summary['rejected']:,} of {counted(summary['workers'], 'worker')} rejected, {summary['unchecked']:,} "
            f"unchecked; {counted(summary['answers_again'], 'answer')} to {counted(again.height, 'question')} to ask "
            "again."
        )
    if kept is not None and nobody_left:
        # A file that was asked for is not there, which a script has to notice.
        raise typer.Exit(1)


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
    names = ("answers", "traps", "right", "share", "low", "high", "decision", "reason")
    out.show_frame(
        rows,
        {"assessor": "worker", **{name: {"low": "from", "high": "to"}.get(name, name) for name in names}},
        formats={"decision": lambda decision: Text(decision, style=style.get(decision, ""))},
        title="Workers and traps" if everybody else "Rejected workers",
    )
    out.show("")


def _show_expected(expected: ExpectedErrors, out: Output) -> None:
    import polars as pl

    rows = [
        ("honest", expected.honest_accuracy, expected.honest, expected.honest_rejected),
        ("cheaters", expected.cheater_accuracy, expected.cheaters, expected.cheaters_missed),
    ]
    out.show_frame(
        pl.DataFrame(rows, schema=["workers", "a trap right", "supposed", "judged wrongly"], orient="row"),
        formats={"supposed": ",.1f", "judged wrongly": ",.2f"},
        title="What the rule is expected to get wrong",
        caption="Honest workers who are rejected and cheaters who are not, given how many traps each worker saw.",
    )
    out.show("")
