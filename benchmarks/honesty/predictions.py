"""Do guaranteed intervals hold whatever predicts? Samples of real collections, corrected by every predictor.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.honesty.predictions [--samples 150] [--predictor NAME ...]`` draws parts
of MIREX 2011 (8 systems, 30 queries, AG@5, some 900 items) and of the TREC Deep Learning track of 2019 (12 systems, 30
queries, AG@10, some 1,050 items), judges the first items of a sample order of each and estimates by design. Beside the
registered predictors there are three files for ``external``:

===================  ===================================================================================================
``external truth``   the level nearest to the true gain, with probability 1
``external scores``  the true gain with noise as large as the gains vary, as one score
``external wrong``   the opposite of the true level, with probability .8
===================  ===================================================================================================

Printed are the shares of 95% intervals of pairs and systems that hold the true value, with standard errors over samples
(intervals of one sample hold or miss together), half of their mean width, the mean confidence in signs and the share of
them that is right, and the root mean square error of systems.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.guaranteed import hold, true_estimates
from benchmarks.honesty.resampled import collection_of
from earmark.beliefs.beliefs import UNJUDGED
from earmark.campaign.verdict import Inference, Verdicts
from earmark.data.arrays import Floats
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import PREDICTORS, Predictor, Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.external import External
from earmark.predictors.mtc import Uniform
from earmark.predictors.ordinal_levels import model_levels

SIZES = (60, 120, 300)
MEASURES = {"music": "AG@5", "text": "AG@10"}
PUBLISHED = ("mtc-output", "mtc-judge")
FILES = ("external truth", "external scores", "external wrong")


def predictor_of(name: str, setting: Setting, truth: Floats, rng: np.random.Generator) -> Predictor:
    """Make a predictor, its file where it needs one included."""
    if name not in FILES:
        return PredictorChoice(name)(setting)
    items = setting.collection.item_frame().select("query", "document")
    if name == "external scores":
        table = items.with_columns(score=truth + rng.normal(0, truth.std(), truth.size))
    else:
        levels = np.array(model_levels(setting.scale))
        level = np.abs(truth[:, None] - levels).argmin(axis=1)
        chances = np.zeros((truth.size, levels.size))
        if name == "external truth":
            chances[np.arange(truth.size), level] = 1.0
        else:
            chances += 0.2 / levels.size
            chances[np.arange(truth.size), levels.size - 1 - level] += 0.8
        table = items.hstack([pl.Series(f"{gain:g}", column) for gain, column in zip(levels, chances.T, strict=True)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        table.write_parquet(path)
        return External(setting, path)


def one_sample(kind: str, number: int, names: Sequence[str], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Judge one sample of one collection; one row for every predictor and size."""
    setting, truth = collection_of(kind, number)
    measure = earmark.parse(MEASURES[kind])
    true = true_estimates(setting, truth, measure)
    rng = np.random.default_rng([7, number])
    for name in names:
        if name in PUBLISHED and kind != "music":
            continue
        predictor = predictor_of(name, setting, truth, rng)
        verdicts = Verdicts(setting, measure, predictor, inference=Inference("design"), seed=number)
        for judged in sizes:
            gains = np.where(verdicts.item_order.sampled(judged), truth, UNJUDGED)
            estimates = verdicts.by_design(Uniform(setting).predict(gains)).estimates
            ranking = rank_systems(estimates)
            held = hold(ranking, true)
            differ = ranking.compared & (true.differences.mean != 0)
            right = (ranking.better > 0.5) == (true.differences.mean > 0)
            error = estimates.scores.mean - true.scores.mean
            yield {
                "collection": kind,
                "predictor": name,
                "judged": judged,
                "pairs": held.pairs,
                "systems": held.systems,
                "± pairs": held.width_pairs,
                "± systems": held.width_systems,
                "confidence": float(ranking.confidence[differ].mean()),
                "accuracy": float(right[differ].mean()),
                "error": float(np.sqrt(np.mean(error**2))),
            }


def _rows(_: None, kind: str, number: int, names: Sequence[str], sizes: Sequence[int]) -> list[dict[str, Any]]:
    return list(one_sample(kind, number, names, sizes))


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Average over samples."""
    held = [
        expression
        for name in ("pairs", "systems")
        for expression in (pl.col(name).mean(), (pl.col(name).std() / pl.len().sqrt()).alias(f"{name} se"))
    ]
    rest = pl.col("± pairs", "± systems", "confidence", "accuracy", "error").mean()
    return frame.group_by("collection", "predictor", "judged", maintain_order=True).agg(
        pl.len().alias("n"), *held, rest
    )


def main() -> None:
    """Run the study and print its table."""
    every = (*PREDICTORS.names(), *FILES)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=150, help="how many samples of each collection")
    parser.add_argument("--predictor", nargs="+", choices=every, default=every, help="which predictors")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many sampled judgments")
    parser.add_argument("--collection", nargs="+", choices=tuple(MEASURES), default=tuple(MEASURES))
    parser.add_argument("--output", type=Path, help="write the table to this CSV file")
    Helpers.options(parser)
    told = parser.parse_args()
    began = time.monotonic()
    tasks = [(kind, number, told.predictor, told.sizes) for kind in told.collection for number in range(told.samples)]
    rows = [row for part in Helpers.given(told).each(_rows, None, tasks) for row in part]
    made = table(pl.DataFrame(rows).sort("collection", "predictor", "judged", maintain_order=True))
    if told.output:
        made.write_csv(told.output, float_precision=4)
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        float_precision=3,
        tbl_hide_dataframe_shape=True,
        tbl_width_chars=150,
        tbl_hide_column_data_types=True,
    ):
        print(made)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
