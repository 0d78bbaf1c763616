"""``python -m benchmarks.honesty.live_preferences``: intervals of preference campaigns that are looked at all the time.

The dashboard of a campaign shows a ranking after every answer. Simulated crowds answer pair questions that the
adaptive policy chooses, up to the last pair; at every look from the first one on, the intervals are compared with the
truth. Printed is the share of intervals that never miss, for intervals of one look and for those that hold at any time.

A share of .95 or more is what the dashboard promises. Nothing is asserted; 60 campaigns take some minutes.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.helping import Helpers
from earmark.campaign.loop import play
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.data.arrays import Bools
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.simulation.pair_campaigns import PairWorld, made_up_world

BATCH = 20
SKILLS = (0.65, 0.55, 0.5, 0.4)
# When everything is answered, intervals have no width left.
_ROUNDING = 1e-9


def never_misses(world: PairWorld, seed: int) -> dict[str, tuple[Bools, Bools]]:
    """Play a campaign to its end; tells of every system and every difference whether its interval ever missed."""
    problem = PairProblem(world.design, world.needed, seed=seed)
    pairs = len(SKILLS) * (len(SKILLS) - 1) // 2
    held = {name: (np.ones(len(SKILLS), bool), np.ones(pairs, bool)) for name in ("one look", "any time")}
    for campaign in play(PairCampaign.begin(problem), world.answer, batch=BATCH):
        ranking = campaign.look.estimates.ranking
        judged, items = ranking.estimates.judged, ranking.estimates.items
        if judged < FIRST_LOOK:
            continue
        anytime = AnyTime.by_count(judged, items=items, first=FIRST_LOOK)
        lasting = rank_systems(ranking.estimates, level=ranking.level, df=ranking.df, anytime=anytime)
        for name, one in (("one look", ranking), ("any time", lasting)):
            systems, differences = _hold(one, world)
            held[name] = (held[name][0] & systems, held[name][1] & differences)
    return held


def _hold(ranking: Ranking, world: PairWorld) -> tuple[Bools, Bools]:
    estimates, truth = ranking.estimates, world.truth
    difference = truth[estimates.a] - truth[estimates.b]
    systems = (ranking.low <= truth + _ROUNDING) & (truth - _ROUNDING <= ranking.high)
    low, high = ranking.difference_low, ranking.difference_high
    pairs = (low <= difference + _ROUNDING) & (difference - _ROUNDING <= high)
    return systems, pairs


def _campaign(seed: int, repeat: int) -> dict[str, tuple[Bools, Bools]]:
    rng = np.random.default_rng([seed, repeat])
    return never_misses(made_up_world(rng, skills=SKILLS, queries=20, documents=20, depth=10, pairs=30), repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    Helpers.options(parser)
    args = parser.parse_args()
    table = Table("intervals", "campaigns", "systems that never miss", "se", "differences that never miss", "se")
    found: dict[str, list[tuple[float, float]]] = {"one look": [], "any time": []}
    tasks = [(repeat,) for repeat in range(args.campaigns)]
    for campaign in Helpers.given(args).each(_campaign, args.seed, tasks):
        for name, (systems, differences) in campaign.items():
            found[name].append((float(systems.mean()), float(differences.mean())))
    for name, shares in found.items():
        mean, error = np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
        numbers = [f"{value:.3f}" for pair in zip(mean, error, strict=True) for value in pair]
        table.add_row(name, str(len(shares)), *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()
