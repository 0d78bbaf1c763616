r"""How large effects are: variances learnt from judgments, and how uncertain they remain.

The marginal likelihood of the observations under the model of :mod:`earmark.beliefs.effects` is normal with a
covariance :math:`\Sigma(\theta) = \sum_k \theta_k \Sigma_k`. With :math:`Q = \Sigma^{-1}` and
:math:`\alpha = Q (y - m)`, its logarithm has the gradient

.. math:: \frac{\partial \ell}{\partial \theta_k}
          = \tfrac12 \bigl(\alpha^T \Sigma_k \alpha - \mathrm{tr}(Q \Sigma_k)\bigr)

and the *average information* :math:`A_{kl} = \tfrac12\, \alpha^T \Sigma_k Q\, \Sigma_l\, \alpha`, a curvature that
needs no traces of products [1]_. Log-variances have a normal prior, and what is looked for is the most probable value:
Newton's method in the logarithms, with the step halved until things get better.

Few judgments leave variances uncertain, and an interval that takes them as known is too narrow. So they are drawn from
the normal distribution that fits the peak (Laplace), and whatever is estimated is averaged over the draws.

References
----------
.. [1] A. R. Gilmour, R. Thompson, B. R. Cullis (1995). Average information REML: an efficient algorithm for variance
   parameter estimation in linear mixed models. Biometrics 51(4), 1440-1450.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.beliefs.effects import EffectModel, Observations, observed_covariance
from earmark.data.arrays import Floats
from earmark.errors import NotConverged

_STEPS = 100
_ENOUGH = 1e-2
# So much more of a log-posterior is nothing anybody could tell from data.
_TOO_LITTLE = 1e-3
_LONGEST_STEP = 1.5
# The share of the gain promised by the slope that a step has to bring; an exact Newton step brings a half.
_FAIR_GAIN = 0.1
_WORTHLESS = 1e-9
# Draws of log-variances stay within this many units of the peak: beyond, the normal approximation means nothing.
_FARTHEST_DRAW = 4.0


@dataclass(frozen=True, eq=False)
class VariancePrior:
    """What is known of variances before anything is judged.

    Attributes
    ----------
    centre, spread : ndarray of float, shape (components,)
        Mean and standard deviation of every log-variance.
    """

    centre: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class FittedVariances:
    """The most probable log-variances and how uncertain they are.

    Attributes
    ----------
    peak : ndarray of float, shape (components,)
    covariance : ndarray of float, shape (components, components)
    """

    peak: Floats
    covariance: Floats

    @property
    def variances(self) -> Floats:
        """The most probable variances."""
        variances: Floats = np.exp(self.peak)
        return variances

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw variances, in pairs on opposite sides of the peak; shape (n, components), `n` even."""
        half = rng.standard_normal((n // 2, self.peak.size))
        root = np.linalg.cholesky(self.covariance + 1e-12 * np.eye(self.peak.size))
        away = np.clip(np.concatenate((half, -half)) @ root.T, -_FARTHEST_DRAW, _FARTHEST_DRAW)
        drawn: Floats = np.exp(self.peak + away)
        return drawn


def marginal_likelihood(model: EffectModel, observed: Observations, variances: Floats) -> tuple[float, Floats, Floats]:
    """Return the logarithm of the likelihood up to a constant, its gradient and the average information.

    Parameters
    ----------
    variances : ndarray of float, shape (components,), above 0

    Returns
    -------
    value : float
    gradient : ndarray of float, shape (components,)
    information : ndarray of float, shape (components, components)
    """
    n_components, n_shared = variances.size, model.shared.shape[1]
    shared_variance = variances[model.shared_component]
    residual = observed.value - model.prior_mean[observed.item]
    precision = np.diag(1.0 / shared_variance)
    told, squares, log_determinant = np.zeros(n_shared), 0.0, float(np.log(shared_variance).sum())
    solved = []
    for query, rows in observed.of_queries(model):
        covariance = observed_covariance(model, observed, query, rows, variances[None])[3][0]
        root = np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(covariance)
        shared, left = observed.shared[rows], residual[rows]
        with_shared, explained = inverse @ shared, inverse @ left
        precision += shared.T @ with_shared
        told += shared.T @ explained
        squares += float(left @ explained)
        log_determinant += 2.0 * float(np.log(np.diagonal(root)).sum())
        solved.append((query, rows, inverse, with_shared, explained))
    spread = np.linalg.inv(precision)
    effects = spread @ told
    log_determinant += float(np.linalg.slogdet(precision)[1])
    value = -0.5 * (log_determinant + squares - float(told @ effects))

    # What the shared effects themselves say: Z^T alpha is g / lambda, Z^T Q Z is 1 / lambda - P / lambda^2.
    weight = effects / shared_variance
    shared_gradient = weight**2 - 1.0 / shared_variance + np.diagonal(spread) / shared_variance**2
    gradient: Floats = np.bincount(model.shared_component, shared_gradient, minlength=n_components).astype(np.float64)
    by_component = np.zeros((n_shared, n_components))
    by_component[np.arange(n_shared), model.shared_component] = weight
    crossed, squared = np.zeros((n_shared, n_components)), np.zeros((n_components, n_components))
    for query, rows, inverse, with_shared, explained in solved:
        alpha = explained - with_shared @ effects
        left_over = inverse - with_shared @ spread @ with_shared.T
        item = observed.item[rows]
        design = model.local[query][item - model.offsets[query]]
        of = model.local_component[query]
        pull = design.T @ alpha
        gradient += np.bincount(of, pull**2 - np.einsum("oe,oe->e", design, left_over @ design), minlength=n_components)
        moved = observed.shared[rows] @ by_component
        moved += _sum_by(design * pull, of, n_components)
        own, extra = model.own[item], observed.extra[rows]
        if observed.is_exact:
            gradient += own.T @ (alpha**2 - np.diagonal(left_over))
            moved += own * alpha[:, None]
        else:
            same = (item[:, None] == item).astype(float)
            gradient += own.T @ (alpha * (same @ alpha) - np.einsum("op,po->o", left_over, same))
            gradient += extra.T @ (alpha**2 - np.diagonal(left_over))
            moved += own * (same @ alpha)[:, None] + extra * alpha[:, None]
        solved_moved = inverse @ moved
        crossed += observed.shared[rows].T @ solved_moved
        squared += moved.T @ solved_moved
    information = 0.5 * (squared - crossed.T @ spread @ crossed)
    return value, 0.5 * gradient, information


def fit_variances(
    model: EffectModel, observed: Observations, prior: VariancePrior, *, start: Floats | None = None
) -> FittedVariances:
    """Find the most probable variances.

    Parameters
    ----------
    model : EffectModel
    observed : Observations
        Without any, the prior is the answer.
    prior : VariancePrior
    start : ndarray of float, shape (components,), optional
        Log-variances to begin with, as from an earlier fit.

    Raises
    ------
    NotConverged
        If the likelihood has no peak that can be found.
    """
    confidence = 1.0 / prior.spread**2
    if not observed.item.size:
        return FittedVariances(prior.centre, np.diag(prior.spread**2))

    def posterior(at: Floats) -> tuple[float, Floats, Floats]:
        variances, away = np.exp(at), at - prior.centre
        try:
            value, gradient, information = marginal_likelihood(model, observed, variances)
        except np.linalg.LinAlgError:
            # Variances too small, or too far apart, for arithmetic: a step that went too far.
            return -np.inf, np.zeros_like(at), np.diag(confidence)
        return (
            value - 0.5 * float(away**2 @ confidence),
            variances * gradient - away * confidence,
            information * np.outer(variances, variances) + np.diag(confidence),
        )

    at = prior.centre if start is None else start
    value, gradient, curvature = posterior(at)
    for _ in range(_STEPS):
        step = np.linalg.solve(curvature, gradient)
        step = step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _WORTHLESS))
        if np.abs(step).max() < _ENOUGH:
            return _at_peak(at, curvature)
        promised = float(gradient @ step)
        for halvings in range(12):
            tried = at + step / 2**halvings
            found = posterior(tried)
            # Any gain is not enough: steps that overshoot the peak gain next to nothing, again and again.
            if np.isfinite(found[0]) and found[0] > value + _FAIR_GAIN * promised / 2**halvings:
                break
        else:
            # No step along an ascent direction gains anything that arithmetic can see: this is the peak.
            return _at_peak(at, curvature)
        gained = found[0] - value
        at, (value, gradient, curvature) = tried, found
        if gained < _TOO_LITTLE:
            return _at_peak(at, curvature)
    raise NotConverged(
        f"the variances of {', '.join(model.components)} did not settle in {_STEPS} steps over "
        f"{observed.item.size} judgments: the beliefs from before these judgments still hold"
    )


def _at_peak(at: Floats, curvature: Floats) -> FittedVariances:
    covariance = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    return FittedVariances(at, (covariance + covariance.T) / 2)


def _sum_by(columns: Floats, of: np.ndarray[tuple[int], np.dtype[np.int64]], n: int) -> Floats:
    """Add up columns of the same component, shape (rows, n)."""
    indicator = np.zeros((of.size, n))
    indicator[np.arange(of.size), of] = 1.0
    total: Floats = columns @ indicator
    return total
