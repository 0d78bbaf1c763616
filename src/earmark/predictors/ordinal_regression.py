r"""Proportional-odds regression: the probability of every level of a scale, given features.

The levels of a scale, l_0 < l_1 < ... < l_(L-1), have an order but no distances. The proportional-odds model
[1]_ respects that: one straight line per cut between levels, all with the same slopes ([2]_, Eqs. 9 and 10),

.. math:: \log\frac{P(G \ge l_j \mid x)}{P(G < l_j \mid x)} = \alpha_j + x\cdot\beta,\quad j = 1..L-1,\qquad
          P(G = l_j \mid x) = P(G \ge l_j \mid x) - P(G \ge l_{j+1} \mid x),

with :math:`\alpha_1 > \alpha_2 > \dots`, so that every probability is positive. Levels are the integers
0..L-1 here; what gain a level is worth is none of this module's business.

How it is fitted
----------------
The logarithm of the likelihood is concave (:mod:`earmark.predictors.ordinal_likelihood` says why), so that
Newton's method with step-halving finds the one optimum. Two small priors make it exist always:

* *ridge*: ``ridge / 2 * sum(b**2)`` is taken from the log-likelihood, b being the coefficients of the
  standardised features. This is a normal prior with standard deviation ``1 / sqrt(ridge)`` (100 by default: no
  visible effect), which keeps coefficients finite where features separate the levels perfectly and makes them
  unique where features are combinations of each other.
* *unseen levels*: every level that no row has gets a pseudo-row at the mean of the features that counts
  `unseen_count` of a row. Over the data it is then predicted with a probability of about ``unseen_count / n`` and
  not zero; as all levels share their slopes, an unseen top level becomes likelier the higher a row is predicted.
  Where all levels are seen this prior is not there at all.

References
----------
.. [1] P. McCullagh (1980). Regression models for ordinal data. J. R. Stat. Soc. B 42, 109-142.
.. [2] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4.
.. [3] D. McFadden (1974). Conditional logit analysis of qualitative choice behavior. Frontiers in Econometrics.
.. [4] N. J. D. Nagelkerke (1991). A note on a general definition of the coefficient of determination.
   Biometrika 78, 691-692.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr

from earmark.data.arrays import Floats
from earmark.errors import NotConverged, ParameterError
from earmark.predictors.ordinal_likelihood import (
    Objective,
    checked_features,
    checked_levels,
    checked_weights,
    cuts_and_gaps,
    null_intercepts,
    ordinal_objective,
)

DEFAULT_RIDGE = 1e-4
DEFAULT_UNSEEN_COUNT = 0.1

# What the sum of a log-likelihood may wobble by, relative to its size, without being worse.
_ROUNDING = 1e-13
_SMALLEST_STEP = 2.0**-40
_SINGULAR = 1e-12
# A level with a smaller share of the weight counts as unseen: its two cuts would be one in double precision.
_RAREST = 1e-10


@dataclass(frozen=True, eq=False)
class OrdinalModel:
    """A fitted proportional-odds model, on the scale the features came in.

    Attributes
    ----------
    intercepts : float array, shape (L - 1,)
        alpha_1 > alpha_2 > ..., the log-odds of reaching level j where all features are 0.
    coefficients : float array, shape (f,)
        beta; exactly 0 for a feature that is constant in the data.
    intercept_errors, coefficient_errors : float array, shapes (L - 1,) and (f,)
        Standard errors, from the inverse Hessian at the optimum; infinite for a constant feature.
    log_likelihood, null_log_likelihood : float
        Of the rows (without the two priors), by this model and by the frequencies of the levels alone.
    n_rows : int
        Rows fitted.
    total_weight : float
        Their weights, summed: what counts as the size of the sample. Without weights the same as `n_rows`.
    iterations : int
        Newton steps taken.
    converged : bool
        Whether the last of them was as small as asked. True of all that `fit_ordinal` returns.
    """

    intercepts: Floats
    coefficients: Floats
    intercept_errors: Floats
    coefficient_errors: Floats
    log_likelihood: float
    null_log_likelihood: float
    n_rows: int
    total_weight: float
    iterations: int
    converged: bool

    @property
    def n_levels(self) -> int:
        """L, the levels of the scale."""
        return len(self.intercepts) + 1

    @property
    def p_values(self) -> Floats:
        """Two-sided p-value of every coefficient by Wald's test; 1 for a constant feature."""
        return np.asarray(2 * ndtr(-np.abs(self.coefficients / self.coefficient_errors)), dtype=np.float64)

    @property
    def aic(self) -> float:
        """Akaike's criterion, ``2 k - 2 log_likelihood``, k counting intercepts and coefficients not constant."""
        free = len(self.intercepts) + int(np.isfinite(self.coefficient_errors).sum())
        return 2 * free - 2 * self.log_likelihood

    @property
    def mcfadden_r2(self) -> float:
        """McFadden's R² [3]_, ``1 - log_likelihood / null_log_likelihood``; 0 where only one level was seen."""
        if self.null_log_likelihood == 0:
            return 0.0
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def nagelkerke_r2(self) -> float:
        """Nagelkerke's R² [4]_, the one that R's ``rms::lrm`` prints; 0 where only one level was seen.

        ``(1 - exp(-2 (ll - ll0) / n)) / (1 - exp(2 ll0 / n))``, n being `total_weight`.
        The R² of .34 to .92 that [2]_ prints is not named there; McFadden's would be far lower.
        """
        if self.null_log_likelihood == 0:
            return 0.0
        gained = -math.expm1(2 * (self.null_log_likelihood - self.log_likelihood) / self.total_weight)
        return gained / -math.expm1(2 * self.null_log_likelihood / self.total_weight)


