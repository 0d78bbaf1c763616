r"""Beliefs: a probability distribution over the gain of every item, judged or not.

An item that nobody judged has a gain :math:`G_i` that is a random variable: with the probabilities
:math:`P(G_i = l)` of its levels (MTC, Eq. 1; BIAS, Eq. 2.6),

.. math:: E[G_i] = \sum_l P(G_i = l)\, l, \qquad Var[G_i] = \sum_l P(G_i = l)\, l^2 - E[G_i]^2.

A judged item keeps the gain it was given, as given, and has no variance. Model levels may be coarser than the scale
(ten levels 0, 11, …, 99 on the Fine scale); a judged 37 is still 37.

What follows for scores needs three things only, and :class:`Beliefs` is their interface: the mean of every gain, the
covariance :math:`\Sigma` of weighted sums of gains (as a quadratic form, so that nobody has to write down a matrix of
items × items), and samples. Where gains are independent, :math:`\Sigma` is diagonal: :class:`IndependentBeliefs`.

References
----------
MTC: J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70.
BIAS: Buckers (2021), on overconfidence and bias in low-cost evaluation, chapters 2 and 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from earmark.beliefs.lookahead import IndependentLookahead, Lookahead
from earmark.beliefs.scan import IndependentScan, Scan
from earmark.beliefs.stretches import by_column
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.judgments import Aggregation, Judgments, aggregate
from earmark.data.scales import Scale
from earmark.errors import ParameterError

Weights = Floats | csr_array[Any, tuple[int, int]]

UNJUDGED = -1.0
"""What stands for the gain of an item that nobody judged."""

_CONTINUOUS_LEVELS = 101
# Samples are drawn this many gains at a time: enough to be fast, little enough to stay in memory whatever was asked.
_CHUNK = 1 << 20
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class AssessorGains:
    """What several assessors said about items, answer by answer.

    Parameters
    ----------
    item : ndarray of int, shape (answers,)
    assessor : ndarray of int, shape (answers,), 0..n_assessors - 1
    gain : ndarray of float, shape (answers,)
    n_assessors : int
    """

    item: Ints
    assessor: Ints
    gain: Floats
    n_assessors: int

    @cached_property
    def overlap(self) -> bool:
        """Whether any item has answers of two assessors, without which nothing is known of their disagreement."""
        return bool(np.unique(self.item).size < self.item.size)


@dataclass(frozen=True, eq=False)
class Beliefs(ABC):
    """What is believed about the gain of every item.

    Parameters
    ----------
    scale : Scale
        The scale that gains are on.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, `UNJUDGED` (negative) for the others.
    notes : tuple of str
        What a reader of these beliefs has to know.
    """

    scale: Scale
    judged_gain: Floats
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.judged_gain.size

    @cached_property
    def judged(self) -> Bools:
        """Which items are judged, shape (items,)."""
        return self.judged_gain >= 0

    @property
    def certain(self) -> Bools:
        """Which gains are known for sure, shape (items,): those of judged items, unless beliefs say otherwise."""
        return self.judged

    @property
    def n_judged(self) -> int:
        """How many items are judged."""
        return int(np.count_nonzero(self.judged))

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """The expected gain of every item, shape (items,)."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """The variance of every item's gain, shape (items,); 0 where it is judged."""

    @abstractmethod
    def quadratic(self, weights: Weights) -> Floats:
        r"""Return the covariance :math:`W \Sigma W^T` of weighted sums of gains.

        Parameters
        ----------
        weights : ndarray or scipy.sparse array of float, shape (rows, items)
            :math:`W`, one weighted sum per row.

        Returns
        -------
        ndarray of float, shape (rows, rows)
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw the gains of all items `n` times at once, shape (n, items)."""

    def sums(self, weights: Weights) -> tuple[Floats, Floats]:
        """Return mean and covariance of weighted sums of gains, once for every case that beliefs distinguish.

        Returns
        -------
        mean : ndarray of float, shape (cases, rows)
        covariance : ndarray of float, shape (cases, rows, rows)
            All cases are equally likely; most beliefs know one only.
        """
        return np.asarray(weights @ self.mean)[None], self.quadratic(weights)[None]

    @abstractmethod
    def without_judgments(self) -> Beliefs:
        """Return what would be believed if nothing were judged, all that was fitted being equal."""

    @abstractmethod
    def lookahead(self, weights: Weights) -> Lookahead:
        """Return what every judgment would teach about weighted sums, shape (rows, items), of gains."""

    def scan(self, weights: Weights, assumed: Ints) -> Scan | None:
        """Return the same for one stretch of items after the other; None from beliefs that cannot.

        Parameters
        ----------
        weights : ndarray or scipy.sparse array of float, shape (rows, items)
        assumed : ndarray of int
            Items that are judged hypothetically.
        """
        return None

    @abstractmethod
    def level_probabilities(self, levels: Floats) -> Floats:
        """Return the probability of levels for every item as if it were not judged, shape (items, levels).

        Parameters
        ----------
        levels : ndarray of float, shape (levels,)
            Gains, ascending; the probability of other gains counts for the nearest of them.
        """

    def sample_chunks(self, rng: np.random.Generator, n: int) -> Iterator[Floats]:
        """Draw the gains of all items `n` times, a bounded number of draws at a time.

        Yields
        ------
        ndarray of float, shape (draws, items)
            Chunks that together hold `n` draws; judged items have their gain in every one.
        """
        most = self.draws_at_a_time
        for start in range(0, n, most):
            yield self.draw(rng, min(most, n - start))

    @property
    def draws_at_a_time(self) -> int:
        """How many draws of all gains fit into a bounded amount of memory."""
        return max(1, _CHUNK // max(self.n_items, 1))

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw the gains of all items `n` times, shape (n, items)."""
        chunks = list(self.sample_chunks(rng, n))
        return np.concatenate(chunks) if chunks else np.zeros((0, self.n_items))


@dataclass(frozen=True, eq=False)
class LevelProbabilities:
    """A distribution over the levels of every item, whether it is judged or not.

    Parameters
    ----------
    levels : ndarray of float, shape (levels,)
        The gain of every level, ascending.
    probabilities : ndarray of float, shape (items, levels)
        Non-negative, every row summing to 1.
    """

    levels: Floats
    probabilities: Floats

    @cached_property
    def mean(self) -> Floats:
        """The expected gain of every item."""
        return np.asarray(self.probabilities @ self.levels)

    @cached_property
    def variance(self) -> Floats:
        """The variance of every item's gain, never negative."""
        # About the mean rather than as a difference of squares, which would leave rounding errors of either sign.
        return np.asarray(np.einsum("il,il->i", self.probabilities, (self.levels - self.mean[:, None]) ** 2))

    @cached_property
    def cumulative(self) -> Floats:
        """The probability of a level or a lower one, shape (levels, items), 1 in the last row."""
        rising: Floats = np.cumsum(self.probabilities.T, axis=0)
        # Dividing by the last row makes levels that cannot occur at the top really never occur.
        rising /= rising[-1]
        return rising

    @cached_property
    def most_probable(self) -> Floats:
        """The gain of every item's most probable level, the lowest of them where several are."""
        return np.asarray(self.levels[np.argmax(self.probabilities, axis=1)])

    @cached_property
    def nearest(self) -> Floats:
        """The gain of the level nearest to every item's mean, the higher one from halfway on."""
        halfway = (self.levels[:-1] + self.levels[1:]) / 2
        return np.asarray(self.levels[np.searchsorted(halfway, self.mean, side="right")])


@dataclass(frozen=True, eq=False)
class IndependentBeliefs(Beliefs):
    r"""Beliefs in which the gain of an item says nothing about that of another: :math:`\Sigma` is diagonal.

    Parameters
    ----------
    scale : Scale
        The scale that gains are on.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, `UNJUDGED` for the others.
    expected : LevelProbabilities
        What is believed about every item as long as it is not judged.

    See Also
    --------
    uniform_beliefs, from_probabilities : how to make them.

    Examples
    --------
    >>> from earmark.data.scales import BROAD
    >>> beliefs = from_probabilities([[0.0491, 0.2441, 0.7068], [1, 0, 0]], scale=BROAD)
    >>> beliefs.mean.round(4).tolist(), beliefs.variance.round(4).tolist()
    ([1.6577, 0.0], [0.3233, 0.0])
    >>> beliefs.with_judgments([0], [2.0]).variance.tolist()
    [0.0, 0.0]
    """

    expected: LevelProbabilities

    @cached_property
    def mean(self) -> Floats:
        """The expected gain of every item."""
        return np.where(self.judged, self.judged_gain, self.expected.mean)

    def without_judgments(self) -> IndependentBeliefs:
        """Return what the predictor expects, with no item judged."""
        return replace(self, judged_gain=np.full(self.n_items, UNJUDGED))

    def lookahead(self, weights: Weights) -> Lookahead:
        """Return what every judgment would teach: nothing about any other item."""
        dense = weights.toarray() if issparse(weights) else weights
        return IndependentLookahead(np.asarray(dense, dtype=np.float64), self.variance)

    def scan(self, weights: Weights, assumed: Ints) -> Scan:
        """Return what every judgment would teach, one stretch of items after the other."""
        variance = self.variance.copy()
        variance[assumed] = 0.0
        return IndependentScan(by_column(weights), variance)

    def level_probabilities(self, levels: Floats) -> Floats:
        """Return the probability of levels for every item; that of other gains is added to the nearest level."""
        nearest = np.searchsorted((levels[:-1] + levels[1:]) / 2, self.expected.levels, side="right")
        onto = np.zeros((self.expected.levels.size, levels.size))
        onto[np.arange(nearest.size), nearest] = 1.0
        return np.asarray(self.expected.probabilities @ onto)

    @cached_property
    def variance(self) -> Floats:
        """The variance of every item's gain."""
        return np.where(self.judged, 0.0, self.expected.variance)

    def quadratic(self, weights: Weights) -> Floats:
        """Return the covariance of weighted sums, shape (rows, rows)."""
        if issparse(weights):
            rows = csr_array(weights)
            return np.asarray((rows.multiply(self.variance).tocsr() @ rows.T).toarray())
        dense = np.asarray(weights)
        return (dense * self.variance) @ dense.T

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw by inverting the distribution functions.

        One random number is used for every item and draw, judged or not. With the same seed, therefore, judging an item
        changes what is drawn for that item alone, and a belief that shifts upwards shifts the draw upwards.
        """
        chance = rng.random((n, self.n_items))
        level = np.zeros((n, self.n_items), dtype=np.int16)
        for reached in self.expected.cumulative[:-1]:
            level += chance >= reached
        return np.where(self.judged, self.judged_gain, self.expected.levels[level])

    def with_judgments(self, items: ArrayLike, gains: ArrayLike) -> IndependentBeliefs:
        """Return the beliefs after some items have been judged, the others' unchanged.

        Parameters
        ----------
        items : array_like of int
            Indices of the items.
        gains : array_like of float
            The gain that each was given.
        """
        judged_gain = self.judged_gain.copy()
        judged_gain[np.asarray(items, dtype=np.int64)] = np.asarray(gains, dtype=np.float64)
        return replace(self, judged_gain=_check_gains(judged_gain, self.n_items, self.scale))


def item_gains(collection: Collection, judgments: Judgments, *, aggregation: Aggregation = "mean") -> Floats:
    """Look up the judged gain of every item of a collection.

    Parameters
    ----------
    collection : Collection
    judgments : Judgments
        Judgments of documents that nobody retrieved are ignored.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.

    Returns
    -------
    ndarray of float, shape (items,)
        `UNJUDGED` where there is no judgment.
    """
    items = collection.item_frame()
    judged = aggregate(judgments.frame, by=aggregation)
    found = items.join(judged, on=["query", "document"], how="left", maintain_order="left")["gain"]
    gains = found.fill_null(UNJUDGED).to_numpy().astype(np.float64)
    return np.where(gains < 0, UNJUDGED, gains)


def levels_of(scale: Scale) -> Floats:
    """Return the gains over which beliefs are held when nothing is known: the scale's, or 101 of equal distance."""
    ends = scale.gains
    return np.linspace(ends[0], ends[-1], _CONTINUOUS_LEVELS) if scale.continuous else np.array(ends)


def uniform_beliefs(
    collection: Collection, *, scale: Scale, judged_gain: ArrayLike | None = None
) -> IndependentBeliefs:
    """Believe that every level of the scale is equally likely for every item.

    The variance is 2/3 on the Broad scale and 850 on the Fine scale (MTC, section 4.1). A continuous scale is taken
    as 101 levels of equal distance.

    Parameters
    ----------
    collection : Collection
    scale : Scale
    judged_gain : array_like of float, shape (items,), optional
        As from :func:`item_gains`; by default nothing is judged.
    """
    levels = levels_of(scale)
    even = np.broadcast_to(1.0 / levels.size, (collection.n_items, levels.size))
    return from_probabilities(even, scale=scale, levels=levels, judged_gain=judged_gain)


def from_probabilities(
    probabilities: ArrayLike,
    *,
    scale: Scale,
    levels: ArrayLike | None = None,
    judged_gain: ArrayLike | None = None,
) -> IndependentBeliefs:
    """Make independent beliefs of the probabilities of levels.

    Parameters
    ----------
    probabilities : array_like of float, shape (items, levels), 0..1
        Every row sums to 1, up to rounding.
    scale : Scale
        The scale that gains are on.
    levels : array_like of float, shape (levels,), optional
        The gain of every level, ascending; by default the gains of the scale.
    judged_gain : array_like of float, shape (items,), optional
        As from :func:`item_gains`; by default nothing is judged.

    Raises
    ------
    ParameterError
        If shapes do not fit together or a row is no distribution.
    """
    if scale.ordered_only:
        raise ParameterError(f"the scale '{scale}' only orders documents: there are no gains to believe in")
    gains = np.asarray(scale.gains if levels is None else levels, dtype=np.float64)
    if gains.ndim != 1 or gains.size < 2 or not np.all(np.diff(gains) > 0):
        raise ParameterError(f"levels are two or more ascending gains, got {gains.tolist()}")
    if gains[0] < 0 or gains[-1] > scale.top:
        got = f"levels from {gains[0]:g} to {gains[-1]:g}"
        raise ParameterError(f"levels on the scale '{scale}' are worth 0 to {scale.top:g}, got {got}")
    chances = np.asarray(probabilities, dtype=np.float64)
    if chances.ndim != 2 or chances.shape[1] != gains.size:
        raise ParameterError(f"expected probabilities of shape (items, {gains.size}), got {chances.shape}")
    bad = ~(np.all(chances >= 0, axis=1) & (np.abs(chances.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))
    if bad.any():
        item = int(np.flatnonzero(bad)[0])
        raise ParameterError(
            f"expected probabilities of 0 or more that sum to 1, got {chances[item].tolist()} for item {item}"
        )
    judged = np.full(len(chances), UNJUDGED) if judged_gain is None else np.asarray(judged_gain, dtype=np.float64)
    return IndependentBeliefs(scale, _check_gains(judged, len(chances), scale), LevelProbabilities(gains, chances))


def assessor_gains(collection: Collection, judgments: Judgments) -> AssessorGains | None:
    """Return what every assessor said about the items of a collection.

    Returns
    -------
    AssessorGains or None
        None where judgments do not name assessors.
    """
    if "assessor" not in judgments.frame.columns:
        return None
    given = judgments.frame.filter(pl.col("gain") >= 0)
    places = collection.item_frame().with_row_index("item")
    found = given.join(places, on=["query", "document"], how="inner", maintain_order="left")
    names = found["assessor"].unique().sort()
    return AssessorGains(
        found["item"].to_numpy().astype(np.int64),
        found["assessor"].replace_strict(names, np.arange(names.len()), return_dtype=pl.Int64).to_numpy(),
        found["gain"].to_numpy().astype(np.float64),
        names.len(),
    )


def _check_gains(judged_gain: Floats, n_items: int, scale: Scale) -> Floats:
    if judged_gain.shape != (n_items,):
        raise ParameterError(f"expected one judged gain for each of {n_items} items, got shape {judged_gain.shape}")
    off = ~(judged_gain <= scale.top) | np.isneginf(judged_gain)
    if off.any():
        raise ParameterError(
            f"expected judged gains of 0 to {scale.top:g}, negative where an item is not judged, "
            f"got {judged_gain[off][0]:g}"
        )
    return judged_gain
