r"""The probability that systems differ by a given amount or more, in both directions.

With the mean :math:`E` and the variance :math:`V` of how much better `a` is than `b`, and an amount :math:`x`,

.. math:: P(\Delta \ge x) = \Phi\Bigl(\frac{E - x}{\sqrt V}\Bigr), \qquad
          P(\Delta \le -x) = \Phi\Bigl(\frac{-E - x}{\sqrt V}\Bigr)

(MTC, section 3.4, which asks for :math:`P(\Delta \le -0.3)`), by Student's t where estimates have degrees of freedom.
The two do not add up to 1: what is left is the probability that the systems differ by less.

This is no margin of indifference: nothing is decided by it.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from earmark.data.arrays import Floats
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking
from earmark.inference.intervals import probability_better


def difference_probabilities(ranking: Ranking, by: float) -> tuple[Floats, Floats]:
    """Return the probabilities that `a` is better than `b` by at least `by`, and that `b` is better than `a`.

    Parameters
    ----------
    ranking : Ranking
    by : float, above 0
        In units of the measure.

    Returns
    -------
    a_better_by, b_better_by : ndarray of float, shape (pairs,)
        In the order of :func:`~earmark.beliefs.estimates.all_pairs`. Better is higher or lower, as the measure has it.

    Raises
    ------
    ParameterError
        If the amount is not a number above 0.
    """
    if not (math.isfinite(by) and by > 0):
        raise ParameterError(f"--by is a difference of scores above 0, got {by:g}")
    differences = ranking.estimates.differences
    advantage = differences.mean if ranking.estimates.measure.higher_is_better else -differences.mean
    df = ranking.df if differences.df is None else differences.df
    growth = None if ranking.anytime is None else ranking.anytime.differences

    def at_least(mean: Floats) -> Floats:
        chance = probability_better(mean, differences.variance, margin=by, df=df, growth=growth)
        # A difference that is known to be exactly this amount is at least this amount.
        return np.where(differences.variance == 0, (mean >= by).astype(np.float64), chance)

    return at_least(advantage), at_least(-advantage)


def with_difference_probabilities(frame: pl.DataFrame, ranking: Ranking, by: float) -> pl.DataFrame:
    """Add ``by``, ``a_better_by`` and ``b_better_by`` to rows of pairs, whichever system of a pair comes first."""
    forth, back = difference_probabilities(ranking, by)
    names = pl.Series(ranking.estimates.systems, dtype=pl.String)
    a, b = (names.gather(systems) for systems in (ranking.estimates.a, ranking.estimates.b))
    known = pl.concat(
        [
            pl.DataFrame(
                {"a": first, "b": second, "by": by, "a_better_by": one, "b_better_by": other},
                # One system makes no pairs, whose columns would have no type.
                schema_overrides={"a": pl.String, "b": pl.String, "by": pl.Float64},
            )
            for first, second, one, other in ((a, b, forth, back), (b, a, back, forth))
        ]
    )
    return frame.join(known, on=["a", "b"], how="left", maintain_order="left")
