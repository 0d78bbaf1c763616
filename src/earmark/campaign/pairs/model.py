r"""The model of preferences: what answers about some pairs of documents say about all of them.

People who compare documents :math:`i` and :math:`j` of pair :math:`p` for a query :math:`q` answer by Davidson's model
(:mod:`earmark.crowd.davidson`) with the difference

.. math:: d_p = \eta_p + u_p, \qquad
   \eta_p = \bar o_p (\beta_0 + \gamma_{0q}) + \sum_A o_{Ap} (\beta_A + \gamma_{Aq})
   + (\alpha_i - \alpha_j) + (s_{qi} - s_{qj})

where :math:`o_{Ap}` is +1 if system A ranks the first document higher, −1 if the second, and 0 if it ranks neither, and
:math:`\bar o_p` is the mean over systems.

- :math:`\beta_A` says how much people agree with system A. The share of pairs that A orders correctly depends on it, so
  answers about some pairs tell something about the pairs that nobody was asked about. Without it the uncertainty about
  those would average out, and the model would claim with great confidence that every system is right half of the time.
  :math:`\beta_0` is common to all systems. Answers about pairs that systems order differently say almost nothing about
  it, however many there are, so it has a wide prior of its own.
- :math:`\gamma_{Aq}` is the same for one query, :math:`\alpha` how much a document is liked for any query (where it
  occurs in several), :math:`s` how well it suits this query, and :math:`u_p` is peculiar to the pair: preferences need
  not be transitive.

All effects are normal with mean 0; each kind has one standard deviation (:class:`StandardDeviations`), which
:mod:`earmark.campaign.pairs.marginal_likelihood` estimates. The pair's own :math:`u_p` is integrated out of its
likelihood by Gauss–Hermite quadrature. What remains is log-concave, so Newton's method finds the only maximum over all
other effects, and the posterior is the normal approximation there (Laplace's). Given the effects that queries share,
:math:`g = (\beta, \alpha)`, queries are independent, and all algebra is on one block per query and one shared block:

.. math:: H = \begin{pmatrix} A_1 & & C_1 \\ & \ddots & \vdots \\ C_1^T & \cdots & A_g \end{pmatrix}

The result is a function of the design, the answers and the standard deviations alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.crowd.davidson import estimate_same_weight, log_likelihood, slope_and_information
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged

USUAL_SD = 0.7
"""The standard deviation of effects before there are answers, and the centre of its prior."""

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
NODES: Floats = _NODES
"""The nodes of Gauss–Hermite quadrature for a standard normal variable, shape (61,)."""
NODE_WEIGHTS: Floats = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
"""Their weights, which add up to 1."""

MAX_ITERATIONS = 60
_LARGEST_GRADIENT, _SMALLEST_STEP = 1e-6, 1e-6


@dataclass(frozen=True)
class StandardDeviations:
    """Standard deviations of the effects, one for each kind.

    Attributes
    ----------
    system, system_query : float
        Of how much people agree with a system, for all queries and for one.
    document, document_query : float
        Of how much they like a document, for all queries and for one.
    pair : float
        Of what is peculiar to a pair.
    consensus : float
        Of how much they agree with what systems have in common; fixed, as few answers tell anything about it.
    """

    system: float = USUAL_SD
    system_query: float = USUAL_SD
    document: float = USUAL_SD
    document_query: float = USUAL_SD
    pair: float = USUAL_SD
    consensus: float = 1.5


@dataclass(frozen=True, eq=False)
class _QueryEffects:
    """How effects in units of their standard deviations add up to the pairs of one query.

    ``eta[rows] = local @ effects of the query + shared @ shared effects``.
    """

    rows: Ints
    local: Floats
    shared: Floats

    def only(self, rows: Ints) -> _QueryEffects:
        """Keep some of the rows."""
        return _QueryEffects(self.rows[rows], self.local[rows], self.shared[rows])


def document_signs(first: Ints, second: Ints) -> tuple[Ints, Floats]:
    """Return the documents of some pairs, and a matrix of pairs × documents: +1 for the first, −1 for the second."""
    documents, at = np.unique(np.concatenate((first, second)), return_inverse=True)
    signs, pair = np.zeros((first.size, documents.size)), np.arange(first.size)
    signs[pair, at[: first.size]], signs[pair, at[first.size :]] = 1.0, -1.0
    return documents, signs


def _effects_of_queries(design: PairDesign, sds: StandardDeviations) -> list[_QueryEffects]:
    pairs = design.pairs
    consensus_and_systems = np.vstack((design.order.mean(axis=0), design.order)).T
    system_sds = np.array([sds.consensus, *[sds.system] * len(design.systems)])
    place = np.cumsum(design.is_shared) - 1
    effects = []
    for query in design.queries:
        rows = np.flatnonzero((pairs.query_index == query) & design.matters)
        documents, signs = document_signs(pairs.first_index[rows], pairs.second_index[rows])
        by_system, common = consensus_and_systems[rows], design.is_shared[documents]
        of_shared = np.zeros((rows.size, np.count_nonzero(design.is_shared)))
        of_shared[:, place[documents[common]]] = signs[:, common]
        local = np.hstack((by_system * sds.system_query, signs * sds.document_query))
        effects.append(_QueryEffects(rows, local, np.hstack((by_system * system_sds, of_shared * sds.document))))
    return effects


# The likelihood


def pair_likelihood(
    eta: Floats, answers: PairAnswers, asked: Ints, pair_sd: float, same_weight: float
) -> tuple[Floats, Floats, Floats]:
    r"""Return the log-likelihood of the answers about pairs given :math:`\eta`, its slope and its information.

    What is peculiar to a pair is integrated out: with :math:`r_k` for the share of node k in the likelihood, the slope
    is :math:`\sum_k r_k l'_k` and the information :math:`\sum_k r_k I_k - Var_r(l'_k)`.

    Parameters
    ----------
    eta : ndarray of float, shape (asked,)
        The expected difference of each pair.
    answers : PairAnswers
        About all pairs.
    asked : ndarray of int, shape (asked,)
        Which pairs they are.
    pair_sd : float
        The standard deviation of what is peculiar to a pair.
    same_weight : float, 0 or more
        The weight of *same*.
    """
    difference = eta[:, None] + pair_sd * NODES
    total = answers.total[asked, None]
    first, second, same = (count[asked, None] for count in (answers.first, answers.second, answers.same))
    height = log_likelihood(difference, first, second, same, same_weight) + np.log(NODE_WEIGHTS)
    slope, information = slope_and_information(difference, answers.lead[asked, None], total, same_weight)
    top = height.max(axis=1, keepdims=True, initial=-np.inf)
    share = np.exp(height - top)
    whole = share.sum(axis=1, keepdims=True)
    share /= whole
    mean_slope = (share * slope).sum(axis=1)
    mean_information = (share * total * information).sum(axis=1)
    variance = (share * (slope - mean_slope[:, None]) ** 2).sum(axis=1)
    # The difference can only be negative by the error of the quadrature.
    return (top + np.log(whole))[:, 0], mean_slope, np.maximum(mean_information - variance, 0.0)


def prior_same_weight(design: PairDesign, answers: PairAnswers, pair_sd: float) -> float:
    """Return the weight of *same* that explains how often people gave this answer, before effects are known."""
    asked = np.flatnonzero((answers.total > 0) & design.matters)
    difference = np.broadcast_to(pair_sd * NODES, (asked.size, NODES.size))
    counts = answers.total[asked, None] * NODE_WEIGHTS
    return estimate_same_weight(difference, counts, int(answers.same[asked].sum()))


@dataclass(frozen=True, eq=False)
class Point:
    """One iterate of Newton's method.

    Attributes
    ----------
    values : ndarray of float
        What is varied.
    height : float
        The log-likelihood there plus the logarithm of the prior, up to a constant.
    eta, slope, information : ndarray of float, shape (asked,)
        The expected differences, and what :func:`pair_likelihood` says about each.
    """

    values: Floats
    height: float
    eta: Floats
    slope: Floats
    information: Floats


def climb(at: Callable[[Floats], Point], point: Point, step: Floats) -> Point:
    """Take a step, or the half, the quarter … of it that does not lead down: on a concave function it exists."""
    size = 1.0
    while True:
        tried = at(point.values + size * step)
        if tried.height >= point.height - 1e-9 * (1.0 + abs(point.height)) or size < _SMALLEST_STEP:
            return tried
        size /= 2


# The posterior


@dataclass(frozen=True, eq=False)
class _QueryPosterior:
    """The parts of the posterior covariance of one query's pairs.

    ``through_local`` is X A⁻¹ with X the local effects, and ``through_shared`` is what the pairs have to do with the
    shared effects once the local ones have adapted to them: S − X A⁻¹ C.
    """

    rows: Ints
    local: Floats
    through_local: Floats
    through_shared: Floats


@dataclass(frozen=True, eq=False)
class PairPosterior:
    r"""The posterior distribution of the expected differences of all candidate pairs.

    Attributes
    ----------
    design : PairDesign
        The pairs.
    sds : StandardDeviations
        Of the effects.
    same_weight : float
        The weight of the answer *same*.
    mean, variance : ndarray of float, shape (pairs,)
        Of every :math:`\eta_p`; 0 where a pair counts for no system.
    slope, information : ndarray of float, shape (pairs,)
        What the answers about the pair itself say about it: first and negative second derivative of their likelihood at
        the mean; 0 where there are none.
    """

    design: PairDesign
    sds: StandardDeviations
    same_weight: float
    mean: Floats
    variance: Floats
    slope: Floats
    information: Floats
    _queries: tuple[_QueryPosterior, ...]
    _shared_covariance: Floats

    def covariance_with(self, weights: Floats) -> tuple[Floats, Floats]:
        r"""Return the covariance of weighted sums of all :math:`\eta_p` with each of them, and among themselves.

        Parameters
        ----------
        weights : ndarray of float, shape (sums, pairs)
            The weight of each pair in each sum.

        Returns
        -------
        with_pairs : ndarray of float, shape (sums, pairs)
        among : ndarray of float, shape (sums, sums)
        """
        shared = np.zeros((weights.shape[0], self._shared_covariance.shape[0]))
        for query in self._queries:
            shared += weights[:, query.rows] @ query.through_shared
        shared = shared @ self._shared_covariance
        with_pairs = np.zeros_like(weights)
        for query in self._queries:
            local = weights[:, query.rows] @ query.local
            with_pairs[:, query.rows] = local @ query.through_local.T + shared @ query.through_shared.T
        return with_pairs, with_pairs @ weights.T

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        r"""Draw all :math:`\eta_p` together, shape (n, pairs); 0 where a pair counts for no system."""
        shared = linalg.cholesky(self._shared_covariance, lower=True)
        effects = rng.standard_normal((n, shared.shape[0])) @ shared.T
        drawn = np.zeros((n, self.mean.size))
        for query in self._queries:
            # The covariance of a query's pairs given the shared effects has fewer dimensions than there are pairs.
            values, vectors = np.linalg.eigh(query.local @ query.through_local.T)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            own = rng.standard_normal((n, values.size)) @ root.T
            drawn[:, query.rows] = self.mean[query.rows] + effects @ query.through_shared.T + own
        return drawn

    def covariance_of(self, pair: int) -> Floats:
        r"""Return the covariance of one :math:`\eta_p` with all of them, shape (pairs,)."""
        weights = np.zeros((1, self.mean.size))
        weights[0, pair] = 1.0
        covariance: Floats = self.covariance_with(weights)[0][0]
        return covariance


class _Curvature:
    """H at a point of Newton's method, with the effects of queries eliminated from the shared block."""

    def __init__(self, asked: list[_QueryEffects], point: Point, ends: Ints) -> None:
        self.factors, self.across, self.solved = [], [], []
        self.shared = np.eye(asked[0].shared.shape[1])
        for effects, information in zip(asked, np.split(point.information, ends), strict=True):
            weighted = information[:, None] * effects.local
            factor = linalg.cho_factor(np.eye(effects.local.shape[1]) + effects.local.T @ weighted)
            across = weighted.T @ effects.shared
            solved = linalg.cho_solve(factor, across)
            self.shared += effects.shared.T @ (information[:, None] * effects.shared) - across.T @ solved
            self.factors.append(factor)
            self.across.append(across)
            self.solved.append(solved)

    def newton_step(self, gradient: list[Floats]) -> Floats:
        """Return H⁻¹ times the gradient, which is given by query, shared effects last."""
        inner = [linalg.cho_solve(factor, part) for factor, part in zip(self.factors, gradient[:-1], strict=True)]
        rest = gradient[-1] - sum(across.T @ part for across, part in zip(self.across, inner, strict=True))
        shared = linalg.solve(self.shared, rest, assume_a="pos")
        local = [part - solved @ shared for part, solved in zip(inner, self.solved, strict=True)]
        return np.concatenate((*local, shared))


