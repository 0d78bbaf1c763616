r"""What observations say about effects and about every gain: exact algebra under given variances.

Given the shared effects :math:`g` of an :class:`~earmark.beliefs.effects.EffectModel`, queries are independent.
Everything here is therefore linear algebra on one small block per query and one low-rank part: with the judged items
:math:`o` of a query, :math:`V = Cov(y_o \mid g)` and :math:`B = V^{-1}`,

.. math:: P = \Bigl(\Lambda^{-1} + \sum_q Z_o^T B Z_o\Bigr)^{-1}, \qquad \hat g = P \sum_q Z_o^T B (y_o - m_o)

is the posterior of :math:`g`, and every item has the mean
:math:`m_i + z_i^T \hat g + k_{io} B (y_o - m_o - Z_o \hat g)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.stretches import LARGE, Columns, Stretch, dense_columns
from earmark.data.arrays import Floats, Ints
from earmark.progress import track


@dataclass(frozen=True, eq=False)
class Block:
    """One query's observations under several sets of variances.

    Attributes
    ----------
    query : int
    rows : slice
        Which observations.
    items : ndarray of int, shape (rows,)
        Within the query.
    scaled : ndarray of float, shape (sets, rows, local effects)
        Design of the observed items, times the variances of the local effects.
    own : ndarray of float, shape (sets, rows)
        Variance of the observed items' own effects.
    inverse : ndarray of float, shape (sets, rows, rows)
        :math:`B`.
    solved : ndarray of float, shape (sets, rows, 1 + shared effects)
        :math:`B (y_o - m_o)` and :math:`B Z_o`.
    """

    query: int
    rows: slice
    items: Ints
    scaled: Floats
    own: Floats
    inverse: Floats
    solved: Floats

    def covariance_with(self, design: Floats, own_weight: Floats) -> Floats:
        """Return the covariance of weighted sums of the query's gains with the observed gains, given shared effects.

        Parameters
        ----------
        design : ndarray of float, shape (sums, local effects)
            Weights times the design of the query's items.
        own_weight : ndarray of float, shape (sums, rows)
            The weights of the observed items.

        Returns
        -------
        ndarray of float, shape (sets, rows, sums)
        """
        return np.asarray(self.scaled @ design.T + self.own[:, :, None] * own_weight.T)


def observed_covariance(
    model: EffectModel, observed: Observations, query: int, rows: slice, variances: Floats
) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the covariance of one query's observations given the shared effects, and its parts.

    Parameters
    ----------
    variances : ndarray of float, shape (sets, components)

    Returns
    -------
    items : ndarray of int, shape (rows,)
        Within the query.
    scaled : ndarray of float, shape (sets, rows, local effects)
    own : ndarray of float, shape (sets, rows)
    covariance : ndarray of float, shape (sets, rows, rows)
    """
    item = observed.item[rows]
    within = item - model.offsets[query]
    design = model.local[query][within]
    scaled = design * variances[:, None, model.local_component[query]]
    own = variances @ model.own[item].T
    covariance = scaled @ design.T
    diagonal = np.arange(item.size)
    if observed.is_exact:
        covariance[:, diagonal, diagonal] += own
    else:
        covariance += own[:, :, None] * (item[:, None] == item)
        covariance[:, diagonal, diagonal] += variances @ observed.extra[rows].T
    return within, scaled, own, covariance


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
        n_sets, n_shared = len(variances), model.shared.shape[1]
        self._spacing = _spacing(model, variances) if observed.is_exact else None
        # What all queries say about the shared effects: the sums of Z_o^T B Z_o and of Z_o^T B (y_o - m_o).
        # Where nothing is observed, one 0 stands for all of the former, which is large.
        self._information: Floats = np.zeros((n_sets, n_shared, n_shared) if observed.item.size else ())
        self._score: Floats = np.zeros((n_sets, n_shared))
        reusable: dict[int, Block] = {}
        if previous is not None and self._continues(previous):
            self._information, self._score = self._information + previous._information, previous._score.copy()
            reusable = {block.query: block for block in previous.blocks}
        self.blocks: list[Block] = []
        for query, rows in observed.of_queries(model):
            old = reusable.get(query)
            if old is not None and previous is not None and _same(previous.observed, old.rows, observed, rows):
                block = replace(reusable.pop(query), rows=rows)
            else:
                block = self._block(query, rows)
                self._count(block, observed, 1.0)
            self.blocks.append(block)
        for gone in reusable.values():
            assert previous is not None
            self._count(gone, previous.observed, -1.0)
        precision = np.eye(n_shared) / variances[:, None, model.shared_component]
        precision += self._information
        self.shared_covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        self.shared_mean = (self.shared_covariance @ self._score[:, :, None])[:, :, 0]

    def _continues(self, previous: Posterior) -> bool:
        """Tell whether parts of another posterior can be used here without any change of the result."""
        return (
            self._spacing is not None
            and previous._spacing is not None
            and previous.model is self.model
            and np.array_equal(previous.variances, self.variances)
        )

    def _count(self, block: Block, observed: Observations, sign: float) -> None:
        """Add what a query says about the shared effects, or subtract it again."""
        shared = observed.shared[block.rows]
        information, score = shared.T @ block.solved[:, :, 1:], block.solved[:, :, 0] @ shared
        if self._spacing is not None:
            spacing = self._spacing[:, None]
            score = np.rint(score / spacing) * spacing
            information = np.rint(information / spacing[:, None]) * spacing[:, None]
        self._information += sign * information
        self._score += sign * score

    def _block(self, query: int, rows: slice) -> Block:
        observed = self.observed
        within, scaled, own, covariance = observed_covariance(self.model, observed, query, rows, self.variances)
        inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        residual = observed.value[rows] - self.model.prior_mean[observed.item[rows]]
        solved = inverse @ np.column_stack((residual, observed.shared[rows]))
        return Block(query, rows, within, scaled, own, inverse, solved)

    def explained(self, block: Block) -> Floats:
        r"""Return :math:`B (y_o - m_o - Z_o \hat g)`, shape (sets, rows)."""
        left: Floats = block.solved[:, :, 0] - (block.solved[:, :, 1:] @ self.shared_mean[:, :, None])[:, :, 0]
        return left

    @cached_property
    def mean(self) -> Floats:
        """The mean of every item's gain as a share of the top gain, shape (sets, items)."""
        parts = [self._make_mean(stretch) for stretch in self.model.stretches]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(self.variances), 0))

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
        mean: Floats = prior + self.shared_mean @ model.shared[stretch.items].T
        for block in self._blocks_of(stretch):
            items = model.items_of(block.query)
            here = mean[:, items.start - stretch.items.start : items.stop - stretch.items.start]
            explained = self.explained(block)
            effects = (explained[:, None, :] @ block.scaled)[:, 0]
            here += effects @ model.local[block.query].T
            _add_to(here, block.items, block.own * explained)
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
        model = self.model
        of_components, loadings = model.prior_covariance(weights)
        shared = np.repeat(loadings[None], len(self.variances), axis=0)
        covariance = np.einsum("sk,kab->sab", self.variances, of_components)
        for block in self.blocks:
            here = dense_columns(weights, model.items_of(block.query))
            with_observed = block.covariance_with(here @ model.local[block.query], here[:, block.items])
            across = with_observed.transpose(0, 2, 1)
            covariance -= across @ (block.inverse @ with_observed)
            shared -= across @ block.solved[:, :, 1:]
        covariance += shared @ self.shared_covariance @ shared.transpose(0, 2, 1)
        return covariance, shared

    def leave_one_out(self) -> Floats:
        r"""Predict the gain of every observed item from what was said about all others, shape (sets, observations).

        With the inverse :math:`Q` of the covariance of all observations, the covariance :math:`k_i` of an item's gain
        with them and the observations :math:`o` of that item, it is the mean of the gain less
        :math:`(k_i^T Q)_o Q_{oo}^{-1} (Q (y - m))_o`.
        """
        predicted = np.empty((len(self.variances), self.observed.item.size))
        for block in self.blocks:
            shared, explained = block.solved[:, :, 1:], self.explained(block)
            through_shared = self.shared_covariance @ shared.transpose(0, 2, 1)
            item = self.observed.item[block.rows]
            if self.observed.is_exact:
                precision = np.einsum("soo->so", block.inverse) - np.einsum("sog,sgo->so", shared, through_shared)
                predicted[:, block.rows] = self.observed.value[block.rows] - explained / precision
                continue
            same = (item[:, None] == item).astype(np.float64)
            precision = (block.inverse - shared @ through_shared) * same
            local = block.covariance_with(self.model.local[block.query][block.items], same)
            told = local @ block.inverse + (self.model.shared[item] - local @ shared) @ through_shared
            taken = (told * same) @ np.linalg.solve(precision, explained[:, :, None])
            predicted[:, block.rows] = self.mean[:, item] - taken[:, :, 0]
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
                rows, told = block.rows, np.unique(block.items)
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


