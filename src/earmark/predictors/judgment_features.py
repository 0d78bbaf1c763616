r"""Features of items that need judgments of other items: average gains of systems, queries and attribute values.

With J the judged items and g their gains, a feature is an average of gains over a group of judged items: all of a
system's results (aSYS), all items of the query (aDOC), those of the query with the same value of an attribute (aGEN,
aART, ...). Where the group has no judged item the feature is NaN, and a model that uses it cannot be applied. Every
average aX comes with nX, the number of judgments it is an average of, for models that should trust an average of one
less than an average of hundreds [2]_.

**The item's own judgment.** The published averages include the judgment of the item itself where there is one [1]_. A
model is only applied to items without a judgment, so a model fitted that way overestimates how much its features
predict [2]_. `exclude_own` leaves the own judgment out of aSYS, aGEN and aART; aDOC is about the *other* documents and
never includes it. For items without a judgment the two are the same.

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4.2.2.
.. [2] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity.
   Master's thesis, Delft University of Technology; sections 3.2.1 and 3.2.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earmark.data.arrays import Bools, Floats, Ints
from earmark.errors import ParameterError
from earmark.predictors.retrieval_counts import ItemAttribute, RetrievalCounts


class Average(NamedTuple):
    """An average of gains for every item, NaN where there is none, and how many judgments it is an average of."""

    mean: Floats
    judgments: Floats


class ItemGains(NamedTuple):
    """The gain of every item, 0 where it is not judged, and whether it is."""

    gain: Floats
    judged: Bools


def checked_gains(gain: ArrayLike, judged: ArrayLike, n_items: int) -> ItemGains:
    """Check gains and set those of unjudged items to 0, whatever they were.

    Raises
    ------
    ParameterError
        If there is not one gain and one truth value per item, or the gain of a judged item is not a finite number.
    """
    values, mask = np.asarray(gain, dtype=np.float64), np.asarray(judged)
    for name, array in (("gain", values), ("judged", mask)):
        if array.shape != (n_items,):
            raise ParameterError(f"'{name}' has one value per item: expected shape ({n_items},), got {array.shape}")
    if mask.dtype != np.bool_:
        raise ParameterError(f"'judged' is an array of truth values, got one of {mask.dtype}")
    values = np.where(mask, values, 0.0)
    if not np.isfinite(values).all():
        item = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ParameterError(f"the gain of a judged item is a finite number, got {values[item]:g} for item {item}")
    return ItemGains(values, mask)


def system_average(retrieved: RetrievalCounts, gains: ItemGains, *, exclude_own: bool) -> Average:
    r"""Average gain of the systems that retrieved the item (aSYS, nSYS).

    .. math:: aSYS(q, d) = \operatorname{mean}_{s \in S(q, d)} \operatorname{mean}_{i \in J(s)} g_i

    with J(s) the judged items that system s retrieved, for any query. A system without judged results is left out of
    the outer mean. nSYS adds up \|J(s)\|: an item that two of the systems retrieved counts twice.
    """
    system, item = retrieved.collection.result_system, retrieved.collection.result_item
    gain, judged = gains.gain[item], gains.judged[item].astype(np.float64)
    total = _sums(system, gain, retrieved.n_systems)[system]
    count = _sums(system, judged, retrieved.n_systems)[system]
    if exclude_own:
        total, count = total - gain, count - judged
    rated = count > 0
    mean = np.divide(total, count, out=np.zeros(item.size), where=rated)
    means = _sums(item, mean, retrieved.collection.n_items)
    systems = np.bincount(item[rated], minlength=retrieved.collection.n_items)
    return Average(_ratio(means, systems), _sums(item, count, retrieved.collection.n_items))


def query_average(retrieved: RetrievalCounts, gains: ItemGains) -> Average:
    """Average gain of the other judged items of the query (aDOC, nDOC)."""
    return _group_average(gains, retrieved.collection.item_query, retrieved.n_queries, exclude_own=True)


def attribute_average(attribute: ItemAttribute, gains: ItemGains, *, exclude_own: bool) -> Average:
    """Average gain of the judged items of the query that have the document's value (aX, nX).

    Both are NaN where the value is not known.
    """
    average = _group_average(gains, attribute.group, attribute.n_groups + 1, exclude_own=exclude_own)
    return Average(*(np.where(attribute.known, values, np.nan) for values in average))


def _group_average(gains: ItemGains, group: Ints, n_groups: int, *, exclude_own: bool) -> Average:
    gain, judged = gains.gain, gains.judged.astype(np.float64)
    total = _sums(group, gain, n_groups)[group]
    count = _sums(group, judged, n_groups)[group]
    if exclude_own:
        total, count = total - gain, count - judged
    return Average(_ratio(total, count), count)


def _sums(group: Ints, values: Floats, n_groups: int) -> Floats:
    return np.bincount(group, values, minlength=n_groups).astype(np.float64, copy=False)


def _ratio(total: Floats, count: Floats | Ints) -> Floats:
    ratio = np.full(total.size, np.nan)
    np.divide(total, count, out=ratio, where=count > 0)
    return ratio
