"""Does 95% mean 95% on every kind of collection and by every measure? Music and text, new model and former one.

``python -m benchmarks.honesty.everywhere`` plays campaigns on resampled collections and prints one row per collection,
measure and share of judged items: coverage of the 95% intervals of pairs and of systems, slope of true on estimated
differences, bias of systems' scores (as a share of the highest possible score for DCG), confidence, accuracy and
half-widths, with standard errors over campaigns. Cells two standard errors outside their target are marked ``!``. By
default it plays the rows of docs/honesty.md, which take an hour of one core; options choose others.

Collections
    ``text``: TREC Deep Learning 2019, 12 of 37 systems and 30 of 43 queries at depth 10. All of it was used to develop
    the model. ``music``: MIREX 2011, 8 of 18 systems and 30 of the 45 reporting queries, which no choice was based on.
    ``development``: the same from the other queries. ``made-up``: :mod:`benchmarks.honesty.text`.
Methods (``--methods``)
    ``default``: what is shipped. ``former``: the model as it was first, which suited music. The default without one of
    its parts: ``-sample``, the quarter of the judgments that comes from a sample; ``-scores``, what scores count for
    when items are chosen; ``-kinds``, effects of rare and of common items; ``-spread``, spreads that follow the
    judgments; ``-effects``, with the former prior and its effects; ``-ratio``, with scores of drawn gains in place of
    the linearised ratio; ``-weights``, with items chosen by average gain. ``random``, ``proportional``: other policies.

For nDCG, ``ideal`` is by how much the expected discounted gain of ideal rankings is off, relative to the true one.
``excess`` is the mean confidence less the accuracy.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.resampled import collection_of
from earmark.beliefs.beliefs import Beliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.linearised_ratios import drawn_ideals, is_linearised
from earmark.beliefs.montecarlo import estimate_montecarlo, over_pool, pooled_lists
from earmark.campaign.campaign import Campaign
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Floats
from earmark.inference.confidence import rank_systems
from earmark.measures.base import Measure
from earmark.measures.graded import nDCG, nRBP
from earmark.predictors.base import Predictor, Setting
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.hierarchical_prior import HierarchicalPrior, scale_kind, shipped_prior
from earmark.predictors.mtc import Uniform

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
MEASURES = {"text": ("AG@10", "DCG@10", "nDCG@10"), "music": ("AG@5", "nDCG@5")}
ROWS = {
    ("text", "AG@10"): "default,-scores,-sample,former,-kinds,-spread,proportional,random",
    ("text", "DCG@10"): "default,-scores,-sample,former,proportional",
    ("text", "nDCG@10"): "default,-scores,-sample,former,-kinds,-spread,-ratio,-weights",
    ("music", "AG@5"): "default,-scores,-sample,former,proportional",
    ("music", "nDCG@5"): "default,-scores,-sample,former",
}
"""The methods of docs/honesty.md, by collection and measure."""
TARGETS = {
    "pairs": (0.93, 0.97),
    "systems": (0.93, 0.97),
    "slope": (0.9, 1.1),
    "excess": (-0.03, 0.01),
    "bias": (-0.01, 0.01),
    "ideal": (-0.03, 0.03),
}
_COVERAGE = ("pairs", "systems")
# What counts from a tenth judged on.
_LATE = ("bias", "ideal")
_SAMPLES, _BATCH = 400, 20
_FORMER = Path(__file__).with_name("former_priors.json")


@dataclass(frozen=True)
class Method:
    """A way to choose, believe and estimate."""

    policy: str = "variance"
    sampled: float | None = None
    without_kinds: bool = False
    fixed_spread: bool = False
    former_effects: bool = False
    drawn_ratio: bool = False
    by_average_gain: bool = False


METHODS = {
    "default": Method(),
    "former": Method(
        "variance:pairs", 0.0, fixed_spread=True, former_effects=True, drawn_ratio=True, by_average_gain=True
    ),
    "-scores": Method("variance:pairs"),
    "-kinds": Method(without_kinds=True),
    "-spread": Method(fixed_spread=True),
    "-effects": Method(former_effects=True),
    "-ratio": Method(drawn_ratio=True),
    "-weights": Method(by_average_gain=True),
    "-sample": Method(sampled=0.0),
    "random": Method("random"),
    "proportional": Method("proportional"),
}


def _predictor(method: Method, setting: Setting) -> Predictor:
    made = Hierarchical(setting, _prior(method, setting))
    made.refine_spread = not method.fixed_spread
    return made


def _prior(method: Method, setting: Setting) -> HierarchicalPrior | None:
    if setting.collection.metadata is not None:
        return None
    if method.former_effects:
        told = json.loads(_FORMER.read_text(encoding="utf-8"))[f"{scale_kind(setting.scale)} none"]
        return HierarchicalPrior.from_dict(told)
    if not method.without_kinds:
        return None
    shipped = shipped_prior(setting.scale, ())
    variances = {name: value for name, value in shipped.variances.items() if name not in ("rare", "common")}
    # One effect of the whole pool takes their place.
    variances["base"] = (variances["base"][0] + float(np.log(4.0)), variances["base"][1])
    return replace(shipped, variances=variances)


def _estimate(method: Method, setting: Setting, measure: Measure, beliefs: Beliefs) -> Estimates:
    if method.drawn_ratio and not measure.is_linear:
        rng = np.random.default_rng(0)
        return estimate_montecarlo(setting.collection, beliefs, measure, rng=rng, samples=_SAMPLES)
    return Estimator(setting, measure, samples=_SAMPLES).estimate(beliefs)


def campaign_rows(
    _: None, name: str, method_name: str, measure_name: str, number: int, last: float, systems: int | None
) -> list[dict[str, float | str]]:
    """Play one campaign and look at it at all shares."""
    measure = earmark.parse(measure_name)
    setting, truth = collection_of(name, number, depth=measure.cutoff, systems=systems)
    called = name if systems is None else f"{name} of {systems}"
    about: dict[str, float | str] = {"collection": called, "method": method_name, "measure": str(measure)}
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
        if is_linearised(measure) and isinstance(campaign.beliefs, CorrelatedBeliefs):
            row["ideal"] = _ideal_error(setting, measure, campaign.beliefs, truth)
        if problem.draws_sample and problem.verdicts.can_guarantee(campaign.gains):
            by_design = rank_systems(problem.verdicts.by_design(campaign.beliefs).estimates)
            row["design_half_width"] = float((by_design.high - by_design.low).mean() / 2 / unit)
        yield row


def _ideal_error(setting: Setting, measure: Measure, beliefs: CorrelatedBeliefs, truth: Floats) -> float:
    """Return the relative error of the expected discounted gain of ideal rankings, over all queries."""
    pooled, lists = over_pool(measure), pooled_lists(setting.collection, setting.scale)
    assert isinstance(pooled, (nDCG, nRBP))
    drawn = drawn_ideals(lists, beliefs, pooled, rng=np.random.default_rng(0), samples=_SAMPLES)
    true = pooled.ideal_of(lists.with_gains(truth[None]))[0, : drawn.shape[1]]
    return float(drawn.mean() / true.mean() - 1.0)


def table(rows: pl.DataFrame) -> pl.DataFrame:
    """Average over campaigns; the slope is that over all differences of all campaigns, its error a jackknife's."""
    averaged = ["pairs", "systems", "bias", "confidence", "accuracy", "excess", "half_width", "rmse"]
    averaged += [name for name in ("ideal", "design_half_width") if name in rows.columns]
    with_errors = [name for name in ("pairs", "systems", "bias", "accuracy", "excess", "ideal") if name in averaged]
    crossed, squared = pl.col("crossed"), pl.col("squared")
    # The slope without one of the campaigns.
    without = (crossed.sum() - crossed) / (squared.sum() - squared)
    rows = rows.with_columns(excess=pl.col("confidence") - pl.col("accuracy"))
    return rows.group_by("collection", "measure", "method", "share", maintain_order=True).agg(
        pl.len().alias("campaigns"),
        pl.col(averaged).mean(),
        (pl.col(with_errors).std() / pl.len().sqrt()).name.suffix("_se"),
        (crossed.sum() / squared.sum()).alias("slope"),
        (without.std() * (pl.len() - 1) / pl.len().sqrt()).alias("slope_se"),
    )


