"""A campaign: a function of its problem and its log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle, step
from earmark.campaign.evidence import Answers, Evidence
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference
from earmark.data.judgments import Judgments
from earmark.errors import ParameterError


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(0), systems=4, queries=10, documents=80)


@pytest.fixture(scope="module")
def problem(made) -> Problem:
    return Problem.build(made.runs, metadata=made.metadata, measure="AG@5", scale=earmark.FINE, seed=5)


@pytest.fixture(scope="module")
def truth(made, problem) -> np.ndarray:
    return item_gains(problem.collection, made.judgments)


def test_gains_go_to_their_own_items_in_whatever_order_they_are_given(problem, truth):
    items = np.array([30, 2, 17])
    for order in ([0, 1, 2], [2, 0, 1]):
        campaign = Campaign(problem).with_answers(Answers(items[order], truth[items[order]]))
        np.testing.assert_array_equal(campaign.gains[items], truth[items])
    with pytest.raises(ParameterError, match="a gain for each of 3 items"):
        Answers(items, truth[items[:2]])


def test_evidence_that_grows_with_answers_is_that_of_the_log(problem, truth):
    campaign = Campaign(problem)
    for start in range(0, 24, 4):
        items = np.random.default_rng(start).permutation(problem.collection.n_items)[:4]
        campaign = campaign.with_answers(Answers(items, truth[items], assessor="ann"))
        derived = Evidence.from_log(problem, campaign.log)
        np.testing.assert_array_equal(campaign.evidence.gains, derived.gains)
        np.testing.assert_array_equal(campaign.evidence.order, derived.order)
        assert campaign.position == campaign.log.position


def test_judging_again_replaces_and_another_assessor_is_kept(problem):
    item = np.array([7])
    one = Campaign(problem).with_answers(Answers(item, np.array([10.0]), assessor="ann"))
    again = one.with_answers(Answers(item, np.array([30.0]), assessor="ann"))
    assert (again.judged, again.gains[7], len(again.log)) == (1, 30.0, 2)
    other = again.with_answers(Answers(item, np.array([50.0]), assessor="bob"))
    assert (other.judged, other.gains[7], other.position) == (1, 40.0, 2)
    assert other.evidence.answers is not None


def test_more_judgments_keep_those_so_far(made, problem):
    frame = made.judgments.frame.select("query", "document", "gain")
    first = Campaign.from_judgments(problem, Judgments.from_frame(frame[:60], scale=earmark.FINE))
    both = first.with_judgments(Judgments.from_frame(frame[60:70], scale=earmark.FINE))
    assert (first.judged, both.judged) == (60, 70)
    with pytest.raises(ParameterError, match="the campaign judges on the scale fine"):
        first.with_judgments(Judgments.from_frame(frame[:1].with_columns(gain=pl.lit(1.0)), scale=earmark.BROAD))


def test_a_step_depends_on_its_arguments_alone(problem, truth):
    campaign = next(one for one in play(Campaign(problem), oracle(truth), batch=9) if one.judged >= 27)
    first, second = (step(problem, campaign.log, n=6) for _ in range(2))
    fresh = step(replace(problem), campaign.log, n=6)
    for one in (second, fresh):
        np.testing.assert_array_equal(first.proposal.items, one.proposal.items)
        assert first.look is not None
        assert one.look is not None
        np.testing.assert_array_equal(first.look.ranking.confidence, one.look.ranking.confidence)


def test_pending_items_are_not_proposed_and_leave_the_others_in_their_order(problem, truth):
    campaign = Campaign(problem).with_answers(Answers(np.arange(5), truth[:5]))
    wanted = campaign.propose(10).items
    others = campaign.propose(10, pending=wanted[:4]).items
    assert not set(wanted[:4]) & set(others)
    assert step(problem, campaign.log, wanted[:4], 10).proposal.items.tolist() == others.tolist()


def test_proposals_are_drawn_anew_as_answers_come_in(made, truth):
    random = Problem.build(made.runs, metadata=made.metadata, policy="random", scale=earmark.FINE)
    before = Campaign(random)
    assert before.propose(8).items.tolist() == Campaign(random).propose(8).items.tolist()
    after = before.with_answers(Answers(np.array([0]), truth[[0]]))
    assert before.propose(8).items.tolist() != after.propose(8).items.tolist()


def test_a_budget_is_kept_and_counts_what_is_pending(made, truth):
    problem = Problem.build(made.runs, stop="budget:12", scale=earmark.FINE)
    campaign = Campaign(problem).with_answers(Answers(np.arange(9), truth[:9]))
    assert len(campaign.propose(20)) == 3
    assert len(campaign.propose(20, pending=[20, 21])) == 1
    assert not campaign.decision.stop


def test_nothing_is_concluded_before_a_sample_is_there(made, truth):
    problem = Problem.build(made.runs, inference=Inference("design"), scale=earmark.FINE)
    campaign = Campaign(problem)
    assert campaign.look is None
    assert step(problem, campaign.log, n=4).proposal.sampled.all()
    first = next(play(campaign, oracle(truth), batch=25))
    assert first.verdict.sampled is not None
    assert first.has_marked_sample


def test_a_changed_setting_is_an_event(problem):
    changed = Campaign(problem).with_settings(stop=Problem.build(problem.runs, stop="top:1").stop)
    assert str(changed.problem.stop) == "top:1"
    assert changed.log.of_kind("changed")["text"].to_list() == ["stop: top:1"]
    assert changed.judged == 0


def test_a_rejected_assessor_changes_what_follows(problem, truth):
    items = np.arange(40)
    campaign = Campaign(problem).with_answers(Answers(items, truth[items], assessor="ann"))
    noisy = campaign.with_answers(Answers(np.arange(40, 60), np.zeros(20), assessor="bob"))
    rejected = Campaign(problem, noisy.log.with_events({"kind": "rejected", "assessor": "bob"}))
    assert (noisy.judged, rejected.judged) == (60, 40)
    np.testing.assert_array_equal(rejected.ranking.confidence, campaign.ranking.confidence)
    after = rejected.with_answers(Answers(np.array([70]), truth[[70]], assessor="bob"))
    assert after.judged == 40, "answers of a rejected assessor do not count"


@pytest.mark.parametrize("predictor", ["ordinal", "hierarchical"])
def test_updates_come_at_fixed_counts_whatever_the_batches(made, truth, predictor):
    def end(batch: int, every: int) -> Campaign:
        problem = Problem.build(
            made.runs,
            metadata=made.metadata,
            scale=earmark.FINE,
            predictor=predictor,
            policy="proportional",
            stop="budget:90",
            update_every=every,
        )
        return list(play(Campaign(problem), oracle(truth), batch=batch))[-1]

    one, other = end(7, 20), end(25, 20)
    np.testing.assert_array_equal(one.beliefs.mean, other.beliefs.mean)
    if predictor == "ordinal":
        assert not np.array_equal(one.beliefs.mean, end(7, 1).beliefs.mean)


@pytest.mark.parametrize("gain", [-1.0, 101.0, np.nan])
def test_gains_off_the_scale_are_refused(problem, gain):
    with pytest.raises(ParameterError, match="expected gains of 0 to 100"):
        Campaign(problem).with_answers(Answers(np.array([0]), np.array([gain])))


def test_means_of_several_assessors_may_answer(made):
    problem = Problem.build(made.runs, scale=earmark.BROAD, stop="budget:30")
    halves = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 1.5, 2.0], problem.collection.n_items)
    end = list(play(Campaign(problem), oracle(halves), batch=10))[-1]
    again = Campaign(problem, end.log)
    np.testing.assert_array_equal(again.gains, end.gains)
