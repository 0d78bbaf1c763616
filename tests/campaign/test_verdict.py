"""Verdicts: by the model and by design, about these queries and others, once and at any time; and their refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import earmark
from earmark.beliefs.beliefs import Beliefs, from_probabilities, item_gains
from earmark.campaign.verdict import Estimator, Inference, Verdicts
from earmark.data.collection import Collection
from earmark.data.units import QueryUnits
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.confidence_sequences import AnyTime
from earmark.inference.design_based import estimate_by_design, sampled_gains
from earmark.inference.query_population import query_sampling, to_population
from earmark.inference.units import Units, guarded_spread
from earmark.predictors import Setting, make_predictor

AG5 = earmark.parse("AG@5")


class Judged:
    """A collection with all of its gains, of which any part may be shown."""

    def __init__(self, *, systems: int = 4, queries: int = 20, depth: int | None = 5, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        made = earmark.synthetic_collection(rng, systems=systems, queries=queries, documents=300)
        self.collection = Collection.from_runs(made.runs, depth=depth, metadata=made.metadata)
        self.setting = Setting(self.collection, made.judgments.scale)
        self.gains = item_gains(self.collection, made.judgments)
        self.made = made

    def verdicts(self, inference: Inference, *, measure: str = "AG@5", predictor: str = "uniform") -> Verdicts:
        made = make_predictor(predictor, self.setting)
        return Verdicts(self.setting, earmark.parse(measure), made, inference=inference, seed=7)

    def beliefs(self, shown: np.ndarray, predictor: str = "uniform") -> Beliefs:
        return make_predictor(predictor, self.setting).predict(np.where(shown, self.gains, -1.0))

    def picked(self, n: int, seed: int = 0) -> np.ndarray:
        """Some items, as an adaptive policy may have picked them."""
        shown = np.zeros(self.gains.size, dtype=bool)
        shown[np.random.default_rng(seed).permutation(self.gains.size)[:n]] = True
        return shown

    @property
    def truth(self) -> np.ndarray:
        return earmark.evaluate(self.made.runs, self.made.judgments, ["AG@5"]).mean_values[0]


@pytest.fixture(scope="module")
def judged() -> Judged:
    return Judged()


def width(ranking: Ranking) -> np.ndarray:
    """Of all intervals, those of systems before those of pairs."""
    return np.concatenate((ranking.high - ranking.low, ranking.difference_high - ranking.difference_low))


def test_by_default_it_is_the_models_ranking_of_these_queries(judged: Judged) -> None:
    beliefs = judged.beliefs(judged.picked(50))
    verdicts = judged.verdicts(Inference())
    verdict = verdicts.conclude(beliefs)
    plain = rank_systems(Estimator(judged.setting, AG5).estimate(beliefs))
    assert (verdict.basis, verdict.sampled, verdicts.inference.about) == ("by the model", None, "these queries")
    np.testing.assert_array_equal(verdict.ranking.low, plain.low)
    np.testing.assert_array_equal(verdict.ranking.confidence, verdicts.by_model(beliefs).confidence)
    assert verdicts.ready(judged.setting.unjudged)


def test_degrees_of_freedom_are_for_estimates_without_their_own(judged: Judged) -> None:
    student = Inference(distribution="t")
    beliefs = judged.beliefs(judged.picked(50))
    normal, t = (judged.verdicts(how).conclude(beliefs).ranking for how in (Inference(), student))
    # One less than there are queries.
    np.testing.assert_allclose(width(t), width(normal) * stats.t.ppf(0.975, 19) / stats.norm.ppf(0.975))
    shared = judged.beliefs(judged.picked(50), "hierarchical")
    own, own_t = (
        judged.verdicts(how, predictor="hierarchical").conclude(shared).ranking for how in (Inference(), student)
    )
    np.testing.assert_array_equal(width(own_t), width(own))
    with pytest.raises(ParameterError, match="--distribution t needs two queries or more, got one"):
        Judged(queries=1).verdicts(student)


# ---- by design -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("predictor", ["uniform", "hierarchical"])
def test_by_design_it_is_the_corrected_prediction(judged: Judged, predictor: str) -> None:
    verdicts = judged.verdicts(Inference("design"), predictor=predictor)
    order = verdicts.item_order
    shown = order.sampled(80)
    verdict = verdicts.conclude(judged.beliefs(shown, predictor))
    predict = make_predictor(predictor, judged.setting).out_of_sample
    expected = estimate_by_design(
        judged.collection,
        AG5,
        scale=judged.setting.scale,
        order=order,
        judged_gain=np.where(shown, judged.gains, -1.0),
        prediction=predict(np.where(shown, judged.gains, -1.0), verdicts.folds),
    )
    np.testing.assert_allclose(verdict.ranking.estimates.scores.mean, expected.estimates.scores.mean)
    np.testing.assert_allclose(width(verdict.ranking), width(rank_systems(expected.estimates)))
    assert (verdict.sampled, verdict.basis) == (80, "guaranteed by the sampling design, whatever the model")
    assert np.all((verdict.ranking.low <= judged.truth) & (judged.truth <= verdict.ranking.high))


@pytest.mark.parametrize("predictor", ["uniform", "hierarchical"])
def test_what_was_judged_besides_the_sample_changes_nothing(judged: Judged, predictor: str) -> None:
    verdicts = judged.verdicts(Inference("design"), predictor=predictor)
    order = verdicts.item_order
    shown = order.sampled(60)
    more = shown.copy()
    more[order.order[70:120]] = True
    alone, with_others = (verdicts.conclude(judged.beliefs(which, predictor)) for which in (shown, more))
    assert alone.sampled == with_others.sampled == 60
    np.testing.assert_allclose(alone.ranking.estimates.scores.mean, with_others.ranking.estimates.scores.mean)
    np.testing.assert_allclose(alone.ranking.low, with_others.ranking.low)


def test_concluding_does_not_change_what_is_believed(judged: Judged) -> None:
    """By design the model learns from the sample alone, and nothing of that reaches the campaign's beliefs."""
    predictor = make_predictor("hierarchical", judged.setting)
    verdicts = Verdicts(judged.setting, AG5, predictor, inference=Inference("design"), seed=7)
    shown = verdicts.item_order.sampled(60)
    shown[verdicts.item_order.order[100:180]] = True
    gains = np.where(shown, judged.gains, -1.0)
    before = predictor.predict(gains)
    assert np.count_nonzero(sampled_gains(verdicts.item_order, before.judged_gain) >= 0) < np.count_nonzero(shown)
    first, again = verdicts.conclude(before).ranking, verdicts.conclude(before).ranking
    np.testing.assert_array_equal(width(first), width(again))
    # As if nobody had concluded anything, to the bit.
    for after in (predictor.predict(gains), judged.beliefs(shown, "hierarchical")):
        np.testing.assert_array_equal(after.mean, before.mean)
        np.testing.assert_array_equal(after.variance, before.variance)


