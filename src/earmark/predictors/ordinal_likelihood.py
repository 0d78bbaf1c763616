r"""The likelihood of levels under the proportional-odds model, and its derivatives.

The model is that of :mod:`earmark.predictors.ordinal_regression`, in whose notation this is written.
With :math:`u = \alpha_y + x\cdot\beta` and :math:`v = \alpha_{y+1} + x\cdot\beta` for a row of level y (and
:math:`\alpha_0 = \infty`, :math:`\alpha_L = -\infty`) the likelihood of a row factors exactly,

.. math:: \sigma(u) - \sigma(v) = \sigma(u)\,\sigma(-v)\,(1 - e^{-(\alpha_y - \alpha_{y+1})}),

so its logarithm is a sum of three concave terms, none of which subtracts nearly equal numbers, however far out
in the tails, and the third of which depends on the level alone and keeps the intercepts in order like a barrier.
The rows are checked here as well: features are finite, levels are the integers 0..L-1, weights at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array

from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError

Objective: TypeAlias = tuple[float, Floats, Floats]

_CUTS_AROUND = np.array([[0], [1]])
_SIDE = np.array([[1.0], [-1.0]])


def ordinal_objective(
    parameters: Floats,
    features: Floats,
    levels: Ints,
    *,
    n_levels: int,
    ridge: float = 0.0,
    weights: Floats | None = None,
) -> Objective:
    r"""Penalised negative log-likelihood with its gradient and Hessian; convex.

    .. math:: -\sum_i w_i \log P(G = l_{y_i} \mid x_i) + \tfrac12\,\mathrm{ridge}\,\|\beta\|^2

    Parameters
    ----------
    parameters : float array, shape (L - 1 + f,)
        The intercepts, strictly decreasing, then the coefficients.
    features : float array, shape (n, f)
        Taken as they are: the penalty is on the coefficients of these features.
    levels : int array, shape (n,), values in 0..L-1
    n_levels : int
        L.
    ridge : float, at least 0
    weights : float array, shape (n,), optional
        How often every row counts; 1 without.

    Returns
    -------
    value : float
    gradient : float array, shape (L - 1 + f,)
    hessian : float array, shape (L - 1 + f, L - 1 + f)
        Symmetric; its block of the intercepts is tridiagonal, as a row touches only the two cuts of its level.
    """
    n_cuts, n_rows = n_levels - 1, len(levels)
    coefficients = parameters[n_cuts:]
    cuts, gaps = cuts_and_gaps(parameters[:n_cuts])
    w = np.ones(n_rows) if weights is None else weights
    # A row of level y lies between cuts y and y + 1: it has reached the one and has not passed the other.
    around = levels + _CUTS_AROUND
    log_rows, slope, bend = _log_logistic(_SIDE * (cuts[around] + features @ coefficients))
    slope *= _SIDE * w
    bend *= w
    counts = np.bincount(levels, w, minlength=n_levels).astype(np.float64, copy=False)
    penalty = 0.5 * ridge * float(coefficients @ coefficients)
    value = penalty - float((log_rows @ w).sum()) - float(counts @ np.log(-np.expm1(-gaps)))

    def by_cut(values: Floats) -> Floats:
        sums = np.bincount(around.ravel(), values.ravel(), minlength=n_levels + 1)
        return sums[1:-1].astype(np.float64, copy=False)

    def features_by_cut(bends: Floats, cut: Ints) -> Floats:
        at_cut = csc_array((bends, cut, np.arange(n_rows + 1)), shape=(n_levels + 1, n_rows))
        return np.asarray(at_cut @ features)[1:-1]

    # The derivative of log(1 - e^-gap) pushes the two cuts of a level apart; outer gaps are infinite, their push is 0.
    odds = np.exp(-gaps) / -np.expm1(-gaps)
    push, bend_of_push = counts * odds, counts * odds * (1 + odds)
    gradient = np.concatenate((-by_cut(slope) - np.diff(push), ridge * coefficients - slope.sum(axis=0) @ features))

    hessian = np.empty((len(parameters), len(parameters)))
    on_cuts = by_cut(bend) + bend_of_push[1:] + bend_of_push[:-1]
    between = -bend_of_push[1:-1]
    hessian[:n_cuts, :n_cuts] = np.diag(on_cuts) + np.diag(between, 1) + np.diag(between, -1)
    hessian[:n_cuts, n_cuts:] = features_by_cut(bend[0], around[0]) + features_by_cut(bend[1], around[1])
    hessian[n_cuts:, :n_cuts] = hessian[:n_cuts, n_cuts:].T
    hessian[n_cuts:, n_cuts:] = (features.T * bend.sum(axis=0)) @ features + ridge * np.eye(len(coefficients))
    return value, gradient, hessian


def cuts_and_gaps(intercepts: Floats) -> tuple[Floats, Floats]:
    """Add the outer cuts at infinity; the gap of a level is the distance between the cuts around it."""
    if not (np.isfinite(intercepts).all() and np.all(np.diff(intercepts) < 0)):
        raise ParameterError(f"intercepts have to be finite and strictly decreasing, got {intercepts.tolist()}")
    cuts = np.concatenate(([np.inf], intercepts, [-np.inf]))
    return cuts, cuts[:-1] - cuts[1:]


def null_intercepts(counts: Floats) -> Floats:
    """Log-odds of reaching every level by its frequency alone."""
    reached = np.cumsum(counts[::-1])[::-1][1:]
    return np.asarray(np.log(reached) - np.log(np.cumsum(counts)[:-1]), dtype=np.float64)


def _log_logistic(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Give log σ(z), its derivative σ(-z) and minus its second derivative σ(z) σ(-z), exact in both tails."""
    decay = np.exp(-np.abs(z))
    tail = decay / (1 + decay)
    return np.minimum(z, 0) - np.log1p(decay), np.where(z >= 0, tail, 1 - tail), tail / (1 + decay)


