r"""Calibration: accuracy of the signs of differences by confidence, and reliability of level probabilities.

**Signs.** The sign of an estimated difference tells which of two systems is better, with a confidence. If confidences
are calibrated, signs with confidence c are right with frequency c. Over all pairs of systems, Urbano and Schedl [1]_
(section 5) count

.. math:: accuracy = \frac{correct}{total}, \qquad \tau = \frac{correct - incorrect}{total}

the latter being Kendall's τ between the estimated and the true ranking. A pair that ties, in the estimate or in truth,
is neither correct nor incorrect: it counts as half right, so that :math:`\tau = 2 \cdot accuracy - 1` always holds, as
it does without ties. Confidence in a tie is .5, which half right agrees with. Accuracy among pairs whose true
difference is statistically significant tells whether the errors matter.

The mean confidence is the expected accuracy, so its excess over the observed accuracy is overconfidence. Bins of
confidence (Tables 4 and 6 of [1]_, Table 1.1 of [2]_) show where it comes from: many pairs with a confidence near 1
can hide a few with a confidence that is far too high.

**Levels.** The reliability curve sorts every predicted probability of "this item has level l", or "at least level l",
into a bin and compares the mean of the bin with the share of the events that happened.

Bounds of shares are Wilson's, which assume independent pairs (or items). They are not independent, so the true
uncertainty is larger. Where there is no pair, accuracy and the rest are None; in arrays, an empty bin has NaN, in
frames null. Leave out pairs whose lists are identical: there is no claim about them.

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
   retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 5.
.. [2] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; section 1.3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary, facts, written_cells
from earmark.diagnose.coverage import TOLERANCE, check_tolerance, wilson_interval
from earmark.diagnose.proper_scores import check_forecasts
from earmark.errors import ParameterError
from earmark.wording import counted

MTC_EDGES = (0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.99, 1.00)
"""Edges of the bins of confidence in Tables 4 and 6 of Urbano2013; the last bin includes 1."""

BIAS_EDGES = (0.50, 0.65, 0.90, 0.99, 1.00)
"""Edges of the bins in Tables 1.1, 3.7 and 3.8 of Buckers2021, where the first is printed as .49."""

Event = Literal["equal", "at-least"]

# A confidence is the larger of two probabilities that add up to 1, but for rounding.
_CONFIDENCE_NOISE = 1e-9


@dataclass(frozen=True, repr=False)
class SignAgreement(Display):
    """How many pairs of systems are estimated to be in their true order.

    Attributes
    ----------
    correct, incorrect, tied : int
        Pairs in the right order, in the wrong one, and those that tie in the estimate or in truth.
    """

    correct: int
    incorrect: int
    tied: int

    @property
    def total(self) -> int:
        """Number of pairs."""
        return self.correct + self.incorrect + self.tied

    @property
    def accuracy(self) -> float | None:
        """Accuracy as in Urbano2013, 0..1, ties counting half; None where there are no pairs."""
        return (self.correct + self.tied / 2) / self.total if self.total else None

    @property
    def tau(self) -> float | None:
        """Kendall's τ as in Urbano2013, -1..1; None where there are no pairs."""
        return (self.correct - self.incorrect) / self.total if self.total else None

    def _summary(self) -> Summary:
        """Show counts, accuracy and τ."""
        counts = facts(**asdict(self), accuracy=self.accuracy, tau=self.tau)
        return Summary(f"{self.correct:,} of {counted(self.total, 'pair')} in the right order", [counts])


