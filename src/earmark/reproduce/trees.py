r"""Trees and forests that predict levels: what BIAS tries in place of the ordinal regression (its section 3.4).

A *conditional inference tree* [1]_ asks of every feature whether it has anything to do with the level. With scores
:math:`h = 0, 1, …` of ordered levels and weights :math:`w`, :math:`W = \sum w`, the statistic :math:`T = \sum w x h` of
a feature :math:`x` has, if it does not matter, mean :math:`\bar h \sum w x` and variance :math:`\frac{W}{W - 1}
\mathrm{Var}(h) \sum w (x - \bar x)^2`. The feature with the smallest p-value, corrected for their number by :math:`1 -
(1 - p)^m`, is split if :math:`1 - p` exceeds the *minimum criterion*, where the same statistic of :math:`x \le c` is
greatest; else the node is a leaf. The *conditional forest* averages such trees, grown without a test on parts of the
data and of the features. The *random forest* [2]_ averages trees that split by the Gini impurity until leaves are pure,
and each of which votes.

A rule predicts the shares of the levels in the leaf that an item falls into.

References
----------
.. [1] T. Hothorn, K. Hornik, A. Zeileis (2006). Unbiased recursive partitioning: a conditional inference framework.
   Journal of Computational and Graphical Statistics 15, 651-674.
.. [2] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from earmark.data.arrays import Floats, Ints

Rule = Callable[[Floats], Floats]
"""From features (items, features) to probabilities (items, levels)."""
Learner = Callable[[Floats, Ints, Floats, int], Rule]
"""From features, levels, weights of items and the number of levels to a rule."""

TREES = 30
"""How many trees a forest has."""
_SUBSAMPLE = 0.632
_LEAF = -1
_NEVER = np.inf


@dataclass(frozen=True)
class Growth:
    """How a tree grows.

    Parameters
    ----------
    min_criterion : float, 0..1
        How sure it has to be that a feature matters before a node is split by it; 0 splits without a test.
    max_depth : int, optional
        How many splits an item goes through at most.
    min_split, min_leaf : float
        The least weight of a node that is split, and of a leaf.
    features : int, optional
        How many features, drawn at every node, are looked at; all by default.
    gini : bool
        Split where the Gini impurity falls most, instead of by a test.
    """

    min_criterion: float = 0.95
    max_depth: int | None = None
    min_split: float = 20.0
    min_leaf: float = 7.0
    features: int | None = None
    gini: bool = False


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree that was grown.

    Attributes
    ----------
    feature, left, right : ndarray of int, shape (nodes,)
        What a node is split by, and where it leads; -1 at a leaf.
    cut : ndarray of float, shape (nodes,)
        Up to which value of its feature it leads to the left.
    share : ndarray of float, shape (nodes, levels)
        Of the levels among what it was grown from.
    """

    feature: Ints
    cut: Floats
    left: Ints
    right: Ints
    share: Floats

    def predict(self, values: Floats) -> Floats:
        """Return the shares of levels in the leaf of every item."""
        node = np.zeros(len(values), dtype=np.int64)
        items = np.arange(len(values))
        while items.size:
            at = node[items]
            inner = self.feature[at] != _LEAF
            items, at = items[inner], at[inner]
            goes_left = values[items, self.feature[at]] <= self.cut[at]
            node[items] = np.where(goes_left, self.left[at], self.right[at])
        return np.asarray(self.share[node])


