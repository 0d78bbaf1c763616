"""Numbers and what they count, in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """Say how many there are: ``1 query``, ``1,200 queries``; an s makes many of one unless told otherwise."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
