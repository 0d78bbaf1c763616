"""How people work: pace, expected end, time per answer, agreement."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from earmark.data.log import AnswerLog
from earmark.data.scales import BROAD
from earmark.web import working

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def log(*answers: dict[str, Any]) -> AnswerLog:
    usual = {"kind": "answered", "query": "q", "document": "d", "time": NOW}
    return AnswerLog().with_events(*({**usual, **one} for one in answers))


def given(*minutes_ago: float, assessor: str = "ann", **more: Any) -> pl.DataFrame:
    events = [
        {"assessor": assessor, "document": f"d{n}", "gain": 1.0, "time": NOW - timedelta(minutes=ago), **more}
        for n, ago in enumerate(minutes_ago)
    ]
    return working.given_answers(log(*events)) if events else working.given_answers(AnswerLog())


def test_nobody_has_answered_yet() -> None:
    assert working.pace(given(), NOW) == {"per_hour": None, "last_hour": 0, "first": None, "last": None, "hours": []}
    assert working.median_seconds(given()) == {}


def test_the_pace_is_that_of_the_last_hour() -> None:
    told = working.pace(given(200, 190, 50, 40, 30), NOW)
    assert told["per_hour"] == 3
    assert told["hours"] == [2, 0, 0, 3]


def test_a_young_campaign_has_the_pace_of_its_life() -> None:
    assert working.pace(given(30, 20, 10), NOW)["per_hour"] == 6
    assert working.pace(given(0.1, 0.05), NOW)["per_hour"] == 24, "over five minutes at least"


def test_an_idle_campaign_has_no_pace() -> None:
    assert working.pace(given(200, 100), NOW)["per_hour"] == 0
    assert working.expected_end(10, 0.0) is None


def test_a_clock_that_was_set_back_does_no_harm() -> None:
    told = working.pace(given(-30, -20), NOW)
    assert told["per_hour"] is not None
    assert told["per_hour"] > 0


@pytest.mark.parametrize(
    ("hours", "shown"), [(0, 0), (0.1, 0.25), (0.6, 0.75), (1.02, 1), (2.3, 3), (11, 20), (37, 40), (140, 200)]
)
def test_times_claim_no_more_than_is_known(hours: float, shown: float) -> None:
    assert working.rough(hours) == shown


def test_the_expected_end_counts_all_answers() -> None:
    assert working.expected_end(30, 10.0, answers_each=2) == {"judgments": 30, "hours": 6}
    assert working.expected_end(None, 10.0) is None


# ---- how many more judgments -----------------------------------------------------------------------------------------


def looks(rule: str, values: list[float], target: float) -> pl.DataFrame:
    n = len(values)
    return pl.DataFrame(
        {"judged": [10 * (k + 1) for k in range(n)], "rule": [rule] * n, "value": values, "target": [target] * n}
    )


def test_a_straight_way_is_followed_to_the_target() -> None:
    from scipy.special import ndtr

    rising = [float(ndtr(0.2 + 0.01 * 10 * (k + 1))) for k in range(10)]
    target = float(ndtr(0.2 + 0.01 * 150))
    assert working.more_judgments(looks("mean", rising, target), "mean") == pytest.approx(50, abs=1)
    falling = [(0.1 * (k + 1)) ** -0.5 for k in range(10)]
    assert working.more_judgments(looks("width", falling, 2.0**-0.5), "width") == pytest.approx(100, abs=1)


def test_nothing_is_said_without_an_approach() -> None:
    assert working.more_judgments(looks("mean", [0.9, 0.8, 0.7, 0.6, 0.55, 0.52], 0.95), "mean") is None
    assert working.more_judgments(looks("mean", [0.6, 0.7], 0.95), "mean") is None
    assert working.more_judgments(looks("mean", [0.6, 0.7, 0.8, 0.9], 0.95), "min") is None
    assert working.more_judgments(looks("mean", [], 0.95).cast({"rule": pl.String}), "mean") is None


def test_what_is_nearly_reached_takes_one_more() -> None:
    assert working.more_judgments(looks("mean", [0.5, 0.6, 0.7, 0.8, 0.9, 0.96], 0.95), "mean") == 1


# ---- people ----------------------------------------------------------------------------------------------------------


def test_what_the_page_measured_counts() -> None:
    text = json.dumps({"seconds": 12})
    assert working.median_seconds(given(30, 20, 10, text=text)) == {"ann": 12}


def test_times_between_answers_stand_in_but_pauses_do_not() -> None:
    assert working.median_seconds(given(60, 59, 58, 20, 19)) == {"ann": 60}
    assert working.median_seconds(given(60)) == {}
    assert working.median_seconds(given(60, 59, text="a plain text")) == {"ann": 60}


def test_agreement_of_grades() -> None:
    told = working.agreement(
        log(
            {"assessor": "ann", "gain": 2.0},
            {"assessor": "bob", "gain": 2.0},
            {"assessor": "eve", "gain": 0.0},
            {"assessor": "eve", "gain": 1.0, "document": "other"},
        ),
        "grade",
        BROAD,
    )
    assert told["ann"]["agreement"] == told["bob"]["agreement"] == 0.5
    assert told["eve"]["agreement"] == 0
    assert told["eve"]["shared"] == 1


def test_agreement_of_choices() -> None:
    pair = {"document": "d", "other": "e"}
    told = working.agreement(
        log(
            {"assessor": "ann", "choice": "a", **pair},
            {"assessor": "bob", "choice": "a", **pair},
            {"assessor": "eve", "choice": "b", **pair},
            {"assessor": "eve", "choice": "b", "document": "x", "other": "y"},
        ),
        "prefer",
        BROAD,
    )
    assert {name: one["agreement"] for name, one in told.items()} == {"ann": 0.5, "bob": 0.5, "eve": 0}


def test_agreement_of_orders() -> None:
    def said(*order: str) -> dict[str, Any]:
        return {"document": "", "choice": json.dumps({"order": order, "cut": 1})}

    told = working.agreement(
        log(
            {"assessor": "ann", **said("a", "b", "c")},
            {"assessor": "bob", **said("a", "b", "c")},
            {"assessor": "eve", **said("c", "b", "a")},
        ),
        "order",
        BROAD,
    )
    assert told["ann"]["agreement"] == 0.5
    assert told["eve"]["agreement"] == 0
    assert working.agreement(AnswerLog(), "order", BROAD) == {}
