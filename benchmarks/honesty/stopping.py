"""Is what a campaign says when it stops still true? Whole campaigns on resampled MIREX 2011, and rules to stop by.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.honesty.stopping [--resamples 40]`` draws 8 of 18 systems and 30 of the 45
reporting queries, plays campaigns to the very end, 20 judgments between two looks, and finds for every rule the first
look that it would have stopped at:

===================  ===================================================================================================
``model``            the hierarchical predictor and the policy variance
``guaranteed``       the same predictor, a proportional sample, estimates by design
``model, absolute``  the policy variance:absolute, which is after the scores themselves, for the rule about their widths
``published MTC``    the published model mtc-judge and the policy mtc (it was fitted on these queries too)
===================  ===================================================================================================

Whoever looks often and stops when the numbers please stops at lucky moments. So at the stop are compared: the mean
confidence claimed with the share of pairs in the right order, and the share of pairs that are wrong among those called
decided (confidence of .95 or more; with a margin, wrong by more than the margin) with the .05 that is allowed.
``best is wrong`` says how often the system called best is not.

The last table is about all looks from 100 judgments on: the share of 95% intervals of pairs and systems that missed at
any of them, ordinary ones and those that are to hold at any time, and how much wider these are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.guaranteed import MEASURE, held_intervals, hold, true_estimates
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.estimates import Estimates
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import Never, StopRule, StopState, parse_stop
from earmark.campaign.verdict import Inference, Mode
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice

SYSTEMS, QUERIES, BATCH, DECIDED = 8, 30, 20, 0.95
METHODS: dict[str, tuple[str, str, Mode]] = {
    "model": ("hierarchical", "variance", "model"),
    "guaranteed": ("hierarchical", "proportional", "design"),
    "model, absolute": ("hierarchical", "variance:absolute", "model"),
    "published MTC": ("mtc-judge", "mtc", "model"),
}
RULES: tuple[StopRule, ...] = (
    parse_stop("mean:0.9"),
    parse_stop("mean:0.95"),
    parse_stop("decided:0.8"),
    parse_stop("decided:0.9"),
    parse_stop("decided:0.8", margin=0.01),
    parse_stop("decided:0.9", margin=0.01),
    parse_stop("top:1"),
    parse_stop("width:0.1"),
)


@dataclass(frozen=True)
class Stop:
    """One campaign at the stop of one rule.

    Attributes
    ----------
    resample : int
    method, rule : str
    share : float, 0..1
        Of the items, judged.
    judged : int
    confidence, accuracy : float, 0..1
        The mean confidence over pairs, and the share of pairs in the right order.
    decided, wrong : int
        How many pairs are called decided, and how many of them are wrong.
    best_is_wrong : bool
    coverage_pairs, coverage_systems : float, 0..1
    """

    resample: int
    method: str
    rule: str
    share: float
    judged: int
    confidence: float
    accuracy: float
    decided: int
    wrong: int
    best_is_wrong: bool
    coverage_pairs: float
    coverage_systems: float


@dataclass(frozen=True)
class Ever:
    """One campaign over all looks from the first on: shares of intervals that ever missed, and half of their width."""

    resample: int
    method: str
    intervals: str
    pairs: float
    systems: float
    width_systems: float


def one_resample(mirex: Mirex, number: int, methods: tuple[str, ...] = tuple(METHODS)) -> tuple[list[Stop], list[Ever]]:
    """Play one campaign per method on one resampled collection."""
    rng = np.random.default_rng([31, number])
    runs = mirex.runs.select(
        systems=draw_some(rng, mirex.runs.systems, SYSTEMS), queries=draw_some(rng, mirex.reporting, QUERIES)
    )
    collection = Collection.from_runs(runs, depth=MEASURE.cutoff, metadata=mirex.metadata)
    setting = Setting(collection, earmark.FINE)
    truth = np.maximum(item_gains(collection, mirex.judgments), 0.0)
    true = true_estimates(setting, truth)
    stops, evers = [], []
    for method in methods:
        rankings = _campaign(setting, truth, method, number)
        stops += list(_stops(rankings, true, method, number))
        evers += list(_ever(rankings, true, method, number))
    return stops, evers


def _campaign(setting: Setting, truth: Floats, method: str, number: int) -> list[Ranking]:
    predictor, policy, mode = METHODS[method]
    problem = Problem(
        setting,
        MEASURE,
        PredictorChoice(predictor),
        make_policy(policy),
        Never(),
        Inference(mode),
        seed=number,
        update_every=BATCH,
    )
    return [campaign.ranking for campaign in play(Campaign(problem), oracle(truth), batch=BATCH)]


def _stops(rankings: list[Ranking], true: Estimates, method: str, number: int) -> Iterator[Stop]:
    states = [StopState.from_ranking(ranking) for ranking in rankings]
    fact = true.differences.mean
    for rule in RULES:
        at = next(index for index, state in enumerate(states) if rule.check(state).stop)
        ranking, state = rankings[at], states[at]
        compared, said = ranking.compared, np.sign(ranking.estimates.differences.mean)
        held = hold(ranking, true)
        decided = compared & (state.confidence_within(rule.margin) >= DECIDED)
        wrong = decided & (said * fact < -rule.margin - 1e-9)
        right = np.where(said == 0, 0.5, (said == np.sign(fact)) | (fact == 0))
        best = int(np.argmax(ranking.estimates.scores.mean))
        yield Stop(
            resample=number,
            method=method,
            rule=f"{rule}" + (f" ± {rule.margin:g}" if rule.margin else ""),
            share=state.judged / state.items,
            judged=state.judged,
            confidence=float(ranking.confidence[compared].mean()),
            accuracy=float(right[compared].mean()),
            decided=int(np.count_nonzero(decided)),
            wrong=int(np.count_nonzero(wrong)),
            best_is_wrong=bool(true.scores.mean[best] < true.scores.mean.max() - 1e-9),
            coverage_pairs=held.pairs,
            coverage_systems=held.systems,
        )


def _ever(rankings: list[Ranking], true: Estimates, method: str, number: int) -> Iterator[Ever]:
    late = [ranking for ranking in rankings if ranking.estimates.judged >= FIRST_LOOK]
    for intervals in ("ordinary", "any time"):
        looks = late if intervals == "ordinary" else [at_any_time(ranking) for ranking in late]
        pairs, systems = (
            np.all(held, axis=0) for held in zip(*(held_intervals(look, true) for look in looks), strict=True)
        )
        yield Ever(
            resample=number,
            method=method,
            intervals=intervals,
            pairs=float(1.0 - pairs[late[0].compared].mean()),
            systems=float(1.0 - systems.mean()),
            width_systems=float(np.mean([look.high - look.low for look in looks]) / 2),
        )


def at_any_time(ranking: Ranking) -> Ranking:
    """Widen intervals so that they hold at all looks from the first on."""
    found = ranking.estimates
    growth = AnyTime.by_count(found.judged, items=found.items, first=min(FIRST_LOOK, found.items))
    return rank_systems(found, level=ranking.level, df=ranking.df, anytime=growth)


def study(
    resamples: int, *, methods: tuple[str, ...] = tuple(METHODS), helpers: Helpers | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Play all campaigns; one row per campaign and rule, and one per campaign and kind of interval."""
    tasks = [(number, methods) for number in range(resamples)]
    parts = (helpers or Helpers()).each(one_resample, load_mirex(), tasks)
    stops, evers = ([row for part in parts for row in part[which]] for which in (0, 1))
    return pl.DataFrame([asdict(row) for row in stops]), pl.DataFrame([asdict(row) for row in evers])


