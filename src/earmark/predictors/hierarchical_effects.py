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
from earmark.beliefs.posterior import Posterior
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.predictors.covariates import Covariates
from earmark.predictors.made_effects import SystemLoadings, made_effects, own_weights

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
"""The component of items alone, which goes into their variance as often as the square of their spread says."""
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
    chosen = tuple(name for name in GENERAL if name in effects)
    components = chosen + tuple(attribute_component(code) for code in known.groups)
    content = known.content
    near = np.zeros((collection.n_items, 0)) if content is None else content.slopes
    alike = content if content is not None and content.tells_likeness else None
    components += (CONTENT,) if near.shape[1] else ()
    components += () if alike is None else (LIKENESS,)
    components += ASSESSORS if n_assessors else ()
    number = {name: index for index, name in enumerate(components)}
    spread = item_spread(prior_mean if typical is None else typical)
    slope = 2.0 * (prior_mean - prior_mean.mean())
    standard = known.standardised
    offsets = np.searchsorted(collection.item_query, np.arange(len(collection.queries) + 1)).astype(np.int64)
    systems = SystemLoadings(collection, offsets)
    prominence = item_prominence(collection)

    def shared_of(items: slice) -> dict[str, Floats]:
        (by_system, by_rank), here, tilt = systems.of_items(items), spread[items, None], slope[items, None]
        effects_of_items = {
            "base": here,
            "rare": here * (1.0 - prominence[items, None]),
            "common": here * prominence[items, None],
            "slopes": np.column_stack((tilt, here * standard[items])),
            "system": here * by_system,
            "system slope": tilt * by_system,
            "system rank": here * by_rank,
            CONTENT: here * near[items],
            "assessor": np.zeros((here.size, n_assessors)),
        }
        return {name: columns for name, columns in effects_of_items.items() if name in components}

    def local_of(query: int) -> tuple[Floats, Ints]:
        items = slice(int(offsets[query]), int(offsets[query + 1]))
        (by_system, by_rank), here = systems.of_items(items), spread[items, None]
        of_query = {
            "query": here,
            "query slope": slope[items, None],
            "rare in query": here * (1.0 - prominence[items, None]),
            "common in query": here * prominence[items, None],
            "system in query": _without_empty(here * by_system),
            "system rank in query": _without_empty(here * by_rank),
        }
        columns = [found for name, found in of_query.items() if name in components]
        of = [number[name] for name, found in of_query.items() if name in components for _ in range(found.shape[1])]
        for code, group in known.groups.items():
            members = _members(group[items])
            columns.append(members * spread[items, None])
            of += [number[attribute_component(code)]] * members.shape[1]
        if alike is not None:
            columns.append(alike.factors[query] * spread[items, None])
            of += [number[LIKENESS]] * alike.factors[query].shape[1]
        return np.column_stack(columns), np.array(of, dtype=np.int64)

    own = {number[NOISE]: spread**2}
    for code, group in known.groups.items():
        own[number[attribute_component(code)]] = np.where(_alone(group), spread**2, 0.0)
    if alike is not None:
        own[number[LIKENESS]] = spread**2 * alike.rest
    counts = {name: columns.shape[1] for name, columns in shared_of(slice(0, 0)).items()}
    parts = made_effects(
        lambda items: np.column_stack(list(shared_of(items).values())),
        local_of,
        offsets,
        sum(counts.values()),
        largest=max(1.0, systems.largest, *(float(np.abs(part).max(initial=0.0)) for part in (slope, standard, near))),
    )
    return EffectModel(
        components=components,
        offsets=offsets,
        prior_mean=prior_mean,
        shared=parts.shared,
        shared_component=np.repeat([number[name] for name in counts], list(counts.values())).astype(np.int64),
        local=parts.local,
        local_component=parts.local_component,
        own=own_weights(own, (collection.n_items, len(components))),
        largest_loading=parts.largest,
    )


def item_spread(typical: Floats) -> Floats:
    """Return how much gains vary about a typical gain, as a multiple of the effects; 1 in the middle of the scale."""
    return np.asarray(np.sqrt(np.maximum(_LEAST_SPREAD, 4.0 * typical * (1.0 - typical))))


def typical_gain(model: EffectModel, observed: Observations, variances: Floats) -> Floats:
    """Return what the shared effects say about the gain of every item after some observations, shape (items,), 0..1.

    With few observations they say little: :data:`_DOUBTFUL` observations count as much as the prior mean. A typical
    gain near an end of the scale would leave next to no variance, which few judgments cannot justify either.

    Parameters
    ----------
    model : EffectModel
        With spreads by the prior mean.
    observed : Observations
    variances : ndarray of float, shape (components,)
    """
    shared = Posterior(model, observed, variances[None]).shared_mean[0] * observed.item.size
    shared /= observed.item.size + _DOUBTFUL
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
