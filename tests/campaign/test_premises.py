"""Premises of verdicts: what is said where they fail, by whom it is believed, and that it goes everywhere."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.premises import MOST_PRIOR, PREMISES, Grounds, explained_share
from earmark.campaign.problem import Problem
from earmark.campaign.statements import say_verdict
from earmark.campaign.stopping import StopState, parse_stop
from earmark.campaign.verdict import Inference
from earmark.data.arrays import Floats, Ints
from earmark.data.judgments import Judgments
from earmark.errors import ParameterError
from earmark.inference.baseline import check_ranking
from earmark.inference.chosen_judgments import FEWEST, choice_test

EARLY, CLAIM, CHOSEN = (
    "judgments outweigh the prior",
    "errors are modelled",
    "items are not judged because they are good",
)
RARE = "relevance is not rare"


@cache
def world() -> tuple[Problem, Floats]:
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=6, queries=20, documents=200)
    problem = Problem.build(made.runs, metadata=made.metadata, measure="AG@5", scale=made.judgments.scale)
    return problem, item_gains(problem.collection, made.judgments)


def asked(n: int) -> Campaign:
    """Return a campaign after so many answers to its own questions."""
    problem, truth = world()
    campaign = Campaign(problem)
    while campaign.judged < n:
        items = campaign.propose(min(4, n - campaign.judged)).items
        campaign = campaign.with_answers(Answers(items, truth[items]))
    return campaign


def from_file(items: Ints, gains: Floats, problem: Problem | None = None, **columns: pl.Series) -> Campaign:
    about = world()[0] if problem is None else problem
    table = about.items[items].with_columns(gain=pl.Series(gains), **columns)
    return Campaign.from_judgments(about, Judgments.from_frame(table, scale=about.scale))


def failed(campaign: Campaign) -> set[str]:
    return {premise.name for premise in campaign.ranking.failed}


def test_premises_have_names_and_statements_of_their_own() -> None:
    assert [premise.name for premise in PREMISES] == [CHOSEN, EARLY, CLAIM, RARE]
    assert len({premise.states for premise in PREMISES}) == len(PREMISES)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_after_few_answers_nothing_is_decided_and_nothing_stops(n: int) -> None:
    campaign = asked(n)
    ranking = campaign.ranking
    assert failed(campaign) == {EARLY}
    assert "it is too early" in ranking.sentence()
    assert not ranking.decided(0.5).any()
    assert ranking.decided_share(0.5) == 0.0
    assert not ranking.comparisons_frame()["decided"].any()
    verdict = say_verdict(ranking, campaign.forecast())
    assert verdict.premises == ranking.premise_notes
    assert verdict.summary == "No pair of systems is called decided."
    assert "sure" not in " ".join([verdict.headline, *(one.text for one in verdict.neighbours)])
    state = StopState.from_ranking(ranking)
    for rule in ("mean:0.501", "min:0.5001", "decided:0.01@0.51", "top:1@0.01", "width:9"):
        decision = parse_stop(rule).check(state)
        assert not decision.stop
    assert "but it is too early" in parse_stop("mean:0.501").check(state).reason
    assert parse_stop(f"budget:{n}").check(state).stop, "a budget asks for no verdict"


def test_judgments_outweigh_the_prior_in_time() -> None:
    campaign = asked(60)
    grounds = Grounds(campaign.problem, campaign.evidence, campaign.beliefs, campaign.ranking)
    assert 1.0 - MOST_PRIOR < explained_share(grounds) < 1.0
    assert not campaign.ranking.failed
    assert campaign.ranking.decided(0.95).any()
    before = asked(4)
    share = explained_share(Grounds(before.problem, before.evidence, before.beliefs, before.ranking))
    assert 0.0 < share < 1.0 - MOST_PRIOR


def test_with_nothing_judged_nothing_is_explained_and_with_everything_all() -> None:
    problem, truth = world()
    nothing = Campaign(problem)
    grounds = Grounds(problem, nothing.evidence, nothing.beliefs, nothing.ranking)
    assert explained_share(grounds) == pytest.approx(0.0, abs=1e-12)
    everything = from_file(np.arange(truth.size), truth)
    assert not everything.ranking.failed
    assert everything.decision.stop


@pytest.mark.parametrize("predictor", ["uniform", "mtc-output", "mtc-judge", "ordinal"])
def test_independent_errors_make_a_claim_and_no_certainty(predictor: str) -> None:
    problem, truth = world()
    items = np.arange(0, truth.size, 2)
    made = replace(problem, predictor=lambda setting: earmark.predictors.base.make_predictor(predictor, setting))
    campaign = from_file(items, truth[items], made)
    ranking, model = campaign.ranking, campaign.problem.model
    assert failed(campaign) == {CLAIM}
    assert ranking.confident().any()
    assert not ranking.decided().any()
    published = "published " if predictor.startswith("mtc") else ""
    assert f"as the {published}model {predictor} claims: its 95% intervals held " in ranking.sentence()
    assert model.measured is not None
    assert (
        f"{100 * model.measured.pairs[0]:.0f} to {100 * model.measured.pairs[1]:.0f}% of the diff" in ranking.sentence()
    )
    # The published algorithm stops where it says so.
    assert parse_stop("mean:0.6").check(StopState.from_ranking(ranking)).stop
    assert "claims" in parse_stop("mean:0.6").check(StopState.from_ranking(ranking)).reason


def test_by_design_the_premises_of_the_model_are_none() -> None:
    problem, truth = world()
    design = Problem.build(
        problem.runs,  # type: ignore[arg-type]
        measure="AG@5",
        scale=problem.scale,
        predictor="uniform",
        inference=Inference("design"),
    )
    items = Campaign(design).propose(80).items
    ranking = Campaign(design).with_answers(Answers(items, truth[items], np.ones(items.size, dtype=bool))).ranking
    assert not ranking.failed


def as_good_as_expected() -> tuple[Problem, Floats]:
    """Return the world with gains of which the prior is no worse than it is of real music."""
    problem, truth = world()
    return problem, np.minimum(1.7 * truth, problem.scale.top).round()


def positives(problem: Problem, truth: Floats) -> Ints:
    good = np.flatnonzero(truth >= 0.5 * problem.scale.top)
    return np.sort(np.random.default_rng(0).permutation(good)[:100])


def test_judgments_of_good_items_are_not_trusted() -> None:
    problem, truth = as_good_as_expected()
    items = positives(problem, truth)
    campaign = from_file(items, truth[items])
    assert CHOSEN in failed(campaign)
    assert "level of scores is not to be trusted" in campaign.ranking.sentence()
    assert campaign.ranking.withheld is not None
    assert campaign.ranking.withheld.name == CHOSEN, "the gravest speaks first"
    assert not campaign.ranking.decided().any()
    # One level only, as in a list of what is relevant.
    assert CHOSEN in failed(from_file(items, np.full(items.size, problem.scale.top)))
    # Further judgments of one's own do not make them better.
    more = np.setdiff1d(np.arange(0, truth.size, 3), items)[:100]
    assert CHOSEN in failed(campaign.with_answers(Answers(more, truth[more])))


def test_judgments_that_were_chosen_otherwise_are() -> None:
    problem, truth = as_good_as_expected()
    rng = np.random.default_rng(1)
    first = np.full(truth.size, 99)
    np.minimum.at(first, problem.collection.result_item, problem.collection.result_rank)
    for items in (
        rng.permutation(truth.size)[:100],
        np.argsort(first + rng.random(truth.size))[:100],
        np.flatnonzero(asked(100).gains >= 0),
    ):
        assert CHOSEN not in failed(from_file(np.sort(items), truth[np.sort(items)]))


def test_answers_to_questions_of_the_campaign_are_from_inside() -> None:
    problem, truth = world()
    items = positives(problem, truth)
    assert from_file(items, truth[items]).evidence.outside.tolist() == items.tolist()
    inside = Campaign(problem).with_answers(Answers(items, truth[items]))
    assert not inside.evidence.outside.size
    # Only what a campaign hands out says which items are sampled.
    marked = from_file(items, truth[items], sampled=pl.Series([False] * items.size))
    assert not marked.evidence.outside.size
    assert CHOSEN not in failed(inside) | failed(marked)


def test_a_gate_does_not_call_worse_what_may_not_be_called_sure() -> None:
    _, truth = world()
    items = np.arange(0, truth.size, 2)
    ranking = from_file(items, truth[items]).ranking
    best = ranking.systems_frame()["system"][0]
    assert not check_ranking(ranking, best).passed
    assert check_ranking(asked(1).ranking, best).passed


def test_the_statistic_of_chosen_judgments() -> None:
    rng = np.random.default_rng(0)
    expected, variance = np.full(100, 0.4), np.full(100, 0.2)
    honest = (rng.random(100) < 0.4).astype(float)
    assert not choice_test(honest, expected, variance, 0.06).suspicious
    assert choice_test(np.ones(100), expected, variance, 0.06).suspicious
    few = np.ones(FEWEST - 1)
    assert not choice_test(few, expected[: few.size], variance[: few.size], 0.06).suspicious
    # Grades that are worse than expected were not chosen because they are good, however alike they are.
    assert not choice_test(np.zeros(100), expected, variance, 0.06).suspicious
    # Better grades, and better grades without bad ones: the more of both, the more suspicious.
    shifts = [choice_test(np.clip(honest + shift, 0, 1), expected, variance, 0.06).statistic for shift in (0, 0.2, 0.5)]
    assert shifts == sorted(shifts)


@pytest.mark.parametrize("form", ["delta", "mode", "truncated", "montecarlo"])
def test_normalised_measures_are_estimated_as_chosen(form: str) -> None:
    problem, truth = world()
    how = {"measure": "nDCG@5", "scale": problem.scale, "predictor": "mtc-output", "samples": 50}
    metadata = problem.collection.metadata
    chosen = Problem.build(problem.runs, metadata=metadata, inference=Inference(normalised=form), **how)  # type: ignore[arg-type]
    usual = Problem.build(problem.runs, metadata=metadata, **how)  # type: ignore[arg-type]
    means = [Campaign(one).ranking.estimates.scores.mean for one in (chosen, usual)]
    assert np.array_equal(*means) == (form == "montecarlo")
    everything = from_file(np.arange(truth.size), truth, chosen).ranking.estimates.scores.mean
    known = from_file(np.arange(truth.size), truth, usual).ranking.estimates.scores.mean
    assert everything == pytest.approx(known)


def test_normalised_is_for_ratios_of_independent_beliefs() -> None:
    problem, _ = world()
    how = Inference(normalised="mode")
    for settings in ({"measure": "nDCG@5"}, {"measure": "AG@5", "predictor": "uniform"}):
        with pytest.raises(ParameterError, match="--normalised"):
            Problem.build(problem.runs, scale=problem.scale, inference=how, **settings)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="unknown normalised 'exact': use delta or mode"):
        Inference(normalised="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize(("share", "noted"), [(0.01, True), (0.3, False)])
def test_rare_relevance_is_noted_and_withholds_nothing(share: float, noted: bool) -> None:
    rng = np.random.default_rng(1)
    made = earmark.synthetic_collection(rng, systems=4, queries=30, documents=60)
    problem = Problem.build(made.runs, measure="P@5", scale=earmark.BINARY)
    truth = (rng.random(problem.collection.n_items) < share).astype(float)
    items = rng.permutation(truth.size)[: truth.size // 2]
    ranking = Campaign(problem).with_answers(Answers(items, truth[items])).ranking
    assert (RARE in {premise.name for premise in ranking.failed}) == noted
    assert ranking.withheld is None
