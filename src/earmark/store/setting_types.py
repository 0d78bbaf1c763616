"""What a value in ``campaign.toml`` may be, and what is said about one that it may not be.

A reader takes a value as TOML, JSON or Python has it and returns the value to keep; a value that was kept passes
unchanged. One that cannot be used is a :class:`Wrong`, which says what was expected; who reads the file adds the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qs, urlsplit

from earmark.data.files import is_text_encoding
from earmark.errors import ParameterError
from earmark.registry import show_number, suggest

Reader = Callable[[Any], Any]


class Wrong(Exception):  # noqa: N818 - reads as what it says
    """A value that a setting cannot have."""

    def __init__(self, expected: str, got: str, hint: str | None = None) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got, self.hint = expected, got, hint
        # Which element of a list it is, where it is one.
        self.place: tuple[int, ...] = ()


@dataclass(frozen=True)
class InputFile:
    """A file that a campaign was made from.

    Parameters
    ----------
    file : str
        Its path, relative to the campaign's folder or absolute, with ``/`` between the parts.
    sha256 : str
        The hash of its bytes in 64 hexadecimal digits; empty while nobody has looked at the file.
    """

    file: str
    sha256: str = ""


def show(value: Any) -> str:
    """Write a value as it stands in TOML, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def text(value: Any) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str):
        raise Wrong(
            "a text in quotes", show(value), hint=f'write "{value}"' if isinstance(value, int | float) else None
        )
    if not value.strip():
        raise Wrong("a text that is not empty", '""', hint="put # before the line to leave the setting out")
    return value


def yes_or_no(value: Any) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        hint = "without quotes and in small letters" if isinstance(value, str) else None
        raise Wrong("true or false", show(value), hint=hint)
    return value


