"""Commands made of plain functions: options declared once, help taken from docstrings, rare options out of the way.

A command is a function. Each of its parameters is an argument, an option, or a group of options: a frozen dataclass
whose fields are options, such as :class:`earmark.cli.options.Inputs`, or groups again, such as
:class:`earmark.cli.campaign_options.CampaignOptions`. The docstring holds everything that help shows:
the text, what each option means (the section Parameters, also in the docstrings of groups; the command's own wins)
and the examples. :func:`add_command` spreads groups out into the flat signature that typer reads, and puts them
together again when the command is called.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from earmark.cli import folder
from earmark.cli.docstrings import command_help, parameter_texts
from earmark.cli.paths import guarded
from earmark.cli.ranges import check_ranges
from earmark.errors import ParameterError
from earmark.remarks import listening


def option(metavar: str = "", *names: str, panel: str | None = None, rare: bool = False, **settings: Any) -> Any:
    """Declare an option in the annotation of a parameter or of a field: ``Annotated[int, option("N", "-n", min=1)]``.

    Parameters
    ----------
    metavar : str
        What stands for the value in help; nothing for a flag.
    *names : str
        Short names, or all names where the long one is not that of the parameter.
    panel : str, optional
        The heading in help; that of the group when omitted.
    rare : bool
        Shown by ``--help-all`` only.
    **settings
        For :class:`typer.Option`: ``min``, ``max``, ``callback`` and so on.
    """
    return typer.Option(*names, metavar=metavar, rich_help_panel=panel, hidden=rare, **settings)


def argument(metavar: str) -> Any:
    """Declare an argument as :func:`option` declares an option."""
    return typer.Argument(metavar=metavar, show_default=False)


def add_command(to: typer.Typer, name: str, function: Callable[..., None], panel: str | None = None) -> None:
    """Add a function to an application as the command `name`, under the heading `panel`."""
    text, examples = command_help(function.__doc__)
    to.command(name, cls=Command, help=text, epilog=examples_text(*examples), rich_help_panel=panel)(flatten(function))


def examples_text(*lines: str) -> str:
    """Make the end of a help text of example command lines."""
    return "[bold]Examples[/bold]\n" + "\n".join(lines)


def flatten(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function with one keyword for each option, which builds the groups and calls `function`."""
    hints = get_type_hints(function, include_extras=True)
    texts = parameter_texts(function)
    groups: dict[str, Any] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            groups[parameter.name] = kind
            flat += _group_parameters(kind, texts)
        else:
            flat.append(_parameter(parameter.name, kind, parameter.default, texts))
    flat.append(_parameter("help_all", _HelpAll, False, {}))
    # Help lists options in this order, and headings by their first option.
    flat.sort(key=_is_rare)

    def command(**given: Any) -> None:
        del given["help_all"]
        for name, kind in groups.items():
            given[name] = _build(kind, given)
        # What a reader remarks is a note of the command.
        note = next((group.note for group in given.values() if hasattr(group, "note")), None)
        try:
            with nullcontext() if note is None else listening(note):
                function(**given)
        finally:
            folder.close_folders()

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return command


def _group_parameters(group: Any, texts: dict[str, str]) -> list[inspect.Parameter]:
    texts = parameter_texts(group) | texts
    panel = getattr(group, "panel", None)
    flat: list[inspect.Parameter] = []
    for field, kind in _offered(group):
        if is_dataclass(kind):
            flat += _group_parameters(kind, texts)
        else:
            flat.append(_parameter(field.name, kind, _default(field), texts, panel=panel))
    return flat


def _build(group: Any, given: dict[str, Any]) -> Any:
    """Make a group of the options that belong to it, and take them out of what was given."""
    return group(
        **{
            field.name: _build(kind, given) if is_dataclass(kind) else given.pop(field.name)
            for field, kind in _offered(group)
        }
    )


def _offered(group: Any) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the fields of a group that are options or groups, and their types; a group that may be None is neither."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        kind = hints[field.name]
        if not field.init:
            continue
        if get_origin(kind) is Annotated or is_dataclass(kind):
            yield field, kind
        elif not _may_be_none(kind):
            raise TypeError(f"{group.__name__}.{field.name} is neither an option nor a group of options")


