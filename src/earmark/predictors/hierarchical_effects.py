r"""The effects of the hierarchical predictor: who shares what with whom.

With the prior mean :math:`m_i`, its centred value :math:`\tilde m_i = 2 (m_i - \bar m)` and a spread :math:`s_i`, the
gain of item i of query q is

.. math::

   y_i = m_i + s_i \Bigl[ & b + (1 - p_i) b_0 + p_i b_1 + x_i^T d + k_i^T g
           + u_q + (1 - p_i) u'_q + p_i u''_q + \sum_X u_{q,X} + r_{q,i} \\
         & + w_i^T (a + c_q) + h_i^T (a' + c'_q) + e_i \Bigr] + \tilde m_i \bigl[ b' + v_q + w_i^T f \bigr]

========================  ==============================================================================================
component                 effects
========================  ==============================================================================================
``base``                  :math:`b`, how good the whole pool is
``rare``                  :math:`b_0`, how good items are that few systems retrieved, at low ranks (b)
``common``                :math:`b_1`, how good items are that many systems retrieved, at high ranks (b)
``slopes``                :math:`b', d`: what standardised covariates :math:`x_i` and the prior mean itself really say
``query``                 :math:`u_q`, how hard the query is
``query slope``           :math:`v_q`, how well the prior mean orders its items (a)
``rare in query``         :math:`u'_q`, the same as ``rare`` for the query (b)
``common in query``       :math:`u''_q`, the same as ``common`` for the query (b)
``system``                :math:`a_s`, how good the system is
``system in query``       :math:`c_{qs}`, how good it is for the query
``system slope``          :math:`f_s`, how well the prior mean orders what it retrieves (a)
``system rank``           :math:`a'_s`, how much better the tops of its lists are than their ends (b)
``system rank in query``  :math:`c'_{qs}`, the same for the query (b)
``query × X``             :math:`u_{q,X}`, how well a value of attribute X (an artist, a genre) fits the query (a)
``content``               :math:`g`: how much nearness of content to the query says, and in which directions :math:`k_i`
``query × content``       :math:`r_{q,i}`, how well such content fits the query; documents that are alike share it
``noise``                 :math:`e_i`, the rest
``assessor``              how generous an assessor is, where items have answers of several
``disagreement``          what remains between their answers
========================  ==============================================================================================

(a) Where attributes of documents are known (:data:`WITH_ATTRIBUTES`). (b) Where none is (:data:`WITHOUT_ATTRIBUTES`).

Gains near the ends of the scale vary less: :math:`s_i = \sqrt{\max(.05,\, 4 t_i (1 - t_i))}`, where the typical gain
:math:`t_i` is :math:`m_i` before anything is judged, and later what the effects that all queries share say about such
items (:func:`typical_gain`).

The prominence of an item is :math:`p_i = \log(1 + \sum_s 1 / \log_2(1 + r_{is})) / \log(1 + S)` for its ranks
:math:`r_{is}` in the lists of S systems. What nearly all systems retrieved is good in most collections, while the share
of good documents among the others differs much. In a hard query, what one system retrieved is mostly worthless while
what all retrieved may be as good as elsewhere; one effect of the query for all items would underrate the latter. The
weights :math:`h_{is}` are :math:`w_{is}` times :math:`1 / \log_2(1 + r_{is})`, centred and scaled over the ranks of a
list.

The weights :math:`w_{is}` are :math:`1/\sqrt{n_i}` for the :math:`n_i` systems that retrieved the item. Systems that
retrieve the same documents are alike: their effects are correlated as their results overlap, and a system that was
entered twice has the same effects twice.

An effect that only one item of a query has, such as that of an artist who appears once, is part of the item's own. The
kernels of content are those of :mod:`earmark.predictors.content_kernels`; without content, both components are absent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.stretches import query_stretches
from earmark.beliefs.variance_components import shared_effects
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.predictors.covariates import Covariates
from earmark.predictors.made_effects import SystemLoadings, are_kept, made_effects, own_weights

GENERAL = (
    "base",
    "rare",
    "common",
    "slopes",
    "query",
    "query slope",
    "rare in query",
    "common in query",
    "system",
    "system in query",
    "system slope",
    "system rank",
    "system rank in query",
    "noise",
)
WITH_ATTRIBUTES = ("base", "slopes", "query", "query slope", "system", "system in query", "system slope", "noise")
"""The effects besides those of attributes, where something is known about documents."""
WITHOUT_ATTRIBUTES = (
    "base",
    "rare",
    "common",
    "slopes",
    "query",
    "rare in query",
    "common in query",
    "system",
    "system in query",
    "system rank",
    "system rank in query",
    "noise",
)
"""The effects where nothing is known about documents but who retrieved them, and at which rank."""
ASSESSORS = ("assessor", "disagreement")
NOISE = "noise"
"""The component of single items; its weight in their variance is the square of their spread."""
CONTENT, LIKENESS = "content", "query × content"
_LEAST_SPREAD = 0.05
_DOUBTFUL, _NEAREST_TO_END = 30, 0.05


def attribute_component(code: str) -> str:
    """Name the component of an attribute's effects within queries."""
    return f"query × {code}"