def test_an_adaptive_set_has_no_guarantee(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference("design"))
    order = verdicts.item_order.order
    shown = np.zeros(order.size, dtype=bool)
    # All but the first of the order.
    shown[order[1:121]] = True
    beliefs = judged.beliefs(shown)
    assert not verdicts.ready(beliefs.judged_gain)
    with pytest.raises(
        ParameterError,
        match=r"at least 60 sampled judgments, there are 0\. The 120 other judgments do not follow the order of the "
        r"sample; if they were drawn at random by other means, say how: --sample\. Judge what 'earmark next --policy",
    ):
        verdicts.conclude(beliefs)
    shown[order[0]] = True
    assert verdicts.ready(judged.beliefs(shown).judged_gain)
    assert verdicts.conclude(judged.beliefs(shown)).sampled == 121


def test_measures_without_an_estimate_by_items_are_refused(judged: Judged) -> None:
    with pytest.raises(
        ParameterError, match=r"AP@5 has no estimate by a sample of items: sample whole queries \(--who"
    ):
        judged.verdicts(Inference("design"), measure="AP@5")
    judged.verdicts(Inference("design", whole_queries=True), measure="AP@5")
    judged.verdicts(Inference("design"), measure="nDCG@5")
    judged.verdicts(Inference(), measure="AP@5")


