r"""Blocks: what was said about the items of one query, under several sets of variances.

With the observed items :math:`o` of the query and :math:`B = Cov(y_o \mid g)^{-1}` given the shared effects, a block
holds what depends on the query alone: what it says about the shared effects, and what it explains of its items and of
weighted sums of them. :class:`~earmark.beliefs.posterior.Posterior` puts the blocks of all queries together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.beliefs.effects import EffectModel, Observations
from earmark.data.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Block:
    """One query's observations under several sets of variances.

    Attributes
    ----------
    query : int
    items : ndarray of int, shape (rows,)
        The observed items, within the query.
    shared : ndarray of float, shape (rows, shared effects)
        :math:`Z_o`.
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
    items: Ints
    shared: Floats
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
        n_sets, n_rows, n_local = self.scaled.shape
        local: Floats = self.scaled.reshape(n_sets * n_rows, n_local) @ design.T
        return local.reshape(n_sets, n_rows, len(design)) + self.own[:, :, None] * own_weight.T

    def told(self, unit: Floats) -> Floats:
        r"""Return what the query says about the shared effects: :math:`Z_o^T B (y_o - m_o)` and :math:`Z_o^T B Z_o`.

        Parameters
        ----------
        unit : ndarray of float, shape (sets, 1 + shared effects) or one that broadcasts to it
            Powers of two in units of which to return it.

        Returns
        -------
        ndarray of float, shape (shared effects, sets, 1 + shared effects)
        """
        right = self.solved / unit[:, None]
        n_sets, n_rows, n_columns = right.shape
        # One product of matrices for all sets; `@` would be slow where there is one row.
        told = np.dot(self.shared.T, right.transpose(1, 0, 2).reshape(n_rows, n_sets * n_columns))
        return np.asarray(told).reshape(-1, n_sets, n_columns)

    def explained(self, weights: Floats, design: Floats, unit: Floats) -> Floats:
        r"""Return what the query explains of weighted sums of its gains.

        Parameters
        ----------
        weights : ndarray of float, shape (sums, items of the query)
        design : ndarray of float, shape (items of the query, local effects)
        unit : ndarray of float, shape (sets, sums + shared effects) or one that broadcasts to it
            Powers of two in units of which to return it.

        Returns
        -------
        ndarray of float, shape (sets, sums, sums + shared effects)
            :math:`C B C^T` and :math:`C B Z_o` for the covariance :math:`C` of the sums with the observed gains.
        """
        with_observed = self.covariance_with(weights @ design, weights[:, self.items])
        right = np.concatenate((self.inverse @ with_observed, self.solved[:, :, 1:]), axis=2)
        right /= unit[:, None]
        left = with_observed.transpose(0, 2, 1)
        # One row each: `@` is slow for these.
        return np.asarray(left * right if self.items.size == 1 else left @ right)


def observed_block(model: EffectModel, observed: Observations, query: int, rows: slice, variances: Floats) -> Block:
    """Return the block of a query.

    Parameters
    ----------
    model : EffectModel
    observed : Observations
    query : int
    rows : slice
        Which observations are of the query.
    variances : ndarray of float, shape (sets, components)
    """
    item, shared = observed.item[rows], observed.shared[rows]
    within = item - model.offsets[query]
    design = model.local[query][within]
    scaled = design * variances[:, None, model.local_component[query]]
    own = variances @ model.own[item].T
    covariance = scaled @ design.T
    diagonal = np.einsum("soo->so", covariance)
    diagonal += own
    if not observed.is_exact:
        diagonal += variances @ observed.extra[rows].T
    inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    residual = observed.value[rows] - model.prior_mean[item]
    solved = inverse @ np.concatenate((residual[:, None], shared), axis=1)
    return Block(query, within, shared, scaled, own, inverse, solved)


def given_observations(
    model: EffectModel, variances: Floats, query: int, block: Block | None, *, exact: bool
) -> tuple[Floats, Floats]:
    """Return the covariance of one query's gains given the shared effects, and their loadings on these.

    Parameters
    ----------
    model : EffectModel
    variances : ndarray of float, shape (components,)
    query : int
    block : Block or None
        What was said about the query, if anything; its first set of variances is taken.
    exact : bool
        Whether what was said is the truth.

    Returns
    -------
    covariance : ndarray of float, shape (items of the query, items of the query)
    loadings : ndarray of float, shape (items of the query, shared effects)
    """
    design, items = model.local[query], model.items_of(query)
    covariance: Floats = (design * variances[model.local_component[query]]) @ design.T
    np.einsum("ii->i", covariance)[:] += model.own[items] @ variances
    loadings: Floats = model.shared[items]
    if block is None:
        return covariance, loadings
    observed = block.scaled[0] @ design.T
    observed[np.arange(block.items.size), block.items] += block.own[0]
    covariance -= observed.T @ block.inverse[0] @ observed
    loadings = loadings - observed.T @ block.solved[0, :, 1:]
    if exact:
        covariance[block.items] = 0.0
        covariance[:, block.items] = 0.0
        loadings[block.items] = 0.0
    return covariance, loadings
