"""The loop: replayable, never asks twice, ends, and cannot be stopped or broken by identical systems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, Look, oracle
from earmark.campaign.evidence import Answers
from earmark.campaign.loop import play
from earmark.campaign.policies import Proposal, make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import parse_stop
from earmark.campaign.verdict import Inference, judging_measure
from earmark.data.collection import Collection
from earmark.data.runs import join_runs
from earmark.errors import ParameterError
from earmark.predictors import Setting
from earmark.predictors.choose import PredictorChoice
from earmark.simulation import synthetic_collection
from earmark.simulation.synthetic import SyntheticCollection


@pytest.fixture(scope="module")
def made() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(8), systems=4, queries=15, documents=200)


def problem_of(
    made: SyntheticCollection,
    *,
    predictor: str = "mtc-judge",
    policy: str = "mtc",
    stop: str = "none",
    measure: str = "AG@5",
    update_every: int = 20,
    seed: int = 0,
    inference: Inference | None = None,
    audit: float = 0.0,
) -> Problem:
    """Whatever the measure's cutoff, all results are items: those that matter to nobody may be judged too."""
    return Problem(
        Setting(Collection.from_runs(made.runs, metadata=made.metadata), made.judgments.scale),
        earmark.parse(measure),
        PredictorChoice(predictor),
        make_policy(policy),
        parse_stop(stop),
        inference or Inference(),
        audit,
        seed,
        update_every=update_every,
    )


def moments(made: SyntheticCollection, batch: int = 20, **how: object) -> list[Campaign]:
    """Play a campaign through, and return it at every look."""
    problem = problem_of(made, **how)  # type: ignore[arg-type]
    answer = oracle(item_gains(problem.collection, made.judgments))
    asked: list[int] = []

    def ask(campaign: Campaign, proposal: Proposal) -> Answers:
        asked.extend(proposal.items.tolist())
        assert len(set(asked)) == len(asked), "an item was asked twice"
        return answer(campaign, proposal)

    return list(play(Campaign(problem), ask, batch=batch))


def looks(made: SyntheticCollection, batch: int = 20, **how: object) -> list[Look]:
    seen = [campaign.look for campaign in moments(made, batch, **how)]
    return [look for look in seen if look is not None]


def true_scores(made: SyntheticCollection, measure: str = "AG@5") -> np.ndarray:
    return earmark.evaluate(made.runs, made.judgments, [measure]).mean_values[0]


@pytest.mark.parametrize("predictor", ["uniform", "mtc-output", "mtc-judge", "ordinal", "hierarchical"])
@pytest.mark.parametrize("policy", ["mtc", "mtc-undecided", "random", "balanced", "variance", "proportional"])
def test_judging_everything_ends_at_the_truth(made: SyntheticCollection, predictor: str, policy: str) -> None:
    last = looks(made, predictor=predictor, policy=policy, batch=60)[-1]
    assert last.decision.stop
    assert last.judged == last.ranking.estimates.items
    assert np.all(last.ranking.estimates.scores.variance == 0)
    np.testing.assert_allclose(last.ranking.estimates.scores.mean, true_scores(made))


def test_the_same_seed_gives_the_same_campaign(made: SyntheticCollection) -> None:
    first, again, other = (looks(made, stop="budget:60", seed=seed) for seed in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.judged_gain, b.judged_gain)
        np.testing.assert_array_equal(a.ranking.confidence, b.ranking.confidence)
    assert not np.array_equal(first[-1].judged_gain, other[-1].judged_gain)


@pytest.mark.parametrize(
    ("predictor", "how"),
    [
        ("uniform", {"policy": "random"}),
        ("mtc-judge", {"update_every": 7}),
        ("ordinal", {"policy": "variance"}),
        ("hierarchical", {"policy": "variance", "audit": 0.3}),
        ("hierarchical", {"policy": "proportional", "inference": Inference("design")}),
        ("mtc-output", {"policy": "balanced", "inference": Inference(target="population")}),
    ],
)
def test_a_fresh_start_from_the_same_answers_is_the_same_campaign(
    made: SyntheticCollection, predictor: str, how: dict[str, object]
) -> None:
    """To the bit: nothing but the problem and the log decides."""
    for played in moments(made, batch=17, predictor=predictor, stop="budget:68", **how):
        # The problem is new too, and with it the predictor.
        fresh = Campaign(problem_of(made, predictor=predictor, stop="budget:68", **how), played.log)  # type: ignore[arg-type]
        before, after = played.look, fresh.look
        assert before is not None
        assert after is not None
        assert played.problem.digest == fresh.problem.digest
        np.testing.assert_array_equal(before.judged_gain, after.judged_gain)
        np.testing.assert_array_equal(before.beliefs.mean, after.beliefs.mean)
        np.testing.assert_array_equal(before.beliefs.variance, after.beliefs.variance)
        np.testing.assert_array_equal(before.ranking.low, after.ranking.low)
        np.testing.assert_array_equal(before.ranking.confidence, after.ranking.confidence)
        assert before.decision == after.decision
        assert before.audit == after.audit
        np.testing.assert_array_equal(played.propose(17).items, fresh.propose(17).items)
        np.testing.assert_array_equal(played.propose(17).priority, fresh.propose(17).priority)


