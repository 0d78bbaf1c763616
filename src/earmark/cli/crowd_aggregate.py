"""``earmark crowd aggregate``: one answer of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.command import option
from earmark.cli.options import Answers, Level
from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.aggregation import Aggregated

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Method = Literal["majority", "bradley-terry", "davidson", "one-coin", "dawid-skene"]
_MOST_ROWS = 20


def aggregate(
    answers: Answers,
    out: Output,
    method: Annotated[Method, option("NAME")] = "majority",
    agreement: Annotated[str | None, option("LEVEL")] = None,
    min_answers: Annotated[int, option("N", min=1)] = 1,
    strengths: Annotated[bool, option()] = False,
    prior: Annotated[float, option("SD", rare=True)] = 2.0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    level: Level = 0.95,
) -> None:
    """Make one preference per pair of documents of what many people answered.

    Prints the preferences (unless they are written to a file), scores of documents or reliabilities of workers where
    the method has them, and for every query the cycles among the preferences of majorities: documents x, y and z such
    that most people prefer x to y, y to z and z to x.

    Parameters
    ----------
    method
        The method: majority; bradley-terry or davidson, by scores of documents, davidson with a place for same;
        one-coin or dawid-skene, by what is most probably true given how reliable workers are.
    agreement
        For majority: take only pairs on which at least this share of the answers agrees, such as 5/6.
    min_answers
        Leave out pairs with fewer answers.
    strengths
        For scores: count answers in proportion to their strength.
    prior
        For scores: how far they are supposed to lie apart, as a standard deviation of log-odds.
    output
        Where to write the aggregated preferences, one row per pair: .csv, .tsv (either perhaps with .gz) or .parquet.
        Other commands read the file as answers of one assessor.

    Examples
    --------
    earmark crowd aggregate answers.csv --agreement 5/6 -o majority.csv
    earmark crowd aggregate answers.csv --method davidson --strengths
    earmark crowd aggregate answers.csv --method dawid-skene -o preferences.csv
    """
    from earmark.crowd.aggregation import aggregate_preferences
    from earmark.data.preference_files import write_preferences
    from earmark.measures.preference_precision import parse_level

    chosen_level = None if agreement is None else parse_level(agreement)
    given = answers.load(out)
    made = aggregate_preferences(
        given,
        method=method,
        agreement=chosen_level,
        min_answers=min_answers,
        strengths=strengths,
        prior_sd=prior,
        level=level,
    )
    pairs = len(given.pairs())
    if left_out := pairs - made.preferences.height:
        out.note(f"{left_out:,} of {counted(pairs, 'pair')} left out: too few agree, or answered")
    if tied := int((made.preferences["choice"] == "same").sum()):
        out.note(f"{tied:,} of {counted(made.preferences.height, 'pair')} without a preferred document")
    if output is not None:
        write_preferences(made.to_preferences(), output)
        out.note(f"wrote {output}: {counted(made.preferences.height, 'preference')}")
    if out.for_people:
        _show(made, out, written=output is not None)
        return
    kinds = {"document": made.documents, "worker": made.workers, "cycles": made.cycles}
    if output is None:
        kinds = {"preference": made.preferences, **kinds}
    out.named_kinds({kind: rows for kind, rows in kinds.items() if rows.height})


def _show(made: Aggregated, out: Output, *, written: bool) -> None:

    def show(what: str, frame: pl.DataFrame, keys: int, **digits: int) -> None:
        """Show a table; of a long one the beginning, for there are other formats and files."""
        if frame.height:
            headers = {name: name if at < keys else name.replace("_", "\n") for at, name in enumerate(frame.columns)}
            formats = {name: f".{count}f" for name, count in digits.items()}
            out.show_frame(
                frame, headers, keys=keys, formats=formats, title=f"{what} by {made.method}", most=_MOST_ROWS
            )
            out.show("")

    if not written:
        show("Preferences", made.preferences.drop("assessor"), 3, strength=2)
    show("Scores of documents", made.documents, 2, score=2, standard_error=2, low=2, high=2)
    show("Reliability of workers", made.workers, 1)
    _show_cycles(made.cycles, out)


def _show_cycles(cycles: pl.DataFrame, out: Output) -> None:
    import polars as pl

    cyclic, triads = int(cycles["cyclic_triads"].sum()), int(cycles["triads"].sum())
    knotted = cycles.filter(pl.col("knots") > 0)
    if not knotted.height:
        out.show(f"No cycles among majorities ({counted(triads, 'triad')} of documents with three preferences).")
        return
    out.show_frame(
        knotted.sort("cyclic_triads", "documents_in_knots", descending=True),
        {name: name.replace("_", "\n") for name in knotted.columns},
        title=f"Cycles among majorities: {cyclic:,} of {counted(triads, 'triad')}, in "
        f"{knotted.height:,} of {counted(cycles.height, 'query', 'queries')}",
        caption="A knot is a set of documents each of which is, over others, preferred to each other one.",
        most=_MOST_ROWS,
    )