def _spacing(model: EffectModel, variances: Floats) -> Floats | None:
    r"""Return the power of two that sums over queries are rounded to for every set of variances, shape (sets,).

    Multiples of a common power of two are added and subtracted without any rounding error as long as all sums stay
    below :math:`2^{53}` times that power. So the sum over all queries does not depend on the order in which they came
    to be judged, and a query's part can be replaced by another. The sums are bounded, as :math:`B` is no larger than 1
    over the smallest variance of an item's own effect. None where that bound is not finite.
    """
    own = np.full(len(variances), np.inf)
    for stretch in model.stretches:
        own = np.minimum(own, (variances @ model.own[stretch.items].T).min(axis=1, initial=np.inf))
    largest = model.largest_loading
    squared = float(np.square(model.shared[:]).max(initial=0.0)) if largest is None else largest**2
    size = max(1.0, squared) * max(model.n_items, 1)
    if not np.all(own > 0) or not np.all(np.isfinite(size / own)):
        return None
    return np.asarray(np.exp2(np.ceil(np.log2(size / own)) - 51.0))


def _same(one: Observations, rows: slice, other: Observations, other_rows: slice) -> bool:
    """Tell whether two stretches of observations say the same."""
    return (
        np.array_equal(one.item[rows], other.item[other_rows])
        and np.array_equal(one.value[rows], other.value[other_rows])
        and np.array_equal(one.shared[rows], other.shared[other_rows])
    )


def _add_to(rows: Floats, columns: Ints, values: Floats) -> None:
    """Add values to columns of every row, in place; a column that is named several times gets all of them."""
    np.add.at(rows.T, columns, values.T)


def _symmetric(matrix: Floats) -> Floats:
    # Rounding may leave the smallest variances slightly negative; the lift is far below anything that matters.
    return np.asarray((matrix + matrix.T) / 2 + 1e-14 * float(np.trace(matrix)) * np.eye(len(matrix)))
