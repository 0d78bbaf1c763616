"""The marginal posterior density of how assessors grade, its gradient and its information.

The model, its priors and its symbols are those of :mod:`earmark.crowd.assessor_effects`; the qualities of items are
integrated out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from earmark.data.arrays import Floats, Ints

# Standard deviations of priors, in units of the standard deviation of all answers where that is a unit.
_BIAS, _SCALE_USE, _NOISE = 0.5, 0.5, 1.0
# Centres and standard deviations of the priors of log τ² and of ℓ: they only keep both from running away.
_WEAK = (float(np.log(0.5)), 2.0), (float(np.log(0.5)), 0.7)
# A product of sparse matrices with a larger share of entries is faster when they are dense.
_DENSE = 0.1


@dataclass(frozen=True, eq=False)
class Parameters:
    """Views of a vector of parameters: biases, scale uses, logs of noise variances, μ, log τ² and ℓ."""

    vector: Floats
    size: int

    @property
    def bias(self) -> Floats:
        """How much too high every assessor answers."""
        return self.vector[: self.size]

    @property
    def scale_use(self) -> Floats:
        """How much of the scale every assessor uses."""
        return self.vector[self.size : 2 * self.size]

    @property
    def log_noise(self) -> Floats:
        """The logarithm of the variance of every assessor's noise."""
        return self.vector[2 * self.size : 3 * self.size]

    @property
    def mean(self) -> float:
        """The mean answer, μ."""
        return float(self.vector[-3])

    @property
    def log_spread(self) -> float:
        """The logarithm of the variance of qualities, log τ²."""
        return float(self.vector[-2])

    @property
    def usual_noise(self) -> float:
        """The logarithm of the variance of a usual assessor's noise, ℓ."""
        return float(self.vector[-1])


