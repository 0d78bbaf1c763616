"""What there is to call: all commands, arguments and options, taken from the application itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from earmark.cli.main import app
from earmark.cli.paths import Role, role_of

LEFT_OUT = {
    "serve": "a server, which runs until it is stopped; the tests of the web app send it made-up requests",
    "demo": "a story without any input file, of seconds for each call",
    "reproduce": "studies of published collections, of minutes for each call",
}
"""The commands that are not called, and why."""


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command.

    Parameters
    ----------
    name : str
        As Python calls it.
    flag : str
        As the command line calls it; nothing for an argument.
    kind : type
        ``bool``, ``int``, ``float``, ``str`` or ``Path``.
    choices : tuple of str
        All values of an option that has few.
    least, most : float, optional
        The range that is declared.
    role : str, optional
        What a path is: an input, an output, a folder for outputs or a campaign.
    """

    name: str
    flag: str
    kind: type
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    required: bool
    many: bool
    role: Role | None


@dataclass(frozen=True)
class Command:
    """A command: its name without ``earmark``, and its parameters."""

    name: str
    parameters: tuple[Parameter, ...]

    def __getitem__(self, name: str) -> Parameter:
        return next(one for one in self.parameters if one.name == name)

    def has(self, name: str) -> bool:
        """Tell whether there is a parameter of this name."""
        return any(one.name == name for one in self.parameters)


@cache
def find_commands() -> tuple[Command, ...]:
    """Return every command that is called, in the order of help."""
    return tuple(
        Command(name, tuple(_parameter(name, one) for one in found.params if one.name != "help_all"))
        for name, found in _walk(typer.main.get_command(app))
        if name not in LEFT_OUT
    )


def _walk(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield from _walk(inner, (*before, name))
        else:
            yield " ".join((*before, name)), inner


def _parameter(command: str, one: Any) -> Parameter:
    annotation = one.type_descriptor.annotation
    many = get_origin(annotation) is list
    plain = get_args(annotation)[0] if many else annotation
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    kind = str if choices else plain
    role = role_of(command, one.name)
    return Parameter(
        name=one.name,
        flag=max(one.opts, key=len) if one.param_type_name == "option" else "",
        kind=kind if kind in (bool, int, float, str) else Path,
        choices=tuple(map(str, choices)),
        least=one.min,
        most=one.max,
        required=one.required,
        many=many,
        # A role belongs to a name, which in another command may be that of a number.
        role=role if kind not in (bool, int, float) else None,
    )
