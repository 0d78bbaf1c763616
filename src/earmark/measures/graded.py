"""Measures of graded gain: average and cumulated gain, DCG, RBP, ERR, Q, compatibility.

Every one is a sum over ranks of a gain times a discount, or is built from such sums. Documents that nobody judged
gain nothing. Where a measure is scaled to 0..1 it divides by the scale's top gain, so the scale has to be known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import FilledLists, JudgedLists
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.base import LinearMeasure, Measure, Needs, register
from earmark.measures.ideal_ranking import ideal_ranking, pooled_rows
from earmark.measures.relevance import divide, is_relevant, relevant, relevant_total, sum_of_relevant
from earmark.measures.weighted_sums import WeightedSum

# Above this, 2^gain drowns every level but the top one.
_TOP_FOR_EXPONENTIAL = 20


def _cut(ranks: NDArray[np.integer], cutoff: int | None, weight: Floats | float) -> Floats:
    """Give ranks beyond the cutoff no weight."""
    return np.where(ranks <= (cutoff or np.inf), weight, 0.0)


@register()
@dataclass(frozen=True, repr=False)
class CG(LinearMeasure):
    r"""Cumulated gain: :math:`\sum_{r \le k} g_r`."""

    name = "CG"
    range = (0.0, np.inf)
    reference = "Jarvelin2002"

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return 1 within the cutoff."""
        return _cut(ranks, self.cutoff, 1.0)


@register()
@dataclass(frozen=True, repr=False)
class AG(LinearMeasure):
    r"""Average gain, MIREX's measure of music similarity: :math:`\frac{1}{k\,g_{top}} \sum_{r \le k} g_r`."""

    name = "AG"
    reference = "Urbano2013"
    cutoff_required = True

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return the same weight for all ranks within the cutoff."""
        assert self.cutoff is not None
        return _cut(ranks, self.cutoff, 1.0 / (self.cutoff * scale.top))


Discount = Literal["shift", "first", "base"]


def discounts(ranks: NDArray[np.integer], *, base: float, discount: Discount) -> Floats:
    r"""Return by what the gain at every rank is divided.

    Parameters
    ----------
    ranks : ndarray of int
        Ranks from 1.
    base : float
        The base :math:`b` of the logarithm.
    discount : {"shift", "first", "base"}
        ``shift``: :math:`\log_b(r + 1)`, as trec_eval. ``first``: rank 1 is not discounted, then :math:`\log_b r`, as
        Serrà (2007). ``base``: ranks below the base are not discounted, then :math:`\log_b r`, as Järvelin and
        Kekäläinen.
    """
    if discount == "shift":
        shifted: Floats = np.log(ranks + 1.0) / np.log(base)
        return shifted
    logs: Floats = np.log(np.maximum(ranks, 1)) / np.log(base)
    return np.where(ranks < (2 if discount == "first" else base), 1.0, logs)


@dataclass(frozen=True, repr=False)
class Discounted(Measure):
    """What DCG and nDCG share.

    Parameters
    ----------
    gain : {"linear", "exp"}
        A gain :math:`g` counts as it is, or as :math:`2^g - 1`.
    base : float
        The base of the logarithm; ``e`` may be written for it.
    discount : {"shift", "first", "base"}
        What the gain at rank r is divided by. shift: the logarithm of r + 1, as trec_eval. first: the logarithm of r,
        rank 1 not at all, as Serrà (2007). base: the logarithm of r, ranks below the base not at all, as the inventors.
    """

    needs = "gain"
    reference = "Jarvelin2002"

    gain: Literal["linear", "exp"] = "linear"
    base: float = 2.0
    discount: Discount = "shift"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base <= 1:
            raise ParameterError(f"{self.name}: the base of the logarithm is above 1, got {self.base:g}")

    def check(self, scale: Scale) -> None:
        """Refuse exponential gain on a scale where it would leave only the top level."""
        super().check(scale)
        if self.gain == "exp" and scale.top > _TOP_FOR_EXPONENTIAL:
            raise ParameterError(
                f"{self} on the scale {scale}: 2^{scale.top:g} would outweigh every lower gain, use gain=linear"
            )

    def _discounting(self, ranks: NDArray[np.integer]) -> Floats:
        return _cut(ranks, self.cutoff, 1.0 / discounts(ranks, base=self.base, discount=self.discount))

    def _discounted(self, lists: JudgedLists) -> Floats:
        """Add up the discounted gains of every list."""
        return lists.hits.sum(self._worth(lists.gain) * self._discounting(lists.rank))

    def _worth(self, gain: Floats) -> Floats:
        return np.exp2(gain) - 1.0 if self.gain == "exp" else gain


@register()
@dataclass(frozen=True, repr=False)
class DCG(Discounted):
    r"""Discounted cumulated gain: :math:`\sum_{r \le k} g_r / d(r)`."""

    name = "DCG"
    range = (0.0, np.inf)

    @property
    def is_linear(self) -> bool:
        """With linear gain."""
        return self.gain == "linear"

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return one over the discount, within the cutoff."""
        return self._discounting(ranks) if self.is_linear else super().weights(ranks, scale)

    def as_sum(self, scale: Scale) -> WeightedSum:
        """Return the discounted sum, also of exponential gains."""
        return WeightedSum(self._discounting, self._worth)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return self._discounted(lists)


