r"""Is any system worse than a baseline? The check of a nightly build, with an error rate that is stated.

A system counts as worse when it is shown to score lower than the baseline *by more than a margin*: a difference up to
the margin :math:`m` does not matter. Nothing shown is no proof of the opposite: a check passes as well where the
queries are too few to tell.

**By a test** (:func:`compare_with_baseline`). With :math:`d_q` the system's score minus the baseline's (negated where
lower is better), a one-sided test asks whether the mean of :math:`d_q + m` is below zero
(:mod:`~earmark.inference.one_sided_tests`), paired by query or by unit: the t-test, or permutation or the bootstrap
where these are asked for. A check is about means, so tests on ranks, which may be asked for beside it, have no part in
it. A system is worse if the adjusted p-value is at most alpha. The chance that any system fails that is worse by no
more than the margin is about alpha at most (``tests/inference/test_baseline.py`` and
``benchmarks/honesty/comparisons.py`` count false alarms). With too few queries no p-value can be that low, and the
check says so.

**By a model** (:func:`check_ranking`). A system is worse if :math:`P(\Delta < -m)` is high enough, with
:math:`\Delta` the difference of the estimates: one-sided, as all confidences of a
:class:`~earmark.inference.confidence.Ranking` are.

Several systems are several chances of a false alarm. P-values, or one minus the probabilities, are adjusted by Holm's
procedure [1]_ for the number of systems beside the baseline.
Several measures divide alpha by their number (Bonferroni).

References
----------
.. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.units import EACH_QUERY, counted_units
from earmark.errors import ParameterError
from earmark.evaluation import Scores
from earmark.inference.comparison import Comparison, compare
from earmark.inference.confidence import Ranking
from earmark.inference.multiple_comparisons import holm
from earmark.inference.one_sided_tests import MeanTest, below_zero, least_p_value
from earmark.inference.paired_differences import round_to_multiples, score_resolution
from earmark.inference.significance import PairwiseTests, TestName, enough_resamples
from earmark.inference.unjudged_verdicts import UnjudgedRule, attacks, choose_rule
from earmark.measures import Measure
from earmark.registry import suggest
from earmark.unjudged.bounds import Bounds
from earmark.wording import listed

# A doubt of exactly 1 - level counts, whatever the last bit of the subtraction says.
_SLACK = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class BaselineCheck(Display):
    """Which systems are worse than the baseline by more than the margin.

    Attributes
    ----------
    baseline : str
    measure : Measure
    margin : float, 0 or more
        The difference of scores that does not matter.
    alpha : float
        The greatest chance of a false alarm, of all systems together.
    systems : tuple of str
        The others, best first.
    difference : ndarray of float, shape (systems,)
        Score of the system minus score of the baseline, in the measure's own units.
    doubt : ndarray of float, shape (systems,), 0..1
        The adjusted p-value of being worse by more than the margin; or the chance that it is not worse.
    worse : ndarray of bool, shape (systems,)
    test : str, optional
        By which test of means; none where the check is by a model.
    unit : str
        What the test counts as independent of each other.
    units : int
        How many of them there are.
    undecided : ndarray of bool, shape (systems,), optional
        Which systems the test finds to be worse though unjudged documents could turn this; they are not worse.
    """

    baseline: str
    measure: Measure
    margin: float
    alpha: float
    systems: tuple[str, ...]
    difference: Floats
    doubt: Floats
    worse: Bools
    test: MeanTest | None = None
    unit: str = EACH_QUERY
    units: int = 0
    undecided: Bools | None = None

    @property
    def passed(self) -> bool:
        """Whether no system is worse, and none may be for all that is judged."""
        return not self.worse.any() and not self.open_systems

    @property
    def open_systems(self) -> tuple[str, ...]:
        """The systems that only unjudged documents keep from being worse."""
        if self.undecided is None:
            return ()
        return tuple(name for name, is_open in zip(self.systems, self.undecided, strict=True) if is_open)

    def sentence(self) -> str:
        """Say how the check ended."""
        beyond = f" by more than {self.margin:g}" if self.margin else ""
        tail = f"worse than '{self.baseline}'{beyond} on {self.measure}"
        failed = [f"'{name}'" for name, worse in zip(self.systems, self.worse, strict=True) if worse]
        unsure = [f"'{name}'" for name in self.open_systems]
        parts = [f"{listed(failed)} {'is' if len(failed) == 1 else 'are'} {tail}"] if failed else []
        if unsure:
            whether = f"whether {listed(unsure)} {'is' if len(unsure) == 1 else 'are'} {tail}"
            parts.append(f"{whether} is open: unjudged documents could turn this")
        return "; ".join(parts) or f"no system is shown to be {tail}"

    @property
    def needed(self) -> int:
        """How many units it takes before any system can fail; 0 where the check is by a model."""
        return 0 if self.test is None else math.ceil(math.log2(max(len(self.systems), 1) / self.alpha))

    def caution(self) -> str | None:
        """Say that there are too few units for any system to fail, where it is so."""
        if self.units >= self.needed:
            return None
        least = min(len(self.systems) * float(least_p_value(self.units)), 1.0)
        return (
            f"no system can fail this check: with {counted_units(self.units, self.unit)} no adjusted p-value is below "
            f"{least:.3g}; it takes {counted_units(self.needed, self.unit)} or more"
        )

    def row(self) -> dict[str, Any]:
        """Return ``kind``, baseline, measure, margin, alpha, systems ``failed`` and ``undecided``, and ``passed``."""
        return {
            "kind": "check",
            "baseline": self.baseline,
            "measure": str(self.measure),
            "margin": self.margin,
            "alpha": self.alpha,
            "failed": [name for name, worse in zip(self.systems, self.worse, strict=True) if worse],
            "undecided": list(self.open_systems),
            "passed": self.passed,
        }

    def _summary(self) -> Summary:
        """Show every system beside the baseline."""
        columns = {
            "system": list(self.systems),
            "difference": self.difference,
            "doubt": self.doubt,
            "worse": self.worse,
        }
        said = f"{'passed' if self.passed else 'failed'}: {self.sentence()}"
        return Summary(said, [DisplayTable(pl.DataFrame(columns), most=20)])


@dataclass(frozen=True, eq=False, repr=False)
class BaselineComparison(Display):
    """All systems beside a baseline: what was tested, and the check.

    Attributes
    ----------
    comparison : Comparison
        The tests of all pairs.
    check : BaselineCheck
    rows : DataFrame
        One row per system beside the baseline; see :meth:`pairs`.
    """

    comparison: Comparison
    check: BaselineCheck
    rows: pl.DataFrame

    def pairs(self, *, others: bool = False) -> pl.DataFrame:
        """One row per system, `a`, with the baseline as `b`, best system first.

        The fields are those of :meth:`Comparison.pairs`, p-values adjusted for these pairs alone, and ``baseline``,
        ``margin``, ``p_worse`` (the adjusted p-value of being worse by more than it) and ``worse``. With `others`, the
        pairs without the baseline follow.
        """
        if not others:
            return self.rows
        baseline = self.check.baseline
        rest = self.comparison.pairs().filter((pl.col("a") != baseline) & (pl.col("b") != baseline))
        return pl.concat([self.rows, rest], how="diagonal")

    def _summary(self) -> Summary:
        """Show every system beside the baseline, with the p-values."""
        frame = self.rows.select("a", "b", "difference", "p_adjusted", "p_worse", "worse")
        return Summary(self.check.sentence(), [DisplayTable(frame, most=20)])


def find_system(name: str, systems: Sequence[str], *, what: str = "baseline") -> int:
    """Return the place of a system among others.

    Raises
    ------
    ParameterError
        If there is none of this name, with the closest one.
    """
    if name in systems:
        return list(systems).index(name)
    lower = {one.lower(): one for one in systems}
    meant = suggest(name, lower)
    known = f"there are {', '.join(systems)}"
    hint = f"did you mean '{lower[meant]}'? ({known})" if meant else known
    raise ParameterError(f"unknown {what} '{name}': {hint}")


def compare_with_baseline(
    scores: Scores,
    baseline: str,
    measure: str | Measure | None = None,
    *,
    test: TestName = "t",
    margin: float = 0.0,
    alpha: float = 0.05,
    among: int = 1,
    unjudged: UnjudgedRule | None = None,
    **how: Any,
) -> BaselineComparison:
    """Test every system against a baseline by one measure.

    Parameters
    ----------
    scores, measure
        As for :func:`earmark.compare`.
    baseline : str
        The system that the others are compared with.
    test : {'t', 'permutation', 'bootstrap', 'friedman-tukey', 'wilcoxon'}
        How pairs are tested. The check is by the same test if it is about means, and by t beside one about ranks.
    margin : float, 0 or more
        By how much a system may be worse.
    alpha : float
        The level of significance.
    among : int
        Of how many such checks, one per measure, this is one; each has its share of `alpha`.
    unjudged : {"any", "alike", "zero"}, optional
        With which values of unjudged documents a verdict has to be the same, as for :func:`earmark.compare`. When
        omitted, any, or zero where the judgments are a list of relevant documents.
    **how
        ``n_resamples``, ``seed`` and ``unit_of``, as for :func:`earmark.compare`. The correction is Holm's, or that of
        the test itself.

    Examples
    --------
    >>> import earmark, numpy
    >>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=40, documents=80)
    >>> scores = earmark.evaluate(made.runs, made.judgments, ["AG@5"])
    >>> compare_with_baseline(scores, "system-1", test="t").check.sentence()
    "'system-3' is worse than 'system-1' on AG@5"
    >>> compare_with_baseline(scores, "system-1", test="t", margin=0.2).check.passed
    True
    """
    if not (np.isfinite(margin) and margin >= 0):
        raise ParameterError(f"the margin is a difference of scores of 0 or more, got {margin:g}")
    find_system(baseline, scores.systems)
    bounds = scores.bounds(measure)
    rule: UnjudgedRule = "zero" if bounds is None else choose_rule(bounds, unjudged, "any")
    found = compare(scores, measure, test=test, alpha=alpha, unjudged=rule, **how)
    place = found.systems.index(baseline)
    tests, up = found.tests, 1.0 if found.measure.higher_is_better else -1.0
    pairs = _pairs_with(tests, place)
    others = np.where(tests.a[pairs] == place, tests.b[pairs], tests.a[pairs])
    checked: MeanTest = "t" if test == "friedman-tukey" or test == "wilcoxon" else test
    draws = 0
    if checked != "t":
        draws = enough_resamples(how.get("n_resamples"), n_pairs=others.size, correction="holm", alpha=alpha)
    resolution = score_resolution(found.scores)
    p_worse = holm(
        below_zero(
            round_to_multiples(up * (found.scores[others] - found.scores[place]) + margin, resolution),
            found.units,
            test=checked,
            n_resamples=draws,
            alpha=alpha,
            rng=np.random.default_rng(how.get("seed", 0)),
            resolution=resolution,
        )
    )
    means = found.scores.mean(axis=1)
    difference = means[others] - means[place]
    level = alpha / among
    order = np.argsort(tests.place[others])
    check = BaselineCheck(
        baseline,
        found.measure,
        margin,
        level,
        tuple(found.systems[index] for index in others[order]),
        difference[order],
        p_worse[order],
        (p_worse <= level)[order],
        checked,
        found.unit,
        found.units.count,
    )
    if bounds is not None and rule != "zero" and bounds.measure.needs_all_judged and check.worse.any():
        same = {"test": test, "margin": margin, "alpha": alpha, "among": among, "unjudged": "zero", **how}
        check = _withhold(
            check, scores, bounds, rule, lambda other: compare_with_baseline(other, baseline, measure, **same).check
        )
    return BaselineComparison(found, check, _baseline_rows(found, check, _adjusted(tests, pairs)[order], alpha))


def _withhold(
    check: BaselineCheck, scores: Scores, bounds: Bounds, rule: UnjudgedRule, again: Callable[[Scores], BaselineCheck]
) -> BaselineCheck:
    """Take back verdicts that do not hold for other values of the unjudged documents."""
    share = dict(zip(scores.systems, bounds.share, strict=True))
    touched = np.array([max(share[name], share[check.baseline]) > 0 for name in check.systems])
    if rule == "any" and not bounds.are_known:
        undecided = check.worse & touched
    else:
        place = scores.systems.index(check.baseline)
        others = attacks(bounds, place, margin=check.margin) if rule == "any" else [bounds.likened]
        undecided = np.zeros(len(check.systems), dtype=bool)
        for values in others:
            other = again(scores.with_values(bounds.measure, values))
            worse = {name for name, is_worse in zip(other.systems, other.worse, strict=True) if is_worse}
            undecided |= check.worse & touched & np.array([name not in worse for name in check.systems])
    return replace(check, worse=check.worse & ~undecided, undecided=undecided)


def _pairs_with(tests: PairwiseTests, place: int) -> Ints:
    return np.flatnonzero((tests.a == place) | (tests.b == place))


def _adjusted(tests: PairwiseTests, pairs: Ints) -> Floats:
    """Adjust for the pairs of the baseline alone; Tukey's p-values are for all pairs already."""
    return tests.p_value[pairs] if tests.correction == "tukey" else holm(tests.p_value[pairs])


