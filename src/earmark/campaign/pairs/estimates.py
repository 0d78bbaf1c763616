r"""Preference precision of systems while only some pairs of documents have been answered, with intervals.

The quantity that is estimated is the preference precision (:mod:`earmark.measures.preference_precision`) that systems
will have once every candidate pair has its full number of answers: the share of the pairs with a preferred document
that a system orders correctly. The verdict on a pair with all its answers is known. For any other pair, the
probabilities that the first document, the second or neither will be preferred follow from the model
(:mod:`earmark.campaign.pairs.model`) and from the answers it has.

With :math:`w_p` for *the document that system A ranks higher will be preferred* and :math:`t_p` for *either will be*,
the precision :math:`R = \sum_p w_p / \sum_p t_p` is estimated by the quotient of the expectations, and its error is

.. math:: R - \hat R \approx \sum_p e_p, \qquad e_p = (w_p - \hat R\, t_p) / E\Bigl[\sum t_p\Bigr]

The errors of two pairs are correlated because their :math:`\eta` are: with :math:`h_p` for the mean slope of
:math:`E[e_p \mid \eta_p]`,

.. math:: Cov(e_p, e_{p'}) \approx h_p\, h_{p'}\, Cov(\eta_p, \eta_{p'})

which is exact to first order in the correlation, while :math:`Var[e_p]` is exact. The difference of two systems has
:math:`e^A_p - e^B_p`: pairs that both order alike nearly cancel out. A system none of whose pairs can get a preferred
document has precision ½.

The people who answered are a sample: :mod:`earmark.campaign.pairs.people` adds the variance that others would have
answered, with its own degrees of freedom. Answers of one person say nothing about others.

Intervals and confidences use Student's t with one degree of freedom less than there are queries (but at least one),
because the standard deviations of effects are estimated from that many. On the recorded answers of a real crowd about
melodies, with simulated systems and 11 queries, 92 to 100 of 100 such intervals held at 20 to 120 of 281 questions,
with the normal distribution 87 to 99. Once the only pairs left are those that all systems order alike, intervals of
differences are about ±.001 and hold 75 times of 100: the model does not know that some queries have more ties than
others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from earmark.beliefs.estimates import Estimates, Moments, all_pairs, without_noise
from earmark.campaign.pairs.candidates import PairAnswers
from earmark.campaign.pairs.model import NODE_WEIGHTS, NODES, PairPosterior
from earmark.campaign.pairs.people import people_variance, total_df
from earmark.crowd.davidson import log_likelihood, verdict_probabilities
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures.base import Measure
from earmark.wording import counted

MOST_NEEDED = 1000
"""How many answers a question may wait for: the time to foresee its verdict grows with them."""
# Verdict probabilities are tabulated; differences of scores beyond the ends decide practically every answer.
_AXIS: Floats = np.linspace(-30.0, 30.0, 1201)
# Precisions are rounded to this many digits, and smaller variances are taken for 0: both are rounding errors.
_DIGITS, _ROUNDING = 13, 1e-13


@dataclass(frozen=True, repr=False)
class PairPrecision(Measure):
    """The name of what is estimated: preference precision over all candidate pairs. A single list has no score."""

    name: ClassVar[str] = "preference precision"


@dataclass(frozen=True, eq=False)
class Verdicts:
    r"""What the verdict on every pair will be when all answers are there; arrays of shape (pairs,).

    Attributes
    ----------
    first, second : ndarray of float, 0..1
        The probability that the first document will be preferred, and that the second will; 0 for unfinished pairs that
        count for no system.
    first_slope, second_slope : ndarray of float
        How either changes with :math:`\eta_p`: its covariance with it over the variance.
    left : ndarray of int
        How many answers are still to come.
    """

    first: Floats
    second: Floats
    first_slope: Floats
    second_slope: Floats
    left: Ints


def predict_verdicts(posterior: PairPosterior, answers: PairAnswers, *, needed: int) -> Verdicts:
    r"""Predict the verdict on every pair.

    Given the answers to other pairs, :math:`d_p \sim N(m, v + \tau^2)`. The likelihood of the pair's own answers weighs
    this distribution, and the answers still to come are independent given :math:`d_p`.

    Parameters
    ----------
    posterior : PairPosterior
        Of all pairs.
    answers : PairAnswers
        The answers so far.
    needed : int, 1 or more
        How many answers a pair gets.
    """
    if needed < 1:
        raise ParameterError(f"a question needs 1 answer or more, got {needed}")
    if needed > MOST_NEEDED:
        raise ParameterError(f"a question takes at most {MOST_NEEDED:,} answers, got {needed:,}")
    left = np.maximum(needed - answers.total, 0)
    first, second = (answers.lead > 0).astype(np.float64), (answers.lead < 0).astype(np.float64)
    first_slope, second_slope = np.zeros((2, left.size))
    unfinished = np.flatnonzero((left > 0) & posterior.design.matters)
    # The normal approximation to the pair's own likelihood is removed from the posterior; the exact one follows below.
    information, variance = posterior.information[unfinished], posterior.variance[unfinished]
    others_variance = variance / np.maximum(1.0 - information * variance, 1e-9)
    mean = posterior.mean[unfinished]
    mean = others_variance * (mean / variance - information * mean - posterior.slope[unfinished])
    total_variance = others_variance + posterior.sds.pair**2
    difference = mean[:, None] + np.sqrt(total_variance)[:, None] * NODES
    firsts, seconds, sames = (count[unfinished, None] for count in (answers.first, answers.second, answers.same))
    height = log_likelihood(difference, firsts, seconds, sames, posterior.same_weight)
    weight = NODE_WEIGHTS * np.exp(height - height.max(axis=1, keepdims=True, initial=-np.inf))
    weight /= weight.sum(axis=1, keepdims=True)
    from_mean = difference - (weight * difference).sum(axis=1, keepdims=True)
    share = others_variance / (total_variance * variance)
    lead_and_left = np.stack((answers.lead, left), axis=1)[unfinished]
    for lead, to_come in np.unique(lead_and_left, axis=0):
        these = np.flatnonzero(np.all(lead_and_left == (lead, to_come), axis=1))
        tables = verdict_probabilities(_AXIS, int(lead), int(to_come), posterior.same_weight)
        for table, chance, slope in zip(tables, (first, second), (first_slope, second_slope), strict=True):
            weighted = weight[these] * np.interp(difference[these], _AXIS, table)
            chance[unfinished[these]] = weighted.sum(axis=1)
            slope[unfinished[these]] = share[these] * (weighted * from_mean[these]).sum(axis=1)
    return Verdicts(first, second, first_slope, second_slope, left)


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceEstimates(Display):
    """The estimated preference precision of systems, and what it is made of.

    Attributes
    ----------
    ranking : Ranking
        The systems in order, with intervals and confidence; its items are the candidate pairs, and a pair with all its
        answers is a judged one (answers that are spread over more pairs count as so many whole ones).
    posterior : PairPosterior
        Of all pairs.
    verdicts : Verdicts
        What follows for the verdict on each.
    first_weight, second_weight : ndarray of float, shape (systems, pairs)
        What the verdict *first* on a pair adds to the error of a system, and the verdict *second*.
    slope : ndarray of float, shape (systems, pairs)
        How the expected error of a pair changes with its expected difference.
    with_pairs : ndarray of float, shape (systems, pairs)
        The covariance of the error of a system with the expected difference of each pair.
    answered : int
        How many answers there are.
    people : int
        How many people gave them, of those who are known.
    preferred_here : ndarray of bool, shape (pairs,)
        Which pairs of systems are decided if the same people answer the rest, while it is open whether others would.
    """

    ranking: Ranking
    posterior: PairPosterior
    verdicts: Verdicts
    first_weight: Floats
    second_weight: Floats
    slope: Floats
    with_pairs: Floats
    answered: int
    people: int
    preferred_here: Bools

    def systems_frame(self) -> pl.DataFrame:
        """One row per system, best first: ``kind``, ``system``, ``precision``, bounds, ``rank`` and ``pairs``."""
        design = self.posterior.design
        pairs = {"system": pl.Series(design.systems, dtype=pl.String), "pairs": np.count_nonzero(design.order, axis=1)}
        systems = self.ranking.systems_frame().rename({"estimate": "precision"})
        return systems.join(pl.DataFrame(pairs), on="system", maintain_order="left")

    def summary(self) -> dict[str, Any]:
        """``kind``, ``answers``, ``questions``, ``candidates``, ``mean_confidence``, ``min_confidence``."""
        return {
            "kind": "summary",
            "answers": self.answered,
            "questions": self.ranking.estimates.judged,
            "candidates": self.ranking.estimates.items,
            "mean_confidence": self.ranking.mean_confidence,
            "min_confidence": self.ranking.min_confidence,
        }

    def notes(self) -> list[str]:
        """Say whom the ranking is about, and what it takes each pair of systems for."""
        notes = []
        if self.people == 1:
            notes.append(
                "about answers of the 1 person who answered: what others prefer is open, that takes more people"
            )
        elif self.people:
            notes.append(f"about answers of people like the {self.people:,} who answered")
        estimates, names = self.ranking.estimates, self.ranking.estimates.systems
        for pair in np.flatnonzero(self.preferred_here):
            a, b = names[estimates.a[pair]], names[estimates.b[pair]]
            better, worse = (a, b) if estimates.differences.mean[pair] > 0 else (b, a)
            notes.append(
                f"{counted(self.people, 'person', 'people')} prefer {better} to {worse}; "
                "whether others do is open: that takes more people"
            )
        if np.count_nonzero(self.ranking.compared) > 1:
            notes.append("each pair of systems by itself: confidence is not adjusted for the number of pairs")
        return notes

    def _summary(self) -> Summary:
        """Show the ranking."""
        shown = self.ranking._summary()
        return Summary(shown.sentence, shown.sheets, [*shown.notes, *self.notes()])


def estimate_precision(
    posterior: PairPosterior, answers: PairAnswers, *, needed: int, level: float = 0.95
) -> PreferenceEstimates:
    """Estimate the preference precision of all systems over all candidate pairs.

    Parameters
    ----------
    posterior : PairPosterior
        Of all pairs.
    answers : PairAnswers
        The answers so far; pairs with the full number are known.
    needed : int
        How many answers a pair gets.
    level : float, in (0, 1)
        The probability that each interval holds.
    """
    design = posterior.design
    order = design.order
    verdicts = predict_verdicts(posterior, answers, needed=needed)
    first_right, second_right = order > 0, order < 0
    whole = (order != 0) @ (verdicts.first + verdicts.second)
    right = first_right @ verdicts.first + second_right @ verdicts.second
    mean = np.round(np.divide(right, whole, out=np.full(whole.size, 0.5), where=whole > 0), _DIGITS)
    size = np.where(whole > 0, whole, np.inf)[:, None]
    first_weight, second_weight = (
        (order != 0) * (correct - mean[:, None]) / size for correct in (first_right, second_right)
    )
    expected = first_weight * verdicts.first + second_weight * verdicts.second
    own = (first_weight * verdicts.first) @ first_weight.T + (second_weight * verdicts.second) @ second_weight.T
    slope = first_weight * verdicts.first_slope + second_weight * verdicts.second_slope
    with_pairs, together = posterior.covariance_with(slope)
    covariance = own - expected @ expected.T + together - (slope * posterior.variance) @ slope.T
    a, b = all_pairs(order.shape[0])
    variance = np.diag(covariance)
    df = max(design.queries.size - 1, 1)
    difference = without_noise(mean[a] - mean[b], mean)
    apart = _positive(variance[a] + variance[b] - 2 * covariance[a, b])

    def with_people(variance: Floats, contrasts: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        people, people_df = people_variance(posterior, answers, contrasts, covariance)
        return variance + people, total_df(variance, df, people, people_df)

    score_variance, score_df = with_people(_positive(variance), order.astype(np.float64), with_pairs)
    apart_variance, apart_df = with_people(apart, (order[a] - order[b]) / 2, with_pairs[a] - with_pairs[b])
    estimates = Estimates(
        systems=design.systems,
        measure=PairPrecision(),
        scores=Moments.exact(mean, score_variance, df=score_df),
        a=a,
        b=b,
        differences=Moments.exact(difference, apart_variance, df=apart_df),
        identical=np.all(order[a] == order[b], axis=1),
        queries=design.queries.size,
        items=len(design.pairs),
        judged=int(np.minimum(answers.total, needed).sum()) // needed,
    )
    ranking = rank_systems(estimates, level=level, df=df)
    # The same without the variance of people: what holds if the people who answered answer the rest.
    here = rank_systems(replace(estimates, differences=Moments.exact(difference, apart)), level=level, df=df)
    return PreferenceEstimates(
        ranking,
        posterior,
        verdicts,
        first_weight,
        second_weight,
        slope,
        with_pairs,
        len(answers),
        answers.n_people,
        here.decided(level) & ~ranking.decided(level),
    )


def _positive(variance: Floats) -> Floats:
    """Return variances without rounding errors: tiny and negative ones are 0."""
    positive: Floats = np.where(variance > _ROUNDING, variance, 0.0)
    return positive
