"""How alike are two rankings? Correlations between orders of systems, and overlap of ranked lists.

The first group compares two rankings *of the same systems*, given as scores (higher is better):

- **Kendall's τ**: pairs ordered alike minus pairs ordered differently, as a share of all pairs. τ_a divides
  by all pairs, τ_b [1]_ by the geometric mean of the pairs that each ranking orders at all.
- **τ_AP** [2]_: Kendall's τ with the top weighted more. Going down the estimated ranking, it asks of each
  system what share of the systems above it belongs above it.
- **Spearman's ρ**: the correlation of the ranks.

They run from -1 (reversed) over 0 (unrelated) to 1 (the same order). Scores that are equal as numbers are
ties. A ranking in which everything ties orders nothing and has correlation 0 with any other, itself included:
these numbers go into reports and stop rules, where "undefined" helps nobody. Fewer than two systems is an
error.

The second compares two lists that may differ in length and in what they contain:

- **Rank-biased overlap** [4]_: the agreement of two lists seen down to depth d, averaged over a reader who
  goes on from each depth to the next with probability p. What lies beyond the end of the lists is unknown,
  hence a minimum, a residual (how much the unseen could add) and a point estimate by extrapolation.

References
----------
.. [1] M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.
.. [2] E. Yilmaz, J. A. Aslam, S. Robertson (2008). A new rank correlation coefficient for information
   retrieval. SIGIR, 587-594.
.. [3] J. Urbano, M. Marrero (2017). The treatment of ties in AP correlation. ICTIR, 321-324.
.. [4] W. Webber, A. Moffat, J. Zobel (2010). A similarity measure for indefinite rankings. ACM TOIS
   28(4), 20.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from earmark.errors import ParameterError
from earmark.inference.rank_tests import average_ranks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankBiasedOverlap:
    """Rank-biased overlap of two lists, known as far as the lists go.

    Attributes
    ----------
    minimum : float, in [0, 1]
        If nothing unseen agrees.
    residual : float, in [0, 1]
        How much more it could be if all that is unseen agreed as much as possible.
    extrapolated : float, in [minimum, minimum + residual]
        If the agreement seen goes on; the value to report when one number is wanted.
    """

    minimum: float
    residual: float
    extrapolated: float

    @property
    def maximum(self) -> float:
        """If all that is unseen agrees as much as possible."""
        return self.minimum + self.residual


def kendall_tau(x: npt.ArrayLike, y: npt.ArrayLike, *, variant: Literal["a", "b"] = "b") -> float:
    """Kendall's rank correlation.

    With C pairs ordered alike, D pairs ordered differently and N pairs in all, of which X tie in `x` and Y in
    `y`, ``τ_a = (C - D) / N`` and ``τ_b = (C - D) / sqrt((N - X) (N - Y))``.

    Parameters
    ----------
    x, y : array-like, shape (systems,)
        Scores of the same systems. Symmetric in the two.
    variant : {'b', 'a'}
        The same when nothing ties.

    Returns
    -------
    float, in [-1, 1]
        0 where everything ties in one of the rankings.

    Examples
    --------
    >>> round(kendall_tau([4, 3, 2, 1], [4, 2, 3, 1]), 4)
    0.6667
    """
    first, second = _check_scores(x, y)
    if variant not in ("a", "b"):
        raise ParameterError(f"unknown variant {variant!r} of Kendall's tau, choose from a, b")
    sign_x, sign_y = _pairwise_signs(first), _pairwise_signs(second)
    # Every pair is there twice, in numerator and denominator alike.
    surplus = float((sign_x * sign_y).sum())
    if variant == "a":
        return surplus / (first.size * (first.size - 1))
    ordered = float(np.abs(sign_x).sum()) * float(np.abs(sign_y).sum())
    return surplus / ordered**0.5 if ordered > 0 else 0.0


def spearman_rho(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Spearman's rank correlation: Pearson's, of the ranks, where ties share their average rank.

    Parameters
    ----------
    x, y : array-like, shape (systems,)
        Scores of the same systems. Symmetric in the two.

    Returns
    -------
    float, in [-1, 1]
        0 where everything ties in one of the rankings.
    """
    first, second = _check_scores(x, y)
    middle = (first.size + 1) / 2
    rank_x, rank_y = average_ranks(first) - middle, average_ranks(second) - middle
    spread = float((rank_x**2).sum()) * float((rank_y**2).sum())
    return float((rank_x * rank_y).sum()) / spread**0.5 if spread > 0 else 0.0


