r"""Forecasts: how many more judgments it takes until an open pair is probably decided.

For every open pair, items are judged hypothetically, one after the other, each the one that reduces the variance of
this pair's difference most; :mod:`earmark.campaign.decision_chance` gives the probability :math:`P_n` that the pair is
decided after n of them. The first n with :math:`P_n \ge 1/2` is the forecast ("even"), the first with
:math:`P_n \ge .9` the cautious one ("likely"). Both are about one look, after so many judgments, and about judging for
this pair alone; a campaign that serves all pairs at once needs more for each pair and fewer in all.

- Where the variance itself is uncertain, Student's t with the degrees of freedom of the estimate replaces the normal
  distribution, in the rule and in the forecast. The path is that of the most probable variance components.
- About *queries like these*, the variance between queries remains however much is judged: some pairs then stay open
  whatever is judged, and only more queries decide them.
- *At any time*, the rule gets stricter as more is known, by the same boundary as the ranking's.
- Where assessors disagree, one more answer leaves some uncertainty about its item. Every item counts for one more
  answer.
- For a measure that is not a weighted sum of gains, the path is that of discounted cumulated gain; the share of
  variance that remains on it is applied to the measure's own variance.
- *By design* the sample goes on in its order, and the variance falls as that of a random sample does, with
  :math:`1/n - 1/N`. That leaves out what better predictions will save.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact_estimates import system_weights
from earmark.campaign.decision_chance import OpenPair, VariancePath
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference, Verdict
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.display import Display, DisplayTable, Summary, facts
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.measures.graded import DCG
from earmark.wording import counted, in_percent, percent

EVEN, LIKELY = 0.5, 0.9
"""Probabilities of being decided: as likely as not, and nearly surely."""

FARTHEST = 3000
"""For a pair, so many judgments are forecast at most; fewer where there are very many pairs."""

# In all, so that a report on many systems does not take minutes, and at least for every pair.
_IN_ALL, _AT_LEAST = 30_000, 200
# The first of a ranking is compared with so many that follow.
_RIVALS = 20
# Above so many systems × items there is no forecast: it looks at all items at once.
_LARGEST = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class PairForecast(Display):
    """What more judgments would do for one open pair.

    Attributes
    ----------
    a, b : str
        The two systems.
    confidence : float, .5..1
        In their order, as of now.
    left : int
        How many judgments are left that bear on the pair.
    judgments : ndarray of int, shape (steps,), ascending from 0
        How many more are made.
    chance : ndarray of float, shape (steps,), 0..1
        That the pair is decided then. The path ends where that is nearly sure, or where nothing is left.
    chance_of_all : float, 0..1
        That the pair is decided once all that are left are made.
    items : ndarray of int, shape (at most left,)
        What is judged on the way, the first first.
    exact : bool
        A judged gain is the truth; else assessors disagree, and every item counts for one more answer.
    """

    a: str
    b: str
    confidence: float
    left: int
    judgments: Ints
    chance: Floats
    chance_of_all: float
    items: Ints
    exact: bool = True

    def needed(self, probability: float) -> int | None:
        """Return after how many more judgments the pair is decided with a probability; None if that is too far."""
        reached = np.flatnonzero(self.chance >= probability)
        return int(self.judgments[reached[0]]) if reached.size else None

    @property
    def even(self) -> int | None:
        """After how many more judgments the pair is as likely decided as not."""
        return self.needed(EVEN)

    @property
    def likely(self) -> int | None:
        """After how many more judgments the pair is nearly surely decided."""
        return self.needed(LIKELY)

    def _summary(self) -> Summary:
        """Show how far the pair has to go."""
        told = facts(even=self.even, likely=self.likely, left=self.left, chance_of_all=self.chance_of_all)
        return Summary(f"{self.a} and {self.b}, {percent(self.confidence)}% sure so far", [told])


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Display):
    """What more judgments would do for open pairs.

    Attributes
    ----------
    pairs : tuple of PairForecast
        One for every open pair that was asked for, in the order of the ranking.
    inference : Inference
        What deciding means.
    """

    pairs: tuple[PairForecast, ...]
    inference: Inference

    @cached_property
    def _by_pair(self) -> dict[frozenset[str], PairForecast]:
        return {frozenset((one.a, one.b)): one for one in self.pairs}

    def of(self, a: str, b: str) -> PairForecast | None:
        """Return the forecast of two systems; None where they are decided or were not asked for."""
        return self._by_pair.get(frozenset((a, b)))

    def frame(self) -> pl.DataFrame:
        """One row per pair: ``a``, ``b``, ``confidence``, ``even``, ``likely``, ``left``, ``chance_of_all``.

        ``even`` and ``likely`` are null where no number of judgments is enough, or one that is too far to look ahead.
        """
        return pl.DataFrame(
            {
                "a": pl.Series([one.a for one in self.pairs], dtype=pl.String),
                "b": pl.Series([one.b for one in self.pairs], dtype=pl.String),
                "confidence": pl.Series([one.confidence for one in self.pairs], dtype=pl.Float64),
                "even": pl.Series([one.even for one in self.pairs], dtype=pl.Int64),
                "likely": pl.Series([one.likely for one in self.pairs], dtype=pl.Int64),
                "left": pl.Series([one.left for one in self.pairs], dtype=pl.Int64),
                "chance_of_all": pl.Series([one.chance_of_all for one in self.pairs], dtype=pl.Float64),
            }
        )

    def to_judge(self, a: str, b: str, collection: Collection) -> pl.DataFrame:
        """Return ``query`` and ``document`` of what tells most about two systems, the first first.

        Raises
        ------
        ParameterError
            If they are decided, or were not asked for.
        """
        found = self.of(a, b)
        if found is None:
            raise ParameterError(f"there is no forecast for {a} and {b}: the pair is decided, or was not asked for")
        return collection.item_frame()[found.items].select("query", "document")

    def _summary(self) -> Summary:
        """Show how far every pair has to go."""
        level = f"{100 * self.inference.level:g}% confidence"
        if not self.pairs:
            return Summary(f"no open pair at {level}")
        frame = self.frame()
        shown = [pl.Series(name, list(map(in_percent, frame[name]))) for name in ("confidence", "chance_of_all")]
        note = "even, likely: after how many more judgments the pair is decided with a probability of one half and of "
        return Summary(
            f"{counted(len(self.pairs), 'open pair')} at {level}",
            [DisplayTable(frame.with_columns(*shown))],
            [f"{note}{100 * LIKELY:g}%, the most useful items first; left: all judgments that affect the pair"],
        )


def forecast_pairs(
    problem: Problem,
    beliefs: Beliefs,
    verdict: Verdict,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Forecast:
    """Forecast how many more judgments open pairs take.

    Parameters
    ----------
    problem : Problem
    beliefs : Beliefs
        About all items.
    verdict : Verdict
        What follows from them.
    pairs : sequence of (str, str), optional
        Which pairs of systems; by default those that follow one another in the ranking, and the first with the twenty
        that follow. Pairs that are decided, or that cannot differ, are left out.

    Returns
    -------
    Forecast
        Without any pair for very large collections, on which it would take longer than all the rest.

    Raises
    ------
    ParameterError
        If pairs of such a collection are asked for, or there is no such system.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> problem = Problem.build(made.runs, measure="AG@5", metadata=made.metadata)
    >>> earmark.Campaign(problem).forecast().frame().columns
    ['a', 'b', 'confidence', 'even', 'likely', 'left', 'chance_of_all']
    """
    which = _open_pairs(verdict.ranking, pairs)
    too_large = problem.inference.mode == "model" and problem.n_cells > _LARGEST
    if too_large and pairs is not None:
        raise ParameterError(f"no forecast is made above {_LARGEST:,} systems × items, there are {problem.n_cells:,}")
    if too_large or not which.size:
        return Forecast((), problem.inference)
    forecast = _by_design if problem.inference.mode == "design" else _by_model
    return Forecast(tuple(forecast(problem, beliefs, verdict, which)), problem.inference)


def _open_pairs(ranking: Ranking, wanted: Sequence[tuple[str, str]] | None) -> Ints:
    """Return the open ones of the pairs that are wanted, in the order of the ranking."""
    estimates = ranking.estimates
    place = np.empty(len(estimates.systems), dtype=np.int64)
    place[np.argsort(ranking.rank, kind="stable")] = np.arange(place.size)
    first, second = (
        np.minimum(place[estimates.a], place[estimates.b]),
        np.maximum(place[estimates.a], place[estimates.b]),
    )
    if wanted is None:
        chosen = (second - first == 1) | ((first == 0) & (second <= _RIVALS))
    else:
        at = {name: index for index, name in enumerate(estimates.systems)}
        unknown = [name for pair in wanted for name in pair if name not in at]
        if unknown:
            raise ParameterError(f"there is no system '{unknown[0]}' to look ahead for")
        asked = {frozenset((at[a], at[b])) for a, b in wanted}
        chosen = np.array([frozenset(pair) in asked for pair in zip(estimates.a, estimates.b, strict=True)], dtype=bool)
    found = np.flatnonzero(chosen & ranking.compared & ~ranking.confident(ranking.level))
    return found[np.lexsort((second[found], first[found]))]


def _posteriors(
    verdict: Verdict, plain: Estimates, which: Ints, inference: Inference, growth: Callable[[Ints], Floats | None]
) -> list[OpenPair]:
    """Return the posterior of every pair's difference; `plain` are estimates about the queries at hand."""
    told = verdict.ranking.estimates
    own_df = plain.differences.df
    return [
        OpenPair(
            float(told.differences.mean[pair]),
            float(plain.differences.variance[pair]),
            (None if own_df is None else float(own_df[pair])) or verdict.ranking.df,
            verdict.ranking.level,
            max(float(told.differences.variance[pair] - plain.differences.variance[pair]), 0.0)
            if inference.target == "population"
            else 0.0,
            told.queries,
            growth,
        )
        for pair in which
    ]


