r"""Measures of binary relevance: a document is relevant or it is not.

Where gains are graded, every gain above 0 counts as relevant; ``rel`` sets another threshold: ``P(rel=2)@5``
counts gains of 2 and more. Unjudged documents count as not relevant. With :math:`x_r = 1` if the document at rank
:math:`r` is relevant, :math:`R` relevant documents in all and a cutoff :math:`k`, precision is
:math:`\sum_{r \le k} x_r / k`: trec_eval's convention, which counts the missing documents of a short list as not
relevant. Areas under curves are measures too; the curves themselves are in :mod:`earmark.measures.curves`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from earmark.data.arrays import Floats
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import FilledLists, JudgedLists
from earmark.data.scales import Scale
from earmark.measures.base import Measure, register
from earmark.measures.curves import normalised_lift_area, precision_recall_area, roc_area
from earmark.measures.relevance import (
    divide,
    relevant,
    relevant_found,
    relevant_of_query,
    relevant_total,
    sum_of_relevant,
)
from earmark.measures.weighted_sums import WeightedSum


@dataclass(frozen=True, repr=False)
class BinaryMeasure(Measure):
    """A measure that asks of a document only whether it is relevant.

    Parameters
    ----------
    rel : float, optional
        The least gain that counts as relevant; by default any gain above 0.
    """

    rel: float | None = field(default=None, kw_only=True)


@register("P_", "precision", "SetP", "set_P")
@dataclass(frozen=True, repr=False)
class P(BinaryMeasure):
    r"""Precision: :math:`\sum_{r \le k} x_r / k`; without a cutoff, the share of the list that is relevant."""

    name = "P"
    reference = "trec_eval"

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the sum, with a cutoff: without one it is divided by the length of the list."""
        k = self.cutoff
        return None if k is None else sum_of_relevant(lambda ranks: (ranks <= k) / k, self.rel)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        divisor = lists.length if self.cutoff is None else self.cutoff
        return divide(relevant_found(lists, self.rel, self.cutoff), divisor)


@register("recall_", "recall", "SetR", "set_recall")
@dataclass(frozen=True, repr=False)
class R(BinaryMeasure):
    r"""Recall: :math:`\sum_{r \le k} x_r / R`."""

    name = "R"
    reference = "trec_eval"

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the number found, and that of all."""
        return sum_of_relevant(
            lambda ranks: (ranks <= (self.cutoff or np.inf)).astype(np.float64),
            self.rel,
            lambda ranks: np.ones(ranks.shape),
        )

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return divide(relevant_found(lists, self.rel, self.cutoff), relevant_total(lists, self.rel))


@register("set_F", "SetF", "f1")
@dataclass(frozen=True, repr=False)
class F(BinaryMeasure):
    r"""The weighted harmonic mean of precision and recall.

    :math:`F_\beta = (1 + \beta^2) P R / (\beta^2 P + R)`; recall counts :math:`\beta` times as much as precision.

    Parameters
    ----------
    beta : float
        How much more recall counts than precision.
    """

    name = "F"
    reference = "VanRijsbergen1979"

    beta: float = 1.0

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        precision = P(rel=self.rel, cutoff=self.cutoff).score(lists)
        recall = R(rel=self.rel, cutoff=self.cutoff).score(lists)
        weight = self.beta**2
        return divide((1 + weight) * precision * recall, weight * precision + recall)


@register("set_map")
@dataclass(frozen=True, repr=False)
class SetAP(BinaryMeasure):
    r"""Average precision of a set: precision times recall, whatever the order within it."""

    name = "SetAP"
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        precision = P(rel=self.rel, cutoff=self.cutoff).score(lists)
        return precision * R(rel=self.rel, cutoff=self.cutoff).score(lists)


@register("success_", "hit_rate")
@dataclass(frozen=True, repr=False)
class Success(BinaryMeasure):
    """Whether any of the first :math:`k` documents is relevant."""

    name = "Success"
    reference = "trec_eval"

    def of_first(self, ranks: Floats) -> Floats:
        """Return 1 within the cutoff."""
        return (ranks <= (self.cutoff or np.finfo(np.float64).max)).astype(np.float64)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return (relevant_found(lists, self.rel, self.cutoff) > 0).astype(np.float64)


@register()
@dataclass(frozen=True, repr=False)
class hits(BinaryMeasure):
    """How many of the first :math:`k` documents are relevant, as MIREX reports it for cover songs and 10."""

    name = "hits"
    range = (0.0, np.inf)
    reference = "Downie2008b"

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the count."""
        return sum_of_relevant(lambda ranks: (ranks <= (self.cutoff or np.inf)).astype(np.float64), self.rel)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return relevant_found(lists, self.rel, self.cutoff)


