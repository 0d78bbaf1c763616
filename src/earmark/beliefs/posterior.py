r"""What observations say about effects and about every gain: exact algebra under given variances.

Given the shared effects :math:`g` of an :class:`~earmark.beliefs.effects.EffectModel`, queries are independent.
Everything here is therefore linear algebra on one small block per query and one low-rank part: with the judged items
:math:`o` of a query, :math:`V = Cov(y_o \mid g)` and :math:`B = V^{-1}`,

.. math:: P = \Bigl(\Lambda^{-1} + \sum_q Z_o^T B Z_o\Bigr)^{-1}, \qquad \hat g = P \sum_q Z_o^T B (y_o - m_o)

is the posterior of :math:`g`, and every item has the mean
:math:`m_i + z_i^T \hat g + k_{io} B (y_o - m_o - Z_o \hat g)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from earmark.beliefs.blocks import Block, given_observations, observed_block
from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.exact_sums import ExactSum, spacing_for
from earmark.beliefs.stretches import LARGE, Columns, Stretch, dense_columns
from earmark.data.arrays import Floats, Ints
from earmark.progress import track


class Posterior:
    r"""Effects and gains given observations, for several sets of variances at once.

    Parameters
    ----------
    model : EffectModel
    observed : Observations
    variances : ndarray of float, shape (sets, components)
        :math:`\theta`, one row per set.
    previous : Posterior, optional
        From fewer observations. Where its model and variances are the same, queries of which nothing new is said are
        taken from it, so that a judgment is an update and not a fit.

    Attributes
    ----------
    blocks : list of Block
        One per query of which something was said.
    rows : dict of int to slice
        Which observations are of such a query.
    shared_mean : ndarray of float, shape (sets, shared effects)
        :math:`\hat g`.
    shared_covariance : ndarray of float, shape (sets, shared effects, shared effects)
        :math:`P`.
    """

    def __init__(
        self, model: EffectModel, observed: Observations, variances: Floats, *, previous: Posterior | None = None
    ) -> None:
        self.model = model
        self.observed = observed
        self.variances = variances
        before = previous if previous is not None and self._continues(previous) else None
        bound = _information_bound(model, observed, variances) if before is None else before._bound
        self._bound: Floats | None = bound
        self.rows = dict(observed.of_queries(model))
        self._take_blocks(before)
        n_sets, n_shared = len(variances), model.shared.shape[1]
        # What all queries say about the shared effects.
        spacing = None if bound is None else spacing_for(bound)[:, None]
        unit = np.ones((1, 1)) if spacing is None else spacing
        nothing = ExactSum((n_shared, n_sets, 1 + n_shared), spacing)
        known = None if before is None else before._told
        self._told: ExactSum = self._updated(nothing, known, lambda block: block.told(unit))
        # What queries explain of weighted sums of gains, for the weights that were last asked for.
        self._explained: tuple[Columns, ExactSum] | None = None
        self._explained_before = None if before is None else before._explained
        told = self._told.value.transpose(1, 0, 2)
        if observed.contrasts is not None:
            told = told + observed.contrasts.told(variances)
        precision = np.eye(n_shared) / variances[:, None, model.shared_component] + told[:, :, 1:]
        self.shared_covariance = np.linalg.inv(precision)
        self.shared_mean = (self.shared_covariance @ told[:, :, :1])[:, :, 0]

    def _continues(self, previous: Posterior) -> bool:
        """Tell whether parts of another posterior can be used here without any change of the result."""
        return (
            previous._bound is not None
            and self.observed.is_exact
            and previous.model is self.model
            and np.array_equal(previous.variances, self.variances)
        )

    def _take_blocks(self, before: Posterior | None) -> None:
        """Take blocks of which nothing new is said from an earlier posterior, and make the others."""
        kept: dict[int, Block] = {}
        self._of_query: dict[int, tuple[Floats, Floats]] = {}
        if before is not None:
            same = self.observed.same_queries(before.observed, self.model)
            kept = {block.query: block for block in before.blocks if same[block.query]}
            self._of_query = {query: found for query, found in before._of_query.items() if same[query]}
        self.blocks: list[Block] = [
            kept[query] if query in kept else observed_block(self.model, self.observed, query, rows, self.variances)
            for query, rows in self.rows.items()
        ]
        self._fresh = [block for block in self.blocks if block.query not in kept]
        self._gone = [] if before is None else [block for block in before.blocks if block.query not in kept]

    def _updated(self, nothing: ExactSum, before: ExactSum | None, part: Callable[[Block], Floats]) -> ExactSum:
        """Add up the parts of all queries, or bring an earlier sum up to date, which gives the same."""
        total = nothing if before is None else before.copy()
        for block in self.blocks if before is None else self._fresh:
            total.add(part(block))
        for block in () if before is None else self._gone:
            total.subtract(part(block))
        return total

    def explained(self, block: Block) -> Floats:
        r"""Return :math:`B (y_o - m_o - Z_o \hat g)`, shape (sets, rows)."""
        left: Floats = (block.solved @ self._less_shared)[:, :, 0]
        return left

    @cached_property
    def _less_shared(self) -> Floats:
        """By what solved residuals and designs are multiplied, so that the shared effects are subtracted."""
        return np.concatenate((np.ones((len(self.variances), 1)), -self.shared_mean), axis=1)[:, :, None]

    @cached_property
    def mean(self) -> Floats:
        """The mean of every item's gain as a share of the top gain, shape (sets, items)."""
        mean = np.empty((len(self.variances), self.model.n_items))
        for stretch in self.model.stretches:
            mean[:, stretch.items] = self._make_mean(stretch)
        return mean

    @cached_property
    def average(self) -> tuple[Floats, Floats]:
        """Mean and variance over the sets of every item's mean, both of shape (items,)."""
        mean, variance = np.empty(self.model.n_items), np.empty(self.model.n_items)
        for stretch in track(self.model.stretches, "expected gains"):
            of_sets = self._mean_of(stretch)
            mean[stretch.items], variance[stretch.items] = of_sets.mean(axis=0), of_sets.var(axis=0)
        return mean, variance

    def _mean_of(self, stretch: Stretch) -> Floats:
        """Return the mean of the gains of a stretch, shape (sets, items of the stretch)."""
        if len(self.variances) * self.model.n_items <= LARGE:
            return self.mean[:, stretch.items]
        return self._make_mean(stretch)

    def _make_mean(self, stretch: Stretch) -> Floats:
        model = self.model
        prior = model.prior_mean[stretch.items]
        if not self.blocks:
            return np.repeat(prior[None], len(self.variances), axis=0)
        mean: Floats = self.shared_mean @ model.shared[stretch.items].T
        mean += prior
        blocks = self._blocks_of(stretch)
        explained = [self.explained(block) for block in blocks]
        for block, left in zip(blocks, explained, strict=True):
            items = model.items_of(block.query)
            here = mean[:, items.start - stretch.items.start : items.stop - stretch.items.start]
            here += (left[:, None, :] @ block.scaled)[:, 0] @ model.local[block.query].T
        if blocks:
            rows = slice(self.rows[blocks[0].query].start, self.rows[blocks[-1].query].stop)
            own = np.concatenate([block.own for block in blocks], axis=1) * np.concatenate(explained, axis=1)
            _add_to(mean, self.observed.item[rows] - stretch.items.start, own)
        return mean

    def _blocks_of(self, stretch: Stretch) -> list[Block]:
        """Return the blocks of the queries of a stretch."""
        first, last = np.searchsorted(self._block_queries, (stretch.queries.start, stretch.queries.stop))
        return self.blocks[first:last]

    @cached_property
    def _block_queries(self) -> Ints:
        return np.array([block.query for block in self.blocks], dtype=np.int64)

    def sums(self, weights: Columns) -> tuple[Floats, Floats]:
        """Return mean and covariance of weighted sums of gains.

        Parameters
        ----------
        weights : ndarray of float, shape (sums, items), or scipy.sparse.csc_array

        Returns
        -------
        mean : ndarray of float, shape (sets, sums)
        covariance : ndarray of float, shape (sets, sums, sums)
        """
        covariance, _ = self.covariance_of(weights)
        mean = np.zeros((len(self.variances), weights.shape[0]))
        for stretch in track(self.model.stretches, "expected scores"):
            mean += self._mean_of(stretch) @ dense_columns(weights, stretch.items).T
        return mean, covariance

    def covariance_of(self, weights: Columns) -> tuple[Floats, Floats]:
        """Return the covariance of weighted sums of gains, and their loadings on the shared effects.

        Parameters
        ----------
        weights : ndarray of float, shape (sums, items), or scipy.sparse.csc_array

        Returns
        -------
        covariance : ndarray of float, shape (sets, sums, sums)
        loadings : ndarray of float, shape (sets, sums, shared effects)
        """
        of_components, loadings = self.model.prior_covariance(weights)
        prior = np.einsum("sk,kab->sab", self.variances, of_components)
        explained = self._explained_of(weights, prior)
        shared: Floats = loadings - explained[..., len(loadings) :]
        covariance: Floats = prior - explained[..., : len(loadings)]
        covariance += shared @ self.shared_covariance @ shared.transpose(0, 2, 1)
        return covariance, shared

    def _explained_of(self, weights: Columns, prior: Floats) -> Floats:
        """Return the sum over queries of what they explain: see :meth:`~earmark.beliefs.blocks.Block.explained`."""
        n_sums, n_shared = weights.shape[0], self.model.shared.shape[1]
        spacing, unit = None, np.ones((1, 1))
        if self._bound is not None:
            # What is explained is less than what there is, and a covariance is bounded by the two variances.
            most = np.einsum("saa->sa", prior).max(axis=1, initial=0.0)
            bounds = np.repeat((most, np.sqrt(most * self._bound)), (n_sums, n_shared), axis=0).T
            unit = spacing_for(bounds)
            spacing = unit[:, None]

        def part(block: Block) -> Floats:
            here = dense_columns(weights, self.model.items_of(block.query))
            return block.explained(here, self.model.local[block.query], unit)

        known, nothing = self._explained_before, ExactSum((len(prior), n_sums, n_sums + n_shared), spacing)
        before = known[1] if known is not None and known[0] is weights else None
        explained = self._updated(nothing, before, part)
        self._explained = weights, explained
        return explained.value

    def of_query(self, query: int) -> tuple[Floats, Floats]:
        """Return the covariance of one query's gains given the shared effects, and their loadings on these.

        Both are given the observations and the first set of variances; they are remembered and must not be changed.

        Returns
        -------
        covariance : ndarray of float, shape (items of the query, items of the query)
        loadings : ndarray of float, shape (items of the query, shared effects)
        """
        found = self._of_query.get(query)
        if found is None:
            first = int(np.searchsorted(self._block_queries, query))
            block = self.blocks[first] if query in self.rows else None
            found = given_observations(self.model, self.variances[0], query, block, exact=self.observed.is_exact)
            if self.model.size_by_query <= LARGE:
                self._of_query[query] = found
        return found

    def leave_one_out(self) -> Floats:
        r"""Predict the gain of every observed item from what was said about all others, shape (sets, observations).

        With the inverse :math:`Q` of the covariance of all observations and the covariance :math:`k_i` of an item's
        gain with them, it is the mean of the gain less :math:`(k_i^T Q)_i (Q (y - m))_i / Q_{ii}`. How several answers
        to the item differ from each other says nothing about its gain, and is not left out.
        """
        predicted = np.empty((len(self.variances), self.observed.item.size))
        for block in self.blocks:
            shared, explained = block.solved[:, :, 1:], self.explained(block)
            through_shared = self.shared_covariance @ shared.transpose(0, 2, 1)
            rows = self.rows[block.query]
            precision = np.einsum("soo->so", block.inverse) - np.einsum("sog,sgo->so", shared, through_shared)
            if self.observed.is_exact:
                predicted[:, rows] = self.observed.value[rows] - explained / precision
                continue
            item = self.observed.item[rows]
            local = block.covariance_with(self.model.local[block.query][block.items], np.eye(item.size))
            told = np.einsum("soi,soi->si", local, block.inverse)
            told += np.einsum(
                "sig,sgi->si", self.model.shared[item] - local.transpose(0, 2, 1) @ shared, through_shared
            )
            predicted[:, rows] = self.mean[:, item] - told * explained / precision
        return predicted

    def draw(self, rng: np.random.Generator, which: int, n: int) -> Floats:
        """Draw the gains of all items `n` times under one set of variances, shape (n, items)."""
        common, own = self.draw_parts(rng, which, n)
        drawn: Floats = common + own
        return drawn

    def draw_parts(self, rng: np.random.Generator, which: int, n: int) -> tuple[Floats, Floats]:
        r"""Draw gains in two parts: what items may have in common, and what is their own alone.

        Effects are drawn from the prior and corrected by what the observations say about them, which is exact and never
        needs a covariance of items × items: :math:`y + k_{io} B (y_o^{observed} - y_o)`.

        Returns
        -------
        common : ndarray of float, shape (n, items)
            Of observed items, all of the gain.
        own : ndarray of float, shape (n, items)
            Independent of everything; 0 for observed items.
        """
        model, observed, variances = self.model, self.observed, self.variances[which]
        root = np.linalg.cholesky(_symmetric(self.shared_covariance[which]))
        shared = self.shared_mean[which] + rng.standard_normal((n, root.shape[0])) @ root.T
        common: Floats = np.empty((n, model.n_items))
        for stretch in model.stretches:
            common[:, stretch.items] = model.prior_mean[stretch.items] + shared @ model.shared[stretch.items].T
        own: Floats = rng.standard_normal((n, model.n_items)) * np.sqrt(model.own_variance(variances))
        blocks = {block.query: block for block in self.blocks}
        for query in range(model.n_queries):
            items = model.items_of(query)
            variance = variances[model.local_component[query]]
            effects = rng.standard_normal((n, variance.size)) * np.sqrt(variance)
            local = effects @ model.local[query].T
            block = blocks.get(query)
            if block is not None:
                rows, told = self.rows[query], block.items
                own_here = own[:, items]
                local[:, told] += own_here[:, told]
                own_here[:, told] = 0.0
                expected = model.prior_mean[observed.item[rows]] + shared @ observed.shared[rows].T
                said = local[:, block.items] + expected
                if not observed.is_exact:
                    said = said + rng.standard_normal(said.shape) * np.sqrt(observed.extra[rows] @ variances)
                correction = (observed.value[rows] - said) @ block.inverse[which]
                local += (correction @ block.scaled[which]) @ model.local[query].T
                _add_to(local, block.items, correction * block.own[which])
            common[:, items] += local
        return common, own


