"""Noisy assessors: how often the 95% intervals contain the truth, not one assessor's opinion.

``python -m benchmarks.honesty.assessors`` makes collections up in which every item has a true gain, the mean answer of
a large population of assessors. A campaign has eight of them. Each is more or less generous than the population
(standard deviation .08 of the scale) and does not answer twice the same (.12). Every item that the policy proposes is
judged by one, two or three of them, drawn at random. It prints coverage of the truth for pairs and systems by the
number of answers given, and the half-width of systems.

With one answer per item nobody can tell the noise of assessors from differences between items, and the mean of eight
assessors is taken for the truth: intervals of systems are then too narrow by design.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl
from scipy import stats

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.text import text_collection
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.predictors.base import Setting
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.mtc import Uniform

MEASURE = earmark.parse("AG@10")
LOOKS = (60, 120, 240)
"""Numbers of answers, whatever number of items they are about."""
_ASSESSORS, _SEVERITY, _NOISE = 8, 0.08, 0.12
_BATCH = 12


def mean_answer(gain: Floats) -> Floats:
    """Return what assessors answer on average about items of some latent gain, cut off at the ends of the scale."""
    deviation = np.hypot(_SEVERITY, _NOISE)
    low, high = (0.0 - gain) / deviation, (1.0 - gain) / deviation
    inside = gain * (stats.norm.cdf(high) - stats.norm.cdf(low))
    return np.asarray(inside + deviation * (stats.norm.pdf(low) - stats.norm.pdf(high)) + stats.norm.sf(high))


def campaign_rows(_: None, number: int, per_item: int) -> list[dict[str, float]]:
    """Play one campaign with so many answers per item."""
    rng = np.random.default_rng([2027, number])
    runs, judgments = text_collection(rng, systems=12, queries=30)
    setting = Setting(Collection.from_runs(runs, depth=10), earmark.FINE)
    level = np.maximum(item_gains(setting.collection, judgments), 0.0)
    latent = (level + rng.random(level.size)) / 4.0
    top = float(earmark.FINE.top)
    true = Estimator(setting, MEASURE, samples=2).estimate(Uniform(setting).predict(mean_answer(latent) * top))
    severity = rng.normal(0.0, _SEVERITY, _ASSESSORS)
    policy = make_policy("variance")
    campaign = Campaign(Problem(setting, MEASURE, lambda made: Hierarchical(made), policy, seed=number))
    given, rows = 0, []
    while given < LOOKS[-1]:
        items = campaign.propose(_BATCH // per_item).items
        who = np.argsort(rng.random((items.size, _ASSESSORS)), axis=1)[:, :per_item]
        for assessor in np.unique(who):
            mine = items[(who == assessor).any(axis=1)]
            said = np.clip(latent[mine] + severity[assessor] + rng.normal(0.0, _NOISE, mine.size), 0.0, 1.0)
            sampled = np.zeros(mine.size, dtype=bool)
            campaign = campaign.with_answers(Answers(mine, np.round(said * top), sampled, f"assessor {assessor}"))
        given += items.size * per_item
        if given in LOOKS:
            ranking, fact = campaign.ranking, true.differences.mean
            held = (ranking.difference_low <= fact) & (fact <= ranking.difference_high)
            of_systems = (ranking.low <= true.scores.mean) & (true.scores.mean <= ranking.high)
            rows.append(
                {
                    "per_item": per_item,
                    "answers": given,
                    "pairs": float(held[ranking.compared].mean()),
                    "systems": float(of_systems.mean()),
                    "half_width": float((ranking.high - ranking.low).mean() / 2),
                }
            )
    return rows


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=60)
    Helpers.options(parser)
    told = parser.parse_args()
    tasks = [(number, per_item) for per_item in (1, 2, 3) for number in range(told.campaigns)]
    parts = Helpers.given(told).each(campaign_rows, None, tasks)
    rows = pl.DataFrame([row for part in parts for row in part])
    found = rows.group_by("per_item", "answers", maintain_order=True).agg(
        pl.len().alias("campaigns"),
        pl.col("pairs", "systems", "half_width").mean(),
        (pl.col("pairs", "systems").std() / pl.len().sqrt()).name.suffix("_se"),
    )
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=120):
        print(found)


if __name__ == "__main__":
    main()
