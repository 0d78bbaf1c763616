"""Graded answers of several assessors as numbers: items, assessors and gains, for the models that aggregate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.judgments import Judgments
from earmark.data.scales import Scale
from earmark.errors import InputError


@dataclass(frozen=True, eq=False)
class GradeAnswers:
    """Who gave which gain to which item.

    Attributes
    ----------
    items : polars.DataFrame
        ``query`` and ``document``, in the order in which they first occur.
    assessors : tuple of str
        In the order of their names.
    scale : Scale
        The judging scale.
    item, assessor : ndarray of int, shape (answers,)
        What each answer is about and whose it is; answers are sorted by item.
    gain : ndarray of float, shape (answers,)
        What it says.
    """

    items: pl.DataFrame
    assessors: tuple[str, ...]
    scale: Scale
    item: Ints
    assessor: Ints
    gain: Floats

    @classmethod
    def of(cls, judgments: Judgments) -> GradeAnswers:
        """Give items and assessors numbers; negative gains, which stand for unjudged items, are left out.

        Raises
        ------
        InputError
            If nobody says who judged, or no item is judged.

        Examples
        --------
        >>> rows = {"query": ["q"] * 3, "document": ["d", "e", "d"], "gain": [2, 0, 1], "assessor": ["x", "x", "y"]}
        >>> answers = GradeAnswers.of(Judgments.from_frame(pl.DataFrame(rows)))
        >>> answers.item.tolist(), answers.assessor.tolist(), answers.gain.tolist()
        ([0, 0, 1], [0, 1, 0], [2.0, 1.0, 0.0])
        """
        frame = judgments.frame
        if "assessor" not in frame.columns:
            raise InputError(expected="a column 'assessor' that says who judged", got="judgments without one")
        frame = frame.filter(pl.col("gain") >= 0)
        if not frame.height:
            raise InputError(expected="at least one judged item", got="none: all gains are negative")
        items = frame.select("query", "document").unique(maintain_order=True).with_row_index("item")
        assessors = frame["assessor"].fill_null("")
        names = tuple(sorted(assessors.unique().to_list()))
        numbered = (
            frame.select("query", "document", "gain")
            .with_columns(assessors.cast(pl.Enum(names)).to_physical().cast(pl.Int64).alias("assessor"))
            .join(items, on=["query", "document"], maintain_order="left")
            .sort("item", "assessor", maintain_order=True)
        )
        return cls(
            items.drop("item"),
            names,
            judgments.scale,
            numbered["item"].cast(pl.Int64).to_numpy(),
            numbered["assessor"].to_numpy(),
            numbered["gain"].to_numpy(),
        )

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.items.height

    @property
    def n_assessors(self) -> int:
        """How many assessors there are."""
        return len(self.assessors)

    @cached_property
    def answers_of_item(self) -> Ints:
        """How many answers every item has, shape (items,)."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def answers_of_assessor(self) -> Ints:
        """How many answers every assessor gave, shape (assessors,)."""
        return np.bincount(self.assessor, minlength=self.n_assessors)

    @cached_property
    def shared(self) -> Bools:
        """Which assessors judged an item that somebody else judged too, shape (assessors,)."""
        several = self.answers_of_item[self.item] > 1
        return np.asarray(np.bincount(self.assessor[several], minlength=self.n_assessors) > 0)

    def assessor_table(self, estimates: Mapping[str, tuple[Floats, Floats, Floats]]) -> pl.DataFrame:
        """Return one row per assessor, the most reliable first, with what a model says of them.

        Parameters
        ----------
        estimates : mapping of str to (estimate, low, high), each an ndarray of float, shape (assessors,)
            By name, one of which is ``reliability``.

        Returns
        -------
        polars.DataFrame
            ``assessor``, ``answers``, and every estimate followed by the ends of its interval: ``bias``, ``bias_low``,
            ``bias_high`` and so on. All of these are null for an assessor who shares no item with anybody.
        """
        known = pl.Series(self.shared)
        frame = pl.DataFrame(
            {
                "assessor": pl.Series(self.assessors, dtype=pl.String),
                "answers": self.answers_of_assessor,
                **{
                    f"{name}{end}": pl.select(pl.when(known).then(pl.Series(values))).to_series()
                    for name, parts in estimates.items()
                    for end, values in zip(("", "_low", "_high"), parts, strict=True)
                },
            }
        )
        return frame.sort("reliability", "assessor", descending=[True, False], nulls_last=True)
