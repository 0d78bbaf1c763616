"""Coverage on collections of unusual shapes and by further measures.

``python -m benchmarks.honesty.shapes`` makes text collections up (:mod:`benchmarks.honesty.text`: 12 systems, 30
queries, depth 10, levels 0 to 3), changes one thing about them and plays 20 campaigns on each. It prints the columns of
:mod:`benchmarks.honesty.everywhere`. Cells two standard errors outside their target are marked ``!``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.everywhere import METHODS, SHARES, look_at, markdown, misses, table
from benchmarks.honesty.text import text_collection
from earmark.beliefs.beliefs import item_gains
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.runs import Runs, build_runs
from earmark.data.scales import BINARY, parse_scale
from earmark.predictors.base import Setting

_BROKEN_SHARE = 0.9
_RELEVANT = 2
_RARE = 0.03


@dataclass(frozen=True)
class Shape:
    """What differs from the usual collection, and by which measures and policies it is judged."""

    systems: int = 12
    queries: int = 30
    depth: int = 10
    copies: str = ""
    broken: bool = False
    binary: bool = False
    rare: bool = False
    measures: tuple[str, ...] = ()
    policies: tuple[str, ...] = ("default",)


SHAPES = {
    "usual": Shape(
        measures=("AG@5", "AG@10", "DCG@10", "nDCG@5", "nDCG@10", "nRBP(p=0.8)@5", "nRBP(p=0.8)@10"),
    ),
    "other policies": Shape(measures=("AG@10", "nDCG@10"), policies=("random", "proportional")),
    "binary": Shape(binary=True, measures=("P@10", "AP@10", "RR@10")),
    "rare relevance": Shape(binary=True, rare=True, measures=("P@10",)),
    "100 systems": Shape(systems=100, queries=20),
    "5 queries": Shape(queries=5),
    "depth 1": Shape(depth=1, queries=60),
    "depth 100": Shape(depth=100, queries=10),
    "near-copies": Shape(systems=6, copies="near"),
    "duplicates": Shape(systems=6, copies="exact"),
    "a broken system": Shape(broken=True),
}


def make_collection(shape: Shape, rng: np.random.Generator) -> tuple[Setting, Floats]:
    """Make a collection of a shape up; return it with the true gains of its items."""
    runs, judgments = text_collection(rng, systems=shape.systems, queries=shape.queries, depth=shape.depth)
    frame = runs.to_polars()
    if shape.copies:
        frame = pl.concat([frame, _copied(frame, near=shape.copies == "near", rng=rng)], how="vertical_relaxed")
    if shape.broken:
        frame = _with_broken_system(frame, rng)
    scale = BINARY if shape.binary else parse_scale("0..3")
    setting = Setting(Collection.from_runs(_runs_of(frame), depth=shape.depth), scale)
    gains = np.maximum(item_gains(setting.collection, judgments), 0.0)
    if shape.rare:
        return setting, _few_relevant(gains, setting.collection.item_query, rng)
    return setting, (gains >= _RELEVANT).astype(np.float64) if shape.binary else gains


def _few_relevant(gains: Floats, query: Ints, rng: np.random.Generator) -> Floats:
    """Call about 3% of the items relevant: the best of one query after the other, in an order that is drawn."""
    relevant = np.zeros(gains.size)
    for chosen in rng.permutation(int(query.max()) + 1):
        if relevant.mean() >= _RARE:
            break
        relevant[(query == chosen) & (gains > _RELEVANT)] = 1.0
    return relevant


def _copied(frame: pl.DataFrame, *, near: bool, rng: np.random.Generator) -> pl.DataFrame:
    """Enter every system once more; near-copies have one result in five at another rank."""
    copies = frame.with_columns(pl.col("system") + "-copy")
    if not near:
        return copies
    moved = np.where(rng.random(frame.height) < 0.2, rng.integers(-2, 3, frame.height), 0)
    place = pl.col("rank") + pl.Series(moved) + 0.01 * pl.Series(np.sign(moved))
    return copies.sort("system", "query", place).with_columns(
        rank=pl.col("document").cum_count().over("system", "query")
    )


def _with_broken_system(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Give the first system documents of other queries in place of nine results in ten: nobody judged them relevant."""
    first = frame["system"].min()
    fails = pl.Series(rng.random(frame.height) < _BROKEN_SHARE)
    wrong = pl.format("lost-{}", pl.int_range(pl.len()))
    return frame.with_columns(document=pl.when((pl.col("system") == first) & fails).then(wrong).otherwise("document"))


def _runs_of(frame: pl.DataFrame) -> Runs:
    return build_runs(
        system=frame["system"],
        query=frame["query"],
        document=frame["document"],
        rank=frame["rank"].to_numpy().astype(np.float64),
        order="rank",
    )


def campaign_rows(_: None, name: str, policy: str, measure_name: str, number: int) -> list[dict[str, float | str]]:
    """Play one campaign and look at it at all shares."""
    setting, truth = make_collection(SHAPES[name], np.random.default_rng([2028, number]))
    measure = earmark.parse(measure_name)
    about: dict[str, float | str] = {"collection": name, "method": policy, "measure": str(measure)}
    return [about | row for row in look_at(setting, truth, METHODS[policy], measure, number, SHARES[-1])]


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--campaigns", type=int, default=20)
    Helpers.options(parser)
    parser.add_argument("--output", type=Path, help="write the table to this CSV file")
    parser.add_argument("--markdown", action="store_true", help="print the rows of a Markdown table too")
    told = parser.parse_args()
    tasks = [
        (name, policy, measure, number)
        for name in told.shapes.split(",")
        for policy in SHAPES[name].policies
        for measure in SHAPES[name].measures or (f"AG@{SHAPES[name].depth}",)
        for number in range(told.campaigns)
    ]
    parts = Helpers.given(told).each(campaign_rows, None, tasks)
    found = misses(table(pl.DataFrame([row for part in parts for row in part], infer_schema_length=None)))
    if told.output:
        found.write_csv(told.output, float_precision=4)
    shown = ["collection", "measure", "method", "share", "pairs", "systems", "slope", "bias", "confidence", "accuracy"]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=180):
        print(found.select(*shown, "missed"))
    if told.markdown:
        print(*markdown(found, since=SHARES[1], with_bias=False), sep="\n")


if __name__ == "__main__":
    main()
