"""What a batch chosen among some items takes off the doubts, beside one chosen among all and one drawn at random.

``python -m benchmarks.scale.batches FOLDER N`` proposes N items for the collection in a folder that
``python -m benchmarks.scale`` has made. The doubts are the probabilities that pairs of systems are the other way round,
summed over all pairs, given the variances after the batch.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from scipy import special

from benchmarks.scale.stages import campaign_of
from earmark.beliefs.estimates import all_pairs
from earmark.campaign.policies import greedy


def main(folder: Path, n: int) -> None:
    """Print the doubts that are left after each kind of batch."""
    campaign = campaign_of(folder)
    beliefs, weights, scores = campaign.beliefs, campaign.problem.weights, campaign.ranking.merit
    a, b = all_pairs(scores.size)

    def doubts(items: np.ndarray) -> float:
        covariance = beliefs.scan(weights, items).score_covariance
        variance = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
        return float(special.ndtr(-np.abs(scores[a] - scores[b]) / np.sqrt(variance)).sum())

    start = doubts(np.zeros(0, dtype=np.int64))
    drawn = np.random.default_rng(0).permutation(beliefs.n_items)[:n].astype(np.int64)
    print(f"{campaign.problem.collection}; doubts before: {start:.1f}")
    print(f"  drawn at random        take off {start - doubts(drawn):.1f}")
    for name, most in (("chosen among some items", 0), ("chosen among all items", sys.maxsize)):
        greedy._MOST_WORK = greedy._MOST_CELLS = most
        began = time.perf_counter()
        items = campaign.propose(n).items
        print(f"  {name:22s} take off {start - doubts(items):.1f}, in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
