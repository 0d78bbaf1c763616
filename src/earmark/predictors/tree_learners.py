"""Learners that grow trees: random forests, conditional inference trees and forests, and boosted ordinal models.

These are the models that Buckers [1]_ (section 3.4) put in place of the ordinal regression, and a boosted one. A
learner is a value: its hyperparameters. :func:`choose` picks one by its ranked probability score in a cross-validation,
and :func:`fit_recalibrated` fits it and recalibrates its probabilities by a power. Both hold out **whole queries**:
items of a query are alike, and a learner that has seen some of them is too sure about the others.

Random forests and boosted models are grown by scikit-learn (the extra ``learn``); conditional trees are our own.

References
----------
.. [1] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; section 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from earmark.data.arrays import Floats, Ints
from earmark.errors import MissingLibraryError
from earmark.predictors.boosting import boost
from earmark.predictors.conditional_trees import Growing, grow_forest, grow_tree
from earmark.predictors.ordinal_regression import predict_levels
from earmark.predictors.recalibration import calibrating_power, raise_to
from earmark.predictors.trees import Trees, from_sklearn, joined

FOLDS = 10
"""As in BIAS."""
_SEED = 0


@dataclass(frozen=True, eq=False)
class Rows:
    """What there is to learn from, one row per judged item.

    Parameters
    ----------
    x : ndarray of float, shape (n, features)
        NaN where a feature is missing.
    y : ndarray of int, shape (n,)
        The level that the item was judged to have.
    gain : ndarray of float, shape (n,)
        The gain that it was given.
    query : ndarray of int, shape (n,)
        Whose rows are held out together.
    weights : ndarray of float, shape (n,)
    levels : ndarray of float, shape (levels,)
        The gain of every level.
    """

    x: Floats
    y: Ints
    gain: Floats
    query: Ints
    weights: Floats
    levels: Floats

    def take(self, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Rows:
        """Keep some of the rows."""
        return replace(
            self,
            x=self.x[rows],
            y=self.y[rows],
            gain=self.gain[rows],
            query=self.query[rows],
            weights=self.weights[rows],
        )


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees that give probabilities of levels.

    Parameters
    ----------
    trees : Trees
        Their values are shares or weights of levels, or one number where there are intercepts.
    intercepts : ndarray of float, shape (levels - 1,) or (0,)
        Those of a boosted proportional-odds model; none for forests.
    power : float
        To which probabilities are raised before they are normalised.
    """

    trees: Trees
    intercepts: Floats
    power: float = 1.0

    def probabilities(self, x: Floats) -> Floats:
        """Probability of every level, shape (n, levels)."""
        total = self.trees.total(x)
        if self.intercepts.size:
            plain = predict_levels((self.intercepts, np.ones(1)), total)
        else:
            plain = total / total.sum(axis=1, keepdims=True)
        return plain if self.power == 1.0 else raise_to(plain, self.power)


class Learner(Protocol):
    """Hyperparameters, and how to fit a model with them."""

    name: ClassVar[str]

    def fit(self, rows: Rows) -> Ensemble:
        """Fit a model that is not yet recalibrated."""

    def __str__(self) -> str:
        """Tell the hyperparameters."""


@dataclass(frozen=True)
class RandomForest:
    """Breiman's random forest, by scikit-learn; the probability of a level is its mean share in the leaves.

    Parameters
    ----------
    min_leaf : int
        The fewest rows in a leaf.
    max_depth : int, optional
        How many cuts there may be on a way; without, any number.
    n_trees : int
    """

    name: ClassVar[str] = "forest"
    min_leaf: int = 5
    max_depth: int | None = 8
    n_trees: int = 100

    def fit(self, rows: Rows) -> Ensemble:
        """Fit a forest."""
        require_sklearn(self.name)
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=self.n_trees, max_depth=self.max_depth, min_samples_leaf=self.min_leaf, random_state=_SEED
        ).fit(rows.x, rows.y, sample_weight=rows.weights)
        grown = []
        for tree in forest.estimators_:
            shares = np.zeros((tree.tree_.node_count, rows.levels.size))
            shares[:, forest.classes_] = tree.tree_.value[:, 0, :]
            grown.append(from_sklearn(tree.tree_, shares))
        return Ensemble(joined(grown), np.empty(0))

    def __str__(self) -> str:
        return f"{self.n_trees} trees, {_depth(self.max_depth)}, {self.min_leaf} rows or more in a leaf"


