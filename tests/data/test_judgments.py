import statistics
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.judgments import Judgments, aggregate
from earmark.data.scales import BROAD, parse_scale
from earmark.errors import InputError, ParameterError

answers = st.dictionaries(
    st.tuples(st.sampled_from("qr"), st.sampled_from("abc"), st.sampled_from("xyzw")),
    st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]),
    min_size=1,
)


def frame_of(answers):
    rows = [(*key, gain) for key, gain in answers.items()]
    return pl.DataFrame(rows, schema=["query", "document", "assessor", "gain"], orient="row")


RULES = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "majority": lambda gains: min(statistics.multimode(gains)),
}


@pytest.mark.parametrize("by", RULES)
@given(answers)
def test_one_gain_of_several(by, answers):
    heard: dict[tuple[str, str], list[float]] = {}
    for (query, document, _), gain in answers.items():
        heard.setdefault((query, document), []).append(gain)
    expected = {}
    for item, gains in heard.items():
        judged = [gain for gain in gains if gain >= 0]
        expected[item] = RULES[by](judged) if judged else gains[0]
    result = aggregate(frame_of(answers), by=by)
    assert result.columns == ["query", "document", "gain"]
    assert {(q, d): g for q, d, g in result.iter_rows()} == pytest.approx(expected)
    assert result.height == len(expected)


def test_a_majority_that_is_tied_takes_the_lower_gain():
    gains = {"x": 2.0, "y": 0.0, "z": 2.0, "w": 0.0, "v": 1.0}
    frame = frame_of({("q", "a", name): gain for name, gain in gains.items()})
    assert aggregate(frame, by="majority").rows() == [("q", "a", 0.0)]


def test_without_assessors_nothing_is_aggregated():
    frame = pl.DataFrame({"gain": [1.0, -1.0], "document": ["a", "b"], "query": ["q", "q"]})
    assert aggregate(frame, by="median").rows() == [("q", "a", 1.0), ("q", "b", -1.0)]


def test_an_aggregation_that_there_is_not():
    with pytest.raises(ParameterError, match="unknown aggregation 'mode': use mean, median or majority"):
        aggregate(frame_of({("q", "a", "x"): 1.0}), by="mode")


def frame(**columns):
    return pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "gain": [1, 0], **columns})


def test_judgments_of_a_frame():
    judgments = Judgments.from_frame(frame(assessor=[1, 2], time=[10, 11], remark=["", "odd"], query=[5, 5]))
    assert judgments.frame.schema == {
        "query": pl.String,
        "document": pl.String,
        "gain": pl.Float64,
        "assessor": pl.String,
        "time": pl.Int64,
    }
    assert (judgments.scale.name, judgments.scale_guessed, len(judgments)) == ("binary", True, 2)
    assert str(judgments) == "2 judgments of 2 items by 2 assessors, scale binary"
    assert "<b>Judgments</b>: 2 judgments" in judgments._repr_html_()
    assert judgments.to_polars() is judgments.frame
    assert judgments.to_pandas()["query"].tolist() == ["5", "5"]
    named = Judgments.from_frame(frame(document=pl.Series(["a", "b"], dtype=pl.Categorical)), scale=BROAD)
    assert (named.scale, named.scale_guessed) == (BROAD, False)
    assert Judgments.from_frame(frame(gain=[True, False])).frame["gain"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": [1.0, 2.0]}, "expected text or whole numbers as query, got a column of Float64"),
        ({"document": [True, False]}, "expected text or whole numbers as document, got a column of Boolean"),
        ({"document": ["a", None]}, "expected document in every row, got nothing in row 1, counted from 0"),
        ({"document": ["", "b"]}, "expected document in every row, got nothing in row 0"),
        ({"query": [None, None]}, "expected text or whole numbers as query, got a column of Null"),
        ({"assessor": ["x", None]}, "expected assessor in every row, got nothing in row 1"),
        ({"gain": ["1", "0"]}, "expected numbers as gain, got a column of String"),
        ({"gain": [1.0, None]}, "expected a number as gain, got nothing in row 1"),
        ({"gain": [float("nan"), 1.0]}, "expected a finite gain, got 'nan' in row 0"),
        ({"gain": [1.0, float("-inf")]}, "expected a finite gain, got '-inf' in row 1"),
        ({"gain": [1.0, 3.0]}, "expected gains on the scale broad, got 3 in row 1, counted from 0"),
    ],
)
def test_frames_that_hold_no_judgments(columns, message):
    with pytest.raises(InputError, match=message):
        Judgments.from_frame(frame(**columns), scale=BROAD)


def test_frames_that_lack_a_column_or_rows():
    with pytest.raises(InputError, match=r"columns query, document and gain, got query, gain \(no document\)"):
        Judgments.from_frame(frame().drop("document"))
    with pytest.raises(InputError, match=r"got none \(no query or document or gain\)"):
        Judgments.from_frame(pl.DataFrame())
    with pytest.raises(InputError, match="expected at least one judgment, got none"):
        Judgments.from_frame(frame().clear())


def test_several_assessors_may_judge_one_item():
    judgments = Judgments.from_frame(frame(document=["a", "a"], assessor=["x", "y"]), scale=parse_scale("0..3"))
    assert aggregate(judgments.frame).rows() == [("q", "a", 0.5)]