def _may_be_none(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default


def _parameter(
    name: str, kind: Any, default: Any, texts: dict[str, str], *, panel: str | None = None
) -> inspect.Parameter:
    """Return a parameter for typer, its help from the docstring and its long name from its own."""
    if get_origin(kind) is Annotated:
        plain, declared = get_args(kind)
        declared = copy(declared)
        declared.help = texts.get(name, declared.help)
        if isinstance(declared, typer.models.OptionInfo):
            declared.rich_help_panel = declared.rich_help_panel or panel
            # typer takes the first name for a default until it sees the parameter.
            names = [one for one in (declared.default, *(declared.param_decls or ())) if isinstance(one, str)]
            long = [] if any(one.startswith("--") for one in names) else [f"--{name.replace('_', '-')}"]
            declared.default, declared.param_decls = ..., (*long, *names)
            declared.show_default = declared.show_default and default is not inspect.Parameter.empty
        kind = Annotated[plain, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _is_rare(parameter: inspect.Parameter) -> bool:
    return any(getattr(declared, "hidden", False) for declared in getattr(parameter.annotation, "__metadata__", ()))


def _show_all_options(context: typer.Context, wanted: bool) -> None:
    """Print the help with the options that ``--help`` leaves out."""
    if wanted:
        command: Any = context.command
        print(command.full_help(context), end="")
        raise typer.Exit


_HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", metavar="", help="Show all options, and exit.", is_eager=True, callback=_show_all_options
    ),
]


def _called(parameter: Any) -> str:
    """Return what a parameter is called on the command line."""
    name = parameter.metavar if parameter.param_type_name == "argument" else max(parameter.opts, key=len)
    return str(name or parameter.name)


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


# What options mean that stand at the end of a line, or before another option.
_BARE = {"--pairs": "all"}


class Command(TyperCommand):
    """A command that hides rare options from ``--help``, and takes every option with one value once.

    An option that is given again would silently win over the first. Where the folder of a campaign stands in the place
    of run files, options that are not given have the values of its settings.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.rare = [one for one in self.params if getattr(one, "hidden", False)]
        self.examples = self.epilog
        if len(self.rare) == 1:
            # To say that there is one more would take as much room as the option itself.
            self._hide(False)
            self.rare = []
        if self.rare:
            self.epilog = f"{self.examples}\n\n{len(self.rare)} more options, rarely needed: --help-all shows them."

    # The types of what is parsed have moved between versions of typer.
    def full_help(self, context: Any) -> str:
        """Return the help with all options."""
        epilog = self.epilog
        self._hide(False)
        self.epilog = self.examples
        try:
            # With rich, help prints itself and what comes back is empty.
            return str(self.get_help(context))
        finally:
            self._hide(True)
            self.epilog = epilog

    def _hide(self, hidden: bool) -> None:
        for one in self.rare:
            one.hidden = hidden  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, and complain about the first option that is there too often."""
        args = self._with_bare_values(args)
        # The order names a parameter every time it is met, what is parsed only once.
        parsed: Any = self.make_parser(ctx).parse_args(args=list(args))
        given, _, order = parsed
        for one, times in Counter(order).items():
            single = one.param_type_name == "option" and not (one.multiple or one.is_flag or one.count)
            if single and times > 1:
                name = max(one.opts, key=len)
                kind = "file" if one.metavar == "FILE" else "value"
                raise ParameterError(f"{name} was given {times} times: it takes one {kind}")
        if not {"help", "help_all"} & set(given):
            self._take_defaults(ctx, given)
        return super().parse_args(ctx, args)

    def _with_bare_values(self, args: list[str]) -> list[str]:
        """Give options that may stand without a value the one that is then meant."""
        bare = {name: _BARE[name] for one in self.params for name in one.opts if name in _BARE and not _is_flag(one)}
        given: list[str] = []
        for place, one in enumerate(args):
            given.append(one)
            if one in bare and (place + 1 == len(args) or args[place + 1].startswith("-")):
                given.append(bare[one])
        return given

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless a number is beyond all use, or it would write over what it reads."""
        check_ranges(self.params, ctx.params)
        command = " ".join(ctx.command_path.split()[1:])
        labels = {one.name or "": _called(one) for one in self.params}
        with guarded(command, labels, ctx.params):
            return super().invoke(ctx)

    def _take_defaults(self, ctx: Any, given: Mapping[str, Any]) -> None:
        """Take the settings of a campaign for defaults, where its folder stands in the place of run files."""
        parameters = {one.name or "": one for one in self.params}
        arguments = [name for name, one in parameters.items() if one.param_type_name == "argument"]
        runs = given.get("runs") if arguments == ["runs"] else None
        path = folder.folder_of([runs] if isinstance(runs, str) else runs)
        if path is not None:
            ctx.default_map = folder.option_defaults(path, given, parameters)
