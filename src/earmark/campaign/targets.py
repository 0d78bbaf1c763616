"""The numbers in stop rules: reading them, refusing those that make no sense, and printing them."""

from __future__ import annotations

from collections.abc import Callable

from earmark.errors import ParameterError

DEFAULT_CONFIDENCE = 0.95
"""From which confidence on a pair is decided, where a rule does not say."""

ROUNDING = 2.0**-40
"""Means, sums and widths carry rounding errors: a target is reached from this far away."""


def read_number(text: str, form: str) -> float:
    """Read the number after the name of a stop rule."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"a stop rule such as {form} has a number after its name, got '{text}'") from None


def read_count(text: str, form: str) -> int:
    """Read the whole number after the name of a stop rule."""
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"a stop rule such as {form} has a whole number after its name, got '{text}'") from None


def split_confidence(text: str, form: str) -> tuple[str, float]:
    """Read ``target`` or ``target@confidence``; the target is left as text."""
    target, at, confidence = text.partition("@")
    return target, read_number(confidence, f"{form}@0.95") if at else DEFAULT_CONFIDENCE


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
    return f": did you mean {name}{'' if name.endswith('@') else ':'}{show(target / 100)}?"


def show(value: float) -> str:
    """Print a number so that reading it back gives the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def show_confidence(confidence: float) -> str:
    """Print a confidence as :func:`split_confidence` reads it, nothing for the default."""
    return "" if confidence == DEFAULT_CONFIDENCE else f"@{show(confidence)}"


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
