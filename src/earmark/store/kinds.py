"""The kinds of questions: which questions a campaign of a kind has, and what follows from its answers.

==========  ============================================  =============================================================
kind        a question                                    an answer
==========  ============================================  =============================================================
``grade``   a query and a document                        a gain on the scale
``prefer``  a query and two documents                     a, b or same, and how strongly
``order``   a query, with the documents retrieved for it  a ranking, and from where on documents are not similar
``lists``   a query and two systems, whose lists differ   a, b, same (equally good) or neither (equally bad)
==========  ============================================  =============================================================

Questions of the last two kinds use the columns of a log so: an order names no document, and a comparison of lists has
the names of the systems in the place of documents.
"""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import polars as pl

from earmark.campaign.list_campaign import ANSWERS, ListProblem
from earmark.campaign.order_campaign import RANKINGS, OrderProblem
from earmark.campaign.pairs.campaign import PairProblem
from earmark.campaign.problem import Problem
from earmark.campaign.stopping.plain import parse_plain_stop
from earmark.data.judgments import UNNAMED
from earmark.data.log import AnswerLog
from earmark.data.permanent_random_numbers import permanent_numbers
from earmark.data.preferences import Preferences
from earmark.data.runs import Runs
from earmark.store.settings import Settings


def grade_questions(problem: Problem) -> pl.DataFrame:
    """Return an item a row, in the order in which a sample of known probabilities is judged.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, ``other`` (empty) and ``sampled``.
    """
    order = problem.verdicts.order.order
    items = problem.items[order].with_columns(other=pl.lit(""), sampled=pl.lit(problem.draws_sample))
    # The order holds the items that the measure depends on; others wait behind them.
    rest = problem.items.join(items, on=["query", "document"], how="anti", maintain_order="left")
    return pl.concat([items, rest.with_columns(other=pl.lit(""), sampled=pl.lit(False))])


def pair_questions(problem: PairProblem) -> pl.DataFrame:
    """Return a candidate pair that matters a row, in an order that is drawn."""
    pairs = problem.design.pairs
    matters = np.flatnonzero(problem.design.matters)
    documents = pl.Series(pairs.documents, dtype=pl.String)
    frame = pl.DataFrame(
        {
            "query": pl.Series(pairs.queries, dtype=pl.String).gather(pairs.query_index[matters]),
            "document": documents.gather(pairs.first_index[matters]),
            "other": documents.gather(pairs.second_index[matters]),
        }
    )
    return _drawn(frame, problem.seed)


def order_questions(runs: Runs, *, seed: int) -> pl.DataFrame:
    """Return a query a row; its candidates are the documents that were retrieved for it."""
    queries = pl.Series("query", runs.queries, dtype=pl.String)
    return _drawn(pl.DataFrame({"query": queries}).with_columns(document=pl.lit(""), other=pl.lit("")), seed)


def list_questions(runs: Runs, *, depth: int, seed: int) -> pl.DataFrame:
    """Return a query and two systems a row, where their lists differ within the first ranks."""
    lists: dict[str, dict[str, tuple[str, ...]]] = {}
    names = runs.documents
    for place, (system, query) in enumerate(zip(runs.list_system, runs.list_query, strict=True)):
        start, end = runs.offsets[place], runs.offsets[place + 1]
        found = tuple(names[int(start) : min(int(end), int(start) + depth)])
        lists.setdefault(runs.queries[query], {})[runs.systems[system]] = found
    rows = [
        (query, a, b)
        for query, by_system in lists.items()
        for a, b in combinations(sorted(by_system), 2)
        if by_system[a] != by_system[b]
    ]
    return _drawn(
        pl.DataFrame(rows, schema=dict.fromkeys(("query", "document", "other"), pl.String), orient="row"), seed
    )


def order_problem(runs: Runs, settings: Settings) -> OrderProblem:
    """Return the problem of a campaign of kind order: what was retrieved for every query within the first ranks."""
    how = settings.estimates
    documents: dict[str, dict[str, None]] = {query: {} for query in runs.queries}
    for place, query in enumerate(runs.list_query):
        start, end = int(runs.offsets[place]), int(runs.offsets[place + 1])
        documents[runs.queries[query]].update(dict.fromkeys(runs.documents[start : min(end, start + how.depth)]))
    return OrderProblem(
        {query: tuple(found) for query, found in documents.items()},
        settings.judging.judgments_per_item,
        parse_plain_stop(how.stop, kind="order"),
        how.level,
    )


def list_problem(runs: Runs, settings: Settings) -> ListProblem:
    """Return the problem of a campaign of kind lists: every two lists that differ within the first ranks."""
    how = settings.estimates
    asked = list_questions(runs, depth=how.depth, seed=how.seed).rename({"document": "a", "other": "b"})
    return ListProblem(
        runs.systems,
        asked.select("query", "a", "b"),
        settings.judging.judgments_per_item,
        parse_plain_stop(how.stop, kind="lists"),
        how.level,
    )


def _drawn(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Order questions by numbers that depend on the seed and on the question alone."""
    if not frame.height:
        return frame
    about = frame.select(pl.concat_str("document", "other", separator="\0")).to_series().to_list()
    number = permanent_numbers(frame["query"].to_list(), about, seed=seed)
    return frame[np.argsort(number, kind="stable")]


def preferences_of(log: AnswerLog) -> Preferences | None:
    """Return the current answers to questions about two documents; None where there are none."""
    chosen = log.answers.filter(pl.col("choice").is_not_null(), pl.col("other").is_not_null())
    if not chosen.height:
        return None
    strength = [pl.col("strength")] if chosen["strength"].is_not_null().any() else []
    return Preferences.from_frame(
        chosen.select(
            "query",
            pl.col("document").alias("a"),
            pl.col("other").alias("b"),
            pl.col("assessor").fill_null(UNNAMED),
            "choice",
            *strength,
        )
    )


def rankings_of(log: AnswerLog) -> pl.DataFrame:
    """Return the current rankings, in the order in which they were given, with the columns of `RANKINGS`."""
    given = log.answers.filter(pl.col("choice").is_not_null(), pl.col("other").is_null())
    rows = []
    for query, assessor, choice in given.select("query", pl.col("assessor").fill_null(UNNAMED), "choice").iter_rows():
        said = json.loads(choice)
        rows.append((query, assessor, said["order"], said["cut"]))
    return pl.DataFrame(rows, schema=RANKINGS, orient="row")


def list_answers_of(log: AnswerLog) -> pl.DataFrame:
    """Return the current comparisons of lists, in the order in which they were given, with the columns of `ANSWERS`."""
    given = log.answers.filter(pl.col("choice").is_not_null(), pl.col("other").is_not_null())
    named = {"a": pl.col("document"), "b": pl.col("other"), "assessor": pl.col("assessor").fill_null(UNNAMED)}
    return given.with_columns(**named).select(*ANSWERS)
