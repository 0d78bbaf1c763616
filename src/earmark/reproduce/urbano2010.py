"""Partial orders of real preferences: groups made of 2,810 answers about melodies, and what ADR says under them.

Urbano2010 published both the answers of 79 people to 281 questions, *which of two melodies is more like a third*, and
the ordered groups made of them. The same groups come from the answers by sorting with pivots when one melody has to be
chosen by at least two people more than the other. That is a rule about counts and no test: groups that rest on
differences significant at .05 are much coarser. How much this matters is shown on three orders that need no system:
a random one, by the number of comparisons won, and that one reversed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from earmark.crowd.group_agreement import compare_groups
from earmark.crowd.platforms import find_mapping
from earmark.crowd.preference_groups import (
    groups_by_pivots,
    groups_by_scores,
    preferred_by_lead,
    preferred_by_sign_test,
)
from earmark.crowd.results import read_results
from earmark.data.conversion import runs_from_frame
from earmark.data.ground_truth import OrderedGroups
from earmark.data.preferences import PairTable
from earmark.data.readers import read_groups
from earmark.evaluation import evaluate
from earmark.reproduce.comparison import Comparison, Row, beside, compare

ANSWERS, PUBLISHED = "judgments.csv", "MTurk.qrel"
LEAD, ALPHA = 2, 0.05
_COUNTED = (
    "pairs of documents that agree",
    "pairs ordered by both",
    "of these, opposite",
    "queries with the same groups",
    "groups",
)


def tables(folder: Path) -> list[Comparison]:
    """Return how our groups compare with the published ones, and what ADR makes of simple orders under each."""
    pairs = read_results(folder / ANSWERS, find_mapping("melody-2010")).preferences.pairs()
    published = read_groups(folder / PUBLISHED)
    derived = {
        f"pivots, lead {LEAD}": groups_by_pivots(pairs, preferred_by_lead(pairs, LEAD)),
        f"scores, α {ALPHA:g}, all": groups_by_scores(pairs, alpha=ALPHA, start="all"),
        f"scores, α {ALPHA:g}, any": groups_by_scores(pairs, alpha=ALPHA, start="any"),
    }
    return [agreement(pairs, published, derived), simple_orders(pairs, {"published": published, **derived})]


def agreement(pairs: PairTable, published: OrderedGroups, derived: dict[str, OrderedGroups]) -> Comparison:
    """Compare groups that we derive with those that were published."""
    whole = compare_groups(published, published)
    target = (whole.pairs, whole.ordered_by_both, 0, whole.queries, _count(published))
    rows: list[Row] = []
    for name, groups in derived.items():
        found = compare_groups(groups, published)
        ours = (found.agreeing, found.ordered_by_both, found.opposite, found.equal_queries, _count(groups))
        # Only the first rule claims to give the published groups.
        put = compare if name.startswith("pivots") else beside
        rows += [
            put(what, str(aim), count, column=name) for what, aim, count in zip(_COUNTED, target, ours, strict=True)
        ]
    leading, significant = preferred_by_lead(pairs, LEAD) != 0, preferred_by_sign_test(pairs, ALPHA) != 0
    notes = (
        "The paper's column is what the published groups give when they are compared with themselves.",
        f"With a lead of {LEAD} every one of the {len(pairs)} questions is one that the sorting asks, and none is "
        f"missing; with a lead of 1 or 3 some are. Of the {np.count_nonzero(leading)} questions with such a lead, "
        f"{np.count_nonzero(significant)} are significant at {ALPHA:g} by the sign test.",
        "Which of two documents becomes the pivot where preferences are not transitive is not recorded: six times the "
        "groups hang on it, and they are the published ones if it is the document shown second.",
    )
    return Comparison("Melodies of 2010: groups made of preferences", tuple(rows), notes)


def simple_orders(pairs: PairTable, known: dict[str, OrderedGroups]) -> Comparison:
    """Score orders that need no system by ADR, under several groups of the same documents."""
    wins = _wins(pairs)
    best = wins.sort("query", "wins", "document", descending=[False, True, False])
    lists = [
        best.select(pl.lit("by number of wins").alias("system"), "query", "document"),
        best.reverse().select(pl.lit("the same reversed").alias("system"), "query", "document"),
    ]
    runs = runs_from_frame(pl.concat(lists))
    rows = []
    for name, groups in known.items():
        scores = evaluate(runs, groups, ["ADR"]).values[0].mean(axis=1)
        rows.append(compare("random order, expected", None, expected_random_adr(groups), column=name))
        rows += [
            compare(system, None, float(score), column=name) for system, score in zip(runs.systems, scores, strict=True)
        ]
    order = {name: place for place, name in enumerate(("by number of wins", "random order, expected"))}
    rows.sort(key=lambda row: order.get(row.name, len(order)))
    notes = (
        "The mean ADR over all queries. All documents of a query are in its groups, so even a random order finds them "
        "all by the end; coarser groups forgive more.",
        "The number of wins favours documents that were compared often, as pivots are.",
    )
    return Comparison("Melodies of 2010: ADR of simple orders", tuple(rows), notes)


def expected_random_adr(groups: OrderedGroups) -> float:
    r"""Return the mean ADR of a random order of all documents of every query.

    By position :math:`i` it is expected to have found the share :math:`i / n` of the :math:`g_i` documents that should
    have come by then, so :math:`E[r_i] = g_i / n`, and :math:`E[ADR] = \sum_i g_i / n^2`.
    """
    means = []
    for _, part in groups.frame.group_by("query", maintain_order=True):
        sizes = part.group_by("group").len().sort("group")["len"].to_numpy().astype(np.int64)
        means.append(float(np.sum(np.cumsum(sizes) * sizes)) / int(sizes.sum()) ** 2)
    return float(np.mean(means))


def _wins(pairs: PairTable) -> pl.DataFrame:
    """Count for every document of every query the comparisons that more people decided for it than against it."""
    won = pairs.to_polars().select("query", "first", "second", "winner")
    each = pl.concat([won.select("query", pl.col(side).alias("document"), "winner") for side in ("first", "second")])
    return each.group_by("query", "document").agg(wins=(pl.col("winner") == pl.col("document")).sum())


def _count(groups: OrderedGroups) -> int:
    return groups.frame.select("query", "group").n_unique()
