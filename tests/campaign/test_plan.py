"""Plans: their campaigns are those that will be played, their truths agree with the judgments, their ranges hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import earmark
from earmark.beliefs.beliefs import AssessorGains, Beliefs, item_gains
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.evidence import Answers
from earmark.campaign.loop import play
from earmark.campaign.plan import Plan, plan, usual_batch
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import parse_stop
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.predictors import Setting
from earmark.predictors.base import Maker, Predictor
from earmark.predictors.choose import PredictorChoice
from earmark.simulation import synthetic_collection
from earmark.simulation.synthetic import SyntheticCollection

MEASURE = earmark.parse("AG@5")


@pytest.fixture(scope="module")
def made() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(8), systems=4, queries=12, documents=150)


@pytest.fixture(scope="module")
def setting(made: SyntheticCollection) -> Setting:
    return Setting(Collection.from_runs(made.runs, depth=5, metadata=made.metadata), made.judgments.scale)


@pytest.fixture(scope="module")
def truth(made: SyntheticCollection, setting: Setting) -> np.ndarray:
    return item_gains(setting.collection, made.judgments)


def some(truth: np.ndarray, count: int) -> Answers:
    """Judge every other item, `count` of them."""
    items = np.arange(0, 2 * count, 2)
    return Answers(items, truth[items])


def campaign(
    setting: Setting,
    stop: str,
    *,
    predictor: str | Maker = "hierarchical",
    policy: str = "variance",
    margin: float = 0.0,
    seed: int = 0,
    so_far: Answers | None = None,
) -> Campaign:
    maker = PredictorChoice(predictor) if isinstance(predictor, str) else predictor
    rule = parse_stop(stop, margin=margin)
    start = Campaign(Problem(setting, MEASURE, maker, make_policy(policy), rule, seed=seed))
    return start if so_far is None else start.with_answers(so_far)


def planned(
    setting: Setting,
    stop: str,
    *,
    repeats: int = 3,
    batch: int = 20,
    progress: Callable[[int], None] | None = None,
    **how: Any,
) -> Plan:
    return plan(campaign(setting, stop, **how), repeats=repeats, batch=batch, progress=progress)


def of(*judgments: int, items: int = 500, judged: int = 0, stop: str = "mean:0.95", margin: float = 0.0) -> Plan:
    asked = np.array(judgments)
    everything = (asked == items - judged) & (judged < items)
    return Plan(asked, everything, judged=judged, items=items, stop=parse_stop(stop, margin=margin), batch=20)


@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_campaigns_are_those_that_people_would_have(setting: Setting, predictor: str) -> None:
    start = campaign(setting, "mean:0.9", predictor=predictor, seed=4)
    found = plan(start, repeats=4, batch=10)
    rng = np.random.default_rng(4)
    truths = PredictorChoice(predictor)(setting).predict(setting.unjudged).draw(rng, 4)
    for gains, own, asked in zip(truths, rng.spawn(4), found.judgments, strict=True):
        people = campaign(setting, "mean:0.9", predictor=predictor, seed=int(own.integers(2**32)))
        *_, last = play(people, oracle(gains), batch=10)
        assert last.judged == asked
        assert last.decision.stop
    assert len(set(found.judgments)) > 1


@pytest.mark.parametrize("policy", ["variance", "mtc", "random", "proportional"])
def test_a_budget_is_a_budget(setting: Setting, truth: np.ndarray, policy: str) -> None:
    assert planned(setting, "budget:50", policy=policy).judgments.tolist() == [50, 50, 50]
    more = planned(setting, "budget:50", policy=policy, so_far=some(truth, 25))
    assert (more.judged, more.judgments.tolist()) == (25, [25, 25, 25])


@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_without_a_rule_everything_left_is_judged_once(setting: Setting, truth: np.ndarray, predictor: str) -> None:
    found = planned(setting, "none", predictor=predictor, so_far=some(truth, 30), batch=50)
    assert set(found.judgments) == {truth.size - 30}
    assert found.not_reached == 1
    assert found.share == 1


def test_a_stricter_rule_takes_more_of_the_same_campaigns(setting: Setting) -> None:
    lax, strict = (planned(setting, stop, repeats=4) for stop in ("mean:0.8", "mean:0.9"))
    assert np.all(lax.judgments <= strict.judgments)
    assert lax.judgments.sum() < strict.judgments.sum()
    within = planned(setting, "mean:0.9", margin=0.05, repeats=4)
    assert np.all(within.judgments <= strict.judgments)


class _Watched(Predictor):
    """Uniform beliefs that remember what they were told."""

    name = "watched"

    def __init__(self, setting: Setting, told: list[list[np.ndarray]]) -> None:
        super().__init__(setting)
        self._inner = PredictorChoice("uniform")(setting)
        self._told: list[np.ndarray] = []
        told.append(self._told)

    def predict(
        self, judged_gain: np.ndarray, answers: AssessorGains | None = None, *, order: np.ndarray | None = None
    ) -> Beliefs:
        self._told.append(judged_gain)
        return self._inner.predict(judged_gain, answers, order=order)


def test_judgments_so_far_are_known_to_every_campaign_from_its_beginning(setting: Setting, truth: np.ndarray) -> None:
    told: list[list[np.ndarray]] = []
    so_far = some(truth, 40)
    planned(setting, "budget:100", predictor=lambda where: _Watched(where, told), policy="mtc", so_far=so_far)
    # One predictor to draw truths from, and one for each campaign: what one campaign learnt no other may know.
    assert len(told) == 4
    for played in told[1:]:
        assert [int(np.count_nonzero(gains >= 0)) for gains in played] == [40, 60, 80, 100]
        for gains in played:
            np.testing.assert_array_equal(gains[so_far.items], so_far.gains)
    first, second = (played[-1] for played in told[1:3])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("predictor", ["hierarchical", "uniform"])
def test_people_may_have_judged_the_same_items(setting: Setting, truth: np.ndarray, predictor: str) -> None:
    """Truths are drawn on the scale, and whoever answers in a simulation goes along with people who have names."""
    known = some(truth, 15)
    both = campaign(setting, "budget:60", predictor=predictor)
    for name in ("ann", "bob"):
        both = both.with_answers(Answers(known.items, known.gains, assessor=name))
    without = Campaign(both.problem, both.log.with_events({"kind": "rejected", "assessor": "bob"}))
    for start in (both, without):
        assert setting.scale.contains(start.beliefs.draw(np.random.default_rng(0), 3)).all()
        assert plan(start, repeats=3, batch=20).judgments.tolist() == [45, 45, 45]


def test_a_plan_leaves_its_campaign_as_it_was(setting: Setting, truth: np.ndarray) -> None:
    start = campaign(setting, "budget:60", so_far=some(truth, 20))
    before, digest = start.propose(10), start.log.digest
    first, again = plan(start, repeats=3), plan(start, repeats=3)
    np.testing.assert_array_equal(first.judgments, again.judgments)
    assert (start.judged, start.log.digest) == (20, digest)
    np.testing.assert_array_equal(start.propose(10).items, before.items)


def test_a_plan_in_one_call_is_that_of_the_library(made: SyntheticCollection) -> None:
    how: dict[str, Any] = {"metadata": made.metadata, "stop": "mean:0.9", "margin": 0.01, "seed": 4}
    found = earmark.plan(made.runs, repeats=3, **how)
    assert found.judgments.tolist() == plan(Campaign.build(made.runs, **how), repeats=3).judgments.tolist()
    assert earmark.plan(made.runs, made.judgments, repeats=3).high == 0


def test_the_seed_decides_everything(setting: Setting) -> None:
    first, again, other = (planned(setting, "mean:0.92", seed=seed, repeats=5) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.judgments, again.judgments)
    assert not np.array_equal(first.judgments, other.judgments)


@pytest.mark.parametrize("stop", ["budget:30", "mean:0.8", "none"])
def test_progress_goes_to_the_end(setting: Setting, truth: np.ndarray, stop: str) -> None:
    steps: list[int] = []
    planned(setting, stop, predictor="uniform", policy="mtc", so_far=some(truth, 10), progress=steps.append)
    assert min(steps) >= 0
    assert sum(steps) == 3 * (truth.size - 10)


def test_nothing_left_to_judge(setting: Setting, truth: np.ndarray) -> None:
    found = planned(setting, "mean:0.95", so_far=Answers(np.arange(truth.size), truth))
    assert (found.low, found.median, found.high, found.not_reached) == (0, 0, 0, 0)
    assert found.sentence() == "Everything is judged: there is nothing left to plan."


@pytest.mark.parametrize("repeats", [9, 13, 20, 40])
def test_the_range_holds_eight_of_ten_campaigns_of_the_same_kind(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    trials = 2000
    inside = 0
    for _ in range(trials):
        *played, coming = rng.integers(0, 100_000, repeats + 1)
        found = of(*played, items=1_000_000)
        inside += found.low <= coming <= found.high
    # Four standard errors; between order statistics the range is exact on average, at them it is so for every n.
    assert inside / trials == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / trials))


def test_ranges_are_rounded_outwards() -> None:
    found = of(*range(1, 21))
    assert found.range.tolist() == [2, 10, 19]
    assert of(20, 20, 20, 40, 40, 40, 60, 60, 60).range.tolist() == [20, 40, 60]


def test_hours_and_cost() -> None:
    found = of(*[60] * 3, *[120] * 5, *[180] * 3)
    assert found.median == 120
    np.testing.assert_allclose(found.hours(30), np.array([60, 120, 180]) / 120)
    np.testing.assert_allclose(found.cost(0.1), [6, 12, 18])
    row = found.to_polars(seconds_per_judgment=60, cost_per_judgment=0.5, assessors=4).row(0, named=True)
    assert row == {
        "judgments_low": 60,
        "judgments_median": 120,
        "judgments_high": 180,
        "hours": 2.0,
        "cost": 60.0,
        "assessors": 4,
        "hours_each": 0.5,
        "judged": 0,
        "items": 500,
        "share": 0.24,
        "not_reached": 0.0,
        "repeats": 11,
        "stop": "mean:0.95",
        "margin": 0.0,
        "batch": 20,
    }


def test_in_words() -> None:
    assert str(of(*[80] * 5, *[120] * 6, *[190] * 4)) == (
        "About 120 judgments (80 to 190) of 500 items until mean:0.95, 1.0 hour of judging at 30 s each."
    )
    so_far = of(*[40] * 9, judged=100, margin=0.01)
    assert so_far.sentence(90) == (
        "About 40 more judgments of 500 items, 100 of them judged, until mean:0.95 within a margin of 0.01, "
        "1.0 hour of judging at 90 s each."
    )
    assert of(*[0] * 9).sentence() == (
        "No judgments are needed: mean:0.95 is reached by the predictions before anything is judged."
    )
    assert of(*[0] * 9, judged=9).sentence() == (
        "No more judgments are needed: mean:0.95 is reached with the judgments so far."
    )
    few = of(80, 100, 500, 500)
    assert few.notes() == [
        "in 50% of the simulated campaigns everything had to be judged: a margin, or a rule such as decided:0.8, stops "
        "sooner",
        "a range of 4 campaigns is too narrow to hold 80 of 100 campaigns: that takes 9 or more",
    ]
    assert "In 50% of the simulated campaigns" in str(few)
    html = few._repr_html_()
    assert "<b>Plan</b>: About 300 judgments" in html
    assert "<li>in 50%" in html
    assert "hours at 30 s each" in html


def test_large_collections_are_looked_at_less_often() -> None:
    assert [usual_batch(items) for items in (10, 2_000, 2_001, 10_000)] == [20, 20, 21, 100]


def test_what_makes_no_sense_is_refused(setting: Setting) -> None:
    with pytest.raises(ParameterError, match="expected 1 simulated campaign or more, got 0"):
        planned(setting, "none", repeats=0)
    with pytest.raises(ParameterError, match="a batch is 1 or more, got 0"):
        planned(setting, "none", batch=0)
    with pytest.raises(ParameterError, match="somebody has to judge: expected 1 assessor or more, got 0"):
        of(20).to_polars(assessors=0)
    with pytest.raises(ParameterError, match="seconds per judgment is a finite number of 0 or more, got -1"):
        of(20).hours(-1)
    with pytest.raises(ParameterError, match="the cost of a judgment is a finite number of 0 or more, got nan"):
        of(20).cost(float("nan"))
