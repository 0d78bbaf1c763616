r"""Agreement between rankings: how far several experts who ranked the same documents put them in the same order.

Experts rank the documents of a query and may cut the ranking: documents after the cut are not similar and share the
last places. With the ranks :math:`r_{ji}` that expert :math:`j` of :math:`m` gives document :math:`i` of :math:`n`,
equal ones having their average:

**Mean pairwise** :math:`\tau_b`: Kendall's rank correlation with ties (:func:`~earmark.inference.rank_correlation.
kendall_tau`), averaged over all :math:`m (m - 1) / 2` pairs of experts. It is 1 where all order alike, and about 0
where they rank at random, however many they are. A ranking that orders nothing correlates 0 with all others.

**Kendall's W**, the coefficient of concordance [1]_: with the sums of ranks :math:`R_i = \sum_j r_{ji}` and
:math:`T_j = \sum (t^3 - t)` over the groups of :math:`t` documents that expert :math:`j` ranks equally,

.. math:: W = \frac{12 \sum_i (R_i - \bar R)^2}{m^2 (n^3 - n) - m \sum_j T_j}

from 0 to 1. It depends on the number of experts: of two who rank at random, it is ½ on average. It is not defined where
nobody orders anything, and is then None.

References
----------
.. [1] M. G. Kendall, B. Babington Smith (1939). The problem of m rankings. The Annals of Mathematical Statistics 10(3),
   275-287.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from earmark.data.arrays import Floats
from earmark.errors import ParameterError
from earmark.inference.rank_correlation import kendall_tau


def ranks_with_cut(rankings: Sequence[Sequence[str]], documents: Sequence[str]) -> Floats:
    """Return the rank that every expert gives every document; documents that are not ranked share the last places.

    Parameters
    ----------
    rankings : sequence of sequence of str
        For every expert the similar documents, best first; all of them are in `documents`.
    documents : sequence of str
        All documents that were shown.

    Returns
    -------
    ndarray of float, shape (experts, documents)

    Examples
    --------
    >>> ranks_with_cut([["b"], ["a", "b", "c"]], ["a", "b", "c"]).tolist()
    [[2.5, 1.0, 2.5], [1.0, 2.0, 3.0]]
    """
    place: Mapping[str, int] = {name: index for index, name in enumerate(documents)}
    ranks = np.empty((len(rankings), len(documents)))
    for row, ranking in zip(ranks, rankings, strict=True):
        row[:] = (len(ranking) + 1 + len(documents)) / 2
        row[[place[name] for name in ranking]] = np.arange(1, len(ranking) + 1)
    return ranks


def kendall_w(ranks: Floats) -> float | None:
    """Kendall's coefficient of concordance, corrected for ties.

    Parameters
    ----------
    ranks : ndarray of float, shape (experts, documents)
        Equal documents have their average rank; two experts and two documents at least.

    Returns
    -------
    float, in [0, 1], or None
        None where no expert orders anything.

    Examples
    --------
    >>> import numpy as np
    >>> kendall_w(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])).__round__(4)
    0.7778
    """
    m, n = _size(ranks)
    deviation = ranks.sum(axis=0) - m * (n + 1) / 2
    tied = sum(float(np.sum(counts**3 - counts)) for counts in map(_tie_sizes, ranks))
    most = m**2 * (n**3 - n) - m * tied
    # Where everything ties, both terms are the same whole number.
    return None if most <= 0 else min(float(12 * np.sum(deviation**2) / most), 1.0)


def mean_tau(ranks: Floats) -> float:
    """Kendall's τ_b between every two experts, averaged.

    Parameters
    ----------
    ranks : ndarray of float, shape (experts, documents)
        Two experts and two documents at least.

    Returns
    -------
    float, in [-1, 1]
    """
    m, _ = _size(ranks)
    return float(np.mean([kendall_tau(ranks[one], ranks[other]) for one, other in combinations(range(m), 2)]))


def _size(ranks: Floats) -> tuple[int, int]:
    if ranks.ndim != 2 or min(ranks.shape) < 2:
        raise ParameterError(
            f"agreement needs ranks of two documents or more by two experts or more, got shape {ranks.shape}"
        )
    m, n = ranks.shape
    return m, n


def _tie_sizes(row: Floats) -> Floats:
    return np.unique(row, return_counts=True)[1].astype(np.float64)
