"""Figures 3.1 to 3.10, 3.22 and 3.23 of BIAS (Buckers2021): how good predictions of single documents are.

Reliability hangs on how many predictions it is computed from, so within a figure it always is from samples of one size;
bars reach one standard deviation over the samples to both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.diagnose.representativeness import judged_mix
from earmark.diagnose.sample_size import error_of_system_means, group_sizes, per_system, reliability_by_sample_size
from earmark.predictors.features import FeatureBuilder, Features
from earmark.reproduce import panels
from earmark.reproduce.buckers2021_models import (
    EXCLUDING,
    IMPROVED,
    JUDGMENT,
    OUTPUT,
    RECIPES,
    SYSTEM_BASED,
    Binned,
    Errors,
    Forecasts,
    Recipe,
    ordinal,
)
from earmark.reproduce.figures import Figure
from earmark.reproduce.trees import Rule

SAMPLE = 3000
"""How many predictions errors are computed from where several models are compared."""
SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""How much is judged, as a share of all items."""
ERRORS = {"RMSE": "rmse", "reliability error": "reliability", "RPS": "rps"}
_SIZES = (100, 200, 500, 1000, 2000, 4000)
_VALUES, _LEAST_GROUPS = (2, 5, 10, 20), (1, 10, 50, 100)
_GENRES, _FIRST = 6, 0.10
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_FEWER_SYSTEMS = (6, 9, 12, 15)
_COUNT = "nRES"

Found = Mapping[str, Sequence[Errors]]
"""Errors of several samples by model."""


def chapter_3(fine: Binned, broad: Binned, repeats: int) -> Iterator[Figure]:
    """Draw Figures 3.1 to 3.3 and 3.5 to 3.10."""
    yield reliability_by_rounding(fine, repeats)
    yield sizes_of_groups(fine)
    yield reliability_by_group_size(fine, repeats)
    yield output_models(fine, broad, repeats)
    yield reliability_by_share(fine, repeats)
    yield genres(fine)
    yield errors_of_means(fine, repeats)
    yield differences(fine)
    yield judgments_of_systems(fine, repeats)


# ---- reliability and how it is computed ------------------------------------------------------------------------------