@dataclass(frozen=True, eq=False)
class Expected:
    """What is expected of the qualities of items, given the parameters: one row per answer or per item."""

    weight: Floats
    slope: Floats
    mean: Floats
    variance: Floats
    residual: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class MarginalPosterior:
    """The density that is maximised, of answers in units of their own standard deviation.

    Parameters
    ----------
    item, assessor : ndarray of int, shape (answers,)
    answer : ndarray of float, shape (answers,)
        With mean 0 and variance 1.
    n_items, n_assessors : int
    precise : float
        The least error of an answer.
    given_back : ndarray of float, shape (assessors,), in [0, 2]
        Degrees of freedom of bias and scale use.
    """

    item: Ints
    assessor: Ints
    answer: Floats
    n_items: int
    n_assessors: int
    precise: float
    given_back: Floats

    def start(self) -> Floats:
        """Return where to start: qualities are means of answers, and assessors differ in bias alone."""
        count = np.maximum(np.bincount(self.item, minlength=self.n_items), 1)
        centre = self._by_item(self.answer) / count
        off = self.answer - centre[self.item]
        given = np.bincount(self.assessor, minlength=self.n_assessors)
        bias = self._by_assessor(off) / (given + 2.0)
        within = max(float(np.mean((off - bias[self.assessor]) ** 2)), 0.05)
        ones, noise = np.ones(self.n_assessors), np.log(within)
        return np.concatenate([bias, ones, noise * ones, [0.0, np.log(max(1 - within, 0.2)), noise]])

    def curvature(self, at: Floats) -> Floats:
        """Return roughly the curvature in every parameter, to bring them to one scale."""
        given = np.bincount(self.assessor, minlength=self.n_assessors)
        found = Parameters(at, self.n_assessors)
        precision = np.exp(-found.log_noise)
        spread = np.exp(found.log_spread)
        return np.concatenate(
            [
                given * precision + _BIAS**-2,
                given * precision * spread + _SCALE_USE**-2,
                given / 2 + _NOISE**-2,
                [self.answer.size * precision.mean(), self.n_items / 2, self.n_assessors * _NOISE**-2 + 1],
            ]
        )

    def expect(self, at: Floats) -> Expected:
        """Return mean and variance of the qualities, and the log-likelihood of the answers without them."""
        found = Parameters(at, self.n_assessors)
        weight, slope = np.exp(-found.log_noise)[self.assessor], found.scale_use[self.assessor]
        raw = self.answer - found.mean - found.bias[self.assessor]
        variance = 1 / (np.exp(-found.log_spread) + self._by_item(weight * slope**2))
        mean = variance * self._by_item(weight * slope * raw)
        squares = float(weight @ (raw**2 + self.precise**2)) - float(mean**2 @ (1 / variance))
        logs = float(found.log_noise[self.assessor].sum()) + float((found.log_spread - np.log(variance)).sum())
        log_likelihood = -0.5 * (squares + logs + self.answer.size * np.log(2 * np.pi))
        return Expected(weight, slope, mean, variance, raw - slope * mean[self.item], log_likelihood)

    def log_prior(self, at: Floats) -> tuple[float, Floats]:
        """Return the logarithm of the prior density, but for a constant, and its gradient."""
        found = Parameters(at, self.n_assessors)
        spread, usual = _WEAK
        off_spread, off_usual = found.log_spread - spread[0], found.usual_noise - usual[0]
        bias, use, noise = found.bias, found.scale_use - 1, found.log_noise - found.usual_noise
        value = -0.5 * float(bias @ bias / _BIAS**2 + use @ use / _SCALE_USE**2 + noise @ noise / _NOISE**2)
        value += -0.5 * ((off_spread / spread[1]) ** 2 + (off_usual / usual[1]) ** 2)
        value += 0.5 * float(self.given_back @ found.log_noise)
        rest = [0.0, -off_spread / spread[1] ** 2, noise.sum() / _NOISE**2 - off_usual / usual[1] ** 2]
        by_noise = self.given_back / 2 - noise / _NOISE**2
        return value, np.concatenate([-bias / _BIAS**2, -use / _SCALE_USE**2, by_noise, np.array(rest)])

    def value_and_gradient(self, at: Floats) -> tuple[float, Floats]:
        """Return the logarithm of the density, but for a constant, and its gradient."""
        seen = self.expect(at)
        prior, gradient = self.log_prior(at)
        mean, variance = seen.mean[self.item], seen.variance[self.item]
        pull = seen.weight * seen.residual
        squares = seen.weight * (seen.residual**2 + seen.slope**2 * variance + self.precise**2)
        second = (seen.mean**2 + seen.variance) * np.exp(-at[-2])
        told = [
            self._by_assessor(pull),
            self._by_assessor(mean * pull - seen.weight * seen.slope * variance),
            self._by_assessor(squares - 1) / 2,
            np.array([pull.sum(), (second - 1).sum() / 2, 0.0]),
        ]
        return seen.log_likelihood + prior, gradient + np.concatenate(told)

    def degrees_of_freedom(self, at: Floats) -> Floats:
        """Return how many degrees of freedom the bias and the scale use of every assessor take, given the priors."""
        seen = self.expect(at)
        mean, variance = seen.mean[self.item], seen.variance[self.item]
        one = self._by_assessor(seen.weight)
        cross = self._by_assessor(seen.weight * mean)
        square = self._by_assessor(seen.weight * (mean**2 + variance))
        p, q = one + _BIAS**-2, square + _SCALE_USE**-2
        # The trace of M (M + Λ)⁻¹ for the two-by-two information M and the prior's Λ.
        taken: Floats = (one * q + square * p - 2 * cross**2) / (p * q - cross**2)
        return taken

    def information(self, at: Floats) -> tuple[Floats, sparse.csr_array, sparse.csr_array]:
        """Return the observed information, and the first and second derivatives of the scores by the quality."""
        seen, size = self.expect(at), self.n_assessors
        mean, variance, residual = seen.mean[self.item], seen.variance[self.item], seen.residual
        weight, slope, by = seen.weight, seen.slope, self._by_assessor
        pull, unspread = weight * residual, float(np.exp(-at[-2]))
        whole = np.zeros((at.size, at.size))
        every = np.arange(size)
        b, s, u, centre, spread, usual = every, size + every, 2 * size + every, *(at.size - 3 + np.arange(3))

        def put(one: Ints, other: Ints | np.int64, values: Floats) -> None:
            whole[one, other] = whole[other, one] = values

        put(b, b, by(weight) + _BIAS**-2)
        put(s, s, by(weight * (mean**2 + variance)) + _SCALE_USE**-2)
        squares = weight * (residual**2 + slope**2 * variance + self.precise**2)
        put(u, u, by(squares) / 2 + _NOISE**-2)
        put(b, s, by(weight * mean))
        put(b, u, by(pull))
        put(s, u, by(mean * pull - weight * slope * variance))
        put(b, centre, by(weight))
        put(s, centre, by(weight * mean))
        put(u, centre, by(pull))
        put(u, usual, np.full(size, -(_NOISE**-2)))
        whole[centre, centre] = weight.sum()
        whole[spread, spread] = unspread * (seen.mean**2 + seen.variance).sum() / 2 + _WEAK[0][1] ** -2
        whole[usual, usual] = size * _NOISE**-2 + _WEAK[1][1] ** -2
        slopes = weight * slope
        first = self._by_item_and_parameter(
            [-slopes, pull - slopes * mean, -slopes * residual],
            [-self._by_item(slopes), seen.mean * unspread, np.zeros(self.n_items)],
        )
        second = self._by_item_and_parameter(
            [np.zeros_like(slopes), -slopes, slopes * slope / 2],
            [np.zeros(self.n_items), np.full(self.n_items, unspread / 2), np.zeros(self.n_items)],
        )
        missing = _products(first, seen.variance) + _products(second, 2 * seen.variance**2)
        return whole - missing, first, second

    def _by_item_and_parameter(self, of_answers: list[Floats], of_items: list[Floats]) -> sparse.csr_array:
        size, items = self.n_assessors, np.arange(self.n_items)
        rows = np.concatenate([self.item] * 3 + [items] * 3)
        columns = [self.assessor + place * size for place in range(3)]
        columns += [np.full(self.n_items, 3 * size + place) for place in range(3)]
        values = np.concatenate([*of_answers, *of_items])
        shape = (self.n_items, 3 * size + 3)
        return sparse.csr_array((values, (rows, np.concatenate(columns))), shape=shape)

    def _by_item(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self.item, weights=values, minlength=self.n_items).astype(np.float64, copy=False)
        return sums

    def _by_assessor(self, values: Floats) -> Floats:
        sums = np.bincount(self.assessor, weights=values, minlength=self.n_assessors)
        return sums.astype(np.float64, copy=False)


def _products(matrix: sparse.csr_array, weight: Floats) -> Floats:
    """Return the sum over rows of weight times the products of all two entries."""
    scaled = sparse.diags_array(np.sqrt(weight)) @ matrix
    if scaled.nnz > _DENSE * scaled.shape[0] * scaled.shape[1]:
        dense: Floats = scaled.toarray()
        return dense.T @ dense
    products: Floats = (scaled.T @ scaled).toarray()
    return products
