r"""What to judge next: policies give every unjudged item a priority and propose the highest.

==================  ====================================================================================================
``mtc``             :math:`w_i = \sum_{A<B} (W_{Ai} - W_{Bi})^2`: for average gain, the number of pairs told apart
``mtc-undecided``   the same over pairs whose confidence is below the target only, in proportion to their confidence
                    :math:`C_{AB}` (MTC, section 3.4) or, as ``mtc-undecided:doubt``, to :math:`1 - C_{AB}`
``absolute``        :math:`\sum_A W_{Ai}^2\, Var[G_i]`: how much variance of the systems' own scores it takes away
``random``          all the same
``balanced``        first what systems with a few judgments lack to have ten, then as ``mtc``;
                    ``balanced:random`` is the selection of BIAS, ``balanced:20`` asks for twenty
``proportional``    a sample with known probabilities (:mod:`earmark.campaign.proportional`)
==================  ====================================================================================================

Where the formulas come from is told in :mod:`earmark.campaign.priorities`.

**Ties are the rule.** On the MIREX 2011 collection three quarters of the items were retrieved by one system only and
have the same weight, so what breaks ties chooses most of what is judged. It is a draw, never the order of a file;
priorities that differ by rounding errors alone tie too. An item that tells no pair apart has priority 0 and comes last.

All but the last are adaptive: what they pick depends on what is known, or on draws that nobody keeps, so no item is
marked as part of a sample with known probabilities.

References
----------
MTC: J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 3.4.
BIAS: Buckers (2021), on overconfidence and bias in low-cost evaluation; sections 2.2.3 and 3.3.
"""

from __future__ import annotations

import difflib
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import ClassVar, Literal, Protocol, Self, TypeVar, get_args

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.exact import Sparse
from earmark.campaign.priorities import (
    level_ties,
    pairs_told_apart,
    stored_once,
    variance_taken_away,
    weighted_pairs_told_apart,
)
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.inference.sampling_design import JudgingOrder
from earmark.wording import counted


