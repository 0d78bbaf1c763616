"""The hierarchical predictor: its effects written out, its priors, its fallbacks, assessors who disagree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import special
from scipy.optimize import minimize

import earmark
from earmark.beliefs import variance_components
from earmark.beliefs.beliefs import UNJUDGED, AssessorGains, item_gains
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.beliefs.montecarlo import estimate_montecarlo
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.data.scales import BINARY, BROAD, FINE, parse_scale
from earmark.errors import InputError, NotConverged, ParameterError
from earmark.inference.confidence import rank_systems
from earmark.predictors import hierarchical_prior
from earmark.predictors.base import PREDICTORS, Setting, make_predictor
from earmark.predictors.covariates import covariates
from earmark.predictors.hierarchical import DRAWS, Hierarchical
from earmark.predictors.hierarchical_effects import (
    GENERAL,
    attribute_component,
    effect_model,
    item_spread,
    typical_gain,
    usual_effects,
)
from earmark.predictors.hierarchical_prior import (
    HierarchicalPrior,
    JudgedCollection,
    fit_prior,
    fractional_logit,
    scale_kind,
    shipped_prior,
)
from earmark.simulation import synthetic_collection
from effects_drawn import Dense, small_collection

AG = earmark.parse("AG@4")
SCALES = [BINARY, BROAD, parse_scale("0..3"), FINE, parse_scale("0.0..1.0")]


def some_gains(collection: Collection, scale, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    gains = rng.choice(scale.gains, collection.n_items).astype(float)
    return np.where(rng.random(collection.n_items) < share, gains, UNJUDGED)


# ---- effects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("metadata", [False, True])
def test_the_covariance_of_gains_is_that_of_the_formula(duplicate, metadata):
    """Components one at a time: whose gains vary together, and by how much, from the equation of the module."""
    collection = small_collection(0, duplicate=duplicate, metadata=metadata)
    known = covariates(collection, Setting(collection, FINE).features)
    mean = np.random.default_rng(0).uniform(0.05, 0.95, collection.n_items)
    typical = np.random.default_rng(1).uniform(0.005, 0.995, collection.n_items)
    model = effect_model(collection, known, mean, effects=usual_effects(tuple(known.groups)), typical=typical)
    s = np.sqrt(np.maximum(0.05, 4 * typical * (1 - typical)))
    np.testing.assert_allclose(item_spread(typical), s)
    slope = 2 * (mean - mean.mean())
    member = (collection.ranks.toarray() > 0).astype(float)
    overlap = member @ member.T
    alike = overlap / np.sqrt(np.outer(np.diagonal(overlap), np.diagonal(overlap)))
    w = (member / np.sqrt(member.sum(axis=0))).T
    systems = w @ alike @ w.T
    ranks = collection.ranks.toarray()
    discount = 1 / np.log2(1 + np.arange(1, ranks.max() + 1))
    height = np.where(ranks > 0, ((discount - discount.mean()) / discount.std())[ranks - 1], 0)
    h = (height / np.sqrt(member.sum(axis=0))).T
    ranked = h @ alike @ h.T
    prominence = np.log1p((member * discount[ranks - 1]).sum(axis=0)) / np.log1p(len(collection.systems))
    query = collection.item_query
    same_query = (query[:, None] == query).astype(float)
    values = known.values - known.values.mean(axis=0)
    values = values[:, values.std(axis=0) > 1e-9] / values.std(axis=0)[values.std(axis=0) > 1e-9]

    def same_group(code: str) -> np.ndarray:
        group = known.groups[code]
        return ((group[:, None] == group) & (group >= 0)) | np.eye(group.size, dtype=bool)

    rare, common = s * (1 - prominence), s * prominence
    expected = {
        "base": np.outer(s, s),
        "rare": np.outer(rare, rare),
        "common": np.outer(common, common),
        "slopes": np.outer(slope, slope) + np.outer(s, s) * (values @ values.T),
        "query": np.outer(s, s) * same_query,
        "query slope": np.outer(slope, slope) * same_query,
        "system": np.outer(s, s) * systems,
        "system in query": np.outer(s, s) * systems * same_query,
        "system slope": np.outer(slope, slope) * systems,
        "rare in query": np.outer(rare, rare) * same_query,
        "common in query": np.outer(common, common) * same_query,
        "system rank": np.outer(s, s) * ranked,
        "system rank in query": np.outer(s, s) * ranked * same_query,
        "noise": np.diag(s**2),
    }
    if metadata:
        expected |= {f"query × {code}": np.outer(s, s) * same_group(code) for code in ("ART", "GEN")}
    assert set(model.components) == {*usual_effects(tuple(known.groups)), *(set(expected) - set(GENERAL))}
    empty = earmark.beliefs.effects.Observations.exact(model, np.arange(0), np.zeros(0))
    for number, component in enumerate(model.components):
        found = Dense(model, empty, np.eye(len(model.components))[number]).covariance
        np.testing.assert_allclose(found, expected[component], atol=1e-7, err_msg=component)


def test_the_typical_gain_follows_the_judgments_of_items_like_it():
    """It is the prior mean moved by the shared effects, less the fewer judgments there are, and never at an end."""
    collection = small_collection(0, systems=5, queries=6)
    known = covariates(collection, Setting(collection, FINE).features)
    prior = shipped_prior(FINE, ()).for_collection(known, 6)
    model = effect_model(collection, known, prior.mean(known), effects=tuple(prior.variances))
    variances = np.exp(prior.of_components(model.components).centre)
    items = np.flatnonzero(np.random.default_rng(0).random(collection.n_items) < 0.5)

    def typical(judged: np.ndarray, value: float) -> np.ndarray:
        observed = earmark.beliefs.effects.Observations.exact(model, judged, np.full(judged.size, value))
        return typical_gain(model, observed, variances)

    observed = earmark.beliefs.effects.Observations.exact(model, items, np.zeros(items.size))
    dense = Dense(model, observed, variances)
    with_judged = (model.shared * variances[model.shared_component]) @ model.shared[items].T
    moved = with_judged @ np.linalg.solve(dense.of_observations, -model.prior_mean[items])
    expected = model.prior_mean + moved * items.size / (items.size + 30)
    np.testing.assert_allclose(typical(items, 0.0), np.clip(expected, 0.05, 0.95), atol=1e-9)
    assert np.all(typical(items, 0.0) < model.prior_mean)
    assert np.all(typical(items, 1.0) > model.prior_mean)
    assert np.abs(typical(items[:2], 0.0) - model.prior_mean).max() < np.abs(expected - model.prior_mean).max()


def test_a_system_entered_twice_shares_all_effects_with_its_twin():
    collection = small_collection(0, duplicate=True)
    setting = Setting(collection, FINE)
    beliefs = make_predictor("hierarchical", setting).predict(some_gains(collection, FINE, 0.3))
    estimates = estimate_linear(collection, beliefs, AG)
    (pair,) = np.flatnonzero(estimates.identical)
    assert (estimates.a[pair], estimates.b[pair]) == (0, len(collection.systems) - 1)
    assert estimates.differences.mean[pair] == 0
    assert estimates.differences.variance[pair] == 0


# ---- fallbacks -------------------------------------------------------------------------------------------------------


def sound(collection: Collection, scale, gains: np.ndarray, **setting):
    """Predict, and check what has to hold whatever the collection is like."""
    predictor = make_predictor("hierarchical", Setting(collection, scale, **setting))
    beliefs = predictor.predict(gains)
    known = gains >= 0
    np.testing.assert_array_equal(beliefs.mean[known], gains[known])
    assert np.all((beliefs.mean >= 0) & (beliefs.mean <= scale.top))
    assert np.all(beliefs.variance[known] == 0)
    assert np.all((beliefs.variance[~known] > 0) & np.isfinite(beliefs.variance[~known]))
    ranking = rank_systems(estimate_linear(collection, beliefs, AG))
    for numbers in (ranking.low, ranking.high, ranking.confidence, ranking.difference_low, ranking.difference_high):
        assert np.all(np.isfinite(numbers))
    drawn = beliefs.sample(np.random.default_rng(0), 20)
    assert np.all((drawn >= 0) & (drawn <= scale.top + 1e-9))
    np.testing.assert_array_equal(drawn[:, known], np.tile(gains[known], (20, 1)))
    assert np.all(np.isfinite(beliefs.leave_one_out()))
    return predictor, beliefs, ranking


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_every_scale(scale, share):
    collection = small_collection(0)
    _, beliefs, _ = sound(collection, scale, some_gains(collection, scale, share))
    assert beliefs.drawn_variances.shape == (DRAWS, len(beliefs.model.components))
    if share == 0:
        assert "nothing is judged" in beliefs.notes[0]
    elif share < 1:
        assert beliefs.notes[0].startswith(f"only {beliefs.n_judged} judged")


@pytest.mark.parametrize(
    "shape",
    [
        {"queries": 1},
        {"systems": 1},
        {"systems": 2},
        {"systems": 1, "queries": 1, "depth": 1, "pool": 1},
        {"metadata": False},
        {"depth": 1, "pool": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_small_collections_have_beliefs_too(shape, share):
    collection = small_collection(1, **{"metadata": True, **shape})
    _, _, ranking = sound(collection, FINE, some_gains(collection, FINE, share, seed=4))
    if share == 1:
        assert np.all(ranking.estimates.scores.variance == 0)
    if len(collection.systems) == 1:
        assert ranking.mean_confidence is None


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("gain", ["bottom", "top"])
def test_judgments_that_are_all_the_same(scale, gain):
    collection = small_collection(2)
    judged = some_gains(collection, scale, 0.5)
    judged[judged >= 0] = 0 if gain == "bottom" else scale.top
    _, beliefs, _ = sound(collection, scale, judged)
    _, before, _ = sound(collection, scale, np.full(collection.n_items, UNJUDGED))
    left = judged < 0
    moved = (beliefs.mean - before.mean)[left].mean()
    assert moved < 0 if gain == "bottom" else moved > 0


def with_columns(collection: Collection, **columns) -> Collection:
    frame = collection.metadata.frame.with_columns(**columns)
    return Collection(
        **{name: getattr(collection, name) for name in collection.__dataclass_fields__ if name != "metadata"},
        metadata=Metadata(frame),
    )


def test_more_attributes_than_data():
    collection = small_collection(0, queries=1)
    rng = np.random.default_rng(0)
    height = collection.metadata.frame.height
    names = [f"extra{chr(97 + number)}" for number in range(20)]
    columns = {name: pl.Series(rng.integers(0, 3, height)).cast(pl.String) for name in names}
    more = with_columns(collection, **columns)
    gains = np.full(more.n_items, UNJUDGED)
    gains[[0, 3]] = 30, 80
    _, beliefs, _ = sound(more, FINE, gains, attributes=tuple(names))
    assert len(beliefs.model.components) == 10 + 20


def test_an_attribute_that_no_prior_knows_has_a_vague_one():
    more = with_columns(small_collection(0), mood=pl.col("genre"))
    _, beliefs, _ = sound(more, FINE, some_gains(more, FINE, 0.0), attributes=("mood",))
    (component,) = set(beliefs.model.components) - set(shipped_prior(FINE, ("ART", "GEN")).variances)
    assert component.startswith("query × ")
    number = beliefs.model.components.index(component)
    assert beliefs.variances[number] == pytest.approx(0.01)
    assert np.log(beliefs.drawn_variances[:, number]).std() == pytest.approx(1.0, abs=0.4)


# ---- learning --------------------------------------------------------------------------------------------------------


def test_it_is_known_by_name_and_the_same_every_time():
    assert "hierarchical" in PREDICTORS
    collection = small_collection(0)
    gains = some_gains(collection, FINE, 0.4)
    first, second = (make_predictor("hierarchical", Setting(collection, FINE)).predict(gains) for _ in range(2))
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.drawn_variances, second.drawn_variances)


def test_its_version_does_not_depend_on_the_collection():
    """A campaign to which a system is added is the same campaign by the same predictor."""
    few, many = (small_collection(0, systems=systems, metadata=False) for systems in (3, 5))
    versions = {make_predictor("hierarchical", Setting(collection, FINE)).version for collection in (few, many)}
    assert len(versions) == 1


def test_what_is_learnt_helps_and_claims_are_about_right():
    gained, honesty = [], []
    for seed in range(4):
        made = synthetic_collection(np.random.default_rng(seed), systems=6, queries=20, documents=300)
        collection = Collection.from_runs(made.runs, metadata=made.metadata)
        truth = item_gains(collection, made.judgments)
        setting = Setting(collection, FINE)
        judged = np.random.default_rng(seed).random(truth.size) < 0.3
        predictor = Hierarchical(setting)
        before = predictor.predict(setting.unjudged)
        after = predictor.predict(np.where(judged, truth, UNJUDGED))
        error = np.mean((after.mean - truth)[~judged] ** 2)
        gained.append(error / np.mean((before.mean - truth)[~judged] ** 2))
        honesty.append(after.variance[~judged].mean() / error)
    assert np.mean(gained) < 0.8
    assert 0.7 < np.mean(honesty) < 1.6


def test_variances_are_fitted_at_fixed_counts_of_judgments_in_their_order():
    collection = small_collection(0, queries=10)
    gains = some_gains(collection, FINE, 1.0)
    predictor = Hierarchical(Setting(collection, FINE))
    order = np.random.default_rng(0).permutation(gains.size)

    def fitted_on(n: int, *, ordered: bool = True):
        judged = np.isin(np.arange(gains.size), order[:n])
        predictor.predict(np.where(judged, gains, UNJUDGED), order=order[:n] if ordered else None)
        return predictor.fitted_

    assert fitted_on(19) is not fitted_on(18)
    assert fitted_on(31) is fitted_on(30)
    assert fitted_on(32) is not fitted_on(31)
    # Without an order there is nothing to hold back.
    np.testing.assert_array_equal(fitted_on(30, ordered=False).peak, fitted_on(30).peak)
    assert not np.array_equal(fitted_on(31, ordered=False).peak, fitted_on(31).peak)


def test_beliefs_depend_on_judgments_and_their_order_not_on_the_path():
    collection = small_collection(0, queries=10)
    gains = some_gains(collection, FINE, 1.0)
    order = np.random.default_rng(1).permutation(gains.size)
    walked = Hierarchical(Setting(collection, FINE))
    for n in (0, 3, 4, 21, 22, 23, 37, 20, 41):
        judged = np.where(np.isin(np.arange(gains.size), order[:n]), gains, UNJUDGED)
        on_the_way = walked.predict(judged, order=order[:n])
        at_once = Hierarchical(Setting(collection, FINE)).predict(judged, order=order[:n])
        np.testing.assert_array_equal(on_the_way.mean, at_once.mean)
        np.testing.assert_array_equal(on_the_way.variance, at_once.variance)
        weights = np.ones((1, gains.size))
        np.testing.assert_array_equal(on_the_way.sums(weights)[1], at_once.sums(weights)[1])


def test_a_fit_that_fails_leaves_everything_as_it_was(monkeypatch):
    collection = small_collection(0)
    gains = some_gains(collection, FINE, 0.6)
    fewer = np.where(np.arange(gains.size) < 8, gains, UNJUDGED)
    predictor = Hierarchical(Setting(collection, FINE))
    before = predictor.predict(fewer)
    fitted = predictor.fitted_
    with monkeypatch.context() as patched:
        patched.setattr(variance_components, "_STEPS", 0)
        with pytest.raises(NotConverged):
            predictor.predict(gains)
        assert predictor.fitted_ is fitted
        np.testing.assert_array_equal(predictor.predict(fewer).mean, before.mean)
    after = predictor.predict(gains)
    assert after.n_judged == np.count_nonzero(gains >= 0)
    assert predictor.fitted_ is not fitted


# ---- assessors -------------------------------------------------------------------------------------------------------


def asked(
    truth: np.ndarray, items: np.ndarray, noise: float, *, each: int = 3, n: int = 5, seed: int = 0
) -> AssessorGains:
    """Let some assessors, each with a generosity of their own, judge every item."""
    rng = np.random.default_rng(seed)
    who = np.concatenate([rng.permutation(n)[:each] for _ in items])
    item = np.repeat(items, each)
    generosity = rng.normal(0, noise / 2, n)
    gain = np.clip(truth[item] + generosity[who] + rng.normal(0, noise, item.size), 0, 100)
    mixed = rng.permutation(item.size)
    return AssessorGains(item[mixed], who[mixed], gain[mixed], n)


def mean_of(answers: AssessorGains, n_items: int) -> np.ndarray:
    count = np.bincount(answers.item, minlength=n_items)
    total = np.bincount(answers.item, answers.gain, minlength=n_items)
    return np.where(count > 0, total / np.maximum(count, 1), UNJUDGED)


def test_assessors_who_disagree_widen_intervals():
    made = synthetic_collection(np.random.default_rng(0), systems=5, queries=12, documents=200)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    truth, setting = item_gains(collection, made.judgments), Setting(collection, FINE)
    items = np.flatnonzero(np.random.default_rng(0).random(truth.size) < 0.6)
    spread = {}
    for noise in (2.0, 25.0):
        answers = asked(truth, items, noise)
        gains = mean_of(answers, truth.size)
        noisy = Hierarchical(setting).predict(gains, answers)
        taken = Hierarchical(setting).predict(gains)
        assert not noisy.certain.any()
        assert noisy.n_judged == taken.n_judged == items.size
        assert np.all(noisy.variance[items] > 0)
        estimates, as_truth = (estimate_linear(collection, one, AG) for one in (noisy, taken))
        spread[noise] = estimates.differences.variance / as_truth.differences.variance
        drawn = noisy.sample(np.random.default_rng(0), 20)
        assert np.all((drawn >= 0) & (drawn <= 100))
        assert drawn[:, items].std() > 0
        # What was said of an item does not reach its own prediction, however many said it.
        out = noisy.leave_one_out()
        other = AssessorGains(
            answers.item, answers.assessor, np.where(answers.item == items[0], 100 - answers.gain, answers.gain), 5
        )
        changed = Hierarchical(setting).predict(mean_of(other, truth.size), other)
        assert abs(changed.leave_one_out()[items[0]] - out[items[0]]) < 5
    assert np.all(spread[25.0] > 1.2)
    assert np.median(spread[25.0]) > np.median(spread[2.0])
    by_draws = estimate_montecarlo(collection, noisy, AG, rng=np.random.default_rng(0), samples=200)
    assert np.all(by_draws.scores.variance > 0)


def test_with_answers_of_several_assessors_errors_are_as_large_as_claimed():
    """Judged items themselves: the variance that is claimed is the squared error that is made."""
    claimed, made_errors = [], []
    for seed in range(4):
        made = synthetic_collection(np.random.default_rng(seed), systems=5, queries=12, documents=200)
        collection = Collection.from_runs(made.runs, metadata=made.metadata)
        truth, setting = item_gains(collection, made.judgments), Setting(collection, FINE)
        items = np.flatnonzero((np.random.default_rng(seed).random(truth.size) < 0.6) & (truth > 20) & (truth < 80))
        answers = asked(truth, items, 15.0, seed=seed)
        beliefs = Hierarchical(setting).predict(mean_of(answers, truth.size), answers)
        claimed.append(beliefs.variance[items].mean())
        made_errors.append(np.mean((beliefs.mean - truth)[items] ** 2))
    assert 0.6 < np.mean(claimed) / np.mean(made_errors) < 2.0


@pytest.mark.parametrize("scale", [BINARY, parse_scale("0..3"), FINE], ids=str)
@pytest.mark.parametrize("copies", [2, 3])
def test_assessors_who_agree_on_everything_may_differ_next_time(scale, copies):
    """The variance of disagreement is about what one difference of a step among n + 1 pairs of answers would be."""
    collection = small_collection(0, systems=6, queries=25, depth=6, pool=20)
    gains = some_gains(collection, scale, 0.7)
    items = np.flatnonzero(gains >= 0)
    assert items.size > 150
    item, assessor = np.repeat(items, copies), np.tile(np.arange(copies), items.size)
    answers = AssessorGains(item, assessor, gains[item], copies)
    beliefs = Hierarchical(Setting(collection, scale)).predict(gains, answers)
    # That of an answer, as a share of the top gain.
    variance = beliefs.observed.answer_variance(beliefs.variances)
    step = 1 / (len(scale.gains) - 1)
    rule = step**2 / 2 / ((copies - 1) * items.size + 1)
    assert 0.5 * rule < variance < 4 * rule


def test_without_overlap_judgments_are_the_truth():
    collection = small_collection(0)
    gains = some_gains(collection, FINE, 0.5)
    items = np.flatnonzero(gains >= 0)
    answers = AssessorGains(items, items % 3, gains[items], 3)
    assert not answers.overlap
    setting = Setting(collection, FINE)
    alone, told = Hierarchical(setting).predict(gains), Hierarchical(setting).predict(gains, answers)
    np.testing.assert_array_equal(told.mean, alone.mean)
    np.testing.assert_array_equal(told.variance, alone.variance)
    np.testing.assert_array_equal(told.certain, gains >= 0)


def test_assessors_may_come_and_go():
    collection = small_collection(0)
    truth = np.random.default_rng(0).uniform(20, 80, collection.n_items)
    predictor = Hierarchical(Setting(collection, FINE))
    items = np.arange(0, collection.n_items, 2)
    for answers in (
        asked(truth, items, 10.0, each=2, n=3),
        asked(truth, items, 10.0, each=3, n=4),
        asked(truth, items, 10.0, each=1, n=4),
    ):
        beliefs = predictor.predict(mean_of(answers, truth.size), answers)
        there = beliefs.model.components
        n = np.count_nonzero(beliefs.model.shared_component == there.index("assessor")) if "assessor" in there else 0
        assert n == (answers.n_assessors if answers.overlap else 0)
        assert np.all(np.isfinite(beliefs.mean))


# ---- priors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [BINARY, BROAD, FINE], ids=str)
@pytest.mark.parametrize("codes", [(), ("ART",), ("GEN",), ("ART", "GEN")], ids=str)
def test_every_shipped_prior(scale, codes):
    prior = shipped_prior(scale, codes)
    assert set(prior.variances) == {*usual_effects(codes), *map(attribute_component, codes)}
    # What is known about documents changes what covariates are worth; a prior for any collection cannot count on that.
    assert prior.standardised == (not codes)
    for centre, spread in prior.variances.values():
        assert np.exp(centre) < 0.3
        assert 0.2 < spread < 1.5
    named = set(prior.coefficients)
    assert {"1", "common", "rank", "overlap", "agreement"} <= named
    assert all((f"p{code}" in named) == (code in codes) for code in ("ART", "GEN"))
    assert all(np.isfinite(value) for value in prior.coefficients.values())
    assert shipped_prior(scale, (*codes, "MOO")) == prior
    assert HierarchicalPrior.from_dict(json.loads(json.dumps(prior.to_dict()))) == prior


def test_shipped_priors_are_twelve():
    assert len(hierarchical_prior._shipped()) == 12


@pytest.mark.parametrize(
    ("text", "kind"),
    [("binary", "binary"), ("broad", "few"), ("0..3", "few"), ("0..4", "few"), ("0..5", "many"), ("fine", "many")],
)
def test_kinds_of_scales(text, kind):
    assert scale_kind(parse_scale(text)) == kind
    assert scale_kind(parse_scale("0.0..1.0")) == "many"


def test_a_prior_mean_is_logistic_and_ignores_what_it_does_not_know():
    collection = small_collection(0)
    known = covariates(collection, Setting(collection, FINE).features)
    prior = HierarchicalPrior("x", {"1": -0.5, "rank": 2.0, "elsewhere": 9.0}, {})
    rank = known.values[:, known.names.index("rank")]
    np.testing.assert_allclose(prior.mean(known), special.expit(-0.5 + 2 * rank))
    vague = prior.of_components(("noise", "assessor"))
    np.testing.assert_allclose(np.exp(vague.centre), 0.01)
    assert vague.sd.tolist() == [1.0, 1.0]


def test_effects_of_systems_vary_more_among_few():
    collection = small_collection(0)
    known = covariates(collection, Setting(collection, FINE).features)
    prior = shipped_prior(FINE, ("ART", "GEN"))
    assert prior.for_collection(known, 8) == prior.for_collection(known, 40) == prior
    two, four = (prior.for_collection(known, n).variances for n in (2, 4))
    for name, (centre, spread) in prior.variances.items():
        assert two[name][1] == four[name][1] == spread
        assert two[name][0] - centre == pytest.approx(2 * (four[name][0] - centre))
        assert (two[name][0] > centre) == name.startswith("system")
    assert Hierarchical(Setting(collection, FINE)).prior.variances["system"][0] > prior.variances["system"][0]


def test_a_prior_comes_back_from_its_file(tmp_path: Path):
    prior = shipped_prior(FINE, ("ART", "GEN"))
    prior.save(tmp_path / "prior.json")
    assert HierarchicalPrior.load(tmp_path / "prior.json") == prior
    assert "×" in (tmp_path / "prior.json").read_text(encoding="utf-8")
    collection = small_collection(0)
    setting = Setting(collection, FINE)
    gains = some_gains(collection, FINE, 0.4)
    loaded = Hierarchical(setting, HierarchicalPrior.load(tmp_path / "prior.json")).predict(gains)
    np.testing.assert_array_equal(loaded.mean, Hierarchical(setting).predict(gains).mean)


KIND = '"kind": "earmark hierarchical prior"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "expected a model, got No such file"),
        ("{", "expected a model in JSON, got "),
        ("[1]", "expected kind 'earmark hierarchical prior', got no JSON object"),
        ("{}", "expected kind 'earmark hierarchical prior', got another JSON object"),
        ('{"kind": "other"}', "expected kind 'earmark hierarchical prior', got other"),
        (f"{{{KIND}}}", "expected name, coefficients and variances, got KeyError"),
        (f'{{{KIND}, "name": "x", "coefficients": [1], "variances": {{}}}}', "variances, got AttributeError"),
        (f'{{{KIND}, "name": "x", "coefficients": {{"1": "a"}}, "variances": {{}}}}', "variances, got ValueError"),
        (f'{{{KIND}, "name": "x", "coefficients": {{}}, "variances": {{"noise": [1]}}}}', "variances, got ValueError"),
        (f'{{{KIND}, "name": "x", "coefficients": {{}}, "variances": {{"noise": 1}}}}', "variances, got TypeError"),
        (f'{{{KIND}, "name": "x", "coefficients": {{"1": NaN}}, "variances": {{}}}}', "variances, got ValueError"),
        (f'{{{KIND}, "name": "x", "coefficients": {{}}, "variances": {{"noise": [1, 0]}}}}', "got ValueError.*above 0"),
    ],
)
def test_files_that_are_no_priors(tmp_path: Path, text, said):
    path = tmp_path / "prior.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        HierarchicalPrior.load(path)
    assert "prior.json" in str(raised.value)


def test_a_file_that_is_no_text(tmp_path: Path):
    (tmp_path / "prior.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="expected a model in JSON"):
        HierarchicalPrior.load(tmp_path / "prior.json")


def test_a_fractional_logit_maximises_its_likelihood():
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 1, (200, 3))
    share = np.clip(special.expit(0.4 + rows @ [1.0, -0.5, 0.0]) + rng.normal(0, 0.1, 200), 0, 1)

    def loss(at: np.ndarray) -> float:
        eta = at[0] + rows @ at[1:]
        return float(-(share * eta - np.logaddexp(0, eta)).sum() + 1.5 * (at[1:] ** 2).sum() + 5e-7 * at[0] ** 2)

    np.testing.assert_allclose(
        fractional_logit(rows, share, ridge=3.0), minimize(loss, np.zeros(4), tol=1e-10).x, atol=1e-4
    )


def judged_collection(seed: int, share: float = 1.0) -> JudgedCollection:
    made = synthetic_collection(np.random.default_rng(seed), systems=5, queries=12, documents=200)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    truth = item_gains(collection, made.judgments) / 100
    known = np.random.default_rng(seed).random(truth.size) < share
    return JudgedCollection(collection, Setting(collection, FINE).features, np.where(known, truth, -1.0))


def test_a_prior_learnt_from_past_collections_is_better_than_the_shipped_one():
    prior = fit_prior([judged_collection(seed, 0.8) for seed in (1, 2)], name="mine", fixed={"base": 0.01})
    assert prior.name == "mine"
    assert prior.variances["base"] == pytest.approx((np.log(0.01), 0.7), abs=1e-4)
    assert prior.variances["noise"][1] == 0.4
    assert len(prior.level_use) == 21
    new = judged_collection(3)
    known = covariates(new.collection, new.features)
    errors = [np.mean((one.mean(known) - new.gains) ** 2) for one in (prior, shipped_prior(FINE, ("ART", "GEN")))]
    assert errors[0] < errors[1]
    beliefs = Hierarchical(Setting(new.collection, FINE), prior).predict(np.full(new.gains.size, UNJUDGED))
    assert 0.5 < beliefs.variance.mean() / np.mean((beliefs.mean / 100 - new.gains) ** 2) / 100**2 < 2.5


def test_given_variances_are_those_of_effects_that_exist():
    past = [judged_collection(1, 0.8)]
    prior = fit_prior(past, name="mine", fixed={"query × ART": 0.02, "rare": 0.01})
    assert prior.variances["query × ART"][0] == pytest.approx(np.log(0.02), abs=1e-4)
    # Where artists are known, there is no such effect.
    assert "rare" not in prior.variances
    with pytest.raises(ParameterError, match="unknown effect 'bsae'"):
        fit_prior(past, name="mine", fixed={"bsae": 0.01})


def test_a_prior_of_nothing():
    with pytest.raises(ParameterError, match="a prior is learnt from judged items, and nothing is judged"):
        fit_prior([judged_collection(1, 0.0)], name="mine")


@pytest.mark.parametrize("gain", [0.0, 0.5, 1.0])
def test_a_prior_of_judgments_that_are_all_the_same(gain):
    one = judged_collection(1)
    same = JudgedCollection(one.collection, one.features, np.full(one.gains.size, gain))
    with pytest.raises(ParameterError, match="a prior is learnt from gains that differ"):
        fit_prior([same], name="flat")
