r"""Davidson's model of an answer about two documents: probabilities, likelihood, and verdicts of several answers.

An answer about two documents whose scores differ by :math:`d` chooses the first, the second or neither with [1]_

.. math:: P(first) = \frac{e^{d/2}}{Z}, \quad P(second) = \frac{e^{-d/2}}{Z}, \quad P(same) = \frac{\nu}{Z},
   \qquad Z = e^{d/2} + e^{-d/2} + \nu

so that :math:`\nu = 0` is the model of Bradley and Terry, and people who say *same* half of the time at :math:`d = 0`
have :math:`\nu = 2`. The likelihood is log-concave in :math:`d`.

References
----------
.. [1] R. R. Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison experiments.
   Journal of the American Statistical Association 65(329), 317–328.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError


def outcome_probabilities(difference: Floats, same_weight: float) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities of the outcomes first, second and same.

    Examples
    --------
    >>> [part.round(3).item() for part in outcome_probabilities(np.array(np.log(3.0)), 0.0)]
    [0.75, 0.25, 0.0]
    """
    # Everything is divided by the larger exponential, which then cannot overflow.
    size = np.abs(difference)
    behind, neither = np.exp(-size), same_weight * np.exp(-size / 2)
    whole = 1 + behind + neither
    ahead = difference >= 0
    first, second = np.where(ahead, 1.0, behind) / whole, np.where(ahead, behind, 1.0) / whole
    return first, second, neither / whole


def log_likelihood(
    difference: Floats, first: Floats | Ints, second: Floats | Ints, same: Floats | Ints, same_weight: float
) -> Floats:
    r"""Return the log-likelihood of the answers about each pair, without the multinomial coefficient.

    :math:`(a - b)\, d / 2 + s \log \nu - (a + b + s) \log Z` with the numbers (or weights) :math:`a, b, s` of answers
    first, second and same.

    Raises
    ------
    ParameterError
        If there are answers *same* and :math:`\nu` says that nobody gives them.
    """
    if same_weight < 0 or (same_weight == 0 and np.any(same)):
        raise ParameterError(f"with answers 'same' the weight of same is above 0, got {same_weight:g}")
    size = np.abs(difference)
    log_whole = size / 2 + np.log1p(np.exp(-size) + same_weight * np.exp(-size / 2))
    of_same = same * np.log(same_weight) if same_weight > 0 else 0.0
    likelihood: Floats = (first - second) * difference / 2 + of_same - (first + second + same) * log_whole
    return likelihood


def slope_and_information(
    difference: Floats, lead: Floats | Ints, answers: Floats | Ints, same_weight: float
) -> tuple[Floats, Floats]:
    """Return the derivative of the log-likelihood by the difference, and the Fisher information of one answer.

    The negative second derivative is the information times the number of answers; it is never negative.

    Parameters
    ----------
    difference : ndarray of float
        The score of the first document less that of the second.
    lead : ndarray of int or float
        How many more answers chose the first document than the second.
    answers : ndarray of int or float
        How many answers there were, same among them.
    same_weight : float, 0 or more
        The weight of same.
    """
    first, second, _ = outcome_probabilities(difference, same_weight)
    expected = first - second
    slope: Floats = (lead - answers * expected) / 2
    information: Floats = (first + second - expected**2) / 4
    return slope, information


def estimate_same_weight(difference: Floats, answers: Floats | Ints, same: int) -> float:
    r"""Return the :math:`\nu` under which the expected number of answers *same* equals the observed one.

    Parameters
    ----------
    difference : ndarray of float, shape (pairs, ...)
        How much the documents of each pair differ.
    answers : ndarray of int or float, shape (pairs, ...)
        How many answers each pair got.
    same : int
        How many of all answers were same; half an answer is added to either kind, which keeps the weight finite.
    """
    if not same:
        return 0.0
    total = float(answers.sum())
    wanted = total * (same + 0.5) / (total + 1.0)
    low, high = 1e-6, 1e6
    # The expectation grows with the weight; bisection on a logarithmic scale finds it to full precision.
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        expected = float(np.sum(answers * outcome_probabilities(difference, middle)[2]))
        low, high = (middle, high) if expected < wanted else (low, middle)
    return float(np.sqrt(low * high))


def verdict_probabilities(difference: Floats, lead: int, left: int, same_weight: float) -> tuple[Floats, Floats]:
    """Return the probabilities that the first document, and that the second, leads once all answers are in.

    Parameters
    ----------
    difference : ndarray of float
        The score of the first document less that of the second.
    lead : int
        How many more answers have chosen the first document so far.
    left : int, 0 or more
        How many answers are still to come, each independent of the others given the difference.
    same_weight : float, 0 or more
        The weight of same.

    Examples
    --------
    >>> import numpy as np
    >>> [round(float(p), 4) for p in verdict_probabilities(np.array(0.0), 0, 6, 0.0)]
    [0.3438, 0.3438]
    """
    first, second, same = (chance[..., None] for chance in outcome_probabilities(difference, same_weight))
    # How many of the answers to come choose a document, and how many of those the first: both are binomial.
    choosing = np.arange(left + 1)
    ways = special.gammaln(left + 1) - special.gammaln(choosing + 1) - special.gammaln(left - choosing + 1)
    log_count = ways + special.xlogy(choosing, first + second) + special.xlogy(left - choosing, same)
    of_choosing = np.exp(log_count)
    first_leads = of_choosing * _more_than((choosing - lead) // 2, choosing, first / (first + second))
    second_leads = of_choosing * _more_than((choosing + lead) // 2, choosing, second / (first + second))
    return first_leads.sum(axis=-1), second_leads.sum(axis=-1)


def _more_than(count: Ints, trials: Ints, probability: Floats) -> Floats:
    """Return the probability of more than so many successes: the upper tail of a binomial distribution."""
    inside = (count >= 0) & (count < trials)
    successes, failures = np.where(inside, count + 1.0, 1.0), np.where(inside, trials - count, 1.0)
    return np.where(inside, special.betainc(successes, failures, probability), count < 0)
