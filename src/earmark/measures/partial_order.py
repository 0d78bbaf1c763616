r"""Measures on partially ordered ground truth: average dynamic recall and its tie-break.

The truth is a sequence of groups, best first; the order within a group is not known. At position :math:`i` of the list
the documents that should have come by then are those of all groups up to the one that holds the :math:`i`-th document
of the truth. Dynamic recall :math:`r_i` is the number of them found in the first :math:`i` ranks, divided by
:math:`i`, and average dynamic recall is its mean over :math:`i = 1 … n`, for :math:`n` documents in the truth.

A document of rank :math:`w` whose group starts at position :math:`s` of the truth counts from :math:`m = \max(w, s)`
on. So with harmonic numbers :math:`H_n = \sum_{i \le n} 1/i`,

.. math:: ADR = \frac{1}{n} \sum_{documents} (H_n - H_{m-1})^+

which needs no loop over positions. Graded judgments are a partial order too: their levels are the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.judged_lists import JudgedLists
from earmark.errors import ParameterError
from earmark.measures.base import Measure, register
from earmark.measures.relevance import divide, relevant


@dataclass(frozen=True)
class GroupPlaces:
    """Where the group of every hit stands in the truth.

    Attributes
    ----------
    start, end : ndarray of int, shape (hits,)
        The first and last position of the hit's group, from 1.
    size : ndarray of int, shape (lists,)
        How many documents the truth orders: n.
    first_group : ndarray of int, shape (lists,)
        The size of the best group.
    """

    start: Ints
    end: Ints
    size: Ints
    first_group: Ints


def group_places(lists: JudgedLists) -> GroupPlaces:
    """Locate the group of every hit; documents of gain 0 are in no group."""
    truth = lists.truth
    if truth.gain.ndim > 1:
        raise ParameterError("ADR and its relatives score one set of gains at a time and cannot be estimated: use nDCG")
    # Rows stand best first within each query, so equal neighbours are groups.
    of, gain = truth.query_of_row, truth.gain
    ordered = gain > 0
    order = np.lexsort((-gain, of))
    of, gain = of[order], gain[order]
    fresh = np.ones(gain.size, dtype=bool)
    fresh[1:] = (of[1:] != of[:-1]) | (gain[1:] != gain[:-1])
    group = np.cumsum(fresh) - 1
    first_row, sizes = np.flatnonzero(fresh), np.bincount(group, minlength=int(fresh.sum()))
    start_of_row = np.empty(gain.size, dtype=np.int64)
    end_of_row = np.empty(gain.size, dtype=np.int64)
    start_of_row[order] = (first_row - truth.offsets[of[first_row]] + 1)[group]
    end_of_row[order] = start_of_row[order] + sizes[group] - 1
    size = Segments(truth.offsets).sum(ordered).astype(np.int64)
    has_rows = np.diff(truth.offsets) > 0
    first_group = np.zeros(len(truth.queries), dtype=np.int64)
    first_group[has_rows] = end_of_row[order][truth.offsets[:-1][has_rows]]
    row = np.maximum(lists.row, 0)
    if not gain.size:
        nothing = np.zeros(row.size, dtype=np.int64)
        return GroupPlaces(nothing, nothing, size[lists.query], first_group[lists.query])
    return GroupPlaces(start_of_row[row], end_of_row[row], size[lists.query], first_group[lists.query])


def harmonic_tail(first: Ints, last: Ints) -> Floats:
    r"""Return :math:`\sum_{i = first}^{last} 1/i`, 0 where it is empty."""
    most = int(max(first.max(initial=1), last.max(initial=0)))
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, most + 1))))
    tail: Floats = np.maximum(harmonic[last] - harmonic[first - 1], 0.0)
    return tail


@register("average_dynamic_recall")
@dataclass(frozen=True, repr=False)
class ADR(Measure):
    """Average dynamic recall over the first n positions, n the size of the truth, or over the first k."""

    name = "ADR"
    needs = "order"
    reference = "Typke2006"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        places = group_places(lists)
        depth = places.size if self.cutoff is None else np.full(lists.size, self.cutoff)
        counts_from = np.maximum(lists.rank, places.start)
        tails = harmonic_tail(counts_from, np.repeat(depth, lists.hits.counts))
        return divide(lists.hits.sum(tails * relevant(lists, None)), depth)


@register("dynamic_recall")
@dataclass(frozen=True, repr=False)
class DR(Measure):
    """Dynamic recall at one position: of the documents that should have come by rank k, how many have, divided by k."""

    name = "DR"
    needs = "order"
    reference = "Typke2006"
    cutoff_required = True

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        assert self.cutoff is not None
        counts_from = np.maximum(lists.rank, group_places(lists).start)
        return lists.hits.sum(relevant(lists, None) & (counts_from <= self.cutoff)) / self.cutoff


@register()
@dataclass(frozen=True, repr=False)
class ADRinv(Measure):
    """ADR's tie-break: the ADR of misplaced documents under the inverted truth; the *lower* is the better list.

    ADR cannot tell apart documents that come too early together or too late together. Those are kept; everything else
    in the list is replaced by one document of the best group, which counts once; and the truth is turned around. A
    list that puts the worse of two misplaced documents first does better under the inverted truth.
    """

    name = "ADRinv"
    needs = "order"
    reference = "Typke2006"
    higher_is_better = False

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        places = group_places(lists)
        found = relevant(lists, None)
        misplaced = found & ((lists.rank < places.start) | (lists.rank > places.end))
        size = np.repeat(places.size, lists.hits.counts)
        tails = harmonic_tail(np.maximum(lists.rank, size - places.end + 1), size)
        score = lists.hits.sum(tails * misplaced) + self._filler(lists, places, misplaced)
        return divide(score, places.size)

    def _filler(self, lists: JudgedLists, places: GroupPlaces, misplaced: NDArray[np.bool_]) -> Floats:
        """Return what the one document that stands for all the others adds, from its first appearance on."""
        # It first stands at the smallest rank that no misplaced document takes.
        leading = misplaced & (lists.hits.cumsum(misplaced) == lists.rank)
        position = lists.hits.sum(leading).astype(np.int64) + 1
        start = places.size - places.first_group + 1
        added = harmonic_tail(np.maximum(position, start), np.maximum(places.size, 0))
        # If the whole best group is misplaced, the stand-in is itself in the list already: only an earlier place adds.
        best = misplaced & (places.start == 1)
        taken = lists.hits.sum(best) == places.first_group
        own = lists.hits.minimum(np.where(best, lists.rank, np.inf), empty=np.inf)
        own = np.minimum(own, places.size + 1).astype(np.int64)
        already = harmonic_tail(np.maximum(own, start), np.maximum(places.size, 0))
        added = np.where(taken, np.maximum(added - already, 0.0), added)
        return np.where((position <= lists.length) & (places.size > 0), added, 0.0)
