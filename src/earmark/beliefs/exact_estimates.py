r"""Exact estimates of linear measures.

A linear measure weighs gains by rank, so the mean score of a system over queries is a weighted sum of gains. With
:math:`W` (systems × items) holding the weights, divided by the number of queries, and beliefs with mean :math:`\mu` and
covariance :math:`\Sigma`, scores have mean :math:`W\mu` and covariance :math:`W \Sigma W^T` (MTC, Eqs. 2 and 5; BIAS,
Eqs. 2.7 to 2.10, where the normaliser of DCG reads :math:`\sum_i 1/\log_2(i+1)`, which is ``nDCG(ideal=scale)`` here).

The difference of two systems is one weighted sum too, with :math:`W_A - W_B` (MTC, Eqs. 3 and 4; BIAS, Eqs. 2.13 and
2.14, the weights of the variance being squared). What both retrieve at the same rank cancels exactly, in the mean and
in the variance; lists that score the same whatever the gains have a difference of exactly 0 with exactly no variance.

A query that a system did not answer scores 0 and counts: the sum over queries is divided by all of them.

Where gains are independent, queries are too: means and variances are sums over queries. :class:`LinearEstimator` keeps
them per query and works out anew only those of which an item has changed.

On a large collection nothing of the size queries × pairs is made. The difference of two systems is then that of their
means, and its variance :math:`Var[A] + Var[B] - 2\,Cov[A, B]`; whether two systems can differ at all, or still in items
that are not judged, is told by comparing their rows of :math:`W`, so that it is exact here too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from earmark.beliefs.beliefs import Beliefs, IndependentBeliefs
from earmark.beliefs.estimates import Estimates, Moments, all_pairs, mixture_moments, without_noise
from earmark.beliefs.stretches import LARGE
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.base import Measure

Sparse = csr_array[Any, tuple[int, int]]

# Above so many sums of one query, of a system or of a pair of systems, only sums over all queries are made.
_MOST_SUMS = 1 << 19


def rank_weights(measure: Measure, ranks: NDArray[np.integer], scale: Scale) -> Floats:
    """Return what a gain at every rank adds to the score of a list.

    Raises
    ------
    ParameterError
        If the measure is not linear, or has no meaning on the scale.
    """
    if not measure.is_linear:
        raise ParameterError(f"{measure} is not a weighted sum of gains: estimate it by Monte Carlo")
    measure.check(scale)
    return measure.weights(ranks, scale)


def system_weights(collection: Collection, measure: Measure, *, scale: Scale) -> Sparse:
    r"""Return :math:`W`: what the gain of every item adds to the mean score of every system.

    Returns
    -------
    scipy.sparse.csr_array of float, shape (systems, items)
    """
    ranks = collection.ranks
    weights = rank_weights(measure, collection.result_rank, scale) / len(collection.queries)
    matrix: Sparse = csr_array((weights, ranks.indices, ranks.indptr), shape=ranks.shape, copy=True)
    matrix.has_canonical_format = True
    matrix.eliminate_zeros()
    return matrix


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """The weights of gains in scores and in differences of scores, one query at a time.

    Attributes
    ----------
    n_systems, n_queries : int
    a, b : ndarray of int, shape (pairs,)
        The two systems of every pair.
    rows : scipy.sparse.csr_array of float, shape (queries · (systems + pairs), items)
        For every query the weights of every system, then :math:`W_A - W_B` of every pair; 12 bytes for every pair,
        query and document that tells the two systems apart.
    identical : ndarray of bool, shape (pairs,)
        No gain could tell the two systems apart.
    """

    n_systems: int
    n_queries: int
    a: Ints
    b: Ints
    rows: Sparse
    identical: NDArray[np.bool_]

    @property
    def rows_per_query(self) -> int:
        """How many rows every query has: systems, then pairs."""
        return self.n_systems + self.a.size

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """Split values of rows, shape (..., systems + pairs), into those of systems and those of pairs."""
        return values[..., : self.n_systems], values[..., self.n_systems :]

    def of_queries(self, queries: Ints) -> Sparse:
        """Return the rows of some queries."""
        within = np.arange(self.rows_per_query)
        chosen: Sparse = self.rows[(queries[:, None] * self.rows_per_query + within).reshape(-1)]
        return chosen

    def add_up(self, rows: Sparse, values: Floats) -> Floats:
        """Weigh one value per item, shape (queries, systems + pairs)."""
        sums: Floats = rows @ values
        return sums.reshape(-1, self.rows_per_query)


def query_weights(collection: Collection, measure: Measure, *, scale: Scale) -> QueryWeights:
    """Find out what every item counts for every system, and for every pair of systems, in its query."""
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    a, b = all_pairs(n_systems)
    query = collection.item_query[collection.result_item]
    weights = rank_weights(measure, collection.result_rank, scale)
    # A last row without entries is what systems themselves are compared with.
    shape = (n_queries * n_systems + 1, collection.n_items)
    lists = _sparse(weights, query * n_systems + collection.result_system, collection.result_item, shape)
    first = np.arange(n_queries)[:, None] * n_systems
    nothing = np.full((n_queries, n_systems), shape[0] - 1)
    minuend = np.hstack((first + np.arange(n_systems), first + a)).reshape(-1)
    subtrahend = np.hstack((nothing, first + b)).reshape(-1)
    rows = csr_array(lists[minuend] - lists[subtrahend])
    rows.eliminate_zeros()
    entries = np.diff(rows.indptr).reshape(n_queries, -1)
    return QueryWeights(n_systems, n_queries, a, b, rows, entries[:, n_systems:].sum(axis=0) == 0)


class LinearEstimator:
    """Estimates of a linear measure on one collection, again and again as beliefs change.

    What depends on the collection is worked out once. From one call to the next the estimator remembers what it found
    for every query, and visits only those with an item whose mean or variance has changed. The result is the same, to
    the last bit, as that of a new estimator.

    Parameters
    ----------
    collection : Collection
    measure : Measure
        A linear one (``measure.is_linear``).
    scale : Scale
        The scale of the gains.

    Examples
    --------
    >>> import earmark
    >>> from earmark.beliefs.beliefs import uniform_beliefs
    >>> from earmark.data.collection import Collection
    >>> lists = {"A": {"q": {"d1": 2, "d2": 1}}, "B": {"q": {"d1": 2, "d3": 1}}}
    >>> collection = Collection.from_runs(earmark.runs_from_dict(lists))
    >>> estimator = LinearEstimator(collection, earmark.parse("AG@2"), scale=earmark.BINARY)
    >>> beliefs = uniform_beliefs(collection, scale=earmark.BINARY)
    >>> estimator.estimate(beliefs).differences.variance.tolist()
    [0.125]
    >>> estimator.estimate(beliefs.with_judgments([1, 2], [1, 0])).differences.mean.tolist()
    [0.5]
    """

    def __init__(self, collection: Collection, measure: Measure, *, scale: Scale) -> None:
        self.collection = collection
        self.measure = measure
        self.scale = scale
        rank_weights(measure, np.zeros(0, dtype=np.int64), scale)
        self._item_mean: Floats | None = None
        self._item_variance: Floats | None = None

    @property
    def is_large(self) -> bool:
        """Whether there are too many queries and pairs of systems to keep a sum for each."""
        n_systems = len(self.collection.systems)
        return len(self.collection.queries) * (n_systems * (n_systems + 1) // 2) > _MOST_SUMS

    @cached_property
    def weights(self) -> QueryWeights:
        """What every item counts, query by query."""
        return query_weights(self.collection, self.measure, scale=self.scale)

    @cached_property
    def _squares(self) -> Sparse:
        return self.weights.rows.power(2)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """Means and variances of the sums of every query, shape (queries, systems + pairs)."""
        cells = (self.weights.n_queries, self.weights.rows_per_query)
        return np.zeros(cells), np.zeros(cells)

    def estimate(self, beliefs: Beliefs) -> Estimates:
        """Estimate the mean scores of all systems over queries, and their differences."""
        check_beliefs(self.collection, beliefs, self.scale)
        if self.is_large:
            return self._estimate_large(beliefs)
        self._refresh(beliefs)
        weights, n_queries = self.weights, self.weights.n_queries
        of_mean, of_variance = self._sums
        mean, difference = weights.split(of_mean.sum(axis=0) / n_queries)
        difference = without_noise(difference, mean)
        if isinstance(beliefs, IndependentBeliefs):
            variance, spread = weights.split(of_variance.sum(axis=0) / n_queries**2)
            scores, differences = Moments.exact(mean, variance), Moments.exact(difference, spread)
        else:
            # Where nothing is open, what is left of a variance is rounding errors.
            left = weights.add_up(abs(weights.rows), (~beliefs.certain).astype(np.float64)).sum(axis=0)
            open_scores, open_pairs = weights.split(left)
            scores, differences = self._mixed(beliefs, mean, difference, open_scores > 0, open_pairs > 0)
        return Estimates.of(
            self.collection, self.measure, scores, differences, identical=weights.identical, judged=beliefs.n_judged
        )

    def _estimate_large(self, beliefs: Beliefs) -> Estimates:
        """Estimate from sums over all queries alone."""
        a, b = all_pairs(len(self.collection.systems))
        mean = self._query_means(beliefs.mean).sum(axis=0) / len(self.collection.queries)
        difference = without_noise(mean[a] - mean[b], mean)
        uncertain, undecided = _open_sums(self.sparse_weights, ~beliefs.certain, a, b)
        scores, differences = self._mixed(beliefs, mean, difference, uncertain, undecided)
        return Estimates.of(
            self.collection, self.measure, scores, differences, identical=self._identical, judged=beliefs.n_judged
        )

    def _query_means(self, gains: Floats) -> Floats:
        """Return the scores of all systems for every query, shape (queries, systems)."""
        ranks, query, n_queries = self.collection.ranks, self.collection.item_query, len(self.collection.queries)
        scores = np.empty((n_queries, ranks.shape[0]))
        for system, (first, last) in enumerate(pairwise(ranks.indptr)):
            items = ranks.indices[first:last]
            weights = rank_weights(self.measure, ranks.data[first:last], self.scale)
            scores[:, system] = np.bincount(query[items], weights * gains[items], minlength=n_queries)
        return scores

    @cached_property
    def _identical(self) -> NDArray[np.bool_]:
        """Which pairs no gain could tell apart, where they are told by their rows."""
        everything = np.ones(self.collection.n_items, dtype=bool)
        return ~_open_sums(self.sparse_weights, everything, *all_pairs(len(self.collection.systems)))[1]

    def _mixed(
        self,
        beliefs: Beliefs,
        mean: Floats,
        difference: Floats,
        uncertain: NDArray[np.bool_],
        undecided: NDArray[np.bool_],
    ) -> tuple[Moments, Moments]:
        """Describe scores and differences under correlated beliefs, averaged over all cases they distinguish."""
        a, b = all_pairs(len(self.collection.systems))
        of_case, covariance = beliefs.sums(self._system_weights)
        own = np.einsum("css->cs", covariance)
        between = np.where(undecided, np.maximum(own[:, a] + own[:, b] - 2.0 * covariance[:, a, b], 0.0), 0.0)
        own = np.where(uncertain, np.maximum(own, 0.0), 0.0)
        if len(of_case) == 1:
            return Moments.exact(mean, own[0]), Moments.exact(difference, between[0])
        _, scale, df = mixture_moments(np.where(uncertain, of_case, 0.0), own)
        _, apart, apart_df = mixture_moments(np.where(undecided, of_case[:, a] - of_case[:, b], 0.0), between)
        return Moments.exact(mean, scale, df=df), Moments.exact(difference, apart, df=apart_df)

    def _refresh(self, beliefs: Beliefs) -> None:
        """Bring what is known about every query up to date."""
        independent = isinstance(beliefs, IndependentBeliefs)
        mean, variance = beliefs.mean, beliefs.variance if independent else np.zeros(0)
        if self._item_mean is None or self._item_variance is None or not independent:
            rows, squares, queries = self.weights.rows, self._squares, np.arange(self.weights.n_queries)
        else:
            changed = (mean != self._item_mean) | (variance != self._item_variance)
            queries = np.unique(self.collection.item_query[changed])
            if not queries.size:
                return
            rows = self.weights.of_queries(queries)
            squares = csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)
        self._sums[0][queries] = self.weights.add_up(rows, mean)
        if independent:
            self._sums[1][queries] = self.weights.add_up(squares, variance)
            self._item_mean, self._item_variance = mean, variance
        else:
            # Correlated items may change together, in ways that means and variances of items do not show.
            self._item_mean = self._item_variance = None

    @cached_property
    def sparse_weights(self) -> Sparse:
        """The weights of mean scores over queries, shape (systems, items)."""
        return system_weights(self.collection, self.measure, scale=self.scale)

    @cached_property
    def _system_weights(self) -> Floats | Sparse:
        """The same, dense unless that is too large."""
        sparse = self.sparse_weights
        return sparse if sparse.shape[0] * sparse.shape[1] > LARGE else sparse.toarray()


def _open_sums(
    weights: Sparse, still_open: NDArray[np.bool_], a: Ints, b: Ints
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which weighted sums, and which differences of two, depend on open items.

    Parameters
    ----------
    weights : scipy.sparse.csr_array of float, shape (sums, items)
        Without stored zeros.
    still_open : ndarray of bool, shape (items,)
    a, b : ndarray of int, shape (pairs,)

    Returns
    -------
    ndarray of bool, shape (sums,), and of shape (pairs,)
    """
    kinds: dict[bytes, int] = {}
    kind = np.empty(weights.shape[0], dtype=np.int64)
    any_open = np.zeros(weights.shape[0], dtype=bool)
    for row, (first, last) in enumerate(pairwise(weights.indptr)):
        here = still_open[weights.indices[first:last]]
        item, value = weights.indices[first:last][here], weights.data[first:last][here]
        any_open[row] = bool(item.size)
        # A hash of 256 bits: rows that differ have the same with a probability of nothing.
        told = hashlib.sha256(item.astype(np.int64).tobytes() + value.tobytes()).digest()
        kind[row] = kinds.setdefault(told, len(kinds))
    return any_open, kind[a] != kind[b]


def estimate_linear(collection: Collection, beliefs: Beliefs, measure: Measure) -> Estimates:
    """Estimate a linear measure once, exactly.

    Parameters
    ----------
    collection : Collection
    beliefs : Beliefs
        About the items of the collection.
    measure : Measure
        A linear one (``measure.is_linear``).

    Returns
    -------
    Estimates
        Mean and variance of every system's mean score over queries, and of every difference.

    See Also
    --------
    LinearEstimator : the same as beliefs change.
    """
    return LinearEstimator(collection, measure, scale=beliefs.scale).estimate(beliefs)


def check_beliefs(collection: Collection, beliefs: Beliefs, scale: Scale) -> None:
    """Refuse beliefs that are about other items or on another scale."""
    if beliefs.n_items != collection.n_items:
        raise ParameterError(f"expected beliefs about {collection.n_items} items, got {beliefs.n_items}")
    if beliefs.scale != scale:
        raise ParameterError(f"expected beliefs on the scale '{scale}', got '{beliefs.scale}'")


def _sparse(values: Floats, rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> Sparse:
    matrix = csr_array((values, (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
