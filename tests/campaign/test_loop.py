"""The loop: replayable, never asks twice, ends, and cannot be stopped or broken by identical systems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.loop import Look, judging_measure, play
from earmark.campaign.policies import make_policy
from earmark.campaign.stopping import parse_stop
from earmark.data.collection import Collection
from earmark.data.runs import join_runs
from earmark.errors import ParameterError
from earmark.predictors import Setting, make_predictor
from earmark.simulation import synthetic_collection
from earmark.simulation.synthetic import SyntheticCollection


@pytest.fixture(scope="module")
def made() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(8), systems=4, queries=15, documents=200)


def looks(
    made: SyntheticCollection,
    *,
    predictor: str = "mtc-judge",
    policy: str = "mtc",
    stop: str = "none",
    measure: str = "AG@5",
    batch: int = 20,
    update_every: int = 20,
    seed: int = 0,
) -> list[Look]:
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    setting = Setting(collection, made.judgments.scale)
    truth = item_gains(collection, made.judgments)
    asked: list[int] = []

    def ask(items: np.ndarray) -> np.ndarray:
        asked.extend(items.tolist())
        assert len(set(asked)) == len(asked), "an item was asked twice"
        return truth[items]

    return list(
        play(
            setting,
            predictor=make_predictor(predictor, setting),
            policy=make_policy(policy),
            stop=parse_stop(stop),
            measure=earmark.parse(measure),
            ask=ask,
            rng=np.random.default_rng(seed),
            batch=batch,
            update_every=update_every,
        )
    )


@pytest.mark.parametrize("predictor", ["uniform", "mtc-output", "mtc-judge", "ordinal"])
@pytest.mark.parametrize("policy", ["mtc", "mtc-undecided", "random", "balanced"])
def test_judging_everything_ends_at_the_truth(made: SyntheticCollection, predictor: str, policy: str) -> None:
    last = looks(made, predictor=predictor, policy=policy, batch=60)[-1]
    assert last.decision.stop
    assert last.judged == last.ranking.estimates.items
    assert np.all(last.ranking.estimates.scores.variance == 0)
    truth = earmark.evaluate(made.runs, made.judgments, ["AG@5"]).mean_values[0]
    np.testing.assert_allclose(last.ranking.estimates.scores.mean, truth)


def test_the_same_seed_gives_the_same_campaign(made: SyntheticCollection) -> None:
    first, again, other = (looks(made, stop="budget:60", seed=seed) for seed in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.judged_gain, b.judged_gain)
        np.testing.assert_array_equal(a.ranking.confidence, b.ranking.confidence)
    assert not np.array_equal(first[-1].judged_gain, other[-1].judged_gain)


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
    assert steps[0].ranking.identical_pairs == ((made.runs.systems[0], "copy"),)
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


def test_measures_that_are_not_linear_are_judged_by_average_gain() -> None:
    assert str(judging_measure(earmark.parse("nDCG@7"))) == "AG@7"
    assert str(judging_measure(earmark.parse("AP"))) == "AG@10"
    assert str(judging_measure(earmark.parse("DCG@7"))) == "DCG@7"


def test_a_batch_has_at_least_one_item(made: SyntheticCollection) -> None:
    with pytest.raises(ParameterError, match="are 1 or more, got 0 and 20"):
        looks(made, batch=0)
