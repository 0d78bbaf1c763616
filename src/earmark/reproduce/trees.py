"""Trees and forests in the form that the figures of Buckers2021, section 3.4, need: learners that give rules.

They are those of :mod:`earmark.predictors.conditional_trees` and :mod:`earmark.predictors.tree_learners`, with the
parameters of the thesis: a conditional inference tree, a conditional forest that looks at two features a node, and a
random forest whose trees grow until leaves are pure, so that the shares of levels are votes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from earmark.data.arrays import Floats, Ints
from earmark.predictors.conditional_trees import Growing, grow_forest, grow_tree
from earmark.predictors.tree_learners import Ensemble, RandomForest, Rows
from earmark.predictors.trees import Trees

Rule = Callable[[Floats], Floats]
"""From features (items, features) to probabilities (items, levels)."""
Learner = Callable[[Floats, Ints, Floats, int], Rule]
"""From features, levels, weights of items and the number of levels to a rule."""

TREES = 30
"""How many trees a forest has."""


def conditional_tree(how: Growing | None = None) -> Learner:
    """Return a learner of one conditional inference tree."""
    chosen = how or Growing()

    def learn(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
        return _shares_of(grow_tree(values, level, weights, n_levels=n_levels, how=chosen))

    return learn


def conditional_forest(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
    """Learn a forest of conditional inference trees, each from 63.2% of the items and two features a node."""
    how, rng = Growing(criterion=0.0, tried=2), np.random.default_rng(0)
    return _shares_of(grow_forest(values, level, weights, n_levels=n_levels, how=how, n_trees=TREES, rng=rng))


def random_forest(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
    """Learn a random forest whose trees have pure leaves."""
    levels = np.arange(n_levels, dtype=np.float64)
    rows = Rows(values, level, level.astype(np.float64), np.zeros(level.size, dtype=np.int64), weights, levels)
    return RandomForest(min_leaf=1, max_depth=None, n_trees=TREES).fit(rows).probabilities


def _shares_of(trees: Trees) -> Rule:
    return Ensemble(trees, np.empty(0)).probabilities
