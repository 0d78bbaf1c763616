"""How often an audit notices a wrong model, and how often it accuses a right one.

``python -m benchmarks.honesty.audit`` plays audited campaigns (a quarter of the judgments from a sample) on resampled
collections of :mod:`benchmarks.honesty.everywhere`. At every look with an audit it also asks what the audit would say
if the model's scores of all systems were off by .05, up or down. It prints, per collection and number of sampled
judgments, how often the audit accuses the model as it is, and how often the one that is off; and how often the model as
it is was accused at *some* look up to there.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.resampled import collection_of
from earmark.campaign.campaign import Campaign
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.inference.audit import SUSPICIOUS, audit
from earmark.predictors.hierarchical import Hierarchical

LOOKS = (40, 60, 80, 100, 160, 220)
"""Numbers of sampled judgments; the first look with that many or more counts."""
OFF = 0.05
MEASURES = {"text": "AG@10", "music": "AG@5", "made-up": "AG@10"}


def campaign_rows(_: None, name: str, number: int) -> list[dict[str, float | str]]:
    """Play one campaign and audit it after every batch."""
    measure = earmark.parse(MEASURES[name])
    setting, truth = collection_of(name, number, depth=measure.cutoff)
    policy = make_policy("variance")
    problem = Problem(
        setting, measure, lambda made: Hierarchical(made), policy, audit=policy.sampled_share, seed=number
    )
    model = Estimator(setting, measure, samples=2)
    rows: list[dict[str, float | str]] = []
    smallest, waiting = 1.0, list(LOOKS)
    for campaign in play_through(Campaign(problem), truth, {truth.size: 1.0}, batch=20):
        if not waiting:
            break
        if not campaign.can_audit:
            continue
        by_design = problem.verdicts.by_design(campaign.beliefs)
        estimates = model.estimate(campaign.beliefs)
        p_value = {}
        for off in (0.0, OFF, -OFF):
            scores = replace(estimates.scores, mean=estimates.scores.mean + off)
            shifted = replace(estimates, scores=scores)
            p_value[off] = audit(shifted, by_design.estimates, sampled=by_design.sampled).p_value
        smallest = min(smallest, p_value[0.0])
        while waiting and by_design.sampled >= waiting[0]:
            row: dict[str, float | str] = {"collection": name, "sampled": waiting.pop(0), "p": p_value[0.0]}
            rows.append(row | {"ever": smallest, "up": p_value[OFF], "down": p_value[-OFF]})
    return rows


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", default="text,music,made-up")
    parser.add_argument("--campaigns", type=int, default=60)
    Helpers.options(parser)
    parser.add_argument("--levels", default=f"{SUSPICIOUS:g}", help="p-values below which a model is accused")
    told = parser.parse_args()
    tasks = [(name, number) for name in told.collections.split(",") for number in range(told.campaigns)]
    parts = Helpers.given(told).each(campaign_rows, None, tasks)
    rows = pl.DataFrame([row for part in parts for row in part])
    print(f"accused: the model as it is; noticed: a model off by {OFF:g} in every system")
    for level in map(float, told.levels.split(",")):
        found = rows.group_by("collection", "sampled", maintain_order=True).agg(
            pl.len().alias("campaigns"),
            (pl.col("p") < level).mean().alias("accused"),
            (pl.col("ever") < level).mean().alias("accused_at_some_look"),
            ((pl.col("up") < level).mean() / 2 + (pl.col("down") < level).mean() / 2).alias("noticed"),
        )
        with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=2, tbl_hide_dataframe_shape=True):
            print(f"p below {level:g}", found, sep="\n")


if __name__ == "__main__":
    main()
