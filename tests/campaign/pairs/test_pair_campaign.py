"""Campaigns of pair questions: replays, stop rules, coverage, and what the adaptive choice saves."""

from __future__ import annotations

from functools import partial
from typing import get_args

import numpy as np
import pytest
from pair_worlds import small_world, some_answers
from scipy.stats import binom

from earmark.campaign.loop import play
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.candidates import (
    PairAnswers,
)
from earmark.campaign.pairs.estimates import predict_verdicts
from earmark.campaign.pairs.model import fit_pairs
from earmark.campaign.pairs.policies import PairPolicy
from earmark.campaign.policies import Proposal
from earmark.campaign.stopping import parse_stop
from earmark.data.preferences import Preferences
from earmark.errors import ParameterError
from earmark.simulation.campaigns import outcomes_frame
from earmark.simulation.pair_campaigns import (
    made_up_world,
    recorded_world,
    runs_with_errors,
    simulate_pairs,
)


def test_a_campaign_ends_with_the_truth() -> None:
    world = small_world(1)
    for one_at_a_time in (False, True):
        last = list(simulate_pairs(world, stop="none", batch=25, one_at_a_time=one_at_a_time))[-1]
        assert (last.kind, last.accuracy, last.coverage_pairs_95, last.error) == ("stop", 1.0, 1.0, pytest.approx(0))
        assert last.reason in ("every pair that counts for a system is answered", "everything is judged")


def test_stop_rules_are_those_of_judgments() -> None:
    world = made_up_world(np.random.default_rng(0), skills=(0.8, 0.1), queries=10, documents=12, depth=6, pairs=20)
    simulated = partial(simulate_pairs, world, batch=10)
    budget = list(simulated(stop="budget:35"))
    assert [int(outcome.questions) for outcome in budget] == [0, 10, 20, 30, 35]
    assert budget[-1].reason == "the budget is used up: 35 judged of 35"
    sure = list(simulated(stop="mean:0.95"))
    assert sure[-1].mean_confidence is not None
    assert sure[-1].mean_confidence >= 0.95
    # A rule about estimates has to hold at two looks in a row.
    assert all(outcome.mean_confidence < 0.95 for outcome in sure[:-2] if outcome.mean_confidence is not None)
    narrow = list(simulated(stop="width:0.3"))[-1]
    assert "the widest interval of a system" in narrow.reason
    decided = list(simulated(stop="decided:0.5", margin=0.05))[-1]
    assert "within a margin of 0.05" in decided.reason
    frame = outcomes_frame(sure)
    assert frame["kind"].to_list() == ["step"] * (len(sure) - 1) + ["stop"]
    with pytest.raises(ParameterError, match="a batch is 1 or more, got 0"):
        list(simulate_pairs(world, batch=0))


def refuse(campaign: PairCampaign, proposal: Proposal) -> PairAnswers:
    """Answer nothing."""
    pytest.fail("nothing should be asked")


def test_answers_from_before_are_built_upon() -> None:
    world = small_world(1)
    answers = some_answers(world)
    problem = PairProblem(world.design, world.needed, stop=parse_stop("budget:0"))
    (campaign,) = play(PairCampaign(problem, answers), refuse, batch=20)
    assert campaign.answers is answers
    assert campaign.look.estimates.answered == answers.total.sum()


def test_a_budget_ends_where_questions_were_begun_before() -> None:
    world = small_world(1)

    def always_first(campaign: PairCampaign, proposal: Proposal) -> PairAnswers:
        first = np.zeros_like(campaign.answers.total)
        first[proposal.items] = campaign.answers_wanted(proposal)
        return PairAnswers(first, 0 * first, 0 * first)

    problem = PairProblem(world.design, world.needed, stop=parse_stop("budget:10"))
    start = PairCampaign(problem, some_answers(world, share=0.1, count=2))
    *_, last = play(start, always_first, batch=4)
    assert last.look.decision.stop
    assert last.look.judged == 10
    assert len(last.propose(5)) == 0


def assert_same(one: PairCampaign, other: PairCampaign, n: int) -> None:
    """Check that two campaigns say the same to the last bit, and propose the same."""
    assert one.look.decision == other.look.decision
    first, second = one.look.estimates, other.look.estimates
    assert first.posterior.sds == second.posterior.sds
    np.testing.assert_array_equal(first.posterior.mean, second.posterior.mean)
    assert first.systems_frame().equals(second.systems_frame())
    assert first.ranking.pairs_frame().equals(second.ranking.pairs_frame())
    assert first.summary() == second.summary()
    assert one.questions(one.propose(n)).equals(other.questions(other.propose(n)))


