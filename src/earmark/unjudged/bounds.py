"""Bounds of scores and of differences of an evaluation, and by how much of it rests on what nobody judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.measures import Measure
from earmark.measures.weighted_sums import WeightedSum
from earmark.unjudged.query_bounds import most_of_firsts, most_of_ratios, most_of_sums
from earmark.unjudged.results import Unjudged, depth_of

# How many numbers one intermediate matrix may hold.
_ROOM = 1 << 22


@dataclass(frozen=True, eq=False)
class Bounds:
    """What unjudged documents could change by one measure.

    Parameters
    ----------
    unjudged : Unjudged
    measure : Measure
    place : int
        Which of the measures of the evaluation it is.
    values : ndarray of float, shape (systems, queries)
        The scores, if no unjudged document is worth anything.
    """

    unjudged: Unjudged
    measure: Measure
    place: int
    values: Floats

    @property
    def are_known(self) -> bool:
        """Whether anything is known: not of measures that leave aside what nobody judged, or of unbounded range."""
        return self.measure.needs_all_judged and (
            self._parts is not None or self._of_first is not None or bool(np.isfinite(self.measure.range).all())
        )

    @cached_property
    def share(self) -> Floats:
        """By rank weight, how much of the results of every system is unjudged, 0..1, shape (systems,).

        The weights are those of the measure where it is a weighted sum, else the reciprocal ranks.
        """
        weights = self._rank_weights
        reach = np.minimum(self.unjudged.reach, depth_of(self.measure))
        total = np.concatenate(([0.0], np.cumsum(weights)))[reach].sum(axis=1)
        within = self._within
        of_system = self.unjudged.system[within]
        gone = np.bincount(of_system, weights[self.unjudged.rank[within] - 1], minlength=total.size)
        return np.asarray(np.divide(gone, total, out=np.zeros(total.size), where=total > 0))

    @cached_property
    def worth_of_judged(self) -> Floats:
        """What a judged result of every system is worth on average, 1 for top gain; 1 without any; shape (systems,)."""
        worth = self.unjudged.worth[self.place].sum(axis=1)
        judged = self.unjudged.judged[self.place].sum(axis=1)
        return np.asarray(np.divide(worth, judged, out=np.ones(worth.size), where=judged > 0))

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """The least and the greatest score of every system and query, shape (systems, queries) each."""
        nobody = np.full(len(self.values), -1)
        low, high = self.differences(np.arange(len(self.values)), nobody)
        return low, high

    @cached_property
    def likened(self) -> Floats:
        """The scores if unjudged documents are about as good as the judged ones of their system, (systems, queries).

        They then go as far towards their greatest value as a judged result goes towards top gain on average.
        """
        return np.asarray(self.values + self.worth_of_judged[:, None] * (self.scores[1] - self.values))

    def documents(self, systems: Sequence[int]) -> pl.DataFrame:
        """Return ``query`` and ``document`` of what nobody judged in lists of some systems, most weight first."""
        results = np.flatnonzero(self._within & np.isin(self.unjudged.system, systems))
        frame = pl.DataFrame(
            {
                "query": pl.Series(self.unjudged.truth.queries, dtype=pl.String).gather(self.unjudged.query[results]),
                "document": self.unjudged.document.gather(results),
                "weight": self._rank_weights[self.unjudged.rank[results] - 1],
            }
        )
        summed = frame.group_by("query", "document").agg(pl.col("weight").sum())
        return (
            summed.filter(pl.col("weight") > 0)
            .sort("weight", "query", "document", descending=[True, False, False])
            .drop("weight")
        )

    def differences(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        """Return the least and the greatest score of `a` minus that of `b`, shape (pairs, queries) each.

        Parameters
        ----------
        a, b : ndarray of int, shape (pairs,)
            The systems of every pair; a `b` of -1 is an empty list.
        """
        values = np.vstack([self.values, np.zeros((1, self.values.shape[1]))])
        low = values[a] - values[b]
        high = low.copy()
        for query, system, number, rank in self._queries():
            for start in range(0, a.size, max(1, _ROOM // (int(number.max()) + 1))):
                rows = slice(start, start + max(1, _ROOM // (int(number.max()) + 1)))
                forth = self._most(query, system, number, rank, a[rows], b[rows], values[:, query])
                back = self._most(query, system, number, rank, b[rows], a[rows], values[:, query])
                # What was answered by nobody or dropped has no score and no bounds.
                known = ~np.isnan(low[rows, query])
                high[rows, query] = np.where(known, np.maximum(high[rows, query], forth), np.nan)
                low[rows, query] = np.where(known, np.minimum(low[rows, query], -back + 0.0), np.nan)
        return low, high

    def _most(self, query: int, system: Ints, number: Ints, rank: Ints, a: Ints, b: Ints, values: Floats) -> Floats:
        """Return the greatest difference of every pair for one query."""
        shape = (len(values), int(number.max()) + 1)
        truth, parts = self.unjudged.truth, self._parts
        difference = values[a] - values[b]
        if parts is not None:
            matrix = np.zeros(shape)
            matrix[system, number] = parts.weights(rank)
            top = float(parts.worth(np.array(truth.scale.top)))
            if parts.ideal is None:
                return most_of_sums(difference, matrix[a] - matrix[b], top)
            gain = truth.gain[truth.offsets[query] : truth.offsets[query + 1]]
            known = parts.worth(np.maximum(gain, 0.0))
            return most_of_ratios(difference, matrix[a] - matrix[b], known, top, parts.ideal)
        if self._of_first is not None:
            matrix = np.zeros(shape)
            matrix[system, number] = self._of_first(rank)
            return most_of_firsts(values[a], values[b], matrix[a], matrix[b])
        highest = self.unjudged.highest[self.place][:, query]
        if np.isnan(highest).all():
            least, most = self.measure.range
            low, high = np.full(len(values), least), np.full(len(values), most)
            low[-1] = high[-1] = 0.0
        else:
            low = self.measure.lowest(values, truth, query, shape[1])
            high = np.append(np.where(np.isnan(highest), values[:-1], highest), 0.0)
        return np.asarray(high[a] - low[b])

    def _queries(self) -> Iterator[tuple[int, Ints, Ints, Ints]]:
        """Yield every query with unjudged documents: their systems, numbers and ranks."""
        if not self.are_known:
            return
        within = np.flatnonzero(self._within)
        of = self.unjudged.query[within]
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        for rows in np.split(within, starts[1:]) if within.size else []:
            # Numbers of documents deeper down would only be empty columns.
            number = np.unique(self.unjudged.number[rows], return_inverse=True)[1]
            yield int(self.unjudged.query[rows[0]]), self.unjudged.system[rows], number, self.unjudged.rank[rows]

    @cached_property
    def _within(self) -> Bools:
        return np.asarray(self.unjudged.rank <= depth_of(self.measure))

    @cached_property
    def _parts(self) -> WeightedSum | None:
        return self.measure.as_sum(self.unjudged.truth.scale)

    @property
    def _of_first(self) -> Callable[[Ints], Floats] | None:
        asked = self.measure.of_first
        return None if asked(np.ones(1)) is None else lambda ranks: np.asarray(asked(ranks.astype(np.float64)))

    @property
    def _rank_weights(self) -> Floats:
        ranks = np.arange(1, depth_of(self.measure) + 1)
        return 1.0 / ranks if self._parts is None else self._parts.weights(ranks)
