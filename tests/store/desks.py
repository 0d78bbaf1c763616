"""Small campaigns for the tests of the desk, and the tables that follow from their logs."""

from __future__ import annotations

from itertools import count
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark.store import schema
from earmark.store.answers import Receipt
from earmark.store.desk import Desk
from earmark.store.questions import AGAIN, BEGUN, FRESH, REST
from earmark.store.recording import Recorded, record
from earmark.store.rules import Rules
from earmark.store.store import Change, Store

_keys = count()


def new_key() -> str:
    """Return what a client makes for every answer."""
    return f"key {next(_keys)}"


def make_desk(store: Store, items: int = 6, *, same_as: dict[str, str] | None = None, **rules: Any) -> Desk:
    """Return a desk with questions ``q/d0``, ``q/d1``, ... and without traps, unless rules say otherwise."""
    desk = Desk(store, Rules(**{"trap_every": 0} | rules))
    documents = [f"d{number}" for number in range(items)]
    twins = [(same_as or {}).get(document) for document in documents]
    types = dict.fromkeys(("query", "document", "same_as"), pl.String)
    desk.add_questions(pl.DataFrame({"query": ["q"] * items, "document": documents, "same_as": twins}, schema=types))
    return desk


def make_pairs_desk(store: Store, items: int = 6, **rules: Any) -> Desk:
    """Return a desk that asks for preferences: ``a0`` or ``b0``, and so on."""
    desk = Desk(store, Rules(**{"trap_every": 0, "kind": "prefer"} | rules))
    numbers = range(items)
    frame = {"query": ["q"] * items, "document": [f"a{n}" for n in numbers], "other": [f"b{n}" for n in numbers]}
    desk.add_questions(pl.DataFrame(frame))
    return desk


def table_rows(store: Store, table: sa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table that belong to a campaign."""
    mine = sa.select(table).where(table.c.campaign == store.campaign)
    return [dict(row) for row in store.read(lambda connection: connection.execute(mine).mappings().fetchall())]


def documents_of(desk: Desk, assessor: str, ahead: int = 0) -> list[str]:
    """Return the documents that an assessor is asked about."""
    return [question.document for question in desk.take(assessor, ahead=ahead).questions]


def judge(desk: Desk, assessor: str, gain: float = 1.0, times: int = 1) -> list[str]:
    """Let an assessor answer questions as they come; returns the documents."""
    done = []
    for _ in range(times):
        question = desk.take(assessor, ahead=0).questions[0]
        desk.answer(assessor, question.id, key=new_key(), gain=gain)
        done.append(question.document)
    return done


def question_row(store: Store, document: str) -> dict[str, Any]:
    """Return the row of the question about a document."""
    return next(row for row in table_rows(store, schema.questions) if row["document"] == document)


def add_trap(desk: Desk, query: str, document: str, expected: str, source: str = "list", other: str = "") -> None:
    """Add a trap as the organiser does."""
    from earmark.store.questions import add_trap as add

    desk.store.write(lambda change: add(change, query, document, other, expected, source))


def derived(store: Store) -> dict[str, Any]:
    """Return all that can be made anew from the log, without the numbers that may differ.

    Places may differ, as long as the order in queues is the same; marks of what was seen start anew; and whether an
    answer counts means nothing where there is no answer.
    """
    questions = table_rows(store, schema.questions)
    queues = {
        tier: [row["number"] for row in sorted(questions, key=lambda row: row["place"] or 0) if row["tier"] == tier]
        for tier in (AGAIN, BEGUN, FRESH, REST)
    }
    given = [
        row if row["state"] == "answered" else row | {"counts": None} for row in table_rows(store, schema.assignments)
    ]
    people = table_rows(store, schema.assessors)
    traps = table_rows(store, schema.traps)
    return {
        "queues": queues,
        "questions": {row["number"]: {k: v for k, v in row.items() if k != "place"} for row in questions},
        "assignments": {row["id"]: row for row in given},
        "assessors": {
            row["assessor"]: {k: v for k, v in row.items() if k not in ("seen_again", "seen_begun")} for row in people
        },
        "traps": {(row["query"], row["document"], row["other"]): (row["expected"], row["source"]) for row in traps},
    }


def rebuild(desk: Desk) -> None:
    """Make the derived tables of a desk anew."""
    from earmark.store.rebuild import rebuild as again

    def run(change: Change) -> None:
        again(change, desk.rules)

    desk.store.write(run)


def check_rebuild(desk: Desk) -> None:
    """Check that the tables are what the log says."""
    before = derived(desk.store)
    rebuild(desk)
    after = derived(desk.store)
    for name in before:
        assert after[name] == before[name], name


def answer_from_file(desk: Desk, assessor: str, document: str, **given: Any) -> Receipt | None:
    """Bring in an answer about a document for the query q that was not asked for."""
    row = Recorded(assessor, "q", document, "", **{"key": new_key(), **given})
    return desk.store.write(lambda change: record(change, desk.rules, [row]))[0]
