"""Trees and forests in place of the ordinal regression, on queries of MIREX 2011 that no model has seen.

``python -m benchmarks.learners`` fits every learner of Buckers (2021, section 3.4), and a boosted ordinal model, on the
development queries, and uses it on the reporting queries: before anything is judged, and with some of the items judged,
drawn at random, from which the predictors go on learning. It prints the ranked probability score, the reliability, the
root mean squared error (gains in 0..1) and the coverage of 95% intervals of AG@5. Reliability is that of ten groups of
forecasts by their expected gains: groups by rounded probabilities, as ``earmark diagnose`` makes them, leave most
forecasts of a forest out, as hardly two of them are alike.

Standard errors are those of a jackknife over groups of queries: everything is computed again without each of nine
groups, models of the development queries being the same. Differences from ordinal have standard errors of their own, as
all predictors see the same queries.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import earmark
from benchmarks.honesty.mirex import Mirex, load_mirex
from earmark.beliefs.beliefs import UNJUDGED, item_gains
from earmark.beliefs.estimates import Moments
from earmark.campaign.verdict import Estimator
from earmark.data.collection import Collection
from earmark.diagnose.decomposition import ForecastGroups, decompose_grouped
from earmark.diagnose.proper_scores import ranked_probability_score
from earmark.inference.intervals import interval
from earmark.predictors.base import Predictor, Setting
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.mtc import Uniform
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_predictor import Ordinal
from earmark.predictors.ordinal_training import PastCollection, train
from earmark.predictors.tree_predictors import TREE_PREDICTORS
from earmark.predictors.tree_training import train_trees

Array = NDArray[np.float64]
Maker = Callable[[Setting], Predictor]
MEASURES = ("rps", "reliability", "rmse", "pairs", "systems")
HEADS = ("RPS", "reliability", "RMSE", "pairs in\n95% interval", "systems in\n95% interval")
GROUPS = 9


def main() -> int:
    options = parse_arguments()
    console = Console(width=150)
    mirex = load_mirex(options.data)
    makers = fit_all(mirex, console)
    rows = []
    for share in options.share:
        found = {name: study(mirex, maker, share, options.repeats) for name, maker in makers.items()}
        table = Table("predictor", *HEADS, "RPS less\nordinal's", "RMSE less\nordinal's", title=f"{share:.0%} judged")
        for name, values in found.items():
            cells = [written(values[:, index]) for index in range(len(MEASURES))]
            off = values - found["ordinal"]
            table.add_row(name, *cells, *(written(off[:, MEASURES.index(of)], plus=True) for of in ("rps", "rmse")))
            row = {"share": share, "predictor": name}
            for index, measure in enumerate(MEASURES):
                row |= {measure: values[0, index], f"{measure}_se": jackknife_error(values[:, index])}
                row |= {f"{measure}_off": off[0, index], f"{measure}_off_se": jackknife_error(off[:, index])}
            rows.append(row)
        console.print(table)
    if options.output:
        options.output.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners", description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with mirex-ams-2011; by default as the other studies")
    parser.add_argument("--share", type=float, nargs="+", default=[0.0, 0.1, 0.3], help="shares of items judged")
    parser.add_argument("--repeats", type=int, default=3, help="draws of judged items")
    parser.add_argument("-o", "--output", type=Path, help="also write the numbers here, as JSON lines")
    return parser.parse_args()


def fit_all(mirex: Mirex, console: Console) -> dict[str, Maker]:
    """Fit every learner on the development queries; the prior of hierarchical comes from the same."""
    collection = Collection.from_runs(mirex.runs.select(queries=mirex.development), metadata=mirex.metadata)
    past = PastCollection(Setting(collection, earmark.FINE), item_gains(collection, mirex.judgments))
    ordinal = train([past], rng=np.random.default_rng(0), name="development").model
    makers: dict[str, Maker] = {"ordinal": lambda setting: Ordinal(setting, ordinal)}
    for name, predictor in TREE_PREDICTORS.items():
        trained = train_trees([past], name, rng=np.random.default_rng(0), name="development")
        console.print(f"{name}: {trained.model.source}", highlight=False)
        makers[name] = lambda setting, predictor=predictor, model=trained.model: predictor(setting, model)  # type: ignore[misc]
    makers["hierarchical"] = Hierarchical
    return makers


def study(mirex: Mirex, maker: Maker, share: float, repeats: int) -> Array:
    """Return the measures on all reporting queries, then without each group of them, shape (1 + groups, measures)."""
    group = np.random.default_rng(1).permutation(len(mirex.reporting)) % GROUPS
    left = [mirex.reporting]
    left += [tuple(q for q, g in zip(mirex.reporting, group, strict=True) if g != out) for out in range(GROUPS)]
    everything = Collection.from_runs(mirex.runs.select(queries=mirex.reporting)).item_frame()
    # An item that is drawn stays drawn when queries are left out.
    numbers = np.random.default_rng(2).random((everything.height, repeats if share else 1))
    drawn = dict(zip(everything.rows(), numbers < share, strict=True))
    return np.array([one_look(mirex, maker, drawn, queries) for queries in left])


def one_look(
    mirex: Mirex, maker: Maker, drawn: dict[tuple[Any, ...], NDArray[np.bool_]], queries: tuple[str, ...]
) -> list[float]:
    """Return the measures on some queries, pooled over all draws of judged items."""
    collection = Collection.from_runs(mirex.runs.select(queries=queries), metadata=mirex.metadata)
    setting = Setting(collection, earmark.FINE)
    truth = item_gains(collection, mirex.judgments)
    shown = np.array([drawn[item] for item in collection.item_frame().rows()])
    predictor, estimator = maker(setting), Estimator(setting, earmark.parse("AG@5"))
    seen = [predictor.predict(np.where(draw, truth, UNJUDGED)) for draw in shown.T]
    true = estimator.estimate(Uniform(setting).predict(truth))
    estimates = [estimator.estimate(beliefs) for beliefs in seen]
    levels = np.array(model_levels(earmark.FINE))
    forecast = np.concatenate([beliefs.level_probabilities(levels)[~beliefs.judged] for beliefs in seen])
    outcome = np.concatenate([to_levels(earmark.FINE, truth[~beliefs.judged]) for beliefs in seen])
    errors = np.concatenate([(beliefs.mean - truth)[~beliefs.judged] for beliefs in seen])
    return [
        ranked_probability_score(forecast, outcome),
        reliability(forecast, outcome, levels),
        float(np.sqrt(np.mean(errors**2))) / float(earmark.FINE.top),
        float(np.mean([held(found.differences, true.differences) for found in estimates])),
        float(np.mean([held(found.scores, true.scores) for found in estimates])),
    ]


def held(found: Moments, true: Moments) -> float:
    """Return the share of 95% intervals that hold the true value."""
    low, high = interval(found.mean, found.variance, df=found.df)
    return float(np.mean((low <= true.mean) & (true.mean <= high)))


def reliability(forecast: Array, outcome: NDArray[np.int64], levels: Array) -> float:
    """Return the reliability of tenths of the forecasts, by their expected gains."""
    mean = forecast @ levels
    tenth = np.searchsorted(np.quantile(mean, np.arange(1, 10) / 10), mean).astype(np.int64)
    groups = ForecastGroups(tenth, np.zeros((10, levels.size)), np.empty(0))
    return decompose_grouped(forecast, outcome, groups).reliability


def jackknife_error(values: Array) -> float:
    """Return the standard error of the first of the values, the others being without each of the groups."""
    without = values[1:]
    return float(np.sqrt((without.size - 1) / without.size * np.sum((without - without.mean()) ** 2)))


def written(values: Array, *, plus: bool = False) -> str:
    sign = "+" if plus else ""
    return f"{values[0]:{sign}.4f} ± {jackknife_error(values):.4f}"


if __name__ == "__main__":
    raise SystemExit(main())
