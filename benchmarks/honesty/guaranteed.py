"""Are guaranteed intervals as wide as they must be and no wider? Samples of MIREX 2011, from 60 to 2,000 judgments.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.honesty.guaranteed [--seeds 60]`` judges the first items of as many sample
orders of the whole collection (18 systems, 100 queries, AG@5) and estimates by design, with three kinds of predictions
to correct:

==================  ====================================================================================================
``hierarchical``    the hierarchical predictor's, each from all sampled items but its own, as campaigns use them
``mean of others``  the simplest leave-one-out prediction: what the sample gives without a model
``upside down``     the hierarchical predictor's turned upside down: coverage must not depend on the model
==================  ====================================================================================================

Printed are the shares of 95% intervals of pairs and of systems that hold the true value, with a standard error over
seeds (intervals of one seed hold or miss together), and half of their mean width; for the hierarchical predictor beside
the numbers of the prototype that the design comes from. The shipped prior was fitted on half of these queries; by the
design, coverage cannot depend on that, and with ``--queries reporting`` widths cannot either.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.mirex import Mirex, load_mirex
from earmark.beliefs.beliefs import UNJUDGED, item_gains
from earmark.beliefs.estimates import Estimates
from earmark.campaign.verdict import Estimator, Inference, Verdicts
from earmark.data.arrays import Bools, Floats
from earmark.data.collection import Collection
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.design_based import DesignEstimator, mean_of_others
from earmark.measures import Measure
from earmark.predictors.base import Setting
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.mtc import Uniform

SIZES = (60, 120, 300, 600, 1000, 2000)
MEASURE = earmark.parse("AG@5")
PREDICTIONS = ("hierarchical", "mean of others", "upside down")

PROTOTYPE = pl.DataFrame(
    {
        "judged": SIZES,
        "pairs, prototype": (0.98, 0.96, 0.95, 0.95, 0.95, 0.95),
        "systems, prototype": (0.97, 0.96, 0.95, 0.95, 0.95, 0.95),
        "± systems, prototype": (0.259, 0.159, 0.086, 0.054, 0.038, 0.022),
        "± pairs, prototype": (0.31, 0.21, 0.116, 0.073, 0.052, 0.031),
    }
)
"""Coverage and half-widths of the prototype, on the whole collection."""


@dataclass(frozen=True)
class Held:
    """How intervals compare with the truth.

    Attributes
    ----------
    pairs, systems : float, 0..1
        The shares of intervals that hold the true value.
    width_pairs, width_systems : float
        Half of their mean width.
    """

    pairs: float
    systems: float
    width_pairs: float
    width_systems: float


@dataclass(frozen=True)
class Row(Held):
    """One look at one sample."""

    seed: int
    prediction: str
    judged: int


def hold(ranking: Ranking, true: Estimates) -> Held:
    """Hold the intervals of a ranking against the true scores."""
    compared = ranking.compared
    pairs, systems = held_intervals(ranking, true)
    return Held(
        pairs=float(pairs[compared].mean()),
        systems=float(systems.mean()),
        width_pairs=float((ranking.difference_high - ranking.difference_low)[compared].mean() / 2),
        width_systems=float((ranking.high - ranking.low).mean() / 2),
    )


def held_intervals(ranking: Ranking, true: Estimates) -> tuple[Bools, Bools]:
    """Tell which intervals of pairs and of systems hold the true value, but for rounding."""
    difference, score = true.differences.mean, true.scores.mean
    near = 1e-9
    pairs = (ranking.difference_low - near <= difference) & (difference <= ranking.difference_high + near)
    systems = (ranking.low - near <= score) & (score <= ranking.high + near)
    return pairs, systems


def true_estimates(setting: Setting, truth: Floats, measure: Measure = MEASURE) -> Estimates:
    """Return the scores when everything is judged."""
    return Estimator(setting, measure, samples=2).estimate(Uniform(setting).predict(truth))


def one_seed(setting: Setting, truth: Floats, seed: int, *, sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Judge one sample, and estimate from its first items."""
    true = true_estimates(setting, truth)
    predictor = Hierarchical(setting)
    verdicts = Verdicts(setting, MEASURE, predictor, inference=Inference("design"), seed=seed)
    order = verdicts.item_order
    by_items = DesignEstimator(setting.collection, MEASURE, scale=setting.scale, order=order)
    for judged in sizes:
        gains = np.where(order.sampled(judged), truth, UNJUDGED)
        beliefs = predictor.predict(gains)
        out_of_sample = beliefs.leave_one_out()
        found = {
            "hierarchical": verdicts.by_design(beliefs),
            "mean of others": by_items.estimate(gains, mean_of_others(gains)),
            "upside down": by_items.estimate(gains, setting.scale.top - out_of_sample),
        }
        for prediction, result in found.items():
            yield Row(
                **asdict(hold(rank_systems(result.estimates), true)), seed=seed, prediction=prediction, judged=judged
            )


