"""Comparing systems: from scores to who is better than whom, and how alike two measures rank.

:mod:`~earmark.inference.significance` tests matrices of numbers; here they have names, a direction and gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.runs import sort_names
from earmark.data.units import EACH_QUERY, QueryUnits, counted_units
from earmark.errors import ParameterError
from earmark.evaluation import Scores
from earmark.inference.multiple_comparisons import CorrectionName, letter_display
from earmark.inference.rank_correlation import kendall_tau, rbo, spearman_rho, tau_ap_b
from earmark.inference.significance import PairwiseTests, TestName, compare_scores
from earmark.inference.units import Units
from earmark.inference.unjudged_verdicts import UnjudgedPairs, UnjudgedRule, choose_rule, withhold
from earmark.measures import Measure, parse_all
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Display):
    """Which systems differ by one measure.

    Parameters
    ----------
    systems : tuple of str
        The systems.
    measure : Measure
        What they are compared by.
    scores : ndarray of float, shape (systems, queries)
        Their scores on the queries that all of them answered.
    tests : PairwiseTests
        The tests of all pairs, made so that higher is better whatever the measure.
    dropped : tuple of str
        Queries left out because some system did not answer them.
    units : Units
        Which of these queries belong together; means are over queries all the same.
    unit : str
        What a unit is; ``query`` where every query is one.
    unjudged : UnjudgedPairs or None
        What documents that nobody judged could change; none where the truth says of every document what it is.
    """

    systems: tuple[str, ...]
    measure: Measure
    scores: Floats
    tests: PairwiseTests
    dropped: tuple[str, ...]
    units: Units
    unit: str = EACH_QUERY
    unjudged: UnjudgedPairs | None = None

    def pairs(self) -> pl.DataFrame:
        """One row per pair, in the order of the ranking, `a` the system that is ahead in it.

        ``difference`` is a minus b in the measure's own units, ``low`` and ``high`` its interval, and effect sizes
        speak for a. ``difference_low`` and ``difference_high`` bound it whatever unjudged documents are, of which
        ``unjudged_a`` and ``unjudged_b`` are the shares by rank weight; with ``undecided_by_unjudged`` the test finds a
        difference that they could turn, so that it is not called significant. By the test friedman-tukey the ranking
        is by mean ranks, so that a difference of mean scores may speak for b.
        """
        tests, names = self.tests, np.array(self.systems, dtype=object)
        ahead = tests.place[tests.a] < tests.place[tests.b]
        first, second = np.where(ahead, tests.a, tests.b), np.where(ahead, tests.b, tests.a)
        better = [name if sure else None for name, sure in zip(names[first], tests.significant, strict=True)]
        # Scores of a measure of which less is better were negated for the tests.
        turned = ahead == self.measure.higher_is_better
        frame = pl.DataFrame(
            {
                "a": names[first].tolist(),
                "b": names[second].tolist(),
                "measure": str(self.measure),
                # Adding 0 turns a negated 0 into a plain one.
                "difference": np.where(turned, tests.difference, -tests.difference) + 0.0,
                "p_value": tests.p_value,
                "significant": tests.significant,
                "test": tests.test,
                "p_adjusted": tests.p_adjusted,
                "correction": tests.correction,
                "alpha": tests.alpha,
                "better": pl.Series(better, dtype=pl.String),
                "low": np.where(turned, tests.low, -tests.high) + 0.0,
                "high": np.where(turned, tests.high, -tests.low) + 0.0,
                "simultaneous": tests.simultaneous,
                "effect": tests.effect,
                "effect_size": np.where(ahead, tests.effect_size, -tests.effect_size) + 0.0,
                "wins": np.where(ahead, tests.wins, tests.losses),
                "ties": tests.ties,
                "losses": np.where(ahead, tests.losses, tests.wins),
                "unit": self.unit,
                "units": np.full(tests.a.size, self.units.count),
                **self._unjudged_columns(first, second),
            }
        )
        return frame[np.lexsort((tests.place[second], tests.place[first]))]

    def _unjudged_columns(self, first: Ints, second: Ints) -> dict[str, Floats | Bools]:
        """Return what unjudged documents could change about pairs, turned as they are shown."""
        shown = self.unjudged
        if shown is None:
            share, undecided = np.zeros(len(self.systems)), np.zeros(first.size, dtype=bool)
            means = self.scores.mean(axis=1)
            low = high = means[self.tests.a] - means[self.tests.b]
        else:
            share, undecided, low, high = shown.share, shown.undecided, shown.low, shown.high
        turned = first == self.tests.a
        return {
            "unjudged_a": share[first],
            "unjudged_b": share[second],
            "difference_low": np.where(turned, low, -high) + 0.0,
            "difference_high": np.where(turned, high, -low) + 0.0,
            "undecided_by_unjudged": undecided,
        }

    def ranking(self) -> pl.DataFrame:
        """One row per system, best first: ``system``, ``mean`` and the letters of the groups it cannot be told from."""
        order = self.tests.order
        letters = letter_display(self.tests.groups, n_systems=len(self.systems))
        return pl.DataFrame(
            {
                "system": [self.systems[index] for index in order],
                "mean": self.scores.mean(axis=1)[order],
                "groups": [letters[index] for index in order],
            }
        )

    def about_units(self) -> str:
        """Say what tests and intervals count where queries belong together."""
        queries = counted(self.scores.shape[1], "query", "queries")
        return (
            f"tests and intervals are by {self.unit}, as queries of one {self.unit} are not independent of each other: "
            f"{counted_units(self.units.count, self.unit)} for {queries}; means are over queries"
        )

    def to_pandas(self) -> Any:
        """Return :meth:`pairs` as a pandas frame (needs the ``pandas`` extra)."""
        return self.pairs().to_pandas()

    def __str__(self) -> str:
        return str(self.ranking())

    def _summary(self) -> Summary:
        """Show the systems with the groups they cannot be told from, and the pairs that differ most surely."""
        tests, pairs = self.tests, self.pairs()
        differ = int(tests.significant.sum())
        sentence = (
            f"{differ:,} of {counted(pairs.height, 'pair')} of systems {'differs' if differ == 1 else 'differ'} "
            f"significantly by {self.measure} ({tests.test}, {tests.correction} at {tests.alpha:g})"
        )
        shown = pairs.select("a", "b", "difference", "low", "high", "p_adjusted", "better", "effect_size")
        shown = shown[[column.name for column in shown if not _is_empty(column)]]
        notes = ["systems that share a letter cannot be told apart"]
        if self.unit != EACH_QUERY:
            notes.append(self.about_units())
        if self.dropped:
            notes.append(f"{counted(len(self.dropped), 'query', 'queries')} left out: some system did not answer")
        in_order = shown.sort("p_adjusted", maintain_order=True)
        return Summary(
            sentence,
            [DisplayTable(self.ranking(), most=20), DisplayTable(in_order, "Pairs, the most sure first", most=5)],
            notes,
        )


def _is_empty(column: pl.Series) -> bool:
    """Tell whether a column says nothing: intervals, where a test has none."""
    return column.dtype == pl.Float64 and bool(column.is_nan().all())


def compare(
    scores: Scores,
    measure: str | Measure | None = None,
    *,
    test: TestName = "friedman-tukey",
    correction: CorrectionName = "holm",
    alpha: float = 0.05,
    n_resamples: int | None = None,
    seed: int = 0,
    unit_of: QueryUnits | Mapping[str, str] | Literal["query"] | None = None,
    unjudged: UnjudgedRule | None = None,
) -> Comparison:
    """Test every pair of systems by one measure.

    Parameters
    ----------
    scores : Scores
        What :func:`earmark.evaluate` returned.
    measure : str or Measure, optional
        Which of its measures; the first by default.
    test, correction, alpha, n_resamples
        As for :func:`~earmark.inference.significance.compare_scores`.
    seed : int
        Where permutation and bootstrap start, for every measure anew: a result does not depend on which others were
        asked for.
    unit_of : QueryUnits, mapping of str to str, or "query", optional
        What every query belongs to, where queries are not independent of each other: the versions of one song, say.
        Tests and intervals are by unit, means over queries. By default the works where the truth was cliques, and every
        query elsewhere, as with ``"query"``.
    unjudged : {"any", "alike", "zero"}, optional
        With which values of unjudged documents a verdict has to be the same, see
        :mod:`~earmark.inference.unjudged_verdicts`. When omitted, alike, or zero where the judgments are a list of
        relevant documents.

    Raises
    ------
    ParameterError
        With one system, if a query belongs to no unit, or all to the same.

    Examples
    --------
    >>> import earmark, numpy
    >>> demo = earmark.synthetic_collection(numpy.random.default_rng(0))
    >>> scores = earmark.evaluate(demo.runs, demo.judgments, ["AG@5"])
    >>> earmark.compare(scores).pairs().height
    28
    """
    chosen = scores.measures[0] if measure is None else parse_all([measure])[0]
    chosen.require_mean()
    matrix = scores.of(chosen)
    if len(scores.systems) < 2:
        raise ParameterError(f"there is only the system '{scores.systems[0]}': a comparison needs two or more")
    # In an order that does not depend on the files: what is drawn, and the last bit of a sum, depend on it.
    systems = sort_names(scores.systems)
    matrix = matrix[[scores.systems.index(name) for name in systems]]
    answered = np.flatnonzero(~np.isnan(matrix).any(axis=0))
    named = _units_of(scores, unit_of)
    unit = EACH_QUERY if named is None else named.name
    number = None if named is None else named.numbers([scores.queries[index] for index in answered])

    def test_pairs(complete: Floats) -> PairwiseTests:
        return compare_scores(
            complete if chosen.higher_is_better else -complete,
            test=test,
            correction=correction,
            alpha=alpha,
            n_resamples=n_resamples,
            rng=np.random.default_rng(seed),
            units=number,
        )

    complete = matrix[:, answered]
    tests, bounds, pairs = test_pairs(complete), scores.bounds(chosen), None
    if bounds is not None:
        rows = np.array([scores.systems.index(name) for name in systems], dtype=np.int64)
        rule = choose_rule(bounds, unjudged, "alike")
        tests, pairs = withhold(tests, bounds, rows, answered, rule, test_pairs)
    dropped = tuple(name for name, column in zip(scores.queries, matrix.T, strict=True) if np.isnan(column).any())
    by_unit = Units.of(number, n_queries=answered.size)
    return Comparison(systems, chosen, complete, tests, dropped, by_unit, unit, pairs)


def _units_of(scores: Scores, unit_of: QueryUnits | Mapping[str, str] | Literal["query"] | None) -> QueryUnits | None:
    """Return which queries belong together; None where every query is a unit."""
    if unit_of is None:
        return scores.units
    if isinstance(unit_of, Mapping):
        return QueryUnits("unit", unit_of)
    if isinstance(unit_of, QueryUnits):
        return unit_of
    if unit_of != EACH_QUERY:
        raise ParameterError(f"the units of queries are a mapping, or '{EACH_QUERY}' for every query, got '{unit_of}'")
    return None


def correlate(scores: Scores) -> pl.DataFrame:
    """Tell how alike the measures rank the systems.

    Returns
    -------
    polars.DataFrame
        One row per pair of measures: ``measure_a``, ``measure_b``, Kendall's ``tau`` (b), ``tau_ap`` (symmetric),
        ``rbo`` (extrapolated, p = .9), ``spearman``.
    """
    goodness = {
        measure: mean if measure.higher_is_better else -mean
        for measure, mean in zip(scores.measures, scores.mean_values, strict=True)
    }
    best_first = {
        measure: sorted(scores.systems, key=dict(zip(scores.systems, -mean, strict=True)).__getitem__)
        for measure, mean in goodness.items()
    }
    return pl.DataFrame(
        [
            {
                "measure_a": str(a),
                "measure_b": str(b),
                "tau": kendall_tau(goodness[a], goodness[b]),
                "tau_ap": tau_ap_b(goodness[a], goodness[b]),
                "rbo": rbo(best_first[a], best_first[b]).extrapolated,
                "spearman": spearman_rho(goodness[a], goodness[b]),
            }
            for a, b in combinations(scores.measures, 2)
        ]
    )
