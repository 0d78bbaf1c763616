"""What a test between systems says: one line per pair, a ranking, and groups that cannot be told apart.

Every test gives the same :class:`PairwiseTests`, so that reports and command line need not know which test
was run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.inference.effect_sizes import Wins, count_wins
from earmark.inference.multiple import CorrectionName, adjust_p_values, indistinguishable_groups
from earmark.inference.pairs import PairedDifferences
from earmark.wording import counted

TestName = Literal["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]
EffectName = Literal["dominance", "cohens-dz", "rank-biserial"]


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
        Queries on which `a` scores higher than `b`, the same, lower.
    low, high : float array
        Interval for `difference`, NaN where the test has none.
    ranked_by : float array, shape (systems,)
        What the ranking is by: mean rank (friedman-tukey, the higher the better) or mean score.
    order : int array, shape (systems,)
        Systems from best to worst.
    groups : tuple of tuples of int
        Stretches of the ranking without significant differences; see
        :func:`~earmark.inference.multiple.indistinguishable_groups`.
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

    @property
    def superiority(self) -> Floats:
        """Probability that `a` beats `b` on a query drawn at random, ties counted half; shape (pairs,)."""
        return Wins(wins=self.wins, ties=self.ties, losses=self.losses).superiority

    def _summary(self) -> Summary:
        """Show the pairs, the most sure first."""
        columns = ("a", "b", "difference", "statistic", "p_value", "p_adjusted", "significant", "effect_size")
        frame = pl.DataFrame({name: getattr(self, name) for name in columns}).sort("p_adjusted", maintain_order=True)
        systems, differ = counted(self.ranked_by.size, "system"), int(self.significant.sum())
        sentence = f"{differ:,} of {counted(self.a.size, 'pair')} of {systems} significant by {self.test}"
        return Summary(f"{sentence}, {self.correction} at {self.alpha:g}", [DisplayTable(frame)])


def assemble(
    scores: Floats,
    pairs: PairedDifferences,
    *,
    test: TestName,
    correction: CorrectionName | Literal["tukey"],
    alpha: float,
    statistic: Floats,
    p_value: Floats,
    effect: EffectName,
    effect_size: Floats,
    low: Floats | None = None,
    high: Floats | None = None,
    ranked_by: Floats | None = None,
    omnibus: Omnibus | None = None,
) -> PairwiseTests:
    """Add to the outcome of a test what is the same for all of them."""
    p_adjusted = p_value if correction == "tukey" else adjust_p_values(p_value, correction=correction)
    significant = p_adjusted <= alpha
    mean_scores = scores.mean(axis=1)
    if ranked_by is None:
        ranked_by = mean_scores
    order = np.lexsort((-mean_scores, -ranked_by)).astype(np.int64)
    no_interval = np.full(pairs.a.size, np.nan)
    counts = count_wins(pairs.values)
    return PairwiseTests(
        test=test,
        correction=correction,
        alpha=alpha,
        a=pairs.a,
        b=pairs.b,
        difference=mean_scores[pairs.a] - mean_scores[pairs.b],
        statistic=statistic,
        p_value=p_value,
        p_adjusted=p_adjusted,
        significant=significant,
        effect=effect,
        effect_size=effect_size,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        low=no_interval if low is None else low,
        high=no_interval if high is None else high,
        ranked_by=ranked_by,
        order=order,
        groups=indistinguishable_groups(order, pairs.a, pairs.b, significant),
        omnibus=omnibus,
    )
