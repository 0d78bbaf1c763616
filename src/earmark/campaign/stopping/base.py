"""What stop rules are made of: what they look at, what they decide, and how their numbers are read and written."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from earmark.beliefs.estimates import all_pairs
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError
from earmark.inference.premises import FailedPremise
from earmark.registry import Registry, read_number, show_number

if TYPE_CHECKING:
    from earmark.inference.confidence import Ranking

DEFAULT_CONFIDENCE = 0.95
"""From which confidence on a pair is decided, where a rule does not say."""

ROUNDING = 2.0**-40
"""Means, sums and widths carry rounding errors: a target is reached from this far away."""


@dataclass(frozen=True, eq=False)
class StopState:
    """What a stop rule looks at.

    Parameters
    ----------
    judged, items : int
        How many items are judged, of how many.
    rank : ndarray of int, shape (systems,)
        1 for the best system.
    width : ndarray of float, shape (systems,)
        Of the interval of every system's score, from its low to its high end.
    confidence : ndarray of float, shape (pairs,), 0..1
        In the order of every pair, as from :func:`~earmark.beliefs.estimates.all_pairs`.
    identical : ndarray of bool, shape (pairs,)
        Pairs that cannot differ; their confidence is not looked at.
    beats_by : callable, optional
        Given a margin, the probability that the first system of every pair is better than the second by more than
        that, shape (pairs,); rules with a margin need it.
    withheld : FailedPremise, optional
        The premise for want of which nothing is called sure or decided.
    systems : tuple of str, optional
        Their names; the rule ``baseline`` needs them, others say which system they are about.
    """

    judged: int
    items: int
    rank: Ints
    width: Floats
    confidence: Floats
    identical: Bools
    beats_by: Callable[[float], Floats] | None = None
    withheld: FailedPremise | None = None
    systems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.judged <= self.items:
            raise ParameterError(f"expected 0 to {self.items} judged items, got {self.judged}")
        n_systems = self.rank.size
        n_pairs = n_systems * (n_systems - 1) // 2
        if self.width.shape != (n_systems,):
            raise ParameterError(f"expected 'width' for each of {n_systems} systems, got shape {self.width.shape}")
        for name, values in (("confidence", self.confidence), ("identical", self.identical)):
            if values.shape != (n_pairs,):
                raise ParameterError(f"expected '{name}' for each of {n_pairs} pairs, got shape {values.shape}")
        if not np.all(self.width >= 0):
            raise ParameterError("expected intervals of width 0 or more, got NaN or a negative number")
        _check_probabilities(self.confidence[self.compared])

    @classmethod
    def from_ranking(cls, ranking: Ranking) -> StopState:
        """Take from a ranking what stop rules look at."""
        estimates = ranking.estimates
        return cls(
            judged=estimates.judged,
            items=estimates.items,
            rank=ranking.rank,
            width=ranking.high - ranking.low,
            confidence=ranking.confidence,
            identical=estimates.identical,
            beats_by=ranking.beats_by,
            withheld=ranking.withheld,
            systems=estimates.systems,
        )

    @property
    def compared(self) -> Bools:
        """Which pairs there is anything to decide about, shape (pairs,)."""
        return ~self.identical

    def confidence_within(self, margin: float) -> Floats:
        r"""Probability that the system called better is worse by no more than a margin, shape (pairs,).

        :math:`\max(P(\Delta > -m), P(\Delta < m))`; without a margin, the confidence.
        """
        if margin == 0:
            return self.confidence
        # Of the two systems, the greater probability is that of the one called better.
        return np.maximum(1.0 - self.better_by(margin), self.better_by(-margin))

    def better_by(self, margin: float) -> Floats:
        """Probability that the first system of every pair is better by more than a margin, shape (pairs,)."""
        if self.beats_by is None:
            raise ParameterError(f"a margin of {margin:g} needs the probability of differences that large")
        chance = self.beats_by(margin)
        _check_probabilities(chance[self.compared])
        return chance

    def name_of(self, system: int) -> str:
        """Return the name of a system in quotation marks; its number where nobody said its name."""
        return f"'{self.systems[system]}'" if self.systems else f"system {system + 1}"


@dataclass(frozen=True, repr=False)
class StopDecision(Display):
    """Whether to stop, and why or why not.

    Attributes
    ----------
    stop : bool
    reason : str
        In words, for people.
    exhausted : bool
        It stops because every item has a judgment, and not because a target is reached.
    final : bool
        Nothing that is judged later takes it back: what was to be spent is spent. One look is enough.
    """

    stop: bool
    reason: str
    exhausted: bool = False
    final: bool = False

    def _summary(self) -> Summary:
        """Say it in words."""
        return Summary(f"{'stop' if self.stop else 'go on'}: {self.reason}")


@dataclass(frozen=True)
class Progress:
    """The one number that a stop rule watches, and where it stops.

    Attributes
    ----------
    name : str
        Of the rule.
    value : float or None
        None where there is nothing to watch, as with one system alone.
    target : float or None
    rising : bool
        Whether the target is reached from below; a width falls to it.
    """

    name: str
    value: float | None
    target: float | None
    rising: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return it by its names, for JSON."""
        return asdict(self)


