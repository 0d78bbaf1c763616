"""Results of platforms: every answer is kept or counted, whatever the columns, the words and the encoding."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.platforms import MAPPINGS, ResultMapping, find_mapping
from earmark.crowd.question_files import package_questions
from earmark.crowd.results import ImportedResults, read_results
from earmark.errors import InputError, ParameterError

HEADER = "HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,RejectionTime,WorkTimeInSeconds"
ONE = HEADER + ",Input.query,Input.left,Input.right,Answer.choice,Answer.strength,Reject"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(*lines: str, name: str = "results.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\r\n" for line in lines).encode(encoding))
        return path

    return written


def task(
    worker: str, choice: str, *, a: str = "x", b: str = "y", status: str = "Approved", strength: str = "3", **more: str
) -> str:
    assignment = more.get("assignment", f"A{worker}{a}{b}")
    reject, rejection, seconds = more.get("reject", ""), more.get("rejection", ""), more.get("seconds", "12")
    return f"H,{assignment},{worker},{status},noon,{rejection},{seconds},q,{a},{b},{choice},{strength},{reject}"


def outcomes(found: ImportedResults) -> dict[str, int]:
    return {outcome: count for outcome, count, _ in found.report.to_polars().iter_rows() if count}


def choices(found: ImportedResults) -> list[tuple[Any, ...]]:
    return found.preferences.frame.select("assessor", "query", "a", "b", "choice", "strength").rows()


# One question a task


def test_every_answer_is_kept_or_left_out_for_a_reason(write: Callable[..., Path]) -> None:
    path = write(
        ONE,
        task("w1", "left"),
        task("w2", "RIGHT", status="Submitted", strength="5"),
        task("w3", "", strength=""),
        task("w4", "left", status="Rejected"),
        task("w5", "left", strength=""),
        task("w6", "same", strength="-"),
        task("w1", "right", a="y", b="x", assignment="again"),
        task("w7", "left", reject="answers at random"),
        task("w8", "left", rejection="noon"),
        task("w1", "", a="y", b="x", assignment="and again"),
    )
    found = read_results(path)
    assert choices(found) == [
        ("w1", "q", "x", "y", "a", 3.0),
        ("w2", "q", "x", "y", "b", 5.0),
        ("w6", "q", "x", "y", "same", 0.0),
        # A rejection that was taken back: the status says so.
        ("w8", "q", "x", "y", "a", 3.0),
    ]
    assert outcomes(found) == {"kept": 4, "rejected": 2, "no choice": 2, "no strength": 1, "answered before": 1}
    assert found.report.left_out.rows() == [
        (3, "w3", "q", "x", "y", "no choice"),
        (4, "w4", "q", "x", "y", "rejected"),
        (5, "w5", "q", "x", "y", "no strength"),
        (7, "w1", "q", "y", "x", "answered before"),
        (8, "w7", "q", "x", "y", "rejected"),
        (10, "w1", "q", "y", "x", "no choice"),
    ]
    assert str(found.report) == (
        "4 answers of 10 kept, from 10 rows; 2 left out: rejected; 2 left out: no choice; 1 left out: no strength; "
        "1 left out: answered before"
    )
    assert found.preferences.frame["seconds"].to_list() == [12.0] * 4
    kept = read_results(path, keep_rejected=True)
    assert outcomes(kept) == {"kept": 6, "no choice": 2, "no strength": 1, "answered before": 1}


def test_an_answer_that_was_left_out_does_not_stand_in_the_way_of_a_later_one(write: Callable[..., Path]) -> None:
    path = write(
        ONE, task("w", "", assignment="1"), task("w", "left", assignment="2"), task("w", "right", assignment="3")
    )
    assert choices(read_results(path)) == [("w", "q", "x", "y", "a", 3.0)]


def test_without_statuses_the_time_of_rejection_counts(write: Callable[..., Path]) -> None:
    header = "WorkerId,RejectionTime,Input.query,Input.left,Input.right,Answer.choice"
    path = write(header, "w1,,q,x,y,left", "w2,noon,q,x,y,right")
    found = read_results(path)
    assert choices(found) == [("w1", "q", "x", "y", "a", 1.0)]
    assert outcomes(found) == {"kept": 1, "rejected": 1}


words = st.sampled_from(["left", "right", "same", ""])
statuses = st.sampled_from(["Approved", "Submitted", "Rejected"])
strengths = st.sampled_from(["1", "5", ""])


@given(
    st.lists(
        st.tuples(st.sampled_from("uvw"), words, statuses, strengths, st.sampled_from(["xy", "yx", "xz"])),
        min_size=1,
        max_size=12,
    )
)
def test_the_numbers_add_up(tmp_path_factory: pytest.TempPathFactory, rows: Sequence[tuple[str, ...]]) -> None:
    path = tmp_path_factory.mktemp("results") / "results.csv"
    lines = [
        task(worker, choice, status=status, strength=strength, a=pair[0], b=pair[1], assignment=f"A{number}")
        for number, (worker, choice, status, strength, pair) in enumerate(rows)
    ]
    path.write_text("\n".join([ONE, *lines]) + "\n")
    # By hand: the first answer to a question that is whole counts.
    has_strengths = any(row[3] for row in rows)
    seen: set[tuple[str, frozenset[str]]] = set()
    expected: Counter[str] = Counter()
    for worker, choice, status, strength, pair in rows:
        who = worker, frozenset(pair)
        if status == "Rejected":
            expected["rejected"] += 1
        elif not choice:
            expected["no choice"] += 1
        elif has_strengths and not strength and choice != "same":
            expected["no strength"] += 1
        elif who in seen:
            expected["answered before"] += 1
        else:
            seen.add(who)
            expected["kept"] += 1
    if not expected["kept"]:
        with pytest.raises(InputError, match=f"expected at least one answer to keep, got none of {len(rows)}"):
            read_results(path)
        return
    found = read_results(path)
    assert outcomes(found) == dict(expected)
    assert found.report.answers == len(rows) == found.report.kept + found.report.left_out.height
    assert len(found.preferences) == found.report.kept


# Several questions a task


def questions(n: int) -> pl.DataFrame:
    rows = [(f"id{place}", "q", f"x{place}", f"y{place}", 2) for place in range(n)]
    return pl.DataFrame(rows, schema=("question", "query", "a", "b", "assessors"), orient="row")


@pytest.mark.parametrize("per_task", [1, 2, 3, 5])
def test_packages_come_back_as_they_went_out(tmp_path: Path, per_task: int) -> None:
    asked = questions(5)
    tasks = package_questions(asked, per_task=per_task, media_url="m/{document}")
    filled = tasks.rename({name: f"Input.{name}" for name in tasks.columns})
    answered = pl.concat(
        [
            filled.with_columns(
                pl.lit(worker).alias("WorkerId"),
                pl.lit(f"{60 * per_task}").alias("WorkTimeInSeconds"),
                *(pl.lit(word).alias(f"Answer.choice_{place}") for place in range(1, per_task + 1)),
                *(pl.lit(str(place)).alias(f"Answer.strength_{place}") for place in range(1, per_task + 1)),
            )
            for worker, word in (("ann", "left"), ("bob", "right"))
        ]
    )
    path = tmp_path / "results.csv"
    answered.write_csv(path)
    found = read_results(path)
    assert outcomes(found) == {"kept": 10}
    assert found.report.rows == 2 * -(-5 // per_task)
    frame = found.preferences.frame.filter(pl.col("assessor") == "ann")
    assert frame.select("question", "query", "a", "b").rows() == asked.select("question", "query", "a", "b").rows()
    assert set(frame["choice"]) == {"a"}
    assert frame["strength"].to_list() == [place % per_task + 1 for place in range(5)]
    # The time of a task is that of all its questions.
    full = frame["seconds"][: 5 // per_task * per_task]
    assert (full == 60).all()


def test_answers_as_json_and_options_in_columns_of_their_own(write: Callable[..., Path]) -> None:
    head = "WorkerId,Input.query_1,Input.left_1,Input.right_1,Input.query_2,Input.left_2,Input.right_2"
    given = "q,x,y,q,v,w"
    answers = [
        {
            "choice_1": {"left": True, "right": False},
            "choice_2": {"left": False, "right": True},
            "strength_1": "2",
            "strength_2": 4,
        },
        {"choice_1": {"left": False, "right": False}, "choice_2": {"same": True}, "strength_1": "2", "strength_2": 4},
    ]
    cells = ['"' + json.dumps([answer]).replace('"', '""') + '"' for answer in answers]
    path = write(f"{head},Answer.taskAnswers", *(f"w{n},{given},{cell}" for n, cell in enumerate(cells)))
    expected = [("w0", "q", "x", "y", "a", 2.0), ("w0", "q", "v", "w", "b", 4.0), ("w1", "q", "v", "w", "same", 0.0)]
    found = read_results(path)
    assert choices(found) == expected
    assert outcomes(found) == {"kept": 3, "no choice": 1}
    columns = "Answer.choice_1.left,Answer.choice_1.right,Answer.choice_2.right,Answer.choice_2.same"
    flat = write(f"{head},{columns}", f"w0,{given},true,false,TRUE,false", f"w1,{given},false,false,false,true")
    assert [row[:5] for row in choices(read_results(flat))] == [row[:5] for row in expected]
    label = write("WorkerId,Input.query,Input.left,Input.right,Answer.choice.label", "w,q,x,y,right")
    assert choices(read_results(label)) == [("w", "q", "x", "y", "b", 1.0)]
    two = write(f"{head},{columns}", f"w0,{given},true,true,true,false")
    with pytest.raises(
        InputError, match=r"results.csv:2: expected a, b, same, left, right as .*, got 'left and right'"
    ):
        read_results(two)
    broken = write(f"{head},Answer.taskAnswers", f"w0,{given},{{")
    with pytest.raises(InputError, match=r"results.csv:2: expected answers as JSON in Answer.taskAnswers, got '\{'"):
        read_results(broken)


def test_one_query_for_all_questions_of_a_task(write: Callable[..., Path]) -> None:
    header = (
        "WorkerId,Input.query,Input.left_1,Input.right_1,Input.left_2,Input.right_2,Answer.choice_1,Answer.choice_2"
    )
    found = read_results(write(header, "w,q,x,y,v,w,left,right"))
    assert choices(found) == [("w", "q", "x", "y", "a", 1.0), ("w", "q", "v", "w", "b", 1.0)]


# Traps


def test_our_own_table_says_which_questions_are_traps(write: Callable[..., Path]) -> None:
    asked = pl.DataFrame(
        {
            "query": ["q", "q", "q"],
            "a": ["x", "t", "u"],
            "b": ["y", "u", "t"],
            "trap": [None, "a", "b"],
            "phase": ["2", "2", "2"],
        }
    )
    lines = [
        task("w", "left"),
        task("w", "left", a="t", b="u", assignment="1"),
        # Traps may come again, the other way round or not; the same assignment twice is a mistake of the file.
        task("w", "right", a="u", b="t", assignment="2"),
        task("w", "right", a="t", b="u", assignment="3"),
        task("w", "right", a="t", b="u", assignment="3"),
        task("w", "left", a="k", b="l"),
    ]
    found = read_results(write(ONE, *lines), questions=asked)
    frame = found.preferences.frame
    assert frame.select("a", "choice", "trap", "phase").rows() == [
        ("x", "a", None, "2"),
        ("t", "a", "a", "2"),
        ("u", "b", "b", "2"),
        ("t", "b", "a", "2"),
        ("k", "a", None, None),
    ]
    assert outcomes(found) == {"kept": 5, "answered before": 1}
    assert found.report.unknown == 1
    path = write(ONE, task("w", "left", a="k", b="l"))
    with pytest.raises(InputError, match=r"got 'k' and 'l' for query 'q', and none that is \(is it the table that"):
        read_results(path, questions=asked)
    both = pl.concat([asked, asked.with_columns(trap=pl.lit("b"))])
    with pytest.raises(
        InputError, match="expected one meaning of every question in the table of questions, got 'x' and"
    ):
        read_results(path, questions=both)


# Mappings


def test_other_columns_and_words(write: Callable[..., Path]) -> None:
    path = write("who,topic,first,second,best", "ann,q,x,y,1", "bob,q,x,y,2", "cat,q,x,y,Tie")
    mapping = find_mapping("mturk").with_columns(
        {"assessor": "who", "query": "topic", "a": "first", "b": "second", "choice": "best"}
    )
    mapping = mapping.with_choices({"1": "a", "2": "B", "tie": "same"})
    assert [row[4] for row in choices(read_results(path, mapping))] == ["a", "b", "same"]
    with pytest.raises(InputError, match=r"results.csv:1: expected a column pay, got who, topic, first, second, best"):
        read_results(path, mapping.with_columns({"strength": "pay"}))


@pytest.mark.parametrize(
    ("columns", "words", "message"),
    [
        ({"chioce": "x"}, {}, r"there is no field 'chioce' of results: use query, .* \(did you mean 'choice'\?\)"),
        ({}, {"left": "first"}, "a word of the results means a, b or same, not 'first'"),
    ],
)
def test_mappings_that_are_none(columns: dict[str, str], words: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find_mapping("mturk").with_columns(columns).with_choices(words)


def test_mappings_that_lack_something_and_unknown_names() -> None:
    with pytest.raises(ParameterError, match="a mapping of results needs a column for b, choice, assessor"):
        ResultMapping({"query": "q", "a": "x"}, {})
    with pytest.raises(ParameterError, match="no mapping called 'turk': there are mturk, melody-2010"):
        find_mapping("turk")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([ONE], "results.csv: expected rows under the names of the columns, got none"),
        (
            [ONE.replace("Input.left", "left"), task("w", "left")],
            "results.csv:1: expected a column Input.left, got HITId",
        ),
        (
            [ONE, task("w", "left"), task("v", "top")],
            r"csv:3: expected a, b, same, left, right as choice \(Answer.choice\), got 'top' \(say .* --choice top=a\)",
        ),
        ([ONE, task("w", "left", strength="lots")], "results.csv:2: expected a number as strength, got 'lots'"),
        (
            [ONE, task("w", "left", strength="0")],
            "results.csv:2: expected a strength above 0 for a choice of a or b, got 0",
        ),
        (
            [ONE, task("w", "left"), task("", "left")],
            r"csv:3: expected assessor in every row \(WorkerId\), got nothing",
        ),
        ([ONE, task("w", "left", a="")], r"results.csv:2: expected a in every row \(Input.left\), got nothing"),
        (
            [ONE, task("w", "left"), task("v", "left", b="x")],
            "csv:3: expected two different documents as a and b, got 'x' tw",
        ),
        ([ONE, task("w", "left", seconds="-3")], "results.csv:2: expected seconds that are 0 or more, got -3"),
        (
            [
                "WorkerId,Input.query_1,Input.left_1,Input.right_1,Input.left_2,Input.right_2,Answer.choice_1",
                "w,q,x,y,v,w,left",
            ],
            "results.csv:1: expected a column Input.query_2",
        ),
        (
            ["WorkerId,Input.query_1,Input.left_1,Input.right_1", "w,q,x,y"],
            "results.csv:1: expected a column Answer.choice_1",
        ),
    ],
)
def test_files_that_are_refused(write: Callable[..., Path], lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_results(write(*lines))


def test_gzipped_files_and_other_encodings(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(ONE, task("Zoë", "left"), encoding="cp1252")
    with pytest.raises(InputError, match=r"results.csv:2: expected text in utf-8, got byte 0xeb \(name the file's enc"):
        read_results(path)
    assert choices(read_results(path, encoding="cp1252"))[0][0] == "Zoë"
    packed = tmp_path / "results.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert choices(read_results(packed, encoding="cp1252"))[0][0] == "Zoë"
    with pytest.raises(InputError, match="expected a known encoding, got 'klingon'"):
        read_results(path, encoding="klingon")


# The real file


def test_the_melody_preferences(melody: Path) -> None:
    found = read_results(melody / "judgments.csv", MAPPINGS["melody-2010"])
    preferences = found.preferences
    assert outcomes(found) == {"kept": 2805, "no choice": 5}
    assert found.report.rows == found.report.answers == 2810
    assert (len(preferences.queries), len(preferences.assessors)) == (11, 79)
    assert len(preferences.pairs()) == 281
    assert np.isin(preferences.pairs().answers, (9, 10)).all()
    # Counted by the csv module alone.
    with (melody / "judgments.csv").open(encoding="latin-1", newline="") as file:
        rows = list(csv.DictReader(file))
    words = Counter(row["Answer.radio"] for row in rows)
    assert Counter(preferences.frame["choice"]) == {"a": words["a"], "b": words["b"], "same": words["s"]}
    blank = [place for place, row in enumerate(rows, start=1) if not row["Answer.radio"]]
    assert found.report.left_out["row"].to_list() == blank
    with pytest.raises(InputError, match=r"judgments.csv:2809: expected text in utf-8, got byte 0xb4"):
        read_results(melody / "judgments.csv", MAPPINGS["melody-2010"], encoding="utf-8")
