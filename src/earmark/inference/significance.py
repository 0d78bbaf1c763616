"""Which systems differ? Tests between all pairs of systems on the queries they were all asked.

:func:`compare_scores` takes a matrix of scores (systems × queries, higher is better) and the name of a test, and
returns :class:`PairwiseTests`, which is the same for all tests. The tests and their null hypotheses:

============== ========================================================== ============= ===========
test           null hypothesis                                            effect size   interval
============== ========================================================== ============= ===========
friedman-tukey equal mean ranks (as MIREX reports)                        dominance     simultaneous
t              mean difference 0, differences about normal                Cohen's d_z   Student
wilcoxon       differences symmetric about 0, by signed ranks             rank-biserial none
permutation    signs of the differences are random                        Cohen's d_z   none
bootstrap      mean difference 0 in the population of queries             Cohen's d_z   bootstrap-t
============== ========================================================== ============= ===========

All tests are two-sided and paired by query. The statistics are described in
:mod:`~earmark.inference.rank_tests` and :mod:`~earmark.inference.resampling`; t is Student's paired t-test,
``t = mean(d) / (sd(d) / sqrt(n))`` with ``n - 1`` degrees of freedom. A pair is significant when its *adjusted*
p-value is at most alpha.

**Units.** Where queries are not independent of each other, tests and intervals are by unit
(:mod:`~earmark.inference.units`); scores and differences remain means over queries. t has a cluster-robust standard
error and Satterthwaite's degrees of freedom, permutation flips the signs of whole units, the bootstrap draws whole
units, and friedman-tukey and wilcoxon rank the means of units, which count one each. Wins, ties and losses are counted
over units.

**Intervals** are for the difference of mean scores. Those of t and of the bootstrap are for one pair at a time, with
confidence ``1 - alpha``: they are not widened for the number of pairs, and one excludes zero exactly when the p-value
of its pair, *not* adjusted, is at most alpha. Those of friedman-tukey are *simultaneous*: with confidence ``1 - alpha``
all of them hold at once. For m pairs they are Student's with Bonferroni's correction [3]_,

    mean(d) ± t(1 - alpha / (2 m); n - 1) · se(d),

with the guarded standard error of each pair's own differences (:func:`~earmark.inference.units.guarded_spread`).
Tukey's own intervals would assume that all pairs vary alike. Where no query shows any difference between any two
systems they have no width. From 15 queries on, of ten systems by AP, P, nDCG and RR, they held together in 93 to 100%
of the samples of two judged collections (``benchmarks/honesty/comparisons.py``; without the guard in 14 to 96%). The
test is about ranks and the interval about means: a pair may be significant with an interval that includes zero, and the
other way round.

Special cases: identical systems have difference 0 and p = 1. A difference that is the same
non-zero number on every query has no variance, so t is infinite and its p = 0; the bootstrap gives the
smallest p-value it can, the other tests what the number of queries allows. Where only a few queries differ, or
there are no more than three, the interval of the bootstrap is unbounded: -∞ to ∞. One system has no pairs. One
query, or a score that is not a finite number, is a :class:`~earmark.errors.ParameterError`.

References
----------
.. [1] J. Urbano, H. Lima, A. Hanjalic (2019). Statistical significance testing in information retrieval: an
   empirical analysis of type I, type II and type III errors. SIGIR, 505-514.
.. [2] B. Carterette (2012). Multiple testing in statistical analysis of systems-based information retrieval
   experiments. ACM TOIS 30(1), 4.
.. [3] O. J. Dunn (1961). Multiple comparisons among means. JASA 56, 52-64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import stdtr, stdtrit

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.inference.effect_sizes import (
    Wins,
    cohens_dz,
    count_wins,
    rank_biserial,
    ratio_or_infinite,
)
from earmark.inference.multiple_comparisons import CorrectionName, adjust_p_values, indistinguishable_groups
from earmark.inference.paired_differences import (
    PairedDifferences,
    check_scores,
    paired_differences,
    round_to_multiples,
)
from earmark.inference.rank_tests import friedman_ranks, signed_ranks, tukey_range
from earmark.inference.resampling import bootstrap_differences, flips_are_enumerated, sign_flip_p_values
from earmark.inference.units import Units, guarded_spread, pseudo_values, spread
from earmark.wording import counted

TestName = Literal["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]
EffectName = Literal["dominance", "cohens-dz", "rank-biserial"]

MIN_RESAMPLES = 10_000
"""The number of resamples where none is given, unless many pairs under Holm's correction need more."""


