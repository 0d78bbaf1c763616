"""Sittings: paid pieces of work that people of a recruiting platform do.

A sitting has an assignment, as the platform calls it, and consists of so many answers. A person who comes back with the
same assignment goes on where they stopped; with another one they get new questions, as no question is asked twice.

Somebody may have accepted several assignments and have a window open for each. Each window has a link of its own, which
belongs to its sitting. Of the sittings of a person one is *current*: the one in which something was done last. Whenever
that changes, the log gets an event ``started`` with the number of the sitting (:func:`take_up`), in the transaction of
what was done. So the log alone tells in which sitting an answer was given.

An id of an assignment is no name of a sitting by itself: Mechanical Turk gives the id of work that somebody returned to
the next worker. Both then have a sitting of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store.assessor_rows import find_assessor
from earmark.store.people import pseudonym
from earmark.store.schema import people, sittings
from earmark.store.store import Change, Store, check_text

T = TypeVar("T")

OTHER_WINDOW = "in another window"
"""What follows the number in an event ``started`` of somebody who was at work elsewhere a moment ago."""

# Ids of platforms do not hold it.
_APART = "#"
_LONGEST_ID = 100


@dataclass(frozen=True)
class Sitting:
    """One paid piece of work.

    Attributes
    ----------
    platform : {"prolific", "mturk"}
    assignment, study : str
        As the platform calls them.
    assessor : str
        Who does it.
    number : int
        Which one it is of this person, from 1.
    began : int
        In microseconds since 1970.
    ended : int or None
        When all answers were given, or nothing was left to ask.
    answers_before : int
        Answers of this person that do not belong to it, where it is the current one.
    answers : int or None
        Given in it, where it is not the current one.
    submit_to : str or None
        Where the platform wants to be told of the end.
    decision : {"approve", "reject"} or None
        What the last file for the platform says about it; None where no file does.
    owed : float or None
        What was owed then.
    bonus : float or None
        What files of bonuses hold for it so far.
    """

    platform: str
    assignment: str
    study: str
    assessor: str
    number: int
    began: int
    ended: int | None
    answers_before: int
    answers: int | None
    submit_to: str | None
    decision: str | None = None
    owed: float | None = None
    bonus: float | None = None

    def given(self, answers: int) -> int:
        """Return how many answers were given in it, of so many that the person has given by now."""
        return max(answers - self.answers_before, 0) if self.answers is None else self.answers


# ---- finding them ----------------------------------------------------------------------------------------------------


def find_platform_person(connection: sa.Connection, campaign: int, platform: str, worker: str) -> str | None:
    """Return the pseudonym of a worker; None where they never came."""
    table = people.c
    mine = sa.select(table.assessor).where(
        table.campaign == campaign, table.platform == platform, table.platform_id == worker
    )
    found = connection.execute(mine).scalar()
    return None if found is None else str(found)


def find_sitting(
    connection: sa.Connection, campaign: int, platform: str, assignment: str, assessor: str
) -> Sitting | None:
    """Return somebody's sitting with an assignment; None where they have not begun it."""
    table = sittings.c
    keys = (assignment, f"{assignment}{_APART}{assessor}")
    mine = sa.select(sittings).where(
        *(table.campaign == campaign, table.platform == platform, table.assessor == assessor),
        table.assignment.in_(keys),
    )
    return _first(connection, mine)


def numbered_sitting(connection: sa.Connection, campaign: int, assessor: str, number: int) -> Sitting | None:
    """Return somebody's sitting by its number; None where there is none, or the person was erased."""
    return _first(connection, sa.select(sittings).where(_is(campaign, assessor, number)))


def current_sitting(connection: sa.Connection, campaign: int, assessor: str) -> Sitting | None:
    """Return the sitting in which somebody did something last; None for people who came by a link of ours."""
    table = sittings.c
    mine = sa.select(sittings).where(table.campaign == campaign, table.assessor == assessor, table.answers.is_(None))
    return _first(connection, mine)


def list_sittings(connection: sa.Connection, campaign: int, assessor: str | None = None) -> list[Sitting]:
    """Return all sittings of a campaign or of one person, in the order in which they began."""
    table = sittings.c
    query = sa.select(sittings).where(table.campaign == campaign).order_by(table.began, table.assignment)
    if assessor is not None:
        query = query.where(table.assessor == assessor)
    return [_read(row) for row in connection.execute(query).mappings()]


def _first(connection: sa.Connection, query: sa.Select[Any]) -> Sitting | None:
    row = connection.execute(query.limit(1)).mappings().first()
    return None if row is None else _read(row)


def _is(campaign: int, assessor: str, number: int) -> sa.ColumnElement[bool]:
    table = sittings.c
    return sa.and_(table.campaign == campaign, table.assessor == assessor, table.number == number)


def _read(row: Any) -> Sitting:
    assignment = str(row["assignment"]).partition(_APART)[0]
    names = ("platform", "assessor", "number", "began", "ended", "answers_before", "answers", "submit_to")
    told = {name: row[name] for name in (*names, "decision", "owed", "bonus")}
    return Sitting(assignment=assignment, study=row["study"] or "", **told)