def test_normalised_measures_by_items_do_not_promise_much(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference("design"), measure="nDCG@5")
    verdict = verdicts.conclude(judged.beliefs(verdicts.item_order.sampled(100)))
    assert verdict.basis == ("approximate: differences nearly right, scores of single systems less so, not guaranteed")


@pytest.mark.parametrize("measure", ["AG@5", "nDCG@5", "AP@5"])
def test_whole_queries_guarantee_any_measure(judged: Judged, measure: str) -> None:
    verdicts = judged.verdicts(Inference("design", whole_queries=True), measure=measure)
    order = verdicts.query_order
    assert verdicts.order is order
    item_query = judged.collection.item_query
    for n in (9, 12):
        shown = np.isin(item_query, order.queries[:n])
        # Of the query that comes next, all but one.
        shown[np.flatnonzero(item_query == order.queries[n])[1:]] = True
        beliefs = judged.beliefs(shown)
        assert verdicts.ready(beliefs.judged_gain) == (n >= 10)
        if n < 10:
            with pytest.raises(
                ParameterError, match=r"needs at least 10 complete queries from the front .*, there are 9"
            ):
                verdicts.conclude(beliefs)
            continue
        verdict = verdicts.conclude(beliefs)
        assert verdict.basis == "guaranteed by the sampling design, whatever the model"
        assert verdict.sampled == np.isin(item_query, order.queries[:n]).sum()
    if measure == "AG@5":
        # The textbook interval of a mean over a simple random sample of queries.
        scores = earmark.evaluate(judged.made.runs, judged.made.judgments, ["AG@5"])
        names = [judged.collection.queries[query] for query in order.queries[:12]]
        drawn = np.array([[scores.values[0, s, scores.queries.index(name)] for name in names] for s in range(4)])
        half = stats.t.ppf(0.975, 11) * drawn.std(axis=1, ddof=1) * np.sqrt((1 - 12 / 20) / 12)
        np.testing.assert_allclose(verdict.ranking.estimates.scores.mean, drawn.mean(axis=1))
        np.testing.assert_allclose(verdict.ranking.high - verdict.ranking.low, 2 * half)


# ---- other queries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("predictor", ["uniform", "hierarchical"])
@pytest.mark.parametrize("mode", ["model", "design"])
def test_other_queries_are_less_certain(judged: Judged, predictor: str, mode: str) -> None:
    these, others = (
        judged.verdicts(Inference(mode, target), predictor=predictor) for target in ("sample", "population")
    )
    beliefs = judged.beliefs(these.item_order.sampled(100), predictor)
    narrow, wide = these.conclude(beliefs), others.conclude(beliefs)
    assert np.all(width(wide.ranking) > width(narrow.ranking))
    np.testing.assert_array_equal(wide.ranking.estimates.scores.mean, narrow.ranking.estimates.scores.mean)
    assert np.all(wide.ranking.confidence <= narrow.ranking.confidence)
    assert wide.sampled == narrow.sampled
    # The sample guarantees nothing about how much queries differ.
    guaranteed = "guaranteed by the sampling design, whatever the model"
    except_queries = f"{guaranteed}; except for how much queries differ, which is by the model"
    bases = {"model": ("by the model",) * 2, "design": (guaranteed, except_queries)}
    assert (narrow.basis, wide.basis) == bases[mode]
    assert (these.inference.about, others.inference.about) == ("these queries", "queries like these")
    sampling = query_sampling(judged.collection, beliefs, AG5, rng=np.random.default_rng(7))
    expected = rank_systems(to_population(narrow.ranking.estimates, sampling))
    np.testing.assert_allclose(width(wide.ranking), width(expected))


