r"""How large the effects on preferences are: standard deviations that explain the answers best, and are not odd.

Each standard deviation of the model (:mod:`earmark.campaign.pair_model`) has a log-normal prior around .7. What is
looked for is the greatest product of prior and marginal likelihood, the latter by Laplace's approximation. Seen from
the :math:`m` pairs that were asked about, the effects are nothing but correlations of their :math:`\eta`,

.. math:: K = \sum_c \sigma_c^2 K_c, \qquad
   \log p(answers) \approx \log L(\hat\eta) - \tfrac12 \hat\eta^T K^{-1} \hat\eta
   - \tfrac12 \log |I + W^{1/2} K W^{1/2}|

with :math:`W` for the information in the answers about each pair [1]_. The parts :math:`K_c` are made once, so that a
trial costs the cube of :math:`m`, which is small while there are few answers; when there are many, an even selection
of them says enough about five numbers.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams (2006). Gaussian Processes for Machine Learning. MIT Press; section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from earmark.campaign.pair_design import USUAL, PairAnswers, PairDesign, Spreads
from earmark.campaign.pair_model import PairPosterior, pair_likelihood, usual_same_weight
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged

MOST_PAIRS = 300
"""So many pairs are enough to find the standard deviations by."""

# With a larger spread of pairs the nodes would lie too far apart for the likelihood of several answers.
_GRID = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 3.0])
_LOG_SPREAD = 0.7
_ROUNDS, _SMALL_GAIN = 2, 0.05
_STEPS, _ENOUGH, _SMALLEST_STEP = 60, 1e-7, 1e-6


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """What answers about some pairs say about the size of effects.

    Attributes
    ----------
    answers : PairAnswers
        What was answered.
    asked : ndarray of int, shape (asked,)
        The pairs that are looked at.
    parts : dict of str to ndarray of float, shape (asked, asked)
        What a unit of variance of each kind of effect adds to the covariance of the pairs.
    same_weight : float
        How readily people answer *same*.
    """

    answers: PairAnswers
    asked: Ints
    parts: dict[str, Floats]
    same_weight: float

    @classmethod
    def collect(cls, design: PairDesign, answers: PairAnswers, same_weight: float) -> PairEvidence:
        """Take the pairs that were asked about and matter, or an even selection of them."""
        asked = np.flatnonzero((answers.total > 0) & design.matters)
        if asked.size > MOST_PAIRS:
            asked = asked[np.linspace(0, asked.size - 1, MOST_PAIRS).astype(np.int64)]
        pairs, order = design.pairs, design.order[:, asked].astype(np.float64)
        query, first, second = (index[asked] for index in (pairs.query_index, pairs.first_index, pairs.second_index))
        together = query[:, None] == query
        systems, consensus = order.T @ order, order.mean(axis=0)
        common = np.outer(consensus, consensus)
        is_shared = np.zeros(len(pairs.documents), dtype=bool)
        is_shared[design.shared_documents] = True
        alike = _in_common(first, second, np.ones_like(is_shared))
        parts = {
            "system": systems,
            "system_query": (systems + common) * together,
            "document": _in_common(first, second, is_shared),
            "document_query": alike * together,
            "consensus": common,
        }
        return cls(answers, asked, parts, same_weight)

    def log_evidence(self, spreads: Spreads, start: Floats) -> tuple[float, Floats]:
        r"""Return the log of the marginal likelihood, and K⁻¹η at the maximum, from where the next trial may start."""
        covariance = sum(
            (getattr(spreads, name) ** 2 * part for name, part in self.parts.items()),
            start=np.zeros((self.asked.size, self.asked.size)),
        )
        dual, eta = start, covariance @ start
        height, slope, information = self._likelihood(eta, spreads)
        now = height - float(dual @ eta) / 2
        for _ in range(_STEPS):
            root = np.sqrt(information)
            lower = np.linalg.cholesky(np.eye(root.size) + root[:, None] * covariance * root)
            target = information * eta + slope
            inner = np.linalg.solve(lower.T, np.linalg.solve(lower, root * (covariance @ target)))
            step = target - root * inner - dual
            size = 1.0
            while True:
                tried = dual + size * step
                eta = covariance @ tried
                height, slope, information = self._likelihood(eta, spreads)
                after = height - float(tried @ eta) / 2
                if after >= now - 1e-9 * (1.0 + abs(now)) or size < _SMALLEST_STEP:
                    break
                size /= 2
            dual, gain, now = tried, after - now, after
            if abs(gain) <= _ENOUGH * (1.0 + abs(now)):
                root = np.sqrt(information)
                lower = np.linalg.cholesky(np.eye(root.size) + root[:, None] * covariance * root)
                return now - float(np.sum(np.log(np.diag(lower)))), dual
        raise NotConverged(f"the size of effects on preferences did not settle after {_STEPS} steps")

    def _likelihood(self, eta: Floats, spreads: Spreads) -> tuple[float, Floats, Floats]:
        height, slope, information = pair_likelihood(eta, self.answers, self.asked, spreads, self.same_weight)
        return float(height.sum()), slope, information


def _in_common(first: Ints, second: Ints, counts: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Return for every two pairs how often they have a document on the same side, less how often on opposite sides."""
    matrix = np.zeros((first.size, first.size))
    for one, sign in ((first, 1.0), (second, -1.0)):
        for other, other_sign in ((first, 1.0), (second, -1.0)):
            matrix += sign * other_sign * ((one[:, None] == other) & counts[one][:, None])
    return matrix


def choose_spreads(design: PairDesign, answers: PairAnswers, *, start: PairPosterior | None = None) -> Spreads:
    """Find the standard deviations that explain the answers best, and are not odd.

    Each is moved along a grid while the others stay, as long as the marginal likelihood times the prior rises.

    Parameters
    ----------
    design, answers
        As for :func:`~earmark.campaign.pair_model.fit_pairs`.
    start : PairPosterior, optional
        Whose standard deviations to start from.
    """
    best = Spreads() if start is None else start.spreads
    evidence = PairEvidence.collect(design, answers, usual_same_weight(design, answers, best, start))
    dual = np.zeros(evidence.asked.size)

    def height(spreads: Spreads) -> float:
        nonlocal dual
        found, dual = evidence.log_evidence(spreads, dual)
        sizes = np.array([getattr(spreads, name) for name in design.uses])
        return found - float(np.sum((np.log(sizes / USUAL) / _LOG_SPREAD) ** 2)) / 2

    highest = height(best)
    for _ in range(_ROUNDS):
        before = highest
        for name in design.uses:
            for direction in (1, -1):
                while (value := _neighbour(getattr(best, name), direction)) is not None:
                    tried = replace(best, **{name: value})
                    if (found := height(tried)) <= highest:
                        break
                    best, highest = tried, found
        if highest - before < _SMALL_GAIN:
            break
    return best


def _neighbour(value: float, direction: int) -> float | None:
    beyond = _GRID[value * 1.01 < _GRID] if direction > 0 else _GRID[value * 0.99 > _GRID]
    return None if not beyond.size else float(beyond[0] if direction > 0 else beyond[-1])