def tau_ap(estimated: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """AP correlation: how well an estimated ranking does at putting the right systems above each system.

    ``τ_AP = 2/(n-1) Σ_{i=2..n} C(i)/(i-1) - 1``, where C(i) is the number of systems above position i of the
    estimated ranking that are also above its system in the true ranking. Not symmetric: positions are those
    of `estimated`.

    Where scores tie, in either ranking, the result is its expectation over all ways to break the ties at
    random. For a truth without ties that is the τ_AP,a of [3]_. Everything tied gives 0.

    Parameters
    ----------
    estimated, truth : array-like, shape (systems,)
        Scores of the same systems.

    Returns
    -------
    float, in [-1, 1]

    Examples
    --------
    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4)  # the two best swapped ...
    0.3333
    >>> round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 4)  # ... costs more than the two worst
    0.7778
    """
    guess, true = _check_scores(estimated, truth)
    n = guess.size
    is_above = guess > guess[:, None]  # [i, j]: j is above i in the estimated ranking
    belongs_above = (1 + np.sign(true - true[:, None])) / 2  # a half where the truth ties
    correct_above = np.where(is_above, belongs_above, 0.0).sum(axis=1)
    # Each member of a group of ties is equally likely at each of its positions, and those of the group that
    # are then above it are as likely to be right as wrong.
    group, group_of = np.unique(-guess, return_inverse=True)
    size = np.bincount(group_of, minlength=group.size)
    mean_correct = np.bincount(group_of, weights=correct_above) / size
    position = np.arange(n)  # number of systems above
    group_at = np.repeat(np.arange(group.size), size)
    above_group = np.cumsum(size) - size
    expected = mean_correct[group_at] + (position - above_group[group_at]) / 2
    return float(2 * (expected[1:] / position[1:]).mean() - 1)


def tau_ap_b(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Symmetric AP correlation, for the agreement of two rankings neither of which is the truth.

    The τ_AP,b of [3]_. In one direction, with p(i) the position of the first system that ties with i in the
    one ranking and C(i) the number of systems above that group which the other ranking also places strictly
    above i, it is ``2/(n-t) Σ C(i)/(p(i)-1) - 1``, summed over the n-t systems that do not tie for the first
    place. The result is the mean of both directions. Without ties it is the mean of :func:`tau_ap` taken
    either way.

    Parameters
    ----------
    x, y : array-like, shape (systems,)
        Scores of the same systems.

    Returns
    -------
    float, in [-1, 1]
        0 where everything ties in one of the rankings.
    """
    first, second = _check_scores(x, y)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return (_tau_ap_b_one_way(first, second) + _tau_ap_b_one_way(second, first)) / 2


def rbo(a: Sequence[Hashable], b: Sequence[Hashable], *, p: float = 0.9) -> RankBiasedOverlap:
    """Rank-biased overlap of two ranked lists of ids.

    ``RBO = (1-p) Σ_{d>=1} p^(d-1) X_d/d``, with X_d the number of ids that both lists have in their first d.
    For lists of lengths s <= l, with ``f = l + s - X_l`` the depth at which the unseen could make them agree
    entirely [4]_:

    - minimum: ``(1-p)/p (Σ_{d<=l} (X_d - X_l) p^d/d - X_l ln(1-p))``
    - residual: ``p^s + p^l - p^f - (1-p)/p U`` with
      ``U = s Σ_{d=s+1..f} p^d/d + l Σ_{d=l+1..f} p^d/d + X_l Σ_{d>f} p^d/d``
    - extrapolated: ``(1-p)/p E + ((X_l - X_s)/l + X_s/s) p^l`` with
      ``E = Σ_{d<=l} X_d p^d/d + Σ_{d=s+1..l} X_s (d-s)/(s d) p^d``

    Parameters
    ----------
    a, b : sequence of hashable
        Ids from first to last, none twice; of any lengths and with any ids in common. An empty list agrees
        with nothing.
    p : float, in (0, 1)
        Persistence: the first ten ranks have 86% of the weight at .9.

    Returns
    -------
    RankBiasedOverlap

    Examples
    --------
    >>> result = rbo(["x", "y"], ["x", "z"], p=0.5)
    >>> round(result.minimum, 4), round(result.residual, 4), result.extrapolated
    (0.6931, 0.1819, 0.75)
    """
    if not 0 < p < 1:
        raise ParameterError(f"p must lie between 0 and 1, got {p}")
    place_a, place_b = _places(a, name="a"), _places(b, name="b")
    short, long = sorted((len(place_a), len(place_b)))
    seen_at = [max(place, place_b[item]) for item, place in place_a.items() if item in place_b]
    overlap = np.cumsum(np.bincount(np.asarray(seen_at, dtype=np.int64), minlength=long + 1))  # X_0 .. X_l
    x_short, x_long = int(overlap[short]), int(overlap[long])
    full = long + short - x_long

    depth = np.arange(1, full + 1)
    weight = p**depth / depth
    scale = (1 - p) / p
    beyond = -np.log1p(-p) - weight.sum()  # Σ_{d>f} p^d/d, as all of them add up to -ln(1-p)

    minimum = scale * (((overlap[1:] - x_long) * weight[:long]).sum() - x_long * np.log1p(-p))
    unseen = short * weight[short:].sum() + long * weight[long:].sum() + x_long * beyond
    residual = p**short + p**long - p**full - scale * unseen
    agreement_short = x_short / short if short else 0.0
    tail_of_short = agreement_short * ((depth[short:long] - short) * weight[short:long]).sum()
    agreement_end = (x_long - x_short) / long + agreement_short if long else 0.0
    extrapolated = scale * ((overlap[1:] * weight[:long]).sum() + tail_of_short) + agreement_end * p**long
    return RankBiasedOverlap(minimum=float(minimum), residual=float(residual), extrapolated=float(extrapolated))


def _check_scores(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ParameterError(
            "rankings of the same systems must be two vectors of one length,"
            f" got shapes {first.shape} and {second.shape}"
        )
    if first.size < 2:
        raise ParameterError(f"a correlation between rankings needs at least two systems, got {first.size}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ParameterError("scores to rank by must be finite numbers")
    return first, second


def _pairwise_signs(scores: Floats) -> Floats:
    return np.sign(scores[:, None] - scores)


def _tau_ap_b_one_way(pivots: Floats, other: Floats) -> float:
    """τ_AP,b with positions taken from `pivots`, of which not all may tie."""
    is_above = pivots > pivots[:, None]
    n_above = is_above.sum(axis=1)
    agreed_above = (is_above & (other > other[:, None])).sum(axis=1)
    not_first = n_above > 0
    return float(2 * (agreed_above[not_first] / n_above[not_first]).mean() - 1)


def _places(ids: Sequence[Hashable], *, name: str) -> dict[Hashable, int]:
    places = {item: place for place, item in enumerate(ids, start=1)}
    if len(places) != len(ids):
        twice = next(item for place, item in enumerate(ids, start=1) if places[item] != place)
        raise ParameterError(f"list {name} must have every id once, got {twice!r} more than once")
    return places
