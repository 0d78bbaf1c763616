"""Trees as arrays against scikit-learn used directly; conditional inference trees against their definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from earmark.errors import ParameterError
from earmark.predictors.boosting import boost, slope_and_bend
from earmark.predictors.conditional_trees import Growing, association_p_values, best_cut, grow_forest, grow_tree
from earmark.predictors.ordinal_likelihood import ordinal_objective
from earmark.predictors.recalibration import calibrating_power, raise_to
from earmark.predictors.tree_learners import (
    LEARNERS,
    Boosting,
    ConditionalForest,
    ConditionalTree,
    RandomForest,
    Rows,
    choose,
    fit_recalibrated,
    held_out_probabilities,
    query_folds,
    ranked_score,
)
from earmark.predictors.trees import Trees, from_sklearn


def drawn(n: int = 600, n_levels: int = 4, seed: int = 0, missing: float = 0.1) -> Rows:
    """Rows of which the first two features tell something, and the third nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    latent = 1.5 * x[:, 0] + np.where(x[:, 1] > 0, 1.5, 0) + rng.logistic(size=n)
    y = np.digitize(latent, np.linspace(-1.5, 2.5, n_levels - 1)).astype(np.int64)
    x[rng.random(x.shape) < missing] = np.nan
    return Rows(x, y, y.astype(float), rng.integers(0, 30, n), np.ones(n), np.arange(n_levels, dtype=float))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_forest_gives_the_class_probabilities_of_scikit_learn(missing):
    from sklearn.ensemble import RandomForestClassifier

    rows = drawn(missing=missing)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(rows.y))
    rows = Rows(rows.x, rows.y, rows.gain, rows.query, weights, rows.levels)
    ours = RandomForest(min_leaf=5, max_depth=6, n_trees=30).fit(rows)
    theirs = RandomForestClassifier(n_estimators=30, max_depth=6, min_samples_leaf=5, random_state=0)
    theirs.fit(rows.x, rows.y, sample_weight=weights)
    # 32-bit values that lie on thresholds are the hard ones, and values that nobody trained on.
    asked = np.concatenate((rows.x, drawn(2000, seed=9, missing=missing).x, np.full((1, 3), np.nan if missing else 0)))
    np.testing.assert_allclose(ours.probabilities(asked), theirs.predict_proba(asked), atol=1e-12)
    np.testing.assert_array_equal(ours.trees.leaves(asked)[:, 0], theirs.estimators_[0].apply(asked))


def test_levels_that_nobody_gave_have_no_share_in_a_forest():
    rows = drawn()
    sparse = Rows(rows.x, np.where(rows.y == 1, 2, rows.y), rows.gain, rows.query, rows.weights, np.arange(5.0))
    chances = RandomForest(n_trees=5).fit(sparse).probabilities(rows.x)
    assert np.all(chances[:, [1, 4]] == 0)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_with_two_levels_the_first_tree_is_that_of_gradient_boosting():
    from sklearn.ensemble import GradientBoostingClassifier

    rows = drawn(3000, n_levels=2, missing=0)
    intercepts, trees = boost(rows.x, rows.y, rows.weights, n_levels=2, n_trees=1, max_depth=3, min_leaf=20, rate=0.3)
    theirs = GradientBoostingClassifier(n_estimators=1, max_depth=3, min_samples_leaf=20, learning_rate=0.3)
    theirs.fit(rows.x, rows.y)
    np.testing.assert_allclose(intercepts[0] + trees.total(rows.x)[:, 0], theirs.decision_function(rows.x), atol=1e-9)


