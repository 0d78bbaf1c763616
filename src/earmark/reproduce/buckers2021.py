"""BIAS (Buckers2021): overconfidence and overestimation in low-cost evaluation, on the collection of 2011.

The thesis measures how far the models of MTC may be trusted: by the ranked probability score of their predictions and
its reliability, by how often intervals of scores and differences hold, by accuracy at a given confidence. It improves
their features (shares of systems instead of documents, no own labels, how many judgments an average rests on) and the
estimates of normalised measures.

It prints no coefficients and fits every year's models on the other years. Ours are fitted on one half of the queries
of 2011 and used on the other, both ways, so that no prediction has seen its own query. Gains are the ten levels
0, 11, …, 99 that they are binned to, predictions count once for every system that retrieved the item, intervals and
confidence are those of Student's t with queries − 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earmark.beliefs.estimates import Estimates
from earmark.beliefs.normalised_estimates import truncated_beliefs
from earmark.data.arrays import Floats, Segments
from earmark.diagnose.calibration import BIAS_EDGES
from earmark.diagnose.coverage import LEVELS
from earmark.inference.confidence import rank_systems
from earmark.measures.base import parse
from earmark.reproduce.buckers2021_models import (
    EXCLUDING,
    IMPROVED,
    JUDGMENT,
    MEASURES,
    OUTPUT,
    RECIPES,
    SAMPLES,
    SYSTEM_BASED,
    VALUES,
    Binned,
    Errors,
    Forecasts,
)
from earmark.reproduce.comparison import (
    Comparison,
    Row,
    beside,
    check_seeds,
    compare,
    compare_all,
    compare_words,
    not_reproduced,
    read_printed,
)
from earmark.reproduce.mirex2011 import confidence_bins, judge, load

PAPER = "Buckers 2021"
PRINTED = read_printed("buckers2021")
SEEDS = 20
_FEW = 0.10
_LARGE_GROUP = 100
# A measure counts as overestimated if it is for nearly all systems, as the figures show it.
_NEARLY_ALL = 0.9

PUBLISHED = "L_output of Urbano and Schedl 2013"
Bins = dict[str, list[str]]
"""What is printed of every bin of confidence: its confidence, its accuracy and how many pairs are in it."""

_MODELS = (
    "No coefficients are printed. Ours are fitted on one half of the queries of 2011 and used on the other, both ways; "
    "items that a model cannot be applied to have the uniform belief."
)
_POOLED = "The paper pools four years; ours is 2011."
_MEASURES = (
    "CG and DCG are scaled to 0..1 (Eqs. 2.9 and 2.10 print DCG's normaliser wrongly: it is Σ 1/log2(i+1)). NDCG and "
    "RBP are normalised by the ideal ranking of what was retrieved, by the delta method; RBP's p is not given, ours is "
    ".8."
)


def tables(folder: Path, *, seeds: int = SEEDS) -> list[Comparison]:
    """Return the thesis's tables, as far as 2011 goes, with ours beside them.

    Parameters
    ----------
    folder : Path
        Where ``runs.txt``, ``judgments.txt`` and ``metadata.txt`` of the MIREX 2011 collection lie.
    seeds : int
        How many samples of judgments to draw where a part of them is drawn; ours is then the median, with the lowest
        and the highest.
    """
    check_seeds(seeds)
    binned = Binned(load(folder))
    return [
        totals(),
        table_1_1(binned),
        table_2_1(binned),
        coverage_table(binned, of_pairs=False),
        coverage_table(binned, of_pairs=True),
        table_3_3(binned, seeds),
        table_3_4(binned),
        bins_table(binned, f"{PAPER}, Table 3.7: accuracy by confidence, output-based", PRINTED["table_3_7"]),
        bins_table(binned, f"{PAPER}, Table 3.8: accuracy by confidence, judgment-based", PRINTED["table_3_8"]),
        forms_table(binned),
        optimum(binned),
        overestimation(binned),
        not_reproduced(PAPER, PRINTED["not_reproduced"]),
    ]


# ---- chapters 1 and 3 ------------------------------------------------------------------------------------------------


def totals() -> Comparison:
    """Add up the bins that Tables 1.1 and 3.7 print for CG@5 and compare with the totals that they print."""
    rows: list[Row] = []
    tables = {"Table 1.1": PRINTED["table_1_1"], "Table 3.7, original": PRINTED["table_3_7"]["CG@5"][OUTPUT]}
    for name, table in tables.items():
        *pairs, _ = map(float, table["pairs"])
        for column in ("confidence", "accuracy"):
            *bins, total = table[column]
            mean = float(np.average(np.array(bins, dtype=float), weights=pairs))
            agrees = compare(name, total, mean).agrees
            erratum = "" if agrees else f"its own bins give {mean:.3f}"
            rows.append(compare(name, total, mean, column=column, erratum=erratum))
    notes = (
        "Ours is the mean of the printed bins, by the printed numbers of pairs. Both tables have the same confidence "
        "and accuracy in every bin, but other numbers of pairs: those of Table 3.7 give the mean confidence that both "
        "print.",
        "F_t of section 2.2.2 has the wrong sign, as Eq. 6 of Urbano and Schedl 2013 has, and Eq. 2.14 lacks the "
        "square on its indicators.",
    )
    return Comparison(f"{PAPER}, Tables 1.1 and 3.7: totals of the printed bins", tuple(rows), notes)


def table_1_1(binned: Binned) -> Comparison:
    """Sort the pairs of 2011 by the confidence of the published L_output."""
    rows = _bin_rows(binned, "CG@5", binned.published, PRINTED["table_1_1"], name="", column="")
    notes = (
        f"{_POOLED} Ours has the coefficients of Table 7 of Urbano and Schedl 2013.",
        "Pairs in percent: of 341, and of 153.",
    )
    return Comparison(f"{PAPER}, Table 1.1: accuracy by confidence without judgments", tuple(rows), notes)


def table_2_1(binned: Binned) -> Comparison:
    """Count the collection."""
    collection = binned.mirex.collection
    with_metadata = binned.mirex.systems_of_item[binned.published.known].sum()
    ours = (len(collection.systems), len(collection.queries), with_metadata)
    notes = ("Its judgments are results, not distinct items: 9,000 less those without metadata.",)
    return Comparison(f"{PAPER}, Table 2.1 (2011)", compare_all(PRINTED["table_2_1"], ours), notes)


def coverage_table(binned: Binned, *, of_pairs: bool) -> Comparison:
    """Count how often intervals of scores, or of differences, hold the truth."""
    paper = PRINTED["coverage_pairs"] if of_pairs else PRINTED["coverage_systems"]
    forecasts = {name: binned.forecasts[name] for name in (OUTPUT, SYSTEM_BASED, JUDGMENT, IMPROVED)}
    rows: list[Row] = []
    for measure, ours in MEASURES.items():
        for model, predicted in {**forecasts, PUBLISHED: binned.published}.items():
            estimates = binned.estimate(binned.beliefs(predicted), parse(ours))
            verdict = judge(estimates, binned.truths[measure], df=binned.df)
            shares = verdict.coverage_pairs if of_pairs else verdict.coverage_systems
            values = paper[measure].get(model, (None,) * len(LEVELS))
            for level, value, share in zip(LEVELS, values, shares, strict=True):
                rows.append(beside(f"{measure}, {level:.2f}", value, float(share), column=model))
    notes = [f"{_POOLED} {_MODELS}", _MEASURES]
    if of_pairs:
        notes.append("Table 3.2 prints .57 for DCG@5 at .60 where Table 3.6 prints .58 for the same model.")
        notes.append(
            "How differences of NDCG and RBP get their variance is not spelt out; ours is one ratio per query, the "
            "difference of both lists over the ideal ranking."
        )
        title = f"{PAPER}, Tables 3.2 and 3.6: differences of systems within their intervals"
    else:
        notes.append("The printed shares are multiples of 1/48, though the four years have 53 systems.")
        title = f"{PAPER}, Tables 3.1 and 3.5: systems within their intervals"
    return Comparison(title, tuple(rows), tuple(notes))


def table_3_3(binned: Binned, seeds: int) -> Comparison:
    """Compare models fitted with and without own labels, with all judgments and with a tenth of them."""
    models = {"original": JUDGMENT, "excluding self": EXCLUDING}
    rows: list[Row] = []
    everything, few = PRINTED["table_3_3"].items()
    for place, (column, model) in enumerate(models.items()):
        found = _named(binned.errors(binned.forecasts[model]))
        for name, values in everything[1].items():
            rows.append(beside(f"{everything[0]}: {name}", values[place], found[name], column=column))
    drawn: dict[str, list[dict[str, float]]] = {model: [] for model in models.values()}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        judged = rng.random(binned.level.size) < _FEW
        for model in models.values():
            drawn[model].append(_named(binned.errors(binned.fit(RECIPES[model], judged=judged))))
    for place, (column, model) in enumerate(models.items()):
        for name, values in few[1].items():
            found_values = np.array([one[name] for one in drawn[model]])
            what = f"{few[0]}: {name}"
            rows.append(beside(what, values[place], float(np.median(found_values)), column=column))
            rows.append(beside(f"{what}, lowest", None, float(found_values.min()), column=column))
            rows.append(beside(f"{what}, highest", None, float(found_values.max()), column=column))
    leak = _variance_ratio(binned, JUDGMENT), _variance_ratio(binned, EXCLUDING)
    notes = (
        _MODELS,
        f"Own labels in training leak: the squared errors of the original model are {leak[0]:.1f} times the variance "
        f"it claims, without own labels {leak[1]:.1f} times.",
        f"A tenth of the judgments is drawn {seeds} times: the median, the lowest and the highest. Reliability is over "
        f"all predictions, probabilities rounded to {VALUES} values; how many the paper takes is not given.",
    )
    return Comparison(f"{PAPER}, Table 3.3: own labels in the features (2011)", tuple(rows), notes)


def table_3_4(binned: Binned) -> Comparison:
    """Recompute the largest values of features, and the errors of the output-based model."""
    output = binned.mirex.setting.features.output()
    rows = [
        compare(f"{name}, maximum", value, float(np.nanmax(output[name])))
        for name, value in PRINTED["table_3_4_maxima"].items()
    ]
    for column, forecasts in ((PUBLISHED, binned.published), ("fitted", binned.forecasts[OUTPUT])):
        found = _named(binned.errors(forecasts))
        for name, value in PRINTED["table_3_4_errors"].items():
            rows.append(beside(name, value, found[name], column=column))
        large = binned.errors(forecasts, min_group_size=_LARGE_GROUP).reliability
        rows.append(
            beside(
                f"reliability, groups of {_LARGE_GROUP} or more",
                PRINTED["table_3_4_errors"]["reliability"],
                large,
                column=column,
            )
        )
    notes = (
        "fART and fGEN count distinct documents; pART and pGEN of Urbano and Schedl 2013 count results. Their "
        "descriptions say 'as the query document' and mean the document.",
        f"{PUBLISHED} has the coefficients of their Table 7, and its features. {_MODELS}",
        "RPS is divided by levels − 1. Gains are binned by round(g / 11), scores are from 0 to 1. Reliability hangs on "
        f"how predictions are grouped, which is not given for this table; ours rounds probabilities to {VALUES} "
        "values.",
    )
    return Comparison(f"{PAPER}, Table 3.4 (2011)", tuple(rows), notes)


def bins_table(binned: Binned, title: str, paper: dict[str, dict[str, Bins]]) -> Comparison:
    """Put accuracy by confidence beside the paper's for every measure and two models."""
    rows: list[Row] = []
    for measure, by_model in paper.items():
        for model, bins in by_model.items():
            short = model.rpartition(", ")[2]
            rows += _bin_rows(binned, measure, binned.forecasts[model], bins, name=f"{measure} ", column=f"{short}: ")
    notes = (f"{_POOLED} {_MODELS}", _MEASURES, "Pairs in percent: of 341, and of 153.")
    return Comparison(title, tuple(rows), notes)