def test_judgments_come_in_batches_until_the_budget(made: SyntheticCollection) -> None:
    assert [look.judged for look in looks(made, stop="budget:50", batch=20)] == [0, 20, 40, 50]
    assert [look.judged for look in looks(made, stop="budget:3", batch=1)] == [0, 1, 2, 3]


def test_between_updates_only_the_judged_items_change(made: SyntheticCollection) -> None:
    steps = looks(made, stop="budget:10", batch=5, update_every=1000)
    for before, after in pairwise(steps):
        fresh = after.beliefs.judged & ~before.beliefs.judged
        np.testing.assert_array_equal(before.beliefs.mean[~fresh], after.beliefs.mean[~fresh])


def test_a_copy_of_a_system_neither_stops_nor_breaks_a_campaign(made: SyntheticCollection) -> None:
    copy = made.runs.select([made.runs.systems[0]]).renamed(["copy"])
    doubled = SyntheticCollection(join_runs([made.runs, copy]), made.judgments, made.metadata, made.skill)
    steps = looks(doubled, predictor="uniform", stop="min:0.6", batch=40)
    assert steps[0].ranking.identical_pairs == (("copy", made.runs.systems[0]),)
    assert not steps[0].decision.stop
    for look in steps:
        assert look.ranking.min_confidence is not None
        assert np.isfinite(look.ranking.min_confidence)


def test_one_system_alone_is_judged_to_the_end(made: SyntheticCollection) -> None:
    alone = SyntheticCollection(made.runs.select(["system-1"]), made.judgments, made.metadata, made.skill)
    last = looks(alone, stop="mean:0.95", batch=40)[-1]
    assert last.ranking.mean_confidence is None
    assert last.judged == last.ranking.estimates.items


@pytest.mark.parametrize("measure", ["nDCG@5", "RBP(p=0.8)@5", "AP"])
def test_any_measure_can_be_estimated(made: SyntheticCollection, measure: str) -> None:
    last = looks(made, measure=measure, stop="budget:40", batch=40)[-1]
    assert np.all(np.isfinite(last.ranking.confidence))


def test_measures_that_are_not_linear_are_judged_by_their_numerator_or_average_gain() -> None:
    assert str(judging_measure(earmark.parse("nDCG@7"))) == "DCG@7"
    assert str(judging_measure(earmark.parse("nRBP(p=0.9)@7"))) == "RBP(p=0.9)@7"
    assert str(judging_measure(earmark.parse("AP"))) == "AG@10"
    assert str(judging_measure(earmark.parse("DCG@7"))) == "DCG@7"


def test_a_batch_has_at_least_one_item(made: SyntheticCollection) -> None:
    with pytest.raises(ParameterError, match="a batch is 1 or more, got 0"):
        looks(made, batch=0)
    with pytest.raises(ParameterError, match="between two updates is 1 or more, got 0"):
        looks(made, update_every=0)


# ---- verdicts of other kinds -----------------------------------------------------------------------------------------


def test_a_verdict_says_what_it_rests_on(made: SyntheticCollection) -> None:
    first = looks(made, stop="budget:20")[0]
    assert (first.verdict.basis, first.verdict.sampled, first.audit) == ("by the model", None, None)
    assert first.ranking is first.verdict.ranking


@pytest.mark.parametrize("predictor", ["uniform", "hierarchical"])
def test_by_design_a_campaign_speaks_once_it_has_a_sample(made: SyntheticCollection, predictor: str) -> None:
    design = Inference("design")
    steps = looks(made, predictor=predictor, policy="proportional", inference=design, batch=10, stop="budget:90")
    assert [look.judged for look in steps] == [60, 70, 80, 90]
    for look in steps:
        assert look.verdict.basis == "guaranteed by the sampling design, whatever the model"
        assert look.verdict.sampled == look.judged
    last = looks(made, predictor=predictor, policy="proportional", inference=design, batch=60)[-1]
    assert last.verdict.basis == "exact: everything that matters is judged"
    np.testing.assert_allclose(last.ranking.estimates.scores.mean, true_scores(made))


def test_by_design_adaptive_judgments_do_not_count(made: SyntheticCollection) -> None:
    design = Inference("design")
    steps = looks(made, policy="mtc", audit=0.25, inference=design, batch=20, stop="budget:180")
    assert steps[0].judged > 80
    for look in steps:
        assert look.verdict.sampled is not None
        assert 60 <= look.verdict.sampled < 0.6 * look.judged
    with pytest.raises(
        ParameterError, match=r"needs a sample with known .* the policy mtc draws none: use --policy pr"
    ):
        looks(made, policy="mtc", inference=design)


