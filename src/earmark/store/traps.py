"""Traps: questions whose answers are known, from the organiser's list or a clip beside itself.

A third source, questions whose answers agree, fills itself while people answer (:mod:`earmark.store.questions`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import sqlalchemy as sa

from earmark.crowd.question_files import read_questions
from earmark.data.readers import read_judgments
from earmark.errors import InputError
from earmark.store.questions import add_trap
from earmark.store.rules import Rules
from earmark.store.schema import questions, traps
from earmark.store.store import Change

_FLIPPED = {"a": "b", "b": "a"}

Trap = tuple[str, str, str, str, str]
"""Query, document, other, the expected answer, and the source."""


def known_traps(path: Path, rules: Rules, *, encoding: str = "utf-8") -> list[Trap]:
    """Read the organiser's traps: a file of judgments, or of pair questions with a column ``trap``.

    Raises
    ------
    InputError
        If the file holds no expected answers.
    """
    if rules.kind == "grade":
        frame = read_judgments(path, scale=rules.scale, encoding=encoding).frame
        return [
            (query, document, "", f"{gain:g}", "list")
            for query, document, gain in frame.select("query", "document", "gain").rows()
            if gain >= 0
        ]
    frame = read_questions(path, encoding=encoding)
    if "trap" not in frame.columns:
        raise InputError(expected="a column trap with the expected choice", got=", ".join(frame.columns), path=path)
    told = frame.select("query", "a", "b", "trap").drop_nulls()
    # The documents of a pair stand in the order of their ids, whichever way round they are shown.
    return [
        (query, a, b, expected, "list") if a <= b else (query, b, a, _FLIPPED.get(expected, expected), "list")
        for query, a, b, expected in told.rows()
    ]


def self_traps(change: Change, rules: Rules, queries: Sequence[str]) -> list[Trap]:
    """Return a clip beside itself for every query: the top gain, or preferred to one of the documents."""
    if rules.kind == "grade":
        return [(query, query, "", f"{rules.scale.top:g}", "self") for query in queries]
    if rules.kind != "prefer":
        return []
    found: list[Trap] = []
    for query in queries:
        # Any document will do; which one depends on the query alone.
        row = change.connection.execute(
            sa.select(questions.c.document)
            .where(questions.c.campaign == change.campaign, questions.c.query == query)
            .order_by(questions.c.number)
            .limit(1)
        ).scalar()
        if row is None or row == query:
            continue
        first = hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0
        found.append((query, query, row, "a", "self") if first else (query, row, query, "b", "self"))
    return found


def add_traps(change: Change, found: Iterable[Trap]) -> int:
    """Add traps that are not there yet; returns how many."""
    table = traps.c
    known = {
        tuple(row)
        for row in change.connection.execute(
            sa.select(table.query, table.document, table.other).where(table.campaign == change.campaign)
        )
    }
    added = 0
    for query, document, other, expected, source in found:
        if (query, document, other) not in known:
            known.add((query, document, other))
            add_trap(change, query, document, other, expected, source)
            added += 1
    return added
