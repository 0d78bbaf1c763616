"""What paid people are owed: by finished work, traps and the organiser's decision, and by nothing else."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.budget import answers_needed, plan_budget
from earmark.crowd.payment import (
    Settled,
    Terms,
    Work,
    bonus_text,
    minutes_worked,
    pay,
    round_up,
    settle,
)
from earmark.errors import ParameterError

TERMS = Terms(answers=20, reward=2.0, currency="GBP", hourly_rate=12.0)


def work(worker: str = "w", assignment: str = "a", **how: object) -> Work:
    return Work(worker, assignment, **({"answers": 20, "minutes": 10.0} | how))  # type: ignore[arg-type]


def test_nothing_that_was_answered_is_known_to_payment() -> None:
    names = {field.name for field in dataclasses.fields(Work)}
    assert not names & {"gain", "gains", "choice", "choices", "system", "value"}


def test_finished_work_is_approved_and_paid_in_full() -> None:
    assert settle(work(), TERMS) == settle(work(traps=5, traps_right=0), TERMS)
    found = settle(work(), TERMS)
    assert (found.decision, found.owed, found.hourly, found.bonus) == ("approve", 2.0, 12.0, 0.0)


def test_a_rejected_worker_gets_the_reason() -> None:
    found = settle(work(rejected="1 of 9 control questions right"), TERMS)
    assert (found.decision, found.reason, found.owed, found.bonus) == ("reject", "1 of 9 control questions right", 0, 0)


def test_unfinished_work_is_neither() -> None:
    found = settle(work(answers=7, finished=False, rejected="why"), TERMS)
    assert (found.decision, found.reason, found.owed) == ("unfinished", "7 of 20 answers", 0.0)


def test_slow_work_needs_a_bonus() -> None:
    found = settle(work(minutes=15.0), TERMS)
    assert (found.owed, found.hourly, found.bonus) == (2.0, 8.0, 1.0)
    assert settle(work(minutes=10.001), TERMS).bonus == 0.01
    assert settle(work(minutes=15.0), Terms(reward=2.0)).bonus == 0.0
    assert settle(work(minutes=0.0), TERMS).hourly is None


@given(st.floats(0, 600), st.floats(0, 100), st.floats(0, 50))
def test_with_the_bonus_every_hour_is_paid_as_promised(minutes: float, reward: float, rate: float) -> None:
    found = settle(work(minutes=minutes), Terms(reward=reward, hourly_rate=rate))
    assert found.bonus >= 0
    assert found.owed + found.bonus >= rate * minutes / 60 - 1e-6
    # Nobody gets more than a cent too much.
    assert found.bonus == 0 or found.owed + found.bonus <= rate * minutes / 60 + 0.0101


def test_a_break_counts_as_five_minutes() -> None:
    assert minutes_worked([]) == minutes_worked([5.0]) == 0
    assert minutes_worked([0, 60, 90]) == 1.5
    assert minutes_worked([90, 0, 60, 90 + 7200]) == 1.5 + 5
    assert minutes_worked([0, 7200], longest=600) == 10


@given(st.lists(st.floats(0, 1e6), max_size=20))
def test_minutes_never_exceed_the_time_that_passed(moments: list[float]) -> None:
    found = minutes_worked(moments)
    assert 0 <= found <= (max(moments, default=0) - min(moments, default=0)) / 60 + 1e-6


def test_rounding_goes_up_but_not_by_the_last_bits() -> None:
    assert round_up(0.1 + 0.2) == 0.3
    assert round_up(0.301) == 0.31
    assert round_up(0.0) == 0.0


PAID = pay(
    [
        work("w1", "a1", study="h1", minutes=15.0),
        work("w2", "a2", study="h1", rejected='a reason, with a comma and "quotes"'),
        work("w3", "a3", answers=3, finished=False),
        work("w1", "a4", study="h2", minutes=12.0),
    ],
    TERMS,
)


def test_the_table_has_a_row_per_assignment_and_a_summary() -> None:
    assert PAID.frame["decision"].to_list() == ["approve", "reject", "unfinished", "approve"]
    told = PAID.summary()
    assert (told["workers"], told["assignments"]) == (3, 4)
    assert (told["approve"], told["reject"], told["unfinished"]) == (2, 1, 1)
    assert (told["owed"], told["bonus"], told["currency"]) == (4.0, 1.4, "GBP")
    assert told["hourly"] == pytest.approx(4.0 / 0.45)
    said = "4 assignments of 3 workers: 2 to approve, 1 to reject, 1 not finished; 4.00 GBP owed, 8.89 an hour"
    assert PAID.sentence().startswith(said)
    assert "1.40 more in bonuses would make it 12.00 an hour for everybody" in PAID.sentence()


def test_there_is_a_row_per_worker() -> None:
    table = PAID.workers
    assert table["worker"].to_list() == ["w1", "w2", "w3"]
    first, second, third = table.rows(named=True)
    counts = ("assignments", "approve", "reject", "unfinished", "answers")
    assert [first[name] for name in counts] == [2, 2, 0, 0, 40]
    assert (first["minutes"], first["owed"], first["bonus"]) == (27.0, 4.0, 1.4)
    assert first["hourly"] == pytest.approx(4.0 / 0.45)
    assert [second[name] for name in counts] == [1, 0, 1, 0, 20]
    assert (second["owed"], second["hourly"]) == (0.0, None)
    assert [third[name] for name in counts] == [1, 0, 0, 1, 3]
    assert table["owed"].sum() == PAID.summary()["owed"]
    assert pay([], TERMS).workers.schema == table.schema


def test_time_without_pay_is_no_part_of_the_hourly_rate() -> None:
    found = pay([work(minutes=10.0), work("w", "b", minutes=20.0, finished=False)], TERMS).workers
    assert found.select("minutes", "owed", "hourly").rows() == [(30.0, 2.0, 12.0)]


@given(st.booleans(), st.none() | st.just("why"), st.floats(0, 600), st.floats(0, 9))
def test_what_was_approved_stays_approved(finished: bool, why: str | None, minutes: float, bonus: float) -> None:
    before = Settled("approve", 1.5, bonus)
    found = settle(work(finished=finished, rejected=why, minutes=minutes, settled=before), TERMS)
    assert (found.decision, found.owed) == ("approve", 1.5)
    assert found.bonus >= bonus


def test_files_list_what_no_file_held() -> None:
    settled = pay(
        [
            work("w1", "a1", minutes=15.0, settled=Settled("approve", 2.0, 0.25)),
            work("w2", "a2", rejected="why", settled=Settled("reject")),
            work("w3", "a3", settled=Settled("reject")),
            work("w4", "a4", minutes=15.0),
            work("w5", "a5", finished=False),
        ],
        TERMS,
    )
    assert settled.review("mturk").select("AssignmentId", "Approve").rows() == [("a3", "x"), ("a4", "x")]
    assert settled.review("prolific", every=True)["submission_id"].to_list() == ["a1", "a2", "a3", "a4"]
    assert bonus_text(settled.bonuses("prolific"), "prolific") == "w1,0.75\nw4,1.00\n"
    assert bonus_text(settled.bonuses("prolific", every=True), "prolific") == "w1,1.00\nw4,1.00\n"
    assert settled.summary()["new"] == 2
    assert settled.sentence().endswith("; 2 decisions not in a file yet.")
    assert "not in a file" not in PAID.sentence()


def test_without_anybody() -> None:
    found = pay([], TERMS)
    assert found.frame.is_empty()
    assert found.summary()["hourly"] is None
    assert found.sentence() == "Nobody has come from a recruiting platform yet."
    assert found.review("mturk").write_csv() == "AssignmentId,WorkerId,HITId,Approve,Reject\n"
    assert bonus_text(found.bonuses("prolific"), "prolific") == ""


def test_the_review_of_mechanical_turk() -> None:
    table = PAID.review("mturk").write_csv()
    assert table.splitlines() == [
        "AssignmentId,WorkerId,HITId,Approve,Reject",
        "a1,w1,h1,x,",
        'a2,w2,h1,,"a reason, with a comma and ""quotes"""',
        "a4,w1,h2,x,",
    ]
    bonuses = bonus_text(PAID.bonuses("mturk"), "mturk")
    assert bonuses.splitlines() == ["WorkerId,AssignmentId,BonusAmount", "w1,a1,1.00", "w1,a4,0.40"]


