"""Exact estimates against every assignment of levels, and the relations that hold between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from enumerated import (
    FIVE,
    Floats,
    Lists,
    collection_of,
    dcg,
    mean_moments,
    random_beliefs,
    runs_of,
)
from hypothesis import given
from hypothesis import strategies as st

import earmark
from collections_drawn import Run, runs
from earmark.beliefs.beliefs import Beliefs, IndependentBeliefs, from_probabilities, item_gains, uniform_beliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact_estimates import LinearEstimator, estimate_linear, system_weights
from earmark.data.collection import Collection
from earmark.data.scales import BINARY, BROAD, FINE
from earmark.errors import ParameterError
from earmark.measures import parse

LINEAR = {
    "AG@2": lambda gains, _: sum(gains[:2]) / 2 / 2,
    "CG@3": lambda gains, _: sum(gains[:3]),
    "DCG@3": lambda gains, _: dcg(gains, 3),
    "nDCG(ideal=scale)@2": lambda gains, _: dcg(gains, 2) / dcg([2.0, 2.0], 2),
    "RBP(p=0.7)": lambda gains, _: sum(0.3 * 0.7**at * gain / 2 for at, gain in enumerate(gains)),
}

systems = st.dictionaries(st.sampled_from("ABCD"), runs(), min_size=1, max_size=4)
seeds = st.integers(0, 2**32 - 1)
measures = st.sampled_from(sorted(LINEAR))


def collection_from(drawn: dict[str, Run]) -> Collection:
    return Collection.from_runs(earmark.runs_from_dict(drawn))


@pytest.mark.parametrize("measure", LINEAR)
@pytest.mark.parametrize("judged", [{}, {0: 1.0, 3: 2.0}])
def test_moments_equal_those_of_all_assignments(measure, judged):
    collection = collection_of(FIVE)
    beliefs = random_beliefs(collection, np.random.default_rng(3), scale=BROAD, judged=judged)
    mean, covariance = mean_moments(collection, beliefs, LINEAR[measure])
    estimates = estimate_linear(collection, beliefs, parse(measure))
    a, b = estimates.a, estimates.b
    assert estimates.scores.mean == pytest.approx(mean)
    assert estimates.scores.variance == pytest.approx(np.diag(covariance))
    assert estimates.covariance == pytest.approx(covariance)
    assert estimates.differences.mean == pytest.approx(mean[a] - mean[b])
    assert estimates.differences.variance == pytest.approx(
        np.diag(covariance)[a] + np.diag(covariance)[b] - 2 * covariance[a, b]
    )
    weights = system_weights(collection, parse(measure), scale=BROAD)
    assert weights @ beliefs.mean == pytest.approx(mean)
    assert beliefs.quadratic(weights) == pytest.approx(covariance)
    assert not estimates.scores.mean_error.any()
    assert (estimates.queries, estimates.items, estimates.judged) == (2, 5, len(judged))


@given(drawn=systems, seed=seeds, measure=measures)
def test_with_everything_judged_the_estimate_is_the_score(drawn, seed, measure):
    collection = collection_from(drawn)
    gains = np.random.default_rng(seed).integers(0, 3, collection.n_items)
    truth: dict[str, dict[str, int]] = {}
    for item, gain in enumerate(gains.tolist()):
        query, document = collection.item_query[item], collection.item_document[item]
        truth.setdefault(collection.queries[query], {})[collection.documents[document]] = gain
    judgments = earmark.judgments_from_dict(truth, scale=BROAD)
    beliefs = uniform_beliefs(collection, scale=BROAD, judged_gain=item_gains(collection, judgments))
    estimates = estimate_linear(collection, beliefs, parse(measure))
    scores = earmark.evaluate(earmark.runs_from_dict(drawn), judgments, [measure])
    assert estimates.judged == collection.n_items
    assert estimates.scores.mean == pytest.approx(scores.mean_values[0])
    assert not estimates.scores.variance.any()
    assert not estimates.differences.variance.any()


@given(drawn=systems, seed=seeds, measure=measures)
def test_variance_only_falls_when_an_item_is_judged(drawn, seed, measure):
    collection, rng = collection_from(drawn), np.random.default_rng(seed)
    beliefs = random_beliefs(collection, rng, scale=BROAD)
    estimator = LinearEstimator(collection, parse(measure), scale=BROAD)
    before = estimator.estimate(beliefs)
    after = estimator.estimate(beliefs.with_judgments([rng.integers(collection.n_items)], [rng.integers(3)]))
    assert np.all(after.scores.variance <= before.scores.variance)
    assert np.all(after.differences.variance <= before.differences.variance)


@given(drawn=systems, seed=seeds, measure=measures)
def test_exchanging_two_systems_flips_the_sign_and_nothing_else(drawn, seed, measure):
    collection = collection_from(drawn)
    beliefs = random_beliefs(collection, np.random.default_rng(seed), scale=BROAD)
    # Systems are in the order of their names, so it is the lists that change hands.
    names = sorted(drawn)
    turned = collection_from({name: drawn[other] for name, other in zip(names, reversed(names), strict=True)})
    there = estimate_linear(collection, beliefs, parse(measure))
    back = estimate_linear(turned, beliefs, parse(measure))
    assert np.array_equal(there.scores.mean[::-1], back.scores.mean)
    at = {(x, y): pair for pair, (x, y) in enumerate(zip(back.a.tolist(), back.b.tolist(), strict=True))}
    last = len(drawn) - 1
    for pair, (a, b) in enumerate(zip(there.a.tolist(), there.b.tolist(), strict=True)):
        turned_pair = at[last - b, last - a]
        assert there.differences.mean[pair] == -back.differences.mean[turned_pair]
        assert there.differences.variance[pair] == back.differences.variance[turned_pair]
        assert there.identical[pair] == back.identical[turned_pair]


@given(drawn=systems, seed=seeds, measure=measures)
def test_names_do_not_matter(drawn, seed, measure):
    collection, rng = collection_from(drawn), np.random.default_rng(seed)
    beliefs = random_beliefs(collection, rng, scale=BROAD)
    names = dict(zip(collection.documents, rng.permutation(len(collection.documents)).tolist(), strict=True))
    # Scores without ties, so that documents are not ordered by their names.
    ranked = {
        system: {
            query: dict(zip(docs, range(len(docs), 0, -1), strict=True))
            for query, docs in (
                (query, sorted(docs, key=lambda d, of=docs: (np.float32(of[d]), d), reverse=True))
                for query, docs in run.items()
            )
        }
        for system, run in drawn.items()
    }
    renamed = collection_from(
        {
            system: {query: {f"n{names[doc]:02d}": score for doc, score in docs.items()} for query, docs in run.items()}
            for system, run in ranked.items()
        }
    )
    order = np.lexsort(([names[collection.documents[d]] for d in collection.item_document], collection.item_query))
    moved = from_items(beliefs, order)
    there = estimate_linear(collection, beliefs, parse(measure))
    back = estimate_linear(renamed, moved, parse(measure))
    assert there.scores.mean == pytest.approx(back.scores.mean)
    assert there.differences.variance == pytest.approx(back.differences.variance)


def from_items(beliefs: IndependentBeliefs, order: np.ndarray) -> IndependentBeliefs:
    return from_probabilities(
        beliefs.expected.probabilities[order], scale=beliefs.scale, judged_gain=beliefs.judged_gain[order]
    )


def same_bits(one: Estimates, other: Estimates) -> bool:
    return all(
        np.array_equal(getattr(getattr(one, of), what), getattr(getattr(other, of), what))
        for of in ("scores", "differences")
        for what in ("mean", "variance")
    )


@given(drawn=systems, seed=seeds, measure=measures, steps=st.integers(1, 6))
def test_estimates_brought_up_to_date_are_those_of_a_new_estimator_to_the_last_bit(drawn, seed, measure, steps):
    collection, rng = collection_from(drawn), np.random.default_rng(seed)
    estimator = LinearEstimator(collection, parse(measure), scale=BROAD)
    beliefs = random_beliefs(collection, rng, scale=BROAD)
    for _ in range(steps):
        assert same_bits(estimator.estimate(beliefs), estimate_linear(collection, beliefs, parse(measure)))
        items = rng.integers(collection.n_items, size=2)
        # Judged, judged again differently, or taken back.
        beliefs = beliefs.with_judgments(items, rng.integers(-1, 3, size=2))
    earlier = estimator.estimate(beliefs)
    kept = earlier.scores.mean.copy()
    estimator.estimate(random_beliefs(collection, rng, scale=BROAD))
    assert np.array_equal(earlier.scores.mean, kept)


def test_a_judgment_that_only_confirms_what_was_expected_is_noticed():
    collection = collection_of(FIVE)
    estimator = LinearEstimator(collection, parse("AG@2"), scale=BROAD)
    unsure = uniform_beliefs(collection, scale=BROAD)
    before = estimator.estimate(unsure)
    after = estimator.estimate(unsure.with_judgments([0], [1.0]))
    assert after.scores.mean == pytest.approx(before.scores.mean)
    assert np.all(after.scores.variance < before.scores.variance)


def test_identical_lists_differ_by_exactly_nothing():
    twins: Lists = {"A": FIVE["A"], "B": FIVE["B"], "C": FIVE["A"]}
    collection = collection_of(twins)
    beliefs = random_beliefs(collection, np.random.default_rng(0), scale=BROAD)
    estimates = estimate_linear(collection, beliefs, parse("DCG@3"))
    assert estimates.identical.tolist() == [False, True, False]
    assert estimates.differences.mean[1] == 0.0
    assert estimates.differences.variance[1] == 0.0
    assert estimates.scores.mean[0] == estimates.scores.mean[2]


def test_the_same_documents_in_another_order_are_identical_for_measures_that_do_not_look():
    collection = collection_of({"A": {"q": ["x", "y", "z"]}, "B": {"q": ["y", "x", "w"]}})
    beliefs = random_beliefs(collection, np.random.default_rng(0), scale=BROAD)
    assert estimate_linear(collection, beliefs, parse("AG@2")).identical.all()
    assert not estimate_linear(collection, beliefs, parse("DCG@2")).identical.any()
    assert not estimate_linear(collection, beliefs, parse("AG@3")).identical.any()


def test_what_both_retrieve_at_the_same_rank_has_no_part_in_their_difference():
    collection = collection_of({"A": {"q": ["both", "mine"]}, "B": {"q": ["both", "yours"]}})
    unsure = uniform_beliefs(collection, scale=FINE)
    sure = unsure.with_judgments([collection.documents.index("both")], [93.0])
    for measure in ("AG@2", "DCG@2"):
        before = estimate_linear(collection, unsure, parse(measure))
        after = estimate_linear(collection, sure, parse(measure))
        assert before.differences.variance == after.differences.variance
        assert after.scores.variance[0] < before.scores.variance[0]
    # MTC Eq. 4: two documents of variance 850, gains over 100, k = 2.
    assert estimate_linear(collection, unsure, parse("AG@2")).differences.variance == pytest.approx([2 * 850 / 200**2])


def test_a_query_without_an_answer_counts_as_zero():
    collection = collection_of({"A": {"q": ["x"], "r": ["y"]}, "B": {"q": ["x"]}})
    beliefs = uniform_beliefs(collection, scale=BINARY, judged_gain=[1.0, 1.0])
    assert estimate_linear(collection, beliefs, parse("AG@1")).scores.mean.tolist() == [1.0, 0.5]


def test_equal_sums_in_another_order_are_a_tie():
    # With weights of 1/300, (1 + 2 + 97) and (97 + 2 + 1) need not add up to the same binary fraction.
    first = {f"q{n}": [f"a{n}", f"b{n}", f"c{n}"] for n in range(7)}
    second = {f"q{n}": [f"z{n}", f"y{n}", f"x{n}"] for n in range(7)}
    collection = collection_of({"A": first, "B": second})
    worth = {"a": 1.0, "b": 2.0, "c": 97.0, "z": 97.0, "y": 2.0, "x": 1.0}
    gains = [worth[collection.documents[d][0]] for d in collection.item_document]
    beliefs = uniform_beliefs(collection, scale=FINE, judged_gain=gains)
    assert estimate_linear(collection, beliefs, parse("AG@3")).differences.mean.tolist() == [0.0]


def test_one_system_has_no_pairs():
    collection = collection_of({"A": FIVE["A"]})
    estimates = estimate_linear(collection, uniform_beliefs(collection, scale=BROAD), parse("AG@2"))
    assert estimates.differences.mean.shape == estimates.identical.shape == (0,)
    assert estimates.covariance == pytest.approx(estimates.scores.variance[:, None])


@dataclass(frozen=True, eq=False)
class CorrelatedBeliefs(Beliefs):
    """Any covariance, written out."""

    item_mean: Floats
    sigma: Floats

    @property
    def mean(self) -> Floats:
        return self.item_mean

    @property
    def variance(self) -> Floats:
        return np.diag(self.sigma)

    def quadratic(self, weights):
        return weights @ self.sigma @ weights.T

    def draw(self, rng, n):
        return rng.multivariate_normal(self.item_mean, self.sigma, n)

    # Estimates need none of the following.

    def without_judgments(self):
        raise NotImplementedError

    def lookahead(self, weights):
        raise NotImplementedError

    def level_probabilities(self, levels):
        raise NotImplementedError


@pytest.mark.parametrize("measure", LINEAR)
def test_correlated_beliefs_go_through_the_same_door(measure):
    collection, rng = collection_of(FIVE), np.random.default_rng(6)
    root = rng.normal(size=(5, 5))
    unjudged = np.full(5, -1.0)
    beliefs = CorrelatedBeliefs(BROAD, unjudged, rng.uniform(0, 2, 5), root @ root.T)
    estimator = LinearEstimator(collection, parse(measure), scale=BROAD)
    weights = system_weights(collection, parse(measure), scale=BROAD).toarray()
    covariance = weights @ beliefs.sigma @ weights.T
    estimates = estimator.estimate(beliefs)
    assert estimates.scores.mean == pytest.approx(weights @ beliefs.mean)
    assert estimates.covariance == pytest.approx(covariance)
    # The same means and variances of items with other correlations are not mistaken for no change.
    diagonal = CorrelatedBeliefs(BROAD, unjudged, beliefs.mean, np.diag(beliefs.variance))
    assert estimator.estimate(diagonal).covariance == pytest.approx(
        weights @ np.diag(beliefs.variance) @ weights.T, abs=1e-15
    )


def test_going_from_independent_to_correlated_beliefs_and_back():
    collection, rng = collection_of(FIVE), np.random.default_rng(7)
    estimator = LinearEstimator(collection, parse("DCG@3"), scale=BROAD)
    independent = random_beliefs(collection, rng, scale=BROAD)
    there = estimator.estimate(independent)
    # All that items show by themselves is the same.
    deviation = np.sqrt(independent.variance)
    together = CorrelatedBeliefs(BROAD, independent.judged_gain, independent.mean, np.outer(deviation, deviation))
    lists = estimator.weights.rows.toarray().reshape(2, 6, 5).sum(axis=0) / 2
    variance = np.einsum("ri,ij,rj->r", lists, together.sigma, lists)
    found = estimator.estimate(together)
    assert found.scores.variance == pytest.approx(variance[:3])
    assert found.differences.variance == pytest.approx(variance[3:], abs=1e-15)
    assert np.all(found.scores.variance > there.scores.variance)
    assert same_bits(estimator.estimate(independent), there)


def test_what_cannot_be_estimated_exactly_is_refused():
    collection = collection_of(FIVE)
    beliefs = uniform_beliefs(collection, scale=BROAD)
    with pytest.raises(ParameterError, match=r"nDCG@5 is not a weighted sum of gains: estimate it by Monte Carlo"):
        estimate_linear(collection, beliefs, parse("nDCG@5"))
    estimator = LinearEstimator(collection, parse("AG@5"), scale=FINE)
    with pytest.raises(ParameterError, match="expected beliefs on the scale 'fine', got 'broad'"):
        estimator.estimate(beliefs)
    with pytest.raises(ParameterError, match="expected beliefs about 1 items, got 5"):
        estimate_linear(collection_of({"A": {"q": ["d"]}}), beliefs, parse("AG@5"))


def test_everything_judged_on_the_real_collection_gives_its_scores(mirex):
    read = earmark.read_runs([mirex / "runs.txt"])
    judgments = earmark.read_judgments(mirex / "judgments.txt", scale=FINE)
    collection = Collection.from_runs(read)
    beliefs = uniform_beliefs(collection, scale=FINE, judged_gain=item_gains(collection, judgments))
    estimates = estimate_linear(collection, beliefs, parse("AG@5"))
    scores = dict(zip(estimates.systems, estimates.scores.mean, strict=True))
    assert scores["207f1d"] == pytest.approx(0.3039, abs=5e-5)
    assert scores["2d3c5b"] == pytest.approx(0.5864, abs=5e-5)
    assert abs(scores["ccaba5"] - scores["5177f0"]) == pytest.approx(0.00002)
    assert not estimates.differences.variance.any()
    assert estimates.scores.mean == pytest.approx(earmark.evaluate(read, judgments, ["AG@5"]).mean_values[0])


def test_runs_of_the_small_collection_are_ranked_as_written():
    assert runs_of(FIVE).documents.to_list()[:3] == ["d1", "d2", "d3"]
