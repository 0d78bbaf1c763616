"""Write cli.md: what every command's ``--help-all`` says, from the commands themselves.

Run it with ``python docs/generate_cli.py`` after changing a command; ``--check`` fails if the page is stale.

The page is made from the commands and their options, not from printed help, so it does not depend on the width of a
terminal, on colours, or on how help is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from generated import main, wrap

from earmark.cli.main import app

PAGE = Path(__file__).with_name("cli.md")

INTRODUCTION = """\
<!-- Written by docs/generate_cli.py from the commands. Change those, not this page. -->
# Command line
"""
ENDING = """\
Every command has `--help`, or `-h`, which shows the options that are used most; `--help-all` shows all of them, as this
page does. Data goes to standard output, messages go to standard error. A command ends with 0 on success, and with 2 and
one line on standard error if its input or its usage is wrong.
"""


def page() -> str:
    """Return the page."""
    root: Any = typer.main.get_command(app)
    panels: dict[str, list[tuple[tuple[str, ...], Any]]] = {}
    for path, command in _commands(("earmark",), root):
        panels.setdefault(root.commands[path[1]].rich_help_panel, []).append((path, command))
    parts = [INTRODUCTION, _prose(root.help), ENDING]
    parts += [_contents(panel, commands) for panel, commands in panels.items()]
    parts += [_section(path, command) for commands in panels.values() for path, command in commands]
    return "\n".join(parts)


def _commands(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the commands that do something, with their names from ``earmark`` on."""
    for name, inner in command.commands.items():
        if hasattr(inner, "commands"):
            yield from _commands((*path, name), inner)
        elif not inner.hidden:
            yield (*path, name), inner


def _contents(panel: str, commands: list[tuple[tuple[str, ...], Any]]) -> str:
    lines = [f"**{panel}**\n"]
    for path, command in commands:
        link = f"[`{' '.join(path)}`](#{'-'.join(path)})"
        lines.append(wrap(f"- {link}: {_first_line(command.help)}", indent="  "))
    return "\n".join(lines) + "\n"


def _section(path: tuple[str, ...], command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join([*path, "[OPTIONS]", *map(_usage, arguments)])
    lines = [f'<a id="{"-".join(path)}"></a>', f"## `{' '.join(path)}`\n", f"```text\n{usage}\n```\n"]
    lines.append(_prose(command.help))
    panels: dict[str, list[str]] = {"Arguments": [], "Options": []}
    for parameter in command.params:
        panel = "Arguments" if parameter.param_type_name == "argument" else "Options"
        if parameter.name != "help_all":
            panels.setdefault(parameter.rich_help_panel or panel, []).append(_parameter(parameter))
    lines += [f"**{panel}**\n\n" + "\n".join(entries) + "\n" for panel, entries in panels.items() if entries]
    if command.epilog:
        examples = command.epilog.removeprefix("[bold]Examples[/bold]\n")
        lines.append(f"**Examples**\n\n```sh\n{examples}\n```\n")
    return "\n".join(lines)


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name).strip("[]").upper()


def _usage(argument: Any) -> str:
    usage = _name(argument) + ("..." if argument.nargs == -1 else "")
    return usage if argument.required else f"[{usage}]"


def _parameter(parameter: Any) -> str:
    """Return the entry of an argument or an option: its names, what it takes, what it means and its default."""
    if parameter.param_type_name == "argument":
        names = f"`{_name(parameter)}`"
    else:
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts)) + (
            f" {parameter.metavar}" if parameter.metavar else ""
        )
    default = parameter.default
    shown = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    ending = f" By default `{default}`." if shown and default != "" else ""
    if parameter.required and parameter.param_type_name == "option":
        ending = " Required."
    return wrap(f"- {names}: {_plain(parameter.help)}{ending}", indent="  ")


def _prose(text: str) -> str:
    return "\n".join(wrap(" ".join(_plain(part).split())) + "\n" for part in text.strip().split("\n\n"))


def _first_line(text: str) -> str:
    return " ".join(_plain(text.strip().split("\n\n")[0]).split())


def _plain(text: str) -> str:
    """Take rich's markup out: ``[bold]Examples[/bold]`` becomes Examples."""
    return re.sub(r"\[/?(?:bold|dim|italic|green|red|yellow|blue|cyan)\]", "", text)


if __name__ == "__main__":
    main(PAGE, page)
