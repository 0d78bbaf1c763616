"""Make the derived tables anew from the log: assignments, assessors, agreed traps, and the queues of questions.

That is needed after a setting changed that says how work is given out, after a backup was restored or a campaign moved
to another database, and to check that the tables are what the log says. Events are gone through once, in order;
they make the tables in memory (:mod:`earmark.store.replay`), which are then written.

Three things are not in the log and stay as they are: which questions there are, which of them the policy proposes, and
the organiser's own traps. Places in queues are given anew, in the same order, so that the marks of what assessors have
seen start from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from earmark.store.questions import FRESH, REST
from earmark.store.replay import Assignment, Replay
from earmark.store.rules import Rules
from earmark.store.schema import assessors, assignments, events, questions, traps
from earmark.store.store import Change

_PORTION = 10_000
_KINDS = (
    *("asked", "answered", "late", "skipped", "unplayable", "returned", "withdrawn"),
    *("invited", "rejected", "reinstated", "paused", "resumed", "removed", "restored"),
)
_COLUMNS = (
    *("sequence", "kind", "time", "assessor", "query", "document", "other", "system", "gain", "choice", "sampled"),
    *("expected", "source", "key", "expires", "text"),
)


def rebuild(change: Change, rules: Rules) -> None:
    """Make the tables that are derived from the log anew.

    Parameters
    ----------
    change : Change
        A transaction; it holds the lock of the campaign, so nobody sees the tables half made.
    rules : Rules
        How answers count now.
    """
    replay = Replay(change, rules)
    for event in _events(change):
        replay.add(event)
    _write(change, rules, replay)


def _events(change: Change) -> Iterator[Any]:
    """Return the events that matter here, in order, those of this transaction last."""
    table = events.c
    query = sa.select(*(table[name] for name in _COLUMNS)).where(
        table.campaign == change.campaign, table.kind.in_(_KINDS)
    )
    # Row by row from the server: a long log need not fit into memory twice.
    options = {"stream_results": True, "yield_per": _PORTION}
    yield from change.connection.execute(query.order_by(table.sequence), execution_options=options)
    for event in change.added:
        if event["kind"] in _KINDS:
            yield _Added(**{name: event[name] for name in _COLUMNS})


@dataclass
class _Added:
    """An event that is not in the database yet."""

    sequence: int
    kind: str
    time: int
    assessor: str | None
    query: str | None
    document: str | None
    other: str | None
    system: str | None
    gain: float | None
    choice: str | None
    sampled: bool
    expected: str | None
    source: str | None
    key: str | None
    expires: int | None
    text: str | None


def _write(change: Change, rules: Rules, replay: Replay) -> None:
    connection, campaign = change.connection, change.campaign
    for table in (assignments, assessors):
        connection.execute(sa.delete(table).where(table.c.campaign == campaign))
    _insert(change, assignments, (_assignment_row(campaign, one) for one in replay.assignments.values()))
    _insert(change, assessors, replay.people.values())
    _write_questions(change, replay)
    _write_traps(change, rules, replay)


def _assignment_row(campaign: int, one: Assignment) -> dict[str, Any]:
    return {
        "id": one.id,
        "campaign": campaign,
        "question": None if one.question is None else one.question.number,
        "assessor": one.assessor,
        "query": one.query,
        "document": one.document,
        "other": one.other,
        "expected": one.expected,
        "swapped": one.swapped,
        "sampled": one.sampled,
        "state": one.state,
        "taken": one.taken,
        "expires": one.expires,
        "value": one.value,
        "counts": one.counts,
    }


_WRITTEN = ("removed", "answers", "out", "tier", "place", "same_as")


def _write_questions(change: Change, replay: Replay) -> None:
    """Update the questions that differ; what the policy proposed stays proposed, in its order."""
    proposed = [one for one in replay.questions.values() if one.tier == REST and one.before[3] == FRESH]
    for question in sorted(proposed, key=lambda one: one.before[4]):
        replay.place += 1
        question.tier, question.place = FRESH, replay.place
    changed = []
    for one in replay.questions.values():
        now = (one.removed, one.answers, one.out, one.tier, one.place, one.same_as)
        if now != one.before:
            names = (f"new_{name}" for name in _WRITTEN)
            changed.append({"n": one.number, **dict(zip(names, now, strict=True))})
    table = questions.c
    update = sa.update(questions).where(table.campaign == change.campaign, table.number == sa.bindparam("n"))
    update = update.values({name: sa.bindparam(f"new_{name}") for name in _WRITTEN})
    for start in range(0, len(changed), _PORTION):
        change.connection.execute(update, changed[start : start + _PORTION])
    change.update(next_place=replay.place + 1)


def _write_traps(change: Change, rules: Rules, replay: Replay) -> None:
    """Replace the traps whose answers agreed; the others are the organiser's."""
    table = traps.c
    mine = table.campaign == change.campaign
    change.connection.execute(sa.delete(traps).where(mine, table.source == "agreed"))
    kept = change.connection.execute(sa.select(traps).where(mine)).fetchall()
    taken = {(row.query, row.document, row.other) for row in kept}
    number = max((row.number for row in kept), default=0)
    made = []
    for item, one in replay.questions.items():
        if one.removed or item in taken or not rules.agreed(one.answers, one.low, one.high):
            continue
        values = [given.value for given in one.given if given.state == "answered" and given.counts]
        mean = sum(value for value in values if value is not None) / len(values)
        number += 1
        made.append(
            {"campaign": change.campaign, "number": number, "query": one.query, "document": one.document}
            | {"other": one.other, "expected": rules.expected_text(mean), "source": "agreed"}
        )
    _insert(change, traps, made)


def _insert(change: Change, table: sa.Table, rows: Iterable[dict[str, Any]]) -> None:
    portion: list[dict[str, Any]] = []
    for row in rows:
        portion.append(row)
        if len(portion) == _PORTION:
            change.connection.execute(sa.insert(table), portion)
            portion = []
    if portion:
        change.connection.execute(sa.insert(table), portion)
