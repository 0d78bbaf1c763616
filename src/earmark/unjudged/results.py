"""Which results of lists nobody judged: collected while lists are scored, then numbered by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.ground_truth import GroundTruth
from earmark.data.hashing import text_keys
from earmark.data.judged_lists import FilledLists, JudgedLists
from earmark.measures import Measure

DEPTH = 100
"""How many ranks of a list are looked at where a measure has no cutoff, or one beyond."""


def depth_of(measure: Measure) -> int:
    """Return how many ranks of a list are looked at for a measure."""
    return DEPTH if measure.cutoff is None else min(measure.cutoff, DEPTH)


@dataclass(frozen=True, eq=False)
class UnjudgedResults:
    """What nobody judged in some lists; of lists that are scored together.

    Attributes
    ----------
    list, rank : ndarray of int, shape (results,)
        Where the results stand.
    key : ndarray of int, shape (results,)
        A hash of their documents.
    document : polars.Series of String, shape (results,)
        The documents.
    highest : ndarray of float, shape (measures, lists)
        The highest score of every list by measures that find it on the list itself, NaN for others.
    worth : ndarray of float, shape (measures, lists)
        What the judged results within the depth are worth, each of top gain counted as 1.
    judged : ndarray of int, shape (measures, lists)
        How many there are.
    reach : ndarray of int, shape (lists,)
        How many of the first ranks of a list are filled, at most :data:`DEPTH`.
    """

    list: Ints
    rank: Ints
    key: NDArray[np.uint64]
    document: pl.Series
    highest: Floats
    worth: Floats
    judged: Ints
    reach: Ints


def collect(lists: JudgedLists, measures: Sequence[Measure], documents: pl.Series, starts: Ints) -> UnjudgedResults:
    """Find what nobody judged in lists whose documents stand in a series, each from its start on."""
    depth = max((depth_of(measure) for measure in measures), default=0)
    reach = np.minimum(lists.length, depth)
    places = Segments.from_counts(reach)
    hits = lists.judged & (lists.rank <= depth)
    taken = np.zeros(int(reach.sum()), dtype=bool)
    of_hit = lists.hits.of_element
    taken[places.offsets[of_hit[hits]] + lists.rank[hits] - 1] = True
    gone = np.flatnonzero(~taken)
    of, rank = places.of_element[gone], places.position[gone]
    named = documents.gather(starts[of] + rank - 1)
    shape = (len(measures), lists.size)
    highest, worth, judged = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for row, measure in enumerate(measures):
        counts = lists.judged & (lists.rank <= depth_of(measure))
        worth[row] = lists.hits.sum(_worth(measure, lists) * counts)
        judged[row] = lists.hits.sum(counts)
        if type(measure).highest is Measure.highest:
            continue
        within = rank <= depth_of(measure)
        filled = measure.highest(_filled(lists, of[within], rank[within]))
        if filled is not None:
            highest[row] = filled
    return UnjudgedResults(of, rank, text_keys(named), named, highest, worth, judged, reach)


def _worth(measure: Measure, lists: JudgedLists) -> Floats:
    """Return what hits are worth, 1 for top gain."""
    scale = lists.truth.scale
    parts = measure.as_sum(scale)
    if parts is None:
        return (lists.gain > 0).astype(np.float64)
    top = float(parts.worth(np.array(scale.top)))
    return parts.worth(lists.gain) / top if top > 0 else np.zeros(lists.gain.shape)


def _filled(lists: JudgedLists, of: Ints, rank: Ints) -> FilledLists:
    """Put results that nobody judged among the hits."""
    kept = lists.judged
    everyone = np.concatenate((lists.hits.of_element[kept], of))
    ranks = np.concatenate((lists.rank[kept], rank))
    order = np.lexsort((ranks, everyone))
    return FilledLists(
        lists.truth,
        lists.query,
        lists.length,
        Segments.from_counts(np.bincount(everyone, minlength=lists.size)),
        ranks[order],
        np.concatenate((lists.row[kept], np.full(of.size, -1)))[order],
        lists.collection_size,
        lists.longest_elsewhere,
        np.concatenate((np.zeros(int(kept.sum()), dtype=bool), np.ones(of.size, dtype=bool)))[order],
    )


@dataclass(frozen=True, eq=False)
class Unjudged:
    """What nobody judged in an evaluation.

    Attributes
    ----------
    truth : GroundTruth
        What is known.
    system, query, rank : ndarray of int, shape (results,)
        Where the results stand, sorted by query.
    number : ndarray of int, shape (results,)
        Their documents, numbered within each query.
    document : polars.Series of String, shape (results,)
        The documents.
    highest, worth, judged : ndarray, shape (measures, systems, queries)
        As in :class:`UnjudgedResults`.
    reach : ndarray of int, shape (systems, queries)
    """

    truth: GroundTruth
    system: Ints
    query: Ints
    rank: Ints
    number: Ints
    document: pl.Series
    highest: Floats
    worth: Floats
    judged: Ints
    reach: Ints

    @cached_property
    def only_relevant(self) -> bool:
        """Whether the judgments are a list of relevant documents: binary, and none says that one is not."""
        gain = self.truth.gain
        return self.truth.scale.top == 1 and not self.truth.scale.continuous and bool(np.all(gain == 1.0))

    @classmethod
    def gather(
        cls,
        parts: Sequence[UnjudgedResults],
        system: Sequence[Ints],
        query: Sequence[Ints],
        truth: GroundTruth,
        shape: tuple[int, int, int],
    ) -> Unjudged:
        """Put together what was collected, given whose every list is and what it answers."""
        of_system = np.concatenate([own[part.list] for own, part in zip(system, parts, strict=True)])
        of_query = np.concatenate([own[part.list] for own, part in zip(query, parts, strict=True)])
        key = np.concatenate([part.key for part in parts])
        rank = np.concatenate([part.rank for part in parts])
        documents = pl.concat([part.document for part in parts])
        order = np.lexsort((of_system, key, of_query))
        of_query, key = of_query[order], key[order]
        fresh = np.ones(key.size, dtype=bool)
        fresh[1:] = (of_query[1:] != of_query[:-1]) | (key[1:] != key[:-1])
        running = np.cumsum(fresh) - 1
        first = np.searchsorted(of_query, of_query, side="left")
        filled = [np.full(shape, np.nan), np.zeros(shape), np.zeros(shape, dtype=np.int64)]
        reach = np.zeros(shape[1:], dtype=np.int64)
        for part, own, asked in zip(parts, system, query, strict=True):
            for whole, piece in zip(filled, (part.highest, part.worth, part.judged), strict=True):
                whole[:, own, asked] = piece
            reach[own, asked] = part.reach
        highest, worth, judged = filled
        number = running - running[first] if key.size else running
        return cls(
            truth,
            of_system[order],
            of_query,
            rank[order],
            number,
            documents.gather(order),
            highest,
            worth,
            judged,
            reach,
        )