def test_slope_and_bend_are_derivatives_of_the_likelihood():
    rng = np.random.default_rng(3)
    intercepts, f, y, step = np.array([1.0, 0.2, -2.0]), rng.normal(size=20), rng.integers(0, 4, 20), 1e-5

    def log_likelihood(values):
        one = [ordinal_objective(np.append(intercepts, 1.0), v.reshape(1, 1), y[i : i + 1], n_levels=4)[0]
               for i, v in enumerate(values)]  # fmt: skip
        return -np.array(one)

    slope, bend = slope_and_bend(intercepts, f, y)
    up, here, down = log_likelihood(f + step), log_likelihood(f), log_likelihood(f - step)
    np.testing.assert_allclose(slope, (up - down) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(bend, -(up - 2 * here + down) / step**2, atol=1e-4)


def test_boosting_raises_the_likelihood_and_keeps_levels_in_order():
    rows = drawn(n_levels=5)
    likelihoods = []
    for n_trees in (1, 5, 20):
        fitted = Boosting(2, n_trees).fit(rows)
        assert np.all(np.diff(fitted.intercepts) < 0)
        chances = fitted.probabilities(rows.x)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        likelihoods.append(np.log(chances[np.arange(len(rows.y)), rows.y]).mean())
    assert all(low < high for low, high in pairwise(likelihoods))
    # A level that nobody gave is unlikely, not impossible.
    wider = Rows(rows.x, rows.y, rows.gain, rows.query, rows.weights, np.arange(6.0))
    unseen = Boosting(2, 20).fit(wider).probabilities(rows.x)[:, 5]
    assert np.all((unseen > 0) & (unseen < 0.05))


def test_p_values_are_those_of_all_permutations():
    """The standardised statistic is exact; its distribution over permutations is nearly chi-square."""
    rng = np.random.default_rng(0)
    x, scores = rng.normal(size=(40, 1)), rng.integers(0, 4, 40).astype(float)
    statistic = 39 * np.corrcoef(x[:, 0], scores)[0, 1] ** 2
    p = association_p_values(x, scores, np.ones(40))[0]
    assert p == pytest.approx(chi2.sf(statistic, 1))
    permuted = np.array([39 * np.corrcoef(x[:, 0], rng.permutation(scores))[0, 1] ** 2 for _ in range(4000)])
    assert permuted.mean() == pytest.approx(1.0, abs=0.08)  # standardised: the mean of the square is 1
    assert p == pytest.approx(np.mean(permuted >= statistic), abs=0.03)


def test_rows_without_a_feature_take_no_part_in_its_test():
    rng = np.random.default_rng(1)
    x, scores = rng.normal(size=(50, 2)), rng.integers(0, 3, 50).astype(float)
    x[:, 1] = 4.2
    x[10:20, 0] = np.nan
    there = np.isfinite(x[:, 0])
    found = association_p_values(x, scores, np.ones(50))
    expected = association_p_values(x[there], scores[there], np.ones(40))
    np.testing.assert_allclose(found, expected)
    assert found[1] == 1  # does not vary
    # A weight of 2 is the row twice.
    twice = association_p_values(np.vstack((x, x[:5])), np.append(scores, scores[:5]), np.ones(55))
    np.testing.assert_allclose(association_p_values(x, scores, np.where(np.arange(50) < 5, 2.0, 1.0)), twice)


def test_the_cut_is_the_one_whose_sides_differ_most():
    rng = np.random.default_rng(2)
    x, scores = np.round(rng.normal(size=60), 1), rng.integers(0, 5, 60).astype(float)
    cut = best_cut(x, scores, np.ones(60), 7)
    tried = {}
    for low, high in pairwise(np.unique(x)):
        left = x <= low
        if 7 <= left.sum() <= 53:
            tried[(low + high) / 2] = abs(np.corrcoef(left, scores)[0, 1])
    assert cut == pytest.approx(max(tried, key=tried.get))
    assert best_cut(np.ones(60), scores, np.ones(60), 7) is None
    assert best_cut(x, scores, np.ones(60), 31) is None


def test_a_conditional_tree_cuts_where_there_is_something_to_find():
    rng = np.random.default_rng(4)
    noise = [grow_tree(rng.normal(size=(300, 5)), rng.integers(0, 4, 300), np.ones(300), n_levels=4, how=Growing())
             for _ in range(60)]  # fmt: skip
    # The chance of any cut at all is the level of the test, adjusted for five features.
    assert sum(tree.feature[0] >= 0 for tree in noise) <= 9
    rows = drawn(missing=0.1)
    tree = grow_tree(rows.x, rows.y, rows.weights, n_levels=4, how=Growing())
    assert set(tree.feature[tree.feature >= 0]) == {0, 1}
    leaves = tree.value[tree.is_leaf]
    np.testing.assert_array_equal(leaves.sum(axis=0), np.bincount(rows.y))
    assert leaves.sum(axis=1).min() >= 7
    assert grow_tree(rows.x, rows.y, rows.weights, n_levels=4, how=Growing(max_depth=1)).feature.size == 3
    # Training rows come to the leaf that holds them.
    counted = np.zeros_like(tree.value)
    np.add.at(counted, (tree.leaves(rows.x)[:, 0], rows.y), 1)
    np.testing.assert_array_equal(counted[tree.is_leaf], leaves)


def test_a_conditional_forest_counts_rows_over_all_trees():
    rows = drawn(200)
    how = Growing(criterion=0, tried=2)
    trees = grow_forest(rows.x, rows.y, rows.weights, n_levels=4, how=how, n_trees=7, rng=np.random.default_rng(5))
    assert trees.n_trees == 7
    total = trees.total(rows.x)
    leaves = trees.leaves(rows.x)
    np.testing.assert_allclose(total, sum(trees.value[leaves[:, tree]] for tree in range(7)))
    np.testing.assert_allclose([trees.value[root].sum() for root in trees.root], round(0.632 * 200))


def test_folds_are_those_of_scikit_learn_and_keep_queries_together():
    from sklearn.model_selection import GroupKFold

    query = np.random.default_rng(6).integers(0, 40, 500) ** 2
    fold = query_folds(query, 10)
    theirs = np.empty(500, dtype=int)
    for number, (_, out) in enumerate(GroupKFold(10).split(query, groups=query)):
        theirs[out] = number
    for value in np.unique(query):
        assert np.unique(fold[query == value]).size == 1
    np.testing.assert_array_equal(np.bincount(fold), np.bincount(theirs))
    assert query_folds(np.array([3, 3, 8]), 10).tolist() == [0, 0, 1]


def test_hyperparameters_are_chosen_by_the_ranked_score_on_unseen_queries():
    rows = drawn(1500)
    candidates = (ConditionalTree(criterion=0.999, max_depth=0), ConditionalTree())
    chosen = choose(candidates, rows)
    assert chosen.learner == candidates[1]
    scores = dict(chosen.scores)
    held_out = held_out_probabilities(candidates[1], rows)
    assert scores[candidates[1]] == pytest.approx(ranked_score(held_out, rows))
    # Without a cut, the forecast is the share of levels in the other folds: nearly the score of the overall shares.
    overall = np.tile(np.bincount(rows.y) / len(rows.y), (len(rows.y), 1))
    assert scores[candidates[0]] == pytest.approx(ranked_score(overall, rows), rel=0.02)


@pytest.mark.parametrize("learner", [candidates[0] for candidates in LEARNERS.values()], ids=lambda one: one.name)
def test_recalibrated_models_claim_the_errors_they_make(learner):
    taught, asked = drawn(1500, seed=1), drawn(3000, seed=2)
    fitted = fit_recalibrated(learner, taught)
    chances = fitted.probabilities(asked.x)
    mean = chances @ asked.levels
    claimed = (chances @ asked.levels**2 - mean**2).mean()
    assert claimed == pytest.approx(np.mean((asked.gain - mean) ** 2), rel=0.12)
    one_query = Rows(taught.x, taught.y, taught.gain, np.zeros(1500, dtype=int), taught.weights, taught.levels)
    assert fit_recalibrated(ConditionalForest(2), one_query).power == 1.0


@pytest.mark.parametrize(("forecast", "share"), [(0.9, 0.7), (0.6, 0.8), (0.2, 0.35)])
def test_the_power_of_two_levels_has_a_closed_form(forecast, share):
    """All items having one forecast p, the power is logit(share) / logit(p); see the head of the module."""
    n = 1000
    gain = (np.arange(n) < share * n).astype(float)
    chances = np.tile([1 - forecast, forecast], (n, 1))
    power = calibrating_power(chances, np.array([0.0, 1.0]), gain)
    expected = np.log(share / (1 - share)) / np.log(forecast / (1 - forecast))
    assert power == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(raise_to(chances, power)[0], [1 - share, share], rtol=1e-4)
    half = np.concatenate((np.ones(n), np.zeros(n)))
    twice = calibrating_power(np.tile(chances, (2, 1)), np.array([0.0, 1.0]), np.tile(gain, 2), half)
    assert twice == pytest.approx(power)


def test_a_power_keeps_certainty_and_sums_to_one():
    raised = raise_to(np.array([[0.0, 0.25, 0.75], [0.0, 0.0, 1.0]]), 0.5)
    root = np.sqrt([0.25, 0.75])
    np.testing.assert_allclose(raised, [[0, *(root / root.sum())], [0, 0, 1]])


def tree_of(**changed: object) -> Trees:
    arrays: dict[str, object] = {
        "root": np.array([0]),
        "feature": np.array([0, -1, -1]),
        "threshold": np.zeros(3),
        "left": np.array([1, 1, 2]),
        "right": np.array([2, 1, 2]),
        "missing_left": np.zeros(3, dtype=bool),
        "value": np.ones((3, 2)),
    }
    return Trees(**(arrays | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"left": np.array([0, 1, 2])}, "children after their parents in the same tree, got left 0 of node 0"),
        ({"right": np.array([3, 1, 2])}, "children after their parents in the same tree, got right 3 of node 0"),
        ({"left": np.array([1, 2, 2])}, "children after their parents"),
        ({"threshold": np.zeros(2)}, "'threshold' for each of 3 nodes"),
        ({"value": np.ones((2, 2))}, "a row of values for each of 3 nodes"),
        ({"value": np.full((3, 2), np.nan)}, "finite thresholds and values"),
        ({"root": np.array([1])}, "ascending roots from 0"),
        ({"root": np.array([0, 2])}, "children after their parents in the same tree"),
    ],
)
def test_arrays_that_are_no_trees(changed, message):
    assert tree_of().leaves(np.array([[0.0], [0.1]])).tolist() == [[1], [2]]
    with pytest.raises(ParameterError, match=message):
        tree_of(**changed)


def test_a_tree_of_scikit_learn_that_parts_the_missing_from_the_rest():
    from sklearn.tree import DecisionTreeClassifier

    x = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [np.nan]])
    theirs = DecisionTreeClassifier(random_state=0).fit(x, [0, 0, 0, 1, 1, 1])
    ours = from_sklearn(theirs.tree_, theirs.tree_.value[:, 0, :])
    assert np.isfinite(ours.threshold).all()
    np.testing.assert_array_equal(ours.leaves(x)[:, 0], theirs.apply(x))
