"""What assessors say in place of an answer: that they skip a question, that something does not play, or a comment."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

import sqlalchemy as sa

from earmark.store import questions as queues
from earmark.store.answers import find_assignment, is_known, log_about
from earmark.store.assessor_rows import UNCOUNTED
from earmark.store.organising import remove
from earmark.store.rules import Rules
from earmark.store.schema import assessors, assignments, events
from earmark.store.store import Change, check_text

Part = Literal["query", "document", "other"]

PARTS: dict[str, float] = {"query": 0.0, "document": 1.0, "other": -1.0}
"""What does not play, as the ``value`` of an assignment in the state ``unplayable``."""


def skip(
    change: Change, rules: Rules, assessor: str, id: str, *, key: str | None = None, text: str | None = None
) -> None:
    """Note that an assessor does not want to answer a question; they do not get it again."""
    _end(change, rules, assessor, id, "skipped", key, text)


def comment(change: Change, assessor: str, text: str, *, id: str | None = None, key: str | None = None) -> None:
    """Keep a remark about a question, or about the campaign."""
    row = SimpleNamespace(assessor=assessor, query=None, document=None, other="")
    if id is not None:
        row = find_assignment(change, assessor, id)
    if key is not None and is_known(change, key, ("commented",), row):
        return
    if id is None:
        change.append("commented", assessor=assessor, text=text, key=key)
    else:
        log_about(change, "commented", row, text=text, key=key)


def report_unplayable(
    change: Change,
    rules: Rules,
    assessor: str,
    id: str,
    *,
    key: str | None = None,
    what: Part = "document",
    name: str | None = None,
    text: str | None = None,
) -> None:
    """Note that something does not play; after enough reports it leaves the collection for all systems.

    A document, or a query, leaves when ``rules.unplayable_after`` different assessors have reported it and nobody has
    answered a question about it, leaving out assessors whose answers do not count. That depends on whether it plays
    and never on a gain, so guaranteed estimates stay valid.

    Parameters
    ----------
    change, rules, assessor, id, key
        As for :func:`earmark.store.answers.answer`.
    what : {"query", "document", "other"}
        The part of the question.
    name : str, optional
        The document, where a question is about many: a candidate of an order, a result of a list.
    text : str, optional
        What the assessor says about it.
    """
    if name is not None:
        check_text(name)
    said = what if text is None else f"{what}: {text}"
    row = _end(change, rules, assessor, id, "unplayable", key, said, value=PARTS[what], choice=name)
    if row is None or row.expected is not None:
        return
    if what != "query" and rules.kind in ("order", "lists"):
        reports, plays = (set(), True) if name is None else _reports_of_candidate(change, row, name)
    else:
        name = {"query": row.query, "document": row.document, "other": row.other}[what]
        reports, plays = _reports(change, name, is_query=what == "query")
    if name and not plays and len(reports) >= rules.unplayable_after:
        why = f"does not play, as {len(reports)} assessors reported"
        is_query = what == "query"
        remove(change, rules, query=name if is_query else None, document=None if is_query else name, reason=why)


def _reports(change: Change, name: str, *, is_query: bool) -> tuple[set[str], bool]:
    """Return who reported a query or a document, and whether it plays, as somebody answered a question about it."""
    table = assignments.c
    about = table.query == name if is_query else sa.or_(table.document == name, table.other == name)
    found = _counted(change, about, table.state.in_(("unplayable", "answered", "late")))
    reports = {one.assessor for one in found if one.state == "unplayable" and _reported(one) == (is_query, name)}
    return reports, _somebody_answered(found)


def _reports_of_candidate(change: Change, row: Any, name: str) -> tuple[set[str], bool]:
    """Return the same for a document among many; who answers the same question has heard all of them."""
    table, told = assignments.c, events.c
    same = [table[column] == getattr(row, column) for column in ("query", "document", "other")]
    found = _counted(change, *same, table.state.in_(("unplayable", "answered", "late")))
    named = sa.select(told.assessor).where(
        told.campaign == change.campaign, told.kind == "unplayable", told.choice == name, told.expected.is_(None)
    )
    who = set(change.connection.execute(named).scalars())
    # What this transaction adds is written at its end.
    who |= {one["assessor"] for one in change.added if one["kind"] == "unplayable" and one["choice"] == name}
    counted = sa.select(assessors.c.assessor).where(
        assessors.c.campaign == change.campaign,
        assessors.c.assessor.in_(who),
        assessors.c.state.not_in(UNCOUNTED),
    )
    return set(change.connection.execute(counted).scalars()), _somebody_answered(found)


def _counted(change: Change, *where: sa.ColumnElement[bool]) -> list[Any]:
    """Return assignments of assessors whose answers count, without traps."""
    table = assignments.c
    whose = sa.and_(assessors.c.campaign == table.campaign, assessors.c.assessor == table.assessor)
    mine = sa.and_(table.campaign == change.campaign, assessors.c.state.not_in(UNCOUNTED), table.expected.is_(None))
    return list(change.connection.execute(sa.select(assignments).join(assessors, whose).where(mine, *where)))


def _somebody_answered(found: list[Any]) -> bool:
    # Who answers without listening is rejected sooner or later, and has not heard whether it plays.
    return any(one.counts for one in found if one.state != "unplayable")


def _reported(row: Any) -> tuple[bool, str]:
    """Return what an assessor reported not to play: whether it is the query, and its name."""
    part = next(name for name, value in PARTS.items() if value == row.value)
    return part == "query", getattr(row, part)


def _end(
    change: Change,
    rules: Rules,
    assessor: str,
    id: str,
    state: Literal["skipped", "unplayable"],
    key: str | None,
    text: str | None,
    *,
    value: float | None = None,
    choice: str | None = None,
) -> Any:
    """End an assignment without an answer; returns None where that was done before."""
    row = find_assignment(change, assessor, id)
    if key is not None and is_known(change, key, (state,), row):
        return None
    if row.state in ("answered", "late", state):
        return None
    log_about(change, state, row, key=key, text=text, choice=choice)
    mine = sa.update(assignments).where(assignments.c.id == id)
    change.connection.execute(mine.values(state=state, value=value if row.expected is None else row.value))
    if row.question is not None and row.expected is None:
        queues.settle(change, rules, [row.question], came_back=row.assessor_state != "pilot")
    return row