Coefficients: TypeAlias = OrdinalModel | tuple[ArrayLike, ArrayLike]


def predict_levels(model: Coefficients, features: ArrayLike) -> Floats:
    """Probability of every level.

    Parameters
    ----------
    model : OrdinalModel or (intercepts, coefficients)
        Intercepts strictly decreasing, shape (L - 1,); coefficients of shape (f,).
    features : float array, shape (n, f)

    Returns
    -------
    float array, shape (n, L), each row in [0, 1] and summing to 1
        P(G = l_j | x). Accurate to the last digits in both tails, since nothing is subtracted.

    Examples
    --------
    >>> predict_levels(([0.0], [1.0]), [[0.0], [1.0]]).round(4).tolist()
    [[0.5, 0.5], [0.2689, 0.7311]]
    """
    intercepts, coefficients = _coefficients_of(model)
    x = checked_features(features, None)
    if x.shape[1] != len(coefficients):
        raise ParameterError(f"the model has {len(coefficients)} coefficients, the features {x.shape[1]} columns")
    cuts, gaps = cuts_and_gaps(intercepts)
    log_odds = cuts + (x @ coefficients)[:, np.newaxis]
    return np.asarray(expit(log_odds[:, :-1]) * expit(-log_odds[:, 1:]) * -np.expm1(-gaps), dtype=np.float64)


