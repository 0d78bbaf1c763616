"""Scores of single lists, the part of an evaluation that needs no other lists: evaluations are put together of such.

What most measures say about a list depends on the list and on what is known about its query, so lists may be scored in
any portions, side by side or one after the other. The numbers are the same to the bit. Measures that compare a list
with others say so (:attr:`~earmark.measures.base.Measure.needs_pool`) and are given all lists together.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists, match
from earmark.data.runs import Runs
from earmark.measures import Measure
from earmark.measures.relevance import relevant_of_query
from earmark.unjudged.results import UnjudgedResults, collect


@dataclass(frozen=True, eq=False)
class ListScores:
    """The scores of some lists.

    Parameters
    ----------
    systems : tuple of str
        Whose lists they are.
    queries : tuple of str
        All queries they answer, known or not.
    system, query : ndarray of int, shape (lists,)
        Whose list it is, as an index into ``systems``, and what it answers, as an index into the queries of the truth.
    values : ndarray of float, shape (measures, lists)
        Its scores.
    judged : dict of int or None to (int, int)
        By cutoff, how many results are judged, and how many there are.
    short : int
        How many lists are shorter than the number of relevant documents.
    hits : int
        How many results the truth names.
    longest : int
        The length of the longest list.
    unknown : tuple of (int, str)
        Lists of queries about which nothing is known: whose they are, and their queries.
    first_document : str or None
        The first document of the first list.
    unjudged : UnjudgedResults or None
        What nobody judged, where lists were scored by judgments.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    system: Ints
    query: Ints
    values: Floats
    judged: dict[int | None, tuple[int, int]]
    short: int
    hits: int
    longest: int
    unknown: tuple[tuple[int, str], ...]
    first_document: str | None
    unjudged: UnjudgedResults | None = None


def score_lists(
    runs: Runs,
    truth: GroundTruth,
    measures: Sequence[Measure],
    *,
    collection_size: int | None = None,
    workers: int = 1,
    judgments: bool = False,
) -> ListScores:
    """Score all lists whose queries are known, and collect what nobody judged if the truth is one of judgments."""
    places = np.unique([truth.query_index[name] for name in runs.queries if name in truth.query_index]).astype(np.int64)
    if 2 * places.size < len(truth.queries):
        # What is known about other queries would only be carried along.
        less = truth.restricted(places)
        part = score_lists(runs, less, measures, collection_size=collection_size, workers=workers, judgments=judgments)
        return replace(part, query=places[part.query])
    lists = match(runs, truth, collection_size=collection_size)
    system, starts, unknown = runs.list_system, runs.offsets[:-1], np.flatnonzero(lists.query < 0)
    if unknown.size:
        known = lists.query >= 0
        # Lists of unknown queries have no hits, so dropping them leaves the hits as they are.
        hits = Segments.from_counts(lists.hits.counts[known])
        system, starts = system[known], starts[known]
        lists = JudgedLists(
            truth, lists.query[known], lists.length[known], hits, lists.rank, lists.row, lists.collection_size
        )
    relevant = relevant_of_query(truth)[lists.query]
    cutoffs = {None, *(measure.cutoff for measure in measures)}
    return ListScores(
        runs.systems,
        runs.queries,
        system,
        lists.query,
        score_all(lists, measures, workers=workers),
        {cutoff: _count_judged(lists, cutoff) for cutoff in cutoffs},
        int(np.count_nonzero((lists.length > 0) & (lists.length < relevant))),
        lists.rank.size,
        lists.longest,
        tuple((int(runs.list_system[one]), runs.queries[runs.list_query[one]]) for one in unknown),
        runs.documents[0] if len(runs) else None,
        collect(lists, measures, runs.documents, starts) if judgments else None,
    )


def score_all(lists: JudgedLists, measures: Sequence[Measure], *, workers: int = 1) -> Floats:
    """Score lists by every measure: shape (measures, lists)."""
    values = np.empty((len(measures), lists.size))
    if workers == 1:
        for index, measure in enumerate(measures):
            values[index] = measure.score(lists)
        return values
    # Measures are array operations, which run side by side.
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for index, scored in enumerate(pool.map(lambda measure: measure.score(lists), measures)):
            values[index] = scored
    return values


def score_empty_lists(
    truth: GroundTruth, measures: Sequence[Measure], queries: Ints, *, longest: int, collection_size: int | None = None
) -> Floats:
    """Score one empty list for every query beside lists of at most some length: shape (measures, queries)."""
    nothing = np.zeros(queries.size, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    size = truth.collection_size if collection_size is None else collection_size
    lists = JudgedLists(truth, queries, nothing, Segments.from_counts(nothing), none, none, size, longest)
    return score_all(lists, measures)


def _count_judged(lists: JudgedLists, cutoff: int | None) -> tuple[int, int]:
    return int(np.count_nonzero(lists.judged & lists.within(cutoff))), int(lists.depth(cutoff).sum())
