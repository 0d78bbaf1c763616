"""A collection of another kind: text retrieval, 40 systems, 40 queries, levels 0 to 3, depth 10, no metadata.

``python -m benchmarks.honesty.text [--collections 20]`` makes collections up, plays campaigns with the shipped
defaults, which come from music, and prints coverage, confidence and accuracy at 0, 2, 5, 10 and 20% judged.

A query has few relevant documents among many that are not, some queries far fewer than others. Systems come in
families (word matching, dense vectors, rerankers of either) whose members make much the same mistakes, and differ
within a family by tuning. How good a family is, how alike its members are and how much harder some queries are is
drawn anew for every collection, so that no one setting decides.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.collection import Collection
from earmark.data.conversion import judgments_from_frame
from earmark.data.judgments import Judgments
from earmark.data.runs import Runs, build_runs
from earmark.data.scales import parse_scale
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.mtc import Uniform

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
_DEPTH, _DOCUMENTS, _FAMILIES = 10, 400, 5


def text_collection(
    rng: np.random.Generator, *, systems: int = 40, queries: int = 40, depth: int = _DEPTH
) -> tuple[Runs, Judgments]:
    """Make up runs and the judgments of everything they retrieved."""
    relevant = np.clip(rng.lognormal(2.6, rng.uniform(0.5, 1.0), queries), 2, 120)
    # Latent relevance: about so many documents of a query are above 0.
    worth = rng.normal(0, 1, (queries, _DOCUMENTS))
    cut = np.sort(worth, axis=1)[np.arange(queries), -relevant.astype(int) - 1]
    above = worth - cut[:, None]
    level = np.where(above > 0, 1 + np.digitize(above + rng.normal(0, 0.25, above.shape), [0.25, 0.7]), 0)
    # Assessors find some documents off topic that look right, and the other way round.
    level = np.where(rng.random(level.shape) < 0.04, rng.integers(0, 4, level.shape), level)
    family = rng.integers(0, _FAMILIES, systems)
    skill_of_family = rng.uniform(0.5, 1.6, _FAMILIES)
    skill = skill_of_family[family] * rng.uniform(0.85, 1.1, systems)
    skill[rng.random(systems) < 0.08] *= 0.4
    alike = rng.uniform(0.5, 0.9)
    shared_by_all = rng.normal(0, 1, worth.shape)
    of_family = rng.normal(0, 1, (_FAMILIES, *worth.shape))
    ease = np.exp(rng.normal(0, rng.uniform(0.1, 0.4), (systems, queries)))
    ranked = np.empty((systems, queries, depth), dtype=np.int64)
    for number in range(systems):
        noise = alike * of_family[family[number]] + (1 - alike) * rng.normal(0, 1, worth.shape) + 0.3 * shared_by_all
        score = skill[number] * ease[number][:, None] * worth + noise
        ranked[number] = np.argsort(-score, axis=1)[:, :depth]
    system, query, _ = (index.reshape(-1) for index in np.indices(ranked.shape))
    document = ranked.reshape(-1)
    names = {kind: pl.Series([f"{kind}{one:03d}" for one in range(_DOCUMENTS)]) for kind in "sqd"}
    runs = build_runs(
        system=names["s"].gather(system), query=names["q"].gather(query), document=names["d"].gather(document)
    )
    items = np.unique(query * _DOCUMENTS + document)
    judgments = judgments_from_frame(
        pl.DataFrame(
            {
                "query": names["q"].gather(items // _DOCUMENTS),
                "document": names["d"].gather(items % _DOCUMENTS),
                "gain": level[items // _DOCUMENTS, items % _DOCUMENTS],
            }
        ),
        scale=parse_scale("0..3"),
    )
    return runs, judgments


def look_at(runs: Runs, judgments: Judgments, *, predictor: str, policy: str, measure: str) -> list[dict[str, float]]:
    """Play a campaign with a fiftieth of the items at a time and look at the shares."""
    chosen = earmark.parse(measure)
    collection = Collection.from_runs(runs, depth=chosen.cutoff)
    setting = Setting(collection, judgments.scale)
    truth = np.maximum(item_gains(collection, judgments), 0.0)
    estimator = Estimator(setting, chosen, samples=400)
    true = estimator.estimate(Uniform(setting).predict(truth))
    # Items are chosen by average gain, whatever the measure.
    problem = Problem(setting, earmark.parse("AG@10"), PredictorChoice(predictor), make_policy(policy))
    looks = {round(share * truth.size): share for share in SHARES}
    rows = []
    for campaign in play_through(Campaign(problem), truth, looks, batch=max(10, truth.size // 50)):
        if campaign.judged not in looks:
            continue
        ranking = rank_systems(estimator.estimate(campaign.beliefs))
        fact, compared = true.differences.mean, ranking.compared
        holds = (ranking.difference_low <= fact) & (fact <= ranking.difference_high)
        within = (ranking.low <= true.scores.mean) & (true.scores.mean <= ranking.high)
        right = np.sign(ranking.estimates.differences.mean) == np.sign(fact)
        rows.append(
            {
                "share": looks[campaign.judged],
                "pairs": float(holds[compared].mean()),
                "systems": float(within.mean()),
                "confidence": float(ranking.confidence[compared].mean()),
                "accuracy": float((right | (fact == 0))[compared].mean()),
                "half_width": float((ranking.high - ranking.low).mean() / 2),
            }
        )
    return rows


def _rows(shared: tuple[int, str], predictor: str, policy: str, number: int) -> list[dict[str, object]]:
    systems, measure = shared
    made = text_collection(np.random.default_rng([11, number]), systems=systems)
    looks = look_at(*made, predictor=predictor, policy=policy, measure=measure)
    return [{"method": f"{predictor}, {policy}", **look} for look in looks]


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=20)
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--measure", default="AG@10")
    Helpers.options(parser)
    told = parser.parse_args()
    methods = (("hierarchical", "variance"), ("hierarchical", "random"), ("ordinal", "mtc"))
    tasks = [(*method, number) for method in methods for number in range(told.collections)]
    parts = Helpers.given(told).each(_rows, (told.systems, told.measure), tasks)
    rows = pl.DataFrame([row for part in parts for row in part])
    table = rows.group_by("method", "share", maintain_order=True).mean()
    with pl.Config(tbl_rows=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=120):
        print(table)


if __name__ == "__main__":
    main()
