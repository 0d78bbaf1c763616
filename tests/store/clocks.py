"""A clock that tests set."""

from __future__ import annotations


class Clock:
    """A clock that tests set."""

    def __init__(self, now: int = 1_700_000_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += round(minutes * 60_000_000)
