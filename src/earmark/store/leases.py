"""Giving questions out: one at a time and one ahead, each on a lease that ends.

An assessor holds at most as many questions as were asked for. A question that is not answered in time goes back and is
asked first; an answer that comes later still counts if the question has room (:mod:`earmark.store.answers`). Asking
again returns what is out already, so a page that is loaded twice, or on a second device, shows the same question.

A lease from the future can only mean that the clock was set back; it is over too, so that no question stays out for
longer than a lease.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store import questions as queues
from earmark.store.assessor_rows import find_assessor, save_assessor
from earmark.store.hidden_traps import RENEWED, draw, due_trap, returned_trap
from earmark.store.rules import MINUTE, Rules
from earmark.store.schema import assignments, questions
from earmark.store.store import Change, check_text, from_moment

Reason = Literal["", "paused", "stopped", "closed", "rejected", "enough", "wait", "done"]
"""Why there is no question: the campaign is paused, stopped or closed; the assessor is rejected, or has given as many
answers as one person may; all that is left is out with others; nothing is left for this assessor."""

_ALL_AT_ONCE = 500
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
    taken, expires : datetime
        When the assessor got it, and when it goes back, UTC.
    """

    id: str
    query: str
    document: str
    other: str
    swapped: bool
    taken: datetime
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
    if person["state"] in ("rejected", "paused"):
        state = person["state"]
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
        save_assessor(change, person)
    return Taken(tuple(held[: 1 + ahead]), "" if held else state)


def _give(change: Change, rules: Rules, person: dict[str, Any], *, package: bool) -> Question | None:
    """Lease the next question or trap to an assessor."""
    row, is_trap = _next(change, rules, person, package=package)
    if row is None:
        return None
    expires = change.now + (rules.package_lease if package else rules.lease)
    # Whoever tries the campaign out takes no question away from others.
    pilot = person["state"] == "pilot"
    # What waits in the other queues was given out to nobody but pilots; a trap that is not returned is new.
    may_be_known = row.returned if is_trap else pilot or row.tier in (queues.AGAIN, queues.BEGUN)
    before = own_assignment(change, person["assessor"], row, trap=is_trap) if may_be_known else None
    swapped = bool(row.other) and _swapped(change, person)
    person["given"] += 1
    person["last_query"] = row.query
    if not is_trap and not pilot:
        queues.count_lease(change, rules, row)
    if before is not None:
        return lease_again(change, before, expires, pilot=pilot)
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
        "counts": not pilot,
    }
    change.connection.execute(_LEASE, given)
    _log_asked(change, given)
    return _question(given)


# Statements of every call are built once, as building them takes longer than running them.
_LEASE = sa.insert(assignments)


def _next(change: Change, rules: Rules, person: dict[str, Any], *, package: bool) -> tuple[Any, bool]:
    """Return the question or trap that comes next, and whether it is a trap.

    What an assessor gave back or did not answer in time comes before anything new, in an order that is drawn. A trap
    comes again as a question would: at once, and not at all where somebody else would have got the question meanwhile.
    Otherwise, what comes again, or when, would tell traps from questions.
    """
    query = person["last_query"] if rules.group_by_query else None
    if package:
        return queues.next_waiting(change, person, query=query), False
    back = change.connection.execute(_CAME_BACK, {"of_campaign": change.campaign, "of_assessor": person["assessor"]})
    if back.first() is not None:
        row = queues.next_waiting(change, person, query=query)
        own = row is not None and row.tier == queues.AGAIN and own_assignment(change, person["assessor"], row)
        trap = returned_trap(change, rules, person)
        if trap is not None and not (own and draw(change, "again", person["assessor"], person["given"]) % 2):
            return trap, True
        if own:
            return row, False
    trap = due_trap(change, rules, person)
    return (trap, True) if trap is not None else (queues.next_waiting(change, person, query=query), False)


_CAME_BACK = (
    sa.select(assignments.c.id)
    .where(
        assignments.c.campaign == _CAMPAIGN,
        assignments.c.assessor == _ASSESSOR,
        assignments.c.state.in_(("returned", "expired")),
    )
    .limit(1)
)