def reliability_by_rounding(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.1: reliability by the number of predictions and of values that they are rounded to."""
    data = _by_size(binned, repeats, _VALUES, (1,)).with_columns(series=pl.format("{} values", "n_values"))
    panel = panels.lines("", data, x_name="predictions", y_name="reliability error", log_x=True)
    return Figure("3.1", "original judgment-based model, probabilities rounded to some values (2011 Fine)", (panel,))


def reliability_by_group_size(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.3: reliability by the number of predictions and the least size of groups."""
    data = _by_size(binned, repeats, (10,), _LEAST_GROUPS)
    data = data.with_columns(series=pl.format("groups of {} or more", "min_group_size"))
    panel = panels.lines("", data, x_name="predictions", y_name="reliability error", log_x=True)
    return Figure(
        "3.3", "original judgment-based model, rounded to 10 values, small groups left out (2011 Fine)", (panel,)
    )


def _by_size(binned: Binned, repeats: int, n_values: Sequence[int], least: Sequence[int]) -> pl.DataFrame:
    forecasts = binned.forecasts[JUDGMENT]
    items = binned.results(forecasts.known)
    found = reliability_by_sample_size(
        forecasts.probabilities[items],
        binned.level[items],
        sizes=[*(size for size in _SIZES if size < items.size), items.size],
        rng=np.random.default_rng(0),
        repeats=2 * repeats,
        n_values=n_values,
        min_group_sizes=least,
        representative="rounded",
    )
    return found.drop_nulls("reliability").with_columns(
        x="size",
        y="reliability",
        low=pl.col("reliability") - pl.col("reliability_sd").fill_null(0.0),
        high=pl.col("reliability") + pl.col("reliability_sd").fill_null(0.0),
    )


def sizes_of_groups(binned: Binned) -> Figure:
    """Draw Figure 3.2: how large groups of equal predictions are."""
    forecasts = binned.forecasts[JUDGMENT]
    items = binned.results(forecasts.known)
    found = group_sizes(forecasts.probabilities[items], n_values=_VALUES)
    doubled = pl.col("size").log(2).floor().cast(pl.Int64)
    data = (
        found.with_columns(place=doubled)
        .group_by("n_values", "place", maintain_order=True)
        .agg(y=pl.col("groups").sum())
        .sort("place", "n_values")
        .with_columns(
            series=pl.format("{} values", "n_values"),
            x=pl.when(pl.col("place") == 0)
            .then(pl.lit("1"))
            .otherwise(pl.format("{}–{}", 2 ** pl.col("place"), 2 ** (pl.col("place") + 1) - 1)),
        )
    )
    # All sizes are on the axis, also those that no group has, and the series in their order.
    cases = data["x"].unique(maintain_order=True)
    grid = pl.DataFrame({"series": [f"{values} values" for values in _VALUES]}).join(
        pl.DataFrame({"x": cases}), how="cross"
    )
    data = grid.join(data.select("series", "x", "y"), on=["series", "x"], how="left", maintain_order="left")
    panel = panels.bars(
        "", data.with_columns(pl.col("y").fill_null(0)), x_name="predictions in a group", y_name="groups"
    )
    title = f"sizes of groups of equal predictions, {items.size:,} by the original judgment-based model (2011 Fine)"
    return Figure("3.2", title, (panel,), width=8.0)


# ---- comparing models ------------------------------------------------------------------------------------------------


def sampled(binned: Binned, forecasts: Forecasts, repeats: int, *, size: int = SAMPLE, seed: int = 0) -> list[Errors]:
    """Score samples of predictions of one size."""
    rng, items = np.random.default_rng(seed), binned.results(forecasts.known)
    return [
        binned.errors(forecasts, items=rng.choice(items, min(size, items.size), replace=False)) for _ in range(repeats)
    ]


def spread(found: Found, error: str, x: object) -> pl.DataFrame:
    """Return the mean of an error over samples by model, and one standard deviation to both sides."""
    rows = []
    for series, several in found.items():
        values = np.array([getattr(one, error) for one in several])
        mean, sd = float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else 0.0
        rows.append((series, x, mean, mean - sd, mean + sd))
    return pl.DataFrame(rows, schema=["series", "x", "y", "low", "high"], orient="row")


def scales(fine: Binned, broad: Binned) -> dict[str, Binned]:
    """Return both collections under the names that figures show."""
    return {"Fine": fine, "Broad, derived": broad}


def three_errors(
    number: str, title: str, fine: Binned, broad: Binned, models: Mapping[str, str], repeats: int
) -> Figure:
    """Draw RMSE, reliability and RPS of several models side by side, as Figures 3.22 and 3.23 do."""
    found = {
        scale: {name: sampled(binned, binned.forecasts[model], repeats) for name, model in models.items()}
        for scale, binned in scales(fine, broad).items()
    }
    drawn = tuple(
        panels.bars(name, pl.concat([spread(errors, error, scale) for scale, errors in found.items()]), y_name="")
        for name, error in ERRORS.items()
    )
    return Figure(number, f"{title} (2011)", drawn, width=9.6, height=3.8, legend=len(models))


def figure_3_22(fine: Binned, broad: Binned, repeats: int) -> Figure:
    """Draw Figure 3.22: the output-based model, and with shares of systems."""
    models = {"original": OUTPUT, "system-based": SYSTEM_BASED}
    return three_errors("3.22", "errors of the output-based models", fine, broad, models, repeats)


def figure_3_23(fine: Binned, broad: Binned, repeats: int) -> Figure:
    """Draw Figure 3.23: the judgment-based model, without own labels, and with the count of the artist's judgments."""
    models = {"original": JUDGMENT, "excluding self": EXCLUDING, "with feature count": IMPROVED}
    return three_errors("3.23", "errors of the judgment-based models, all judged", fine, broad, models, repeats)


def output_models(fine: Binned, broad: Binned, repeats: int) -> Figure:
    """Draw Figure 3.5: reliability of the output-based model and of four changes to it."""
    original = RECIPES[OUTPUT].features
    others = ("fSYS", "fART_others", "sGEN", "fGEN_others", "sGEN:fGEN_others")
    frames = []
    for scale, binned in scales(fine, broad).items():
        forecasts = {
            "original": binned.forecasts[OUTPUT],
            "with the share of the artist in all music": binned.fit(Recipe((*original, "rART"))),
            "with the number of results": counting_results(binned, Recipe((*original, _COUNT))),
            "without the system itself": binned.fit(Recipe(others)),
            "system-based": binned.forecasts[SYSTEM_BASED],
        }
        found = {name: sampled(binned, one, repeats) for name, one in forecasts.items()}
        frames.append(spread(found, "reliability", scale))
    panel = panels.bars("", pl.concat(frames), y_name="reliability error")
    return Figure("3.5", "reliability of the output-based predictions by model (2011)", (panel,), legend=2, height=4.4)


def counting_results(binned: Binned, recipe: Recipe) -> Forecasts:
    """Fit a model that knows how many results there are, on the queries as they are and with systems left out.

    Within a year all queries have as many results. As in section 3.2.3 the training data is therefore repeated with
    fewer systems, here drawn once for each number of them.
    """
    rng = np.random.default_rng(0)
    parts = [_thinned(binned, recipe, rng.choice(18, number, replace=False)) for number in _FEWER_SYSTEMS]
    whole = binned.mirex.setting.features.features(recipe.features)
    parts.append((np.arange(binned.level.size), whole, binned.mirex.systems_of_item))
    rules = [_learn_from(binned, parts, half) for half in binned.halves]
    return binned.predict(rules, (whole, whole))


Part = tuple[Ints, Features, Floats]
"""Items, their features and weights."""


def _thinned(binned: Binned, recipe: Recipe, systems: Ints) -> Part:
    """Return items that some systems retrieved, with features as if there were no others."""
    collection = binned.mirex.collection
    kept = np.isin(collection.result_system, systems)
    items, result_item = np.unique(collection.result_item[kept], return_inverse=True)
    names = np.sort(systems)
    fewer = replace(
        collection,
        systems=tuple(collection.systems[one] for one in names),
        item_query=collection.item_query[items],
        item_document=collection.item_document[items],
        result_system=np.searchsorted(names, collection.result_system[kept]),
        result_item=result_item,
        result_rank=collection.result_rank[kept],
    )
    weights = np.bincount(result_item, minlength=items.size).astype(np.float64)
    return items, FeatureBuilder(fewer).features(recipe.features), weights


def _learn_from(binned: Binned, parts: Sequence[Part], half: Bools) -> Rule:
    values, levels, weights = [], [], []
    for items, features, weight in parts:
        taught = half[items] & features.complete
        values.append(features.values[taught])
        levels.append(binned.level[items[taught]])
        weights.append(weight[taught])
    return ordinal(np.concatenate(values), np.concatenate(levels), np.concatenate(weights), binned.levels.size)


# ---- by what is judged -----------------------------------------------------------------------------------------------


def by_share(
    binned: Binned, models: Mapping[str, Callable[[Bools], Forecasts]], repeats: int
) -> dict[float, dict[str, list[Errors]]]:
    """Score judgment-based predictions by how much is judged, always on as many predictions.

    Parameters
    ----------
    binned : Binned
    models : mapping of str to callable
        From which items are judged to predictions.
    repeats : int
        How often to draw what is judged.
    """
    rng = np.random.default_rng(0)
    drawn = {share: [rng.random(binned.level.size) < share for _ in range(repeats)] for share in SHARES}
    forecasts = {
        share: {name: [predict(judged) for judged in several] for name, predict in models.items()}
        for share, several in drawn.items()
    }
    everything = [one for by_model in forecasts.values() for several in by_model.values() for one in several]
    size = min(binned.results(one.known).size for one in everything)
    return {
        share: {
            name: [sampled(binned, one, 1, size=size, seed=seed)[0] for seed, one in enumerate(several)]
            for name, several in by_model.items()
        }
        for share, by_model in forecasts.items()
    }


def along_shares(found: Mapping[float, Found], error: str) -> pl.DataFrame:
    """Return an error by model along the share that is judged."""
    frames = [spread(by_model, error, 100 * share) for share, by_model in found.items()]
    return pl.concat(frames)


def reliability_by_share(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.6: reliability of the judgment-based models by how much is judged."""
    names = {"original": JUDGMENT, "excluding self": EXCLUDING, "with feature count": IMPROVED}

    def predicting(recipe: Recipe) -> Callable[[Bools], Forecasts]:
        return lambda judged: binned.fit(recipe, judged=judged)

    found = by_share(binned, {name: predicting(RECIPES[model]) for name, model in names.items()}, repeats)
    panel = panels.lines("", along_shares(found, "reliability"), x_name="% of judgments", y_name="reliability error")
    return Figure("3.6", "reliability of judgment-based predictions by how much is judged (2011 Fine)", (panel,))


def genres(binned: Binned) -> Figure:
    """Draw Figure 3.7: genres among all items and among the first tenth by the weights of Eq. 8."""
    collection = binned.mirex.collection
    assert collection.metadata is not None
    genre = collection.metadata.attribute("genre")
    known = pl.Series([genre.get(collection.documents[document]) for document in collection.item_document])
    retrieved_by = binned.mirex.systems_of_item
    weight = retrieved_by * (len(collection.systems) - retrieved_by)
    tie = np.random.default_rng(0).random(weight.size)
    first = np.zeros(weight.size, dtype=bool)
    first[np.lexsort((tie, -weight))[: round(_FIRST * weight.size)]] = True
    mix = judged_mix(known, first).drop_nulls("value").head(_GENRES)
    data = pl.concat(
        [
            mix.select(pl.lit(name).alias("series"), x="value", y=100 * pl.col(column) / pl.col(column).sum())
            for name, column in (("all songs", "items"), ("first 10% by weight", "judged"))
        ]
    )
    panel = panels.bars("", data, y_name="% of the songs of these genres")
    title = "six genres (anonymous) among all retrieved songs and among those judged first (2011)"
    return Figure("3.7", title, (panel,), legend=2)


def errors_of_means(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.8: how far a system's mean gain is off when few of its songs are judged."""
    found = error_of_system_means(
        binned.gain / binned.scale.top,
        binned.mirex.collection.ranks,
        counts=_COUNTS,
        rng=np.random.default_rng(0),
        repeats=40 * repeats,
    )
    names = {"mean_absolute_error": "mean error", "error_95": "95 in 100 are below"}
    data = pl.concat(
        [found.select(pl.lit(name).alias("series"), x="judgments", y=column) for column, name in names.items()]
    )
    panel = panels.lines("", data, x_name="judgments of a system", y_name="error of its mean gain", log_x=True)
    return Figure("3.8", "error of the mean gain of a system from some of its 500 judgments (2011 Fine)", (panel,))


def differences(binned: Binned) -> Figure:
    """Draw Figure 3.9: how far systems are apart."""
    mean = binned.truths["CG@5"].scores.mean
    a, b = np.triu_indices(mean.size, k=1)
    count, edges = np.histogram(
        np.abs(mean[a] - mean[b]), bins=np.arange(0.0, np.abs(mean[a] - mean[b]).max() + 0.025, 0.025)
    )
    names = [f"{low:.3f}" for low in edges[:-1]]
    data = pl.DataFrame({"series": ["pairs"] * count.size, "x": names, "y": count})
    panel = panels.bars("", data, x_name="difference in mean gain, from", y_name="pairs of systems")
    title = f"differences in mean gain between the {a.size} pairs of systems (2011 Fine)"
    return Figure("3.9", title, (panel,), width=8.0)


def judgments_of_systems(binned: Binned, repeats: int) -> Figure:
    """Draw Figure 3.10: RPS by the number of judgments that the mean gain of a system rests on."""
    recipe, rng = RECIPES[IMPROVED], np.random.default_rng(0)
    rules = binned.rules(recipe)
    counts = [count for count in _COUNTS if count <= 200]
    frames = []
    for count in counts:
        found = []
        for _ in range(repeats):
            asking = [_few_of_systems(binned, recipe, ~half, count, rng) for half in binned.halves]
            found.append(binned.errors(binned.predict(rules, asking)))
        frames.append(spread({"judgment-based, improved": found}, "rps", count))
    panel = panels.lines(
        "", pl.concat(frames), x_name="judgments of a system that aSYS rests on", y_name="RPS", log_x=True
    )
    return Figure("3.10", "RPS of judgment-based predictions by what the feature aSYS rests on (2011 Fine)", (panel,))


def _few_of_systems(binned: Binned, recipe: Recipe, half: Bools, count: int, rng: np.random.Generator) -> Features:
    """Return features that see all judgments of some queries, but the means of systems a few of each system."""
    judged = np.zeros(half.size, dtype=bool)
    judged[half] = per_system(binned.mirex.collection.ranks[:, half])(count, rng)
    build, gain = binned.mirex.setting.features, binned.mirex.gain
    features = build.features(recipe.features, gain=gain, judged=half)
    values = features.values.copy()
    values[:, recipe.features.index("aSYS")] = build.features(("aSYS",), gain=gain, judged=judged)["aSYS"]
    return Features(features.names, values)
