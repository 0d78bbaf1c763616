"""Giving questions out: one at a time and one ahead, each on a lease that ends.

An assessor holds at most as many questions as were asked for. A question that is not answered in time goes back and is
asked first; an answer that comes later still counts if the question has room (:mod:`earmark.store.answers`). Asking
again returns what is out already, so a page that is loaded twice, or on a second device, shows the same question.

A lease from the future can only mean that the clock was set back; it is over too, so that no question stays out for
longer than a lease.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store import questions as queues
from earmark.store.rules import MINUTE, Rules
from earmark.store.schema import assessors, assignments, questions, traps
from earmark.store.store import Change, check_text, from_moment

Reason = Literal["", "paused", "stopped", "closed", "rejected", "enough", "wait", "done"]
"""Why there is no question: the campaign is paused, stopped or closed; the assessor is rejected, or has given as many
answers as one person may; all that is left is out with others; nothing is left for this assessor."""

_ALL_AT_ONCE = 500
# Somebody who has seen nearly all traps gets one less often, and taking a question stays fast.
_LOOK_AT = 200
_SLACK = MINUTE

_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("of_campaign")
_ASSESSOR: sa.BindParameter[str] = sa.bindparam("of_assessor")


@dataclass(frozen=True)
class Question:
    """What an assessor is asked; nothing in it tells a trap from another question.

    Attributes
    ----------
    id : str
        Names the question in the answer; random.
    query, document, other : str
        What is compared: a document with the query, or two documents. ``other`` is empty for one document.
    swapped : bool
        The other document is shown first.
    expires : datetime
        When the question goes back, UTC.
    """

    id: str
    query: str
    document: str
    other: str
    swapped: bool
    expires: datetime


@dataclass(frozen=True)
class Taken:
    """What an assessor holds now.

    Attributes
    ----------
    questions : tuple of Question
        The one to answer, and those ahead.
    reason : str
        Why there is none, empty where there is one.
    """

    questions: tuple[Question, ...]
    reason: Reason = ""


def take(change: Change, rules: Rules, assessor: str, *, ahead: int = 1, package: bool = False) -> Taken:
    """Give an assessor a question and some ahead of it, or return those that are out.

    Parameters
    ----------
    change : Change
    rules : Rules
    assessor : str
        A pseudonym.
    ahead : int
        How many questions to give beyond the first.
    package : bool
        The questions go into a file, so that leases are long and nothing is known to be a trap.
    """
    if ahead < 0:
        raise ParameterError(f"the number of questions ahead is 0 or more, got {ahead}")
    person = find_assessor(change, assessor)
    held = _expire_and_hold(change, rules, assessor)
    state: Reason = change.row["state"] if change.row["state"] != "open" else ""
    if person["state"] != "active":
        state = "rejected" if person["state"] == "rejected" else "paused"
    if state:
        # What is out may still be answered; a rejected assessor is asked nothing more.
        return (
            Taken((), state)
            if state in ("rejected", "closed")
            else Taken(tuple(held[: 1 + ahead]), "" if held else state)
        )
    before = dict(person)
    while len(held) < 1 + ahead:
        if rules.answers_per_assessor is not None and person["answers"] + len(held) >= rules.answers_per_assessor:
            state = "enough"
            break
        given = _give(change, rules, person, package=package)
        if given is None:
            state = "wait" if _any_out(change, assessor) else "done"
            break
        held.append(given)
    if person != before:
        _save(change, person)
    return Taken(tuple(held[: 1 + ahead]), "" if held else state)


def _give(change: Change, rules: Rules, person: dict[str, Any], *, package: bool) -> Question | None:
    """Lease the next question or trap to an assessor."""
    row = None if package else _due_trap(change, rules, person)
    is_trap = row is not None
    if row is None:
        query = person["last_query"] if rules.group_by_query else None
        row = queues.next_waiting(change, person, query=query)
        if row is None:
            return None
    expires = change.now + (rules.package_lease if package else rules.lease)
    # What waits in the other queues was never given out, and a trap that is not returned is new to its assessor.
    may_be_known = row.returned if is_trap else row.tier in (queues.AGAIN, queues.BEGUN)
    before = own_assignment(change, person["assessor"], row, trap=is_trap) if may_be_known else None
    swapped = bool(row.other) and _swapped(change, person)
    person["given"] += 1
    person["last_query"] = row.query
    if not is_trap:
        queues.count_lease(change, rules, row)
    if before is not None:
        return lease_again(change, before, expires)
    given = {
        "id": secrets.token_hex(16),
        "campaign": change.campaign,
        "question": row.question if is_trap else row.number,
        "assessor": person["assessor"],
        "query": row.query,
        "document": row.document,
        "other": row.other,
        "expected": row.expected if is_trap else None,
        "swapped": swapped,
        "sampled": False if is_trap else bool(row.sampled),
        "state": "out",
        "taken": _moment_of_next(change),
        "expires": expires,
        "value": None,
        "counts": True,
    }
    change.connection.execute(_LEASE, given)
    _log_asked(change, given)
    return _question(given)


# Statements of every call are built once, as building them takes longer than running them.
_LEASE = sa.insert(assignments)


def _log_asked(change: Change, given: dict[str, Any]) -> None:
    change.append(
        "asked",
        assessor=given["assessor"],
        query=given["query"],
        document=given["document"],
        other=given["other"] or None,
        sampled=given["sampled"],
        expected=given["expected"],
        expires=given["expires"],
        key=given["id"],
        time=given["taken"],
        text="swapped" if given["swapped"] else None,
    )


def _moment_of_next(change: Change) -> int:
    """Return the time, a microsecond later for every event of this transaction, as it is the order of questions."""
    return change.now + len(change.added)


def own_assignment(change: Change, assessor: str, item: Any, *, trap: bool = False) -> Any:
    """Return an assessor's assignment of an item; there is one at most, however often they got the question."""
    mine = {"of_campaign": change.campaign, "of_assessor": assessor}
    mine |= {"of_query": item.query, "of_document": item.document, "of_other": item.other}
    return change.connection.execute(_OWN_TRAP if trap else _OWN_QUESTION, mine).first()


