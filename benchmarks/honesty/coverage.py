"""Does 95% mean 95%? Resampled collections from the reporting queries of MIREX 2011, several methods side by side.

``python -m benchmarks.honesty.coverage [--resamples 100] [--jobs N]`` draws 8 of 18 systems and 30 of the 45 reporting
queries again and again, plays one campaign per method on each, and looks at 0, 2, 5, 10 and 20% of the items judged.
Every look is scored by AG@5, DCG@5, nDCG@5 and nRBP@5: coverage of the 95% intervals of pairs and of systems, mean
confidence, and accuracy (share of pairs in the right order). Shipped priors come from the other half of the queries;
the published models were fitted on all of them, these queries included.

``--output FILE`` keeps all rows, ``--rows FILE`` takes them from there instead of playing again, and ``--summary DIR``
writes what the pictures of ``docs/honesty.md`` are drawn from: ``coverage.csv`` and ``accuracy.csv``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.estimates import Estimates
from earmark.campaign.campaign import Campaign
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.inference.confidence import rank_systems
from earmark.measures import parse
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.mtc import Uniform

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
MEASURES = ("AG@5", "DCG@5", "nDCG@5", "nRBP@5")
METHODS = {
    "hierarchical, variance": ("hierarchical", "variance", 10),
    "hierarchical, random": ("hierarchical", "random", 10),
    "ordinal, mtc": ("ordinal", "mtc", 20),
    "ordinal, random": ("ordinal", "random", 20),
    "published MTC": ("mtc-judge", "mtc", 20),
    "mtc-output, mtc": ("mtc-output", "mtc", 20),
    "uniform, mtc": ("uniform", "mtc", 20),
}
_SYSTEMS, _QUERIES, _SAMPLES = 8, 30, 400
_AVERAGED = ("coverage_pairs", "coverage_systems", "confidence", "accuracy", "half_width")
_GRID = np.linspace(0.0, max(SHARES), 21)


@dataclass(frozen=True)
class Row:
    """One look at one campaign by one measure, or by AG@5 on the way."""

    resample: int
    method: str
    measure: str
    share: float
    judged: int
    coverage_pairs: float
    coverage_systems: float
    confidence: float
    accuracy: float
    half_width: float


def one_resample(mirex: Mirex, number: int, methods: tuple[str, ...]) -> list[Row]:
    """Play one campaign per method on one resampled collection."""
    rng = np.random.default_rng([2026, number])
    runs = mirex.runs.select(
        systems=draw_some(rng, mirex.runs.systems, _SYSTEMS), queries=draw_some(rng, mirex.reporting, _QUERIES)
    )
    collection = Collection.from_runs(runs, depth=5, metadata=mirex.metadata)
    setting = Setting(collection, earmark.FINE)
    truth = np.maximum(item_gains(collection, mirex.judgments), 0.0)
    return [row for method in methods for row in _campaign(number, method, setting, truth)]


def _campaign(number: int, method: str, setting: Setting, truth: Floats) -> Iterator[Row]:
    name, policy, batch = METHODS[method]
    problem = Problem(setting, parse("AG@5"), PredictorChoice(name), make_policy(policy), seed=number)
    looks = {round(share * truth.size): share for share in SHARES}
    estimators = {measure: Estimator(setting, parse(measure), samples=_SAMPLES) for measure in MEASURES}
    true = {measure: one.estimate(Uniform(setting).predict(truth)) for measure, one in estimators.items()}
    for campaign in play_through(Campaign(problem), truth, looks, batch=batch):
        judged = campaign.judged
        if judged in looks:
            for measure, estimator in estimators.items():
                found = estimator.estimate(campaign.beliefs)
                yield _row(number, method, measure, looks[judged], judged, found, true[measure])
        else:
            yield _row(number, method, "AG@5", -1.0, judged, campaign.ranking.estimates, true["AG@5"])


def _row(number: int, method: str, measure: str, share: float, judged: int, found: Estimates, true: Estimates) -> Row:
    ranking = rank_systems(found)
    compared = ranking.compared
    fact = true.differences.mean
    holds = (ranking.difference_low <= fact) & (fact <= ranking.difference_high)
    within = (ranking.low <= true.scores.mean) & (true.scores.mean <= ranking.high)
    said = np.sign(found.differences.mean)
    right = np.where(said == 0, 0.5, (said == np.sign(fact)) | (fact == 0))
    return Row(
        resample=number,
        method=method,
        measure=measure,
        share=share,
        judged=judged,
        coverage_pairs=float(holds[compared].mean()),
        coverage_systems=float(within.mean()),
        confidence=float(ranking.confidence[compared].mean()),
        accuracy=float(right[compared].mean()),
        half_width=float((ranking.high - ranking.low).mean() / 2),
    )


def study(resamples: int, *, methods: tuple[str, ...] = tuple(METHODS), helpers: Helpers | None = None) -> pl.DataFrame:
    """Play all campaigns; one row per look and measure."""
    tasks = [(number, methods) for number in range(resamples)]
    parts = (helpers or Helpers()).each(one_resample, load_mirex(), tasks)
    return pl.DataFrame([asdict(row) for part in parts for row in part])


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Average over resamples at the shares that are reported, with standard errors over resamples (``…_se``)."""
    return (
        frame.filter(pl.col("share") >= 0)
        .group_by("method", "measure", "share", maintain_order=True)
        .agg(
            pl.len().alias("resamples"),
            pl.col(_AVERAGED).mean(),
            (pl.col(_AVERAGED).std() / pl.len().sqrt()).name.suffix("_se"),
        )
        .with_columns(excess=pl.col("confidence") - pl.col("accuracy"))
    )