def stop_table(stops: pl.DataFrame) -> pl.DataFrame:
    """Average over campaigns; decided pairs are counted over all of them."""
    return stops.group_by("method", "rule", maintain_order=True).agg(
        pl.col("judged").median().cast(pl.Int64).alias("judgments"),
        pl.col("share").mean(),
        pl.col("confidence").mean(),
        pl.col("accuracy").mean(),
        (pl.col("decided").sum() / pl.len()).alias("decided"),
        (pl.col("wrong").sum() / pl.col("decided").sum()).alias("wrong"),
        pl.col("best_is_wrong").mean().alias("best is wrong"),
        pl.col("coverage_pairs").mean().alias("pairs"),
        (pl.col("coverage_pairs").std() / pl.len().sqrt()).alias("se"),
        pl.col("coverage_systems").mean().alias("systems"),
    )


def ever_table(evers: pl.DataFrame) -> pl.DataFrame:
    """Average over campaigns."""
    return evers.group_by("method", "intervals", maintain_order=True).agg(
        pl.col("pairs").mean().alias("pairs ever missed"),
        pl.col("systems").mean().alias("systems ever missed"),
        pl.col("width_systems").mean().alias("± systems"),
    )


def main() -> None:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=40, help="how many collections")
    Helpers.options(parser)
    told = parser.parse_args()
    began = time.monotonic()
    stops, evers = study(told.resamples, helpers=Helpers.given(told))
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        float_precision=3,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_width_chars=160,
        fmt_str_lengths=40,
    ):
        print(f"{told.resamples} collections; at the stop (decided: pairs of {SYSTEMS * (SYSTEMS - 1) // 2}):")
        print(stop_table(stops))
        print(f"Over all looks from {FIRST_LOOK} judgments on:")
        print(ever_table(evers))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