@register("ndcg_cut_", "ndcg")
@dataclass(frozen=True, repr=False)
class nDCG(Discounted):
    """Discounted cumulated gain divided by that of an ideal ranking.

    Parameters
    ----------
    ideal : {"judged", "pool", "scale"}
        The ideal ranks all judged documents, as trec_eval; only those that some system retrieved, so that the ideal can
        be estimated without judging more; or it holds documents of the scale's top gain throughout.
    """

    name = "nDCG"

    ideal: Literal["judged", "pool", "scale"] = "judged"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ideal == "scale" and self.cutoff is None:
            raise ParameterError("nDCG(ideal=scale) needs a cutoff, for example nDCG(ideal=scale)@10")

    @property
    def is_linear(self) -> bool:
        """With linear gain and an ideal that does not depend on the gains."""
        return self.gain == "linear" and self.ideal == "scale"

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return one over the discount and over the best possible sum, within the cutoff."""
        return self._discounting(ranks) / self._best(scale) if self.is_linear else super().weights(ranks, scale)

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the discounted sum and the ideal's; none for an ideal of what all systems retrieved."""
        if self.ideal == "scale":
            return WeightedSum(lambda ranks: self._discounting(ranks) / self._best(scale), self._worth)
        return WeightedSum(self._discounting, self._worth, self._discounting) if self.ideal == "judged" else None

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return divide(self._discounted(lists), self.ideal_of(lists))

    def _best(self, scale: Scale) -> float:
        """Return the discounted gain of a list of top documents throughout."""
        assert self.cutoff is not None
        return float(self._worth(np.array(scale.top)) * self._discounting(np.arange(1, self.cutoff + 1)).sum())

    @property
    def needs_pool(self) -> bool:
        """Where the ideal ranking is of what all systems retrieved."""
        return self.ideal == "pool"

    def ideal_of(self, lists: JudgedLists) -> Floats:
        """Return the discounted gain of the ideal ranking, for every list."""
        if self.ideal == "scale":
            return np.full(lists.size, self._best(lists.truth.scale))
        if self.ideal == "pool":
            return self._best_of_query(lists.truth, pooled_rows(lists))[..., lists.query]
        return lists.truth.once(self, lambda: self._best_of_query(lists.truth, None))[..., lists.query]

    def _best_of_query(self, truth: GroundTruth, keep: NDArray[np.bool_] | None) -> Floats:
        ideal = ideal_ranking(truth, keep=keep)
        return ideal.queries.sum(self._worth(ideal.gain) * self._discounting(ideal.rank))


@dataclass(frozen=True, repr=False)
class Persistent(Measure):
    """What the measures of a patient user share, who goes on to the next document with probability ``p``.

    Parameters
    ----------
    p : float
        The persistence, between 0 and 1.
    """

    needs: ClassVar[Needs] = "gain"
    reference = "Moffat2008"
    always_printed = ("p",)

    p: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise ParameterError(f"{self.name}: the persistence p is between 0 and 1, got {self.p:g}")

    def _weights(self, ranks: NDArray[np.integer]) -> Floats:
        looked_at: Floats = (1.0 - self.p) * self.p ** (ranks.astype(np.float64) - 1.0)
        return _cut(ranks, self.cutoff, looked_at)


