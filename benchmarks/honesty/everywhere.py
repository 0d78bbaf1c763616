"""Does 95% mean 95% on every kind of collection and by every measure? Music and text, new model and former one.

``python -m benchmarks.honesty.everywhere`` plays campaigns on resampled collections and prints one row per collection,
measure and share of judged items: coverage of the 95% intervals of pairs and of systems, slope of true on estimated
differences, bias of systems' scores (as a share of the highest possible score for DCG), confidence, accuracy and
half-widths, with standard errors over campaigns. Cells two standard errors outside their target are marked ``!``.

Collections
    ``text``: TREC Deep Learning 2019, 12 of 37 systems and 30 of 43 queries at depth 10. All of it was used to develop
    the model. ``music``: MIREX 2011, 8 of 18 systems and 30 of the 45 reporting queries, which no choice was based on.
    ``development``: the same from the other queries. ``made-up``: :mod:`benchmarks.honesty.text`.
Methods (``--methods``)
    ``default``: what is shipped. ``former``: what was shipped before. ``-effects``, ``-ratio``, ``-weights``: the
    default without one of its parts, that is with the former prior and its effects, with scores of drawn gains in place
    of the linearised ratio, with items chosen by average gain. ``-sample``: without the quarter of the judgments that
    comes from a sample. ``random``, ``proportional``: other policies.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from benchmarks.honesty.text import text_collection
from earmark.beliefs.beliefs import Beliefs, item_gains
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.montecarlo import estimate_montecarlo
from earmark.campaign.campaign import Campaign
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.data.runs import Runs
from earmark.data.scales import parse_scale
from earmark.inference.confidence import rank_systems
from earmark.measures.base import Measure
from earmark.predictors.base import Predictor, Setting
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.hierarchical_prior import HierarchicalPrior, scale_kind
from earmark.predictors.mtc import Uniform

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
MEASURES = {"text": ("AG@10", "DCG@10", "nDCG@10"), "music": ("AG@5", "nDCG@5")}
TARGETS = {"pairs": (0.93, 0.97), "systems": (0.93, 0.97), "slope": (0.9, 1.1), "bias": (-0.01, 0.01)}
_SAMPLES, _BATCH = 400, 20
_LEVELS = parse_scale("0..3")
_FORMER = Path(__file__).with_name("former_priors.json")


@dataclass(frozen=True)
class Method:
    """A way to choose, believe and estimate."""

    policy: str = "variance"
    sampled: float | None = None
    former_effects: bool = False
    drawn_ratio: bool = False
    by_average_gain: bool = False


METHODS = {
    "default": Method(),
    "former": Method(sampled=0.0, former_effects=True, drawn_ratio=True, by_average_gain=True),
    "-effects": Method(former_effects=True),
    "-ratio": Method(drawn_ratio=True),
    "-weights": Method(by_average_gain=True),
    "-sample": Method(sampled=0.0),
    "random": Method("random"),
    "proportional": Method("proportional"),
}


@cache
def _trec() -> tuple[Runs, Judgments]:
    beside = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("EARMARK_DATA", beside)) / "trec-dl-2019"
    return earmark.read_runs([folder / "runs.tsv"]), earmark.read_judgments(folder / "judgments.tsv", scale=_LEVELS)


@cache
def _mirex() -> Mirex:
    return load_mirex()


def collection_of(name: str, number: int, *, depth: int | None = None) -> tuple[Setting, Floats]:
    """Draw a collection; return it with the true gains of its items."""
    rng = np.random.default_rng([2026, number])
    if name == "text":
        runs, judgments = _trec()
        some = runs.select(systems=draw_some(rng, runs.systems, 12), queries=draw_some(rng, runs.queries, 30))
        setting = Setting(Collection.from_runs(some, depth=depth or 10), _LEVELS)
    elif name == "made-up":
        some, judgments = text_collection(rng, systems=12, queries=30)
        setting = Setting(Collection.from_runs(some, depth=depth or 10), _LEVELS)
    else:
        mirex = _mirex()
        queries, judgments = mirex.reporting if name == "music" else mirex.development, mirex.judgments
        some = mirex.runs.select(
            systems=draw_some(rng, mirex.runs.systems, 8), queries=draw_some(rng, queries, min(30, len(queries)))
        )
        setting = Setting(Collection.from_runs(some, depth=depth or 5, metadata=mirex.metadata), earmark.FINE)
    return setting, np.maximum(item_gains(setting.collection, judgments), 0.0)


def _predictor(method: Method, setting: Setting) -> Predictor:
    if not method.former_effects or setting.collection.metadata is not None:
        return Hierarchical(setting)
    told = json.loads(_FORMER.read_text(encoding="utf-8"))[f"{scale_kind(setting.scale)} none"]
    return Hierarchical(setting, HierarchicalPrior.from_dict(told))


def _estimate(method: Method, setting: Setting, measure: Measure, beliefs: Beliefs) -> Estimates:
    if method.drawn_ratio and not measure.is_linear:
        rng = np.random.default_rng(0)
        return estimate_montecarlo(setting.collection, beliefs, measure, rng=rng, samples=_SAMPLES)
    return Estimator(setting, measure, samples=_SAMPLES).estimate(beliefs)


def campaign_rows(
    _: None, name: str, method_name: str, measure_name: str, number: int, last: float
) -> list[dict[str, float | str]]:
    """Play one campaign and look at it at all shares."""
    measure = earmark.parse(measure_name)
    setting, truth = collection_of(name, number, depth=measure.cutoff)
    about: dict[str, float | str] = {"collection": name, "method": method_name, "measure": str(measure)}
    return [about | row for row in look_at(setting, truth, METHODS[method_name], measure, number, last)]


def look_at(
    setting: Setting, truth: Floats, method: Method, measure: Measure, number: int, last: float
) -> Iterator[dict[str, float | str]]:
    """Play a campaign on a collection with known gains; yield what holds at every share of judged items."""
    cutoff = measure.cutoff or 10
    judged_by = earmark.parse(f"AG@{cutoff}") if method.by_average_gain and not measure.is_linear else measure
    policy = make_policy(method.policy)
    problem = Problem(
        setting,
        judged_by,
        lambda made: _predictor(method, made),
        policy,
        audit=policy.sampled_share if method.sampled is None else method.sampled,
        seed=number,
        samples=_SAMPLES,
    )
    true = Estimator(setting, measure, samples=2).estimate(Uniform(setting).predict(truth))
    highest = float(setting.scale.top) * (1.0 / np.log2(np.arange(2, cutoff + 2))).sum()
    unit = highest if str(measure).startswith("DCG") else 1.0
    looks = {round(share * truth.size): share for share in SHARES if share <= last}
    for campaign in play_through(Campaign(problem), truth, looks, batch=max(_BATCH, truth.size // 100)):
        if campaign.judged not in looks:
            continue
        found = _estimate(method, setting, measure, campaign.beliefs)
        ranking = rank_systems(found)
        fact, said, compared = true.differences.mean, found.differences.mean, ranking.compared
        right = np.where(np.sign(said) == 0, 0.5, (np.sign(said) == np.sign(fact)) | (fact == 0))
        row: dict[str, float | str] = {
            "share": looks[campaign.judged],
            "pairs": float(((ranking.difference_low <= fact) & (fact <= ranking.difference_high))[compared].mean()),
            "systems": float(((ranking.low <= true.scores.mean) & (true.scores.mean <= ranking.high)).mean()),
            "bias": float((found.scores.mean - true.scores.mean).mean() / unit),
            "confidence": float(ranking.confidence[compared].mean()),
            "accuracy": float(right[compared].mean()),
            "half_width": float((ranking.high - ranking.low).mean() / 2 / unit),
            "rmse": float(np.sqrt(np.mean((said - fact)[compared] ** 2)) / unit),
            "crossed": float(said[compared] @ fact[compared]),
            "squared": float(said[compared] @ said[compared]),
        }
        if problem.draws_sample and problem.verdicts.can_audit(campaign.gains):
            by_design = rank_systems(problem.verdicts.by_design(campaign.beliefs).estimates)
            row["design_half_width"] = float((by_design.high - by_design.low).mean() / 2 / unit)
        yield row


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Average over campaigns; the slope is that over all differences of all campaigns."""
    averaged = ["pairs", "systems", "bias", "confidence", "accuracy", "half_width", "rmse"]
    if "design_half_width" in rows.columns:
        averaged.append("design_half_width")
    with_errors = ["pairs", "systems", "bias", "accuracy"]
    return rows.group_by("collection", "measure", "method", "share", maintain_order=True).agg(
        pl.len().alias("campaigns"),
        pl.col(averaged).mean(),
        (pl.col(with_errors).std() / pl.len().sqrt()).name.suffix("_se"),
        (pl.col("crossed").sum() / pl.col("squared").sum()).alias("slope"),
    )


