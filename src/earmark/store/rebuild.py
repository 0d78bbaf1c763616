"""Make the derived tables anew from the log: assignments, assessors, agreed traps, and the queues of questions.

That is needed after a setting changed that says how work is given out, after a backup was restored or a campaign moved
to another database, and to check that the tables are what the log says. Events are gone through once, in order, and do
to the tables in memory what :mod:`earmark.store.leases` and :mod:`earmark.store.answers` did to those in the database,
under the rules of today.

Three things are not in the log and stay as they are: which questions there are, which of them the policy proposes, and
the organiser's own traps. Places in queues are given anew, in the same order, so that the marks of what assessors have
seen start from 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.store.answers import SAME_SOUND, recorded_id
from earmark.store.hidden_traps import RENEWED
from earmark.store.leases import UNCOUNTED, new_assessor
from earmark.store.organising import PILOT
from earmark.store.questions import AGAIN, BEGUN, FRESH, REST
from earmark.store.removals import NOTHING
from earmark.store.rules import CHOICES, Rules
from earmark.store.schema import assessors, assignments, events, questions, traps
from earmark.store.store import Change
from earmark.store.unanswered import PARTS

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
    replay = _Replay(change, rules)
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


@dataclass(slots=True)
class _Assignment:
    id: str
    question: _Question | None
    assessor: str
    query: str
    document: str
    other: str
    expected: str | None
    swapped: bool
    sampled: bool
    taken: int
    expires: int
    state: str = "out"
    value: float | None = None
    counts: bool = True


@dataclass(slots=True, eq=False)
class _Question:
    number: int
    query: str
    document: str
    other: str
    same_as: int | None
    before: tuple[Any, ...]
    """What the database holds now: removed, answers, out, tier, place, same_as."""
    removed: bool = False
    answers: int = 0
    out: int = 0
    tier: int | None = REST
    place: int | None = None
    low: float | None = None
    high: float | None = None
    given: list[_Assignment] = field(default_factory=list)


class _Replay:
    """The tables in memory, as the events so far have made them."""

    def __init__(self, change: Change, rules: Rules) -> None:
        self.change, self.rules = change, rules
        self.place = 0
        self.gone = NOTHING
        self.questions: dict[tuple[str, str, str], _Question] = {}
        self.assignments: dict[tuple[str, str, str, str, bool], _Assignment] = {}
        self.of_assessor: dict[str, list[_Assignment]] = defaultdict(list)
        self.people: dict[str, dict[str, Any]] = {}
        table = questions.c
        found = change.connection.execute(
            sa.select(questions).where(table.campaign == change.campaign).order_by(table.number)
        )
        for row in found:
            before = (bool(row.removed), row.answers, row.out, row.tier, row.place, row.same_as)
            made = _Question(row.number, row.query, row.document, row.other, row.same_as, before)
            self.questions[row.query, row.document, row.other] = made
        self.twins = self._same_sounds()
        for one in self.questions.values():
            one.tier, one.place = (REST, one.number) if one.same_as is None else (None, None)

    def _same_sounds(self) -> list[list[_Question]]:
        """Return the questions about the same sound, the first of which is asked as long as it does not leave."""
        groups: dict[int, list[_Question]] = defaultdict(list)
        for one in self.questions.values():
            groups[one.number if one.same_as is None else one.same_as].append(one)
        found = [sorted(group, key=lambda one: one.number) for group in groups.values() if len(group) > 1]
        for first, *others in found:
            first.same_as = None
            for one in others:
                one.same_as = first.number
        return found

    # ---- events ------------------------------------------------------------------------------------------------------

    def add(self, event: Any) -> None:
        """Do what an event tells."""
        kind = event.kind
        if kind in ("removed", "restored"):
            self._remove(event)
        elif kind == "invited":
            self._person(event.assessor)
        elif kind == "rejected" and event.text == PILOT:
            self._person(event.assessor)["state"] = "pilot"
        elif kind in ("rejected", "reinstated"):
            self._accept(event.assessor, kind == "reinstated")
        elif kind in ("paused", "resumed"):
            # Without an assessor, the campaign as a whole.
            if event.assessor is not None:
                self._person(event.assessor)["state"] = "paused" if kind == "paused" else "active"
        elif kind == "withdrawn" and event.query is None:
            for one in [one for one in self.of_assessor[event.assessor] if one.state == "answered"]:
                self._withdraw(one)
        elif event.assessor is not None and not (event.source or "").startswith(SAME_SOUND):
            self._about_question(event)

    def _about_question(self, event: Any) -> None:
        key = (event.assessor, event.query, event.document, event.other or "", event.expected is not None)
        given = self.assignments.get(key)
        if event.kind == "asked":
            self._ask(event, key, given)
            return
        if given is None:
            # An answer from a file; anything else is about the same sound, which has no assignment.
            if event.kind != "answered" or event.expected is not None or key[1:4] not in self.questions:
                return
            given = self._assign(event, key, recorded_id(self.change, event.sequence), event.time)
        if event.kind == "answered":
            self._answer(given, event)
        elif event.kind == "late":
            if given.state != "answered":
                given.state, given.value = "late", self._value(event)
                self._settle(given.question)
        elif event.kind == "withdrawn":
            self._withdraw(given)
        else:
            given.state = event.kind if event.text != "expired" or event.kind != "returned" else "expired"
            if event.kind == "returned":
                given.expires = event.time
            if given.expected is None:
                part = (event.text or "").split(":")[0]
                given.value = PARTS.get(part, PARTS["document"]) if event.kind == "unplayable" else None
                self._settle(given.question, came_back=not self._is_pilot(given))

    def _ask(self, event: Any, key: tuple[str, str, str, str, bool], given: _Assignment | None) -> None:
        person = self._person(event.assessor)
        if given is None:
            given = self._assign(event, key, event.key.split("/")[0], event.expires)
        elif event.text == RENEWED:
            given.expires = event.expires
            return
        undo = given.state == "withdrawn"
        given.state, given.expires, given.counts = "out", event.expires, person["state"] != "pilot"
        if not undo:
            given.taken = event.time
            person["given"] += 1
            person["last_query"] = event.query
        if given.expected is None:
            self._settle(given.question)

    def _assign(self, event: Any, key: tuple[str, str, str, str, bool], id: str, expires: int) -> _Assignment:
        assessor, query, document, other, is_trap = key
        question = self.questions.get((query, document, other))
        made = _Assignment(
            *(id, question, assessor, query, document, other, event.expected),
            swapped=event.kind == "asked" and event.text == "swapped",
            sampled=bool(event.sampled),
            taken=event.time,
            expires=expires,
        )
        self.assignments[key] = made
        self._person(assessor)
        if not is_trap:
            self.of_assessor[assessor].append(made)
            if question is not None:
                question.given.append(made)
        return made

    def _answer(self, given: _Assignment, event: Any) -> None:
        person = self._person(given.assessor)
        person["answers"] += given.state != "answered"
        given.state = "answered"
        value = self._value(event)
        if given.expected is None:
            given.value, given.counts = value, person["state"] not in UNCOUNTED
            self._settle(given.question)
            return
        given.counts = False
        if given.value is None:
            # The first answer to a trap decides.
            given.value = value
            person["traps"] += 1
            person["traps_right"] += self.rules.is_right(value, given.expected)

    def _withdraw(self, given: _Assignment) -> None:
        if given.state != "answered":
            return
        given.state = "withdrawn"
        self._person(given.assessor)["answers"] -= 1
        if given.expected is None:
            given.value = None
            self._settle(given.question, came_back=not self._is_pilot(given))

    def _is_pilot(self, given: _Assignment) -> bool:
        """Tell whether somebody tries the campaign out, who takes no question away from others."""
        return bool(self._person(given.assessor)["state"] == "pilot")

    def _accept(self, assessor: str, accepted: bool) -> None:
        person = self._person(assessor)
        person["state"] = "active" if accepted else "rejected"
        person["reinstated"] = person["reinstated"] or accepted
        affected = [one for one in self.of_assessor[assessor] if one.state in ("out", "answered")]
        for one in affected:
            if one.state == "answered":
                one.counts = accepted
            elif not accepted:
                one.state = "returned"
        for question in _in_order(one.question for one in affected):
            self._settle(question, came_back=not accepted)

    def _remove(self, event: Any) -> None:
        if event.system is not None:
            return
        self.gone = self.gone.after(event.kind, None, event.query, event.document)
        about = [
            one
            for one in self.questions.values()
            if event.query in (None, one.query) and event.document in (None, one.document, one.other)
        ]
        for question in about:
            question.removed = self.gone.has(question.query, question.document, question.other)
            self._settle(question)
        for group in self.twins:
            self._ask_twin(group)

    def _ask_twin(self, group: list[_Question]) -> None:
        """Do what :func:`earmark.store.questions.mark_removed` does with questions about the same sound."""
        old = next(one for one in group if one.same_as is None)
        here = [one for one in group if not one.removed]
        if not old.removed or not here:
            return
        new = here[0]
        for one in group:
            one.same_as = None if one is new else new.number
        moved = [
            given
            for one in group
            for given in one.given
            if (one is old and given.state != "unplayable") or given.document == new.document
        ]
        for given in moved:
            if given.question is not None and given.question is not new:
                given.question.given.remove(given)
                given.question = new
                new.given.append(given)
        for one in _in_order([old, new]):
            self._settle(one)

    # ---- what follows ------------------------------------------------------------------------------------------------

    def _value(self, event: Any) -> float:
        # A ranking has no value.
        return float(event.gain) if event.gain is not None else CHOICES.get(event.choice, 0.0)

    def _person(self, assessor: str) -> dict[str, Any]:
        person = self.people.get(assessor)
        if person is None:
            person = self.people[assessor] = new_assessor(self.change.campaign, assessor)
        return person

    def _settle(self, question: _Question | None, *, came_back: bool = False) -> None:
        """Do what :func:`earmark.store.questions.settle` does."""
        if question is None:
            return
        values = [one.value for one in question.given if one.state == "answered" and one.counts]
        question.answers = answers = len(values)
        question.out = sum(one.state == "out" and one.counts for one in question.given)
        known = [value for value in values if value is not None]
        question.low, question.high = (min(known), max(known)) if known else (None, None)
        room = self.rules.wanted(answers, question.low, question.high) - answers - question.out
        if room <= 0 or question.removed or question.same_as is not None:
            question.tier = question.place = None
        elif question.tier is None and not question.given:
            question.tier, question.place = REST, question.number
        elif came_back or question.tier is None or (answers and question.tier != BEGUN):
            self.place += 1
            question.tier, question.place = BEGUN if answers else AGAIN, self.place


def _in_order(some: Iterable[_Question | None]) -> list[_Question]:
    return sorted((one for one in some if one is not None), key=lambda one: one.number)


# ---- back to the database --------------------------------------------------------------------------------------------


def _write(change: Change, rules: Rules, replay: _Replay) -> None:
    connection, campaign = change.connection, change.campaign
    for table in (assignments, assessors):
        connection.execute(sa.delete(table).where(table.c.campaign == campaign))
    _insert(change, assignments, (_assignment_row(campaign, one) for one in replay.assignments.values()))
    _insert(change, assessors, replay.people.values())
    _write_questions(change, replay)
    _write_traps(change, rules, replay)


def _assignment_row(campaign: int, one: _Assignment) -> dict[str, Any]:
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


def _write_questions(change: Change, replay: _Replay) -> None:
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


def _write_traps(change: Change, rules: Rules, replay: _Replay) -> None:
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