@dataclass(frozen=True)
class Boosting:
    """A proportional-odds model boosted with small trees, see :mod:`earmark.predictors.boosting`.

    Parameters
    ----------
    max_depth, n_trees, min_leaf : int
    rate : float, 0..1
        The learning rate.
    """

    name: ClassVar[str] = "boosted"
    max_depth: int = 2
    n_trees: int = 50
    min_leaf: int = 20
    rate: float = 0.1

    def fit(self, rows: Rows) -> Ensemble:
        """Fit the intercepts and the trees."""
        require_sklearn(self.name)
        intercepts, trees = boost(
            rows.x,
            rows.y,
            rows.weights,
            n_levels=rows.levels.size,
            n_trees=self.n_trees,
            max_depth=self.max_depth,
            min_leaf=self.min_leaf,
            rate=self.rate,
        )
        return Ensemble(trees, intercepts)

    def __str__(self) -> str:
        return f"{self.n_trees} trees, {_depth(self.max_depth)}, learning rate {self.rate:g}"


@dataclass(frozen=True)
class ConditionalTree:
    """A conditional inference tree, see :mod:`earmark.predictors.conditional_trees`.

    Parameters
    ----------
    criterion : float, 0..1
        One minus the adjusted p-value that a cut has to exceed.
    max_depth : int, optional
    """

    name: ClassVar[str] = "conditional-tree"
    criterion: float = 0.95
    max_depth: int | None = None

    def fit(self, rows: Rows) -> Ensemble:
        """Grow the tree."""
        how = Growing(criterion=self.criterion, max_depth=self.max_depth)
        return Ensemble(grow_tree(rows.x, rows.y, rows.weights, n_levels=rows.levels.size, how=how), np.empty(0))

    def __str__(self) -> str:
        return f"criterion {self.criterion:g}, {_depth(self.max_depth)}"


@dataclass(frozen=True)
class ConditionalForest:
    """A forest of conditional inference trees; the other parameters are those of R's ``cforest``.

    Parameters
    ----------
    n_trees : int
    max_depth : int, optional
    """

    name: ClassVar[str] = "conditional-forest"
    n_trees: int = 100
    max_depth: int | None = None

    def fit(self, rows: Rows) -> Ensemble:
        """Grow the trees."""
        tried = int(np.ceil(np.sqrt(rows.x.shape[1])))
        how = Growing(criterion=0.0, max_depth=self.max_depth, tried=tried)
        rng = np.random.default_rng(_SEED)
        trees = grow_forest(
            rows.x, rows.y, rows.weights, n_levels=rows.levels.size, how=how, n_trees=self.n_trees, rng=rng
        )
        return Ensemble(trees, np.empty(0))

    def __str__(self) -> str:
        return f"{self.n_trees} trees, {_depth(self.max_depth)}"


LEARNERS: dict[str, tuple[Learner, ...]] = {
    RandomForest.name: tuple(RandomForest(leaf, depth) for leaf in (5, 20, 80) for depth in (8, None, 4)),
    Boosting.name: tuple(Boosting(depth, trees) for depth in (2, 1, 3) for trees in (50, 100, 200)),
    # BIAS varies the criterion and the depth of a tree, each by itself.
    ConditionalTree.name: (
        ConditionalTree(),
        *(ConditionalTree(criterion=criterion) for criterion in (0.5, 0.8, 0.99, 0.999)),
        *(ConditionalTree(max_depth=depth) for depth in (2, 3, 4, 6)),
    ),
    ConditionalForest.name: tuple(ConditionalForest(max_depth=depth) for depth in (None, 8, 4)),
}
"""By the name of the predictor: the hyperparameters to choose among, the usual ones first.

The usual ones were chosen on the development queries of MIREX 2011 with a tenth and three tenths of the items judged.
"""


