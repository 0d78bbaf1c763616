"""Stop rules: at, below and above their targets; what cannot be compared; what cannot be read."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import earmark
from earmark.beliefs.beliefs import uniform_beliefs
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.campaign.stopping import (
    Budget,
    DecidedPairs,
    IntervalWidth,
    MeanConfidence,
    MinConfidence,
    Never,
    StopState,
    TopSystems,
    parse_stop,
)
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems

FORMS = ["mean:0.95", "min:0.95", "decided:0.9", "top:1", "width:0.05", "budget:500", "none"]
ON_PAIRS = ["mean:0.95", "min:0.95", "decided:0.9", "top:1"]


def state_of(confidence=(), *, identical=None, judged=10, items=100, width=None, rank=None, beats_by=None) -> StopState:
    confidence = np.asarray(confidence, dtype=float)
    n_systems = round((1 + math.sqrt(1 + 8 * confidence.size)) / 2)
    return StopState(
        judged=judged,
        items=items,
        rank=np.arange(1, n_systems + 1) if rank is None else np.asarray(rank),
        width=np.full(n_systems, 0.5) if width is None else np.asarray(width, dtype=float),
        confidence=confidence,
        identical=np.zeros(confidence.size, dtype=bool) if identical is None else np.asarray(identical),
        beats_by=beats_by,
    )


def normal_differences(mean, deviation):
    """Probabilities of normal differences, as an estimate would give them."""
    return lambda margin: norm.sf(margin, loc=mean, scale=deviation)


def decide(rule: str, state: StopState, margin: float = 0.0):
    decision = parse_stop(rule, margin=margin).check(state)
    assert type(decision.stop) is bool
    return decision.stop, decision.reason


# ---- targets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        ([0.9, 0.96, 0.98], (False, "the mean confidence is 0.947, below 0.95")),
        ([0.9, 0.95, 1.0], (True, "the mean confidence is 0.950, at least 0.95")),
        ([0.95, 0.95, 0.95], (True, "the mean confidence is 0.950, at least 0.95")),
        ([0.9, 1.0, 1.0], (True, "the mean confidence is 0.967, at least 0.95")),
        ([0.94999, 0.95, 0.95], (False, "the mean confidence is 0.949997, below 0.95")),
    ],
)
def test_mean(confidence, expected):
    assert decide("mean:0.95", state_of(confidence)) == expected


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        ([0.949, 1, 1], (False, "the least confidence is 0.949, below 0.95")),
        ([0.95, 1, 1], (True, "the least confidence is 0.950, at least 0.95")),
        ([0.96, 1, 1], (True, "the least confidence is 0.960, at least 0.95")),
    ],
)
def test_min(confidence, expected):
    assert decide("min:0.95", state_of(confidence)) == expected


@pytest.mark.parametrize(
    ("undecided", "stop", "reason"),
    [
        (2, False, "8 of 10 are, fewer than the wanted share of 0.9"),
        (1, True, "9 of 10 are, at least the wanted share of 0.9"),
        (0, True, "10 of 10 are, at least the wanted share of 0.9"),
    ],
)
def test_decided(undecided, stop, reason):
    confidence = [0.9499] * undecided + [0.95] * (10 - undecided)
    before = "decided pairs (confidence of 0.95 or more): "
    assert decide("decided:0.9", state_of(confidence)) == (stop, before + reason)


def test_decided_with_another_confidence():
    state = state_of([0.99, 0.97, 0.5])
    assert decide("decided:0.5", state)[0]
    assert not decide("decided:0.5@0.98", state)[0]
    assert decide("decided:0.3@0.98", state)[0]


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        # Of systems 1, 2 and 3, pairs 12, 13 and 23: the last does not matter to the first place.
        ([0.96, 0.98, 0.5], (False, "the confidence in the best system is 0.940, below 0.95")),
        ([0.97, 0.98, 0.5], (True, "the confidence in the best system is 0.950, at least 0.95")),
        ([0.99, 0.99, 0.5], (True, "the confidence in the best system is 0.980, at least 0.95")),
        ([0.5, 0.5, 0.5], (False, "the confidence in the best system is 0.000, below 0.95")),
        ([0.4, 0.4, 0.5], (False, "the confidence in the best system is 0.000, below 0.95")),
    ],
)
def test_top(confidence, expected):
    assert decide("top:1", state_of(confidence)) == expected


def test_top_looks_at_the_pairs_that_cross_the_line():
    ranks = [3, 1, 4, 2]  # the order is b, d, a, c
    pairs = list(combinations("abcd", 2))
    crossing = {("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")}
    sure = np.array([0.99 if pair in crossing else 0.5 for pair in pairs])
    assert decide("top:2", state_of(sure, rank=ranks)) == (
        True,
        "the confidence in the best 2 systems is 0.960, at least 0.95",
    )
    for pair in range(6):
        less = sure.copy()
        less[pair] = 0.9
        assert decide("top:2", state_of(less, rank=ranks))[0] == (pairs[pair] not in crossing)
    assert not decide("top:2@0.97", state_of(sure, rank=ranks))[0]
    assert not decide("top:1", state_of(sure, rank=ranks))[0]


def test_systems_that_share_the_first_place_are_not_told_apart():
    assert not decide("top:1", state_of([0.5, 0.999, 0.999], rank=[1, 1, 3]))[0]
    # Unless they cannot differ: then either is as good.
    same = state_of([0.5, 0.999, 0.999], rank=[1, 1, 3], identical=[True, False, False])
    assert decide("top:1", same)[0]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ([0.01, 0.051], (False, "the widest interval of a system is 0.051, wider than 0.05")),
        ([0.01, 0.05], (True, "the widest interval of a system is 0.050, no wider than 0.05")),
        ([0.01, 0.55 - 0.5], (True, "the widest interval of a system is 0.050, no wider than 0.05")),
        ([0.01, 0.04], (True, "the widest interval of a system is 0.040, no wider than 0.05")),
        ([0.01, 0.0500004], (False, "the widest interval of a system is 0.0500004, wider than 0.05")),
        ([0.01, np.inf], (False, "the widest interval of a system is inf, wider than 0.05")),
    ],
)
def test_width(width, expected):
    assert decide("width:0.05", state_of([0.9], width=width)) == expected


def test_width_of_one_system_and_of_none():
    assert decide("width:0.05", state_of(width=[0.04]))[0]
    none = StopState(0, 1, np.zeros(0, int), np.zeros(0), np.zeros(0), np.zeros(0, bool))
    assert decide("width:0.05", none) == (False, "there are no systems: only judging everything ends this")


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (1499, (False, "the budget is not used up: 1,499 judged of 1,500")),
        (1500, (True, "the budget is used up: 1,500 judged of 1,500")),
        (1501, (True, "the budget is used up: 1,501 judged of 1,500")),
    ],
)
def test_budget(judged, expected):
    assert decide("budget:1500", state_of([0.5], judged=judged, items=5000)) == expected


def test_a_budget_of_nothing_stops_at_once():
    assert decide("budget:0", state_of([0.5], judged=0)) == (True, "the budget is used up: 0 judged of 0")


def test_none_goes_on():
    said = "no stop rule: judging goes on until everything is judged"
    assert decide("none", state_of([1.0], width=[0, 0], judged=99)) == (False, said)


# ---- what is always so -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", FORMS)
@pytest.mark.parametrize("confidence", [[], [0.5], [0.5, 0.5, 0.5]])
def test_everything_judged_always_stops(rule, confidence):
    for items in (0, 7):
        assert decide(rule, state_of(confidence, judged=items, items=items)) == (True, "everything is judged")


@pytest.mark.parametrize("rule", ON_PAIRS)
def test_with_nothing_to_compare_there_is_no_confidence_to_reach(rule):
    said = "there are no two systems that could differ, hence no confidence to reach: only judging everything ends this"
    assert decide(rule, state_of([], judged=99)) == (False, said)
    same = state_of([np.nan, np.nan, np.nan], identical=[True, True, True], judged=99)
    assert decide(rule, same) == (False, said)


@pytest.mark.parametrize("rule", ON_PAIRS)
@pytest.mark.parametrize("nonsense", [np.nan, 0.5, 1.0, -3.0])
def test_identical_pairs_never_count(rule, nonsense):
    # Systems 1 and 2 cannot differ; the third does.
    identical = [True, False, False]
    assert decide(rule, state_of([nonsense, 0.99, 0.99], identical=identical))[0]
    assert not decide(rule, state_of([nonsense, 0.9, 0.9], identical=identical))[0]


def test_all_systems_at_the_top():
    said = "all 3 systems are among the best 3: only judging everything ends this"
    assert decide("top:3", state_of([1, 1, 1])) == (False, said)
    assert decide("top:4", state_of([1, 1, 1]))[0] is False


@given(st.lists(st.floats(0.5, 1), min_size=3, max_size=3), st.lists(st.floats(0, 0.5), min_size=3, max_size=3))
def test_more_confidence_never_undoes_a_stop_and_min_asks_for_most(confidence, more):
    state = state_of(confidence)
    surer = state_of(np.minimum(1, np.array(confidence) + more))
    for rule in ON_PAIRS:
        assert decide(rule, surer)[0] or not decide(rule, state)[0]
    if decide("min:0.95", state)[0]:
        assert decide("mean:0.95", state)[0]
    if all(value >= 0.95 for value in confidence):
        assert decide("min:0.95", state)[0]
        assert decide("decided:0.9", state)[0]


@given(st.floats(0.01, 0.99), st.floats(0, 1))
def test_a_reason_shows_on_which_side_it_is(target, value):
    stop, reason = decide(f"min:{target!r}", state_of([value]))
    shown = float(reason.split(" is ")[1].split(",")[0])
    if stop:
        assert shown >= target - 1e-11
        assert "at least" in reason
    else:
        assert shown < target
        assert "below" in reason


# ---- margins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ON_PAIRS)
def test_a_margin_decides_near_ties(rule):
    mean, deviation = np.array([0.001]), 0.004
    confidence = norm.cdf(np.abs(mean) / deviation)
    state = state_of(confidence, beats_by=normal_differences(mean, deviation))
    assert not decide(rule, state)[0]
    stop, reason = decide(rule, state, margin=0.01)  # P(Δ > −.01) = Φ(2.75) = .997
    assert stop
    assert "within a margin of 0.01" in reason
    assert not decide(rule, state, margin=0.004)[0]  # Φ(1.25) = .894


@given(st.floats(-0.2, 0.2), st.floats(0.001, 0.1), st.floats(0, 0.1))
def test_confidence_within_a_margin(mean, deviation, margin):
    forwards = state_of([norm.cdf(abs(mean) / deviation)], beats_by=normal_differences(np.array([mean]), deviation))
    backwards = state_of([norm.cdf(abs(mean) / deviation)], beats_by=normal_differences(np.array([-mean]), deviation))
    within = forwards.confidence_within(margin)
    # The system that looks better is worse by no more than the margin.
    assert within[0] == pytest.approx(norm.cdf((abs(mean) + margin) / deviation))
    assert within[0] >= forwards.confidence[0] - 1e-12
    assert within[0] == pytest.approx(backwards.confidence_within(margin)[0])


def test_a_margin_says_so_in_the_reason():
    state = state_of([0.6], beats_by=normal_differences(np.array([0.0]), 0.1))
    assert decide("mean:0.95", state, margin=0.05) == (
        False,
        "the mean confidence within a margin of 0.05 is 0.691, below 0.95",
    )
    assert decide("decided:0.9", state, margin=0.05)[1].startswith(
        "decided pairs (confidence of 0.95 or more within a margin of 0.05): 0 of 1"
    )


def test_a_margin_without_probabilities():
    with pytest.raises(ParameterError, match=r"a margin of 0.01 needs the probability of differences that large"):
        decide("mean:0.95", state_of([0.9]), margin=0.01)


def test_a_margin_with_probabilities_that_are_none():
    state = state_of([0.9], beats_by=lambda margin: np.array([np.nan]))
    with pytest.raises(ParameterError, match="expected confidences from 0 to 1, got NaN"):
        decide("mean:0.95", state, margin=0.01)


# ---- rankings --------------------------------------------------------------------------------------------------------


def ranking_of(gains):
    lists = {
        "A": {"q": {"d1": 3, "d2": 2}},
        "B": {"q": {"d1": 3, "d3": 2}},
        "twin of A": {"q": {"d1": 3, "d2": 2}},
    }
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    beliefs = uniform_beliefs(collection, scale=earmark.BINARY).with_judgments(list(gains), list(gains.values()))
    return rank_systems(estimate_linear(collection, beliefs, earmark.parse("AG@2")))


def test_a_ranking_has_what_rules_look_at():
    ranking = ranking_of({1: 1.0})  # d2 is relevant, d3 may be
    state = StopState.from_ranking(ranking)
    assert (state.judged, state.items) == (1, 3)
    assert state.rank.tolist() == [1, 3, 1]
    assert state.compared.tolist() == [True, False, True]  # A and its twin cannot differ
    np.testing.assert_allclose(state.width, ranking.high - ranking.low)
    assert decide("mean:0.8", state)[0]  # Φ(1) = .841
    assert not decide("mean:0.85", state)[0]
    assert decide("mean:0.85", state, margin=0.1)[0]  # Φ(1.4) = .919
    assert not decide("width:0.05", state)[0]


def test_a_ranking_with_everything_judged_stops():
    assert decide("none", StopState.from_ranking(ranking_of({0: 1.0, 1: 1.0, 2: 0.0}))) == (
        True,
        "everything is judged",
    )


# ---- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": [0.9, np.nan, 0.9]}, r"expected confidences from 0 to 1, got NaN or a number outside: no rule"),
        ({"confidence": [0.9, 1.1, 0.9]}, r"expected confidences from 0 to 1"),
        ({"width": [0.1, np.nan, 0.1]}, r"expected intervals of width 0 or more, got NaN or a negative number"),
        ({"width": [0.1, -0.1, 0.1]}, r"expected intervals of width 0 or more"),
        ({"width": [0.1, 0.1]}, r"expected 'width' for each of 3 systems, got shape \(2,\)"),
        ({"identical": [True]}, r"expected 'identical' for each of 3 pairs, got shape \(1,\)"),
        ({"rank": [1, 2]}, r"expected 'width' for each of 2 systems, got shape \(3,\)"),
        ({"rank": [1, 2], "width": [0, 0]}, r"expected 'confidence' for each of 1 pairs, got shape \(3,\)"),
        ({"judged": 101}, r"expected 0 to 100 judged items, got 101"),
        ({"judged": -1}, r"expected 0 to 100 judged items, got -1"),
    ],
)
def test_states_that_make_no_sense(change, message):
    with pytest.raises(ParameterError, match=message):
        state_of(**{"confidence": [0.9, 0.9, 0.9], **change})


# ---- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("mean:0.95", MeanConfidence(0.95)),
        ("min:0.9", MinConfidence(0.9)),
        ("decided:0.9", DecidedPairs(0.9)),
        ("decided:0.9@0.99", DecidedPairs(0.9, 0.99)),
        ("top:1", TopSystems(1)),
        ("top:3@0.9", TopSystems(3, 0.9)),
        ("width:0.05", IntervalWidth(0.05)),
        ("budget:500", Budget(500)),
        ("none", Never()),
    ],
)
def test_forms(text, rule):
    assert parse_stop(text) == rule
    assert str(rule) == text
    assert parse_stop(f"  {text.upper()} ") == rule


confidences = st.floats(0, 1, exclude_min=True, exclude_max=True)
margins = st.floats(0, 1)
rules = st.one_of(
    st.builds(MeanConfidence, confidences, margin=margins),
    st.builds(MinConfidence, confidences, margin=margins),
    st.builds(DecidedPairs, confidences, confidences, margin=margins),
    st.builds(TopSystems, st.integers(1), confidences, margin=margins),
    st.builds(IntervalWidth, st.floats(0, exclude_min=True, allow_infinity=False)),
    st.builds(Budget, st.integers(0)),
    st.just(Never()),
)


@given(rules)
def test_rules_come_back_from_what_they_print(rule):
    assert parse_stop(str(rule), margin=rule.margin) == rule


def test_the_confidence_from_which_a_pair_is_decided():
    asked = {
        "mean:0.9": 0.9,
        "min:0.8": 0.8,
        "decided:0.5@0.7": 0.7,
        "top:2@0.6": 0.6,
        "top:2": 0.95,
        "width:0.1": 0.95,
    }
    assert {text: parse_stop(text).pair_confidence for text in asked} == asked


ALL_FORMS = (
    r"\(?there are baseline:NAME:0.95, best:0.95, order:0.95, mean:0.95, min:0.95, decided:0.9, top:1, width:0.05, "
    r"budget:500, none\)?"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maen:0.95", rf"unknown stop rule 'maen:0.95': did you mean mean:0.95\? {ALL_FORMS}"),
        ("bugdet:5", rf"unknown stop rule 'bugdet:5': did you mean budget:500\? {ALL_FORMS}"),
        ("xyzzy", rf"unknown stop rule 'xyzzy': {ALL_FORMS}"),
        ("", rf"unknown stop rule '': {ALL_FORMS}"),
        ("0.95", rf"unknown stop rule '0.95': {ALL_FORMS}"),
        ("mean", r"expected a number as in mean:0.95, got ''"),
        ("mean:high", r"expected a number as in mean:0.95, got 'high'"),
        ("mean:1", r"'mean:1': a confidence to reach lies between 0 and 1, got 1$"),
        ("mean:95", r"'mean:95': a confidence to reach lies between 0 and 1, got 95: did you mean mean:0.95\?"),
        ("mean:0", r"'mean:0': a confidence to reach lies between 0 and 1, got 0$"),
        ("mean:nan", r"'mean:nan': a confidence to reach lies between 0 and 1, got nan$"),
        ("min:-0.1", r"'min:-0.1': a confidence to reach lies between 0 and 1, got -0.1$"),
        ("min:inf", r"'min:inf': a confidence to reach lies between 0 and 1, got inf$"),
        ("decided:1", r"'decided:1': a share of pairs lies between 0 and 1, got 1 \(for all of them: min:0.95\)"),
        ("decided:90", r"'decided:90': a share of pairs .*, got 90: did you mean decided:0.9\? \(for all of them"),
        ("decided:nan", r"'decided:nan': a share of pairs lies between 0 and 1, got nan"),
        ("decided:0.9@1", r"'decided:0.9@1': a confidence to reach lies between 0 and 1, got 1$"),
        ("decided:0.9@", r"expected a number as in decided:0.9@0.95, got ''"),
        ("top:0", r"'top:0': the number of best systems is 1 or more, got 0"),
        ("top:-2", r"'top:-2': the number of best systems is 1 or more, got -2"),
        ("top:0.5", r"expected a whole number as in top:1, got '0.5'"),
        ("top:1@95", r"'top:1@95': a confidence to reach lies .*, got 95: did you mean top:1@0.95\?"),
        ("width:0", r"'width:0': the width of an interval is above 0, got 0"),
        ("width:-1", r"'width:-1': the width of an interval is above 0, got -1"),
        ("width:nan", r"'width:nan': the width of an interval is above 0, got nan"),
        ("width:inf", r"'width:inf': the width of an interval is above 0, got inf"),
        ("budget:-5", r"'budget:-5': a budget is 0 judgments or more, got -5"),
        ("budget:12.5", r"expected a whole number as in budget:500, got '12.5'"),
        ("budget", r"expected a whole number as in budget:500, got ''"),
        ("none:5", r"the stop rule none stands alone, got 'none:5'"),
    ],
)
def test_rules_that_make_no_sense(text, message):
    with pytest.raises(ParameterError, match=message):
        parse_stop(text)


@pytest.mark.parametrize("rule", ["width:0.05", "budget:500", "none"])
def test_rules_without_a_margin(rule):
    takers = "baseline, best, order, mean, min, decided, top"
    message = f"a margin means nothing to the stop rule {rule}: it is for {takers}"
    with pytest.raises(ParameterError, match=message):
        parse_stop(rule, margin=0.01)


@pytest.mark.parametrize("margin", [-0.01, math.nan, math.inf])
def test_margins_that_make_no_sense(margin):
    with pytest.raises(ParameterError, match=f"a margin is a difference of scores of 0 or more, got {margin:g}"):
        parse_stop("mean:0.95", margin=margin)
