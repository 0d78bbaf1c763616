"""Estimates of preference precision against sampling and against the truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_worlds import SDS, dense, small_world, some_answers

from earmark.campaign.pairs.candidates import (
    PairAnswers,
    PairDesign,
)
from earmark.campaign.pairs.estimates import estimate_precision, predict_verdicts
from earmark.campaign.pairs.model import PairPosterior, fit_pairs
from earmark.campaign.stopping import StopState
from earmark.crowd.davidson import outcome_probabilities
from earmark.data.conversion import runs_from_dict
from earmark.data.preferences import Preferences
from earmark.measures.preference_precision import AgreementLevel, preference_outcomes, preference_precision
from earmark.simulation.pair_campaigns import (
    PairWorld,
    recorded_world,
)


def test_verdicts_and_their_slopes_by_sampling(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    verdicts = predict_verdicts(posterior, answers, needed=5)
    rng = np.random.default_rng(7)
    unasked = np.flatnonzero((answers.total == 0) & world.design.matters)[:3]
    draws = 200_000
    for pair in unasked:
        eta = posterior.mean[pair] + np.sqrt(posterior.variance[pair]) * rng.normal(size=draws)
        first, second, _ = outcome_probabilities(eta + SDS.pair * rng.normal(size=draws), posterior.same_weight)
        draw = rng.random((5, draws))
        lead = np.sum((draw < first) * 1 - ((draw >= first) & (draw < first + second)), axis=0)
        assert verdicts.first[pair] == pytest.approx(np.mean(lead > 0), abs=0.005)
        assert verdicts.second[pair] == pytest.approx(np.mean(lead < 0), abs=0.005)
        slope = np.cov(lead > 0, eta)[0, 1] / posterior.variance[pair]
        assert verdicts.first_slope[pair] == pytest.approx(slope, abs=0.01)


def test_a_pair_that_is_half_answered_by_weighing_draws(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    verdicts = predict_verdicts(posterior, answers, needed=5)
    begun = np.flatnonzero((answers.total == 3) & world.design.matters)
    assert begun.size > 3
    assert np.all(verdicts.left[begun] == 2)
    # With three of five for one document, the verdict is out.
    led = begun[np.abs(answers.lead[begun]) == 3]
    np.testing.assert_allclose(np.maximum(verdicts.first, verdicts.second)[led], 1.0)
    # Weigh draws of the other pairs' belief about this one by its own answers, as if these had not been used.
    pair = int(begun[np.abs(answers.lead[begun]) == 1][0])
    without = PairAnswers(*(np.where(np.arange(count.size) == pair, 0, count) for count in (
        answers.first, answers.second, answers.same
    )))  # fmt: skip
    before = fit_pairs(world.design, without, sds=SDS)
    rng = np.random.default_rng(8)
    spread = np.sqrt(before.variance[pair] + SDS.pair**2)
    difference = before.mean[pair] + spread * rng.normal(size=400_000)
    first, second, same = outcome_probabilities(difference, posterior.same_weight)
    weight = first ** answers.first[pair] * second ** answers.second[pair] * same ** answers.same[pair]
    draw = rng.random((2, difference.size))
    lead = answers.lead[pair] + np.sum((draw < first) * 1 - ((draw >= first) & (draw < first + second)), axis=0)
    assert verdicts.first[pair] == pytest.approx(np.average(lead > 0, weights=weight), abs=0.02)
    assert verdicts.second[pair] == pytest.approx(np.average(lead < 0, weights=weight), abs=0.02)


def test_variances_by_sampling(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, _, _ = fitted
    answers = some_answers(world)
    posterior = fit_pairs(world.design, answers, sds=SDS)
    estimates = estimate_precision(posterior, answers, needed=world.needed)
    effects, asked = dense(world.design, SDS), np.flatnonzero((answers.total > 0) & world.design.matters)
    inverse = np.linalg.inv(
        np.eye(effects.shape[1]) + effects[asked].T @ (posterior.information[asked, None] * effects[asked])
    )
    rng = np.random.default_rng(9)
    draws, order = 20_000, world.design.order
    root = np.linalg.cholesky(inverse)
    eta = posterior.mean + rng.normal(size=(draws, root.shape[0])) @ (effects @ root).T
    first, second, _ = outcome_probabilities(eta + SDS.pair * rng.normal(size=eta.shape), posterior.same_weight)
    lead = np.zeros(eta.shape)
    for _ in range(world.needed):
        draw = rng.random(eta.shape)
        lead += (draw < first) * 1.0 - ((draw >= first) & (draw < first + second))
    winner = np.where(answers.total > 0, np.sign(answers.lead), np.sign(lead))
    counted = (order != 0)[:, None] & (winner != 0)
    scores = ((order[:, None] == winner) & counted).sum(axis=2) / counted.sum(axis=2)
    np.testing.assert_allclose(estimates.ranking.estimates.scores.mean, scores.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(np.sqrt(np.diag(estimates.ranking.estimates.covariance)), scores.std(axis=1), rtol=0.06)
    assert np.sqrt(estimates.ranking.estimates.differences.variance[0]) == pytest.approx(
        (scores[0] - scores[1]).std(), rel=0.06
    )


def test_when_everything_is_answered_the_truth_is_known() -> None:
    world = small_world(2, skills=(0.7, 0.5, 0.1), same_weight=1.0)
    answers = some_answers(world, share=2.0)
    estimates = estimate_precision(fit_pairs(world.design, answers), answers, needed=world.needed)
    np.testing.assert_allclose(estimates.ranking.estimates.scores.mean, world.truth)
    np.testing.assert_array_equal(estimates.ranking.estimates.differences.variance, 0.0)
    assert estimates.ranking.mean_confidence == 1.0
    low, high = estimates.ranking.low, estimates.ranking.high
    np.testing.assert_allclose(high - low, 0.0, atol=1e-6)


def test_the_truth_is_preference_precision() -> None:
    lists = {"A": {"q": {"x": 3.0, "y": 2.0}, "r": {"z": 2.0, "x": 1.0}}, "B": {"q": {"y": 3.0, "z": 2.0}}}
    rows = [
        (query, a, b, f"w{number}", letter)
        for query, a, b, letters in (("q", "x", "y", "aab"), ("q", "z", "y", "abb"), ("q", "x", "w", "bbb"),
                                     ("r", "x", "z", "aaa"), ("r", "v", "w", "aaa"))
        for number, letter in enumerate(letters)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    preferences, runs = Preferences.from_frame(frame), runs_from_dict(lists)
    world = recorded_world(preferences, runs, k=2)
    measured = preference_precision(preference_outcomes(runs, preferences.pairs(), k=2), AgreementLevel(1, 3))
    np.testing.assert_allclose(world.truth, measured.precision)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_swapping_two_systems_flips_the_sign_and_keeps_the_confidence(seed: int) -> None:
    world = small_world(seed % 7)
    answers = some_answers(world, seed=seed)
    swapped = PairDesign(world.design.pairs, world.design.systems, world.design.order[::-1])
    one, other = (
        estimate_precision(fit_pairs(design, answers), answers, needed=world.needed)
        for design in (world.design, swapped)
    )
    np.testing.assert_allclose(
        one.ranking.estimates.differences.mean, -other.ranking.estimates.differences.mean, atol=1e-6
    )
    np.testing.assert_allclose(one.ranking.confidence, other.ranking.confidence, atol=1e-5)
    np.testing.assert_allclose(one.ranking.low, other.ranking.low[::-1], atol=1e-5)


def test_identical_systems_are_no_question() -> None:
    world = small_world(4)
    design = PairDesign(world.design.pairs, ("a", "b", "c"), np.vstack((world.design.order, world.design.order[:1])))
    answers = some_answers(world)
    estimates = estimate_precision(fit_pairs(design, answers), answers, needed=world.needed)
    assert estimates.ranking.estimates.identical.tolist() == [False, True, False]
    assert estimates.ranking.estimates.differences.mean[1] == 0
    assert estimates.ranking.estimates.differences.variance[1] == 0
    assert estimates.ranking.pairs_frame()["b"].to_list() == ["b", "c"]
    alone = PairDesign(world.design.pairs, ("a",), world.design.order[:1])
    only = estimate_precision(fit_pairs(alone, answers), answers, needed=world.needed)
    assert (only.ranking.mean_confidence, only.ranking.min_confidence) == (None, None)
    assert StopState.from_ranking(only.ranking).confidence.size == 0


def test_pairs_that_count_for_nobody_change_nothing() -> None:
    world = small_world(6, documents=14, depth=3)
    matters = world.design.matters
    assert 0 < matters.sum() < matters.size
    answers = some_answers(world, share=0.6)
    nobody = PairAnswers(*(np.where(matters, count, 0) for count in (answers.first, answers.second, answers.same)))
    one, other = (
        estimate_precision(fit_pairs(world.design, some), some, needed=world.needed) for some in (answers, nobody)
    )
    np.testing.assert_array_equal(one.ranking.estimates.scores.mean, other.ranking.estimates.scores.mean)
    np.testing.assert_array_equal(one.ranking.estimates.covariance, other.ranking.estimates.covariance)


def test_frames_and_summary() -> None:
    world = small_world(4)
    answers = some_answers(world)
    estimates = estimate_precision(fit_pairs(world.design, answers), answers, needed=world.needed)
    systems = estimates.systems_frame()
    assert systems.columns == ["kind", "system", "precision", "low", "high", "rank", "pairs"]
    assert systems["rank"].to_list() == [1, 2]
    summary = estimates.summary()
    assert summary["answers"] == answers.total.sum()
    assert summary["questions"] == answers.total.sum() // world.needed
    assert summary["candidates"] == answers.total.size
