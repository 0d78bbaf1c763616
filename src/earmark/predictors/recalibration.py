r"""Recalibration of level probabilities by a power: flatter where a model is too sure of itself.

Votes of an ensemble are no frequencies: a level that nine of ten trees vote for need not be right nine times of ten.
Buckers [1]_ raises the probabilities of an item to a power and normalises them,

.. math:: q_l = \frac{p_l^a}{\sum_m p_m^a},

with the power :math:`a` at which the mean variance that is claimed equals the mean squared error that is made. A power
below 1 flattens. What has probability 0 keeps it, whatever the power.

With two levels this is :math:`\mathrm{logit}\,q = a\,\mathrm{logit}\,p`; where all items have the same forecast p of
the upper level and a share s of them reached it, the power is :math:`\mathrm{logit}\,s / \mathrm{logit}\,p`.

References
----------
.. [1] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; section 3.4.1.
"""

from __future__ import annotations

import numpy as np

from earmark.data.arrays import Floats

# The flattest and the sharpest that recalibration may make probabilities.
_POWERS = (0.02, 20.0)


def raise_to(probabilities: Floats, power: float) -> Floats:
    r"""Return :math:`p_l^a / \sum_m p_m^a` row by row.

    Examples
    --------
    >>> raise_to(np.array([[0.2, 0.8]]), 0.5).round(4).tolist()
    [[0.3333, 0.6667]]
    """
    raised = probabilities**power
    normalised: Floats = raised / raised.sum(axis=1, keepdims=True)
    return normalised


def calibrating_power(probabilities: Floats, levels: Floats, gain: Floats, weights: Floats | None = None) -> float:
    """Find the power at which the mean claimed variance is the mean squared error.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, levels)
        What was predicted.
    levels : ndarray of float, shape (levels,)
        The gain of every level.
    gain : ndarray of float, shape (n,)
        What was judged.
    weights : ndarray of float, shape (n,), optional
        How much every row counts; 1 without.

    Returns
    -------
    float
        At an end of the range that is tried (0.02 to 20) where no power in it does.
    """

    def excess(log_power: float) -> float:
        raised = raise_to(probabilities, float(np.exp(log_power)))
        mean = raised @ levels
        claimed = raised @ levels**2 - mean**2
        return float(np.average(claimed - (gain - mean) ** 2, weights=weights))

    low, high = (float(np.log(power)) for power in _POWERS)
    if excess(low) <= 0:
        return _POWERS[0]
    if excess(high) >= 0:
        return _POWERS[1]
    # Loading it takes longer than all else that a ranking loads of scipy.
    from scipy.optimize import brentq

    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))