@register()
@dataclass(frozen=True, repr=False)
class RBP(Persistent):
    r"""Rank-biased precision: :math:`(1 - p) \sum_r p^{r-1} g_r / g_{top}`.

    Parameters
    ----------
    rel : float, optional
        Count gains of at least this as 1 and others as 0 instead of grading them.
    """

    name = "RBP"

    rel: float | None = field(default=None, kw_only=True)

    @property
    def is_linear(self) -> bool:
        """Unless gains are cut to relevant or not."""
        return self.rel is None

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return the chance that the user looks at a rank, over the top gain."""
        return self._weights(ranks) / scale.top if self.is_linear else super().weights(ranks, scale)

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the sum of what ranks are worth, graded or not."""
        return super().as_sum(scale) if self.rel is None else sum_of_relevant(self._weights, self.rel)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        graded = lists.gain / lists.truth.scale.top
        worth = graded if self.rel is None else is_relevant(lists.gain, self.rel)
        return lists.hits.sum(worth * self._weights(lists.rank))


@register()
@dataclass(frozen=True, repr=False)
class RBPres(Persistent):
    r"""The residual of RBP: by how much it could still rise if everything unjudged turned out to be of top gain.

    :math:`1 - (1 - p) \sum_{r\ judged} p^{r-1}`; ranks beyond the list or the cutoff count as unjudged.
    """

    name = "RBPres"
    needs = "order"
    needs_all_judged = False
    higher_is_better = False

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return 1.0 - lists.hits.sum(lists.judged * self._weights(lists.rank))


@register()
@dataclass(frozen=True, repr=False)
class nRBP(Persistent):
    """Rank-biased precision divided by that of the ideal ranking of all documents that some system retrieved."""

    name = "nRBP"
    reference = "Buckers2021"

    @property
    def needs_pool(self) -> bool:
        """The ideal ranking is of what all systems retrieved."""
        return True

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        return divide(lists.hits.sum(lists.gain * self._weights(lists.rank)), self._best(lists))

    def ideal_of(self, lists: JudgedLists) -> Floats:
        """Return the rank-biased precision of the ideal ranking, for every list."""
        return self._best(lists) / lists.truth.scale.top

    def _best(self, lists: JudgedLists) -> Floats:
        ideal = ideal_ranking(lists.truth, keep=pooled_rows(lists))
        return ideal.queries.sum(ideal.gain * self._weights(ideal.rank))[..., lists.query]


@register("err_")
@dataclass(frozen=True, repr=False)
class ERR(Measure):
    r"""Expected reciprocal rank of the document that satisfies a user who reads from the top.

    A document of gain :math:`g` satisfies with probability :math:`s = (2^g - 1) / 2^{g_{max}}`;
    :math:`ERR = \sum_r \frac{1}{r} s_r \prod_{i < r} (1 - s_i)`.

    Parameters
    ----------
    max : float, optional
        The highest gain; by default the scale's top. gdeval and ir_measures take 4 whatever the scale.
    """

    name = "ERR"
    needs = "gain"
    reference = "Chapelle2009"

    max: float | None = None

    def highest(self, lists: FilledLists) -> Floats | None:
        """Return the score with all of them good: a better document never lowers it."""
        return None if self.max is not None and self.max < lists.truth.scale.top else self.score(lists)

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        top = lists.truth.scale.top if self.max is None else self.max
        if np.any(lists.gain > top):
            raise ParameterError(f"{self}: there are gains above {top:g}")
        satisfied = np.where(lists.within(self.cutoff), np.exp2(lists.gain - top) - np.exp2(-top), 0.0)
        # On a scale of many levels, a document of top gain satisfies everybody, as far as numbers go: nobody reads on.
        surely = satisfied >= 1.0
        unsatisfied = np.log1p(np.where(surely, 0.0, -satisfied))
        reached = np.exp(lists.hits.cumsum(unsatisfied) - unsatisfied)
        reached = np.where(lists.hits.cumsum(surely) > surely, 0.0, reached)
        return lists.hits.sum(satisfied * reached / lists.rank)


