"""Effects of items that are kept where that takes little memory, and else made when asked for.

A collection of a million items and a hundred systems would need gigabytes for what every item has to do with the
effects of every system. All of it follows from the ranks, so it is made again, for one stretch of queries after the
other, whenever it is needed. What is kept and what is made again is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from earmark.beliefs.effects import Rows
from earmark.beliefs.stretches import LARGE, Stretch, query_stretches
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.predictors.covariates import result_overlap

# Designs of single queries are remembered up to so many numbers: queries that are judged are asked for again and again.
_REMEMBERED = 1 << 25


class SystemLoadings:
    """What every item has to do with effects of systems and of ranks; of a large collection, made when asked for.

    Parameters
    ----------
    collection : Collection
    offsets : ndarray of int, shape (queries + 1,)
        Where the items of every query start.

    Attributes
    ----------
    largest : float
        No loading is larger: rows of the root of the overlaps have length 1.
    """

    def __init__(self, collection: Collection, offsets: Ints) -> None:
        self._ranks, self._n_systems = collection.ranks_by_item, len(collection.systems)
        self._stretches = query_stretches(offsets)
        self._starts = np.array([stretch.items.start for stretch in self._stretches], dtype=np.int64)
        of_rank = 1.0 / np.log2(1.0 + np.arange(1, int(collection.result_rank.max(initial=1)) + 1))
        self._of_rank = (of_rank - of_rank.mean()) / max(float(of_rank.std()), 1e-9)
        self.largest = max(1.0, float(np.abs(self._of_rank).max(initial=0.0)))
        values, vectors = np.linalg.eigh(result_overlap(collection))
        self._root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        self._last: tuple[int, tuple[Floats, Floats]] | None = None

    def of_items(self, items: slice) -> tuple[Floats, Floats]:
        """Return both for consecutive items of one stretch, shapes (items, systems)."""
        if items.stop <= items.start:
            return np.zeros((0, self._n_systems)), np.zeros((0, self._n_systems))
        number = int(np.searchsorted(self._starts, items.start, side="right")) - 1
        # Held here: another thread may ask for another stretch meanwhile.
        last = self._last
        if last is None or last[0] != number:
            last = self._last = number, self._make(self._stretches[number])
        first = self._stretches[number].items.start
        by_system, by_rank = last[1]
        within = slice(items.start - first, items.stop - first)
        return by_system[within], by_rank[within]

    def _make(self, stretch: Stretch) -> tuple[Floats, Floats]:
        member, height = np.zeros((stretch.size, self._n_systems)), np.zeros((stretch.size, self._n_systems))
        ends = self._ranks.indptr[stretch.items.start : stretch.items.stop + 1]
        system, rank = self._ranks.indices[ends[0] : ends[-1]], self._ranks.data[ends[0] : ends[-1]]
        item = np.repeat(np.arange(stretch.size), np.diff(ends))
        member[item, system] = 1.0
        height[item, system] = self._of_rank[rank - 1]
        count = np.sqrt(member.sum(axis=1, keepdims=True))
        return _without_rounding((member / count) @ self._root), _without_rounding((height / count) @ self._root)


def _without_rounding(weights: Floats) -> Floats:
    """Remove what rounding leaves of systems without any overlap: it would otherwise count as an effect."""
    return np.where(np.abs(weights) < 1e-12, 0.0, weights)


class _SharedRows:
    """Rows of shared effects, made when asked for."""

    def __init__(self, make: Callable[[slice], Floats], offsets: Ints, columns: int) -> None:
        self._make, self._stretches = make, query_stretches(offsets)
        self._starts = np.array([stretch.items.start for stretch in self._stretches], dtype=np.int64)
        self.shape: tuple[int, ...] = (int(offsets[-1]), columns)

    def __getitem__(self, index: Any) -> Floats:
        if isinstance(index, slice):
            start, stop, _ = index.indices(self.shape[0])
            first, last = np.searchsorted(self._starts, (start, max(stop - 1, start)), side="right")
            parts = [
                self._make(slice(max(start, one.items.start), min(stop, one.items.stop)))
                for one in self._stretches[max(first - 1, 0) : last]
            ]
            return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.zeros((0, self.shape[1]))])
        items = np.asarray(index, dtype=np.int64)
        rows, stretch = np.empty((items.size, self.shape[1])), np.searchsorted(self._starts, items, side="right") - 1
        for number in np.unique(stretch):
            here, one = stretch == number, self._stretches[number].items
            rows[here] = self._make(one)[items[here] - one.start]
        return rows


class _OwnRows:
    """What goes into the variance of items' own effects, of which most components have nothing."""

    def __init__(self, columns: dict[int, Floats], shape: tuple[int, int]) -> None:
        self._columns = columns
        self.shape: tuple[int, ...] = shape

    def __getitem__(self, index: Any) -> Floats:
        chosen = {component: column[index] for component, column in self._columns.items()}
        rows = np.zeros((next(iter(chosen.values())).size, self.shape[1]))
        for component, column in chosen.items():
            rows[:, component] = column
        return rows


