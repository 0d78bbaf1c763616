"""Predictors: from a collection and what is judged so far to beliefs about all of its items.

A predictor is made once for a :class:`Setting` and asked again whenever more is judged. Whatever it cannot say anything
about (an item without metadata, say) gets the uniform belief, every level of the scale being equally likely, and it
says so in its notes.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from earmark.beliefs.beliefs import UNJUDGED, AssessorGains, Beliefs, IndependentBeliefs, LevelProbabilities, levels_of
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.data.scales import Scale
from earmark.errors import NumericalFailure
from earmark.predictors.features import FeatureBuilder
from earmark.registry import Registry
from earmark.wording import counted

Errors = Literal["independent", "correlated"]
"""How predictors take the errors of their predictions."""


@dataclass(frozen=True)
class MeasuredCoverage:
    """How often the 95% intervals of a predictor held where the truth was known.

    On the reporting queries of MIREX 2011 (8 of 18 systems, 30 of 45 queries, AG@5), from nothing to 20% judged:
    ``benchmarks/honesty/coverage.py``; ``docs/data/coverage.csv`` has all numbers.

    Attributes
    ----------
    pairs, systems : pair of float, 0..1
        The least and the greatest coverage of differences and of scores, over shares of judged items.
    campaigns : int
        At every share.
    """

    pairs: tuple[float, float]
    systems: tuple[float, float]
    campaigns: int


@dataclass(frozen=True, eq=False)
class Setting:
    """What predictors work on.

    Parameters
    ----------
    collection : Collection
        The systems, the items and what is known about the documents.
    scale : Scale
        What items are judged on.
    teams : mapping of str to str, optional
        The team of every system.
    artist, genre : str
        The metadata columns that play artist and genre.
    attributes : sequence of str
        Further metadata columns.
    content : Content, optional
        What the documents are like, for predictors that use it.
    seed : int
        That of the campaign, for predictors that deal items or queries at random.
    """

    collection: Collection
    scale: Scale
    teams: Mapping[str, str] | None = None
    artist: str = "artist"
    genre: str = "genre"
    attributes: Sequence[str] = ()
    content: Content | None = None
    seed: int = 0

    @cached_property
    def features(self) -> FeatureBuilder:
        """The features of the items, made when first asked for."""
        return FeatureBuilder(
            self.collection, teams=self.teams, artist=self.artist, genre=self.genre, attributes=self.attributes
        )

    @cached_property
    def unjudged(self) -> Floats:
        """The gains of a collection of which nothing is judged."""
        return np.full(self.collection.n_items, UNJUDGED)

    @cached_property
    def levels(self) -> Floats:
        """The gains over which beliefs are held when nothing is known: those of the scale."""
        return levels_of(self.scale)


def digest_of(told: object) -> str:
    """Return a short hash of what a predictor was fitted to."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


def refit_count(n: int) -> int:
    """Return to how many of `n` judgments an expensive model is fitted: the last of a fixed series of counts.

    The series has steps of 1 up to 20, then of 2, 5, 10, 20, 50, ... : between a twenty-fifth and a tenth of the count.
    As it is fixed, the fit depends on the judgments and their order, not on when somebody looked.

    Examples
    --------
    >>> [refit_count(n) for n in (7, 41, 59, 217, 220, 1234)]
    [7, 40, 55, 200, 220, 1200]
    """
    step = 1
    for factor in itertools.cycle((2, 2.5, 2)):
        larger = int(step * factor)
        if 10 * larger > n:
            break
        step = larger
    return n - n % step


def fitted_part(judged_gain: Floats, order: Ints | None) -> Floats:
    """Return the judged gains that an expensive model is fitted to: those up to the last count at which it is fitted.

    Parameters
    ----------
    judged_gain : ndarray of float, shape (items,)
        Negative where not judged.
    order : ndarray of int or None
        The judged items whose order is known, the first judged first.

    Examples
    --------
    >>> gains = np.ones(43)
    >>> np.flatnonzero(fitted_part(gains, np.arange(43)) < 0).tolist()
    [42]
    """
    if order is None or not order.size:
        return judged_gain
    judged = int(np.count_nonzero(judged_gain >= 0))
    fitted = judged_gain.copy()
    fitted[order[max(order.size - (judged - refit_count(judged)), 0) :]] = UNJUDGED
    return fitted


