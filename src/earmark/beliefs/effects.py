r"""Gains whose errors are shared: a linear model of effects, and what was said about items.

Items of one query, by one artist, retrieved by one system, tend to be better or worse than expected *together*. So
the gain of item i of query q, as a share of the top gain, is modelled as

.. math:: y_i = m_i + z_i^T g + f_i^T u_q + e_i

with a prior mean :math:`m_i`, *shared* effects :math:`g` that all queries have in common (how good a system is),
*local* effects :math:`u_q` of the query alone (how hard it is, how well an artist fits it) and :math:`e_i` of the item
itself. All effects are normal with mean 0. Each belongs to a *component* (query, system, noise, …) whose variance
:math:`\theta_k` it has, so that the covariance of gains is linear in :math:`\theta`.

Answers of several assessors are observations of the same item with an effect of the assessor and a disagreement of
their own; without them a judged gain is the truth. What observations say about effects and gains is worked out in
:mod:`earmark.beliefs.posterior`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from earmark.beliefs.stretches import Columns, Stretch, by_column, dense_columns, query_stretches
from earmark.data.arrays import Bools, Floats, Ints
from earmark.progress import track


class Rows(Protocol):
    """Rows of a matrix, kept or made when asked for: an array is one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows and columns there are."""

    def __getitem__(self, index: Any, /) -> Any:
        """Return some of the rows: a slice, or ascending numbers."""


@dataclass(frozen=True, eq=False)
class EffectModel:
    """What every item has to do with every effect.

    Attributes
    ----------
    components : tuple of str
        The kinds of effects; each has one variance.
    offsets : ndarray of int, shape (queries + 1,)
        The items of query q are ``offsets[q]`` to ``offsets[q + 1]``.
    prior_mean : ndarray of float, shape (items,), 0..1
        :math:`m`.
    shared : ndarray of float, shape (items, shared effects)
        :math:`z_i`; of a large collection, rows that are made when asked for.
    shared_component : ndarray of int, shape (shared effects,)
        The component of every shared effect.
    local : sequence of ndarray of float, shapes (items of the query, local effects of the query)
        :math:`f_i`, one array per query; of a large collection, made when asked for.
    local_component : sequence of ndarray of int
        The component of every local effect.
    own : ndarray of float, shape (items, components), 0 or more
        Kept or made as `shared`: how often every component's variance goes into :math:`Var[e_i]`.
    largest_loading : float, optional
        A bound of the entries of `shared`, where they are not kept.
    """

    components: tuple[str, ...]
    offsets: Ints
    prior_mean: Floats
    shared: Rows
    shared_component: Ints
    local: Sequence[Floats]
    local_component: Sequence[Ints]
    own: Rows
    largest_loading: float | None = None
    _by_column: dict[int, tuple[Any, Columns]] = field(default_factory=dict, repr=False)
    _of_weights: dict[int, tuple[Columns, tuple[Floats, Floats]]] = field(default_factory=dict, repr=False)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Consecutive queries that are worked on at once."""
        return query_stretches(self.offsets)

    def columns(self, weights: Any) -> Columns:
        """Return weights of sums, dense or sparse, by columns; remembered for those that are asked for again."""
        known = self._by_column.get(id(weights))
        # The weights are kept beside the result, so that no others can come to have the same identity.
        if known is None or known[0] is not weights:
            self._by_column.clear()
            known = self._by_column[id(weights)] = (weights, by_column(weights))
        return known[1]

    def own_variance(self, variances: Floats) -> Floats:
        """Return the variance of every item's own effect, shape (items,)."""
        parts = [self.own[stretch.items] @ variances for stretch in self.stretches]
        return np.concatenate(parts) if parts else np.zeros(0)

    def items_of(self, query: int) -> slice:
        """Return the items of a query."""
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))

    def prior_covariance(self, weights: Columns) -> tuple[Floats, Floats]:
        """Return what :func:`prior_covariance` does, remembered for the weights that are asked for again and again."""
        known = self._of_weights.get(id(weights))
        if known is None or known[0] is not weights:
            self._of_weights.clear()
            known = self._of_weights[id(weights)] = (weights, prior_covariance(self, weights))
        return known[1]

    @cached_property
    def size_by_query(self) -> int:
        """How many numbers the covariances of all queries' gains and the loadings on shared effects are."""
        within = int(np.square(np.diff(self.offsets)).sum())
        return within + self.n_items * self.shared.shape[1]

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.prior_mean.size

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.offsets.size - 1


