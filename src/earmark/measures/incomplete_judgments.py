r"""Measures for incomplete judgments: bpref and its relatives, inferred AP, and how much of a list is judged.

bpref asks how often a judged document that is not relevant stands before a relevant one, and passes over documents
that nobody judged. With :math:`R` relevant and :math:`N` judged irrelevant documents, and :math:`n_j` of the latter
ranked before the :math:`j`-th relevant one that was retrieved,

.. math:: bpref = \frac{1}{R} \sum_j \left(1 - \frac{\min(n_j, c)}{d}\right)

and the family differs in the cap :math:`c` and the divisor :math:`d`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from earmark.data.arrays import Floats
from earmark.data.judged_lists import JudgedLists
from earmark.measures.base import Measure, register
from earmark.measures.binary import BinaryMeasure
from earmark.measures.relevance import divide, irrelevant, irrelevant_total, relevant, relevant_total

# trec_eval's smoothing of the share of relevant documents among those judged so far.
_INFAP_EPSILON = 0.00001


def _bpref(lists: JudgedLists, rel: float | None, cutoff: int | None, *, cap: Floats, divisor: Floats) -> Floats:
    """Average 1 − min(n_j, cap) / divisor over the relevant documents; cap and divisor are per list."""
    before = lists.hits.cumsum(irrelevant(lists, rel))
    penalty = divide(np.minimum(before, lists.hits.spread(cap)), lists.hits.spread(divisor))
    found = relevant(lists, rel) & lists.within(cutoff)
    return divide(lists.hits.sum((1.0 - penalty) * found), relevant_total(lists, rel))


@register()
@dataclass(frozen=True, repr=False)
class bpref(BinaryMeasure):
    r"""Binary preference as trec_eval has it: :math:`c = R`, :math:`d = \min(R, N)`.

    Parameters
    ----------
    cap : {"trec", "none"}
        Without a cap, :math:`1 - n_j / R` goes below 0 for few relevant documents, as in Serrà's (2007) Table 2.
    """

    name = "bpref"
    range = (-np.inf, 1.0)
    reference = "Buckley2004"
    needs_all_judged = False

    cap: Literal["trec", "none"] = "trec"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        total = relevant_total(lists, self.rel)
        if self.cap == "none":
            return _bpref(lists, self.rel, self.cutoff, cap=np.full_like(total, np.inf), divisor=total)
        fewer = np.minimum(total, irrelevant_total(lists, self.rel))
        return _bpref(lists, self.rel, self.cutoff, cap=total, divisor=fewer)


@register("bpref10", "bpref_10")
@dataclass(frozen=True, repr=False)
class bpref10(BinaryMeasure):
    """bpref-10: :math:`c = d = 10 + R`, for queries with few relevant documents."""

    name = "bpref-10"
    reference = "Buckley2004"
    needs_all_judged = False

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        bound = relevant_total(lists, self.rel) + 10.0
        return _bpref(lists, self.rel, self.cutoff, cap=bound, divisor=bound)


@register("bprefstar", "bpref-star")
@dataclass(frozen=True, repr=False)
class bprefStar(BinaryMeasure):
    """bpref*: :math:`d = |A| + R` with :math:`|A|` the length of the list (or the cutoff), without a cap.

    Serrà's (2007) choice for cover song identification: it rewards both a high rank and finding all versions.
    """

    name = "bpref*"
    reference = "Serra2007"
    needs_all_judged = False
    needs_whole_lists = True

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        total = relevant_total(lists, self.rel)
        length = lists.length if self.cutoff is None else self.cutoff
        return _bpref(lists, self.rel, self.cutoff, cap=np.full_like(total, np.inf), divisor=total + length)


@register()
@dataclass(frozen=True, repr=False)
class infAP(BinaryMeasure):
    r"""Inferred average precision: AP estimated from a random sample of the pool.

    The expected precision at a relevant document of rank :math:`r` is
    :math:`\frac{1}{r} + \frac{r-1}{r} \cdot \frac{p}{r-1} \cdot \frac{m + \epsilon}{m + n + 2\epsilon}`, where of the
    documents before it :math:`p` are in the pool, :math:`m` judged relevant and :math:`n` judged not to be. A
    negative gain marks a document of the pool that was not drawn.
    """

    name = "infAP"
    reference = "Yilmaz2006"
    needs_all_judged = False

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        found = relevant(lists, self.rel)
        relevant_before = lists.hits.cumsum(found) - found
        irrelevant_before = lists.hits.cumsum(irrelevant(lists, self.rel))
        pooled_before = lists.hits.position - 1.0
        share = (relevant_before + _INFAP_EPSILON) / (relevant_before + irrelevant_before + 2 * _INFAP_EPSILON)
        expected = (1.0 + pooled_before * share) / lists.rank
        total = relevant_total(lists, self.rel)
        return divide(lists.hits.sum(expected * (found & lists.within(self.cutoff))), total)


@register()
@dataclass(frozen=True, repr=False)
class Judged(Measure):
    """The share of the first :math:`k` documents that were judged: how much of the score is based on judgments."""

    name = "Judged"
    needs = "order"
    reference = "ir_measures"
    needs_all_judged = False

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return divide(lists.hits.sum(lists.judged & lists.within(self.cutoff)), lists.depth(self.cutoff))
