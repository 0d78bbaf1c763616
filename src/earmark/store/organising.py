"""What the organiser does: reject assessors, let things leave the collection, open and close the campaign.

Each is an event in the log and nothing is deleted, so each can be taken back.
"""

from __future__ import annotations

from typing import Literal

import sqlalchemy as sa

from earmark.data.log import Kind
from earmark.errors import ParameterError
from earmark.store import questions as queues
from earmark.store.assessor_rows import find_assessor
from earmark.store.removals import removed_now
from earmark.store.rules import Rules
from earmark.store.schema import assessors, assignments, questions
from earmark.store.store import Change

PILOT = "pilot"
"""Why the answers of somebody who tries the campaign out do not count."""


def reject(change: Change, rules: Rules, assessor: str, reason: str) -> None:
    """Count no answer of an assessor; their questions are asked again."""
    _set_accepted(change, rules, assessor, False, reason)


def reinstate(change: Change, rules: Rules, assessor: str, reason: str = "") -> None:
    """Count the answers of a rejected assessor again."""
    _set_accepted(change, rules, assessor, True, reason)


def join_pilot(change: Change, assessor: str) -> None:
    """Let an assessor who has answered nothing try the campaign out: none of their answers will ever count."""
    person = find_assessor(change, assessor)
    if person["state"] == "pilot":
        return
    if person["given"] or person["answers"]:
        raise ParameterError("only somebody who was asked nothing yet and has no answers can join the pilot")
    # For whoever reads the log, the answers of a rejected assessor do not count; that is all a pilot is.
    change.append("rejected", assessor=assessor, text=PILOT)
    _set_state_of(change, assessor, "pilot")


def pause_assessor(change: Change, assessor: str, reason: str = "", *, resume: bool = False) -> None:
    """Give an assessor no more questions for now, or again; nothing happens where that is so already."""
    person = find_assessor(change, assessor)
    before, after = ("paused", "active") if resume else ("active", "paused")
    if person["state"] == after:
        return
    if person["state"] != before:
        raise ParameterError(f"an assessor who is {person['state']} cannot be {'resumed' if resume else 'paused'}")
    change.append("resumed" if resume else "paused", assessor=assessor, text=reason or None)
    _set_state_of(change, assessor, after)


def _set_state_of(change: Change, assessor: str, state: str) -> None:
    mine = sa.and_(assessors.c.campaign == change.campaign, assessors.c.assessor == assessor)
    change.connection.execute(sa.update(assessors).where(mine).values(state=state))


def _set_accepted(change: Change, rules: Rules, assessor: str, accepted: bool, reason: str) -> None:
    person = find_assessor(change, assessor)
    if person["state"] == "pilot":
        raise ParameterError(f"{assessor} belongs to the pilot: their answers never count")
    if (person["state"] == "rejected") != accepted:
        return
    change.append("reinstated" if accepted else "rejected", assessor=assessor, text=reason or None)
    mine = sa.and_(assessors.c.campaign == change.campaign, assessors.c.assessor == assessor)
    values = {"state": "active", "reinstated": True} if accepted else {"state": "rejected"}
    change.connection.execute(sa.update(assessors).where(mine).values(values))
    table = assignments.c
    theirs = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.expected.is_(None))
    affected = sa.select(table.question).where(theirs, table.state.in_(("answered", "out")))
    numbers = change.connection.execute(affected).scalars().all()
    if not accepted:
        change.connection.execute(sa.update(assignments).where(theirs, table.state == "out").values(state="returned"))
    change.connection.execute(sa.update(assignments).where(theirs, table.state == "answered").values(counts=accepted))
    queues.settle(change, rules, numbers, came_back=not accepted)


def remove(
    change: Change,
    rules: Rules,
    *,
    query: str | None = None,
    document: str | None = None,
    system: str | None = None,
    reason: str = "",
    back: bool = False,
) -> None:
    """Let a system, a query, a document or an item leave the collection for all systems, or come back.

    What left by itself does not come back with something else (:mod:`earmark.store.removals`).

    Parameters
    ----------
    query, document : str, optional
        Both name an item; a document alone leaves for all queries.
    system : str, optional
    reason : str
    back : bool
        Let it come back.
    """
    if (system is None) == (query is None and document is None):
        raise ParameterError("name a system, or a query, a document or both")
    change.append("restored" if back else "removed", query=query, document=document, system=system, text=reason or None)
    if system is not None:
        return
    table = questions.c
    about = [table.campaign == change.campaign]
    if query is not None:
        about.append(table.query == query)
    if document is not None:
        about.append(sa.or_(table.document == document, table.other == document))
    removed = removed_now(change)
    found = change.connection.execute(sa.select(table.number, table.query, table.document, table.other).where(*about))
    gone = {row.number: removed.has(row.query, row.document, row.other) for row in found}
    queues.mark_removed(
        change,
        rules,
        {number for number, is_gone in gone.items() if is_gone},
        {number for number, is_gone in gone.items() if not is_gone},
    )


def set_state(change: Change, state: Literal["open", "paused", "stopped", "closed"], reason: str = "") -> None:
    """Open, pause, stop or close the campaign; nothing happens where it is in that state."""
    before = change.row["state"]
    if before == state:
        return
    kinds: dict[str, Kind] = {"paused": "paused", "stopped": "stopped", "closed": "closed"}
    change.append(kinds.get(state, "opened" if before == "closed" else "resumed"), text=reason or None)
    change.update(state=state, reason=reason or None, since=change.now)