def _bin_rows(binned: Binned, measure: str, forecasts: Forecasts, paper: Bins, *, name: str, column: str) -> list[Row]:
    estimates = binned.estimate(binned.beliefs(forecasts), parse(MEASURES[measure]))
    ranking = rank_systems(estimates, df=binned.df)
    found = confidence_bins([ranking], binned.truths[measure], edges=BIAS_EDGES)
    pairs = int(found.pairs.sum())
    cells = [
        (sure, right, 100 * count / pairs)
        for sure, right, count in zip(found.confidence, found.accuracy, found.pairs, strict=True)
    ]
    assert found.expected_accuracy is not None
    assert found.observed_accuracy is not None
    cells.append((found.expected_accuracy, found.observed_accuracy, 100.0))
    rows: list[Row] = []
    for place, (bin_name, ours) in enumerate(zip(PRINTED["bins"], cells, strict=True)):
        sure, right, count = (paper[name][place] or None for name in ("confidence", "accuracy", "pairs"))
        share = None if count is None else f"{100 * int(count) / PRINTED['pairs']:.0f}"
        for what, value, own in zip(("confidence", "accuracy", "% of pairs"), (sure, right, share), ours, strict=True):
            shown = "no pair" if np.isnan(own) else float(own)
            rows.append(beside(f"{name}{bin_name}", value, shown, column=f"{column}{what}"))
    return rows


