r"""One score per document from preferences: the models of Bradley and Terry, and of Davidson.

Each document of a query has a score :math:`\theta`, and an answer about i and j chooses i with the odds
:math:`e^{\theta_i - \theta_j}` against j [1]_. What people say about a pair thereby says something about other pairs
of its documents, and whatever they say the scores are in order: there are no cycles. In Davidson's model answers may
also be *same*, with a probability that is largest for documents that are equally good [2]_; how freely people say so,
:math:`\nu`, is the same for all queries. Bradley and Terry's model has no place for *same*, which counts half for
either document here, or is ignored.

With ``strengths`` an answer counts in proportion to its strength, so that all answers that choose a document together
count as many as they are; *same* counts 1.

Equations, priors and standard errors are in :mod:`~earmark.crowd.paired_comparison`.

References
----------
.. [1] R. A. Bradley, M. E. Terry (1952). Rank analysis of incomplete block designs: I. The method of paired
   comparisons. Biometrika 39(3/4), 324–345.
.. [2] R. R. Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison experiments.
   Journal of the American Statistical Association 65(329), 317–328.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import polars as pl
from scipy import special

from earmark.crowd.davidson import outcome_probabilities
from earmark.crowd.paired_comparison import Comparisons, FittedScores, Votes, fit_comparisons
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import ParameterError
from earmark.inference.proportions import require_level
from earmark.wording import counted

Ties = Literal["half", "ignore"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoredDocuments(Display):
    """Scores of the documents of every query; a document is an item of each query that it was shown for.

    Attributes
    ----------
    pairs : PairTable
        What the scores were found from.
    query_index, document_index : ndarray of int, shape (items,)
        The query and document of every item, sorted by both.
    answers : ndarray of int, shape (items,)
        How many answers are about the item.
    fit : FittedScores
        Scores and standard errors of items, and their differences for pairs, in the order of ``pairs``.
    """

    pairs: PairTable
    query_index: Ints
    document_index: Ints
    answers: Ints
    fit: FittedScores

    @property
    def probability(self) -> Floats:
        """How likely it is that an answer that chooses a document chooses the first one; shape (pairs,)."""
        return outcome_probabilities(self.fit.difference, 0.0)[0]

    def to_polars(self, *, level: float = 0.95) -> pl.DataFrame:
        """One row per item, the best of each query first.

        ``query``, ``document``, ``score``, ``standard_error``, ``low``, ``high``, ``rank`` and ``answers``.
        """
        require_level(level)
        reach = special.stdtrit(self.fit.degrees_of_freedom, (1 + level) / 2) * self.fit.standard_error
        frame = pl.DataFrame(
            {
                "query": pl.Series(self.pairs.queries, dtype=pl.String).gather(self.query_index),
                "document": pl.Series(self.pairs.documents, dtype=pl.String).gather(self.document_index),
                "score": self.fit.score,
                "standard_error": self.fit.standard_error,
                "low": self.fit.score - reach,
                "high": self.fit.score + reach,
                "rank": pl.Series(np.zeros(self.answers.size, dtype=np.int64)),
                "answers": self.answers,
            }
        )
        # Scores that differ by rounding alone are tied.
        rank = pl.col("score").round(9).rank("min", descending=True).over("query").cast(pl.Int64)
        frame = frame.with_columns(rank.alias("rank")).with_columns(pl.Series("place", self.query_index))
        return frame.sort("place", "rank", maintain_order=True).drop("place")

    def _summary(self) -> Summary:
        """Show the best documents of the first queries."""
        queries = counted(len(self.pairs.queries), "query", "queries")
        return Summary(f"{counted(self.answers.size, 'document')} of {queries}", [DisplayTable(self.to_polars())])


def fit_bradley_terry(
    preferences: Preferences,
    *,
    ties: Ties = "half",
    strengths: bool = False,
    prior_sd: float = 2.0,
    max_iterations: int = 100,
) -> ScoredDocuments:
    """Fit Bradley and Terry's model to every query.

    Parameters
    ----------
    preferences : Preferences
        The answers.
    ties : {"half", "ignore"}
        What *same* counts: half an answer for either document, or nothing.
    strengths : bool
        Count answers by their strength.
    prior_sd : float, above 0
        The standard deviation of the prior of scores: 2 hardly moves documents that won and lost now and then.
    max_iterations : int
        How many steps to try.

    Raises
    ------
    NotConverged
        If the maximum is not reached.

    Examples
    --------
    >>> rows = [("q", "x", "y", f"w{n}", "a" if n else "b") for n in range(4)]
    >>> frame = pl.DataFrame(rows, schema=("query", "a", "b", "assessor", "choice"), orient="row")
    >>> scores = fit_bradley_terry(Preferences.from_frame(frame), prior_sd=100)
    >>> round(scores.probability.item(), 3)
    0.75
    """
    if ties not in get_args(Ties):
        raise ParameterError(f"unknown way with ties '{ties}': use {' or '.join(get_args(Ties))}")
    (first, second, same, squares), votes = _count(preferences, strengths=strengths)
    half = same / 2 if ties == "half" else 0.0 * same
    nothing = np.zeros(same.size)
    if ties == "ignore":
        squares, votes = squares - same, replace(votes, weight=np.where(preferences.sign == 0, 0.0, votes.weight))
    return _fit(preferences, (first + half, second + half, nothing, squares), votes, prior_sd, max_iterations)


def fit_davidson(
    preferences: Preferences, *, strengths: bool = False, prior_sd: float = 2.0, max_iterations: int = 100
) -> ScoredDocuments:
    """Fit Davidson's model to all queries; see :func:`fit_bradley_terry` for the parameters."""
    return _fit(preferences, *_count(preferences, strengths=strengths), prior_sd, max_iterations)


def _count(preferences: Preferences, *, strengths: bool) -> tuple[tuple[Floats, Floats, Floats, Floats], Votes]:
    """Add up the weights of the answers to every pair, by outcome, and their squares; and say whose they are."""
    pairs = preferences.pairs()
    sign = preferences.sign * pairs.answer_orientation
    weight = np.ones(sign.size)
    if strengths:
        chosen = sign != 0
        mean = preferences.strength[chosen].mean() if chosen.any() else 1.0
        weight = np.where(chosen, preferences.strength / mean, 1.0)

    def total(weights: Floats) -> Floats:
        return np.bincount(pairs.answer_pair, weights=weights, minlength=len(pairs)).astype(np.float64)

    first, second, same = (total(weight * (sign == value)) for value in (1, -1, 0))
    votes = Votes(pairs.answer_pair, preferences.assessor_index, weight * sign, weight)
    return (first, second, same, total(weight**2)), votes


def _fit(
    preferences: Preferences,
    counts: tuple[Floats, Floats, Floats, Floats],
    votes: Votes,
    prior_sd: float,
    max_iterations: int,
) -> ScoredDocuments:
    pairs = preferences.pairs()
    size = max(len(pairs.documents), 1)
    keys = np.concatenate([pairs.query_index * size + index for index in (pairs.first_index, pairs.second_index)])
    items, place = np.unique(keys, return_inverse=True)
    comparisons = Comparisons(items // size, place[: len(pairs)], place[len(pairs) :], *counts, votes)
    answers = comparisons.per_item(pairs.answers.astype(np.float64), pairs.answers.astype(np.float64))
    fitted = fit_comparisons(comparisons, prior_sd=prior_sd, max_iterations=max_iterations)
    return ScoredDocuments(pairs, items // size, items % size, answers.astype(np.int64), fitted)
