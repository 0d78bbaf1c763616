"""Chapter 4 of BIAS (Buckers2021): normalised scores are overestimated, as the ideal ranking is underestimated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from earmark.beliefs.estimates import Estimates
from earmark.beliefs.normalised_estimates import truncated_beliefs
from earmark.data.arrays import Floats, Segments
from earmark.measures.base import parse
from earmark.reproduce.buckers2021_models import MEASURES, OUTPUT, SAMPLES, SYSTEM_BASED, Binned
from earmark.reproduce.comparison import Comparison, Row, beside, compare_words, read_printed
from earmark.reproduce.mirex2011 import judge

PAPER = "Buckers 2021"
PRINTED = read_printed("buckers2021")
# A measure counts as overestimated if it is for nearly all systems, as the figures show it.
_NEARLY_ALL = 0.9

MODELS = (
    "No coefficients are printed. Ours are fitted on one half of the queries of 2011 and used on the other, both ways; "
    "items that a model cannot be applied to have the uniform belief."
)
POOLED = "The paper pools four years; ours is 2011."
MEASURED = (
    "CG and DCG are scaled to 0..1 (Eqs. 2.9 and 2.10 print DCG's normaliser wrongly: it is Σ 1/log2(i+1)). NDCG and "
    "RBP are normalised by the ideal ranking of what was retrieved, by the delta method; RBP's p is not given, ours is "
    ".8."
)
DERIVED = "The Broad scale is derived: Fine gains cut at 33 and at 67."


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
        *_derived(binned),
    )
    return Comparison(
        f"{PAPER}, Figures 4.5 and 4.7: normalised measures by form of estimate ({binned.name})", tuple(rows), notes
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
        rows.append(beside(f"{name}: results", value if binned.is_fine else None, float(results[found].sum())))
    notes = (
        "The ideal ranking of a query is underestimated from expected gains, hence normalised scores overestimated.",
        "The counts are those of the original output-based model; the paper's are over four years and 11 levels.",
        MODELS,
        *_derived(binned),
    )
    return Comparison(f"{PAPER}, Figures 4.2 to 4.6: the optimal score of a query ({binned.name})", tuple(rows), notes)


@dataclass(frozen=True)
class Claim:
    """What chapter 4 says, what comes out, and by which number."""

    name: str
    measure: str
    claim: str
    found: str
    number: str


def claims(binned: Binned) -> list[Claim]:
    """Check what chapter 4 says in words."""
    beliefs = binned.beliefs(binned.forecasts[SYSTEM_BASED])
    checked: list[Claim] = []
    for measure, claim in zip(MEASURES, ("no", "no", "yes", "yes"), strict=True):
        bias = bias_of(binned.estimate(beliefs, parse(MEASURES[measure])), binned.truths[measure])
        number = f"{bias.above:.0%} of the systems too high, mean error {bias.error:+.3f}"
        found = _yes(bias.above >= _NEARLY_ALL)
        checked.append(Claim("nearly all systems overestimated", measure, claim, found, number))
    errors = {key: bias_of(found, binned.truths[key[0]]).error for key, found in binned.forms.items()}
    for measure in ("NDCG@5", "RBP@5"):
        plain = errors[measure, "delta"]
        for form, what in (("mode", "the most probable label"), ("truncated", "sampling")):
            number = f"mean error {errors[measure, form]:+.3f} instead of {plain:+.3f}"
            found = _yes(abs(errors[measure, form]) < abs(plain))
            checked.append(Claim(f"{what} reduces the bias", measure, "yes", found, number))
    low = optimum_errors(binned)["expected gain"]
    name = "optimal scores are underestimated from expected gains"
    checked.append(Claim(name, "", "yes", _yes(low < 0), f"mean error {low:+.3f}"))
    return checked


def overestimation(binned: Binned) -> Comparison:
    """Put what chapter 4 says beside what comes out, and beside what comes out if gains are shuffled.

    A statement that holds for shuffled gains as well is one about estimates. That it holds for the collection is then
    no evidence of anything, and does not count as agreement.
    """
    shuffled = np.random.default_rng(0).permutation(binned.mirex.gain)
    controls = claims(Binned(replace(binned.mirex, gain=shuffled)))
    rows: list[Row] = []
    for one, control in zip(claims(binned), controls, strict=True):
        telling = binned.is_fine and control.found != control.claim
        put = compare_words if telling else beside
        note = f"{one.number}; gains shuffled: {control.found}, {control.number}"
        rows.append(put(one.name, one.claim, one.found, column=one.measure, note=note))
    notes = (
        MODELS,
        MEASURED,
        "Models are fitted to the shuffled gains too. What holds for them as well follows from how estimates are made, "
        "whatever the gains are, and is not counted as agreement.",
        *_derived(binned),
    )
    return Comparison(f"{PAPER}, chapter 4: what it says in words ({binned.name})", tuple(rows), notes)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _derived(binned: Binned) -> tuple[str, ...]:
    return () if binned.is_fine else (DERIVED,)