def fit_ordinal(
    features: ArrayLike,
    levels: ArrayLike,
    *,
    n_levels: int,
    ridge: float = DEFAULT_RIDGE,
    unseen_count: float = DEFAULT_UNSEEN_COUNT,
    weights: ArrayLike | None = None,
    start: Coefficients | None = None,
    names: Sequence[str] | None = None,
    max_iterations: int = 100,
    tolerance: float = 1e-9,
) -> OrdinalModel:
    """Fit a proportional-odds model by maximum likelihood, with the two priors described above.

    Parameters
    ----------
    features : float array, shape (n, f)
        Any units: they are standardised inside. f may be 0, which leaves the frequencies of the levels.
    levels : int array, shape (n,), values in 0..n_levels-1
    n_levels : int, at least 2
        L. Levels that no row has are part of the scale all the same.
    ridge : float, at least 0
        Precision of the normal prior on the coefficients of the standardised features.
    unseen_count : float, above 0
        How many rows a level counts that no row has.
    weights : float array, shape (n,), at least 0, optional
        How often every row counts: a weight of 2 is the row twice.
    start : OrdinalModel or (intercepts, coefficients), optional
        Where to begin, for example the last fit. The optimum is the same from everywhere.
    names : sequence of str, optional
        Names of the features, for messages.
    max_iterations : int
    tolerance : float
        The last step, in standardised units, is at most this times (1 + the largest parameter).

    Returns
    -------
    OrdinalModel

    Raises
    ------
    ParameterError
        If an argument makes no sense; a feature that is not finite is named.
    NotConverged
        If the optimum was not reached, which takes ``ridge=0`` or very few iterations.

    Examples
    --------
    >>> model = fit_ordinal([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 2], n_levels=3)
    >>> bool(model.coefficients[0] > 0), model.n_levels
    (True, 3)
    """
    x = checked_features(features, names)
    y = checked_levels(levels, n_levels, len(x))
    w = checked_weights(weights, len(x))
    if not (math.isfinite(ridge) and ridge >= 0):
        raise ParameterError(f"ridge is a number of at least 0, got {ridge:g}")
    if not (math.isfinite(unseen_count) and unseen_count > 0):
        raise ParameterError(f"unseen_count is a number above 0, got {unseen_count:g}")

    centre, spread = _standards(x, w)
    varying = spread > 0
    standard = (x[:, varying] - centre[varying]) / spread[varying]
    counts = np.bincount(y, w, minlength=n_levels).astype(np.float64, copy=False)
    least = _RAREST * counts.sum()
    unseen = np.flatnonzero(counts <= least)
    padded = np.concatenate((standard, np.zeros((len(unseen), standard.shape[1]))))
    padded_levels = np.concatenate((y, unseen))
    padded_weights = np.concatenate((w, np.full(len(unseen), max(unseen_count, least))))

    def objective(parameters: Floats) -> Objective:
        return ordinal_objective(
            parameters, padded, padded_levels, n_levels=n_levels, ridge=ridge, weights=padded_weights
        )

    if start is None:
        filled = np.bincount(padded_levels, padded_weights).astype(np.float64, copy=False)
        first = np.concatenate((null_intercepts(filled), np.zeros(int(varying.sum()))))
    else:
        first = _standardised_start(start, n_levels, centre, spread)
    parameters, hessian, iterations = _newton(
        objective, first, n_levels - 1, ridge=ridge, max_iterations=max_iterations, tolerance=tolerance
    )

    log_likelihood = -ordinal_objective(parameters, standard, y, n_levels=n_levels, weights=w)[0]
    seen = counts[counts > 0]
    to_original = _destandardisation(centre, spread, n_levels - 1)
    estimates = to_original @ parameters
    errors = np.sqrt(np.einsum("ij,jk,ik->i", to_original, _inverse(hessian, ridge), to_original))
    errors[n_levels - 1 :][~varying] = np.inf
    return OrdinalModel(
        intercepts=estimates[: n_levels - 1],
        coefficients=estimates[n_levels - 1 :],
        intercept_errors=errors[: n_levels - 1],
        coefficient_errors=errors[n_levels - 1 :],
        log_likelihood=log_likelihood,
        null_log_likelihood=float(seen @ np.log(seen / seen.sum())),
        n_rows=len(x),
        total_weight=float(seen.sum()),
        iterations=iterations,
        converged=True,
    )