def require_sklearn(predictor: str) -> None:
    """Refuse to go on without scikit-learn, and say how to get it."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingLibraryError(
            f"the predictor {predictor} needs scikit-learn, which is not installed: pip install 'earmark[learn]'"
        ) from None


def query_folds(query: Ints, n_folds: int) -> Ints:
    """Return the fold of every row, rows of a query being in the same; folds are as even as queries allow.

    Queries are dealt out by their numbers of rows, the largest first, each to the fold with the fewest rows so far.

    Examples
    --------
    >>> query_folds(np.array([7, 7, 7, 2, 2, 5]), 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    _, index, sizes = np.unique(query, return_inverse=True, return_counts=True)
    rows_in, fold_of = np.zeros(min(n_folds, sizes.size)), np.zeros(sizes.size, dtype=np.int64)
    for group in np.argsort(-sizes, kind="stable"):
        fold_of[group] = np.argmin(rows_in)
        rows_in[fold_of[group]] += sizes[group]
    return fold_of[index]


def held_out_probabilities(learner: Learner, rows: Rows, n_folds: int = FOLDS) -> Floats:
    """Return the probabilities of every row by a model that has not seen its query, shape (n, levels)."""
    fold = query_folds(rows.query, n_folds)
    probabilities = np.empty((len(rows.y), rows.levels.size))
    for number in range(int(fold.max()) + 1):
        out = fold == number
        probabilities[out] = learner.fit(rows.take(~out)).probabilities(rows.x[out])
    return probabilities


def ranked_score(probabilities: Floats, rows: Rows) -> float:
    """Return the weighted mean of the ranked probability score."""
    reached = rows.y[:, np.newaxis] <= np.arange(rows.levels.size - 1)
    squared = (np.cumsum(probabilities, axis=1)[:, :-1] - reached) ** 2
    return float(np.average(squared.mean(axis=1), weights=rows.weights))


@dataclass(frozen=True, eq=False)
class Choice:
    """What a cross-validation by query came to.

    Attributes
    ----------
    learner : Learner
        The one with the lowest score, the first of several.
    scores : list of (Learner, float)
        The ranked probability score of every candidate on queries that it had not seen.
    probabilities : ndarray of float, shape (n, levels)
        Those of the chosen one.
    """

    learner: Learner
    scores: list[tuple[Learner, float]]
    probabilities: Floats


def choose(candidates: Sequence[Learner], rows: Rows, n_folds: int = FOLDS) -> Choice:
    """Choose among learners by their ranked probability score in a cross-validation by query."""
    held_out = [held_out_probabilities(learner, rows, n_folds) for learner in candidates]
    scores = [ranked_score(probabilities, rows) for probabilities in held_out]
    best = int(np.argmin(scores))
    return Choice(candidates[best], list(zip(candidates, scores, strict=True)), held_out[best])


def fit_recalibrated(learner: Learner, rows: Rows, held_out: Floats | None = None, *, n_folds: int = 5) -> Ensemble:
    """Fit a learner, with the power that makes its errors on unseen queries as large as it claims.

    Parameters
    ----------
    learner : Learner
    rows : Rows
        Of two queries or more; with one there is nothing to recalibrate by, and the power is 1.
    held_out : ndarray of float, shape (n, levels), optional
        Probabilities on queries that the learner had not seen, where they are known already.
    n_folds : int
        How many folds are held out to find them, otherwise.
    """
    fitted = learner.fit(rows)
    if np.ptp(rows.query) == 0:
        return fitted
    if held_out is None:
        held_out = held_out_probabilities(learner, rows, n_folds)
    return replace(fitted, power=calibrating_power(held_out, rows.levels, rows.gain, rows.weights))


def _depth(limit: int | None) -> str:
    return "any depth" if limit is None else f"depth {limit}"
