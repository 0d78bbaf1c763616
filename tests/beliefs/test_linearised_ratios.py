"""The linearised ratio of normalised measures: exact where it can be, and by brute force where it cannot."""

from __future__ import annotations

import numpy as np
import pytest

import earmark
from earmark.beliefs import linearised_ratios
from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.linearised_ratios import IDEAL_ERROR, IDEAL_EXCESS, estimate_linearised, is_linearised
from earmark.beliefs.montecarlo import pooled_lists
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.problem import Problem
from earmark.data.collection import Collection
from earmark.data.scales import parse_scale
from effects_drawn import beliefs_of, small_collection

NORMALISED = ("nDCG@4", "nRBP(p=0.7)@4")
SCALE = parse_scale("0..3")


def by_query(measure: str, collection: Collection, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numerators, shape (draws, systems, queries), and ideals, shape (draws, queries), by plain loops."""
    weights = 1 / np.log2(np.arange(2, 6)) if measure.startswith("nDCG") else 0.3 * 0.7 ** np.arange(4) / SCALE.top
    shape = (len(gains), len(collection.systems), len(collection.queries))
    above, ideal = np.zeros(shape), np.zeros((shape[0], shape[2]))
    for system, item, rank in zip(
        collection.result_system, collection.result_item, collection.result_rank, strict=True
    ):
        above[:, system, collection.item_query[item]] += weights[rank - 1] * gains[:, item]
    for query in range(shape[2]):
        best = -np.sort(-gains[:, collection.item_query == query], axis=1)[:, :4]
        ideal[:, query] = best @ weights[: best.shape[1]]
    return above, ideal


def estimate(
    measure: str, collection: Collection, beliefs: CorrelatedBeliefs, samples: int = 4000
) -> earmark.Estimates:
    rng = np.random.default_rng(3)
    return estimate_linearised(collection, beliefs, earmark.parse(measure), rng=rng, samples=samples)


def test_which_measures_are_linearised() -> None:
    assert all(is_linearised(earmark.parse(measure)) for measure in ("nDCG@5", "nDCG(ideal=pool)@5", "nRBP@5"))
    others = ("AG@5", "DCG@5", "nDCG(ideal=scale)@5", "nDCG(gain=exp)@5", "AP", "RR")
    assert not any(is_linearised(earmark.parse(measure)) for measure in others)


@pytest.mark.parametrize("measure", NORMALISED)
def test_where_everything_is_judged_it_is_the_score(measure: str) -> None:
    collection = small_collection(1)
    beliefs = beliefs_of(collection, judged=1000, scale=SCALE)
    found = estimate(measure, collection, beliefs, samples=10)
    lists = pooled_lists(collection, SCALE).with_gains(beliefs.judged_gain)
    scores = earmark.parse(measure.replace("nDCG", "nDCG(ideal=pool)")).score(lists)
    np.testing.assert_allclose(found.scores.mean, scores.reshape(len(collection.systems), -1).mean(axis=1))
    np.testing.assert_allclose(found.scores.variance, 0, atol=1e-12)
    np.testing.assert_allclose(found.differences.variance, 0, atol=1e-12)


@pytest.mark.parametrize("measure", NORMALISED)
@pytest.mark.parametrize("judged", [0, 8])
def test_moments_are_those_of_the_formula_applied_to_draws(measure: str, judged: int) -> None:
    collection = small_collection(2, systems=5, queries=4)
    beliefs = beliefs_of(collection, judged=judged, scale=SCALE, size=0.02)
    found = estimate(measure, collection, beliefs)
    linear, levels = beliefs.draw_with_levels(np.random.default_rng(8), 20_000)
    above, _ = by_query(measure, collection, linear)
    _, ideal = by_query(measure, collection, levels)
    _, of_judged = by_query(measure, collection, np.where(beliefs.judged, beliefs.judged_gain, 0.0)[None])
    # The part that judged items do not fix is reduced by what it is usually too large.
    ideal = of_judged + (1 - IDEAL_EXCESS) * (ideal - of_judged)
    expected = ideal.mean(axis=0)
    ratio = above.mean(axis=0) / expected
    drawn = (ratio + (above - ratio * ideal[:, None]) / expected).mean(axis=2)
    np.testing.assert_allclose(found.scores.mean, ratio.mean(axis=1), atol=0.01)
    df = found.scores.df
    assert df is not None
    np.testing.assert_allclose(found.scores.variance * df / (df - 2), drawn.var(axis=0), rtol=0.12)
    a, b = found.a, found.b
    df = found.differences.df
    assert df is not None
    apart = drawn[:, a] - drawn[:, b]
    np.testing.assert_allclose(found.differences.variance * df / (df - 2), apart.var(axis=0), rtol=0.15)


def test_the_expected_ideal_may_be_off_where_it_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What that adds to variances is the square of a sum over queries, from the equation of the module."""
    collection = small_collection(2, systems=5, queries=4)
    beliefs = beliefs_of(collection, judged=8, scale=SCALE, size=0.02)
    found = estimate("nDCG@4", collection, beliefs)
    monkeypatch.setattr(linearised_ratios, "IDEAL_ERROR", 0.0)
    without = estimate("nDCG@4", collection, beliefs)
    above, _ = by_query("nDCG@4", collection, beliefs.linear_mean[None])
    _, of_judged = by_query("nDCG@4", collection, np.where(beliefs.judged, beliefs.judged_gain, 0.0)[None])
    _, ideal = by_query("nDCG@4", collection, beliefs.draw_with_levels(np.random.default_rng(8), 20_000)[1])
    expected = (of_judged + (1 - IDEAL_EXCESS) * (ideal - of_judged)).mean(axis=0)
    error = IDEAL_ERROR * (above[0] / expected * (1 - of_judged[0] / expected)).mean(axis=1)
    for ours, plain, more in (
        (found.scores, without.scores, error),
        (found.differences, without.differences, error[found.a] - error[found.b]),
    ):
        assert ours.df is not None
        added = (ours.variance - plain.variance) * ours.df / (ours.df - 2)
        np.testing.assert_allclose(added, more**2, rtol=0.05, atol=1e-7)


def test_judged_items_are_judged_whoever_judged_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several assessors judged everything, nothing is unknown about ideal rankings but what they disagree on."""
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=4, queries=6, documents=60)
    problem = Problem.build(made.runs, scale=made.judgments.scale, measure="nDCG@5")
    truth = item_gains(problem.collection, made.judgments)
    campaign, rng = Campaign(problem), np.random.default_rng(6)
    for name in ("Ann", "Bob"):
        said = np.clip(truth + rng.normal(0, 3, truth.size), 0, problem.scale.top)
        campaign = campaign.with_answers(Answers(np.arange(truth.size), said, assessor=name))
    beliefs = campaign.beliefs
    assert isinstance(beliefs, CorrelatedBeliefs)
    assert not beliefs.certain.any()
    found = estimate("nDCG@5", problem.collection, beliefs, samples=100)
    monkeypatch.setattr(linearised_ratios, "IDEAL_ERROR", 0.0)
    without = estimate("nDCG@5", problem.collection, beliefs, samples=100)
    np.testing.assert_allclose(found.scores.variance, without.scores.variance, rtol=0.01)


def test_the_same_lists_do_not_differ() -> None:
    collection = small_collection(3, duplicate=True)
    found = estimate("nDCG@4", collection, beliefs_of(collection, judged=5, scale=SCALE), samples=50)
    names = collection.systems
    same = [(names[i], names[j]) == ("s0", "twin") for i, j in zip(found.a, found.b, strict=True)]
    assert found.identical[same].all()
    assert found.differences.mean[same] == pytest.approx(0, abs=0)
    assert found.differences.variance[same] == pytest.approx(0, abs=0)


def test_draws_in_chunks_are_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = small_collection(4)
    beliefs = beliefs_of(collection, judged=5, scale=SCALE)
    whole = estimate("nDCG@4", collection, beliefs, samples=600)
    monkeypatch.setattr(CorrelatedBeliefs, "draws_at_a_time", property(lambda self: 70))
    parts = estimate("nDCG@4", collection, beliefs, samples=600)
    np.testing.assert_allclose(parts.scores.mean, whole.scores.mean, atol=0.02)
    np.testing.assert_allclose(parts.scores.variance, whole.scores.variance, rtol=0.3)