@register("map", "map_cut_", "MAP", "average_precision")
@dataclass(frozen=True, repr=False)
class AP(BinaryMeasure):
    r"""Average precision: the mean over relevant documents of the precision at their ranks.

    :math:`AP = \frac{1}{R} \sum_{r \le k} x_r P(r)`; a relevant document that is not retrieved adds 0.

    Parameters
    ----------
    over : {"all", "retrieved"}
        Divide by all relevant documents (the standard), or only by those retrieved, as Serrà's (2007) Table 2 does.
    """

    name = "AP"
    reference = "trec_eval"
    needs_whole_lists = True

    over: Literal["all", "retrieved"] = "all"

    def highest(self, lists: FilledLists) -> Floats | None:
        r"""Return the highest average precision: for every number m of good ones, the first m of the list are best.

        The m-th, at rank r, adds :math:`(C(r) + m) / r`, with :math:`C(r)` relevant documents known up to there, and
        :math:`1 / r'` for every one known below; :math:`R` grows by 1.
        """
        if self.over != "all" or (self.rel is not None and self.rel <= 0):
            return None
        unjudged = lists.unjudged
        known = relevant(lists, self.rel) & lists.within(self.cutoff) & ~unjudged
        count = lists.hits.cumsum(unjudged)
        reciprocal = known / lists.rank
        below = lists.hits.spread(lists.hits.sum(reciprocal)) - lists.hits.cumsum(reciprocal)
        added = unjudged * ((lists.hits.cumsum(known) + count) / lists.rank + below)
        start = lists.hits.sum(lists.hits.cumsum(known) / lists.rank * known)
        total = relevant_total(lists, self.rel)
        scores = divide(lists.hits.spread(start) + lists.hits.cumsum(added), lists.hits.spread(total) + count)
        best = -lists.hits.minimum(np.where(unjudged, -scores, 0.0), empty=0.0)
        return np.maximum(best, divide(start, total))

    def lowest(self, scores: Floats, truth: GroundTruth, query: int, unjudged: int) -> Floats:
        """Return the scores if all of them were relevant and other lists had retrieved them."""
        total = float(relevant_of_query(truth, self.rel)[query])
        return scores * (total / (total + unjudged)) if total else scores

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        found = relevant(lists, self.rel) & lists.within(self.cutoff)
        precision = lists.hits.cumsum(found) / lists.rank
        total = relevant_total(lists, self.rel) if self.over == "all" else lists.hits.sum(found)
        return divide(lists.hits.sum(precision * found), total)


@register("recip_rank", "MRR")
@dataclass(frozen=True, repr=False)
class RR(BinaryMeasure):
    """Reciprocal rank of the first relevant document, 0 if there is none."""

    name = "RR"
    reference = "trec_eval"

    def of_first(self, ranks: Floats) -> Floats:
        """Return the reciprocal rank within the cutoff."""
        return np.where(ranks <= (self.cutoff or np.inf), 1.0 / ranks, 0.0)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return 1.0 / first_relevant_rank(lists, self.rel, self.cutoff)