def test_with_everything_judged_other_queries_are_still_unknown(judged: Judged) -> None:
    """What is left is Student's t interval over queries, with the guard against samples of queries that are alike."""
    everything = np.ones(judged.gains.size, dtype=bool)
    ranking = judged.verdicts(Inference(target="population")).conclude(judged.beliefs(everything)).ranking
    scores = earmark.evaluate(judged.made.runs, judged.made.judgments, ["AG@5"]).values[0]
    differences = scores[ranking.estimates.a] - scores[ranking.estimates.b]
    n = scores.shape[1]
    for values, low, high in (
        (scores, ranking.low, ranking.high),
        (differences, ranking.difference_low, ranking.difference_high),
    ):
        mean = values.mean(axis=1)
        largest = np.abs(values - mean[:, None]).max()
        error = np.sqrt((values.var(axis=1, ddof=1) + 0.5 * largest**2 / (n - 1)) / n)
        np.testing.assert_allclose(low, mean - stats.t.ppf(0.975, n - 1) * error)
        np.testing.assert_allclose(high, mean + stats.t.ppf(0.975, n - 1) * error)
    np.testing.assert_allclose(ranking.confidence, stats.t.cdf(np.abs(mean) / error, n - 1))


def test_other_works_are_fewer_than_other_queries(judged: Judged) -> None:
    """Queries of one work count together, in the order that they have in the collection."""
    everything = np.ones(judged.gains.size, dtype=bool)
    scores = earmark.evaluate(judged.made.runs, judged.made.judgments, ["AG@5"]).values[0]
    queries = judged.collection.queries
    works = QueryUnits("work", {query: str(place % 7) for place, query in enumerate(queries)})
    verdicts = judged.verdicts(Inference(target="population", units=works))
    ranking = verdicts.conclude(judged.beliefs(everything)).ranking
    units = Units(np.arange(len(queries)) % 7)
    half = stats.t.ppf(0.975, units.df) * guarded_spread(scores, units) / np.sqrt(7)
    np.testing.assert_allclose(ranking.high - ranking.low, 2 * half)
    np.testing.assert_allclose(ranking.estimates.scores.mean, scores.mean(axis=1))
    assert verdicts.inference.about == "queries like these, independent by work"
    with pytest.raises(ParameterError, match="for verdicts about queries like these: --target population"):
        Inference(units=works)
    with pytest.raises(ParameterError, match=f"query '{queries[0]}' belongs to no work"):
        judged.verdicts(Inference(target="population", units=QueryUnits("work", {})))


# ---- at any time -----------------------------------------------------------------------------------------------------


def test_at_any_time_is_wider_and_starts_late(judged: Judged) -> None:
    once, always = judged.verdicts(Inference()), judged.verdicts(Inference(anytime=True))
    items = judged.gains.size
    early, late = judged.beliefs(judged.picked(99)), judged.beliefs(judged.picked(150))
    assert not always.ready(early.judged_gain)
    assert always.ready(late.judged_gain)
    with pytest.raises(ParameterError, match=f"at any time start at 100 judgments, there are 99 of {items}"):
        always.conclude(early)
    narrow, wide = once.conclude(late).ranking, always.conclude(late).ranking
    growth = (1 / 100 - 1 / items) / (1 / 150 - 1 / items)
    assert wide.anytime is not None
    assert wide.anytime.scores == pytest.approx(growth)
    # 2.795 standard errors at the first look, and more the more is known since.
    np.testing.assert_allclose(width(wide) / width(narrow), np.sqrt(2.795**2 + np.log(growth)) / 1.96, rtol=1e-3)
    assert np.all(wide.confidence <= narrow.confidence)


def test_by_design_the_sample_has_to_reach_the_first_look(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference("design", anytime=True))
    order, items = verdicts.item_order, judged.gains.size
    shown = order.sampled(99)
    shown[order.order[100:160]] = True
    beliefs = judged.beliefs(shown)
    assert not verdicts.ready(beliefs.judged_gain)
    with pytest.raises(ParameterError, match=f"at any time start at 100 judgments, there are 99 of {items}"):
        verdicts.conclude(beliefs)
    shown[order.order[99]] = True
    complete = judged.beliefs(shown)
    assert verdicts.ready(complete.judged_gain)
    anytime = verdicts.conclude(complete).ranking.anytime
    assert anytime is not None
    assert anytime.scores == AnyTime.by_count(160, items=items).scores


