"""Monte Carlo against every assignment of levels, against exact formulas, and against its own claim of precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from enumerated import FIVE, Lists, average_precision, collection_of, mean_moments, ndcg, random_beliefs, runs_of

import earmark
from earmark.beliefs import beliefs as beliefs_module
from earmark.beliefs.beliefs import item_gains, uniform_beliefs
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.beliefs.montecarlo import estimate, estimate_montecarlo, over_pool, sample_scores
from earmark.data.judged_lists import JudgedLists
from earmark.data.scales import BROAD, FINE
from earmark.errors import ParameterError
from earmark.measures import Measure, parse, registered

COLLECTION = collection_of(FIVE)
# A normal variable is further out than this once in 150,000 times.
FAR = 4.5

SCORES = {
    "nDCG@2": ndcg(2),
    "nDCG": ndcg(100),
    "AP": average_precision,
    "P@2": lambda gains, _: sum(gain > 0 for gain in gains[:2]) / 2,
    "P(rel=2)@3": lambda gains, _: sum(gain >= 2 for gain in gains[:3]) / 3,
    "RR": lambda gains, _: next((1 / rank for rank, gain in enumerate(gains, 1) if gain > 0), 0.0),
}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("measure", SCORES)
def test_moments_agree_with_those_of_all_assignments(measure):
    beliefs = random_beliefs(COLLECTION, rng(3), scale=BROAD, judged={1: 2.0})
    mean, covariance = mean_moments(COLLECTION, beliefs, SCORES[measure])
    found = estimate_montecarlo(COLLECTION, beliefs, parse(measure), rng=rng(11), samples=20_000)
    variance = np.diag(covariance)
    spread = variance[found.a] + variance[found.b] - 2 * covariance[found.a, found.b]
    for moments, true_mean, true_variance in (
        (found.scores, mean, variance),
        (found.differences, mean[found.a] - mean[found.b], spread),
    ):
        assert np.all(np.abs(moments.mean - true_mean) <= FAR * moments.mean_error)
        assert np.all(np.abs(moments.variance - true_variance) <= FAR * moments.variance_error)
    assert found.covariance == pytest.approx(covariance, abs=5e-3)


@pytest.mark.parametrize("measure", ["AG@2", "DCG@3", "RBP(p=0.7)"])
def test_linear_measures_agree_with_their_exact_estimates(measure):
    beliefs = random_beliefs(COLLECTION, rng(3), scale=BROAD)
    exact = estimate_linear(COLLECTION, beliefs, parse(measure))
    found = estimate_montecarlo(COLLECTION, beliefs, parse(measure), rng=rng(12), samples=20_000)
    for moments, true in ((found.scores, exact.scores), (found.differences, exact.differences)):
        assert np.all(np.abs(moments.mean - true.mean) <= FAR * moments.mean_error)
        assert np.all(np.abs(moments.variance - true.variance) <= FAR * moments.variance_error)
    assert np.array_equal(found.identical, exact.identical)


def test_the_standard_errors_are_those_of_repetitions():
    beliefs = random_beliefs(COLLECTION, rng(3), scale=BROAD)
    generator, repeats = rng(4), 400
    found = [
        estimate_montecarlo(COLLECTION, beliefs, parse("nDCG@2"), rng=generator, samples=200) for _ in range(repeats)
    ]
    for of in ("scores", "differences"):
        for what in ("mean", "variance"):
            values = np.array([getattr(getattr(estimates, of), what) for estimates in found])
            claimed = np.array([getattr(getattr(estimates, of), f"{what}_error") for estimates in found])
            # A standard deviation of 400 values is known to about 1/√800, 3.5%.
            assert values.std(axis=0) == pytest.approx(claimed.mean(axis=0), rel=0.16)


def test_moments_are_those_of_the_sampled_scores():
    beliefs = random_beliefs(COLLECTION, rng(3), scale=BROAD)
    drawn = sample_scores(COLLECTION, beliefs, parse("nDCG@2"), rng=rng(5), samples=6)
    found = estimate_montecarlo(COLLECTION, beliefs, parse("nDCG@2"), rng=rng(5), samples=6)
    assert found.scores.mean == pytest.approx(drawn.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(drawn.T))
    variance = drawn.var(axis=0, ddof=1)
    fourth = ((drawn - drawn.mean(axis=0)) ** 4).mean(axis=0)
    assert found.scores.mean_error == pytest.approx(np.sqrt(variance / 6))
    assert found.scores.variance_error == pytest.approx(np.sqrt(np.maximum(fourth - variance**2, 0) / 6))
    assert found.scores.variance_error.any()


def _needs_more(name: str) -> bool:
    """Orders of documents need ordered groups; counts of what was not retrieved, the collection's size."""
    return name in {"ADR", "DR", "ADRinv", "TN", "accuracy", "specificity", "NPV", "fallout", "ROCarea"}


def _is_mean(name: str) -> bool:
    """Sums and geometric means over queries are no estimates of a mean."""
    return parse(f"{name}@3").is_mean


