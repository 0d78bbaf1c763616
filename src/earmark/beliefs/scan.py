r"""Scans: what every judgment would teach, for collections too large to look ahead on as a whole.

A :class:`~earmark.beliefs.lookahead.CorrelatedLookahead` holds the covariance of every score with every gain. On a
large collection that is too much to hold, and much too much to update with every hypothetical judgment. A *scan* gives
the same variances and covariances for one stretch of items after the other. Whoever has chosen a few thousand items by
it gets the lookahead for these from :meth:`Scan.narrowed`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from earmark.beliefs.lookahead import CorrelatedLookahead, IndependentLookahead, Lookahead
from earmark.beliefs.posterior import Posterior
from earmark.beliefs.stretches import LARGE, STRETCH, Columns, Stretch, dense_columns
from earmark.data.arrays import Floats, Ints
from earmark.progress import track

_TASK = "what judgments would teach"


class Scan(ABC):
    """Variances of gains and their covariances with scores, stretch by stretch.

    Attributes
    ----------
    score_covariance : ndarray of float, shape (systems, systems)
    """

    score_covariance: Floats

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield the items of a stretch, their variances, and the covariance of every score with their gains."""

    @abstractmethod
    def narrowed(self, items: Ints) -> Lookahead:
        """Return the lookahead for some items, ascending, which are renumbered."""


class IndependentScan(Scan):
    """Scan of independent gains.

    Parameters
    ----------
    weights : ndarray of float, shape (systems, items), or scipy.sparse.csc_array
    variance : ndarray of float, shape (items,)
    """

    def __init__(self, weights: Columns, variance: Floats) -> None:
        self._weights, self._variance = weights, variance
        self._stretches = [slice(at, min(at + STRETCH, variance.size)) for at in range(0, variance.size, STRETCH)]
        self.score_covariance = np.zeros((weights.shape[0], weights.shape[0]))
        for items in self._stretches:
            here = dense_columns(weights, items)
            self.score_covariance += (here * variance[items]) @ here.T

    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield stretches."""
        for items in track(self._stretches, _TASK):
            variance = self._variance[items]
            yield items, variance, dense_columns(self._weights, items) * variance

    def narrowed(self, items: Ints) -> IndependentLookahead:
        """Return the lookahead for some items."""
        chosen = self._weights[:, items]
        dense = np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray(), dtype=np.float64)
        one = IndependentLookahead(dense, self._variance[items])
        one.score_covariance = self.score_covariance.copy()
        return one


class CorrelatedScan(Scan):
    r"""Scan of correlated gains.

    With the local effects' design :math:`D` of a query and their variances :math:`\Theta`, the covariance of scores
    with the query's gains is :math:`(W D) \Theta D^T` plus what is the items' own, less what observations explain, plus
    :math:`(W A) P A^T` for the loadings :math:`A` on the shared effects: no matrix of items × items is needed.

    Parameters
    ----------
    posterior : Posterior
        With one set of variances.
    weights : ndarray of float, shape (systems, items), or scipy.sparse.csc_array
    top : float
        By what the weights are multiplied.
    """

    def __init__(self, posterior: Posterior, weights: Columns, top: float) -> None:
        self._posterior, self._weights, self._top = posterior, weights, top
        covariance, loadings = posterior.covariance_of(weights)
        self.score_covariance = covariance[0] * top**2
        self._through_shared = loadings[0] @ posterior.shared_covariance[0]

    def __iter__(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield stretches."""
        for stretch in track(self._posterior.model.stretches, _TASK):
            weights = dense_columns(self._weights, stretch.items)
            variance, covariance, shared = _of_stretch(self._posterior, stretch, weights)
            covariance += self._through_shared @ shared.T
            yield stretch.items, variance, covariance * self._top

    def narrowed(self, items: Ints) -> CorrelatedLookahead:
        """Return the lookahead for some items, with exact blocks of the queries they are of."""
        posterior, top = self._posterior, self._top
        model, shared_covariance = posterior.model, posterior.shared_covariance[0]
        queries = np.searchsorted(model.offsets, items, side="right") - 1
        blocks, loadings, local = [], [], []
        for query in np.unique(queries).tolist():
            of_query = model.items_of(query)
            chosen = items[queries == query] - of_query.start
            block, rows = posterior.of_query(query)
            local.append(dense_columns(self._weights, of_query) @ block[:, chosen])
            blocks.append(block[np.ix_(chosen, chosen)])
            loadings.append(rows[chosen])
        shared = np.concatenate(loadings)
        own = np.concatenate([np.diagonal(block) for block in blocks])
        through = np.einsum("ig,ig->i", shared @ shared_covariance, shared)
        return CorrelatedLookahead.of_some(
            blocks=blocks,
            shared=shared,
            shared_covariance=shared_covariance.copy(),
            variance=np.maximum(own + through, 0.0),
            covariance=(np.concatenate(local, axis=1) + self._through_shared @ shared.T) * top,
            score_covariance=self.score_covariance.copy(),
        )


def _of_stretch(posterior: Posterior, stretch: Stretch, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return variances of gains, their covariances with scores but for shared effects, and loadings on these."""
    model, variances = posterior.model, posterior.variances[0]
    shared = np.array(model.shared[stretch.items])
    own = model.own[stretch.items] @ variances
    variance, covariance = own.copy(), weights * own
    observed = {block.query: block for block in posterior._blocks_of(stretch)}
    for query in stretch.queries:
        items = model.items_of(query)
        here = slice(items.start - stretch.items.start, items.stop - stretch.items.start)
        design, of = model.local[query], variances[model.local_component[query]]
        scaled = design * of
        variance[here] += np.einsum("ie,ie->i", scaled, design)
        covariance[:, here] += (weights[:, here] @ scaled) @ design.T
        block = observed.get(query)
        if block is not None:
            with_items = block.scaled[0] @ design.T
            np.add.at(with_items, (np.arange(block.items.size), block.items), block.own[0])
            solved = block.inverse[0] @ with_items
            variance[here] -= np.einsum("oi,oi->i", with_items, solved)
            covariance[:, here] -= (weights[:, here] @ with_items.T) @ solved
            shared[here] -= with_items.T @ block.solved[0, :, 1:]
            if posterior.observed.is_exact:
                known = here.start + block.items
                variance[known], covariance[:, known], shared[known] = 0.0, 0.0, 0.0
    variance += np.einsum("ig,ig->i", shared @ posterior.shared_covariance[0], shared)
    return np.maximum(variance, 0.0), covariance, shared


def central_variance(posterior: Posterior) -> Floats:
    """Return the variance of every gain under one set of variances, shape (items,)."""
    model = posterior.model
    nothing = np.zeros((0, model.n_items))
    if model.n_items * model.shared.shape[1] <= LARGE:
        return CorrelatedLookahead(posterior, nothing).variance
    variance = np.empty(model.n_items)
    for stretch in track(model.stretches, "variances of gains"):
        variance[stretch.items], _, _ = _of_stretch(posterior, stretch, nothing[:, stretch.items])
    return variance