def _named(errors: Errors) -> dict[str, float]:
    return {
        "RPS": errors.rps,
        "RMSE": errors.rmse,
        "variance": errors.variance,
        "reliability": errors.reliability,
    }


def _variance_ratio(binned: Binned, model: str) -> float:
    errors = binned.errors(binned.forecasts[model])
    return errors.rmse**2 / errors.variance


# ---- chapter 4 -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """By how much estimates of scores are off, and for how many systems they are too high."""

    error: float
    above: float


def bias_of(estimates: Estimates, truth: Estimates) -> Bias:
    """Compare estimated scores with the true ones."""
    error = estimates.scores.mean - truth.scores.mean
    return Bias(float(error.mean()), float((error > 0).mean()))


def forms_table(binned: Binned) -> Comparison:
    """Show bias and coverage of the normalised measures by the form of the estimate."""
    rows: list[Row] = []
    for (measure, form), estimates in binned.forms.items():
        truth = binned.truths[measure]
        bias, verdict = bias_of(estimates, truth), judge(estimates, truth, df=binned.df)
        name = f"{measure}, {form}"
        rows.append(beside(name, None, bias.error, column="mean error"))
        rows.append(beside(name, None, bias.above, column="systems too high"))
        rows.append(beside(name, None, verdict.coverage_systems_95, column="95% of systems"))
        rows.append(beside(name, None, verdict.coverage_pairs_95, column="95% of pairs"))
        rows.append(beside(name, None, verdict.accuracy, column="accuracy"))
    notes = (
        "delta: expected gains, the paper's original. mode: the most probable label (section 4.3.1). rounded: expected "
        "gains rounded to labels. truncated: sampling without small probabilities (section 4.3.2). montecarlo: "
        "sampling.",
        f"The paper shows these in figures only. Ours is the system-based model, with {SAMPLES} samples where drawn.",
    )
    return Comparison(
        f"{PAPER}, Figures 4.5 and 4.7: normalised measures by form of estimate (2011)", tuple(rows), notes
    )


