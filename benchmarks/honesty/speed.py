"""How long a judgment takes: learning from it, concluding and choosing the next, and how that grows.

``python -m benchmarks.honesty.speed`` prints processor time, start-up aside: a judgment plus the next choice on 2,000
items of 12 systems (target 10 ms), the next batch of 20 on 6,322 items of 18 systems (target 1 s), and the exponents
with which a judgment's cost grows in queries (target 1) and in systems (target 2 at most).
"""

from __future__ import annotations

import time

import numpy as np

import earmark
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.problem import Problem


class Clock:
    """A campaign on a made-up collection, one batch at a time, as every driver goes through it."""

    def __init__(self, *, systems: int, queries: int, batch: int = 1, judged: int = 60) -> None:
        rng = np.random.default_rng(3)
        made = earmark.synthetic_collection(rng, systems=systems, queries=queries, documents=3000)
        problem = Problem.build(made.runs, metadata=made.metadata, scale=earmark.FINE, measure="AG@5")
        self.truth = item_gains(problem.collection, made.judgments)
        first = rng.choice(problem.collection.n_items, judged, replace=False)
        self.campaign = Campaign(problem).with_answers(Answers(first, self.truth[first]))
        self.batch = batch
        self.next = self.campaign.propose(batch).items

    def step(self) -> float:
        """Judge what was proposed, conclude and choose the next batch; return the processor time taken."""
        start = time.process_time()
        self.campaign = self.campaign.with_answers(Answers(self.next, self.truth[self.next]))
        assert self.campaign.look is not None
        self.next = self.campaign.propose(self.batch).items
        return time.process_time() - start

    @property
    def items(self) -> int:
        """How many items there are."""
        return self.truth.size


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Fit the exponent of growth on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Measure and print."""
    small = Clock(systems=12, queries=55)
    steps = [small.step() for _ in range(40)]
    print(f"{small.items:,} items, 12 systems: a judgment and the next choice")
    print(f"  median {1000 * np.median(steps):.1f} ms, mean {1000 * np.mean(steps):.1f} ms (target 10 ms)")
    large = Clock(systems=18, queries=115, batch=20)
    batches = [large.step() for _ in range(4)]
    print(f"{large.items:,} items, 18 systems: the next batch of 20")
    print(f"  median {np.median(batches):.2f} s (target 1 s)")
    for name, sizes in (("queries", [25, 50, 100, 200]), ("systems", [6, 12, 24, 48])):
        taken = []
        for size in sizes:
            by_queries = name == "queries"
            clock = Clock(systems=10 if by_queries else size, queries=size if by_queries else 40)
            taken.append(float(np.median([clock.step() for _ in range(10)])))
        shown = ", ".join(f"{size}: {1000 * one:.1f} ms" for size, one in zip(sizes, taken, strict=True))
        print(f"by {name}: {shown}; exponent {exponent(sizes, taken):.2f}")


if __name__ == "__main__":
    main()
