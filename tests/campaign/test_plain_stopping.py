"""Stop rules of campaigns that end in intervals, and the number that every stop rule watches."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.campaign.stopping import Progress, StopState, parse_stop
from earmark.campaign.stopping.plain import PlainState, check_plain, parse_plain_stop, plain_progress
from earmark.errors import ParameterError

STATE = PlainState(answers=30, judged=12, items=40, width=0.25, what="the widest interval of a pair")
DECISIONS = [
    ("budget:30", True, "the budget is used up: 30 answers of 30"),
    ("budget:31", False, "the budget is not used up: 30 answers of 31"),
    ("width:0.25", True, "the widest interval of a pair is 0.250, no wider than 0.25"),
    ("width:0.2", False, "the widest interval of a pair is 0.250, wider than 0.2"),
    ("none", False, "no stop rule: judging goes on until every question is answered"),
]


@pytest.mark.parametrize(("text", "stop", "reason"), DECISIONS)
def test_decisions(text: str, stop: bool, reason: str) -> None:
    rule = parse_plain_stop(text, kind="lists")
    decision = check_plain(rule, STATE)
    assert (decision.stop, decision.reason) == (stop, reason)


@pytest.mark.parametrize("text", ["budget:99", "width:0.01", "none"])
def test_an_answer_to_everything_stops(text: str) -> None:
    decision = check_plain(parse_stop(text), PlainState(50, 40, 40, 0.5, "it"))
    assert (decision.stop, decision.reason) == (True, "every question is answered")


@pytest.mark.parametrize("text", ["mean:0.95", "min:0.9", "decided:0.9", "top:1"])
@pytest.mark.parametrize("kind", ["order", "lists"])
def test_rules_about_confidence_are_refused(text: str, kind: str) -> None:
    with pytest.raises(ParameterError, match=f"of kind {kind} stops by width:0.2, budget:200 .answers. or none, not"):
        parse_plain_stop(text, kind=kind)
    with pytest.raises(ParameterError, match="expected a width, a budget or none"):
        check_plain(parse_stop(text), STATE)


@pytest.mark.parametrize("wrong", [{"width": float("nan")}, {"width": -0.1}, {"judged": 41}])
def test_a_state_that_cannot_be_is_refused(wrong: dict) -> None:
    with pytest.raises(ParameterError, match="expected"):
        PlainState(**{"answers": 1, "judged": 1, "items": 40, "width": 1.0, "what": "it", **wrong})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("budget:50", Progress("budget", 30, 50)),
        ("width:0.1", Progress("width", 0.25, 0.1, rising=False)),
        ("none", Progress("none", 12, 40)),
    ],
)
def test_what_a_plain_rule_watches(text: str, expected: Progress) -> None:
    assert plain_progress(parse_stop(text), STATE) == expected


def state_of(confidence: list[float], *, identical: bool = False) -> StopState:
    return StopState(
        judged=10,
        items=50,
        rank=np.array([1, 2, 3]),
        width=np.array([0.3, 0.2, 0.1]),
        confidence=np.array(confidence),
        identical=np.full(3, identical),
    )


WATCHED = [
    ("mean:0.95", 0.8, 0.95),
    ("min:0.9", 0.6, 0.9),
    ("decided:0.5@0.75", 2 / 3, 0.5),
    ("top:1", 0.7, 0.95),
    ("budget:20", 10, 20),
    ("none", 10, 50),
]


@pytest.mark.parametrize(("text", "value", "target"), WATCHED)
def test_what_a_rule_watches(text: str, value: float, target: float) -> None:
    rule = parse_stop(text)
    seen = rule.progress(state_of([0.8, 0.6 if text.startswith("min") else 0.9, 1.0 if "min" in text else 0.7]))
    assert (seen.name, seen.rising, seen.target) == (text.partition(":")[0], True, target)
    assert seen.value == pytest.approx(value)


def test_a_width_falls_to_its_target() -> None:
    assert parse_stop("width:0.05").progress(state_of([0.5] * 3)) == Progress("width", 0.3, 0.05, rising=False)


@pytest.mark.parametrize("text", ["mean:0.95", "min:0.9", "decided:0.9", "top:1"])
def test_nothing_to_compare_is_nothing_to_watch(text: str) -> None:
    assert parse_stop(text).progress(state_of([0.5] * 3, identical=True)).value is None


@pytest.mark.parametrize("text", ["mean:0.8", "min:0.7", "decided:0.6@0.75", "top:1@0.7", "width:0.3", "budget:10"])
def test_a_rule_stops_where_its_progress_reaches_the_target(text: str) -> None:
    rule, reached, short = parse_stop(text), state_of([0.8, 0.9, 0.7]), state_of([0.6, 0.6, 0.6])
    for state in (reached, short):
        seen = rule.progress(state)
        assert seen.value is not None
        assert seen.target is not None
        is_there = seen.value >= seen.target - 1e-9 if seen.rising else seen.value <= seen.target + 1e-9
        assert rule.check(state).stop == is_there
