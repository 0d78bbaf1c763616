"""Which pair to ask about next, and what that is expected to tell."""

from __future__ import annotations

import numpy as np
import pytest
from pair_worlds import SDS, small_world, some_answers

from earmark.campaign.pairs.candidates import (
    PairAnswers,
)
from earmark.campaign.pairs.estimates import PreferenceEstimates, estimate_precision
from earmark.campaign.pairs.model import fit_pairs
from earmark.campaign.pairs.policies import PairPolicy, parse_pair_policy, propose_pairs
from earmark.crowd.davidson import outcome_probabilities
from earmark.errors import ParameterError
from earmark.simulation.pair_campaigns import (
    PairWorld,
)


def standing(world: PairWorld, answers: PairAnswers) -> PreferenceEstimates:
    return estimate_precision(fit_pairs(world.design, answers, sds=SDS), answers, needed=world.needed)


@pytest.mark.parametrize("policy", ["adaptive", "told-apart", "random"])
def test_what_is_answered_is_not_asked_again(policy: PairPolicy) -> None:
    world = small_world(0)
    answers = some_answers(world)
    proposal = propose_pairs(standing(world, answers), 1000, np.random.default_rng(0), policy=policy)
    assert sorted(proposal.items.tolist()) == np.flatnonzero(answers.total == 0).tolist()
    again = propose_pairs(standing(world, answers), 1000, np.random.default_rng(0), policy=policy)
    np.testing.assert_array_equal(proposal.items, again.items)


def test_pairs_that_tell_systems_apart_come_first() -> None:
    world = small_world(0)
    estimates = standing(world, some_answers(world, share=0.2))
    apart = world.design.tells_apart
    open_and_apart = int(np.count_nonzero(apart & (estimates.verdicts.left > 0)))
    for policy in ("adaptive", "told-apart"):
        proposal = propose_pairs(estimates, 1000, np.random.default_rng(1), policy=policy)
        assert apart[proposal.items[: open_and_apart // 2]].all()
    told = propose_pairs(estimates, 1000, np.random.default_rng(1), policy="told-apart")
    assert apart[told.items[:open_and_apart]].all()
    assert told.priority.tolist() == [1.0] * open_and_apart + [0.0] * (told.items.size - open_and_apart)


def test_the_priority_is_the_variance_that_answers_take_off() -> None:
    # What is expected of one pair before it is asked, against what happens on average when it is.
    world = small_world(8, needed=6, documents=8, pairs=20)
    answers = some_answers(world, share=0.3)
    estimates = standing(world, answers)
    proposal = propose_pairs(estimates, 1, np.random.default_rng(0), policy="adaptive")
    pair = int(proposal.items[0])
    posterior, rng = estimates.posterior, np.random.default_rng(1)
    after = []
    for _ in range(60):
        eta = posterior.mean[pair] + np.sqrt(posterior.variance[pair] + SDS.pair**2) * rng.normal()
        first, second, _ = (float(p) for p in outcome_probabilities(np.array(eta), posterior.same_weight))
        counts = rng.multinomial(6, [first, second, max(1 - first - second, 0)])
        more = np.zeros((3, answers.total.size), dtype=np.int64)
        more[:, pair] = counts
        after.append(standing(world, answers + PairAnswers(*more)).ranking.estimates.differences.variance[0])
    expected = float(proposal.priority[0]) * 6 * estimates.ranking.estimates.differences.variance[0]
    assert estimates.ranking.estimates.differences.variance[0] - np.mean(after) == pytest.approx(expected, rel=0.35)
    assert expected > 0


def test_what_all_questions_take_off_is_all_there_is() -> None:
    # Chosen one by one, each knowing that those before will have been answered: the shares add up to the whole.
    world = small_world(8)
    estimates = standing(world, some_answers(world, share=0.1))
    proposal = propose_pairs(estimates, 1000, np.random.default_rng(0))
    assert np.sum(proposal.priority * estimates.verdicts.left[proposal.items]) == pytest.approx(1.0, abs=1e-6)
    assert proposal.priority[0] == proposal.priority.max()


def test_policies_by_name() -> None:
    assert parse_pair_policy(" Adaptive ") == "adaptive"
    with pytest.raises(ParameterError, match="unknown policy for pairs 'adaptve': did you mean adaptive"):
        parse_pair_policy("adaptve")
