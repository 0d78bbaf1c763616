r"""How much an item would tell if it were judged: the formulas behind policies.

With :math:`W` (systems × items) holding what a gain adds to the score of every system, judging item :math:`i` settles
its share :math:`(W_{Ai} - W_{Bi})\, G_i` of the difference between systems A and B. Urbano and Schedl (2013) count the
pairs of systems that an item tells apart (Eq. 8); where ranks are discounted, the same sum of squares weighs every pair
by how far the item tells it apart. For scores of systems by themselves, what counts is how many systems retrieved the
item, how high, and how uncertain its gain is (Buckers 2021, section 2.2.3).

Sums over pairs of systems are worked out as quadratic forms, never pair by pair.

References
----------
J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 3.4.
Buckers (2021), on overconfidence and bias in low-cost evaluation; section 2.2.3.
"""

from __future__ import annotations

import numpy as np

from earmark.beliefs.estimates import all_pairs
from earmark.beliefs.exact_estimates import Sparse
from earmark.data.arrays import Floats

# Sums of a few weights carry errors about 2^-50 of their terms: priorities as close as this are meant to be the same.
_ROUNDING = 2.0**-40


def pairs_told_apart(weights: Sparse) -> Floats:
    r"""Sum over all pairs of systems how far every item tells them apart; Urbano2013, Eq. 8.

    .. math:: w_i = \sum_{A<B} (W_{Ai} - W_{Bi})^2 = S \sum_A W_{Ai}^2 - \Bigl(\sum_A W_{Ai}\Bigr)^2

    for :math:`S` systems. With weights of 0 and 1 it is :math:`n_i (S - n_i)` for an item that :math:`n_i` systems
    retrieved.

    Parameters
    ----------
    weights : scipy.sparse.csr_array of float, shape (systems, items)

    Returns
    -------
    ndarray of float, shape (items,), 0 or more

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> pairs_told_apart(csr_array([[1.0, 1, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1]])).tolist()
    [4.0, 0.0, 3.0]
    """
    summed = stored_once(weights)
    n_systems = summed.shape[0]
    squares = n_systems * _add_up(summed.data**2, summed)
    return _without_noise(squares - _add_up(summed.data, summed) ** 2, squares)


def weighted_pairs_told_apart(weights: Sparse, pair_weight: Floats) -> Floats:
    r"""Sum over pairs of systems, some more important than others, how far every item tells them apart.

    .. math:: w_i = \sum_{A<B} p_{AB} (W_{Ai} - W_{Bi})^2 = (W^T L\, W)_{ii}

    with the Laplacian :math:`L_{AA} = \sum_B p_{AB}`, :math:`L_{AB} = -p_{AB}`. Takes time in proportion to results ×
    systems, not to items × pairs.

    Parameters
    ----------
    weights : scipy.sparse.csr_array of float, shape (systems, items)
    pair_weight : ndarray of float, shape (pairs,), 0 or more
        :math:`p_{AB}`, in the order of :func:`~earmark.beliefs.estimates.all_pairs`.

    Returns
    -------
    ndarray of float, shape (items,), 0 or more

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> weighted_pairs_told_apart(csr_array([[1.0, 1], [1, 0], [0, 1]]), np.array([0.0, 0.75, 0.25])).tolist()
    [1.0, 0.25]
    """
    summed = stored_once(weights)
    n_systems = summed.shape[0]
    importance = np.zeros((n_systems, n_systems))
    importance[all_pairs(n_systems)] = pair_weight
    importance += importance.T
    system, item = np.repeat(np.arange(n_systems), np.diff(summed.indptr)), summed.indices
    squares = _add_up(importance.sum(axis=1)[system] * summed.data**2, summed)
    # W^T L is items × systems, the largest array here; of its product with W only the diagonal is ever worked out.
    shared = _add_up((summed.T @ importance)[item, system] * summed.data, summed)
    return _without_noise(squares - shared, squares)


def variance_taken_away(weights: Sparse, variance: Floats) -> Floats:
    r"""Sum over systems how much variance of their scores goes when an item is judged, beliefs being independent.

    .. math:: w_i = \sum_A W_{Ai}^2\, Var[G_i]

    Parameters
    ----------
    weights : scipy.sparse.csr_array of float, shape (systems, items)
    variance : ndarray of float, shape (items,)
        Of every item's gain.

    Returns
    -------
    ndarray of float, shape (items,)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> variance_taken_away(csr_array([[0.5, 0.5], [0.5, 0.0]]), np.array([4.0, 8.0])).tolist()
    [2.0, 2.0]
    """
    summed = stored_once(weights)
    return _add_up(summed.data**2, summed) * variance


def stored_once(weights: Sparse) -> Sparse:
    """Return weights in which every entry is stored once: sums of squares take entries one by one."""
    if weights.has_canonical_format:
        return weights
    summed: Sparse = weights.copy()
    summed.sum_duplicates()
    return summed


def _add_up(values: Floats, weights: Sparse) -> Floats:
    """Add up one value per entry of the weights for every item."""
    sums: Floats = np.bincount(weights.indices, values, minlength=weights.shape[1]).astype(np.float64, copy=False)
    return sums


def _without_noise(differences: Floats, terms: Floats) -> Floats:
    """Set what is left of subtracting equal sums to 0."""
    return np.where(differences <= _ROUNDING * terms, 0.0, differences)


def level_ties(values: Floats) -> Floats:
    """Make values equal that are so up to rounding errors: each becomes the highest of those it ties with.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Returns
    -------
    ndarray of float, shape (n,)

    Examples
    --------
    >>> level_ties(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0.30000000000000004, 0.30000000000000004, 0.4]
    """
    order = np.argsort(-values)
    falling = values[order]
    fresh = np.ones(values.size, dtype=bool)
    fresh[1:] = falling[:-1] - falling[1:] > _ROUNDING * np.abs(falling[:-1])
    level = np.empty_like(values)
    level[order] = falling[fresh][np.cumsum(fresh) - 1]
    return level