def misses(found: pl.DataFrame) -> pl.DataFrame:
    """Mark cells two standard errors outside their target; with nothing judged, only coverage below it counts."""
    judged, late = pl.col("share") > 0, pl.col("share") >= 0.1
    marks = []
    for name, (low, high) in TARGETS.items():
        if name not in found.columns:
            continue
        error = 2 * pl.col(f"{name}_se").fill_null(0.0)
        below, above = pl.col(name) + error < low, (pl.col(name) - error > high) & judged
        if name in _LATE:
            below, above = below & late, above & late
        elif name not in _COVERAGE:
            below = below & judged
        marks.append(pl.when(below | above).then(pl.lit(f"{name}! ")).otherwise(pl.lit("")))
    return found.with_columns(missed=pl.concat_str(marks).str.strip_chars_end())


def reached(found: pl.DataFrame, accuracy: float) -> Iterator[str]:
    """Say for every row of methods after which share of judged items the accuracy is at a value, between two looks."""
    for (collection, measure, method), part in found.group_by("collection", "measure", "method", maintain_order=True):
        shares, values = part["share"].to_numpy(), np.maximum.accumulate(part["accuracy"].to_numpy())
        share = f"{np.interp(accuracy, values, shares):.1%}" if values[-1] >= accuracy else "later"
        yield f"{collection}, {measure}, {method}: accuracy {accuracy} at {share}"