@pytest.mark.parametrize("name", [name for name in registered() if _is_mean(name) and not _needs_more(name)])
def test_with_everything_judged_any_measure_is_its_score(name):
    measure = parse(f"{name}@3")
    gains = np.array([2.0, 0.0, 1.0, 0.0, 1.0])
    truth: dict[str, dict[str, int]] = {"q": {}, "r": {}}
    for item, gain in enumerate(gains.tolist()):
        query = COLLECTION.queries[COLLECTION.item_query[item]]
        truth[query][COLLECTION.documents[COLLECTION.item_document[item]]] = int(gain)
    judgments = earmark.judgments_from_dict(truth, scale=BROAD)
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD, judged_gain=item_gains(COLLECTION, judgments))
    found = estimate_montecarlo(COLLECTION, beliefs, measure, rng=rng(), samples=7)
    scores = earmark.evaluate(runs_of(FIVE), judgments, [over_pool(measure)]).mean_values[0]
    assert found.scores.mean == pytest.approx(scores)
    assert not found.scores.variance.any()
    assert not found.differences.variance.any()
    assert not found.scores.mean_error.any()
    assert not found.differences.variance_error.any()


def test_measures_that_count_what_was_not_retrieved_need_the_size_of_the_collection():
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD)
    with pytest.raises(ParameterError, match="give the collection's size"):
        estimate(COLLECTION, beliefs, parse("accuracy@2"), rng=rng())
    found = estimate(COLLECTION, beliefs, parse("accuracy@2"), rng=rng(), collection_size=1000, samples=10)
    assert np.all(found.scores.mean > 0.99)


def test_normalised_measures_take_their_ideal_from_the_pool():
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD)
    found = estimate(COLLECTION, beliefs, parse("nDCG@2"), rng=rng(), samples=10)
    assert str(found.measure) == "nDCG(ideal=pool)@2"
    assert str(over_pool(parse("nDCG(ideal=scale)@2"))) == "nDCG(ideal=scale)@2"
    assert over_pool(parse("AP")) == parse("AP")


def test_linear_measures_are_estimated_exactly_and_draw_nothing():
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD)
    generator = rng(9)
    found = estimate(COLLECTION, beliefs, parse("nDCG(ideal=scale)@2"), rng=generator)
    assert not found.scores.mean_error.any()
    assert generator.random() == rng(9).random()


def test_the_same_seed_gives_the_same_estimates_whatever_the_chunks(monkeypatch):
    beliefs = random_beliefs(COLLECTION, rng(3), scale=BROAD)
    once = sample_scores(COLLECTION, beliefs, parse("nDCG@2"), rng=rng(5), samples=40)
    monkeypatch.setattr(beliefs_module, "_CHUNK", 17)
    assert np.array_equal(sample_scores(COLLECTION, beliefs, parse("nDCG@2"), rng=rng(5), samples=40), once)
    assert once.shape == (40, 3)


def test_identical_lists_differ_by_exactly_nothing():
    twins: Lists = {"A": FIVE["A"], "B": FIVE["B"], "C": FIVE["A"]}
    collection = collection_of(twins)
    beliefs = random_beliefs(collection, rng(3), scale=BROAD)
    found = estimate_montecarlo(collection, beliefs, parse("nDCG@3"), rng=rng(), samples=50)
    assert found.identical.tolist() == [False, True, False]
    assert found.differences.mean[1] == found.differences.variance[1] == 0.0


def test_lists_are_identical_as_far_as_a_measure_looks():
    collection = collection_of({"A": {"q": ["x", "y", "z"]}, "B": {"q": ["x", "y", "w"]}})
    beliefs = uniform_beliefs(collection, scale=BROAD)
    options = {"rng": rng(), "samples": 50}
    assert estimate_montecarlo(collection, beliefs, parse("nDCG@2"), **options).identical.all()
    assert not estimate_montecarlo(collection, beliefs, parse("nDCG@3"), **options).identical.any()
    assert not estimate_montecarlo(collection, beliefs, parse("nDCG"), **options).identical.any()
    # Nothing is uncertain and the scores are equal, but the lists are not.
    judged = beliefs.with_judgments([0, 1, 2, 3], [1, 1, 1, 1])
    tied = estimate_montecarlo(collection, judged, parse("nDCG@3"), **options)
    assert not tied.identical.any()
    assert tied.differences.mean.tolist() == [0.0]


@dataclass(frozen=True, repr=False)
class Length(Measure):
    """How long a list is, whatever the cutoff."""

    name = "Length"

    def score(self, lists: JudgedLists) -> np.ndarray:
        return lists.length.astype(float)


def test_a_measure_that_looks_beyond_its_cutoff_finds_lists_different():
    collection = collection_of({"A": {"q": ["x", "y", "z"]}, "B": {"q": ["x", "y"]}})
    beliefs = uniform_beliefs(collection, scale=BROAD)
    found = estimate_montecarlo(collection, beliefs, Length(cutoff=2), rng=rng(), samples=5)
    assert found.differences.mean.tolist() == [1.0]
    assert not found.identical.any()


def test_what_cannot_be_sampled_is_refused():
    beliefs = uniform_beliefs(COLLECTION, scale=BROAD)
    with pytest.raises(ParameterError, match="a variance needs two samples or more, got 1"):
        estimate_montecarlo(COLLECTION, beliefs, parse("AP"), rng=rng(), samples=1)
    with pytest.raises(ParameterError, match="expected beliefs about 1 items, got 5"):
        estimate_montecarlo(collection_of({"A": {"q": ["d"]}}), beliefs, parse("AP"), rng=rng())
    fine = uniform_beliefs(COLLECTION, scale=FINE)
    with pytest.raises(ParameterError, match="would outweigh every lower gain"):
        estimate_montecarlo(COLLECTION, fine, parse("nDCG(gain=exp)@2"), rng=rng())