@register()
@dataclass(frozen=True, repr=False)
class SumRR(BinaryMeasure):
    """The reciprocal ranks of all relevant documents, added up.

    Parameters
    ----------
    over : {"nothing", "length"}
        Divide the sum by the length of the list, as Serrà's (2007) row "RR" does, or not at all.
    """

    name = "SumRR"
    range = (0.0, np.inf)
    reference = "Serra2007"

    over: Literal["nothing", "length"] = "nothing"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        found = relevant(lists, self.rel) & lists.within(self.cutoff)
        total = lists.hits.sum(found / lists.rank)
        if self.over == "nothing":
            return total
        return divide(total, lists.length if self.cutoff is None else self.cutoff)


@register("R-precision", "R-prec", "breakeven")
@dataclass(frozen=True, repr=False)
class Rprec(BinaryMeasure):
    """R-precision, the break-even point of precision and recall: precision at rank :math:`R`."""

    name = "Rprec"
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        total = relevant_total(lists, self.rel)
        early = relevant(lists, self.rel) & (lists.rank <= lists.hits.spread(total))
        return divide(lists.hits.sum(early & lists.within(self.cutoff)), total)


@register()
@dataclass(frozen=True, repr=False)
class MR1(BinaryMeasure):
    """The rank of the first relevant document, lower is better: MIREX's mean rank of the first identified cover.

    A list without one scores as if it came right after everything: one more than the collection's size where that is
    known, else one more than the longest list.
    """

    name = "MR1"
    range = (1.0, np.inf)
    higher_is_better = False
    reference = "Downie2008b"
    needs_whole_lists = True

    @property
    def needs_pool(self) -> bool:
        """Always: a list without a relevant document scores by the longest list of all."""
        return True

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        first = first_relevant_rank(lists, self.rel, self.cutoff)
        worst = lists.collection_size or lists.longest
        return np.where(np.isfinite(first), first, worst + 1.0)


def first_relevant_rank(lists: JudgedLists, rel: float | None, cutoff: int | None) -> Floats:
    """Return the rank of the first relevant document of every list, infinite where there is none."""
    found = relevant(lists, rel) & lists.within(cutoff)
    return lists.hits.minimum(np.where(found, lists.rank, np.inf), empty=np.inf)


@register("AUPRC", "PR_area")
@dataclass(frozen=True, repr=False)
class PRarea(BinaryMeasure):
    r"""The area under the interpolated precision–recall curve.

    :math:`\frac{1}{R} \sum_j \max_{i \ge j} P(r_i)`, with :math:`r_j` the rank of the :math:`j`-th relevant document.
    Average precision is the same sum without the maximum, so this is never below AP, and equal to it when precision
    never rises from one relevant document to the next.
    """

    name = "PRarea"
    reference = "Manning2008"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return precision_recall_area(lists, rel=self.rel, cutoff=self.cutoff)


@register("AUROC", "AUC", "ROC_area")
@dataclass(frozen=True, repr=False)
class ROCarea(BinaryMeasure):
    r"""The area under the ROC curve: the chance that a relevant document comes before one that is not.

    :math:`\frac{1}{R N} \sum_j (FP - r_j + j) + \frac{N - FP}{N} \cdot \frac{1 + TP/R}{2}` for :math:`N = |D| - R`;
    what was not retrieved counts as if it followed in random order. It needs the size of the collection, and in a large
    one it says little but how many of the relevant documents were retrieved.
    """

    name = "ROCarea"
    reference = "Fawcett2006"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return roc_area(lists, rel=self.rel, cutoff=self.cutoff)


@register("lift_area")
@dataclass(frozen=True, repr=False)
class liftarea(BinaryMeasure):
    r"""The area under Serrà's normalised lift curve: recall against the share of the list seen.

    :math:`\frac{1}{|A| R} \sum_j (|A| - r_j + \tfrac{1}{2})`, with :math:`|A|` the length of the list, or the cutoff.
    The best list reaches :math:`1 - R / (2 |A|)`, so 1 is never quite attained.
    """

    name = "liftarea"
    reference = "Serra2007"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return normalised_lift_area(lists, rel=self.rel, cutoff=self.cutoff)