def conditional_tree(growth: Growth | None = None) -> Learner:
    """Return a learner of one conditional inference tree."""
    how = growth or Growth()

    def learn(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
        return grow(values, level, weights, n_levels, how, np.random.default_rng(0)).predict

    return learn


def conditional_forest(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
    """Learn a forest of conditional inference trees, each from 63.2% of the items and two features a node."""
    how, rng = Growth(min_criterion=0.0, features=2), np.random.default_rng(0)
    trees = []
    for _ in range(TREES):
        part = rng.choice(len(values), round(_SUBSAMPLE * len(values)), replace=False)
        trees.append(grow(values[part], level[part], weights[part], n_levels, how, rng))
    return lambda asked: np.mean([tree.predict(asked) for tree in trees], axis=0)


def random_forest(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
    """Learn a forest of trees that vote, each from as many items drawn with replacement and two features a node."""
    how, rng = Growth(min_split=2.0, min_leaf=1.0, features=2, gini=True), np.random.default_rng(0)
    trees = []
    for _ in range(TREES):
        drawn = rng.multinomial(int(weights.sum()), weights / weights.sum()).astype(np.float64)
        part = drawn > 0
        trees.append(grow(values[part], level[part], drawn[part], n_levels, how, rng))

    def vote(asked: Floats) -> Floats:
        votes = np.zeros((len(asked), n_levels))
        for tree in trees:
            votes[np.arange(len(asked)), tree.predict(asked).argmax(axis=1)] += 1 / TREES
        return votes

    return vote


def grow(values: Floats, level: Ints, weights: Floats, n_levels: int, how: Growth, rng: np.random.Generator) -> Tree:
    """Grow a tree.

    Parameters
    ----------
    values : ndarray of float, shape (items, features)
    level : ndarray of int, shape (items,), 0..n_levels-1
    weights : ndarray of float, shape (items,)
        How often every item counts.
    n_levels : int
    how : Growth
    rng : numpy.random.Generator
        Draws the features that a node looks at.
    """
    feature: list[int] = []
    cut: list[float] = []
    children: list[list[int]] = []
    share: list[Floats] = []
    waiting: list[tuple[Ints, int, int, int]] = [(np.arange(len(values)), 0, -1, 0)]
    while waiting:
        items, depth, parent, side = waiting.pop()
        node = len(feature)
        if parent >= 0:
            children[parent][side] = node
        counts = np.bincount(level[items], weights[items], n_levels)
        share.append(counts / counts.sum())
        split = None
        if (
            counts.sum() >= how.min_split
            and np.count_nonzero(counts) > 1
            and (how.max_depth is None or depth < how.max_depth)
        ):
            split = _split(values[items], level[items], weights[items], n_levels, how, rng)
        chosen, at = (_LEAF, _NEVER) if split is None else split
        feature.append(chosen)
        cut.append(at)
        children.append([_LEAF, _LEAF])
        if split is not None:
            goes_left = values[items, chosen] <= at
            waiting += [(items[~goes_left], depth + 1, node, 1), (items[goes_left], depth + 1, node, 0)]
    places = np.array(children)
    return Tree(np.array(feature), np.array(cut), places[:, 0], places[:, 1], np.array(share))


def _split(
    values: Floats, level: Ints, weights: Floats, n_levels: int, how: Growth, rng: np.random.Generator
) -> tuple[int, float] | None:
    """Return the feature and the value to split a node by, if it is to be split."""
    n_features = values.shape[1]
    looked_at = np.arange(n_features)
    if how.features is not None and how.features < n_features:
        looked_at = rng.choice(n_features, how.features, replace=False)
    if how.gini:
        best = [(_best_cut(values[:, one], level, weights, n_levels, how), int(one)) for one in looked_at]
        (gain, at), chosen = max(best, key=lambda found: found[0][0])
        return (chosen, at) if gain > 0 else None
    score = level.astype(np.float64)
    statistic = np.array([_association(values[:, one], score, weights) for one in looked_at])
    criterion = (1 - 2 * special.ndtr(-statistic)) ** looked_at.size
    if criterion.max() <= how.min_criterion:
        return None
    # Where p-values are too small to differ, the statistics still do.
    chosen = int(looked_at[np.argmax(statistic)])
    gain, at = _best_cut(values[:, chosen], level, weights, n_levels, how)
    return (chosen, at) if gain > 0 else None


def _association(x: Floats, score: Floats, weights: Floats) -> float:
    """Return how many standard deviations a feature's statistic is from what chance would give."""
    total = weights.sum()
    centred = x - weights @ x / total
    deviation = score - weights @ score / total
    variance = (weights @ deviation**2 / total) * (weights @ centred**2) * total / (total - 1)
    return float(abs(weights @ (centred * deviation)) / np.sqrt(variance)) if variance > 0 else 0.0


def _best_cut(x: Floats, level: Ints, weights: Floats, n_levels: int, how: Growth) -> tuple[float, float]:
    """Return how good the best cut of a feature is, and the cut; 0 where there is none."""
    order = np.argsort(x, kind="stable")
    sorted_x, sorted_weights, sorted_level = x[order], weights[order], level[order]
    left = np.cumsum(sorted_weights)
    total = left[-1]
    possible = (sorted_x[:-1] < sorted_x[1:]) & (left[:-1] >= how.min_leaf) & (total - left[:-1] >= how.min_leaf)
    ends = np.flatnonzero(possible)
    if not ends.size:
        return 0.0, _NEVER
    if how.gini:
        counts = np.zeros((x.size, n_levels))
        counts[np.arange(x.size), sorted_level] = sorted_weights
        running = np.cumsum(counts, axis=0)
        here, whole = running[ends], running[-1]
        pure = (here**2).sum(axis=1) / left[ends] + ((whole - here) ** 2).sum(axis=1) / (total - left[ends])
        gain = pure - (whole**2).sum() / total
    else:
        deviation = sorted_level - sorted_weights @ sorted_level / total
        moved = np.cumsum(sorted_weights * deviation)[ends]
        # Var(h) is the same for all cuts.
        gain = np.abs(moved) / np.sqrt(left[ends] * (total - left[ends]) / total)
    best = int(np.argmax(gain))
    below, above = sorted_x[ends[best]], sorted_x[ends[best] + 1]
    between = (below + above) / 2
    # Halfway between neighbours of the last bit is the upper one.
    return float(gain[best]), float(between if between < above else below)