@dataclass(frozen=True, eq=False)
class PolicyState:
    """What a policy may know.

    Parameters
    ----------
    collection : Collection
        Whose items are judged.
    weights : scipy.sparse.csr_array of float, shape (systems, items)
        What the gain of every item adds to the score of every system.
    judged : ndarray of bool, shape (items,)
        What must not be proposed: judged already, or being judged.
    variance : ndarray of float, shape (items,), optional
        Of the believed gain of every item; by default what the beliefs say.
    confidence : ndarray of float, shape (pairs,), 0..1, optional
        How sure the order of every pair is, in the order of :func:`~earmark.beliefs.estimates.all_pairs`; None where
        nothing has been estimated yet.
    identical : ndarray of bool, shape (pairs,), optional
        Pairs that cannot differ, whatever their confidence says; by default none.
    target : float, 0..1
        A pair is undecided while its confidence is below.
    beliefs : Beliefs, optional
        About all items; policies that count what a judgment teaches about other items need them.
    scores : ndarray of float, shape (systems,), optional
        The estimated score of every system.
    sample_order : JudgingOrder, optional
        In which a sample with known probabilities is judged; policies that propose one need it.
    """

    collection: Collection
    weights: Sparse
    judged: Bools
    variance: Floats | None = None
    confidence: Floats | None = None
    identical: Bools | None = None
    target: float = 0.95
    beliefs: Beliefs | None = None
    scores: Floats | None = None
    sample_order: JudgingOrder | None = None

    def __post_init__(self) -> None:
        n_systems, n_items = len(self.collection.systems), self.collection.n_items
        if self.weights.shape != (n_systems, n_items):
            raise ParameterError(f"expected weights of shape {(n_systems, n_items)}, got {self.weights.shape}")
        if not np.all(np.isfinite(self.weights.data)):
            raise ParameterError("expected finite weights, got NaN or infinity")
        for name, values in (("judged", self.judged), ("variance", self.variance)):
            if values is not None and values.shape != (n_items,):
                raise ParameterError(f"expected '{name}' for each of {n_items} items, got shape {values.shape}")
        n_pairs = n_systems * (n_systems - 1) // 2
        for name, of_pairs in (("confidence", self.confidence), ("identical", self.identical)):
            if of_pairs is not None and of_pairs.shape != (n_pairs,):
                raise ParameterError(f"expected '{name}' for each of {n_pairs} pairs, got shape {of_pairs.shape}")
        if self.confidence is not None and not np.all(((self.confidence >= 0) & (self.confidence <= 1))[self.compared]):
            raise ParameterError("expected confidences from 0 to 1, got NaN or a number outside")
        if not 0 < self.target < 1:
            raise ParameterError(f"expected a target confidence between 0 and 1, got {self.target:g}")
        if self.sample_order is not None and self.sample_order.order.shape != (n_items,):
            got = self.sample_order.order.size
            raise ParameterError(f"expected a sample order of all {n_items} items, got one of {got}")

    @property
    def compared(self) -> Bools:
        """Which pairs there is anything to decide about, shape (pairs,)."""
        n_systems = len(self.collection.systems)
        identical = self.identical
        return np.ones(n_systems * (n_systems - 1) // 2, dtype=bool) if identical is None else ~identical

    @property
    def item_variance(self) -> Floats:
        """The variance of the believed gain of every item, as told or as believed."""
        if self.variance is not None:
            return self.variance
        if self.beliefs is None:
            raise ParameterError("this policy needs the variance of every item's gain, or beliefs that tell it")
        return self.beliefs.variance

    @cached_property
    def relative_weights(self) -> Sparse:
        """Weights in units of the largest: where all are the same, whether a system retrieved the item (0 or 1)."""
        summed = stored_once(self.weights)
        largest = np.abs(summed.data).max(initial=0.0) or 1.0
        return csr_array((summed.data / largest, summed.indices, summed.indptr), shape=summed.shape)


@dataclass(frozen=True, eq=False, repr=False)
class Proposal(Display):
    """What to judge, the most wanted first.

    Attributes
    ----------
    items : ndarray of int, shape (n,)
        Indices of items, no two the same.
    priority : ndarray of float, shape (n,)
        Never rising; what the numbers mean is the policy's affair.
    sampled : ndarray of bool, shape (n,)
        Whether the item belongs to a sample with known probabilities, or is an adaptive pick.
    """

    items: Ints
    priority: Floats
    sampled: Bools

    def __len__(self) -> int:
        return self.items.size

    def _summary(self) -> Summary:
        """Show the first of them."""
        frame = pl.DataFrame({"item": self.items, "priority": self.priority, "sampled": self.sampled})
        sampled = f", {int(self.sampled.sum()):,} of them sampled" if self.sampled.any() else ""
        return Summary(f"{counted(len(self), 'item')} to judge{sampled}", [DisplayTable(frame)])


class Policy(Protocol):
    """What decides what to judge next; written ``name`` or ``name:argument`` on the command line."""

    name: ClassVar[str]

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Make the policy from what was written after its name, none by default."""
        if arguments:
            raise ParameterError(f"the policy {cls.name} takes no argument, got '{':'.join(arguments)}'")
        return cls()

    @abstractmethod
    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose `n` items to judge, or as many as are left.

        Parameters
        ----------
        state : PolicyState
            What is known.
        n : int
            How many items are wanted, 0 or more.
        rng : numpy.random.Generator
            Where draws come from.
        """

    def __str__(self) -> str:
        return self.name


# ---- choosing --------------------------------------------------------------------------------------------------------


def propose_highest(
    priority: Floats, judged: Bools, n: int, rng: np.random.Generator, *, then: Floats | None = None
) -> Proposal:
    """Propose the items of highest priority, drawing among those that tie.

    Parameters
    ----------
    priority : ndarray of float, shape (items,)
        Values that differ by rounding errors alone count as the same.
    judged : ndarray of bool, shape (items,)
        What must not be proposed.
    n : int
        How many items are wanted, 0 or more.
    rng : numpy.random.Generator
        One number is drawn for every item, judged or not: with the same generator, judging an item leaves the order
        among the others as it was.
    then : ndarray of float, shape (items,), optional
        What decides among items of the same priority before the draw does.

    Returns
    -------
    Proposal
        Of `n` items, or of as many as are left; none of them sampled.
    """
    check_count(n)
    if not np.all(np.isfinite(priority)):
        raise ParameterError("expected finite priorities, got NaN or infinity")
    left = np.flatnonzero(~judged)
    keys = [rng.random(judged.size)[left]]
    if then is not None:
        keys.append(-level_ties(then[left]))
    height = level_ties(priority[left])
    first = np.lexsort((*keys, -height))[:n]
    return Proposal(left[first].astype(np.int64), height[first], np.zeros(first.size, dtype=bool))


def check_count(n: int) -> None:
    """Refuse a negative number of items."""
    if n < 0:
        raise ParameterError(f"the number of items to propose is 0 or more, got {n}")


# ---- the registry ----------------------------------------------------------------------------------------------------

P = TypeVar("P", bound=type[Policy])
_REGISTRY: dict[str, type[Policy]] = {}
_third_parties_loaded = False


def register(policy: P) -> P:
    """Make a policy known under its name."""
    _REGISTRY[policy.name] = policy
    return policy


def registered() -> dict[str, type[Policy]]:
    """Return every known policy by its name, those that other packages announce as ``earmark.policies`` included."""
    # Modules of their own, which need this one first, register as they are imported.
    import earmark.campaign.proportional
    import earmark.campaign.variance  # noqa: F401

    global _third_parties_loaded
    if not _third_parties_loaded:
        _third_parties_loaded = True
        for entry in entry_points(group="earmark.policies"):
            policy = entry.load()
            _REGISTRY.setdefault(policy.name, policy)
    return dict(sorted(_REGISTRY.items()))


def make_policy(text: str) -> Policy:
    """Make a policy from its name and what follows it: ``mtc``, ``mtc-undecided:doubt``, ``balanced:20:random``.

    Examples
    --------
    >>> str(make_policy("mtc-undecided:doubt")), make_policy("balanced:20")
    ('mtc-undecided:doubt', Balanced(minimum=20, then='mtc'))

    Raises
    ------
    ParameterError
        For an unknown name, with the closest known one, or an argument that the policy does not take.
    """
    name, *arguments = text.strip().split(":")
    policy = _REGISTRY.get(name.lower()) or registered().get(name.lower())
    if policy is None:
        known = list(registered())
        close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        meant = f"did you mean {close[0]}? " if close else ""
        raise ParameterError(f"unknown policy '{text}': {meant}(there are {', '.join(known)})")
    return policy.from_arguments(*arguments)


# ---- the policies ----------------------------------------------------------------------------------------------------


@register
@dataclass(frozen=True)
class MTC(Policy):
    """Judge what tells the most pairs of systems apart: :func:`pairs_told_apart`, MTC Eq. 8.

    Priorities are in units of the largest weight: for average gain they are the numbers of pairs.
    """

    name: ClassVar[str] = "mtc"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the items of largest weight; with one system all tie."""
        return propose_highest(pairs_told_apart(state.relative_weights), state.judged, n, rng)


Weighting = Literal["confidence", "doubt"]


@register
@dataclass(frozen=True)
class MTCUndecided(Policy):
    """Judge what tells undecided pairs of systems apart: :func:`weighted_pairs_told_apart`.

    Among items that tell no undecided pair apart, those come first that tell the most pairs apart at all; so it is
    ``mtc`` while nothing has been estimated and once every pair is decided.

    Parameters
    ----------
    weighting : {"confidence", "doubt"}
        An undecided pair counts in proportion to its confidence, as MTC's section 3.4 suggests (those nearest to their
        decision first), or to one minus it (those farthest from it first).
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


@register
@dataclass(frozen=True)
class Absolute(Policy):
    """Judge what takes the most variance from the systems' own scores: :func:`variance_taken_away`.

    An item counts for every system that retrieved it, more at a rank that counts more (BIAS, section 2.2.3). Priorities
    are in units of squared scores.
    """

    name: ClassVar[str] = "absolute"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the items that take away the most variance."""
        return propose_highest(variance_taken_away(state.weights, state.item_variance), state.judged, n, rng)


@register
@dataclass(frozen=True)
class Random(Policy):
    """Judge any unjudged item with the same probability; every priority is 1."""

    name: ClassVar[str] = "random"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Draw items without replacement."""
        return propose_highest(np.ones(state.judged.size), state.judged, n, rng)


Rest = Literal["mtc", "random"]


@register
@dataclass(frozen=True)
class Balanced(Policy):
    """See to it that a system has a minimum of judgments or none, and otherwise judge by another policy.

    A system's average gain is unstable when it rests on a few judgments (BIAS, section 3.3). While some system has
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
        What decides while no system lacks judgments. BIAS judges at random.
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
                # One judgment less is lacked by those who lack some; those who had none would lack all but one.
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
