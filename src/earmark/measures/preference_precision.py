r"""Preference precision: how often a system orders two documents as people do.

Assessors said of pairs of documents which suits a query better. The *winner* of a pair is the document that more of
them chose. A system is asked about a pair if at least one of its documents stands in the first :math:`K` ranks of its
list; a document that does not has rank :math:`K + 1`. It orders the pair correctly if the winner has the smaller rank.
Over the pairs :math:`P` that it is asked about,

.. math:: PP = \frac{\#\{p \in P : p \text{ correctly ordered}\}}{\#P}
   \qquad
   wPP = \frac{\sum_{p \in P,\; p \text{ correctly ordered}} d_p}{\sum_{p \in P} d_p}

where :math:`d_p` is the strength of preference averaged over all who answered, whichever document they chose.

Pairs are taken by how many agreed. A pair reaches the *level of agreement* x/y if at least the share x/y of its answers
chose the winner, whatever their number: two answers out of two reach 6/6, and so do ten out of ten; ``same`` is an
answer that agrees with neither document. Ask for a least number of answers where that is too generous. Levels are
cumulative: the pairs of 5/6 are those with five *or six* answers of six for the winner. A pair without a winner, as
many answers for one document as for the other, is at no level.

Systems are asked about different pairs, and one that ranks no document of any pair is asked about none: it has no
precision, which is NaN here and null in frames.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import PairTable
from earmark.data.runs import Runs
from earmark.errors import ParameterError
from earmark.wording import counted


@dataclass(frozen=True)
class AgreementLevel:
    """A share of the answers to a pair that have to choose its winner, as x of y.

    Examples
    --------
    >>> print(parse_level("5/6"))
    5/6
    """

    agreeing: int
    of: int

    def __post_init__(self) -> None:
        if not 0 < self.agreeing <= self.of:
            raise ParameterError(f"a level of agreement is x/y with x from 1 to y, not {self}")

    def reached_by(self, pairs: PairTable, *, min_answers: int = 1) -> Bools:
        """Tell which pairs have a winner that at least this share of at least so many answers chose."""
        enough = pairs.agreement * self.of >= pairs.answers * self.agreeing
        reached: Bools = enough & (pairs.winner != 0) & (pairs.answers >= min_answers)
        return reached

    def __str__(self) -> str:
        return f"{self.agreeing}/{self.of}"


def parse_level(text: str) -> AgreementLevel:
    """Read a level of agreement such as ``5/6``."""
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text, flags=re.ASCII)
    if found is None:
        raise ParameterError(f"a level of agreement is x/y, such as 5/6, not '{text.strip()}'")
    return AgreementLevel(int(found[1]), int(found[2]))


def parse_levels(text: str) -> tuple[AgreementLevel, ...]:
    """Read levels of agreement separated by commas; a level that is named again is taken once."""
    return tuple(dict.fromkeys(parse_level(part) for part in text.split(",")))


def usual_levels(pairs: PairTable) -> tuple[AgreementLevel, ...]:
    """Return every level that is a majority of the usual number of answers, the highest first.

    The usual number is the most frequent, and the larger of two as frequent: six answers give 6/6, 5/6 and 4/6.
    """
    if not len(pairs):
        return ()
    counts = np.bincount(pairs.answers)
    usual = int(counts.size - 1 - np.argmax(counts[::-1]))
    return tuple(AgreementLevel(agreeing, usual) for agreeing in range(usual, usual // 2, -1))


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceOutcomes(Display):
    """What every system made of every pair.

    Attributes
    ----------
    systems : tuple of str
        The systems.
    pairs : PairTable
        The pairs.
    k : int
        How many ranks of a list count.
    counted : ndarray of bool, shape (systems, pairs)
        Whether the system is asked about the pair: it has a winner, and one of its documents is in the first k ranks.
    correct : ndarray of bool, shape (systems, pairs)
        Whether it is, and the winner stands before the other document.
    """

    systems: tuple[str, ...]
    pairs: PairTable
    k: int
    counted: Bools
    correct: Bools

    @cached_property
    def signed_strength(self) -> Floats:
        """The mean strength of every pair, negative where it is ordered wrongly and 0 where the system is not asked."""
        sign = np.where(self.correct, 1, -1) * self.counted
        signed: Floats = sign * self.pairs.mean_strength
        return signed

    def at(self, pairs: Bools) -> PreferenceOutcomes:
        """Return the same with nothing counted but these pairs; shape (pairs,)."""
        return PreferenceOutcomes(self.systems, self.pairs, self.k, self.counted & pairs, self.correct & pairs)

    def _summary(self) -> Summary:
        """Show how many pairs every system is asked about and orders correctly."""
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "pairs": self.counted.sum(axis=1),
                "correct": self.correct.sum(axis=1),
            }
        )
        systems, pairs = counted(len(self.systems), "system"), counted(len(self.pairs), "pair")
        return Summary(f"{systems} on {pairs} of documents, first {self.k} ranks", [DisplayTable(frame)])


@dataclass(frozen=True, eq=False, repr=False)
class PreferencePrecision(Display):
    """Preference precision of systems at one level of agreement; arrays of shape (systems,).

    Attributes
    ----------
    systems : tuple of str
        The systems.
    level : AgreementLevel
        Which pairs were taken.
    precision, weighted_precision : ndarray of float, in [0, 1]
        NaN for a system that is asked about no pair.
    correct, pairs : ndarray of int
        How many pairs the system ordered correctly, of how many.
    """

    systems: tuple[str, ...]
    level: AgreementLevel
    precision: Floats
    weighted_precision: Floats
    correct: Ints
    pairs: Ints

    def to_polars(self) -> pl.DataFrame:
        """One row per system: its name, the level as ``agreement``, both precisions, ``pairs`` and ``correct``."""
        return pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "agreement": pl.Series([str(self.level)] * len(self.systems), dtype=pl.String),
                "precision": pl.Series(self.precision, nan_to_null=True),
                "weighted_precision": pl.Series(self.weighted_precision, nan_to_null=True),
                "pairs": self.pairs,
                "correct": self.correct,
            }
        )

    def _summary(self) -> Summary:
        """Show every system."""
        sentence = f"of {counted(len(self.systems), 'system')} at agreement {self.level}"
        return Summary(sentence, [DisplayTable(self.to_polars().drop("agreement"))])


def order_outcomes(first_rank: Ints, second_rank: Ints, winner: Ints, *, k: int) -> tuple[Bools, Bools]:
    """Tell which pairs count for a list and which of them it orders as people do.

    Parameters
    ----------
    first_rank, second_rank : ndarray of int, shape (..., pairs), 1 to k + 1
        The ranks of the two documents, k + 1 where a document is not in the first k.
    winner : ndarray of int, shape (pairs,)
        +1 where people prefer the first document, −1 where the second, 0 for a tie.
    k : int
        How many ranks count.

    Returns
    -------
    counted, correct : ndarray of bool, shape (..., pairs)
    """
    counted: Bools = (winner != 0) & (np.minimum(first_rank, second_rank) <= k)
    correct: Bools = counted & (np.sign(second_rank - first_rank) == winner)
    return counted, correct


def pair_ranks(runs: Runs, pairs: PairTable, *, k: int) -> tuple[Ints, Ints]:
    """Look up the ranks of both documents of every pair in every system's list for its query.

    Returns
    -------
    first_rank, second_rank : ndarray of int, shape (systems, pairs), 1 to k + 1
        k + 1 where a document is not in the first k ranks, or the system has no list for the query.
    """
    if k < 1:
        raise ParameterError(f"k, how many ranks count, is 1 or more, got {k}")
    size = max(len(pairs.documents), 1)
    keys = [pairs.query_index * size + index for index in (pairs.first_index, pairs.second_index)]
    items, of_pair = np.unique(np.concatenate(keys), return_inverse=True)
    place = {name: index for index, name in enumerate(pairs.queries)}
    query_of_list = np.array([place.get(name, -1) for name in runs.queries], dtype=np.int64)[runs.list_query]
    rank, of_result = runs.ranks, runs.list_of_result
    near = np.flatnonzero((rank <= k) & (query_of_list[of_result] >= 0))
    known = runs.documents.gather(near).cast(pl.Enum(pairs.documents), strict=False).to_physical()
    near = near[known.is_not_null().to_numpy()]
    document = known.drop_nulls().cast(pl.Int64).to_numpy()
    key = query_of_list[of_result[near]] * size + document
    at = np.minimum(np.searchsorted(items, key), max(items.size - 1, 0))
    hit = items[at] == key if items.size else np.zeros(0, dtype=bool)
    ranks = np.full((len(runs.systems), items.size), k + 1, dtype=np.int64)
    ranks[runs.list_system[of_result[near[hit]]], at[hit]] = rank[near[hit]]
    first, second = of_pair[: len(pairs)], of_pair[len(pairs) :]
    return ranks[:, first], ranks[:, second]


def preference_outcomes(runs: Runs, pairs: PairTable, *, k: int) -> PreferenceOutcomes:
    """Find out what every system makes of every pair within the first k ranks of its lists."""
    first_rank, second_rank = pair_ranks(runs, pairs, k=k)
    counted, correct = order_outcomes(first_rank, second_rank, pairs.winner, k=k)
    return PreferenceOutcomes(runs.systems, pairs, k, counted, correct)


def preference_precision(
    outcomes: PreferenceOutcomes, level: AgreementLevel, *, min_answers: int = 1
) -> PreferencePrecision:
    """Score every system on the pairs that reach a level of agreement.

    Parameters
    ----------
    outcomes : PreferenceOutcomes
        What the systems made of the pairs.
    level : AgreementLevel
        The least share of answers for the winner.
    min_answers : int
        The least number of answers to a pair.
    """
    taken = outcomes.at(level.reached_by(outcomes.pairs, min_answers=min_answers))
    weight = outcomes.pairs.mean_strength
    return PreferencePrecision(
        outcomes.systems,
        level,
        weighted_share(taken.correct, taken.counted, np.ones_like(weight)),
        weighted_share(taken.correct, taken.counted, weight),
        taken.correct.sum(axis=1),
        taken.counted.sum(axis=1),
    )


def weighted_share(correct: Bools, counted: Bools, weight: Floats) -> Floats:
    """Return the weight of what is correct over the weight of what is counted, NaN where nothing is; one per row."""
    whole = counted @ weight
    share: Floats = np.divide(correct @ weight, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return share