def _baseline_rows(found: Comparison, check: BaselineCheck, p_adjusted: Floats, alpha: float) -> pl.DataFrame:
    """Turn the rows of the baseline's pairs so that the baseline is `b`, and add what the check says."""
    rows = {frozenset((row["a"], row["b"])): row for row in found.pairs().iter_rows(named=True)}
    made = []
    for system, p, p_worse, worse in zip(check.systems, p_adjusted, check.doubt, check.worse, strict=True):
        row = rows[frozenset((system, check.baseline))]
        ahead = row["a"]
        if ahead == check.baseline:
            turned = {"a": row["b"], "b": row["a"], "low": -row["high"], "high": -row["low"]}
            turned |= {"wins": row["losses"], "losses": row["wins"]}
            turned |= {"unjudged_a": row["unjudged_b"], "unjudged_b": row["unjudged_a"]}
            turned |= {"difference_low": -row["difference_high"], "difference_high": -row["difference_low"]}
            row |= turned | {name: -row[name] + 0.0 for name in ("difference", "effect_size")}
        significant = bool(p <= alpha) and not row["undecided_by_unjudged"]
        row |= {"p_adjusted": float(p), "significant": significant, "better": ahead if significant else None}
        said = {"baseline": check.baseline, "margin": check.margin, "p_worse": float(p_worse), "worse": bool(worse)}
        row["undecided_by_unjudged"] |= system in check.open_systems
        made.append(row | said)
    return pl.DataFrame(made, schema_overrides={"better": pl.String})