def test_the_review_of_prolific() -> None:
    review = PAID.review("prolific")
    assert review.columns == ["participant_id", "submission_id", "decision", "reason"]
    assert review["decision"].to_list() == ["approve", "reject", "approve"]
    assert review["reason"][0] is None
    assert bonus_text(PAID.bonuses("prolific"), "prolific") == "w1,1.40\n"


def test_a_budget_counts_whole_assignments() -> None:
    found = plan_budget(TERMS, 401, seconds_per_answer=45)
    assert (found.answers, found.assignments, found.cost) == (401, 21, 42.0)
    assert found.minutes == pytest.approx(15.0)
    assert found.hours == pytest.approx(401 * 45 / 3600)
    assert found.hourly == pytest.approx(8.0)
    assert (found.fair_reward, found.missing) == (3.0, 1.0)
    assert plan_budget(Terms(reward=1.0), 0).missing == 0
    assert plan_budget(TERMS, 0).cost == 0


def test_traps_and_several_people_cost_answers() -> None:
    assert answers_needed(100) == 100
    assert answers_needed(100, per_item=2, trap_share=1 / 6) == 240
    assert answers_needed(0, per_item=3, trap_share=0.5) == 0


def test_wrong_terms_are_refused() -> None:
    with pytest.raises(ParameterError, match="1 answer or more, got 0"):
        Terms(answers=0)
    with pytest.raises(ParameterError, match="reward of 0 or more, got -1"):
        Terms(reward=-1)
    with pytest.raises(ParameterError, match="hourly rate of 0 or more, got inf"):
        Terms(hourly_rate=float("inf"))
    with pytest.raises(ParameterError, match="more than 0 seconds, got 0"):
        plan_budget(TERMS, 5, seconds_per_answer=0)
    with pytest.raises(ParameterError, match="0 or more, got -1"):
        plan_budget(TERMS, -1)


def test_the_schema_is_the_same_with_and_without_rows() -> None:
    assert pay([], TERMS).frame.schema == PAID.frame.schema
    assert PAID.frame.schema["minutes"] == pl.Float64
