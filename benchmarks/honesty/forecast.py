"""Whether the numbers of judgments that a report names hold: ``python -m benchmarks.honesty.forecast``.

For every two systems that cannot be told apart yet and follow one another in the ranking, the forecast names a number
of further judgments after which the pair is decided with probability 1/2, and one for .9. Here campaigns go on as they
are run, by the policy variance with its audit, 10 judgments between two looks, and it is counted how often the pair is
decided at the first look after so many.

Four kinds of truth answer. ``drawn``: on made-up collections, gains drawn from what is believed before anything is
judged, so that the model is right. ``made up``: the gains of the same collections as they are, for which the model is
not made. ``MIREX``: the recorded judgments of 8 of 18 systems and 30 of the reporting queries of MIREX 2011 (of those
for developing with ``--half development``). ``text``: 8 systems and 30 queries of made-up text retrieval. Pairs of one
collection have much in common, so the standard errors printed are over collections.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from benchmarks.honesty.text import text_collection
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.forecast import EVEN, LIKELY
from earmark.campaign.loop import play
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem, usual_audit
from earmark.campaign.stopping import Never
from earmark.campaign.verdict import Inference
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.inference.confidence import Ranking
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice

SYSTEMS, QUERIES, DEPTH = 8, 30, 5
SHARES = (0.0, 0.05, 0.15, 0.3)
SAMPLES, BATCH = 300, 10
TRUTHS = ("drawn", "made up", "MIREX", "text")
Half = Literal["development", "reporting"]


def made_up(rng: np.random.Generator) -> tuple[Setting, Floats]:
    """Make a collection up; return it with the gains of all items."""
    made = earmark.synthetic_collection(rng, systems=SYSTEMS, queries=QUERIES, documents=500, depth=DEPTH)
    collection = Collection.from_runs(made.runs, depth=DEPTH, metadata=made.metadata)
    return Setting(collection, made.judgments.scale), item_gains(collection, made.judgments)


def of_text(rng: np.random.Generator) -> tuple[Setting, Floats]:
    """Make text retrieval up; return some of its systems and queries with the gains of all items."""
    runs, judgments = text_collection(rng)
    some = runs.select(systems=draw_some(rng, runs.systems, SYSTEMS), queries=draw_some(rng, runs.queries, QUERIES))
    collection = Collection.from_runs(some, depth=DEPTH)
    return Setting(collection, judgments.scale), item_gains(collection, judgments)


def of_mirex(rng: np.random.Generator, mirex: Mirex, half: Half = "reporting") -> tuple[Setting, Floats]:
    """Draw systems and queries of MIREX 2011; return them with the gains of all items."""
    queries = mirex.reporting if half == "reporting" else mirex.development
    runs = mirex.runs.select(
        systems=draw_some(rng, mirex.runs.systems, SYSTEMS), queries=draw_some(rng, queries, QUERIES)
    )
    collection = Collection.from_runs(runs, depth=DEPTH, metadata=mirex.metadata)
    return Setting(collection, mirex.judgments.scale), np.maximum(item_gains(collection, mirex.judgments), 0.0)


def look_ahead(
    problem: Problem, truth: Floats, *, shares: Sequence[float] = SHARES, batch: int = BATCH
) -> Iterator[dict[str, object]]:
    """Play a campaign to its end; at some looks, forecast, and tell later which pairs were decided as forecast."""
    waiting: list[tuple[int, dict[str, object], tuple[str, str]]] = []
    shares = list(shares)
    for campaign in play(Campaign(problem), oracle(truth), batch=batch):
        due = [one for one in waiting if one[0] <= campaign.judged]
        waiting = [one for one in waiting if one[0] > campaign.judged]
        for _, row, pair in due:
            yield row | {"decided": decided(campaign.ranking, *pair)}
        if shares and campaign.judged >= shares[0] * truth.size:
            share = shares.pop(0)
            order = campaign.ranking.systems_frame()["system"].to_list()
            for one in campaign.forecast(pairwise(order)).pairs:
                for goal in (EVEN, LIKELY):
                    count = one.needed(goal)
                    if count is not None:
                        row = {"judged": share, "promised": goal, "judgments": count, "left": one.left}
                        waiting.append((campaign.judged + count, row, (one.a, one.b)))
        if not shares and not waiting:
            return


def decided(ranking: Ranking, a: str, b: str) -> bool:
    """Tell whether a pair is decided."""
    estimates = ranking.estimates
    pair = frozenset((estimates.systems.index(a), estimates.systems.index(b)))
    at = next(i for i, both in enumerate(zip(estimates.a, estimates.b, strict=True)) if frozenset(both) == pair)
    return bool(ranking.decided(ranking.level)[at])


def table(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Return the shares that were decided, with standard errors over collections."""
    by = ["truth", "promised", "judged"]
    found = pl.DataFrame(rows)
    share = pl.col("decided").mean()
    per = found.group_by(*by, "collection").agg(pl.len().alias("pairs"), pl.col("decided").sum().alias("count"))
    spread = per.group_by(by).agg(
        (
            ((pl.col("count") - pl.col("pairs") * pl.col("count").sum() / pl.col("pairs").sum()) ** 2).sum().sqrt()
            / pl.col("pairs").sum()
        ).alias("error")
    )
    shown = found.group_by(by).agg(
        pl.len().alias("pairs"),
        share.alias("decided"),
        pl.col("judgments").median(),
        pl.col("left").median(),
    )
    order = pl.col("truth").replace_strict({name: at for at, name in enumerate(TRUTHS)}, return_dtype=pl.Int64)
    return (
        shown.join(spread, on=by)
        .select(*by, "pairs", "decided", "error", "judgments", "left")
        .sort(order, "promised", "judged")
    )


def _rows(shared: tuple[Mirex | None, Half, str, str], kind: str, number: int) -> list[dict[str, object]]:
    mirex, half, measure, predictor = shared
    rng = np.random.default_rng([12, number])
    if kind == "MIREX" and mirex is not None:
        setting, truth = of_mirex(rng, mirex, half)
    else:
        setting, truth = of_text(rng) if kind == "text" else made_up(rng)
    policy = make_policy("variance")
    problem = Problem(
        setting,
        earmark.parse(measure),
        PredictorChoice(predictor),
        policy,
        Never(),
        audit=usual_audit(policy, Inference()),
        samples=SAMPLES,
        seed=number,
    )
    answers = Campaign(problem).beliefs.draw(rng, 1)[0] if kind == "drawn" else truth
    return [{"truth": kind, "collection": number, **row} for row in look_ahead(problem, answers)]


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=10)
    parser.add_argument("--measure", default="AG@5")
    parser.add_argument("--predictor", default="hierarchical")
    parser.add_argument("--truth", choices=TRUTHS, action="append")
    parser.add_argument("--half", choices=get_args(Half), default="reporting")
    parser.add_argument("--first", type=int, default=0, help="the number of the first collection")
    Helpers.options(parser)
    told = parser.parse_args()
    began, kinds = time.monotonic(), told.truth or TRUTHS
    shared = (load_mirex() if "MIREX" in kinds else None, told.half, told.measure, told.predictor)
    numbers = range(told.first, told.first + told.collections)
    tasks = [(kind, number) for kind in kinds for number in numbers]
    rows = [row for part in Helpers.given(told).each(_rows, shared, tasks) for row in part]
    print(f"{told.collections} collections of each kind, {told.measure}, {told.predictor}")
    with pl.Config(tbl_rows=-1, float_precision=2, tbl_hide_dataframe_shape=True, tbl_width_chars=120):
        print(table(rows))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