def usual_effects(codes: Sequence[str]) -> tuple[str, ...]:
    """Return the effects of a model, given the attributes that are known about documents."""
    return WITH_ATTRIBUTES if codes else WITHOUT_ATTRIBUTES


def effect_model(
    collection: Collection,
    known: Covariates,
    prior_mean: Floats,
    *,
    effects: Sequence[str] = WITH_ATTRIBUTES,
    n_assessors: int = 0,
    typical: Floats | None = None,
) -> EffectModel:
    """Put together the effects of a collection.

    Parameters
    ----------
    collection : Collection
    known : Covariates
        Of its items.
    prior_mean : ndarray of float, shape (items,), 0..1
        What is expected before anything is judged.
    effects : sequence of str
        Which of the general effects there are; those of attributes, content and assessors follow from the rest.
    n_assessors : int
        How many assessors' answers to the same items there are to tell apart; 0 where judgments are the truth.
    typical : ndarray of float, shape (items,), 0..1, optional
        The typical gain of such items, which decides how much they vary; by default the prior mean.
    """
    of_collection = CollectionEffects(collection, known, effects=effects, n_assessors=n_assessors)
    return of_collection.model(prior_mean, typical=typical)


Unit = tuple[str, bool, Floats]
"""A component, whether its effects are tilted, and what items have to do with them."""


class CollectionEffects:
    """The effects of a collection, whatever is expected of its items.

    What an item has to do with an effect is a *unit*, which follows from ranks, covariates, attributes and content
    alone, times the spread of the item or, where the effect is *tilted*, its centred prior mean. Models of a collection
    differ in the latter. Units are kept where the effects of a model are.

    Parameters
    ----------
    collection, known, effects, n_assessors
        As for :func:`effect_model`.
    """

    def __init__(
        self,
        collection: Collection,
        known: Covariates,
        *,
        effects: Sequence[str] = WITH_ATTRIBUTES,
        n_assessors: int = 0,
    ) -> None:
        content = known.content
        self._known, self._n_items, self._n_assessors = known, collection.n_items, n_assessors
        self._near = np.zeros((collection.n_items, 0)) if content is None else content.slopes
        self._alike = content if content is not None and content.tells_likeness else None
        self.components = tuple(name for name in GENERAL if name in effects)
        self.components += tuple(attribute_component(code) for code in known.groups)
        self.components += (CONTENT,) if self._near.shape[1] else ()
        self.components += () if self._alike is None else (LIKENESS,)
        self.components += ASSESSORS if n_assessors else ()
        self._number = {name: index for index, name in enumerate(self.components)}
        n_queries = len(collection.queries)
        self._offsets = np.searchsorted(collection.item_query, np.arange(n_queries + 1)).astype(np.int64)
        self._systems = SystemLoadings(collection, self._offsets)
        self._prominence = item_prominence(collection)
        self._alone = {code: _alone(group) for code, group in known.groups.items()}
        self._shared_component, self._shared_tilted = self._described(self._shared_units(slice(0, 0)))
        self._kept_shared: Floats | None = None
        self._kept_local: list[tuple[Floats, Ints, Ints]] | None = None
        if are_kept(self._offsets, self._shared_component.size):
            self._kept_local = [self._local_unit(query) for query in range(n_queries)]
            stretches = query_stretches(self._offsets)
            parts = [_beside(self._shared_units(stretch.items)) for stretch in stretches]
            self._kept_shared = np.concatenate(parts) if parts else None

    def model(self, prior_mean: Floats, *, typical: Floats | None = None) -> EffectModel:
        """Return the model of items of which something is expected: see :func:`effect_model`."""
        number, spread = self._number, item_spread(prior_mean if typical is None else typical)
        slope = 2.0 * (prior_mean - prior_mean.mean())
        scale = np.column_stack((spread, slope))

        def shared_of(items: slice) -> Floats:
            kept = self._kept_shared
            unit = _beside(self._shared_units(items)) if kept is None else kept[items]
            return np.asarray(unit * scale[items][:, self._shared_tilted])

        def local_of(query: int) -> tuple[Floats, Ints]:
            kept, items = self._kept_local, self._items_of(query)
            unit, component, tilted = self._local_unit(query) if kept is None else kept[query]
            return unit * scale[items][:, tilted], component

        own = {number[NOISE]: spread**2}
        for code, alone in self._alone.items():
            own[number[attribute_component(code)]] = np.where(alone, spread**2, 0.0)
        if self._alike is not None:
            own[number[LIKENESS]] = spread**2 * self._alike.rest
        bounds = (float(np.abs(part).max(initial=0.0)) for part in (slope, self._known.standardised, self._near))
        parts = made_effects(
            shared_of,
            local_of,
            self._offsets,
            self._shared_component.size,
            largest=max(1.0, self._systems.largest, *bounds),
        )
        return EffectModel(
            components=self.components,
            offsets=self._offsets,
            prior_mean=prior_mean,
            shared=parts.shared,
            shared_component=self._shared_component,
            local=parts.local,
            local_component=parts.local_component,
            own=own_weights(own, (self._n_items, len(self.components))),
            largest_loading=parts.largest,
        )

    def _items_of(self, query: int) -> slice:
        return slice(int(self._offsets[query]), int(self._offsets[query + 1]))

    def _described(self, units: Sequence[Unit]) -> tuple[Ints, Ints]:
        """Return the component of every column, and whether it is tilted (1) or not (0)."""
        widths = [columns.shape[1] for _, _, columns in units]
        component = np.repeat([self._number[name] for name, _, _ in units], widths)
        return component.astype(np.int64), np.repeat([int(tilted) for _, tilted, _ in units], widths)

    def _shared_units(self, items: slice) -> list[Unit]:
        (by_system, by_rank), prominence = self._systems.of_items(items), self._prominence[items, None]
        same = np.ones_like(prominence)
        units = [
            ("base", False, same),
            ("rare", False, 1.0 - prominence),
            ("common", False, prominence),
            ("slopes", True, same),
            ("slopes", False, self._known.standardised[items]),
            ("system", False, by_system),
            ("system slope", True, by_system),
            ("system rank", False, by_rank),
            (CONTENT, False, self._near[items]),
            ("assessor", False, np.zeros((same.size, self._n_assessors))),
        ]
        return [unit for unit in units if unit[0] in self.components]

    def _local_unit(self, query: int) -> tuple[Floats, Ints, Ints]:
        """Return the units of a query's effects, with the component of every effect and whether it is tilted."""
        items = self._items_of(query)
        (by_system, by_rank), prominence = self._systems.of_items(items), self._prominence[items, None]
        same = np.ones_like(prominence)
        units = [
            ("query", False, same),
            ("query slope", True, same),
            ("rare in query", False, 1.0 - prominence),
            ("common in query", False, prominence),
            ("system in query", False, _without_empty(by_system)),
            ("system rank in query", False, _without_empty(by_rank)),
        ]
        units = [unit for unit in units if unit[0] in self.components]
        units += [
            (attribute_component(code), False, _members(group[items])) for code, group in self._known.groups.items()
        ]
        if self._alike is not None:
            units.append((LIKENESS, False, self._alike.factors[query]))
        return _beside(units), *self._described(units)