_OWN = sa.select(assignments).where(
    assignments.c.campaign == _CAMPAIGN,
    assignments.c.assessor == _ASSESSOR,
    *(assignments.c[name] == sa.bindparam(f"of_{name}") for name in ("query", "document", "other")),
)
_OWN_TRAP = _OWN.where(assignments.c.expected.is_not(None))
_OWN_QUESTION = _OWN.where(assignments.c.expected.is_(None))


def lease_again(change: Change, row: Any, expires: int) -> Question:
    """Give the assessor of an assignment the same question once more."""
    again = {"state": "out", "taken": _moment_of_next(change), "expires": expires}
    change.connection.execute(_LEASE_AGAIN, {"of_id": row.id, **again})
    given = {**row._mapping, **again}
    _log_asked(change, given | {"id": f"{row.id}/{change.row['next_sequence']}"})
    return _question(given)


_LEASE_AGAIN = (
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("of_id"))
    .values({name: sa.bindparam(name) for name in ("state", "taken", "expires")})
)


def expire(change: Change, rules: Rules) -> int:
    """Take back what was not answered in time; returns how many questions."""
    now = {"of_campaign": change.campaign, "now": change.now, "soon": change.now + _SLACK}
    rows = change.connection.execute(_OVER, now).fetchall()
    _take_back(change, rules, rows, "expired")
    return len(rows)


def _expire_and_hold(change: Change, rules: Rules, assessor: str) -> list[Question]:
    """Take back what nobody answered in time; returns what an assessor holds, in the order in which they got it."""
    sought = {"of_campaign": change.campaign, "now": change.now, "soon": change.now + _SLACK, "of_assessor": assessor}
    rows = change.connection.execute(_OVER_AND_HELD, sought).fetchall()
    over = {row.id: row for row in rows if row.over}
    _take_back(change, rules, list(over.values()), "expired")
    held = sorted((row for row in rows if row.id not in over), key=lambda row: (row.taken, row.id))
    return [_question(row._mapping) for row in held]


_OVER = (
    sa.select(assignments, sa.literal_column("1").label("over"))
    .where(
        assignments.c.campaign == _CAMPAIGN,
        assignments.c.state == "out",
        sa.or_(assignments.c.expires <= sa.bindparam("now"), assignments.c.taken > sa.bindparam("soon")),
    )
    # By the index of states and times, which SQLite would not use if statistics told it that most states are alike.
    .order_by(assignments.c.expires)
    .limit(_ALL_AT_ONCE)
)
_HELD = sa.select(assignments, sa.literal_column("0").label("over")).where(
    assignments.c.campaign == _CAMPAIGN, assignments.c.assessor == _ASSESSOR, assignments.c.state == "out"
)
_OVER_AND_HELD = sa.union_all(sa.select(_OVER.subquery()), _HELD)


