"""Counts, percentages and lists of names in words."""

from __future__ import annotations

from collections.abc import Sequence


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


def sure(chance: float) -> str:
    """Say how sure something is: ``97% sure``, or ``certain`` where nothing is left to doubt."""
    return "certain" if chance >= 1 else f"{percent(chance)}% sure"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Put names in a row: ``A``, ``A and B``, ``A, B and C``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
