"""Candidate pairs: which they are, who orders them how, and what was answered."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from earmark.campaign.pairs.candidates import (
    PairDesign,
    answers_about,
    make_candidates,
    make_design,
    pool_candidates,
)
from earmark.data.conversion import runs_from_dict
from earmark.data.preferences import Preferences
from earmark.errors import InputError, ParameterError


def test_candidates_are_put_in_order_and_counted_once() -> None:
    table = make_candidates([("q", "y", "x"), ("q", "x", "y"), ("p", "x", "z")])
    assert table.to_polars().select("query", "first", "second").rows() == [("p", "x", "z"), ("q", "x", "y")]
    with pytest.raises(InputError, match="at least one candidate pair, got none"):
        make_candidates([])
    with pytest.raises(InputError, match="two different documents for query 'q', got 'x' twice"):
        make_candidates([("q", "x", "x")])


def test_the_pool_holds_every_two_documents_of_a_query() -> None:
    runs = runs_from_dict({"A": {"q": {"x": 3, "y": 2, "z": 1}}, "B": {"q": {"w": 3, "y": 2}, "r": {"x": 1}}})
    assert pool_candidates(runs, k=2) == [("q", "w", "x"), ("q", "w", "y"), ("q", "x", "y")]


def test_answers_about_candidates() -> None:
    frame = pl.DataFrame(
        [("q", "y", "x", "w1", "a"), ("q", "x", "y", "w2", "same"), ("q", "x", "z", "w1", "a")],
        schema=["query", "a", "b", "assessor", "choice"],
        orient="row",
    )
    answers, elsewhere = answers_about(
        make_candidates([("q", "x", "y"), ("r", "x", "y")]), Preferences.from_frame(frame)
    )
    assert (answers.first.tolist(), answers.second.tolist(), answers.same.tolist()) == ([0, 0], [1, 0], [1, 0])
    assert elsewhere == 1


def test_systems_that_cannot_be_scored_are_refused() -> None:
    runs = runs_from_dict({"A": {"q": {"x": 2.0}}, "B": {"q": {"elsewhere": 2.0}}})
    with pytest.raises(InputError, match="among the first 5 of every system, got none for 'B'"):
        make_design(runs, make_candidates([("q", "x", "y")]), k=5)
    table = make_candidates([("q", "x", "y")])
    with pytest.raises(ParameterError, match="none of the candidate pairs counts for any system"):
        PairDesign(table, ("A",), np.zeros((1, 1), dtype=np.int64))
    with pytest.raises(ParameterError, match="expected an order for each"):
        PairDesign(table, ("A", "B"), np.zeros((1, 1), dtype=np.int64))
