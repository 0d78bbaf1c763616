"""A command that takes every option once: one that is given again would silently win over the first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from earmark.errors import ParameterError

_INSTEAD = {"--judgments": "one file holds all judgments; put them together (cat, or one CSV)"}


class OnceCommand(TyperCommand):
    """A command that refuses an option with one value that was given several times."""

    # The types of what is parsed have moved between versions of typer.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, and complain about the first option that is there too often."""
        # The order names a parameter every time it is met, what is parsed only once.
        order: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option, times in Counter(order).items():
            single = option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
            if single and times > 1:
                name = max(option.opts, key=len)
                kind = "file" if option.metavar == "FILE" else "value"
                raise ParameterError(f"{name} was given {times} times: {_INSTEAD.get(name, f'it takes one {kind}')}")
        return super().parse_args(ctx, args)
