r"""Asymptotic confidence sequences: intervals that hold at all looks together.

An interval of 95% misses the truth with probability .05 at *one* time chosen beforehand. With repeated looks and
optional stopping the error is larger: over a whole campaign, the interval of a system or of a difference misses at some
look in about a third of the cases. A *confidence sequence* is a sequence of wider intervals that contain the truth at
all looks simultaneously with the given probability; then judging may stop at any look [2]_.

As judgments come in, the error of an estimate with variance :math:`V` behaves like Brownian motion whose time is the
information :math:`I = 1/V`. After a first look with information :math:`I_0`, Robbins' [1]_ boundary

.. math:: |\hat\theta - \theta| \le \sqrt{V}\,\sqrt{a^2 + \ln(I / I_0)}

is ever crossed with probability :math:`2\,(1 - \Phi(a) + a\,\varphi(a))` exactly. At 95%, :math:`a = 2.795`:
intervals are 1.43 times as wide as ordinary ones at the first look, 1.55 times with four times its information, 1.66
times with sixteen times. The guarantee is asymptotic: the first look must be late enough for estimates to be about
normal, for which 100 judgments (:data:`FIRST_LOOK`) suffice. There is no guarantee for earlier looks.

Solved for the probability, the same boundary gives the confidence in a sign, so that interval and confidence are always
consistent. Where estimates follow Student's t, intervals are widened by the same factor as ordinary 95% intervals: at
the boundary itself, the tails of t are much heavier than those of the sums that t approximates.

References
----------
.. [1] H. Robbins (1970). Statistical methods related to the law of the iterated logarithm. The Annals of Mathematical
   Statistics 41(5), 1397-1409.
.. [2] I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas (2024). Time-uniform central limit theory and
   asymptotic confidence sequences. The Annals of Statistics 52(6), 2613-2640.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from earmark.beliefs.estimates import Estimates, Moments
from earmark.data.arrays import Floats
from earmark.errors import ParameterError

FIRST_LOOK = 100
"""The smallest number of judgments at the first look."""

# More standard errors than this count as this many: at infinity the formula would be 0 times infinity.
_BEYOND = 40.0


@dataclass(frozen=True, eq=False)
class AnyTime:
    """Growth of information since the first look, which the width of a confidence sequence depends on.

    Parameters
    ----------
    scores : ndarray of float, 1 or more, that broadcasts to shape (systems,)
        Information about every system's score over that of the first look: variance then over variance now.
    differences : ndarray of float, 1 or more, that broadcasts to shape (pairs,)
        The same of every difference.
    """

    scores: Floats
    differences: Floats

    @classmethod
    def since(cls, first: Estimates, now: Estimates) -> AnyTime:
        """Compare the variances of two looks, the first and the present one.

        A variance that was 0 at either look, or that has grown, counts as the same at both.
        """
        if first.systems != now.systems:
            raise ParameterError("expected two looks at the same systems")
        return cls(_growth(first.scores, now.scores), _growth(first.differences, now.differences))

    @classmethod
    def by_count(cls, judged: int, *, items: int, first: int = FIRST_LOOK) -> AnyTime:
        """Assume that variances fall as those of a random sample do, where the first look is not available.

        With :math:`n` of :math:`N` items judged, variances are in proportion to :math:`1/n - 1/N`.

        Parameters
        ----------
        judged : int
            How many items are judged (of the sample, where estimates are by design).
        items : int
            How many items there are.
        first : int
            How many items were judged at the first look.

        Raises
        ------
        ParameterError
            Before the first look, for which there is no guarantee.
        """
        if not 0 < first <= judged <= items:
            raise ParameterError(
                f"statements that hold at any time start at {first} judgments, there are {judged} of {items}"
            )
        # Once everything is judged there is no variance left for a growth to matter.
        ratio = 1.0 if judged == items else (1 / first - 1 / items) / (1 / judged - 1 / items)
        growth = np.array(ratio)
        return cls(growth, growth)


def _growth(first: Moments, now: Moments) -> Floats:
    comparable = (first.variance > 0) & (now.variance > 0)
    ratio = np.divide(first.variance, now.variance, out=np.ones(now.variance.shape), where=comparable)
    return np.maximum(ratio, 1.0)


def anytime_multiplier(growth: ArrayLike, *, level: float = 0.95) -> Floats:
    r"""Return how many standard errors an estimate may be off at any look: :math:`\sqrt{a^2 + \ln g}`.

    Parameters
    ----------
    growth : array_like of float, 1 or more
        :math:`g = I / I_0`, the information now over that of the first look.
    level : float, 0..1
        The probability that no look is ever off by more.

    Examples
    --------
    >>> (anytime_multiplier([1, 4, 16]) / 1.96).round(2).tolist()
    [1.43, 1.55, 1.66]
    """
    return np.sqrt(_at_first_look(level) ** 2 + np.log(_checked(growth)))


def anytime_tail(z: ArrayLike, growth: ArrayLike) -> Floats:
    r"""Return the probability that an estimate is ever as many standard errors above the truth.

    With :math:`a = \sqrt{\max(0, z^2 - \ln g)}` it is :math:`1 - \Phi(a) + a\,\varphi(a)`, half of what the boundary of
    this module is crossed with on either side.

    Parameters
    ----------
    z : array_like of float, 0 or more
        How many standard errors.
    growth : array_like of float, 1 or more
        The information now over that of the first look.

    Returns
    -------
    ndarray of float, 0...5
    """
    start = np.sqrt(np.maximum(np.square(z) - np.log(_checked(growth)), 0.0))
    return _crossing(start)


def _crossing(start: Floats | float) -> Floats:
    """Return the one-sided probability of ever crossing the boundary that starts at so many standard errors."""
    finite = np.minimum(start, _BEYOND)
    return np.asarray(special.ndtr(-finite) + finite * np.exp(-(finite**2) / 2) / math.sqrt(2 * math.pi))


@cache
def _at_first_look(level: float) -> float:
    """Return the start of the boundary that is never crossed with a given probability."""
    if not 0 < level < 1:
        raise ParameterError(f"the level of an interval is between 0 and 1, got {level:g}")
    low, high = 0.0, _BEYOND
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if 2 * float(_crossing(middle)) < 1 - level else (middle, high)
    return high


def _checked(growth: ArrayLike) -> Floats:
    ratio = np.asarray(growth, dtype=np.float64)
    if not np.all(np.isfinite(ratio) & (ratio >= 1)):
        raise ParameterError("expected the information now to be finite and no less than at the first look")
    return ratio
