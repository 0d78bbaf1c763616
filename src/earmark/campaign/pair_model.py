r"""What answers about some pairs of documents say about the others: a model with shared errors.

People who compare documents :math:`i` and :math:`j` of pair :math:`p` for a query :math:`q` answer by Davidson's model
(:mod:`earmark.campaign.pair_likelihood`) with the difference

.. math:: d_p = \eta_p + u_p, \qquad
   \eta_p = \bar o_p (\beta_0 + \gamma_{0q}) + \sum_A o_{Ap} (\beta_A + \gamma_{Aq})
   + (\alpha_i - \alpha_j) + (s_{qi} - s_{qj})

where :math:`o_{Ap}` is +1 if system A ranks the first document higher, −1 if the second, and 0 if it ranks neither, and
:math:`\bar o_p` is the mean over systems.

- :math:`\beta_A` says how far people follow system A; the share of pairs that A orders correctly rests on it, so what
  was learnt on some pairs holds for pairs nobody was asked about. Without it their uncertainty would average out, and
  every system would be believed, with great confidence, to be right half of the time. :math:`\beta_0` is what systems
  have in common. Answers to pairs that systems order differently say next to nothing about it, however many there are,
  so it has a wide prior of its own.
- :math:`\gamma_{Aq}` is the same for one query, :math:`\alpha` how documents are liked whatever the query (where they
  occur in several), :math:`s` how well they suit this one, and :math:`u_p` what is peculiar to the pair: preferences
  need not be transitive.

All effects are normal with mean 0; each kind has one standard deviation (:class:`Spreads`). The pair's own
:math:`u_p` is integrated out of its likelihood (Gauss–Hermite), which stays log-concave, so Newton's method finds the
one maximum over all other effects, and the posterior is the normal approximation there (Laplace's). Given the shared
effects :math:`g = (\beta, \alpha)` queries are independent: all algebra is on one block per query and one shared block,

.. math:: H = \begin{pmatrix} A_1 & & C_1 \\ & \ddots & \vdots \\ C_1^T & \cdots & A_g \end{pmatrix}

How the standard deviations are found is in :mod:`earmark.campaign.pair_spreads`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.campaign.pair_design import PairAnswers, PairDesign, Spreads
from earmark.campaign.pair_likelihood import estimate_same_weight, log_likelihood, slope_and_information
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
NODES: Floats = _NODES
"""Where a standard normal variable is looked at for the mean of a function of it, shape (61,)."""
NODE_WEIGHTS: Floats = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
"""What every node counts, adding up to 1."""

_STEPS, _ENOUGH, _SMALLEST_STEP = 60, 1e-6, 1e-6


@dataclass(frozen=True, eq=False)
class _QueryPosterior:
    """What a query's block comes to: the parts of the covariance of its pairs.

    ``spread`` is X_l A⁻¹ and ``beyond`` X_s − X_l A⁻¹ C: what the pairs have to do with the shared effects once the
    local ones have adapted to them.
    """

    rows: Ints
    local: Floats
    spread: Floats
    beyond: Floats


@dataclass(frozen=True, eq=False)
class PairPosterior:
    r"""What is believed about all candidate pairs.

    Attributes
    ----------
    design : PairDesign
        The pairs.
    spreads : Spreads
        How large effects are.
    same_weight : float
        How readily people answer *same*.
    mean, variance : ndarray of float, shape (pairs,)
        Of every :math:`\eta_p`; 0 where a pair counts for no system.
    slope, information : ndarray of float, shape (pairs,)
        What the answers about the pair itself say about it: first and negative second derivative of their likelihood at
        the mean; 0 where there are none.
    effects : tuple of ndarray of float
        The most probable effects over their standard deviations, by query, and the shared ones last.
    """

    design: PairDesign
    spreads: Spreads
    same_weight: float
    mean: Floats
    variance: Floats
    slope: Floats
    information: Floats
    _queries: tuple[_QueryPosterior, ...]
    _shared_covariance: Floats
    effects: tuple[Floats, ...]

    def covariance_with(self, weights: Floats) -> tuple[Floats, Floats]:
        r"""Return the covariance of weighted sums of all :math:`\eta_p` with each of them, and among themselves.

        Parameters
        ----------
        weights : ndarray of float, shape (sums, pairs)
            What each pair counts in each sum.

        Returns
        -------
        with_pairs : ndarray of float, shape (sums, pairs)
        among : ndarray of float, shape (sums, sums)
        """
        n_shared = self._shared_covariance.shape[0]
        shared = np.zeros((weights.shape[0], n_shared))
        for query in self._queries:
            shared += weights[:, query.rows] @ query.beyond
        through_shared = shared @ self._shared_covariance
        with_pairs = np.zeros_like(weights)
        for query in self._queries:
            local = weights[:, query.rows] @ query.local
            with_pairs[:, query.rows] = local @ query.spread.T + through_shared @ query.beyond.T
        return with_pairs, with_pairs @ weights.T

    def covariance_of(self, pair: int) -> Floats:
        r"""Return the covariance of one :math:`\eta_p` with all of them, shape (pairs,)."""
        weights = np.zeros((1, self.mean.size))
        weights[0, pair] = 1.0
        covariance: Floats = self.covariance_with(weights)[0][0]
        return covariance


def pair_likelihood(
    eta: Floats, answers: PairAnswers, asked: Ints, spreads: Spreads, same_weight: float
) -> tuple[Floats, Floats, Floats]:
    r"""Return the log-likelihood of what was answered about pairs, its slope and its curvature, given :math:`\eta`.

    What is peculiar to a pair is integrated out: with :math:`r_k` the share of node k in the likelihood,
    slope :math:`\sum_k r_k l'_k` and information :math:`\sum_k r_k I_k - Var_r(l'_k)`.

    Parameters
    ----------
    eta : ndarray of float, shape (asked,)
        What the pairs are expected to be.
    answers : PairAnswers
        Of all pairs.
    asked : ndarray of int, shape (asked,)
        Which pairs they are.
    """
    difference = eta[:, None] + spreads.pair * NODES
    first, second, same = (count[asked, None] for count in (answers.first, answers.second, answers.same))
    height = log_likelihood(difference, first, second, same, same_weight) + np.log(NODE_WEIGHTS)
    slope, information = slope_and_information(
        difference, answers.lead[asked, None], answers.total[asked, None], same_weight
    )
    top = height.max(axis=1, keepdims=True, initial=-np.inf)
    share = np.exp(height - top)
    whole = share.sum(axis=1, keepdims=True)
    share /= whole
    mean_slope = (share * slope).sum(axis=1)
    bend = (share * information).sum(axis=1) - (share * (slope - mean_slope[:, None]) ** 2).sum(axis=1)
    # Never negative but for the coarseness of the nodes.
    return (top + np.log(whole))[:, 0], mean_slope, np.maximum(bend, 0.0)


def fit_pairs(
    design: PairDesign,
    answers: PairAnswers,
    *,
    spreads: Spreads | None = None,
    start: PairPosterior | None = None,
) -> PairPosterior:
    """Find out what answers say about all candidate pairs.

    Parameters
    ----------
    design : PairDesign
        The pairs and the systems.
    answers : PairAnswers
        What was answered so far.
    spreads : Spreads, optional
        How large effects are.
    start : PairPosterior, optional
        Where to start from, which saves steps.

    Raises
    ------
    NotConverged
        If Newton's method does not settle.
    """
    spreads = spreads or Spreads()
    weight = usual_same_weight(design, answers, spreads, start)
    newton = _Newton(design, answers, spreads, weight)
    return newton.posterior(newton.solve(newton.origin() if start is None else start.effects))


def usual_same_weight(
    design: PairDesign, answers: PairAnswers, spreads: Spreads, start: PairPosterior | None = None
) -> float:
    """Return how readily people answer *same*, by how often they did and what was believed about the pairs before."""
    asked = np.flatnonzero((answers.total > 0) & design.matters)
    mean = np.zeros(asked.size) if start is None else start.mean[asked]
    difference = mean[:, None] + spreads.pair * NODES
    counts = answers.total[asked, None] * NODE_WEIGHTS
    return estimate_same_weight(difference, counts, int(answers.same[asked].sum()))


@dataclass(frozen=True, eq=False)
class _Point:
    """Effects on the way to the maximum, and the likelihood there: its height with the prior, slopes, informations."""

    effects: tuple[Floats, ...]
    height: float
    slope: Floats
    information: Floats


class _Newton:
    """Newton's method on effects that are divided by their standard deviations, so that the prior is standard."""

    def __init__(self, design: PairDesign, answers: PairAnswers, spreads: Spreads, weight: float) -> None:
        self.design, self.answers, self.spreads, self.weight = design, answers, spreads, weight
        self.scaled, self.asked, at = [], [], 0
        # Of every block the rows that were asked about, and where they stand among all that were.
        self.where: list[slice] = []
        for block in design.blocks:
            local, shared = design.scales(spreads, block)
            rows = np.flatnonzero(answers.total[block.rows])
            self.scaled.append((block.local * local, block.shared * shared))
            self.asked.append((block.local[rows] * local, block.shared[rows] * shared))
            self.where.append(slice(at, at + rows.size))
            at += rows.size
        self.rows = np.concatenate([block.rows[answers.total[block.rows] > 0] for block in design.blocks])
        self.n_shared = self.scaled[0][1].shape[1]

    def origin(self) -> tuple[Floats, ...]:
        return (*(np.zeros(local.shape[1]) for local, _ in self.scaled), np.zeros(self.n_shared))

    def at(self, effects: tuple[Floats, ...]) -> _Point:
        eta = np.concatenate(
            [local @ own + shared @ effects[-1] for (local, shared), own in zip(self.asked, effects[:-1], strict=True)]
        )
        height, slope, information = pair_likelihood(eta, self.answers, self.rows, self.spreads, self.weight)
        prior = sum(float(part @ part) for part in effects) / 2
        return _Point(effects, float(height.sum()) - prior, slope, information)

    def gradient(self, point: _Point) -> list[Floats]:
        parts = [-part for part in point.effects]
        for number, ((local, shared), where) in enumerate(zip(self.asked, self.where, strict=True)):
            parts[number] = parts[number] + local.T @ point.slope[where]
            parts[-1] = parts[-1] + shared.T @ point.slope[where]
        return parts

    def curvature(self, point: _Point) -> tuple[list[tuple[Floats, Floats]], Floats]:
        """Return A and C of every block, and the shared block of H."""
        blocks = []
        shared_block = np.eye(self.n_shared)
        for (local, shared), where in zip(self.asked, self.where, strict=True):
            weighted = point.information[where, None] * local
            blocks.append((np.eye(local.shape[1]) + local.T @ weighted, weighted.T @ shared))
            shared_block += shared.T @ (point.information[where, None] * shared)
        return blocks, shared_block

    def solve(self, effects: tuple[Floats, ...]) -> _Point:
        point = self.at(effects)
        for _ in range(_STEPS):
            gradient = self.gradient(point)
            if max(float(np.abs(part).max(initial=0.0)) for part in gradient) <= _ENOUGH:
                return point
            blocks, reduced = self.curvature(point)
            rest = gradient[-1].copy()
            inner = []
            for (own, across), part in zip(blocks, gradient[:-1], strict=True):
                solved = _solve(own, np.column_stack((across, part)))
                inner.append(solved)
                reduced -= across.T @ solved[:, :-1]
                rest -= across.T @ solved[:, -1]
            last = _solve(reduced, rest)
            step = [solved[:, -1] - solved[:, :-1] @ last for solved in inner] + [last]
            point = self.climb(point, step)
        raise NotConverged(f"the model of preferences did not settle after {_STEPS} steps")

    def climb(self, point: _Point, step: Sequence[Floats]) -> _Point:
        """Take the step, or as much of it as does not lead down: on a concave function it can only be too long."""
        size = 1.0
        while True:
            tried = self.at(tuple(part + size * move for part, move in zip(point.effects, step, strict=True)))
            if tried.height >= point.height - 1e-9 * (1.0 + abs(point.height)) or size < _SMALLEST_STEP:
                return tried
            size /= 2

    def posterior(self, point: _Point) -> PairPosterior:
        blocks, reduced = self.curvature(point)
        parts = []
        for (own, across), (local, shared) in zip(blocks, self.scaled, strict=True):
            spread = _solve(own, local.T).T
            parts.append((local, spread, shared - spread @ across))
            reduced -= across.T @ _solve(own, across)
        covariance = np.linalg.inv(reduced).astype(np.float64)
        mean, variance, slope, information = np.zeros((4, len(self.design.pairs)))
        slope[self.rows], information[self.rows] = point.slope, point.information
        queries = []
        for block, (local, spread, beyond), own, (_, shared) in zip(
            self.design.blocks, parts, point.effects[:-1], self.scaled, strict=True
        ):
            mean[block.rows] = local @ own + shared @ point.effects[-1]
            variance[block.rows] = (spread * local).sum(axis=1) + ((beyond @ covariance) * beyond).sum(axis=1)
            queries.append(_QueryPosterior(block.rows, local, spread, beyond))
        return PairPosterior(
            self.design,
            self.spreads,
            self.weight,
            mean,
            variance,
            slope,
            information,
            tuple(queries),
            covariance,
            point.effects,
        )


def _solve(matrix: Floats, sides: Floats) -> Floats:
    solved: Floats = np.linalg.solve(matrix, sides).astype(np.float64, copy=False)
    return solved
