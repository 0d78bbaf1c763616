"""Is the answer right when a campaign stops, and what does it cost? Stop rules that follow from a goal, on MIREX 2011.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.honesty.goals [--resamples 40]`` draws 8 of 18 systems and 30 queries of
the reporting half (``--half development``: of the other), and plays campaigns until they stop, 10 judgments between
two looks; a rule has to hold at two of them, ten answers apart.

=====================  =================================================================================================
column                 meaning
=====================  =================================================================================================
``judgments``          the median over campaigns, and ``mean``
``wrong``              campaigns whose answer is wrong by more than the margin: another system is better by more than
                       .02, two systems are in the wrong order by more, a system is on the wrong side of the baseline by
                       more; for ``mean:0.95``, as for best
``not best``           campaigns whose first system is not the best, by however little
``pairs``, ``systems`` the share of 95% intervals that hold, and the standard error of the latter over campaigns
=====================  =================================================================================================
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.forecast import Half, of_mirex
from benchmarks.honesty.mirex import Mirex, load_mirex
from earmark.beliefs.estimates import all_pairs
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem, usual_audit
from earmark.campaign.stopping import parse_stop
from earmark.campaign.verdict import Inference
from earmark.predictors.choose import PredictorChoice
from earmark.simulation.campaigns import Truth, intervals_hold

MARGIN, BATCH = 0.02, 10
ASKED = (
    ("best:0.95:0.02", "variance"),
    ("best:0.95:0.02", "variance:goal"),
    ("mean:0.95", "variance"),
    ("baseline:NAME:0.95:0.02", "variance:goal"),
    ("order:0.95:0.02", "variance"),
)


@dataclass(frozen=True)
class Stop:
    """One campaign at its stop."""

    resample: int
    rule: str
    policy: str
    judged: int
    wrong: bool
    not_best: bool
    pairs: float
    systems: float


def one_campaign(mirex: Mirex, half: Half, number: int, rule: str, policy: str) -> Stop:
    """Play one campaign until it stops."""
    rng = np.random.default_rng([92, number])
    setting, gains = of_mirex(rng, mirex, half)
    systems = setting.collection.systems
    base = int(rng.integers(len(systems)))
    asking = make_policy(policy)
    problem = Problem(
        setting,
        earmark.parse("AG@5"),
        PredictorChoice("hierarchical"),
        asking,
        parse_stop(rule.replace("NAME", systems[base])),
        audit=usual_audit(asking, Inference()),
        seed=number,
    )
    truth = Truth(problem, gains).estimates
    *_, last = play(Campaign(problem), oracle(gains), batch=BATCH)
    ranking, true = last.ranking, truth.scores.mean
    best = int(np.argmin(ranking.rank))
    a, b = all_pairs(true.size)
    # By how much every pair is in the wrong order.
    off = np.where(ranking.estimates.differences.mean * (true[a] - true[b]) < 0, np.abs(true[a] - true[b]), 0.0)
    about = {"order": off, "baseline": off[(a == base) | (b == base)]}
    error = about.get(rule.partition(":")[0], true.max() - true[best]).max()
    compared = ranking.compared
    low, high = ranking.difference_low, ranking.difference_high
    return Stop(
        resample=number,
        rule=rule,
        policy=policy,
        judged=last.judged,
        wrong=bool(error > MARGIN + 1e-9),
        not_best=bool(true[best] < true.max() - 1e-9),
        pairs=float(intervals_hold(low, truth.differences.mean, high)[compared].mean()),
        systems=float(intervals_hold(ranking.low, true, ranking.high).mean()),
    )


def _stops(shared: tuple[Mirex, Half], number: int) -> list[Stop]:
    return [one_campaign(*shared, number, rule, policy) for rule, policy in ASKED]


def table(stops: list[Stop]) -> pl.DataFrame:
    """Average over campaigns."""
    return (
        pl.DataFrame([asdict(stop) for stop in stops])
        .group_by("rule", "policy", maintain_order=True)
        .agg(
            pl.len().alias("campaigns"),
            pl.col("judged").median().alias("judgments"),
            pl.col("judged").mean().alias("mean"),
            (pl.col("judged").std() / pl.len().sqrt()).alias("error"),
            pl.col("wrong").mean(),
            pl.col("not_best").mean().alias("not best"),
            pl.col("pairs").mean(),
            pl.col("systems").mean(),
            (pl.col("systems").std() / pl.len().sqrt()).alias("error of systems"),
        )
    )


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=40)
    parser.add_argument("--half", choices=("development", "reporting"), default="reporting")
    Helpers.options(parser)
    told = parser.parse_args()
    began = time.monotonic()
    tasks = [(number,) for number in range(told.resamples)]
    stops = [stop for part in Helpers.given(told).each(_stops, (load_mirex(), told.half), tasks) for stop in part]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=160):
        print(table(stops))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
