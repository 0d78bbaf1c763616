"""Premises of verdicts: how often one that fails is noticed, how often one that holds is doubted, and what it saves.

``python -m benchmarks.honesty.premises [--campaigns 150]`` resamples collections (``development``: MIREX 2011, queries
to develop with; ``music``: queries to report on; ``text``: TREC Deep Learning 2019, for developing) and prints two
tables.

*Judged because they are good*: 100 judgments from outside a campaign, chosen in honest ways (``random``; ``top``, the
tops of all lists first; ``one system``, items of one system; ``policy``, by the policy ``variance``) and in others
(``clicks``, with a probability that grows with the gain; ``clicks at the top``, which also falls with the rank;
``positives``, from half of the top gain on; ``listed``, the same without their gains). ``warned`` is how often the
verdict is withheld for it, ``pairs`` and ``systems`` how many intervals held.

*Too early*: campaigns of 6 systems at 1 to 80 judgments. ``early`` is how often a verdict is withheld because the prior
outweighs the judgments; of all pairs, ``confident`` is the share with a confidence of .95, ``decided`` that of pairs
called decided, and ``wrong`` of both that in the wrong order. With ``--shuffled``, gains change places within every
query, so that what is expected of systems is wrong and they hardly differ.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.resampled import collection_of
from earmark.beliefs.estimates import Estimates
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Floats, Ints
from earmark.data.judgments import Judgments
from earmark.predictors.base import Setting
from earmark.predictors.mtc import Uniform

HONEST = ("random", "top", "one system", "policy")
CHOSEN = ("clicks", "clicks at the top", "positives", "listed")
LOOKS = (1, 2, 4, 8, 16, 30, 40, 60, 80)
DEPTH = {"text": 10, "music": 5, "development": 5}
_JUDGED, _SYSTEMS = 100, 6


def select_items(how: str, problem: Problem, truth: Floats, rng: np.random.Generator, *, judged: int = _JUDGED) -> Ints:
    """Return which items are judged, chosen in one of the ways of this study."""
    collection, share = problem.collection, truth / float(problem.scale.top)
    best = np.full(truth.size, np.inf)
    np.minimum.at(best, collection.result_item, collection.result_rank)
    if how == "policy":
        campaign, ask = Campaign(problem), oracle(truth)
        while campaign.judged < judged:
            campaign = campaign.with_answers(ask(campaign, campaign.propose(min(20, judged - campaign.judged))))
        return np.flatnonzero(campaign.gains >= 0)
    weights = {
        "random": np.ones(truth.size),
        "top": 1e-9**best,
        "one system": np.isin(np.arange(truth.size), _items_of_one(problem, rng)).astype(np.float64),
        "clicks": share,
        "clicks at the top": share / np.log2(1.0 + best),
        "positives": (share >= 0.5).astype(np.float64),
        "listed": (share >= 0.5).astype(np.float64),
    }[how]
    possible = np.flatnonzero(weights > 0)
    with np.errstate(divide="ignore"):
        keys = np.log(weights[possible]) + rng.gumbel(size=possible.size)
    if how == "top":
        keys = -best[possible] + 0.5 * rng.random(possible.size)
    return np.sort(possible[np.argsort(-keys)[:judged]])


def _items_of_one(problem: Problem, rng: np.random.Generator) -> Ints:
    collection = problem.collection
    return np.asarray(collection.result_item[collection.result_system == rng.integers(len(collection.systems))])


def outside_campaign(how: str, problem: Problem, truth: Floats, rng: np.random.Generator) -> Campaign:
    """Return a campaign with judgments of unknown origin."""
    items = select_items(how, problem, truth, rng)
    gains = np.full(items.size, problem.scale.top) if how == "listed" else truth[items]
    table = problem.items[items].with_columns(gain=pl.Series(gains, dtype=pl.Float64))
    return Campaign.from_judgments(problem, Judgments.from_frame(table, scale=problem.scale))


def chosen_rows(_: None, name: str, number: int) -> list[dict[str, object]]:
    """Judge one collection in all ways."""
    setting, truth = collection_of(name, number)
    problem = Problem(setting, earmark.parse(f"AG@{DEPTH[name]}"), seed=number)
    true = _true(setting, truth, problem)
    rows: list[dict[str, object]] = []
    for how in (*HONEST, *CHOSEN):
        ranking = outside_campaign(how, problem, truth, np.random.default_rng([7, number])).ranking
        fact, scores = true.differences.mean, true.scores.mean
        rows.append(
            {
                "collection": name,
                "chosen": how,
                "warned": any(premise.name.startswith("items") for premise in ranking.failed),
                "pairs": float(np.mean((ranking.difference_low <= fact) & (fact <= ranking.difference_high))),
                "systems": float(np.mean((ranking.low <= scores) & (scores <= ranking.high))),
            }
        )
    return rows


def _true(setting: Setting, truth: Floats, problem: Problem) -> Estimates:
    return Estimator(setting, problem.measure, samples=2).estimate(Uniform(setting).predict(truth))


def early_rows(shuffled: bool, name: str, number: int) -> list[dict[str, object]]:
    """Play one campaign of few systems and look at it early."""
    setting, truth = collection_of(name, number, systems=_SYSTEMS)
    if shuffled:
        query, rng = setting.collection.item_query, np.random.default_rng([8, number])
        moved = truth.copy()
        moved[np.lexsort((np.arange(query.size), query))] = truth[np.lexsort((rng.random(query.size), query))]
        truth = moved
    problem = Problem(setting, earmark.parse(f"AG@{DEPTH[name]}"), seed=number, audit=0.25)
    fact = _true(setting, truth, problem).differences.mean
    rows: list[dict[str, object]] = []
    for campaign in play_through(Campaign(problem), truth, LOOKS, batch=4):
        if campaign.judged not in LOOKS:
            continue
        ranking = campaign.ranking
        wrong = np.sign(ranking.estimates.differences.mean) != np.sign(fact)
        confident, decided = ranking.confident(), ranking.decided()
        rows.append(
            {
                "collection": name,
                "judged": campaign.judged,
                "early": ranking.withheld is not None,
                "confident": float(confident.mean()),
                "wrong_confident": float((confident & wrong).mean()),
                "decided": float(decided.mean()),
                "wrong_decided": float((decided & wrong).mean()),
            }
        )
    return rows


def summarised(rows: list[list[dict[str, object]]], by: str) -> pl.DataFrame:
    """Average over campaigns, with standard errors."""
    frame = pl.DataFrame([row for part in rows for row in part])
    values = [name for name in frame.columns if name not in ("collection", by)]
    floats = pl.col(values).cast(pl.Float64)
    return frame.group_by("collection", by, maintain_order=True).agg(
        pl.len().alias("campaigns"), floats.mean(), (floats.std() / pl.len().sqrt()).name.suffix("_se")
    )


def main() -> None:
    """Run the studies and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", default="music,development,text")
    parser.add_argument("--campaigns", type=int, default=150)
    parser.add_argument("--studies", default="chosen,early")
    parser.add_argument("--shuffled", action="store_true", help="shuffle gains within queries, in the study 'early'")
    Helpers.options(parser)
    told = parser.parse_args()
    tasks = [(name, number) for name in told.collections.split(",") for number in range(told.campaigns)]
    helpers = Helpers.given(told)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=160):
        if "chosen" in told.studies:
            print(summarised(helpers.each(chosen_rows, None, tasks), "chosen"))
        if "early" in told.studies:
            print(summarised(helpers.each(early_rows, told.shuffled, tasks), "judged"))


if __name__ == "__main__":
    main()
