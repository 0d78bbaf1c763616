"""Options: declared once in groups, in help or behind --help-all, and in the documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
import typer
from called import Cli, Files

from earmark.cli import answer_options, campaign_options, options
from earmark.cli.command import add_command, argument, option
from earmark.cli.main import built_commands

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    command = command or built_commands()
    for name, inner in command.commands.items():
        if hasattr(inner, "commands"):
            yield from commands(inner, (*path, name))
        else:
            yield (*path, name), inner


COMMANDS = dict(commands())
every_command = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


def names(command: Any, *, rare: bool = True) -> set[str]:
    shown = [one for one in command.params if one.param_type_name == "option" and (rare or not one.hidden)]
    return {name for one in shown for name in (*one.opts, *one.secondary_opts)}


def named_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))


@every_command
def test_every_option_is_in_the_full_help_and_on_the_page(cli: Cli, path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    shown = cli(*path, "--help-all")
    assert shown.code == 0
    assert names(command) <= named_in(shown.out)
    section = PAGE.read_text().partition(f"\n## `earmark {' '.join(path)}`\n")[2].partition("\n## ")[0]
    assert names(command) - {"--help-all"} <= named_in(section)
    assert "--help-all" in PAGE.read_text()
    assert all(one.help for one in command.params)


@every_command
def test_help_leaves_rare_options_to_the_full_help(cli: Cli, path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    short, full = cli(*path, "--help").out, cli(*path, "--help-all").out
    listed = set(re.findall(r"^│ [ *] *(--[a-z-]+)", short, flags=re.MULTILINE))
    rare = names(command) - names(command, rare=False)
    assert names(command, rare=False) <= named_in(short)
    assert listed.isdisjoint(rare)
    assert (len(short.splitlines()) < len(full.splitlines())) == bool(rare)
    *_, last = filter(None, map(str.strip, short.splitlines()))
    assert ("--help-all" in last) == bool(rare)
    assert "Examples" in full
    # Looking at the full help changes nothing.
    assert cli(*path, "--help").out == short


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group.

    Parameters
    ----------
    size
        How large, as the group says.
    colour
        Which colour.
    shade
        Which shade of it.
    """

    panel: ClassVar[str] = "A heading"
    size: Annotated[int, option("N", "-n", min=1)] = 3
    colour: Annotated[str | None, option("NAME", rare=True)] = None
    shade: Annotated[str | None, option("NAME", rare=True)] = None


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Another group.

    Parameters
    ----------
    width
        How wide.
    """

    panel: ClassVar[str] = "Another heading"
    width: Annotated[int, option("N")] = 1


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A group of groups, one of which not every command has."""

    group: Group
    frame: Frame | None = None


@dataclass(frozen=True, kw_only=True)
class FramedPicture(Picture):
    """A group of groups that has them all."""

    frame: Frame = field()


def called_with(*arguments: str) -> dict[str, Any]:
    got: dict[str, Any] = {}

    def paint(
        things: Annotated[list[str], argument("THING")], group: Group, loud: Annotated[bool, option()] = False
    ) -> None:
        """Paint things.

        Parameters
        ----------
        things
            What to paint.
        size
            How large, as the command says.
        loud
            Whether to say it.

        Examples
        --------
        paint a
            --size 4
        paint b
        """
        got.update(things=things, group=group, loud=loud)

    little = typer.Typer()
    add_command(little, "paint", paint)
    command: Any = typer.main.get_command(little)
    command.main(list(arguments), standalone_mode=False)
    return {**got, "command": command}


def test_a_field_that_is_no_option_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Forgetful:
        """A group."""

        size: int = 3

    # Written out, as annotations are texts here, which name what is in the module.
    Forgetful.__annotations__["size"] = int

    def paint(group: Any) -> None:
        """Paint things."""

    paint.__annotations__["group"] = Forgetful
    with pytest.raises(TypeError, match=r"Forgetful\.size is neither an option nor a group"):
        add_command(typer.Typer(), "paint", paint)


def test_options_of_a_group_reach_the_command() -> None:
    got = called_with("a", "b", "-n", "4", "--colour", "red", "--loud")
    assert (got["things"], got["group"], got["loud"]) == (["a", "b"], Group(size=4, colour="red"), True)
    assert called_with("a")["group"] == Group()


def test_groups_may_hold_groups() -> None:
    got: list[Picture] = []

    def paint(picture: Picture) -> None:
        """Paint a picture."""
        got.append(picture)

    def frame(picture: FramedPicture) -> None:
        """Paint a picture with a frame."""
        got.append(picture)

    little = typer.Typer()
    add_command(little, "paint", paint)
    add_command(little, "frame", frame)
    command: Any = typer.main.get_command(little)
    command.main(["paint", "-n", "4"], standalone_mode=False)
    command.main(["frame", "--width", "2", "--colour", "red"], standalone_mode=False)
    assert got == [Picture(group=Group(size=4)), FramedPicture(group=Group(colour="red"), frame=Frame(width=2))]
    # An optional group has no options.
    assert not {"--width", "--frame"} & names(command.commands["paint"])
    width = next(one for one in command.commands["frame"].params if one.name == "width")
    assert (width.help, width.rich_help_panel) == ("How wide.", "Another heading")


def test_help_comes_from_docstrings_and_the_commands_own_wins() -> None:
    command = called_with("a")["command"]
    by_name = {one.name: one for one in command.params}
    assert by_name["size"].help == "How large, as the command says."
    assert by_name["colour"].help == "Which colour."
    assert (by_name["size"].rich_help_panel, by_name["loud"].rich_help_panel) == ("A heading", None)
    assert (by_name["size"].hidden, by_name["colour"].hidden) == (False, True)
    assert command.help == "Paint things."
    assert "paint a --size 4\npaint b" in command.epilog


def test_every_field_of_a_group_is_explained() -> None:
    modules = (options, campaign_options, answer_options)
    classes = [one for module in modules for _, one in inspect.getmembers(module, inspect.isclass)]
    # Groups of groups have no options of their own.
    groups = [one for one in classes if is_dataclass(one) and not issubclass(one, campaign_options.CampaignOptions)]
    assert len(groups) > 15
    used = {parameter.name for command in COMMANDS.values() for parameter in command.params}
    assert {one.name for group in groups for one in fields(group) if one.init} <= used


@pytest.mark.parametrize(
    ("command", "twice"),
    [("evaluate", ("--scale", "broad")), ("rank", ("--predictor", "uniform")), ("next", ("--order", "rank"))],
)
def test_an_option_of_a_group_is_given_once(cli: Cli, files: Files, command: str, twice: tuple[str, str]) -> None:
    said = cli(command, files.runs, "-j", files.judgments, *twice, *twice)
    assert (said.code, said.out, said.err) == (2, "", f"earmark: {twice[0]} was given 2 times: it takes one value\n")
