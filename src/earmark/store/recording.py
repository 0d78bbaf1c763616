"""Taking in answers that were not asked for here: from files, and from programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from earmark.store import questions as queues
from earmark.store.answers import Receipt, answer, check_strength, count_for, log_about, log_same_sound, recorded_id
from earmark.store.assessor_rows import UNCOUNTED, find_assessor
from earmark.store.rules import Rules
from earmark.store.schema import assignments, events, questions
from earmark.store.store import Change

_PORTION = 500
_AS_ASKED = ("id", "swapped", "sampled", "taken", "expires")


@dataclass(frozen=True)
class Recorded:
    """An answer from elsewhere.

    Parameters
    ----------
    assessor : str
        A pseudonym.
    query, document, other : str
    key : str
        The same whenever the same answer comes again.
    gain, choice, strength
        What was answered.
    sampled : bool
        The item belongs to the guaranteed sample, as the file says.
    source : str, optional
        The file.
    """

    assessor: str
    query: str
    document: str
    other: str
    key: str
    gain: float | None = None
    choice: str | None = None
    strength: float | None = None
    sampled: bool = False
    source: str | None = None


def record(change: Change, rules: Rules, rows: Sequence[Recorded]) -> list[Receipt | None]:
    """Take in answers; returns what became of each, None where no system retrieved the item.

    An answer counts as if its assessor had been asked: it ends their lease, or corrects what they answered before. The
    same answer once more is known. Answers from elsewhere count even where a question has all its answers.
    """
    known = change.known_keys(row.key for row in rows)
    number_of = {
        (query, document, other): number
        for number, query, document, other in queues.known_questions(change.connection, change.campaign).rows()
    }
    receipts: list[Receipt | None] = []
    made: list[dict[str, Any]] = []
    new: dict[tuple[int, str], dict[str, Any]] = {}
    people = {name: find_assessor(change, name) for name in dict.fromkeys(row.assessor for row in rows)}
    theirs = _assignments_of(change, list(people))
    doubled = _same_sounds(change)
    strengths = _strengths(change, list(people)) if any(row.strength is not None for row in rows) else {}
    for row in rows:
        number = number_of.get((row.query, row.document, row.other))
        if number is None:
            receipts.append(None)
            continue
        value = rules.value_of(row.gain, row.choice)
        check_strength(row.strength)
        mine: Any = theirs.get((row.query, row.document, row.other, row.assessor))
        again = new.get((number, row.assessor))
        same = (mine is not None and mine.state == "answered" and mine.value == value) or (
            again is not None and again["value"] == value
        )
        if same and row.strength is not None:
            same = strengths.get((row.query, row.document, row.other, row.assessor)) == row.strength
        if row.key in known or same:
            receipts.append(Receipt("known", None))
            continue
        known.add(row.key)
        told: dict[str, Any] = {"gain": row.gain, "choice": row.choice, "strength": row.strength, "text": None}
        told |= {"key": row.key, "source": row.source}
        if (mine is not None and mine.state in ("out", "answered")) or again is not None:
            _insert(change, rules, made)
            made.clear()
            held = again if again is not None else {"id": mine.id}
            receipts.append(answer(change, rules, row.assessor, held["id"], **told))
            new[number, row.assessor] = {"id": held["id"], "value": value}
            continue
        counts = people[row.assessor]["state"] not in UNCOUNTED
        given = _given(change, row, number if mine is None else mine.question, value, counts=counts)
        if mine is not None:
            # They gave it back, skipped it or were late. An assessor has one assignment of a question, and it stays as
            # it was asked: when, with which sound first and whether as part of the sample.
            given |= {name: getattr(mine, name) for name in _AS_ASKED}
            change.connection.execute(sa.delete(assignments).where(assignments.c.id == mine.id))
        new[number, row.assessor] = given
        made.append(given)
        about = SimpleNamespace(**given)
        sequence = log_about(change, "answered", about, sampled=row.sampled, **told)
        if given["question"] in doubled:
            log_same_sound(change, about, told)
        receipts.append(Receipt("saved", sequence))
    _insert(change, rules, made)
    return receipts


def _given(change: Change, row: Recorded, number: int, value: float, *, counts: bool) -> dict[str, Any]:
    return {
        "id": recorded_id(change, int(change.row["next_sequence"])),
        "campaign": change.campaign,
        "question": number,
        "assessor": row.assessor,
        "query": row.query,
        "document": row.document,
        "other": row.other,
        "expected": None,
        "swapped": False,
        "sampled": row.sampled,
        "state": "answered",
        "taken": change.now,
        "expires": change.now,
        "value": value,
        "counts": counts,
    }


def _insert(change: Change, rules: Rules, made: list[dict[str, Any]]) -> None:
    """Write new assignments, count the answers of their assessors, and settle the questions."""
    for start in range(0, len(made), _PORTION):
        change.connection.execute(sa.insert(assignments), made[start : start + _PORTION])
    for name, more in Counter(one["assessor"] for one in made).items():
        count_for(change, name, answers=more)
    queues.settle(change, rules, [one["question"] for one in made])


def _assignments_of(change: Change, people: Sequence[str]) -> dict[tuple[str, str, str, str], Any]:
    """Return what some assessors hold, or have done, by item and assessor; what counts comes first."""
    table = assignments.c
    mine = sa.select(assignments).where(
        table.campaign == change.campaign,
        table.assessor.in_(people),
        table.expected.is_(None),
        table.question.is_not(None),
    )
    found: dict[tuple[str, str, str, str], Any] = {}
    for row in change.connection.execute(mine):
        key = (row.query, row.document, row.other, row.assessor)
        if key not in found or row.state in ("answered", "out"):
            found[key] = row
    return found


def _same_sounds(change: Change) -> set[int]:
    """Return the questions whose sound other questions are about too."""
    table = questions.c
    others = sa.select(table.same_as).where(table.campaign == change.campaign, table.same_as.is_not(None)).distinct()
    return set(change.connection.execute(others).scalars())


def _strengths(change: Change, people: Sequence[str]) -> dict[tuple[str, str, str, str], float | None]:
    """Return how strongly some assessors preferred, by query, the two documents and the assessor."""
    table = events.c
    said = sa.select(table.query, table.document, table.other, table.assessor, table.strength).where(
        table.campaign == change.campaign, table.kind == "answered", table.assessor.in_(people)
    )
    found = change.connection.execute(said.order_by(table.sequence))
    return {(row.query, row.document, row.other or "", row.assessor): row.strength for row in found}
