"""Rules that follow from what people want to know, and two looks in a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.evidence import Answers
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import (
    LOOKS_APART,
    StopDecision,
    StopState,
    confirmed,
    parse_stop,
    rule_for,
    stop_rule,
)
from earmark.data.judgments import Judgments
from earmark.errors import ParameterError
from earmark.inference.intervals import probability_better

SYSTEMS = ("a", "b", "c")


def state(means: tuple[float, ...], sd: float = 0.05, *, judged: int = 10) -> StopState:
    """A state in which every difference has the same standard deviation."""
    mean = np.array(means)
    a, b = np.triu_indices(mean.size, 1)
    delta, variance = mean[a] - mean[b], np.full(a.size, sd**2)

    def beats_by(margin: float) -> np.ndarray:
        return probability_better(delta, variance, margin=margin)

    better = beats_by(0.0)
    return StopState(
        judged=judged,
        items=100,
        rank=np.argsort(np.argsort(-mean)) + 1,
        width=np.full(mean.size, 0.1),
        confidence=np.maximum(better, 1 - better),
        identical=np.zeros(a.size, dtype=bool),
        beats_by=beats_by,
        systems=SYSTEMS[: mean.size],
    )


@pytest.mark.parametrize(
    "text",
    [
        "best:0.95",
        "best:0.9:0.02",
        "order:0.95:0.01",
        "baseline:old:0.95",
        "baseline:a:b:0.9:0.02",
        "baseline:1:0.95:0:0.1",
        "best:0.95:0.02 or budget:300",
    ],
)
def test_rules_read_what_they_print(text: str) -> None:
    rule = parse_stop(text)
    assert str(rule) == text
    assert parse_stop(str(rule), margin=rule.margin_apart) == rule


def test_a_margin_beside_the_rule_counts_in_place_of_its_own() -> None:
    assert str(parse_stop("best:0.95:0.02", margin=0.05)) == "best:0.95:0.05"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("best:95", "did you mean best:0.95"),
        ("best:0.95:x", "expected a number as in best:0.95:0.02"),
        ("best:0.95:-1", "a margin is a difference of scores of 0 or more"),
        ("baseline", "the baseline has no name"),
        ("best:0.95 or bugdet:3", "unknown stop rule"),
    ],
)
def test_rules_that_make_no_sense(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_stop(text)


def test_goals_become_rules() -> None:
    assert str(stop_rule()) == "best:0.95:0.02"
    assert str(rule_for("order", margin=0.0)) == "order:0.95"
    assert str(rule_for("baseline:old")) == "baseline:old:0.95:0.02"
    assert str(rule_for("baseline:old:0.1")) == "baseline:old:0.95:0.02:0.1"
    assert str(stop_rule(goal="order", budget=50)) == "order:0.95:0.02 or budget:50"
    assert str(stop_rule("mean:0.9", budget=50)) == "mean:0.9 or budget:50"
    for goal, said in (("rank", "unknown goal 'rank'"), ("best:3", "the goal best stands alone")):
        with pytest.raises(ParameterError, match=said):
            rule_for(goal)


def test_doubts_about_the_best_add_up() -> None:
    looked = state((0.5, 0.4, 0.3))
    chances = looked.confidence[:2]
    progress = parse_stop("best:0.9").progress(looked)
    assert progress.value == pytest.approx(1 - np.sum(1 - chances))
    assert not parse_stop("best:0.99").check(looked).stop
    # What lies behind the first does not matter to the best, and does to the order.
    tied = state((0.6, 0.3, 0.3))
    assert parse_stop("best:0.95").check(tied).stop
    assert not parse_stop("order:0.95").check(tied).stop
    assert parse_stop("order:0.95:0.2").check(tied).stop
    assert "'a' is the best system is 1.000, at least 0.95" in parse_stop("best:0.95").check(tied).reason


def test_a_margin_lets_near_ties_end() -> None:
    level = state((0.5, 0.5), sd=0.01)
    assert not parse_stop("best:0.95").check(level).stop
    found = parse_stop("best:0.95:0.02").check(level)
    assert found.stop
    assert "is at most 0.02 below the best" in found.reason


@pytest.mark.parametrize(
    ("old", "by", "settled"),
    [
        ("a", "0", True),  # b and c are worse than a by .2 and .3
        ("c", "0", True),
        ("a", "-0.2", False),  # is b better than a by more than -.2? It is just that.
        ("c", "0.1", False),  # b is better than c by just .1
        ("c", "0.2", True),
    ],
)
def test_the_baseline_may_be_any_system(old: str, by: str, settled: bool) -> None:
    looked = state((0.6, 0.4, 0.3), sd=0.03)
    assert parse_stop(f"baseline:{old}:0.95:0:{by}").check(looked).stop is settled


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(ParameterError, match="there is no system 'A1' to be the baseline"):
        parse_stop("baseline:A1:0.9").check(state((0.6, 0.4, 0.3)))


def test_a_budget_ends_what_is_not_answered() -> None:
    rule = parse_stop("best:0.95 or budget:10")
    found = rule.check(state((0.5, 0.5)))
    assert (found.stop, found.final, rule.budget) == (True, True, 10)
    assert rule.progress(state((0.5, 0.5))).name == "best"
    assert not rule.check(state((0.5, 0.5), judged=9)).stop


# Two looks in a row.


def test_one_lucky_look_ends_nothing() -> None:
    lucky, dull = StopDecision(True, "it is so"), StopDecision(False, "it is not")
    assert not confirmed(lucky, lambda: dull).stop
    assert confirmed(lucky, lambda: lucky) is lucky
    single = confirmed(lucky, lambda: None)
    assert single.stop
    assert "this is one look" in single.reason
    spent = StopDecision(True, "the budget is used up", final=True)
    assert confirmed(spent, lambda: dull) is spent


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(3), systems=4, queries=15, documents=150)


def start(made: earmark.SyntheticCollection, **how: Any) -> Campaign:
    return Campaign(Problem.build(made.runs, metadata=made.metadata, scale=made.judgments.scale, **how))


def test_a_replay_stops_where_the_campaign_stopped(made: earmark.SyntheticCollection) -> None:
    campaign = start(made, stop="mean:0.8")
    gains = item_gains(campaign.problem.collection, made.judgments)
    *_, last = play(campaign, oracle(gains), batch=7)
    assert last.look is not None
    assert last.decision.stop
    assert last.at_this_look.stop
    # The look before is that of the answers without the last ten, whatever the batches were.
    before = last.log.without_last(LOOKS_APART)
    assert before is not None
    assert before.position == last.position - LOOKS_APART
    assert Campaign(last.problem, before).at_this_look.stop
    again = Campaign(last.problem, last.log)
    assert again.decision == last.decision
    # One by one it comes to the same decision at the same answers.
    items = np.array(again.evidence.order)
    single = start(made, stop="mean:0.8")
    for item in items:
        single = single.with_answers(Answers(np.array([item]), gains[[item]]))
    assert single.decision.stop
    assert single.decision.reason == last.decision.reason


def test_nothing_stops_before_two_looks(made: earmark.SyntheticCollection) -> None:
    # The least that chance gives from the first look on; but there was no look ten answers ago. It is never too early
    # for a model whose verdicts are its own claims.
    campaign = start(made, stop="mean:0.45", predictor="uniform")
    gains = item_gains(campaign.problem.collection, made.judgments)
    first = campaign.propose(3).items
    after = campaign.with_answers(Answers(first, gains[first]))
    assert after.at_this_look.stop
    assert not after.decision.stop
    assert "two looks in a row" in after.decision.reason
    strict = start(made, stop="mean:0.999").with_answers(Answers(first, gains[first]))
    assert not strict.decision.stop


def test_files_of_judgments_are_one_look(made: earmark.SyntheticCollection) -> None:
    judgments = Judgments(made.judgments.frame.sample(60, seed=1), made.judgments.scale)
    campaign = Campaign.build(made.runs, judgments, metadata=made.metadata, stop="mean:0.6")
    assert campaign.decision.stop
    assert "this is one look" in campaign.decision.reason
    # Judgments that tell when they were made are looked at twice.
    when = pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 1, 2), "1h", eager=True).head(20)
    timed = Judgments.from_frame(
        made.judgments.frame.sample(20, seed=1).select("query", "document", "gain").with_columns(time=when),
        scale=made.judgments.scale,
    )
    known = Campaign.build(made.runs, timed, metadata=made.metadata, stop="mean:0.6")
    assert known.log.without_last(LOOKS_APART) is not None
    assert "one look" not in known.decision.reason


def test_the_goal_turns_the_policy_to_its_pairs(made: earmark.SyntheticCollection) -> None:
    some = made.judgments.frame.sample(40, seed=1)
    judgments = Judgments(some, made.judgments.scale)
    campaign = Campaign.build(made.runs, judgments, metadata=made.metadata, policy="variance:goal", audit=0.0)
    by_order = Campaign.build(
        made.runs, judgments, metadata=made.metadata, policy="variance:goal", audit=0.0, goal="order"
    )
    everything = Campaign.build(made.runs, judgments, metadata=made.metadata, policy="variance", audit=0.0)
    # The order is about all pairs, as the policy is without a goal.
    assert by_order.propose(30).items.tolist() == everything.propose(30).items.tolist()
    assert campaign.propose(30).items.tolist() != everything.propose(30).items.tolist()
