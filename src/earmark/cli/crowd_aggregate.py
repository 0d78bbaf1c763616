"""``earmark crowd aggregate``: one answer of many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.answer_options import Answers
from earmark.cli.command import option
from earmark.cli.options import Level
from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.aggregation import Aggregated

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Method = Literal["majority", "bradley-terry", "davidson", "one-coin", "dawid-skene", "mean", "median", "linear"]
_MOST_ROWS = 20


def aggregate(
    answers: Answers,
    out: Output,
    method: Annotated[Method | None, option("NAME")] = None,
    agreement: Annotated[str | None, option("LEVEL")] = None,
    min_answers: Annotated[int, option("N", min=1)] = 1,
    graded: Annotated[bool, option()] = False,
    scale: Annotated[str | None, option("SCALE")] = None,
    strengths: Annotated[bool, option()] = False,
    prior: Annotated[float, option("SD", rare=True)] = 2.0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    level: Level = 0.95,
) -> None:
    """Make one preference per pair of documents, or one gain per document, of what many people answered.

    Prints the preferences (unless they are written to a file), scores of documents or reliabilities of workers where
    the method has them, and for every query the cycles among the preferences of majorities: documents x, y and z such
    that most people prefer x to y, y to z and z to x.

    For judgments with gains by several assessors (columns query, document, gain and assessor), prints one gain per
    document with an interval, and what a model tells about assessors: their bias, how much of the scale they use, their
    noise and their reliability.

    Parameters
    ----------
    method
        The method. For preferences: majority; bradley-terry or davidson, by scores of documents, davidson with a place
        for same; one-coin or dawid-skene, by the answer that reliable workers lean to. For gains:
        mean, median or majority; linear, with a bias, a scale use and a noise of every assessor; dawid-skene, for
        scales of few levels. When omitted, majority for preferences and linear for gains.
    agreement
        For majority of preferences: take only pairs on which at least this share of the answers agrees, such as 5/6.
    min_answers
        Leave out pairs or documents with fewer answers.
    graded
        The files hold judgments with gains. When omitted, they do if they have the columns document and gain.
    scale
        The judging scale of gains: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains such as 0,1,3,7.
        Guessed from the judgments when omitted.
    strengths
        For scores: count answers in proportion to their strength.
    prior
        For scores: their prior standard deviation, in log-odds.
    output
        Where to write the aggregated preferences, one row per pair: .csv, .tsv (either perhaps with .gz) or .parquet.
        Other commands read the file as answers of one assessor. Gains are written as CSV, which other commands read as
        judgments.

    Examples
    --------
    earmark crowd aggregate answers.csv --agreement 5/6 -o majority.csv
    earmark crowd aggregate answers.csv --method davidson --strengths
    earmark crowd aggregate answers.csv --method dawid-skene -o preferences.csv
    earmark crowd aggregate judgments.csv --scale fine -o gains.csv
    """
    from earmark.cli.crowd_grades import aggregate_gains
    from earmark.crowd.aggregation import aggregate_preferences
    from earmark.data.preference_files import write_preferences
    from earmark.errors import ParameterError
    from earmark.measures.preference_precision import parse_level

    if graded or answers.are_grades():
        unused = {"agreement": agreement, "strengths": strengths, "phase": answers.phase}
        for name, value in unused.items():
            if value:
                raise ParameterError(f"--{name} is for preferences: judgments with gains do not use it")
        judgments = answers.load_grades(out, scale)
        aggregate_gains(judgments, out, method=method or "linear", min_answers=min_answers, output=output, level=level)
        return
    if scale is not None:
        raise ParameterError("--scale is for judgments with gains: preferences have none")
    if method is None:
        method = "majority"
    if method == "mean" or method == "median" or method == "linear":
        raise ParameterError(f"the method {method} is for judgments with gains, not for preferences")
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
    for note in made.notes:
        out.note(note)
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
        caption="A knot is a set of documents in which a chain of preferences leads from each to every other.",
        most=_MOST_ROWS,
    )
