"""Preferences: what a table of answers may hold, what it says about pairs, and files that come back as they were."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import earmark
from earmark.data.preference_checks import COLUMNS, REQUIRED
from earmark.data.preference_files import read_preferences, write_preferences
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import InputError, ParameterError

Answer = tuple[str, str, str, str, str, float]
SCHEMA = [*REQUIRED, "strength"]
# Two answers for x over y, shown once either way round, one for y; one tie; a pair of another query.
ROWS: list[Answer] = [
    ("q2", "x", "y", "ann", "a", 3),
    ("q2", "y", "x", "bob", "b", 1),
    ("q2", "x", "y", "cat", "b", 5),
    ("q2", "x", "z", "ann", "same", 4),
    ("q2", "z", "x", "bob", "Same", 2),
    ("q10", "y", "x", "ann", " A ", 2),
]


def frame_of(rows: list[Any], columns: list[str] = SCHEMA) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture
def some() -> Preferences:
    return Preferences.from_frame(frame_of(ROWS))


@st.composite
def answers(draw: st.DrawFn) -> list[Answer]:
    """Answers, every question at most once per assessor."""
    keys = st.tuples(
        st.sampled_from("qr"), st.sampled_from([("x", "y"), ("x", "z"), ("y", "z")]), st.sampled_from("ABCD")
    )
    rows = []
    for query, (first, second), assessor in draw(st.lists(keys, min_size=1, max_size=20, unique=True)):
        a, b = (first, second) if draw(st.booleans()) else (second, first)
        rows.append((query, a, b, assessor, draw(st.sampled_from(["a", "b", "same"])), draw(st.integers(1, 5)) * 0.5))
    return rows


def by_hand(rows: list[Answer]) -> dict[tuple[str, str, str], dict[str, float]]:
    """What a loop over answers counts."""
    counts: dict[tuple[str, str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for query, a, b, _, choice, strength in rows:
        chosen = {"a": a, "b": b}.get(choice)
        low, high = sorted((a, b))
        of = counts[query, low, high]
        of["answers"] += 1
        of["same"] += chosen is None
        of["first"] += chosen == low
        of["second"] += chosen == high
        of["strength"] += strength * (chosen is not None)
        of["signed"] += strength * ((chosen == low) - (chosen == high))
    return counts


@given(answers())
def test_pairs_are_what_a_loop_counts(rows: list[Answer]) -> None:
    expected = by_hand(rows)
    preferences = Preferences.from_frame(frame_of(rows))
    pairs = preferences.pairs()
    names = [
        (pairs.queries[q], pairs.documents[i], pairs.documents[j])
        for q, i, j in zip(pairs.query_index, pairs.first_index, pairs.second_index, strict=True)
    ]
    assert names == sorted(expected)
    for index, name in enumerate(names):
        of = expected[name]
        assert (pairs.first[index], pairs.second[index], pairs.same[index]) == (of["first"], of["second"], of["same"])
        assert pairs.answers[index] == of["answers"]
        assert pairs.mean_strength[index] == pytest.approx(of["strength"] / of["answers"])
        assert pairs.mean_signed_strength[index] == pytest.approx(of["signed"] / of["answers"])
        assert pairs.winner[index] == (of["first"] > of["second"]) - (of["first"] < of["second"])
        assert pairs.agreement[index] == max(of["first"], of["second"])
        assert pairs.has_majority[index] == (max(of["first"], of["second"]) > of["answers"] / 2)
    for row, (query, a, b, assessor, *_) in enumerate(rows):
        assert names[pairs.answer_pair[row]] == (query, *sorted((a, b)))
        assert pairs.answer_orientation[row] == (1 if a < b else -1)
        assert preferences.assessors[preferences.assessor_index[row]] == assessor


@given(answers(), st.randoms())
def test_neither_order_nor_sides_change_what_is_known_of_pairs(rows: list[Answer], random: Any) -> None:
    turned = [
        (q, b, a, who, {"a": "b", "b": "a"}.get(choice, choice), strength) if random.random() < 0.5 else
        (q, a, b, who, choice, strength)
        for q, a, b, who, choice, strength in rows
    ]  # fmt: skip
    random.shuffle(turned)
    one, other = (Preferences.from_frame(frame_of(part)).pairs().to_polars() for part in (rows, turned))
    strengths = ["strength", "signed_strength"]
    assert one.drop(strengths).equals(other.drop(strengths))
    assert np.allclose(one.select(strengths), other.select(strengths))


def test_arrays_and_names(some: Preferences) -> None:
    assert some.queries == ("q10", "q2")
    assert some.documents == ("x", "y", "z")
    assert some.assessors == ("ann", "bob", "cat")
    assert some.query_index.tolist() == [1, 1, 1, 1, 1, 0]
    assert some.a_index.tolist() == [0, 1, 0, 0, 2, 1]
    assert some.b_index.tolist() == [1, 0, 1, 2, 0, 0]
    assert some.sign.tolist() == [1, -1, -1, 0, 0, 1]
    assert some.strength.tolist() == [3, 1, 5, 0, 0, 2]
    assert len(some) == 6
    assert not some.is_trap.any()


def test_the_pairs_of_a_small_example(some: Preferences) -> None:
    rows = some.pairs().to_polars()
    assert rows.select("query", "first", "second", "chose_first", "chose_second", "chose_same").rows() == [
        ("q10", "x", "y", 0, 1, 0),
        ("q2", "x", "y", 2, 1, 0),
        ("q2", "x", "z", 0, 0, 2),
    ]
    assert rows.select("winner", "agreement", "answers").rows() == [("y", 1, 1), ("x", 2, 3), (None, 0, 2)]
    assert rows["strength"].to_list() == [2, 3, 0]
    assert rows["signed_strength"].to_list() == pytest.approx([-2, -1 / 3, 0])


def test_ids_that_are_numbers_sort_as_numbers() -> None:
    rows = [(2, 10, 9, 1, "a"), (10, 9, 10, 1, "a")]
    preferences = Preferences.from_frame(frame_of(rows, list(REQUIRED)))
    assert preferences.queries == ("2", "10")
    assert preferences.documents == ("9", "10")
    assert preferences.pairs().winner.tolist() == [-1, 1]


def test_strength_is_one_where_there_is_none() -> None:
    assert Preferences.from_frame(frame_of(ROWS).drop("strength")).strength.tolist() == [1, 1, 1, 0, 0, 1]


def test_strength_of_same_does_not_count() -> None:
    rows = [("q", "x", "y", "ann", "same", -7.0), ("q", "x", "y", "bob", "same", None), ("q", "x", "y", "c", "a", 2.0)]
    assert Preferences.from_frame(frame_of(rows)).strength.tolist() == [0, 0, 2]


def test_rows_without_a_choice_are_left_out_and_counted() -> None:
    rows = [("q", "x", "y", "ann", None, 1), ("q", "x", "y", "ann", "a", 1), ("q", "x", "y", "ann", "  ", 1)]
    preferences = Preferences.from_frame(frame_of(rows))
    assert (len(preferences), preferences.unanswered) == (1, 2)


def test_words_and_frames(some: Preferences) -> None:
    assert str(some) == "6 answers by 3 assessors to 3 pairs of documents, 2 queries"
    assert str(some.pairs()) == "3 pairs, 6 answers, 1 tie"
    assert f"<b>Preferences</b>: {some}</p>" in some._repr_html_()
    assert "<b>PairTable</b>: 3 pairs, 6 answers, 1 tie</p>" in some.pairs()._repr_html_()
    assert some.to_polars() is some.frame
    assert some.to_pandas().shape == (6, 6)
    assert some.pairs().to_pandas().shape == (3, 11)
    assert some.frame.columns == SCHEMA


def test_other_columns_are_passed_over_and_ours_come_in_order() -> None:
    frame = frame_of(ROWS).with_columns(
        pl.lit("red").alias("colour"), pl.lit("").alias("trap"), pl.lit(1.5).alias("seconds"), pl.lit(1).alias("phase")
    )
    made = Preferences.from_frame(frame.select(reversed(frame.columns))).frame
    assert made.columns == [*SCHEMA, "seconds", "phase", "trap"]
    assert made["phase"].to_list() == ["1"] * 6
    assert made["trap"].null_count() == 6
    assert list(COLUMNS) == [*SCHEMA, "time", "seconds", "phase", "question", "trap"]


def test_columns_of_nothing_but_nulls() -> None:
    nothing = [pl.lit(None).alias(name) for name in ("time", "seconds", "phase", "question", "trap")]
    made = Preferences.from_frame(frame_of(ROWS).with_columns(nothing))
    assert made.frame["phase"].dtype == pl.String
    assert made.pairs().to_polars().equals(Preferences.from_frame(frame_of(ROWS)).pairs().to_polars())


# What is kept


def test_select_and_keep(some: Preferences) -> None:
    assert some.select(queries=["q10"]).frame.height == 1
    assert some.select(assessors=["ann"], queries=["q2"]).frame["choice"].to_list() == ["a", "same"]
    assert some.keep(some.sign == 0).pairs().same.tolist() == [2]
    nothing = some.keep(np.zeros(6, dtype=bool))
    assert (len(nothing), len(nothing.pairs()), nothing.documents) == (0, 0, ())
    assert nothing.pairs().to_polars().height == 0


def test_select_by_phase_and_traps() -> None:
    frame = frame_of(ROWS).with_columns(pl.Series("phase", [1, 1, 1, 2, 2, 2]), pl.Series("trap", ["a", *[None] * 5]))
    preferences = Preferences.from_frame(frame)
    assert len(preferences.select(phases=["2"])) == 3
    assert preferences.is_trap.tolist() == [True, *[False] * 5]
    assert len(preferences.without_traps()) == 5


def test_what_is_not_there_cannot_be_selected(some: Preferences) -> None:
    with pytest.raises(ParameterError, match="no query called 'q3' among the preferences: there are q10, q2"):
        some.select(queries=["q2", "q3"])
    with pytest.raises(ParameterError, match="no phase called '2' among the preferences: there are none"):
        some.select(phases=["2"])


def test_concat(some: Preferences) -> None:
    more = Preferences.from_frame(frame_of([("q2", "x", "y", "dan", "a", 1)]).with_columns(phase=pl.lit("2")))
    both = Preferences.concat([Preferences(some.frame, 3), more])
    assert (len(both), both.unanswered) == (7, 3)
    assert both.frame["phase"].to_list() == [None] * 6 + ["2"]
    with pytest.raises(InputError, match="one answer per question and assessor"):
        Preferences.concat([some, some])
    with pytest.raises(ParameterError, match="there are no preferences to put together"):
        Preferences.concat([])


# What is refused


FAULTS = [
    (("q", "x", "y", "ann", "left", 1), "expected a, b or same as choice, got 'left'"),
    (("q", "x", "x", "ann", "a", 1), "expected two different documents as a and b, got 'x' twice"),
    (("q", "x", "y", "ann", "a", 0), r"expected a strength above 0 for a choice of a or b, got 0"),
    (("q", "x", "y", "ann", "b", -1), r"expected a strength above 0 for a choice of a or b, got -1"),
    (("q", "x", "y", "ann", "b", None), r"expected a strength above 0 for a choice of a or b, got nothing"),
    (("", "x", "y", "ann", "b", 1), "expected query in every row, got nothing"),
    (("q", "x", "", "ann", "b", 1), "expected b in every row, got nothing"),
    (("q", "x", "y", None, "b", 1), "expected assessor in every row, got nothing"),
    (("q10", "x", "y", "ann", "b", 1), "expected one answer per question and assessor, got 'ann' again on 'x' and 'y'"),
]


@pytest.mark.parametrize(("row", "message"), FAULTS)
def test_faults_name_the_row(row: Answer, message: str) -> None:
    # A row without a choice stands before, so rows have to be counted as they were given.
    rows = [("q", "u", "v", "ann", None, None), *ROWS, row]
    with pytest.raises(InputError, match=rf"{message}.* in row 7, counted from 0"):
        Preferences.from_frame(frame_of(rows))


@pytest.mark.parametrize(("row", "message"), FAULTS)
def test_faults_name_the_line(row: Answer, message: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    rows = [("q", "u", "v", "ann", None, None), *ROWS, row]
    path.write_text("\n".join(",".join("" if cell is None else str(cell) for cell in one) for one in [SCHEMA, *rows]))
    with pytest.raises(InputError, match=message) as caught:
        read_preferences(path)
    assert (caught.value.path, caught.value.line) == (str(path), 9)


def test_the_same_question_again_is_another_one_in_another_phase() -> None:
    rows = [("q", "x", "y", "ann", "a"), ("q", "y", "x", "ann", "a")]
    frame = frame_of(rows, list(REQUIRED))
    with pytest.raises(InputError, match=r"for query 'q' in row 1, counted from 0 \(tell rounds of asking apart in a"):
        Preferences.from_frame(frame)
    assert len(Preferences.from_frame(frame.with_columns(phase=pl.Series([1, 2])))) == 2
    with pytest.raises(InputError, match="one answer per question"):
        Preferences.from_frame(frame.with_columns(phase=pl.Series([1, 1])))


def test_a_trap_may_be_asked_again_but_nothing_else() -> None:
    rows = [("q", "x", "y", "ann", "a", "a"), ("q", "x", "y", "ann", "b", "A"), ("q", "x", "y", "ann", "b", None)]
    columns = [*REQUIRED, "trap"]
    assert Preferences.from_frame(frame_of(rows, columns)).frame["trap"].to_list() == ["a", "a", None]
    with pytest.raises(InputError, match="in row 3"):
        Preferences.from_frame(frame_of([*rows, rows[2]], columns))
    with pytest.raises(InputError, match="expected a, b or same as trap, got 'yes' in row 1"):
        Preferences.from_frame(frame_of([rows[0], ("q", "x", "z", "ann", "a", "yes")], columns))


def test_columns_of_the_wrong_kind() -> None:
    frame = frame_of(ROWS)
    with pytest.raises(InputError, match=r"columns query, a, b, assessor and choice, got query, a, b \(no assessor or"):
        Preferences.from_frame(frame.select("query", "a", "b"))
    with pytest.raises(InputError, match=r"expected text or whole numbers as a, got a column of Float64"):
        Preferences.from_frame(frame.with_columns(a=pl.lit(1.5)))
    with pytest.raises(InputError, match="expected a, b or same as choice, got a column of Int32"):
        Preferences.from_frame(frame.with_columns(choice=pl.lit(1)))
    with pytest.raises(InputError, match="expected numbers as strength, got a column of String"):
        Preferences.from_frame(frame.with_columns(strength=pl.lit("1")))
    with pytest.raises(InputError, match="expected numbers as seconds, got a column of String"):
        Preferences.from_frame(frame.with_columns(seconds=pl.lit("1")))
    with pytest.raises(InputError, match="expected seconds that are 0 or more, got -1 in row 0"):
        Preferences.from_frame(frame.with_columns(seconds=pl.lit(-1)))
    with pytest.raises(InputError, match=r"expected at least one answer, got none \(6 rows without a choice\)"):
        Preferences.from_frame(frame.with_columns(choice=pl.lit("")))
    with pytest.raises(InputError, match=r"expected at least one answer, got none$"):
        Preferences.from_frame(frame.head(0))


# Files


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.tsv.gz", "p.parquet", "p.pq"])
@given(rows=answers())
def test_files_come_back_as_they_were(name: str, rows: list[Answer], tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = {"q": 'ä "1"\t2, 3\n4', "r": "# r"}
    frame = frame_of(rows).with_columns(
        pl.col("query").replace_strict(odd),
        pl.Series("seconds", np.arange(len(rows)) / 4),
        pl.Series("trap", ["same" if number % 3 else None for number in range(len(rows))]),
        pl.lit("2010-01-01T00:00").alias("time"),
    )
    written = Preferences.from_frame(frame)
    path = tmp_path_factory.mktemp("round") / name
    write_preferences(written, path)
    assert read_preferences(path).frame.equals(written.frame)
    first = path.read_bytes()
    write_preferences(read_preferences(path), path)
    assert path.read_bytes() == first


def test_whole_strengths_are_written_as_such(some: Preferences, tmp_path: Path) -> None:
    write_preferences(some, tmp_path / "p.tsv")
    assert (tmp_path / "p.tsv").read_text().splitlines()[:2] == ["\t".join(SCHEMA), "q2\tx\ty\tann\ta\t3"]


def test_other_names_encodings_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(
        "QID;A;b;Worker;Choice;Strength;more\nä;x;y;w;B; 2.5 ;!\nä;x;z;w;same;–;!\n".encode("latin-1", "replace")
    )
    with pytest.raises(InputError, match=r"answers\.csv:2: expected text in utf-8, got byte 0xe4"):
        read_preferences(path)
    made = read_preferences(path, encoding="latin-1")
    assert made.frame.rows() == [("ä", "x", "y", "w", "b", 2.5), ("ä", "x", "z", "w", "same", 0.0)]
    assert earmark.read_preferences(path, encoding="latin-1").frame.equals(made.frame)
    assert isinstance(made, earmark.Preferences)


def test_typed_columns_of_a_parquet_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": [1], "a": [2], "b": [3], "assessor": [4], "choice": ["a"], "strength": [5]})
    frame.write_parquet(tmp_path / "p.parquet")
    assert read_preferences(tmp_path / "p.parquet").frame.rows() == [("1", "2", "3", "4", "a", 5.0)]
    for column, message in (
        (pl.lit("5").alias("seconds").cast(pl.Binary), "expected numbers as seconds, got Binary"),
        (pl.lit(1.5).alias("query"), "expected text or whole numbers as query, got a column of Float64"),
    ):
        frame.with_columns(column).write_parquet(tmp_path / "p.parquet")
        with pytest.raises(InputError, match=f"p.parquet: {message}"):
            read_preferences(tmp_path / "p.parquet")
    frame.drop("assessor", "choice").write_parquet(tmp_path / "p.parquet")
    with pytest.raises(
        InputError, match=r"p.parquet: expected columns query, a, b, assessor and choice, got .*no assess"
    ):
        read_preferences(tmp_path / "p.parquet")


HEADER = "query,a,b,assessor,choice,strength,seconds\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,x,y,w,a,1\n", r":1: expected a header with the columns query, a, b, assessor, choice, got 'q,x,y,w,a,1'"),
        ("query,a,b,choice\n", r":1: .*\(no assessor\)"),
        (HEADER, "expected rows under the names of the columns, got none"),
        ("", "expected lines of data, got an empty file"),
        (f"{HEADER}q,x,y,w,a,much,\n", ":2: expected a number as strength, got 'much'"),
        (f"{HEADER}q,x,y,w,a,inf,\n", ":2: expected a finite strength, got 'inf'"),
        (f"{HEADER}q,x,y,w,a,1,\nq,x,z,w,a,1,soon\n", ":3: expected a number as seconds, got 'soon'"),
        (f"{HEADER}q,x,y,w,a,1,-2\n", ":2: expected seconds that are 0 or more, got -2"),
        (f"{HEADER}q,x,y,w,,,\n", r"expected at least one answer, got none \(1 row without a choice\)"),
        (f"{HEADER}q,x,y,w,a,1,2,3\n", ":2: expected at most 7 cells, as in the header, got 8"),
    ],
)
def test_files_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=f"p.csv.*{message}"):
        read_preferences(tmp_path / "p.csv")


def test_files_that_are_not_there(some: Preferences, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a file, got nothing there"):
        read_preferences(tmp_path / "none.csv")
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_preferences(some, tmp_path / "none" / "p.csv")
    for name in ("p.txt", "p", "p.parquet.gz"):
        with pytest.raises(ParameterError, match=f"{name}: preferences are written as .csv"):
            write_preferences(some, tmp_path / name)
    (tmp_path / "p.csv").mkdir()
    with pytest.raises(InputError, match="expected a file that can be written"):
        write_preferences(some, tmp_path / "p.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_a_gzipped_file_is_one(some: Preferences, tmp_path: Path) -> None:
    write_preferences(some, tmp_path / "p.csv.gz")
    assert gzip.decompress((tmp_path / "p.csv.gz").read_bytes()).startswith(b"query,a,b,assessor,choice,strength\n")


def test_a_pair_table_stands_alone(some: Preferences) -> None:
    assert isinstance(some.pairs(), PairTable)
    assert some.pairs() is some.pairs()
