r"""What is still to be done: how many more judgments it takes until an open pair is probably decided.

How much a set of judgments teaches does not depend on what the assessors will say (:mod:`earmark.beliefs.lookahead`).
Choose the items one after the other, each the one that takes most off the variance of this pair's difference; the
variance then falls along a path :math:`v_0 > v_1 > \dots` that is known beforehand. What is not known is where the mean
will go. It moves by as much as is learnt: before judging, the mean after n judgments is

.. math:: m_n \sim \mathcal N(d,\; v_0 - v_n),

so that once everything is known it is the truth, of which :math:`\mathcal N(d, v_0)` is believed now. The pair is
decided at level c when :math:`|m_n| \ge z_c \sqrt{v_n}`, which therefore happens with probability

.. math:: P_n = \Phi\Bigl(\frac{d - z_c \sqrt{v_n}}{\sqrt{v_0 - v_n}}\Bigr)
              + \Phi\Bigl(\frac{-d - z_c \sqrt{v_n}}{\sqrt{v_0 - v_n}}\Bigr).

The first n with :math:`P_n \ge 1/2` is what one should be prepared for, the first with :math:`P_n \ge .9` what will
nearly surely do. Both are about one look, after so many judgments, and about judging for this pair alone; a campaign
that serves all pairs at once needs more for each and fewer in all.

What is put in place of these symbols:

- Where the variance itself is uncertain, Student's t with the degrees of freedom of the estimate stands for the normal
  distribution, in the rule and in the forecast. The path is that of the most probable variance components.
- About *queries like these*, the variance between queries stays however much is judged: some pairs are then out of
  reach, and only more queries part them.
- *At any time*, the rule gets stricter as more is known, by the same boundary as the ranking's.
- Where assessors disagree, one more answer leaves some doubt about its item. Every item counts for one more answer.
- A measure that is no weighted sum of gains has a path too: that of discounted cumulated gain, whose weights are not 0
  wherever two lists differ. Its share of the variance is taken off the measure's own.
- *By design* the sample goes on in its order, and the variance falls as that of a random sample does, with
  :math:`1/n - 1/N`. That leaves out what better predictions will save.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact import system_weights
from earmark.beliefs.lookahead import Lookahead
from earmark.campaign.appraisal import Appraiser, Inference, Verdict
from earmark.campaign.prospects import EVEN, LIKELY, Outlook, Prospect
from earmark.campaign.standing import Standing
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError
from earmark.inference.anytime import FIRST_LOOK, AnyTime
from earmark.inference.confidence import Ranking, interval
from earmark.measures import Measure
from earmark.measures.graded import DCG
from earmark.predictors.base import Setting

FARTHEST = 3000
"""So many judgments are looked ahead for a pair, not more; fewer where there are very many pairs."""

# In all, so that a report on many systems does not take minutes, and at least for every pair.
_IN_ALL, _AT_LEAST = 30_000, 200
# The first of a ranking is held against so many that follow.
_RIVALS = 20
# Between two checks whether a path went far enough.
_STRIDE = 32


def outlook(
    standing: Standing,
    inference: Inference | None = None,
    *,
    verdict: Verdict | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    seed: int = 0,
    samples: int = 1000,
) -> Outlook:
    """Say how many more judgments open pairs take.

    Parameters
    ----------
    standing : Standing
        The collection and what is believed about it.
    inference : Inference, optional
        How verdicts are reached; by default by the model, about these queries.
    verdict : Verdict, optional
        What the standing comes to by that inference, where it is known already.
    pairs : sequence of (str, str), optional
        Which pairs of systems; by default those that follow one another in the ranking, and the first with the twenty
        that follow. Pairs that are decided, or that cannot differ, are left out.
    seed, samples
        As for :meth:`~earmark.campaign.standing.Standing.appraiser`.

    Returns
    -------
    Outlook

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> outlook(earmark.stand(made.runs, measure="AG@5", metadata=made.metadata)).frame().columns
    ['a', 'b', 'confidence', 'even', 'likely', 'left', 'chance_of_all']
    """
    chosen = inference or Inference()
    appraiser = standing.appraiser(chosen, seed=seed, samples=samples)
    reached = verdict or appraiser.appraise(standing.beliefs)
    which = _open_pairs(reached.ranking, pairs)
    if not which.size:
        return Outlook((), chosen)
    ahead = (_by_design if chosen.mode == "design" else _by_model)(standing, appraiser, reached, which)
    return Outlook(tuple(ahead), chosen)


def chance_decided(
    difference: float,
    *,
    learnt: Floats,
    variance: Floats,
    level: float,
    df: float | None = None,
    later_df: Floats | None = None,
    growth: Floats | None = None,
) -> Floats:
    r"""Return the probability that a difference is decided after more was learnt, :math:`P_n`.

    Parameters
    ----------
    difference : float
        :math:`d`, what is expected of it now.
    learnt : ndarray of float, shape (steps,), 0 or more
        :math:`v_0 - v_n`, how much of its variance is gone.
    variance : ndarray of float, shape (steps,), 0 or more
        What the rule takes the variance to be then: :math:`v_n`, and whatever no judgment takes off.
    level : float, above .5 and below 1
        From which confidence on a pair is decided.
    df, later_df : float and ndarray of float, shape (steps,), optional
        Degrees of freedom of Student's t, now and then; without them, the normal distribution.
    growth : ndarray of float, shape (steps,), optional
        For a rule that holds at all looks together: the information then over that of the first look.

    Returns
    -------
    ndarray of float, shape (steps,), 0..1

    Examples
    --------
    >>> chance_decided(0.0, learnt=np.array([0.0, 0.9, 1.0]), variance=np.array([1.0, 0.1, 0.0]), level=0.95).round(2)
    array([0.  , 0.58, 1.  ])
    """
    # A confidence of c in a sign is an interval of level 2c - 1 that ends at 0.
    bar = interval(np.zeros_like(variance), variance, level=2.0 * level - 1.0, df=later_df, growth=growth)[1]
    moves = learnt > 0
    reach = np.sqrt(np.where(moves, learnt, 1.0))
    up, down = (difference - bar) / reach, (-difference - bar) / reach
    chance = special.ndtr(up) + special.ndtr(down) if df is None else special.stdtr(df, up) + special.stdtr(df, down)
    certain = (np.abs(difference) >= bar) & (difference != 0)
    return np.asarray(np.where(moves, np.minimum(chance, 1.0), certain), dtype=np.float64)


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
    found = np.flatnonzero(chosen & ranking.compared & ~ranking.decided(ranking.level))
    return found[np.lexsort((second[found], first[found]))]


@dataclass(frozen=True, eq=False)
class _Question:
    """One open pair: what is believed of its difference, and when it counts as decided."""

    difference: float
    variance: float
    df: float | None
    level: float
    between: float
    queries: int
    growth: Callable[[Ints], Floats | None]

    def chance(self, judgments: Ints, remaining: Floats, *, df_growth: Floats | None = None) -> Floats:
        """Return the chance of being decided when so much of the variance that judging takes off remains."""
        left = self.variance * remaining
        df = None if self.df is None else self.df * (np.ones(left.size) if df_growth is None else df_growth)
        if self.between > 0:
            # As the ranking combines both; once everything is judged, only the queries are few.
            parts = self.between**2 / (self.queries - 1) + (0.0 if df is None else left**2 / df)
            df = (left + self.between) ** 2 / parts
        return chance_decided(
            self.difference,
            learnt=self.variance - left,
            variance=left + self.between,
            level=self.level,
            df=self.df,
            later_df=df,
            growth=self.growth(judgments),
        )


def _questions(
    verdict: Verdict, plain: Estimates, which: Ints, inference: Inference, growth: Callable[[Ints], Floats | None]
) -> list[_Question]:
    """Put together what there is to ask of every pair; `plain` are estimates about the queries at hand."""
    told = verdict.ranking.estimates
    own_df = plain.differences.df
    return [
        _Question(
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


def _by_model(standing: Standing, appraiser: Appraiser, verdict: Verdict, which: Ints) -> list[Prospect]:
    beliefs, inference = standing.beliefs, appraiser.inference
    estimates = verdict.ranking.estimates
    plain = appraiser.by_model(beliefs).estimates if inference.target == "population" else estimates
    grown = _growth(inference, judged=estimates.judged, items=estimates.items)
    difference = _difference_weights(standing.setting, standing.measure, estimates, which)
    ahead, noise = beliefs.lookahead(difference), _noise(beliefs)
    farthest = max(_AT_LEAST, min(FARTHEST, _IN_ALL // which.size))
    found = []
    for row, (pair, question) in enumerate(
        zip(which, _questions(verdict, plain, which, inference, grown), strict=True)
    ):
        items = np.flatnonzero((difference[row] != 0) & (ahead.variance > 0))
        path = _Path(ahead.narrowed(row, items), noise, farthest)
        end = np.array([0.0])
        # Where a judged gain is the truth, nothing is left once all are judged: no need to go there.
        of_all = 0.0 if noise else float(question.chance(np.array([items.size]), end)[0])
        goal = LIKELY if noise or of_all >= LIKELY else EVEN
        judgments, chance = np.zeros(1, dtype=np.int64), question.chance(np.zeros(1, dtype=np.int64), np.ones(1))
        while items.size and (noise or of_all >= goal) and chance[-1] < goal and path.go_on():
            judgments = np.arange(len(path.remaining))
            chance = question.chance(judgments, np.array(path.remaining))
        if noise:
            of_all = float(chance[-1])
        found.append(
            Prospect(
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


class _Path:
    """Judgments in thought, each the one that takes most off the variance of one difference.

    Parameters
    ----------
    ahead : Lookahead
        On that difference alone.
    noise : float
        The variance of an answer about the gain.
    farthest : int
        How many judgments to make at most.

    Attributes
    ----------
    remaining : list of float
        The share of the variance that is left after every judgment, 1 at first.
    taken : list of int
        What was judged.
    """

    def __init__(self, ahead: Lookahead, noise: float, farthest: int) -> None:
        self._ahead, self._noise, self._farthest = ahead, noise, farthest
        self._open = np.ones(ahead.variance.size, dtype=bool)
        self._start = float(ahead.score_covariance[0, 0])
        self.remaining, self.taken = [1.0], list[int]()

    def go_on(self) -> bool:
        """Judge some more; tell whether there was anything to judge."""
        before = len(self.taken)
        for _ in range(min(_STRIDE, self._farthest - before)):
            covariance, variance = self._ahead.covariance[0], self._ahead.variance + self._noise
            worth = np.divide(covariance**2, variance, out=np.zeros_like(variance), where=self._open & (variance > 0))
            item = int(np.argmax(worth))
            if worth[item] <= 0:
                break
            self._ahead.judge(item, noise=self._noise)
            self._open[item] = False
            self.taken.append(item)
            self.remaining.append(max(float(self._ahead.score_covariance[0, 0]), 0.0) / self._start)
        return len(self.taken) > before


def _noise(beliefs: Beliefs) -> float:
    """Return the variance of one assessor's answer about the gain, as a share of the top; 0 where it is the truth."""
    if not isinstance(beliefs, CorrelatedBeliefs) or beliefs.observed.is_exact:
        return 0.0
    return float((beliefs.observed.extra @ beliefs.variances).mean())