def markdown(found: pl.DataFrame, *, since: float = 0.0, with_bias: bool = True) -> Iterator[str]:
    """Yield one line of a Markdown table per collection, measure and method, misses in bold.

    The cells are coverage of pairs / systems at every share from `since` on, the slope at the least and at the largest
    share above 0, and the bias at the two largest.
    """
    for (collection, measure, method), part in found.group_by("collection", "measure", "method", maintain_order=True):
        cells = []
        for row in part.filter(pl.col("share") >= since).iter_rows(named=True):
            shown = (_two_digits(row[name], name in row["missed"].replace("!", "").split()) for name in _COVERAGE)
            cells.append("/".join(shown))
        judged = part.filter(pl.col("share") > 0)
        slopes = [_two_digits(judged["slope"][place], "slope" in judged["missed"][place]) for place in (0, -1)]
        cells.append(" to ".join(slopes))
        if with_bias:
            late = part.tail(2)
            text = ", ".join(_two_digits(value) for value in late["bias"])
            cells.append(f"**{text}**" if late["missed"].str.contains("bias").any() else text)
        yield f"| {collection}, {measure}, {method} | {' | '.join(cells)} |"


def _two_digits(value: float, missed: bool = False) -> str:
    text = f"{value:.2f}".replace("-", "−")
    text = text.removeprefix("0") if value >= 0 else text.replace("−0", "−", 1)
    text = ".00" if text == "−.00" else text
    return f"**{text}**" if missed else text


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", default="text,music")
    parser.add_argument("--methods", help="by default those of docs/honesty.md")
    parser.add_argument("--measures", help="by default AG, DCG and nDCG on text, AG and nDCG on music")
    parser.add_argument("--systems", help="how many systems, as in 2,3; by default 12, of music 8")
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--last", type=float, default=SHARES[-1], help="play until this share is judged")
    Helpers.options(parser)
    parser.add_argument("--output", type=Path, help="write the table to this CSV file")
    parser.add_argument("--markdown", action="store_true", help="print the rows of a Markdown table too")
    told = parser.parse_args()
    tasks = [
        (collection, method, measure, number, told.last, systems)
        for collection in told.collections.split(",")
        for systems in _counts(told.systems)
        for measure in _measures(collection, told.measures)
        for method in (told.methods or ROWS.get((collection, measure), "default")).split(",")
        for number in range(told.campaigns)
    ]
    parts = Helpers.given(told).each(campaign_rows, None, tasks)
    found = misses(table(pl.DataFrame([row for part in parts for row in part], infer_schema_length=None)))
    if told.output:
        found.write_csv(told.output, float_precision=4)
    shown = ["collection", "measure", "method", "share", "pairs", "systems", "systems_se", "slope", "bias"]
    shown += ["slope_se", "accuracy", "excess", "half_width"]
    shown += [name for name in ("ideal", "design_half_width") if name in found.columns]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=180):
        print(found.select(*shown, "missed"))
    print(*reached(found, 0.94), sep="\n")
    if told.markdown:
        print(*markdown(found), sep="\n")


def _counts(given: str | None) -> Sequence[int | None]:
    return [int(count) for count in given.split(",")] if given else [None]


def _measures(collection: str, given: str | None) -> Sequence[str]:
    return given.split(",") if given else MEASURES["text" if collection in ("text", "made-up") else "music"]


if __name__ == "__main__":
    main()