def _by_model(problem: Problem, beliefs: Beliefs, verdict: Verdict, which: Ints) -> list[PairForecast]:
    inference, estimates = problem.inference, verdict.ranking.estimates
    plain = problem.verdicts.by_model(beliefs).estimates if inference.target == "population" else estimates
    grown = _growth(inference, judged=estimates.judged, items=estimates.items)
    difference = _difference_weights(problem, estimates, which)
    ahead, noise = beliefs.lookahead(difference), _noise(beliefs)
    farthest = max(_AT_LEAST, min(FARTHEST, _IN_ALL // which.size))
    found = []
    for row, (pair, posterior) in enumerate(
        zip(which, _posteriors(verdict, plain, which, inference, grown), strict=True)
    ):
        items = np.flatnonzero((difference[row] != 0) & (ahead.variance > 0))
        path = VariancePath(ahead.narrowed(row, items), noise, farthest)
        end = np.array([0.0])
        # Where a judged gain is the truth, nothing is left once all are judged: no need to go there.
        of_all = 0.0 if noise else float(posterior.chance(np.array([items.size]), end)[0])
        goal = LIKELY if noise or of_all >= LIKELY else EVEN
        judgments, chance = np.zeros(1, dtype=np.int64), posterior.chance(np.zeros(1, dtype=np.int64), np.ones(1))
        while items.size and (noise or of_all >= goal) and chance[-1] < goal and path.go_on():
            judgments = np.arange(len(path.remaining))
            chance = posterior.chance(judgments, np.array(path.remaining))
        if noise:
            of_all = float(chance[-1])
        found.append(
            PairForecast(
                *_names(estimates, pair),
                float(verdict.ranking.confidence[pair]),
                items.size,
                judgments,
                chance,
                of_all,
                items[path.taken],
                not noise,
            )
        )
    return found


def _noise(beliefs: Beliefs) -> float:
    """Return the variance of one assessor's answer about the gain, as a share of the top; 0 where it is the truth."""
    return beliefs.observed.answer_variance(beliefs.variances) if isinstance(beliefs, CorrelatedBeliefs) else 0.0


def _difference_weights(problem: Problem, estimates: Estimates, which: Ints) -> Floats:
    """Return what every item's gain adds to the differences, shape (pairs, items)."""
    measure = problem.measure
    linear = measure if measure.is_linear else DCG(cutoff=measure.cutoff or 10)
    weights = system_weights(problem.collection, linear, scale=problem.scale)
    apart = weights[estimates.a[which]] - weights[estimates.b[which]]
    return np.asarray(apart.toarray(), dtype=np.float64)


def _by_design(problem: Problem, beliefs: Beliefs, verdict: Verdict, which: Ints) -> list[PairForecast]:
    inference, estimates = problem.inference, verdict.ranking.estimates
    plain = problem.verdicts.by_design(beliefs).estimates if inference.target == "population" else estimates
    # How many units are sampled after every step, of how many, and which items that takes.
    if inference.whole_queries:
        order = problem.verdicts.query_order
        sampled, units = order.complete(beliefs.judged).size, order.queries.size
        sizes = np.bincount(order.item_query[~beliefs.judged], minlength=units)[order.queries[sampled:]]
        rest = order.order[np.isin(order.item_query[order.order], order.queries[sampled:])]
        growth = _growth(inference, judged=estimates.judged, items=estimates.items)
    else:
        listed = problem.verdicts.sampling
        drawn, units = listed.drawn(beliefs.judged), listed.n_needed
        sampled, rest = drawn.n, listed.order[:units][~drawn.sampled[listed.order[:units]]]
        sizes = (~beliefs.judged[rest]).astype(np.int64)
        growth = _growth(inference, judged=sampled, items=units)
    rest = rest[~beliefs.judged[rest]]
    judgments = np.concatenate(([0], np.cumsum(sizes)))
    reached = sampled + np.arange(judgments.size)
    remaining = (1.0 / reached - 1.0 / units) / (1.0 / sampled - 1.0 / units) if units > sampled else np.ones(1)
    found = []
    for pair, posterior in zip(which, _posteriors(verdict, plain, which, inference, growth), strict=True):
        chance = posterior.chance(judgments, remaining, df_growth=reached / sampled)
        found.append(
            PairForecast(
                *_names(estimates, pair),
                float(verdict.ranking.confidence[pair]),
                rest.size,
                judgments,
                chance,
                float(chance[-1]),
                rest,
            )
        )
    return found


def _growth(inference: Inference, *, judged: int, items: int) -> Callable[[Ints], Floats | None]:
    """Return how much more is known after more judgments than at the first look, where the rule depends on it."""
    if not inference.anytime:
        return lambda _: None
    first = min(FIRST_LOOK, items)

    def grown(judgments: Ints) -> Floats:
        counts = np.minimum(judged + judgments, items)
        return np.array([float(AnyTime.by_count(int(count), items=items, first=first).scores) for count in counts])

    return grown


def _names(estimates: Estimates, pair: np.int64) -> tuple[str, str]:
    """Return the two systems, the one that looks better first."""
    a, b = estimates.systems[estimates.a[pair]], estimates.systems[estimates.b[pair]]
    ahead = estimates.differences.mean[pair] * (1 if estimates.measure.higher_is_better else -1) >= 0
    return (a, b) if ahead else (b, a)
