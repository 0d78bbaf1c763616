"""Many grades of an item made into one, with an interval, and what is told about assessors on the way.

``mean``, ``median``, ``majority``
    As everywhere else in earmark (:func:`earmark.data.judgments.aggregate`). All assessors count the same. The mean has
    an interval: assessors are taken to differ from an item's gain by errors of one variance, which all items together
    tell, so a bias counts as error.
``linear``
    Assessors have a bias, a scale use and a noise of their own, and who is reliable counts more: see
    :mod:`~earmark.crowd.assessor_effects`. For gains that are amounts, such as the Fine scale from 0 to 100.
``dawid-skene``
    Items have a true level, and assessors confuse levels in ways of their own: see
    :mod:`~earmark.crowd.grade_confusion`. For scales of a few levels.

Where every item has **one answer**, how reliable assessors are cannot be identified: a gain of 70 may be a good item or
a careless answer, and nothing in the data tells which. Then gains are the answers as they were given, without
intervals, nothing is said about assessors, and a note says so. So it is where all answers are the same.

How the methods compare in simulated crowds, and how often intervals hold, is in ``tests/crowd/test_grade_models.py``
and in the page about crowds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import polars as pl
from scipy import sparse, special

from earmark.crowd.assessor_effects import fit_assessor_effects
from earmark.crowd.grade_answers import GradeAnswers
from earmark.crowd.grade_confusion import MOST_LEVELS, fit_grade_confusion
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.judgments import Judgments, aggregate
from earmark.errors import InputError, ParameterError
from earmark.inference.proportions import require_level
from earmark.wording import counted

GradeMethod = Literal["mean", "median", "majority", "linear", "dawid-skene"]
_MODELS = ("linear", "dawid-skene")
_ABOUT = ("bias", "scale_use", "noise", "reliability")


@dataclass(frozen=True, eq=False, repr=False)
class AggregatedGrades(Display):
    """One gain per item.

    Attributes
    ----------
    method : str
        How answers were made into one.
    level : float
        The probability with which an interval holds.
    items : polars.DataFrame
        One row per item: ``query``, ``document``, ``gain``, ``low``, ``high`` (null where there is no interval) and
        ``answers``; for ``dawid-skene`` also the ``probability`` of the level and the ``mean`` over levels.
    assessors : polars.DataFrame
        For models, one row per assessor, the most reliable first: ``assessor``, ``answers``, and what the model says of
        them with intervals, null where it cannot be told; else without rows.
    notes : tuple of str
        What a reader has to know.
    """

    method: GradeMethod
    level: float
    items: pl.DataFrame
    assessors: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: tuple[str, ...] = ()

    def _summary(self) -> Summary:
        """Show the first items, and the assessors where the method says something about them."""
        sentence = f"{counted(self.items.height, 'item')} by {self.method}, {100 * self.level:g}% intervals"
        told = [name for name in self.assessors.columns if not name.endswith(("_low", "_high"))]
        return Summary(
            sentence,
            [
                DisplayTable(self.items, "One gain per item", most=5),
                DisplayTable(self.assessors.select(told), "Assessors", most=5),
            ],
            list(self.notes),
        )


def aggregate_grades(
    judgments: Judgments, *, method: GradeMethod = "linear", min_answers: int = 1, level: float = 0.95
) -> AggregatedGrades:
    """Make one gain per item of those that several assessors gave.

    Parameters
    ----------
    judgments : Judgments
        With a column ``assessor``; negative gains, which stand for unjudged items, are left out.
    method : {"mean", "median", "majority", "linear", "dawid-skene"}
        How, see the module.
    min_answers : int
        Leave out items with fewer answers; models learn from them all the same.
    level : float, in (0, 1)
        The probability with which an interval holds.

    Raises
    ------
    InputError
        If nobody says who judged, or no item is left.
    ParameterError
        If the scale has too many levels for ``dawid-skene``.
    NotConverged
        If a model does not settle.

    Examples
    --------
    >>> said = {"x": "0122", "y": "1222", "z": "0122"}
    >>> rows = [("q", f"d{i}", int(gain), name) for name, gains in said.items() for i, gain in enumerate(gains)]
    >>> frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    >>> aggregate_grades(Judgments.from_frame(frame), method="mean").items.select("gain", "answers").rows()
    [(0.3333333333333333, 3), (1.3333333333333333, 3), (2.0, 3), (2.0, 3)]
    """
    if method not in get_args(GradeMethod):
        raise ParameterError(f"unknown method '{method}' for gains: use {', '.join(get_args(GradeMethod))}")
    require_level(level)
    answers = GradeAnswers.of(judgments)
    enough = pl.Series(answers.answers_of_item >= min_answers)
    if not enough.any():
        got = f"at most {int(answers.answers_of_item.max())}"
        raise InputError(expected=f"items with at least {counted(min_answers, 'answer')}", got=got)
    if method not in _MODELS:
        return AggregatedGrades(method, level, _plain(judgments, answers, method, level).filter(enough))
    if method == "dawid-skene" and (answers.scale.continuous or len(answers.scale.gains) > MOST_LEVELS):
        raise ParameterError(
            f"dawid-skene is for scales of at most {MOST_LEVELS} levels, not for {answers.scale}: use linear"
        )
    unidentified = _unidentified(answers)
    if unidentified is not None:
        nothing = [
            pl.lit(None, dtype=pl.Float64).alias(f"{one}{end}") for one in _ABOUT for end in ("", "_low", "_high")
        ]
        known = {"assessor": pl.Series(answers.assessors, dtype=pl.String), "answers": answers.answers_of_assessor}
        items = _plain(judgments, answers, "median", level).filter(enough)
        return AggregatedGrades(method, level, items, pl.DataFrame(known).with_columns(nothing), (unidentified,))
    fit = fit_assessor_effects if method == "linear" else fit_grade_confusion
    found = fit(answers)
    items, people = found.items(level=level).filter(enough), found.assessors(level=level)
    return AggregatedGrades(method, level, items, people, tuple(_notes(answers)))


def _plain(judgments: Judgments, answers: GradeAnswers, method: str, level: float) -> pl.DataFrame:
    """Aggregate by one of the rules that know nothing of assessors; the mean has an interval."""
    by: Literal["mean", "median", "majority"] = (
        "median" if method == "median" else "majority" if method == "majority" else "mean"
    )
    gains = aggregate(judgments.frame.filter(pl.col("gain") >= 0), by=by)
    items = answers.items.join(gains, on=["query", "document"], how="left", maintain_order="left")
    count = answers.answers_of_item
    free = answers.gain.size - answers.n_items
    none = pl.Series([None] * items.height, dtype=pl.Float64)
    low, high = none, none
    if by == "mean" and free > 0:
        gain = items["gain"].to_numpy()
        spread = np.sqrt(((answers.gain - gain[answers.item]) ** 2).sum() / free)
        reach = special.stdtrit(free, (1 + level) / 2) * spread / np.sqrt(count)
        low, high = (pl.Series(np.clip(end, 0.0, answers.scale.top)) for end in (gain - reach, gain + reach))
    return items.with_columns(low.alias("low"), high.alias("high"), pl.Series("answers", count))


def _unidentified(answers: GradeAnswers) -> str | None:
    """Say why nothing can be told about assessors, if nothing can."""
    same = "gains are the answers as they were given, without intervals"
    if not answers.shared.any():
        return f"every item has one answer, so the reliability of assessors cannot be identified: {same}"
    if (answers.gain == answers.gain[0]).all():
        return f"all answers are the same, so the reliability of assessors cannot be identified: {same}"
    return None


def _notes(answers: GradeAnswers) -> list[str]:
    """Say of which assessors little or nothing can be told."""
    said = []
    alone = int(np.count_nonzero(~answers.shared))
    if alone:
        said.append(
            f"{alone:,} of {counted(answers.n_assessors, 'assessor')} shared no item with anybody: nothing can be said "
            "about their bias, scale use and reliability"
        )
    n_items, n_people = answers.n_items, answers.n_assessors
    links = sparse.coo_array(
        (np.ones(answers.item.size), (answers.item, n_items + answers.assessor)), shape=(n_items + n_people,) * 2
    )
    label = sparse.csgraph.connected_components(links, directed=False)[1][n_items:]
    groups = np.unique(label[answers.shared]).size
    if groups > 1:
        said.append(
            f"assessors fall into {groups:,} groups that have no item in common: their biases are compared as if the "
            "items of all groups were alike"
        )
    return said
