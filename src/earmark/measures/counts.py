r"""Counts and summaries of trec_eval that are not means over queries; its output begins with them.

trec_eval opens with the number of queries, of documents retrieved, of relevant documents and of those retrieved. Their
last line is the *sum* over queries, not the mean, and that of gm_map a geometric mean. Systems cannot be compared by
them here, since tests and estimates are about means over queries: compare by ``hits``, or by ``AP``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.data.arrays import Floats
from earmark.data.judged_lists import JudgedLists
from earmark.measures.base import Measure, register
from earmark.measures.binary import AP, BinaryMeasure
from earmark.measures.relevance import relevant_found, relevant_total

# trec_eval's MIN_GEO_MEAN: without it, one query without a hit would make the geometric mean 0.
LEAST_FACTOR = 1e-5


class _Count:
    """A measure that is added up over queries."""

    is_mean = False

    def over_queries(self, values: Floats) -> Floats:
        """Add up."""
        return np.asarray(np.nansum(values, axis=-1))


@register("NumQ")
@dataclass(frozen=True, repr=False)
class num_q(_Count, Measure):
    """How many queries count: 1 for each of them."""

    name = "num_q"
    range = (0.0, np.inf)
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return np.ones(lists.length.shape)


@register("NumRet")
@dataclass(frozen=True, repr=False)
class num_ret(_Count, Measure):
    """How many documents were retrieved, at most :math:`k`."""

    name = "num_ret"
    range = (0.0, np.inf)
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return lists.depth(self.cutoff).astype(np.float64)


@register("NumRel")
@dataclass(frozen=True, repr=False)
class num_rel(_Count, BinaryMeasure):
    """How many relevant documents are known: :math:`R`, whatever was retrieved."""

    name = "num_rel"
    range = (0.0, np.inf)
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return relevant_total(lists, self.rel)


@register("NumRelRet")
@dataclass(frozen=True, repr=False)
class num_rel_ret(_Count, BinaryMeasure):
    """How many of the first :math:`k` documents are relevant, added up over queries; ``hits`` is the mean."""

    name = "num_rel_ret"
    range = (0.0, np.inf)
    reference = "trec_eval"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return relevant_found(lists, self.rel, self.cutoff)


@register("gm_map")
@dataclass(frozen=True, repr=False)
class GMAP(BinaryMeasure):
    """The geometric mean over queries of average precision, where values below .00001 count as .00001.

    It is the :math:`n`-th root of the product over :math:`n` queries, so it depends on the queries that a system fails.
    The score of a query is its average precision.
    """

    name = "GMAP"
    reference = "trec_eval"
    is_mean = False
    needs_whole_lists = True

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return AP(rel=self.rel, cutoff=self.cutoff).score(lists)

    def over_queries(self, values: Floats) -> Floats:
        """Take the geometric mean, no factor below ``1e-5``."""
        return np.asarray(np.exp(np.nanmean(np.log(np.maximum(values, LEAST_FACTOR)), axis=-1)))
