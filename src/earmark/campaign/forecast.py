r"""Forecasts: how many more judgments it takes until an open pair is probably decided.

Judgments are made hypothetically in the order in which the campaign's policy asks for them, each as if those before it
had been judged; :mod:`earmark.campaign.decision_chance` gives the probability :math:`P_n` that a pair is decided after
n of them. The first n with :math:`P_n \ge 1/2` is the forecast ("even"), the first with :math:`P_n \ge .9` the cautious
one ("likely"). Both are about one look, after so many judgments. As answers come, a policy turns to what they leave
open; a forecast keeps to the order of now. Judging for one pair alone decides it sooner:
:meth:`~earmark.campaign.campaign.Campaign.propose` lists the items for a pair, and a forecast along them says how much.

- Where the variance itself is uncertain, Student's t with the degrees of freedom of the estimate replaces the normal
  distribution, in the rule and in the forecast. The path is that of the most probable variance components.
- About *queries like these*, the variance between queries remains however much is judged: some pairs then stay open
  whatever is judged, and only more queries decide them.
- *At any time*, the rule gets stricter as more is known, by the same boundary as the ranking's.
- Where assessors disagree, one more answer leaves some uncertainty about its item. Every unjudged item counts for one
  answer.
- For a measure that is not a weighted sum of gains, the share of variance that remains is that of discounted cumulated
  gain, and is applied to the measure's own variance.
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
from earmark.campaign.decision_chance import OpenPair, variance_along
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference, Verdict
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary, facts
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.measures.graded import DCG
from earmark.wording import counted, in_percent, percent

EVEN, LIKELY = 0.5, 0.9
"""Probabilities of being decided: as likely as not, and nearly surely."""

FARTHEST = 1000
"""So many judgments are forecast at most."""

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
        How many judgments are left in the campaign; 0 where none of them bears on the pair.
    judgments : ndarray of int, shape (steps,), ascending from 0
        How many more are made.
    chance : ndarray of float, shape (steps,), 0..1
        That the pair is decided then.
    chance_of_all : float, 0..1
        That the pair is decided once all that are left are made.
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
            [f"{note}{100 * LIKELY:g}%, in the order of the policy; left: all judgments of the campaign that are left"],
        )


def forecast_pairs(
    problem: Problem,
    beliefs: Beliefs,
    verdict: Verdict,
    path: Ints,
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
    path : ndarray of int
        The items that are judged next, the first first. By design none are needed: the sample goes on in its order.
    pairs : sequence of (str, str), optional
        Which pairs of systems; by default those that follow one another in the ranking, and the first with the twenty
        that follow. Pairs that are decided, or that cannot differ, are left out.

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError
        If there is no such system.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> problem = Problem.build(made.runs, measure="AG@5", metadata=made.metadata)
    >>> earmark.Campaign(problem).forecast().frame().columns
    ['a', 'b', 'confidence', 'even', 'likely', 'left', 'chance_of_all']
    """
    which = open_pairs(verdict.ranking, pairs)
    if not which.size:
        return Forecast((), problem.inference)
    forecasts = (
        _by_design(problem, beliefs, verdict, which)
        if problem.inference.mode == "design"
        else _by_model(problem, beliefs, verdict, which, path)
    )
    return Forecast(tuple(forecasts), problem.inference)


def can_look_ahead(problem: Problem) -> bool:
    """Tell whether a collection is small enough for forecasts by the model, which look at all items at once."""
    return problem.inference.mode == "design" or problem.n_cells <= _LARGEST


def open_pairs(ranking: Ranking, wanted: Sequence[tuple[str, str]] | None) -> Ints:
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


def _by_model(problem: Problem, beliefs: Beliefs, verdict: Verdict, which: Ints, path: Ints) -> list[PairForecast]:
    inference, estimates = problem.inference, verdict.ranking.estimates
    plain = problem.verdicts.by_model(beliefs).estimates if inference.target == "population" else estimates
    grown = _growth(inference, judged=estimates.judged, items=estimates.items)
    difference, noise = _difference_weights(problem, estimates, which), _noise(beliefs)
    ahead = beliefs.lookahead(difference)
    bears = np.any((difference != 0) & (ahead.variance > 0), axis=1)
    remaining = variance_along(ahead, path, noise)
    left = int(np.count_nonzero(~beliefs.judged))
    steps = np.arange(path.size + 1)
    forecasts = []
    for row, (pair, posterior) in enumerate(
        zip(which, _posteriors(verdict, plain, which, inference, grown), strict=True)
    ):
        chance = posterior.chance(steps, remaining[:, row])
        # Where a judged gain is the truth, nothing is left once all are judged: no need to go there.
        of_all = chance[-1] if noise else posterior.chance(np.array([left]), np.zeros(1))[0]
        forecasts.append(
            PairForecast(
                *_names(estimates, pair),
                float(verdict.ranking.confidence[pair]),
                left if bears[row] else 0,
                steps,
                chance,
                float(of_all),
                not noise,
            )
        )
    return forecasts


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
