"""Whether plans hold: ``python -m benchmarks.honesty.plan [20] [--jobs N]``.

Collections are drawn from MIREX 2011, 8 of its 18 systems and 30 of its reporting queries. For each, a plan is made
without a single judgment, and then the real campaign is played with the recorded judgments answering. Eight in ten of
the real campaigns should take as many judgments as the range says. Nine campaigns are simulated for each plan, so the
range goes from the smallest to the largest of them.

Collections overlap in systems and queries, so the shares printed vary more than as many independent trials would.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.campaign.plan import FEWEST_FOR_A_RANGE, Plan, plan
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import StopRule, parse_stop
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.predictors.base import Setting

COLLECTIONS, SYSTEMS, QUERIES = 20, 8, 30
RULES = ("mean:0.9", "decided:0.8")
BATCH = 20
MEASURE = earmark.parse("AG@5")


def main() -> None:
    """Plan, play, and print how they compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=int, nargs="?", default=COLLECTIONS)
    Helpers.options(parser)
    told = parser.parse_args()
    collections, mirex, began = told.collections, load_mirex(), time.monotonic()
    drawn = [draw_collection(mirex, np.random.default_rng([7, number])) for number in range(collections)]
    items = [setting.collection.n_items for setting, _ in drawn]
    print(f"{collections} collections of {SYSTEMS} systems and {QUERIES} queries, {min(items)} to {max(items)} items")
    for rule in map(parse_stop, RULES):
        print(f"\n{rule}: real judgments, and the plan's low, median and high")
        pairs = Helpers.given(told).each(_plan_and_play, rule, [(*one, number) for number, one in enumerate(drawn)])
        for planned, real in pairs:
            verdict = "" if planned.low <= real <= planned.high else "  outside"
            print(f"  {real:5d} {planned.low:6d} {planned.median:5d} {planned.high:5d}{verdict}")
        print(summary(pairs))
    print(f"\n{time.monotonic() - began:.0f} s")


def draw_collection(mirex: Mirex, rng: np.random.Generator) -> tuple[Setting, Floats]:
    """Draw some systems and queries; return them with the gains of all items."""
    runs = mirex.runs.select(
        systems=draw_some(rng, mirex.runs.systems, SYSTEMS), queries=draw_some(rng, mirex.reporting, QUERIES)
    )
    collection = Collection.from_runs(runs, depth=MEASURE.cutoff, metadata=mirex.metadata)
    return Setting(collection, mirex.judgments.scale), np.maximum(item_gains(collection, mirex.judgments), 0.0)


def plan_and_play(setting: Setting, truth: Floats, rule: StopRule, *, seed: int) -> tuple[Plan, int]:
    """Make a plan, and count the judgments of the real campaign."""
    campaign = Campaign(Problem(setting, MEASURE, stop=rule, seed=seed))
    planned = plan(campaign, repeats=FEWEST_FOR_A_RANGE, batch=BATCH)
    *_, last = play(campaign, oracle(truth), batch=BATCH)
    return planned, last.judged


def _plan_and_play(rule: StopRule, setting: Setting, truth: Floats, seed: int) -> tuple[Plan, int]:
    return plan_and_play(setting, truth, rule, seed=seed)


def summary(pairs: list[tuple[Plan, int]]) -> str:
    """Say how often the range held, and how far off the median was."""
    low, median, high = np.array([planned.range for planned, _ in pairs]).T
    real = np.array([judged for _, judged in pairs])
    inside, below, above = (np.mean(where) for where in ((low <= real) & (real <= high), real < low, real > high))
    ratio = np.median(real / np.maximum(median, 1))
    return (
        f"  in the range {inside:.0%} (80% wanted), below {below:.0%}, above {above:.0%}; "
        f"real over planned, median {ratio:.2f}; the range spans a factor of {np.median(high / np.maximum(low, 1)):.0f}"
    )


if __name__ == "__main__":
    main()
