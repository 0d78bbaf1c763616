"""Learners for the figures about trees: rules that find what decides, and probabilities that are probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.predictors.conditional_trees import Growing
from earmark.reproduce import trees
from earmark.reproduce.buckers2021_learners import calibrated
from earmark.reproduce.trees import conditional_forest, conditional_tree, random_forest

RNG = np.random.default_rng(0)
VALUES = RNG.random((400, 3))
# The first feature decides at .6, the second shifts a little above that, the third does nothing.
LEVEL = np.where(VALUES[:, 0] <= 0.6, 0, np.where(VALUES[:, 1] <= 0.5, 1, 2))
WEIGHTS = np.ones(400)


def test_a_shallow_tree_predicts_shares() -> None:
    found = conditional_tree(Growing(max_depth=1))(VALUES, LEVEL, WEIGHTS, 3)(
        np.array([[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]])
    )
    np.testing.assert_allclose(found[0], [1, 0, 0], atol=0.05)
    above = LEVEL[VALUES[:, 0] > 0.6]
    np.testing.assert_allclose(found[1], [0, np.mean(above == 1), np.mean(above == 2)], atol=0.05)


@pytest.mark.parametrize("learner", [conditional_tree(), conditional_forest, random_forest])
def test_rules_predict_probabilities(learner: trees.Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "TREES", 5)
    for made in (learner, calibrated(learner)):
        found = made(VALUES[:300], LEVEL[:300], WEIGHTS[:300], 3)(VALUES[300:])
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        assert (found.argmax(axis=1) == LEVEL[300:]).mean() > 0.8