def _log_asked(change: Change, given: dict[str, Any], text: str | None = None) -> None:
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
        time=_moment_of_next(change),
        text=text or ("swapped" if given["swapped"] else None),
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


def lease_again(change: Change, row: Any, expires: int, *, undo: bool = False, pilot: bool = False) -> Question:
    """Give the assessor of an assignment the same question once more.

    With `undo` it keeps its place before the questions that the assessor got after it: the page shows the first one.
    """
    taken = row.taken if undo else _moment_of_next(change)
    again = {"state": "out", "taken": taken, "expires": expires, "counts": not pilot}
    change.connection.execute(_LEASE_AGAIN, {"of_id": row.id, **again})
    given = {**row._mapping, **again}
    _log_asked(change, given | {"id": f"{row.id}/{change.row['next_sequence']}"})
    return _question(given)


def renew(change: Change, rules: Rules, assessor: str, id: str) -> Question | None:
    """Prolong the lease of a question that an assessor is at work on; None where it is not out any more.

    Nothing happens before half of the lease is over, so a page may ask as often as it likes.
    """
    check_text(assessor, id)
    mine = {"of_campaign": change.campaign, "of_assessor": assessor, "of_id": id}
    row = change.connection.execute(_ONE, mine).first()
    if row is None or row.state != "out" or row.expires <= change.now:
        return None
    if row.expires - change.now > rules.lease // 2:
        return _question(row._mapping)
    renewed = {"state": "out", "taken": row.taken, "expires": change.now + rules.lease, "counts": row.counts}
    change.connection.execute(_LEASE_AGAIN, {"of_id": row.id, **renewed})
    given = {**row._mapping, **renewed}
    _log_asked(change, given | {"id": f"{row.id}/{change.row['next_sequence']}"}, text=RENEWED)
    return _question(given)


_LEASE_AGAIN = (
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("of_id"))
    .values({name: sa.bindparam(name) for name in ("state", "taken", "expires", "counts")})
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
        # The time tells whether somebody else took a question since.
        change.connection.execute(sa.update(assignments).where(done).values(state=state, expires=change.now))
        queues.settle(change, rules, _real(row for row in rows if row.counts), came_back=True)
        queues.settle(change, rules, _real(row for row in rows if not row.counts))


def _real(rows: Iterable[Any]) -> list[int]:
    """Return the numbers of the questions among assignments, without those that served as traps."""
    return [row.question for row in rows if row.question is not None and row.expected is None]


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
        from_moment(given["taken"]),
        from_moment(given["expires"]),
    )


def question_of(connection: sa.Connection, campaign: int, assessor: str, id: str) -> Question:
    """Return a question that an assessor was given, whatever became of it.

    Raises
    ------
    ParameterError
        If the assessor was not asked this question.
    """
    check_text(assessor, id)
    mine = {"of_campaign": campaign, "of_assessor": assessor, "of_id": id}
    row = connection.execute(_ONE, mine).mappings().first()
    if row is None:
        raise ParameterError(f"assessor '{assessor}' was not asked a question '{id}'")
    return _question(row)


_ONE = sa.select(assignments).where(
    assignments.c.campaign == _CAMPAIGN,
    assignments.c.assessor == _ASSESSOR,
    assignments.c.id == sa.bindparam("of_id"),
)


def _swapped(change: Change, person: dict[str, Any]) -> bool:
    """Draw which document is shown first, so that of two questions in a row each side comes first once."""
    turn, second = divmod(person["given"], 2)
    return bool((draw(change, "side", person["assessor"], turn) + second) % 2)


def pending_items(connection: sa.Connection, campaign: int, now: int) -> list[tuple[str, str, str]]:
    """Return what is being judged at this moment: query, document and other of every question with a live lease."""
    table = assignments.c
    live = sa.and_(table.campaign == campaign, table.state == "out", table.expires > now, table.expected.is_(None))
    found = sa.select(questions.c.query, questions.c.document, questions.c.other).where(
        questions.c.campaign == campaign,
        questions.c.number.in_(sa.select(table.question).where(live)),
    )
    return [(row.query, row.document, row.other) for row in connection.execute(found)]
