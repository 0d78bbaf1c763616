"""Counts of relevant and judged documents: what most binary measures are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists
from earmark.measures.weighted_sums import WeightedSum


def is_relevant(gain: Floats, rel: float | None) -> NDArray[np.bool_]:
    """Tell which gains count as relevant: those above 0, or those of at least ``rel``."""
    return gain > 0 if rel is None else gain >= rel


def sum_of_relevant(
    weights: Callable[[NDArray[np.integer]], Floats],
    rel: float | None,
    ideal: Callable[[NDArray[np.integer]], Floats] | None = None,
) -> WeightedSum | None:
    """Return a sum over relevant documents; none where a gain of 0 is relevant, so that not judged is another thing."""
    if rel is not None and rel <= 0:
        return None
    return WeightedSum(weights, lambda gain: is_relevant(gain, rel).astype(np.float64), ideal)


def relevant(lists: JudgedLists, rel: float | None) -> NDArray[np.bool_]:
    """Tell which hits are relevant."""
    return is_relevant(lists.gain, rel) & lists.judged


def irrelevant(lists: JudgedLists, rel: float | None) -> NDArray[np.bool_]:
    """Tell which hits were judged and found not relevant."""
    return ~is_relevant(lists.gain, rel) & lists.judged


def relevant_found(lists: JudgedLists, rel: float | None, cutoff: int | None) -> Floats:
    """Count the relevant documents of every list within the cutoff."""
    return lists.hits.sum(relevant(lists, rel) & lists.within(cutoff))


def relevant_of_query(truth: GroundTruth, rel: float | None = None) -> Floats:
    """Count the relevant documents of every query."""

    def count() -> Floats:
        return Segments(truth.offsets).sum(is_relevant(truth.gain, rel) & (truth.gain >= 0))

    return truth.once(("relevant", rel), count)


def relevant_total(lists: JudgedLists, rel: float | None) -> Floats:
    """Count the relevant documents that the truth knows for every list's query: :math:`R`."""
    return relevant_of_query(lists.truth, rel)[..., lists.query]


def irrelevant_total(lists: JudgedLists, rel: float | None) -> Floats:
    """Count the documents known not to be relevant to every list's query: :math:`N`."""
    truth = lists.truth

    def count() -> Floats:
        known = ~is_relevant(truth.gain, rel) & (truth.gain >= 0)
        return Segments(truth.offsets).sum(known) + truth.known_elsewhere

    return truth.once(("irrelevant", rel), count)[..., lists.query]


def divide(numerator: Floats, denominator: Floats | Ints | float) -> Floats:
    """Divide, with 0/0 and x/0 worth 0: a query without relevant documents gives every system 0."""
    bottom = np.broadcast_to(np.asarray(denominator, dtype=np.float64), numerator.shape)
    return np.divide(numerator, bottom, out=np.zeros(numerator.shape), where=bottom != 0)
