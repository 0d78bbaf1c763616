"""Pair questions: the model against dense algebra and sampling, estimates against the truth, policies by savings."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom

from earmark.campaign.pair_candidates import answers_about, make_candidates, make_design, pool_candidates
from earmark.campaign.pair_design import PairAnswers, PairDesign, Spreads
from earmark.campaign.pair_estimates import PreferenceEstimates, estimate_precision, foresee_verdicts
from earmark.campaign.pair_model import PairPosterior, fit_pairs, pair_likelihood
from earmark.campaign.pair_questions import (
    PairBeliever,
    PairPolicy,
    parse_pair_policy,
    play_pairs,
    propose_pairs,
    tells_apart,
)
from earmark.campaign.pair_spreads import PairEvidence, choose_spreads
from earmark.campaign.stopping import parse_stop
from earmark.crowd.paired_comparison import outcome_probabilities
from earmark.data.arrays import Floats
from earmark.data.conversion import runs_from_dict
from earmark.data.preferences import Preferences
from earmark.errors import InputError, ParameterError
from earmark.measures.preference import AgreementLevel, preference_outcomes, preference_precision
from earmark.simulation.pair_campaigns import (
    PairWorld,
    made_up_world,
    outcomes_frame,
    recorded_world,
    runs_with_errors,
    simulate_pairs,
)

SPREADS = Spreads(0.5, 0.4, 0.6, 0.8, 0.7, 1.2)


def small_world(seed: int, **more: object) -> PairWorld:
    size = {"queries": 6, "documents": 10, "depth": 5, "pairs": 14, "needed": 5}
    return made_up_world(np.random.default_rng(seed), **{**size, **more})  # type: ignore[arg-type]


def some_answers(world: PairWorld, share: float = 0.4, seed: int = 0, count: int | None = None) -> PairAnswers:
    """Take all answers, or the first few, about some of the pairs."""
    rng = np.random.default_rng(seed)
    asked = rng.random(world.signs.shape[0]) < share
    signs = world.signs[:, : world.needed if count is None else count]
    first, second, same = (np.where(asked, np.sum(signs == sign, axis=1), 0) for sign in (1, -1, 0))
    return PairAnswers(first, second, same)


# The model


def dense(design: PairDesign, spreads: Spreads) -> Floats:
    """Every pair's effects in one matrix, divided by nothing: consensus, systems, documents; then the same by query."""
    pairs, order = design.pairs, design.order
    n_queries, n_documents = len(pairs.queries), len(pairs.documents)
    used = {(int(d), int(q)) for q, *both in zip(
        pairs.query_index[design.matters], pairs.first_index[design.matters], pairs.second_index[design.matters],
        strict=True,
    ) for d in both}  # fmt: skip
    occurs = np.bincount([d for d, _ in used], minlength=n_documents)
    documents = np.zeros((len(pairs), n_documents))
    documents[np.arange(len(pairs)), pairs.first_index] = 1
    documents[np.arange(len(pairs)), pairs.second_index] = -1
    systems = np.vstack((order.mean(axis=0), order)).T
    by_query = [
        np.hstack((spreads.system_query * systems, spreads.document_query * documents))
        * (pairs.query_index == query)[:, None]
        for query in range(n_queries)
    ]
    scale = np.array([spreads.consensus, *[spreads.system] * order.shape[0]])
    return np.hstack((systems * scale, spreads.document * documents * (occurs > 1), *by_query))


@pytest.fixture(scope="module")
def fitted() -> tuple[PairWorld, PairAnswers, PairPosterior]:
    world = small_world(3, same_weight=1.0)
    answers = some_answers(world, count=3)
    return world, answers, fit_pairs(world.design, answers, spreads=SPREADS)


