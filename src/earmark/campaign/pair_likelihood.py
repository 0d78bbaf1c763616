r"""What an answer about two documents says about how far they differ: the likelihood of Davidson's model, pair by pair.

An answer about two documents whose scores differ by :math:`d` chooses the first, the second or neither with

.. math:: P(first) = \frac{e^{d/2}}{Z}, \quad P(second) = \frac{e^{-d/2}}{Z}, \quad P(same) = \frac{\nu}{Z},
   \qquad Z = e^{d/2} + e^{-d/2} + \nu

so that :math:`\nu = 0` is the model of Bradley and Terry, and a crowd that says *same* half of the time at
:math:`d = 0` has :math:`\nu = 2`. The likelihood is log-concave in :math:`d`.

:func:`verdict_probabilities` says what may become of a question that not all have answered yet.

References
----------
.. [1] R. R. Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison experiments.
   Journal of the American Statistical Association 65(329), 317–328.
"""

from __future__ import annotations

import numpy as np

from earmark.crowd.paired_comparison import outcome_probabilities
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError


def log_likelihood(difference: Floats, first: Ints, second: Ints, same: Ints, same_weight: float) -> Floats:
    r"""Return the log-likelihood of counts of answers, without the multinomial coefficient.

    :math:`(a - b)\, d / 2 + s \log \nu - (a + b + s) \log Z`.

    Raises
    ------
    ParameterError
        If somebody answered same and :math:`\nu` says that nobody does.
    """
    if same_weight < 0 or (same_weight == 0 and np.any(same)):
        raise ParameterError(f"with answers 'same' the weight of same is above 0, got {same_weight:g}")
    size = np.abs(difference)
    log_whole = size / 2 + np.log1p(np.exp(-size) + same_weight * np.exp(-size / 2))
    said_same = same * np.log(same_weight) if same_weight > 0 else 0.0
    likelihood: Floats = (first - second) * difference / 2 + said_same - (first + second + same) * log_whole
    return likelihood


def slope_and_information(difference: Floats, lead: Ints, answers: Ints, same_weight: float) -> tuple[Floats, Floats]:
    """Return the first derivative of the log-likelihood, and the negative second one, which is never negative.

    Parameters
    ----------
    difference : ndarray of float
        The score of the first document less that of the second.
    lead : ndarray of int
        How many more answers chose the first document than the second.
    answers : ndarray of int
        How many answers there were, same among them.
    same_weight : float, 0 or more
        The weight of same.
    """
    first, second, _ = outcome_probabilities(difference, same_weight)
    expected = first - second
    slope: Floats = (lead - answers * expected) / 2
    information: Floats = answers * (first + second - expected**2) / 4
    return slope, information


def estimate_same_weight(difference: Floats, answers: Floats | Ints, same: int) -> float:
    r"""Return the :math:`\nu` under which as many answers are expected to be *same* as were.

    Parameters
    ----------
    difference : ndarray of float, shape (pairs, ...)
        How much the documents of each pair differ.
    answers : ndarray of int or float, shape (pairs, ...)
        How many answers each pair got.
    same : int
        How many of all answers were same; half an answer more of either kind keeps the weight finite.
    """
    total = float(answers.sum())
    if not same:
        return 0.0
    wanted = total * (same + 0.5) / (total + 1.0)
    low, high = 1e-6, 1e6
    # The expectation grows with the weight, which bisection finds to full precision on a scale of logarithms.
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        expected = float(np.sum(answers * outcome_probabilities(difference, middle)[2]))
        low, high = (middle, high) if expected < wanted else (low, middle)
    return float(np.sqrt(low * high))


def verdict_probabilities(difference: Floats, lead: int, left: int, same_weight: float) -> tuple[Floats, Floats]:
    """Return how likely it is that the first document leads when all have answered, and that the second does.

    Parameters
    ----------
    difference : ndarray of float
        How far the documents differ.
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
    first, second, same = outcome_probabilities(difference, same_weight)
    # The distribution of the lead among those still to come, from −left to left, grows by one answer at a time.
    chance = np.zeros((*difference.shape, 2 * left + 1))
    chance[..., left] = 1.0
    for _ in range(left):
        wider = chance * same[..., None]
        wider[..., 1:] += chance[..., :-1] * first[..., None]
        wider[..., :-1] += chance[..., 1:] * second[..., None]
        chance = wider
    final = lead + np.arange(-left, left + 1)
    return chance[..., final > 0].sum(axis=-1), chance[..., final < 0].sum(axis=-1)
