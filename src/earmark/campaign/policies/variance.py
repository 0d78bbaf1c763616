r"""The policy ``variance``: judge what takes the most uncertainty off what is still undecided.

The difference of systems A and B, believed to be about :math:`\Delta` with variance :math:`V`, has the wrong sign with
probability :math:`\Phi(-|\Delta| / \sqrt V)`. Judging item i takes :math:`Cov(\Delta, G_i)^2 / Var[G_i]` off the
variance, what it teaches about other items included. So the priority of an item is

.. math:: \sum_{A<B} \frac{\Phi(-|\Delta_{AB}| / \sqrt{V_{AB}})}{V_{AB}} \cdot
          \frac{Cov(\Delta_{AB}, G_i)^2}{Var[G_i]},

the share of variance it takes off every pair, pairs counting by how doubtful they are. Items of a batch are chosen one
after the other, each as if those before it had been judged; so no two of them teach the same.

======================  ================================================================================================
``variance``            all pairs of systems
``variance:top``        pairs of one system of the top and one that is not: which is the best? ``variance:top:3``
``variance:absolute``   the scores themselves: the share of variance that goes, summed over systems
======================  ================================================================================================

With ``group_by_query`` items come in runs of the same query, those queries first that teach most together: for when
listening to the query costs as much as listening to a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from scipy import special

from earmark.beliefs.estimates import all_pairs
from earmark.beliefs.lookahead import Lookahead
from earmark.campaign.policies.base import (
    POLICIES,
    Policy,
    PolicyState,
    Proposal,
    check_count,
    in_runs,
    propose_highest,
)
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError

Aim = Literal["pairs", "top", "absolute"]
_SAMPLED_SHARE = 0.25
# A variance this small beside the largest is what rounding left of one that is gone.
_GONE = 1e-12


@POLICIES.register
@dataclass(frozen=True)
class Variance(Policy):
    """Judge what takes the most uncertainty off what is undecided.

    Parameters
    ----------
    aim : {"pairs", "top", "absolute"}
        What is to be decided.
    top : int
        How many systems make the top.
    group_by_query : bool
        Propose items of one query after the other.
    """

    name: ClassVar[str] = "variance"

    aim: Aim = "pairs"
    top: int = 1
    group_by_query: bool = False

    def __post_init__(self) -> None:
        if self.aim not in get_args(Aim):
            raise ParameterError(f"the policy {self.name} aims at {', '.join(get_args(Aim))}, got '{self.aim}'")
        if self.top < 1:
            raise ParameterError(f"the top of a ranking is 1 system or more, got '{self.top}'")

    @property
    def sampled_share(self) -> float:
        """A quarter, where systems are compared: items that the model leaves out are seen too, and it is checked."""
        return _SAMPLED_SHARE if self.aim == "pairs" else 0.0

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Read ``pairs``, ``top``, ``top:3`` or ``absolute``."""
        aim = arguments[0].lower() if arguments else "pairs"
        count = arguments[1] if len(arguments) == 2 and aim == "top" else "1"
        if aim not in get_args(Aim) or len(arguments) > 2 or (len(arguments) == 2 and aim != "top"):
            raise ParameterError(
                f"{cls.name} is followed by :pairs, :top, :top:3 or :absolute, got ':{':'.join(arguments)}'"
            )
        if not count.isdecimal():
            raise ParameterError(f"the top of a ranking is 1 system or more, got '{count}'")
        return cls(aim, int(count))  # type: ignore[arg-type]

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose items one after the other, each as if those before it had been judged."""
        check_count(n)
        if state.beliefs is None or state.scores is None:
            raise ParameterError(f"the policy {self.name} needs beliefs and estimates to choose by, there are none")
        ahead = state.beliefs.lookahead(state.weights)
        # What is being judged will be known by the time that what is proposed now is.
        for item in np.flatnonzero(state.judged & ~state.beliefs.judged):
            ahead.condition_on(int(item))
        chooser = _Chooser(self, state, ahead)
        wanted = min(n, int(np.count_nonzero(~state.judged)))
        items, priority = chooser.by_query(wanted, rng) if self.group_by_query else chooser.greedy(wanted, rng)
        left = wanted - items.size
        if left:
            # Nothing is undecided any more: what is left is as good as anything.
            taken = state.judged.copy()
            taken[items] = True
            rest = propose_highest(np.zeros(taken.size), taken, left, rng)
            items, priority = np.concatenate((items, rest.items)), np.concatenate((priority, rest.priority))
        if self.group_by_query:
            order = in_runs(state.collection.item_query[items])
            items, priority = items[order], priority[order]
        return Proposal(items, np.minimum.accumulate(priority), np.zeros(wanted, dtype=bool))

    def __str__(self) -> str:
        if self.aim == "pairs":
            return self.name
        return f"{self.name}:{self.aim}" + (f":{self.top}" if self.aim == "top" and self.top > 1 else "")


class _Chooser:
    """Priorities of items, given hypothetical judgments of some of them."""

    def __init__(self, policy: Variance, state: PolicyState, ahead: Lookahead) -> None:
        assert state.scores is not None
        self._aim, self._ahead, self._scores = policy.aim, ahead, state.scores
        self._query = state.collection.item_query
        self._open = ~state.judged
        self._a, self._b = all_pairs(state.scores.size)
        # Scores that nothing can tell apart, or that are no question, take no part.
        self._counts = state.compared.copy()
        if policy.aim == "top":
            best = np.argsort(-state.scores, kind="stable")[: policy.top]
            in_top = np.isin(np.arange(state.scores.size), best)
            self._counts &= in_top[self._a] != in_top[self._b]
        self._largest = float(np.diagonal(ahead.score_covariance).max(initial=0.0))

    def priorities(self) -> Floats:
        """Return the priority of every item, -1 where it is judged."""
        metric = self._metric()
        covariance, variance = self._ahead.covariance, self._ahead.variance
        gain = np.einsum("si,si->i", covariance, metric @ covariance)
        priority = np.divide(gain, variance, out=np.zeros_like(gain), where=variance > 0)
        return np.where(self._open, np.maximum(priority, 0.0), -1.0)

    def _metric(self) -> Floats:
        r"""Return the matrix :math:`L` with priority :math:`c_i^T L c_i / Var[G_i]`."""
        covariance = self._ahead.score_covariance
        own = np.diagonal(covariance)
        if self._aim == "absolute":
            return np.diag(np.divide(1.0, own, out=np.zeros(own.size), where=own > _GONE * self._largest))
        a, b = self._a, self._b
        variance = own[a] + own[b] - 2.0 * covariance[a, b]
        there = self._counts & (variance > _GONE * self._largest)
        apart = np.abs(self._scores[a] - self._scores[b])[there]
        doubt = np.zeros(a.size)
        doubt[there] = special.ndtr(-apart / np.sqrt(variance[there])) / variance[there]
        between = np.zeros_like(covariance)
        between[a, b] = -doubt
        between += between.T
        between[np.diag_indices_from(between)] = -between.sum(axis=1)
        return between

    def take(self, item: int) -> None:
        """Condition on a hypothetical judgment of an item."""
        self._ahead.condition_on(item)
        self._open[item] = False

    def greedy(self, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Take the item of highest priority, again and again; chance decides among equals."""
        items, heights = [], []
        tie_break = rng.random(self._open.size)
        for _ in range(n):
            priority = self.priorities()
            item = _highest(priority, tie_break)
            if priority[item] <= 0:
                break
            items.append(item)
            heights.append(priority[item])
            self.take(item)
        return np.array(items, dtype=np.int64), np.array(heights)

    def by_query(self, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Take items of the query that teaches most, until the batch or what it has to teach runs out."""
        items: list[int] = []
        heights: list[float] = []
        tie_break = rng.random(self._open.size)
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
                item = _highest(within, tie_break)
                # What is left of the query teaches little: the next query does better.
                if within[item] < typical / 2 or within[item] <= 0:
                    break
                items.append(item)
                heights.append(within[item])
                self.take(item)
        return np.array(items, dtype=np.int64), np.array(heights)


def _highest(priority: Floats, tie_break: Floats) -> int:
    top = float(priority.max(initial=-1.0))
    tied = np.flatnonzero(priority >= top * (1.0 - 1e-9)) if top > 0 else np.array([int(np.argmax(priority))])
    return int(tied[np.argmax(tie_break[tied])])
