"""A campaign and the next: more answers, in whatever rounds, lead to the same place; and results in one call."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.stopping import parse_stop
from earmark.data.judgments import Judgments
from earmark.errors import InputError, ParameterError
from earmark.simulation.synthetic import SyntheticCollection, synthetic_collection


@pytest.fixture(scope="module")
def made() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(1), systems=4, queries=20, documents=200)


def test_with_all_judgments_the_ranking_is_the_evaluation(made: SyntheticCollection) -> None:
    for measure in ("AG@5", "DCG@5", "nDCG(ideal=pool)@5"):
        ranking = earmark.rank(made.runs, made.judgments, measure=measure)
        truth = earmark.evaluate(made.runs, made.judgments, [measure]).table()
        frame = ranking.systems_frame()
        assert frame["system"].to_list() == truth["system"].to_list()
        np.testing.assert_allclose(frame["estimate"], truth[str(earmark.parse(measure))])
        np.testing.assert_allclose(frame["low"], frame["high"])


def test_nothing_judged_says_nothing_without_a_prior(made: SyntheticCollection) -> None:
    for predictor in ("ordinal", "uniform"):
        ranking = earmark.rank(made.runs, predictor=predictor)
        assert ranking.mean_confidence == 0.5
        assert ranking.summary()["judged"] == 0


def test_by_default_beliefs_are_hierarchical_and_items_chosen_by_variance(made: SyntheticCollection) -> None:
    problem = Campaign.build(made.runs).problem
    assert (problem.model.name, str(problem.policy)) == ("hierarchical", "variance")
    ranking, named = earmark.rank(made.runs), earmark.rank(made.runs, predictor="hierarchical")
    np.testing.assert_array_equal(ranking.confidence, named.confidence)
    # What past collections taught says something, with doubt, before anything is judged.
    assert ranking.summary()["judged"] == 0
    assert ranking.mean_confidence is not None
    assert 0.5 < ranking.mean_confidence < 1.0
    assert np.all(ranking.high - ranking.low > 0.1)
    explicit = earmark.propose(made.runs, n=15, predictor="hierarchical", policy="variance")
    assert earmark.propose(made.runs, n=15).equals(explicit)
    # Every fourth judgment comes from a sample, unless told otherwise.
    assert explicit["sampled"].sum() == 15 // 4
    assert not earmark.propose(made.runs, n=15, audit=0.0)["sampled"].any()


def test_verdicts_by_design_about_other_queries_and_at_any_time(made: SyntheticCollection) -> None:
    sampled = earmark.propose(made.runs, n=120, policy="proportional", measure="AG@5", scale=made.judgments.scale)
    assert sampled["sampled"].all()
    frame = made.judgments.frame.join(sampled, on=["query", "document"], how="semi")
    some = earmark.judgments_from_frame(frame, scale=made.judgments.scale)
    plain = earmark.rank(made.runs, some, inference="design")
    truth = earmark.evaluate(made.runs, made.judgments, ["AG@5"]).mean_values[0]
    assert np.all((plain.low <= truth) & (truth <= plain.high))
    for wide in (
        earmark.rank(made.runs, some, inference="design", target="population"),
        earmark.rank(made.runs, some, inference="design", anytime=True),
    ):
        np.testing.assert_array_equal(wide.estimates.scores.mean, plain.estimates.scores.mean)
        assert np.all(wide.high - wide.low > plain.high - plain.low)
    with pytest.raises(ParameterError, match="needs at least 60 sampled judgments, there are"):
        earmark.rank(made.runs, some, inference="design", seed=1)


def test_what_is_proposed_is_not_judged_and_can_be(made: SyntheticCollection) -> None:
    frame = made.judgments.frame
    some = earmark.judgments_from_frame(frame.sample(60, seed=1), scale=made.judgments.scale)
    proposed = earmark.propose(made.runs, some, n=15, metadata=made.metadata, predictor="mtc-judge")
    assert proposed.height == 15
    assert proposed["priority"].is_sorted(descending=True)
    assert proposed.join(some.frame, on=["query", "document"], how="semi").height == 0
    assert proposed.join(frame, on=["query", "document"], how="semi").height == 15
    again = earmark.propose(made.runs, some, n=15, metadata=made.metadata, predictor="mtc-judge")
    assert proposed.equals(again)
    assert earmark.propose(made.runs, made.judgments, n=5).height == 0


def test_the_scale_may_be_named(made: SyntheticCollection) -> None:
    means = earmark.rank(made.runs, scale=earmark.BROAD, predictor="uniform").estimates.scores.mean
    assert means == pytest.approx(np.full(4, 0.5))
    # Beliefs are as shares of the top gain, so another scale changes what is believed no more than its prior does.
    assert Campaign.build(made.runs, scale=earmark.BROAD).beliefs.mean.max() <= 2
    with pytest.raises(ParameterError, match="unknown predictor"):
        earmark.rank(made.runs, predictor="oracle")


def some_of(made: SyntheticCollection, items: pl.DataFrame) -> Judgments:
    """Return the judgments of some items, as a table that does not tell their order."""
    known = made.judgments.frame.join(items, on=["query", "document"], how="semi")
    return earmark.judgments_from_frame(known.select("query", "document", "gain"), scale=made.judgments.scale)


def the_same(one: Campaign, other: Campaign) -> None:
    """To the bit: what is known, believed and concluded, and what to ask next."""
    np.testing.assert_array_equal(one.gains, other.gains)
    np.testing.assert_array_equal(one.beliefs.mean, other.beliefs.mean)
    np.testing.assert_array_equal(one.beliefs.variance, other.beliefs.variance)
    np.testing.assert_array_equal(one.ranking.confidence, other.ranking.confidence)
    assert (one.judged, one.position) == (other.judged, other.position)
    assert one.decision == other.decision
    np.testing.assert_array_equal(one.propose(9).items, other.propose(9).items)


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal", "mtc-judge"])
def test_judging_in_rounds_leads_to_the_same_place(made: SyntheticCollection, predictor: str) -> None:
    # Tables have no order, so rules about estimates see one look where they see two of answers; a budget does not.
    how = {"metadata": made.metadata, "predictor": predictor, "scale": earmark.FINE, "stop": "budget:300"}
    by_table = Campaign.build(made.runs, **how)
    by_answers, tables = by_table, []
    truth = item_gains(by_table.problem.collection, made.judgments)
    # In all as many as the hierarchical model is fitted to, so that the order of the answers does not matter.
    for n in (10, 15, 15):
        proposal = by_table.propose(n)
        tables.append(some_of(made, by_table.proposal_frame(proposal)))
        by_table = by_table.with_judgments(tables[-1])
        by_answers = by_answers.with_answers(Answers(proposal.items, truth[proposal.items]))
        assert by_table.judged == by_answers.judged
    assert by_table.judged == np.count_nonzero(by_table.gains >= 0) == 40
    first, *others = tables
    everything = first.merged(*others)
    for other in (
        by_answers,
        Campaign.build(made.runs, everything, **how),
        Campaign.build(made.runs, by_answers.judgments, **how),
        Campaign(Campaign.build(made.runs, **how).problem, by_answers.log),
        # Judgments that are there already change nothing.
        by_table.with_judgments(everything),
    ):
        the_same(by_table, other)


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal", "mtc-judge"])
def test_more_judgments_keep_the_earlier_ones(made: SyntheticCollection, predictor: str) -> None:
    some = some_of(made, made.judgments.frame.sample(60, seed=1))
    before = Campaign.build(made.runs, some, metadata=made.metadata, predictor=predictor)
    assert before.judged == 60
    proposal = before.propose(10)
    answers = Answers(proposal.items, np.full(10, 55.0))
    for after in (
        before.with_answers(answers),
        before.with_judgments(
            earmark.judgments_from_frame(
                before.problem.items[proposal.items].with_columns(gain=pl.lit(55.0)), scale=earmark.FINE
            )
        ),
    ):
        assert (after.judged, after.position) == (70, 70)
        earlier = before.gains >= 0
        np.testing.assert_array_equal(after.gains[earlier], before.gains[earlier])
        np.testing.assert_array_equal(after.gains[proposal.items], np.full(10, 55.0))
        assert not np.isin(after.propose(20).items, proposal.items).any()
        the_same(after, Campaign(before.problem, after.log))
    # The campaign it came from is what it was.
    assert (before.judged, before.position) == (60, 60)


def test_no_answers_are_the_same_campaign(made: SyntheticCollection) -> None:
    campaign = Campaign.build(made.runs)
    assert campaign.with_answers(Answers(np.zeros(0, dtype=np.int64), np.zeros(0))) is campaign
    with pytest.raises(ParameterError, match="expected a gain for each of 2 items, got 1"):
        Answers(np.array([0, 1]), np.array([50.0]))


def test_an_item_answered_again_counts_once_and_as_last_answered(made: SyntheticCollection) -> None:
    start = Campaign.build(made.runs, predictor="uniform", scale=earmark.FINE)
    one_by_one = start
    for item, gain in ((3, 20.0), (5, 40.0), (3, 80.0)):
        one_by_one = one_by_one.with_answers(Answers(np.array([item]), np.array([gain])))
    at_once = start.with_answers(Answers(np.array([3, 5, 3]), np.array([20.0, 40.0, 80.0])))
    for campaign in (one_by_one, at_once):
        assert campaign.judged == campaign.position == 2
        assert campaign.gains[[3, 5]].tolist() == [80.0, 40.0]
        the_same(campaign, Campaign(start.problem, campaign.log))


def test_answers_of_several_assessors_are_all_kept(made: SyntheticCollection) -> None:
    start = Campaign.build(made.runs, scale=earmark.FINE)
    items = start.propose(12).items
    ann, bob = (Answers(items, np.full(12, gain), assessor=name) for name, gain in (("ann", 30.0), ("bob", 50.0)))
    both = start.with_answers(ann).with_answers(bob)
    assert (both.judged, both.position) == (12, 24)
    assert both.gains[items].tolist() == [40.0] * 12
    assert both.judgments is not None
    assert both.judgments.frame.height == 24
    the_same(both, Campaign(start.problem, both.log))


@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_answers_with_and_without_a_name_go_together(made: SyntheticCollection, predictor: str) -> None:
    some = some_of(made, made.judgments.frame.sample(30, seed=1))
    start = Campaign.build(made.runs, some, predictor=predictor)
    fresh = start.propose(8).items
    named = start.with_answers(Answers(fresh, np.full(8, 60.0), assessor="ann"))
    again = named.with_answers(Answers(fresh, np.full(8, 40.0), assessor="bob"))
    unnamed = again.with_answers(Answers(fresh[:4], np.full(4, 80.0)))
    for campaign, judged, position in ((named, 38, 38), (again, 38, 46), (unnamed, 38, 50)):
        assert (campaign.judged, campaign.position) == (judged, position)
        the_same(campaign, Campaign(start.problem, campaign.log))
    assert unnamed.gains[fresh].tolist() == pytest.approx([60.0] * 4 + [50.0] * 4)


def test_judgments_have_to_be_on_the_scale_of_the_campaign(made: SyntheticCollection) -> None:
    campaign = Campaign.build(made.runs, scale=earmark.BROAD)
    query, document = campaign.proposal_frame(campaign.propose(1)).row(0)[:2]
    # One gain of 1 looks like a binary scale, but nobody said so.
    judged = campaign.with_judgments(earmark.judgments_from_dict({query: {document: 1}}))
    assert judged.problem.scale == earmark.BROAD
    assert judged.judged == 1
    with pytest.raises(ParameterError, match="the campaign judges on the scale broad, these judgments are on fine"):
        campaign.with_judgments(made.judgments)
    with pytest.raises(InputError, match="expected gains on the scale broad, got 50"):
        campaign.with_judgments(earmark.judgments_from_dict({query: {document: 50}}))


def test_a_campaign_proposes_as_the_function_does(made: SyntheticCollection) -> None:
    campaign = Campaign.build(made.runs, metadata=made.metadata, seed=3)
    proposed = campaign.proposal_frame(campaign.propose(7))
    assert proposed.equals(earmark.propose(made.runs, n=7, metadata=made.metadata, seed=3))
    audited = earmark.propose(made.runs, n=10, metadata=made.metadata, audit=0.2, seed=3)
    assert audited["sampled"].sum() == 2


def test_when_to_stop(made: SyntheticCollection) -> None:
    before, after = (Campaign.build(made.runs, judgments, scale=earmark.FINE) for judgments in (None, made.judgments))
    sure, asked_nothing = parse_stop("min:0.99"), parse_stop("budget:0")
    assert not before.with_settings(stop=sure).decision.stop
    assert before.with_settings(stop=asked_nothing).decision.stop
    assert after.with_settings(stop=sure).decision.reason == "everything is judged"
    # It is never too early for a model whose verdicts are its own claims.
    some = Judgments(made.judgments.frame.sample(60, seed=1), made.judgments.scale)
    narrow, wide = (
        Campaign.build(made.runs, some, predictor="uniform", stop="mean:0.95", margin=margin) for margin in (0.0, 0.5)
    )
    assert (narrow.decision.stop, wide.decision.stop) == (False, True)
    assert narrow.with_settings(stop=parse_stop("mean:0.95", margin=0.5)).decision == wide.decision


def test_an_audit_needs_sampled_judgments(made: SyntheticCollection) -> None:
    campaign = Campaign.build(made.runs, metadata=made.metadata, policy="proportional", seed=5)
    assert not campaign.can_audit
    with pytest.raises(ParameterError, match="sampled"):
        _ = campaign.audit
    proposal = campaign.propose(60)
    assert proposal.sampled.all()
    judged = campaign.with_judgments(some_of(made, campaign.proposal_frame(proposal)))
    assert judged.can_audit
    assert judged.audit.sampled == 60
    assert judged.audit == judged.problem.verdicts.audit(judged.beliefs)
    # A table that does not mark its sample is checked against the order all the same.
    assert not judged.has_marked_sample
    truth = item_gains(campaign.problem.collection, made.judgments)
    marked = campaign.with_answers(Answers(proposal.items, truth[proposal.items], proposal.sampled))
    assert marked.has_marked_sample
    assert marked.audit == judged.audit
