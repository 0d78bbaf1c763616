"""Work for several assessors, on both databases: each statement of what the desk promises."""

from __future__ import annotations

import re

import polars as pl
import pytest
import sqlalchemy as sa
from desks import (
    answer_from_file,
    check_rebuild,
    documents_of,
    judge,
    make_desk,
    make_pairs_desk,
    new_key,
    question_row,
    table_rows,
)

from earmark.data.scales import BROAD
from earmark.errors import ParameterError
from earmark.store import leases, schema
from earmark.store.store import Store


@pytest.fixture
def store(shared_store: Store) -> Store:
    return shared_store


@pytest.fixture
def desk_of(store: Store):
    """Return a function that makes a desk; whatever a test does, the tables can be made anew from the log."""
    made = []

    def make(*args, pairs: bool = False, **rules):
        made.append((make_pairs_desk if pairs else make_desk)(store, *args, **rules))
        return made[-1]

    yield make
    for desk in made:
        check_rebuild(desk)


def pending(store: Store) -> list[tuple[str, str, str]]:
    return store.read(lambda connection: leases.pending_items(connection, store.campaign, store.clock()))


def record(desk, assessor: str, document: str, **given):
    return answer_from_file(desk, assessor, document, **given)


# ---- leases ----------------------------------------------------------------------------------------------------------


def test_one_and_one_ahead(desk_of) -> None:
    desk = desk_of()
    assert documents_of(desk, "ann", ahead=1) == ["d0", "d1"]
    assert [one.document for one in desk.take("ann").questions] == ["d0", "d1"]
    assert documents_of(desk, "bob", ahead=0) == ["d2"]


def test_a_page_loaded_twice_shows_the_same_questions(desk_of, store: Store) -> None:
    desk = desk_of()
    first = desk.take("ann")
    events = store.last_sequence
    assert desk.take("ann") == first
    assert store.last_sequence == events


def test_the_next_one_comes_when_one_was_answered(desk_of) -> None:
    desk = desk_of()
    first, ahead = desk.take("ann").questions
    desk.answer("ann", first.id, key=new_key(), gain=1)
    assert [one.document for one in desk.take("ann").questions] == [ahead.document, "d2"]


def test_leases_end_and_go_to_others_first(desk_of, clock) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    clock.pass_minutes(9.9)
    assert documents_of(desk, "bob") == ["d1"]
    clock.pass_minutes(0.2)
    assert documents_of(desk, "cem") == [question.document]


def test_who_let_a_lease_end_may_get_the_question_again(desk_of, clock) -> None:
    desk = desk_of(1)
    first = desk.take("ann").questions[0]
    clock.pass_minutes(11)
    again = desk.take("ann").questions[0]
    assert (again.id, again.document) == (first.id, first.document)
    assert again.expires > first.expires


def test_a_clock_that_is_set_back_does_not_keep_questions_out(desk_of, clock) -> None:
    desk = desk_of()
    documents_of(desk, "ann")
    clock.pass_minutes(-24 * 60)
    assert documents_of(desk, "bob") == ["d0"]
    clock.pass_minutes(24 * 60)
    assert documents_of(desk, "cem") == ["d0"]


def test_returned_work_goes_back_and_is_asked_first(desk_of) -> None:
    desk = desk_of()
    held = desk.take("ann").questions
    assert desk.give_back("ann", [held[1].id]) == 1
    assert documents_of(desk, "bob") == ["d1"]
    assert desk.give_back("ann") == 1
    assert desk.give_back("ann") == 0
    assert documents_of(desk, "cem") == ["d0"]


def test_nobody_gives_back_what_others_hold(desk_of) -> None:
    desk = desk_of()
    held = desk.take("ann", ahead=0).questions
    assert desk.give_back("bob", [held[0].id]) == 0
    assert desk.take("ann", ahead=0).questions == held


def test_skipped_questions_go_to_others_only(desk_of) -> None:
    desk = desk_of(1)
    question = desk.take("ann").questions[0]
    desk.skip("ann", question.id, key="s")
    desk.skip("ann", question.id, key="s")
    assert desk.take("ann").reason == "done"
    assert documents_of(desk, "bob") == ["d0"]
    assert desk.take("ann").reason == "wait"