def give_back(change: Change, rules: Rules, assessor: str, ids: Iterable[str] | None = None) -> int:
    """Take questions back that an assessor does not want to answer now, all of them by default."""
    table = assignments.c
    mine = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.state == "out")
    if ids is not None:
        mine = sa.and_(mine, table.id.in_(list(ids)))
    rows = change.connection.execute(sa.select(assignments).where(mine)).fetchall()
    _take_back(change, rules, rows, "returned")
    return len(rows)


def _take_back(change: Change, rules: Rules, rows: Sequence[Any], state: Literal["returned", "expired"]) -> None:
    """End leases without an answer, in the order of the questions, which is that of their places in the queue."""
    for row in sorted(rows, key=lambda row: (row.question or 0, row.id)):
        # The log tells that a lease ended, as a clock that was set back would tell otherwise.
        change.append(
            "returned",
            assessor=row.assessor,
            query=row.query,
            document=row.document,
            other=row.other or None,
            expected=row.expected,
            text="expired" if state == "expired" else None,
        )
    if rows:
        done = assignments.c.id.in_([row.id for row in rows])
        change.connection.execute(sa.update(assignments).where(done).values(state=state))
        queues.settle(change, rules, _real(rows), came_back=True)


def _real(rows: Iterable[Any]) -> list[int]:
    """Return the numbers of the questions among assignments, without those that served as traps."""
    return [row.question for row in rows if row.question is not None and row.expected is None]


# ---- assessors -------------------------------------------------------------------------------------------------------


def find_assessor(change: Change, assessor: str) -> dict[str, Any]:
    """Return the row of an assessor, who joins where they are new."""
    check_text(assessor)
    mine = {"of_campaign": change.campaign, "of_assessor": assessor}
    found = change.connection.execute(_FIND_ASSESSOR, mine).mappings().first()
    if found is not None:
        return dict(found)
    person = new_assessor(change.campaign, assessor)
    change.connection.execute(sa.insert(assessors).values(person))
    change.append("invited", assessor=assessor)
    return person


_FIND_ASSESSOR = sa.select(assessors).where(assessors.c.campaign == _CAMPAIGN, assessors.c.assessor == _ASSESSOR)


def new_assessor(campaign: int, assessor: str) -> dict[str, Any]:
    """Return the row of an assessor who was asked nothing yet."""
    counts = dict.fromkeys(("given", "answers", "traps", "traps_right", "seen_again", "seen_begun"), 0)
    person = {"campaign": campaign, "assessor": assessor, "state": "active", "reinstated": False, "last_query": None}
    return person | counts


def _save(change: Change, person: dict[str, Any]) -> None:
    """Write what taking questions changes in the row of an assessor."""
    mine = {"of_campaign": change.campaign, "of_assessor": person["assessor"]}
    change.connection.execute(_SAVE_ASSESSOR, mine | {name: person[name] for name in _SAVED})


_SAVED = ("given", "last_query", "seen_again", "seen_begun")
_SAVE_ASSESSOR = (
    sa.update(assessors)
    .where(assessors.c.campaign == _CAMPAIGN, assessors.c.assessor == _ASSESSOR)
    .values({name: sa.bindparam(name) for name in _SAVED})
)


def _any_out(change: Change, assessor: str) -> bool:
    """Tell whether others hold questions that may come back."""
    sought = {"of_campaign": change.campaign, "of_assessor": assessor}
    return change.connection.execute(_OUT_WITH_OTHERS, sought).first() is not None


_OUT_WITH_OTHERS = (
    sa.select(assignments.c.id)
    .where(assignments.c.campaign == _CAMPAIGN, assignments.c.state == "out", assignments.c.assessor != _ASSESSOR)
    .limit(1)
)


def _question(given: Any) -> Question:
    return Question(
        given["id"],
        given["query"],
        given["document"],
        given["other"],
        bool(given["swapped"]),
        from_moment(given["expires"]),
    )


# ---- draws that nobody can predict -----------------------------------------------------------------------------------


def _draw(change: Change, *what: object) -> int:
    """Return a large number that depends on the campaign's secret."""
    told = "\0".join(str(one) for one in what).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(change.row["secret"].encode(), told, hashlib.sha256)[:8], "big")


