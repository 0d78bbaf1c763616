"""The derived tables made anew from the log alone; that they equal the live ones is tested with every desk."""

from __future__ import annotations

import time
from dataclasses import replace

import polars as pl
import pytest
import sqlalchemy as sa
from desks import (
    add_trap,
    answer_from_file,
    check_rebuild,
    derived,
    documents_of,
    judge,
    make_desk,
    new_key,
    question_row,
    rebuild,
    table_rows,
)

from earmark.errors import ParameterError
from earmark.store import answers, links, schema
from earmark.store.desk import Desk
from earmark.store.questions import BEGUN
from earmark.store.rebuild import rebuild as rebuild_tables
from earmark.store.rules import Rules
from earmark.store.store import Store


@pytest.fixture
def store(shared_store: Store) -> Store:
    return shared_store


def busy_desk(store: Store, clock) -> Desk:
    """Return a desk where most things have happened."""
    desk = make_desk(store, 12, same_as={"d11": "d3"}, judgments_per_item=2, trap_every=4)
    add_trap(desk, "q", "t", "2")
    for who, gain in (("ann", 1), ("bob", 1), ("cem", 2)):
        judge(desk, who, gain, times=5)
    desk.take("dora", ahead=2)
    clock.pass_minutes(11)
    held = desk.take("ann", ahead=2).questions
    desk.skip("ann", held[0].id)
    desk.give_back("ann", [held[1].id])
    desk.report_unplayable("ann", held[2].id, text="crackles")
    mine = desk.take("bob", ahead=1).questions
    desk.answer("bob", mine[0].id, key=new_key(), gain=0)
    desk.undo("bob", mine[0].id)
    desk.answer("bob", mine[1].id, key=new_key(), gain=2)
    desk.withdraw("bob", mine[1].id)
    desk.reject("cem", "in a hurry")
    desk.remove("no licence", document="d0")
    desk.propose_next([("q", "d9", "", True), ("q", "d8", "", False)])
    answer_from_file(desk, "eve", "d7", source="f", gain=2.0)
    return desk


def test_tables_equal_those_of_the_desk(store: Store, clock) -> None:
    desk = busy_desk(store, clock)
    assert {row["state"] for row in table_rows(store, schema.assignments)} >= {
        *("out", "answered", "skipped", "returned", "unplayable", "withdrawn")
    }
    check_rebuild(desk)
    # Once more, and work goes on.
    check_rebuild(desk)
    judge(desk, "dora", times=2)
    check_rebuild(desk)


def test_lost_tables_come_back(store: Store, clock) -> None:
    desk = busy_desk(store, clock)
    desk.propose_next([])
    before = derived(store)
    del before["traps"]["q", "t", ""]

    def lose(connection: sa.Connection) -> None:
        for table in (schema.assignments, schema.assessors, schema.traps):
            connection.execute(sa.delete(table).where(table.c.campaign == store.campaign))
        nothing = {"removed": False, "answers": 0, "out": 0, "tier": 3, "place": schema.questions.c.number}
        mine = schema.questions.c.campaign == store.campaign
        connection.execute(sa.update(schema.questions).where(mine).values(nothing))

    store.database.write(lose)
    rebuild(desk)
    assert derived(store) == before


def test_other_campaigns_of_the_database_stay(store: Store, clock) -> None:
    other = Store.create(store.database, uid=new_key(), name="other", settings="{}", clock=clock)
    desk, there = make_desk(store), make_desk(other)
    judge(desk, "ann", times=2)
    judge(there, "ann", times=3)
    before = derived(other)
    rebuild(desk)
    assert derived(other) == before


def test_more_judgments_per_item_open_answered_questions_again(store: Store) -> None:
    desk = make_desk(store, 3)
    judge(desk, "ann", times=3)
    assert desk.take("bob").reason == "done"
    changed = Desk(store, replace(desk.rules, judgments_per_item=2))
    rebuild(changed)
    assert {row["tier"] for row in table_rows(store, schema.questions)} == {BEGUN}
    assert documents_of(changed, "bob", ahead=5) == ["d0", "d1", "d2"]
    assert changed.take("ann").reason == "wait"
    changed.give_back("bob")
    rebuild(desk)
    assert desk.take("bob").reason == "done"


def test_other_tolerance_counts_traps_anew(store: Store) -> None:
    desk = make_desk(store, 2, trap_every=1)
    add_trap(desk, "q", "t", "2")
    assert judge(desk, "ann", 1) == ["t"]
    assert table_rows(store, schema.assessors)[0]["traps_right"] == 0
    rebuild(Desk(store, replace(desk.rules, tolerance=0.5)))
    assert table_rows(store, schema.assessors)[0]["traps_right"] == 1


