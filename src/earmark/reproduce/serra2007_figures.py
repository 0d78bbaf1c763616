"""The figures of COVER (Serra2007): curves of the six answers, and their mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from earmark.data.judged_lists import JudgedLists
from earmark.measures.curves import Curves, normalised_lift, precision_recall
from earmark.measures.prototype_answers import prototype_lists
from earmark.plots.curves import curves_data, plot_curves
from earmark.reproduce.figures import Figure, Panel
from earmark.reproduce.serra2007 import answer_set


def figures() -> Iterator[Figure]:
    """Draw both figures from the answers of Table 1."""
    yield _curves("1", "normalised lift of the six answers and their mean", normalised_lift)
    yield _curves("2", "precision and recall of the six answers and their mean", precision_recall)


def _curves(number: str, title: str, kind: Callable[[JudgedLists], Curves]) -> Figure:
    answers = answer_set()
    curves = {
        name: kind(prototype_lists([answer])) for name, answer in zip(answers.names, answers.answers, strict=True)
    }
    each = curves_data(curves)
    mean = each.group_by("x").agg(pl.col("y").mean()).sort("x")
    area = float(np.mean([curve.mean_area for curve in curves.values()]))
    whole = pl.concat([each, mean.select(pl.lit("mean").alias("system"), "x", "y", pl.lit(area).alias("area"))])
    panel = Panel("", whole, lambda axes: plot_curves(curves, average=True, ax=axes))
    return Figure(number, title, (panel,), width=6.6, height=4.4)
