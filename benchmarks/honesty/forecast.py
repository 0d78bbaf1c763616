"""Whether the numbers of judgments that a report names hold: ``python -m benchmarks.honesty.forecast``.

For every two systems that cannot be told apart yet and follow one another in the ranking, the forecast names a number
of further judgments after which the pair is decided with probability 1/2, and one for .9. Here so many are made, of the
items that the forecast chose, the model learns from them, and it is counted how often the pair is then decided.

Three kinds of truth answer. ``drawn``: on made-up collections, gains drawn from what is believed before anything is
judged, so that the model is right. ``made up``: the gains of the same collections as they are, for which the model is
not made. ``MIREX``: the recorded judgments of 8 of 18 systems and 30 of the reporting queries of MIREX 2011. Before, a
share of the items is judged that was drawn at random, or none. Pairs of one collection have much in common, so the
standard errors printed are over collections.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.forecast import EVEN, LIKELY
from earmark.campaign.problem import Problem
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.inference.confidence import Ranking
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice

SYSTEMS, QUERIES, DEPTH = 8, 30, 5
SHARES = (0.0, 0.05, 0.15, 0.3)
SAMPLES = 300
TRUTHS = ("drawn", "made up", "MIREX")


def made_up(rng: np.random.Generator) -> tuple[Setting, Floats]:
    """Make a collection up; return it with the gains of all items."""
    made = earmark.synthetic_collection(rng, systems=SYSTEMS, queries=QUERIES, documents=500, depth=DEPTH)
    collection = Collection.from_runs(made.runs, depth=DEPTH, metadata=made.metadata)
    return Setting(collection, made.judgments.scale), item_gains(collection, made.judgments)


def of_mirex(rng: np.random.Generator, mirex: Mirex) -> tuple[Setting, Floats]:
    """Draw systems and queries of MIREX 2011; return them with the gains of all items."""
    runs = mirex.runs.select(
        systems=draw_some(rng, mirex.runs.systems, SYSTEMS), queries=draw_some(rng, mirex.reporting, QUERIES)
    )
    collection = Collection.from_runs(runs, depth=DEPTH, metadata=mirex.metadata)
    return Setting(collection, mirex.judgments.scale), np.maximum(item_gains(collection, mirex.judgments), 0.0)


def look_ahead(
    problem: Problem, truth: Floats, rng: np.random.Generator, *, share: float
) -> Iterator[dict[str, object]]:
    """Judge a share of the items, forecast, judge what the forecast chose, and tell which pairs are then decided."""
    shown = rng.choice(truth.size, round(share * truth.size), replace=False)
    campaign = Campaign(problem).with_answers(Answers(shown, truth[shown]))
    order = campaign.ranking.systems_frame()["system"].to_list()
    for one in campaign.forecast(pairwise(order)).pairs:
        for goal in (EVEN, LIKELY):
            count = one.needed(goal)
            if count is None:
                continue
            asked = one.items[:count]
            after = campaign.with_answers(Answers(asked, truth[asked]))
            yield {
                "judged": share,
                "promised": goal,
                "judgments": count,
                "left": one.left,
                "decided": decided(after.ranking, one.a, one.b),
            }


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


def _rows(shared: tuple[Mirex | None, str, str], kind: str, number: int) -> list[dict[str, object]]:
    mirex, measure, predictor = shared
    rng = np.random.default_rng([12, number])
    setting, truth = of_mirex(rng, mirex) if kind == "MIREX" and mirex is not None else made_up(rng)
    problem = Problem(setting, earmark.parse(measure), PredictorChoice(predictor), samples=SAMPLES)
    rows: list[dict[str, object]] = []
    for share in SHARES:
        answers = Campaign(problem).beliefs.draw(rng, 1)[0] if kind == "drawn" else truth
        looks = look_ahead(problem, answers, rng, share=share)
        rows += [{"truth": kind, "collection": number, **look} for look in looks]
    return rows


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=10)
    parser.add_argument("--measure", default="AG@5")
    parser.add_argument("--predictor", default="hierarchical")
    parser.add_argument("--truth", choices=TRUTHS, action="append")
    Helpers.options(parser)
    told = parser.parse_args()
    began, kinds = time.monotonic(), told.truth or TRUTHS
    shared = (load_mirex() if "MIREX" in kinds else None, told.measure, told.predictor)
    tasks = [(kind, number) for kind in kinds for number in range(told.collections)]
    rows = [row for part in Helpers.given(told).each(_rows, shared, tasks) for row in part]
    print(f"{told.collections} collections of each kind, {told.measure}, {told.predictor}")
    with pl.Config(tbl_rows=-1, float_precision=2, tbl_hide_dataframe_shape=True, tbl_width_chars=120):
        print(table(rows))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