def sign_agreement(
    estimate: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    among: npt.ArrayLike | None = None,
    tolerance: float = TOLERANCE,
) -> SignAgreement:
    """Count the pairs whose estimated difference has the sign of the true one.

    Parameters
    ----------
    estimate, truth : array-like of float, shape (pairs,)
        Differences of scores, estimated and true.
    among : array-like of bool, shape (pairs,), optional
        Only these pairs: those whose true difference is significant, for instance, which is `significant` of
        :func:`earmark.inference.significance.compare_scores` on the true scores.
    tolerance : float, 0 or more
        Differences of at most this size are ties.

    Examples
    --------
    >>> result = sign_agreement([0.2, -0.1, 0.3, 0.1], [0.1, -0.2, -0.1, 0.4])
    >>> result.accuracy, result.tau
    (0.75, 0.5)
    >>> sign_agreement([0.2, -0.1, 0.3], [0.1, -0.2, -0.1], among=[True, True, False]).accuracy
    1.0
    """
    agreement = _agreement(estimate, truth, tolerance)
    if among is not None:
        chosen = np.asarray(among)
        if chosen.dtype != np.bool_ or chosen.shape != agreement.shape:
            raise ParameterError(
                f"expected a truth value for each of {agreement.size} pairs, got {chosen.dtype} of shape {chosen.shape}"
            )
        agreement = agreement[chosen]
    return SignAgreement(
        correct=int(np.count_nonzero(agreement > 0)),
        incorrect=int(np.count_nonzero(agreement < 0)),
        tied=int(np.count_nonzero(agreement == 0)),
    )


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceBins(Display):
    """Accuracy of pairs by the confidence in their order; arrays have shape (bins,).

    Attributes
    ----------
    lower, upper : ndarray of float
        Edges: a bin contains its lower edge and not its upper one, but for the last, which contains both.
    pairs : ndarray of int
        Pairs in each bin.
    confidence : ndarray of float
        Mean confidence, the expected accuracy; NaN in an empty bin.
    accuracy : ndarray of float
        Share of pairs in the right order, ties counting half; NaN in an empty bin.
    accuracy_low, accuracy_high : ndarray of float
        Wilson bounds of the accuracy; 0 and 1 in an empty bin.
    """

    lower: Floats
    upper: Floats
    pairs: Ints
    confidence: Floats
    accuracy: Floats
    accuracy_low: Floats
    accuracy_high: Floats

    @property
    def expected_accuracy(self) -> float | None:
        """Mean confidence over all pairs; None where there are none."""
        return self._mean(self.confidence)

    @property
    def observed_accuracy(self) -> float | None:
        """Accuracy over all pairs; None where there are none."""
        return self._mean(self.accuracy)

    @property
    def overconfidence(self) -> float | None:
        """Expected minus observed accuracy; None where there are no pairs."""
        return self._mean(self.confidence - self.accuracy)

    @property
    def calibration_error(self) -> float | None:
        """Mean distance between confidence and accuracy of a pair's bin, 0..1; None where there are no pairs."""
        return self._mean(np.abs(self.confidence - self.accuracy))

    def frame(self) -> pl.DataFrame:
        """One row per bin: its edges, ``pairs``, their ``share``, ``confidence``, ``accuracy`` and its bounds."""
        share = pl.Series("share", self.pairs / max(1, int(self.pairs.sum())))
        return pl.DataFrame(vars(self)).insert_column(3, share).fill_nan(None)

    def _summary(self) -> Summary:
        """Show the bins."""
        claimed, right = written_cells([self.expected_accuracy, self.observed_accuracy])
        pairs = counted(int(self.pairs.sum()), "pair")
        return Summary(f"{pairs}, mean confidence {claimed}, accuracy {right}", [DisplayTable(self.frame())])

    def _mean(self, by_bin: Floats) -> float | None:
        filled = self.pairs > 0
        return float(np.average(by_bin[filled], weights=self.pairs[filled])) if filled.any() else None


def accuracy_by_confidence(
    estimate: npt.ArrayLike,
    confidence: npt.ArrayLike,
    truth: npt.ArrayLike,
    *,
    edges: Sequence[float] = MTC_EDGES,
    bounds: float = 0.95,
    tolerance: float = TOLERANCE,
) -> ConfidenceBins:
    """Sort pairs into bins by confidence and compare it with their accuracy.

    Parameters
    ----------
    estimate, truth : array-like of float, shape (pairs,)
        Differences of scores, estimated and true.
    confidence : array-like of float, shape (pairs,), .5..1
        In the sign of the estimate.
    edges : sequence of float, rising from .5 to 1
        At least two.
    bounds : float, in (0, 1)
        Confidence of the bounds of each accuracy.
    tolerance : float, 0 or more
        Differences of at most this size are ties, which count as half right.

    Examples
    --------
    >>> bins = accuracy_by_confidence([1.0, 2.0, -3.0], [0.55, 0.995, 1.0], [-1.0, 1.0, -1.0], edges=[0.5, 0.99, 1.0])
    >>> bins.pairs.tolist(), bins.accuracy.tolist()
    ([1, 2], [0.0, 1.0])
    """
    credit = (1 + _agreement(estimate, truth, tolerance)) / 2
    sure = np.asarray(confidence, dtype=np.float64)
    if sure.shape != credit.shape:
        raise ParameterError(f"expected a confidence for each of {credit.size} pairs, got shape {sure.shape}")
    if not ((sure >= 0.5 - _CONFIDENCE_NOISE) & (sure <= 1 + _CONFIDENCE_NOISE)).all():
        raise ParameterError("confidence in a sign lies between .5 and 1")
    edge = np.asarray(edges, dtype=np.float64)
    if edge.ndim != 1 or edge.size < 2 or edge[0] != 0.5 or edge[-1] != 1 or not (np.diff(edge) > 0).all():
        raise ParameterError(f"edges of bins of confidence must rise from .5 to 1, got {list(edges)}")
    sure = np.clip(sure, 0.5, 1.0)
    in_bin = np.minimum(np.searchsorted(edge, sure, side="right") - 1, edge.size - 2)  # 1 belongs to the last bin
    pairs, mean_confidence, accuracy = _bin_means(in_bin, edge.size - 1, sure, credit)
    low, high = wilson_interval(np.nan_to_num(accuracy) * pairs, pairs, level=bounds)
    return ConfidenceBins(edge[:-1], edge[1:], pairs, mean_confidence, accuracy, low, high)


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Display):
    """Predicted probabilities of events and their observed frequencies; arrays have shape (bins,), no bin is empty.

    Attributes
    ----------
    lower, upper : ndarray of float
        Smallest and largest probability in the bin.
    count : ndarray of int
        Events in the bin.
    forecast : ndarray of float
        Mean probability given to them.
    observed : ndarray of float
        Share of them that happened.
    observed_low, observed_high : ndarray of float
        Wilson bounds of that share.
    """

    lower: Floats
    upper: Floats
    count: Ints
    forecast: Floats
    observed: Floats
    observed_low: Floats
    observed_high: Floats

    @property
    def calibration_error(self) -> float:
        """Mean distance between probability and share of an event's bin, 0..1."""
        return float(np.average(np.abs(self.forecast - self.observed), weights=self.count))

    def frame(self) -> pl.DataFrame:
        """One row per bin: its ends, ``count``, ``forecast``, ``observed`` and its bounds."""
        return pl.DataFrame(vars(self))

    def _summary(self) -> Summary:
        """Show the bins."""
        events, error = counted(int(self.count.sum()), "event"), written_cells([self.calibration_error])[0]
        sentence = f"{events}, forecast and observed shares {error} apart in the mean"
        return Summary(sentence, [DisplayTable(self.frame(), most=20)])


