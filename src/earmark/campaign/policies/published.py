"""Policies of the literature: the number of pairs told apart, variances of single scores, chance, and balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from scipy.sparse import csr_array

from earmark.beliefs.exact_estimates import Sparse
from earmark.campaign.policies.base import POLICIES, Policy, PolicyState, Proposal, check_count, propose_highest
from earmark.campaign.policies.separation import (
    pairs_told_apart,
    stored_once,
    variance_taken_away,
    weighted_pairs_told_apart,
)
from earmark.data.arrays import Ints
from earmark.errors import ParameterError


@POLICIES.register
@dataclass(frozen=True)
class MTC(Policy):
    """Judge the items that separate the most pairs of systems: :func:`pairs_told_apart`, Urbano2013, Eq. 8.

    Priorities are in units of the largest weight: for average gain they are the numbers of pairs.
    """

    name: ClassVar[str] = "mtc"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the items of largest weight; with one system all tie."""
        return propose_highest(pairs_told_apart(state.relative_weights), state.judged, n, rng)


Weighting = Literal["confidence", "doubt"]


@POLICIES.register
@dataclass(frozen=True)
class MTCUndecided(Policy):
    """Judge what tells undecided pairs of systems apart: :func:`weighted_pairs_told_apart`.

    Among items that tell no undecided pair apart, those come first that tell the most pairs apart at all; so it is
    ``mtc`` while nothing has been estimated and once every pair is decided.

    Parameters
    ----------
    weighting : {"confidence", "doubt"}
        An undecided pair counts in proportion to its confidence, as Urbano2013 suggests in section 3.4 (those nearest
        to their decision first), or to one minus it (those farthest from it first).
    """

    name: ClassVar[str] = "mtc-undecided"

    weighting: Weighting = "confidence"

    def __post_init__(self) -> None:
        if self.weighting not in get_args(Weighting):
            raise ParameterError(f"undecided pairs are weighted by confidence or by doubt, got '{self.weighting}'")

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Read ``confidence`` or ``doubt``."""
        if len(arguments) > 1 or (arguments and arguments[0].lower() not in get_args(Weighting)):
            raise ParameterError(f"{cls.name} is followed by :confidence or :doubt, got ':{':'.join(arguments)}'")
        return cls(*(argument.lower() for argument in arguments))  # type: ignore[arg-type]

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the items of largest weight among undecided pairs."""
        weights = state.relative_weights
        over_all = pairs_told_apart(weights)
        if state.confidence is None:
            return propose_highest(over_all, state.judged, n, rng)
        undecided = state.compared & (state.confidence < state.target)
        counts = state.confidence if self.weighting == "confidence" else 1.0 - state.confidence
        priority = weighted_pairs_told_apart(weights, np.where(undecided, counts, 0.0))
        return propose_highest(priority, state.judged, n, rng, then=over_all)

    def __str__(self) -> str:
        return self.name if self.weighting == "confidence" else f"{self.name}:{self.weighting}"


@POLICIES.register
@dataclass(frozen=True)
class Absolute(Policy):
    """Judge what takes the most variance from the systems' own scores: :func:`variance_taken_away`.

    An item counts for every system that retrieved it, more at a rank that counts more (Buckers2021, 2.2.3). Priorities
    are in units of squared scores.
    """

    name: ClassVar[str] = "absolute"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the items that take away the most variance."""
        return propose_highest(variance_taken_away(state.weights, state.item_variance), state.judged, n, rng)


@POLICIES.register
@dataclass(frozen=True)
class Random(Policy):
    """Judge any unjudged item with the same probability; every priority is 1."""

    name: ClassVar[str] = "random"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Draw items without replacement."""
        return propose_highest(np.ones(state.judged.size), state.judged, n, rng)


Rest = Literal["mtc", "random"]


@POLICIES.register
@dataclass(frozen=True)
class Balanced(Policy):
    """See to it that a system has a minimum of judgments or none, and otherwise judge by another policy.

    A system's average gain is unstable when it rests on a few judgments (Buckers2021, 3.3). While some system has
    judgments but fewer than the minimum, judge an item of such a system: the one after which systems together lack the
    fewest judgments. That counts what the item would make systems lack that had no judgments until then; among equals
    the other policy decides. A system with fewer items than the minimum needs all of them judged. A system has
    retrieved what has a weight for it.

    Priorities only say the order: the number of proposed items that come after, plus one.

    Parameters
    ----------
    minimum : int
        How many judgments of a system are enough, 1 or more.
    then : {"mtc", "random"}
        What decides while no system lacks judgments. Buckers2021 judges at random.
    """

    name: ClassVar[str] = "balanced"

    minimum: int = 10
    then: Rest = "mtc"

    def __post_init__(self) -> None:
        if self.minimum < 1:
            raise ParameterError(f"the minimum of judgments per system is 1 or more, got {self.minimum}")
        if self.then not in get_args(Rest):
            raise ParameterError(f"balanced goes on as mtc or random, got '{self.then}'")

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Read a minimum, the policy for the rest, or both."""
        read: dict[str, int | str] = {}
        for argument in arguments:
            key = "minimum" if argument.isdecimal() else "then"
            if key in read or (key == "then" and argument.lower() not in get_args(Rest)):
                raise ParameterError(
                    f"{cls.name} is followed by a number, by mtc or random, or by both (balanced:20:random), "
                    f"got ':{':'.join(arguments)}'"
                )
            read[key] = int(argument) if key == "minimum" else argument.lower()
        return cls(**read)  # type: ignore[arg-type]

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose what systems lack, one item after the other, then what the other policy would."""
        check_count(n)
        rest = Random() if self.then == "random" else MTC()
        in_order = rest.propose(state, state.judged.size, rng).items
        n_chosen = min(n, in_order.size)
        chosen = in_order[self._most_needed(state, in_order, n_chosen)]
        return Proposal(chosen, np.arange(n_chosen, 0.0, -1.0), np.zeros(n_chosen, dtype=bool))

    def _most_needed(self, state: PolicyState, in_order: Ints, n: int) -> Ints:
        """Return `n` places in the order of the other policy, those of needed items first."""
        summed = stored_once(state.weights)
        retrieved: Sparse = csr_array(((summed.data != 0).astype(float), summed.indices, summed.indptr), summed.shape)
        enough = np.minimum(retrieved.sum(axis=1), self.minimum)
        judgments = retrieved @ state.judged.astype(float)
        by_place: Sparse = csr_array(retrieved.T)[in_order]
        free = np.ones(in_order.size, dtype=bool)
        chosen: list[int] = []
        while len(chosen) < n:
            begun = judgments > 0
            lacking = begun & (judgments < enough)
            if lacking.any():
                # A judgment lowers by one what systems with some judgments lack; one without any would then lack the
                # rest.
                change = by_place @ np.where(begun, -1.0 * lacking, np.maximum(enough - 1, 0))
                serves = free & (by_place @ lacking.astype(float) > 0)
                place = int(np.argmin(np.where(serves, change, np.inf)))
            elif np.all(judgments >= enough):
                chosen.extend(np.flatnonzero(free)[: n - len(chosen)].tolist())
                break
            else:
                place = int(np.argmax(free))
            chosen.append(place)
            free[place] = False
            entries = slice(by_place.indptr[place], by_place.indptr[place + 1])
            judgments[by_place.indices[entries]] += by_place.data[entries]
        return np.array(chosen, dtype=np.int64)

    def __str__(self) -> str:
        minimum = "" if self.minimum == Balanced.minimum else f":{self.minimum}"
        return f"{self.name}{minimum}" + ("" if self.then == Balanced.then else f":{self.then}")