def _difference_weights(setting: Setting, measure: Measure, estimates: Estimates, which: Ints) -> Floats:
    """Return what every item's gain adds to the differences, shape (pairs, items)."""
    linear = measure if measure.is_linear else DCG(cutoff=measure.cutoff or 10)
    weights = system_weights(setting.collection, linear, scale=setting.scale)
    apart = weights[estimates.a[which]] - weights[estimates.b[which]]
    return np.asarray(apart.toarray(), dtype=np.float64)


def _by_design(standing: Standing, appraiser: Appraiser, verdict: Verdict, which: Ints) -> list[Prospect]:
    beliefs, inference, estimates = standing.beliefs, appraiser.inference, verdict.ranking.estimates
    plain = appraiser.by_design(beliefs).estimates if inference.target == "population" else estimates
    # How many units are sampled after every step, of how many, and which items that takes.
    if inference.whole_queries:
        order = appraiser.query_order
        sampled, units = order.complete(beliefs.judged).size, order.queries.size
        sizes = np.bincount(order.item_query[~beliefs.judged], minlength=units)[order.queries[sampled:]]
        rest = order.order[np.isin(order.item_query[order.order], order.queries[sampled:])]
        growth = _growth(inference, judged=estimates.judged, items=estimates.items)
    else:
        listed = appraiser.item_order
        sampled, units = listed.prefix(beliefs.judged), listed.n_needed
        rest = listed.order[sampled:units]
        sizes = (~beliefs.judged[rest]).astype(np.int64)
        growth = _growth(inference, judged=sampled, items=units)
    rest = rest[~beliefs.judged[rest]]
    judgments = np.concatenate(([0], np.cumsum(sizes)))
    reached = sampled + np.arange(judgments.size)
    remaining = (1.0 / reached - 1.0 / units) / (1.0 / sampled - 1.0 / units) if units > sampled else np.ones(1)
    found = []
    for pair, question in zip(which, _questions(verdict, plain, which, inference, growth), strict=True):
        chance = question.chance(judgments, remaining, df_growth=reached / sampled)
        found.append(
            Prospect(
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