def optimal_scores(binned: Binned, gain: Floats, *, cutoff: int = 5) -> Floats:
    """Return the DCG of the ideal ranking of every query, scaled to 0..1."""
    query = binned.mirex.collection.item_query
    order = np.lexsort((-gain, query))
    rank = Segments.from_counts(np.bincount(query)).position
    discount = np.where(rank <= cutoff, 1 / np.log2(rank + 1.0), 0.0)
    best = (1 / np.log2(np.arange(1, cutoff + 1) + 1.0)).sum() * binned.scale.top
    return np.asarray(np.bincount(query, gain[order] * discount) / best)


def optimum_errors(binned: Binned) -> dict[str, float]:
    """Return the mean error of the optimal score of a query, by what items are taken to be worth."""
    beliefs = binned.beliefs(binned.forecasts[SYSTEM_BASED])
    true = optimal_scores(binned, binned.gain).mean()
    drawn = truncated_beliefs(beliefs).sample(np.random.default_rng(0), 100)
    worth = {"expected gain": beliefs.expected.mean, "most probable label": beliefs.expected.most_probable}
    errors = {name: float(optimal_scores(binned, gain).mean() - true) for name, gain in worth.items()}
    sampled = np.mean([optimal_scores(binned, gain).mean() for gain in drawn])
    return {**errors, "sampling": float(sampled - true)}


