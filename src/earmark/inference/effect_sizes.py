"""How large is the difference? Sizes of effect for paired comparisons of systems.

A p-value mixes how different two systems are with how many queries were asked; an effect size does not. All
functions take paired differences of shape (pairs, queries), the score of system `a` minus that of system `b`,
and give one signed number per pair: positive speaks for `a`, zero for neither.

References
----------
.. [1] J. Cohen (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd ed., section 2.3.5.
.. [2] L. V. Hedges (1981). Distribution theory for Glass's estimator of effect size. J. Educ. Stat. 6,
   107-128.
.. [3] D. S. Kerby (2014). The simple difference formula: an approach to teaching nonparametric correlation.
   Comprehensive Psychology 3.
.. [4] R. J. Grissom, J. J. Kim (2005). Effect Sizes for Research, chapter 5: probability of superiority.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Wins:
    """On how many queries each system of a pair is better; arrays of shape (pairs,).

    Attributes
    ----------
    wins, ties, losses : int array, shape (pairs,)
        Queries on which `a` scores higher than `b`, the same, lower.
    """

    wins: Ints
    ties: Ints
    losses: Ints

    @property
    def superiority(self) -> Floats:
        """Probability that `a` beats `b` on a query drawn at random, ties counted half; in [0, 1]."""
        total = self.wins + self.ties + self.losses
        return np.asarray((self.wins + self.ties / 2) / total, dtype=np.float64)

    @property
    def dominance(self) -> Floats:
        """Share of queries won minus share lost, ``2 * superiority - 1``; in [-1, 1]."""
        total = self.wins + self.ties + self.losses
        return np.asarray((self.wins - self.losses) / total, dtype=np.float64)


def count_wins(differences: Floats) -> Wins:
    """Count the queries won, tied and lost by the first system of every pair."""
    wins = np.count_nonzero(differences > 0, axis=1)
    losses = np.count_nonzero(differences < 0, axis=1)
    ties = differences.shape[1] - wins - losses
    return Wins(wins=wins.astype(np.int64), ties=ties.astype(np.int64), losses=losses.astype(np.int64))


def standard_deviation(differences: Floats) -> Floats:
    """Sample standard deviation per pair, exactly zero when all differences of a pair are equal."""
    constant = differences.min(axis=1) == differences.max(axis=1)
    return np.where(constant, 0.0, differences.std(axis=1, ddof=1))


def ratio_or_infinite(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient with 0/0 = 0 and x/0 = ±infinity, for statistics of differences without variance."""
    by_zero = np.where(numerator == 0, 0.0, np.copysign(np.inf, numerator))
    return np.divide(numerator, denominator, out=by_zero, where=denominator > 0)


def cohens_dz(differences: Floats) -> Floats:
    """Cohen's d for paired data: mean difference in units of the standard deviation of the differences.

    ``d_z = mean(d) / sd(d)``, with ``n - 1`` in the standard deviation, so that ``t = d_z * sqrt(n)``.

    Parameters
    ----------
    differences : float array, shape (pairs, queries)

    Returns
    -------
    float array, shape (pairs,)
        Zero where all differences are zero, ±infinity where they are all the same other number. It
        overestimates on few queries; multiply by :func:`hedges_correction` for an unbiased estimate.
    """
    return ratio_or_infinite(differences.mean(axis=1), standard_deviation(differences))


def hedges_correction(n_queries: int) -> float:
    """Return the factor that makes :func:`cohens_dz` unbiased for normally distributed differences.

    ``J = Γ(m/2) / (sqrt(m/2) Γ((m-1)/2))`` with ``m = n_queries - 1``, about ``1 - 3 / (4m - 1)``.

    Parameters
    ----------
    n_queries : int, at least 3
        With two queries the expectation of d_z does not exist and there is nothing to correct.
    """
    if n_queries < 3:
        raise ParameterError(f"Hedges' correction needs at least three queries, got {n_queries}")
    m = n_queries - 1
    return float(np.exp(gammaln(m / 2) - gammaln((m - 1) / 2)) / np.sqrt(m / 2))


def rank_biserial(positive_ranks: Floats, total_ranks: Floats) -> Floats:
    """Matched-pairs rank-biserial correlation, the effect size that goes with Wilcoxon's test.

    ``r = (W⁺ - W⁻) / (W⁺ + W⁻)``: evidence for `a` minus evidence for `b`, as shares of the sum of ranks.

    Parameters
    ----------
    positive_ranks : float array, shape (pairs,)
        W⁺, the sum of the ranks of |d| over the queries that `a` won.
    total_ranks : float array, shape (pairs,)
        W⁺ + W⁻, the sum over all queries that are not ties.

    Returns
    -------
    float array, shape (pairs,), in [-1, 1]
        Zero where every query is a tie.
    """
    return ratio_or_infinite(2 * positive_ranks - total_ranks, total_ranks)
