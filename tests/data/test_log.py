"""The log of answers: what is derived from it, whatever the order in which things came in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.judgments import Judgments, current_answers
from earmark.data.log import KINDS, SCHEMA, AnswerLog
from earmark.data.scales import BROAD, FINE
from earmark.errors import InputError, ParameterError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def answered(document: str, gain: float, assessor: str | None = "ann", **more: object) -> dict[str, object]:
    return {"kind": "answered", "query": "q", "document": document, "gain": gain, "assessor": assessor, **more}


def gains(log: AnswerLog) -> dict[tuple[str, str | None], float]:
    return {(document, who): gain for document, who, gain in log.answers.select("document", "assessor", "gain").rows()}


def test_an_empty_log_says_nothing():
    log = AnswerLog()
    assert len(log) == log.position == 0
    assert log.judgments(FINE) is None
    assert log.pending(NOON).is_empty()
    assert list(log.frame.columns) == list(SCHEMA)


def test_the_same_assessors_later_answer_replaces_the_earlier_and_others_are_kept():
    log = AnswerLog().with_events(answered("d", 10), answered("d", 80, "bob"), answered("d", 30))
    assert gains(log) == {("d", "ann"): 30, ("d", "bob"): 80}
    assert len(log) == 3, "nothing is ever removed"
    assert log.position == 2


def test_a_log_is_append_only_and_numbers_its_events():
    first = AnswerLog().with_events(answered("a", 1))
    second = first.with_events(answered("b", 2), answered("c", 3))
    assert len(first) == 1
    assert second.frame["sequence"].to_list() == [1, 2, 3]
    assert second.digest != first.digest


def test_withdrawing_takes_earlier_answers_back_and_not_later_ones():
    log = AnswerLog().with_events(
        answered("a", 1),
        answered("b", 2),
        {"kind": "withdrawn", "query": "q", "document": "a", "assessor": "ann"},
    )
    assert gains(log) == {("b", "ann"): 2}
    assert gains(log.with_events(answered("a", 5))) == {("b", "ann"): 2, ("a", "ann"): 5}
    everything = log.with_events({"kind": "withdrawn", "assessor": "ann"}, answered("c", 7))
    assert gains(everything) == {("c", "ann"): 7}


def test_rejected_assessors_do_not_count_until_they_are_reinstated():
    log = AnswerLog().with_events(answered("a", 1), answered("a", 9, "bob"), {"kind": "rejected", "assessor": "bob"})
    assert log.rejected == {"bob"}
    assert gains(log) == {("a", "ann"): 1}
    back = log.with_events({"kind": "reinstated", "assessor": "bob"})
    assert gains(back) == {("a", "ann"): 1, ("a", "bob"): 9}


def test_questions_are_out_until_answered_skipped_or_expired():
    def asked(document: str, minutes: int) -> dict[str, object]:
        return {
            "kind": "asked",
            "query": "q",
            "document": document,
            "assessor": "ann",
            "time": NOON,
            "expires": NOON + timedelta(minutes=minutes),
        }

    log = AnswerLog().with_events(asked("a", 10), asked("b", 10), asked("c", 1), asked("d", 10))
    log = log.with_events(answered("a", 3), {"kind": "skipped", "query": "q", "document": "d", "assessor": "ann"})
    assert log.pending(NOON)["document"].to_list() == ["b", "c"]
    assert log.pending(NOON + timedelta(minutes=2))["document"].to_list() == ["b"]
    again = log.with_events(asked("a", 20))
    assert again.pending(NOON)["document"].sort().to_list() == ["a", "b", "c"]


def test_an_event_with_a_known_key_is_added_once():
    log = AnswerLog().with_events(answered("a", 1, key="k1"), answered("b", 2, key="k1"))
    assert len(log) == 1
    log = log.with_events(answered("a", 1, key="k1"), answered("a", 2, key="k2"))
    assert gains(log) == {("a", "ann"): 2}
    assert len(log) == 2


def test_choices_between_two_documents_are_answers_too():
    pair = {"kind": "answered", "query": "q", "document": "a", "other": "b", "assessor": "ann", "strength": 2.0}
    log = AnswerLog().with_events({**pair, "choice": "a"}, {**pair, "choice": "b"}, answered("a", 4))
    assert log.answers.filter(pl.col("other").is_not_null())["choice"].to_list() == ["b"]
    judgments = log.judgments(FINE)
    assert judgments is not None
    assert judgments.frame["gain"].to_list() == [4]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"kind": "guessed"}, "one of asked, answered"),
        ({"kind": "answered", "query": "q", "document": "d"}, "a gain or a choice"),
        ({"kind": "answered", "document": "d", "gain": 1.0}, "query of every event 'answered'"),
        ({"kind": "answered", "query": "q", "document": "d", "choice": "a"}, "two documents in every choice"),
        ({"kind": "rejected"}, "assessor of every event 'rejected'"),
        ({"kind": "changed"}, "text of every event 'changed'"),
    ],
)
def test_what_is_no_event_is_refused(event, message):
    with pytest.raises(InputError, match=message):
        AnswerLog().with_events(event)


def test_an_unknown_field_is_refused():
    with pytest.raises(ParameterError, match="an event has no 'colour'"):
        AnswerLog().with_events({"kind": "invited", "assessor": "ann", "colour": "red"})


def test_every_kind_is_documented():
    import earmark.data.log as module

    assert all(f"``{kind}``" in (module.__doc__ or "") for kind in KINDS)


ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(0, 2), st.sampled_from(["ann", "bob", None]), st.none() | st.integers(0, 5)
    ),
    min_size=1,
    max_size=12,
)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows, random):
    def log_of(some: list) -> AnswerLog:
        names = ["document", "gain", "assessor", "sequence"]
        types = {"document": pl.String, "gain": pl.Float64, "assessor": pl.String, "sequence": pl.Int64}
        frame = pl.DataFrame([dict(zip(names, row, strict=True)) for row in some], schema=types)
        return AnswerLog().with_table(frame.with_columns(query=pl.lit("q"), kind=pl.lit("answered")))

    mixed = list(rows)
    random.shuffle(mixed)
    one, other = log_of(rows), log_of(mixed)
    assert one.answers.equals(other.answers)
    assert one.digest == other.digest
    half = len(mixed) // 2
    parts = [log_of(part) for part in (mixed[:half], mixed[half:]) if part]
    assert AnswerLog(tuple(chunk for part in parts for chunk in part.chunks)).answers.equals(one.answers)


def test_judgments_become_a_log_and_come_back():
    frame = pl.DataFrame({"query": ["q", "q"], "document": ["b", "a"], "gain": [1, -1], "sampled": [True, False]})
    log = AnswerLog.from_judgments(Judgments.from_frame(frame, scale=BROAD), source="file.csv")
    assert log.frame["source"].to_list() == ["file.csv"], "negative gains mean unjudged"
    back = log.judgments(BROAD)
    assert back is not None
    assert back.frame.select("query", "document", "gain", "sampled").rows() == [("q", "b", 1.0, True)]
    with pytest.raises(InputError, match="scale"):
        AnswerLog().with_events(answered("a", 55)).judgments(BROAD)


def test_the_order_of_answers_travels_with_judgments():
    log = AnswerLog().with_events(answered("b", 1), answered("a", 2))
    out = log.judgments(FINE)
    assert out is not None
    again = AnswerLog.from_judgments(out)
    assert again.answers["document"].to_list() == ["b", "a"]
    assert again.answers["known"].all()
    shuffled = Judgments.from_frame(out.frame.reverse(), scale=FINE)
    assert AnswerLog.from_judgments(shuffled).answers["document"].to_list() == ["b", "a"]


def test_times_order_answers_where_there_is_no_sequence():
    said = {"query": ["q"] * 3, "document": ["d"] * 3, "gain": [3.0, 1.0, 2.0]}
    times = ["2026-05-01T12:00:00Z", "2026-05-03T12:00:00Z", "2026-05-02T12:00:00Z"]
    frame = pl.DataFrame({**said, "time": times})
    assert current_answers(frame)["gain"].to_list() == [1.0]
    assert current_answers(frame.drop("time"))["gain"].to_list() == [3.0], "nothing tells: the larger gain"
    assert Judgments.from_frame(frame, scale=FINE).replaced == 2


def test_long_logs_are_quick_to_extend():
    log = AnswerLog()
    for number in range(200):
        log = log.with_events(answered(f"d{number}", number % 100))
    assert log.position == 200
    assert np.array_equal(log.frame["sequence"].to_numpy(), np.arange(1, 201))
