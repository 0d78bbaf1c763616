r"""The policy ``variance``: judge what takes the most uncertainty off what is still undecided.

The difference of systems A and B, believed to be about :math:`\Delta` with variance :math:`V`, has the wrong sign with
probability :math:`\Phi(-|\Delta| / \sqrt V)`. Judging item i takes :math:`Cov(\Delta, G_i)^2 / Var[G_i]` off the
variance, what it teaches about other items included. So the priority of an item is

.. math:: \sum_{A<B} \frac{\Phi(-|\Delta_{AB}| / \sqrt{V_{AB}})}{V_{AB}} \cdot
          \frac{Cov(\Delta_{AB}, G_i)^2}{Var[G_i]},

the share of variance it takes off every pair, pairs counting by how doubtful they are. The share of variance that it
takes off the scores :math:`S_A` themselves is added,

.. math:: \frac14 \sum_{A<B} \Phi(-|\Delta_{AB}| / \sqrt{V_{AB}}) \cdot \frac1n \sum_A
          \frac{Cov(S_A, G_i)^2}{Var[S_A]\, Var[G_i]}

for n systems, so that scores count a quarter as much as pairs. Items that nearly all systems retrieved hardly change
differences. A policy that looks at pairs alone never judges them, although much of every score depends on them, and the
model does not learn how good they are. Items of a batch are chosen one after the other, each as if those before it had
been judged; so no two of them teach the same. On large collections, items are chosen among those of highest priority
(:mod:`earmark.campaign.policies.greedy`).

======================  ================================================================================================
``variance``            all pairs of systems, and a quarter as much the scores themselves
``variance:goal``       pairs that the stop rule is about, and a quarter as much the scores themselves
``variance:pairs``      all pairs of systems
``variance:top``        pairs of one system of the top and one that is not: which is the best? ``variance:top:3``
``variance:absolute``   the scores themselves: the share of variance that goes, summed over systems
======================  ================================================================================================

With ``group_by_query`` items come in runs of the same query, those queries first that teach most together: for when
listening to the query costs as much as listening to a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, get_args

import numpy as np

from earmark.campaign.policies.base import (
    POLICIES,
    Policy,
    PolicyState,
    Proposal,
    check_count,
    in_runs,
    propose_highest,
)
from earmark.campaign.policies.greedy import Aim, Doubts, choose
from earmark.errors import ParameterError

_SAMPLED_SHARE = 0.25


@POLICIES.register
@dataclass(frozen=True)
class Variance(Policy):
    """Judge what takes the most uncertainty off what is undecided.

    Parameters
    ----------
    aim : {"goal", "ranking", "pairs", "top", "absolute"}
        What is to be decided; a ranking is all pairs and, to some extent, the scores themselves.
    top : int
        How many systems make the top.
    group_by_query : bool
        Propose items of one query after the other.
    """

    name: ClassVar[str] = "variance"

    aim: Aim = "ranking"
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
        return _SAMPLED_SHARE if self.aim in ("goal", "ranking", "pairs") else 0.0

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Read ``ranking``, ``goal``, ``pairs``, ``top``, ``top:3`` or ``absolute``."""
        aim = arguments[0].lower() if arguments else "ranking"
        count = arguments[1] if len(arguments) == 2 and aim == "top" else "1"
        if aim not in get_args(Aim) or len(arguments) > 2 or (len(arguments) == 2 and aim != "top"):
            raise ParameterError(
                f"{cls.name} is followed by nothing, :goal, :pairs, :top, :top:3 or :absolute, "
                f"got ':{':'.join(arguments)}'"
            )
        if not count.isdecimal():
            raise ParameterError(f"the top of a ranking is 1 system or more, got '{count}'")
        return cls(aim, int(count))  # type: ignore[arg-type]

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose items one after the other, each as if those before it had been judged."""
        check_count(n)
        if state.beliefs is None or state.scores is None:
            raise ParameterError(f"the policy {self.name} needs beliefs and estimates to choose by, there are none")
        wanted = min(n, int(np.count_nonzero(~state.judged)))
        doubts = Doubts.of(state, self.aim, self.top)
        tie_break = rng.random(state.judged.size)
        items, priority = choose(state, doubts, wanted, tie_break, group_by_query=self.group_by_query)
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
        if self.aim == "ranking":
            return self.name
        return f"{self.name}:{self.aim}" + (f":{self.top}" if self.aim == "top" and self.top > 1 else "")
