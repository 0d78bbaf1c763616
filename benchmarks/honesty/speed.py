"""How long a judgment takes: learning from it and choosing the next, and how that grows.

``python -m benchmarks.honesty.speed`` prints processor time, start-up aside: a judgment plus the next choice on 2,000
items of 12 systems (target 10 ms), the next batch of 20 on 6,322 items of 18 systems (target 1 s), and the exponents
with which a judgment's cost grows in queries (target 1) and in systems (target 2 at most).
"""

from __future__ import annotations

import time

import numpy as np

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.exact import system_weights
from earmark.campaign.appraisal import Estimator
from earmark.campaign.loop import policy_state
from earmark.campaign.variance import Variance
from earmark.data.collection import Collection
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import Setting
from earmark.predictors.hierarchical import Hierarchical


class Campaign:
    """A campaign on a made-up collection, one batch at a time."""

    def __init__(self, *, systems: int, queries: int, judged: int = 60) -> None:
        rng = np.random.default_rng(3)
        made = earmark.synthetic_collection(rng, systems=systems, queries=queries, documents=3000)
        self.setting = Setting(Collection.from_runs(made.runs, metadata=made.metadata), earmark.FINE)
        collection, measure = self.setting.collection, earmark.parse("AG@5")
        self.truth = item_gains(collection, made.judgments)
        self.predictor = Hierarchical(self.setting)
        self.estimator = Estimator(self.setting, measure)
        self.weights = system_weights(collection, measure, scale=earmark.FINE)
        self.rng = rng
        self.gains = self.setting.unjudged.copy()
        first = rng.choice(collection.n_items, judged, replace=False)
        self.gains[first] = self.truth[first]
        self.beliefs = self.predictor.predict(self.gains)

    def step(self, batch: int) -> float:
        """Choose a batch, judge it and learn from it; return the processor time taken."""
        start = time.process_time()
        ranking = rank_systems(self.estimator.estimate(self.beliefs))
        state = policy_state(self.setting, self.weights, self.beliefs, ranking)
        items = Variance().propose(state, batch, self.rng).items
        self.gains = self.gains.copy()
        self.gains[items] = self.truth[items]
        self.beliefs = self.predictor.predict(self.gains)
        return time.process_time() - start


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Fit the exponent of growth on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Measure and print."""
    small = Campaign(systems=12, queries=55)
    steps = [small.step(1) for _ in range(40)]
    print(f"{small.setting.collection.n_items:,} items, 12 systems: a judgment and the next choice")
    print(f"  median {1000 * np.median(steps):.1f} ms, mean {1000 * np.mean(steps):.1f} ms (target 10 ms)")
    large = Campaign(systems=18, queries=115)
    batches = [large.step(20) for _ in range(4)]
    print(f"{large.setting.collection.n_items:,} items, 18 systems: the next batch of 20")
    print(f"  median {np.median(batches):.2f} s (target 1 s)")
    for name, sizes in (("queries", [25, 50, 100, 200]), ("systems", [6, 12, 24, 48])):
        taken = []
        for size in sizes:
            by_queries = name == "queries"
            campaign = Campaign(systems=10 if by_queries else size, queries=size if by_queries else 40)
            taken.append(float(np.median([campaign.step(1) for _ in range(10)])))
        shown = ", ".join(f"{size}: {1000 * one:.1f} ms" for size, one in zip(sizes, taken, strict=True))
        print(f"by {name}: {shown}; exponent {exponent(sizes, taken):.2f}")


if __name__ == "__main__":
    main()
