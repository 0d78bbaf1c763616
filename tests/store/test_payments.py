"""Paid work in the store: sittings, and what the log says was done in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns_made import make_folder
from clocks import Clock
from desks import add_trap, new_key

from earmark.errors import ParameterError
from earmark.store.desk import Desk
from earmark.store.folder import CampaignFolder
from earmark.store.links import has_only_ended_links, link_for, revoke, sitting_link
from earmark.store.payments import (
    AnswersLeft,
    answers_left,
    budget_of,
    payments_of,
    settle_bonuses,
    settle_decisions,
)
from earmark.store.people import erase
from earmark.store.sittings import Sitting, SittingStore, begin_sitting, current_sitting, list_sittings, set_ended

Begin = Callable[..., Sitting]


@pytest.fixture
def folder(empty_url: str, tmp_path: Path, clock: Clock) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, clock=clock, judging={"scale": "broad"}) as made:
        yield made.rewrite_settings({"recruiting.answers_per_assignment": 2, "recruiting.reward": 1.0})


@pytest.fixture
def begin(folder: CampaignFolder) -> Begin:
    def act(worker: str, assignment: str, platform: str = "mturk", **how: Any) -> Sitting:
        return folder.store.write(
            lambda change: begin_sitting(change, platform, worker=worker, assignment=assignment, **how)
        )

    return act


def answer(folder: CampaignFolder, assessor: str, gain: float = 1.0, times: int = 1) -> None:
    for _ in range(times):
        question = folder.desk.take(assessor, ahead=0).questions[0]
        folder.desk.answer(assessor, question.id, key=new_key(), gain=gain)


def in_window(folder: CampaignFolder, sitting: Sitting, times: int = 1) -> None:
    """Answer in the window of a sitting, whichever sitting was the current one before."""
    desk = Desk(SittingStore.of(folder.store, sitting), folder.rules)
    for _ in range(times):
        question = desk.take(sitting.assessor, ahead=0).questions[0]
        desk.answer(sitting.assessor, question.id, key=new_key(), gain=1)


def decisions(folder: CampaignFolder) -> list[str]:
    return payments_of(folder).frame["decision"].to_list()


def now_in(folder: CampaignFolder, assessor: str) -> Sitting:
    store = folder.store
    found = store.read(lambda connection: current_sitting(connection, store.campaign, assessor))
    assert found is not None
    return found


def end(folder: CampaignFolder, assessor: str) -> None:
    folder.store.write(lambda change: set_ended(change, now_in(folder, assessor), True))


def test_a_worker_who_comes_back_is_the_same_person(folder: CampaignFolder, begin: Begin) -> None:
    one = begin("W1", "A1", study="H1", submit_to="https://www.mturk.com")
    assert (one.assignment, one.study, one.submit_to, one.answers_before) == ("A1", "H1", "https://www.mturk.com", 0)
    assert begin("W1", "A1") == Sitting(**{**vars(one), "submit_to": None})
    answer(folder, one.assessor, times=2)
    two = begin("W1", "A2")
    assert (two.assessor, two.answers_before) == (one.assessor, 2)
    assert now_in(folder, one.assessor) == two
    assert begin("W2", "A3").assessor != one.assessor
    assert begin("W1", "A1", "prolific").assessor != one.assessor


def test_an_assignment_that_two_workers_had(folder: CampaignFolder, begin: Begin) -> None:
    first, second = begin("W1", "A1"), begin("W2", "A1")
    assert first.assessor != second.assessor
    assert second.assignment == "A1"
    assert begin("W2", "A1") == second
    end(folder, second.assessor)
    assert now_in(folder, first.assessor).ended is None
    assert now_in(folder, second.assessor).ended is not None
    answer(folder, first.assessor)
    assert payments_of(folder).frame["decision"].to_list() == ["unfinished", "approve"]


def test_odd_ids_are_refused(begin: Begin) -> None:
    for worker, assignment in (("", "A"), ("W", ""), ("W" * 101, "A"), ("W\0", "A")):
        with pytest.raises(ParameterError):
            begin(worker, assignment)


def test_work_goes_to_the_sitting_in_which_it_was_done(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    one = begin("W1", "A1")
    clock.pass_minutes(1)
    answer(folder, one.assessor)
    clock.pass_minutes(1)
    begin("W1", "A2")
    clock.pass_minutes(1)
    answer(folder, one.assessor, times=2)
    end(folder, one.assessor)
    clock.pass_minutes(1)
    # The first is taken up again.
    begin("W1", "A1")
    clock.pass_minutes(0.5)
    answer(folder, one.assessor)
    end(folder, one.assessor)
    table = payments_of(folder).frame
    assert table.select("assignment", "answers", "decision").rows() == [("A1", 2, "approve"), ("A2", 2, "approve")]
    assert table["minutes"][1] == pytest.approx(1.0)


def test_answers_belong_to_the_window_in_which_they_were_given(
    folder: CampaignFolder, begin: Begin, clock: Clock
) -> None:
    four = folder.rewrite_settings({"recruiting.answers_per_assignment": 4})
    one = begin("W1", "A1")
    in_window(four, one, times=2)
    clock.pass_minutes(1)
    two = begin("W1", "A2")
    for sitting, minutes in ((two, 2.0), (one, 3.0)):
        # Two windows are open, and the first is used again after the second.
        clock.pass_minutes(minutes)
        in_window(four, sitting, times=2)
    table = payments_of(four).frame
    assert table.select("assignment", "answers", "decision").rows() == [("A1", 4, "approve"), ("A2", 2, "unfinished")]
    # No minute counts twice.
    assert table["minutes"].to_list() == pytest.approx([3.0, 2.0])
    assert (now_in(four, one.assessor).number, now_in(four, one.assessor).given(6)) == (1, 4)
    started = four.store.log().of_kind("started")
    assert started["text"].to_list() == ["1", "2", "1 in another window"]
    # The log says it without the platform's ids, so it stays true when they are erased.
    assert not any("A1" in str(row) or "W1" in str(row) for row in four.store.log().frame.rows())


def test_an_answer_that_is_taken_back_in_another_window_was_given_in_the_first(
    folder: CampaignFolder, begin: Begin
) -> None:
    one = begin("W1", "A1")
    question = folder.desk.take(one.assessor, ahead=0).questions[0]
    folder.desk.answer(one.assessor, question.id, key=new_key(), gain=1)
    desk = Desk(SittingStore.of(folder.store, begin("W1", "A2")), folder.rules)
    again = desk.undo(one.assessor, question.id, key=new_key())
    assert again is not None
    assert [work.answers for work in payments_of(folder).work] == [0, 0]
    desk.answer(one.assessor, again.id, key=new_key(), gain=1)
    assert [work.answers for work in payments_of(folder).work] == [0, 1]


def test_the_time_before_somebody_comes_does_not_count(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    one = begin("W1", "A1")
    clock.pass_minutes(1)
    answer(folder, one.assessor, times=2)
    clock.pass_minutes(60)
    begin("W1", "A2")
    clock.pass_minutes(2)
    answer(folder, one.assessor, times=2)
    assert payments_of(folder).frame["minutes"].to_list() == pytest.approx([1.0, 2.0])


def test_minutes_are_those_between_signs_of_life(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    one = begin("W1", "A1")
    clock.pass_minutes(2)  # reading and training
    question = folder.desk.take(one.assessor, ahead=0).questions[0]
    clock.pass_minutes(1.5)
    folder.desk.answer(one.assessor, question.id, key=new_key(), gain=1)
    clock.pass_minutes(120)  # away
    question = folder.desk.take(one.assessor, ahead=0).questions[0]
    clock.pass_minutes(0.5)
    folder.desk.answer(one.assessor, question.id, key=new_key(), gain=1)
    (found,) = payments_of(folder).work
    assert found.minutes == pytest.approx(2 + 1.5 + 5 + 0.5)
    assert (found.answers, found.finished) == (2, True)


def test_slow_questions_have_longer_breaks(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    slow = folder.rewrite_settings({"recruiting.seconds_per_answer": 120})
    one = begin("W1", "A1")
    clock.pass_minutes(60)
    answer(slow, one.assessor)
    assert payments_of(slow).work[0].minutes == pytest.approx(20)


def test_answers_taken_back_do_not_count_and_traps_count_once(
    folder: CampaignFolder, begin: Begin, clock: Clock
) -> None:
    one = begin("W1", "A1")
    question = folder.desk.take(one.assessor, ahead=0).questions[0]
    folder.desk.answer(one.assessor, question.id, key=new_key(), gain=1)
    clock.pass_minutes(1)
    again = folder.desk.undo(one.assessor, question.id, key=new_key())
    assert again is not None
    assert payments_of(folder).work[0].answers == 0
    folder.desk.answer(one.assessor, again.id, key=new_key(), gain=2)
    assert payments_of(folder).work[0].answers == 1


def test_who_fails_the_traps_is_rejected_with_the_reason(folder: CampaignFolder, begin: Begin) -> None:
    strict = folder.rewrite_settings(
        {"traps.rate": 0.5, "traps.reject_after": 2, "recruiting.answers_per_assignment": 4}
    )
    for number in range(6):
        add_trap(strict.desk, f"trap{number}", "document", "2", source="self")
    good, bad = begin("W1", "A1"), begin("W2", "A2")
    answer(strict, good.assessor, gain=2, times=4)
    while (taken := strict.desk.take(bad.assessor, ahead=0)).questions:
        strict.desk.answer(bad.assessor, taken.questions[0].id, key=new_key(), gain=0)
    assert taken.reason == "rejected"
    end(strict, bad.assessor)
    honest, cheat = payments_of(strict).work
    assert (honest.traps, honest.traps_right, honest.rejected) == (2, 2, None)
    assert cheat.traps_right == 0 < cheat.traps
    review = payments_of(strict).review("mturk")
    assert review["Approve"].to_list() == ["x", None]
    said = f"0 of {cheat.traps} control questions, whose answers are known, were right: fewer than 65%"
    assert review["Reject"].to_list() == [None, said]
    strict.desk.reinstate(bad.assessor, "it was our mistake")
    assert payments_of(strict).review("mturk")["Approve"].to_list() == ["x", "x"]
    strict.desk.reject(bad.assessor, "two accounts")
    assert payments_of(strict).frame["reason"].to_list() == ["", "two accounts"]


def test_pay_does_not_depend_on_gains(folder: CampaignFolder, begin: Begin) -> None:
    one, two = begin("W1", "A1"), begin("W2", "A2")
    answer(folder, one.assessor, gain=0, times=2)
    answer(folder, two.assessor, gain=2, times=2)
    names = ["answers", "traps", "minutes", "decision", "reason", "owed", "bonus"]
    rows = payments_of(folder).frame.select(names).rows()
    assert rows[0] == rows[1]


def test_who_was_at_work_when_the_campaign_ended_is_paid(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    early, late, idle = begin("W1", "A1"), begin("W2", "A2"), begin("W3", "A3")
    answer(folder, early.assessor)
    clock.pass_minutes(600)
    answer(folder, late.assessor)
    clock.pass_minutes(5)
    folder.desk.set_state("closed", "enough")
    assert payments_of(folder).frame["decision"].to_list() == ["unfinished", "approve", "unfinished"]
    assert idle.assessor


@pytest.mark.parametrize("before", ["stopped", "paused"])
def test_what_is_owed_stays_when_the_campaign_is_closed_later(
    folder: CampaignFolder, begin: Begin, clock: Clock, before: Any
) -> None:
    one = begin("W1", "A1")
    answer(folder, one.assessor)
    clock.pass_minutes(5)
    folder.desk.set_state(before, "enough")
    clock.pass_minutes(2 * 24 * 60)
    folder.desk.set_state("closed", "tidying up")
    assert decisions(folder) == ["approve"]
    folder.desk.set_state("open", "one more round")
    clock.pass_minutes(600)
    folder.desk.set_state("closed")
    assert decisions(folder) == ["approve"]


def test_a_pause_is_no_end(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    one = begin("W1", "A1")
    answer(folder, one.assessor)
    folder.desk.set_state("paused", "lunch")
    clock.pass_minutes(60)
    folder.desk.set_state("open")
    clock.pass_minutes(600)
    folder.desk.set_state("closed")
    assert decisions(folder) == ["unfinished"]


def test_files_list_what_is_new(folder: CampaignFolder, begin: Begin) -> None:
    one = begin("W1", "A1", study="H1")
    answer(folder, one.assessor, times=2)
    settle_decisions(folder, payments_of(folder))
    assert payments_of(folder).review("mturk").is_empty()
    assert payments_of(folder).review("mturk", every=True)["AssignmentId"].to_list() == ["A1"]
    two = begin("W2", "A2")
    answer(folder, two.assessor, times=2)
    folder.desk.reject(two.assessor, "did not listen")
    found = payments_of(folder)
    assert found.review("mturk").select("AssignmentId", "Reject").rows() == [("A2", "did not listen")]
    settle_decisions(folder, found)
    assert payments_of(folder).review("mturk").is_empty()
    # A rejection that is taken back is news.
    folder.desk.reinstate(two.assessor)
    assert payments_of(folder).review("mturk").select("AssignmentId", "Approve").rows() == [("A2", "x")]


def test_what_was_settled_as_approved_is_never_rejected(folder: CampaignFolder, begin: Begin) -> None:
    one = begin("W1", "A1")
    answer(folder, one.assessor, times=2)
    settle_decisions(folder, payments_of(folder))
    begin("W1", "A2")
    answer(folder, one.assessor, times=2)
    folder.desk.reject(one.assessor, "did not listen")
    # Nor does another reward change what was listed.
    richer = folder.rewrite_settings({"recruiting.reward": 5.0})
    found = payments_of(richer)
    assert found.frame.select("assignment", "decision", "owed").rows() == [
        ("A1", "approve", 1.0),
        ("A2", "reject", 0.0),
    ]
    assert found.review("mturk")["AssignmentId"].to_list() == ["A2"]
    assert found.summary()["new"] == 1


def test_a_bonus_is_listed_once(folder: CampaignFolder, begin: Begin, clock: Clock) -> None:
    paid = folder.rewrite_settings({"recruiting.hourly_rate": 60.0})
    one = begin("W1", "A1")
    clock.pass_minutes(2)
    answer(paid, one.assessor, times=2)
    found = payments_of(paid)
    assert found.bonuses("mturk")["BonusAmount"].to_list() == [1.0]
    settle_bonuses(paid, found)
    assert payments_of(paid).bonuses("mturk").is_empty()
    assert payments_of(paid).bonuses("mturk", every=True)["BonusAmount"].to_list() == [1.0]
    more = paid.rewrite_settings({"recruiting.hourly_rate": 75.0})
    assert payments_of(more).bonuses("mturk")["BonusAmount"].to_list() == [0.5]


def test_paid_work_has_one_link_until_it_is_revoked(folder: CampaignFolder, begin: Begin) -> None:
    one, two = begin("W1", "A1"), begin("W1", "A2")
    store = folder.store

    def link(sitting: Sitting, key: str = "mine") -> str:
        return store.write(lambda change: sitting_link(change, sitting.assessor, sitting.number, key=key).token)

    def ended() -> bool:
        return store.write(lambda change: has_only_ended_links(change, one.assessor))

    assert not ended()
    first = link(one)
    assert link(one) == first != link(two)
    assert link(one, "another") != first
    assert link(one) != first
    revoke(store, one.assessor)
    assert ended()
    store.write(lambda change: link_for(change, one.assessor))
    assert not ended()
    assert link(one) not in (first, link(two))


def test_whoever_is_erased_is_no_longer_in_the_table(folder: CampaignFolder, begin: Begin) -> None:
    one = begin("W1", "A1")
    answer(folder, one.assessor, times=2)
    erase(folder.store, one.assessor)
    assert payments_of(folder).work == ()
    found: list[Sitting] = folder.store.read(
        lambda connection: list_sittings(connection, folder.store.campaign, one.assessor)
    )
    assert found == []


def test_a_budget_for_all_that_is_left(folder: CampaignFolder, begin: Begin) -> None:
    store = folder.store

    def count(connection: sa.Connection) -> int:
        from earmark.store.schema import questions

        mine = sa.select(sa.func.count()).where(questions.c.campaign == store.campaign, ~questions.c.removed)
        return int(connection.execute(mine).scalar() or 0)

    every = store.read(count)
    # One answer cannot disagree with itself.
    assert answers_left(folder) == AnswersLeft(every, every)
    assert budget_of(folder).answers == every
    answer(folder, begin("W1", "A1").assessor, times=3)
    assert answers_left(folder) == AnswersLeft(every - 3, every - 3)
    more = folder.rewrite_settings(
        {"judging.judgments_per_item": 2, "judging.more_on_disagreement": 1, "traps.rate": 0.5}
    )
    assert answers_left(more) == AnswersLeft(2 * (2 * every - 3), 2 * (3 * every - 3))
    assert budget_of(more).answers == 2 * (3 * every - 3)
    # Of twenty questions three are begun.
    capped = more.rewrite_settings({"estimates.stop": "budget:20"})
    assert answers_left(capped) == AnswersLeft(2 * (2 * 20 - 3), 2 * (3 * 20 - 3), budget=20)
    over = capped.rewrite_settings({"estimates.stop": "budget:3"})
    assert answers_left(over) == AnswersLeft(0, 0, budget=3)
    assert budget_of(folder, 5).assignments == 3
    assert budget_of(folder, 5).cost == 3.0


def test_who_disagrees_brings_more_answers(folder: CampaignFolder) -> None:
    more = folder.rewrite_settings({"judging.judgments_per_item": 2, "traps.rate": 0, "estimates.stop": "budget:1"})
    assert answers_left(more) == AnswersLeft(2, 4, budget=1)
    for assessor, gain in (("ann", 0), ("bob", 2)):
        question = more.desk.take(assessor, ahead=0).questions[0]
        more.desk.answer(assessor, question.id, key=new_key(), gain=gain)
    all_of_it = more.rewrite_settings({"estimates.stop": "none"})
    left = answers_left(all_of_it)
    # Every other question needs two answers and may need four; the one that is disputed needs one and may need two.
    assert left.least % 2 == 1
    assert left.most == 2 * left.least


@pytest.mark.parametrize(("kind", "expected"), [("prefer", (8, 16)), ("lists", (4, 4)), ("order", (4, 4))])
def test_a_budget_counts_what_the_stop_rule_counts(tmp_path: Path, kind: str, expected: tuple[int, int]) -> None:
    how = {"judging": {"judgments_per_item": 2}, "estimates": {"stop": "budget:4"}, "traps": {"rate": 0}}
    with make_folder(tmp_path, kind=kind, **how) as made:
        assert answers_left(made) == AnswersLeft(*expected, budget=4)
