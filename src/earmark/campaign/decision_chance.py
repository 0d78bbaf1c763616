r"""The probability that a pair is decided after more judgments, from how far its variance will have fallen.

Let :math:`d` be the posterior mean of a difference of scores and :math:`v_0` its variance. How much a set of judgments
reduces the variance does not depend on the answers (:mod:`earmark.beliefs.lookahead`): judging items in an order that
is fixed gives a path :math:`v_0 > v_1 > \dots` that is known beforehand. Not known is the posterior mean after n
judgments. Before they are made, its distribution is

.. math:: m_n \sim \mathcal N(d,\; v_0 - v_n).

The pair is decided at level c when :math:`|m_n| \ge z_c \sqrt{v_n}`, which happens with probability

.. math:: P_n = \Phi\Bigl(\frac{d - z_c \sqrt{v_n}}{\sqrt{v_0 - v_n}}\Bigr)
              + \Phi\Bigl(\frac{-d - z_c \sqrt{v_n}}{\sqrt{v_0 - v_n}}\Bigr).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from earmark.beliefs.lookahead import Lookahead
from earmark.data.arrays import Floats, Ints
from earmark.inference.intervals import interval


def chance_decided(
    difference: float,
    *,
    learnt: Floats,
    variance: Floats,
    level: float,
    df: float | None = None,
    later_df: Floats | None = None,
    growth: Floats | None = None,
) -> Floats:
    r"""Return the probability that a difference is decided after more was learnt, :math:`P_n`.

    Parameters
    ----------
    difference : float
        :math:`d`, what is expected of it now.
    learnt : ndarray of float, shape (steps,), 0 or more
        :math:`v_0 - v_n`, how much of its variance is gone.
    variance : ndarray of float, shape (steps,), 0 or more
        What the rule takes the variance to be then: :math:`v_n`, and whatever no judgment takes off.
    level : float, above .5 and below 1
        From which confidence on a pair is decided.
    df, later_df : float and ndarray of float, shape (steps,), optional
        Degrees of freedom of Student's t, now and then; without them, the normal distribution.
    growth : ndarray of float, shape (steps,), optional
        For a rule that holds at all looks together: the information then over that of the first look.

    Returns
    -------
    ndarray of float, shape (steps,), 0..1

    Examples
    --------
    >>> chance_decided(0.0, learnt=np.array([0.0, 0.9, 1.0]), variance=np.array([1.0, 0.1, 0.0]), level=0.95).round(2)
    array([0.  , 0.58, 1.  ])
    """
    # A confidence of c in a sign is an interval of level 2c - 1 that ends at 0.
    bar = interval(np.zeros_like(variance), variance, level=2.0 * level - 1.0, df=later_df, growth=growth)[1]
    moves = learnt > 0
    reach = np.sqrt(np.where(moves, learnt, 1.0))
    up, down = (difference - bar) / reach, (-difference - bar) / reach
    chance = special.ndtr(up) + special.ndtr(down) if df is None else special.stdtr(df, up) + special.stdtr(df, down)
    certain = (np.abs(difference) >= bar) & (difference != 0)
    return np.asarray(np.where(moves, np.minimum(chance, 1.0), certain), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class OpenPair:
    """The posterior of one pair's difference, and when the pair counts as decided.

    Attributes
    ----------
    difference, variance, df
        Posterior mean, variance and degrees of freedom of the difference, about the queries at hand.
    level : float
        From which confidence on a pair is decided.
    between : float
        The variance between queries, which no judgment reduces; 0 for verdicts about the queries at hand.
    queries : int
    growth : callable
        The growth of information after more judgments, for rules that hold at any time.
    """

    difference: float
    variance: float
    df: float | None
    level: float
    between: float
    queries: int
    growth: Callable[[Ints], Floats | None]

    def chance(self, judgments: Ints, remaining: Floats, *, df_growth: Floats | None = None) -> Floats:
        """Return the probability of being decided when shares of the variance that judging reduces remain."""
        left = self.variance * remaining
        df = None if self.df is None else self.df * (np.ones(left.size) if df_growth is None else df_growth)
        if self.between > 0:
            # As the ranking combines both; once everything is judged, only the queries are few.
            parts = self.between**2 / (self.queries - 1) + (0.0 if df is None else left**2 / df)
            df = (left + self.between) ** 2 / parts
        return chance_decided(
            self.difference,
            learnt=self.variance - left,
            variance=left + self.between,
            level=self.level,
            df=self.df,
            later_df=df,
            growth=self.growth(judgments),
        )


def variance_along(ahead: Lookahead, path: Ints, noise: float) -> Floats:
    """Return the share of the variance of every difference that is left along hypothetical judgments.

    Parameters
    ----------
    ahead : Lookahead
        On the differences; it is used up.
    path : ndarray of int, shape (steps,)
        The items that are judged, the first first.
    noise : float
        The variance of an answer about the gain.

    Returns
    -------
    ndarray of float, shape (1 + steps, differences), 0..1
        The first row is all ones.
    """
    start = np.diagonal(ahead.score_covariance).copy()
    variance = np.tile(start, (1 + path.size, 1))
    for step, item in enumerate(path, start=1):
        ahead.condition_on(int(item), noise=noise)
        variance[step] = np.diagonal(ahead.score_covariance)
    return np.divide(np.maximum(variance, 0.0), start, out=np.zeros_like(variance), where=start > 0)