class Predictor(ABC):
    """What turns the judgments so far into beliefs.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    """

    name: ClassVar[str]
    errors: ClassVar[Errors] = "independent"
    """Whether errors of items are taken as independent or as correlated: only the latter makes a verdict sure."""
    published: ClassVar[bool] = False
    """Whether it is a model as published, with its coefficients, and not one that is fitted here."""
    measured: ClassVar[MeasuredCoverage | None] = None
    """How often its intervals held, where that was measured."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    learns_always: ClassVar[bool] = False
    """Learns from every judgment, even where a campaign updates its predictor only now and then."""

    @property
    def version(self) -> str:
        """What the beliefs depend on besides the arguments; a campaign keeps the version it began with.

        A number, raised when the same judgments give other beliefs than before, and what the predictor was fitted to.
        """
        return "1"

    @abstractmethod
    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return beliefs about all items: a function of the arguments alone, whatever was predicted before.

        Parameters
        ----------
        judged_gain : ndarray of float, shape (items,)
            The gain of every judged item, negative for the others.
        answers : AssessorGains, optional
            What every assessor said, for predictors that tell assessors apart; the others take the judged gain.
        order : ndarray of int, optional
            The judged items whose order is known, the first judged first; all other judged items came before these, in
            no order. A predictor that is expensive to fit may fit to a prefix of this order (see
            :func:`refit_count`); by default nothing is known of the order, and it fits to everything.
        """

    def beliefs(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return what :meth:`predict` does, or say in words that its arithmetic failed.

        Raises
        ------
        NumericalFailure
            Whatever went wrong: a matrix that cannot be inverted, an overflow, a mean that is no number.
        """
        try:
            beliefs = self.predict(judged_gain, answers, order=order)
            if np.all(np.isfinite(beliefs.mean)):
                return beliefs
            reason = "an expected gain is not a finite number"
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            reason = str(error) or type(error).__name__
        judged = counted(int(np.count_nonzero(judged_gain >= 0)), "judged item")
        raise NumericalFailure(
            f"the predictor {self.name} cannot compute beliefs from {judged}: {reason} (another --predictor may; "
            "please report it with the judgments)"
        )

    def held_out(self, judged_gain: Floats, fold: Ints) -> Iterator[tuple[Bools, Beliefs]]:
        """Predict every fold of items from the judgments of all other folds (cross-fitting).

        Parameters
        ----------
        judged_gain : ndarray of float, shape (items,)
            The gain of every judged item, negative for the others.
        fold : ndarray of int, shape (items,)
            The fold of every item, dealt without regard to what is judged
            (:func:`~earmark.data.permanent_random_numbers.item_folds`).

        Yields
        ------
        items : ndarray of bool, shape (items,)
            The items of a fold.
        beliefs : Beliefs
            What is believed where none of these is judged.
        """
        apart = copy.copy(self)  # what it remembers of these fits must not displace what the campaign's next look needs
        for number in np.unique(fold):
            items = fold == number
            yield items, apart.beliefs(np.where(items, UNJUDGED, judged_gain))

    def out_of_sample(self, judged_gain: Floats, fold: Ints) -> Floats:
        """Return the expected gain of every item by a rule that never saw the item's own judgment.

        Judged and unjudged items are predicted by the same rule; guaranteed estimates rest on that
        (:mod:`earmark.inference.design_based`). By default predictions are cross-fitted, which is right for whatever
        :meth:`predict` does. A predictor that leaves out single judgments exactly may do that in its place.

        Parameters
        ----------
        judged_gain, fold
            As for :meth:`held_out`.

        Returns
        -------
        ndarray of float, shape (items,)
        """
        expected = np.empty(judged_gain.size)
        for items, beliefs in self.held_out(judged_gain, fold):
            expected[items] = beliefs.mean[items]
        return expected


@dataclass(frozen=True, eq=False)
class Part:
    """Probabilities of levels for some of the items.

    Parameters
    ----------
    items : ndarray of bool, shape (items,)
        Which items.
    levels : ndarray of float, shape (levels,)
        The gain of every level.
    probabilities : ndarray of float, shape (chosen items, levels)
        One row per chosen item.
    """

    items: Bools
    levels: Floats
    probabilities: Floats

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of the chosen items' gains."""
        chances = LevelProbabilities(self.levels, self.probabilities)
        return chances.mean, chances.variance


class Blend(LevelProbabilities):
    """Level probabilities put together of parts, the last word about an item winning; uniform where no part speaks.

    Means and variances are those of the parts. The whole table of items × levels, large on a fine scale, is made only
    when somebody asks for it, as sampling does and exact estimates do not.

    Parameters
    ----------
    setting : Setting
        What the beliefs are about.
    parts : Part
        Who speaks about which items.
    """

    def __init__(self, setting: Setting, *parts: Part) -> None:
        own = setting.levels
        # Rounding lets a level that a model computes in another way coincide with the scale's.
        levels = np.unique(np.round(np.concatenate([own, *(part.levels for part in parts)]), 9))
        n_items = setting.collection.n_items
        mean, variance = np.full(n_items, own.mean()), np.full(n_items, own.var())
        for part in parts:
            mean[part.items], variance[part.items] = part.moments
        self.__dict__.update(levels=levels, mean=mean, variance=variance, _own=own, _parts=parts)

    @cached_property
    def probabilities(self) -> Floats:
        """The probabilities of all levels for all items, shape (items, levels)."""
        own, parts = self.__dict__["_own"], self.__dict__["_parts"]
        chances = np.zeros((self.mean.size, self.levels.size))
        chances[:, np.searchsorted(self.levels, np.round(own, 9))] = 1.0 / own.size
        for part in parts:
            chances[part.items] = 0.0
            places = np.searchsorted(self.levels, np.round(part.levels, 9))
            chances[np.ix_(np.flatnonzero(part.items), places)] = part.probabilities
        return chances


def believe(setting: Setting, judged_gain: Floats, *parts: Part, notes: Sequence[str] = ()) -> IndependentBeliefs:
    """Return independent beliefs: every part gives the probabilities of its items, and judged items are certain."""
    return IndependentBeliefs(setting.scale, judged_gain, Blend(setting, *parts), notes=tuple(notes))


Maker = Callable[[Setting], Predictor]
PREDICTORS: Registry[type[Predictor]] = Registry("predictor", group="earmark.predictors")
"""The predictors that need nothing but a setting, those that other packages announce included."""


def make_predictor(name: str, setting: Setting) -> Predictor:
    """Make a predictor by its name for a collection.

    Raises
    ------
    ParameterError
        For an unknown name, with the closest known one.
    """
    return PREDICTORS[name](setting)