def test_a_package_is_reserved_for_long(desk_of, clock) -> None:
    desk = desk_of(trap_every=1)
    package = desk.reserve("ann", 4)
    assert [one.document for one in package.questions] == ["d0", "d1", "d2", "d3"]
    clock.pass_minutes(13 * 24 * 60)
    assert documents_of(desk, "bob") == ["d4"]
    assert desk.reserve("ann", 4) == package


def test_ids_tell_nothing(desk_of) -> None:
    desk = desk_of(40)
    ids = [one.id for one in desk.reserve("ann", 40).questions]
    assert len(set(ids)) == 40
    # No sign that a spreadsheet takes for the beginning of a formula.
    assert all(re.fullmatch(r"[0-9a-f]{32}", id) for id in ids)
    # Random: neither an order nor a common part.
    assert ids != sorted(ids)
    assert len({id[:4] for id in ids}) > 36
    assert len({id[-5:-1] for id in ids}) > 36


# ---- answers ---------------------------------------------------------------------------------------------------------


def test_only_submitted_work_counts(desk_of, store: Store) -> None:
    desk = desk_of()
    first, _ = desk.take("ann").questions
    assert store.log().judgments(BROAD) is None
    desk.answer("ann", first.id, key=new_key(), gain=2)
    assert store.log().answers.select("document", "gain").rows() == [("d0", 2.0)]


