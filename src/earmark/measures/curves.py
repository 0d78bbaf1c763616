r"""Curves: what a list achieves as one reads on, and the area below.

A list is read from the top; :math:`TP(r)` relevant documents stand in its first :math:`r` ranks, :math:`R` are known in
all, :math:`|A|` is the list's length and :math:`|D|` the collection's size. Whatever is not known to be relevant counts
as not relevant, unjudged documents too. There are five curves:

precision–recall
    Raw, one point :math:`(j / R,\ j / r_j)` for the :math:`j`-th relevant document, at rank :math:`r_j`. Interpolated,
    at recall :math:`x` the highest precision at any recall of at least :math:`x`, 0 where the list never gets there.
ROC
    Recall against fallout. Every relevant document is a step up by :math:`1/R`, every other a step to the right by
    :math:`1/(|D| - R)`, from (0, 0) on. What was not retrieved is joined by a straight line to (1, 1), as if it came in
    random order. On a grid, the value at a jump is the upper one.
lift
    :math:`TP(r)` against :math:`r`; flat beyond the end of the list.
normalised lift
    Serrà's (2007) variant: :math:`TP(r)/R` against :math:`r/|A|`, from (0, 0) on, points joined by straight lines.
dynamic recall
    ADR's :math:`r_i` against :math:`i = 1 … n`, for partially ordered truth with :math:`n` documents.

Curves of several lists stand on one grid of x, so that their mean is the mean of y at every x. Areas come from
the curves themselves, not from the grid, so that they do not depend on how fine it is. Without relevant documents a
query's curves and areas are 0 (its dynamic recall has no positions and is not defined anywhere).

References: Manning2008 (precision–recall), Fawcett2006 (ROC), Serra2007 (lift), Typke2006 (dynamic recall).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints, Segments
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.data.judged_lists import JudgedLists
from earmark.errors import ParameterError, UnknownCollectionSize
from earmark.measures.partial_order import ADR, group_places
from earmark.measures.relevance import divide, relevant, relevant_found, relevant_total
from earmark.wording import counted

# A grid point meant to fall on a document must not miss it by the last bit of a product (0.7 · 10 > 7).
_SLACK = 1e-9
_SHOWN_POINTS = 11

CurveName = Literal["pr", "roc", "lift", "normalised-lift", "dynamic-recall"]
Grid = Sequence[float] | NDArray[np.floating]


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Display):
    """Curves of several lists on one grid.

    Parameters
    ----------
    x_name, y_name : str
        What the axes show.
    x : ndarray of float, shape (points,)
        The grid.
    y : ndarray of float, shape (lists, points)
        The curve of every list; NaN where it is not defined.
    area : ndarray of float, shape (lists,)
        The area under every list's own curve.
    """

    x_name: str
    y_name: str
    x: Floats
    y: Floats
    area: Floats

    @cached_property
    def mean(self) -> Floats:
        """The mean at every point over the lists that are defined there, shape (points,); NaN where none is."""
        defined = ~np.isnan(self.y)
        count = defined.sum(axis=0)
        total = np.where(defined, self.y, 0.0).sum(axis=0)
        mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return mean

    @property
    def mean_area(self) -> float:
        """The mean of the areas; NaN without lists."""
        return float(self.area.mean()) if self.area.size else float("nan")

    def _summary(self) -> Summary:
        """Show some points of the mean curve."""
        at = np.unique(np.linspace(0, self.x.size - 1, min(self.x.size, _SHOWN_POINTS)).round().astype(np.int64))
        frame = pl.DataFrame({self.x_name: self.x[at], f"mean {self.y_name}": self.mean[at]})
        lists, area = counted(self.area.size, "list"), written_cells([self.mean_area])[0]
        sentence = f"{self.y_name} against {self.x_name}, {lists}, mean area {area}"
        thinned = [f"{at.size} of {self.x.size:,} points shown"] if at.size < self.x.size else []
        return Summary(sentence, [DisplayTable(frame, most=_SHOWN_POINTS)], thinned)


@dataclass(frozen=True, eq=False)
class Points:
    """Points of several lists, each with its own number of them.

    Parameters
    ----------
    lists : Segments
        Which points belong to which list.
    x, y : ndarray of float, shape (points,)
        The points, in the order of the list.
    """

    lists: Segments
    x: Floats
    y: Floats

    def of(self, index: int) -> tuple[Floats, Floats]:
        """Return x and y of one list."""
        at = slice(*self.lists.offsets[index : index + 2])
        return self.x[at], self.y[at]


def precision_recall_points(lists: JudgedLists, *, rel: float | None = None, cutoff: int | None = None) -> Points:
    """Return recall (x) and precision (y) at every relevant document that a list holds.

    Parameters
    ----------
    lists : JudgedLists
        The lists.
    rel : float, optional
        The least gain that counts as relevant; by default any gain above 0.
    cutoff : int, optional
        How many ranks count; all of the list without it.
    """
    found = _Found.of(lists, rel, cutoff)
    seen = found.lists.position.astype(np.float64)
    return Points(found.lists, divide(seen, found.lists.spread(found.total)), seen / found.rank)


def precision_recall(
    lists: JudgedLists, *, levels: Grid | None = None, rel: float | None = None, cutoff: int | None = None
) -> Curves:
    r"""Interpolate precision at levels of recall: :math:`\max \{P(r) : TP(r)/R \ge x\}`.

    Parameters
    ----------
    lists : JudgedLists
        The lists.
    levels : sequence of float in 0..1, optional
        The levels of recall, ascending; by default the eleven points 0, .1, …, 1.
    rel, cutoff
        As in :func:`precision_recall_points`.
    """
    x = _unit_grid(levels, points=11)
    found = _Found.of(lists, rel, cutoff)
    best_from_here = suffix_maximum(found.lists, found.lists.position / found.rank)
    needed = np.maximum(np.ceil(x * found.total[:, None] - _SLACK), 1).astype(np.int64)
    reached = needed <= found.lists.counts[:, None]
    y = np.zeros(needed.shape)
    y[reached] = best_from_here[(found.lists.offsets[:-1, None] + needed - 1)[reached]]
    return Curves("recall", "precision", x, y, precision_recall_area(lists, rel=rel, cutoff=cutoff))


def precision_recall_area(lists: JudgedLists, *, rel: float | None = None, cutoff: int | None = None) -> Floats:
    r"""Return the area under the interpolated precision–recall curve, shape (..., lists).

    The curve is a staircase, so its area is :math:`\frac{1}{R} \sum_j \max_{i \ge j} i / r_i`: average precision with
    every precision raised to the best that is still to come.
    """
    found = relevant(lists, rel) & lists.within(cutoff)
    precision = np.where(found, lists.hits.cumsum(found) / lists.rank, 0.0)
    return divide(lists.hits.sum(suffix_maximum(lists.hits, precision) * found), relevant_total(lists, rel))


def roc(
    lists: JudgedLists, *, fallout: Grid | None = None, rel: float | None = None, cutoff: int | None = None
) -> Curves:
    """Return recall at levels of fallout.

    Parameters
    ----------
    lists : JudgedLists
        The lists; their collection's size has to be known.
    fallout : sequence of float in 0..1, optional
        The levels of fallout, ascending; by default 0, .01, …, 1.
    rel, cutoff
        As in :func:`precision_recall_points`; what lies beyond the cutoff counts as not retrieved.
    """
    x = _unit_grid(fallout, points=101)
    area = roc_area(lists, rel=rel, cutoff=cutoff)
    found = _Found.of(lists, rel, cutoff)
    total, retrieved = found.total[:, None], found.lists.counts[:, None]
    others = _size(lists) - total
    false_positives = lists.depth(cutoff)[:, None] - retrieved
    passed = x * others
    before = found.count(found.rank - found.lists.position, np.floor(passed + _SLACK).astype(np.int64))
    # Beyond the list: the missing relevant documents are spread evenly over all that was not retrieved.
    share = divide(np.clip(passed - false_positives, 0.0, None), others - false_positives)
    share = np.where(passed >= others - _SLACK, 1.0, share)
    y = divide(before + share * (total - retrieved), total) * (others > 0)
    return Curves("fallout", "recall", x, y, area)


def roc_area(lists: JudgedLists, *, rel: float | None = None, cutoff: int | None = None) -> Floats:
    r"""Return the area under the ROC curve, shape (..., lists).

    Of the :math:`N = |D| - R` documents that are not relevant, :math:`FP` were retrieved. The :math:`j`-th relevant
    document stands before :math:`FP - (r_j - j)` of those and before all that were not; a relevant document that was
    not retrieved stands before half of the latter:

    .. math:: \frac{1}{R N} \sum_j \big(FP - (r_j - j)\big) + \frac{N - FP}{N} \cdot \frac{1 + TP / R}{2}

    It is the chance that a relevant document comes before one that is not; 0 where there is no document of either kind.
    """
    size = _size(lists)
    total = relevant_total(lists, rel)
    others = size - total
    found = relevant(lists, rel) & lists.within(cutoff)
    true_positives = relevant_found(lists, rel, cutoff)
    false_positives = lists.depth(cutoff) - true_positives
    if np.any(false_positives > others):
        raise ParameterError(
            f"a collection of {size:,} documents cannot hold a list's irrelevant documents and all relevant ones: "
            "is its size (--collection-size) right?"
        )
    after = lists.hits.spread(false_positives) - (lists.rank - lists.hits.cumsum(found))
    retrieved = divide(lists.hits.sum(after * found), total * others)
    rest = divide(others - false_positives, others) * (1.0 + divide(true_positives, total)) / 2.0
    return np.where((total > 0) & (others > 0), retrieved + rest, 0.0)


def lift(
    lists: JudgedLists, *, seen: Sequence[int] | Ints | None = None, rel: float | None = None, cutoff: int | None = None
) -> Curves:
    """Count the relevant documents found after a number of documents seen.

    Parameters
    ----------
    lists : JudgedLists
        The lists.
    seen : sequence of int, optional
        The numbers of documents, ascending; by default 0, 1, … to the end of the longest list.
    rel, cutoff
        As in :func:`precision_recall_points`.

    Returns
    -------
    Curves
        An area reaches from 0 to the length of its list, or to the cutoff.
    """
    longest = int(lists.depth(cutoff).max(initial=0))
    x = np.arange(longest + 1) if seen is None else np.asarray(seen, dtype=np.int64)
    _ascending(x)
    found = _Found.of(lists, rel, cutoff)
    y = found.count(found.rank, np.broadcast_to(x, (lists.size, x.size))).astype(np.float64)
    return Curves("documents seen", "relevant found", x.astype(np.float64), y, _lift_area(lists, rel, cutoff))


def normalised_lift(
    lists: JudgedLists, *, share: Grid | None = None, rel: float | None = None, cutoff: int | None = None
) -> Curves:
    r"""Return Serrà's (2007) normalised lift: :math:`TP(r)/R` at :math:`x = r/|A|`.

    Parameters
    ----------
    lists : JudgedLists
        The lists.
    share : sequence of float in 0..1, optional
        The shares of the list seen, ascending; by default 0, .01, …, 1.
    rel : float, optional
        As in :func:`precision_recall_points`.
    cutoff : int, optional
        :math:`|A|` in the formula; without it, the list's length.
    """
    x = _unit_grid(share, points=101)
    found = _Found.of(lists, rel, cutoff)
    rank = x * _width(lists, cutoff)[:, None]
    whole = np.floor(rank + _SLACK).astype(np.int64)
    at, after = found.count(found.rank, whole), found.count(found.rank, whole + 1)
    between = np.clip(rank - whole, 0.0, 1.0)
    y = divide((1.0 - between) * at + between * after, found.total[:, None])
    return Curves("share of the list seen", "recall", x, y, normalised_lift_area(lists, rel=rel, cutoff=cutoff))


def normalised_lift_area(lists: JudgedLists, *, rel: float | None = None, cutoff: int | None = None) -> Floats:
    r"""Return the area under the normalised lift curve, shape (..., lists).

    :math:`\frac{1}{|A| R} \sum_j (|A| - r_j + \tfrac{1}{2})`; the best list reaches :math:`1 - \frac{R}{2 |A|}`.
    """
    return divide(_lift_area(lists, rel, cutoff), _width(lists, cutoff) * relevant_total(lists, rel))


def dynamic_recall(lists: JudgedLists, *, cutoff: int | None = None) -> Curves:
    r"""Return ADR's dynamic recall :math:`r_i` at every position.

    Parameters
    ----------
    lists : JudgedLists
        The lists; the truth's levels are its groups.
    cutoff : int, optional
        Go to this position for every list; without it, to the size :math:`n` of the list's truth, with NaN beyond, so
        that the mean at a position is over the lists whose truth reaches it.

    Returns
    -------
    Curves
        The area is average dynamic recall: the mean of the curve.
    """
    places = group_places(lists)
    last = int(places.size.max(initial=0)) if cutoff is None else cutoff
    counts_from = np.maximum(lists.rank, places.start)
    early = relevant(lists, None) & (counts_from <= last)
    cell = lists.hits.of_element[early] * last + counts_from[early] - 1
    arrivals = np.bincount(cell, minlength=lists.size * last).reshape(lists.size, last)
    position = np.arange(1, last + 1)
    y = np.cumsum(arrivals, axis=1) / position
    if cutoff is None:
        y[position > places.size[:, None]] = np.nan
    area = ADR(cutoff=cutoff).score(lists)
    return Curves("position", "dynamic recall", position.astype(np.float64), y, area)


def draw_curves(lists: JudgedLists, curve: CurveName, *, rel: float | None = None, cutoff: int | None = None) -> Curves:
    """Draw curves of the kind that is named.

    Raises
    ------
    ParameterError
        For an unknown name, or a least relevant gain for dynamic recall, to which every group counts.
    """
    if curve == "dynamic-recall":
        if rel is not None:
            raise ParameterError("a least relevant gain does not apply to dynamic recall: every group counts")
        return dynamic_recall(lists, cutoff=cutoff)
    by_name: dict[str, Callable[..., Curves]] = {
        "pr": precision_recall,
        "roc": roc,
        "lift": lift,
        "normalised-lift": normalised_lift,
    }
    if curve not in by_name:
        raise ParameterError(f"unknown curve '{curve}': there are {', '.join(get_args(CurveName))}")
    return by_name[curve](lists, rel=rel, cutoff=cutoff)


def suffix_maximum(segments: Segments, values: Floats) -> Floats:
    """Return at every element the greatest value from there to the end of its segment, shape (..., elements)."""
    after = np.repeat(segments.offsets[1:], segments.counts) - np.arange(values.shape[-1]) - 1
    best = values.copy()
    # Each pass doubles how far every element has looked ahead, so there are few of them.
    step = 1
    while step <= after.max(initial=0):
        ahead = np.where(after[:-step] >= step, best[..., step:], -np.inf)
        best[..., :-step] = np.maximum(best[..., :-step], ahead)
        step *= 2
    return best


@dataclass(frozen=True, eq=False)
class _Found:
    """The relevant documents that lists hold, one after the other: their lists, ranks, and R of every list."""

    lists: Segments
    rank: Ints
    total: Floats

    @classmethod
    def of(cls, lists: JudgedLists, rel: float | None, cutoff: int | None) -> _Found:
        if lists.gain.ndim > 1:
            raise ParameterError("curves are drawn for one set of gains at a time")
        mask = relevant(lists, rel) & lists.within(cutoff)
        counts = lists.hits.sum(mask).astype(np.int64)
        return cls(Segments.from_counts(counts), lists.rank[mask], relevant_total(lists, rel))

    def count(self, ascending: Ints, bound: Ints) -> Ints:
        """Count, for every list, the values up to each bound: (found,), (lists, points) to (lists, points).

        The values, at least 0, ascend within each list.
        """
        # Lists stand further apart than values can, so that one binary search serves all of them.
        apart = int(ascending.max(initial=0)) + 2
        keys = self.lists.of_element * apart + ascending
        asked = np.arange(self.lists.size)[:, None] * apart + np.clip(bound, -1, apart - 1)
        return np.searchsorted(keys, asked, side="right") - self.lists.offsets[:-1, None]


def _lift_area(lists: JudgedLists, rel: float | None, cutoff: int | None) -> Floats:
    """Add up, for every relevant document found, the ranks after it and half of its own."""
    found = relevant(lists, rel) & lists.within(cutoff)
    return lists.hits.sum((lists.hits.spread(_width(lists, cutoff)) - lists.rank + 0.5) * found)


def _width(lists: JudgedLists, cutoff: int | None) -> Floats:
    """Return |A|: a cutoff does not forgive a list for being short, as in precision."""
    return lists.length.astype(np.float64) if cutoff is None else np.full(lists.size, float(cutoff))


def _size(lists: JudgedLists) -> int:
    if lists.collection_size is None:
        raise UnknownCollectionSize(
            "a ROC curve needs the number of documents in the collection: "
            "give the collection's size (--collection-size)"
        )
    return lists.collection_size


def _unit_grid(values: Grid | None, *, points: int) -> Floats:
    grid = np.linspace(0.0, 1.0, points) if values is None else np.asarray(values, dtype=np.float64)
    _ascending(grid)
    if not (grid[0] >= 0 and grid[-1] <= 1):
        raise ParameterError(f"the points of this curve lie between 0 and 1, got {grid[0]:g} to {grid[-1]:g}")
    return grid


def _ascending(grid: Floats | Ints) -> None:
    if grid.ndim != 1 or not grid.size or not np.all(np.diff(grid) > 0) or grid[0] < 0:
        raise ParameterError("the points of a curve are one or more ascending numbers from 0 on")
