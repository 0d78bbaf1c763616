r"""Intervals and confidence in a sign, from a mean and a variance, for normal or Student's t distributions.

The conventions where the formulas are silent, such as no variance, and what they are used for are told in
:mod:`earmark.inference.confidence`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from earmark.data.arrays import Floats
from earmark.errors import ParameterError
from earmark.inference.confidence_sequences import anytime_multiplier, anytime_tail


def probability_better(
    difference: ArrayLike,
    variance: ArrayLike,
    *,
    margin: float = 0.0,
    df: ArrayLike | None = None,
    growth: ArrayLike | None = None,
) -> Floats:
    r"""Probability that a difference exceeds a margin: :math:`P(\Delta > m) = \Phi((E - m) / \sqrt V)`.

    Parameters
    ----------
    difference, variance : array_like of float, of the same shape
        Mean and variance of score of A minus score of B.
    margin : float
        By how much A has to beat B. The :math:`P(\Delta \le -0.3)` of MTC's section 3.4, that B beats A by .3 or more,
        is ``probability_better(-difference, variance, margin=0.3)``.
    df : array_like of float, optional
        Degrees of freedom of Student's t; without it, the normal distribution.
    growth : array_like of float, 1 or more, optional
        For a probability that holds at all looks together.

    Returns
    -------
    ndarray of float, 0..1
        Without variance 1, or 0, or .5 where the difference is the margin itself.

    Examples
    --------
    >>> probability_better([0.1, -0.1, 0.0], [0.01, 0.0, 0.0]).round(4).tolist()
    [0.8413, 0.0, 0.5]
    """
    mean, spread = _checked(difference, variance)
    excess = mean - margin
    certain = spread == 0
    z = excess / np.sqrt(np.where(certain, 1.0, spread))
    chance = _distribution(df)(z)
    if growth is not None:
        ever = anytime_tail(np.abs(z) / _stretch(df), growth)
        # However small the chance ever to be off as far, that of being so at this look is a bound to claims.
        ever = np.maximum(ever, np.minimum(chance, 1.0 - chance))
        chance = np.where(z >= 0, 1.0 - ever, ever)
    return np.where(certain, 0.5 * (1.0 + np.sign(excess)), chance)


def sign_confidence(
    difference: ArrayLike, variance: ArrayLike, *, df: ArrayLike | None = None, growth: ArrayLike | None = None
) -> Floats:
    """Confidence in the sign of a difference, MTC Eq. 7: the probability that the system that looks better is.

    Parameters
    ----------
    difference, variance : array_like of float, of the same shape
        Mean and variance of the difference.
    df : array_like of float, optional
        Degrees of freedom of Student's t; without it, the normal distribution.
    growth : array_like of float, 1 or more, optional
        For a confidence that holds at all looks together.

    Returns
    -------
    ndarray of float, .5..1
    """
    return probability_better(np.abs(difference), variance, df=df, growth=growth)


def interval(
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    level: float = 0.95,
    df: ArrayLike | None = None,
    growth: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    r"""Interval that holds with a given probability: :math:`E \pm z_{(1 + level)/2} \sqrt V`; BIAS, Eq. 2.17.

    Parameters
    ----------
    mean, variance : array_like of float, of the same shape
    level : float, 0..1
        The probability that the interval holds.
    df : array_like of float, optional
        Degrees of freedom of Student's t; without it, the normal distribution.
    growth : array_like of float, 1 or more, optional
        For an interval that holds at all looks together.

    Returns
    -------
    low, high : ndarray of float
        Both the mean itself where there is no variance.
    """
    center, spread = _checked(mean, variance)
    if not 0 < level < 1:
        raise ParameterError(f"the level of an interval is between 0 and 1, got {level:g}")
    half = (1.0 + level) / 2
    quantile = special.ndtri(half) if df is None else special.stdtrit(_degrees(df), half)
    if growth is not None:
        quantile = np.maximum(quantile, anytime_multiplier(growth, level=level) * _stretch(df))
    width = quantile * np.sqrt(spread)
    return center - width, center + width


def _checked(mean: ArrayLike, variance: ArrayLike) -> tuple[Floats, Floats]:
    center, spread = np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if not (np.all(np.isfinite(center)) and np.all(np.isfinite(spread)) and np.all(spread >= 0)):
        raise ParameterError("expected finite means and variances of 0 or more: nothing can be concluded from others")
    return center, spread


def _degrees(df: ArrayLike) -> Floats:
    degrees = np.asarray(df, dtype=np.float64)
    if not np.all(degrees > 0):
        raise ParameterError(f"Student's t needs degrees of freedom above 0, got {degrees.min():g}")
    return degrees


def _distribution(df: ArrayLike | None) -> Callable[[Floats], Floats]:
    if df is None:
        return special.ndtr
    degrees = _degrees(df)
    return lambda z: np.asarray(special.stdtr(degrees, z))


def _stretch(df: ArrayLike | None) -> Floats:
    """Return how much wider 95% intervals of Student's t are than normal ones."""
    return np.asarray(1.0 if df is None else special.stdtrit(_degrees(df), 0.975) / special.ndtri(0.975))
