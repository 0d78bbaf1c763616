"""Which systems differ? Tests between all pairs of systems on the queries they were all asked.

:func:`compare_scores` is the front door: a matrix of scores (systems × queries, higher is better), the name
of a test, and out comes one :class:`PairwiseTests` with a line per pair. The tests, and what each asks:

============== ========================================================== ============= ===========
test           question                                                   effect size   interval
============== ========================================================== ============= ===========
friedman-tukey do mean ranks differ? (as MIREX reports)                   dominance     none
t              do means differ, where differences are about normal?       Cohen's d_z   Student
wilcoxon       do positive and negative differences balance, by rank?     rank-biserial none
permutation    could the signs of the differences be coin tosses?         Cohen's d_z   none
bootstrap      would the mean difference survive other such queries?      Cohen's d_z   bootstrap-t
============== ========================================================== ============= ===========

All tests are two-sided and paired by query. A pair is significant when its *adjusted* p-value is at most
alpha. Intervals are for one pair at a time, with confidence ``1 - alpha``: they are not widened for the
number of pairs. An interval excludes zero exactly when the p-value of its pair, *not* adjusted, is at most alpha.

What happens at the edges: identical systems have difference 0 and p = 1. A difference that is the same
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
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from earmark.data.arrays import Floats
from earmark.errors import ParameterError
from earmark.inference.effect_sizes import (
    cohens_dz,
    count_wins,
    rank_biserial,
    ratio_or_infinite,
    standard_deviation,
)
from earmark.inference.multiple import CorrectionName
from earmark.inference.pairs import PairedDifferences, check_scores, paired_differences, round_to_multiples
from earmark.inference.pairwise import Omnibus, PairwiseTests, TestName, assemble
from earmark.inference.rank_tests import friedman_ranks, signed_ranks, tukey_range
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values

__all__ = [
    "Omnibus",
    "PairwiseTests",
    "TestName",
    "bootstrap",
    "compare_scores",
    "friedman_tukey",
    "paired_t",
    "permutation",
    "wilcoxon",
]

MIN_RESAMPLES = 10_000
"""The number of resamples where none is given, unless many pairs under Holm's correction need more."""


