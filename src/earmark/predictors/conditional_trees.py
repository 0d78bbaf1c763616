r"""Conditional inference trees for ordered levels (Hothorn, Hornik and Zeileis 2006), grown with numpy.

Usual trees prefer features with many different values, as those offer the most cuts. A conditional inference tree [1]_
asks first *which* feature is associated with the outcome, by a test, and only then where to cut it.

For an outcome with ordered levels scored 0, 1, ... and a numeric feature, the linear statistic of the framework,
standardised by its mean and variance over all permutations of the outcomes, is

.. math:: c = \sqrt{n - 1}\; r,

with r the correlation of feature and scores over the n rows of a node. Its square is compared with a chi-square
distribution of one degree of freedom. A node is cut at the feature with the lowest p-value, if one minus that p-value,
adjusted by Bonferroni for the number of features, exceeds `criterion`; the cut is the one whose two sides have the
largest such statistic. Forests take the trees of random subsamples, without any test to stop, and look at a few
random features in every node; probabilities are then the levels' shares among all rows that share a leaf with an item,
counted over all trees.

These are ``ctree`` and ``cforest`` of the R packages party and partykit, for this kind of outcome and features. No
Python package that we know of has them for ordered outcomes. Rows that lack a feature do not take part in its test, and
go to the larger side of its cut.

References
----------
.. [1] T. Hothorn, K. Hornik, A. Zeileis (2006). Unbiased recursive partitioning: a conditional inference framework.
   J. Computational and Graphical Statistics 15, 651-674.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtrc

from earmark.data.arrays import Bools, Floats, Ints
from earmark.predictors.trees import Trees, joined


@dataclass(frozen=True)
class Growing:
    """When a tree stops growing; the defaults are those of R's ``ctree``.

    Parameters
    ----------
    criterion : float, 0..1
        What one minus the adjusted p-value has to exceed for a cut; 0 cuts wherever anything is associated.
    min_split, min_leaf : float
        The least weight of rows of a node that is cut, and of a leaf.
    max_depth : int, optional
        How many cuts there may be on a way; without, any number.
    tried : int, optional
        How many random features every node looks at; without, all.
    """

    criterion: float = 0.95
    min_split: float = 20
    min_leaf: float = 7
    max_depth: int | None = None
    tried: int | None = None


def association_p_values(x: Floats, scores: Floats, weights: Floats) -> Floats:
    r"""Return the p-value of the association of every feature with the scores, :math:`P(\chi^2_1 > (n - 1) r^2)`.

    Parameters
    ----------
    x : ndarray of float, shape (n, features)
        NaN where a feature is missing: such a row takes no part in the test of that feature.
    scores, weights : ndarray of float, shape (n,)

    Returns
    -------
    ndarray of float, shape (features,)
        1 for a feature that does not vary.

    Examples
    --------
    >>> association_p_values(np.array([[0.0, 1], [1, 1], [2, 1]]), np.array([0.0, 1, 2]), np.ones(3)).round(4).tolist()
    [0.1573, 1.0]
    """
    there = np.isfinite(x)
    w = np.where(there, weights[:, np.newaxis], 0.0)
    n = w.sum(axis=0)
    safe = np.maximum(n, 1e-300)
    known = np.where(there, x, 0.0)
    off = np.where(there, known - (w * known).sum(axis=0) / safe, 0.0)
    off_scores = scores[:, np.newaxis] - (w * scores[:, np.newaxis]).sum(axis=0) / safe
    spread, spread_scores = (w * off**2).sum(axis=0), (w * off_scores**2).sum(axis=0)
    varies = (spread > 1e-12 * safe * (1 + known.max(axis=0, initial=0.0) ** 2)) & (spread_scores > 0)
    squared = (w * off * off_scores).sum(axis=0) ** 2 / np.where(varies, spread * spread_scores, 1.0)
    return np.where(varies, chdtrc(1, (n - 1) * squared), 1.0)


def best_cut(x: Floats, scores: Floats, weights: Floats, min_leaf: float) -> float | None:
    """Return the cut of a feature whose sides differ most, or None if no cut leaves `min_leaf` on both sides."""
    order = np.argsort(x, kind="stable")
    x, w, s = x[order], weights[order], scores[order]
    below, total = np.cumsum(w), float(w.sum())
    cut_here = np.append(x[1:] > x[:-1], False) & (below >= min_leaf) & (total - below >= min_leaf)
    if not cut_here.any():
        return None
    mean = float(w @ s) / total
    # The squared correlation of scores with being on the left, up to a factor that all cuts share.
    statistic = np.cumsum(w * (s - mean)) ** 2 / np.where(cut_here, below * (total - below), 1.0)
    place = int(np.argmax(np.where(cut_here, statistic, -1.0)))
    return float((x[place] + x[place + 1]) / 2)


@dataclass
class _Nodes:
    """The nodes of a tree while it grows."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)

    def add(self, value: Floats) -> int:
        """Add a leaf and return its number."""
        number = len(self.feature)
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.left.append(number)
        self.right.append(number)
        self.missing_left.append(False)
        self.value.append(value)
        return number

    def trees(self) -> Trees:
        return Trees(
            np.zeros(1, dtype=np.int64),
            np.array(self.feature, dtype=np.int64),
            np.array(self.threshold),
            np.array(self.left, dtype=np.int64),
            np.array(self.right, dtype=np.int64),
            np.array(self.missing_left, dtype=bool),
            np.array(self.value),
        )


