"""``earmark audition``: which measures order answers as a person wants them ordered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli import options
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    from earmark.measures.audition import Audition

EXAMPLES = options.examples(
    "earmark audition",
    "earmark audition prototypes.csv -m AP -m bpref* -m RR",
    "earmark audition prototypes.csv -m AP --violated",
)
_EXAMPLE = "cover-prototypes.csv"


def audition(
    answers: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ANSWERS]",
            help="Prototype answers, a CSV file with the columns set, order (1 is the best), ranks (of the relevant "
            "documents, separated by spaces), relevant (how many there are), length (of the list) and, if known, "
            "collection (its size). When omitted, the six answers of the paper on cover song identification.",
            show_default=False,
        ),
    ] = None,
    measure: options.MeasureNames = None,
    violated: Annotated[
        bool,
        typer.Option("--violated", metavar="", help="List the pairs of answers that each measure gets wrong instead."),
    ] = False,
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the measures that rank your prototype answers as you would.

    Write down a few answers a system could give, put them in the order you want, and see which measures agree. A
    violation is a pair of answers that a measure puts the wrong way round or cannot tell apart.
    """
    from earmark.data.examples import example_path
    from earmark.measures.audition import audition as hear
    from earmark.measures.audition import read_prototypes

    out = Output.choose(format, quiet=quiet)
    if answers is None:
        out.note("no answers given: these are the six of the paper on cover song identification, A1 wanted first")
    sets = read_prototypes(example_path(_EXAMPLE) if answers is None else answers, encoding=encoding)
    found = hear(sets, measures=measure or None)
    for name, why in found.left_out.items():
        out.note(f"{name} is left out: {why}")
    if out.for_people:
        _show_violated(found, out) if violated else _show(found, out)
    else:
        out.rows(found.violated_pairs() if violated else found.to_polars())


def _show(found: Audition, out: Output) -> None:
    frame = found.to_polars()
    style = ["bold" if count == 0 else "" for count in frame["violations"]]
    # Without blanks, so that the longest measure and six answers fit on one line.
    orders = [order.replace(" ", "") if len(found.sets) == 1 else order for order in frame["order"]]
    out.show_columns(
        [
            Column(
                "measure", [Text(name, style=s) for name, s in zip(frame["measure"], style, strict=True)], numeric=False
            )
        ],
        [
            Column("violations", [f"{count}" for count in frame["violations"]]),
            Column("tau", [number(tau) for tau in frame["tau"]]),
            Column("order", orders, numeric=False),
        ],
        caption="\n".join(
            f"wanted{'' if len(found.sets) == 1 else f' in {one.prototypes.name}'}: {one.prototypes.wanted}"
            for one in found.sets
        ),
    )


def _show_violated(found: Audition, out: Output) -> None:
    frame = found.violated_pairs()
    keys = [Column(name, frame[name].to_list(), numeric=False) for name in ("measure", "set")]
    out.show_columns(
        keys,
        [
            Column(
                "wanted",
                [f"{better} > {worse}" for better, worse in frame.select("better", "worse").iter_rows()],
                numeric=False,
            ),
            Column("score", [number(score) for score in frame["better_score"]]),
            Column("and", [number(score) for score in frame["worse_score"]]),
        ],
    )