def _check_probabilities(confidence: Floats) -> None:
    if not np.all((confidence >= 0) & (confidence <= 1)):
        raise ParameterError("expected confidences from 0 to 1, got NaN or a number outside: no rule can use them")


@dataclass(frozen=True)
class StopRule(ABC):
    """What decides when to stop; prints as it is written on the command line."""

    name: ClassVar[str]
    form: ClassVar[str]
    has_margin: ClassVar[bool] = False
    rests_on_estimates: ClassVar[bool] = True
    """Whether the rule looks at estimates, and not only at how much is judged."""
    states_margin: ClassVar[bool] = False

    margin: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise ParameterError(f"a margin is a difference of scores of 0 or more, got {self.margin:g}")
        if self.margin and not self.has_margin:
            takers = ", ".join(rule.name for rule in STOP_RULES.values() if rule.has_margin)
            raise ParameterError(f"a margin means nothing to the stop rule {self}: it is for {takers}")

    @property
    def pair_confidence(self) -> float:
        """From which confidence on a pair counts as decided."""
        return DEFAULT_CONFIDENCE

    @classmethod
    @abstractmethod
    def from_text(cls, target: str, *, margin: float) -> StopRule:
        """Read what was written after the name and a colon."""

    def check(self, state: StopState) -> StopDecision:
        """Decide whether to stop."""
        if state.judged == state.items:
            return StopDecision(True, "everything is judged", exhausted=True, final=True)
        decision = self._check(state)
        if state.withheld is None or not self.rests_on_estimates or not decision.stop:
            return decision
        # What a published method says is repeated as its claim; a verdict that may not be given stops nothing.
        reason = f"{decision.reason}, {state.withheld.clause}"
        return StopDecision(state.withheld.severity == "claim", reason)

    @abstractmethod
    def _check(self, state: StopState) -> StopDecision:
        """Decide whether to stop while there is something left to judge."""

    @property
    def margin_apart(self) -> float:
        """The margin where the rule is written without it; 0 where it states its own."""
        return 0.0 if self.states_margin else self.margin

    @property
    def budget(self) -> int | None:
        """How many judgments may be made at most; None where the rule sets no limit."""
        return None

    def concerned(self, state: StopState) -> Bools:
        """Return the pairs of systems that the rule is about, shape (pairs,); by default all that can differ."""
        return state.compared

    def progress(self, state: StopState) -> Progress:
        """Return the number that the rule watches, beside its target; by default how much is judged, of everything."""
        return Progress(self.name, state.judged, state.items)

    @abstractmethod
    def __str__(self) -> str: ...

    def _on_pairs(self, state: StopState) -> Floats:
        """Return the confidence in every pair that counts."""
        return state.confidence_within(self.margin)[state.compared]

    def _within(self) -> str:
        return f" within a margin of {self.margin:g}" if self.margin else ""

    def _after_colon(self) -> str:
        """Return the margin as rules are written that state their own."""
        return f":{show_number(self.margin)}" if self.margin else ""