def test_a_collection_smaller_than_the_first_look_is_judged_completely() -> None:
    small = Judged(systems=2, queries=6)
    items = small.gains.size
    assert items < 100
    verdicts = small.verdicts(Inference(anytime=True))
    assert not verdicts.ready(np.where(small.picked(items - 1), small.gains, -1.0))
    everything = small.beliefs(np.ones(items, dtype=bool))
    assert verdicts.ready(everything.judged_gain)
    assert np.all(width(verdicts.conclude(everything).ranking) == 0)


def test_items_that_matter_to_nobody_are_in_no_sample() -> None:
    """Lists are ten deep and the measure looks at one: most items are worth nothing to it."""
    deep = Judged(depth=10)
    verdicts = deep.verdicts(Inference("design", anytime=True), measure="AG@1")
    needed = verdicts.item_order.n_needed
    assert needed < 100 < deep.gains.size
    beliefs = deep.beliefs(verdicts.item_order.sampled(needed))
    assert verdicts.ready(beliefs.judged_gain)
    verdict = verdicts.conclude(beliefs)
    assert verdict.basis == "exact: everything that matters is judged"
    assert np.all(width(verdict.ranking) == 0)


# ---- audits ----------------------------------------------------------------------------------------------------------


def test_a_model_is_audited_where_there_is_a_sample(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference(), predictor="hierarchical")
    order = verdicts.item_order
    assert not verdicts.can_audit(np.where(order.sampled(29), judged.gains, -1.0))
    beliefs = judged.beliefs(order.sampled(60), "hierarchical")
    assert verdicts.can_audit(beliefs.judged_gain)
    found = verdicts.audit(beliefs)
    assert found.agrees
    assert found.sampled == 60
    assert str(found) == (
        f"audit on 60 sampled judgments: the model agrees with the guaranteed estimates (p = {found.p_value:.2f})"
        "; a sample this small reveals only large errors of the model"
    )
    assert not judged.verdicts(Inference(), measure="nDCG@5").can_audit(judged.gains)


def test_a_wrong_model_is_found_out(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference())
    shown = verdicts.item_order.sampled(100)
    # As good as sure that everything is as good as can be.
    sure = np.tile(np.r_[np.full(9, 0.01), 0.91], (judged.gains.size, 1))
    beliefs = from_probabilities(
        sure, levels=range(0, 100, 11), scale=judged.setting.scale, judged_gain=np.where(shown, judged.gains, -1.0)
    )
    found = verdicts.audit(beliefs)
    assert not found.agrees
    model, design = (
        verdicts.by_model(beliefs).estimates.scores.mean,
        verdicts.by_design(beliefs).estimates.scores.mean,
    )
    assert found.bias == pytest.approx(np.mean(model - design))
    worst = verdicts.by_model(beliefs).estimates.systems.index(found.worst)
    assert found.deviation == pytest.approx(model[worst] - design[worst])
    assert f"{found.worst} is {found.deviation:.3f} higher by the model): trust --inference design" in str(found)


def test_whole_queries_audit_any_measure(judged: Judged) -> None:
    verdicts = judged.verdicts(Inference(whole_queries=True), measure="nDCG@5")
    order, item_query = verdicts.query_order, judged.collection.item_query
    # However many items of a sample of items are judged, what counts is complete queries.
    shown = np.isin(item_query, order.queries[:9]) | verdicts.item_order.sampled(80)
    assert not verdicts.can_audit(np.where(shown, judged.gains, -1.0))
    shown = np.isin(item_query, order.queries[:11])
    assert verdicts.can_audit(np.where(shown, judged.gains, -1.0))
    assert verdicts.audit(judged.beliefs(shown)).sampled == np.count_nonzero(shown)
