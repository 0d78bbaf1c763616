"""``earmark plan`` for campaigns of the kinds order and lists: their answers are counted, not simulated.

No model predicts how experts rank documents or which list people prefer, so there is nothing to draw answers from.
What is known before anybody answers is how many answers a budget allows, and how many there are if every question is
asked.
"""

from __future__ import annotations

from pathlib import Path

from earmark.cli.output import Column, Output
from earmark.cli.plan import Asked, Work, asked_of
from earmark.errors import ParameterError
from earmark.wording import counted


def plan_counted(out: Output, path: Path, kind: str, work: Work, *, stop: str, policy: str | None) -> None:
    """Plan a stored campaign of kind order or lists.

    Parameters
    ----------
    out : Output
    path : path
        The folder of the campaign.
    kind : {"order", "lists"}
    work : Work
    stop : str
        The stop rule to plan for.
    policy : str, optional
        Refused: questions of these kinds are asked in a drawn order.
    """
    from earmark.campaign.stopping.plain import parse_plain_stop
    from earmark.campaign.stopping.rules import IntervalWidth
    from earmark.cli.folder import open_folder, read_settings
    from earmark.store.payments import count_answers

    if policy is not None:
        raise ParameterError(f"--policy: the questions of a campaign of kind {kind} are asked in a drawn order")
    rule = parse_plain_stop(stop, kind=kind)
    found = count_answers(open_folder(path, out), rule)
    asked = asked_of(read_settings(path), [found.least, found.least, found.most], work, several=False)
    if isinstance(rule, IntervalWidth):
        out.note(
            f"when {rule} is reached depends on the answers, and no model predicts answers of kind {kind}: the plan "
            "counts the answers if every question is asked, which is the most that the campaign can take"
        )
    if asked.why:
        out.note(f"{asked.why}: people are asked for {asked.answers[1]:,} to {asked.answers[2]:,} answers")
    if out.for_people:
        _show(out, asked, work, given=found.given, title=f"kind {kind}, stop {rule}")
        return
    import polars as pl

    everything = found.given + found.least
    row = {
        "judgments_low": found.least,
        "judgments_median": found.least,
        "judgments_high": found.most,
        "hours": asked.hours[1],
        "cost": asked.cost[1],
        "assessors": work.assessors,
        "hours_each": asked.hours[1] / work.assessors,
        "judged": found.given,
        "items": everything,
        "stop": str(rule),
        "answers_low": asked.answers[0],
        "answers_median": asked.answers[1],
        "answers_high": asked.answers[2],
    }
    out.rows(pl.DataFrame([row]))


def _show(out: Output, asked: Asked, work: Work, *, given: int, title: str) -> None:
    ends = (0, 2)
    rows = {
        "more answers" if given else "answers": [f"{asked.answers[end]:,}" for end in ends],
        "hours": [f"{asked.hours[end]:,.1f}" for end in ends],
        "cost": [f"{asked.cost[end]:,.2f}" for end in ends],
    }
    if work.assessors > 1:
        each = [f"{asked.hours[end] / work.assessors:,.1f}" for end in ends]
        rows[f"hours for each of {work.assessors:,}"] = each
    out.show_columns(
        [Column("", list(rows), numeric=False)],
        [Column(name, [cells[place] for cells in rows.values()]) for place, name in enumerate(("least", "most"))],
        title=title,
        caption=f"{counted(given, 'answer')} so far; least: if people agree, most: if every question is asked as often "
        "as it may be",
    )
