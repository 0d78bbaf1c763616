r"""Position bias: whether people choose the document on the right, shown second, too often.

Of the answers that choose a document, the share that chose the right-hand one should be one half. That is so if it was
a matter of chance, or at least had nothing to do with the documents, which of the two stood there. Where pairs were
always shown one way round it need not be: the better document may have been on the left more often than not. Pairs
shown *both ways round* settle it, for their documents cancel out. With shares :math:`r_1, r_2` of right-hand choices
among the :math:`n_1, n_2` answers either way,

.. math:: r = \frac{\sum_p h_p\, (r_{p1} + r_{p2}) / 2}{\sum_p h_p}, \qquad h_p = \frac{n_{p1} n_{p2}}{n_{p1} + n_{p2}}

is one half without a bias, whatever the documents. Intervals and tests take into account that answers of the same
worker and about the same pair are alike, see :mod:`~earmark.inference.proportions`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import Preferences
from earmark.inference.proportions import ClusteredShare, clustered_share
from earmark.wording import counted


@dataclass(frozen=True, repr=False)
class PositionBias(Display):
    """How often the document on the right was chosen.

    Attributes
    ----------
    every : ClusteredShare
        Of all answers that choose a document.
    both_ways : ClusteredShare
        Of those about pairs that were shown both ways round, weighted so that the documents cancel out; NaN if there
        are none.
    pairs_both_ways : int
        How many such pairs there are.
    """

    every: ClusteredShare
    both_ways: ClusteredShare
    pairs_both_ways: int

    def to_polars(self) -> pl.DataFrame:
        """Two rows, ``among`` all and both ways: ``right``, ``low``, ``high``, ``p_value`` and ``answers``."""
        rows = [("all", self.every), ("both ways", self.both_ways)]
        return pl.DataFrame(
            {
                "among": [name for name, _ in rows],
                "right": [one.share for _, one in rows],
                "low": [one.low for _, one in rows],
                "high": [one.high for _, one in rows],
                "p_value": [one.p_value for _, one in rows],
                "answers": [one.answers for _, one in rows],
            }
        ).with_columns(pl.col(pl.Float64).fill_nan(None))

    def _summary(self) -> Summary:
        """Show how often the right was chosen."""
        right = "–" if math.isnan(self.every.share) else f"{self.every.share:.1%}"
        sentence = f"{right} of {counted(self.every.answers, 'answer')} chose the right"
        return Summary(sentence, [DisplayTable(self.to_polars())])


def position_bias(preferences: Preferences, *, level: float = 0.95) -> PositionBias:
    """Return how often the document on the right was chosen, with intervals and tests of one half.

    Parameters
    ----------
    preferences : Preferences
        The answers; ``same`` chooses neither side and does not count.
    level : float, in (0, 1)
        The probability with which an interval holds.
    """
    pairs = preferences.pairs()
    decided = preferences.sign != 0
    pair, worker = pairs.answer_pair[decided], preferences.assessor_index[decided]
    straight = pairs.answer_orientation[decided] > 0
    right = preferences.sign[decided] < 0
    every = clustered_share(right, np.ones(right.size), worker, pair, level=level)

    straight_count = np.bincount(pair, straight, len(pairs))
    turned_count = np.bincount(pair, ~straight, len(pairs))
    turned_too = (straight_count > 0) & (turned_count > 0)
    among = turned_too[pair]
    # h over the answers that way round: n1 n2 / (n1 + n2) / n1.
    opposite = np.where(straight, turned_count[pair], straight_count[pair])
    weight = opposite / np.maximum(straight_count + turned_count, 1)[pair]
    both_ways = clustered_share(right[among], weight[among], worker[among], pair[among], level=level)
    return PositionBias(every, both_ways, int(np.count_nonzero(turned_too)))