def fit_pairs(design: PairDesign, answers: PairAnswers, *, sds: StandardDeviations | None = None) -> PairPosterior:
    """Find the posterior of all candidate pairs.

    Parameters
    ----------
    design : PairDesign
        The pairs and the systems.
    answers : PairAnswers
        The answers so far.
    sds : StandardDeviations, optional
        Of the effects; the usual ones by default.

    Raises
    ------
    NotConverged
        If Newton's method does not settle.
    """
    sds = sds or StandardDeviations()
    weight = prior_same_weight(design, answers, sds.pair)
    queries = _effects_of_queries(design, sds)
    asked = [effects.only(np.flatnonzero(answers.total[effects.rows])) for effects in queries]
    rows = np.concatenate([effects.rows for effects in asked])
    row_ends = np.cumsum([effects.rows.size for effects in asked])[:-1]
    value_ends = np.cumsum([effects.local.shape[1] for effects in asked])

    def differences(effects: list[_QueryEffects], values: Floats) -> list[Floats]:
        *local, shared = np.split(values, value_ends)
        return [of.local @ own + of.shared @ shared for of, own in zip(effects, local, strict=True)]

    def at(values: Floats) -> Point:
        eta = np.concatenate(differences(asked, values))
        height, slope, information = pair_likelihood(eta, answers, rows, sds.pair, weight)
        return Point(values, float(height.sum()) - float(values @ values) / 2, eta, slope, information)

    def gradient(point: Point) -> list[Floats]:
        *local, shared = np.split(-point.values, value_ends)
        slopes = np.split(point.slope, row_ends)
        own = [part + of.local.T @ slope for part, of, slope in zip(local, asked, slopes, strict=True)]
        return [*own, shared + sum(of.shared.T @ slope for of, slope in zip(asked, slopes, strict=True))]

    point = at(np.zeros(value_ends[-1] + asked[0].shared.shape[1]))
    for _ in range(MAX_ITERATIONS):
        uphill = gradient(point)
        curvature = _Curvature(asked, point, row_ends)
        if max(float(np.abs(part).max(initial=0.0)) for part in uphill) <= _LARGEST_GRADIENT:
            break
        point = climb(at, point, curvature.newton_step(uphill))
    else:
        raise NotConverged(f"the model of preferences did not settle after {MAX_ITERATIONS} iterations")

    covariance = np.linalg.inv(curvature.shared).astype(np.float64)
    mean, variance, slope, information = np.zeros((4, len(design.pairs)))
    slope[rows], information[rows] = point.slope, point.information
    parts = []
    for of, eta, factor, solved in zip(
        queries, differences(queries, point.values), curvature.factors, curvature.solved, strict=True
    ):
        through_local, through_shared = linalg.cho_solve(factor, of.local.T).T, of.shared - of.local @ solved
        mean[of.rows] = eta
        variance[of.rows] = np.sum(through_local * of.local, axis=1)
        variance[of.rows] += np.sum((through_shared @ covariance) * through_shared, axis=1)
        parts.append(_QueryPosterior(of.rows, of.local, through_local, through_shared))
    return PairPosterior(design, sds, weight, mean, variance, slope, information, tuple(parts), covariance)