def whole(least: int) -> Reader:
    """Return the reader of whole numbers from a least one on."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            quoted = isinstance(value, str) and value.strip().isdigit()
            raise Wrong(f"a whole number, {least} or more", show(value), hint="without quotes" if quoted else None)
        return value

    return read


def number(
    low: float = -math.inf, high: float = math.inf, *, above: bool = False, below: bool = False, share: bool = False
) -> Reader:
    """Return the reader of numbers in a range.

    Parameters
    ----------
    low, high : float
        The ends.
    above, below : bool
        The number is above the low end and below the high end, not equal to it.
    share : bool
        Whoever writes 90 may have meant 0.9, and a fraction may be written as "1/6".
    """
    ends = [
        *([] if low == -math.inf else [f"above {show_number(low)}" if above else f"{show_number(low)} or more"]),
        *([] if high == math.inf else [f"below {show_number(high)}" if below else f"at most {show_number(high)}"]),
    ]
    expected = f"a number, {' and '.join(ends)}" if ends else "a number"

    def read(value: Any) -> float:
        got, hint = show(value), None
        if share and isinstance(value, str) and re.fullmatch(r"\s*\d+\s*/\s*0*[1-9]\d*\s*", value):
            value = float(Fraction(value.replace(" ", "").strip()))
        if isinstance(value, bool) or not isinstance(value, int | float):
            if isinstance(value, str):
                hint = 'a number stands without quotes, a fraction as "1/6"' if share else "without quotes"
            raise Wrong(expected, got, hint=hint)
        fits = (value > low if above else value >= low) and (value < high if below else value <= high)
        # Infinity is within no range of ours, and NaN passes no comparison.
        if not fits or not math.isfinite(value):
            if share and 1 < value <= 100:
                hint = f"a percentage? {show_number(value / 100)} is {value:g}%"
            raise Wrong(expected, got, hint=hint)
        return float(value)

    return read


def show_share(value: float) -> float | str:
    """Return how to write a share: as a number where that is short, else as the fraction it is."""
    fraction = Fraction(value).limit_denominator(1000)
    return str(fraction) if len(repr(value)) > 6 and float(fraction) == value else value


def choice(*words: str) -> Reader:
    """Return the reader of one of several words."""
    expected = " or ".join(f'"{word}"' for word in words)

    def read(value: Any) -> str:
        if value not in words:
            close = suggest(value, words) if isinstance(value, str) else None
            raise Wrong(expected, show(value), hint=close and f'did you mean "{close}"?')
        return str(value)

    return read


def host_name(value: Any) -> str:
    """Read the name of a host, without a scheme and a port."""
    name = text(value)
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", name):
        raise Wrong("the name of a host, such as judge.example.org", show(value))
    return name


def several(of: Reader, what: str, *, least: int = 0) -> Reader:
    """Return the reader of a list."""

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            hint = f"write [{show(value)}]" if isinstance(value, str) else None
            raise Wrong(f"a list of {what} in square brackets", show(value), hint=hint)
        if len(value) < least:
            raise Wrong(f"a list of {least} or more {what}", f"{len(value)}")
        found = tuple(_read_element(of, one, place) for place, one in enumerate(value))
        twice = next((one for one in found if found.count(one) > 1), None)
        if twice is not None:
            raise Wrong(f"different {what}", f"{show(getattr(twice, 'file', twice))} twice")
        return found

    return read


def _read_element(of: Reader, value: Any, place: int) -> Any:
    try:
        return of(value)
    except Wrong as wrong:
        wrong.place = (place,)
        raise


def parsed(parser: Callable[[str], Any], what: str, *, hint_number: Callable[[float], str] | None = None) -> Reader:
    """Return the reader of a text that a parser of the command line understands; the text is kept as it is.

    Parameters
    ----------
    parser : callable
        Raises ParameterError for what it does not understand.
    what : str
        What is expected, with an example.
    hint_number : callable, optional
        What a person may have meant who wrote a number.
    """

    def read(value: Any) -> str:
        if not isinstance(value, str):
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            raise Wrong(what, show(value), hint=f'write "{hint_number(value)}"' if hint_number and plain else None)
        try:
            parser(value)
        except ParameterError as error:
            raise Wrong(what, show(value), hint=str(error)) from None
        return value

    return read


def input_file(value: Any) -> InputFile:
    """Read a file and its hash; a plain text is the path of a file whose hash is not known yet."""
    if isinstance(value, InputFile):
        value = {"file": value.file, "sha256": value.sha256}
    if isinstance(value, str):
        value = {"file": value}
    expected = 'a file as { file = "inputs/a.run", sha256 = "..." }'
    if not isinstance(value, dict):
        raise Wrong(expected, show(value), hint='or its path in quotes: "inputs/a.run"')
    unknown = next((key for key in value if key not in ("file", "sha256")), None)
    if unknown is not None or not isinstance(value.get("file"), str) or not value["file"].strip():
        got = "no entry 'file'" if unknown is None else f"an entry '{unknown}'"
        raise Wrong(expected, got)
    known = value.get("sha256") or ""
    if not isinstance(known, str) or (known and not re.fullmatch("[0-9a-f]{64}", known.lower())):
        how = "leave sha256 out where the file is new: its hash is then taken from it"
        raise Wrong("a SHA-256 hash in 64 hexadecimal digits", show(known), hint=how)
    return InputFile(value["file"].replace("\\", "/"), known.lower())


def encoding(value: Any) -> str:
    """Read the name of a text encoding."""
    name = text(value)
    if not is_text_encoding(name):
        raise Wrong("the name of a text encoding", show(value), hint='try "utf-8" or "latin-1"')
    return name


def identity(value: Any) -> str:
    """Read the id of a campaign."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{32}", value):
        raise Wrong("an id of 32 hexadecimal digits", show(value), hint="it was written by 'earmark init'; keep it")
    return value


def moment(value: Any) -> datetime:
    """Read a time; it is kept in UTC."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not isinstance(value, datetime) or value.tzinfo is None:
        naive = isinstance(value, datetime)
        hint = "add a Z, for UTC" if naive else None
        raise Wrong("a time with its zone such as 2026-01-31T12:00:00Z", show(value), hint=hint)
    return value.astimezone(UTC)


def address(value: Any) -> str:
    """Read what links start with."""
    found = text(value)
    parts = urlsplit(found)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Wrong("an address that starts with http:// or https://", show(value))
    return found.rstrip("/")


def store_url(value: Any) -> str:
    """Read the address of a database; a password is refused, as people hand this file around."""
    found = text(value)
    parts = urlsplit(found)
    secrets: Sequence[str] = [key for key in parse_qs(parts.query, keep_blank_values=True) if "pass" in key.lower()]
    if parts.password is not None or secrets:
        hint = "give it in the environment variable PGPASSWORD or in the file ~/.pgpass"
        raise Wrong("the address of a database without a password", "one with a password", hint=hint)
    if parts.scheme.partition("+")[0] not in ("postgresql", "sqlite"):
        example = "postgresql://user@server/database or sqlite:///campaign.db"
        raise Wrong(f"the address of a database such as {example}", show(value))
    return found