def reliability_curve(
    probabilities: npt.ArrayLike,
    observed: npt.ArrayLike,
    *,
    event: Event = "equal",
    level: int | None = None,
    n_bins: int = 10,
    bounds: float = 0.95,
) -> ReliabilityCurve:
    """Compare the predicted probabilities of levels with the observed frequencies of the levels.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    observed : array-like of int, shape (items,), 0..levels-1
    event : {'equal', 'at-least'}
        The event a probability is of: that an item has a level, or that it has this level or a higher one.
    level : int, optional
        Only events of this level; by default those of all levels together, except "at least the first", which is
        certain.
    n_bins : int, at least 1
        Bins have equal numbers of events, except that equal probabilities stay together, so there may be fewer
        bins.
    bounds : float, in (0, 1)
        Confidence of the bounds of each share.

    Examples
    --------
    >>> curve = reliability_curve([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]], [0, 1, 1], level=1, n_bins=2)
    >>> curve.forecast.tolist(), curve.observed.tolist()
    ([0.1, 0.8], [0.5, 1.0])
    """
    matrix, outcome = check_forecasts(probabilities, observed)
    if event not in get_args(Event):
        raise ParameterError(f"unknown event {event!r}, choose from {', '.join(get_args(Event))}")
    if n_bins < 1:
        raise ParameterError(f"a curve has at least one bin, got n_bins={n_bins}")
    first = 0 if event == "equal" else 1
    n_levels = matrix.shape[1]
    if level is not None and not first <= level < n_levels:
        raise ParameterError(f"the event {event!r} is of a level from {first} to {n_levels - 1}, got {level}")
    levels = np.arange(first, n_levels) if level is None else np.array([level])
    if event == "equal":
        claimed, happened = matrix[:, levels], outcome[:, None] == levels
    else:
        claimed, happened = np.cumsum(matrix[:, ::-1], axis=1)[:, ::-1][:, levels], outcome[:, None] >= levels
    probability, came_true = claimed.ravel(), happened.ravel().astype(np.float64)
    cuts = np.unique(np.quantile(probability, np.arange(1, n_bins) / n_bins, method="inverted_cdf"))
    in_bin = np.searchsorted(cuts, probability)
    # The last cut can be the largest probability of all; the bin beyond it is then empty.
    n_filled = int(in_bin.max()) + 1
    count, forecast, share = _bin_means(in_bin, n_filled, probability, came_true)
    low, high = wilson_interval(np.rint(share * count), count, level=bounds)
    in_order, end = np.sort(probability), np.cumsum(count)
    return ReliabilityCurve(in_order[end - count], in_order[end - 1], count, forecast, share, low, high)


def _agreement(estimate: npt.ArrayLike, truth: npt.ArrayLike, tolerance: float) -> Floats:
    """1 where the signs agree, -1 where they are opposed, 0 where one of the differences is a tie."""
    check_tolerance(tolerance)
    guess, true = np.asarray(estimate, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if guess.ndim != 1 or guess.shape != true.shape:
        raise ParameterError(
            "estimated and true differences must be two vectors of one length,"
            f" got shapes {guess.shape} and {true.shape}"
        )
    if not (np.isfinite(guess).all() and np.isfinite(true).all()):
        raise ParameterError("estimated and true differences must be finite numbers")
    is_tie: Bools = (np.abs(guess) <= tolerance) | (np.abs(true) <= tolerance)
    return np.where(is_tie, 0.0, np.sign(guess) * np.sign(true))


def _bin_means(in_bin: npt.NDArray[np.intp], n_bins: int, first: Floats, second: Floats) -> tuple[Ints, Floats, Floats]:
    """Count what is in each bin, and the means of two values there; NaN in an empty bin."""
    count = np.bincount(in_bin, minlength=n_bins)
    divisor = np.where(count > 0, count, np.nan)
    means = (np.bincount(in_bin, weights=values, minlength=n_bins) / divisor for values in (first, second))
    return count.astype(np.int64), next(means), next(means)
