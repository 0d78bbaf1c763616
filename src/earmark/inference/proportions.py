r"""Shares of answers, with intervals: Wilson's, and for answers that belong together.

Answers of one worker are alike, and so are those about one pair of documents. With weights :math:`w_i`, outcomes
:math:`y_i` in {0, 1} and the share :math:`s = \sum w_i y_i / \sum w_i`, its error is linearised and summed over
whatever two answers have in common [1]_,

.. math:: e_i = \frac{w_i (y_i - s)}{\sum w_i}, \qquad
   V = \sum_{workers} \Bigl(\sum_{i} e_i\Bigr)^2 + \sum_{pairs} \Bigl(\sum_i e_i\Bigr)^2
   - \sum_{both} \Bigl(\sum_i e_i\Bigr)^2

each sum times :math:`G / (G - 1)`, where :math:`G = 1 / \sum_g h_g^2` is the effective number of groups, of which group
g has the share :math:`h_g` of the weight [3]_: their number where all count the same. V is at least as large as any of
the three.
So many answers are worth :math:`n = s (1 - s) / V` independent ones. The interval is Wilson's for that many [2]_, with
Student's t for the fewer of workers and pairs in place of the normal quantile; the test is its inverse, so an interval
excludes a value exactly when the test rejects it. Where there is no spread to see, as all outcomes are equal, every
group counts as one answer. In simulated studies of 40 to 200 pairs with 8 to 40 workers, who favour a side or do not,
95 to 99 of 100 intervals of 95% held.

References
----------
.. [1] A. C. Cameron, J. B. Gelbach, D. L. Miller (2011). Robust inference with multiway clustering. Journal of Business
   and Economic Statistics 29(2), 238-249.
.. [2] E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal of the
   American Statistical Association 22(158), 209-212.
.. [3] L. Kish (1965). Survey Sampling. Wiley.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy import special

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, Summary, facts, written_cells
from earmark.errors import ParameterError
from earmark.wording import counted


@dataclass(frozen=True, repr=False)
class ClusteredShare(Display):
    """A share of answers, its interval, and a test of one value.

    Attributes
    ----------
    share, low, high : float, in [0, 1]
        NaN where there are no answers; no interval where all belong to one group.
    p_value : float, in [0, 1]
        Two-sided, of the share being ``null``.
    null : float
        What was tested.
    answers : int
        How many answers there are.
    """

    share: float
    low: float
    high: float
    p_value: float
    null: float
    answers: int

    def _summary(self) -> Summary:
        """Say it with its interval."""
        share, low, high = written_cells([self.share, self.low, self.high])
        return Summary(f"{share} ({low} to {high}) of {counted(self.answers, 'answer')}", [facts(**asdict(self))])


def require_level(level: float) -> None:
    """Complain about a level of intervals that is no probability."""
    if not 0 < level < 1:
        raise ParameterError(f"the level of an interval lies between 0 and 1, got {level:g}")


def wilson_interval(share: npt.ArrayLike, n: npt.ArrayLike, quantile: npt.ArrayLike) -> tuple[Floats, Floats]:
    r"""Return the ends of Wilson's interval for shares of n observations; NaN where there are none.

    .. math:: \frac{s + q^2 / 2n \pm q \sqrt{s (1 - s) / n + q^2 / 4n^2}}{1 + q^2 / n}

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 10, 1.96)
    >>> round(float(low), 3), round(float(high), 3)
    (0.596, 0.982)
    """
    s, q = np.asarray(share, dtype=np.float64), np.asarray(quantile, dtype=np.float64)
    n = np.asarray(n, dtype=np.float64)
    n = np.where(n > 0, n, np.nan)
    shrink = 1 + q**2 / n
    centre = (s + q**2 / (2 * n)) / shrink
    reach = q / shrink * np.sqrt(s * (1 - s) / n + q**2 / (4 * n**2))
    return np.clip(centre - reach, 0.0, s), np.clip(centre + reach, s, 1.0)


def normal_quantile(level: float) -> float:
    """Return how many standard errors an interval reaches to either side."""
    require_level(level)
    return float(special.ndtri((1 + level) / 2))


def effective_number(group: Ints, weight: Floats) -> float:
    """Return how many groups of equal weight would count as much as these (Kish 1965).

    Examples
    --------
    >>> effective_number(np.array([0, 1, 2, 2]), np.array([2.0, 2.0, 1.0, 1.0]))
    3.0
    """
    total = np.bincount(group, weight)
    return float(total.sum() ** 2 / (total @ total))


def clustered_share(
    outcome: Floats | NDArray[np.bool_],
    weight: Floats,
    one: Ints,
    two: Ints,
    *,
    null: float = 0.5,
    level: float = 0.95,
    wider: float = 1.0,
) -> ClusteredShare:
    """Return a share of answers that are grouped in two ways at once.

    Parameters
    ----------
    outcome : ndarray of bool, or of float in [0, 1], shape (answers,)
        What is counted.
    weight : ndarray of float, shape (answers,), above 0
        What each answer counts.
    one, two : ndarray of int, shape (answers,)
        The groups, such as workers and pairs.
    null : float, in (0, 1)
        The share to test.
    level : float, in (0, 1)
        The probability with which the interval holds.
    wider : float, 1 or more
        By what factor the quantile is larger, for looks that are repeated; interval and test agree all the same.
    """
    require_level(level)
    if not outcome.size:
        return ClusteredShare(np.nan, np.nan, np.nan, np.nan, null, 0)
    whole = float(weight.sum())
    share = float(weight @ outcome) / whole
    error = weight * (outcome - share) / whole
    one, two = (np.unique(label, return_inverse=True)[1] for label in (one, two))
    groups = int(one.max()) + 1, int(two.max()) + 1
    if min(groups) < 2:
        return ClusteredShare(share, np.nan, np.nan, np.nan, null, outcome.size)
    both = np.unique(one * groups[1] + two, return_inverse=True)[1]
    fewest = min(effective_number(one, weight), effective_number(two, weight))
    parts = [_variance(error, weight, label) for label in (one, two, both)]
    variance = max(parts[0] + parts[1] - parts[2], *parts)
    worth = share * (1 - share) / variance if variance > 0 and 0 < share < 1 else fewest
    low, high = wilson_interval(share, worth, wider * special.stdtrit(fewest - 1, (1 + level) / 2))
    statistic = abs(share - null) / (null * (1 - null) / worth) ** 0.5
    p_value = 2 * float(special.stdtr(fewest - 1, -statistic / wider))
    return ClusteredShare(share, float(low), float(high), p_value, null, outcome.size)


def _variance(error: Floats, weight: Floats, label: Ints) -> float:
    """Return the part of the variance of a share that groups make, corrected for their number."""
    sums = np.bincount(label, error)
    groups = effective_number(label, weight)
    return float(sums @ sums) * groups / (groups - 1)
