r"""Variance components: the variances of effects estimated from judgments, with their uncertainty.

The marginal likelihood of the observations under the model of :mod:`earmark.beliefs.effects` is normal with a
covariance :math:`\Sigma(\theta) = \sum_k \theta_k \Sigma_k`. With :math:`Q = \Sigma^{-1}` and
:math:`\alpha = Q (y - m)`, its logarithm has the gradient

.. math:: \frac{\partial \ell}{\partial \theta_k}
          = \tfrac12 \bigl(\alpha^T \Sigma_k \alpha - \mathrm{tr}(Q \Sigma_k)\bigr)

and the *average information* :math:`A_{kl} = \tfrac12\, \alpha^T \Sigma_k Q\, \Sigma_l\, \alpha`, a curvature that
needs no traces of products [1]_. Log-variances have a normal prior, and the posterior mode is found by Newton's method
in the logarithms, with the step halved until the log-posterior increases.

With few judgments the variances are uncertain, and an interval that takes them as known is too narrow. So they are
drawn from the Laplace approximation of their posterior, and estimates are averaged over the draws.

References
----------
.. [1] A. R. Gilmour, R. Thompson, B. R. Cullis (1995). Average information REML: an efficient algorithm for variance
   parameter estimation in linear mixed models. Biometrics 51(4), 1440-1450.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.beliefs.effects import Contrasts, EffectModel, Observations
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged

_STEPS = 100
_ENOUGH = 1e-2
# Smaller increases of the log-posterior are negligible.
_TOO_LITTLE = 1e-3
_LONGEST_STEP = 1.5
# The share of the gain promised by the slope that a step has to bring; an exact Newton step brings a half.
_FAIR_GAIN = 0.1
_WORTHLESS = 1e-9
# Draws of log-variances stay within this many units of the peak: beyond, the normal approximation means nothing.
_FARTHEST_DRAW = 4.0
# Queries with up to so many observations are put together: with fewer, calls take longer than arithmetic.
_SMALL = 4


@dataclass(frozen=True, eq=False)
class VariancePrior:
    """Normal prior of the log-variances of the components.

    Attributes
    ----------
    centre, sd : ndarray of float, shape (components,)
        Mean and standard deviation of every log-variance.
    """

    centre: Floats
    sd: Floats


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
        return np.asarray(np.exp(self.peak))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw variances, in pairs on opposite sides of the peak; shape (n, components), `n` even."""
        half = rng.standard_normal((n // 2, self.peak.size))
        root = np.linalg.cholesky(self.covariance + 1e-12 * np.eye(self.peak.size))
        away = np.clip(np.concatenate((half, -half)) @ root.T, -_FARTHEST_DRAW, _FARTHEST_DRAW)
        return np.asarray(np.exp(self.peak + away))


@dataclass(frozen=True, eq=False)
class _Stack:
    """Observations of queries with about as many of them, as arrays that are padded to the largest query.

    Padded rows have no effects and a variance of 1, so they add nothing to any sum.

    Attributes
    ----------
    residual : ndarray of float, shape (queries, rows)
        Observed values minus the prior mean.
    shared : ndarray of float, shape (queries, rows, shared effects)
    design : ndarray of float, shape (queries, rows, local effects)
    component : ndarray of int, shape (queries, local effects)
        Of every local effect.
    indicator : ndarray of float, shape (queries, local effects, components)
        1 where the effect is of the component.
    own : ndarray of float, shape (queries, rows, components)
        How often every component's variance goes into what is an observation's own: the effect of the item, and errors.
    padding : ndarray of float, shape (queries, rows)
        1 in padded rows.
    """

    residual: Floats
    shared: Floats
    design: Floats
    component: Ints
    indicator: Floats
    own: Floats
    padding: Floats

    @classmethod
    def of(cls, model: EffectModel, observed: Observations, queries: list[tuple[int, slice]]) -> _Stack:
        sizes = np.array([rows.stop - rows.start for _, rows in queries])
        n, width, parts = len(queries), int(sizes.max()), len(model.components)
        row = np.concatenate([np.arange(rows.start, rows.stop) for _, rows in queries])
        at = np.repeat(np.arange(n), sizes), np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)

        def padded(values: Floats) -> Floats:
            table = np.zeros((n, width, *values.shape[1:]))
            table[at] = values
            return table

        item = observed.item[row]
        local = max(model.local[query].shape[1] for query, _ in queries)
        design, component = np.zeros((n, width, local)), np.zeros((n, local), dtype=np.int64)
        for place, (query, rows) in enumerate(queries):
            here = model.local[query][observed.item[rows] - model.offsets[query]]
            design[place, : sizes[place], : here.shape[1]] = here
            component[place, : here.shape[1]] = model.local_component[query]
        return cls(
            residual=padded(observed.value[row] - model.prior_mean[item]),
            shared=padded(observed.shared[row]),
            design=design,
            component=component,
            indicator=(component[:, :, None] == np.arange(parts)).astype(np.float64),
            own=padded(model.own[item] + observed.extra[row]),
            padding=1.0 - padded(np.ones(row.size)),
        )

    @classmethod
    def of_contrasts(cls, contrasts: Contrasts) -> _Stack:
        """Take every contrast between answers as a query of its own, without local effects."""
        n, parts = contrasts.extra.shape
        return cls(
            residual=contrasts.value[:, None],
            shared=contrasts.shared[:, None],
            design=np.zeros((n, 1, 0)),
            component=np.zeros((n, 0), dtype=np.int64),
            indicator=np.zeros((n, 0, parts)),
            own=contrasts.extra[:, None],
            padding=np.zeros((n, 1)),
        )

    def covariance(self, variances: Floats) -> Floats:
        """Return the covariance of every query's observations given the shared effects, shape (queries, rows, rows)."""
        local: Floats = (self.design * variances[self.component][:, None, :]) @ self.design.transpose(0, 2, 1)
        np.einsum("qoo->qo", local)[:] += self.own @ variances + self.padding
        return local


def stacked(model: EffectModel, observed: Observations) -> list[_Stack]:
    """Put queries with about as many observations together: many small matrices are handled faster at once."""
    groups: dict[int, list[tuple[int, slice]]] = {}
    for query, rows in observed.of_queries(model):
        size = max(rows.stop - rows.start, _SMALL)
        groups.setdefault((size - 1).bit_length(), []).append((query, rows))
    stacks = [_Stack.of(model, observed, queries) for _, queries in sorted(groups.items())]
    return stacks if observed.contrasts is None else [*stacks, _Stack.of_contrasts(observed.contrasts)]


def shared_effects(model: EffectModel, observed: Observations, variances: Floats) -> Floats:
    """Return the posterior mean of the shared effects, shape (shared effects,).

    Parameters
    ----------
    model : EffectModel
    observed : Observations
    variances : ndarray of float, shape (components,), above 0
    """
    precision, told = np.diag(1.0 / variances[model.shared_component]), np.zeros(model.shared.shape[1])
    for stack in stacked(model, observed):
        right = np.concatenate((stack.residual[:, :, None], stack.shared), axis=2)
        found: Floats = np.linalg.solve(stack.covariance(variances), right).astype(np.float64, copy=False)
        solved = _rows(found)
        told += _rows(stack.shared).T @ solved[:, 0]
        precision += _rows(stack.shared).T @ solved[:, 1:]
    return np.asarray(np.linalg.solve(precision, told))


def marginal_likelihood(
    model: EffectModel, observed: Observations, variances: Floats, *, stacks: list[_Stack] | None = None
) -> tuple[float, Floats, Floats]:
    """Return the logarithm of the likelihood up to a constant, its gradient and the average information.

    Parameters
    ----------
    variances : ndarray of float, shape (components,), above 0
    stacks : list, optional
        What :func:`stacked` returns, where it is known already.

    Returns
    -------
    value : float
    gradient : ndarray of float, shape (components,)
    information : ndarray of float, shape (components, components)
    """
    n_components, n_shared = variances.size, model.shared.shape[1]
    shared_variance = variances[model.shared_component]
    precision = np.diag(1.0 / shared_variance)
    told, squares, log_determinant = np.zeros(n_shared), 0.0, float(np.log(shared_variance).sum())
    solved = []
    for stack in stacked(model, observed) if stacks is None else stacks:
        covariance = stack.covariance(variances)
        root = np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(covariance)
        with_shared = inverse @ stack.shared
        explained = (inverse @ stack.residual[:, :, None])[:, :, 0]
        precision += _rows(stack.shared).T @ _rows(with_shared)
        told += explained.ravel() @ _rows(stack.shared)
        squares += float(np.sum(stack.residual * explained))
        log_determinant += 2.0 * float(np.log(np.einsum("qoo->qo", root)).sum())
        solved.append((stack, inverse, with_shared, explained))
    shared_covariance = np.linalg.inv(precision)
    effects = shared_covariance @ told
    log_determinant += float(np.linalg.slogdet(precision)[1])
    value = -0.5 * (log_determinant + squares - float(told @ effects))

    # What the shared effects themselves say: Z^T alpha is g / lambda, Z^T Q Z is 1 / lambda - P / lambda^2.
    weight = effects / shared_variance
    shared_gradient = weight**2 - 1.0 / shared_variance + np.diagonal(shared_covariance) / shared_variance**2
    gradient: Floats = np.bincount(model.shared_component, shared_gradient, minlength=n_components).astype(np.float64)
    by_component = np.zeros((n_shared, n_components))
    by_component[np.arange(n_shared), model.shared_component] = weight
    crossed, squared = np.zeros((n_shared, n_components)), np.zeros((n_components, n_components))
    for stack, inverse, with_shared, explained in solved:
        alpha = explained - with_shared @ effects
        left_over = inverse - (with_shared @ shared_covariance) @ with_shared.transpose(0, 2, 1)
        pull = (alpha[:, None, :] @ stack.design)[:, 0]
        local = pull**2 - np.einsum("qoe,qoe->qe", stack.design, left_over @ stack.design)
        gradient += np.bincount(stack.component.ravel(), local.ravel(), minlength=n_components)
        own = alpha**2 - np.einsum("qoo->qo", left_over)
        gradient += own.ravel() @ _rows(stack.own)
        moved = stack.shared @ by_component + (stack.design * pull[:, None, :]) @ stack.indicator
        moved += stack.own * alpha[:, :, None]
        solved_moved = inverse @ moved
        crossed += _rows(stack.shared).T @ _rows(solved_moved)
        squared += _rows(moved).T @ _rows(solved_moved)
    information = 0.5 * (squared - crossed.T @ shared_covariance @ crossed)
    return value, 0.5 * gradient, information


def _rows(of_queries: Floats) -> Floats:
    """Put the rows of all queries one below the other."""
    return of_queries.reshape(-1, of_queries.shape[-1])


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
    confidence = 1.0 / prior.sd**2
    stacks = stacked(model, observed)
    if not observed.item.size:
        return FittedVariances(prior.centre, np.diag(prior.sd**2))

    def posterior(at: Floats) -> tuple[float, Floats, Floats]:
        variances, away = np.exp(at), at - prior.centre
        try:
            value, gradient, information = marginal_likelihood(model, observed, variances, stacks=stacks)
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
