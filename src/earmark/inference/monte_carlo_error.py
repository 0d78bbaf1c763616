r"""How far probabilities may be off because they rest on draws: what another seed, or other names, would change.

A p-value from n resamples has the standard error :math:`\sqrt{p (1 - p) / n}`, times what an adjustment multiplies it
by. A confidence :math:`\Phi(|m| / s)` of a mean m and a standard deviation s that are estimated from draws has, with
their standard errors :math:`e_m` and :math:`e_{s^2}`, to first order that of

.. math:: \varphi(z) \sqrt{(e_m / s)^2 + (z\, e_{s^2} / 2 s^2)^2}, \qquad z = |m| / s.

What is below :data:`NOTICEABLE_ERROR` is not worth a word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from earmark.data.arrays import Floats
from earmark.inference.confidence import Ranking
from earmark.inference.significance import PairwiseTests

NOTICEABLE_ERROR = 0.01
"""A Monte Carlo standard error of a probability that is worth a word."""


def confidence_error(ranking: Ranking) -> Floats:
    """Return the Monte Carlo standard error of the confidence of every pair, 0 where estimates are exact."""
    differences = ranking.estimates.differences
    variance = np.where(differences.variance > 0, differences.variance, np.inf)
    z = np.abs(differences.mean) / np.sqrt(variance)
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    error = np.hypot(differences.mean_error / np.sqrt(variance), 0.5 * z * differences.variance_error / variance)
    return np.asarray(density * error)


def say_confidence_error(ranking: Ranking) -> list[str]:
    """Say how far confidences may be off because gains were drawn, where that could be seen."""
    error = float(confidence_error(ranking).max(initial=0.0))
    if error <= NOTICEABLE_ERROR:
        return []
    return [
        f"scores by {ranking.estimates.measure} are drawn: the Monte Carlo standard error of a confidence is up to "
        f"{error:.3f}; more --samples make it smaller"
    ]


def say_p_value_error(tests: Sequence[PairwiseTests]) -> list[str]:
    """Say how far adjusted p-values may be off because they were drawn, where that could be seen."""
    worst = max(tests, key=lambda one: float(one.p_error.max(initial=0.0)))
    error = float(worst.p_error.max(initial=0.0))
    if error <= NOTICEABLE_ERROR:
        return []
    return [
        f"p-values are drawn, from {worst.draws:,} resamples: their Monte Carlo standard error, after the adjustment, "
        f"is up to {error:.3f}; more --resamples make it smaller"
    ]
