r"""From estimates to statements: which system is better, how sure is that, and how far apart are they.

The difference of two systems is a sum over many queries, hence about normal whatever the gains look like. With its mean
:math:`E` and variance :math:`V`, system A is worse than B with probability
:math:`P(\Delta \le 0) = \Phi(-E / \sqrt V)`, and the confidence in the sign of the difference is

.. math:: C_{AB} = \max\bigl(P(\Delta \le 0),\; 1 - P(\Delta \le 0)\bigr)

(MTC, Eqs. 6 and 7; BIAS, Eq. 2.18. Both print the probability without the minus, which the maximum hides). BIAS uses
Student's t with queries − 1 degrees of freedom in place of the normal distribution: the argument `df`.

Conventions where the formulas are silent:

- *No variance.* A difference that is known exactly has confidence 1, and .5 if it is exactly 0: a tie speaks for
  neither.
- *Identical lists.* A pair that cannot differ whatever the gains is no question at all: it is listed apart and has no
  part in the mean or the least confidence.
- *Nothing to compare.* One system alone, or identical ones only, have no confidence: it is None, never NaN. Nothing
  is then left to decide, so every demand on confidence counts as met.
- *Intervals* are those of the normal (or t) distribution and are not cut at the ends of the measure's range.
- *Repeated looks.* All of this holds at one look. With `growth`, the ratio of the information now to that of the first
  look, intervals are wider and confidences lower so that they hold at all looks together
  (:mod:`earmark.inference.confidence_sequences`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from earmark.beliefs.estimates import Estimates, Moments
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.inference.headline import headline, how_decided, may_be_best
from earmark.inference.intervals import interval, probability_better, sign_confidence
from earmark.inference.premises import FailedPremise, withholding
from earmark.wording import in_percent

_LEAST_DOUBT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Display):
    """What estimates say: systems in order, and how sure the order of every two of them is.

    Attributes
    ----------
    estimates : Estimates
        What all of it rests on.
    level : float
        The probability that each interval holds.
    df : float or None
        Degrees of freedom of Student's t wherever the estimates do not bring their own.
    low, high : ndarray of float, shape (systems,)
        Interval of every system's score.
    rank : ndarray of int, shape (systems,)
        1 for the best; systems with equal estimates share the best rank among them.
    difference_low, difference_high : ndarray of float, shape (pairs,)
        Interval of score of `a` minus score of `b`.
    better : ndarray of float, shape (pairs,), 0..1
        The probability that system `a` is better than system `b`.
    confidence : ndarray of float, shape (pairs,), .5..1
        Confidence in the order of the two; identical pairs have .5 here and do not count.
    anytime : AnyTime or None
        Where intervals and confidences hold at all looks together: how much more is known than at the first.
    failed : tuple of FailedPremise
        Premises that do not hold, the gravest first: with some of them, no pair is decided and nothing is sure.
    """

    estimates: Estimates
    level: float
    df: float | None
    low: Floats
    high: Floats
    rank: Ints
    difference_low: Floats
    difference_high: Floats
    better: Floats
    confidence: Floats
    anytime: AnyTime | None = None
    failed: tuple[FailedPremise, ...] = ()

    @property
    def withheld(self) -> FailedPremise | None:
        """The premise for want of which nothing is called sure or decided; None where all such premises hold."""
        return withholding(self.failed)

    @property
    def merit(self) -> Floats:
        """The estimated scores, turned round where lower is better, shape (systems,)."""
        mean = self.estimates.scores.mean
        return mean if self.estimates.measure.higher_is_better else -mean

    @property
    def compared(self) -> Bools:
        """Which pairs there is anything to say about: all but identical ones, shape (pairs,)."""
        return ~self.estimates.identical

    @cached_property
    def mean_confidence(self) -> float | None:
        """MTC's confidence in the ranking: the mean over compared pairs; None where there are none."""
        confidence = self.confidence[self.compared]
        return float(confidence.mean()) if confidence.size else None

    @cached_property
    def min_confidence(self) -> float | None:
        """The least confidence among compared pairs; None where there are none."""
        confidence = self.confidence[self.compared]
        return float(confidence.min()) if confidence.size else None

    def confident(self, target: float = 0.95) -> Bools:
        """Tell which pairs have a confidence of at least the target, shape (pairs,); identical ones have none."""
        return self.compared & (self.confidence >= target)

    def between(self, one: str, other: str) -> Bools:
        """Tell which pair is that of two systems, shape (pairs,).

        Raises
        ------
        ParameterError
            If there is no such system, or the two return the same results within the cutoff.
        """
        systems = self.estimates.systems
        for name in (one, other):
            if name not in systems:
                raise ParameterError(f"there is no system '{name}': there are {', '.join(systems)}")
        ends = {systems.index(one), systems.index(other)}
        both = np.isin(self.estimates.a, list(ends)) & np.isin(self.estimates.b, list(ends))
        if not np.any(both & self.compared):
            raise ParameterError(f"{one} and {other} cannot differ: they return the same results within the cutoff")
        return both

    def decided(self, target: float = 0.95) -> Bools:
        """Tell which pairs are decided: confident, in a verdict whose premises hold, shape (pairs,).

        This is the only rule for a pair of systems; :meth:`comparisons_frame` has the bound that belongs to it.
        """
        return self.confident(target) if self.withheld is None else np.zeros(self.confidence.size, dtype=bool)

    def decided_share(self, target: float = 0.95) -> float:
        """Share of the compared pairs that are decided, 0..1; 1 where there are none, as nothing is undecided."""
        compared = self.compared
        return float(self.decided(target)[compared].mean()) if compared.any() else 1.0

    def reaches(self, target: float, *, least: bool = False) -> bool:
        """Tell whether the mean (or the least) confidence is at least the target; true with nothing to compare."""
        reached = self.min_confidence if least else self.mean_confidence
        return reached is None or reached >= target

    def beats_by(self, margin: float) -> Floats:
        """Probability that `a` is better than `b` by at least a margin, shape (pairs,).

        `a` and `b` exchanged, it is ``1 - beats_by(-margin)``.
        """
        differences = self.estimates.differences
        return probability_better(
            _advantage(self.estimates),
            differences.variance,
            margin=margin,
            df=_df_of(differences, self.df),
            growth=None if self.anytime is None else self.anytime.differences,
        )

    @property
    def identical_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of systems that cannot differ whatever the gains, listed apart from all others."""
        names = self.estimates.systems
        same = np.flatnonzero(self.estimates.identical)
        return tuple((names[self.estimates.a[pair]], names[self.estimates.b[pair]]) for pair in same)

    def systems_frame(self) -> pl.DataFrame:
        """One row per system, best first: ``kind``, ``system``, ``estimate``, ``low``, ``high``, ``rank``.

        An interval goes no further than the measure's range: beyond it there is nothing to hold.
        """
        low, high = _within(self.low, self.high, self.estimates.scores.mean, *self.estimates.measure.range)
        frame = pl.DataFrame(
            {
                "kind": pl.repeat("system", len(self.estimates.systems), eager=True),
                "system": pl.Series(self.estimates.systems, dtype=pl.String),
                "estimate": self.estimates.scores.mean,
                "low": low,
                "high": high,
                "rank": self.rank,
            }
        )
        return frame.sort("rank", maintain_order=True)

    def pairs_frame(self) -> pl.DataFrame:
        """One row per compared pair: ``kind``, ``a``, ``b``, ``difference``, ``low``, ``high``, ``confidence``."""
        least, most = self.estimates.measure.range
        farthest = most - least
        difference = self.estimates.differences.mean
        low, high = _within(self.difference_low, self.difference_high, difference, -farthest, farthest)
        names = pl.Series(self.estimates.systems, dtype=pl.String)
        frame = pl.DataFrame(
            {
                "kind": pl.repeat("pair", self.confidence.size, dtype=pl.String, eager=True),
                "a": names.gather(self.estimates.a),
                "b": names.gather(self.estimates.b),
                "difference": difference,
                "low": low,
                "high": high,
                "confidence": self.confidence,
            }
        )
        return frame.filter(pl.Series(self.compared))

    def comparisons_frame(self) -> pl.DataFrame:
        """One row per compared pair, the system with the better estimate first, with the rule by which it is decided.

        A pair is decided when its confidence is at least the level c. That is a statement about one side, the sign of
        the difference, and the same as ``at_least >= 0``: the difference is larger than ``at_least`` with probability
        c. The interval from ``low`` to ``high`` has two sides, is wider, and may contain 0 where the pair is decided.

        Returns
        -------
        polars.DataFrame
            ``a``, ``b``, ``difference`` (by how much `a` is better, 0 or more whether higher or lower scores are
            better), ``low`` and ``high`` (its interval), ``at_least`` (its bound on one side), ``confidence``,
            ``decided``; in the order of :meth:`pairs_frame`.
        """
        estimates, advantage = self.estimates, _advantage(self.estimates)
        place = np.empty(len(estimates.systems), dtype=np.int64)
        place[np.argsort(self.rank, kind="stable")] = np.arange(place.size)
        turned = (advantage < 0) | ((advantage == 0) & (place[estimates.a] > place[estimates.b]))
        difference, spread = np.abs(advantage), estimates.differences.variance
        df, growth = _df_of(estimates.differences, self.df), None if self.anytime is None else self.anytime.differences
        low, _ = interval(difference, spread, level=self.level, df=df, growth=growth)
        bound = difference
        if self.level > 0.5:
            # A confidence of c in a sign is an interval of level 2c - 1 that ends at 0.
            bound, _ = interval(difference, spread, level=2.0 * self.level - 1.0, df=df, growth=growth)
        least, most = estimates.measure.range
        ends = _within(low, 2.0 * difference - low, difference, least - most, most - least)
        names = pl.Series(estimates.systems, dtype=pl.String)
        return pl.DataFrame(
            {
                "a": names.gather(np.where(turned, estimates.b, estimates.a)),
                "b": names.gather(np.where(turned, estimates.a, estimates.b)),
                "difference": difference,
                "low": ends[0],
                "high": ends[1],
                "at_least": np.maximum(bound, least - most),
                "confidence": self.confidence,
                "decided": self.decided(self.level),
            }
        ).filter(pl.Series(self.compared))

    def summary(self) -> dict[str, Any]:
        """``kind``, ``judged``, ``items``, ``mean_confidence``, ``min_confidence``, the last two None without pairs."""
        return {
            "kind": "summary",
            "judged": self.estimates.judged,
            "items": self.estimates.items,
            "mean_confidence": self.mean_confidence,
            "min_confidence": self.min_confidence,
        }

    def at_any_time(self, judged: int, items: int) -> Ranking | None:
        """Return the same ranking with statements that hold at all looks together; itself where they do already.

        Parameters
        ----------
        judged, items : int
            How many judgments the information grows with, of how many.

        Returns
        -------
        Ranking or None
            None before the first look, for which there is no guarantee (:data:`FIRST_LOOK`).
        """
        first = min(FIRST_LOOK, items)
        if self.anytime is not None:
            return self
        if not 0 < first <= judged:
            return None
        anytime = AnyTime.by_count(judged, items=items, first=first)
        return replace(rank_systems(self.estimates, level=self.level, df=self.df, anytime=anytime), failed=self.failed)

    @property
    def premise_notes(self) -> tuple[str, ...]:
        """What is to be said under a headline: which premises failed, in sentences."""
        return tuple(premise.note for premise in self.failed)

    def notes(self) -> list[str]:
        """Say in words how sure the ranking is, and which pairs it says nothing about."""
        of_items = f"{self.estimates.judged:,} of {self.estimates.items:,} items judged"
        if self.mean_confidence is None:
            said = [f"{of_items}, no two systems to compare"]
        else:
            mean, least = (in_percent(value) for value in (self.mean_confidence, self.min_confidence))
            said = [f"{of_items}, mean confidence {mean}, least {least}"]
        if self.anytime is not None:
            said.append("intervals and confidences hold at all looks together")
        if self.identical_pairs:
            listed = ", ".join(f"{a} and {b}" for a, b in self.identical_pairs)
            said.append(f"identical for {self.estimates.measure} and not compared: {listed}")
        return said

    def __str__(self) -> str:
        return "\n".join([str(self.systems_frame().drop("kind")), *self.notes()])

    def sentence(self) -> str:
        """Say who is the best, or who may be, in one sentence."""
        return headline(self)

    def _summary(self) -> Summary:
        """Show the verdict in words, the systems, and the pairs that are least sure."""
        measure = self.estimates.measure
        order = np.argsort(self.rank, kind="stable")
        systems = self.systems_frame().select("rank", "system", pl.col("estimate").alias(str(measure)), "low", "high")
        possible = pl.Series("may be the best", may_be_best(self)[order])
        level, sure = f"{100 * self.level:g}% intervals", f"{100 * self.level:g}% confidence"
        pairs = self.comparisons_frame().drop("low", "high", "decided").sort("confidence", maintain_order=True)
        shown = pl.Series("confidence", [in_percent(value) for value in pairs["confidence"]], dtype=pl.String)
        pairs = pairs.rename({"at_least": "at least"}).with_columns(shown)
        return Summary(
            self.sentence(),
            [
                DisplayTable(systems.with_columns(possible), f"{measure} with {level}", most=20),
                DisplayTable(
                    pairs.with_columns(shown),
                    f"By how much a is better, at least with {sure}; the least sure first",
                    most=5,
                ),
            ],
            [note for note in (*self.premise_notes, how_decided(self), *self.notes()) if note],
        )


def _within(low: Floats, high: Floats, estimate: Floats, least: float, most: float) -> tuple[Floats, Floats]:
    """Cut intervals at the ends of a range; an estimate from a sample may itself lie outside and stays in its own."""
    return np.minimum(np.maximum(low, least), estimate), np.maximum(np.minimum(high, most), estimate)


def rank_systems(
    estimates: Estimates, *, level: float = 0.95, df: float | None = None, anytime: AnyTime | None = None
) -> Ranking:
    """Rank systems by their estimated scores and say how sure the order of every two is.

    Parameters
    ----------
    estimates : Estimates
        Exact or by Monte Carlo.
    level : float, 0..1
        The probability that each interval holds.
    df : float, optional
        Degrees of freedom of Student's t for estimates that do not bring their own, as BIAS has it one less than there
        are queries; without it, the normal distribution.
    anytime : AnyTime, optional
        For intervals and confidences that hold at all looks together: how much more is known than at the first look.

    Examples
    --------
    >>> import earmark
    >>> from earmark.beliefs.beliefs import uniform_beliefs
    >>> from earmark.beliefs.exact_estimates import estimate_linear
    >>> from earmark.data.collection import Collection
    >>> lists = {"A": {"q": {"d1": 2, "d2": 1}}, "B": {"q": {"d1": 2, "d3": 1}}}
    >>> collection = Collection.from_runs(earmark.runs_from_dict(lists))
    >>> beliefs = uniform_beliefs(collection, scale=earmark.BINARY).with_judgments([1], [1.0])
    >>> ranking = rank_systems(estimate_linear(collection, beliefs, earmark.parse("AG@2")))
    >>> ranking.rank.tolist(), round(ranking.summary()["mean_confidence"], 3)
    ([1, 2], 0.841)
    """
    scores, differences = estimates.scores, estimates.differences
    growth, pair_growth = (None, None) if anytime is None else (anytime.scores, anytime.differences)
    low, high = interval(scores.mean, scores.variance, level=level, df=_df_of(scores, df), growth=growth)
    pair_df, spread = _df_of(differences, df), differences.variance
    difference_low, difference_high = interval(differences.mean, spread, level=level, df=pair_df, growth=pair_growth)
    merit = scores.mean if estimates.measure.higher_is_better else -scores.mean
    return Ranking(
        estimates=estimates,
        level=level,
        df=df,
        low=low,
        high=high,
        rank=np.searchsorted(np.sort(-merit), -merit).astype(np.int64) + 1,
        difference_low=difference_low,
        difference_high=difference_high,
        better=_in_doubt(probability_better(_advantage(estimates), spread, df=pair_df, growth=pair_growth), spread),
        confidence=_in_doubt(sign_confidence(differences.mean, spread, df=pair_df, growth=pair_growth), spread),
        anytime=anytime,
    )


def _in_doubt(chance: Floats, variance: Floats) -> Floats:
    """Keep a probability from being rounded to certainty where something is left to doubt."""
    return np.asarray(np.where(variance > 0, np.clip(chance, _LEAST_DOUBT, 1.0 - _LEAST_DOUBT), chance))


def _df_of(moments: Moments, df: float | None) -> Floats | float | None:
    return df if moments.df is None else moments.df


def _advantage(estimates: Estimates) -> Floats:
    """Return by how much `a` is better than `b`, shape (pairs,)."""
    return estimates.differences.mean if estimates.measure.higher_is_better else -estimates.differences.mean
