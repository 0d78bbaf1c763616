"""The policy `variance`: its formula by brute force, batches, aims, and coverage of what it leaves behind."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

import earmark
from earmark.beliefs.beliefs import UNJUDGED, from_probabilities
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import Observations
from earmark.beliefs.exact_estimates import estimate_linear, system_weights
from earmark.campaign.policies import POLICIES, PolicyState, make_policy
from earmark.campaign.policies.variance import Variance
from earmark.data.collection import Collection
from earmark.data.scales import BROAD, FINE
from earmark.errors import ParameterError
from earmark.inference.intervals import interval
from earmark.predictors.base import Setting
from earmark.predictors.covariates import covariates
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.hierarchical_effects import effect_model
from earmark.predictors.hierarchical_prior import HierarchicalPrior
from effects_drawn import Dense, model_of, small_collection, some_variances

AG = earmark.parse("AG@4")


def beliefs_of(collection: Collection, judged: dict[int, float], seed: int = 0) -> CorrelatedBeliefs:
    """One set of variances, so that what is believed is normal; gains as shares of the top."""
    model = model_of(collection, seed)
    theta = some_variances(model, seed, sets=1, size=0.001)
    gains = np.full(collection.n_items, UNJUDGED)
    items = np.array(sorted(judged), dtype=np.int64)
    values = np.array([judged[item] for item in items])
    gains[items] = values * 100
    return CorrelatedBeliefs(FINE, gains, model, Observations.exact(model, items, values), theta[0], theta)


def state_of(collection: Collection, beliefs, scores=None, **known) -> PolicyState:
    weights = system_weights(collection, AG, scale=beliefs.scale)
    estimates = estimate_linear(collection, beliefs, AG)
    return PolicyState(
        collection,
        weights,
        known.pop("judged", beliefs.judged),
        beliefs.variance,
        identical=estimates.identical,
        beliefs=beliefs,
        scores=estimates.scores.mean if scores is None else scores,
        **known,
    )


def by_formula(
    weights, covariance, scores, counts=lambda a, b: True, *, pairs: bool = True, share: float = 0.0
) -> np.ndarray:
    """Go through pairs and items, straight from the docstring; `share` is what scores count for beside pairs."""
    priority = np.zeros(len(covariance))
    rows = np.asarray(weights)
    for item in np.flatnonzero(np.diagonal(covariance) > 1e-12):
        of_scores = sum(
            (row @ covariance[:, item]) ** 2 / covariance[item, item] / (row @ covariance @ row) for row in rows
        )
        if not pairs:
            priority[item] = of_scores
            continue
        doubts = 0.0
        for a, b in combinations(range(len(rows)), 2):
            apart = rows[a] - rows[b]
            variance = apart @ covariance @ apart
            if counts(a, b) and variance > 1e-15:
                doubt = norm.cdf(-abs(scores[a] - scores[b]) / np.sqrt(variance))
                doubts += doubt
                priority[item] += doubt / variance * (apart @ covariance[:, item]) ** 2 / covariance[item, item]
        priority[item] += share * doubts * of_scores / len(rows)
    return priority


def conditioned(covariance: np.ndarray, item: int) -> np.ndarray:
    return covariance - np.outer(covariance[item], covariance[item]) / covariance[item, item]


def posterior_covariance(beliefs: CorrelatedBeliefs) -> np.ndarray:
    return Dense(beliefs.model, beliefs.observed, beliefs.variances).posterior_covariance * 100**2


CASES = {
    "variance": {"share": 0.25},
    "variance:pairs": {},
    "variance:top": {"top": 1},
    "variance:top:2": {"top": 2},
    "variance:absolute": {"pairs": False},
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_judged", [0, 5])
def test_every_pick_is_the_highest_by_the_formula(text, seed, n_judged):
    collection = small_collection(seed)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(collection.n_items)[:n_judged]
    beliefs = beliefs_of(collection, {int(item): rng.uniform(0.2, 0.8) for item in chosen}, seed)
    state = state_of(collection, beliefs)
    proposal = make_policy(text).propose(state, 6, rng)
    case = dict(CASES[text])
    best = set(np.argsort(-state.scores)[: case.pop("top", len(collection.systems))].tolist())
    counts = (lambda a, b: (a in best) != (b in best)) if "top" in CASES[text] else (lambda a, b: True)
    covariance, heights = posterior_covariance(beliefs), []
    for item in proposal.items:
        priority = by_formula(state.weights.toarray(), covariance, state.scores, counts, **case)
        priority[beliefs.judged] = -1
        assert priority[item] == pytest.approx(priority.max(), rel=1e-6)
        heights.append(priority[item])
        covariance = conditioned(covariance, item)
    np.testing.assert_allclose(proposal.priority, np.minimum.accumulate(heights), rtol=1e-5)
    assert not proposal.sampled.any()


def test_a_batch_is_what_would_be_chosen_one_after_the_other():
    """Each item is judged as expected, which changes what is known but not the scores."""
    collection = small_collection(3)
    judged = {0: 0.4, 7: 0.6}
    beliefs = beliefs_of(collection, judged)
    state = state_of(collection, beliefs)
    batch = Variance().propose(state, 8, np.random.default_rng(0)).items.tolist()
    picks = []
    for _ in range(8):
        now = beliefs_of(collection, judged)
        one = Variance().propose(state_of(collection, now, state.scores), 1, np.random.default_rng(0)).items
        picks.append(int(one[0]))
        judged[picks[-1]] = float(now.central.mean[0, picks[-1]])
    assert batch == picks


def test_what_is_being_judged_counts_as_judged():
    collection = small_collection(3)
    beliefs = beliefs_of(collection, {0: 0.4})
    state = state_of(collection, beliefs)
    batch = Variance().propose(state, 6, np.random.default_rng(0)).items
    busy = beliefs.judged.copy()
    busy[batch[:3]] = True
    rest = Variance().propose(replace(state, judged=busy), 3, np.random.default_rng(1)).items
    assert rest.tolist() == batch[3:].tolist()


def test_independent_beliefs_will_do():
    collection = small_collection(1)
    rng = np.random.default_rng(0)
    beliefs = from_probabilities(rng.dirichlet(np.ones(3), collection.n_items), scale=BROAD)
    state = state_of(collection, beliefs)
    item = Variance().propose(state, 1, rng).items[0]
    priority = by_formula(state.weights.toarray(), np.diag(beliefs.variance), state.scores, share=0.25)
    assert priority[item] == pytest.approx(priority.max())


def test_ties_are_drawn():
    """Two systems with nothing in common and equal beliefs: any item is as good as any other."""
    lists = {name: {"q": {f"{name}{rank}": -float(rank) for rank in range(4)}} for name in "AB"}
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    beliefs = from_probabilities(np.full((8, 3), 1 / 3), scale=BROAD)
    state = state_of(collection, beliefs)
    firsts = {int(Variance().propose(state, 1, np.random.default_rng(seed)).items[0]) for seed in range(80)}
    assert firsts == set(range(8))


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("grouped", [False, True])
def test_all_that_is_left_is_proposed_once_and_nothing_that_is_judged(text, grouped):
    collection = small_collection(2, duplicate=True)
    judged = dict.fromkeys(range(0, collection.n_items, 3), 0.5)
    state = state_of(collection, beliefs_of(collection, judged))
    policy = replace(make_policy(text), group_by_query=grouped)
    for n in (0, 1, 5, collection.n_items + 10):
        proposal = policy.propose(state, n, np.random.default_rng(0))
        assert len(proposal) == min(n, collection.n_items - len(judged))
        assert len(set(proposal.items.tolist())) == len(proposal)
        assert not set(proposal.items.tolist()) & set(judged)
        assert np.all(np.diff(proposal.priority) <= 0)
        assert np.all(np.isfinite(proposal.priority))


def test_nothing_is_left_when_everything_is_judged():
    collection = small_collection(2)
    state = state_of(collection, beliefs_of(collection, dict.fromkeys(range(collection.n_items), 0.5)))
    assert len(Variance().propose(state, 5, np.random.default_rng(0))) == 0


def test_where_nothing_is_undecided_what_is_left_is_proposed_all_the_same():
    """One system alone, or only identical ones."""
    for collection in (small_collection(0, systems=1), small_collection(0, systems=1, duplicate=True)):
        state = state_of(collection, beliefs_of(collection, {0: 0.5}))
        for text in ("variance", "variance:top"):
            proposal = make_policy(text).propose(state, 4, np.random.default_rng(0))
            assert len(proposal) == 4
            assert np.all(proposal.priority == 0)
            assert 0 not in proposal.items
        assert np.all(make_policy("variance:absolute").propose(state, 4, np.random.default_rng(0)).priority > 0)


def test_grouped_by_query_queries_come_one_after_the_other():
    collection = small_collection(1, queries=6)
    state = state_of(collection, beliefs_of(collection, {0: 0.5}))
    policy = Variance(group_by_query=True)
    for n in (3, 10, 1000):
        query = collection.item_query[policy.propose(state, n, np.random.default_rng(0)).items]
        assert np.count_nonzero(np.diff(query)) + 1 == np.unique(query).size
    first = policy.propose(state, 1, np.random.default_rng(0)).items[0]
    priority = by_formula(state.weights.toarray(), posterior_covariance(state.beliefs), state.scores, share=0.25)
    priority[0] = 0
    worth = np.bincount(collection.item_query, priority)
    assert collection.item_query[first] == np.argmax(worth)
    assert priority[first] == pytest.approx(priority[collection.item_query == np.argmax(worth)].max())


def test_identical_pairs_do_not_count():
    """A system entered twice changes nothing but what other systems are compared with."""
    collection = small_collection(2, duplicate=True)
    beliefs = beliefs_of(collection, {})
    state = state_of(collection, beliefs)
    assert state.identical.sum() == 1
    first = Variance().propose(state, 1, np.random.default_rng(0))
    priority = by_formula(state.weights.toarray(), posterior_covariance(beliefs), state.scores, share=0.25)
    assert first.priority[0] == pytest.approx(priority.max(), rel=1e-6)


# ---- how it is written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("variance", Variance()),
        ("variance:ranking", Variance()),
        ("variance:pairs", Variance("pairs")),
        ("variance:TOP", Variance("top")),
        ("variance:top:3", Variance("top", 3)),
        ("variance:absolute", Variance("absolute")),
    ],
)
def test_arguments(text, policy):
    assert make_policy(text) == policy
    assert make_policy(str(policy)) == policy
    assert POLICIES["variance"] is Variance


@pytest.mark.parametrize("text", ["variance:best", "variance:absolute:3", "variance:top:3:4", "variance:pairs:1"])
def test_arguments_that_mean_nothing(text):
    said = text.removeprefix("variance")
    with pytest.raises(
        ParameterError, match=f"variance is followed by nothing, :goal, :pairs, :top, :top:3 or :absolute, got '{said}'"
    ):
        make_policy(text)


@pytest.mark.parametrize("count", ["0", "-1", "two"])
def test_a_top_of_nobody(count):
    with pytest.raises(ParameterError, match=f"the top of a ranking is 1 system or more, got '{count}'"):
        make_policy(f"variance:top:{count}")


def test_what_cannot_be_made_or_asked():
    with pytest.raises(
        ParameterError, match="the policy variance aims at goal, ranking, pairs, top, absolute, got 'best'"
    ):
        Variance("best")
    collection = small_collection(0)
    state = state_of(collection, beliefs_of(collection, {}))
    with pytest.raises(ParameterError, match="the number of items to propose is 0 or more, got -1"):
        Variance().propose(state, -1, np.random.default_rng(0))
    for missing in ("beliefs", "scores"):
        with pytest.raises(ParameterError, match="the policy variance needs beliefs and estimates to choose by"):
            Variance().propose(replace(state, **{missing: None}), 1, np.random.default_rng(0))


def test_weights_may_be_sparse_with_entries_that_are_zero():
    collection = small_collection(0)
    state = state_of(collection, beliefs_of(collection, {}))
    dense = replace(state, weights=csr_array(state.weights.toarray()))
    ours, theirs = (Variance().propose(one, 3, np.random.default_rng(0)).items for one in (state, dense))
    assert ours.tolist() == theirs.tolist()


# ---- honesty ---------------------------------------------------------------------------------------------------------


def test_intervals_cover_on_collections_drawn_from_the_model():
    """Variances from the prior, gains from the variances; items judged as the policy chooses.

    Systems and pairs of one collection depend on each other, so one of each is drawn per collection: independent
    trials, whose number of hits is within binomial bounds (level .001 for each of the six, .002 for all together).
    """
    centre = {
        "base": 0.002, "slopes": 0.0005, "query": 0.003, "query slope": 0.003, "system": 0.003,
        "system in query": 0.004, "system slope": 0.003, "noise": 0.008, "query × ART": 0.003, "query × GEN": 0.002,
    }  # fmt: skip
    prior = HierarchicalPrior(
        "as drawn", {"1": 0.1, "common": 0.4}, {name: (float(np.log(value)), 0.5) for name, value in centre.items()}
    )
    covered: dict[float, list[list[bool]]] = {0.0: [], 0.1: [], 0.3: []}
    widths: dict[float, list[float]] = {0.0: [], 0.1: [], 0.3: []}
    trials = 60
    for seed in range(trials):
        rng = np.random.default_rng([2, seed])
        collection = small_collection(seed, systems=5, queries=8, depth=4, pool=12)
        setting = Setting(collection, FINE)
        known = covariates(collection, setting.features)
        model = effect_model(collection, known, prior.mean(known))
        drawn = prior.of_components(model.components)
        theta = np.exp(rng.normal(drawn.centre, drawn.sd))
        nothing = Observations.exact(model, np.arange(0), np.zeros(0))
        root = np.linalg.cholesky(Dense(model, nothing, theta).covariance)
        truth = 100 * np.clip(model.prior_mean + root @ rng.standard_normal(model.n_items), 0, 1)
        weights = system_weights(collection, AG, scale=FINE)
        scores = weights @ truth
        predictor, gains = Hierarchical(setting, prior), np.full(collection.n_items, UNJUDGED)
        for share in covered:
            while np.count_nonzero(gains >= 0) < share * collection.n_items:
                beliefs = predictor.predict(gains)
                state = state_of(collection, beliefs)
                items = Variance().propose(state, max(collection.n_items // 20, 1), rng).items
                gains = gains.copy()
                gains[items] = truth[items]
            estimates = estimate_linear(collection, predictor.predict(gains), AG)
            system, pair = rng.integers(5), rng.integers(10)
            trial = []
            for moments, true, which in (
                (estimates.scores, scores, system),
                (estimates.differences, scores[estimates.a] - scores[estimates.b], pair),
            ):
                low, high = interval(moments.mean, moments.variance, df=moments.df)
                trial.append(bool(low[which] <= true[which] <= high[which]))
            covered[share].append(trial)
            widths[share].append(float(np.sqrt(estimates.differences.variance).mean()))
    for hits in covered.values():
        assert np.all(np.array(hits).sum(axis=0) >= 51)  # P(X ≤ 50) is .0007 for X ~ B(60, .95); P(X = 60) is .046
    everything = np.array(list(covered.values())).reshape(-1)
    assert 0.911 <= everything.mean() <= 0.981
    assert np.mean(widths[0.3]) < 0.75 * np.mean(widths[0.1]) < 0.75 * np.mean(widths[0.0])
