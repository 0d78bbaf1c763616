r"""Gains whose errors are shared: a linear model of effects, and what was said about items.

Items of one query, by one artist, retrieved by one system, tend to be better or worse than expected *together*. So
the gain of item i of query q, as a share of the top gain, is modelled as

.. math:: y_i = m_i + z_i^T g + f_i^T u_q + e_i

with a prior mean :math:`m_i`, *shared* effects :math:`g` that all queries have in common (how good a system is),
*local* effects :math:`u_q` of the query alone (how hard it is, how well an artist fits it) and :math:`e_i` of the item
itself. All effects are normal with mean 0. Each belongs to a *component* (query, system, noise, …) whose variance
:math:`\theta_k` it has, so that the covariance of gains is linear in :math:`\theta`.

Answers of several assessors are observations of the same item with an effect of the assessor and a disagreement of
their own; without them a judged gain is the truth. The k answers to an item are turned into their mean, which says all
that they say about the item, and k − 1 orthonormal contrasts, which say something about assessors alone. So there is
one observation of an item, and no covariance is singular, however well assessors agree. What observations say about
effects and gains is worked out in :mod:`earmark.beliefs.posterior`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
class Contrasts:
    """How answers differ from each other, whatever the gains are; independent of each other given the shared effects.

    Attributes
    ----------
    value : ndarray of float, shape (contrasts,)
    shared : ndarray of float, shape (contrasts, shared effects)
    extra : ndarray of float, shape (contrasts, components)
        How often every component's variance goes into that of the contrast.
    """

    value: Floats
    shared: Floats
    extra: Floats

    def told(self, variances: Floats) -> Floats:
        """Return what contrasts say about shared effects, shape (sets, shared effects, 1 + shared effects).

        Parameters
        ----------
        variances : ndarray of float, shape (sets, components)
        """
        precision = 1.0 / (variances @ self.extra.T)
        right = np.column_stack((self.value, self.shared))
        return np.asarray((self.shared.T * precision[:, None, :]) @ right)


@dataclass(frozen=True, eq=False)
class Observations:
    """What was said about items.

    Attributes
    ----------
    item : ndarray of int, shape (observations,), ascending
        Every item once.
    value : ndarray of float, shape (observations,), 0..1
        The gain as a share of the top gain; the mean of what several assessors said.
    shared : ndarray of float, shape (observations, shared effects)
        Those of the item and, where assessors differ, of the assessors.
    extra : ndarray of float, shape (observations, components)
        How often every component's variance goes into what the observation adds to the item's gain; all 0 where a
        judged gain is the truth.
    contrasts : Contrasts, optional
        How answers to the same item differ.
    """

    item: Ints
    value: Floats
    shared: Floats
    extra: Floats
    contrasts: Contrasts | None = None

    @classmethod
    def exact(cls, model: EffectModel, items: Ints, values: Floats) -> Observations:
        """Take every judged gain as the truth."""
        order = np.argsort(items, kind="stable")
        item = items[order]
        # Rows that are made when asked for are made for ascending items.
        return cls(item, values[order], model.shared[item], np.zeros((item.size, len(model.components))))

    @classmethod
    def of_answers(cls, item: Ints, value: Floats, shared: Floats, extra: Floats) -> Observations:
        """Take answers, several of which may be about the same item.

        Parameters
        ----------
        item : ndarray of int, shape (answers,), ascending
        value : ndarray of float, shape (answers,), 0..1
        shared : ndarray of float, shape (answers, shared effects)
            Those of the item and of the assessor.
        extra : ndarray of float, shape (answers, components)
            The same for all answers to an item.
        """
        items, first, count = np.unique(item, return_index=True, return_counts=True)
        answers = np.column_stack((value, shared))
        place = np.arange(item.size) - np.repeat(first, count)
        # As seen from the first answer to the item: what all answers have in common is exactly 0.
        apart = answers - np.repeat(answers[first], count, axis=0)
        sums = np.cumsum(apart, axis=0)
        within = sums - np.repeat(sums[first], count, axis=0)
        means = answers[first] + within[first + count - 1] / count[:, None]
        # Helmert's contrasts: each answer against the mean of those before it.
        later = np.flatnonzero(place)
        before = place[later, None].astype(np.float64)
        contrasts = (apart[later] - within[later - 1] / before) * np.sqrt(before / (before + 1.0))
        return cls(
            items,
            means[:, 0],
            means[:, 1:],
            extra[first] / count[:, None],
            Contrasts(contrasts[:, 0], contrasts[:, 1:], extra[later]),
        )

    def with_difference(self, size: float, *, component: int) -> Observations:
        """Return the same with one more pair of answers, by anybody about anything, that differ by `size`.

        As the rule of succession has it: what never happened in n cases happens in one of n + 1.

        Parameters
        ----------
        size : float
            As a share of the top gain.
        component : int
            The component of the answers' errors.
        """
        before = self.contrasts
        assert before is not None
        assert before.value.size, "no item has two answers"
        usual = np.zeros((1, before.extra.shape[1]))
        usual[0, component] = before.extra[:, component].mean()
        more = Contrasts(
            np.append(before.value, size / np.sqrt(2.0)),
            np.concatenate((before.shared, np.zeros((1, before.shared.shape[1])))),
            np.concatenate((before.extra, usual)),
        )
        return replace(self, contrasts=more)

    def with_more(self, more: Observations) -> Observations:
        """Return these observations and more about other items, in the order of their items."""
        item = np.concatenate((self.item, more.item))
        order = np.argsort(item, kind="stable")
        value, shared, extra = (
            np.concatenate(parts)[order]
            for parts in ((self.value, more.value), (self.shared, more.shared), (self.extra, more.extra))
        )
        return Observations(item[order], value, shared, extra, self.contrasts)

    @cached_property
    def is_exact(self) -> bool:
        """Whether what was said is the truth, so that judged items are certain."""
        return not self.extra.any()

    def answer_variance(self, variances: Floats) -> float:
        """Return the variance of one assessor's answer given the gain and the assessor; 0 where it is the truth."""
        return 0.0 if self.contrasts is None else float((self.contrasts.extra @ variances).mean())

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
