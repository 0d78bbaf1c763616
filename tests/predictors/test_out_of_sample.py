"""Out-of-sample predictions: no predictor sees an item's own judgment, and none treats judged items differently.

Guaranteed estimates correct these predictions by a sample, so what is tested here is what their guarantee rests on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import UNJUDGED, item_gains
from earmark.campaign.verdict import Inference, Verdicts
from earmark.data.collection import Collection
from earmark.data.permanent_random_numbers import item_folds, item_numbers
from earmark.data.scales import BROAD
from earmark.inference.confidence import rank_systems
from earmark.inference.design_based import most_unseen
from earmark.predictors.base import PREDICTORS, Part, Predictor, Setting, believe, make_predictor
from earmark.predictors.external import External
from earmark.predictors.tree_learners import LEARNERS, Boosting, ConditionalForest, RandomForest

EXTERNAL = ("external:levels", "external:score")
AG5 = earmark.parse("AG@5")


@pytest.fixture(scope="module", autouse=True)
def small_ensembles() -> object:
    """Three trees say as much about what a predictor may see as a hundred."""
    few = {"forest": (RandomForest(n_trees=3),), "boosted": (Boosting(n_trees=3),)}
    few["conditional-forest"] = (ConditionalForest(n_trees=3),)
    with pytest.MonkeyPatch.context() as patched:
        for name, learners in few.items():
            patched.setitem(LEARNERS, name, learners)
        yield


@cache
def case() -> tuple[Setting, np.ndarray]:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=6, queries=25, documents=400, scale=BROAD)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    return Setting(collection, BROAD), item_gains(collection, made.judgments)


def file_of(path: Path, setting: Setting, **columns: np.ndarray) -> Path:
    items = setting.collection.item_frame().select("query", "document")
    items.with_columns(**{name: pl.Series(values) for name, values in columns.items()}).write_csv(path)
    return path


@pytest.fixture(params=[*PREDICTORS.names(), *EXTERNAL])
def predictor(request: pytest.FixtureRequest, tmp_path: Path) -> Predictor:
    setting, truth = case()
    name: str = request.param
    if name not in EXTERNAL:
        return make_predictor(name, setting)
    rng = np.random.default_rng(2)
    if name == "external:score":
        return External(setting, file_of(tmp_path / "score.csv", setting, score=truth + rng.normal(0, 1, truth.size)))
    chances = rng.dirichlet(np.ones(3), truth.size)
    levels = {str(level): chances[:, level] for level in range(3)}
    return External(setting, file_of(tmp_path / "levels.csv", setting, **levels))


def test_changing_a_judgment_does_not_change_what_is_expected_of_its_item(predictor: Predictor) -> None:
    setting, truth = case()
    fold = item_folds(setting.collection, seed=1)
    shown = np.random.default_rng(0).random(truth.size) < 0.4
    gains = np.where(shown, truth, UNJUDGED)
    expected = predictor.out_of_sample(gains, fold)
    assert np.all((expected >= 0) & (expected <= setting.scale.top))
    # The variances of effects are fitted to all judgments at once, and a single one hardly changes them.
    near = 0.02 * setting.scale.top if predictor.name == "hierarchical" else 1e-9
    item = int(np.flatnonzero(shown)[0])
    # Nor does it matter that it was judged at all.
    for other in (setting.scale.top - gains[item], UNJUDGED):
        changed = gains.copy()
        changed[item] = other
        assert predictor.out_of_sample(changed, fold)[item] == pytest.approx(expected[item], abs=near)


def test_judged_items_are_predicted_as_well_as_others(predictor: Predictor) -> None:
    """Errors of both kinds of items are as large, so that those of the sample tell those of the rest."""
    setting, truth = case()
    fold = item_folds(setting.collection, seed=1)
    shown = np.random.default_rng(1).random(truth.size) < 0.5
    squared = (predictor.out_of_sample(np.where(shown, truth, UNJUDGED), fold) - truth) ** 2
    error = np.hypot(*(squared[which].std() / np.sqrt(which.sum()) for which in (shown, ~shown)))
    assert abs(squared[shown].mean() - squared[~shown].mean()) < 3 * error


def test_folds_are_dealt_by_permanent_numbers_and_not_by_those_of_the_sample() -> None:
    setting, truth = case()
    fold = item_folds(setting.collection, seed=3)
    assert np.all(np.bincount(fold, minlength=5) > truth.size / 10)
    assert not np.array_equal(fold, item_folds(setting.collection, seed=4))
    number = item_numbers(setting.collection, seed=3)
    assert abs(np.corrcoef(fold, number)[0, 1]) < 4 / np.sqrt(truth.size)


def test_the_truth_as_prediction_has_no_error_and_no_variance(tmp_path: Path) -> None:
    """What is left of the width is the rule of three: a sample without errors cannot exclude any outside it."""
    setting, truth = case()
    levels = {str(level): (truth == level).astype(float) for level in range(3)}
    external = External(setting, file_of(tmp_path / "truth.csv", setting, **levels))
    verdicts = Verdicts(setting, AG5, external, inference=Inference("design"), seed=2)
    true = Verdicts(setting, AG5, external).by_model(external.predict(truth)).estimates.scores.mean
    for n in (60, 200, truth.size):
        drawn = verdicts.sampling.drawn(verdicts.item_order.sampled(n))
        gains = np.where(drawn.sampled, truth, UNJUDGED)
        prediction = external.out_of_sample(gains, verdicts.folds)
        np.testing.assert_array_equal(prediction, truth)
        found = verdicts.by_design(external.predict(gains)).estimates
        np.testing.assert_allclose(found.scores.mean, true, atol=1e-12)
        # The sampling variance: the squares of no errors. Without errors intervals are those of the rule of three, by
        # which a sample cannot exclude what it did not see; it needs 3 / pi at most of what one item can add.
        rows = verdicts.judging_weights
        escaping = rows.multiply(setting.scale.top / drawn.inclusion * ~drawn.sampled).tocsr()
        most = most_unseen(0.95) * escaping.max(axis=1).toarray().ravel()
        half = (rank_systems(found).high - rank_systems(found).low) / 2
        assert np.all(half <= most + 1e-12)
        if n == truth.size:
            np.testing.assert_array_equal(found.differences.variance, 0.0)


class Asymmetric(Predictor):
    """A predictor of somebody else: it says nothing about judged items, and leaks what it is told of the others."""

    name = "asymmetric"

    def predict(self, judged_gain, answers=None, *, order=None):  # type: ignore[no-untyped-def]
        judged = judged_gain >= 0
        levels = np.array([0.0, 1.0, 2.0])
        share = np.bincount(judged_gain[judged].astype(int), minlength=3) + 1.0
        rows = np.tile(share / share.sum(), (np.count_nonzero(~judged), 1))
        return believe(self.setting, judged_gain, Part(~judged, levels, rows))


def test_a_predictor_that_knows_nothing_of_this_is_cross_fitted() -> None:
    setting, truth = case()
    verdicts = Verdicts(setting, AG5, Asymmetric(setting), inference=Inference("design"), seed=4)
    shown = verdicts.item_order.sampled(150)
    gains = np.where(shown, truth, UNJUDGED)
    expected = Asymmetric(setting).out_of_sample(gains, verdicts.folds)
    # Not the uniform belief, whose mean is 1, about the judged ones.
    assert abs(expected[shown].mean() - expected[~shown].mean()) < 0.02
    assert expected[shown].mean() != pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("name", ["forest", "conditional-tree", "conditional-forest"])
def test_trees_are_dealt_by_the_seed(name: str) -> None:
    setting, truth = case()
    gains = np.where(np.random.default_rng(0).random(truth.size) < 0.5, truth, UNJUDGED)

    def expected(seed: int) -> np.ndarray:
        return make_predictor(name, replace(setting, seed=seed)).predict(gains).mean

    np.testing.assert_array_equal(expected(1), expected(1))
    assert not np.array_equal(expected(1), expected(2))