def compare_scores(
    scores: npt.ArrayLike,
    *,
    test: TestName = "friedman-tukey",
    correction: CorrectionName = "holm",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    rng: np.random.Generator | None = None,
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
    if test == "friedman-tukey":
        return friedman_tukey(scores, alpha=alpha)
    if test == "t":
        return paired_t(scores, correction=correction, alpha=alpha)
    if test == "wilcoxon":
        return wilcoxon(scores, correction=correction, alpha=alpha)
    if test not in get_args(TestName):
        raise ParameterError(f"unknown test {test!r}, choose from {', '.join(get_args(TestName))}")
    if rng is None:
        raise ParameterError(f"the {test} test draws at random: pass rng=numpy.random.default_rng(seed)")
    resampling_test = permutation if test == "permutation" else bootstrap
    return resampling_test(scores, correction=correction, alpha=alpha, n_resamples=n_resamples, rng=rng)


def friedman_tukey(scores: npt.ArrayLike, *, alpha: float = 0.05) -> PairwiseTests:
    """Friedman's test and Tukey's comparisons of mean ranks, as MIREX reports them.

    ``q = |R_a - R_b| / sqrt(σ²/n)`` on the mean ranks R, referred to the studentized range of as many groups
    as there are systems; see :mod:`earmark.inference.rank_tests`. Pairs are compared whether or not
    Friedman's test is significant. Mean ranks decide, so `difference` can have the opposite sign: `ranked_by`
    says which system is ahead.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
    alpha : float, in (0, 1)
    """
    matrix, pairs = _prepare(scores, alpha=alpha)
    friedman = friedman_ranks(round_to_multiples(matrix, pairs.resolution))
    statistic, p_value = tukey_range(friedman, pairs.a, pairs.b, n_queries=matrix.shape[1])
    omnibus = None
    if len(matrix) > 1:
        omnibus = Omnibus(statistic=friedman.statistic, df=friedman.df, p_value=friedman.p_value)
    return assemble(
        matrix,
        pairs,
        test="friedman-tukey",
        correction="tukey",
        alpha=alpha,
        statistic=statistic,
        p_value=p_value,
        effect="dominance",
        effect_size=count_wins(pairs.values).dominance,
        ranked_by=friedman.mean_ranks,
        omnibus=omnibus,
    )


def paired_t(scores: npt.ArrayLike, *, correction: CorrectionName = "holm", alpha: float = 0.05) -> PairwiseTests:
    """Student's paired t-test: ``t = mean(d) / (sd(d) / sqrt(n))`` with ``n - 1`` degrees of freedom.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
    correction : {'holm', 'bh', 'none'}
    alpha : float, in (0, 1)
    """
    matrix, pairs = _prepare(scores, alpha=alpha)
    n_queries = matrix.shape[1]
    mean = pairs.values.mean(axis=1)
    statistic = _t_statistic(pairs.values)
    margin = float(stdtrit(n_queries - 1, 1 - alpha / 2)) * standard_deviation(pairs.values) / math.sqrt(n_queries)
    return assemble(
        matrix,
        pairs,
        test="t",
        correction=correction,
        alpha=alpha,
        statistic=statistic,
        p_value=2 * stdtr(n_queries - 1, -np.abs(statistic)),
        effect="cohens-dz",
        effect_size=cohens_dz(pairs.values),
        low=mean - margin,
        high=mean + margin,
    )


def wilcoxon(scores: npt.ArrayLike, *, correction: CorrectionName = "holm", alpha: float = 0.05) -> PairwiseTests:
    """Wilcoxon's signed-rank test, queries that tie left out.

    Exact up to 50 queries that are not ties, normal beyond; see :mod:`earmark.inference.rank_tests`.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
    correction : {'holm', 'bh', 'none'}
    alpha : float, in (0, 1)
    """
    matrix, pairs = _prepare(scores, alpha=alpha)
    ranks = signed_ranks(pairs.values)
    return assemble(
        matrix,
        pairs,
        test="wilcoxon",
        correction=correction,
        alpha=alpha,
        statistic=ranks.positive,
        p_value=ranks.p_value,
        effect="rank-biserial",
        effect_size=rank_biserial(ranks.positive, ranks.total),
    )


def permutation(
    scores: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int | None = None,
    correction: CorrectionName = "holm",
    alpha: float = 0.05,
) -> PairwiseTests:
    """Paired sign-flip test of the mean difference, ``p = (1 + #{T* >= T}) / (1 + n_resamples)``.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
    rng : numpy.random.Generator
    n_resamples : int, optional
        As in :func:`compare_scores`.
    correction : {'holm', 'bh', 'none'}
    alpha : float, in (0, 1)
    """
    matrix, pairs = _prepare(scores, alpha=alpha)
    n_resamples = _enough_resamples(n_resamples, n_pairs=pairs.a.size, correction=correction, alpha=alpha)
    return assemble(
        matrix,
        pairs,
        test="permutation",
        correction=correction,
        alpha=alpha,
        statistic=pairs.values.mean(axis=1),
        p_value=sign_flip_p_values(pairs.values, n_resamples=n_resamples, rng=rng, resolution=pairs.resolution),
        effect="cohens-dz",
        effect_size=cohens_dz(pairs.values),
    )


def bootstrap(
    scores: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int | None = None,
    correction: CorrectionName = "holm",
    alpha: float = 0.05,
) -> PairwiseTests:
    """Paired bootstrap over queries: studentized shift test and symmetric bootstrap-t interval.

    Both come from the same resamples, so the interval excludes zero exactly when ``p_value <= alpha``. See
    :mod:`earmark.inference.resampling`, also for how often the intervals cover the mean difference.

    Parameters
    ----------
    scores : array-like, shape (systems, queries)
    rng : numpy.random.Generator
    n_resamples : int, optional
        As in :func:`compare_scores`.
    correction : {'holm', 'bh', 'none'}
    alpha : float, in (0, 1)
    """
    matrix, pairs = _prepare(scores, alpha=alpha)
    n_resamples = _enough_resamples(n_resamples, n_pairs=pairs.a.size, correction=correction, alpha=alpha)
    resampled = bootstrap_differences(
        pairs.values, n_resamples=n_resamples, alpha=alpha, rng=rng, resolution=pairs.resolution
    )
    return assemble(
        matrix,
        pairs,
        test="bootstrap",
        correction=correction,
        alpha=alpha,
        statistic=_t_statistic(pairs.values),
        p_value=resampled.p_value,
        effect="cohens-dz",
        effect_size=cohens_dz(pairs.values),
        low=resampled.low,
        high=resampled.high,
    )


def _prepare(scores: npt.ArrayLike, *, alpha: float) -> tuple[Floats, PairedDifferences]:
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must lie between 0 and 1, got {alpha}")
    matrix = check_scores(scores)
    return matrix, paired_differences(matrix)


def _t_statistic(differences: Floats) -> Floats:
    standard_error = standard_deviation(differences) / math.sqrt(differences.shape[1])
    return ratio_or_infinite(differences.mean(axis=1), standard_error)


def _enough_resamples(n_resamples: int | None, *, n_pairs: int, correction: CorrectionName, alpha: float) -> int:
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
