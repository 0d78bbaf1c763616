"""Grades made into one: what every method gives, what is said where nothing can be told, and how methods compare."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from grades_made import grading_crowd, judgments_of, level_crowd

from earmark.crowd.grade_models import GradeMethod, aggregate_grades
from earmark.data.judgments import Judgments, aggregate
from earmark.errors import InputError, ParameterError

METHODS: tuple[GradeMethod, ...] = ("mean", "median", "majority", "linear", "dawid-skene")


@pytest.mark.parametrize("method", METHODS)
def test_one_row_per_item(method: GradeMethod) -> None:
    judged = judgments_of(level_crowd(np.random.default_rng(0)).answers)
    made = aggregate_grades(judged, method=method)
    assert made.items.columns[:6] == ["query", "document", "gain", "low", "high", "answers"]
    assert (made.items.height, made.items["answers"].sum()) == (100, 400)
    assert made.items["gain"].is_between(0, 2).all()
    assert made.notes == ()
    if method in ("median", "majority"):
        assert made.items["low"].is_null().all()
    else:
        assert (made.items["low"] <= made.items["gain"]).all()
        assert (made.items["gain"] <= made.items["high"]).all()
    if method in ("mean", "median", "majority"):
        assert made.assessors.is_empty()
        assert made.items["gain"].to_list() == aggregate(judged.frame, by=method)["gain"].to_list()  # type: ignore[arg-type]
    else:
        assert made.assessors.height == 8
        for name in ("bias", "scale_use", "reliability"):
            inside = made.assessors[name].is_between(made.assessors[f"{name}_low"], made.assessors[f"{name}_high"])
            assert inside.all()


@pytest.mark.parametrize("method", ["linear", "dawid-skene"])
def test_one_answer_each_identifies_nobody(method: GradeMethod) -> None:
    judged = judgments_of(level_crowd(np.random.default_rng(0), per_item=1).answers)
    made = aggregate_grades(judged, method=method)
    (note,) = made.notes
    assert note.startswith("every item has one answer, so the reliability of assessors cannot be identified")
    assert made.items["gain"].to_list() == judged.frame["gain"].to_list()
    assert made.items["low"].is_null().all()
    assert made.items["high"].is_null().all()
    assert made.assessors["reliability"].is_null().all()
    assert made.assessors["answers"].sum() == 100


def test_the_mean_has_no_interval_either_where_every_item_has_one_answer() -> None:
    judged = judgments_of(level_crowd(np.random.default_rng(0), per_item=1).answers)
    assert aggregate_grades(judged, method="mean").items["low"].is_null().all()


@pytest.mark.parametrize("method", ["linear", "dawid-skene"])
def test_answers_that_are_all_the_same(method: GradeMethod) -> None:
    rows = [("q", document, 1, name) for document in "de" for name in "xy"]
    frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    made = aggregate_grades(Judgments.from_frame(frame), method=method)
    assert made.items["gain"].to_list() == [1.0, 1.0]
    assert made.notes[0].startswith("all answers are the same")


def test_the_interval_of_the_mean_holds() -> None:
    """Where assessors differ by nothing but errors of one variance."""
    rng = np.random.default_rng(3)
    held = []
    for _ in range(200):
        truth = rng.normal(50, 10, 12)
        rows = [("q", f"d{i}", truth[i] + rng.normal(0, 8), name) for i in range(12) for name in "xyz"]
        frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
        items = aggregate_grades(Judgments.from_frame(frame), method="mean").items
        held.append(np.mean((items["low"].to_numpy() <= truth) & (truth <= items["high"].to_numpy())))
    assert 0.93 < np.mean(held) < 0.97


def test_who_is_alone_and_groups_apart_are_named() -> None:
    judged = judgments_of(grading_crowd(np.random.default_rng(3), items=30, assessors=5).answers)
    other = judged.frame.with_columns(pl.col("document", "assessor") + "-new")
    apart = Judgments.from_frame(pl.concat([judged.frame, other]), scale=judged.scale)
    (note,) = aggregate_grades(apart).notes
    assert note.startswith("assessors fall into 2 groups that have no item in common")
    alone = pl.DataFrame({"query": ["q"], "document": ["x"], "gain": [500.0], "assessor": ["lone"]})
    lonely = Judgments.from_frame(pl.concat([judged.frame, alone]), scale=judged.scale)
    (note,) = aggregate_grades(lonely).notes
    assert note.startswith("1 of 6 assessors shared no item with anybody")


def test_models_err_less_than_the_mean() -> None:
    errors = []
    for seed in range(5):
        crowd = grading_crowd(np.random.default_rng(seed), items=200, assessors=20, per_item=4)
        judged = judgments_of(crowd.answers)
        gains = [aggregate_grades(judged, method=one).items["gain"].to_numpy() for one in ("linear", "mean", "median")]
        errors.append([np.sqrt(np.mean((gain - crowd.gain) ** 2)) for gain in gains])
    linear, mean, median = np.mean(errors, axis=0)
    assert linear < 0.8 * mean < 0.8 * median


def test_unjudged_items_and_few_answers_are_left_out() -> None:
    rows = [("q", "d", 1, "x"), ("q", "d", 2, "y"), ("q", "e", 0, "x"), ("q", "f", -1, "x")]
    judged = Judgments.from_frame(pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row"))
    assert aggregate_grades(judged, method="mean").items["document"].to_list() == ["d", "e"]
    assert aggregate_grades(judged, method="linear", min_answers=2).items["document"].to_list() == ["d"]
    with pytest.raises(InputError, match="expected items with at least 3 answers, got at most 2"):
        aggregate_grades(judged, min_answers=3)
    with pytest.raises(ParameterError, match="unknown method 'borda' for gains"):
        aggregate_grades(judged, method="borda")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a column 'assessor' that says who judged"):
        aggregate_grades(Judgments.from_frame(judged.frame.filter(pl.col("assessor") == "x").drop("assessor")))
