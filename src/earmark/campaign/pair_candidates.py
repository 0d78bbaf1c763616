"""Candidate pairs: what might be asked about, what systems make of it, and what has been answered already.

Preference precision is estimated over a fixed set of candidate pairs: those of a benchmark, or every two documents that
lists hold for the same query. What systems say about any other pair is not looked at.
"""

from __future__ import annotations

import numpy as np

from earmark.campaign.pair_design import PairAnswers, PairDesign
from earmark.data.preferences import PairTable, Preferences
from earmark.data.runs import Runs, sort_ids
from earmark.errors import InputError
from earmark.measures.preference import pair_ranks


def make_candidates(questions: list[tuple[str, str, str]]) -> PairTable:
    """Make a table of pairs that nobody has answered yet.

    Parameters
    ----------
    questions : list of (query, document, document)
        The documents of a pair in either order; a pair that is named again counts once.
    """
    if not questions:
        raise InputError(expected="at least one candidate pair", got="none")
    pairs = {(query, min(a, b), max(a, b)) for query, a, b in questions}
    itself = next((one for one in questions if one[1] == one[2]), None)
    if itself is not None:
        raise InputError(expected=f"two different documents for query '{itself[0]}'", got=f"'{itself[1]}' twice")
    queries = sort_ids({query for query, _, _ in pairs})
    documents = sort_ids({name for _, *both in pairs for name in both})
    query_at, document_at = ({name: place for place, name in enumerate(names)} for names in (queries, documents))
    rows = np.array(
        sorted((query_at[query], *sorted((document_at[a], document_at[b]))) for query, a, b in pairs), dtype=np.int64
    )
    query, first, second = rows.T
    nothing, no_strength = np.zeros(query.size, dtype=np.int64), np.zeros(query.size)
    no_answer = np.zeros(0, dtype=np.int64)
    counts = (nothing, nothing, nothing, no_strength, no_strength)
    return PairTable(queries, documents, query, first, second, *counts, no_answer, no_answer)


def pool_candidates(runs: Runs, *, k: int) -> list[tuple[str, str, str]]:
    """Return every two documents that stand among the first k of any lists for the same query."""
    lists: dict[str, set[str]] = {}
    of, rank = runs.list_of_result, runs.ranks
    near = np.flatnonzero(rank <= k)
    for place, document in zip(near, runs.documents.gather(near), strict=True):
        lists.setdefault(runs.queries[runs.list_query[of[place]]], set()).add(document)
    return [
        (query, a, b)
        for query, documents in lists.items()
        for number, a in enumerate(sorted(documents))
        for b in sorted(documents)[number + 1 :]
    ]


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
    return PairDesign(candidates, runs.systems, order)


def answers_about(candidates: PairTable, preferences: Preferences) -> tuple[PairAnswers, int]:
    """Count what was answered about candidate pairs.

    Returns
    -------
    answers : PairAnswers
    elsewhere : int
        How many answers are about pairs that are no candidates.
    """
    place = {key: number for number, key in enumerate(_keys(candidates))}
    pairs = preferences.pairs()
    at = np.array([place.get(key, -1) for key in _keys(pairs)], dtype=np.int64)
    known = at >= 0
    counts = []
    for count in (pairs.first, pairs.second, pairs.same):
        of_candidates = np.zeros(len(candidates), dtype=np.int64)
        of_candidates[at[known]] = count[known]
        counts.append(of_candidates)
    return PairAnswers(*counts), int(pairs.answers[~known].sum())


def _keys(pairs: PairTable) -> list[tuple[str, str, str]]:
    # Ids are sorted in both tables, so the same two documents stand in the same order.
    rows = zip(pairs.query_index, pairs.first_index, pairs.second_index, strict=True)
    return [(pairs.queries[q], pairs.documents[a], pairs.documents[b]) for q, a, b in rows]
