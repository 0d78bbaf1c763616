"""Trees and forests: splits by hand, and probabilities that are probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from earmark.reproduce import trees
from earmark.reproduce.buckers2021_learners import calibrated
from earmark.reproduce.trees import Growth, conditional_forest, conditional_tree, grow, random_forest

RNG = np.random.default_rng(0)
VALUES = RNG.random((400, 3))
# The first feature decides at .6, the second shifts a little above that, the third does nothing.
LEVEL = np.where(VALUES[:, 0] <= 0.6, 0, np.where(VALUES[:, 1] <= 0.5, 1, 2))
WEIGHTS = np.ones(400)


def test_a_tree_finds_what_decides() -> None:
    tree = grow(VALUES, LEVEL, WEIGHTS, 3, Growth(), np.random.default_rng(0))
    assert tree.feature[0] == 0
    assert tree.cut[0] == pytest.approx(0.6, abs=0.02)
    assert 2 not in tree.feature
    np.testing.assert_array_equal(tree.predict(VALUES).argmax(axis=1), LEVEL)


def test_nothing_is_split_by_noise() -> None:
    level = np.random.default_rng(1).integers(0, 3, 400)
    assert grow(VALUES, level, WEIGHTS, 3, Growth(min_criterion=0.999), np.random.default_rng(0)).feature.size == 1


def test_the_statistic_is_that_of_its_permutation_distribution() -> None:
    rng = np.random.default_rng(2)
    x, score = rng.random(40), rng.integers(0, 4, 40).astype(float)
    drawn = np.array([x @ rng.permutation(score) for _ in range(20_000)])
    expected = abs(x @ score - drawn.mean()) / drawn.std()
    assert trees._association(x, score, np.ones(40)) == pytest.approx(expected, rel=0.03)


def test_one_split_by_hand() -> None:
    """Four items of one feature: the only test is z, corrected for one feature, and the cut is where z is greatest."""
    x, level = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    weights = np.full(4, 10.0)
    z = trees._association(x[:, 0], level.astype(float), weights)
    # Mean .5, variance .25 of scores; 40 observations.
    assert z == pytest.approx(10 * 2.0 / np.sqrt(0.25 * 10 * 5 * 40 / 39))
    sure = 1 - 2 * norm.sf(z)
    for criterion, nodes in ((sure - 1e-9, 3), (sure + 1e-9, 1)):
        tree = grow(x, level, weights, 2, Growth(min_criterion=criterion), np.random.default_rng(0))
        assert tree.feature.size == nodes
    assert grow(x, level, weights, 2, Growth(), np.random.default_rng(0)).cut[0] == 2.5


def test_depth_and_leaves_are_bounded() -> None:
    shallow = grow(VALUES, LEVEL, WEIGHTS, 3, Growth(max_depth=1), np.random.default_rng(0))
    assert shallow.feature.size == 3
    large = grow(VALUES, LEVEL, WEIGHTS, 3, Growth(min_criterion=0.0, min_leaf=50), np.random.default_rng(0))
    leaf = large.predict(VALUES)
    assert np.unique(leaf, axis=0, return_counts=True)[1].min() >= 50


def test_a_cut_between_neighbouring_numbers_leaves_something_on_both_sides() -> None:
    low = 1.0
    high = np.nextafter(low, 2)
    values = np.repeat([[low], [high]], 20, axis=0)
    tree = grow(values, np.repeat([0, 1], 20), np.ones(40), 2, Growth(), np.random.default_rng(0))
    assert tree.share.tolist() == [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("learner", [conditional_tree(), conditional_forest, random_forest])
def test_rules_predict_probabilities(learner: trees.Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "TREES", 5)
    for made in (learner, calibrated(learner)):
        found = made(VALUES[:300], LEVEL[:300], WEIGHTS[:300], 3)(VALUES[300:])
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        assert (found.argmax(axis=1) == LEVEL[300:]).mean() > 0.8


def test_weights_count_as_repeated_items() -> None:
    weights = np.random.default_rng(3).integers(1, 4, 400).astype(float)
    rows = np.repeat(np.arange(400), weights.astype(int))
    weighted = grow(VALUES, LEVEL, weights, 3, Growth(), np.random.default_rng(0))
    repeated = grow(VALUES[rows], LEVEL[rows], np.ones(rows.size), 3, Growth(), np.random.default_rng(0))
    np.testing.assert_allclose(weighted.predict(VALUES), repeated.predict(VALUES))