def _standards(x: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of every column; the deviation is exactly 0 where it is constant."""
    counted = x[w > 0]
    low, high = counted.min(axis=0), counted.max(axis=0)
    width = high - low
    limits = np.finfo(np.float64)
    # What varies by rounding errors, or by so little that its inverse overflows, counts as constant.
    constant = (width <= 8 * limits.eps * np.maximum(np.abs(low), np.abs(high))) | (width < 8 * limits.tiny)
    # In units of the width, squares neither overflow nor vanish.
    unit = np.where(constant, 1.0, width)
    relative = (x - low) / unit
    mean = w @ relative / w.sum()
    spread = unit * np.sqrt(w @ np.square(relative - mean) / w.sum())
    return np.where(constant, low, low + unit * mean), np.where(constant, 0.0, spread)


def _destandardisation(centre: Floats, spread: Floats, n_cuts: int) -> Floats:
    """Matrix from the parameters of the standardised features, constant ones left out, to the original ones."""
    varying = np.flatnonzero(spread > 0)
    matrix = np.zeros((n_cuts + len(spread), n_cuts + len(varying)))
    matrix[:n_cuts, :n_cuts] = np.eye(n_cuts)
    matrix[:n_cuts, n_cuts:] = -centre[varying] / spread[varying]
    matrix[n_cuts + varying, n_cuts + np.arange(len(varying))] = 1 / spread[varying]
    return matrix


def _standardised_start(start: Coefficients, n_levels: int, centre: Floats, spread: Floats) -> Floats:
    intercepts, coefficients = _coefficients_of(start)
    if len(intercepts) != n_levels - 1 or len(coefficients) != len(centre):
        raise ParameterError(
            f"a start for {n_levels} levels and {len(centre)} features has {n_levels - 1} intercepts and "
            f"{len(centre)} coefficients, got {len(intercepts)} and {len(coefficients)}"
        )
    varying = spread > 0
    return np.concatenate((intercepts + coefficients @ centre, (coefficients * spread)[varying]))


def _newton(
    objective: Callable[[Floats], Objective],
    start: Floats,
    n_cuts: int,
    *,
    ridge: float,
    max_iterations: int,
    tolerance: float,
) -> tuple[Floats, Floats, int]:
    """Minimise; steps are halved until they gain, and never so long that two intercepts would meet."""
    parameters = start
    value, gradient, hessian = objective(parameters)
    size = math.inf
    for iteration in range(1, max_iterations + 1):
        step = _newton_step(gradient, hessian, ridge)
        expected_gain = -float(gradient @ step)
        size = float(np.abs(step).max())
        share = _longest_share(-np.diff(parameters[:n_cuts]), -np.diff(step[:n_cuts]))
        slack = _ROUNDING * (1 + abs(value))
        while True:
            trial = objective(parameters + share * step)
            if trial[0] <= value - 1e-4 * share * expected_gain + slack:
                break
            share /= 2
            if share < _SMALLEST_STEP:
                raise _unsettled(iteration, size, ridge)
        settled = size <= tolerance * (1 + np.abs(parameters).max())
        # Strongly convex with a ridge: a gain lost in rounding is then as good as it gets. Without one it may also
        # mean that the levels are separated and the coefficients on their way to infinity.
        exhausted = ridge > 0 and expected_gain <= slack / 100
        parameters = parameters + share * step
        value, gradient, hessian = trial
        if share == 1 and (settled or exhausted):
            return parameters, hessian, iteration
    raise _unsettled(max_iterations, size, ridge)


def _longest_share(gaps: Floats, changes: Floats) -> float:
    """Share of a step, at most 1, that leaves every gap between intercepts a hundredth of its width."""
    closing = changes < 0
    return float(min(1.0, 0.99 * np.min(gaps[closing] / -changes[closing], initial=np.inf)))


def _newton_step(gradient: Floats, hessian: Floats, ridge: float) -> Floats:
    scale, scaled = _unit_diagonal(hessian, ridge)
    try:
        np.linalg.cholesky(scaled)
        return np.asarray(np.linalg.solve(scaled, -gradient / scale) / scale)
    except np.linalg.LinAlgError:
        raise _not_unique(ridge) from None


def _inverse(hessian: Floats, ridge: float) -> Floats:
    scale, scaled = _unit_diagonal(hessian, ridge)
    values, vectors = np.linalg.eigh(scaled)
    if values[0] < _SINGULAR:
        raise _not_unique(ridge)
    return np.asarray((vectors / values) @ vectors.T / np.outer(scale, scale))


def _unit_diagonal(hessian: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Scale rows and columns: a rare level bends the objective far less than a common one."""
    diagonal = np.diag(hessian)
    if not np.all(diagonal > 0):
        raise _not_unique(ridge)
    scale = np.sqrt(diagonal)
    return scale, hessian / np.outer(scale, scale)


def _unsettled(iterations: int, size: float, ridge: float) -> NotConverged:
    return NotConverged(
        f"the ordinal regression did not settle in {iterations} iterations (last step {size:.1e}): raise "
        f"max_iterations, or ridge (now {ridge:g}) where the features separate the levels perfectly"
    )


def _not_unique(ridge: float) -> NotConverged:
    return NotConverged(
        "the ordinal regression has no single solution, as some features are combinations of others or separate "
        f"the levels perfectly: leave features out or raise ridge (now {ridge:g})"
    )


def _coefficients_of(model: Coefficients) -> tuple[Floats, Floats]:
    pair = (model.intercepts, model.coefficients) if isinstance(model, OrdinalModel) else model
    intercepts, coefficients = (np.asarray(part, dtype=np.float64) for part in pair)
    if intercepts.ndim != 1 or coefficients.ndim != 1 or not len(intercepts):
        raise ParameterError(
            "a model is a list of one or more intercepts and a list of coefficients, "
            f"got shapes {intercepts.shape} and {coefficients.shape}"
        )
    if not np.isfinite(coefficients).all():
        raise ParameterError(f"coefficients have to be finite, got {coefficients.tolist()}")
    return intercepts, coefficients
