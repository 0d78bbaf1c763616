"""What a campaign of pair questions is about: candidate pairs, systems, effects on preferences, and answers.

A *design* holds what does not change: which pairs might be asked about, how every system orders each, and which effects
of the model (:mod:`earmark.campaign.pair_model`) each pair has. *Answers* grow.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.preferences import PairTable
from earmark.errors import ParameterError

USUAL = 0.7
"""What standard deviations are taken to be before there are answers to tell."""


@dataclass(frozen=True)
class Spreads:
    """Standard deviations of the effects, one for each kind.

    Attributes
    ----------
    system, system_query : float
        How far people follow a system, everywhere and for one query.
    consensus : float
        How far they follow what systems have in common; not looked for, as few answers tell.
    document, document_query : float
        How much they like a document, for every query and for one.
    pair : float
        What is peculiar to a pair.
    """

    system: float = USUAL
    system_query: float = USUAL
    document: float = USUAL
    document_query: float = USUAL
    pair: float = USUAL
    consensus: float = 1.5


@dataclass(frozen=True, eq=False)
class DesignBlock:
    """The pairs of one query, and which effects each has."""

    rows: Ints
    local: Floats
    shared: Floats


@dataclass(frozen=True, eq=False)
class PairDesign:
    """The pairs that might be asked about, and what systems make of them.

    Parameters
    ----------
    pairs : PairTable
        The candidates; the answers in it are not looked at.
    systems : tuple of str
        The systems.
    order : ndarray of int, shape (systems, pairs)
        +1 where the system ranks the first document of the pair higher, −1 where the second, 0 where it ranks neither.
    """

    pairs: PairTable
    systems: tuple[str, ...]
    order: Ints

    def __post_init__(self) -> None:
        if self.order.shape != (len(self.systems), len(self.pairs)):
            wanted = (len(self.systems), len(self.pairs))
            raise ParameterError(f"expected an order for each of {wanted} systems and pairs, got {self.order.shape}")
        if not self.order.any():
            raise ParameterError("none of the candidate pairs counts for any system: there is nothing to find out")

    @cached_property
    def matters(self) -> Bools:
        """Which pairs count for any system, shape (pairs,); the others are no part of the model."""
        matters: Bools = np.any(self.order != 0, axis=0)
        return matters

    @cached_property
    def shared_documents(self) -> Ints:
        """The documents that occur in pairs of several queries."""
        pairs = self.pairs
        document = np.concatenate((pairs.first_index[self.matters], pairs.second_index[self.matters]))
        query = np.tile(pairs.query_index[self.matters], 2)
        seen = np.unique(np.stack((document, query)), axis=1)[0]
        return np.flatnonzero(np.bincount(seen, minlength=len(pairs.documents)) > 1)

    @cached_property
    def blocks(self) -> tuple[DesignBlock, ...]:
        """One block per query with pairs that matter."""
        # What systems have in common comes first, then the systems, then documents.
        of_systems = np.vstack((self.order.mean(axis=0), self.order)).T
        n_systems, documents = of_systems.shape[1], self.shared_documents
        place = np.full(len(self.pairs.documents), -1)
        place[documents] = n_systems + np.arange(documents.size)
        made = []
        for query in range(len(self.pairs.queries)):
            rows = np.flatnonzero((self.pairs.query_index == query) & self.matters)
            if not rows.size:
                continue
            first, second = self.pairs.first_index[rows], self.pairs.second_index[rows]
            own, at = np.unique(np.concatenate((first, second)), return_inverse=True)
            local = np.zeros((rows.size, n_systems + own.size))
            shared = np.zeros((rows.size, n_systems + documents.size))
            local[:, :n_systems] = shared[:, :n_systems] = of_systems[rows]
            pair = np.arange(rows.size)
            for sign, index, where in ((1.0, first, at[: rows.size]), (-1.0, second, at[rows.size :])):
                local[pair, n_systems + where] = sign
                common = place[index] >= 0
                shared[pair[common], place[index[common]]] = sign
            made.append(DesignBlock(rows, local, shared))
        return tuple(made)

    @cached_property
    def counted(self) -> Bools:
        """Which pairs count for which systems, shape (systems, pairs)."""
        counted: Bools = self.order != 0
        return counted

    @property
    def uses(self) -> tuple[str, ...]:
        """The kinds of effects whose standard deviations are looked for, as names of :class:`Spreads`."""
        names = [field.name for field in fields(Spreads) if field.name != "consensus"]
        return tuple(name for name in names if name != "document" or self.shared_documents.size)

    def scales(self, spreads: Spreads, block: DesignBlock) -> tuple[Floats, Floats]:
        """Return the standard deviation of every local and every shared effect of a block."""
        n_systems = 1 + len(self.systems)
        local = np.full(block.local.shape[1], spreads.document_query)
        shared = np.full(block.shared.shape[1], spreads.document)
        local[:n_systems], shared[:n_systems] = spreads.system_query, spreads.system
        shared[0] = spreads.consensus
        return local, shared


@dataclass(frozen=True, eq=False)
class PairAnswers:
    """How often each candidate pair was answered, and how; arrays of shape (pairs,)."""

    first: Ints
    second: Ints
    same: Ints

    @classmethod
    def none(cls, pairs: int) -> PairAnswers:
        """Return no answers at all."""
        nothing = np.zeros(pairs, dtype=np.int64)
        return cls(nothing, nothing, nothing)

    @cached_property
    def total(self) -> Ints:
        """How many answers each pair has."""
        return self.first + self.second + self.same

    @cached_property
    def lead(self) -> Ints:
        """How many more answers chose the first document than the second."""
        return self.first - self.second

    def add(self, pairs: Ints, first: Ints, second: Ints, same: Ints) -> PairAnswers:
        """Return these answers and more about some pairs, each named once."""
        new = [count.copy() for count in (self.first, self.second, self.same)]
        for count, more in zip(new, (first, second, same), strict=True):
            count[pairs] += more
        return PairAnswers(*new)