def test_the_sample_of_a_campaign_is_its_seed(made: SyntheticCollection) -> None:
    def judged(seed: int, policy: str, audit: float = 0.0) -> np.ndarray:
        return looks(made, policy=policy, audit=audit, stop="budget:40", batch=40, seed=seed)[-1].beliefs.judged

    np.testing.assert_array_equal(judged(1, "proportional"), judged(1, "mtc", audit=1.0))
    assert not np.array_equal(judged(1, "proportional"), judged(2, "proportional"))


def test_an_audit_starts_with_thirty_sampled_judgments(made: SyntheticCollection) -> None:
    steps = looks(made, policy="mtc", audit=0.5, stop="budget:100", batch=10)
    sampled = [look.audit.sampled for look in steps if look.audit is not None]
    assert steps[0].audit is None
    assert sampled
    assert sampled == sorted(sampled)
    assert min(sampled) >= 30
    # A look without one comes before all looks with one, and the sample has at least its share.
    found = [look.audit is not None for look in steps]
    assert found == sorted(found)
    assert all(look.audit.sampled >= look.judged // 2 for look in steps if look.audit is not None)
    assert all(look.verdict.basis == "by the model" for look in steps)


def test_an_audit_of_whole_queries_waits_for_ten_of_them(made: SyntheticCollection) -> None:
    for measure in ("AG@5", "nDCG@5"):
        steps = looks(made, measure=measure, audit=0.5, inference=Inference(whole_queries=True), batch=30)
        audited = [look for look in steps if look.audit is not None]
        assert audited
        # Ten of the fifteen queries hold about two thirds of the items, and half of the judgments follow the order.
        assert all(look.audit.sampled > 0.5 * look.judged for look in audited)
        assert audited[0].judged > 0.6 * audited[0].ranking.estimates.items
        assert audited[-1].audit.sampled == audited[-1].ranking.estimates.items
    # A sample of items says nothing about nDCG that could be held against a model.
    assert all(look.audit is None for look in looks(made, measure="nDCG@5", audit=0.5, batch=60))


def test_at_any_time_a_campaign_speaks_from_a_hundred_judgments_on(made: SyntheticCollection) -> None:
    steps = looks(made, inference=Inference(anytime=True), batch=30, stop="budget:150")
    assert [look.judged for look in steps] == [120, 150]
    plain = {look.judged: look for look in looks(made, batch=30, stop="budget:150")}
    for look in steps:
        np.testing.assert_array_equal(look.judged_gain, plain[look.judged].judged_gain)
        once = plain[look.judged].ranking
        assert np.all(look.ranking.high - look.ranking.low > 1.4 * (once.high - once.low))


def test_at_any_time_by_design_counts_what_matters(made: SyntheticCollection) -> None:
    """At a cutoff of 1 less than a hundred items matter: the first look is when all of them are judged."""
    inference = Inference("design", anytime=True)
    steps = looks(made, measure="AG@1", policy="proportional", inference=inference, batch=10, stop="budget:80")
    assert steps[0].judged < 100
    assert steps[0].verdict.basis == "exact: everything that matters is judged"
    np.testing.assert_allclose(steps[0].ranking.estimates.scores.mean, true_scores(made, "AG@1"))


@pytest.mark.parametrize("inference", [Inference(anytime=True), Inference("design")], ids=["anytime", "design"])
def test_a_budget_that_ends_before_the_first_look_is_refused(made: SyntheticCollection, inference: Inference) -> None:
    with pytest.raises(ParameterError, match="ends before there is anything to say: by design at least 60"):
        looks(made, policy="proportional", inference=inference, stop="budget:25")


def test_whole_queries_are_judged_one_after_the_other(made: SyntheticCollection) -> None:
    inference = Inference("design", whole_queries=True)
    steps = looks(made, measure="nDCG@5", policy="proportional", inference=inference, batch=30)
    query = Collection.from_runs(made.runs).item_query
    for look in steps:
        begun = [np.mean(look.beliefs.judged[query == one]) for one in range(15)]
        assert sum(0 < share < 1 for share in begun) <= 1
        assert sum(share == 1 for share in begun) >= 10
    assert steps[-1].verdict.basis == "exact: everything that matters is judged"
    np.testing.assert_allclose(steps[-1].ranking.estimates.scores.mean, true_scores(made, "nDCG(ideal=pool)@5"))


def test_a_stop_rule_is_about_the_verdict(made: SyntheticCollection) -> None:
    """Campaigns about other queries need more judgments, or never get there."""
    these, others = (
        looks(made, stop="mean:0.9", inference=Inference(target=target))[-1] for target in ("sample", "population")
    )
    assert these.judged < others.judged
    assert these.ranking.mean_confidence is not None
    assert these.ranking.mean_confidence >= 0.9
