"""The forms of normalised measures: the example of BIAS, its equations written out, and which of them are right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from enumerated import FIVE, collection_of, dcg, mean_moments, ndcg, random_beliefs, runs_of

import earmark
from earmark.beliefs.beliefs import IndependentBeliefs, from_probabilities, uniform_beliefs
from earmark.beliefs.normalised_estimates import FORMS, Form, estimate_normalised, estimate_ratio, truncated_beliefs
from earmark.data.collection import Collection
from earmark.data.scales import BROAD, FINE, parse_scale
from earmark.errors import ParameterError
from earmark.measures import parse

COLLECTION = collection_of(FIVE)
HALVES = parse_scale("0,0.5,1")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def fifty_songs() -> tuple[Collection, IndependentBeliefs]:
    """One query, ten lists of five of its fifty songs, all of them predicted as (0, .1, .9): BIAS, section 4.3."""
    lists = {f"s{n}": {"q": [f"d{5 * n + at:02d}" for at in range(5)]} for n in range(10)}
    collection = collection_of(lists)
    return collection, from_probabilities(np.tile([0.0, 0.1, 0.9], (50, 1)), scale=HALVES)


@pytest.mark.parametrize(
    ("form", "score"),
    # Expected values: .95 over .95. Labels: 1 over 1. Sampled: .95 over an ideal that is nearly always 1, but with
    # the improbable label removed, 1 over 1 again.
    [("delta", 1.0), ("mode", 1.0), ("rounded", 1.0), ("truncated", 1.0), ("montecarlo", 0.95)],
)
def test_the_example_of_fifty_songs(form: Form, score: float):
    collection, beliefs = fifty_songs()
    assert beliefs.mean == pytest.approx(np.full(50, 0.95))
    assert beliefs.expected.most_probable.tolist() == [1.0] * 50
    found = estimate_normalised(collection, beliefs, parse("nDCG@5"), form=form, rng=rng(), samples=4000)
    assert np.all(np.abs(found.scores.mean - score) <= 1e-12 + 4.5 * found.scores.mean_error)


def written_out(
    beliefs: IndependentBeliefs, gains: list[float], k: int, *, covary: bool
) -> tuple[list[float], list[float]]:
    """Eqs. 2.11, 2.12, 2.15 and 2.16 of BIAS, as printed, for the systems of the small collection."""
    variances = beliefs.variance.tolist()
    ranks = COLLECTION.ranks.toarray()
    means, spreads = [], []
    for system in range(3):
        ratios, errors = [], []
        for query in range(2):
            pool = [item for item in range(5) if COLLECTION.item_query[item] == query]
            ideal = sorted(pool, key=lambda item: (-gains[item], item))[:k]
            weight = {item: 1 / math.log2(at + 2) for at, item in enumerate(ideal)}
            found = {i: 1 / math.log2(ranks[system, i] + 1) for i in pool if 0 < ranks[system, i] <= k}
            nm = sum(found[i] * gains[i] for i in found)
            assert nm or not found, "pick another seed: the printed equation divides by the numerator"
            dn = sum(weight[i] * gains[i] for i in weight)
            var_nm = sum(found[i] ** 2 * variances[i] for i in found)
            var_dn = sum(weight[i] ** 2 * variances[i] for i in weight)
            cov = sum(found[i] * weight[i] * variances[i] for i in found if i in weight) if covary else 0.0
            ratios.append(nm / dn)
            errors.append((nm / dn) ** 2 * (var_nm / nm**2 + var_dn / dn**2 - 2 * cov / (nm * dn)) if nm else 0.0)
        means.append(sum(ratios) / 2)
        spreads.append(sum(errors) / 4)
    return means, spreads


@pytest.mark.parametrize("covary", [False, True])
@pytest.mark.parametrize("label", ["delta", "mode", "rounded"])
def test_the_delta_method_is_the_equations_written_out(label, covary):
    beliefs = random_beliefs(COLLECTION, rng(21), scale=BROAD, judged={2: 1.0})
    labels = {
        "delta": beliefs.mean,
        "mode": np.where(beliefs.judged, 1.0, beliefs.expected.most_probable),
        "rounded": np.where(beliefs.judged, 1.0, beliefs.expected.nearest),
    }[label]
    mean, variance = written_out(beliefs, labels.tolist(), 2, covary=covary)
    found = estimate_ratio(COLLECTION, beliefs, parse("nDCG@2"), label=label, with_covariance=covary)
    assert found.scores.mean == pytest.approx(mean)
    assert found.scores.variance == pytest.approx(variance)
    assert found.differences.mean == pytest.approx(np.subtract(found.scores.mean[found.a], found.scores.mean[found.b]))


def test_a_difference_counts_only_what_tells_the_two_apart():
    collection = collection_of({"A": {"q": ["x", "y"]}, "B": {"q": ["x", "z"]}})
    beliefs = random_beliefs(collection, rng(2), scale=BROAD, judged={1: 2.0, 2: 1.0})
    # Only x is uncertain; both have it at rank 1, so it can only matter through the ideal.
    found = estimate_ratio(collection, beliefs, parse("nDCG@2"))
    gains = beliefs.mean
    best = dcg(sorted(gains, reverse=True), 2)
    ratio = (2.0 - 1.0) / math.log2(3) / best
    at = sorted(gains, reverse=True).index(gains[0])
    assert at < 2
    ideal_variance = beliefs.variance[0] / math.log2(at + 2) ** 2
    assert found.differences.mean == pytest.approx([ratio])
    assert found.differences.variance == pytest.approx([ratio**2 * ideal_variance / best**2])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", ["nDCG@2", "nDCG", "nRBP(p=0.6)@2", "nDCG(base=3,discount=first)@3"])
def test_with_everything_judged_every_form_is_the_score(form, measure):
    gains = [2.0, 0.0, 1.0, 0.0, 1.0]
    truth = {"q": {"d1": 2, "d2": 0, "d3": 1, "d4": 0}, "r": {"e1": 1}}
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD, judged_gain=gains)
    found = estimate_normalised(COLLECTION, beliefs, parse(measure), form=form, rng=rng(), samples=5)
    judgments = earmark.judgments_from_dict(truth, scale=BROAD)
    scores = earmark.evaluate(runs_of(FIVE), judgments, [measure]).mean_values[0]
    assert found.scores.mean == pytest.approx(scores)
    assert not found.scores.variance.any()
    assert not found.differences.variance.any()


@pytest.mark.parametrize("form", FORMS)
def test_a_query_on_which_nothing_can_be_gained_scores_zero(form):
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD, judged_gain=[0.0] * 5)
    found = estimate_normalised(COLLECTION, beliefs, parse("nDCG@2"), form=form, rng=rng(), samples=5)
    assert not found.scores.mean.any()
    assert not found.scores.variance.any()


@pytest.mark.parametrize("form", FORMS)
def test_identical_lists_differ_by_exactly_nothing(form):
    collection = collection_of({"A": FIVE["A"], "B": FIVE["B"], "C": FIVE["A"]})
    beliefs = random_beliefs(collection, rng(3), scale=BROAD)
    found = estimate_normalised(collection, beliefs, parse("nRBP@3"), form=form, rng=rng(), samples=20)
    assert found.identical.tolist() == [False, True, False]
    assert found.differences.mean[1] == found.differences.variance[1] == 0.0


def test_expected_values_overestimate_and_samples_do_not():
    rows = {f"s{n}": {"q": [f"d{(n + at) % 6}" for at in range(3)]} for n in range(3)}
    collection = collection_of(rows)
    beliefs = random_beliefs(collection, rng(4), scale=BROAD)
    assert collection.n_items == 5
    truth, _ = mean_moments(collection, beliefs, ndcg(3))
    by_form = {
        form: estimate_normalised(collection, beliefs, parse("nDCG@3"), form=form, rng=rng(6), samples=20_000).scores
        for form in FORMS
    }
    assert np.all(by_form["delta"].mean > truth)
    sampled = by_form["montecarlo"]
    assert np.all(np.abs(sampled.mean - truth) <= 4.5 * sampled.mean_error)


def test_truncation_removes_what_is_no_more_probable_than_by_chance():
    even = np.full(3, 1 / 3)
    beliefs = from_probabilities([[0.2, 0.35, 0.45], even, [1.0, 0.0, 0.0]], scale=BROAD, judged_gain=[-1, -1, 2.0])
    kept = truncated_beliefs(beliefs)
    assert kept.expected.probabilities[0] == pytest.approx([0, 0.35 / 0.8, 0.45 / 0.8])
    # Uniform predictions are meant not to contribute.
    assert kept.mean.tolist()[1:] == [0.0, 2.0]
    assert kept.variance.tolist()[1:] == [0.0, 0.0]


def test_truncation_leaves_nothing_of_uniform_beliefs_even_without_a_level_of_zero():
    uniform = uniform_beliefs(COLLECTION, scale=FINE)
    assert not truncated_beliefs(uniform).mean.any()
    no_zero = from_probabilities([[0.5, 0.5], [0.1, 0.9]], scale=BROAD, levels=[1, 2])
    assert truncated_beliefs(no_zero).mean.tolist() == [0.0, 2.0]


def test_what_is_not_normalised_is_refused():
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD)
    for measure in ("AG@5", "nDCG(ideal=scale)@5", "AP"):
        for form in FORMS:
            with pytest.raises(ParameterError, match="is not normalised by the ideal ranking of the pool"):
                estimate_normalised(COLLECTION, beliefs, parse(measure), form=form, rng=rng())
    with pytest.raises(ParameterError, match=r"DCG\(gain=exp\)@5 is not a weighted sum of gains"):
        estimate_normalised(COLLECTION, beliefs, parse("nDCG(gain=exp)@5"), form="delta", rng=rng())
    with pytest.raises(ParameterError, match="unknown form 'taylor': there are delta, mode, rounded, truncated, monte"):
        estimate_normalised(COLLECTION, beliefs, parse("nDCG@5"), form="taylor", rng=rng())
    with pytest.raises(ParameterError, match="unknown label 'median': there are delta, mode, rounded"):
        estimate_ratio(COLLECTION, beliefs, parse("nDCG@5"), label="median")