# ---- beginning and going on ------------------------------------------------------------------------------------------


def begin_sitting(
    change: Change, platform: str, *, worker: str, assignment: str, study: str = "", submit_to: str | None = None
) -> Sitting:
    """Begin a sitting, or go on with it.

    Parameters
    ----------
    change : Change
    platform : {"prolific", "mturk"}
    worker, assignment, study : str
        As the platform calls them; an id of a worker that comes back is the same person.
    submit_to : str, optional
        Where the platform wants to be told of the end.
    """
    check_text(worker, assignment, study, submit_to)
    if not worker or not assignment or max(len(worker), len(assignment), len(study)) > _LONGEST_ID:
        raise ParameterError(f"ids of a platform have 1 to {_LONGEST_ID} characters")
    assessor = pseudonym(change, platform=platform, platform_id=worker)
    known = find_sitting(change.connection, change.campaign, platform, assignment, assessor)
    if known is None:
        mine = list_sittings(change.connection, change.campaign, assessor)
        number = 1 + max((one.number for one in mine), default=0)
        made = {"campaign": change.campaign, "platform": platform, "assessor": assessor, "number": number}
        made |= {"began": change.now, "answers_before": 0, "answers": 0, "study": study, "submit_to": submit_to}
        key = f"{assignment}{_APART}{assessor}" if _is_taken(change, platform, assignment) else assignment
        change.connection.execute(sa.insert(sittings).values(made | {"assignment": key}))
    else:
        number = known.number
        _set(change, known, submit_to=submit_to, study=study or known.study)
    _make_current(change, assessor, number, str(number))
    found = numbered_sitting(change.connection, change.campaign, assessor, number)
    assert found is not None
    return found


def take_up(change: Change, sitting: Sitting) -> None:
    """Note that what somebody does now belongs to a sitting; nothing happens where that is the current one."""
    _make_current(change, sitting.assessor, sitting.number, f"{sitting.number} {OTHER_WINDOW}")


def _make_current(change: Change, assessor: str, number: int, text: str) -> None:
    before = current_sitting(change.connection, change.campaign, assessor)
    now = numbered_sitting(change.connection, change.campaign, assessor, number)
    if now is None or (before is not None and before.number == number):
        return
    answers = int(find_assessor(change, assessor)["answers"])
    if before is not None:
        _set(change, before, answers=before.given(answers))
    # What was given elsewhere meanwhile does not count here.
    _set(change, now, answers=None, answers_before=answers - now.given(answers))
    change.append("started", assessor=assessor, text=text)


def number_started(text: str) -> tuple[int, bool]:
    """Return the number of the sitting that an event ``started`` names, and whether the person came for it.

    Examples
    --------
    >>> number_started("2"), number_started("2 in another window")
    ((2, True), (2, False))
    """
    number, _, how = text.partition(" ")
    return int(number), not how


def set_ended(change: Change, sitting: Sitting, ended: bool) -> None:
    """Note that a sitting is over, or that it goes on."""
    _set(change, sitting, ended=change.now if ended else None)


def settle_decision(change: Change, assessor: str, number: int, *, decision: str, owed: float) -> None:
    """Note that a file for the platform holds a decision about a sitting."""
    values = {"settled": change.now, "decision": decision, "owed": owed}
    change.connection.execute(sa.update(sittings).where(_is(change.campaign, assessor, number)).values(values))


def settle_bonus(change: Change, assessor: str, number: int, bonus: float) -> None:
    """Note how much the files of bonuses hold for a sitting, all together."""
    values = {"settled": change.now, "bonus": bonus}
    change.connection.execute(sa.update(sittings).where(_is(change.campaign, assessor, number)).values(values))


def _set(change: Change, sitting: Sitting, **values: Any) -> None:
    mine = _is(change.campaign, sitting.assessor, sitting.number)
    change.connection.execute(sa.update(sittings).where(mine).values(values))


def _is_taken(change: Change, platform: str, assignment: str) -> bool:
    table = sittings.c
    taken = sa.select(table.assessor).where(
        table.campaign == change.campaign, table.platform == platform, table.assignment == assignment
    )
    return change.connection.execute(taken).first() is not None


@dataclass(frozen=True, eq=False)
class SittingStore(Store):
    """A store in which all that is written belongs to a sitting, which is taken up first.

    Parameters
    ----------
    database, campaign, clock
        As for :class:`~earmark.store.store.Store`.
    sitting : Sitting, optional
    """

    sitting: Sitting | None = None

    @classmethod
    def of(cls, store: Store, sitting: Sitting) -> SittingStore:
        """Return the store in which somebody works in a sitting."""
        return cls(store.database, store.campaign, store.clock, sitting)

    def write(self, function: Callable[[Change], T]) -> T:
        """Run a function in a transaction that takes the sitting up first."""

        def act(change: Change) -> T:
            if self.sitting is not None:
                take_up(change, self.sitting)
            return function(change)

        return super().write(act)