def misses(found: pl.DataFrame) -> pl.DataFrame:
    """Mark cells two standard errors outside their target; with nothing judged, only coverage below it counts."""
    judged, early = pl.col("share") > 0, pl.col("share") < 0.1
    marks = []
    for name, (low, high) in TARGETS.items():
        error = 2 * pl.col(f"{name}_se") if f"{name}_se" in found.columns else pl.lit(0.0)
        below, above = pl.col(name) + error < low, (pl.col(name) - error > high) & judged
        if name == "bias":
            # A bias counts from a tenth judged on.
            below, above = below & ~early, above & ~early
        if name == "slope":
            below = below & judged
        marks.append(pl.when(below | above).then(pl.lit(f"{name}! ")).otherwise(pl.lit("")))
    return found.with_columns(missed=pl.concat_str(marks).str.strip_chars_end())


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", default="text,music")
    parser.add_argument("--methods", default="default,-sample,former")
    parser.add_argument("--measures", help="by default AG, DCG and nDCG on text, AG and nDCG on music")
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--last", type=float, default=SHARES[-1], help="play until this share is judged")
    Helpers.options(parser)
    parser.add_argument("--output", type=Path, help="write the table to this CSV file")
    told = parser.parse_args()
    tasks = [
        (collection, method, measure, number, told.last)
        for collection in told.collections.split(",")
        for measure in (
            told.measures.split(",")
            if told.measures
            else MEASURES["text" if collection in ("text", "made-up") else "music"]
        )
        for method in told.methods.split(",")
        for number in range(told.campaigns)
    ]
    parts = Helpers.given(told).each(campaign_rows, None, tasks)
    found = misses(table(pl.DataFrame([row for part in parts for row in part], infer_schema_length=None)))
    if told.output:
        found.write_csv(told.output, float_precision=4)
    shown = ["collection", "measure", "method", "share", "pairs", "systems", "systems_se", "slope", "bias"]
    shown += ["confidence", "accuracy", "accuracy_se", "half_width"]
    shown += [name for name in ("design_half_width",) if name in found.columns]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=180):
        print(found.select(*shown, "missed"))


if __name__ == "__main__":
    main()
