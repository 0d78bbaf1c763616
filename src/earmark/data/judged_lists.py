"""Ranked lists met with ground truth: all that a measure needs to know.

Measures look only at documents about which something is known, so a list is reduced to those: their ranks and
gains. A list of a thousand documents of which ten are judged becomes ten numbers, whatever measure comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.ground_truth import GroundTruth
from earmark.data.hashing import text_keys
from earmark.data.runs import Runs
from earmark.data.text_blocks import in_threads


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Ranked lists reduced to the documents that the ground truth knows.

    Parameters
    ----------
    truth : GroundTruth
        What is known.
    query : ndarray of int, shape (lists,)
        The query each list answers, as an index into ``truth.queries``.
    length : ndarray of int, shape (lists,)
        How many documents each list holds, known or not: :math:`|A|`.
    hits : Segments
        Which hits belong to which list.
    rank : ndarray of int, shape (hits,)
        The rank of each known document, ascending within its list.
    row : ndarray of int, shape (hits,)
        The truth's row for it, or -1 where it is only known not to be relevant.
    collection_size : int or None
        How many documents could have been retrieved: :math:`|D|`.
    longest_elsewhere : int
        The length of the longest list that belongs to the same evaluation and is not among these.
    """

    truth: GroundTruth
    query: Ints
    length: Ints
    hits: Segments
    rank: Ints
    row: Ints
    collection_size: int | None = None
    longest_elsewhere: int = 0

    @property
    def longest(self) -> int:
        """The length of the longest list of the evaluation."""
        return int(self.length.max(initial=self.longest_elsewhere))

    @property
    def size(self) -> int:
        """How many lists there are."""
        return self.query.size

    @cached_property
    def gain(self) -> Floats:
        """The gain of every hit, shape (..., hits); 0 where it was not judged."""
        return self._known_gain()

    def _known_gain(self) -> Floats:
        gain = np.maximum(self.truth.gain, 0.0)
        return np.where(self.row >= 0, gain[..., self.row], 0.0) if gain.shape[-1] else np.zeros(self.row.size)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Whether every hit was judged, not only pooled."""
        if not self.truth.gain.shape[-1]:
            return np.ones(self.row.size, dtype=bool)
        return (self.row < 0) | (self.truth.gain[..., self.row] >= 0)

    def within(self, cutoff: int | None) -> NDArray[np.bool_] | bool:
        """Tell which hits stand in the first ``cutoff`` ranks."""
        return True if cutoff is None else self.rank <= cutoff

    def depth(self, cutoff: int | None) -> Ints:
        """How many documents of each list a cutoff leaves."""
        return self.length if cutoff is None else np.minimum(self.length, cutoff)

    def with_gains(self, gain: Floats) -> JudgedLists:
        """Return the same lists with other gains, for example many samples of them."""
        return replace(self, truth=replace(self.truth, gain=gain))


@dataclass(frozen=True, eq=False)
class FilledLists(JudgedLists):
    """Lists in which some documents that nobody judged stand among the hits, with the top gain.

    What is counted over all documents of a query, such as how many are relevant, does not count them.

    Parameters
    ----------
    unjudged : ndarray of bool, shape (hits,)
        Which hits these are.
    """

    unjudged: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @cached_property
    def gain(self) -> Floats:
        """The gain of every hit, shape (hits,)."""
        return np.where(self.unjudged, self.truth.scale.top, self._known_gain())


def match(runs: Runs, truth: GroundTruth, *, collection_size: int | None = None) -> JudgedLists:
    """Find the known documents of all lists whose query the truth knows.

    Lists for other queries come out with query -1 and no hits.
    """
    known = np.array([truth.query_index.get(name, -1) for name in runs.queries], dtype=np.int64)
    query = known[runs.list_query] if runs.list_query.size else np.zeros(0, dtype=np.int64)
    length = runs.lengths.copy()
    rank, row, of_hit = _find(runs, truth, query)
    if truth.own_document:
        rank, row, of_hit, length = _without_own_document(runs, rank, row, of_hit, length)
    size = truth.collection_size if collection_size is None else collection_size
    counts = np.bincount(of_hit, minlength=length.size)
    return JudgedLists(truth, query, length, Segments.from_counts(counts), rank, row, size)


def _find(runs: Runs, truth: GroundTruth, query: Ints) -> tuple[Ints, Ints, Ints]:
    """Return rank, truth row and list of every hit, in list and rank order."""
    of_result = np.repeat(query.astype(np.int32), runs.lengths)
    row_of_result = np.full(of_result.size, -2, dtype=np.int32)
    if truth.elsewhere is not None:
        row_of_result[runs.documents.is_in(truth.elsewhere.implode()).to_numpy() & (of_result >= 0)] = -1
    chunks = runs.documents.get_chunks() if runs.documents.n_chunks() > 1 else [runs.documents]
    starts = np.cumsum([0, *(chunk.len() for chunk in chunks)])[:-1]
    # Made before the threads start, which would each make it.
    table = truth.rows_by_key

    def look_up(chunk: pl.Series, start: int) -> None:
        asked = of_result[start : start + chunk.len()]
        at, row = table.find(text_keys(chunk), asked)
        same = np.flatnonzero((chunk[at] == truth.documents[row]).to_numpy())
        row_of_result[start + at[same]] = row[same]

    for _ in in_threads(lambda part: look_up(*part), zip(chunks, starts.tolist(), strict=True)):
        pass
    position = np.flatnonzero(row_of_result > -2)
    of_hit = np.repeat(np.arange(query.size), np.diff(np.searchsorted(position, runs.offsets)))
    return position - runs.offsets[of_hit] + 1, row_of_result[position].astype(np.int64), of_hit


def _without_own_document(
    runs: Runs, rank: Ints, row: Ints, of_hit: Ints, length: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Take the query itself out of its own list and close the gap it leaves."""
    position = runs.offsets[of_hit] + rank - 1
    names = pl.Series(runs.queries, dtype=pl.String)
    own = (runs.documents.gather(position) == names.gather(runs.list_query[of_hit])).to_numpy()
    own_rank = np.full(length.size, np.iinfo(np.int64).max)
    own_rank[of_hit[own]] = rank[own]
    shifted = rank - (rank > own_rank[of_hit])
    keep = ~own
    return shifted[keep], row[keep], of_hit[keep], length - np.bincount(of_hit[own], minlength=length.size)
