"""Judging scales: the ordered levels an assessor chooses from, and the gain each level is worth.

Music similarity is judged on the *Broad* scale (not, somewhat, very similar: gains 0, 1, 2) or the *Fine*
scale (0 to 100); cover songs are *binary*; text retrieval often uses 0..3. Partially ordered ground truth has
no gains at all, only an order of groups (:data:`ORDERED`). Scores that are scaled to 0..1 divide by the
scale's top gain, so an evaluation has to know its scale: it is stated, or guessed and then said aloud.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from earmark.errors import ParameterError

_FEW_LEVELS = 11
# Beliefs give every level of every item a probability; on a finer scale, levels mean no more than any number does.
_MOST_LEVELS = 10_000
# Variances are squares of gains, and a squared gain has to be a number that can be computed with.
_MOST_GAIN = 1e50


@dataclass(frozen=True)
class Scale:
    """An ordered set of gains.

    Parameters
    ----------
    name : str
        How the scale is written on the command line; ``parse_scale(scale.name) == scale``.
    gains : tuple of float
        The gain of every level, ascending. A scale without discrete levels holds just its two ends.
    continuous : bool
        Any gain between the ends is allowed.
    ordered_only : bool
        The gains only say which group comes first; they are no amounts.
    """

    name: str
    gains: tuple[float, ...]
    continuous: bool = False
    ordered_only: bool = False

    def __post_init__(self) -> None:
        ascending = all(low < high for low, high in pairwise(self.gains))
        if len(self.gains) < 2 or not ascending or not math.isfinite(self.gains[-1]):
            raise ParameterError(f"a scale needs two or more ascending gains, got {self.gains}")
        if self.gains[0] != 0:
            raise ParameterError(f"a scale starts at gain 0, got {self.gains[0]:g}")
        if self.top > _MOST_GAIN or self.gains[1] < 1 / _MOST_GAIN:
            got = f"{self.gains[1]:g} to {self.top:g}"
            raise ParameterError(f"gains above 0 are from {1 / _MOST_GAIN:g} to {_MOST_GAIN:g}, got {got}")

    @property
    def top(self) -> float:
        """The gain of the highest level."""
        return self.gains[-1]

    @property
    def has_few_levels(self) -> bool:
        """Whether its levels are few enough to choose one of them, instead of moving a slider."""
        return not self.continuous and len(self.gains) <= _FEW_LEVELS

    def contains(self, gains: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which gains an assessor could have given on this scale."""
        if self.ordered_only:
            return gains >= 0
        if self.continuous:
            return (gains >= 0) & (gains <= self.top)
        return np.isin(gains, self.gains)

    def __str__(self) -> str:
        return self.name


def _integers(top: int, name: str | None = None) -> Scale:
    if top > _MOST_LEVELS:
        raise ParameterError(
            f"a scale has at most {_MOST_LEVELS:,} levels above 0, got 0..{top}: 0.0..{top}.0 is any number up to there"
        )
    return Scale(name or f"0..{top}", tuple(float(gain) for gain in range(top + 1)))


def _continuous(low: float, high: float) -> Scale:
    return Scale(f"{low!r}..{high!r}", (low, high), continuous=True)


BINARY = _integers(1, "binary")
BROAD = _integers(2, "broad")
FINE = _integers(100, "fine")
ORDERED = Scale("ordered", (0.0, 1.0), ordered_only=True)

_NAMED = {scale.name: scale for scale in (BINARY, BROAD, FINE)}


def parse_scale(text: str) -> Scale:
    """Read a scale as written on the command line.

    Parameters
    ----------
    text : str
        ``binary``, ``broad``, ``fine``; ``0..3`` for the whole numbers in between; ``0.0..1.0`` for any number
        in between; ``0,1,3,7`` for these gains.

    Examples
    --------
    >>> parse_scale("0..3").gains
    (0.0, 1.0, 2.0, 3.0)
    >>> parse_scale("0.0..1.0").continuous
    True
    """
    name = text.strip().lower()
    if name in _NAMED:
        return _NAMED[name]
    try:
        if ".." in name:
            low, high = name.split("..")
            if "." in low or "." in high:
                return _continuous(float(low), float(high))
            if int(low) == 0:
                return next((s for s in _NAMED.values() if s.top == int(high)), _integers(int(high)))
        elif "," in name:
            gains = tuple(float(gain) for gain in name.split(","))
            return Scale(",".join(repr(gain).removesuffix(".0") for gain in gains), gains)
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
    raise ParameterError(
        f"unknown scale '{text}': use binary, broad, fine, a range of whole numbers from 0 such as 0..3, "
        "any number in a range such as 0.0..1.0, or the gains themselves such as 0,1,3,7"
    )


def guess_scale(gains: NDArray[np.float64]) -> Scale:
    """Guess the scale from the gains seen, as the smallest customary scale that holds them all.

    Whole numbers up to 1 are binary, up to 2 broad, up to 10 themselves, up to 100 fine; numbers with a
    fraction are continuous, to 1 or to the next power of ten.
    """
    known = gains[gains >= 0]
    top = float(known.max()) if known.size else 1.0
    if np.any(known != np.floor(known)):
        return _continuous(0.0, 10.0 ** max(0, math.ceil(math.log10(top))))
    for scale in (BINARY, BROAD):
        if top <= scale.top:
            return scale
    if top <= 10:
        return _integers(int(top))
    if top <= 100:
        return FINE
    raise ParameterError(
        f"the highest gain is {top:g}, which no customary scale reaches: name the scale (--scale), "
        "for example --scale 0..1000"
    )
