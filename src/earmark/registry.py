"""Things that are chosen by name: measures, predictors, policies and stop rules, and what may follow their names.

A :class:`Registry` holds the classes of one kind. Names are looked up whatever their case. Other packages add classes
of their own by an entry point, which is loaded when it is first needed. An unknown name is one error everywhere: it
names the closest known name and lists all of them.

Predictors, policies and stop rules are written ``name:argument:argument``, such as ``balanced:20:random`` or
``top:3``; :func:`split_arguments` takes such a text apart, and :func:`read_number`, :func:`read_count` and
:func:`read_choice` read the arguments. Measures have a grammar of their own (:mod:`earmark.measures.base`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from earmark.errors import ParameterError

T = TypeVar("T")
Registered = TypeVar("Registered", bound=type)


class Registry(Generic[T]):
    """Classes of one kind by name.

    Parameters
    ----------
    kind : str
        What they are called in messages, such as ``policy``.
    group : str, optional
        The entry point under which other packages announce theirs, such as ``earmark.policies``. What is loaded from it
        has a ``name`` as well; a name that is taken already keeps its meaning.
    shown : callable, optional
        How a class is written in messages; by its name where this is not given.

    Examples
    --------
    >>> shapes = Registry[type]("shape")
    >>> @shapes.register
    ... class Circle:
    ...     name = "circle"
    >>> shapes["CIRCLE"].__name__, shapes.names(), "square" in shapes
    ('Circle', ('circle',), False)
    >>> shapes["cirle"]
    Traceback (most recent call last):
    earmark.errors.ParameterError: unknown shape 'cirle': did you mean circle? (there are circle)
    """

    def __init__(self, kind: str, *, group: str | None = None, shown: Callable[[T], str] | None = None) -> None:
        self.kind = kind
        self.group = group
        self._shown = shown or _name
        self._by_name: dict[str, T] = {}
        self._loaded = group is None

    def register(self, cls: Registered) -> Registered:
        """Add a class under its ``name``; to be used as a decorator."""
        self._by_name[_name(cls).lower()] = cls  # type: ignore[assignment]
        return cls

    def get(self, name: str) -> T | None:
        """Return the class of this name, if there is one."""
        key = name.strip().lower()
        if key not in self._by_name:
            self._load()
        return self._by_name.get(key)

    def __getitem__(self, name: str) -> T:
        found = self.get(name)
        if found is None:
            raise self.unknown(name)
        return found

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def values(self) -> list[T]:
        """Return all classes, in the order in which they were registered."""
        self._load()
        return list(self._by_name.values())

    def names(self) -> tuple[str, ...]:
        """Return the names of all classes, in the order in which they were registered."""
        return tuple(_name(cls) for cls in self.values())

    def unknown(self, text: str, *, aliases: dict[str, str] | None = None) -> ParameterError:
        """Return the error for a name that there is not.

        Parameters
        ----------
        text : str
            The name, as it was written.
        aliases : dict of str to str, optional
            Other names that would have been understood, and what they stand for.
        """
        written = {_name(cls): self._shown(cls) for cls in self.values()}
        meanings = {**(aliases or {}), **{name.lower(): shown for name, shown in written.items()}}
        meant = suggest(text.partition(":")[0], meanings)
        known = f"there are {', '.join(written.values())}"
        hint = f"did you mean {meanings[meant]}? ({known})" if meant else known
        return ParameterError(f"unknown {self.kind} '{text}': {hint}")

    def _load(self) -> None:
        """Register what installed packages announce, once."""
        if self._loaded or self.group is None:
            return
        self._loaded = True
        for entry in entry_points(group=self.group):
            cls = entry.load()
            self._by_name.setdefault(_name(cls).lower(), cls)


def _name(cls: Any) -> str:
    name: str = cls.name
    return name


def suggest(text: str, known: Iterable[str]) -> str | None:
    """Return which of the known names comes closest to a text, if any is close.

    Examples
    --------
    >>> suggest("Randon", ["random", "mtc"]), suggest("x", ["random"])
    ('random', None)
    """
    close = difflib.get_close_matches(text.strip().lower(), list(known), n=1, cutoff=0.5)
    return close[0] if close else None


# ---- name:argument:argument ------------------------------------------------------------------------------------------


def split_arguments(text: str) -> tuple[str, list[str]]:
    """Split ``name:argument:argument`` at its colons; blanks around the parts do not count.

    Examples
    --------
    >>> split_arguments(" balanced:20: random")
    ('balanced', ['20', 'random'])
    >>> split_arguments("mtc")
    ('mtc', [])
    """
    name, *arguments = (part.strip() for part in text.split(":"))
    return name, arguments


def refuse_arguments(name: str, arguments: Sequence[str]) -> None:
    """Refuse arguments after a name that takes none."""
    if arguments:
        raise ParameterError(f"{name} takes no argument, got '{':'.join((name, *arguments))}'")


def read_number(text: str, form: str) -> float:
    """Read an argument that is a number.

    Parameters
    ----------
    text : str
        What was written.
    form : str
        An example of how it is written correctly, for the message: ``mean:0.95``.
    """
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"expected a number as in {form}, got '{text}'") from None


def read_count(text: str, form: str) -> int:
    """Read an argument that is a whole number; see :func:`read_number`."""
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"expected a whole number as in {form}, got '{text}'") from None


def read_choice(text: str, choices: Sequence[str], form: str) -> str:
    """Read an argument that is one of several words, whatever its case; see :func:`read_number`."""
    if text.lower() not in choices:
        raise ParameterError(f"expected {' or '.join(choices)} as in {form}, got '{text}'")
    return text.lower()


def show_number(value: float) -> str:
    """Write a number so that reading it gives the same number, as short as possible.

    Examples
    --------
    >>> show_number(0.95), show_number(3.0), show_number(1 / 3)
    ('0.95', '3', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
