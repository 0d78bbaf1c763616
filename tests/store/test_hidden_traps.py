"""Traps: hidden, at a set rate, from stated sources; who fails too many is rejected."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
import sqlalchemy as sa
from desks import (
    add_trap,
    answer_from_file,
    check_rebuild,
    judge,
    make_desk,
    make_pairs_desk,
    new_key,
    question_row,
    table_rows,
)

from earmark.crowd.worker_check import RejectionRule
from earmark.data.scales import BROAD
from earmark.errors import ParameterError
from earmark.store import schema
from earmark.store.leases import Question
from earmark.store.store import Store


@pytest.fixture
def store(shared_store: Store) -> Store:
    return shared_store


@pytest.fixture
def desk_of(store: Store):
    """Return a function that makes a desk with a list of traps ``t0``, ``t1``, ... that expect the gain 2."""
    made = []

    def make(items: int = 6, *, listed: int = 0, **rules):
        made.append(make_desk(store, items, **{"trap_every": 6} | rules))
        for number in range(listed):
            add_trap(made[-1], "q", f"t{number}", "2")
        return made[-1]

    yield make
    for desk in made:
        check_rebuild(desk)


def traps_among(desk, assessor: str, times: int) -> list[bool]:
    """Let an assessor answer, right or not; returns which questions were traps."""
    return [document.startswith("t") for document in judge(desk, assessor, 2.0, times)]


def person(store: Store, assessor: str) -> dict:
    return next(row for row in table_rows(store, schema.assessors) if row["assessor"] == assessor)


def traps_of(store: Store) -> dict[str, tuple[str, str]]:
    return {row["document"]: (row["expected"], row["source"]) for row in table_rows(store, schema.traps)}


def answer_next(desk, assessor: str, gain: float) -> Question:
    question = desk.take(assessor, ahead=0).questions[0]
    desk.answer(assessor, question.id, key=new_key(), gain=gain)
    return question


def set_secret(store: Store, secret: str) -> None:
    table = schema.campaigns
    change = sa.update(table).where(table.c.id == store.campaign).values(secret=secret)
    store.database.write(lambda connection: connection.execute(change))


# ---- rate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [2, 6])
def test_one_question_of_every_block_is_a_trap(desk_of, store: Store, every: int) -> None:
    desk = desk_of(60, listed=12, trap_every=every)
    seen = traps_among(desk, "ann", 10 * every)
    assert [sum(seen[start : start + every]) for start in range(0, len(seen), every)] == [1] * 10
    assert (person(store, "ann")["traps"], person(store, "ann")["traps_right"]) == (10, 10)


def test_places_and_traps_depend_on_the_secret_and_the_assessor(desk_of, store: Store) -> None:
    desk = desk_of(100, listed=6)
    set_secret(store, "a")
    first = judge(desk, "ann", times=36)
    places = {tuple(document[0] == "t" for document in first)}
    orders = {tuple(document for document in first if document[0] == "t")}
    for who in ("bob", "cem"):
        desk.reject("ann", "so that everything is asked again")
        done = judge(desk, who, times=36)
        places.add(tuple(document[0] == "t" for document in done))
        orders.add(tuple(document for document in done if document[0] == "t"))
    assert len(places) == 3
    assert len(orders) == 3
    # The same assessor in a campaign with another secret.
    other = Store.create(store.database, uid=new_key(), name="other", settings="{}", clock=store.clock)
    there = make_desk(other, 100, trap_every=6)
    for number in range(6):
        add_trap(there, "q", f"t{number}", "2")
    set_secret(other, "b")
    assert judge(there, "ann", times=36) != first


def test_no_traps_where_the_rate_is_zero(desk_of) -> None:
    desk = desk_of(20, listed=5, trap_every=0)
    assert not any(traps_among(desk, "ann", 20))


def test_a_question_takes_the_place_of_a_trap_that_is_not_there(desk_of) -> None:
    desk = desk_of(12)
    assert len(set(judge(desk, "ann", times=12))) == 12


# ---- hidden ----------------------------------------------------------------------------------------------------------


def test_nothing_tells_a_trap_from_a_question(desk_of, clock) -> None:
    desk = desk_of(6, listed=1, trap_every=2)
    trap, real = sorted(desk.take("ann").questions, key=lambda one: one.document[0] != "t")
    assert (trap.document, real.document) == ("t0", "d0")
    assert set(vars(trap)) == set(vars(real))
    assert (trap.expires, trap.other, trap.swapped, len(trap.id)) == (real.expires, real.other, real.swapped, 32)
    for one in (trap, real):
        key = new_key()
        said = [desk.answer("ann", one.id, key=key, gain=0).status for _ in range(2)]
        said.append(desk.answer("ann", one.id, key=new_key(), gain=0).status)
        again = desk.undo("ann", one.id)
        assert again is not None
        said.append(desk.answer("ann", one.id, key=new_key(), gain=0).status)
        assert said == ["saved", "known", "corrected", "saved"]
        with pytest.raises(ParameterError, match="scale"):
            desk.answer("ann", one.id, key=new_key(), gain=9)
        desk.withdraw("ann", one.id)
        with pytest.raises(ParameterError, match="only an answer"):
            desk.withdraw("ann", one.id)


def test_traps_that_expire_or_are_given_back_come_again_as_questions_do(desk_of, store: Store, clock) -> None:
    desk = desk_of(8, listed=5, trap_every=2)
    held = {one.id for one in desk.take("ann").questions}
    assert desk.give_back("ann") == 2
    assert {one.id for one in desk.take("ann").questions} == held
    clock.pass_minutes(11)
    assert {one.id for one in desk.take("ann").questions} == held
    for id in held:
        desk.answer("ann", id, key=new_key(), gain=2)
    assert (person(store, "ann")["traps"], person(store, "ann")["given"]) == (1, 6)


def held_with_a_trap(desk, assessor: str) -> dict[str, bool]:
    """Let an assessor answer until they hold a trap and a question; returns their ids and which is the trap."""
    while True:
        held = desk.take(assessor).questions
        if len({one.document[0] for one in held}) == 2:
            return {one.id: one.document[0] == "t" for one in held}
        desk.answer(assessor, held[0].id, key=new_key(), gain=2)


@pytest.mark.parametrize("how", ["given back", "expired", "undone and given back"])
def test_what_nobody_else_took_comes_again_at_once_trap_or_not(desk_of, clock, how: str) -> None:
    desk = desk_of(60, listed=20)
    first = []
    for person in range(12):
        who = f"ann {person}"
        held = held_with_a_trap(desk, who)
        clock.pass_minutes(1)
        if how.startswith("undone"):
            for id in held:
                desk.answer(who, id, key=new_key(), gain=2)
                desk.undo(who, id)
        if how == "expired":
            clock.pass_minutes(11)
        else:
            desk.give_back(who)
        again = [one.id for one in desk.take(who).questions]
        assert set(again) == set(held)
        first.append(held[again[0]])
        desk.give_back(who)
        # So that what comes back is not in the way of the next one.
        for question in desk.take(who).questions:
            desk.answer(who, question.id, key=new_key(), gain=2)
    assert 1 <= sum(first) <= 11, "the order does not tell them apart"


def test_what_others_got_meanwhile_does_not_come_again_trap_or_not(desk_of, clock) -> None:
    desk = desk_of(60, listed=20)
    held = held_with_a_trap(desk, "ann")
    desk.give_back("ann")
    clock.pass_minutes(1)
    assert "d" in {one.document[0] for one in desk.take("bob").questions}
    later = []
    for _ in range(30):
        question = answer_next(desk, "ann", 2)
        later.append(question.id)
    assert not set(later) & set(held)


@pytest.mark.parametrize("how", ["closed", "gone", "free"])
def test_an_answer_to_a_trap_is_late_when_one_to_a_question_would_be(desk_of, store: Store, clock, how: str) -> None:
    desk = desk_of(60, listed=20)
    held = held_with_a_trap(desk, "ann")
    before = person(store, "ann")
    if how == "closed":
        desk.set_state("closed")
    else:
        desk.give_back("ann")
        clock.pass_minutes(1)
        if how == "gone":
            assert "d" in {one.document[0] for one in desk.take("bob").questions}
    said = {desk.answer("ann", id, key=new_key(), gain=2).status for id in held}
    assert said == {"saved" if how == "free" else "late"}
    after = person(store, "ann")
    assert after["answers"] - before["answers"] == (2 if how == "free" else 0), "progress tells nothing either"
    assert after["traps"] - before["traps"] == (1 if how == "free" else 0)


def test_a_trap_comes_within_a_run_of_its_query(store: Store) -> None:
    desk = make_desk(store, 0, trap_every=3, group_by_query=True)
    for number in range(4):
        frame = {"query": [f"q{number}"] * 9, "document": [f"d{number}{one}" for one in range(9)]}
        desk.add_questions(pl.DataFrame(frame))
        for one in range(4):
            add_trap(desk, f"q{number}", f"t{number}{one}", "2")
    asked = [answer_next(desk, "ann", 2) for _ in range(36)]
    changes = [asked[0], *(two for one, two in itertools.pairwise(asked) if one.query != two.query)]
    assert sum(one.document[0] == "t" for one in asked) == 12
    assert len(changes) <= 5, "a trap about another query would stand out"
    check_rebuild(desk)


def test_a_trap_that_was_skipped_does_not_come_again(desk_of) -> None:
    desk = desk_of(8, listed=1, trap_every=1)
    question = desk.take("ann", ahead=0).questions[0]
    desk.skip("ann", question.id)
    assert desk.take("ann", ahead=0).questions[0].document == "d0"


def test_undo_does_not_change_the_outcome_of_a_trap(desk_of, store: Store) -> None:
    desk = desk_of(6, listed=1, trap_every=1)
    question = answer_next(desk, "ann", 0)
    assert question.document == "t0"
    before = person(store, "ann")
    desk.undo("ann", question.id)
    desk.answer("ann", question.id, key=new_key(), gain=2)
    assert person(store, "ann") == before
    assert (before["traps"], before["traps_right"]) == (1, 0)
    desk.answer("ann", question.id, key=new_key(), gain=2)
    assert person(store, "ann") == before


def test_undo_does_not_move_the_next_trap(desk_of) -> None:
    desk = desk_of(30, listed=4, trap_every=3)
    seen = []
    for _ in range(12):
        question = answer_next(desk, "ann", 2)
        desk.undo("ann", question.id)
        desk.answer("ann", question.id, key=new_key(), gain=2)
        seen.append(question.document[0] == "t")
    assert [sum(seen[start : start + 3]) for start in range(0, 12, 3)] == [1] * 4


# ---- whom and how often ----------------------------------------------------------------------------------------------


def test_nobody_gets_a_trap_twice(desk_of) -> None:
    desk = desk_of(40, listed=3, trap_every=2)
    for who in ("ann", "bob"):
        done = [document for document in judge(desk, who, times=20) if document[0] == "t"]
        assert sorted(done) == ["t0", "t1", "t2"]


def test_who_answered_an_item_does_not_get_it_as_a_trap(desk_of) -> None:
    desk = desk_of(3, judgments_per_item=2, trap_every=1, trap_sources=("agreed",))
    for who in ("ann", "bob"):
        assert judge(desk, who, 1, times=3) == ["d0", "d1", "d2"]
    for who in ("ann", "bob"):
        assert desk.take(who).reason == "done"
    assert sorted(judge(desk, "cem", 1, times=3)) == ["d0", "d1", "d2"]
    assert desk.take("cem").reason == "done"


def test_who_got_an_item_as_a_trap_does_not_get_it_as_a_question(desk_of, store: Store) -> None:
    desk = desk_of(2, trap_every=2)
    add_trap(desk, "q", "d0", "2")
    assert sorted(judge(desk, "ann", times=2)) in (["d0", "d1"], ["d0", "d0"])
    given = [row for row in table_rows(store, schema.assignments) if row["document"] == "d0"]
    assert len(given) == 1
    if given[0]["expected"] is not None:
        assert desk.take("ann").reason == "done"
        assert [one.document for one in desk.take("bob").questions] == ["d0"]


def test_a_question_serves_as_a_trap_once_it_is_answered(desk_of, store: Store) -> None:
    desk = desk_of(1, trap_every=1)
    add_trap(desk, "q", "d0", "2")
    for assessor, counted in (("ann", 1), ("bob", 1)):
        assert answer_next(desk, assessor, 2).document == "d0"
        assert (question_row(store, "d0")["answers"], question_row(store, "d0")["out"]) == (counted, 0)
    assert store.log().answers["assessor"].to_list() == ["ann"], "bob answered a trap"
    assert desk.take("ann").reason == desk.take("bob").reason == "done"


def test_answers_to_traps_are_no_judgments(desk_of, store: Store) -> None:
    desk = desk_of(4, listed=3, trap_every=1)
    judge(desk, "ann", 2, times=3)
    assert store.log().judgments(BROAD) is None
    assert store.log().of_kind("answered")["expected"].to_list() == ["2"] * 3
    judge(desk, "ann", 1, times=1)
    judged = store.log().judgments(BROAD)
    assert judged is not None
    assert judged.frame["document"].to_list() == ["d0"]


def test_a_trap_that_does_not_play_removes_nothing(desk_of, store: Store) -> None:
    desk = desk_of(2, listed=1, trap_every=1, unplayable_after=1)
    question = desk.take("ann", ahead=0).questions[0]
    desk.report_unplayable("ann", question.id)
    assert store.log().of_kind("removed").height == 0
    assert person(store, "ann")["traps"] == 0


def test_traps_count_towards_the_cap(desk_of) -> None:
    desk = desk_of(10, listed=2, trap_every=2, answers_per_assessor=4)
    assert sum(traps_among(desk, "ann", 4)) == 2
    assert desk.take("ann").reason == "enough"


# ---- sources ---------------------------------------------------------------------------------------------------------


def test_traps_of_items_with_agreed_answers(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=3, more_on_disagreement=0, trap_every=0)
    judge(desk, "ann", 1)
    assert traps_of(store) == {}
    judge(desk, "bob", 1)
    assert traps_of(store) == {"d0": ("1", "agreed")}
    judge(desk, "cem", 2)
    # The third answer is too far from the others.
    assert traps_of(store) == {}


def test_an_agreed_trap_goes_when_answers_stop_agreeing(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=2, trap_every=0)
    mine = answer_next(desk, "ann", 1)
    answer_next(desk, "bob", 1)
    for change, back in (
        (
            lambda: desk.answer("ann", mine.id, key=new_key(), gain=2),
            lambda: desk.answer("ann", mine.id, key=new_key(), gain=1),
        ),
        (lambda: desk.undo("ann", mine.id), lambda: desk.answer("ann", mine.id, key=new_key(), gain=1)),
        (lambda: desk.reject("bob", ""), lambda: desk.reinstate("bob")),
        (lambda: desk.remove("", document="d0"), lambda: desk.restore("", document="d0")),
    ):
        assert traps_of(store) == {"d0": ("1", "agreed")}
        change()
        assert traps_of(store) == {}
        back()
    assert traps_of(store) == {"d0": ("1", "agreed")}


def test_an_agreed_trap_expects_what_is_agreed_now(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=2, trap_every=0, tolerance=0.5)
    mine = answer_next(desk, "ann", 1)
    answer_next(desk, "bob", 1)
    desk.answer("ann", mine.id, key=new_key(), gain=2)
    assert traps_of(store) == {"d0": ("1.5", "agreed")}


@pytest.mark.parametrize(
    ("sources", "given"), [(("list",), {"l"}), (("self",), {"s"}), (("list", "self"), {"l", "s"}), ((), set())]
)
def test_only_the_sources_that_are_set(desk_of, sources, given) -> None:
    desk = desk_of(10, trap_every=2, trap_sources=sources)
    for number in range(2):
        add_trap(desk, "q", f"l{number}", "2", "list")
        add_trap(desk, "q", f"s{number}", "2", "self")
    assert {document[0] for document in judge(desk, "ann", 2, times=8)} - {"d"} == given


def test_the_organisers_trap_on_a_question_stays_when_answers_disagree(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=2, trap_every=0)
    add_trap(desk, "q", "d0", "0")
    judge(desk, "ann", 2)
    judge(desk, "bob", 2)
    assert traps_of(store) == {"d0": ("0", "list")}
    desk.reject("bob", "")
    assert traps_of(store) == {"d0": ("0", "list")}


def test_what_left_the_collection_is_no_trap(desk_of) -> None:
    desk = desk_of(2, trap_every=1)
    add_trap(desk, "q", "d0", "2")
    desk.remove("does not play", document="d0")
    assert judge(desk, "ann") == ["d1"]


def test_a_clip_against_itself_in_pairs(store: Store) -> None:
    desk = make_pairs_desk(store, 2, trap_every=1, trap_sources=("self",))
    add_trap(desk, "q", "a0", "b", "self", other="q")
    question = desk.take("ann", ahead=0).questions[0]
    assert (question.document, question.other) == ("a0", "q")
    desk.answer("ann", question.id, key=new_key(), choice="b")
    assert (person(store, "ann")["traps"], person(store, "ann")["traps_right"]) == (1, 1)
    check_rebuild(desk)


@pytest.mark.parametrize(("gain", "right"), [(2, 1), (1, 0)])
def test_a_grade_is_right_within_the_tolerance(desk_of, store: Store, gain, right) -> None:
    desk = desk_of(1, listed=1, trap_every=1)
    answer_next(desk, "ann", gain)
    assert person(store, "ann")["traps_right"] == right


# ---- rejection -------------------------------------------------------------------------------------------------------


def answer_traps(desk, assessor: str, total: int, wrong: int) -> None:
    """Let an assessor answer so many questions and the first traps wrongly."""
    for _ in range(total):
        question = desk.take(assessor, ahead=0).questions[0]
        is_trap = question.document.startswith("t")
        gain = 0 if is_trap and wrong > 0 else 2
        wrong -= is_trap
        desk.answer(assessor, question.id, key=new_key(), gain=gain)


@pytest.mark.parametrize(("wrong", "state"), [(7, "active"), (8, "rejected")])
def test_thirteen_of_twenty_is_enough(desk_of, store: Store, wrong: int, state: str) -> None:
    desk = desk_of(90, listed=20, trap_every=5)
    answer_traps(desk, "ann", 100, wrong)
    found = person(store, "ann")
    assert (found["answers"], found["traps"], found["traps_right"], found["state"]) == (100, 20, 20 - wrong, state)
    assert desk.take("ann").reason == ("" if state == "active" else "rejected")
    if state == "rejected":
        assert "12 of 20 traps right, fewer than 65%" in store.log().of_kind("rejected")["text"][0]
        assert store.log().answers.height == 0
        assert judge(desk, "bob", times=1)[0][0] in "dt"
        assert {row["tier"] for row in table_rows(store, schema.questions) if int(row["document"][1:]) < 70} >= {0}


def test_nobody_is_rejected_before_enough_answers(desk_of, store: Store) -> None:
    desk = desk_of(90, listed=20, trap_every=5)
    answer_traps(desk, "ann", 99, 20)
    assert person(store, "ann")["state"] == "active"
    answer_traps(desk, "ann", 1, 0)
    assert person(store, "ann")["state"] == "rejected"


def test_the_rule_is_configurable(desk_of, store: Store) -> None:
    desk = desk_of(10, listed=4, trap_every=2, rejection=RejectionRule(4, 0.5))
    answer_traps(desk, "ann", 4, 1)
    assert person(store, "ann")["state"] == "active"
    answer_traps(desk, "bob", 4, 2)
    assert person(store, "bob")["state"] == "rejected"


def test_the_organisers_word_stands(desk_of, store: Store) -> None:
    desk = desk_of(10, listed=4, trap_every=2, rejection=RejectionRule(4, 0.5))
    answer_traps(desk, "ann", 4, 4)
    desk.reinstate("ann", "the traps were wrong")
    answer_traps(desk, "ann", 4, 4)
    assert person(store, "ann")["state"] == "active"
    desk.reject("ann", "after all")
    assert person(store, "ann")["state"] == "rejected"


def test_answers_in_files_never_reveal_traps(desk_of, store: Store) -> None:
    desk = desk_of(8, listed=4, trap_every=1)
    assert all(one.document[0] == "d" for one in desk.reserve("ann", 8).questions)
    receipt = answer_from_file(desk, "bob", "d0", source="f", gain=1.0)
    assert receipt.status == "saved"
    assert person(store, "bob")["traps"] == 0
