"""What policies are made of: what they know, what they propose, and the choice of the highest priorities."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.exact_estimates import Sparse
from earmark.campaign.policies.separation import level_ties, stored_once
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.inference.sampling_design import JudgingOrder
from earmark.registry import Registry, refuse_arguments
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
    focus : ndarray of bool, shape (pairs,), optional
        The pairs that are to be decided; by default all that can differ.
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
    focus: Bools | None = None

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
        for name, of_pairs in (
            ("confidence", self.confidence),
            ("identical", self.identical),
            ("focus", self.focus),
        ):
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

    @property
    def sampled_share(self) -> float:
        """The share of judgments that come from a sample beside this policy, where nobody says another one."""
        return 0.0

    @classmethod
    def from_arguments(cls, *arguments: str) -> Self:
        """Make the policy from what was written after its name, none by default."""
        refuse_arguments(cls.name, arguments)
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


def in_runs(query: Ints) -> Ints:
    """Return an order in which items of the same query follow each other, queries as they first come."""
    _, first, of = np.unique(query, return_index=True, return_inverse=True)
    return np.argsort(first[of], kind="stable")


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


POLICIES: Registry[type[Policy]] = Registry("policy", group="earmark.policies")
"""All policies by their names, those that other packages announce included."""
