"""The tables of work in memory, as the events of a log make them one after the other.

Events do to these tables what :mod:`earmark.store.leases` and :mod:`earmark.store.answers` did to those in the
database, under the rules of today. :mod:`earmark.store.rebuild` reads the events and writes the tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.data.log import SAME_SOUND
from earmark.store.answers import recorded_id
from earmark.store.assessor_rows import UNCOUNTED, new_assessor
from earmark.store.hidden_traps import RENEWED
from earmark.store.organising import PILOT
from earmark.store.questions import AGAIN, BEGUN, REST
from earmark.store.removals import NOTHING
from earmark.store.rules import CHOICES, Rules
from earmark.store.schema import questions
from earmark.store.store import Change
from earmark.store.unanswered import PARTS


@dataclass(slots=True)
class Assignment:
    """What an assessor was given: a question or a trap, and what became of it."""

    id: str
    question: ReplayedQuestion | None
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
class ReplayedQuestion:
    """A question, and to whom it was given."""

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
    given: list[Assignment] = field(default_factory=list)


class Replay:
    """The tables in memory, as the events so far have made them."""

    def __init__(self, change: Change, rules: Rules) -> None:
        self.change, self.rules = change, rules
        self.place = 0
        self.gone = NOTHING
        self.questions: dict[tuple[str, str, str], ReplayedQuestion] = {}
        self.assignments: dict[tuple[str, str, str, str, bool], Assignment] = {}
        self.of_assessor: dict[str, list[Assignment]] = defaultdict(list)
        self.people: dict[str, dict[str, Any]] = {}
        table = questions.c
        found = change.connection.execute(
            sa.select(questions).where(table.campaign == change.campaign).order_by(table.number)
        )
        for row in found:
            before = (bool(row.removed), row.answers, row.out, row.tier, row.place, row.same_as)
            made = ReplayedQuestion(row.number, row.query, row.document, row.other, row.same_as, before)
            self.questions[row.query, row.document, row.other] = made
        self.twins = self._same_sounds()
        for one in self.questions.values():
            one.tier, one.place = (REST, one.number) if one.same_as is None else (None, None)

    def _same_sounds(self) -> list[list[ReplayedQuestion]]:
        """Return the questions about the same sound, the first of which is asked as long as it does not leave."""
        groups: dict[int, list[ReplayedQuestion]] = defaultdict(list)
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

    def _ask(self, event: Any, key: tuple[str, str, str, str, bool], given: Assignment | None) -> None:
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

    def _assign(self, event: Any, key: tuple[str, str, str, str, bool], id: str, expires: int) -> Assignment:
        assessor, query, document, other, is_trap = key
        question = self.questions.get((query, document, other))
        made = Assignment(
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

    def _answer(self, given: Assignment, event: Any) -> None:
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

    def _withdraw(self, given: Assignment) -> None:
        if given.state != "answered":
            return
        given.state = "withdrawn"
        self._person(given.assessor)["answers"] -= 1
        if given.expected is None:
            given.value = None
            self._settle(given.question, came_back=not self._is_pilot(given))

    def _is_pilot(self, given: Assignment) -> bool:
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

    def _ask_twin(self, group: list[ReplayedQuestion]) -> None:
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

    def _settle(self, question: ReplayedQuestion | None, *, came_back: bool = False) -> None:
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


def _in_order(some: Iterable[ReplayedQuestion | None]) -> list[ReplayedQuestion]:
    return sorted((one for one in some if one is not None), key=lambda one: one.number)