def test_the_posterior_is_that_of_one_large_matrix(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    effects = dense(world.design, SPREADS)
    asked = np.flatnonzero((answers.total > 0) & world.design.matters)

    def loss(values: Floats) -> float:
        height, _, _ = pair_likelihood(effects[asked] @ values, answers, asked, SPREADS, posterior.same_weight)
        return float(values @ values / 2 - height.sum())

    def slopes(values: Floats) -> Floats:
        _, slope, _ = pair_likelihood(effects[asked] @ values, answers, asked, SPREADS, posterior.same_weight)
        return values - effects[asked].T @ slope

    found = minimize(loss, np.zeros(effects.shape[1]), jac=slopes, method="BFGS", options={"gtol": 1e-8}).x
    matters = world.design.matters
    np.testing.assert_allclose(posterior.mean[matters], (effects @ found)[matters], atol=1e-5)
    _, _, information = pair_likelihood(effects[asked] @ found, answers, asked, SPREADS, posterior.same_weight)
    inverse = np.linalg.inv(np.eye(found.size) + effects[asked].T @ (information[:, None] * effects[asked]))
    covariance = effects @ inverse @ effects.T
    np.testing.assert_allclose(posterior.variance[matters], np.diag(covariance)[matters], atol=1e-6)
    weights = np.random.default_rng(0).normal(size=(2, matters.size)) * matters
    with_pairs, among = posterior.covariance_with(weights)
    np.testing.assert_allclose(with_pairs[:, matters], (weights @ covariance)[:, matters], atol=1e-5)
    np.testing.assert_allclose(among, weights @ covariance @ weights.T, atol=1e-5)
    np.testing.assert_allclose(posterior.covariance_of(3)[matters], covariance[3][matters], atol=1e-6)


def test_the_marginal_likelihood_is_that_of_one_large_matrix(
    fitted: tuple[PairWorld, PairAnswers, PairPosterior],
) -> None:
    world, answers, posterior = fitted
    evidence = PairEvidence.collect(world.design, answers, posterior.same_weight)
    found, _ = evidence.log_evidence(SPREADS, np.zeros(evidence.asked.size))
    effects = dense(world.design, SPREADS)[evidence.asked]
    eta = posterior.mean[evidence.asked]
    height, _, information = pair_likelihood(eta, answers, evidence.asked, SPREADS, posterior.same_weight)
    covariance = effects @ effects.T
    fit = height.sum() - eta @ np.linalg.pinv(covariance) @ eta / 2
    root = np.sqrt(information)
    size = np.linalg.slogdet(np.eye(eta.size) + root[:, None] * covariance * root)[1]
    assert found == pytest.approx(fit - size / 2, abs=1e-5)


def test_the_likelihood_of_a_pair_by_integration_and_its_derivatives() -> None:
    answers = PairAnswers(np.array([4, 0]), np.array([1, 2]), np.array([0, 3]))
    eta, asked = np.array([0.4, -1.0]), np.arange(2)
    height, slope, information = pair_likelihood(eta, answers, asked, SPREADS, 0.9)
    grid = np.linspace(-9, 9, 4001)
    density = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    for pair in range(2):
        chances = outcome_probabilities(eta[pair] + SPREADS.pair * grid, 0.9)
        counts = answers.first[pair], answers.second[pair], answers.same[pair]
        likelihood = np.prod([chance**count for chance, count in zip(chances, counts, strict=True)], axis=0)
        assert height[pair] == pytest.approx(np.log(np.trapezoid(likelihood * density, grid)), abs=1e-6)
    step = 1e-4
    up, down = (pair_likelihood(eta + move, answers, asked, SPREADS, 0.9)[0] for move in (step, -step))
    np.testing.assert_allclose(slope, (up - down) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(information, -(up - 2 * height + down) / step**2, atol=1e-4)


def test_without_answers_the_prior_speaks() -> None:
    world = small_world(1)
    posterior = fit_pairs(world.design, PairAnswers.none(world.signs.shape[0]))
    np.testing.assert_array_equal(posterior.mean, 0.0)
    estimates = estimate_precision(posterior, PairAnswers.none(world.signs.shape[0]), needed=5)
    np.testing.assert_allclose(estimates.mean, 0.5)
    np.testing.assert_allclose(estimates.confidence, 0.5)


def test_spreads_follow_the_crowd() -> None:
    many = {"queries": 12, "documents": 12, "pairs": 40, "depth": 12, "needed": 8, "popularity": 0.0}
    plain, peculiar = (
        made_up_world(np.random.default_rng(5), sharpness=sharp, peculiarity=odd, **many)  # type: ignore[arg-type]
        for sharp, odd in ((2.0, 0.0), (0.2, 2.0))
    )
    found = [choose_spreads(world.design, some_answers(world, share=0.7)) for world in (plain, peculiar)]
    assert found[0].pair < 0.6 < found[1].pair
    assert found[0].document_query > found[1].document_query


# Estimates


def test_verdicts_and_their_slopes_by_sampling(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    verdicts = foresee_verdicts(posterior, answers, needed=5)
    rng = np.random.default_rng(7)
    unasked = np.flatnonzero((answers.total == 0) & world.design.matters)[:3]
    draws = 200_000
    for pair in unasked:
        eta = posterior.mean[pair] + np.sqrt(posterior.variance[pair]) * rng.normal(size=draws)
        first, second, _ = outcome_probabilities(eta + SPREADS.pair * rng.normal(size=draws), posterior.same_weight)
        draw = rng.random((5, draws))
        lead = np.sum((draw < first) * 1 - ((draw >= first) & (draw < first + second)), axis=0)
        assert verdicts.first[pair] == pytest.approx(np.mean(lead > 0), abs=0.005)
        assert verdicts.second[pair] == pytest.approx(np.mean(lead < 0), abs=0.005)
        slope = np.cov(lead > 0, eta)[0, 1] / posterior.variance[pair]
        assert verdicts.first_slope[pair] == pytest.approx(slope, abs=0.01)


def test_a_pair_that_is_half_answered_by_weighing_draws(fitted: tuple[PairWorld, PairAnswers, PairPosterior]) -> None:
    world, answers, posterior = fitted
    verdicts = foresee_verdicts(posterior, answers, needed=5)
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
    before = fit_pairs(world.design, without, spreads=SPREADS)
    rng = np.random.default_rng(8)
    spread = np.sqrt(before.variance[pair] + SPREADS.pair**2)
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
    posterior = fit_pairs(world.design, answers, spreads=SPREADS)
    estimates = estimate_precision(posterior, answers, needed=world.needed)
    effects, asked = dense(world.design, SPREADS), np.flatnonzero((answers.total > 0) & world.design.matters)
    inverse = np.linalg.inv(
        np.eye(effects.shape[1]) + effects[asked].T @ (posterior.information[asked, None] * effects[asked])
    )
    rng = np.random.default_rng(9)
    draws, order = 20_000, world.design.order
    root = np.linalg.cholesky(inverse)
    eta = posterior.mean + rng.normal(size=(draws, root.shape[0])) @ (effects @ root).T
    first, second, _ = outcome_probabilities(eta + SPREADS.pair * rng.normal(size=eta.shape), posterior.same_weight)
    lead = np.zeros(eta.shape)
    for _ in range(world.needed):
        draw = rng.random(eta.shape)
        lead += (draw < first) * 1.0 - ((draw >= first) & (draw < first + second))
    winner = np.where(answers.total > 0, np.sign(answers.lead), np.sign(lead))
    counted = (order != 0)[:, None] & (winner != 0)
    scores = ((order[:, None] == winner) & counted).sum(axis=2) / counted.sum(axis=2)
    np.testing.assert_allclose(estimates.mean, scores.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(np.sqrt(np.diag(estimates.covariance)), scores.std(axis=1), rtol=0.06)
    assert np.sqrt(estimates.variance[0]) == pytest.approx((scores[0] - scores[1]).std(), rel=0.06)


def test_when_everything_is_answered_the_truth_is_known() -> None:
    world = small_world(2, skills=(0.7, 0.5, 0.1), same_weight=1.0)
    answers = some_answers(world, share=2.0)
    estimates = estimate_precision(fit_pairs(world.design, answers), answers, needed=world.needed)
    np.testing.assert_allclose(estimates.mean, world.truth)
    np.testing.assert_array_equal(estimates.variance, 0.0)
    assert estimates.mean_confidence == 1.0
    low, high = estimates.bounds
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
    np.testing.assert_allclose(one.difference, -other.difference, atol=1e-6)
    np.testing.assert_allclose(one.confidence, other.confidence, atol=1e-5)
    np.testing.assert_allclose(one.bounds[0], other.bounds[0][::-1], atol=1e-5)


def test_identical_systems_are_no_question() -> None:
    world = small_world(4)
    design = PairDesign(world.design.pairs, ("a", "b", "c"), np.vstack((world.design.order, world.design.order[:1])))
    answers = some_answers(world)
    estimates = estimate_precision(fit_pairs(design, answers), answers, needed=world.needed)
    assert estimates.identical.tolist() == [False, True, False]
    assert estimates.difference[1] == 0
    assert estimates.variance[1] == 0
    assert estimates.pairs_frame()["b"].to_list() == ["b", "c"]
    alone = PairDesign(world.design.pairs, ("a",), world.design.order[:1])
    only = estimate_precision(fit_pairs(alone, answers), answers, needed=world.needed)
    assert (only.mean_confidence, only.min_confidence) == (None, None)
    assert only.stop_state().confidence.size == 0


def test_pairs_that_count_for_nobody_change_nothing() -> None:
    world = small_world(6, documents=14, depth=3)
    matters = world.design.matters
    assert 0 < matters.sum() < matters.size
    answers = some_answers(world, share=0.6)
    nobody = PairAnswers(*(np.where(matters, count, 0) for count in (answers.first, answers.second, answers.same)))
    one, other = (
        estimate_precision(fit_pairs(world.design, some), some, needed=world.needed) for some in (answers, nobody)
    )
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.covariance, other.covariance)


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


# Policies


def standing(world: PairWorld, answers: PairAnswers) -> PreferenceEstimates:
    return estimate_precision(fit_pairs(world.design, answers, spreads=SPREADS), answers, needed=world.needed)


@pytest.mark.parametrize("policy", ["adaptive", "told-apart", "random"])
def test_what_is_answered_is_not_asked_again(policy: PairPolicy) -> None:
    world = small_world(0)
    answers = some_answers(world)
    proposal = propose_pairs(standing(world, answers), 1000, np.random.default_rng(0), policy=policy)
    assert sorted(proposal.pairs.tolist()) == np.flatnonzero(answers.total == 0).tolist()
    again = propose_pairs(standing(world, answers), 1000, np.random.default_rng(0), policy=policy)
    np.testing.assert_array_equal(proposal.pairs, again.pairs)


def test_pairs_that_tell_systems_apart_come_first() -> None:
    world = small_world(0)
    estimates = standing(world, some_answers(world, share=0.2))
    apart = tells_apart(world.design.order)
    open_and_apart = int(np.count_nonzero(apart & (estimates.verdicts.left > 0)))
    for policy in ("adaptive", "told-apart"):
        proposal = propose_pairs(estimates, 1000, np.random.default_rng(1), policy=policy)
        assert apart[proposal.pairs[: open_and_apart // 2]].all()
    told = propose_pairs(estimates, 1000, np.random.default_rng(1), policy="told-apart")
    assert apart[told.pairs[:open_and_apart]].all()
    assert told.priority.tolist() == [1.0] * open_and_apart + [0.0] * (told.pairs.size - open_and_apart)


def test_the_priority_is_the_variance_that_answers_take_off() -> None:
    # What is expected of one pair before it is asked, against what happens on average when it is.
    world = small_world(8, needed=6, documents=8, pairs=20)
    answers = some_answers(world, share=0.3)
    estimates = standing(world, answers)
    proposal = propose_pairs(estimates, 1, np.random.default_rng(0), policy="adaptive")
    pair = int(proposal.pairs[0])
    posterior, rng = estimates.posterior, np.random.default_rng(1)
    after = []
    for _ in range(60):
        eta = posterior.mean[pair] + np.sqrt(posterior.variance[pair] + SPREADS.pair**2) * rng.normal()
        first, second, _ = (float(p) for p in outcome_probabilities(np.array(eta), posterior.same_weight))
        counts = rng.multinomial(6, [first, second, max(1 - first - second, 0)])
        told = answers.add(np.array([pair]), *(np.array([count]) for count in counts))
        after.append(standing(world, told).variance[0])
    expected = float(proposal.priority[0]) * 6 * estimates.variance[0]
    assert estimates.variance[0] - np.mean(after) == pytest.approx(expected, rel=0.35)
    assert expected > 0


def test_what_all_questions_take_off_is_all_there_is() -> None:
    # Chosen one by one, each knowing that those before will have been answered: the shares add up to the whole.
    world = small_world(8)
    estimates = standing(world, some_answers(world, share=0.1))
    proposal = propose_pairs(estimates, 1000, np.random.default_rng(0))
    assert np.sum(proposal.priority * estimates.verdicts.left[proposal.pairs]) == pytest.approx(1.0, abs=1e-6)
    assert proposal.priority[0] == proposal.priority.max()


def test_policies_by_name() -> None:
    assert parse_pair_policy(" Adaptive ") == "adaptive"
    with pytest.raises(ParameterError, match="unknown policy for pairs 'adaptve': did you mean adaptive"):
        parse_pair_policy("adaptve")


# Candidates


def test_candidates_are_put_in_order_and_counted_once() -> None:
    table = make_candidates([("q", "y", "x"), ("q", "x", "y"), ("p", "x", "z")])
    assert table.to_polars().select("query", "first", "second").rows() == [("p", "x", "z"), ("q", "x", "y")]
    with pytest.raises(InputError, match="at least one candidate pair, got none"):
        make_candidates([])
    with pytest.raises(InputError, match="two different documents for query 'q', got 'x' twice"):
        make_candidates([("q", "x", "x")])


def test_the_pool_holds_every_two_documents_of_a_query() -> None:
    runs = runs_from_dict({"A": {"q": {"x": 3, "y": 2, "z": 1}}, "B": {"q": {"w": 3, "y": 2}, "r": {"x": 1}}})
    assert pool_candidates(runs, k=2) == [("q", "w", "x"), ("q", "w", "y"), ("q", "x", "y")]


def test_answers_about_candidates() -> None:
    frame = pl.DataFrame(
        [("q", "y", "x", "w1", "a"), ("q", "x", "y", "w2", "same"), ("q", "x", "z", "w1", "a")],
        schema=["query", "a", "b", "assessor", "choice"],
        orient="row",
    )
    answers, elsewhere = answers_about(
        make_candidates([("q", "x", "y"), ("r", "x", "y")]), Preferences.from_frame(frame)
    )
    assert (answers.first.tolist(), answers.second.tolist(), answers.same.tolist()) == ([0, 0], [1, 0], [1, 0])
    assert elsewhere == 1


def test_systems_that_cannot_be_scored_are_refused() -> None:
    runs = runs_from_dict({"A": {"q": {"x": 2.0}}, "B": {"q": {"elsewhere": 2.0}}})
    with pytest.raises(InputError, match="among the first 5 of every system, got none for 'B'"):
        make_design(runs, make_candidates([("q", "x", "y")]), k=5)
    table = make_candidates([("q", "x", "y")])
    with pytest.raises(ParameterError, match="none of the candidate pairs counts for any system"):
        PairDesign(table, ("A",), np.zeros((1, 1), dtype=np.int64))
    with pytest.raises(ParameterError, match="expected an order for each"):
        PairDesign(table, ("A", "B"), np.zeros((1, 1), dtype=np.int64))


# The loop


def test_a_campaign_ends_with_the_truth() -> None:
    world = small_world(1)
    for one_at_a_time in (False, True):
        last = list(
            simulate_pairs(world, np.random.default_rng(0), stop="none", batch=25, one_at_a_time=one_at_a_time)
        )[-1]
        assert (last.kind, last.accuracy, last.coverage_pairs_95, last.error) == ("stop", 1.0, 1.0, pytest.approx(0))
        assert last.reason in ("every pair that counts for a system is answered", "everything is judged")


def test_stop_rules_are_those_of_judgments() -> None:
    world = made_up_world(np.random.default_rng(0), skills=(0.8, 0.1), queries=10, documents=12, depth=6, pairs=20)
    play = partial(simulate_pairs, world, batch=10)
    budget = list(play(np.random.default_rng(0), stop="budget:35"))
    assert [int(outcome.questions) for outcome in budget] == [0, 10, 20, 30, 35]
    assert budget[-1].reason == "the budget is used up: 35 judged of 35"
    sure = list(play(np.random.default_rng(0), stop="mean:0.95"))
    assert sure[-1].mean_confidence is not None
    assert sure[-1].mean_confidence >= 0.95
    assert all(outcome.mean_confidence < 0.95 for outcome in sure[:-1] if outcome.mean_confidence is not None)
    narrow = list(play(np.random.default_rng(0), stop="width:0.3"))[-1]
    assert "the widest interval of a system" in narrow.reason
    decided = list(play(np.random.default_rng(0), stop="decided:0.5", margin=0.05))[-1]
    assert "within a margin of 0.05" in decided.reason
    frame = outcomes_frame(sure)
    assert frame["kind"].to_list() == ["step"] * (len(sure) - 1) + ["stop"]
    with pytest.raises(ParameterError, match="a batch is 1 question or more, got 0"):
        list(simulate_pairs(world, np.random.default_rng(0), batch=0))


def test_answers_from_before_are_built_upon() -> None:
    world = small_world(1)
    answers = some_answers(world)
    looks = play_pairs(
        world.design,
        stop=parse_stop("budget:0"),
        ask=lambda *_: pytest.fail("nothing should be asked"),
        rng=np.random.default_rng(0),
        needed=world.needed,
        start=answers,
    )
    (look,) = looks
    assert look.answers is answers
    assert look.estimates.answered == answers.total.sum()


def test_a_budget_ends_where_questions_were_begun_before() -> None:
    world = small_world(1)
    looks = list(
        play_pairs(
            world.design,
            stop=parse_stop("budget:10"),
            ask=lambda pairs, count: (count, 0 * count, 0 * count),
            rng=np.random.default_rng(0),
            needed=world.needed,
            start=some_answers(world, share=0.1, count=2),
            batch=4,
        )
    )
    assert looks[-1].decision.stop
    assert looks[-1].estimates.asked == 10


def test_the_same_answers_give_the_same_beliefs() -> None:
    world = small_world(1)
    answers = some_answers(world)
    one, other = (PairBeliever(world.design).believe(answers) for _ in range(2))
    np.testing.assert_array_equal(one.mean, other.mean)
    assert one.spreads == other.spreads


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
        foresee_verdicts(posterior, answers, needed=0)


# Coverage, and what is saved


@pytest.fixture(scope="module")
def melodies(melody: Path) -> Preferences:
    with (melody / "judgments.csv").open(encoding="latin-1", newline="") as file:
        rows = [
            (row["Input.query"], row["Input.docA"], row["Input.docB"], row["WorkerId"], row["Answer.radio"])
            for row in csv.DictReader(file)
        ]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    return Preferences.from_frame(frame.with_columns(pl.col("choice").replace({"s": "same"})))


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
        rng = np.random.default_rng([2, repeat])
        last = list(simulate_pairs(world, rng, policy=policy, stop="budget:36", batch=18))[-1]
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
        for policy in ("adaptive", "random"):
            rng = np.random.default_rng([4, repeat])
            last = list(simulate_pairs(world, rng, policy=policy, stop="budget:60", batch=30))[-1]  # type: ignore[arg-type]
            assert last.half_width_pairs is not None
            assert last.coverage_pairs_95 is not None
            found[policy].append((last.half_width_pairs, last.coverage_pairs_95))
    narrow, wide = (np.mean(found[policy], axis=0) for policy in ("adaptive", "random"))
    assert narrow[0] < 0.8 * wide[0]
    assert narrow[1] > 0.75
