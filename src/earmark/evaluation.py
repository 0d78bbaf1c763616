"""Evaluation: runs and ground truth in, the scores of every system for every query out.

Three rules where programs of this kind silently differ. A query that a system did not answer scores what an empty list
scores, 0 for nearly all measures, and is named; it is never dropped from the mean unless asked. A query about which
nothing is known is named and left out. A query without relevant documents scores 0 for everyone, is named, and
disturbs no other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.conversion import judgments_from_dict, refuse_paths, runs_of
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.ground_truth import (
    Cliques,
    GroundTruth,
    OrderedGroups,
    truth_from_cliques,
    truth_from_groups,
    truth_from_judgments,
)
from earmark.data.judged_lists import JudgedLists, match
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.runs import Runs, sort_ids, sort_names
from earmark.data.units import QueryUnits, work_units
from earmark.errors import ParameterError
from earmark.list_scores import ListScores, score_empty_lists, score_lists
from earmark.measures import Measure, parse_all
from earmark.measures.curves import CurveName, Curves, draw_curves
from earmark.measures.relevance import relevant_of_query
from earmark.unjudged.bounds import Bounds
from earmark.unjudged.results import Unjudged
from earmark.wording import counted, listed

Missing = Literal["zero", "drop"]
Known = Judgments | Cliques | OrderedGroups | GroundTruth


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Display):
    """The scores of systems: one value per measure, system and query.

    Parameters
    ----------
    systems, queries : tuple of str
        What the axes of ``values`` stand for.
    measures : tuple of Measure
        The measures, in the order asked for.
    values : ndarray of float, shape (measures, systems, queries)
        NaN where a system's missing query was dropped.
    unanswered : dict of str to tuple of str
        For every system with missing queries, those queries.
    unjudged : tuple of str
        Queries that were answered but about which nothing is known; they are left out.
    without_relevant : tuple of str
        Queries for which no relevant document is known.
    judged_results : dict of int or None to (int, int)
        By cutoff, and by None for whole lists, how many of the results for known queries are judged, and how many there
        are.
    short_lists : tuple of int, int
        How many lists of known queries are shorter than the number of relevant documents, and how many there are.
    not_asked : tuple of str
        Documents of cliques that are a query in no run, and therefore do not count as one.
    units : QueryUnits, optional
        Which queries belong together: the versions of a work, where the truth is cliques.
    unjudged_results : Unjudged or None
        What nobody judged, where scores are by judgments; cliques and groups say of every document what it is.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    unanswered: Mapping[str, tuple[str, ...]]
    unjudged: tuple[str, ...]
    without_relevant: tuple[str, ...]
    judged_results: Mapping[int | None, tuple[int, int]] = field(default_factory=dict)
    short_lists: tuple[int, int] = (0, 0)
    not_asked: tuple[str, ...] = ()
    units: QueryUnits | None = None
    unjudged_results: Unjudged | None = None

    def bounds(self, measure: str | Measure | None = None) -> Bounds | None:
        """Return what unjudged documents could change by a measure; None where everything is known."""
        wanted = self.measures[0] if measure is None else parse_all([measure])[0]
        values = self.of(wanted)
        if self.unjudged_results is None:
            return None
        return Bounds(self.unjudged_results, wanted, self.measures.index(wanted), values)

    def with_values(self, measure: Measure, values: Floats) -> Scores:
        """Return the scores with others by one measure, as if everything were judged."""
        whole = self.values.copy()
        whole[self.measures.index(measure)] = values
        return replace(self, values=whole, unjudged_results=None)

    @cached_property
    def mean_values(self) -> Floats:
        """The mean over queries, or the sum of a count, shape (measures, systems)."""
        return np.stack([one.over_queries(scores) for one, scores in zip(self.measures, self.values, strict=True)])

    def mean(self, measure: str | Measure | None = None, system: str | None = None) -> float:
        """Return one number: the score of a system by a measure, over all queries.

        Parameters
        ----------
        measure : str or Measure, optional
            The first when omitted.
        system : str, optional
            May be left out where there is only one.
        """
        if system is None and len(self.systems) > 1:
            raise ParameterError(f"there are {len(self.systems):,} systems: name one of {', '.join(self.systems)}")
        if system is not None and system not in self.systems:
            raise ParameterError(f"unknown system '{system}': there are {', '.join(self.systems)}")
        place = 0 if system is None else self.systems.index(system)
        wanted = self.measures[0] if measure is None else parse_all([measure])[0]
        return float(wanted.over_queries(self.of(wanted)[place]))

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return ``{system: {query: {measure: score}}}``: for every system what pytrec_eval returns."""
        names = [str(measure) for measure in self.measures]
        return {
            system: {
                query: dict(zip(names, scores, strict=True))
                for query, scores in zip(self.queries, np.moveaxis(self.values[:, place], 0, -1).tolist(), strict=True)
                if not any(np.isnan(scores))
            }
            for place, system in enumerate(self.systems)
        }

    def of(self, measure: str | Measure) -> Floats:
        """Return the scores of one measure, shape (systems, queries)."""
        wanted = parse_all([measure])[0]
        if wanted not in self.measures:
            raise ParameterError(f"{wanted} was not evaluated: there are {', '.join(map(str, self.measures))}")
        scores: Floats = self.values[self.measures.index(wanted)]
        return scores

    def means(self) -> pl.DataFrame:
        """One row per system and measure: ``system``, ``measure``, ``value``."""
        shape = (len(self.systems), len(self.measures))
        return pl.DataFrame(
            {
                "system": np.repeat(np.array(self.systems, dtype=object), shape[1]).tolist(),
                "measure": [str(measure) for measure in self.measures] * shape[0],
                "value": self.mean_values.T.reshape(-1),
            }
        )

    def means_with_bounds(self) -> pl.DataFrame:
        """Return the rows of :meth:`means` with what unjudged documents could change.

        Returns
        -------
        polars.DataFrame
            ``unjudged`` is the share of a system's results that nobody judged, by rank weight, ``value_low`` and
            ``value_high`` are bounds of its score whatever the gains of unjudged documents are; null where none are
            known.
        """
        share, low, high = (np.zeros(self.mean_values.shape), *(self.mean_values.copy() for _ in range(2)))
        for place, measure in enumerate(self.measures):
            bounds = self.bounds(measure)
            if bounds is None:
                continue
            share[place] = bounds.share
            if bounds.are_known and measure.is_mean:
                low[place], high[place] = (measure.over_queries(part) for part in bounds.scores)
            else:
                low[place] = high[place] = np.nan
        return self.means().with_columns(
            unjudged=share.T.reshape(-1),
            value_low=pl.Series(low.T.reshape(-1)).fill_nan(None),
            value_high=pl.Series(high.T.reshape(-1)).fill_nan(None),
        )

    def per_query(self) -> pl.DataFrame:
        """One row per system, query and measure: ``system``, ``query``, ``measure``, ``value``."""
        measures, systems, queries = self.values.shape
        names = pl.Series(self.systems, dtype=pl.String).gather(np.repeat(np.arange(systems), queries * measures))
        asked = pl.Series(self.queries, dtype=pl.String).gather(
            np.tile(np.repeat(np.arange(queries), measures), systems)
        )
        labels = pl.Series([str(m) for m in self.measures], dtype=pl.String).gather(
            np.tile(np.arange(measures), systems * queries)
        )
        frame = pl.DataFrame(
            {
                "system": names,
                "query": asked,
                "measure": labels,
                "value": np.moveaxis(self.values, 0, -1).reshape(-1),
            }
        )
        return frame.filter(pl.col("value").is_not_nan())

    def table(self) -> pl.DataFrame:
        """One row per system and one column per measure, best system of the first measure on top."""
        columns = {str(m): self.mean_values[i] for i, m in enumerate(self.measures)}
        frame = pl.DataFrame({"system": list(self.systems), **columns})
        first = self.measures[0]
        return frame.sort(str(first), "system", descending=[first.higher_is_better, False])

    def to_pandas(self) -> Any:
        """Return :meth:`per_query` as a pandas frame (needs the ``pandas`` extra)."""
        return self.per_query().to_pandas()

    def notes(self) -> list[str]:
        """Say in words what a reader of the scores has to know about missing and empty queries."""
        said = []
        for system, queries in self.unanswered.items():
            fate = "score as empty lists" if not np.isnan(self.values).any() else "are dropped"
            said.append(f"system '{system}' did not answer {name_some(queries, 'query', 'queries')}: they {fate}")
        if self.not_asked:
            said.append(
                f"{name_some(self.not_asked, 'document', 'documents')} of cliques {_are(self.not_asked)} a query in no "
                f"run: means are over the {counted(len(self.queries), 'query', 'queries')} that a run answers"
            )
        if self.unjudged:
            said.append(f"nothing is known about {name_some(self.unjudged, 'query', 'queries')}: left out")
        if self.without_relevant:
            said.append(
                f"no relevant document is known for {name_some(self.without_relevant, 'query', 'queries')}: "
                "no system can score there"
            )
        whole = [str(one) for one in self.measures if one.needs_whole_lists and one.cutoff is None]
        short, lists = self.short_lists
        if whole and short:
            said.append(
                f"{short:,} of {counted(lists, 'list')} {'is' if short == 1 else 'are'} shorter than the number of "
                f"relevant documents: {listed(whole)} cannot reach the best score there, and what was cut off counts "
                "as not found"
            )
        return said

    def __str__(self) -> str:
        return str(self.table())

    def _summary(self) -> Summary:
        """Show the means, best system of the first measure on top."""
        counts = counted(len(self.systems), "system"), counted(len(self.measures), "measure")
        sentence = f"{' by '.join(counts)}, means over {counted(len(self.queries), 'query', 'queries')}"
        return Summary(sentence, [DisplayTable(self.table(), most=20)], self.notes())


def _are(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"


def name_some(names: Iterable[str], one: str, many: str, *, most: int = 5) -> str:
    """Name a few things and count the rest: ``7 queries (a, b, c, d, e, …)``."""
    listed = list(names)
    shown = ", ".join(listed[:most]) + (", …" if len(listed) > most else "")
    return f"{len(listed):,} {one if len(listed) == 1 else many} ({shown})"


def evaluate(
    runs: Runs | Mapping[Any, Mapping[Any, Any]],
    known: Known | Mapping[Any, Mapping[Any, float]],
    measures: Iterable[str | Measure],
    *,
    missing: Missing = "zero",
    aggregation: Aggregation = "mean",
    collection_size: int | None = None,
) -> Scores:
    """Score every system for every query.

    Parameters
    ----------
    runs : Runs, or dict
        The ranked lists; as a dictionary ``{query: {document: score}}`` of one system, which is then called "run", or
        ``{system: {query: {document: score}}}``.
    known : Judgments, Cliques, OrderedGroups or GroundTruth, or dict
        What is known about the documents; as a dictionary ``{query: {document: gain}}``.
    measures : iterable of str or Measure
        For example ``["AG@5", "nDCG@10"]``.
    missing : {"zero", "drop"}
        What a query counts that a system did not answer: an empty list, or nothing.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.
    collection_size : int, optional
        How many documents could have been retrieved, for measures that count what was not.

    Examples
    --------
    >>> import earmark
    >>> runs = earmark.runs_from_dict({"a": {"q1": {"d1": 2.0, "d2": 1.0}}})
    >>> judgments = earmark.judgments_from_dict({"q1": {"d2": 1}})
    >>> earmark.evaluate(runs, judgments, ["RR", "P@2"]).means().rows()
    [('a', 'RR', 0.5), ('a', 'P@2', 0.5)]
    >>> earmark.evaluate({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}, ["RR"]).mean("RR")
    0.5
    """
    refuse_paths(runs=runs, judgments=known)
    runs = runs_of(runs) if isinstance(runs, Mapping) else runs
    known = judgments_from_dict(known) if isinstance(known, Mapping) else known
    wanted = wanted_measures(measures, missing)
    truth = ground_truth(known, aggregation=aggregation, asked=runs.queries)
    check_truth(truth, wanted)
    by_judgments = isinstance(known, Judgments)
    part = score_lists(runs, truth, wanted, collection_size=collection_size, workers=2, judgments=by_judgments)
    return gather_scores(
        [part],
        [runs.systems],
        truth,
        wanted,
        missing=missing,
        collection_size=collection_size,
        not_asked=not_asked(known, truth),
        units=work_units(known) if isinstance(known, Cliques) else None,
    )


def wanted_measures(measures: str | Measure | Iterable[str | Measure], missing: str) -> list[Measure]:
    """Parse the measures that were asked for, and refuse none, and a rule for missing queries that there is not."""
    wanted = parse_all([measures] if isinstance(measures, str | Measure) else measures)
    if not wanted:
        raise ParameterError("name at least one measure, for example nDCG@10")
    if missing not in ("zero", "drop"):
        raise ParameterError(f"missing queries count zero or drop out, got '{missing}'")
    return list(wanted)


def check_truth(truth: GroundTruth, measures: Iterable[Measure]) -> None:
    """Refuse a truth that says nothing, or nothing that the measures can use."""
    if not truth.queries:
        raise ParameterError("nothing is known about any query: there is nothing to evaluate")
    for measure in measures:
        measure.check(truth.scale)


def gather_scores(
    parts: Sequence[ListScores],
    names: Sequence[tuple[str, ...]],
    truth: GroundTruth,
    measures: Sequence[Measure],
    *,
    systems: Iterable[str] | None = None,
    missing: Missing = "zero",
    collection_size: int | None = None,
    not_asked: tuple[str, ...] = (),
    units: QueryUnits | None = None,
) -> Scores:
    """Put the scores of lists together to those of an evaluation.

    Parameters
    ----------
    parts : sequence of ListScores
        Every list in one of them.
    names : sequence of tuple of str
        For every part, what its systems are called in the result; parts may share systems.
    systems : iterable of str, optional
        All systems; those of the parts where they are not given. The result has them sorted by name.
    truth, measures, missing, collection_size, not_asked, units
        As they were for the parts, and as for :func:`evaluate` and :class:`Scores`.
    """
    # In the order of a collection of the same runs, so that arrays of both belong together.
    systems = sort_names({name for of_part in names for name in of_part} if systems is None else systems)
    index = {name: place for place, name in enumerate(systems)}
    values = np.full((len(measures), len(systems), len(truth.queries)), np.nan)
    absent = np.ones((len(systems), len(truth.queries)), dtype=bool)
    for part, of_part in zip(parts, names, strict=True):
        system = np.array([index[name] for name in of_part], dtype=np.int64)[part.system]
        values[:, system, part.query] = part.values
        absent[system, part.query] = False
    if missing == "drop":
        nothing = next((name for name, gone in zip(systems, absent, strict=True) if gone.all()), None)
        if nothing is not None:
            raise ParameterError(f"system '{nothing}' answered no judged query: nothing is left to average")
    elif absent.any():
        every = np.arange(len(truth.queries))
        longest = max((part.longest for part in parts), default=0)
        empty = score_empty_lists(truth, measures, every, longest=longest, collection_size=collection_size)
        values = np.where(absent, empty[:, None, :], values)
    queries = np.array(truth.queries, dtype=object)
    answered = sort_ids({name for part in parts for name in part.queries})
    cutoffs = {None, *(measure.cutoff for measure in measures)}
    unjudged = [part.unjudged for part in parts if part.unjudged is not None]
    places = [
        np.array([index[name] for name in own], dtype=np.int64)[part.system]
        for part, own in zip(parts, names, strict=True)
    ]
    return Scores(
        systems,
        truth.queries,
        tuple(measures),
        values,
        {name: tuple(queries[gone]) for name, gone in zip(systems, absent, strict=True) if gone.any()},
        tuple(name for name in answered if name not in truth.query_index),
        tuple(queries[relevant_of_query(truth) == 0]),
        {one: (sum(p.judged[one][0] for p in parts), sum(p.judged[one][1] for p in parts)) for one in cutoffs},
        # What was not answered at all is told apart.
        (sum(part.short for part in parts), int(np.sum(~absent))),
        not_asked,
        units,
        Unjudged.gather(unjudged, places, [part.query for part in parts], truth, values.shape) if unjudged else None,
    )


def not_asked(known: Known, truth: GroundTruth) -> tuple[str, ...]:
    """Return the documents of cliques that might be queries and are none in any run."""
    if not isinstance(known, Cliques):
        return ()
    return tuple(query for query in truth_from_cliques(known).queries if query not in truth.query_index)


def curves(
    runs: Runs,
    known: Known,
    curve: CurveName,
    *,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: Missing = "zero",
    aggregation: Aggregation = "mean",
    collection_size: int | None = None,
) -> dict[str, Curves]:
    """Draw one kind of curve for every system.

    Parameters
    ----------
    runs, known, missing, aggregation, collection_size
        As for :func:`evaluate`.
    curve : {"pr", "roc", "lift", "normalised-lift", "dynamic-recall"}
        Which, see :mod:`earmark.measures.curves`.
    rel, cutoff
        As for these; dynamic recall has no ``rel``.

    Returns
    -------
    dict of str to Curves
        By system, one curve per query; :func:`earmark.plots.plot_curves` draws their means.

    Examples
    --------
    >>> import earmark
    >>> runs = earmark.runs_from_dict({"a": {"q": {"d1": 2.0, "d2": 1.0}}})
    >>> found = earmark.curves(runs, earmark.judgments_from_dict({"q": {"d2": 1}}), "pr")
    >>> found["a"].mean_area
    0.5
    """
    refuse_paths(runs=runs, judgments=known)
    if missing not in ("zero", "drop"):
        raise ParameterError(f"missing queries count zero or drop out, got '{missing}'")
    lists, system, absent = judged_lists(
        runs, ground_truth(known, aggregation=aggregation, asked=runs.queries), collection_size=collection_size
    )
    drawn = draw_curves(lists, curve, rel=rel, cutoff=cutoff)
    kept = ~absent[system, lists.query] if missing == "drop" else np.ones(system.size, dtype=bool)
    return curves_by_system(drawn, system, kept, systems=runs.systems)


def curves_by_system(
    drawn: Curves, system: Ints, kept: NDArray[np.bool_], *, systems: tuple[str, ...]
) -> dict[str, Curves]:
    """Sort the curves of lists by whose lists they are, leaving out those that are not kept.

    Raises
    ------
    ParameterError
        If nothing is left of a system.
    """
    chosen = {name: (system == index) & kept for index, name in enumerate(systems)}
    nothing = next((name for name, mask in chosen.items() if not mask.any()), None)
    if nothing is not None:
        raise ParameterError(f"system '{nothing}' answered no judged query: nothing is left to average")
    return {name: replace(drawn, y=drawn.y[mask], area=drawn.area[mask]) for name, mask in chosen.items()}


def ground_truth(
    known: Known, *, aggregation: Aggregation = "mean", asked: Collection[str] | None = None
) -> GroundTruth:
    """Make one ground truth of whatever kind of knowledge there is.

    Parameters
    ----------
    known : Judgments, Cliques, OrderedGroups or GroundTruth
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.
    asked : collection of str, optional
        The queries of the runs. Of cliques only these are queries: the other members were not asked for by anybody.
        Judgments and groups name their queries themselves, so there they change nothing.
    """
    if isinstance(known, GroundTruth):
        return known
    if isinstance(known, Cliques):
        return truth_from_cliques(known, asked=asked)
    if isinstance(known, OrderedGroups):
        return truth_from_groups(known)
    return truth_from_judgments(known, by=aggregation)


def judged_lists(
    runs: Runs, truth: GroundTruth, *, collection_size: int | None = None
) -> tuple[JudgedLists, Ints, NDArray[np.bool_]]:
    """Return one list for every system and every query of the truth, an empty one wherever a system has none.

    Returns
    -------
    lists : JudgedLists
        The lists, those of unknown queries left out.
    system : ndarray of int, shape (lists,)
        Whose they are.
    absent : ndarray of bool, shape (systems, queries)
        Which of them had to be added.
    """
    lists = match(runs, truth, collection_size=collection_size)
    known = lists.query >= 0
    # Lists of unknown queries have no hits, so dropping them leaves the hits as they are.
    counts, query, length = lists.hits.counts[known], lists.query[known], lists.length[known]
    system = runs.list_system[known]
    absent = np.ones((len(runs.systems), len(truth.queries)), dtype=bool)
    absent[system, query] = False
    more_system, more_query = np.nonzero(absent)
    nothing = np.zeros(more_query.size, dtype=np.int64)
    completed = JudgedLists(
        truth,
        np.concatenate((query, more_query)),
        np.concatenate((length, nothing)),
        Segments.from_counts(np.concatenate((counts, nothing))),
        lists.rank,
        lists.row,
        lists.collection_size,
    )
    return completed, np.concatenate((system, more_system)), absent
