r"""The share of queries that one of two systems wins: what the people who judged prefer, and what people like them do.

Somebody compares the lists of two systems for a query and says which is better. Answers of one person are alike, as
tastes differ, and so are answers about one query. So there are two statements, each with an interval:

**These people.** The share over queries like these, answered by the people who answered. Only queries vary.

**People like these.** The people are a sample too. With :math:`x_i` what the first system wins by answer i (1, ½ or 0),
and weights :math:`w_i` that sum to 1 and let each query count once, the variance of :math:`s = \sum w_i x_i` has a part
for queries and one for people (:func:`~earmark.inference.proportions.clustered_share`), and Student's t has the
effective number of people or of queries less 1 as degrees of freedom, whichever is smaller. The interval contains that
of these people. With one person it is [0, 1]: nothing is known about others.

Either interval holds at *one look*, or at *all looks* together:

- *One look*: the interval is a function of the answers, whatever their order. That of these people is the clustered
  one with queries as the only groups.
- *All looks*: that of these people is a confidence sequence (:mod:`earmark.inference.bounded_means`), and the quantile
  for people like these is wider by :math:`\sqrt{a^2 + \ln g} / z`, the boundary of
  :mod:`earmark.inference.confidence_sequences`, where g is the effective number of people over 2, at which there is a
  variance at all.

How often it was wrongly said that people like these prefer a system, in simulated comparisons with equal systems:
``tests/inference/test_shares_won.py``, printed by ``make slow``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.data.arrays import Bools, Floats, Ints
from earmark.inference.bounded_means import betting_confidence, betting_intervals
from earmark.inference.confidence_sequences import anytime_multiplier
from earmark.inference.proportions import ClusteredShare, clustered_share, effective_number, normal_quantile

EVEN = 0.5
"""The share won where neither of two systems is better."""


@dataclass(frozen=True, eq=False)
class ComparedAnswers:
    """Answers about two systems, in the order in which they were given.

    Parameters
    ----------
    won : ndarray of float, shape (answers,), in [0, 1]
        What the first system wins.
    assessor, query : ndarray of int, shape (answers,)
        Who answered, and about which query.
    """

    won: Floats
    assessor: Ints
    query: Ints

    @property
    def weight(self) -> Floats:
        """What each answer counts, so that every query counts 1."""
        _, place, answers = np.unique(self.query, return_inverse=True, return_counts=True)
        return np.asarray(1 / answers[place])

    @property
    def outcomes(self) -> Floats:
        """The mean of every query, in the order of first answers."""
        _, first, place, answers = np.unique(self.query, return_index=True, return_inverse=True, return_counts=True)
        return np.asarray(np.bincount(place, self.won, first.size) / answers)[np.argsort(first)]

    @property
    def n_assessors(self) -> int:
        """How many people answered."""
        return int(np.unique(self.assessor).size)


@dataclass(frozen=True, eq=False)
class SharesWon:
    """The share that the first of two systems wins, for every pair of systems.

    Attributes
    ----------
    share : ndarray of float, shape (pairs,), in [0, 1]
        NaN where nobody answered.
    low, high : ndarray of float, shape (pairs,), in [0, 1]
        The interval for people like these; [0, 1] with fewer than two people.
    confidence : ndarray of float, shape (pairs,), in [.5, 1]
        That the share for people like these is not ½; it reaches the level where the interval excludes ½.
    these_low, these_high : ndarray of float, shape (pairs,), in [0, 1]
        The interval for these people.
    assessors : ndarray of int, shape (pairs,)
        How many people answered.
    """

    share: Floats
    low: Floats
    high: Floats
    confidence: Floats
    these_low: Floats
    these_high: Floats
    assessors: Ints

    @property
    def decided(self) -> Bools:
        """For which pairs the interval for people like these excludes ½."""
        return _excludes_even(self.low, self.high)

    @property
    def preferred_here(self) -> Bools:
        """For which pairs the interval for these people excludes ½."""
        return _excludes_even(self.these_low, self.these_high)


def shares_won(pairs: Sequence[ComparedAnswers], *, level: float = 0.95, anytime: bool = True) -> SharesWon:
    """Return the share that the first system wins in every pair, and how sure that is.

    Parameters
    ----------
    pairs : sequence of ComparedAnswers
        One for every pair of systems; there may be no answers.
    level : float, in (0, 1)
        Of the interval of each pair.
    anytime : bool
        Whether intervals hold at all looks together; else at one, and the order of answers changes nothing.

    Examples
    --------
    >>> won, query = np.tile([1.0, 1.0, 0.0], 40), np.arange(120)
    >>> few, many = (ComparedAnswers(won, query % people, query) for people in (2, 40))
    >>> found = shares_won([few, many], anytime=False)
    >>> found.preferred_here.tolist(), found.decided.tolist()
    ([True, True], [False, True])
    """
    share = np.array([_share(answers) for answers in pairs], dtype=np.float64)
    here = _these_people(pairs, level, anytime)
    others = np.array([_people_like_these(answers, level, anytime) for answers in pairs]).reshape(-1, 3)
    return SharesWon(
        share,
        np.minimum(others[:, 0], here[:, 0]),
        np.maximum(others[:, 1], here[:, 1]),
        np.minimum(others[:, 2], here[:, 2]),
        here[:, 0],
        here[:, 1],
        np.array([answers.n_assessors for answers in pairs], dtype=np.int64),
    )


def _share(answers: ComparedAnswers) -> float:
    return float(answers.outcomes.mean()) if answers.won.size else np.nan


def _these_people(pairs: Sequence[ComparedAnswers], level: float, anytime: bool) -> Floats:
    """Return low, high and confidence of every pair for the people who answered."""
    if anytime:
        outcomes = [answers.outcomes for answers in pairs]
        low, high = betting_intervals(outcomes, level=level)
        return np.stack((low, high, betting_confidence(outcomes, EVEN, level=level)), axis=1)
    rows = [
        _row(clustered_share(answers.won, answers.weight, answers.query, answers.query, null=EVEN, level=level))
        for answers in pairs
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _people_like_these(answers: ComparedAnswers, level: float, anytime: bool) -> tuple[float, float, float]:
    """Return low, high and confidence for people and queries like those of the answers."""
    wider = 1.0
    if anytime and answers.won.size:
        people = effective_number(answers.assessor, answers.weight)
        wider = float(anytime_multiplier(max(people / 2, 1.0), level=level)) / normal_quantile(level)
    return _row(
        clustered_share(
            answers.won, answers.weight, answers.assessor, answers.query, null=EVEN, level=level, wider=wider
        )
    )


def _row(share: ClusteredShare) -> tuple[float, float, float]:
    """Return low, high and confidence; nothing is excluded where there is no interval."""
    if np.isnan(share.low):
        return 0.0, 1.0, 0.5
    return share.low, share.high, max(1 - share.p_value, 0.5)


def _excludes_even(low: Floats, high: Floats) -> Bools:
    return np.asarray((low > EVEN) | (high < EVEN))
