"""Traps among the questions: which one an assessor gets, and when, so that nothing tells it from a question.

A trap comes at a place that is drawn with the campaign's secret. One that came back comes again when, and only when, a
question would.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import sqlalchemy as sa

from earmark.store.rules import Rules
from earmark.store.schema import assignments, events, questions, traps
from earmark.store.store import Change

RENEWED = "renewed"
"""The text of an event ``asked`` that only prolongs a lease."""

# Somebody who has seen nearly all traps gets one less often, and taking a question stays fast.
_LOOK_AT = 200

_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("of_campaign")
_ASSESSOR: sa.BindParameter[str] = sa.bindparam("of_assessor")


def draw(change: Change, *what: object) -> int:
    """Return a large number that depends on the campaign's secret."""
    told = "\0".join(str(one) for one in what).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(change.row["secret"].encode(), told, hashlib.sha256)[:8], "big")


def due_trap(change: Change, rules: Rules, person: dict[str, Any]) -> Any:
    """Return a trap where one is due and there is one that the assessor has not seen.

    One question of every ``trap_every`` in a row is a trap, at a place that is drawn. Where questions come in runs of
    the same query, so does the trap, if there is one about that query.
    """
    if not rules.trap_every:
        return None
    block, place = divmod(person["given"], rules.trap_every)
    if place != draw(change, "trap", person["assessor"], block) % rules.trap_every:
        return None
    sought = {"of_campaign": change.campaign, "of_assessor": person["assessor"], "sources": rules.trap_sources}
    # Half of the number, as integers of databases have a sign.
    sought["draw"] = draw(change, "which trap", person["assessor"], block) >> 1
    if rules.group_by_query and person["last_query"] is not None:
        row = change.connection.execute(_DUE_TRAP_OF_QUERY, sought | {"of_query": person["last_query"]}).first()
        if row is not None:
            return row
    return change.connection.execute(_DUE_TRAP, sought).first()


def returned_trap(change: Change, rules: Rules, person: dict[str, Any]) -> Any:
    """Return a trap that came back from an assessor, unless a question that came back with it would be gone."""
    if not rules.trap_every:
        return None
    sought = {"of_campaign": change.campaign, "of_assessor": person["assessor"], "sources": rules.trap_sources}
    found = change.connection.execute(_RETURNED_TRAPS, sought).fetchall()
    return next((row for row in found if not others_took(change, person["assessor"], row.since)), None)


def others_took(change: Change, assessor: str, since: int) -> bool:
    """Tell whether somebody else took a question since a time, which was that which came back then."""
    sought = {"of_campaign": change.campaign, "of_assessor": assessor, "since": since}
    row = change.connection.execute(_TAKEN_SINCE, sought).one()
    # Where so much happened since, somebody did.
    return bool(row.taken) or (row.all == _LOOK_AT and row.oldest > since)


# A question of the campaign serves as a trap once it has an answer: who saw it as a trap never gets it as a question.
_usable = sa.or_(questions.c.number.is_(None), sa.and_(~questions.c.removed, questions.c.answers > 0))


_served = sa.and_(
    traps.c.campaign == _CAMPAIGN,
    traps.c.source.in_(sa.bindparam("sources", expanding=True)),
)


def _due_traps(*where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Return the statement that finds a new trap for an assessor, and the number of its question where it has one.

    It looks at traps that follow a number that is drawn, then at those before it.
    """
    table = traps.c
    last = sa.select(sa.func.max(table.number)).where(table.campaign == _CAMPAIGN).scalar_subquery()
    start = sa.bindparam("draw", type_=sa.BigInteger) % last

    def first(step: int, here: sa.ColumnElement[bool]) -> sa.Select[Any]:
        some = sa.select(traps).where(_served, here, *where).order_by(table.number).limit(_LOOK_AT).subquery()
        names = ("campaign", "query", "document", "other")
        mine = sa.and_(assignments.c.assessor == _ASSESSOR, *(assignments.c[name] == some.c[name] for name in names))
        new = sa.select(sa.func.count()).where(mine).scalar_subquery() == 0
        found = _of_questions(some, sa.literal_column(str(step)).label("step"))
        return found.where(new).order_by(some.c.number).limit(1)

    steps = [first(0, table.number > start), first(1, table.number <= start)]
    found = sa.union_all(*(sa.select(one.subquery()) for one in steps)).subquery()
    return sa.select(found, sa.literal_column("0").label("returned")).order_by(found.c.step).limit(1)


def _of_questions(some: sa.Subquery, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Return the statement that finds those of some traps that were not removed, and their questions' numbers."""
    same = sa.and_(*(questions.c[name] == some.c[name] for name in ("campaign", "query", "document", "other")))
    found = sa.select(some, questions.c.number.label("question"), *more)
    return found.select_from(some.outerjoin(questions, same)).where(_usable)


def _returned_traps() -> sa.Select[Any]:
    """Return the statement that finds traps that came back from an assessor, and when, the first ones first."""
    given = assignments.c
    names = ("query", "document", "other")
    back = (
        sa.select(*(given[name] for name in names), given.taken, given.expires.label("since"))
        .where(
            *(given.campaign == _CAMPAIGN, given.assessor == _ASSESSOR, given.state.in_(("returned", "expired"))),
            given.expected.is_not(None),
        )
        .order_by(given.expires.desc())
        .limit(_LOOK_AT)
        .subquery()
    )
    same = sa.and_(*(back.c[name] == traps.c[name] for name in names))
    some = sa.select(traps, back.c.since, back.c.taken).join(back, same).where(_served).subquery()
    return _of_questions(some, sa.literal_column("1").label("returned")).order_by(some.c.taken)


def _taken_since() -> sa.Select[Any, Any, Any]:
    """Return the statement that tells whether somebody else took a question since a time, by the end of the log."""
    table = events.c
    newest = (
        sa.select(table.kind, table.assessor, table.time, table.text)
        .where(table.campaign == _CAMPAIGN)
        .order_by(table.sequence.desc())
        .limit(_LOOK_AT)
        .subquery()
    )
    new = newest.c
    given_out = sa.and_(new.kind == "asked", sa.or_(new.text.is_(None), new.text != RENEWED))
    others = sa.and_(given_out, new.assessor != _ASSESSOR, new.time > sa.bindparam("since"))
    return sa.select(
        sa.func.sum(sa.case((others, 1), else_=0)).label("taken"),
        sa.func.min(new.time).label("oldest"),
        sa.func.count().label("all"),
    )


_DUE_TRAP = _due_traps()
_DUE_TRAP_OF_QUERY = _due_traps(traps.c.query == sa.bindparam("of_query"))
_RETURNED_TRAPS = _returned_traps()
_TAKEN_SINCE = _taken_since()