@dataclass(frozen=True)
class Omnibus:
    """A test of whether any two systems differ at all.

    Attributes
    ----------
    statistic : float
        Friedman's χ².
    df : int
        Degrees of freedom.
    p_value : float, in [0, 1]
    """

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseTests(Display):
    """Tests between all pairs of systems; arrays of shape (pairs,) unless said otherwise.

    Attributes
    ----------
    test : str
        Name of the test.
    correction : str
        How p-values were adjusted: ``holm``, ``bh``, ``none``, or ``tukey`` where the test does so itself.
    alpha : float
        Level of significance.
    a, b : int array
        Indices of the two systems, ``a < b``.
    difference : float array
        Mean score of `a` minus mean score of `b`.
    statistic : float array
        q (friedman-tukey), t, W⁺ (wilcoxon), or the mean difference (permutation); t again for the bootstrap.
    p_value, p_adjusted : float array, in [0, 1]
        Two-sided, of the pair alone and adjusted for all pairs. Equal for friedman-tukey, whose p-value is
        for the family of all pairs.
    significant : bool array
        ``p_adjusted <= alpha``.
    effect : str
        Which effect size is given: ``dominance``, ``cohens-dz`` or ``rank-biserial``.
    effect_size : float array
        Positive speaks for `a`.
    wins, ties, losses : int array
        Units, each query one where nothing else is said, on which `a` scores higher than `b`, the same, lower.
    low, high : float array
        Interval for `difference`, NaN where the test has none.
    simultaneous : bool
        Whether all intervals hold together with confidence ``1 - alpha``, or each one alone.
    draws : int or None
        How many resamples p-values rest on; none where they are computed exactly.
    ranked_by : float array, shape (systems,)
        What the ranking is by: mean rank (friedman-tukey, 1 is the best) or mean score.
    order : int array, shape (systems,)
        Systems from best to worst.
    groups : tuple of tuples of int
        Stretches of the ranking without significant differences; see
        :func:`~earmark.inference.multiple_comparisons.indistinguishable_groups`.
    omnibus : Omnibus or None
        Friedman's test for friedman-tukey on two or more systems, otherwise none.
    """

    test: TestName
    correction: CorrectionName | Literal["tukey"]
    alpha: float
    a: Ints
    b: Ints
    difference: Floats
    statistic: Floats
    p_value: Floats
    p_adjusted: Floats
    significant: Bools
    effect: EffectName
    effect_size: Floats
    wins: Ints
    ties: Ints
    losses: Ints
    low: Floats
    high: Floats
    ranked_by: Floats
    order: Ints
    groups: tuple[tuple[int, ...], ...]
    omnibus: Omnibus | None
    simultaneous: bool = False
    draws: int | None = None

    @property
    def p_error(self) -> Floats:
        r"""Monte Carlo standard error of the adjusted p-values, 0 where nothing is drawn; shape (pairs,).

        :math:`(p' / p) \sqrt{p (1 - p) / n}` for n resamples and an adjustment of p to p'.
        """
        if self.draws is None:
            return np.zeros_like(self.p_value)
        of_one = np.sqrt(self.p_value * (1.0 - self.p_value) / self.draws)
        factor = np.divide(self.p_adjusted, self.p_value, out=np.ones_like(of_one), where=self.p_value > 0)
        return np.where(self.p_adjusted < 1.0, factor * of_one, 0.0)

    @cached_property
    def place(self) -> Ints:
        """Position of every system in the ranking, 0 for the best; shape (systems,)."""
        return np.argsort(self.order).astype(np.int64)

    @property
    def superiority(self) -> Floats:
        """Probability that `a` beats `b` on a query drawn at random, ties counted half; shape (pairs,)."""
        return Wins(wins=self.wins, ties=self.ties, losses=self.losses).superiority

    def _summary(self) -> Summary:
        """Show the pairs, the smallest p-value first."""
        columns = ("a", "b", "difference", "statistic", "p_value", "p_adjusted", "significant", "effect_size")
        frame = pl.DataFrame({name: getattr(self, name) for name in columns}).sort("p_adjusted", maintain_order=True)
        systems, differ = counted(self.ranked_by.size, "system"), int(self.significant.sum())
        sentence = f"{differ:,} of {counted(self.a.size, 'pair')} of {systems} significant by {self.test}"
        return Summary(f"{sentence}, {self.correction} at {self.alpha:g}", [DisplayTable(frame)])


