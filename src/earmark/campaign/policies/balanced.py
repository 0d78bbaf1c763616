"""The policy ``balanced``: items at random, and of every system a minimum of judgments or none (Buckers 2021, 3.3).

A system's average gain is unstable when it rests on a few judgments, so a system that was begun is completed before
another one is begun. A document that several systems retrieved is a judgment of each of them. Therefore

1. while a system has some judgments but too few, an item of it is judged: one that begins no other system, or as few
   as possible, and among those one that serves the most systems that lack judgments;
2. otherwise an item is judged that begins no system, or a single one that has enough items which no other system
   without judgments retrieved;
3. where there is no such item, one that begins as few systems as possible.

So at most one system is short of its minimum at any moment, as long as rule 3 is not needed and nothing was judged
before. Where lists share so much that every item begins two systems, no order of judgments could do that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from scipy.sparse import csr_array

from earmark.beliefs.exact_estimates import Sparse
from earmark.campaign.policies.base import POLICIES, Policy, PolicyState, Proposal, check_count
from earmark.campaign.policies.published import MTC, Random
from earmark.campaign.policies.separation import stored_once
from earmark.data.arrays import Bools, Floats, Ints
from earmark.errors import ParameterError

Rest = Literal["random", "mtc"]


@POLICIES.register
@dataclass(frozen=True)
class Balanced(Policy):
    """Judge at random, and see to it that a system has a minimum of judgments or none.

    The rules are at the head of this module. Whatever they leave open is decided by a draw (or by ``mtc``). A system
    with fewer items than the minimum needs all of them judged. A system has retrieved what has a weight for it.

    Priorities only say the order: the number of proposed items that come after, plus one.

    Parameters
    ----------
    minimum : int
        How many judgments of a system are enough, 1 or more.
    then : {"random", "mtc"}
        What decides among the items that the rules allow. Buckers (2021) judges at random.
    """

    name: ClassVar[str] = "balanced"

    minimum: int = 10
    then: Rest = "random"

    def __post_init__(self) -> None:
        if self.minimum < 1:
            raise ParameterError(f"the minimum of judgments per system is 1 or more, got {self.minimum}")
        if self.then not in get_args(Rest):
            raise ParameterError(f"balanced picks as random or mtc, got '{self.then}'")

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Read a minimum, the policy that picks, or both."""
        read: dict[str, int | str] = {}
        for argument in arguments:
            key = "minimum" if argument.isdecimal() else "then"
            if key in read or (key == "then" and argument.lower() not in get_args(Rest)):
                raise ParameterError(
                    f"{cls.name} is followed by a number, by random or mtc, or by both (balanced:20:mtc), "
                    f"got ':{':'.join(arguments)}'"
                )
            read[key] = int(argument) if key == "minimum" else argument.lower()
        return cls(**read)  # type: ignore[arg-type]

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose items one after the other, each as if those before it had been judged."""
        check_count(n)
        picks = Random() if self.then == "random" else MTC()
        in_order = picks.propose(state, state.judged.size, rng).items
        n_chosen = min(n, in_order.size)
        chosen = in_order[self._allowed_first(state, in_order, n_chosen)]
        return Proposal(chosen, np.arange(n_chosen, 0.0, -1.0), np.zeros(n_chosen, dtype=bool))

    def _allowed_first(self, state: PolicyState, in_order: Ints, n: int) -> Ints:
        """Return `n` places in the order of the policy that picks."""
        summed = stored_once(state.weights)
        retrieved: Sparse = csr_array(((summed.data != 0).astype(float), summed.indices, summed.indptr), summed.shape)
        enough = np.minimum(retrieved.sum(axis=1), self.minimum)
        judgments = retrieved @ state.judged.astype(float)
        by_place: Sparse = csr_array(retrieved.T)[in_order]
        free = np.ones(in_order.size, dtype=bool)
        chosen: list[int] = []
        while len(chosen) < n:
            if np.all(judgments >= enough):
                chosen.extend(np.flatnonzero(free)[: n - len(chosen)].tolist())
                break
            place = _next_place(by_place, free, judgments, enough)
            chosen.append(place)
            free[place] = False
            entries = slice(by_place.indptr[place], by_place.indptr[place + 1])
            judgments[by_place.indices[entries]] += by_place.data[entries]
        return np.array(chosen, dtype=np.int64)

    def __str__(self) -> str:
        minimum = "" if self.minimum == Balanced.minimum else f":{self.minimum}"
        return f"{self.name}{minimum}" + ("" if self.then == Balanced.then else f":{self.then}")


def _next_place(by_place: Sparse, free: Bools, judgments: Floats, enough: Floats) -> int:
    """Return the place of the next item, by the rules at the head of this module.

    Parameters
    ----------
    by_place : csr_array, shape (places, systems)
        1 where a system retrieved the item.
    free : ndarray of bool, shape (places,)
        Which items are not taken yet.
    judgments, enough : ndarray of float, shape (systems,)
        How many judgments systems have and need.
    """
    # A system for which one judgment is enough is never short of any.
    to_begin = (judgments == 0) & (enough > 1)
    lacking = (judgments > 0) & (judgments < enough)
    begins = by_place @ to_begin.astype(float)
    if lacking.any():
        serves = by_place @ lacking.astype(float)
        # The first of the two counts for more than any number of systems in the second.
        cost = begins * (enough.size + 1) - serves
        return int(np.argmin(np.where(free & (serves > 0), cost, np.inf)))
    alone = by_place.T @ (free & (begins == 1)).astype(float)
    completed_alone = to_begin & (alone >= enough)
    allowed = free & ((begins == 0) | ((begins == 1) & (by_place @ completed_alone.astype(float) > 0)))
    if allowed.any():
        return int(np.argmax(allowed))
    return int(np.argmin(np.where(free, begins, np.inf)))
