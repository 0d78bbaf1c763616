"""Whatever assessors and organisers do, in any order: the tables agree with the log and nobody is asked too much.

SQLite does not wait for the disk here (``synchronous=OFF``): what survives a power cut is tested elsewhere, and a
thousand transactions that wait would take minutes.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from desks import add_trap, check_rebuild, make_desk, new_key, table_rows
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from earmark.crowd.worker_check import RejectionRule
from earmark.errors import ParameterError
from earmark.store import leases, organising, schema
from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.migrate import migrate
from earmark.store.questions import AGAIN, BEGUN
from earmark.store.recording import Recorded, record
from earmark.store.rules import MINUTE
from earmark.store.store import Store

ITEMS = 5
TWINS = frozenset([2, 4])
"""The questions about the same sound."""
PEOPLE = ("ann", "bob", "cem", "dora")
_uids = count()

people = st.sampled_from(PEOPLE)
gains = st.sampled_from([0.0, 1.0, 2.0])
documents = st.sampled_from([f"d{number}" for number in range(ITEMS)])
picks = st.integers(0, 50)


class DeskMachine(RuleBasedStateMachine):
    """A campaign of five items, one of which sounds like another, and four assessors."""

    database: Database

    @initialize(
        judgments=st.integers(1, 3),
        more=st.integers(0, 2),
        trap_every=st.sampled_from([0, 2, 4]),
        grouped=st.booleans(),
        strict=st.booleans(),
        unplayable_after=st.integers(1, 2),
    )
    def start(
        self, judgments: int, more: int, trap_every: int, grouped: bool, strict: bool, unplayable_after: int
    ) -> None:
        self.now = 1_700_000_000_000_000
        uid = f"{next(_uids):032d}"
        store = Store.create(self.database, uid=uid, name="study", settings="{}", clock=lambda: self.now)
        self.desk: Desk = make_desk(
            store,
            ITEMS,
            same_as={"d3": "d1"},
            judgments_per_item=judgments,
            more_on_disagreement=more,
            trap_every=trap_every,
            group_by_query=grouped,
            unplayable_after=unplayable_after,
            # Strict enough that people are rejected within a few steps.
            rejection=RejectionRule(3, 0.65) if strict else RejectionRule(),
        )
        secret = sa.update(schema.campaigns).where(schema.campaigns.c.id == store.campaign).values(secret="fixed")
        self.database.write(lambda connection: connection.execute(secret))
        add_trap(self.desk, "q", "trap", "2")
        add_trap(self.desk, "q", "d4", "0")
        self.store = store
        self.asked: dict[str, list[str]] = {name: [] for name in PEOPLE}
        self.answered: list[tuple[str, str, str, float]] = []
        self.limit = {frozenset([number]): judgments for number in range(1, ITEMS + 1)} | {TWINS: judgments}
        self.exempt: set[int] = set()

    # ---- what assessors do -------------------------------------------------------------------------------------------

    @rule(who=people, ahead=st.integers(0, 2))
    def take(self, who: str, ahead: int) -> None:
        self.store.write(lambda change: leases.expire(change, self.desk.rules))
        held = {row["id"] for row in self._assignments(who) if row["state"] == "out"}
        unseen = self._unseen(who)
        given = {row["assessor"]: row["given"] for row in table_rows(self.store, schema.assessors)}.get(who, 0)
        taken = self.desk.take(who, ahead=ahead)
        rows = {row["id"]: row for row in self._assignments(who)}
        new = [rows[one.id] for one in taken.questions if one.id not in held]
        self.asked[who] += [row["id"] for row in new if row["id"] not in self.asked[who]]
        assert all(rows[one.id]["state"] == "out" for one in taken.questions)
        assert len(taken.questions) <= 1 + ahead
        assert bool(taken.questions) != bool(taken.reason)
        # Who has passed by questions that others may still get back finds them: the marks of what was seen are right.
        real = [row["question"] for row in new if row["expected"] is None]
        assert set(real) <= set(unseen)
        if not self.desk.rules.group_by_query:
            assert real == unseen[: len(real)]
        if self.store.row["state"] == "open" and taken.reason not in ("rejected", "enough"):
            assert len(taken.questions) == 1 + ahead or not self._unseen(who)
        later = {row["assessor"]: row["given"] for row in table_rows(self.store, schema.assessors)}.get(who, 0)
        assert later - given == len(new)

    def _unseen(self, who: str) -> list[int]:
        """Return the waiting questions that an assessor may get, the first one first, by looking at all of them."""
        seen = {
            row["question"]
            for row in self._assignments(who)
            if row["state"] not in ("returned", "expired") or row["expected"] is not None
        }
        waiting = [row for row in table_rows(self.store, schema.questions) if row["tier"] is not None]
        waiting.sort(key=lambda row: (row["tier"], row["place"]))
        return [row["number"] for row in waiting if row["number"] not in seen]

    def _assignments(self, who: str) -> list[dict[str, Any]]:
        return [row for row in table_rows(self.store, schema.assignments) if row["assessor"] == who]

    @rule(who=people, pick=picks, gain=gains)
    def answer(self, who: str, pick: int, gain: float) -> None:
        """Answer anything that was ever given out: in time, late, or once more."""
        if not self.asked[who]:
            return
        id, key = self.asked[who][-1 - pick % len(self.asked[who])], new_key()
        before = self.store.last_sequence
        receipt = self.desk.answer(who, id, key=key, gain=gain)
        assert receipt.status in ("saved", "corrected", "late")
        assert receipt.sequence is not None
        assert receipt.sequence > before
        self.answered.append((who, id, key, gain))

    @rule(who=people, gain=gains)
    def take_and_answer(self, who: str, gain: float) -> None:
        self.take(who, 0)
        self.answer(who, 0, gain)

    @rule(who=people, after=people, gain=gains)
    def answer_late(self, who: str, after: str, gain: float) -> None:
        self.take(who, 0)
        self.now += 11 * MINUTE
        self.take(after, 0)
        self.answer(who, 0, gain)

    @rule(pick=picks)
    def answer_once_more(self, pick: int) -> None:
        if not self.answered:
            return
        who, id, key, gain = self.answered[pick % len(self.answered)]
        before = self.store.log().digest
        assert self.desk.answer(who, id, key=key, gain=gain).status == "known"
        assert self.store.log().digest == before

    @rule(who=people, pick=picks)
    def skip(self, who: str, pick: int) -> None:
        if self.asked[who]:
            self.desk.skip(who, self.asked[who][pick % len(self.asked[who])])

    @rule(who=people, pick=picks)
    def renew(self, who: str, pick: int) -> None:
        if not self.asked[who]:
            return
        id = self.asked[who][pick % len(self.asked[who])]
        before = next(row for row in self._assignments(who) if row["id"] == id)
        question = self.desk.renew(who, id)
        assert (question is not None) == (before["state"] == "out" and before["expires"] > self.now)
        after = next(row for row in self._assignments(who) if row["id"] == id)
        assert after["expires"] >= before["expires"]
        assert after | {"expires": 0} == before | {"expires": 0}

    @rule(who=people)
    def join_pilot(self, who: str) -> None:
        person = self._person(who)
        if person is None or not (person["given"] or person["answers"]) or person["state"] == "pilot":
            self.store.write(lambda change: organising.join_pilot(change, who))
        else:
            with pytest.raises(ParameterError, match="pilot"):
                self.store.write(lambda change: organising.join_pilot(change, who))

    @rule(who=people, pick=picks, what=st.sampled_from(["document", "query"]), text=st.sampled_from([None, "noise"]))
    def report_unplayable(self, who: str, pick: int, what: Any, text: str | None) -> None:
        if self.asked[who]:
            self.desk.report_unplayable(who, self.asked[who][pick % len(self.asked[who])], what=what, text=text)

    @rule(who=people, pick=st.none() | picks)
    def give_back(self, who: str, pick: int | None) -> None:
        ids = None if pick is None or not self.asked[who] else [self.asked[who][pick % len(self.asked[who])]]
        self.desk.give_back(who, ids)

    @rule(who=people, pick=picks, again=st.booleans())
    def withdraw(self, who: str, pick: int, again: bool) -> None:
        mine = [row for row in self._assignments(who) if row["state"] == "answered"]
        if not mine:
            return
        # Ids are random, and a run has to be the same when it is repeated.
        id = sorted(mine, key=lambda row: (row["document"], row["expected"] or ""))[pick % len(mine)]["id"]
        if not again:
            self.desk.withdraw(who, id, key=new_key())
            return
        person = self._person(who)
        assert person is not None
        if person["state"] == "rejected" or self.store.row["state"] == "closed":
            with pytest.raises(ParameterError, match="no new answer"):
                self.desk.undo(who, id, key=new_key())
        else:
            question = self.desk.undo(who, id, key=new_key())
            assert question is not None
            assert question.id == id

    # ---- what the organiser does -------------------------------------------------------------------------------------

    def _person(self, who: str) -> dict[str, Any] | None:
        return next((row for row in table_rows(self.store, schema.assessors) if row["assessor"] == who), None)

    def _is_pilot(self, who: str) -> bool:
        person = self._person(who)
        return person is not None and person["state"] == "pilot"

    @rule(who=people)
    def reject(self, who: str) -> None:
        if self._is_pilot(who):
            with pytest.raises(ParameterError, match="pilot"):
                self.desk.reject(who, "by hand")
        else:
            self.desk.reject(who, "by hand")

    @rule(who=people)
    def reinstate(self, who: str) -> None:
        # Their answers come back to questions that others have answered meanwhile.
        self.exempt |= {row["question"] for row in self._assignments(who) if row["state"] == "answered"}
        if not self._is_pilot(who):
            self.desk.reinstate(who)

    @rule(some=st.lists(documents, unique=True, max_size=ITEMS))
    def propose_next(self, some: list[str]) -> None:
        self.desk.propose_next([("q", document, "", True) for document in some])

    @rule(document=documents, query=st.none() | st.just("q"), back=st.booleans())
    def remove(self, document: str, query: str | None, back: bool) -> None:
        (self.desk.restore if back else self.desk.remove)("a mistake", query=query, document=document)

    @rule(who=people, document=documents, gain=gains)
    def record(self, who: str, document: str, gain: float) -> None:
        """Bring in an answer from a file, which counts whether or not it was asked for."""
        self.exempt.add(1 + int(document[1:]))
        row = Recorded(who, "q", document, "", new_key(), gain, source="file")
        self.store.write(lambda change: record(change, self.desk.rules, [row]))

    @rule(state=st.sampled_from(["open"] * 5 + ["paused", "stopped", "closed"]))
    def set_state(self, state: Any) -> None:
        self.desk.set_state(state)

    @rule(minutes=st.integers(1, 25))
    def time_passes(self, minutes: int) -> None:
        self.now += minutes * MINUTE

    @rule(minutes=st.integers(1, 40))
    def clock_is_set_back(self, minutes: int) -> None:
        self.now -= minutes * MINUTE

    @rule()
    def rebuild(self) -> None:
        """Go on with tables that were made anew."""
        check_rebuild(self.desk)

    # ---- what holds always -------------------------------------------------------------------------------------------

    @invariant()
    def nobody_is_asked_too_much(self) -> None:
        rules = self.desk.rules
        given = table_rows(self.store, schema.assignments)
        real = [row for row in given if row["expected"] is None]
        mine = Counter((row["assessor"], row["query"], row["document"]) for row in real)
        assert all(number == 1 for number in mine.values()), "twice the same item for one assessor"
        pilots = {row["assessor"] for row in table_rows(self.store, schema.assessors) if row["state"] == "pilot"}
        for question in table_rows(self.store, schema.questions):
            mine = [row for row in given if row["question"] == question["number"] and row["expected"] is None]
            values = [row["value"] for row in mine if row["state"] == "answered" and row["counts"]]
            out = sum(row["state"] == "out" and row["assessor"] not in pilots for row in mine)
            assert (question["answers"], question["out"]) == (len(values), out)
            low, high = (min(values), max(values)) if values else (None, None)
            wanted = rules.wanted(len(values), low, high)
            # What was given out because answers disagreed stays out when they agree after a correction.
            # The documents of one sound are one question, whichever of them is asked about.
            sound = TWINS if question["number"] in TWINS else frozenset([question["number"]])
            self.limit[sound] = max(self.limit[sound], wanted)
            if not sound & self.exempt:
                assert len(values) + out <= self.limit[sound]
            waits = len(values) + out < wanted and not question["removed"] and question["same_as"] is None
            assert (question["tier"] is not None) == waits
            if waits:
                assert (question["tier"] == BEGUN) == bool(values)
                assert question["tier"] != AGAIN or mine

    @invariant()
    def the_tables_agree_with_the_log(self) -> None:
        log = self.store.log()
        assert log.frame["sequence"].to_list() == list(range(1, 1 + len(log)))
        counted = {
            (row["assessor"], row["document"], row["value"])
            for row in table_rows(self.store, schema.assignments)
            if row["state"] == "answered" and row["counts"] and row["expected"] is None
        }
        told = log.answers.filter(~pl.col("source").fill_null("").str.starts_with("same sound as"))
        assert set(told.select("assessor", "document", "gain").rows()) == counted
        assert told.height == len(counted)

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            check_rebuild(self.desk)


def _run(database: Database, examples: int, steps: int) -> None:
    class Machine(DeskMachine):
        pass

    Machine.database = database
    wanted = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    run_state_machine_as_test(Machine, settings=wanted)


@pytest.fixture
def hasty_sqlite(tmp_path: Path):
    database = Database(f"sqlite:///{tmp_path}/campaign.db")

    @sa.event.listens_for(database.engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    migrate(database)
    yield database
    database.close()


def test_any_order_on_sqlite(hasty_sqlite: Database) -> None:
    _run(hasty_sqlite, examples=25, steps=30)


def test_any_order_on_postgresql(new_postgresql_database) -> None:
    database = Database(new_postgresql_database())
    migrate(database)
    _run(database, examples=6, steps=20)
    database.close()


@pytest.mark.slow
def test_any_order_for_long(hasty_sqlite: Database) -> None:
    _run(hasty_sqlite, examples=150, steps=50)
