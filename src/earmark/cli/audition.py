"""``earmark audition``: which measures order answers as a person wants them ordered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from earmark.cli.command import argument, option
from earmark.cli.options import SCORING, Encoding
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.measures.audition import Audition

_EXAMPLE = "cover-prototypes.csv"


def audition(
    out: Output,
    answers: Annotated[Path | None, argument("[ANSWERS]")] = None,
    measure: Annotated[list[str] | None, option("NAME", "-m", panel=SCORING)] = None,
    violated: Annotated[bool, option()] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Find the measures that rank your prototype answers as you would.

    Write down a few answers a system could give, put them in the order you want, and see which measures agree. A
    violation is a pair of answers that a measure puts the wrong way round or cannot tell apart.

    Parameters
    ----------
    answers
        Prototype answers, a CSV file with the columns set, order (1 is the best), ranks (of the relevant documents,
        separated by spaces), relevant (how many there are), length (of the list) and, if known, collection (its size).
        When omitted, the six answers of Serrà (2007) on cover song identification.
    measure
        A measure such as AP or bpref*. Give the option again for more. When omitted, all that suit.
    violated
        List the pairs of answers that each measure gets wrong instead.

    Examples
    --------
    earmark audition
    earmark audition prototypes.csv -m AP -m bpref* -m RR
    earmark audition prototypes.csv -m AP --violated
    """
    from earmark.data.examples import example_path
    from earmark.measures.audition import audition as hear
    from earmark.measures.audition import read_prototypes

    if answers is None:
        out.note("no answers given: these are the six of Serrà (2007) on cover song identification, A1 wanted first")
    sets = read_prototypes(example_path(_EXAMPLE) if answers is None else answers, encoding=encoding)
    found = hear(sets, measures=measure or None)
    for name, why in found.left_out.items():
        out.note(f"{name} is left out: {why}")
    if violated:
        _print_violated(found, out)
    else:
        _print(found, out)


def _print(found: Audition, out: Output) -> None:
    frame, one = found.to_polars(), len(found.sets) == 1
    right = set(frame.filter(frame["violations"] == 0)["measure"])
    wanted = [f"wanted{'' if one else f' in {each.prototypes.name}'}: {each.prototypes.wanted}" for each in found.sets]
    out.print_frame(
        frame,
        ("measure", "violations", "tau", "order"),
        formats={
            "measure": lambda name: Text(name, style="bold" if name in right else ""),
            # Without blanks, so that the longest measure and six answers fit on one line.
            "order": lambda order: order.replace(" ", "") if one else order,
        },
        caption="\n".join(wanted),
    )


def _print_violated(found: Audition, out: Output) -> None:
    import polars as pl

    frame = found.violated_pairs()
    if not out.for_people:
        out.rows(frame)
        return
    frame = frame.with_columns(wanted=pl.format("{} > {}", "better", "worse"))
    headers = {"measure": "measure", "set": "set", "wanted": "wanted", "better_score": "score", "worse_score": "and"}
    out.show_frame(frame, headers, keys=2)