def grow_tree(
    x: Floats, y: Ints, weights: Floats, *, n_levels: int, how: Growing, rng: np.random.Generator | None = None
) -> Trees:
    """Grow a conditional inference tree; its leaves hold the weight of every level in them.

    Parameters
    ----------
    x : ndarray of float, shape (n, features)
        NaN where a feature is missing.
    y : ndarray of int, shape (n,), 0..n_levels-1
    weights : ndarray of float, shape (n,)
    n_levels : int
    how : Growing
    rng : numpy.random.Generator, optional
        What draws the features that nodes look at, where not all are.
    """
    nodes = _Nodes()
    # As values are compared when the tree is used.
    x = np.asarray(x, dtype=np.float32).astype(np.float64)

    def counts(rows: Ints) -> Floats:
        return np.bincount(y[rows], weights[rows], minlength=n_levels).astype(np.float64, copy=False)

    everything = np.flatnonzero(weights > 0)
    waiting = [(nodes.add(counts(everything)), everything, 0)]
    while waiting:
        node, rows, depth = waiting.pop()
        found = None if depth == how.max_depth else _cut(x[rows], y[rows].astype(float), weights[rows], how, rng)
        if found is None:
            continue
        column, threshold, goes_left, missing_left = found
        nodes.feature[node], nodes.threshold[node], nodes.missing_left[node] = column, threshold, missing_left
        for side, part in ((nodes.left, rows[goes_left]), (nodes.right, rows[~goes_left])):
            side[node] = nodes.add(counts(part))
            waiting.append((side[node], part, depth + 1))
    return nodes.trees()


def _cut(
    x: Floats, scores: Floats, weights: Floats, how: Growing, rng: np.random.Generator | None
) -> tuple[int, float, Bools, bool] | None:
    """Return the feature to cut at, where, who goes left, and whether rows without it do; None to stop."""
    if weights.sum() < how.min_split:
        return None
    columns = np.arange(x.shape[1])
    if how.tried is not None and how.tried < columns.size and rng is not None:
        columns = np.sort(rng.choice(columns, how.tried, replace=False))
    p = association_p_values(x[:, columns], scores, weights)
    # Bonferroni in the form of the framework: one minus the chance that none of the tests errs.
    adjusted = -np.expm1(columns.size * np.log1p(-np.minimum(p, 1 - 1e-16)))
    for place in np.argsort(p, kind="stable"):
        if 1 - adjusted[place] <= how.criterion or p[place] >= 1:
            return None
        column = int(columns[place])
        there = np.isfinite(x[:, column])
        threshold = best_cut(x[there, column], scores[there], weights[there], how.min_leaf)
        if threshold is None:
            continue
        left = there & (x[:, column] <= threshold)
        missing_left = bool(weights[left].sum() >= weights[there & ~left].sum())
        return column, threshold, left | (~there & missing_left), missing_left
    return None


def grow_forest(
    x: Floats,
    y: Ints,
    weights: Floats,
    *,
    n_levels: int,
    how: Growing,
    n_trees: int,
    rng: np.random.Generator,
    share: float = 0.632,
) -> Trees:
    """Grow trees on random subsamples of the rows, without replacement, as R's ``cforest`` does by default."""
    size = max(round(share * len(y)), 1)
    grown = []
    for _ in range(n_trees):
        drawn = np.zeros(len(y), dtype=bool)
        drawn[rng.choice(len(y), size, replace=False)] = True
        grown.append(grow_tree(x, y, np.where(drawn, weights, 0.0), n_levels=n_levels, how=how, rng=rng))
    return joined(grown)