def check_ranking(ranking: Ranking, baseline: str, *, margin: float = 0.0) -> BaselineCheck:
    """Check what estimates say about every system beside a baseline, at the level of the ranking.

    Where a premise of the verdict failed so that nothing may be called sure, no system is called worse either.

    Parameters
    ----------
    ranking : Ranking
    baseline : str
        The system that the others are compared with.
    margin : float, 0 or more
        By how much a system may be worse.

    Examples
    --------
    >>> import earmark, numpy
    >>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> check_ranking(earmark.rank(made.runs, made.judgments, measure="AG@5"), "system-3").sentence()
    "'system-2' is worse than 'system-3' on AG@5"
    """
    if not (np.isfinite(margin) and margin >= 0):
        raise ParameterError(f"the margin is a difference of scores of 0 or more, got {margin:g}")
    estimates = ranking.estimates
    place = find_system(baseline, estimates.systems)
    pairs = np.flatnonzero((estimates.a == place) | (estimates.b == place))
    first = estimates.a[pairs] == place
    chance = np.where(first, ranking.beats_by(margin)[pairs], 1.0 - ranking.beats_by(-margin)[pairs])
    # Lists that cannot differ are no chance of a false alarm either.
    compared = ranking.compared[pairs]
    doubt = np.ones(pairs.size)
    doubt[compared] = holm(np.clip(1.0 - chance[compared], 0.0, 1.0))
    others = np.where(first, estimates.b[pairs], estimates.a[pairs])
    order = np.argsort(ranking.rank[others], kind="stable")
    difference = np.where(first, -1.0, 1.0) * estimates.differences.mean[pairs] + 0.0
    alpha = 1.0 - ranking.level
    worse = (doubt <= alpha + _SLACK) & (ranking.withheld is None)
    return BaselineCheck(
        baseline,
        estimates.measure,
        margin,
        alpha,
        tuple(estimates.systems[index] for index in others[order]),
        difference[order],
        doubt[order],
        worse[order],
    )


def ranking_rows(ranking: Ranking, check: BaselineCheck) -> pl.DataFrame:
    """One row per system, `a`, with the baseline as `b`, the fields of :meth:`Ranking.pairs_frame` first.

    Then come ``baseline``, ``margin``, ``confidence_worse`` (adjusted for the number of systems) and ``worse``.
    """
    rows = {frozenset((row["a"], row["b"])): row for row in ranking.pairs_frame().iter_rows(named=True)}
    made = []
    for system, doubt, worse in zip(check.systems, check.doubt, check.worse, strict=True):
        row = rows.get(frozenset((system, check.baseline)))
        if row is None:
            continue
        if row["a"] == check.baseline:
            row |= {"a": row["b"], "b": row["a"], "difference": -row["difference"] + 0.0}
            row |= {"low": -row["high"] + 0.0, "high": -row["low"] + 0.0}
        said = {"baseline": check.baseline, "margin": check.margin, "confidence_worse": 1.0 - float(doubt)}
        said["worse"] = bool(worse)
        made.append(row | said)
    return pl.DataFrame(made, schema=None if made else ranking.pairs_frame().schema)