def checked_features(features: ArrayLike, names: Sequence[str] | None) -> Floats:
    """Features as a float array of shape (n, f), all finite; what is not is named."""
    x = np.asarray(features, dtype=np.float64)
    if x.ndim != 2:
        raise ParameterError(f"features are a table of rows × features, got an array of shape {x.shape}")
    if names is not None and len(names) != x.shape[1]:
        raise ParameterError(f"{len(names)} names for {x.shape[1]} columns of features")
    finite = np.isfinite(x)
    if not finite.all():
        column = int(np.flatnonzero(~finite.all(axis=0))[0])
        row = int(np.flatnonzero(~finite[:, column])[0])
        label = f"column {column}" if names is None else f"'{names[column]}'"
        raise ParameterError(
            f"feature {label} has {int((~finite[:, column]).sum())} values that are not finite numbers, "
            f"the first in row {row} ({x[row, column]:g}): leave these rows out or fill them in"
        )
    return x


def checked_levels(levels: ArrayLike, n_levels: int, n_rows: int) -> Ints:
    """Levels as integers of shape (n,), values in 0..L-1."""
    if n_levels < 2:
        raise ParameterError(f"a scale has two or more levels, got n_levels={n_levels}")
    y = np.asarray(levels)
    if y.shape != (n_rows,):
        raise ParameterError(f"one level per row of features: expected shape ({n_rows},), got {y.shape}")
    if not n_rows:
        raise ParameterError("a fit needs one or more rows, got none")
    if not np.issubdtype(y.dtype, np.integer):
        raise ParameterError(f"levels are the integers 0..{n_levels - 1}, got an array of {y.dtype}")
    outside = np.flatnonzero((y < 0) | (y >= n_levels))
    if outside.size:
        raise ParameterError(f"levels are the integers 0..{n_levels - 1}, got {y[outside[0]]} in row {outside[0]}")
    return y.astype(np.int64, copy=False)


def checked_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    """Weights as a float array of shape (n,), at least 0 and not all 0; 1 without any."""
    if weights is None:
        return np.ones(n_rows)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n_rows,):
        raise ParameterError(f"one weight per row of features: expected shape ({n_rows},), got {w.shape}")
    if not (np.isfinite(w).all() and np.all(w >= 0) and np.any(w > 0)):
        raise ParameterError("weights are finite, at least 0 and not all 0")
    return w
