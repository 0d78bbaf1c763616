"""``earmark crowd aggregate``: one answer of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earmark.cli import options
from earmark.cli.crowd_answers import AnswerFiles, Level, Phases, leave_out_traps, read_answers, require_probability
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.aggregation import Aggregated

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Method = Literal["majority", "bradley-terry", "davidson", "one-coin", "dawid-skene"]

EXAMPLES = options.examples(
    "earmark crowd aggregate answers.csv --agreement 5/6 -o majority.csv",
    "earmark crowd aggregate answers.csv --method davidson --strengths",
    "earmark crowd aggregate answers.csv --method dawid-skene -o preferences.csv",
)
_MANY = 20


def aggregate(
    files: AnswerFiles,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            metavar="NAME",
            help="How: majority; bradley-terry or davidson, by scores of documents, davidson with a place for same; "
            "one-coin or dawid-skene, by what is most probably true given how reliable workers are.",
        ),
    ] = "majority",
    agreement: Annotated[
        str | None,
        typer.Option(
            "--agreement",
            metavar="LEVEL",
            help="For majority: take only pairs on which at least this share of the answers agrees, such as 5/6.",
        ),
    ] = None,
    min_answers: Annotated[
        int, typer.Option("--min-answers", metavar="N", min=1, help="Leave out pairs with fewer answers.")
    ] = 1,
    strengths: Annotated[
        bool,
        typer.Option("--strengths", metavar="", help="For scores: count answers in proportion to their strength."),
    ] = False,
    prior: Annotated[
        float,
        typer.Option(
            "--prior",
            metavar="SD",
            help="For scores: how far they are supposed to lie apart, as a standard deviation of log-odds.",
        ),
    ] = 2.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the aggregated preferences, one row per pair: .csv, .tsv (either perhaps with .gz) or "
            ".parquet. Other commands read the file as answers of one assessor.",
        ),
    ] = None,
    phase: Phases = None,
    level: Level = 0.95,
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Make one preference per pair of documents of what many people answered.

    Prints the preferences (unless they are written to a file), scores of documents or reliabilities of workers where
    the method has them, and for every query the cycles among the preferences of majorities: documents x, y and z such
    that most people prefer x to y, y to z and z to x.
    """
    import polars as pl

    from earmark.crowd.aggregation import aggregate_preferences
    from earmark.data.preference_files import write_preferences
    from earmark.measures.preference import parse_level

    out = Output.choose(format, quiet=quiet)
    require_probability(level, "--level")
    chosen_level = None if agreement is None else parse_level(agreement)
    answers = leave_out_traps(read_answers(files, out, phases=phase, encoding=encoding), out)
    made = aggregate_preferences(
        answers,
        method=method,
        agreement=chosen_level,
        min_answers=min_answers,
        strengths=strengths,
        prior_sd=prior,
        level=level,
    )
    left_out = len(answers.pairs()) - made.preferences.height
    if left_out:
        out.note(f"{left_out:,} of {counted(len(answers.pairs()), 'pair')} left out: too few agree, or answered")
    tied = int((made.preferences["choice"] == "same").sum())
    if tied:
        out.note(f"{tied:,} of {counted(made.preferences.height, 'pair')} without a preferred document")
    if output is not None:
        write_preferences(made.to_preferences(), output)
        out.note(f"wrote {output}: {counted(made.preferences.height, 'preference')}")
    if out.for_people:
        _show(made, out, written=output is not None)
        return
    kinds = {
        "preference": made.preferences.clear() if output is not None else made.preferences,
        "document": made.documents,
        "worker": made.workers,
        "cycles": made.cycles,
    }
    out.kinds(*(rows.select(pl.lit(kind).alias("kind"), pl.all()) for kind, rows in kinds.items() if rows.height))


def _show(made: Aggregated, out: Output, *, written: bool) -> None:
    if not written:
        _show_rows(
            made.preferences,
            out,
            title=f"Preferences by {made.method}",
            keys=("query", "a", "b"),
            digits={"strength": 2, "probability": 4},
            leave_out=("assessor",),
        )
    if made.documents.height:
        _show_rows(
            made.documents,
            out,
            title=f"Scores of documents by {made.method}",
            keys=("query", "document"),
            digits=dict.fromkeys(("score", "standard_error", "low", "high"), 2),
        )
    if made.workers.height:
        _show_rows(
            made.workers,
            out,
            title=f"Reliability of workers by {made.method}",
            keys=("assessor",),
            digits={"reliability": 4, "right": 4},
        )
    _show_cycles(made.cycles, out)


def _show_rows(
    frame: pl.DataFrame,
    out: Output,
    *,
    title: str,
    keys: tuple[str, ...],
    digits: dict[str, int],
    leave_out: tuple[str, ...] = (),
) -> None:
    """Show a table; of a long one the beginning, for there are other formats and files."""
    shown = frame.head(_MANY)
    values = [name for name in frame.columns if name not in (*keys, *leave_out)]
    cells = {
        name: [number(value, digits=digits[name]) for value in shown[name]]
        if name in digits
        else [f"{value:,}" if isinstance(value, int) else f"{value}" for value in shown[name]]
        for name in values
    }
    more = frame.height - shown.height
    out.show_columns(
        [Column(name, shown[name].to_list(), numeric=False) for name in keys],
        [Column(name.replace("_", "\n"), cells[name]) for name in values],
        title=title,
        caption=f"and {more:,} more: --format csv prints all of them" if more else "",
    )
    out.show("")


def _show_cycles(cycles: pl.DataFrame, out: Output) -> None:
    import polars as pl

    cyclic, triads = int(cycles["cyclic_triads"].sum()), int(cycles["triads"].sum())
    knotted = cycles.filter(pl.col("knots") > 0)
    if not knotted.height:
        out.show(f"No cycles among majorities ({counted(triads, 'triad')} of documents with three preferences).")
        return
    rows = knotted.sort("cyclic_triads", "documents_in_knots", descending=True).head(_MANY)
    cells = [Column(name.replace("_", "\n"), [f"{value:,}" for value in rows[name]]) for name in rows.columns[1:]]
    more = knotted.height - rows.height
    out.show_columns(
        [Column("query", rows["query"].to_list(), numeric=False)],
        cells,
        title=f"Cycles among majorities: {cyclic:,} of {counted(triads, 'triad')}, in "
        f"{knotted.height:,} of {counted(cycles.height, 'query', 'queries')}",
        caption="A knot is a set of documents each of which is, over others, preferred to each other one."
        + (f" {counted(more, 'query', 'queries')} more." if more else ""),
    )
