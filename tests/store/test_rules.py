"""When answers count, agree, or are right."""

from __future__ import annotations

import json

import numpy as np
import pytest
from campaigns_made import made_collection

from earmark.campaign.problem import Problem
from earmark.data.scales import BROAD, FINE, parse_scale
from earmark.errors import ParameterError
from earmark.store import kinds
from earmark.store.rules import Rules
from earmark.store.setting_types import InputFile
from earmark.store.settings import Estimates, Inputs, Judging, Settings, Traps


@pytest.mark.parametrize(
    ("kind", "gain", "choice", "value"),
    [
        ("grade", 2, None, 2.0),
        ("prefer", None, "a", 1.0),
        ("prefer", None, "b", -1.0),
        ("prefer", None, "same", 0.0),
        ("lists", None, "neither", 0.0),
        ("order", None, json.dumps({"order": ["x", "y"], "cut": 2}), 0.0),
        ("order", None, json.dumps({"order": [], "cut": 0}), 0.0),
    ],
)
def test_answers_of_every_kind(kind, gain, choice, value) -> None:
    assert Rules(kind=kind).value_of(gain, choice) == value


@pytest.mark.parametrize(
    ("kind", "gain", "choice"),
    [
        ("grade", None, None),
        ("grade", 3, None),
        ("grade", float("nan"), None),
        ("grade", 1, "a"),
        ("prefer", 1, None),
        ("prefer", None, None),
        ("prefer", None, "neither"),
        ("prefer", None, "c"),
        ("order", None, "x"),
        ("order", None, json.dumps({"order": ["x", "x"], "cut": 1})),
        ("order", None, json.dumps({"order": ["x"], "cut": 2})),
        ("order", None, json.dumps({"order": [1], "cut": 0})),
        ("order", None, json.dumps(["x"])),
    ],
)
def test_what_is_no_answer_is_refused(kind, gain, choice) -> None:
    with pytest.raises(ParameterError, match="expected"):
        Rules(kind=kind).value_of(gain, choice)


def test_same_may_be_forbidden() -> None:
    with pytest.raises(ParameterError, match="a or b"):
        Rules(kind="prefer", allow_same=False).value_of(None, "same")


def test_more_answers_where_they_disagree() -> None:
    rules = Rules(judgments_per_item=2, more_on_disagreement=2, disagreement=0.5, scale=BROAD)
    assert rules.wanted(0, None, None) == rules.wanted(1, 0, 0) == rules.wanted(2, 1, 2) == 2
    assert [rules.wanted(n, 0, 2) for n in (2, 3, 4, 5)] == [3, 4, 4, 4]


@pytest.mark.parametrize(
    ("scale", "given", "expected", "right"),
    [(BROAD, 2, "2", True), (BROAD, 1, "2", False), (FINE, 76, "100", True), (FINE, 74, "100", False)],
)
def test_a_trap_is_right_within_a_tolerance(scale, given, expected, right) -> None:
    assert Rules(scale=scale).is_right(given, expected) is right


def test_agreement_needs_enough_answers() -> None:
    rules = Rules(agreed_by=2, scale=BROAD)
    assert rules.agreed(2, 1, 1)
    assert not rules.agreed(1, 1, 1)
    assert not rules.agreed(2, 1, 2)
    pairs = Rules(kind="prefer", agreed_by=2)
    assert pairs.agreed(2, 1, 1)
    assert not pairs.agreed(2, 0, 0), "both fit equally well is no answer to check others by"
    assert not Rules(trap_sources=("list",)).agreed(5, 1, 1)


def test_rules_are_those_of_the_settings() -> None:
    settings = Settings(
        name="s",
        kind="order",
        inputs=Inputs(runs=(InputFile("a", "0" * 64),)),
        judging=Judging(scale="0..3", judgments_per_item=3, lease_minutes=2),
        traps=Traps(rate=0.2, reject_below=0.7),
        estimates=Estimates(stop="none"),
    )
    rules = Rules.from_settings(settings)
    assert (rules.kind, rules.scale, rules.judgments_per_item) == ("order", parse_scale("0..3"), 3)
    assert (rules.lease, rules.trap_every, rules.rejection.min_right) == (120_000_000, 5, 0.7)


def test_grades_are_asked_in_the_order_of_the_sample() -> None:
    made = made_collection()
    problem = Problem.build(made.runs, measure="AG@5", policy="proportional", scale=made.judgments.scale)
    frame = kinds.grade_questions(problem)
    order = problem.verdicts.order.order
    assert frame["document"].head(order.size).to_list() == problem.items["document"].gather(order).to_list()
    assert frame["sampled"].head(order.size).all()
    assert frame.height == problem.collection.n_items == frame.select("query", "document").n_unique()


def test_lists_are_compared_where_they_differ() -> None:
    runs = made_collection().runs
    frame = kinds.list_questions(runs, depth=3, seed=0)
    first = {
        (runs.systems[s], runs.queries[q]): tuple(runs.documents[int(a) : min(int(b), int(a) + 3)])
        for s, q, a, b in zip(runs.list_system, runs.list_query, runs.offsets[:-1], runs.offsets[1:], strict=True)
    }
    for query, a, b in frame.rows():
        assert a < b
        assert first[a, query] != first[b, query]
    assert frame.height == sum(
        first[a, q] != first[b, q] for q in runs.queries for a in runs.systems for b in runs.systems if a < b
    )


def test_the_order_of_questions_depends_on_the_seed_alone() -> None:
    runs = made_collection().runs
    one, again, other = (kinds.order_questions(runs, seed=seed)["query"].to_list() for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert sorted(one) == sorted(runs.queries)
    assert np.array_equal(sorted(one), sorted(other))
