"""Areas under curves as measures: one number for how a list does all the way down.

The curves themselves, with their conventions, are in :mod:`earmark.measures.curves`.
"""

from __future__ import annotations

from dataclasses import dataclass

from earmark.data.arrays import Floats
from earmark.data.matching import JudgedLists
from earmark.measures.base import register
from earmark.measures.binary import BinaryMeasure
from earmark.measures.curves import normalised_lift_area, precision_recall_area, roc_area


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
    r"""The area under COVER's normalised lift curve: recall against the share of the list seen.

    :math:`\frac{1}{|A| R} \sum_j (|A| - r_j + \tfrac{1}{2})`, with :math:`|A|` the length of the list, or the cutoff.
    The best list reaches :math:`1 - R / (2 |A|)`, so 1 is never quite attained.
    """

    name = "liftarea"
    reference = "Serra2007"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return normalised_lift_area(lists, rel=self.rel, cutoff=self.cutoff)
