"""Preference precision on the pairs answered so far, with intervals: what answers say without a model."""

from __future__ import annotations

import numpy as np
import polars as pl

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.inference.preference_intervals import clustered_shares


def precision_so_far(design: PairDesign, answers: PairAnswers, *, level: float = 0.95) -> pl.DataFrame:
    """Return the preference precision of every system on the pairs answered so far, the best first.

    Of the answered pairs with a majority that a system ranks, the precision is the share that it orders as the majority
    does (:mod:`earmark.measures.preference_precision`); intervals respect that pairs share queries and documents
    (:mod:`earmark.inference.preference_intervals`). A policy that chooses pairs adaptively makes it a statement about
    the pairs that were asked, not about all candidates.

    Parameters
    ----------
    design : PairDesign
    answers : PairAnswers
    level : float, in (0, 1)
        The probability with which each interval holds, at one look.

    Returns
    -------
    polars.DataFrame
        ``system``, ``precision``, ``low``, ``high``, ``correct`` and ``pairs``. The precision is null where a system is
        asked about no pair, the interval also where all its pairs belong to one query.
    """
    winner = np.sign(answers.lead)
    counted = (design.order != 0) & (winner != 0)
    correct = counted & (design.order == winner)
    found = clustered_shares(correct, counted, np.ones(len(design.pairs)), design.pairs, level=level)
    frame = pl.DataFrame(
        {
            "system": pl.Series(design.systems, dtype=pl.String),
            "precision": found.share,
            "low": found.low,
            "high": found.high,
            "correct": correct.sum(axis=1),
            "pairs": counted.sum(axis=1),
        }
    ).fill_nan(None)
    return frame.sort("precision", "system", descending=[True, False], nulls_last=True)
