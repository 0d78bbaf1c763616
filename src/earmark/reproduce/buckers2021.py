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

from pathlib import Path

import numpy as np

from earmark.diagnose.calibration import BIAS_EDGES
from earmark.diagnose.coverage import LEVELS
from earmark.inference.confidence import rank_systems
from earmark.measures.base import parse
from earmark.reproduce.buckers2021_bias import (
    DERIVED,
    MEASURED,
    MODELS,
    PAPER,
    POOLED,
    PRINTED,
    forms_table,
    optimum,
    overestimation,
)
from earmark.reproduce.buckers2021_models import (
    EXCLUDING,
    IMPROVED,
    JUDGMENT,
    MEASURES,
    OUTPUT,
    RECIPES,
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
    not_reproduced,
)
from earmark.reproduce.mirex2011 import confidence_bins, derived_broad, judge, load

SEEDS = 20
_FEW = 0.10
_LARGE_GROUP = 100

PUBLISHED = "L_output of Urbano and Schedl 2013"
Bins = dict[str, list[str]]
"""What is printed of every bin of confidence: its confidence, its accuracy and how many pairs are in it."""


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
    mirex = load(folder)
    binned, broad = Binned(mirex), Binned(derived_broad(mirex))
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
        errors_table(broad),
        coverage_table(broad, of_pairs=False),
        coverage_table(broad, of_pairs=True),
        forms_table(binned),
        forms_table(broad),
        optimum(binned),
        optimum(broad),
        overestimation(binned),
        overestimation(broad),
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
        f"{POOLED} Ours has the coefficients of Table 7 of Urbano and Schedl 2013.",
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
    fine, nothing = binned.is_fine, (None,) * len(LEVELS)
    forecasts = {name: binned.forecasts[name] for name in (OUTPUT, SYSTEM_BASED, JUDGMENT, IMPROVED)}
    rows: list[Row] = []
    for measure, ours in MEASURES.items():
        for model, predicted in {**forecasts, PUBLISHED: binned.published}.items():
            estimates = binned.estimate(binned.beliefs(predicted), parse(ours))
            verdict = judge(estimates, binned.truths[measure], df=binned.df)
            shares = verdict.coverage_pairs if of_pairs else verdict.coverage_systems
            values = paper[measure].get(model, nothing) if fine else nothing
            for level, value, share in zip(LEVELS, values, shares, strict=True):
                rows.append(beside(f"{measure}, {level:.2f}", value, float(share), column=model))
    notes = [f"{POOLED} {MODELS}", MEASURED] if fine else [DERIVED, MODELS, MEASURED]
    what = "differences of systems" if of_pairs else "systems"
    if not fine:
        return Comparison(f"{PAPER}, {what} within their intervals ({binned.name})", tuple(rows), tuple(notes))
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
        MODELS,
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
        f"{PUBLISHED} has the coefficients of their Table 7, and its features. {MODELS}",
        "RPS is divided by levels − 1. Gains are binned by round(g / 11), scores are from 0 to 1. Reliability hangs on "
        f"how predictions are grouped, which is not given for this table; ours rounds probabilities to {VALUES} "
        "values.",
    )
    return Comparison(f"{PAPER}, Table 3.4 (2011)", tuple(rows), notes)


def errors_table(binned: Binned) -> Comparison:
    """Show the errors of all models on a scale that the thesis prints none of."""
    models = {PUBLISHED: binned.published, **binned.forecasts}
    rows = [
        beside(model, None, value, column=name)
        for model, forecasts in models.items()
        for name, value in _named(binned.errors(forecasts)).items()
    ]
    return Comparison(f"{PAPER}, errors of predictions ({binned.name})", tuple(rows), (DERIVED, MODELS))


def bins_table(binned: Binned, title: str, paper: dict[str, dict[str, Bins]]) -> Comparison:
    """Put accuracy by confidence beside the paper's for every measure and two models."""
    rows: list[Row] = []
    for measure, by_model in paper.items():
        for model, bins in by_model.items():
            short = model.rpartition(", ")[2]
            rows += _bin_rows(binned, measure, binned.forecasts[model], bins, name=f"{measure} ", column=f"{short}: ")
    notes = (f"{POOLED} {MODELS}", MEASURED, "Pairs in percent: of 341, and of 153.")
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
