"""``earmark crowd aggregate`` and ``agree`` on judgments with gains: one gain per item, and what assessors are like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.crowd.grade_models import AggregatedGrades
    from earmark.data.judgments import Judgments

_MOST_ROWS = 20
_HEADERS = {"low": "from", "high": "to"}


def aggregate_gains(
    judgments: Judgments, out: Output, *, method: str, min_answers: int, output: Path | None, level: float
) -> None:
    """Print or write one gain per item, and print what the method says of assessors."""
    from typing import get_args

    from earmark.crowd.grade_models import GradeMethod, aggregate_grades
    from earmark.crowd.question_files import write_table
    from earmark.errors import ParameterError

    chosen = next((one for one in get_args(GradeMethod) if one == method), None)
    if chosen is None:
        raise ParameterError(
            f"the method {method} is for preferences: gains are aggregated by {', '.join(get_args(GradeMethod))}"
        )
    made = aggregate_grades(judgments, method=chosen, min_answers=min_answers, level=level)
    for note in made.notes:
        out.note(note)
    items = judgments.frame.filter(judgments.frame["gain"] >= 0).select("query", "document").n_unique()
    if left_out := items - made.items.height:
        out.note(f"{left_out:,} of {counted(items, 'item')} left out: fewer than {counted(min_answers, 'answer')}")
    if output is not None:
        write_table(made.items, output)
        out.note(f"wrote {output}: {counted(made.items.height, 'gain')}")
    if not out.for_people:
        kinds = {"assessor": made.assessors} if made.assessors.height else {}
        out.named_kinds({**({} if output is not None else {"item": made.items}), **kinds})
        return
    if output is None:
        show_items(made, out)
    if made.assessors.height and made.assessors["reliability"].is_not_null().any():
        show_assessors(made, out)


def show_items(made: AggregatedGrades, out: Output) -> None:
    """Show the gains of items."""
    digits = dict.fromkeys(("gain", "low", "high", "mean"), ".2f")
    out.show_frame(
        made.items,
        {name: _HEADERS.get(name, name) for name in made.items.columns},
        keys=2,
        formats={name: form for name, form in digits.items() if name in made.items.columns},
        title=f"Gains by {made.method}, with {100 * made.level:g}% intervals",
        most=_MOST_ROWS,
    )
    out.show("")


def show_assessors(made: AggregatedGrades, out: Output) -> None:
    """Show how assessors grade, with the interval of every number."""
    import polars as pl

    frame, headers = made.assessors.select("assessor", "answers"), {"assessor": "assessor", "answers": "answers"}
    for name in ("bias", "scale_use", "noise", "reliability"):
        if name in made.assessors.columns and made.assessors[name].is_not_null().any():
            sign = "+" if name == "bias" else ""
            values = made.assessors[name], made.assessors[f"{name}_low"], made.assessors[f"{name}_high"]
            cells = ["" if value is None else f"{value:{sign}.2f}" for value in values[0]]
            ends = [
                "" if low is None else f"{low:{sign}.2f} to {high:{sign}.2f}"
                for low, high in zip(*values[1:], strict=True)
            ]
            frame = frame.with_columns(pl.Series(name, cells), pl.Series(f"{name}_ends", ends))
            headers |= {name: name.replace("_", " "), f"{name}_ends": "interval"}
    use, meant = "1 as usual", "the share of the variance of answers that is due to items"
    if made.method == "dawid-skene":
        use, meant = "1 where answers follow the true level", "the probability of giving the true level"
    out.show_frame(
        frame,
        headers,
        title=f"Assessors by {made.method}, with {100 * made.level:g}% intervals",
        caption=f"bias: how much too high. scale use: {use}. reliability: {meant}.",
        most=_MOST_ROWS,
    )
