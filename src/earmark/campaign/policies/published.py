"""Policies of the literature: the number of pairs told apart, variances of single scores, and chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from earmark.campaign.policies.base import POLICIES, Policy, PolicyState, Proposal, propose_highest
from earmark.campaign.policies.separation import (
    pairs_told_apart,
    variance_taken_away,
    weighted_pairs_told_apart,
)
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
