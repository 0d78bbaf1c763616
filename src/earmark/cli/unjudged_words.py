"""What commands say about documents that nobody judged: that a verdict rests on them, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from earmark.cli.output import number
from earmark.wording import counted, percent

if TYPE_CHECKING:
    from earmark.evaluation import Scores
    from earmark.inference.baseline import BaselineCheck
    from earmark.inference.comparison import Comparison

_NAMED = 3
_OF_FILES = {"runs", "judgments", "measure", "scale", "order", "encoding", "aggregate"}


def say_bounds(low: float | None, high: float | None) -> str:
    """Print two bounds, or that they are unknown."""
    return "unknown" if low is None or high is None or low != low else f"{number(low)} to {number(high)}"


def say_unjudged(scores: Scores, comparisons: Sequence[Comparison], asked: str | None) -> list[str]:
    """Say for which pairs there is no verdict, and what is taken for granted where there is one."""
    notes = []
    for comparison in comparisons:
        pairs, bounds = comparison.unjudged, scores.bounds(comparison.measure)
        if pairs is None or bounds is None or not pairs.share.any() or not comparison.measure.needs_all_judged:
            continue
        unsure = int(pairs.undecided.sum())
        if unsure:
            notes.append(
                f"{comparison.measure}: unjudged documents could turn {counted(unsure, 'significant difference')} "
                f"(--unjudged {pairs.rule}): no verdict there"
            )
        if not bounds.are_known:
            notes.append(f"{comparison.measure}: what unjudged documents could change is unknown")
        elif asked is None and pairs.rule == "zero":
            notes.append(
                f"{percent(float(pairs.share.max()))} of the results of some system are not in the judgments, none of "
                "which says that a document is not relevant: they are taken for all relevant documents there are; "
                "--unjudged any shows what else could be"
            )
    return list(dict.fromkeys(notes))


def advise(context: typer.Context, scores: Scores, checks: Sequence[BaselineCheck]) -> str:
    """Name the documents to judge where checks are open, and the command that needs no judgments of them."""
    from earmark.cli.command_lines import command_line

    unsure = [check for check in checks if check.open_systems]
    if not unsure:
        return ""
    check = unsure[0]
    bounds = scores.bounds(check.measure)
    assert bounds is not None
    places = [scores.systems.index(name) for name in (*check.open_systems, check.baseline)]
    documents = bounds.documents(places)
    first = ", ".join(f"{query} {document}" for query, document in documents.head(_NAMED).rows())
    more = ", …" if documents.height > _NAMED else ""
    judge = command_line(context, name="next", only=_OF_FILES, measure=[str(check.measure)])
    rank = command_line(context, name="rank", only=_OF_FILES | {"baseline", "fail_if_worse", "margin"})
    return (
        f"\njudge {counted(documents.height, 'document')} (query and document, the most important first: {first}{more}"
        f"), for example by: {judge} -n {documents.height}"
        f"\nor estimate what they are worth: {rank}"
        "\nor say what they may be: --unjudged alike or zero"
    )
