"""Command lines as a shell takes them: what was typed, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer


def command_line(
    context: typer.Context, *, name: str | None = None, only: Container[str] | None = None, **instead: object
) -> str:
    """Return what was typed, as a shell would take it: arguments, and the options that were given.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    name : str, optional
        Another command in the place of the one that was called.
    only : container of str, optional
        The parameters to name; all when omitted.
    **instead
        Values of options in the place of those that were given, if any were.
    """
    words = ["earmark", name or context.info_name or ""]
    for part in sorted(context.command.params, key=lambda part: part.param_type_name != "argument"):
        known = part.name or ""
        if known in instead:
            words += _spelt(part, instead[known])
        elif was_given(context, known) and (only is None or known in only):
            words += _spelt(part, context.params[known])
    return shlex.join(words)


def next_round(context: typer.Context, output: Path, judgments: Sequence[Path]) -> tuple[str, str]:
    """Return how to go on once questions are answered: the command that ranks, and the one that asks again.

    Parameters
    ----------
    context : typer.Context
        Of the command that wrote the questions.
    output : path
        The questions.
    judgments : sequence of path
        What was given as judgments. All of it is named again: the new answers alone would lose the rounds before.
    """
    from earmark.data.judgment_sources import judgment_files

    known = [file.resolve() for file in judgment_files(judgments)] if judgments else []
    together = [*judgments, *([] if output.resolve() in known else [output])]
    siblings: Mapping[str, Any] = getattr(context.parent.command, "commands", {}) if context.parent else {}
    # The audit of rank is another option than that of next.
    shared = {one.name or "" for one in siblings["rank"].params} - {"audit", "format", "quiet"}
    rank = command_line(context, name="rank", only=shared, judgments=together)
    return rank, command_line(context, judgments=together, output=_another_name(output))


def _another_name(path: Path) -> Path:
    """Return the name of the file for the round after this one: the number in it goes up, or is added."""
    stem = path.name.removesuffix(path.suffix)
    start = stem.rstrip("0123456789")
    number = int(stem[len(start) :] or 1)
    while True:
        number += 1
        another = path.with_name(f"{start if start != stem else f'{stem}-'}{number}{path.suffix}")
        if not another.exists():
            return another


def given_options(context: typer.Context) -> dict[str, Any]:
    """Return the options and arguments that were given, by their long names, as JSON can hold them."""
    given = [part for part in context.command.params if was_given(context, part.name or "")]
    return {
        "runs" if part.param_type_name == "argument" else max(part.opts, key=len).removeprefix("--"): _plain(
            context.params[part.name or ""]
        )
        for part in given
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def was_given(context: typer.Context, name: str) -> bool:
    """Tell whether an option stood on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _spelt(part: Any, value: Any) -> Iterator[str]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if part.param_type_name == "argument":
        yield from map(str, values)
        return
    name = max(part.opts, key=len)
    for one in values:
        if one is False and part.secondary_opts:
            yield max(part.secondary_opts, key=len)
        else:
            yield from [name] if one is True else [name, str(one)]