def test_agreed_traps_follow_the_rules_and_the_organisers_stay(store: Store) -> None:
    desk = make_desk(store, 1, judgments_per_item=2)
    add_trap(desk, "q", "t", "2")
    for who in ("ann", "bob"):
        judge(desk, who, 1)
    assert set(derived(store)["traps"]) == {("q", "d0", ""), ("q", "t", "")}
    rebuild(Desk(store, replace(desk.rules, agreed_by=3)))
    assert set(derived(store)["traps"]) == {("q", "t", "")}


def test_events_of_the_same_transaction_count(store: Store) -> None:
    desk = make_desk(store, 1)
    judge(desk, "ann")

    def run(change) -> None:
        answers.reject(change, desk.rules, "ann", "")
        rebuild_tables(change, desk.rules)

    store.write(run)
    assert question_row(store, "d0")["answers"] == 0
    check_rebuild(desk)


def test_proposals_survive_in_their_order(store: Store) -> None:
    desk = make_desk(store, 6)
    desk.propose_next([("q", document, "", False) for document in ("d5", "d2", "d4")])
    rebuild(desk)
    assert documents_of(desk, "ann", ahead=3) == ["d5", "d2", "d4", "d0"]


def test_who_is_paused_stays_so(store: Store) -> None:
    desk = make_desk(store, 2)
    judge(desk, "ann")
    desk.give_back("ann")
    desk.pause_assessor("ann", "on holiday")
    assert desk.take("ann").reason == "paused"
    rebuild(desk)
    assert desk.take("ann").reason == "paused"
    desk.resume_assessor("ann")
    check_rebuild(desk)
    assert desk.take("ann").questions


def test_who_tries_it_out_stays_so_and_never_counts(store: Store) -> None:
    desk = make_desk(store, 2)
    (made,) = links.invite(store, ["Ann"], pilot=True)
    question = desk.take(made.assessor).questions[0]
    desk.answer(made.assessor, question.id, key="1", gain=2)
    assert question_row(store, question.document)["answers"] == 0
    assert not store.log().answers.height
    check_rebuild(desk)
    # Somebody else is asked the same, and the person who tried it out is not asked again.
    assert question.document in documents_of(desk, "bob", ahead=1)
    assert question.document not in documents_of(desk, made.assessor, ahead=1)
    with pytest.raises(ParameterError, match="never count"):
        desk.reinstate(made.assessor)


@pytest.mark.slow
def test_a_million_events_take_less_than_a_minute(store: Store) -> None:
    items, people = 100_000, 5
    desk = Desk(store, Rules(judgments_per_item=people, trap_every=0))
    names = [f"d{number}" for number in range(items)]
    desk.add_questions(pl.DataFrame({"query": ["q"] * items, "document": names}))

    def fill(change) -> None:
        for number, document in enumerate(names):
            for person in range(people):
                about = {"assessor": f"p{person}", "query": "q", "document": document}
                id = f"{number}-{person}"
                change.append("asked", **about, key=id, expires=change.now + 1)
                change.append("answered", **about, key=f"{id}-a", gain=1.0)

    store.write(fill)
    assert store.last_sequence == 1_000_000
    start = time.process_time()
    rebuild(desk)
    took = time.process_time() - start
    print(f"{took:.1f} s")
    done = sa.select(sa.func.count()).where(
        schema.questions.c.campaign == store.campaign, schema.questions.c.answers == people
    )
    assert store.read(lambda connection: connection.execute(done).scalar()) == items
    assert took < 60


@pytest.mark.parametrize("ending", ["rejected", "given back", "skipped", "withdrawn", "expired"])
def test_an_answer_from_a_file_about_a_question_whose_lease_has_ended(store: Store, clock, ending: str) -> None:
    """The assignment stays as it was asked, and the log alone gives the same tables."""
    desk = make_desk(store, 3)
    (held,) = desk.take("ann", ahead=0).questions
    (asked,) = table_rows(store, schema.assignments)
    clock.pass_minutes(1)
    if ending == "rejected":
        desk.reject("ann", "in a hurry")
    elif ending == "given back":
        desk.give_back("ann", [held.id])
    elif ending == "skipped":
        desk.skip("ann", held.id)
    elif ending == "withdrawn":
        desk.answer("ann", held.id, key=new_key(), gain=1)
        desk.withdraw("ann", held.id)
    else:
        clock.pass_minutes(20)
        desk.take("bob")
    clock.pass_minutes(1)
    answer_from_file(desk, "ann", held.document, source="f", gain=2.0)
    mine = next(row for row in table_rows(store, schema.assignments) if row["assessor"] == "ann")
    assert (mine["state"], mine["value"], mine["counts"]) == ("answered", 2.0, ending != "rejected")
    assert (mine["id"], mine["taken"], mine["sampled"]) == (asked["id"], asked["taken"], asked["sampled"])
    check_rebuild(desk)