def judged_setting(mirex: Mirex, queries: tuple[str, ...] | None = None) -> tuple[Setting, Floats]:
    """Return the collection, or some of its queries, and the gains of all items."""
    runs = mirex.runs if queries is None else mirex.runs.select(queries=list(queries))
    collection = Collection.from_runs(runs, depth=MEASURE.cutoff, metadata=mirex.metadata)
    return Setting(collection, earmark.FINE), np.maximum(item_gains(collection, mirex.judgments), 0.0)


def study(
    seeds: int,
    *,
    queries: tuple[str, ...] | None = None,
    sizes: tuple[int, ...] = SIZES,
    helpers: Helpers | None = None,
) -> pl.DataFrame:
    """Judge all samples; one row per seed, prediction and size."""
    judged = judged_setting(load_mirex(), queries)
    parts = (helpers or Helpers()).each(_rows, judged, [(seed, sizes) for seed in range(seeds)])
    return pl.DataFrame([asdict(row) for part in parts for row in part])


def _rows(judged: tuple[Setting, Floats], seed: int, sizes: tuple[int, ...]) -> list[Row]:
    return list(one_seed(*judged, seed, sizes=sizes))


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Average over seeds."""
    error = [(pl.col(name).std() / pl.len().sqrt()).alias(f"{name} se") for name in ("pairs", "systems")]
    return (
        frame.group_by("prediction", "judged", maintain_order=True)
        .agg(
            pl.col("pairs").mean(),
            error[0],
            pl.col("systems").mean(),
            error[1],
            pl.col("width_systems").mean(),
            (pl.col("width_systems").std() / pl.len().sqrt()).alias("± se"),
            pl.col("width_pairs").mean(),
        )
        .rename({"width_systems": "± systems", "width_pairs": "± pairs"})
        .sort(pl.col("prediction").replace_strict({name: at for at, name in enumerate(PREDICTIONS)}), "judged")
    )


def main() -> None:
    """Run the study and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=60, help="how many samples")
    parser.add_argument(
        "--queries", choices=("all", "development", "reporting"), default="all", help="which queries of the collection"
    )
    parser.add_argument("--output", type=Path, help="write the table to this CSV file")
    Helpers.options(parser)
    told = parser.parse_args()
    began = time.monotonic()
    mirex = load_mirex()
    queries = {"all": None, "development": mirex.development, "reporting": mirex.reporting}[told.queries]
    made = table(study(told.seeds, queries=queries, helpers=Helpers.given(told)))
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
        print(
            f"{told.seeds} samples, {told.queries} queries: coverage with its standard error over samples, half-widths"
        )
        print(made)
        if told.queries == "all":
            own = made.filter(pl.col("prediction") == "hierarchical").drop("prediction", "pairs se", "systems se")
            print("Beside the prototype:")
            print(own.join(PROTOTYPE, on="judged"))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
