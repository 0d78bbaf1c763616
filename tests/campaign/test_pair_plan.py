"""Plans of pair questions: drawn from the model, counted in answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from earmark.campaign.loop import play
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.marginal_likelihood import draw_standard_deviations, fit_preferences
from earmark.campaign.pairs.model import StandardDeviations, fit_pairs
from earmark.campaign.pairs.plan import PairPlan, draw_differences, plan_pairs, usual_pair_batch
from earmark.campaign.stopping import parse_stop
from earmark.errors import ParameterError
from earmark.simulation.pair_campaigns import PairWorld, made_up_world


def world(seed: int = 1, **how: object) -> PairWorld:
    usual: dict[str, object] = {"queries": 8, "documents": 20, "pairs": 20, "needed": 3, "skills": (0.7, 0.4, 0.3)}
    return made_up_world(np.random.default_rng(seed), **(usual | how))  # type: ignore[arg-type]


def begin(made: PairWorld, stop: str = "mean:0.9", **how: object) -> PairCampaign:
    return PairCampaign.begin(PairProblem(made.design, made.needed, stop=parse_stop(stop), **how))  # type: ignore[arg-type]


def answered(made: PairWorld, looks: int = 3) -> PairCampaign:
    return list(islice(play(begin(made, "none"), made.answer, batch=10), looks))[-1]


def test_draws_have_the_moments_of_the_posterior() -> None:
    made = world(queries=4, pairs=8)
    campaign = answered(made)
    posterior = fit_preferences(made.design, campaign.answers)
    drawn = posterior.draw(np.random.default_rng(3), 40_000)
    matters = made.design.matters
    covariance = np.array([posterior.covariance_of(int(pair)) for pair in np.flatnonzero(matters)])[:, matters]
    np.testing.assert_allclose(drawn[:, matters].mean(axis=0), posterior.mean[matters], atol=0.05)
    np.testing.assert_allclose(np.cov(drawn[:, matters].T), covariance, atol=0.08)
    assert not drawn[:, ~matters].any()


def test_what_is_peculiar_to_an_answered_pair_follows_its_answers() -> None:
    made = world(queries=3, pairs=6)
    none = begin(made).answers
    pair = int(np.flatnonzero(made.design.matters)[0])
    first = none.first.copy()
    first[pair] = 6
    told = replace(none, first=first)
    posterior = fit_pairs(made.design, told, sds=StandardDeviations(pair=2.0))
    rng = np.random.default_rng(0)
    with_answers = np.array([draw_differences(posterior, told, rng)[pair] for _ in range(600)])
    without = np.array([draw_differences(posterior, none, rng)[pair] for _ in range(600)])
    assert with_answers.mean() > without.mean() + 0.5
    assert with_answers.std() < without.std()


def test_standard_deviations_are_drawn_around_the_usual_one() -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_standard_deviations(rng) for _ in range(2000)]
    system = np.log([one.system for one in drawn])
    assert np.median(system) == pytest.approx(np.log(0.7), abs=0.05)
    assert 0.5 < system.std() < 0.8
    assert {one.consensus for one in drawn} == {StandardDeviations().consensus}


def test_a_budget_is_counted_in_answers() -> None:
    found = plan_pairs(begin(world(), "budget:30"), repeats=3)
    assert found.judgments.tolist() == [90, 90, 90]
    row = found.to_polars(seconds_per_judgment=60, cost_per_judgment=0.1, assessors=2).row(0, named=True)
    assert list(row)[:5] == ["judgments_low", "judgments_median", "judgments_high", "hours", "cost"]
    assert (row["judgments_median"], row["hours"], row["cost"], row["hours_each"]) == (90, 1.5, 9.0, 0.75)
    assert (row["questions"], row["judged"], row["stop"]) == (30, 0, "budget:30")
    assert row["items"] == 3 * int(world().design.matters.sum())


def test_without_a_stop_rule_everything_is_asked() -> None:
    made = world(queries=3, pairs=6)
    told: list[int] = []
    found = plan_pairs(begin(made, "none"), repeats=2, progress=told.append)
    every = made.needed * int(made.design.matters.sum())
    assert found.judgments.tolist() == [every, every]
    assert found.not_reached == 1
    assert sum(told) == 2 * every
    assert any("every question was asked" in note for note in found.notes())


def test_answers_so_far_count_and_are_not_asked_again() -> None:
    made = world()
    campaign = answered(made)
    given = len(campaign.answers)
    assert given
    planned = PairCampaign(replace(campaign.problem, stop=parse_stop("budget:40")), campaign.answers)
    found = plan_pairs(planned, repeats=2)
    assert found.judged == given
    assert found.judgments.tolist() == [120 - given] * 2
    assert "of them given" in found.sentence()
    assert not any("nobody has answered yet" in note for note in found.notes())


def test_the_seed_decides_everything() -> None:
    made = world()
    plans = [plan_pairs(begin(made, seed=seed), repeats=4).judgments.tolist() for seed in (5, 5, 6)]
    assert plans[0] == plans[1] != plans[2]


def test_the_range_holds_for_crowds_that_the_model_can_imagine() -> None:
    """Campaigns of a crowd that was made up another way than by the model mostly end within the range."""
    planned = plan_pairs(begin(world(), "mean:0.9"), repeats=19)
    assert planned.low < planned.median < planned.high
    taken = []
    for seed in range(8):
        made = world(seed)
        *_, last = play(begin(made, "mean:0.9"), made.answer, batch=planned.batch)
        taken.append(len(last.answers))
    inside = sum(planned.low <= count <= planned.high for count in taken)
    assert inside >= 5, (planned.range, taken)


def test_it_is_said_in_words() -> None:
    asked = np.array([90, 120, 120, 150, 150, 150, 180, 180, 240])
    made = PairPlan(asked, asked > 500, judged=0, items=600, stop=parse_stop("mean:0.9"), batch=20, needed=3)
    assert made.sentence() == (
        "About 150 answers (90 to 240) of 600 to 200 questions until mean:0.9, 1.2 hours of answering at 30 s each."
    )
    assert "nobody has answered yet" in made.notes()[-1]


def test_batches_and_repeats() -> None:
    assert (usual_pair_batch(10), usual_pair_batch(600), usual_pair_batch(3001)) == (20, 20, 101)
    with pytest.raises(ParameterError, match="1 simulated campaign or more, got 0"):
        plan_pairs(begin(world()), repeats=0)
