r"""Sampling designs: orders in which items are judged, and their inclusion probabilities.

*Priority sampling* [1]_: every item :math:`i` has a size :math:`p_i > 0`, its importance, and a random number
:math:`u_i` between 0 and 1 drawn once (:mod:`earmark.data.permanent_random_numbers`). Items are judged in increasing
order of :math:`r_i = u_i / p_i`. After :math:`n` judgments, let :math:`\tau` be the :math:`r` of the first item that is
not judged. Given the random numbers of all other items, an item is in the sample if its own number is below
:math:`p_i \tau`, so its inclusion probability is

.. math:: \pi_i = \min(1,\; p_i\, \tau),

and the terms :math:`1[i\ sampled]/\pi_i` have mean 1 and are uncorrelated. The first :math:`n` items of the order are
such a sample for every :math:`n`: samples are nested, estimates are valid at every look, and inclusion probabilities
are computed at each look and never stored.

**The sample** is the longest prefix of the order that is fully judged (:meth:`SampleOrder.prefix`). An item in that
prefix is in the sample whoever chose to judge it, since the order was fixed before anything was judged. An item that an
adaptive policy picked further down the order is not in the sample, as its inclusion probability is unknown.

**Sizes.** The variance of the difference of two systems is a sum over :math:`(W_{Ai} - W_{Bi})^2`, that of one system's
score a sum over :math:`W_{Ai}^2`. :func:`sizes` balances both over all pairs and systems.

The score of a normalised measure depends on all items of a query. For these measures :class:`QueryOrder` puts the
queries in random order, to be judged one after the other; the complete queries at its front are a simple random sample
of all queries.

References
----------
.. [1] N. Duffield, C. Lund, M. Thorup (2007). Priority sampling for estimation of arbitrary subset sums. Journal of the
   ACM 54(6), article 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from earmark.beliefs.exact_estimates import Sparse, system_weights
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.permanent_random_numbers import item_numbers, query_numbers
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.base import Measure


class JudgingOrder(Protocol):
    """An order of all items that was fixed before anything was judged."""

    @property
    def order(self) -> Ints:
        """All items, the first to be judged first, shape (items,)."""

    @property
    def priority(self) -> Floats:
        """What orders the items, the highest first, shape (items,)."""


@dataclass(frozen=True, eq=False)
class DrawnItems:
    """A sample of items, and the probabilities with which items get into it.

    Attributes
    ----------
    sampled : ndarray of bool, shape (items,)
    inclusion : ndarray of float, shape (items,), above 0 to 1
        Of every item, sampled or not.
    """

    sampled: Bools
    inclusion: Floats

    @property
    def n(self) -> int:
        """How many items are sampled."""
        return int(np.count_nonzero(self.sampled))

    @property
    def complete(self) -> bool:
        """Whether nothing is left to chance."""
        return bool(np.all(self.inclusion == 1))


class ItemSampling(Protocol):
    """A way in which items are sampled: which of the judged ones are a sample, and with what probabilities."""

    @property
    def n_needed(self) -> int:
        """How many items can be sampled."""

    @property
    def reachable(self) -> Bools:
        """Which items can be sampled, shape (items,)."""

    @property
    def order(self) -> Ints:
        """All items, in an order in which the sample may grow, shape (items,)."""

    def count(self, judged: Bools) -> int:
        """Return how many of the judged items are a sample."""

    def drawn(self, judged: Bools) -> DrawnItems:
        """Return the sample among the judged items."""

    def too_few(self, judged: Bools, needed: int) -> str:
        """Say that the sample is smaller than needed, and what to do."""


def sizes(weights: Sparse, variance: Floats | None = None) -> Floats:
    r"""Return the size of every item, to which its inclusion probability is proportional.

    .. math:: p_i = \sqrt{\Bigl(\frac{S \sum_A W_{Ai}^2 - (\sum_A W_{Ai})^2}{S - 1} + \frac14 \sum_A W_{Ai}^2\Bigr)
        v_i}

    with weights in units of the largest. The first part is the sum of :math:`(W_{Ai} - W_{Bi})^2` over pairs, divided
    by :math:`S - 1`; one system alone has none. For average gain, where an item that :math:`n_i` of :math:`S` systems
    retrieved has :math:`n_i` weights of 1, it is :math:`\sqrt{(n_i (S - n_i) / (S - 1) + n_i / 4)\, v_i}`.

    Parameters
    ----------
    weights : scipy.sparse.csr_array of float, shape (systems, items)
        What the gain of every item adds to the score of every system.
    variance : ndarray of float, shape (items,), above 0, optional
        :math:`v_i`, the expected squared error of the prediction of every item's gain. It has to be fixed before
        anything is judged, as the order depends on it. By default the same for all, which performs as well.

    Returns
    -------
    ndarray of float, shape (items,), 0 or more
        0 where no system has a weight.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> sizes(csr_array([[0.2, 0.2, 0, 0], [0, 0.2, 0, 0.2], [0, 0.2, 0, 0.2]])).round(4).tolist()
    [1.118, 0.866, 0.0, 1.2247]
    """
    n_systems, n_items = weights.shape
    summed: Sparse = weights.copy()
    summed.sum_duplicates()
    if not np.all(np.isfinite(summed.data)):
        raise ParameterError("expected finite weights, got NaN or infinity")
    relative = summed.data / (np.abs(summed.data).max(initial=0.0) or 1.0)
    squares = np.bincount(summed.indices, relative**2, minlength=n_items)
    sums = np.bincount(summed.indices, relative, minlength=n_items)
    between = (n_systems * squares - sums**2) / (n_systems - 1) if n_systems > 1 else np.zeros(n_items)
    importance = np.maximum(between, 0.0) + squares / 4
    if variance is None:
        return np.sqrt(importance)
    if variance.shape != (n_items,):
        raise ParameterError(f"expected a variance for each of {n_items} items, got shape {variance.shape}")
    if not np.all(np.isfinite(variance) & (variance > 0)):
        # An item of size 0 would never be sampled, so no guarantee would hold for it.
        raise ParameterError("expected finite variances above 0 for the sizes of a sample")
    return np.sqrt(importance * variance)


@dataclass(frozen=True, eq=False)
class SampleOrder:
    r"""An order of items in which every prefix is a sample with known inclusion probabilities.

    Parameters
    ----------
    number : ndarray of float, shape (items,), above 0 and below 1
        :math:`u_i`, permanent random numbers.
    size : ndarray of float, shape (items,), 0 or more
        :math:`p_i`. Items of size 0 have no weight in any score: they come last and are never needed.
    part : bool
        The items are some of those that were sampled, and the others are not known here. How many of these items are
        judged is then chance. The last judged one takes the part of the first that is not: its :math:`r_i` is the
        threshold, and it is not in the sample. Given the other numbers, an item is in the sample if its own is below
        that threshold, as in a sample of fixed size.

    Examples
    --------
    >>> order = SampleOrder(np.array([0.5, 0.1, 0.9, 0.3]), np.array([1.0, 0.1, 3.0, 0.0]))
    >>> order.order.tolist(), order.prefix(np.array([True, True, True, False]))
    ([2, 0, 1, 3], 3)
    >>> order.inclusion(1).tolist()
    [0.5, 0.05, 1.0, 1.0]
    """

    number: Floats
    size: Floats
    part: bool = False

    def __post_init__(self) -> None:
        if self.number.ndim != 1 or self.number.shape != self.size.shape:
            raise ParameterError(
                f"expected a random number and a size for every item, got shapes {self.number.shape} and "
                f"{self.size.shape}"
            )
        if not np.all((self.number > 0) & (self.number < 1)):
            raise ParameterError("expected random numbers above 0 and below 1")
        if not np.all(np.isfinite(self.size) & (self.size >= 0)):
            raise ParameterError("expected finite sizes of 0 or more")

    @classmethod
    def of(
        cls,
        collection: Collection,
        measure: Measure,
        *,
        scale: Scale,
        seed: int,
        variance: Floats | None = None,
    ) -> SampleOrder:
        """Put the items of a collection in order, for a linear measure.

        Parameters
        ----------
        collection : Collection
        measure : Measure
            A linear one; for others, take average gain at their cutoff.
        scale : Scale
            The scale of the gains.
        seed : int
            The seed of the campaign.
        variance : ndarray of float, shape (items,), optional
            As for :func:`sizes`.
        """
        weights = system_weights(collection, measure, scale=scale)
        return cls(item_numbers(collection, seed=seed), sizes(weights, variance))

    @cached_property
    def rank_number(self) -> Floats:
        """:math:`r_i = u_i / p_i`, shape (items,); infinite for items of size 0."""
        return np.asarray(np.divide(self.number, self.size, out=np.full(self.size.shape, np.inf), where=self.size > 0))

    @cached_property
    def order(self) -> Ints:
        """All items by increasing :math:`r_i`, shape (items,)."""
        return np.argsort(self.rank_number, kind="stable").astype(np.int64)

    @property
    def priority(self) -> Floats:
        """:math:`1 / r_i`, shape (items,); 0 for items of size 0."""
        return np.asarray(1.0 / self.rank_number)

    @property
    def n_needed(self) -> int:
        """How many items have a weight in some score."""
        return int(np.count_nonzero(self.size))

    def prefix(self, judged: Bools) -> int:
        """Return the length of the longest fully judged prefix of the order: the size of the sample.

        Parameters
        ----------
        judged : ndarray of bool, shape (items,)
        """
        if judged.shape != self.size.shape:
            raise ParameterError(f"expected 'judged' for each of {self.size.size} items, got shape {judged.shape}")
        in_order = judged[self.order[: self.n_needed]]
        return self.n_needed if in_order.all() else int(np.argmin(in_order))

    @property
    def reachable(self) -> Bools:
        """Which items the order reaches, shape (items,)."""
        return np.asarray(self.size > 0)

    def count(self, judged: Bools) -> int:
        """Return the size of the sample among the judged items."""
        n = self.prefix(judged)
        return max(n - 1, 0) if self.part and n < self.n_needed else n

    def drawn(self, judged: Bools) -> DrawnItems:
        """Return the sample among the judged items."""
        n = self.count(judged)
        return DrawnItems(self.sampled(n), self.inclusion(n))

    def too_few(self, judged: Bools, needed: int) -> str:
        """Say that the sample is smaller than needed, and what to do."""
        n = self.count(judged)
        others = int(np.count_nonzero(judged)) - n
        rest = (
            f" The {others} other judgments do not follow the order of the sample; if they were drawn at random by "
            "other means, say how: --sample."
            if others
            else ""
        )
        return (
            f"a guarantee needs at least {needed} sampled judgments, there are {n}.{rest} Judge what 'earmark next "
            "--policy proportional' proposes, or trust the model: --inference model"
        )

    def sampled(self, n: int) -> Bools:
        """Tell which items are the first `n` of the order, shape (items,)."""
        self._check(n)
        chosen = np.zeros(self.size.size, dtype=bool)
        chosen[self.order[:n]] = True
        return chosen

    def inclusion(self, n: int) -> Floats:
        r"""Return the probability with which every item is among the first `n` of the order.

        .. math:: \pi_i = \min(1, p_i \tau), \quad \tau = r_{(n+1)}

        Parameters
        ----------
        n : int
            From 0 to `n_needed`.

        Returns
        -------
        ndarray of float, shape (items,), 0..1
            1 for all items if the sample is complete, and always for items of size 0.
        """
        self._check(n)
        if n == self.n_needed:
            return np.ones(self.size.size)
        threshold = self.rank_number[self.order[n]]
        return np.where(self.size > 0, np.minimum(1.0, self.size * threshold), 1.0)

    def _check(self, n: int) -> None:
        if not 0 <= n <= self.n_needed:
            raise ParameterError(f"a sample holds 0 to {self.n_needed} items here, got {n}")


@dataclass(frozen=True, eq=False)
class QueryOrder:
    """The order in which items are judged query by query, queries in random order.

    Parameters
    ----------
    number : ndarray of float, shape (queries,), above 0 and below 1
        Permanent random numbers of the queries, of which the lowest comes first.
    item_query : ndarray of int, shape (items,)
        The query of every item.

    Examples
    --------
    >>> order = QueryOrder(np.array([0.7, 0.2]), np.array([0, 0, 1, 1]))
    >>> order.order.tolist(), order.complete(np.array([True, False, True, True])).tolist()
    ([2, 3, 0, 1], [1])
    """

    number: Floats
    item_query: Ints

    def __post_init__(self) -> None:
        if not np.all((self.number > 0) & (self.number < 1)):
            raise ParameterError("expected random numbers above 0 and below 1")

    @classmethod
    def of(cls, collection: Collection, *, seed: int) -> QueryOrder:
        """Put the queries of a collection in order."""
        return cls(query_numbers(collection, seed=seed), collection.item_query)

    @cached_property
    def queries(self) -> Ints:
        """All queries, the first to be judged first, shape (queries,)."""
        return np.argsort(self.number, kind="stable").astype(np.int64)

    @cached_property
    def order(self) -> Ints:
        """All items, those of the first query first, shape (items,)."""
        return np.argsort(self.number[self.item_query], kind="stable").astype(np.int64)

    @property
    def priority(self) -> Floats:
        """One over the random number of every item's query, shape (items,)."""
        return 1.0 / self.number[self.item_query]

    def complete(self, judged: Bools) -> Ints:
        """Return the queries at the front of the order all of whose items are judged: a simple random sample.

        Parameters
        ----------
        judged : ndarray of bool, shape (items,)

        Returns
        -------
        ndarray of int, shape (complete queries,)
        """
        if judged.shape != self.item_query.shape:
            raise ParameterError(
                f"expected 'judged' for each of {self.item_query.size} items, got shape {judged.shape}"
            )
        lacking = np.bincount(self.item_query[~judged], minlength=self.number.size)[self.queries] > 0
        return self.queries[: int(np.argmax(lacking)) if lacking.any() else self.queries.size]