def compare_scores(
    scores: npt.ArrayLike,
    *,
    test: TestName = "friedman-tukey",
    correction: CorrectionName = "holm",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: np.random.Generator | None = None,
    units: npt.ArrayLike | None = None,
) -> PairwiseTests:
    """Test all pairs of systems.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
        Higher is better. At least two queries, all scores finite.
    test : {'friedman-tukey', 't', 'wilcoxon', 'permutation', 'bootstrap'}
    correction : {'holm', 'bh', 'none'}
        Adjustment for the number of pairs. Of no effect on friedman-tukey, which controls the family-wise
        error itself.
    alpha : float, in (0, 1)
        Level of significance; intervals have confidence ``1 - alpha``.
    n_resamples : int, optional
        Resamples of the permutation and bootstrap tests: by default 10,000, or four times as many as the
        correction needs before any pair could be significant, if that is more. The other tests do not use it.
    rng : numpy.random.Generator, optional
        Source of random numbers. Required by the permutation and bootstrap tests, not used by the others.
    units : int array-like, shape (queries,), optional
        The unit that each query belongs to, from 0; by default every query is one.

    Returns
    -------
    PairwiseTests

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.6, 0.5, 0.6, 0.7, 0.5, 0.4]]
    >>> result = compare_scores(scores, test="wilcoxon")
    >>> result.p_value.tolist(), result.significant.tolist(), result.groups
    ([0.03125], [True], ((0,), (1,)))
    """
    if test not in get_args(TestName):
        raise ParameterError(f"unknown test {test!r}, choose from {', '.join(get_args(TestName))}")
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must lie between 0 and 1, got {alpha}")
    matrix = check_scores(scores)
    by_unit = Units.of(units, n_queries=matrix.shape[1])
    pairs = paired_differences(matrix)
    tukey = test == "friedman-tukey"
    draws, drawn = None, False
    if tukey:
        outcome = _friedman_tukey(matrix, pairs, by_unit, alpha)
    elif test == "t":
        outcome = _paired_t(pairs, by_unit, alpha)
    elif test == "wilcoxon":
        outcome = _wilcoxon(pairs, by_unit)
    elif rng is None:
        raise ParameterError(f"the {test} test draws at random: pass rng=numpy.random.default_rng(seed)")
    else:
        draws = enough_resamples(n_resamples, n_pairs=pairs.a.size, correction=correction, alpha=alpha)
        if test == "permutation":
            drawn = not flips_are_enumerated(by_unit.count, draws)
            outcome = _permutation(pairs, by_unit, draws, rng)
        else:
            drawn = True
            outcome = _bootstrap(pairs, by_unit, alpha, draws, rng)
    p_adjusted = outcome.p_value if tukey else adjust_p_values(outcome.p_value, correction=correction)
    significant = p_adjusted <= alpha
    mean_scores = matrix.mean(axis=1)
    ranked_by = mean_scores if outcome.mean_ranks is None else outcome.mean_ranks
    order = np.lexsort((-mean_scores, -mean_scores if outcome.mean_ranks is None else ranked_by)).astype(np.int64)
    no_interval = np.full(pairs.a.size, np.nan)
    counts = count_wins(by_unit.means(pairs.values))
    return PairwiseTests(
        test=test,
        correction="tukey" if tukey else correction,
        alpha=alpha,
        a=pairs.a,
        b=pairs.b,
        difference=mean_scores[pairs.a] - mean_scores[pairs.b],
        statistic=outcome.statistic,
        p_value=outcome.p_value,
        p_adjusted=p_adjusted,
        significant=significant,
        effect=outcome.effect,
        effect_size=outcome.effect_size,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        low=no_interval if outcome.low is None else outcome.low,
        high=no_interval if outcome.high is None else outcome.high,
        ranked_by=ranked_by,
        order=order,
        groups=indistinguishable_groups(order, pairs.a, pairs.b, significant),
        omnibus=outcome.omnibus,
        simultaneous=tukey,
        draws=draws if drawn else None,
    )


class _Outcome(NamedTuple):
    """The parts of :class:`PairwiseTests` that differ between tests."""

    statistic: Floats
    p_value: Floats
    effect: EffectName
    effect_size: Floats
    low: Floats | None = None
    high: Floats | None = None
    mean_ranks: Floats | None = None
    omnibus: Omnibus | None = None


