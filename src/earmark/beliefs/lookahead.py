r"""Lookahead: how hypothetical judgments would change variances and covariances.

How much a judgment reduces the covariance does not depend on the gain that is given. With :math:`c_i` the covariance of
the scores with the gain of item i, conditioning on that gain subtracts :math:`c_i c_i^T / Var[G_i]` from the covariance
of the scores, and :math:`Cov(G_i, G_j) / Var[G_i]` times :math:`c_i` from :math:`c_j`. A :class:`Lookahead` updates
these covariances for one hypothetical judgment after the other, so that the second item of a batch is chosen given that
the first will be judged.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod

import numpy as np

from earmark.beliefs.posterior import Posterior
from earmark.data.arrays import Floats, Ints


class Lookahead(ABC):
    """Covariances of scores and gains, conditional on hypothetical judgments.

    Attributes
    ----------
    variance : ndarray of float, shape (items,)
        Of every gain; 0 where it is judged.
    covariance : ndarray of float, shape (systems, items)
        Of every score with every gain.
    score_covariance : ndarray of float, shape (systems, systems)
    """

    variance: Floats
    covariance: Floats
    score_covariance: Floats

    @abstractmethod
    def condition_on(self, item: int, *, noise: float = 0.0) -> None:
        """Condition on a hypothetical judgment of an item.

        Parameters
        ----------
        item : int
        noise : float, 0 or more
            The variance of an answer given the gain, where an answer is not exact.
        """

    @abstractmethod
    def narrowed(self, row: int, items: Ints) -> Lookahead:
        """Return an independent copy for one of the scores and some of the items, which are renumbered.

        Parameters
        ----------
        row : int
            Which of the scores.
        items : ndarray of int, ascending
        """


class IndependentLookahead(Lookahead):
    """Lookahead for independent gains: a judgment changes the variance of its own item only.

    Parameters
    ----------
    weights : ndarray of float, shape (systems, items)
    variance : ndarray of float, shape (items,)
    """

    def __init__(self, weights: Floats, variance: Floats) -> None:
        self.variance = variance.copy()
        self.covariance = weights * variance
        self.score_covariance = self.covariance @ weights.T

    def condition_on(self, item: int, *, noise: float = 0.0) -> None:
        """Condition on a hypothetical judgment of an item."""
        variance = self.variance[item] + noise
        if variance <= 0:
            return
        told, left = self.covariance[:, item], noise / variance
        self.score_covariance -= np.outer(told, told) / variance
        self.variance[item] *= left
        self.covariance[:, item] *= left

    def narrowed(self, row: int, items: Ints) -> IndependentLookahead:
        """Return an independent copy for one of the scores and some of the items."""
        one = copy.copy(self)
        one.variance, one.covariance = self.variance[items], self.covariance[row : row + 1, items]
        one.score_covariance = self.score_covariance[row : row + 1, row : row + 1].copy()
        return one


class CorrelatedLookahead(Lookahead):
    r"""Lookahead for correlated gains: a judgment changes the variance of all items that share effects with it.

    Keeps, for the most probable variances, one dense block of covariances per query given the shared effects, the
    loadings :math:`A` of the items on the shared effects, and the covariance :math:`P` of those. A judgment is a
    rank-one update of one block and of :math:`P`.

    Parameters
    ----------
    posterior : Posterior
        With one set of variances.
    weights : ndarray of float, shape (systems, items)
    """

    def __init__(self, posterior: Posterior, weights: Floats) -> None:
        model = posterior.model
        self._offsets = model.offsets
        self._shared_covariance = posterior.shared_covariance[0].copy()
        # The posterior goes on using its blocks: they are replaced, never changed.
        found = [posterior.of_query(query) for query in range(model.n_queries)]
        self._blocks = [block for block, _ in found]
        self._shared = np.concatenate([loadings for _, loadings in found])
        through_shared = self._shared @ self._shared_covariance
        own = np.concatenate([block.diagonal() for block in self._blocks])
        self.variance = np.maximum(own + np.einsum("ig,ig->i", through_shared, self._shared), 0.0)
        parts = [weights[:, model.items_of(query)] @ block for query, block in enumerate(self._blocks)]
        self.covariance = np.concatenate(parts, axis=1) + (weights @ through_shared) @ self._shared.T
        self.score_covariance = self.covariance @ weights.T

    @classmethod
    def of_some(
        cls,
        *,
        blocks: list[Floats],
        shared: Floats,
        shared_covariance: Floats,
        variance: Floats,
        covariance: Floats,
        score_covariance: Floats,
    ) -> CorrelatedLookahead:
        """Make the lookahead for some items out of its parts; `blocks` hold those of each query, one after the other.

        Parameters
        ----------
        blocks : list of ndarray of float, shapes (items of the query, items of the query)
            Covariances given the shared effects.
        shared : ndarray of float, shape (items, shared effects)
            Loadings on the shared effects.
        shared_covariance : ndarray of float, shape (shared effects, shared effects)
        variance, covariance, score_covariance
            As the attributes.
        """
        one = cls.__new__(cls)
        one._blocks, one._shared, one._shared_covariance = blocks, shared, shared_covariance
        one._offsets = np.concatenate(([0], np.cumsum([len(block) for block in blocks], dtype=np.int64)))
        one.variance, one.covariance, one.score_covariance = variance, covariance, score_covariance
        return one

    def condition_on(self, item: int, *, noise: float = 0.0) -> None:
        """Condition on a hypothetical judgment of an item; without noise its gain is then known exactly."""
        query = int(np.searchsorted(self._offsets, item, side="right")) - 1
        items = slice(self._offsets[query], self._offsets[query + 1])
        block, within = self._blocks[query], item - int(self._offsets[query])
        shared = self._shared[item].copy()
        through = self._shared_covariance @ shared
        with_item = self._shared @ through
        with_item[items] += block[within]
        variance = with_item[item] + noise
        if variance <= 0:
            return
        told = self.covariance[:, item].copy()
        self.variance = np.maximum(self.variance - with_item**2 / variance, 0.0)
        self.covariance -= np.outer(told / variance, with_item)
        self.score_covariance -= np.outer(told, told) / variance
        own = block[within, within] + noise
        if own > 0:
            column = block[:, within]
            self._blocks[query] = block - np.outer(column / own, column)
            self._shared[items] -= np.outer(column / own, shared)
        self._shared_covariance -= np.outer(through, through) / variance
        if noise > 0:
            return
        left = self._blocks[query].copy()
        left[within], left[:, within] = 0.0, 0.0
        self._blocks[query] = left
        self._shared[item] = 0.0
        self.variance[item] = 0.0
        self.covariance[:, item] = 0.0

    def narrowed(self, row: int, items: Ints) -> CorrelatedLookahead:
        """Return an independent copy for one of the scores and some of the items."""
        one = copy.copy(self)
        within = np.split(items, np.searchsorted(items, self._offsets[1:-1]))
        one._blocks = [
            block[np.ix_(here - start, here - start)]
            for block, here, start in zip(self._blocks, within, self._offsets[:-1], strict=True)
        ]
        one._offsets = np.concatenate(([0], np.cumsum([here.size for here in within])))
        one._shared, one._shared_covariance = self._shared[items], self._shared_covariance.copy()
        one.variance, one.covariance = self.variance[items], self.covariance[row : row + 1, items]
        one.score_covariance = self.score_covariance[row : row + 1, row : row + 1].copy()
        return one
