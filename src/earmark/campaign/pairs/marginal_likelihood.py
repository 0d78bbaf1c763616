r"""The standard deviations of the effects on preferences, estimated by maximum a posteriori.

Each standard deviation of the model (:mod:`earmark.campaign.pairs.model`) has a log-normal prior around .7. The
estimate maximises prior times marginal likelihood, the latter by Laplace's approximation. For the :math:`m` pairs that
were asked about, the effects amount to a covariance of their :math:`\eta`,

.. math:: K = \sum_c \sigma_c^2 K_c, \qquad
   \log p(answers) \approx \log L(\hat\eta) - \tfrac12 \hat\eta^T K^{-1} \hat\eta
   - \tfrac12 \log |I + W^{1/2} K W^{1/2}|

with :math:`W` for the information in the answers about each pair [1]_. The parts :math:`K_c` are computed once, so one
evaluation costs the cube of :math:`m`. That is little while there are few answers; when there are many, an evenly
spaced selection of the pairs is enough to estimate five numbers.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams (2006). Gaussian Processes for Machine Learning. MIT Press; section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.campaign.pairs.model import (
    MAX_ITERATIONS,
    USUAL_SD,
    PairPosterior,
    Point,
    StandardDeviations,
    climb,
    document_signs,
    fit_pairs,
    pair_likelihood,
    prior_same_weight,
)
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged

MOST_PAIRS = 300
"""How many pairs are used at most."""

# With a larger standard deviation of pairs the nodes would be too far apart for the likelihood of several answers.
_GRID = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0])
_LOG_SD = 0.7
_ROUNDS, _SMALL_GAIN, _NO_GAIN = 2, 0.05, 1e-7


@dataclass(frozen=True, eq=False)
class MarginalLikelihood:
    """The marginal likelihood of the standard deviations, given answers about some pairs.

    Attributes
    ----------
    answers : PairAnswers
        About all pairs.
    asked : ndarray of int, shape (asked,)
        The pairs that are used.
    parts : dict of str to ndarray of float, shape (asked, asked)
        What a unit of variance of each kind of effect adds to the covariance of these pairs.
    same_weight : float
        The weight of the answer *same*.
    """

    answers: PairAnswers
    asked: Ints
    parts: dict[str, Floats]
    same_weight: float

    @classmethod
    def prepare(cls, design: PairDesign, answers: PairAnswers, same_weight: float) -> MarginalLikelihood:
        """Take the pairs that were asked about and matter, or an evenly spaced selection of them."""
        asked = np.flatnonzero((answers.total > 0) & design.matters)
        if asked.size > MOST_PAIRS:
            asked = asked[np.linspace(0, asked.size - 1, MOST_PAIRS).astype(np.int64)]
        order = design.order[:, asked].astype(np.float64)
        systems, consensus = order.T @ order, np.outer(order.mean(axis=0), order.mean(axis=0))
        documents, signs = document_signs(design.pairs.first_index[asked], design.pairs.second_index[asked])
        shared = signs[:, design.is_shared[documents]]
        same_query = design.pairs.query_index[asked, None] == design.pairs.query_index[asked]
        parts = {
            "system": systems,
            "system_query": (systems + consensus) * same_query,
            "document": shared @ shared.T,
            "document_query": signs @ signs.T * same_query,
            "consensus": consensus,
        }
        return cls(answers, asked, parts, same_weight)

    def log(self, sds: StandardDeviations, start: Floats) -> tuple[float, Floats]:
        """Return the logarithm, and K⁻¹η at the maximum, from which the next evaluation may start."""
        covariance = np.zeros((self.asked.size, self.asked.size))
        for name, part in self.parts.items():
            covariance += getattr(sds, name) ** 2 * part

        def at(dual: Floats) -> Point:
            eta = covariance @ dual
            height, slope, information = pair_likelihood(eta, self.answers, self.asked, sds.pair, self.same_weight)
            return Point(dual, float(height.sum()) - float(dual @ eta) / 2, eta, slope, information)

        point, gain = at(start), np.inf
        for _ in range(MAX_ITERATIONS):
            root = np.sqrt(point.information)
            factor = linalg.cho_factor(np.eye(root.size) + root[:, None] * covariance * root)
            if abs(gain) <= _NO_GAIN * (1.0 + abs(point.height)):
                return point.height - float(np.sum(np.log(np.diag(factor[0])))), point.values
            target = point.information * point.eta + point.slope
            dual = target - root * linalg.cho_solve(factor, root * (covariance @ target))
            before = point.height
            point = climb(at, point, dual - point.values)
            gain = point.height - before
        raise NotConverged(f"the marginal likelihood of preferences did not settle after {MAX_ITERATIONS} iterations")


def estimate_standard_deviations(design: PairDesign, answers: PairAnswers) -> StandardDeviations:
    """Find the standard deviations of greatest posterior density.

    Each is moved along a grid while the others stay, as long as the marginal likelihood times the prior rises.
    """
    best = StandardDeviations()
    names = [name for name in vars(best) if name != "consensus" and (name != "document" or design.is_shared.any())]
    likelihood = MarginalLikelihood.prepare(design, answers, prior_same_weight(design, answers, best.pair))
    dual = np.zeros(likelihood.asked.size)

    def density(sds: StandardDeviations) -> float:
        nonlocal dual
        found, dual = likelihood.log(sds, dual)
        values = np.array([getattr(sds, name) for name in names])
        return found - float(np.sum((np.log(values / USUAL_SD) / _LOG_SD) ** 2)) / 2

    highest = density(best)
    for _ in range(_ROUNDS):
        before = highest
        for name in names:
            for direction in (1, -1):
                while (value := _neighbour(getattr(best, name), direction)) is not None:
                    tried = replace(best, **{name: value})
                    if (found := density(tried)) <= highest:
                        break
                    best, highest = tried, found
        if highest - before < _SMALL_GAIN:
            break
    return best


def _neighbour(value: float, direction: int) -> float | None:
    beyond = _GRID[value * 1.01 < _GRID] if direction > 0 else _GRID[value * 0.99 > _GRID]
    return None if not beyond.size else float(beyond[0] if direction > 0 else beyond[-1])


def draw_standard_deviations(rng: np.random.Generator) -> StandardDeviations:
    """Draw standard deviations from their prior, within the range of those that are ever estimated."""
    usual = StandardDeviations()
    names = [name for name in vars(usual) if name != "consensus"]
    drawn = np.clip(USUAL_SD * np.exp(_LOG_SD * rng.standard_normal(len(names))), _GRID[0], _GRID[-1])
    return replace(usual, **dict(zip(names, drawn.tolist(), strict=True)))


def fit_preferences(design: PairDesign, answers: PairAnswers) -> PairPosterior:
    """Return the posterior of all pairs, with standard deviations estimated from the answers where there are any."""
    known = np.any(answers.total[design.matters])
    return fit_pairs(design, answers, sds=estimate_standard_deviations(design, answers) if known else None)
