import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.conversion import (
    judgments_from_dict,
    judgments_from_frame,
    judgments_from_records,
    judgments_to_dict,
    runs_from_dict,
    runs_from_frame,
    runs_from_records,
    runs_to_dict,
)
from earmark.data.scales import BROAD
from earmark.errors import InputError, ParameterError

IDS = ["a", "B", "é", "10", "9"]
scores = st.floats(width=32, allow_nan=False, allow_infinity=False)
runs = st.dictionaries(
    st.sampled_from(["s", "t"]),
    st.dictionaries(st.sampled_from(IDS), st.dictionaries(st.sampled_from(IDS), scores, min_size=1), min_size=1),
    min_size=1,
)
qrels = st.dictionaries(
    st.sampled_from(IDS), st.dictionaries(st.sampled_from(IDS), st.integers(-1, 2), min_size=1), min_size=1
)


LIST = ["system", "query", "document", "rank"]


def rows_of(frame):
    return sorted(frame.rows())


@given(runs)
def test_runs_round_trip(run):
    made = runs_from_dict(run)
    assert runs_to_dict(made) == run
    frame = made.to_polars()
    for again in (
        runs_from_frame(frame),
        runs_from_frame(frame.reverse()),
        runs_from_frame(frame.drop("score")),
        runs_from_frame(frame, order="rank"),
        runs_from_frame(frame.to_pandas()),
        runs_from_frame(frame.to_pandas().astype({"query": "category", "document": "string"})),
    ):
        # The order of systems is that of their first mention.
        assert rows_of(again.to_polars().select(LIST)) == rows_of(frame.select(LIST))


@given(runs)
def test_records_of_ir_measures(run):
    records = {
        system: [ir_measures.ScoredDoc(q, d, s) for q, docs in answers.items() for d, s in docs.items()]
        for system, answers in run.items()
    }
    assert runs_to_dict(runs_from_records(records)) == run
    # A generator can be read only once.
    assert runs_to_dict(runs_from_records({name: (r for r in rows) for name, rows in records.items()})) == run


@given(qrels)
def test_judgments_round_trip(truth):
    judgments = judgments_from_dict(truth, scale=BROAD)
    assert judgments_to_dict(judgments) == truth
    records = [ir_measures.Qrel(q, d, g) for q, docs in truth.items() for d, g in docs.items()]
    for again in (
        judgments_from_records(records, scale=BROAD),
        judgments_from_records((record for record in records), scale=BROAD),
        judgments_from_frame(judgments.to_polars(), scale=BROAD),
        judgments_from_frame(judgments.to_pandas(), scale=BROAD),
    ):
        assert again.frame.equals(judgments.frame)
        assert again.scale == BROAD


def test_lists_without_scores_and_lists_by_rank():
    frame = pl.DataFrame({"system": ["s"] * 3, "query": ["q"] * 3, "document": ["a", "b", "c"]})
    assert runs_to_dict(runs_from_frame(frame)) == {"s": {"q": {"a": -1, "b": -2, "c": -3}}}
    both = frame.with_columns(score=pl.Series([1.0, 2.0, 3.0]), rank=pl.Series([3, 1, 2]))
    assert runs_to_dict(runs_from_frame(both)) == {"s": {"q": {"a": 1, "b": 2, "c": 3}}}
    # These scores would give another order than the list has.
    assert runs_to_dict(runs_from_frame(both, order="rank")) == {"s": {"q": {"b": -1, "c": -2, "a": -3}}}


def test_whole_numbers_are_ids():
    run = {1: {2: {3: 0.5, np.int64(4): 1}}}
    assert runs_to_dict(runs_from_dict(run)) == {"1": {"2": {"3": 0.5, "4": 1.0}}}
    assert judgments_to_dict(judgments_from_dict({7: {8: 1}})) == {"7": {"8": 1}}
    frame = pd.DataFrame({"system": [1], "query": [2], "document": [3], "score": [np.float32(0.5)]}, index=["x"])
    assert runs_to_dict(runs_from_frame(frame)) == {"1": {"2": {"3": 0.5}}}
    frame = pd.DataFrame({"query": [2], "document": pd.array([3], dtype="Int64"), "gain": [True]})
    assert judgments_to_dict(judgments_from_frame(frame)) == {"2": {"3": 1}}


def test_gains_come_back_as_whole_numbers_where_they_are():
    gains = judgments_to_dict(judgments_from_dict({"q": {"a": 1.0, "b": 0.5}}))["q"]
    assert gains == {"a": 1, "b": 0.5}
    assert isinstance(gains["a"], int)


def test_several_assessors_become_one():
    frame = pl.DataFrame({"query": ["q"] * 3, "document": ["a"] * 3, "gain": [0, 0, 2], "assessor": ["x", "y", "z"]})
    judgments = judgments_from_frame(frame)
    assert judgments_to_dict(judgments) == {"q": {"a": pytest.approx(2 / 3)}}
    assert judgments_to_dict(judgments, aggregation="majority") == {"q": {"a": 0}}


