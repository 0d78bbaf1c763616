"""Model and assessors in words: whether predictions came true, and how far people agree."""

from __future__ import annotations

import math

import polars as pl

from earmark.report.assessors import Agreement
from earmark.report.calibration import LEVEL, Calibration, Held
from earmark.wording import counted

# How far a share of intervals that held may be off before it is worth a word.
_SLACK = 0.02
# How many times as large as expected errors are, and what to say of them.
_SIZES = (
    (1.1, "larger than it expects: about single items it is surer than it may be"),
    (0.9, "about as large as it expects"),
)
_SMALLER = "smaller than it expects: about single items it is less sure than it could be"


def say_calibration(calibration: Calibration) -> tuple[str, str]:
    """Say whether judged items are where the model puts them, and how far that goes for the others."""
    errors, held = calibration.errors, calibration.held
    made, expected = errors.rmse, errors.mean_variance**0.5
    if calibration.fine:
        within = f"All {held.items:,}" if held.held == held.items else f"{_share(held)} of {held.items:,}"
        said = f"{within} judged items lie within the model's 95% intervals, {_enough(held)}."
    else:
        off = made / expected if expected else 1.0
        size = next((word for least, word in _SIZES if off >= least), _SMALLER)
        said = f"Over {held.items:,} judged items, the errors of the model are {size}."
    said += f" It misses by {_gain(made)} (root mean square) and expects to miss by {_gain(expected)}."
    sample = calibration.held_in_sample
    if calibration.complete:
        caution = "Everything is judged, so there are no other items for which this could be different."
    elif calibration.all_sampled:
        caution = "All of them were drawn at random, so the same goes for the items that nobody judged."
    else:
        caution = (
            "Unless they were drawn at random, judged items are not like the others: what a policy chooses is unusual, "
            "and nobody knows how well the rest is predicted."
        )
        if sample is not None and calibration.fine:
            caution = (
                f"Of the {sample.items:,} among them that were drawn at random, {_share(sample)} do, "
                f"{_enough(sample)}: that goes for the items nobody judged too. What a policy chooses is unusual."
            )
    return said, f"{caution} The model was fitted to the same judgments, which flatters it a little."


def _share(held: Held) -> str:
    # What is not all must not be rounded to it.
    return f"{100 if held.held == held.items else min(100 * held.share, 99):.0f}%"


def _enough(held: Held) -> str:
    """Judge a share of intervals that held; small deviations are no news, however many items show them."""
    if held.high < LEVEL and held.share < LEVEL - _SLACK:
        return "fewer than should: about single items the model is surer than it may be"
    if held.low > LEVEL and held.share > LEVEL + _SLACK:
        return "more than need be: about single items the model is less sure than it could be"
    return "as many as should"


def _gain(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def say_assessors(table: pl.DataFrame, agreement: Agreement | None) -> list[str]:
    """Say who judged how much, how far they agree, and who is generous and who is strict."""
    total = int(table["judgments"].sum())
    said = [f"{counted(table.height, 'assessor')} gave {counted(total, 'judgment')}."]
    if agreement is None:
        if table.height > 1:
            said.append("No item was judged by two of them: how far they agree is not known.")
        return said
    alpha, errors = agreement.alpha, agreement.errors
    told = "Krippendorff's alpha has no value here: all gains are the same."
    if not math.isnan(alpha.alpha):
        between = f" ({100 * alpha.level:g}% interval {alpha.low:.2f} to {alpha.high:.2f})"
        told = f"Krippendorff's alpha, 1 for full agreement and 0 for that of chance, is {alpha.alpha:.2f}"
        told += f"{'' if math.isnan(alpha.low) else between}."
    said.append(
        f"{counted(errors.items, 'item was', 'items were')} judged by several of them. {told} Two assessors are "
        f"{_gain(errors.mean_rmse)} apart on the judging scale (root mean square, averaged over pairs of assessors)."
    )
    known = table.filter(pl.col("shared") > 0).sort("bias", "assessor")
    strict, generous = known.row(0, named=True), known.row(-1, named=True)
    if known.height > 1 and strict["bias"] < 0 < generous["bias"]:
        said.append(
            f"{generous['assessor']} is the most generous, {_gain(generous['bias'])} above the others on the items "
            f"they share; {strict['assessor']} is the strictest, {_gain(-strict['bias'])} below."
        )
    return said