def accuracy_curves(frame: pl.DataFrame) -> pl.DataFrame:
    """Average confidence and accuracy by AG@5 over resamples, at every percent of the items judged.

    Every resample counts at every share, between two looks by a straight line. Averages at a *number* of judgments
    would end with the largest collections alone, whose systems are easier to tell apart.
    """
    looks = frame.filter(pl.col("measure") == "AG@5").sort("judged")
    rows = []
    for (method,), campaigns in looks.group_by("method", maintain_order=True):
        curves = []
        for _, campaign in campaigns.group_by("resample", maintain_order=True):
            judged = campaign["judged"].to_numpy()
            share = judged * max(SHARES) / judged[-1]
            curves.append([np.interp(_GRID, share, campaign[name].to_numpy()) for name in ("confidence", "accuracy")])
        found = np.array(curves)
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(curves))
        columns = {"confidence": mean[0], "accuracy": mean[1], "accuracy_se": error[1]}
        rows.append(pl.DataFrame({"method": [method] * _GRID.size, "share": _GRID, **columns}))
    order = {method: place for place, method in enumerate(METHODS)}
    return pl.concat(rows).sort(pl.col("method").replace_strict(order, default=len(order)), "share")


def shares_to_reach(curves: pl.DataFrame, accuracies: tuple[float, ...]) -> pl.DataFrame:
    """Find what share of the items it takes until the averaged accuracy reaches a value and stays there."""
    rows = []
    for (method,), part in curves.group_by("method", maintain_order=True):
        shares, reached = part["share"].to_numpy(), part["accuracy"].to_numpy()
        for accuracy in accuracies:
            below = np.flatnonzero(reached < accuracy)
            first = 0 if not below.size else int(below[-1]) + 1
            share = float(shares[first]) if first < shares.size else None
            rows.append({"method": method, "accuracy": accuracy, "share": share})
    return pl.DataFrame(rows).pivot(on="accuracy", index="method", values="share")


def write_summary(frame: pl.DataFrame, folder: Path) -> None:
    """Write what the pictures are drawn from."""
    table(frame).drop("excess").write_csv(folder / "coverage.csv", float_precision=4)
    accuracy_curves(frame).write_csv(folder / "accuracy.csv", float_precision=4)


def main() -> None:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=100)
    Helpers.options(parser)
    parser.add_argument("--output", type=Path, help="write all rows to this CSV file")
    parser.add_argument("--rows", type=Path, help="take the rows of an earlier run from this CSV file")
    parser.add_argument("--summary", type=Path, help="write coverage.csv and accuracy.csv to this folder")
    told = parser.parse_args()
    frame = pl.read_csv(told.rows) if told.rows else study(told.resamples, helpers=Helpers.given(told))
    if told.output:
        frame.write_csv(told.output)
    if told.summary:
        write_summary(frame, told.summary)
    items = float(frame.filter(pl.col("share") == max(SHARES))["judged"].to_numpy().mean()) / max(SHARES)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=140):
        print(table(frame).drop("resamples", *(f"{name}_se" for name in _AVERAGED)))
        print(f"Share of the items, {items:.0f} on average, judged until the accuracy by AG@5 stays at a value:")
        print(shares_to_reach(accuracy_curves(frame), (0.88, 0.89, 0.9, 0.91, 0.92, 0.93, 0.94)))
    print(json.dumps({"resamples": frame["resample"].n_unique()}))


if __name__ == "__main__":
    main()
