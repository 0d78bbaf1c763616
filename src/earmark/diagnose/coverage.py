r"""Coverage of intervals: how often they contain the truth, and how wide they are.

An interval at level .95 should contain the truth 95 times in 100. With an estimate :math:`E`, its variance :math:`V`
and the truth :math:`t`, the interval :math:`E \pm q \sqrt V` covers where :math:`|E - t| \le q \sqrt V`; q is the
quantile at (1 + level)/2 of the normal distribution or of Student's t [1]_. Where the share of systems (or of pairs of
systems, with differences in place of scores) that are covered falls short of the level, estimates are overconfident:
pooling four years of MIREX, Buckers's (2021) Tables 3.1 and 3.2 find .38 of the systems and .77 of the pairs within
their 95% intervals before any judgment. Intervals that are too wide have high coverage, so half-widths are always
reported with it.

The *probability integral transform* describes all levels at once: :math:`F(t)`, with F the claimed distribution, is
uniform on 0..1 if the distribution is calibrated, concentrated at both ends if it is overconfident, and in the middle
if it is underconfident.

Conventions:

- *Bounds of a coverage* are Wilson's score interval for a binomial share [2]_, which stays within 0..1 and makes sense
  at 0 and 1. It assumes that the intervals are independent. Those of pairs share their systems, and all of one
  collection share its judgments, so the bounds are then too narrow: test coverage over many collections or repeats.
- *No variance.* An interval without width covers a truth that equals the estimate but for rounding (`tolerance`), and
  the transform is .5 there; otherwise it does not cover, and the transform is 0 or 1.
- *Identical lists.* Leave out pairs that cannot differ: they are covered by construction.
- *No intervals* is no error: the total is 0 and shares are NaN, null in the frame.

References
----------
.. [1] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; Eq. 2.17 and section 3.1.1.
.. [2] E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. J. Am. Stat. Assoc.
   22, 209-212.
.. [3] A. P. Dawid (1984). Statistical theory: the prequential approach. J. R. Statist. Soc. A 147, 278-292.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.diagnose.proper_scores import check_estimates
from earmark.errors import ParameterError
from earmark.inference import proportions
from earmark.wording import counted

LEVELS = (0.60, 0.90, 0.95, 0.99)
"""The levels of the tables in Buckers2021."""

TOLERANCE = 2.0**-40
"""Scores and differences closer than this (about 1e-12) are equal: the difference is rounding error."""


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Display):
    """How often intervals at some levels contained the truth; arrays have shape (levels,).

    Attributes
    ----------
    level : ndarray of float
        The nominal level.
    covered : ndarray of int
        How many intervals contained the truth.
    total : int
        How many intervals there were at each level.
    half_width : ndarray of float
        Mean half-width of the intervals; NaN where there are none.
    low, high : ndarray of float, 0..1
        Wilson bounds of the coverage.
    """

    level: Floats
    covered: Ints
    total: int
    half_width: Floats
    low: Floats
    high: Floats

    @property
    def share(self) -> Floats:
        """Share of the intervals that contained the truth; NaN where there are none."""
        return self.covered / self.total if self.total else np.full(self.level.shape, np.nan)

    @property
    def shortfall(self) -> Floats:
        """Nominal minus observed coverage, above 0 if overconfident; NaN where there are no intervals."""
        return self.level - self.share

    def frame(self) -> pl.DataFrame:
        """One row per level: ``level``, ``covered``, ``total``, ``coverage``, ``low``, ``high``, ``half_width``."""
        frame = pl.DataFrame({name: getattr(self, name) for name in ("level", "covered", "low", "high", "half_width")})
        frame = frame.with_columns(total=pl.lit(self.total), coverage=pl.Series(self.share)).fill_nan(None)
        return frame.select("level", "covered", "total", "coverage", "low", "high", "half_width")

    def _summary(self) -> Summary:
        """Show for every level how many intervals hold the truth."""
        held = ", ".join(f"{share:.0%} at {level:.0%}" for level, share in zip(self.level, self.share, strict=True))
        return Summary(
            f"share of {counted(self.total, 'interval')} that holds the truth: {held}", [DisplayTable(self.frame())]
        )


def interval_coverage(
    estimate: npt.ArrayLike,
    variance: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    df: npt.ArrayLike | None = None,
    bounds: float = 0.95,
    tolerance: float = TOLERANCE,
) -> Coverage:
    """Count how often intervals contain the truth.

    Parameters
    ----------
    estimate, variance, truth : array-like of float, all of the same shape
        Scores of systems, or differences of pairs with the variances of the differences. A variance may be infinite.
    levels : sequence of float, in (0, 1)
    df : array-like of float, above 0, optional
        Degrees of freedom of Student's t, one for all or one for each; without it, the normal distribution.
    bounds : float, in (0, 1)
        Confidence of the bounds of the coverage itself.
    tolerance : float, 0 or more
        An interval also covers what it misses by no more than this.

    Returns
    -------
    Coverage

    Examples
    --------
    >>> result = interval_coverage([0.4, 0.5, 0.6], [0.01, 0.01, 0.01], [0.35, 0.64, 0.9], levels=[0.6, 0.95])
    >>> result.covered.tolist(), result.half_width.round(3).tolist()
    ([1, 2], [0.084, 0.196])
    """
    center, claimed, true = check_estimates(estimate, variance, truth)
    check_tolerance(tolerance)
    width = half_widths(claimed, levels=levels, df=df)
    covered = np.count_nonzero(np.abs(center - true) <= width + tolerance, axis=1).astype(np.int64)
    low, high = wilson_interval(covered, np.full(covered.shape, center.size), level=bounds)
    return Coverage(
        level=np.asarray(levels, dtype=np.float64),
        covered=covered,
        total=center.size,
        half_width=width.mean(axis=1) if center.size else np.full(covered.shape, np.nan),
        low=low,
        high=high,
    )


def half_widths(
    variance: npt.ArrayLike, *, levels: Sequence[float] = LEVELS, df: npt.ArrayLike | None = None
) -> Floats:
    r"""Half-widths of intervals, :math:`q_{(1 + level)/2} \sqrt V`.

    Parameters
    ----------
    variance : array-like of float, shape (n,), 0 or more
    levels : sequence of float, in (0, 1)
    df : array-like of float, above 0, optional
        Degrees of freedom of Student's t, one for all or one for each; without it, the normal distribution.

    Returns
    -------
    ndarray of float, shape (levels, n)
    """
    claimed = np.asarray(variance, dtype=np.float64)
    if claimed.ndim != 1 or not (claimed >= 0).all():
        raise ParameterError("variances must be a vector of numbers that are 0 or more")
    level = np.asarray(levels, dtype=np.float64)
    if level.ndim != 1 or level.size == 0 or not ((level > 0) & (level < 1)).all():
        raise ParameterError(f"levels of intervals lie between 0 and 1, got {list(levels)}")
    upper = (1 + level[:, None]) / 2
    quantile = ndtri(upper) if df is None else stdtrit(_check_df(df, claimed.size), upper)
    return np.asarray(quantile * np.sqrt(claimed), dtype=np.float64)


def integral_transform(
    estimate: npt.ArrayLike,
    variance: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    df: npt.ArrayLike | None = None,
    tolerance: float = TOLERANCE,
) -> Floats:
    r"""Probability integral transform: the claimed probability :math:`F((t - E) / \sqrt V)` of a smaller value [3]_.

    The interval at a level covers exactly where the transform u has ``|2u - 1| <= level``.

    Parameters
    ----------
    estimate, variance, truth : array-like of float, all of the same shape
    df : array-like of float, above 0, optional
        Degrees of freedom of Student's t; without it, the normal distribution.
    tolerance : float, 0 or more
        Where there is no variance, a truth this close to the estimate equals it.

    Returns
    -------
    ndarray of float, shape (n,), 0..1
        Uniform if the distributions are calibrated.
    """
    center, claimed_variance, true = check_estimates(estimate, variance, truth)
    check_tolerance(tolerance)
    certain = claimed_variance == 0
    z = (true - center) / np.sqrt(np.where(certain, 1.0, claimed_variance))
    claimed = ndtr(z) if df is None else stdtr(_check_df(df, center.size), z)
    sign = np.where(np.abs(true - center) <= tolerance, 0.0, np.sign(true - center))
    return np.where(certain, (1 + sign) / 2, claimed)


def wilson_interval(successes: npt.ArrayLike, trials: npt.ArrayLike, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's score interval for a share (:func:`earmark.inference.proportions.wilson_interval`).

    It contains all shares that a two-sided test of the successes in so many trials does not reject.

    Parameters
    ----------
    successes : array-like of float, 0..trials
        Halves are allowed, as where a tie counts as half a success.
    trials : array-like of int, 0 or more, of the same shape
    level : float, in (0, 1)

    Returns
    -------
    low, high : ndarray of float, 0..1
        0 and 1 without trials.

    Examples
    --------
    >>> low, high = wilson_interval([0, 8, 10], [10, 10, 10])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.4902, 0.7225], [0.2775, 0.9433, 1.0])
    """
    s, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if s.shape != n.shape or not ((s >= 0) & (s <= n)).all():
        raise ParameterError("successes and trials must have one shape, with 0 <= successes <= trials")
    low, high = proportions.wilson_interval(s / np.maximum(n, 1), n, proportions.normal_quantile(level))
    return np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)


def check_tolerance(tolerance: float) -> None:
    """Raise an error if a tolerance is negative or NaN."""
    if not tolerance >= 0:
        raise ParameterError(f"a tolerance is 0 or more, got {tolerance}")


def _check_df(df: npt.ArrayLike, n: int) -> Floats:
    degrees = np.asarray(df, dtype=np.float64)
    if degrees.ndim > 0:
        degrees = degrees.ravel()
    if degrees.size not in (1, n) or not (degrees > 0).all():
        raise ParameterError(f"degrees of freedom must be above 0, one for all or one for each of {n} estimates")
    return degrees