STOP_RULES: Registry[type[StopRule]] = Registry("stop rule", shown=lambda rule: rule.form)
"""All stop rules by their names."""


def reached(value: float, target: float, what: str) -> StopDecision:
    """Decide whether a value is at least its target, and say so."""

    def enough(number: float) -> bool:
        return number >= target - ROUNDING

    compared = "at least" if enough(value) else "below"
    return StopDecision(enough(value), f"{what} is {show_beside(value, enough)}, {compared} {show_number(target)}")


def across_top(state: StopState, systems: int) -> Bools:
    """Return the pairs of one of the best `systems` and one of the others, shape (pairs,)."""
    top = np.zeros(state.rank.size, dtype=bool)
    top[np.argsort(state.rank, kind="stable")[:systems]] = True
    a, b = all_pairs(state.rank.size)
    across: Bools = (top[a] != top[b]) & state.compared
    return across


def joint_confidence(confidence: Floats) -> float:
    """Return how sure several statements are together, at least: their doubts add up (Bonferroni).

    Examples
    --------
    >>> round(joint_confidence(np.array([0.99, 0.98])), 2)
    0.97
    """
    return max(1.0 - float(np.sum(1.0 - confidence)), 0.0)


NOTHING_TO_COMPARE = StopDecision(
    False, "there are no two systems that could differ, hence no confidence to reach: only judging everything ends this"
)


def split_confidence(text: str, form: str) -> tuple[str, float]:
    """Read ``target`` or ``target@confidence``; the target is left as text."""
    target, at, confidence = text.partition("@")
    return target, read_number(confidence, f"{form}@0.95") if at else DEFAULT_CONFIDENCE


def split_margin(text: str, form: str, margin: float) -> tuple[str, float]:
    """Read ``target`` or ``target:margin``; the target is left as text.

    Parameters
    ----------
    text : str
        What stands after the name and its colon.
    form : str
        How the rule is written, for the message.
    margin : float
        The margin that was given beside the rule, which counts in place of its own; 0 for none.
    """
    target, colon, written = text.partition(":")
    return target, margin or (read_number(written, f"{form}:0.02") if colon else 0.0)


def check_confidence(target: float, text: str) -> None:
    """Refuse a confidence that is none, or that nothing but certainty reaches."""
    if not 0 < target < 1:
        name = text.partition(":")[0] if "@" not in text else text.partition("@")[0] + "@"
        raise ParameterError(
            f"'{text}': a confidence to reach lies between 0 and 1, got {target:g}{ask_percent(name, target)}"
        )


def ask_percent(name: str, target: float) -> str:
    """Ask whether a number that looks like one was meant as a percentage."""
    if not 1 < target < 100:
        return ""
    return f": did you mean {name}{'' if name.endswith('@') else ':'}{show_number(target / 100)}?"


def show_confidence(confidence: float) -> str:
    """Print a confidence as :func:`split_confidence` reads it, nothing for the default."""
    return "" if confidence == DEFAULT_CONFIDENCE else f"@{show_number(confidence)}"


def show_beside(value: float, holds: Callable[[float], bool]) -> str:
    """Print a value with as many digits as it takes to see whether something holds of it, three at least.

    Examples
    --------
    >>> [show_beside(value, lambda x: x >= 0.95) for value in (0.9312345, 0.94996, 0.95)]
    ['0.931', '0.94996', '0.950']
    """
    for digits in range(3, 17):
        shown = f"{value:.{digits}f}"
        if holds(float(shown)) == holds(value):
            return shown
    return repr(value)