def _swapped(change: Change, person: dict[str, Any]) -> bool:
    """Draw which document is shown first, so that of two questions in a row each side comes first once."""
    turn, second = divmod(person["given"], 2)
    return bool((_draw(change, "side", person["assessor"], turn) + second) % 2)


def _due_trap(change: Change, rules: Rules, person: dict[str, Any]) -> Any:
    """Return a trap where one is due and there is one that the assessor has not seen.

    One question of every ``trap_every`` in a row is a trap, at a place that is drawn. A trap that came back without an
    answer goes first: if only questions came again, those that do were known to be none.
    """
    if not rules.trap_every:
        return None
    block, place = divmod(person["given"], rules.trap_every)
    if place != _draw(change, "trap", person["assessor"], block) % rules.trap_every:
        return None
    sought = {"of_campaign": change.campaign, "of_assessor": person["assessor"], "sources": rules.trap_sources}
    # Half of the number, as integers of databases have a sign.
    draw = _draw(change, "which trap", person["assessor"], block) >> 1
    return change.connection.execute(_DUE_TRAP, sought | {"draw": draw}).first()


# A question of the campaign serves as a trap once it has an answer: who saw it as a trap never gets it as a question.
_usable = sa.or_(questions.c.number.is_(None), sa.and_(~questions.c.removed, questions.c.answers > 0))


def _due_traps() -> sa.Select[Any]:
    """Return the statement that finds a trap for an assessor, and the number of its question where it has one.

    It looks at returned traps first, then at those that follow a number that is drawn, then at those before it.
    """
    table, given = traps.c, assignments.c
    names = ("query", "document", "other")
    last = sa.select(sa.func.max(table.number)).where(table.campaign == _CAMPAIGN).scalar_subquery()
    start = sa.bindparam("draw", type_=sa.BigInteger) % last
    usable = sa.and_(table.campaign == _CAMPAIGN, table.source.in_(sa.bindparam("sources", expanding=True)))
    given_back = (
        sa.select(*(given[name] for name in names), given.taken)
        .where(
            *(given.campaign == _CAMPAIGN, given.assessor == _ASSESSOR, given.state.in_(("returned", "expired"))),
            *(given.expected.is_not(None), given.value.is_(None)),
        )
        .order_by(given.taken)
        .limit(_LOOK_AT)
        .subquery()
    )
    same = sa.and_(*(given_back.c[name] == table[name] for name in names))
    returned = sa.select(traps, given_back.c.taken.label("rank")).join(given_back, same).where(usable).subquery()

    def fresh(here: sa.ColumnElement[bool]) -> sa.Subquery:
        some = sa.select(traps, table.number.label("rank")).where(usable, here).order_by(table.number).limit(_LOOK_AT)
        return some.subquery()

    steps = [
        _first_trap(returned, 0),
        _first_trap(fresh(table.number > start), 1),
        _first_trap(fresh(table.number <= start), 2),
    ]
    found = sa.union_all(*(sa.select(one.subquery()) for one in steps)).subquery()
    return sa.select(found, (found.c.step == 0).label("returned")).order_by(found.c.step).limit(1)


def _first_trap(some: sa.Subquery, step: int) -> sa.Select[Any]:
    """Return the statement that finds the first of some traps that was not removed; all but step 0 are new as well."""
    same = sa.and_(*(questions.c[name] == some.c[name] for name in ("campaign", "query", "document", "other")))
    found = sa.select(some, questions.c.number.label("question"), sa.literal_column(str(step)).label("step"))
    found = found.select_from(some.outerjoin(questions, same)).where(_usable)
    if step:
        names = ("campaign", "query", "document", "other")
        mine = sa.and_(assignments.c.assessor == _ASSESSOR, *(assignments.c[name] == some.c[name] for name in names))
        found = found.where(sa.select(sa.func.count()).where(mine).scalar_subquery() == 0)
    return found.order_by(some.c.rank).limit(1)


_DUE_TRAP = _due_traps()


def pending_items(connection: sa.Connection, campaign: int, now: int) -> list[tuple[str, str, str]]:
    """Return what is being judged at this moment: query, document and other of every question with a live lease."""
    table = assignments.c
    live = sa.and_(table.campaign == campaign, table.state == "out", table.expires > now, table.expected.is_(None))
    found = sa.select(questions.c.query, questions.c.document, questions.c.other).where(
        questions.c.campaign == campaign,
        questions.c.number.in_(sa.select(table.question).where(live)),
    )
    return [(row.query, row.document, row.other) for row in connection.execute(found)]
