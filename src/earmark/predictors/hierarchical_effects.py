r"""The effects of the hierarchical predictor: who shares what with whom.

With the prior mean :math:`m_i`, :math:`s_i = \sqrt{\max(.05,\, 4 m_i (1 - m_i))}` (gains near the ends of the scale
vary less) and the centred prior mean :math:`\tilde m_i = 2 (m_i - \bar m)`, the gain of item i of query q is

.. math::

   y_i = m_i + s_i \Bigl[ b + x_i^T d + k_i^T g + u_q + \sum_X u_{q,X} + r_{q,i} + w_i^T (a + c_q) + e_i \Bigr]
         + \tilde m_i \bigl[ b' + v_q + w_i^T f \bigr]

==================  ====================================================================================================
component           effects
==================  ====================================================================================================
``base``            :math:`b`, how good the whole pool is
``slopes``          :math:`b', d`: how much the standardised covariates :math:`x_i` and the prior mean itself really say
``query``           :math:`u_q`, how hard the query is
``query slope``     :math:`v_q`, how well the prior mean orders its items
``system``          :math:`a_s`, how good the system is
``system in query`` :math:`c_{qs}`, how good it is for the query
``system slope``    :math:`f_s`, how well the prior mean orders what it retrieves
``query × X``       :math:`u_{q,X}`, how well a value of attribute X (an artist, a genre) fits the query
``content``         :math:`g`: how much nearness of content to the query says, and in which directions :math:`k_i`
``query × content`` :math:`r_{q,i}`, how well such content fits the query; documents that are alike share it
``noise``           :math:`e_i`, the rest
``assessor``        how generous an assessor is, where items have answers of several
``disagreement``    what remains between their answers
==================  ====================================================================================================

The weights :math:`w_{is}` are :math:`1/\sqrt{n_i}` for the :math:`n_i` systems that retrieved the item. Systems that
retrieve the same documents are alike: their effects are correlated as their results overlap, and a system that was
entered twice has the same effects twice.

An effect that only one item of a query has, such as that of an artist who appears once, is part of the item's own. The
kernels of content are those of :mod:`earmark.predictors.content_kernels`; without content, both components are absent.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from earmark.beliefs.effects import EffectModel
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.predictors.covariates import Covariates, result_overlap

GENERAL = (
    "base",
    "slopes",
    "query",
    "query slope",
    "system",
    "system in query",
    "system slope",
    "noise",
)
ASSESSORS = ("assessor", "disagreement")
CONTENT, LIKENESS = "content", "query × content"
_LEAST_SPREAD = 0.05


def attribute_component(code: str) -> str:
    """Name the component of an attribute's effects within queries."""
    return f"query × {code}"


def effect_model(collection: Collection, known: Covariates, prior_mean: Floats, *, n_assessors: int = 0) -> EffectModel:
    """Put together the effects of a collection.

    Parameters
    ----------
    collection : Collection
    known : Covariates
        Of its items.
    prior_mean : ndarray of float, shape (items,), 0..1
        What is expected before anything is judged.
    n_assessors : int
        How many assessors' answers to the same items there are to tell apart; 0 where judgments are the truth.
    """
    components = GENERAL + tuple(attribute_component(code) for code in known.groups)
    content = known.content
    near = np.zeros((collection.n_items, 0)) if content is None else content.slopes
    alike = content if content is not None and content.tells_likeness else None
    components += (CONTENT,) if near.shape[1] else ()
    components += () if alike is None else (LIKENESS,)
    components += ASSESSORS if n_assessors else ()
    number = {name: index for index, name in enumerate(components)}
    spread = item_spread(prior_mean)
    slope = 2.0 * (prior_mean - prior_mean.mean())
    by_system = _system_weights(collection)
    standard = _standardised(known.values)
    shared = np.column_stack(
        (
            spread,
            slope,
            spread[:, None] * standard,
            spread[:, None] * by_system,
            slope[:, None] * by_system,
            spread[:, None] * near,
            np.zeros((collection.n_items, n_assessors)),
        )
    )
    n_systems = by_system.shape[1]
    counts = {"base": 1, "slopes": 1 + standard.shape[1], "system": n_systems, "system slope": n_systems}
    if near.shape[1]:
        counts[CONTENT] = near.shape[1]
    if n_assessors:
        counts["assessor"] = n_assessors
    own = np.zeros((collection.n_items, len(components)))
    own[:, number["noise"]] = spread**2
    offsets = np.searchsorted(collection.item_query, np.arange(len(collection.queries) + 1))
    for code, group in known.groups.items():
        alone = _alone(group)
        own[alone, number[attribute_component(code)]] = spread[alone] ** 2
    if alike is not None:
        own[:, number[LIKENESS]] = spread**2 * alike.rest
    local, local_component = [], []
    for query, (first, last) in enumerate(pairwise(offsets)):
        items = slice(int(first), int(last))
        here = by_system[items] * spread[items, None]
        columns = [spread[items, None], slope[items, None], here[:, here.any(axis=0)]]
        of = [number["query"], number["query slope"], *[number["system in query"]] * columns[2].shape[1]]
        for code, group in known.groups.items():
            members = _members(group[items])
            columns.append(members * spread[items, None])
            of += [number[attribute_component(code)]] * members.shape[1]
        if alike is not None:
            columns.append(alike.factors[query] * spread[items, None])
            of += [number[LIKENESS]] * alike.factors[query].shape[1]
        local.append(np.column_stack(columns))
        local_component.append(np.array(of, dtype=np.int64))
    return EffectModel(
        components=components,
        offsets=offsets.astype(np.int64),
        prior_mean=prior_mean,
        shared=shared,
        shared_component=np.repeat([number[name] for name in counts], list(counts.values())).astype(np.int64),
        local=tuple(local),
        local_component=tuple(local_component),
        own=own,
    )


def item_spread(prior_mean: Floats) -> Floats:
    """Return how much gains vary about a prior mean, as a multiple of the effects; 1 in the middle of the scale."""
    return np.asarray(np.sqrt(np.maximum(_LEAST_SPREAD, 4.0 * prior_mean * (1.0 - prior_mean))))


def _system_weights(collection: Collection) -> Floats:
    """Return what every item has to do with effects of systems, shape (items, systems)."""
    n_systems = len(collection.systems)
    member = np.zeros((collection.n_items, n_systems))
    member[collection.result_item, collection.result_system] = 1.0
    values, vectors = np.linalg.eigh(result_overlap(collection))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    weights: Floats = (member / np.sqrt(member.sum(axis=1, keepdims=True))) @ root
    # What rounding leaves of systems without any overlap would otherwise count as an effect.
    return np.where(np.abs(weights) < 1e-12, 0.0, weights)


def _standardised(values: Floats) -> Floats:
    """Centre and scale covariates over the collection; those that are the same for all items drop out."""
    apart = values - values.mean(axis=0)
    deviation = apart.std(axis=0)
    varies = deviation > 1e-9
    return np.asarray(apart[:, varies] / deviation[varies])


def _alone(group: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which items are the only ones of their group, or of none."""
    size = np.bincount(np.maximum(group, 0), weights=group >= 0, minlength=1)
    return np.asarray((group < 0) | (size[np.maximum(group, 0)] == 1))


def _members(group: Ints) -> Floats:
    """Return which items of a query are in which group of two or more, shape (items, groups)."""
    values, counts = np.unique(group[group >= 0], return_counts=True)
    return np.asarray((group[:, None] == values[counts > 1]).astype(np.float64))
