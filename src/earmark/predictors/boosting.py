r"""Gradient boosting of the proportional-odds model: its linear predictor becomes a sum of small trees.

The model is that of :mod:`earmark.predictors.ordinal_regression` with a function F in place of :math:`x\cdot\beta`,

.. math:: P(G \ge l_j \mid x) = \sigma(\alpha_j + F(x)), \qquad F(x) = \nu \sum_m t_m(x).

Every round [1]_ takes a Newton step on the intercepts, fits a regression tree to the slope of the log-likelihood at F,

.. math:: g_i = 1 - \sigma(\alpha_{y_i} + F_i) - \sigma(\alpha_{y_i + 1} + F_i), \qquad
          h_i = \sigma(1 - \sigma)\big|_{\alpha_{y_i} + F_i} + \sigma(1 - \sigma)\big|_{\alpha_{y_i + 1} + F_i},

gives every leaf the Newton step :math:`\sum g / \sum h` of its rows, and adds :math:`\nu` times that tree. With two
levels and the intercept left alone this is scikit-learn's ``GradientBoostingClassifier``.

References
----------
.. [1] J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics 29,
   1189-1232. For ordered levels: M. Schmid, T. Hothorn, K. O. Maloney, D. E. Weller, S. Potapov (2011). Geoadditive
   regression modeling of stream biological condition. Environmental and Ecological Statistics 18, 709-733.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from earmark.data.arrays import Floats, Ints
from earmark.predictors.ordinal_likelihood import cuts_and_gaps, null_intercepts, ordinal_objective
from earmark.predictors.ordinal_regression import DEFAULT_UNSEEN_COUNT
from earmark.predictors.trees import Trees, from_sklearn, joined


def boost(
    x: Floats,
    y: Ints,
    weights: Floats,
    *,
    n_levels: int,
    n_trees: int,
    max_depth: int,
    min_leaf: int,
    rate: float,
) -> tuple[Floats, Trees]:
    """Return the intercepts and the trees, whose values contain the learning rate.

    Parameters
    ----------
    x : ndarray of float, shape (n, features)
        NaN where a feature is missing.
    y : ndarray of int, shape (n,), 0..n_levels-1
    weights : ndarray of float, shape (n,)
    n_levels, n_trees, max_depth, min_leaf : int
    rate : float, 0..1
        The share of every Newton step that is taken.

    Returns
    -------
    intercepts : ndarray of float, shape (n_levels - 1,), strictly decreasing
    trees : Trees
        With one output, F.
    """
    from sklearn.tree import DecisionTreeRegressor

    counts = np.bincount(y, weights, minlength=n_levels)
    # As in the linear model, a level that nobody gave counts as a tenth of a row of average features.
    unseen = np.flatnonzero(counts == 0)
    padded_y = np.concatenate((y, unseen))
    padded_weights = np.concatenate((weights, np.full(unseen.size, DEFAULT_UNSEEN_COUNT)))
    intercepts = null_intercepts(np.where(counts == 0, DEFAULT_UNSEEN_COUNT, counts))
    f = np.zeros(len(y))
    grown = []
    for _ in range(n_trees):
        padded_f = np.concatenate((f, np.full(unseen.size, np.average(f, weights=weights))))
        intercepts = _step(intercepts, padded_f, padded_y, padded_weights, n_levels)
        slope, bend = slope_and_bend(intercepts, f, y)
        fitted = DecisionTreeRegressor(max_depth=max_depth, min_samples_leaf=min_leaf, random_state=0).fit(
            x, slope, sample_weight=weights
        )
        leaf = fitted.apply(x)
        size = fitted.tree_.node_count
        up, down = (np.bincount(leaf, weights * part, minlength=size) for part in (slope, bend))
        value = rate * up / np.where(down > 0, down, 1.0)
        grown.append(from_sklearn(fitted.tree_, value[:, np.newaxis]))
        f = f + value[leaf]
    return intercepts, joined(grown)


def slope_and_bend(intercepts: Floats, f: Floats, y: Ints) -> tuple[Floats, Floats]:
    """Return the first derivative of every row's log-likelihood by F, and minus the second."""
    cuts, _ = cuts_and_gaps(intercepts)
    reached, passed = expit(cuts[y] + f), expit(cuts[y + 1] + f)
    return 1 - reached - passed, reached * (1 - reached) + passed * (1 - passed)


def _step(intercepts: Floats, f: Floats, y: Ints, weights: Floats, n_levels: int) -> Floats:
    """Take a Newton step on the intercepts, shorter where it would not raise the likelihood or keep their order."""
    column = f[:, np.newaxis]

    def objective(cuts: Floats) -> tuple[float, Floats, Floats]:
        return ordinal_objective(np.append(cuts, 1.0), column, y, n_levels=n_levels, weights=weights)

    value, gradient, hessian = objective(intercepts)
    n_cuts = n_levels - 1
    step = np.linalg.solve(hessian[:n_cuts, :n_cuts], gradient[:n_cuts])
    for _ in range(30):
        tried = intercepts - step
        if np.all(np.diff(tried) < 0) and objective(tried)[0] <= value:
            return tried
        step = step / 2
    return intercepts
