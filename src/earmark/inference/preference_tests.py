"""Systems compared by preferences: the tests of SRBENCH, beside intervals that know which pairs belong together.

Fisher's exact test takes the counts of pairs that two systems order correctly and wrongly; Student's t-test (two
samples, equal variances) takes strengths of preference, positive where a pair is ordered correctly and negative where
it is not. Both come as SRBENCH uses them. They take every pair to be an independent observation, and the two systems to
be asked about different ones; where queries or documents matter they find differences too easily. What does not is in
:mod:`~earmark.inference.preference_intervals`, and stands beside them as interval and ``clustered_p_value``. No p-value
is adjusted for the number of systems or levels.

References
----------
SRBENCH: A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.inference.preference_intervals import ClusteredShares, clustered_shares
from earmark.measures.preference_precision import (
    AgreementLevel,
    PreferenceOutcomes,
    PreferencePrecision,
    preference_precision,
)
from earmark.wording import counted

# Strengths that differ by less than this share of the largest differ by rounding alone.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceComparison(Display):
    """What the preferences of one level of agreement say about systems.

    Attributes
    ----------
    scores : PreferencePrecision
        The precision of every system, plain and weighted.
    plain, weighted : ClusteredShares
        Intervals and differences of either.
    fisher_p_value, t_p_value : ndarray of float, shape (differences,)
        The tests of SRBENCH, see :func:`fisher_p_values` and :func:`strength_t_p_values`.
    level : float
        The probability with which an interval holds.
    """

    scores: PreferencePrecision
    plain: ClusteredShares
    weighted: ClusteredShares
    fisher_p_value: Floats
    t_p_value: Floats
    level: float

    def systems(self) -> pl.DataFrame:
        """One row per system: both precisions with their intervals."""
        return self.scores.to_polars().with_columns(
            _nullable("low", self.plain.low),
            _nullable("high", self.plain.high),
            _nullable("weighted_low", self.weighted.low),
            _nullable("weighted_high", self.weighted.high),
        )

    def tests(self) -> pl.DataFrame:
        """Two rows per pair of systems: Fisher's test for the plain precision, the t-test for the weighted one."""
        fisher = self._tests("fisher", "precision", self.plain, self.fisher_p_value)
        return pl.concat([fisher, self._tests("t", "weighted_precision", self.weighted, self.t_p_value)])

    def _summary(self) -> Summary:
        """Show the precision of every system, and the tests between them."""
        level, systems = self.scores.level, counted(len(self.scores.systems), "system")
        return Summary(
            f"preference precision of {systems} at agreement {level}, {100 * self.level:g}% intervals",
            [DisplayTable(self.systems().drop("agreement")), DisplayTable(self.tests().drop("agreement"), "Tests")],
        )

    def _tests(self, test: str, measure: str, shares: ClusteredShares, p_value: Floats) -> pl.DataFrame:
        names = pl.Series(self.scores.systems, dtype=pl.String)
        return pl.DataFrame([names.gather(shares.a).alias("a"), names.gather(shares.b).alias("b")]).with_columns(
            pl.lit(str(self.scores.level)).alias("agreement"),
            pl.lit(measure).alias("measure"),
            _nullable("difference", shares.difference),
            _nullable("low", shares.difference_low),
            _nullable("high", shares.difference_high),
            pl.lit(test).alias("test"),
            _nullable("p_value", p_value),
            _nullable("clustered_p_value", shares.p_value),
        )


def _nullable(name: str, values: Floats) -> pl.Series:
    return pl.Series(name, values, nan_to_null=True)


def compare_preferences(
    outcomes: PreferenceOutcomes, agreement: AgreementLevel, *, min_answers: int = 1, level: float = 0.95
) -> PreferenceComparison:
    """Score systems on the pairs that reach a level of agreement, and compare every two of them.

    Parameters
    ----------
    outcomes : PreferenceOutcomes
        What the systems made of the pairs.
    agreement : AgreementLevel
        The least share of answers for a pair's winner.
    min_answers : int
        The least number of answers to a pair.
    level : float, in (0, 1)
        The probability with which an interval holds.
    """
    taken = outcomes.at(agreement.reached_by(outcomes.pairs, min_answers=min_answers))
    scores = preference_precision(outcomes, agreement, min_answers=min_answers)
    strength = outcomes.pairs.mean_strength
    a, b = np.triu_indices(len(outcomes.systems), k=1)
    return PreferenceComparison(
        scores,
        clustered_shares(taken.correct, taken.counted, np.ones_like(strength), outcomes.pairs, level=level),
        clustered_shares(taken.correct, taken.counted, strength, outcomes.pairs, level=level),
        fisher_p_values(scores.correct[a], scores.pairs[a], scores.correct[b], scores.pairs[b]),
        strength_t_p_values(taken.signed_strength, taken.counted, a, b),
        level,
    )


def fisher_p_values(correct_a: Ints, pairs_a: Ints, correct_b: Ints, pairs_b: Ints) -> Floats:
    """Test by Fisher's exact test, two-sided, whether two systems order pairs correctly equally often.

    Parameters
    ----------
    correct_a, pairs_a, correct_b, pairs_b : ndarray of int, shape (tests,)
        How many pairs each system orders correctly, of how many.

    Returns
    -------
    ndarray of float, shape (tests,)
        NaN where a system is asked about no pair.
    """
    from scipy.stats import fisher_exact

    def one(x: int, n: int, y: int, m: int) -> float:
        return float(fisher_exact(np.array([[x, n - x], [y, m - y]]))[1]) if n and m else np.nan

    counts = (part.tolist() for part in (correct_a, pairs_a, correct_b, pairs_b))
    return np.array([one(*row) for row in zip(*counts, strict=True)], dtype=np.float64)


def strength_t_p_values(signed_strength: Floats, counted: Bools, a: Ints, b: Ints) -> Floats:
    """Test by Student's t-test, two-sided, whether the signed strengths of two systems have the same mean.

    Parameters
    ----------
    signed_strength : ndarray of float, shape (systems, pairs)
        The strength of each pair, negative where it is ordered wrongly.
    counted : ndarray of bool, shape (systems, pairs)
        Which pairs each system is asked about.
    a, b : ndarray of int, shape (tests,)
        The systems to test against each other.

    Returns
    -------
    ndarray of float, shape (tests,)
        NaN where a system has no pair, or both have one. Strengths without any spread give 1 where the means are equal
        and 0 where they are not.
    """
    from scipy.stats import t as student

    n = counted.sum(axis=1)
    mean = np.divide((signed_strength * counted).sum(axis=1), n, out=np.zeros(n.size), where=n > 0)
    squares = (np.where(counted, signed_strength - mean[:, None], 0.0) ** 2).sum(axis=1)
    rounding = _ROUNDING * np.abs(signed_strength).max(initial=0.0)
    testable = (n[a] > 0) & (n[b] > 0) & (n[a] + n[b] > 2)
    df = np.where(testable, n[a] + n[b] - 2, 1)
    variance = (squares[a] + squares[b]) / df
    spread = testable & (variance > rounding**2)
    difference = np.abs(mean[a] - mean[b])
    per_pair = np.where(testable, 1 / np.maximum(n[a], 1) + 1 / np.maximum(n[b], 1), 1.0)
    tested = 2 * student.sf(difference / np.sqrt(np.where(spread, variance, 1.0) * per_pair), df)
    certain = np.where(difference <= rounding, 1.0, 0.0)
    return np.asarray(np.where(testable, np.where(spread, tested, certain), np.nan))
