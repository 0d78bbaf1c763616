r"""Who judged, and how: how much each assessor did, how generous they are, and how far from the others.

On an item that others judged too, an assessor's *difference* is their gain less the mean of the others'. Over these
items, ``bias`` is the mean of the differences, ``rmse`` the root of the mean of their squares, and ``agreement`` the
share of the others' judgments that are at the same level. A scale with very many levels counts as ten, as for models.

A bias tells generous assessors from strict ones; it does no harm where everybody judges something of every system. A
large error with a small bias is an assessor who does not hear what the others hear, or does not listen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from earmark.crowd.graded import AssessorErrors, assessor_errors, graded_alpha
from earmark.crowd.krippendorff import Alpha
from earmark.data.judgments import Judgments
from earmark.errors import InputError
from earmark.predictors.ordinal_levels import to_levels


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far assessors agree on items that several of them judged."""

    errors: AssessorErrors
    alpha: Alpha


def assessor_agreement(judgments: Judgments, *, seed: int = 0) -> Agreement | None:
    """Say how far assessors agree; None where no two judged the same item."""
    try:
        errors = assessor_errors(judgments)
    except InputError:
        return None
    return Agreement(errors, graded_alpha(judgments, rng=np.random.default_rng(seed)))


def assessor_table(judgments: Judgments) -> pl.DataFrame | None:
    """Return one row per assessor, the busiest first; None where judgments do not name them.

    Returns
    -------
    polars.DataFrame or None
        ``assessor``, ``judgments``, ``mean_gain``, ``shared`` (judgments of items that others judged too), and over
        these ``bias``, ``rmse``, ``agreement``, and ``low`` and ``high``, between which eight in ten of the differences
        lie; null where nothing is shared.
    """
    if "assessor" not in judgments.frame.columns:
        return None
    given = judgments.frame.filter(pl.col("gain") >= 0).select("query", "document", "assessor", "gain")
    item = ["query", "document"]
    levels = pl.Series("level", to_levels(judgments.scale, given["gain"].to_numpy()))
    others = pl.len().over(item) - 1
    alike = pl.len().over(*item, "level") - 1
    rows = given.with_columns(levels).with_columns(
        others.alias("others"),
        ((pl.col("gain").sum().over(item) - pl.col("gain")) / others).alias("mean_of_others"),
        alike.alias("alike"),
    )
    shared = pl.col("others") > 0
    difference = (pl.col("gain") - pl.col("mean_of_others")).filter(shared)
    return (
        rows.group_by("assessor")
        .agg(
            pl.len().cast(pl.Int64).alias("judgments"),
            pl.col("gain").mean().alias("mean_gain"),
            shared.sum().cast(pl.Int64).alias("shared"),
            difference.mean().alias("bias"),
            (difference**2).mean().sqrt().alias("rmse"),
            (pl.col("alike") / pl.col("others")).filter(shared).mean().alias("agreement"),
            difference.quantile(0.1, interpolation="linear").alias("low"),
            difference.quantile(0.9, interpolation="linear").alias("high"),
        )
        .sort(["judgments", "assessor"], descending=[True, False])
    )


def most_and_least_generous(rows: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the rows of the most generous and of the strictest assessor; None where nobody is above the others."""
    known = sorted((row for row in rows if row["shared"]), key=lambda row: (row["bias"], row["assessor"]))
    return (known[-1], known[0]) if known and known[0]["bias"] < 0 < known[-1]["bias"] else None