@register()
@dataclass(frozen=True, repr=False)
class Q(Measure):
    r"""The Q-measure: average precision that also counts how much gain has come so far.

    :math:`Q = \frac{1}{\min(k, R)} \sum_{r \le k} x_r \frac{C(r) + \beta\, cg(r)}{r + \beta\, cg^*(r)}`, with :math:`C`
    the count of relevant documents, :math:`cg` the cumulated gain of the list and :math:`cg^*` that of the ideal
    ranking.

    Parameters
    ----------
    beta : float
        How much gain counts; with 0 the measure is average precision.
    """

    name = "Q"
    needs = "gain"
    reference = "Sakai2004"

    beta: float = 1.0

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        found = relevant(lists, None) & lists.within(self.cutoff)
        ideal = ideal_ranking(lists.truth)
        running = ideal.queries.cumsum(ideal.gain)
        # The ideal's cumulated gain at a rank: where that rank stands in the query's ideal, or its end.
        query = np.repeat(lists.query, lists.hits.counts)
        place = ideal.queries.offsets[query] + np.minimum(lists.rank, ideal.queries.counts[query]) - 1
        best = running[..., np.maximum(place, 0)]
        got = lists.hits.cumsum(lists.gain)
        blended = (lists.hits.cumsum(found) + self.beta * got) / (lists.rank + self.beta * best)
        total = relevant_total(lists, None)
        return divide(
            lists.hits.sum(blended * found),
            np.minimum(total, self.cutoff) if self.cutoff is not None else total,
        )


@register("compatibility", "compat_")
@dataclass(frozen=True, repr=False)
class Compat(Measure):
    r"""Compatibility: the rank-biased overlap of a list with the ideal ranking that is closest to it.

    Documents of equal gain may stand in any order in an ideal ranking, so the closest one keeps the list's own order
    among them. With :math:`o(i)` the overlap of the two at depth :math:`i`, the score is
    :math:`\sum_{i \le d} p^{i-1} o(i) / i` divided by its value for the ideal ranking itself. The depth :math:`d` is
    the cutoff; without one, the longer of the list and the ideal ranking, as ir_measures has it.

    Parameters
    ----------
    p : float
        The persistence of the user.
    """

    name = "Compat"
    needs = "order"
    reference = "Clarke2021"
    always_printed = ("p",)

    p: float = 0.95

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        found = relevant(lists, None)
        total = relevant_total(lists, None).astype(np.int64)
        depth = np.maximum(lists.length, total) if self.cutoff is None else np.full(total.shape, self.cutoff)
        deepest = int(depth.max(initial=1))
        # What overlapping documents add at every depth, summed up from the first: the sum over a range is a difference.
        summed = np.append(0.0, np.cumsum(self.p ** np.arange(deepest) / np.arange(1, deepest + 1)))
        # A document is in both rankings from the deeper of its two ranks on.
        last = np.repeat(depth, lists.hits.counts, axis=-1)
        first = np.minimum(np.maximum(lists.rank, _closest_ideal_rank(lists, found)), last + 1)
        overlap = lists.hits.sum((summed[last] - summed[first - 1]) * found)
        # The ideal ranking overlaps with itself in i documents at depth i, until it ends.
        own = np.append(0.0, np.cumsum(self.p ** np.arange(deepest)))
        ends = np.minimum(total, depth)
        best = own[ends] + ends * (summed[depth] - summed[ends])
        return divide(overlap, best)


def _closest_ideal_rank(lists: JudgedLists, found: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rank the hits in the ideal ranking that keeps the list's order among equal gains."""
    truth = lists.truth
    ideal = ideal_ranking(truth)
    gain = lists.gain
    if gain.ndim > 1:
        samples = [
            _closest_ideal_rank(lists.with_gains(sample), mask) for sample, mask in zip(truth.gain, found, strict=True)
        ]
        return np.stack(samples)
    query = np.repeat(lists.query, lists.hits.counts)
    # How many documents of the query gain strictly more: its ideal is sorted, so a binary search by (query, −gain).
    apart = 2.0 * (float(gain.max(initial=0.0)) + float(ideal.gain.max(initial=0.0)) + 1.0)
    keys = ideal.queries.of_element * apart - ideal.gain
    better = np.searchsorted(keys, query * apart - gain, side="left") - ideal.queries.offsets[query]
    # Among equals, the list's order: the place among earlier hits of the same list and gain.
    order = np.lexsort((lists.rank, gain, lists.hits.of_element))
    of, level = lists.hits.of_element[order], gain[order]
    fresh = np.ones(order.size, dtype=bool)
    fresh[1:] = (of[1:] != of[:-1]) | (level[1:] != level[:-1])
    start = np.maximum.accumulate(np.where(fresh, np.arange(order.size), 0))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size) - start + 1
    return better + place
