"""``python -m benchmarks.fewer_questions``: how many pair questions the adaptive choice saves, and how honest it is.

Three crowds answer: a made-up one of the model's own kind; the simulated SRBENCH, whose people differ in reliability
and of whom some cheat, with its 5,990 questions and two systems; and the recorded answers about 281 pairs of melodies
(where the data are), with three made-up systems. Every campaign is played with the same beliefs by three policies,
which differ in what they ask alone, until the mean confidence is .95. Printed are the medians of the questions asked,
how often the order of systems was right then, how often 95% intervals of the differences held there, and, at the same
number of questions for all policies, how wide they were.

Nothing here is asserted. It takes about two minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from earmark.campaign.pairs.policies import PairPolicy
from earmark.crowd.platforms import find_mapping
from earmark.crowd.results import read_results
from earmark.simulation.pair_campaigns import (
    PairOutcome,
    PairWorld,
    made_up_world,
    recorded_world,
    runs_with_errors,
    simulate_pairs,
)
from earmark.simulation.srbench import simulated_srbench

POLICIES: tuple[PairPolicy, ...] = ("random", "told-apart", "adaptive")
TARGET = 0.95


@dataclass(frozen=True)
class Crowd:
    """Who answers, in how many campaigns, and how many questions are put at a time."""

    name: str
    world: Callable[[int], PairWorld]
    campaigns: int
    batch: dict[PairPolicy, int]
    compared_at: int


def crowds(data: Path, scale: float) -> Iterator[Crowd]:
    def made_up(repeat: int) -> PairWorld:
        rng = np.random.default_rng([1, repeat])
        return made_up_world(rng, skills=(0.6, 0.45), queries=15, documents=20, depth=10, pairs=30)

    def srbench(repeat: int) -> PairWorld:
        simulated = simulated_srbench(np.random.default_rng([2, repeat]))
        return recorded_world(simulated.answers, simulated.runs, k=20)

    few = max(int(10 * scale), 2)
    yield Crowd("made-up crowd, 2 systems, 450 pairs, 6 answers", made_up, 2 * few, dict.fromkeys(POLICIES, 20), 60)
    batches: dict[PairPolicy, int] = {"random": 240, "told-apart": 60, "adaptive": 20}
    yield Crowd("simulated SRBENCH, 2 systems, 5,990 pairs, 6 answers", srbench, few, batches, 240)
    folder = data / "melody-preferences-2010"
    if not folder.is_dir():
        print(f"left out: the recorded answers about melodies are not in {folder} (set EARMARK_DATA)", file=sys.stderr)
        return
    answers = read_results(folder / "judgments.csv", find_mapping("melody-2010")).preferences

    def melodies(repeat: int) -> PairWorld:
        runs = runs_with_errors(answers.pairs(), np.random.default_rng([3, repeat]), (1.0, 1.5, 2.0))
        return recorded_world(answers, runs, k=100)

    name = "recorded melodies, 3 made-up systems, 281 pairs, 9 answers"
    yield Crowd(name, melodies, 2 * few, dict.fromkeys(POLICIES, 20), 60)


def play(crowd: Crowd, policy: PairPolicy) -> list[list[PairOutcome]]:
    """Play every campaign until it is sure, and at least to the number of questions at which policies are compared."""
    played = []
    for repeat in range(crowd.campaigns):
        outcomes: list[PairOutcome] = []
        world, batch = crowd.world(repeat), crowd.batch[policy]
        for outcome in simulate_pairs(world, policy=policy, stop="none", batch=batch, seed=4, repeat=repeat):
            outcomes.append(outcome)
            if is_sure(outcome) and outcome.questions >= crowd.compared_at:
                break
        played.append(outcomes)
    return played


def is_sure(outcome: PairOutcome) -> bool:
    return (outcome.mean_confidence or 0.0) >= TARGET


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--scale", type=float, default=1.0, help="how many campaigns, as a multiple of the usual number"
    )
    given = options.parse_args()
    data = Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[2] / "shared" / "data"))
    console = Console(width=150)
    started = time.perf_counter()
    for crowd in crowds(data, given.scale):
        table = Table(title=f"{crowd.name}; {crowd.campaigns} campaigns")
        table.add_column("policy")
        for header in (
            f"questions until mean\nconfidence is {TARGET} (quartiles)",
            "share of\nrandom's",
            "right\nthen",
            "intervals\nhold then",
            f"half width at\n{crowd.compared_at} questions",
            f"intervals hold at\n{crowd.compared_at} questions",
        ):
            table.add_column(header, justify="right")
        of_random = 0.0
        for policy in POLICIES:
            played = play(crowd, policy)
            sure = [next((one for one in outcomes if is_sure(one)), outcomes[-1]) for outcomes in played]
            same = [next(one for one in outcomes if one.questions >= crowd.compared_at) for outcomes in played]
            low, middle, high = np.quantile([one.questions for one in sure], (0.25, 0.5, 0.75))
            of_random = of_random or float(middle)
            table.add_row(
                policy,
                f"{middle:,.0f} ({low:,.0f}–{high:,.0f})",
                f"{middle / of_random:.2f}",
                f"{np.mean([one.accuracy for one in sure if one.accuracy is not None]):.3f}",
                f"{np.mean([one.coverage_pairs_95 for one in sure if one.coverage_pairs_95 is not None]):.3f}",
                f"{np.mean([one.half_width_pairs for one in same if one.half_width_pairs is not None]):.4f}",
                f"{np.mean([one.coverage_pairs_95 for one in same if one.coverage_pairs_95 is not None]):.3f}",
            )
        console.print(table)
    console.print(f"{time.perf_counter() - started:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
