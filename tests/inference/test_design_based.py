"""Guaranteed estimates: the formulas one by one, unbiased and covering by simulation, and every degenerate case."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

import earmark
from earmark.beliefs.beliefs import item_gains, uniform_beliefs
from earmark.beliefs.exact_estimates import LinearEstimator, system_weights
from earmark.data.collection import Collection
from earmark.data.scales import BINARY, FINE
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.design_based import (
    EXACT,
    FLOOR_DF,
    GUARANTEED,
    MINIMUM_SAMPLE,
    DesignEstimator,
    Sample,
    corrected_sums,
    estimate_by_design,
    mean_of_others,
    no_entry,
    sampled_gains,
)
from earmark.inference.sampling_design import SampleOrder, sizes

AG5 = earmark.parse("AG@5")


def collection_of(lists: dict[str, dict[str, list[str]]]) -> Collection:
    return Collection.from_runs(
        earmark.runs_from_dict(
            {
                system: {query: {doc: -float(at) for at, doc in enumerate(docs)} for query, docs in answers.items()}
                for system, answers in lists.items()
            }
        )
    )


@pytest.fixture(scope="module")
def made() -> tuple[Collection, np.ndarray]:
    """Six systems, 25 queries, some 500 items with gains of 0 to 100 that depend on the query."""
    rng = np.random.default_rng(2)
    collection = Collection.from_runs(earmark.synthetic_collection(rng, systems=6, queries=25, documents=300).runs)
    level = rng.uniform(10, 90, 25)[collection.item_query]
    return collection, np.clip(np.round(level + rng.normal(0, 20, collection.n_items)), 0, 100)


def shrunk_query_means(collection: Collection, gains: np.ndarray, *, prior: float = 3.0) -> np.ndarray:
    """Leave-one-out predictions: the mean of the other judged items of the query, shrunk to the mean of all others."""
    judged = (gains >= 0).astype(float)
    worth = np.where(judged, gains, 0.0)
    query, n_queries = collection.item_query, len(collection.queries)
    total = np.bincount(query, worth, n_queries)[query] - worth
    count = np.bincount(query, judged, n_queries)[query] - judged
    return (total + prior * mean_of_others(gains)) / (count + prior)


def random_order(rng: np.random.Generator, collection: Collection, measure=AG5, scale=FINE) -> SampleOrder:
    return SampleOrder(rng.random(collection.n_items), sizes(system_weights(collection, measure, scale=scale)))


def holds(ranking, true: np.ndarray) -> np.ndarray:
    """Which intervals, of systems and then of pairs, hold the truth."""
    apart = true[ranking.estimates.a] - true[ranking.estimates.b]
    return np.concatenate(
        (
            (ranking.low <= true) & (true <= ranking.high),
            (ranking.difference_low <= apart) & (apart <= ranking.difference_high),
        )
    )


def within_binomial(count: int, repeats: int, *, least: float, most: float) -> bool:
    """Whether a count is what a coverage between the two bounds gives in all but one of 5,000 cases on either side."""
    return stats.binom.ppf(0.0002, repeats, least) <= count <= stats.binom.ppf(0.9998, repeats, most)


# ---- the formulas ----------------------------------------------------------------------------------------------------


def test_estimate_variance_and_degrees_of_freedom_item_by_item(made):
    collection, gains = made
    order = random_order(np.random.default_rng(0), collection)
    n = 90
    judged = np.where(order.sampled(n), gains, -1.0)
    prediction = np.random.default_rng(1).uniform(0, 100, collection.n_items)
    found = estimate_by_design(collection, AG5, scale=FINE, order=order, judged_gain=judged, prediction=prediction)
    estimates = found.estimates
    threshold = np.sort(order.number / order.size)[n]
    ranks = collection.ranks.toarray()
    weight = np.where((ranks > 0) & (ranks <= 5), 1 / (5 * 100 * 25), 0.0)

    def one_by_one(w: np.ndarray) -> tuple[float, float, float]:
        mean = variance = fourth = 0.0
        for item in range(collection.n_items):
            mean += w[item] * prediction[item]
            if judged[item] >= 0:
                chance = min(1.0, order.size[item] * threshold)
                error = w[item] * (judged[item] - prediction[item])
                mean += error / chance
                term = (1 - chance) / chance**2 * error**2
                variance, fourth = variance + term, fourth + term**2
        return mean, variance, 2 * variance**2 / fourth

    of_systems = np.array([one_by_one(w) for w in weight])
    of_pairs = np.array([one_by_one(weight[a] - weight[b]) for a, b in zip(estimates.a, estimates.b, strict=True)])
    for moments, expected in ((estimates.scores, of_systems), (estimates.differences, of_pairs)):
        assert moments.mean == pytest.approx(expected[:, 0])
        assert moments.variance == pytest.approx(expected[:, 1])
        assert moments.df == pytest.approx(expected[:, 2])
    assert (found.sampled, found.guarantee) == (n, GUARANTEED)
    assert (estimates.judged, estimates.items, estimates.queries) == (n, collection.n_items, 25)
    # The ranking uses the degrees of freedom that estimates bring.
    ranking = rank_systems(estimates)
    assert ranking.high - ranking.low == pytest.approx(
        2 * stats.t.ppf(0.975, of_systems[:, 2]) * np.sqrt(of_systems[:, 1])
    )


def test_the_simplest_prediction():
    assert mean_of_others(np.array([0.0, 2.0, -1.0, 4.0])).tolist() == [3.0, 2.0, 2.0, 1.0]
    with pytest.raises(ParameterError, match="needs two judgments or more, got 1"):
        mean_of_others(np.array([1.0, -1.0]))


def test_predictions_see_the_sample_and_nothing_else():
    order = SampleOrder(np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4))
    gains = np.array([5.0, 7.0, -1.0, 9.0])
    assert sampled_gains(order, gains).tolist() == [5.0, 7.0, -1.0, -1.0]


# ---- unbiased --------------------------------------------------------------------------------------------------------


def repeated_estimates(order_rng, weights, gains, n, predict, repeats):
    """Estimate weighted sums again and again; predict(judged gains) -> predictions."""
    size = sizes(weights)
    rows = csr_array(weights)
    found = []
    for _ in range(repeats):
        order = SampleOrder(order_rng.random(gains.size), size)
        judged = np.where(order.sampled(n), gains, -1.0)
        sample = Sample(judged >= 0, order.inclusion(n), judged, predict(order, judged))
        moments = corrected_sums(rows, sample, no_entry(rows, judged < 0), top=100.0, level=0.95)
        found.append((moments.mean, moments.variance))
    return np.array(found)


def test_with_fixed_predictions_estimate_and_variance_are_unbiased():
    rng = np.random.default_rng(3)
    weights = csr_array(rng.choice([0.0, 0.5, 1.0], (2, 14), p=[0.3, 0.3, 0.4]))
    gains = rng.uniform(0, 100, 14)
    fixed = rng.uniform(20, 60, 14)
    repeats = 4_000
    found = repeated_estimates(rng, weights, gains, 7, lambda order, judged: fixed, repeats)
    mean, variance = found[:, 0], found[:, 1]
    assert np.all(np.abs(mean.mean(axis=0) - weights @ gains) < 4 * mean.std(axis=0) / np.sqrt(repeats))
    spread = mean.var(axis=0, ddof=1)
    error = np.sqrt(variance.var(axis=0) + 2 * spread**2) / np.sqrt(repeats)
    assert np.all(np.abs(variance.mean(axis=0) - spread) < 4.5 * error)


def test_leave_one_out_predictions_leave_estimates_unbiased():
    rng = np.random.default_rng(4)
    weights, gains = csr_array(rng.choice([0.0, 1.0], (2, 14), p=[0.3, 0.7])), rng.uniform(0, 100, 14)

    def without_the_last(order: SampleOrder, judged: np.ndarray) -> np.ndarray:
        """For items outside the sample, as many judgments as for those inside."""
        inside = judged >= 0
        last = order.order[np.count_nonzero(inside) - 1]
        fewer = judged.copy()
        fewer[last] = -1.0
        return np.where(inside, mean_of_others(judged), fewer[fewer >= 0].mean())

    repeats = 4_000
    mean = repeated_estimates(rng, weights, gains, 6, without_the_last, repeats)[:, 0]
    assert np.all(np.abs(mean.mean(axis=0) - weights @ gains) < 4 * mean.std(axis=0) / np.sqrt(repeats))
    # With the ordinary prediction for the others, off by far less than one standard deviation.
    mean = repeated_estimates(rng, weights, gains, 6, lambda order, judged: mean_of_others(judged), repeats)[:, 0]
    assert np.all(np.abs(mean.mean(axis=0) - weights @ gains) < 0.1 * mean.std(axis=0))


def test_predictions_that_know_the_own_gain_are_what_it_must_not_be():
    rng = np.random.default_rng(5)
    weights, gains = csr_array(np.ones((1, 40))), rng.uniform(0, 100, 40)

    def knowing(order: SampleOrder, judged: np.ndarray) -> np.ndarray:
        return np.where(judged >= 0, judged, judged[judged >= 0].mean())

    found = repeated_estimates(rng, weights, gains, 20, knowing, 50)
    # It claims to be sure, which only the rule of three prevents.
    claimed = np.sqrt(found[:, 1, 0]) * stats.t.ppf(0.975, FLOOR_DF)
    assert np.all(claimed > 0.1 * 40 * 100 * 3 / 20)


# ---- coverage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 120])
def test_intervals_hold_the_truth_whatever_the_predictions(made, n):
    collection, gains = made
    true = system_weights(collection, AG5, scale=FINE) @ gains
    predictors = {
        "helpful": lambda judged: shrunk_query_means(collection, judged),
        "constant": mean_of_others,
        "wrong": lambda judged: 100.0 - gains,
    }
    repeats = 400
    rng = np.random.default_rng([6, n])
    covered, one_row, width = (
        dict.fromkeys(predictors, 0.0),
        dict.fromkeys(predictors, 0),
        dict.fromkeys(predictors, 0.0),
    )
    for repeat in range(repeats):
        order = random_order(rng, collection)
        estimator = DesignEstimator(collection, AG5, scale=FINE, order=order)
        judged = np.where(order.sampled(n), gains, -1.0)
        for name, predict in predictors.items():
            ranking = rank_systems(estimator.estimate(judged, predict(judged)).estimates)
            held = holds(ranking, true)
            covered[name] += held.mean() / repeats
            # One interval from each campaign: independent trials, as the binomial bounds want them.
            one_row[name] += held[repeat % held.size]
            width[name] += float(np.mean(ranking.high - ranking.low)) / repeats
    for name in predictors:
        assert within_binomial(one_row[name], repeats, least=0.945, most=0.985), name
        assert 0.94 <= covered[name] <= 0.985, name
    assert width["helpful"] < 0.97 * width["constant"]
    assert width["constant"] < 0.7 * width["wrong"]
    # Safe because they are wide enough, not because they say nothing.
    assert width["helpful"] < {40: 0.7, 120: 0.25}[n]


def test_rare_relevance_where_most_samples_of_a_system_see_nothing():
    # Relevant one time in thirty: most systems show no relevant item at all in a sample of 45.
    rng = np.random.default_rng(7)
    lists = {
        f"s{system}": {f"q{query}": [f"d{doc}" for doc in rng.choice(12, 4, replace=False)] for query in range(30)}
        for system in range(4)
    }
    collection = collection_of(lists)
    measure = earmark.parse("AG@4")
    gains = (rng.random(collection.n_items) < 1 / 30).astype(float)
    true = system_weights(collection, measure, scale=BINARY) @ gains
    repeats, covered, one_row, unseen = 400, 0.0, 0, 0
    for repeat in range(repeats):
        order = random_order(rng, collection, measure, BINARY)
        judged = np.where(order.sampled(45), gains, -1.0)
        estimator = DesignEstimator(collection, measure, scale=BINARY, order=order)
        # Predictions that are never exactly right hide that nothing was seen from the variance.
        estimates = estimator.estimate(judged, np.full(gains.size, 0.03)).estimates
        held = holds(rank_systems(estimates), true)
        covered += held.mean() / repeats
        one_row += held[repeat % held.size]
        unseen += np.count_nonzero(estimates.scores.df == FLOOR_DF)
    assert unseen > 0.2 * repeats * 4
    assert within_binomial(one_row, repeats, least=0.945, most=0.995)
    assert covered >= 0.94


def explore_where_it_was_good(rng, order, gains, cluster, judgments):
    """Judge one sampled item, then four unjudged ones of the cluster with the best mean so far; and again."""
    judged = np.full(gains.size, -1.0)
    n_clusters = cluster.max() + 1
    for _ in range(judgments // 5):
        first = order.order[judged[order.order] < 0][0]
        judged[first] = gains[first]
        seen = judged >= 0
        count = np.bincount(cluster[seen], minlength=n_clusters)
        mean = np.bincount(cluster[seen], judged[seen], minlength=n_clusters) / np.maximum(count, 1)
        left = np.bincount(cluster[~seen], minlength=n_clusters) > 0
        best = np.argmax(np.where(left & (count > 0), mean + rng.random(n_clusters) * 1e-3, -1.0))
        candidates = np.flatnonzero((cluster == best) & ~seen)[:4]
        judged[candidates] = gains[candidates]
    return judged


def test_a_campaign_of_which_most_is_adaptive_keeps_its_coverage():
    rng = np.random.default_rng(8)
    queries, items = 120, 12
    lists = {
        f"s{system}": {
            f"q{query:03}": [f"d{doc:02}" for doc in rng.choice(items, 5, replace=False)] for query in range(queries)
        }
        for system in range(4)
    }
    collection = collection_of(lists)
    measure = AG5
    # Good queries and bad ones: what policy and predictor both hang on.
    level = rng.choice([10.0, 75.0], queries)[collection.item_query]
    gains = np.clip(np.round(level + rng.normal(0, 12, collection.n_items)), 0, 100)
    true = system_weights(collection, measure, scale=FINE) @ gains
    repeats = 300
    one_row, covered = 0, 0.0
    bias = {"sampled": [], "all": [], "equal": []}
    sampled = []
    for repeat in range(repeats):
        order = random_order(rng, collection, measure)
        judged = explore_where_it_was_good(rng, order, gains, collection.item_query, 400)
        estimator = DesignEstimator(collection, measure, scale=FINE, order=order)
        sample = sampled_gains(order, judged)
        from_all = shrunk_query_means(collection, judged, prior=1.0)
        predictions = {
            "sampled": shrunk_query_means(collection, sample, prior=1.0),
            "all": from_all,
            "equal": np.where((judged >= 0) & (sample < 0), judged, from_all),
        }
        for name, prediction in predictions.items():
            result = estimator.estimate(judged, prediction)
            bias[name].append(float(np.mean(result.estimates.scores.mean - true)))
            if name == "sampled":
                held = holds(rank_systems(result.estimates), true)
                covered += held.mean() / repeats
                one_row += held[repeat % held.size]
                sampled.append(result.sampled)
    assert within_binomial(one_row, repeats, least=0.945, most=0.985)
    assert covered >= 0.94
    # Adaptive picks that the order passed by come for free.
    assert min(sampled) >= 80
    error = {name: np.std(values) / np.sqrt(repeats) for name, values in bias.items()}
    assert abs(np.mean(bias["sampled"])) < 4 * error["sampled"]
    # Both tempting uses of adaptive judgments are off, as the module says, and in the direction it says.
    assert np.mean(bias["all"]) < -5 * error["all"]
    assert np.mean(bias["equal"]) < -5 * error["equal"]


# ---- exact -----------------------------------------------------------------------------------------------------------


def test_with_everything_judged_nothing_is_uncertain(made):
    collection, gains = made
    order = random_order(np.random.default_rng(9), collection)
    found = estimate_by_design(
        collection, AG5, scale=FINE, order=order, judged_gain=gains, prediction=np.full(gains.size, 17.0)
    )
    beliefs = uniform_beliefs(collection, scale=FINE, judged_gain=gains)
    exact = LinearEstimator(collection, AG5, scale=FINE).estimate(beliefs)
    assert found.guarantee == EXACT
    assert found.estimates.scores.mean == pytest.approx(exact.scores.mean, rel=1e-12)
    assert found.estimates.differences.mean == pytest.approx(exact.differences.mean, rel=1e-9)
    assert not found.estimates.scores.variance.any()
    assert not found.estimates.differences.variance.any()
    assert rank_systems(found.estimates).min_confidence == 1.0


def test_a_collection_smaller_than_the_minimum_can_be_judged_completely():
    collection = collection_of({"A": {"q": ["x", "y"]}, "B": {"q": ["x", "z"]}})
    order = random_order(np.random.default_rng(0), collection, earmark.parse("AG@2"), BINARY)
    found = estimate_by_design(
        collection,
        earmark.parse("AG@2"),
        scale=BINARY,
        order=order,
        judged_gain=np.array([1.0, 0.0, 1.0]),
        prediction=np.full(3, 0.5),
    )
    assert found.estimates.scores.mean.tolist() == [0.5, 1.0]
    assert found.estimates.differences.mean.tolist() == [-0.5]
    assert (found.sampled, found.guarantee) == (3, EXACT)


def pair_sharing_most(queries: int = 40) -> Collection:
    """A and B differ in one document of the first query; C is somebody else, and D the same as A."""
    shared = {f"q{query:02}": [f"d{query}a", f"d{query}b"] for query in range(queries)}
    other = {f"q{query:02}": [f"d{query}c", f"d{query}d"] for query in range(queries)}
    return collection_of({"A": shared, "B": shared | {"q00": ["d0a", "d0x"]}, "C": other, "D": shared})


def test_shared_documents_cancel_and_what_is_judged_completely_is_exact():
    collection = pair_sharing_most()
    measure = earmark.parse("AG@2")
    rng = np.random.default_rng(10)
    gains = rng.integers(0, 101, collection.n_items).astype(float)
    order = random_order(rng, collection, measure)
    names = collection.item_frame()["document"].to_list()
    telling = [names.index("d0b"), names.index("d0x")]
    judged = np.where(order.sampled(60), gains, -1.0)
    pairs = [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")]

    def differences(judged_gain):
        estimates = estimate_by_design(
            collection, measure, scale=FINE, order=order, judged_gain=judged_gain, prediction=np.full(gains.size, 40.0)
        ).estimates
        return {
            pair: (float(estimates.differences.mean[at]), float(estimates.differences.variance[at]))
            for at, pair in enumerate(pairs)
        }, estimates.identical

    judged[telling] = gains[telling]
    known, identical = differences(judged)
    # Known whether or not the order reached the two: an adaptive judgment is a judgment.
    assert known["A", "B"] == (pytest.approx((gains[telling[0]] - gains[telling[1]]) / (2 * 100 * 40)), 0.0)
    assert known["A", "D"] == (0.0, 0.0)
    assert identical.tolist() == [False, False, True, False, False, False]
    assert known["A", "C"][1] > 0
    assert known["C", "D"] == (-known["A", "C"][0], known["A", "C"][1])
    judged[telling] = -1.0
    unknown, _ = differences(judged)
    # One document's weight, and all that the scale allows: no more can be said about two unseen documents.
    assert 0 < unknown["A", "B"][1] <= (2 * 100 / (2 * 100 * 40) / stats.t.ppf(0.975, FLOOR_DF)) ** 2


# ---- nothing seen is not nothing there -------------------------------------------------------------------------------


def one_system(n_items: int, n_sampled: int, *, seed: int = 0) -> tuple[Collection, SampleOrder, np.ndarray]:
    collection = collection_of({"A": {f"q{query:03}": ["d"] for query in range(n_items)}})
    order = SampleOrder(np.random.default_rng(seed).random(n_items), np.full(n_items, 0.5))
    return collection, order, order.sampled(n_sampled)


def half_width(collection, order, judged, prediction, *, level=0.95) -> float:
    estimates = estimate_by_design(
        collection,
        earmark.parse("AG@1"),
        scale=BINARY,
        order=order,
        judged_gain=judged,
        prediction=prediction,
        level=level,
    ).estimates
    ranking = rank_systems(estimates, level=level)
    return float(ranking.high[0] - ranking.low[0]) / 2


def test_the_rule_of_three_where_all_gains_are_the_same():
    collection, order, sampled = one_system(1000, 60)
    judged = np.where(sampled, 0.0, -1.0)
    # 3 over (about) 60: the probability of an item is .5 τ.
    chance = order.inclusion(60)[0]
    assert chance == pytest.approx(0.06, rel=0.3)
    expected = -np.log(0.05) / (1000 * chance)
    assert half_width(collection, order, judged, mean_of_others(judged)) == pytest.approx(expected)
    assert half_width(collection, order, judged, mean_of_others(judged), level=0.99) == pytest.approx(
        -np.log(0.01) / (1000 * chance)
    )
    # The same if all are relevant, and at least as wide if predictions say something else.
    assert half_width(collection, order, np.where(sampled, 1.0, -1.0), np.full(1000, 1.0)) == pytest.approx(expected)
    assert half_width(collection, order, judged, np.full(1000, 0.02)) >= expected


def test_the_rule_of_three_where_all_predictions_were_right():
    collection, order, sampled = one_system(1000, 60)
    truth = np.random.default_rng(1).integers(0, 2, 1000).astype(float)
    width = half_width(collection, order, np.where(sampled, truth, -1.0), truth)
    assert width == pytest.approx(-np.log(0.05) / (1000 * order.inclusion(60)[0]))


def test_nothing_sampled_of_a_system_leaves_all_that_the_scale_allows():
    # B answered one query of its own, which the sample has not reached.
    lists = {"A": {f"q{query:03}": ["d"] for query in range(100)}, "B": {"q000": ["e"]}}
    collection = collection_of(lists)
    measure = earmark.parse("AG@1")
    number = np.linspace(0.01, 0.99, collection.n_items)[::-1].copy()
    number[collection.item_frame()["document"].to_list().index("e")] = 0.999
    order = SampleOrder(number, sizes(system_weights(collection, measure, scale=BINARY)))
    judged = np.where(order.sampled(50), np.arange(collection.n_items) % 2, -1.0)
    estimates = estimate_by_design(
        collection, measure, scale=BINARY, order=order, judged_gain=judged, prediction=np.full(collection.n_items, 0.25)
    ).estimates
    ranking = rank_systems(estimates)
    assert estimates.scores.mean[1] == pytest.approx(0.25 / 100)
    assert ranking.high[1] == pytest.approx((0.25 + 0.75) / 100)
    assert np.all(estimates.differences.variance > 0)


def test_the_floor_shrinks_as_more_is_seen_and_ends_with_everything():
    collection, order, _ = one_system(200, 0)
    widths = []
    for n in (30, 60, 120, 190, 199, 200):
        judged = np.where(order.sampled(n), 0.0, -1.0)
        widths.append(half_width(collection, order, judged, mean_of_others(judged)))
    assert all(later < earlier for earlier, later in pairwise(widths))
    assert widths[-2] == pytest.approx(1 / 200)
    assert widths[-1] == 0.0


# ---- refusals --------------------------------------------------------------------------------------------------------


def refused(made, message, **changed):
    collection, gains = made
    order = random_order(np.random.default_rng(11), collection)
    judged = np.where(order.sampled(60), gains, -1.0)
    arguments = {"scale": FINE, "order": order, "judged_gain": judged, "prediction": np.full(gains.size, 50.0)}
    with pytest.raises(ParameterError, match=message):
        estimate_by_design(collection, changed.pop("measure", AG5), **(arguments | changed))


def test_too_small_a_sample_is_refused_with_what_to_do(made):
    collection, gains = made
    order = random_order(np.random.default_rng(11), collection)
    few = np.where(order.sampled(MINIMUM_SAMPLE - 1), gains, -1.0)
    refused(
        made,
        "at least 30 sampled judgments, there are 29. Judge what 'earmark next --policy proportional'",
        judged_gain=few,
    )
    refused(made, "--inference model", judged_gain=few)
    adaptive = gains.copy()
    adaptive[order.order[5]] = -1.0
    message = rf"there are 5\. The {gains.size - 6} other judgments do not follow the order of the sample"
    refused(made, message, judged_gain=adaptive)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"measure": earmark.parse("nDCG@5")}, "nDCG@5 is not a weighted sum of gains"),
        ({"prediction": np.zeros(3)}, r"expected 'prediction' for each of \d+ items, got shape \(3,\)"),
        ({"judged_gain": np.zeros(3)}, r"expected 'judged_gain' for each of \d+ items, got shape \(3,\)"),
        ({"order": SampleOrder(np.array([0.5]), np.array([1.0]))}, r"expected an order of \d+ items, got one of 1"),
        ({"level": 1.0}, "the level of an interval is between 0 and 1, got 1"),
    ],
)
def test_what_cannot_be_estimated_is_refused(made, changed, message):
    refused(made, message, **changed)


def test_predictions_that_are_no_numbers_are_refused(made):
    prediction = np.full(made[0].n_items, 50.0)
    prediction[3] = np.nan
    refused(made, "expected finite numbers as 'prediction'", prediction=prediction)


def test_an_order_for_a_shallower_measure_is_refused(made):
    order = random_order(np.random.default_rng(0), made[0], earmark.parse("AG@1"))
    refused(made, "never reaches items that matter to the measure", order=order)


# ---- the real collection ---------------------------------------------------------------------------------------------


def test_on_the_real_collection(mirex):
    judgments = earmark.read_judgments(mirex / "judgments.txt", scale=FINE)
    collection = Collection.from_runs(earmark.read_runs([mirex / "runs.txt"]))
    gains = item_gains(collection, judgments)
    true = system_weights(collection, AG5, scale=FINE) @ gains
    rng = np.random.default_rng(12)
    covered, width, repeats = 0.0, 0.0, 40
    for _ in range(repeats):
        order = random_order(rng, collection)
        judged = np.where(order.sampled(300), gains, -1.0)
        estimator = DesignEstimator(collection, AG5, scale=FINE, order=order)
        ranking = rank_systems(estimator.estimate(judged, shrunk_query_means(collection, judged)).estimates)
        covered += holds(ranking, true).mean() / repeats
        width += float(np.mean(ranking.high - ranking.low)) / 2 / repeats
    assert 0.93 <= covered <= 0.98
    assert 0.09 <= width <= 0.11
