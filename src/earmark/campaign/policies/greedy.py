r"""Choosing a batch of items one after the other, each as if those before it had been judged.

The priority of item i is :math:`c_i^T L\, c_i / Var[G_i]`, with the covariances :math:`c_i` of all scores with its gain
and a matrix :math:`L` that says how much each pair of systems counts (:class:`Doubts`). Every hypothetical judgment
changes :math:`c_i`, :math:`Var[G_i]` and :math:`L`.

On a large collection it would take far too long to work out all priorities again for every item of a batch. There, a
batch is chosen in the same way among some thousands of items: all items of queries that are drawn, as queries have
much the same to teach (as in [1]_), and the items of highest priority of all. The latter are found stretch by stretch
before the first item is chosen and again after 1, 32, 1024, … items, so that what only few queries can tell is not
missed. A test holds what such a batch takes off the doubts against what choosing among all items takes off.

References
----------
.. [1] B. Mirzasoleiman, A. Badanidiyuru, A. Karbasi, J. Vondrák, A. Krause (2015). Lazier than lazy greedy. Proc. AAAI
   Conference on Artificial Intelligence, 1812-1818.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from earmark.beliefs.estimates import all_pairs
from earmark.beliefs.lookahead import Lookahead
from earmark.beliefs.scan import Scan
from earmark.beliefs.stretches import LARGE
from earmark.campaign.policies.base import PolicyState
from earmark.data.arrays import Bools, Floats, Ints

Aim = Literal["goal", "ranking", "pairs", "top", "absolute"]
# What the scores themselves count for beside the pairs, where a ranking is the aim.
_SHARE_OF_SCORES = 0.25
# A variance this small beside the largest is what rounding left of one that is gone.
_GONE = 1e-12
# Priorities that differ by less are meant to be the same.
_SAME = 1e-9
# Where there are more systems × items, or so many in all for the items of a batch, it is chosen among some items.
_MOST_CELLS, _MOST_WORK = LARGE, 1 << 30
# A batch is then chosen among the best items, and among all items of some queries: of so many items for each that is
# wanted, and of so many at least.
_BEST = 4096
_FOR_EACH, _AT_LEAST = 32, 16384
# All priorities are worked out again whenever the batch has become so many times larger.
_GROWTH = 32


@dataclass(frozen=True, eq=False)
class Doubts:
    """How much every pair of systems counts.

    Attributes
    ----------
    aim : {"goal", "ranking", "pairs", "top", "absolute"}
        What is to be decided; a ranking is all pairs and, to some extent, the scores themselves; the goal is the pairs
        in focus and, to the same extent, the scores.
    scores : ndarray of float, shape (systems,)
    counts : ndarray of bool, shape (pairs,)
        Pairs that nothing can tell apart, or that are no question, take no part.
    """

    aim: Aim
    scores: Floats
    counts: Bools

    @classmethod
    def of(cls, state: PolicyState, aim: Aim, top: int) -> Doubts:
        """Tell which pairs are a question; `top` is how many systems make the top."""
        assert state.scores is not None
        counts = state.compared if state.focus is None or aim == "ranking" else state.compared & state.focus
        if aim == "top":
            a, b = all_pairs(state.scores.size)
            best = np.argsort(-state.scores, kind="stable")[:top]
            in_top = np.isin(np.arange(state.scores.size), best)
            counts = counts & (in_top[a] != in_top[b])
        return cls(aim, state.scores, counts)

    def metric(self, covariance: Floats, largest: float) -> Floats:
        r"""Return the matrix :math:`L` with priority :math:`c_i^T L c_i / Var[G_i]`.

        Parameters
        ----------
        covariance : ndarray of float, shape (systems, systems)
            Of the scores.
        largest : float
            The largest variance of a score before anything was judged hypothetically.
        """
        own = np.diagonal(covariance)
        of_scores = np.divide(1.0, own, out=np.zeros(own.size), where=own > _GONE * largest)
        if self.aim == "absolute":
            return np.diag(of_scores)
        a, b = all_pairs(own.size)
        variance = own[a] + own[b] - 2.0 * covariance[a, b]
        there = self.counts & (variance > _GONE * largest)
        apart = np.abs(self.scores[a] - self.scores[b])[there]
        wrong, doubt = special.ndtr(-apart / np.sqrt(variance[there])), np.zeros(a.size)
        doubt[there] = wrong / variance[there]
        between = np.zeros_like(covariance)
        between[a, b] = -doubt
        between += between.T
        between[np.diag_indices_from(between)] = -between.sum(axis=1)
        if self.aim in ("ranking", "goal"):
            between[np.diag_indices_from(between)] += _SHARE_OF_SCORES * float(wrong.sum()) / own.size * of_scores
        return between


def item_priorities(metric: Floats, covariance: Floats, variance: Floats) -> Floats:
    """Return the priority of items, 0 or more, from the covariance of all scores with their gains."""
    gain = np.einsum("si,si->i", covariance, metric @ covariance)
    priority: Floats = np.maximum(np.divide(gain, variance, out=np.zeros_like(gain), where=variance > 0), 0.0)
    return priority


def largest_variance(score_covariance: Floats) -> float:
    """Return the largest variance of a score."""
    return float(np.diagonal(score_covariance).max(initial=0.0))


class Chooser:
    """Priorities of items, given hypothetical judgments of some of them.

    Parameters
    ----------
    doubts : Doubts
    ahead : Lookahead
        On all items, or on some.
    query : ndarray of int, shape (items,)
        The query of every item, ascending.
    still_open : ndarray of bool, shape (items,)
        What may be chosen; changed in place.
    tie_break : ndarray of float, shape (items,)
        The highest number decides among items of the same priority.
    """

    def __init__(self, doubts: Doubts, ahead: Lookahead, query: Ints, still_open: Bools, tie_break: Floats) -> None:
        self._doubts, self._ahead, self._query = doubts, ahead, query
        self._open, self._tie_break = still_open, tie_break
        self._largest = largest_variance(ahead.score_covariance)

    def priorities(self) -> Floats:
        """Return the priority of every item, -1 where it is judged."""
        ahead = self._ahead
        metric = self._doubts.metric(ahead.score_covariance, self._largest)
        return np.where(self._open, item_priorities(metric, ahead.covariance, ahead.variance), -1.0)

    def take(self, item: int) -> None:
        """Condition on a hypothetical judgment of an item."""
        self._ahead.condition_on(item)
        self._open[item] = False

    def greedy(self, n: int) -> tuple[list[int], list[float]]:
        """Take the item of highest priority, again and again; chance decides among equals."""
        items: list[int] = []
        heights: list[float] = []
        for _ in range(n):
            priority = self.priorities()
            item = _highest(priority, self._tie_break)
            if priority[item] <= 0:
                break
            items.append(item)
            heights.append(float(priority[item]))
            self.take(item)
        return items, heights

    def by_query(self, n: int) -> tuple[list[int], list[float]]:
        """Take items of the query that teaches most, until the batch or what it has to teach runs out."""
        items: list[int] = []
        heights: list[float] = []
        n_queries = int(self._query.max(initial=0)) + 1
        while len(items) < n:
            priority = self.priorities()
            worth = np.bincount(self._query, np.maximum(priority, 0.0), minlength=n_queries)
            query = int(np.argmax(worth))
            if worth[query] <= 0:
                break
            typical = priority[(self._query == query) & self._open].mean()
            while len(items) < n:
                within = np.where(self._query == query, self.priorities(), -1.0)
                item = _highest(within, self._tie_break)
                # What is left of the query teaches little: the next query does better.
                if within[item] < typical / 2 or within[item] <= 0:
                    break
                items.append(item)
                heights.append(float(within[item]))
                self.take(item)
        return items, heights


def _highest(priority: Floats, tie_break: Floats) -> int:
    top = float(priority.max(initial=-1.0))
    tied = np.flatnonzero(priority >= top * (1.0 - _SAME)) if top > 0 else np.array([int(np.argmax(priority))])
    return int(tied[np.argmax(tie_break[tied])])


def choose(
    state: PolicyState, doubts: Doubts, n: int, tie_break: Floats, *, group_by_query: bool
) -> tuple[Ints, Floats]:
    """Choose a batch.

    Parameters
    ----------
    state : PolicyState
        With beliefs.
    doubts : Doubts
    n : int
        How many items; fewer where nothing is undecided any more.
    tie_break : ndarray of float, shape (items,)
        The highest number decides among items of the same priority.
    group_by_query : bool
        Take items of one query after the other.

    Returns
    -------
    items : ndarray of int, the first first
    priority : ndarray of float
    """
    beliefs = state.beliefs
    assert beliefs is not None
    # What is being judged will be known by the time that what is proposed now is.
    waiting = np.flatnonzero(state.judged & ~beliefs.judged)
    size = state.weights.shape[0] * state.weights.shape[1]
    if size > _MOST_CELLS or size * n > _MOST_WORK:
        scan = beliefs.scan(state.weights, waiting)
        if scan is not None:
            return _choose_from_many(scan, state, doubts, n, tie_break, waiting, group_by_query=group_by_query)
    ahead = beliefs.lookahead(state.weights)
    for item in waiting:
        ahead.condition_on(int(item))
    chooser = Chooser(doubts, ahead, state.collection.item_query, ~state.judged, tie_break)
    items, priority = chooser.by_query(n) if group_by_query else chooser.greedy(n)
    return np.array(items, dtype=np.int64), np.array(priority)


def _choose_from_many(
    scan: Scan,
    state: PolicyState,
    doubts: Doubts,
    n: int,
    tie_break: Floats,
    waiting: Ints,
    *,
    group_by_query: bool,
) -> tuple[Ints, Floats]:
    """Choose a batch among the items of highest priority, which are found again as the batch grows."""
    assert state.beliefs is not None
    still_open, query = ~state.judged, state.collection.item_query
    chosen: list[int] = []
    heights: list[float] = []
    while len(chosen) < n:
        # What follows within a query must not depend on when priorities were worked out.
        until = n if group_by_query else min(max(len(chosen) * _GROWTH, 1), n)
        priority = _scanned_priorities(scan, doubts, still_open)
        best = _best_queries(priority, query, _BEST) if group_by_query else _best_items(priority, _BEST)
        room = max(_FOR_EACH * (until - len(chosen)), _AT_LEAST)
        few = np.union1d(best, _sampled_queries(query, tie_break, room))
        few = few[priority[few] > 0]
        if not few.size:
            break
        chooser = Chooser(doubts, scan.narrowed(few), query[few], still_open[few], tie_break[few])
        take = chooser.by_query if group_by_query else chooser.greedy
        items, found = take(until - len(chosen))
        chosen += few[items].tolist()
        heights += found
        still_open[chosen] = False
        if len(chosen) < until:
            break
        if until < n:
            again = state.beliefs.scan(state.weights, np.concatenate((waiting, np.array(chosen, dtype=np.int64))))
            assert again is not None
            scan = again
    return np.array(chosen, dtype=np.int64), np.array(heights)


def _scanned_priorities(scan: Scan, doubts: Doubts, still_open: Bools) -> Floats:
    """Return the priority of every item, 0 where it must not be chosen."""
    metric = doubts.metric(scan.score_covariance, largest_variance(scan.score_covariance))
    priority = np.empty(still_open.size)
    for items, variance, covariance in scan:
        priority[items] = item_priorities(metric, covariance, variance)
    return np.where(still_open, priority, 0.0)


def _best_items(priority: Floats, room: int) -> Ints:
    """Return the items of highest priority, ascending; none without any."""
    best = np.argpartition(-priority, room)[:room] if priority.size > room else np.arange(priority.size)
    return np.sort(best[priority[best] > 0])


def _best_queries(priority: Floats, query: Ints, room: int) -> Ints:
    """Return the items of the queries that teach most, ascending."""
    worth = np.bincount(query, priority)
    order = np.argsort(-worth, kind="stable")
    size = np.cumsum(np.bincount(query, minlength=worth.size)[order])
    best = order[: int(np.searchsorted(size, room)) + 1]
    return np.flatnonzero(np.isin(query, best) & (priority > 0))


def _sampled_queries(query: Ints, number: Floats, room: int) -> Ints:
    """Return the items of some queries: those whose first item has the lowest random number, while there is room."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    size = np.diff(starts, append=query.size)
    order = np.argsort(number[starts], kind="stable")
    taken = np.sort(order[: int(np.searchsorted(np.cumsum(size[order]), room)) + 1])
    return np.repeat(starts[taken] - np.cumsum(size[taken]) + size[taken], size[taken]) + np.arange(size[taken].sum())
