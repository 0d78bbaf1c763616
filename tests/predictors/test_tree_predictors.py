"""Predictors of trees: what they learn, their files, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from earmark.beliefs.beliefs import item_gains
from earmark.data.collection import Collection
from earmark.data.scales import BROAD, FINE
from earmark.errors import InputError, MissingLibraryError, ParameterError
from earmark.predictors.base import Setting, make_predictor
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.held_out_features import held_out_features
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_training import PastCollection, train
from earmark.predictors.tree_learners import (
    LEARNERS,
    Boosting,
    ConditionalForest,
    ConditionalTree,
    Ensemble,
    RandomForest,
    Rows,
)
from earmark.predictors.tree_models import TreeModel
from earmark.predictors.tree_predictors import TREE_PREDICTORS, ConditionalInferenceTree, Forest
from earmark.predictors.tree_training import train_trees
from earmark.simulation import synthetic_collection


def made(seed: int, scale=BROAD, queries: int = 15) -> tuple[Setting, np.ndarray]:
    drawn = synthetic_collection(np.random.default_rng(seed), systems=6, queries=queries, documents=300, scale=scale)
    collection = Collection.from_runs(drawn.runs, metadata=drawn.metadata)
    return Setting(collection, scale), item_gains(collection, drawn.judgments)


@pytest.fixture(scope="module")
def trained() -> dict[str, TreeModel]:
    past = PastCollection(*made(1, queries=8))
    few = {"forest": (RandomForest(n_trees=10),), "boosted": (Boosting(n_trees=10),)}
    few["conditional-forest"] = (ConditionalForest(n_trees=10),)
    with pytest.MonkeyPatch.context() as patched:
        for name, candidates in few.items():
            patched.setitem(LEARNERS, name, candidates)
        return {name: train_trees([past], name, rng=np.random.default_rng(0)).model for name in TREE_PREDICTORS}


@pytest.mark.parametrize("name", TREE_PREDICTORS)
def test_a_saved_model_predicts_the_same(name: str, trained: dict[str, TreeModel], tmp_path: Path) -> None:
    model, path = trained[name], tmp_path / "model.json"
    model.save(path)
    again = TreeModel.load(path, predictor=name, levels=model_levels(BROAD))
    x = np.random.default_rng(0).normal(size=(500, len(model.features)))
    x[::7] = np.nan
    np.testing.assert_array_equal(again.probabilities(x), model.probabilities(x))
    assert (again.digest, again.source, again.features) == (model.digest, model.source, model.features)
    setting, _ = made(2)
    beliefs = PredictorChoice(name, path)(setting).predict(setting.unjudged)
    table = setting.features.features(model.features).values
    np.testing.assert_allclose(beliefs.mean, model.probabilities(table) @ np.arange(3.0))
    assert PredictorChoice(name, path).usual_scale() == BROAD
    assert f"model fitted {model.digest}" in PredictorChoice(name, path)(setting).version


@pytest.mark.parametrize("name", TREE_PREDICTORS)
def test_trees_learn_from_the_judgments_and_claim_their_errors(name: str) -> None:
    setting, truth = made(3, FINE, queries=40)
    gains = np.where(np.random.default_rng(0).random(truth.size) < 0.4, truth, -1.0)
    left = gains < 0
    beliefs = make_predictor(name, setting).predict(gains)
    error = np.mean((beliefs.mean - truth)[left] ** 2)
    assert error < 0.6 * np.mean((50 - truth)[left] ** 2)
    assert 0.8 < beliefs.variance[left].mean() / error < 1.35


def test_a_past_model_speaks_until_the_judgments_do(trained: dict[str, TreeModel]) -> None:
    setting, truth = made(4)
    past = trained["conditional-tree"]
    few = np.where(np.arange(truth.size) < 20, truth, -1.0)
    predictor = ConditionalInferenceTree(setting, past)
    table = setting.features.features(past.features).values
    expected = past.probabilities(table) @ np.arange(3.0)
    np.testing.assert_allclose(predictor.predict(few).mean[20:], expected[20:])
    assert "fewer than 100 judgments" in ConditionalInferenceTree(setting).predict(few).notes[0]
    many = np.where(np.random.default_rng(0).random(truth.size) < 0.6, truth, -1.0)
    learnt, alone = predictor.predict(many), ConditionalInferenceTree(setting).predict(many)
    np.testing.assert_array_equal(learnt.mean, alone.mean)


def test_the_order_of_judgments_decides_what_is_fitted_and_nothing_else_does() -> None:
    setting, truth = made(5)
    order = np.random.default_rng(0).permutation(truth.size)[:237]
    gains = np.full(truth.size, -1.0)
    gains[order] = truth[order]
    early = gains.copy()
    early[order[220:]] = -1.0
    fresh, used = ConditionalInferenceTree(setting), ConditionalInferenceTree(setting)
    used.predict(early, order=order[:220])
    np.testing.assert_array_equal(fresh.predict(gains, order=order).mean, used.predict(gains, order=order).mean)


def test_trees_cannot_decode_an_items_own_judgment() -> None:
    """Gains are noise: whoever predicts them from the features of judged items has been told."""
    setting, _ = made(6, FINE, queries=40)
    noise = np.random.default_rng(0).integers(0, 101, setting.collection.n_items).astype(float)
    names = ("aSYS", "aDOC")
    own_out = setting.features.features(names, gain=noise, judged=noise >= 0)
    held_out = held_out_features(setting.features, names, noise, seed=1)

    def explained(values: np.ndarray) -> float:
        there = np.isfinite(values).all(axis=1)
        levels = np.array(model_levels(FINE))
        query = setting.collection.item_query
        even = there & (query % 2 == 0)
        rows = Rows(values[even], to_levels(FINE, noise[even]), noise[even], query[even], np.ones(even.sum()), levels)
        odd = there & (query % 2 == 1)
        mean = Boosting(max_depth=3, n_trees=100).fit(rows).probabilities(values[odd]) @ levels
        return float(np.corrcoef(mean, noise[odd])[0, 1])

    assert explained(own_out.values) > 0.3
    assert abs(explained(held_out.values)) < 0.12


def test_held_out_features_come_from_the_judgments_of_others() -> None:
    setting, truth = made(7)
    gains = np.where(np.random.default_rng(1).random(truth.size) < 0.5, truth, -1.0)
    names = ("pSYS", "aSYS", "aDOC")
    before = held_out_features(setting.features, names, gains, seed=1).values
    item = int(np.flatnonzero(gains >= 0)[3])
    changed = gains.copy()
    changed[item] = (changed[item] + 1) % 3
    after = held_out_features(setting.features, names, changed, seed=1).values
    np.testing.assert_array_equal(after[item], before[item])
    assert not np.array_equal(after, before, equal_nan=True)
    only_output = held_out_features(setting.features, ("pSYS",), gains, seed=1)
    np.testing.assert_array_equal(only_output.values[:, 0], before[:, 0])


def test_copies_and_judgment_features_can_be_trained_on() -> None:
    past = PastCollection(*made(1, queries=8))
    found = train_trees([past, past], "conditional-tree", rng=np.random.default_rng(0), judged=True, copies=1)
    assert {"aSYS", "aDOC", "aGEN"} <= set(found.model.features)
    assert found.collections == 2
    assert found.rows > 2 * found.judged / 2
    assert found.choice.learner in dict(found.choice.scores)
    assert min(score for _, score in found.choice.scores) == dict(found.choice.scores)[found.choice.learner]


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    setting, _ = made(2)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for name in ("forest", "boosted"):
        with pytest.raises(MissingLibraryError, match=rf"predictor {name} needs scikit-learn.*earmark\[learn\]"):
            make_predictor(name, setting)
        with pytest.raises(MissingLibraryError, match="pip install"):
            train_trees([PastCollection(*made(1))], name, rng=np.random.default_rng(0))
    make_predictor("conditional-tree", setting).predict(setting.unjudged)


def test_what_training_refuses() -> None:
    setting, truth = made(1, queries=8)
    one = np.where(setting.collection.item_query == 0, truth, -1.0)
    with pytest.raises(ParameterError, match="queries that are held out: expected two or more, got one"):
        train_trees([PastCollection(setting, one)], "conditional-tree", rng=np.random.default_rng(0))


def test_models_for_others_are_refused(trained: dict[str, TreeModel], tmp_path: Path) -> None:
    setting, truth = made(2)
    path = tmp_path / "model.json"
    trained["conditional-tree"].save(path)
    with pytest.raises(InputError, match=r"expected a model for the predictor forest, got one for conditional-tree"):
        PredictorChoice("forest", path)(setting)
    with pytest.raises(InputError, match=r"expected the format 'earmark ordinal model 1'.*for --predictor forest"):
        PredictorChoice("ordinal", path)(setting)
    fine, _ = made(2, FINE)
    with pytest.raises(InputError, match=r"expected a model for the gains 0, 11, .* got one for 0, 1, 2"):
        PredictorChoice("conditional-tree", path)(fine)
    with pytest.raises(ParameterError, match="model 'fitted' has levels 0, 1, 2, but the scale 'fine' has 0, 11"):
        Forest(fine, trained["forest"])
    train([PastCollection(setting, truth)], rng=np.random.default_rng(0)).model.save(path)
    with pytest.raises(InputError, match=r"expected the format 'earmark tree model 1', got 'earmark ordinal model 1'"):
        PredictorChoice("forest", path)(setting)
    with pytest.raises(InputError, match="expected a model file, got No such file"):
        TreeModel.load(tmp_path / "nowhere.json")


def broken(content: dict, **changed: object) -> dict:
    trees = {key.removeprefix("trees_"): value for key, value in changed.items() if key.startswith("trees_")}
    rest = {key: value for key, value in changed.items() if not key.startswith("trees_")}
    return content | rest | {"trees": content["trees"] | trees} if "trees" not in rest else content | rest


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "other"}, r"model.json: expected the format 'earmark tree model 1', got 'other'"),
        ({"more": 1}, "expected the keys format, .*got also 'more'"),
        ({"name": 3}, "expected a text as name, got 3"),
        ({"features": "pSYS"}, "expected a list of names as features"),
        ({"power": "much"}, "expected a number as power"),
        ({"power": -1}, "expected a power above 0, got -1"),
        ({"predictor": "oracle"}, "expected a model for forest, .* got one for 'oracle'"),
        ({"levels": [0, 2, 1]}, "two or more levels, ascending"),
        ({"levels": [0, 1]}, "a value for each of 2 levels in every leaf, got 3"),
        ({"features": ["pSYS", "pSYS"]}, "one or more different features"),
        ({"features": ["pSYS"]}, "trees of 1 features, got feature"),
        ({"intercepts": [1.0, 2.0]}, "2 strictly decreasing intercepts"),
        ({"trees": [1]}, "expected trees as an object of arrays, got a list"),
        ({"trees_root": [0.5]}, "expected whole numbers as root, got 0.5"),
        ({"trees_threshold": []}, "numbers as threshold, one per node with a feature, got 0"),
        ({"trees_value": [[1, 2, 3]]}, "rows as value, one per leaf, got 1"),
        ({"trees_feature": ["a"]}, "expected numbers as feature"),
        ({"trees_root": [5]}, "ascending roots from 0"),
    ],
)
def test_files_that_are_no_models(
    changed: dict[str, object], message: str, trained: dict[str, TreeModel], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    trained["conditional-tree"].save(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(broken(content, **changed)))
    with pytest.raises(InputError, match=message):
        TreeModel.load(path)


def test_children_that_lead_back_are_refused(trained: dict[str, TreeModel], tmp_path: Path) -> None:
    """A file must not be able to keep a program on its way for ever."""
    path = tmp_path / "model.json"
    trained["conditional-tree"].save(path)
    content = json.loads(path.read_text())
    content["trees"]["left"][0] = 0
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="children after their parents"):
        TreeModel.load(path)
    content["trees"]["left"][0] = 10**6
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="children after their parents"):
        TreeModel.load(path)


def test_leaves_hold_shares(trained: dict[str, TreeModel]) -> None:
    model = trained["conditional-tree"]
    trees = ConditionalTree(max_depth=0).fit(
        Rows(np.zeros((4, 1)), np.zeros(4, dtype=int), np.zeros(4), np.arange(4), np.ones(4), np.arange(3.0))
    ).trees  # fmt: skip
    negative = type(trees)(**(vars(trees) | {"value": -trees.value}))
    with pytest.raises(ParameterError, match="shares of levels in every leaf, none below 0"):
        TreeModel("m", model.predictor, model.features, model.levels, Ensemble(negative, np.empty(0)), "test")