def some_judgments(*rows, scale=None, **columns):
    frame = pl.DataFrame(rows, schema=["query", "document", "gain"], orient="row")
    return Judgments.from_frame(
        frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items()), scale=scale
    )


REPEATED = pl.DataFrame(
    {
        "query": "q",
        "document": ["a", "b", "a", "a", "b"],
        "gain": [2, 1, 0, 1, 2],
        "assessor": ["x", "x", "x", "y", "x"],
    }
)
"""The assessor x judges both documents twice."""


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        # Nothing tells which is later: the larger gain counts.
        ({}, [("a", "x", 2.0), ("a", "y", 1.0), ("b", "x", 2.0)]),
        ({"sequence": [1, 5, 2, 3, 4]}, [("a", "x", 0.0), ("a", "y", 1.0), ("b", "x", 1.0)]),
        ({"time": [1, 2, 3, 4, 5]}, [("a", "x", 0.0), ("a", "y", 1.0), ("b", "x", 2.0)]),
        # Times with and without fractions, and in two zones, are compared as times and not as text.
        (
            {
                "time": [
                    "2026-01-01T12:00:00Z",
                    "2026-01-02T00:00:00Z",
                    "2026-01-01T12:00:00.5Z",
                    "2026-01-01T12:00:00Z",
                    "2026-01-02T01:00:00+02:00",
                ]
            },
            [("a", "x", 0.0), ("a", "y", 1.0), ("b", "x", 1.0)],
        ),
        # The sequence comes before the time, and an answer with a sequence after one without.
        (
            {"sequence": [7, 5, 6, 3, None], "time": [1, 2, 3, 4, 5]},
            [("a", "x", 2.0), ("a", "y", 1.0), ("b", "x", 1.0)],
        ),
    ],
    ids=["gain", "sequence", "time", "time zones", "sequence and time"],
)
def test_the_later_answer_of_an_assessor_counts_whatever_the_order_of_rows(columns, kept):
    table = REPEATED.with_columns(pl.Series(name, values) for name, values in columns.items())
    for order in permutations(range(table.height)):
        judgments = Judgments.from_frame(table[list(order)], scale=BROAD)
        assert judgments.frame.select("document", "assessor", "gain").sort("document", "assessor").rows() == kept
        assert judgments.replaced == 2


def test_rows_without_an_assessor_are_answers_of_one():
    judgments = Judgments.from_frame(frame(document=["a", "a"], sequence=[2, 1]))
    assert judgments.frame["gain"].to_list() == [1.0]
    assert judgments.replaced == 1
    assert Judgments.from_frame(frame()).replaced == 0


def test_files_are_merged_in_any_order():
    parts = [
        some_judgments(("q", "a", 2), ("q", "b", 1), sequence=1),
        some_judgments(("q", "b", 0), ("q", "c", 2), ("q", "c", 1), sequence=2),
        some_judgments(("q", "c", 0), time=3),
    ]
    for first, *others in permutations(parts):
        merged = first.merged(*others)
        rows = merged.frame.sort("document").select("query", "document", "gain").rows()
        assert rows == [("q", "a", 2.0), ("q", "b", 0.0), ("q", "c", 2.0)]
        assert merged.replaced == 3
    assert [len(one) for one in parts] == [2, 2, 1]


def test_every_assessor_has_a_judgment_of_their_own():
    both = some_judgments(("q", "a", 2), assessor="x").merged(some_judgments(("q", "a", 0), assessor="y"))
    assert both.frame["gain"].to_list() == [2.0, 0.0]
    assert both.replaced == 0


def test_what_was_not_marked_as_sampled_was_not():
    both = some_judgments(("q", "a", 2), sampled=True).merged(some_judgments(("q", "b", 0)))
    assert both.frame["sampled"].to_list() == [True, False]


def test_a_guessed_scale_gives_way():
    low, high = some_judgments(("q", "a", 1)), some_judgments(("q", "b", 80))
    assert (str(low.scale), str(high.scale)) == ("binary", "fine")
    assert str(low.merged(high).scale) == "fine"
    stated = some_judgments(("q", "c", 2), scale=BROAD)
    assert low.merged(stated).scale == stated.merged(low).scale == BROAD
    with pytest.raises(InputError, match="expected gains on the scale broad, got 80"):
        stated.merged(high)
    with pytest.raises(ParameterError, match=r"on the scale broad cannot be merged with judgments on 0\.\.3"):
        stated.merged(some_judgments(("q", "a", 3), scale=parse_scale("0..3")))


def test_judgments_of_some_items():
    judgments = some_judgments(("q", "a", 2), ("q", "b", 1), ("r", "a", 0), scale=BROAD)
    items = pl.DataFrame({"query": ["r", "q", "s"], "document": ["a", "b", "a"], "priority": [1.0, 2.0, 3.0]})
    some = judgments.select(items)
    assert some.frame.rows() == [("q", "b", 1.0), ("r", "a", 0.0)]
    assert some.scale == BROAD
    with pytest.raises(InputError, match="expected items of which some are judged, got none"):
        judgments.select(items.filter(pl.col("query") == "s"))
