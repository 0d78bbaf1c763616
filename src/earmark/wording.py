"""Counts, numbers, percentages and lists of names in words.

One rule for numbers that people read, in tables, on pages and in sentences alike:

- A confidence is a percentage without decimals, above 99 with one, and *cut off*, not rounded: 94.96% is 94%. So
  nothing that is short of a level reads as if it had reached it.
- Scores and differences of scores have four decimals and are rounded.

What programs read (JSON, CSV) is never rounded. The reasons of stop rules give confidences as decimals, as the rules
themselves are written (``mean:0.95``), with as many digits as tell them from the target.
"""

from __future__ import annotations

from collections.abc import Sequence

DIGITS = 4
"""Decimals of scores and of their differences."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Say how many there are: ``1 query``, ``1,200 queries``; an s makes many of one unless told otherwise."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(chance: float) -> str:
    """Print a probability as a percentage that never claims more than there is: 94.96 is 94, .9996 is 99.9."""
    share = 100 * chance
    if chance >= 1:
        return "100"
    if share > 99:
        # A last digit that is cut off, not rounded: 99.96 must not become 100.
        return f"{min(int(share * 10 + 1e-9), 999) / 10:g}"
    return f"{int(share + 1e-9)}"


def in_percent(chance: float | None) -> str:
    """Show a confidence to people: ``95%``; a dash where there is none.

    Examples
    --------
    >>> in_percent(0.9499), in_percent(0.95), in_percent(0.9996), in_percent(1.0), in_percent(None)
    ('94%', '95%', '99.9%', '100%', '–')
    """
    return "–" if chance is None else f"{percent(chance)}%"


def decimal(value: float, digits: int = DIGITS, *, sign: str = "-") -> str:
    """Show a score, or with ``sign="+"`` a difference, to people: ``0.5922``, ``+0.0018``."""
    return f"{value:{sign}.{digits}f}"


def sure(chance: float) -> str:
    """Say how sure something is: ``97% sure``, or ``certain`` where nothing is left to doubt."""
    return "certain" if chance >= 1 else f"{percent(chance)}% sure"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Put names in a row: ``A``, ``A and B``, ``A, B and C``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def sentence(note: str) -> str:
    """Make a sentence of a note: a capital at its beginning, a full stop at its end.

    Examples
    --------
    >>> sentence("3 of 5 are judged")
    '3 of 5 are judged.'
    """
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."
