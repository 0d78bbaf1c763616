r"""A campaign in which experts put all documents of a query into order, best first, with a cut.

An answer is a ranking of the documents that systems retrieved for a query and a cut: documents after it are not
similar, and share the last places. Two things follow from the rankings of several experts.

**Ordered groups** of every query (:func:`earmark.crowd.partial_orders.groups_from_rankings`): documents whose ranks
do not differ surely are in one group. They are the ground truth of average dynamic recall. What is handed over is
what each expert ranked before the cut; an expert who put everything after the cut has no list, and no say in the
groups.

**Agreement** of every query with two rankings or more: the mean pairwise :math:`\tau_b` and Kendall's W
(:mod:`earmark.crowd.ranking_agreement`), over all documents that were shown. The mean agreement over queries has an
interval that holds at all looks together (:mod:`earmark.inference.bounded_means`), about *queries like these* and
these experts: questions are asked in a drawn order, and :math:`(1 + \tau_b) / 2` is an observation in [0, 1] for
every query.

Conventions:

- *One ranking* of a query gives neither groups nor agreement; it is counted. *One document* orders nothing.
- *No query with two rankings*: there is no mean, and its interval is the whole range, [-1, 1].
- *Documents that left* the collection are taken out of rankings; documents that came later share the last places.
- *More rankings* of a query move its agreement after it was counted, as in :mod:`earmark.campaign.list_campaign`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.stopping import Never, Progress, StopDecision, StopRule
from earmark.campaign.stopping.plain import PlainState, check_plain, plain_progress
from earmark.crowd.partial_orders import groups_from_rankings, least_experts
from earmark.crowd.ranking_agreement import kendall_w, mean_tau, ranks_with_cut
from earmark.data.conversion import runs_from_frame
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.ground_truth import OrderedGroups
from earmark.data.runs import Runs
from earmark.inference.bounded_means import betting_interval
from earmark.inference.proportions import require_level
from earmark.wording import counted

RANKINGS: dict[str, Any] = {
    "query": pl.String,
    "assessor": pl.String,
    "order": pl.List(pl.String),
    "cut": pl.Int64,
}
"""The columns of rankings, in the order in which they were given: documents best first, and how many are similar."""

ALPHA = 0.05
"""From which p-value down two documents differ."""
ENOUGH_RANKINGS = least_experts(2, ALPHA)
"""With fewer rankings of a query, not even two documents can be told apart at .05."""

# Agreement differs little between queries, for which bold stakes make narrower intervals.
_TRUNCATION = 0.75
_QUERIES: dict[str, Any] = {
    "query": pl.String,
    "documents": pl.Int64,
    "rankings": pl.Int64,
    "similar": pl.Float64,
    "groups": pl.Int64,
    "tau": pl.Float64,
    "w": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class OrderProblem:
    """Which documents are put into order, and when that ends.

    Parameters
    ----------
    documents : mapping of str to tuple of str
        For every query the documents that were retrieved for it.
    needed : int
        How many experts rank a query.
    stop : StopRule
        A budget of rankings, a width of the mean agreement's interval, or none.
    level : float, in (0, 1)
        The probability that the interval holds at all looks.
    alpha : float, in (0, 1)
        From which p-value down two documents differ.
    """

    documents: Mapping[str, tuple[str, ...]]
    needed: int = 1
    stop: StopRule = field(default_factory=Never)
    level: float = 0.95
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        require_level(self.level)


@dataclass(frozen=True)
class MeanAgreement:
    """A mean over queries with an interval that holds at all looks.

    Attributes
    ----------
    mean : float or None
        None where no query has two rankings.
    low, high : float
    queries : int
        How many queries it is a mean of.
    """

    mean: float | None
    low: float
    high: float
    queries: int

    @property
    def width(self) -> float:
        """From the low to the high end."""
        return self.high - self.low


@dataclass(frozen=True, eq=False, repr=False)
class OrderEstimates(Display):
    """What rankings come to.

    Attributes
    ----------
    queries : polars.DataFrame
        One row per ranked query, in the order of first rankings: ``query``, ``documents`` shown, ``rankings``,
        ``similar`` (how many documents stand before the cut, on average), ``groups``, ``tau`` and ``w``; the last three
        null where there is only one ranking.
    groups : OrderedGroups or None
        None where no query has two rankings with similar documents.
    tau, w : MeanAgreement
        The mean over queries of the mean pairwise tau_b, and of Kendall's W.
    level : float
    """

    queries: pl.DataFrame
    groups: OrderedGroups | None
    tau: MeanAgreement
    w: MeanAgreement
    level: float

    def queries_frame(self) -> pl.DataFrame:
        """One row per ranked query, with the column ``kind``."""
        return self.queries.select(pl.lit("query").alias("kind"), pl.all())

    def groups_frame(self) -> pl.DataFrame:
        """One row per document: ``kind``, ``query``, ``document`` and ``group``, 1 for the best."""
        schema = {"query": pl.String, "document": pl.String, "group": pl.Int64}
        frame = pl.DataFrame(schema=schema) if self.groups is None else self.groups.frame
        return frame.select(pl.lit("document").alias("kind"), "query", "document", "group")

    def sentence(self) -> str:
        """Say how far experts agree, in one sentence."""
        if not self.queries.height:
            return "Nobody has put documents into order yet."
        if self.tau.mean is None:
            one = counted(self.queries.height, "query", "queries")
            return f"{one} ranked by one expert each: agreement and groups need two rankings of a query."
        over = f"over {counted(self.tau.queries, 'query', 'queries')}"
        found = f"mean τ = {self.tau.mean:.2f} ({self.tau.low:.2f} to {self.tau.high:.2f}) {over}"
        return f"{self._strength()}: {found.replace('-', '−')}."

    def _strength(self) -> str:
        if self.tau.low > 0:
            return "Experts agree more than by chance"
        if self.tau.high < 0:
            return "Experts agree less than by chance"
        return "It is open whether experts agree more than by chance"

    def notes(self) -> list[str]:
        """Say what a reader has to know about the groups."""
        counts = self.queries.select("documents", "rankings").rows()
        few = sum(rankings < least_experts(documents, ALPHA) for documents, rankings in counts)
        if not few:
            return []
        which = "every ranked query has" if few == len(counts) else f"{counted(few, 'query', 'queries')} with"
        most = least_experts(max(documents for documents, _ in counts), ALPHA)
        return [
            f"{which} too few rankings to tell any documents apart by signed ranks at {ALPHA:g}, which takes "
            f"{most} of one mind for the longest list: all documents share a group there"
        ]

    def _summary(self) -> Summary:
        """Show the queries."""
        caption = f"Queries; {100 * self.level:g}% interval of the mean at any time"
        return Summary(self.sentence(), [DisplayTable(self.queries, caption)], self.notes())


@dataclass(frozen=True, eq=False, repr=False)
class OrderLook(Display):
    """What rankings come to at one moment.

    Attributes
    ----------
    estimates : OrderEstimates
    decision : StopDecision
    progress : Progress
        What the stop rule watches.
    judged, items, answered : int
        How many queries have a ranking, of how many, and how many rankings there are.
    """

    estimates: OrderEstimates
    decision: StopDecision
    progress: Progress
    judged: int
    items: int
    answered: int

    def summary(self) -> dict[str, Any]:
        """Return counts, the mean agreement, and whether to stop, as the last row of ``earmark rank``."""
        tau, w = self.estimates.tau, self.estimates.w
        return {
            "kind": "summary",
            "judged": self.judged,
            "items": self.items,
            "answers": self.answered,
            "mean_confidence": None,
            "min_confidence": None,
            "queries": tau.queries,
            "tau": tau.mean,
            "low": tau.low,
            "high": tau.high,
            "w": w.mean,
            "w_low": w.low,
            "w_high": w.high,
            "stop": self.decision.stop,
            "reason": self.decision.reason,
        }

    def _summary(self) -> Summary:
        """Show the estimates, and whether to stop."""
        seen = self.estimates._summary()
        return Summary(seen.sentence, seen.sheets, [str(self.decision), *seen.notes])


@dataclass(frozen=True, eq=False, repr=False)
class OrderCampaign(Display):
    """Rankings at one moment: what they say is a function of the problem and the rankings.

    Parameters
    ----------
    problem : OrderProblem
    rankings : polars.DataFrame
        With the columns of `RANKINGS`, one row per expert and query, in the order in which they were given; those of
        other queries are left out.

    Examples
    --------
    >>> rows = [("q", "ann", ["x", "y", "z"], 2), ("q", "bob", ["x", "z", "y"], 3)]
    >>> rankings = pl.DataFrame(rows, schema=RANKINGS, orient="row")
    >>> look = OrderCampaign(OrderProblem({"q": ("x", "y", "z")}), rankings).look
    >>> round(look.estimates.queries["tau"][0], 3), look.decision.stop
    (0.333, True)
    """

    problem: OrderProblem
    rankings: pl.DataFrame

    @cached_property
    def known(self) -> pl.DataFrame:
        """The rankings of known queries: ``query``, ``assessor`` and the ``similar`` documents (before the cut)."""
        rows = []
        for query, assessor, order, cut in self.rankings.select(*RANKINGS).iter_rows():
            shown = set(self.problem.documents.get(query, ()))
            if shown:
                rows.append((query, assessor, [one for one in order[:cut] if one in shown]))
        schema: dict[str, Any] = {"query": pl.String, "assessor": pl.String, "similar": pl.List(pl.String)}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def rankings_as_runs(self) -> Runs | None:
        """What every expert ranked before the cut, as the lists of a system; None where nothing can be grouped.

        Queries with fewer than two such lists are left out, because groups need two.
        """
        lists = self.known.filter(pl.col("similar").list.len() > 0)
        lists = lists.filter(pl.len().over("query") > 1)
        if not lists.height:
            return None
        rows = lists.explode("similar").rename({"assessor": "system", "similar": "document"})
        return runs_from_frame(rows.select("system", "query", "document"))

    @cached_property
    def look(self) -> OrderLook:
        """What the rankings say, and whether to stop."""
        problem, known = self.problem, self.known
        estimates = self._estimates()
        per_query = known.group_by("query").len()
        complete = int((per_query["len"] >= problem.needed).sum())
        state = PlainState(
            known.height, complete, len(problem.documents), estimates.tau.width, "the interval of the mean agreement"
        )
        decision, progress = check_plain(problem.stop, state), plain_progress(problem.stop, state)
        return OrderLook(estimates, decision, progress, per_query.height, len(problem.documents), known.height)

    def _estimates(self) -> OrderEstimates:
        runs = self.rankings_as_runs
        groups = None if runs is None else groups_from_rankings(runs, alpha=self.problem.alpha)
        counts: dict[str, int] = {}
        if groups is not None:
            counts = dict(groups.frame.group_by("query").agg(pl.col("group").n_unique()).iter_rows())
        rows: list[tuple[Any, ...]] = []
        counted_from: list[int] = []
        places = self.known.with_row_index("place")
        for (query,), part in places.group_by("query", maintain_order=True):
            shown = self.problem.documents[str(query)]
            rankings = part["similar"].to_list()
            tau = w = None
            if len(rankings) > 1 and len(shown) > 1:
                ranks = ranks_with_cut(rankings, shown)
                tau, w = mean_tau(ranks), kendall_w(ranks)
            similar = float(np.mean([len(one) for one in rankings]))
            rows.append((query, len(shown), len(rankings), similar, counts.get(str(query)), tau, w))
            # A query counts from its second ranking on.
            counted_from.append(part["place"][min(1, part.height - 1)])
        queries = pl.DataFrame(rows, schema=_QUERIES, orient="row")
        seen = queries[np.argsort(np.array(counted_from, dtype=np.int64))] if rows else queries
        level = self.problem.level
        tau_mean, w_mean = (
            _mean(seen[name].drop_nulls().to_list(), least, level) for name, least in (("tau", -1.0), ("w", 0.0))
        )
        return OrderEstimates(queries, groups, tau_mean, w_mean, level)

    def _summary(self) -> Summary:
        """Show what it says at this moment."""
        return self.look._summary()


def _mean(values: list[float], least: float, level: float) -> MeanAgreement:
    """Return the mean of numbers from `least` to 1 with its interval."""
    span = 1.0 - least
    # Sums of ranks carry rounding errors.
    shares = np.clip((np.array(values, dtype=np.float64) - least) / span, 0.0, 1.0)
    low, high = betting_interval(shares, level=level, truncation=_TRUNCATION)
    mean = float(np.mean(values)) if values else None
    return MeanAgreement(mean, least + span * low, least + span * high, len(values))