def test_a_retry_changes_nothing(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    first = desk.answer("ann", question.id, key="k", gain=2)
    events = store.last_sequence
    assert (first.status, desk.answer("ann", question.id, key="k", gain=2).status) == ("saved", "known")
    assert desk.answer("ann", question.id, key="k", gain=0).status == "known"
    assert store.last_sequence == events
    assert store.log().answers["gain"].to_list() == [2.0]


def test_a_late_answer_counts_while_there_is_room(desk_of, store: Store, clock) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    clock.pass_minutes(11)
    desk.take("cem", ahead=0)
    desk.give_back("cem")
    assert desk.answer("ann", question.id, key=new_key(), gain=2).status == "saved"
    assert question_row(store, "d0")["answers"] == 1


def test_a_late_answer_without_room_is_kept_and_does_not_count(desk_of, store: Store, clock) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    clock.pass_minutes(11)
    theirs = desk.take("bob", ahead=0).questions[0]
    # It is out with somebody else, who will answer.
    assert desk.answer("ann", question.id, key=new_key(), gain=2).status == "late"
    assert desk.answer("bob", theirs.id, key=new_key(), gain=0).status == "saved"
    assert desk.answer("ann", question.id, key=new_key(), gain=1).status == "late"
    assert store.log().answers.select("assessor", "gain").rows() == [("bob", 0.0)]
    assert store.log().of_kind("late")["gain"].to_list() == [2.0, 1.0]


def test_a_correction_replaces_the_answer_and_the_log_keeps_both(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    assert desk.answer("ann", question.id, key=new_key(), gain=0).status == "corrected"
    assert store.log().answers["gain"].to_list() == [0.0]
    assert store.log().of_kind("answered")["gain"].to_list() == [2.0, 0.0]
    assert question_row(store, "d0")["answers"] == 1
    assert table_rows(store, schema.assessors)[0]["answers"] == 1


def test_a_withdrawn_answer_does_not_count_and_others_are_asked(desk_of, store: Store) -> None:
    desk = desk_of(1)
    question = desk.take("ann").questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    desk.withdraw("ann", question.id, key="w")
    desk.withdraw("ann", question.id, key="w")
    assert store.log().answers.height == 0
    assert store.log().of_kind("answered").height == 1
    assert desk.take("ann").reason == "done"
    assert documents_of(desk, "bob") == ["d0"]
    with pytest.raises(ParameterError, match="only an answer"):
        desk.withdraw("ann", question.id)


def test_undo_gives_the_same_question_once_more(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    again = desk.undo("ann", question.id, key="u")
    assert again is not None
    assert (again.id, again.document) == (question.id, "d0")
    assert desk.undo("ann", question.id, key="u") is None
    assert store.log().answers.height == 0
    assert documents_of(desk, "bob") == ["d1"]
    assert desk.answer("ann", question.id, key=new_key(), gain=1).status == "saved"
    assert store.log().answers["gain"].to_list() == [1.0]
    assert table_rows(store, schema.assessors)[0]["given"] == 1


def test_undo_many_times(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    for _ in range(5):
        desk.answer("ann", question.id, key=new_key(), gain=2)
        desk.undo("ann", question.id)
    assert desk.take("ann", ahead=0).questions[0].id == question.id
    assert len(table_rows(store, schema.assignments)) == 1


@pytest.mark.parametrize("gain", [3, -1, 0.5, float("nan"), None])
def test_gains_off_the_scale_are_refused(desk_of, store: Store, gain) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    events = store.last_sequence
    with pytest.raises(ParameterError, match="scale"):
        desk.answer("ann", question.id, key=new_key(), gain=gain)
    assert store.last_sequence == events


def test_a_choice_is_no_grade_and_a_grade_no_choice(desk_of) -> None:
    desk = desk_of()
    with pytest.raises(ParameterError, match="scale"):
        desk.answer("ann", desk.take("ann").questions[0].id, key=new_key(), choice="a")


def test_only_who_was_asked_answers(desk_of) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    for who, id in (("bob", question.id), ("ann", "nothing"), ("nobody", question.id)):
        with pytest.raises(ParameterError, match="was not asked"):
            desk.answer(who, id, key=new_key(), gain=1)
        with pytest.raises(ParameterError, match="was not asked"):
            desk.skip(who, id)
        with pytest.raises(ParameterError, match="was not asked"):
            desk.undo(who, id)


def test_a_question_of_another_campaign_is_unknown(desk_of, store: Store) -> None:
    desk = desk_of()
    other = make_desk(Store.create(store.database, uid=new_key(), name="other", settings="{}", clock=store.clock))
    question = other.take("ann").questions[0]
    with pytest.raises(ParameterError, match="was not asked"):
        desk.answer("ann", question.id, key=new_key(), gain=1)


@pytest.mark.parametrize("key", ["", " "])
def test_an_empty_key_is_refused(desk_of, key: str) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    with pytest.raises(ParameterError, match="key"):
        desk.answer("ann", question.id, key=key, gain=1)
    with pytest.raises(ParameterError, match="key"):
        desk.skip("ann", question.id, key=key)


@pytest.mark.parametrize("text", ["a\0b", "half \ud83c of a note"])
def test_text_that_not_every_database_can_keep_is_refused(desk_of, store: Store, text: str) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    events = store.last_sequence
    for attempt in (
        lambda: desk.answer("ann", question.id, key=new_key(), gain=1, text=text),
        lambda: desk.answer("ann", question.id, key=text, gain=1),
        lambda: desk.answer("ann", text, key=new_key(), gain=1),
        lambda: desk.comment("ann", text),
        lambda: desk.take(text),
    ):
        with pytest.raises(ParameterError, match="NUL"):
            attempt()
    assert store.last_sequence == events
    desk.comment("ann", "ünï ♪ 🎵")
    assert store.log().of_kind("commented")["text"].to_list() == ["ünï ♪ 🎵"]


def test_a_key_of_something_else_is_refused_instead_of_losing_the_answer(desk_of, store: Store) -> None:
    desk = desk_of()
    first, second = desk.take("ann").questions
    theirs = desk.take("bob").questions[0]
    desk.answer("ann", first.id, key="1", gain=1)
    for who, id in (("ann", second.id), ("bob", theirs.id)):
        with pytest.raises(ParameterError, match="something else"):
            desk.answer(who, id, key="1", gain=1)
    # The id of a question is no key either.
    with pytest.raises(ParameterError, match="something else"):
        desk.answer("ann", second.id, key=second.id, gain=1)
    with pytest.raises(ParameterError, match="something else"):
        desk.skip("ann", second.id, key="1")
    assert store.log().answers.height == 1


def test_comments_stay(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann").questions[0]
    desk.comment("ann", "too quiet", id=question.id, key="c")
    desk.comment("ann", "too quiet", id=question.id, key="c")
    desk.comment("ann", "thanks")
    assert store.log().of_kind("commented").select("document", "text").rows() == [("d0", "too quiet"), (None, "thanks")]


def test_answers_from_a_file_need_no_lease(desk_of, store: Store) -> None:
    desk = desk_of(2)
    assert record(desk, "ann", "d1", gain=2, source="old.csv").status == "saved"
    assert record(desk, "ann", "d1", gain=1, source="new.csv").status == "corrected"
    assert record(desk, "ann", "unknown", gain=1) is None, "no system retrieved it"
    with pytest.raises(ParameterError, match="scale"):
        record(desk, "ann", "d0", gain=7)
    assert store.log().answers["gain"].to_list() == [1.0]
    assert documents_of(desk, "ann", ahead=1) == ["d0"]
    assert documents_of(desk, "bob", ahead=1) == []


# ---- several judgments -----------------------------------------------------------------------------------------------


def test_nobody_gets_an_item_twice(desk_of) -> None:
    desk = desk_of(3, judgments_per_item=3)
    for who in ("ann", "bob", "cem"):
        assert sorted(judge(desk, who, times=3)) == ["d0", "d1", "d2"]
        assert desk.take(who).reason == "done"
    assert desk.take("dora").reason == "done"


def test_k_people_answer_each_item(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=2)
    held = {who: desk.take(who).questions for who in ("ann", "bob", "cem")}
    assert [len(some) for some in held.values()] == [1, 1, 0]
    for who in ("ann", "bob"):
        desk.answer(who, held[who][0].id, key=new_key(), gain=1)
    assert desk.take("cem").reason == "done"
    assert store.log().answers.height == 2


def test_items_that_have_an_answer_come_before_new_ones(desk_of) -> None:
    desk = desk_of(4, judgments_per_item=2)
    judge(desk, "ann", times=2)
    assert documents_of(desk, "bob", ahead=2) == ["d0", "d1", "d2"]


def test_more_people_where_answers_disagree_and_no_more_than_the_limit(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=2, more_on_disagreement=2)
    judge(desk, "ann", 0)
    judge(desk, "bob", 2)
    # One at a time: the next answer may settle it.
    third = desk.take("cem").questions[0]
    assert desk.take("dora").reason == "wait"
    desk.answer("cem", third.id, key=new_key(), gain=1)
    judge(desk, "dora", 1)
    assert desk.take("eve").reason == "done"
    assert store.log().answers.height == 4


def test_no_more_people_where_answers_agree(desk_of) -> None:
    desk = desk_of(1, judgments_per_item=2, more_on_disagreement=2)
    judge(desk, "ann", 1)
    judge(desk, "bob", 2)
    assert desk.take("cem").reason == "done"


def test_consecutive_questions_of_one_query(store: Store, desk_of) -> None:
    desk = desk_of(0, group_by_query=True)
    items = [(query, f"{query}{number}") for number in range(3) for query in ("x", "y")]
    desk.add_questions(pl.DataFrame(items, schema=["query", "document"], orient="row"))
    desk.propose_next([(query, document, "", False) for query, document in items])
    assert judge(desk, "ann", times=6) == ["x0", "x1", "x2", "y0", "y1", "y2"]


def test_questions_of_one_query_come_together_where_nothing_is_proposed(store: Store, desk_of) -> None:
    desk = desk_of(0, group_by_query=True)
    items = [(query, f"{query}{number}") for number in range(3) for query in ("x", "y")]
    desk.add_questions(pl.DataFrame(items, schema=["query", "document"], orient="row"))
    assert judge(desk, "ann", times=2) == ["x0", "x1"]
    # A proposal about another query goes before what nobody proposed.
    desk.propose_next([("y", "y2", "", False)])
    assert judge(desk, "ann", times=4) == ["y2", "y0", "y1", "x2"]


def test_without_grouping_the_order_of_proposals_holds(desk_of) -> None:
    desk = desk_of(4)
    desk.propose_next([("q", document, "", False) for document in ("d3", "d1")])
    assert judge(desk, "ann", times=4) == ["d3", "d1", "d0", "d2"]


def test_a_cap_of_answers_per_assessor(desk_of) -> None:
    desk = desk_of(6, answers_per_assessor=3)
    held = desk.take("ann", ahead=9)
    assert len(held.questions) == 3
    for one in held.questions:
        desk.answer("ann", one.id, key=new_key(), gain=1)
    assert desk.take("ann").reason == "enough"
    assert len(desk.take("bob", ahead=9).questions) == 3


# ---- rejection -------------------------------------------------------------------------------------------------------


def test_questions_of_a_rejected_assessor_are_asked_again_first(desk_of, store: Store) -> None:
    desk = desk_of(6)
    judge(desk, "ann", times=2)
    held = desk.take("ann", ahead=0).questions[0]
    desk.reject("ann", "answers at random")
    desk.reject("ann", "answers at random")
    assert desk.take("ann").reason == "rejected"
    assert store.log().judgments(BROAD) is None
    assert store.log().of_kind("rejected").height == 1
    assert documents_of(desk, "bob", ahead=3) == ["d0", "d1", held.document, "d3"]


def test_answers_of_a_rejected_assessor_are_kept_and_do_not_count(desk_of, store: Store) -> None:
    desk = desk_of(2)
    question = desk.take("ann", ahead=0).questions[0]
    desk.reject("ann", "")
    desk.answer("ann", question.id, key=new_key(), gain=2)
    assert store.log().answers.height == 0
    assert documents_of(desk, "bob") == ["d0"]


def test_a_reinstated_assessor_counts_again(desk_of, store: Store) -> None:
    desk = desk_of(2)
    judge(desk, "ann", 2)
    desk.reject("ann", "")
    judge(desk, "bob", 0)
    desk.reinstate("ann", "a mistake")
    assert sorted(store.log().answers["gain"]) == [0.0, 2.0]
    assert question_row(store, "d0")["answers"] == 2
    assert documents_of(desk, "ann") == ["d1"]


def test_a_rejected_assessor_cannot_hold_questions_by_undo(desk_of) -> None:
    desk = desk_of(1)
    question = desk.take("ann").questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=1)
    desk.reject("ann", "")
    with pytest.raises(ParameterError, match="no new answer"):
        desk.undo("ann", question.id)
    assert documents_of(desk, "bob") == ["d0"]


def test_rejecting_leaves_the_order_of_what_others_gave_back(desk_of) -> None:
    desk = desk_of(3)
    desk.take("ann", ahead=0)
    desk.give_back("ann")
    desk.take("bob", ahead=1)
    desk.give_back("bob")
    assert documents_of(desk, "ann") == ["d0"]
    desk.give_back("ann")
    # d1 came back before d0 did; that ann once held d0 and gave it back has nothing to do with rejecting her.
    desk.reject("ann", "")
    assert documents_of(desk, "cem", ahead=2) == ["d1", "d0", "d2"]


# ---- what does not play ----------------------------------------------------------------------------------------------


def report(desk, assessor: str, **said):
    question = desk.take(assessor, ahead=0).questions[0]
    desk.report_unplayable(assessor, question.id, key=new_key(), **said)
    return question


def test_a_document_leaves_after_enough_different_reports(desk_of, store: Store) -> None:
    desk = desk_of(2)
    first = report(desk, "ann", text="only noise")
    desk.report_unplayable("ann", first.id, key=new_key())
    assert not question_row(store, "d0")["removed"]
    assert report(desk, "bob").document == "d0"
    assert question_row(store, "d0")["removed"]
    removed = store.log().of_kind("removed").row(0, named=True)
    assert (removed["document"], removed["query"], removed["gain"]) == ("d0", None, None)
    assert "2 assessors" in removed["text"]
    assert documents_of(desk, "cem") == ["d1"]


def test_a_document_that_somebody_judged_never_leaves(desk_of, store: Store) -> None:
    desk = desk_of(1, judgments_per_item=4)
    judge(desk, "ann", 0)
    report(desk, "bob")
    report(desk, "cem")
    assert not question_row(store, "d0")["removed"]
    assert documents_of(desk, "dora") == ["d0"]


def test_an_answer_that_does_not_count_does_not_keep_a_document(desk_of, store: Store) -> None:
    desk = desk_of(1)
    judge(desk, "ann", 0)
    desk.reject("ann", "answers without listening")
    report(desk, "bob")
    report(desk, "cem")
    assert question_row(store, "d0")["removed"]


def test_reports_of_a_rejected_assessor_do_not_count(desk_of, store: Store) -> None:
    desk = desk_of(1)
    report(desk, "ann")
    late = desk.take("bob", ahead=0).questions[0]
    for who in ("ann", "bob"):
        desk.reject(who, "answers without listening")
    desk.report_unplayable("bob", late.id, key=new_key())
    report(desk, "cem")
    assert not question_row(store, "d0")["removed"]
    report(desk, "dora")
    assert question_row(store, "d0")["removed"]
    assert store.log().of_kind("removed")["text"].to_list() == ["does not play, as 2 assessors reported"]


def test_reports_about_different_things_do_not_add_up(desk_of, store: Store) -> None:
    desk = desk_of(1, pairs=True)
    report(desk, "ann", what="document")
    report(desk, "bob", what="other", text="silent")
    report(desk, "cem", what="query")
    assert store.log().of_kind("removed").height == 0
    report(desk, "dora", what="other")
    assert store.log().of_kind("removed")["document"].to_list() == ["b0"]


def test_a_query_that_does_not_play_leaves(desk_of, store: Store) -> None:
    desk = desk_of(3)
    report(desk, "ann", what="query")
    report(desk, "bob", what="query")
    assert store.log().of_kind("removed").select("query", "document").rows() == [("q", None)]
    assert desk.take("cem").reason == "done"


def test_what_was_removed_comes_back_at_its_place(desk_of) -> None:
    desk = desk_of(3)
    desk.remove("no licence", document="d0")
    desk.remove("a mistake", query="q", document="d1")
    assert documents_of(desk, "ann") == ["d2"]
    desk.restore("licence", document="d0")
    desk.restore("no mistake", query="q", document="d1")
    assert documents_of(desk, "bob", ahead=2) == ["d0", "d1"]
    with pytest.raises(ParameterError, match="name a system"):
        desk.remove("nothing")


def test_what_left_by_itself_does_not_come_back_with_something_else(desk_of) -> None:
    desk = desk_of(4)
    desk.remove("no licence", document="d0")
    desk.remove("a mistake", query="q", document="d1")
    desk.remove("does not play", query="q")
    desk.remove("does not play", document="d2")
    assert desk.take("ann").reason == "done"
    desk.restore("plays now", document="d2")
    assert desk.take("ann").reason == "done"
    desk.restore("plays now", query="q")
    assert documents_of(desk, "ann", ahead=3) == ["d2", "d3"]
    desk.restore("licence", document="d0")
    assert documents_of(desk, "bob", ahead=3) == ["d0"]
    desk.add_questions(pl.DataFrame({"query": ["r"], "document": ["d1"]}))
    assert documents_of(desk, "cem", ahead=9) == ["d1"]


def test_a_system_that_leaves_takes_no_question_with_it(desk_of, store: Store) -> None:
    desk = desk_of(1)
    desk.remove("withdrawn by its authors", system="A")
    assert documents_of(desk, "ann") == ["d0"]
    assert store.log().of_kind("removed")["system"].to_list() == ["A"]


def test_questions_that_come_late_about_a_removed_document_are_not_asked(desk_of, store: Store) -> None:
    desk = desk_of(1)
    desk.remove("does not play", document="d9")
    desk.add_questions(pl.DataFrame({"query": ["q", "q"], "document": ["d9", "d8"]}))
    assert documents_of(desk, "ann", ahead=2) == ["d0", "d8"]


# ---- the same sound --------------------------------------------------------------------------------------------------


def test_the_same_sound_is_asked_once_and_answers_both(desk_of, store: Store) -> None:
    desk = desk_of(3, same_as={"d2": "d0"})
    assert judge(desk, "ann", 2, times=2) == ["d0", "d1"]
    assert desk.take("ann").reason == "done"
    told = store.log().answers.select("document", "gain", "source").sort("document").rows()
    assert told == [("d0", 2.0, None), ("d1", 2.0, None), ("d2", 2.0, "same sound as d0")]


def test_corrections_and_withdrawals_are_about_both(desk_of, store: Store) -> None:
    desk = desk_of(2, same_as={"d1": "d0"})
    question = desk.take("ann").questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    desk.answer("ann", question.id, key=new_key(), gain=1)
    assert store.log().answers["gain"].to_list() == [1.0, 1.0]
    desk.undo("ann", question.id)
    assert store.log().answers.height == 0
    desk.answer("ann", question.id, key=new_key(), gain=0)
    assert store.log().answers["gain"].to_list() == [0.0, 0.0]


def test_the_twin_is_asked_where_the_first_document_leaves(desk_of, store: Store) -> None:
    desk = desk_of(3, same_as={"d1": "d0", "d2": "d0"})
    report(desk, "ann")
    report(desk, "bob")
    # Who reported the first document may hear its twin.
    assert judge(desk, "ann", 2) == ["d1"]
    told = store.log().answers.select("document", "gain", "source").sort("document").rows()
    assert told == [("d0", 2.0, "same sound as d1"), ("d1", 2.0, None), ("d2", 2.0, "same sound as d1")]
    desk.restore("plays now", document="d0")
    assert desk.take("cem").reason == "done"


def test_an_answered_sound_is_not_asked_again_when_its_document_leaves(desk_of, store: Store) -> None:
    desk = desk_of(2, same_as={"d1": "d0"}, judgments_per_item=2)
    question = desk.take("ann").questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    desk.remove("no licence", document="d0")
    assert desk.take("ann").reason == "done"
    assert judge(desk, "bob", 1) == ["d1"]
    assert desk.take("cem").reason == "done"
    # A correction is about both documents still.
    desk.answer("ann", question.id, key=new_key(), gain=0)
    told = store.log().answers.filter(pl.col("assessor") == "ann").select("document", "gain").sort("document").rows()
    assert told == [("d0", 0.0), ("d1", 0.0)]
    check_rebuild(desk)


def test_proposing_the_same_sound_proposes_the_question_about_it(desk_of) -> None:
    desk = desk_of(3, same_as={"d2": "d1"})
    assert desk.propose_next([("q", "d2", "", True)]) == 1
    assert documents_of(desk, "ann") == ["d1"]


# ---- proposals -------------------------------------------------------------------------------------------------------


def test_pending_work_is_known(desk_of, store: Store, clock) -> None:
    desk = desk_of()
    first, _ = desk.take("ann").questions
    assert sorted(pending(store)) == [("q", "d0", ""), ("q", "d1", "")]
    desk.answer("ann", first.id, key=new_key(), gain=1)
    assert pending(store) == [("q", "d1", "")]
    clock.pass_minutes(10)
    assert pending(store) == []


def test_proposals_are_replaced_while_some_are_out(desk_of, store: Store) -> None:
    desk = desk_of(6)
    assert desk.propose_next([("q", "d5", "", True), ("q", "d4", "", False), ("q", "d3", "", False)]) == 3
    held = desk.take("ann", ahead=0).questions[0]
    assert held.document == "d5"
    # What is out is not proposed again; unknown items are left out.
    assert desk.propose_next([("q", "d5", "", True), ("q", "d2", "", False), ("q", "unknown", "", False)]) == 1
    assert documents_of(desk, "bob", ahead=1) == ["d2", "d0"]
    desk.answer("ann", held.id, key=new_key(), gain=1)
    assert store.log().answers["sampled"].to_list() == [True]


def test_old_proposals_return_to_their_place(desk_of) -> None:
    desk = desk_of(4)
    desk.propose_next([("q", "d0", "", False)])
    desk.propose_next([])
    assert documents_of(desk, "ann", ahead=3) == ["d0", "d1", "d2", "d3"]


def test_questions_are_added_once(desk_of) -> None:
    desk = desk_of(2)
    frame = pl.DataFrame({"query": ["q", "q", "q"], "document": ["d1", "d7", "d7"]})
    assert desk.add_questions(frame) == 1
    assert desk.add_questions(frame) == 0
    assert documents_of(desk, "ann", ahead=9) == ["d0", "d1", "d7"]


# ---- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["paused", "stopped", "closed"])
def test_no_questions_unless_the_campaign_is_open(desk_of, store: Store, state) -> None:
    desk = desk_of()
    held = desk.take("ann", ahead=0).questions
    desk.set_state(state, "for a while")
    desk.set_state(state, "for a while")
    assert desk.take("bob").reason == state
    # What is out may be finished, until the campaign is closed.
    assert desk.take("ann", ahead=1).questions == (() if state == "closed" else held)
    status = desk.answer("ann", held[0].id, key=new_key(), gain=1).status
    assert status == ("late" if state == "closed" else "saved")
    desk.set_state("open")
    assert desk.take("bob").questions
    kinds = [state, "opened" if state == "closed" else "resumed"]
    assert store.log().of_kind("paused", "stopped", "closed", "opened", "resumed")["kind"].to_list() == kinds
    assert store.row["state"] == "open"


def test_no_answer_changes_after_the_end(desk_of, store: Store) -> None:
    desk = desk_of()
    question = desk.take("ann", ahead=0).questions[0]
    desk.answer("ann", question.id, key=new_key(), gain=2)
    desk.set_state("closed")
    assert desk.answer("ann", question.id, key=new_key(), gain=0).status == "late"
    with pytest.raises(ParameterError, match="no new answer"):
        desk.undo("ann", question.id)
    assert store.log().answers["gain"].to_list() == [2.0]
    assert question_row(store, "d0")["answers"] == 1
    # Who withdraws what they said may always do so.
    desk.withdraw("ann", question.id)
    assert store.log().answers.height == 0


# ---- preferences -----------------------------------------------------------------------------------------------------


def test_each_side_comes_first_equally_often(desk_of) -> None:
    desk = desk_of(40, pairs=True)
    sides = [one.swapped for one in desk.reserve("ann", 40).questions]
    pairs = list(zip(sides[::2], sides[1::2], strict=True))
    assert all(first != second for first, second in pairs)
    # Which of them comes first is drawn.
    assert {first for first, _ in pairs} == {True, False}


def test_a_choice_names_the_document_whichever_was_shown_first(desk_of, store: Store) -> None:
    desk = desk_of(2, pairs=True)
    for one in desk.take("ann").questions:
        desk.answer("ann", one.id, key=new_key(), choice="a", strength=0.5)
    told = store.log().answers.select("document", "other", "choice", "strength").rows()
    assert sorted(told) == [("a0", "b0", "a", 0.5), ("a1", "b1", "a", 0.5)]


@pytest.mark.parametrize("choice", ["c", None, "same"])
def test_other_choices_are_refused(desk_of, choice) -> None:
    desk = desk_of(1, pairs=True, allow_same=False)
    with pytest.raises(ParameterError, match="a or b"):
        desk.answer("ann", desk.take("ann").questions[0].id, key=new_key(), choice=choice)


def test_preferences_disagree_too(desk_of) -> None:
    desk = desk_of(1, pairs=True, judgments_per_item=2, more_on_disagreement=1)
    for who, choice in (("ann", "a"), ("bob", "b")):
        desk.answer(who, desk.take(who).questions[0].id, key=new_key(), choice=choice)
    desk.answer("cem", desk.take("cem").questions[0].id, key=new_key(), choice="b")
    assert desk.take("dora").reason == "done"


# ---- cost ------------------------------------------------------------------------------------------------------------


def test_a_call_needs_few_statements(desk_of, store: Store) -> None:
    desk = desk_of(30, judgments_per_item=3, trap_every=3)
    said: list[str] = []

    def note(_connection, _cursor, statement, *_) -> None:
        said.append(statement)

    sa.event.listen(store.database.engine, "before_cursor_execute", note)
    for number in range(45):
        who = f"p{number % 3}"
        # The first call gives two questions, and the assessor joins.
        said.clear()
        question = desk.take(who).questions[0]
        assert number < 3 or len(said) <= 12, said
        said.clear()
        desk.answer(who, question.id, key=new_key(), gain=1)
        assert len(said) <= 12, said
