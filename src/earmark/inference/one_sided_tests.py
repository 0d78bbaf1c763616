r"""Is a mean below zero? One-sided tests of mean differences, with an error rate that holds for few and skewed queries.

A check of a nightly build asks about means, so its tests do: a test on ranks answers another question, and speaks
against systems whose mean is the higher one. The tests are paired, by unit (:mod:`earmark.inference.units`):

==============  ========================================================================================================
test            p-value
==============  ========================================================================================================
``t``           Student's t of the mean over its guarded standard error
``permutation`` the share of random signs of units that give a sum as low
``bootstrap``   half of the two-sided p-value of the studentized bootstrap
==============  ========================================================================================================

**Few units.** Whatever the test, no p-value is below :math:`2^{-m}` where m units show a difference, the probability
that all of them speak against a system that is as good: four queries that are all lost have .0625.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from earmark.data.arrays import Floats
from earmark.inference.effect_sizes import ratio_or_infinite
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values
from earmark.inference.units import Units, guarded_spread, pseudo_values

MeanTest = Literal["t", "permutation", "bootstrap"]


def least_p_value(units: npt.ArrayLike) -> Floats:
    """Return the least p-value that a one-sided test gives, where so many units show a difference."""
    return np.asarray(0.5 ** np.asarray(units))


def below_zero(
    differences: Floats,
    units: Units,
    *,
    test: MeanTest,
    n_resamples: int,
    alpha: float,
    rng: np.random.Generator,
    resolution: float,
) -> Floats:
    """P-values of means below zero, against means of zero or more.

    Parameters
    ----------
    differences : ndarray of float, shape (systems, queries)
    units : Units
    test : {'t', 'permutation', 'bootstrap'}
    n_resamples : int
        Of permutation and bootstrap.
    alpha : float
        The level of the bootstrap's interval.
    rng : numpy.random.Generator
    resolution : float
        How exactly each difference is known.

    Returns
    -------
    ndarray of float, shape (systems,), 0..1
        Small where the mean is below zero.
    """
    mean = differences.mean(axis=1)
    if test == "t":
        chance = stdtr(units.df, ratio_or_infinite(mean, guarded_spread(differences, units) / np.sqrt(units.count)))
        # Differences that are all zero speak for neither.
        p_value = np.where(mean == 0, 0.5, chance)
    else:
        if test == "permutation":
            per_unit = resolution * units.number.size / units.count
            both = sign_flip_p_values(units.sums(differences), n_resamples=n_resamples, rng=rng, resolution=per_unit)
        else:
            drawn = pseudo_values(differences, units, alpha=alpha)
            both = bootstrap_differences(
                drawn, n_resamples=n_resamples, alpha=alpha, rng=rng, resolution=resolution
            ).p_value
        # Random signs are as likely turned round; the sample itself counts once on its own side.
        low = np.minimum((both + 1.0 / (n_resamples + 1)) / 2, 1.0)
        p_value = np.where(mean < 0, low, 1.0 - both / 2)
    differing = np.count_nonzero(units.sums(differences), axis=1)
    return np.maximum(p_value, least_p_value(differing))