@pytest.mark.parametrize(
    ("value", "got"),
    [(1.0, r"1\.0 \(float\)"), (None, r"None \(NoneType\)"), (True, r"True \(bool\)"), (("a",), "tuple")],
)
def test_what_is_no_id(value, got):
    with pytest.raises(InputError, match=f"expected text or whole numbers as query, got .*{got}"):
        runs_from_dict({"s": {value: {"a": 1.0}}})
    with pytest.raises(InputError, match=f"expected text or whole numbers as document, got .*{got}"):
        runs_from_dict({"s": {"q": {value: 1.0}}})
    with pytest.raises(InputError, match=f"expected text or whole numbers as system, got .*{got}"):
        runs_from_dict({value: {"q": {"a": 1.0}}})
    with pytest.raises(InputError, match=f"expected text or whole numbers as document, got .*{got}"):
        judgments_from_dict({"q": {value: 1}})


@pytest.mark.parametrize("value", ["1.0", [1], "x"])
def test_what_is_no_number(value):
    with pytest.raises(InputError, match=r"expected a number as score, got .* \((str|list)\)"):
        runs_from_dict({"s": {"q": {"a": 2.0, "b": value}}})
    with pytest.raises(InputError, match=r"expected a number as gain, got .* \((str|list)\)"):
        judgments_from_dict({"q": {"a": 1, "b": value}})


@pytest.mark.parametrize(("value", "got"), [(float("nan"), "'nan'"), (float("inf"), "'inf'"), (None, "nothing")])
def test_numbers_are_finite(value, got):
    with pytest.raises(InputError, match=f"expected a .*score, got {got} in row 1, counted from 0"):
        runs_from_dict({"s": {"q": {"a": 2.0, "b": value}}})
    with pytest.raises(InputError, match=f"expected a .*gain, got {got} in row 1, counted from 0"):
        judgments_from_dict({"q": {"a": 2, "b": value}})


def frame(**columns):
    return {"system": ["s", "s"], "query": ["q", "q"], "document": ["a", "b"], "score": [2.0, 1.0], **columns}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": [1.0, 2.0]}, "expected text or whole numbers as query, got a column of Float64"),
        ({"document": [True, False]}, "expected text or whole numbers as document, got a column of Boolean"),
        ({"document": ["a", None]}, "expected document in every row, got nothing in row 1"),
        ({"document": ["a", ""]}, "expected document in every row, got nothing in row 1"),
        ({"score": ["2", "1"]}, "expected numbers as score, got a column of String"),
        ({"score": [1.0, float("inf")]}, "expected a finite score, got 'inf' in row 1"),
        ({"score": [1.0, None]}, "expected a number as score, got nothing in row 1"),
        ({"document": ["a", "a"]}, "at most once in a list, got 'a' twice in the list of system 's' for query 'q'"),
    ],
)
def test_frames_that_hold_no_runs(make, columns, message):
    with pytest.raises(InputError, match=message):
        runs_from_frame(make(frame(**columns)))


def test_other_things_that_hold_no_runs():
    with pytest.raises(InputError, match="expected a polars or pandas frame, got dict"):
        runs_from_frame(frame())
    with pytest.raises(InputError, match="expected a polars or pandas frame, got Series"):
        judgments_from_frame(pl.Series([1]))
    with pytest.raises(InputError, match="columns system, query and document, got no system, document in "):
        runs_from_frame(pl.DataFrame({"query": ["q"]}))
    with pytest.raises(InputError, match="expected at least one retrieved document, got none"):
        runs_from_frame(pl.DataFrame(frame()).clear())
    with pytest.raises(InputError, match="expected columns of one type each, got "):
        runs_from_frame(pd.DataFrame(frame(document=["a", 1])))
    with pytest.raises(ParameterError, match="by score or by rank, not by 'x'"):
        runs_from_frame(pl.DataFrame(frame()), order="x")
    with pytest.raises(InputError, match="expected ranks to order the lists by, got scores alone"):
        runs_from_frame(pl.DataFrame(frame()), order="rank")
    with pytest.raises(InputError, match="every rank at most once in a list, got rank 1 twice"):
        runs_from_frame(pl.DataFrame(frame(rank=[1, 1])), order="rank")


@pytest.mark.parametrize("nothing", [{}, {"s": {}}, {"s": {"q": {}}}])
def test_nothing_retrieved_at_all(nothing):
    with pytest.raises(InputError, match="expected at least one retrieved document, got none"):
        runs_from_dict(nothing)
    with pytest.raises(InputError, match="expected at least one retrieved document of every system, got none of 's'"):
        runs_from_dict({"t": {"q": {"a": 1.0}}, "s": {"q": {}}})
    with pytest.raises(InputError, match="expected at least one judgment, got none"):
        judgments_from_dict({"q": {}})
    with pytest.raises(InputError, match="expected at least one retrieved document of every system, got none of 's'"):
        runs_from_records({"s": [], "t": [ir_measures.ScoredDoc("q", "a", 1.0)]})


def test_an_id_that_is_there_as_text_and_as_a_number():
    with pytest.raises(InputError, match="got '1' twice in the list of system 's' for query 'q'"):
        runs_from_dict({"s": {"q": {1: 1.0, "1": 2.0}}})
    judgments = judgments_from_dict({"q": {1: 1, "1": 2}})
    assert judgments.frame.select("document", "gain").rows() == [("1", 2.0)]
    assert judgments.replaced == 1