@pytest.mark.parametrize("policy", ["adaptive", "told-apart", "random"])
@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_a_replay_from_the_answers_alone_is_the_same_to_the_last_bit(policy: PairPolicy, one_at_a_time: bool) -> None:
    world = small_world(1, same_weight=0.6)
    problem = PairProblem(
        world.design, world.needed, policy, parse_stop("budget:24"), one_at_a_time=one_at_a_time, seed=7
    )
    for batch in (4, 11):
        for campaign in play(PairCampaign.begin(problem), world.answer, batch=batch):
            assert_same(campaign, PairCampaign(problem, campaign.answers), batch)


def test_a_campaign_does_not_depend_on_the_batches_its_answers_came_in() -> None:
    world = small_world(1, same_weight=0.6)
    problem = PairProblem(world.design, world.needed)
    answers = some_answers(world)
    asked = np.flatnonzero(answers.total)
    whole = PairCampaign(problem, answers)
    for batch in (1, 7):
        campaign = PairCampaign.begin(problem)
        for start in range(0, asked.size, batch):
            here = np.isin(np.arange(answers.total.size), asked[start : start + batch])
            part = PairAnswers(*(np.where(here, count, 0) for count in (answers.first, answers.second, answers.same)))
            campaign = campaign.with_answers(part)
            if start == 0:
                assert campaign.look.judged == batch
        assert_same(campaign, whole, 5)


def test_a_larger_batch_begins_with_the_smaller_one() -> None:
    world = small_world(1)
    campaign = PairCampaign(PairProblem(world.design, world.needed), some_answers(world))
    np.testing.assert_array_equal(campaign.propose(9).items[:4], campaign.propose(4).items)


def test_the_seed_decides_what_is_drawn() -> None:
    world = small_world(1)
    drawn = [
        PairCampaign.begin(PairProblem(world.design, world.needed, "random", seed=seed)).propose(10).items.tolist()
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_recorded_answers_are_given_in_their_order(melodies: Preferences) -> None:
    runs = runs_with_errors(melodies.pairs(), np.random.default_rng(0), (0.5, 1.5))
    world = recorded_world(melodies, runs, k=50)
    assert (world.signs.shape, world.needed) == ((281, 9), 9)
    pairs = melodies.pairs()
    own = melodies.sign[pairs.answer_pair == 5] * pairs.answer_orientation[pairs.answer_pair == 5]
    np.testing.assert_array_equal(world.signs[5], own[:9])
    with pytest.raises(ParameterError, match="every pair has 9 answers or more: 10 cannot be taken of each"):
        recorded_world(melodies, runs, k=50, needed=10)


def test_worlds_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="a world has 2 documents"):
        made_up_world(np.random.default_rng(0), documents=1)
    world = small_world(0)
    answers = some_answers(world)
    posterior = fit_pairs(world.design, answers)
    with pytest.raises(ParameterError, match="a question needs 1 answer or more, got 0"):
        predict_verdicts(posterior, answers, needed=0)


def within_bounds(held: int, total: int) -> bool:
    """Whether so many of 95% intervals may hold: two-sided, wrong once in a thousand times."""
    return bool(binom.ppf(0.0005, total, 0.95) <= held <= binom.ppf(0.9995, total, 0.95))


@pytest.mark.parametrize(("policy", "widest"), [("adaptive", 0.12), ("random", 0.33)])
def test_intervals_hold_as_often_as_they_say(policy: PairPolicy, widest: float) -> None:
    held, widths, repeats = 0, [], 80
    for repeat in range(repeats):
        world = made_up_world(
            np.random.default_rng([1, repeat]), queries=14, documents=10, depth=5, pairs=9, same_weight=0.5
        )
        last = list(simulate_pairs(world, policy=policy, stop="budget:36", batch=18, seed=2, repeat=repeat))[-1]
        assert last.coverage_pairs_95 is not None
        assert last.half_width_pairs is not None
        held += int(last.coverage_pairs_95)
        widths.append(2 * last.half_width_pairs)
    assert within_bounds(held, repeats)
    assert np.mean(widths) < widest


def test_adaptive_questions_tell_more_about_a_recorded_crowd(melodies: Preferences) -> None:
    found: dict[str, list[tuple[float, float]]] = {"adaptive": [], "random": []}
    for repeat in range(5):
        runs = runs_with_errors(melodies.pairs(), np.random.default_rng([3, repeat]), (1.0, 1.5, 2.0))
        world = recorded_world(melodies, runs, k=50)
        for policy in get_args(PairPolicy)[::2]:
            last = list(simulate_pairs(world, policy=policy, stop="budget:60", batch=30, seed=4, repeat=repeat))[-1]
            assert last.half_width_pairs is not None
            assert last.coverage_pairs_95 is not None
            found[policy].append((last.half_width_pairs, last.coverage_pairs_95))
    narrow, wide = (np.mean(found[policy], axis=0) for policy in ("adaptive", "random"))
    assert narrow[0] < 0.8 * wide[0]
    assert narrow[1] > 0.75