def _information_bound(model: EffectModel, observed: Observations, variances: Floats) -> Floats | None:
    """Return a bound of all sums of what queries say about shared effects, for every set of variances, shape (sets,).

    :math:`B` is no larger than 1 over the smallest variance of an item's own effect. None where that is not finite, or
    where what was said is not the truth.
    """
    if not observed.is_exact:
        return None
    own = np.full(len(variances), np.inf)
    for stretch in model.stretches:
        own = np.minimum(own, (variances @ model.own[stretch.items].T).min(axis=1, initial=np.inf))
    largest = model.largest_loading
    squared = float(np.square(model.shared[:]).max(initial=0.0)) if largest is None else largest**2
    size = max(1.0, squared) * max(model.n_items, 1)
    return size / own if np.all(own > 0) and np.all(np.isfinite(size / own)) else None


def _add_to(rows: Floats, columns: Ints, values: Floats) -> None:
    """Add values to columns of every row, in place; a column that is named several times gets all of them."""
    np.add.at(rows.T, columns, values.T)


def _symmetric(matrix: Floats) -> Floats:
    # Rounding may leave the smallest variances slightly negative; the lift is far below anything that matters.
    return np.asarray((matrix + matrix.T) / 2 + 1e-14 * float(np.trace(matrix)) * np.eye(len(matrix)))