def own_weights(columns: dict[int, Floats], shape: tuple[int, int]) -> Rows:
    """Return how often components go into the variance of items' own effects, kept or made when asked for.

    Parameters
    ----------
    columns : dict of int to ndarray of float, shape (items,)
        By component, one or more; the others are 0.
    shape : tuple of int
        Items and components.
    """
    rows = _OwnRows(columns, shape)
    return rows if shape[0] * shape[1] > LARGE else rows[:]


class _Designs:
    """Designs of local effects and their components, made when asked for; those asked for singly are remembered."""

    def __init__(self, make: Callable[[int], tuple[Floats, Ints]], n_queries: int) -> None:
        self._make, self._n_queries = make, n_queries
        self._known: dict[int, tuple[Floats, Ints]] = {}
        self._size = 0

    def of(self, query: int) -> tuple[Floats, Ints]:
        """Return the design of a query, shape (items, effects), and the component of every effect."""
        found = self._known.get(query)
        if found is None:
            found = self._make(query)
            self._size += found[0].size
            while self._known and self._size > _REMEMBERED:
                oldest = self._known.pop(next(iter(self._known)), None)
                self._size -= 0 if oldest is None else oldest[0].size
            self._known[query] = found
        return found

    def __len__(self) -> int:
        return self._n_queries


@dataclass(frozen=True)
class _Part(Sequence[Any]):
    """One of the two things that are known about the local effects of every query."""

    designs: _Designs
    which: int

    def __len__(self) -> int:
        return len(self.designs)

    @overload
    def __getitem__(self, query: int) -> Any: ...
    @overload
    def __getitem__(self, query: slice) -> Sequence[Any]: ...
    def __getitem__(self, query: int | slice) -> Any:
        if isinstance(query, slice):
            return [self[one] for one in range(*query.indices(len(self)))]
        if not 0 <= query < len(self):
            raise IndexError(query)
        return self.designs.of(query)[self.which]

    def __iter__(self) -> Iterator[Any]:
        return (self[query] for query in range(len(self)))


@dataclass(frozen=True)
class MadeEffects:
    """The parts of an :class:`~earmark.beliefs.effects.EffectModel` that may be large."""

    shared: Rows
    local: Sequence[Floats]
    local_component: Sequence[Ints]
    largest: float | None


def are_kept(offsets: Ints, columns: int) -> bool:
    """Tell whether effects of all items are kept, or made when asked for."""
    return int(offsets[-1]) * columns <= LARGE


def made_effects(
    shared_of: Callable[[slice], Floats],
    local_of: Callable[[int], tuple[Floats, Ints]],
    offsets: Ints,
    columns: int,
    *,
    largest: float,
) -> MadeEffects:
    """Keep effects, or make them when asked for where they would take too much memory.

    Parameters
    ----------
    shared_of : callable
        Given consecutive items of one stretch, returns the rows of their shared effects.
    local_of : callable
        Given a query, returns the design of its local effects and the component of each.
    offsets : ndarray of int, shape (queries + 1,)
    columns : int
        How many shared effects there are.
    largest : float
        A bound of the entries of shared effects.
    """
    rows, n_queries = _SharedRows(shared_of, offsets, columns), offsets.size - 1
    if not are_kept(offsets, columns):
        designs = _Designs(local_of, n_queries)
        return MadeEffects(rows, _Part(designs, 0), _Part(designs, 1), largest)
    kept = [local_of(query) for query in range(n_queries)]
    return MadeEffects(rows[:], tuple(design for design, _ in kept), tuple(of for _, of in kept), None)