def optimum(binned: Binned) -> Comparison:
    """Show how far off the optimal score of a query is, and how often labels at the top come up."""
    rows = [beside(f"optimal score by {name}: mean error", None, e) for name, e in optimum_errors(binned).items()]
    expected = binned.beliefs(binned.forecasts[OUTPUT]).expected
    results = binned.mirex.systems_of_item
    top, next_to_top = binned.levels[-1], binned.levels[-2]
    labels = expected.most_probable == top, expected.nearest == top, expected.nearest == next_to_top
    for (name, value), found in zip(PRINTED["labels"].items(), labels, strict=True):
        rows.append(beside(f"{name}: results", value, float(results[found].sum())))
    notes = (
        "The ideal ranking of a query is underestimated from expected gains, hence normalised scores overestimated.",
        "The counts are those of the original output-based model; the paper's are over four years and 11 levels.",
        _MODELS,
    )
    return Comparison(f"{PAPER}, Figures 4.2 to 4.6: the optimal score of a query (2011)", tuple(rows), notes)


def overestimation(binned: Binned) -> Comparison:
    """Check what chapter 4 says in words."""
    beliefs = binned.beliefs(binned.forecasts[SYSTEM_BASED])
    rows: list[Row] = []
    for measure, claim in zip(MEASURES, ("no", "no", "yes", "yes"), strict=True):
        bias = bias_of(binned.estimate(beliefs, parse(MEASURES[measure])), binned.truths[measure])
        found = "yes" if bias.above >= _NEARLY_ALL else "no"
        note = f"{bias.above:.0%} of the systems too high, mean error {bias.error:+.3f}"
        rows.append(compare_words("nearly all systems overestimated", claim, found, column=measure, note=note))
    errors = {key: bias_of(found, binned.truths[key[0]]).error for key, found in binned.forms.items()}
    for measure in ("NDCG@5", "RBP@5"):
        plain = errors[measure, "delta"]
        for form, what in (("mode", "the most probable label"), ("truncated", "sampling")):
            found = "yes" if abs(errors[measure, form]) < abs(plain) else "no"
            note = f"mean error {errors[measure, form]:+.3f} instead of {plain:+.3f}"
            rows.append(compare_words(f"{what} reduces the bias", "yes", found, column=measure, note=note))
    optimal = optimum_errors(binned)
    found = "yes" if optimal["expected gain"] < 0 else "no"
    rows.append(compare_words("optimal scores are underestimated from expected gains", "yes", found))
    return Comparison(f"{PAPER}, chapter 4: what it says in words (2011)", tuple(rows), (_MODELS, _MEASURES))