@dataclass(frozen=True, eq=False)
class Observations:
    """What was said about items.

    Attributes
    ----------
    item : ndarray of int, shape (observations,), ascending
    value : ndarray of float, shape (observations,), 0..1
        The gain as a share of the top gain.
    shared : ndarray of float, shape (observations, shared effects)
        Those of the item and, where assessors differ, of the assessor.
    extra : ndarray of float, shape (observations, components)
        How often every component's variance goes into what the observation adds to the item's gain; all 0 where a
        judged gain is the truth.
    """

    item: Ints
    value: Floats
    shared: Floats
    extra: Floats

    @classmethod
    def exact(cls, model: EffectModel, items: Ints, values: Floats) -> Observations:
        """Take every judged gain as the truth."""
        order = np.argsort(items, kind="stable")
        item = items[order]
        # Rows that are made when asked for are made for ascending items.
        return cls(item, values[order], model.shared[item], np.zeros((item.size, len(model.components))))

    def with_more(self, more: Observations) -> Observations:
        """Return these observations and more, in the order of their items."""
        item = np.concatenate((self.item, more.item))
        order = np.argsort(item, kind="stable")
        value, shared, extra = (
            np.concatenate(parts)[order]
            for parts in ((self.value, more.value), (self.shared, more.shared), (self.extra, more.extra))
        )
        return Observations(item[order], value, shared, extra)

    @cached_property
    def is_exact(self) -> bool:
        """Whether what was said is the truth, so that judged items are certain."""
        return not self.extra.any()

    def of_queries(self, model: EffectModel) -> list[tuple[int, slice]]:
        """Return the queries of which something was said, and which observations are theirs."""
        starts = np.searchsorted(self.item, model.offsets)
        return [(int(q), slice(int(starts[q]), int(starts[q + 1]))) for q in np.flatnonzero(np.diff(starts))]

    def same_queries(self, other: Observations, model: EffectModel) -> Bools:
        """Tell of which queries two sets of observations say the same, shape (queries,)."""
        counts, other_counts = (np.diff(np.searchsorted(one.item, model.offsets)) for one in (self, other))
        same: Bools = counts == other_counts
        # Where there are as many, the first observation of a query is compared with the first, and so on.
        mine, theirs = np.repeat(same, counts), np.repeat(same, other_counts)
        differs = (self.item[mine] != other.item[theirs]) | (self.value[mine] != other.value[theirs])
        differs |= np.any(self.shared[mine] != other.shared[theirs], axis=1)
        query = np.repeat(np.arange(same.size), counts)[mine]
        same[query[differs]] = False
        return same


def prior_covariance(model: EffectModel, weights: Columns) -> tuple[Floats, Floats]:
    """Return what a unit of every component's variance adds to the covariance of weighted sums, but shared effects.

    Returns
    -------
    covariance : ndarray of float, shape (components, sums, sums)
    loadings : ndarray of float, shape (sums, shared effects)
        The weighted sums of the rows of shared effects.
    """
    n_sums = weights.shape[0]
    covariance = np.zeros((len(model.components), n_sums, n_sums))
    loadings = np.zeros((n_sums, model.shared.shape[1]))
    for stretch in track(model.stretches, "covariances of scores"):
        of_stretch = dense_columns(weights, stretch.items)
        loadings += of_stretch @ model.shared[stretch.items]
        first, queries = stretch.items.start, stretch.queries
        within = [slice(model.offsets[query] - first, model.offsets[query + 1] - first) for query in queries]
        local = [of_stretch[:, here] @ model.local[query] for query, here in zip(queries, within, strict=True)]
        of_effects = np.concatenate(local, axis=1)
        effect_component = np.concatenate([model.local_component[query] for query in queries])
        for component in np.unique(effect_component):
            part = of_effects[:, effect_component == component]
            covariance[component] += part @ part.T
        own = model.own[stretch.items]
        for component in np.flatnonzero(own.any(axis=0)):
            covariance[component] += (of_stretch * own[:, component]) @ of_stretch.T
    return covariance, loadings
