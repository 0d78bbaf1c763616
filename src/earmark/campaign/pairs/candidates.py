"""Candidate pairs: which two documents of a query people may be asked about, how systems order them, the answers.

Preference precision is estimated over a fixed set of candidate pairs: those of a benchmark, or every two documents that
ranked lists hold for the same query. How systems order any other pair does not count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from earmark.data.arrays import Bools, Ints
from earmark.data.preferences import PairTable, Preferences
from earmark.data.runs import Runs, sort_ids, sort_names
from earmark.errors import InputError, ParameterError
from earmark.measures.preference_precision import pair_ranks


@dataclass(frozen=True, eq=False)
class PairDesign:
    """The candidate pairs, and how every system orders each of them.

    Parameters
    ----------
    pairs : PairTable
        The candidates; the answers in the table are ignored.
    systems : tuple of str
        The systems.
    order : ndarray of int, shape (systems, pairs)
        +1 where the system ranks the first document of the pair higher, −1 where the second, 0 where it ranks neither.
    """

    pairs: PairTable
    systems: tuple[str, ...]
    order: Ints

    def __post_init__(self) -> None:
        expected = (len(self.systems), len(self.pairs))
        if self.order.shape != expected:
            raise ParameterError(f"expected an order for each of {expected} systems and pairs, got {self.order.shape}")
        if not self.order.any():
            raise ParameterError("none of the candidate pairs counts for any system: there is nothing to find out")

    @cached_property
    def matters(self) -> Bools:
        """Which pairs count for at least one system, shape (pairs,); the others are no part of the model."""
        matters: Bools = np.any(self.order != 0, axis=0)
        return matters

    @cached_property
    def tells_apart(self) -> Bools:
        """Which pairs not all systems order alike, shape (pairs,)."""
        apart: Bools = np.any(self.order != self.order[:1], axis=0)
        return apart

    @cached_property
    def queries(self) -> Ints:
        """The queries that have pairs that matter."""
        return np.unique(self.pairs.query_index[self.matters])

    @cached_property
    def is_shared(self) -> Bools:
        """Which documents occur in pairs of several queries, shape (documents,)."""
        pairs, matters = self.pairs, self.matters
        document = np.concatenate((pairs.first_index[matters], pairs.second_index[matters]))
        query = np.tile(pairs.query_index[matters], 2)
        once_per_query = np.unique(np.stack((document, query)), axis=1)[0]
        shared: Bools = np.bincount(once_per_query, minlength=len(pairs.documents)) > 1
        return shared


def _nobody() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PairAnswers:
    """How often each candidate pair was answered, and how, and who answered where that is known.

    Attributes
    ----------
    first, second, same : ndarray of int, shape (pairs,)
        How many answers chose either document, and neither.
    pair, person, sign : ndarray of int, shape (answers,)
        The answers whose author is known: about which pair, by whom (equal numbers for the same person), and +1 for the
        first document, −1 for the second, 0 for the same. Other answers count as those of different people.
    """

    first: Ints
    second: Ints
    same: Ints
    pair: Ints = field(default_factory=_nobody)
    person: Ints = field(default_factory=_nobody)
    sign: Ints = field(default_factory=_nobody)

    @classmethod
    def none(cls, pairs: int) -> PairAnswers:
        """Return no answers at all."""
        return cls(*np.zeros((3, pairs), dtype=np.int64))

    @cached_property
    def total(self) -> Ints:
        """How many answers each pair has."""
        return self.first + self.second + self.same

    @cached_property
    def lead(self) -> Ints:
        """How many more answers chose the first document than the second."""
        return self.first - self.second

    @property
    def n_people(self) -> int:
        """How many people answered, of those who are known."""
        return int(np.unique(self.person).size)

    def __len__(self) -> int:
        return int(self.total.sum())

    def __add__(self, more: PairAnswers) -> PairAnswers:
        names = ("pair", "person", "sign")
        pair, person, sign = (np.concatenate((getattr(self, name), getattr(more, name))) for name in names)
        first, second, same = self.first + more.first, self.second + more.second, self.same + more.same
        return PairAnswers(first, second, same, pair, person, sign)


def make_candidates(questions: list[tuple[str, str, str]]) -> PairTable:
    """Make a table of pairs without answers.

    Parameters
    ----------
    questions : list of (query, document, document)
        The documents of a pair in either order; a pair that is named again counts once.
    """
    if not questions:
        raise InputError(expected="at least one candidate pair", got="none")
    for query, a, b in questions:
        if a == b:
            raise InputError(expected=f"two different documents for query '{query}'", got=f"'{a}' twice")
    queries = sort_ids({query for query, _, _ in questions})
    documents = sort_ids({name for _, *both in questions for name in both})
    query_at, document_at = ({name: place for place, name in enumerate(names)} for names in (queries, documents))
    rows = {(query_at[query], *sorted((document_at[a], document_at[b]))) for query, a, b in questions}
    query, first, second = np.array(sorted(rows), dtype=np.int64).T
    none, no_strength = np.zeros(query.size, dtype=np.int64), np.zeros(query.size)
    return PairTable(
        queries, documents, query, first, second, none, none, none, no_strength, no_strength, none[:0], none[:0]
    )


def pool_candidates(runs: Runs, *, k: int) -> list[tuple[str, str, str]]:
    """Return every two documents that are among the first k of any lists for the same query."""
    pools: dict[str, set[str]] = {}
    near = np.flatnonzero(runs.ranks <= k)
    queries = runs.list_query[runs.list_of_result[near]]
    for query, document in zip(queries, runs.documents.gather(near), strict=True):
        pools.setdefault(runs.queries[query], set()).add(document)
    return [(query, a, b) for query, pool in pools.items() for a, b in combinations(sorted(pool), 2)]


def make_design(runs: Runs, candidates: PairTable, *, k: int) -> PairDesign:
    """Find out how every system orders every candidate pair within the first k ranks of its lists.

    Raises
    ------
    InputError
        If a system ranks no document of any pair, so that nothing can be learnt about it.
    """
    first, second = pair_ranks(runs, candidates, k=k)
    order = np.sign(second - first)
    nothing = np.flatnonzero(~np.any(order, axis=1))
    if nothing.size:
        raise InputError(
            expected=f"candidate pairs with documents among the first {k} of every system",
            got=f"none for '{runs.systems[nothing[0]]}'",
            hint="do runs and candidates use the same ids?",
        )
    # In an order that does not depend on the files, as a collection has it.
    systems = sort_names(runs.systems)
    return PairDesign(candidates, systems, order[[runs.systems.index(name) for name in systems]])


def answers_about(candidates: PairTable, preferences: Preferences) -> tuple[PairAnswers, int]:
    """Count the answers about candidate pairs.

    Returns
    -------
    answers : PairAnswers
        People are numbered as in `preferences`.
    elsewhere : int
        How many answers are about pairs that are no candidates.
    """
    place = {key: number for number, key in enumerate(_keys(candidates))}
    pairs = preferences.pairs()
    at = np.array([place.get(key, -1) for key in _keys(pairs)], dtype=np.int64)
    known = at >= 0
    counts = np.zeros((3, len(candidates)), dtype=np.int64)
    counts[:, at[known]] = np.stack((pairs.first, pairs.second, pairs.same))[:, known]
    place_of_answer = at[pairs.answer_pair]
    about = place_of_answer >= 0
    sign = (preferences.sign * pairs.answer_orientation)[about]
    first, second, same = counts
    found = PairAnswers(first, second, same, place_of_answer[about], preferences.assessor_index[about], sign)
    return found, int(pairs.answers[~known].sum())


def _keys(pairs: PairTable) -> list[tuple[str, str, str]]:
    # Ids are sorted in both tables, so the same two documents stand in the same order.
    rows = zip(pairs.query_index, pairs.first_index, pairs.second_index, strict=True)
    return [(pairs.queries[q], pairs.documents[a], pairs.documents[b]) for q, a, b in rows]