def _friedman_tukey(scores: Floats, pairs: PairedDifferences, units: Units, alpha: float) -> _Outcome:
    """Pairs are compared whether or not Friedman's test is significant.

    Mean ranks decide, so the difference of mean scores can have the opposite sign: `ranked_by` says which system is
    ahead.
    """
    friedman = friedman_ranks(round_to_multiples(units.means(scores), pairs.resolution))
    statistic, p_value = tukey_range(friedman, pairs.a, pairs.b, n_queries=units.count)
    omnibus = Omnibus(friedman.statistic, friedman.df, friedman.p_value) if len(scores) > 1 else None
    dominance = count_wins(units.means(pairs.values)).dominance
    low = high = np.zeros(0)
    if pairs.a.size:
        low, high = _student_intervals(pairs.values, guarded_spread(pairs.values, units), units, alpha / pairs.a.size)
    return _Outcome(statistic, p_value, "dominance", dominance, low, high, friedman.mean_ranks, omnibus)


def _paired_t(pairs: PairedDifferences, units: Units, alpha: float) -> _Outcome:
    differences = pairs.values
    deviation = spread(differences, units)
    statistic = _t_statistic(differences, deviation, units)
    p_value: Floats = 2 * np.asarray(stdtr(units.df, -np.abs(statistic)), dtype=np.float64)
    low, high = _student_intervals(differences, deviation, units, alpha)
    return _Outcome(statistic, p_value, "cohens-dz", cohens_dz(differences), low, high)


def _t_statistic(differences: Floats, deviation: Floats, units: Units) -> Floats:
    return ratio_or_infinite(differences.mean(axis=1), deviation / math.sqrt(units.count))


def _student_intervals(differences: Floats, deviation: Floats, units: Units, alpha: float) -> tuple[Floats, Floats]:
    """Student's interval for the mean of every row, each with confidence ``1 - alpha``."""
    mean = differences.mean(axis=1)
    margin = -float(stdtrit(units.df, alpha / 2)) * deviation / math.sqrt(units.count)
    return mean - margin, mean + margin


def _wilcoxon(pairs: PairedDifferences, units: Units) -> _Outcome:
    ranks = signed_ranks(units.means(pairs.values))
    return _Outcome(ranks.positive, ranks.p_value, "rank-biserial", rank_biserial(ranks.positive, ranks.total))


def _permutation(pairs: PairedDifferences, units: Units, n_resamples: int, rng: np.random.Generator) -> _Outcome:
    resolution = pairs.resolution * (units.number.size / units.count)
    p_value = sign_flip_p_values(units.sums(pairs.values), n_resamples=n_resamples, rng=rng, resolution=resolution)
    return _Outcome(pairs.values.mean(axis=1), p_value, "cohens-dz", cohens_dz(pairs.values))


def _bootstrap(
    pairs: PairedDifferences, units: Units, alpha: float, n_resamples: int, rng: np.random.Generator
) -> _Outcome:
    differences = pairs.values
    resampled = bootstrap_differences(
        pseudo_values(differences, units, alpha=alpha),
        n_resamples=n_resamples,
        alpha=alpha,
        rng=rng,
        resolution=pairs.resolution,
    )
    statistic = _t_statistic(differences, spread(differences, units), units)
    effect_size = cohens_dz(differences)
    return _Outcome(statistic, resampled.p_value, "cohens-dz", effect_size, resampled.low, resampled.high)


def enough_resamples(n_resamples: int | None, *, n_pairs: int, correction: CorrectionName, alpha: float) -> int:
    """Return the number of resamples to draw, refusing one at which no pair could ever be significant.

    The smallest p-value is ``1 / (n + 1)``, which Holm's correction multiplies by the number of pairs. With
    1,225 pairs and 10,000 resamples that is .12: every pair would be declared indistinguishable, whatever the
    scores.
    """
    factor = n_pairs if correction == "holm" else 1
    needed = max(1, math.ceil(factor / alpha) - 1)
    if n_resamples is None:
        return max(MIN_RESAMPLES, 4 * needed)
    if n_resamples < needed:
        raise ParameterError(
            f"n_resamples={n_resamples} is too few for any of {n_pairs} pairs to be significant"
            f" at alpha={alpha} with correction={correction!r}: draw at least {needed}"
        )
    return n_resamples
