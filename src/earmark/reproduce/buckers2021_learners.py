"""Figures 3.11 to 3.21 of BIAS (Buckers2021): trees and forests in place of the ordinal regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.predictors.conditional_trees import Growing
from earmark.predictors.recalibration import calibrating_power, raise_to
from earmark.reproduce import panels
from earmark.reproduce.buckers2021_models import (
    IMPROVED,
    RECIPES,
    SYSTEM_BASED,
    Binned,
    Errors,
    Forecasts,
    Recipe,
    ordinal,
)
from earmark.reproduce.buckers2021_predictions import along_shares, by_share, sampled, scales, spread
from earmark.reproduce.figures import Figure
from earmark.reproduce.trees import Learner, Rule, conditional_forest, conditional_tree, random_forest

TREE = conditional_tree()
LEARNERS: dict[str, Learner] = {
    "logistic regression": ordinal,
    "ctree": TREE,
    "cforest": conditional_forest,
    "random forest": random_forest,
}
CRITERIA = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
_KINDS = {"output-based": SYSTEM_BASED, "judgment-based": IMPROVED}


def recipe_of(model: str, learner: Learner) -> Recipe:
    """Return what a learner is given: trees find products of features themselves."""
    recipe = RECIPES[model]
    if learner is ordinal:
        return recipe
    return Recipe(tuple(name for name in recipe.features if ":" not in name), recipe.own_label)


def learners(fine: Binned, broad: Binned, repeats: int) -> Iterator[Figure]:
    """Draw Figures 3.11 to 3.21."""
    numbers = {("output-based", "rmse"): "3.11", ("output-based", "reliability"): "3.12"}
    numbers |= {("judgment-based", "rmse"): "3.13", ("judgment-based", "reliability"): "3.14"}
    found: dict[str, dict[str, dict[str, list[Errors]]]] = {
        kind: {
            scale: {
                name: sampled(binned, binned.fit(recipe_of(model, learner), learner=learner), repeats)
                for name, learner in LEARNERS.items()
            }
            for scale, binned in scales(fine, broad).items()
        }
        for kind, model in _KINDS.items()
    }
    for (kind, error), number in numbers.items():
        data = pl.concat([spread(errors, error, scale) for scale, errors in found[kind].items()])
        name = "RMSE" if error == "rmse" else "reliability error"
        title = f"{name} of the {kind} predictions by learner (2011)"
        yield Figure(number, title, (panels.bars("", data, y_name=name),), legend=4, height=4.2)
    yield variances(fine, calibrate=False)
    yield variances(fine, calibrate=True)
    yield from hyper_parameters(fine)
    yield by_judged(fine, repeats)


# ---- variance and calibration ----------------------------------------------------------------------------------------


def calibrated(learner: Learner) -> Learner:
    """Return a learner whose probabilities are raised to the power that makes their variance that of its errors.

    The power is found on a third of what is to be learnt from, by a rule learnt from the rest.
    """

    def learn(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
        held = np.random.default_rng(0).random(level.size) < 1 / 3
        trial = learner(values[~held], level[~held], weights[~held], n_levels)
        probabilities = trial(values[held])
        levels = np.arange(n_levels, dtype=np.float64)
        power = calibrating_power(probabilities, levels, level[held].astype(np.float64), weights[held])
        rule = learner(values, level, weights, n_levels)
        return lambda asked: raise_to(rule(asked), power)

    return learn


def variances(binned: Binned, *, calibrate: bool) -> Figure:
    """Draw Figure 3.15 or 3.16: the variance that predictions claim beside that of their errors."""
    taught: list[pl.DataFrame] = []
    tested: list[pl.DataFrame] = []
    for name, learner in LEARNERS.items():
        used = calibrated(learner) if calibrate else learner
        recipe = recipe_of(SYSTEM_BASED, learner)
        rules = [binned.learn(recipe, half, used) for half in binned.halves]
        features = binned.mirex.setting.features.features(recipe.features)
        taught.append(_two_variances(binned, name, [_on_taught(binned, recipe, rules)]))
        tested.append(_two_variances(binned, name, [binned.predict(rules, (features, features))]))
    drawn = (
        panels.bars("on the queries learnt from", pl.concat(taught), y_name="variance"),
        panels.bars("on the other queries", pl.concat(tested), y_name="variance"),
    )
    how = ", calibrated by a power" if calibrate else ""
    title = f"variance that output-based predictions claim, and that of their errors{how} (2011 Fine)"
    return Figure("3.16" if calibrate else "3.15", title, drawn, width=9.6, legend=2, share_y=True)


def _two_variances(binned: Binned, name: str, forecasts: Sequence[Forecasts]) -> pl.DataFrame:
    errors = [binned.errors(one) for one in forecasts]
    claimed, observed = np.mean([one.variance for one in errors]), np.mean([one.rmse**2 for one in errors])
    rows = [("claimed by predictions", name, float(claimed)), ("of their errors", name, float(observed))]
    return pl.DataFrame(rows, schema=["series", "x", "y"], orient="row")


def _on_taught(binned: Binned, recipe: Recipe, rules: Sequence[Rule]) -> Forecasts:
    """Predict what rules were learnt from."""
    known = np.zeros(binned.level.size, dtype=bool)
    probabilities = np.full((binned.level.size, binned.levels.size), 1 / binned.levels.size)
    for half, rule in zip(binned.halves, rules, strict=True):
        values, taught = binned.teaching(recipe, half)
        known |= taught
        probabilities[taught] = rule(values)
    return Forecasts(known, probabilities)


# ---- how trees grow --------------------------------------------------------------------------------------------------


def hyper_parameters(binned: Binned) -> Iterator[Figure]:
    """Draw Figures 3.17 to 3.20: errors of trees on what they were grown from, by how they grow."""
    tuned: tuple[tuple[str, Mapping[float, Growing], tuple[str, str]], ...] = (
        ("minimum criterion", {value: Growing(criterion=value) for value in CRITERIA}, ("3.17", "3.18")),
        ("greatest depth", {depth: Growing(max_depth=depth) for depth in DEPTHS}, ("3.19", "3.20")),
    )
    drawn: dict[str, Figure] = {}
    for name, growths, numbers in tuned:
        found = {value: {kind: [_grown(binned, kind, growth)] for kind in _KINDS} for value, growth in growths.items()}
        for number, error, words in zip(numbers, ("reliability", "rmse"), ("reliability error", "RMSE"), strict=True):
            data = pl.concat([spread(by_kind, error, float(value)) for value, by_kind in found.items()])
            panel = panels.lines("", data.drop("low", "high"), x_name=f"{name} of a ctree", y_name=words)
            drawn[number] = Figure(number, f"{words} of a ctree on what it was grown from (2011 Fine)", (panel,))
    yield from (drawn[number] for number in sorted(drawn))


def _grown(binned: Binned, kind: str, growth: Growing) -> Errors:
    learner = conditional_tree(growth)
    recipe = recipe_of(_KINDS[kind], learner)
    return binned.errors(_on_taught(binned, recipe, [binned.learn(recipe, half, learner) for half in binned.halves]))


def by_judged(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.21: RPS of the regression and of trees by how much is judged."""

    def predicting(learner: Learner) -> Callable[[Bools], Forecasts]:
        return lambda judged: binned.fit(recipe_of(IMPROVED, learner), judged=judged, learner=learner)

    models = {name: predicting(LEARNERS[name]) for name in ("logistic regression", "ctree")}
    found = by_share(binned, models, repeats)
    panel = panels.lines("", along_shares(found, "rps"), x_name="% of judgments", y_name="RPS")
    return Figure("3.21", "RPS of judgment-based predictions by how much is judged (2011 Fine)", (panel,))
