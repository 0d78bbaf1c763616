"""Figures 1.2, 2.2, 2.3, 3.24, 3.25 and 4.1 to 4.9 of BIAS (Buckers2021): estimates of scores beside the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from earmark.beliefs.beliefs import IndependentBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.normalised_estimates import Form, estimate_normalised, truncated_beliefs
from earmark.data.arrays import Bools, Floats
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures.base import parse
from earmark.reproduce import panels
from earmark.reproduce.buckers2021_bias import optimal_scores
from earmark.reproduce.buckers2021_models import (
    IMPROVED,
    JUDGMENT,
    MEASURES,
    OUTPUT,
    RECIPES,
    SYSTEM_BASED,
    Binned,
    Forecasts,
)
from earmark.reproduce.figures import Figure, Panel
from earmark.reproduce.mirex2011 import confidence_bins

NORMALISED = ("NDCG@5", "RBP@5")
RATIOS = (0.05, 0.2, 0.5, 1.0)
"""Shares of the judgments that are known."""
SAMPLES = 200
_EDGES = (0.50, 0.90, 0.99, 1.00)
_DRAWS = 100
_WORTH = {"delta": "expected value", "mode": "most probable label", "truncated": "sampling"}


def overestimated(binned: Binned) -> Figure:
    """Draw Figure 1.2: estimated against actual scores by the original output-based model."""
    panel = _by_measure("", binned, binned.forecasts[OUTPUT])
    return Figure("1.2", "scores of 18 systems by the original output-based model (2011 Fine)", (panel,), 6.6, 4.6)


def _by_measure(title: str, binned: Binned, forecasts: Forecasts) -> Panel:
    beliefs = binned.beliefs(forecasts)
    found = {name: binned.estimate(beliefs, parse(ours)).scores.mean for name, ours in MEASURES.items()}
    return _scatter(title, {name: (mean, binned.truths[name]) for name, mean in found.items()})


def _scatter(title: str, found: Mapping[str, tuple[ArrayLike, Estimates]]) -> Panel:
    """Draw estimated against true scores of systems, by group."""
    means = [np.asarray(mean) for mean, _ in found.values()]
    true = np.concatenate([truth.scores.mean for _, truth in found.values()])
    group = [name for name, mean in zip(found, means, strict=True) for _ in mean]
    return panels.actual(title, np.concatenate(means), true, group)


# ---- chapter 2: two systems ------------------------------------------------------------------------------------------


def two_systems(binned: Binned) -> Iterator[Figure]:
    """Draw Figures 2.2 and 2.3: what is believed of the scores of two systems, far apart and close together."""
    estimates = binned.estimate(binned.beliefs(binned.published), parse(MEASURES["CG@5"]))
    order = np.argsort(estimates.scores.mean)
    middle = order.size // 2
    for number, a, b in (("2.2", order[0], order[-1]), ("2.3", order[middle - 1], order[middle])):
        yield _believed(number, binned, estimates, int(a), int(b))


def _believed(number: str, binned: Binned, estimates: Estimates, a: int, b: int) -> Figure:
    ranking = rank_systems(estimates, df=binned.df)
    pairs = np.sort(np.stack([ranking.estimates.a, ranking.estimates.b]), axis=0)
    confidence = float(ranking.confidence[(pairs[0] == min(a, b)) & (pairs[1] == max(a, b))][0])
    mean, sd = estimates.scores.mean[[a, b]], np.sqrt(estimates.scores.variance[[a, b]])
    x = np.linspace((mean - 4 * sd).min(), (mean + 4 * sd).max(), 241)
    frames = []
    for place, system in enumerate((a, b)):
        density = np.exp(-(((x - mean[place]) / sd[place]) ** 2) / 2) / (sd[place] * np.sqrt(2 * np.pi))
        name = f"system {binned.mirex.collection.systems[system][:6]}"
        frames.append(pl.DataFrame({"series": [name] * x.size, "x": x, "y": density}))
    panel = panels.lines("", pl.concat(frames), x_name="CG@5", y_name="density", marks=False)
    words = "overlap" if number == "2.3" else "hardly overlap"
    title = (
        f"scores of two systems that {words}, by L_output of Urbano and Schedl 2013 without judgments: confidence "
        f"{confidence:.3f} (2011 Fine)"
    )
    return Figure(number, title, (panel,))


# ---- chapter 3: accuracy by confidence -------------------------------------------------------------------------------


def accuracy_by_confidence(binned: Binned, repeats: int) -> Iterator[Figure]:
    """Draw Figures 3.24 and 3.25: accuracy by confidence and how much is judged."""
    rng = np.random.default_rng(0)
    drawn = {share: [rng.random(binned.level.size) < share for _ in range(repeats)] for share in RATIOS}
    by_share = {
        share: [binned.fit(RECIPES[JUDGMENT], judged=judged) for judged in several] for share, several in drawn.items()
    }
    output = binned.forecasts[OUTPUT]
    mixed = {share: [one.otherwise(output) for one in several] for share, several in by_share.items()}
    for number, found, words in (
        ("3.24", by_share, "uniform"),
        ("3.25", mixed, "predicted by the output-based model"),
    ):
        title = f"accuracy by confidence; what the judgment-based model cannot predict is {words} (2011 Fine, CG@5)"
        data = pl.concat([_binned_pairs(binned, share, several) for share, several in found.items()])
        panel = panels.lines("", data, diagonal=True, x_name="confidence", y_name="accuracy")
        yield Figure(number, title, (panel,), width=6.2, height=4.8)


def _binned_pairs(binned: Binned, share: float, several: list[Forecasts]) -> pl.DataFrame:
    measure = parse(MEASURES["CG@5"])
    rankings: list[Ranking] = [
        rank_systems(binned.estimate(binned.beliefs(one), measure), df=binned.df) for one in several
    ]
    found = confidence_bins(rankings, binned.truths["CG@5"], edges=_EDGES)
    some = found.pairs > 0
    name = f"{100 * share:g}% of the judgments"
    return pl.DataFrame({"x": found.confidence[some], "y": found.accuracy[some]}).select(
        pl.lit(name).alias("series"), "x", "y"
    )


# ---- chapter 4: overestimation ---------------------------------------------------------------------------------------


def chapter_4(fine: Binned, broad: Binned) -> Iterator[Figure]:
    """Draw Figures 4.1 to 4.9."""
    output = fine.forecasts[SYSTEM_BASED]
    improved = fine.forecasts[IMPROVED].otherwise(output)
    sides = (_by_measure("output-based", fine, output), _by_measure("judgment-based, all judged", fine, improved))
    yield Figure("4.1", "scores of 18 systems by the improved models (2011 Fine)", sides, 9.0, 4.4, legend=4)
    scales = {"Broad, derived": broad, "Fine": fine}
    yield _optimal("4.2", "delta", scales)
    yield _labels(scales)
    yield _optimal("4.4", "mode", scales)
    yield _forms("4.5", "mode", scales)
    yield _optimal("4.6", "truncated", scales)
    yield _forms("4.7", "truncated", scales)
    yield _by_ratio(fine)
    yield _with_judgments(fine)


def _optimal(number: str, form: Form, scales: Mapping[str, Binned]) -> Figure:
    """Draw the optimal score of every query, estimated in one way, against the actual one."""
    drawn = []
    for name, binned in scales.items():
        estimated = _optimum(binned, binned.beliefs(binned.forecasts[SYSTEM_BASED]), form)
        drawn.append(panels.heat(name, estimated, optimal_scores(binned, binned.gain), what="optimal score"))
    way = "sampling from" if form == "truncated" else f"the {_WORTH[form]} of"
    title = f"optimal DCG@5 of 100 queries by {way} output-based predictions (2011)"
    return Figure(number, title, tuple(drawn), 9.4, 4.4)


def _optimum(binned: Binned, beliefs: IndependentBeliefs, form: Form) -> Floats:
    if form == "truncated":
        drawn = truncated_beliefs(beliefs).sample(np.random.default_rng(0), _DRAWS)
        return np.asarray(np.mean([optimal_scores(binned, gain) for gain in drawn], axis=0))
    worth = {"delta": beliefs.expected.mean, "mode": beliefs.expected.most_probable}
    return optimal_scores(binned, worth[form])


def _labels(scales: Mapping[str, Binned]) -> Figure:
    """Draw Figure 4.3: actual labels and most probable ones."""
    drawn = []
    for name, binned in scales.items():
        results = binned.mirex.systems_of_item
        probable = binned.beliefs(binned.forecasts[OUTPUT]).expected.most_probable
        gains = {"judged": binned.gain, "most probable": probable}
        label = [f"{level / binned.scale.top:.2g}" for level in binned.levels]
        frames = []
        for series, gain in gains.items():
            count = np.bincount(np.searchsorted(binned.levels, gain), results, binned.levels.size)
            shares = 100 * count / results.sum()
            frames.append(pl.DataFrame({"series": [series] * count.size, "x": label, "y": shares}))
        drawn.append(panels.bars(name, pl.concat(frames), x_name="label", y_name="% of results"))
    title = "labels that were given, and most probable labels by the original output-based model (2011)"
    return Figure("4.3", title, tuple(drawn), 9.0, 4.0, legend=2)


def _forms(number: str, form: Form, scales: Mapping[str, Binned]) -> Figure:
    """Draw normalised scores by expected values and by another form of estimate."""
    drawn = []
    for name, binned in scales.items():
        found = {
            f"{measure}, {_WORTH[how]}": (binned.forms[measure, how].scores.mean, binned.truths[measure])
            for how in ("delta", form)
            for measure in NORMALISED
        }
        drawn.append(_scatter(name, found))
    title = f"normalised scores of 18 systems by expected values and by {_of(form)} (2011, output-based)"
    return Figure(number, title, tuple(drawn), 9.0, 4.6, legend=2)


def _of(form: Form) -> str:
    return "sampling" if form == "truncated" else "the most probable label"


def _judged(binned: Binned) -> dict[float, Bools]:
    rng = np.random.default_rng(0)
    return {share: rng.random(binned.level.size) < share for share in (0.0, *RATIOS)}


def _predicted(binned: Binned, judged: Bools) -> Forecasts:
    """Predict by judgments where there are enough of them, else without."""
    return binned.fit(RECIPES[IMPROVED], judged=judged).otherwise(binned.forecasts[SYSTEM_BASED])


def _estimates(binned: Binned, beliefs: IndependentBeliefs, measure: str, form: Form) -> Floats:
    estimates = estimate_normalised(
        binned.mirex.collection,
        beliefs,
        parse(MEASURES[measure]),
        form=form,
        rng=np.random.default_rng(0),
        samples=SAMPLES,
    )
    return estimates.scores.mean


def _by_ratio(binned: Binned) -> Figure:
    """Draw Figure 4.8: estimates from predictions alone, by how much their features know."""
    believed = {
        f"{100 * share:g}% judged": binned.beliefs(_predicted(binned, judged))
        for share, judged in _judged(binned).items()
    }
    drawn = []
    for form in ("delta", "truncated"):
        for measure in NORMALISED:
            found = {
                name: (_estimates(binned, beliefs, measure, form), binned.truths[measure])
                for name, beliefs in believed.items()
            }
            drawn.append(_scatter(f"{measure}, {_WORTH[form]}", found))
    title = "normalised scores of 18 systems from predictions alone, by how much their features know (2011 Fine)"
    return Figure("4.8", title, tuple(drawn), 8.6, 8.2, legend=5, columns=2)


def _with_judgments(binned: Binned) -> Figure:
    """Draw Figure 4.9: estimates in which judged items have their judgments."""
    believed = {
        f"{100 * share:g}% judged": binned.beliefs(_predicted(binned, judged), judged=judged)
        for share, judged in _judged(binned).items()
    }
    drawn = []
    for measure in NORMALISED:
        found = {
            name: (_estimates(binned, beliefs, measure, "truncated"), binned.truths[measure])
            for name, beliefs in believed.items()
        }
        drawn.append(_scatter(measure, found))
    title = "normalised scores of 18 systems by sampling, judgments included (2011 Fine)"
    return Figure("4.9", title, tuple(drawn), 9.0, 4.6, legend=5)