def _beside(units: Sequence[Unit]) -> Floats:
    return np.column_stack([columns for _, _, columns in units])


def item_spread(typical: Floats) -> Floats:
    """Return how much gains vary about a typical gain, as a multiple of the effects; 1 in the middle of the scale."""
    return np.asarray(np.sqrt(np.maximum(_LEAST_SPREAD, 4.0 * typical * (1.0 - typical))))


def typical_gain(model: EffectModel, observed: Observations, variances: Floats) -> Floats:
    """Return what the shared effects say about the gain of every item after some observations, shape (items,), 0..1.

    With few observations they say little: 30 observations count as much as the prior mean. A typical gain near an end
    of the scale would leave next to no variance, so it is kept between .05 and .95.

    Parameters
    ----------
    model : EffectModel
        With spreads by the prior mean.
    observed : Observations
    variances : ndarray of float, shape (components,)
    """
    n = observed.item.size
    shared = shared_effects(model, observed, variances) * n / (n + _DOUBTFUL)
    moved = [model.prior_mean[one.items] + model.shared[one.items] @ shared for one in model.stretches]
    return np.asarray(np.clip(np.concatenate(moved), _NEAREST_TO_END, 1.0 - _NEAREST_TO_END))


def item_prominence(collection: Collection) -> Floats:
    r"""Return how prominent every item is in the lists: :math:`\log(1 + \sum_s 1/\log_2(1 + r_{is})) / \log(1 + S)`."""
    discount = 1.0 / np.log2(1.0 + collection.result_rank)
    total = np.bincount(collection.result_item, discount, minlength=collection.n_items)
    return np.asarray(np.log1p(total) / np.log1p(len(collection.systems)))


def _without_empty(columns: Floats) -> Floats:
    """Drop effects that no item has."""
    return columns[:, columns.any(axis=0)]


def _alone(group: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which items are the only ones of their group, or of none."""
    size = np.bincount(np.maximum(group, 0), weights=group >= 0, minlength=1)
    return np.asarray((group < 0) | (size[np.maximum(group, 0)] == 1))


def _members(group: Ints) -> Floats:
    """Return which items of a query are in which group of two or more, shape (items, groups)."""
    values, counts = np.unique(group[group >= 0], return_counts=True)
    return np.asarray((group[:, None] == values[counts > 1]).astype(np.float64))
