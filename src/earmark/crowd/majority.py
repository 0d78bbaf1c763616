r"""How probable it is that a majority of a few answers is the majority of all people like these.

Of the :math:`n` answers to a pair that chose a document, :math:`k` chose the first one: a binomial number, of which the
share :math:`\theta` of people differs from pair to pair. A share has the prior :math:`\theta \sim Beta(a, a)`, and more
people would choose the first document with the probability

.. math:: P(\theta > 1/2 \mid k, n, a) = I_{1/2}(a + n - k,\; a + k)

with the regularised incomplete beta function [1]_. How far pairs lie from one half is in the answers themselves: the
beta-binomial likelihood of all pairs, times :math:`\log a \sim N(0, 1)`, weighs the values of a over which this is
averaged. Where pairs have one answer each nothing is learnt about a, and the probability is about 3/4.

References
----------
.. [1] A. Gelman, J. B. Carlin, H. S. Stern, D. B. Dunson, A. Vehtari, D. B. Rubin (2013). Bayesian Data Analysis, third
   edition, chapters 2 and 5. CRC Press.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from earmark.data.arrays import Floats, Ints

# Logarithms of a, from shares that are all but 0 or 1 to shares that are all but one half.
_LOG_A = np.linspace(-3.0, 5.0, 41)


def majority_probability(first: Ints, second: Ints) -> Floats:
    """Return how probable it is that more people would choose the first document than the second.

    Parameters
    ----------
    first, second : ndarray of int, shape (pairs,), 0 or more
        How many answers chose each.

    Examples
    --------
    >>> majority_probability(np.array([1]), np.array([0])).round(2)
    array([0.75])
    >>> majority_probability(np.array([6, 3, 4]), np.array([0, 3, 2])).round(2)
    array([0.98, 0.5 , 0.76])
    """
    if not first.size:
        return np.zeros(0)
    # Of a million pairs there are few different counts.
    counts, place, pairs = np.unique(np.stack([first, second]), axis=1, return_inverse=True, return_counts=True)
    a = np.exp(_LOG_A)[:, None]
    logs = (special.betaln(a + counts[0], a + counts[1]) - special.betaln(a, a)) @ pairs - _LOG_A**2 / 2
    weight = np.exp(logs - logs.max())
    ahead: Floats = weight @ special.betainc(a + counts[1], a + counts[0], 0.5) / weight.sum()
    return ahead[place.reshape(-1)]
