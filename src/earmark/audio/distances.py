r"""How far apart sounds are, by what they are like.

Timbre is compared as its Gaussians are, by the symmetrised Kullback-Leibler divergence

.. math::

   \tfrac12 \bigl[ \operatorname{tr}(\Sigma_a^{-1} \Sigma_b) + \operatorname{tr}(\Sigma_b^{-1} \Sigma_a)
   + (\mu_a - \mu_b)^T (\Sigma_a^{-1} + \Sigma_b^{-1}) (\mu_a - \mu_b) \bigr] - d,

rhythm and harmony by Euclidean distance. Distances of several kinds are added after each was divided by its typical
size for the two sounds, so that none outweighs the others and no sound is near everything.

References
----------
M. I. Mandel, D. P. W. Ellis (2005). Song-level features and support vector machines for music classification. ISMIR.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist, squareform

from earmark.audio.descriptors import Descriptors
from earmark.data.arrays import Floats


def timbre_distances(sounds: Sequence[Descriptors]) -> Floats:
    """Return the symmetrised divergence of every two sounds' timbre, shape (sounds, sounds)."""
    mean = np.array([sound.timbre_mean for sound in sounds])
    covariance = np.array([sound.timbre_covariance for sound in sounds])
    precision = np.linalg.inv(covariance)
    n, dimensions = mean.shape
    # The trace of a product is a sum over all cells, hence all pairs are one product of flattened matrices.
    traces = precision.reshape(n, -1) @ covariance.reshape(n, -1).T
    within = np.einsum("ad,ade,ae->a", mean, precision, mean)
    across = mean @ np.einsum("ade,ae->ad", precision, mean).T
    about = np.einsum("ade,bd,be->ab", precision, mean, mean, optimize=True)
    # (m_a - m_b)' P_a (m_a - m_b), for every a and b; the other half is its transpose.
    quadratic = within[:, None] - 2 * across.T + about
    divergence = (traces + traces.T + quadratic + quadratic.T) / 2 - dimensions
    np.fill_diagonal(divergence, 0.0)
    distances: Floats = np.maximum(divergence, 0.0)
    return distances


def rhythm_distances(sounds: Sequence[Descriptors]) -> Floats:
    """Return how far apart every two sounds are in rhythm, shape (sounds, sounds)."""
    return _euclidean(np.array([sound.rhythm for sound in sounds]))


def harmony_distances(sounds: Sequence[Descriptors]) -> Floats:
    """Return how far apart every two sounds are in harmony, shape (sounds, sounds)."""
    values = np.array([sound.harmony for sound in sounds])
    return _euclidean(values / np.maximum(values.std(axis=0), 1e-9))


def combined_distances(*distances: Floats) -> Floats:
    """Add distances of several kinds, each in units of what is usual for the two sounds."""
    total: Floats = np.sum([_normalised(one) for one in distances], axis=0)
    return total


def _euclidean(values: Floats) -> Floats:
    distances: Floats = squareform(pdist(values))
    return distances


def _normalised(distances: Floats) -> Floats:
    typical = np.sqrt(distances).sum(axis=1) / max(len(distances) - 1, 1)
    scaled: Floats = np.sqrt(distances) / np.sqrt(np.maximum(np.outer(typical, typical), 1e-12))
    return scaled
