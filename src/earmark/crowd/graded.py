r"""Agreement on graded judgments: how far apart two assessors are who judge the same items.

Take one assessor's gains as the truth and another's as estimates of it. Over the items that both judged the error is

.. math:: RMSE_{ab} = \sqrt{\frac{1}{|I_{ab}|} \sum_{i \in I_{ab}} (g_{ai} - g_{bi})^2}

and its average over all pairs of assessors is what one should expect of *any* estimate of a judgment: a model whose
error is no larger does as well as another person would (Urbano2013, 4.3: .795 on the Broad scale and 31.2 on the Fine
scale, for the three assessors of MIREX 2006). Pairs of assessors count equally there, however many items they share;
``pooled_rmse`` counts every two judgments of an item equally instead.

References
----------
J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. International Journal of Multimedia Information Retrieval 2(1), 59-70.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.crowd.krippendorff import Alpha, Metric, krippendorff_alpha
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.data.judgments import Judgments
from earmark.errors import InputError
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class AssessorErrors(Display):
    """How far assessors are from one another.

    Attributes
    ----------
    pairs : polars.DataFrame
        One row per two assessors with items in common: ``a``, ``b``, ``items``, ``rmse``, and ``bias``, the mean of a's
        gains minus b's.
    mean_rmse : float
        The average of ``rmse`` over the rows.
    pooled_rmse : float
        Over every two judgments of the same item.
    items : int
        How many items were judged by two assessors or more.
    """

    pairs: pl.DataFrame
    mean_rmse: float
    pooled_rmse: float
    items: int

    def _summary(self) -> Summary:
        """Show every two assessors."""
        apart = written_cells([self.mean_rmse])[0]
        sentence = f"{counted(self.items, 'item')} judged by several, two assessors are {apart} apart (RMSE)"
        return Summary(sentence, [DisplayTable(self.pairs)])


def judged_by_several(judgments: Judgments) -> pl.DataFrame:
    """Return the judgments of items that several assessors judged.

    Raises
    ------
    InputError
        If nobody says who judged, or no two assessors judged the same item.
    """
    if "assessor" not in judgments.frame.columns:
        raise InputError(expected="a column 'assessor' that says who judged", got="judgments without one")
    judged = judgments.frame.filter(pl.col("gain") >= 0)
    several = judged.filter(pl.len().over("query", "document") > 1)
    if not several.height:
        raise InputError(expected="items that several assessors judged", got="every item judged by one")
    return several.select("query", "document", "assessor", "gain")


def assessor_errors(judgments: Judgments) -> AssessorErrors:
    """Return the errors between every two assessors who judged the same items.

    Raises
    ------
    InputError
        If there are none.
    """
    frame = judged_by_several(judgments)
    item = ["query", "document"]
    both = frame.join(frame, on=item, suffix="_b").filter(pl.col("assessor") < pl.col("assessor_b"))
    difference = pl.col("gain") - pl.col("gain_b")
    pairs = (
        both.group_by(pl.col("assessor").alias("a"), pl.col("assessor_b").alias("b"))
        .agg(
            pl.len().cast(pl.Int64).alias("items"),
            (difference**2).mean().sqrt().alias("rmse"),
            difference.mean().alias("bias"),
        )
        .sort("a", "b")
    )
    squares, items = pairs["rmse"].to_numpy() ** 2, pairs["items"].to_numpy()
    return AssessorErrors(
        pairs,
        float(pairs["rmse"].to_numpy().mean()),
        float(np.sqrt(squares @ items / items.sum())),
        frame.select(item).n_unique(),
    )


def graded_alpha(
    judgments: Judgments,
    *,
    metric: Metric = "ordinal",
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Alpha:
    """Return Krippendorff's alpha of graded judgments, items of a query belonging together.

    Parameters
    ----------
    judgments : Judgments
        With a column ``assessor``; negative gains, which stand for items not judged, are left out.
    metric : {"ordinal", "interval", "nominal"}
        How much two gains disagree.
    n_resamples, level, rng
        As for :func:`~earmark.crowd.krippendorff.krippendorff_alpha`. With a single query its items stand for
        themselves.
    """
    frame = judged_by_several(judgments)
    numbers = frame.select(
        pl.struct("query", "document").rank("dense").cast(pl.Int64).alias("unit"),
        pl.col("query").rank("dense").cast(pl.Int64),
        pl.col("assessor").rank("dense").cast(pl.Int64),
    )
    query = numbers["query"].to_numpy()
    return krippendorff_alpha(
        numbers["unit"].to_numpy(),
        frame["gain"].to_numpy(),
        metric=metric,
        assessor=numbers["assessor"].to_numpy(),
        cluster=query if np.any(query != query[0]) else None,
        n_resamples=n_resamples,
        level=level,
        rng=rng,
    )
