"""Features as a table to look at, to export, and to fit models on elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from earmark.beliefs.beliefs import item_gains
from earmark.data.judgments import Aggregation, Judgments
from earmark.predictors.features import FeatureBuilder


def feature_table(
    builder: FeatureBuilder,
    *,
    names: Sequence[str] | None = None,
    judgments: Judgments | None = None,
    exclude_own: bool = True,
    aggregation: Aggregation = "mean",
) -> pl.DataFrame:
    """Return one row per item and one column per feature.

    Parameters
    ----------
    builder : FeatureBuilder
    names : sequence of str, optional
        The features wanted, products such as ``sGEN:pGEN`` among them. By default all that need no judgments and,
        where there are judgments, all that do.
    judgments : Judgments, optional
        What has been judged so far.
    exclude_own : bool
        Leave an item's own judgment out of its features.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' for the same item.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, then the features; null where one cannot be computed.
    """
    collection = builder.collection
    gain = None if judgments is None else item_gains(collection, judgments, aggregation=aggregation)
    if names is None:
        names = builder.output_names + (() if gain is None else builder.judgment_names)
    features = builder.features(names, gain=gain, judged=None if gain is None else gain >= 0, exclude_own=exclude_own)
    columns = {name: pl.Series(features[name]).fill_nan(None) for name in features.names}
    return collection.item_frame().with_columns(**columns)
